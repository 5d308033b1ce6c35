/* SPDX-License-Identifier: MIT */
/*
 * The collectors of source `ovs` whole, from sockets to frames: recorded answers of several releases, exact
 * rates, clears, and guests that go and come back. Run from the project's folder.
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

static uint64_t own_netns(void)
{
    struct stat st;
    assert_int_equal(stat("/proc/self/ns/net", &st), 0);
    return st.st_ino;
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

/* ---- vhost-user ports ---- */

/* One multipart reply with a port of OpenFlow 1.4: number, four counters, drops, and named counters. */
struct of_port {
    uint32_t number;
    uint64_t rx, tx, tx_dropped; /* UINT64_MAX: none */
    const char *named[4];        /* name=value */
};

static size_t put(uint8_t *p, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    return bytes;
}

static size_t put_named(uint8_t *p, const struct of_port *port)
{
    size_t at = 16, n = 0;
    for (; n < 4 && port->named[n]; n++) {
        size_t len = strcspn(port->named[n], "=");
        p[at++] = (uint8_t)len;
        memcpy(p + at, port->named[n], len);
        at += len;
        at += put(p + at, strtoull(port->named[n] + len + 1, NULL, 10), 8);
    }
    put(p, 0xffff, 2);
    put(p + 2, at, 2);
    put(p + 4, 0xaa01, 4);
    put(p + 8, 2, 4);
    put(p + 14, n, 2);
    return (at + 7) / 8 * 8;
}

static size_t put_port(uint8_t *p, const struct of_port *port)
{
    size_t size = 80 + put_named(p + 80, port);
    put(p, size, 2);
    put(p + 4, port->number, 4);
    put(p + 8, 100, 4);
    put(p + 16, port->rx, 8);
    put(p + 24, port->tx, 8);
    put(p + 32, port->rx == UINT64_MAX ? UINT64_MAX : port->rx * 64, 8);
    put(p + 40, port->tx == UINT64_MAX ? UINT64_MAX : port->tx * 64, 8);
    put(p + 56, port->tx_dropped, 8);
    return size;
}

static void answer_ports(struct fake_ovs *o, const struct of_port *ports, size_t n)
{
    uint8_t bytes[4096] = {5, 19};
    size_t len = 16;
    bytes[9] = 4;
    for (size_t i = 0; i < n; i++)
        len += put_port(bytes + len, &ports[i]);
    put(bytes + 2, len, 2);
    fake_ovs_set_stats(o, bytes, len);
}

#define UUID(n) "00000000-0000-0000-0000-00000000000" #n

/* br0 with its local port (admin_state) and two vhost-user ports, as OVS-DPDK 3.1 tells them. */
static void set_vhost_db(struct fake_ovs *o, const char *local_state, const char *vhu1_state)
{
    char text[4096];
    snprintf(
        text, sizeof(text),
        "{\"Open_vSwitch\":{\"" UUID(
            9) "\":{\"initial\":{\"dpdk_version\":\"DPDK 22.11.1\"}}},"
               "\"Bridge\":{\"" UUID(
                   1) "\":{\"initial\":{\"name\":\"br0\",\"datapath_type\":\"netdev\",\"ports\":"
                      "[\"set\",[[\"uuid\",\"" UUID(2) "\"],[\"uuid\",\"" UUID(
                          3) "\"]]]}}},"
                             "\"Port\":{\"" UUID(
                                 2) "\":{\"initial\":{\"name\":\"br0\",\"interfaces\":["
                                    "\"uuid\",\"" UUID(
                                        4) "\"]}},"
                                           "\"" UUID(3) "\":{\"initial\":{\"name\":\"vhu\","
                                                        "\"interfaces\":[\"set\",[[\"uuid\","
                                                        "\"" UUID(5) "\"],[\"uuid\",\"" UUID(
                                                            6) "\"]]]}}},"
                                                               "\"Interface\":{\"" UUID(
                                                                   4) "\":{\"initial\":{"
                                                                      "\"name\":\"br0\","
                                                                      "\"type\":\"internal\","
                                                                      "\"ofport\":65534,"
                                                                      "\"ifindex\":1,\"admin_"
                                                                      "state\":\"%s\"}},"
                                                                      "\"" UUID(5) "\":{"
                                                                                   "\"initial\":{"
                                                                                   "\"name\":"
                                                                                   "\"vhu0\","
                                                                                   "\"type\":"
                                                                                   "\"dpdkvhostuser"
                                                                                   "client\","
                                                                                   "\"ofport\":1,"
                                                                                   "\"ifindex\":7,"
                                                                                   "\"options\":["
                                                                                   "\"map\",[["
                                                                                   "\"vhost-server-"
                                                                                   "path\",\"/tmp/"
                                                                                   "vhu0\"],[\"n_"
                                                                                   "rxq\",\"2\"]]],"
                                                                                   "\"status\":["
                                                                                   "\"map\",[["
                                                                                   "\"status\","
                                                                                   "\"connected\"],"
                                                                                   "[\"socket\",\"/"
                                                                                   "tmp/"
                                                                                   "vhu0\"],["
                                                                                   "\"mode\","
                                                                                   "\"client\"],"
                                                                                   "[\"features\","
                                                                                   "\"0x00000001506"
                                                                                   "08000\"],["
                                                                                   "\"num_of_"
                                                                                   "vrings\",\"4\"]"
                                                                                   ",[\"vring_0_"
                                                                                   "size\",\"256\"]"
                                                                                   ","
                                                                                   "[\"numa\","
                                                                                   "\"0\"]]]}},"
                                                                                   "\"" UUID(6) "\":{"
                                                                                                "\"initia"
                                                                                                "l\":{"
                                                                                                "\"name\""
                                                                                                ":\"vhu1"
                                                                                                "\","
                                                                                                "\"type\""
                                                                                                ":\"dpdkv"
                                                                                                "hostuser"
                                                                                                "\","
                                                                                                "\"ofport"
                                                                                                "\":2,"
                                                                                                "\"status"
                                                                                                "\":["
                                                                                                "\"map\","
                                                                                                "[["
                                                                                                "\"status"
                                                                                                "\",\"%"
                                                                                                "s\"],["
                                                                                                "\"mode\""
                                                                                                ",\"serve"
                                                                                                "r\"]]]}}"
                                                                                                "}}",
        local_state, vhu1_state);
    fake_ovs_set_db(o, text);
}

