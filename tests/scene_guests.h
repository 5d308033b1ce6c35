/* SPDX-License-Identifier: MIT */
/*
 * The guests of tests/scene.h: three virtual machines with their threads and NICs, one of them behind a vhost
 * worker, one behind a polling thread of a switch that no longer answers, one emulated. Included by scene.h.
 */
#ifndef VNETTOP_TESTS_SCENE_GUESTS_H
#define VNETTOP_TESTS_SCENE_GUESTS_H

struct scene_guest {
    const char *key, *name;
    uint64_t vcpus, pid;
    const char *nic, *mac, *model, *backend, *port, *socket;
};

static const struct scene_guest scene_guests[] = {
    {"vm:web", "web", 2, 4242, "net0", "52:54:00:00:00:01", "virtio", "vhost", "vnet0", NULL},
    {"vm:db", "数据库\u0301\033[7m", 1, 4300, "net0", "52:54:00:00:00:02", "virtio", "vhost-user", NULL,
     "/run/vhu/1.sock"},
    {"vm:old", "old", 1, 4400, "net0", "52:54:00:00:00:03", "rtl8139", "tap", "vnet4", NULL},
};
#define SCENE_GUESTS (sizeof(scene_guests) / sizeof(scene_guests[0]))

struct scene_thread {
    size_t guest;
    const char *role;
    uint64_t index, cpu;
    const char *allowed;
    uint64_t run_pct, steal_pct;
};

static const struct scene_thread scene_threads[] = {
    {0, "vcpu", 0, 0, "0", 42, 57},     {0, "vcpu", 1, 3, "0-3", 38, 1},
    {0, "emulator", 0, 1, "0-3", 2, 0}, {0, "vhost", 0, 3, "0-3", 57, 3},
    {1, "vcpu", 0, 2, "2", 99, 0},      {1, "emulator", 0, 1, "0-1", 1, 0},
    {2, "vcpu", 0, 1, "0-1,3", 22, 4},  {2, "emulator", 0, 1, "0-1,3", 9, 0},
};
#define SCENE_THREADS (sizeof(scene_threads) / sizeof(scene_threads[0]))

static void scene_add_vm(struct scene_state *state, struct sample *sample, size_t i)
{
    const struct scene_guest *guest = &scene_guests[i];
    struct vms_info *info = state->infos[i];
    if (!info) {
        state->infos[i] = info = inventory_info(state->inventory, TABLE_VMS, "%s", guest->key);
        info_set(info, vm_key, guest->key);
        info_set(info, name, guest->name);
        info_set(info, accel, "kvm");
        info_set(info, pid, guest->pid);
        info_set(info, vcpus, guest->vcpus);
        info_set(info, memory_mib, UINT64_C(4096));
    }
    struct vms_row *row = sample_row(sample, TABLE_VMS, info);
    row_set(row, state, "running");
}

static void scene_add_path(struct scene_state *state, struct sample *sample, size_t i)
{
    const struct scene_guest *guest = &scene_guests[i];
    struct paths_info *info = state->infos[8 + i];
    if (!info) {
        state->infos[8 + i] = info =
            inventory_info(state->inventory, TABLE_PATHS, "path:%s:%s", guest->key, guest->mac);
        info_set(info, vm, guest->name);
        info_set(info, nic, guest->nic);
        info_set(info, vm_key, guest->key);
        info_set(info, mac, guest->mac);
        info_set(info, model, guest->model);
        info_set(info, backend, guest->backend);
        info_set(info, queues, UINT64_C(1));
        if (guest->port)
            info_set(info, port, guest->port);
        if (guest->socket)
            info_set(info, socket, guest->socket);
    }
    struct paths_row *row = sample_row(sample, TABLE_PATHS, info);
    row_set(row, state, "present");
}

static void scene_add_thread(struct scene_state *state, struct sample *sample, size_t i, uint64_t second)
{
    const struct scene_thread *thread = &scene_threads[i];
    const struct scene_guest *guest = &scene_guests[thread->guest];
    struct threads_info *info = state->infos[16 + i];
    if (!info) {
        state->infos[16 + i] = info =
            inventory_info(state->inventory, TABLE_THREADS, "%s/%s/%llu", guest->key, thread->role,
                           (unsigned long long)thread->index);
        info_set(info, role, thread->role);
        info_set(info, vm, guest->name);
        info_set(info, index, thread->index);
        info_set(info, vm_key, guest->key);
        info_set(info, pid, guest->pid);
        info_set(info, tid, guest->pid + i);
        info_set(info, allowed_cpus, thread->allowed);
    }
    struct threads_row *row = sample_row(sample, TABLE_THREADS, info);
    row_set(row, state, "R");
    row_set(row, cpu, thread->cpu);
    row_set(row, run_ns, thread->run_pct * 10000000 * second);
    row_set(row, delay_ns, thread->steal_pct * 10000000 * second);
    row_set(row, timeslices, 900 * second);
    row_set(row, voluntary, 800 * second);
    row_set(row, involuntary, 100 * second);
}

