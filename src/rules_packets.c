/* SPDX-License-Identifier: MIT */
/* Rules about packets: where they are lost, and under which cause (see rules.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/derive.h"
#include "src/rules.h"

static double port_number(const struct frame *frame, const struct frame_row *port, const char *key)
{
    return join_number(frame, TABLE_PORTS, port, key);
}

static const char *port_name(const struct frame_row *port)
{
    return RULE_TEXT(port, struct ports_info, name);
}

static bool is_kind(const struct frame_row *port, const char *kind)
{
    return strcmp(RULE_TEXT(port, struct ports_info, kind), kind) == 0;
}

static void rate_text(char *out, size_t size, double pps)
{
    if (pps >= 1e6)
        snprintf(out, size, "%.2fM/s", pps / 1e6);
    else if (pps >= 1e4)
        snprintf(out, size, "%.1fk/s", pps / 1e3);
    else
        snprintf(out, size, "%.0f/s", pps);
}

/* Why a guest does not drain its queue, from the state of its vCPUs; with the command that follows from it.
 */
static void why_not_draining(const struct frame *frame, const struct frame_row *path, struct finding *f,
                             size_t used)
{
    char *out = f->text + used, name[96], others[160];
    size_t size = sizeof(f->text) - used;
    const struct frame_row *vm = join_vm_of_path(frame, path), *vcpu = join_worst_vcpu(frame, vm);
    double steal = join_number(frame, TABLE_THREADS, vcpu, "steal_pct");
    double run = join_number(frame, TABLE_THREADS, vcpu, "run_pct"), most = 0, vcpus = 0;
    const struct part *part = vcpu ? frame_row_part(vcpu, ROW_SLOT(struct threads_row, state)) : NULL;
    const char *state = part ? ((const struct threads_row *)part->cur)->state : "";
    for (const struct frame_row *t = vm ? join_first_thread(frame, vm) : NULL; t;
         t = join_next_thread(frame, t)) {
        double r = rule_has_role(t, "vcpu") ? join_number(frame, TABLE_THREADS, t, "run_pct") : NAN;
        vcpus += rule_has_role(t, "vcpu");
        most = r > most ? r : most;
    }
    if (!vcpu)
        return;
    join_thread_name(name, sizeof(name), frame, vcpu);
    if (*state == 'T' || *state == 't') {
        snprintf(out, size, ": its process is stopped");
        snprintf(f->advice, sizeof(f->advice), "kill -CONT %.0f", join_number(frame, TABLE_VMS, vm, "pid"));
    } else if (steal >= 15 && rule_cpu_of(vcpu) >= 0) {
        rule_others_on(others, sizeof(others), frame, (uint64_t)rule_cpu_of(vcpu), vcpu);
        snprintf(out, size, ": %s waits %.0f %% of the time for CPU %lld, where %s ran meanwhile", name,
                 steal, (long long)rule_cpu_of(vcpu), others);
        rule_advise_move(f->advice, sizeof(f->advice), frame, vcpu);
    } else if (most >= 90) {
        double queues = join_number(frame, TABLE_PATHS, path, "queues");
        bool one = queues == 1 && vcpus > 1;
        snprintf(out, size, ": a vCPU runs %.0f %%, it is saturated%s", most,
                 one ? ", and the NIC has one queue" : "");
        if (one)
            snprintf(f->advice, sizeof(f->advice), "virsh edit %s, <driver queues='%.0f'/>",
                     RULE_TEXT(vm, struct vms_info, name), vcpus);
        else
            snprintf(f->advice, sizeof(f->advice), "in the guest %s: what fills its vCPU? perf top",
                     RULE_TEXT(vm, struct vms_info, name));
    } else {
        snprintf(out, size, ": its vCPUs are not busy (run %.0f %%), its driver does not take the packets",
                 run);
        snprintf(f->advice, sizeof(f->advice), "in the guest %s: is the NIC up and its driver loaded?",
                 RULE_TEXT(vm, struct vms_info, name));
    }
}

