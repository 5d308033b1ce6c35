/* SPDX-License-Identifier: MIT */
/*
 * The telemetry client against a server with each bad habit: late, silent, mute, wrong, too long, gone. The
 * last test looks at all requests that the servers of this program got: none may be off the list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "collectors/telemetry.h"

#define FAKE_TELEMETRY_INCLUDED
#include "fakes/fake_telemetry.c"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FAR_NS   (20 * 1000000000ull) /* a deadline that only a hanging test meets */

static enum telemetry_command command_of(const char *request)
{
    size_t n = strcspn(request, ",");
    for (unsigned i = 0; i < TELEMETRY_COMMANDS; i++) {
        const char *name = telemetry_command_name((enum telemetry_command)i);
        if (strlen(name) == n && strncmp(name, request, n) == 0)
            return (enum telemetry_command)i;
    }
    return TELEMETRY_COMMANDS;
}

struct server {
    struct fake *fake;
    pthread_t thread;
};

static char folder[] = "/tmp/vnettop-test-XXXXXX";
static char socket_path[64];
static char *all_requests[FAKE_LOG_MAX]; /* of all servers */
static size_t n_all_requests;

static void *serve(void *arg)
{
    fake_serve(arg);
    return NULL;
}

static struct server start_server_at(const char *path, enum fake_mode mode, unsigned delay_ms)
{
    struct server s = {.fake = fake_new(path, mode, delay_ms)};
    assert_non_null(s.fake);
    assert_int_equal(pthread_create(&s.thread, NULL, serve, s.fake), 0);
    return s;
}

static struct server start_server(enum fake_mode mode, unsigned delay_ms)
{
    return start_server_at(socket_path, mode, delay_ms);
}

static void stop_server(struct server *s)
{
    assert_int_equal(write(s->fake->stop[1], "", 1), 1);
    pthread_join(s->thread, NULL);
    for (size_t i = 0; i < s->fake->n_log && n_all_requests < FAKE_LOG_MAX; i++)
        all_requests[n_all_requests++] = strdup(s->fake->log[i]);
    fake_free(s->fake);
}

static unsigned read_locked(struct fake *f, const unsigned *value)
{
    pthread_mutex_lock(&f->lock);
    unsigned v = *value;
    pthread_mutex_unlock(&f->lock);
    return v;
}

static uint64_t in_ms(unsigned ms)
{
    return fake_now_ns() + ms * 1000000ull;
}

static uint64_t far_off(void)
{
    return fake_now_ns() + FAR_NS;
}

static char err[512];

static struct telemetry *connected_client(int stop_fd)
{
    struct telemetry *t = telemetry_new("/", socket_path, stop_fd);
    assert_non_null(t);
    if (telemetry_connect(t, far_off(), err, sizeof err) != TELEMETRY_OK)
        fail_msg("%s", err);
    return t;
}

static enum telemetry_status ask_stats(struct telemetry *t, uint32_t port, uint64_t deadline_ns,
                                       struct telemetry_stats *stats)
{
    struct telemetry_reply reply;
    err[0] = '\0';
    enum telemetry_status status =
        telemetry_ask(t, TELEMETRY_ETHDEV_STATS, port, deadline_ns, &reply, err, sizeof err);
    if (status == TELEMETRY_OK)
        return telemetry_parse_stats(&reply, stats);
    assert_non_null(strstr(err, socket_path)); /* an error names the thing */
    return status;
}

