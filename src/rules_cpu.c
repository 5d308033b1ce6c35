/* SPDX-License-Identifier: MIT */
/* Rules about CPUs: who waits, who shares, who sits where (see rules.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/rules.h"

static double thread_number(const struct frame *frame, const struct frame_row *thread, const char *key)
{
    return join_number(frame, TABLE_THREADS, thread, key);
}

/* What a thread would take if it had a CPU of its own. */
static double demand(const struct frame *frame, const struct frame_row *thread)
{
    return thread_number(frame, thread, "run_pct") + thread_number(frame, thread, "steal_pct");
}

void check_vcpu_steal(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(thread, frame, TABLE_THREADS)
    {
        double steal = thread_number(frame, thread, "steal_pct");
        int64_t cpu = rule_cpu_of(thread);
        if (!rule_has_role(thread, "vcpu") || !(steal >= 10) || cpu < 0)
            continue;
        char name[96], others[200];
        join_thread_name(name, sizeof(name), frame, thread);
        rule_others_on(others, sizeof(others), frame, (uint64_t)cpu, thread);
        struct finding *f =
            finding_add(out, rule, steal >= 30 ? SEVERITY_BAD : SEVERITY_WATCH, steal, "%s", name);
        snprintf(f->text, sizeof(f->text),
                 "%s waits %.0f %% of the time for CPU %lld, where %s ran meanwhile", name, steal,
                 (long long)cpu, others);
        rule_advise_move(f->advice, sizeof(f->advice), frame, thread);
    }
}

/* The threads that must run on one CPU and want some of it. */
struct tenants {
    size_t n;
    const struct frame_row *threads[8];
    double wanted;
    bool polled, guest;
};

static struct tenants tenants_of(const struct frame *frame, int64_t cpu)
{
    struct tenants t = {0};
    RULE_EACH(thread, frame, TABLE_THREADS)
    {
        double wants = demand(frame, thread);
        if (rule_only_cpu(thread) != cpu || !(wants >= 15) || t.n == 8)
            continue;
        t.threads[t.n++] = thread;
        t.wanted += wants;
        t.polled = t.polled || rule_is_poller(thread);
        t.guest = t.guest || !rule_is_poller(thread);
    }
    return t;
}

static void name_tenants(char *out, size_t size, const struct frame *frame, const struct tenants *t)
{
    size_t used = 0;
    for (size_t i = 0; i < t->n && used < size; i++) {
        char name[96];
        join_thread_name(name, sizeof(name), frame, t->threads[i]);
        int n = snprintf(out + used, size - used, "%s%s (run %.0f %%, waits %.0f %%)", i == 0 ? "" : ", ",
                         name, thread_number(frame, t->threads[i], "run_pct"),
                         thread_number(frame, t->threads[i], "steal_pct"));
        used += n > 0 ? (size_t)n : 0;
    }
}

static void advise_first_guest(char *out, size_t size, const struct frame *frame, const struct tenants *t)
{
    for (size_t i = t->n; i-- > 0;) {
        if (rule_is_poller(t->threads[i]))
            continue;
        rule_advise_move(out, size, frame, t->threads[i]);
        return;
    }
}

static void check_tenants(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                          bool polled)
{
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        uint64_t cpu = ((const struct cpus_info *)row->part.cur->info)->cpu;
        struct tenants t = tenants_of(frame, (int64_t)cpu);
        if (t.n < 2 || !(t.wanted > 105) || t.polled != polled || !t.guest)
            continue;
        char names[360];
        name_tenants(names, sizeof(names), frame, &t);
        struct finding *f =
            finding_add(out, rule, SEVERITY_BAD, t.wanted, "CPU %llu", (unsigned long long)cpu);
        snprintf(f->text, sizeof(f->text),
                 "CPU %llu is the only one for %zu threads that want %.0f %% of it: %s",
                 (unsigned long long)cpu, t.n, t.wanted, names);
        advise_first_guest(f->advice, sizeof(f->advice), frame, &t);
    }
}

