/* SPDX-License-Identifier: MIT */
/*
 * Lcore threads of a DPDK process: see dpdk_lcores.h. Threads are looked for anew at the slow tempo, and
 * opened anew only when the set of threads is another one; their times are read from descriptors that stay
 * open.
 */
#include "collectors/dpdk_lcores.h"

#include <stdlib.h>
#include <string.h>

#include "src/clock.h"
#include "src/memory.h"

#define LCORE_ID_MAX 4095

/* How EAL called its workers: up to 20.08, up to 23.07, since 23.11; DPDK's forks mix old and new. */
static const char *const worker_names[] = {"lcore-slave-", "lcore-worker-", "rte-worker-", "dpdk-worker-",
                                           "dpdk-worker"};

/* All of text, or all before one of ends, is a number of up to four digits. Returns what follows, or NULL. */
static const char *read_id(const char *text, int *id)
{
    int value = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9' && p - text < 5; p++)
        value = value * 10 + (*p - '0');
    if (p == text || value > LCORE_ID_MAX)
        return NULL;
    *id = value;
    return p;
}

int dpdk_lcore_of_comm(const char *comm)
{
    for (size_t i = 0; i < sizeof(worker_names) / sizeof(worker_names[0]); i++) {
        size_t n = strlen(worker_names[i]);
        int id;
        const char *end = strncmp(comm, worker_names[i], n) == 0 ? read_id(comm + n, &id) : NULL;
        if (end && *end == '\0')
            return id;
    }
    return -1;
}

/* Lowest of a list such as "3,1-2"; -1 when it is another form. */
static int lowest_of_list(const char *list)
{
    int lowest = LCORE_ID_MAX + 1, id;
    while (list) {
        while (*list == ' ')
            list++;
        if (!(list = read_id(list, &id)))
            return -1;
        lowest = id < lowest ? id : lowest;
        if (*list == '\0')
            return lowest;
        if (*list != ',' && *list != '-')
            return -1;
        list++;
    }
    return -1;
}

/* Lowest bit of a hexadecimal mask of any length. */
static int lowest_of_mask(const char *mask)
{
    static const char digits[] = "0123456789abcdef";
    if (mask[0] == '0' && (mask[1] == 'x' || mask[1] == 'X'))
        mask += 2;
    size_t n = strspn(mask, "0123456789abcdefABCDEF");
    if (mask[n] != '\0' || n > (LCORE_ID_MAX + 1) / 4)
        return -1;
    for (size_t i = 0; i < n; i++) {
        char c = mask[n - 1 - i];
        int digit = (int)(strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) - digits);
        if (digit)
            return (int)i * 4 + __builtin_ctz((unsigned)digit);
    }
    return -1;
}

/* The value of option in args[i], in any of the forms that getopt takes, or NULL. */
static const char *value_of(const char *const *args, size_t n_args, size_t i, const char *option)
{
    size_t n = strlen(option);
    if (strncmp(args[i], option, n) != 0)
        return NULL;
    const char *rest = args[i] + n;
    if (*rest == '\0')
        return i + 1 < n_args ? args[i + 1] : NULL;
    if (option[1] == '-')
        return *rest == '=' ? rest + 1 : NULL;
    return rest;
}

int dpdk_main_lcore(const char *const *args, size_t n_args, bool *mapped)
{
    static const struct {
        const char *option;
        int (*lowest)(const char *value);
    } options[] = {{"--main-lcore", lowest_of_list},
                   {"--master-lcore", lowest_of_list},
                   {"--lcores", lowest_of_list},
                   {"-l", lowest_of_list},
                   {"-c", lowest_of_mask}};
    *mapped = false;
    for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++) {
        for (size_t i = 0; i < n_args; i++) {
            const char *value = value_of(args, n_args, i, options[o].option);
            if (!value)
                continue;
            *mapped |= strpbrk(value, "@(") != NULL;
            int id = options[o].lowest(value);
            if (id >= 0)
                return id;
        }
    }
    return -1;
}

static void close_all(struct dpdk_lcores *lcores)
{
    for (size_t i = 0; i < lcores->n; i++)
        procfs_thread_close(&lcores->v[i].thread);
    lcores->n = 0;
}

void dpdk_lcores_free(struct dpdk_lcores *lcores)
{
    close_all(lcores);
    free(lcores->v);
    free(lcores->tids);
    *lcores = (struct dpdk_lcores){0};
}

