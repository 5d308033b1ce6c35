/* SPDX-License-Identifier: MIT */
/*
 * The source dpdk as a whole, from servers in processes of their own to frames: several processes, one that
 * hangs, one that is full, numbers used again, statistics that are missing, counters set back, processes that
 * come and go. Each test has a world of its own: a folder with run folders, /proc/net/unix and the servers'
 * entries of /proc. The last test looks at all requests that were ever sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "collectors/dpdk.h"
#include "src/join.h"
#include "unit/make_sample.h"

#define FAKE_TELEMETRY_INCLUDED
#include "fakes/fake_telemetry.c"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define NS_PER_MS INT64_C(1000000)
#define SERVERS   4

/* ---- the clock: the real one, that a test may let run ahead ---- */

static int64_t clock_ahead_ns;

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * SECOND + ts.tv_nsec;
}

int64_t clock_mono_ns(void)
{
    return read_clock(CLOCK_MONOTONIC) + clock_ahead_ns;
}

int64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t clock_process_cpu_ns(void)
{
    return 0;
}

uint64_t clock_thread_cpu_ns(void)
{
    return 0;
}

/* ---- a world ---- */

struct answer {
    const char *request, *reply;
};

struct server {
    pid_t pid;
    char prefix[16];
    unsigned long long start_ticks;
};

/* One feed with its two newest samples. */
struct tap {
    const struct collector *collector;
    void *state;
    struct collect_call call;
    enum collect_result result;
    struct sample *cur, *prev;
};

static struct world {
    char root[64];
    struct server servers[SERVERS];
    size_t n_servers;
    struct collect_config config;
    struct tap fast, slow;
    struct frame *frame;
    char key[320]; /* of key_of */
} world;

static char *all_requests; /* of all worlds, one a line */

static const char *in_world(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *in_world(const char *format, ...)
{
    static char path[256];
    int n = snprintf(path, sizeof(path), "%s", world.root);
    va_list args;
    va_start(args, format);
    vsnprintf(path + n, sizeof(path) - (size_t)n, format, args);
    va_end(args);
    return path;
}

static void make_folder(const char *path)
{
    if (mkdir(path, 0755) < 0)
        assert_int_equal(errno, EEXIST);
}

static int world_begin(void **state)
{
    (void)state;
    clock_ahead_ns = 0;
    world = (struct world){.root = "/tmp/vnettop-dpdk-XXXXXX",
                           .fast.collector = &dpdk_collector,
                           .slow.collector = &dpdk_slow_collector};
    assert_non_null(mkdtemp(world.root));
    chmod(world.root, 0755);
    static const char *const folders[] = {"/run", "/run/dpdk", "/proc", "/proc/net", "/log"};
    for (size_t i = 0; i < COUNT(folders); i++)
        make_folder(in_world("%s", folders[i]));
    world.config.root = world.root;
    return 0;
}

static void close_tap(struct tap *tap)
{
    if (tap->state)
        tap->collector->close(tap->state);
    tap->state = NULL;
    sample_unref(tap->cur);
    sample_unref(tap->prev);
    tap->cur = tap->prev = NULL;
}

static void keep_requests(const char *path)
{
    FILE *in = fopen(path, "re");
    char line[1024];
    while (in && fgets(line, sizeof(line), in)) {
        size_t had = all_requests ? strlen(all_requests) : 0;
        all_requests = realloc(all_requests, had + strlen(line) + 1);
        assert_non_null(all_requests);
        strcpy(all_requests + had, line);
    }
    if (in)
        fclose(in);
}

static void end_server(struct server *server)
{
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGKILL);
    assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
    unlink(in_world("/proc/%d", (int)server->pid));
    server->pid = 0;
}

static int world_end(void **state)
{
    (void)state;
    frame_free(world.frame);
    world.frame = NULL;
    close_tap(&world.fast);
    close_tap(&world.slow);
    for (size_t i = 0; i < world.n_servers; i++) {
        end_server(&world.servers[i]);
        keep_requests(in_world("/log/%zu", i));
    }
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", world.root);
    return system(command) == 0 ? 0 : -1;
}

/* Runs in the server's own process, whose id and name are what the collector finds. */
static void serve(const char *prefix, const char *comm, enum fake_mode mode, const struct answer *answers,
                  size_t n, size_t number, int ready)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, comm);
    struct fake *fake = fake_new(in_world("/run/dpdk/%s/dpdk_telemetry.v2", prefix), mode, 20);
    if (!fake)
        _exit(1);
    fake->lines = calloc(n + 1, sizeof(*fake->lines));
    for (fake->n_lines = 0; fake->n_lines < n; fake->n_lines++) {
        fake->lines[fake->n_lines].request = strdup(answers[fake->n_lines].request);
        fake->lines[fake->n_lines].reply = strdup(answers[fake->n_lines].reply);
    }
    fake->log_file = fopen(in_world("/log/%zu", number), "we");
    if (write(ready, "r", 1) == 1)
        fake_serve(fake); /* until killed */
    fake_free(fake);
    _exit(0);
}

