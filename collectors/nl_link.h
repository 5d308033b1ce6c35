/* SPDX-License-Identifier: MIT */
/*
 * The wire format of a link: one RTM_NEWLINK message to a plain struct. Called by the table of links
 * (nl_links.h), by tests and the fuzzer with recorded bytes. Pure: it must not know of sockets, namespaces or
 * rows.
 */
#ifndef VNETTOP_NL_LINK_H
#define VNETTOP_NL_LINK_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NL_LINK_NAME_SIZE  16  /* IFNAMSIZ */
#define NL_LINK_KIND_SIZE  32  /* the kernel's link types are shorter */
#define NL_LINK_ALIAS_SIZE 256 /* IFALIASZ */
#define NL_LINK_MAC_SIZE   32  /* MAX_ADDR_LEN */

enum nl_link_has {
    NL_LINK_HAS_MTU = 1 << 0,
    NL_LINK_HAS_RX_QUEUES = 1 << 1,
    NL_LINK_HAS_TX_QUEUES = 1 << 2,
    NL_LINK_HAS_TXQLEN = 1 << 3,
    NL_LINK_HAS_OPERSTATE = 1 << 4,
    NL_LINK_HAS_CARRIER_CHANGES = 1 << 5,
    NL_LINK_HAS_LINK_NETNSID = 1 << 6, /* link is an ifindex of another namespace */
    NL_LINK_HAS_SWITCH_ID = 1 << 7,
    NL_LINK_HAS_TUN_TYPE = 1 << 8,
    NL_LINK_HAS_TUN_QUEUES = 1 << 9,
    NL_LINK_HAS_VFS = 1 << 10, /* only when asked for with RTEXT_FILTER_VF */
};

/* Texts are as the kernel sent them, cut at their field's size, always ended. */
struct nl_link {
    uint32_t ifindex;
    uint32_t flags;                /* IFF_* */
    uint32_t arphrd;               /* ARPHRD_* */
    uint32_t master;               /* ifindex of bridge, bond, ..., 0 = none */
    uint32_t link;                 /* ifindex of the lower device or the veth's other end, 0 = none */
    uint32_t has;                  /* enum nl_link_has */
    uint32_t mtu;                  /* bytes */
    uint32_t rx_queues, tx_queues; /* made for so many; fewer may be in use */
    uint32_t txqlen;
    uint32_t vfs;
    uint32_t tun_queues; /* attached descriptors of a multi-queue tap, 1 for another */
    uint32_t carrier_changes;
    uint8_t operstate;
    uint8_t tun_type; /* IFF_TUN or IFF_TAP */
    uint8_t mac_size;
    uint8_t mac[NL_LINK_MAC_SIZE];
    char name[NL_LINK_NAME_SIZE];
    char type[NL_LINK_KIND_SIZE];       /* IFLA_INFO_KIND, "" for what has none */
    char slave_type[NL_LINK_KIND_SIZE]; /* IFLA_INFO_SLAVE_KIND */
    char qdisc[NL_LINK_NAME_SIZE];
    char alias[NL_LINK_ALIAS_SIZE];
    char port_name[NL_LINK_KIND_SIZE]; /* IFLA_PHYS_PORT_NAME: p0, pf0vf3 */
    char parent[64];                   /* IFLA_PARENT_DEV_NAME: 0000:01:00.0 */
    char parent_bus[16];               /* IFLA_PARENT_DEV_BUS_NAME: pci */
};

/*
 * Fills *link from an RTM_NEWLINK or RTM_DELLINK message. False when the message is malformed, or is not
 * about a whole link: a bridge tells of its ports in the same group with family AF_BRIDGE (and RTM_DELLINK
 * there means that the port left, not that the link is gone), and wireless events carry a name and nothing
 * else.
 */
bool nl_link_parse(const struct nlmsghdr *message, struct nl_link *link);

/* Nothing that an inventory shows differs; carrier_changes is a counter and does not matter. */
bool nl_link_same(const struct nl_link *a, const struct nl_link *b);

/* The `kind` of the ports table. is_vf: what sysfs says, for netlink does not. */
const char *nl_link_kind(const struct nl_link *link, bool is_vf);

/* RFC 2863 name of an operational state, NULL when it is none. */
const char *nl_link_operstate(unsigned operstate);

/* Hexadecimal with colons; false and "" when there is no such address. */
bool nl_link_format_mac(const uint8_t *mac, size_t mac_size, char *text, size_t size);
#define NL_LINK_MAC_TEXT (3 * NL_LINK_MAC_SIZE)

#endif
