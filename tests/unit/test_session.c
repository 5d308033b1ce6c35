/* SPDX-License-Identifier: MIT */
/*
 * Sessions over collectors of the test, in a time of its own: one instance for each namespace and address,
 * slow tempos, late answers, marks, vnettop's own rows, and what a change of the interval does. What a source
 * that hangs does is test_feed.c's.
 */
#include "unit/make_sample.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "src/session.h"

static _Atomic int64_t now_ns;      /* the time of the test: samples are taken at it */
static atomic_int n_prepared;       /* calls of prepare */
static atomic_int n_opened;         /* and of open, which must come after all of them */
static atomic_int n_slow;           /* reads of the slow collector */
static atomic_int fail_now;         /* the fragile one fails while this is set */
static atomic_bool gate_open;       /* the late one answers when this is set */
static atomic_int opened_too_early; /* opens before the last prepare */

static void prepare(void)
{
    if (atomic_load(&n_opened) > 0)
        atomic_fetch_add(&opened_too_early, 1);
    atomic_fetch_add(&n_prepared, 1);
}

static bool is_there(const struct collect_config *config)
{
    return !config->connect_uri || strcmp(config->connect_uri, "absent") != 0;
}

/* The state is the instance's name. */
static enum collect_result open_fake(const struct collect_config *config, void **state,
                                     struct collect_call *call)
{
    (void)call;
    atomic_fetch_add(&n_opened, 1);
    const char *instance = config->netns ? config->netns : config->connect_uri ? config->connect_uri : "self";
    *state = strdup(instance);
    return COLLECT_OK;
}

static void close_fake(void *state)
{
    free(state);
}

/* One port, named after the instance, that has counted a packet a millisecond. */
static enum collect_result collect_port(void *state, struct collect_call *call, struct sample **out)
{
    struct inventory *inventory = inventory_new();
    int64_t t_ns = atomic_load(&now_ns);
    struct sample *sample = sample_at(inventory, t_ns);
    char key[64];
    snprintf(key, sizeof(key), "port:%s", (const char *)state);
    struct ports_info *info = make_port(inventory, key);
    info_set(info, kind, "veth");
    add_port(sample, info, (uint64_t)t_ns / 1000000);
    inventory_unref(inventory);
    snprintf(call->detail, sizeof(call->detail), "a port of %s", (const char *)state);
    *out = sample;
    return COLLECT_OK;
}

static enum collect_result collect_slow(void *state, struct collect_call *call, struct sample **out)
{
    atomic_fetch_add(&n_slow, 1);
    return collect_port(state, call, out);
}

static enum collect_result collect_fragile(void *state, struct collect_call *call, struct sample **out)
{
    if (atomic_load(&fail_now))
        return collect_fail(&call->error, COLLECT_FAILED, "broken; mend it");
    return collect_port(state, call, out);
}

static enum collect_result collect_late(void *state, struct collect_call *call, struct sample **out)
{
    while (!atomic_load(&gate_open))
        usleep(100);
    return collect_port(state, call, out);
}

#define FAKE(...) .help = "of the test", .open = open_fake, .close = close_fake, __VA_ARGS__
static const struct collector links = {FAKE(.source = "links", .feed = "links", .per = COLLECT_PER_NETNS,
                                            .prepare = prepare, .collect = collect_port)};
static const struct collector domains = {FAKE(.source = "domains", .feed = "domains", .per = COLLECT_PER_URI,
                                              .prepare = prepare, .is_wanted = is_there,
                                              .collect = collect_port)};
static const struct collector whole = {FAKE(.source = "whole", .feed = "whole", .collect = collect_port)};
static const struct collector slow = {
    FAKE(.source = "whole", .feed = "whole-slow", .tempo_ms = 10000, .collect = collect_slow)};
static const struct collector fragile = {
    FAKE(.source = "fragile", .feed = "fragile", .collect = collect_fragile)};
static const struct collector late = {FAKE(.source = "late", .feed = "late", .collect = collect_late)};

static const struct collector *const all[] = {&links, &domains, &whole, &slow, &fragile, NULL};

