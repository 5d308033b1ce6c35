/* SPDX-License-Identifier: MIT */
/*
 * One DPDK process as the collector knows it: its telemetry connection, its ports, pools and lcore threads,
 * and what each said last. Called by the two feeds of the source `dpdk` under the hub's lock (dpdk_hub.h), so
 * nothing here locks. It asks and remembers; it must not know of samples or rows. A process that does not
 * answer in time is hung: it is then looked at for a moment only, so that the others do not wait, until it
 * answers; what it said last stays, with the time it was said.
 */
#ifndef COLLECTORS_DPDK_PROCESS_H
#define COLLECTORS_DPDK_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/dpdk_find.h"
#include "collectors/dpdk_lcores.h"
#include "collectors/dpdk_xstats.h"
#include "collectors/telemetry.h"
#include "collectors/telemetry_loss.h"

#define DPDK_PORTS_MAX 256 /* of one process; RTE_MAX_ETHPORTS is 32 unless built otherwise */
#define DPDK_POOLS_MAX 128

enum dpdk_state {
    DPDK_NEW,        /* not yet connected */
    DPDK_OK,         /* answers */
    DPDK_HUNG,       /* was asked, and the deadline passed */
    DPDK_FULL,       /* ten clients hold its socket */
    DPDK_DENIED,     /* not for this user */
    DPDK_HIDDEN,     /* listens, but its socket is in no file system that we can look into */
    DPDK_UNREADABLE, /* what it says cannot be read */
    DPDK_FAILED,     /* anything else; error tells */
    DPDK_STATES
};

/* As the `processes` table says it. */
const char *dpdk_state_name(enum dpdk_state state);

struct ports_info;
struct processes_info;
struct mempools_info;
struct pmds_info;
struct counters_info;

struct dpdk_port {
    uint64_t serial; /* unique in the hub; another device under the same number is another port */
    uint32_t id;
    char name[TELEMETRY_XSTAT_NAME];
    char driver[32];
    bool tell_xstats; /* /ethdev/stats does not tell all that the fast tempo needs */
    struct telemetry_port facts;

    bool has_stats; /* false: null, or never answered */
    int64_t stats_ns;
    struct telemetry_stats stats;
    struct telemetry_losses loss[2]; /* by enum telemetry_dir */

    bool has_link;
    struct telemetry_link link;
    struct dpdk_xstats xstats;

    struct ports_info *info;
};

struct dpdk_pool {
    bool known;
    int64_t t_ns;
    struct telemetry_pool facts;
    struct mempools_info *info;
};

struct dpdk_core {
    uint32_t id;
    uint64_t total_cycles, busy_cycles;
    struct pmds_info *info;
};

struct dpdk_process {
    uint64_t serial;
    dev_t dev;
    ino_t ino;
    struct dpdk_find_entry entry; /* where its socket is; owner and mode where that is closed */
    struct telemetry *t;          /* NULL where it cannot be asked */
    enum dpdk_state state;
    char error[160];
    bool ended; /* closed its connection, or is stale: to be removed */
    unsigned failures;
    int64_t retry_ns, last_answer_ns;
    double answer_s; /* of its last answer; < 0 none yet */

    pid_t pid; /* 0: not visible from here */
    uint64_t start_ticks;
    char id[64];    /* "PID:STARTTIME", or the socket's identity where the process is not visible */
    char name[64];  /* "testpmd" */
    char label[96]; /* "testpmd guest0" */
    char prefix[64];
    bool is_ovs; /* its ports and threads are told by the source ovs as well */
    char *eal_args;
    struct telemetry_texts eal;

    int64_t listed_ns, pools_ns; /* when ports, pools were listed last; 0 never */
    size_t n_ports, n_pools, n_cores;
    struct dpdk_port **ports;
    struct dpdk_pool *pools;
    struct dpdk_core *cores;
    int64_t cores_ns;
    struct dpdk_lcores lcores;
    struct telemetry_xstats scratch;

    const char *state_text; /* of the inventory that info is of */
    struct processes_info *info;
};

/* What a step of asking needs of its caller. */
struct dpdk_ask {
    int proc_fd;         /* root of /proc; -1 none */
    int64_t now_ns;      /* CLOCK_MONOTONIC */
    int64_t deadline_ns; /* of the whole collect call: no question waits beyond */
    uint64_t *serials;   /* next port's number */
    uint64_t *changes;   /* counted up when something came, went or is now called otherwise */
};

/* Takes the socket of entry; nothing is connected yet. stop_fd as for telemetry_new. */
struct dpdk_process *dpdk_process_new(const struct dpdk_find_entry *entry, uint64_t serial, int stop_fd);
void dpdk_process_free(struct dpdk_process *process);

/* Connects as far as a moment allows, unless a back-off lasts. True when connected. */
bool dpdk_process_connect(struct dpdk_process *process, const struct dpdk_ask *ask);

/* Ports and their facts, EAL arguments, threads: what exists. */
void dpdk_process_list(struct dpdk_process *process, const struct dpdk_ask *ask);

/* The fast counters of all ports, and of the lcore threads. */
void dpdk_process_read(struct dpdk_process *process, const struct dpdk_ask *ask);

/* Slow tempo: a port's link and xstats; pools; busy cycles. */
void dpdk_process_read_port(struct dpdk_process *process, struct dpdk_port *port, const struct dpdk_ask *ask);
void dpdk_process_read_pools(struct dpdk_process *process, const struct dpdk_ask *ask);
void dpdk_process_read_cores(struct dpdk_process *process, const struct dpdk_ask *ask);

/* May it be asked at the slow tempo: connected, and it owes no answer. */
bool dpdk_process_is_awake(const struct dpdk_process *process);

#endif
