/* SPDX-License-Identifier: MIT */
/* Rules about the host's CPUs and about vnettop's own reading (see rules.h). */
#include <stdio.h>
#include <string.h>

#include "src/rules.h"

static unsigned long long cpu_number(const struct frame_row *row)
{
    return ((const struct cpus_info *)row->part.cur->info)->cpu;
}

void check_host_steal(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    const struct frame_row *worst = NULL;
    double most = 10;
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        double steal = RULE_NUMBER(frame, row, cpus, steal_pct);
        if (!(steal >= most))
            continue;
        most = steal;
        worst = row;
    }
    if (!worst)
        return;
    struct finding *f = finding_add(out, rule, SEVERITY_WATCH, most, NULL);
    finding_name(f, "host");
    finding_say(f, "this host is itself a virtual machine: CPU %llu loses %.0f %% to the hypervisor below",
                cpu_number(worst), most);
}

void check_softnet(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        double lost = RULE_NUMBER(frame, row, cpus, softnet_drop_pps);
        if (!(lost >= 1))
            continue;
        double passed = RULE_NUMBER(frame, row, cpus, softnet_pps);
        struct finding *f = finding_add(out, rule, rule_loss_severity(lost, passed), lost, row);
        f->cost_pps = lost;
        finding_name(f, "CPU %llu", cpu_number(row));
        finding_say(
            f,
            "CPU %llu drops %s before any port sees them: its receive backlog is full (soft interrupts "
            "%.0f %%)",
            cpu_number(row), rule_rate(lost).text, RULE_NUMBER(frame, row, cpus, softirq_pct));
        finding_advise(f, "sysctl net.core.netdev_max_backlog; or spread the load: RPS, more queues");
    }
}

void check_squeeze(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        double times = RULE_NUMBER(frame, row, cpus, squeezed_per_s);
        if (!(times >= 200))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, times, row);
        finding_name(f, "CPU %llu", cpu_number(row));
        finding_say(f,
                    "CPU %llu ends its receive loop early %.0f times/s with packets left (soft interrupts "
                    "%.0f %%)",
                    cpu_number(row), times, RULE_NUMBER(frame, row, cpus, softirq_pct));
        finding_advise(f, "sysctl net.core.netdev_budget net.core.netdev_budget_usecs");
    }
}

/* --- what slows a CPU down between packets --- */

#define CARRIES_PPS 10000
#define CARRIER_RUN 20 /* percent of a CPU */

static bool carries_much(const struct frame *frame, const struct frame_row *vm)
{
    for (const struct frame_row *path = vm ? join_first_path(frame, vm) : NULL; path;
         path = join_next_path(frame, path))
        if (RULE_NUMBER(frame, path, paths, to_guest_pps) + RULE_NUMBER(frame, path, paths, from_guest_pps) >=
            CARRIES_PPS)
            return true;
    return false;
}

/* A thread that much traffic goes through: a poller, or one of a guest that has it. */
static bool is_carrier(const struct frame *frame, const struct join_thread *thread)
{
    bool poller = join_is_poller(thread) && rule_run(thread) >= 50;
    bool guest =
        thread->kind == THREAD_VCPU || thread->kind == THREAD_VHOST || thread->kind == THREAD_EMULATOR;
    return poller || (guest && rule_run(thread) >= CARRIER_RUN && carries_much(frame, thread->vm));
}

static const struct join_thread *carrier_on(const struct frame *frame, int64_t cpu)
{
    for (const struct join_thread *t = join_first_on_cpu(frame, cpu); t; t = join_next_on_cpu(frame, t))
        if (is_carrier(frame, t))
            return t;
    return NULL;
}

/* What was found of the CPUs that carry traffic: they are told of together. */
struct slow_cpus {
    char list[96];
    unsigned n;
    const struct frame_row *worst;
    double most;
    const struct join_thread *carrier; /* on the worst */
};

