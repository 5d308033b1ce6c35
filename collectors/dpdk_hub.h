/* SPDX-License-Identifier: MIT */
/*
 * What the two feeds of the source `dpdk` share: the DPDK processes that were found, with one telemetry
 * connection each. DPDK serves ten clients a process, and we are to be one of them; but fast counters and
 * slow ones are samples of different tempo and so are read by two workers. A hub is made by the first that
 * opens and lives until the last closes. Whoever reads or asks has entered; turns go in the order of asking,
 * so that the fast worker waits for one question of the slow one at most.
 */
#ifndef COLLECTORS_DPDK_HUB_H
#define COLLECTORS_DPDK_HUB_H

#include "collectors/dpdk_process.h"
#include "src/collector.h"

struct dpdk_hub {
    size_t n;
    struct dpdk_process **processes; /* in the order they were found */
    uint64_t changes;                /* grows when inventories are to be made anew */
    struct dpdk_ask ask;             /* of the call that has entered */
    struct dpdk_hub_own *own;
};

/* The hub of these places to look into. stop_fd is duplicated. */
struct dpdk_hub *dpdk_hub_get(const struct collect_config *config, int stop_fd);
void dpdk_hub_put(struct dpdk_hub *hub);

/* From enter to leave the hub is the caller's. deadline_ns as in struct collect_call. */
void dpdk_hub_enter(struct dpdk_hub *hub, int64_t deadline_ns);
void dpdk_hub_leave(struct dpdk_hub *hub);

/*
 * Looks for processes when it is time (or some has ended), connects to new ones and lists what they have.
 * Enters and leaves by itself. now_or_later: the fast tempo calls it so and does the work only when nobody
 * does.
 */
void dpdk_hub_update(struct dpdk_hub *hub, int64_t deadline_ns, bool now_or_later);

/* Removes processes that have ended; to be called inside. */
void dpdk_hub_sweep(struct dpdk_hub *hub);

/* The next process after that serial, NULL at the end; the next port over all processes. Serials only grow.
 */
struct dpdk_process *dpdk_hub_next_process(const struct dpdk_hub *hub, uint64_t serial);
struct dpdk_port *dpdk_hub_next_port(const struct dpdk_hub *hub, uint64_t serial,
                                     struct dpdk_process **process);

/* What is to be said of the source: OK where any process can be shown; else why not. Fills error or detail.
 */
enum collect_result dpdk_hub_verdict(const struct dpdk_hub *hub, struct collect_call *call);

#endif