static struct session *open_session(const struct options *options, const struct collector *const *collectors)
{
    char error[256] = "";
    atomic_store(&n_prepared, 0);
    atomic_store(&n_opened, 0);
    atomic_store(&n_slow, 0);
    atomic_store(&fail_now, 0);
    struct session *session = session_open(options, collectors, error, sizeof(error));
    if (!session)
        fail_msg("%s", error);
    atomic_store(&now_ns, session_start_ns(session));
    return session;
}

/* One tick, after that time; waits for what is to come. */
static struct frame *tick_after(struct session *session, int64_t ns)
{
    atomic_fetch_add(&now_ns, ns);
    session_kick(session, atomic_load(&now_ns));
    while (!session_drain(session)) {
        struct pollfd fds[64];
        size_t n = session_pollfds(session, fds, 64);
        assert_true(poll(fds, n, 20000) > 0);
    }
    session_tick(session, atomic_load(&now_ns), 1000 * SECOND + atomic_load(&now_ns));
    struct store *store = session_store(session);
    return store_frame(store, store_moments(store) - 1);
}

static bool has_source(const struct frame *frame, const char *name)
{
    char key[64];
    snprintf(key, sizeof(key), "source:%s", name);
    return frame_find(frame, TABLE_SOURCES, key);
}

static struct cell source_cell(const struct frame *frame, const char *name, const char *column)
{
    char key[64];
    snprintf(key, sizeof(key), "source:%s", name);
    return cell_of(frame, TABLE_SOURCES, key, column);
}

static struct text_list list_of(const char **texts)
{
    size_t n = 0;
    while (texts[n])
        n++;
    return (struct text_list){.n = n, .texts = n ? texts : NULL};
}

static void test_instances(void **state)
{
    (void)state;
    struct options options;
    options_init(&options);
    const char *namespaces[] = {"self", "blue", "pid:7", NULL}, *uris[] = {"test:///a", "absent", NULL};
    options.netns = list_of(namespaces);
    options.connect = list_of(uris);
    struct session *session = open_session(&options, all);
    assert_int_equal(atomic_load(&n_prepared), 2);
    struct frame *frame = tick_after(session, SECOND);
    assert_int_equal(atomic_load(&opened_too_early), 0);
    static const char *const expected[] = {"links", "links@blue", "links@pid:7", "domains@test:///a",
                                           "whole", "whole-slow", "fragile",     "vnettop"};
    assert_int_equal(frame->table[TABLE_SOURCES].n, 8);
    for (int i = 0; i < 8; i++)
        assert_true(has_source(frame, expected[i]));
    expect_number(port_cell(frame, "port:blue", "rx_packets"), (double)(atomic_load(&now_ns) / 1000000));
    assert_non_null(frame_find(frame, TABLE_PORTS, "port:pid:7"));
    assert_non_null(frame_find(frame, TABLE_PORTS, "port:self"));
    assert_non_null(frame_find(frame, TABLE_PORTS, "port:test:///a"));
    assert_null(frame_find(frame, TABLE_PORTS, "port:absent"));
    assert_string_equal(source_cell(frame, "links@blue", "detail").str, "a port of blue");
    frame_free(frame);
    session_close(session, 5000);
}

static void test_no_and_only(void **state)
{
    (void)state;
    struct options options;
    options_init(&options);
    const char *only[] = {"whole", "links", NULL}, *no[] = {"links", NULL};
    options.only = list_of(only);
    options.no = list_of(no);
    struct session *session = open_session(&options, all);
    struct frame *frame = tick_after(session, SECOND);
    assert_int_equal(atomic_load(&n_prepared), 0); /* what is not read is not prepared */
    assert_int_equal(frame->table[TABLE_SOURCES].n, 3);
    assert_true(has_source(frame, "whole") && has_source(frame, "whole-slow"));
    frame_free(frame);
    session_close(session, 5000);
}

static void test_too_many_instances(void **state)
{
    (void)state;
    struct options options;
    char names[100][8], error[256];
    const char *texts[101] = {NULL};
    options_init(&options);
    for (int i = 0; i < 100; i++) {
        snprintf(names[i], sizeof(names[i]), "ns%d", i);
        texts[i] = names[i];
    }
    options.netns = list_of(texts);
    assert_null(session_open(&options, all, error, sizeof(error)));
    assert_string_equal(error, "more than 64 sources; give fewer of --netns and --connect");
}

