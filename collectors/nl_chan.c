/* SPDX-License-Identifier: MIT */
/* Requests to the kernel's route netlink and their whole replies (see nl_chan.h). */
#include "collectors/nl_chan.h"

#include <errno.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "src/memory.h"

/* The kernel fills datagrams of a dump up to 32 KiB when the reader's buffer allows it. */
#define BUFFER_BYTES     (64u * 1024u)
#define BUFFER_MAX_BYTES (4u * 1024u * 1024u)
#define RECEIVE_BYTES    (1024 * 1024)
/* A flood of notifications must not keep a tick for ever: the rest waits for the next one. */
#define DRAIN_DATAGRAMS  65536

static enum collect_result open_failed(struct nl_chan *chan, struct collect_call *call, int error)
{
    nl_chan_close(chan);
    return collect_fail(
        &call->error, COLLECT_FAILED,
        "netlink: no route socket: %s; the kernel needs CONFIG_NET, the process a free descriptor",
        nl_geterror(error));
}

static enum collect_result open_socket(struct nl_chan *chan, int receive_bytes, struct collect_call *call)
{
    *chan = (struct nl_chan){.fd = -1, .sock = nl_socket_alloc()};
    if (!chan->sock)
        return open_failed(chan, call, NLE_NOMEM);
    int error = nl_connect(chan->sock, NETLINK_ROUTE);
    if (error == 0)
        error = nl_socket_set_buffer_size(chan->sock, receive_bytes, 0);
    if (error < 0)
        return open_failed(chan, call, error);
    chan->fd = nl_socket_get_fd(chan->sock);
    chan->port = nl_socket_get_local_port(chan->sock);
    chan->size = BUFFER_BYTES;
    chan->buffer = xzalloc(chan->size);
    return COLLECT_OK;
}

enum collect_result nl_chan_open(struct nl_chan *chan, struct collect_call *call)
{
    return open_socket(chan, RECEIVE_BYTES, call);
}

enum collect_result nl_chan_subscribe(struct nl_chan *chan, int group, int receive_bytes,
                                      struct collect_call *call)
{
    enum collect_result result = open_socket(chan, receive_bytes, call);
    if (result != COLLECT_OK)
        return result;
    int error = nl_socket_add_membership(chan->sock, group);
    return error < 0 ? open_failed(chan, call, error) : COLLECT_OK;
}

void nl_chan_close(struct nl_chan *chan)
{
    if (chan->sock)
        nl_socket_free(chan->sock);
    free(chan->buffer);
    *chan = (struct nl_chan){.fd = -1};
}

static int wait_readable(const struct nl_chan *chan, const struct collect_call *call)
{
    int64_t left_ns = call->deadline_ns - clock_mono_ns();
    if (left_ns <= 0)
        return -ETIMEDOUT;
    struct pollfd fds[] = {{.fd = chan->fd, .events = POLLIN}, {.fd = call->stop_fd, .events = POLLIN}};
    int left_ms = left_ns > INT64_C(3600000000000) ? 3600000 : (int)(left_ns / 1000000) + 1;
    if (poll(fds, 2, left_ms) < 0 && errno != EINTR)
        return -errno;
    return fds[1].revents ? NL_CHAN_STOPPED : 0;
}

/* One datagram of the kernel's own without waiting: its whole length, which may be more than the buffer's, or
 * -errno. */
static ssize_t receive_now(struct nl_chan *chan)
{
    for (;;) {
        struct sockaddr_nl from = {0};
        socklen_t from_size = sizeof(from);
        ssize_t length = recvfrom(chan->fd, chan->buffer, chan->size, MSG_TRUNC | MSG_DONTWAIT,
                                  (struct sockaddr *)&from, &from_size);
        if (length >= 0 && from.nl_pid == 0)
            return length;
        if (length < 0 && errno != EINTR)
            return -errno;
    }
}

static ssize_t receive(struct nl_chan *chan, const struct collect_call *call)
{
    for (;;) {
        ssize_t length = receive_now(chan);
        if (length != -EAGAIN)
            return length;
        int rc = wait_readable(chan, call);
        if (rc < 0)
            return rc;
    }
}

static void grow(struct nl_chan *chan, size_t need)
{
    size_t size = chan->size;
    while (size < need && size < BUFFER_MAX_BYTES)
        size *= 2;
    chan->buffer = xrealloc(chan->buffer, size, 1);
    chan->size = size;
}

