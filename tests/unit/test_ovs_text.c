/* SPDX-License-Identifier: MIT */
/*
 * The parsers of Open vSwitch's texts (ovs_text, ovs_pmd, ovs_dpctl) on replies of real daemons of six
 * releases, whose packet counts are known (tests/fixtures/ovs/README.md), and on hostile text. Run from the
 * project's folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/ovs_dpctl.h"
#include "collectors/ovs_pmd.h"

static const char *const versions[] = {"2.8", "2.9", "2.13", "3.1", "3.5", "4.0"};
enum { N_VERSIONS = sizeof(versions) / sizeof(versions[0]) };

/* An exact-size copy, so that a sanitizer sees a read beyond the end. Empty when the release has no such
 * file. */
static struct ovs_span read_fixture(const char *version, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "tests/fixtures/ovs/%s/%s", version, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return (struct ovs_span){0};
    fseek(file, 0, SEEK_END);
    size_t len = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(len ? len : 1);
    assert_int_equal(fread(text, 1, len, file), len);
    fclose(file);
    return (struct ovs_span){.s = text, .len = len};
}

static void drop(struct ovs_span text)
{
    free((char *)text.s);
}

static uint64_t counter(const struct ovs_pmd *pmd, enum ovs_pmd_counter which)
{
    uint64_t value = UINT64_MAX;
    assert_true(ovs_pmd_get(pmd, which, &value));
    return value;
}

static bool has(const struct ovs_pmd *pmd, enum ovs_pmd_counter which)
{
    uint64_t value;
    return ovs_pmd_get(pmd, which, &value);
}

/* ---- numbers and lines ---- */

static void test_numbers_are_strict(void **state)
{
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"99999999999999999999999999999999", false, 0},
        {"", false, 0},
        {"?", false, 0},
        {"-1", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"12abc", false, 0},
        {"1e9", false, 0},
        {"1.5", false, 0},
        {"7 (99%)", true, 7},
        {"7(99%)", true, 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ovs_span span = ovs_span_of(cases[i].text);
        uint64_t value = 0;
        assert_int_equal(ovs_take_u64(&span, &value), cases[i].good);
        assert_int_equal(value, cases[i].value);
    }
}

static void test_decimals_are_strict(void **state)
{
    static const char *const bad[] = {"-nan", "nan", "inf", "1e3", "1.", ".5", "1.2.3", "", "--1", "0x10"};
    struct ovs_span span = ovs_span_of("-12.25 %");
    double value = 0;

    (void)state;
    assert_true(ovs_take_decimal(&span, &value));
    assert_true(value == -12.25);
    assert_true(ovs_span_is(span, " %"));
    span = ovs_span_of("1.0000000000000000000000000000000000000000001");
    assert_true(ovs_take_decimal(&span, &value));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        span = ovs_span_of(bad[i]);
        assert_false(ovs_take_decimal(&span, &value));
    }
}

/* ---- pmd-stats-show, pmd-perf-show ---- */

/* What every release must agree on after the known packets of situation 02. */
static void check_known_packets(const struct ovs_pmd *pmd, uint64_t packets, uint64_t upcalls)
{
    uint64_t hits = counter(pmd, OVS_PMD_EMC) + counter(pmd, OVS_PMD_MEGAFLOW);

    hits += has(pmd, OVS_PMD_SMC) ? counter(pmd, OVS_PMD_SMC) : 0;
    hits += has(pmd, OVS_PMD_SIMPLE) ? counter(pmd, OVS_PMD_SIMPLE) : 0;
    assert_int_equal(counter(pmd, OVS_PMD_PASSES), packets);
    assert_int_equal(counter(pmd, OVS_PMD_UPCALLS), upcalls);
    assert_int_equal(counter(pmd, OVS_PMD_LOST), 0);
    assert_int_equal(hits + upcalls, packets);
}

static void test_stats_of_all_releases(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovs_pmd_list list = {0};
        struct ovs_span text = read_fixture(versions[v], "02/pmd-stats-show.txt");
        ovs_pmd_parse(&list, text);
        assert_int_equal(list.n, 3);
        check_known_packets(&list.items[0], 450, 2);
        check_known_packets(&list.items[1], 100, 1);
        check_known_packets(&list.items[2], 20, 1);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(list.items[i].id.main_thread, i == 2);
            assert_int_equal(list.items[i].id.core_id, i == 2 ? -1 : (int)i);
            assert_int_equal(list.items[i].id.numa_id, i == 2 ? -1 : 0);
            assert_int_equal(has(&list.items[i], OVS_PMD_RX_PACKETS), v > 0);
        }
        drop(text);
        ovs_pmd_free(&list);
    }
}

