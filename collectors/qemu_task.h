/* SPDX-License-Identifier: MIT */
/*
 * One watched thread of a virtual machine, and what all watched threads share: the root of /proc and the
 * descriptors that may be kept. qemu_vm.c opens them and the collectors read them. It must not know what a
 * thread is for. Where descriptors run out a thread is opened at each read: dearer, but the numbers are the
 * same.
 */
#ifndef VNETTOP_QEMU_TASK_H
#define VNETTOP_QEMU_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/procfs.h"
#include "collectors/qemu_threads.h"
#include "src/rows.h"

struct qemu_reader {
    const char *root; /* prefix of /sys; borrowed */
    int rootfd;       /* of the proc root */
    size_t kept, kept_max;
    size_t stat_max;  /* a thread's stat is kept open too while fewer descriptors than this are */
    bool keep_status; /* and its status, once it was read */
};

/* Raises the soft limit of descriptors to the hard one. 0, or -1 with errno. */
int qemu_reader_open(struct qemu_reader *reader, const char *root, size_t stat_max);
void qemu_reader_close(struct qemu_reader *reader);

struct qemu_task {
    struct procfs_thread file;
    int status_fd;  /* -1: opened at each read */
    bool by_path;   /* no descriptor could be kept */
    bool vanished;  /* seen to have ended; the next refresh drops it */
    bool shown;     /* has a row: roles that matter always, others once they were busy */
    bool ranked;    /* is.index is its own for life */
    unsigned looks; /* scans in which its name is still read again: it comes after the start */
    struct qemu_thread is;
    struct procfs_stat stat; /* as read last */

    enum procfs_result result; /* of the last read of times */
    struct procfs_schedstat times;
    int64_t t_ns;       /* CLOCK_MONOTONIC of that read */
    int64_t watched_ns; /* t_ns and times.run_ns when it was last asked whether it is busy */
    uint64_t watched_run_ns;

    char *allowed; /* CPUs it may run on, as a list; NULL: not read yet */
    uint64_t voluntary, involuntary;
    bool has_switches;

    const struct threads_info *info; /* in the newest inventory */
};

/* OK: task is filled and qemu_task_close is due. */
enum procfs_result qemu_task_open(struct qemu_reader *reader, struct qemu_task *task, pid_t pid, pid_t tid);
void qemu_task_close(struct qemu_reader *reader, struct qemu_task *task);

/* Reads times; vanished is set when the thread has ended. Returns the moment after the read, which is the
 * next call's *before*: a read that a preemption fell into is made again, so that t_ns is exact. */
int64_t qemu_task_read_times(const struct qemu_reader *reader, struct qemu_task *task, int64_t before_ns);
/* Reads stat into task->stat; false (and vanished, when it has ended) when it cannot be. */
bool qemu_task_read_stat(struct qemu_task *task);

/* Reads allowed and switches; has_switches tells. True when allowed changed. Believe it beside a stat that
 * was read. */
bool qemu_task_read_status(struct qemu_reader *reader, struct qemu_task *task);

/* Does the kernel keep accounts of this thread? All zero: it does not. */
bool qemu_task_has_times(const struct qemu_task *task);

/* Did it run for 1 % of the time since it was last asked? Sets shown, and returns true when that is new. */
bool qemu_task_notice_busy(const struct qemu_reader *reader, struct qemu_task *task);

#endif
