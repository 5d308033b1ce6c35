/* SPDX-License-Identifier: MIT */
/*
 * A telemetry v2 server that misbehaves on demand: AF_UNIX SEQPACKET, greeting first, one reply a request in
 * order, ten clients at most, as DPDK does it, and a mode for each bad habit a client must survive. Run by
 * scripts as a program, and included by test_telemetry.c, which runs it in a thread (FAKE_TELEMETRY_INCLUDED
 * leaves main out). It records every request it gets, so that a test can assert what is never sent. It shares
 * no code with the client.
 *
 *     fake_telemetry SOCKET [MODE [DELAY_MS [REPLIES [LOG]]]]
 *
 * REPLIES: lines of request, TAB, reply; the n-th time a request comes gets its n-th line, then the last one
 * again.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum fake_mode {
    FAKE_NORMAL,
    FAKE_OLD,           /* says 22.11 instead of 24.11 and offers no lcore commands */
    FAKE_NULL,          /* null for all but the list of commands */
    FAKE_CLOSE,         /* closes at once, as for an 11th client */
    FAKE_MUTE,          /* accepts, never greets */
    FAKE_LATE_GREETING, /* greets after the delay */
    FAKE_BAD_GREETING,  /* greets with something else */
    FAKE_SILENT,        /* answers the list of commands, nothing more */
    FAKE_DIE,           /* closes on the first request after the list of commands */
    FAKE_WRONG_KEY,     /* answers as another command */
    FAKE_WRONG_PORT,    /* answers about another port, pool or lcore */
    FAKE_NOT_JSON,      /* a quote too many */
    FAKE_DEEP,          /* 2,000 brackets */
    FAKE_HUGE,          /* longer than announced */
    FAKE_U64MAX,        /* counters of 2^64-1 */
    FAKE_SLOW,          /* each reply after the delay */
    FAKE_LATE_ONCE, /* the first reply after the list of commands comes after the delay, later ones at once */
    FAKE_UNASKED,   /* each reply is followed by one that nobody asked for */
    FAKE_FLOOD,     /* the first reply is followed by many */
    FAKE_MODES
};

static const char *const fake_mode_names[FAKE_MODES] = {
    "normal", "old",  "null",      "close",      "mute",     "late-greeting", "bad-greeting",
    "silent", "die",  "wrong-key", "wrong-port", "not-json", "deep",          "huge",
    "u64max", "slow", "late-once", "unasked",    "flood"};

#define FAKE_CLIENTS   10   /* as DPDK: the 11th is closed at once */
#define FAKE_LOG_MAX   4096 /* requests remembered */
#define FAKE_REPLY_MAX 40000

struct fake_client {
    int fd;
    bool pending; /* text is to be sent at due_ns */
    uint64_t due_ns;
    size_t len;
    char text[FAKE_REPLY_MAX];
};

struct fake_line {
    char *request, *reply;
    bool used;
};

struct fake {
    enum fake_mode mode;
    unsigned delay_ms;
    int listen_fd, stop[2];
    struct fake_client clients[FAKE_CLIENTS];
    struct fake_line *lines; /* of REPLIES */
    size_t n_lines;
    FILE *log_file;
    pthread_mutex_t lock; /* of all below */
    char *log[FAKE_LOG_MAX];
    size_t n_log;
    unsigned accepted, answered, sent;
};

