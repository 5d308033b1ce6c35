/* SPDX-License-Identifier: MIT */
/*
 * The hub of the source `dpdk`: see dpdk_hub.h. The list of hubs is the one thing here that outlives a call:
 * two feeds know nothing of each other, and the number of connections to a process is the program's as a
 * whole.
 */
#include "collectors/dpdk_hub.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/memory.h"

#define NS_PER_S    INT64_C(1000000000)
#define DISCOVER_NS (5 * NS_PER_S)
#define HURRY_NS    NS_PER_S /* between looks while one that ended may be starting again */
#define HURRIES     15
#define OVERDUE_NS  (2 * DISCOVER_NS) /* the slow feed is not there, or hangs */

struct dpdk_hub_own {
    struct dpdk_hub hub;
    struct dpdk_hub_own *next;
    unsigned users;
    int stop_fd, proc_fd;
    char *root; /* "/" in real life */
    char **rundirs;
    size_t n_rundirs;

    pthread_mutex_t lock; /* of the turns */
    pthread_cond_t turn;
    uint64_t next_turn, serving;

    uint64_t serials;
    int64_t discover_ns;  /* when to look for processes; 0 at once */
    unsigned hurries;     /* looks left that follow each other soon */
    bool updated;         /* at least once */
    size_t closed_spaces; /* processes of other namespaces that we may not look into */
};

static struct {
    pthread_mutex_t lock;
    struct dpdk_hub_own *first;
} hubs = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- life ---- */

static size_t count(const char *const *texts)
{
    size_t n = 0;
    while (texts && texts[n])
        n++;
    return n;
}

static const char *root_of(const struct collect_config *config)
{
    return config->root && *config->root ? config->root : "/";
}

static bool serves(const struct dpdk_hub_own *own, const struct collect_config *config)
{
    if (strcmp(own->root, root_of(config)) != 0 || own->n_rundirs != count(config->dpdk_rundirs))
        return false;
    for (size_t i = 0; i < own->n_rundirs; i++)
        if (strcmp(own->rundirs[i], config->dpdk_rundirs[i]) != 0)
            return false;
    return true;
}

static struct dpdk_hub_own *hub_new(const struct collect_config *config, int stop_fd)
{
    struct dpdk_hub_own *own = xzalloc(sizeof(*own));
    char proc[4096];
    own->hub.own = own;
    own->root = xstrdup(root_of(config));
    own->n_rundirs = count(config->dpdk_rundirs);
    own->rundirs = xzalloc((own->n_rundirs + 1) * sizeof(char *));
    for (size_t i = 0; i < own->n_rundirs; i++)
        own->rundirs[i] = xstrdup(config->dpdk_rundirs[i]);
    snprintf(proc, sizeof(proc), "%s/proc", config->root ? config->root : "");
    own->proc_fd = procfs_open_root(proc);
    own->stop_fd = stop_fd < 0 ? -1 : fcntl(stop_fd, F_DUPFD_CLOEXEC, 0);
    own->hub.changes = 1;
    pthread_mutex_init(&own->lock, NULL);
    pthread_cond_init(&own->turn, NULL);
    return own;
}

static void hub_free(struct dpdk_hub_own *own)
{
    for (size_t i = 0; i < own->hub.n; i++)
        dpdk_process_free(own->hub.processes[i]);
    for (size_t i = 0; i < own->n_rundirs; i++)
        free(own->rundirs[i]);
    if (own->proc_fd >= 0)
        close(own->proc_fd);
    if (own->stop_fd >= 0)
        close(own->stop_fd);
    pthread_mutex_destroy(&own->lock);
    pthread_cond_destroy(&own->turn);
    free(own->hub.processes);
    free(own->rundirs);
    free(own->root);
    free(own);
}

