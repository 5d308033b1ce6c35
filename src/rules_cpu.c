/* SPDX-License-Identifier: MIT */
/* Rules about threads and their CPUs: who waits, who shares, who sits where (see rules.h). */
#include <math.h>
#include <stdlib.h>

#include "src/memory.h"
#include "src/rules.h"

/* --- waiting --- */

/* A quota holds a thread back as a wait for a CPU that nobody else runs on. */
static const char *quota_of(const struct frame *frame, const struct join_thread *thread)
{
    double others = 0;
    const char *quota = thread->vm ? JOIN_TEXT(thread->vm, struct vms_info, cpu_quota) : NULL;
    for (const struct join_thread *t = join_first_on_cpu(frame, thread->cpu); t;
         t = join_next_on_cpu(frame, t))
        others += t != thread && rule_run(t) > 0 ? rule_run(t) : 0;
    const struct join_cpu *cpu = join_cpu(frame, thread->cpu);
    bool idle = cpu && cpu->idle_pct >= rule_steal(thread) / 2;
    return quota && idle && others < rule_steal(thread) / 2 ? quota : NULL;
}

void check_vcpu_steal(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    JOIN_EACH_THREAD(thread, frame)
    {
        double steal = rule_steal(thread);
        if (thread->kind != THREAD_VCPU || !(steal >= 10) || thread->cpu < 0)
            continue;
        struct finding *f =
            finding_add(out, rule, steal >= 30 ? SEVERITY_BAD : SEVERITY_WATCH, steal, thread->row);
        const char *quota = quota_of(frame, thread);
        finding_name(f, "%s", rule_thread(frame, thread).text);
        if (quota) {
            finding_say(f, "%s is held back %.0f %% of the time by its CPU quota (%s us) while its CPU idles",
                        f->object, steal, rule_name(quota).text);
            finding_advise(f, "%s --live vcpu_quota=-1", rule_virsh(thread->vm, "schedinfo").text);
            continue;
        }
        finding_say(f, "%s waits %.0f %% of the time for CPU %lld, where %s ran meanwhile", f->object, steal,
                    (long long)thread->cpu, rule_others_on(frame, thread).text);
        rule_advise_move(f, frame, thread);
    }
}

void check_poller_preempted(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    JOIN_EACH_THREAD(thread, frame)
    {
        double steal = rule_steal(thread);
        if (!join_is_poller(thread) || !(steal >= 3) || thread->cpu < 0)
            continue;
        double times = RULE_NUMBER(frame, thread->row, threads, involuntary_per_s);
        struct finding *f =
            finding_add(out, rule, steal >= 10 ? SEVERITY_BAD : SEVERITY_WATCH, steal, thread->row);
        finding_name(f, "%s", rule_thread(frame, thread).text);
        finding_say(f, "%s waits %.0f %% of the time for CPU %lld, where %s ran meanwhile", f->object, steal,
                    (long long)thread->cpu, rule_others_on(frame, thread).text);
        if (times >= 1)
            finding_say(f, "; it is preempted %.0f times/s", times);
        finding_advise(f, "keep CPU %lld for it: isolcpus, or pin the others elsewhere",
                       (long long)thread->cpu);
    }
}

/* --- two on one CPU --- */

#define TENANTS 8

/* The threads that must run on one CPU and want some of it. */
struct tenants {
    unsigned n, pollers;
    const struct join_thread *threads[TENANTS];
    double wanted, ran;
};

static struct tenants tenants_of(const struct frame *frame, int64_t cpu)
{
    struct tenants t = {0};
    for (const struct join_thread *thread = join_first_bound(frame, cpu); thread;
         thread = join_next_bound(frame, thread)) {
        double wants = rule_demand(thread);
        if (!(wants >= 15))
            continue;
        if (t.n < TENANTS)
            t.threads[t.n] = thread;
        t.n++;
        t.wanted += wants;
        t.ran += rule_run(thread);
        t.pollers += join_is_poller(thread);
    }
    return t;
}

static void say_tenants(struct finding *f, const struct frame *frame, const struct tenants *t)
{
    unsigned told = t->n < 4 ? t->n : 4;
    for (unsigned i = 0; i < told; i++)
        finding_say(f, "%s%s (run %.0f %%, waits %.0f %%)", i == 0 ? "" : ", ",
                    rule_thread(frame, t->threads[i]).text, rule_run(t->threads[i]),
                    rule_steal(t->threads[i]));
    if (t->n > told)
        finding_say(f, ", %u more", t->n - told);
}

