/* SPDX-License-Identifier: MIT */
/*
 * Joins: what belongs together is found by stable keys whatever the names say, directions are the guest's,
 * and a sum without one of its terms says so.
 */
#include "unit/hand_frame.h"

#include <stdlib.h>

static const struct frame_row *row_of(const struct frame *frame, enum table_id table, const char *key)
{
    const struct frame_row *row = frame_find(frame, table, key);
    if (!row)
        fail_msg("no row %s", key);
    return row;
}

static const char *port_of(const struct frame *frame, const char *path)
{
    const struct frame_row *port = join_port_of_path(frame, row_of(frame, TABLE_PATHS, path));
    return port ? port->key : "none";
}

static struct cell path_cell(const struct frame *frame, const char *path, const char *column)
{
    return cell_of(frame, TABLE_PATHS, path, column);
}

static void expect_text(struct cell cell, const char *text)
{
    expect_kind(cell, CELL_STR);
    assert_string_equal(cell.str, text);
}

/* --- ports behind NICs --- */

static void test_every_nic_finds_its_port(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {NIC1_VHU, VHU1},   {NIC1_TAP, TAP1}, {NIC10_VHU, VHU10},
        {NIC10_TAP, TAP10}, {NIC10_VF, VF},   {NIC_MACV, MACV},
    };
    struct hand hand = hand_healthy();
    const struct frame *frame = hand_frame(&hand);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_string_equal(port_of(frame, pairs[i][0]), pairs[i][1]);
        const struct frame_row *path = join_path_of_port(frame, row_of(frame, TABLE_PORTS, pairs[i][1]));
        assert_non_null(path);
        assert_string_equal(path->key, pairs[i][0]);
    }
    assert_null(join_path_of_port(frame, row_of(frame, TABLE_PORTS, ETH0)));
    hand_free(&hand);
}

/* /var/run is /run; another socket whose name only begins alike is another. */
static void test_sockets_by_path(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *port;
    } cases[] = {
        {"/run/vhu/1.sock", VHU1},  {"/var/run/vhu/1.sock", VHU1}, {"/run//vhu/1.sock", VHU1},
        {"/run/vhu/1.soc", "none"}, {"/run/vhu/1.sock2", "none"},  {"/run/vhu/10.sock", VHU10},
        {"/var/runvhu/1", "none"},  {"vhu/1.sock", "none"},        {"/srv/run/vhu/1.sock", "none"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hand hand = hand_healthy();
        PATH_FACT(&hand, NIC1_VHU, socket, cases[i].asked);
        assert_string_equal(port_of(hand_frame(&hand), NIC1_VHU), cases[i].port);
        hand_free(&hand);
    }
}

/* Two namespaces with a tap of one name: each guest has the one of its own. */
static void test_same_name_in_two_namespaces(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_port(&hand, "net:77:21", "tap1", "tap", "br0", 1, 2);
    PORT_FACT(&hand, "net:77:21", netns, "blue");
    assert_string_equal(port_of(hand_frame(&hand), NIC1_TAP), TAP1); /* it does not say: this one */
    PATH_FACT(&hand, NIC1_TAP, netns_inode, UINT64_C(77));
    assert_string_equal(port_of(hand_frame(&hand), NIC1_TAP), "net:77:21");
    PATH_FACT(&hand, NIC1_TAP, netns_inode, UINT64_C(1));
    assert_string_equal(port_of(hand_frame(&hand), NIC1_TAP), TAP1);
    PATH_FACT(&hand, NIC1_TAP, netns_inode, UINT64_C(7)); /* not 77's prefix */
    assert_string_equal(port_of(hand_frame(&hand), NIC1_TAP), "none");
    hand_free(&hand);
}

