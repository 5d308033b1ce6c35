/* SPDX-License-Identifier: MIT */
/*
 * A JSON-RPC server on a Unix socket in a thread of the test, for test_unixctl.c and test_ovsdb.c: it answers
 * the requests of one connection from a script, keeps what it was asked, and can stay silent, break off, or
 * answer byte by byte. It knows no method.
 */
#ifndef TESTS_FAKE_RPC_H
#define TESTS_FAKE_RPC_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "collectors/jsonrpc.h"

enum { FAKE_MAX_STEPS = 16 };

/* What to do with one request; the last step with all zero ends the script: the connection is closed. */
struct fake_step {
    const char *before; /* sent ahead of the reply: notifications, echo requests */
    const char *result; /* JSON text of the result member */
    const char *error;  /* JSON text of the error member of an error reply */
    const char *raw;    /* sent as it is instead of a reply */
    bool silent;        /* no answer at all; the connection stays open until the client goes */
    bool by_bytes;      /* one byte a write */
};

struct fake_rpc {
    struct sockaddr_un path;
    int listen_fd;
    pthread_t thread;
    const struct fake_step *steps;
    json_t *requests[FAKE_MAX_STEPS];
    size_t n_requests;
};

static inline int64_t fake_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t fake_in_ms(int64_t ms)
{
    return fake_now_ns() + ms * 1000000;
}

static inline void fake_send(int fd, const char *text, bool by_bytes)
{
    size_t len = strlen(text), step = by_bytes ? 1 : len;
    for (size_t at = 0; at < len;) {
        ssize_t n = send(fd, text + at, at + step <= len ? step : len - at, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        at += (size_t)n;
    }
}

/* The next request of the connection; NULL when the client has gone. */
static inline json_t *fake_read_request(int fd, char *buf, size_t size, size_t *len)
{
    struct jsonrpc_scan scan = {0};
    ssize_t end;

    while ((end = jsonrpc_scan_message(&scan, buf, *len)) == 0) {
        ssize_t n = recv(fd, buf + *len, size - *len, 0);
        if (n <= 0)
            return NULL;
        *len += (size_t)n;
    }
    json_t *request = json_loadb(buf, (size_t)end, 0, NULL);
    *len -= (size_t)end;
    memmove(buf, buf + end, *len);
    return request;
}

static inline void fake_answer(int fd, const struct fake_step *step, json_t *request)
{
    char *reply = NULL;
    json_int_t id = json_integer_value(json_object_get(request, "id"));

    if (step->before)
        fake_send(fd, step->before, step->by_bytes);
    if (step->raw) {
        fake_send(fd, step->raw, step->by_bytes);
        return;
    }
    int n = step->error
                ? asprintf(&reply, "{\"id\":%lld,\"error\":%s}", (long long)id, step->error)
                : asprintf(&reply, "{\"error\":null,\"result\":%s,\"id\":%lld}", step->result, (long long)id);
    if (n > 0)
        fake_send(fd, reply, step->by_bytes);
    free(reply);
}

static inline void *fake_serve(void *arg)
{
    struct fake_rpc *fake = arg;
    static const struct fake_step end;
    int fd = accept(fake->listen_fd, NULL, NULL);
    char *buf = malloc(1 << 16);
    size_t len = 0;
    json_t *request;

    while (fd >= 0 && fake->n_requests < FAKE_MAX_STEPS &&
           (request = fake_read_request(fd, buf, 1 << 16, &len))) {
        if (json_object_get(request, "method")) {
            const struct fake_step *step = &fake->steps[fake->n_requests];
            fake->requests[fake->n_requests++] = request;
            if (memcmp(step, &end, sizeof(end)) == 0)
                break;
            if (!step->silent)
                fake_answer(fd, step, request);
        } else { /* the client's answer to an echo */
            fake->requests[fake->n_requests++] = request;
        }
    }
    free(buf);
    if (fd >= 0)
        close(fd);
    return NULL;
}

static inline struct sockaddr_un fake_address(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len >= sizeof(addr.sun_path))
        abort();
    memcpy(addr.sun_path, path, len + 1);
    return addr;
}

static inline void fake_start(struct fake_rpc *fake, const char *path, const struct fake_step *steps)
{
    struct sockaddr_un addr = fake_address(path);

    *fake = (struct fake_rpc){.path = addr};
    fake->steps = steps;
    fake->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(path);
    if (bind(fake->listen_fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fake->listen_fd, 5) < 0 ||
        pthread_create(&fake->thread, NULL, fake_serve, fake) != 0)
        abort();
}

/* Waits until the script has ended or the client has gone; then the requests may be looked at. */
static inline void fake_wait(struct fake_rpc *fake)
{
    if (fake->listen_fd < 0)
        return;
    shutdown(fake->listen_fd, SHUT_RDWR);
    pthread_join(fake->thread, NULL);
    close(fake->listen_fd);
    fake->listen_fd = -1;
}

static inline void fake_stop(struct fake_rpc *fake)
{
    fake_wait(fake);
    unlink(fake->path.sun_path);
    for (size_t i = 0; i < fake->n_requests; i++)
        json_decref(fake->requests[i]);
}

#endif
