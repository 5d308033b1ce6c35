/* SPDX-License-Identifier: MIT */
/*
 * What goes into a bridge and what comes out of it: the sums over its ports, since a bridge counts neither
 * what it forwards nor what it discards inside. Called by the netlink collector for every row of a read, then
 * for the bridges. Pure bookkeeping on the links' entries.
 *
 * The sums start as the kernel's counters added up, and then grow by each port's difference while it is a
 * member: a port that leaves takes nothing away, one that joins brings nothing along, so a rate made of them
 * is traffic through this bridge and never a change of membership.
 */
#ifndef VNETTOP_NETLINK_SUMS_H
#define VNETTOP_NETLINK_SUMS_H

#include "collectors/nl_links.h"

/* Takes in what one link has counted up to this tick (1, 2, ...). Masters must have been joined. */
void netlink_sums_add(struct nl_port *port, uint64_t rx_packets, uint64_t tx_packets, uint64_t tick);

/* Whether the link is a bridge: sums.in and sums.out hold once all links of the tick were added. */
bool netlink_sums_has(const struct nl_port *port);

#endif
