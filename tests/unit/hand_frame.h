/* SPDX-License-Identifier: MIT */
/*
 * A host made by hand for the tests of joins, rules and ledgers: what no lab has, as two samples a second
 * apart. hand_healthy makes one that is busy and well: two NUMA nodes of eight CPUs, two to a core; PMDs on
 * CPUs 0 and 8, their siblings idle; vm1 on CPUs 2 and 4, vm10 on 10 and 12, plain (no libvirt) on 6; a NIC
 * on vhost-user, a tap with and one without vhost, a macvtap and a VF. Tests change one thing and look.
 * Included by tests alone.
 */
#ifndef VNETTOP_TESTS_HAND_FRAME_H
#define VNETTOP_TESTS_HAND_FRAME_H

#include "unit/make_sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/join.h"

#define HAND_BASE UINT64_C(1000000) /* counters before the second */
#define HAND_NS   (100 * SECOND)    /* when the frame is */

struct hand {
    struct inventory *inventory;
    struct sample *prev, *cur;
    struct frame *frame;
};

static inline struct hand hand_new(void)
{
    struct inventory *inventory = inventory_new();
    return (struct hand){
        .inventory = inventory,
        .prev = sample_at(inventory, HAND_NS - SECOND),
        .cur = sample_at(inventory, HAND_NS),
    };
}

static inline const struct frame *hand_frame(struct hand *hand)
{
    struct pair pair = {.feed = "hand", .cur = hand->cur, .prev = hand->prev, .stale_ns = 3 * SECOND};
    frame_free(hand->frame);
    hand->frame = frame_new(&pair, 1, HAND_NS, HAND_NS, 0);
    return hand->frame;
}

static inline void hand_free(struct hand *hand)
{
    frame_free(hand->frame);
    sample_unref(hand->prev);
    sample_unref(hand->cur);
    inventory_unref(hand->inventory);
}

/* --- changing what is there --- */

static inline void *hand_find(struct sample *sample, enum table_id table, const char *key)
{
    for (size_t i = 0; i < sample->set[table].n; i++) {
        const struct row_head *row = sample_row_at(sample, table, i);
        if (strcmp(row->info->key, key) == 0)
            return (void *)row;
    }
    fail_msg("no row %s in %s", key, table_get(table)->name);
    return NULL;
}

/* A counter that rises by that much in the second. */
#define RISE(hand, name, NAME, key, field, by)                                                               \
    do {                                                                                                     \
        struct name##_row *before_ = hand_find((hand)->prev, TABLE_##NAME, key);                             \
        struct name##_row *after_ = hand_find((hand)->cur, TABLE_##NAME, key);                               \
        row_set(before_, field, HAND_BASE);                                                                  \
        row_set(after_, field, HAND_BASE + (uint64_t)(by));                                                  \
    } while (0)
/* A value of now. */
#define GAUGE(hand, name, NAME, key, field, value)                                                           \
    do {                                                                                                     \
        struct name##_row *row_ = hand_find((hand)->cur, TABLE_##NAME, key);                                 \
        row_set(row_, field, value);                                                                         \
    } while (0)
/* A fact. */
#define FACT(hand, name, NAME, key, field, value)                                                            \
    do {                                                                                                     \
        struct name##_row *row_ = hand_find((hand)->cur, TABLE_##NAME, key);                                 \
        struct name##_info *info_ = (struct name##_info *)row_->head.info;                                   \
        info_set(info_, field, value);                                                                       \
    } while (0)

