/* SPDX-License-Identifier: MIT */
/*
 * The wire formats of the netlink collectors: recordings of two kernels, messages written by hand for what
 * the lab has no hardware (virtual functions, representors), and hostile bytes: every message cut at every
 * byte, and turned over at random. Run from the project's folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/netlink_qdiscs.h"
#include "collectors/nl_chan.h"
#include "collectors/nl_fdb.h"
#include "collectors/nl_link.h"
#include "collectors/nl_qdisc.h"
#include "collectors/nl_stats.h"
#include "collectors/nl_vf.h"

static const char *const kernels[] = {"6.18", "6.1"};
#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

/* ---- recordings ---- */

struct recording {
    char *bytes;
    int size;
};

static struct recording load(const char *what, const char *kernel)
{
    char path[128];
    snprintf(path, sizeof(path), "tests/fixtures/netlink/%s-%s.bin", what, kernel);
    FILE *file = fopen(path, "rb");
    if (!file)
        print_message("%s: %s; run the test in the project's folder\n", path, strerror(errno));
    assert_non_null(file);
    struct recording recording = {.bytes = malloc(1 << 20)};
    recording.size = (int)fread(recording.bytes, 1, 1 << 20, file);
    fclose(file);
    assert_true(recording.size > 0 && recording.size < 1 << 20);
    return recording;
}

#define EACH_MESSAGE(message, recording)                                                                     \
    int left_ = (recording).size;                                                                            \
    for (struct nlmsghdr *message = (struct nlmsghdr *)(recording).bytes; nlmsg_ok(message, left_);          \
         message = nlmsg_next(message, &left_))

static bool find_link(const struct recording *recording, const char *name, struct nl_link *link)
{
    EACH_MESSAGE(message, *recording)
    {
        if (nl_link_parse(message, link) && strcmp(link->name, name) == 0)
            return true;
    }
    return false;
}

static void test_kinds(void **state)
{
    static const char *const kinds[][2] = {
        {"lo", "loopback"}, {"br0", "bridge"}, {"v0", "veth"},     {"tap0", "tap"},    {"tap1", "tap"},
        {"tun0", "tun"},    {"vlan5", "vlan"}, {"vx0", "vxlan"},   {"mv0", "macvlan"}, {"mvt0", "macvtap"},
        {"bond0", "bond"},  {"team0", "team"}, {"ipv0", "ipvlan"}, {"ifb0", "other"},  {"vrf0", "other"},
        {"gre0x", "other"}, {"far0", "veth"},  {"d0", "other"},
    };
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        struct recording links = load("links", kernels[k]);
        struct nl_link link;
        size_t found = 0;
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
            if (!find_link(&links, kinds[i][0], &link))
                continue;
            assert_string_equal(nl_link_kind(&link, false), kinds[i][1]);
            found++;
        }
        assert_int_equal(found, k == 0 ? 11 : 18);
        free(links.bytes);
    }
}

static void test_link_fields(void **state)
{
    (void)state;
    struct nl_link link, other;
    for (size_t k = 0; k < KERNELS; k++) {
        struct recording links = load("links", kernels[k]);
        int n = 0;
        EACH_MESSAGE(message, links)
        {
            assert_true(nl_link_parse(message, &link));
            n++;
        }
        assert_int_equal(n, k == 0 ? 14 : 24);
        assert_true(find_link(&links, "v0", &link) && find_link(&links, "br0", &other));
        assert_int_equal(link.master, other.ifindex);
        assert_string_equal(link.slave_type, "bridge");
        assert_true(find_link(&links, "v1", &other));
        assert_int_equal(link.link, other.ifindex);
        assert_int_equal(other.link, link.ifindex);
        assert_string_equal(other.alias, "uplink of 'vm1' \"\xc3\xa9\"");
        assert_int_equal(other.mtu, 1500);
        assert_int_equal(other.txqlen, 1000);
        assert_int_equal(other.mac_size, 6);
        assert_int_equal(other.operstate, IF_OPER_UP);
        assert_true(other.flags & IFF_LOWER_UP);
        assert_false(other.has & NL_LINK_HAS_LINK_NETNSID);
        assert_true(find_link(&links, "tap0", &link));
        assert_int_equal(link.tx_queues, 256);
        assert_int_equal(link.tun_queues, 0);
        assert_true(find_link(&links, "tap1", &link));
        assert_int_equal(link.tun_queues, 1);
        assert_true(find_link(&links, "far0", &link));
        assert_true(link.has & NL_LINK_HAS_LINK_NETNSID);
        free(links.bytes);
    }
}

