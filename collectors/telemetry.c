/* SPDX-License-Identifier: MIT */
/*
 * Client of a DPDK telemetry v2 socket: see telemetry.h for the peer's rules that shape it. Blocking to its
 * caller by poll on a non-blocking socket, so that deadline and stop eventfd hold everywhere. Called by the
 * dpdk collector; it must not know what the numbers mean.
 */
#include "collectors/telemetry.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "collectors/dpdk_find.h"

#define NS_PER_MS     1000000ull
#define RETRY_NS      (10 * NS_PER_MS)     /* between attempts while the server's backlog (of 1) is full */
#define FREE_GRACE_NS (50 * NS_PER_MS)     /* for a greeting still under way when we leave */
#define REPLY_MIN     TELEMETRY_OUTPUT_LEN /* whatever the greeting says */
#define REPLY_MAX     (1024u * 1024)       /* the most we hold for one reply */
#define REPLY_SLACK   1024                 /* above the announced length */
#define POOL_NAME_MAX 64                   /* RTE_MEMPOOL_NAMESIZE is less */
#define REQUEST_MAX   128                  /* longest name, comma, argument */
#define DISCARD_MAX   16 /* unasked messages read away before a request; more is a broken peer */

struct telemetry {
    char *root, *path;
    int stop_fd;
    int fd;       /* -1: not connected */
    bool greeted; /* the greeting was read: closing costs the server nothing */
    bool listed;  /* commands is known */
    struct telemetry_hello hello;
    pid_t peer_pid;
    uint32_t commands;
    unsigned owed, discarded;
    char *buffer;
    size_t cap;
    struct json64 doc;
};

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Fills err with the socket's path before the message; returns status, so that failing is one line. */
__attribute__((format(printf, 5, 6))) static enum telemetry_status tell(const struct telemetry *t,
                                                                        enum telemetry_status status,
                                                                        char *err, size_t errlen,
                                                                        const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(err, errlen, "%s%s: %s", strcmp(t->root, "/") == 0 ? "" : t->root, t->path, text);
    return status;
}

struct telemetry *telemetry_new(const char *root, const char *path, int stop_fd)
{
    struct telemetry *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->fd = -1;
    t->stop_fd = stop_fd;
    t->root = strdup(root);
    t->path = strdup(path);
    t->cap = REPLY_MIN + REPLY_SLACK;
    t->buffer = malloc(t->cap);
    if (t->root && t->path && t->buffer)
        return t;
    telemetry_free(t);
    return NULL;
}

static void close_socket(struct telemetry *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    t->greeted = t->listed = false;
    t->owed = 0;
    t->peer_pid = 0;
    t->commands = 0;
}

/* OK when fd is ready for events; TIMEOUT, STOPPED or FAILED else. A deadline in the past still looks once.
 */
static enum telemetry_status wait_for(int fd, short events, int stop_fd, uint64_t deadline_ns)
{
    for (;;) {
        struct pollfd p[2] = {{.fd = fd, .events = events}, {.fd = stop_fd, .events = POLLIN}};
        uint64_t now = now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
        struct timespec ts = {.tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u)};
        int n = ppoll(p, 2, &ts, NULL);
        if (n < 0 && errno != EINTR)
            return TELEMETRY_FAILED;
        if (n > 0 && p[1].revents)
            return TELEMETRY_STOPPED;
        if (n > 0)
            return TELEMETRY_OK;
        if (n == 0)
            return TELEMETRY_TIMEOUT;
    }
}

/*
 * One message into the buffer. *len 0 with OK is the end of the connection; TRUNCATED has read the message
 * away, so that the next one is again whole.
 */
