/* SPDX-License-Identifier: MIT */
/*
 * Feeds and sessions: a collector that hangs, one that fails, one that is absent, and what the others, the
 * keys and quitting notice of it (nothing).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/feed.h"
#include "src/session.h"

static atomic_bool hang;       /* the hanging collector stays in its read while this is true */
static atomic_int collects;    /* reads that the good collector made */
static atomic_int fail_result; /* what the failing collector answers */

static enum collect_result open_any(const struct collect_config *config, void **state,
                                    struct collect_call *call)
{
    (void)config;
    (void)call;
    *state = NULL;
    return COLLECT_OK;
}

static enum collect_result collect_good(void *state, struct collect_call *call, struct sample **out)
{
    (void)state;
    struct inventory *inventory = inventory_new();
    struct sample *sample = sample_new(inventory);
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, "port:1");
    info_set(info, name, "p1");
    sample_begin(sample);
    struct ports_row *row = sample_row(sample, TABLE_PORTS, info);
    row_set(row, rx_packets, (uint64_t)atomic_fetch_add(&collects, 1) + 1);
    sample_end(sample);
    inventory_unref(inventory);
    snprintf(call->detail, sizeof(call->detail), "one port");
    *out = sample;
    return COLLECT_OK;
}

static enum collect_result collect_hanging(void *state, struct collect_call *call, struct sample **out)
{
    while (atomic_load(&hang))
        usleep(1000);
    return collect_good(state, call, out);
}

static enum collect_result collect_failing(void *state, struct collect_call *call, struct sample **out)
{
    (void)state;
    (void)out;
    return collect_fail(&call->error, (enum collect_result)atomic_load(&fail_result),
                        "socket: gone; start the daemon");
}

static void close_any(void *state)
{
    (void)state;
}

#define COLLECTOR(source_, feed_, help_, tempo, collect_)                                                    \
    {                                                                                                        \
        .source = source_, .feed = feed_, .help = help_, .tempo_ms = tempo, .open = open_any,                \
        .collect = collect_, .close = close_any                                                              \
    }

static const struct collector good = COLLECTOR("good", "good", "counts", 0, collect_good);
static const struct collector slow = COLLECTOR("good", "good-slow", "counts", 60000, collect_good);
static const struct collector hanging = COLLECTOR("hanging", "hanging", "hangs", 0, collect_hanging);
static const struct collector failing = COLLECTOR("failing", "failing", "fails", 0, collect_failing);

static const struct collect_config config = {.root = ""};

static void wait_event(struct feed *feed)
{
    struct pollfd fd = {.fd = feed_eventfd(feed), .events = POLLIN};
    uint64_t n;
    assert_int_equal(poll(&fd, 1, 10000), 1);
    assert_int_equal(read(fd.fd, &n, sizeof(n)), sizeof(n));
}

static struct feed *start(const struct collector *collector)
{
    char error[256];
    struct feed *feed = feed_start(collector, collector->feed, &config, error, sizeof(error));
    assert_non_null(feed);
    return feed;
}

static void stop(struct feed *feed)
{
    assert_int_equal(feeds_stop(&feed, 1, clock_mono_ns() + 5000000000), 0);
}

static void test_delivers(void **state)
{
    (void)state;
    struct feed *feed = start(&good);
    assert_null(feed_take(feed));
    assert_true(feed_kick(feed, clock_mono_ns(), 1000));
    wait_event(feed);
    struct sample *sample = feed_take(feed);
    assert_non_null(sample);
    assert_int_equal(sample->seq, 1);
    assert_int_equal(sample->set[TABLE_PORTS].n, 1);
    assert_true(sample->t0_ns <= sample->t1_ns);
    assert_null(feed_take(feed));
    sample_unref(sample);
    struct feed_status status = feed_status(feed);
    assert_int_equal(status.state, FEED_OK);
    assert_string_equal(status.detail, "one port");
    stop(feed);
}

static void test_mailbox_keeps_the_newest(void **state)
{
    (void)state;
    struct feed *feed = start(&good);
    for (int i = 0; i < 3; i++) {
        assert_true(feed_kick(feed, clock_mono_ns(), 100));
        wait_event(feed);
    }
    struct sample *sample = feed_take(feed);
    assert_int_equal(sample->seq, 3);
    sample_unref(sample);
    assert_null(feed_take(feed));
    stop(feed);
}

static void test_tempo(void **state)
{
    (void)state;
    struct feed *feed = start(&slow);
    int64_t now = clock_mono_ns();
    assert_true(feed_kick(feed, now, 1000));
    wait_event(feed);
    assert_false(feed_kick(feed, now + 1000000000, 1000));
    assert_false(feed_kick(feed, now + 59000000000, 1000));
    assert_true(feed_kick(feed, now + 59600000000, 1000));
    wait_event(feed);
    stop(feed);
}

static void test_failure_backs_off(void **state)
{
    (void)state;
    atomic_store(&fail_result, COLLECT_FAILED);
    struct feed *feed = start(&failing);
    assert_true(feed_kick(feed, clock_mono_ns(), 100));
    wait_event(feed);
    struct feed_status status = feed_status(feed);
    assert_int_equal(status.state, FEED_FAILED);
    assert_int_equal(status.failures, 1);
    assert_string_equal(status.detail, "socket: gone; start the daemon");
    assert_true(status.retry_ns > clock_mono_ns());
    assert_false(feed_kick(feed, clock_mono_ns(), 100));
    assert_true(feed_kick(feed, status.retry_ns, 100));
    wait_event(feed);
    assert_int_equal(feed_status(feed).failures, 2);
    stop(feed);
}

