/* SPDX-License-Identifier: MIT */
/*
 * An ovs-vswitchd and its ovsdb-server in a thread of the test: a run folder with pid file, control socket,
 * database socket and the OpenFlow socket of bridge br0. What it answers is set by the test between reads;
 * what it was asked is written down. It can stay silent, break off in the middle of a reply, and close.
 */
#ifndef TESTS_FAKE_OVS_H
#define TESTS_FAKE_OVS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/ovsdb_mirror.h"
#include "unit/fake_rpc.h"

enum { FAKE_OVS_CTL, FAKE_OVS_DB, FAKE_OVS_OF, FAKE_OVS_SOCKETS };
enum { FAKE_OVS_CONNS = 32, FAKE_OVS_ANSWERS = 24, FAKE_OVS_BUF = 1 << 16 };

struct fake_ovs_conn {
    int fd, kind;
    size_t len;
    char *buf;
};

struct fake_ovs {
    char dir[64];
    struct sockaddr_un path[FAKE_OVS_SOCKETS];
    int listen_fd[FAKE_OVS_SOCKETS], wake_fd;
    pthread_t thread;
    pthread_mutex_t lock;
    bool stop;
    unsigned drop; /* bits of the sockets whose connections are closed at once */

    /* Set under the lock, by the functions below. */
    struct {
        const char *command; /* method and its parameters: "dpctl/show -s" */
        char *text;
    } answers[FAKE_OVS_ANSWERS];
    bool hang, half;      /* take requests and be silent; send half of a reply and be silent */
    char *db;             /* result of monitor_cond, NULL: closes database connections */
    unsigned of_versions; /* bits of the HELLO */
    uint8_t *of_stats;    /* one or more multipart replies, as recorded */
    size_t of_len;
    bool of_echo;       /* ask for an echo before the next answer */
    unsigned of_echoes; /* answered */

    struct fake_ovs_conn conns[FAKE_OVS_CONNS];
    char asked[1 << 16]; /* a line for each request */
};

static inline void fake_ovs_note(struct fake_ovs *o, const char *text)
{
    size_t used = strlen(o->asked);
    snprintf(o->asked + used, sizeof(o->asked) - used, "%s\n", text);
}

/* ---- answers ---- */

static inline char *fake_ovs_schema(void)
{
    json_t *tables = json_object();
    for (size_t c = 0; c < OVSDB_N_COLUMNS; c++) {
        const char *table = ovsdb_table_names[ovsdb_columns[c].table];
        if (!json_object_get(tables, table))
            json_object_set_new(tables, table, json_pack("{s{}}", "columns"));
        json_object_set_new(json_object_get(json_object_get(tables, table), "columns"), ovsdb_columns[c].name,
                            json_object());
    }
    json_t *schema = json_pack("{so}", "tables", tables);
    char *text = json_dumps(schema, JSON_COMPACT);
    json_decref(schema);
    return text;
}

static inline void fake_ovs_reply(struct fake_ovs *o, int fd, json_t *reply)
{
    char *text = json_dumps(reply, JSON_COMPACT);
    if (o->half)
        text[strlen(text) / 2] = '\0';
    if (!o->hang || o->half)
        fake_send(fd, text, false);
    o->hang |= o->half;
    free(text);
    json_decref(reply);
}

static inline void fake_ovs_control(struct fake_ovs *o, int fd, json_t *request)
{
    char command[256];
    size_t i;
    json_t *param, *id = json_object_get(request, "id");
    int n = snprintf(command, sizeof(command), "%s", json_string_value(json_object_get(request, "method")));
    json_array_foreach(json_object_get(request, "params"), i, param)
    {
        n += snprintf(command + n, sizeof(command) - (size_t)n, " %s", json_string_value(param));
    }
    fake_ovs_note(o, command);
    for (i = 0; i < FAKE_OVS_ANSWERS && o->answers[i].command; i++) {
        if (strcmp(o->answers[i].command, command) == 0 && o->answers[i].text) {
            fake_ovs_reply(o, fd, json_pack("{sOsssn}", "id", id, "result", o->answers[i].text, "error"));
            return;
        }
    }
    fake_ovs_reply(o, fd, json_pack("{sOss}", "id", id, "error", "\"x\" is not a valid command"));
}

static inline void fake_ovs_database(struct fake_ovs *o, int fd, json_t *request)
{
    const char *method = json_string_value(json_object_get(request, "method"));
    char line[64], *schema = fake_ovs_schema();
    snprintf(line, sizeof(line), "db:%s", method);
    fake_ovs_note(o, line);
    json_t *result = json_loads(strcmp(method, "get_schema") == 0 ? schema : o->db, 0, NULL);
    fake_ovs_reply(o, fd,
                   json_pack("{sOsosn}", "id", json_object_get(request, "id"), "result", result, "error"));
    free(schema);
}

static inline void fake_ovs_hello(struct fake_ovs *o, int fd)
{
    uint8_t hello[16] = {6, 0, 0, 16, 0, 0, 0, 9, 0, 1, 0, 8, 0, 0, 0, (uint8_t)o->of_versions};
    if (o->of_versions == 2) { /* 1.0 knows no bitmap */
        hello[0] = 1;
        hello[3] = 8;
    }
    if (write(fd, hello, hello[3]) != hello[3])
        abort();
}

