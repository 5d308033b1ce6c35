/* SPDX-License-Identifier: MIT */
/*
 * Frames and derived columns: a rate times its measured interval is the counter's difference, every cell is a
 * value or says why not, and rows find their predecessors whatever happens to their order.
 */
#include "unit/make_sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/clock.h"
#include "src/derive.h"

/* Two samples of one inventory, and the frame made of them. */
struct two {
    struct inventory *inventory;
    struct sample *prev, *cur;
    struct frame *frame;
};

static struct two two_at(int64_t before_ns, int64_t now_ns)
{
    struct inventory *inventory = inventory_new();
    return (struct two){
        .inventory = inventory,
        .prev = sample_at(inventory, before_ns),
        .cur = sample_at(inventory, now_ns),
    };
}

static const struct frame *frame_of(struct two *two)
{
    struct pair pair = {.feed = "netlink", .cur = two->cur, .prev = two->prev, .stale_ns = 3 * SECOND};
    frame_free(two->frame);
    two->frame = frame_new(&pair, 1, two->cur->t1_ns, two->cur->t1_ns, 0);
    return two->frame;
}

static void free_two(struct two *two)
{
    frame_free(two->frame);
    sample_unref(two->prev);
    sample_unref(two->cur);
    inventory_unref(two->inventory);
}

static void row_set_bytes(struct ports_row *row, uint64_t rx_bytes)
{
    row_set(row, rx_bytes, rx_bytes);
}

/* The middle of one read to the middle of the other, however long each took. */
static void test_rate_over_measured_time(void **state)
{
    (void)state;
    struct two two = two_at(0, 0);
    two.prev->t0_ns = 1 * SECOND, two.prev->t1_ns = 1 * SECOND + 10000000;
    two.cur->t0_ns = 2 * SECOND, two.cur->t1_ns = 2 * SECOND + 30000000;
    const struct ports_info *info = make_port(two.inventory, "net:1");
    add_port(two.prev, info, 500);
    row_set_bytes(add_port(two.cur, info, 1510), 64640);
    row_set_bytes((struct ports_row *)sample_row_at(two.prev, TABLE_PORTS, 0), 0);
    const struct frame *frame = frame_of(&two);
    expect_number(port_cell(frame, "net:1", "rx_pps"), 1000);
    expect_number(port_cell(frame, "net:1", "rx_bps"), 512000);
    expect_number(port_cell(frame, "net:1", "rx_packet_bytes"), 64);
    const struct frame_row *row = frame_find(frame, TABLE_PORTS, "net:1");
    assert_true(part_interval_s(&row->part) == 1.01);
    assert_true(part_age_s(frame, &row->part) == 0.015);
    free_two(&two);
}

static void test_row_times_come_before_the_samples(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    const struct ports_info *info = make_port(two.inventory, "net:1");
    add_port(two.prev, info, 0)->head.t_ns = SECOND / 2;
    add_port(two.cur, info, 1000)->head.t_ns = SECOND * 5 / 2;
    const struct frame *frame = frame_of(&two);
    expect_number(port_cell(frame, "net:1", "rx_pps"), 500);
    free_two(&two);
}

/* A difference of two numbers is no surer than they are. */
static void test_rates_of_partial_counters_are_partial(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct two two = two_at(1 * SECOND, 2 * SECOND);
        const struct ports_info *info = make_port(two.inventory, "net:1");
        struct ports_row *before = add_port(two.prev, info, 0), *now = add_port(two.cur, info, 1000);
        if (which == 1)
            row_approx(before, rx_packets);
        if (which == 2)
            row_approx(now, rx_packets);
        struct cell rate = port_cell(frame_of(&two), "net:1", "rx_pps");
        expect_number(rate, 1000);
        assert_int_equal(rate.approx, which > 0);
        free_two(&two);
    }
}

/* The row of a set may be made in the call itself. */
static void test_a_set_takes_its_row_once(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    const struct ports_info *info = make_port(two.inventory, "net:1");
    row_set((struct ports_row *)sample_row(two.cur, TABLE_PORTS, info), rx_packets, 7);
    assert_int_equal(two.cur->set[TABLE_PORTS].n, 1);
    assert_true(row_has((const struct ports_row *)sample_row_at(two.cur, TABLE_PORTS, 0), rx_packets));
    free_two(&two);
}

static void test_counters_are_64_bit(void **state)
{
    (void)state;
    static const struct {
        uint64_t before, now;
    } cases[] = {
        {0, UINT64_MAX},
        {UINT64_MAX - 1000, UINT64_MAX},
        {UINT64_C(0xffffffff), UINT64_C(0x100000001)},      /* past 32 bit: no wrap */
        {(UINT64_C(1) << 53) + 1, (UINT64_C(1) << 53) + 4}, /* past what a double tells apart */
        {UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1000003},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct two two = two_at(1 * SECOND, 3 * SECOND);
        const struct ports_info *info = make_port(two.inventory, "net:1");
        add_port(two.prev, info, cases[i].before);
        add_port(two.cur, info, cases[i].now);
        const struct frame *frame = frame_of(&two);
        struct delta delta = ROW_DELTA(frame_find(frame, TABLE_PORTS, "net:1"), struct ports_row, rx_packets);
        assert_int_equal(delta.kind, CELL_U64);
        assert_true(delta.value == cases[i].now - cases[i].before);
        expect_number(port_cell(frame, "net:1", "rx_pps"), (double)(cases[i].now - cases[i].before) / 2);
        assert_true(port_cell(frame, "net:1", "rx_packets").u64 == cases[i].now);
        free_two(&two);
    }
}

