/* SPDX-License-Identifier: MIT */
/*
 * A hand-made host for the tests of the screen: fake collectors with fixed numbers behind a real session, and
 * clocks that stand still until a test moves them, so that every screen is the same to the letter. Included
 * by one test program each; it defines the clocks in place of src/clock.c's.
 */
#ifndef VNETTOP_TESTS_SCENE_H
#define VNETTOP_TESTS_SCENE_H

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/clock.h"
#include "src/collector.h"
#include "src/options.h"
#include "src/session.h"
#include "src/takeaway.h"
#include "ui/console.h"

#define SCENE_SECONDS 70 /* seconds of history before the present */
#define SCENE_MONO_NS INT64_C(1000000000000)
#define SCENE_WALL_NS                                                                                        \
    (INT64_C(1796047331) * 1000000000 - SCENE_SECONDS * INT64_C(1000000000)) /* ends 14:02:11 UTC */
#define SCENE_NS   INT64_C(1000000000)
#define SCENE_IDLE 12 /* taps without traffic */

/* --- clocks --- */

static atomic_bool scene_real_time; /* the system's clocks after all */
static atomic_llong scene_passed_ns;

static int64_t scene_system_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return t.tv_sec * SCENE_NS + t.tv_nsec;
}

int64_t clock_mono_ns(void)
{
    return atomic_load(&scene_real_time) ? scene_system_ns(CLOCK_MONOTONIC)
                                         : SCENE_MONO_NS + atomic_load(&scene_passed_ns);
}

int64_t clock_wall_ns(void)
{
    return atomic_load(&scene_real_time) ? scene_system_ns(CLOCK_REALTIME)
                                         : SCENE_WALL_NS + atomic_load(&scene_passed_ns);
}

/* The program costs a third of a percent, each feed a twentieth. */
uint64_t clock_process_cpu_ns(void)
{
    return (uint64_t)atomic_load(&scene_passed_ns) / 300;
}

uint64_t clock_thread_cpu_ns(void)
{
    return (uint64_t)atomic_load(&scene_passed_ns) / 2000;
}

static uint64_t scene_second(void)
{
    return (uint64_t)((clock_mono_ns() - SCENE_MONO_NS) / SCENE_NS);
}

/* --- what there is --- */

static atomic_bool scene_empty; /* every port and CPU is gone */
static atomic_bool scene_hang;  /* the hanging collector stays in its read while this is true */

enum scene_port_kind { STEADY, NEWCOMER, RESTARTED, DENIED, COUNTERLESS };

struct scene_port {
    const char *name, *kind, *master;
    uint64_t speed_mbps; /* 0 = none */
    uint64_t rx_pps, rx_size, rx_drops, rx_missed;
    uint64_t tx_pps, tx_size, tx_drops, qdisc_drops;
    enum scene_port_kind what;
};

static const struct scene_port scene_ports[] = {
    {"lo", "loopback", NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, STEADY},
    {"eth0", "physical", "bond0", 10000, 474000, 1500, 0, 230, 12000, 70, 0, 0, STEADY},
    {"eth1", "physical", "bond0", 0, 0, 0, 0, 0, 0, 0, 0, 0, STEADY},
    {"bond0", "bond", NULL, 10000, 474000, 1500, 0, 0, 12000, 70, 0, 0, STEADY},
    {"br-ext", "bridge", NULL, 0, 40, 60, 3, 0, 0, 0, 0, 0, STEADY},
    {"vnet0", "tap", "br-ext", 0, 568000, 64, 0, 0, 474000, 1500, 94000, 0, STEADY},
    {"vnet3", "tap", "br-ext", 0, 11000, 900, 0, 0, 12000, 800, 0, 2, STEADY},
    {"vnet4", "tap", "br-ext", 0, 900, 300, 0, 0, 1100, 300, 0, 0, STEADY},
    {"vnet5", "tap", "br-ext", 0, 2500, 300, 0, 0, 2400, 300, 0, 0, RESTARTED},
    {"vnet6", "tap", "br-ext", 0, 2500, 300, 0, 0, 2400, 300, 0, 0, NEWCOMER},
    {"eth0v0", "vf", "br-ext", 10000, 0, 0, 0, 0, 0, 0, 0, 0, DENIED},
    {"erspan0", "other", NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, COUNTERLESS},
    {"abcdefghijklmno", "veth", "br-ext", 0, 7, 60, 0, 0, 7, 60, 0, 0,
     STEADY}, /* as long as the kernel allows */
    {"网络端口一", "veth", "br-ext", 0, 301, 1500, 0, 0, 301, 1500, 0, 0, STEADY},
    {"e\u0301te\u0301\u0302\u0303\u0304", "veth", "br-ext", 0, 302, 1500, 0, 0, 302, 1500, 0, 0, STEADY},
    {"\u0301lone", "veth", "br-ext", 0, 303, 1500, 0, 0, 303, 1500, 0, 0, STEADY},
    {"t\033[31m\n\t\a\r\x7f", "veth", "br-ext", 0, 304, 1500, 0, 0, 304, 1500, 0, 0, STEADY},
    {"\u202egnp.\u2066x\u2069", "veth", "br-ext", 0, 305, 1500, 0, 0, 305, 1500, 0, 0, STEADY},
    {"\u05e9\u05dc\u05d5\u05dd", "veth", "br-ext", 0, 306, 1500, 0, 0, 306, 1500, 0, 0, STEADY},
    {"\xff\xc0\x80\xed\xa0\x80!", "veth", "br-ext", 0, 307, 1500, 0, 0, 307, 1500, 0, 0, STEADY},
    {"z\u200d\u200b\ufe0f\u2028w", "veth", "br-ext", 0, 308, 1500, 0, 0, 308, 1500, 0, 0, STEADY},
    {"", "veth", "br-ext", 0, 309, 1500, 0, 0, 309, 1500, 0, 0, STEADY},
};
#define SCENE_PORTS (sizeof(scene_ports) / sizeof(scene_ports[0]))

