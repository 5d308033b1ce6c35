/* SPDX-License-Identifier: MIT */
/*
 * One DPDK process: see dpdk_process.h. Every step of asking is a turn with one deadline for the process, so
 * that a process with many ports cannot take more time than one with few, and the first question without an
 * answer ends it.
 */
#include "collectors/dpdk_process.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/procfs.h"
#include "src/clock.h"
#include "src/memory.h"

#define NS_PER_MS   INT64_C(1000000)
#define PATIENCE_NS (100 * NS_PER_MS) /* for all questions of one turn */
#define GLANCE_NS   (2 * NS_PER_MS)   /* for a process that owes an answer */
#define RELIST_NS   (1000 * NS_PER_MS)
#define REPOOL_NS   (10000 * NS_PER_MS)
#define COMM_CUT    15 /* TASK_COMM_LEN - 1: such a name may go on */
#define ARGS_MAX    2048

static const char *const state_names[DPDK_STATES] = {
    [DPDK_NEW] = "starting",          [DPDK_OK] = "ok",
    [DPDK_HUNG] = "no answer",        [DPDK_FULL] = "10 clients already",
    [DPDK_DENIED] = "not permitted",  [DPDK_HIDDEN] = "out of reach",
    [DPDK_UNREADABLE] = "unreadable", [DPDK_FAILED] = "failed",
};

const char *dpdk_state_name(enum dpdk_state state)
{
    return state_names[state];
}

/* ---- who it is ---- */

/* The run folder's name: the file prefix, with the number of a further process in the same folder. */
static void take_prefix(struct dpdk_process *p)
{
    const char *path = p->entry.path, *file = strrchr(path, '/'), *folder = file;
    if (!file)
        return;
    while (folder > path && folder[-1] != '/')
        folder--;
    const char *number = strrchr(file, ':');
    bool in_dpdk_folder = folder > path && file > folder && strncmp(path, "/tmp/dpdk_telemetry", 19) != 0;
    if (in_dpdk_folder)
        snprintf(p->prefix, sizeof(p->prefix), "%.*s%s", (int)(file - folder), folder, number ? number : "");
}

struct dpdk_process *dpdk_process_new(const struct dpdk_find_entry *entry, uint64_t serial, int stop_fd)
{
    static const enum dpdk_state states[] = {
        [DPDK_FIND_SOCKET] = DPDK_NEW, [DPDK_FIND_DENIED] = DPDK_DENIED, [DPDK_FIND_HIDDEN] = DPDK_HIDDEN};
    struct dpdk_process *p = xzalloc(sizeof(*p));
    p->serial = serial;
    p->dev = entry->dev;
    p->ino = entry->ino;
    p->entry = *entry;
    p->state = states[entry->state];
    p->answer_s = -1;
    take_prefix(p);
    snprintf(p->id, sizeof(p->id), "socket-%llx-%llu", (unsigned long long)entry->dev,
             (unsigned long long)serial);
    snprintf(p->name, sizeof(p->name), "%s", *p->prefix ? p->prefix : "dpdk");
    snprintf(p->label, sizeof(p->label), "%s", p->name);
    if (p->state == DPDK_NEW)
        p->t = telemetry_new(entry->root, entry->path, stop_fd);
    p->ended = p->state == DPDK_NEW && !p->t;
    return p;
}

static void port_free(struct dpdk_port *port)
{
    dpdk_xstats_free(&port->xstats);
    free(port);
}

void dpdk_process_free(struct dpdk_process *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_ports; i++)
        port_free(p->ports[i]);
    telemetry_free(p->t);
    telemetry_texts_free(&p->eal);
    telemetry_xstats_free(&p->scratch);
    dpdk_lcores_free(&p->lcores);
    free(p->eal_args);
    free(p->ports);
    free(p->pools);
    free(p->cores);
    free(p);
}

