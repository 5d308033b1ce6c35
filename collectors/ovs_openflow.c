/* SPDX-License-Identifier: MIT */
/*
 * The OpenFlow client declared in ovs_openflow.h: framing by the length in each message's head, the hand
 * shake, and an answer that comes in parts. Called from a worker thread; it knows no port by name.
 */
#include "collectors/ovs_openflow.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/clock.h"
#include "src/memory.h"

enum {
    HEAD_BYTES = 8,
    MULTIPART_HEAD_BYTES = 16,
    MAX_MESSAGE = 65535,
    MAX_BODY = 64 << 20, /* of an answer in all its parts */
    MAX_STRAY = 1000,    /* messages that are no answer: a bridge that only chatters */
    TYPE_HELLO = 0,
    TYPE_ERROR = 1,
    TYPE_ECHO_REQUEST = 2,
    TYPE_ECHO_REPLY = 3,
    TYPE_MULTIPART_REQUEST = 18,
    TYPE_MULTIPART_REPLY = 19,
    MULTIPART_PORT_STATS = 4,
    MULTIPART_MORE = 1,
    ELEMENT_VERSIONS = 1,
};

#define OUR_VERSIONS (1u << OVS_OF_1_3 | 1u << OVS_OF_1_4 | 1u << OVS_OF_1_5)

struct ovs_openflow {
    int fd, stop_fd;
    unsigned version;
    uint32_t xid;
    uint8_t *in; /* what was read and not taken */
    size_t in_len, in_cap;
    uint8_t *body; /* the answer's parts, one behind the other */
    size_t body_len, body_cap;
};

static enum ovs_openflow_result fail(enum ovs_openflow_result result, char *err, size_t errlen,
                                     const char *text)
{
    snprintf(err, errlen, "%s", text);
    return result;
}

/* ---- bytes ---- */

static enum ovs_openflow_result wait_for(struct ovs_openflow *of, short events, int64_t deadline_ns,
                                         char *err, size_t errlen)
{
    struct pollfd fds[2] = {{.fd = of->fd, .events = events}, {.fd = of->stop_fd, .events = POLLIN}};
    for (;;) {
        int64_t left = deadline_ns - clock_mono_ns();
        struct timespec ts = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                              .tv_nsec = left > 0 ? left % 1000000000 : 0};
        int n = ppoll(fds, 2, &ts, NULL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(OVS_OPENFLOW_BROKEN, err, errlen, strerror(errno));
        if (fds[1].revents)
            return fail(OVS_OPENFLOW_BROKEN, err, errlen, "stopped");
        if (n > 0)
            return OVS_OPENFLOW_OK;
        return fail(OVS_OPENFLOW_TIMEOUT, err, errlen, "no answer in time: the daemon is busy or hangs");
    }
}

