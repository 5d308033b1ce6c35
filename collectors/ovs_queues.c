/* SPDX-License-Identifier: MIT */
/*
 * The feed `ovs-queues` (see ovs.h): receive queues with the PMD that polls each, what a PMD's configuration
 * is, datapaths, and the counters without a column, all of one exchange every two seconds. It has connections
 * of its own, so that a dear answer does not hold up the counters of the feed `ovs`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/ovs.h"
#include "collectors/ovs_dpctl.h"
#include "collectors/ovs_infos.h"
#include "collectors/ovs_pmds.h"
#include "collectors/ovs_ports.h"
#include "src/memory.h"

#define DEFAULT_WINDOW_S 60  /* of releases that do not say */
#define FEW_PORTS        256 /* with more, the datapath is not asked for what it counts of each */

/* A question and its answer. */
struct query {
    struct unixctl_ticket ticket;
    char *text; /* NULL: not told */
};

/* The questions about one datapath with PMDs. */
struct pmd_queries {
    struct query rxq, sleep;
};

struct queues {
    struct ovs_daemon daemon;
    bool whole_window; /* the daemon has no shorter one: 2.8 */
    struct query dpctl, upcall, coverage;
    struct pmd_queries pmds[OVS_MAX_PMD_DATAPATHS];
    int64_t sent_ns;
    struct ovs_moment at;

    struct ovs_rxq_table rxqs;
    struct ovs_sleep_list sleeps;
    struct ovs_dpctl show;
    struct ovs_upcall upcalls[OVS_MAX_UPCALL_DPS];
    size_t n_upcalls;
    struct ovs_coverage_list events;
    struct ovs_infos infos;
    struct sample *sample;
};

/* ---- questions and answers ---- */

static struct query ask(struct queues *q, enum unixctl_command command, const char *argument,
                        const struct collect_call *call)
{
    char err[256];
    return (struct query){
        .ticket = unixctl_send(q->daemon.ctl, command, argument, call->deadline_ns, err, sizeof(err))};
}

/* The datapath's own counts of ports: upcalls, and all of them where a bridge cannot be asked. */
static bool wants_port_counts(const struct ovs_daemon *d)
{
    bool all_told = d->db != NULL;
    for (size_t i = 0; i < d->n_bridges; i++)
        all_told = all_told && !d->bridges[i].why[0];
    return !all_told || d->n_ports <= FEW_PORTS;
}

static void send_questions(struct queues *q, const struct collect_call *call)
{
    struct ovs_daemon *d = &q->daemon;
    q->sent_ns = clock_mono_ns();
    q->dpctl = ask(q, wants_port_counts(d) ? UNIXCTL_DPCTL_SHOW : UNIXCTL_DPCTL_SUMMARY, NULL, call);
    q->upcall = ask(q, UNIXCTL_UPCALL_SHOW, NULL, call);
    q->coverage = ask(q, UNIXCTL_COVERAGE_SHOW, NULL, call);
    for (size_t i = 0; i < d->n_datapaths; i++) {
        const char *name = ovs_datapath_argument(d->datapaths[i]);
        q->pmds[i].rxq = ask(q, q->whole_window ? UNIXCTL_PMD_RXQ : UNIXCTL_PMD_RXQ_5S, name, call);
        q->pmds[i].sleep = ask(q, UNIXCTL_PMD_SLEEP, name, call);
    }
    ovs_daemon_ask_ports(d, false, call);
}

/* COLLECT_OK also for a command that the daemon refuses: query->text is NULL then. */
static enum collect_result take(struct queues *q, struct query *query, struct collect_call *call)
{
    char err[256] = "";
    enum jsonrpc_status status =
        unixctl_await(q->daemon.ctl, &query->ticket, call->deadline_ns, &query->text, err, sizeof(err));
    if (status == JSONRPC_OK || status == JSONRPC_REFUSED)
        return COLLECT_OK;
    return ovs_daemon_failed(&q->daemon, status, err, call);
}

