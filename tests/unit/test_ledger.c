/* SPDX-License-Identifier: MIT */
/*
 * Ledgers add up: what came into a switch is what its ports sent, what they and the datapath dropped by name,
 * and what no counter owns. And correlation says so only where there is one.
 */
#include "unit/hand_frame.h"

#include <stdlib.h>

#include "src/join.h"
#include "src/ledger.h"
#include "ui/dump.h"
#include "ui/view_path.h"

static struct hop hops[LEDGER_HOPS];
static size_t n_hops;

static void make(struct hand *hand, const char *port, bool to_guest)
{
    const struct frame *frame = hand_frame(hand);
    const struct frame_row *row = frame_find(frame, TABLE_PORTS, port);
    assert_non_null(row);
    n_hops = ledger_make(frame, row, to_guest, hops);
    assert_in_range(n_hops, 1, LEDGER_HOPS);
}

/* Of one frame: hand_frame() makes a new one and frees the last, so a row is looked for in the frame that is
 * asked. */
static const char *uplink_names(struct hand *hand, const char *port)
{
    const struct frame *frame = hand_frame(hand);
    const struct frame_row *row = frame_find(frame, TABLE_PORTS, port);
    assert_non_null(row);
    return join_uplink_names(frame, row);
}

static void expect_near(double got, double wanted)
{
    if (isnan(wanted) ? !isnan(got) : !(fabs(got - wanted) <= 1e-6 * (fabs(wanted) + 1)))
        fail_msg("expected %.10g, got %.10g", wanted, got);
}

static void expect_hop(size_t i, const char *name, double in, double out, double dropped)
{
    assert_true(i < n_hops);
    assert_string_equal(hops[i].name, name);
    expect_near(hops[i].in, in);
    expect_near(hops[i].out, out);
    expect_near(hops[i].dropped, dropped);
}

/* A bridge of its own: three taps, and its own row with the sums. Into it 50000, out of it 44000. */
static struct hand bridge(void)
{
    struct hand hand = hand_new();
    hand_vm(&hand, VM1, "vm1", NULL);
    hand_port(&hand, "net:1:5", "br0", "bridge", NULL, 0, 0);
    RISE(&hand, ports, PORTS, "net:1:5", ports_rx_packets, 50000);
    RISE(&hand, ports, PORTS, "net:1:5", ports_tx_packets, 44000);
    hand_port(&hand, "net:1:6", "t0", "tap", "br0", 50000, 0);
    hand_port(&hand, "net:1:7", "t1", "tap", "br0", 0, 40000);
    hand_port(&hand, "net:1:8", "t2", "tap", "br0", 0, 4000);
    PORT_RISE(&hand, "net:1:7", tx_dropped, 5000);
    PORT_RISE(&hand, "net:1:8", tx_dropped, 1000);
    hand_path(&hand, VM1, "net0", "52:54:00:00:01:01", "tap", "t1", NULL);
    return hand;
}

static void test_bridge_adds_up(void **state)
{
    (void)state;
    struct hand hand = bridge();
    make(&hand, "net:1:7", true);
    assert_int_equal(n_hops, 4);
    expect_hop(0, "br0", 50000, 50000, 0);
    expect_hop(1, "t1", 45000, 40000, 5000);
    expect_hop(2, "guest ring", 40000, NAN, NAN);
    expect_hop(3, "unaccounted", 50000, NAN, 0);
    assert_string_equal(hops[0].cause, "all of its 3 ports together");
    assert_string_equal(hops[1].cause, "ring full");
    assert_true(hops[1].loses_most && !hops[0].loses_most && !hops[3].loses_most);
    assert_true(hops[3].unaccounted);
    make(&hand, "net:1:6", false);
    assert_int_equal(n_hops, 4);
    expect_hop(0, "guest", NAN, 50000, NAN);
    expect_hop(1, "t0", 50000, 50000, 0);
    expect_hop(2, "br0", 50000, 50000, 0);
    hand_free(&hand);
}

