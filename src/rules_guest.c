/* SPDX-License-Identifier: MIT */
/* Rules about a guest and its NIC: does it take what is sent to it, and why not (see rules.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/rules.h"

/* --- who is to take the packets --- */

/* The threads of a guest: a VM's vCPUs, or the lcores of a DPDK process. */
struct taker {
    const struct frame_row *vm, *process;
    uint64_t pid;
    const struct join_thread *worst; /* waits most, of those that wait alike runs most */
    double most;                     /* run of the busiest */
    unsigned n;
    const char *state; /* of the worst */
};

static bool is_worse(const struct join_thread *a, const struct join_thread *b)
{
    double x = rule_steal(a), y = rule_steal(b);
    if (!b || (!isnan(x) && isnan(y)))
        return true;
    return x > y || (!(y > x) && rule_run(a) > rule_run(b));
}

static void add_thread(struct taker *taker, const struct join_thread *thread)
{
    taker->n++;
    if (rule_run(thread) > taker->most)
        taker->most = rule_run(thread);
    if (is_worse(thread, taker->worst))
        taker->worst = thread;
}

static const char *state_of(const struct join_thread *thread)
{
    const struct part *part =
        thread ? frame_row_part(thread->row, ROW_SLOT(struct threads_row, state)) : NULL;
    return part && !thread->stale ? ((const struct threads_row *)part->cur)->state : "";
}

static struct taker find_taker(const struct frame *frame, const struct frame_row *path,
                               const struct frame_row *port)
{
    struct taker taker = {0};
    taker.vm = path ? join_vm_of_path(frame, path) : NULL;
    for (const struct frame_row *row = taker.vm ? join_first_thread(frame, taker.vm) : NULL; row;
         row = join_next_thread(frame, row))
        if (join_thread_of(frame, row)->kind == THREAD_VCPU)
            add_thread(&taker, join_thread_of(frame, row));
    if (taker.vm)
        join_info_number(taker.vm, offsetof(struct vms_info, pid), &taker.pid);
    taker.process = path ? NULL : join_process_of_port(frame, port);
    bool known =
        taker.process && join_info_number(taker.process, offsetof(struct processes_info, pid), &taker.pid);
    JOIN_EACH_THREAD(thread, frame)
    {
        uint64_t pid;
        if (known && thread->kind == THREAD_LCORE &&
            join_info_number(thread->row, offsetof(struct threads_info, pid), &pid) && pid == taker.pid)
            add_thread(&taker, thread);
    }
    taker.state = state_of(taker.worst);
    return taker;
}

/* --- why it does not --- */

static bool say_stopped(struct finding *f, const struct taker *taker)
{
    const struct part *part = taker->vm ? frame_row_part(taker->vm, ROW_SLOT(struct vms_row, state)) : NULL;
    const char *state = part ? ((const struct vms_row *)part->cur)->state : "";
    if (strcmp(state, "paused") == 0) {
        finding_say(f, ": the VM is paused");
        struct rule_word virsh = rule_virsh(taker->vm, "resume");
        finding_advise(f, "%s", virsh.text);
        return true;
    }
    if (*taker->state != 'T' && *taker->state != 't')
        return false;
    finding_say(f, ": its process is stopped");
    if (taker->pid)
        finding_advise(f, "kill -CONT %llu", (unsigned long long)taker->pid);
    return true;
}

static const char *what_is(const struct join_thread *thread)
{
    return thread->kind == THREAD_VHOST      ? "its vhost worker"
           : thread->kind == THREAD_EMULATOR ? "QEMU's main thread, which carries its packets,"
                                             : "";
}

