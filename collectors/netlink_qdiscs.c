/* SPDX-License-Identifier: MIT */
/* Queueing disciplines between reads (see netlink_qdiscs.h). */
#include "collectors/netlink_qdiscs.h"

#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

/* The kernel nests eight deep at most; a longer chain is a loop that no kernel sent. */
#define DEPTH_MAX 16
#define COUNTERS  (QDISC_REQUEUES + 1)

struct qdisc_entry {
    uint32_t ifindex, handle, parent;
    uint32_t raw[COUNTERS];
    uint64_t bytes;
    uint64_t own[QDISC_NUMBERS];  /* counters in 64 bits, and what waits now */
    uint64_t kids[QDISC_NUMBERS]; /* sum over its children */
    size_t above;                 /* place of the parent, NO_PARENT at the top */
    unsigned depth;               /* 0 at the top; DEPTH_MAX: in a loop */
};

#define NO_PARENT SIZE_MAX

void netlink_qdiscs_begin(struct netlink_qdiscs *qdiscs)
{
    struct netlink_qdiscs last = *qdiscs;
    *qdiscs = (struct netlink_qdiscs){
        .now = last.before,
        .alloc = last.alloc_before,
        .before = last.now,
        .n_before = last.n,
        .alloc_before = last.alloc,
    };
}

/* ingress and clsact (whose parent is the same number) queue nothing either. */
static bool queues_packets(const struct nl_qdisc *qdisc)
{
    return qdisc->parent != TC_H_INGRESS && strcmp(qdisc->type, "noqueue") != 0 &&
           strcmp(qdisc->type, "noop") != 0;
}

void netlink_qdiscs_add(struct netlink_qdiscs *qdiscs, const struct nl_qdisc *qdisc)
{
    if (!queues_packets(qdisc))
        return;
    if (qdiscs->n == qdiscs->alloc) {
        qdiscs->alloc = qdiscs->alloc ? qdiscs->alloc * 2 : 64;
        qdiscs->now = xrealloc(qdiscs->now, qdiscs->alloc, sizeof(*qdiscs->now));
    }
    qdiscs->now[qdiscs->n++] = (struct qdisc_entry){
        .ifindex = qdisc->ifindex,
        .handle = qdisc->handle,
        .parent = qdisc->parent,
        .bytes = qdisc->bytes,
        .raw = {qdisc->drops, qdisc->overlimits, qdisc->requeues},
        .own = {qdisc->drops, qdisc->overlimits, qdisc->requeues, qdisc->backlog, qdisc->qlen},
    };
}

static int compare(const void *left, const void *right)
{
    const struct qdisc_entry *a = left, *b = right;
    if (a->ifindex != b->ifindex)
        return a->ifindex < b->ifindex ? -1 : 1;
    if (a->handle != b->handle)
        return a->handle < b->handle ? -1 : 1;
    return a->parent < b->parent ? -1 : a->parent > b->parent;
}

/* An interrupted dump may tell of one twice. */
static void sort_and_unite(struct netlink_qdiscs *qdiscs)
{
    size_t kept = 0;
    if (qdiscs->n == 0)
        return;
    qsort(qdiscs->now, qdiscs->n, sizeof(*qdiscs->now), compare);
    for (size_t i = 1; i < qdiscs->n; i++)
        if (compare(&qdiscs->now[kept], &qdiscs->now[i]) != 0)
            qdiscs->now[++kept] = qdiscs->now[i];
    qdiscs->n = kept + 1;
}

static void carry_on(struct qdisc_entry *now, const struct qdisc_entry *before)
{
    if (now->bytes < before->bytes)
        return;
    for (int i = 0; i < COUNTERS; i++)
        now->own[i] = before->own[i] + (uint32_t)(now->raw[i] - before->raw[i]);
}

