/* SPDX-License-Identifier: MIT */
/*
 * PMD threads as rows: identity, and the counters of pmd-stats-show and pmd-perf-show with what must be known
 * of the read before to trust them. Called by both OVS feeds; pure but for the memory it keeps.
 */
#ifndef COLLECTORS_OVS_PMDS_H
#define COLLECTORS_OVS_PMDS_H

#include "collectors/ovs_daemon.h"
#include "collectors/ovs_pmd.h"

/* When a text was read: between its request and its answer. */
struct ovs_moment {
    int64_t t_ns;    /* the middle */
    int64_t wide_ns; /* from one to the other */
};

/* Between sent_ns and now. */
struct ovs_moment ovs_moment_since(int64_t sent_ns);

/* A PMD between reads. */
struct ovs_pmd_memory {
    bool known;
    struct ovs_pmd last;  /* its counters, those of both texts */
    struct ovs_moment at; /* when it said for how long it has counted */
    double busy_cycles;   /* as shown last, where it is an estimate ... */
    uint64_t busy_used;   /* ... and the used cycles that went with it; 0: none shown yet */
};

/* Is it one that a row can be made of? */
bool ovs_pmd_has_place(struct ovs_pmd_id id);
bool ovs_pmd_same(struct ovs_pmd_id a, struct ovs_pmd_id b);

enum { OVS_PMD_KEY_SIZE = 400 };

/* pmd:RUNDIR:DATAPATH:CORE, or ...:main. */
const char *ovs_pmd_key(char key[OVS_PMD_KEY_SIZE], const struct ovs_daemon *d, const char *datapath,
                        struct ovs_pmd_id id);

/* Its info in that datapath: the key, and the columns that name it. */
struct pmds_info *ovs_pmd_info(struct inventory *inventory, const struct ovs_daemon *d, const char *datapath,
                               struct ovs_pmd_id id);

/*
 * Fills the counters. pmd is what pmd-stats-show told at `at`, perf (NULL: nothing) what pmd-perf-show did at
 * perf_at; memory is of the same PMD. When somebody cleared the counters since the last read and they have
 * passed their old values already, so that no difference would show it, the row is left without them.
 */
void ovs_pmd_fill(struct pmds_row *row, const struct ovs_pmd *pmd, const struct ovs_pmd *perf,
                  struct ovs_moment at, struct ovs_moment perf_at, struct ovs_pmd_memory *memory);

#endif