static bool take_tids(struct dpdk_lcores *lcores, pid_t *tids, size_t n)
{
    bool same = lcores->tids && n == lcores->n_tids && memcmp(tids, lcores->tids, n * sizeof(*tids)) == 0;
    free(lcores->tids);
    lcores->tids = tids;
    lcores->n_tids = n;
    return !same;
}

/* The main thread is an lcore where EAL runs; its number is what its arguments say, or the one CPU it is kept
 * on. */
static void number_main(struct dpdk_lcore *lcore, const struct procfs_cpuset *cpus, const char *const *args,
                        size_t n_args)
{
    bool mapped;
    lcore->index = dpdk_main_lcore(args, n_args, &mapped);
    if (lcore->index >= 0 || mapped || !cpus || procfs_cpuset_count(cpus) != 1)
        return;
    lcore->index = procfs_cpuset_next(cpus, 0);
    lcore->inferred = true;
}

static void open_lcore(struct dpdk_lcores *lcores, int proc_fd, pid_t pid, pid_t tid, const char *const *args,
                       size_t n_args)
{
    struct dpdk_lcore lcore = {.index = -1};
    struct procfs_status status;
    /* Most threads are no lcores: their name is looked at before anything is kept open. */
    if (procfs_read_stat(proc_fd, pid, tid, &lcore.stat) != PROCFS_OK)
        return;
    lcore.index = dpdk_lcore_of_comm(lcore.stat.comm);
    if (lcore.index < 0 && tid != pid)
        return;
    if (procfs_thread_open(&lcore.thread, proc_fd, pid, tid, true, &lcore.stat) != PROCFS_OK)
        return;
    bool has_cpus =
        procfs_thread_status(&lcore.thread, &status) == PROCFS_OK && (status.has & PROCFS_STATUS_CPUS);
    if (has_cpus)
        procfs_cpuset_format(&status.cpus_allowed, lcore.allowed, sizeof(lcore.allowed));
    if (tid == pid)
        number_main(&lcore, has_cpus ? &status.cpus_allowed : NULL, args, n_args);
    memcpy(lcore.comm, lcore.stat.comm, sizeof(lcore.comm));
    lcores->v[lcores->n++] = lcore;
}

static bool affinity_changed(struct dpdk_lcores *lcores)
{
    bool changed = false;
    for (size_t i = 0; i < lcores->n; i++) {
        struct procfs_status status;
        char allowed[PROCFS_CPUS_TEXT];
        if (procfs_thread_status(&lcores->v[i].thread, &status) != PROCFS_OK ||
            !(status.has & PROCFS_STATUS_CPUS))
            continue;
        procfs_cpuset_format(&status.cpus_allowed, allowed, sizeof(allowed));
        changed |= strcmp(allowed, lcores->v[i].allowed) != 0;
        memcpy(lcores->v[i].allowed, allowed, sizeof(allowed));
    }
    return changed;
}

bool dpdk_lcores_scan(struct dpdk_lcores *lcores, int proc_fd, pid_t pid, const char *const *args,
                      size_t n_args)
{
    pid_t *tids = NULL;
    size_t n = 0;
    if (procfs_list_tids(proc_fd, pid, &tids, &n) != PROCFS_OK)
        return false;
    if (!take_tids(lcores, tids, n))
        return affinity_changed(lcores);
    close_all(lcores);
    lcores->v = xrealloc(lcores->v, n < DPDK_LCORES_MAX ? n : DPDK_LCORES_MAX, sizeof(*lcores->v));
    for (size_t i = 0; i < n && lcores->n < DPDK_LCORES_MAX; i++)
        open_lcore(lcores, proc_fd, pid, tids[i], args, n_args);
    return true;
}

void dpdk_lcores_read(struct dpdk_lcores *lcores)
{
    for (size_t i = 0; i < lcores->n; i++) {
        struct dpdk_lcore *lcore = &lcores->v[i];
        struct procfs_status status;
        lcore->t_ns = clock_mono_ns();
        lcore->has_schedstat = procfs_thread_schedstat(&lcore->thread, &lcore->schedstat) == PROCFS_OK;
        lcore->has_stat = procfs_thread_stat(&lcore->thread, &lcore->stat) == PROCFS_OK;
        lcore->has_status = lcore->has_stat && procfs_thread_status(&lcore->thread, &status) == PROCFS_OK &&
                            (status.has & PROCFS_STATUS_VOLUNTARY) &&
                            (status.has & PROCFS_STATUS_NONVOLUNTARY);
        if (lcore->has_status) {
            lcore->voluntary = status.voluntary_switches;
            lcore->involuntary = status.nonvoluntary_switches;
        }
    }
}
