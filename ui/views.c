/* SPDX-License-Identifier: MIT */
/* The list of views (see views.h); their number is their key. A table view is a line here. */
#include "ui/views.h"

#include <assert.h>
#include <string.h>

const struct view views[] = {
    {"overview", "Overview", "Over", "Overview: what carries traffic, what loses it, who uses the CPUs",
     TABLE_PORTS, "-activity_pps", true, view_overview_draw, NULL},
    {"paths", "Paths", "Path", "Paths: each guest NIC with its port, switch, serving thread and vCPUs",
     TABLE_PATHS, "-to_guest_pps", true, NULL, NULL},
    {"vms", "VMs", "VMs", "VMs: vCPU time, steal, pinning, packets to and from each guest", TABLE_VMS, "name",
     false, NULL, NULL},
    {"threads", "Threads", "Thr",
     "Threads: vCPUs, emulators, vhost workers; where they ran, may run, and waited", TABLE_THREADS,
     "-steal_pct", true, NULL, NULL},
    {"pmds", "PMDs", "PMDs", "PMDs: OVS's polling threads, their cycles, hits and queues", TABLE_PMDS, "core",
     false, NULL, NULL},
    {"ports", "Ports", "Ports", "Ports: every place packets pass, with rates, drops by cause and errors",
     TABLE_PORTS, "-rx_pps", true, NULL, NULL},
    {"cpus", "CPUs", "CPUs", "CPUs: who uses them, packet work, topology, interrupts", TABLE_CPUS, "cpu",
     false, NULL, NULL},
    {"pins", "Pins", "Pins", "Pins: which thread may run where, ran where, and beside whom", TABLE_THREADS,
     "vm", false, view_pinmap_draw, NULL},
    {"findings", "Findings", "Find", "Findings: diagnosed causes, with evidence and a command to try",
     TABLE_FINDINGS, NULL, false, NULL,
     "no finding: nothing is lost and nobody waits, as far as the sources see"},
    {"sources", "Sources", "Src", "Sources: what can be seen here, what not, and what to do about it",
     TABLE_SOURCES, "name", false, NULL, NULL},
};

const size_t n_views = sizeof(views) / sizeof(views[0]);
static_assert(sizeof(views) / sizeof(views[0]) <= 10, "a digit for each view");

const struct view *view_find(const char *name)
{
    for (size_t i = 0; i < n_views; i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
}

char view_key(size_t i)
{
    return (char)('0' + (i + 1) % 10);
}

size_t view_of_key(const char *name)
{
    size_t i = 0;
    while (i < n_views && !(name[0] == view_key(i) && name[1] == '\0'))
        i++;
    return i;
}
