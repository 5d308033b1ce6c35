/* SPDX-License-Identifier: MIT */
/*
 * The threads declared in ovs_threads.h, through procfs.h. Names decide the role; a PMD that reconfiguration
 * made a moment ago still has the name of its parent, so a look that finds nothing new is cheap and repeated.
 */
#include "collectors/ovs_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/clock.h"
#include "src/memory.h"

#define LIST_NS        INT64_C(4900000000) /* five seconds, and grace for a tick that comes early */
#define LIST_URGENT_NS INT64_C(900000000)

static const char *const role_texts[] = {
    [OVS_ROLE_NONE] = "other",
    [OVS_ROLE_MAIN] = "other",
    [OVS_ROLE_PMD] = "pmd",
    [OVS_ROLE_HANDLER] = "handler",
    [OVS_ROLE_REVALIDATOR] = "revalidator",
};

/* ---- names ---- */

static const char *after(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

enum ovs_role ovs_thread_role(const char *comm, int *core)
{
    const char *rest;
    *core = -1;
    if ((rest = after(comm, "pmd-c"))) { /* pmd-c03/id:12, cut to 15 characters */
        size_t n = strspn(rest, "0123456789");
        uint64_t number;
        if (rest[n] == '/' && procfs_parse_u64(rest, n, &number) && number <= INT32_MAX) {
            *core = (int)number;
            return OVS_ROLE_PMD;
        }
        return OVS_ROLE_NONE;
    }
    if ((rest = after(comm, "pmd")) && is_number(rest))
        return OVS_ROLE_PMD;
    if ((rest = after(comm, "handler")) && is_number(rest))
        return OVS_ROLE_HANDLER;
    if ((rest = after(comm, "revalidator")) && is_number(rest))
        return OVS_ROLE_REVALIDATOR;
    return OVS_ROLE_NONE;
}

/* ---- who is there ---- */

void ovs_threads_open(struct ovs_threads *threads, const char *root, pid_t pid)
{
    char path[4096];
    *threads = (struct ovs_threads){.pid = pid, .rootfd = -1};
    int n = snprintf(path, sizeof(path), "%s/proc", root ? root : "");
    if (n > 0 && (size_t)n < sizeof(path))
        threads->rootfd = procfs_open_root(path);
}

static void forget(struct ovs_threads *threads)
{
    for (size_t i = 0; i < threads->n; i++)
        procfs_thread_close(&threads->items[i].proc);
    free(threads->items);
    threads->items = NULL;
    threads->n = 0;
}

void ovs_threads_close(struct ovs_threads *threads)
{
    forget(threads);
    if (threads->rootfd >= 0)
        close(threads->rootfd);
    threads->rootfd = -1;
}

/* Before 2.13 a PMD's name does not hold its core, but the one CPU that it may run on is it. */
static int core_of(const struct procfs_status *status)
{
    bool one = status->has & PROCFS_STATUS_CPUS && procfs_cpuset_count(&status->cpus_allowed) == 1;
    return one ? procfs_cpuset_next(&status->cpus_allowed, 0) : -1;
}

static void adopt(struct ovs_threads *threads, const struct procfs_stat *stat)
{
    struct ovs_thread thread = {.core = -1};
    struct procfs_status status;
    thread.role = ovs_thread_role(stat->comm, &thread.core);
    if (stat->tid == threads->pid)
        thread.role = OVS_ROLE_MAIN;
    struct procfs_stat first;
    if (thread.role == OVS_ROLE_NONE || threads->n == OVS_THREADS_MAX ||
        procfs_thread_open(&thread.proc, threads->rootfd, threads->pid, stat->tid, true, &first) != PROCFS_OK)
        return;
    memcpy(thread.name, first.comm, sizeof(thread.name));
    if (procfs_thread_status(&thread.proc, &status) == PROCFS_OK && status.has & PROCFS_STATUS_CPUS) {
        procfs_cpuset_format(&status.cpus_allowed, thread.allowed, sizeof(thread.allowed));
        if (thread.role == OVS_ROLE_PMD && thread.core < 0)
            thread.core = core_of(&status);
    }
    threads->items = xrealloc(threads->items, threads->n + 1, sizeof(thread));
    threads->items[threads->n++] = thread;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(1099511628211);
}

/* Reads stat of every thread; returns how many, and a hash that any coming, going and renaming changes. */
static size_t list_stats(const struct ovs_threads *threads, struct procfs_stat **stats, uint64_t *seen)
{
    pid_t *tids = NULL;
    size_t n_tids = 0, n = 0;
    *stats = NULL;
    *seen = UINT64_C(14695981039346656037);
    if (procfs_list_tids(threads->rootfd, threads->pid, &tids, &n_tids) != PROCFS_OK)
        return 0;
    *stats = xrealloc(NULL, n_tids ? n_tids : 1, sizeof(**stats));
    for (size_t i = 0; i < n_tids; i++) {
        struct procfs_stat *stat = &(*stats)[n];
        if (procfs_read_stat(threads->rootfd, threads->pid, tids[i], stat) != PROCFS_OK)
            continue;
        *seen = mix(mix(mix(*seen, (uint64_t)stat->tid), stat->start_ticks), hash_text(stat->comm));
        n++;
    }
    free(tids);
    return n;
}

void ovs_threads_update(struct ovs_threads *threads, int64_t now_ns, bool urgent)
{
    struct procfs_stat *stats;
    uint64_t seen;
    if (threads->rootfd < 0 || threads->pid <= 0 ||
        (threads->listed_ns && now_ns - threads->listed_ns < (urgent ? LIST_URGENT_NS : LIST_NS)))
        return;
    threads->listed_ns = now_ns;
    size_t n = list_stats(threads, &stats, &seen);
    if (seen != threads->seen || threads->generation == 0) {
        forget(threads);
        for (size_t i = 0; i < n; i++)
            adopt(threads, &stats[i]);
        threads->seen = seen;
        threads->generation++;
    }
    free(stats);
}

/* ---- rows ---- */

void ovs_thread_key(char key[OVS_THREAD_KEY_SIZE], const struct ovs_thread *thread)
{
    snprintf(key, OVS_THREAD_KEY_SIZE, "thread:%ld:%ld", (long)thread->proc.pid, (long)thread->proc.tid);
}

void ovs_threads_inventory(struct ovs_threads *threads, struct inventory *inventory, const char *program)
{
    for (size_t i = 0; i < threads->n; i++) {
        struct ovs_thread *thread = &threads->items[i];
        char key[OVS_THREAD_KEY_SIZE];
        ovs_thread_key(key, thread);
        struct threads_info *info = inventory_info(inventory, TABLE_THREADS, "%s", key);
        info_set(info, role, role_texts[thread->role]);
        info_set(info, vm, inventory_text(inventory, program));
        if (thread->core >= 0)
            info_set(info, index, (uint64_t)thread->core);
        info_set(info, name, inventory_text(inventory, thread->name));
        info_set(info, pid, (uint64_t)thread->proc.pid);
        info_set(info, tid, (uint64_t)thread->proc.tid);
        if (thread->allowed[0])
            info_set(info, allowed_cpus, inventory_text(inventory, thread->allowed));
        thread->info = info;
    }
}

/* One letter, as a text that lives for ever. */
static const char *state_text(char state)
{
    static const char letters[][2] = {"R", "S", "D", "T", "t", "Z", "X", "I"};
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (letters[i][0] == state)
            return letters[i];
    return NULL;
}

static void set_switches(struct threads_row *row, const struct ovs_thread *thread)
{
    struct procfs_status status;
    if (procfs_thread_status(&thread->proc, &status) != PROCFS_OK)
        return;
    if (status.has & PROCFS_STATUS_VOLUNTARY)
        row_set(row, voluntary, status.voluntary_switches);
    if (status.has & PROCFS_STATUS_NONVOLUNTARY)
        row_set(row, involuntary, status.nonvoluntary_switches);
}

static void fill_row(struct threads_row *row, const struct ovs_thread *thread, const struct procfs_stat *stat)
{
    struct procfs_schedstat times;
    const char *state = state_text(stat->state);
    if (state)
        row_set(row, state, state);
    row_set(row, cpu, (uint64_t)stat->processor);
    row->head.t_ns = clock_mono_ns();
    enum procfs_result result = procfs_thread_schedstat(&thread->proc, &times);
    /* All zero on a thread that ran: the kernel does not account. */
    if (result == PROCFS_OK && (times.run_ns || times.pcount)) {
        row_set(row, run_ns, times.run_ns);
        row_set(row, delay_ns, times.delay_ns);
        row_set(row, timeslices, times.pcount);
    } else if (result == PROCFS_DENIED) {
        row_deny(row, run_ns);
        row_deny(row, delay_ns);
        row_deny(row, timeslices);
    }
    /* status is a file to open each time: for the threads alone that packets wait for. */
    if (thread->role == OVS_ROLE_PMD || thread->role == OVS_ROLE_MAIN)
        set_switches(row, thread);
}

void ovs_threads_fill(struct ovs_threads *threads, struct sample *sample)
{
    sample_reserve(sample, TABLE_THREADS, threads->n);
    for (size_t i = 0; i < threads->n; i++) {
        const struct ovs_thread *thread = &threads->items[i];
        struct procfs_stat stat;
        if (procfs_thread_stat(&thread->proc, &stat) != PROCFS_OK) {
            threads->listed_ns = 0; /* it has ended: look again at the next tick */
            continue;
        }
        fill_row(sample_row(sample, TABLE_THREADS, thread->info), thread, &stat);
    }
}

/* ---- look-ups ---- */

const struct ovs_thread *ovs_threads_pmd(const struct ovs_threads *threads, int core)
{
    const struct ovs_thread *found = NULL;
    for (size_t i = 0; i < threads->n; i++) {
        const struct ovs_thread *thread = &threads->items[i];
        if (thread->role != OVS_ROLE_PMD || thread->core != core)
            continue;
        if (found)
            return NULL;
        found = thread;
    }
    return found;
}

const struct ovs_thread *ovs_threads_main(const struct ovs_threads *threads)
{
    for (size_t i = 0; i < threads->n; i++)
        if (threads->items[i].role == OVS_ROLE_MAIN)
            return &threads->items[i];
    return NULL;
}
