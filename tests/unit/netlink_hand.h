/* SPDX-License-Identifier: MIT */
/*
 * The hands of the netlink tests: a network namespace of the test's own, links made and changed in it by
 * netlink, frames sent, and a collector to be called without a thread. Each case leaves the last one's
 * namespace for a new one, which takes all its links with it. Without root, or with LAB=0, cases are skipped
 * and say so. Included after cmocka.h by the tests/unit/test_netlink*.c that need a kernel.
 */
#ifndef VNETTOP_TESTS_NETLINK_HAND_H
#define VNETTOP_TESTS_NETLINK_HAND_H

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <netlink/attr.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/netlink.h"
#include "collectors/nl_chan.h"
#include "collectors/nl_link.h"

/* ---- a kernel to ask ---- */

/* The test's own hand on the kernel: requests that change links. */
struct hand {
    struct nl_chan chan;
    struct collect_call call;
};

static inline void ignore(const struct nlmsghdr *message, void *arg)
{
    (void)message;
    (void)arg;
}

static inline void hand_open(struct hand *hand)
{
    *hand = (struct hand){.call = {.stop_fd = -1, .deadline_ns = INT64_MAX}};
    assert_int_equal(nl_chan_open(&hand->chan, &hand->call), COLLECT_OK);
}

static inline int hand_do(struct hand *hand, struct nl_msg *request)
{
    int rc = nl_chan_ask(&hand->chan, request, ignore, NULL, &hand->call);
    nlmsg_free(request);
    return rc;
}

static inline struct nl_msg *link_request(int type, int flags, int ifindex, unsigned if_flags)
{
    struct ifinfomsg head = {.ifi_index = ifindex, .ifi_flags = if_flags, .ifi_change = IFF_UP};
    return nl_chan_request(type, NLM_F_ACK | flags, &head, sizeof(head));
}

static inline int index_of(const char *name)
{
    struct ifreq request = {0};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    int rc = ioctl(fd, SIOCGIFINDEX, &request);
    close(fd);
    return rc < 0 ? 0 : request.ifr_ifindex;
}

static inline void put_info_kind(struct nl_msg *request, const char *kind)
{
    struct nlattr *info = nla_nest_start(request, IFLA_LINKINFO);
    nla_put_string(request, IFLA_INFO_KIND, kind);
    nla_nest_end(request, info);
}

/* A link of a kind that needs nothing else; ifindex 0 = the next one. */
static inline int make_link(struct hand *hand, const char *name, const char *kind, int ifindex)
{
    struct nl_msg *request = link_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifindex, IFF_UP);
    nla_put_string(request, IFLA_IFNAME, name);
    put_info_kind(request, kind);
    return hand_do(hand, request);
}

static inline int set_up(struct hand *hand, const char *name)
{
    return hand_do(hand, link_request(RTM_NEWLINK, 0, index_of(name), IFF_UP));
}

static inline int make_pair(struct hand *hand, const char *name, const char *peer)
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

static inline struct nl_msg *plain_link_request(int ifindex)
{
    struct ifinfomsg head = {.ifi_index = ifindex};
    return nl_chan_request(RTM_GETLINK, 0, &head, sizeof(head));
}

static inline void take_link(const struct nlmsghdr *message, void *arg)
{
    nl_link_parse(message, arg);
}

/* A link that is just up drops all it is given until the kernel has noticed its carrier, and nobody counts
 * it. */
static inline void wait_until_it_sends(struct hand *hand, const char *name)
{
    struct nl_link link = {0};
    for (int i = 0; i < 1000; i++) {
        struct nl_msg *request = plain_link_request(index_of(name));
        assert_int_equal(nl_chan_ask(&hand->chan, request, take_link, &link, &hand->call), 0);
        nlmsg_free(request);
        /* Set in the same breath as the queue is opened; the carrier and the discipline's name are there
         * before. */
        if (link.operstate == IF_OPER_UP)
            return;
        usleep(5000);
    }
    fail_msg("%s does not come up", name);
}

