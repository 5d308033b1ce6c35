/* SPDX-License-Identifier: MIT */
/*
 * The column descriptors, expanded from tables.h. A table added there needs nothing here.
 */
#include "src/columns.h"

#include <pthread.h>
#include <string.h>

#include "src/derive.h"
#include "src/derive_join.h"

#define INDEX_BUCKETS 512 /* more than twice the columns of any table */

#define COLUMN(field_struct, head_struct, key_, title_, unit_, width_, prio_, help_, ...)                    \
    .title = title_, .help = help_, .unit = UNIT_##unit_, .width = width_, .prio = prio_,                    \
    .offset = offsetof(field_struct, key_),                                                                  \
    .slot = (offsetof(field_struct, key_) - sizeof(head_struct)) / 8, ##__VA_ARGS__

#define AS_INFO_COLUMN(type_, key_, ...)                                                                     \
    {.key = #key_,                                                                                           \
     .type = TYPE_##type_,                                                                                   \
     .where = IN_INFO,                                                                                       \
     COLUMN(this_info, struct info_head, key_, __VA_ARGS__)},
#define AS_ROW_COLUMN(type_, key_, ...)                                                                      \
    {.key = #key_,                                                                                           \
     .type = TYPE_##type_,                                                                                   \
     .where = IN_ROW,                                                                                        \
     COLUMN(this_row, struct row_head, key_, __VA_ARGS__)},
#define AS_DERIVED_COLUMN(fn_, of_, key_, title_, unit_, width_, prio_, help_, ...)                          \
    {.type = TYPE_F64,                                                                                       \
     .where = DERIVED,                                                                                       \
     .derive = derive_##fn_,                                                                                 \
     .key = #key_,                                                                                           \
     .title = title_,                                                                                        \
     .help = help_,                                                                                          \
     .unit = UNIT_##unit_,                                                                                   \
     .width = width_,                                                                                        \
     .prio = prio_,                                                                                          \
     .offset = offsetof(this_row, of_),                                                                      \
     .slot = (offsetof(this_row, of_) - sizeof(struct row_head)) / 8,                                        \
     ##__VA_ARGS__},

#define AS_TEXT_COLUMN(fn_, key_, title_, width_, prio_, help_, ...)                                         \
    {.type = TYPE_STR,                                                                                       \
     .where = DERIVED,                                                                                       \
     .derive = derive_##fn_,                                                                                 \
     .key = #key_,                                                                                           \
     .title = title_,                                                                                        \
     .help = help_,                                                                                          \
     .width = width_,                                                                                        \
     .prio = prio_,                                                                                          \
     ##__VA_ARGS__},

#define AS_TABLE_GETTER(NAME, name_, help_)                                                                  \
    static const struct table *name_##_table(void)                                                           \
    {                                                                                                        \
        typedef struct name_##_info this_info;                                                               \
        typedef struct name_##_row this_row;                                                                 \
        static const struct column columns[] = {                                                             \
            NAME##_COLUMNS(AS_INFO_COLUMN, AS_ROW_COLUMN, AS_DERIVED_COLUMN, AS_TEXT_COLUMN)};               \
        static uint16_t index[INDEX_BUCKETS];                                                                \
        static const struct table table = {                                                                  \
            .name = #name_,                                                                                  \
            .help = help_,                                                                                   \
            .columns = columns,                                                                              \
            .n_columns = sizeof(columns) / sizeof(columns[0]),                                               \
            .info_size = sizeof(this_info),                                                                  \
            .row_size = sizeof(this_row),                                                                    \
            .index = index,                                                                                  \
        };                                                                                                   \
        return &table;                                                                                       \
    }

#define switch switch_ /* the struct member, see rows.h; the key stays "switch" */
ALL_TABLES(AS_TABLE_GETTER)
#undef switch

#define AS_GETTER(NAME, name_, help_) name_##_table,

const struct table *table_get(enum table_id id)
{
    static const struct table *(*const getters[TABLES_N])(void) = {ALL_TABLES(AS_GETTER)};
    return getters[id]();
}

enum table_id table_find(const char *name)
{
    enum table_id id = 0;
    while (id < TABLES_N && strcmp(table_get(id)->name, name) != 0)
        id++;
    return id;
}

/* Rules and joins ask for columns by key, row by row: an open hash of column numbers + 1, made once and only
 * read from then on. */
static void make_indexes(void)
{
    for (int id = 0; id < TABLES_N; id++) {
        const struct table *table = table_get((enum table_id)id);
        for (size_t i = 0; i < table->n_columns; i++) {
            size_t at = hash_text(table->columns[i].key) % INDEX_BUCKETS;
            while (table->index[at])
                at = (at + 1) % INDEX_BUCKETS;
            table->index[at] = (uint16_t)(i + 1);
        }
    }
}

const struct column *column_find(const struct table *table, const char *key)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_indexes);
    for (size_t at = hash_text(key) % INDEX_BUCKETS; table->index[at]; at = (at + 1) % INDEX_BUCKETS) {
        const struct column *column = &table->columns[table->index[at] - 1];
        if (strcmp(column->key, key) == 0)
            return column;
    }
    return NULL;
}

const char *unit_name(enum column_unit unit)
{
    static const char *const names[] = {
        [UNIT_NONE] = "",       [UNIT_COUNT] = "count",   [UNIT_PACKETS] = "packets",
        [UNIT_BYTES] = "bytes", [UNIT_PPS] = "packets/s", [UNIT_BPS] = "bits/s",
        [UNIT_PER_S] = "/s",    [UNIT_PCT] = "%",         [UNIT_NS] = "ns",
        [UNIT_US] = "us",       [UNIT_S] = "s",           [UNIT_TICKS] = "ticks",
        [UNIT_MHZ] = "MHz",     [UNIT_MBPS] = "Mbit/s",
    };
    return names[unit];
}

uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}
