/* SPDX-License-Identifier: MIT */
/*
 * Typed rows: for each table of tables.h an info struct (inventory: what a thing is) and a row struct (what
 * was read of it at one tick), both with presence bits, one bit a column. Collectors fill them; frames read
 * them through the column descriptors. Rows know nothing of rates, screens or sockets.
 *
 * Ownership: infos and every text live in an inventory (sample.h), immutable and shared by all samples until
 * the inventory changes; rows live in their sample.
 */
#ifndef VNETTOP_ROWS_H
#define VNETTOP_ROWS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/tables.h"

#define MAX_SLOTS 128

/* Presence bits, one for each 8-byte slot behind a struct's head. */
struct slot_bits {
    uint64_t word[MAX_SLOTS / 64];
};

static inline void slot_set(struct slot_bits *bits, unsigned slot)
{
    bits->word[slot / 64] |= UINT64_C(1) << (slot % 64);
}

static inline bool slot_test(const struct slot_bits *bits, unsigned slot)
{
    return bits->word[slot / 64] >> (slot % 64) & 1;
}

/* First member of every info struct. key is the stable identity of the thing (domain UUID, namespace +
 * ifindex,
 * ...), unique in its table on this host, never a display name; hash is hash_text(key). */
struct info_head {
    const char *key;
    uint64_t hash;
    struct slot_bits have;
    struct slot_bits denied; /* exists, but this user may not see it: `?` */
    struct slot_bits approx; /* partial or inferred: `~` */
};

/* First member of every row struct. t_ns is CLOCK_MONOTONIC of this row's own read, 0 = the sample's time. */
struct row_head {
    const struct info_head *info;
    int64_t t_ns;
    struct slot_bits have;
    struct slot_bits denied;
    struct slot_bits approx;
};

#define CTYPE_STR const char *
#define CTYPE_U64 uint64_t
#define CTYPE_CNT uint64_t
#define CTYPE_F64 double

#define AS_FIELD(type, key, ...) CTYPE_##type key;
#define AS_NOTHING(...)
#define AS_STRUCTS(NAME, name, help)                                                                         \
    struct name##_info {                                                                                     \
        struct info_head head;                                                                               \
        NAME##_COLUMNS(AS_FIELD, AS_NOTHING, AS_NOTHING, AS_NOTHING)                                         \
    };                                                                                                       \
    struct name##_row {                                                                                      \
        struct row_head head;                                                                                \
        NAME##_COLUMNS(AS_NOTHING, AS_FIELD, AS_NOTHING, AS_NOTHING)                                         \
    };                                                                                                       \
    static_assert(sizeof(struct name##_info) <= sizeof(struct info_head) + 8 * MAX_SLOTS &&                  \
                      sizeof(struct name##_row) <= sizeof(struct row_head) + 8 * MAX_SLOTS,                  \
                  "more columns in " #name " than presence bits");

/* `switch` is the field's word for a port's bridge and a keyword of C: the member is switch_. */
#define switch switch_
ALL_TABLES(AS_STRUCTS)
#undef switch

#define AS_TABLE_ID(NAME, name, help) TABLE_##NAME,
enum table_id { ALL_TABLES(AS_TABLE_ID) TABLES_N };

#define INFO_SLOT(type, field) ((offsetof(type, field) - sizeof(struct info_head)) / 8)
#define ROW_SLOT(type, field)  ((offsetof(type, field) - sizeof(struct row_head)) / 8)

/* Set a field and its presence bit; a field that is not set does not exist (`-`). The first argument is taken
 * once: it may make the row. */
#define info_set(info, field, value)                                                                         \
    do {                                                                                                     \
        typeof(info) info_of_set_ = (info);                                                                  \
        info_of_set_->field = (value);                                                                       \
        slot_set(&info_of_set_->head.have, INFO_SLOT(typeof(*info_of_set_), field));                         \
    } while (0)
#define row_set(row, field, value)                                                                           \
    do {                                                                                                     \
        typeof(row) row_of_set_ = (row);                                                                     \
        row_of_set_->field = (value);                                                                        \
        slot_set(&row_of_set_->head.have, ROW_SLOT(typeof(*row_of_set_), field));                            \
    } while (0)
/* The field exists but this user may not see it (`?`). */
#define row_deny(row, field)     slot_set(&(row)->head.denied, ROW_SLOT(typeof(*(row)), field))
#define info_deny(info, field)   slot_set(&(info)->head.denied, INFO_SLOT(typeof(*(info)), field))
/* The value is partial or inferred (`~`). */
#define row_approx(row, field)   slot_set(&(row)->head.approx, ROW_SLOT(typeof(*(row)), field))
#define info_approx(info, field) slot_set(&(info)->head.approx, INFO_SLOT(typeof(*(info)), field))
#define row_has(row, field)      slot_test(&(row)->head.have, ROW_SLOT(typeof(*(row)), field))
#define info_has(info, field)    slot_test(&(info)->head.have, INFO_SLOT(typeof(*(info)), field))

/* FNV-1a, 64 bit, of a NUL-terminated text. */
uint64_t hash_text(const char *text);

#endif