static void test_stats_both_ways(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        struct recording stats = load("stats", kernels[k]), links = load("getlink", kernels[k]);
        struct nl_stats all[32], one;
        size_t n = 0, same = 0;
        EACH_MESSAGE(message, stats)
        {
            assert_true(nl_stats_parse(message, &all[n]));
            assert_int_equal(all[n++].n, 25);
        }
        assert_int_equal(n, k == 0 ? 14 : 24);
        struct nlmsghdr *link = (struct nlmsghdr *)links.bytes;
        for (int left = links.size; nlmsg_ok(link, left); link = nlmsg_next(link, &left), same++) {
            assert_true(nl_stats_parse(link, &one));
            assert_int_equal(one.ifindex, all[same].ifindex);
            assert_memory_equal(&one.counters, &all[same].counters, sizeof(one.counters));
        }
        assert_int_equal(same, 3);
        assert_true(all[0].counters.rx_packets > 0 || k == 0);
        free(stats.bytes);
        free(links.bytes);
    }
}

static void test_qdiscs_recorded(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        struct recording recording = load("qdiscs", kernels[k]), links = load("links", kernels[k]);
        struct netlink_qdiscs qdiscs = {0};
        struct qdisc_sum sum;
        struct nl_qdisc qdisc;
        struct nl_link d0 = {0};
        uint64_t drops = 0, netem_drops = 0;
        size_t ports = 0;
        netlink_qdiscs_begin(&qdiscs);
        EACH_MESSAGE(message, recording)
        {
            assert_true(nl_qdisc_parse(message, &qdisc));
            netlink_qdiscs_add(&qdiscs, &qdisc);
        }
        netlink_qdiscs_end(&qdiscs);
        bool has_netem = find_link(&links, "d0", &d0);
        for (size_t at = 0; netlink_qdiscs_next(&qdiscs, &at, &sum); ports++) {
            drops += sum.number[QDISC_DROPS];
            if (has_netem && sum.ifindex == d0.ifindex)
                netem_drops = sum.number[QDISC_DROPS];
        }
        assert_int_equal(has_netem, k == 1);
        assert_int_equal(netem_drops, k == 1 ? 100 : 0);
        assert_int_equal(drops, netem_drops);
        assert_true(ports >= 2);
        netlink_qdiscs_free(&qdiscs);
        free(recording.bytes);
        free(links.bytes);
    }
}

static void test_fdb_recorded(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        struct recording recording = load("fdb", kernels[k]), links = load("links", kernels[k]);
        struct nl_link br0;
        int in_bridge = 0;
        assert_true(find_link(&links, "br0", &br0));
        EACH_MESSAGE(message, recording)
        in_bridge += nl_fdb_bridge(message) == br0.ifindex;
        assert_int_equal(in_bridge, k == 0 ? 5 : 8);
        free(recording.bytes);
        free(links.bytes);
    }
}

static uint32_t fdb_of(uint8_t family, uint8_t flags, uint16_t master_size)
{
    struct ndmsg head = {.ndm_family = family, .ndm_flags = flags, .ndm_ifindex = 5};
    uint32_t master = 9;
    struct nl_msg *message = nl_chan_request(RTM_NEWNEIGH, 0, &head, sizeof(head));
    if (master_size)
        nla_put(message, NDA_MASTER, master_size, &master);
    uint32_t bridge = nl_fdb_bridge(nlmsg_hdr(message));
    nlmsg_free(message);
    return bridge;
}

