/* SPDX-License-Identifier: MIT */
/*
 * The history: what it keeps within its budget is exact. Thinned or not, the counters' differences over its
 * moments add up to the whole, the newest moments stand at full resolution, and a frame of an old moment is
 * the one that was shown then.
 */
#include "unit/make_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/clock.h"
#include "src/derive.h"
#include "src/store.h"

#define BUDGET  400000
#define N_PORTS 24 /* enough that older samples are packed */

/* A store with one feed of a few ports that count, and an inventory that all its samples share. */
struct history {
    struct store *store;
    size_t feed;
    struct inventory *inventory;
    const struct ports_info *ports[N_PORTS];
    uint64_t packets;
    int64_t now_ns;
};

static struct history history_new(size_t budget)
{
    struct history h = {.store = store_new(budget, 0), .inventory = inventory_new(), .now_ns = 100 * SECOND};
    h.feed = store_add_feed(h.store, "fast");
    store_set_stale(h.store, h.feed, 3 * SECOND);
    for (int i = 0; i < N_PORTS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "port:%d", i);
        h.ports[i] = make_port(h.inventory, key);
    }
    return h;
}

static void history_free(struct history *h)
{
    store_free(h->store);
    inventory_unref(h->inventory);
}

/* One tick: port i has counted i + 1 times the packets so far. Ports from n_ports on are not there. */
static void put_ports(struct history *h, int n_ports)
{
    struct sample *sample = sample_at(h->inventory, h->now_ns - 1000000);
    for (int i = 0; i < n_ports; i++)
        add_port(sample, h->ports[i], h->packets * (uint64_t)(i + 1));
    store_put(h->store, h->feed, sample);
}

static void tick(struct history *h, int64_t interval_ns, uint64_t packets)
{
    h->now_ns += interval_ns;
    h->packets += packets;
    put_ports(h, N_PORTS);
    store_tick(h->store, h->now_ns, h->now_ns);
}

static struct frame *last_frame(const struct store *store)
{
    return store_frame(store, store_moments(store) - 1);
}

static void test_empty(void **state)
{
    (void)state;
    struct store *store = store_new(BUDGET, 0);
    struct point point;
    assert_int_equal(store_moments(store), 0);
    assert_null(store_frame(store, 0));
    assert_int_equal(
        store_series(store, TABLE_PORTS, "port:0", column_of(TABLE_PORTS, "rx_pps"), 0, 1, &point), 0);
    store_tick(store, SECOND, SECOND); /* no feed has told anything */
    struct frame *frame = store_frame(store, 0);
    assert_int_equal(frame->n_pairs, 0);
    frame_free(frame);
    store_free(store);
    store_free(NULL);
}

static void test_newest_frame(void **state)
{
    (void)state;
    struct history h = history_new(BUDGET);
    tick(&h, SECOND, 10);
    struct frame *frame = last_frame(h.store);
    expect_kind(port_cell(frame, "port:0", "rx_pps"), CELL_NEW);
    assert_int_equal(frame->now_ns, h.now_ns);
    frame_free(frame);
    tick(&h, 2 * SECOND, 10);
    frame = last_frame(h.store);
    expect_number(port_cell(frame, "port:0", "rx_pps"), 5);
    expect_number(port_cell(frame, "port:3", "rx_pps"), 20);
    frame_free(frame);
    history_free(&h);
}

static void test_budget_is_kept(void **state)
{
    (void)state;
    struct history h = history_new(BUDGET);
    size_t most = 0;
    for (int i = 0; i < 3000; i++) {
        tick(&h, SECOND, 1);
        assert_true(store_bytes(h.store) <= BUDGET);
        most = store_bytes(h.store) > most ? store_bytes(h.store) : most;
    }
    assert_true(most > BUDGET / 2); /* and used */
    history_free(&h);
}

/* A few moments stay whatever they cost: without two samples there is no rate. */
static void test_budget_too_small(void **state)
{
    (void)state;
    struct history h = history_new(1);
    for (int i = 0; i < 100; i++)
        tick(&h, SECOND, 7);
    assert_int_equal(store_moments(h.store), 8);
    struct frame *frame = last_frame(h.store);
    expect_number(port_cell(frame, "port:0", "rx_pps"), 7);
    frame_free(frame);
    history_free(&h);
}