/* Of the loss to the guest, what is the guest's: a policer, the MTU and a queueing discipline are not. */
static double guest_loss(const struct frame *frame, const struct frame_row *port)
{
    static const char *const others[] = {"tx_mtu_drop_pps", "tx_qos_drop_pps", "qdisc_drop_pps"};
    double loss = port_number(frame, port, "tx_drop_pps");
    for (size_t i = 0; i < 3; i++) {
        double value = port_number(frame, port, others[i]);
        loss -= value > 0 ? value : 0;
    }
    return loss;
}

void check_not_draining(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(path, frame, TABLE_PATHS)
    {
        const struct frame_row *port = join_port_of_path(frame, path);
        if (!port || !join_port_faces_guest(frame, port))
            continue;
        double lost = guest_loss(frame, port), all = lost + port_number(frame, port, "tx_pps"),
               share = 100 * lost / all;
        if (!(lost >= 1) || !(share >= 0.1))
            continue;
        const char *vm = RULE_TEXT(path, struct paths_info, vm),
                   *nic = RULE_TEXT(path, struct paths_info, nic);
        struct finding *f =
            finding_add(out, rule, share >= 1 ? SEVERITY_BAD : SEVERITY_WATCH, share, "%s %s", vm, nic);
        char rate[32];
        rate_text(rate, sizeof(rate), lost);
        f->cost_pps = lost;
        int used =
            snprintf(f->text, sizeof(f->text),
                     "%s %s loses %.1f %% of what is sent to it (%s): %s is full, its guest does not drain",
                     vm, nic, share, rate, port_name(port));
        if (used > 0 && (size_t)used < sizeof(f->text))
            why_not_draining(frame, path, f, (size_t)used);
    }
}

void check_tap_unread(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        double lost = guest_loss(frame, port), passed = port_number(frame, port, "tx_pps");
        if (!is_kind(port, "tap") || join_path_of_port(frame, port) || !(lost >= 1))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_BAD, lost, "%s", port_name(port));
        char rate[32];
        rate_text(rate, sizeof(rate), lost);
        f->cost_pps = lost;
        snprintf(f->text, sizeof(f->text), "%s drops %s: its ring is full, %s", port_name(port), rate,
                 passed < 1 ? "nothing reads it" : "what reads it is too slow");
        snprintf(f->advice, sizeof(f->advice), "who has it open: grep -l 'iff:.%s$' /proc/[0-9]*/fdinfo/*",
                 port_name(port));
    }
}

/* Rules that are one number of a port above a limit. */
static void check_port_number(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                              const char *key, const char *what, const char *advice)
{
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        double value = port_number(frame, port, key);
        if (!(value >= 1))
            continue;
        char rate[32];
        rate_text(rate, sizeof(rate), value);
        struct finding *f = finding_add(out, rule, SEVERITY_BAD, value, "%s", port_name(port));
        f->cost_pps = value;
        snprintf(f->text, sizeof(f->text), "%s %s %s", port_name(port), what, rate);
        snprintf(f->advice, sizeof(f->advice), advice, port_name(port));
    }
}

void check_qdisc(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_port_number(rule, frame, out, "qdisc_drop_pps",
                      "drops in its queueing discipline, before the port:", "tc -s qdisc show dev %s");
}

void check_missed(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_port_number(rule, frame, out, "rx_missed_pps", "has no free descriptor in its ring and misses",
                      "ethtool -g %s; a longer ring, or more CPU for the one that empties it");
}

void check_nombuf(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_port_number(
        rule, frame, out, "rx_nombuf_pps", "finds its mempool empty and loses",
        "a larger mempool for %s: other_config:dpdk-socket-mem, or the application's --total-num-mbufs");
}

void check_mtu(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_port_number(rule, frame, out, "tx_mtu_drop_pps",
                      "drops what is larger than its MTU:", "ovs-vsctl set Interface %s mtu_request=N");
}

void check_policer(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_port_number(rule, frame, out, "tx_qos_drop_pps", "polices what goes out and drops",
                      "ovs-vsctl list QoS; ovs-appctl qos/show %s");
    check_port_number(rule, frame, out, "rx_qos_drop_pps", "polices what comes in and drops",
                      "ovs-vsctl get Interface %s ingress_policing_rate");
}