/* comm is cut to 15 characters; where the program's own name goes on, that is taken. */
static void take_name(struct dpdk_process *p, int proc_fd, const char *comm)
{
    struct procfs_args args;
    char name[sizeof(p->name)];
    snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, comm);
    if (strlen(comm) >= COMM_CUT && procfs_read_cmdline(proc_fd, p->pid, &args) == PROCFS_OK) {
        const char *slash = args.argc > 0 ? strrchr(args.argv[0], '/') : NULL;
        const char *base = args.argc == 0 ? "" : slash ? slash + 1 : args.argv[0];
        if (strncmp(base, comm, strlen(comm)) == 0)
            snprintf(name, sizeof(name), "%s", base);
        procfs_args_free(&args);
    }
    for (char *c = name; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    bool plain = strncmp(name, "dpdk-", 5) != 0 || name[5] == '\0';
    snprintf(p->name, sizeof(p->name), "%s", plain ? name : name + 5);
    p->is_ovs = strncmp(name, "ovs-vswitchd", 12) == 0;
}

/* The process behind the socket, as far as it can be seen from here. */
static void identify(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    pid_t pid = telemetry_peer_pid(p->t);
    struct procfs_stat st;
    if (pid <= 0 || pid == p->pid || ask->proc_fd < 0 ||
        procfs_read_stat(ask->proc_fd, pid, pid, &st) != PROCFS_OK)
        return;
    p->pid = pid;
    p->start_ticks = st.start_ticks;
    snprintf(p->id, sizeof(p->id), "%d:%llu", (int)pid, (unsigned long long)st.start_ticks);
    take_name(p, ask->proc_fd, st.comm);
    bool is_default = strcmp(p->prefix, "rte") == 0 || *p->prefix == '\0';
    snprintf(p->label, sizeof(p->label), "%.60s%s%.30s", p->name, is_default ? "" : " ",
             is_default ? "" : p->prefix);
    ++*ask->changes;
}

/* ---- connecting ---- */

static void set_state(struct dpdk_process *p, enum dpdk_state state, const struct dpdk_ask *ask)
{
    if (p->state != state)
        ++*ask->changes;
    p->state = state;
}

static uint64_t deadline(const struct dpdk_ask *ask, int64_t patience_ns)
{
    int64_t at = clock_mono_ns() + patience_ns;
    return (uint64_t)(at < ask->deadline_ns ? at : ask->deadline_ns);
}

/* 10, 20, 40, then 60 seconds. */
static void back_off(struct dpdk_process *p)
{
    int64_t wait_ms = p->failures < 3 ? INT64_C(10000) << p->failures : 60000;
    p->failures++;
    p->retry_ns = clock_mono_ns() + wait_ms * NS_PER_MS;
}

static enum dpdk_state state_of(enum telemetry_status status)
{
    switch (status) {
    case TELEMETRY_OK:
        return DPDK_OK;
    case TELEMETRY_TIMEOUT:
        return DPDK_HUNG;
    case TELEMETRY_FULL:
        return DPDK_FULL;
    case TELEMETRY_DENIED:
        return DPDK_DENIED;
    case TELEMETRY_NONE:
    case TELEMETRY_UNREADABLE:
    case TELEMETRY_GARBLED:
    case TELEMETRY_TRUNCATED:
        return DPDK_UNREADABLE;
    default:
        return DPDK_FAILED;
    }
}

static enum telemetry_status knock(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    int64_t patience_ns = p->state == DPDK_HUNG ? GLANCE_NS : PATIENCE_NS;
    return telemetry_connect(p->t, deadline(ask, patience_ns), p->error, sizeof(p->error));
}

bool dpdk_process_connect(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    if (!p->t || p->ended)
        return false;
    if (telemetry_connected(p->t))
        return true;
    if (ask->now_ns < p->retry_ns || clock_mono_ns() >= ask->deadline_ns)
        return false;
    enum telemetry_status status = knock(p, ask);
    /* A process that dies with our connection in its backlog looks the same as a full one; the second time
     * nobody is there. */
    if (status == TELEMETRY_FULL)
        status = knock(p, ask);
    identify(p, ask);
    p->ended = status == TELEMETRY_STALE || status == TELEMETRY_GONE;
    if (p->ended || status == TELEMETRY_STOPPED)
        return false;
    set_state(p, state_of(status), ask);
    if (status == TELEMETRY_OK) {
        p->failures = 0;
        p->last_answer_ns = clock_mono_ns();
        return true;
    }
    if (status != TELEMETRY_TIMEOUT)
        back_off(p);
    return false;
}