/* Who should go: the last that is no poller, of pollers alone the last. */
static const struct join_thread *who_goes(const struct tenants *t)
{
    unsigned n = t->n < TENANTS ? t->n : TENANTS;
    for (unsigned i = n; i-- > 0;)
        if (!join_is_poller(t->threads[i]))
            return t->threads[i];
    return t->threads[n - 1];
}

static void check_tenants(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                          bool polled)
{
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        int64_t cpu = (int64_t)((const struct cpus_info *)row->part.cur->info)->cpu;
        struct tenants t = tenants_of(frame, cpu);
        /* Where they have little of it, somebody else is in their way. */
        if (t.n < 2 || !(t.wanted > 105) || !(t.ran >= 60) || (t.pollers > 0) != polled)
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_BAD, t.wanted, row);
        finding_name(f, "CPU %lld", (long long)cpu);
        finding_say(f, "CPU %lld is the only one for %u threads that want %.0f %% of it: ", (long long)cpu,
                    t.n, t.wanted);
        say_tenants(f, frame, &t);
        rule_advise_move(f, frame, who_goes(&t));
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

/* --- the other half of a core --- */

static void find_siblings(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                          const struct join_thread *poller, int64_t cpu)
{
    for (const struct join_thread *other = join_first_on_cpu(frame, cpu); other;
         other = join_next_on_cpu(frame, other)) {
        double run = rule_run(other);
        bool told_already = join_is_poller(other) && rule_run(poller) >= 50 && other < poller;
        if (!(run >= 50) || told_already)
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, run, poller->row);
        finding_distinguish(f, other->row->hash);
        finding_name(f, "%s and %s", rule_thread(frame, poller).text, rule_thread(frame, other).text);
        finding_say(f, "%s polls on CPU %lld and %s runs %.0f %% on CPU %lld, the other half of that core",
                    rule_thread(frame, poller).text, (long long)poller->cpu, rule_thread(frame, other).text,
                    run, (long long)cpu);
        rule_advise_move(f, frame, other);
    }
}

void check_smt_sibling(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    JOIN_EACH_THREAD(poller, frame)
    {
        const struct join_cpu *cpu = join_is_poller(poller) ? join_cpu(frame, poller->cpu) : NULL;
        const char *siblings = cpu && cpu->row ? JOIN_TEXT(cpu->row, struct cpus_info, siblings) : NULL;
        if (!siblings || !(rule_run(poller) >= 50) || join_list_count(siblings) < 2)
            continue;
        RULE_EACH(row, frame, TABLE_CPUS)
        {
            int64_t other = (int64_t)((const struct cpus_info *)row->part.cur->info)->cpu;
            if (other != poller->cpu && join_list_has(siblings, (uint64_t)other))
                find_siblings(rule, frame, out, poller, other);
        }
    }
}

/* --- on a CPU that is somebody's own --- */

/* A poller's, or the only one of a vCPU. */
static bool owns(const struct join_thread *thread, int64_t cpu, double wants)
{
    bool its =
        join_is_poller(thread) ? thread->cpu == cpu : thread->kind == THREAD_VCPU && thread->only_cpu == cpu;
    return its && rule_demand(thread) >= wants;
}

static const struct join_thread *owner_of(const struct frame *frame, int64_t cpu, double wants)
{
    for (const struct join_thread *t = join_first_bound(frame, cpu); t; t = join_next_bound(frame, t))
        if (owns(t, cpu, wants))
            return t;
    for (const struct join_thread *t = join_first_on_cpu(frame, cpu); t; t = join_next_on_cpu(frame, t))
        if (owns(t, cpu, wants))
            return t;
    return NULL;
}

/* CPUs that are somebody's own. */
struct owners {
    size_t n;
    const struct join_thread **threads;
    int64_t *cpus;
};

static struct owners find_owners(const struct frame *frame)
{
    struct owners owners = {0};
    size_t most = frame->table[TABLE_CPUS].n;
    owners.threads = xrealloc(NULL, most, sizeof(const struct join_thread *));
    owners.cpus = xrealloc(NULL, most, sizeof(*owners.cpus));
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        int64_t cpu = (int64_t)((const struct cpus_info *)row->part.cur->info)->cpu;
        const struct join_thread *owner = owner_of(frame, cpu, 30);
        if (!owner)
            continue;
        owners.cpus[owners.n] = cpu;
        owners.threads[owners.n++] = owner;
    }
    return owners;
}

static void free_owners(struct owners *owners)
{
    free(owners->threads);
    free(owners->cpus);
}