static void list_listeners(void)
{
    FILE *out = fopen(in_world("/proc/net/unix"), "we");
    assert_non_null(out);
    for (size_t i = 0; i < world.n_servers; i++)
        if (world.servers[i].pid > 0)
            fprintf(
                out,
                "0000000000000000: 00000002 00000000 00010000 0005 01 %zu /run/dpdk/%s/dpdk_telemetry.v2\n",
                i + 100, world.servers[i].prefix);
    fclose(out);
}

static unsigned long long start_of(pid_t pid)
{
    struct procfs_stat st;
    int fd = procfs_open_root(NULL);
    assert_int_equal(procfs_read_stat(fd, pid, pid, &st), PROCFS_OK);
    close(fd);
    return st.start_ticks;
}

static struct server *start(const char *prefix, const char *comm, enum fake_mode mode,
                            const struct answer *answers, size_t n)
{
    struct server *server = &world.servers[world.n_servers];
    char target[32], byte;
    int ready[2];
    assert_true(world.n_servers < SERVERS);
    snprintf(server->prefix, sizeof(server->prefix), "%s", prefix);
    make_folder(in_world("/run/dpdk/%s", prefix));
    assert_int_equal(pipe(ready), 0);
    fflush(NULL);
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0)
        serve(prefix, comm, mode, answers, n, world.n_servers, ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    server->start_ticks = start_of(server->pid);
    snprintf(target, sizeof(target), "/proc/%d", (int)server->pid);
    assert_int_equal(symlink(target, in_world("/proc/%d", (int)server->pid)), 0);
    world.n_servers++;
    list_listeners();
    return server;
}

static void look(struct tap *tap)
{
    struct sample *sample = NULL;
    tap->call.stop_fd = -1;
    tap->call.deadline_ns = clock_mono_ns() + 2 * SECOND;
    tap->result = tap->state ? COLLECT_OK : tap->collector->open(&world.config, &tap->state, &tap->call);
    assert_int_equal(tap->result, COLLECT_OK);
    tap->result = tap->collector->collect(tap->state, &tap->call, &sample);
    sample_unref(tap->prev);
    tap->prev = tap->cur;
    tap->cur = sample;
    if (tap->result == COLLECT_OK)
        return;
    tap->collector->close(tap->state);
    tap->state = NULL;
}

/* One tick of both feeds. */
static void tick(void)
{
    look(&world.fast);
    look(&world.slow);
    struct pair pairs[] = {
        {.feed = "dpdk", .cur = world.fast.cur, .prev = world.fast.prev, .stale_ns = 2500 * NS_PER_MS},
        {.feed = "dpdk-slow", .cur = world.slow.cur, .prev = world.slow.prev, .stale_ns = 4500 * NS_PER_MS}};
    frame_free(world.frame);
    world.frame = frame_new(pairs, 2, clock_mono_ns(), clock_wall_ns(), 0);
}

/* The fast feed alone, as a frame of later shows it. */
static void show_later(int64_t later_ns)
{
    struct pair pair = {
        .feed = "dpdk", .cur = world.fast.cur, .prev = world.fast.prev, .stale_ns = 2500 * NS_PER_MS};
    frame_free(world.frame);
    world.frame = frame_new(&pair, 1, clock_mono_ns() + later_ns, clock_wall_ns(), 0);
}

static void fast_tick(void)
{
    look(&world.fast);
    show_later(0);
}

static const char *key_of(const struct server *server, const char *before, const char *after)
{
    snprintf(world.key, sizeof(world.key), "%s%d:%llu%s", before, (int)server->pid, server->start_ticks,
             after);
    return world.key;
}

static const struct frame_row *port_row(const struct server *server, const char *port)
{
    char after[80];
    snprintf(after, sizeof(after), ":%s", port);
    return frame_find(world.frame, TABLE_PORTS, key_of(server, "dpdk:", after));
}

static struct cell port_says(const struct server *server, const char *port, const char *column)
{
    const struct frame_row *row = port_row(server, port);
    if (!row)
        fail_msg("no port %s", world.key);
    return frame_cell(world.frame, row, column_of(TABLE_PORTS, column));
}

static struct cell counter_says(const struct server *server, const char *port, const char *name,
                                const char *column)
{
    char after[160];
    snprintf(after, sizeof(after), ":%s:%s", port, name);
    const struct frame_row *row =
        frame_find(world.frame, TABLE_COUNTERS, key_of(server, "counter:dpdk:", after));
    return row ? frame_cell(world.frame, row, column_of(TABLE_COUNTERS, column))
               : (struct cell){.kind = CELL_NONE};
}

