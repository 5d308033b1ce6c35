/* SPDX-License-Identifier: MIT */
/*
 * The JSON-RPC 1.0 client declared in jsonrpc.h. Messages are concatenated JSON objects without a delimiter,
 * so a small scanner finds where each ends before jansson sees it; that also bounds depth and size. Called by
 * unixctl.c and ovsdb.c from a worker thread; it must not know what the methods mean.
 */
#include "collectors/jsonrpc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    READ_CHUNK = 64 << 10,
    KEEP_BUFFER = 1 << 20,  /* a larger buffer goes back to the system once it is empty */
    MAX_PER_RECEIVE = 4096, /* messages handled in one jsonrpc_receive: a flood cannot hold the worker */
    CONNECT_RETRY_MS = 10,  /* a Unix listener with a full queue says EAGAIN and cannot be polled */
};

struct jsonrpc {
    int fd;
    int stop_fd;
    int64_t next_id;
    char *in;
    size_t in_len;
    size_t in_cap;
    int64_t read_ns;
    struct jsonrpc_scan scan;
    jsonrpc_notify_fn *notify;
    void *notify_ctx;
};

static int64_t monotonic_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void shut(struct jsonrpc *rpc)
{
    if (rpc->fd >= 0)
        close(rpc->fd);
    rpc->fd = -1;
}

static enum jsonrpc_status broken(struct jsonrpc *rpc, const char *what, char *err, size_t errlen)
{
    snprintf(err, errlen, "%s", what);
    shut(rpc);
    return JSONRPC_BROKEN;
}

/* Waits for `events` on `fd` (-1: for the deadline alone), the stop descriptor or the deadline. */
static enum jsonrpc_status wait_for(int fd, short events, int stop_fd, int64_t deadline_ns)
{
    struct pollfd fds[2] = {{.fd = fd, .events = events}, {.fd = stop_fd, .events = POLLIN}};

    for (;;) {
        int64_t left = deadline_ns - monotonic_ns();
        left = left > 0 ? left : 0;
        struct timespec ts = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        int n = ppoll(fds, 2, &ts, NULL);
        if (n < 0 && errno != EINTR)
            return JSONRPC_BROKEN;
        if (n < 0)
            continue;
        if (fds[1].revents)
            return JSONRPC_STOPPED;
        if (fds[0].revents)
            return JSONRPC_OK;
        if (left == 0)
            return JSONRPC_TIMEOUT;
    }
}

/* A wait that failed leaves the connection in an unknown state: closes it and says why. */
static enum jsonrpc_status give_up(struct jsonrpc *rpc, enum jsonrpc_status st, char *err, size_t errlen)
{
    if (st == JSONRPC_TIMEOUT)
        snprintf(err, errlen, "no answer in time: the daemon is busy or hangs");
    else if (st == JSONRPC_STOPPED)
        snprintf(err, errlen, "stopped");
    else
        snprintf(err, errlen, "poll: %s", strerror(errno));
    shut(rpc);
    return st;
}

/* ---- connecting ---- */

static const char *mend_for(int error)
{
    static const struct {
        int error;
        const char *mend;
    } mends[] = {
        {EACCES, "; run as root or as a member of the socket's group"},
        {EPERM, "; run as root or as a member of the socket's group"},
        {ENOENT, "; is the daemon running, and is this its run folder?"},
        {ECONNREFUSED, "; left behind by a daemon that is gone"},
    };
    for (size_t i = 0; i < sizeof(mends) / sizeof(mends[0]); i++)
        if (mends[i].error == error)
            return mends[i].mend;
    return "";
}

/* Fills the address. A path that does not fit goes by way of its folder's descriptor, returned for closing
 * (-1: none). */
static int make_address(const char *path, struct sockaddr_un *addr)
{
    const char *slash = strrchr(path, '/');
    size_t len = strlen(path);

    memset(addr, 0, sizeof(*addr));
    addr->sun_family = AF_UNIX;
    if (len < sizeof(addr->sun_path)) {
        memcpy(addr->sun_path, path, len + 1);
        return -1;
    }
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    int dir_fd = dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    free(dir);
    int n = snprintf(addr->sun_path, sizeof(addr->sun_path), "/proc/self/fd/%d/%s", dir_fd,
                     slash ? slash + 1 : path);
    if (n < 0 || (size_t)n >= sizeof(addr->sun_path))
        addr->sun_path[0] = '\0';
    return dir_fd;
}

