/* SPDX-License-Identifier: MIT */
/*
 * The database copy declared in ovsdb_mirror.h: which columns, rows by UUID, who belongs to whom, and the two
 * ways a server tells a change: whole rows (update), or differences (update2, update3). Fed by ovsdb.c and
 * the tests; it must not know sockets or the clock.
 */
#include "collectors/ovsdb_mirror.h"

#include <stdlib.h>
#include <string.h>

const char *const ovsdb_table_names[OVSDB_N_TABLES] = {"Open_vSwitch", "Bridge", "Port", "Interface"};

const struct ovsdb_column_info ovsdb_columns[OVSDB_N_COLUMNS] = {
    [OVSDB_VSWITCH_OVS_VERSION] = {OVSDB_OPEN_VSWITCH, OVSDB_OPTIONAL, "ovs_version"},
    [OVSDB_VSWITCH_DPDK_VERSION] = {OVSDB_OPEN_VSWITCH, OVSDB_OPTIONAL, "dpdk_version"},
    [OVSDB_VSWITCH_DPDK_INITIALIZED] = {OVSDB_OPEN_VSWITCH, OVSDB_SCALAR_BOOL, "dpdk_initialized"},
    [OVSDB_VSWITCH_OTHER_CONFIG] = {OVSDB_OPEN_VSWITCH, OVSDB_MAP, "other_config"},
    [OVSDB_VSWITCH_EXTERNAL_IDS] = {OVSDB_OPEN_VSWITCH, OVSDB_MAP, "external_ids"},
    [OVSDB_BRIDGE_NAME] = {OVSDB_BRIDGE, OVSDB_SCALAR_STR, "name"},
    [OVSDB_BRIDGE_DATAPATH_TYPE] = {OVSDB_BRIDGE, OVSDB_SCALAR_STR, "datapath_type"},
    [OVSDB_BRIDGE_PORTS] = {OVSDB_BRIDGE, OVSDB_SET, "ports"},
    [OVSDB_BRIDGE_FAIL_MODE] = {OVSDB_BRIDGE, OVSDB_OPTIONAL, "fail_mode"},
    [OVSDB_BRIDGE_PROTOCOLS] = {OVSDB_BRIDGE, OVSDB_SET, "protocols"},
    [OVSDB_PORT_NAME] = {OVSDB_PORT, OVSDB_SCALAR_STR, "name"},
    [OVSDB_PORT_INTERFACES] = {OVSDB_PORT, OVSDB_SET, "interfaces"},
    [OVSDB_PORT_BOND_MODE] = {OVSDB_PORT, OVSDB_OPTIONAL, "bond_mode"},
    [OVSDB_PORT_TAG] = {OVSDB_PORT, OVSDB_OPTIONAL, "tag"},
    [OVSDB_PORT_QOS] = {OVSDB_PORT, OVSDB_OPTIONAL, "qos"},
    [OVSDB_IF_NAME] = {OVSDB_INTERFACE, OVSDB_SCALAR_STR, "name"},
    [OVSDB_IF_TYPE] = {OVSDB_INTERFACE, OVSDB_SCALAR_STR, "type"},
    [OVSDB_IF_OFPORT] = {OVSDB_INTERFACE, OVSDB_OPTIONAL, "ofport"},
    [OVSDB_IF_IFINDEX] = {OVSDB_INTERFACE, OVSDB_OPTIONAL, "ifindex"},
    [OVSDB_IF_OPTIONS] = {OVSDB_INTERFACE, OVSDB_MAP, "options"},
    [OVSDB_IF_STATUS] = {OVSDB_INTERFACE, OVSDB_MAP, "status"},
    [OVSDB_IF_STATISTICS] = {OVSDB_INTERFACE, OVSDB_MAP, "statistics"},
    [OVSDB_IF_MTU] = {OVSDB_INTERFACE, OVSDB_OPTIONAL, "mtu"},
    [OVSDB_IF_ADMIN_STATE] = {OVSDB_INTERFACE, OVSDB_OPTIONAL, "admin_state"},
    [OVSDB_IF_LINK_STATE] = {OVSDB_INTERFACE, OVSDB_OPTIONAL, "link_state"},
    [OVSDB_IF_LINK_SPEED] = {OVSDB_INTERFACE, OVSDB_OPTIONAL, "link_speed"},
    [OVSDB_IF_MAC_IN_USE] = {OVSDB_INTERFACE, OVSDB_OPTIONAL, "mac_in_use"},
    [OVSDB_IF_EXTERNAL_IDS] = {OVSDB_INTERFACE, OVSDB_MAP, "external_ids"},
    [OVSDB_IF_ERROR] = {OVSDB_INTERFACE, OVSDB_OPTIONAL, "error"},
    [OVSDB_IF_OTHER_CONFIG] = {OVSDB_INTERFACE, OVSDB_MAP, "other_config"},
    [OVSDB_IF_POLICING_RATE] = {OVSDB_INTERFACE, OVSDB_SCALAR_INT, "ingress_policing_rate"},
    [OVSDB_IF_POLICING_BURST] = {OVSDB_INTERFACE, OVSDB_SCALAR_INT, "ingress_policing_burst"},
    [OVSDB_IF_POLICING_KPKTS_RATE] = {OVSDB_INTERFACE, OVSDB_SCALAR_INT, "ingress_policing_kpkts_rate"},
    [OVSDB_IF_POLICING_KPKTS_BURST] = {OVSDB_INTERFACE, OVSDB_SCALAR_INT, "ingress_policing_kpkts_burst"},
};