/* A port is a path from the frame after the one that it is first seen in. */
static void test_paths_of_ports(void **state)
{
    (void)state;
    struct options options;
    char error[256];
    options_init(&options);
    options.paths = "some";
    assert_null(session_open(&options, all, error, sizeof(error)));
    assert_string_equal(error, "--paths some: give guests or all");
    options.paths = "all";
    struct session *session = open_session(&options, all);
    struct frame *frame = tick_after(session, SECOND);
    assert_int_equal(frame->table[TABLE_PATHS].n, 0);
    frame_free(frame);
    frame = tick_after(session, SECOND);
    assert_non_null(frame_find(frame, TABLE_PATHS, "path:port:port:self"));
    expect_number(cell_of(frame, TABLE_PATHS, "path:port:port:self", "from_guest_pps"), 1000);
    frame_free(frame);
    session_close(session, 5000);
    options.paths = "guests";
    session = open_session(&options, all);
    frame_free(tick_after(session, SECOND));
    frame = tick_after(session, SECOND);
    assert_int_equal(frame->table[TABLE_PATHS].n, 0);
    frame_free(frame);
    session_close(session, 5000);
}

static void test_rates_in_the_sessions_time(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&whole, NULL};
    struct options options;
    options_init(&options);
    struct session *session = open_session(&options, list);
    for (int i = 0; i < 20; i++) {
        struct frame *frame = tick_after(session, SECOND + i * 7000000);
        if (i > 0)
            expect_number(port_cell(frame, "port:self", "rx_packets"),
                          (double)(atomic_load(&now_ns) / 1000000));
        struct cell rate = port_cell(frame, "port:self", "rx_pps");
        assert_int_equal(rate.kind, i ? CELL_F64 : CELL_NEW);
        if (i)
            assert_true(rate.f64 > 999 && rate.f64 < 1001);
        assert_int_equal(frame->now_ns, atomic_load(&now_ns));
        assert_int_equal(frame->start_ns, session_start_ns(session));
        frame_free(frame);
    }
    session_close(session, 5000);
}

/* Every tenth second, also when ticks come a little early; at each tick when those are farther apart. */
static void test_tempo(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&whole, &slow, NULL};
    struct options options;
    options_init(&options);
    struct session *session = open_session(&options, list);
    for (int i = 0; i < 40; i++)
        frame_free(tick_after(session, SECOND - (i % 2 ? 3000000 : -3000000)));
    assert_int_equal(atomic_load(&n_slow), 4);
    struct frame *frame = tick_after(session, SECOND);
    expect_number(source_cell(frame, "whole", "samples"), 41);
    expect_number(source_cell(frame, "whole-slow", "samples"), 5);
    frame_free(frame);
    session_set_interval(session, 60);
    for (int i = 0; i < 3; i++)
        frame_free(tick_after(session, 60 * SECOND));
    assert_int_equal(atomic_load(&n_slow), 8);
    session_close(session, 5000);
}

static void test_interval_change(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&whole, NULL};
    struct options options;
    options_init(&options);
    struct session *session = open_session(&options, list);
    assert_int_equal(session_interval_ms(session), 1000);
    frame_free(tick_after(session, SECOND));
    assert_int_equal(session_patience_ns(session), atomic_load(&now_ns) + SECOND / 4);
    session_set_interval(session, 0.1);
    assert_int_equal(session_interval_ms(session), 100);
    struct frame *frame = tick_after(session, SECOND / 10);
    assert_int_equal(session_patience_ns(session), atomic_load(&now_ns) + SECOND / 20);
    expect_number(port_cell(frame, "port:self", "rx_pps"), 1000);
    frame_free(frame);
    /* Stale is twice the interval and half a second: 0.7 s now, 20.5 s at an interval of 10 s. */
    session_tick(session, atomic_load(&now_ns) + SECOND, 0);
    struct store *store = session_store(session);
    frame = store_frame(store, store_moments(store) - 1);
    assert_true(port_cell(frame, "port:self", "rx_packets").stale);
    frame_free(frame);
    session_set_interval(session, 10);
    session_tick(session, atomic_load(&now_ns) + 2 * SECOND, 0);
    frame = store_frame(store, store_moments(store) - 1);
    assert_false(port_cell(frame, "port:self", "rx_packets").stale);
    frame_free(frame);
    session_close(session, 5000);
}