struct dpdk_hub *dpdk_hub_get(const struct collect_config *config, int stop_fd)
{
    pthread_mutex_lock(&hubs.lock);
    struct dpdk_hub_own *own = hubs.first;
    while (own && !serves(own, config))
        own = own->next;
    if (!own) {
        own = hub_new(config, stop_fd);
        own->next = hubs.first;
        hubs.first = own;
    }
    own->users++;
    pthread_mutex_unlock(&hubs.lock);
    return &own->hub;
}

void dpdk_hub_put(struct dpdk_hub *hub)
{
    if (!hub)
        return;
    pthread_mutex_lock(&hubs.lock);
    struct dpdk_hub_own **link = &hubs.first;
    while (*link != hub->own)
        link = &(*link)->next;
    bool last = --hub->own->users == 0;
    if (last)
        *link = hub->own->next;
    pthread_mutex_unlock(&hubs.lock);
    if (last)
        hub_free(hub->own);
}

/* ---- turns ---- */

void dpdk_hub_enter(struct dpdk_hub *hub, int64_t deadline_ns)
{
    struct dpdk_hub_own *own = hub->own;
    pthread_mutex_lock(&own->lock);
    uint64_t mine = own->next_turn++;
    while (mine != own->serving)
        pthread_cond_wait(&own->turn, &own->lock);
    pthread_mutex_unlock(&own->lock);
    hub->ask = (struct dpdk_ask){.proc_fd = own->proc_fd,
                                 .now_ns = clock_mono_ns(),
                                 .deadline_ns = deadline_ns,
                                 .serials = &own->serials,
                                 .changes = &hub->changes};
}

void dpdk_hub_leave(struct dpdk_hub *hub)
{
    struct dpdk_hub_own *own = hub->own;
    pthread_mutex_lock(&own->lock);
    own->serving++;
    pthread_cond_broadcast(&own->turn);
    pthread_mutex_unlock(&own->lock);
}

/* ---- discovery ---- */

static int find(struct dpdk_hub_own *own, struct dpdk_find *found, size_t *closed_spaces)
{
    pid_t pids[DPDK_FIND_PIDS_MAX];
    char error[128];
    struct dpdk_find_options options = {.root = own->root,
                                        .rundirs = (const char *const *)own->rundirs,
                                        .n_rundirs = own->n_rundirs,
                                        .pids = pids};
    options.n_pids = dpdk_find_pids(own->root, pids, DPDK_FIND_PIDS_MAX, closed_spaces);
    return dpdk_find(&options, found, error, sizeof(error));
}

/* A folder that is closed to us tells nothing of a process; a listener behind it does. */
static bool is_process(const struct dpdk_find_entry *entry)
{
    return entry->state != DPDK_FIND_DENIED || (!entry->folder && entry->listening);
}

static bool is_same(const struct dpdk_process *p, const struct dpdk_find_entry *entry)
{
    return p->dev == entry->dev && p->ino == entry->ino && p->entry.state == entry->state &&
           strcmp(p->entry.path, entry->path) == 0;
}

static bool is_found(const struct dpdk_process *p, const struct dpdk_find *found)
{
    for (size_t i = 0; i < found->n; i++)
        if (is_same(p, &found->v[i]))
            return true;
    return false;
}

static bool is_known(const struct dpdk_hub *hub, const struct dpdk_find_entry *entry)
{
    for (size_t i = 0; i < hub->n; i++)
        if (is_same(hub->processes[i], entry))
            return true;
    return false;
}

/* Those that answer stay while they do, whatever became of their socket's file. */
static void merge(struct dpdk_hub *hub, const struct dpdk_find *found)
{
    struct dpdk_hub_own *own = hub->own;
    for (size_t i = 0; i < hub->n; i++) {
        struct dpdk_process *p = hub->processes[i];
        bool connected = p->t && telemetry_connected(p->t);
        p->ended = p->ended || (!connected && !is_found(p, found));
    }
    dpdk_hub_sweep(hub);
    for (size_t i = 0; i < found->n; i++) {
        if (!is_process(&found->v[i]) || is_known(hub, &found->v[i]))
            continue;
        hub->processes = xrealloc(hub->processes, hub->n + 1, sizeof(struct dpdk_process *));
        hub->processes[hub->n++] = dpdk_process_new(&found->v[i], ++own->serials, own->stop_fd);
        hub->changes++;
    }
    own->discover_ns = clock_mono_ns() + (own->hurries ? HURRY_NS : DISCOVER_NS);
    own->hurries -= own->hurries > 0;
}