/* A port that is down: the bridge discards and nobody counts. */
static void test_what_no_counter_owns(void **state)
{
    (void)state;
    struct hand hand = bridge();
    RISE(&hand, ports, PORTS, "net:1:5", ports_rx_packets, 60000);
    make(&hand, "net:1:7", true);
    expect_hop(3, "unaccounted", 60000, NAN, 10000);
    assert_string_equal(hops[3].cause, "lost inside the switch, by no counter");
    assert_true(hops[3].loses_most && !hops[1].loses_most);
    RISE(&hand, ports, PORTS, "net:1:5", ports_rx_packets, 20000);
    make(&hand, "net:1:7", true);
    expect_hop(3, "unaccounted", 20000, NAN, -30000);
    assert_string_equal(hops[3].cause, "more went out than came in: floods, multicast");
    assert_true(hops[1].loses_most && !hops[3].loses_most);
    hand_free(&hand);
}

/* Reads take a while: what passes between the reading of one port and another is no loss and no surplus. */
static void test_moments_of_the_reads_explain(void **state)
{
    (void)state;
    struct hand hand = bridge();
    hand.cur->t0_ns -= 2000000; /* 4 ms for the second read, as long as 200 packets in and as many out */
    hand.cur->t1_ns += 2000000;
    static const struct {
        uint64_t in;
        double unaccounted;
        const char *cause;
    } cases[] = {
        {50000, 0, ""},
        {50200, 0, ""},
        {49800, 0, ""},
        {50210, 210, "lost inside the switch, by no counter"},
        {49790, -210, "more went out than came in: floods, multicast"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        RISE(&hand, ports, PORTS, "net:1:5", ports_rx_packets, cases[i].in);
        make(&hand, "net:1:7", true);
        expect_near(hops[3].dropped, cases[i].unaccounted);
        assert_string_equal(hops[3].cause, cases[i].cause);
        assert_false(hops[3].loses_most); /* less than half a percent */
    }
    hand_free(&hand);
}

/* Numbers that are refreshed slowly begin and end their interval elsewhere: only their own part is doubted.
 */
static void test_older_numbers_explain_more(void **state)
{
    (void)state;
    struct hand hand = bridge();
    struct row_head *row = hand_find(hand.prev, TABLE_PORTS, "net:1:8");
    row->t_ns = hand.prev->t0_ns - SECOND / 2;
    row = hand_find(hand.cur, TABLE_PORTS, "net:1:8");
    row->t_ns = hand.cur->t0_ns - SECOND / 2;
    RISE(&hand, ports, PORTS, "net:1:5", ports_rx_packets, 52400);
    make(&hand, "net:1:7", true); /* t2 gets 5000 a second, half of it at each end counted late */
    expect_near(hops[3].dropped, 0);
    RISE(&hand, ports, PORTS, "net:1:5", ports_rx_packets, 52600);
    make(&hand, "net:1:7", true);
    expect_near(hops[3].dropped, 2600);
    hand_free(&hand);
}

/* One packet of the NIC's forty-four is one of the tap's: what is missing is no loss, and neither is what is
 * split a surplus. */
static void test_merged_packets_are_not_counted(void **state)
{
    (void)state;
    static const char *const unknown = "not known: packets are merged or split on the way (GRO, GSO)";
    struct hand hand = bridge();
    PORT_RISE(&hand, "net:1:6", rx_bytes, 50000 * UINT64_C(1514));
    PORT_RISE(&hand, "net:1:7", tx_bytes, 50000 * UINT64_C(1500)); /* with what it drops */
    PORT_RISE(&hand, "net:1:8", tx_bytes, 0);
    PORT_RISE(&hand, "net:1:7", tx_dropped, 0);
    PORT_RISE(&hand, "net:1:8", tx_dropped, 0);
    RISE(&hand, ports, PORTS, "net:1:5", ports_tx_packets, 1200);
    make(&hand, "net:1:7", true);
    assert_string_equal(hops[3].cause, unknown);
    assert_true(isnan(hops[3].dropped) && !hops[3].loses_most);
    RISE(&hand, ports, PORTS, "net:1:5", ports_tx_packets, 500000);
    make(&hand, "net:1:7", true);
    assert_string_equal(hops[3].cause, unknown);
    PORT_RISE(&hand, "net:1:7", tx_bytes, 10000 * UINT64_C(1500)); /* bytes are missing as well */
    RISE(&hand, ports, PORTS, "net:1:5", ports_tx_packets, 10000);
    make(&hand, "net:1:7", true);
    assert_true(hops[3].dropped == 40000);
    PORT_FACT(&hand, "net:1:6", mtu, UINT64_C(1491)); /* 23 less than its packets are: several in one */
    make(&hand, "net:1:7", true);
    assert_string_equal(hops[3].cause, unknown);
    PORT_FACT(&hand, "net:1:6", mtu, UINT64_C(1492));
    make(&hand, "net:1:7", true);
    assert_true(hops[3].dropped == 40000);
    hand_free(&hand);
}

/* What the stack dropped of a NIC's packets never came to the bridge; a tap's were never counted. */
static void test_drops_before_the_bridge(void **state)
{
    (void)state;
    struct hand hand = bridge();
    hand_port(&hand, "net:1:9", "eth0", "physical", "br0", 3000, 0);
    RISE(&hand, ports, PORTS, "net:1:5", ports_rx_packets, 53000);
    PORT_RISE(&hand, "net:1:9", rx_dropped, 3000);
    PORT_RISE(&hand, "net:1:6", rx_dropped, 700);
    make(&hand, "net:1:7", true);
    expect_hop(4, "unaccounted", 53000, NAN, 0);
    hand_free(&hand);
}

/* Another namespace's bridge of the same name is another bridge. */
static void test_bridges_of_one_name(void **state)
{
    (void)state;
    struct hand hand = bridge();
    hand_port(&hand, "net:1777:5", "br0", "bridge", NULL, 0, 0);
    RISE(&hand, ports, PORTS, "net:1777:5", ports_rx_packets, 9);
    RISE(&hand, ports, PORTS, "net:1777:5", ports_tx_packets, 9);
    hand_port(&hand, "net:1777:7", "t1", "tap", "br0", 0, 70000);
    PORT_RISE(&hand, "net:1777:7", tx_dropped, 90000);
    make(&hand, "net:1:7", true);
    expect_hop(0, "br0", 50000, 50000, 0);
    expect_hop(3, "unaccounted", 50000, NAN, 0);
    hand_free(&hand);
}

static void test_bridge_without_numbers(void **state)
{
    (void)state;
    struct hand hand = bridge();
    UNKNOWN(&hand, ports, PORTS, "net:1:5", ports_rx_packets);
    make(&hand, "net:1:7", true);
    assert_int_equal(n_hops, 3);
    expect_hop(0, "br0", NAN, 50000, 0);
    UNKNOWN(&hand, ports, PORTS, "net:1:8", tx_packets);
    RISE(&hand, ports, PORTS, "net:1:5", ports_rx_packets, 50000);
    make(&hand, "net:1:7", true);
    assert_string_equal(hops[3].cause, "not known: 1 of its 3 ports tell no number");
    assert_true(isnan(hops[3].dropped));
    hand_free(&hand);
}

static void test_port_of_no_switch(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    make(&hand, MACV, true);
    assert_int_equal(n_hops, 2);
    expect_hop(0, "macvtap0", 5000, 5000, 0);
    expect_hop(1, "guest ring", 5000, NAN, NAN);
    hand_free(&hand);
}

/* --- ways out --- */

/* eth0, a bond and a tunnel in the bridge of three taps; another namespace's eth9 is none of them. */
static void test_uplinks_are_hops(void **state)
{
    (void)state;
    struct hand hand = bridge();
    hand_port(&hand, "net:1:9", "eth0", "physical", "br0", 3000, 700);
    PORT_RISE(&hand, "net:1:9", rx_missed, 100);
    PORT_FACT(&hand, "net:1:9", speed_mbps, UINT64_C(10000));
    hand_port(&hand, "net:1777:9", "eth9", "physical", "br0", 9, 9);
    hand_port(&hand, "net:1:11", "eth1", "physical", "br1", 9, 9);
    make(&hand, "net:1:7", true);
    assert_int_equal(n_hops, 5);
    expect_hop(0, "eth0", 3100, 3000, 100);
    assert_string_equal(hops[0].cause, "ring full");
    assert_string_equal(hops[1].name, "br0");
    make(&hand, "net:1:6", false);
    expect_hop(3, "eth0", 700, 700, 0);
    assert_string_equal(hops[3].cause, "uplink, physical, 10000 Mbit/s");
    assert_string_equal(uplink_names(&hand, "net:1:7"), "eth0");
    hand_free(&hand);
}

/* The two busiest each, the others together: a ledger stays short. */
static void test_many_uplinks(void **state)
{
    (void)state;
    struct hand hand = bridge();
    for (unsigned i = 0; i < 5; i++) {
        char key[32], name[32];
        snprintf(key, sizeof(key), "net:1:%u", 40 + i);
        snprintf(name, sizeof(name), "eth%u", i);
        hand_port(&hand, key, name, i == 1 ? "bond" : "physical", "br0", i * 100, 0);
    }
    make(&hand, "net:1:7", true);
    assert_int_equal(n_hops, 7);
    expect_hop(0, "eth4", 400, 400, 0);
    expect_hop(1, "eth3", 300, 300, 0);
    expect_hop(2, "3 more uplinks", 300, 300, 0);
    assert_string_equal(uplink_names(&hand, "net:1:7"), "eth0, eth1, eth2, 2 more");
    hand_free(&hand);
}

/* A virtual function's way out is its NIC, a macvtap's the device below; vf3 of eth0 is none of eth02's. */
static void test_uplink_below(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_port(&hand, "net:1:22222", "eth02", "physical", NULL, 1, 1);
    make(&hand, VF, true);
    assert_int_equal(n_hops, 3);
    expect_hop(0, "eth0", 50000, 50000, 0);
    expect_hop(1, "eth0/vf3", 7000, 7000, 0);
    assert_string_equal(uplink_names(&hand, VF), "eth0");
    PORT_FACT(&hand, MACV, link, "eth02");
    make(&hand, MACV, false);
    expect_hop(2, "eth02", 1, 1, 0);
    assert_null(uplink_names(&hand, ETH0));
    hand_free(&hand);
}

static void test_uplink_of_ovs(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    make(&hand, VHU1, false);
    expect_hop(3, "dpdk0", 400000, 400000, 0);
    hand_free(&hand);
}

/* --- OVS --- */

/* The 98 percent of a lab: a million in at vhu0, of which vhu1's guest takes two in a hundred. */
static struct hand ovs(void)
{
    struct hand hand = hand_new();
    hand_vm(&hand, VM1, "vm1", NULL);
    hand_pmd(&hand, 0, 0, 80, 1000000);
    hand_rxq(&hand, "vhu0", 0, 0, 80);
    hand_rxq(&hand, "vhu1", 0, 0, 0);
    hand_ovs_port(&hand, "ovs:/run/openvswitch:vhu0", "vhu0", "vhost-user", "/run/0", 1000000, 0);
    hand_ovs_port(&hand, "ovs:/run/openvswitch:vhu1", "vhu1", "vhost-user", "/run/1", 0, 20000);
    PORT_RISE(&hand, "ovs:/run/openvswitch:vhu1", tx_dropped, 980000);
    PORT_RISE(&hand, "ovs:/run/openvswitch:vhu1", tx_failure_drops, 980000);
    hand_datapath(&hand);
    hand_path(&hand, VM1, "net0", "52:54:00:00:01:01", "vhost-user", NULL, "/run/1");
    return hand;
}

static void test_ovs_adds_up(void **state)
{
    (void)state;
    struct hand hand = ovs();
    make(&hand, "ovs:/run/openvswitch:vhu1", true);
    assert_int_equal(n_hops, 4);
    expect_hop(0, "pmd 0 / br-int", 1000000, 1000000, 0);
    assert_string_equal(hops[0].cause, "busy 80 %, EMC 100 %, 80 cycles a packet");
    expect_hop(1, "vhu1", 1000000, 20000, 980000);
    assert_string_equal(hops[1].cause, "guest does not drain");
    expect_hop(2, "guest ring", 20000, NAN, NAN);
    expect_hop(3, "unaccounted", 1000000, NAN, 0);
    assert_true(hops[1].loses_most);
    hand_free(&hand);
}

static void test_ovs_names_its_own_drops(void **state)
{
    (void)state;
    struct hand hand = ovs();
    PORT_RISE(&hand, "ovs:/run/openvswitch:vhu1", tx_dropped, 480000);
    RISE(&hand, datapaths, DATAPATHS, "dp:1", lost, 100000);
    hand_event(&hand, "drop_action_of_pipeline", 390000);
    hand_event(&hand, "datapath_drop_meter", 5000);
    make(&hand, "ovs:/run/openvswitch:vhu1", true);
    expect_hop(0, "pmd 0 / br-int", 1000000, 500000, 495000);
    assert_string_equal(hops[0].cause, "the flow table drops 390.0k/s");
    assert_true(hops[0].loses_most);
    expect_hop(3, "unaccounted", 1000000, NAN, 5000);
    RISE(&hand, datapaths, DATAPATHS, "dp:1", lost, 400000);
    make(&hand, "ovs:/run/openvswitch:vhu1", true);
    assert_string_equal(hops[0].cause, "upcalls lost 400.0k/s");
    hand_free(&hand);
}

/* Two daemons with a bridge of one name; a kernel's port in OVS's bridge, which belongs to it. */
static void test_ovs_of_one_name(void **state)
{
    (void)state;
    struct hand hand = ovs();
    hand_ovs_port(&hand, "ovs:/run/otherswitch:vhu0", "vhu0", "vhost-user", "/run/9", 5, 5);
    hand_ovs_port(&hand, "net:1:9", "eth0", "system", NULL, 0, 1000);
    hand_port(&hand, "net:1:10", "t0", "tap", "br-int", 4000, 0); /* of a Linux bridge that is called so */
    PORT_RISE(&hand, "ovs:/run/openvswitch:vhu0", rx_packets, 1001000);
    make(&hand, "ovs:/run/openvswitch:vhu1", true);
    expect_hop(0, "pmd 0 / br-int", 1001000, 1001000, 0);
    expect_hop(3, "unaccounted", 1001000, NAN, 0);
    struct datapaths_info *info = inventory_info(hand.inventory, TABLE_DATAPATHS, "dp:2");
    info_set(info, ovs, "/run/otherswitch");
    info_set(info, name, "netdev@ovs-netdev");
    hand_row(&hand, TABLE_DATAPATHS, info);
    RISE(&hand, datapaths, DATAPATHS, "dp:2", lost, 777);
    PORT_FACT(&hand, "net:1:9", switch_, "br-ex");
    make(&hand, "ovs:/run/otherswitch:vhu0", true);
    expect_hop(0, "br-int", 5, 5, 777);
    hand_free(&hand);
}

static void test_policer_on_the_way_in(void **state)
{
    (void)state;
    struct hand hand = ovs();
    PORT_RISE(&hand, "ovs:/run/openvswitch:vhu0", rx_dropped, 300000);
    PORT_RISE(&hand, "ovs:/run/openvswitch:vhu0", rx_qos_drops, 300000);
    make(&hand, "ovs:/run/openvswitch:vhu0", false);
    expect_hop(0, "guest", NAN, 1300000, NAN);
    expect_hop(1, "vhu0", 1300000, 1000000, 300000);
    assert_string_equal(hops[1].cause, "policer");
    expect_hop(2, "br-int", 1000000, 1000000, 0); /* no NIC of a VM, so who polls it is not asked */
    hand_free(&hand);
}

/* --- means over the window --- */

/* A store of a tap whose counters were read at these times (s), in two feeds: packets, and slowly its queue.
 */
static void put(struct store *store, size_t feed, struct inventory *inventory, double at, uint64_t packets,
                bool queue)
{
    struct sample *sample = sample_at(inventory, (int64_t)(at * 1e9));
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, "net:1:7");
    info_set(info, name, "t1");
    info_set(info, kind, "tap");
    struct ports_row *row = sample_row(sample, TABLE_PORTS, info);
    if (queue) {
        row_set(row, qdisc_drops, packets);
    } else {
        row_set(row, tx_packets, packets);
        row_set(row, tx_dropped, packets / 4);
    }
    store_put(store, feed, sample);
}