/* Cycle counts as they stand in the files (core 0), digit for digit. */
static void test_cycles_are_exact(void **state)
{
    static const struct {
        const char *version;
        uint64_t idle, busy;
    } cases[] = {
        {"2.8", 3522967006, 7316556},  {"2.9", 3159982150, 92567514}, {"2.13", 3325427598, 53000038},
        {"3.1", 3258967010, 57795062}, {"3.5", 3406140309, 55809598},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ovs_pmd_list list = {0};
        struct ovs_span text = read_fixture(cases[i].version, "02/pmd-stats-show.txt");
        double cycles, error;
        ovs_pmd_parse(&list, text);
        assert_int_equal(counter(&list.items[0], OVS_PMD_IDLE_CYCLES), cases[i].idle);
        assert_int_equal(counter(&list.items[0], OVS_PMD_BUSY_CYCLES), cases[i].busy);
        assert_int_equal(counter(&list.items[0], OVS_PMD_USED_CYCLES), cases[i].idle + cases[i].busy);
        assert_true(ovs_pmd_busy_cycles(&list.items[0], &cycles, &error));
        assert_true(cycles == (double)cases[i].busy);
        assert_true(error == 0);
        /* the main thread polls no queue of its own: cycle lines in 2.8 only */
        assert_int_equal(has(&list.items[2], OVS_PMD_BUSY_CYCLES), i == 0);
        drop(text);
        ovs_pmd_free(&list);
    }
}

/* Both commands, asked one after the other without traffic between, must tell the same. */
static void test_perf_agrees_with_stats(void **state)
{
    static const char *const both[] = {"2.13", "3.1", "3.5"};

    (void)state;
    for (size_t v = 0; v < 3; v++) {
        struct ovs_pmd_list stats = {0}, perf = {0};
        struct ovs_span a = read_fixture(both[v], "02/pmd-stats-show.txt");
        struct ovs_span b = read_fixture(both[v], "02/pmd-perf-show.txt");
        ovs_pmd_parse(&stats, a);
        ovs_pmd_parse(&perf, b);
        assert_int_equal(perf.n, 2);
        for (size_t i = 0; i < 2; i++) {
            double exact, estimate, error;
            for (int c = OVS_PMD_RX_PACKETS; c <= OVS_PMD_LOST; c++)
                assert_int_equal(has(&perf.items[i], c), has(&stats.items[i], c));
            for (int c = OVS_PMD_RX_PACKETS; c <= OVS_PMD_LOST; c++)
                if (has(&perf.items[i], c))
                    assert_int_equal(counter(&perf.items[i], c), counter(&stats.items[i], c));
            assert_true(ovs_pmd_busy_cycles(&stats.items[i], &exact, &error));
            assert_true(ovs_pmd_busy_cycles(&perf.items[i], &estimate, &error));
            assert_true(error > 0 && error <= 225);
            assert_true(exact >= estimate - error && exact <= estimate + error);
        }
        drop(a);
        drop(b);
        ovs_pmd_free(&stats);
        ovs_pmd_free(&perf);
    }
}

/* 4.0 answers pmd-stats-show with the other text, and has the main thread in both. */
static void test_branch_4_answers_in_the_other_form(void **state)
{
    struct ovs_pmd_list list = {0};
    struct ovs_span text = read_fixture("4.0", "02/pmd-stats-show.txt");
    double value;

    (void)state;
    ovs_pmd_parse(&list, text);
    assert_int_equal(counter(&list.items[0], OVS_PMD_RX_PACKETS), 450);
    assert_int_equal(counter(&list.items[0], OVS_PMD_USED_CYCLES), 3504944027);
    assert_int_equal(counter(&list.items[0], OVS_PMD_ITERATIONS), 209042);
    assert_int_equal(counter(&list.items[0], OVS_PMD_BUSY_ITERATIONS), 450);
    assert_int_equal(counter(&list.items[0], OVS_PMD_TX_PACKETS), 1800);
    assert_true(ovs_pmd_gauge(&list.items[0], OVS_PMD_BUSY_PCT, &value));
    assert_true(value == 1.1);
    assert_true(ovs_pmd_gauge(&list.items[0], OVS_PMD_CYCLES_PER_PACKET, &value));
    assert_true(value == 82891);
    assert_true(ovs_pmd_gauge(&list.items[2], OVS_PMD_DURATION_S, &value));
    assert_true(value == 1.366);
    assert_true(list.items[2].id.main_thread);
    assert_int_equal(counter(&list.items[2], OVS_PMD_RX_PACKETS), 20);
    assert_false(has(&list.items[2], OVS_PMD_ITERATIONS));
    assert_false(has(&list.items[0], OVS_PMD_MFEX));
    drop(text);
    ovs_pmd_free(&list);
}

/* Finds the block that received so many packets; blocks without a queue have all zero. */
static const struct ovs_pmd *find_block(const struct ovs_pmd_list *list, uint64_t packets)
{
    uint64_t rx;
    for (size_t i = 0; i < list->n; i++)
        if (ovs_pmd_get(&list->items[i], OVS_PMD_RX_PACKETS, &rx) && rx == packets)
            return &list->items[i];
    return NULL;
}

