/* SPDX-License-Identifier: MIT */
/* Inventory entries of ports (see nl_info.h). */
#include "collectors/nl_info.h"

#include <inttypes.h>
#include <linux/if.h>
#include <string.h>

struct ports_info *nl_info_brief(struct inventory *inventory, const struct nl_netns *ns,
                                 const struct nl_port *port)
{
    const struct nl_link *link = &port->link;
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, NL_PORT_KEY, ns->inode, link->ifindex);
    info_set(info, netns, inventory_text(inventory, ns->name));
    info_set(info, ifindex, link->ifindex);
    info_set(info, name, inventory_text(inventory, link->name));
    info_set(info, kind, nl_link_kind(link, port->facts.is_vf));
    return info;
}

/* Masters that are no switch: a virtual routing table, and the kernel's datapath of Open vSwitch
 * (ovs-system), which holds the ports of all its bridges: the source `ovs` knows which. */
static bool is_switch(const struct nl_port *master)
{
    return master && strcmp(master->link.type, "vrf") != 0 && strcmp(master->link.type, "openvswitch") != 0;
}

static void set_relations(struct ports_info *info, struct inventory *inventory, const struct nl_links *links,
                          const struct nl_port *port)
{
    const struct nl_link *link = &port->link;
    if (is_switch(port->master))
        info_set(info, switch_, inventory_text(inventory, port->master->link.name));
    const struct nl_port *lower = NULL;
    if (link->link && link->link != link->ifindex && !(link->has & NL_LINK_HAS_LINK_NETNSID))
        lower = nl_links_find(links, link->link);
    if (lower)
        info_set(info, link, inventory_text(inventory, lower->link.name));
    const char *kind = info->kind;
    if (strcmp(kind, "bridge") == 0 || strcmp(kind, "bond") == 0 || strcmp(kind, "team") == 0 ||
        (port->members && is_switch(port)))
        info_set(info, ports, port->members);
}

static void set_states(struct ports_info *info, const struct nl_link *link)
{
    info_set(info, admin, link->flags & IFF_UP ? "up" : "down");
    info_set(info, carrier, link->flags & IFF_LOWER_UP ? "up" : "down");
    const char *operstate = nl_link_operstate(link->operstate);
    if (operstate && link->has & NL_LINK_HAS_OPERSTATE)
        info_set(info, operstate, operstate);
}

static void set_queues(struct ports_info *info, const struct nl_port *port)
{
    const struct nl_link *link = &port->link;
    const struct nl_facts *facts = &port->facts;
    if (link->has & NL_LINK_HAS_TUN_QUEUES) {
        info_set(info, rx_queues, link->tun_queues);
        info_set(info, tx_queues, link->tun_queues);
        return;
    }
    if (facts->rx_queues || link->has & NL_LINK_HAS_RX_QUEUES)
        info_set(info, rx_queues, facts->rx_queues ? facts->rx_queues : link->rx_queues);
    if (facts->tx_queues || link->has & NL_LINK_HAS_TX_QUEUES)
        info_set(info, tx_queues, facts->tx_queues ? facts->tx_queues : link->tx_queues);
}

static void set_texts(struct ports_info *info, struct inventory *inventory, const struct nl_link *link)
{
    char mac[NL_LINK_MAC_TEXT];
    if (link->type[0])
        info_set(info, type, inventory_text(inventory, link->type));
    if (link->alias[0])
        info_set(info, alias, inventory_text(inventory, link->alias));
    if (link->qdisc[0])
        info_set(info, qdisc, inventory_text(inventory, link->qdisc));
    /* A tunnel's "hardware address" is the 4 or 16 bytes of its IP address. */
    bool is_mac = link->mac_size == 6 || link->mac_size == 20;
    if (is_mac && nl_link_format_mac(link->mac, link->mac_size, mac, sizeof(mac)))
        info_set(info, mac, inventory_text(inventory, mac));
}

struct ports_info *nl_info_whole(struct inventory *inventory, const struct nl_links *links,
                                 const struct nl_netns *ns, const struct nl_port *port)
{
    const struct nl_link *link = &port->link;
    struct ports_info *info = nl_info_brief(inventory, ns, port);
    set_relations(info, inventory, links, port);
    set_texts(info, inventory, link);
    set_states(info, link);
    set_queues(info, port);
    if (port->facts.speed_mbps)
        info_set(info, speed_mbps, port->facts.speed_mbps);
    if (link->has & NL_LINK_HAS_MTU)
        info_set(info, mtu, link->mtu);
    if (link->has & NL_LINK_HAS_TXQLEN)
        info_set(info, tx_queue_len, link->txqlen);
    return info;
}
