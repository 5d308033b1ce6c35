/* SPDX-License-Identifier: MIT */
/*
 * The daemon declared in ovs_daemon.h: finding it, saying why it cannot be had, and keeping its database and
 * OpenFlow connections, each with a back-off of its own, so that one that hangs costs the others nothing.
 */
#include "collectors/ovs_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/ovs_ports.h"
#include "collectors/procfs.h"
#include "src/feed.h"
#include "src/memory.h"

#define NS_PER_MS      INT64_C(1000000)
#define DB_OPEN_NS     (700 * NS_PER_MS) /* for the first connection; the daemon's own reads need the rest */
#define DB_REOPEN_NS   (200 * NS_PER_MS) /* and when a lost one is tried again beside them */
#define OF_OPEN_NS     (200 * NS_PER_MS)
#define OF_UNSPOKEN_NS (60000 * NS_PER_MS)
#define MAX_TARGETS    32

static const char *const default_rundirs[] = {"/var/run/openvswitch", "/usr/local/var/run/openvswitch", NULL};

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- why it cannot be had ---- */

static void name_of_user(uid_t uid, char *name, size_t size)
{
    struct passwd entry, *found = NULL;
    char buffer[2048];
    if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
        snprintf(name, size, "%s", found->pw_name);
    else
        snprintf(name, size, "%u", (unsigned)uid);
}

