/* SPDX-License-Identifier: MIT */
/* What each thread of a hypervisor's process is for. The qemu collector calls it once per inventory with what
 * procfs read of all threads of one process. It must not read anything itself, and claims no more than names,
 * ids and times can show: a role that was concluded rather than read is marked inferred and shown with a `~`.
 */
#ifndef VNETTOP_QEMU_THREADS_H
#define VNETTOP_QEMU_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collectors/procfs.h"
#include "collectors/qemu_cmdline.h"

enum qemu_role {
    QEMU_ROLE_OTHER,
    QEMU_ROLE_VCPU,
    QEMU_ROLE_EMULATOR, /* the main loop: tid == pid */
    QEMU_ROLE_IOTHREAD,
    QEMU_ROLE_VHOST,
    QEMU_ROLE_WORKER, /* thread pool, displays, migration */
};

struct qemu_thread {
    enum qemu_role role;
    /* vcpu: its number; iothread: the number that ends its name; vhost: rank among the workers by start; -1:
     * not known, or several (one thread runs all vCPUs of a single-threaded TCG). */
    int index;
    bool inferred;
};

/* "vcpu", "emulator" ... as in the threads table. */
const char *qemu_role_text(enum qemu_role role);

/* threads: procfs_read_stat of every /proc/PID/task/TID, in any order; out: one entry each. cmd may be NULL.
 */
void qemu_threads_classify(pid_t pid, const struct qemu_cmdline *cmd, const struct procfs_stat *threads,
                           size_t n, struct qemu_thread *out);

/* Up to Linux 6.3, and again from 6.17 on where so configured, a vhost worker is a kernel thread of its own.
 * True, with the tid of the thread that started it, when st is one: mostly the pid of the QEMU. That number
 * counts in the first pid namespace, so inside of a container it may be nobody's. */
bool qemu_vhost_kthread_owner(const struct procfs_stat *st, pid_t *owner);

/* Ranks vhost workers, those inside the process or those kernel threads of one owner, by their start: rank[i]
 * is the place of threads[i]. */
void qemu_vhost_rank(const struct procfs_stat *threads, size_t n, size_t *rank);

/* The card and queue that the rank-th vhost worker of a process serves. QEMU starts the workers in the
 * order of its options; true only while their number is that of the queues, so that a hot-plug cannot shift
 * the answer. */
bool qemu_vhost_queue(const struct qemu_cmdline *cmd, size_t n_workers, size_t rank, size_t *nic,
                      unsigned *queue);

#endif
