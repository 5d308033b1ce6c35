/* SPDX-License-Identifier: MIT */
/*
 * Bulk statistics of libvirt with a time limit. The daemon asks each guest's monitor and waits for one that
 * hangs without end, but the next call finds that guest busy and passes over it. So each call has a thread of
 * its own: one that is late is left waiting, and the next takes its place. libvirt_stats.c calls it.
 */
#ifndef VNETTOP_LIBVIRT_ASK_H
#define VNETTOP_LIBVIRT_ASK_H

#include <libvirt/libvirt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A daemon serves five calls of a client at once: one stays free. */
#define LIBVIRT_LATE_MAX 4

struct libvirt_ask;

struct libvirt_asker {
    virConnectPtr conn; /* borrowed; each call holds a reference of its own */
    struct libvirt_ask *late[LIBVIRT_LATE_MAX];
    size_t n_late;
};

/* Records and the times around the call; valid until libvirt_answer_free. */
struct libvirt_answer {
    virDomainStatsRecordPtr *records;
    int n; /* -1: failed, with error */
    int64_t t0_ns, t1_ns, wall_ns;
    char error[160];
};

/* Each call may take limit_ns; when all places are taken by late ones it waits for those. false: stop_fd
 * became readable, or no thread can be had (errno). */
bool libvirt_asker_ask(struct libvirt_asker *asker, unsigned stats, int64_t limit_ns, int stop_fd,
                       struct libvirt_answer *answer);
void libvirt_answer_free(struct libvirt_answer *answer);

/* Leaves late calls to themselves. */
void libvirt_asker_clear(struct libvirt_asker *asker);

#endif
