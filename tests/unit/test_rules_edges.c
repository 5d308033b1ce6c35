/* SPDX-License-Identifier: MIT */
/*
 * The numbers of the rules: each on its edge, where the rule speaks, and just short of it, where it is
 * silent. What a rule says, and what else silences it, is test_rules.c's.
 */
#include "unit/hand_frame.h"

#include "src/rules.h"

typedef void edge_fn(struct hand *hand, double value);

/* Findings of a rule on the healthy host with that change; the worst severity and the first text. */
struct told {
    size_t n;
    enum severity severity;
    char text[640];
};

static struct told told(edge_fn *change, double value, const char *rule)
{
    struct told told = {0};
    struct finding_list list = {0};
    struct hand hand = hand_healthy();
    change(&hand, value);
    findings_look(hand_frame(&hand), &list);
    for (size_t i = 0; i < list.n; i++) {
        const struct finding *f = &list.findings[i];
        if (strcmp(f->rule->id, rule) != 0)
            continue;
        if (told.n++ == 0)
            snprintf(told.text, sizeof(told.text), "%s", f->text);
        told.severity = f->severity > told.severity ? f->severity : told.severity;
    }
    finding_list_free(&list);
    hand_free(&hand);
    return told;
}

struct edge {
    const char *rule;
    edge_fn *change;
    double silent, speaks;
};

static void expect_edges(const struct edge *edges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct edge *e = &edges[i];
        if (told(e->change, e->silent, e->rule).n != 0)
            fail_msg("%s (edge %zu) speaks at %g", e->rule, i, e->silent);
        if (told(e->change, e->speaks, e->rule).n == 0)
            fail_msg("%s (edge %zu) is silent at %g", e->rule, i, e->speaks);
    }
}

#define EDGES(...)                                                                                           \
    do {                                                                                                     \
        const struct edge edges_[] = {__VA_ARGS__};                                                          \
        expect_edges(edges_, sizeof(edges_) / sizeof(edges_[0]));                                            \
    } while (0)
#define EDGE(name) static void name(struct hand *hand, double value)

/* The severity changes at an edge, too. */
static void expect_bad_from(const char *rule, edge_fn *change, double watch, double bad)
{
    assert_int_equal(told(change, watch, rule).severity, SEVERITY_WATCH);
    assert_int_equal(told(change, bad, rule).severity, SEVERITY_BAD);
}

/* --- CPUs --- */

EDGE(vcpu_waits)
{
    hand_run(hand, VM1 "/vcpu/0", 80, value);
}

EDGE(pmd_waits)
{
    hand_run(hand, "ovs-vswitchd/pmd/0", 80, value);
}

EDGE(pmd_is_preempted)
{
    hand_run(hand, "ovs-vswitchd/pmd/0", 80, 5);
    RISE(hand, threads, THREADS, "ovs-vswitchd/pmd/0", involuntary, value);
}

/* Two threads that have CPU 13 alone. */
static void two_on_13(struct hand *hand, double run, double waits, double other_run, double other_waits)
{
    hand_thread(hand, VM10, "worker", 0, 13, "13", run, waits);
    hand_thread(hand, VM10, "worker", 1, 13, "13", other_run, other_waits);
}

EDGE(second_wants)
{
    two_on_13(hand, 92, 0, value - 1, 1);
}

EDGE(both_want)
{
    two_on_13(hand, 60, 20, value - 100, 20);
}

EDGE(both_run)
{
    two_on_13(hand, 30, 30, value - 30, 30);
}

EDGE(sibling_runs)
{
    hand_thread(hand, VM1, "vcpu", 2, 1, "1-5", value, 0);
}

EDGE(poller_runs)
{
    sibling_runs(hand, 60);
    hand_run(hand, "ovs-vswitchd/pmd/0", value, 0);
}

/* Two pollers on one core are one finding, however little the second polls. */
EDGE(second_poller_runs)
{
    hand_thread(hand, "ovs-vswitchd", "pmd", 1, 1, "1", value, 0);
}

EDGE(floating_runs)
{
    THREAD_FACT(hand, PLAIN "/vcpu/0", allowed_cpus, "0-15");
    hand_run(hand, PLAIN "/vcpu/0", value, 0);
}

