/* SPDX-License-Identifier: MIT */
/*
 * The telemetry parsers and the loss table against every recorded reply of four DPDK releases, with what
 * testpmd itself said of the same moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/telemetry_loss.h"
#include "collectors/telemetry_parse.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FIXTURES "tests/fixtures/dpdk"

struct record {
    char situation[32];
    char *command; /* NULL: the greeting */
    unsigned round;
    bool invalid, no_reply;
    char *bytes;
    size_t len;
};

struct recording {
    unsigned release;
    struct record *v;
    size_t n;
    json_t *heads; /* situation -> its line */
};

static struct recording recordings[4] = {
    {.release = 2011}, {.release = 2211}, {.release = 2411}, {.release = 2511}};

/* Latin-1 out of UTF-8: the bytes as they came. */
static char *to_bytes(const char *text, size_t n, size_t *len)
{
    char *out = malloc(n + 1);
    *len = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        out[(*len)++] = (char)(c < 0x80 ? c : (c & 3) << 6 | ((unsigned char)text[++i] & 0x3f));
    }
    return out;
}

static void load_record(struct recording *r, json_t *line, const char *situation)
{
    struct record *rec = &r->v[r->n - 1];
    const char *command = json_string_value(json_object_get(line, "command"));
    json_t *reply = json_object_get(line, "reply"), *like = json_object_get(line, "as_line");
    snprintf(rec->situation, sizeof rec->situation, "%s", situation);
    rec->command = command ? strdup(command) : NULL;
    rec->round =
        json_object_get(line, "round") ? (unsigned)json_integer_value(json_object_get(line, "round")) : 1;
    rec->invalid = json_is_true(json_object_get(line, "invalid"));
    rec->no_reply = json_object_get(line, "error") != NULL;
    if (reply) {
        rec->bytes = to_bytes(json_string_value(reply), json_string_length(reply), &rec->len);
    } else if (like) {
        const struct record *from = &r->v[json_integer_value(like) - 1];
        rec->bytes = malloc(from->len + 1);
        memcpy(rec->bytes, from->bytes, from->len);
        rec->len = from->len;
    }
}

/* One record a line, so that as_line counts; lines that begin a situation stay empty. */
static void load_recording(struct recording *r)
{
    char path[128], situation[32] = "";
    char *text = NULL;
    size_t cap = 0;
    snprintf(path, sizeof path, FIXTURES "/%u.%02u.jsonl", r->release / 100, r->release % 100);
    FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s: run from the top folder", path);
    r->heads = json_object();
    while (getline(&text, &cap, f) > 0) {
        json_t *line = json_loads(text, JSON_ALLOW_NUL, NULL);
        const char *begins = json_string_value(json_object_get(line, "situation"));
        assert_non_null(line);
        r->v = realloc(r->v, (r->n + 1) * sizeof *r->v);
        r->v[r->n++] = (struct record){0};
        if (begins) {
            snprintf(situation, sizeof situation, "%s", begins);
            json_object_set(r->heads, begins, line);
        } else {
            load_record(r, line, situation);
        }
        json_decref(line);
    }
    free(text);
    fclose(f);
}

static int load_recordings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++)
        load_recording(&recordings[i]);
    return 0;
}

static int free_recordings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        for (size_t j = 0; j < recordings[i].n; j++) {
            free(recordings[i].v[j].command);
            free(recordings[i].v[j].bytes);
        }
        free(recordings[i].v);
        json_decref(recordings[i].heads);
    }
    return 0;
}

static const struct record *find_record(const struct recording *r, const char *situation, const char *command,
                                        unsigned round)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].command && strcmp(r->v[i].situation, situation) == 0 && r->v[i].round == round &&
            strcmp(r->v[i].command, command) == 0)
            return &r->v[i];
    return NULL;
}

/* A reply with the memory it stands in. */
struct reading {
    enum telemetry_status status;
    struct telemetry_reply reply;
    struct json64 *doc;
    char *copy;
};

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