/* What comes after the patience is the next frame's; the old one stays as it was. */
static void test_late_answer(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&whole, &late, NULL};
    struct options options;
    options_init(&options);
    atomic_store(&gate_open, true);
    struct session *session = open_session(&options, list);
    struct store *store = session_store(session);
    frame_free(tick_after(session, SECOND));
    atomic_store(&gate_open, false);
    atomic_fetch_add(&now_ns, SECOND);
    session_kick(session, atomic_load(&now_ns));
    assert_false(session_drain(session));
    session_tick(session, atomic_load(&now_ns), 0);
    atomic_store(&gate_open, true);
    /* It is busy with the first of these ticks, and not asked again until it has answered. */
    uint64_t samples = 0;
    while (samples < 3) {
        struct frame *frame = tick_after(session, SECOND);
        samples = source_cell(frame, "late", "samples").u64;
        frame_free(frame);
    }
    struct frame *frame = store_frame(store, 1);
    expect_number(source_cell(frame, "late", "samples"), 1);
    for (size_t i = 0; i < frame->n_pairs; i++)
        assert_true(strcmp(frame->pairs[i].feed, "late") != 0 || frame->pairs[i].cur->seq == 1);
    frame_free(frame);
    session_close(session, 5000);
}

static void test_marks(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&whole, NULL};
    struct options options;
    options_init(&options);
    struct session *session = open_session(&options, list);
    struct store *store = session_store(session);
    size_t n;
    frame_free(tick_after(session, SECOND));
    session_marks(session, &n);
    assert_int_equal(n, 0);
    session_mark(session, "pinned \x1b[2J", session_start_ns(session) + 1500 * SECOND / 1000,
                 123456 * SECOND + 7999999);
    session_mark(session, "", session_start_ns(session) + 2 * SECOND, 123457 * SECOND);
    assert_string_equal(session_marks(session, &n)[0].text, "pinned \x1b[2J");
    assert_int_equal(n, 2);
    struct frame *frame = tick_after(session, SECOND);
    assert_int_equal(frame->table[TABLE_MARKS].n, 2);
    expect_number(cell_of(frame, TABLE_MARKS, "mark:1", "mark"), 1);
    assert_string_equal(cell_of(frame, TABLE_MARKS, "mark:1", "text").str, "pinned \x1b[2J");
    assert_string_equal(cell_of(frame, TABLE_MARKS, "mark:1", "at").str, "1970-01-02T10:17:36.007Z");
    expect_number(cell_of(frame, TABLE_MARKS, "mark:1", "at_elapsed_s"), 1.5);
    assert_string_equal(cell_of(frame, TABLE_MARKS, "mark:2", "text").str, "");
    frame_free(frame);
    frame = store_frame(store, 0); /* before they were set */
    assert_int_equal(frame->table[TABLE_MARKS].n, 0);
    frame_free(frame);
    frame = tick_after(session, SECOND);
    assert_int_equal(frame->table[TABLE_MARKS].n, 2);
    frame_free(frame);
    session_close(session, 5000);
}

