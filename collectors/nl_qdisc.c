/* SPDX-License-Identifier: MIT */
/* RTM_NEWQDISC to a plain struct (see nl_qdisc.h). */
#include "collectors/nl_qdisc.h"

#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

/* The kernel's struct gnet_stats_basic is 12 or 16 bytes by architecture: its padding is not asked for. */
static const struct nla_policy stats_policy[TCA_STATS_MAX + 1] = {
    [TCA_STATS_BASIC] = {.type = NLA_UNSPEC, .minlen = sizeof(uint64_t) + sizeof(uint32_t)},
    [TCA_STATS_QUEUE] = {.type = NLA_UNSPEC, .minlen = sizeof(struct gnet_stats_queue)},
};

static bool take_stats(struct nlattr *stats, struct nl_qdisc *qdisc)
{
    struct nlattr *tb[TCA_STATS_MAX + 1];
    struct gnet_stats_queue queue;
    if (nla_parse_nested(tb, TCA_STATS_MAX, stats, stats_policy) < 0 || !tb[TCA_STATS_QUEUE])
        return false;
    memcpy(&queue, nla_data(tb[TCA_STATS_QUEUE]), sizeof(queue));
    qdisc->drops = queue.drops;
    qdisc->requeues = queue.requeues;
    qdisc->overlimits = queue.overlimits;
    qdisc->qlen = queue.qlen;
    qdisc->backlog = queue.backlog;
    if (tb[TCA_STATS_BASIC])
        memcpy(&qdisc->bytes, nla_data(tb[TCA_STATS_BASIC]), sizeof(qdisc->bytes));
    return true;
}

bool nl_qdisc_parse(const struct nlmsghdr *message, struct nl_qdisc *qdisc)
{
    struct nlattr *tb[TCA_MAX + 1];
    memset(qdisc, 0, sizeof(*qdisc));
    if (message->nlmsg_type != RTM_NEWQDISC ||
        nlmsg_parse((struct nlmsghdr *)message, sizeof(struct tcmsg), tb, TCA_MAX, NULL) < 0)
        return false;
    const struct tcmsg *head = nlmsg_data(message);
    if (head->tcm_ifindex <= 0 || !tb[TCA_STATS2])
        return false;
    qdisc->ifindex = (uint32_t)head->tcm_ifindex;
    qdisc->handle = head->tcm_handle;
    qdisc->parent = head->tcm_parent;
    if (tb[TCA_KIND])
        nla_strlcpy(qdisc->type, tb[TCA_KIND], sizeof(qdisc->type));
    return take_stats(tb[TCA_STATS2], qdisc);
}