static double wide(const struct store *store, size_t moment, const char *column)
{
    struct frame *frame = ledger_frame(store, moment);
    assert_non_null(frame);
    struct cell cell = cell_of(frame, TABLE_PORTS, "net:1:7", column);
    double value = cell_is_number(&cell) ? cell_number(&cell) : NAN;
    frame_free(frame);
    return value;
}

/* Bursts, uneven ticks, a slow second feed: the mean is all that was counted over all the time, exactly. */
static void test_means_are_exact(void **state)
{
    (void)state;
    static const double times[] = {1, 2, 3.4, 4, 5, 6, 7.3, 8, 9, 10, 11, 12, 13.2, 14};
    struct inventory *inventory = inventory_new();
    struct store *store = store_new(1 << 20, 0);
    size_t fast = store_add_feed(store, "fast"), slow = store_add_feed(store, "slow");
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        count += i % 3 == 0 ? 90000 : 40;
        put(store, fast, inventory, times[i], count, false);
        if (i % 5 == 0)
            put(store, slow, inventory, times[i], (uint64_t)(times[i] * 100), true);
        store_tick(store, (int64_t)(times[i] * 1e9) + 5000000, 0);
    }
    size_t last = store_moments(store) - 1;
    /* Ten seconds before the last is the sample of 4 s: from it on come 90000 three times, 40 seven times. */
    expect_near(wide(store, last, "tx_pps"), (3 * 90000 + 7 * 40) / 10.0);
    expect_near(wide(store, last, "tx_drop_pps"), (3 * 90000 + 7 * 40) / 10.0 / 4 + 100);
    expect_near(wide(store, last, "qdisc_drop_pps"), 100);
    expect_near(wide(store, 1, "tx_pps"), 40); /* as far as the history reaches */
    assert_true(isnan(wide(store, 0, "tx_pps")));
    assert_null(ledger_frame(store, last + 1));
    store_free(store);
    inventory_unref(inventory);
}

