/* SPDX-License-Identifier: MIT */
/*
 * The collector of run and steal (see qemu.h): each tick reads one number file of each thread, kept open,
 * and nothing else; who is there is looked for every two seconds, and at once when somebody has gone. The
 * CPU a thread is on is read along where there are few threads; where there are many, qemu_places.c does so
 * on its slower tempo.
 */
#include "collectors/qemu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/qemu_rows.h"
#include "collectors/qemu_scan.h"
#include "src/memory.h"

#define SCAN_NS     INT64_C(1900000000) /* two seconds, and some grace for a tick that comes early */
#define FEW_THREADS 64

struct qemu {
    struct qemu_scan scan;
    struct inventory *inventory;
    size_t n_threads;
    bool gone; /* a thread or a process has ended since the last scan */
    bool told; /* the line for `sources` is that of the newest scan */
};

static void qemu_close(void *state)
{
    struct qemu *qemu = state;
    qemu_scan_close(&qemu->scan);
    inventory_unref(qemu->inventory);
    free(qemu);
}

static enum collect_result qemu_open(const struct collect_config *config, void **state,
                                     struct collect_call *call)
{
    struct qemu *qemu = xzalloc(sizeof(*qemu));
    if (qemu_scan_open(&qemu->scan, config->root, true, 2 * FEW_THREADS) < 0) {
        int error = errno;
        free(qemu);
        return collect_fail(&call->error, COLLECT_FAILED, "%s/proc: %s; mount proc there",
                            config->root ? config->root : "", strerror(error));
    }
    *state = qemu;
    return COLLECT_OK;
}

static enum procfs_result scan_if_due(struct qemu *qemu)
{
    int64_t now_ns = clock_mono_ns();
    bool changed;
    if (qemu->inventory && !qemu->gone && now_ns - qemu->scan.scanned_ns < SCAN_NS)
        return PROCFS_OK;
    enum procfs_result result = qemu_scan_run(&qemu->scan, now_ns, &changed);
    qemu->gone = false;
    if (result != PROCFS_OK || !changed)
        return result;
    inventory_unref(qemu->inventory);
    qemu->inventory = qemu_rows_inventory(&qemu->scan);
    qemu->n_threads = qemu_rows_threads(&qemu->scan);
    qemu->told = false;
    return PROCFS_OK;
}

/* ---- rows ---- */

static void set_times(struct threads_row *row, const struct qemu_task *task)
{
    row->head.t_ns = task->t_ns;
    if (task->result == PROCFS_DENIED) {
        row_deny(row, run_ns);
        row_deny(row, delay_ns);
        row_deny(row, timeslices);
    }
    if (!qemu_task_has_times(task))
        return;
    row_set(row, run_ns, task->times.run_ns);
    row_set(row, delay_ns, task->times.delay_ns);
    row_set(row, timeslices, task->times.pcount);
}

/* False when the process has ended. */
static bool fill_threads(struct qemu *qemu, struct sample *sample, struct qemu_vm *vm, int64_t *now_ns)
{
    for (size_t i = 0; i < vm->n_tasks; i++) {
        struct qemu_task *task = &vm->tasks[i];
        if (!task->shown || task->vanished)
            continue;
        *now_ns = qemu_task_read_times(&qemu->scan.reader, task, *now_ns);
        bool placed = !task->vanished && qemu->n_threads <= FEW_THREADS && qemu_task_read_stat(task);
        qemu->gone |= task->vanished;
        if (task->vanished && task->file.tid == vm->pid)
            return false;
        if (task->vanished)
            continue;
        struct threads_row *row = sample_row(sample, TABLE_THREADS, task->info);
        set_times(row, task);
        if (placed)
            qemu_rows_set_stat(row, &task->stat);
    }
    return true;
}

static void fill_vm(struct sample *sample, const struct qemu_vm *vm)
{
    struct vms_row *row = sample_row(sample, TABLE_VMS, vm->info);
    row_set(row, state, "process");
    for (size_t i = 0; i < vm->n_path_infos; i++) {
        struct paths_row *path = sample_row(sample, TABLE_PATHS, vm->path_infos[i]);
        row_set(path, state, "present");
    }
}

static bool ended_before(const struct qemu_vm *vm)
{
    return vm->n_tasks == 0 || (vm->tasks[0].vanished && vm->tasks[0].file.tid == vm->pid);
}

static enum collect_result qemu_collect(void *state, struct collect_call *call, struct sample **result)
{
    struct qemu *qemu = state;
    enum procfs_result scanned = scan_if_due(qemu);
    if (scanned != PROCFS_OK)
        return collect_fail(&call->error, scanned == PROCFS_DENIED ? COLLECT_DENIED : COLLECT_FAILED,
                            "/proc: processes cannot be listed: %s; mount proc on /proc",
                            procfs_result_text(scanned));
    struct sample *sample = sample_new(qemu->inventory);
    sample_reserve(sample, TABLE_THREADS, qemu->n_threads);
    sample_begin(sample);
    int64_t now_ns = clock_mono_ns();
    for (size_t i = 0; i < qemu->scan.n_vms; i++) {
        struct qemu_vm *vm = qemu->scan.vms[i];
        if (!ended_before(vm) && fill_threads(qemu, sample, vm, &now_ns))
            fill_vm(sample, vm);
    }
    sample_end(sample);
    if (!qemu->told)
        qemu_rows_describe(&qemu->scan, call->detail, sizeof(call->detail));
    qemu->told = true;
    *result = sample;
    return COLLECT_OK;
}

const struct collector qemu_collector = {
    .source = "qemu",
    .feed = "qemu",
    .help = "virtual machines: run and steal of their threads, their NICs and taps, from /proc of each QEMU",
    .open = qemu_open,
    .collect = qemu_collect,
    .close = qemu_close,
};