static inline void fake_ovs_openflow(struct fake_ovs *o, int fd, const uint8_t *message)
{
    static const uint8_t echo[12] = {5, 2, 0, 12, 0, 0, 0, 99, 'p', 'i', 'n', 'g'};
    char line[32];
    snprintf(line, sizeof(line), "of:%u", message[1]);
    fake_ovs_note(o, line);
    o->of_echoes += message[1] == 3 && memcmp(message + 8, "ping", 4) == 0;
    if (message[1] != 18 || o->hang)
        return;
    if (o->of_echo && write(fd, echo, sizeof(echo)) != sizeof(echo))
        abort();
    o->of_echo = false;
    for (size_t at = 0; at + 8 <= o->of_len; at += (size_t)(o->of_stats[at + 2] << 8 | o->of_stats[at + 3]))
        memcpy(o->of_stats + at + 4, message + 4, 4);
    if (write(fd, o->of_stats, o->of_len) != (ssize_t)o->of_len)
        abort();
}

/* ---- connections ---- */

static inline void fake_ovs_drop(struct fake_ovs_conn *conn)
{
    if (conn->fd >= 0)
        close(conn->fd);
    conn->fd = -1;
    conn->len = 0;
}

/* Handles the first whole request of the buffer; false when there is none. */
static inline bool fake_ovs_take(struct fake_ovs *o, struct fake_ovs_conn *conn)
{
    struct jsonrpc_scan scan = {0};
    ssize_t size = conn->kind != FAKE_OVS_OF ? jsonrpc_scan_message(&scan, conn->buf, conn->len)
                   : conn->len >= 8          ? (uint8_t)conn->buf[2] << 8 | (uint8_t)conn->buf[3]
                                             : 0;
    if (size <= 0 || (size_t)size > conn->len)
        return false;
    if (conn->kind == FAKE_OVS_OF) {
        fake_ovs_openflow(o, conn->fd, (const uint8_t *)conn->buf);
    } else {
        json_t *request = json_loadb(conn->buf, (size_t)size, 0, NULL);
        if (conn->kind == FAKE_OVS_CTL)
            fake_ovs_control(o, conn->fd, request);
        else
            fake_ovs_database(o, conn->fd, request);
        json_decref(request);
    }
    conn->len -= (size_t)size;
    memmove(conn->buf, conn->buf + size, conn->len);
    return true;
}

static inline void fake_ovs_read(struct fake_ovs *o, struct fake_ovs_conn *conn)
{
    ssize_t n = recv(conn->fd, conn->buf + conn->len, FAKE_OVS_BUF - conn->len, 0);
    if (n <= 0) {
        fake_ovs_drop(conn);
        return;
    }
    conn->len += (size_t)n;
    while (fake_ovs_take(o, conn))
        ;
}

static inline void fake_ovs_accept(struct fake_ovs *o, int kind)
{
    int fd = accept(o->listen_fd[kind], NULL, NULL);
    for (size_t i = 0; i < FAKE_OVS_CONNS; i++) {
        if (o->conns[i].fd >= 0)
            continue;
        o->conns[i].fd = fd;
        o->conns[i].kind = kind;
        if (kind == FAKE_OVS_OF && !o->hang)
            fake_ovs_hello(o, fd);
        if (kind == FAKE_OVS_DB && !o->db)
            fake_ovs_drop(&o->conns[i]);
        return;
    }
    abort();
}

static inline void *fake_ovs_run(void *arg)
{
    struct fake_ovs *o = arg;
    for (;;) {
        struct pollfd fds[FAKE_OVS_CONNS + FAKE_OVS_SOCKETS + 1];
        for (size_t i = 0; i < FAKE_OVS_CONNS; i++)
            fds[i] = (struct pollfd){.fd = o->conns[i].fd, .events = POLLIN};
        for (size_t i = 0; i < FAKE_OVS_SOCKETS; i++)
            fds[FAKE_OVS_CONNS + i] = (struct pollfd){.fd = o->listen_fd[i], .events = POLLIN};
        fds[FAKE_OVS_CONNS + FAKE_OVS_SOCKETS] = (struct pollfd){.fd = o->wake_fd, .events = POLLIN};
        poll(fds, FAKE_OVS_CONNS + FAKE_OVS_SOCKETS + 1, -1);
        pthread_mutex_lock(&o->lock);
        if (o->stop) {
            pthread_mutex_unlock(&o->lock);
            return NULL;
        }
        for (size_t i = 0; i < FAKE_OVS_CONNS; i++)
            if (fds[i].revents && o->conns[i].fd >= 0)
                fake_ovs_read(o, &o->conns[i]);
        for (int i = 0; i < FAKE_OVS_SOCKETS; i++)
            if (fds[FAKE_OVS_CONNS + i].revents)
                fake_ovs_accept(o, i);
        if (fds[FAKE_OVS_CONNS + FAKE_OVS_SOCKETS].revents) {
            uint64_t n;
            if (read(o->wake_fd, &n, sizeof(n)) < 0)
                abort();
            for (size_t i = 0; i < FAKE_OVS_CONNS; i++)
                if (o->conns[i].fd >= 0 && o->drop & 1u << o->conns[i].kind)
                    fake_ovs_drop(&o->conns[i]);
            o->drop = 0;
        }
        pthread_mutex_unlock(&o->lock);
    }
}

