/* SPDX-License-Identifier: MIT */
/*
 * One ovs-vswitchd as the OVS collectors see it: found by its run folder, asked over its control socket, with
 * a mirror of its database and an OpenFlow connection to each of its bridges. Each collector has one of its
 * own. It must not know tables or rows but for the identities that rows share: see ovs_ports.h.
 */
#ifndef COLLECTORS_OVS_DAEMON_H
#define COLLECTORS_OVS_DAEMON_H

#include "collectors/ovs_openflow.h"
#include "collectors/ovsdb.h"
#include "collectors/unixctl.h"
#include "src/collector.h"

enum { OVS_MAX_BRIDGES = 512, OVS_MAX_PMD_DATAPATHS = 4, OVS_DATAPATH_SIZE = 80 };

struct ovs_bridge {
    char *name;
    struct ovs_openflow *of; /* NULL: not connected */
    struct ovs_of_stats stats;
    bool answered; /* stats are of this read */
    int64_t asked_ns, t_ns;
    unsigned failures;
    int64_t retry_ns;
    bool live;     /* has ports whose counters nobody else tells: asked at every tick */
    bool listed;   /* still in the database */
    char why[128]; /* it is not asked; "" when it is */
};

/* An interface of the database that belongs to a bridge. */
struct ovs_port {
    const struct ovsdb_row *row; /* valid until the next ovs_daemon_update */
    const char *name, *type;     /* of the row; type "system" where the database has "" */
    uint32_t bridge;             /* index in bridges */
    uint32_t number;             /* OpenFlow's; 0: none */
    uint32_t ifindex;   /* of the kernel's interface that it is, in the daemon's network namespace; 0: none */
    bool is_dpdk;       /* an ethdev of DPDK's ... */
    uint32_t dpdk_port; /* ... that has this number in the daemon's process */
    bool turned; /* the switch counts as sent what the kernel counts as received: it stands at the other side
                  */
    bool idle_local; /* a bridge's own port that is down: what it drops nobody wanted */
};

struct ovs_daemon {
    char rundir[256];     /* its identity: in the keys of all its rows */
    char version[32];     /* "3.1.0" */
    pid_t pid;            /* as seen from here; 0: in another pid namespace */
    uint64_t start_ticks; /* when it started, since boot; 0: not known */
    struct unixctl *ctl;
    int stop_fd;
    const char *root; /* prefix of /proc */

    struct ovsdb *db;       /* NULL: never connected; after a loss the old mirror stays until the next one */
    bool db_lost;           /* db's connection is gone */
    unsigned db_failures;   /* since it was there last */
    int64_t db_retry_ns;    /* not tried before */
    char db_why[160];       /* why there is none */
    uint64_t db_generation; /* of the mirror that ports were made of */

    uint64_t generation; /* grows when anything below changed */
    uint64_t netns;      /* inode of its network namespace; 0: not known */
    char netns_name[24]; /* self, or pid:N */
    struct ovs_bridge *bridges;
    size_t n_bridges;
    struct ovs_port *ports; /* by bridge, then number */
    uint32_t *by_name;      /* their indices */
    size_t n_ports;
    char datapaths[OVS_MAX_PMD_DATAPATHS][OVS_DATAPATH_SIZE]; /* those with PMDs: "netdev@ovs-netdev" */
    size_t n_datapaths;
};

/* Finds the daemon in config's run folders, or the default ones, and connects. Nothing to close after
 * anything but COLLECT_OK. */
enum collect_result ovs_daemon_open(struct ovs_daemon *d, const struct collect_config *config,
                                    struct collect_call *call);
void ovs_daemon_close(struct ovs_daemon *d);

/* Takes in what the database has told since, and makes bridges and ports anew if that changed them. Never
 * waits longer than a fraction of the call's time; without a database the ports stay as they were. */
void ovs_daemon_update(struct ovs_daemon *d, const struct collect_call *call);

/* Asks all bridges, or the live ones alone, for their ports' counters, then takes the answers: stats and
 * answered of each. Asking all before the first answer is awaited spares the daemon passes of its main loop.
 */
void ovs_daemon_ask_ports(struct ovs_daemon *d, bool live_only, const struct collect_call *call);
void ovs_daemon_await_ports(struct ovs_daemon *d, const struct collect_call *call);

/* The collector's result for a control command that failed; err is what unixctl said. Not for
 * JSONRPC_REFUSED. */
enum collect_result ovs_daemon_failed(const struct ovs_daemon *d, enum jsonrpc_status status, const char *err,
                                      struct collect_call *call);

/* "netdev@ovs-netdev" for a bridge's datapath_type. */
void ovs_datapath_name(char name[OVS_DATAPATH_SIZE], const char *type);

/* What PMD commands call the datapath: what stands behind the @. */
const char *ovs_datapath_argument(const char *name);

#endif
