/* SPDX-License-Identifier: MIT */
/*
 * Findings in time: a cause must last before it is shown and be gone for a while before it leaves, at every
 * interval; it remembers since when it stands and how bad it was; the costly come first.
 */
#include "unit/hand_frame.h"

#include <stdlib.h>

#include "src/findings.h"

/* A host of one tap, a bridge's port without a VM, that loses lost packets in each frame; and a NIC with
 * carrier changes. Time is the test's. */
struct host {
    struct findings *findings;
    int64_t now_ns;
    uint64_t passed, lost, missed, changes;
    struct sample *result; /* of the last frame */
};

static struct host host_new(void)
{
    return (struct host){.findings = findings_new(), .now_ns = 1000 * SECOND};
}

static void host_free(struct host *host)
{
    sample_unref(host->result);
    findings_free(host->findings);
}

/* The next frame, so long after the one before; per second: lost at the tap, missed by the NIC. */
static void step(struct host *host, double seconds, double lost, double missed, unsigned changes)
{
    struct hand hand = hand_new();
    host->now_ns += (int64_t)(seconds * 1e9);
    hand.prev->t0_ns = hand.prev->t1_ns = host->now_ns - (int64_t)(seconds * 1e9);
    hand.cur->t0_ns = hand.cur->t1_ns = host->now_ns;
    hand_port(&hand, "net:1:9", "tap9", "tap", "br0", 0, (uint64_t)(1000 * seconds));
    hand_port(&hand, "net:1:2", "eth0", "physical", "br0", (uint64_t)(1000 * seconds), 0);
    PORT_RISE(&hand, "net:1:9", tx_dropped, lost * seconds + 0.5);
    PORT_RISE(&hand, "net:1:2", rx_missed, missed * seconds + 0.5);
    PORT_RISE(&hand, "net:1:2", carrier_changes, changes);
    struct pair pair = {.feed = "hand", .cur = hand.cur, .prev = hand.prev};
    struct frame *frame = frame_new(&pair, 1, host->now_ns, host->now_ns, 0);
    sample_unref(host->result);
    host->result = findings_update(host->findings, frame);
    frame_free(frame);
    hand_free(&hand);
}

static size_t shown(const struct host *host)
{
    return host->result->set[TABLE_FINDINGS].n;
}

static const struct findings_row *row_at(const struct host *host, size_t i)
{
    assert_true(i < shown(host));
    return (const struct findings_row *)sample_row_at(host->result, TABLE_FINDINGS, i);
}

static const char *rule_at(const struct host *host, size_t i)
{
    return ((const struct findings_info *)row_at(host, i)->head.info)->rule;
}

/* --- appearing and leaving --- */

static void test_appears_after_two_seconds(void **state)
{
    (void)state;
    struct host host = host_new();
    step(&host, 1, 50, 0, 0);
    assert_int_equal(shown(&host), 0);
    step(&host, 1, 50, 0, 0);
    assert_int_equal(shown(&host), 0);
    step(&host, 1, 50, 0, 0);
    assert_int_equal(shown(&host), 1);
    assert_string_equal(rule_at(&host, 0), "tap-unread");
    assert_true(row_at(&host, 0)->since_s == 2);
    host_free(&host);
}

static void test_leaves_after_three_and_a_half(void **state)
{
    (void)state;
    struct host host = host_new();
    for (int i = 0; i < 5; i++)
        step(&host, 1, 50, 0, 0);
    for (int i = 0; i < 3; i++) {
        step(&host, 1, 0, 0, 0);
        assert_int_equal(shown(&host), 1);
    }
    step(&host, 1, 0, 0, 0);
    assert_int_equal(shown(&host), 0);
    step(&host, 1, 50, 0, 0); /* and begins anew */
    assert_int_equal(shown(&host), 0);
    step(&host, 2, 50, 0, 0);
    assert_int_equal(shown(&host), 1);
    assert_true(row_at(&host, 0)->since_s == 2);
    host_free(&host);
}

static void test_a_spike_is_no_finding(void **state)
{
    (void)state;
    struct host host = host_new();
    for (int i = 0; i < 30; i++) {
        step(&host, 1, i % 5 == 0 ? 5000 : 0, 0, 0);
        assert_int_equal(shown(&host), 0);
    }
    host_free(&host);
}

/* Once shown, a gap of a second or three does not make it flicker. */
static void test_no_flicker(void **state)
{
    (void)state;
    struct host host = host_new();
    for (int i = 0; i < 4; i++)
        step(&host, 1, 50, 0, 0);
    for (int i = 0; i < 40; i++) {
        step(&host, 1, i % 3 == 0 ? 50 : 0, 0, 0);
        assert_int_equal(shown(&host), 1);
    }
    assert_true(row_at(&host, 0)->since_s == 43);
    host_free(&host);
}

