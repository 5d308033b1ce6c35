/* SPDX-License-Identifier: MIT */
/*
 * The wire format of a link's counters: RTM_GETSTATS, which libnl does not know, and the same struct inside
 * RTM_NEWLINK for kernels before 4.7. Called by the netlink collector at every tick and link, so it looks for
 * its one attribute and copies nothing else. Pure.
 */
#ifndef VNETTOP_NL_STATS_H
#define VNETTOP_NL_STATS_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* struct rtnl_link_stats64 of <linux/if_link.h> as it is since 5.19; it only ever grows at its end. */
struct nl_counters {
    uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
    uint64_t rx_errors, tx_errors, rx_dropped, tx_dropped;
    uint64_t multicast, collisions;
    uint64_t rx_length_errors, rx_over_errors, rx_crc_errors, rx_frame_errors, rx_fifo_errors,
        rx_missed_errors;
    uint64_t tx_aborted_errors, tx_carrier_errors, tx_fifo_errors, tx_heartbeat_errors, tx_window_errors;
    uint64_t rx_compressed, tx_compressed;
    uint64_t rx_nohandler;         /* since 4.6 */
    uint64_t rx_otherhost_dropped; /* since 5.19 */
};

struct nl_stats {
    uint32_t ifindex;
    unsigned n; /* counters that the kernel sent, in their order: those from n on do not exist */
    struct nl_counters counters;
};

/* How many counters lead up to and include one. */
#define NL_STATS_UPTO(field) ((offsetof(struct nl_counters, field) + sizeof(uint64_t)) / sizeof(uint64_t))

/* Fills *stats from an RTM_NEWSTATS message, or an RTM_NEWLINK of family AF_UNSPEC. False when the message is
 * another or malformed, or carries no counters. */
bool nl_stats_parse(const struct nlmsghdr *message, struct nl_stats *stats);

#endif
