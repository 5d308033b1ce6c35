/* SPDX-License-Identifier: MIT */
/*
 * The netlink collectors while links come and go: notifications lost, notifications about nothing, hundreds
 * of links made, renamed and deleted during reads. On the real kernel, see netlink_hand.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <linux/if_link.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "collectors/nl_links.h"
#include "netlink_hand.h"
#include "src/frame.h"

/* ---- losses of notifications ---- */

static void test_enobufs(void **state)
{
    (void)state;
    struct hand hand;
    struct nl_links links;
    char name[16], peer[16];
    begin_case(&hand);
    /* The least the kernel gives holds one or two notifications. */
    assert_int_equal(nl_links_open(&links, 1, &hand.call), COLLECT_OK);
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    size_t n = links.n;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "a%d", i);
        snprintf(peer, sizeof(peer), "b%d", i);
        assert_int_equal(make_pair(&hand, name, peer), 0);
    }
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "a%d", i);
        assert_int_equal(delete_link(&hand, name), 0);
    }
    unsigned dumps = links.generation;
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    assert_int_not_equal(links.generation, dumps);
    assert_false(links.behind);
    assert_int_equal(links.n, n + 100);
    assert_int_equal(index_of("a99"), (int)nl_links_find(&links, (uint32_t)index_of("a99"))->link.ifindex);
    nl_links_close(&links);
    end_case(&hand);
}

/* Without loss there is no second dump, and news that change nothing make no new inventory. */
static void test_no_news_no_work(void **state)
{
    (void)state;
    struct hand hand;
    struct nl_links links;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    assert_int_equal(nl_links_open(&links, 0, &hand.call), COLLECT_OK);
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    unsigned dumps = links.generation;
    size_t n = links.n;
    links.changed = false;
    assert_int_equal(set_u32(&hand, "a", IFLA_MTU, 1500), 0);
    assert_int_equal(set_u32(&hand, "a", IFLA_GROUP, 7), 0);
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    assert_false(links.changed);
    assert_int_equal(make_link(&hand, "br", "bridge", 0), 0);
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    assert_true(links.changed);
    assert_int_equal(links.n, n + 1);
    assert_int_equal(links.generation, dumps);
    nl_links_close(&links);
    end_case(&hand);
}

/* A port that leaves its bridge is told of by an RTM_DELLINK of family AF_BRIDGE: the link stays. */
static void test_leaving_a_bridge_is_no_death(void **state)
{
    (void)state;
    struct hand hand;
    struct nl_links links;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    assert_int_equal(make_link(&hand, "br", "bridge", 0), 0);
    assert_int_equal(set_u32(&hand, "a", IFLA_MASTER, (uint32_t)index_of("br")), 0);
    assert_int_equal(nl_links_open(&links, 0, &hand.call), COLLECT_OK);
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    size_t n = links.n;
    nl_links_find(&links, (uint32_t)index_of("a"))->seen = 12345;
    assert_int_equal(set_u32(&hand, "a", IFLA_MASTER, 0), 0);
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    assert_int_equal(links.n, n);
    const struct nl_port *a = nl_links_find(&links, (uint32_t)index_of("a"));
    assert_non_null(a);
    assert_int_equal(a->link.master, 0);
    /* The same entry, not one made anew. */
    assert_int_equal(a->seen, 12345);
    nl_links_close(&links);
    end_case(&hand);
}

/* Takes this process's subscriptions to link notifications away, behind the collector's back. */
static int unsubscribe_all(void)
{
    int dropped = 0, group = RTNLGRP_LINK;
    for (int fd = 3; fd < 256; fd++) {
        uint32_t groups[16] = {0};
        socklen_t size = sizeof(groups);
        if (getsockopt(fd, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, groups, &size) == 0 && groups[0] & 1)
            dropped += setsockopt(fd, SOL_NETLINK, NETLINK_DROP_MEMBERSHIP, &group, sizeof(group)) == 0;
    }
    return dropped;
}

/* Counters of a link that nothing was told of make the collector ask for all links, within the same read. */
static void test_unknown_link(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    probe_open(&probe, &netlink_collector, NULL);
    sample_unref(probe_read(&probe));
    assert_int_equal(unsubscribe_all(), 1);
    assert_int_equal(make_pair(&hand, "c", "d"), 0);
    struct sample *sample = probe_read(&probe);
    assert_string_equal(info_of(need_row(sample, "c"))->link, "d");
    need_row(sample, "a");
    sample_unref(sample);
    probe_close(&probe);
    end_case(&hand);
}

/* ---- churn ---- */