static void test_first_sample_is_new(void **state)
{
    (void)state;
    struct inventory *inventory = inventory_new();
    struct sample *only = sample_at(inventory, SECOND);
    add_port(only, make_port(inventory, "net:1"), 7);
    struct pair pair = {.feed = "netlink", .cur = only};
    struct frame *frame = frame_new(&pair, 1, SECOND, SECOND, 0);
    expect_kind(port_cell(frame, "net:1", "rx_pps"), CELL_NEW);
    expect_kind(port_cell(frame, "net:1", "tx_pps"), CELL_NONE);
    expect_number(port_cell(frame, "net:1", "rx_packets"), 7);
    frame_free(frame);
    sample_unref(only);
    inventory_unref(inventory);
}

/* A counter that this sample has and the one before had not: its rate is new, the others' hold. */
static void test_new_counter_of_an_old_row(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    const struct ports_info *info = make_port(two.inventory, "net:1");
    add_port(two.prev, info, 0);
    struct ports_row *row = add_port(two.cur, info, 10);
    row_set(row, tx_packets, UINT64_C(5));
    const struct frame *frame = frame_of(&two);
    expect_kind(port_cell(frame, "net:1", "tx_pps"), CELL_NEW);
    expect_number(port_cell(frame, "net:1", "rx_pps"), 10);
    free_two(&two);
}

/* Two samples with one time, or in the wrong order: no division by zero, no negative rate. */
static void test_no_time_passed_is_new(void **state)
{
    (void)state;
    static const int64_t times[] = {SECOND, SECOND - 1, -SECOND};
    for (size_t i = 0; i < 3; i++) {
        struct two two = two_at(SECOND, times[i]);
        const struct ports_info *info = make_port(two.inventory, "net:1");
        add_port(two.prev, info, 0);
        add_port(two.cur, info, 10);
        expect_kind(port_cell(frame_of(&two), "net:1", "rx_pps"), CELL_NEW);
        free_two(&two);
    }
}

static struct ports_row *fill_port(struct ports_row *row, uint64_t rx, uint64_t tx, uint64_t flaps)
{
    row_set(row, rx_packets, rx);
    row_set(row, tx_packets, tx);
    row_set(row, carrier_changes, flaps);
    row_set(row, ports_rx_packets, flaps);
    return row;
}

static void test_counter_gone_back_resets_the_row(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    const struct ports_info *restarted = make_port(two.inventory, "net:1");
    const struct ports_info *other = make_port(two.inventory, "port:2");
    fill_port(sample_row(two.prev, TABLE_PORTS, restarted), 1000, 10, 0);
    fill_port(sample_row(two.prev, TABLE_PORTS, other), 1000, 10, 0);
    fill_port(sample_row(two.cur, TABLE_PORTS, restarted), 999, 5000000, 0);
    fill_port(sample_row(two.cur, TABLE_PORTS, other), 1001, 10, 0);
    const struct frame *frame = frame_of(&two);
    expect_kind(port_cell(frame, "net:1", "rx_pps"), CELL_RESET);
    expect_kind(port_cell(frame, "net:1", "tx_pps"), CELL_RESET); /* it rose, and would be a spike */
    expect_number(port_cell(frame, "net:1", "rx_packets"), 999);
    expect_number(port_cell(frame, "port:2", "rx_pps"), 1);
    expect_number(port_cell(frame, "port:2", "tx_pps"), 0);
    free_two(&two);
}

/* A bridge's sum falls when a port leaves it: its own counters tell the truth all the same. */
static void test_alone_column_falls_alone(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    const struct ports_info *info = make_port(two.inventory, "net:1");
    fill_port(sample_row(two.prev, TABLE_PORTS, info), 1000, 10, 7);
    fill_port(sample_row(two.cur, TABLE_PORTS, info), 1100, 20, 3);
    const struct frame *frame = frame_of(&two);
    expect_number(port_cell(frame, "net:1", "rx_pps"), 100);
    expect_number(port_cell(frame, "net:1", "tx_pps"), 10);
    expect_kind(port_cell(frame, "net:1", "ports_rx_pps"), CELL_RESET);
    free_two(&two);
}

/* A gauge may fall as it likes. */
static void test_gauge_falls(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    const struct ports_info *info = make_port(two.inventory, "net:1");
    struct ports_row *before = add_port(two.prev, info, 1), *now = add_port(two.cur, info, 2);
    row_set(before, qdisc_qlen, UINT64_C(100));
    row_set(now, qdisc_qlen, UINT64_C(1));
    const struct frame *frame = frame_of(&two);
    expect_number(port_cell(frame, "net:1", "rx_pps"), 1);
    expect_number(port_cell(frame, "net:1", "qdisc_qlen"), 1);
    free_two(&two);
}

/* There, gone, there again with a smaller counter: gone while it is gone, then new, then a rate. */
static void test_row_vanishes_and_returns(void **state)
{
    (void)state;
    struct inventory *inventory = inventory_new();
    const struct ports_info *info = make_port(inventory, "net:1"), *stays = make_port(inventory, "port:2");
    static const int64_t counts[] = {1000, -1, 10, 30};
    static const enum cell_kind expected[] = {CELL_NEW, CELL_NONE, CELL_NEW, CELL_F64};
    struct sample *before = NULL;
    for (int i = 0; i < 4; i++) {
        struct sample *sample = sample_at(inventory, (i + 1) * SECOND);
        if (counts[i] >= 0)
            add_port(sample, info, (uint64_t)counts[i]);
        add_port(sample, stays, (uint64_t)i * 5);
        struct pair pair = {.feed = "netlink", .cur = sample, .prev = before};
        struct frame *frame = frame_new(&pair, 1, (i + 1) * SECOND, 0, 0);
        if (counts[i] < 0)
            assert_null(frame_find(frame, TABLE_PORTS, "net:1"));
        else
            expect_kind(port_cell(frame, "net:1", "rx_pps"), expected[i]);
        if (i > 0)
            expect_number(port_cell(frame, "port:2", "rx_pps"), 5);
        if (i == 3)
            expect_number(port_cell(frame, "net:1", "rx_pps"), 20);
        frame_free(frame);
        sample_unref(before);
        before = sample;
    }
    sample_unref(before);
    inventory_unref(inventory);
}