static void start_vhost(struct fake_ovs *o, const char *local_state)
{
    fake_ovs_start(o);
    fake_ovs_answer(o, "version", "ovs-vswitchd (Open vSwitch) 3.1.0");
    set_vhost_db(o, local_state, "connected");
}

static void test_vhost_ports(void **state)
{
    static const struct of_port ports[] = {
        {0xfffffffe, 0, 0, 999, {0}},
        {1, 500, 40, 60, {"ovs_tx_failure_drops=60", "ovs_tx_retries=8", "rx_q0_good_packets=500"}},
        {2, 0, 7, 0, {"ovs_rx_qos_drops=1", "ovs_tx_qos_drops=2", "ovs_tx_mtu_exceeded_drops=3"}},
        {77, 1, 1, 1, {0}}, /* made since: not in the database yet */
    };
    struct fake_ovs o;
    (void)state;
    start_vhost(&o, "down");
    answer_ports(&o, ports, 4);
    struct reader r = reader_of(&ovs_collector, o.dir);
    read_ok(&r);
    assert_int_equal(r.cur->set[TABLE_PORTS].n, 3);
    const struct ports_row *vhu0 = row_of(&r, TABLE_PORTS, "ovs:%s:vhu0", o.dir),
                           *vhu1 = row_of(&r, TABLE_PORTS, "ovs:%s:vhu1", o.dir),
                           *local = row_of(&r, TABLE_PORTS, "net:%llu:1", (unsigned long long)own_netns());
    assert_true(vhu0 && vhu1 && local);
    const struct ports_info *info = INFO(vhu0, ports_info);
    assert_string_equal(info->kind, "vhost-user");
    assert_string_equal(info->socket, "/tmp/vhu0");
    assert_string_equal(info->socket_side, "client");
    assert_string_equal(INFO(vhu1, ports_info)->socket_side, "server");
    assert_string_equal(info->features, "mergeable buffers, multiqueue");
    assert_int_equal(info->vrings, 4);
    assert_int_equal(info->ring_size, 256);
    assert_int_equal(info->numa, 0);
    assert_int_equal(info->rx_queues_wanted, 2);
    assert_string_equal(vhu0->vhost_state, "connected");
    assert_int_equal(vhu0->tx_failure_drops, 60);
    assert_int_equal(vhu0->tx_retries, 8);
    assert_int_equal(vhu0->tx_dropped, 60);
    assert_int_equal(vhu1->rx_qos_drops, 1);
    assert_int_equal(vhu1->tx_qos_drops, 2);
    assert_int_equal(vhu1->tx_mtu_drops, 3);
    assert_false(row_has(vhu1, tx_failure_drops));
    /* What is flooded to a bridge's own port that is down is no loss, seen from either side. */
    assert_false(row_has(local, rx_dropped));
    assert_true(row_has(local, tx_dropped) && local->tx_dropped == 0);
    assert_string_equal(r.call.version, "ovs 3.1.0, dpdk 22.11.1");
    close_reader(&r);
    fake_ovs_end(&o, false);
}

