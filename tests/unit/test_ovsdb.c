/* SPDX-License-Identifier: MIT */
/*
 * The mirror of Open vSwitch's database on recorded monitor replies and updates of six releases, on hostile
 * values, and the client (ovsdb) against a scripted server. Run from the project's folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collectors/ovsdb.h"
#include "unit/fake_rpc.h"

static const char *const versions[] = {"2.8", "2.9", "2.13", "3.1", "3.5", "4.0"};
enum { N_VERSIONS = sizeof(versions) / sizeof(versions[0]) };

static json_t *read_json(const char *version, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "tests/fixtures/ovs/%s/%s", version, name);
    return json_load_file(path, 0, NULL);
}

static void monitor_everything(struct ovsdb_mirror *mirror)
{
    *mirror = (struct ovsdb_mirror){0};
    for (size_t c = 0; c < OVSDB_N_COLUMNS; c++)
        mirror->monitored[c] = true;
}

/* Applies a monitor reply, or a notification whose updates stand at `at`; false when there is no such file.
 */
static bool apply_file(struct ovsdb_mirror *mirror, const char *version, const char *name, size_t at,
                       int64_t now_ns)
{
    json_t *message = read_json(version, name);
    json_t *result = json_object_get(message, "result");
    json_t *updates = result ? (at ? json_array_get(result, at) : result)
                             : json_array_get(json_object_get(message, "params"), at);
    if (updates)
        ovsdb_mirror_apply(mirror, updates, now_ns);
    json_decref(message);
    return updates != NULL;
}

static void apply_text(struct ovsdb_mirror *mirror, const char *text, int64_t now_ns)
{
    json_t *updates = json_loads(text, 0, NULL);
    assert_non_null(updates);
    ovsdb_mirror_apply(mirror, updates, now_ns);
    json_decref(updates);
}

static const struct ovsdb_row *iface(const struct ovsdb_mirror *mirror, const char *name)
{
    const struct ovsdb_row *row = ovsdb_find_name(mirror, OVSDB_INTERFACE, name);
    assert_non_null(row);
    return row;
}

static void check_stat(const struct ovsdb_mirror *mirror, const char *name, const char *key,
                       uint64_t expected)
{
    uint64_t value;
    assert_true(ovsdb_stat(iface(mirror, name), key, &value));
    assert_int_equal(value, expected);
}

/* 550 packets of 60 and 20 of 100 bytes, flooded. */
static void check_flood(const struct ovsdb_mirror *mirror)
{
    check_stat(mirror, "p0", "rx_packets", 300);
    check_stat(mirror, "p0", "tx_packets", 270);
    check_stat(mirror, "p1", "rx_bytes", 9000);
    check_stat(mirror, "p2", "tx_bytes", 29000);
    check_stat(mirror, "ve0", "rx_packets", 20);
    check_stat(mirror, "br0", "tx_packets", 570);
    check_stat(mirror, "vx0", "tx_packets", 570);
}

/* ---- recordings ---- */

