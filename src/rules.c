/* SPDX-License-Identifier: MIT */
/* The table of rules, and what their checks share (see rules.h). */
#include "src/rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/text.h"

// clang-format off
const struct rule rules[] = {
    {"guest-not-draining", "%", "qemu or libvirt, netlink or ovs", "a guest does not take what is sent to its NIC, and why: stopped, its vCPU or the thread that serves it stolen or saturated, or asleep", check_not_draining, 0},
    {"vcpu-steal", "%", "qemu", "a vCPU waits for its CPU, and who runs there meanwhile", check_vcpu_steal, 0},
    {"poller-shares-cpu", "%", "ovs or dpdk, qemu", "a busy thread may only run on a CPU where a PMD or lcore polls", check_poller_shares, 0},
    {"cpu-shared", "%", "qemu", "two busy threads may only run on one and the same CPU", check_cpu_shared, 0},
    {"poller-preempted", "%", "ovs or dpdk", "a PMD or lcore loses its CPU to others: packets wait, rings fill", check_poller_preempted, 0},
    {"pmd-saturated", "%", "ovs", "a PMD is busy all the time, and the queue that fills it", check_pmd_saturated, 0},
    {"pmd-unbalanced", "%", "ovs", "one PMD is full while another of its NUMA node idles", check_pmd_unbalanced, 0},
    {"nic-missed", "pps", "netlink, ovs or dpdk", "a NIC's ring was full: its CPU or poller was too slow", check_missed, 0},
    {"no-mbuf", "pps", "ovs or dpdk", "receive failed for want of packet buffers", check_nombuf, 0},
    {"tap-unread", "pps", "netlink", "a tap that no known VM reads is full", check_tap_unread, 0},
    {"bridge-loss", "%", "netlink", "a Linux bridge loses packets that no counter owns, and a port of it is down or has a smaller MTU", check_bridge_loss, 0},
    {"qdisc-drops", "pps", "netlink", "a queueing discipline drops", check_qdisc, 0},
    {"mtu-drops", "pps", "ovs", "packets larger than the port's MTU", check_mtu, 0},
    {"policer-drops", "pps", "ovs", "packets over a policer's or a meter's rate", check_policer, 0},
    {"upcalls-lost", "/s", "ovs", "flow misses that the slow path could not take", check_upcalls_lost, 0},
    {"upcall-storm", "/s", "ovs", "many packets match no flow and take the slow path", check_upcalls, 0},
    {"flow-limit", "%", "ovs", "the datapath holds nearly as many flows as are allowed", check_flow_limit, 0},
    {"cache-thrash", "%", "ovs", "the exact match cache misses mostly: more flows than it holds", check_cache_thrash, 0},
    {"pipeline-drops", "/s", "ovs", "the flow table itself says drop", check_pipeline, 0},
    {"datapath-drops", "/s", "ovs", "the datapath drops packets that it cannot treat, and why", check_datapath_drops, 0},
    {"main-thread", "pps", "ovs", "packets of a userspace datapath that no PMD polls: vswitchd's main thread carries them", check_main_thread, 0},
    {"softnet-drops", "pps", "host", "a CPU's receive backlog was full", check_softnet, 0},
    {"softnet-squeeze", "/s", "host", "a CPU's receive loop runs out of its budget", check_squeeze, 0},
    {"port-errors", "pps", "netlink", "bad packets, or sends that failed", check_errors, 0},
    {"carrier-flaps", "", "netlink", "a link goes up and down: carrier changes within a minute", check_flaps, 4},
    {"veth-drops", "pps", "netlink", "a veth drops what its peer's CPU does not take", check_veth, 0},
    {"af-packet", "pps", "dpdk", "a port that DPDK reads through the kernel loses packets", check_af_packet, 0},
    {"vhost-saturated", "%", "qemu", "a vhost worker is busy all the time: one CPU is the limit of its queue", check_vhost_saturated, 0},
    {"helper-on-busy-cpu", "%", "qemu, host", "an emulator, I/O or vhost thread, or a NIC's interrupts, on a pinned vCPU's or poller's CPU", check_helper_on_cpu, 0},
    {"smt-sibling", "%", "host, qemu or ovs", "a busy thread on the other half of a poller's core", check_smt_sibling, 0},
    {"numa-crossing", "nodes", "host, qemu", "a guest's vCPUs, their memory, the serving thread, the port and the NICs are not on one NUMA node, or a PMD polls a NIC of another", check_numa, 0},
    {"floating-vcpus", "%", "qemu", "a busy VM floats over CPUs that others are pinned to or poll on", check_floating, 0},
    {"emulated-nic", "pps", "qemu or libvirt", "an emulated NIC where virtio would do", check_emulated, 0},
    {"single-queue", "%", "qemu or libvirt", "one queue feeds one vCPU, which is full, while the guest's others idle", check_single_queue, 0},
    {"cpu-governor", "CPUs", "host, qemu or ovs", "a CPU that carries much traffic is clocked by load, so that results vary", check_governor, 0},
    {"cpu-idle-states", "/s", "host, qemu or ovs", "a CPU that carries much traffic falls into idle states that take long to leave", check_idle_states, 0},
    {"host-steal", "%", "host", "the host is itself a virtual machine and loses CPU time", check_host_steal, 0},
    {"source-silent", "s", "no source", "a source does not answer any more: its rows are old, and no rule believes them", check_source_silent, 0},
    {"observer-slow", "%", "no source", "vnettop cannot keep its interval: a source takes as long to read as there is time", check_observer_slow, 0},
};
// clang-format on

