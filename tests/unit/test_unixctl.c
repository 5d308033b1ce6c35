/* SPDX-License-Identifier: MIT */
/*
 * The JSON-RPC client and Open vSwitch's control socket (jsonrpc, unixctl) against a scripted server:
 * framing, deadlines, breaking off, the search for the socket, and that nothing but the listed commands can
 * be sent. Run from the project's folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "collectors/unixctl.h"
#include "unit/fake_rpc.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/test_unixctl.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *in_folder(char *buf, size_t size, const char *name)
{
    snprintf(buf, size, "%s/%s", folder, name);
    return buf;
}

static struct jsonrpc *start(struct fake_rpc *fake, const struct fake_step *steps, int stop_fd)
{
    char path[128], err[256];
    fake_start(fake, in_folder(path, sizeof(path), "s"), steps);
    struct jsonrpc *rpc = jsonrpc_connect(path, fake_in_ms(5000), stop_fd, err, sizeof(err));
    assert_non_null(rpc);
    return rpc;
}

static enum jsonrpc_status call(struct jsonrpc *rpc, int64_t ms, json_t **result, char *err, size_t errlen)
{
    return jsonrpc_call(rpc, "m", json_array(), fake_in_ms(ms), result, err, errlen);
}

/* ---- framing ---- */

static void test_scan_finds_message_ends(void **state)
{
    static const char text[] = " \n{\"a\":\"}\\\"{\",\"b\":[{}]}{\"c\":1}";
    static const char *const bad[] = {"[1]", "x", "}", "\"a\"", "1"};
    size_t first = strlen(text) - strlen("{\"c\":1}");

    (void)state;
    for (size_t split = 0; split <= first; split++) {
        struct jsonrpc_scan scan = {0};
        ssize_t n = jsonrpc_scan_message(&scan, text, split);
        assert_int_equal(n, split < first ? 0 : (ssize_t)first);
        if (n == 0)
            assert_int_equal(jsonrpc_scan_message(&scan, text, strlen(text)), first);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct jsonrpc_scan scan = {0};
        assert_int_equal(jsonrpc_scan_message(&scan, bad[i], strlen(bad[i])), -1);
    }
}

static void test_scan_bounds_depth(void **state)
{
    char text[2 * JSONRPC_MAX_DEPTH + 8];

    (void)state;
    for (int depth = JSONRPC_MAX_DEPTH; depth <= JSONRPC_MAX_DEPTH + 1; depth++) {
        struct jsonrpc_scan scan = {0};
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[0] = '{';
        text[2 * depth - 1] = '}';
        ssize_t n = jsonrpc_scan_message(&scan, text, 2 * (size_t)depth);
        assert_int_equal(n, depth <= JSONRPC_MAX_DEPTH ? 2 * depth : -1);
    }
}

/* ---- calls ---- */

static void test_replies(void **state)
{
    static const struct fake_step steps[] = {{.result = "\"text\""},
                                             {.error = "\"no\\n\""},
                                             {.error = "{\"error\":\"syntax error\",\"details\":\"nope\"}"},
                                             {.result = "[1,{\"a\":2}]", .by_bytes = true},
                                             {.raw = "{\"id\":5}"},
                                             {.result = "{}"},
                                             {0}};
    struct fake_rpc fake;
    struct jsonrpc *rpc = start(&fake, steps, -1);
    json_t *result;
    char err[256];

    (void)state;
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_OK);
    assert_string_equal(json_string_value(result), "text");
    json_decref(result);
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_REFUSED); /* has no result member */
    assert_string_equal(err, "no");
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_REFUSED);
    assert_string_equal(err, "syntax error: nope");
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_OK);
    assert_int_equal(json_array_size(result), 2);
    json_decref(result);
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_REFUSED);
    assert_null(result);
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_OK);
    json_decref(result);
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_BROKEN); /* the script has ended */
    assert_int_equal(jsonrpc_fd(rpc), -1);
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_BROKEN);
    jsonrpc_close(rpc);
    fake_stop(&fake);
}

