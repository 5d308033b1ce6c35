/* SPDX-License-Identifier: MIT */
/*
 * What the bench programs share: CPU times of one thing against another, taken in turn within one run, for a
 * machine that is shared and noisy; their medians and minimums; and the bare netlink dump that all is
 * compared with.
 */
#ifndef VNETTOP_BENCH_H
#define VNETTOP_BENCH_H

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/clock.h"

#define BENCH_MAX 4096

/* Times of one thing, ns. */
struct times {
    size_t n;
    uint64_t ns[BENCH_MAX];
};

static inline void times_add(struct times *times, uint64_t ns)
{
    if (times->n < BENCH_MAX)
        times->ns[times->n++] = ns;
}

static inline int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The given part of the times is not longer, in ms: 0 = the minimum, 0.5 = the median. */
static inline double times_ms(struct times *times, double part)
{
    if (times->n == 0)
        return 0;
    qsort(times->ns, times->n, sizeof(times->ns[0]), compare_u64);
    return (double)times->ns[(size_t)((double)(times->n - 1) * part)] / 1e6;
}

static inline void die(const char *what)
{
    perror(what);
    exit(2);
}

/* A target and what became of it; returns the number of targets missed. */
static inline int judge(double value, double target)
{
    printf("   target %g: %s", target, value <= target ? "met" : "MISSED");
    return value > target;
}

struct dump_request {
    struct nlmsghdr head;
    union {
        struct if_stats_msg stats;
        struct ifinfomsg link;
    } body;
};

static inline int dump_socket(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0)
        die("socket");
    int bytes = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    return fd;
}

/* Nothing but the dump: asked, received, walked to its end. Returns the number of links. */
static inline int bare_dump(int fd, int type)
{
    static char buffer[65536];
    struct dump_request request = {
        .head = {.nlmsg_type = (uint16_t)type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
    size_t body = sizeof(request.body.link);
    if (type == RTM_GETSTATS) {
        body = sizeof(request.body.stats);
        request.body.stats.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    }
    request.head.nlmsg_len = NLMSG_LENGTH(body);
    if (send(fd, &request, request.head.nlmsg_len, 0) < 0)
        die("send");
    for (int links = 0;;) {
        ssize_t got = recv(fd, buffer, sizeof(buffer), 0);
        if (got < 0)
            die("recv");
        int left = (int)got;
        for (struct nlmsghdr *message = (struct nlmsghdr *)buffer; NLMSG_OK(message, left);
             message = NLMSG_NEXT(message, left)) {
            if (message->nlmsg_type == NLMSG_DONE)
                return links;
            if (message->nlmsg_type == NLMSG_ERROR)
                exit(2);
            links++;
        }
    }
}

#endif
