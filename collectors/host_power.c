/* SPDX-License-Identifier: MIT */
/* Frequency governors and idle states of CPUs (see host_power.h). */
#include "collectors/host_power.h"

#include <stdio.h>
#include <string.h>

#include "collectors/procfs.h"

#define CPU_PATH   "devices/system/cpu/"
#define STATES_MAX 32

void host_power_governor(int sys_fd, unsigned cpu, char *governor, size_t size)
{
    char path[96];
    size_t len;
    memset(governor, 0, size); /* compared as memory */
    snprintf(path, sizeof(path), CPU_PATH "cpu%u/cpufreq/scaling_governor", cpu);
    if (procfs_read_file(sys_fd, path, governor, size, &len) != PROCFS_OK)
        memset(governor, 0, size);
    char *end = strchr(governor, '\n');
    if (end)
        memset(end, 0, size - (size_t)(end - governor));
}

static bool read_number(int sys_fd, unsigned cpu, unsigned state, const char *name, uint64_t *value)
{
    char path[96], text[32];
    size_t len;
    snprintf(path, sizeof(path), CPU_PATH "cpu%u/cpuidle/state%u/%s", cpu, state, name);
    if (procfs_read_file(sys_fd, path, text, sizeof(text), &len) != PROCFS_OK || len == 0)
        return false;
    return procfs_parse_u64(text, len - (text[len - 1] == '\n'), value);
}

struct host_idle host_power_idle(int sys_fd, unsigned cpu)
{
    struct host_idle idle = {0};
    uint64_t latency;
    for (unsigned i = 0; i < STATES_MAX && read_number(sys_fd, cpu, i, "latency", &latency); i++) {
        if (latency >= HOST_DEEP_US)
            idle.deep |= UINT32_C(1) << i;
        if (latency > idle.exit_us && latency <= UINT32_MAX)
            idle.exit_us = (uint32_t)latency;
    }
    return idle;
}

uint64_t host_power_deep_sleeps(int sys_fd, unsigned cpu, const struct host_idle *idle)
{
    uint64_t sum = 0, usage;
    for (unsigned i = 0; i < STATES_MAX; i++)
        if (idle->deep >> i & 1 && read_number(sys_fd, cpu, i, "usage", &usage))
            sum += usage;
    return sum;
}