static const char *state_says(const struct server *server)
{
    struct cell cell = cell_of(world.frame, TABLE_PROCESSES, key_of(server, "process:", ""), "state");
    return cell.kind == CELL_STR ? cell.str : "";
}

static void expect_text(struct cell cell, const char *text)
{
    assert_int_equal(cell.kind, CELL_STR);
    assert_string_equal(cell.str, text);
}

/* The difference of a counter, by its rate and the interval that the part itself says. */
static double difference(const struct server *server, const char *port, const char *rate)
{
    struct cell cell = port_says(server, port, rate);
    const struct frame_row *row = port_row(server, port);
    const struct part *part = frame_row_part(row, ROW_SLOT(struct ports_row, rx_packets));
    assert_non_null(part);
    assert_int_equal(cell.kind, CELL_F64);
    return cell.f64 * part_interval_s(part);
}

static int count_requests(size_t number, const char *request)
{
    FILE *in = fopen(in_world("/log/%zu", number), "re");
    char line[1024];
    int n = 0;
    while (in && fgets(line, sizeof(line), in)) {
        line[strcspn(line, "\n")] = '\0';
        n += strcmp(line, request) == 0;
    }
    if (in)
        fclose(in);
    return n;
}

#define STATS(number, in, out, missed, nombuf, errors)                                                       \
    {                                                                                                        \
        "/ethdev/stats," number,                                                                             \
            "{\"/ethdev/stats\":{\"ipackets\":" in ",\"opackets\":" out ",\"ibytes\":64000,"                 \
            "\"obytes\":128000,\"imissed\":" missed ",\"ierrors\":2,\"oerrors\":" errors                     \
            ",\"rx_nombuf\":" nombuf "}}"                                                                    \
    }
#define INFO(number, name)                                                                                   \
    {                                                                                                        \
        "/ethdev/info," number,                                                                              \
            "{\"/ethdev/info\":{\"name\":\"" name "\",\"nb_rx_queues\":2,\"nb_tx_queues\":1,"                \
            "\"port_id\":" number ",\"mtu\":1500,\"dev_started\":1,\"numa_node\":0}}"                        \
    }

/* ---- several ---- */

static void test_two_processes(void **state)
{
    (void)state;
    static const struct answer first[] = {STATS("0", "1000", "50", "7", "1", "3"),
                                          STATS("0", "3500", "50", "9", "5", "3")};
    struct server *testpmd = start("guest0", "dpdk-testpmd", FAKE_NORMAL, first, COUNT(first));
    struct server *ovs = start("rte", "ovs-vswitchd", FAKE_OLD, NULL, 0);
    tick();
    expect_kind(port_says(testpmd, "net_vhost0", "rx_pps"), CELL_NEW);
    tick();
    assert_string_equal(world.fast.call.detail,
                        "2 processes: testpmd guest0 24.11.0, ovs-vswitchd 22.11.11; 4 ports");
    expect_text(port_says(testpmd, "net_vhost0", "name"), "net_vhost0");
    expect_text(port_says(testpmd, "net_vhost0", "kind"), "ethdev");
    expect_text(port_says(testpmd, "net_vhost0", "driver"), "net_vhost");
    expect_text(port_says(testpmd, "net_vhost0", "switch"), "testpmd guest0");
    expect_text(port_says(testpmd, "net_vhost0", "carrier"), "up");
    expect_text(port_says(testpmd, "net_null0", "carrier"), "down");
    expect_number(port_says(testpmd, "net_vhost0", "speed_mbps"), 10000);
    expect_number(port_says(testpmd, "net_vhost0", "mtu"), 1500);
    expect_number(port_says(testpmd, "net_vhost0", "rx_packets"), 3500);
    assert_float_equal(difference(testpmd, "net_vhost0", "rx_pps"), 2500, 1e-6);
    assert_float_equal(difference(testpmd, "net_vhost0", "tx_pps"), 0, 1e-6);
    /* Of the numbers that mean loss none is added twice. */
    expect_number(port_says(testpmd, "net_vhost0", "rx_dropped"), 14);
    assert_float_equal(difference(testpmd, "net_vhost0", "rx_drop_pps"), 6, 1e-6);
    expect_number(port_says(testpmd, "net_vhost0", "rx_missed"), 9);
    expect_number(port_says(testpmd, "net_vhost0", "rx_nombuf"), 5);
    expect_number(port_says(testpmd, "net_vhost0", "rx_errors"), 2); /* bad, and not lost */
    expect_number(port_says(testpmd, "net_vhost0", "tx_dropped"), 3);
    expect_number(port_says(testpmd, "net_vhost0", "tx_failure_drops"), 3);
    /* net_null counts no bytes in this release. */
    expect_number(port_says(testpmd, "net_vhost0", "rx_bytes"), 64000);
    expect_kind(port_says(testpmd, "net_null0", "rx_bytes"), CELL_NONE);
    /* vhost's drops are nowhere to be read in 22.11. The counter is there, and above zero, so it is partial.
     */
    assert_true(port_says(ovs, "port0", "tx_dropped").approx);
    expect_text(cell_of(world.frame, TABLE_PROCESSES, key_of(testpmd, "process:", ""), "eal_args"),
                "-l 0,1 --file-prefix=fake");
    assert_string_equal(state_says(ovs), "ok");
    assert_int_equal(count_requests(0, "/"), 1); /* both feeds, one connection */
    assert_int_equal(count_requests(1, "/"), 1);
}

