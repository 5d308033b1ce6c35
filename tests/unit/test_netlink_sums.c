/* SPDX-License-Identifier: MIT */
/*
 * The bookkeeping of the netlink collectors, without a kernel: trees of queueing disciplines, their 32-bit
 * counters that wrap, and the sums over a bridge's ports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <string.h>

#include "collectors/netlink_qdiscs.h"
#include "collectors/netlink_sums.h"

#define ROOT TC_H_ROOT

struct reading {
    uint32_t ifindex, handle, parent, drops, overlimits, qlen;
    uint64_t bytes;
    const char *type;
};

static void read_all(struct netlink_qdiscs *qdiscs, const struct reading *readings, size_t n)
{
    netlink_qdiscs_begin(qdiscs);
    for (size_t i = 0; i < n; i++) {
        struct nl_qdisc qdisc = {.ifindex = readings[i].ifindex,
                                 .handle = readings[i].handle,
                                 .parent = readings[i].parent,
                                 .bytes = readings[i].bytes,
                                 .drops = readings[i].drops,
                                 .overlimits = readings[i].overlimits,
                                 .qlen = readings[i].qlen};
        snprintf(qdisc.type, sizeof(qdisc.type), "%s", readings[i].type ? readings[i].type : "pfifo");
        netlink_qdiscs_add(qdiscs, &qdisc);
    }
    netlink_qdiscs_end(qdiscs);
}

#define READ(qdiscs, ...)                                                                                    \
    do {                                                                                                     \
        const struct reading readings_[] = {__VA_ARGS__};                                                    \
        read_all(qdiscs, readings_, sizeof(readings_) / sizeof(readings_[0]));                               \
    } while (0)

static struct qdisc_sum sum_of(const struct netlink_qdiscs *qdiscs, uint32_t ifindex)
{
    struct qdisc_sum sum;
    for (size_t at = 0; netlink_qdiscs_next(qdiscs, &at, &sum);)
        if (sum.ifindex == ifindex)
            return sum;
    return (struct qdisc_sum){0};
}

static uint64_t drops_of(const struct netlink_qdiscs *qdiscs, uint32_t ifindex)
{
    return sum_of(qdiscs, ifindex).number[QDISC_DROPS];
}

/* mq's numbers are its children's sum; all default disciplines have handle 0. */
static void test_mq(void **state)
{
    (void)state;
    struct netlink_qdiscs qdiscs = {0};
    READ(&qdiscs, {2, 0, ROOT, .drops = 30, .qlen = 3, .type = "mq"}, {2, 0, 1, .drops = 10, .qlen = 1},
         {2, 0, 2, .drops = 20, .qlen = 2}, {3, 0x10000, ROOT, .drops = 7});
    assert_int_equal(drops_of(&qdiscs, 2), 30);
    assert_int_equal(sum_of(&qdiscs, 2).number[QDISC_QLEN], 3);
    assert_int_equal(drops_of(&qdiscs, 3), 7);
    /* The same with a handle of its own, and from a kernel that leaves the parent's numbers at 0. */
    READ(&qdiscs, {2, 0x80010000, ROOT, .type = "mq"}, {2, 0, 0x80010001, .drops = 10},
         {2, 0, 0x80010002, .drops = 20});
    assert_int_equal(drops_of(&qdiscs, 2), 30);
    netlink_qdiscs_free(&qdiscs);
}

/* htb counts what its leaves drop, and drops of its own queue that no leaf knows; its overlimits are its own.
 */
static void test_classful(void **state)
{
    (void)state;
    struct netlink_qdiscs qdiscs = {0};
    READ(&qdiscs, {2, 0x10000, ROOT, .drops = 105, .overlimits = 9, .type = "htb"},
         {2, 0x100000, 0x10001, .drops = 60, .type = "prio"}, {2, 0x200000, 0x10002, .drops = 40},
         {2, 0x110000, 0x100001, .drops = 60});
    assert_int_equal(drops_of(&qdiscs, 2), 105);
    assert_int_equal(sum_of(&qdiscs, 2).number[QDISC_OVERLIMITS], 9);
    netlink_qdiscs_free(&qdiscs);
}

static void test_what_queues_nothing(void **state)
{
    (void)state;
    struct netlink_qdiscs qdiscs = {0};
    READ(&qdiscs, {2, 0, ROOT, .type = "noqueue"},
         {3, 0xffff0000, TC_H_INGRESS, .drops = 5, .type = "ingress"}, {4, 0, ROOT, .type = "noop"});
    struct qdisc_sum sum;
    size_t at = 0;
    assert_false(netlink_qdiscs_next(&qdiscs, &at, &sum));
    netlink_qdiscs_free(&qdiscs);
}

static void test_wrap(void **state)
{
    (void)state;
    struct netlink_qdiscs qdiscs = {0};
    READ(&qdiscs, {2, 0x10000, ROOT, .drops = UINT32_MAX - 4, .bytes = 1000});
    assert_int_equal(drops_of(&qdiscs, 2), UINT32_MAX - 4);
    READ(&qdiscs, {2, 0x10000, ROOT, .drops = 5, .bytes = 1000});
    assert_int_equal(drops_of(&qdiscs, 2), UINT64_C(0x100000005));
    READ(&qdiscs, {2, 0x10000, ROOT, .drops = 6, .bytes = 1001});
    assert_int_equal(drops_of(&qdiscs, 2), UINT64_C(0x100000006));
    /* Made anew under its old handle: the bytes fell too. That is a reset, and is left to be seen as one. */
    READ(&qdiscs, {2, 0x10000, ROOT, .drops = 1, .bytes = 10});
    assert_int_equal(drops_of(&qdiscs, 2), 1);
    netlink_qdiscs_free(&qdiscs);
}

