/* SPDX-License-Identifier: MIT */
/*
 * The netlink collectors on the real kernel (netlink_hand.h): exact counters, true causes, renames, moves to
 * other namespaces, bridges and queueing disciplines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/sockios.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "netlink_hand.h"
#include "src/frame.h"

/* ---- cases in namespaces ---- */

static void test_counters_are_the_kernels(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    probe_open(&probe, &netlink_collector, NULL);
    struct sample *first = probe_read(&probe);
    send_frames("a", 1000, 100);
    struct sample *second = probe_read(&probe);
    const struct ports_row *a0 = need_row(first, "a"), *a1 = need_row(second, "a"),
                           *b1 = need_row(second, "b");
    assert_int_equal(a1->tx_packets - a0->tx_packets, 1000);
    assert_int_equal(a1->tx_bytes - a0->tx_bytes, 100000);
    assert_int_equal(b1->rx_packets, a1->tx_packets);
    /* Nobody handles the protocol: the stack drops what it received, and the sender lost nothing. */
    assert_int_equal(b1->rx_dropped - need_row(first, "b")->rx_dropped, 1000);
    assert_int_equal(a1->tx_dropped, a0->tx_dropped);
    assert_true(second->t0_ns > first->t1_ns && second->t1_ns >= second->t0_ns && second->wall_ns > 0);
    assert_ptr_equal(first->inventory, second->inventory);
    assert_non_null(strstr(probe.call.detail, "this namespace; RTM_GETSTATS; "));
    sample_unref(first);
    sample_unref(second);
    probe_close(&probe);
    end_case(&hand);
}

/* Every counter of both ways to ask, link by link. */
static void test_getlink_gives_the_same(void **state)
{
    (void)state;
    struct hand hand;
    struct probe fast, old;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    assert_int_equal(make_link(&hand, "br", "bridge", 0), 0);
    send_frames("a", 77, 60);
    probe_open(&fast, &netlink_collector, NULL);
    probe_open(&old, &netlink_collector, NULL);
    netlink_without_getstats(old.state);
    struct sample *one = probe_read(&fast), *other = probe_read(&old);
    size_t n = one->set[TABLE_PORTS].n;
    assert_true(n >= 4);
    assert_int_equal(other->set[TABLE_PORTS].n, n);
    for (size_t i = 0; i < n; i++) {
        const struct row_head *left = sample_row_at(one, TABLE_PORTS, i);
        const struct row_head *right = sample_row_at(other, TABLE_PORTS, i);
        assert_string_equal(left->info->key, right->info->key);
        size_t head = offsetof(struct row_head, t_ns);
        assert_memory_equal((const char *)left + head, (const char *)right + head,
                            sizeof(struct ports_row) - head);
    }
    assert_non_null(strstr(old.call.detail, "RTM_GETLINK"));
    sample_unref(one);
    sample_unref(other);
    probe_close(&fast);
    probe_close(&old);
    end_case(&hand);
}

static void test_inventory(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    assert_int_equal(make_link(&hand, "br", "bridge", 0), 0);
    assert_int_equal(set_u32(&hand, "a", IFLA_MASTER, (uint32_t)index_of("br")), 0);
    assert_int_equal(set_u32(&hand, "a", IFLA_MTU, 1400), 0);
    assert_int_equal(set_u32(&hand, "a", IFLA_TXQLEN, 123), 0);
    assert_int_equal(set_down(&hand, "b"), 0);
    probe_open(&probe, &netlink_collector, NULL);
    struct sample *sample = probe_read(&probe);
    const struct ports_info *a = info_of(need_row(sample, "a"));
    const struct ports_info *b = info_of(need_row(sample, "b"));
    const struct ports_info *br = info_of(need_row(sample, "br"));
    assert_string_equal(a->netns, "self");
    assert_string_equal(a->kind, "veth");
    assert_string_equal(a->switch_, "br");
    assert_string_equal(a->link, "b");
    assert_int_equal(a->mtu, 1400);
    assert_int_equal(a->tx_queue_len, 123);
    assert_string_equal(a->admin, "up");
    assert_string_equal(a->carrier, "down");
    assert_string_equal(b->admin, "down");
    assert_string_equal(b->carrier, "down");
    assert_false(info_has(a, speed_mbps));
    assert_false(info_has(b, switch_));
    assert_string_equal(br->kind, "bridge");
    assert_int_equal(br->ports, 1);
    assert_false(info_has(a, ports));
    assert_string_equal(info_of(need_row(sample, "lo"))->kind, "loopback");
    sample_unref(sample);
    probe_close(&probe);
    end_case(&hand);
}

