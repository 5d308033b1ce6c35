/* SPDX-License-Identifier: MIT */
/*
 * Worker threads and their mailboxes (see feed.h). All that both sides touch is under one mutex, held for a
 * few instructions and never while the collector runs.
 */
#include "src/feed.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "src/memory.h"
#include "src/thread.h"

#define NS_PER_MS        INT64_C(1000000)
#define READ_DEADLINE_NS (2000 * NS_PER_MS)

struct feed {
    const struct collector *collector;
    const struct collect_config *config;
    char *name;
    pthread_t thread;
    int event_fd; /* worker to main: something came */
    int stop_fd;  /* main to worker: end */

    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool kicked, stopping, ended;
    int64_t last_kick_ns;
    struct sample *mailbox;
    struct feed_status status;
};

int64_t feed_backoff_ns(enum collect_result result, unsigned failures)
{
    if (failures == 0)
        return 0;
    if (result == COLLECT_NONE || result == COLLECT_DENIED)
        return 5000 * NS_PER_MS;
    int64_t wait_ms = 500;
    for (unsigned i = 1; i < failures && wait_ms < 30000; i++)
        wait_ms *= 2;
    return (wait_ms < 30000 ? wait_ms : 30000) * NS_PER_MS;
}

const char *feed_state_name(enum feed_state state)
{
    static const char *const names[] = {
        [FEED_STARTING] = "starting",   [FEED_OK] = "ok",
        [FEED_NONE] = "none",           [FEED_DENIED] = "not permitted",
        [FEED_NO_ANSWER] = "no answer", [FEED_FAILED] = "failed",
    };
    return names[state];
}

static enum feed_state state_of(enum collect_result result)
{
    static const enum feed_state states[COLLECT_RESULTS] = {
        [COLLECT_OK] = FEED_OK,         [COLLECT_NONE] = FEED_NONE,
        [COLLECT_DENIED] = FEED_DENIED, [COLLECT_NO_ANSWER] = FEED_NO_ANSWER,
        [COLLECT_FAILED] = FEED_FAILED,
    };
    return states[result];
}

static void signal_eventfd(int fd)
{
    uint64_t one = 1;
    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

/* Waits for a kick; false when the feed is to end. */
static bool wait_for_kick(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    while (!feed->kicked && !feed->stopping)
        pthread_cond_wait(&feed->wake, &feed->lock);
    bool go = !feed->stopping;
    pthread_mutex_unlock(&feed->lock);
    return go;
}

/* Publishes what a read gave: the sample into the mailbox (an older one nobody took is dropped), or why there
 * is none. */
static void deliver(struct feed *feed, enum collect_result result, struct sample *sample,
                    const struct collect_call *call, unsigned failures)
{
    uint64_t cpu_ns = clock_thread_cpu_ns();
    pthread_mutex_lock(&feed->lock);
    struct feed_status *status = &feed->status;
    status->state = state_of(result);
    status->busy = feed->kicked = false;
    status->cpu_ns = cpu_ns;
    struct sample *dropped = NULL;
    if (sample) {
        sample->seq = ++status->samples;
        sample->cpu_ns = cpu_ns;
        dropped = feed->mailbox;
        feed->mailbox = sample;
    }
    if (result == COLLECT_OK) {
        status->retry_ns = 0;
    } else {
        status->failures += result != COLLECT_NONE && result != COLLECT_DENIED;
        status->retry_ns = clock_mono_ns() + feed_backoff_ns(result, failures);
    }
    const char *detail = result == COLLECT_OK ? call->detail : call->error.text;
    snprintf(status->detail, sizeof(status->detail), "%s", detail);
    snprintf(status->version, sizeof(status->version), "%s", call->version);
    pthread_mutex_unlock(&feed->lock);
    sample_unref(dropped);
    signal_eventfd(feed->event_fd);
}

static struct sample *empty_sample(void)
{
    struct sample *sample = sample_new(NULL);
    sample_begin(sample);
    sample_end(sample);
    return sample;
}

static void *run(void *arg)
{
    struct feed *feed = arg;
    const struct collector *collector = feed->collector;
    struct collect_call call = {.stop_fd = feed->stop_fd};
    void *state = NULL;
    bool opened = false, had_rows = false;
    unsigned failures = 0;
    while (wait_for_kick(feed)) {
        struct sample *sample = NULL;
        enum collect_result result = COLLECT_OK;
        call.deadline_ns = clock_mono_ns() + READ_DEADLINE_NS;
        if (!opened)
            result = collector->open(feed->config, &state, &call);
        opened = result == COLLECT_OK;
        if (opened)
            result = collector->collect(state, &call, &sample);
        if (sample)
            sample_trim(sample);
        if (opened && result != COLLECT_OK) {
            collector->close(state);
            opened = false;
        }
        failures = result == COLLECT_OK ? 0 : failures + 1;
        if (result == COLLECT_NONE && had_rows) /* what is gone has no rows, not old ones */
            sample = empty_sample();
        had_rows = result == COLLECT_OK || (had_rows && result != COLLECT_NONE);
        deliver(feed, result, sample, &call, failures);
    }
    if (opened)
        collector->close(state);
    pthread_mutex_lock(&feed->lock);
    feed->ended = true;
    pthread_mutex_unlock(&feed->lock);
    signal_eventfd(feed->event_fd);
    return NULL;
}

static int start_thread(struct feed *feed)
{
    char name[16];
    snprintf(name, sizeof(name), "vt-%.12s", feed->name);
    return thread_start(&feed->thread, name, run, feed);
}

static void feed_free(struct feed *feed)
{
    close(feed->event_fd);
    close(feed->stop_fd);
    sample_unref(feed->mailbox);
    pthread_cond_destroy(&feed->wake);
    pthread_mutex_destroy(&feed->lock);
    free(feed->name);
    free(feed);
}

struct feed *feed_start(const struct collector *collector, const char *name,
                        const struct collect_config *config, char *error, size_t error_size)
{
    struct feed *feed = xzalloc(sizeof(*feed));
    feed->collector = collector;
    feed->config = config;
    feed->name = xstrdup(name);
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->wake, NULL);
    feed->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    feed->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = feed->event_fd < 0 || feed->stop_fd < 0 ? errno : start_thread(feed);
    if (rc != 0) {
        snprintf(error, error_size, "%s: no worker thread: %s; raise the limit of processes or open files",
                 name, strerror(rc));
        feed_free(feed);
        return NULL;
    }
    return feed;
}