/* A wait for a CPU: of the guest's thread or of the one that serves its NIC, whichever waits more. */
static bool say_stolen(struct finding *f, const struct frame *frame, const struct taker *taker,
                       const struct join_thread *server)
{
    const struct join_thread *thread = taker->worst;
    if (server && !(rule_steal(server) <= rule_steal(thread)) && rule_steal(server) >= 15)
        thread = server;
    if (!thread || !(rule_steal(thread) >= 15) || thread->cpu < 0)
        return false;
    struct rule_name name = rule_thread(frame, thread);
    finding_say(f, ": %s waits %.0f %% of the time for CPU %lld, where %s ran meanwhile",
                thread == server ? what_is(thread) : name.text, rule_steal(thread), (long long)thread->cpu,
                rule_others_on(frame, thread).text);
    rule_advise_move(f, frame, thread);
    return true;
}

static bool say_server_full(struct finding *f, const struct taker *taker, const struct join_thread *server)
{
    if (!server || !(rule_run(server) >= 90) || taker->most >= 90)
        return false;
    struct rule_word virsh = rule_virsh(taker->vm, "edit");
    finding_say(f, ": %s runs %.0f %%, one CPU is its limit", what_is(server), rule_run(server));
    if (virsh.text[0])
        finding_advise(f, "%s: <driver name='vhost' queues='N'/>", virsh.text);
    return true;
}

static bool say_saturated(struct finding *f, const struct frame *frame, const struct taker *taker,
                          const struct frame_row *path)
{
    if (!(taker->most >= 90))
        return false;
    bool one = path && RULE_NUMBER(frame, path, paths, queues) == 1 && taker->n > 1;
    struct rule_word virsh = rule_virsh(taker->vm, "edit");
    finding_say(f, ": a %s runs %.0f %%, it is saturated%s", taker->vm ? "vCPU" : "lcore", taker->most,
                one ? ", and the NIC has one queue" : "");
    if (one && virsh.text[0])
        finding_advise(f, "%s: <driver queues='%u'/>", virsh.text, taker->n < 8 ? taker->n : 8);
    else
        finding_advise(f, "what fills it? perf top -t TID of that thread, or top in the guest");
    return true;
}

static void say_asleep(struct finding *f, const struct taker *taker)
{
    if (!(taker->most >= 0))
        return;
    finding_say(f, ": its %s are not busy (run %.0f %%), its driver does not take the packets",
                taker->vm ? "vCPUs" : "lcores", taker->most);
    finding_advise(f, "in the guest: is the NIC up and its driver loaded?");
}

static void say_why(struct finding *f, const struct frame *frame, const struct frame_row *path,
                    const struct frame_row *port)
{
    const struct part *vhost = frame_row_part(port, ROW_SLOT(struct ports_row, vhost_state));
    struct taker taker = find_taker(frame, path, port);
    const struct join_thread *server = path ? join_thread_of(frame, join_serving(frame, path).thread) : NULL;
    if (server && server->kind != THREAD_VHOST && server->kind != THREAD_EMULATOR)
        server = NULL; /* a PMD serves what comes from the guest */
    if (vhost && strcmp(((const struct ports_row *)vhost->cur)->vhost_state, "disconnected") == 0) {
        finding_say(f, ": no guest holds its socket");
        return;
    }
    if (!taker.worst || say_stopped(f, &taker) || say_stolen(f, frame, &taker, server) ||
        say_server_full(f, &taker, server) || say_saturated(f, frame, &taker, path))
        return;
    say_asleep(f, &taker);
}

/* --- guest-not-draining --- */

/* Of the loss to the guest, what is the guest's: OVS tells it; else what no other cause is told of. */
static double guest_loss(const struct frame *frame, const struct frame_row *port, bool tx)
{
    const struct column *others[] = {COLUMN_OF(ports, tx_mtu_drop_pps), COLUMN_OF(ports, tx_qos_drop_pps),
                                     COLUMN_OF(ports, qdisc_drop_pps)};
    if (!tx)
        return RULE_NUMBER(frame, port, ports, rx_drop_pps);
    double full = RULE_NUMBER(frame, port, ports, tx_failure_drop_pps);
    if (!isnan(full))
        return full;
    double loss = RULE_NUMBER(frame, port, ports, tx_drop_pps);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        double value = rule_number(frame, port, others[i]);
        loss -= value > 0 ? value : 0;
    }
    return loss;
}