static void test_monitor_of_all_releases(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovsdb_mirror mirror;
        uint64_t value;
        int64_t ofport;
        monitor_everything(&mirror);
        assert_true(apply_file(&mirror, versions[v], "02/ovsdb_monitor_reply.json", 0, 1000));
        assert_int_equal(mirror.n_rows[OVSDB_BRIDGE], 1);
        assert_int_equal(mirror.n_rows[OVSDB_INTERFACE], 7);
        check_flood(&mirror);
        assert_string_equal(ovsdb_str(iface(&mirror, "p0"), OVSDB_IF_TYPE), "dummy-pmd");
        assert_string_equal(ovsdb_map_str(iface(&mirror, "p0"), OVSDB_IF_OPTIONS, "n_rxq"), "2");
        assert_null(ovsdb_map_str(iface(&mirror, "p0"), OVSDB_IF_OPTIONS, "n_rx"));
        for (size_t i = 0; i < mirror.n_rows[OVSDB_INTERFACE]; i++) {
            const struct ovsdb_row *row = mirror.rows[OVSDB_INTERFACE][i], *bridge = ovsdb_bridge_of(row);
            assert_non_null(bridge);
            assert_string_equal(ovsdb_str(bridge, OVSDB_BRIDGE_NAME), "br0");
            assert_string_equal(ovsdb_str(bridge, OVSDB_BRIDGE_DATAPATH_TYPE), "netdev");
            assert_string_equal(ovsdb_str(row->parent, OVSDB_PORT_NAME), ovsdb_str(row, OVSDB_IF_NAME));
            assert_int_equal(row->stats_changed_ns, 1000);
        }
        assert_true(ovsdb_int(iface(&mirror, "br0"), OVSDB_IF_OFPORT, &ofport));
        assert_int_equal(ofport, 65534);
        assert_true(ovsdb_int(iface(&mirror, "missing0"), OVSDB_IF_OFPORT, &ofport));
        assert_int_equal(ofport, -1);
        assert_false(ovsdb_stat(iface(&mirror, "missing0"), "rx_packets", &value));
        assert_false(ovsdb_stat(iface(&mirror, "p0"), "rx_dropped", &value)); /* left out where not counted */
        ovsdb_mirror_clear(&mirror);
    }
}

/* The update's rows carry later counters; only rows that changed get its time. */
static void test_update_of_all_releases(void **state)
{
    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        struct ovsdb_mirror mirror;
        uint64_t before, after;
        monitor_everything(&mirror);
        apply_file(&mirror, versions[v], "02/ovsdb_monitor_reply.json", 0, 1000);
        assert_true(apply_file(&mirror, versions[v], "02/ovsdb_update_1.json", 1, 6000));
        assert_int_equal(mirror.n_rows[OVSDB_INTERFACE], 7);
        assert_int_equal(iface(&mirror, "p0")->stats_changed_ns, 6000);
        assert_int_equal(iface(&mirror, "missing0")->stats_changed_ns, 1000);
        assert_int_equal(mirror.stats_written_ns, 6000);
        assert_true(ovsdb_stat(iface(&mirror, "p0"), "rx_packets", &after));
        assert_true(after > 300);
        check_stat(&mirror, "ve0", "rx_packets", 20);
        /* flooded: br0 sends what all others received */
        uint64_t sum = 20;
        for (size_t i = 0; i < 3; i++) {
            assert_true(ovsdb_stat(iface(&mirror, i == 0   ? "p0"
                                                  : i == 1 ? "p1"
                                                           : "p2"),
                                   "rx_packets", &before));
            sum += before;
        }
        assert_true(ovsdb_stat(iface(&mirror, "br0"), "tx_packets", &after));
        assert_true(after >= sum - 200 && after <= sum + 200); /* ports are read one after the other */
        assert_non_null(ovsdb_bridge_of(iface(&mirror, "p0")));
        ovsdb_mirror_clear(&mirror);
    }
}