/* A counter that went back within the window has no mean. */
static void test_restart_in_the_window(void **state)
{
    (void)state;
    struct inventory *inventory = inventory_new();
    struct store *store = store_new(1 << 20, 0);
    size_t feed = store_add_feed(store, "fast");
    for (int i = 1; i <= 20; i++) {
        put(store, feed, inventory, i, i < 15 ? (uint64_t)i * 1000 : (uint64_t)(i - 14) * 10, false);
        store_tick(store, i * SECOND + 5000000, 0);
    }
    assert_true(isnan(wide(store, 19, "tx_pps")));
    expect_near(wide(store, 12, "tx_pps"), 1000);
    store_free(store);
    inventory_unref(inventory);
}

/* --- correlation --- */

/* Cheap noise between 0 and 1. */
static double noise(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return (double)(*seed >> 8) / (1 << 24);
}

static void test_correlation_and_its_lag(void **state)
{
    (void)state;
    for (int lag = -5; lag <= 5; lag++) {
        double cause[60], loss[60], r;
        int found = 99;
        unsigned seed = 7;
        for (int i = 0; i < 60; i++)
            cause[i] = noise(&seed) * 100;
        for (int i = 0; i < 60; i++)
            loss[i] = i - lag >= 0 && i - lag < 60 ? cause[i - lag] * 0.3 + noise(&seed) : NAN;
        assert_true(correlate(cause, loss, 60, 5, &r, &found));
        assert_int_equal(found, lag);
        assert_true(r > 0.95 && r <= 1 + 1e-12);
    }
}

