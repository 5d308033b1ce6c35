/* SPDX-License-Identifier: MIT */
/*
 * Open vSwitch's control socket (what ovs-appctl talks to): finding it in the run folders, and asking it.
 * Only the commands of the table in unixctl.c can be asked, by number, so nothing that clears, sets or dumps
 * flows can be sent. Called by the OVS collector, which gives the text to the parsers (ovs_pmd.h,
 * ovs_dpctl.h, ovs_text.h).
 */
#ifndef COLLECTORS_UNIXCTL_H
#define COLLECTORS_UNIXCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/jsonrpc.h"

enum unixctl_command {
    UNIXCTL_VERSION,
    UNIXCTL_LIST_COMMANDS,
    UNIXCTL_PMD_STATS,     /* argument: datapath; until 3.7 */
    UNIXCTL_PMD_PERF,      /* argument: datapath; from 2.10 */
    UNIXCTL_PMD_RXQ,       /* argument: datapath; usage over the daemon's own window (60 s) */
    UNIXCTL_PMD_RXQ_5S,    /* the same over 5 s from 3.1 on; 2.9 to 3.0 ignore the wish, 2.8 refuses */
    UNIXCTL_PMD_SLEEP,     /* argument: datapath; from 3.2 */
    UNIXCTL_DPCTL_SHOW,    /* argument: datapath; with the ports' statistics */
    UNIXCTL_DPCTL_SUMMARY, /* the same without: half as dear where there are many ports */
    UNIXCTL_DPIF_SHOW,
    UNIXCTL_COVERAGE_SHOW,
    UNIXCTL_COVERAGE_READ, /* argument: counter; from 2.12 */
    UNIXCTL_UPCALL_SHOW,
    UNIXCTL_MEMORY_SHOW,
    UNIXCTL_BOND_SHOW, /* argument: bond */
    UNIXCTL_LACP_SHOW, /* argument: port */
    UNIXCTL_N_COMMANDS
};

struct unixctl_command_info {
    const char *method;
    const char *fixed[2]; /* arguments that are always sent */
    bool takes_argument;  /* one more may follow */
};

extern const struct unixctl_command_info unixctl_commands[UNIXCTL_N_COMMANDS];

/* A control socket that may answer. */
struct unixctl_target {
    char path[512];
    pid_t pid;
    bool from_pidfile; /* named by a pid file: the daemon's word; otherwise a socket that may be stale */
};

/*
 * Lists the control sockets of ovs-vswitchd (also ovs-vswitchd-dpdk) in `dirs`: those that a pid file names
 * first, then other sockets. Returns how many of `max` were filled; when 0, `err` says why, folder by folder.
 */
size_t unixctl_find(const char *const *dirs, size_t n_dirs, struct unixctl_target *targets, size_t max,
                    char *err, size_t errlen);

struct unixctl;

/* Connects to the first target that answers `version` in time; its index goes to `*which`. NULL: none, see
 * `err`; errno is that of the first target: ETIMEDOUT when it took the connection and did not answer. */
struct unixctl *unixctl_open(const struct unixctl_target *targets, size_t n, int64_t deadline_ns, int stop_fd,
                             size_t *which, char *err, size_t errlen);

/* "ovs-vswitchd (Open vSwitch) 3.1.7" as it answered unixctl_open. */
const char *unixctl_version(const struct unixctl *ctl);

void unixctl_close(struct unixctl *ctl);

/*
 * Asks, and on JSONRPC_OK gives the text as a string that the caller frees. `argument` may be NULL; it must
 * not be empty or begin with '-' (it could be taken for an option). A command that the daemon does not know
 * is not sent again: JSONRPC_REFUSED at once. After a timeout the connection is gone; open anew.
 */
enum jsonrpc_status unixctl_call(struct unixctl *ctl, enum unixctl_command command, const char *argument,
                                 int64_t deadline_ns, char **text, char *err, size_t errlen);

/*
 * The two halves of a call: several commands on the wire at once are served in one pass of the daemon's main
 * loop. Sent are asked in turn; answers are awaited in the same order, each sent one exactly once.
 * unixctl_send tells nothing: what went wrong is the result of unixctl_await.
 */
struct unixctl_ticket {
    enum unixctl_command command;
    int64_t id; /* 0: not sent */
    enum jsonrpc_status status;
};
struct unixctl_ticket unixctl_send(struct unixctl *ctl, enum unixctl_command command, const char *argument,
                                   int64_t deadline_ns, char *err, size_t errlen);
enum jsonrpc_status unixctl_await(struct unixctl *ctl, const struct unixctl_ticket *ticket,
                                  int64_t deadline_ns, char **text, char *err, size_t errlen);

/* The daemon's process as the kernel knows it: a pid file may be of another pid namespace. 0: not visible
 * from here. */
pid_t unixctl_pid(const struct unixctl *ctl);

#endif