static void test_lcores(void **state)
{
    (void)state;
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NORMAL, NULL, 0);
    start("rte", "ovs-vswitchd", FAKE_NORMAL, NULL, 0);
    tick();
    tick();
    assert_int_equal(world.frame->table[TABLE_THREADS].n, 1); /* OVS's are another source's */
    char key[64];
    snprintf(key, sizeof(key), "thread:%d:%d", (int)server->pid, (int)server->pid);
    expect_text(cell_of(world.frame, TABLE_THREADS, key, "role"), "lcore");
    expect_text(cell_of(world.frame, TABLE_THREADS, key, "vm"), "testpmd guest0");
    expect_number(cell_of(world.frame, TABLE_THREADS, key, "index"), 0); /* -l 0,1 */
    assert_true(
        cell_is_number(&(struct cell){.kind = cell_of(world.frame, TABLE_THREADS, key, "run_pct").kind}));
    /* The application counts cycles: 25 of 100. */
    snprintf(key, sizeof(key), "pmd:dpdk:%d:%llu:lcore1", (int)server->pid, server->start_ticks);
    expect_number(cell_of(world.frame, TABLE_PMDS, key, "busy_cycles"), 25);
    expect_number(cell_of(world.frame, TABLE_PMDS, key, "idle_cycles"), 75);
    snprintf(key, sizeof(key), "mempool:%d:%llu:mb_pool_0", (int)server->pid, server->start_ticks);
    expect_number(cell_of(world.frame, TABLE_MEMPOOLS, key, "in_use"), 512);
    expect_number(cell_of(world.frame, TABLE_MEMPOOLS, key, "free"), 15872);
}

/* ---- hangs ---- */

static int64_t timed_fast_tick(void)
{
    int64_t before = read_clock(CLOCK_MONOTONIC);
    fast_tick();
    return read_clock(CLOCK_MONOTONIC) - before;
}

static void test_hung_from_the_start(void **state)
{
    (void)state;
    struct server *silent = start("guest0", "dpdk-testpmd", FAKE_SILENT, NULL, 0);
    struct server *mute = start("guest1", "dpdk-testpmd", FAKE_MUTE, NULL, 0);
    struct server *good = start("guest2", "dpdk-testpmd", FAKE_NORMAL, NULL, 0);
    fast_tick();
    assert_string_equal(state_says(silent), "late"); /* it told its commands just now */
    assert_string_equal(state_says(mute), "no answer");
    assert_string_equal(state_says(good), "ok");
    expect_number(port_says(good, "net_vhost0", "rx_packets"), 1000);
    int64_t best = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t took = timed_fast_tick();
        best = took < best ? took : best;
    }
    if (best > 60 * NS_PER_MS)
        fail_msg("two hung processes hold up the others for %lld ms", (long long)(best / NS_PER_MS));
    assert_int_equal(count_requests(1, "/"), 0);
}

static void test_hung_and_back(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        STATS("0", "1000", "0", "0", "0", "0"), STATS("0", "2000", "0", "0", "0", "0"),
        STATS("0", "9000", "0", "0", "0", "0"), STATS("0", "9900", "0", "0", "0", "0")};
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NORMAL, answers, COUNT(answers));
    fast_tick();
    fast_tick();
    kill(server->pid, SIGSTOP);
    fast_tick();
    int64_t said_ns = port_row(server, "net_vhost0")->part.cur->t_ns;
    assert_string_equal(state_says(server), "late"); /* not yet a reason for alarm */
    for (int i = 0; i < 2000 && strcmp(state_says(server), "no answer") != 0; i++)
        fast_tick();
    for (int i = 0; i < 3; i++) {
        fast_tick();
        assert_string_equal(state_says(server), "no answer");
        /* What it said last, at the time it said it: it ages. */
        expect_number(port_says(server, "net_vhost0", "rx_packets"), 2000);
        assert_int_equal(port_row(server, "net_vhost0")->part.cur->t_ns, said_ns);
        assert_false(port_says(server, "net_vhost0", "rx_packets").stale);
    }
    show_later(10 * SECOND);
    assert_true(port_says(server, "net_vhost0", "rx_packets").stale);
    kill(server->pid, SIGCONT);
    for (int i = 0; i < 100 && strcmp(state_says(server), "ok") != 0; i++)
        fast_tick();
    assert_string_equal(state_says(server), "ok");
    /* The answer that it owed told of port 0 when it was asked; it must not pass for a new one. */
    const struct frame_row *row = port_row(server, "net_vhost0");
    assert_true(row->part.cur->t_ns > said_ns);
    struct cell rx = port_says(server, "net_vhost0", "rx_packets");
    assert_true(rx.u64 == 9000 || rx.u64 == 9900);
    assert_float_equal(difference(server, "net_vhost0", "rx_pps"), (double)rx.u64 - 2000, 1e-6);
    assert_int_equal(count_requests(0, "/"), 1); /* on the same connection */
}