static struct reading read_bytes(enum telemetry_command command, const char *bytes, size_t len)
{
    struct reading r = {.copy = malloc(len + 1), .doc = calloc(1, sizeof *r.doc)};
    char why[256];
    memcpy(r.copy, bytes, len);
    r.status = telemetry_read_reply(&r.reply, command, r.doc, r.copy, len, 16384, why, sizeof why);
    return r;
}

static struct reading read_text(enum telemetry_command command, const char *text)
{
    return read_bytes(command, text, strlen(text));
}

static struct reading read_round(const struct recording *r, const char *situation, const char *command,
                                 unsigned round)
{
    const struct record *rec = find_record(r, situation, command, round);
    if (!rec)
        fail_msg("no %s in %s of %u", command, situation, r->release);
    return read_bytes(command_of(command), rec->bytes, rec->len);
}

static void end_reading(struct reading *r)
{
    json64_free(r->doc);
    free(r->doc);
    free(r->copy);
}

static struct telemetry_stats stats_round(const struct recording *r, const char *situation, int port,
                                          unsigned round)
{
    char command[64];
    struct telemetry_stats stats;
    snprintf(command, sizeof command, "/ethdev/stats,%d", port);
    struct reading reading = read_round(r, situation, command, round);
    assert_int_equal(reading.status, TELEMETRY_OK);
    assert_int_equal(telemetry_parse_stats(&reading.reply, &stats), TELEMETRY_OK);
    assert_int_equal(stats.has, 0xff);
    end_reading(&reading);
    return stats;
}

/* Free with telemetry_xstats_free. */
static struct telemetry_xstats xstats_round(const struct recording *r, const char *situation,
                                            const char *command, unsigned round)
{
    struct telemetry_xstats xstats = {0};
    struct reading reading = read_round(r, situation, command, round);
    assert_int_equal(reading.status, TELEMETRY_OK);
    assert_int_equal(telemetry_parse_xstats(&reading.reply, &xstats), TELEMETRY_OK);
    end_reading(&reading);
    return xstats;
}

static void assert_same_value(const struct json64 *doc, const struct json64_node *ours, json_t *theirs)
{
    static const int types[] = {
        [JSON64_NULL] = JSON_NULL,    [JSON64_BOOL] = -1,          [JSON64_INT] = JSON_INTEGER,
        [JSON64_REAL] = JSON_REAL,    [JSON64_TEXT] = JSON_STRING, [JSON64_ARRAY] = JSON_ARRAY,
        [JSON64_OBJECT] = JSON_OBJECT};
    size_t i = 0;
    int64_t number;
    assert_int_equal(types[ours->type], json_typeof(theirs));
    if (ours->type == JSON64_INT) {
        assert_true(json64_i64(ours, &number));
        assert_true(number == json_integer_value(theirs));
    }
    if (ours->type == JSON64_TEXT)
        assert_string_equal(ours->text, json_string_value(theirs));
    for (const struct json64_node *c = json64_first(doc, ours); c; c = json64_next(doc, ours, c), i++)
        assert_same_value(doc, c, c->key ? json_object_get(theirs, c->key) : json_array_get(theirs, i));
    assert_int_equal(i, ours->n);
}

/* Our reader and another say the same of every recorded reply, valid or not. */
static void test_recordings_read_as_another_reader_does(void **state)
{
    (void)state;
    size_t n = 0, n_invalid = 0;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        for (size_t j = 0; j < recordings[i].n; j++) {
            const struct record *rec = &recordings[i].v[j];
            struct json64 doc = {0};
            char err[128];
            if (!rec->bytes)
                continue;
            json_t *theirs = json_loadb(rec->bytes, rec->len, 0, NULL);
            char *copy = malloc(rec->len + 1);
            memcpy(copy, rec->bytes, rec->len);
            bool good = json64_parse(&doc, copy, rec->len, err, sizeof err);
            assert_int_equal(good, theirs != NULL);
            assert_int_equal(good, !rec->invalid);
            if (good)
                assert_same_value(&doc, doc.v, theirs);
            n++;
            n_invalid += rec->invalid;
            json_decref(theirs);
            free(copy);
            json64_free(&doc);
        }
    }
    assert_true(n > 2400);
    assert_true(n_invalid >= 16);
}

