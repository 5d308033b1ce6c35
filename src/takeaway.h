/* SPDX-License-Identifier: MIT */
/*
 * Recordings and snapshots as the options ask for them: which tables, rows and columns, into which folder,
 * with which meta.json. Used by the commands and by the console's keys, so that both write the same.
 */
#ifndef VNETTOP_TAKEAWAY_H
#define VNETTOP_TAKEAWAY_H

#include <stddef.h>
#include <stdint.h>

#include "src/frame.h"
#include "src/options.h"
#include "src/recording.h"
#include "src/store.h"

struct takeaway;

/* What --table, --filter, --columns and --label say, checked. NULL with one clear line in error. */
struct takeaway *takeaway_new(const struct options *options, char *error, size_t error_size);
void takeaway_free(struct takeaway *takeaway);

/* The one table that was asked for, TABLES_N for all. */
enum table_id takeaway_table(const struct takeaway *takeaway);
const struct csv_selection *takeaway_selection(const struct takeaway *takeaway);

/* Starts a recording in dir; ended by takeaway_stop. */
int takeaway_start(struct takeaway *takeaway, const char *dir, int64_t start_mono_ns, int64_t start_wall_ns,
                   char *error, size_t error_size);
int takeaway_write(struct takeaway *takeaway, const struct frame *frame, char *error, size_t error_size);
int takeaway_stop(struct takeaway *takeaway, char *error, size_t error_size);
/* The folder being recorded into, NULL when none is. */
const char *takeaway_recording(const struct takeaway *takeaway);

/* One frame into a folder of its own. */
int takeaway_snapshot(struct takeaway *takeaway, const char *dir, const struct frame *frame, char *error,
                      size_t error_size);

/* A name for a new folder: vnettop-WHAT-20261130-140211, made unlike what exists. */
void takeaway_folder(char *path, size_t size, const char *what, int64_t wall_ns);

#endif
