/* SPDX-License-Identifier: MIT */
/*
 * Parsers of Open vSwitch's PMD commands: pmd-stats-show and pmd-perf-show (one parser: since 4.0 the first
 * answers with the text of the second), pmd-rxq-show and pmd-sleep-show, of all releases from 2.8 on. Called
 * by the OVS collector with the text of a reply; pure. Names are slices of the text, which must outlive the
 * result.
 */
#ifndef COLLECTORS_OVS_PMD_H
#define COLLECTORS_OVS_PMD_H

#include "collectors/ovs_text.h"

enum {
    OVS_MAX_PMDS = 1024,
    OVS_MAX_RXQS = 65536,
    OVS_MAX_PORT_NAME = 4096, /* bytes of a port name that goes over several lines */
};

/* Which thread a block is about. */
struct ovs_pmd_id {
    int numa_id; /* -1: not said */
    int core_id; /* -1: not said */
    bool main_thread;
};

/* Counters since the daemon's start or somebody's pmd-stats-clear. */
enum ovs_pmd_counter {
    OVS_PMD_RX_PACKETS, /* not in 2.8 */
    OVS_PMD_RECIRC,
    OVS_PMD_PASSES, /* packets through the datapath: received + recirculated; 2.8: hits + misses */
    OVS_PMD_PHWOL,  /* 2.16 to 3.7: hits of partial hardware offload */
    OVS_PMD_MFEX,   /* 2.16 to 3.7: optimised miniflow extractions */
    OVS_PMD_SIMPLE, /* 2.17: simple match hits */
    OVS_PMD_EMC,
    OVS_PMD_SMC, /* 2.10 */
    OVS_PMD_MEGAFLOW,
    OVS_PMD_MISS,        /* 2.8 alone: all misses, the lost ones included */
    OVS_PMD_UPCALLS,     /* misses whose upcall succeeded (2.8: computed, miss - lost) */
    OVS_PMD_LOST,        /* misses whose upcall failed: the packet is dropped */
    OVS_PMD_IDLE_CYCLES, /* pmd-stats-show only, as the next */
    OVS_PMD_BUSY_CYCLES, /* of iterations that received or sent; a preempted thread's TSC runs on */
    OVS_PMD_USED_CYCLES, /* idle + busy: what the thread spent outside sleep and start */
    OVS_PMD_ITERATIONS,  /* pmd-perf-show only, as all that follow */
    OVS_PMD_IDLE_ITERATIONS,
    OVS_PMD_BUSY_ITERATIONS,
    OVS_PMD_SLEEP_ITERATIONS, /* 3.1 */
    OVS_PMD_SLEEP_US,         /* 3.1 */
    OVS_PMD_TX_PACKETS,
    OVS_PMD_TX_BATCHES,
    OVS_PMD_N_COUNTERS
};

/* Averages over the whole time since start or clear, as printed: no difference of two can be taken exactly.
 */
enum ovs_pmd_gauge {
    OVS_PMD_LOOKUPS_PER_HIT, /* subtables looked at per megaflow hit */
    OVS_PMD_PACKETS_PER_BATCH,
    OVS_PMD_DURATION_S,        /* perf: since start or clear */
    OVS_PMD_USED_PCT,          /* perf: used cycles of all that passed */
    OVS_PMD_IDLE_PCT,          /* perf: of used cycles */
    OVS_PMD_BUSY_PCT,          /* perf: of used cycles */
    OVS_PMD_CYCLES_PER_PACKET, /* perf: busy cycles per received packet, whole number */
    OVS_PMD_US_PER_UPCALL,
    OVS_PMD_N_GAUGES
};

struct ovs_pmd {
    struct ovs_pmd_id id;
    uint32_t has;        /* 1 << enum ovs_pmd_counter */
    uint32_t has_gauges; /* 1 << enum ovs_pmd_gauge */
    uint64_t counters[OVS_PMD_N_COUNTERS];
    double gauges[OVS_PMD_N_GAUGES];
};

struct ovs_pmd_list {
    struct ovs_pmd *items;
    size_t n, cap;
    bool truncated; /* more than OVS_MAX_PMDS, or out of memory */
};

/* Either text; empties the list first. What a release does not print, and `-nan`, is absent. */
void ovs_pmd_parse(struct ovs_pmd_list *list, struct ovs_span text);
void ovs_pmd_free(struct ovs_pmd_list *list);

bool ovs_pmd_get(const struct ovs_pmd *pmd, enum ovs_pmd_counter which, uint64_t *value);
bool ovs_pmd_gauge(const struct ovs_pmd *pmd, enum ovs_pmd_gauge which, double *value);

/*
 * Busy cycles and by how much they may be off: exact (error 0) from pmd-stats-show; from pmd-perf-show
 * estimated from the rounded averages, the better of the two that it prints. The error grows with the time
 * since the last clear: compare it with the difference that is wanted.
 */
bool ovs_pmd_busy_cycles(const struct ovs_pmd *pmd, double *cycles, double *error);

enum ovs_tristate { OVS_UNKNOWN = -1, OVS_NO = 0, OVS_YES = 1 };

/* pmd-rxq-show: a thread ... */
struct ovs_rxq_thread {
    struct ovs_pmd_id id;
    enum ovs_tristate isolated;
    int overhead_pct; /* -1: not said or NOT AVAIL */
};

/* ... and the receive queues it polls. */
struct ovs_rxq {
    uint32_t thread; /* index in ovs_rxq_table.threads */
    uint32_t queue_id;
    struct ovs_span port;
    enum ovs_tristate enabled; /* 2.12 */
    int usage_pct;             /* of the thread's cycles over window_s; -1: not said or NOT AVAIL; 2.9 */
};

struct ovs_rxq_table {
    struct ovs_rxq_thread *threads;
    size_t n_threads, threads_cap;
    struct ovs_rxq *rxqs;
    size_t n_rxqs, rxqs_cap;
    uint64_t window_s; /* from the first line of 3.1 and later; 0: not said (60 s until then) */
    bool truncated;
};

void ovs_rxq_parse(struct ovs_rxq_table *table, struct ovs_span text); /* empties the table first */
void ovs_rxq_free(struct ovs_rxq_table *table);

/* pmd-sleep-show: the longest sleep of each thread; 3.2 prints the default alone. */
struct ovs_pmd_sleep {
    struct ovs_pmd_id id;
    uint64_t max_us;
};

struct ovs_sleep_list {
    bool has_default;
    uint64_t default_us;
    struct ovs_pmd_sleep *items;
    size_t n, cap;
    bool truncated;
};

void ovs_sleep_parse(struct ovs_sleep_list *list, struct ovs_span text); /* empties the list first */
void ovs_sleep_free(struct ovs_sleep_list *list);

#endif