static inline void hand_clear(struct slot_bits *bits, unsigned slot)
{
    bits->word[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}

/* A number that the source does not have after all. */
#define UNKNOWN(hand, name, NAME, key, field)                                                                \
    do {                                                                                                     \
        struct name##_row *row_ = hand_find((hand)->cur, TABLE_##NAME, key);                                 \
        hand_clear(&row_->head.have, ROW_SLOT(struct name##_row, field));                                    \
    } while (0)
#define UNKNOWN_FACT(hand, name, NAME, key, field)                                                           \
    do {                                                                                                     \
        struct name##_row *row_ = hand_find((hand)->cur, TABLE_##NAME, key);                                 \
        struct name##_info *info_ = (struct name##_info *)row_->head.info;                                   \
        hand_clear(&info_->head.have, INFO_SLOT(struct name##_info, field));                                 \
    } while (0)

#define PORT_RISE(hand, key, field, by)       RISE(hand, ports, PORTS, key, field, by)
#define PORT_FACT(hand, key, field, value)    FACT(hand, ports, PORTS, key, field, value)
#define PATH_FACT(hand, key, field, value)    FACT(hand, paths, PATHS, key, field, value)
#define THREAD_FACT(hand, key, field, value)  FACT(hand, threads, THREADS, key, field, value)
#define THREAD_GAUGE(hand, key, field, value) GAUGE(hand, threads, THREADS, key, field, value)
#define VM_FACT(hand, key, field, value)      FACT(hand, vms, VMS, key, field, value)

static inline const char *hand_text(struct hand *hand, const char *text)
{
    return inventory_text(hand->inventory, text);
}

/* A row in both samples; its fields are absent. */
static inline void hand_row(struct hand *hand, enum table_id table, const void *info)
{
    sample_row(hand->prev, table, info);
    sample_row(hand->cur, table, info);
}

/* --- making things --- */

/* Ticks of a second at 100 Hz: idle, soft interrupts, the rest in the kernel. */
static inline void hand_cpu_ticks(struct hand *hand, unsigned cpu, unsigned idle, unsigned softirq)
{
    char key[32];
    snprintf(key, sizeof(key), "cpu:%u", cpu);
    RISE(hand, cpus, CPUS, key, user_ticks, 0);
    RISE(hand, cpus, CPUS, key, system_ticks, 100 - idle - softirq);
    RISE(hand, cpus, CPUS, key, softirq_ticks, softirq);
    RISE(hand, cpus, CPUS, key, idle_ticks, idle);
    RISE(hand, cpus, CPUS, key, steal_ticks, 0);
    RISE(hand, cpus, CPUS, key, softnet_processed, 1000);
    RISE(hand, cpus, CPUS, key, softnet_dropped, 0);
    RISE(hand, cpus, CPUS, key, softnet_squeezed, 0);
}

static inline void hand_cpu(struct hand *hand, unsigned cpu, unsigned numa, const char *siblings)
{
    struct cpus_info *info = inventory_info(hand->inventory, TABLE_CPUS, "cpu:%u", cpu);
    info_set(info, cpu, cpu);
    info_set(info, numa, numa);
    if (siblings)
        info_set(info, siblings, hand_text(hand, siblings));
    hand_row(hand, TABLE_CPUS, info);
    hand_cpu_ticks(hand, cpu, 95, 0);
}

/* uri NULL: started by hand. What stands behind vm: in the key is its UUID. */
static inline void hand_vm(struct hand *hand, const char *key, const char *name, const char *uri)
{
    struct vms_info *info = inventory_info(hand->inventory, TABLE_VMS, "%s", key);
    info_set(info, vm_key, info->head.key);
    info_set(info, name, hand_text(hand, name));
    info_set(info, uuid, hand_text(hand, key + strlen("vm:")));
    info_set(info, pid, UINT64_C(4242));
    if (uri)
        info_set(info, uri, hand_text(hand, uri));
    hand_row(hand, TABLE_VMS, info);
    GAUGE(hand, vms, VMS, info->head.key, state, uri ? "running" : "process");
}

static inline void hand_run(struct hand *hand, const char *key, double run, double steal)
{
    RISE(hand, threads, THREADS, key, run_ns, run * 1e7);
    RISE(hand, threads, THREADS, key, delay_ns, steal * 1e7);
}

/* owner: a VM's key, or the name of a program. Keys are OWNER/ROLE/INDEX. */
static inline void hand_thread(struct hand *hand, const char *owner, const char *role, unsigned index,
                               unsigned cpu, const char *allowed, double run, double steal)
{
    struct threads_info *info =
        inventory_info(hand->inventory, TABLE_THREADS, "%s/%s/%u", owner, role, index);
    info_set(info, role, hand_text(hand, role));
    info_set(info, index, index);
    info_set(info, tid, UINT64_C(9000) + index);
    info_set(info, pid, UINT64_C(4242));
    if (strncmp(owner, "vm:", 3) == 0) {
        const struct vms_info *vm =
            (const struct vms_info *)((struct row_head *)hand_find(hand->cur, TABLE_VMS, owner))->info;
        info_set(info, vm, vm->name);
        info_set(info, vm_key, hand_text(hand, owner));
    } else {
        info_set(info, vm, hand_text(hand, owner));
    }
    if (allowed)
        info_set(info, allowed_cpus, hand_text(hand, allowed));
    hand_row(hand, TABLE_THREADS, info);
    THREAD_GAUGE(hand, info->head.key, cpu, cpu);
    THREAD_GAUGE(hand, info->head.key, state, "R");
    hand_run(hand, info->head.key, run, steal);
}

static inline void hand_traffic(struct hand *hand, const char *key, uint64_t rx, uint64_t tx)
{
    PORT_RISE(hand, key, rx_packets, rx);
    PORT_RISE(hand, key, tx_packets, tx);
    PORT_RISE(hand, key, rx_bytes, rx * 100);
    PORT_RISE(hand, key, tx_bytes, tx * 100);
}

static inline void hand_port(struct hand *hand, const char *key, const char *name, const char *kind,
                             const char *switch_name, uint64_t rx, uint64_t tx)
{
    struct ports_info *info = inventory_info(hand->inventory, TABLE_PORTS, "%s", key);
    info_set(info, name, hand_text(hand, name));
    info_set(info, kind, hand_text(hand, kind));
    if (strncmp(key, "net:1:", 6) == 0)
        info_set(info, netns, "self");
    if (switch_name)
        info_set(info, switch_, hand_text(hand, switch_name));
    hand_row(hand, TABLE_PORTS, info);
    hand_traffic(hand, key, rx, tx);
    PORT_RISE(hand, key, rx_dropped, 0);
    PORT_RISE(hand, key, tx_dropped, 0);
    if (strncmp(key, "net:", 4) == 0) {
        PORT_RISE(hand, key, rx_errors, 0);
        PORT_RISE(hand, key, tx_errors, 0);
        PORT_RISE(hand, key, rx_missed, 0);
        PORT_RISE(hand, key, carrier_changes, 0);
    }
}

static inline void hand_ovs_port(struct hand *hand, const char *key, const char *name, const char *kind,
                                 const char *socket, uint64_t rx, uint64_t tx)
{
    hand_port(hand, key, name, kind, "br-int", rx, tx);
    PORT_FACT(hand, key, datapath, "netdev@ovs-netdev");
    PORT_RISE(hand, key, tx_failure_drops, 0);
    PORT_RISE(hand, key, tx_mtu_drops, 0);
    PORT_RISE(hand, key, tx_qos_drops, 0);
    PORT_RISE(hand, key, rx_qos_drops, 0);
    if (socket) {
        PORT_FACT(hand, key, socket, hand_text(hand, socket));
        GAUGE(hand, ports, PORTS, key, vhost_state, "connected");
    }
}

/* The key is path:VMKEY:MAC. */
static inline void hand_path(struct hand *hand, const char *vm_key, const char *nic, const char *mac,
                             const char *backend, const char *port, const char *socket)
{
    const struct vms_info *vm =
        (const struct vms_info *)((struct row_head *)hand_find(hand->cur, TABLE_VMS, vm_key))->info;
    struct paths_info *info = inventory_info(hand->inventory, TABLE_PATHS, "path:%s:%s", vm_key, mac);
    info_set(info, vm, vm->name);
    info_set(info, vm_key, hand_text(hand, vm_key));
    info_set(info, nic, hand_text(hand, nic));
    info_set(info, mac, hand_text(hand, mac));
    info_set(info, backend, hand_text(hand, backend));
    info_set(info, model, strcmp(backend, "vfio") == 0 ? "vfio" : "virtio");
    info_set(info, queues, UINT64_C(1));
    if (port)
        info_set(info, port, hand_text(hand, port));
    if (socket)
        info_set(info, socket, hand_text(hand, socket));
    hand_row(hand, TABLE_PATHS, info);
    GAUGE(hand, paths, PATHS, info->head.key, state, "present");
}

/* Key pmd:CORE; busy of its cycles, its thread's key ovs-vswitchd/pmd/CORE. */
static inline void hand_pmd(struct hand *hand, unsigned core, unsigned numa, unsigned busy, uint64_t pps)
{
    char thread[64];
    struct pmds_info *info = inventory_info(hand->inventory, TABLE_PMDS, "pmd:%u", core);
    snprintf(thread, sizeof(thread), "ovs-vswitchd/pmd/%u", core);
    info_set(info, ovs, "/run/openvswitch");
    info_set(info, datapath, "netdev@ovs-netdev");
    info_set(info, thread, "pmd");
    info_set(info, core, core);
    info_set(info, numa, numa);
    info_set(info, thread_key, hand_text(hand, thread));
    hand_row(hand, TABLE_PMDS, info);
    RISE(hand, pmds, PMDS, info->head.key, rx_packets, pps);
    RISE(hand, pmds, PMDS, info->head.key, passes, pps);
    RISE(hand, pmds, PMDS, info->head.key, emc_hits, pps);
    RISE(hand, pmds, PMDS, info->head.key, smc_hits, 0);
    RISE(hand, pmds, PMDS, info->head.key, megaflow_hits, 0);
    RISE(hand, pmds, PMDS, info->head.key, upcalls_lost, 0);
    RISE(hand, pmds, PMDS, info->head.key, busy_cycles, busy * UINT64_C(1000000));
    RISE(hand, pmds, PMDS, info->head.key, idle_cycles, (100 - busy) * UINT64_C(1000000));
}

static inline void hand_rxq(struct hand *hand, const char *port, unsigned queue, unsigned core, double usage)
{
    char pmd[32], key[128];
    struct rxqs_info *info = inventory_info(hand->inventory, TABLE_RXQS, "rxq:%s:%u", port, queue);
    snprintf(pmd, sizeof(pmd), "pmd:%u", core);
    snprintf(key, sizeof(key), "rxq:%s:%u", port, queue);
    info_set(info, ovs, "/run/openvswitch");
    info_set(info, datapath, "netdev@ovs-netdev");
    info_set(info, port, hand_text(hand, port));
    info_set(info, queue, queue);
    info_set(info, pmd_key, hand_text(hand, pmd));
    hand_row(hand, TABLE_RXQS, info);
    GAUGE(hand, rxqs, RXQS, key, usage_pct, usage);
}

static inline void hand_datapath(struct hand *hand)
{
    struct datapaths_info *info = inventory_info(hand->inventory, TABLE_DATAPATHS, "dp:1");
    info_set(info, ovs, "/run/openvswitch");
    info_set(info, name, "netdev@ovs-netdev");
    hand_row(hand, TABLE_DATAPATHS, info);
    RISE(hand, datapaths, DATAPATHS, "dp:1", hits, 200000);
    RISE(hand, datapaths, DATAPATHS, "dp:1", missed, 10);
    RISE(hand, datapaths, DATAPATHS, "dp:1", lost, 0);
    GAUGE(hand, datapaths, DATAPATHS, "dp:1", flows, UINT64_C(120));
    GAUGE(hand, datapaths, DATAPATHS, "dp:1", flow_limit, UINT64_C(200000));
}

/* One of OVS's coverage counters. */
static inline void hand_event(struct hand *hand, const char *name, uint64_t by)
{
    char key[256];
    struct counters_info *info =
        inventory_info(hand->inventory, TABLE_COUNTERS, "counter:ovs:/run/openvswitch:%s", name);
    snprintf(key, sizeof(key), "counter:ovs:/run/openvswitch:%s", name);
    info_set(info, source, "ovs");
    info_set(info, object, "/run/openvswitch");
    info_set(info, name, hand_text(hand, name));
    hand_row(hand, TABLE_COUNTERS, info);
    RISE(hand, counters, COUNTERS, key, value, by);
}

static inline void hand_source(struct hand *hand, const char *name, const char *state, double age_s)
{
    char key[64];
    struct sources_info *info = inventory_info(hand->inventory, TABLE_SOURCES, "source:%s", name);
    snprintf(key, sizeof(key), "source:%s", name);
    info_set(info, name, hand_text(hand, name));
    hand_row(hand, TABLE_SOURCES, info);
    GAUGE(hand, sources, SOURCES, key, state, hand_text(hand, state));
    GAUGE(hand, sources, SOURCES, key, age_s, age_s);
}

static inline void hand_process(struct hand *hand, const char *name, uint64_t pid, const char *eal_args)
{
    struct processes_info *info = inventory_info(hand->inventory, TABLE_PROCESSES, "process:%s", name);
    info_set(info, name, hand_text(hand, name));
    info_set(info, pid, pid);
    info_set(info, eal_args, hand_text(hand, eal_args));
    hand_row(hand, TABLE_PROCESSES, info);
}

/* --- the healthy host --- */

#define VM1   "vm:11111111-0000-4000-8000-000000000001"
#define VM10  "vm:11111111-0000-4000-8000-000000000010"
#define PLAIN "vm:pid:777:123"
#define VHU1  "ovs:/run/openvswitch:vhu1"
#define VHU10 "ovs:/run/openvswitch:vhu10"
#define DPDK0 "ovs:/run/openvswitch:dpdk0"
#define TAP1  "net:1:21"
#define TAP10 "net:1:22"
#define MACV  "net:1:23"
#define VF    "net:1:2:vf3"
#define ETH0  "net:1:2"
#define VETH  "net:1:30"

/* NICs. */
#define NIC1_VHU  "path:" VM1 ":52:54:00:00:01:01"
#define NIC1_TAP  "path:" VM1 ":52:54:00:00:01:02"
#define NIC10_VHU "path:" VM10 ":52:54:00:00:10:01"
#define NIC10_TAP "path:" VM10 ":52:54:00:00:10:02"
#define NIC10_VF  "path:" VM10 ":52:54:00:00:10:03"
#define NIC_MACV  "path:" PLAIN ":52:54:00:00:77:01"

static inline void hand_healthy_cpus(struct hand *hand)
{
    for (unsigned cpu = 0; cpu < 16; cpu++) {
        char siblings[16];
        snprintf(siblings, sizeof(siblings), "%u-%u", cpu & ~1u, cpu | 1u);
        hand_cpu(hand, cpu, cpu / 8, siblings);
    }
    static const unsigned busy[] = {0, 2, 4, 8, 10, 12};
    for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++)
        hand_cpu_ticks(hand, busy[i], 5, 0);
}

static inline void hand_healthy_vms(struct hand *hand)
{
    hand_vm(hand, VM1, "vm1", "qemu:///system");
    hand_vm(hand, VM10, "vm10", "qemu:///system");
    hand_vm(hand, PLAIN, "plain", NULL);
    hand_thread(hand, VM1, "vcpu", 0, 2, "2", 80, 0.5);
    hand_thread(hand, VM1, "vcpu", 1, 4, "4", 60, 0.2);
    hand_thread(hand, VM1, "emulator", 0, 7, "6-7", 3, 0);
    hand_thread(hand, VM1, "vhost", 0, 6, "6-7", 40, 1);
    hand_thread(hand, VM10, "vcpu", 0, 10, "10", 80, 0.5);
    hand_thread(hand, VM10, "vcpu", 1, 12, "12", 60, 0.2);
    hand_thread(hand, VM10, "emulator", 0, 14, "14-15", 20, 0);
    hand_thread(hand, PLAIN, "vcpu", 0, 6, "6", 40, 1);
    hand_thread(hand, PLAIN, "emulator", 0, 7, "6-7", 2, 0);
}

static inline void hand_healthy_ovs(struct hand *hand)
{
    hand_thread(hand, "ovs-vswitchd", "pmd", 0, 0, "0", 99, 0.1);
    hand_thread(hand, "ovs-vswitchd", "pmd", 8, 8, "8", 99, 0.1);
    hand_thread(hand, "ovs-vswitchd", "handler", 1, 3, "0-15", 0.1, 0);
    hand_pmd(hand, 0, 0, 50, 400000);
    hand_pmd(hand, 8, 1, 40, 300000);
    hand_rxq(hand, "vhu1", 0, 0, 30);
    hand_rxq(hand, "dpdk0", 0, 0, 20);
    hand_rxq(hand, "vhu10", 0, 8, 40);
    hand_ovs_port(hand, VHU1, "vhu1", "vhost-user", "/run/vhu/1.sock", 100000, 200000);
    hand_ovs_port(hand, VHU10, "vhu10", "vhost-user", "/run/vhu/10.sock", 300000, 100000);
    hand_ovs_port(hand, DPDK0, "dpdk0", "dpdk", NULL, 300000, 400000);
    PORT_RISE(hand, DPDK0, rx_missed, 0);
    PORT_RISE(hand, DPDK0, rx_nombuf, 0);
    PORT_FACT(hand, VHU1, numa, UINT64_C(0));
    PORT_FACT(hand, VHU10, numa, UINT64_C(1));
    hand_datapath(hand);
    hand_event(hand, "drop_action_of_pipeline", 3);
    hand_event(hand, "datapath_drop_meter", 0);
    hand_event(hand, "datapath_drop_upcall_error", 0);
}

static inline void hand_healthy_nics(struct hand *hand)
{
    hand_port(hand, ETH0, "eth0", "physical", "br0", 50000, 50000);
    hand_port(hand, TAP1, "tap1", "tap", "br0", 20000, 30000);
    hand_port(hand, TAP10, "tap10", "tap", "br0", 20000, 30000);
    hand_port(hand, MACV, "macvtap0", "macvtap", NULL, 5000, 6000);
    hand_port(hand, VF, "eth0/vf3", "vf", NULL, 7000, 8000);
    hand_port(hand, VETH, "veth0", "veth", "br0", 1000, 1000);
    PORT_FACT(hand, VF, mac, "52:54:00:00:10:03");
    PORT_RISE(hand, TAP1, qdisc_drops, 0);
    PORT_RISE(hand, ETH0, qdisc_drops, 0);
    hand_path(hand, VM1, "net0", "52:54:00:00:01:01", "vhost-user", NULL, "/run/vhu/1.sock");
    hand_path(hand, VM1, "net1", "52:54:00:00:01:02", "vhost", "tap1", NULL);
    hand_path(hand, VM10, "net0", "52:54:00:00:10:01", "vhost-user", NULL, "/run/vhu/10.sock");
    hand_path(hand, VM10, "net1", "52:54:00:00:10:02", "tap", "tap10", NULL);
    hand_path(hand, VM10, "hostdev0", "52:54:00:00:10:03", "vfio", NULL, NULL);
    hand_path(hand, PLAIN, "n0", "52:54:00:00:77:01", "macvtap", "macvtap0", NULL);
}

static inline struct hand hand_healthy(void)
{
    struct hand hand = hand_new();
    hand_healthy_cpus(&hand);
    hand_healthy_vms(&hand);
    hand_healthy_ovs(&hand);
    hand_healthy_nics(&hand);
    hand_source(&hand, "netlink", "ok", 0.01);
    return hand;
}

#endif
