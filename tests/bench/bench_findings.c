/* SPDX-License-Identifier: MIT */
/*
 * bench_findings: what joins and rules cost in CPU time on a frame of 100 VMs with 400 vCPUs, 64 ports of
 * OVS on 8 PMDs, 1,000 links and 128 CPUs, made by hand: well, with one thing in ten wrong, and with
 * everything wrong. The frame itself is not counted, it is bench_frame's. Called by tests/bench/run. Exit
 * status 1: the target was missed.
 */
#include "bench/bench.h"
#include "src/findings.h"
#include "src/join.h"

#define VMS       100
#define VCPUS     4
#define OVS_PORTS 64
#define LINKS     1000
#define NICS      4
#define CPUS      128
#define PMDS      8
#define RUNS      200
#define WARM_UP   20
#define TARGET_MS 1.0
#define NS        INT64_C(1000000000)

/* One in so many things is ill; 0 = none. */
struct host {
    struct inventory *inventory;
    struct sample *prev, *cur;
    unsigned ill;
};

static bool is_ill(const struct host *host, size_t i)
{
    return host->ill && i % host->ill == 0;
}

static const char *text(struct host *host, const char *word)
{
    return inventory_text(host->inventory, word);
}

/* A row in both samples; counters are set by COUNT. */
#define ROWS(host, name, NAME, info)                                                                         \
    struct name##_row *before = sample_row((host)->prev, TABLE_##NAME, info);                                \
    struct name##_row *after = sample_row((host)->cur, TABLE_##NAME, info)
#define COUNT(field, by)                                                                                     \
    do {                                                                                                     \
        row_set(before, field, UINT64_C(1000000));                                                           \
        row_set(after, field, UINT64_C(1000000) + (uint64_t)(by));                                           \
    } while (0)

static void add_cpus(struct host *host)
{
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        struct cpus_info *info = inventory_info(host->inventory, TABLE_CPUS, "cpu:%u", cpu);
        info_set(info, cpu, cpu);
        info_set(info, numa, UINT64_C(0));
        info_set(info, siblings, inventory_textf(host->inventory, "%u-%u", cpu & ~1u, cpu | 1u));
        info_set(info, governor, is_ill(host, cpu) ? "powersave" : "performance");
        info_set(info, idle_exit_us, UINT64_C(133));
        ROWS(host, cpus, CPUS, info);
        COUNT(deep_sleeps, is_ill(host, cpu) ? 1000 : 10);
        COUNT(user_ticks, 30);
        COUNT(system_ticks, 10);
        COUNT(softirq_ticks, 5);
        COUNT(idle_ticks, 55);
        COUNT(steal_ticks, 0);
        COUNT(softnet_processed, 10000);
        COUNT(softnet_dropped, is_ill(host, cpu) ? 500 : 0);
        COUNT(softnet_squeezed, 3);
    }
}

static void add_thread(struct host *host, const struct vms_info *vm, const char *role, unsigned index,
                       unsigned cpu, bool pinned, bool ill)
{
    const char *owner = vm ? vm->head.key : "ovs-vswitchd";
    struct threads_info *info =
        inventory_info(host->inventory, TABLE_THREADS, "%s/%s/%u", owner, role, index);
    info_set(info, role, text(host, role));
    info_set(info, vm, vm ? vm->name : owner);
    if (vm)
        info_set(info, vm_key, vm->head.key);
    info_set(info, index, index);
    info_set(info, tid, UINT64_C(10000) + index);
    info_set(info, allowed_cpus, pinned ? inventory_textf(host->inventory, "%u", cpu) : "16-127");
    ROWS(host, threads, THREADS, info);
    COUNT(run_ns, ill ? 500000000 : strcmp(role, "pmd") == 0 ? 990000000 : 100000000);
    COUNT(delay_ns, ill ? 400000000 : 1000000);
    row_set(after, cpu, cpu);
    row_set(after, state, "S");
}

static void add_port(struct host *host, const char *key, const char *name, const char *kind, bool ill)
{
    struct ports_info *info = inventory_info(host->inventory, TABLE_PORTS, "%s", key);
    info_set(info, name, name);
    info_set(info, kind, text(host, kind));
    info_set(info, netns, "self");
    info_set(info, switch_, "br0");
    info_set(info, mtu, UINT64_C(1500));
    info_set(info, admin, ill ? "down" : "up");
    if (strcmp(kind, "physical") == 0)
        info_set(info, numa, UINT64_C(0));
    ROWS(host, ports, PORTS, info);
    COUNT(rx_packets, 20000);
    COUNT(tx_packets, 20000);
    COUNT(rx_bytes, 2000000);
    COUNT(tx_bytes, 2000000);
    COUNT(rx_dropped, 0);
    COUNT(tx_dropped, ill ? 3000 : 0);
    COUNT(rx_missed, ill ? 1000 : 0);
    COUNT(rx_errors, 0);
    COUNT(tx_errors, 0);
    COUNT(carrier_changes, 0);
    COUNT(qdisc_drops, 0);
}