static enum collect_result scene_qemu(void *state, struct collect_call *call, struct sample **out)
{
    uint64_t second = scene_second();
    struct sample *sample = sample_new(((struct scene_state *)state)->inventory);
    scene_stamp(sample, 700000);
    for (size_t i = 0; i < SCENE_GUESTS && !atomic_load(&scene_empty); i++) {
        scene_add_vm(state, sample, i);
        scene_add_path(state, sample, i);
    }
    for (size_t i = 0; i < SCENE_THREADS && !atomic_load(&scene_empty); i++)
        scene_add_thread(state, sample, i, second);
    snprintf(call->detail, sizeof(call->detail), "3 QEMU processes, 8 threads");
    *out = sample;
    return COLLECT_OK;
}

/* --- the switch --- */

static struct ports_info *scene_ovs_port(struct inventory *inventory)
{
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, "ovs:/run/openvswitch:vhu1");
    info_set(info, name, "vhu1");
    info_set(info, kind, "vhost-user");
    info_set(info, switch_, "br0");
    info_set(info, socket, "/run/vhu/1.sock");
    info_set(info, datapath, "netdev@ovs-netdev");
    return info;
}

static struct pmds_info *scene_ovs_pmd(struct inventory *inventory)
{
    struct pmds_info *info = inventory_info(inventory, TABLE_PMDS, "pmd:0");
    info_set(info, ovs, "/run/openvswitch");
    info_set(info, datapath, "netdev@ovs-netdev");
    info_set(info, thread, "pmd");
    info_set(info, core, UINT64_C(0));
    info_set(info, numa, UINT64_C(0));
    info_set(info, thread_key, "ovs-vswitchd/pmd/0");
    return info;
}

static struct threads_info *scene_ovs_thread(struct inventory *inventory)
{
    struct threads_info *info = inventory_info(inventory, TABLE_THREADS, "ovs-vswitchd/pmd/0");
    info_set(info, role, "pmd");
    info_set(info, vm, "ovs-vswitchd");
    info_set(info, index, UINT64_C(0));
    info_set(info, name, "pmd-c00/id:8");
    info_set(info, pid, UINT64_C(1188));
    info_set(info, tid, UINT64_C(1200));
    info_set(info, allowed_cpus, "0");
    return info;
}

static struct rxqs_info *scene_ovs_rxq(struct inventory *inventory)
{
    struct rxqs_info *info = inventory_info(inventory, TABLE_RXQS, "rxq:vhu1:0");
    info_set(info, ovs, "/run/openvswitch");
    info_set(info, datapath, "netdev@ovs-netdev");
    info_set(info, port, "vhu1");
    info_set(info, queue, UINT64_C(0));
    info_set(info, pmd_key, "pmd:0");
    return info;
}

static void scene_fill_pmd(struct pmds_row *row, uint64_t second)
{
    row_set(row, rx_packets, 2000 * second);
    row_set(row, passes, 2000 * second);
    row_set(row, emc_hits, 1900 * second);
    row_set(row, smc_hits, UINT64_C(0));
    row_set(row, megaflow_hits, 99 * second);
    row_set(row, upcalls, second);
    row_set(row, upcalls_lost, UINT64_C(0));
    row_set(row, busy_cycles, 63000000 * second);
    row_set(row, idle_cycles, 37000000 * second);
}

static void scene_fill_switch(struct scene_state *ovs, struct sample *sample, uint64_t second)
{
    if (!ovs->infos[0]) {
        ovs->infos[0] = scene_ovs_port(ovs->inventory);
        ovs->infos[1] = scene_ovs_pmd(ovs->inventory);
        ovs->infos[2] = scene_ovs_thread(ovs->inventory);
        ovs->infos[3] = scene_ovs_rxq(ovs->inventory);
    }
    struct ports_row *port = sample_row(sample, TABLE_PORTS, ovs->infos[0]);
    row_set(port, rx_packets, 2000 * second);
    row_set(port, tx_packets, 1500 * second);
    row_set(port, tx_dropped, 20 * second);
    row_set(port, rx_dropped, UINT64_C(0));
    scene_fill_pmd(sample_row(sample, TABLE_PMDS, ovs->infos[1]), second);
    struct threads_row *thread = sample_row(sample, TABLE_THREADS, ovs->infos[2]);
    row_set(thread, state, "R");
    row_set(thread, cpu, UINT64_C(0));
    row_set(thread, run_ns, 580000000 * second);
    row_set(thread, delay_ns, 420000000 * second);
    struct rxqs_row *rxq = sample_row(sample, TABLE_RXQS, ovs->infos[3]);
    row_set(rxq, usage_pct, 63.0);
}

#endif
