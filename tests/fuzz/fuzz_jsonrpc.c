/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: the bytes of a server through the JSON-RPC client, and what it tells through the mirror
 * of the database. The first byte says where the stream is cut in two writes; the answer to one call is
 * looked for in it, then notifications until it ends.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/jsonrpc.h"
#include "collectors/ovsdb_mirror.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any element of the parameters as table updates, at rising times. */
static void apply_params(void *ctx, const char *method, json_t *params, int64_t arrived_ns)
{
    struct ovsdb_mirror *mirror = ctx;
    json_t *updates;
    size_t i;

    (void)method;
    ovsdb_mirror_apply(mirror, params, arrived_ns);
    json_array_foreach(params, i, updates) ovsdb_mirror_apply(mirror, updates, arrived_ns + (int64_t)i);
}

static void look_at(const struct ovsdb_mirror *mirror)
{
    uint64_t value;
    int64_t number;
    bool flag;

    for (size_t i = 0; i < mirror->n_rows[OVSDB_INTERFACE]; i++) {
        const struct ovsdb_row *row = mirror->rows[OVSDB_INTERFACE][i], *bridge = ovsdb_bridge_of(row);
        if (strlen(ovsdb_str(row, OVSDB_IF_NAME)) == SIZE_MAX || (bridge && bridge->table != OVSDB_BRIDGE))
            abort();
        if (ovsdb_stat(row, "rx_packets", &value) && value > INT64_MAX)
            abort();
        ovsdb_int(row, OVSDB_IF_OFPORT, &number);
        ovsdb_bool(row, OVSDB_IF_OFPORT, &flag);
        ovsdb_map_str(row, OVSDB_IF_OPTIONS, "n_rxq");
    }
    ovsdb_find_name(mirror, OVSDB_PORT, "p0");
}

/* Fits the socket's buffer; fails only when the client has closed already. */
static void send_bytes(int fd, const uint8_t *data, size_t size)
{
    if (size > 0 && send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) < (ssize_t)size && errno != EPIPE)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ovsdb_mirror mirror = {0};
    json_t *result = NULL;
    char err[128];
    int fds[2];

    if (size < 1 || size > 32768 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return 0;
    for (size_t c = 0; c < OVSDB_N_COLUMNS; c++)
        mirror.monitored[c] = true;
    size_t cut = data[0] < size - 1 ? data[0] : size - 1;
    struct jsonrpc *rpc = jsonrpc_from_fd(fds[0], -1);
    jsonrpc_on_notify(rpc, apply_params, &mirror);
    send_bytes(fds[1], data + 1, cut);
    jsonrpc_receive(rpc, 0, err, sizeof(err));
    send_bytes(fds[1], data + 1 + cut, size - 1 - cut);
    shutdown(fds[1], SHUT_WR);
    if (jsonrpc_fd(rpc) >= 0 &&
        jsonrpc_call(rpc, "m", json_array(), INT64_MAX, &result, err, sizeof(err)) == JSONRPC_OK) {
        ovsdb_mirror_use_schema(&mirror, result);
        json_decref(ovsdb_mirror_requests(&mirror));
        ovsdb_mirror_apply(&mirror, result, 1);
        json_decref(result);
    }
    while (jsonrpc_fd(rpc) >= 0)
        jsonrpc_receive(rpc, 0, err, sizeof(err));
    look_at(&mirror);
    jsonrpc_close(rpc);
    close(fds[1]);
    ovsdb_mirror_clear(&mirror);
    return 0;
}
