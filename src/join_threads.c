/* SPDX-License-Identifier: MIT */
/*
 * Threads and CPUs of a join (see join.h): each thread's numbers read once a frame, and chains of the threads
 * of each VM, on each CPU, and bound to each CPU.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/join_inside.h"
#include "src/memory.h"

static enum thread_kind kind_of(const char *role)
{
    static const char *const words[THREAD_KINDS] = {
        [THREAD_VCPU] = "vcpu",       [THREAD_EMULATOR] = "emulator",       [THREAD_IOTHREAD] = "iothread",
        [THREAD_VHOST] = "vhost",     [THREAD_WORKER] = "worker",           [THREAD_PMD] = "pmd",
        [THREAD_HANDLER] = "handler", [THREAD_REVALIDATOR] = "revalidator", [THREAD_LCORE] = "lcore",
        [THREAD_VPP] = "vpp",
    };
    for (enum thread_kind kind = THREAD_OTHER + 1; role && kind < THREAD_KINDS; kind++)
        if (strcmp(words[kind], role) == 0)
            return kind;
    return THREAD_OTHER;
}

bool join_is_poller(const struct join_thread *thread)
{
    return thread->kind == THREAD_PMD || thread->kind == THREAD_LCORE || thread->kind == THREAD_VPP;
}

static int64_t last_cpu(const struct frame_row *row)
{
    const struct part *part = frame_row_part(row, ROW_SLOT(struct threads_row, cpu));
    uint64_t cpu = part ? ((const struct threads_row *)part->cur)->cpu : JOIN_CPUS;
    return cpu < JOIN_CPUS ? (int64_t)cpu : -1;
}

static int64_t only_cpu(const char *allowed)
{
    unsigned long cpu = allowed && join_list_count(allowed) == 1 ? strtoul(allowed, NULL, 10) : JOIN_CPUS;
    return cpu < JOIN_CPUS ? (int64_t)cpu : -1;
}

static struct join_thread read_thread(const struct frame *frame, const struct frame_row *row)
{
    struct cell run = frame_cell(frame, row, COLUMN_OF(threads, run_pct));
    struct cell steal = frame_cell(frame, row, COLUMN_OF(threads, steal_pct));
    const char *allowed = JOIN_TEXT(row, struct threads_info, allowed_cpus);
    return (struct join_thread){
        .row = row,
        .allowed = allowed,
        .run_pct = cell_is_number(&run) ? cell_number(&run) : NAN,
        .steal_pct = cell_is_number(&steal) ? cell_number(&steal) : NAN,
        .cpu = last_cpu(row),
        .only_cpu = only_cpu(allowed),
        .kind = kind_of(JOIN_TEXT(row, struct threads_info, role)),
        .stale = run.stale,
    };
}

/* Threads of one VM stand together, so the key of the one before is tried first. */
static const struct frame_row *vm_of(const struct frame *frame, const struct frame_row *row,
                                     const struct join_thread *before, const char *before_key)
{
    const char *key = JOIN_TEXT(row, struct threads_info, vm_key);
    if (!key)
        return NULL;
    if (before && before_key == key)
        return before->vm;
    return frame_find(frame, TABLE_VMS, key);
}

static void find_worst(const struct frame *frame, struct join *join, uint32_t number)
{
    const struct join_thread *thread = &join->threads[number];
    if (!thread->vm || thread->kind != THREAD_VCPU || isnan(thread->steal_pct))
        return;
    uint32_t *worst = &join->vms[join_row_number(frame, TABLE_VMS, thread->vm)].worst_vcpu;
    const struct join_thread *best = *worst == JOIN_NONE ? NULL : &join->threads[*worst];
    bool worse = !best || thread->steal_pct > best->steal_pct ||
                 (thread->steal_pct == best->steal_pct && thread->run_pct > best->run_pct);
    if (worse)
        *worst = number;
}

static void read_threads(const struct frame *frame, struct join *join)
{
    const struct frame_table *table = &frame->table[TABLE_THREADS];
    const char *key = NULL;
    for (size_t i = 0; i < table->n; i++) {
        const struct frame_row *row = &table->rows[i];
        join->threads[i] = read_thread(frame, row);
        join->threads[i].vm = vm_of(frame, row, i ? &join->threads[i - 1] : NULL, key);
        key = JOIN_TEXT(row, struct threads_info, vm_key);
        find_worst(frame, join, (uint32_t)i);
    }
}

static void prepend(uint32_t *first, uint32_t *next, size_t number)
{
    next[number] = *first;
    *first = (uint32_t)number;
}

static struct cpu_node *node_at(struct join *join, int64_t cpu)
{
    return cpu >= 0 && (size_t)cpu < join->n_cpus ? &join->cpus[cpu] : NULL;
}

/* From the last to the first, so that the chains are in the table's order. */
static void chain_threads(const struct frame *frame, struct join *join)
{
    for (size_t i = frame->table[TABLE_THREADS].n; i-- > 0;) {
        const struct join_thread *thread = &join->threads[i];
        struct cpu_node *ran = node_at(join, thread->cpu), *bound = node_at(join, thread->only_cpu);
        if (thread->vm)
            prepend(&join->vms[join_row_number(frame, TABLE_VMS, thread->vm)].first_thread, join->next_thread,
                    i);
        if (ran)
            prepend(&ran->first_on, join->next_on, i);
        if (bound)
            prepend(&bound->first_bound, join->next_bound, i);
        if (ran && join_is_poller(thread))
            ran->cpu.polled = true;
    }
}