/* A daemon that refused to tell the queues of its last seconds may tell those of its own window. */
static enum collect_result ask_again(struct queues *q, struct collect_call *call)
{
    enum collect_result result = COLLECT_OK;
    for (size_t i = 0; i < q->daemon.n_datapaths && result == COLLECT_OK; i++) {
        struct query *rxq = &q->pmds[i].rxq;
        if (rxq->text || rxq->ticket.command == UNIXCTL_PMD_RXQ)
            continue;
        *rxq = ask(q, UNIXCTL_PMD_RXQ, ovs_datapath_argument(q->daemon.datapaths[i]), call);
        result = take(q, rxq, call);
        q->whole_window |= rxq->text != NULL;
    }
    return result;
}

static enum collect_result take_answers(struct queues *q, struct collect_call *call)
{
    struct query *first[] = {&q->dpctl, &q->upcall, &q->coverage};
    enum collect_result result = COLLECT_OK;
    for (size_t i = 0; i < 3 && result == COLLECT_OK; i++)
        result = take(q, first[i], call);
    q->at = ovs_moment_since(q->sent_ns);
    for (size_t i = 0; i < q->daemon.n_datapaths && result == COLLECT_OK; i++) {
        result = take(q, &q->pmds[i].rxq, call);
        if (result == COLLECT_OK)
            result = take(q, &q->pmds[i].sleep, call);
    }
    if (result == COLLECT_OK)
        ovs_daemon_await_ports(&q->daemon, call);
    return result == COLLECT_OK ? ask_again(q, call) : result;
}

static void drop_text(struct query *query)
{
    free(query->text);
    query->text = NULL;
}

static void drop_texts(struct queues *q)
{
    drop_text(&q->dpctl);
    drop_text(&q->upcall);
    drop_text(&q->coverage);
    for (size_t i = 0; i < OVS_MAX_PMD_DATAPATHS; i++) {
        drop_text(&q->pmds[i].rxq);
        drop_text(&q->pmds[i].sleep);
    }
}

static struct ovs_span span_of(const struct query *query)
{
    return ovs_span_of(query->text ? query->text : "");
}

/* ---- receive queues and PMDs ---- */

static void *new_row(struct queues *q, enum table_id table, const void *info)
{
    struct row_head *row = ovs_infos_row(&q->infos, q->sample, table, info);
    row->t_ns = q->at.t_ns;
    return row;
}

static void set_pinning(struct rxqs_info *info, struct queues *q, const struct ovs_rxq *rxq)
{
    const struct ovs_port *port = ovs_port_called(&q->daemon, rxq->port);
    uint64_t core;
    if (port && ovs_port_pinning(port, rxq->queue_id, &core))
        info_set(info, pinning, inventory_textf(q->infos.inventory, "%llu", (unsigned long long)core));
}

static struct rxqs_info *rxq_info(struct queues *q, const char *datapath, const struct ovs_rxq *rxq)
{
    struct inventory *inventory = q->infos.inventory;
    const struct ovs_pmd_id *id = &q->rxqs.threads[rxq->thread].id;
    char key[OVS_PMD_KEY_SIZE];
    struct rxqs_info *info = inventory_info(inventory, TABLE_RXQS, "rxq:%s:%s:%.*s:%u", q->daemon.rundir,
                                            datapath, (int)rxq->port.len, rxq->port.s, rxq->queue_id);
    info_set(info, ovs, inventory_text(inventory, q->daemon.rundir));
    info_set(info, datapath, inventory_text(inventory, datapath));
    info_set(info, port, inventory_textf(inventory, "%.*s", (int)rxq->port.len, rxq->port.s));
    info_set(info, queue, rxq->queue_id);
    if (ovs_pmd_has_place(*id))
        info_set(info, pmd_key, inventory_text(inventory, ovs_pmd_key(key, &q->daemon, datapath, *id)));
    if (id->core_id >= 0)
        info_set(info, core, (uint64_t)id->core_id);
    if (id->numa_id >= 0)
        info_set(info, numa, (uint64_t)id->numa_id);
    if (rxq->enabled != OVS_UNKNOWN)
        info_set(info, enabled, rxq->enabled == OVS_YES ? "yes" : "no");
    set_pinning(info, q, rxq);
    return info;
}