static void test_four_pmds_with_recirculation(void **state)
{
    (void)state;
    for (size_t v = 1; v < N_VERSIONS; v++) {
        struct ovs_pmd_list list = {0};
        struct ovs_span text = read_fixture(versions[v], "10/pmd-stats-show.txt");
        ovs_pmd_parse(&list, text);
        assert_int_equal(list.n, 5);
        assert_int_equal(list.items[0].id.core_id, 0);
        assert_int_equal(counter(&list.items[0], OVS_PMD_RX_PACKETS), 100);
        assert_int_equal(counter(&list.items[1], OVS_PMD_RX_PACKETS), 30);
        const struct ovs_pmd *twice = find_block(&list, 50);
        assert_non_null(twice);
        assert_int_equal(twice->id.numa_id, 1);
        assert_int_equal(counter(twice, OVS_PMD_RECIRC), 50);
        assert_int_equal(counter(twice, OVS_PMD_PASSES), 100);
        const struct ovs_pmd *idle = find_block(&list, 0);
        assert_non_null(idle);
        assert_false(has(idle, OVS_PMD_BUSY_CYCLES));
        drop(text);
        ovs_pmd_free(&list);
    }
}

/* `-nan`, which 2.10 to 3.1 print for a thread without queues, is no value; its neighbours are. */
static void test_nan_is_absent(void **state)
{
    struct ovs_pmd_list list = {0};
    struct ovs_span text = read_fixture("3.1", "10/pmd-perf-show.txt");
    double value;

    (void)state;
    assert_non_null(memmem(text.s, text.len, "-nan", 4));
    ovs_pmd_parse(&list, text);
    const struct ovs_pmd *idle = find_block(&list, 0);
    assert_non_null(idle);
    assert_int_equal(counter(idle, OVS_PMD_ITERATIONS), 0);
    assert_false(ovs_pmd_gauge(idle, OVS_PMD_IDLE_PCT, &value));
    assert_false(ovs_pmd_gauge(idle, OVS_PMD_BUSY_PCT, &value));
    assert_true(ovs_pmd_gauge(idle, OVS_PMD_USED_PCT, &value));
    assert_false(has(idle, OVS_PMD_PASSES));
    drop(text);
    ovs_pmd_free(&list);
}

static void test_sleep_lines_of_perf(void **state)
{
    static const struct {
        const char *version;
        uint64_t iterations, us;
    } cases[] = {{"3.1", 32686, 3072902}, {"3.5", 21682, 3007484}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct ovs_pmd_list list = {0};
        struct ovs_span text = read_fixture(cases[i].version, "11/pmd-perf-show.txt");
        ovs_pmd_parse(&list, text);
        assert_int_equal(counter(&list.items[0], OVS_PMD_SLEEP_ITERATIONS), cases[i].iterations);
        assert_int_equal(counter(&list.items[0], OVS_PMD_SLEEP_US), cases[i].us);
        drop(text);
        ovs_pmd_free(&list);
    }
}

/* Texts of releases whose recording is not at hand, built from their differences. */
static void test_forms_of_other_releases(void **state)
{
    static const char text_2_10[] = "\nTime: 10:00:00.000\nMeasurement duration: 2.500 s\n\n"
                                    "pmd thread numa_id 1 core_id 12:\n\n"
                                    "  Cycles:          1234567890  (2.60 GHz)\n"
                                    "  Iterations:         1000000  (2.50 us/it)\n"
                                    "  - idle:              900000  (75.0 % cycles)\n"
                                    "  - busy:              100000  (25.0 % cycles)\n"
                                    "  Rx packets:         3200000  (1280 Kpps, 96 cycles/pkt)\n"
                                    "  Datapath passes:    3200001  (1.00 passes/pkt)\n"
                                    "  - Lost upcalls:           1  ( 0.0 %)\n";
    static const char text_2_8[] = "pmd thread numa_id 0 core_id 1:\n\temc hits:10\n\tmegaflow hits:20\n"
                                   "\tavg. subtable lookups per hit:1.50\n\tmiss:7\n\tlost:3\n";
    struct ovs_pmd_list list = {0};
    double value;

    (void)state;
    ovs_pmd_parse(&list, ovs_span_of(text_2_10));
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].id.core_id, 12);
    assert_int_equal(counter(&list.items[0], OVS_PMD_USED_CYCLES), 1234567890);
    assert_int_equal(counter(&list.items[0], OVS_PMD_IDLE_ITERATIONS), 900000);
    assert_int_equal(counter(&list.items[0], OVS_PMD_RECIRC), 1);
    assert_int_equal(counter(&list.items[0], OVS_PMD_LOST), 1);
    assert_true(ovs_pmd_gauge(&list.items[0], OVS_PMD_BUSY_PCT, &value));
    assert_true(value == 25);
    ovs_pmd_parse(&list, ovs_span_of(text_2_8));
    assert_int_equal(counter(&list.items[0], OVS_PMD_PASSES), 37);
    assert_int_equal(counter(&list.items[0], OVS_PMD_UPCALLS),
                     4); /* 2.8 counts the lost ones among the misses */
    assert_int_equal(counter(&list.items[0], OVS_PMD_LOST), 3);
    ovs_pmd_free(&list);
}

