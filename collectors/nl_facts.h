/* SPDX-License-Identifier: MIT */
/*
 * What netlink does not tell of a link: speed, queues in use (ethtool), and whether it is a virtual function
 * (sysfs). Asked of kinds that can answer, when a link is new or has changed: each question takes the
 * kernel's RTNL lock.
 */
#ifndef VNETTOP_NL_FACTS_H
#define VNETTOP_NL_FACTS_H

#include "collectors/nl_links.h"

/* fd: any socket of the link's namespace. root: prefix of /sys. own: sysfs shows this namespace. */
void nl_facts_ask(struct nl_port *port, int fd, const char *root, bool own);

#endif
