/* SPDX-License-Identifier: MIT */
/*
 * The threads of an ovs-vswitchd that matter: PMDs, handlers, revalidators and the main thread, each with a
 * kept descriptor. Called by the collector `ovs`, which shows their time beside what the switch says of its
 * PMDs: the kernel alone knows that a PMD was preempted. It knows no datapath.
 */
#ifndef COLLECTORS_OVS_THREADS_H
#define COLLECTORS_OVS_THREADS_H

#include "collectors/procfs.h"
#include "src/sample.h"

enum { OVS_THREADS_MAX = 4096, OVS_THREAD_KEY_SIZE = 48 };

enum ovs_role { OVS_ROLE_NONE, OVS_ROLE_MAIN, OVS_ROLE_PMD, OVS_ROLE_HANDLER, OVS_ROLE_REVALIDATOR };

struct ovs_thread {
    struct procfs_thread proc;
    enum ovs_role role;
    int core; /* of a PMD; -1: not known */
    char name[PROCFS_COMM_SIZE];
    char allowed[PROCFS_CPUS_TEXT];
    struct threads_info *info; /* of the last ovs_threads_inventory */
};

struct ovs_threads {
    int rootfd; /* -1: no /proc */
    pid_t pid;  /* 0: nobody's */
    struct ovs_thread *items;
    size_t n;
    uint64_t seen; /* hash of all that was listed last: ids, starts and names */
    int64_t listed_ns;
    uint64_t generation; /* grows when the threads or what is known of them changed */
};

/* root: prefix of /proc. Never fails: what cannot be read is not there. */
void ovs_threads_open(struct ovs_threads *threads, const char *root, pid_t pid);
void ovs_threads_close(struct ovs_threads *threads);

/* Looks for threads that came or went, every few seconds, or within one when urgent: a PMD has no thread. */
void ovs_threads_update(struct ovs_threads *threads, int64_t now_ns, bool urgent);

/* Makes an info of each thread. program is what the threads belong to. */
void ovs_threads_inventory(struct ovs_threads *threads, struct inventory *inventory, const char *program);

/* Reads all and appends their rows, as of the last ovs_threads_inventory. */
void ovs_threads_fill(struct ovs_threads *threads, struct sample *sample);

/* The thread of the PMD on a core, or the main thread. NULL when there is none, or several (PMDs of two
 * datapaths on one core). */
const struct ovs_thread *ovs_threads_pmd(const struct ovs_threads *threads, int core);
const struct ovs_thread *ovs_threads_main(const struct ovs_threads *threads);

void ovs_thread_key(char key[OVS_THREAD_KEY_SIZE], const struct ovs_thread *thread);

/* The role that a thread's name tells, and a PMD's core from it (-1 where names do not hold it: before
 * 2.13). */
enum ovs_role ovs_thread_role(const char *comm, int *core);

#endif