static void test_a_tenth_of_a_second(void **state)
{
    (void)state;
    struct host host = host_new();
    int frames = 0;
    do
        step(&host, 0.1, 500, 0, 0);
    while (++frames < 100 && shown(&host) == 0);
    assert_in_range(frames, 19, 21);
    frames = 0;
    do
        step(&host, 0.1, 0, 0, 0);
    while (++frames < 100 && shown(&host) == 1);
    assert_in_range(frames, 35, 36);
    host_free(&host);
}

/* At such an interval bursts leave most frames empty: seen in half of them is enough, in a fifth it is not.
 */
static void test_bursts_at_a_tenth_of_a_second(void **state)
{
    (void)state;
    for (int every = 2; every <= 5; every += 3) {
        struct host host = host_new();
        for (int i = 0; i < 60; i++)
            step(&host, 0.1, i % every == 0 ? 500 : 0, 0, 0);
        assert_int_equal(shown(&host), every == 2);
        host_free(&host);
    }
}

/* Two frames to come, two to go. */
static void test_ten_seconds(void **state)
{
    (void)state;
    struct host host = host_new();
    step(&host, 10, 50, 0, 0);
    assert_int_equal(shown(&host), 0);
    step(&host, 10, 50, 0, 0);
    assert_int_equal(shown(&host), 1);
    step(&host, 10, 0, 0, 0);
    assert_int_equal(shown(&host), 1);
    step(&host, 10, 50, 0, 0);
    assert_int_equal(shown(&host), 1);
    assert_true(row_at(&host, 0)->since_s == 30);
    step(&host, 10, 0, 0, 0);
    step(&host, 10, 0, 0, 0);
    assert_int_equal(shown(&host), 0);
    host_free(&host);
}