static void test_newest_stay_at_full_resolution(void **state)
{
    (void)state;
    struct history h = history_new(BUDGET);
    for (int i = 0; i < 5000; i++) {
        tick(&h, SECOND, 1);
        size_t n = store_moments(h.store);
        assert_int_equal(store_moment_ns(h.store, n - 1), h.now_ns);
        for (size_t m = n - n / 4; m > 0 && m < n; m++)
            assert_int_equal(store_moment_ns(h.store, m) - store_moment_ns(h.store, m - 1), SECOND);
        for (size_t m = 1; m < n; m++)
            assert_true(store_moment_ns(h.store, m) > store_moment_ns(h.store, m - 1));
    }
    assert_int_equal(store_moment_ns(h.store, 0), 101 * SECOND); /* the whole time is still there */
    history_free(&h);
}

/* Traffic in bursts: whatever was thinned out, the differences add up, and each mean is exact. */
static void test_thinned_means_are_exact(void **state)
{
    (void)state;
    struct history h = history_new(BUDGET);
    srand(3);
    for (int i = 0; i < 4000; i++)
        tick(&h, SECOND / 10 + rand() % 1000000, rand() % 5 ? 0 : (uint64_t)rand());
    uint64_t sum = 0, first = 0;
    double seconds = 0;
    size_t n = store_moments(h.store);
    for (size_t m = 0; m < n; m++) {
        struct frame *frame = store_frame(h.store, m);
        const struct frame_row *row = frame_find(frame, TABLE_PORTS, "port:2");
        struct delta delta = ROW_DELTA(row, struct ports_row, rx_packets);
        if (m == 0) {
            assert_int_equal(delta.kind, CELL_NEW);
            first = port_cell(frame, "port:2", "rx_packets").u64;
        } else {
            assert_int_equal(delta.kind, CELL_U64);
            sum += delta.value;
            seconds += delta.seconds;
            expect_number(port_cell(frame, "port:2", "rx_pps"), (double)delta.value / delta.seconds);
        }
        frame_free(frame);
    }
    assert_true(n < 2000); /* it was thinned */
    assert_true(first + sum == h.packets * 3);
    double whole = (double)(store_moment_ns(h.store, n - 1) - store_moment_ns(h.store, 0)) / 1e9;
    assert_true(seconds > whole - 1e-6 && seconds < whole + 1e-6);
    history_free(&h);
}

/* What was on the screen at a moment. */
struct shown {
    int64_t t_ns, before_ns; /* the moment, and the one before it */
    struct cell cells[4];
};

static struct shown look(const struct store *store, size_t moment)
{
    static const char *const keys[] = {"port:0", "port:5", "port:7", "slow:1"};
    struct shown shown = {.t_ns = store_moment_ns(store, moment),
                          .before_ns = moment ? store_moment_ns(store, moment - 1) : 0};
    struct frame *frame = store_frame(store, moment);
    for (int i = 0; i < 4; i++) {
        const struct frame_row *row = frame_find(frame, TABLE_PORTS, keys[i]);
        if (row)
            shown.cells[i] = frame_cell(frame, row, column_of(TABLE_PORTS, "rx_pps"));
    }
    frame_free(frame);
    return shown;
}

static bool same_cells(const struct shown *a, const struct shown *b)
{
    for (int i = 0; i < 4; i++)
        if (a->cells[i].kind != b->cells[i].kind || a->cells[i].u64 != b->cells[i].u64 ||
            a->cells[i].stale != b->cells[i].stale)
            return false;
    return true;
}

/*
 * A second feed answers every third tick, sometimes late: between two ticks, or so that its read had ended
 * before a tick that did not have it yet. That tick's frame must not know it afterwards.
 */
static void put_slow(struct history *h, size_t slow, int i)
{
    static const int64_t ended_ns[] = {-2000000, 300000000, -1000};
    struct sample *sample = sample_at(h->inventory, h->now_ns + ended_ns[i % 3]);
    add_port(sample, make_port(h->inventory, "slow:1"), (uint64_t)i * (uint64_t)i);
    store_put(h->store, slow, sample);
}