bool feed_kick(struct feed *feed, int64_t now_ns, int64_t interval_ms)
{
    int64_t tempo_ns = feed->collector->tempo_ms * NS_PER_MS;
    pthread_mutex_lock(&feed->lock);
    /* Half an interval of grace: a tick that comes a little early must not skip the slow tempo's turn. */
    bool early = tempo_ns > interval_ms * NS_PER_MS && feed->last_kick_ns &&
                 now_ns - feed->last_kick_ns < tempo_ns - interval_ms * NS_PER_MS / 2;
    bool go = !feed->kicked && !early && now_ns >= feed->status.retry_ns;
    if (go) {
        feed->kicked = feed->status.busy = true;
        feed->last_kick_ns = feed->status.since_ns = now_ns;
        pthread_cond_signal(&feed->wake);
    }
    pthread_mutex_unlock(&feed->lock);
    return go;
}

struct sample *feed_take(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    struct sample *sample = feed->mailbox;
    feed->mailbox = NULL;
    pthread_mutex_unlock(&feed->lock);
    return sample;
}

struct feed_status feed_status(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    struct feed_status status = feed->status;
    pthread_mutex_unlock(&feed->lock);
    return status;
}

const char *feed_name(const struct feed *feed)
{
    return feed->name;
}

const struct collector *feed_collector(const struct feed *feed)
{
    return feed->collector;
}

int feed_eventfd(const struct feed *feed)
{
    return feed->event_fd;
}

int64_t feed_stale_ns(const struct feed *feed, int64_t interval_ms)
{
    int64_t tempo_ms = feed->collector->tempo_ms > interval_ms ? feed->collector->tempo_ms : interval_ms;
    return (2 * tempo_ms + 500) * NS_PER_MS;
}

static bool has_ended(struct feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    bool ended = feed->ended;
    pthread_mutex_unlock(&feed->lock);
    return ended;
}

static bool wait_until_ended(struct feed *feed, int64_t deadline_ns)
{
    struct timespec pause = {.tv_nsec = 1000000};
    while (!has_ended(feed) && clock_mono_ns() < deadline_ns)
        nanosleep(&pause, NULL);
    return has_ended(feed);
}

size_t feeds_stop(struct feed **feeds, size_t n, int64_t deadline_ns)
{
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&feeds[i]->lock);
        feeds[i]->stopping = true;
        pthread_cond_signal(&feeds[i]->wake);
        pthread_mutex_unlock(&feeds[i]->lock);
        signal_eventfd(feeds[i]->stop_fd);
    }
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (!wait_until_ended(feeds[i], deadline_ns)) {
            pthread_detach(feeds[i]->thread);
            left++;
            continue;
        }
        pthread_join(feeds[i]->thread, NULL);
        feed_free(feeds[i]);
    }
    return left;
}