/* A guest of another host has neither a port, a socket nor a virtual function here. */
static void test_guest_elsewhere_has_no_port_here(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    static const char *const nics[] = {NIC1_TAP, NIC1_VHU, NIC10_VF};
    for (size_t i = 0; i < sizeof(nics) / sizeof(nics[0]); i++)
        PATH_FACT(&hand, nics[i], uri, "qemu+ssh://far/system");
    for (size_t i = 0; i < sizeof(nics) / sizeof(nics[0]); i++)
        assert_string_equal(port_of(hand_frame(&hand), nics[i]), "none");
    hand_free(&hand);
}

/* An OVS port with the name of a tap does not take its place, nor the other way round. */
static void test_tap_is_the_kernels(void **state)
{
    (void)state;
    struct hand hand = hand_new();
    hand_vm(&hand, VM1, "vm1", NULL);
    hand_ovs_port(&hand, "ovs:/run/openvswitch:t0", "t0", "vhost-user", NULL, 1, 1);
    hand_port(&hand, "net:1:5", "t0", "tap", NULL, 2, 2);
    hand_path(&hand, VM1, "a", "52:54:00:00:01:01", "vhost", "t0", NULL);
    hand_path(&hand, VM1, "b", "52:54:00:00:01:02", "vhost-user", "t0", NULL);
    const struct frame *frame = hand_frame(&hand);
    assert_string_equal(port_of(frame, "path:" VM1 ":52:54:00:00:01:01"), "net:1:5");
    assert_string_equal(port_of(frame, "path:" VM1 ":52:54:00:00:01:02"), "ovs:/run/openvswitch:t0");
    hand_free(&hand);
}

/* A MAC that two functions have, or none has, is nobody's. */
static void test_functions_by_an_address_of_their_own(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_port(&hand, "net:1:2:vf4", "eth0/vf4", "vf", NULL, 1, 1);
    PORT_FACT(&hand, "net:1:2:vf4", mac, "52:54:00:00:10:04");
    assert_string_equal(port_of(hand_frame(&hand), NIC10_VF), VF);
    PORT_FACT(&hand, "net:1:2:vf4", mac, "52:54:00:00:10:03");
    assert_string_equal(port_of(hand_frame(&hand), NIC10_VF), "none");
    PORT_FACT(&hand, "net:1:2:vf4", mac, "00:00:00:00:00:00");
    PORT_FACT(&hand, VF, mac, "00:00:00:00:00:00");
    PATH_FACT(&hand, NIC10_VF, mac, "00:00:00:00:00:00");
    assert_string_equal(port_of(hand_frame(&hand), NIC10_VF), "none");
    hand_free(&hand);
}

/* --- virtual machines and their threads --- */

static unsigned count_threads(const struct frame *frame, const char *vm)
{
    unsigned n = 0;
    for (const struct frame_row *t = join_first_thread(frame, row_of(frame, TABLE_VMS, vm)); t;
         t = join_next_thread(frame, t)) {
        assert_ptr_equal(join_thread_of(frame, t)->vm, row_of(frame, TABLE_VMS, vm));
        n++;
    }
    return n;
}

static void test_vm1_is_not_vm10(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    VM_FACT(&hand, VM10, name, "vm1"); /* not even when it has its name */
    const struct frame *frame = hand_frame(&hand);
    assert_int_equal(count_threads(frame, VM1), 4);
    assert_int_equal(count_threads(frame, VM10), 3);
    assert_int_equal(count_threads(frame, PLAIN), 2);
    expect_number(cell_of(frame, TABLE_VMS, VM1, "run_pct"), 140);
    expect_number(cell_of(frame, TABLE_VMS, VM1, "to_guest_pps"), 230000);
    expect_number(cell_of(frame, TABLE_VMS, VM10, "to_guest_pps"), 137000);
    hand_free(&hand);
}

