/* SPDX-License-Identifier: MIT */
/*
 * An OpenFlow client for one question: the port statistics of a bridge, over the bridge's own socket
 * (BRIDGE.mgmt in the run folder), read live by the switch. It is asked by the OVS collectors because it is
 * the cheapest way to all ports' counters, drop causes included (see ovs.h). Of OpenFlow it sends HELLO, ECHO
 * REPLY and the port statistics request, and nothing else.
 *
 *     of = ovs_openflow_open(path, deadline_ns, stop_fd, err, sizeof(err));
 *     ovs_openflow_ask(of, deadline_ns, err, sizeof(err));
 *     ovs_openflow_await(of, deadline_ns, &stats, err, sizeof(err));
 */
#ifndef COLLECTORS_OVS_OPENFLOW_H
#define COLLECTORS_OVS_OPENFLOW_H

#include <stddef.h>
#include <stdint.h>

#include "collectors/ovs_ofstats.h"

struct ovs_openflow;

enum ovs_openflow_result {
    OVS_OPENFLOW_OK,
    OVS_OPENFLOW_BROKEN,  /* closed, or not OpenFlow */
    OVS_OPENFLOW_TIMEOUT, /* no answer by the deadline */
    OVS_OPENFLOW_UNSPOKEN /* the bridge speaks none of 1.3 to 1.5 (its column `protocols`) */
};

/* Connects and agrees on a version. NULL with *result and err filled. stop_fd may be -1. */
struct ovs_openflow *ovs_openflow_open(const char *path, int64_t deadline_ns, int stop_fd,
                                       enum ovs_openflow_result *result, char *err, size_t errlen);
void ovs_openflow_close(struct ovs_openflow *of);

/* OVS_OF_1_3 has no named counters. */
unsigned ovs_openflow_version(const struct ovs_openflow *of);

/* Sends the question; then takes the whole answer into stats, which is emptied first. Its names are valid
 * until the next await or close. After anything but OK the connection is of no use: close it. */
enum ovs_openflow_result ovs_openflow_ask(struct ovs_openflow *of, int64_t deadline_ns, char *err,
                                          size_t errlen);
enum ovs_openflow_result ovs_openflow_await(struct ovs_openflow *of, int64_t deadline_ns,
                                            struct ovs_of_stats *stats, char *err, size_t errlen);

#endif
