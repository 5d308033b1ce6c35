/* SPDX-License-Identifier: MIT */
/*
 * Feeds: one worker thread for each collector instance. A tick kicks the workers; each delivers a whole
 * sample into its one-slot mailbox and signals the eventfd. A collector that hangs ages on the screen;
 * nothing here waits for it. Back-off and reopening are a pure function of the number of failures. The main
 * thread owns everything but the collector's own state.
 */
#ifndef VNETTOP_FEED_H
#define VNETTOP_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "src/collector.h"

struct feed;

enum feed_state { FEED_STARTING, FEED_OK, FEED_NONE, FEED_DENIED, FEED_NO_ANSWER, FEED_FAILED };

/* What is known of a feed at one moment. */
struct feed_status {
    enum feed_state state;
    bool busy;         /* a read is under way */
    int64_t since_ns;  /* CLOCK_MONOTONIC: start of that read, or of the last one */
    int64_t retry_ns;  /* when it is tried again after a failure, 0 = at the next tick */
    uint64_t samples;  /* read so far */
    uint64_t failures; /* reads and opens that failed */
    uint64_t cpu_ns;   /* CPU time of its thread */
    char version[96];  /* of what answers, "" = not known */
    char detail[256];  /* what is seen, or why not */
};

/* Starts the worker. name is the feed's name on the screen, copied (the collector's feed, and its namespace
 * where there are several). config and its texts are kept by reference. NULL with a filled error when no
 * thread can be had. */
struct feed *feed_start(const struct collector *collector, const char *name,
                        const struct collect_config *config, char *error, size_t error_size);

/* Asks for a sample, unless one is under way, the collector's tempo is not over or a failure's back-off
 * lasts. Returns true when a sample is to come. interval_ms is the console's. */
bool feed_kick(struct feed *feed, int64_t now_ns, int64_t interval_ms);

/* The newest sample, if one came since the last call; the reference is the caller's. */
struct sample *feed_take(struct feed *feed);

struct feed_status feed_status(struct feed *feed);
const char *feed_name(const struct feed *feed);
const struct collector *feed_collector(const struct feed *feed);

/* Readable when a sample or a change of state has come; the caller reads it empty. */
int feed_eventfd(const struct feed *feed);

/* A sample older than this is stale: its tempo or the interval, twice, and a bit. */
int64_t feed_stale_ns(const struct feed *feed, int64_t interval_ms);

/* Ends the workers: signals all, waits until deadline_ns at most, frees those that ended. One that hangs is
 * left behind, its memory with it, for the program is about to end. Returns the number left. */
size_t feeds_stop(struct feed **feeds, size_t n, int64_t deadline_ns);

/* Wait before attempt n+1 after n failures in a row: 0.5 s, doubling to 30 s; 5 s while the thing is absent.
 */
int64_t feed_backoff_ns(enum collect_result result, unsigned failures);

/* What a state is called, for the `sources` table. */
const char *feed_state_name(enum feed_state state);

#endif