static void name_of_group(gid_t gid, char *name, size_t size)
{
    struct group entry, *found = NULL;
    char buffer[2048];
    if (getgrgid_r(gid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
        snprintf(name, size, "%s", found->gr_name);
    else
        snprintf(name, size, "%u", (unsigned)gid);
}

/* "/run/x is root:openvswitch's, mode 0750" of the file, or of the first folder above it that may be looked
 * at. */
static void describe_owner(const char *path, char *text, size_t size)
{
    char part[512];
    struct stat st;
    snprintf(part, sizeof(part), "%s", path);
    while (lstat(part, &st) < 0) {
        char *slash = strrchr(part, '/');
        if (!slash || slash == part) {
            snprintf(text, size, "%s", path);
            return;
        }
        *slash = '\0';
    }
    char user[40], group[40];
    name_of_user(st.st_uid, user, sizeof(user));
    name_of_group(st.st_gid, group, sizeof(group));
    snprintf(text, size, "%.120s is %s:%s's, mode %04o", part, user, group, (unsigned)st.st_mode & 07777);
}

static enum collect_result denied(const char *path, struct collect_call *call)
{
    char owner[240];
    describe_owner(path, owner, sizeof(owner));
    return collect_fail(&call->error, COLLECT_DENIED,
                        "not permitted: %s; run vnettop as root or as that user", owner);
}

/* No socket at all: is a folder closed to this user, or is there none? */
static enum collect_result none_found(const char *const *dirs, struct collect_call *call)
{
    char names[160] = "";
    for (size_t i = 0; dirs[i]; i++) {
        size_t used = strlen(names);
        if (faccessat(AT_FDCWD, dirs[i], R_OK | X_OK, AT_EACCESS) < 0 && errno == EACCES)
            return denied(dirs[i], call);
        if (i == 0 || access(dirs[i], F_OK) == 0 || dirs != default_rundirs)
            snprintf(names + used, sizeof(names) - used, "%s%s", used ? " or " : "", dirs[i]);
    }
    return collect_fail(&call->error, COLLECT_NONE, "no ovs-vswitchd in %s; --ovs-rundir names another place",
                        names);
}

/* A socket that was there and did not do. */
static enum collect_result not_connected(const struct unixctl_target *target, int error, const char *err,
                                         struct collect_call *call)
{
    if (error == EACCES || error == EPERM)
        return denied(target->path, call);
    if (error == ECONNREFUSED || error == ENOENT)
        return collect_fail(&call->error, COLLECT_NONE,
                            "no ovs-vswitchd: %.120s was left by process %ld, gone", target->path,
                            (long)target->pid);
    if (error == ETIMEDOUT)
        return collect_fail(
            &call->error, COLLECT_NO_ANSWER,
            "ovs-vswitchd, pid %ld, takes connections and does not answer: its main thread is "
            "busy or stopped",
            (long)target->pid);
    return collect_fail(&call->error, COLLECT_FAILED, "%.120s: %.100s", target->path, err);
}

enum collect_result ovs_daemon_failed(const struct ovs_daemon *d, enum jsonrpc_status status, const char *err,
                                      struct collect_call *call)
{
    if (status == JSONRPC_TIMEOUT)
        return collect_fail(
            &call->error, COLLECT_NO_ANSWER,
            "ovs-vswitchd, pid %ld, %s: no answer in time: its main thread is busy or stopped", (long)d->pid,
            d->rundir);
    if (status == JSONRPC_STOPPED)
        return collect_fail(&call->error, COLLECT_NONE, "stopped");
    return collect_fail(&call->error, COLLECT_FAILED, "ovs-vswitchd, pid %ld, %s: %.120s", (long)d->pid,
                        d->rundir, err);
}

/* ---- finding ---- */

static void take_version(struct ovs_daemon *d)
{
    const char *text = unixctl_version(d->ctl), *bracket = strrchr(text, ')');
    const char *version = bracket && bracket[1] == ' ' ? bracket + 2 : text;
    snprintf(d->version, sizeof(d->version), "%.*s", (int)strcspn(version, " \n"), version);
}

static uint64_t inode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* Both must be readable: a port merged into another namespace's would be worse than one told twice. */
static void find_netns(struct ovs_daemon *d)
{
    char path[4096];
    if (d->pid <= 0)
        return;
    snprintf(path, sizeof(path), "%s/proc/%ld/ns/net", d->root, (long)d->pid);
    d->netns = inode_of(path);
    snprintf(path, sizeof(path), "%s/proc/self/ns/net", d->root);
    if (d->netns && d->netns == inode_of(path))
        snprintf(d->netns_name, sizeof(d->netns_name), "self");
    else
        snprintf(d->netns_name, sizeof(d->netns_name), "pid:%ld", (long)d->pid);
}

static void find_start(struct ovs_daemon *d)
{
    char path[4096];
    struct procfs_stat stat;
    snprintf(path, sizeof(path), "%s/proc", d->root);
    int rootfd = d->pid > 0 ? procfs_open_root(path) : -1;
    if (rootfd < 0)
        return;
    if (procfs_read_stat(rootfd, d->pid, d->pid, &stat) == PROCFS_OK)
        d->start_ticks = stat.start_ticks;
    close(rootfd);
}

static void adopt_target(struct ovs_daemon *d, const struct unixctl_target *target)
{
    const char *slash = strrchr(target->path, '/');
    snprintf(d->rundir, sizeof(d->rundir), "%.*s", slash ? (int)(slash - target->path) : 0, target->path);
    d->pid = unixctl_pid(d->ctl);
    take_version(d);
    find_start(d);
    find_netns(d);
}

static enum collect_result connect_to_any(struct ovs_daemon *d, const struct unixctl_target *targets,
                                          size_t n, struct collect_call *call)
{
    enum collect_result result = COLLECT_NONE;
    for (size_t i = 0; i < n; i++) {
        char err[256] = "";
        size_t which;
        d->ctl = unixctl_open(&targets[i], 1, call->deadline_ns, call->stop_fd, &which, err, sizeof(err));
        if (d->ctl) {
            adopt_target(d, &targets[i]);
            return COLLECT_OK;
        }
        int error = errno;
        struct collect_call attempt = *call;
        enum collect_result why = not_connected(&targets[i], error, err, &attempt);
        if (i == 0 || (result == COLLECT_NONE && why != COLLECT_NONE)) { /* stale ones say the least */
            result = why;
            call->error = attempt.error;
        }
    }
    return result;
}

/* Without the slash at the end that people type: the folder's name is in every key. */
static size_t tidy_rundirs(const char *const *given, char (*tidy)[256], const char **dirs, size_t max)
{
    size_t n = 0;
    for (; given[n] && n < max; n++) {
        snprintf(tidy[n], sizeof(tidy[n]), "%s", given[n]);
        for (size_t len = strlen(tidy[n]); len > 1 && tidy[n][len - 1] == '/'; len--)
            tidy[n][len - 1] = '\0';
        dirs[n] = tidy[n];
    }
    dirs[n] = NULL;
    return n;
}

static void open_database(struct ovs_daemon *d, int64_t deadline_ns);

enum collect_result ovs_daemon_open(struct ovs_daemon *d, const struct collect_config *config,
                                    struct collect_call *call)
{
    bool given = config->ovs_rundirs && config->ovs_rundirs[0];
    char tidy[16][256], err[256];
    const char *dirs[17];
    struct unixctl_target targets[MAX_TARGETS];
    size_t n_dirs = tidy_rundirs(given ? config->ovs_rundirs : default_rundirs, tidy, dirs, 16);
    *d = (struct ovs_daemon){.root = config->root ? config->root : "", .stop_fd = call->stop_fd};
    size_t n = unixctl_find(dirs, n_dirs, targets, MAX_TARGETS, err, sizeof(err));
    if (n == 0)
        return none_found(given ? dirs : default_rundirs, call);
    enum collect_result result = connect_to_any(d, targets, n, call);
    if (result == COLLECT_OK)
        open_database(d, sooner(call->deadline_ns, clock_mono_ns() + DB_OPEN_NS));
    return result;
}

static void free_bridge(struct ovs_bridge *bridge)
{
    ovs_openflow_close(bridge->of);
    ovs_of_free(&bridge->stats);
    free(bridge->name);
}

void ovs_daemon_close(struct ovs_daemon *d)
{
    for (size_t i = 0; i < d->n_bridges; i++)
        free_bridge(&d->bridges[i]);
    free(d->bridges);
    free(d->ports);
    free(d->by_name);
    ovsdb_close(d->db);
    unixctl_close(d->ctl);
    *d = (struct ovs_daemon){0};
}

/* ---- database ---- */

static void open_database(struct ovs_daemon *d, int64_t deadline_ns)
{
    char path[300], err[128] = "";
    snprintf(path, sizeof(path), "%s/db.sock", d->rundir);
    struct ovsdb *db = ovsdb_open_inventory(path, deadline_ns, d->stop_fd, err, sizeof(err));
    if (!db) {
        d->db_failures++;
        d->db_retry_ns = clock_mono_ns() + feed_backoff_ns(COLLECT_FAILED, d->db_failures);
        snprintf(d->db_why, sizeof(d->db_why), "no database: %s", err);
        return;
    }
    ovsdb_close(d->db);
    d->db = db;
    d->db_lost = false;
    d->db_failures = 0;
    d->db_why[0] = '\0';
    d->db_generation = UINT64_MAX;
}

static void run_database(struct ovs_daemon *d, const struct collect_call *call)
{
    char err[128] = "";
    int64_t now_ns = clock_mono_ns();
    if (d->db && !d->db_lost && ovsdb_run(d->db, 0, err, sizeof(err)) != JSONRPC_OK) {
        d->db_lost = true;
        d->db_retry_ns = now_ns;
        snprintf(d->db_why, sizeof(d->db_why), "database lost: %s", err);
    }
    if ((!d->db || d->db_lost) && now_ns >= d->db_retry_ns)
        open_database(d, sooner(call->deadline_ns, now_ns + DB_REOPEN_NS));
}

/* ---- bridges and ports ---- */

void ovs_datapath_name(char name[OVS_DATAPATH_SIZE], const char *type)
{
    const char *word = *type ? type : "system";
    snprintf(name, OVS_DATAPATH_SIZE, "%.30s@ovs-%.30s", word, word);
}

const char *ovs_datapath_argument(const char *name)
{
    const char *at = strchr(name, '@');
    return at ? at + 1 : name;
}

static void note_datapath(struct ovs_daemon *d, const char *type)
{
    char name[OVS_DATAPATH_SIZE];
    ovs_datapath_name(name, type);
    for (size_t i = 0; i < d->n_datapaths; i++)
        if (strcmp(d->datapaths[i], name) == 0)
            return;
    if (d->n_datapaths < OVS_MAX_PMD_DATAPATHS && strncmp(name, "system@", 7) != 0)
        memcpy(d->datapaths[d->n_datapaths++], name, sizeof(name));
}

static struct ovs_bridge *bridge_called(struct ovs_daemon *d, const char *name)
{
    for (size_t i = 0; i < d->n_bridges; i++)
        if (strcmp(d->bridges[i].name, name) == 0)
            return &d->bridges[i];
    if (d->n_bridges == OVS_MAX_BRIDGES)
        return NULL;
    d->bridges = xrealloc(d->bridges, d->n_bridges + 1, sizeof(*d->bridges));
    d->bridges[d->n_bridges] = (struct ovs_bridge){.name = xstrdup(name)};
    return &d->bridges[d->n_bridges++];
}

/* Keeps the connections of those that stay. */
static void list_bridges(struct ovs_daemon *d, const struct ovsdb_mirror *mirror)
{
    size_t kept = 0;
    d->n_datapaths = 0;
    for (size_t i = 0; i < d->n_bridges; i++)
        d->bridges[i].listed = false;
    for (size_t i = 0; i < mirror->n_rows[OVSDB_BRIDGE]; i++) {
        const struct ovsdb_row *row = mirror->rows[OVSDB_BRIDGE][i];
        struct ovs_bridge *bridge = bridge_called(d, ovsdb_str(row, OVSDB_BRIDGE_NAME));
        if (bridge)
            bridge->listed = true;
        note_datapath(d, ovsdb_str(row, OVSDB_BRIDGE_DATAPATH_TYPE));
    }
    for (size_t i = 0; i < d->n_bridges; i++) {
        if (d->bridges[i].listed)
            d->bridges[kept++] = d->bridges[i];
        else
            free_bridge(&d->bridges[i]);
    }
    d->n_bridges = kept;
}

/* A daemon whose database cannot be read still tells of its PMDs, in the datapath that nearly all have. */
static void assume_datapath(struct ovs_daemon *d)
{
    if (d->generation == 0) {
        note_datapath(d, "netdev");
        d->generation = 1;
    }
}

void ovs_daemon_update(struct ovs_daemon *d, const struct collect_call *call)
{
    run_database(d, call);
    if (!d->db) {
        assume_datapath(d);
        return;
    }
    const struct ovsdb_mirror *mirror = ovsdb_mirror_of(d->db);
    if (mirror->generation == d->db_generation)
        return;
    d->db_generation = mirror->generation;
    list_bridges(d, mirror);
    ovs_ports_list(d, mirror);
    d->generation++;
}

/* ---- OpenFlow ---- */

static void close_bridge(struct ovs_bridge *bridge, enum ovs_openflow_result result, const char *err)
{
    ovs_openflow_close(bridge->of);
    bridge->of = NULL;
    bridge->failures++;
    bridge->retry_ns = clock_mono_ns() + (result == OVS_OPENFLOW_UNSPOKEN
                                              ? OF_UNSPOKEN_NS
                                              : feed_backoff_ns(COLLECT_FAILED, bridge->failures));
    snprintf(bridge->why, sizeof(bridge->why), "%s", err);
}

static void open_bridge(struct ovs_daemon *d, struct ovs_bridge *bridge, const struct collect_call *call)
{
    char path[400], err[128] = "";
    int64_t now_ns = clock_mono_ns();
    enum ovs_openflow_result result = OVS_OPENFLOW_BROKEN;
    if (bridge->of || now_ns < bridge->retry_ns)
        return;
    int n = snprintf(path, sizeof(path), "%s/%s.mgmt", d->rundir, bridge->name);
    if (n > 0 && (size_t)n < sizeof(path) && !strchr(bridge->name, '/'))
        bridge->of = ovs_openflow_open(path, sooner(call->deadline_ns, now_ns + OF_OPEN_NS), d->stop_fd,
                                       &result, err, sizeof(err));
    if (!bridge->of)
        close_bridge(bridge, result, err);
}

void ovs_daemon_ask_ports(struct ovs_daemon *d, bool live_only, const struct collect_call *call)
{
    char err[128];
    for (size_t i = 0; i < d->n_bridges; i++) {
        struct ovs_bridge *bridge = &d->bridges[i];
        bridge->answered = false;
        bridge->asked_ns = 0;
        if (live_only && !bridge->live)
            continue;
        open_bridge(d, bridge, call);
        if (!bridge->of)
            continue;
        bridge->asked_ns = clock_mono_ns();
        enum ovs_openflow_result result = ovs_openflow_ask(bridge->of, call->deadline_ns, err, sizeof(err));
        if (result != OVS_OPENFLOW_OK)
            close_bridge(bridge, result, err);
    }
}

void ovs_daemon_await_ports(struct ovs_daemon *d, const struct collect_call *call)
{
    char err[128];
    for (size_t i = 0; i < d->n_bridges; i++) {
        struct ovs_bridge *bridge = &d->bridges[i];
        if (!bridge->of || bridge->asked_ns == 0)
            continue;
        enum ovs_openflow_result result =
            ovs_openflow_await(bridge->of, call->deadline_ns, &bridge->stats, err, sizeof(err));
        if (result != OVS_OPENFLOW_OK) {
            close_bridge(bridge, result, err);
            continue;
        }
        bridge->answered = true;
        bridge->failures = 0;
        bridge->why[0] = '\0';
        bridge->t_ns = bridge->asked_ns + (clock_mono_ns() - bridge->asked_ns) / 2;
    }
}
