/* SPDX-License-Identifier: MIT */
/*
 * The OVSDB client declared in ovsdb.h, over jsonrpc.c and ovsdb_mirror.c. It asks for the schema first,
 * because a server refuses a whole monitor for one column that it does not have, and columns came with the
 * releases.
 */
#include "collectors/ovsdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char database[] = "Open_vSwitch";
static const char monitor_id[] = "vnettop";

struct ovsdb {
    struct jsonrpc *rpc;
    struct ovsdb_mirror mirror;
    bool cancelled; /* the server ended the monitor: the schema changed */
};

/* update and update2: [id, updates]; update3: [id, transaction, updates]. */
static void take_update(void *ctx, const char *method, json_t *params, int64_t arrived_ns)
{
    static const struct {
        const char *method;
        size_t at;
    } forms[] = {{"update", 1}, {"update2", 1}, {"update3", 2}};
    struct ovsdb *db = ctx;
    const char *id = json_string_value(json_array_get(params, 0));

    if (!id || strcmp(id, monitor_id) != 0)
        return;
    if (strcmp(method, "monitor_canceled") == 0)
        db->cancelled = true;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strcmp(method, forms[i].method) == 0)
            ovsdb_mirror_apply(&db->mirror, json_array_get(params, forms[i].at), arrived_ns);
}

static int read_schema(struct ovsdb *db, int64_t deadline_ns, char *err, size_t errlen)
{
    json_t *schema;

    if (jsonrpc_call(db->rpc, "get_schema", json_pack("[s]", database), deadline_ns, &schema, err, errlen) !=
        JSONRPC_OK)
        return -1;
    bool usable = ovsdb_mirror_use_schema(&db->mirror, schema);
    json_decref(schema);
    if (!usable)
        snprintf(err, errlen, "the schema has none of the columns that are shown");
    return usable ? 0 : -1;
}

/* monitor_cond tells differences, which spares both sides; a server that does not know it gets monitor. */
static int start_monitor(struct ovsdb *db, int64_t deadline_ns, char *err, size_t errlen)
{
    static const char *const methods[] = {"monitor_cond", "monitor"};
    enum jsonrpc_status st = JSONRPC_REFUSED;
    json_t *rows;

    for (size_t i = 0; i < 2 && st == JSONRPC_REFUSED; i++) {
        json_t *params = json_pack("[s,s,o]", database, monitor_id, ovsdb_mirror_requests(&db->mirror));
        st = jsonrpc_call(db->rpc, methods[i], params, deadline_ns, &rows, err, errlen);
    }
    if (st != JSONRPC_OK)
        return -1;
    ovsdb_mirror_apply(&db->mirror, rows, 0); /* nobody says when these statistics were written */
    json_decref(rows);
    return 0;
}

static struct ovsdb *open_monitor(const char *socket_path, bool statistics, int64_t deadline_ns, int stop_fd,
                                  char *err, size_t errlen)
{
    struct ovsdb *db = calloc(1, sizeof(*db));

    if (!db) {
        snprintf(err, errlen, "out of memory");
        return NULL;
    }
    db->rpc = jsonrpc_connect(socket_path, deadline_ns, stop_fd, err, errlen);
    if (!db->rpc) {
        ovsdb_close(db);
        return NULL;
    }
    jsonrpc_on_notify(db->rpc, take_update, db);
    bool ok = read_schema(db, deadline_ns, err, errlen) == 0;
    if (!statistics)
        db->mirror.monitored[OVSDB_IF_STATISTICS] = false;
    if (!ok || start_monitor(db, deadline_ns, err, errlen) < 0) {
        ovsdb_close(db);
        return NULL;
    }
    return db;
}

struct ovsdb *ovsdb_open(const char *socket_path, int64_t deadline_ns, int stop_fd, char *err, size_t errlen)
{
    return open_monitor(socket_path, true, deadline_ns, stop_fd, err, errlen);
}

struct ovsdb *ovsdb_open_inventory(const char *socket_path, int64_t deadline_ns, int stop_fd, char *err,
                                   size_t errlen)
{
    return open_monitor(socket_path, false, deadline_ns, stop_fd, err, errlen);
}

void ovsdb_close(struct ovsdb *db)
{
    if (!db)
        return;
    jsonrpc_close(db->rpc);
    ovsdb_mirror_clear(&db->mirror);
    free(db);
}

enum jsonrpc_status ovsdb_run(struct ovsdb *db, int64_t wait_until_ns, char *err, size_t errlen)
{
    enum jsonrpc_status st = jsonrpc_receive(db->rpc, wait_until_ns, err, errlen);

    if (st == JSONRPC_OK && db->cancelled) {
        snprintf(err, errlen, "the database ended the monitor (its schema changed): open it anew");
        return JSONRPC_BROKEN;
    }
    return st;
}

int ovsdb_fd(const struct ovsdb *db)
{
    return jsonrpc_fd(db->rpc);
}

const struct ovsdb_mirror *ovsdb_mirror_of(const struct ovsdb *db)
{
    return &db->mirror;
}