const size_t n_rules = sizeof(rules) / sizeof(rules[0]);

double rule_number(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    if (!row)
        return NAN;
    struct cell cell = frame_cell(frame, row, column);
    return cell_is_number(&cell) && !cell.stale ? cell_number(&cell) : NAN;
}

/* --- names --- */

struct rule_name rule_name(const char *text)
{
    struct rule_name name;
    join_short_text(name.text, sizeof(name.text), text ? text : "?");
    return name;
}

static bool is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";
    return *text && strspn(text, plain) == strlen(text);
}

static bool is_printable(const char *text)
{
    char visible[1024];
    text_visible(visible, sizeof(visible), text);
    return strcmp(visible, text) == 0;
}

/* '...' with each ' as '\'' : nothing in between means anything to a shell. */
static void quote(char *out, size_t size, const char *text)
{
    size_t used = 0;
    out[used++] = '\'';
    for (; *text; text++) {
        const char *part = *text == '\'' ? "'\\''" : (char[]){*text, '\0'};
        if (used + strlen(part) + 2 > size) {
            out[0] = '\0';
            return;
        }
        memcpy(out + used, part, strlen(part));
        used += strlen(part);
    }
    out[used++] = '\'';
    out[used] = '\0';
}

struct rule_word rule_word(const char *text)
{
    struct rule_word word = {""};
    if (!text || !is_printable(text))
        return word;
    if (!is_plain(text))
        quote(word.text, sizeof(word.text), text);
    else if (strlen(text) < sizeof(word.text))
        strcpy(word.text, text);
    return word;
}

struct rule_name rule_thread(const struct frame *frame, const struct join_thread *thread)
{
    struct rule_name name;
    char text[96];
    join_thread_name(text, sizeof(text), frame, thread->row);
    join_short_text(name.text, sizeof(name.text), text);
    return name;
}

struct rule_rate rule_rate(double per_s)
{
    struct rule_rate rate;
    if (per_s >= 1e6)
        snprintf(rate.text, sizeof(rate.text), "%.2fM/s", per_s / 1e6);
    else if (per_s >= 1e4)
        snprintf(rate.text, sizeof(rate.text), "%.1fk/s", per_s / 1e3);
    else
        snprintf(rate.text, sizeof(rate.text), "%.0f/s", per_s);
    return rate;
}

struct rule_name rule_port(const struct frame_row *port)
{
    return rule_name(JOIN_TEXT(port, struct ports_info, name));
}

struct rule_word rule_port_word(const struct frame_row *port)
{
    return rule_word(JOIN_TEXT(port, struct ports_info, name));
}

bool rule_port_is(const struct frame_row *port, const char *kind)
{
    const char *text = JOIN_TEXT(port, struct ports_info, kind);
    return text && strcmp(text, kind) == 0;
}

struct rule_name rule_nic(const struct frame_row *path)
{
    struct rule_name name;
    const char *vm = JOIN_TEXT(path, struct paths_info, vm), *nic = JOIN_TEXT(path, struct paths_info, nic);
    char vm_text[31], nic_text[17];
    join_short_text(vm_text, sizeof(vm_text), vm ? vm : "?");
    join_short_text(nic_text, sizeof(nic_text), nic ? nic : "?");
    snprintf(name.text, sizeof(name.text), "%s %s", vm_text, nic_text);
    return name;
}

/* --- threads --- */

double rule_run(const struct join_thread *thread)
{
    return thread && !thread->stale ? thread->run_pct : NAN;
}

double rule_steal(const struct join_thread *thread)
{
    return thread && !thread->stale ? thread->steal_pct : NAN;
}

double rule_demand(const struct join_thread *thread)
{
    return rule_run(thread) + rule_steal(thread);
}

#define WORTH_NAMING 5 /* percent of a CPU */

struct rule_list rule_others_on(const struct frame *frame, const struct join_thread *thread)
{
    struct rule_list list = {""};
    size_t used = 0, left_out = 0;
    for (const struct join_thread *t = join_first_on_cpu(frame, thread->cpu); t;
         t = join_next_on_cpu(frame, t)) {
        char item[96];
        if (t == thread || !(rule_run(t) >= WORTH_NAMING))
            continue;
        snprintf(item, sizeof(item), "%s%s %.0f %%", used ? ", " : "", rule_thread(frame, t).text,
                 rule_run(t));
        if (left_out || used + strlen(item) + 24 > sizeof(list.text))
            left_out++;
        else
            used += (size_t)snprintf(list.text + used, sizeof(list.text) - used, "%s", item);
    }
    if (left_out)
        snprintf(list.text + used, sizeof(list.text) - used, ", %zu more", left_out);
    if (used == 0)
        snprintf(list.text, sizeof(list.text), "other tasks of the host");
    return list;
}