/* Runs the parser of the reply's command; OK or NONE. */
static enum telemetry_status parse_any(const struct telemetry_reply *reply)
{
    static struct telemetry_usage usage;
    struct telemetry_hello hello;
    struct telemetry_ids ids;
    struct telemetry_texts texts = {0};
    struct telemetry_stats stats;
    struct telemetry_xstats xstats = {0};
    struct telemetry_port port;
    struct telemetry_link link;
    struct telemetry_pool pool;
    struct telemetry_lcore lcore;
    uint32_t mask;
    enum telemetry_status status = TELEMETRY_FAILED;
    switch (reply->command) {
    case TELEMETRY_ROOT:
        return telemetry_parse_root(reply, &mask);
    case TELEMETRY_INFO:
        return telemetry_parse_info(reply, &hello);
    case TELEMETRY_EAL_PARAMS:
    case TELEMETRY_EAL_APP_PARAMS:
    case TELEMETRY_MEMPOOL_LIST:
        status = telemetry_parse_texts(reply, &texts);
        telemetry_texts_free(&texts);
        return status;
    case TELEMETRY_ETHDEV_LIST:
    case TELEMETRY_LCORE_LIST:
        return telemetry_parse_ids(reply, &ids);
    case TELEMETRY_ETHDEV_STATS:
        return telemetry_parse_stats(reply, &stats);
    case TELEMETRY_ETHDEV_XSTATS:
        status = telemetry_parse_xstats(reply, &xstats);
        telemetry_xstats_free(&xstats);
        return status;
    case TELEMETRY_ETHDEV_INFO:
        return telemetry_parse_port(reply, &port);
    case TELEMETRY_ETHDEV_LINK:
        return telemetry_parse_link(reply, &link);
    case TELEMETRY_MEMPOOL_INFO:
        return telemetry_parse_pool(reply, &pool);
    case TELEMETRY_LCORE_INFO:
        return telemetry_parse_lcore(reply, &lcore);
    case TELEMETRY_LCORE_USAGE:
        return telemetry_parse_usage(reply, &usage);
    case TELEMETRY_COMMANDS:
        break;
    }
    return status;
}

static void test_every_recorded_reply_parses(void **state)
{
    (void)state;
    size_t n_ours = 0, n_null = 0, n_hello = 0;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        for (size_t j = 0; j < recordings[i].n; j++) {
            const struct record *rec = &recordings[i].v[j];
            if (!rec->bytes)
                continue;
            if (!rec->command) {
                struct json64 doc = {0};
                struct telemetry_hello hello;
                char err[128], *copy = malloc(rec->len + 1);
                memcpy(copy, rec->bytes, rec->len);
                assert_int_equal(telemetry_read_hello(&doc, copy, rec->len, &hello, err, sizeof err),
                                 TELEMETRY_OK);
                assert_int_equal(hello.release, recordings[i].release);
                assert_int_equal(hello.max_output_len, 16384);
                assert_true(hello.pid > 1);
                free(copy);
                json64_free(&doc);
                n_hello++;
                continue;
            }
            enum telemetry_command command = command_of(rec->command);
            bool ours = command != TELEMETRY_COMMANDS;
            struct reading r = read_bytes(ours ? command : TELEMETRY_INFO, rec->bytes, rec->len);
            if (rec->invalid)
                assert_int_equal(r.status, TELEMETRY_UNREADABLE);
            else if (!ours)
                assert_int_equal(r.status, TELEMETRY_GARBLED);
            else if (r.status == TELEMETRY_NONE)
                n_null++;
            else
                assert_int_equal(r.status, TELEMETRY_OK);
            if (r.status == TELEMETRY_OK) {
                enum telemetry_status status = parse_any(&r.reply);
                if (status != TELEMETRY_OK && status != TELEMETRY_NONE)
                    fail_msg("%u %s %s: %s", recordings[i].release, rec->situation, rec->command,
                             telemetry_status_name(status));
                n_ours++;
            }
            end_reading(&r);
        }
    }
    assert_true(n_ours > 1000 && n_null > 50 && n_hello > 20);
}

