/* SPDX-License-Identifier: MIT */
/*
 * The collectors of source `ovs` whole, from sockets to frames: recorded answers of several releases, exact
 * rates and clears. Run from the project's folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collectors/ovs_pmds.h"
#include "unit/ovs_reader.h"

static void check_pmds(const struct reader *r, const char *dir, const char *release)
{
    const struct pmds_row *pmd0 = row_of(r, TABLE_PMDS, "pmd:%s:netdev@ovs-netdev:0", dir),
                          *pmd1 = row_of(r, TABLE_PMDS, "pmd:%s:netdev@ovs-netdev:1", dir),
                          *own = row_of(r, TABLE_PMDS, "pmd:%s:netdev@ovs-netdev:main", dir);
    bool old = strcmp(release, "2.8") == 0, new = strcmp(release, "4.0") == 0;
    assert_int_equal(r->cur->set[TABLE_PMDS].n, 3);
    assert_non_null(pmd0);
    assert_non_null(pmd1);
    assert_non_null(own);
    assert_int_equal(pmd0->rx_packets, 450);
    assert_int_equal(pmd1->rx_packets, 100);
    assert_int_equal(own->rx_packets, 20);
    assert_int_equal(pmd0->emc_hits + pmd0->megaflow_hits + pmd0->upcalls, 450);
    assert_int_equal(slot_test(&pmd0->head.approx, ROW_SLOT(struct pmds_row, rx_packets)), old);
    assert_true(row_has(pmd0, busy_cycles) && row_has(pmd0, idle_cycles));
    assert_int_equal(slot_test(&pmd0->head.approx, ROW_SLOT(struct pmds_row, busy_cycles)), new);
    assert_int_equal(row_has(pmd0, tx_batches), strcmp(release, "2.8") != 0 && strcmp(release, "2.9") != 0);
    assert_int_equal(row_has(pmd0, smc_hits), !old && strcmp(release, "2.9") != 0);
    assert_int_equal(INFO(pmd1, pmds_info)->core, 1);
    assert_string_equal(INFO(pmd1, pmds_info)->thread, "pmd");
    assert_string_equal(INFO(own, pmds_info)->thread, "main");
    assert_false(info_has(INFO(own, pmds_info), core));
}

/* A port that the kernel has too is one row with netlink's, counted as the kernel does: br0 is the other
 * side.
 */
static void check_kernel_ports(const struct reader *r)
{
    size_t n = 0;
    char prefix[64];
    snprintf(prefix, sizeof(prefix), "net:%llu:", (unsigned long long)own_netns());
    for (size_t i = 0; i < r->cur->set[TABLE_PORTS].n; i++) {
        const struct ports_row *row = (const void *)sample_row_at(r->cur, TABLE_PORTS, i);
        const struct ports_info *info = INFO(row, ports_info);
        bool local = strcmp(info->name, "br0") == 0, veth = strcmp(info->name, "ve0") == 0;
        if (!local && !veth)
            continue;
        n++;
        assert_int_equal(strncmp(info->head.key, prefix, strlen(prefix)), 0);
        assert_string_equal(info->netns, "self");
        assert_int_equal(info->ifindex, strtoull(info->head.key + strlen(prefix), NULL, 10));
        assert_int_equal(local ? row->rx_packets : row->tx_packets, local ? 570 : 550);
        assert_int_equal(local ? row->tx_packets : row->rx_packets, local ? 0 : 20);
    }
    assert_int_equal(n, 2);
}

static void test_releases_fast(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RELEASES; i++) {
        struct fake_ovs o;
        char version[64];
        start_release(&o, releases[i]);
        struct reader r = reader_of(&ovs_collector, o.dir);
        read_ok(&r);
        check_pmds(&r, o.dir, releases[i]);
        check_ports(&r, o.dir);
        check_kernel_ports(&r);
        snprintf(version, sizeof(version), "ovs %s.1", releases[i]);
        assert_string_equal(r.call.version, version);
        snprintf(version, sizeof(version), "%s.1, pid %d, ", releases[i], (int)getpid());
        assert_int_equal(strncmp(r.call.detail, version, strlen(version)), 0);
        assert_non_null(strstr(r.call.detail, ", 2 PMDs"));
        struct inventory *inventory = r.cur->inventory;
        read_ok(&r);
        assert_ptr_equal(r.cur->inventory, inventory); /* as nothing changed */
        close_reader(&r);
        fake_ovs_end(&o, false);
    }
}