static void test_fdb_by_hand(void **state)
{
    (void)state;
    assert_int_equal(fdb_of(AF_BRIDGE, NTF_MASTER, 4), 9);
    assert_int_equal(fdb_of(AF_BRIDGE, 0, 4), 9);
    assert_int_equal(fdb_of(AF_BRIDGE, NTF_SELF, 4), 0); /* a device's own filter list */
    assert_int_equal(fdb_of(AF_INET, 0, 4), 0);
    assert_int_equal(fdb_of(AF_BRIDGE, 0, 0), 0);
    assert_int_equal(fdb_of(AF_BRIDGE, 0, 2), 0);
}

/* ---- hostile bytes ---- */

static void ignore_vf(const struct nl_vf *vf, void *arg)
{
    (void)vf;
    (void)arg;
}

/* What each parser tells stays within its bounds whatever the bytes; reading beyond them is the sanitizer's
 * to see. */
static void parse_by_all(const struct nlmsghdr *message)
{
    struct nl_link link;
    struct nl_stats stats;
    struct nl_qdisc qdisc;
    if (nl_link_parse(message, &link)) {
        assert_true(link.ifindex != 0 && link.mac_size <= NL_LINK_MAC_SIZE);
        assert_true(strlen(link.name) < sizeof(link.name) && strlen(link.alias) < sizeof(link.alias));
        assert_non_null(nl_link_kind(&link, false));
    }
    if (nl_stats_parse(message, &stats))
        assert_true(stats.ifindex != 0 && stats.n >= 23 && stats.n <= 25);
    if (nl_qdisc_parse(message, &qdisc))
        assert_true(qdisc.ifindex != 0);
    nl_fdb_bridge(message);
    nl_vf_parse(message, ignore_vf, NULL);
}

/* A copy that ends where its memory ends. */
static void parse_cut(const struct nlmsghdr *message, uint32_t length)
{
    struct nlmsghdr *copy = malloc(length);
    memcpy(copy, message, length);
    copy->nlmsg_len = length;
    parse_by_all(copy);
    free(copy);
}

