/* SPDX-License-Identifier: MIT */
/*
 * The ports of source `ovs`, from the database's rows and OpenFlow's counters to rows and rates: vhost-user
 * ports and guests that go and come back, ethdevs, interfaces of the kernel, a bridge's own port.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/ovs_reader.h"

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

/* A bridge of interfaces that the kernel counts too, and of a patch: not worth asking at every tick. */
static void test_kernel_bridge_is_asked_slowly(void **state)
{
    static const struct of_port ports[] = {{0xfffffffe, 9, 8, 7, {0}}, {1, 50, 60, 0, {0}}};
    struct fake_ovs o;
    (void)state;
    fake_ovs_start(&o);
    fake_ovs_answer(&o, "version", "ovs-vswitchd (Open vSwitch) 3.1.0");
    fake_ovs_set_db(
        &o,
        "{\"Bridge\":{\"" UUID(1) "\":{\"initial\":{\"name\":\"br0\",\"ports\":[\"uuid\",\"" UUID(
            2) "\"]}}},\"Port\":{\"" UUID(2) "\":{\"initial\":{\"name\":\"br0\",\"interfaces\":[\"set\","
                                             "[[\"uuid\",\"" UUID(3) "\"],[\"uuid\",\"" UUID(
                                                 4) "\"]]]}}},\"Interface\":{\"" UUID(3) "\":{\"initial\":{"
                                                                                         "\"name\":\"br0\","
                                                                                         "\"type\":"
                                                                                         "\"internal\","
                                                                                         "\"ofport\":65534,"
                                                                                         "\"ifindex\":1,"
                                                                                         "\"admin_state\":"
                                                                                         "\"up\"}},\"" UUID(
                                                                                             4) "\":{"
                                                                                                "\"initial\":"
                                                                                                "{\"name\":"
                                                                                                "\"patch0\","
                                                                                                "\"type\":"
                                                                                                "\"patch\","
                                                                                                "\"ofport\":"
                                                                                                "1}}}}");
    answer_ports(&o, ports, 2);
    struct reader fast = reader_of(&ovs_collector, o.dir), slow = reader_of(&ovs_queues_collector, o.dir);
    read_ok(&fast);
    assert_null(strstr(o.asked, "of:"));
    assert_null(strstr(o.asked, "pmd"));
    const struct ports_row *patch = row_of(&fast, TABLE_PORTS, "ovs:%s:patch0", o.dir);
    assert_non_null(patch);
    assert_string_equal(INFO(patch, ports_info)->kind, "patch");
    assert_string_equal(INFO(patch, ports_info)->datapath, "system@ovs-system");
    assert_false(row_has(patch, rx_packets));
    read_ok(&slow);
    patch = row_of(&slow, TABLE_PORTS, "ovs:%s:patch0", o.dir);
    assert_int_equal(patch->rx_packets, 50);
    assert_int_equal(patch->tx_packets, 60);
    const struct ports_row *local = row_of(&slow, TABLE_PORTS, "net:%llu:1", (unsigned long long)own_netns());
    assert_int_equal(local->rx_packets, 8); /* as the kernel counts: from the switch to the host */
    assert_int_equal(local->rx_dropped, 7);
    fake_ovs_drop_all(&o, 1 << FAKE_OVS_CTL | 1 << FAKE_OVS_DB | 1 << FAKE_OVS_OF);
    assert_int_equal(
        read_once(&fast),
        COLLECT_FAILED); /* that the daemon died is noticed though nothing is asked of its ports */
    close_reader(&fast);
    close_reader(&slow);
    fake_ovs_end(&o, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vhost_ports),
        cmocka_unit_test(test_ethdev_has_the_key_of_dpdk),
        cmocka_unit_test(test_local_port_that_is_up_loses),
        cmocka_unit_test(test_guest_goes_and_comes_back),
        cmocka_unit_test(test_kernel_bridge_is_asked_slowly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