/*
 * Rows in another order, with new ones first, between and last, old ones gone, and another inventory (other
 * pointers, the same keys): row i counts i + 1 a second.
 */
static void expect_own_rates(const char *const *before, const char *const *now)
{
    struct inventory *old = inventory_new(), *fresh = inventory_new();
    struct sample *prev = sample_at(old, SECOND), *cur = sample_at(fresh, 2 * SECOND);
    for (size_t i = 0; before[i]; i++)
        add_port(prev, make_port(old, before[i]), hash_text(before[i]) >> 32);
    for (size_t i = 0; now[i]; i++)
        add_port(cur, make_port(fresh, now[i]), (hash_text(now[i]) >> 32) + (uint64_t)now[i][0]);
    struct pair pair = {.feed = "netlink", .cur = cur, .prev = prev};
    struct frame *frame = frame_new(&pair, 1, 2 * SECOND, 0, 0);
    for (size_t i = 0; now[i]; i++) {
        bool was = false;
        for (size_t k = 0; before[k]; k++)
            was = was || strcmp(before[k], now[i]) == 0;
        struct cell cell = port_cell(frame, now[i], "rx_pps");
        if (was)
            expect_number(cell, now[i][0]);
        else
            expect_kind(cell, CELL_NEW);
        assert_string_equal(frame->table[TABLE_PORTS].rows[i].key, now[i]); /* the sample's order */
    }
    frame_free(frame);
    sample_unref(prev);
    sample_unref(cur);
    inventory_unref(old);
    inventory_unref(fresh);
}