/* What its ports tell, and a half more that comes in where things are ill. */
static void add_bridge(struct host *host)
{
    struct ports_info *info = inventory_info(host->inventory, TABLE_PORTS, "net:4026531840:9999");
    info_set(info, name, "br0");
    info_set(info, kind, "bridge");
    ROWS(host, ports, PORTS, info);
    COUNT(ports_rx_packets, host->ill ? LINKS * 30000 : LINKS * 20000);
    COUNT(ports_tx_packets, LINKS * 20000);
}

static void add_path(struct host *host, const struct vms_info *vm, unsigned nic, const char *port,
                     const char *socket)
{
    struct paths_info *info = inventory_info(host->inventory, TABLE_PATHS, "path:%s:%u", vm->head.key, nic);
    info_set(info, vm, vm->name);
    info_set(info, vm_key, vm->head.key);
    info_set(info, nic, nic ? "net1" : "net0");
    info_set(info, model, "virtio");
    info_set(info, backend, socket ? "vhost-user" : "vhost");
    info_set(info, queues, UINT64_C(1));
    if (port)
        info_set(info, port, port);
    if (socket)
        info_set(info, socket, socket);
    ROWS(host, paths, PATHS, info);
    row_set(before, state, "present");
    row_set(after, state, "present");
}

/* Each VM: four vCPUs, half of the VMs pinned; emulator, vhost worker; a tap, and of the first 64 a
 * vhost-user port. */
static void add_vm(struct host *host, unsigned i)
{
    unsigned first = PMDS * 2 + i * VCPUS % (CPUS - PMDS * 2);
    struct vms_info *vm =
        inventory_info(host->inventory, TABLE_VMS, "vm:%08u-0000-4000-8000-000000000000", i);
    info_set(vm, vm_key, vm->head.key);
    info_set(vm, name, inventory_textf(host->inventory, "guest-%u", i));
    info_set(vm, uri, "qemu:///system");
    sample_row(host->prev, TABLE_VMS, vm);
    struct vms_row *row = sample_row(host->cur, TABLE_VMS, vm);
    row_set(row, state, "running");
    for (unsigned v = 0; v < VCPUS; v++)
        add_thread(host, vm, "vcpu", v, first + v, i % 2, is_ill(host, i));
    add_thread(host, vm, "emulator", 0, first, false, false);
    add_thread(host, vm, "vhost", 0, first, false, false);
    add_path(host, vm, 0, inventory_textf(host->inventory, "vnet%u", i), NULL);
    if (i < OVS_PORTS)
        add_path(host, vm, 1, NULL, inventory_textf(host->inventory, "/run/vhu/%u.sock", i));
}

static void add_ovs_port(struct host *host, unsigned i)
{
    char key[64];
    const char *name = inventory_textf(host->inventory, "vhu%u", i);
    snprintf(key, sizeof(key), "ovs:/run/openvswitch:vhu%u", i);
    add_port(host, key, name, "vhost-user", is_ill(host, i));
    struct ports_info *info =
        (struct ports_info *)sample_row_at(host->cur, TABLE_PORTS, host->cur->set[TABLE_PORTS].n - 1)->info;
    info_set(info, socket, inventory_textf(host->inventory, "/run/vhu/%u.sock", i));
    info_set(info, datapath, "netdev@ovs-netdev");
    struct rxqs_info *rxq = inventory_info(host->inventory, TABLE_RXQS, "rxq:%u", i);
    info_set(rxq, ovs, "/run/openvswitch");
    info_set(rxq, port, name);
    info_set(rxq, datapath, "netdev@ovs-netdev");
    info_set(rxq, queue, UINT64_C(0));
    info_set(rxq, pmd_key, inventory_textf(host->inventory, "pmd:%u", i % PMDS));
    sample_row(host->prev, TABLE_RXQS, rxq);
    struct rxqs_row *row = sample_row(host->cur, TABLE_RXQS, rxq);
    row_set(row, usage_pct, 10.0);
}