static void test_numbers_that_do_not_fit_are_absent(void **state)
{
    static const char text[] =
        "pmd thread numa_id 0 core_id 4294967296:\n  packets received: 5\n"
        "pmd thread numa_id 0 core_id 3:\n  packets received: 99999999999999999999\n"
        "  packet recirculations: 18446744073709551615\n  emc hits: 12x\n  new label: 4\n";
    struct ovs_pmd_list list = {0};

    (void)state;
    ovs_pmd_parse(&list, ovs_span_of(text));
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].id.core_id, 3);
    assert_false(has(&list.items[0], OVS_PMD_RX_PACKETS));
    assert_false(has(&list.items[0], OVS_PMD_EMC));
    assert_int_equal(counter(&list.items[0], OVS_PMD_RECIRC), UINT64_MAX);
    assert_false(has(&list.items[0], OVS_PMD_PASSES));
    ovs_pmd_free(&list);
}

/* ---- pmd-rxq-show, pmd-sleep-show ---- */

static const struct ovs_rxq *find_rxq(const struct ovs_rxq_table *table, const char *port, uint32_t queue)
{
    for (size_t i = 0; i < table->n_rxqs; i++)
        if (ovs_span_is(table->rxqs[i].port, port) && table->rxqs[i].queue_id == queue)
            return &table->rxqs[i];
    return NULL;
}

static void test_queues_of_all_releases(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovs_rxq_table table = {0};
        struct ovs_span text = read_fixture(versions[v], "02/pmd-rxq-show.txt");
        ovs_rxq_parse(&table, text);
        assert_int_equal(table.n_threads, 2);
        assert_int_equal(table.n_rxqs, 5);
        assert_int_equal(table.window_s, v >= 3 ? 60 : 0);
        assert_int_equal(table.threads[0].isolated, OVS_NO);
        assert_int_equal(table.threads[1].isolated, OVS_YES);
        for (uint32_t q = 0; q < 4; q++) {
            const struct ovs_rxq *rxq = find_rxq(&table, q < 2 ? "p0" : "p1", q % 2);
            assert_non_null(rxq);
            assert_int_equal(rxq->thread, 0);
            assert_int_equal(rxq->usage_pct, -1); /* NOT AVAIL so early */
            assert_int_equal(rxq->enabled, v >= 2 ? OVS_YES : OVS_UNKNOWN);
        }
        assert_int_equal(find_rxq(&table, "p2", 0)->thread, 1);
        drop(text);
        ovs_rxq_free(&table);
    }
}

static void test_usage_and_overhead(void **state)
{
    struct ovs_rxq_table table = {0};
    struct ovs_span text = read_fixture("3.5", "06/pmd-rxq-show.txt");

    (void)state;
    ovs_rxq_parse(&table, text);
    assert_int_equal(table.threads[0].overhead_pct, 23);
    assert_int_equal(table.threads[1].overhead_pct, 0);
    assert_int_equal(find_rxq(&table, "p0", 0)->usage_pct, 3);
    assert_int_equal(find_rxq(&table, "p0", 1)->usage_pct, 2);
    assert_int_equal(find_rxq(&table, "p1", 0)->usage_pct, 0);
    drop(text);
    text = read_fixture("2.9", "06/pmd-rxq-show.txt");
    ovs_rxq_parse(&table, text);
    assert_true(find_rxq(&table, "p0", 0)->usage_pct >= 0);
    assert_int_equal(table.threads[0].overhead_pct, -1);
    drop(text);
    ovs_rxq_free(&table);
}

/* A thread without queues is there all the same. */
static void test_thread_without_queues(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovs_rxq_table table = {0};
        struct ovs_span text = read_fixture(versions[v], "10/pmd-rxq-show.txt");
        ovs_rxq_parse(&table, text);
        assert_int_equal(table.n_threads, 4);
        assert_int_equal(table.n_rxqs, 4);
        assert_int_equal(table.threads[3].id.numa_id, 1);
        assert_int_equal(table.threads[3].id.core_id, 3);
        drop(text);
        ovs_rxq_free(&table);
    }
}

static const char *const awkward_names[] = {
    "vhost-user-client-port-0123456789",
    "vhu0123456789-ab",
    "name with space",
    "n\xc3\xa4me-\xe2\x82\xac",
    "\"quoted\"",
    "tab\tname",
    "nl\nport: zz",
    "esc\x1b[31mred",
    "core_id 7:",
    "colon:and,comma",
    "q queue-id:  9 (enabled)   pmd usage: 99 %",
};
enum { N_NAMES = sizeof(awkward_names) / sizeof(awkward_names[0]) };

