/* SPDX-License-Identifier: MIT */
/* The wire format of a queueing discipline: RTM_NEWQDISC to a plain struct. Pure; the tree that qdiscs form
 * is netlink_qdiscs.c's. */
#ifndef VNETTOP_NL_QDISC_H
#define VNETTOP_NL_QDISC_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>

/* Counters are 32 bits in the kernel and wrap, but for the bytes. */
struct nl_qdisc {
    uint32_t ifindex;
    uint32_t handle; /* major:0; 0: for the kernel's own default ones */
    uint32_t parent; /* class or slot of the parent, TC_H_ROOT, TC_H_INGRESS */
    char type[16];   /* fq_codel, mq, htb, noqueue */
    uint64_t bytes;  /* sent */
    uint32_t drops, requeues, overlimits;
    uint32_t qlen, backlog; /* packets and bytes waiting now */
};

/* False when the message is another or malformed, or carries no statistics. */
bool nl_qdisc_parse(const struct nlmsghdr *message, struct nl_qdisc *qdisc);

#endif