static void test_sums_of_a_vm(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    const struct frame *frame = hand_frame(&hand);
    expect_number(cell_of(frame, TABLE_VMS, VM1, "worst_steal_pct"), 0.5);
    expect_number(cell_of(frame, TABLE_VMS, VM1, "emulator_pct"), 3);
    expect_number(cell_of(frame, TABLE_VMS, VM1, "vhost_pct"), 40);
    expect_text(cell_of(frame, TABLE_VMS, VM1, "worst_vcpu"), "0@2");
    expect_text(cell_of(frame, TABLE_VMS, VM1, "pinning"), "pinned");
    expect_kind(cell_of(frame, TABLE_VMS, VM10, "vhost_pct"), CELL_NONE);
    hand_free(&hand);
}

/* A vCPU without a number: the sum is a part of the truth, and says so. Without any there is none. */
static void test_sum_without_a_term_says_so(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    UNKNOWN(&hand, threads, THREADS, VM1 "/vcpu/1", run_ns);
    struct cell cell = cell_of(hand_frame(&hand), TABLE_VMS, VM1, "run_pct");
    expect_number(cell, 80);
    assert_true(cell.approx);
    UNKNOWN(&hand, threads, THREADS, VM1 "/vcpu/0", run_ns);
    expect_kind(cell_of(hand_frame(&hand), TABLE_VMS, VM1, "run_pct"), CELL_NONE);
    UNKNOWN(&hand, ports, PORTS, TAP1, tx_packets);
    cell = cell_of(hand_frame(&hand), TABLE_VMS, VM1, "to_guest_pps");
    expect_number(cell, 200000);
    assert_true(cell.approx);
    hand_free(&hand);
}

static void test_reason_of_an_unknown_sum(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    for (unsigned i = 0; i < 2; i++) {
        char key[96];
        snprintf(key, sizeof(key), VM1 "/vcpu/%u", i);
        UNKNOWN(&hand, threads, THREADS, key, run_ns);
        struct threads_row *row = hand_find(hand.cur, TABLE_THREADS, key);
        row_deny(row, run_ns);
    }
    expect_kind(cell_of(hand_frame(&hand), TABLE_VMS, VM1, "run_pct"), CELL_DENIED);
    hand_free(&hand);
}

static void test_worst_vcpu(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_run(&hand, VM1 "/vcpu/1", 50, 40);
    const struct frame *frame = hand_frame(&hand);
    expect_text(cell_of(frame, TABLE_VMS, VM1, "worst_vcpu"), "1@4");
    expect_number(path_cell(frame, NIC1_TAP, "worst_steal_pct"), 40);
    expect_number(path_cell(frame, NIC1_TAP, "worst_run_pct"), 50);
    expect_text(path_cell(frame, NIC1_TAP, "worst_vcpu"), "1@4");
    hand_run(&hand, VM1 "/vcpu/0", 10, 40); /* of two that wait alike the one that runs more */
    expect_text(cell_of(hand_frame(&hand), TABLE_VMS, VM1, "worst_vcpu"), "1@4");
    UNKNOWN(&hand, threads, THREADS, VM1 "/vcpu/0", delay_ns);
    UNKNOWN(&hand, threads, THREADS, VM1 "/vcpu/1", delay_ns);
    expect_kind(cell_of(hand_frame(&hand), TABLE_VMS, VM1, "worst_vcpu"), CELL_NONE);
    hand_free(&hand);
}

/* An emulator that waits is no vCPU. */
static void test_worst_vcpu_is_a_vcpu(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_run(&hand, VM1 "/emulator/0", 50, 50);
    expect_text(cell_of(hand_frame(&hand), TABLE_VMS, VM1, "worst_vcpu"), "0@2");
    hand_free(&hand);
}

/* --- columns of a NIC --- */

