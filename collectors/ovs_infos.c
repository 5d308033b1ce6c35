/* SPDX-License-Identifier: MIT */
/*
 * Inventories that are kept while they hold, declared in ovs_infos.h. Infos are compared column by column
 * through the tables' descriptors.
 */
#include "collectors/ovs_infos.h"

#include <stdlib.h>
#include <string.h>

#include "src/columns.h"
#include "src/memory.h"

void ovs_infos_start(struct ovs_infos *infos)
{
    inventory_unref(infos->fresh.inventory);
    infos->inventory = infos->fresh.inventory = inventory_new();
    infos->fresh.n = 0;
}

void *ovs_infos_row(struct ovs_infos *infos, struct sample *sample, enum table_id table, const void *info)
{
    struct ovs_infos_list *list = &infos->fresh;
    if (list->n == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 64;
        list->items = xrealloc(list->items, list->cap, sizeof(*list->items));
    }
    list->items[list->n].table = table;
    list->items[list->n++].info = info;
    return sample_row(sample, table, info);
}

static bool same_field(const struct column *column, const struct info_head *a, const struct info_head *b)
{
    const char *x = (const char *)a + column->offset, *y = (const char *)b + column->offset;
    if (column->where != IN_INFO || !slot_test(&a->have, column->slot))
        return true;
    if (column->type != TYPE_STR)
        return memcmp(x, y, sizeof(uint64_t)) == 0;
    const char *s, *t;
    memcpy(&s, x, sizeof(s));
    memcpy(&t, y, sizeof(t));
    return strcmp(s, t) == 0;
}

static bool same_info(enum table_id id, const struct info_head *a, const struct info_head *b)
{
    const struct table *table = table_get(id);
    if (a->hash != b->hash || strcmp(a->key, b->key) != 0 || memcmp(&a->have, &b->have, sizeof(a->have)) != 0)
        return false;
    for (size_t i = 0; i < table->n_columns; i++)
        if (!same_field(&table->columns[i], a, b))
            return false;
    return true;
}

static bool same_list(const struct ovs_infos_list *a, const struct ovs_infos_list *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].table != b->items[i].table ||
            !same_info(a->items[i].table, a->items[i].info, b->items[i].info))
            return false;
    return true;
}

/* Rows of a table stand in the order in which their infos were made. */
static void turn_rows(const struct ovs_infos_list *list, struct sample *sample)
{
    size_t at[TABLES_N] = {0};
    for (size_t i = 0; i < list->n; i++) {
        enum table_id table = list->items[i].table;
        size_t offset = at[table]++ * table_get(table)->row_size;
        struct row_head *row = (struct row_head *)(sample->set[table].rows + offset);
        row->info = list->items[i].info;
    }
}

void ovs_infos_settle(struct ovs_infos *infos, struct sample *sample)
{
    if (infos->kept.inventory && same_list(&infos->kept, &infos->fresh)) {
        turn_rows(&infos->kept, sample);
    } else {
        struct ovs_infos_list old = infos->kept;
        infos->kept = infos->fresh;
        infos->fresh = old;
    }
    inventory_unref(infos->fresh.inventory);
    infos->fresh.inventory = infos->inventory = NULL;
    inventory_unref(sample->inventory);
    sample->inventory = inventory_ref(infos->kept.inventory);
}

void ovs_infos_free(struct ovs_infos *infos)
{
    inventory_unref(infos->fresh.inventory);
    inventory_unref(infos->kept.inventory);
    free(infos->fresh.items);
    free(infos->kept.items);
    *infos = (struct ovs_infos){0};
}
