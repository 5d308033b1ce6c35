/* SPDX-License-Identifier: MIT */
/*
 * The loss table by hand: which counters are one loss under several names, and what each driver counts. What
 * recordings of real ones add up to is test_telemetry_parse.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collectors/telemetry_loss.h"
#include "collectors/telemetry_parse.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_losses_are_not_counted_twice(void **state)
{
    (void)state;
    struct telemetry_losses loss;
    struct telemetry_stats s = {.has = 0xff, .imissed = 10, .rx_nombuf = 2, .ierrors = 1, .oerrors = 5};
    struct telemetry_xstat v[] = {{"rx_missed_errors", 10}, {"rx_dropped_packets", 10}, {"rx_q0_errors", 1},
                                  {"rx_out_of_buffer", 10}, {"tx_dropped_packets", 5},  {"rx_errors", 1}};
    struct telemetry_xstats x = {.n = COUNT(v), .v = v};
    telemetry_losses("pci", 2211, &s, &x, TELEMETRY_RX, &loss);
    assert_true(loss.has_sum && loss.sum == 13 && loss.n == 3 && !loss.blind);
    telemetry_losses("pci", 2211, &s, &x, TELEMETRY_TX, &loss);
    assert_true(loss.has_sum && loss.sum == 5 && loss.n == 1);
    telemetry_losses("", 2005, NULL, &x, TELEMETRY_RX, &loss); /* 20.05: no stats */
    assert_true(loss.has_sum && loss.sum == 11 && loss.n == 2);
    telemetry_losses("", 0, NULL, NULL, TELEMETRY_RX, &loss);
    assert_true(!loss.has_sum && loss.n == 0);
    assert_int_equal(telemetry_loss_of_xstat("pci", 2211, "rx_dropped_packets")->slot, TELEMETRY_SLOT_DETAIL);
    assert_int_equal(telemetry_loss_of_xstat("pci", 2211, "rx_prio12_buf_discard_packets")->dir,
                     TELEMETRY_RX);
    assert_null(telemetry_loss_of_xstat("pci", 2211, "rx_prio_buf_discard_packets"));
    assert_null(telemetry_loss_of_xstat("pci", 2211, "rx_good_packets"));
    assert_null(telemetry_loss_of_xstat("net_vhost", 2211, "tx_missed_pkts"));
    assert_non_null(telemetry_loss_of_xstat("net_vhost", 2011, "tx_missed_pkts"));
}

static void test_drivers_and_their_habits(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"net_vhost0", "net_vhost"},
                                           {"eth_null7", "net_null"},
                                           {"net_ring_longr_00", "net_ring"},
                                           {"virtio_user0", "net_virtio_user"},
                                           {"net_virtio_user3", "net_virtio_user"},
                                           {"net_null/a", "net_null"},
                                           {"0000:3b:00.1", "pci"},
                                           {"0000:3b:00.1_representor_vf0", "pci"},
                                           {"0000:3b:00", ""},
                                           {"whatever", ""},
                                           {"", ""}};
    char driver[32];
    for (size_t i = 0; i < COUNT(names); i++) {
        telemetry_driver_of(names[i][0], driver, sizeof driver);
        assert_string_equal(driver, names[i][1]);
    }
    assert_false(telemetry_counts_bytes("net_ring", 2511));
    assert_false(telemetry_counts_bytes("net_null", 2411));
    assert_true(telemetry_counts_bytes("net_null", 2511));
    assert_true(telemetry_counts_bytes("net_vhost", 2211));
    assert_false(telemetry_xstats_worth_asking("net_vhost", 2211, false));
    assert_true(telemetry_xstats_worth_asking("net_vhost", 2111, false));
    assert_true(telemetry_xstats_worth_asking("net_vhost", 2211, true));
    struct telemetry_xstat v[] = {{"rx_good_packets", 5}, {"tx_errors", 2}};
    struct telemetry_xstats x = {.n = 2, .v = v};
    struct telemetry_stats s;
    telemetry_stats_of_xstats(&x, &s);
    assert_int_equal(s.has, TELEMETRY_HAS_IPACKETS | TELEMETRY_HAS_OERRORS);
    assert_true(s.ipackets == 5 && s.oerrors == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses_are_not_counted_twice),
        cmocka_unit_test(test_drivers_and_their_habits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