/* The owner, not of this VM, of a CPU among those that the list allows. */
static const struct join_thread *owner_among(const struct owners *owners, const char *allowed,
                                             const struct frame_row *not_vm)
{
    for (size_t i = 0; i < owners->n; i++)
        if (owners->threads[i]->vm != not_vm && join_list_has(allowed, (uint64_t)owners->cpus[i]))
            return owners->threads[i];
    return NULL;
}

static bool floats(const struct frame *frame, const struct join_thread *thread)
{
    return thread->kind == THREAD_VCPU && thread->allowed && !join_is_pinned(frame, thread->allowed);
}

/* The floating vCPU of the VM that runs most. */
static const struct join_thread *floating_vcpu(const struct frame *frame, const struct frame_row *vm)
{
    const struct join_thread *best = NULL;
    for (const struct frame_row *row = join_first_thread(frame, vm); row;
         row = join_next_thread(frame, row)) {
        const struct join_thread *thread = join_thread_of(frame, row);
        if (floats(frame, thread) && (!best || rule_run(thread) > rule_run(best)))
            best = thread;
    }
    return best;
}

void check_floating(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    struct owners owners = find_owners(frame);
    RULE_EACH(vm, frame, TABLE_VMS)
    {
        const struct join_thread *vcpu = owners.n ? floating_vcpu(frame, vm) : NULL;
        double run = vcpu ? RULE_NUMBER(frame, vm, vms, run_pct) : NAN;
        const struct join_thread *owner = run >= 20 ? owner_among(&owners, vcpu->allowed, vm) : NULL;
        if (!owner)
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, run, vm);
        finding_name(f, "%s", rule_name(JOIN_TEXT(vm, struct vms_info, name)).text);
        finding_say(f, "%s floats over CPUs %s, among them the one of %s; its vCPUs run %.0f %%", f->object,
                    rule_name(vcpu->allowed).text, rule_thread(frame, owner).text, run);
        rule_advise_move(f, frame, vcpu);
    }
    free_owners(&owners);
}

static bool is_helper(const struct join_thread *thread)
{
    return thread->kind == THREAD_EMULATOR || thread->kind == THREAD_IOTHREAD || thread->kind == THREAD_VHOST;
}

static void check_helpers(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    JOIN_EACH_THREAD(thread, frame)
    {
        double run = is_helper(thread) ? rule_run(thread) : NAN;
        const struct join_thread *victim = run >= 15 ? owner_of(frame, thread->cpu, 50) : NULL;
        if (!victim || !(rule_steal(victim) >= 5))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, run, thread->row);
        finding_distinguish(f, victim->row->hash);
        finding_name(f, "%s on %s", rule_thread(frame, thread).text, rule_thread(frame, victim).text);
        finding_say(f, "%s runs %.0f %% on CPU %lld, the only one of %s, which waits %.0f %% of the time",
                    rule_thread(frame, thread).text, run, (long long)thread->cpu,
                    rule_thread(frame, victim).text, rule_steal(victim));
        rule_advise_move(f, frame, thread);
    }
}

static void check_interrupts(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        const char *irqs = JOIN_TEXT(row, struct cpus_info, irqs);
        int64_t cpu = (int64_t)((const struct cpus_info *)row->part.cur->info)->cpu;
        double softirq = irqs && *irqs ? RULE_NUMBER(frame, row, cpus, softirq_pct) : NAN;
        const struct join_thread *victim = softirq >= 10 ? owner_of(frame, cpu, 50) : NULL;
        if (!victim)
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, softirq, row);
        finding_name(f, "interrupts on CPU %lld", (long long)cpu);
        finding_say(f, "CPU %lld, the only one of %s, spends %.0f %% on soft interrupts and serves %s",
                    (long long)cpu, rule_thread(frame, victim).text, softirq, rule_name(irqs).text);
        finding_advise(f, "move the interrupts: /proc/irq/N/smp_affinity_list");
    }
}

void check_helper_on_cpu(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_helpers(rule, frame, out);
    check_interrupts(rule, frame, out);
}

void check_vhost_saturated(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    JOIN_EACH_THREAD(thread, frame)
    {
        if (thread->kind != THREAD_VHOST || !(rule_run(thread) >= 95))
            continue;
        struct rule_word edit = rule_virsh(thread->vm, "edit");
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, rule_run(thread), thread->row);
        finding_name(f, "%s", rule_thread(frame, thread).text);
        finding_say(f, "%s is on a CPU %.0f %% of the time: its queue can carry no more", f->object,
                    rule_run(thread));
        if (edit.text[0])
            finding_advise(f, "%s: <driver name='vhost' queues='N'/>", edit.text);
        else
            finding_advise(f, "start it with -netdev tap,...,vhost=on,queues=N");
    }
}
