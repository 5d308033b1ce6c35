/* SPDX-License-Identifier: MIT */
/*
 * The ledger of a path: hop by hop what came in, went out and was dropped, under which cause, and what no
 * counter owns. Numbers are means over the last seconds, from the history, so that hops that are read at
 * different moments add up. Also whether loss and a cause move together. Pure functions of history and frame.
 */
#ifndef VNETTOP_LEDGER_H
#define VNETTOP_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "src/store.h"

#define LEDGER_WINDOW_S 10
#define LEDGER_HOPS     8

/* Rates per second, NAN = no such number. */
struct hop {
    char name[96];
    double in, out, dropped;
    char cause[128];
    double age_s;
    bool loses_most;
    bool unaccounted; /* the last row: dropped = what no counter owns, may be negative; in = what entered the
                         switch */
};

/* Returns the number of hops, at most LEDGER_HOPS; 0 when the path's port is not known. */
size_t ledger_make(const struct store *store, size_t moment, const struct frame *frame,
                   const struct frame_row *path, bool to_guest, struct hop hops[LEDGER_HOPS]);

/* Mean of a column over the window before the moment, weighted by time; NAN when it has no value there. */
double ledger_mean(const struct store *store, size_t moment, enum table_id table, const char *key,
                   const char *column_key);

/*
 * Pearson's r of two series of n points a fixed time apart, at the lag (b behind a by lag points,
 * -max_lag..max_lag) where it is greatest; NAN points are left out. False when there are fewer than 20 points
 * or either stands still.
 */
bool correlate(const double *a, const double *b, size_t n, int max_lag, double *r, int *lag);

#endif