struct notes {
    int n;
    char last[64];
    int64_t arrived_ns;
};

static void take_note(void *ctx, const char *method, json_t *params, int64_t arrived_ns)
{
    struct notes *notes = ctx;
    notes->n++;
    snprintf(notes->last, sizeof(notes->last), "%s %s", method, json_string_value(json_array_get(params, 0)));
    notes->arrived_ns = arrived_ns;
}

/* What a server says by itself during a call: echo is answered, notifications go to the caller, the rest is
 * dropped. */
static void test_server_speaks_meanwhile(void **state)
{
    static const struct fake_step steps[] = {
        {.before = "{\"id\":\"echo\",\"method\":\"echo\",\"params\":[7]}"
                   "{\"id\":null,\"method\":\"update\",\"params\":[\"m1\",{}]}"
                   "{\"id\":3,\"method\":\"steal\",\"params\":[]}"
                   "{\"id\":99,\"result\":\"stale\",\"error\":null}{\"method\":5,\"id\":null}",
         .result = "\"mine\""},
        {0}, /* the answer to the echo is read here */
        {.before = "{\"method\":\"update2\",\"id\":null,\"params\":[\"m2\"]}",
         .silent = false,
         .result = "1"},
        {0}};
    struct fake_rpc fake;
    struct jsonrpc *rpc = start(&fake, steps, -1);
    struct notes notes = {0};
    int64_t before_ns = fake_now_ns();
    json_t *result;
    char err[256];

    (void)state;
    jsonrpc_on_notify(rpc, take_note, &notes);
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_OK);
    assert_string_equal(json_string_value(result), "mine");
    json_decref(result);
    assert_int_equal(notes.n, 1);
    assert_string_equal(notes.last, "update m1");
    assert_true(notes.arrived_ns >= before_ns && notes.arrived_ns <= fake_now_ns());
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_OK);
    json_decref(result);
    assert_string_equal(notes.last, "update2 m2");
    jsonrpc_close(rpc);
    fake_wait(&fake);
    assert_int_equal(fake.n_requests, 3);
    fake_stop(&fake);
}

static void test_echo_is_answered(void **state)
{
    int fds[2];
    char buf[256], err[256];
    static const char echo[] = "{\"id\":\"echo\",\"method\":\"echo\",\"params\":[7]}";

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct jsonrpc *rpc = jsonrpc_from_fd(fds[0], -1);
    assert_int_equal(send(fds[1], echo, strlen(echo), 0), strlen(echo));
    assert_int_equal(jsonrpc_receive(rpc, fake_in_ms(5000), err, sizeof(err)), JSONRPC_OK);
    ssize_t n = recv(fds[1], buf, sizeof(buf), 0);
    json_t *reply = json_loadb(buf, (size_t)n, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(reply, "id")), "echo");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(reply, "result"), 0)), 7);
    assert_true(json_is_null(json_object_get(reply, "error")));
    json_decref(reply);
    assert_int_equal(jsonrpc_receive(rpc, 0, err, sizeof(err)),
                     JSONRPC_OK); /* nothing there: no wait, no error */
    close(fds[1]);
    assert_int_equal(jsonrpc_receive(rpc, 0, err, sizeof(err)), JSONRPC_BROKEN);
    jsonrpc_close(rpc);
}

static void test_timeout_closes(void **state)
{
    static const struct fake_step steps[] = {{.silent = true}, {.silent = true}};
    struct fake_rpc fake;
    struct jsonrpc *rpc = start(&fake, steps, -1);
    int64_t before_ns = fake_now_ns();
    json_t *result;
    char err[256];

    (void)state;
    assert_int_equal(call(rpc, 60, &result, err, sizeof(err)), JSONRPC_TIMEOUT);
    assert_true(fake_now_ns() - before_ns >= 60000000);
    assert_int_equal(jsonrpc_fd(rpc), -1);
    assert_int_equal(call(rpc, 60, &result, err, sizeof(err)), JSONRPC_BROKEN);
    jsonrpc_close(rpc);
    fake_stop(&fake);
}

