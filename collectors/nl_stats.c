/* SPDX-License-Identifier: MIT */
/* Counters of a link out of RTM_NEWSTATS or RTM_NEWLINK (see nl_stats.h). */
#include "collectors/nl_stats.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>

/* The counters every kernel has sent since 2.6.35. */
#define LEAST NL_STATS_UPTO(tx_compressed)

static bool take_counters(const struct nlattr *attr, struct nl_stats *stats)
{
    if (!attr || (size_t)nla_len(attr) < LEAST * sizeof(uint64_t))
        return false;
    size_t size = (size_t)nla_len(attr);
    if (size > sizeof(stats->counters))
        size = sizeof(stats->counters);
    stats->n = (unsigned)(size / sizeof(uint64_t));
    /* Attributes are aligned to 4 bytes only. */
    memcpy(&stats->counters, nla_data(attr), stats->n * sizeof(uint64_t));
    return true;
}

static bool parse_stats(struct nlmsghdr *message, struct nl_stats *stats)
{
    const struct if_stats_msg *head = nlmsg_data(message);
    if (!nlmsg_valid_hdr(message, sizeof(*head)) || head->ifindex == 0)
        return false;
    stats->ifindex = head->ifindex;
    return take_counters(nlmsg_find_attr(message, sizeof(*head), IFLA_STATS_LINK_64), stats);
}

static bool parse_link(struct nlmsghdr *message, struct nl_stats *stats)
{
    const struct ifinfomsg *head = nlmsg_data(message);
    if (!nlmsg_valid_hdr(message, sizeof(*head)) || head->ifi_family != AF_UNSPEC || head->ifi_index <= 0)
        return false;
    stats->ifindex = (uint32_t)head->ifi_index;
    return take_counters(nlmsg_find_attr(message, sizeof(*head), IFLA_STATS64), stats);
}

bool nl_stats_parse(const struct nlmsghdr *message, struct nl_stats *stats)
{
    struct nlmsghdr *readable = (struct nlmsghdr *)message; /* libnl takes no const, and writes nothing */
    if (message->nlmsg_type == RTM_NEWSTATS)
        return parse_stats(readable, stats);
    return message->nlmsg_type == RTM_NEWLINK && parse_link(readable, stats);
}
