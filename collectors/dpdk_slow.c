/* SPDX-License-Identifier: MIT */
/*
 * Slow feed of the source `dpdk` (see dpdk.h): link state and facts of ports, every extended statistic that
 * ever was above zero, mempools, busy cycles of lcores. It is a feed of its own since its numbers have a
 * tempo of their own: a rate of theirs is over the time between two of its samples. It looks for processes,
 * too, so that the fast feed does not wait for that. Between two questions it leaves the hub to the fast
 * feed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "collectors/dpdk.h"
#include "src/memory.h"

#define TEMPO_MS 2000

struct slow {
    struct dpdk_hub *hub;
    struct inventory *inventory;
    uint64_t seen; /* hub->changes that inventory was made of */
};

/* ---- inventory ---- */

static void describe_xstats(struct inventory *inventory, const struct dpdk_process *p, struct dpdk_port *port)
{
    const char *object = inventory_textf(inventory, "%s/%s", p->label, port->name);
    char key[DPDK_PORT_KEY_SIZE];
    dpdk_port_key(p, port, key);
    for (size_t i = 0; i < port->xstats.n; i++) {
        struct dpdk_xstat *xstat = &port->xstats.v[i];
        if (!xstat->shown)
            continue;
        xstat->info = inventory_info(inventory, TABLE_COUNTERS, "counter:%s:%s", key, xstat->name);
        info_set(xstat->info, source, "dpdk");
        info_set(xstat->info, object, object);
        info_set(xstat->info, name, inventory_text(inventory, xstat->name));
    }
}

static void describe_pool(struct inventory *inventory, const struct dpdk_process *p, struct dpdk_pool *pool)
{
    struct mempools_info *info =
        inventory_info(inventory, TABLE_MEMPOOLS, "mempool:%s:%s", p->id, pool->facts.name);
    pool->info = info;
    info_set(info, process, inventory_text(inventory, p->label));
    if (p->pid > 0)
        info_set(info, pid, (uint64_t)p->pid);
    info_set(info, name, inventory_text(inventory, pool->facts.name));
    if ((pool->facts.has & TELEMETRY_POOL_SOCKET) && pool->facts.socket_id >= 0)
        info_set(info, numa, (uint64_t)pool->facts.socket_id);
    if (pool->facts.has & TELEMETRY_POOL_SIZE)
        info_set(info, size, pool->facts.size);
}

static const struct dpdk_lcore *thread_of_core(const struct dpdk_process *p, uint32_t id)
{
    for (size_t i = 0; i < p->lcores.n; i++)
        if (p->lcores.v[i].index == (int)id && !p->lcores.v[i].inferred)
            return &p->lcores.v[i];
    return NULL;
}

static void describe_core(struct inventory *inventory, const struct dpdk_process *p, struct dpdk_core *core)
{
    struct pmds_info *info = inventory_info(inventory, TABLE_PMDS, "pmd:dpdk:%s:lcore%u", p->id, core->id);
    core->info = info;
    info_set(info, ovs, inventory_text(inventory, p->label));
    info_set(info, thread, "lcore");
    info_set(info, core, core->id);
    const struct dpdk_lcore *lcore = thread_of_core(p, core->id);
    if (!lcore)
        return;
    info_set(info, tid, (uint64_t)lcore->thread.tid);
    info_set(info, thread_key,
             inventory_textf(inventory, "thread:%d:%d", (int)p->pid, (int)lcore->thread.tid));
}

static void make_inventory(struct slow *slow)
{
    struct dpdk_hub *hub = slow->hub;
    inventory_unref(slow->inventory);
    slow->inventory = inventory_new();
    slow->seen = hub->changes;
    for (size_t i = 0; i < hub->n; i++) {
        struct dpdk_process *p = hub->processes[i];
        for (size_t j = 0; j < p->n_ports; j++)
            describe_xstats(slow->inventory, p, p->ports[j]);
        for (size_t j = 0; j < p->n_pools; j++)
            describe_pool(slow->inventory, p, &p->pools[j]);
        for (size_t j = 0; j < p->n_cores; j++)
            describe_core(slow->inventory, p, &p->cores[j]);
    }
}

/* ---- rows ---- */

static size_t fill_xstats(struct sample *sample, const struct dpdk_port *port)
{
    size_t n = 0;
    for (size_t i = 0; i < port->xstats.n; i++) {
        const struct dpdk_xstat *xstat = &port->xstats.v[i];
        if (!xstat->shown || !xstat->known)
            continue;
        struct counters_row *counter = sample_row(sample, TABLE_COUNTERS, xstat->info);
        counter->head.t_ns = port->xstats.t_ns;
        row_set(counter, value, xstat->value);
        n++;
    }
    return n;
}