/* A server that talks all the time without answering is no answer either. */
static void *chatter(void *arg)
{
    int fd = *(int *)arg;
    static const char note[] = "{\"id\":null,\"method\":\"update\",\"params\":[]}";
    while (send(fd, note, strlen(note), MSG_NOSIGNAL) > 0)
        ;
    return NULL;
}

static void test_chatter_does_not_hold(void **state)
{
    int fds[2];
    pthread_t thread;
    json_t *result;
    char err[256];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    pthread_create(&thread, NULL, chatter, &fds[1]);
    struct jsonrpc *rpc = jsonrpc_from_fd(fds[0], -1);
    assert_int_equal(jsonrpc_receive(rpc, 0, err, sizeof(err)), JSONRPC_OK);
    assert_int_equal(call(rpc, 50, &result, err, sizeof(err)), JSONRPC_TIMEOUT);
    jsonrpc_close(rpc);
    pthread_join(thread, NULL);
    close(fds[1]);
}

/* Makes the stop descriptor readable once the request has reached the server. */
struct stopper {
    int stop_fd, peer_fd;
};

static void *stop_after_request(void *arg)
{
    struct stopper *stopper = arg;
    char buf[256];
    const uint64_t one = 1;
    if (recv(stopper->peer_fd, buf, sizeof(buf), 0) <= 0 || write(stopper->stop_fd, &one, sizeof(one)) < 0)
        abort();
    return NULL;
}

static void test_stop_ends_a_wait(void **state)
{
    struct stopper stopper = {.stop_fd = eventfd(0, 0)};
    int fds[2];
    pthread_t thread;
    json_t *result;
    char err[256];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    stopper.peer_fd = fds[1];
    pthread_create(&thread, NULL, stop_after_request, &stopper);
    struct jsonrpc *rpc = jsonrpc_from_fd(fds[0], stopper.stop_fd);
    int64_t before_ns = fake_now_ns();
    assert_int_equal(call(rpc, 600000, &result, err, sizeof(err)), JSONRPC_STOPPED);
    assert_true(fake_now_ns() - before_ns < 60000000000);
    jsonrpc_close(rpc);
    pthread_join(thread, NULL);
    close(fds[1]);
    close(stopper.stop_fd);
}

static void test_garbage_breaks(void **state)
{
    static const char *const bad[] = {"hello", "[1]", "{\"id\":1,}", "{\"a\" 1}", "}"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct fake_step steps[] = {{.raw = bad[i]}, {0}};
        struct fake_rpc fake;
        struct jsonrpc *rpc = start(&fake, steps, -1);
        json_t *result;
        char err[256];
        assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_BROKEN);
        jsonrpc_close(rpc);
        fake_stop(&fake);
    }
}

/* Interface names of the kernel may hold any byte. */
static void test_bytes_that_are_no_utf8(void **state)
{
    static const struct fake_step steps[] = {{.result = "\"a\xff\xfe z\""}, {.result = "\"\xc3\xa4\""}, {0}};
    struct fake_rpc fake;
    struct jsonrpc *rpc = start(&fake, steps, -1);
    json_t *result;
    char err[256];

    (void)state;
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_OK);
    assert_string_equal(json_string_value(result), "a?? z");
    json_decref(result);
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_OK);
    assert_string_equal(json_string_value(result), "\xc3\xa4");
    json_decref(result);
    jsonrpc_close(rpc);
    fake_stop(&fake);
}

static char *long_string(size_t len)
{
    char *text = malloc(len + 3);
    memset(text, 'x', len + 2);
    text[0] = text[len + 1] = '"';
    text[len + 2] = '\0';
    return text;
}