/* The only CPU that is somebody's own is vm1/0's. */
EDGE(owner_wants)
{
    static const char *const others[] = {VM1 "/vcpu/1", VM10 "/vcpu/0", VM10 "/vcpu/1"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        hand_run(hand, others[i], 5, 0);
    THREAD_FACT(hand, PLAIN "/vcpu/0", allowed_cpus, "2-3,5-7");
    hand_run(hand, VM1 "/vcpu/0", value - 1, 1);
}

EDGE(helper_runs)
{
    THREAD_GAUGE(hand, VM1 "/emulator/0", cpu, UINT64_C(2));
    hand_run(hand, VM1 "/emulator/0", value, 0);
    hand_run(hand, VM1 "/vcpu/0", 60, 9);
}

EDGE(victim_waits)
{
    helper_runs(hand, 30);
    hand_run(hand, VM1 "/vcpu/0", 60, value);
}

EDGE(victim_wants)
{
    helper_runs(hand, 30);
    hand_run(hand, VM1 "/vcpu/0", value - 9, 9);
}

EDGE(interrupts_take)
{
    FACT(hand, cpus, CPUS, "cpu:0", irqs, "eth0");
    hand_cpu_ticks(hand, 0, 0, (unsigned)value);
}

EDGE(vhost_runs)
{
    hand_run(hand, VM1 "/vhost/0", value, 0);
}

static void test_cpus(void **state)
{
    (void)state;
    EDGES({"vcpu-steal", vcpu_waits, 9.9, 10}, {"poller-preempted", pmd_waits, 2.9, 3},
          {"cpu-shared", second_wants, 14.9, 15.1}, {"cpu-shared", both_want, 104.9, 105.1},
          {"cpu-shared", both_run, 59.9, 60.1}, {"smt-sibling", sibling_runs, 49.9, 50},
          {"smt-sibling", poller_runs, 49.9, 50}, {"smt-sibling", second_poller_runs, 49.9, 50},
          {"floating-vcpus", floating_runs, 19.9, 20}, {"floating-vcpus", owner_wants, 29.9, 30.1},
          {"helper-on-busy-cpu", helper_runs, 14.9, 15}, {"helper-on-busy-cpu", victim_waits, 4.9, 5},
          {"helper-on-busy-cpu", victim_wants, 49.9, 50.1}, {"helper-on-busy-cpu", interrupts_take, 9, 10},
          {"vhost-saturated", vhost_runs, 94.9, 95});
    expect_bad_from("vcpu-steal", vcpu_waits, 29.9, 30);
    expect_bad_from("poller-preempted", pmd_waits, 9.9, 10);
    assert_int_equal(told(second_poller_runs, 50, "smt-sibling").n, 1);
    assert_null(strstr(told(pmd_is_preempted, 0, "poller-preempted").text, "preempted"));
    assert_non_null(strstr(told(pmd_is_preempted, 1, "poller-preempted").text, "preempted 1 times/s"));
}

EDGE(many_on_13)
{
    for (unsigned i = 0; i < (unsigned)value; i++)
        hand_thread(hand, VM10, "worker", i, 13, "13", 20, 8);
}

/* Four are named; who others are is told by their number. */
static void test_names_of_many(void **state)
{
    (void)state;
    assert_non_null(strstr(told(many_on_13, 4, "cpu-shared").text, "vm10 worker/3 (run 20 %, waits 8 %)"));
    assert_null(strstr(told(many_on_13, 4, "cpu-shared").text, "more"));
    assert_null(strstr(told(many_on_13, 6, "cpu-shared").text, "worker/4"));
    assert_non_null(strstr(told(many_on_13, 6, "cpu-shared").text, ", 2 more"));
    assert_non_null(strstr(told(many_on_13, 20, "cpu-shared").text, "for 20 threads that want 560 %"));
}

/* --- guests --- */

EDGE(tap_drops)
{
    PORT_RISE(hand, TAP1, tx_dropped, value); /* 30000 pass */
}

EDGE(slow_tap_drops)
{
    hand_traffic(hand, TAP1, 0, 5);
    tap_drops(hand, value);
}

/* Why: vm1/0 waits so much, in the sentence alone. */
EDGE(drops_and_vcpu_waits)
{
    tap_drops(hand, 10000);
    hand_run(hand, VM1 "/vcpu/0", 50, value);
    hand_run(hand, VM1 "/vcpu/1", 10, 0);
}

EDGE(drops_and_vhost_waits)
{
    tap_drops(hand, 10000);
    hand_run(hand, VM1 "/vhost/0", 20, value);
}

EDGE(drops_and_vhost_runs)
{
    tap_drops(hand, 10000);
    hand_run(hand, VM1 "/vhost/0", value, 0);
}

EDGE(drops_and_vcpu_runs)
{
    tap_drops(hand, 10000);
    hand_run(hand, VM1 "/vcpu/0", value, 0);
}

/* vhost is full, and so is the guest: it is the guest's. */
EDGE(drops_and_both_run)
{
    drops_and_vhost_runs(hand, 95);
    hand_run(hand, VM1 "/vcpu/0", value, 0);
}

EDGE(emulated_carries)
{
    PATH_FACT(hand, NIC10_TAP, model, "e1000");
    hand_traffic(hand, TAP10, 50, (uint64_t)value - 50);
}

/* Four vCPUs of vm1 at these runs. */
static void one_queue(struct hand *hand, double full, double idle, unsigned vcpus)
{
    hand_run(hand, VM1 "/vcpu/0", full, 0);
    hand_run(hand, VM1 "/vcpu/1", idle, 0);
    for (unsigned i = 2; i < vcpus; i++)
        hand_thread(hand, VM1, "vcpu", i, i == 2 ? 3 : 5, "3,5", idle, 0);
    PATH_FACT(hand, NIC1_VHU, queues, UINT64_C(4));
}

EDGE(one_queue_full)
{
    one_queue(hand, value, 20, 4);
}

EDGE(one_queue_not_idle) /* the other way round: the more, the more silent */
{
    one_queue(hand, 99, 100 - value, 4);
}

EDGE(one_queue_vcpus)
{
    one_queue(hand, 99, 20, (unsigned)value);
}

EDGE(one_queue_carries)
{
    one_queue(hand, 99, 20, 4);
    hand_traffic(hand, TAP1, 0, (uint64_t)value);
}

EDGE(crossing_carries)
{
    PORT_FACT(hand, VHU1, numa, UINT64_C(1));
    hand_traffic(hand, VHU1, 400, (uint64_t)value - 400);
}

EDGE(crossing_nic_carries)
{
    UNKNOWN_FACT(hand, paths, PATHS, NIC1_VHU, socket);
    UNKNOWN_FACT(hand, paths, PATHS, NIC10_VHU, socket);
    PORT_FACT(hand, DPDK0, numa, UINT64_C(1));
    FACT(hand, rxqs, RXQS, "rxq:dpdk0:0", numa, UINT64_C(0));
    hand_traffic(hand, DPDK0, (uint64_t)value, 0);
}

static void expect_why(edge_fn *change, double without, double with, const char *why)
{
    assert_null(strstr(told(change, without, "guest-not-draining").text, why));
    assert_non_null(strstr(told(change, with, "guest-not-draining").text, why));
}

static void test_guests(void **state)
{
    (void)state;
    EDGES({"guest-not-draining", tap_drops, 30, 31}, {"guest-not-draining", slow_tap_drops, 0, 1},
          {"emulated-nic", emulated_carries, 99, 100}, {"single-queue", one_queue_full, 94.9, 95},
          {"single-queue", one_queue_not_idle, 70, 70.1}, {"single-queue", one_queue_vcpus, 3, 4},
          {"single-queue", one_queue_carries, 9999, 10000}, {"numa-crossing", crossing_carries, 999, 1000},
          {"numa-crossing", crossing_nic_carries, 999, 1000});
    expect_bad_from("guest-not-draining", tap_drops, 303, 304);
    expect_why(drops_and_vcpu_waits, 14.9, 15, "vm1/0 waits 15 %");
    expect_why(drops_and_vhost_waits, 14.9, 15, "its vhost worker waits 15 %");
    expect_why(drops_and_vhost_runs, 89.9, 90, "its vhost worker runs 90 %");
    expect_why(drops_and_vcpu_runs, 89.9, 90, "a vCPU runs 90 %");
    expect_why(drops_and_both_run, 89.9, 90, "a vCPU runs 90 %");
}

/* --- the host --- */

EDGE(hypervisor_takes)
{
    RISE(hand, cpus, CPUS, "cpu:5", steal_ticks, value);
}

EDGE(backlog_drops)
{
    RISE(hand, cpus, CPUS, "cpu:5", softnet_dropped, value);
}

EDGE(loop_ends_early)
{
    RISE(hand, cpus, CPUS, "cpu:5", softnet_squeezed, value);
}

EDGE(read_takes)
{
    hand->cur->t0_ns -= (int64_t)(value * 1e9 / 2);
    hand->cur->t1_ns += (int64_t)(value * 1e9 / 2);
}

/* A late read is made good for by one right after it, which takes all of the time between. */
EDGE(gap_is)
{
    hand->prev->t0_ns = hand->prev->t1_ns = hand->cur->t1_ns - (int64_t)(value * 1e9);
    hand->cur->t0_ns -= (int64_t)(value * 1e9 / 2);
    hand->cur->t1_ns += (int64_t)(value * 1e9 / 2);
}

static void test_host(void **state)
{
    (void)state;
    EDGES({"softnet-drops", backlog_drops, 0, 1}, {"softnet-squeeze", loop_ends_early, 199, 200},
          {"observer-slow", read_takes, 0.69, 0.71}, {"observer-slow", gap_is, 0.049, 0.051});
    /* 100 ticks of the CPU's own, and these. */
    EDGES({"host-steal", hypervisor_takes, 11, 12});
}

/* --- Open vSwitch --- */

EDGE(pmd_is_busy)
{
    RISE(hand, pmds, PMDS, "pmd:0", busy_cycles, value * 1e6);
    RISE(hand, pmds, PMDS, "pmd:0", idle_cycles, (100 - value) * 1e6);
}

EDGE(busy_pmd_carries)
{
    pmd_is_busy(hand, 99);
    RISE(hand, pmds, PMDS, "pmd:0", rx_packets, value);
}

/* pmd/0 is full with two queues, pmd/7 of its node is not. */
static void unbalanced(struct hand *hand, double busy, double other_busy, double rest)
{
    hand_thread(hand, "ovs-vswitchd", "pmd", 7, 7, "7", 99, 0);
    hand_pmd(hand, 7, 0, (unsigned)other_busy, 5000);
    pmd_is_busy(hand, busy);
    GAUGE(hand, rxqs, RXQS, "rxq:vhu1:0", usage_pct, busy - rest);
    GAUGE(hand, rxqs, RXQS, "rxq:dpdk0:0", usage_pct, rest);
}

EDGE(full_pmd_is_busy)
{
    unbalanced(hand, value, 10, 30);
}

EDGE(other_pmd_is_idle)
{
    unbalanced(hand, 92, 100 - value, 30);
}

EDGE(other_queues_take)
{
    unbalanced(hand, 92, 10, value);
}

static void caches(struct hand *hand, double emc, double mega, double pps)
{
    RISE(hand, pmds, PMDS, "pmd:0", rx_packets, pps);
    RISE(hand, pmds, PMDS, "pmd:0", passes, 100000);
    RISE(hand, pmds, PMDS, "pmd:0", emc_hits, emc * 1000);
    RISE(hand, pmds, PMDS, "pmd:0", megaflow_hits, mega * 1000);
}

EDGE(thrash_carries)
{
    caches(hand, 10, 90, value);
}

EDGE(emc_is_on)
{
    caches(hand, value, 90, 100000);
}

EDGE(emc_misses)
{
    caches(hand, 100 - value, 60, 100000);
}

EDGE(megaflows_find)
{
    caches(hand, 10, value, 100000);
}

EDGE(main_thread)
{
    FACT(hand, pmds, PMDS, "pmd:8", thread, "main");
    RISE(hand, pmds, PMDS, "pmd:8", rx_packets, value);
}

EDGE(flows_miss)
{
    RISE(hand, datapaths, DATAPATHS, "dp:1", missed, value);
}

EDGE(upcalls_are_lost)
{
    RISE(hand, datapaths, DATAPATHS, "dp:1", lost, value);
}

EDGE(flows_are)
{
    GAUGE(hand, datapaths, DATAPATHS, "dp:1", flows, (uint64_t)value);
}

EDGE(table_drops)
{
    RISE(hand, counters, COUNTERS, "counter:ovs:/run/openvswitch:drop_action_of_pipeline", value, value);
}

EDGE(meter_drops)
{
    RISE(hand, counters, COUNTERS, "counter:ovs:/run/openvswitch:datapath_drop_meter", value, value);
}

EDGE(datapath_drops)
{
    RISE(hand, counters, COUNTERS, "counter:ovs:/run/openvswitch:datapath_drop_upcall_error", value, value);
}

static void test_ovs(void **state)
{
    (void)state;
    EDGES({"pmd-saturated", pmd_is_busy, 94.9, 95}, {"pmd-saturated", busy_pmd_carries, 999, 1000},
          {"pmd-unbalanced", full_pmd_is_busy, 89.9, 90}, {"pmd-unbalanced", other_pmd_is_idle, 59, 60},
          {"pmd-unbalanced", other_queues_take, 9.9, 10}, {"cache-thrash", thrash_carries, 99999, 100000},
          {"cache-thrash", emc_is_on, 0.9, 1}, {"cache-thrash", emc_misses, 75, 75.1},
          {"cache-thrash", megaflows_find, 49.9, 50}, {"main-thread", main_thread, 999, 1000},
          {"upcall-storm", flows_miss, 4999, 5000}, {"upcalls-lost", upcalls_are_lost, 0, 1},
          {"flow-limit", flows_are, 179999, 180000}, {"pipeline-drops", table_drops, 99, 100},
          {"policer-drops", meter_drops, 0, 1}, {"datapath-drops", datapath_drops, 0, 1});
}

/* --- ports --- */

EDGE(ring_misses)
{
    PORT_RISE(hand, ETH0, rx_missed, value);
}

EDGE(pool_is_empty)
{
    PORT_RISE(hand, DPDK0, rx_nombuf, value);
}

EDGE(queue_drops)
{
    PORT_RISE(hand, ETH0, qdisc_drops, value); /* of 50000 */
}

EDGE(too_large)
{
    PORT_RISE(hand, VHU1, tx_mtu_drops, value);
    PORT_RISE(hand, VHU1, tx_dropped, value);
}

EDGE(policed)
{
    PORT_RISE(hand, VHU1, rx_qos_drops, value);
    PORT_RISE(hand, VHU1, rx_dropped, value);
}

EDGE(bad_packets)
{
    PORT_RISE(hand, ETH0, rx_errors, value);
}

EDGE(flaps)
{
    PORT_RISE(hand, ETH0, carrier_changes, value);
}

EDGE(unread)
{
    hand_port(hand, "net:1:99", "tap99", "tap", "br0", 0, 0);
    PORT_RISE(hand, "net:1:99", tx_dropped, value);
}

EDGE(unread_carries)
{
    unread(hand, 500);
    PORT_RISE(hand, "net:1:99", tx_packets, value);
}

EDGE(veth_drops)
{
    PORT_RISE(hand, VETH, tx_dropped, value);
}

EDGE(af_packet_drops)
{
    hand_port(hand, "dpdk:9:0", "p0", "ethdev", "testpmd", 1000, 1000);
    PORT_FACT(hand, "dpdk:9:0", driver, "net_af_packet");
    PORT_RISE(hand, "dpdk:9:0", rx_dropped, value);
}

/* br0 of the healthy host: so many in, so many lost; tap1 is down. */
static void bridge(struct hand *hand, double in, double lost)
{
    hand_port(hand, "net:1:1", "br0", "bridge", NULL, 0, 0);
    RISE(hand, ports, PORTS, "net:1:1", ports_rx_packets, in);
    RISE(hand, ports, PORTS, "net:1:1", ports_tx_packets, in - lost);
    PORT_FACT(hand, TAP1, admin, "down");
    PORT_RISE(hand, TAP1, tx_bytes, 0); /* their bytes are gone as well */
    PORT_RISE(hand, TAP10, tx_bytes, 0);
    PORT_RISE(hand, ETH0, tx_bytes, 0);
}

EDGE(bridge_loses)
{
    bridge(hand, 1000, value);
}

EDGE(bridge_loses_share)
{
    bridge(hand, 100000, value * 1000);
}

static void test_ports(void **state)
{
    (void)state;
    EDGES({"nic-missed", ring_misses, 0, 1}, {"no-mbuf", pool_is_empty, 0, 1},
          {"qdisc-drops", queue_drops, 5, 6}, {"mtu-drops", too_large, 0, 1},
          {"policer-drops", policed, 0, 1}, {"port-errors", bad_packets, 0, 1},
          {"carrier-flaps", flaps, 0, 1}, {"tap-unread", unread, 0, 1}, {"veth-drops", veth_drops, 0, 1},
          {"af-packet", af_packet_drops, 0, 1}, {"bridge-loss", bridge_loses, 99, 100},
          {"bridge-loss", bridge_loses_share, 4.9, 5});
    expect_bad_from("nic-missed", ring_misses, 505, 506);
    assert_non_null(strstr(told(unread_carries, 0, "tap-unread").text, "nothing reads it"));
    assert_non_null(strstr(told(unread_carries, 1, "tap-unread").text, "what reads it is too slow"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpus), cmocka_unit_test(test_names_of_many), cmocka_unit_test(test_guests),
        cmocka_unit_test(test_host), cmocka_unit_test(test_ovs),           cmocka_unit_test(test_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