static void test_client_talks(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_NORMAL, 0);
    struct telemetry *t = connected_client(-1);
    struct telemetry_stats stats;
    struct telemetry_reply reply;
    struct telemetry_pool pool;
    struct telemetry_xstats xstats = {0};
    uint64_t before = fake_now_ns();
    assert_true(telemetry_connected(t));
    assert_string_equal(telemetry_hello(t)->version, "DPDK 24.11.0");
    assert_int_equal(telemetry_hello(t)->pid, 4242);
    assert_int_equal(telemetry_peer_pid(t), getpid()); /* what the kernel says, not what the peer says */
    for (unsigned i = 0; i < TELEMETRY_COMMANDS; i++)
        assert_true(telemetry_offers(t, (enum telemetry_command)i));
    assert_int_equal(ask_stats(t, 0, far_off(), &stats), TELEMETRY_OK);
    assert_true(stats.has == 0xff && stats.ipackets == 1000 && stats.oerrors == 3);
    assert_int_equal(telemetry_ask_xstats(t, 0, true, far_off(), &reply, err, sizeof err), TELEMETRY_OK);
    assert_int_equal(telemetry_parse_xstats(&reply, &xstats), TELEMETRY_OK);
    assert_true(xstats.zeros_hidden && xstats.n == 3);
    assert_true(before <= reply.sent_ns && reply.sent_ns <= reply.received_ns &&
                reply.received_ns <= fake_now_ns());
    assert_int_equal(telemetry_ask_pool(t, "mb_pool_0", far_off(), &reply, err, sizeof err), TELEMETRY_OK);
    assert_int_equal(telemetry_parse_pool(&reply, &pool), TELEMETRY_OK);
    assert_true(pool.in_use == 16384 - 241 - 15631);
    assert_int_equal(ask_stats(t, 7, far_off(), &stats), TELEMETRY_NONE);
    for (unsigned i = 0; i < TELEMETRY_COMMANDS; i++) {
        enum telemetry_command c = (enum telemetry_command)i;
        if (telemetry_command_argument(c) == TELEMETRY_POOL_NAME)
            continue;
        assert_int_equal(telemetry_ask(t, c, 1, far_off(), &reply, err, sizeof err),
                         c == TELEMETRY_ETHDEV_XSTATS ? TELEMETRY_NONE : TELEMETRY_OK);
    }
    assert_int_equal(read_locked(s.fake, &s.fake->accepted), 1);
    telemetry_xstats_free(&xstats);
    telemetry_free(t);
    telemetry_free(NULL);
    stop_server(&s);
}

/* Before 23.03 hide_zero and unknown commands only make noise in the application's log. */
static void test_client_spares_old_servers(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_OLD, 0);
    struct telemetry *t = connected_client(-1);
    struct telemetry_reply reply;
    assert_int_equal(telemetry_hello(t)->release, 2211);
    assert_int_equal(telemetry_ask_xstats(t, 0, true, far_off(), &reply, err, sizeof err), TELEMETRY_OK);
    assert_false(reply.zeros_hidden);
    assert_int_equal(telemetry_ask(t, TELEMETRY_LCORE_USAGE, 0, far_off(), &reply, err, sizeof err),
                     TELEMETRY_UNSUPPORTED);
    assert_int_equal(telemetry_ask(t, TELEMETRY_LCORE_INFO, 0, far_off(), &reply, err, sizeof err),
                     TELEMETRY_UNSUPPORTED);
    assert_int_equal(telemetry_ask(t, TELEMETRY_ETHDEV_STATS, 65536, far_off(), &reply, err, sizeof err),
                     TELEMETRY_UNSUPPORTED); /* port 0 there */
    static const char *const names[] = {"", "a,b", "a b", "a\n", "\xc3\xa9", "/ethdev/rx_queue,0,0"};
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(telemetry_ask_pool(t, names[i], far_off(), &reply, err, sizeof err),
                         TELEMETRY_UNSUPPORTED);
    telemetry_free(t);
    pthread_mutex_lock(&s.fake->lock);
    assert_int_equal(s.fake->n_log, 2);
    assert_string_equal(s.fake->log[0], "/");
    assert_string_equal(s.fake->log[1], "/ethdev/xstats,0");
    pthread_mutex_unlock(&s.fake->lock);
    stop_server(&s);
}

