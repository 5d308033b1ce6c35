/* SPDX-License-Identifier: MIT */
/*
 * A channel to the kernel's route netlink: one socket of libnl, one kept buffer, requests and their whole
 * replies. The netlink collectors call it. It knows of headers alone, not of links or counters. libnl's own
 * receive loop is not used: it allocates for every datagram and calls back three times a message, which is
 * dear at a thousand links a tick.
 */
#ifndef VNETTOP_NL_CHAN_H
#define VNETTOP_NL_CHAN_H

#include <linux/netlink.h>
#include <netlink/msg.h>
#include <stddef.h>
#include <stdint.h>

#include "src/collector.h"

struct nl_chan {
    struct nl_sock *sock;
    int fd;
    uint32_t port; /* our address: replies carry it */
    uint32_t seq;  /* of the last request */
    char *buffer;
    size_t size;
};

typedef void nl_message_fn(const struct nlmsghdr *message, void *arg);

/* Opens a socket in the caller's network namespace. Fills call->error when it is not COLLECT_OK. */
enum collect_result nl_chan_open(struct nl_chan *chan, struct collect_call *call);
/* The same, subscribed to a group (RTNLGRP_LINK); receive_bytes is asked for as its receive buffer. */
enum collect_result nl_chan_subscribe(struct nl_chan *chan, int group, int receive_bytes,
                                      struct collect_call *call);
void nl_chan_close(struct nl_chan *chan);

/* Codes beside -errno: the reply is not whole, ask again; the program ends. */
#define NL_CHAN_AGAIN   (-EAGAIN)
#define NL_CHAN_STOPPED (-ECANCELED)

/*
 * Sends the request (its sequence number is set here) and calls each for every message of its reply, to the
 * end; late replies of former requests are skipped. Returns 0, or NL_CHAN_AGAIN when the kernel says that
 * what it dumped changed meanwhile or a message did not fit (the buffer has grown), -ETIMEDOUT at the
 * deadline, NL_CHAN_STOPPED, or the kernel's -errno. After -ETIMEDOUT or NL_CHAN_STOPPED the channel is of no
 * more use.
 */
int nl_chan_ask(struct nl_chan *chan, struct nl_msg *request, nl_message_fn *each, void *arg,
                const struct collect_call *call);

/* Calls each for every message that waits, and does not wait for more. 0, -ENOBUFS when some were lost, or
 * another -errno. */
int nl_chan_drain(struct nl_chan *chan, nl_message_fn *each, void *arg);

/* Turns a code of nl_chan_ask into a result and its text; what names the request. */
enum collect_result nl_chan_fail(struct collect_call *call, int code, const char *what);

/* A request with a header of its own and no attributes yet. Memory is its only failure, and ends the program.
 */
struct nl_msg *nl_chan_request(int type, int flags, const void *header, size_t size);

#endif
