/* SPDX-License-Identifier: MIT */
/*
 * Fast feed of the source `dpdk` (see dpdk.h): ethdevs with their counters, times of lcore threads, state of
 * the processes. A row carries the moment its own answer was made. A process that hangs keeps its rows with
 * the moment of its last answer, so that they show as stale and with their age; they go when its connection
 * ends.
 */
#include "collectors/dpdk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define LATE_NS INT64_C(1000000000)

struct fast {
    struct dpdk_hub *hub;
    struct inventory *inventory;
    uint64_t seen; /* hub->changes that inventory was made of */
};

/* ---- inventory ---- */

void dpdk_port_key(const struct dpdk_process *p, const struct dpdk_port *port, char key[DPDK_PORT_KEY_SIZE])
{
    if (p->is_ovs)
        snprintf(key, DPDK_PORT_KEY_SIZE, "dpdk:%s:port%u", p->id, port->id);
    else
        snprintf(key, DPDK_PORT_KEY_SIZE, "dpdk:%s:%s", p->id, port->name);
}

static void describe_facts(struct inventory *inventory, struct ports_info *info, const struct dpdk_port *port)
{
    const struct telemetry_port *facts = &port->facts;
    if (facts->has & TELEMETRY_PORT_MAC)
        info_set(info, mac, inventory_text(inventory, facts->mac));
    if (facts->has & TELEMETRY_PORT_MTU)
        info_set(info, mtu, facts->mtu);
    if (facts->has & TELEMETRY_PORT_RX_QUEUES)
        info_set(info, rx_queues, facts->nb_rx_queues);
    if (facts->has & TELEMETRY_PORT_TX_QUEUES)
        info_set(info, tx_queues, facts->nb_tx_queues);
    if ((facts->has & TELEMETRY_PORT_NUMA) && facts->numa_node >= 0)
        info_set(info, numa, (uint64_t)facts->numa_node);
    if (facts->has & TELEMETRY_PORT_STARTED)
        info_set(info, admin, facts->dev_started ? "up" : "down");
    if (port->has_link)
        info_set(info, carrier, port->link.up ? "up" : "down");
    if (port->has_link && port->link.has_speed)
        info_set(info, speed_mbps, port->link.speed_mbps);
}

static void describe_port(struct inventory *inventory, const struct dpdk_process *p, struct dpdk_port *port)
{
    char key[DPDK_PORT_KEY_SIZE];
    dpdk_port_key(p, port, key);
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, "%s", key);
    port->info = info;
    info_set(info, name, inventory_text(inventory, port->name));
    info_set(info, kind, "ethdev");
    info_set(info, switch_, inventory_text(inventory, p->label));
    info_set(info, dpdk_port, port->id);
    if (*port->driver) {
        info_set(info, type, inventory_text(inventory, port->driver));
        info_set(info, driver, info->type);
    }
    describe_facts(inventory, info, port);
}

static const char *process_state(struct inventory *inventory, const struct dpdk_process *p)
{
    if (p->state != DPDK_DENIED)
        return dpdk_state_name(p->state);
    return inventory_textf(inventory, "not permitted: %s of user %u, %04o",
                           p->entry.by_folder ? "in a folder" : "socket", (unsigned)p->entry.uid,
                           (unsigned)p->entry.mode);
}

static void describe_process(struct inventory *inventory, struct dpdk_process *p)
{
    struct processes_info *info = inventory_info(inventory, TABLE_PROCESSES, "process:%s", p->id);
    p->info = info;
    info_set(info, name, inventory_text(inventory, p->name));
    if (p->pid > 0)
        info_set(info, pid, (uint64_t)p->pid);
    if (*p->prefix)
        info_set(info, prefix, inventory_text(inventory, p->prefix));
    bool own = strcmp(p->entry.root, "/") == 0;
    info_set(info, socket, inventory_textf(inventory, "%s%s", own ? "" : p->entry.root, p->entry.path));
    p->state_text = process_state(inventory, p);
    if (!p->t || !telemetry_connected(p->t))
        return;
    info_set(info, version, inventory_text(inventory, telemetry_hello(p->t)->version));
    if (p->eal_args)
        info_set(info, eal_args, inventory_text(inventory, p->eal_args));
    if (p->listed_ns)
        info_set(info, ethdevs, p->n_ports);
}