/* The first column of each table, and the end. */
static const enum ovsdb_column first_column[OVSDB_N_TABLES + 1] = {
    OVSDB_VSWITCH_OVS_VERSION, OVSDB_BRIDGE_NAME, OVSDB_PORT_NAME, OVSDB_IF_NAME, OVSDB_N_COLUMNS,
};

static size_t count_columns(enum ovsdb_table table)
{
    return (size_t)(first_column[table + 1] - first_column[table]);
}

static struct ovsdb_value *value_at(struct ovsdb_row *row, enum ovsdb_column column)
{
    return &row->values[column - first_column[row->table]];
}

/* ---- rows ---- */

/* Where the row of `uuid` is or would stand. */
static size_t row_position(const struct ovsdb_mirror *mirror, enum ovsdb_table table, const char *uuid,
                           bool *found)
{
    size_t low = 0, high = mirror->n_rows[table];

    *found = false;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(mirror->rows[table][mid]->uuid, uuid);
        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void free_row(struct ovsdb_row *row)
{
    for (size_t i = 0; i < count_columns(row->table); i++)
        ovsdb_value_free(&row->values[i]);
    free(row);
}

static bool grow_rows(struct ovsdb_mirror *mirror, enum ovsdb_table table)
{
    size_t cap = mirror->cap_rows[table];

    if (mirror->n_rows[table] < cap)
        return true;
    if (cap >= OVSDB_MAX_ROWS)
        return false;
    cap = cap ? cap * 2 : 16;
    struct ovsdb_row **rows = realloc(mirror->rows[table], cap * sizeof(struct ovsdb_row *));
    if (!rows)
        return false;
    mirror->rows[table] = rows;
    mirror->cap_rows[table] = cap;
    return true;
}

static struct ovsdb_row *insert_row(struct ovsdb_mirror *mirror, enum ovsdb_table table, const char *uuid,
                                    size_t at)
{
    size_t n = mirror->n_rows[table];
    struct ovsdb_row *row = NULL;

    if (grow_rows(mirror, table))
        row = calloc(1, sizeof(*row) + count_columns(table) * sizeof(struct ovsdb_value));
    if (!row) {
        mirror->truncated = true;
        return NULL;
    }
    memcpy(row->uuid, uuid, OVSDB_UUID_LEN + 1);
    row->table = table;
    memmove(&mirror->rows[table][at + 1], &mirror->rows[table][at], (n - at) * sizeof(struct ovsdb_row *));
    mirror->rows[table][at] = row;
    mirror->n_rows[table]++;
    mirror->links_changed = true;
    return row;
}

static void delete_row(struct ovsdb_mirror *mirror, enum ovsdb_table table, size_t at)
{
    struct ovsdb_row **rows = mirror->rows[table];

    free_row(rows[at]);
    mirror->n_rows[table]--;
    memmove(&rows[at], &rows[at + 1], (mirror->n_rows[table] - at) * sizeof(struct ovsdb_row *));
    mirror->links_changed = true;
}

/* Puts `value` (consumed) into a column and notes what that changes. An equal one is dropped, so that texts
 * stay where they are until the generation grows. */
static void replace_value(struct ovsdb_mirror *mirror, struct ovsdb_row *row, enum ovsdb_column column,
                          struct ovsdb_value *value, int64_t now_ns)
{
    struct ovsdb_value *old = value_at(row, column);

    if (ovsdb_values_equal(old, value)) {
        ovsdb_value_free(value);
        return;
    }
    ovsdb_value_free(old);
    *old = *value;
    mirror->generation++;
    if (column == OVSDB_BRIDGE_PORTS || column == OVSDB_PORT_INTERFACES)
        mirror->links_changed = true;
    if (column == OVSDB_IF_STATISTICS)
        row->stats_changed_ns = mirror->stats_written_ns = now_ns;
}

/* How the columns of an update are to be taken. */
enum change {
    CHANGE_WHOLE,  /* update: the columns given are the new values */
    CHANGE_INSERT, /* update2: a new row, defaults are left out */
    CHANGE_MODIFY, /* update2: differences */
};

static void apply_column(struct ovsdb_mirror *mirror, struct ovsdb_row *row, enum ovsdb_column column,
                         const json_t *json, enum change change, int64_t now_ns)
{
    enum ovsdb_kind kind = ovsdb_columns[column].kind;
    struct ovsdb_value value = {0};

    if (!json && change == CHANGE_INSERT)
        ovsdb_value_default(&value, kind);
    else if (!json || !ovsdb_value_decode(json, kind, &value))
        return;
    else if (change == CHANGE_MODIFY && !ovsdb_value_resolve(value_at(row, column), &value, kind))
        return;
    replace_value(mirror, row, column, &value, now_ns);
}

static void apply_columns(struct ovsdb_mirror *mirror, enum ovsdb_table table, const char *uuid,
                          const json_t *columns, enum change change, int64_t now_ns)
{
    bool found;
    size_t at = row_position(mirror, table, uuid, &found);
    struct ovsdb_row *row = found ? mirror->rows[table][at] : NULL;

    if (!row && change != CHANGE_MODIFY)
        row = insert_row(mirror, table, uuid, at);
    if (!row)
        return;
    for (unsigned c = first_column[table]; c < (unsigned)first_column[table + 1]; c++)
        if (mirror->monitored[c])
            apply_column(mirror, row, (enum ovsdb_column)c, json_object_get(columns, ovsdb_columns[c].name),
                         change, now_ns);
}

/* {"old":..., "new":...} of update, or {"initial"|"insert"|"modify"|"delete":...} of update2. */
static void apply_row(struct ovsdb_mirror *mirror, enum ovsdb_table table, const char *uuid,
                      const json_t *update, int64_t now_ns)
{
    static const struct {
        const char *member;
        enum change change;
    } forms[] = {
        {"new", CHANGE_WHOLE},
        {"initial", CHANGE_INSERT},
        {"insert", CHANGE_INSERT},
        {"modify", CHANGE_MODIFY},
    };
    bool found;

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const json_t *columns = json_object_get(update, forms[i].member);
        if (json_is_object(columns)) {
            apply_columns(mirror, table, uuid, columns, forms[i].change, now_ns);
            return;
        }
    }
    if (!json_object_get(update, "old") && !json_object_get(update, "delete"))
        return;
    size_t at = row_position(mirror, table, uuid, &found);
    if (found) {
        delete_row(mirror, table, at);
        mirror->generation++;
    }
}