static void fill_rxqs(struct queues *q, const char *datapath)
{
    for (size_t i = 0; i < q->rxqs.n_rxqs; i++) {
        const struct ovs_rxq *rxq = &q->rxqs.rxqs[i];
        struct rxqs_row *row = new_row(q, TABLE_RXQS, rxq_info(q, datapath, rxq));
        if (rxq->usage_pct < 0)
            continue;
        row_set(row, usage_pct, (double)rxq->usage_pct);
        row_set(row, window_s, q->rxqs.window_s ? (double)q->rxqs.window_s : DEFAULT_WINDOW_S);
    }
}

/* The longest sleep of that PMD; 3.2 tells the default alone. */
static bool max_sleep(const struct queues *q, struct ovs_pmd_id id, uint64_t *us)
{
    for (size_t i = 0; i < q->sleeps.n; i++) {
        if (ovs_pmd_same(q->sleeps.items[i].id, id)) {
            *us = q->sleeps.items[i].max_us;
            return true;
        }
    }
    *us = q->sleeps.default_us;
    return q->sleeps.has_default;
}

static void fill_pmds(struct queues *q, const char *datapath)
{
    for (size_t i = 0; i < q->rxqs.n_threads; i++) {
        const struct ovs_rxq_thread *thread = &q->rxqs.threads[i];
        uint64_t us;
        if (!ovs_pmd_has_place(thread->id))
            continue;
        struct pmds_info *info = ovs_pmd_info(q->infos.inventory, &q->daemon, datapath, thread->id);
        if (thread->isolated != OVS_UNKNOWN)
            info_set(info, isolated, thread->isolated == OVS_YES ? "yes" : "no");
        if (max_sleep(q, thread->id, &us))
            info_set(info, max_sleep_us, us);
        struct pmds_row *row = new_row(q, TABLE_PMDS, info);
        if (thread->overhead_pct >= 0)
            row_set(row, overhead_pct, (double)thread->overhead_pct);
    }
}

/* ---- datapaths and their ports ---- */

static const struct ovs_upcall *upcall_of(const struct queues *q, struct ovs_span name)
{
    for (size_t i = 0; i < q->n_upcalls; i++) {
        struct ovs_span other = q->upcalls[i].datapath;
        if (other.len == name.len && memcmp(other.s, name.s, name.len) == 0)
            return &q->upcalls[i];
    }
    return NULL;
}

static void fill_datapath(struct queues *q, const struct ovs_datapath *dp)
{
    struct inventory *inventory = q->infos.inventory;
    const struct ovs_upcall *upcall = upcall_of(q, dp->name);
    uint64_t value;
    struct datapaths_info *info = inventory_info(inventory, TABLE_DATAPATHS, "dp:%s:%.*s", q->daemon.rundir,
                                                 (int)dp->name.len, dp->name.s);
    info_set(info, ovs, inventory_text(inventory, q->daemon.rundir));
    info_set(info, name, inventory_textf(inventory, "%.*s", (int)dp->name.len, dp->name.s));
    struct datapaths_row *row = new_row(q, TABLE_DATAPATHS, info);
    if (ovs_dp_get(dp, OVS_DP_HIT, &value))
        row_set(row, hits, value);
    if (ovs_dp_get(dp, OVS_DP_MISSED, &value))
        row_set(row, missed, value);
    if (ovs_dp_get(dp, OVS_DP_LOST, &value))
        row_set(row, lost, value);
    if (ovs_dp_get(dp, OVS_DP_FLOWS, &value))
        row_set(row, flows, value);
    if (upcall && upcall->has & 1u << OVS_UPCALL_LIMIT)
        row_set(row, flow_limit, upcall->v[OVS_UPCALL_LIMIT]);
    if (upcall && upcall->has & 1u << OVS_UPCALL_DUMP_MS)
        row_set(row, dump_ms, upcall->v[OVS_UPCALL_DUMP_MS]);
}

