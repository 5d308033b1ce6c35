/* SPDX-License-Identifier: MIT */
/*
 * The ports table's inventory out of the table of links: key, names, states. Called by the netlink collectors
 * when something changed. Other sources that know a port by namespace and ifindex use the same key, so that
 * their numbers stand in the same row.
 */
#ifndef VNETTOP_NL_INFO_H
#define VNETTOP_NL_INFO_H

#include "collectors/nl_links.h"
#include "collectors/nl_netns.h"

/* The port's key, inode of the namespace and ifindex: a rename keeps it, a link made anew gets another. */
#define NL_PORT_KEY "net:%" PRIu64 ":%" PRIu32

/* Key, namespace, ifindex, name and kind alone. */
struct ports_info *nl_info_brief(struct inventory *inventory, const struct nl_netns *ns,
                                 const struct nl_port *port);

/* All that is known. Masters must have been joined, facts asked. */
struct ports_info *nl_info_whole(struct inventory *inventory, const struct nl_links *links,
                                 const struct nl_netns *ns, const struct nl_port *port);

#endif