static void test_no_correlation(void **state)
{
    (void)state;
    double a[60], b[60], r;
    int lag;
    unsigned seed = 3;
    for (int i = 0; i < 60; i++) {
        a[i] = noise(&seed);
        b[i] = noise(&seed);
    }
    assert_true(correlate(a, b, 60, 5, &r, &lag));
    assert_true(r < 0.6);
    for (int i = 0; i < 60; i++) /* one falls where the other rises */
        b[i] = 5 - a[i];
    assert_true(correlate(a, b, 60, 0, &r, &lag));
    assert_true(r < -0.999);
}

static void test_too_little_to_say(void **state)
{
    (void)state;
    double a[60], b[60], r;
    int lag;
    unsigned seed = 5;
    for (int i = 0; i < 60; i++)
        a[i] = b[i] = noise(&seed);
    assert_false(correlate(a, b, 19, 0, &r, &lag));
    assert_true(correlate(a, b, 20, 0, &r, &lag));
    assert_true(r > 0.999 && lag == 0);
    assert_false(correlate(a, b, 0, 5, &r, &lag));
    for (int i = 0; i < 60; i++)
        b[i] = i % 3 == 0 ? NAN : b[i]; /* forty left */
    assert_true(correlate(a, b, 60, 0, &r, &lag));
    assert_true(r > 0.999);
    assert_false(correlate(a, b, 29, 0, &r, &lag)); /* nineteen left */
}