static void test_old_frames_are_those_shown(void **state)
{
    (void)state;
    struct history h = history_new(10 * BUDGET);
    size_t slow = store_add_feed(h.store, "slow");
    store_set_stale(h.store, slow, 2 * SECOND);
    struct shown *shown = calloc(3000, sizeof(*shown));
    srand(4);
    for (int i = 0; i < 3000; i++) {
        h.now_ns += SECOND;
        h.packets += (uint64_t)rand() % 1000;
        put_ports(&h, i % 50 < 25 ? N_PORTS : 6); /* port:7 comes and goes */
        if (i % 9 == 0)
            put_slow(&h, slow, 0);
        store_tick(h.store, h.now_ns, h.now_ns);
        shown[i] = look(h.store, store_moments(h.store) - 1);
        if (i % 9 != 0 && i % 3 == 0)
            put_slow(&h, slow, i / 3);
    }
    size_t compared = 0;
    for (size_t m = 1; m < store_moments(h.store); m++) {
        struct shown now = look(h.store, m);
        const struct shown *then = &shown[(now.t_ns - 100 * SECOND) / SECOND - 1];
        assert_int_equal(then->t_ns, now.t_ns);
        /* Where the moments before it were thinned out, its intervals are longer ones. */
        if (m < 12 || store_moment_ns(h.store, m - 12) != now.t_ns - 12 * SECOND)
            continue;
        assert_true(same_cells(then, &now));
        compared++;
    }
    if (compared <= 60)
        fail_msg("only %zu", compared);
    free(shown);
    history_free(&h);
}

static void test_series_is_that_of_the_frames(void **state)
{
    (void)state;
    struct history h = history_new(BUDGET);
    for (int i = 0; i < 500; i++)
        tick(&h, SECOND, (uint64_t)i % 17);
    static struct point points[500];
    const struct column *column = column_of(TABLE_PORTS, "rx_pps");
    size_t last = store_moments(h.store) - 3;
    size_t n = store_series(h.store, TABLE_PORTS, "port:4", column, last, 500, points);
    assert_int_equal(n, last + 1);
    for (size_t i = 0; i < n; i++) {
        struct frame *frame = store_frame(h.store, i);
        struct cell cell = port_cell(frame, "port:4", "rx_pps");
        assert_int_equal(points[i].t_ns, store_moment_ns(h.store, i));
        assert_int_equal(points[i].cell.kind, cell.kind);
        assert_true(points[i].cell.u64 == cell.u64);
        frame_free(frame);
    }
    struct point few[3];
    assert_int_equal(store_series(h.store, TABLE_PORTS, "port:4", column, last, 3, few), 3);
    assert_memory_equal(&few[2], &points[last], sizeof(few[2]));
    assert_int_equal(store_series(h.store, TABLE_PORTS, "port:4", column, last + 99, 3, few), 0);
    assert_int_equal(store_series(h.store, TABLE_PORTS, "port:4", column, last, 0, few), 0);
    history_free(&h);
}

/* A row that was there, vanished, and came back: a gap, and no rate across it. */
static void test_series_of_a_vanished_row(void **state)
{
    (void)state;
    struct history h = history_new(BUDGET);
    for (int i = 0; i < 9; i++) {
        h.now_ns += SECOND;
        h.packets += 10;
        put_ports(&h, i / 3 == 1 ? 1 : N_PORTS);
        store_tick(h.store, h.now_ns, h.now_ns);
    }
    static const enum cell_kind expected[] = {CELL_NEW,  CELL_F64, CELL_F64, CELL_NONE, CELL_NONE,
                                              CELL_NONE, CELL_NEW, CELL_F64, CELL_F64};
    struct point points[9];
    const struct column *column = column_of(TABLE_PORTS, "rx_pps");
    assert_int_equal(store_series(h.store, TABLE_PORTS, "port:1", column, 8, 9, points), 9);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(points[i].cell.kind, expected[i]);
        if (expected[i] == CELL_F64)
            expect_number(points[i].cell, 20);
    }
    assert_int_equal(store_series(h.store, TABLE_PORTS, "port:none", column, 8, 9, points), 9);
    expect_kind(points[4].cell, CELL_NONE);
    history_free(&h);
}