void check_not_draining(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    size_t n;
    const struct frame_row *const *ports = join_lossy_ports(frame, &n);
    for (size_t i = 0; i < n; i++) {
        const struct frame_row *port = ports[i], *path = join_path_of_port(frame, port);
        bool tx = join_port_faces_guest(frame, port);
        if (!path && !rule_port_is(port, "vhost-user"))
            continue;
        double lost = guest_loss(frame, port, tx);
        double passed =
            tx ? RULE_NUMBER(frame, port, ports, tx_pps) : RULE_NUMBER(frame, port, ports, rx_pps);
        double share = 100 * lost / (lost + passed);
        if (!(lost >= 1) || !(share >= 0.1))
            continue;
        struct finding *f = finding_add(out, rule, share >= 1 ? SEVERITY_BAD : SEVERITY_WATCH, share, port);
        f->cost_pps = lost;
        finding_name(f, "%s", path ? rule_nic(path).text : rule_port(port).text);
        finding_say(f, "%s loses %.1f %% of what is sent to it (%s): ", f->object, share,
                    rule_rate(lost).text);
        finding_say(f, "%s is full, its guest does not drain", path ? rule_port(port).text : "its ring");
        say_why(f, frame, path, port);
    }
}

/* --- what the guest is given --- */

static double both_ways(const struct frame *frame, const struct frame_row *path)
{
    return RULE_NUMBER(frame, path, paths, to_guest_pps) + RULE_NUMBER(frame, path, paths, from_guest_pps);
}

static bool is_fast_model(const char *model)
{
    return strncmp(model, "virtio", 6) == 0 || strcmp(model, "vfio") == 0 || strstr(model, "vdpa");
}

void check_emulated(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(path, frame, TABLE_PATHS)
    {
        const char *model = JOIN_TEXT(path, struct paths_info, model);
        double pps = model && !is_fast_model(model) ? both_ways(frame, path) : NAN;
        if (!(pps >= 100))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_NOTE, pps, path);
        struct rule_word virsh = rule_virsh(join_vm_of_path(frame, path), "edit");
        finding_name(f, "%s", rule_nic(path).text);
        finding_say(f, "%s is an emulated %s; virtio moves far more packets per CPU", f->object,
                    rule_name(model).text);
        if (virsh.text[0])
            finding_advise(f, "%s: <model type='virtio'/>", virsh.text);
        else
            finding_advise(f, "start it with -device virtio-net-pci");
    }
}

void check_single_queue(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(path, frame, TABLE_PATHS)
    {
        const struct frame_row *vm = join_vm_of_path(frame, path);
        unsigned vcpus = 0, full = 0, idle = 0;
        double most = 0;
        if (!vm || !(RULE_NUMBER(frame, path, paths, queues) == 1))
            continue;
        for (const struct frame_row *row = join_first_thread(frame, vm); row;
             row = join_next_thread(frame, row)) {
            const struct join_thread *t = join_thread_of(frame, row);
            double run = t->kind == THREAD_VCPU ? rule_run(t) : NAN;
            vcpus += !isnan(run);
            full += run >= 95;
            idle += run < 30;
            most = run > most ? run : most;
        }
        if (vcpus < 4 || full != 1 || idle + 1 < vcpus ||
            !(RULE_NUMBER(frame, path, paths, to_guest_pps) >= 10000))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, most, path);
        struct rule_word virsh = rule_virsh(vm, "edit");
        finding_name(f, "%s", rule_nic(path).text);
        finding_say(f, "%s has one queue: one of its %u vCPUs is full, the others idle", f->object, vcpus);
        if (virsh.text[0])
            finding_advise(f, "%s: <driver queues='%u'/>", virsh.text, vcpus < 8 ? vcpus : 8);
        else
            finding_advise(f, "start it with -netdev ...,queues=N -device virtio-net-pci,mq=on");
    }
}