static enum ovs_openflow_result send_all(struct ovs_openflow *of, const uint8_t *p, size_t len,
                                         int64_t deadline_ns, char *err, size_t errlen)
{
    while (len > 0) {
        ssize_t n = send(of->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            p += n;
            len -= (size_t)n;
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return fail(OVS_OPENFLOW_BROKEN, err, errlen, strerror(errno));
        enum ovs_openflow_result result = wait_for(of, POLLOUT, deadline_ns, err, errlen);
        if (result != OVS_OPENFLOW_OK)
            return result;
    }
    return OVS_OPENFLOW_OK;
}

static enum ovs_openflow_result read_more(struct ovs_openflow *of, int64_t deadline_ns, char *err,
                                          size_t errlen)
{
    if (of->in_cap - of->in_len < MAX_MESSAGE) {
        of->in_cap = of->in_len + 2 * MAX_MESSAGE;
        of->in = xrealloc(of->in, of->in_cap, 1);
    }
    for (;;) {
        ssize_t n = recv(of->fd, of->in + of->in_len, of->in_cap - of->in_len, MSG_DONTWAIT);
        if (n > 0) {
            of->in_len += (size_t)n;
            return OVS_OPENFLOW_OK;
        }
        if (n == 0)
            return fail(OVS_OPENFLOW_BROKEN, err, errlen, "the daemon closed the connection");
        if (errno != EAGAIN && errno != EINTR)
            return fail(OVS_OPENFLOW_BROKEN, err, errlen, strerror(errno));
        enum ovs_openflow_result result = wait_for(of, POLLIN, deadline_ns, err, errlen);
        if (result != OVS_OPENFLOW_OK)
            return result;
    }
}

/* ---- messages ---- */

static void put_u16(uint8_t *p, unsigned value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static void put_head(uint8_t *p, unsigned version, unsigned type, size_t len, uint32_t xid)
{
    p[0] = (uint8_t)version;
    p[1] = (uint8_t)type;
    put_u16(p + 2, (unsigned)len);
    put_u16(p + 4, xid >> 16);
    put_u16(p + 6, xid & 0xffff);
}

/* Makes sure that of->in starts with a whole message, and gives its length. */
static enum ovs_openflow_result next_message(struct ovs_openflow *of, int64_t deadline_ns, size_t *len,
                                             char *err, size_t errlen)
{
    for (;;) {
        *len = of->in_len >= HEAD_BYTES ? ovs_of_u16(of->in + 2) : 0;
        if (of->in_len >= HEAD_BYTES && *len < HEAD_BYTES)
            return fail(OVS_OPENFLOW_BROKEN, err, errlen, "the answer is not OpenFlow");
        if (*len && of->in_len >= *len)
            return OVS_OPENFLOW_OK;
        enum ovs_openflow_result result = read_more(of, deadline_ns, err, errlen);
        if (result != OVS_OPENFLOW_OK)
            return result;
    }
}

static void drop_message(struct ovs_openflow *of, size_t len)
{
    of->in_len -= len;
    memmove(of->in, of->in + len, of->in_len);
}

/* The bridge asks idle clients whether they are there. */
static enum ovs_openflow_result answer_echo(struct ovs_openflow *of, size_t len, int64_t deadline_ns,
                                            char *err, size_t errlen)
{
    of->in[1] = TYPE_ECHO_REPLY;
    return send_all(of, of->in, len, deadline_ns, err, errlen);
}

/* ---- hand shake ---- */

/* The versions of a HELLO as bits: its bitmap's first word, or all up to the one in its head. */
static uint32_t hello_versions(const uint8_t *message, size_t len)
{
    for (size_t at = HEAD_BYTES; len - at >= 8;) {
        size_t size = ovs_of_u16(message + at + 2), padded = (size + 7) & ~(size_t)7;
        if (ovs_of_u16(message + at) == ELEMENT_VERSIONS && size >= 8)
            return ovs_of_u32(message + at + 4);
        if (size < 4 || padded > len - at)
            break;
        at += padded;
    }
    return message[0] < 31 ? (2u << message[0]) - 1 : UINT32_MAX;
}

static enum ovs_openflow_result say_hello(struct ovs_openflow *of, int64_t deadline_ns, char *err,
                                          size_t errlen)
{
    uint8_t hello[16];
    put_head(hello, OVS_OF_1_5, TYPE_HELLO, sizeof(hello), of->xid);
    put_u16(hello + 8, ELEMENT_VERSIONS);
    put_u16(hello + 10, 8);
    put_u16(hello + 12, OUR_VERSIONS >> 16);
    put_u16(hello + 14, OUR_VERSIONS & 0xffff);
    return send_all(of, hello, sizeof(hello), deadline_ns, err, errlen);
}

static enum ovs_openflow_result shake_hands(struct ovs_openflow *of, int64_t deadline_ns, char *err,
                                            size_t errlen)
{
    size_t len;
    enum ovs_openflow_result result = say_hello(of, deadline_ns, err, errlen);
    if (result == OVS_OPENFLOW_OK)
        result = next_message(of, deadline_ns, &len, err, errlen);
    if (result != OVS_OPENFLOW_OK)
        return result;
    if (of->in[1] != TYPE_HELLO)
        return fail(OVS_OPENFLOW_BROKEN, err, errlen, "the answer is no OpenFlow greeting");
    uint32_t common = hello_versions(of->in, len) & OUR_VERSIONS;
    drop_message(of, len);
    if (!common)
        return fail(OVS_OPENFLOW_UNSPOKEN, err, errlen,
                    "the bridge speaks none of OpenFlow 1.3 to 1.5 (its column protocols)");
    of->version = 31 - (unsigned)__builtin_clz(common);
    return OVS_OPENFLOW_OK;
}

static int connect_to(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof(addr.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(addr.sun_path, path, len + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

struct ovs_openflow *ovs_openflow_open(const char *path, int64_t deadline_ns, int stop_fd,
                                       enum ovs_openflow_result *result, char *err, size_t errlen)
{
    int fd = connect_to(path);
    if (fd < 0) {
        *result = fail(OVS_OPENFLOW_BROKEN, err, errlen, strerror(errno));
        return NULL;
    }
    struct ovs_openflow *of = xzalloc(sizeof(*of));
    *of = (struct ovs_openflow){.fd = fd, .stop_fd = stop_fd, .xid = 1};
    *result = shake_hands(of, deadline_ns, err, errlen);
    if (*result == OVS_OPENFLOW_OK)
        return of;
    ovs_openflow_close(of);
    return NULL;
}

void ovs_openflow_close(struct ovs_openflow *of)
{
    if (!of)
        return;
    close(of->fd);
    free(of->in);
    free(of->body);
    free(of);
}

unsigned ovs_openflow_version(const struct ovs_openflow *of)
{
    return of->version;
}

/* ---- the question ---- */

enum ovs_openflow_result ovs_openflow_ask(struct ovs_openflow *of, int64_t deadline_ns, char *err,
                                          size_t errlen)
{
    uint8_t request[MULTIPART_HEAD_BYTES + 8] = {0};
    put_head(request, of->version, TYPE_MULTIPART_REQUEST, sizeof(request), ++of->xid);
    put_u16(request + 8, MULTIPART_PORT_STATS);
    memset(request + MULTIPART_HEAD_BYTES, 0xff, 4); /* any port */
    return send_all(of, request, sizeof(request), deadline_ns, err, errlen);
}

static enum ovs_openflow_result keep_part(struct ovs_openflow *of, size_t len, char *err, size_t errlen)
{
    size_t size = len - MULTIPART_HEAD_BYTES;
    if (size == 0)
        return OVS_OPENFLOW_OK;
    if (of->body_len + size > MAX_BODY)
        return fail(OVS_OPENFLOW_BROKEN, err, errlen, "the answer is too large");
    if (of->body_cap - of->body_len < size) {
        of->body_cap = 2 * of->body_cap + size;
        of->body = xrealloc(of->body, of->body_cap, 1);
    }
    memcpy(of->body + of->body_len, of->in + MULTIPART_HEAD_BYTES, size);
    of->body_len += size;
    return OVS_OPENFLOW_OK;
}

/* Takes one message; *done when it was the last part of the answer. */
static enum ovs_openflow_result take_message(struct ovs_openflow *of, size_t len, int64_t deadline_ns,
                                             bool *done, char *err, size_t errlen)
{
    const uint8_t *message = of->in;
    bool ours = ovs_of_u32(message + 4) == of->xid;
    if (message[1] == TYPE_ECHO_REQUEST)
        return answer_echo(of, len, deadline_ns, err, errlen);
    if (message[1] == TYPE_ERROR && ours)
        return fail(OVS_OPENFLOW_BROKEN, err, errlen, "the bridge refused to tell its port statistics");
    if (message[1] != TYPE_MULTIPART_REPLY || !ours || len < MULTIPART_HEAD_BYTES ||
        ovs_of_u16(message + 8) != MULTIPART_PORT_STATS)
        return OVS_OPENFLOW_OK;
    *done = !(ovs_of_u16(message + 10) & MULTIPART_MORE);
    return keep_part(of, len, err, errlen);
}

enum ovs_openflow_result ovs_openflow_await(struct ovs_openflow *of, int64_t deadline_ns,
                                            struct ovs_of_stats *stats, char *err, size_t errlen)
{
    bool done = false;
    ovs_of_clear(stats);
    of->body_len = 0;
    for (size_t parts = 0; !done; parts++) {
        size_t len;
        enum ovs_openflow_result result = next_message(of, deadline_ns, &len, err, errlen);
        if (result == OVS_OPENFLOW_OK)
            result = take_message(of, len, deadline_ns, &done, err, errlen);
        if (result != OVS_OPENFLOW_OK)
            return result;
        drop_message(of, len);
        if (parts > MAX_STRAY + MAX_BODY / MAX_MESSAGE)
            return fail(OVS_OPENFLOW_BROKEN, err, errlen, "the bridge talks without answering");
    }
    /* An entry does not go over two parts, but the parts need not be parsed one by one for that. */
    if (!ovs_of_parse(stats, of->version, of->body, of->body_len))
        return fail(OVS_OPENFLOW_BROKEN, err, errlen, "malformed port statistics");
    return OVS_OPENFLOW_OK;
}