static void test_directions(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        double to, from;
    } cases[] = {
        {NIC1_TAP, 30000, 20000},
        {NIC1_VHU, 200000, 100000}, /* a switch sends to the guest */
        {NIC_MACV, 5000, 6000},
        {NIC10_VF, 7000, 8000}, /* these receive as the guest does */
    };
    struct hand hand = hand_healthy();
    PORT_RISE(&hand, TAP1, tx_dropped, 10000);
    PORT_RISE(&hand, MACV, rx_dropped, 5000);
    const struct frame *frame = hand_frame(&hand);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_number(path_cell(frame, cases[i].path, "to_guest_pps"), cases[i].to);
        expect_number(path_cell(frame, cases[i].path, "from_guest_pps"), cases[i].from);
        expect_number(path_cell(frame, cases[i].path, "to_guest_bps"), cases[i].to * 800);
        expect_number(path_cell(frame, cases[i].path, "to_guest_packet_bytes"), 100);
    }
    expect_number(path_cell(frame, NIC1_TAP, "to_guest_drop_pps"), 10000);
    expect_number(path_cell(frame, NIC1_TAP, "to_guest_loss_pct"), 25);
    expect_number(path_cell(frame, NIC1_TAP, "from_guest_drop_pps"), 0);
    expect_number(path_cell(frame, NIC_MACV, "to_guest_drop_pps"), 5000);
    expect_number(path_cell(frame, NIC_MACV, "from_guest_loss_pct"), 0);
    hand_free(&hand);
}

static void test_nic_without_a_port_has_no_numbers(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    PATH_FACT(&hand, NIC1_TAP, port, "tap99");
    const struct frame *frame = hand_frame(&hand);
    expect_kind(path_cell(frame, NIC1_TAP, "to_guest_pps"), CELL_NONE);
    expect_kind(path_cell(frame, NIC1_TAP, "to_guest_loss_pct"), CELL_NONE);
    expect_kind(path_cell(frame, NIC1_TAP, "to_guest_cause"), CELL_NONE);
    hand_free(&hand);
}

/* OVS's own word comes before the kernel's, which calls its datapath a master. */
static void test_switch_of_a_nic(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    expect_text(path_cell(hand_frame(&hand), NIC1_TAP, "switch"), "br0");
    struct sample *ovs = sample_at(hand.inventory, HAND_NS);
    struct ports_info *info = inventory_info(hand.inventory, TABLE_PORTS, "%s", TAP1);
    info_set(info, switch_, "br-int");
    info_set(info, datapath, "system@ovs-system");
    sample_row(ovs, TABLE_PORTS, info);
    PORT_FACT(&hand, TAP1, switch_, "ovs-system");
    struct pair pairs[] = {{.feed = "netlink", .cur = hand.cur, .prev = hand.prev},
                           {.feed = "ovs", .cur = ovs}};
    struct frame *frame = frame_new(pairs, 2, HAND_NS, HAND_NS, 0);
    expect_text(path_cell(frame, NIC1_TAP, "switch"), "br-int");
    frame_free(frame);
    sample_unref(ovs);
    hand_free(&hand);
}

static void test_causes_of_loss_to_the_guest(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    expect_kind(path_cell(hand_frame(&hand), NIC1_VHU, "to_guest_cause"), CELL_NONE);
    PORT_RISE(&hand, VHU1, tx_dropped, 100);
    PORT_RISE(&hand, VHU1, tx_failure_drops, 100);
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "to_guest_cause"), "guest does not drain");
    PORT_RISE(&hand, VHU1, tx_dropped, 300);
    PORT_RISE(&hand, VHU1, tx_mtu_drops, 200);
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "to_guest_cause"), "larger than MTU");
    PORT_RISE(&hand, VHU1, tx_dropped, 3000);
    PORT_RISE(&hand, VHU1, tx_qos_drops, 2700);
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "to_guest_cause"), "policer");
    PORT_RISE(&hand, VHU1, tx_dropped, 30000); /* most is told by no counter of its own */
    expect_kind(path_cell(hand_frame(&hand), NIC1_VHU, "to_guest_cause"), CELL_NONE);
    PORT_RISE(&hand, TAP1, tx_dropped, 100);
    expect_text(path_cell(hand_frame(&hand), NIC1_TAP, "to_guest_cause"), "ring full");
    PORT_RISE(&hand, TAP1, qdisc_drops, 200);
    expect_text(path_cell(hand_frame(&hand), NIC1_TAP, "to_guest_cause"), "qdisc");
    PORT_RISE(&hand, MACV, rx_dropped, 5);
    expect_text(path_cell(hand_frame(&hand), NIC_MACV, "to_guest_cause"), "ring full");
    hand_free(&hand);
}

