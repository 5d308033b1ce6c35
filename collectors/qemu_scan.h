/* SPDX-License-Identifier: MIT */
/*
 * Which virtual machines run here: a walk over the processes that remembers those that are none, so that only
 * new ones are opened. The collectors of the source qemu run it every two seconds. It must not know of rows.
 */
#ifndef VNETTOP_QEMU_SCAN_H
#define VNETTOP_QEMU_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/qemu_vm.h"

struct qemu_known; /* a process that was looked at */

struct qemu_scan {
    struct qemu_reader reader;
    bool with_cards;
    struct qemu_vm **vms; /* in order of pid */
    size_t n_vms;

    struct qemu_known *known; /* in order of pid */
    size_t n_known;
    unsigned turn;      /* scans so far */
    int64_t scanned_ns; /* CLOCK_MONOTONIC of the last one */
    bool hidden;        /* other users' processes are not shown to us */
};

/* 0, or -1 with errno. */
int qemu_scan_open(struct qemu_scan *scan, const char *root, bool with_cards, size_t stat_max);
void qemu_scan_close(struct qemu_scan *scan);

/* True when an inventory made before no longer holds. PROCFS_OK, or why /proc cannot be listed. */
enum procfs_result qemu_scan_run(struct qemu_scan *scan, int64_t now_ns, bool *changed);

#endif