/* The counter that testpmd calls so. */
static uint64_t stat_named(const struct telemetry_stats *s, const char *name)
{
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {{"ipackets", s->ipackets}, {"opackets", s->opackets},  {"ibytes", s->ibytes},
               {"obytes", s->obytes},     {"imissed", s->imissed},    {"ierrors", s->ierrors},
               {"oerrors", s->oerrors},   {"rx_nombuf", s->rx_nombuf}};
    for (size_t i = 0; i < COUNT(all); i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].value;
    fail_msg("no counter %s", name);
    return 0;
}

static void assert_stats_equal(const struct recording *r, const char *situation, const char *port,
                               json_t *expected)
{
    struct telemetry_stats stats = stats_round(r, situation, atoi(port), 1);
    const char *name;
    json_t *value;
    json_object_foreach(expected, name, value)
    {
        if (stat_named(&stats, name) != (uint64_t)json_integer_value(value))
            fail_msg("%u %s port %s %s: telemetry %llu, testpmd %lld", r->release, situation, port, name,
                     (unsigned long long)stat_named(&stats, name), (long long)json_integer_value(value));
    }
}

static void assert_difference(const struct recording *r, const char *situation, const char *port,
                              json_t *expected)
{
    struct telemetry_stats a = stats_round(r, situation, atoi(port), 1),
                           b = stats_round(r, situation, atoi(port), 2);
    const char *name;
    json_t *value;
    json_object_foreach(expected, name, value)
    {
        assert_true((int64_t)(stat_named(&b, name) - stat_named(&a, name)) == json_integer_value(value));
    }
}

/* Where forwarding stands still telemetry is what testpmd prints, to the packet; differences are as recorded.
 */
static void test_recordings_equal_testpmd(void **state)
{
    (void)state;
    size_t n_exact = 0, n_diff = 0;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        const char *situation, *port;
        json_t *head, *one;
        json_object_foreach(recordings[i].heads, situation, head)
        {
            json_t *expected = json_object_get(head, "expected");
            json_object_foreach(json_object_get(expected, "ports"), port, one)
            {
                if (json_is_true(json_object_get(expected, "exact"))) {
                    assert_stats_equal(&recordings[i], situation, port, json_object_get(one, "testpmd"));
                    n_exact++;
                }
                if (json_object_get(one, "diff")) {
                    assert_difference(&recordings[i], situation, port, json_object_get(one, "diff"));
                    n_diff++;
                }
            }
        }
    }
    assert_true(n_exact > 60 && n_diff > 60);
}

static void test_exactly_a_thousand_frames(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        for (int port = 0; port < 4; port++) {
            struct telemetry_stats a = stats_round(&recordings[i], "misc-exact", port, 1);
            struct telemetry_stats b = stats_round(&recordings[i], "misc-exact", port, 2);
            assert_int_equal(b.ipackets - a.ipackets, port == 2 ? 1000 : 0);
            assert_int_equal(b.ibytes - a.ibytes, port == 2 ? 100000 : 0);
            assert_int_equal(b.opackets - a.opackets, port == 3 ? 1000 : 0);
            assert_int_equal(b.obytes - a.obytes, port == 3 ? 100000 : 0);
            assert_int_equal(b.imissed + b.ierrors + b.oerrors + b.rx_nombuf,
                             a.imissed + a.ierrors + a.oerrors + a.rx_nombuf);
        }
    }
}