static void test_commands_off_the_enum_are_not_sent(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_NORMAL, 0);
    struct telemetry *t = connected_client(-1);
    struct telemetry_reply reply;
    for (unsigned i = TELEMETRY_COMMANDS; i < 70; i++)
        assert_int_equal(telemetry_ask(t, (enum telemetry_command)i, 0, far_off(), &reply, err, sizeof err),
                         TELEMETRY_UNSUPPORTED);
    assert_int_equal(telemetry_ask(t, TELEMETRY_MEMPOOL_INFO, 0, far_off(), &reply, err, sizeof err),
                     TELEMETRY_UNSUPPORTED);
    telemetry_free(t);
    assert_int_equal(s.fake->n_log, 1);
    stop_server(&s);
}

/* Replies that are wrong in themselves; the connection stays in step, and is used again at once. */
static void test_bad_replies(void **state)
{
    (void)state;
    static const struct {
        enum fake_mode mode;
        enum telemetry_status status;
    } cases[] = {{FAKE_NULL, TELEMETRY_NONE},
                 {FAKE_WRONG_KEY, TELEMETRY_GARBLED},
                 {FAKE_NOT_JSON, TELEMETRY_UNREADABLE},
                 {FAKE_DEEP, TELEMETRY_UNREADABLE},
                 {FAKE_HUGE, TELEMETRY_TRUNCATED}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct server s = start_server(cases[i].mode, 0);
        struct telemetry *t = connected_client(-1);
        struct telemetry_stats stats;
        for (int again = 0; again < 3; again++) {
            assert_int_equal(ask_stats(t, 0, far_off(), &stats), cases[i].status);
            assert_int_equal(telemetry_owed(t), 0);
        }
        assert_true(telemetry_connected(t));
        assert_int_equal(telemetry_discarded(t), 0);
        telemetry_free(t);
        assert_int_equal(s.fake->accepted, 1);
        stop_server(&s);
    }
}

static void test_counters_up_to_the_end(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_U64MAX, 0);
    struct telemetry *t = connected_client(-1);
    struct telemetry_stats stats;
    assert_int_equal(ask_stats(t, 0, far_off(), &stats), TELEMETRY_OK);
    assert_true(stats.ipackets == UINT64_MAX && stats.opackets == (uint64_t)INT64_MAX + 1 &&
                stats.ibytes == 1);
    assert_int_equal(stats.has, TELEMETRY_HAS_IPACKETS | TELEMETRY_HAS_OPACKETS | TELEMETRY_HAS_IBYTES);
    telemetry_free(t);
    stop_server(&s);
}

static void test_answers_about_another(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_WRONG_PORT, 0);
    struct telemetry *t = connected_client(-1);
    struct telemetry_reply reply;
    assert_int_equal(telemetry_ask(t, TELEMETRY_ETHDEV_INFO, 0, far_off(), &reply, err, sizeof err),
                     TELEMETRY_GARBLED);
    assert_int_equal(telemetry_ask(t, TELEMETRY_LCORE_INFO, 0, far_off(), &reply, err, sizeof err),
                     TELEMETRY_GARBLED);
    assert_int_equal(telemetry_ask_pool(t, "mb_pool_0", far_off(), &reply, err, sizeof err),
                     TELEMETRY_GARBLED);
    telemetry_free(t);
    stop_server(&s);
}

/* The trap: the late answer about port 0 has the key that the request about port 1 waits for. */
static void test_late_reply_is_not_the_next_ones(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_LATE_ONCE, 200);
    struct telemetry *t = connected_client(-1);
    struct telemetry_stats stats;
    assert_int_equal(ask_stats(t, 0, in_ms(20), &stats), TELEMETRY_TIMEOUT);
    assert_int_equal(telemetry_owed(t), 1);
    assert_int_equal(ask_stats(t, 1, in_ms(5), &stats), TELEMETRY_TIMEOUT); /* still owed: nothing is sent */
    assert_int_equal(telemetry_owed(t), 1);
    assert_int_equal(ask_stats(t, 1, far_off(), &stats), TELEMETRY_OK);
    assert_true(stats.ipackets == 1 && stats.opackets == 2);
    assert_int_equal(telemetry_discarded(t), 1);
    assert_int_equal(ask_stats(t, 0, far_off(), &stats), TELEMETRY_OK);
    assert_true(stats.ipackets == 1000);
    telemetry_free(t);
    assert_int_equal(s.fake->accepted, 1);
    assert_int_equal(s.fake->n_log, 4); /* list, 0, 1, 0 */
    stop_server(&s);
}

