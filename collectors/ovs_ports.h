/* SPDX-License-Identifier: MIT */
/*
 * The ports of a daemon (ovs_daemon.h): which there are, what identifies a port's row in all feeds, and what
 * is told of it. A port that is an interface of the kernel has the key that netlink gives it, so that it is
 * one row with the kernel's counters, and an ethdev that which the source dpdk gives it; any other is known
 * by its daemon and its name, which the database holds to be unique.
 */
#ifndef COLLECTORS_OVS_PORTS_H
#define COLLECTORS_OVS_PORTS_H

#include "collectors/ovs_daemon.h"

/* Makes d->ports of the mirror. */
void ovs_ports_list(struct ovs_daemon *d, const struct ovsdb_mirror *mirror);

/* By bridge and OpenFlow number; by name. NULL when there is none. */
const struct ovs_port *ovs_port_numbered(const struct ovs_daemon *d, size_t bridge, uint32_t number);
const struct ovs_port *ovs_port_called(const struct ovs_daemon *d, struct ovs_span name);

/* The key of the port's row: net:INODE:IFINDEX, dpdk:PID:START:portNUMBER or ovs:RUNDIR:NAME. */
const char *ovs_port_key(const struct ovs_daemon *d, const struct ovs_port *port, char *key, size_t size);

/* A port's info: key and name alone, or with all that the database tells. */
struct ports_info *ovs_port_brief(struct inventory *inventory, const struct ovs_daemon *d,
                                  const struct ovs_port *port);
struct ports_info *ovs_port_whole(struct inventory *inventory, const struct ovs_daemon *d,
                                  const struct ovs_port *port);

/* vhost-user, dpdk, internal, system, patch, tunnel, dummy; another word of OVS's as it is. */
const char *ovs_port_kind(const char *type);

/* Is a datapath port of that type an interface of the kernel? */
bool ovs_type_is_kernel(const char *type);

/* "connected" or "disconnected" of a vhost-user port, NULL of others. */
const char *ovs_port_vhost_state(const struct ovs_port *port);

/* Fills the counters that OpenFlow told; true for a named counter that has a column. */
void ovs_port_fill(struct ports_row *row, const struct ovs_port *port, const struct ovs_of_stats *stats,
                   const struct ovs_of_port *told);
bool ovs_named_has_column(struct ovs_span name);

/* The core that options ask a receive queue to be polled on (other_config:pmd-rxq-affinity), as "3". False
 * when none is asked for. */
bool ovs_port_pinning(const struct ovs_port *port, uint64_t queue, uint64_t *core);

#endif