static const struct {
    const char *request, *reply;
} fake_replies[] = {
    {"/info", "{\"version\":\"DPDK 24.11.0\",\"pid\":4242,\"max_output_len\":16384}"},
    {"/eal/params", "[\"fake\",\"-l\",\"0,1\",\"--file-prefix=fake\"]"},
    {"/eal/app_params", "[\"-i\"]"},
    {"/ethdev/list", "[0,1]"},
    {"/ethdev/stats,0",
     "{\"ipackets\":1000,\"opackets\":2000,\"ibytes\":64000,\"obytes\":128000,\"imissed\":7,"
     "\"ierrors\":0,\"oerrors\":3,\"rx_nombuf\":1}"},
    {"/ethdev/stats,1", "{\"ipackets\":1,\"opackets\":2,\"ibytes\":64,\"obytes\":128,\"imissed\":0,"
                        "\"ierrors\":0,\"oerrors\":0,\"rx_nombuf\":0}"},
    {"/ethdev/xstats,0",
     "{\"rx_good_packets\":1000,\"tx_good_packets\":2000,\"rx_missed_errors\":7,\"rx_errors\":0}"},
    {"/ethdev/xstats,0,hide_zero=true",
     "{\"rx_good_packets\":1000,\"tx_good_packets\":2000,\"rx_missed_errors\":7}"},
    {"/ethdev/info,0",
     "{\"name\":\"net_vhost0\",\"state\":1,\"nb_rx_queues\":1,\"nb_tx_queues\":1,\"port_id\":0,"
     "\"mtu\":1500,\"mac_addr\":\"56:48:4F:53:54:00\",\"dev_started\":1,\"numa_node\":-1}"},
    {"/ethdev/info,1",
     "{\"name\":\"net_null0\",\"state\":1,\"nb_rx_queues\":1,\"nb_tx_queues\":1,\"port_id\":1,"
     "\"mtu\":1500,\"mac_addr\":\"56:48:4F:53:54:01\",\"dev_started\":1,\"numa_node\":0}"},
    {"/ethdev/link_status,0", "{\"status\":\"UP\",\"speed\":10000,\"duplex\":\"full-duplex\"}"},
    {"/ethdev/link_status,1", "{\"status\":\"DOWN\"}"},
    {"/mempool/list", "[\"mb_pool_0\"]"},
    {"/mempool/info,mb_pool_0", "{\"name\":\"mb_pool_0\",\"size\":16384,\"cache_size\":250,\"socket_id\":0,"
                                "\"total_cache_count\":241,\"common_pool_count\":15631}"},
    {"/eal/lcore/list", "[0,1]"},
    {"/eal/lcore/info,1", "{\"lcore_id\":1,\"socket\":0,\"role\":\"RTE\",\"cpuset\":[1],\"total_cycles\":100,"
                          "\"busy_cycles\":25,\"usage_ratio\":\"25.00%\"}"},
    {"/eal/lcore/usage",
     "{\"lcore_ids\":[1],\"total_cycles\":[100],\"busy_cycles\":[25],\"usage_ratio\":[\"25.00%\"]}"},
};

/* The list includes what a careful client never asks. */
#define FAKE_ROOT_OLD                                                                                        \
    "\"/\",\"/eal/app_params\",\"/eal/params\",\"/ethdev/info\",\"/ethdev/link_status\",\"/ethdev/list\","   \
    "\"/ethdev/rx_queue\",\"/ethdev/tx_queue\",\"/ethdev/stats\",\"/ethdev/xstats\",\"/help\",\"/info\","    \
    "\"/mempool/info\",\"/mempool/list\",\"/ring/list\""
#define FAKE_ROOT FAKE_ROOT_OLD ",\"/eal/lcore/info\",\"/eal/lcore/list\",\"/eal/lcore/usage\""

static uint64_t fake_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void fake_record(struct fake *f, const char *request)
{
    pthread_mutex_lock(&f->lock);
    if (f->n_log < FAKE_LOG_MAX)
        f->log[f->n_log++] = strdup(request);
    pthread_mutex_unlock(&f->lock);
    if (f->log_file) {
        fprintf(f->log_file, "%s\n", request);
        fflush(f->log_file);
    }
}

/* The whole reply of the file, or NULL. */
static const char *fake_line_of(struct fake *f, const char *request)
{
    const char *last = NULL;
    for (size_t i = 0; i < f->n_lines; i++) {
        if (strcmp(f->lines[i].request, request) != 0)
            continue;
        last = f->lines[i].reply;
        if (!f->lines[i].used) {
            f->lines[i].used = true;
            break;
        }
    }
    return last;
}

static const char *fake_value_of(const char *request)
{
    for (size_t i = 0; i < sizeof fake_replies / sizeof fake_replies[0]; i++)
        if (strcmp(fake_replies[i].request, request) == 0)
            return fake_replies[i].reply;
    return "null";
}

static void fake_queue(struct fake_client *c, unsigned delay_ms)
{
    c->pending = true;
    c->due_ns = fake_now_ns() + delay_ms * 1000000ull;
}

/* {"KEY":VALUE}, KEY being the request up to its comma. */
static void fake_put_reply(struct fake_client *c, const char *request, const char *value)
{
    c->len = (size_t)snprintf(c->text, sizeof c->text, "{\"%.*s\":%s}", (int)strcspn(request, ","), request,
                              value);
}

static void fake_put_huge(struct fake_client *c, const char *request)
{
    size_t n =
        (size_t)snprintf(c->text, sizeof c->text, "{\"%.*s\":{\"a\":\"", (int)strcspn(request, ","), request);
    memset(c->text + n, 'x', sizeof c->text - n);
    c->len = sizeof c->text;
}