void dpdk_hub_sweep(struct dpdk_hub *hub)
{
    size_t kept = 0;
    for (size_t i = 0; i < hub->n; i++) {
        struct dpdk_process *p = hub->processes[i];
        if (!p->ended) {
            hub->processes[kept++] = p;
            continue;
        }
        if (p->last_answer_ns) /* it may be coming back: look soon; a stale file is looked at when it is time
                                */
            hub->own->discover_ns = 0;
        dpdk_process_free(p);
        hub->changes++;
    }
    hub->n = kept;
}

/* Inside. */
static void connect_and_list(struct dpdk_hub *hub)
{
    for (size_t i = 0; i < hub->n; i++) {
        if (dpdk_process_connect(hub->processes[i], &hub->ask))
            dpdk_process_list(hub->processes[i], &hub->ask);
    }
    dpdk_hub_sweep(hub);
    hub->own->updated = true;
}

void dpdk_hub_update(struct dpdk_hub *hub, int64_t deadline_ns, bool now_or_later)
{
    struct dpdk_hub_own *own = hub->own;
    struct dpdk_find found = {0};
    size_t closed_spaces = 0;
    dpdk_hub_enter(hub, deadline_ns);
    int64_t now_ns = hub->ask.now_ns;
    bool due = now_ns >= own->discover_ns + (now_or_later && own->updated ? OVERDUE_NS : 0);
    if (now_or_later && own->updated && !due) {
        dpdk_hub_leave(hub);
        return;
    }
    /* The first look is the fast feed's as well: nothing can be shown before. Later ones are made outside of
     * the hub, so that nobody waits for them. */
    bool inside = !own->updated;
    if (due && !inside) {
        own->discover_ns = now_ns + DISCOVER_NS;
        dpdk_hub_leave(hub);
    }
    bool looked = due && find(own, &found, &closed_spaces) == 0;
    if (due && !inside)
        dpdk_hub_enter(hub, deadline_ns);
    if (looked) {
        own->closed_spaces = closed_spaces;
        merge(hub, &found);
    }
    connect_and_list(hub);
    dpdk_hub_leave(hub);
    dpdk_find_free(&found);
}

/* ---- walking ---- */

struct dpdk_process *dpdk_hub_next_process(const struct dpdk_hub *hub, uint64_t serial)
{
    struct dpdk_process *next = NULL;
    for (size_t i = 0; i < hub->n; i++) {
        struct dpdk_process *p = hub->processes[i];
        if (p->serial > serial && (!next || p->serial < next->serial))
            next = p;
    }
    return next;
}

struct dpdk_port *dpdk_hub_next_port(const struct dpdk_hub *hub, uint64_t serial,
                                     struct dpdk_process **process)
{
    struct dpdk_port *next = NULL;
    for (size_t i = 0; i < hub->n; i++) {
        for (size_t j = 0; j < hub->processes[i]->n_ports; j++) {
            struct dpdk_port *port = hub->processes[i]->ports[j];
            if (port->serial <= serial || (next && port->serial > next->serial))
                continue;
            next = port;
            *process = hub->processes[i];
        }
    }
    return next;
}

/* ---- what is said of it ---- */

struct line {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = line->used < line->size
                ? vsnprintf(line->text + line->used, line->size - line->used, format, args)
                : 0;
    va_end(args);
    line->used += n > 0 ? (size_t)n : 0;
}