/* 0, or the errno of the failure. */
static int connect_until(int fd, const struct sockaddr_un *addr, int64_t deadline_ns, int stop_fd)
{
    for (;;) {
        if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
            return 0;
        if (errno != EAGAIN && errno != EINTR)
            return errno;
        int64_t retry_ns = monotonic_ns() + CONNECT_RETRY_MS * 1000000;
        if (retry_ns > deadline_ns)
            return ETIMEDOUT;
        if (wait_for(-1, 0, stop_fd, retry_ns) == JSONRPC_STOPPED)
            return ECANCELED;
    }
}

struct jsonrpc *jsonrpc_connect(const char *path, int64_t deadline_ns, int stop_fd, char *err, size_t errlen)
{
    struct sockaddr_un addr;
    int dir_fd = make_address(path, &addr);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = fd < 0             ? errno
                : addr.sun_path[0] ? connect_until(fd, &addr, deadline_ns, stop_fd)
                                   : ENAMETOOLONG;
    struct jsonrpc *rpc = NULL;

    if (dir_fd >= 0)
        close(dir_fd);
    if (error)
        snprintf(err, errlen, "%s: %s%s", path, strerror(error), mend_for(error));
    else if (!(rpc = jsonrpc_from_fd(fd, stop_fd)))
        snprintf(err, errlen, "%s: out of memory", path);
    if (!rpc && fd >= 0)
        close(fd);
    errno = error ? error : ENOMEM;
    return rpc;
}

struct jsonrpc *jsonrpc_from_fd(int fd, int stop_fd)
{
    struct jsonrpc *rpc = calloc(1, sizeof(*rpc));
    if (!rpc)
        return NULL;
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    rpc->fd = fd;
    rpc->stop_fd = stop_fd;
    rpc->next_id = 1;
    return rpc;
}

void jsonrpc_close(struct jsonrpc *rpc)
{
    if (!rpc)
        return;
    shut(rpc);
    free(rpc->in);
    free(rpc);
}

void jsonrpc_on_notify(struct jsonrpc *rpc, jsonrpc_notify_fn *notify, void *ctx)
{
    rpc->notify = notify;
    rpc->notify_ctx = ctx;
}

int jsonrpc_fd(const struct jsonrpc *rpc)
{
    return rpc->fd;
}

/* ---- framing ---- */

static bool is_json_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One byte inside a string: ends it at an unescaped quote. */
static void scan_string_byte(struct jsonrpc_scan *scan, char c)
{
    if (scan->escaped)
        scan->escaped = false;
    else if (c == '\\')
        scan->escaped = true;
    else if (c == '"')
        scan->in_string = false;
}

ssize_t jsonrpc_scan_message(struct jsonrpc_scan *scan, const char *buf, size_t len)
{
    while (scan->pos < len) {
        char c = buf[scan->pos++];
        if (scan->in_string) {
            scan_string_byte(scan, c);
        } else if (c == '{' || c == '[') {
            if ((scan->depth == 0 && c == '[') || scan->depth == JSONRPC_MAX_DEPTH)
                return -1;
            scan->depth++;
        } else if (c == '}' || c == ']') {
            if (scan->depth == 0)
                return -1;
            if (--scan->depth == 0)
                return (ssize_t)scan->pos;
        } else if (scan->depth == 0 && !is_json_blank(c)) {
            return -1;
        } else if (c == '"') {
            scan->in_string = true;
        }
    }
    return 0;
}

/* ---- input ---- */

static int make_room(struct jsonrpc *rpc)
{
    if (rpc->in_cap - rpc->in_len >= READ_CHUNK / 2)
        return 0;
    if (rpc->in_cap >= JSONRPC_MAX_MESSAGE)
        return rpc->in_cap > rpc->in_len ? 0 : -1;
    size_t cap = rpc->in_cap ? rpc->in_cap * 2 : READ_CHUNK;
    char *in = realloc(rpc->in, cap);
    if (!in)
        return -1;
    rpc->in = in;
    rpc->in_cap = cap;
    return 0;
}