void check_cpu_shared(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_tenants(rule, frame, out, false);
}

void check_poller_shares(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_tenants(rule, frame, out, true);
}

void check_smt_sibling(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(poller, frame, TABLE_THREADS)
    {
        int64_t cpu = rule_cpu_of(poller);
        if (!rule_is_poller(poller) || cpu < 0 || !(thread_number(frame, poller, "run_pct") >= 50))
            continue;
        char key[32];
        snprintf(key, sizeof(key), "cpu:%lld", (long long)cpu);
        const struct frame_row *row = frame_find(frame, TABLE_CPUS, key);
        const char *siblings = row ? JOIN_TEXT(row, struct cpus_info, siblings) : NULL;
        RULE_EACH(other, frame, TABLE_THREADS)
        {
            int64_t theirs = rule_cpu_of(other);
            double run = thread_number(frame, other, "run_pct");
            if (other == poller || theirs < 0 || theirs == cpu || !(run >= 50) ||
                !join_list_has(siblings, (uint64_t)theirs))
                continue;
            char name[96], guest[96];
            join_thread_name(name, sizeof(name), frame, poller);
            join_thread_name(guest, sizeof(guest), frame, other);
            struct finding *f = finding_add(out, rule, SEVERITY_WATCH, run, "%s and %s", name, guest);
            snprintf(f->text, sizeof(f->text),
                     "%s polls on CPU %lld and %s runs %.0f %% on CPU %lld, the other half of that core",
                     name, (long long)cpu, guest, run, (long long)theirs);
            rule_advise_move(f->advice, sizeof(f->advice), frame, other);
        }
    }
}

/* A CPU that is somebody's own: a busy poller's, or the only one of a busy vCPU of another VM. */
static const struct frame_row *owner_of(const struct frame *frame, const char *allowed, const char *not_vm)
{
    RULE_EACH(thread, frame, TABLE_THREADS)
    {
        const char *vm = JOIN_TEXT(thread, struct threads_info, vm_key);
        int64_t cpu = rule_is_poller(thread) ? rule_cpu_of(thread) : rule_only_cpu(thread);
        if (cpu < 0 || (vm && not_vm && strcmp(vm, not_vm) == 0) || !(demand(frame, thread) >= 30))
            continue;
        if ((rule_is_poller(thread) || rule_has_role(thread, "vcpu")) &&
            join_list_has(allowed, (uint64_t)cpu))
            return thread;
    }
    return NULL;
}

void check_floating(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(vm, frame, TABLE_VMS)
    {
        struct cell pinning = frame_cell(frame, vm, column_find(table_get(TABLE_VMS), "pinning"));
        double run = join_number(frame, TABLE_VMS, vm, "run_pct");
        const struct frame_row *vcpu = join_worst_vcpu(frame, vm);
        if (pinning.kind != CELL_STR || strcmp(pinning.str, "floating") != 0 || !(run >= 20) || !vcpu)
            continue;
        const char *allowed = JOIN_TEXT(vcpu, struct threads_info, allowed_cpus);
        const struct frame_row *owner = owner_of(frame, allowed, vm->key);
        if (!owner)
            continue;
        char name[96];
        join_thread_name(name, sizeof(name), frame, owner);
        struct finding *f =
            finding_add(out, rule, SEVERITY_WATCH, run, "%s", RULE_TEXT(vm, struct vms_info, name));
        snprintf(f->text, sizeof(f->text),
                 "%s floats over CPUs %s, among them the one of %s; its vCPUs run %.0f %%",
                 RULE_TEXT(vm, struct vms_info, name), allowed, name, run);
        rule_advise_move(f->advice, sizeof(f->advice), frame, vcpu);
    }
}