static void check_datapaths(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                            const char *key, double limit, enum severity severity, const char *text,
                            const char *advice)
{
    RULE_EACH(datapath, frame, TABLE_DATAPATHS)
    {
        double value = join_number(frame, TABLE_DATAPATHS, datapath, key);
        if (!(value >= limit))
            continue;
        const char *name = RULE_TEXT(datapath, struct datapaths_info, name);
        struct finding *f = finding_add(out, rule, severity, value, "%s", name);
        char rate[32];
        rate_text(rate, sizeof(rate), value);
        snprintf(f->text, sizeof(f->text), text, name, rate);
        snprintf(f->advice, sizeof(f->advice), "%s", advice);
    }
}

void check_upcalls(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_datapaths(rule, frame, out, "missed_pps", 5000, SEVERITY_WATCH,
                    "%s: %s packets match no flow and take the slow path",
                    "ovs-appctl upcall/show; coarser flows, or fewer short-lived ones");
}

void check_upcalls_lost(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_datapaths(rule, frame, out, "lost_pps", 1, SEVERITY_BAD,
                    "%s: %s flow misses are lost, the slow path is too slow",
                    "ovs-appctl upcall/show; other_config:n-handler-threads");
}

void check_flow_limit(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(datapath, frame, TABLE_DATAPATHS)
    {
        double flows = join_number(frame, TABLE_DATAPATHS, datapath, "flows");
        double limit = join_number(frame, TABLE_DATAPATHS, datapath, "flow_limit");
        if (!(limit > 0) || !(flows >= 0.9 * limit))
            continue;
        const char *name = RULE_TEXT(datapath, struct datapaths_info, name);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, 100 * flows / limit, "%s", name);
        snprintf(f->text, sizeof(f->text), "%s holds %.0f flows of the %.0f that its revalidators allow",
                 name, flows, limit);
        snprintf(f->advice, sizeof(f->advice), "ovs-appctl upcall/show; other_config:flow-limit");
    }
}

void check_emc(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(pmd, frame, TABLE_PMDS)
    {
        double emc = join_number(frame, TABLE_PMDS, pmd, "emc_pct"),
               mega = join_number(frame, TABLE_PMDS, pmd, "megaflow_pct");
        double pps = join_number(frame, TABLE_PMDS, pmd, "rx_pps"),
               core = join_number(frame, TABLE_PMDS, pmd, "core");
        if (!(pps >= 100000) || !(emc >= 1) || !(emc < 25) || !(mega >= 50))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_NOTE, 100 - emc, "pmd %.0f", core);
        snprintf(f->text, sizeof(f->text),
                 "pmd %.0f finds %.0f %% of its packets in the exact match cache, %.0f %% by wildcard: more "
                 "flows than it holds",
                 core, emc, mega);
        snprintf(f->advice, sizeof(f->advice), "ovs-vsctl set Open_vSwitch . other_config:smc-enable=true");
    }
}

void check_pipeline(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(counter, frame, TABLE_COUNTERS)
    {
        const char *name = RULE_TEXT(counter, struct counters_info, name);
        double rate = join_number(frame, TABLE_COUNTERS, counter, "rate");
        if (strcmp(name, "drop_action_of_pipeline") != 0 || !(rate >= 100))
            continue;
        const char *object = RULE_TEXT(counter, struct counters_info, object);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, rate, "%s", object);
        f->cost_pps = rate;
        snprintf(f->text, sizeof(f->text), "%s: the flow table drops %.0f packets/s", object, rate);
        snprintf(f->advice, sizeof(f->advice),
                 "ovs-ofctl dump-flows BRIDGE | grep drop; ovs-appctl ofproto/trace");
    }
}

void check_errors(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_port_number(rule, frame, out, "rx_error_pps", "receives bad packets:", "ip -s -s link show %s");
    check_port_number(rule, frame, out, "tx_error_pps", "fails to send:", "ip -s -s link show %s");
}

