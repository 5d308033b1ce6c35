/* SPDX-License-Identifier: MIT */
/*
 * Writes tables of a frame as CSV: the one format of recordings, snapshots and standard output. Called by
 * recording.c and the commands; knows frames and column tables, no file.
 *
 * Fields: time (RFC 3339, UTC, ms: the frame's), elapsed_s (monotonic, since the frame's start), the key
 * columns, all others in the table's order, interval_s (measured seconds between the two reads that the row's
 * rates are made of: those of its first part that has rates; a rate times it is the counters' difference
 * exactly), age_s (of that part's newest read at the frame's time: a slow source's row is written at every
 * frame and says how old it is) and quality. A table that has an age_s of its own keeps that one. Seconds
 * have 9 decimals, so no nanosecond is lost.
 *
 * quality is empty when all is well, else words with a space between them, about the columns of this file:
 *   new, rst          no rate yet; a counter went back. new=COL+COL where it is not all of the row's rates
 *   stale             older than it should be; stale=COL+COL where it is not all of the row's values
 *   denied=COL+COL    not permitted
 *   ~COL              partial or inferred
 * An empty field without a word has no such number at its source.
 *
 * Records end with LF and are one line each. Texts are quoted as in RFC 4180 where they must be. Invalid
 * UTF-8 becomes U+FFFD, a control character \xNN, and so does the backslash of a literal \x, so that no two
 * names are written alike. A text that begins with = + - or @ is left as it is: it is data, and a program
 * that reads it must not run it.
 */
#ifndef VNETTOP_CSV_H
#define VNETTOP_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "src/frame.h"

/* Text that grows; zeroed is empty. */
struct csv_out {
    char *data;
    size_t n, size;
};

void csv_out_free(struct csv_out *out);

/* May this row be written? */
typedef bool csv_keep_fn(const struct frame *frame, const struct frame_row *row, void *context);

/* What of a table is written. The columns are of the table, in the order wanted; the keys are written anyhow.
 */
struct csv_selection {
    const struct column *const *columns;
    size_t n_columns;  /* 0 = all */
    csv_keep_fn *keep; /* NULL = every row */
    void *context;
    const struct column *sort; /* of the table; NULL = as the frame has them */
    bool descending;
};

struct csv_table;

/* How a table is written; selection NULL = all of it. Its column list is copied. */
struct csv_table *csv_table_new(enum table_id id, const struct csv_selection *selection);
void csv_table_free(struct csv_table *table);

/* Appends the header, or the frame's rows; the header never depends on the data. */
void csv_put_header(const struct csv_table *table, struct csv_out *out);
void csv_put_rows(const struct csv_table *table, const struct frame *frame, struct csv_out *out);

/* Appends one field. */
void csv_put_text(struct csv_out *out, const char *text);
void csv_put_f64(struct csv_out *out, double value);

#endif
