/* SPDX-License-Identifier: MIT */
/*
 * Open vSwitch's control socket, declared in unixctl.h: the list of commands that can be asked, the search
 * for the socket, and the call over jsonrpc.c. It must not know what the texts mean.
 */
#include "collectors/unixctl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Every command reads only. `-nh`: without histograms, which are large; `-s`: with statistics. */
const struct unixctl_command_info unixctl_commands[UNIXCTL_N_COMMANDS] = {
    [UNIXCTL_VERSION] = {.method = "version"},
    [UNIXCTL_LIST_COMMANDS] = {.method = "list-commands"},
    [UNIXCTL_PMD_STATS] = {.method = "dpif-netdev/pmd-stats-show", .takes_argument = true},
    [UNIXCTL_PMD_PERF] = {.method = "dpif-netdev/pmd-perf-show", .fixed = {"-nh"}, .takes_argument = true},
    [UNIXCTL_PMD_RXQ] = {.method = "dpif-netdev/pmd-rxq-show", .takes_argument = true},
    [UNIXCTL_PMD_RXQ_5S] = {.method = "dpif-netdev/pmd-rxq-show",
                            .fixed = {"-secs", "5"},
                            .takes_argument = true},
    [UNIXCTL_PMD_SLEEP] = {.method = "dpif-netdev/pmd-sleep-show", .takes_argument = true},
    [UNIXCTL_DPCTL_SHOW] = {.method = "dpctl/show", .fixed = {"-s"}, .takes_argument = true},
    [UNIXCTL_DPCTL_SUMMARY] = {.method = "dpctl/show", .takes_argument = true},
    [UNIXCTL_DPIF_SHOW] = {.method = "dpif/show"},
    [UNIXCTL_COVERAGE_SHOW] = {.method = "coverage/show"},
    [UNIXCTL_COVERAGE_READ] = {.method = "coverage/read-counter", .takes_argument = true},
    [UNIXCTL_UPCALL_SHOW] = {.method = "upcall/show"},
    [UNIXCTL_MEMORY_SHOW] = {.method = "memory/show"},
    [UNIXCTL_BOND_SHOW] = {.method = "bond/show", .takes_argument = true},
    [UNIXCTL_LACP_SHOW] = {.method = "lacp/show", .takes_argument = true},
};

static const char daemon_prefix[] = "ovs-vswitchd"; /* also Debian's ovs-vswitchd-dpdk */

struct unixctl {
    struct jsonrpc *rpc;
    char version[128];
    bool unknown[UNIXCTL_N_COMMANDS]; /* the daemon said that it has no such command */
};

/* ---- search ---- */

/* The targets found so far, and why folders gave none. */
struct search {
    struct unixctl_target *targets;
    size_t n, max;
    char *err;
    size_t errlen;
};

static void note_failure(struct search *s, const char *dir, const char *why)
{
    size_t used = s->errlen ? strnlen(s->err, s->errlen) : 0;
    if (used < s->errlen)
        snprintf(s->err + used, s->errlen - used, "%s%s: %s", used ? "; " : "", dir, why);
}

static bool has_target(const struct search *s, const char *path)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->targets[i].path, path) == 0)
            return true;
    return false;
}

/* Adds DIR/STEM.PID.ctl. */
static void add_target(struct search *s, const char *dir, const char *stem, size_t stem_len, pid_t pid,
                       bool from_pidfile)
{
    struct unixctl_target target = {.pid = pid, .from_pidfile = from_pidfile};
    int n =
        snprintf(target.path, sizeof(target.path), "%s/%.*s.%ld.ctl", dir, (int)stem_len, stem, (long)pid);

    if (n < 0 || (size_t)n >= sizeof(target.path) || s->n == s->max || has_target(s, target.path))
        return;
    s->targets[s->n++] = target;
}

/* A decimal process id that fills text[0..len); 0 when it is none. */
static pid_t parse_pid(const char *text, size_t len)
{
    long pid = 0;
    if (len == 0 || len > 9)
        return 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        pid = pid * 10 + (text[i] - '0');
    }
    return (pid_t)pid;
}

