/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the OVS collectors share: a collector opened on a fake daemon and read as a feed reads
 * it, the rows of its samples by key, and recorded releases to answer with. Included by tests alone, which
 * run from the project's folder.
 */
#ifndef TESTS_OVS_READER_H
#define TESTS_OVS_READER_H

#include "collectors/ovs.h"
#include "unit/fake_ovs.h"
#include "unit/make_sample.h"

/* A collector opened on a fake daemon, and its last two samples. */
struct reader {
    const struct collector *collector;
    const char *dirs[2];
    struct collect_config config;
    struct collect_call call;
    int64_t patience_ns; /* a read's deadline */
    void *state;
    struct sample *cur, *prev;
};

static inline char *read_file(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *data = calloc(1, 1 << 20);
    if (!f)
        fail_msg("%s: cannot be read", path);
    *len = fread(data, 1, (1 << 20) - 1, f);
    fclose(f);
    return data;
}

static inline struct reader reader_of(const struct collector *collector, const char *dir)
{
    struct reader r = {
        .collector = collector, .dirs = {dir}, .call = {.stop_fd = -1}, .patience_ns = 5 * SECOND};
    return r;
}

static inline enum collect_result open_reader(struct reader *r)
{
    r->config = (struct collect_config){.ovs_rundirs = r->dirs, .root = ""};
    r->call.deadline_ns = clock_mono_ns() + r->patience_ns;
    return r->collector->open(&r->config, &r->state, &r->call);
}

/* As a feed does: opens when it must, reads once, closes after a failure. */
static inline enum collect_result read_once(struct reader *r)
{
    struct sample *sample = NULL;
    enum collect_result result = r->state ? COLLECT_OK : open_reader(r);
    if (result != COLLECT_OK)
        return result;
    r->call.deadline_ns = clock_mono_ns() + r->patience_ns;
    result = r->collector->collect(r->state, &r->call, &sample);
    if (result != COLLECT_OK) {
        r->collector->close(r->state);
        r->state = NULL;
        return result;
    }
    sample_unref(r->prev);
    r->prev = r->cur;
    r->cur = sample;
    return result;
}

static inline void read_ok(struct reader *r)
{
    enum collect_result result = read_once(r);
    if (result != COLLECT_OK)
        fail_msg("%d: %s", (int)result, r->call.error.text);
}

static inline void close_reader(struct reader *r)
{
    if (r->state)
        r->collector->close(r->state);
    sample_unref(r->cur);
    sample_unref(r->prev);
}

static inline struct frame *frame_of(const struct reader *r)
{
    struct pair pair = {.feed = "ovs", .cur = r->cur, .prev = r->prev};
    return frame_new(&pair, 1, r->cur->t1_ns, r->cur->wall_ns, 0);
}

/* The row with that key, by table; NULL when there is none. */
static inline const void *row_of(const struct reader *r, enum table_id table, const char *format, ...)
{
    char key[512];
    va_list args;
    va_start(args, format);
    vsnprintf(key, sizeof(key), format, args);
    va_end(args);
    for (size_t i = 0; i < r->cur->set[table].n; i++)
        if (strcmp(sample_row_at(r->cur, table, i)->info->key, key) == 0)
            return sample_row_at(r->cur, table, i);
    return NULL;
}

#define INFO(row, type) ((const struct type *)(row)->head.info)

/* ---- recorded releases ---- */

static inline void answer_file(struct fake_ovs *o, const char *release, const char *command, const char *file)
{
    char path[128];
    size_t len;
    snprintf(path, sizeof(path), "tests/fixtures/ovs/%s/02/%s", release, file);
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    fclose(f);
    char *text = read_file(path, &len);
    fake_ovs_answer(o, command, text);
    free(text);
}

/* The recording asked for fewer columns than we do: what was configured is put in again. */
static inline void pin_p2(json_t *tables)
{
    const char *uuid;
    json_t *update;
    json_object_foreach(json_object_get(tables, "Interface"), uuid, update)
    {
        json_t *row = json_object_get(update, "initial");
        const char *name = json_string_value(json_object_get(row, "name"));
        if (name && strcmp(name, "p2") == 0)
            json_object_set_new(row, "other_config",
                                json_pack("[s[[ss]]]", "map", "pmd-rxq-affinity", "0:1"));
    }
}

