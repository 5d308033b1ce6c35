/* SPDX-License-Identifier: MIT */
/*
 * Source `netlink`, its fast part: the links of one network namespace and their counters at every tick. In
 * the list of collectors; one instance for each --netns. What is dear and changes slowly (queueing
 * disciplines, forwarding tables, virtual functions) is netlink_queues.c's.
 */
#ifndef VNETTOP_NETLINK_H
#define VNETTOP_NETLINK_H

#include "src/collector.h"

extern const struct collector netlink_collector;
extern const struct collector netlink_queues_collector;

/* For tests, on the state of netlink_collector: behave as on a kernel without RTM_GETSTATS (before 4.7). */
void netlink_without_getstats(void *state);

#endif
