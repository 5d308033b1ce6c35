/* SPDX-License-Identifier: MIT */
/* The wire format of a NIC's virtual functions: the IFLA_VFINFO_LIST of an RTM_NEWLINK that was asked for
 * with RTEXT_FILTER_VF. Pure. */
#ifndef VNETTOP_NL_VF_H
#define VNETTOP_NL_VF_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>

/* Counters are the function's own: rx is what it received. */
struct nl_vf {
    uint32_t vf;
    uint8_t mac[6];
    bool has_mac, has_counters, has_drops;
    uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes, multicast;
    uint64_t rx_dropped, tx_dropped; /* since 4.19 */
};

/* Calls each for every function of the message; malformed ones are passed over. */
void nl_vf_parse(const struct nlmsghdr *message, void (*each)(const struct nl_vf *vf, void *arg), void *arg);

#endif
