/* SPDX-License-Identifier: MIT */
/*
 * The walk over the processes (see qemu_scan.h). A process becomes another by exec without a new pid, so
 * young ones are looked at a few times, and each once a minute.
 */
#include "collectors/qemu_scan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "src/memory.h"

#define YOUNG_SCANS 4  /* looks at a process that came while we ran */
#define FIRST_SCANS 2  /* at one that was there before */
#define AGAIN_SCANS 32 /* and then one in so many scans */

enum known_kind { KNOWN_OTHER, KNOWN_VM, KNOWN_WORKER };

struct qemu_known {
    pid_t pid;
    enum known_kind kind;
    unsigned looks;     /* that are still due */
    pid_t owner;        /* of a vhost worker: the thread that made it */
    struct qemu_vm *vm; /* of a virtual machine */
};

int qemu_scan_open(struct qemu_scan *scan, const char *root, bool with_cards, size_t stat_max)
{
    *scan = (struct qemu_scan){.with_cards = with_cards};
    return qemu_reader_open(&scan->reader, root, stat_max);
}

void qemu_scan_close(struct qemu_scan *scan)
{
    for (size_t i = 0; i < scan->n_vms; i++)
        qemu_vm_free(&scan->reader, scan->vms[i]);
    free(scan->vms);
    free(scan->known);
    qemu_reader_close(&scan->reader);
}

/* ---- one process ---- */

static void look_at_kthread(struct qemu_scan *scan, struct qemu_known *known)
{
    struct procfs_stat stat;
    if (procfs_read_stat(scan->reader.rootfd, known->pid, known->pid, &stat) == PROCFS_OK &&
        qemu_vhost_kthread_owner(&stat, &known->owner))
        known->kind = KNOWN_WORKER;
}

/* True when it is a virtual machine. */
static bool look(struct qemu_scan *scan, struct qemu_known *known, int64_t now_ns)
{
    struct procfs_args args;
    if (procfs_read_cmdline(scan->reader.rootfd, known->pid, &args) != PROCFS_OK)
        return false;
    enum vmm_kind kind = qemu_cmdline_recognise(args.argv, args.argc);
    if (args.argc == 0)
        look_at_kthread(scan, known);
    procfs_args_free(&args);
    if (kind != VMM_NONE)
        known->vm = qemu_vm_new(&scan->reader, known->pid, scan->with_cards, now_ns);
    if (known->vm)
        known->kind = KNOWN_VM;
    return known->vm != NULL;
}

static bool is_due(const struct qemu_scan *scan, const struct qemu_known *known)
{
    if (known->kind != KNOWN_OTHER)
        return false;
    return known->looks > 0 || (unsigned)known->pid % AGAIN_SCANS == scan->turn % AGAIN_SCANS;
}

/* Refreshes a virtual machine; true when an inventory changes by it. */
static bool refresh(struct qemu_scan *scan, struct qemu_known *known, int64_t now_ns)
{
    bool changed = qemu_vm_refresh(&scan->reader, known->vm, scan->with_cards, now_ns);
    if (!known->vm->ended)
        return changed;
    qemu_vm_free(&scan->reader, known->vm);
    *known = (struct qemu_known){.pid = known->pid, .looks = YOUNG_SCANS};
    return true;
}

static bool visit(struct qemu_scan *scan, struct qemu_known *known, int64_t now_ns)
{
    if (known->kind == KNOWN_VM)
        return refresh(scan, known, now_ns);
    if (!is_due(scan, known))
        return false;
    known->looks -= known->looks > 0;
    return look(scan, known, now_ns);
}

/* ---- all of them ---- */

/* Merges the pids that are there with what is known of them. */
static bool merge(struct qemu_scan *scan, const pid_t *pids, size_t n, int64_t now_ns)
{
    struct qemu_known *merged = xrealloc(NULL, n + 1, sizeof(*merged));
    unsigned looks = scan->turn == 0 ? FIRST_SCANS : YOUNG_SCANS;
    bool changed = false;
    size_t at = 0;
    for (size_t i = 0; i <= n; i++) {
        for (; at < scan->n_known && (i == n || scan->known[at].pid < pids[i]); at++) {
            if (scan->known[at].kind != KNOWN_VM)
                continue;
            qemu_vm_free(&scan->reader, scan->known[at].vm);
            changed = true;
        }
        if (i == n)
            break;
        merged[i] = (struct qemu_known){.pid = pids[i], .looks = looks};
        if (at < scan->n_known && scan->known[at].pid == pids[i])
            merged[i] = scan->known[at++];
        changed |= visit(scan, &merged[i], now_ns);
    }
    free(scan->known);
    scan->known = merged;
    scan->n_known = n;
    return changed;
}

static void list_vms(struct qemu_scan *scan)
{
    scan->n_vms = 0;
    for (size_t i = 0; i < scan->n_known; i++) {
        if (scan->known[i].kind != KNOWN_VM)
            continue;
        scan->vms = xrealloc(scan->vms, scan->n_vms + 1, sizeof(struct qemu_vm *));
        scan->vms[scan->n_vms++] = scan->known[i].vm;
    }
}

/* The number in a worker's name is that of the thread that made it: mostly the main one. */
static struct qemu_vm *owner_of(const struct qemu_scan *scan, const struct qemu_known *worker)
{
    for (size_t i = 0; i < scan->n_vms; i++)
        if (scan->vms[i]->pid == worker->owner)
            return scan->vms[i];
    for (size_t i = 0; i < scan->n_vms; i++)
        if (qemu_vm_has_thread(scan->vms[i], worker->owner))
            return scan->vms[i];
    return NULL;
}

static bool attach_workers(struct qemu_scan *scan)
{
    bool changed = false;
    for (size_t i = 0; i < scan->n_known; i++) {
        const struct qemu_known *known = &scan->known[i];
        struct qemu_vm *vm = known->kind == KNOWN_WORKER ? owner_of(scan, known) : NULL;
        if (vm && !qemu_vm_has_worker(vm, known->pid))
            changed |= qemu_vm_add_worker(&scan->reader, vm, known->pid);
    }
    return changed;
}

/* The first process is always there; who does not see it is shown his own ones alone. */
static bool is_hidden(const struct qemu_scan *scan)
{
    struct procfs_stat stat;
    enum procfs_result result = procfs_read_stat(scan->reader.rootfd, 1, 1, &stat);
    return result == PROCFS_GONE || result == PROCFS_DENIED;
}

enum procfs_result qemu_scan_run(struct qemu_scan *scan, int64_t now_ns, bool *changed)
{
    pid_t *pids;
    size_t n;
    *changed = false;
    enum procfs_result result = procfs_list_pids(scan->reader.rootfd, &pids, &n);
    if (result != PROCFS_OK)
        return result;
    *changed = merge(scan, pids, n, now_ns);
    free(pids);
    list_vms(scan);
    *changed |= attach_workers(scan);
    if (scan->turn == 0) {
        scan->hidden = is_hidden(scan);
        *changed = true;
    }
    scan->turn++;
    scan->scanned_ns = now_ns;
    return PROCFS_OK;
}