#define FIELD(name) offsetof(struct ports_row, name)

/* As in ovs_ports.c: where a counter goes, and where that of a port which the kernel sees from the other
 * side. */
static const struct {
    enum ovs_dp_port_counter from;
    size_t to, to_turned;
} places[] = {
    {OVS_DPP_RX_PACKETS, FIELD(rx_packets), FIELD(tx_packets)},
    {OVS_DPP_TX_PACKETS, FIELD(tx_packets), FIELD(rx_packets)},
    {OVS_DPP_RX_BYTES, FIELD(rx_bytes), FIELD(tx_bytes)},
    {OVS_DPP_TX_BYTES, FIELD(tx_bytes), FIELD(rx_bytes)},
    {OVS_DPP_RX_DROPPED, FIELD(rx_dropped), FIELD(tx_dropped)},
    {OVS_DPP_TX_DROPPED, FIELD(tx_dropped), FIELD(rx_dropped)},
    {OVS_DPP_RX_ERRORS, FIELD(rx_errors), FIELD(tx_errors)},
    {OVS_DPP_TX_ERRORS, FIELD(tx_errors), FIELD(rx_errors)},
    {OVS_DPP_RX_FRAME, FIELD(rx_frame), 0},
    {OVS_DPP_RX_OVERRUNS, FIELD(rx_over), 0},
    {OVS_DPP_TX_ABORTED, FIELD(tx_aborted), 0},
    {OVS_DPP_TX_CARRIER, FIELD(tx_carrier), 0},
    {OVS_DPP_COLLISIONS, FIELD(collisions), FIELD(collisions)},
};

static void put_counters(struct ports_row *row, const struct ovs_dp_port *told, bool turned, bool idle_local)
{
    uint64_t value;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t to = turned ? places[i].to_turned : places[i].to;
        bool flooded = idle_local && places[i].from == OVS_DPP_TX_DROPPED;
        if (!to || flooded || !ovs_dp_port_get(told, places[i].from, &value))
            continue;
        memcpy((char *)row + to, &value, sizeof(value));
        slot_set(&row->head.have, (unsigned)((to - sizeof(struct row_head)) / 8));
    }
}

static void set_queue_counts(struct ports_info *info, const struct ovs_dp_port *told)
{
    static const char *const rx[] = {"n_rxq", "configured_rx_queues"};
    static const char *const tx[] = {"n_txq", "configured_tx_queues"};
    struct ovs_span text;
    uint64_t value;
    for (size_t i = 0; i < 2; i++) {
        if (ovs_dp_port_option(told, rx[i], &text) && ovs_take_u64(&text, &value))
            info_set(info, rx_queues, value);
        if (ovs_dp_port_option(told, tx[i], &text) && ovs_take_u64(&text, &value))
            info_set(info, tx_queues, value);
    }
}

/* A port where the database cannot be read: by the datapath's own words. */
static struct ports_info *foreign_port(struct queues *q, const struct ovs_dp_port *told)
{
    struct inventory *inventory = q->infos.inventory;
    const struct ovs_datapath *dp = &q->show.datapaths[told->datapath];
    const char *type = inventory_textf(inventory, "%.*s", (int)told->type.len, told->type.s);
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, "ovs:%s:%.*s", q->daemon.rundir,
                                             (int)told->name.len, told->name.s);
    info_set(info, name, inventory_textf(inventory, "%.*s", (int)told->name.len, told->name.s));
    info_set(info, kind, ovs_port_kind(type));
    info_set(info, type, *type ? type : "system");
    info_set(info, datapath, inventory_textf(inventory, "%.*s", (int)dp->name.len, dp->name.s));
    return info;
}

/* Where the database cannot be read the datapath's list is all there is. */
static void fill_foreign_port(struct queues *q, const struct ovs_dp_port *told)
{
    struct ports_info *info = foreign_port(q, told);
    set_queue_counts(info, told);
    put_counters(new_row(q, TABLE_PORTS, info), told, false, false);
}

