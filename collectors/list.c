/* SPDX-License-Identifier: MIT */
/*
 * Every collector of this build. To add a source, add its line; the order is the order of its rows and, where
 * several tell the same of a thing (a port's name), who is believed first.
 */
#include "collectors/dpdk.h"
#include "collectors/host.h"
#include "collectors/host_topology.h"
#ifdef HAVE_LIBVIRT
#include "collectors/libvirt.h"
#endif
#include "collectors/netlink.h"
#include "collectors/ovs.h"
#include "collectors/qemu.h"
#include "src/collector.h"

const struct collector *const all_collectors[] = {
    &netlink_collector,
    &netlink_queues_collector,
    &host_collector,
    &host_topology_collector,
#ifdef HAVE_LIBVIRT
    &libvirt_collector,
    &libvirt_stats_collector,
#endif
    &qemu_collector,
    &qemu_places_collector,
    &ovs_collector,
    &ovs_queues_collector,
    &dpdk_collector,
    &dpdk_slow_collector,
    NULL,
};