static void test_large_replies(void **state)
{
    char *fits = long_string(3 << 20), *huge = long_string(JSONRPC_MAX_MESSAGE);
    struct fake_step steps[] = {{.result = fits}, {.result = "1"}, {.result = huge}, {0}};
    struct fake_rpc fake;
    struct jsonrpc *rpc = start(&fake, steps, -1);
    json_t *result;
    char err[256];

    (void)state;
    assert_int_equal(call(rpc, 30000, &result, err, sizeof(err)), JSONRPC_OK);
    assert_int_equal(json_string_length(result), 3 << 20);
    json_decref(result);
    assert_int_equal(call(rpc, 30000, &result, err, sizeof(err)), JSONRPC_OK);
    json_decref(result);
    assert_int_equal(call(rpc, 30000, &result, err, sizeof(err)), JSONRPC_BROKEN);
    assert_string_equal(err, "message too large");
    jsonrpc_close(rpc);
    fake_stop(&fake);
    free(fits);
    free(huge);
}

static void test_connect_failures_say_why(void **state)
{
    char path[512], err[512];

    (void)state;
    assert_null(
        jsonrpc_connect(in_folder(path, sizeof(path), "none"), fake_in_ms(1000), -1, err, sizeof(err)));
    assert_non_null(strstr(err, path));
    assert_non_null(strstr(err, "is the daemon running"));
    memset(path, 'a', sizeof(path) - 1);
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_null(jsonrpc_connect(path, fake_in_ms(1000), -1, err, sizeof(err)));
}

/* Longer than sun_path: reached by way of its folder. */
static void test_long_path(void **state)
{
    static const struct fake_step steps[] = {{.result = "1"}, {0}};
    struct fake_rpc fake;
    char deep[256], link[512], path[128], err[256];
    json_t *result;

    (void)state;
    fake_start(&fake, in_folder(path, sizeof(path), "s"), steps);
    int n = snprintf(deep, sizeof(deep), "%s/", folder);
    memset(deep + n, 'd', 120);
    deep[n + 120] = '\0';
    assert_int_equal(mkdir(deep, 0700), 0);
    snprintf(link, sizeof(link), "%s/s", deep);
    assert_int_equal(symlink(path, link), 0);
    struct jsonrpc *rpc = jsonrpc_connect(link, fake_in_ms(5000), -1, err, sizeof(err));
    assert_non_null(rpc);
    assert_int_equal(call(rpc, 5000, &result, err, sizeof(err)), JSONRPC_OK);
    json_decref(result);
    jsonrpc_close(rpc);
    fake_stop(&fake);
    unlink(link);
    rmdir(deep);
}

/* ---- unixctl ---- */

