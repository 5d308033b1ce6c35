/* SPDX-License-Identifier: MIT */
/*
 * Collector of the source `host`, slow part: which CPUs there are and are online, their core, package and
 * NUMA node, isolation, and which of them serve which network port. It never holds up the fast part (host.h):
 * some files of /sys wait for the kernel's big network lock.
 */
#ifndef VNETTOP_HOST_TOPOLOGY_H
#define VNETTOP_HOST_TOPOLOGY_H

#include "src/collector.h"

extern const struct collector host_topology_collector;

#endif
