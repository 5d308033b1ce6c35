/* SPDX-License-Identifier: MIT */
/*
 * The wire format of DPDK's telemetry v2 socket: the commands we may send, and replies turned into structs
 * with presence bits. Pure functions over bytes, called by telemetry.c and by the dpdk collector; they know
 * nothing of sockets, time or rates. Numbers come from lib/telemetry and lib/ethdev of DPDK 20.05 to 26.07.
 */
#ifndef COLLECTORS_TELEMETRY_PARSE_H
#define COLLECTORS_TELEMETRY_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/json_u64.h"

/*
 * All that can ever be sent. Absent on purpose: /ethdev/rx_queue and /ethdev/tx_queue (the first kills
 * applications of 25.11 and 26.07), and all that no table of ours shows.
 */
enum telemetry_command {
    TELEMETRY_ROOT,
    TELEMETRY_INFO,
    TELEMETRY_EAL_PARAMS,
    TELEMETRY_EAL_APP_PARAMS,
    TELEMETRY_ETHDEV_LIST,
    TELEMETRY_ETHDEV_STATS,  /* since 20.11; 20.05 has xstats alone */
    TELEMETRY_ETHDEV_XSTATS, /* net_vhost takes a data-path lock for it: dearer than stats */
    TELEMETRY_ETHDEV_INFO,   /* since 21.11 */
    TELEMETRY_ETHDEV_LINK,
    TELEMETRY_MEMPOOL_LIST, /* since 21.11 */
    TELEMETRY_MEMPOOL_INFO,
    TELEMETRY_LCORE_LIST, /* since 23.03 */
    TELEMETRY_LCORE_INFO,
    TELEMETRY_LCORE_USAGE,
    TELEMETRY_COMMANDS /* how many */
};

enum telemetry_argument { TELEMETRY_NO_ARGUMENT, TELEMETRY_NUMBER, TELEMETRY_POOL_NAME };

const char *telemetry_command_name(enum telemetry_command command);
enum telemetry_argument telemetry_command_argument(enum telemetry_command command);

/* What became of a request, or of a connection. */
enum telemetry_status {
    TELEMETRY_OK,
    TELEMETRY_NONE,        /* the server says null, or an empty object: it has no such number now */
    TELEMETRY_UNSUPPORTED, /* not in the server's list of commands, or an argument that cannot be sent: not
                              asked */
    TELEMETRY_UNREADABLE,  /* no valid JSON, or not of the shape this command has */
    TELEMETRY_GARBLED,   /* the answer to another command (servers before 26.07 mix up concurrent clients) */
    TELEMETRY_TRUNCATED, /* longer than the server announced; the rest is lost */
    TELEMETRY_TIMEOUT,   /* not before the deadline; the connection is kept */
    TELEMETRY_STOPPED,   /* the caller's stop eventfd fired; the connection is kept */
    TELEMETRY_FULL,      /* ended before its greeting: ten clients hold this socket already */
    TELEMETRY_STALE,     /* connection refused: the owner died and left the file */
    TELEMETRY_DENIED,    /* not permitted */
    TELEMETRY_GONE,      /* no such socket, or it closed on us; connect again later */
    TELEMETRY_FAILED,    /* any other error, told in the text */
    TELEMETRY_STATUSES
};

const char *telemetry_status_name(enum telemetry_status status);

struct telemetry_hello {
    char version[64]; /* "DPDK 22.11.11" */
    unsigned release; /* year * 100 + month, 2211; 0 unknown */
    uint64_t pid;     /* as its own PID namespace counts */
    uint32_t max_output_len;
};

#define TELEMETRY_OUTPUT_LEN      16384 /* MAX_OUTPUT_LEN of every release so far */
#define TELEMETRY_HIDE_ZERO_SINCE 2303

/* The greeting: an object without a command's key. The bytes are overwritten. */
enum telemetry_status telemetry_read_hello(struct json64 *doc, char *bytes, size_t len,
                                           struct telemetry_hello *hello, char *err, size_t errlen);

/* One reply that parsed as JSON under the right key. Valid until the next reply is read into the same doc. */
struct telemetry_reply {
    enum telemetry_command command;
    const struct json64 *doc;
    const struct json64_node *value;
    bool near_limit;               /* so long that the server may have left out entries that did not fit */
    bool zeros_hidden;             /* asked with hide_zero=true: a missing name is zero or unknown */
    uint64_t sent_ns, received_ns; /* CLOCK_MONOTONIC around the request; 0 if not from a socket */
};