static void test_awkward_names_of_queues(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovs_rxq_table table = {0};
        struct ovs_span text = read_fixture(versions[v], "14/pmd-rxq-show.txt");
        ovs_rxq_parse(&table, text);
        assert_int_equal(table.n_threads, 4);
        assert_int_equal(table.n_rxqs, 6 + N_NAMES); /* b0 b1 p0 p0 p2 p1 */
        for (size_t i = 0; i < N_NAMES; i++) {
            const struct ovs_rxq *rxq = find_rxq(&table, awkward_names[i], 0);
            assert_non_null(rxq);
            assert_int_equal(rxq->usage_pct, -1);
            assert_int_equal(table.threads[rxq->thread].id.core_id, 0);
        }
        drop(text);
        ovs_rxq_free(&table);
    }
}

static void test_names_that_look_like_heads(void **state)
{
    static const char text[] =
        "pmd thread numa_id 0 core_id 2:\n  isolated : false\n"
        "  port: a\npmd thread numa_id 0 core_id 9:\n  isolated : true\n  overhead: 77 %\nb"
        "  queue-id:  3 (disabled)  pmd usage: 12 %\n"
        "  overhead:  5 %\n  port: unfinished  queue-id: x\n";
    struct ovs_rxq_table table = {0};

    (void)state;
    ovs_rxq_parse(&table, ovs_span_of(text));
    assert_int_equal(table.n_threads, 1);
    assert_int_equal(table.threads[0].isolated, OVS_NO);
    assert_int_equal(table.threads[0].overhead_pct, 5);
    assert_int_equal(table.n_rxqs, 1);
    assert_int_equal(table.rxqs[0].queue_id, 3);
    assert_int_equal(table.rxqs[0].enabled, OVS_NO);
    assert_int_equal(table.rxqs[0].usage_pct, 12);
    ovs_rxq_free(&table);
}

static void test_sleep_of_releases(void **state)
{
    struct ovs_sleep_list list = {0};
    struct ovs_span text = read_fixture("4.0", "12/pmd-sleep-show.txt");
    static const uint64_t expected[] = {200, 50, 50, 0};

    (void)state;
    ovs_sleep_parse(&list, text);
    assert_true(list.has_default);
    assert_int_equal(list.default_us, 50);
    assert_int_equal(list.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(list.items[i].id.core_id, i);
        assert_int_equal(list.items[i].max_us, expected[i]);
    }
    drop(text);
    ovs_sleep_parse(&list, ovs_span_of("Default max sleep:  120 us\n")); /* all that 3.2 says */
    assert_int_equal(list.n, 0);
    assert_int_equal(list.default_us, 120);
    ovs_sleep_free(&list);
}

/* ---- dpctl/show -s ---- */

static const struct ovs_dp_port *find_port(const struct ovs_dpctl *show, const char *name)
{
    for (size_t i = 0; i < show->n_ports; i++)
        if (ovs_span_is(show->ports[i].name, name))
            return &show->ports[i];
    return NULL;
}

static void check_port(const struct ovs_dpctl *show, const char *name, enum ovs_dp_port_counter which,
                       uint64_t expected)
{
    const struct ovs_dp_port *port = find_port(show, name);
    uint64_t value;

    assert_non_null(port);
    assert_true(ovs_dp_port_get(port, which, &value));
    assert_int_equal(value, expected);
}

/* 550 packets of 60 and 20 of 100 bytes, each flooded to all ports but its own. */
static void check_flood(const struct ovs_dpctl *show)
{
    static const struct {
        const char *name;
        uint64_t rx, rx_bytes, tx, tx_bytes;
    } ports[] = {
        {"p0", 300, 18000, 270, 17000}, {"p1", 150, 9000, 420, 26000}, {"p2", 100, 6000, 470, 29000},
        {"ve0", 20, 2000, 550, 33000},  {"br0", 0, 0, 570, 35000},
    };
    for (size_t i = 0; i < 5; i++) {
        check_port(show, ports[i].name, OVS_DPP_RX_PACKETS, ports[i].rx);
        check_port(show, ports[i].name, OVS_DPP_RX_BYTES, ports[i].rx_bytes);
        check_port(show, ports[i].name, OVS_DPP_TX_PACKETS, ports[i].tx);
        check_port(show, ports[i].name, OVS_DPP_TX_BYTES, ports[i].tx_bytes);
    }
}