/* What OpenFlow and the datapath told of each port of the database; NULL: nothing. */
struct told {
    const struct ovs_of_port *flow;
    const struct ovs_dp_port *datapath;
};

static struct told *match_told(const struct queues *q)
{
    const struct ovs_daemon *d = &q->daemon;
    struct told *told = xzalloc((d->n_ports + 1) * sizeof(*told));
    for (size_t b = 0; b < d->n_bridges; b++) {
        for (size_t i = 0; d->bridges[b].answered && i < d->bridges[b].stats.n_ports; i++) {
            const struct ovs_of_port *of = &d->bridges[b].stats.ports[i];
            const struct ovs_port *port = ovs_port_numbered(d, b, of->number);
            if (port)
                told[port - d->ports].flow = of;
        }
    }
    /* Of the datapath's own end of all tunnels of a kind, and such, the database knows nothing. */
    for (size_t i = 0; i < q->show.n_ports; i++) {
        const struct ovs_port *port = ovs_port_called(d, q->show.ports[i].name);
        if (port)
            told[port - d->ports].datapath = &q->show.ports[i];
    }
    return told;
}

/* Counters are told here only of bridges that are not asked for them, or cannot be, at every tick. */
static void fill_port(struct queues *q, const struct ovs_port *port, const struct told *told)
{
    const struct ovs_bridge *bridge = &q->daemon.bridges[port->bridge];
    uint64_t value;
    struct ports_info *info = ovs_port_brief(q->infos.inventory, &q->daemon, port);
    if (told->datapath)
        set_queue_counts(info, told->datapath);
    struct ports_row *row = new_row(q, TABLE_PORTS, info);
    if (told->datapath && ovs_dp_port_get(told->datapath, OVS_DPP_UPCALL_PACKETS, &value))
        row_set(row, upcalls, value);
    if (told->flow && !bridge->live) {
        row->head.t_ns = bridge->t_ns;
        ovs_port_fill(row, port, &bridge->stats, told->flow);
    } else if (told->datapath && !bridge->answered) {
        put_counters(row, told->datapath, port->turned, port->idle_local);
    }
}

static void fill_show(struct queues *q)
{
    for (size_t i = 0; i < q->show.n_datapaths; i++)
        fill_datapath(q, &q->show.datapaths[i]);
    for (size_t i = 0; i < q->show.n_ports && !q->daemon.db; i++)
        fill_foreign_port(q, &q->show.ports[i]);
    struct told *told = match_told(q);
    for (size_t i = 0; i < q->daemon.n_ports; i++)
        fill_port(q, &q->daemon.ports[i], &told[i]);
    free(told);
}

/* ---- counters without a column ---- */

static void add_counter(struct queues *q, const char *key, const char *object, struct ovs_span name,
                        uint64_t value, int64_t t_ns)
{
    struct inventory *inventory = q->infos.inventory;
    struct counters_info *info =
        inventory_info(inventory, TABLE_COUNTERS, "counter:%s:%.*s", key, (int)name.len, name.s);
    info_set(info, source, "ovs");
    info_set(info, object, inventory_text(inventory, object));
    info_set(info, name, inventory_textf(inventory, "%.*s", (int)name.len, name.s));
    struct counters_row *row = new_row(q, TABLE_COUNTERS, info);
    row->head.t_ns = t_ns;
    row_set(row, value, value);
}

/* Of a driver's hundred names most are 0 for ever: what never counted is not told. */
static void fill_named(struct queues *q, size_t bridge, const struct ovs_of_port *told)
{
    const struct ovs_bridge *of = &q->daemon.bridges[bridge];
    const struct ovs_port *port = ovs_port_numbered(&q->daemon, bridge, told->number);
    char key[512];
    if (!port)
        return;
    ovs_port_key(&q->daemon, port, key, sizeof(key));
    for (size_t i = 0; i < told->n_named; i++) {
        const struct ovs_of_named *named = &of->stats.named[told->first_named + i];
        if (named->value && !ovs_named_has_column(named->name))
            add_counter(q, key, port->name, named->name, named->value, of->t_ns);
    }
}

