/* SPDX-License-Identifier: MIT */
/*
 * Short hands of the unit tests for samples and cells: a sample at a moment, a port, the cell of a column by
 * its key. Included by tests alone.
 */
#ifndef VNETTOP_TESTS_MAKE_SAMPLE_H
#define VNETTOP_TESTS_MAKE_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/columns.h"
#include "src/frame.h"
#include "src/sample.h"

#define SECOND INT64_C(1000000000)

static inline struct sample *sample_at(struct inventory *inventory, int64_t t_ns)
{
    struct sample *sample = sample_new(inventory);
    sample->t0_ns = sample->t1_ns = sample->wall_ns = t_ns;
    return sample;
}

static inline struct ports_info *make_port(struct inventory *inventory, const char *key)
{
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, "%s", key);
    info_set(info, name, inventory_text(inventory, key));
    return info;
}

/* A row with its received packets; the rest is for the caller to fill. */
static inline struct ports_row *add_port(struct sample *sample, const struct ports_info *info,
                                         uint64_t rx_packets)
{
    struct ports_row *row = sample_row(sample, TABLE_PORTS, info);
    row_set(row, rx_packets, rx_packets);
    return row;
}

static inline const struct column *column_of(enum table_id table, const char *key)
{
    const struct column *column = column_find(table_get(table), key);
    assert_non_null(column);
    return column;
}

static inline struct cell cell_of(const struct frame *frame, enum table_id table, const char *key,
                                  const char *column)
{
    const struct frame_row *row = frame_find(frame, table, key);
    assert_non_null(row);
    return frame_cell(frame, row, column_of(table, column));
}

static inline struct cell port_cell(const struct frame *frame, const char *key, const char *column)
{
    return cell_of(frame, TABLE_PORTS, key, column);
}

static inline void expect_number(struct cell cell, double value)
{
    assert_true(cell_is_number(&cell));
    double got = cell_number(&cell), allowed = value * 1e-12;
    if (!(got >= value - allowed && got <= value + allowed))
        fail_msg("expected %.17g, got %.17g", value, got);
}

static inline void expect_kind(struct cell cell, enum cell_kind kind)
{
    assert_int_equal(cell.kind, kind);
}

#endif
