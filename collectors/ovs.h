/* SPDX-License-Identifier: MIT */
/*
 * Source `ovs`: an Open vSwitch daemon, with PMDs or without. The feed `ovs` reads at every tick: each PMD's
 * counters, each port's counters and drop causes, and the time of the daemon's threads. The feed `ovs-queues`
 * reads what changes slowly or is dear on its own tempo: receive queues, datapaths, and the counters that
 * only a driver or OVS itself has a name for.
 *
 * Ports are asked for by OpenFlow's port statistics: the daemon reads them live, with the drop causes that
 * its database gets only every 5 s, and it is the cheapest way for it (measured on OVS 3.1, main thread,
 * beside a busy PMD: 4 ports 0.34 ms against 0.45 ms for dpctl/show -s, 64 ports 0.63 ms against 1.36 ms).
 * Where a bridge may not speak OpenFlow 1.3 or later, dpctl/show tells the counters on the slow tempo; and a
 * bridge of kernel interfaces, tunnels and patches alone is asked on the slow tempo, for the daemon itself
 * would have to ask the kernel, port by port, for what the source netlink tells.
 *
 * Nothing is ever sent that clears, sets, rebalances or dumps flows: unixctl.c has the list of commands.
 */
#ifndef COLLECTORS_OVS_H
#define COLLECTORS_OVS_H

#include "src/collector.h"

extern const struct collector ovs_collector;
extern const struct collector ovs_queues_collector;

#endif