static const char *const recordings[] = {"links", "getlink", "stats", "qdiscs", "fdb"};
#define RECORDINGS (sizeof(recordings) / sizeof(recordings[0]))

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < KERNELS * RECORDINGS; i++) {
        struct recording recording = load(recordings[i / KERNELS], kernels[i % KERNELS]);
        EACH_MESSAGE(message, recording)
        for (uint32_t length = NLMSG_HDRLEN; length <= message->nlmsg_len; length++)
            parse_cut(message, length);
        free(recording.bytes);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void test_turned_over_bytes(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (size_t i = 0; i < KERNELS * RECORDINGS; i++) {
        struct recording recording = load(recordings[i / KERNELS], kernels[i % KERNELS]);
        EACH_MESSAGE(message, recording)
        for (int round = 0; round < 300; round++) {
            uint32_t length = message->nlmsg_len;
            struct nlmsghdr *copy = malloc(length);
            memcpy(copy, message, length);
            for (int n = (int)(next_random(&seed) % 4); n >= 0; n--)
                ((char *)copy)[NLMSG_HDRLEN + next_random(&seed) % (length - NLMSG_HDRLEN)] =
                    (char)next_random(&seed);
            parse_by_all(copy);
            free(copy);
        }
        free(recording.bytes);
    }
}

/* ---- messages by hand ---- */

static struct nl_msg *new_link(int type, int family, int ifindex, int arphrd, const char *name)
{
    struct ifinfomsg head = {
        .ifi_family = (unsigned char)family, .ifi_index = ifindex, .ifi_type = (unsigned short)arphrd};
    struct nl_msg *message = nl_chan_request(type, 0, &head, sizeof(head));
    if (name)
        nla_put_string(message, IFLA_IFNAME, name);
    return message;
}

static bool parse_and_free(struct nl_msg *message, struct nl_link *link)
{
    bool ok = nl_link_parse(nlmsg_hdr(message), link);
    nlmsg_free(message);
    return ok;
}

static void test_not_about_a_link(void **state)
{
    (void)state;
    struct nl_link link;
    assert_true(parse_and_free(new_link(RTM_NEWLINK, AF_UNSPEC, 3, ARPHRD_ETHER, "a"), &link));
    assert_true(parse_and_free(new_link(RTM_DELLINK, AF_UNSPEC, 3, ARPHRD_ETHER, "a"), &link));
    assert_false(parse_and_free(new_link(RTM_DELLINK, AF_BRIDGE, 3, ARPHRD_ETHER, "a"), &link));
    assert_false(parse_and_free(new_link(RTM_NEWLINK, AF_INET6, 3, ARPHRD_ETHER, "a"), &link));
    assert_false(parse_and_free(new_link(RTM_NEWLINK, AF_UNSPEC, 0, ARPHRD_ETHER, "a"), &link));
    assert_false(parse_and_free(new_link(RTM_NEWLINK, AF_UNSPEC, -3, ARPHRD_ETHER, "a"), &link));
    assert_false(parse_and_free(new_link(RTM_NEWLINK, AF_UNSPEC, 3, ARPHRD_ETHER, NULL), &link));
    assert_false(parse_and_free(new_link(RTM_NEWADDR, AF_UNSPEC, 3, ARPHRD_ETHER, "a"), &link));
    struct nl_msg *wireless = new_link(RTM_NEWLINK, AF_UNSPEC, 3, ARPHRD_ETHER, "wlan0");
    nla_put(wireless, IFLA_WIRELESS, 4, "\1\2\3\4");
    assert_false(parse_and_free(wireless, &link));
}

static void test_hostile_attributes(void **state)
{
    (void)state;
    struct nl_link link;
    char big[300];
    memset(big, 'x', sizeof(big));
    /* A name that is not ended is none; texts that are too long are cut at their size. */
    struct nl_msg *unended = new_link(RTM_NEWLINK, AF_UNSPEC, 3, ARPHRD_ETHER, NULL);
    nla_put(unended, IFLA_IFNAME, 5, big);
    assert_false(parse_and_free(unended, &link));
    big[sizeof(big) - 1] = '\0';
    struct nl_msg *message = new_link(RTM_NEWLINK, AF_UNSPEC, 3, ARPHRD_ETHER, NULL);
    nla_put(message, IFLA_IFNAME, 300, big);
    nla_put(message, IFLA_IFALIAS, 300, big);
    nla_put(message, IFLA_ADDRESS, 300, big);
    assert_true(parse_and_free(message, &link));
    assert_int_equal(strlen(link.name), NL_LINK_NAME_SIZE - 1);
    assert_int_equal(strlen(link.alias), NL_LINK_ALIAS_SIZE - 1);
    assert_int_equal(link.mac_size, 0);
    /* A number that is too short for one, a text of no bytes at all. */
    message = new_link(RTM_NEWLINK, AF_UNSPEC, 3, ARPHRD_ETHER, "a");
    nla_put(message, IFLA_MTU, 2, big);
    assert_false(parse_and_free(message, &link));
    message = new_link(RTM_NEWLINK, AF_UNSPEC, 3, ARPHRD_ETHER, "a");
    struct nlattr *info = nla_nest_start(message, IFLA_LINKINFO);
    nla_put(message, IFLA_INFO_KIND, 0, NULL);
    nla_nest_end_keep_empty(message, info);
    assert_false(parse_and_free(message, &link));
}

static struct nl_msg *link_of_type(const char *type, int arphrd, int tun_type)
{
    struct nl_msg *message = new_link(RTM_NEWLINK, AF_UNSPEC, 3, arphrd, "a");
    struct nlattr *info = nla_nest_start(message, IFLA_LINKINFO);
    nla_put_string(message, IFLA_INFO_KIND, type);
    if (tun_type >= 0) {
        struct nlattr *data = nla_nest_start(message, IFLA_INFO_DATA);
        nla_put_u8(message, IFLA_TUN_TYPE, (uint8_t)tun_type);
        nla_nest_end(message, data);
    }
    nla_nest_end(message, info);
    return message;
}

static void test_tun_kinds(void **state)
{
    static const struct {
        int arphrd, tun_type;
        const char *kind;
    } cases[] = {
        {ARPHRD_ETHER, IFF_TAP, "tap"}, {ARPHRD_NONE, IFF_TUN, "tun"}, {ARPHRD_NONE, IFF_TAP, "tap"},
        {ARPHRD_ETHER, -1, "tap"},      {ARPHRD_NONE, -1, "tun"}, /* before 4.20 */
    };
    (void)state;
    struct nl_link link;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(parse_and_free(link_of_type("tun", cases[i].arphrd, cases[i].tun_type), &link));
        assert_string_equal(nl_link_kind(&link, false), cases[i].kind);
    }
    assert_true(parse_and_free(link_of_type("openvswitch", ARPHRD_ETHER, -1), &link));
    assert_string_equal(nl_link_kind(&link, false), "other");
}

