/* SPDX-License-Identifier: MIT */
/*
 * Which CPUs serve which network port: the interrupts of its device (effective affinity), receive and
 * transmit packet steering. Read from /sys/class/net and /proc/irq for host_topology.c, seldom. It must not
 * know of rows or of CPUs' topology.
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
    bool foreign; /* /sys shows the ports of another network namespace: none of those is in nics */
};

/*
 * Reads anew into out, whose memory is kept. before is what was read last: virtual ports, a thousand of which
 * may exist and hardly ever have steering set, are only looked at when they had some, or when all is true.
 * socket_fd, any socket of the network namespace that counts, is asked whether a port of /sys is of that
 * namespace; -1 trusts /sys.
 */
void host_nics_read(struct host_nics *out, const struct host_nics *before, int proc_fd, int sys_fd,
                    int socket_fd, bool all);
bool host_nics_equal(const struct host_nics *a, const struct host_nics *b);
const struct host_nic *host_nics_find(const struct host_nics *nics, unsigned ifindex);
void host_nics_free(struct host_nics *nics);

#endif