static void test_worst_is_kept(void **state)
{
    (void)state;
    struct host host = host_new();
    static const double lost[] = {50, 900, 20, 400, 30};
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
        step(&host, 1, lost[i], 0, 0);
    const struct findings_row *row = row_at(&host, 0);
    assert_true(row->worst == 900 && row->value == 30 && row->cost_pps == 30);
    assert_string_equal(row->unit, "pps");
    for (int i = 0; i < 4; i++) /* gone, and with it its worst */
        step(&host, 1, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        step(&host, 1, 40, 0, 0);
    assert_true(row_at(&host, 0)->worst == 40);
    host_free(&host);
}

/* --- events --- */

/* Four carrier changes in a minute, however far apart; it stays for a minute after the last. */
static void test_events_are_counted(void **state)
{
    (void)state;
    struct host host = host_new();
    step(&host, 1, 0, 0, 2); /* a guest that starts */
    assert_int_equal(shown(&host), 0);
    for (int i = 0; i < 14; i++) {
        step(&host, 1, 0, 0, 0);
        assert_int_equal(shown(&host), 0);
    }
    step(&host, 1, 0, 0, 2);
    assert_int_equal(shown(&host), 1);
    assert_string_equal(rule_at(&host, 0), "carrier-flaps");
    assert_string_equal(row_at(&host, 0)->text, "eth0 loses and finds its carrier: 4 times in 15 s");
    assert_true(row_at(&host, 0)->value == 4 && row_at(&host, 0)->worst == 4);
    for (int i = 0; i < 59; i++)
        step(&host, 1, 0, 0, 0);
    assert_int_equal(shown(&host), 1);
    step(&host, 1, 0, 0, 0);
    assert_int_equal(shown(&host), 0);
    host_free(&host);
}

static void test_few_events_are_forgotten(void **state)
{
    (void)state;
    struct host host = host_new();
    for (int i = 0; i < 10; i++) {
        step(&host, 1, 0, 0, 2);
        step(&host, 61, 0, 0, 0);
        assert_int_equal(shown(&host), 0);
    }
    host_free(&host);
}

/* --- order and rows --- */

static void test_the_costly_come_first(void **state)
{
    (void)state;
    struct host host = host_new();
    for (int i = 0; i < 4; i++)
        step(&host, 1, 500, 700, 0);
    assert_int_equal(shown(&host), 2);
    assert_string_equal(rule_at(&host, 0), "nic-missed");
    assert_string_equal(rule_at(&host, 1), "tap-unread");
    step(&host, 1, 900, 700, 0);
    assert_string_equal(rule_at(&host, 0), "tap-unread");
    step(&host, 1, 900, 5, 0); /* less than a percent: watch, though the other costs more */
    assert_string_equal(row_at(&host, 0)->severity, "bad");
    assert_string_equal(row_at(&host, 1)->severity, "watch");
    host_free(&host);
}

static void test_a_bad_one_comes_before_a_costly_one(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    struct findings *findings = findings_new();
    struct sample *sample = NULL;
    hand_run(&hand, VM1 "/vcpu/0", 60, 35);
    PORT_RISE(&hand, ETH0, rx_missed, 400);
    for (int i = 0; i < 3; i++) {
        struct pair pair = {.feed = "hand", .cur = hand.cur, .prev = hand.prev};
        struct frame *frame = frame_new(&pair, 1, HAND_NS + i * SECOND, HAND_NS, 0);
        sample_unref(sample);
        sample = findings_update(findings, frame);
        frame_free(frame);
    }
    assert_int_equal(sample->set[TABLE_FINDINGS].n, 2);
    const struct findings_row *row = (const struct findings_row *)sample_row_at(sample, TABLE_FINDINGS, 0);
    assert_string_equal(((const struct findings_info *)row->head.info)->rule, "vcpu-steal");
    assert_false(row_has(row, cost_pps));
    sample_unref(sample);
    findings_free(findings);
    hand_free(&hand);
}

/* A frame with findings holds each under a key of its own, and may be asked for cells like any other. */
static void test_rows_of_a_frame(void **state)
{
    (void)state;
    struct host host = host_new();
    for (int i = 0; i < 3; i++)
        step(&host, 1, 500, 700, 0);
    struct pair pair = {.feed = "findings", .cur = host.result};
    struct frame *frame = frame_new(NULL, 0, host.now_ns, host.now_ns, 0);
    frame_append(frame, &pair);
    assert_int_equal(frame->table[TABLE_FINDINGS].n, 2);
    const struct frame_row *row = &frame->table[TABLE_FINDINGS].rows[0];
    struct cell cell = frame_cell(frame, row, column_of(TABLE_FINDINGS, "advice"));
    assert_string_equal(cell.str, "ethtool -g eth0; a longer ring, or more CPU for the one that empties it");
    expect_number(frame_cell(frame, row, column_of(TABLE_FINDINGS, "cost_pps")), 700);
    frame_free(frame);
    host_free(&host);
}

/* Of two hundred taps alike the fifty worst, and the first says how many there are. */
static void test_fifty_of_a_rule(void **state)
{
    (void)state;
    struct hand hand = hand_new();
    struct finding_list list = {0};
    for (unsigned i = 1; i <= 200; i++) {
        char key[32], name[32];
        snprintf(key, sizeof(key), "net:1:%u", i);
        snprintf(name, sizeof(name), "t%u", i);
        hand_port(&hand, key, name, "tap", "br0", 0, 10);
        PORT_RISE(&hand, key, tx_dropped, i * 10);
    }
    findings_look(hand_frame(&hand), &list);
    assert_int_equal(list.n, 50);
    assert_string_equal(list.findings[0].object, "t200");
    assert_string_equal(list.findings[49].object, "t151");
    assert_non_null(strstr(list.findings[0].text, "; 199 more are like it"));
    assert_null(strstr(list.findings[1].text, "more"));
    finding_list_free(&list);
    hand_free(&hand);
}

static void test_nothing_costs_nothing(void **state)
{
    (void)state;
    struct host host = host_new();
    step(&host, 1, 0, 0, 0);
    struct inventory *before = inventory_ref(host.result->inventory);
    step(&host, 1, 0, 0, 0);
    assert_ptr_equal(host.result->inventory, before);
    assert_int_equal(host.result->t1_ns, host.now_ns);
    inventory_unref(before);
    host_free(&host);
}

/* --- texts --- */

static void test_texts_end_whole(void **state)
{
    (void)state;
    struct finding_list list = {0};
    struct finding *f = finding_add(&list, &rules[0], SEVERITY_BAD, 1, NULL);
    for (int i = 0; i < 400; i++)
        finding_say(f, "\u7f51");
    assert_true(strlen(f->text) < sizeof(f->text));
    assert_string_equal(f->text + strlen(f->text) - 3, "...");
    assert_int_equal((strlen(f->text) - 3) % 3, 0); /* cut between two of them */
    char before[sizeof(f->text)];
    strcpy(before, f->text);
    finding_say(f, "more");
    assert_string_equal(f->text, before);
    finding_advise(f, "rm %s", "x");
    assert_string_equal(f->advice, "rm x");
    finding_advise(f, "rm -rf %0500d/x", 0); /* a part of a command is another command */
    assert_string_equal(f->advice, "");
    finding_name(f, "a%d", 1);
    finding_name(f, "b%d", 2);
    assert_string_equal(f->object, "b2");
    finding_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appears_after_two_seconds),
        cmocka_unit_test(test_leaves_after_three_and_a_half),
        cmocka_unit_test(test_a_spike_is_no_finding),
        cmocka_unit_test(test_no_flicker),
        cmocka_unit_test(test_a_tenth_of_a_second),
        cmocka_unit_test(test_bursts_at_a_tenth_of_a_second),
        cmocka_unit_test(test_ten_seconds),
        cmocka_unit_test(test_worst_is_kept),
        cmocka_unit_test(test_events_are_counted),
        cmocka_unit_test(test_few_events_are_forgotten),
        cmocka_unit_test(test_the_costly_come_first),
        cmocka_unit_test(test_a_bad_one_comes_before_a_costly_one),
        cmocka_unit_test(test_rows_of_a_frame),
        cmocka_unit_test(test_fifty_of_a_rule),
        cmocka_unit_test(test_nothing_costs_nothing),
        cmocka_unit_test(test_texts_end_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