/* --- who serves --- */

static void test_servers(void **state)
{
    (void)state;
    static const struct {
        const char *path, *served_by;
        double busy;
    } cases[] = {
        {NIC1_VHU, "pmd 0", 50}, {NIC10_VHU, "pmd 8", 40}, {NIC1_TAP, "vhost", 40},
        {NIC10_TAP, "qemu", 20}, {NIC_MACV, "qemu", 2}, /* a macvtap without a vhost worker */
    };
    struct hand hand = hand_healthy();
    const struct frame *frame = hand_frame(&hand);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_text(path_cell(frame, cases[i].path, "serving"), cases[i].served_by);
        expect_number(path_cell(frame, cases[i].path, "serving_busy_pct"), cases[i].busy);
    }
    expect_kind(path_cell(frame, NIC10_VF, "serving"), CELL_NONE); /* hardware */
    expect_number(path_cell(frame, NIC1_TAP, "serving_steal_pct"), 1);
    hand_free(&hand);
}

/* The busiest of the PMDs that poll its queues; another OVS's port of that name is not its. */
static void test_pmd_of_a_multiqueue_port(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    for (unsigned core = 1; core < 4; core++)
        hand_pmd(&hand, core, 0, 20 * core, 1000);
    for (unsigned queue = 1; queue < 4; queue++)
        hand_rxq(&hand, "vhu1", queue, queue, 10);
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "serving"), "pmd 3");
    FACT(&hand, rxqs, RXQS, "rxq:vhu1:3", ovs, "/run/other");
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "serving"), "pmd 0");
    hand_free(&hand);
}

static void test_main_thread_serves(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    UNKNOWN_FACT(&hand, pmds, PMDS, "pmd:0", core);
    FACT(&hand, pmds, PMDS, "pmd:0", thread, "main");
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "serving"), "ovs main");
    hand_free(&hand);
}

/* Workers are made in the order of NICs and queues; where that does not add up, the busiest is a guess. */
static void test_vhost_workers_of_several_nics(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_port(&hand, "net:1:24", "tap1b", "tap", "br0", 10, 10);
    hand_path(&hand, VM1, "net2", "52:54:00:00:01:09", "vhost", "tap1b", NULL);
    PATH_FACT(&hand, "path:" VM1 ":52:54:00:00:01:09", queues, UINT64_C(2));
    hand_thread(&hand, VM1, "vhost", 1, 6, "6-7", 10, 2);
    hand_thread(&hand, VM1, "vhost", 2, 6, "6-7", 30, 3);
    struct cell cell = path_cell(hand_frame(&hand), NIC1_TAP, "serving_busy_pct");
    expect_number(cell, 40);
    assert_false(cell.approx);
    cell = path_cell(hand.frame, "path:" VM1 ":52:54:00:00:01:09", "serving_busy_pct");
    expect_number(cell, 30);
    assert_false(cell.approx);
    expect_number(path_cell(hand.frame, "path:" VM1 ":52:54:00:00:01:09", "serving_steal_pct"), 3);
    hand_thread(&hand, VM1, "vhost", 3, 6, "6-7", 55, 4); /* whose is it? */
    cell = path_cell(hand_frame(&hand), NIC1_TAP, "serving_busy_pct");
    expect_number(cell, 55);
    assert_true(cell.approx);
    hand_free(&hand);
}

