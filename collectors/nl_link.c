/* SPDX-License-Identifier: MIT */
/* One RTM_NEWLINK message to a plain struct (see nl_link.h). Attribute sizes are checked by libnl's policies.
 */
#include "collectors/nl_link.h"

#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <string.h>

/* Numbers of <linux/if_tun.h>'s netlink attributes that older headers lack are not needed: 4.20 has them. */
static const struct nla_policy link_policy[IFLA_MAX + 1] = {
    [IFLA_IFNAME] = {.type = NLA_STRING},
    [IFLA_MTU] = {.type = NLA_U32},
    [IFLA_LINK] = {.type = NLA_U32},
    [IFLA_MASTER] = {.type = NLA_U32},
    [IFLA_TXQLEN] = {.type = NLA_U32},
    [IFLA_OPERSTATE] = {.type = NLA_U8},
    [IFLA_LINKINFO] = {.type = NLA_NESTED},
    [IFLA_NUM_TX_QUEUES] = {.type = NLA_U32},
    [IFLA_NUM_RX_QUEUES] = {.type = NLA_U32},
    [IFLA_NUM_VF] = {.type = NLA_U32},
    [IFLA_CARRIER_CHANGES] = {.type = NLA_U32},
};

static const struct nla_policy info_policy[IFLA_INFO_MAX + 1] = {
    [IFLA_INFO_KIND] = {.type = NLA_STRING},
    [IFLA_INFO_SLAVE_KIND] = {.type = NLA_STRING},
};

static const struct nla_policy tun_policy[IFLA_TUN_MAX + 1] = {
    [IFLA_TUN_TYPE] = {.type = NLA_U8},
    [IFLA_TUN_MULTI_QUEUE] = {.type = NLA_U8},
    [IFLA_TUN_NUM_QUEUES] = {.type = NLA_U32},
};

static void take_text(const struct nlattr *attr, char *text, size_t size)
{
    if (!attr)
        return;
    size_t length = strnlen(nla_data(attr), (size_t)nla_len(attr));
    if (length >= size)
        length = size - 1;
    memcpy(text, nla_data(attr), length);
    text[length] = '\0';
}

static void take_u32(const struct nlattr *attr, uint32_t *value, struct nl_link *link, enum nl_link_has bit)
{
    if (!attr)
        return;
    *value = nla_get_u32(attr);
    link->has |= bit;
}

static bool take_tun(struct nlattr *data, struct nl_link *link)
{
    struct nlattr *tb[IFLA_TUN_MAX + 1];
    if (nla_parse_nested(tb, IFLA_TUN_MAX, data, tun_policy) < 0)
        return false;
    if (tb[IFLA_TUN_TYPE]) {
        link->tun_type = nla_get_u8(tb[IFLA_TUN_TYPE]);
        link->has |= NL_LINK_HAS_TUN_TYPE;
    }
    if (!tb[IFLA_TUN_MULTI_QUEUE])
        return true;
    link->tun_queues = 1;
    link->has |= NL_LINK_HAS_TUN_QUEUES;
    if (nla_get_u8(tb[IFLA_TUN_MULTI_QUEUE]))
        take_u32(tb[IFLA_TUN_NUM_QUEUES], &link->tun_queues, link, NL_LINK_HAS_TUN_QUEUES);
    return true;
}

static bool take_info(struct nlattr *info, struct nl_link *link)
{
    struct nlattr *tb[IFLA_INFO_MAX + 1];
    if (!info)
        return true;
    if (nla_parse_nested(tb, IFLA_INFO_MAX, info, info_policy) < 0)
        return false;
    take_text(tb[IFLA_INFO_KIND], link->type, sizeof(link->type));
    take_text(tb[IFLA_INFO_SLAVE_KIND], link->slave_type, sizeof(link->slave_type));
    if (tb[IFLA_INFO_DATA] && strcmp(link->type, "tun") == 0)
        return take_tun(tb[IFLA_INFO_DATA], link);
    return true;
}

static void take_mac(const struct nlattr *attr, struct nl_link *link)
{
    if (!attr || nla_len(attr) > NL_LINK_MAC_SIZE)
        return;
    link->mac_size = (uint8_t)nla_len(attr);
    memcpy(link->mac, nla_data(attr), link->mac_size);
}

