/* SPDX-License-Identifier: MIT */
/*
 * What the netlink collectors cost on a thousand links, in CPU time and against the bare dumps of the same
 * run: a read of the fast one takes at most twice the bare RTM_GETSTATS dump. Prints the numbers; `make
 * bench` runs it. With sanitizers the numbers are printed and not judged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/if_link.h>
#include <time.h>

#include "netlink_hand.h"

#define PAIRS  500
#define ROUNDS 100

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The least a program can do: send, and receive to the end. */
static void bare_dump(struct nl_chan *chan, struct nl_msg *request)
{
    struct nlmsghdr *head = nlmsg_hdr(request);
    head->nlmsg_seq = ++chan->seq;
    assert_true(send(chan->fd, head, head->nlmsg_len, 0) > 0);
    for (bool done = false; !done;) {
        int left = (int)recv(chan->fd, chan->buffer, chan->size, 0);
        assert_true(left > 0);
        struct nlmsghdr *message = (struct nlmsghdr *)chan->buffer;
        for (; nlmsg_ok(message, left); message = nlmsg_next(message, &left))
            done |= message->nlmsg_type == NLMSG_DONE;
    }
}

struct subject {
    const char *what;
    struct nl_msg *request; /* a bare dump, or */
    struct probe probe;     /* a collector */
    struct sample *last;
    double best_ms;
};

static void run_once(struct hand *hand, struct subject *subject)
{
    double start = cpu_ms();
    struct sample *sample = NULL;
    if (subject->request)
        bare_dump(&hand->chan, subject->request);
    else
        sample = probe_read(&subject->probe);
    double took = cpu_ms() - start;
    /* As a feed does: the one before is held until the next has come. */
    sample_unref(subject->last);
    subject->last = sample;
    subject->best_ms = subject->best_ms == 0 || took < subject->best_ms ? took : subject->best_ms;
}

static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
}

static void make_links(struct hand *hand)
{
    char name[16], peer[16];
    assert_int_equal(make_link(hand, "br", "bridge", 0), 0);
    for (int i = 0; i < PAIRS; i++) {
        snprintf(name, sizeof(name), "a%d", i);
        snprintf(peer, sizeof(peer), "b%d", i);
        assert_int_equal(make_pair(hand, name, peer), 0);
        if (i % 2)
            assert_int_equal(set_u32(hand, name, IFLA_MASTER, (uint32_t)index_of("br")), 0);
    }
}

static void test_cost(void **state)
{
    (void)state;
    struct hand hand;
    struct if_stats_msg stats = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)};
    struct ifinfomsg link = {0};
    struct subject subjects[] = {
        {.what = "bare RTM_GETSTATS",
         .request = nl_chan_request(RTM_GETSTATS, NLM_F_DUMP, &stats, sizeof(stats))},
        {.what = "bare RTM_GETLINK",
         .request = nl_chan_request(RTM_GETLINK, NLM_F_DUMP, &link, sizeof(link))},
        {.what = "netlink"},
        {.what = "netlink without RTM_GETSTATS"},
        {.what = "netlink-queues"},
    };
    size_t n = sizeof(subjects) / sizeof(subjects[0]);
    begin_case(&hand);
    make_links(&hand);
    probe_open(&subjects[2].probe, &netlink_collector, NULL);
    probe_open(&subjects[3].probe, &netlink_collector, NULL);
    probe_open(&subjects[4].probe, &netlink_queues_collector, NULL);
    netlink_without_getstats(subjects[3].probe.state);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < n; i++)
            run_once(&hand, &subjects[i]);
    size_t rows = subjects[2].last->set[TABLE_PORTS].n;
    for (size_t i = 0; i < n; i++) {
        print_message("%zu links: %-28s %7.3f ms, %5.2f of bare RTM_GETSTATS\n", rows, subjects[i].what,
                      subjects[i].best_ms, subjects[i].best_ms / subjects[0].best_ms);
        sample_unref(subjects[i].last);
        if (subjects[i].request)
            nlmsg_free(subjects[i].request);
        else
            probe_close(&subjects[i].probe);
    }
    assert_true(rows > 1000);
    assert_true(is_sanitized() || subjects[2].best_ms <= 2 * subjects[0].best_ms);
    end_case(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
