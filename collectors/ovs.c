/* SPDX-License-Identifier: MIT */
/*
 * The feed `ovs` (see ovs.h). A tick takes in what the database has told, puts all questions on the wire at
 * once, and takes the answers: the daemon serves them in one or two passes of its main loop. Rows point into
 * an inventory that is made anew when ports, PMDs or threads changed.
 */
#include "collectors/ovs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/ovs_pmds.h"
#include "collectors/ovs_ports.h"
#include "collectors/ovs_threads.h"
#include "src/memory.h"

static const char program[] = "ovs-vswitchd"; /* what its threads belong to */

/* A PMD of a datapath, and what was read of it last. */
struct pmd {
    size_t datapath;
    struct ovs_pmd_id id;
    struct ovs_pmd_memory memory;
    struct pmds_info *info;
};

/* The PMD texts of one datapath, of this read. */
struct pmd_read {
    struct unixctl_ticket stats_ticket, perf_ticket;
    bool tells_all;               /* pmd-stats-show has all that pmd-perf-show has: 4.0 */
    char *stats_text, *perf_text; /* NULL: not told */
    struct ovs_pmd_list stats, perf;
    struct ovs_moment at, perf_at;
};

struct ovs {
    struct ovs_daemon daemon;
    struct ovs_threads threads;
    struct pmd_read reads[OVS_MAX_PMD_DATAPATHS];
    int64_t sent_ns;
    struct unixctl_ticket alive; /* where there are no PMDs to ask for */

    struct inventory *inventory;
    uint64_t port_generation, thread_generation; /* what it was made of */
    struct pmd *pmds;
    size_t n_pmds;
    bool threads_missing; /* a PMD has no thread */
    struct ports_info **port_infos;
    const struct ovs_of_port **told; /* of each port, of this read; NULL: not told */
};

/* ---- questions and answers ---- */

static void send_questions(struct ovs *ovs, const struct collect_call *call)
{
    struct ovs_daemon *d = &ovs->daemon;
    char err[256];
    ovs->sent_ns = clock_mono_ns();
    for (size_t i = 0; i < d->n_datapaths; i++) {
        const char *name = ovs_datapath_argument(d->datapaths[i]);
        ovs->reads[i].stats_ticket =
            unixctl_send(d->ctl, UNIXCTL_PMD_STATS, name, call->deadline_ns, err, sizeof(err));
        ovs->reads[i].perf_ticket = (struct unixctl_ticket){.status = JSONRPC_REFUSED};
        if (!ovs->reads[i].tells_all)
            ovs->reads[i].perf_ticket =
                unixctl_send(d->ctl, UNIXCTL_PMD_PERF, name, call->deadline_ns, err, sizeof(err));
    }
    if (d->n_datapaths == 0)
        ovs->alive = unixctl_send(d->ctl, UNIXCTL_VERSION, NULL, call->deadline_ns, err, sizeof(err));
    ovs_daemon_ask_ports(d, true, call);
}

/* COLLECT_OK also for a command that the daemon refuses: *text is NULL then. */
static enum collect_result take_text(struct ovs *ovs, const struct unixctl_ticket *ticket, char **text,
                                     struct collect_call *call)
{
    char err[256] = "";
    enum jsonrpc_status status =
        unixctl_await(ovs->daemon.ctl, ticket, call->deadline_ns, text, err, sizeof(err));
    if (status == JSONRPC_OK || status == JSONRPC_REFUSED)
        return COLLECT_OK;
    return ovs_daemon_failed(&ovs->daemon, status, err, call);
}

static void parse_text(struct ovs_pmd_list *list, const char *text)
{
    ovs_pmd_parse(list, ovs_span_of(text ? text : ""));
}

static enum collect_result take_pmds(struct ovs *ovs, struct pmd_read *read, struct collect_call *call)
{
    enum collect_result result = take_text(ovs, &read->stats_ticket, &read->stats_text, call);
    read->at = ovs_moment_since(ovs->sent_ns);
    if (result == COLLECT_OK)
        result = take_text(ovs, &read->perf_ticket, &read->perf_text, call);
    read->perf_at = ovs_moment_since(ovs->sent_ns);
    parse_text(&read->stats, read->stats_text);
    parse_text(&read->perf, read->perf_text);
    for (size_t i = 0; i < read->stats.n; i++)
        read->tells_all |= read->stats.items[i].has >> OVS_PMD_ITERATIONS & 1;
    return result;
}