/* A source that hangs: its last sample stays as long as the history, and is stale. */
static void test_hung_feed_stays(void **state)
{
    (void)state;
    struct history h = history_new(BUDGET);
    size_t hung = store_add_feed(h.store, "hung");
    store_set_stale(h.store, hung, 2 * SECOND);
    struct sample *sample = sample_at(h.inventory, h.now_ns);
    add_port(sample, make_port(h.inventory, "hung:1"), 42);
    store_put(h.store, hung, sample);
    for (int i = 0; i < 3000; i++)
        tick(&h, SECOND, 1);
    struct frame *frame = last_frame(h.store);
    struct cell cell = port_cell(frame, "hung:1", "rx_packets");
    assert_int_equal(cell.u64, 42);
    assert_true(cell.stale);
    assert_false(port_cell(frame, "port:1", "rx_packets").stale);
    frame_free(frame);
    history_free(&h);
}

/* Samples between two ticks: the newest counts, the others lie before it. */
static void test_several_samples_in_a_tick(void **state)
{
    (void)state;
    struct history h = history_new(BUDGET);
    tick(&h, SECOND, 10);
    for (int i = 0; i < 3; i++) {
        h.now_ns += SECOND;
        h.packets += 10;
        put_ports(&h, N_PORTS);
    }
    store_tick(h.store, h.now_ns, h.now_ns);
    struct frame *frame = last_frame(h.store);
    expect_number(port_cell(frame, "port:0", "rx_pps"), 10);
    expect_number(port_cell(frame, "port:0", "rx_packets"), 40);
    frame_free(frame);
    history_free(&h);
}

/* Frames hold what they show: the store may thin it out, or be gone. */
static void test_frame_outlives_the_store(void **state)
{
    (void)state;
    struct history h = history_new(1);
    tick(&h, SECOND, 10);
    tick(&h, SECOND, 10);
    struct frame *frame = last_frame(h.store);
    for (int i = 0; i < 50; i++)
        tick(&h, SECOND, 1);
    history_free(&h);
    expect_number(port_cell(frame, "port:0", "rx_pps"), 10);
    assert_string_equal(port_cell(frame, "port:0", "name").str, "port:0");
    frame_free(frame);
}

/* A day of ticks: neither memory nor the work of a tick grows. The budget is not what bounds it here. */
static void test_100000_ticks(void **state)
{
    (void)state;
    struct history h = history_new(SIZE_MAX);
    uint64_t cpu_ns[2] = {0};
    size_t most_moments = 0, most_bytes = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t start_ns = clock_thread_cpu_ns();
        struct sample *sample = sample_at(h.inventory, h.now_ns += SECOND);
        add_port(sample, h.ports[0], (uint64_t)i);
        store_put(h.store, h.feed, sample);
        store_tick(h.store, h.now_ns, h.now_ns);
        cpu_ns[i >= 50000] += clock_thread_cpu_ns() - start_ns;
        most_moments = store_moments(h.store) > most_moments ? store_moments(h.store) : most_moments;
        if (i % 100 == 0)
            most_bytes = store_bytes(h.store) > most_bytes ? store_bytes(h.store) : most_bytes;
    }
    assert_true(most_moments <= 7200);
    assert_true(most_bytes < 7200 * 20000);
    assert_int_equal(store_moment_ns(h.store, 0), 101 * SECOND);
    /* A tick that walks the whole history takes some hundred microseconds, and this minutes. */
    assert_true(cpu_ns[0] + cpu_ns[1] < UINT64_C(10) * 1000000000);
    assert_true(cpu_ns[1] < 5 * cpu_ns[0] + 100000000);
    history_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_newest_frame),
        cmocka_unit_test(test_budget_is_kept),
        cmocka_unit_test(test_budget_too_small),
        cmocka_unit_test(test_newest_stay_at_full_resolution),
        cmocka_unit_test(test_thinned_means_are_exact),
        cmocka_unit_test(test_old_frames_are_those_shown),
        cmocka_unit_test(test_series_is_that_of_the_frames),
        cmocka_unit_test(test_series_of_a_vanished_row),
        cmocka_unit_test(test_hung_feed_stays),
        cmocka_unit_test(test_several_samples_in_a_tick),
        cmocka_unit_test(test_frame_outlives_the_store),
        cmocka_unit_test(test_100000_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