/* Differences: the keys told change, the others stay. */
static void test_differences_of_all_releases(void **state)
{
    static const char *const replies[] = {"02/ovsdb_monitor_cond_reply.json",
                                          "02/ovsdb_monitor_cond_since_reply.json"};
    static const char *const updates[] = {"02/ovsdb_monitor_cond_update_1.json",
                                          "02/ovsdb_monitor_cond_since_update_1.json"};
    int seen = 0;

    (void)state;
    for (size_t v = 0; v < N_VERSIONS; v++) {
        for (size_t since = 0; since < 2; since++) {
            struct ovsdb_mirror mirror;
            monitor_everything(&mirror);
            bool told = apply_file(&mirror, versions[v], replies[since], since ? 2 : 0, 1000);
            if (told && apply_file(&mirror, versions[v], updates[since], since ? 2 : 1, 7000)) {
                json_t *message = read_json(versions[v], updates[since]);
                const struct ovsdb_row *p0 = iface(&mirror, "p0");
                json_t *rows = json_object_get(
                    json_array_get(json_object_get(message, "params"), since ? 2 : 1), "Interface");
                json_t *columns = json_object_get(json_object_get(rows, p0->uuid), "modify");
                json_t *pairs = json_array_get(json_object_get(columns, "statistics"), 1), *pair;
                size_t i;
                assert_true(json_array_size(pairs) > 0);
                json_array_foreach(pairs, i, pair)
                    check_stat(&mirror, "p0", json_string_value(json_array_get(pair, 0)),
                               (uint64_t)json_integer_value(json_array_get(pair, 1)));
                assert_int_equal(p0->stats_changed_ns, 7000);
                check_stat(&mirror, "ve0", "rx_packets", 20); /* not told again */
                check_stat(&mirror, "p1", "rx_packets", 150);
                assert_string_equal(ovsdb_str(p0, OVSDB_IF_TYPE), "dummy-pmd");
                json_decref(message);
                seen++;
            }
            ovsdb_mirror_clear(&mirror);
        }
    }
    assert_int_equal(seen, 10); /* monitor_cond in six releases, monitor_cond_since in four */
}

static void test_port_comes_and_goes(void **state)
{
    static const char *const both[] = {"2.8", "4.0"};

    (void)state;
    for (size_t v = 0; v < 2; v++) {
        struct ovsdb_mirror mirror;
        bool came = false, changed = false;
        char name[64];
        monitor_everything(&mirror);
        assert_true(apply_file(&mirror, both[v], "05/ovsdb_monitor_reply.json", 0, 1));
        assert_null(ovsdb_find_name(&mirror, OVSDB_INTERFACE, "px"));
        for (int i = 1; i < 10; i++) {
            snprintf(name, sizeof(name), "05/ovsdb_update_%d.json", i);
            if (!apply_file(&mirror, both[v], name, 1, 1 + i))
                break;
            const struct ovsdb_row *px = ovsdb_find_name(&mirror, OVSDB_INTERFACE, "px");
            const char *foo = px ? ovsdb_map_str(px, OVSDB_IF_OPTIONS, "foo") : NULL;
            if (px)
                assert_string_equal(ovsdb_str(ovsdb_bridge_of(px), OVSDB_BRIDGE_NAME), "br0");
            came |= foo && strcmp(foo, "bar") == 0;
            changed |= foo && strcmp(foo, "baz") == 0;
        }
        assert_true(came && changed);
        assert_null(ovsdb_find_name(&mirror, OVSDB_INTERFACE, "px"));
        assert_null(ovsdb_find_name(&mirror, OVSDB_PORT, "px"));
        assert_int_equal(mirror.n_rows[OVSDB_INTERFACE], 7);
        ovsdb_mirror_clear(&mirror);
    }
}

static void test_bonds_and_bridges(void **state)
{
    struct ovsdb_mirror mirror;
    int64_t tag;

    (void)state;
    monitor_everything(&mirror);
    assert_true(apply_file(&mirror, "3.5", "13/ovsdb_monitor_reply.json", 0, 1));
    assert_int_equal(mirror.n_rows[OVSDB_BRIDGE], 2);
    assert_string_equal(ovsdb_str(iface(&mirror, "b0")->parent, OVSDB_PORT_NAME), "bond0");
    assert_ptr_equal(iface(&mirror, "b0")->parent, iface(&mirror, "b1")->parent);
    assert_true(ovsdb_int(iface(&mirror, "b0")->parent, OVSDB_PORT_TAG, &tag));
    assert_int_equal(tag, 100);
    assert_false(ovsdb_int(iface(&mirror, "p0")->parent, OVSDB_PORT_TAG, &tag));
    assert_string_equal(ovsdb_str(ovsdb_bridge_of(iface(&mirror, "q0")), OVSDB_BRIDGE_NAME), "br1");
    assert_string_equal(ovsdb_str(ovsdb_bridge_of(iface(&mirror, "b5")), OVSDB_BRIDGE_NAME), "br0");
    ovsdb_mirror_clear(&mirror);
}