/* The busy vCPU or poller that must run on this CPU. */
static const struct frame_row *resident(const struct frame *frame, int64_t cpu)
{
    RULE_EACH(thread, frame, TABLE_THREADS)
    if (rule_only_cpu(thread) == cpu && (rule_is_poller(thread) || rule_has_role(thread, "vcpu")) &&
        demand(frame, thread) >= 50)
        return thread;
    return NULL;
}

static void check_helpers(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(thread, frame, TABLE_THREADS)
    {
        bool helper = rule_has_role(thread, "emulator") || rule_has_role(thread, "iothread") ||
                      rule_has_role(thread, "vhost");
        double run = thread_number(frame, thread, "run_pct");
        const struct frame_row *victim = helper && run >= 15 ? resident(frame, rule_cpu_of(thread)) : NULL;
        if (!victim || !(thread_number(frame, victim, "steal_pct") >= 5))
            continue;
        char name[96], theirs[96];
        join_thread_name(name, sizeof(name), frame, thread);
        join_thread_name(theirs, sizeof(theirs), frame, victim);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, run, "%s on %s", name, theirs);
        snprintf(f->text, sizeof(f->text), "%s runs %.0f %% on CPU %lld, the only one of %s", name, run,
                 (long long)rule_cpu_of(thread), theirs);
        if (rule_has_role(thread, "emulator"))
            snprintf(f->advice, sizeof(f->advice), "virsh emulatorpin %s %lld",
                     RULE_TEXT(thread, struct threads_info, vm),
                     (long long)rule_free_cpu(frame, rule_cpu_of(thread)));
        else
            rule_advise_move(f->advice, sizeof(f->advice), frame, thread);
    }
}

static void check_interrupts(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        const char *irqs = JOIN_TEXT(row, struct cpus_info, irqs);
        uint64_t cpu = ((const struct cpus_info *)row->part.cur->info)->cpu;
        double softirq = join_number(frame, TABLE_CPUS, row, "softirq_pct");
        const struct frame_row *victim =
            irqs && *irqs && softirq >= 10 ? resident(frame, (int64_t)cpu) : NULL;
        if (!victim)
            continue;
        char theirs[96];
        join_thread_name(theirs, sizeof(theirs), frame, victim);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, softirq, "interrupts on CPU %llu",
                                        (unsigned long long)cpu);
        snprintf(f->text, sizeof(f->text),
                 "CPU %llu, the only one of %s, spends %.0f %% on soft interrupts and serves %s",
                 (unsigned long long)cpu, theirs, softirq, irqs);
        snprintf(f->advice, sizeof(f->advice), "move the interrupts: /proc/irq/N/smp_affinity_list");
    }
}

void check_helper_on_cpu(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_helpers(rule, frame, out);
    check_interrupts(rule, frame, out);
}

void check_numa(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(path, frame, TABLE_PATHS)
    {
        double pps = join_number(frame, TABLE_PATHS, path, "to_guest_pps") +
                     join_number(frame, TABLE_PATHS, path, "from_guest_pps");
        struct cell match = frame_cell(frame, path, column_find(table_get(TABLE_PATHS), "numa_match"));
        if (match.kind != CELL_STR || strcmp(match.str, "no") != 0 || !(pps >= 1000))
            continue;
        const char *vm = RULE_TEXT(path, struct paths_info, vm),
                   *nic = RULE_TEXT(path, struct paths_info, nic);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, 1, "%s %s", vm, nic);
        snprintf(f->text, sizeof(f->text),
                 "%s %s crosses NUMA nodes: vCPU, serving thread and port are not on one", vm, nic);
        snprintf(f->advice, sizeof(f->advice), "virsh numatune %s; vnettop's Pins shows who is where", vm);
    }
}