static pid_t read_pidfile(int dir_fd, const char *name)
{
    char text[32];
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof(text));
    close(fd);
    if (n <= 0)
        return 0;
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
        n--;
    return parse_pid(text, (size_t)n);
}

/* Length of `name` without `suffix` when it is the daemon's file of that kind, else 0. */
static size_t stem_length(const char *name, const char *suffix)
{
    size_t len = strlen(name), tail = strlen(suffix);
    if (strncmp(name, daemon_prefix, sizeof(daemon_prefix) - 1) != 0 || len <= tail)
        return 0;
    return strcmp(name + len - tail, suffix) == 0 ? len - tail : 0;
}

/* ovs-vswitchd.pid holds the pid of ovs-vswitchd.PID.ctl. */
static void consider_pidfile(struct search *s, const char *dir, int dir_fd, const char *name)
{
    size_t stem = stem_length(name, ".pid");
    pid_t pid = stem ? read_pidfile(dir_fd, name) : 0;
    if (pid > 0)
        add_target(s, dir, name, stem, pid, true);
}

/* ovs-vswitchd.PID.ctl without a pid file: perhaps started by hand, perhaps left by a crash. */
static void consider_socket(struct search *s, const char *dir, const char *name)
{
    size_t stem = stem_length(name, ".ctl");
    const char *dot = stem ? memrchr(name, '.', stem) : NULL;
    if (!dot)
        return;
    pid_t pid = parse_pid(dot + 1, stem - (size_t)(dot + 1 - name));
    if (pid > 0)
        add_target(s, dir, name, (size_t)(dot - name), pid, false);
}

static void search_dir(struct search *s, const char *path, bool pidfiles)
{
    DIR *dir = opendir(path);
    struct dirent *entry;

    if (!dir) {
        if (pidfiles)
            note_failure(s, path, strerror(errno));
        return;
    }
    while ((entry = readdir(dir))) {
        if (pidfiles)
            consider_pidfile(s, path, dirfd(dir), entry->d_name);
        else
            consider_socket(s, path, entry->d_name);
    }
    closedir(dir);
}

size_t unixctl_find(const char *const *dirs, size_t n_dirs, struct unixctl_target *targets, size_t max,
                    char *err, size_t errlen)
{
    struct search s = {.targets = targets, .max = max, .err = err, .errlen = errlen};

    if (errlen)
        err[0] = '\0';
    for (size_t i = 0; i < n_dirs; i++)
        search_dir(&s, dirs[i], true);
    for (size_t i = 0; i < n_dirs; i++)
        search_dir(&s, dirs[i], false);
    if (s.n == 0 && errlen && !err[0])
        snprintf(err, errlen, "no ovs-vswitchd control socket in %s%s; is Open vSwitch running?",
                 n_dirs ? dirs[0] : "no folder", n_dirs > 1 ? " or the other run folders" : "");
    return s.n;
}

/* ---- calls ---- */

/* The parameters as a JSON array, or NULL when `argument` must not be sent. */
static json_t *build_params(const struct unixctl_command_info *info, const char *argument)
{
    if (argument && (!info->takes_argument || argument[0] == '-' || argument[0] == '\0'))
        return NULL;
    json_t *params = json_array();
    for (size_t i = 0; i < 2 && info->fixed[i]; i++)
        json_array_append_new(params, json_string(info->fixed[i]));
    if (argument && json_array_append_new(params, json_string(argument)) < 0) {
        json_decref(params);
        return NULL;
    }
    return params;
}

struct unixctl_ticket unixctl_send(struct unixctl *ctl, enum unixctl_command command, const char *argument,
                                   int64_t deadline_ns, char *err, size_t errlen)
{
    const struct unixctl_command_info *info = &unixctl_commands[command];
    struct unixctl_ticket ticket = {.command = command, .status = JSONRPC_REFUSED};
    json_t *params;

    if (ctl->unknown[command]) {
        snprintf(err, errlen, "%s: this Open vSwitch has no such command", info->method);
        return ticket;
    }
    if (!(params = build_params(info, argument))) {
        snprintf(err, errlen, "%s: argument \"%s\" cannot be sent", info->method, argument ? argument : "");
        return ticket;
    }
    ticket.id = jsonrpc_send(ctl->rpc, info->method, params, deadline_ns, err, errlen);
    ticket.status = ticket.id ? JSONRPC_OK : JSONRPC_BROKEN;
    return ticket;
}