static void fake_put_deep(struct fake_client *c, const char *request)
{
    size_t n = (size_t)snprintf(c->text, sizeof c->text, "{\"%.*s\":", (int)strcspn(request, ","), request);
    memset(c->text + n, '[', 2000);
    memset(c->text + n + 2000, ']', 2000);
    c->text[n + 4000] = '}';
    c->len = n + 4001;
}

/* Fills the reply to any request but the list of commands. False: the connection is to be closed. */
static bool fake_answer(struct fake *f, struct fake_client *c, const char *request)
{
    const char *value = fake_value_of(request);
    unsigned delay =
        f->mode == FAKE_SLOW || (f->mode == FAKE_LATE_ONCE && f->answered == 0) ? f->delay_ms : 0;
    f->answered++;
    fake_put_reply(c, request, f->mode == FAKE_NULL ? "null" : value);
    if (f->mode == FAKE_DIE)
        return false;
    if (f->mode == FAKE_SILENT)
        return true;
    if (f->mode == FAKE_WRONG_KEY)
        fake_put_reply(c, strncmp(request, "/ethdev/list", 12) == 0 ? "/info" : "/ethdev/list", "[0,1]");
    if (f->mode == FAKE_WRONG_PORT)
        fake_put_reply(c, request, "{\"name\":\"another\",\"port_id\":99,\"lcore_id\":99}");
    if (f->mode == FAKE_NOT_JSON)
        fake_put_reply(c, request, "{\"name\":\"a\"b\"}");
    if (f->mode == FAKE_U64MAX)
        fake_put_reply(c, request,
                       "{\"ipackets\":18446744073709551615,\"opackets\":9223372036854775808,\"ibytes\":1}");
    if (f->mode == FAKE_DEEP)
        fake_put_deep(c, request);
    if (f->mode == FAKE_HUGE)
        fake_put_huge(c, request);
    fake_queue(c, delay);
    return true;
}

static bool fake_request(struct fake *f, struct fake_client *c)
{
    char request[1024];
    ssize_t n = recv(c->fd, request, sizeof request - 1, 0);
    if (n <= 0)
        return false;
    request[n] = '\0';
    fake_record(f, request);
    const char *line = fake_line_of(f, request);
    if (line) {
        c->len = (size_t)snprintf(c->text, sizeof c->text, "%s", line);
        fake_queue(c, f->mode == FAKE_SLOW ? f->delay_ms : 0);
        return true;
    }
    if (strcmp(request, "/") != 0)
        return fake_answer(f, c, request);
    fake_put_reply(c, "/", f->mode == FAKE_OLD ? "[" FAKE_ROOT_OLD "]" : "[" FAKE_ROOT "]");
    fake_queue(c, 0);
    return true;
}

static void fake_accept(struct fake *f)
{
    int fd = accept(f->listen_fd, NULL, NULL);
    if (fd < 0)
        return;
    pthread_mutex_lock(&f->lock);
    f->accepted++;
    pthread_mutex_unlock(&f->lock);
    size_t i = 0;
    while (i < FAKE_CLIENTS && f->clients[i].fd >= 0)
        i++;
    if (i == FAKE_CLIENTS || f->mode == FAKE_CLOSE) {
        close(fd);
        return;
    }
    struct fake_client *c = &f->clients[i];
    c->fd = fd;
    c->pending = false;
    if (f->mode == FAKE_MUTE)
        return;
    c->len = (size_t)snprintf(c->text, sizeof c->text,
                              "{\"version\":\"DPDK %s\",\"pid\":4242,\"max_output_len\":16384}",
                              f->mode == FAKE_OLD ? "22.11.11" : "24.11.0");
    if (f->mode == FAKE_BAD_GREETING)
        c->len = (size_t)snprintf(c->text, sizeof c->text, "220 mail ready");
    fake_queue(c, f->mode == FAKE_LATE_GREETING ? f->delay_ms : 0);
}

