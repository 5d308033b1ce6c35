/* SPDX-License-Identifier: MIT */
/*
 * Parsers of the texts that the host's collectors read: /proc/stat, /proc/softirqs, /proc/net/softnet_stat,
 * /proc/pressure/X, the masks of sysfs and the names of interrupt handlers. Pure: one pass over a text of
 * known length, no files, no clock. They must not know what a number means over time: counters that wrap or
 * step back are the collector's business.
 *
 * All take hostile text. A last line without its newline was cut off and is not believed. CPUs must rise from
 * line to line, as the kernel writes them, so results can be merged in one pass; those beyond PROCFS_CPU_MAX
 * are refused. A parser that returns false leaves a result that may be freed or parsed into again, and not be
 * read.
 */
#ifndef VNETTOP_HOST_PARSE_H
#define VNETTOP_HOST_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/procfs.h"

/* Times of a CPU in /proc/stat, in its order. guest is contained in user, guest_nice in nice. */
enum host_time {
    HOST_USER,
    HOST_NICE,
    HOST_SYSTEM,
    HOST_IDLE,
    HOST_IOWAIT,
    HOST_IRQ,
    HOST_SOFTIRQ,
    HOST_STEAL,
    HOST_GUEST,
    HOST_GUEST_NICE,
    HOST_TIMES
};

struct host_stat_cpu {
    unsigned cpu;
    unsigned n; /* times that the line has: an old kernel writes fewer than HOST_TIMES */
    uint64_t ticks[HOST_TIMES];
};

struct host_stat {
    struct host_stat_cpu *cpus; /* those online */
    size_t n, alloc;
    bool has_switches, has_running;
    uint64_t switches; /* since boot */
    uint64_t running;  /* tasks runnable now */
};

/* /proc/stat. Unknown lines are passed over; no cpuN line at all is an error. */
bool host_parse_stat(const char *text, size_t len, struct host_stat *out);
void host_stat_free(struct host_stat *stat);

struct host_softirq_cpu {
    unsigned cpu;
    uint64_t net_rx, net_tx; /* the kernel counts in 32 bits */
};

struct host_softirqs {
    struct host_softirq_cpu *cpus; /* every possible one, as the header names them */
    size_t n, alloc;
    bool has_net_rx, has_net_tx;
};

/* /proc/softirqs */
bool host_parse_softirqs(const char *text, size_t len, struct host_softirqs *out);
void host_softirqs_free(struct host_softirqs *softirqs);

struct host_softnet_line {
    unsigned cpu;                          /* only where has_cpu */
    uint64_t processed, dropped, squeezed; /* the kernel counts in 32 bits */
};

struct host_softnet {
    struct host_softnet_line *lines; /* one for each CPU online */
    size_t n, alloc;
    bool has_cpu; /* the lines name their CPU (Linux 5.10); else the n-th line is the n-th CPU online */
};

/* /proc/net/softnet_stat */
bool host_parse_softnet(const char *text, size_t len, struct host_softnet *out);
void host_softnet_free(struct host_softnet *softnet);

/* Total stall time in microseconds of one line ("some" or "full") of /proc/pressure/X; false where there is
 * no such line. */
bool host_parse_psi(const char *text, size_t len, const char *line, uint64_t *total_us);

/* A mask as sysfs writes it: hexadecimal words of 32 bits, the highest first, with commas between. */
bool host_parse_mask(const char *text, size_t len, struct procfs_cpuset *set);

/* Does the interrupt with this handler serve a port's packets, and not its commands, errors or link state?
 * The names are the drivers' own; what no rule knows is taken for packets. */
bool host_irq_is_queue(const char *handler, const char *port);

#endif