/* Sum over the seconds so far of a rate that rises and falls. */
static uint64_t scene_count(uint64_t per_s, size_t phase, uint64_t second)
{
    static const uint64_t percent[] = {100, 96, 103, 99, 60, 72, 88, 97, 101, 100, 98, 102};
    uint64_t sum = 0;
    for (uint64_t s = 1; s <= second; s++)
        sum += per_s * percent[(s + phase * 5) % 12] / 100;
    return sum;
}

static void scene_fill_port(struct ports_row *row, const struct scene_port *port, size_t i, uint64_t second)
{
    if (port->what == COUNTERLESS)
        return;
    if (port->what == DENIED) {
        row_deny(row, rx_packets);
        row_deny(row, tx_packets);
        row_deny(row, rx_bytes);
        row_deny(row, tx_bytes);
        row_deny(row, rx_dropped);
        row_deny(row, tx_dropped);
        return;
    }
    if (port->what == RESTARTED && second >= SCENE_SECONDS)
        second -= SCENE_SECONDS;
    row_set(row, rx_packets, scene_count(port->rx_pps, i, second));
    row_set(row, tx_packets, scene_count(port->tx_pps, i, second));
    row_set(row, rx_bytes, scene_count(port->rx_pps, i, second) * port->rx_size);
    row_set(row, tx_bytes, scene_count(port->tx_pps, i, second) * port->tx_size);
    row_set(row, rx_dropped, scene_count(port->rx_drops, i, second));
    row_set(row, tx_dropped, scene_count(port->tx_drops, i, second > 40 ? second - 40 : 0));
    row_set(row, rx_errors, UINT64_C(0));
    row_set(row, tx_errors, UINT64_C(0));
    row_set(row, multicast, UINT64_C(17));
    if (strcmp(port->kind, "physical") == 0)
        row_set(row, rx_missed, scene_count(port->rx_missed, i, second));
}

static struct ports_info *scene_port_info(struct inventory *inventory, const struct scene_port *port,
                                          size_t i)
{
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, "net:1:%zu", i + 1);
    info_set(info, netns, "self");
    info_set(info, ifindex, i + 1);
    info_set(info, name, port->name);
    info_set(info, kind, port->kind);
    if (port->master)
        info_set(info, switch_, port->master);
    if (port->speed_mbps)
        info_set(info, speed_mbps, port->speed_mbps);
    info_set(info, mtu, UINT64_C(1500));
    info_set(info, mac, "52:54:00:00:00:01");
    info_set(info, admin, "up");
    info_set(info, carrier, strcmp(port->name, "eth1") == 0 ? "down" : "up");
    if (strcmp(port->name, "vnet0") == 0)
        info_set(info, alias,
                 "web-rx: the tap of the web server's first card, moved here from br-int in spring");
    return info;
}

static void scene_stamp(struct sample *sample, int64_t took_ns)
{
    sample->t0_ns = clock_mono_ns();
    sample->t1_ns = sample->t0_ns + took_ns;
    sample->wall_ns = clock_wall_ns();
}

