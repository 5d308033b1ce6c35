/* SPDX-License-Identifier: MIT */
/*
 * The collectors of the source `host` on trees of tests/fixtures/host, which are unpacked into a folder of
 * their own, on a made one with 192 CPUs, and on this machine. Rates are those of real frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collectors/host.h"
#include "collectors/host_topology.h"
#include "src/columns.h"
#include "src/frame.h"

#define FIXTURES "tests/fixtures/host/"

/* ---- trees ---- */

static void make_folders(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        if (mkdir(path, 0755) < 0)
            assert_int_equal(errno, EEXIST);
        *p = '/';
    }
}

static void join(char full[512], const char *root, const char *path)
{
    int n = snprintf(full, 512, "%s/%s", root, path);
    assert_in_range(n, 1, 511);
}

static void put(const char *root, const char *path, const char *text, size_t len)
{
    char full[512];
    join(full, root, path);
    make_folders(full);
    if (!text)
        return;
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void put_text(const char *root, const char *path, const char *text)
{
    put(root, path, text, strlen(text));
}

static void drop(const char *root, const char *path)
{
    char full[512];
    join(full, root, path);
    assert_int_equal(unlink(full), 0);
}

/* One "== " entry of a tree file; body ends where the next begins. */
static void unpack_entry(const char *root, char *head, const char *body, size_t len)
{
    char *arrow = strstr(head, " -> "), full[512];
    if (!arrow) {
        put(root, head, head[strlen(head) - 1] == '/' ? NULL : body, len);
        return;
    }
    *arrow = '\0';
    join(full, root, head);
    make_folders(full);
    assert_int_equal(symlink(arrow + 4, full), 0);
}

static void unpack(const char *root, const char *name)
{
    static char text[65536];
    char path[256];
    snprintf(path, sizeof(path), FIXTURES "%s.tree", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    for (char *p = text; *p;) {
        char *head = p + 3, *body = strchr(p, '\n');
        assert_memory_equal(p, "== ", 3);
        body++;
        char *next = strstr(body - 1, "\n== ");
        p = next ? next + 1 : text + n;
        body[-1] = '\0';
        unpack_entry(root, head, body, (size_t)(p - body));
    }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void new_root(char *root)
{
    strcpy(root, "/tmp/vnettop-host-XXXXXX");
    assert_non_null(mkdtemp(root));
}

static void remove_root(const char *root)
{
    assert_int_equal(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* ---- a collector and its last two samples ---- */

struct reader {
    const struct collector *collector;
    struct collect_config config;
    struct collect_call call;
    void *state;
    const struct sample *prev, *cur;
};

static enum collect_result begin(struct reader *r, const struct collector *collector, const char *root)
{
    *r = (struct reader){.collector = collector, .config = {.root = root}};
    return collector->open(&r->config, &r->state, &r->call);
}

/* Times are made whole seconds apart, so that rates come out even. */
static enum collect_result collect(struct reader *r)
{
    struct sample *sample = NULL;
    enum collect_result result = r->collector->collect(r->state, &r->call, &sample);
    if (result != COLLECT_OK)
        return result;
    if (r->config.root[0])
        sample->t0_ns = sample->t1_ns = (r->cur ? r->cur->t0_ns : 0) + 1000000000;
    sample_unref(r->prev);
    r->prev = r->cur;
    r->cur = sample;
    return result;
}

static void end(struct reader *r)
{
    r->collector->close(r->state);
    sample_unref(r->prev);
    sample_unref(r->cur);
}

static void start(struct reader *r, const struct collector *collector, const char *root)
{
    assert_int_equal(begin(r, collector, root), COLLECT_OK);
    assert_int_equal(collect(r), COLLECT_OK);
}

static struct frame *frame_of(const struct reader *r)
{
    struct pair pair = {.feed = r->collector->feed, .cur = r->cur, .prev = r->prev, .stale_ns = INT64_MAX};
    return frame_new(&pair, 1, r->cur->t1_ns, 0, 0);
}

static struct cell cell(const struct frame *frame, enum table_id table, const char *key, const char *column)
{
    const struct frame_row *row = frame_find(frame, table, key);
    const struct column *c = column_find(table_get(table), column);
    assert_non_null(c);
    return row ? frame_cell(frame, row, c) : (struct cell){.kind = CELL_NONE};
}

static struct cell cell_now(const struct reader *r, enum table_id table, const char *key, const char *column)
{
    struct frame *frame = frame_of(r);
    struct cell c = cell(frame, table, key, column);
    frame_free(frame);
    return c;
}

#define assert_number(r, table, key, column, value)                                                          \
    do {                                                                                                     \
        struct cell c_ = cell_now(r, table, key, column);                                                    \
        assert_true(cell_is_number(&c_));                                                                    \
        assert_true(fabs(cell_number(&c_) - (double)(value)) < 1e-6);                                        \
    } while (0)
#define assert_kind(r, table, key, column, kind_)                                                            \
    assert_int_equal(cell_now(r, table, key, column).kind, kind_)

/* Texts live in the samples, which the reader holds. */
#define assert_text(r, table, key, column, text)                                                             \
    do {                                                                                                     \
        struct cell c_ = cell_now(r, table, key, column);                                                    \
        assert_int_equal(c_.kind, CELL_STR);                                                                 \
        assert_string_equal(c_.str, text);                                                                   \
    } while (0)

/* ---- counters ---- */

static void test_counters(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    unpack(root, "numa4");
    start(&r, &host_collector, root);
    assert_int_equal(r.cur->set[TABLE_CPUS].n, 4);
    assert_number(&r, TABLE_CPUS, "cpu:0", "user_ticks", 1500);
    assert_number(&r, TABLE_CPUS, "cpu:0", "nice_ticks", 90);
    assert_number(&r, TABLE_CPUS, "cpu:0", "guest_ticks", 510);
    assert_number(&r, TABLE_CPUS, "cpu:2", "guest_ticks", 1010);
    assert_number(&r, TABLE_CPUS, "cpu:3", "steal_ticks", 1);
    assert_number(&r, TABLE_CPUS, "cpu:3", "net_rx", 1003);
    assert_number(&r, TABLE_CPUS, "cpu:1", "net_tx", 21);
    assert_number(&r, TABLE_CPUS, "cpu:2", "softnet_processed", 0x3000);
    assert_number(&r, TABLE_CPUS, "cpu:2", "softnet_dropped", 0x30);
    assert_number(&r, TABLE_CPUS, "cpu:2", "softnet_squeezed", 3);
    assert_text(&r, TABLE_HOST, "host", "host", "numa4");
    assert_number(&r, TABLE_HOST, "host", "running", 3);
    assert_number(&r, TABLE_HOST, "host", "switches", 7654321);
    assert_number(&r, TABLE_HOST, "host", "psi_cpu_some_us", 1111);
    assert_number(&r, TABLE_HOST, "host", "psi_irq_full_us", 2222);
    assert_number(&r, TABLE_HOST, "host", "psi_memory_some_us", 3333);
    assert_number(&r, TABLE_HOST, "host", "psi_io_some_us", 4444);
    assert_string_equal(r.call.detail, "4 CPUs; PSI");
    assert_kind(&r, TABLE_CPUS, "cpu:0", "user_pct", CELL_NEW);
    end(&r);
    remove_root(root);
}

static void test_old_kernel(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    unpack(root, "old2");
    start(&r, &host_collector, root);
    assert_number(&r, TABLE_CPUS, "cpu:1", "user_ticks", 200);
    assert_number(&r, TABLE_CPUS, "cpu:1", "softirq_ticks", 49);
    assert_kind(&r, TABLE_CPUS, "cpu:1", "steal_ticks", CELL_NONE);
    assert_kind(&r, TABLE_CPUS, "cpu:1", "guest_ticks", CELL_NONE);
    assert_kind(&r, TABLE_CPUS, "cpu:1", "guest_pct", CELL_NONE);
    assert_number(&r, TABLE_CPUS, "cpu:1", "softnet_processed", 0xb);
    assert_kind(&r, TABLE_HOST, "host", "psi_cpu_some_us", CELL_NONE);
    assert_non_null(strstr(r.call.detail, "no PSI"));
    /* 11 columns, and a line more than there are CPUs: nobody's. */
    put_text(root, "proc/net/softnet_stat",
             "1 2 3 4 5 6 7 8 9 a b\n1 2 3 4 5 6 7 8 9 a b\n1 2 3 4 5 6 7 8 9 a b\n");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_kind(&r, TABLE_CPUS, "cpu:1", "softnet_processed", CELL_NONE);
    put_text(root, "proc/net/softnet_stat", "1 2 3 4 5 6 7 8 9 a b\n10 2 3 4 5 6 7 8 9 a b\n");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_number(&r, TABLE_CPUS, "cpu:1", "softnet_processed", 0xb + 5);
    end(&r);
    remove_root(root);
}

#define STAT_2  "cpu0 100 0 0 900 0 0 0 0 0 0\ncpu1 200 0 0 800 0 0 0 0 0 0\n"
#define STAT_2B "cpu0 150 0 0 950 0 0 0 0 0 0\ncpu1 250 0 0 850 0 0 0 0 0 0\n"

static void test_wrap(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    put_text(root, "proc/stat", STAT_2);
    put_text(root, "proc/softirqs", "CPU0 CPU1\nNET_RX: 4294967290 1\nNET_TX: 4294967295 0\n");
    put_text(root, "proc/net/softnet_stat",
             "fffffff0 ffffffff ffffffff 0 0 0 0 0 0 0 0 0 0\n00000001 0 0 0 0 0 0 0 0 0 0 0 1\n");
    start(&r, &host_collector, root);
    put_text(root, "proc/stat", STAT_2B);
    put_text(root, "proc/softirqs", "CPU0 CPU1\nNET_RX: 4 1\nNET_TX: 0 0\n");
    put_text(root, "proc/net/softnet_stat",
             "00000010 00000001 00000000 0 0 0 0 0 0 0 0 0 0\n00000001 0 0 0 0 0 0 0 0 0 0 0 1\n");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_number(&r, TABLE_CPUS, "cpu:0", "softnet_pps", 32);
    assert_number(&r, TABLE_CPUS, "cpu:0", "softnet_drop_pps", 2);
    assert_number(&r, TABLE_CPUS, "cpu:0", "squeezed_per_s", 1);
    assert_number(&r, TABLE_CPUS, "cpu:0", "net_rx_per_s", 10);
    assert_number(&r, TABLE_CPUS, "cpu:0", "net_tx_per_s", 1);
    assert_number(&r, TABLE_CPUS, "cpu:0", "softnet_processed", UINT64_C(0x100000010));
    assert_number(&r, TABLE_CPUS, "cpu:1", "softnet_pps", 0);
    assert_number(&r, TABLE_CPUS, "cpu:0", "user_pct", 50);
    end(&r);
    remove_root(root);
}

/* user rises with guest, but each is rounded by itself; iowait goes back when the sleeper wakes elsewhere. */
static void test_steps_back(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    put_text(root, "proc/stat", "cpu0 1010 0 0 9000 700 0 0 0 1000 0\n");
    start(&r, &host_collector, root);
    put_text(root, "proc/stat", "cpu0 1060 0 0 9700 50 0 0 0 1051 0\n");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_number(&r, TABLE_CPUS, "cpu:0", "user_pct", 0);
    assert_number(&r, TABLE_CPUS, "cpu:0", "iowait_pct", 0);
    assert_number(&r, TABLE_CPUS, "cpu:0", "guest_pct", 100.0 * 51 / 751);
    /* More guest than user time is nothing the kernel writes: no negative. */
    put_text(root, "proc/stat", "cpu0 1060 0 0 9800 50 0 0 0 9000 0\n");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_number(&r, TABLE_CPUS, "cpu:0", "user_pct", 0);
    /* Set anew: an interval without a number, then right again. */
    put_text(root, "proc/stat", "cpu0 1060 0 0 100 50 0 0 0 9000 0\n");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_kind(&r, TABLE_CPUS, "cpu:0", "idle_pct", CELL_RESET);
    put_text(root, "proc/stat", "cpu0 1060 0 50 150 50 0 0 0 9000 0\n");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_number(&r, TABLE_CPUS, "cpu:0", "idle_pct", 50);
    assert_number(&r, TABLE_CPUS, "cpu:0", "busy_pct", 50);
    end(&r);
    remove_root(root);
}

static void put_cpu1(const char *root, bool online, const char *idle)
{
    char text[256];
    snprintf(text, sizeof(text), "cpu0 1 0 0 100 0 0 0 0 0 0\n%s%s%s", online ? "cpu1 5 0 0 " : "",
             online ? idle : "", online ? " 0 0 0 0 0 0\n" : "");
    put_text(root, "proc/stat", text);
    put_text(root, "proc/net/softnet_stat",
             online ? "10 0 0 0 0 0 0 0 0 0 0 0 0\n20 0 0 0 0 0 0 0 0 0 0 0 1\n"
                    : "10 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

static void test_offline_counters(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    put_cpu1(root, true, "5000");
    start(&r, &host_collector, root);
    const struct inventory *first = r.cur->inventory;
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_ptr_equal(r.cur->inventory, first);
    put_cpu1(root, false, "");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_ptr_not_equal(r.cur->inventory, first);
    assert_int_equal(r.cur->set[TABLE_CPUS].n, 1);
    assert_kind(&r, TABLE_CPUS, "cpu:1", "idle_pct", CELL_NONE);
    assert_number(&r, TABLE_CPUS, "cpu:0", "softnet_pps", 0);
    /* Back, its idle time set back by less than would be held. */
    put_cpu1(root, true, "4500");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_kind(&r, TABLE_CPUS, "cpu:1", "idle_pct", CELL_NEW);
    assert_kind(&r, TABLE_CPUS, "cpu:1", "softnet_pps", CELL_NEW);
    assert_number(&r, TABLE_CPUS, "cpu:1", "idle_ticks", 4500);
    put_cpu1(root, true, "4600");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_number(&r, TABLE_CPUS, "cpu:1", "idle_pct", 100);
    assert_number(&r, TABLE_CPUS, "cpu:1", "softnet_pps", 0);
    end(&r);
    remove_root(root);
}

static void test_counters_missing(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    assert_int_equal(begin(&r, &host_collector, root), COLLECT_FAILED);
    assert_non_null(strstr(r.call.error.text, "/proc/stat: No such file"));
    put_text(root, "proc/stat", STAT_2);
    start(&r, &host_collector, root);
    assert_kind(&r, TABLE_CPUS, "cpu:0", "net_rx", CELL_NONE);
    assert_kind(&r, TABLE_CPUS, "cpu:0", "softnet_pps", CELL_NONE);
    assert_kind(&r, TABLE_HOST, "host", "host", CELL_NONE);
    assert_non_null(strstr(r.call.detail, "no /proc/softirqs"));
    put_text(root, "proc/stat", "cpu0 nonsense\n");
    assert_int_equal(collect(&r), COLLECT_FAILED);
    assert_non_null(strstr(r.call.error.text, "/proc/stat: not in the form"));
    end(&r);
    remove_root(root);
}

/* Every length of every file: the collector answers, and a broken side file takes nothing else with it. */
static void test_cut_files(void **state)
{
    (void)state;
    static const char *const files[] = {"proc/stat", "proc/softirqs", "proc/net/softnet_stat",
                                        "proc/pressure/cpu"};
    static char text[8192];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char root[64], path[128];
        struct reader r;
        new_root(root);
        unpack(root, "numa4");
        snprintf(path, sizeof(path), "%s/%s", root, files[i]);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        size_t n = fread(text, 1, sizeof(text), f);
        fclose(f);
        start(&r, &host_collector, root);
        while (n-- > 0) {
            assert_int_equal(truncate(path, (off_t)n), 0);
            enum collect_result result = collect(&r);
            if (i == 0)
                assert_true(n > 0 || result == COLLECT_FAILED);
            else
                assert_int_equal(result, COLLECT_OK);
            if (result == COLLECT_OK && i > 0)
                assert_number(&r, TABLE_CPUS, "cpu:3", "idle_ticks", 10000);
        }
        end(&r);
        remove_root(root);
    }
}

/* ---- topology ---- */

static void test_topology(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    unpack(root, "numa4");
    start(&r, &host_topology_collector, root);
    assert_string_equal(r.call.detail, "4 CPUs, 2 nodes; isolated 2-3; interrupts of 1 port");
    assert_int_equal(r.cur->set[TABLE_CPUS].n, 4);
    assert_number(&r, TABLE_CPUS, "cpu:3", "cpu", 3);
    assert_number(&r, TABLE_CPUS, "cpu:3", "numa", 1);
    assert_number(&r, TABLE_CPUS, "cpu:3", "package", 1);
    assert_number(&r, TABLE_CPUS, "cpu:3", "core", 8);
    assert_text(&r, TABLE_CPUS, "cpu:3", "siblings", "1,3");
    assert_text(&r, TABLE_CPUS, "cpu:3", "isolated", "yes");
    assert_text(&r, TABLE_CPUS, "cpu:3", "nohz_full", "yes");
    assert_text(&r, TABLE_CPUS, "cpu:1", "isolated", "no");
    assert_text(&r, TABLE_CPUS, "cpu:1", "nohz_full", "no");
    assert_text(&r, TABLE_CPUS, "cpu:1", "online", "yes");
    assert_number(&r, TABLE_HOST, "host", "cpus_online", 4);
    assert_text(&r, TABLE_HOST, "host", "isolated_cpus", "2-3");
    end(&r);
    remove_root(root);
}

/* Governors come and go while it runs; of idle states those that take long to leave are counted. */
static void test_power(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    unpack(root, "numa4");
#define CPU1 "sys/devices/system/cpu/cpu1/"
    static const char *const latencies[] = {"0", "2", "19", "20", "133"};
    for (unsigned i = 0; i < 5; i++) {
        char path[96], usage[16];
        snprintf(path, sizeof(path), CPU1 "cpuidle/state%u/latency", i);
        put_text(root, path, latencies[i]);
        snprintf(path, sizeof(path), CPU1 "cpuidle/state%u/usage", i);
        snprintf(usage, sizeof(usage), "%u\n", 1u << i);
        put_text(root, path, usage);
    }
    put_text(root, CPU1 "cpufreq/scaling_governor", "powersave\n");
    start(&r, &host_topology_collector, root);
    assert_text(&r, TABLE_CPUS, "cpu:1", "governor", "powersave");
    assert_number(&r, TABLE_CPUS, "cpu:1", "idle_exit_us", 133);
    assert_number(&r, TABLE_CPUS, "cpu:1", "deep_sleeps", 8 + 16);
    assert_kind(&r, TABLE_CPUS, "cpu:2", "governor", CELL_NONE);
    assert_kind(&r, TABLE_CPUS, "cpu:2", "idle_exit_us", CELL_NONE);
    assert_kind(&r, TABLE_CPUS, "cpu:2", "deep_sleeps", CELL_NONE);
    const struct inventory *first = r.cur->inventory;
    put_text(root, CPU1 "cpuidle/state4/usage", "40000000000\n");
    collect(&r);
    assert_number(&r, TABLE_CPUS, "cpu:1", "deep_sleeps", 8 + 40000000000);
    assert_ptr_equal(r.cur->inventory, first);
    put_text(root, CPU1 "cpufreq/scaling_governor", "performance\n");
    collect(&r);
    assert_text(&r, TABLE_CPUS, "cpu:1", "governor", "performance");
#undef CPU1
    end(&r);
    remove_root(root);
}

static void test_ports_mlx5(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    unpack(root, "numa4");
    start(&r, &host_topology_collector, root);
    /* Not the asynchronous events on CPU 3, nor the vector that nobody handles; the representor has none. */
    assert_int_equal(r.cur->set[TABLE_PORTS].n, 2);
    assert_text(&r, TABLE_PORTS, "net:4026531840:2", "irq_cpus", "0-1");
    assert_text(&r, TABLE_PORTS, "net:4026531840:2", "xps_cpus", "0-3");
    assert_kind(&r, TABLE_PORTS, "net:4026531840:2", "numa", CELL_NONE);
    assert_text(&r, TABLE_PORTS, "net:4026531840:2", "name", "ens1f0");
    assert_kind(&r, TABLE_PORTS, "net:4026531840:2", "rps_cpus", CELL_NONE);
    assert_text(&r, TABLE_CPUS, "cpu:0", "irqs", "ens1f0 (2)");
    assert_kind(&r, TABLE_CPUS, "cpu:3", "irqs", CELL_NONE);
    assert_text(&r, TABLE_PORTS, "net:4026531840:9", "rps_cpus", "0-1,3");
    /* An unchanged host keeps its inventory; an interrupt that moves makes a new one. */
    const struct inventory *first = r.cur->inventory;
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_ptr_equal(r.cur->inventory, first);
    put_text(root, "proc/irq/44/effective_affinity_list", "2\n");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_ptr_not_equal(r.cur->inventory, first);
    assert_text(&r, TABLE_CPUS, "cpu:2", "irqs", "ens1f0");
    assert_text(&r, TABLE_PORTS, "net:4026531840:2", "irq_cpus", "0-2");
    put_text(root, "sys/devices/pci0000:3a/0000:3b:00.0/numa_node", "1\n");
    collect(&r);
    assert_number(&r, TABLE_PORTS, "net:4026531840:2", "numa", 1);
    put_text(root, "sys/devices/pci0000:3a/0000:3b:00.0/numa_node", "-1\n");
    collect(&r);
    assert_kind(&r, TABLE_PORTS, "net:4026531840:2", "numa", CELL_NONE);
    end(&r);
    remove_root(root);
}

static void test_ports_ixgbe(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    unpack(root, "old2");
    start(&r, &host_topology_collector, root);
    assert_kind(&r, TABLE_CPUS, "cpu:0", "numa", CELL_NONE);
    assert_kind(&r, TABLE_CPUS, "cpu:0", "core", CELL_NONE);
    assert_kind(&r, TABLE_CPUS, "cpu:0", "isolated", CELL_NONE);
    assert_text(&r, TABLE_CPUS, "cpu:0", "online", "yes");
    assert_text(&r, TABLE_PORTS, "net:4026531956:2", "irq_cpus", "0-1");
    assert_text(&r, TABLE_PORTS, "net:4026531956:2", "rps_cpus", "0-1");
    assert_text(&r, TABLE_PORTS, "net:4026531956:3", "irq_cpus", "1");
    assert_text(&r, TABLE_CPUS, "cpu:0", "irqs", "eth0 (2)");
    assert_text(&r, TABLE_CPUS, "cpu:1", "irqs", "eth0, eth1");
    assert_string_equal(r.call.detail, "2 CPUs; isolation not told; interrupts of 2 ports");
    /* Down, eth1 leaves its line to the USB controller. */
    char handler[512];
    join(handler, root, "proc/irq/18/eth1");
    assert_int_equal(rmdir(handler), 0);
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_text(&r, TABLE_CPUS, "cpu:1", "irqs", "eth0");
    end(&r);
    remove_root(root);
}

static void test_ports_virtio(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    unpack(root, "virtio2");
    start(&r, &host_topology_collector, root);
    assert_text(&r, TABLE_CPUS, "cpu:0", "irqs", "eth0 (2)");
    assert_text(&r, TABLE_CPUS, "cpu:1", "irqs", "eth0 (2)");
    assert_text(&r, TABLE_PORTS, "net:4026531833:4", "irq_cpus", "0-1");
    assert_text(&r, TABLE_CPUS, "cpu:1", "nohz_full", "no");
    assert_text(&r, TABLE_HOST, "host", "isolated_cpus", "none");
    assert_string_equal(r.call.detail, "2 CPUs; no isolated CPUs; interrupts of 1 port");
    end(&r);
    remove_root(root);
}

static void test_offline_topology(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    unpack(root, "numa4");
    start(&r, &host_topology_collector, root);
    put_text(root, "sys/devices/system/cpu/online", "0-2\n");
    put_text(root, "sys/devices/system/node/node1/cpulist", "1\n");
    put_text(root, "sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1\n");
    drop(root, "sys/devices/system/cpu/cpu3/topology/core_id");
    drop(root, "sys/devices/system/cpu/cpu3/topology/physical_package_id");
    drop(root, "sys/devices/system/cpu/cpu3/topology/thread_siblings_list");
    assert_int_equal(collect(&r), COLLECT_OK);
    assert_text(&r, TABLE_CPUS, "cpu:3", "online", "no");
    assert_kind(&r, TABLE_CPUS, "cpu:3", "numa", CELL_NONE);
    assert_kind(&r, TABLE_CPUS, "cpu:3", "siblings", CELL_NONE);
    assert_text(&r, TABLE_CPUS, "cpu:1", "siblings", "1");
    assert_number(&r, TABLE_HOST, "host", "cpus_online", 3);
    assert_string_equal(r.call.detail, "3 CPUs, 1 offline, 2 nodes; isolated 2-3; interrupts of 1 port");
    end(&r);
    remove_root(root);
}

static void test_topology_missing(void **state)
{
    (void)state;
    char root[64];
    struct reader r;
    new_root(root);
    assert_int_equal(begin(&r, &host_topology_collector, root), COLLECT_NONE);
    assert_non_null(strstr(r.call.error.text, "/sys: No such file"));
    put_text(root, "sys/devices/system/cpu/online", "what\n");
    assert_int_equal(begin(&r, &host_topology_collector, root), COLLECT_OK);
    assert_int_equal(collect(&r), COLLECT_NONE);
    assert_non_null(strstr(r.call.error.text, "mount sysfs"));
    end(&r);
    /* CPUs alone: no /proc, no ports. */
    put_text(root, "sys/devices/system/cpu/online", "0,5\n");
    start(&r, &host_topology_collector, root);
    assert_int_equal(r.cur->set[TABLE_CPUS].n, 2);
    assert_int_equal(r.cur->set[TABLE_PORTS].n, 0);
    assert_kind(&r, TABLE_CPUS, "cpu:5", "package", CELL_NONE);
    end(&r);
    remove_root(root);
}

/* ---- many CPUs, and both parts in one frame ---- */

static void put_many(const char *root, unsigned cpus, unsigned time)
{
    char *stat = NULL, *softirqs = NULL, *softnet = NULL;
    size_t size[3];
    FILE *f[3] = {open_memstream(&stat, &size[0]), open_memstream(&softirqs, &size[1]),
                  open_memstream(&softnet, &size[2])};
    fprintf(f[1], "%20s", "");
    for (unsigned i = 0; i < cpus; i++) {
        fprintf(f[0], "cpu%u %u 0 %u %u 0 0 0 0 %u 0\n", i, time * (i % 50), time * 10, time * (90 - i % 50),
                time * (i % 50));
        fprintf(f[1], "CPU%-8u", i);
        fprintf(f[2], "%08x %08x %08x 0 0 0 0 0 0 0 0 00000000 %08x 00000000 00000000\n", time * i, time, 0,
                i);
    }
    fprintf(f[1], "\n%12s:", "NET_RX");
    for (unsigned i = 0; i < cpus; i++)
        fprintf(f[1], " %10u", time * 2 * i);
    fprintf(f[1], "\n");
    for (int i = 0; i < 3; i++)
        fclose(f[i]);
    put_text(root, "proc/stat", stat);
    put_text(root, "proc/softirqs", softirqs);
    put_text(root, "proc/net/softnet_stat", softnet);
    free(stat), free(softirqs), free(softnet);
}

static void test_192_cpus(void **state)
{
    (void)state;
    char root[64], list[64];
    struct reader fast, slow;
    const unsigned cpus = 192;
    new_root(root);
    snprintf(list, sizeof(list), "0-%u\n", cpus);
    put_text(root, "sys/devices/system/cpu/online", list); /* and one that /proc/stat lacks */
    put_many(root, cpus, 1);
    start(&fast, &host_collector, root);
    start(&slow, &host_topology_collector, root);
    put_many(root, cpus, 101);
    assert_int_equal(collect(&fast), COLLECT_OK);
    struct pair pairs[] = {{.feed = "host", .cur = fast.cur, .prev = fast.prev, .stale_ns = INT64_MAX},
                           {.feed = "host-topology", .cur = slow.cur, .prev = NULL, .stale_ns = INT64_MAX}};
    struct frame *frame = frame_new(pairs, 2, fast.cur->t1_ns, 0, 0);
    assert_int_equal(frame->table[TABLE_CPUS].n, cpus + 1);
    for (unsigned i = 0; i < cpus; i++) {
        char key[16];
        snprintf(key, sizeof(key), "cpu:%u", i);
        assert_true(cell(frame, TABLE_CPUS, key, "guest_pct").f64 == i % 50);
        assert_true(cell(frame, TABLE_CPUS, key, "user_pct").f64 == 0);
        assert_true(cell(frame, TABLE_CPUS, key, "busy_pct").f64 == 10 + i % 50);
        assert_true(cell(frame, TABLE_CPUS, key, "softnet_pps").f64 == 100.0 * i);
        assert_true(cell(frame, TABLE_CPUS, key, "net_rx_per_s").f64 == 200.0 * i);
        assert_string_equal(cell(frame, TABLE_CPUS, key, "online").str, "yes");
    }
    assert_int_equal(cell(frame, TABLE_CPUS, "cpu:192", "busy_pct").kind, CELL_NONE);
    frame_free(frame);
    end(&fast);
    end(&slow);
    remove_root(root);
}

/* ---- this machine ---- */

static int64_t thread_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

struct spin {
    int cpu;
    int64_t until_ns, ran_ns;
};

static void *spin(void *arg)
{
    struct spin *spin = arg;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(spin->cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    int64_t start_ns = thread_cpu_ns();
    while (clock_mono_ns() < spin->until_ns)
        for (volatile int i = 0; i < 100000; i++)
            ;
    spin->ran_ns = thread_cpu_ns() - start_ns;
    return NULL;
}

static int first_allowed_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    return cpu;
}

static void test_live_spin(void **state)
{
    (void)state;
    static const char *const shares[] = {"user_pct",  "nice_pct",  "system_pct", "softirq_pct", "irq_pct",
                                         "guest_pct", "steal_pct", "iowait_pct", "idle_pct"};
    struct reader r;
    struct spin job = {.cpu = first_allowed_cpu()};
    pthread_t thread;
    char key[16];
    double sum = 0;
    snprintf(key, sizeof(key), "cpu:%d", job.cpu);
    start(&r, &host_collector, "");
    job.until_ns = clock_mono_ns() + 1000000000;
    assert_int_equal(pthread_create(&thread, NULL, spin, &job), 0);
    pthread_join(thread, NULL);
    assert_int_equal(collect(&r), COLLECT_OK);
    struct frame *frame = frame_of(&r);
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        struct cell c = cell(frame, TABLE_CPUS, key, shares[i]);
        if (c.kind != CELL_NONE)
            assert_int_equal(c.kind, CELL_F64);
        sum += cell_number(&c);
    }
    struct cell user = cell(frame, TABLE_CPUS, key, "user_pct"),
                steal = cell(frame, TABLE_CPUS, key, "steal_pct");
    struct cell busy = cell(frame, TABLE_CPUS, key, "busy_pct"),
                nice = cell(frame, TABLE_CPUS, key, "nice_pct");
    double ran_pct = (double)job.ran_ns / 1e7;
    print_message("user %.1f nice %.1f steal %.1f busy %.1f, the thread ran %.1f %%\n", cell_number(&user),
                  cell_number(&nice), cell_number(&steal), cell_number(&busy), ran_pct);
    assert_true(sum > 99 && sum < 101);
    assert_true(cell_number(&busy) >= 90);
    /* Alone on its CPU the thread is the user time; others there, or a test run at low priority, share it. */
    assert_true(cell_number(&user) + cell_number(&nice) >= 0.9 * ran_pct - cell_number(&steal));
    frame_free(frame);
    end(&r);
}

static void test_live_topology(void **state)
{
    (void)state;
    struct reader fast, slow;
    start(&fast, &host_collector, "");
    start(&slow, &host_topology_collector, "");
    struct cell online = cell_now(&slow, TABLE_HOST, "host", "cpus_online");
    assert_int_equal(online.u64, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(fast.cur->set[TABLE_CPUS].n, online.u64);
    assert_true(slow.cur->t1_ns >= slow.cur->t0_ns && slow.cur->t0_ns > 0);
    struct cell softnet = cell_now(&fast, TABLE_CPUS, "cpu:0", "softnet_processed");
    assert_int_equal(softnet.kind, CELL_U64);
    end(&fast);
    end(&slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_old_kernel),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_steps_back),
        cmocka_unit_test(test_offline_counters),
        cmocka_unit_test(test_counters_missing),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_topology),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_ports_mlx5),
        cmocka_unit_test(test_ports_ixgbe),
        cmocka_unit_test(test_ports_virtio),
        cmocka_unit_test(test_offline_topology),
        cmocka_unit_test(test_topology_missing),
        cmocka_unit_test(test_192_cpus),
        cmocka_unit_test(test_live_spin),
        cmocka_unit_test(test_live_topology),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
