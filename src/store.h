/* SPDX-License-Identifier: MIT */
/*
 * The history: the samples of every feed, newest last, within a byte budget. Over the budget the older half
 * is thinned to every second sample: as rates are differences over measured time, thinned history keeps exact
 * means over longer intervals. Frames at any moment of it, and series for graphs, are made from it on demand.
 * Main thread only.
 */
#ifndef VNETTOP_STORE_H
#define VNETTOP_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "src/frame.h"

struct store;

/* budget in bytes for all samples together. start_ns: CLOCK_MONOTONIC where elapsed time starts. */
struct store *store_new(size_t budget, int64_t start_ns);
void store_free(struct store *store);

/* Adds a feed; returns its number. name is kept by reference. */
size_t store_add_feed(struct store *store, const char *name);

/* A feed's samples older than this are stale at a frame's time. */
void store_set_stale(struct store *store, size_t feed, int64_t stale_ns);

/* Tables, a bit each, where the feed only adds to rows that feeds before it made. */
void store_set_annotates(struct store *store, size_t feed, unsigned tables);

/* Takes over the reference of sample, which takes the place of one that came since the last tick. */
void store_put(struct store *store, size_t feed, struct sample *sample);

/* Ends a tick: remembers its moment, for stepping and graphs, and keeps the budget. */
void store_tick(struct store *store, int64_t now_ns, int64_t wall_ns);

/* Moments kept, oldest first; their CLOCK_MONOTONIC times. */
size_t store_moments(const struct store *store);
int64_t store_moment_ns(const struct store *store, size_t moment);

/* The frame as it was at a moment (NULL when there are none); the caller frees it. Live: the last moment. */
struct frame *store_frame(const struct store *store, size_t moment);

/* One point of a series: time and cell kind, value when cell_is_number. */
struct point {
    int64_t t_ns;
    struct cell cell; /* texts are not kept: number or reason only */
};

/*
 * The column's cell of the row with that key at each of the last moments, at most max, oldest first. Returns
 * how many points were written. Moments where the row did not exist give CELL_NONE.
 */
size_t store_series(const struct store *store, enum table_id table, const char *key,
                    const struct column *column, size_t last_moment, size_t max, struct point *points);

/* Adds what was concluded from the newest moment itself (findings): shown from that moment on. Takes over the
 * reference. */
void store_conclude(struct store *store, size_t feed, struct sample *sample);

size_t store_bytes(const struct store *store);

#endif