static void describe_lcore(struct inventory *inventory, const struct dpdk_process *p,
                           struct dpdk_lcore *lcore)
{
    struct threads_info *info =
        inventory_info(inventory, TABLE_THREADS, "thread:%d:%d", (int)p->pid, (int)lcore->thread.tid);
    lcore->info = info;
    info_set(info, role, "lcore");
    info_set(info, vm, inventory_text(inventory, p->label));
    if (lcore->index >= 0)
        info_set(info, index, (uint64_t)lcore->index);
    if (lcore->inferred)
        info_approx(info, index);
    info_set(info, name, inventory_text(inventory, lcore->comm));
    info_set(info, pid, (uint64_t)p->pid);
    info_set(info, tid, (uint64_t)lcore->thread.tid);
    if (*lcore->allowed)
        info_set(info, allowed_cpus, inventory_text(inventory, lcore->allowed));
}

static void make_inventory(struct fast *fast)
{
    struct dpdk_hub *hub = fast->hub;
    inventory_unref(fast->inventory);
    fast->inventory = inventory_new();
    fast->seen = hub->changes;
    for (size_t i = 0; i < hub->n; i++) {
        struct dpdk_process *p = hub->processes[i];
        describe_process(fast->inventory, p);
        for (size_t j = 0; j < p->n_ports; j++)
            describe_port(fast->inventory, p, p->ports[j]);
        for (size_t j = 0; j < p->lcores.n; j++)
            describe_lcore(fast->inventory, p, &p->lcores.v[j]);
    }
}

/* ---- rows ---- */

static bool has_stat(const struct dpdk_port *port, uint32_t bit)
{
    return port->stats.has & bit;
}

static void fill_traffic(struct ports_row *row, const struct dpdk_port *port, unsigned release)
{
    const struct telemetry_stats *stats = &port->stats;
    bool bytes = telemetry_counts_bytes(port->driver, release);
    if (has_stat(port, TELEMETRY_HAS_IPACKETS))
        row_set(row, rx_packets, stats->ipackets);
    if (has_stat(port, TELEMETRY_HAS_OPACKETS))
        row_set(row, tx_packets, stats->opackets);
    if (bytes && has_stat(port, TELEMETRY_HAS_IBYTES))
        row_set(row, rx_bytes, stats->ibytes);
    if (bytes && has_stat(port, TELEMETRY_HAS_OBYTES))
        row_set(row, tx_bytes, stats->obytes);
}

/* Sum of the causes in the mask; false when none of them is told, or the driver is blind and the sum 0. */
static bool sum_of(const struct telemetry_losses *losses, unsigned causes, uint64_t *sum)
{
    bool any = false;
    *sum = 0;
    for (uint32_t i = 0; i < losses->n; i++) {
        if (!(causes >> losses->v[i].row->cause & 1))
            continue;
        any = true;
        *sum += losses->v[i].value;
    }
    return any && !(losses->blind && *sum == 0);
}

#define CAUSE(name) (1u << TELEMETRY_LOSS_##name)

/* Bad packets that came are errors, as with every other port. A packet that could not be sent is lost,
 * whatever the driver calls it: DPDK has one counter for a full ring and for a failed send. */
static void fill_losses(struct ports_row *row, const struct dpdk_port *port)
{
    const struct telemetry_losses *rx = &port->loss[TELEMETRY_RX], *tx = &port->loss[TELEMETRY_TX];
    uint64_t sum;
    if (sum_of(rx, CAUSE(NO_DESCRIPTOR) | CAUSE(NO_MBUF), &sum)) {
        row_set(row, rx_dropped, sum);
        if (rx->blind)
            row_approx(row, rx_dropped);
    }
    if (sum_of(tx, CAUSE(RING_FULL) | CAUSE(TX_ERROR), &sum)) {
        row_set(row, tx_dropped, sum);
        if (tx->blind)
            row_approx(row, tx_dropped);
    }
    if (sum_of(rx, CAUSE(NO_DESCRIPTOR), &sum))
        row_set(row, rx_missed, sum);
    if (sum_of(rx, CAUSE(NO_MBUF), &sum))
        row_set(row, rx_nombuf, sum);
    if (sum_of(rx, CAUSE(RX_ERROR), &sum))
        row_set(row, rx_errors, sum);
    if (sum_of(tx, CAUSE(TX_ERROR), &sum))
        row_set(row, tx_errors, sum);
    if (sum_of(tx, CAUSE(RING_FULL), &sum))
        row_set(row, tx_failure_drops, sum);
}

static void fill_port(struct sample *sample, const struct dpdk_process *p, const struct dpdk_port *port)
{
    if (!port->has_stats)
        return;
    struct ports_row *row = sample_row(sample, TABLE_PORTS, port->info);
    row->head.t_ns = port->stats_ns;
    fill_traffic(row, port, telemetry_hello(p->t)->release);
    fill_losses(row, port);
}