/* An ethdev is one row with what the source dpdk tells of it, whose key has the process's start in it. */
static void test_ethdev_has_the_key_of_dpdk(void **state)
{
    static const struct of_port port = {1, 500, 40, 0, {"rx_missed_errors=9", "rx_mbuf_allocation_errors=4"}};
    struct fake_ovs o;
    char key[128];
    size_t n = 0;
    (void)state;
    fake_ovs_start(&o);
    fake_ovs_answer(&o, "version", "ovs-vswitchd (Open vSwitch) 3.1.0");
    fake_ovs_set_db(&o, "{\"Bridge\":{\"" UUID(1) "\":{\"initial\":{\"name\":\"br0\",\"datapath_type\":"
                                                  "\"netdev\","
                                                  "\"ports\":[\"uuid\",\"" UUID(2) "\"]}}},\"Port\":{\"" UUID(
                                                      2) "\":{\"initial\":{\"name\":\"d0\",\"interfaces\":["
                                                         "\"uuid\",\"" UUID(3) "\"]}}},\"Interface\":{"
                                                                               "\"" UUID(3) "\":{\"initial\":"
                                                                                            "{\"name\":"
                                                                                            "\"d0\",\"type\":"
                                                                                            "\"dpdk\","
                                                                                            "\"ofport\":1,"
                                                                                            "\"ifindex\":5,"
                                                                                            "\"link_speed\":"
                                                                                            "25000000000,"
                                                                                            "\"status\":["
                                                                                            "\"map\",[["
                                                                                            "\"port_no\","
                                                                                            "\"3\"],"
                                                                                            "[\"driver_"
                                                                                            "name\",\"net_"
                                                                                            "mlx5\"],[\"numa_"
                                                                                            "id\",\"1\"]]]}}}"
                                                                                            "}");
    answer_ports(&o, &port, 1);
    struct reader r = reader_of(&ovs_collector, o.dir);
    read_ok(&r);
    const struct ports_row *row = (const void *)sample_row_at(r.cur, TABLE_PORTS, 0);
    assert_int_equal(r.cur->set[TABLE_PORTS].n, 1);
    snprintf(key, sizeof(key), "dpdk:%d:", (int)getpid());
    assert_int_equal(strncmp(row->head.info->key, key, strlen(key)), 0);
    n = strspn(row->head.info->key + strlen(key), "0123456789");
    assert_true(n > 0);
    assert_string_equal(row->head.info->key + strlen(key) + n, ":port3");
    assert_string_equal(INFO(row, ports_info)->kind, "dpdk");
    assert_string_equal(INFO(row, ports_info)->driver, "net_mlx5");
    assert_int_equal(INFO(row, ports_info)->speed_mbps, 25000);
    assert_int_equal(INFO(row, ports_info)->numa, 1);
    assert_int_equal(INFO(row, ports_info)->dpdk_port, 3);
    assert_int_equal(row->rx_missed, 9);
    assert_int_equal(row->rx_nombuf, 4);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

static void test_local_port_that_is_up_loses(void **state)
{
    static const struct of_port port = {0xfffffffe, 0, 0, 999, {0}};
    struct fake_ovs o;
    (void)state;
    start_vhost(&o, "up");
    answer_ports(&o, &port, 1);
    struct reader r = reader_of(&ovs_collector, o.dir);
    read_ok(&r);
    const struct ports_row *local = row_of(&r, TABLE_PORTS, "net:%llu:1", (unsigned long long)own_netns());
    assert_true(row_has(local, rx_dropped) && local->rx_dropped == 999);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

static void test_guest_goes_and_comes_back(void **state)
{
    static const struct of_port before = {2, 100, 1000, 50, {"ovs_tx_failure_drops=50"}},
                                gone = {2, UINT64_MAX, UINT64_MAX, 50, {"ovs_tx_failure_drops=50"}},
                                back = {2, 3, 20, 50, {"ovs_tx_failure_drops=50"}},
                                later = {2, 6, 60, 50, {"ovs_tx_failure_drops=50"}};
    struct fake_ovs o;
    char key[128];
    (void)state;
    start_vhost(&o, "up");
    snprintf(key, sizeof(key), "ovs:%s:vhu1", o.dir);
    answer_ports(&o, &before, 1);
    struct reader r = reader_of(&ovs_collector, o.dir);
    read_ok(&r);
    answer_ports(&o, &gone, 1);
    read_ok(&r);
    struct frame *frame = frame_of(&r);
    expect_kind(port_cell(frame, key, "rx_pps"), CELL_NONE);
    expect_number(port_cell(frame, key, "tx_failure_drop_pps"), 0);
    frame_free(frame);
    answer_ports(&o, &back, 1);
    read_ok(&r);
    frame = frame_of(&r);
    expect_kind(port_cell(frame, key, "rx_pps"), CELL_NEW);
    frame_free(frame);
    answer_ports(&o, &later, 1);
    read_ok(&r);
    frame = frame_of(&r);
    double seconds =
        (double)(sample_row_at(r.cur, TABLE_PORTS, 1)->t_ns - sample_row_at(r.prev, TABLE_PORTS, 1)->t_ns) /
        1e9;
    expect_number(port_cell(frame, key, "tx_pps"), 40 / seconds);
    frame_free(frame);
    answer_ports(&o, &back, 1); /* gone and back between two reads */
    read_ok(&r);
    frame = frame_of(&r);
    expect_kind(port_cell(frame, key, "tx_pps"), CELL_RESET);
    expect_kind(port_cell(frame, key, "tx_drop_pps"), CELL_RESET);
    frame_free(frame);
    close_reader(&r);
    fake_ovs_end(&o, false);
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
        cmocka_unit_test(test_vhost_ports),
        cmocka_unit_test(test_ethdev_has_the_key_of_dpdk),
        cmocka_unit_test(test_local_port_that_is_up_loses),
        cmocka_unit_test(test_guest_goes_and_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