static void drop_texts(struct ovs *ovs)
{
    for (size_t i = 0; i < OVS_MAX_PMD_DATAPATHS; i++) {
        free(ovs->reads[i].stats_text);
        free(ovs->reads[i].perf_text);
        ovs->reads[i].stats_text = ovs->reads[i].perf_text = NULL;
        ovs->reads[i].stats.n = ovs->reads[i].perf.n = 0;
    }
}

static enum collect_result take_answers(struct ovs *ovs, struct collect_call *call)
{
    enum collect_result result = COLLECT_OK;
    char *text = NULL;
    for (size_t i = 0; i < ovs->daemon.n_datapaths && result == COLLECT_OK; i++)
        result = take_pmds(ovs, &ovs->reads[i], call);
    if (ovs->daemon.n_datapaths == 0)
        result = take_text(ovs, &ovs->alive, &text, call);
    free(text);
    if (result == COLLECT_OK)
        ovs_daemon_await_ports(&ovs->daemon, call);
    return result;
}

/* ---- inventory ---- */

static struct pmd *find_pmd(struct pmd *pmds, size_t n, size_t datapath, struct ovs_pmd_id id)
{
    for (size_t i = 0; i < n; i++)
        if (pmds[i].datapath == datapath && ovs_pmd_same(pmds[i].id, id))
            return &pmds[i];
    return NULL;
}

/* Are the PMDs told those of the inventory, in its order? */
static bool same_pmds(const struct ovs *ovs)
{
    size_t n = 0;
    for (size_t i = 0; i < ovs->daemon.n_datapaths; i++) {
        const struct ovs_pmd_list *list = &ovs->reads[i].stats;
        for (size_t k = 0; k < list->n; k++) {
            if (!ovs_pmd_has_place(list->items[k].id))
                continue;
            if (n == ovs->n_pmds || ovs->pmds[n].datapath != i ||
                !ovs_pmd_same(ovs->pmds[n].id, list->items[k].id))
                return false;
            n++;
        }
    }
    return n == ovs->n_pmds;
}

static void set_thread(struct ovs *ovs, struct pmd *pmd)
{
    const struct ovs_thread *thread = pmd->id.main_thread ? ovs_threads_main(&ovs->threads)
                                                          : ovs_threads_pmd(&ovs->threads, pmd->id.core_id);
    char key[OVS_THREAD_KEY_SIZE];
    if (!thread) {
        ovs->threads_missing = true;
        return;
    }
    ovs_thread_key(key, thread);
    info_set(pmd->info, tid, (uint64_t)thread->proc.tid);
    info_set(pmd->info, thread_key, inventory_text(ovs->inventory, key));
}

static void list_pmds(struct ovs *ovs)
{
    struct pmd *before = ovs->pmds;
    size_t n_before = ovs->n_pmds;
    ovs->pmds = NULL;
    ovs->n_pmds = 0;
    ovs->threads_missing = false;
    for (size_t i = 0; i < ovs->daemon.n_datapaths; i++) {
        const struct ovs_pmd_list *list = &ovs->reads[i].stats;
        for (size_t k = 0; k < list->n; k++) {
            struct ovs_pmd_id id = list->items[k].id;
            if (!ovs_pmd_has_place(id))
                continue;
            const struct pmd *known = find_pmd(before, n_before, i, id);
            ovs->pmds = xrealloc(ovs->pmds, ovs->n_pmds + 1, sizeof(*ovs->pmds));
            struct pmd *pmd = &ovs->pmds[ovs->n_pmds++];
            *pmd = known ? *known : (struct pmd){.datapath = i, .id = id};
            pmd->info = ovs_pmd_info(ovs->inventory, &ovs->daemon, ovs->daemon.datapaths[i], id);
            set_thread(ovs, pmd);
        }
    }
    free(before);
}