static void test_what_stands_still_says_nothing(void **state)
{
    (void)state;
    double a[60], b[60], r;
    int lag;
    unsigned seed = 5;
    for (int i = 0; i < 60; i++) {
        a[i] = noise(&seed);
        b[i] = 12345.678;
    }
    assert_false(correlate(a, b, 60, 5, &r, &lag));
    assert_false(correlate(b, a, 60, 5, &r, &lag));
    for (int i = 0; i < 60; i++)
        b[i] = 0;
    assert_false(correlate(a, b, 60, 5, &r, &lag));
    for (int i = 0; i < 60; i++)
        b[i] = NAN;
    assert_false(correlate(a, b, 60, 5, &r, &lag));
}

/* Two that rise all the time, or wander each its own way, have nothing to do with one another; a wanderer and
 * what follows it have. */
static void test_drifts_are_not_alike(void **state)
{
    (void)state;
    double a[60], b[60], r;
    int lag;
    unsigned false_ones = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        unsigned one = seed, other = seed + 12345;
        a[0] = b[0] = 0;
        for (int i = 1; i < 60; i++) {
            a[i] = a[i - 1] + noise(&one) - 0.3;
            b[i] = b[i - 1] + noise(&other) - 0.3;
        }
        assert_true(correlate(a, b, 60, 0, &r, &lag));
        false_ones += r >= 0.7;
        for (int i = 0; i < 60; i++)
            b[i] = a[i] * 3 + noise(&other) * 0.1;
        assert_true(correlate(a, b, 60, 5, &r, &lag));
        assert_true(r > 0.9 && lag == 0);
    }
    assert_in_range(false_ones, 0, 4); /* one in a hundred; by r of the values alone there are 399 */
    for (int i = 0; i < 60; i++) {
        a[i] = i;
        b[i] = 7 * i;
    }
    assert_true(correlate(a, b, 60, 5, &r, &lag));
    assert_true(r == 0);
}

