/* SPDX-License-Identifier: MIT */
/*
 * OpenFlow port statistics: recorded ones of several releases, answers in parts, and every way of being cut,
 * lengthened and garbled. Run from the project's folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collectors/ovs_openflow.h"
#include "unit/ovs_reader.h"

#define HEAD 16 /* bytes of a multipart reply before its entries */

static uint8_t *recorded(const char *release, const char *file, size_t *len)
{
    char path[128];
    snprintf(path, sizeof(path), "tests/fixtures/ovs/%s/02/%s", release, file);
    return (uint8_t *)read_file(path, len);
}

static const struct ovs_of_port *port_of(const struct ovs_of_stats *stats, uint32_t number)
{
    for (size_t i = 0; i < stats->n_ports; i++)
        if (stats->ports[i].number == number)
            return &stats->ports[i];
    fail_msg("no port %u", number);
    return NULL;
}

static void expect_counter(const struct ovs_of_port *port, enum ovs_of_counter which, uint64_t wanted)
{
    uint64_t value;
    assert_true(ovs_of_get(port, which, &value));
    assert_int_equal(value, wanted);
}

static void test_recorded_1_4(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RELEASES; i++) {
        struct ovs_of_stats stats = {0};
        size_t len;
        uint64_t value;
        uint8_t *data = recorded(releases[i], "port-stats.of14.bin", &len);
        assert_true(ovs_of_parse(&stats, OVS_OF_1_4, data + HEAD, len - HEAD));
        assert_int_equal(stats.n_ports, 6);
        const struct ovs_of_port *p0 = port_of(&stats, 1), *veth = port_of(&stats, 4);
        expect_counter(p0, OVS_OF_RX_PACKETS, 300);
        expect_counter(p0, OVS_OF_RX_BYTES, 18000);
        expect_counter(p0, OVS_OF_TX_PACKETS, 270);
        assert_false(ovs_of_get(p0, OVS_OF_TX_DROPPED, &value)); /* all ones */
        expect_counter(veth, OVS_OF_RX_PACKETS, 20);
        expect_counter(veth, OVS_OF_RX_CRC, 0);
        expect_counter(port_of(&stats, 0xfffffffe), OVS_OF_TX_PACKETS, 570);
        assert_int_equal(p0->n_named > 0, i > 0); /* from 2.9 on */
        if (p0->n_named) {
            const struct ovs_of_named *named = &stats.named[p0->first_named];
            assert_true(ovs_span_is(named->name, "rx_custom_packets_1"));
            assert_int_equal(named->value, 300);
        }
        ovs_of_free(&stats);
        free(data);
    }
}

static void test_recorded_1_3(void **state)
{
    struct ovs_of_stats stats = {0};
    size_t len;
    uint8_t *data = recorded("3.5", "port-stats.of13.bin", &len);
    (void)state;
    assert_true(ovs_of_parse(&stats, OVS_OF_1_3, data + HEAD, len - HEAD));
    assert_int_equal(stats.n_ports, 6);
    expect_counter(port_of(&stats, 3), OVS_OF_TX_PACKETS, 470);
    expect_counter(port_of(&stats, 4), OVS_OF_RX_BYTES, 2000);
    assert_int_equal(stats.n_named, 0);
    ovs_of_free(&stats);
    free(data);
}

/* Each shorter answer is malformed but for those that end between two ports. */
static void test_cut_anywhere(void **state)
{
    size_t len, whole = 0;
    uint8_t *data = recorded("3.5", "port-stats.of14.bin", &len);
    (void)state;
    for (size_t n = HEAD; n < len; n++) {
        struct ovs_of_stats stats = {0};
        uint8_t *copy =
            memcpy(malloc(n - HEAD + 1), data + HEAD, n - HEAD); /* so that a byte too far is seen */
        whole += ovs_of_parse(&stats, OVS_OF_1_4, copy, n - HEAD);
        assert_true(stats.n_ports <= 6);
        ovs_of_free(&stats);
        free(copy);
    }
    assert_int_equal(whole, 6);
    free(data);
}

static void test_garbled(void **state)
{
    size_t len;
    uint8_t *data = recorded("3.5", "port-stats.of14.bin", &len);
    unsigned seed = 1;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct ovs_of_stats stats = {0};
        uint8_t *copy = memcpy(malloc(len), data, len);
        for (int i = 0; i < 3; i++) {
            seed = seed * 1103515245 + 12345;
            copy[HEAD + (seed >> 8) % (len - HEAD)] = (uint8_t)(seed >> 24);
        }
        ovs_of_parse(&stats, round % 2 ? OVS_OF_1_4 : OVS_OF_1_3, copy + HEAD, len - HEAD);
        for (size_t i = 0; i < stats.n_ports; i++)
            assert_true(stats.ports[i].first_named + stats.ports[i].n_named <= stats.n_named);
        ovs_of_free(&stats);
        free(copy);
    }
    free(data);
}

