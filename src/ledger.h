/* SPDX-License-Identifier: MIT */
/*
 * The ledger of a port, of a guest's NIC first of all: hop by hop what came in, went out and was dropped,
 * under which cause, and what no counter owns. Its numbers are means over some seconds, so that hops that are
 * read at different moments add up: a frame whose two samples lie that far apart. Also whether loss and a
 * cause move together. Pure functions of history and frame.
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
    bool unaccounted; /* the last row: dropped = what no counter owns, negative when more
                         went out, 0 when the moments of the reads explain it; in = what entered the switch */
};

/*
 * The frame at a moment whose rates are means over the window before it, as far as the history reaches. NULL
 * when there is none. The caller frees it.
 */
struct frame *ledger_frame(const struct store *store, size_t moment);

/* Returns the number of hops, at most LEDGER_HOPS; port is a row of the frame. To the guest is what the port
 * sends, from it what it receives, but for ports that count as the guest does. */
size_t ledger_make(const struct frame *frame, const struct frame_row *port, bool to_guest,
                   struct hop hops[LEDGER_HOPS]);

/* Packets a second that a Linux bridge loses by no counter: 0 when it is no more than what the moments of the
 * reads explain, NAN when it is not known. in: what enters it. */
double ledger_bridge_loss(const struct frame *frame, const struct frame_row *bridge, double *in);

/*
 * Pearson's r of two series of n points a fixed time apart, at the lag (b behind a by lag points,
 * -max_lag..max_lag) where it is greatest; NAN points are left out. False when there are fewer than 20 points
 * or either stands still. r is 0 where both drift and do not rise and fall together.
 */
bool correlate(const double *a, const double *b, size_t n, int max_lag, double *r, int *lag);

#endif