/* Words of commands that change something or cost the daemon much; none may be in the table. */
static void test_only_reading_commands(void **state)
{
    static const char *const forbidden[] = {
        "clear",  "set",     "rebalance", "dump",   "del",       "add",   "mod",
        "flush",  "exit",    "reopen",    "reload", "reconnect", "close", "disable",
        "enable", "migrate", "hash",      "trace",  "normalize", "purge", "kill",
        "detach", "crash",   "inject",    "send",   "receive",   "state", "mempool"};
    static const char *const allowed[] = {"version",
                                          "list-commands",
                                          "dpif-netdev/pmd-stats-show",
                                          "dpif-netdev/pmd-perf-show",
                                          "dpif-netdev/pmd-rxq-show",
                                          "dpif-netdev/pmd-sleep-show",
                                          "dpctl/show",
                                          "dpif/show",
                                          "coverage/show",
                                          "coverage/read-counter",
                                          "upcall/show",
                                          "memory/show",
                                          "bond/show",
                                          "lacp/show"};

    (void)state;
    for (size_t c = 0; c < UNIXCTL_N_COMMANDS; c++) {
        const struct unixctl_command_info *info = &unixctl_commands[c];
        bool listed = false;
        assert_non_null(info->method);
        for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
            listed |= strcmp(info->method, allowed[i]) == 0;
        assert_true(listed);
        for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
            assert_null(strstr(info->method, forbidden[i]));
        for (size_t i = 0; i < 2 && info->fixed[i]; i++)
            assert_true(strcmp(info->fixed[i], "-nh") == 0 || strcmp(info->fixed[i], "-s") == 0 ||
                        strcmp(info->fixed[i], "-secs") == 0 || strcmp(info->fixed[i], "5") == 0);
    }
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file = fopen(in_folder(path, sizeof(path), name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void remove_file(const char *name)
{
    char path[128];
    unlink(in_folder(path, sizeof(path), name));
}

/* A socket that nobody listens on, as a crash leaves it. */
static void make_stale_socket(const char *name)
{
    char path[128];
    struct sockaddr_un addr = fake_address(in_folder(path, sizeof(path), name));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    close(fd);
}

static const char *const run_files[] = {
    "ovs-vswitchd.pid",      "ovs-vswitchd-dpdk.pid", "ovsdb-server.pid",       "ovs-vswitchd-bad.pid",
    "ovs-vswitchd-long.pid", "ovs-vswitchd.77.ctl",   "ovs-vswitchd.12.ctl",    "ovs-vswitchd.x.ctl",
    "ovs-vswitchd.ctl",      "ovsdb-server.5.ctl",    "ovs-vswitchd-dpdk.9.ctl"};

static int make_run_folder(void **state)
{
    if (make_folder(state) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(run_files) / sizeof(run_files[0]); i++)
        write_file(run_files[i], "");
    write_file("ovs-vswitchd.pid", "12\n");
    write_file("ovs-vswitchd-dpdk.pid", "9\n");
    write_file("ovsdb-server.pid", "5\n");
    write_file("ovs-vswitchd-bad.pid", "12x\n");
    write_file("ovs-vswitchd-long.pid", "99999999999999999999\n");
    return 0;
}

static int remove_run_folder(void **state)
{
    for (size_t i = 0; i < sizeof(run_files) / sizeof(run_files[0]); i++)
        remove_file(run_files[i]);
    return remove_folder(state);
}

static void test_find_believes_pid_files(void **state)
{
    const char *dirs[] = {"/nonexistent", folder};
    struct unixctl_target targets[8];
    char err[256];

    (void)state;
    assert_int_equal(unixctl_find(dirs, 2, targets, 8, err, sizeof(err)), 3);
    for (size_t i = 0; i < 3; i++) {
        const char *name = strrchr(targets[i].path, '/') + 1;
        assert_int_equal(targets[i].from_pidfile, i < 2); /* those of pid files first, none twice */
        if (i < 2)
            assert_string_equal(name,
                                targets[i].pid == 12 ? "ovs-vswitchd.12.ctl" : "ovs-vswitchd-dpdk.9.ctl");
        else
            assert_string_equal(name, "ovs-vswitchd.77.ctl");
    }
    assert_int_equal(unixctl_find(dirs, 2, targets, 1, err, sizeof(err)), 1);
    assert_int_equal(unixctl_find(dirs, 1, targets, 8, err, sizeof(err)), 0);
    assert_non_null(strstr(err, "/nonexistent: No such file or directory"));
}

static void test_open_takes_the_one_that_answers(void **state)
{
    static const struct fake_step steps[] = {{.result = "\"ovs-vswitchd (Open vSwitch) 3.1.7\\n\""}, {0}};
    const char *dirs[] = {folder};
    struct unixctl_target targets[4];
    struct fake_rpc fake;
    char path[128], err[256];
    size_t which = 99;

    (void)state;
    write_file("ovs-vswitchd.pid", "12");
    make_stale_socket("ovs-vswitchd.12.ctl");
    fake_start(&fake, in_folder(path, sizeof(path), "ovs-vswitchd.77.ctl"), steps);
    size_t n = unixctl_find(dirs, 1, targets, 4, err, sizeof(err));
    assert_int_equal(n, 2);
    struct unixctl *ctl = unixctl_open(targets, n, fake_in_ms(5000), -1, &which, err, sizeof(err));
    assert_non_null(ctl);
    assert_int_equal(targets[which].pid, 77);
    assert_string_equal(unixctl_version(ctl), "ovs-vswitchd (Open vSwitch) 3.1.7");
    unixctl_close(ctl);
    fake_stop(&fake);
    assert_null(unixctl_open(targets, n, fake_in_ms(1000), -1, &which, err, sizeof(err)));
    assert_non_null(strstr(err, "ovs-vswitchd.12.ctl: Connection refused"));
    remove_file("ovs-vswitchd.pid");
    remove_file("ovs-vswitchd.12.ctl");
}

static struct unixctl *open_fake(struct fake_rpc *fake, const struct fake_step *steps)
{
    struct unixctl_target target = {.pid = 1};
    char err[256];
    size_t which;

    in_folder(target.path, sizeof(target.path), "ovs-vswitchd.1.ctl");
    fake_start(fake, target.path, steps);
    struct unixctl *ctl = unixctl_open(&target, 1, fake_in_ms(5000), -1, &which, err, sizeof(err));
    assert_non_null(ctl);
    return ctl;
}

static void check_request(const json_t *request, const char *method, const char *params)
{
    char *dumped = json_dumps(json_object_get(request, "params"), JSON_COMPACT);
    assert_string_equal(json_string_value(json_object_get(request, "method")), method);
    assert_string_equal(dumped, params);
    free(dumped);
}

static void test_what_goes_on_the_wire(void **state)
{
    static const struct fake_step steps[] = {
        {.result = "\"v\""},
        {.result = "\"a\""},
        {.result = "\"\""},
        {.error = "\"\\\"dpif-netdev/pmd-sleep-show\\\" is not a valid command (use ...)\\n\""},
        {.error = "\"please specify an existing datapath\\n\""},
        {.result = "{\"reply-format\":\"plain\",\"reply\":\"\"}"},
        {0}};
    struct fake_rpc fake;
    struct unixctl *ctl = open_fake(&fake, steps);
    char *text, err[256];
    int64_t deadline_ns = fake_in_ms(5000);

    (void)state;
    assert_int_equal(unixctl_call(ctl, UNIXCTL_PMD_PERF, "ovs-netdev", deadline_ns, &text, err, sizeof(err)),
                     JSONRPC_OK);
    assert_string_equal(text, "a");
    free(text);
    assert_int_equal(unixctl_call(ctl, UNIXCTL_PMD_RXQ_5S, NULL, deadline_ns, &text, err, sizeof(err)),
                     JSONRPC_OK);
    assert_string_equal(text, "");
    free(text);
    /* unknown: said once, then not asked again */
    for (int i = 0; i < 2; i++)
        assert_int_equal(unixctl_call(ctl, UNIXCTL_PMD_SLEEP, NULL, deadline_ns, &text, err, sizeof(err)),
                         JSONRPC_REFUSED);
    assert_int_equal(unixctl_call(ctl, UNIXCTL_PMD_STATS, NULL, deadline_ns, &text, err, sizeof(err)),
                     JSONRPC_REFUSED);
    assert_string_equal(err, "please specify an existing datapath");
    /* arguments that could be an option, or go to a command that takes none, are not sent */
    assert_int_equal(unixctl_call(ctl, UNIXCTL_PMD_STATS, "-pmd", deadline_ns, &text, err, sizeof(err)),
                     JSONRPC_REFUSED);
    assert_int_equal(unixctl_call(ctl, UNIXCTL_PMD_STATS, "", deadline_ns, &text, err, sizeof(err)),
                     JSONRPC_REFUSED);
    assert_int_equal(unixctl_call(ctl, UNIXCTL_MEMORY_SHOW, "x", deadline_ns, &text, err, sizeof(err)),
                     JSONRPC_REFUSED);
    assert_int_equal(unixctl_call(ctl, UNIXCTL_BOND_SHOW, "\xff", deadline_ns, &text, err, sizeof(err)),
                     JSONRPC_REFUSED);
    assert_int_equal(unixctl_call(ctl, UNIXCTL_DPCTL_SHOW, NULL, deadline_ns, &text, err, sizeof(err)),
                     JSONRPC_REFUSED);
    assert_null(text);
    unixctl_close(ctl);
    fake_wait(&fake);
    assert_int_equal(fake.n_requests, 6);
    check_request(fake.requests[0], "version", "[]");
    check_request(fake.requests[1], "dpif-netdev/pmd-perf-show", "[\"-nh\",\"ovs-netdev\"]");
    check_request(fake.requests[2], "dpif-netdev/pmd-rxq-show", "[\"-secs\",\"5\"]");
    check_request(fake.requests[3], "dpif-netdev/pmd-sleep-show", "[]");
    check_request(fake.requests[4], "dpif-netdev/pmd-stats-show", "[]");
    check_request(fake.requests[5], "dpctl/show", "[\"-s\"]");
    fake_stop(&fake);
}

/* ---- recorded replies ---- */

static char *read_file(const char *version, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "tests/fixtures/ovs/%s/%s", version, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

/* The bytes that the daemons sent, with the recorded id 0 put to ours. */
static char *with_id(char *recorded, int id)
{
    char *text = NULL;
    char *at = strstr(recorded, "\"id\":0");
    assert_non_null(at);
    assert_true(
        asprintf(&text, "%.*s\"id\":%d%s", (int)(at - recorded), recorded, id, at + strlen("\"id\":0")) > 0);
    free(recorded);
    return text;
}

static void test_recorded_replies(void **state)
{
    static const char *const versions[] = {"2.8", "2.9", "2.13", "3.1", "3.5", "4.0"};

    (void)state;
    for (size_t v = 0; v < 6; v++) {
        char *version = with_id(read_file(versions[v], "02/version.json"), 1);
        char *stats = with_id(read_file(versions[v], "02/pmd-stats-show.json"), 2);
        char *unknown = with_id(read_file(versions[v], "02/no_such-command.json"), 3);
        char *expected = read_file(versions[v], "02/pmd-stats-show.txt");
        struct fake_step steps[] = {
            {.raw = version}, {.raw = stats, .by_bytes = true}, {.raw = unknown}, {0}};
        struct fake_rpc fake;
        struct unixctl *ctl = open_fake(&fake, steps);
        char *text, err[256];
        assert_non_null(strstr(unixctl_version(ctl), "(Open vSwitch) "));
        assert_int_equal(
            unixctl_call(ctl, UNIXCTL_PMD_STATS, NULL, fake_in_ms(5000), &text, err, sizeof(err)),
            JSONRPC_OK);
        assert_memory_equal(text, expected, strlen(expected));
        assert_true(strlen(text) - strlen(expected) <=
                    1); /* ovs-appctl drops the newline that the server adds */
        free(text);
        assert_int_equal(
            unixctl_call(ctl, UNIXCTL_PMD_SLEEP, NULL, fake_in_ms(5000), &text, err, sizeof(err)),
            JSONRPC_REFUSED);
        assert_non_null(strstr(err, "is not a valid command"));
        unixctl_close(ctl);
        fake_stop(&fake);
        free(version);
        free(stats);
        free(unknown);
        free(expected);
    }
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan_finds_message_ends),
        cmocka_unit_test(test_scan_bounds_depth),
        IN_FOLDER(test_replies),
        IN_FOLDER(test_server_speaks_meanwhile),
        cmocka_unit_test(test_echo_is_answered),
        IN_FOLDER(test_timeout_closes),
        cmocka_unit_test(test_chatter_does_not_hold),
        cmocka_unit_test(test_stop_ends_a_wait),
        IN_FOLDER(test_garbage_breaks),
        IN_FOLDER(test_bytes_that_are_no_utf8),
        IN_FOLDER(test_large_replies),
        IN_FOLDER(test_connect_failures_say_why),
        IN_FOLDER(test_long_path),
        cmocka_unit_test(test_only_reading_commands),
        cmocka_unit_test_setup_teardown(test_find_believes_pid_files, make_run_folder, remove_run_folder),
        IN_FOLDER(test_open_takes_the_one_that_answers),
        IN_FOLDER(test_what_goes_on_the_wire),
        IN_FOLDER(test_recorded_replies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