static void test_dpdk_process_of_a_port(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        bool holds;
    } cases[] = {
        {"testpmd --vdev net_virtio_user0,path=/run/vhu/1.sock,server=1", true},
        {"testpmd --vdev net_virtio_user0,path=/run/vhu/1.sock", true},
        {"app --vdev eth_vhost0,iface=/run/vhu/1.sock -- --foo", true},
        {"testpmd --vdev net_virtio_user0,path=/run/vhu/1.sock2", false},
        {"testpmd --vdev net_virtio_user0,path=/srv/run/vhu/1.sock", false},
        {"tail /run/vhu/1.sock", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hand hand = hand_healthy();
        hand_process(&hand, "testpmd", 555, cases[i].args);
        const struct frame *frame = hand_frame(&hand);
        const struct frame_row *process = join_process_of_port(frame, row_of(frame, TABLE_PORTS, VHU1));
        assert_int_equal(process != NULL, cases[i].holds);
        assert_null(join_process_of_port(frame, row_of(frame, TABLE_PORTS, ETH0)));
        hand_free(&hand);
    }
}

/* --- NUMA --- */

static void test_numa_match(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "numa_match"), "yes");
    PORT_FACT(&hand, VHU1, numa, UINT64_C(1));
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "numa_match"), "no");
    PORT_FACT(&hand, VHU1, numa, UINT64_C(0));
    VM_FACT(&hand, VM1, numa_nodes, "1");
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "numa_match"), "no");
    VM_FACT(&hand, VM1, numa_nodes, "0");
    THREAD_GAUGE(&hand, VM1 "/vcpu/1", cpu, UINT64_C(9));
    expect_text(path_cell(hand_frame(&hand), NIC1_VHU, "numa_match"), "no");
    struct join_nodes nodes = join_nodes(hand.frame, row_of(hand.frame, TABLE_PATHS, NIC1_VHU));
    assert_true(nodes.vcpus == 3 && nodes.memory == 1 && nodes.thread == 1 && nodes.port == 1);
    hand_free(&hand);
}

static void test_numa_unknown(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    for (unsigned cpu = 0; cpu < 16; cpu++) {
        char key[32];
        snprintf(key, sizeof(key), "cpu:%u", cpu);
        UNKNOWN_FACT(&hand, cpus, CPUS, key, numa);
    }
    expect_kind(path_cell(hand_frame(&hand), NIC1_VHU, "numa_match"), CELL_NONE);
    hand_free(&hand);
}

/* --- CPUs and names --- */

static void test_threads_of_a_cpu(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    const struct frame *frame = hand_frame(&hand);
    expect_text(cell_of(frame, TABLE_CPUS, "cpu:6", "ran"), "vm1 vhost/0 40, plain/0 40");
    expect_text(cell_of(frame, TABLE_CPUS, "cpu:2", "ran"), "vm1/0 80");
    expect_text(cell_of(frame, TABLE_CPUS, "cpu:0", "pinned"), "pmd/0");
    expect_text(cell_of(frame, TABLE_CPUS, "cpu:0", "may_run"), "pmd/0, handler/1");
    expect_text(cell_of(frame, TABLE_CPUS, "cpu:6", "pinned"),
                "vm1 vhost/0, plain/0, vm1 emulator/0, plain emulator/0");
    expect_kind(cell_of(frame, TABLE_CPUS, "cpu:13", "ran"), CELL_NONE);
    hand_free(&hand);
}