/* Queues in use, as ethtool tells them; asked again when the link changes. */
static void test_queues_in_use(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
    struct ifreq request = {.ifr_name = "a", .ifr_data = (void *)&channels};
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    if (ioctl(hand.chan.fd, SIOCETHTOOL, &request) < 0 || channels.max_tx < 2) {
        print_message("skipped: veth has one queue here\n");
        end_case(&hand);
        skip();
    }
    probe_open(&probe, &netlink_collector, NULL);
    struct sample *first = probe_read(&probe);
    assert_int_equal(info_of(need_row(first, "a"))->tx_queues, channels.tx_count + channels.combined_count);
    channels.cmd = ETHTOOL_SCHANNELS;
    channels.tx_count = channels.tx_count == 1 ? 2 : 1;
    assert_int_equal(ioctl(hand.chan.fd, SIOCETHTOOL, &request), 0);
    assert_int_equal(set_u32(&hand, "a", IFLA_MTU, 1400), 0);
    struct sample *second = probe_read(&probe);
    assert_int_equal(info_of(need_row(second, "a"))->tx_queues, channels.tx_count + channels.combined_count);
    sample_unref(first);
    sample_unref(second);
    probe_close(&probe);
    end_case(&hand);
}

static int open_tun(const char *name, short flags)
{
    struct ifreq request = {.ifr_flags = flags};
    int fd = open("/dev/net/tun", O_RDWR);
    if (fd < 0)
        return -1;
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (ioctl(fd, TUNSETIFF, &request) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A tap that nobody reads: its ring of 5 gets full, and the rest is tx_dropped and
 * nothing else. */
static void test_tap_nobody_reads(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    begin_case(&hand);
    int tap = open_tun("tap", IFF_TAP | IFF_NO_PI), tun = open_tun("tun", IFF_TUN | IFF_NO_PI);
    int queues[2] = {open_tun("many", IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE),
                     open_tun("many", IFF_TAP | IFF_NO_PI | IFF_MULTI_QUEUE)};
    assert_true(tap >= 0 && tun >= 0 && queues[0] >= 0 && queues[1] >= 0);
    assert_int_equal(set_u32(&hand, "tap", IFLA_TXQLEN, 5), 0);
    probe_open(&probe, &netlink_collector, NULL);
    struct sample *first = probe_read(&probe);
    send_frames("tap", 100, 100);
    struct sample *second = probe_read(&probe);
    const struct ports_row *before = need_row(first, "tap"), *after = need_row(second, "tap");
    /* The five that wait in the ring count as sent when somebody reads them. */
    assert_int_equal(after->tx_packets, 0);
    assert_int_equal(after->tx_dropped - before->tx_dropped, 95);
    assert_int_equal(after->rx_dropped + after->rx_errors + after->tx_errors, 0);
    assert_string_equal(info_of(after)->kind, "tap");
    assert_string_equal(info_of(after)->carrier, "up");
    assert_int_equal(info_of(after)->tx_queues, 1);
    assert_string_equal(info_of(need_row(second, "tun"))->kind, "tun");
    assert_int_equal(info_of(need_row(second, "many"))->rx_queues, 2);
    sample_unref(first);
    sample_unref(second);
    probe_close(&probe);
    for (int i = 0; i < 2; i++)
        close(queues[i]);
    close(tap);
    close(tun);
    end_case(&hand);
}

static void test_rename_keeps_the_key(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    probe_open(&probe, &netlink_collector, NULL);
    struct sample *first = probe_read(&probe);
    assert_int_equal(rename_link(&hand, "a", "z"), 0);
    struct sample *second = probe_read(&probe);
    assert_null(find_row(second, "a"));
    assert_string_equal(need_row(first, "a")->head.info->key, need_row(second, "z")->head.info->key);
    assert_string_equal(info_of(need_row(second, "b"))->link, "z");
    /* The first sample's texts are its own still. */
    assert_string_equal(info_of(need_row(first, "b"))->link, "a");
    sample_unref(first);
    sample_unref(second);
    probe_close(&probe);
    end_case(&hand);
}

static void test_made_anew_is_another_port(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    send_frames("a", 10, 100);
    probe_open(&probe, &netlink_collector, NULL);
    struct sample *first = probe_read(&probe);
    int old = index_of("a");
    assert_int_equal(delete_link(&hand, "a"), 0);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    struct sample *second = probe_read(&probe);
    assert_int_not_equal(index_of("a"), old);
    assert_string_not_equal(need_row(first, "a")->head.info->key, need_row(second, "a")->head.info->key);
    /* Even the same ifindex is noticed: its counters went back. */
    assert_int_equal(delete_link(&hand, "a"), 0);
    assert_int_equal(make_link(&hand, "a", "bridge", old), 0);
    struct sample *third = probe_read(&probe);
    struct pair pair = {.feed = "netlink", .cur = third, .prev = first};
    struct frame *frame = frame_new(&pair, 1, third->t1_ns, third->wall_ns, 0);
    const struct frame_row *row = frame_find(frame, TABLE_PORTS, need_row(third, "a")->head.info->key);
    struct cell cell = frame_cell(frame, row, column_find(table_get(TABLE_PORTS), "tx_pps"));
    assert_int_equal(cell.kind, CELL_RESET);
    frame_free(frame);
    sample_unref(first);
    sample_unref(second);
    sample_unref(third);
    probe_close(&probe);
    end_case(&hand);
}

/* A namespace kept by a file, as `ip netns add` does; returns to the former one. */
static void make_netns(const char *name)
{
    char path[64];
    mkdir("/run", 0755);
    mkdir("/run/netns", 0755);
    snprintf(path, sizeof(path), "/run/netns/%s", name);
    int back = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    close(open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
    assert_int_equal(unshare(CLONE_NEWNET), 0);
    assert_int_equal(mount("/proc/thread-self/ns/net", path, "none", MS_BIND, NULL), 0);
    assert_int_equal(setns(back, CLONE_NEWNET), 0);
    close(back);
}

static void begin_case_with_run(struct hand *hand)
{
    begin_case(hand);
    assert_int_equal(mount("none", "/run", "tmpfs", 0, NULL), 0);
}

static int move_link(struct hand *hand, const char *name, const char *netns_path)
{
    int fd = open(netns_path, O_RDONLY | O_CLOEXEC);
    int rc = set_u32(hand, name, IFLA_NET_NS_FD, (uint32_t)fd);
    close(fd);
    return rc;
}

static void test_move_to_another_namespace(void **state)
{
    (void)state;
    struct hand hand;
    struct probe here, there;
    begin_case_with_run(&hand);
    make_netns("far");
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    probe_open(&here, &netlink_collector, NULL);
    probe_open(&there, &netlink_collector, "far");
    struct sample *first = probe_read(&here), *far_first = probe_read(&there);
    assert_null(find_row(far_first, "b"));
    assert_int_equal(move_link(&hand, "b", "/run/netns/far"), 0);
    struct sample *second = probe_read(&here), *far_second = probe_read(&there);
    assert_null(find_row(second, "b"));
    const struct ports_info *a = info_of(need_row(second, "a")), *b = info_of(need_row(far_second, "b"));
    assert_string_equal(b->netns, "far");
    assert_false(info_has(a, link));
    assert_false(info_has(b, link));
    assert_string_not_equal(b->head.key, need_row(first, "b")->head.info->key);
    assert_non_null(strstr(there.call.detail, "namespace far"));
    /* The thread is where it was. */
    assert_int_not_equal(index_of("a"), 0);
    sample_unref(first);
    sample_unref(second);
    sample_unref(far_first);
    sample_unref(far_second);
    probe_close(&here);
    probe_close(&there);
    end_case(&hand);
}

/* Sockets keep a namespace alive: when its name goes, the collector lets go of it. */
static void test_namespace_that_goes(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    struct sample *sample = NULL;
    begin_case_with_run(&hand);
    make_netns("far");
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    assert_int_equal(move_link(&hand, "b", "/run/netns/far"), 0);
    probe_open(&probe, &netlink_collector, "far");
    sample_unref(probe_read(&probe));
    umount2("/run/netns/far", MNT_DETACH);
    unlink("/run/netns/far");
    assert_int_equal(probe.collector->collect(probe.state, &probe.call, &sample), COLLECT_NONE);
    assert_non_null(strstr(probe.call.error.text, "no network namespace far"));
    probe_close(&probe);
    /* b goes with its namespace, and a with b. */
    for (int i = 0; i < 500 && index_of("a") != 0; i++)
        usleep(10000);
    assert_int_equal(index_of("a"), 0);
    end_case(&hand);
}

static void test_namespace_names(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    char path[64];
    begin_case_with_run(&hand);
    make_netns("far");
    probe_open(&probe, &netlink_collector, "/run/netns/far");
    probe_close(&probe);
    snprintf(path, sizeof(path), "pid:%d", (int)getpid());
    probe_open(&probe, &netlink_collector, path);
    probe_close(&probe);
    assert_int_equal(probe_try(&probe, &netlink_collector, "near"), COLLECT_NONE);
    assert_non_null(strstr(probe.call.error.text, "near"));
    assert_int_equal(probe_try(&probe, &netlink_collector, "pid:999999999"), COLLECT_NONE);
    assert_int_equal(probe_try(&probe, &netlink_collector, ".."), COLLECT_FAILED);
    assert_int_equal(probe_try(&probe, &netlink_collector, ""), COLLECT_FAILED);
    assert_int_equal(probe_try(&probe, &netlink_collector, "/etc/passwd"), COLLECT_FAILED);
    assert_int_equal(probe_try(&probe, &netlink_queues_collector, "near"), COLLECT_NONE);
    end_case(&hand);
}

/* What an ordinary user gets; in a process of its own, for there is no way back. Returns an exit status. */
static int as_nobody(void)
{
    struct probe probe;
    struct sample *sample = NULL;
    if (setgid(65534) < 0 || setuid(65534) < 0)
        return 1;
    if (probe_try(&probe, &netlink_collector, "far") != COLLECT_DENIED ||
        !strstr(probe.call.error.text, "run as root or with CAP_SYS_ADMIN"))
        return 2;
    if (probe_try(&probe, &netlink_collector, "pid:1") != COLLECT_DENIED)
        return 3;
    if (probe_try(&probe, &netlink_collector, NULL) != COLLECT_OK ||
        probe.collector->collect(probe.state, &probe.call, &sample) != COLLECT_OK || !find_row(sample, "a"))
        return 4;
    probe_close(&probe);
    if (probe_try(&probe, &netlink_queues_collector, NULL) != COLLECT_OK)
        return 5;
    sample_unref(sample);
    probe_close(&probe);
    return 0;
}

static void test_ordinary_user(void **state)
{
    (void)state;
    struct hand hand;
    int status = -1;
    begin_case_with_run(&hand);
    make_netns("far");
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(as_nobody());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    end_case(&hand);
}

/* ---- bridges ---- */

/* What a bridge's ports from p<first> on, and the host by the bridge itself, brought in; by the kernel's
 * counters. */
static uint64_t brought_in(const struct sample *sample, char first)
{
    uint64_t in = need_row(sample, "br")->tx_packets;
    for (char n = first; n < '3'; n++)
        in += need_row(sample, (char[]){'p', n, '\0'})->rx_packets;
    return in;
}

static uint64_t taken_out(const struct sample *sample, char first)
{
    uint64_t out = need_row(sample, "br")->rx_packets;
    for (char n = first; n < '3'; n++)
        out += need_row(sample, (char[]){'p', n, '\0'})->tx_packets;
    return out;
}

/* The sums rose by what the ports from p<first> on counted between two samples. */
static void check_sums(const struct sample *before, const struct sample *after, char first)
{
    const struct ports_row *br0 = need_row(before, "br"), *br1 = need_row(after, "br");
    assert_int_equal(br1->ports_rx_packets - br0->ports_rx_packets,
                     brought_in(after, first) - brought_in(before, first));
    assert_int_equal(br1->ports_tx_packets - br0->ports_tx_packets,
                     taken_out(after, first) - taken_out(before, first));
}

/* One port leaves with all it has counted and comes back, others carry traffic: the sums tell of traffic
 * alone. */
static void test_bridge_sums(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    struct sample *samples[4];
    begin_case(&hand);
    assert_int_equal(make_link(&hand, "br", "bridge", 0), 0);
    for (char n = '0'; n < '3'; n++) {
        char port[] = {'p', n, '\0'}, end[] = {'e', n, '\0'};
        assert_int_equal(make_veth(&hand, port, end), 0);
        assert_int_equal(set_u32(&hand, port, IFLA_MASTER, (uint32_t)index_of("br")), 0);
    }
    probe_open(&probe, &netlink_collector, NULL);
    samples[0] = probe_read(&probe);
    send_frames("e0", 500, 100);
    samples[1] = probe_read(&probe);
    assert_int_equal(set_u32(&hand, "p0", IFLA_MASTER, 0), 0);
    send_frames("e1", 100, 100);
    send_frames("e0", 50, 100);
    samples[2] = probe_read(&probe);
    assert_int_equal(set_u32(&hand, "p0", IFLA_MASTER, (uint32_t)index_of("br")), 0);
    samples[3] = probe_read(&probe);
    assert_int_equal(need_row(samples[0], "br")->ports_rx_packets, brought_in(samples[0], '0'));
    assert_int_equal(need_row(samples[0], "br")->ports_tx_packets, taken_out(samples[0], '0'));
    check_sums(samples[0], samples[1], '0');
    check_sums(samples[1], samples[2], '1');
    check_sums(samples[2], samples[3], '1');
    assert_true(need_row(samples[2], "br")->ports_rx_packets >= 600);
    assert_int_equal(info_of(need_row(samples[2], "br"))->ports, 2);
    for (int i = 0; i < 4; i++)
        sample_unref(samples[i]);
    probe_close(&probe);
    end_case(&hand);
}

static int add_fdb(struct hand *hand, const char *name, uint8_t last)
{
    struct ndmsg head = {.ndm_family = AF_BRIDGE,
                         .ndm_ifindex = index_of(name),
                         .ndm_state = NUD_NOARP,
                         .ndm_flags = NTF_MASTER};
    uint8_t mac[6] = {0x52, 0x54, 0, 0, 1, last};
    struct nl_msg *request =
        nl_chan_request(RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
    nla_put(request, NDA_LLADDR, sizeof(mac), mac);
    return hand_do(hand, request);
}

static void test_forwarding_table(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe;
    begin_case(&hand);
    assert_int_equal(make_link(&hand, "br", "bridge", 0), 0);
    assert_int_equal(make_link(&hand, "other", "bridge", 0), 0);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    assert_int_equal(set_u32(&hand, "a", IFLA_MASTER, (uint32_t)index_of("br")), 0);
    probe_open(&probe, &netlink_queues_collector, NULL);
    struct sample *first = probe_read(&probe);
    probe_close(&probe);
    for (uint8_t i = 0; i < 100; i++)
        assert_int_equal(add_fdb(&hand, "a", i), 0);
    probe_open(&probe, &netlink_queues_collector, NULL);
    struct sample *second = probe_read(&probe);
    assert_true(row_has(need_row(first, "br"), fdb_entries));
    /* A bridge with a default VLAN has each address twice. */
    uint64_t more = need_row(second, "br")->fdb_entries - need_row(first, "br")->fdb_entries;
    assert_true(more == 100 || more == 200);
    assert_int_equal(need_row(second, "other")->fdb_entries, need_row(first, "other")->fdb_entries);
    assert_null(find_row(second, "a"));
    sample_unref(first);
    sample_unref(second);
    probe_close(&probe);
    end_case(&hand);
}

/* ---- queueing disciplines ---- */

static int add_qdisc(struct hand *hand, const char *name, const char *kind, uint32_t limit)
{
    struct tcmsg head = {.tcm_ifindex = index_of(name), .tcm_handle = 0x10000, .tcm_parent = TC_H_ROOT};
    struct tc_fifo_qopt options = {.limit = limit};
    struct nl_msg *request =
        nl_chan_request(RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
    nla_put_string(request, TCA_KIND, kind);
    nla_put(request, TCA_OPTIONS, sizeof(options), &options);
    return hand_do(hand, request);
}

/* A down veth peer stops nothing, so a fifo of no room at all: each packet beyond is a drop of the discipline
 * and of nobody else. */
static void test_qdisc_drops(void **state)
{
    (void)state;
    struct hand hand;
    struct probe probe, fast;
    begin_case(&hand);
    assert_int_equal(make_veth(&hand, "a", "b"), 0);
    int rc = add_qdisc(&hand, "a", "bfifo", 50);
    if (rc < 0) {
        print_message("skipped: this kernel has no bfifo: %s\n", strerror(-rc));
        end_case(&hand);
        skip();
    }
    probe_open(&probe, &netlink_queues_collector, NULL);
    probe_open(&fast, &netlink_collector, NULL);
    struct sample *first = probe_read(&probe), *fast_first = probe_read(&fast);
    send_frames("a", 200, 100);
    struct sample *second = probe_read(&probe), *fast_second = probe_read(&fast);
    const struct ports_row *row = need_row(second, "a"), *counters = need_row(fast_second, "a");
    assert_int_equal(row->qdisc_drops - need_row(first, "a")->qdisc_drops, 200);
    assert_int_equal(row->qdisc_qlen, 0);
    assert_int_equal(counters->tx_packets, need_row(fast_first, "a")->tx_packets);
    assert_int_equal(counters->tx_dropped, need_row(fast_first, "a")->tx_dropped);
    assert_string_equal(info_of(counters)->qdisc, "bfifo");
    /* noqueue is no queue: no row. */
    assert_null(find_row(second, "b"));
    /* Both parts are one row of a frame. */
    struct pair pairs[] = {{.feed = "netlink", .cur = fast_second, .prev = fast_first},
                           {.feed = "netlink-queues", .cur = second, .prev = first}};
    struct frame *frame = frame_new(pairs, 2, second->t1_ns, second->wall_ns, 0);
    assert_int_equal(frame->table[TABLE_PORTS].n, fast_second->set[TABLE_PORTS].n);
    frame_free(frame);
    sample_unref(first);
    sample_unref(second);
    sample_unref(fast_first);
    sample_unref(fast_second);
    probe_close(&probe);
    probe_close(&fast);
    end_case(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_are_the_kernels),
        cmocka_unit_test(test_getlink_gives_the_same),
        cmocka_unit_test(test_inventory),
        cmocka_unit_test(test_queues_in_use),
        cmocka_unit_test(test_tap_nobody_reads),
        cmocka_unit_test(test_rename_keeps_the_key),
        cmocka_unit_test(test_made_anew_is_another_port),
        cmocka_unit_test(test_move_to_another_namespace),
        cmocka_unit_test(test_namespace_that_goes),
        cmocka_unit_test(test_namespace_names),
        cmocka_unit_test(test_ordinary_user),
        cmocka_unit_test(test_bridge_sums),
        cmocka_unit_test(test_forwarding_table),
        cmocka_unit_test(test_qdisc_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
