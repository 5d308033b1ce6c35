/* SPDX-License-Identifier: MIT */
/* Sums over the ports of bridges (see netlink_sums.h). */
#include "collectors/netlink_sums.h"

#include <string.h>

bool netlink_sums_has(const struct nl_port *port)
{
    return strcmp(port->link.type, "bridge") == 0;
}

/* Links come in any order, so the first of a bridge's links to be seen in a tick opens it. */
static void open_tick(struct nl_sums *bridge, uint64_t tick)
{
    if (bridge->tick == tick)
        return;
    bridge->first = bridge->tick == 0;
    bridge->tick = tick;
}

static uint64_t risen(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : 0;
}

void netlink_sums_add(struct nl_port *port, uint64_t rx_packets, uint64_t tx_packets, uint64_t tick)
{
    bool is_bridge = netlink_sums_has(port);
    struct nl_port *bridge = is_bridge ? port : port->master;
    struct nl_sums *own = &port->sums;
    if (!bridge || !netlink_sums_has(bridge)) {
        own->member_of = 0;
        return;
    }
    struct nl_sums *sums = &bridge->sums;
    open_tick(sums, tick);
    /* What the host sends into the bridge is the bridge device's tx, and what it takes out the rx. */
    uint64_t in = is_bridge ? tx_packets : rx_packets;
    uint64_t out = is_bridge ? rx_packets : tx_packets;
    if (sums->first) {
        sums->in += in;
        sums->out += out;
    } else if (own->member_of == bridge->link.ifindex) {
        sums->in += risen(in, own->rx);
        sums->out += risen(out, own->tx);
    }
    own->member_of = bridge->link.ifindex;
    own->rx = in;
    own->tx = out;
}