static void list_ports(struct ovs *ovs)
{
    struct ovs_daemon *d = &ovs->daemon;
    ovs->port_infos = xrealloc(ovs->port_infos, d->n_ports + 1, sizeof(void *));
    ovs->told = xrealloc(ovs->told, d->n_ports + 1, sizeof(void *));
    for (size_t i = 0; i < d->n_ports; i++)
        ovs->port_infos[i] = ovs_port_whole(ovs->inventory, d, &d->ports[i]);
}

static void describe(const struct ovs *ovs, struct collect_call *call)
{
    const struct ovs_daemon *d = &ovs->daemon;
    const struct ovs_bridge *mute = NULL;
    size_t n = 0;
    for (size_t i = 0; i < ovs->n_pmds; i++)
        n += !ovs->pmds[i].id.main_thread;
    for (size_t i = 0; i < d->n_bridges && !mute; i++)
        mute = d->bridges[i].why[0] ? &d->bridges[i] : NULL;
    int used = snprintf(call->detail, sizeof(call->detail), "%s, pid %ld, %s, %zu PMD%s", d->version,
                        (long)d->pid, d->rundir, n, n == 1 ? "" : "s");
    if (used < 0 || (size_t)used >= sizeof(call->detail))
        return;
    if (d->db_why[0])
        snprintf(call->detail + used, sizeof(call->detail) - (size_t)used, "; %s", d->db_why);
    else if (mute)
        snprintf(call->detail + used, sizeof(call->detail) - (size_t)used,
                 "; ports of %.60s every 2 s alone: %s", mute->name, mute->why);
}

static void tell_version(const struct ovs *ovs, struct collect_call *call)
{
    const struct ovsdb_mirror *mirror = ovs->daemon.db ? ovsdb_mirror_of(ovs->daemon.db) : NULL;
    const char *dpdk = "";
    if (mirror && mirror->n_rows[OVSDB_OPEN_VSWITCH] > 0)
        dpdk = ovsdb_str(mirror->rows[OVSDB_OPEN_VSWITCH][0], OVSDB_VSWITCH_DPDK_VERSION);
    dpdk += strncmp(dpdk, "DPDK ", 5) == 0 ? 5 : 0;
    snprintf(call->version, sizeof(call->version), "ovs %s%s%.30s", ovs->daemon.version,
             *dpdk ? ", dpdk " : "", dpdk);
}

static void update_inventory(struct ovs *ovs)
{
    if (ovs->inventory && ovs->port_generation == ovs->daemon.generation &&
        ovs->thread_generation == ovs->threads.generation && same_pmds(ovs))
        return;
    inventory_unref(ovs->inventory);
    ovs->inventory = inventory_new();
    ovs->port_generation = ovs->daemon.generation;
    ovs->thread_generation = ovs->threads.generation;
    list_pmds(ovs);
    list_ports(ovs);
    ovs_threads_inventory(&ovs->threads, ovs->inventory, program);
}

/* ---- rows ---- */

static const struct ovs_pmd *perf_of(const struct pmd_read *read, struct ovs_pmd_id id)
{
    for (size_t i = 0; i < read->perf.n; i++)
        if (ovs_pmd_same(read->perf.items[i].id, id))
            return &read->perf.items[i];
    return NULL;
}

static void fill_pmds(struct ovs *ovs, struct sample *sample)
{
    sample_reserve(sample, TABLE_PMDS, ovs->n_pmds);
    for (size_t i = 0, at = 0; i < ovs->n_pmds; i++) {
        struct pmd *pmd = &ovs->pmds[i];
        const struct pmd_read *read = &ovs->reads[pmd->datapath];
        at = i > 0 && pmd->datapath == ovs->pmds[i - 1].datapath ? at + 1 : 0;
        while (!ovs_pmd_has_place(read->stats.items[at].id))
            at++;
        struct pmds_row *row = sample_row(sample, TABLE_PMDS, pmd->info);
        ovs_pmd_fill(row, &read->stats.items[at], perf_of(read, pmd->id), read->at, read->perf_at,
                     &pmd->memory);
    }
}

