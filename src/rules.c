/* SPDX-License-Identifier: MIT */
/* The table of rules, and what their checks share (see rules.h). */
#include "src/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
const struct rule rules[] = {
    {"guest-not-draining", "%", "qemu or libvirt, netlink or ovs", "a guest does not take what is sent to its NIC, and why: stopped, its vCPU stolen, saturated or asleep", check_not_draining},
    {"vcpu-steal", "%", "qemu or libvirt", "a vCPU waits for its CPU, and who runs there meanwhile", check_vcpu_steal},
    {"poller-shares-cpu", "%", "ovs or dpdk, qemu", "a thread may only run on a CPU where a PMD or lcore polls", check_poller_shares},
    {"cpu-shared", "%", "qemu", "two busy threads may only run on one and the same CPU", check_cpu_shared},
    {"pmd-preempted", "%", "ovs", "a PMD loses its CPU to others: packets wait, rings fill", check_pmd_preempted},
    {"pmd-saturated", "%", "ovs", "a PMD is busy all the time, and the queue that fills it", check_pmd_saturated},
    {"pmd-unbalanced", "%", "ovs", "one PMD is full while another of its NUMA node idles", check_pmd_unbalanced},
    {"nic-missed", "pps", "netlink, ovs or dpdk", "a NIC's ring was full: its CPU or poller was too slow", check_missed},
    {"no-mbuf", "pps", "ovs or dpdk", "receive failed for want of packet buffers", check_nombuf},
    {"tap-unread", "pps", "netlink", "a tap that no known VM reads is full", check_tap_unread},
    {"qdisc-drops", "pps", "netlink", "a queueing discipline drops", check_qdisc},
    {"mtu-drops", "pps", "ovs", "packets larger than the port's MTU", check_mtu},
    {"policer-drops", "pps", "ovs", "packets over a policer's rate", check_policer},
    {"upcalls-lost", "/s", "ovs", "flow misses that the slow path could not take", check_upcalls_lost},
    {"upcall-storm", "/s", "ovs", "many packets match no flow and take the slow path", check_upcalls},
    {"flow-limit", "%", "ovs", "the datapath holds nearly as many flows as are allowed", check_flow_limit},
    {"emc-thrash", "%", "ovs", "the exact match cache misses mostly: more flows than it holds", check_emc},
    {"pipeline-drops", "/s", "ovs", "the flow table itself says drop", check_pipeline},
    {"main-thread", "pps", "ovs", "packets of a userspace datapath that no PMD polls: vswitchd's main thread carries them", check_main_thread},
    {"softnet-drops", "pps", "host", "a CPU's receive backlog was full", check_softnet},
    {"softnet-squeeze", "/s", "host", "a CPU's receive loop runs out of its budget", check_squeeze},
    {"port-errors", "pps", "netlink", "bad packets, or sends that failed", check_errors},
    {"carrier-flaps", "/s", "netlink", "a link goes up and down", check_flaps},
    {"veth-drops", "pps", "netlink", "a veth drops what its peer's CPU does not take", check_veth},
    {"vhost-saturated", "%", "qemu", "a vhost worker is busy all the time: one CPU is the limit of its queue", check_vhost_saturated},
    {"helper-on-busy-cpu", "%", "qemu, host", "an emulator, I/O or vhost thread, or a NIC's interrupts, on a pinned vCPU's or poller's CPU", check_helper_on_cpu},
    {"smt-sibling", "%", "host, qemu or ovs", "a busy thread on the other half of a poller's core", check_smt_sibling},
    {"numa-crossing", "", "host, qemu", "vCPU, serving thread and port are not on one NUMA node", check_numa},
    {"floating-vcpus", "%", "qemu", "a busy VM floats over CPUs that others are pinned to or poll on", check_floating},
    {"emulated-nic", "pps", "qemu or libvirt", "an emulated NIC where virtio would do", check_emulated},
    {"single-queue", "%", "qemu or libvirt", "one queue feeds one vCPU, which is full, while the guest's others idle", check_single_queue},
    {"host-steal", "%", "host", "the host is itself a virtual machine and loses CPU time", check_host_steal},
};
// clang-format on

