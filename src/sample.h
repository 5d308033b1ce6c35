/* SPDX-License-Identifier: MIT */
/*
 * Samples and inventories: what a collector hands over. A sample is the raw counters of one feed (a source,
 * or the fast or slow part of one) at one moment; an inventory is what exists, with its texts. Both are
 * reference counted and immutable once published (sample_publish), so threads share them without a lock.
 */
#ifndef VNETTOP_SAMPLE_H
#define VNETTOP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "src/rows.h"

struct inventory;

/* A new, empty inventory with one reference. Memory is the only failure, and ends the program. */
struct inventory *inventory_new(void);
struct inventory *inventory_ref(struct inventory *inventory);
void inventory_unref(struct inventory *inventory);

/* Zeroed info struct of the table, its key formatted and hashed. Valid as long as the inventory. */
void *inventory_info(struct inventory *inventory, enum table_id table, const char *key_format, ...)
    __attribute__((format(printf, 3, 4)));

/* A copy of text that lives as long as the inventory. Hostile bytes are kept: whoever prints escapes. */
const char *inventory_text(struct inventory *inventory, const char *text);
const char *inventory_textf(struct inventory *inventory, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes held, for the history's budget. */
size_t inventory_bytes(const struct inventory *inventory);

struct row_set {
    size_t n;     /* rows in use */
    size_t alloc; /* rows allocated */
    char *rows;   /* n rows of table_get(id)->row_size bytes */
};

struct sample {
    uint64_t seq;    /* 1, 2, ... in its feed */
    int64_t t0_ns;   /* CLOCK_MONOTONIC before the read */
    int64_t t1_ns;   /* and after it */
    int64_t wall_ns; /* CLOCK_REALTIME at t0 */
    uint64_t cpu_ns; /* CPU time the feed's thread has used so far */
    struct inventory *inventory;
    struct row_set set[TABLES_N];
};

/* A new sample with one reference; takes its own reference of inventory. */
struct sample *sample_new(struct inventory *inventory);
struct sample *sample_ref(const struct sample *sample);
void sample_unref(const struct sample *sample);

/* Appends a row of the table for info, all fields absent. The pointer is valid until the next append to the
 * table. */
void *sample_row(struct sample *sample, enum table_id table, const void *info);

/* Makes room for n rows at once. */
void sample_reserve(struct sample *sample, enum table_id table, size_t n);

/* Gives back the room behind the rows, once all are in: a history keeps hundreds of samples. */
void sample_trim(struct sample *sample);

/* The i-th row's head. */
const struct row_head *sample_row_at(const struct sample *sample, enum table_id table, size_t i);

/* Total rows over all tables, and bytes held without the inventory. */
size_t sample_rows(const struct sample *sample);
size_t sample_bytes(const struct sample *sample);

/* The moment a sample stands for: the middle of its read, ns. */
int64_t sample_time(const struct sample *sample);

#endif