/* Reads once without waiting. JSONRPC_TIMEOUT: nothing there now; the connection stays open. */
static enum jsonrpc_status read_once(struct jsonrpc *rpc, char *err, size_t errlen)
{
    if (make_room(rpc) < 0)
        return broken(rpc, "message too large", err, errlen);
    ssize_t n = recv(rpc->fd, rpc->in + rpc->in_len, rpc->in_cap - rpc->in_len, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return JSONRPC_TIMEOUT;
    if (n < 0)
        return broken(rpc, strerror(errno), err, errlen);
    if (n == 0)
        return broken(rpc, "the daemon closed the connection", err, errlen);
    rpc->in_len += (size_t)n;
    rpc->read_ns = monotonic_ns();
    return JSONRPC_OK;
}

/* The kernel lets interface names hold any byte: one such port must not blind the whole source. */
static json_t *load_with_foreign_bytes(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            text[i] = '?';
    return json_loadb(text, len, 0, NULL);
}

static void drop_input(struct jsonrpc *rpc, size_t len)
{
    rpc->in_len -= len;
    memmove(rpc->in, rpc->in + len, rpc->in_len);
    rpc->scan = (struct jsonrpc_scan){0};
    if (rpc->in_len == 0 && rpc->in_cap > KEEP_BUFFER) {
        free(rpc->in);
        rpc->in = NULL;
        rpc->in_cap = 0;
    }
}

/* Takes the first whole message out of the buffer: 1, or 0 when there is none, or -1 when this is not
 * JSON-RPC. */
static int take_message(struct jsonrpc *rpc, json_t **message)
{
    ssize_t len = jsonrpc_scan_message(&rpc->scan, rpc->in, rpc->in_len);
    if (len <= 0)
        return (int)len;
    json_error_t error;
    *message = json_loadb(rpc->in, (size_t)len, 0, &error);
    if (!*message && json_error_code(&error) == json_error_invalid_utf8)
        *message = load_with_foreign_bytes(rpc->in, (size_t)len);
    drop_input(rpc, (size_t)len);
    return *message ? 1 : -1;
}

/* The next message, waiting for it until the deadline; JSONRPC_TIMEOUT leaves the connection open. */
static enum jsonrpc_status next_message(struct jsonrpc *rpc, int64_t deadline_ns, json_t **message, char *err,
                                        size_t errlen)
{
    for (;;) {
        int got = take_message(rpc, message);
        if (got < 0)
            return broken(rpc, "the answer is not JSON-RPC", err, errlen);
        if (got > 0)
            return JSONRPC_OK;
        enum jsonrpc_status st = read_once(rpc, err, errlen);
        if (st == JSONRPC_TIMEOUT)
            st = wait_for(rpc->fd, POLLIN, rpc->stop_fd, deadline_ns);
        if (st != JSONRPC_OK)
            return st;
    }
}

/* ---- output ---- */

static enum jsonrpc_status write_all(struct jsonrpc *rpc, const char *text, size_t len, int64_t deadline_ns,
                                     char *err, size_t errlen)
{
    while (len > 0) {
        ssize_t n = send(rpc->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return broken(rpc, strerror(errno), err, errlen);
        } else {
            enum jsonrpc_status st = wait_for(rpc->fd, POLLOUT, rpc->stop_fd, deadline_ns);
            if (st != JSONRPC_OK)
                return give_up(rpc, st, err, errlen);
        }
    }
    return JSONRPC_OK;
}

/* Sends `message`, which is consumed; NULL counts as out of memory. */
static enum jsonrpc_status send_message(struct jsonrpc *rpc, json_t *message, int64_t deadline_ns, char *err,
                                        size_t errlen)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;

    json_decref(message);
    if (!text)
        return broken(rpc, "request cannot be written as JSON", err, errlen);
    enum jsonrpc_status st = write_all(rpc, text, strlen(text), deadline_ns, err, errlen);
    free(text);
    return st;
}

/* ---- messages ---- */

/* Something the server says by itself: a notification for the caller, or an echo request to be answered. */
static enum jsonrpc_status handle_request(struct jsonrpc *rpc, json_t *message, int64_t deadline_ns,
                                          char *err, size_t errlen)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    json_t *params = json_object_get(message, "params");
    json_t *id = json_object_get(message, "id");

    if (!id || json_is_null(id)) {
        if (method && rpc->notify)
            rpc->notify(rpc->notify_ctx, method, params, rpc->read_ns);
        return JSONRPC_OK;
    }
    if (!method || strcmp(method, "echo") != 0)
        return JSONRPC_OK;
    json_t *reply = json_pack("{sOsO?sn}", "id", id, "result", params, "error");
    return send_message(rpc, reply, deadline_ns, err, errlen);
}

/* The server's words: a plain string from unixctl, an object with error and details from OVSDB. */
static void describe_error(const json_t *error, char *err, size_t errlen)
{
    const char *text = json_string_value(error);
    const char *what = json_string_value(json_object_get(error, "error"));
    const char *details = json_string_value(json_object_get(error, "details"));

    if (text)
        snprintf(err, errlen, "%.*s", (int)strcspn(text, "\n"), text);
    else if (what)
        snprintf(err, errlen, "%s%s%s", what, details ? ": " : "", details ? details : "");
    else
        snprintf(err, errlen, "refused without a reason");
}