static const char *kind_of_nic(const char *port_name, bool switch_id, const char *parent, int arphrd,
                               bool is_vf)
{
    struct nl_link link;
    struct nl_msg *message = new_link(RTM_NEWLINK, AF_UNSPEC, 3, arphrd, "a");
    if (port_name)
        nla_put_string(message, IFLA_PHYS_PORT_NAME, port_name);
    if (switch_id)
        nla_put(message, IFLA_PHYS_SWITCH_ID, 4, "abcd");
    if (parent)
        nla_put_string(message, IFLA_PARENT_DEV_NAME, parent);
    assert_true(parse_and_free(message, &link));
    return nl_link_kind(&link, is_vf);
}

static void test_nic_kinds(void **state)
{
    (void)state;
    assert_string_equal(kind_of_nic(NULL, false, "0000:01:00.0", ARPHRD_ETHER, false), "physical");
    assert_string_equal(kind_of_nic("p0", true, "0000:01:00.0", ARPHRD_ETHER, false), "physical");
    assert_string_equal(kind_of_nic("pf0vf3", true, "0000:01:00.0", ARPHRD_ETHER, false), "representor");
    assert_string_equal(kind_of_nic("c1pf0vf12", true, NULL, ARPHRD_ETHER, false), "representor");
    assert_string_equal(kind_of_nic("pf0sf88", true, NULL, ARPHRD_ETHER, false), "representor");
    assert_string_equal(kind_of_nic("pf0vf3", false, NULL, ARPHRD_ETHER, false), "physical");
    assert_string_equal(kind_of_nic("pf0vf3x", true, NULL, ARPHRD_ETHER, false), "physical");
    assert_string_equal(kind_of_nic("pf0", true, NULL, ARPHRD_ETHER, false), "physical");
    assert_string_equal(kind_of_nic(NULL, false, "0000:01:00.1", ARPHRD_ETHER, true), "vf");
    assert_string_equal(kind_of_nic(NULL, false, NULL, ARPHRD_NONE, false), "other");
}

static void test_mac_text(void **state)
{
    (void)state;
    char text[NL_LINK_MAC_TEXT];
    uint8_t mac[NL_LINK_MAC_SIZE] = {0x52, 0x54, 0, 0xab, 0xcd, 0xef};
    assert_true(nl_link_format_mac(mac, 6, text, sizeof(text)));
    assert_string_equal(text, "52:54:00:ab:cd:ef");
    assert_true(nl_link_format_mac(mac, NL_LINK_MAC_SIZE, text, sizeof(text)));
    assert_int_equal(strlen(text), sizeof(text) - 1);
    assert_false(nl_link_format_mac(mac, 0, text, sizeof(text)));
    assert_false(nl_link_format_mac(mac, 6, text, 17));
}