/* What a fake collector keeps between reads: what exists is told once, as by the real ones. */
struct scene_state {
    struct inventory *inventory;
    void *infos[64];
};

static enum collect_result scene_open(const struct collect_config *config, void **state,
                                      struct collect_call *call)
{
    (void)config;
    (void)call;
    struct scene_state *opened = calloc(1, sizeof(*opened));
    if (!opened)
        abort();
    opened->inventory = inventory_new();
    *state = opened;
    return COLLECT_OK;
}

static void scene_close(void *state)
{
    struct scene_state *opened = state;
    inventory_unref(opened->inventory);
    free(opened);
}

static struct ports_info *scene_link_info(struct scene_state *state, size_t i)
{
    struct scene_port idle = {.kind = "tap", .master = "br-ext"};
    if (state->infos[i])
        return state->infos[i];
    if (i >= SCENE_PORTS)
        idle.name = inventory_textf(state->inventory, "vnet%zu", i - SCENE_PORTS + 10);
    return state->infos[i] = scene_port_info(state->inventory, i < SCENE_PORTS ? &scene_ports[i] : &idle, i);
}

static enum collect_result scene_links(void *state, struct collect_call *call, struct sample **out)
{
    static const struct scene_port idle = {.kind = "tap"};
    struct scene_state *links = state;
    uint64_t second = scene_second();
    struct sample *sample = sample_new(links->inventory);
    scene_stamp(sample, 310000);
    for (size_t i = 0; i < SCENE_PORTS + SCENE_IDLE && !atomic_load(&scene_empty); i++) {
        const struct scene_port *port = i < SCENE_PORTS ? &scene_ports[i] : &idle;
        if (port->what != NEWCOMER || second >= SCENE_SECONDS)
            scene_fill_port(sample_row(sample, TABLE_PORTS, scene_link_info(links, i)), port, i, second);
    }
    snprintf(call->detail, sizeof(call->detail), "this namespace, %zu links; RTM_GETSTATS",
             sample->set[TABLE_PORTS].n);
    *out = sample;
    return COLLECT_OK;
}

/* Another part of the same ports, as the real source has it. */
static enum collect_result scene_queues(void *state, struct collect_call *call, struct sample **out)
{
    struct scene_state *queues = state;
    uint64_t second = scene_second();
    struct sample *sample = sample_new(queues->inventory);
    scene_stamp(sample, 520000);
    for (size_t i = 0; i < SCENE_PORTS && !atomic_load(&scene_empty); i++) {
        if (scene_ports[i].what != STEADY)
            continue;
        if (!queues->infos[i])
            queues->infos[i] = inventory_info(queues->inventory, TABLE_PORTS, "net:1:%zu", i + 1);
        struct ports_row *row = sample_row(sample, TABLE_PORTS, queues->infos[i]);
        row_set(row, qdisc_drops, scene_count(scene_ports[i].qdisc_drops, i, second));
        row_set(row, qdisc_backlog_bytes, UINT64_C(0));
    }
    snprintf(call->detail, sizeof(call->detail), "queueing disciplines of this namespace");
    *out = sample;
    return COLLECT_OK;
}

struct scene_cpu {
    uint64_t numa, core;
    const char *siblings, *isolated, *irqs;
    uint64_t user, system, softirq, irq, guest, steal, iowait, idle; /* ticks a second, 100 in all */
    uint64_t softnet_pps, softnet_drops, squeezes;
};

static const struct scene_cpu scene_cpus[] = {
    {0, 0, "0-1", "no", "eth0(2)", 4, 11, 81, 2, 0, 0, 0, 2, 480000, 0, 37},
    {0, 0, "0-1", "no", "", 2, 3, 1, 0, 22, 0, 1, 71, 900, 0, 0},
    {1, 1, "2-3", "yes", "", 0, 1, 0, 0, 99, 0, 0, 0, 0, 0, 0},
    {1, 1, "2-3", "no", "eth1", 1, 1, 3, 0, 40, 12, 0, 43, 94000, 120, 0},
};
#define SCENE_CPUS (sizeof(scene_cpus) / sizeof(scene_cpus[0]))