static void check_queues(const struct reader *r, const char *dir, const char *release)
{
    const struct rxqs_row *pinned = row_of(r, TABLE_RXQS, "rxq:%s:netdev@ovs-netdev:p2:0", dir),
                          *floating = row_of(r, TABLE_RXQS, "rxq:%s:netdev@ovs-netdev:p1:1", dir);
    bool old = strcmp(release, "2.8") == 0;
    char key[128];
    assert_int_equal(r->cur->set[TABLE_RXQS].n, 5);
    assert_non_null(pinned);
    assert_non_null(floating);
    snprintf(key, sizeof(key), "pmd:%s:netdev@ovs-netdev:1", dir);
    assert_string_equal(INFO(pinned, rxqs_info)->pmd_key, key);
    assert_string_equal(INFO(pinned, rxqs_info)->pinning, "1");
    assert_int_equal(INFO(pinned, rxqs_info)->core, 1);
    assert_false(info_has(INFO(floating, rxqs_info), pinning));
    assert_int_equal(INFO(floating, rxqs_info)->core, 0);
    assert_false(row_has(pinned, usage_pct)); /* NOT AVAIL, or not told */
    if (!old && strcmp(release, "2.9") != 0)
        assert_string_equal(INFO(pinned, rxqs_info)->enabled, "yes");
    const struct pmds_row *pmd = row_of(r, TABLE_PMDS, "%s", key);
    assert_non_null(pmd);
    assert_string_equal(INFO(pmd, pmds_info)->isolated, "yes");
}

static void check_datapath(const struct reader *r, const char *dir)
{
    const struct datapaths_row *dp = row_of(r, TABLE_DATAPATHS, "dp:%s:netdev@ovs-netdev", dir);
    assert_non_null(dp);
    assert_int_equal(dp->hits + dp->missed, 570);
    assert_int_equal(dp->lost, 0);
    assert_int_equal(dp->flows, 4);
    assert_int_equal(dp->flow_limit, 10000);
    assert_true(row_has(dp, dump_ms));
    const struct ports_row *p0 = row_of(r, TABLE_PORTS, "ovs:%s:p0", dir);
    assert_non_null(p0);
    assert_int_equal(INFO(p0, ports_info)->rx_queues, 2);
    assert_false(row_has(p0, rx_packets)); /* OpenFlow tells them at every tick */
}

static void test_releases_slow(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RELEASES; i++) {
        struct fake_ovs o;
        start_release(&o, releases[i]);
        struct reader r = reader_of(&ovs_queues_collector, o.dir);
        read_ok(&r);
        check_queues(&r, o.dir, releases[i]);
        check_datapath(&r, o.dir);
        const struct counters_row *named =
            row_of(&r, TABLE_COUNTERS, "counter:ovs:%s:p0:rx_custom_packets_1", o.dir);
        assert_int_equal(named != NULL, strcmp(releases[i], "2.8") != 0);
        if (named) {
            assert_int_equal(named->value, 300);
            assert_string_equal(INFO(named, counters_info)->object, "p0");
        }
        if (i == 0 || i + 1 == N_RELEASES) {
            const struct counters_row *event =
                row_of(&r, TABLE_COUNTERS, "counter:ovs:%s:bridge_reconfigure", o.dir);
            assert_non_null(event);
            assert_true(event->value > 0);
        }
        struct inventory *inventory = r.cur->inventory;
        read_ok(&r);
        assert_ptr_equal(r.cur->inventory, inventory);
        check_queues(&r, o.dir, releases[i]);
        close_reader(&r);
        fake_ovs_end(&o, false);
    }
}