static void test_unasked_replies_are_not_taken(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_UNASKED, 0);
    struct telemetry *t = connected_client(-1);
    struct telemetry_stats stats;
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(ask_stats(t, i % 2, far_off(), &stats), TELEMETRY_OK);
        assert_true(stats.ipackets == (i % 2 ? 1 : 1000));
        while (read_locked(s.fake, &s.fake->sent) < 2 + 2 * (i + 1)) /* greeting, list, then two each */
            sched_yield();
    }
    assert_int_equal(telemetry_discarded(t), 5);
    telemetry_free(t);
    stop_server(&s);
    s = start_server(FAKE_FLOOD, 0);
    t = connected_client(-1);
    assert_int_equal(ask_stats(t, 0, far_off(), &stats), TELEMETRY_OK);
    while (read_locked(s.fake, &s.fake->sent) < 43)
        sched_yield();
    assert_int_equal(ask_stats(t, 0, far_off(), &stats), TELEMETRY_FAILED);
    assert_false(telemetry_connected(t));
    telemetry_free(t);
    stop_server(&s);
}

/* One place of ten and one request, however long it hangs. */
static void test_silent_server_costs_one_request(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_SILENT, 0);
    struct telemetry *t = connected_client(-1);
    struct telemetry_stats stats;
    for (int i = 0; i < 10; i++) {
        uint64_t deadline = in_ms(10), done;
        assert_int_equal(ask_stats(t, 0, deadline, &stats), TELEMETRY_TIMEOUT);
        done = fake_now_ns();
        assert_true(done >= deadline && done < deadline + FAR_NS / 2);
    }
    assert_int_equal(ask_stats(t, 0, 1, &stats), TELEMETRY_TIMEOUT); /* a deadline long past */
    telemetry_free(t);
    assert_int_equal(s.fake->accepted, 1);
    assert_int_equal(s.fake->n_log, 2);
    stop_server(&s);
}

static void test_slow_server_within_the_deadline(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_SLOW, 30);
    struct telemetry *t = connected_client(-1);
    struct telemetry_stats stats;
    assert_int_equal(ask_stats(t, 1, far_off(), &stats), TELEMETRY_OK);
    assert_true(stats.opackets == 2);
    telemetry_free(t);
    stop_server(&s);
}

static void test_greeting_is_waited_for_on_one_connection(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_LATE_GREETING, 150);
    struct telemetry *t = telemetry_new("/", socket_path, -1);
    enum telemetry_status status;
    unsigned tries = 0;
    while ((status = telemetry_connect(t, in_ms(10), err, sizeof err)) == TELEMETRY_TIMEOUT && tries < 2000)
        tries++;
    assert_int_equal(status, TELEMETRY_OK);
    assert_true(tries > 0);
    assert_int_equal(read_locked(s.fake, &s.fake->accepted), 1);
    telemetry_free(t);
    stop_server(&s);
    s = start_server(FAKE_MUTE, 0);
    t = telemetry_new("/", socket_path, -1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(telemetry_connect(t, in_ms(5), err, sizeof err), TELEMETRY_TIMEOUT);
    assert_false(telemetry_connected(t));
    telemetry_free(t);
    assert_int_equal(s.fake->accepted, 1);
    stop_server(&s);
}

static void test_no_telemetry_behind_the_socket(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_BAD_GREETING, 0);
    struct telemetry *t = telemetry_new("/", socket_path, -1);
    assert_int_equal(telemetry_connect(t, far_off(), err, sizeof err), TELEMETRY_UNREADABLE);
    assert_non_null(strstr(err, "not a DPDK telemetry socket"));
    telemetry_free(t);
    stop_server(&s);
}