static void test_datapath_of_all_releases(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovs_dpctl show = {0};
        struct ovs_span text = read_fixture(versions[v], "02/dpctl_show.txt"), option;
        uint64_t value;
        ovs_dpctl_parse(&show, text);
        assert_int_equal(show.n_datapaths, 1);
        assert_true(ovs_span_is(show.datapaths[0].name, "netdev@ovs-netdev"));
        assert_true(ovs_dp_get(&show.datapaths[0], OVS_DP_HIT, &value));
        assert_int_equal(value, 566);
        assert_true(ovs_dp_get(&show.datapaths[0], OVS_DP_MISSED, &value));
        assert_int_equal(value, 4);
        assert_true(ovs_dp_get(&show.datapaths[0], OVS_DP_FLOWS, &value));
        assert_int_equal(value, 4);
        assert_int_equal(show.n_ports, 7);
        check_flood(&show);
        check_port(&show, "ve0", OVS_DPP_RX_DROPPED, 0);
        assert_false(ovs_dp_port_get(find_port(&show, "p0"), OVS_DPP_RX_DROPPED, &value)); /* `?` */
        assert_false(ovs_dp_port_get(find_port(&show, "p0"), OVS_DPP_UPCALL_PACKETS, &value));
        assert_int_equal(find_port(&show, "ve0")->type.len, 0);
        assert_true(ovs_span_is(find_port(&show, "p0")->type, "dummy-pmd"));
        assert_true(
            ovs_dp_port_option(find_port(&show, "p0"), v >= 4 ? "n_rxq" : "configured_rx_queues", &option));
        assert_true(ovs_span_is(option, "2"));
        assert_false(ovs_dp_port_option(find_port(&show, "p0"), "n_rx", &option));
        drop(text);
        ovs_dpctl_free(&show);
    }
}

static void test_awkward_names_of_ports(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovs_dpctl show = {0};
        struct ovs_span text = read_fixture(versions[v], "14/dpctl_show.txt");
        ovs_dpctl_parse(&show, text);
        assert_int_equal(show.n_ports, 16 + N_NAMES);
        for (size_t i = 0; i < N_NAMES; i++) {
            assert_non_null(find_port(&show, awkward_names[i]));
            assert_true(ovs_span_is(find_port(&show, awkward_names[i])->type, "dummy-pmd"));
        }
        check_port(&show, "name with space", OVS_DPP_RX_PACKETS, 10);
        check_port(&show, awkward_names[0], OVS_DPP_RX_BYTES, 600);
        check_port(&show, "nl\nport: zz", OVS_DPP_TX_PACKETS, 20);
        drop(text);
        ovs_dpctl_free(&show);
    }
}

static void test_two_datapaths(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovs_dpctl show = {0};
        struct ovs_span text = read_fixture(versions[v], "16/dpctl_show.txt");
        ovs_dpctl_parse(&show, text);
        assert_int_equal(show.n_datapaths, 2);
        assert_true(ovs_span_is(show.datapaths[find_port(&show, "d0")->datapath].name, "dummy@ovs-dummy"));
        assert_true(ovs_span_is(show.datapaths[find_port(&show, "p0")->datapath].name, "netdev@ovs-netdev"));
        drop(text);
        ovs_dpctl_free(&show);
    }
}

/* A vhost-user port that no guest holds: the failure ends without a newline, on the line of what comes next.
 */
static void test_port_without_statistics(void **state)
{
    static const char text[] =
        "netdev@ovs-netdev:\n  lookups: hit:1 missed:2 lost:3\n  flows: 4\n"
        "  port 1: vhu0 (dpdkvhostuserclient: n_rxq=1, path=/a (b)/s)\n"
        ", could not retrieve stats (Protocol error)  port 2: vhu1 (dpdkvhostuser)\n"
        ", open failed (No such device)  port 3: x (dpdk, could not retrieve configuration (Bad))\n"
        "    RX packets:7 errors:? dropped:8 overruns:? frame:?\n"
        "  port 4: y (dpdk: open failed (No such device))\n"
        ", could not retrieve stats (Protocol error)system@ovs-system:\n"
        "  lookups: hit:5 missed:6 lost:7\n  flows: 8\n"
        "  masks: hit:90 total:3 hit/pkt:1.50\n  cache: hit:40 hit-rate:66.67%\n"
        "  caches:\n    masks-cache: size:256\n  port 1: eth0\n"
        "    RX packets:9 errors:0 dropped:0 overruns:0 frame:0\n"
        "    RX bytes:100 (1 KiB)  TX bytes:200\n    UPCALL packets:11 errors:12\n";
    struct ovs_dpctl show = {0};
    struct ovs_span option;
    uint64_t value;

    (void)state;
    ovs_dpctl_parse(&show, ovs_span_of(text));
    assert_int_equal(show.n_datapaths, 2);
    assert_int_equal(show.n_ports, 5);
    assert_true(ovs_span_is(find_port(&show, "vhu0")->failure, "Protocol error"));
    assert_true(ovs_dp_port_option(find_port(&show, "vhu0"), "path", &option));
    assert_true(ovs_span_is(option, "/a (b)/s"));
    assert_true(ovs_span_is(find_port(&show, "vhu1")->failure, "No such device"));
    assert_int_equal(find_port(&show, "vhu1")->has, 0);
    assert_true(ovs_span_is(find_port(&show, "x")->type, "dpdk"));
    check_port(&show, "x", OVS_DPP_RX_DROPPED, 8);
    assert_true(ovs_span_is(find_port(&show, "y")->failure, "Protocol error"));
    assert_int_equal(find_port(&show, "eth0")->datapath, 1);
    check_port(&show, "eth0", OVS_DPP_TX_BYTES, 200);
    check_port(&show, "eth0", OVS_DPP_UPCALL_ERRORS, 12);
    assert_true(ovs_dp_get(&show.datapaths[0], OVS_DP_LOST, &value));
    assert_int_equal(value, 3);
    assert_true(ovs_dp_get(&show.datapaths[1], OVS_DP_MASKS, &value));
    assert_int_equal(value, 3);
    assert_true(ovs_dp_get(&show.datapaths[1], OVS_DP_CACHE_HIT, &value));
    assert_int_equal(value, 40);
    assert_false(ovs_dp_get(&show.datapaths[0], OVS_DP_MASKS, &value));
    ovs_dpctl_free(&show);
}

