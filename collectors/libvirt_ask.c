/* SPDX-License-Identifier: MIT */
/* Calls for bulk statistics, each in a thread of its own (see libvirt_ask.h). */
#include "collectors/libvirt_ask.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "collectors/libvirt_api.h"
#include "collectors/libvirt_conn.h"
#include "src/clock.h"
#include "src/memory.h"
#include "src/thread.h"

#define NS_PER_MS INT64_C(1000000)

/* One call. Its thread and whoever waits for it hold a reference each. */
struct libvirt_ask {
    atomic_int refs;
    virConnectPtr conn;
    unsigned stats;
    int done_fd; /* readable when the answer is there */
    struct libvirt_answer answer;
};

void libvirt_answer_free(struct libvirt_answer *answer)
{
    if (answer->records)
        vir.DomainStatsRecordListFree(answer->records);
    *answer = (struct libvirt_answer){0};
}

static void ask_unref(struct libvirt_ask *ask)
{
    if (atomic_fetch_sub(&ask->refs, 1) != 1)
        return;
    libvirt_answer_free(&ask->answer);
    vir.ConnectClose(ask->conn);
    if (ask->done_fd >= 0)
        close(ask->done_fd);
    free(ask);
}

static void *run(void *arg)
{
    struct libvirt_ask *ask = arg;
    struct libvirt_answer *answer = &ask->answer;
    uint64_t one = 1;
    answer->wall_ns = clock_wall_ns();
    answer->t0_ns = clock_mono_ns();
    answer->n = vir.ConnectGetAllDomainStats(ask->conn, ask->stats, &answer->records,
                                             VIR_CONNECT_GET_ALL_DOMAINS_STATS_ACTIVE |
                                                 VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT);
    answer->t1_ns = clock_mono_ns();
    if (answer->n < 0)
        snprintf(answer->error, sizeof(answer->error), "%s", libvirt_conn_error());
    while (write(ask->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    ask_unref(ask);
    return NULL;
}

static struct libvirt_ask *start(virConnectPtr conn, unsigned stats)
{
    struct libvirt_ask *ask = xzalloc(sizeof(*ask));
    atomic_init(&ask->refs, 1);
    ask->stats = stats;
    ask->conn = conn;
    vir.ConnectRef(conn);
    ask->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = ask->done_fd < 0 ? errno : 0;
    if (rc == 0) {
        atomic_fetch_add(&ask->refs, 1);
        rc = thread_start_detached("vt-libvirt-ask", run, ask); /* nobody waits for one that is late */
        if (rc)
            ask_unref(ask);
    }
    if (rc == 0)
        return ask;
    ask_unref(ask);
    errno = rc;
    return NULL;
}

/* Waits for the first of the calls to end; its number, -1 after the time, -2 when stop_fd became readable. */
static int wait_for_any(struct libvirt_ask *const *asks, size_t n, int64_t limit_ns, int stop_fd)
{
    struct pollfd fds[LIBVIRT_LATE_MAX + 1];
    for (size_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = asks[i]->done_fd, .events = POLLIN};
    fds[n] = (struct pollfd){.fd = stop_fd, .events = POLLIN};
    int wait_ms = limit_ns < 0 ? -1 : (int)(limit_ns / NS_PER_MS);
    while (poll(fds, n + 1, wait_ms) < 0 && errno == EINTR)
        ;
    if (fds[n].revents)
        return -2;
    for (size_t i = 0; i < n; i++)
        if (fds[i].revents)
            return (int)i;
    return -1;
}

static void drop_late(struct libvirt_asker *asker, size_t at)
{
    ask_unref(asker->late[at]);
    asker->late[at] = asker->late[--asker->n_late];
}

/* Late calls that have ended meanwhile make room; without room their end is waited for. */
static bool make_room(struct libvirt_asker *asker, int stop_fd)
{
    int ended;
    while ((ended = wait_for_any(asker->late, asker->n_late, asker->n_late < LIBVIRT_LATE_MAX ? 0 : -1,
                                 stop_fd)) >= 0)
        drop_late(asker, (size_t)ended);
    return ended == -1;
}

/* The read is what orders the thread's writes before ours. */
static void take_answer(struct libvirt_ask *ask, struct libvirt_answer *answer)
{
    uint64_t one;
    while (read(ask->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    *answer = ask->answer;
    ask->answer = (struct libvirt_answer){0};
    ask_unref(ask);
}

bool libvirt_asker_ask(struct libvirt_asker *asker, unsigned stats, int64_t limit_ns, int stop_fd,
                       struct libvirt_answer *answer)
{
    while (make_room(asker, stop_fd)) {
        struct libvirt_ask *ask = start(asker->conn, stats);
        if (!ask)
            return false;
        int ended = wait_for_any(&ask, 1, limit_ns, stop_fd);
        if (ended == 0) {
            take_answer(ask, answer);
            return true;
        }
        asker->late[asker->n_late++] = ask;
    }
    errno = ECANCELED;
    return false;
}

void libvirt_asker_clear(struct libvirt_asker *asker)
{
    while (asker->n_late > 0)
        drop_late(asker, 0);
}