/* The struct has grown and will grow: shorter and longer ones are as good. */
static void test_stats_sizes(void **state)
{
    (void)state;
    uint64_t counters[40];
    for (uint64_t i = 0; i < 40; i++)
        counters[i] = i + 1;
    for (unsigned n = 0; n <= 40; n++) {
        struct if_stats_msg head = {.ifindex = 7};
        struct nl_stats stats;
        struct nl_msg *message = nl_chan_request(RTM_NEWSTATS, 0, &head, sizeof(head));
        nla_put(message, IFLA_STATS_LINK_64, (int)(n * sizeof(uint64_t)), counters);
        bool ok = nl_stats_parse(nlmsg_hdr(message), &stats);
        nlmsg_free(message);
        assert_int_equal(ok, n >= 23);
        if (!ok)
            continue;
        assert_int_equal(stats.n, n < 25 ? n : 25);
        assert_int_equal(stats.ifindex, 7);
        assert_int_equal(stats.counters.tx_compressed, 23);
        assert_int_equal(stats.n >= NL_STATS_UPTO(rx_nohandler), n >= 24);
        assert_int_equal(stats.n >= NL_STATS_UPTO(rx_otherhost_dropped), n >= 25);
    }
}

struct seen_vfs {
    struct nl_vf vf[4];
    size_t n;
};

static void see_vf(const struct nl_vf *vf, void *arg)
{
    struct seen_vfs *seen = arg;
    assert_true(seen->n < 4);
    seen->vf[seen->n++] = *vf;
}

static void put_vf(struct nl_msg *message, uint32_t number, bool counters, bool drops)
{
    struct ifla_vf_mac mac = {.vf = number, .mac = {0x52, 0x54, 0, 0, 0, (uint8_t)number}};
    struct nlattr *info = nla_nest_start(message, IFLA_VF_INFO);
    nla_put(message, IFLA_VF_MAC, sizeof(mac), &mac);
    if (counters) {
        struct nlattr *stats = nla_nest_start(message, IFLA_VF_STATS);
        for (int i = IFLA_VF_STATS_RX_PACKETS; i <= IFLA_VF_STATS_MULTICAST; i++)
            nla_put_u64(message, i, number * 100 + (uint64_t)i);
        if (drops) {
            nla_put_u64(message, IFLA_VF_STATS_RX_DROPPED, 5);
            nla_put_u64(message, IFLA_VF_STATS_TX_DROPPED, 6);
        }
        nla_nest_end(message, stats);
    }
    nla_nest_end(message, info);
}

static void test_virtual_functions(void **state)
{
    (void)state;
    struct nl_msg *message = new_link(RTM_NEWLINK, AF_UNSPEC, 3, ARPHRD_ETHER, "pf");
    struct seen_vfs seen = {0};
    nla_put_u32(message, IFLA_NUM_VF, 3);
    struct nlattr *list = nla_nest_start(message, IFLA_VFINFO_LIST);
    put_vf(message, 0, false, false);
    put_vf(message, 1, true, false);
    put_vf(message, 2, true, true);
    nla_put_u32(message, IFLA_VF_INFO + 7, 0);
    nla_nest_end(message, list);
    nl_vf_parse(nlmsg_hdr(message), see_vf, &seen);
    struct nl_link link;
    assert_true(parse_and_free(message, &link));
    assert_int_equal(link.vfs, 3);
    assert_int_equal(seen.n, 3);
    assert_false(seen.vf[0].has_counters);
    assert_true(seen.vf[1].has_counters && !seen.vf[1].has_drops);
    assert_true(seen.vf[2].has_counters && seen.vf[2].has_drops);
    assert_int_equal(seen.vf[2].vf, 2);
    assert_int_equal(seen.vf[2].rx_packets, 200 + IFLA_VF_STATS_RX_PACKETS);
    assert_int_equal(seen.vf[2].tx_bytes, 200 + IFLA_VF_STATS_TX_BYTES);
    assert_int_equal(seen.vf[2].rx_dropped, 5);
    assert_int_equal(seen.vf[2].tx_dropped, 6);
    assert_int_equal(seen.vf[2].mac[5], 2);
}