/* Others come and go around one that wraps. */
static void test_wrap_among_others(void **state)
{
    (void)state;
    struct netlink_qdiscs qdiscs = {0};
    READ(&qdiscs, {9, 0x10000, ROOT, .drops = 0}, {5, 0x10000, ROOT, .drops = UINT32_MAX},
         {2, 0x10000, ROOT, .drops = 0});
    READ(&qdiscs, {5, 0x10000, ROOT, .drops = 0}, {3, 0x10000, ROOT, .drops = 0},
         {4, 0x10000, ROOT, .drops = 0}, {9, 0x20000, ROOT, .drops = 0});
    assert_int_equal(drops_of(&qdiscs, 5), UINT64_C(0x100000000));
    READ(&qdiscs, {5, 0x10000, ROOT, .drops = 1});
    assert_int_equal(drops_of(&qdiscs, 5), UINT64_C(0x100000001));
    netlink_qdiscs_free(&qdiscs);
}

/* What no kernel sends: loops, orphans, the same one twice. */
static void test_hostile_trees(void **state)
{
    (void)state;
    struct netlink_qdiscs qdiscs = {0};
    READ(&qdiscs, {2, 0x10000, 0x20001, .drops = 1}, {2, 0x20000, 0x10001, .drops = 1},
         {3, 0x10000, 0x10001, .drops = 1});
    assert_int_equal(drops_of(&qdiscs, 2), 0);
    assert_int_equal(drops_of(&qdiscs, 3), 0);
    READ(&qdiscs, {2, 0x10000, ROOT, .drops = 4}, {2, 0x10000, ROOT, .drops = 4},
         {2, 0x30000, 0x70001, .drops = 3});
    assert_int_equal(drops_of(&qdiscs, 2), 7);
    netlink_qdiscs_begin(&qdiscs);
    netlink_qdiscs_end(&qdiscs);
    assert_int_equal(drops_of(&qdiscs, 2), 0);
    netlink_qdiscs_free(&qdiscs);
}

/* A chain longer than any kernel's. */
static void test_deep_tree(void **state)
{
    (void)state;
    struct netlink_qdiscs qdiscs = {0};
    struct reading chain[100];
    for (uint32_t i = 0; i < 100; i++)
        chain[i] = (struct reading){2, (i + 1) << 16, i ? i << 16 | 1 : ROOT, .drops = 100 - i};
    read_all(&qdiscs, chain, 100);
    assert_int_equal(drops_of(&qdiscs, 2), 100);
    netlink_qdiscs_free(&qdiscs);
}

/* ---- sums of bridges ---- */

static struct nl_port make_port(uint32_t ifindex, const char *type, struct nl_port *master)
{
    struct nl_port port = {.link.ifindex = ifindex, .master = master};
    snprintf(port.link.type, sizeof(port.link.type), "%s", type);
    return port;
}

static void test_bridge(void **state)
{
    (void)state;
    struct nl_port br = make_port(1, "bridge", NULL), a = make_port(2, "veth", &br),
                   b = make_port(3, "tun", &br);
    /* The bridge's own rx is what the host took out of it. Members may come before it. */
    netlink_sums_add(&a, 100, 10, 1);
    netlink_sums_add(&br, 5, 7, 1);
    netlink_sums_add(&b, 200, 20, 1);
    assert_int_equal(br.sums.in, 307);
    assert_int_equal(br.sums.out, 35);
    netlink_sums_add(&a, 101, 12, 2);
    netlink_sums_add(&br, 5, 7, 2);
    netlink_sums_add(&b, 200, 21, 2);
    assert_int_equal(br.sums.in, 308);
    assert_int_equal(br.sums.out, 38);
}

static void test_bridge_members_change(void **state)
{
    (void)state;
    struct nl_port br = make_port(1, "bridge", NULL), a = make_port(2, "veth", &br),
                   b = make_port(3, "tun", NULL);
    struct nl_port bond = make_port(4, "bond", NULL);
    netlink_sums_add(&br, 0, 0, 1);
    netlink_sums_add(&a, 100, 0, 1);
    netlink_sums_add(&b, 1000, 0, 1);
    b.master = &br;   /* b joins: what it counted before is not the bridge's */
    a.master = &bond; /* a leaves: what it counted stays */
    netlink_sums_add(&br, 0, 0, 2);
    netlink_sums_add(&a, 150, 0, 2);
    netlink_sums_add(&b, 1010, 0, 2);
    assert_int_equal(br.sums.in, 100);
    netlink_sums_add(&br, 0, 0, 3);
    netlink_sums_add(&b, 1015, 0, 3);
    assert_int_equal(br.sums.in, 105);
    /* A counter that went back (cleared, made anew) takes nothing away. */
    netlink_sums_add(&br, 0, 0, 4);
    netlink_sums_add(&b, 3, 0, 4);
    assert_int_equal(br.sums.in, 105);
    assert_false(netlink_sums_has(&bond));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mq),
        cmocka_unit_test(test_classful),
        cmocka_unit_test(test_what_queues_nothing),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_wrap_among_others),
        cmocka_unit_test(test_hostile_trees),
        cmocka_unit_test(test_deep_tree),
        cmocka_unit_test(test_bridge),
        cmocka_unit_test(test_bridge_members_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