static void test_rows_find_their_predecessor(void **state)
{
    (void)state;
    static const char *const cases[][2][9] = {
        {{"a", "b", "c", "d"}, {"a", "b", "c", "d"}},
        {{"a", "b", "c", "d"}, {"d", "c", "b", "a"}},
        {{"a", "b", "c", "d"}, {"x", "a", "b", "c", "d"}},
        {{"a", "b", "c", "d"}, {"x", "y", "z", "a", "b", "c", "d"}},
        {{"a", "b", "c", "d"}, {"a", "x", "b", "y", "c", "z", "d"}},
        {{"a", "b", "c", "d"}, {"a", "b", "c", "d", "x"}},
        {{"a", "b", "c", "d"}, {"c", "d"}},
        {{"a", "b", "c", "d"}, {"x", "d", "y", "b"}},
        {{"a", "b", "c", "d"}, {"x", "y"}},
        {{NULL}, {"x", "y"}},
        {{"a"}, {NULL}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_own_rates(cases[i][0], cases[i][1]);
}

/* Many rows in another order are looked up, not searched for: that took minutes. */
static void test_many_rows_in_another_order(void **state)
{
    (void)state;
    enum { N = 50000 };
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    for (int i = 0; i < N; i++) {
        char key[16];
        snprintf(key, sizeof(key), "net:%d", i);
        add_port(two.prev, make_port(two.inventory, key), 0);
    }
    for (int i = 0; i < N; i++) {
        const struct info_head *info = sample_row_at(two.prev, TABLE_PORTS, (size_t)i * 7919 % N)->info;
        add_port(two.cur, (const struct ports_info *)info, (uint64_t)i);
    }
    uint64_t cpu_ns = clock_thread_cpu_ns();
    const struct frame *frame = frame_of(&two);
    assert_true(clock_thread_cpu_ns() - cpu_ns < 2 * SECOND);
    for (int i = 0; i < N; i++)
        expect_number(frame_cell(frame, &frame->table[TABLE_PORTS].rows[i], column_of(TABLE_PORTS, "rx_pps")),
                      i);
    free_two(&two);
}

/* The fast and the slow part of one port, each with its own two moments. */
static void test_parts_have_their_own_intervals(void **state)
{
    (void)state;
    struct inventory *fast = inventory_new(), *slow = inventory_new();
    struct sample *f1 = sample_at(fast, 10 * SECOND), *f2 = sample_at(fast, 11 * SECOND);
    struct sample *s1 = sample_at(slow, 2 * SECOND), *s2 = sample_at(slow, 7 * SECOND);
    add_port(f1, make_port(fast, "net:1"), 100);
    add_port(f2, make_port(fast, "net:1"), 200);
    struct ports_info *queues = make_port(slow, "net:1");
    info_set(queues, qdisc, "fq");
    struct ports_row *row = sample_row(s1, TABLE_PORTS, queues);
    row_set(row, qdisc_drops, UINT64_C(1000));
    row = sample_row(s2, TABLE_PORTS, queues);
    row_set(row, qdisc_drops, UINT64_C(2000));
    add_port(s2, make_port(slow, "port:9"), 3); /* known to the slow feed alone */
    struct pair pairs[] = {
        {.feed = "netlink", .cur = f2, .prev = f1, .stale_ns = 2 * SECOND},
        {.feed = "hung", .cur = NULL},
        {.feed = "netlink-queues", .cur = s2, .prev = s1, .stale_ns = 3 * SECOND},
    };
    struct frame *frame = frame_new(pairs, 3, 11 * SECOND, 0, 0);
    assert_int_equal(frame->table[TABLE_PORTS].n, 2);
    expect_number(port_cell(frame, "net:1", "rx_pps"), 100);
    expect_number(port_cell(frame, "net:1", "qdisc_drop_pps"), 200);
    assert_string_equal(port_cell(frame, "net:1", "qdisc").str, "fq");
    assert_false(port_cell(frame, "net:1", "rx_pps").stale);
    assert_false(port_cell(frame, "net:1", "rx_packets").stale);
    assert_true(port_cell(frame, "net:1", "qdisc_drop_pps").stale); /* 4 s old, stale after 3 */
    assert_true(port_cell(frame, "net:1", "qdisc_drops").stale);
    expect_kind(port_cell(frame, "port:9", "rx_pps"), CELL_NEW);
    /* The slow feed is stale, so it has no part in the spread. */
    assert_int_equal(frame_spread_ns(frame), 0);
    frame->now_ns = 10 * SECOND;
    assert_int_equal(frame_spread_ns(frame), 4 * SECOND);
    frame_free(frame);
    sample_unref(f1), sample_unref(f2), sample_unref(s1), sample_unref(s2);
    inventory_unref(fast), inventory_unref(slow);
}

/* A reset of one part leaves the other's rates alone. */
static void test_reset_is_its_parts_own(void **state)
{
    (void)state;
    struct two fast = two_at(1 * SECOND, 2 * SECOND), slow = two_at(1 * SECOND, 2 * SECOND);
    add_port(fast.prev, make_port(fast.inventory, "net:1"), 100);
    add_port(fast.cur, make_port(fast.inventory, "net:1"), 200);
    const struct ports_info *queues = make_port(slow.inventory, "net:1");
    struct ports_row *row = sample_row(slow.prev, TABLE_PORTS, queues);
    row_set(row, qdisc_drops, UINT64_C(1000));
    row = sample_row(slow.cur, TABLE_PORTS, queues);
    row_set(row, qdisc_drops, UINT64_C(0));
    struct pair pairs[] = {{.feed = "a", .cur = fast.cur, .prev = fast.prev},
                           {.feed = "b", .cur = slow.cur, .prev = slow.prev}};
    struct frame *frame = frame_new(pairs, 2, 2 * SECOND, 0, 0);
    expect_number(port_cell(frame, "net:1", "rx_pps"), 100);
    expect_kind(port_cell(frame, "net:1", "qdisc_drop_pps"), CELL_RESET);
    frame_free(frame);
    free_two(&fast);
    free_two(&slow);
}

static void test_not_permitted(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND), slow = two_at(1 * SECOND, 2 * SECOND);
    struct ports_info *info = make_port(two.inventory, "net:1");
    info_deny(info, alias);
    struct ports_row *row = add_port(two.cur, info, 1);
    row_deny(row, tx_packets);
    row = sample_row(slow.cur, TABLE_PORTS, make_port(slow.inventory, "net:1"));
    row_deny(row, qdisc_drops); /* the second part says so */
    struct pair pairs[] = {{.feed = "a", .cur = two.cur}, {.feed = "b", .cur = slow.cur}};
    struct frame *frame = frame_new(pairs, 2, 2 * SECOND, 0, 0);
    expect_kind(port_cell(frame, "net:1", "alias"), CELL_DENIED);
    expect_kind(port_cell(frame, "net:1", "tx_packets"), CELL_DENIED);
    expect_kind(port_cell(frame, "net:1", "tx_pps"), CELL_DENIED);
    expect_kind(port_cell(frame, "net:1", "qdisc_drops"), CELL_DENIED);
    expect_kind(port_cell(frame, "net:1", "qdisc_drop_pps"), CELL_DENIED);
    expect_kind(port_cell(frame, "net:1", "mac"), CELL_NONE);
    frame_free(frame);
    free_two(&two);
    free_two(&slow);
}

static void test_stale_by_age(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    const struct ports_info *info = make_port(two.inventory, "net:1");
    add_port(two.prev, info, 0);
    add_port(two.cur, info, 10);
    struct pair pair = {.feed = "netlink", .cur = two.cur, .prev = two.prev, .stale_ns = 3 * SECOND};
    for (int64_t now = 2 * SECOND; now <= 8 * SECOND; now += 3 * SECOND) {
        struct frame *frame = frame_new(&pair, 1, now, 0, 0);
        struct cell cell = port_cell(frame, "net:1", "rx_pps");
        expect_number(cell, 10); /* the value stays, dimmed */
        assert_int_equal(cell.stale, now > 5 * SECOND);
        assert_int_equal(port_cell(frame, "net:1", "name").stale, now > 5 * SECOND);
        frame_free(frame);
    }
    free_two(&two);
}

/* One interval of a second of a port of that kind; -1 leaves a counter out. */
static struct two port_of_kind(const char *key, const char *kind, int64_t rx, int64_t rx_dropped,
                               int64_t rx_missed)
{
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    struct ports_info *info = make_port(two.inventory, key);
    info_set(info, kind, kind);
    struct ports_row *rows[] = {sample_row(two.prev, TABLE_PORTS, info),
                                sample_row(two.cur, TABLE_PORTS, info)};
    for (int i = 0; i < 2; i++) {
        if (rx >= 0)
            row_set(rows[i], rx_packets, (uint64_t)(i * rx));
        if (rx_dropped >= 0)
            row_set(rows[i], rx_dropped, (uint64_t)(i * rx_dropped));
        if (rx_missed >= 0)
            row_set(rows[i], rx_missed, (uint64_t)(i * rx_missed));
    }
    return two;
}

static void test_loss_by_kind(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        int64_t rx, dropped, missed;
        double drop_pps, loss_pct;
    } cases[] = {
        {"tap", 75, 25, -1, 25, 25},      /* a tap never counted what it dropped */
        {"tun", 75, 25, 0, 25, 25},       /* */
        {"veth", 100, 25, -1, 25, 25},    /* the stack drops what was counted before */
        {"physical", 100, 25, 0, 25, 25}, /* */
        {"physical", 80, 0, 20, 20, 20},  /* a NIC that misses never counted it */
        {"physical", 90, 10, 10, 20, 20}, /* 10 of the 90, and 10 more: 20 of 100 */
        {"veth", 0, 0, -1, 0, 0},         /* nothing came, nothing lost */
        {"tap", 0, 10, -1, 10, 100},      /* */
        {"veth", 10, 40, -1, 40, 80},     /* more than was counted: then it was not counted */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct two two = port_of_kind("net:1", cases[i].kind, cases[i].rx, cases[i].dropped, cases[i].missed);
        const struct frame *frame = frame_of(&two);
        expect_number(port_cell(frame, "net:1", "rx_drop_pps"), cases[i].drop_pps);
        expect_number(port_cell(frame, "net:1", "rx_loss_pct"), cases[i].loss_pct);
        free_two(&two);
    }
}