void check_flaps(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        struct delta flaps = ROW_DELTA(port, struct ports_row, carrier_changes);
        if (flaps.kind != CELL_U64 || flaps.value < 2)
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, (double)flaps.value / flaps.seconds, "%s",
                                        port_name(port));
        snprintf(f->text, sizeof(f->text), "%s lost or found its carrier %llu times in %.1f s",
                 port_name(port), (unsigned long long)flaps.value, flaps.seconds);
        snprintf(f->advice, sizeof(f->advice), "ip monitor link dev %s", port_name(port));
    }
}

void check_main_thread(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(pmd, frame, TABLE_PMDS)
    {
        double pps = join_number(frame, TABLE_PMDS, pmd, "rx_pps");
        if (strcmp(RULE_TEXT(pmd, struct pmds_info, thread), "main") != 0 || !(pps >= 1000))
            continue;
        struct finding *f =
            finding_add(out, rule, SEVERITY_WATCH, pps, "%s", RULE_TEXT(pmd, struct pmds_info, datapath));
        snprintf(f->text, sizeof(f->text),
                 "%.0f packets/s come from ports that no PMD polls (tap, veth, system): vswitchd's main "
                 "thread carries them",
                 pps);
        snprintf(f->advice, sizeof(f->advice),
                 "give these ports dpdkvhostuserclient, dpdk or af_xdp types, or the kernel datapath");
    }
}

void check_emulated(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(path, frame, TABLE_PATHS)
    {
        const char *model = JOIN_TEXT(path, struct paths_info, model);
        double pps = join_number(frame, TABLE_PATHS, path, "to_guest_pps") +
                     join_number(frame, TABLE_PATHS, path, "from_guest_pps");
        if (!model || strncmp(model, "virtio", 6) == 0 || strcmp(model, "vfio") == 0 || !(pps >= 100))
            continue;
        const char *vm = RULE_TEXT(path, struct paths_info, vm),
                   *nic = RULE_TEXT(path, struct paths_info, nic);
        struct finding *f = finding_add(out, rule, SEVERITY_NOTE, pps, "%s %s", vm, nic);
        snprintf(f->text, sizeof(f->text), "%s %s is an emulated %s; virtio moves far more packets per CPU",
                 vm, nic, model);
        snprintf(f->advice, sizeof(f->advice), "virsh edit %s, <model type='virtio'/>", vm);
    }
}

void check_single_queue(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(path, frame, TABLE_PATHS)
    {
        const struct frame_row *vm = join_vm_of_path(frame, path);
        unsigned vcpus = 0, full = 0, idle = 0;
        for (const struct frame_row *t = vm ? join_first_thread(frame, vm) : NULL; t;
             t = join_next_thread(frame, t)) {
            double run = rule_has_role(t, "vcpu") ? join_number(frame, TABLE_THREADS, t, "run_pct") : NAN;
            vcpus += !isnan(run);
            full += run >= 95;
            idle += run < 30;
        }
        if (!(join_number(frame, TABLE_PATHS, path, "queues") == 1) || vcpus < 4 || full != 1 ||
            idle + 1 < vcpus || !(join_number(frame, TABLE_PATHS, path, "to_guest_pps") >= 10000))
            continue;
        const char *name = RULE_TEXT(path, struct paths_info, vm),
                   *nic = RULE_TEXT(path, struct paths_info, nic);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, 95, "%s %s", name, nic);
        snprintf(f->text, sizeof(f->text),
                 "%s %s has one queue: one of its %u vCPUs is full, the others idle", name, nic, vcpus);
        snprintf(f->advice, sizeof(f->advice), "virsh edit %s, <driver queues='%u'/>", name, vcpus);
    }
}

void check_veth(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        double lost = guest_loss(frame, port);
        if (!is_kind(port, "veth") || !(lost >= 1))
            continue;
        char rate[32];
        rate_text(rate, sizeof(rate), lost);
        struct finding *f = finding_add(out, rule, SEVERITY_BAD, lost, "%s", port_name(port));
        f->cost_pps = lost;
        snprintf(f->text, sizeof(f->text),
                 "%s drops %s: the CPU of its other end does not take them, or that end is down",
                 port_name(port), rate);
        snprintf(f->advice, sizeof(f->advice), "ip -s link show %s; sysctl net.core.netdev_max_backlog",
                 port_name(port));
    }
}
