/* SPDX-License-Identifier: MIT */
/* RTM_NEWNEIGH of family AF_BRIDGE (see nl_fdb.h). */
#include "collectors/nl_fdb.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

uint32_t nl_fdb_bridge(const struct nlmsghdr *message)
{
    struct nlmsghdr *readable = (struct nlmsghdr *)message; /* libnl takes no const, and writes nothing */
    const struct ndmsg *head = nlmsg_data(message);
    if (message->nlmsg_type != RTM_NEWNEIGH || !nlmsg_valid_hdr(message, sizeof(*head)) ||
        head->ndm_family != AF_BRIDGE || head->ndm_flags & NTF_SELF)
        return 0;
    const struct nlattr *master = nlmsg_find_attr(readable, sizeof(*head), NDA_MASTER);
    return master && nla_len(master) >= (int)sizeof(uint32_t) ? nla_get_u32(master) : 0;
}