/* ---- client ---- */

static struct ovs_openflow *connect_to(struct fake_ovs *o, enum ovs_openflow_result *result, char *err)
{
    return ovs_openflow_open(o->path[FAKE_OVS_OF].sun_path, clock_mono_ns() + 5 * SECOND, -1, result, err,
                             128);
}

static enum ovs_openflow_result ask_once(struct ovs_openflow *of, struct ovs_of_stats *stats,
                                         int64_t patience_ns, char *err)
{
    int64_t deadline_ns = clock_mono_ns() + patience_ns;
    enum ovs_openflow_result result = ovs_openflow_ask(of, deadline_ns, err, 128);
    return result == OVS_OPENFLOW_OK ? ovs_openflow_await(of, deadline_ns, stats, err, 128) : result;
}

/* The recorded answer cut into as many parts as it has ports. */
static void test_answer_in_parts(void **state)
{
    struct fake_ovs o;
    struct ovs_of_stats stats = {0};
    enum ovs_openflow_result result;
    char err[128];
    size_t len, used = 0;
    uint8_t *data = recorded("3.5", "port-stats.of14.bin", &len), *parts = calloc(1, len + 6 * HEAD);
    (void)state;
    for (size_t at = HEAD; at < len;) {
        size_t size = ovs_of_u16(data + at);
        memcpy(parts + used, data, HEAD);
        parts[used + 2] = (uint8_t)((size + HEAD) >> 8);
        parts[used + 3] = (uint8_t)(size + HEAD);
        parts[used + 11] = at + size < len; /* more to come */
        memcpy(parts + used + HEAD, data + at, size);
        used += HEAD + size;
        at += size;
    }
    fake_ovs_start(&o);
    fake_ovs_set_stats(&o, parts, used);
    struct ovs_openflow *of = connect_to(&o, &result, err);
    assert_non_null(of);
    assert_int_equal(ovs_openflow_version(of), OVS_OF_1_4);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ask_once(of, &stats, 5 * SECOND, err), OVS_OPENFLOW_OK);
        assert_int_equal(stats.n_ports, 6);
        expect_counter(port_of(&stats, 3), OVS_OF_RX_PACKETS, 100);
    }
    ovs_openflow_close(of);
    ovs_of_free(&stats);
    fake_ovs_end(&o, false);
    free(data);
    free(parts);
}

static void test_no_common_version(void **state)
{
    struct fake_ovs o;
    enum ovs_openflow_result result;
    char err[128];
    (void)state;
    fake_ovs_start(&o);
    o.of_versions = 1 << 1;
    assert_null(connect_to(&o, &result, err));
    assert_int_equal(result, OVS_OPENFLOW_UNSPOKEN);
    fake_ovs_end(&o, false);
}

/* Not OpenFlow, a refusal, an answer to another question, one that never ends. */
static void test_bad_answers(void **state)
{
    static const struct {
        uint8_t bytes[32];
        size_t len;
        enum ovs_openflow_result wanted;
    } answers[] = {
        {{5, 19, 0, 4}, 8, OVS_OPENFLOW_BROKEN},                            /* shorter than a head */
        {{5, 1, 0, 12, 0, 0, 0, 0, 0, 1, 0, 5}, 12, OVS_OPENFLOW_BROKEN},   /* an error */
        {{5, 19, 0, 16, 0, 0, 0, 0, 0, 13}, 16, OVS_OPENFLOW_TIMEOUT},      /* of another question */
        {{5, 19, 0, 16, 0, 0, 0, 0, 0, 4, 0, 1}, 16, OVS_OPENFLOW_TIMEOUT}, /* more to come */
        {{5, 19, 0, 20, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 1}, 20, OVS_OPENFLOW_BROKEN}, /* half an entry */
        {{5, 19, 0, 16, 0, 0, 0, 0, 0, 4}, 16, OVS_OPENFLOW_OK}, /* a bridge without ports */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct fake_ovs o;
        struct ovs_of_stats stats = {0};
        enum ovs_openflow_result result;
        char err[128];
        fake_ovs_start(&o);
        fake_ovs_set_stats(&o, answers[i].bytes, answers[i].len);
        struct ovs_openflow *of = connect_to(&o, &result, err);
        assert_non_null(of);
        assert_int_equal(ask_once(of, &stats, SECOND / 4, err), answers[i].wanted);
        ovs_openflow_close(of);
        ovs_of_free(&stats);
        fake_ovs_end(&o, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded_1_4),    cmocka_unit_test(test_recorded_1_3),
        cmocka_unit_test(test_cut_anywhere),    cmocka_unit_test(test_garbled),
        cmocka_unit_test(test_answer_in_parts), cmocka_unit_test(test_no_common_version),
        cmocka_unit_test(test_bad_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