/* ---- exact rates, clears ---- */

static const char pmd_format[] = "pmd thread numa_id 0 core_id 3:\n"
                                 "  packets received: %llu\n"
                                 "  packet recirculations: 0\n"
                                 "  emc hits: %llu\n"
                                 "  idle cycles: %llu (1.00%%)\n"
                                 "  processing cycles: %llu (99.00%%)\n";
static const char perf_format[] = "\nMeasurement duration: %.3f s\n\npmd thread numa_id 0 core_id 3:\n\n"
                                  "  Tx packets: %llu  (1 Kpps)\n"
                                  "  Tx batches: %llu  (1.00 pkts/batch)\n";

static void answer_pmd(struct fake_ovs *o, unsigned long long packets, unsigned long long idle,
                       unsigned long long busy, double seconds)
{
    char text[1024];
    snprintf(text, sizeof(text), pmd_format, packets, packets / 2, idle, busy);
    fake_ovs_answer(o, "dpif-netdev/pmd-stats-show ovs-netdev", text);
    snprintf(text, sizeof(text), perf_format, seconds, 2 * packets, packets / 4);
    fake_ovs_answer(o, "dpif-netdev/pmd-perf-show -nh ovs-netdev", text);
}

static double seconds_now(void)
{
    return (double)clock_mono_ns() / 1e9;
}

static struct cell pmd_cell(const struct frame *frame, const struct fake_ovs *o, const char *column)
{
    char key[128];
    snprintf(key, sizeof(key), "pmd:%s:netdev@ovs-netdev:3", o->dir);
    return cell_of(frame, TABLE_PMDS, key, column);
}

static void start_pmd(struct fake_ovs *o)
{
    fake_ovs_start(o);
    fake_ovs_answer(o, "version", "ovs-vswitchd (Open vSwitch) 3.1.0");
    fake_ovs_set_db(o, "{\"Bridge\":{\"00000000-0000-0000-0000-000000000001\":{\"initial\":{\"name\":\"br0\","
                       "\"datapath_type\":\"netdev\"}}}}");
}