/* Each answer takes longer than a glance: were it given no more than that, it would never be back. */
static void test_slow_and_back(void **state)
{
    (void)state;
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_SLOW, NULL, 0);
    fast_tick();
    fast_tick();
    kill(server->pid, SIGSTOP);
    for (int i = 0; i < 2; i++)
        fast_tick();
    assert_string_equal(state_says(server), "late");
    kill(server->pid, SIGCONT);
    for (int i = 0; i < 50 && strcmp(state_says(server), "ok") != 0; i++)
        fast_tick();
    assert_string_equal(state_says(server), "ok");
}

/* ---- full ---- */

static int take_place(const struct server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char greeting[256];
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/dpdk/%s/dpdk_telemetry.v2", world.root,
             server->prefix);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_true(recv(fd, greeting, sizeof(greeting), 0) > 0);
    return fd;
}

static void test_ten_clients_already(void **state)
{
    (void)state;
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NORMAL, NULL, 0);
    int places[FAKE_CLIENTS];
    for (size_t i = 0; i < FAKE_CLIENTS; i++)
        places[i] = take_place(server);
    tick();
    assert_int_equal(world.fast.result, COLLECT_OK);
    assert_int_equal(world.frame->table[TABLE_PROCESSES].n, 1);
    const struct frame_row *row = &world.frame->table[TABLE_PROCESSES].rows[0];
    expect_text(frame_cell(world.frame, row, column_of(TABLE_PROCESSES, "state")), "10 clients already");
    assert_non_null(strstr(world.fast.call.detail, "10 clients already"));
    close(places[0]);
    tick(); /* too early to knock again */
    assert_int_equal(count_requests(0, "/"), 0);
    clock_ahead_ns = 11 * SECOND;
    tick();
    fast_tick();
    assert_string_equal(state_says(server), "ok");
    for (size_t i = 1; i < FAKE_CLIENTS; i++)
        close(places[i]);
}

/* ---- identity ---- */

static void test_number_used_again(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        INFO("0", "net_ring0"), INFO("0", "net_tap5"), STATS("0", "1000", "0", "0", "0", "0"),
        STATS("0", "1500", "0", "0", "0", "0"), STATS("0", "900000", "0", "0", "0", "0")};
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NORMAL, answers, COUNT(answers));
    tick();
    tick();
    assert_float_equal(difference(server, "net_ring0", "rx_pps"), 500, 1e-6);
    clock_ahead_ns = 2 * SECOND;
    look(&world.slow); /* lists anew */
    tick();
    assert_null(port_row(server, "net_ring0"));
    expect_number(port_says(server, "net_tap5", "rx_packets"), 900000);
    expect_kind(port_says(server, "net_tap5", "rx_pps"), CELL_NEW); /* no spike */
    expect_text(port_says(server, "net_tap5", "driver"), "net_tap");
}

static void test_counters_set_back(void **state)
{
    (void)state;
    static const struct answer answers[] = {STATS("0", "1000", "70", "5", "0", "0"),
                                            STATS("0", "10", "80", "0", "0", "0"),
                                            STATS("0", "30", "90", "1", "0", "0")};
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NORMAL, answers, COUNT(answers));
    tick();
    tick();
    expect_kind(port_says(server, "net_vhost0", "rx_pps"), CELL_RESET);
    expect_kind(port_says(server, "net_vhost0", "tx_pps"), CELL_RESET);
    tick();
    assert_float_equal(difference(server, "net_vhost0", "rx_pps"), 20, 1e-6);
}

/* ---- statistics that are missing ---- */

/* 256 names: as many as telemetry tells. x0 is at number skip left out. */
static char *many_xstats(const char *first)
{
    char *text = malloc(256 * 32), *p = text;
    p += sprintf(p, "{\"/ethdev/xstats\":{\"%s\":77", first);
    for (int i = 1; i < 256; i++)
        p += sprintf(p, ",\"tx_q%d_packets\":%d", i, i);
    strcpy(p, "}}");
    return text;
}

