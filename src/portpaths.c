/* SPDX-License-Identifier: MIT */
/* Paths of ports that no guest is behind (see portpaths.h). */
#include "src/portpaths.h"

#include <stdlib.h>
#include <string.h>

#include "src/join.h"
#include "src/memory.h"

struct portpaths {
    struct sample *last; /* NULL before the first */
};

struct portpaths *portpaths_new(void)
{
    return xzalloc(sizeof(struct portpaths));
}

void portpaths_free(struct portpaths *paths)
{
    if (!paths)
        return;
    sample_unref(paths->last);
    free(paths);
}

static bool is_path(const struct frame *frame, const struct frame_row *port)
{
    static const char *const kinds[] = {"physical", "veth", "ethdev", "dpdk"};
    const char *kind = JOIN_TEXT(port, struct ports_info, kind);
    for (size_t i = 0; kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kind, kinds[i]) == 0)
            return !join_path_of_port(frame, port) && !join_is_told_by_ovs(frame, port);
    return false;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The same port as told of before, by the same name and address. */
static bool is_same(const struct paths_info *info, const struct frame_row *port)
{
    const char *before = info_has(info, port) ? info->port : NULL,
               *mac = info_has(info, mac) ? info->mac : NULL;
    return strcmp(info->head.key + strlen(JOIN_PORT_PATH), port->key) == 0 &&
           same_text(before, JOIN_TEXT(port, struct ports_info, name)) &&
           same_text(mac, JOIN_TEXT(port, struct ports_info, mac));
}

static const struct paths_info *info_of(struct inventory *inventory, const struct frame_row *port)
{
    const char *name = JOIN_TEXT(port, struct ports_info, name),
               *mac = JOIN_TEXT(port, struct ports_info, mac);
    struct paths_info *info = inventory_info(inventory, TABLE_PATHS, JOIN_PORT_PATH "%s", port->key);
    if (name)
        info_set(info, port, inventory_text(inventory, name));
    if (mac)
        info_set(info, mac, inventory_text(inventory, mac));
    info_set(info, backend, inventory_text(inventory, JOIN_TEXT(port, struct ports_info, kind)));
    return info;
}

static const struct paths_info *last_info(const struct portpaths *paths, size_t i)
{
    if (!paths->last || i >= paths->last->set[TABLE_PATHS].n)
        return NULL;
    return (const struct paths_info *)sample_row_at(paths->last, TABLE_PATHS, i)->info;
}

static bool all_same(const struct portpaths *paths, const struct frame_row *const *ports, size_t n)
{
    if (!paths->last || paths->last->set[TABLE_PATHS].n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_same(last_info(paths, i), ports[i]))
            return false;
    return true;
}

struct sample *portpaths_sample(struct portpaths *paths, const struct frame *frame, int64_t now_ns,
                                int64_t wall_ns)
{
    const struct frame_table *table = &frame->table[TABLE_PORTS];
    const struct frame_row **ports = xrealloc(NULL, table->n, sizeof(const struct frame_row *));
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++)
        if (is_path(frame, &table->rows[i]))
            ports[n++] = &table->rows[i];
    bool same = all_same(paths, ports, n);
    struct inventory *inventory = same ? inventory_ref(paths->last->inventory) : inventory_new();
    struct sample *sample = sample_new(inventory);
    sample->t0_ns = sample->t1_ns = now_ns;
    sample->wall_ns = wall_ns;
    for (size_t i = 0; i < n; i++) {
        struct paths_row *row =
            sample_row(sample, TABLE_PATHS, same ? last_info(paths, i) : info_of(inventory, ports[i]));
        row_set(row, state, "present");
    }
    free(ports);
    inventory_unref(inventory);
    sample_unref(paths->last);
    paths->last = sample_ref(sample);
    return sample;
}