void check_vhost_saturated(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(thread, frame, TABLE_THREADS)
    {
        double run = thread_number(frame, thread, "run_pct");
        if (!rule_has_role(thread, "vhost") || !(run >= 95))
            continue;
        char name[96];
        join_thread_name(name, sizeof(name), frame, thread);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, run, "%s", name);
        snprintf(f->text, sizeof(f->text), "%s is on a CPU %.0f %% of the time: its queue can carry no more",
                 name, run);
        snprintf(f->advice, sizeof(f->advice), "virsh edit %s, <driver name='vhost' queues='N'/>",
                 RULE_TEXT(thread, struct threads_info, vm));
    }
}

void check_host_steal(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    double worst = 0;
    uint64_t cpu = 0;
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        double steal = join_number(frame, TABLE_CPUS, row, "steal_pct");
        if (steal > worst) {
            worst = steal;
            cpu = ((const struct cpus_info *)row->part.cur->info)->cpu;
        }
    }
    if (!(worst >= 10))
        return;
    struct finding *f = finding_add(out, rule, SEVERITY_WATCH, worst, "host");
    snprintf(f->text, sizeof(f->text),
             "this host is itself a virtual machine: CPU %llu loses %.0f %% to the hypervisor below",
             (unsigned long long)cpu, worst);
}

static void check_cpu_number(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                             const char *key, double limit, const char *format, const char *advice)
{
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        double value = join_number(frame, TABLE_CPUS, row, key);
        unsigned long long cpu = ((const struct cpus_info *)row->part.cur->info)->cpu;
        if (!(value >= limit))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, value, "CPU %llu", cpu);
        snprintf(f->text, sizeof(f->text), format, cpu, value,
                 join_number(frame, TABLE_CPUS, row, "softirq_pct"));
        snprintf(f->advice, sizeof(f->advice), "%s", advice);
    }
}

void check_softnet(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    size_t before = out->n;
    check_cpu_number(rule, frame, out, "softnet_drop_pps", 1,
                     "CPU %llu drops %.0f packets/s before any port sees them: its receive backlog is full "
                     "(soft interrupts %.0f %%)",
                     "sysctl net.core.netdev_max_backlog; or spread the load: RPS, more queues");
    for (size_t i = before; i < out->n; i++)
        out->findings[i].cost_pps = out->findings[i].value;
}

void check_squeeze(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_cpu_number(
        rule, frame, out, "squeezed_per_s", 200,
        "CPU %llu ends its receive loop early %.0f times/s with packets left (soft interrupts %.0f %%)",
        "sysctl net.core.netdev_budget net.core.netdev_budget_usecs");
}

static void pmd_name(char *out, size_t size, const struct frame_row *pmd)
{
    const struct pmds_info *info = (const struct pmds_info *)pmd->part.cur->info;
    if (info_has(info, core))
        snprintf(out, size, "pmd %llu", (unsigned long long)info->core);
    else
        snprintf(out, size, "ovs main thread");
}

static bool is_pmd(const struct frame_row *pmd)
{
    return info_has((const struct pmds_info *)pmd->part.cur->info, core);
}

void check_pmd_preempted(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(pmd, frame, TABLE_PMDS)
    {
        double steal = join_number(frame, TABLE_PMDS, pmd, "steal_pct");
        double times = join_number(frame, TABLE_PMDS, pmd, "involuntary_per_s");
        const char *key = JOIN_TEXT(pmd, struct pmds_info, thread_key);
        const struct frame_row *thread = key ? frame_find(frame, TABLE_THREADS, key) : NULL;
        int64_t cpu = rule_cpu_of(thread);
        if (!is_pmd(pmd) || !(steal >= 3) || cpu < 0)
            continue;
        char name[64], others[200];
        pmd_name(name, sizeof(name), pmd);
        rule_others_on(others, sizeof(others), frame, (uint64_t)cpu, thread);
        struct finding *f =
            finding_add(out, rule, steal >= 10 ? SEVERITY_BAD : SEVERITY_WATCH, steal, "%s", name);
        int n = snprintf(f->text, sizeof(f->text),
                         "%s waits %.0f %% of the time for CPU %lld, where %s ran meanwhile", name, steal,
                         (long long)cpu, others);
        if (times >= 1 && n > 0 && (size_t)n < sizeof(f->text))
            snprintf(f->text + n, sizeof(f->text) - (size_t)n, "; it is preempted %.0f times/s", times);
        snprintf(f->advice, sizeof(f->advice), "keep CPU %lld for it: isolcpus, or pin the others elsewhere",
                 (long long)cpu);
    }
}