/* ---- for the test ---- */

static inline void fake_ovs_wake(struct fake_ovs *o)
{
    uint64_t one = 1;
    if (write(o->wake_fd, &one, sizeof(one)) < 0)
        abort();
}

static inline int fake_ovs_listen(struct sockaddr_un *addr)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)addr, sizeof(*addr)) < 0 || listen(fd, 5) < 0)
        abort();
    return fd;
}

/* text NULL: an unknown command again. text is copied. */
static inline void fake_ovs_answer(struct fake_ovs *o, const char *command, const char *text)
{
    size_t i = 0;
    pthread_mutex_lock(&o->lock);
    while (o->answers[i].command && strcmp(o->answers[i].command, command) != 0)
        i++;
    free(o->answers[i].text);
    o->answers[i].command = command;
    o->answers[i].text = text ? strdup(text) : NULL;
    pthread_mutex_unlock(&o->lock);
}

static inline void fake_ovs_set_db(struct fake_ovs *o, const char *result)
{
    pthread_mutex_lock(&o->lock);
    free(o->db);
    o->db = result ? strdup(result) : NULL;
    pthread_mutex_unlock(&o->lock);
}

static inline void fake_ovs_set_stats(struct fake_ovs *o, const void *bytes, size_t len)
{
    pthread_mutex_lock(&o->lock);
    free(o->of_stats);
    o->of_stats = memcpy(malloc(len ? len : 1), bytes, len);
    o->of_len = len;
    pthread_mutex_unlock(&o->lock);
}

static inline void fake_ovs_hang(struct fake_ovs *o, bool hang, bool half)
{
    pthread_mutex_lock(&o->lock);
    o->hang = hang;
    o->half = half;
    pthread_mutex_unlock(&o->lock);
}

/* Closes all connections of these sockets (bits), as a daemon does that dies, and waits until it is done. */
static inline void fake_ovs_drop_all(struct fake_ovs *o, unsigned sockets)
{
    pthread_mutex_lock(&o->lock);
    o->drop = sockets;
    pthread_mutex_unlock(&o->lock);
    fake_ovs_wake(o);
    for (bool done = false; !done;) {
        pthread_mutex_lock(&o->lock);
        done = o->drop == 0;
        pthread_mutex_unlock(&o->lock);
    }
}

static inline void fake_ovs_start(struct fake_ovs *o)
{
    char name[128];
    *o = (struct fake_ovs){.of_versions = 1 << 4 | 1 << 5, .wake_fd = eventfd(0, EFD_CLOEXEC)};
    pthread_mutex_init(&o->lock, NULL);
    strcpy(o->dir, "/tmp/test_ovs.XXXXXX");
    if (!mkdtemp(o->dir))
        abort();
    snprintf(name, sizeof(name), "%s/ovs-vswitchd.pid", o->dir);
    FILE *f = fopen(name, "w");
    fprintf(f, "%d\n", 4711);
    fclose(f);
    static const char *const names[] = {"ovs-vswitchd.4711.ctl", "db.sock", "br0.mgmt"};
    for (size_t i = 0; i < FAKE_OVS_SOCKETS; i++) {
        snprintf(name, sizeof(name), "%s/%s", o->dir, names[i]);
        o->path[i] = fake_address(name);
        o->listen_fd[i] = fake_ovs_listen(&o->path[i]);
    }
    for (size_t i = 0; i < FAKE_OVS_CONNS; i++) {
        o->conns[i].fd = -1;
        o->conns[i].buf = malloc(FAKE_OVS_BUF);
    }
    if (pthread_create(&o->thread, NULL, fake_ovs_run, o) != 0)
        abort();
}

/* keep: leave the files behind, as kill -9 does. */
static inline void fake_ovs_end(struct fake_ovs *o, bool keep)
{
    char name[128];
    pthread_mutex_lock(&o->lock);
    o->stop = true;
    pthread_mutex_unlock(&o->lock);
    fake_ovs_wake(o);
    pthread_join(o->thread, NULL);
    for (size_t i = 0; i < FAKE_OVS_CONNS; i++) {
        fake_ovs_drop(&o->conns[i]);
        free(o->conns[i].buf);
    }
    for (size_t i = 0; i < FAKE_OVS_SOCKETS; i++) {
        close(o->listen_fd[i]);
        if (!keep)
            unlink(o->path[i].sun_path);
    }
    for (size_t i = 0; i < FAKE_OVS_ANSWERS; i++)
        free(o->answers[i].text);
    close(o->wake_fd);
    free(o->db);
    free(o->of_stats);
    if (keep)
        return;
    snprintf(name, sizeof(name), "%s/ovs-vswitchd.pid", o->dir);
    unlink(name);
    rmdir(o->dir);
}

#endif