/* A slow change is alike at every lag: no lag is claimed. */
static void test_slow_change_has_no_lag(void **state)
{
    (void)state;
    double a[60], b[60], r;
    int lag = 99;
    unsigned seed = 9;
    for (int i = 0; i < 60; i++) {
        a[i] = i < 30 ? 0 : 100 + noise(&seed);
        b[i] = i < 30 ? 0 : 50 + noise(&seed);
    }
    assert_true(correlate(a, b, 60, 5, &r, &lag));
    assert_int_equal(lag, 0);
    assert_true(r > 0.99);
}

/* --- what is drawn of them --- */

/* A guest's tap over a minute and more: in step i its vCPU waits so much of it, and that many are lost. */
struct story {
    struct inventory *inventory;
    struct store *store;
    uint64_t lost, waited_ns;
};

static void tell(struct story *story, int64_t t_ns, double interval_s, double steal, double lost)
{
    struct hand hand = {.inventory = story->inventory,
                        .prev = sample_at(story->inventory, 0),
                        .cur = sample_at(story->inventory, t_ns)};
    story->waited_ns += (uint64_t)(steal * interval_s * 1e7);
    story->lost += (uint64_t)(lost * interval_s);
    hand_vm(&hand, VM1, "vm1", NULL);
    hand_thread(&hand, VM1, "vcpu", 0, 1, "1", 0, 0);
    hand_port(&hand, "net:1:7", "t1", "tap", "br0", 0, (uint64_t)(t_ns / 1000000));
    hand_path(&hand, VM1, "net0", "52:54:00:00:01:01", "tap", "t1", NULL);
    PORT_RISE(&hand, "net:1:7", tx_dropped, story->lost);
    RISE(&hand, threads, THREADS, VM1 "/vcpu/0", delay_ns, story->waited_ns);
    sample_unref(hand.prev);
    store_put(story->store, 0, hand.cur);
    store_tick(story->store, t_ns + 1000000, 0);
}