/* Open vSwitch and DPDK count what they missed among what they dropped: it is lost once. */
static void test_causes_within_the_drops(void **state)
{
    (void)state;
    struct two two = port_of_kind("dpdk:1", "dpdk", 75, 25, 20);
    expect_number(port_cell(frame_of(&two), "dpdk:1", "rx_drop_pps"), 25);
    expect_number(port_cell(two.frame, "dpdk:1", "rx_loss_pct"), 25);
    expect_number(port_cell(two.frame, "dpdk:1", "rx_missed_pps"), 20);
    free_two(&two);
}

/* A sum whose other term is not known yet, or not any more, is a part of the truth. */
static void test_partial_sum_says_so(void **state)
{
    (void)state;
    struct two two = port_of_kind("net:1", "physical", 75, 25, -1);
    struct ports_row *row = (struct ports_row *)sample_row_at(two.cur, TABLE_PORTS, 0);
    assert_false(port_cell(frame_of(&two), "net:1", "rx_drop_pps").approx); /* there is no such counter */
    row_set(row, rx_missed, UINT64_C(5));
    assert_true(port_cell(frame_of(&two), "net:1", "rx_drop_pps").approx);
    assert_true(port_cell(two.frame, "net:1", "rx_loss_pct").approx);
    expect_number(port_cell(two.frame, "net:1", "rx_drop_pps"), 25);
    row = (struct ports_row *)sample_row_at(two.prev, TABLE_PORTS, 0);
    row_set(row, rx_missed, UINT64_C(5));
    assert_false(port_cell(frame_of(&two), "net:1", "rx_drop_pps").approx);
    free_two(&two);
}

static void test_loss_without_counters(void **state)
{
    (void)state;
    struct two two = port_of_kind("net:1", "tap", 10, -1, -1);
    expect_kind(port_cell(frame_of(&two), "net:1", "rx_loss_pct"), CELL_NONE);
    expect_kind(port_cell(two.frame, "net:1", "rx_drop_pps"), CELL_NONE);
    free_two(&two);
    two = port_of_kind("net:1", "tap", -1, 5, -1);
    expect_kind(port_cell(frame_of(&two), "net:1", "rx_loss_pct"), CELL_NONE);
    expect_number(port_cell(two.frame, "net:1", "rx_drop_pps"), 5);
    free_two(&two);
}

/* What a port and its queueing disciplines drop add up, each over the interval of its own reads. */
static void test_tx_loss_of_two_parts(void **state)
{
    (void)state;
    struct two fast = two_at(9 * SECOND, 10 * SECOND), slow = two_at(3 * SECOND, 8 * SECOND);
    struct ports_info *info = make_port(fast.inventory, "net:1");
    info_set(info, kind, "tap");
    for (int i = 0; i < 2; i++) {
        struct ports_row *row = sample_row(i ? fast.cur : fast.prev, TABLE_PORTS, info);
        row_set(row, tx_packets, (uint64_t)(i * 60));
        row_set(row, tx_dropped, (uint64_t)(i * 20));
        row = sample_row(i ? slow.cur : slow.prev, TABLE_PORTS, make_port(slow.inventory, "net:1"));
        row_set(row, qdisc_drops, (uint64_t)(i * 100));
    }
    struct pair pairs[] = {{.feed = "slow", .cur = slow.cur, .prev = slow.prev},
                           {.feed = "fast", .cur = fast.cur, .prev = fast.prev}};
    struct frame *frame = frame_new(pairs, 2, 10 * SECOND, 0, 0);
    expect_number(port_cell(frame, "net:1", "tx_drop_pps"), 40);
    expect_number(port_cell(frame, "net:1", "tx_loss_pct"), 40);
    frame_free(frame);
    free_two(&fast);
    free_two(&slow);
}

/* The kind stands in whichever part knows it, not in the first one only. */
static void test_kind_of_another_part(void **state)
{
    (void)state;
    struct two fast = port_of_kind("net:1", "veth", 100, 25, -1), slow = two_at(1 * SECOND, 2 * SECOND);
    sample_row(slow.cur, TABLE_PORTS, make_port(slow.inventory, "net:1"));
    struct pair pairs[] = {{.feed = "slow", .cur = slow.cur},
                           {.feed = "fast", .cur = fast.cur, .prev = fast.prev}};
    struct frame *frame = frame_new(pairs, 2, 2 * SECOND, 0, 0);
    expect_number(port_cell(frame, "net:1", "rx_loss_pct"), 25);
    frame_free(frame);
    free_two(&fast);
    free_two(&slow);
}

static void test_packet_size_and_utilisation(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 3 * SECOND);
    struct ports_info *info = make_port(two.inventory, "net:1");
    info_set(info, speed_mbps, UINT64_C(10));
    struct ports_info *slow = make_port(two.inventory, "port:2"),
                      *unknown = make_port(two.inventory, "port:3");
    info_set(slow, speed_mbps, UINT64_C(0));
    const struct ports_info *infos[] = {info, slow, unknown};
    for (int i = 0; i < 3; i++) {
        row_set_bytes(add_port(two.prev, infos[i], 0), 0);
        row_set_bytes(add_port(two.cur, infos[i], i == 0 ? 1000 : 0), 1250000);
    }
    const struct frame *frame = frame_of(&two);
    expect_number(port_cell(frame, "net:1", "rx_util_pct"), 50); /* 5 of 10 Mbit/s */
    expect_number(port_cell(frame, "net:1", "rx_packet_bytes"), 1250);
    expect_kind(port_cell(frame, "port:2", "rx_util_pct"), CELL_NONE); /* no speed is not endless use */
    expect_kind(port_cell(frame, "port:3", "rx_util_pct"), CELL_NONE);
    expect_kind(port_cell(frame, "port:2", "rx_packet_bytes"), CELL_NONE); /* of no packet */
    expect_kind(port_cell(frame, "net:1", "tx_util_pct"), CELL_NONE);
    free_two(&two);
}