const size_t n_rules = sizeof(rules) / sizeof(rules[0]);

const char *rule_text(const struct frame_row *row, size_t info_offset)
{
    const char *text = row ? join_text(row, info_offset) : NULL;
    return text ? text : "?";
}

int64_t rule_cpu_of(const struct frame_row *thread)
{
    const struct part *part = thread ? frame_row_part(thread, ROW_SLOT(struct threads_row, cpu)) : NULL;
    return part ? (int64_t)((const struct threads_row *)part->cur)->cpu : -1;
}

int64_t rule_only_cpu(const struct frame_row *thread)
{
    const char *allowed = JOIN_TEXT(thread, struct threads_info, allowed_cpus);
    return allowed && join_list_count(allowed) == 1 ? (int64_t)strtoul(allowed, NULL, 10) : -1;
}

bool rule_has_role(const struct frame_row *thread, const char *role)
{
    const char *text = JOIN_TEXT(thread, struct threads_info, role);
    return text && strcmp(text, role) == 0;
}

bool rule_is_poller(const struct frame_row *thread)
{
    return rule_has_role(thread, "pmd") || rule_has_role(thread, "lcore") || rule_has_role(thread, "vpp");
}

void rule_others_on(char *out, size_t size, const struct frame *frame, uint64_t cpu,
                    const struct frame_row *but)
{
    size_t used = 0;
    out[0] = '\0';
    RULE_EACH(thread, frame, TABLE_THREADS)
    {
        double run = join_number(frame, TABLE_THREADS, thread, "run_pct");
        if (thread == but || rule_cpu_of(thread) != (int64_t)cpu || !(run >= 5))
            continue;
        char name[96];
        join_thread_name(name, sizeof(name), frame, thread);
        int n = snprintf(out + used, size - used, "%s%s %.0f %%", used ? ", " : "", name, run);
        if (n < 0 || (size_t)n >= size - used)
            break;
        used += (size_t)n;
    }
    if (used == 0)
        snprintf(out, size, "other tasks of the host");
}

int64_t rule_free_cpu(const struct frame *frame, int64_t leave)
{
    int64_t best = -1;
    double most = 50;
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        int64_t cpu = (int64_t)((const struct cpus_info *)row->part.cur->info)->cpu;
        double idle = join_number(frame, TABLE_CPUS, row, "idle_pct");
        if (cpu == leave || !(idle > most))
            continue;
        bool polled = false;
        RULE_EACH(thread, frame, TABLE_THREADS)
        polled = polled || (rule_is_poller(thread) && rule_cpu_of(thread) == cpu);
        if (!polled) {
            most = idle;
            best = cpu;
        }
    }
    return best;
}

void rule_advise_move(char *out, size_t size, const struct frame *frame, const struct frame_row *thread)
{
    int64_t cpu = rule_free_cpu(frame, rule_cpu_of(thread));
    const char *key = JOIN_TEXT(thread, struct threads_info, vm_key);
    const struct frame_row *vm = key ? frame_find(frame, TABLE_VMS, key) : NULL;
    double index = join_number(frame, TABLE_THREADS, thread, "index"),
           tid = join_number(frame, TABLE_THREADS, thread, "tid");
    out[0] = '\0';
    if (cpu < 0)
        return;
    if (vm && JOIN_TEXT(vm, struct vms_info, uri) && index >= 0)
        snprintf(out, size, "virsh vcpupin %s %.0f %lld", RULE_TEXT(vm, struct vms_info, name), index,
                 (long long)cpu);
    else if (tid > 0)
        snprintf(out, size, "taskset -pc %lld %.0f", (long long)cpu, tid);
}