static void test_both_ends_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        for (unsigned round = 1; round <= 2; round++) {
            struct telemetry_stats v = stats_round(&recordings[i], "vhost-stopped", 0, round);
            struct telemetry_stats u = stats_round(&recordings[i], "virtio-stopped", 0, round);
            assert_true(v.ipackets > 1000000);
            assert_true(v.ipackets == u.opackets);
            assert_true(v.ibytes == u.obytes);
            assert_true(v.ibytes == v.ipackets * 64);
        }
    }
}

static void test_cleared_counters_are_zero(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        for (int port = 0; port < 4; port++) {
            char command[64];
            uint64_t sum = 0;
            for (unsigned round = 2; round <= 3; round++) {
                struct telemetry_stats s = stats_round(&recordings[i], "misc-reset", port, round);
                assert_int_equal(s.ipackets + s.opackets + s.ibytes + s.obytes, 0);
            }
            snprintf(command, sizeof command, "/ethdev/xstats,%d", port);
            struct telemetry_xstats x = xstats_round(&recordings[i], "misc-reset", command, 3);
            for (uint32_t j = 0; j < x.n; j++)
                sum += x.v[j].value;
            assert_true(x.n > 8 && sum == 0);
            telemetry_xstats_free(&x);
        }
    }
}

static void test_cut_lists_say_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        const struct recording *r = &recordings[i];
        json_t *head = json_object_get(r->heads, "cut-vhost");
        int64_t in_testpmd = json_integer_value(json_object_get(head, "xstats_in_testpmd"));
        struct telemetry_xstats all = xstats_round(r, "cut-vhost", "/ethdev/xstats,0", 1);
        struct telemetry_xstats few = xstats_round(r, "cut-vhost", "/ethdev/xstats,0,hide_zero=true", 1);
        assert_int_equal(all.maybe_truncated, in_testpmd > 256);
        assert_int_equal(all.maybe_truncated, r->release >= 2211);
        assert_int_equal(few.maybe_truncated, r->release == 2211); /* which ignores hide_zero */
        if (all.maybe_truncated)
            assert_int_equal(all.n, 256);
        struct telemetry_xstats virtio = xstats_round(r, "cut-virtio", "/ethdev/xstats,0", 1);
        assert_false(virtio.maybe_truncated);
        telemetry_xstats_free(&all);
        telemetry_xstats_free(&few);
        telemetry_xstats_free(&virtio);
    }
    struct telemetry_texts texts = {0};
    struct reading over = read_round(&recordings[2], "overflow", "/eal/app_params", 1);
    assert_int_equal(telemetry_parse_texts(&over.reply, &texts), TELEMETRY_OK);
    assert_true(texts.maybe_truncated);
    assert_int_equal(texts.n, 179); /* of 402 */
    end_reading(&over);
    struct reading usual = read_round(&recordings[2], "misc-idle", "/eal/app_params", 1);
    assert_int_equal(telemetry_parse_texts(&usual.reply, &texts), TELEMETRY_OK);
    assert_false(texts.maybe_truncated);
    assert_int_equal(texts.n, 3);
    assert_string_equal(texts.v[1], "--record-core-cycles");
    telemetry_texts_free(&texts);
    end_reading(&usual);
}

static void test_names_of_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        const struct recording *r = &recordings[i];
        struct telemetry_texts texts = {0};
        struct telemetry_port port;
        struct reading escapes = read_round(r, "names-escapes", "/eal/params", 1);
        assert_int_equal(escapes.status, r->release < 2211 ? TELEMETRY_UNREADABLE : TELEMETRY_OK);
        if (escapes.status == TELEMETRY_OK) {
            assert_int_equal(telemetry_parse_texts(&escapes.reply, &texts), TELEMETRY_OK);
            assert_string_equal(texts.v[0],
                                "dpdk-test\"pmd\\x?y"); /* the TAB would break a line of a screen */
        }
        end_reading(&escapes);
        struct reading utf8 = read_round(r, "names-utf8", "/eal/params", 1);
        assert_int_equal(utf8.status, r->release < 2211 ? TELEMETRY_OK : TELEMETRY_UNREADABLE);
        if (utf8.status == TELEMETRY_OK) {
            assert_int_equal(telemetry_parse_texts(&utf8.reply, &texts), TELEMETRY_OK);
            assert_string_equal(texts.v[0], "dpdk-t\xc3\xa9stpmd");
        }
        end_reading(&utf8);
        telemetry_texts_free(&texts);
        if (r->release < 2111)
            continue;
        struct reading slash = read_round(r, "names-ringslash", "/ethdev/info,0", 1);
        assert_int_equal(telemetry_parse_port(&slash.reply, &port), TELEMETRY_OK);
        assert_string_equal(port.name, "net_ring/a-b.c");
        assert_string_equal(port.driver, "net_ring");
        end_reading(&slash);
    }
}