#define N_TIMES 9
static const char *const time_shares[N_TIMES] = {"user_pct",    "nice_pct",   "system_pct",
                                                 "idle_pct",    "iowait_pct", "irq_pct",
                                                 "softirq_pct", "steal_pct",  "guest_pct"};

static void set_cpu(struct sample *sample, const struct cpus_info *info, const uint64_t ticks[N_TIMES])
{
    struct cpus_row *row = sample_row(sample, TABLE_CPUS, info);
    row_set(row, user_ticks, ticks[0]);
    row_set(row, nice_ticks, ticks[1]);
    row_set(row, system_ticks, ticks[2]);
    row_set(row, idle_ticks, ticks[3]);
    row_set(row, iowait_ticks, ticks[4]);
    row_set(row, irq_ticks, ticks[5]);
    row_set(row, softirq_ticks, ticks[6]);
    row_set(row, steal_ticks, ticks[7]);
    row_set(row, guest_ticks, ticks[8]);
}

static struct two cpu_ticks(const uint64_t before[N_TIMES], const uint64_t now[N_TIMES])
{
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    const struct cpus_info *info = inventory_info(two.inventory, TABLE_CPUS, "cpu:0");
    set_cpu(two.prev, info, before);
    set_cpu(two.cur, info, now);
    return two;
}

static double cpu_share(const struct frame *frame, const char *key)
{
    struct cell cell = cell_of(frame, TABLE_CPUS, "cpu:0", key);
    assert_int_equal(cell.kind, CELL_F64);
    assert_true(cell.f64 >= 0 && cell.f64 <= 100);
    return cell.f64;
}

static void test_cpu_shares(void **state)
{
    (void)state;
    const uint64_t before[N_TIMES] = {0};
    const uint64_t now[N_TIMES] = {20, 0, 10, 30, 10, 5, 15, 4, 6};
    struct two two = cpu_ticks(before, now);
    const struct frame *frame = frame_of(&two);
    for (size_t i = 0; i < N_TIMES; i++)
        assert_true(cpu_share(frame, time_shares[i]) == (double)now[i]);
    assert_true(cpu_share(frame, "busy_pct") == 60);
    free_two(&two);
}

/* Ticks of any size: the shares make up 100, nothing is below 0 by rounding, busy is what is not idle. */
static void test_cpu_shares_sum_to_100(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 2000; round++) {
        uint64_t before[N_TIMES], now[N_TIMES];
        for (size_t i = 0; i < N_TIMES; i++) {
            before[i] = (uint64_t)rand() << (rand() % 30);
            now[i] = before[i] + (uint64_t)(rand() % 3 ? rand() % 1000 : 0);
        }
        if (round % 5 == 0) /* nothing but idle and waiting: busy is 0 */
            for (size_t i = 0; i < N_TIMES; i++)
                now[i] = before[i] + (i == 3 || i == 4 ? (uint64_t)rand() % 100 + 1 : 0);
        now[0] += round % 5 != 0;
        struct two two = cpu_ticks(before, now);
        const struct frame *frame = frame_of(&two);
        double sum = 0;
        for (size_t i = 0; i < N_TIMES; i++)
            sum += cpu_share(frame, time_shares[i]);
        double busy = cpu_share(frame, "busy_pct");
        assert_true(fabs(sum - 100) < 1e-9);
        assert_true(fabs(busy + cpu_share(frame, "idle_pct") + cpu_share(frame, "iowait_pct") - 100) < 1e-9);
        if (round % 5 == 0)
            assert_true(busy == 0);
        free_two(&two);
    }
}

/* The kernel's idle or iowait a tick back: that counter has no share, the others make up 100 without it. */
static void test_idle_goes_back_a_tick(void **state)
{
    (void)state;
    for (size_t back = 3; back <= 4; back++) {
        uint64_t before[N_TIMES] = {100, 0, 100, 100, 100, 0, 0, 0, 0};
        uint64_t now[N_TIMES] = {160, 0, 140, 100, 100, 0, 0, 0, 0};
        now[back]--;
        struct two two = cpu_ticks(before, now);
        const struct frame *frame = frame_of(&two);
        assert_true(cpu_share(frame, "user_pct") == 60);
        assert_true(cpu_share(frame, "system_pct") == 40);
        expect_kind(cell_of(frame, TABLE_CPUS, "cpu:0", time_shares[back]), CELL_RESET);
        if (back == 4)
            assert_true(cpu_share(frame, "busy_pct") == 100);
        else
            expect_kind(cell_of(frame, TABLE_CPUS, "cpu:0", "busy_pct"), CELL_RESET);
        free_two(&two);
    }
}

/* No tick passed: there is no share to tell, and no division by zero. */
static void test_no_tick_passed(void **state)
{
    (void)state;
    const uint64_t same[N_TIMES] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct two two = cpu_ticks(same, same);
    const struct frame *frame = frame_of(&two);
    expect_kind(cell_of(frame, TABLE_CPUS, "cpu:0", "user_pct"), CELL_NONE);
    expect_kind(cell_of(frame, TABLE_CPUS, "cpu:0", "busy_pct"), CELL_NONE);
    free_two(&two);
}

