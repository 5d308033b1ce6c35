/* SPDX-License-Identifier: MIT */
/*
 * The table of a namespace's links: read by one dump, then kept by the kernel's notifications, read anew when
 * some were lost. Each netlink collector has its own (each runs in a thread of its own). It knows nothing of
 * rows; what its owner remembers of a link stands in the link's entry, so that a lookup finds all of it.
 */
#ifndef VNETTOP_NL_LINKS_H
#define VNETTOP_NL_LINKS_H

#include "collectors/nl_chan.h"
#include "collectors/nl_link.h"
#include "src/sample.h"

/* What netlink does not tell of a link; asked once, and again when the link changes (nl_facts.h). */
struct nl_facts {
    bool asked;
    bool is_vf;
    uint32_t speed_mbps;           /* 0 = none, or unknown */
    uint32_t rx_queues, tx_queues; /* in use; 0 = unknown */
};

/* The fast collector's memory for a bridge's sums (netlink_sums.h). */
struct nl_sums {
    uint32_t member_of; /* ifindex of the bridge whose sums it was added to last, itself for a bridge */
    uint64_t rx, tx;    /* what it brought in and took out up to then */
    uint64_t tick;      /* a bridge's last read, 0 = none */
    bool first;         /* that one was its first */
    uint64_t in, out;   /* a bridge's sums */
};

/* The slow collector's memory (netlink_queues.c). */
struct nl_slow {
    uint32_t vfs;
    uint32_t fdb_entries;
    bool has_fdb;
};

struct nl_port {
    struct nl_port *next; /* in its bucket */
    struct nl_link link;
    struct nl_facts facts;
    struct nl_port *master;        /* NULL = none, or not in this namespace */
    uint32_t members;              /* links whose master this is */
    unsigned generation;           /* of the dump that saw it last */
    const struct ports_info *info; /* in the owner's present inventory */
    uint64_t seen;                 /* tick of its newest row: a dump may tell of a link twice */
    struct nl_sums sums;
    struct nl_slow slow;
};

struct nl_links {
    struct nl_chan events;
    struct nl_msg *request;
    struct nl_port **buckets;
    size_t n_buckets; /* a power of two */
    size_t n;
    unsigned generation;
    bool behind;  /* notifications were lost, or a dump was not whole: dump again */
    bool changed; /* something an inventory shows; cleared by its owner after nl_links_join */
};

/* Subscribes in the caller's namespace; the table is filled by the first update. receive_bytes: of the
 * notifications' socket, 0 = the usual. On failure nothing is held. */
enum collect_result nl_links_open(struct nl_links *links, int receive_bytes, struct collect_call *call);
void nl_links_close(struct nl_links *links);

/* Takes in what the kernel has told since, and dumps all links by chan when that is not enough. 0 or a code
 * of nl_chan_ask. */
int nl_links_update(struct nl_links *links, struct nl_chan *chan, const struct collect_call *call);

/* The link of that ifindex, NULL when the table has none. */
struct nl_port *nl_links_find(const struct nl_links *links, uint32_t ifindex);

/* The table's links one after the other: NULL starts, NULL ends. The order is of no meaning. */
struct nl_port *nl_links_next(const struct nl_links *links, const struct nl_port *after);

/* Sets every link's master and members. */
void nl_links_join(struct nl_links *links);

/* One message into the table, as a notification; for tests too. */
void nl_links_apply(struct nl_links *links, const struct nlmsghdr *message);

#endif