static void test_awkward_names(void **state)
{
    struct ovsdb_mirror mirror;

    (void)state;
    monitor_everything(&mirror);
    assert_true(apply_file(&mirror, "3.5", "14/ovsdb_monitor_reply.json", 0, 1));
    iface(&mirror, "nl\nport: zz");
    iface(&mirror, "q queue-id:  9 (enabled)   pmd usage: 99 %");
    iface(&mirror, "vhost-user-client-port-0123456789");
    ovsdb_mirror_clear(&mirror);
}

/* ---- differences by hand ---- */

#define UUID_BRIDGE "00000000-0000-0000-0000-00000000000b"
#define UUID_PORT_A "00000000-0000-0000-0000-0000000000a1"
#define UUID_PORT_B "00000000-0000-0000-0000-0000000000a2"
#define UUID_IF_A   "00000000-0000-0000-0000-0000000000f1"
#define UUID_IF_B   "00000000-0000-0000-0000-0000000000f2"

static const char two_ports[] =
    "{\"Bridge\":{\"" UUID_BRIDGE "\":{\"insert\":{\"name\":\"br0\",\"ports\":[\"uuid\",\"" UUID_PORT_A
    "\"]}}},"
    "\"Port\":{\"" UUID_PORT_A "\":{\"insert\":{\"name\":\"a\",\"interfaces\":[\"uuid\",\"" UUID_IF_A
    "\"],\"tag\":5}},"
    "\"" UUID_PORT_B "\":{\"insert\":{\"name\":\"b\",\"interfaces\":[\"uuid\",\"" UUID_IF_B "\"]}}},"
    "\"Interface\":{\"" UUID_IF_A
    "\":{\"insert\":{\"name\":\"a\",\"statistics\":[\"map\",[[\"k1\",1],[\"k2\",2],[\"k3\",3]]]}},"
    "\"" UUID_IF_B "\":{\"insert\":{\"name\":\"b\",\"type\":\"dpdk\"}}}}";

static void test_map_differences(void **state)
{
    struct ovsdb_mirror mirror;
    uint64_t value;

    (void)state;
    monitor_everything(&mirror);
    apply_text(&mirror, two_ports, 1);
    /* the same value removes, another changes, a new key is added */
    apply_text(&mirror,
               "{\"Interface\":{\"" UUID_IF_A
               "\":{\"modify\":{\"statistics\":[\"map\",[[\"k0\",9],[\"k2\",2],[\"k3\",4]]]}}}}",
               2);
    check_stat(&mirror, "a", "k0", 9);
    check_stat(&mirror, "a", "k1", 1);
    assert_false(ovsdb_stat(iface(&mirror, "a"), "k2", &value));
    check_stat(&mirror, "a", "k3", 4);
    assert_int_equal(iface(&mirror, "a")->stats_changed_ns, 2);
    /* a modify of another column, or of a row that is not there, touches nothing */
    apply_text(&mirror,
               "{\"Interface\":{\"" UUID_IF_A "\":{\"modify\":{\"mtu\":1500}},"
               "\"00000000-0000-0000-0000-0000000000ff\":{\"modify\":{\"mtu\":1}}}}",
               3);
    assert_int_equal(iface(&mirror, "a")->stats_changed_ns, 2);
    assert_int_equal(mirror.n_rows[OVSDB_INTERFACE], 2);
    ovsdb_mirror_clear(&mirror);
}