/* ---- who belongs to whom ---- */

static struct ovsdb_row *find_row(const struct ovsdb_mirror *mirror, enum ovsdb_table table, const char *uuid)
{
    bool found;
    size_t at = row_position(mirror, table, uuid, &found);
    return found ? mirror->rows[table][at] : NULL;
}

/* Makes each row of `table` the parent of the rows that its column lists. */
static void link_children(struct ovsdb_mirror *mirror, enum ovsdb_table table, enum ovsdb_column column,
                          enum ovsdb_table children)
{
    for (size_t i = 0; i < mirror->n_rows[children]; i++)
        mirror->rows[children][i]->parent = NULL;
    for (size_t i = 0; i < mirror->n_rows[table]; i++) {
        const struct ovsdb_row *parent = mirror->rows[table][i];
        const struct ovsdb_value *list = ovsdb_value(parent, column);
        for (size_t j = 0; j < list->n; j++) {
            bool is_uuid = list->keys[j].type == OVSDB_ATOM_UUID;
            struct ovsdb_row *child = is_uuid ? find_row(mirror, children, list->keys[j].s) : NULL;
            if (child)
                child->parent = parent;
        }
    }
}

void ovsdb_mirror_apply(struct ovsdb_mirror *mirror, const json_t *updates, int64_t now_ns)
{
    for (unsigned t = 0; t < OVSDB_N_TABLES; t++) {
        json_t *rows = json_object_get(updates, ovsdb_table_names[t]);
        const char *uuid;
        json_t *update;
        json_object_foreach(rows, uuid, update)
        {
            if (strlen(uuid) == OVSDB_UUID_LEN)
                apply_row(mirror, (enum ovsdb_table)t, uuid, update, now_ns);
        }
    }
    if (!mirror->links_changed)
        return;
    link_children(mirror, OVSDB_BRIDGE, OVSDB_BRIDGE_PORTS, OVSDB_PORT);
    link_children(mirror, OVSDB_PORT, OVSDB_PORT_INTERFACES, OVSDB_INTERFACE);
    mirror->links_changed = false;
}

void ovsdb_mirror_clear(struct ovsdb_mirror *mirror)
{
    for (unsigned t = 0; t < OVSDB_N_TABLES; t++) {
        for (size_t i = 0; i < mirror->n_rows[t]; i++)
            free_row(mirror->rows[t][i]);
        free(mirror->rows[t]);
    }
    *mirror = (struct ovsdb_mirror){0};
}

