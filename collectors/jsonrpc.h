/* SPDX-License-Identifier: MIT */
/*
 * A JSON-RPC 1.0 client on a Unix stream socket: the transport of Open vSwitch's control sockets (unixctl)
 * and of its database (OVSDB). One request is in progress at a time; every call that may wait takes an
 * absolute CLOCK_MONOTONIC deadline and can be cut short by an eventfd. Callers are unixctl.c and ovsdb.c; it
 * knows no method but `echo`, which it answers by itself.
 *
 *     struct jsonrpc *rpc = jsonrpc_connect(path, deadline_ns, stop_fd, err, sizeof(err));
 *     enum jsonrpc_status st = jsonrpc_call(rpc, "list_dbs", json_array(), deadline_ns, &result, err,
 * sizeof(err)); jsonrpc_close(rpc);
 */
#ifndef COLLECTORS_JSONRPC_H
#define COLLECTORS_JSONRPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum jsonrpc_status {
    JSONRPC_OK,
    JSONRPC_REFUSED, /* the server answered with an error; the connection is fine */
    JSONRPC_TIMEOUT, /* no answer in time: the connection is closed, for a late reply could be taken for
                        another's */
    JSONRPC_STOPPED, /* the stop descriptor became readable: closed */
    JSONRPC_BROKEN,  /* closed by the peer, not JSON, too large or too deep: closed */
};

enum {
    JSONRPC_MAX_MESSAGE = 64 << 20, /* bytes of one message */
    JSONRPC_MAX_DEPTH = 64,         /* nested arrays and objects of one message */
};

struct jsonrpc;

/* A notification (request without id). `params` is borrowed; `arrived_ns` is CLOCK_MONOTONIC at the read. */
typedef void jsonrpc_notify_fn(void *ctx, const char *method, json_t *params, int64_t arrived_ns);

/* `stop_fd` may be -1; it is borrowed. NULL with `err` filled and errno set when nobody answers at `path`. */
struct jsonrpc *jsonrpc_connect(const char *path, int64_t deadline_ns, int stop_fd, char *err, size_t errlen);

/* Takes over a connected stream socket. */
struct jsonrpc *jsonrpc_from_fd(int fd, int stop_fd);

void jsonrpc_close(struct jsonrpc *rpc);

void jsonrpc_on_notify(struct jsonrpc *rpc, jsonrpc_notify_fn *notify, void *ctx);

/* The socket, for the caller's poll(); -1 once closed. */
int jsonrpc_fd(const struct jsonrpc *rpc);

/*
 * Sends a request and waits for its reply. `params` is stolen. On JSONRPC_OK `*result` is the caller's own
 * reference (never NULL); otherwise `*result` is NULL and `err` filled, for JSONRPC_REFUSED with the server's
 * words.
 */
enum jsonrpc_status jsonrpc_call(struct jsonrpc *rpc, const char *method, json_t *params, int64_t deadline_ns,
                                 json_t **result, char *err, size_t errlen);

/*
 * The two halves of a call, for several requests on the wire at once: a server that takes them in one go
 * wakes once. Answers are awaited in the order of the requests. A failed jsonrpc_send gives 0 and closes the
 * connection.
 */
int64_t jsonrpc_send(struct jsonrpc *rpc, const char *method, json_t *params, int64_t deadline_ns, char *err,
                     size_t errlen);
enum jsonrpc_status jsonrpc_await(struct jsonrpc *rpc, int64_t id, int64_t deadline_ns, json_t **result,
                                  char *err, size_t errlen);

/*
 * Handles the notifications and echo requests that have come; when there are none, waits for the first until
 * `wait_until_ns` (in the past: does not wait). JSONRPC_OK also when none came: nothing was owed.
 */
enum jsonrpc_status jsonrpc_receive(struct jsonrpc *rpc, int64_t wait_until_ns, char *err, size_t errlen);

/* Finds message ends in a stream of concatenated JSON objects; keeps its place between calls on a growing
 * buffer. */
struct jsonrpc_scan {
    size_t pos;
    unsigned depth;
    bool in_string;
    bool escaped;
};

/* Length of the first message in buf[0..len), 0 when it is not complete yet, -1 when this cannot be one. */
ssize_t jsonrpc_scan_message(struct jsonrpc_scan *scan, const char *buf, size_t len);

#endif