static void test_xstats_cut(void **state)
{
    (void)state;
    char *full = many_xstats("rx_x0"), *other = many_xstats("rx_x1");
    const struct answer answers[] = {{"/ethdev/xstats,0", full}, {"/ethdev/xstats,0", other}};
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_OLD, answers, COUNT(answers));
    tick();
    expect_number(counter_says(server, "net_vhost0", "rx_x0", "value"), 77);
    expect_number(counter_says(server, "net_vhost0", "tx_q255_packets", "value"), 255);
    tick();
    expect_kind(counter_says(server, "net_vhost0", "rx_x0", "value"), CELL_NONE); /* unknown, not zero */
    expect_number(counter_says(server, "net_vhost0", "rx_x1", "value"), 77);
    assert_non_null(strstr(world.slow.call.detail, "may have left out"));
    assert_int_equal(count_requests(0, "/ethdev/xstats,0,hide_zero=true"),
                     0); /* 22.11 logs each such request */
    free(full);
    free(other);
}

static void test_xstats_of_zero(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        {"/ethdev/xstats,0",
         "{\"/ethdev/xstats\":{\"rx_good_packets\":5,\"tx_good_packets\":0,\"rx_missed_errors\":0}}"},
        {"/ethdev/xstats,0,hide_zero=true",
         "{\"/ethdev/xstats\":{\"rx_good_packets\":9,\"rx_missed_errors\":4}}"},
        {"/ethdev/xstats,0,hide_zero=true", "{\"/ethdev/xstats\":{\"tx_good_packets\":1}}"}};
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NORMAL, answers, COUNT(answers));
    tick();
    expect_number(counter_says(server, "net_vhost0", "rx_missed_errors", "value"), 0); /* tells of loss */
    expect_kind(counter_says(server, "net_vhost0", "tx_good_packets", "value"), CELL_NONE);
    tick();
    expect_number(counter_says(server, "net_vhost0", "rx_good_packets", "value"), 9);
    assert_true(cell_is_number(
        &(struct cell){.kind = counter_says(server, "net_vhost0", "rx_missed_errors", "rate").kind}));
    tick(); /* what is left out of a whole reply is zero, which the counter went back to */
    expect_number(counter_says(server, "net_vhost0", "rx_good_packets", "value"), 0);
    expect_kind(counter_says(server, "net_vhost0", "rx_good_packets", "rate"), CELL_RESET);
    expect_number(counter_says(server, "net_vhost0", "tx_good_packets", "value"), 1);
    expect_text(counter_says(server, "net_vhost0", "rx_good_packets", "object"), "testpmd guest0/net_vhost0");
    expect_text(counter_says(server, "net_vhost0", "rx_good_packets", "source"), "dpdk");
}

static void test_vhost_without_guest(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        {"/ethdev/link_status,0", "{\"/ethdev/link_status\":{\"status\":\"UP\",\"speed\":10000}}"},
        {"/ethdev/link_status,0", "{\"/ethdev/link_status\":{\"status\":\"DOWN\"}}"}};
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NORMAL, answers, COUNT(answers));
    tick();
    expect_number(counter_says(server, "net_vhost0", "rx_good_packets", "value"), 1000);
    tick();
    tick();
    assert_int_equal(count_requests(0, "/ethdev/xstats,0"), 1);
    assert_int_equal(count_requests(0, "/ethdev/xstats,0,hide_zero=true"), 0);
    expect_kind(counter_says(server, "net_vhost0", "rx_good_packets", "value"), CELL_NONE);
    expect_text(port_says(server, "net_vhost0", "carrier"), "down");
}

/* 20.05 has neither /ethdev/stats nor /ethdev/info. */
static void test_oldest_release(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        {"/", "{\"/\":[\"/\",\"/eal/params\",\"/ethdev/link_status\",\"/ethdev/list\",\"/ethdev/xstats\",\"/"
              "info\"]}"},
        {"/ethdev/list", "{\"/ethdev/list\":[3]}"},
        {"/ethdev/xstats,3", "{\"/ethdev/xstats\":{\"rx_good_packets\":100,\"rx_missed_errors\":3}}"},
        {"/ethdev/xstats,3", "{\"/ethdev/xstats\":{\"rx_good_packets\":100,\"rx_missed_errors\":3}}"},
        {"/ethdev/xstats,3", "{\"/ethdev/xstats\":{\"rx_good_packets\":250,\"rx_missed_errors\":3}}"}};
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_OLD, answers, COUNT(answers));
    tick();
    tick();
    expect_text(port_says(server, "port3", "name"), "port3");
    assert_float_equal(difference(server, "port3", "rx_pps"), 150, 1e-6);
    expect_number(port_says(server, "port3", "rx_dropped"), 3);
    expect_kind(port_says(server, "port3", "tx_packets"), CELL_NONE);
}