static void test_absent_is_no_failure(void **state)
{
    (void)state;
    atomic_store(&fail_result, COLLECT_NONE);
    struct feed *feed = start(&failing);
    feed_kick(feed, clock_mono_ns(), 100);
    wait_event(feed);
    assert_int_equal(feed_status(feed).state, FEED_NONE);
    assert_int_equal(feed_status(feed).failures, 0);
    stop(feed);
}

static void test_backoff(void **state)
{
    (void)state;
    assert_int_equal(feed_backoff_ns(COLLECT_OK, 0), 0);
    assert_int_equal(feed_backoff_ns(COLLECT_FAILED, 1), 500000000);
    assert_int_equal(feed_backoff_ns(COLLECT_FAILED, 2), 1000000000);
    assert_int_equal(feed_backoff_ns(COLLECT_FAILED, 5), 8000000000);
    assert_int_equal(feed_backoff_ns(COLLECT_NO_ANSWER, 100), 30000000000);
    assert_int_equal(feed_backoff_ns(COLLECT_NONE, 100), 5000000000);
}

/* Of the leak sanitizer, where it is linked in: what is made between them, and what hangs on it, is meant to
 * stay. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* The session: frames keep coming, the hung source's row ages, quitting does not wait. */
static void test_hang_is_not_noticed(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&good, &hanging, NULL};
    struct options options;
    char error[256];
    options_init(&options);
    options.interval_s = 0.1;
    if (__lsan_disable)
        __lsan_disable(); /* quitting leaves the hung worker behind, its memory with it */
    struct session *session = session_open(&options, list, error, sizeof(error));
    if (__lsan_enable)
        __lsan_enable();
    assert_non_null(session);
    assert_true(session_frame_now(session, -1));
    atomic_store(&hang, true);
    for (int i = 0; i < 12; i++) {
        int64_t before = clock_mono_ns();
        assert_true(session_frame_now(session, -1));
        if (i > 0) /* the tick that found it hanging waited its patience; no later one does */
            assert_true(clock_mono_ns() - before < 1000000000);
    }
    struct store *store = session_store(session);
    usleep(1000000); /* older than stale: 2 intervals and half a second */
    assert_true(session_frame_now(session, -1));
    struct frame *frame = store_frame(store, store_moments(store) - 1);
    const struct frame_row *row = frame_find(frame, TABLE_SOURCES, "source:hanging");
    assert_non_null(row);
    const struct sources_row *source = (const struct sources_row *)row->part.cur;
    assert_string_equal(source->state, "no answer");
    assert_true(source->age_s >= 1.0);
    row = frame_find(frame, TABLE_SOURCES, "source:good");
    assert_string_equal(((const struct sources_row *)row->part.cur)->state, "ok");
    frame_free(frame);
    int64_t before = clock_mono_ns();
    session_close(session, 30);
    assert_true(clock_mono_ns() - before < 1000000000);
    atomic_store(&hang, false); /* the worker that was left behind ends by itself */
}

static void test_unknown_source(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&good, &slow, NULL};
    const char *names[] = {"nosuch", NULL};
    struct options options;
    char error[256];
    options_init(&options);
    options.only = (struct text_list){.n = 1, .texts = names};
    assert_null(session_open(&options, list, error, sizeof(error)));
    assert_string_equal(error, "--only nosuch: no such source; there are: good");
    names[0] = "good";
    options.no = options.only;
    assert_null(session_open(&options, list, error, sizeof(error)));
    assert_string_equal(error, "--only and --no leave no source; name one to read");
}

static int prepared;

static void prepare(void)
{
    prepared++;
}

static bool is_not_b(const struct collect_config *config_)
{
    return !config_->connect_uri || strcmp(config_->connect_uri, "b") != 0;
}

static size_t feeds_of(const struct options *options, const struct collector *const *list)
{
    char error[256];
    struct pollfd fds[8];
    struct session *session = session_open(options, list, error, sizeof(error));
    assert_non_null(session);
    size_t n = session_pollfds(session, fds, 8);
    session_close(session, 1000);
    return n;
}

/* One instance for each --connect, or one with the default; those that have nothing to read are left out. */
static void test_instances(void **state)
{
    (void)state;
    struct collector each = good, choosy = good;
    each.per = choosy.per = COLLECT_PER_URI;
    each.prepare = prepare;
    choosy.is_wanted = is_not_b;
    const struct collector *const list[] = {&each, &choosy, &good, NULL};
    const char *uris[] = {"a", "b", NULL};
    struct options options;
    options_init(&options);
    assert_int_equal(feeds_of(&options, list), 3);
    assert_int_equal(prepared, 1);
    options.connect = (struct text_list){.n = 2, .texts = uris};
    assert_int_equal(feeds_of(&options, list), 2 + 1 + 1);
    options.netns = options.connect; /* is no matter of theirs */
    assert_int_equal(feeds_of(&options, list), 2 + 1 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delivers),
        cmocka_unit_test(test_mailbox_keeps_the_newest),
        cmocka_unit_test(test_tempo),
        cmocka_unit_test(test_failure_backs_off),
        cmocka_unit_test(test_absent_is_no_failure),
        cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_hang_is_not_noticed),
        cmocka_unit_test(test_unknown_source),
        cmocka_unit_test(test_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