/* The folder that closes a path to us, or the path itself. */
static void find_closed(const struct dpdk_find_entry *entry, char *path, size_t size)
{
    struct stat st;
    snprintf(path, size, "%s", entry->path);
    while (entry->by_folder && strcmp(entry->root, "/") == 0 && stat(path, &st) != 0) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            break;
        *slash = '\0';
    }
}

static void owner_name(uid_t uid, char *name, size_t size)
{
    char buffer[1024];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
        snprintf(name, size, "%s", found->pw_name);
    else
        snprintf(name, size, "user %u", (unsigned)uid);
}

/* "/run/dpdk/rte is root's (0700): run as root to see 2 processes" */
static void add_denied(struct line *line, const struct dpdk_hub *hub)
{
    const struct dpdk_find_entry *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < hub->n; i++) {
        if (hub->processes[i]->state != DPDK_DENIED)
            continue;
        first = first ? first : &hub->processes[i]->entry;
        n++;
    }
    if (!first)
        return;
    char path[DPDK_FIND_PATH_MAX], owner[64];
    find_closed(first, path, sizeof(path));
    owner_name(first->uid, owner, sizeof(owner));
    add(line, "%s%s is %s's (%04o): run as root to see %zu process%s", line->used ? "; " : "", path, owner,
        (unsigned)first->mode, n, n == 1 ? "" : "es");
}

static void add_process(struct line *line, const struct dpdk_process *p, bool first)
{
    const char *version = p->t && telemetry_connected(p->t) ? telemetry_hello(p->t)->version : "";
    if (strncmp(version, "DPDK ", 5) == 0)
        version += 5;
    add(line, "%s%s%s%s", first ? "" : ", ", p->label, *version ? " " : "", version);
    if (p->state != DPDK_OK)
        add(line, " (%s)", dpdk_state_name(p->state));
}

static void describe(const struct dpdk_hub *hub, struct line *line)
{
    size_t shown = 0, ports = 0, listed = 0;
    for (size_t i = 0; i < hub->n; i++) {
        shown += hub->processes[i]->state != DPDK_DENIED;
        ports += hub->processes[i]->n_ports;
    }
    add(line, "%zu process%s: ", shown, shown == 1 ? "" : "es");
    for (size_t i = 0; i < hub->n && line->used < line->size / 2; i++)
        if (hub->processes[i]->state != DPDK_DENIED)
            add_process(line, hub->processes[i], listed++ == 0);
    add(line, "%s; %zu port%s", listed < shown ? ", ..." : "", ports, ports == 1 ? "" : "s");
    add_denied(line, hub);
}

enum collect_result dpdk_hub_verdict(const struct dpdk_hub *hub, struct collect_call *call)
{
    const struct dpdk_hub_own *own = hub->own;
    bool any = false, denied = false;
    for (size_t i = 0; i < hub->n; i++) {
        denied |= hub->processes[i]->state == DPDK_DENIED;
        any |= hub->processes[i]->state != DPDK_DENIED;
    }
    if (any) {
        describe(hub, &(struct line){.text = call->detail, .size = sizeof(call->detail)});
        return COLLECT_OK;
    }
    if (denied) {
        add_denied(&(struct line){.text = call->error.text, .size = sizeof(call->error.text)}, hub);
        return COLLECT_DENIED;
    }
    struct line line = {.text = call->error.text, .size = sizeof(call->error.text)};
    add(&line,
        "no DPDK process; looked in %s%s/run/dpdk, /run/user/*/dpdk, /tmp/dpdk, /run/openvswitch/dpdk and "
        "the "
        "kernel's sockets",
        own->n_rundirs ? own->rundirs[0] : "", own->n_rundirs ? ", " : "");
    if (own->closed_spaces)
        add(&line, geteuid() ? "; run as root to look into other processes' namespaces"
                             : "; other processes' namespaces take CAP_SYS_PTRACE, which this root lacks");
    return COLLECT_NONE;
}
