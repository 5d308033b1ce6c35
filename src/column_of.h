/* SPDX-License-Identifier: MIT */
/*
 * Columns by name at compile time: COLUMN_OF(ports, rx_pps) is the descriptor without a search, and a name
 * that is not in tables.h does not compile. For code that reads the same columns of many rows in each frame.
 */
#ifndef VNETTOP_COLUMN_OF_H
#define VNETTOP_COLUMN_OF_H

#include "src/columns.h"

/* A struct of one byte a column, in the order of the table: the offset is the column's number. */
#define AS_PLACE(type, key, ...)           char key;
#define AS_DERIVED_PLACE(fn, of, key, ...) char key;
#define AS_PLACES(NAME, name, help)                                                                          \
    struct name##_places {                                                                                   \
        NAME##_COLUMNS(AS_PLACE, AS_PLACE, AS_DERIVED_PLACE, AS_PLACE)                                       \
    };                                                                                                       \
    static inline const struct column *name##_column(size_t number)                                          \
    {                                                                                                        \
        return &table_get(TABLE_##NAME)->columns[number];                                                    \
    }

#define switch switch_ /* as in rows.h */
ALL_TABLES(AS_PLACES)
#undef switch

#define COLUMN_OF(name, key) name##_column(offsetof(struct name##_places, key))

#endif