/* More threads than a line holds: whole names, and how many are left out. */
static void test_long_list_of_threads(void **state)
{
    (void)state;
    struct hand hand = hand_new();
    hand_cpu(&hand, 0, 0, NULL);
    hand_vm(&hand, "vm:x", "a-virtual-machine-whose-name-is-longer-than-anybody-reads", NULL);
    for (unsigned i = 0; i < 40; i++)
        hand_thread(&hand, "vm:x", "vcpu", i, 0, "0", 2, 0);
    struct cell cell = cell_of(hand_frame(&hand), TABLE_CPUS, "cpu:0", "ran");
    expect_kind(cell, CELL_STR);
    assert_non_null(strstr(cell.str, "a-virtual-machine-whose-name-is-longer../0 2, "));
    unsigned named = 0, more = 0;
    for (const char *p = cell.str; (p = strstr(p, "../")); p++)
        named++;
    assert_non_null(strstr(cell.str, " more"));
    sscanf(strrchr(cell.str, ',') + 2, "%u more", &more);
    assert_int_equal(named + more, 40);
    hand_free(&hand);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *vm, *name;
    } cases[] = {
        {"web", "web/3"},
        {"a\033[31mb\n", "a?[31mb?/3"},
        {"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
         "\u00e9"
         "\u00e9\u00e9\u00e9\u00e9",
         "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
         "\u00e9"
         "\u00e9\u00e9../3"},
        {"\xff\xfe", "?"
                     "?/3"},
        {"", "/3"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hand hand = hand_new();
        char name[96];
        hand_vm(&hand, "vm:x", cases[i].vm, NULL);
        hand_thread(&hand, "vm:x", "vcpu", 3, 0, "0", 2, 0);
        const struct frame *frame = hand_frame(&hand);
        join_thread_name(name, sizeof(name), frame, row_of(frame, TABLE_THREADS, "vm:x/vcpu/3"));
        assert_string_equal(name, cases[i].name);
        hand_free(&hand);
    }
}

static void test_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        unsigned count;
        uint64_t bits;
    } cases[] = {
        {"0", 1, 1},     {"0-3,8", 5, 0x10f}, {"", 0, 0},
        {NULL, 0, 0},    {"x", 0, 0},         {"3-1", 0, 0},
        {"1,", 1, 2},    {"1-", 1, 2},        {"63", 1, UINT64_C(1) << 63},
        {"64-70", 7, 0}, {"-5", 0, 0},        {"0-99999999999999999999", 0, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(join_list_count(cases[i].list), cases[i].count);
        assert_true(join_list_bits(cases[i].list) == cases[i].bits);
    }
    assert_true(join_list_has("0-3,8", 8));
    assert_false(join_list_has("0-3,8", 4));
    assert_false(join_list_has("1,10", 0));
    assert_false(join_list_has(NULL, 0));
}

static void test_pinned(void **state)
{
    (void)state;
    struct hand hand = hand_healthy(); /* 16 CPUs */
    const struct frame *frame = hand_frame(&hand);
    assert_true(join_is_pinned(frame, "3"));
    assert_true(join_is_pinned(frame, "0-3"));
    assert_false(join_is_pinned(frame, "0-4"));
    assert_false(join_is_pinned(frame, "0-15"));
    assert_false(join_is_pinned(frame, ""));
    hand_free(&hand);
    hand = hand_new(); /* CPUs not known */
    frame = hand_frame(&hand);
    assert_true(join_is_pinned(frame, "3"));
    assert_false(join_is_pinned(frame, "0-1"));
    hand_free(&hand);
}

/* A recording may hold any number. */
static void test_absurd_cpu_numbers(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    THREAD_GAUGE(&hand, VM1 "/vcpu/0", cpu, UINT64_MAX);
    THREAD_FACT(&hand, VM1 "/vcpu/1", allowed_cpus, "99999999999");
    FACT(&hand, cpus, CPUS, "cpu:3", cpu, UINT64_MAX / 2);
    const struct frame *frame = hand_frame(&hand);
    assert_int_equal(join_thread_of(frame, row_of(frame, TABLE_THREADS, VM1 "/vcpu/0"))->cpu, -1);
    assert_int_equal(join_thread_of(frame, row_of(frame, TABLE_THREADS, VM1 "/vcpu/1"))->only_cpu, -1);
    assert_null(join_cpu(frame, INT64_MAX));
    assert_null(join_cpu(frame, -1));
    assert_null(join_first_on_cpu(frame, 1 << 20));
    hand_free(&hand);
}

/* --- lossy ports --- */