static enum telemetry_status receive(struct telemetry *t, int flags, size_t *len)
{
    struct iovec iov = {.iov_base = t->buffer, .iov_len = t->cap};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    ssize_t n;
    do
        n = recvmsg(t->fd, &msg, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN ? TELEMETRY_TIMEOUT : errno == ECONNRESET ? TELEMETRY_GONE : TELEMETRY_FAILED;
    *len = (size_t)n;
    return msg.msg_flags & MSG_TRUNC ? TELEMETRY_TRUNCATED : TELEMETRY_OK;
}

/* Waits for one message: as receive, with TIMEOUT and STOPPED of the waiting. */
static enum telemetry_status await_message(struct telemetry *t, int stop_fd, uint64_t deadline_ns,
                                           size_t *len)
{
    enum telemetry_status status;
    do {
        status = wait_for(t->fd, POLLIN, stop_fd, deadline_ns);
        if (status == TELEMETRY_OK)
            status = receive(t, 0, len);
        else
            return status;
    } while (status == TELEMETRY_TIMEOUT && now_ns() < deadline_ns);
    return status;
}

void telemetry_free(struct telemetry *t)
{
    size_t len;
    if (!t)
        return;
    if (t->fd >= 0 && !t->greeted)
        await_message(t, -1, now_ns() + FREE_GRACE_NS, &len);
    close_socket(t);
    json64_free(&t->doc);
    free(t->buffer);
    free(t->path);
    free(t->root);
    free(t);
}

/* connect() by way of a descriptor: follows no link twice, and takes paths longer than sun_path. */
static int connect_once(struct telemetry *t, int path_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", path_fd);
    return connect(t->fd, (const struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

/* Tries until the backlog has room. Returns OK or why not, errno in *cause. */
static enum telemetry_status connect_until(struct telemetry *t, int path_fd, uint64_t deadline_ns, int *cause)
{
    for (;;) {
        *cause = connect_once(t, path_fd);
        if (*cause == 0)
            return TELEMETRY_OK;
        if (*cause != EAGAIN && *cause != EINTR)
            return TELEMETRY_FAILED;
        uint64_t now = now_ns();
        if (now >= deadline_ns)
            return TELEMETRY_TIMEOUT;
        uint64_t until = deadline_ns - now < RETRY_NS ? deadline_ns : now + RETRY_NS;
        if (wait_for(-1, 0, t->stop_fd, until) == TELEMETRY_STOPPED)
            return TELEMETRY_STOPPED;
    }
}

static enum telemetry_status tell_connect_error(const struct telemetry *t, int cause, char *err,
                                                size_t errlen)
{
    switch (cause) {
    case ECONNREFUSED:
        return tell(t, TELEMETRY_STALE, err, errlen, "nobody listens: its application died, remove the file");
    case EACCES:
    case EPERM:
        return tell(t, TELEMETRY_DENIED, err, errlen,
                    "not permitted: run as root or as the application's user");
    case ENOENT:
    case ENOTDIR:
        return tell(t, TELEMETRY_GONE, err, errlen, "no such socket: its application has ended");
    case EPROTOTYPE:
    case ENOTSOCK:
        return tell(t, TELEMETRY_FAILED, err, errlen, "not a telemetry v2 socket (no SEQPACKET socket)");
    default:
        return tell(t, TELEMETRY_FAILED, err, errlen, "connect: %s", strerror(cause));
    }
}

static enum telemetry_status open_socket(struct telemetry *t, uint64_t deadline_ns, char *err, size_t errlen)
{
    int cause = 0;
    int path_fd = dpdk_find_open(t->root, t->path);
    if (path_fd < 0)
        return tell_connect_error(t, -path_fd, err, errlen);
    t->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (t->fd < 0) {
        cause = errno;
        close(path_fd);
        return tell(t, TELEMETRY_FAILED, err, errlen, "socket: %s", strerror(cause));
    }
    enum telemetry_status status = connect_until(t, path_fd, deadline_ns, &cause);
    close(path_fd);
    if (status == TELEMETRY_OK) {
        struct ucred peer;
        socklen_t size = sizeof peer;
        if (getsockopt(t->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
            t->peer_pid = peer.pid;
        return TELEMETRY_OK;
    }
    close_socket(t); /* never got through: no place was taken */
    if (status == TELEMETRY_FAILED)
        return tell_connect_error(t, cause, err, errlen);
    return tell(t, status, err, errlen, "%s while waiting to be accepted", telemetry_status_name(status));
}

/* Makes the buffer fit what the greeting announces, within our own bounds. */
static bool size_buffer(struct telemetry *t)
{
    size_t want = t->hello.max_output_len < REPLY_MIN   ? REPLY_MIN
                  : t->hello.max_output_len > REPLY_MAX ? REPLY_MAX
                                                        : t->hello.max_output_len;
    want += REPLY_SLACK;
    if (want <= t->cap)
        return true;
    char *buffer = realloc(t->buffer, want);
    if (!buffer)
        return false;
    t->buffer = buffer;
    t->cap = want;
    return true;
}

static enum telemetry_status read_greeting(struct telemetry *t, uint64_t deadline_ns, char *err,
                                           size_t errlen)
{
    char why[160];
    size_t len = 0;
    enum telemetry_status status = await_message(t, t->stop_fd, deadline_ns, &len);
    if (status == TELEMETRY_TIMEOUT || status == TELEMETRY_STOPPED)
        return tell(t, status, err, errlen, "%s: no greeting yet", telemetry_status_name(status));
    if (status == TELEMETRY_GONE || (status == TELEMETRY_OK && len == 0)) {
        close_socket(t);
        return tell(t, TELEMETRY_FULL, err, errlen,
                    "closed without a greeting: it has 10 clients already, stop another monitor");
    }
    if (status == TELEMETRY_OK) {
        status = telemetry_read_hello(&t->doc, t->buffer, len, &t->hello, why, sizeof why);
        t->greeted = status == TELEMETRY_OK && size_buffer(t);
        if (t->greeted)
            return TELEMETRY_OK;
    } else {
        snprintf(why, sizeof why, "greeting %s", telemetry_status_name(status));
    }
    close_socket(t);
    return tell(t, status == TELEMETRY_OK ? TELEMETRY_FAILED : status, err, errlen, "%s",
                status == TELEMETRY_OK ? "out of memory" : why);
}

static enum telemetry_status lose(struct telemetry *t, char *err, size_t errlen)
{
    close_socket(t);
    return tell(t, TELEMETRY_GONE, err, errlen, "the application closed the connection: ended or restarted");
}

/* Reads away the answers to requests that timed out, then what nobody asked for. OK: in step with the server.
 */
static enum telemetry_status catch_up(struct telemetry *t, uint64_t deadline_ns, char *err, size_t errlen)
{
    for (unsigned unasked = 0; unasked <= DISCARD_MAX;) {
        size_t len = 0;
        enum telemetry_status status =
            t->owed ? await_message(t, t->stop_fd, deadline_ns, &len) : receive(t, 0, &len);
        if (status == TELEMETRY_TIMEOUT && !t->owed)
            return TELEMETRY_OK;
        if (status == TELEMETRY_TIMEOUT || status == TELEMETRY_STOPPED)
            return tell(t, status, err, errlen, "%s: still owes the answer to an earlier request",
                        telemetry_status_name(status));
        if ((status != TELEMETRY_OK && status != TELEMETRY_TRUNCATED) || (status == TELEMETRY_OK && len == 0))
            return lose(t, err, errlen);
        t->discarded++;
        if (t->owed)
            t->owed--;
        else
            unasked++;
    }
    close_socket(t);
    return tell(t, TELEMETRY_FAILED, err, errlen, "sends what nobody asked for: not a telemetry socket");
}

static enum telemetry_status send_request(struct telemetry *t, const char *request, uint64_t deadline_ns,
                                          char *err, size_t errlen)
{
    size_t len = strlen(request);
    for (;;) {
        ssize_t n = send(t->fd, request, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n == (ssize_t)len) {
            t->owed++;
            return TELEMETRY_OK;
        }
        if (n >= 0 || (errno != EAGAIN && errno != EINTR))
            return lose(t, err, errlen);
        enum telemetry_status status = wait_for(t->fd, POLLOUT, t->stop_fd, deadline_ns);
        if (status != TELEMETRY_OK)
            return tell(t, status, err, errlen, "%s: does not take the request",
                        telemetry_status_name(status));
    }
}

/* Not to be given any text from outside: callers build request from a command's name and a checked argument.
 */
static enum telemetry_status exchange(struct telemetry *t, enum telemetry_command command,
                                      const char *request, uint64_t deadline_ns,
                                      struct telemetry_reply *reply, char *err, size_t errlen)
{
    char why[160];
    size_t len = 0;
    enum telemetry_status status = catch_up(t, deadline_ns, err, errlen);
    uint64_t sent_ns = now_ns();
    if (status == TELEMETRY_OK)
        status = send_request(t, request, deadline_ns, err, errlen);
    if (status != TELEMETRY_OK)
        return status;
    status = await_message(t, t->stop_fd, deadline_ns, &len);
    uint64_t received_ns = now_ns();
    if (status == TELEMETRY_TIMEOUT || status == TELEMETRY_STOPPED)
        return tell(t, status, err, errlen, "%s: no answer to %s", telemetry_status_name(status), request);
    if ((status != TELEMETRY_OK && status != TELEMETRY_TRUNCATED) || (status == TELEMETRY_OK && len == 0))
        return lose(t, err, errlen);
    t->owed--;
    if (status == TELEMETRY_TRUNCATED)
        return tell(t, status, err, errlen, "%s: the answer is longer than the %u bytes announced", request,
                    t->hello.max_output_len);
    status = telemetry_read_reply(reply, command, &t->doc, t->buffer, len, t->hello.max_output_len, why,
                                  sizeof why);
    reply->sent_ns = sent_ns;
    reply->received_ns = received_ns;
    return status == TELEMETRY_OK ? status : tell(t, status, err, errlen, "%s", why);
}

static enum telemetry_status list_commands(struct telemetry *t, uint64_t deadline_ns, char *err,
                                           size_t errlen)
{
    struct telemetry_reply reply;
    enum telemetry_status status = exchange(t, TELEMETRY_ROOT, "/", deadline_ns, &reply, err, errlen);
    if (status != TELEMETRY_OK)
        return status;
    if (telemetry_parse_root(&reply, &t->commands) != TELEMETRY_OK)
        return tell(t, TELEMETRY_UNREADABLE, err, errlen, "the list of commands is no list");
    t->listed = true;
    return TELEMETRY_OK;
}

enum telemetry_status telemetry_connect(struct telemetry *t, uint64_t deadline_ns, char *err, size_t errlen)
{
    enum telemetry_status status = TELEMETRY_OK;
    if (t->fd < 0)
        status = open_socket(t, deadline_ns, err, errlen);
    if (status == TELEMETRY_OK && !t->greeted)
        status = read_greeting(t, deadline_ns, err, errlen);
    if (status == TELEMETRY_OK && !t->listed)
        status = list_commands(t, deadline_ns, err, errlen);
    return status;
}

bool telemetry_connected(const struct telemetry *t)
{
    return t->listed;
}

const struct telemetry_hello *telemetry_hello(const struct telemetry *t)
{
    return &t->hello;
}

pid_t telemetry_peer_pid(const struct telemetry *t)
{
    return t->peer_pid;
}

bool telemetry_offers(const struct telemetry *t, enum telemetry_command command)
{
    return (unsigned)command < TELEMETRY_COMMANDS && (t->commands >> command & 1);
}

unsigned telemetry_owed(const struct telemetry *t)
{
    return t->owed;
}

unsigned telemetry_discarded(const struct telemetry *t)
{
    return t->discarded;
}

/* OK if the server lists it and the argument is of the kind the command takes. */
static enum telemetry_status check_command(const struct telemetry *t, enum telemetry_command command,
                                           enum telemetry_argument kind, char *err, size_t errlen)
{
    if (!t->listed)
        return tell(t, TELEMETRY_GONE, err, errlen, "not connected");
    if ((unsigned)command >= TELEMETRY_COMMANDS || telemetry_command_argument(command) != kind)
        return tell(t, TELEMETRY_UNSUPPORTED, err, errlen, "%s does not take this argument",
                    telemetry_command_name(command));
    if (!telemetry_offers(t, command))
        return tell(t, TELEMETRY_UNSUPPORTED, err, errlen, "%s has no %s", t->hello.version,
                    telemetry_command_name(command));
    return TELEMETRY_OK;
}

/* Replies that say whom they are about must be about the one asked for: concurrent clients can swap
 * arguments. */
static enum telemetry_status check_number(const struct telemetry *t, const struct telemetry_reply *reply,
                                          uint32_t number, char *err, size_t errlen)
{
    static const struct {
        enum telemetry_command command;
        const char *key;
    } echoes[] = {{TELEMETRY_ETHDEV_INFO, "port_id"}, {TELEMETRY_LCORE_INFO, "lcore_id"}};
    for (size_t i = 0; i < sizeof echoes / sizeof echoes[0]; i++) {
        uint64_t said;
        if (reply->command == echoes[i].command &&
            json64_u64(json64_get(reply->doc, reply->value, echoes[i].key), &said) && said != number)
            return tell(t, TELEMETRY_GARBLED, err, errlen, "%s,%u: answered about %llu",
                        telemetry_command_name(reply->command), number, (unsigned long long)said);
    }
    return TELEMETRY_OK;
}

static enum telemetry_status ask_number(struct telemetry *t, enum telemetry_command command, uint32_t number,
                                        const char *option, uint64_t deadline_ns,
                                        struct telemetry_reply *reply, char *err, size_t errlen)
{
    char request[REQUEST_MAX];
    if (number > UINT16_MAX) /* up to 22.11 the server takes 65536 for 0 */
        return tell(t, TELEMETRY_UNSUPPORTED, err, errlen, "%u is no port or lcore", number);
    enum telemetry_status status = check_command(t, command, TELEMETRY_NUMBER, err, errlen);
    if (status != TELEMETRY_OK)
        return status;
    snprintf(request, sizeof request, "%s,%u%s", telemetry_command_name(command), number, option);
    status = exchange(t, command, request, deadline_ns, reply, err, errlen);
    return status == TELEMETRY_OK ? check_number(t, reply, number, err, errlen) : status;
}

enum telemetry_status telemetry_ask(struct telemetry *t, enum telemetry_command command, uint32_t number,
                                    uint64_t deadline_ns, struct telemetry_reply *reply, char *err,
                                    size_t errlen)
{
    if (telemetry_command_argument(command) == TELEMETRY_NUMBER)
        return ask_number(t, command, number, "", deadline_ns, reply, err, errlen);
    enum telemetry_status status = check_command(t, command, TELEMETRY_NO_ARGUMENT, err, errlen);
    if (status != TELEMETRY_OK)
        return status;
    return exchange(t, command, telemetry_command_name(command), deadline_ns, reply, err, errlen);
}

enum telemetry_status telemetry_ask_xstats(struct telemetry *t, uint32_t port, bool hide_zero,
                                           uint64_t deadline_ns, struct telemetry_reply *reply, char *err,
                                           size_t errlen)
{
    bool hidden = hide_zero && t->hello.release >= TELEMETRY_HIDE_ZERO_SINCE;
    enum telemetry_status status = ask_number(
        t, TELEMETRY_ETHDEV_XSTATS, port, hidden ? ",hide_zero=true" : "", deadline_ns, reply, err, errlen);
    if (status == TELEMETRY_OK)
        reply->zeros_hidden = hidden;
    return status;
}

static bool is_sendable_name(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > POOL_NAME_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == ',')
            return false;
    return true;
}

enum telemetry_status telemetry_ask_pool(struct telemetry *t, const char *name, uint64_t deadline_ns,
                                         struct telemetry_reply *reply, char *err, size_t errlen)
{
    char request[REQUEST_MAX];
    if (!is_sendable_name(name))
        return tell(t, TELEMETRY_UNSUPPORTED, err, errlen, "a mempool of such a name cannot be asked for");
    enum telemetry_status status = check_command(t, TELEMETRY_MEMPOOL_INFO, TELEMETRY_POOL_NAME, err, errlen);
    if (status != TELEMETRY_OK)
        return status;
    snprintf(request, sizeof request, "%s,%s", telemetry_command_name(TELEMETRY_MEMPOOL_INFO), name);
    status = exchange(t, TELEMETRY_MEMPOOL_INFO, request, deadline_ns, reply, err, errlen);
    const struct json64_node *said =
        status == TELEMETRY_OK ? json64_get(reply->doc, reply->value, "name") : NULL;
    if (said && said->type == JSON64_TEXT && strcmp(said->text, name) != 0)
        return tell(t, TELEMETRY_GARBLED, err, errlen, "%s: answered about another mempool", request);
    return status;
}