/* --- advice --- */

/* A name that virsh takes for what it is: a number is taken for an id, a dash for an option. Else its UUID.
 */
static struct rule_word domain_word(const struct frame_row *vm)
{
    const char *name = JOIN_TEXT(vm, struct vms_info, name);
    bool number = name && name[strspn(name, "0123456789")] == '\0';
    struct rule_word word = {""};
    if (name && strlen(name) <= 64 && !number && name[0] != '-')
        word = rule_word(name);
    return word.text[0] ? word : rule_word(JOIN_TEXT(vm, struct vms_info, uuid));
}

struct rule_word rule_virsh(const struct frame_row *vm, const char *command)
{
    struct rule_word word = {""}, domain, connection;
    const char *uri = vm ? JOIN_TEXT(vm, struct vms_info, uri) : NULL;
    if (!uri)
        return word;
    domain = domain_word(vm);
    connection = rule_word(uri);
    bool usual = strcmp(uri, "qemu:///system") == 0;
    int n = snprintf(word.text, sizeof(word.text), "virsh %s%s%s%s %s", usual ? "" : "-c ",
                     usual ? "" : connection.text, usual ? "" : " ", command, domain.text);
    if (!domain.text[0] || !connection.text[0] || n < 0 || (size_t)n >= sizeof(word.text))
        word.text[0] = '\0';
    return word;
}

static bool same_node(const struct frame *frame, int64_t a, int64_t b)
{
    const struct join_cpu *x = join_cpu(frame, a), *y = join_cpu(frame, b);
    uint64_t node, other;
    return x && y && x->row && y->row && join_info_number(x->row, offsetof(struct cpus_info, numa), &node) &&
           join_info_number(y->row, offsetof(struct cpus_info, numa), &other) && node == other;
}

int64_t rule_free_cpu(const struct frame *frame, const struct join_thread *thread)
{
    int64_t best = -1;
    double most = 50;
    RULE_EACH(row, frame, TABLE_CPUS)
    {
        int64_t number = (int64_t)((const struct cpus_info *)row->part.cur->info)->cpu;
        const struct join_cpu *cpu = join_cpu(frame, number);
        if (!cpu || cpu->row != row || number == thread->cpu || cpu->polled || cpu->crowded ||
            !(cpu->idle_pct > 50))
            continue;
        double room = cpu->idle_pct + (same_node(frame, number, thread->cpu) ? 100 : 0);
        if (!(room > most))
            continue;
        most = room;
        best = number;
    }
    return best;
}

/* libvirt keeps vhost workers and what else is not a vCPU or iothread where it keeps the emulator. */
static void advise_virsh(struct finding *finding, const struct join_thread *thread, uint64_t index,
                         int64_t cpu)
{
    bool vcpu = thread->kind == THREAD_VCPU, iothread = thread->kind == THREAD_IOTHREAD;
    struct rule_word virsh = rule_virsh(thread->vm, vcpu       ? "vcpupin"
                                                    : iothread ? "iothreadpin"
                                                               : "emulatorpin");
    if (!virsh.text[0])
        return;
    if (vcpu || iothread)
        finding_advise(finding, "%s %llu %lld", virsh.text, (unsigned long long)index, (long long)cpu);
    else
        finding_advise(finding, "%s %lld", virsh.text, (long long)cpu);
}

void rule_advise_move(struct finding *finding, const struct frame *frame, const struct join_thread *thread)
{
    int64_t cpu = rule_free_cpu(frame, thread);
    uint64_t index = 0, tid;
    bool numbered = join_info_number(thread->row, offsetof(struct threads_info, index), &index);
    bool by_index = thread->kind == THREAD_VCPU || thread->kind == THREAD_IOTHREAD;
    finding->advice[0] = '\0';
    if (cpu < 0)
        return;
    if (thread->kind == THREAD_PMD)
        finding_advise(finding,
                       "ovs-vsctl set Open_vSwitch . other_config:pmd-cpu-mask=MASK, with CPU %lld in it",
                       (long long)cpu);
    else if (thread->vm && JOIN_TEXT(thread->vm, struct vms_info, uri) && (numbered || !by_index))
        advise_virsh(finding, thread, index, cpu);
    else if (join_info_number(thread->row, offsetof(struct threads_info, tid), &tid))
        finding_advise(finding, "taskset -pc %lld %llu", (long long)cpu, (unsigned long long)tid);
}

enum severity rule_loss_severity(double lost, double passed)
{
    bool all = !(passed > 0); /* not known, or nothing passed */
    return all || lost >= 0.01 * (lost + passed) ? SEVERITY_BAD : SEVERITY_WATCH;
}