static void test_ports_come_and_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        const struct recording *r = &recordings[i];
        struct telemetry_ids ids;
        struct telemetry_port port;
        struct reading closed = read_round(r, "misc-closed", "/ethdev/list", 1);
        assert_int_equal(telemetry_parse_ids(&closed.reply, &ids), TELEMETRY_OK);
        assert_true(ids.n == 3 && ids.v[0] == 1 && ids.v[1] == 2 && ids.v[2] == 3 && !ids.maybe_truncated);
        end_reading(&closed);
        struct reading gone = read_round(r, "misc-closed", "/ethdev/stats,0", 1);
        assert_int_equal(gone.status, TELEMETRY_NONE);
        end_reading(&gone);
        struct reading again = read_round(r, "misc-reused", "/ethdev/list", 1);
        assert_int_equal(telemetry_parse_ids(&again.reply, &ids), TELEMETRY_OK);
        assert_true(ids.n == 4 && ids.v[0] == 0);
        end_reading(&again);
        struct reading info = read_round(r, "misc-reused", "/ethdev/info,0", 1);
        assert_int_equal(info.status, r->release < 2111 ? TELEMETRY_NONE : TELEMETRY_OK);
        if (info.status == TELEMETRY_OK) {
            assert_int_equal(telemetry_parse_port(&info.reply, &port), TELEMETRY_OK);
            assert_string_equal(port.name, "net_null9");
        }
        end_reading(&info);
    }
}

static void test_port_fields(void **state)
{
    (void)state;
    struct telemetry_port port;
    struct telemetry_link link;
    for (size_t i = 1; i < COUNT(recordings); i++) {
        struct reading r = read_round(&recordings[i], "vhost-idle", "/ethdev/info,0", 1);
        assert_int_equal(telemetry_parse_port(&r.reply, &port), TELEMETRY_OK);
        assert_string_equal(port.name, "net_vhost0");
        assert_string_equal(port.driver, "net_vhost");
        assert_string_equal(port.mac, "56:48:4F:53:54:00");
        assert_int_equal(port.has & TELEMETRY_PORT_ALLOC_FAIL, 0);
        assert_int_equal(port.has, (TELEMETRY_PORT_NUMA << 1) - 1 - TELEMETRY_PORT_ALLOC_FAIL);
        assert_true(port.nb_rx_queues == 1 && port.nb_tx_queues == 1 && port.mtu == 1500 &&
                    port.numa_node == 0 && port.dev_started == 1 && port.state == 1 && port.port_id == 0);
        end_reading(&r);
    }
    struct reading up = read_round(&recordings[1], "vhost-idle", "/ethdev/link_status,0", 1);
    assert_int_equal(telemetry_parse_link(&up.reply, &link), TELEMETRY_OK);
    assert_true(link.up && link.has_speed && link.speed_mbps == 10000 && link.has_duplex && link.full_duplex);
    end_reading(&up);
    struct reading unknown = read_round(&recordings[2], "virtio-stopped", "/ethdev/link_status,0", 1);
    assert_int_equal(telemetry_parse_link(&unknown.reply, &link), TELEMETRY_OK);
    assert_true(link.up && !link.has_speed); /* 4294967295 */
    end_reading(&unknown);
    struct reading down = read_round(&recordings[1], "vhost-guest-gone", "/ethdev/link_status,0", 1);
    assert_int_equal(telemetry_parse_link(&down.reply, &link), TELEMETRY_OK);
    assert_true(!link.up && !link.has_speed && !link.has_duplex);
    end_reading(&down);
    struct reading cut =
        read_text(TELEMETRY_ETHDEV_INFO, "{\"/ethdev/info\":{\"name\":\"0000:3b:00.1\","
                                         "\"mac_addr\":\"02:00\",\"numa_node\":-1}}"); /* 21.11 */
    assert_int_equal(telemetry_parse_port(&cut.reply, &port), TELEMETRY_OK);
    assert_int_equal(port.has, TELEMETRY_PORT_NAME | TELEMETRY_PORT_NUMA);
    assert_string_equal(port.driver, "pci");
    assert_true(port.numa_node == -1 && port.mac[0] == '\0');
    end_reading(&cut);
}