/* ---- replies ---- */

/* A channel whose kernel is the other end of a socket pair. */
struct fake {
    struct nl_chan chan;
    int kernel;
    struct collect_call call;
    struct nl_msg *request;
    int messages;
};

static void count_message(const struct nlmsghdr *message, void *arg)
{
    struct fake *fake = arg;
    assert_int_equal(message->nlmsg_type, RTM_NEWSTATS);
    fake->messages++;
}

static void fake_open(struct fake *fake)
{
    int fds[2];
    struct if_stats_msg head = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), 0);
    *fake = (struct fake){.chan = {.fd = fds[0], .port = 77, .size = 4096, .buffer = malloc(4096)},
                          .kernel = fds[1],
                          .call = {.stop_fd = -1, .deadline_ns = clock_mono_ns() + INT64_C(5000000000)},
                          .request = nl_chan_request(RTM_GETSTATS, NLM_F_DUMP, &head, sizeof(head))};
}

static void fake_close(struct fake *fake)
{
    close(fake->chan.fd);
    close(fake->kernel);
    free(fake->chan.buffer);
    nlmsg_free(fake->request);
}

/* Queues one datagram of one message of a future reply. */
static void fake_say(struct fake *fake, uint32_t seq, uint32_t port, int type, int flags, int code,
                     size_t size)
{
    char *datagram = calloc(1, size);
    struct nlmsghdr *message = (struct nlmsghdr *)datagram;
    *message = (struct nlmsghdr){.nlmsg_len = (uint32_t)size,
                                 .nlmsg_type = (uint16_t)type,
                                 .nlmsg_flags = (uint16_t)flags,
                                 .nlmsg_seq = seq,
                                 .nlmsg_pid = port};
    memcpy(datagram + NLMSG_HDRLEN, &code, sizeof(code));
    assert_int_equal(send(fake->kernel, datagram, size, 0), (ssize_t)size);
    free(datagram);
}

static int fake_ask(struct fake *fake)
{
    fake->messages = 0;
    return nl_chan_ask(&fake->chan, fake->request, count_message, fake, &fake->call);
}

static void test_stale_replies_are_skipped(void **state)
{
    (void)state;
    struct fake fake;
    fake_open(&fake);
    fake.chan.seq = 41;
    fake_say(&fake, 41, 77, RTM_NEWSTATS, NLM_F_MULTI, 0, 64);
    fake_say(&fake, 41, 77, NLMSG_DONE, NLM_F_MULTI, 0, 20);
    fake_say(&fake, 42, 78, RTM_NEWSTATS, NLM_F_MULTI, 0, 64);
    fake_say(&fake, 42, 77, RTM_NEWSTATS, NLM_F_MULTI, 0, 64);
    fake_say(&fake, 42, 77, RTM_NEWSTATS, NLM_F_MULTI, 0, 64);
    fake_say(&fake, 42, 77, NLMSG_DONE, NLM_F_MULTI, 0, 20);
    assert_int_equal(fake_ask(&fake), 0);
    assert_int_equal(fake.messages, 2);
    fake_close(&fake);
}