static void carry_all_on(struct netlink_qdiscs *qdiscs)
{
    size_t old = 0;
    for (size_t i = 0; i < qdiscs->n; i++) {
        while (old < qdiscs->n_before && compare(&qdiscs->before[old], &qdiscs->now[i]) < 0)
            old++;
        if (old < qdiscs->n_before && compare(&qdiscs->before[old], &qdiscs->now[i]) == 0)
            carry_on(&qdiscs->now[i], &qdiscs->before[old]);
    }
}

/* Place of the first entry that is not before key. */
static size_t lower_bound(const struct netlink_qdiscs *qdiscs, const struct qdisc_entry *key)
{
    size_t low = 0, high = qdiscs->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&qdiscs->now[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t find_parent(const struct netlink_qdiscs *qdiscs, const struct qdisc_entry *entry)
{
    if (entry->parent == TC_H_ROOT)
        return NO_PARENT;
    uint32_t handle = TC_H_MAJ(entry->parent);
    /* The kernel's default disciplines all have handle 0: their parent is the root one of them. */
    struct qdisc_entry key = {.ifindex = entry->ifindex, .handle = handle, .parent = handle ? 0 : TC_H_ROOT};
    size_t at = lower_bound(qdiscs, &key);
    if (at == qdiscs->n || qdiscs->now[at].ifindex != entry->ifindex || qdiscs->now[at].handle != handle)
        return NO_PARENT;
    return at;
}

static unsigned depth_of(const struct netlink_qdiscs *qdiscs, const struct qdisc_entry *entry)
{
    unsigned depth = 0;
    for (size_t at = entry->above; at != NO_PARENT && depth < DEPTH_MAX; at = qdiscs->now[at].above)
        depth++;
    return depth;
}

static uint64_t whole(const struct qdisc_entry *entry, int i)
{
    return entry->own[i] > entry->kids[i] ? entry->own[i] : entry->kids[i];
}

/* Adds each depth's entries to the one above, the deepest first. */
static void add_up(struct netlink_qdiscs *qdiscs, unsigned deepest)
{
    for (unsigned depth = deepest; depth > 0; depth--) {
        for (size_t at = 0; at < qdiscs->n; at++) {
            const struct qdisc_entry *entry = &qdiscs->now[at];
            if (entry->depth != depth)
                continue;
            for (int i = 0; i < QDISC_NUMBERS; i++)
                qdiscs->now[entry->above].kids[i] += whole(entry, i);
        }
    }
}

void netlink_qdiscs_end(struct netlink_qdiscs *qdiscs)
{
    unsigned deepest = 0;
    sort_and_unite(qdiscs);
    carry_all_on(qdiscs);
    for (size_t i = 0; i < qdiscs->n; i++)
        qdiscs->now[i].above = find_parent(qdiscs, &qdiscs->now[i]);
    for (size_t i = 0; i < qdiscs->n; i++) {
        qdiscs->now[i].depth = depth_of(qdiscs, &qdiscs->now[i]);
        if (qdiscs->now[i].depth < DEPTH_MAX && qdiscs->now[i].depth > deepest)
            deepest = qdiscs->now[i].depth;
    }
    add_up(qdiscs, deepest);
}

bool netlink_qdiscs_next(const struct netlink_qdiscs *qdiscs, size_t *at, struct qdisc_sum *sum)
{
    if (*at >= qdiscs->n)
        return false;
    *sum = (struct qdisc_sum){.ifindex = qdiscs->now[*at].ifindex};
    for (; *at < qdiscs->n && qdiscs->now[*at].ifindex == sum->ifindex; ++*at)
        if (qdiscs->now[*at].above == NO_PARENT)
            for (int i = 0; i < QDISC_NUMBERS; i++)
                sum->number[i] += whole(&qdiscs->now[*at], i);
    return true;
}

void netlink_qdiscs_free(struct netlink_qdiscs *qdiscs)
{
    free(qdiscs->now);
    free(qdiscs->before);
    *qdiscs = (struct netlink_qdiscs){0};
}