static void fake_send_due(struct fake *f, struct fake_client *c)
{
    unsigned extra = f->mode == FAKE_UNASKED && f->answered      ? 1
                     : f->mode == FAKE_FLOOD && f->answered == 1 ? 40
                                                                 : 0;
    c->pending = false;
    for (unsigned i = 0; i <= extra; i++)
        if (send(c->fd, c->text, c->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
    pthread_mutex_lock(&f->lock);
    f->sent += 1 + extra;
    pthread_mutex_unlock(&f->lock);
}

static void fake_drop(struct fake_client *c)
{
    close(c->fd);
    c->fd = -1;
}

/* Serves until a byte comes on stop[0]. */
static void fake_serve(struct fake *f)
{
    for (;;) {
        struct pollfd p[2 + FAKE_CLIENTS] = {{.fd = f->stop[0], .events = POLLIN},
                                             {.fd = f->listen_fd, .events = POLLIN}};
        uint64_t now = fake_now_ns();
        int timeout = -1;
        for (size_t i = 0; i < FAKE_CLIENTS; i++) {
            struct fake_client *c = &f->clients[i];
            if (c->fd >= 0 && c->pending && c->due_ns <= now)
                fake_send_due(f, c);
            if (c->fd >= 0 && c->pending)
                timeout = 1;
            p[2 + i] = (struct pollfd){.fd = c->pending ? -1 : c->fd, .events = POLLIN};
        }
        if (poll(p, 2 + FAKE_CLIENTS, timeout) < 0 && errno != EINTR)
            return;
        if (p[0].revents)
            return;
        for (size_t i = 0; i < FAKE_CLIENTS; i++)
            if (p[2 + i].fd >= 0 && p[2 + i].revents && !fake_request(f, &f->clients[i]))
                fake_drop(&f->clients[i]);
        if (p[1].revents)
            fake_accept(f);
    }
}

/* A server listening on path, not yet serving; NULL with errno set. */
static struct fake *fake_new(const char *path, enum fake_mode mode, unsigned delay_ms)
{
    struct fake *f = calloc(1, sizeof *f);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!f)
        return NULL;
    f->mode = mode;
    f->delay_ms = delay_ms;
    pthread_mutex_init(&f->lock, NULL);
    for (size_t i = 0; i < FAKE_CLIENTS; i++)
        f->clients[i].fd = -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path);
    f->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (f->listen_fd < 0 || bind(f->listen_fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(f->listen_fd, 1) < 0 || pipe(f->stop) < 0) {
        free(f);
        return NULL;
    }
    return f;
}

static void fake_free(struct fake *f)
{
    for (size_t i = 0; i < FAKE_CLIENTS; i++)
        if (f->clients[i].fd >= 0)
            close(f->clients[i].fd);
    for (size_t i = 0; i < f->n_log; i++)
        free(f->log[i]);
    for (size_t i = 0; i < f->n_lines; i++)
        free(f->lines[i].request); /* the reply is in the same block */
    free(f->lines);
    close(f->listen_fd);
    close(f->stop[0]);
    close(f->stop[1]);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

#ifndef FAKE_TELEMETRY_INCLUDED
static bool fake_load(struct fake *f, const char *file)
{
    char *line = NULL;
    size_t cap = 0;
    FILE *in = fopen(file, "re");
    if (!in)
        return false;
    while (getline(&line, &cap, in) > 0) {
        struct fake_line *lines = realloc(f->lines, (f->n_lines + 1) * sizeof *lines);
        if (!lines)
            break;
        f->lines = lines;
        line[strcspn(line, "\n")] = '\0';
        char *tab = strchr(line, '\t');
        if (!tab)
            continue;
        *tab = '\0';
        lines[f->n_lines++] = (struct fake_line){.request = line, .reply = tab + 1};
        line = NULL;
        cap = 0;
    }
    free(line);
    fclose(in);
    return true;
}

int main(int argc, char **argv)
{
    unsigned mode = 0;
    if (argc < 2 || argc > 6) {
        fprintf(stderr, "usage: fake_telemetry SOCKET [MODE [DELAY_MS [REPLIES [LOG]]]]\nmodes:");
        for (unsigned i = 0; i < FAKE_MODES; i++)
            fprintf(stderr, " %s", fake_mode_names[i]);
        fprintf(stderr, "\n");
        return 2;
    }
    while (argc > 2 && mode < FAKE_MODES && strcmp(fake_mode_names[mode], argv[2]) != 0)
        mode++;
    if (mode == FAKE_MODES) {
        fprintf(stderr, "fake_telemetry: no mode %s\n", argv[2]);
        return 2;
    }
    struct fake *f =
        fake_new(argv[1], (enum fake_mode)mode, argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0);
    if (!f) {
        fprintf(stderr, "fake_telemetry: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    if (argc > 4 && !fake_load(f, argv[4])) {
        fprintf(stderr, "fake_telemetry: %s: %s\n", argv[4], strerror(errno));
        return 1;
    }
    if (argc > 5)
        f->log_file = fopen(argv[5], "we");
    fake_serve(f); /* until killed */
    fake_free(f);
    return 0;
}
#endif
