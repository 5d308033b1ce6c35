/* SPDX-License-Identifier: MIT */
/*
 * What may slow a CPU down between packets: its frequency governor, and idle states that take long to leave.
 * From /sys/devices/system/cpu/cpuN/cpufreq and cpuidle (Documentation/admin-guide/pm); read by the slow part
 * of the source `host`. A CPU without either has none of it.
 */
#ifndef VNETTOP_HOST_POWER_H
#define VNETTOP_HOST_POWER_H

#include <stddef.h>
#include <stdint.h>

#define HOST_DEEP_US 20 /* exit latency from which an idle state is called deep */

/* Fixed for as long as the CPU is there. */
struct host_idle {
    uint32_t deep;    /* a bit for each idle state that is deep */
    uint32_t exit_us; /* of the deepest; 0 = no idle states are told of */
};

/* Empty when there is none. */
void host_power_governor(int sys_fd, unsigned cpu, char *governor, size_t size);
struct host_idle host_power_idle(int sys_fd, unsigned cpu);
/* How often the CPU entered a deep idle state since it started. */
uint64_t host_power_deep_sleeps(int sys_fd, unsigned cpu, const struct host_idle *idle);

#endif