static inline void start_release(struct fake_ovs *o, const char *release)
{
    char path[128], version[128];
    size_t len;
    fake_ovs_start(o);
    snprintf(version, sizeof(version), "ovs-vswitchd (Open vSwitch) %s.1\n", release);
    fake_ovs_answer(o, "version", version);
    answer_file(o, release, "dpif-netdev/pmd-stats-show ovs-netdev", "pmd-stats-show.txt");
    answer_file(o, release, "dpif-netdev/pmd-perf-show -nh ovs-netdev", "pmd-perf-show.txt");
    /* 2.8 refuses the wish for the last seconds. */
    answer_file(o, release,
                strcmp(release, "2.8") == 0 ? "dpif-netdev/pmd-rxq-show ovs-netdev"
                                            : "dpif-netdev/pmd-rxq-show -secs 5 ovs-netdev",
                "pmd-rxq-show.txt");
    answer_file(o, release, "dpif-netdev/pmd-sleep-show ovs-netdev", "pmd-sleep-show.txt");
    answer_file(o, release, "dpctl/show -s", "dpctl_show.txt");
    answer_file(o, release, "upcall/show", "upcall_show.txt");
    answer_file(o, release, "coverage/show", "coverage_show.txt");
    snprintf(path, sizeof(path), "tests/fixtures/ovs/%s/02/ovsdb_monitor_cond_reply.json", release);
    char *data = read_file(path, &len);
    json_t *reply = json_loads(data, 0, NULL);
    pin_p2(json_object_get(reply, "result"));
    char *result = json_dumps(json_object_get(reply, "result"), JSON_COMPACT);
    fake_ovs_set_db(o, result);
    json_decref(reply);
    free(result);
    free(data);
    snprintf(path, sizeof(path), "tests/fixtures/ovs/%s/02/port-stats.of14.bin", release);
    data = read_file(path, &len);
    fake_ovs_set_stats(o, data, len);
    free(data);
}

static const char *const releases[] = {"2.8", "2.9", "2.13", "3.1", "3.5", "4.0"};
#define N_RELEASES (sizeof(releases) / sizeof(releases[0]))

/* The ports of every recorded release, by OpenFlow. */
static inline void check_ports(const struct reader *r, const char *dir)
{
    static const struct {
        const char *name, *kind;
        uint64_t rx, tx;
    } wanted[] = {{"p0", "dummy", 300, 270},
                  {"p1", "dummy", 150, 420},
                  {"p2", "dummy", 100, 470},
                  {"vx0", "tunnel", 0, 570}};
    assert_int_equal(r->cur->set[TABLE_PORTS].n, 7); /* and ve0, br0, missing0 */
    for (size_t i = 0; i < 4; i++) {
        const struct ports_row *row = row_of(r, TABLE_PORTS, "ovs:%s:%s", dir, wanted[i].name);
        assert_non_null(row);
        assert_string_equal(INFO(row, ports_info)->kind, wanted[i].kind);
        assert_string_equal(INFO(row, ports_info)->switch_, "br0");
        assert_string_equal(INFO(row, ports_info)->datapath, "netdev@ovs-netdev");
        assert_int_equal(row->rx_packets, wanted[i].rx);
        assert_int_equal(row->tx_packets, wanted[i].tx);
        assert_false(row_has(row, rx_errors)); /* all ones: it has none */
    }
    const struct ports_row *missing = row_of(r, TABLE_PORTS, "ovs:%s:missing0", dir);
    assert_non_null(missing);
    assert_false(row_has(missing, rx_packets));
}

/* Inode of this process's network namespace, which is the fake daemon's too. */
static inline uint64_t own_netns(void)
{
    struct stat st;
    assert_int_equal(stat("/proc/self/ns/net", &st), 0);
    return st.st_ino;
}

#endif