static void add_slow(struct slow_cpus *slow, const struct frame *frame, const struct frame_row *row,
                     double value)
{
    const struct join_thread *carrier = carrier_on(frame, (int64_t)cpu_number(row));
    size_t used = strlen(slow->list);
    if (!carrier)
        return;
    if (used + 32 < sizeof(slow->list))
        snprintf(slow->list + used, sizeof(slow->list) - used, "%s%llu", used ? "," : "", cpu_number(row));
    else if (slow->list[used - 1] != '.')
        strcat(slow->list, ",...");
    if (slow->n++ == 0 || value > slow->most) {
        slow->worst = row;
        slow->most = value;
        slow->carrier = carrier;
    }
}

void check_governor(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    struct slow_cpus slow = {.n = 0};
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        const char *governor = JOIN_TEXT(row, struct cpus_info, governor);
        if (governor && strcmp(governor, "performance") != 0)
            add_slow(&slow, frame, row, 1);
    }
    if (slow.n == 0)
        return;
    struct finding *f = finding_add(out, rule, SEVERITY_NOTE, slow.n, NULL);
    finding_name(f, "host");
    finding_say(f,
                "%s runs on CPU %llu under the frequency governor %s: its speed, and a benchmark's result, "
                "depend on load (CPUs %s)",
                rule_thread(frame, slow.carrier).text, cpu_number(slow.worst),
                rule_name(JOIN_TEXT(slow.worst, struct cpus_info, governor)).text, slow.list);
    finding_advise(f, "cpupower -c %s frequency-set -g performance",
                   strchr(slow.list, '.') ? "all" : slow.list);
}

#define DEEP_SLEEPS_PER_S 100

void check_idle_states(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    struct slow_cpus slow = {.n = 0};
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        double sleeps = RULE_NUMBER(frame, row, cpus, deep_sleeps_per_s);
        if (sleeps >= DEEP_SLEEPS_PER_S)
            add_slow(&slow, frame, row, sleeps);
    }
    if (slow.n == 0)
        return;
    uint64_t exit_us = 0;
    join_info_number(slow.worst, offsetof(struct cpus_info, idle_exit_us), &exit_us);
    struct finding *f = finding_add(out, rule, SEVERITY_NOTE, slow.most, NULL);
    finding_name(f, "host");
    finding_say(
        f,
        "CPU %llu, where %s runs, falls into deep idle states %.0f times/s, which take up to %llu us to "
        "leave (CPUs %s)",
        cpu_number(slow.worst), rule_thread(frame, slow.carrier).text, slow.most, (unsigned long long)exit_us,
        slow.list);
    finding_advise(f, "cpupower -c %s idle-set -D 20", strchr(slow.list, '.') ? "all" : slow.list);
}

/* --- the observer --- */

void check_source_silent(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(source, frame, TABLE_SOURCES)
    {
        const struct sources_row *row = (const struct sources_row *)source->part.cur;
        if (!row_has(row, state) || strcmp(row->state, "no answer") != 0 || !row_has(row, age_s))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, row->age_s, source);
        finding_name(f, "%s", rule_name(JOIN_TEXT(source, struct sources_info, name)).text);
        finding_say(f, "%s has not answered for %.0f s: what it told is that old, and nothing is found in it",
                    f->object, row->age_s);
        finding_advise(f, "vnettop sources");
    }
}

#define LEAST_GAP_S 0.05 /* shorter than any interval: a read that made good for a late one */

void check_observer_slow(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    for (size_t i = 0; i < frame->n_pairs; i++) {
        const struct pair *pair = &frame->pairs[i];
        bool silent = pair->stale_ns && frame->now_ns - sample_time(pair->cur) > pair->stale_ns;
        if (!pair->prev || silent)
            continue;
        double read_s = (double)(pair->cur->t1_ns - pair->cur->t0_ns) / 1e9;
        double gap_s = (double)(sample_time(pair->cur) - sample_time(pair->prev)) / 1e9;
        if (!(gap_s >= LEAST_GAP_S) || !(read_s >= 0.7 * gap_s))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_NOTE, 100 * read_s / gap_s, NULL);
        finding_distinguish(f, hash_text(pair->feed));
        finding_name(f, "%s", rule_name(pair->feed).text);
        finding_say(f,
                    "vnettop is too slow for its interval: a read of %s takes %.2f s, and it is read every "
                    "%.2f s",
                    f->object, read_s, gap_s);
        finding_advise(f, "a longer interval: vnettop -d SEC; or leave the source out: --no SOURCE");
    }
}