static void scene_fill_cpu(struct cpus_row *row, const struct scene_cpu *cpu, size_t i, uint64_t second)
{
    row_set(row, user_ticks, cpu->user * second);
    row_set(row, nice_ticks, UINT64_C(0));
    row_set(row, system_ticks, cpu->system * second);
    row_set(row, softirq_ticks, cpu->softirq * second);
    row_set(row, irq_ticks, cpu->irq * second);
    row_set(row, guest_ticks, cpu->guest * second);
    row_set(row, steal_ticks, cpu->steal * second);
    row_set(row, iowait_ticks, cpu->iowait * second);
    row_set(row, idle_ticks, cpu->idle * second);
    row_set(row, net_rx, cpu->softnet_pps / 20 * second);
    row_set(row, net_tx, second);
    row_set(row, softnet_processed, scene_count(cpu->softnet_pps, i, second));
    row_set(row, softnet_dropped, cpu->softnet_drops * second);
    row_set(row, softnet_squeezed, cpu->squeezes * second);
}

static struct host_info *scene_host_info(struct inventory *inventory)
{
    struct host_info *info = inventory_info(inventory, TABLE_HOST, "host");
    info_set(info, host, "kvm07");
    info_set(info, cpus_online, (uint64_t)SCENE_CPUS);
    info_set(info, isolated_cpus, "2");
    return info;
}

static void scene_fill_host(struct host_row *row, uint64_t second)
{
    row_set(row, psi_cpu_some_us, 123000 * second);
    row_set(row, psi_irq_full_us, 4000 * second);
    row_set(row, psi_memory_some_us, UINT64_C(0));
    row_set(row, psi_io_some_us, 20 * second);
    row_set(row, running, UINT64_C(5));
    row_set(row, switches, 31000 * second);
}

static struct cpus_info *scene_cpu_info(struct inventory *inventory, const struct scene_cpu *cpu, size_t i)
{
    struct cpus_info *info = inventory_info(inventory, TABLE_CPUS, "cpu:%zu", i);
    info_set(info, cpu, i);
    info_set(info, numa, cpu->numa);
    info_set(info, package, cpu->numa);
    info_set(info, core, cpu->core);
    info_set(info, siblings, cpu->siblings);
    info_set(info, isolated, cpu->isolated);
    info_set(info, nohz_full, cpu->isolated);
    info_set(info, online, "yes");
    if (*cpu->irqs)
        info_set(info, irqs, cpu->irqs);
    return info;
}

static enum collect_result scene_host_read(void *state, struct collect_call *call, struct sample **out)
{
    struct scene_state *cpus = state;
    uint64_t second = scene_second();
    struct sample *sample = sample_new(cpus->inventory);
    scene_stamp(sample, 140000);
    for (size_t i = 0; i < SCENE_CPUS && !cpus->infos[i]; i++)
        cpus->infos[i] = scene_cpu_info(cpus->inventory, &scene_cpus[i], i);
    if (!cpus->infos[SCENE_CPUS])
        cpus->infos[SCENE_CPUS] = scene_host_info(cpus->inventory);
    for (size_t i = 0; i < SCENE_CPUS && !atomic_load(&scene_empty); i++)
        scene_fill_cpu(sample_row(sample, TABLE_CPUS, cpus->infos[i]), &scene_cpus[i], i, second);
    if (!atomic_load(&scene_empty))
        scene_fill_host(sample_row(sample, TABLE_HOST, cpus->infos[SCENE_CPUS]), second);
    snprintf(call->detail, sizeof(call->detail), "/proc and /sys, 4 CPUs, 2 NUMA nodes, 1 isolated");
    *out = sample;
    return COLLECT_OK;
}

#include "scene_guests.h"

/* Answers until five seconds before the present: its rows grow old. */
static enum collect_result scene_ovs(void *state, struct collect_call *call, struct sample **out)
{
    uint64_t second = scene_second();
    if (second > SCENE_SECONDS - 5)
        return collect_fail(
            &call->error, COLLECT_NO_ANSWER,
            "/var/run/openvswitch/ovs-vswitchd.1188.ctl: no reply within 2.0 s: the process may be "
            "stopped; see ovs-appctl -t ovs-vswitchd version");
    struct scene_state *ovs = state;
    struct sample *sample = sample_new(ovs->inventory);
    scene_stamp(sample, 500000);
    scene_fill_switch(ovs, sample, second);
    snprintf(call->detail, sizeof(call->detail), "3.1.0, pid 1188, /var/run/openvswitch");
    *out = sample;
    return COLLECT_OK;
}