static void test_lossy_ports(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    size_t n;
    join_lossy_ports(hand_frame(&hand), &n);
    assert_int_equal(n, 0);
    PORT_RISE(&hand, TAP10, tx_dropped, 1);
    PORT_RISE(&hand, ETH0, carrier_changes, 2);
    PORT_RISE(&hand, VETH, rx_errors, 1);
    const struct frame *frame = hand_frame(&hand);
    const struct frame_row *const *ports = join_lossy_ports(frame, &n);
    assert_int_equal(n, 3);
    assert_string_equal(ports[0]->key, ETH0);
    assert_string_equal(ports[1]->key, TAP10);
    assert_string_equal(ports[2]->key, VETH);
    hand_free(&hand);
}

/* OVS's NICs are ethdevs of its own DPDK as well: one loss is told once. */
static void test_lossy_nic_of_ovs_is_there_once(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    size_t n;
    PORT_FACT(&hand, DPDK0, dpdk_port, UINT64_C(0));
    PORT_RISE(&hand, DPDK0, rx_missed, 9);
    hand_port(&hand, "dpdk:1:0", "0000:01:00.0", "ethdev", "ovs-vswitchd", 300000, 400000);
    PORT_FACT(&hand, "dpdk:1:0", dpdk_port, UINT64_C(0));
    PORT_RISE(&hand, "dpdk:1:0", rx_missed, 9);
    join_lossy_ports(hand_frame(&hand), &n);
    assert_int_equal(n, 1);
    PORT_FACT(&hand, "dpdk:1:0", dpdk_port, UINT64_C(1)); /* another NIC, that OVS has no port of */
    join_lossy_ports(hand_frame(&hand), &n);
    assert_int_equal(n, 2);
    hand_free(&hand);
}

/* A frame of nothing, and a row of a series, which has no tables. */
static void test_empty(void **state)
{
    (void)state;
    struct hand hand = hand_new();
    size_t n;
    const struct frame *frame = hand_frame(&hand);
    assert_non_null(frame_join(frame));
    join_lossy_ports(frame, &n);
    assert_int_equal(n, 0);
    JOIN_EACH_THREAD(thread, frame)
    fail_msg("a thread %p of nothing", (const void *)thread);
    struct frame alone = {.now_ns = HAND_NS};
    assert_null(frame_join(&alone));
    assert_null(join_lossy_ports(&alone, &n));
    JOIN_EACH_THREAD(other, &alone)
    fail_msg("a thread %p of nothing", (const void *)other);
    hand_free(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_nic_finds_its_port),
        cmocka_unit_test(test_sockets_by_path),
        cmocka_unit_test(test_same_name_in_two_namespaces),
        cmocka_unit_test(test_guest_elsewhere_has_no_port_here),
        cmocka_unit_test(test_tap_is_the_kernels),
        cmocka_unit_test(test_functions_by_an_address_of_their_own),
        cmocka_unit_test(test_vm1_is_not_vm10),
        cmocka_unit_test(test_sums_of_a_vm),
        cmocka_unit_test(test_sum_without_a_term_says_so),
        cmocka_unit_test(test_reason_of_an_unknown_sum),
        cmocka_unit_test(test_worst_vcpu),
        cmocka_unit_test(test_worst_vcpu_is_a_vcpu),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_nic_without_a_port_has_no_numbers),
        cmocka_unit_test(test_switch_of_a_nic),
        cmocka_unit_test(test_causes_of_loss_to_the_guest),
        cmocka_unit_test(test_servers),
        cmocka_unit_test(test_pmd_of_a_multiqueue_port),
        cmocka_unit_test(test_main_thread_serves),
        cmocka_unit_test(test_vhost_workers_of_several_nics),
        cmocka_unit_test(test_dpdk_process_of_a_port),
        cmocka_unit_test(test_numa_match),
        cmocka_unit_test(test_numa_unknown),
        cmocka_unit_test(test_threads_of_a_cpu),
        cmocka_unit_test(test_long_list_of_threads),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_absurd_cpu_numbers),
        cmocka_unit_test(test_lossy_ports),
        cmocka_unit_test(test_lossy_nic_of_ovs_is_there_once),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
