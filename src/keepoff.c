/* SPDX-License-Identifier: MIT */
/* Own affinity (see keepoff.h). */
#include "src/keepoff.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "src/join.h"

static bool has_role(const char *role, const char *const *roles)
{
    for (; role && *roles; roles++)
        if (strcmp(role, *roles) == 0)
            return true;
    return false;
}

void keepoff_choose(const struct frame *frame, const cpu_set_t *allowed, cpu_set_t *chosen)
{
    static const char *const pollers[] = {"pmd", "lcore", "vpp", NULL}, *const guests[] = {"vcpu", NULL};
    *chosen = *allowed;
    for (size_t i = 0; i < frame->table[TABLE_THREADS].n; i++) {
        const struct frame_row *thread = &frame->table[TABLE_THREADS].rows[i];
        const char *role = JOIN_TEXT(thread, struct threads_info, role);
        const char *cpus = JOIN_TEXT(thread, struct threads_info, allowed_cpus);
        bool own = cpus && join_list_count(cpus) == 1;
        if (!own || !(has_role(role, pollers) || has_role(role, guests)))
            continue;
        CPU_CLR((int)strtoul(cpus, NULL, 10), chosen);
    }
    if (CPU_COUNT(chosen) == 0)
        *chosen = *allowed;
}

bool keepoff_apply(const cpu_set_t *chosen)
{
    DIR *tasks = opendir("/proc/self/task");
    bool ok = tasks != NULL;
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && sched_setaffinity(tid, sizeof(*chosen), chosen) < 0)
            ok = false;
    }
    if (tasks)
        closedir(tasks);
    return ok;
}