static void test_queue_arrays_are_there_or_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        struct telemetry_stats s = stats_round(&recordings[i], "virtio-stopped", 0, 1);
        for (unsigned q = 0; q < TELEMETRY_QUEUE_STATS; q++)
            assert_int_equal(s.n_queues[q], recordings[i].release < 2511 ? 16 : 0);
        if (recordings[i].release < 2511 && recordings[i].release != 2211)
            assert_true(s.queue[TELEMETRY_Q_OPACKETS][0] == s.opackets);
    }
}

static void test_pools_and_lcores(void **state)
{
    (void)state;
    struct telemetry_pool pool;
    struct telemetry_lcore lcore;
    static struct telemetry_usage usage;
    struct telemetry_ids ids;
    for (size_t i = 1; i < COUNT(recordings); i++) {
        bool told = recordings[i].release >= 2303;
        struct reading r = read_round(&recordings[i], "misc-idle", "/mempool/info,mb_pool_0", 1);
        assert_int_equal(telemetry_parse_pool(&r.reply, &pool), TELEMETRY_OK);
        assert_string_equal(pool.name, "mb_pool_0");
        assert_true(pool.size == 16384 && pool.cache_size == 250 && pool.populated_size == 16384);
        assert_int_equal((pool.has & TELEMETRY_POOL_IN_USE) != 0, told);
        if (told)
            assert_true(pool.in_use == pool.size - pool.common_pool_count - pool.total_cache_count);
        end_reading(&r);
        struct reading nope = read_round(&recordings[i], "errors", "/mempool/info,nope", 1);
        assert_int_equal(telemetry_parse_pool(&nope.reply, &pool), TELEMETRY_NONE); /* {} */
        end_reading(&nope);
    }
    const struct recording *r = &recordings[3];
    struct reading list = read_round(r, "misc-idle", "/eal/lcore/list", 1);
    assert_int_equal(telemetry_parse_ids(&list.reply, &ids), TELEMETRY_OK);
    assert_true(ids.n == 2 && ids.v[0] == 0 && ids.v[1] == 1);
    end_reading(&list);
    struct reading info = read_round(r, "misc-traffic", "/eal/lcore/info,1", 1);
    assert_int_equal(telemetry_parse_lcore(&info.reply, &lcore), TELEMETRY_OK);
    assert_int_equal(lcore.has, 0x7f);
    assert_string_equal(lcore.role, "RTE");
    assert_true(lcore.total_cycles == 13887462992u && lcore.busy_cycles == 2066972926u && lcore.n_cpus == 1 &&
                lcore.cpus[0] == 2);
    assert_true(lcore.usage_pct > 14.879 && lcore.usage_pct < 14.881);
    end_reading(&info);
    struct reading main_lcore = read_round(r, "misc-traffic", "/eal/lcore/info,0", 1);
    assert_int_equal(telemetry_parse_lcore(&main_lcore.reply, &lcore), TELEMETRY_OK);
    assert_int_equal(lcore.has & (TELEMETRY_LCORE_TOTAL | TELEMETRY_LCORE_BUSY | TELEMETRY_LCORE_USAGE_PCT),
                     0);
    end_reading(&main_lcore);
    struct reading use = read_round(r, "misc-traffic", "/eal/lcore/usage", 2);
    assert_int_equal(telemetry_parse_usage(&use.reply, &usage), TELEMETRY_OK);
    assert_true(usage.n == 1 && usage.v[0].lcore_id == 1 && usage.v[0].busy_cycles == 2066972926u);
    assert_false(usage.maybe_truncated);
    end_reading(&use);
}