/* OK, NONE (null), GARBLED or UNREADABLE. The bytes are overwritten. max_output_len is the greeting's. */
enum telemetry_status telemetry_read_reply(struct telemetry_reply *reply, enum telemetry_command command,
                                           struct json64 *doc, char *bytes, size_t len,
                                           uint32_t max_output_len, char *err, size_t errlen);

/*
 * Below, each parser takes a reply that was read with OK and returns OK, NONE (an empty object) or UNREADABLE
 * (not the shape of that command). A field without its `has` bit is 0 and means unknown, never zero. Texts
 * are UTF-8, cut to whole characters, control characters replaced by '?'.
 */
enum telemetry_status telemetry_parse_info(const struct telemetry_reply *reply,
                                           struct telemetry_hello *hello);

/* Which commands of ours the server lists: bit 1 << enum telemetry_command. */
enum telemetry_status telemetry_parse_root(const struct telemetry_reply *reply, uint32_t *mask);

#define TELEMETRY_LIST_MAX 512 /* RTE_TEL_MAX_ARRAY_ENTRIES */

/* /ethdev/list, /eal/lcore/list. An empty list is healthy: OVS has it without `dpdk` ports. */
struct telemetry_ids {
    uint32_t n;
    bool maybe_truncated;
    uint32_t v[TELEMETRY_LIST_MAX];
};
enum telemetry_status telemetry_parse_ids(const struct telemetry_reply *reply, struct telemetry_ids *ids);

/* /mempool/list, /eal/params, /eal/app_params: texts in order. Zero-initialise; a parse frees what was there.
 */
struct telemetry_texts {
    uint32_t n;
    bool maybe_truncated; /* entries that did not fit are left out one by one: there can be holes */
    char **v;             /* n texts in one block */
};
enum telemetry_status telemetry_parse_texts(const struct telemetry_reply *reply,
                                            struct telemetry_texts *texts);
void telemetry_texts_free(struct telemetry_texts *texts);

#define TELEMETRY_QUEUES 16 /* RTE_ETHDEV_QUEUE_STAT_CNTRS; ports can have more queues than counted */
enum telemetry_queue_stat {
    TELEMETRY_Q_IPACKETS,
    TELEMETRY_Q_OPACKETS,
    TELEMETRY_Q_IBYTES,
    TELEMETRY_Q_OBYTES,
    TELEMETRY_Q_ERRORS,
    TELEMETRY_QUEUE_STATS
};

struct telemetry_stats {
    uint32_t has; /* TELEMETRY_HAS_* */
    uint64_t ipackets, opackets, ibytes, obytes, imissed, ierrors, oerrors, rx_nombuf;
    uint32_t n_queues[TELEMETRY_QUEUE_STATS]; /* 0: no such array (25.11 removed them) */
    uint64_t queue[TELEMETRY_QUEUE_STATS][TELEMETRY_QUEUES];
};
enum {
    TELEMETRY_HAS_IPACKETS = 1 << 0,
    TELEMETRY_HAS_OPACKETS = 1 << 1,
    TELEMETRY_HAS_IBYTES = 1 << 2,
    TELEMETRY_HAS_OBYTES = 1 << 3,
    TELEMETRY_HAS_IMISSED = 1 << 4,
    TELEMETRY_HAS_IERRORS = 1 << 5,
    TELEMETRY_HAS_OERRORS = 1 << 6,
    TELEMETRY_HAS_RX_NOMBUF = 1 << 7,
};
enum telemetry_status telemetry_parse_stats(const struct telemetry_reply *reply,
                                            struct telemetry_stats *stats);

#define TELEMETRY_DICT_MAX                                                                                   \
    256                         /* RTE_TEL_MAX_DICT_ENTRIES: the 257th and later are dropped without a word  \
                                 */
#define TELEMETRY_XSTAT_NAME 64 /* RTE_ETH_XSTATS_NAME_SIZE */

struct telemetry_xstat {
    char name[TELEMETRY_XSTAT_NAME];
    uint64_t value;
};
/* Zero-initialise; reused from reply to reply. A name that comes twice is kept once, the first time. */
struct telemetry_xstats {
    uint32_t n, cap;
    bool maybe_truncated; /* a missing name is unknown, not zero */
    bool zeros_hidden;
    struct telemetry_xstat *v;
};
enum telemetry_status telemetry_parse_xstats(const struct telemetry_reply *reply,
                                             struct telemetry_xstats *xstats);
void telemetry_xstats_free(struct telemetry_xstats *xstats);
bool telemetry_xstats_get(const struct telemetry_xstats *xstats, const char *name, uint64_t *value);

/* The basic counters as xstats name them: for 20.05, which has no /ethdev/stats. No queue arrays. */
void telemetry_stats_of_xstats(const struct telemetry_xstats *xstats, struct telemetry_stats *stats);