/* The last bracket that opens a type is the daemon's; one in the name is not. */
static void test_bracket_in_a_name(void **state)
{
    struct ovs_dpctl show = {0};

    (void)state;
    ovs_dpctl_parse(&show,
                    ovs_span_of("netdev@x:\n  port 1: a (tap: b (dummy-pmd: n_rxq=1)\n  port 2: c (d) e\n"));
    assert_int_equal(show.n_ports, 2);
    assert_true(ovs_span_is(show.ports[0].name, "a (tap: b"));
    assert_true(ovs_span_is(show.ports[0].type, "dummy-pmd"));
    assert_true(ovs_span_is(show.ports[1].name, "c (d) e"));
    ovs_dpctl_free(&show);
}

/* ---- the small commands ---- */

static void test_coverage(void **state)
{
    struct ovs_coverage_list list = {0};
    struct ovs_span text = read_fixture("4.0", "02/coverage_show.txt");
    uint64_t total;

    (void)state;
    ovs_coverage_parse(&list, text);
    assert_true(ovs_coverage_total(&list, "netdev_received", &total));
    assert_int_equal(total, 550);
    assert_true(ovs_coverage_total(&list, "netdev_sent", &total));
    assert_int_equal(total, 2200);
    assert_true(
        ovs_coverage_total(&list, "drop_action_tunnel_routing_failed", &total)); /* wider than its column */
    assert_int_equal(total, 550);
    assert_false(ovs_coverage_total(&list, "datapath_drop_meter", &total));
    assert_false(ovs_coverage_total(&list, "Event", &total));
    drop(text);
    ovs_coverage_free(&list);
    assert_true(ovs_coverage_read(ovs_span_of("550\n"), &total));
    assert_int_equal(total, 550);
    assert_true(ovs_coverage_read(ovs_span_of("7"), &total));
    assert_false(ovs_coverage_read(ovs_span_of("7 8"), &total));
    assert_false(ovs_coverage_read(ovs_span_of(""), &total));
}

static void test_upcalls_and_memory(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovs_span text = read_fixture(versions[v], "02/upcall_show.txt");
        struct ovs_upcall upcall = {0};
        uint64_t value;
        assert_int_equal(ovs_upcall_parse(&upcall, 1, text), 1);
        assert_true(ovs_span_is(upcall.datapath, "netdev@ovs-netdev"));
        assert_int_equal(upcall.has & 0x1f, 0x1f); /* all but the offloaded flows, which only some print */
        assert_int_equal(upcall.v[OVS_UPCALL_FLOWS], 4);
        assert_int_equal(upcall.v[OVS_UPCALL_LIMIT], 10000);
        assert_true(upcall.has & (1u << OVS_UPCALL_DUMP_MS));
        drop(text);
        text = read_fixture(versions[v], "02/memory_show.txt");
        assert_true(ovs_memory_value(text, "udpif keys", &value));
        assert_int_equal(value, 4);
        assert_true(ovs_memory_value(text, "ports", &value));
        assert_int_equal(value, 6);
        assert_false(ovs_memory_value(text, "keys", &value));
        drop(text);
    }
}

/* ---- hostile text ---- */

/* Every parser on one text. */
static void parse_all(struct ovs_span text)
{
    struct ovs_pmd_list pmds = {0};
    struct ovs_rxq_table rxqs = {0};
    struct ovs_sleep_list sleeps = {0};
    struct ovs_dpctl show = {0};
    struct ovs_coverage_list coverage = {0};
    struct ovs_upcall upcalls[2];
    uint64_t value;

    ovs_pmd_parse(&pmds, text);
    ovs_rxq_parse(&rxqs, text);
    ovs_sleep_parse(&sleeps, text);
    ovs_dpctl_parse(&show, text);
    ovs_coverage_parse(&coverage, text);
    ovs_upcall_parse(upcalls, 2, text);
    ovs_memory_value(text, "udpif keys", &value);
    for (size_t i = 0; i < rxqs.n_rxqs; i++)
        assert_true(rxqs.rxqs[i].thread < rxqs.n_threads && rxqs.rxqs[i].port.s >= text.s &&
                    rxqs.rxqs[i].port.s + rxqs.rxqs[i].port.len <= text.s + text.len);
    for (size_t i = 0; i < show.n_ports; i++)
        assert_true(show.ports[i].datapath < show.n_datapaths && show.ports[i].name.s >= text.s &&
                    show.ports[i].name.s + show.ports[i].name.len <= text.s + text.len);
    ovs_pmd_free(&pmds);
    ovs_rxq_free(&rxqs);
    ovs_sleep_free(&sleeps);
    ovs_dpctl_free(&show);
    ovs_coverage_free(&coverage);
}

