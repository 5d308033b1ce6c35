/* SPDX-License-Identifier: MIT */
/*
 * A copy in memory of those columns of the Open_vSwitch database that are shown: filled by a monitor reply,
 * kept up to date by its updates (both forms: update, and update2/update3 with differences). Pure of sockets
 * and clocks: ovsdb.c feeds it, the OVS collector reads it. Values from outside are checked; what does not
 * fit is absent.
 */
#ifndef COLLECTORS_OVSDB_MIRROR_H
#define COLLECTORS_OVSDB_MIRROR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/ovsdb_value.h"

enum ovsdb_table { OVSDB_OPEN_VSWITCH, OVSDB_BRIDGE, OVSDB_PORT, OVSDB_INTERFACE, OVSDB_N_TABLES };

/* Columns, grouped by table in the order of the tables. */
enum ovsdb_column {
    OVSDB_VSWITCH_OVS_VERSION,
    OVSDB_VSWITCH_DPDK_VERSION,     /* 2.10 */
    OVSDB_VSWITCH_DPDK_INITIALIZED, /* 2.10 */
    OVSDB_VSWITCH_OTHER_CONFIG,
    OVSDB_VSWITCH_EXTERNAL_IDS,
    OVSDB_BRIDGE_NAME,
    OVSDB_BRIDGE_DATAPATH_TYPE,
    OVSDB_BRIDGE_PORTS,
    OVSDB_BRIDGE_FAIL_MODE,
    OVSDB_BRIDGE_PROTOCOLS,
    OVSDB_PORT_NAME,
    OVSDB_PORT_INTERFACES,
    OVSDB_PORT_BOND_MODE,
    OVSDB_PORT_TAG,
    OVSDB_PORT_QOS,
    OVSDB_IF_NAME,
    OVSDB_IF_TYPE,
    OVSDB_IF_OFPORT,
    OVSDB_IF_IFINDEX, /* in the daemon's network namespace; 0: no interface of the kernel's */
    OVSDB_IF_OPTIONS,
    OVSDB_IF_STATUS,
    OVSDB_IF_STATISTICS,
    OVSDB_IF_MTU,
    OVSDB_IF_ADMIN_STATE,
    OVSDB_IF_LINK_STATE,
    OVSDB_IF_LINK_SPEED, /* bit/s */
    OVSDB_IF_MAC_IN_USE,
    OVSDB_IF_EXTERNAL_IDS, /* iface-id, attached-mac, vm-id */
    OVSDB_IF_ERROR,
    OVSDB_IF_OTHER_CONFIG,  /* pmd-rxq-affinity */
    OVSDB_IF_POLICING_RATE, /* kbit/s; 0: none */
    OVSDB_IF_POLICING_BURST,
    OVSDB_IF_POLICING_KPKTS_RATE, /* 2.16 */
    OVSDB_IF_POLICING_KPKTS_BURST,
    OVSDB_N_COLUMNS
};

struct ovsdb_column_info {
    enum ovsdb_table table;
    enum ovsdb_kind kind;
    const char *name;
};

extern const struct ovsdb_column_info ovsdb_columns[OVSDB_N_COLUMNS];
extern const char *const ovsdb_table_names[OVSDB_N_TABLES];

enum { OVSDB_MAX_ROWS = 65536, OVSDB_UUID_LEN = 36 };

struct ovsdb_row {
    char uuid[OVSDB_UUID_LEN + 1];
    enum ovsdb_table table;
    const struct ovsdb_row *parent; /* of an interface its port, of a port its bridge; NULL: none */
    int64_t stats_changed_ns;    /* interface: when the statistics last changed; 0: not seen to change yet */
    struct ovsdb_value values[]; /* by column, from the first of the table on */
};

struct ovsdb_mirror {
    bool monitored[OVSDB_N_COLUMNS];         /* what this server has */
    struct ovsdb_row **rows[OVSDB_N_TABLES]; /* sorted by uuid */
    size_t n_rows[OVSDB_N_TABLES], cap_rows[OVSDB_N_TABLES];
    bool links_changed;
    bool truncated; /* more than OVSDB_MAX_ROWS rows of a table, or out of memory */
    int64_t
        stats_written_ns; /* when statistics of any interface last changed: the daemon writes all at once */
    uint64_t generation;  /* grows with every change */
};

void ovsdb_mirror_clear(struct ovsdb_mirror *mirror);

/* Takes from a get_schema reply which of our columns this server has. False when it is no such schema. */
bool ovsdb_mirror_use_schema(struct ovsdb_mirror *mirror, const json_t *schema);

/* The "monitor requests" object for the monitored columns; a new reference. */
json_t *ovsdb_mirror_requests(const struct ovsdb_mirror *mirror);

/*
 * Applies table updates: the result of monitor or monitor_cond, or the updates of a notification. `now_ns` is
 * 0 for the first reply: its statistics are up to 5 s old, and a rate from that moment on would be too high.
 * An interface without traffic is not told again; its counters are as of stats_written_ns.
 */
void ovsdb_mirror_apply(struct ovsdb_mirror *mirror, const json_t *updates, int64_t now_ns);

const struct ovsdb_value *ovsdb_value(const struct ovsdb_row *row, enum ovsdb_column column);

/* The string of a column, "" when empty or absent. */
const char *ovsdb_str(const struct ovsdb_row *row, enum ovsdb_column column);
bool ovsdb_int(const struct ovsdb_row *row, enum ovsdb_column column, int64_t *value);
bool ovsdb_bool(const struct ovsdb_row *row, enum ovsdb_column column, bool *value);

/* A map's string, NULL when there is no such key. */
const char *ovsdb_map_str(const struct ovsdb_row *row, enum ovsdb_column column, const char *key);

/* A counter of Interface.statistics; false when the port has none of that name (or a negative one). */
bool ovsdb_stat(const struct ovsdb_row *iface, const char *key, uint64_t *value);

/* The bridge of an interface or port; NULL: none (yet). */
const struct ovsdb_row *ovsdb_bridge_of(const struct ovsdb_row *row);

/* Linear searches. */
const struct ovsdb_row *ovsdb_find_uuid(const struct ovsdb_mirror *mirror, enum ovsdb_table table,
                                        const char *uuid);
const struct ovsdb_row *ovsdb_find_name(const struct ovsdb_mirror *mirror, enum ovsdb_table table,
                                        const char *name);

#endif
