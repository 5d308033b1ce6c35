/* SPDX-License-Identifier: MIT */
/*
 * The client of Open vSwitch's database: connects to db.sock, asks for the schema, monitors the columns of
 * ovsdb_mirror.h and keeps the mirror current. Called by the OVS collector from its worker thread; it reads
 * only: the methods it sends are get_schema, monitor_cond and monitor.
 *
 * The statistics column is written every 5 s (other_config:stats-update-interval). The mirror stamps a change
 * when it is read, so wait on ovsdb_fd() (or in ovsdb_run) between samples, or the stamp is late by up to an
 * interval.
 */
#ifndef COLLECTORS_OVSDB_H
#define COLLECTORS_OVSDB_H

#include "collectors/jsonrpc.h"
#include "collectors/ovsdb_mirror.h"

struct ovsdb;

/* NULL with `err` filled when the database does not answer in time. `stop_fd` may be -1. */
struct ovsdb *ovsdb_open(const char *socket_path, int64_t deadline_ns, int stop_fd, char *err, size_t errlen);
/* The same without the statistics, which are most of what is sent every 5 s: for whoever has them live. */
struct ovsdb *ovsdb_open_inventory(const char *socket_path, int64_t deadline_ns, int stop_fd, char *err,
                                   size_t errlen);
void ovsdb_close(struct ovsdb *db);

/* Takes in the updates that have come; waits for the first until `wait_until_ns` (in the past: does not
 * wait). */
enum jsonrpc_status ovsdb_run(struct ovsdb *db, int64_t wait_until_ns, char *err, size_t errlen);

int ovsdb_fd(const struct ovsdb *db);

/* Valid until the next ovsdb_run or ovsdb_close. */
const struct ovsdb_mirror *ovsdb_mirror_of(const struct ovsdb *db);

#endif