bool dpdk_process_is_awake(const struct dpdk_process *p)
{
    return p->t && !p->ended && p->state != DPDK_HUNG && telemetry_connected(p->t);
}

/* ---- turns ---- */

struct turn {
    struct dpdk_process *p;
    const struct dpdk_ask *ask;
    uint64_t deadline_ns;
    bool over; /* no more questions */
    unsigned good, bad;
    struct telemetry_reply reply;
};

static struct turn begin(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    return (struct turn){.p = p,
                         .ask = ask,
                         .deadline_ns = deadline(ask, PATIENCE_NS),
                         .over = clock_mono_ns() >= ask->deadline_ns};
}

/* Takes down what became of a question; true when the reply can be parsed. */
static bool answered(struct turn *turn, enum telemetry_status status)
{
    struct dpdk_process *p = turn->p;
    if (!telemetry_connected(p->t)) {
        turn->over = p->ended = true;
        return false;
    }
    if (status == TELEMETRY_TIMEOUT)
        set_state(p, DPDK_HUNG, turn->ask);
    turn->over = status == TELEMETRY_TIMEOUT || status == TELEMETRY_STOPPED;
    if (turn->over || status == TELEMETRY_UNSUPPORTED)
        return false;
    turn->good += status == TELEMETRY_OK || status == TELEMETRY_NONE;
    turn->bad += status != TELEMETRY_OK && status != TELEMETRY_NONE;
    p->last_answer_ns = clock_mono_ns();
    if (status == TELEMETRY_OK)
        p->answer_s = (double)(turn->reply.received_ns - turn->reply.sent_ns) / 1e9;
    return status == TELEMETRY_OK;
}

static enum telemetry_status question(struct turn *turn, enum telemetry_command command, uint32_t number)
{
    if (turn->over)
        return TELEMETRY_TIMEOUT;
    enum telemetry_status status = telemetry_ask(turn->p->t, command, number, turn->deadline_ns, &turn->reply,
                                                 turn->p->error, sizeof(turn->p->error));
    return answered(turn, status) || status != TELEMETRY_OK ? status : TELEMETRY_GONE;
}

/* A process that answers, but nothing that can be read, says so in its row. */
static void end(struct turn *turn)
{
    if (turn->good + turn->bad > 0 && !turn->over)
        set_state(turn->p, turn->good ? DPDK_OK : DPDK_UNREADABLE, turn->ask);
}

static int64_t middle_ns(const struct telemetry_reply *reply)
{
    return (int64_t)(reply->sent_ns + (reply->received_ns - reply->sent_ns) / 2);
}

/*
 * A hung process gets a glance. When the answer that it owed has come, it is back, and gets the time that any
 * other gets: were it only ever given a glance, a loaded machine would keep it one answer behind for ever.
 */
static bool wake(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    if (p->state != DPDK_HUNG)
        return true;
    struct turn turn = begin(p, ask);
    unsigned before = telemetry_discarded(p->t);
    turn.deadline_ns = deadline(ask, GLANCE_NS);
    enum telemetry_status status = question(&turn, TELEMETRY_ETHDEV_LIST, 0);
    if (status == TELEMETRY_TIMEOUT && telemetry_discarded(p->t) > before) {
        turn.over = false;
        turn.deadline_ns = deadline(ask, PATIENCE_NS);
        question(&turn, TELEMETRY_ETHDEV_LIST, 0);
    }
    if (turn.over || p->ended)
        return false;
    set_state(p, DPDK_OK, ask);
    return true;
}

/* ---- what exists ---- */

static void list_arguments(struct turn *turn)
{
    struct dpdk_process *p = turn->p;
    if (p->eal_args || question(turn, TELEMETRY_EAL_PARAMS, 0) != TELEMETRY_OK ||
        telemetry_parse_texts(&turn->reply, &p->eal) != TELEMETRY_OK)
        return;
    char *text = xzalloc(ARGS_MAX);
    size_t used = 0;
    for (uint32_t i = 1; i < p->eal.n && used < ARGS_MAX; i++) /* the first is the program */
        used += (size_t)snprintf(text + used, ARGS_MAX - used, "%s%s", i > 1 ? " " : "", p->eal.v[i]);
    p->eal_args = text;
    ++*turn->ask->changes;
}