static void test_own_rows(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&fragile, NULL};
    struct options options;
    options_init(&options);
    struct session *session = open_session(&options, list);
    struct frame *frame = tick_after(session, SECOND);
    assert_string_equal(source_cell(frame, "fragile", "state").str, "ok");
    assert_string_equal(source_cell(frame, "fragile", "detail").str, "a port of self");
    expect_number(source_cell(frame, "fragile", "rows"), 1);
    expect_number(source_cell(frame, "fragile", "age_s"), 0);
    expect_number(source_cell(frame, "fragile", "failures"), 0);
    assert_string_equal(source_cell(frame, "vnettop", "state").str, "ok");
    expect_number(source_cell(frame, "vnettop", "samples"), 1);
    expect_kind(source_cell(frame, "vnettop", "cost_pct"), CELL_NEW);
    assert_true(session_cost_pct(session) == 0);
    uint64_t cpu_ns = source_cell(frame, "vnettop", "cpu_ns").u64;
    frame_free(frame);

    atomic_store(&fail_now, 1);
    frame = tick_after(session, SECOND);
    assert_string_equal(source_cell(frame, "fragile", "state").str, "failed");
    assert_non_null(strstr(source_cell(frame, "fragile", "detail").str, "broken; mend it"));
    expect_number(source_cell(frame, "fragile", "failures"), 1);
    expect_number(source_cell(frame, "fragile", "samples"), 1);
    expect_number(source_cell(frame, "fragile", "age_s"), 1); /* the newest sample is the old one */
    assert_true(source_cell(frame, "vnettop", "cpu_ns").u64 > cpu_ns);
    double spent_ns = (double)(source_cell(frame, "vnettop", "cpu_ns").u64 - cpu_ns);
    expect_number(source_cell(frame, "vnettop", "cost_pct"), spent_ns / 1e7); /* of one second */
    assert_true(session_cost_pct(session) == spent_ns / 1e7);
    frame_free(frame);
    session_close(session, 5000);
}

/* However long it runs, vnettop's own rows leave the history to the sources. */
static void test_own_rows_are_small(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&whole, NULL};
    struct options options;
    options_init(&options);
    struct session *session = open_session(&options, list);
    for (int i = 0; i < 50; i++)
        frame_free(tick_after(session, SECOND));
    assert_true(store_bytes(session_store(session)) / 50 < 4000);
    session_close(session, 5000);
}

static void test_pollfds_are_bounded(void **state)
{
    (void)state;
    struct options options;
    options_init(&options);
    struct session *session = open_session(&options, all);
    struct pollfd fds[2];
    assert_int_equal(session_pollfds(session, fds, 2), 2);
    assert_true(fds[0].fd >= 0 && fds[0].events == POLLIN);
    session_close(session, 5000);
}

static void test_wake_ends_the_wait(void **state)
{
    (void)state;
    static const struct collector *const list[] = {&late, NULL};
    struct options options;
    options_init(&options);
    atomic_store(&gate_open, false);
    struct session *session = open_session(&options, list);
    session_set_interval(session, 3600);
    int wake_fd = eventfd(1, EFD_CLOEXEC);
    assert_false(session_frame_now(session, wake_fd));
    struct pacer pacer;
    pacer_start(&pacer, 3600000);
    int64_t before_ns = clock_mono_ns();
    assert_false(pacer_wait(&pacer, wake_fd));
    assert_true(clock_mono_ns() - before_ns < 60 * SECOND);
    close(wake_fd);
    atomic_store(&gate_open, true);
    session_close(session, 5000);
}

/* Ticks keep their pace; those that were missed are not made up for. */
static void test_pacer(void **state)
{
    (void)state;
    struct pacer pacer;
    pacer_start(&pacer, 20);
    int64_t start_ns = pacer.next_ns;
    for (int i = 1; i <= 3; i++) {
        assert_true(pacer_wait(&pacer, -1));
        assert_true(clock_mono_ns() >= pacer.next_ns);
        assert_int_equal((pacer.next_ns - start_ns) % 20000000, 0);
    }
    pacer.next_ns -= 50 * 20000000; /* as if a second had been slept away */
    assert_true(pacer_wait(&pacer, -1));
    assert_int_equal((pacer.next_ns - start_ns) % 20000000, 0);
    assert_true(clock_mono_ns() - pacer.next_ns < SECOND);
    assert_true(pacer.next_ns > start_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_no_and_only),
        cmocka_unit_test(test_too_many_instances),
        cmocka_unit_test(test_paths_of_ports),
        cmocka_unit_test(test_rates_in_the_sessions_time),
        cmocka_unit_test(test_tempo),
        cmocka_unit_test(test_interval_change),
        cmocka_unit_test(test_late_answer),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_own_rows),
        cmocka_unit_test(test_own_rows_are_small),
        cmocka_unit_test(test_pollfds_are_bounded),
        cmocka_unit_test(test_wake_ends_the_wait),
        cmocka_unit_test(test_pacer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
