/* SPDX-License-Identifier: MIT */
/*
 * One virtual machine's process: what its command line says, its watched threads and its network cards, kept
 * up to date from scan to scan. qemu_scan.c finds the processes and refreshes them. It must not know of rows.
 */
#ifndef VNETTOP_QEMU_VM_H
#define VNETTOP_QEMU_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/qemu_net.h"
#include "collectors/qemu_task.h"

/* Threads of one process that are watched; one with more is no hypervisor in earnest. */
#define QEMU_TASKS_MAX 4096

struct qemu_vm {
    pid_t pid;
    uint64_t start_ticks; /* of the process */
    struct qemu_cmdline cmd;
    struct qemu_net net;
    struct qemu_task *tasks; /* its threads in order of tid, then vhost workers that are kernel threads */
    size_t n_tasks, alloc_tasks;
    bool ended;
    bool cut; /* has more threads than are watched */

    int task_dir; /* its folders task and fd, kept to ask for their sizes; -1: not kept */
    int fd_dir;
    unsigned settle;   /* scans in which its threads are classified again */
    unsigned looks;    /* scans in which its cards are still looked at: it is young */
    uint64_t threads;  /* as counted by the kernel at the last listing */
    uint64_t fds;      /* likewise descriptors, at the last look at cards; 0: not told */
    int64_t listed_ns; /* CLOCK_MONOTONIC of the last listing of threads, and of the last look at cards */
    int64_t looked_ns;

    const struct vms_info *info; /* in the newest inventory */
    const struct paths_info **path_infos;
    size_t n_path_infos;
};

/* NULL when the process is none, or has ended. with_cards: its network cards matter. */
struct qemu_vm *qemu_vm_new(struct qemu_reader *reader, pid_t pid, bool with_cards, int64_t now_ns);
void qemu_vm_free(struct qemu_reader *reader, struct qemu_vm *vm);

/* Looks for threads and cards that came or went. True when anything that an inventory tells has changed. */
bool qemu_vm_refresh(struct qemu_reader *reader, struct qemu_vm *vm, bool with_cards, int64_t now_ns);

/* A vhost worker that is a kernel thread; false when it has ended. */
bool qemu_vm_add_worker(struct qemu_reader *reader, struct qemu_vm *vm, pid_t pid);
bool qemu_vm_has_worker(const struct qemu_vm *vm, pid_t pid);
bool qemu_vm_has_thread(const struct qemu_vm *vm, pid_t tid);

/* vCPUs that have a thread; what the command line says where that is not known. 0: not known. */
uint64_t qemu_vm_vcpus(const struct qemu_vm *vm);
/* "kvm" or "tcg", by command line, names of threads or guest time; NULL when none tells. */
const char *qemu_vm_accel(const struct qemu_vm *vm);

#endif