/* Loss that only xstats tell of, and releases without /ethdev/stats, make xstats part of the fast tempo. */
static bool needs_xstats(const struct dpdk_process *p, const struct dpdk_port *port)
{
    unsigned release = telemetry_hello(p->t)->release;
    if (!telemetry_offers(p->t, TELEMETRY_ETHDEV_STATS))
        return true;
    for (size_t i = 0; i < telemetry_loss_rows_n; i++) {
        const struct telemetry_loss_row *row = &telemetry_loss_rows[i];
        if (!row->in_stats && row->slot == TELEMETRY_SLOT_VHOST_MISSED &&
            strcmp(row->driver, port->driver) == 0 && release >= row->since && release != 0 &&
            (row->until == 0 || release <= row->until))
            return true;
    }
    return false;
}

static struct dpdk_port *port_new(struct turn *turn, uint32_t id, const struct telemetry_port *facts)
{
    struct dpdk_port *port = xzalloc(sizeof(*port));
    port->serial = ++*turn->ask->serials;
    port->id = id;
    port->facts = *facts;
    if (facts->has & TELEMETRY_PORT_NAME)
        snprintf(port->name, sizeof(port->name), "%s", facts->name);
    else
        snprintf(port->name, sizeof(port->name), "port%u", id);
    telemetry_driver_of(port->name, port->driver, sizeof(port->driver));
    port->tell_xstats = needs_xstats(turn->p, port);
    ++*turn->ask->changes;
    return port;
}

static bool facts_differ(const struct telemetry_port *a, const struct telemetry_port *b)
{
    return a->has != b->has || strcmp(a->mac, b->mac) != 0 || a->nb_rx_queues != b->nb_rx_queues ||
           a->nb_tx_queues != b->nb_tx_queues || a->mtu != b->mtu || a->dev_started != b->dev_started ||
           a->numa_node != b->numa_node;
}

/* Takes the port of that number out of the old list when it is the same device. */
static struct dpdk_port *same_port(struct dpdk_process *p, uint32_t id, const char *name)
{
    for (size_t i = 0; i < p->n_ports; i++) {
        struct dpdk_port *port = p->ports[i];
        if (port && port->id == id && (!name || strcmp(port->name, name) == 0)) {
            p->ports[i] = NULL;
            return port;
        }
    }
    return NULL;
}

/* The port of a number now; NULL when it did not say. */
static struct dpdk_port *ask_port(struct turn *turn, uint32_t id)
{
    struct telemetry_port facts = {0};
    char unnamed[TELEMETRY_XSTAT_NAME];
    enum telemetry_status status = question(turn, TELEMETRY_ETHDEV_INFO, id);
    if (turn->over)
        return same_port(turn->p, id, NULL);
    if (status != TELEMETRY_OK || telemetry_parse_port(&turn->reply, &facts) != TELEMETRY_OK)
        facts = (struct telemetry_port){0};
    snprintf(unnamed, sizeof(unnamed), "port%u", id);
    struct dpdk_port *port = same_port(turn->p, id, facts.has & TELEMETRY_PORT_NAME ? facts.name : unnamed);
    if (!port)
        return port_new(turn, id, &facts);
    *turn->ask->changes += facts_differ(&port->facts, &facts);
    port->facts = facts;
    return port;
}

static void list_ports(struct turn *turn)
{
    struct dpdk_process *p = turn->p;
    struct telemetry_ids ids;
    enum telemetry_status status = question(turn, TELEMETRY_ETHDEV_LIST, 0);
    if (status != TELEMETRY_OK || telemetry_parse_ids(&turn->reply, &ids) != TELEMETRY_OK)
        return;
    struct dpdk_port **ports = xzalloc(DPDK_PORTS_MAX * sizeof(struct dpdk_port *));
    size_t n = 0;
    for (uint32_t i = 0; i < ids.n && n < DPDK_PORTS_MAX; i++) {
        struct dpdk_port *port = ask_port(turn, ids.v[i]);
        if (port)
            ports[n++] = port;
    }
    for (size_t i = 0; i < p->n_ports; i++) {
        if (!p->ports[i])
            continue;
        port_free(p->ports[i]);
        ++*turn->ask->changes;
    }
    free(p->ports);
    p->ports = ports;
    p->n_ports = n;
}

