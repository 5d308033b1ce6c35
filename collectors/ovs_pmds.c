/* SPDX-License-Identifier: MIT */
/*
 * PMD rows, declared in ovs_pmds.h.
 */
#include "collectors/ovs_pmds.h"

#include <stdio.h>
#include <string.h>

/* An estimate of busy cycles that may be off by more than this share of the interval's cycles is not shown.
 */
#define BUSY_ERROR_MAX 0.01

/* By how much the daemon's own account of the time since a clear may lag before it is one, beside the width
 * of both reads. */
#define CLEAR_SLACK_S 0.05

struct ovs_moment ovs_moment_since(int64_t sent_ns)
{
    int64_t wide_ns = clock_mono_ns() - sent_ns;
    return (struct ovs_moment){.t_ns = sent_ns + wide_ns / 2, .wide_ns = wide_ns};
}

bool ovs_pmd_has_place(struct ovs_pmd_id id)
{
    return id.main_thread || id.core_id >= 0;
}

bool ovs_pmd_same(struct ovs_pmd_id a, struct ovs_pmd_id b)
{
    return a.numa_id == b.numa_id && a.core_id == b.core_id && a.main_thread == b.main_thread;
}

const char *ovs_pmd_key(char key[OVS_PMD_KEY_SIZE], const struct ovs_daemon *d, const char *datapath,
                        struct ovs_pmd_id id)
{
    if (id.main_thread)
        snprintf(key, OVS_PMD_KEY_SIZE, "pmd:%s:%s:main", d->rundir, datapath);
    else
        snprintf(key, OVS_PMD_KEY_SIZE, "pmd:%s:%s:%d", d->rundir, datapath, id.core_id);
    return key;
}

struct pmds_info *ovs_pmd_info(struct inventory *inventory, const struct ovs_daemon *d, const char *datapath,
                               struct ovs_pmd_id id)
{
    char key[OVS_PMD_KEY_SIZE];
    struct pmds_info *info = inventory_info(inventory, TABLE_PMDS, "%s", ovs_pmd_key(key, d, datapath, id));
    info_set(info, ovs, inventory_text(inventory, d->rundir));
    info_set(info, datapath, inventory_text(inventory, datapath));
    info_set(info, thread, id.main_thread ? "main" : "pmd");
    if (id.core_id >= 0)
        info_set(info, core, (uint64_t)id.core_id);
    if (id.numa_id >= 0)
        info_set(info, numa, (uint64_t)id.numa_id);
    return info;
}

/* ---- counters ---- */

#define FIELD(name) offsetof(struct pmds_row, name)

static const struct {
    enum ovs_pmd_counter from;
    size_t to;
} places[] = {
    {OVS_PMD_RX_PACKETS, FIELD(rx_packets)},
    {OVS_PMD_PASSES, FIELD(passes)},
    {OVS_PMD_RECIRC, FIELD(recirculations)},
    {OVS_PMD_PHWOL, FIELD(hwol_hits)},
    {OVS_PMD_MFEX, FIELD(mfex_hits)},
    {OVS_PMD_SIMPLE, FIELD(simple_hits)},
    {OVS_PMD_EMC, FIELD(emc_hits)},
    {OVS_PMD_SMC, FIELD(smc_hits)},
    {OVS_PMD_MEGAFLOW, FIELD(megaflow_hits)},
    {OVS_PMD_UPCALLS, FIELD(upcalls)},
    {OVS_PMD_LOST, FIELD(upcalls_lost)},
    {OVS_PMD_IDLE_CYCLES, FIELD(idle_cycles)},
    {OVS_PMD_BUSY_CYCLES, FIELD(busy_cycles)},
    {OVS_PMD_SLEEP_US, FIELD(sleep_us)},
    {OVS_PMD_TX_PACKETS, FIELD(tx_packets)},
    {OVS_PMD_TX_BATCHES, FIELD(tx_batches)},
};

/* What pmd-perf-show alone tells; the rest is read from pmd-stats-show, so that all of it is of one moment.
 */
static const enum ovs_pmd_counter perf_only[] = {
    OVS_PMD_ITERATIONS, OVS_PMD_IDLE_ITERATIONS, OVS_PMD_BUSY_ITERATIONS, OVS_PMD_SLEEP_ITERATIONS,
    OVS_PMD_SLEEP_US,   OVS_PMD_TX_PACKETS,      OVS_PMD_TX_BATCHES,
};