static void test_shares_of_time(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 3 * SECOND);
    const struct host_info *info = inventory_info(two.inventory, TABLE_HOST, "host");
    const struct sources_info *source = inventory_info(two.inventory, TABLE_SOURCES, "source:a");
    for (int i = 0; i < 2; i++) {
        struct host_row *row = sample_row(i ? two.cur : two.prev, TABLE_HOST, info);
        row_set(row, psi_cpu_some_us, (uint64_t)i * 500000);
        struct sources_row *own = sample_row(i ? two.cur : two.prev, TABLE_SOURCES, source);
        row_set(own, cpu_ns, (uint64_t)i * 20000000);
    }
    const struct frame *frame = frame_of(&two);
    expect_number(cell_of(frame, TABLE_HOST, "host", "psi_cpu_pct"), 25);
    expect_number(cell_of(frame, TABLE_SOURCES, "source:a", "cost_pct"), 1);
    free_two(&two);
}

/* Two keys with one hash stay two rows. */
static void test_equal_hashes(void **state)
{
    (void)state;
    struct two two = two_at(1 * SECOND, 2 * SECOND);
    struct ports_info *a = make_port(two.inventory, "port:a"), *b = make_port(two.inventory, "port:b");
    b->head.hash = a->head.hash;
    add_port(two.prev, a, 0);
    add_port(two.prev, b, 0);
    add_port(two.cur, b, 2);
    add_port(two.cur, a, 1);
    const struct frame *frame = frame_of(&two);
    assert_int_equal(frame->table[TABLE_PORTS].n, 2);
    expect_number(port_cell(frame, "port:a", "rx_pps"), 1);
    expect_number(frame_cell(frame, &frame->table[TABLE_PORTS].rows[0], column_of(TABLE_PORTS, "rx_pps")), 2);
    free_two(&two);
}

static void test_empty_frames(void **state)
{
    (void)state;
    struct frame *frame = frame_new(NULL, 0, SECOND, 0, 0);
    assert_null(frame_find(frame, TABLE_PORTS, "net:1"));
    assert_int_equal(frame_spread_ns(frame), 0);
    frame_free(frame);
    struct pair nothing = {.feed = "none"};
    frame = frame_new(&nothing, 1, SECOND, 0, 0);
    assert_int_equal(frame->n_pairs, 0);
    assert_null(frame_find(frame, TABLE_CPUS, ""));
    frame_free(frame);
    frame_free(NULL);
}

/* One row made alone is the row that a frame has. */
static void test_row_alone_equals_the_frames(void **state)
{
    (void)state;
    struct two fast = two_at(1 * SECOND, 2 * SECOND), slow = two_at(0, 2 * SECOND);
    for (int i = 0; i < 50; i++) {
        char key[16];
        snprintf(key, sizeof(key), "port:%d", i);
        add_port(fast.prev, make_port(fast.inventory, key), 0);
        snprintf(key, sizeof(key), "port:%d", 49 - i);
        add_port(fast.cur, make_port(fast.inventory, key), 100 - (uint64_t)i);
        struct ports_row *row = sample_row(slow.prev, TABLE_PORTS, make_port(slow.inventory, key));
        row_set(row, qdisc_drops, UINT64_C(0));
        row = sample_row(slow.cur, TABLE_PORTS, make_port(slow.inventory, key));
        row_set(row, qdisc_drops, (uint64_t)i * 2);
    }
    struct pair pairs[] = {{.feed = "fast", .cur = fast.cur, .prev = fast.prev},
                           {.feed = "none"},
                           {.feed = "slow", .cur = slow.cur, .prev = slow.prev}};
    struct frame *frame = frame_new(pairs, 3, 2 * SECOND, 0, 0);
    const struct table *table = table_get(TABLE_PORTS);
    struct slot_bits telling = frame_telling(TABLE_PORTS);
    struct part parts[MAX_PARTS];
    struct frame_row alone;
    struct frame bare = {.now_ns = 2 * SECOND};
    for (int i = 0; i < 50; i++) {
        char key[16];
        snprintf(key, sizeof(key), "port:%d", i * 7 % 50);
        size_t n = 0;
        for (const struct part *part = &frame_find(frame, TABLE_PORTS, key)->part; part; part = part->next)
            parts[n++] =
                (struct part){.pair = part->pair, .cur = part->cur, .prev = part->prev, .reset = true};
        assert_int_equal(n, 2);
        frame_row_alone(parts, n, &telling, &alone);
        assert_string_equal(alone.key, key);
        for (size_t c = 0; c < table->n_columns; c++) {
            struct cell a = frame_cell(&bare, &alone, &table->columns[c]);
            struct cell b = port_cell(frame, key, table->columns[c].key);
            assert_int_equal(a.kind, b.kind);
            assert_memory_equal(&a.u64, &b.u64, 8);
        }
    }
    frame_free(frame);
    free_two(&fast);
    free_two(&slow);
}

/*
 * Random rows over random times, some gone, some new, some back: a rate is there exactly when both reads have
 * the counter and it did not fall, rate times interval is the difference, and nothing is negative or NaN.
 */