void dpdk_process_list(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    if (!dpdk_process_is_awake(p) || (p->listed_ns && ask->now_ns - p->listed_ns < RELIST_NS))
        return;
    struct turn turn = begin(p, ask);
    list_arguments(&turn);
    list_ports(&turn);
    end(&turn);
    if (!turn.over)
        p->listed_ns = ask->now_ns;
    if (p->pid > 0 && !p->is_ovs && ask->proc_fd >= 0)
        *ask->changes +=
            dpdk_lcores_scan(&p->lcores, ask->proc_fd, p->pid, (const char *const *)p->eal.v, p->eal.n);
}

/* ---- the fast tempo ---- */

static bool ask_xstats(struct turn *turn, uint32_t id, bool hide_zero, enum telemetry_status *status)
{
    struct dpdk_process *p = turn->p;
    *status = TELEMETRY_TIMEOUT;
    if (turn->over)
        return false;
    *status = telemetry_ask_xstats(p->t, id, hide_zero, turn->deadline_ns, &turn->reply, p->error,
                                   sizeof(p->error));
    if (answered(turn, *status))
        *status = telemetry_parse_xstats(&turn->reply, &p->scratch);
    return *status == TELEMETRY_OK;
}

static void read_port(struct turn *turn, struct dpdk_port *port)
{
    struct dpdk_process *p = turn->p;
    struct telemetry_stats stats = {0};
    unsigned release = telemetry_hello(p->t)->release;
    enum telemetry_status status = question(turn, TELEMETRY_ETHDEV_STATS, port->id), xstatus;
    if (status == TELEMETRY_OK)
        status = telemetry_parse_stats(&turn->reply, &stats);
    int64_t t_ns = middle_ns(&turn->reply);
    const struct telemetry_xstats *xstats = NULL;
    if (port->tell_xstats && ask_xstats(turn, port->id, false, &xstatus))
        xstats = &p->scratch;
    else if (port->tell_xstats && xstatus != TELEMETRY_NONE)
        return; /* half of its numbers would look as if the other half had gone */
    if (status == TELEMETRY_UNSUPPORTED && port->tell_xstats) {
        status = xstatus;
        t_ns = middle_ns(&turn->reply);
        if (xstats)
            telemetry_stats_of_xstats(xstats, &stats);
    }
    if (status == TELEMETRY_NONE)
        port->has_stats = false;
    if (status != TELEMETRY_OK || p->ended)
        return;
    port->has_stats = true;
    port->stats_ns = t_ns;
    port->stats = stats;
    for (int dir = TELEMETRY_RX; dir <= TELEMETRY_TX; dir++)
        telemetry_losses(port->driver, release, &stats, xstats, (enum telemetry_dir)dir, &port->loss[dir]);
}

void dpdk_process_read(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    dpdk_lcores_read(&p->lcores);
    if (!p->t || p->ended || !telemetry_connected(p->t) || !wake(p, ask))
        return;
    struct turn turn = begin(p, ask);
    for (size_t i = 0; i < p->n_ports && !turn.over; i++)
        read_port(&turn, p->ports[i]);
    if (p->n_ports == 0 && !turn.over) /* is it alive? */
        question(&turn, TELEMETRY_ETHDEV_LIST, 0);
    end(&turn);
}

/* ---- the slow tempo ---- */

static void read_link(struct turn *turn, struct dpdk_port *port)
{
    struct telemetry_link link = {0};
    enum telemetry_status status = question(turn, TELEMETRY_ETHDEV_LINK, port->id);
    if (turn->over)
        return;
    bool has = status == TELEMETRY_OK && telemetry_parse_link(&turn->reply, &link) == TELEMETRY_OK;
    *turn->ask->changes += has != port->has_link || link.up != port->link.up ||
                           link.has_speed != port->link.has_speed || link.speed_mbps != port->link.speed_mbps;
    port->has_link = has;
    port->link = link;
}

