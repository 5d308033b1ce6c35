/* SPDX-License-Identifier: MIT */
/* IFLA_VFINFO_LIST to plain structs (see nl_vf.h). */
#include "collectors/nl_vf.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

static const struct nla_policy vf_policy[IFLA_VF_MAX + 1] = {
    [IFLA_VF_MAC] = {.type = NLA_UNSPEC, .minlen = sizeof(struct ifla_vf_mac)},
    [IFLA_VF_STATS] = {.type = NLA_NESTED},
};

static const struct nla_policy stats_policy[IFLA_VF_STATS_MAX + 1] = {
    [IFLA_VF_STATS_RX_PACKETS] = {.type = NLA_U64}, [IFLA_VF_STATS_TX_PACKETS] = {.type = NLA_U64},
    [IFLA_VF_STATS_RX_BYTES] = {.type = NLA_U64},   [IFLA_VF_STATS_TX_BYTES] = {.type = NLA_U64},
    [IFLA_VF_STATS_BROADCAST] = {.type = NLA_U64},  [IFLA_VF_STATS_MULTICAST] = {.type = NLA_U64},
    [IFLA_VF_STATS_RX_DROPPED] = {.type = NLA_U64}, [IFLA_VF_STATS_TX_DROPPED] = {.type = NLA_U64},
};

static uint64_t counter(struct nlattr *attr)
{
    return attr ? nla_get_u64(attr) : 0;
}

static void take_counters(struct nlattr *stats, struct nl_vf *vf)
{
    struct nlattr *tb[IFLA_VF_STATS_MAX + 1];
    if (!stats || nla_parse_nested(tb, IFLA_VF_STATS_MAX, stats, stats_policy) < 0)
        return;
    vf->has_counters = tb[IFLA_VF_STATS_RX_PACKETS] && tb[IFLA_VF_STATS_TX_PACKETS] &&
                       tb[IFLA_VF_STATS_RX_BYTES] && tb[IFLA_VF_STATS_TX_BYTES] &&
                       tb[IFLA_VF_STATS_MULTICAST];
    vf->has_drops = tb[IFLA_VF_STATS_RX_DROPPED] && tb[IFLA_VF_STATS_TX_DROPPED];
    vf->rx_packets = counter(tb[IFLA_VF_STATS_RX_PACKETS]);
    vf->tx_packets = counter(tb[IFLA_VF_STATS_TX_PACKETS]);
    vf->rx_bytes = counter(tb[IFLA_VF_STATS_RX_BYTES]);
    vf->tx_bytes = counter(tb[IFLA_VF_STATS_TX_BYTES]);
    vf->multicast = counter(tb[IFLA_VF_STATS_MULTICAST]);
    vf->rx_dropped = counter(tb[IFLA_VF_STATS_RX_DROPPED]);
    vf->tx_dropped = counter(tb[IFLA_VF_STATS_TX_DROPPED]);
}

/* The function's number stands at the head of its MAC's struct, which every kernel sends. */
static bool take_vf(struct nlattr *info, struct nl_vf *vf)
{
    struct nlattr *tb[IFLA_VF_MAX + 1];
    struct ifla_vf_mac mac;
    memset(vf, 0, sizeof(*vf));
    if (nla_type(info) != IFLA_VF_INFO || nla_parse_nested(tb, IFLA_VF_MAX, info, vf_policy) < 0 ||
        !tb[IFLA_VF_MAC])
        return false;
    memcpy(&mac, nla_data(tb[IFLA_VF_MAC]), sizeof(mac));
    static const uint8_t none[sizeof(vf->mac)];
    vf->vf = mac.vf;
    vf->has_mac = memcmp(mac.mac, none, sizeof(none)) != 0;
    memcpy(vf->mac, mac.mac, sizeof(vf->mac));
    take_counters(tb[IFLA_VF_STATS], vf);
    return true;
}

void nl_vf_parse(const struct nlmsghdr *message, void (*each)(const struct nl_vf *vf, void *arg), void *arg)
{
    struct nlmsghdr *readable = (struct nlmsghdr *)message; /* libnl takes no const, and writes nothing */
    if (message->nlmsg_type != RTM_NEWLINK || !nlmsg_valid_hdr(message, sizeof(struct ifinfomsg)))
        return;
    struct nlattr *list = nlmsg_find_attr(readable, sizeof(struct ifinfomsg), IFLA_VFINFO_LIST), *info;
    struct nl_vf vf;
    int left;
    if (!list)
        return;
    nla_for_each_nested(info, list, left) if (take_vf(info, &vf)) each(&vf, arg);
}