static struct ovs_pmd merge(const struct ovs_pmd *pmd, const struct ovs_pmd *perf)
{
    struct ovs_pmd all = *pmd;
    double seconds;
    uint64_t value;
    if (!perf)
        return all;
    for (size_t i = 0; i < sizeof(perf_only) / sizeof(perf_only[0]); i++) {
        if (all.has & 1u << perf_only[i] || !ovs_pmd_get(perf, perf_only[i], &value))
            continue;
        all.counters[perf_only[i]] = value;
        all.has |= 1u << perf_only[i];
    }
    if (ovs_pmd_gauge(perf, OVS_PMD_DURATION_S, &seconds)) {
        all.gauges[OVS_PMD_DURATION_S] = seconds;
        all.has_gauges |= 1u << OVS_PMD_DURATION_S;
    }
    return all;
}

static bool went_back(const struct ovs_pmd *now, const struct ovs_pmd *before)
{
    for (unsigned i = 0; i < OVS_PMD_N_COUNTERS; i++)
        if (now->has & before->has & 1u << i && now->counters[i] < before->counters[i])
            return true;
    return false;
}

/* The daemon says for how long it has counted: less than the time that has passed is a clear in between. */
static bool was_cleared(const struct ovs_pmd *now, struct ovs_moment at, const struct ovs_pmd_memory *memory)
{
    double seconds, before;
    if (!memory->known || !ovs_pmd_gauge(now, OVS_PMD_DURATION_S, &seconds) ||
        !ovs_pmd_gauge(&memory->last, OVS_PMD_DURATION_S, &before))
        return false;
    double passed = (double)(at.t_ns - memory->at.t_ns) / 1e9;
    double unsure = (double)(at.wide_ns + memory->at.wide_ns) / 2e9 + CLEAR_SLACK_S;
    return seconds < before + passed - unsure;
}

static void put_counters(struct pmds_row *row, const struct ovs_pmd *pmd)
{
    uint64_t value;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (!ovs_pmd_get(pmd, places[i].from, &value))
            continue;
        memcpy((char *)row + places[i].to, &value, sizeof(value));
        slot_set(&row->head.have, (unsigned)((places[i].to - sizeof(struct row_head)) / 8));
    }
    if (!row_has(row, rx_packets) && row_has(row, passes)) { /* 2.8 counts no packets */
        row_set(row, rx_packets, row->passes);
        row_approx(row, rx_packets);
    }
}

/*
 * From 4.0 on cycles are told as a sum and rounded shares alone. The estimate is shown while it is good
 * enough for the interval, and never steps back: that would look like a clear.
 */
static void put_estimate(struct pmds_row *row, const struct ovs_pmd *pmd, struct ovs_pmd_memory *memory)
{
    double busy, error;
    uint64_t used, before;
    if (row_has(row, busy_cycles) || !ovs_pmd_get(pmd, OVS_PMD_USED_CYCLES, &used) ||
        !ovs_pmd_busy_cycles(pmd, &busy, &error))
        return;
    if (memory->known && ovs_pmd_get(&memory->last, OVS_PMD_USED_CYCLES, &before) && used >= before &&
        error * 2 > BUSY_ERROR_MAX * (double)(used - before))
        return;
    if (memory->busy_used && used >= memory->busy_used) {
        double least = memory->busy_cycles, most = least + (double)(used - memory->busy_used);
        busy = busy < least ? least : busy > most ? most : busy;
    }
    memory->busy_cycles = busy < (double)used ? busy : (double)used;
    memory->busy_used = used;
    row_set(row, busy_cycles, (uint64_t)memory->busy_cycles);
    row_set(row, idle_cycles, used - row->busy_cycles);
    row_approx(row, busy_cycles);
    row_approx(row, idle_cycles);
}

void ovs_pmd_fill(struct pmds_row *row, const struct ovs_pmd *pmd, const struct ovs_pmd *perf,
                  struct ovs_moment at, struct ovs_moment perf_at, struct ovs_pmd_memory *memory)
{
    struct ovs_pmd all = merge(pmd, perf);
    double lookups;
    row->head.t_ns = at.t_ns;
    struct ovs_moment told_at = perf ? perf_at : at;
    bool hidden_clear = was_cleared(&all, told_at, memory) && !went_back(&all, &memory->last);
    if (!hidden_clear) {
        put_counters(row, &all);
        put_estimate(row, &all, memory);
    }
    if (ovs_pmd_gauge(pmd, OVS_PMD_LOOKUPS_PER_HIT, &lookups))
        row_set(row, subtable_lookups, lookups);
    memory->known = true;
    memory->last = all;
    memory->at = told_at;
}