void dpdk_process_read_port(struct dpdk_process *p, struct dpdk_port *port, const struct dpdk_ask *ask)
{
    struct turn turn = begin(p, ask);
    unsigned release = telemetry_hello(p->t)->release;
    read_link(&turn, port);
    enum telemetry_status status = TELEMETRY_NONE;
    /* The first time zeros are asked for too: then every name is known, and one that is missing later is a
     * zero. */
    if (telemetry_xstats_worth_asking(port->driver, release, port->has_link && port->link.up) &&
        ask_xstats(&turn, port->id, port->xstats.n > 0, &status))
        *ask->changes +=
            dpdk_xstats_update(&port->xstats, &p->scratch, port->driver, release, middle_ns(&turn.reply));
    if (status == TELEMETRY_NONE || status == TELEMETRY_UNSUPPORTED)
        dpdk_xstats_forget(&port->xstats);
    end(&turn);
}

static void list_pools(struct turn *turn)
{
    struct dpdk_process *p = turn->p;
    struct telemetry_texts names = {0};
    if (question(turn, TELEMETRY_MEMPOOL_LIST, 0) != TELEMETRY_OK ||
        telemetry_parse_texts(&turn->reply, &names) != TELEMETRY_OK)
        names.n = 0;
    size_t n = names.n < DPDK_POOLS_MAX ? names.n : DPDK_POOLS_MAX;
    struct dpdk_pool *pools = xzalloc((n + 1) * sizeof(*pools));
    bool same = n == p->n_pools;
    for (size_t i = 0; i < n; i++) {
        snprintf(pools[i].facts.name, sizeof(pools[i].facts.name), "%s", names.v[i]);
        same = same && strcmp(p->pools[i].facts.name, pools[i].facts.name) == 0;
        if (same)
            pools[i] = p->pools[i];
    }
    *turn->ask->changes += !same;
    free(p->pools);
    p->pools = pools;
    p->n_pools = n;
    telemetry_texts_free(&names);
}

static void read_pool(struct turn *turn, struct dpdk_pool *pool)
{
    struct dpdk_process *p = turn->p;
    struct telemetry_pool facts = {0};
    enum telemetry_status status = telemetry_ask_pool(p->t, pool->facts.name, turn->deadline_ns, &turn->reply,
                                                      p->error, sizeof(p->error));
    if (!answered(turn, status) || telemetry_parse_pool(&turn->reply, &facts) != TELEMETRY_OK)
        return;
    *turn->ask->changes += !pool->known || facts.size != pool->facts.size;
    snprintf(facts.name, sizeof(facts.name), "%s", pool->facts.name);
    pool->facts = facts;
    pool->known = true;
    pool->t_ns = middle_ns(&turn->reply);
}

void dpdk_process_read_pools(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    struct turn turn = begin(p, ask);
    bool relist = !p->pools_ns || ask->now_ns - p->pools_ns >= REPOOL_NS;
    if (relist)
        list_pools(&turn);
    /* Before 23.03 it tells the size alone, which does not change. */
    bool tells_use = telemetry_hello(p->t)->release >= TELEMETRY_HIDE_ZERO_SINCE;
    for (size_t i = 0; i < p->n_pools && !turn.over && (relist || tells_use); i++)
        read_pool(&turn, &p->pools[i]);
    if (relist && !turn.over)
        p->pools_ns = ask->now_ns;
    end(&turn);
}

void dpdk_process_read_cores(struct dpdk_process *p, const struct dpdk_ask *ask)
{
    struct turn turn = begin(p, ask);
    struct telemetry_usage usage = {0};
    enum telemetry_status status = question(&turn, TELEMETRY_LCORE_USAGE, 0);
    if (turn.over)
        return;
    if (status != TELEMETRY_OK || telemetry_parse_usage(&turn.reply, &usage) != TELEMETRY_OK)
        usage.n = 0;
    bool same = usage.n == p->n_cores;
    for (uint32_t i = 0; same && i < usage.n; i++)
        same = usage.v[i].lcore_id == p->cores[i].id;
    if (!same) {
        free(p->cores);
        p->cores = xzalloc((usage.n + 1) * sizeof(*p->cores));
        p->n_cores = usage.n;
        ++*ask->changes;
    }
    for (uint32_t i = 0; i < usage.n; i++) {
        p->cores[i].id = usage.v[i].lcore_id;
        p->cores[i].total_cycles = usage.v[i].total_cycles;
        p->cores[i].busy_cycles = usage.v[i].busy_cycles;
    }
    p->cores_ns = usage.n ? middle_ns(&turn.reply) : 0;
    end(&turn);
}