static enum collect_result scene_fail_libvirt(const struct collect_config *config, void **state,
                                              struct collect_call *call)
{
    (void)config;
    *state = NULL;
    return collect_fail(
        &call->error, COLLECT_FAILED,
        "qemu:///system: Failed to connect socket to '/var/run/libvirt/virtqemud-sock-ro': No such "
        "file or directory; start virtqemud (systemctl start virtqemud), or name another with "
        "--connect URI");
}

static enum collect_result scene_deny_dpdk(const struct collect_config *config, void **state,
                                           struct collect_call *call)
{
    (void)config;
    *state = NULL;
    return collect_fail(&call->error, COLLECT_DENIED,
                        "/run/dpdk/rte is root's (0700): run as root to see 2 processes");
}

static enum collect_result scene_no_vpp(const struct collect_config *config, void **state,
                                        struct collect_call *call)
{
    (void)config;
    *state = NULL;
    return collect_fail(&call->error, COLLECT_NONE,
                        "no /run/vpp/stats.sock; --vpp-stats names another place");
}

static inline enum collect_result scene_hanging(void *state, struct collect_call *call, struct sample **out)
{
    while (atomic_load(&scene_hang))
        usleep(1000);
    return scene_queues(state, call, out);
}

#define SCENE_COLLECTOR(source_, feed_, open_, collect_)                                                     \
    {                                                                                                        \
        .source = source_, .feed = feed_, .help = "fake", .open = open_, .collect = collect_,                \
        .close = scene_close                                                                                 \
    }

static const struct collector scene_collectors[] = {
    SCENE_COLLECTOR("host", "host", scene_open, scene_host_read),
    SCENE_COLLECTOR("netlink", "netlink", scene_open, scene_links),
    SCENE_COLLECTOR("netlink", "netlink-queues", scene_open, scene_queues),
    SCENE_COLLECTOR("qemu", "qemu", scene_open, scene_qemu),
    SCENE_COLLECTOR("libvirt", "libvirt", scene_fail_libvirt, NULL),
    SCENE_COLLECTOR("ovs", "ovs", scene_open, scene_ovs),
    SCENE_COLLECTOR("dpdk", "dpdk", scene_deny_dpdk, NULL),
    SCENE_COLLECTOR("vpp", "vpp", scene_no_vpp, NULL),
};

static const struct collector *const scene_list[] = {
    &scene_collectors[0], &scene_collectors[1], &scene_collectors[2],
    &scene_collectors[3], &scene_collectors[4], &scene_collectors[5],
    &scene_collectors[6], &scene_collectors[7], NULL,
};

/* --- the host as a whole --- */

struct scene_host {
    struct options options;
    struct session *session;
    struct takeaway *takeaway;
    uint64_t seconds; /* ticks so far, less one */
};

static void scene_must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "scene: %s\n", what);
    abort();
}

/* One tick at a whole second; its frame is made 40 ms later. */
static inline void scene_tick(struct scene_host *host)
{
    atomic_store(&scene_passed_ns, (long long)host->seconds++ * SCENE_NS);
    session_kick(host->session, clock_mono_ns());
    while (!session_drain(host->session)) {
        struct pollfd fds[16];
        size_t n = session_pollfds(host->session, fds, 16);
        scene_must(poll(fds, n, 20000) > 0, "a fake collector does not answer");
    }
    atomic_fetch_add(&scene_passed_ns, 40000000);
    session_tick(host->session, clock_mono_ns(), clock_wall_ns());
}

/* Opens the session; ticks are the caller's. The settings of whoever runs the test are left alone. */
static inline void scene_open_host(struct scene_host *host)
{
    char error[256];
    *host = (struct scene_host){0};
    setenv("TZ", "UTC", 1);
    tzset();
    atomic_store(&scene_passed_ns, 0);
    options_init(&host->options);
    host->session = session_open(&host->options, scene_list, error, sizeof(error));
    scene_must(host->session, error);
    host->takeaway = takeaway_new(&host->options, error, sizeof(error));
    scene_must(host->takeaway, error);
}

static inline void scene_close_host(struct scene_host *host)
{
    takeaway_free(host->takeaway);
    session_close(host->session, 20000);
    options_free(&host->options);
}

/* All of the history, with two marks. */
static inline void scene_play(struct scene_host *host)
{
    while (host->seconds <= SCENE_SECONDS) {
        scene_tick(host);
        if (host->seconds == 22)
            session_mark(host->session, "iperf3 start", clock_mono_ns(), clock_wall_ns());
        if (host->seconds == 42)
            session_mark(host->session, "pin vcpu0 → 0", clock_mono_ns(), clock_wall_ns());
    }
}

#endif
