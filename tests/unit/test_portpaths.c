/* SPDX-License-Identifier: MIT */
/*
 * Paths of ports without a guest: NICs and veths, never a guest's tap or an ethdev that OVS tells of; their
 * numbers, their ledgers, and that no rule takes them for a guest's.
 */
#include "unit/hand_frame.h"

#include <stdlib.h>

#include "src/findings.h"
#include "src/join.h"
#include "src/ledger.h"
#include "src/portpaths.h"
#include "src/store.h"
#include "ui/dump.h"
#include "ui/views.h"

#define PATH(port) JOIN_PORT_PATH port

/* A frame of the hand's rows and of the paths made from them. */
struct both {
    struct portpaths *paths;
    struct sample *sample;
    struct frame *frame;
};

static struct both both_of(struct hand *hand)
{
    struct both both = {.paths = portpaths_new()};
    both.sample = portpaths_sample(both.paths, hand_frame(hand), HAND_NS, HAND_NS);
    const struct pair pairs[] = {
        {.feed = "hand", .cur = hand->cur, .prev = hand->prev, .stale_ns = 3 * SECOND},
        {.feed = "paths", .cur = both.sample},
    };
    both.frame = frame_new(pairs, 2, HAND_NS, HAND_NS, 0);
    return both;
}

static void both_free(struct both *both)
{
    frame_free(both->frame);
    sample_unref(both->sample);
    portpaths_free(both->paths);
}

static double number(const struct both *both, const char *path, const char *column)
{
    struct cell cell = cell_of(both->frame, TABLE_PATHS, path, column);
    return cell_is_number(&cell) ? cell_number(&cell) : NAN;
}

static void test_which_ports(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_port(&hand, "dpdk:4242:0", "0", "ethdev", "testpmd/4242", 10, 10);
    hand_port(&hand, "dpdk:4343:1", "1", "ethdev", "ovs-vswitchd/4343", 10, 10);
    PORT_FACT(&hand, "dpdk:4343:1", dpdk_port, UINT64_C(1));
    PORT_FACT(&hand, DPDK0, dpdk_port, UINT64_C(1));
    struct both both = both_of(&hand);
    static const char *const wanted[] = {DPDK0, ETH0, VETH, "dpdk:4242:0"};
    assert_int_equal(both.sample->set[TABLE_PATHS].n, sizeof(wanted) / sizeof(wanted[0]));
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        char key[128];
        snprintf(key, sizeof(key), JOIN_PORT_PATH "%s", wanted[i]);
        const struct frame_row *path = frame_find(both.frame, TABLE_PATHS, key);
        assert_non_null(path);
        assert_string_equal(join_port_of_path(both.frame, path)->key, wanted[i]);
        assert_null(join_path_of_port(both.frame, join_port_of_path(both.frame, path)));
    }
    both_free(&both);
    hand_free(&hand);
}

/* A NIC receives for the host; what a veth sends goes to the other end. */
static void test_their_numbers(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_traffic(&hand, ETH0, 4000, 300);
    hand_traffic(&hand, VETH, 20, 7000);
    PORT_RISE(&hand, ETH0, rx_missed, 1000);
    struct both both = both_of(&hand);
    assert_true(number(&both, PATH(ETH0), "to_guest_pps") == 4000);
    assert_true(number(&both, PATH(ETH0), "from_guest_pps") == 300);
    assert_true(number(&both, PATH(ETH0), "to_guest_loss_pct") == 20);
    assert_true(number(&both, PATH(VETH), "to_guest_pps") == 7000);
    assert_true(number(&both, PATH(VETH), "from_guest_pps") == 20);
    assert_string_equal(cell_of(both.frame, TABLE_PATHS, PATH(VETH), "switch").str, "br0");
    assert_string_equal(cell_of(both.frame, TABLE_PATHS, PATH(VETH), "uplinks").str, "eth0");
    assert_string_equal(cell_of(both.frame, TABLE_PATHS, PATH(ETH0), "to_guest_cause").str, "ring full");
    assert_int_equal(cell_of(both.frame, TABLE_PATHS, PATH(ETH0), "vm").kind, CELL_NONE);
    assert_int_equal(cell_of(both.frame, TABLE_PATHS, PATH(ETH0), "serving").kind, CELL_NONE);
    assert_true(number(&both, NIC1_TAP, "to_guest_pps") == 30000); /* a guest's stay as they are */
    both_free(&both);
    hand_free(&hand);
}

static void expect_names(const struct both *both, const char *port, bool to_guest, const char *names)
{
    struct hop hops[LEDGER_HOPS];
    char found[512] = "";
    const struct frame_row *row = frame_find(both->frame, TABLE_PORTS, port);
    size_t n = ledger_make(both->frame, row, to_guest, hops);
    for (size_t i = 0; i < n; i++) {
        strcat(found, i ? " > " : "");
        strcat(found, hops[i].name);
    }
    assert_string_equal(found, names);
}

/* What comes by a NIC comes from the wire. */
static void test_their_ledgers(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    struct both both = both_of(&hand);
    expect_names(&both, ETH0, true, "wire > eth0 > br0");
    expect_names(&both, ETH0, false, "br0 > eth0 > wire");
    expect_names(&both, VETH, true, "eth0 > br0 > veth0 > other end");
    expect_names(&both, VETH, false, "other end > veth0 > br0 > eth0");
    expect_names(&both, TAP1, true, "eth0 > br0 > tap1 > guest ring");
    both_free(&both);
    hand_free(&hand);
}