static void test_set_differences_and_links(void **state)
{
    struct ovsdb_mirror mirror;
    int64_t value;
    bool flag;

    (void)state;
    monitor_everything(&mirror);
    apply_text(&mirror, two_ports, 1);
    assert_non_null(ovsdb_bridge_of(iface(&mirror, "a")));
    assert_null(ovsdb_bridge_of(iface(&mirror, "b"))); /* its port is in no bridge */
    assert_string_equal(ovsdb_str(iface(&mirror, "b"), OVSDB_IF_TYPE), "dpdk");
    assert_string_equal(ovsdb_str(iface(&mirror, "a"), OVSDB_IF_TYPE), "");
    assert_true(ovsdb_int(iface(&mirror, "a"), OVSDB_IF_POLICING_RATE, &value)); /* a default, left out */
    assert_int_equal(value, 0);
    assert_false(ovsdb_int(iface(&mirror, "a"), OVSDB_IF_MTU, &value));
    /* A leaves the set, B joins it */
    apply_text(&mirror,
               "{\"Bridge\":{\"" UUID_BRIDGE "\":{\"modify\":{\"ports\":[\"set\",[[\"uuid\",\"" UUID_PORT_A
               "\"],[\"uuid\",\"" UUID_PORT_B "\"]]]}}},\"Port\":{\"" UUID_PORT_A
               "\":{\"modify\":{\"tag\":[\"set\",[]]}}}}",
               2);
    assert_null(ovsdb_bridge_of(iface(&mirror, "a")));
    assert_non_null(ovsdb_bridge_of(iface(&mirror, "b")));
    assert_false(ovsdb_int(iface(&mirror, "a")->parent, OVSDB_PORT_TAG, &value));
    apply_text(&mirror,
               "{\"Port\":{\"" UUID_PORT_B "\":{\"delete\":null}},\"Bridge\":{\"" UUID_BRIDGE
               "\":{\"delete\":null}}}",
               3);
    assert_null(iface(&mirror, "b")->parent);
    assert_int_equal(mirror.n_rows[OVSDB_BRIDGE], 0);
    assert_false(ovsdb_bool(iface(&mirror, "b"), OVSDB_IF_MTU, &flag));
    ovsdb_mirror_clear(&mirror);
}

/* Unchanged statistics keep their time: a row told again is no new value. */
static void test_same_statistics_keep_their_time(void **state)
{
    static const char row[] =
        "{\"Interface\":{\"" UUID_IF_A "\":{\"new\":{\"name\":\"a\",\"mtu\":%d,\"statistics\":"
        "[\"map\",[[\"rx_packets\",9223372036854775807],[\"bad\",-1],[\"text\",\"7\"]]]}}}}";
    struct ovsdb_mirror mirror;
    char text[512];
    uint64_t value;

    (void)state;
    monitor_everything(&mirror);
    for (int i = 1; i < 3; i++) {
        snprintf(text, sizeof(text), row, i);
        apply_text(&mirror, text, i);
    }
    assert_int_equal(iface(&mirror, "a")->stats_changed_ns, 1);
    check_stat(&mirror, "a", "rx_packets", INT64_MAX);
    assert_false(ovsdb_stat(iface(&mirror, "a"), "bad", &value));
    assert_false(ovsdb_stat(iface(&mirror, "a"), "text", &value));
    ovsdb_mirror_clear(&mirror);
}