static void test_eleventh_client(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        json_t *got = json_object_get(json_object_get(recordings[i].heads, "clients"), "clients");
        assert_true(json_array_size(got) >= 11);
        for (size_t j = 0; j < json_array_size(got); j++)
            assert_int_equal(json_string_value(json_array_get(got, j))[0] == '{',
                             j < 9); /* the first one is us */
    }
}

/* ---- What is lost ---- */

static void test_losses_of_recordings(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        const struct recording *r = &recordings[i];
        struct telemetry_losses loss;
        struct telemetry_stats s = stats_round(r, "vhost-drop-stopped", 0, 1);
        struct telemetry_xstats x = xstats_round(r, "vhost-drop-stopped", "/ethdev/xstats,0", 1);
        telemetry_losses("net_vhost", r->release, &s, &x, TELEMETRY_TX, &loss);
        assert_int_equal(loss.has_sum, r->release != 2211);
        assert_int_equal(loss.blind == NULL, r->release != 2211);
        if (r->release == 2011) {
            uint64_t missed = 0;
            assert_true(telemetry_xstats_get(&x, "tx_missed_pkts", &missed) && missed > 1000000);
            assert_true(loss.sum == missed && s.oerrors == 0);
            telemetry_losses("net_vhost", r->release, &s, NULL, TELEMETRY_TX, &loss);
            assert_true(!loss.has_sum && loss.blind); /* zero oerrors say nothing there */
        } else if (r->release > 2311) {
            assert_true(loss.sum == s.oerrors && s.oerrors > 1000000 && loss.n == 1);
            assert_int_equal(loss.v[0].row->cause, TELEMETRY_LOSS_RING_FULL);
            telemetry_losses("net_vhost", r->release, &s, NULL, TELEMETRY_TX, &loss);
            assert_true(loss.has_sum && loss.sum == s.oerrors);
        }
        telemetry_losses("net_vhost", r->release, &s, &x, TELEMETRY_RX, &loss);
        assert_true(loss.has_sum && loss.sum == 0 && loss.n == 3);
        telemetry_xstats_free(&x);
        s = stats_round(r, "virtio-drop", 0, 2);
        telemetry_losses("net_virtio_user", r->release, &s, NULL, TELEMETRY_TX, &loss);
        assert_true(!loss.has_sum && loss.blind); /* a full ring is counted nowhere */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recordings_read_as_another_reader_does),
        cmocka_unit_test(test_every_recorded_reply_parses),
        cmocka_unit_test(test_recordings_equal_testpmd),
        cmocka_unit_test(test_exactly_a_thousand_frames),
        cmocka_unit_test(test_both_ends_agree),
        cmocka_unit_test(test_cleared_counters_are_zero),
        cmocka_unit_test(test_cut_lists_say_so),
        cmocka_unit_test(test_names_of_others),
        cmocka_unit_test(test_ports_come_and_go),
        cmocka_unit_test(test_port_fields),
        cmocka_unit_test(test_queue_arrays_are_there_or_not),
        cmocka_unit_test(test_pools_and_lcores),
        cmocka_unit_test(test_eleventh_client),
        cmocka_unit_test(test_losses_of_recordings),
    };
    return cmocka_run_group_tests(tests, load_recordings, free_recordings);
}
