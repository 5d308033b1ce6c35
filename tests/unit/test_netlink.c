/* SPDX-License-Identifier: MIT */
/*
 * The netlink collectors on the real kernel, in network namespaces of the test's own: exact counters, churn
 * while collecting, renames, moves, lost notifications. Each case makes a namespace by unshare in a thread of
 * its own process (fork), so a failure leaves nothing behind. Without root, or with LAB=0, every case is
 * skipped and says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <netlink/attr.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/netlink.h"
#include "collectors/nl_chan.h"
#include "collectors/nl_links.h"
#include "collectors/nl_stats.h"
#include "src/frame.h"

/* ---- a kernel to ask ---- */

/* The test's own hand on the kernel: requests that change links. */
struct hand {
    struct nl_chan chan;
    struct collect_call call;
};

static void ignore(const struct nlmsghdr *message, void *arg)
{
    (void)message;
    (void)arg;
}

static void hand_open(struct hand *hand)
{
    *hand = (struct hand){.call = {.stop_fd = -1, .deadline_ns = INT64_MAX}};
    assert_int_equal(nl_chan_open(&hand->chan, &hand->call), COLLECT_OK);
}

static int hand_do(struct hand *hand, struct nl_msg *request)
{
    int rc = nl_chan_ask(&hand->chan, request, ignore, NULL, &hand->call);
    nlmsg_free(request);
    return rc;
}

static struct nl_msg *link_request(int type, int flags, int ifindex, unsigned if_flags)
{
    struct ifinfomsg head = {.ifi_index = ifindex, .ifi_flags = if_flags, .ifi_change = IFF_UP};
    return nl_chan_request(type, NLM_F_ACK | flags, &head, sizeof(head));
}

static int index_of(const char *name)
{
    struct ifreq request = {0};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    int rc = ioctl(fd, SIOCGIFINDEX, &request);
    close(fd);
    return rc < 0 ? 0 : request.ifr_ifindex;
}

static void put_info_kind(struct nl_msg *request, const char *kind)
{
    struct nlattr *info = nla_nest_start(request, IFLA_LINKINFO);
    nla_put_string(request, IFLA_INFO_KIND, kind);
    nla_nest_end(request, info);
}

/* A link of a kind that needs nothing else; ifindex 0 = the next one. */
static int make_link(struct hand *hand, const char *name, const char *kind, int ifindex)
{
    struct nl_msg *request = link_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifindex, IFF_UP);
    nla_put_string(request, IFLA_IFNAME, name);
    put_info_kind(request, kind);
    return hand_do(hand, request);
}

static int set_up(struct hand *hand, const char *name)
{
    return hand_do(hand, link_request(RTM_NEWLINK, 0, index_of(name), IFF_UP));
}

static int make_pair(struct hand *hand, const char *name, const char *peer)
{
    struct nl_msg *request = link_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0, IFF_UP);
    struct ifinfomsg head = {0};
    nla_put_string(request, IFLA_IFNAME, name);
    struct nlattr *info = nla_nest_start(request, IFLA_LINKINFO);
    nla_put_string(request, IFLA_INFO_KIND, "veth");
    struct nlattr *data = nla_nest_start(request, IFLA_INFO_DATA);
    struct nlattr *other = nla_nest_start(request, VETH_INFO_PEER);
    nlmsg_append(request, &head, sizeof(head), NLMSG_ALIGNTO);
    nla_put_string(request, IFLA_IFNAME, peer);
    nla_nest_end(request, other);
    nla_nest_end(request, data);
    nla_nest_end(request, info);
    int rc = hand_do(hand, request);
    /* The peer cannot come up before it has one itself. */
    return rc < 0 ? rc : set_up(hand, peer);
}

static int send_frames(const char *name, int n, size_t size);

/* A link that is just up drops what it is given until the kernel has noticed its carrier. */
static void wait_until_it_sends(const char *name)
{
    for (int i = 0; i < 1000 && send_frames(name, 1, 60) == 0; i++)
        usleep(5000);
}

static int make_veth(struct hand *hand, const char *name, const char *peer)
{
    int rc = make_pair(hand, name, peer);
    if (rc == 0) {
        wait_until_it_sends(name);
        wait_until_it_sends(peer);
    }
    return rc;
}

static int set_u32(struct hand *hand, const char *name, int attribute, uint32_t value)
{
    struct nl_msg *request = link_request(RTM_NEWLINK, 0, index_of(name), IFF_UP);
    nla_put_u32(request, attribute, value);
    return hand_do(hand, request);
}

static int set_down(struct hand *hand, const char *name)
{
    return hand_do(hand, link_request(RTM_NEWLINK, 0, index_of(name), 0));
}

/* Old kernels rename only what is down. */
static int rename_link(struct hand *hand, const char *name, const char *to)
{
    set_down(hand, name);
    struct nl_msg *request = link_request(RTM_NEWLINK, 0, index_of(name), IFF_UP);
    nla_put_string(request, IFLA_IFNAME, to);
    return hand_do(hand, request);
}

static int delete_link(struct hand *hand, const char *name)
{
    return hand_do(hand, link_request(RTM_DELLINK, 0, index_of(name), 0));
}

/* Sends n frames of size bytes out of a link, of a protocol nobody handles. Returns how many were not dropped
 * at once. */