static inline int make_veth(struct hand *hand, const char *name, const char *peer)
{
    int rc = make_pair(hand, name, peer);
    if (rc == 0) {
        wait_until_it_sends(hand, name);
        wait_until_it_sends(hand, peer);
    }
    return rc;
}

static inline int set_u32(struct hand *hand, const char *name, int attribute, uint32_t value)
{
    struct nl_msg *request = link_request(RTM_NEWLINK, 0, index_of(name), IFF_UP);
    nla_put_u32(request, attribute, value);
    return hand_do(hand, request);
}

static inline int set_down(struct hand *hand, const char *name)
{
    return hand_do(hand, link_request(RTM_NEWLINK, 0, index_of(name), 0));
}

/* Old kernels rename only what is down. */
static inline int rename_link(struct hand *hand, const char *name, const char *to)
{
    set_down(hand, name);
    struct nl_msg *request = link_request(RTM_NEWLINK, 0, index_of(name), IFF_UP);
    nla_put_string(request, IFLA_IFNAME, to);
    return hand_do(hand, request);
}

static inline int delete_link(struct hand *hand, const char *name)
{
    return hand_do(hand, link_request(RTM_DELLINK, 0, index_of(name), 0));
}

/* Sends n frames of size bytes out of a link, of a protocol nobody handles. */
static inline void send_frames(const char *name, int n, size_t size)
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
    /* ENOBUFS: dropped at once, as some of the tests want it. */
    for (int i = 0; i < n; i++)
        assert_true(send(fd, frame, size, 0) == (ssize_t)size || errno == ENOBUFS);
    close(fd);
}

static inline void write_file(const char *path, const char *text)
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

static inline enum collect_result probe_try(struct probe *probe, const struct collector *collector,
                                            const char *netns)
{
    *probe = (struct probe){
        .collector = collector, .config = {.netns = netns, .root = ""}, .call = {.stop_fd = -1}};
    probe->call.deadline_ns = clock_mono_ns() + INT64_C(10000000000);
    return collector->open(&probe->config, &probe->state, &probe->call);
}

static inline void probe_open(struct probe *probe, const struct collector *collector, const char *netns)
{
    assert_int_equal(probe_try(probe, collector, netns), COLLECT_OK);
}

static inline struct sample *probe_read(struct probe *probe)
{
    struct sample *sample = NULL;
    probe->call.deadline_ns = clock_mono_ns() + INT64_C(10000000000);
    enum collect_result result = probe->collector->collect(probe->state, &probe->call, &sample);
    if (result != COLLECT_OK)
        print_message("%s\n", probe->call.error.text);
    assert_int_equal(result, COLLECT_OK);
    return sample;
}

static inline void probe_close(struct probe *probe)
{
    probe->collector->close(probe->state);
}

static inline const struct ports_row *find_row(const struct sample *sample, const char *name)
{
    for (size_t i = 0; sample && i < sample->set[TABLE_PORTS].n; i++) {
        const struct ports_row *row = (const struct ports_row *)sample_row_at(sample, TABLE_PORTS, i);
        if (strcmp(((const struct ports_info *)row->head.info)->name, name) == 0)
            return row;
    }
    return NULL;
}

static inline const struct ports_row *need_row(const struct sample *sample, const char *name)
{
    const struct ports_row *row = find_row(sample, name);
    if (!row)
        print_message("no row %s\n", name);
    assert_non_null(row);
    return row;
}

static inline const struct ports_info *info_of(const struct ports_row *row)
{
    return (const struct ports_info *)row->head.info;
}

/* ---- cases in namespaces ---- */

static inline bool quiet_namespace(void)
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

static inline const char *why_not(void)
{
    const char *lab = getenv("LAB");
    if (lab && strcmp(lab, "0") == 0)
        return "LAB=0";
    return geteuid() != 0 ? "a network namespace needs root" : NULL;
}

/* Runs a case in a namespace of its own, in this very process: it is left with it, the next one makes
 * another. */
static inline void begin_case(struct hand *hand)
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

static inline void end_case(struct hand *hand)
{
    nl_chan_close(&hand->chan);
}

#endif
