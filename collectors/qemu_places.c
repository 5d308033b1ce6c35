/* SPDX-License-Identifier: MIT */
/*
 * The slower collector of the source qemu (see qemu.h): the CPU each thread ran on, its state, where it may
 * run, and how often it gave its CPU away or lost it. These files cost ten times what run and steal do. Its
 * rows join those of qemu.c by key, with their own times; it walks the processes by itself, so that the two
 * share nothing but the code.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/qemu.h"
#include "collectors/qemu_rows.h"
#include "collectors/qemu_scan.h"
#include "src/memory.h"

#define TEMPO_MS 2000

struct places {
    struct qemu_scan scan;
    struct inventory *inventory;
};

static void places_close(void *state)
{
    struct places *places = state;
    qemu_scan_close(&places->scan);
    inventory_unref(places->inventory);
    free(places);
}

static enum collect_result places_open(const struct collect_config *config, void **state,
                                       struct collect_call *call)
{
    struct places *places = xzalloc(sizeof(*places));
    if (qemu_scan_open(&places->scan, config->root, false, SIZE_MAX) < 0) {
        int error = errno;
        free(places);
        return collect_fail(&call->error, COLLECT_FAILED, "%s/proc: %s; mount proc there",
                            config->root ? config->root : "", strerror(error));
    }
    places->scan.reader.keep_status = true;
    *state = places;
    return COLLECT_OK;
}

/* Reads a thread; true when what an inventory tells of it changed. */
static bool read_place(struct qemu_reader *reader, struct qemu_task *task)
{
    bool read = !task->vanished && qemu_task_read_stat(task);
    bool changed = read && qemu_task_read_status(reader, task);
    task->has_switches = read && task->has_switches;
    task->t_ns = clock_mono_ns();
    return changed;
}

static bool read_places(struct places *places)
{
    bool changed = false;
    for (size_t i = 0; i < places->scan.n_vms; i++) {
        struct qemu_vm *vm = places->scan.vms[i];
        for (size_t k = 0; k < vm->n_tasks; k++)
            if (vm->tasks[k].shown)
                changed |= read_place(&places->scan.reader, &vm->tasks[k]);
    }
    return changed;
}

static void fill(const struct qemu_vm *vm, struct sample *sample)
{
    for (size_t i = 0; i < vm->n_tasks; i++) {
        const struct qemu_task *task = &vm->tasks[i];
        if (!task->shown || task->vanished)
            continue;
        struct threads_row *row = sample_row(sample, TABLE_THREADS, task->info);
        row->head.t_ns = task->t_ns;
        qemu_rows_set_stat(row, &task->stat);
        if (!task->has_switches)
            continue;
        row_set(row, voluntary, task->voluntary);
        row_set(row, involuntary, task->involuntary);
    }
}

static void describe(struct places *places, struct collect_call *call)
{
    size_t n = qemu_rows_threads(&places->scan);
    snprintf(call->detail, sizeof(call->detail), "where %zu threads run, every %d s", n, TEMPO_MS / 1000);
}

static enum collect_result places_collect(void *state, struct collect_call *call, struct sample **result)
{
    struct places *places = state;
    bool changed;
    enum procfs_result scanned = qemu_scan_run(&places->scan, clock_mono_ns(), &changed);
    if (scanned != PROCFS_OK)
        return collect_fail(&call->error, scanned == PROCFS_DENIED ? COLLECT_DENIED : COLLECT_FAILED,
                            "/proc: processes cannot be listed: %s; mount proc on /proc",
                            procfs_result_text(scanned));
    struct sample *sample = sample_new(NULL);
    sample_begin(sample);
    changed |= read_places(places);
    sample_end(sample);
    if (changed) {
        inventory_unref(places->inventory);
        places->inventory = qemu_rows_inventory(&places->scan);
        describe(places, call);
    }
    sample->inventory = inventory_ref(places->inventory);
    for (size_t i = 0; i < places->scan.n_vms; i++)
        fill(places->scan.vms[i], sample);
    *result = sample;
    return COLLECT_OK;
}

const struct collector qemu_places_collector = {
    .source = "qemu",
    .feed = "qemu-places",
    .help = "virtual machines: where their threads run and may run, and their switches, from /proc",
    .tempo_ms = TEMPO_MS,
    .open = places_open,
    .collect = places_collect,
    .close = places_close,
};