/* What is no OVSDB must not hurt, nor take a good value's place. */
static void test_hostile_values(void **state)
{
    static const char *const statistics[] = {"null",
                                             "[]",
                                             "{}",
                                             "7",
                                             "[\"map\"]",
                                             "[\"map\",7]",
                                             "[\"map\",[7]]",
                                             "[\"map\",[[1,2]]]",
                                             "[\"map\",[[\"a\"]]]",
                                             "[\"map\",[[\"a\",1],[\"b\",null]]]",
                                             "[\"map\",[[\"a\",[\"uuid\"]]]]",
                                             "[\"set\",[1,[]]]",
                                             "[\"map\",[],[]]",
                                             "[\"map\",[[\"a\",{}]]]",
                                             "[\"set\",[]]"};
    static const char *const others[] = {"[]",
                                         "7",
                                         "{\"Interface\":7}",
                                         "{\"Interface\":{\"short\":{\"new\":{}}}}",
                                         "{\"Interface\":{\"" UUID_IF_A "\":7}}",
                                         "{\"Interface\":{\"" UUID_IF_A "\":{\"new\":7}}}",
                                         "{\"Nothing\":{\"" UUID_IF_A "\":{\"new\":{}}}}"};
    struct ovsdb_mirror mirror;
    char text[512];

    (void)state;
    monitor_everything(&mirror);
    apply_text(&mirror, two_ports, 1);
    for (size_t i = 0; i < sizeof(statistics) / sizeof(statistics[0]); i++) {
        for (size_t form = 0; form < 2; form++) {
            snprintf(text, sizeof(text),
                     "{\"Interface\":{\"" UUID_IF_A "\":{\"%s\":{\"statistics\":%s,\"name\":%s}}}}",
                     form ? "modify" : "new", statistics[i], form ? "[\"set\",[\"x\",\"y\"]]" : "\"a\"");
            apply_text(&mirror, text, 2);
            check_stat(&mirror, "a", "k1", 1);
        }
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        json_t *updates = json_loads(others[i], 0, NULL);
        ovsdb_mirror_apply(&mirror, updates, 3);
        json_decref(updates);
    }
    ovsdb_mirror_apply(&mirror, NULL, 3);
    check_stat(&mirror, "a", "k1", 1);
    /* two values for one key: one of them, and no more */
    apply_text(
        &mirror,
        "{\"Interface\":{\"" UUID_IF_A "\":{\"new\":{\"statistics\":[\"map\",[[\"k\",5],[\"k\",5]]]}}}}", 4);
    check_stat(&mirror, "a", "k", 5);
    assert_int_equal(ovsdb_value(iface(&mirror, "a"), OVSDB_IF_STATISTICS)->n, 1);
    ovsdb_mirror_clear(&mirror);
}

/* ---- the client ---- */

/* A schema without the columns of later releases. */
static const char old_schema[] = "{\"name\":\"Open_vSwitch\",\"tables\":{"
                                 "\"Open_vSwitch\":{\"columns\":{\"ovs_version\":{},\"other_config\":{}}},"
                                 "\"Bridge\":{\"columns\":{\"name\":{},\"ports\":{}}},"
                                 "\"Port\":{\"columns\":{\"name\":{},\"interfaces\":{}}},"
                                 "\"Interface\":{\"columns\":{\"name\":{},\"type\":{},\"statistics\":{}}}}}";

static const char modify_k1[] =
    "{\"id\":null,\"method\":\"update2\",\"params\":[\"vnettop\",{\"Interface\":{\"" UUID_IF_A
    "\":{\"modify\":{\"statistics\":[\"map\",[[\"k1\",100]]]}}}}]}"
    "{\"id\":null,\"method\":\"update2\",\"params\":[\"other\",{\"Interface\":{\"" UUID_IF_A
    "\":{\"delete\":null}}}]}";

static struct ovsdb *open_fake(struct fake_rpc *fake, const struct fake_step *steps, char *folder, char *err,
                               size_t errlen)
{
    char path[96];
    strcpy(folder, "/tmp/test_ovsdb.XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/db.sock", folder);
    fake_start(fake, path, steps);
    return ovsdb_open(path, fake_in_ms(5000), -1, err, errlen);
}