/* The errno in an error or a done message; a done of old kernels has none. */
static int message_code(const struct nlmsghdr *message)
{
    int code = 0;
    if (nlmsg_datalen(message) >= (int)sizeof(code))
        memcpy(&code, nlmsg_data(message), sizeof(code));
    return code > 0 ? -code : code;
}

enum progress { MORE, ENDED };

struct reply {
    nl_message_fn *each;
    void *arg;
    bool partial; /* the kernel says so, or a datagram did not fit */
    int code;
};

static enum progress take_message(struct nl_chan *chan, struct reply *reply, const struct nlmsghdr *message)
{
    if (message->nlmsg_seq != chan->seq || message->nlmsg_pid != chan->port)
        return MORE;
    if (message->nlmsg_flags & NLM_F_DUMP_INTR)
        reply->partial = true;
    if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) {
        reply->code = message_code(message);
        return ENDED;
    }
    reply->each(message, reply->arg);
    return message->nlmsg_flags & NLM_F_MULTI ? MORE : ENDED;
}

static enum progress take_datagram(struct nl_chan *chan, struct reply *reply, size_t length)
{
    int left = (int)(length < chan->size ? length : chan->size);
    struct nlmsghdr *message = (struct nlmsghdr *)chan->buffer;
    for (; nlmsg_ok(message, left); message = nlmsg_next(message, &left))
        if (take_message(chan, reply, message) == ENDED)
            return ENDED;
    if (length > chan->size) {
        reply->partial = true;
        grow(chan, length);
    }
    return MORE;
}

int nl_chan_ask(struct nl_chan *chan, struct nl_msg *request, nl_message_fn *each, void *arg,
                const struct collect_call *call)
{
    struct nlmsghdr *header = nlmsg_hdr(request);
    header->nlmsg_seq = ++chan->seq;
    header->nlmsg_pid = chan->port;
    if (send(chan->fd, header, header->nlmsg_len, 0) < 0)
        return -errno;
    struct reply reply = {.each = each, .arg = arg};
    for (;;) {
        ssize_t length = receive(chan, call);
        if (length < 0)
            return (int)length;
        if (take_datagram(chan, &reply, (size_t)length) == ENDED)
            return reply.code < 0 ? reply.code : reply.partial ? NL_CHAN_AGAIN : 0;
    }
}

int nl_chan_drain(struct nl_chan *chan, nl_message_fn *each, void *arg)
{
    bool lost = false;
    for (int i = 0; i < DRAIN_DATAGRAMS; i++) {
        ssize_t length = receive_now(chan);
        if (length == -EAGAIN)
            break;
        /* Told once; what is queued behind it is still good, and must go before more can come. */
        if (length < 0 && length != -ENOBUFS)
            return (int)length;
        if (length < 0 || (size_t)length > chan->size) {
            lost = true;
            continue;
        }
        int left = (int)length;
        struct nlmsghdr *message = (struct nlmsghdr *)chan->buffer;
        for (; nlmsg_ok(message, left); message = nlmsg_next(message, &left))
            each(message, arg);
    }
    return lost ? -ENOBUFS : 0;
}

enum collect_result nl_chan_fail(struct collect_call *call, int code, const char *what)
{
    if (code == -ETIMEDOUT)
        return collect_fail(&call->error, COLLECT_NO_ANSWER,
                            "netlink: the kernel did not answer %s in time; something holds its RTNL lock",
                            what);
    if (code == NL_CHAN_STOPPED)
        return collect_fail(&call->error, COLLECT_FAILED, "netlink: %s stopped, the program ends", what);
    if (code == -EPERM || code == -EACCES)
        return collect_fail(&call->error, COLLECT_DENIED,
                            "netlink: %s is not permitted to this user; run as root", what);
    return collect_fail(&call->error, COLLECT_FAILED, "netlink: %s failed: %s; it will be tried again", what,
                        strerror(-code));
}

struct nl_msg *nl_chan_request(int type, int flags, const void *header, size_t size)
{
    struct nl_msg *request = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
    if (!request || nlmsg_append(request, (void *)header, size, NLMSG_ALIGNTO) < 0) {
        fputs("vnettop: out of memory\n", stderr);
        exit(2);
    }
    return request;
}