struct telemetry_port {
    uint32_t has;    /* TELEMETRY_PORT_* */
    char name[64];   /* the port's identity together with the process: ids are used again */
    char driver[32]; /* told from the name: "net_vhost"; "pci" for a PCI address; "" unknown */
    char mac[18];    /* absent when cut (21.11 gives "02:00") */
    uint64_t port_id, state, nb_rx_queues, nb_tx_queues, mtu, dev_started, promiscuous, rx_mbuf_alloc_fail;
    int64_t numa_node; /* -1: none in particular */
};
enum {
    TELEMETRY_PORT_NAME = 1 << 0,
    TELEMETRY_PORT_MAC = 1 << 1,
    TELEMETRY_PORT_ID = 1 << 2,
    TELEMETRY_PORT_STATE = 1 << 3,
    TELEMETRY_PORT_RX_QUEUES = 1 << 4,
    TELEMETRY_PORT_TX_QUEUES = 1 << 5,
    TELEMETRY_PORT_MTU = 1 << 6,
    TELEMETRY_PORT_STARTED = 1 << 7,
    TELEMETRY_PORT_PROMISCUOUS = 1 << 8,
    TELEMETRY_PORT_ALLOC_FAIL = 1 << 9, /* 21.11 alone */
    TELEMETRY_PORT_NUMA = 1 << 10,
};
enum telemetry_status telemetry_parse_port(const struct telemetry_reply *reply, struct telemetry_port *port);

struct telemetry_link {
    bool up;
    bool has_speed; /* false when down, and for the values that mean unknown */
    bool has_duplex, full_duplex;
    uint32_t speed_mbps;
};
enum telemetry_status telemetry_parse_link(const struct telemetry_reply *reply, struct telemetry_link *link);

struct telemetry_pool {
    uint32_t has; /* TELEMETRY_POOL_* */
    char name[64];
    uint64_t size, populated_size, cache_size, elt_size, total_cache_count, common_pool_count;
    int64_t socket_id;
    uint64_t in_use; /* size less what lies in the pool and in the caches: in flight in queues and the
                        application */
};
enum {
    TELEMETRY_POOL_NAME_GIVEN = 1 << 0,
    TELEMETRY_POOL_SIZE = 1 << 1,
    TELEMETRY_POOL_POPULATED = 1 << 2,
    TELEMETRY_POOL_CACHE_SIZE = 1 << 3,
    TELEMETRY_POOL_ELT_SIZE = 1 << 4,
    TELEMETRY_POOL_CACHED = 1 << 5, /* since 23.03, as the next two */
    TELEMETRY_POOL_COMMON = 1 << 6,
    TELEMETRY_POOL_IN_USE = 1 << 7,
    TELEMETRY_POOL_SOCKET = 1 << 8,
};
enum telemetry_status telemetry_parse_pool(const struct telemetry_reply *reply, struct telemetry_pool *pool);

#define TELEMETRY_CPUS 1024

struct telemetry_lcore {
    uint32_t has; /* TELEMETRY_LCORE_* */
    uint64_t lcore_id, total_cycles, busy_cycles;
    int64_t socket;
    char role[16]; /* RTE, SERVICE, NON_EAL, OFF */
    double
        usage_pct; /* since forwarding started, not of an interval: take differences of the cycles for that */
    uint32_t n_cpus;
    uint64_t cpus[TELEMETRY_CPUS / 64]; /* bit per CPU */
};
enum {
    TELEMETRY_LCORE_ID = 1 << 0,
    TELEMETRY_LCORE_SOCKET = 1 << 1,
    TELEMETRY_LCORE_ROLE = 1 << 2,
    TELEMETRY_LCORE_TOTAL = 1 << 3, /* only if the application counts cycles, as the next two */
    TELEMETRY_LCORE_BUSY = 1 << 4,
    TELEMETRY_LCORE_USAGE_PCT = 1 << 5,
    TELEMETRY_LCORE_CPUS = 1 << 6,
};
enum telemetry_status telemetry_parse_lcore(const struct telemetry_reply *reply,
                                            struct telemetry_lcore *lcore);

/* Only lcores that count are listed: n is 0 where the application registered nothing. */
struct telemetry_usage {
    uint32_t n;
    bool maybe_truncated;
    struct {
        uint32_t lcore_id;
        uint64_t total_cycles, busy_cycles;
    } v[TELEMETRY_LIST_MAX];
};
enum telemetry_status telemetry_parse_usage(const struct telemetry_reply *reply,
                                            struct telemetry_usage *usage);

#endif