static void test_bad_answers(void **state)
{
    (void)state;
    static const struct answer answers[] = {
        STATS("0", "1000", "0", "0", "0", "0"),
        {"/ethdev/stats,0", "{\"/ethdev/stats\":{\"ipackets\":1\"}}"},
        {"/ethdev/stats,0", "{\"/ethdev/list\":[0,1]}"},
        {"/ethdev/stats,0", "{\"/ethdev/stats\":null}"},
        {"/ethdev/stats,0",
         "{\"/ethdev/stats\":{\"ipackets\":18446744073709551615,\"opackets\":9007199254740993}}"},
    };
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NORMAL, answers, COUNT(answers));
    fast_tick();
    int64_t said_ns = port_row(server, "net_vhost0")->part.cur->t_ns;
    for (int i = 0; i < 2; i++) {
        fast_tick(); /* unreadable, then another's: the old numbers with the old time */
        expect_number(port_says(server, "net_vhost0", "rx_packets"), 1000);
        assert_int_equal(port_row(server, "net_vhost0")->part.cur->t_ns, said_ns);
        assert_string_equal(state_says(server), "ok"); /* the other port could be read */
    }
    fast_tick();
    assert_null(port_row(server, "net_vhost0")); /* it has no numbers, says the server */
    fast_tick();
    assert_true(port_says(server, "net_vhost0", "rx_packets").u64 == UINT64_MAX);
    assert_true(port_says(server, "net_vhost0", "tx_packets").u64 == 9007199254740993);
    expect_kind(port_says(server, "net_vhost0", "rx_dropped"), CELL_NONE);
}

static void test_nothing_readable(void **state)
{
    (void)state;
    struct server *server = start("guest0", "dpdk-testpmd", FAKE_NOT_JSON, NULL, 0);
    tick();
    tick();
    assert_int_equal(world.fast.result, COLLECT_OK);
    assert_string_equal(state_says(server), "unreadable");
    assert_int_equal(world.frame->table[TABLE_PORTS].n, 0);
}

/* ---- coming and going ---- */

static void test_coming_and_going(void **state)
{
    (void)state;
    tick();
    assert_int_equal(world.fast.result, COLLECT_NONE);
    assert_int_equal(world.slow.result, COLLECT_NONE);
    assert_int_equal(strncmp(world.fast.call.error.text, "no DPDK process; looked in", 26), 0);
    struct server *first = start("guest0", "dpdk-testpmd", FAKE_NORMAL, NULL, 0);
    tick();
    assert_string_equal(state_says(first), "ok");
    struct server *second = start("guest1", "dpdk-testpmd", FAKE_NORMAL, NULL, 0);
    tick();
    assert_null(port_row(second, "net_vhost0"));
    clock_ahead_ns = 6 * SECOND;
    tick(); /* the slow feed looks for new ones, and the fast one reads from its next turn on */
    fast_tick();
    expect_number(port_says(second, "net_vhost0", "rx_packets"), 1000);
    struct server gone = *first;
    end_server(first);
    fast_tick();
    assert_null(port_row(&gone, "net_vhost0"));
    assert_non_null(port_row(second, "net_vhost0"));
    /* One that ended may be starting anew: it is looked for at once. */
    struct server *again = start("guest0", "dpdk-testpmd", FAKE_NORMAL, NULL, 0);
    tick();
    fast_tick();
    expect_number(port_says(again, "net_vhost0", "rx_packets"), 1000);
    end_server(again);
    end_server(second);
    fast_tick();
    assert_int_equal(world.fast.result, COLLECT_NONE);
}

static void *look_often(void *arg)
{
    for (int i = 0; i < 150; i++)
        look(arg);
    return NULL;
}

/* Two workers on one hub, while the processes below them end. */
static void test_two_workers(void **state)
{
    (void)state;
    pthread_t slow;
    struct server *first = start("guest0", "dpdk-testpmd", FAKE_NORMAL, NULL, 0);
    struct server *second = start("guest1", "dpdk-testpmd", FAKE_OLD, NULL, 0);
    fast_tick();
    assert_int_equal(pthread_create(&slow, NULL, look_often, &world.slow), 0);
    for (int i = 0; i < 150; i++) {
        fast_tick();
        if (i == 50)
            end_server(first);
        if (i == 100)
            end_server(second);
    }
    assert_int_equal(pthread_join(slow, NULL), 0);
    fast_tick();
    assert_int_equal(world.fast.result, COLLECT_NONE);
    assert_int_equal(count_requests(0, "/"), 1);
    assert_int_equal(count_requests(1, "/"), 1);
}

/* In a process of its own, as nobody. Returns the exit status: 0 when it was told what it should be. */
static int look_as_nobody(enum collect_result result, const char *text)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 2;
    tick();
    if (world.fast.result != result)
        return 3;
    return strstr(world.fast.call.error.text, text) ? 0 : 4;
}