static const char *thread_state(char state)
{
    static const char *const texts[] = {"R", "S", "D", "T", "t", "Z", "X", "I", "P"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (*texts[i] == state)
            return texts[i];
    return "?";
}

static void fill_lcore(struct sample *sample, const struct dpdk_lcore *lcore)
{
    if (!lcore->has_stat && !lcore->has_schedstat)
        return;
    struct threads_row *row = sample_row(sample, TABLE_THREADS, lcore->info);
    row->head.t_ns = lcore->t_ns;
    if (lcore->has_stat) {
        row_set(row, state, thread_state(lcore->stat.state));
        row_set(row, cpu, (uint64_t)lcore->stat.processor);
    }
    if (lcore->has_schedstat) {
        row_set(row, run_ns, lcore->schedstat.run_ns);
        row_set(row, delay_ns, lcore->schedstat.delay_ns);
        row_set(row, timeslices, lcore->schedstat.pcount);
    }
    if (lcore->has_status) {
        row_set(row, voluntary, lcore->voluntary);
        row_set(row, involuntary, lcore->involuntary);
    }
}

/* On a machine that is busy an answer may take a moment; that is no reason for alarm. */
static bool is_late(const struct sample *sample, const struct dpdk_process *p)
{
    return p->state == DPDK_HUNG && p->last_answer_ns && sample->t1_ns - p->last_answer_ns < LATE_NS;
}

static void fill_process(struct sample *sample, const struct dpdk_process *p)
{
    struct processes_row *row = sample_row(sample, TABLE_PROCESSES, p->info);
    row_set(row, state, is_late(sample, p) ? "late" : p->state_text);
    if (p->answer_s >= 0)
        row_set(row, answer_s, p->answer_s);
}

static void fill(const struct dpdk_hub *hub, struct sample *sample)
{
    for (size_t i = 0; i < hub->n; i++) {
        const struct dpdk_process *p = hub->processes[i];
        fill_process(sample, p);
        for (size_t j = 0; j < p->n_ports; j++)
            fill_port(sample, p, p->ports[j]);
        for (size_t j = 0; j < p->lcores.n; j++)
            fill_lcore(sample, &p->lcores.v[j]);
    }
}

/* ---- collector ---- */

static enum collect_result fast_open(const struct collect_config *config, void **state,
                                     struct collect_call *call)
{
    struct fast *fast = xzalloc(sizeof(*fast));
    fast->hub = dpdk_hub_get(config, call->stop_fd);
    *state = fast;
    return COLLECT_OK;
}

static void fast_close(void *state)
{
    struct fast *fast = state;
    inventory_unref(fast->inventory);
    dpdk_hub_put(fast->hub);
    free(fast);
}

/* One whose greeting or list of commands is still to come: another glance, and with luck it is there. */
static void read_process(struct dpdk_hub *hub, struct dpdk_process *p)
{
    bool was_up = p->t && telemetry_connected(p->t);
    if (!was_up && p->state == DPDK_HUNG && dpdk_process_connect(p, &hub->ask))
        dpdk_process_list(p, &hub->ask);
    dpdk_process_read(p, &hub->ask);
}

static enum collect_result fast_collect(void *state, struct collect_call *call, struct sample **result)
{
    struct fast *fast = state;
    struct dpdk_hub *hub = fast->hub;
    dpdk_hub_update(hub, call->deadline_ns, true);
    dpdk_hub_enter(hub, call->deadline_ns);
    struct sample *sample = sample_new(NULL);
    sample_begin(sample);
    for (size_t i = 0; i < hub->n; i++)
        read_process(hub, hub->processes[i]);
    sample_end(sample);
    dpdk_hub_sweep(hub);
    enum collect_result verdict = dpdk_hub_verdict(hub, call);
    if (verdict == COLLECT_OK) {
        if (fast->seen != hub->changes)
            make_inventory(fast);
        sample->inventory = inventory_ref(fast->inventory);
        fill(hub, sample);
        *result = sample;
    } else {
        sample_unref(sample);
    }
    dpdk_hub_leave(hub);
    return verdict;
}

const struct collector dpdk_collector = {
    .source = "dpdk",
    .feed = "dpdk",
    .help = "ports and lcore threads of DPDK processes, from their telemetry sockets and /proc",
    .open = fast_open,
    .collect = fast_collect,
    .close = fast_close,
};