static int send_frames(const char *name, int n, size_t size)
{
    char frame[2000] = {0};
    memset(frame, 0xff, 6);
    frame[6] = 2;
    frame[12] = (char)0x88;
    frame[13] = (char)0xb5;
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = index_of(name)};
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    int sent = 0;
    for (int i = 0; i < n; i++) {
        bool ok = send(fd, frame, size, 0) == (ssize_t)size;
        assert_true(ok || errno == ENOBUFS || errno == ENETDOWN);
        sent += ok;
    }
    close(fd);
    return sent;
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd < 0)
        return;
    if (write(fd, text, strlen(text)) < 0)
        print_message("%s: %s\n", path, strerror(errno));
    close(fd);
}

/* ---- the collector ---- */

struct probe {
    const struct collector *collector;
    struct collect_config config;
    struct collect_call call;
    void *state;
};

static enum collect_result probe_try(struct probe *probe, const struct collector *collector,
                                     const char *netns)
{
    *probe = (struct probe){
        .collector = collector, .config = {.netns = netns, .root = ""}, .call = {.stop_fd = -1}};
    probe->call.deadline_ns = clock_mono_ns() + INT64_C(10000000000);
    return collector->open(&probe->config, &probe->state, &probe->call);
}

static void probe_open(struct probe *probe, const struct collector *collector, const char *netns)
{
    assert_int_equal(probe_try(probe, collector, netns), COLLECT_OK);
}

static struct sample *probe_read(struct probe *probe)
{
    struct sample *sample = NULL;
    probe->call.deadline_ns = clock_mono_ns() + INT64_C(10000000000);
    enum collect_result result = probe->collector->collect(probe->state, &probe->call, &sample);
    if (result != COLLECT_OK)
        print_message("%s\n", probe->call.error.text);
    assert_int_equal(result, COLLECT_OK);
    return sample;
}

static void probe_close(struct probe *probe)
{
    probe->collector->close(probe->state);
}

static const struct ports_row *find_row(const struct sample *sample, const char *name)
{
    for (size_t i = 0; sample && i < sample->set[TABLE_PORTS].n; i++) {
        const struct ports_row *row = (const struct ports_row *)sample_row_at(sample, TABLE_PORTS, i);
        if (strcmp(((const struct ports_info *)row->head.info)->name, name) == 0)
            return row;
    }
    return NULL;
}

static const struct ports_row *need_row(const struct sample *sample, const char *name)
{
    const struct ports_row *row = find_row(sample, name);
    if (!row)
        print_message("no row %s\n", name);
    assert_non_null(row);
    return row;
}

static const struct ports_info *info_of(const struct ports_row *row)
{
    return (const struct ports_info *)row->head.info;
}

/* ---- cases in namespaces ---- */

static bool quiet_namespace(void)
{
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0)
        return false;
    if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0)
        return false;
    /* IPv6 sends packets of its own. */
    write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    return true;
}

static const char *why_not(void)
{
    const char *lab = getenv("LAB");
    if (lab && strcmp(lab, "0") == 0)
        return "LAB=0";
    return geteuid() != 0 ? "a network namespace needs root" : NULL;
}

/* Runs a case in a namespace of its own, in this very process: it is left with it, the next one makes
 * another. */
static void begin_case(struct hand *hand)
{
    const char *reason = why_not();
    if (!reason && !quiet_namespace())
        reason = "no right to make network namespaces here";
    if (reason) {
        print_message("skipped: %s\n", reason);
        skip();
    }
    hand_open(hand);
}

static void end_case(struct hand *hand)
{
    nl_chan_close(&hand->chan);
}

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

/* A tap that nobody reads: its ring of 5, one of them taken, gets full, and the rest is tx_dropped and
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
    wait_until_it_sends("tap");
    probe_open(&probe, &netlink_collector, NULL);
    struct sample *first = probe_read(&probe);
    send_frames("tap", 100, 100);
    struct sample *second = probe_read(&probe);
    const struct ports_row *before = need_row(first, "tap"), *after = need_row(second, "tap");
    /* The five that wait in the ring count as sent when somebody reads them. */
    assert_int_equal(after->tx_packets, 0);
    assert_int_equal(after->tx_dropped - before->tx_dropped, 96);
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
    assert_int_equal(set_u32(&hand, "a", IFLA_MASTER, 0), 0);
    assert_int_equal(nl_links_update(&links, &hand.chan, &hand.call), 0);
    assert_int_equal(links.n, n);
    const struct nl_port *a = nl_links_find(&links, (uint32_t)index_of("a"));
    assert_non_null(a);
    assert_int_equal(a->link.master, 0);
    nl_links_close(&links);
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
        cmocka_unit_test(test_counters_are_the_kernels),
        cmocka_unit_test(test_getlink_gives_the_same),
        cmocka_unit_test(test_inventory),
        cmocka_unit_test(test_tap_nobody_reads),
        cmocka_unit_test(test_rename_keeps_the_key),
        cmocka_unit_test(test_made_anew_is_another_port),
        cmocka_unit_test(test_move_to_another_namespace),
        cmocka_unit_test(test_namespace_that_goes),
        cmocka_unit_test(test_namespace_names),
        cmocka_unit_test(test_bridge_sums),
        cmocka_unit_test(test_forwarding_table),
        cmocka_unit_test(test_qdisc_drops),
        cmocka_unit_test(test_enobufs),
        cmocka_unit_test(test_no_news_no_work),
        cmocka_unit_test(test_leaving_a_bridge_is_no_death),
        cmocka_unit_test(test_churn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