/* The result must be a text. */
enum jsonrpc_status unixctl_await(struct unixctl *ctl, const struct unixctl_ticket *ticket,
                                  int64_t deadline_ns, char **text, char *err, size_t errlen)
{
    json_t *result = NULL;

    *text = NULL;
    if (ticket->id == 0) {
        if (ticket->status == JSONRPC_BROKEN)
            snprintf(err, errlen, "the daemon closed the connection");
        return ticket->status;
    }
    enum jsonrpc_status st = jsonrpc_await(ctl->rpc, ticket->id, deadline_ns, &result, err, errlen);
    if (st == JSONRPC_REFUSED && strstr(err, "is not a valid command"))
        ctl->unknown[ticket->command] = true;
    if (st != JSONRPC_OK)
        return st;
    *text = json_is_string(result) ? strdup(json_string_value(result)) : NULL;
    json_decref(result);
    if (*text)
        return JSONRPC_OK;
    snprintf(err, errlen, "%s: the answer is not a text", unixctl_commands[ticket->command].method);
    return JSONRPC_REFUSED;
}

enum jsonrpc_status unixctl_call(struct unixctl *ctl, enum unixctl_command command, const char *argument,
                                 int64_t deadline_ns, char **text, char *err, size_t errlen)
{
    struct unixctl_ticket ticket = unixctl_send(ctl, command, argument, deadline_ns, err, errlen);
    return unixctl_await(ctl, &ticket, deadline_ns, text, err, errlen);
}

/* A control socket that answers `version`, which settles that it is not stale. */
static struct unixctl *open_target(const struct unixctl_target *target, int64_t deadline_ns, int stop_fd,
                                   char *err, size_t errlen)
{
    struct jsonrpc *rpc = jsonrpc_connect(target->path, deadline_ns, stop_fd, err, errlen);
    struct unixctl *ctl = rpc ? calloc(1, sizeof(*ctl)) : NULL;
    char *text = NULL;

    if (!ctl) {
        jsonrpc_close(rpc);
        return NULL;
    }
    ctl->rpc = rpc;
    enum jsonrpc_status st = unixctl_call(ctl, UNIXCTL_VERSION, NULL, deadline_ns, &text, err, errlen);
    if (st != JSONRPC_OK) {
        unixctl_close(ctl);
        errno = st == JSONRPC_TIMEOUT ? ETIMEDOUT : st == JSONRPC_STOPPED ? ECANCELED : EPROTO;
        return NULL;
    }
    snprintf(ctl->version, sizeof(ctl->version), "%.*s", (int)strcspn(text, "\n"), text);
    free(text);
    return ctl;
}

struct unixctl *unixctl_open(const struct unixctl_target *targets, size_t n, int64_t deadline_ns, int stop_fd,
                             size_t *which, char *err, size_t errlen)
{
    char later[256]; /* the first target is the daemon's own word: its failure is the one to tell */

    int first_errno = ENOENT;

    if (n == 0)
        snprintf(err, errlen, "no control socket to open");
    for (size_t i = 0; i < n; i++) {
        struct unixctl *ctl =
            open_target(&targets[i], deadline_ns, stop_fd, i ? later : err, i ? sizeof(later) : errlen);
        if (ctl) {
            *which = i;
            return ctl;
        }
        first_errno = i == 0 ? errno : first_errno;
    }
    errno = first_errno;
    return NULL;
}

pid_t unixctl_pid(const struct unixctl *ctl)
{
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    return getsockopt(jsonrpc_fd(ctl->rpc), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

const char *unixctl_version(const struct unixctl *ctl)
{
    return ctl->version;
}

void unixctl_close(struct unixctl *ctl)
{
    if (!ctl)
        return;
    jsonrpc_close(ctl->rpc);
    free(ctl);
}