/* A reply to our request: takes its result or its error. */
static enum jsonrpc_status read_reply(json_t *message, json_t **result, char *err, size_t errlen)
{
    json_t *error = json_object_get(message, "error");

    if (error && !json_is_null(error)) {
        describe_error(error, err, errlen);
        return JSONRPC_REFUSED;
    }
    *result = json_object_get(message, "result");
    if (!*result) {
        snprintf(err, errlen, "reply without result");
        return JSONRPC_REFUSED;
    }
    json_incref(*result);
    return JSONRPC_OK;
}

static bool is_reply_to(const json_t *message, int64_t id)
{
    const json_t *member = json_object_get(message, "id");
    return json_is_integer(member) && json_integer_value(member) == id;
}

/* Waits for the reply to `id`; what else arrives meanwhile is handled, stale replies are dropped. */
static enum jsonrpc_status await_reply(struct jsonrpc *rpc, int64_t id, int64_t deadline_ns, json_t **result,
                                       char *err, size_t errlen)
{
    for (;;) {
        json_t *message = NULL;
        enum jsonrpc_status st = next_message(rpc, deadline_ns, &message, err, errlen);
        if (st == JSONRPC_TIMEOUT || st == JSONRPC_STOPPED)
            return give_up(rpc, st, err, errlen);
        if (st != JSONRPC_OK)
            return st;
        bool ours = !json_object_get(message, "method") && is_reply_to(message, id);
        if (ours)
            st = read_reply(message, result, err, errlen);
        else if (json_object_get(message, "method"))
            st = handle_request(rpc, message, deadline_ns, err, errlen);
        json_decref(message);
        if (ours || st != JSONRPC_OK)
            return st;
        if (monotonic_ns() > deadline_ns) /* a server that chatters without answering */
            return give_up(rpc, JSONRPC_TIMEOUT, err, errlen);
    }
}

/* Sends a request, whose number goes to `*id`; `params` is consumed. */
static enum jsonrpc_status send_request(struct jsonrpc *rpc, const char *method, json_t *params,
                                        int64_t deadline_ns, int64_t *id, char *err, size_t errlen)
{
    *id = rpc->next_id++;
    json_t *request = json_pack("{sIsssO}", "id", (json_int_t)*id, "method", method, "params", params);

    json_decref(params);
    if (rpc->fd < 0) {
        json_decref(request);
        return broken(rpc, "not connected", err, errlen);
    }
    return send_message(rpc, request, deadline_ns, err, errlen);
}

int64_t jsonrpc_send(struct jsonrpc *rpc, const char *method, json_t *params, int64_t deadline_ns, char *err,
                     size_t errlen)
{
    int64_t id;
    return send_request(rpc, method, params, deadline_ns, &id, err, errlen) == JSONRPC_OK ? id : 0;
}

enum jsonrpc_status jsonrpc_await(struct jsonrpc *rpc, int64_t id, int64_t deadline_ns, json_t **result,
                                  char *err, size_t errlen)
{
    *result = NULL;
    if (rpc->fd < 0)
        return broken(rpc, "not connected", err, errlen);
    return await_reply(rpc, id, deadline_ns, result, err, errlen);
}

enum jsonrpc_status jsonrpc_call(struct jsonrpc *rpc, const char *method, json_t *params, int64_t deadline_ns,
                                 json_t **result, char *err, size_t errlen)
{
    int64_t id;
    enum jsonrpc_status st = send_request(rpc, method, params, deadline_ns, &id, err, errlen);

    *result = NULL;
    return st == JSONRPC_OK ? await_reply(rpc, id, deadline_ns, result, err, errlen) : st;
}

enum jsonrpc_status jsonrpc_receive(struct jsonrpc *rpc, int64_t wait_until_ns, char *err, size_t errlen)
{
    if (rpc->fd < 0)
        return broken(rpc, "not connected", err, errlen);
    for (int n = 0; n < MAX_PER_RECEIVE; n++) {
        json_t *message = NULL;
        enum jsonrpc_status st = next_message(rpc, n ? 0 : wait_until_ns, &message, err, errlen);
        if (st == JSONRPC_TIMEOUT)
            return JSONRPC_OK;
        if (st == JSONRPC_STOPPED)
            return give_up(rpc, st, err, errlen);
        if (st != JSONRPC_OK)
            return st;
        int64_t echo_deadline_ns = monotonic_ns() + 1000000000;
        if (json_object_get(message, "method"))
            st = handle_request(rpc, message, echo_deadline_ns, err, errlen);
        json_decref(message);
        if (st != JSONRPC_OK)
            return st;
    }
    return JSONRPC_OK;
}