static uint64_t random_u64(void)
{
    return (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();
}

static void add_random(struct sample *sample, struct inventory *inventory, int number, uint64_t base)
{
    char key[16];
    snprintf(key, sizeof(key), "port:%d", number);
    struct ports_row *row = sample_row(sample, TABLE_PORTS, make_port(inventory, key));
    row_set(row, rx_packets, base + (random_u64() >> (rand() % 64)) / 2);
    if (rand() % 4)
        row_set(row, rx_bytes, base + (random_u64() >> (rand() % 64)) / 2);
    if (rand() % 4)
        row_set(row, rx_dropped, base / 2 + (random_u64() >> (rand() % 64)) / 4);
    if (rand() % 4)
        row_set(row, rx_missed, base / 4);
    if (rand() % 8 == 0)
        row->head.t_ns = sample->t0_ns + rand() % 1000;
}

static void check_row(const struct frame *frame, const struct frame_row *row)
{
    const struct table *table = table_get(TABLE_PORTS);
    for (size_t c = 0; c < table->n_columns; c++) {
        struct cell cell = frame_cell(frame, row, &table->columns[c]);
        if (cell.kind == CELL_F64)
            assert_true(isfinite(cell.f64) && cell.f64 >= 0);
    }
    const struct ports_row *cur = (const struct ports_row *)row->part.cur;
    const struct ports_row *prev = (const struct ports_row *)row->part.prev;
    struct cell rate = frame_cell(frame, row, column_of(TABLE_PORTS, "rx_pps"));
    bool fell =
        prev &&
        (prev->rx_packets > cur->rx_packets ||
         (row_has(prev, rx_bytes) && row_has(cur, rx_bytes) && prev->rx_bytes > cur->rx_bytes) ||
         (row_has(prev, rx_dropped) && row_has(cur, rx_dropped) && prev->rx_dropped > cur->rx_dropped) ||
         (row_has(prev, rx_missed) && row_has(cur, rx_missed) && prev->rx_missed > cur->rx_missed));
    assert_int_equal(rate.kind, !prev ? CELL_NEW : fell ? CELL_RESET : CELL_F64);
    if (rate.kind != CELL_F64)
        return;
    double difference = (double)(cur->rx_packets - prev->rx_packets);
    double product = rate.f64 * part_interval_s(&row->part);
    assert_true(fabs(product - difference) <= difference * 1e-15 * 4);
    /* The count itself comes back to the unit wherever a double can tell units apart. */
    if (difference < (double)(UINT64_C(1) << 50))
        assert_true((uint64_t)llround(product) == cur->rx_packets - prev->rx_packets);
    struct cell loss = frame_cell(frame, row, column_of(TABLE_PORTS, "rx_loss_pct"));
    if (loss.kind == CELL_F64)
        assert_true(loss.f64 <= 100.0000001);
}

static void test_random_samples(void **state)
{
    (void)state;
    srand(20261130);
    for (int round = 0; round < 300; round++) {
        struct two two = two_at(0, 0);
        two.prev->t0_ns = (int64_t)(random_u64() >> 12);
        two.prev->t1_ns = two.prev->t0_ns + rand() % 3000000;
        two.cur->t0_ns = two.prev->t1_ns + 2000 + rand() % 2000000000;
        two.cur->t1_ns = two.cur->t0_ns + rand() % 3000000;
        int n = rand() % 40;
        for (int i = 0; i < n; i++)
            if (rand() % 8)
                add_random(two.prev, two.inventory, i, 0);
        for (int i = 0; i < n + rand() % 4; i++)
            if (rand() % 8)
                add_random(two.cur, two.inventory, rand() % 6 ? i : 1000 + i,
                           rand() % 5 ? UINT64_MAX / 2 : 0);
        const struct frame *frame = frame_of(&two);
        for (size_t i = 0; i < frame->table[TABLE_PORTS].n; i++)
            check_row(frame, &frame->table[TABLE_PORTS].rows[i]);
        free_two(&two);
    }
}

/* Every column is found by its key, in its own table alone. */
static void test_columns_by_key(void **state)
{
    (void)state;
    for (int id = 0; id < TABLES_N; id++) {
        const struct table *table = table_get((enum table_id)id);
        for (size_t i = 0; i < table->n_columns; i++)
            assert_ptr_equal(column_find(table, table->columns[i].key), &table->columns[i]);
        assert_null(column_find(table, ""));
        assert_null(column_find(table, "nosuch"));
        assert_null(column_find(table, "switch_"));
    }
    assert_null(column_find(table_get(TABLE_MARKS), "rx_pps"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_over_measured_time),
        cmocka_unit_test(test_row_times_come_before_the_samples),
        cmocka_unit_test(test_rates_of_partial_counters_are_partial),
        cmocka_unit_test(test_a_set_takes_its_row_once),
        cmocka_unit_test(test_counters_are_64_bit),
        cmocka_unit_test(test_first_sample_is_new),
        cmocka_unit_test(test_new_counter_of_an_old_row),
        cmocka_unit_test(test_no_time_passed_is_new),
        cmocka_unit_test(test_counter_gone_back_resets_the_row),
        cmocka_unit_test(test_alone_column_falls_alone),
        cmocka_unit_test(test_gauge_falls),
        cmocka_unit_test(test_row_vanishes_and_returns),
        cmocka_unit_test(test_rows_find_their_predecessor),
        cmocka_unit_test(test_many_rows_in_another_order),
        cmocka_unit_test(test_parts_have_their_own_intervals),
        cmocka_unit_test(test_reset_is_its_parts_own),
        cmocka_unit_test(test_not_permitted),
        cmocka_unit_test(test_stale_by_age),
        cmocka_unit_test(test_loss_by_kind),
        cmocka_unit_test(test_causes_within_the_drops),
        cmocka_unit_test(test_partial_sum_says_so),
        cmocka_unit_test(test_loss_without_counters),
        cmocka_unit_test(test_tx_loss_of_two_parts),
        cmocka_unit_test(test_kind_of_another_part),
        cmocka_unit_test(test_packet_size_and_utilisation),
        cmocka_unit_test(test_cpu_shares),
        cmocka_unit_test(test_cpu_shares_sum_to_100),
        cmocka_unit_test(test_idle_goes_back_a_tick),
        cmocka_unit_test(test_no_tick_passed),
        cmocka_unit_test(test_shares_of_time),
        cmocka_unit_test(test_equal_hashes),
        cmocka_unit_test(test_empty_frames),
        cmocka_unit_test(test_row_alone_equals_the_frames),
        cmocka_unit_test(test_columns_by_key),
        cmocka_unit_test(test_random_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