static void match_ports(struct ovs *ovs)
{
    const struct ovs_daemon *d = &ovs->daemon;
    memset(ovs->told, 0, d->n_ports * sizeof(*ovs->told));
    for (size_t b = 0; b < d->n_bridges; b++) {
        const struct ovs_of_stats *stats = &d->bridges[b].stats;
        for (size_t i = 0; d->bridges[b].answered && i < stats->n_ports; i++) {
            const struct ovs_port *port = ovs_port_numbered(d, b, stats->ports[i].number);
            if (port)
                ovs->told[port - d->ports] = &stats->ports[i];
        }
    }
}

static void fill_ports(struct ovs *ovs, struct sample *sample)
{
    const struct ovs_daemon *d = &ovs->daemon;
    match_ports(ovs);
    sample_reserve(sample, TABLE_PORTS, d->n_ports);
    for (size_t i = 0; i < d->n_ports; i++) {
        const struct ovs_port *port = &d->ports[i];
        const struct ovs_bridge *bridge = &d->bridges[port->bridge];
        const char *vhost_state = ovs_port_vhost_state(port);
        struct ports_row *row = sample_row(sample, TABLE_PORTS, ovs->port_infos[i]);
        if (vhost_state)
            row_set(row, vhost_state, vhost_state);
        if (!ovs->told[i])
            continue;
        row->head.t_ns = bridge->t_ns;
        ovs_port_fill(row, port, &bridge->stats, ovs->told[i]);
    }
}

/* ---- collector ---- */

static void ovs_close(void *state)
{
    struct ovs *ovs = state;
    if (!ovs)
        return;
    drop_texts(ovs);
    for (size_t i = 0; i < OVS_MAX_PMD_DATAPATHS; i++) {
        ovs_pmd_free(&ovs->reads[i].stats);
        ovs_pmd_free(&ovs->reads[i].perf);
    }
    ovs_threads_close(&ovs->threads);
    ovs_daemon_close(&ovs->daemon);
    inventory_unref(ovs->inventory);
    free(ovs->pmds);
    free(ovs->port_infos);
    free(ovs->told);
    free(ovs);
}

static enum collect_result ovs_open(const struct collect_config *config, void **state,
                                    struct collect_call *call)
{
    struct ovs *ovs = xzalloc(sizeof(*ovs));
    enum collect_result result = ovs_daemon_open(&ovs->daemon, config, call);
    if (result != COLLECT_OK) {
        free(ovs);
        return result;
    }
    ovs_threads_open(&ovs->threads, config->root, ovs->daemon.pid);
    *state = ovs;
    return COLLECT_OK;
}

static enum collect_result ovs_collect(void *state, struct collect_call *call, struct sample **result)
{
    struct ovs *ovs = state;
    ovs_daemon_update(&ovs->daemon, call);
    ovs_threads_update(&ovs->threads, clock_mono_ns(), ovs->threads_missing);
    struct sample *sample = sample_new(NULL);
    sample_begin(sample);
    send_questions(ovs, call);
    enum collect_result outcome = take_answers(ovs, call);
    if (outcome != COLLECT_OK) {
        drop_texts(ovs);
        sample_unref(sample);
        return outcome;
    }
    update_inventory(ovs);
    ovs_threads_fill(&ovs->threads, sample);
    sample_end(sample);
    sample->inventory = inventory_ref(ovs->inventory);
    fill_pmds(ovs, sample);
    fill_ports(ovs, sample);
    describe(ovs, call);
    tell_version(ovs, call);
    drop_texts(ovs);
    *result = sample;
    return COLLECT_OK;
}

const struct collector ovs_collector = {
    .source = "ovs",
    .feed = "ovs",
    .help =
        "PMDs, ports with their drop causes and the threads of ovs-vswitchd, from its control, OpenFlow and "
        "database sockets",
    .per = COLLECT_PER_RUNDIR,
    .open = ovs_open,
    .collect = ovs_collect,
    .close = ovs_close,
};