static size_t count_findings(const struct frame *frame, const char *rule)
{
    struct finding_list list = {0};
    size_t n = 0;
    findings_look(frame, &list);
    for (size_t i = 0; i < list.n; i++)
        n += strcmp(list.findings[i].rule->id, rule) == 0;
    n = *rule ? n : list.n;
    finding_list_free(&list);
    return n;
}

static void test_they_are_no_guests(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    struct both both = both_of(&hand);
    assert_int_equal(count_findings(both.frame, ""), 0);
    both_free(&both);
    PORT_RISE(&hand, ETH0, rx_dropped, 5000);
    PORT_RISE(&hand, VETH, tx_dropped, 5000);
    both = both_of(&hand);
    assert_int_equal(count_findings(both.frame, "guest-not-draining"), 0);
    assert_int_equal(count_findings(both.frame, "veth-drops"), 1);
    assert_int_equal(count_findings(both.frame, "emulated-nic"), 0);
    both_free(&both);
    hand_free(&hand);
}

/* A history holds hundreds of samples: their texts are there once, until a port comes, goes or is renamed. */
static void test_infos_are_kept(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    struct portpaths *paths = portpaths_new();
    struct sample *first = portpaths_sample(paths, hand_frame(&hand), HAND_NS, 0);
    struct sample *second = portpaths_sample(paths, hand_frame(&hand), HAND_NS + 1, 0);
    assert_ptr_equal(second->inventory, first->inventory);
    assert_int_equal(sample_rows(second), sample_rows(first));
    PORT_FACT(&hand, VETH, name, "renamed");
    struct sample *third = portpaths_sample(paths, hand_frame(&hand), HAND_NS + 2, 0);
    assert_ptr_not_equal(third->inventory, first->inventory);
    hand_port(&hand, "net:1:31", "veth1", "veth", "br0", 1, 1);
    struct sample *fourth = portpaths_sample(paths, hand_frame(&hand), HAND_NS + 3, 0);
    assert_int_equal(sample_rows(fourth), sample_rows(first) + 1);
    struct sample *const samples[] = {first, second, third, fourth};
    for (size_t i = 0; i < 4; i++)
        sample_unref(samples[i]);
    portpaths_free(paths);
    hand_free(&hand);
}

/* --- the first screen --- */

/* It, of the healthy host at that interval, and of its rows the one that holds a name. */
static void draw_overview(struct hand *hand, int64_t interval_ms, const char *name, char *heading, char *row,
                          size_t size)
{
    struct store *store = store_new(1 << 20, 0);
    store_add_feed(store, "hand");
    store_put(store, 0, sample_ref(hand->prev));
    store_tick(store, HAND_NS - SECOND, 0);
    store_put(store, 0, sample_ref(hand->cur));
    store_tick(store, HAND_NS, 0);
    struct frame *frame = store_frame(store, 1);
    const struct view *view = view_find("overview");
    struct table_state state = {0};
    table_state_init(&state, view);
    struct scene scene = {
        .frame = frame, .store = store, .moment = 1, .interval_ms = interval_ms, .state = &state};
    struct canvas *canvas = canvas_new(60, 120, false);
    table_prepare(&state, frame, view->table);
    view->draw(canvas, (struct area){.rows = 60, .cols = 120}, &scene);
    char *text = dump_text_string(canvas);
    snprintf(heading, size, "%.*s", (int)strcspn(text, "\n"), text);
    const char *at = strstr(text, name);
    assert_non_null(at);
    snprintf(row, size, "%.*s", (int)strcspn(at, "\n"), at);
    free(text);
    canvas_free(canvas);
    table_state_free(&state);
    frame_free(frame);
    store_free(store);
}

/* A macvtap counts as its guest does: what it receives goes to it. */
static void test_to_and_from(void **state)
{
    (void)state;
    char heading[512], row[512];
    struct hand hand = hand_healthy();
    draw_overview(&hand, 1000, "macvtap0", heading, row, sizeof(row));
    assert_true(strstr(heading, "TO PPS") < strstr(heading, "FROM PPS"));
    assert_true(strstr(row, "5000") && strstr(row, "6000") && strstr(row, "5000") < strstr(row, "6000"));
    draw_overview(&hand, 1000, "tap1 ", heading, row, sizeof(row));
    assert_true(strstr(row, "30.0k") && strstr(row, "20.0k") && strstr(row, "30.0k") < strstr(row, "20.0k"));
    hand_free(&hand);
}

/* What a spark spans is said: a minute, or as much as its moments are. */
static void test_span_of_sparks(void **state)
{
    (void)state;
    static const struct {
        int64_t interval_ms;
        const char *heading;
    } cases[] = {
        {100, "LAST 24s"}, {200, "LAST 48s"}, {250, "LAST MIN"}, {1000, "LAST MIN"}, {5000, "LAST MIN"}};
    struct hand hand = hand_healthy();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char heading[512], row[512];
        draw_overview(&hand, cases[i].interval_ms, "tap1", heading, row, sizeof(row));
        if (!strstr(heading, cases[i].heading))
            fail_msg("no %s in %s", cases[i].heading, heading);
    }
    hand_free(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_ports),    cmocka_unit_test(test_their_numbers),
        cmocka_unit_test(test_their_ledgers),  cmocka_unit_test(test_they_are_no_guests),
        cmocka_unit_test(test_infos_are_kept), cmocka_unit_test(test_to_and_from),
        cmocka_unit_test(test_span_of_sparks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