static void test_ten_clients_already(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_NORMAL, 0);
    struct telemetry *t[11];
    struct telemetry_stats stats;
    for (size_t i = 0; i < 10; i++)
        t[i] = connected_client(-1);
    t[10] = telemetry_new("/", socket_path, -1);
    assert_int_equal(telemetry_connect(t[10], far_off(), err, sizeof err), TELEMETRY_FULL);
    assert_non_null(strstr(err, "10 clients"));
    assert_int_equal(ask_stats(t[0], 0, far_off(), &stats), TELEMETRY_OK);
    telemetry_free(t[3]);
    enum telemetry_status status; /* the place is free once the server has seen the end */
    while ((status = telemetry_connect(t[10], far_off(), err, sizeof err)) == TELEMETRY_FULL)
        sched_yield();
    assert_int_equal(status, TELEMETRY_OK);
    for (size_t i = 0; i < COUNT(t); i++)
        if (i != 3)
            telemetry_free(t[i]);
    stop_server(&s);
}

static void test_ends_of_a_connection(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_DIE, 0);
    struct telemetry *t = connected_client(-1);
    struct telemetry_stats stats;
    assert_int_equal(ask_stats(t, 0, far_off(), &stats), TELEMETRY_GONE);
    assert_false(telemetry_connected(t));
    assert_int_equal(ask_stats(t, 0, far_off(), &stats),
                     TELEMETRY_GONE); /* not connected: says so, sends nothing */
    assert_int_equal(telemetry_connect(t, far_off(), err, sizeof err), TELEMETRY_OK);
    stop_server(&s); /* the file stays, as after SIGKILL */
    assert_int_equal(ask_stats(t, 0, far_off(), &stats), TELEMETRY_GONE);
    assert_int_equal(telemetry_connect(t, far_off(), err, sizeof err), TELEMETRY_STALE);
    unlink(socket_path);
    assert_int_equal(telemetry_connect(t, far_off(), err, sizeof err), TELEMETRY_GONE);
    telemetry_free(t);
    s = start_server(FAKE_CLOSE, 0);
    t = telemetry_new("/", socket_path, -1);
    assert_int_equal(telemetry_connect(t, far_off(), err, sizeof err), TELEMETRY_FULL);
    telemetry_free(t);
    stop_server(&s);
}

struct stopper {
    struct fake *fake;
    int fd;
};

/* Tells the client to stop once its request has arrived. */
static void *stop_later(void *arg)
{
    struct stopper *s = arg;
    size_t n = 0;
    while (n < 2) {
        pthread_mutex_lock(&s->fake->lock);
        n = s->fake->n_log;
        pthread_mutex_unlock(&s->fake->lock);
        sched_yield();
    }
    eventfd_write(s->fd, 1);
    return NULL;
}

