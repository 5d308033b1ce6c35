/* SPDX-License-Identifier: MIT */
/*
 * Network namespaces of the netlink collectors: finding one by name, path or process, opening sockets in it,
 * and noticing that it is gone. A socket keeps its namespace and all its devices alive, so whoever watches
 * one must let go as soon as its name has gone: nl_netns_alive before each read.
 */
#ifndef VNETTOP_NL_NETNS_H
#define VNETTOP_NL_NETNS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/collector.h"

struct nl_netns {
    bool own;       /* the one vnettop runs in */
    uint64_t inode; /* identity while it lives; 0 without /proc */
    uint64_t device;
    char name[64];  /* as asked for; "self" for the own one */
    char path[300]; /* of its file */
};

/*
 * Finds the namespace (NULL: the caller's own; NAME of `ip netns`; a path; pid:N), fills *ns and runs
 * open(arg) in it, then comes back. Only the calling thread moves. COLLECT_NONE when there is no such
 * namespace, COLLECT_DENIED when this user may not enter it, else what open returned.
 */
enum collect_result nl_netns_open(const char *name, struct nl_netns *ns,
                                  enum collect_result (*open)(void *arg, struct collect_call *call),
                                  void *arg, struct collect_call *call);

/* Its file is still there and still the same namespace. */
bool nl_netns_alive(const struct nl_netns *ns);

/* COLLECT_NONE, with the text that says so. */
enum collect_result nl_netns_gone(const struct nl_netns *ns, struct collect_call *call);

/* "this namespace" or "namespace NAME", for messages. */
const char *nl_netns_text(const struct nl_netns *ns, char *text, size_t size);

#endif
