/* SPDX-License-Identifier: MIT */
/*
 * A session: the feeds that the options ask for, the history, the marks, and vnettop's own rows (sources,
 * marks). The console, batch mode, snapshot and record all run on one: tick, wait until the samples have come
 * or the patience ends, take the frame. Main thread only; knows no screen and no file.
 */
#ifndef VNETTOP_SESSION_H
#define VNETTOP_SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/collector.h"
#include "src/frame.h"
#include "src/options.h"
#include "src/store.h"

struct session;

/* A mark on the time axis. */
struct mark {
    int64_t t_ns, wall_ns;
    char *text;
};

/*
 * Starts the feeds of collectors (ends with NULL) that --only and --no leave. The options outlive the
 * session. NULL with a filled error when a source has no such name or nothing is left.
 */
struct session *session_open(const struct options *options, const struct collector *const *collectors,
                             char *error, size_t error_size);

/* Ends the feeds, waiting at most patience_ms for those that hang. Frames made before stay valid. */
void session_close(struct session *session, int64_t patience_ms);

/* CLOCK_MONOTONIC where elapsed time starts. */
int64_t session_start_ns(const struct session *session);
int64_t session_interval_ms(const struct session *session);
void session_set_interval(struct session *session, double interval_s);

/* Asks every feed that is due for a sample. */
void session_kick(struct session *session, int64_t now_ns);

/* The event descriptors of the feeds, for poll; at most max. Returns their number. */
size_t session_pollfds(const struct session *session, struct pollfd *fds, size_t max);

/* Takes what has come. True when no kicked feed is still to answer. */
bool session_drain(struct session *session);

/* When the frame of the last kick is made at the latest: late samples go into the next one. */
int64_t session_patience_ns(const struct session *session);

/* Ends the tick: adds vnettop's own rows, remembers the moment. */
void session_tick(struct session *session, int64_t now_ns, int64_t wall_ns);

/* The newest frame, findings included; the caller frees it. NULL before the first tick. */
struct frame *session_take_frame(struct session *session);

struct store *session_store(struct session *session);

void session_mark(struct session *session, const char *text, int64_t now_ns, int64_t wall_ns);
const struct mark *session_marks(const struct session *session, size_t *n);

/* One line for the header: CPU that vnettop used lately, percent of one CPU. */
double session_cost_pct(const struct session *session);

/* Ask, wait and end the tick in one call, for the commands without a screen. Returns false when wake_fd
 * became readable (a signal). wake_fd -1 = none. */
bool session_frame_now(struct session *session, int wake_fd);

/* Ticks at a fixed pace, for the commands without a screen: late ones do not shift those after them. */
struct pacer {
    int64_t interval_ms, next_ns;
};
void pacer_start(struct pacer *pacer, int64_t interval_ms);
/* Waits for the next tick; false when wake_fd became readable. */
bool pacer_wait(struct pacer *pacer, int wake_fd);

#endif
