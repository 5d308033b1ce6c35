/* SPDX-License-Identifier: MIT */
/*
 * Which CPUs serve which network port: the interrupts of its device (effective affinity), receive and
 * transmit packet steering, and the device's NUMA node. Read from /sys/class/net and /proc/irq for
 * host_topology.c, seldom. It must not know of rows or of CPUs' topology.
 */
#ifndef VNETTOP_HOST_NICS_H
#define VNETTOP_HOST_NICS_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/procfs.h"

/* A port of which something of this is known. All bytes of it are facts, so that two may be compared as
 * memory. */
struct host_nic {
    unsigned ifindex;
    unsigned irqs;        /* interrupts that serve its packets */
    unsigned node_1;      /* NUMA node of its device and one more; 0 = not known */
    unsigned irqs_denied; /* interrupts whose affinity this user may not read */
    char name[PROCFS_IFNAME_SIZE];
    struct procfs_cpuset irq_cpus, rps_cpus, xps_cpus;
};

/* How many of a port's interrupts a CPU serves. */
struct host_nic_cpu {
    unsigned cpu, ifindex, irqs;
};

struct host_nics {
    struct host_nic *nics; /* rising by ifindex */
    size_t n, alloc;
    struct host_nic_cpu *cpus; /* rising by cpu, then ifindex */
    size_t n_cpus, alloc_cpus;
    ino_t newest; /* highest number of a port's file in /sys */
    bool foreign; /* /sys shows the ports of another network namespace: none of those is in nics */
};

/* Where and how to read. */
struct host_nics_from {
    int proc_fd, sys_fd; /* /proc, or -1, and /sys */
    int socket_fd; /* of the network namespace that counts: asked whether a port of /sys is one of its; -1
                      trusts /sys */
    unsigned pass; /* number of the read: 0 looks at every port */
};

/*
 * Reads anew into out, whose memory is kept; before is what was read last. Virtual ports, of which there may
 * be a thousand, hardly ever have steering set and cost 0.1 ms each: after the first read they are looked at
 * when they are new, and in turn.
 */
void host_nics_read(struct host_nics *out, const struct host_nics *before, const struct host_nics_from *from);
bool host_nics_equal(const struct host_nics *a, const struct host_nics *b);
const struct host_nic *host_nics_find(const struct host_nics *nics, unsigned ifindex);
void host_nics_free(struct host_nics *nics);

#endif