/* --- NUMA --- */

static void say_nodes(struct finding *f, const char *what, uint64_t nodes, bool *any)
{
    if (!nodes)
        return;
    finding_say(f, "%s%s on node", *any ? ", " : ": ", what);
    for (unsigned i = 0; i < 64; i++)
        if (nodes >> i & 1)
            finding_say(f, " %u", i);
    *any = true;
}

static bool has_one(uint64_t bits)
{
    return bits && !(bits & (bits - 1));
}

/* A guest that is as large as several nodes has some of its vCPUs far from anything, and cannot help it. */
static bool crosses(const struct join_nodes *nodes)
{
    uint64_t guest = nodes->vcpus | nodes->memory;
    if (!nodes->vcpus)
        return false;
    if (!has_one(nodes->vcpus))
        return has_one(nodes->memory);
    return !has_one(guest) || (nodes->thread && nodes->thread != nodes->vcpus) ||
           (nodes->port && nodes->port != nodes->vcpus) ||
           (nodes->uplinks && !(nodes->uplinks & nodes->vcpus));
}

/* A NIC that a PMD of another node polls: each of its packets crosses, whoever it is for. */
static void check_polled_nics(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(rxq, frame, TABLE_RXQS)
    {
        const char *ovs = JOIN_TEXT(rxq, struct rxqs_info, ovs),
                   *name = JOIN_TEXT(rxq, struct rxqs_info, port);
        uint64_t of_pmd, of_nic;
        char key[512];
        snprintf(key, sizeof(key), "ovs:%s:%s", ovs ? ovs : "", name ? name : "");
        const struct frame_row *nic = frame_find(frame, TABLE_PORTS, key);
        if (!nic || !rule_port_is(nic, "dpdk") || !(RULE_NUMBER(frame, nic, ports, rx_pps) >= 1000) ||
            !join_info_number(rxq, offsetof(struct rxqs_info, numa), &of_pmd) ||
            !join_info_number(nic, offsetof(struct ports_info, numa), &of_nic) || of_pmd == of_nic)
            continue;
        double queue = RULE_NUMBER(frame, rxq, rxqs, queue);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, 2, rxq);
        finding_name(f, "%s", rule_port(nic).text);
        finding_say(f, "%s is on NUMA node %llu, and queue %.0f of it is polled by a PMD on node %llu",
                    f->object, (unsigned long long)of_nic, queue, (unsigned long long)of_pmd);
        finding_advise(
            f, "ovs-vsctl set Open_vSwitch . other_config:pmd-cpu-mask=MASK, with CPUs of node %llu in it",
            (unsigned long long)of_nic);
    }
}

static void check_guests_nodes(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(path, frame, TABLE_PATHS)
    {
        struct join_nodes nodes = join_nodes(frame, path);
        if (!crosses(&nodes) || !(both_ways(frame, path) >= 1000))
            continue;
        uint64_t all = nodes.vcpus | nodes.memory | nodes.thread | nodes.port | nodes.uplinks;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, (double)__builtin_popcountll(all), path);
        struct rule_word virsh = rule_virsh(join_vm_of_path(frame, path), "numatune");
        bool any = false;
        finding_name(f, "%s", rule_nic(path).text);
        finding_say(f, "%s crosses NUMA nodes", f->object);
        say_nodes(f, "vCPUs", nodes.vcpus, &any);
        say_nodes(f, "memory", nodes.memory, &any);
        say_nodes(f, "the thread that serves it", nodes.thread, &any);
        say_nodes(f, "port", nodes.port, &any);
        say_nodes(f, "its switch's NICs", nodes.uplinks, &any);
        finding_advise(f, "%s%svnettop's Pins shows who is where", virsh.text, virsh.text[0] ? "; " : "");
    }
}

void check_numa(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_guests_nodes(rule, frame, out);
    check_polled_nics(rule, frame, out);
}