static void fill_pool(struct sample *sample, const struct dpdk_pool *pool)
{
    if (!pool->known)
        return;
    struct mempools_row *row = sample_row(sample, TABLE_MEMPOOLS, pool->info);
    row->head.t_ns = pool->t_ns;
    if (!(pool->facts.has & TELEMETRY_POOL_IN_USE))
        return;
    row_set(row, in_use, pool->facts.in_use);
    row_set(row, free, pool->facts.size - pool->facts.in_use);
}

static void fill_core(struct sample *sample, const struct dpdk_process *p, const struct dpdk_core *core)
{
    struct pmds_row *row = sample_row(sample, TABLE_PMDS, core->info);
    row->head.t_ns = p->cores_ns;
    row_set(row, busy_cycles, core->busy_cycles);
    if (core->total_cycles >= core->busy_cycles)
        row_set(row, idle_cycles, core->total_cycles - core->busy_cycles);
}

static void fill(const struct dpdk_hub *hub, struct sample *sample, struct collect_call *call)
{
    size_t ports = 0, counters = 0, pools = 0, truncated = 0;
    for (size_t i = 0; i < hub->n; i++) {
        const struct dpdk_process *p = hub->processes[i];
        for (size_t j = 0; j < p->n_ports; j++) {
            counters += fill_xstats(sample, p->ports[j]);
            truncated += p->ports[j]->xstats.t_ns && p->ports[j]->xstats.maybe_truncated;
            ports++;
        }
        for (size_t j = 0; j < p->n_pools; j++)
            fill_pool(sample, &p->pools[j]);
        pools += p->n_pools;
        for (size_t j = 0; j < p->n_cores; j++)
            fill_core(sample, p, &p->cores[j]);
    }
    int n = snprintf(call->detail, sizeof(call->detail),
                     "%zu statistics above zero or of loss, of %zu port%s; %zu mempool%s", counters, ports,
                     ports == 1 ? "" : "s", pools, pools == 1 ? "" : "s");
    if (truncated && n > 0 && (size_t)n < sizeof(call->detail))
        snprintf(call->detail + n, sizeof(call->detail) - (size_t)n,
                 "; of %zu port%s telemetry may have left out some", truncated, truncated == 1 ? "" : "s");
}

/* ---- collector ---- */

static enum collect_result slow_open(const struct collect_config *config, void **state,
                                     struct collect_call *call)
{
    struct slow *slow = xzalloc(sizeof(*slow));
    slow->hub = dpdk_hub_get(config, call->stop_fd);
    *state = slow;
    return COLLECT_OK;
}

static void slow_close(void *state)
{
    struct slow *slow = state;
    inventory_unref(slow->inventory);
    dpdk_hub_put(slow->hub);
    free(slow);
}

static void read_ports(struct dpdk_hub *hub, int64_t deadline_ns)
{
    struct dpdk_process *p;
    struct dpdk_port *port;
    uint64_t serial = 0;
    do {
        dpdk_hub_enter(hub, deadline_ns);
        port = dpdk_hub_next_port(hub, serial, &p);
        serial = port ? port->serial : 0;
        if (port && dpdk_process_is_awake(p))
            dpdk_process_read_port(p, port, &hub->ask);
        dpdk_hub_leave(hub);
    } while (port);
}

static void read_processes(struct dpdk_hub *hub, int64_t deadline_ns)
{
    struct dpdk_process *p;
    uint64_t serial = 0;
    do {
        dpdk_hub_enter(hub, deadline_ns);
        p = dpdk_hub_next_process(hub, serial);
        serial = p ? p->serial : 0;
        if (p && dpdk_process_is_awake(p)) {
            dpdk_process_read_pools(p, &hub->ask);
            if (dpdk_process_is_awake(p))
                dpdk_process_read_cores(p, &hub->ask);
        }
        dpdk_hub_leave(hub);
    } while (p);
}

static enum collect_result slow_collect(void *state, struct collect_call *call, struct sample **result)
{
    struct slow *slow = state;
    struct dpdk_hub *hub = slow->hub;
    dpdk_hub_update(hub, call->deadline_ns, false);
    struct sample *sample = sample_new(NULL);
    sample_begin(sample);
    read_ports(hub, call->deadline_ns);
    read_processes(hub, call->deadline_ns);
    sample_end(sample);
    dpdk_hub_enter(hub, call->deadline_ns);
    dpdk_hub_sweep(hub);
    enum collect_result verdict = dpdk_hub_verdict(hub, call);
    if (verdict == COLLECT_OK) {
        if (slow->seen != hub->changes)
            make_inventory(slow);
        sample->inventory = inventory_ref(slow->inventory);
        fill(hub, sample, call);
        *result = sample;
    } else {
        sample_unref(sample);
    }
    dpdk_hub_leave(hub);
    return verdict;
}

const struct collector dpdk_slow_collector = {
    .source = "dpdk",
    .feed = "dpdk-slow",
    .help = "link state, extended statistics, mempools and busy cycles of DPDK processes, from telemetry",
    .tempo_ms = TEMPO_MS,
    .open = slow_open,
    .collect = slow_collect,
    .close = slow_close,
};