static void test_rates_are_exact(void **state)
{
    struct fake_ovs o;
    (void)state;
    start_pmd(&o);
    struct reader r = reader_of(&ovs_collector, o.dir);
    answer_pmd(&o, 1000, 500, 700, seconds_now());
    read_ok(&r);
    answer_pmd(&o, 5000, 1500, 3700, seconds_now());
    read_ok(&r);
    struct frame *frame = frame_of(&r);
    const struct row_head *now = sample_row_at(r.cur, TABLE_PMDS, 0),
                          *before = sample_row_at(r.prev, TABLE_PMDS, 0);
    double seconds = (double)(now->t_ns - before->t_ns) / 1e9;
    assert_true(now->t_ns >= r.cur->t0_ns && now->t_ns <= r.cur->t1_ns);
    expect_number(pmd_cell(frame, &o, "rx_pps"), 4000 / seconds);
    expect_number(pmd_cell(frame, &o, "busy_pct"), 75);
    expect_number(pmd_cell(frame, &o, "cycles_per_packet"), 0.75);
    expect_number(pmd_cell(frame, &o, "all_cycles_per_packet"), 1);
    expect_number(pmd_cell(frame, &o, "packets_per_batch"), 8);
    expect_number(pmd_cell(frame, &o, "emc_pct"), 50);
    frame_free(frame);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

static void test_clear_is_reset(void **state)
{
    struct fake_ovs o;
    (void)state;
    start_pmd(&o);
    struct reader r = reader_of(&ovs_collector, o.dir);
    double start = seconds_now() - 100;
    answer_pmd(&o, 1000, 500, 700, seconds_now() - start);
    read_ok(&r);
    answer_pmd(&o, 10, 50, 70, 0.001);
    read_ok(&r);
    struct frame *frame = frame_of(&r);
    expect_kind(pmd_cell(frame, &o, "rx_pps"), CELL_RESET);
    expect_kind(pmd_cell(frame, &o, "busy_pct"), CELL_RESET);
    frame_free(frame);
    answer_pmd(&o, 20, 60, 100, 0.001 + (double)(clock_mono_ns() - r.cur->t1_ns) / 1e9);
    read_ok(&r);
    frame = frame_of(&r); /* and the next interval is good */
    expect_number(pmd_cell(frame, &o, "busy_pct"), 75);
    frame_free(frame);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

/* Cleared, and past the old values again before the next read: no counter went back, but the daemon counts
 * for less time than has passed. */
static void test_hidden_clear_gives_no_rate(void **state)
{
    struct fake_ovs o;
    (void)state;
    start_pmd(&o);
    struct reader r = reader_of(&ovs_collector, o.dir);
    answer_pmd(&o, 1000, 500, 700, 100);
    read_ok(&r);
    answer_pmd(&o, 5000, 1500, 3700, 0.9);
    read_ok(&r);
    struct frame *frame = frame_of(&r);
    expect_kind(pmd_cell(frame, &o, "rx_pps"), CELL_NONE);
    expect_kind(pmd_cell(frame, &o, "busy_pct"), CELL_NONE);
    frame_free(frame);
    answer_pmd(&o, 6000, 2500, 3800, 0.9 + (double)(clock_mono_ns() - r.cur->t1_ns) / 1e9);
    read_ok(&r);
    frame = frame_of(&r);
    expect_kind(pmd_cell(frame, &o, "rx_pps"), CELL_NEW);
    frame_free(frame);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

/* 4.0 tells shares rounded to a tenth of a percent: good enough for a short account, not for a long one. */
static void test_estimate_only_while_it_is_good(void **state)
{
    static const struct ovs_pmd_id id = {.core_id = 3};
    struct ovs_pmd_memory memory = {0};
    struct ovs_pmd pmd = {.id = id, .has = 1u << OVS_PMD_USED_CYCLES, .has_gauges = 1u << OVS_PMD_BUSY_PCT};
    struct pmds_row row = {0};
    (void)state;
    pmd.counters[OVS_PMD_USED_CYCLES] = 1000000;
    pmd.gauges[OVS_PMD_BUSY_PCT] = 40;
    ovs_pmd_fill(&row, &pmd, NULL, (struct ovs_moment){.t_ns = SECOND}, (struct ovs_moment){0}, &memory);
    assert_int_equal(row.busy_cycles, 400000);
    assert_int_equal(row.idle_cycles, 600000);
    assert_true(slot_test(&row.head.approx, ROW_SLOT(struct pmds_row, busy_cycles)));
    row = (struct pmds_row){0};
    pmd.counters[OVS_PMD_USED_CYCLES] = 2000000;
    pmd.gauges[OVS_PMD_BUSY_PCT] = 19.9; /* rounding made it smaller than it was: it stays */
    ovs_pmd_fill(&row, &pmd, NULL, (struct ovs_moment){.t_ns = 2 * SECOND}, (struct ovs_moment){0}, &memory);
    assert_int_equal(row.busy_cycles, 400000);
    assert_int_equal(row.idle_cycles, 1600000);
    row = (struct pmds_row){0};
    pmd.counters[OVS_PMD_USED_CYCLES] = 2000000 + 100000; /* off by up to 1050 at both ends of 100000 */
    ovs_pmd_fill(&row, &pmd, NULL, (struct ovs_moment){.t_ns = 3 * SECOND}, (struct ovs_moment){0}, &memory);
    assert_false(row_has(&row, busy_cycles));
    assert_false(row_has(&row, idle_cycles));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_releases_fast),
        cmocka_unit_test(test_releases_slow),
        cmocka_unit_test(test_rates_are_exact),
        cmocka_unit_test(test_clear_is_reset),
        cmocka_unit_test(test_hidden_clear_gives_no_rate),
        cmocka_unit_test(test_estimate_only_while_it_is_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