static void make_cpus(const struct frame *frame, struct join *join)
{
    const struct frame_table *table = &frame->table[TABLE_CPUS];
    for (size_t i = 0; i < frame->table[TABLE_THREADS].n; i++) {
        const struct join_thread *thread = &join->threads[i];
        int64_t most = thread->cpu > thread->only_cpu ? thread->cpu : thread->only_cpu;
        join->n_cpus = most >= (int64_t)join->n_cpus ? (size_t)most + 1 : join->n_cpus;
    }
    for (size_t i = 0; i < table->n; i++) {
        uint64_t cpu = ((const struct cpus_info *)table->rows[i].part.cur->info)->cpu;
        join->n_cpus = cpu < JOIN_CPUS && cpu >= join->n_cpus ? cpu + 1 : join->n_cpus;
    }
    join->cpus = xrealloc(NULL, join->n_cpus, sizeof(*join->cpus));
    for (size_t i = 0; i < join->n_cpus; i++)
        join->cpus[i] = (struct cpu_node){{NULL, NAN, false, false}, JOIN_NONE, JOIN_NONE};
    for (size_t i = 0; i < table->n; i++) {
        uint64_t number = ((const struct cpus_info *)table->rows[i].part.cur->info)->cpu;
        struct cpu_node *node = number < JOIN_CPUS ? node_at(join, (int64_t)number) : NULL;
        if (!node || node->cpu.row)
            continue;
        node->cpu.row = &table->rows[i];
        node->cpu.idle_pct = join_number(frame, &table->rows[i], COLUMN_OF(cpus, idle_pct));
    }
}

static void mark_crowded(struct join *join)
{
    for (size_t i = 0; i < join->n_cpus; i++) {
        const struct join_cpu *cpu = &join->cpus[i].cpu;
        const char *siblings =
            cpu->polled && cpu->row ? JOIN_TEXT(cpu->row, struct cpus_info, siblings) : NULL;
        for (size_t other = 0; siblings && other < join->n_cpus; other++)
            join->cpus[other].cpu.crowded |= other != i && join_list_has(siblings, other);
    }
}

void join_make_threads(const struct frame *frame, struct join *join)
{
    size_t n = frame->table[TABLE_THREADS].n;
    join->threads = xrealloc(NULL, n, sizeof(*join->threads));
    join->next_thread = join_numbers(n);
    join->next_on = join_numbers(n);
    join->next_bound = join_numbers(n);
    read_threads(frame, join);
    make_cpus(frame, join);
    chain_threads(frame, join);
    mark_crowded(join);
}

/* --- walks --- */

const struct join_thread *join_threads(const struct frame *frame)
{
    const struct join *join = join_get(frame);
    return join ? join->threads : NULL;
}

const struct join_thread *join_threads_end(const struct frame *frame)
{
    const struct join *join = join_get(frame);
    return join ? join->threads + frame->table[TABLE_THREADS].n : NULL;
}

const struct join_thread *join_thread_of(const struct frame *frame, const struct frame_row *thread)
{
    const struct join *join = join_get(frame);
    return join && thread ? &join->threads[join_row_number(frame, TABLE_THREADS, thread)] : NULL;
}

static const struct join_thread *thread_at(const struct join *join, uint32_t number)
{
    return number == JOIN_NONE ? NULL : &join->threads[number];
}

const struct join_cpu *join_cpu(const struct frame *frame, int64_t cpu)
{
    struct join *join = join_get(frame);
    struct cpu_node *node = join ? node_at(join, cpu) : NULL;
    return node ? &node->cpu : NULL;
}

const struct join_thread *join_first_on_cpu(const struct frame *frame, int64_t cpu)
{
    struct join *join = join_get(frame);
    struct cpu_node *node = join ? node_at(join, cpu) : NULL;
    return node ? thread_at(join, node->first_on) : NULL;
}

const struct join_thread *join_next_on_cpu(const struct frame *frame, const struct join_thread *thread)
{
    const struct join *join = join_get(frame);
    return thread_at(join, join->next_on[thread - join->threads]);
}

const struct join_thread *join_first_bound(const struct frame *frame, int64_t cpu)
{
    struct join *join = join_get(frame);
    struct cpu_node *node = join ? node_at(join, cpu) : NULL;
    return node ? thread_at(join, node->first_bound) : NULL;
}

const struct join_thread *join_next_bound(const struct frame *frame, const struct join_thread *thread)
{
    const struct join *join = join_get(frame);
    return thread_at(join, join->next_bound[thread - join->threads]);
}

const struct frame_row *join_first_thread(const struct frame *frame, const struct frame_row *vm)
{
    const struct join *join = join_get(frame);
    return join ? join_row_at(frame, TABLE_THREADS,
                              join->vms[join_row_number(frame, TABLE_VMS, vm)].first_thread)
                : NULL;
}

const struct frame_row *join_next_thread(const struct frame *frame, const struct frame_row *thread)
{
    return join_row_at(frame, TABLE_THREADS,
                       join_get(frame)->next_thread[join_row_number(frame, TABLE_THREADS, thread)]);
}

const struct frame_row *join_worst_vcpu(const struct frame *frame, const struct frame_row *vm)
{
    const struct join *join = vm ? join_get(frame) : NULL;
    return join ? join_row_at(frame, TABLE_THREADS,
                              join->vms[join_row_number(frame, TABLE_VMS, vm)].worst_vcpu)
                : NULL;
}
