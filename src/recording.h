/* SPDX-License-Identifier: MIT */
/*
 * Recordings: a folder of CSV files, one a table, and meta.json; a snapshot is one of a single frame. Used by
 * record, run, snapshot and the console's keys. Knows files; what stands in them is csv.c's and meta.c's.
 *
 * Guarantees. Files and headers are there from the start, meta.json too, completed at the end; it is replaced
 * as a whole, never half written. Every frame is written at once, one write a table, `sources` last: rows of
 * a time that sources.csv lacks are of a frame that was cut short. When a write fails (disk full), every
 * table is cut back to the end of the last whole frame, and the next frame may be tried. An end without
 * warning can tear the last line only.
 */
#ifndef VNETTOP_RECORDING_H
#define VNETTOP_RECORDING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/csv.h"
#include "src/meta.h"

struct recording;

/* Which tables, one bit a table_id, and what of each. */
struct recording_plan {
    uint64_t tables;
    const struct csv_selection *const
        *selection; /* TABLES_N of them, NULL = all; an entry NULL = all of it */
};

#define RECORDING_TABLE(id) (UINT64_C(1) << (id))

/* Every table but the long form, which must be asked for. */
#define RECORDING_TABLES (RECORDING_TABLE(TABLES_N) - 1 - RECORDING_TABLE(TABLE_COUNTERS))

/*
 * Starts a recording in a folder that is new or empty. meta is the caller's, who may go on filling it, and
 * lives until recording_close. NULL with thing, cause and mend in error; nothing is left behind then. The
 * caller ignores SIGXFSZ, or a file size limit ends the program instead of failing a write.
 */
struct recording *recording_open(const char *dir, struct meta *meta, const struct recording_plan *plan,
                                 char *error, size_t error_size);

/* Appends the frame's rows to every table; -1 with error, see above, and nothing of the frame is kept. */
int recording_write(struct recording *recording, const struct frame *frame, char *error, size_t error_size);

/* Completes meta.json and frees the recording, in any case. exit_status -1 = none to tell. NULL is legal. */
int recording_close(struct recording *recording, int exit_status, char *error, size_t error_size);

/* One frame as a recording. */
int recording_snapshot(const char *dir, struct meta *meta, const struct recording_plan *plan,
                       const struct frame *frame, char *error, size_t error_size);

/* One table of a frame to a stream, header first, and flushes it. */
int recording_print(FILE *stream, enum table_id table, const struct csv_selection *selection,
                    const struct frame *frame, char *error, size_t error_size);

#endif