static void expect_of_nobody(enum collect_result result, const char *text)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(look_as_nobody(result, text));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_not_permitted(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    /* A folder that is closed is no process. */
    make_folder(in_world("/run/dpdk/left"));
    chmod(in_world("/run/dpdk/left"), 0700);
    expect_of_nobody(COLLECT_NONE, "no DPDK process");
    start("guest0", "dpdk-testpmd", FAKE_NORMAL, NULL, 0);
    chmod(in_world("/run/dpdk/guest0"), 0700);
    expect_of_nobody(COLLECT_DENIED,
                     "/run/dpdk/guest0/dpdk_telemetry.v2 is root's (0700): run as root to see 1 process");
    assert_int_equal(count_requests(0, "/"), 0);
}

/* ---- parts ---- */

static void test_names_of_workers(void **state)
{
    (void)state;
    static const struct {
        const char *comm;
        int lcore;
    } names[] = {{"rte-worker-1", 1},   {"lcore-slave-12", 12},  {"lcore-worker-3", 3}, {"dpdk-worker7", 7},
                 {"dpdk-worker", -1},   {"rte-worker-1x", -1},   {"rte-worker--1", -1}, {"rte_mp_handle", -1},
                 {"xrte-worker-1", -1}, {"rte-worker-99999", -1}};
    for (size_t i = 0; i < COUNT(names); i++)
        if (dpdk_lcore_of_comm(names[i].comm) != names[i].lcore)
            fail_msg("%s: %d", names[i].comm, dpdk_lcore_of_comm(names[i].comm));
}

static void test_main_lcore(void **state)
{
    (void)state;
    static const struct {
        const char *args[4];
        int lcore;
        bool mapped;
    } cases[] = {{{"-l", "0,1"}, 0, false},
                 {{"-l3-5"}, 3, false},
                 {{"-l", "5-3,4"}, 3, false},
                 {{"-c", "0xc0"}, 6, false},
                 {{"-c", "F00"}, 8, false},
                 {{"-c", "0"}, -1, false},
                 {{"-l", "2,4", "--main-lcore=4"}, 4, false},
                 {{"--master-lcore", "7", "-c", "ff"}, 7, false},
                 {{"--lcores", "1-2"}, 1, false},
                 {{"--lcores=(0,1)@5,2@6"}, -1, true},
                 {{"--file-prefix=l"}, -1, false},
                 {{"-l"}, -1, false},
                 {{"-l", "0,"}, -1, false},
                 {{"-l", "99999"}, -1, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = 0;
        bool mapped;
        while (n < COUNT(cases[i].args) && cases[i].args[n])
            n++;
        int lcore = dpdk_main_lcore(cases[i].args, n, &mapped);
        if (lcore != cases[i].lcore || mapped != cases[i].mapped)
            fail_msg("case %zu: %d", i, lcore);
    }
}

static void test_all_that_was_ever_sent(void **state)
{
    (void)state;
    static const char *const harmless[] = {"/",
                                           "/info",
                                           "/eal/params",
                                           "/ethdev/list",
                                           "/ethdev/stats",
                                           "/ethdev/xstats",
                                           "/ethdev/info",
                                           "/ethdev/link_status",
                                           "/mempool/list",
                                           "/mempool/info",
                                           "/eal/lcore/usage"};
    size_t n = 0;
    assert_non_null(all_requests);
    for (char *rest, *line = strtok_r(all_requests, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest), n++) {
        size_t i = 0, length = strcspn(line, ",");
        while (i < COUNT(harmless) &&
               (strlen(harmless[i]) != length || strncmp(harmless[i], line, length) != 0))
            i++;
        if (i == COUNT(harmless))
            fail_msg("sent: %s", line);
    }
    assert_true(n > 100);
    free(all_requests);
    all_requests = NULL;
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_begin, world_end)
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_two_processes),       IN_WORLD(test_lcores),
        IN_WORLD(test_hung_from_the_start), IN_WORLD(test_hung_and_back),
        IN_WORLD(test_slow_and_back),       IN_WORLD(test_ten_clients_already),
        IN_WORLD(test_number_used_again),   IN_WORLD(test_counters_set_back),
        IN_WORLD(test_xstats_cut),          IN_WORLD(test_xstats_of_zero),
        IN_WORLD(test_vhost_without_guest), IN_WORLD(test_oldest_release),
        IN_WORLD(test_bad_answers),         IN_WORLD(test_nothing_readable),
        IN_WORLD(test_coming_and_going),    IN_WORLD(test_two_workers),
        IN_WORLD(test_not_permitted),       cmocka_unit_test(test_names_of_workers),
        cmocka_unit_test(test_main_lcore),  cmocka_unit_test(test_all_that_was_ever_sent),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
