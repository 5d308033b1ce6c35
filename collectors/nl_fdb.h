/* SPDX-License-Identifier: MIT */
/* The wire format of a forwarding entry: RTM_NEWNEIGH of family AF_BRIDGE. Pure. */
#ifndef VNETTOP_NL_FDB_H
#define VNETTOP_NL_FDB_H

#include <linux/netlink.h>
#include <stdint.h>

/* ifindex of the bridge whose table the entry is in; 0 when it is a device's own filter list (NTF_SELF),
 * another message or malformed. */
uint32_t nl_fdb_bridge(const struct nlmsghdr *message);

#endif