static void add_pmd(struct host *host, unsigned i)
{
    struct pmds_info *info = inventory_info(host->inventory, TABLE_PMDS, "pmd:%u", i);
    info_set(info, ovs, "/run/openvswitch");
    info_set(info, thread, "pmd");
    info_set(info, core, i * 2);
    info_set(info, numa, UINT64_C(0));
    info_set(info, thread_key, inventory_textf(host->inventory, "ovs-vswitchd/pmd/%u", i));
    ROWS(host, pmds, PMDS, info);
    COUNT(rx_packets, 500000);
    COUNT(passes, 500000);
    COUNT(emc_hits, 400000);
    COUNT(megaflow_hits, 100000);
    COUNT(busy_cycles, is_ill(host, i) ? 98 : 60);
    COUNT(idle_cycles, is_ill(host, i) ? 2 : 40);
    add_thread(host, NULL, "pmd", i, i * 2, true, is_ill(host, i));
}

static struct host make_host(unsigned ill)
{
    struct host host = {.inventory = inventory_new(), .ill = ill};
    host.prev = sample_new(host.inventory);
    host.cur = sample_new(host.inventory);
    host.prev->t0_ns = host.prev->t1_ns = 99 * NS;
    host.cur->t0_ns = host.cur->t1_ns = 100 * NS;
    add_cpus(&host);
    for (unsigned i = 0; i < VMS; i++)
        add_vm(&host, i);
    for (unsigned i = 0; i < PMDS; i++)
        add_pmd(&host, i);
    for (unsigned i = 0; i < LINKS; i++) {
        char key[32];
        snprintf(key, sizeof(key), "net:4026531840:%u", i + 1);
        add_port(&host, key, inventory_textf(host.inventory, i < VMS ? "vnet%u" : "veth%u", i),
                 i < VMS          ? "tap"
                 : i < VMS + NICS ? "physical"
                                  : "veth",
                 is_ill(&host, i));
    }
    add_bridge(&host);
    for (unsigned i = 0; i < OVS_PORTS; i++)
        add_ovs_port(&host, i);
    return host;
}

static void free_host(struct host *host)
{
    sample_unref(host->prev);
    sample_unref(host->cur);
    inventory_unref(host->inventory);
}

enum stage { JOIN, RULES, WHOLE, STAGES };

static size_t run_once(const struct host *host, struct findings *findings, int run,
                       struct times times[STAGES])
{
    int64_t now_ns = 100 * NS + run * NS;
    struct pair pair = {.feed = "bench", .cur = host->cur, .prev = host->prev};
    struct frame *frame = frame_new(&pair, 1, now_ns, now_ns, 0);
    uint64_t start = clock_thread_cpu_ns();
    frame_join(frame);
    uint64_t joined = clock_thread_cpu_ns();
    struct sample *sample = findings_update(findings, frame);
    uint64_t end = clock_thread_cpu_ns();
    size_t n = sample->set[TABLE_FINDINGS].n;
    sample_unref(sample);
    frame_free(frame);
    if (run < WARM_UP)
        return n;
    times_add(&times[JOIN], joined - start);
    times_add(&times[RULES], end - joined);
    times_add(&times[WHOLE], end - start);
    return n;
}

static int bench(const char *what, unsigned ill, double target_ms)
{
    static struct times times[STAGES];
    struct host host = make_host(ill);
    struct findings *findings = findings_new();
    size_t n = 0;
    memset(times, 0, sizeof(times));
    for (int run = 0; run < WARM_UP + RUNS; run++)
        n = run_once(&host, findings, run, times);
    printf("  %-24s %4zu findings: join %.3f ms, rules %.3f ms, both %.3f ms (least %.3f)", what, n,
           times_ms(&times[JOIN], 0.5), times_ms(&times[RULES], 0.5), times_ms(&times[WHOLE], 0.5),
           times_ms(&times[WHOLE], 0));
    int missed = target_ms > 0 ? judge(times_ms(&times[WHOLE], 0.5), target_ms) : 0;
    printf("%s\n", target_ms > 0 ? " ms" : "");
    findings_free(findings);
    free_host(&host);
    return missed;
}

int main(void)
{
    printf("Joins and rules, CPU time a frame, median of %d: %d VMs, %d vCPUs, %d OVS ports, %d links, %d "
           "CPUs\n",
           RUNS, VMS, VMS * VCPUS, OVS_PORTS, LINKS, CPUS);
    int missed = bench("all is well", 0, TARGET_MS);
    missed += bench("one in ten is ill", 10, 2 * TARGET_MS);
    missed += bench("all is ill", 1, 0);
    return missed ? 1 : 0;
}
