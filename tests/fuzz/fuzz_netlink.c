/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the wire formats of route netlink: the bytes are a datagram of messages, each given to every parser,
 * and to the table of links and the trees of queueing disciplines, which live through the whole datagram.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/if.h>
#include <netlink/msg.h>

#include "collectors/netlink_qdiscs.h"
#include "collectors/nl_fdb.h"
#include "collectors/nl_links.h"
#include "collectors/nl_qdisc.h"
#include "collectors/nl_stats.h"
#include "collectors/nl_vf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void see_vf(const struct nl_vf *vf, void *arg)
{
    size_t *n = arg;
    (void)vf;
    ++*n;
}

static void check_link(const struct nlmsghdr *message)
{
    struct nl_link link, again;
    char mac[NL_LINK_MAC_TEXT];
    if (!nl_link_parse(message, &link))
        return;
    require(link.ifindex != 0 && link.mac_size <= NL_LINK_MAC_SIZE);
    require(memchr(link.name, 0, sizeof(link.name)) && memchr(link.alias, 0, sizeof(link.alias)));
    require(memchr(link.type, 0, sizeof(link.type)) && memchr(link.parent, 0, sizeof(link.parent)));
    require(nl_link_kind(&link, false) && nl_link_kind(&link, true));
    require(nl_link_format_mac(link.mac, link.mac_size, mac, sizeof(mac)) == (link.mac_size > 0));
    nl_link_operstate(link.operstate);
    require(nl_link_parse(message, &again) && nl_link_same(&link, &again));
}

static void check_table(struct nl_links *links)
{
    size_t n = 0, members = 0, masters = 0;
    nl_links_join(links);
    for (struct nl_port *port = nl_links_next(links, NULL); port; port = nl_links_next(links, port)) {
        require(nl_links_find(links, port->link.ifindex) == port);
        members += port->members;
        masters += port->master != NULL;
        n++;
    }
    require(n == links->n && members == masters);
}

static void check_qdiscs(struct netlink_qdiscs *qdiscs)
{
    struct qdisc_sum sum;
    uint32_t last = 0;
    netlink_qdiscs_end(qdiscs);
    for (size_t at = 0; netlink_qdiscs_next(qdiscs, &at, &sum);) {
        require(sum.ifindex > last);
        last = sum.ifindex;
    }
    netlink_qdiscs_begin(qdiscs);
}

static void take(struct nlmsghdr *message, struct nl_links *links, struct netlink_qdiscs *qdiscs)
{
    struct nl_stats stats;
    struct nl_qdisc qdisc;
    size_t vfs = 0;
    check_link(message);
    nl_links_apply(links, message);
    if (nl_stats_parse(message, &stats))
        require(stats.ifindex != 0 && stats.n >= 23 && stats.n <= 25);
    if (nl_qdisc_parse(message, &qdisc))
        netlink_qdiscs_add(qdiscs, &qdisc);
    nl_fdb_bridge(message);
    nl_vf_parse(message, see_vf, &vfs);
    require(vfs <= message->nlmsg_len / 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nl_port *buckets[64] = {0};
    struct nl_links links = {.events.fd = -1, .n_buckets = 64};
    struct netlink_qdiscs qdiscs = {0};
    links.buckets = memcpy(malloc(sizeof(buckets)), buckets, sizeof(buckets));
    char *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    int left = (int)size;
    struct nlmsghdr *message = (struct nlmsghdr *)copy;
    for (int i = 1; nlmsg_ok(message, left); message = nlmsg_next(message, &left), i++) {
        take(message, &links, &qdiscs);
        if (i % 8 == 0)
            check_qdiscs(&qdiscs);
    }
    check_table(&links);
    check_qdiscs(&qdiscs);
    nl_links_close(&links);
    netlink_qdiscs_free(&qdiscs);
    free(copy);
    return 0;
}