static void test_client_monitors(void **state)
{
    const struct fake_step steps[] = {
        {.result = old_schema}, {.result = two_ports, .before = "", .by_bytes = true}, {0}};
    struct fake_rpc fake;
    char folder[32], err[256];
    struct ovsdb *db = open_fake(&fake, steps, folder, err, sizeof(err));

    (void)state;
    assert_non_null(db);
    const struct ovsdb_mirror *mirror = ovsdb_mirror_of(db);
    check_stat(mirror, "a", "k1", 1);
    assert_int_equal(iface(mirror, "a")->stats_changed_ns, 0); /* of unknown age */
    assert_false(mirror->monitored[OVSDB_IF_POLICING_KPKTS_RATE]);
    assert_int_equal(ovsdb_run(db, 0, err, sizeof(err)), JSONRPC_OK);
    assert_true(ovsdb_fd(db) >= 0);
    ovsdb_close(db);
    fake_wait(&fake);
    assert_int_equal(fake.n_requests, 2);
    char *params = json_dumps(json_object_get(fake.requests[1], "params"), JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(json_string_value(json_object_get(fake.requests[0], "method")), "get_schema");
    assert_string_equal(json_string_value(json_object_get(fake.requests[1], "method")), "monitor_cond");
    assert_string_equal(params,
                        "[\"Open_vSwitch\",\"vnettop\",{\"Bridge\":[{\"columns\":[\"name\",\"ports\"]}],"
                        "\"Interface\":[{\"columns\":[\"name\",\"type\",\"statistics\"]}],"
                        "\"Open_vSwitch\":[{\"columns\":[\"ovs_version\",\"other_config\"]}],"
                        "\"Port\":[{\"columns\":[\"name\",\"interfaces\"]}]}]");
    free(params);
    fake_stop(&fake);
    rmdir(folder);
}

/* An old server without monitor_cond; and updates that come with the reply, of ours and of another monitor.
 */
static void test_client_falls_back_and_updates(void **state)
{
    struct fake_rpc fake;
    char folder[32], err[256], *reply = NULL;
    assert_true(asprintf(&reply, "{\"id\":3,\"error\":null,\"result\":%s}%s", two_ports, modify_k1) > 0);
    const struct fake_step steps[] = {
        {.result = old_schema}, {.error = "\"unknown method\""}, {.raw = reply}, {0}};
    struct ovsdb *db = open_fake(&fake, steps, folder, err, sizeof(err));
    uint64_t value = 0;

    (void)state;
    assert_non_null(db);
    int64_t deadline_ns = fake_in_ms(5000);
    while (value != 100 && fake_now_ns() < deadline_ns) {
        assert_int_equal(ovsdb_run(db, deadline_ns, err, sizeof(err)), JSONRPC_OK);
        assert_true(ovsdb_stat(iface(ovsdb_mirror_of(db), "a"), "k1", &value));
    }
    check_stat(ovsdb_mirror_of(db), "a", "k1", 100);
    int64_t changed_ns = iface(ovsdb_mirror_of(db), "a")->stats_changed_ns;
    assert_true(changed_ns > 0 && changed_ns <= fake_now_ns());
    assert_int_equal(ovsdb_mirror_of(db)->stats_written_ns, changed_ns);
    assert_int_equal(ovsdb_run(db, 0, err, sizeof(err)), JSONRPC_OK);
    assert_int_equal(ovsdb_mirror_of(db)->n_rows[OVSDB_INTERFACE],
                     2); /* the other monitor's delete is not ours */
    ovsdb_close(db);
    fake_stop(&fake);
    rmdir(folder);
    free(reply);
}

static void test_client_failures(void **state)
{
    static const struct fake_step scripts[][4] = {
        {{0}},
        {{.error = "\"unknown database\""}, {0}},
        {{.result = "[]"}, {0}},
        {{.result = old_schema},
         {.error = "\"no\""},
         {.error = "{\"error\":\"syntax error\",\"details\":\"x\"}"},
         {0}},
    };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct fake_rpc fake;
        char folder[32], err[256] = "";
        assert_null(open_fake(&fake, scripts[i], folder, err, sizeof(err)));
        assert_true(err[0] != '\0');
        fake_stop(&fake);
        rmdir(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monitor_of_all_releases),
        cmocka_unit_test(test_update_of_all_releases),
        cmocka_unit_test(test_differences_of_all_releases),
        cmocka_unit_test(test_port_comes_and_goes),
        cmocka_unit_test(test_bonds_and_bridges),
        cmocka_unit_test(test_awkward_names),
        cmocka_unit_test(test_map_differences),
        cmocka_unit_test(test_set_differences_and_links),
        cmocka_unit_test(test_same_statistics_keep_their_time),
        cmocka_unit_test(test_hostile_values),
        cmocka_unit_test(test_client_monitors),
        cmocka_unit_test(test_client_falls_back_and_updates),
        cmocka_unit_test(test_client_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
