/* SPDX-License-Identifier: MIT */
/*
 * The queueing disciplines of all ports between reads: 32-bit counters carried on in 64 bits, and each port's
 * sum over its tree. Called by netlink_queues.c. Pure bookkeeping on parsed messages.
 *
 * A packet that a leaf drops is counted by its parents too (htb, prio, tbf), or the parent's numbers are its
 * children's sum (mq); what a parent drops itself (netem's loss, tbf's oversized packets, htb's direct queue)
 * no leaf counts. So what stands for a subtree is the larger of the parent's number and its children's sum.
 */
#ifndef VNETTOP_NETLINK_QDISCS_H
#define VNETTOP_NETLINK_QDISCS_H

#include <stddef.h>

#include "collectors/nl_qdisc.h"

/* What is known of a port's queueing disciplines. */
enum qdisc_number { QDISC_DROPS, QDISC_OVERLIMITS, QDISC_REQUEUES, QDISC_BACKLOG, QDISC_QLEN, QDISC_NUMBERS };

struct qdisc_entry;

struct netlink_qdiscs {
    struct qdisc_entry *now, *before; /* sorted by ifindex, handle, parent */
    size_t n, n_before, alloc, alloc_before;
};

struct qdisc_sum {
    uint32_t ifindex;
    uint64_t number[QDISC_NUMBERS];
};

/* Starts a read: what was read last is what came before. */
void netlink_qdiscs_begin(struct netlink_qdiscs *qdiscs);
void netlink_qdiscs_add(struct netlink_qdiscs *qdiscs, const struct nl_qdisc *qdisc);
/* Ends it: carries the counters on. A counter that fell has wrapped, unless the bytes fell with it: then the
 * discipline was made anew, and its counters start anew. */
void netlink_qdiscs_end(struct netlink_qdiscs *qdiscs);

/* The next port's sum after place *at (0 at first), by ifindex; false at the end. */
bool netlink_qdiscs_next(const struct netlink_qdiscs *qdiscs, size_t *at, struct qdisc_sum *sum);

void netlink_qdiscs_free(struct netlink_qdiscs *qdiscs);

#endif