#define CHURN_LINKS 300
#define SECOND      INT64_C(1000000000)

/* Makes, renames and deletes links until it is killed. */
static void churn(void)
{
    struct hand hand;
    char name[16], peer[16], new_name[16];
    hand_open(&hand);
    for (int round = 0;; round++) {
        for (int i = 0; i < CHURN_LINKS / 2; i++) {
            snprintf(name, sizeof(name), "c%d", i);
            snprintf(peer, sizeof(peer), "d%d", i);
            snprintf(new_name, sizeof(new_name), "r%d-%d", round % 10, i);
            make_pair(&hand, name, peer);
            rename_link(&hand, name, new_name);
        }
        for (int i = 0; i < CHURN_LINKS / 2; i += 2) {
            snprintf(peer, sizeof(peer), "d%d", i);
            delete_link(&hand, peer);
        }
        for (int i = 1; i < CHURN_LINKS / 2; i += 2) {
            snprintf(peer, sizeof(peer), "d%d", i);
            delete_link(&hand, peer);
        }
    }
}

/* No row may show a rate that never was: no packet is sent on the churned links but by the kernel itself. */
static void check_frame(const struct sample *prev, const struct sample *cur)
{
    struct pair pair = {.feed = "netlink", .cur = cur, .prev = prev};
    struct frame *frame = frame_new(&pair, 1, cur->t1_ns, cur->wall_ns, 0);
    const struct column *pps = column_find(table_get(TABLE_PORTS), "tx_pps");
    assert_int_equal(frame->table[TABLE_PORTS].n, cur->set[TABLE_PORTS].n);
    for (size_t i = 0; i < frame->table[TABLE_PORTS].n; i++) {
        const struct frame_row *row = &frame->table[TABLE_PORTS].rows[i];
        struct cell cell = frame_cell(frame, row, pps);
        assert_true(cell.kind == CELL_NEW || (cell.kind == CELL_F64 && cell.f64 >= 0));
        const struct ports_info *info = (const struct ports_info *)row->part.cur->info;
        if (strcmp(info->name, "a") != 0 && strcmp(info->name, "b") != 0 && cell.kind == CELL_F64)
            assert_true(cell.f64 == 0);
    }
    frame_free(frame);
}

static void test_churn(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe, slow;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        churn();
    }
    probe_open(&probe, &netlink_collector, NULL);
    probe_open(&slow, &netlink_queues_collector, NULL);
    struct sample *prev = probe_read(&probe);
    uint64_t sent = need_row(prev, "a")->tx_packets;
    size_t most = 0;
    /* Two seconds of it at least, and as long as a slow machine needs to have seen something. */
    int64_t start_ns = clock_mono_ns(), passed_ns = 0;
    int rounds = 0;
    for (; passed_ns < 2 * SECOND || ((rounds < 20 || most < 20) && passed_ns < 60 * SECOND); rounds++) {
        passed_ns = clock_mono_ns() - start_ns;
        send_frames("a", 10, 100);
        sent += 10;
        struct sample *cur = probe_read(&probe);
        assert_int_equal(need_row(cur, "a")->tx_packets, sent);
        assert_int_equal(need_row(cur, "b")->rx_packets, sent);
        check_frame(prev, cur);
        if (rounds % 20 == 0)
            sample_unref(probe_read(&slow));
        most = cur->set[TABLE_PORTS].n > most ? cur->set[TABLE_PORTS].n : most;
        sample_unref(prev);
        prev = cur;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(rounds >= 20 && most >= 20);
    /* And once it is quiet, the rows are the kernel's links, no more and no less. */
    struct sample *last = probe_read(&probe);
    struct nl_links links;
    assert_int_equal(nl_links_open(&links, 0, &hand.call), COLLECT_OK);
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    assert_int_equal(last->set[TABLE_PORTS].n, links.n);
    for (size_t i = 0; i < links.n; i++) {
        const struct ports_info *info = (const struct ports_info *)sample_row_at(last, TABLE_PORTS, i)->info;
        const struct nl_port *port = nl_links_find(&links, (uint32_t)info->ifindex);
        assert_non_null(port);
        assert_string_equal(port->link.name, info->name);
    }
    nl_links_close(&links);
    sample_unref(prev);
    sample_unref(last);
    probe_close(&probe);
    probe_close(&slow);
    end_case(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enobufs),
        cmocka_unit_test(test_no_news_no_work),
        cmocka_unit_test(test_leaving_a_bridge_is_no_death),
        cmocka_unit_test(test_unknown_link),
        cmocka_unit_test(test_churn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