static char *draw(const struct story *story, int64_t interval_ms)
{
    size_t moment = store_moments(story->store) - 1;
    struct frame *frame = store_frame(story->store, moment);
    struct scene scene = {
        .frame = frame, .store = story->store, .moment = moment, .interval_ms = interval_ms};
    struct canvas *canvas = canvas_new(40, 150, true);
    const struct frame_row *path = frame_find(frame, TABLE_PATHS, "path:" VM1 ":52:54:00:00:01:01");
    assert_non_null(path);
    view_path_ledger(canvas, 0, (struct area){.rows = 40, .cols = 150}, &scene, path);
    char *text = dump_text_string(canvas);
    canvas_free(canvas);
    frame_free(frame);
    return text;
}

/* lag: seconds that the loss is behind; -1: it is not there at all. */
static char *story_of(int lag, double interval_s)
{
    struct story story = {.inventory = inventory_new(), .store = store_new(1 << 22, 0)};
    double steal[80];
    unsigned seed = 11;
    store_add_feed(story.store, "hand");
    for (int i = 0; i < 80; i++) {
        steal[i] = noise(&seed) * 60;
        double lost = lag < 0 ? noise(&seed) * 5000 : i >= lag ? steal[i - lag] * 100 : 0;
        tell(&story, (int64_t)((i + 1) * interval_s * 1e9), interval_s, steal[i], lost);
    }
    char *text = draw(&story, (int64_t)(interval_s * 1000));
    store_free(story.store);
    inventory_unref(story.inventory);
    return text;
}

static void expect_drawn(char *text, const char *has, const char *has_not)
{
    if (has && !strstr(text, has))
        fail_msg("no '%s' in\n%s", has, text);
    if (has_not && strstr(text, has_not))
        fail_msg("'%s' in\n%s", has_not, text);
    free(text);
}

static void test_what_moves_together_is_said(void **state)
{
    (void)state;
    expect_drawn(story_of(0, 1), "loss moves with vCPU steal: r 0.9", "behind");
    expect_drawn(story_of(3, 1), "over the last minute, 3.0 s behind it", NULL);
    expect_drawn(story_of(0, 0.25), "loss moves with vCPU steal: r ", NULL);
    expect_drawn(story_of(-1, 1), NULL, "moves with");
    expect_drawn(story_of(0, 10), NULL, "moves with"); /* six points are too few */
}

static void test_ledger_is_drawn(void **state)
{
    (void)state;
    expect_drawn(story_of(0, 1), " TO GUEST", NULL);
    expect_drawn(story_of(0, 1), "cause (mean of the last 10 s)", NULL);
    expect_drawn(story_of(0, 1), "ring full", NULL);
    expect_drawn(story_of(0, 1), "<- loses most", NULL);
    expect_drawn(story_of(0, 1), " FROM GUEST", "unaccounted"); /* the bridge's own row is not there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bridge_adds_up),
        cmocka_unit_test(test_what_no_counter_owns),
        cmocka_unit_test(test_moments_of_the_reads_explain),
        cmocka_unit_test(test_older_numbers_explain_more),
        cmocka_unit_test(test_merged_packets_are_not_counted),
        cmocka_unit_test(test_drops_before_the_bridge),
        cmocka_unit_test(test_bridges_of_one_name),
        cmocka_unit_test(test_bridge_without_numbers),
        cmocka_unit_test(test_port_of_no_switch),
        cmocka_unit_test(test_uplinks_are_hops),
        cmocka_unit_test(test_many_uplinks),
        cmocka_unit_test(test_uplink_below),
        cmocka_unit_test(test_uplink_of_ovs),
        cmocka_unit_test(test_ovs_adds_up),
        cmocka_unit_test(test_ovs_names_its_own_drops),
        cmocka_unit_test(test_ovs_of_one_name),
        cmocka_unit_test(test_policer_on_the_way_in),
        cmocka_unit_test(test_means_are_exact),
        cmocka_unit_test(test_restart_in_the_window),
        cmocka_unit_test(test_correlation_and_its_lag),
        cmocka_unit_test(test_no_correlation),
        cmocka_unit_test(test_too_little_to_say),
        cmocka_unit_test(test_what_stands_still_says_nothing),
        cmocka_unit_test(test_drifts_are_not_alike),
        cmocka_unit_test(test_slow_change_has_no_lag),
        cmocka_unit_test(test_what_moves_together_is_said),
        cmocka_unit_test(test_ledger_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
