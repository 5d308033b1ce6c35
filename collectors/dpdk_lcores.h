/* SPDX-License-Identifier: MIT */
/*
 * The lcore threads of a DPDK process, from /proc alone: EAL names its workers, and the main thread is the
 * main lcore. Called by the dpdk collector; it must not know of telemetry's socket, only of the EAL arguments
 * that it told.
 */
#ifndef COLLECTORS_DPDK_LCORES_H
#define COLLECTORS_DPDK_LCORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/procfs.h"

#define DPDK_LCORES_MAX 512 /* threads kept of one process */

struct threads_info;

struct dpdk_lcore {
    struct procfs_thread thread;
    char comm[PROCFS_COMM_SIZE];
    char allowed[PROCFS_CPUS_TEXT]; /* "" unknown */
    int index;                      /* lcore id; -1 unknown */
    bool inferred;                  /* index was concluded from the thread's CPU */
    bool has_stat, has_schedstat, has_status;
    int64_t t_ns;
    struct procfs_stat stat;
    struct procfs_schedstat schedstat;
    uint64_t voluntary, involuntary;
    struct threads_info *info;
};

/* Zero-initialise. */
struct dpdk_lcores {
    size_t n, n_tids;
    pid_t *tids; /* of all threads at the last look */
    struct dpdk_lcore *v;
};

/* Looks for the threads of pid anew. args are the EAL arguments, n_args may be 0. True when something
 * changed. */
bool dpdk_lcores_scan(struct dpdk_lcores *lcores, int proc_fd, pid_t pid, const char *const *args,
                      size_t n_args);

/* Reads each thread's times; one that ended has none. */
void dpdk_lcores_read(struct dpdk_lcores *lcores);
void dpdk_lcores_free(struct dpdk_lcores *lcores);

/* "rte-worker-3" to 3: the name of a worker in any release; -1 another thread's. */
int dpdk_lcore_of_comm(const char *comm);

/* The main lcore by EAL's arguments (--main-lcore, -l, -c, simple --lcores); -1 when they do not tell.
 * *mapped is set when lcores are not CPUs of the same number. */
int dpdk_main_lcore(const char *const *args, size_t n_args, bool *mapped);

#endif