static void test_stop_while_blocked(void **state)
{
    (void)state;
    struct server s = start_server(FAKE_SILENT, 0);
    struct stopper stopper = {.fake = s.fake, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    struct telemetry *t = connected_client(stopper.fd);
    struct telemetry_stats stats;
    pthread_t thread;
    uint64_t start = fake_now_ns();
    assert_int_equal(pthread_create(&thread, NULL, stop_later, &stopper), 0);
    assert_int_equal(ask_stats(t, 0, far_off(), &stats), TELEMETRY_STOPPED);
    assert_true(fake_now_ns() - start < FAR_NS / 2);
    pthread_join(thread, NULL);
    uint64_t count;
    assert_int_equal(read(stopper.fd, &count, sizeof count), sizeof count); /* it was left to its owner */
    telemetry_free(t);
    close(stopper.fd);
    stop_server(&s);
}

/* A full backlog: connect() gives EAGAIN, which no poll tells the end of. */
static void test_backlog_full(void **state)
{
    (void)state;
    struct fake *nobody = fake_new(socket_path, FAKE_NORMAL, 0); /* listens, does not accept */
    struct telemetry *t[4];
    unsigned n_waiting = 0;
    for (size_t i = 0; i < COUNT(t); i++) {
        t[i] = telemetry_new("/", socket_path, -1);
        assert_int_equal(telemetry_connect(t[i], in_ms(5), err, sizeof err), TELEMETRY_TIMEOUT);
        n_waiting += strstr(err, "accepted") != NULL;
    }
    assert_true(n_waiting >= 1);
    struct server s = {.fake = nobody};
    assert_int_equal(pthread_create(&s.thread, NULL, serve, nobody), 0);
    for (size_t i = 0; i < COUNT(t); i++) {
        assert_int_equal(telemetry_connect(t[i], far_off(), err, sizeof err), TELEMETRY_OK);
        telemetry_free(t[i]);
    }
    assert_int_equal(s.fake->accepted, COUNT(t));
    stop_server(&s);
}

/* The file of a container may lie deeper than sun_path reaches. */
static void test_path_longer_than_an_address(void **state)
{
    (void)state;
    char deep[200], here[512];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(deep, sizeof deep, "%s/%0120d", folder, 0);
    assert_int_equal(mkdir(deep, 0700), 0);
    assert_int_equal(chdir(deep), 0);
    struct server s = start_server_at("dpdk_telemetry.v2", FAKE_NORMAL, 0);
    assert_int_equal(chdir(here), 0);
    struct telemetry *t = telemetry_new(deep, "/dpdk_telemetry.v2", -1);
    if (telemetry_connect(t, far_off(), err, sizeof err) != TELEMETRY_OK)
        fail_msg("%s", err);
    telemetry_free(t);
    stop_server(&s);
    char file[240];
    snprintf(file, sizeof file, "%s/dpdk_telemetry.v2", deep);
    unlink(file);
    rmdir(deep);
}

static void test_nothing_off_the_list_was_ever_sent(void **state)
{
    (void)state;
    bool seen[TELEMETRY_COMMANDS] = {false};
    static const char *const never[] = {"/ethdev/rx_queue", "/ethdev/tx_queue", "/ethdev/dump_priv"};
    for (size_t i = 0; i < n_all_requests; i++) {
        enum telemetry_command command = command_of(all_requests[i]);
        if (command == TELEMETRY_COMMANDS)
            fail_msg("sent: %s", all_requests[i]);
        seen[command] = true;
    }
    for (unsigned i = 0; i < TELEMETRY_COMMANDS; i++)
        assert_true(seen[i]); /* the test means something only if all were tried */
    for (size_t i = 0; i < COUNT(never); i++)
        assert_int_equal(command_of(never[i]), TELEMETRY_COMMANDS);
    for (unsigned i = 0; i < FAKE_MODES; i++)
        assert_non_null(fake_mode_names[i]);
}

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(socket_path, sizeof socket_path, "%s/dpdk_telemetry.v2", folder);
    (void)state;
    return 0;
}

static int remove_folder(void **state)
{
    unlink(socket_path);
    rmdir(folder);
    for (size_t i = 0; i < n_all_requests; i++)
        free(all_requests[i]);
    (void)state;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_talks),
        cmocka_unit_test(test_client_spares_old_servers),
        cmocka_unit_test(test_commands_off_the_enum_are_not_sent),
        cmocka_unit_test(test_bad_replies),
        cmocka_unit_test(test_counters_up_to_the_end),
        cmocka_unit_test(test_answers_about_another),
        cmocka_unit_test(test_late_reply_is_not_the_next_ones),
        cmocka_unit_test(test_unasked_replies_are_not_taken),
        cmocka_unit_test(test_silent_server_costs_one_request),
        cmocka_unit_test(test_slow_server_within_the_deadline),
        cmocka_unit_test(test_greeting_is_waited_for_on_one_connection),
        cmocka_unit_test(test_no_telemetry_behind_the_socket),
        cmocka_unit_test(test_ten_clients_already),
        cmocka_unit_test(test_ends_of_a_connection),
        cmocka_unit_test(test_stop_while_blocked),
        cmocka_unit_test(test_backlog_full),
        cmocka_unit_test(test_path_longer_than_an_address),
        cmocka_unit_test(test_nothing_off_the_list_was_ever_sent),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