static void test_truncated_at_every_byte(void **state)
{
    static const char *const files[] = {"10/pmd-stats-show.txt", "10/pmd-perf-show.txt",
                                        "14/pmd-rxq-show.txt",   "14/dpctl_show.txt",
                                        "02/upcall_show.txt",    "02/memory_show.txt"};
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v += N_VERSIONS - 1) {
        for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
            struct ovs_span text = read_fixture(versions[v], files[f]);
            for (size_t len = 0; len < text.len; len++) {
                char *cut = malloc(len ? len : 1);
                memcpy(cut, text.s, len);
                parse_all((struct ovs_span){.s = cut, .len = len});
                free(cut);
            }
            drop(text);
        }
    }
}

/* `n` copies of `line` (with %zu for the number) behind `head`. */
static char *repeat(const char *head, const char *before, const char *after, size_t n)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    fputs(head, out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%zu%s", before, i, after);
    fclose(out);
    return text;
}

static void test_bounds(void **state)
{
    struct ovs_pmd_list pmds = {0};
    struct ovs_rxq_table rxqs = {0};
    struct ovs_dpctl show = {0};
    char *text = repeat("", "pmd thread numa_id 0 core_id ", ":\n  packets received: 1\n", OVS_MAX_PMDS + 5);

    (void)state;
    ovs_pmd_parse(&pmds, ovs_span_of(text));
    assert_int_equal(pmds.n, OVS_MAX_PMDS);
    assert_true(pmds.truncated);
    free(text);
    text = repeat("pmd thread numa_id 0 core_id 1:\n", "  port: p  queue-id: ", " (enabled)\n",
                  OVS_MAX_RXQS + 5);
    ovs_rxq_parse(&rxqs, ovs_span_of(text));
    assert_int_equal(rxqs.n_rxqs, OVS_MAX_RXQS);
    assert_true(rxqs.truncated);
    free(text);
    text = repeat("netdev@x:\n", "  port ", ": p (tap)\n", OVS_MAX_DP_PORTS + 5);
    ovs_dpctl_parse(&show, ovs_span_of(text));
    assert_int_equal(show.n_ports, OVS_MAX_DP_PORTS);
    assert_true(show.truncated);
    free(text);
    text = repeat("netdev@x:\n  port 1: a", "\n", "b", 100000); /* a name that never ends */
    ovs_dpctl_parse(&show, ovs_span_of(text));
    assert_int_equal(show.n_ports, 1);
    assert_true(show.ports[0].name.len <= OVS_MAX_DP_PORT_NAME);
    ovs_rxq_parse(&rxqs, ovs_span_of(text));
    assert_int_equal(rxqs.n_rxqs, 0);
    assert_false(rxqs.truncated);
    free(text);
    ovs_pmd_free(&pmds);
    ovs_rxq_free(&rxqs);
    ovs_dpctl_free(&show);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_strict),
        cmocka_unit_test(test_decimals_are_strict),
        cmocka_unit_test(test_stats_of_all_releases),
        cmocka_unit_test(test_cycles_are_exact),
        cmocka_unit_test(test_perf_agrees_with_stats),
        cmocka_unit_test(test_branch_4_answers_in_the_other_form),
        cmocka_unit_test(test_four_pmds_with_recirculation),
        cmocka_unit_test(test_nan_is_absent),
        cmocka_unit_test(test_sleep_lines_of_perf),
        cmocka_unit_test(test_forms_of_other_releases),
        cmocka_unit_test(test_numbers_that_do_not_fit_are_absent),
        cmocka_unit_test(test_queues_of_all_releases),
        cmocka_unit_test(test_usage_and_overhead),
        cmocka_unit_test(test_thread_without_queues),
        cmocka_unit_test(test_awkward_names_of_queues),
        cmocka_unit_test(test_names_that_look_like_heads),
        cmocka_unit_test(test_sleep_of_releases),
        cmocka_unit_test(test_datapath_of_all_releases),
        cmocka_unit_test(test_awkward_names_of_ports),
        cmocka_unit_test(test_two_datapaths),
        cmocka_unit_test(test_port_without_statistics),
        cmocka_unit_test(test_bracket_in_a_name),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_upcalls_and_memory),
        cmocka_unit_test(test_truncated_at_every_byte),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
