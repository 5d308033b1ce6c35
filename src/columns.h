/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of the tables of tables.h: what the screen, the CSV writer, `--columns help`, the column
 * chooser and the manual loop over. Pure data; how a derived column is computed is in derive.c.
 */
#ifndef VNETTOP_COLUMNS_H
#define VNETTOP_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "src/rows.h"

enum column_type { TYPE_STR, TYPE_U64, TYPE_CNT, TYPE_F64 };

enum column_unit {
    UNIT_NONE,    /* identity, text: never scaled */
    UNIT_COUNT,   /* plain number */
    UNIT_PACKETS, /* packets */
    UNIT_BYTES,   /* bytes */
    UNIT_PPS,     /* packets per second */
    UNIT_BPS,     /* bits per second */
    UNIT_PER_S,   /* events per second */
    UNIT_PCT,     /* percent; CPU percent is of one CPU */
    UNIT_NS,
    UNIT_US,
    UNIT_S,
    UNIT_TICKS, /* USER_HZ ticks */
    UNIT_MHZ,
    UNIT_MBPS, /* Mbit/s */
};

enum column_where { IN_INFO, IN_ROW, DERIVED };

enum column_flags {
    COL_KEY = 1,    /* names the row: comes first in the CSV */
    COL_HOT = 2,    /* worth a graph and a place in the history */
    COL_LOSS = 4,   /* counts lost packets */
    COL_ALONE = 8,  /* a fall of this counter says nothing of the row's others */
    COL_STATE = 16, /* a text that says how the thing is: ok, or what is wrong */
    COL_ORDER = 32, /* made to sort a view by, no number to read: not in a detail */
};

struct frame;
struct frame_row;
struct column;
struct cell;

/* Computes a derived column's cell; pure. */
typedef struct cell derive_fn(const struct frame *frame, const struct frame_row *row,
                              const struct column *column);

struct column {
    const char *key;   /* CSV header, --columns, --sort: stable */
    const char *title; /* screen header */
    const char *help;
    enum column_type type;
    enum column_unit unit;
    enum column_where where;
    unsigned flags;
    unsigned width;    /* least screen width */
    unsigned prio;     /* 9 stays longest on a narrow screen, 0 only when chosen */
    uint16_t offset;   /* of the field in its struct; of a derived column: of the row field it is made of */
    uint16_t slot;     /* presence bit of that field */
    derive_fn *derive; /* DERIVED only */
    double scale;      /* factor of a derived rate, 0 = 1 */
    double watch, bad; /* thresholds of the value, 0 = none */
};

struct table {
    const char *name; /* --table, file name of a recording */
    const char *help;
    const struct column *columns;
    size_t n_columns;
    size_t info_size, row_size;
    uint16_t *index; /* of column_find */
};

/* The descriptor of a table. Never NULL for a valid id. */
const struct table *table_get(enum table_id id);

/* By name; returns TABLES_N when there is none. */
enum table_id table_find(const char *name);

/* By key; NULL when the table has no such column. */
const struct column *column_find(const struct table *table, const char *key);

/* CSV and manual name of a unit ("packets/s", "bits/s", "%"), "" for UNIT_NONE. */
const char *unit_name(enum column_unit unit);

#endif