/* ---- schema ---- */

bool ovsdb_mirror_use_schema(struct ovsdb_mirror *mirror, const json_t *schema)
{
    const json_t *tables = json_object_get(schema, "tables");
    bool any = false;

    for (size_t c = 0; c < OVSDB_N_COLUMNS; c++) {
        const json_t *table = json_object_get(tables, ovsdb_table_names[ovsdb_columns[c].table]);
        const json_t *columns = json_object_get(table, "columns");
        mirror->monitored[c] = json_object_get(columns, ovsdb_columns[c].name) != NULL;
        any |= mirror->monitored[c];
    }
    return any;
}

json_t *ovsdb_mirror_requests(const struct ovsdb_mirror *mirror)
{
    json_t *requests = json_object();

    for (unsigned t = 0; t < OVSDB_N_TABLES; t++) {
        json_t *names = json_array();
        for (unsigned c = first_column[t]; c < (unsigned)first_column[t + 1]; c++)
            if (mirror->monitored[c])
                json_array_append_new(names, json_string(ovsdb_columns[c].name));
        if (json_array_size(names) > 0)
            json_object_set_new(requests, ovsdb_table_names[t], json_pack("[{sO}]", "columns", names));
        json_decref(names);
    }
    return requests;
}

/* ---- look-ups ---- */

const struct ovsdb_value *ovsdb_value(const struct ovsdb_row *row, enum ovsdb_column column)
{
    return &row->values[column - first_column[row->table]];
}

/* The only element of a column, if it is of that type. */
static const struct ovsdb_atom *single(const struct ovsdb_row *row, enum ovsdb_column column, int type)
{
    const struct ovsdb_value *value = ovsdb_value(row, column);
    return value->n == 1 && (int)value->keys[0].type == type ? &value->keys[0] : NULL;
}

const char *ovsdb_str(const struct ovsdb_row *row, enum ovsdb_column column)
{
    const struct ovsdb_atom *atom = single(row, column, OVSDB_ATOM_STR);
    return atom ? atom->s : "";
}

bool ovsdb_int(const struct ovsdb_row *row, enum ovsdb_column column, int64_t *value)
{
    const struct ovsdb_atom *atom = single(row, column, OVSDB_ATOM_INT);
    if (atom)
        *value = atom->i;
    return atom != NULL;
}

bool ovsdb_bool(const struct ovsdb_row *row, enum ovsdb_column column, bool *value)
{
    const struct ovsdb_atom *atom = single(row, column, OVSDB_ATOM_BOOL);
    if (atom)
        *value = atom->i != 0;
    return atom != NULL;
}

static const struct ovsdb_atom *map_value(const struct ovsdb_row *row, enum ovsdb_column column,
                                          const char *key)
{
    const struct ovsdb_value *map = ovsdb_value(row, column);
    size_t at = ovsdb_map_find(map, key);
    return at < map->n ? &map->values[at] : NULL;
}

const char *ovsdb_map_str(const struct ovsdb_row *row, enum ovsdb_column column, const char *key)
{
    const struct ovsdb_atom *atom = map_value(row, column, key);
    return atom && atom->type == OVSDB_ATOM_STR ? atom->s : NULL;
}

bool ovsdb_stat(const struct ovsdb_row *iface, const char *key, uint64_t *value)
{
    const struct ovsdb_atom *atom = map_value(iface, OVSDB_IF_STATISTICS, key);
    if (!atom || atom->type != OVSDB_ATOM_INT || atom->i < 0)
        return false;
    *value = (uint64_t)atom->i;
    return true;
}

const struct ovsdb_row *ovsdb_bridge_of(const struct ovsdb_row *row)
{
    while (row && row->table != OVSDB_BRIDGE)
        row = row->parent;
    return row;
}

const struct ovsdb_row *ovsdb_find_uuid(const struct ovsdb_mirror *mirror, enum ovsdb_table table,
                                        const char *uuid)
{
    return find_row(mirror, table, uuid);
}

const struct ovsdb_row *ovsdb_find_name(const struct ovsdb_mirror *mirror, enum ovsdb_table table,
                                        const char *name)
{
    static const enum ovsdb_column names[OVSDB_N_TABLES] = {[OVSDB_BRIDGE] = OVSDB_BRIDGE_NAME,
                                                            [OVSDB_PORT] = OVSDB_PORT_NAME,
                                                            [OVSDB_INTERFACE] = OVSDB_IF_NAME};

    for (size_t i = 0; table != OVSDB_OPEN_VSWITCH && i < mirror->n_rows[table]; i++)
        if (strcmp(ovsdb_str(mirror->rows[table][i], names[table]), name) == 0)
            return mirror->rows[table][i];
    return NULL;
}