static void fill_counters(struct queues *q)
{
    char key[300];
    for (size_t b = 0; b < q->daemon.n_bridges; b++)
        for (size_t i = 0; q->daemon.bridges[b].answered && i < q->daemon.bridges[b].stats.n_ports; i++)
            fill_named(q, b, &q->daemon.bridges[b].stats.ports[i]);
    snprintf(key, sizeof(key), "ovs:%s", q->daemon.rundir);
    for (size_t i = 0; i < q->events.n; i++)
        add_counter(q, key, q->daemon.rundir, q->events.items[i].name, q->events.items[i].total, q->at.t_ns);
}

/* ---- collector ---- */

static void fill(struct queues *q)
{
    for (size_t i = 0; i < q->daemon.n_datapaths; i++) {
        ovs_rxq_parse(&q->rxqs, span_of(&q->pmds[i].rxq));
        ovs_sleep_parse(&q->sleeps, span_of(&q->pmds[i].sleep));
        fill_pmds(q, q->daemon.datapaths[i]);
        fill_rxqs(q, q->daemon.datapaths[i]);
    }
    ovs_dpctl_parse(&q->show, span_of(&q->dpctl));
    q->n_upcalls = ovs_upcall_parse(q->upcalls, OVS_MAX_UPCALL_DPS, span_of(&q->upcall));
    ovs_coverage_parse(&q->events, span_of(&q->coverage));
    fill_show(q);
    fill_counters(q);
}

static void describe(const struct queues *q, struct collect_call *call)
{
    const struct sample *sample = q->sample;
    snprintf(call->detail, sizeof(call->detail), "%zu queues, %zu datapath%s, %zu counters%s%.150s",
             sample->set[TABLE_RXQS].n, sample->set[TABLE_DATAPATHS].n,
             sample->set[TABLE_DATAPATHS].n == 1 ? "" : "s", sample->set[TABLE_COUNTERS].n,
             q->daemon.db_why[0] ? "; " : "", q->daemon.db_why);
}

static void queues_close(void *state)
{
    struct queues *q = state;
    drop_texts(q);
    ovs_daemon_close(&q->daemon);
    ovs_rxq_free(&q->rxqs);
    ovs_sleep_free(&q->sleeps);
    ovs_dpctl_free(&q->show);
    ovs_coverage_free(&q->events);
    ovs_infos_free(&q->infos);
    free(q);
}

static enum collect_result queues_open(const struct collect_config *config, void **state,
                                       struct collect_call *call)
{
    struct queues *q = xzalloc(sizeof(*q));
    enum collect_result result = ovs_daemon_open(&q->daemon, config, call);
    if (result != COLLECT_OK) {
        free(q);
        return result;
    }
    *state = q;
    return COLLECT_OK;
}

static enum collect_result queues_collect(void *state, struct collect_call *call, struct sample **result)
{
    struct queues *q = state;
    ovs_daemon_update(&q->daemon, call);
    struct sample *sample = sample_new(NULL);
    sample_begin(sample);
    send_questions(q, call);
    enum collect_result outcome = take_answers(q, call);
    sample_end(sample);
    if (outcome == COLLECT_OK) {
        q->sample = sample;
        ovs_infos_start(&q->infos);
        fill(q);
        ovs_infos_settle(&q->infos, sample);
        describe(q, call);
        *result = sample;
    } else {
        sample_unref(sample);
    }
    drop_texts(q);
    return outcome;
}

const struct collector ovs_queues_collector = {
    .source = "ovs",
    .feed = "ovs-queues",
    .help = "receive queues, datapaths and counters that only OVS or a driver has a name for",
    .tempo_ms = 2000,
    .per = COLLECT_PER_RUNDIR,
    .open = queues_open,
    .collect = queues_collect,
    .close = queues_close,
};