static void take_attributes(struct nlattr **tb, struct nl_link *link)
{
    take_text(tb[IFLA_IFNAME], link->name, sizeof(link->name));
    take_text(tb[IFLA_QDISC], link->qdisc, sizeof(link->qdisc));
    take_text(tb[IFLA_IFALIAS], link->alias, sizeof(link->alias));
    take_text(tb[IFLA_PHYS_PORT_NAME], link->port_name, sizeof(link->port_name));
    take_text(tb[IFLA_PARENT_DEV_NAME], link->parent, sizeof(link->parent));
    take_text(tb[IFLA_PARENT_DEV_BUS_NAME], link->parent_bus, sizeof(link->parent_bus));
    take_mac(tb[IFLA_ADDRESS], link);
    take_u32(tb[IFLA_MTU], &link->mtu, link, NL_LINK_HAS_MTU);
    take_u32(tb[IFLA_NUM_RX_QUEUES], &link->rx_queues, link, NL_LINK_HAS_RX_QUEUES);
    take_u32(tb[IFLA_NUM_TX_QUEUES], &link->tx_queues, link, NL_LINK_HAS_TX_QUEUES);
    take_u32(tb[IFLA_TXQLEN], &link->txqlen, link, NL_LINK_HAS_TXQLEN);
    take_u32(tb[IFLA_CARRIER_CHANGES], &link->carrier_changes, link, NL_LINK_HAS_CARRIER_CHANGES);
    take_u32(tb[IFLA_NUM_VF], &link->vfs, link, NL_LINK_HAS_VFS);
    take_u32(tb[IFLA_LINK], &link->link, link, 0);
    take_u32(tb[IFLA_MASTER], &link->master, link, 0);
    link->has |= tb[IFLA_LINK_NETNSID] ? NL_LINK_HAS_LINK_NETNSID : 0;
    link->has |= tb[IFLA_PHYS_SWITCH_ID] ? NL_LINK_HAS_SWITCH_ID : 0;
    if (tb[IFLA_OPERSTATE]) {
        link->operstate = nla_get_u8(tb[IFLA_OPERSTATE]);
        link->has |= NL_LINK_HAS_OPERSTATE;
    }
}

bool nl_link_parse(const struct nlmsghdr *message, struct nl_link *link)
{
    struct nlattr *tb[IFLA_MAX + 1];
    memset(link, 0, sizeof(*link));
    if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK)
        return false;
    if (nlmsg_parse((struct nlmsghdr *)message, sizeof(struct ifinfomsg), tb, IFLA_MAX, link_policy) < 0)
        return false;
    const struct ifinfomsg *ifi = nlmsg_data(message);
    if (ifi->ifi_family != AF_UNSPEC || ifi->ifi_index <= 0 || !tb[IFLA_IFNAME] || tb[IFLA_WIRELESS])
        return false;
    link->ifindex = (uint32_t)ifi->ifi_index;
    link->flags = ifi->ifi_flags;
    link->arphrd = ifi->ifi_type;
    take_attributes(tb, link);
    return take_info(tb[IFLA_LINKINFO], link);
}

bool nl_link_same(const struct nl_link *a, const struct nl_link *b)
{
    struct nl_link other;
    memcpy(&other, b, sizeof(other));
    other.carrier_changes = a->carrier_changes;
    return memcmp(a, &other, sizeof(other)) == 0;
}

/* Skips a prefix and the number that must follow it. */
static const char *skip_numbered(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(text, prefix, length) != 0)
        return NULL;
    size_t digits = strspn(text + length, "0123456789");
    return digits ? text + length + digits : NULL;
}

/* pf0vf3, c1pf0vf3, pf0sf88: the port of an embedded switch that stands for a function. */
static bool names_a_function(const char *port_name)
{
    const char *rest = skip_numbered(port_name, "c");
    rest = skip_numbered(rest ? rest : port_name, "pf");
    if (!rest)
        return false;
    const char *end = skip_numbered(rest, "vf");
    if (!end)
        end = skip_numbered(rest, "sf");
    return end && *end == '\0';
}

static const char *tun_kind(const struct nl_link *link)
{
    bool tap = link->has & NL_LINK_HAS_TUN_TYPE ? link->tun_type == IFF_TAP : link->arphrd == ARPHRD_ETHER;
    return tap ? "tap" : "tun";
}

const char *nl_link_kind(const struct nl_link *link, bool is_vf)
{
    /* Types of the kernel that are kinds of their own name. */
    static const char *const same[] = {"veth",  "bridge",  "bond",    "team",  "vlan",
                                       "vxlan", "macvlan", "macvtap", "ipvlan"};
    if (link->flags & IFF_LOOPBACK)
        return "loopback";
    if (strcmp(link->type, "tun") == 0)
        return tun_kind(link);
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        if (strcmp(link->type, same[i]) == 0)
            return same[i];
    if (link->type[0])
        return "other";
    if (link->has & NL_LINK_HAS_SWITCH_ID && names_a_function(link->port_name))
        return "representor";
    if (is_vf)
        return "vf";
    bool real = link->parent[0] || link->arphrd == ARPHRD_ETHER || link->arphrd == ARPHRD_INFINIBAND;
    return real ? "physical" : "other";
}

const char *nl_link_operstate(unsigned operstate)
{
    static const char *const names[] = {
        [IF_OPER_UNKNOWN] = "unknown", [IF_OPER_NOTPRESENT] = "notpresent",
        [IF_OPER_DOWN] = "down",       [IF_OPER_LOWERLAYERDOWN] = "lowerlayerdown",
        [IF_OPER_TESTING] = "testing", [IF_OPER_DORMANT] = "dormant",
        [IF_OPER_UP] = "up",
    };
    return operstate < sizeof(names) / sizeof(names[0]) ? names[operstate] : NULL;
}

bool nl_link_format_mac(const uint8_t *mac, size_t mac_size, char *text, size_t size)
{
    text[0] = '\0';
    if (mac_size == 0 || mac_size * 3 > size)
        return false;
    for (size_t i = 0; i < mac_size; i++)
        snprintf(text + 3 * i, size - 3 * i, "%02x%s", mac[i], i + 1 < mac_size ? ":" : "");
    return true;
}
