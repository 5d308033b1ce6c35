/* SPDX-License-Identifier: MIT */
/*
 * What is remembered of a port's extended statistics from read to read. Telemetry cuts long lists without a
 * word and, when asked to, leaves out zeros; this module knows which missing name is a zero and which is
 * unknown. Called by the dpdk collector; it must not know of sockets.
 */
#ifndef COLLECTORS_DPDK_XSTATS_H
#define COLLECTORS_DPDK_XSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/telemetry_parse.h"

#define DPDK_XSTATS_MAX 1024 /* names of one port; what comes beyond is not shown */

struct counters_info;

struct dpdk_xstat {
    char name[TELEMETRY_XSTAT_NAME];
    uint64_t value;
    bool known; /* by the last read; else unknown, not zero */
    bool shown; /* was ever above zero, or tells of loss */
    struct counters_info *info;
};

/* Zero-initialise. */
struct dpdk_xstats {
    size_t n, alloc;
    struct dpdk_xstat *v;
    int64_t t_ns; /* of the last read; 0 none */
    bool maybe_truncated;
};

/* Takes in a reply read at t_ns. True when names are shown that were not before. */
bool dpdk_xstats_update(struct dpdk_xstats *xstats, const struct telemetry_xstats *reply, const char *driver,
                        unsigned release, int64_t t_ns);

/* Nothing is known now: no guest, or no answer. */
void dpdk_xstats_forget(struct dpdk_xstats *xstats);
void dpdk_xstats_free(struct dpdk_xstats *xstats);

#endif