/* The queue that takes most of a PMD. */
static void heaviest_queue(char *out, size_t size, const struct frame *frame, const struct frame_row *pmd,
                           unsigned *n)
{
    double most = -1;
    *n = 0;
    out[0] = '\0';
    RULE_EACH(rxq, frame, TABLE_RXQS)
    {
        const char *key = JOIN_TEXT(rxq, struct rxqs_info, pmd_key);
        double usage = join_number(frame, TABLE_RXQS, rxq, "usage_pct");
        if (!key || strcmp(key, pmd->key) != 0)
            continue;
        ++*n;
        if (!(usage > most))
            continue;
        most = usage;
        snprintf(out, size, "%s q%.0f takes %.0f %%", RULE_TEXT(rxq, struct rxqs_info, port),
                 join_number(frame, TABLE_RXQS, rxq, "queue"), usage);
    }
}

void check_pmd_saturated(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(pmd, frame, TABLE_PMDS)
    {
        double busy = join_number(frame, TABLE_PMDS, pmd, "busy_pct"),
               pps = join_number(frame, TABLE_PMDS, pmd, "rx_pps");
        if (!is_pmd(pmd) || !(busy >= 95) || !(pps >= 1000))
            continue;
        char name[64], queue[128];
        unsigned queues;
        pmd_name(name, sizeof(name), pmd);
        heaviest_queue(queue, sizeof(queue), frame, pmd, &queues);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, busy, "%s", name);
        snprintf(f->text, sizeof(f->text), "%s is busy %.0f %% of its cycles at %.0f packets/s%s%s", name,
                 busy, pps, queue[0] ? ": " : "", queue);
        snprintf(f->advice, sizeof(f->advice),
                 queues > 1 ? "ovs-appctl dpif-netdev/pmd-rxq-show, then other_config:pmd-rxq-affinity or "
                              "more cores in pmd-cpu-mask"
                            : "more receive queues for the port (options:n_rxq, guest multiqueue), so that a "
                              "second PMD can help");
    }
}

void check_pmd_unbalanced(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(full, frame, TABLE_PMDS)
    {
        double busy = join_number(frame, TABLE_PMDS, full, "busy_pct");
        unsigned queues;
        char queue[128], name[64], other[64];
        if (!is_pmd(full) || !(busy >= 90))
            continue;
        heaviest_queue(queue, sizeof(queue), frame, full, &queues);
        RULE_EACH(idle, frame, TABLE_PMDS)
        {
            double theirs = join_number(frame, TABLE_PMDS, idle, "busy_pct");
            bool same_node =
                join_number(frame, TABLE_PMDS, idle, "numa") == join_number(frame, TABLE_PMDS, full, "numa");
            if (!is_pmd(idle) || !(theirs <= 40) || !same_node || queues < 2)
                continue;
            pmd_name(name, sizeof(name), full);
            pmd_name(other, sizeof(other), idle);
            struct finding *f = finding_add(out, rule, SEVERITY_WATCH, busy - theirs, "%s", name);
            snprintf(f->text, sizeof(f->text),
                     "%s is busy %.0f %% with %u queues while %s of the same NUMA node is busy %.0f %%", name,
                     busy, queues, other, theirs);
            snprintf(f->advice, sizeof(f->advice), "ovs-appctl dpif-netdev/pmd-rxq-rebalance");
            break;
        }
    }
}