static void test_codes_of_replies(void **state)
{
    (void)state;
    struct fake fake;
    fake_open(&fake);
    fake_say(&fake, 1, 77, RTM_NEWSTATS, NLM_F_MULTI | NLM_F_DUMP_INTR, 0, 64);
    fake_say(&fake, 1, 77, NLMSG_DONE, NLM_F_MULTI, 0, 20);
    assert_int_equal(fake_ask(&fake), NL_CHAN_AGAIN);
    fake_say(&fake, 2, 77, NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, 0, 20);
    assert_int_equal(fake_ask(&fake), NL_CHAN_AGAIN);
    fake_say(&fake, 3, 77, NLMSG_ERROR, 0, -EOPNOTSUPP, 36);
    assert_int_equal(fake_ask(&fake), -EOPNOTSUPP);
    fake_say(&fake, 4, 77, NLMSG_DONE, NLM_F_MULTI, -ENODEV, 20);
    assert_int_equal(fake_ask(&fake), -ENODEV);
    fake_say(&fake, 5, 77, NLMSG_DONE, NLM_F_MULTI, 0, NLMSG_HDRLEN + sizeof(int));
    assert_int_equal(fake_ask(&fake), 0);
    fake_say(&fake, 6, 77, RTM_NEWSTATS, 0, 0, 64); /* one message that is no dump */
    assert_int_equal(fake_ask(&fake), 0);
    assert_int_equal(fake.messages, 1);
    fake_close(&fake);
}

/* What does not fit is asked for again with more room. */
static void test_reply_that_does_not_fit(void **state)
{
    (void)state;
    struct fake fake;
    fake_open(&fake);
    fake_say(&fake, 1, 77, RTM_NEWSTATS, NLM_F_MULTI, 0, 20000);
    fake_say(&fake, 1, 77, NLMSG_DONE, NLM_F_MULTI, 0, 20);
    assert_int_equal(fake_ask(&fake), NL_CHAN_AGAIN);
    assert_int_equal(fake.messages, 0);
    fake_say(&fake, 2, 77, RTM_NEWSTATS, NLM_F_MULTI, 0, 20000);
    fake_say(&fake, 2, 77, NLMSG_DONE, NLM_F_MULTI, 0, 20);
    assert_int_equal(fake_ask(&fake), 0);
    assert_int_equal(fake.messages, 1);
    fake_close(&fake);
}

static void test_silence(void **state)
{
    (void)state;
    struct fake fake;
    int stop[2];
    fake_open(&fake);
    fake.call.deadline_ns = clock_mono_ns() + 20000000;
    assert_int_equal(fake_ask(&fake), -ETIMEDOUT);
    assert_int_equal(nl_chan_fail(&fake.call, -ETIMEDOUT, "RTM_GETSTATS"), COLLECT_NO_ANSWER);
    assert_int_equal(pipe(stop), 0);
    assert_int_equal(write(stop[1], "x", 1), 1);
    fake.call.deadline_ns = clock_mono_ns() + INT64_C(60000000000);
    fake.call.stop_fd = stop[0];
    assert_int_equal(fake_ask(&fake), NL_CHAN_STOPPED);
    close(stop[0]);
    close(stop[1]);
    fake_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_link_fields),
        cmocka_unit_test(test_stats_both_ways),
        cmocka_unit_test(test_qdiscs_recorded),
        cmocka_unit_test(test_fdb_recorded),
        cmocka_unit_test(test_fdb_by_hand),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_turned_over_bytes),
        cmocka_unit_test(test_not_about_a_link),
        cmocka_unit_test(test_hostile_attributes),
        cmocka_unit_test(test_tun_kinds),
        cmocka_unit_test(test_nic_kinds),
        cmocka_unit_test(test_mac_text),
        cmocka_unit_test(test_stats_sizes),
        cmocka_unit_test(test_virtual_functions),
        cmocka_unit_test(test_stale_replies_are_skipped),
        cmocka_unit_test(test_codes_of_replies),
        cmocka_unit_test(test_reply_that_does_not_fit),
        cmocka_unit_test(test_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
