/* SPDX-License-Identifier: MIT */
/* The parsers of host_parse.c: the kernels' forms, hostile texts, and every text cut at every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host_parse.h"

static const char stat_text[] = "cpu  10 20 30 40 50 60 70 80 90 100\n"
                                "cpu0 1 2 3 4 5 6 7 8 9 10\n"
                                "cpu2 11 12 13 14\n"
                                "intr 5 0 0 0\n"
                                "ctxt 18446744073709551615\n"
                                "cpufreq_of_tomorrow 1\n"
                                "procs_running 3\n"
                                "softirq 1 2 3\n";

static const char softirqs_text[] = "                    CPU0       CPU2       CPU4095\n"
                                    "          HI:          0          0          1\n"
                                    "      NET_TX:          7          8          9\n"
                                    "      NET_RX: 4294967295          2          3\n";

static const char softnet_text[] =
    "0000abcd 00000001 00000002 0 0 0 0 0 0 0 0 00000000 00000001 00000000 00000000\n"
    "ffffffff 00000003 00000004 0 0 0 0 0 0 0 0 00000000 00000010 00000000 00000000\n";

static const char psi_text[] = "some avg10=1.23 avg60=3.86 avg300=1.95 total=21505714\n"
                               "full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n";

static void test_stat(void **state)
{
    (void)state;
    struct host_stat stat = {0};
    assert_true(host_parse_stat(stat_text, sizeof(stat_text) - 1, &stat));
    assert_int_equal(stat.n, 2);
    assert_int_equal(stat.cpus[0].cpu, 0);
    assert_int_equal(stat.cpus[0].n, HOST_TIMES);
    assert_int_equal(stat.cpus[0].ticks[HOST_GUEST_NICE], 10);
    assert_int_equal(stat.cpus[1].cpu, 2);
    assert_int_equal(stat.cpus[1].n, 4);
    assert_int_equal(stat.cpus[1].ticks[HOST_IDLE], 14);
    assert_int_equal(stat.cpus[1].ticks[HOST_STEAL], 0);
    assert_true(stat.has_switches && stat.switches == UINT64_MAX);
    assert_true(stat.has_running && stat.running == 3);
    host_stat_free(&stat);
}

static void test_stat_hostile(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "cpu 1 2 3 4\n",
        "cpu0 1 2 3\n",
        "cpu0 1 2 3 4x\n",
        "cpu0 1 2 -3 4\n",
        "cpu0 1 2 3 18446744073709551616\n",
        "cpu0x 1 2 3 4\n",
        "cpu4096 1 2 3 4\n",
        "cpu99999999999999999999 1 2 3 4\n",
        "cpu1 1 2 3 4\ncpu1 1 2 3 4\n",
        "cpu1 1 2 3 4\ncpu0 1 2 3 4\n",
        "cpu0 1 2 3 4\nctxt\n procs_running 1 2\nctxt x\n",
    };
    struct host_stat stat = {0};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(host_parse_stat(bad[i], strlen(bad[i]), &stat));
    assert_false(host_parse_stat("cpu0 1 2 3 4\0\n", 14, &stat));
    /* More times than are known today. */
    assert_true(host_parse_stat("cpu0 1 2 3 4 5 6 7 8 9 10 11 12\n", 32, &stat));
    assert_int_equal(stat.cpus[0].n, HOST_TIMES);
    assert_false(stat.has_switches);
    host_stat_free(&stat);
}

static void test_softirqs(void **state)
{
    (void)state;
    struct host_softirqs softirqs = {0};
    assert_true(host_parse_softirqs(softirqs_text, sizeof(softirqs_text) - 1, &softirqs));
    assert_int_equal(softirqs.n, 3);
    assert_int_equal(softirqs.cpus[1].cpu, 2);
    assert_int_equal(softirqs.cpus[2].cpu, 4095);
    assert_true(softirqs.has_net_rx && softirqs.has_net_tx);
    assert_int_equal(softirqs.cpus[0].net_rx, UINT32_MAX);
    assert_int_equal(softirqs.cpus[2].net_tx, 9);
    static const char *const bad[] = {
        "",
        "\n",
        "CPU0 CPU0\n",
        "CPU0 CPU4096\n",
        "CPU0 cpu1\n",
        "CPU0CPU1\n",
        "CPU0 CPU1\nNET_RX: 1\n",
        "CPU0 CPU1\nNET_RX: 1 2 3\n",
        "CPU0\nNET_TX: 1a\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(host_parse_softirqs(bad[i], strlen(bad[i]), &softirqs));
    host_softirqs_free(&softirqs);
}

static void test_softnet(void **state)
{
    (void)state;
    struct host_softnet softnet = {0};
    assert_true(host_parse_softnet(softnet_text, sizeof(softnet_text) - 1, &softnet));
    assert_true(softnet.has_cpu);
    assert_int_equal(softnet.n, 2);
    assert_int_equal(softnet.lines[1].cpu, 16); /* the column is hexadecimal */
    assert_int_equal(softnet.lines[1].processed, UINT32_MAX);
    assert_int_equal(softnet.lines[0].dropped, 1);
    assert_int_equal(softnet.lines[1].squeezed, 4);
    /* 12 columns: the length of the backlog is not a CPU. */
    assert_true(host_parse_softnet("1 2 3 0 0 0 0 0 0 0 0 9\n1 2 3 0 0 0 0 0 0 0 0 9\n", 48, &softnet));
    assert_false(softnet.has_cpu);
    static const char *const bad[] = {
        "",
        "1 2\n",
        "1 2 X\n",
        "1 2 00000000000000001\n",
        "1 2 3 4 5 6 7 8 9 a b c 1000\n",
        "1 2 3 4 5 6 7 8 9 a b c 1\n1 2 3 4 5 6 7 8 9 a b c 1\n",
        "1 2 3 4 5 6 7 8 9 a b c 1\n1 2 3\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(host_parse_softnet(bad[i], strlen(bad[i]), &softnet));
    host_softnet_free(&softnet);
}

static void test_psi(void **state)
{
    (void)state;
    uint64_t us = 0;
    assert_true(host_parse_psi(psi_text, sizeof(psi_text) - 1, "some", &us));
    assert_int_equal(us, 21505714);
    assert_true(host_parse_psi(psi_text, sizeof(psi_text) - 1, "full", &us));
    assert_int_equal(us, 17);
    assert_false(host_parse_psi("full total=1\n", 13, "some", &us));
    assert_false(host_parse_psi("some avg10=0.00\n", 16, "some", &us));
    assert_false(host_parse_psi("some total=-1\n", 14, "some", &us));
    assert_false(host_parse_psi("some total=\n", 12, "some", &us));
}

static bool mask(const char *text, const char *list)
{
    struct procfs_cpuset set;
    char told[PROCFS_CPUS_TEXT];
    if (!host_parse_mask(text, strlen(text), &set))
        return false;
    procfs_cpuset_format(&set, told, sizeof(told));
    return strcmp(told, list) == 0;
}

static void test_mask(void **state)
{
    (void)state;
    assert_true(mask("0\n", ""));
    assert_true(mask("5", "0,2"));
    assert_true(mask("00000000,00000003\n", "0-1"));
    assert_true(mask("80000000,00000000,00000001\n", "0,95"));
    struct procfs_cpuset set;
    static const char *const bad[] = {"", "\n", ",", "1,", ",1", "g", "1 1", "100000000", "1,,1", "-1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(host_parse_mask(bad[i], strlen(bad[i]), &set));
    char wide[8 * 200 + 1] = "";
    for (int i = 0; i < 128; i++)
        strcat(wide, "1,");
    strcat(wide, "1");
    assert_false(host_parse_mask(wide, strlen(wide), &set)); /* CPU 4096 */
    wide[0] = '0';
    assert_true(host_parse_mask(wide, strlen(wide), &set));
    assert_int_equal(procfs_cpuset_count(&set), 128);
}

static void test_handlers(void **state)
{
    (void)state;
    static const char *const queues[] = {
        "virtio2-input.0",     "virtio2-output.1", "virtio2-virtqueues",       "mlx5_comp3@pci:0000:3b:00.0",
        "eth0-TxRx-0",         "eth0-fp-3",        "i40e-eth0-TxRx-7",         "ice-eth0-TxRx-7",
        "eth0-Tx-Rx-1",        "eth0-rx-0",        "mana_q1@pci:7870:00:00.0", "vmxnet-rxtx-0",
        "mlx4-1@0000:03:00.0", "eth0-q0",          "gve-ntfy-blk0@pci:0:5.0",
    };
    static const char *const others[] = {
        "virtio2-config",
        "mlx5_async0@pci:0000:3b:00.0",
        "mlx5_pages_eq@pci:0000:3b:00.0",
        "eth0",
        "i40e-0000:3b:00.0:misc",
        "i40e-0000:3b:00.0:fdir-TxRx-0",
        "iavf-0000:3b:02.0:mbx",
        "ena-mgmnt@pci:0000:00:05.0",
        "mana_hwc@pci:7870:00:00.0",
        "eth0-event-4",
        "eth0-lsc",
    };
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); i++)
        assert_true(host_irq_is_queue(queues[i], "eth0"));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(host_irq_is_queue(others[i], "eth0"));
    assert_true(host_irq_is_queue("misc0-TxRx-0", "misc0"));
    assert_false(host_irq_is_queue("misc0", "misc0"));
    assert_true(host_irq_is_queue("", "eth0") == false);
}

/* A copy with nothing behind it, so that a read past the end is seen by the sanitizer. */
static char *exact(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    return memcpy(copy, text, len);
}

/* What a text cut anywhere still tells is true: no number is a piece of a longer one. */
static void test_cut_stat(void **state)
{
    (void)state;
    struct host_stat whole = {0}, cut = {0};
    assert_true(host_parse_stat(stat_text, sizeof(stat_text) - 1, &whole));
    for (size_t len = 0; len < sizeof(stat_text) - 1; len++) {
        char *text = exact(stat_text, len);
        if (host_parse_stat(text, len, &cut)) {
            assert_true(cut.n <= whole.n);
            assert_memory_equal(cut.cpus, whole.cpus, cut.n * sizeof(*cut.cpus));
            assert_true(!cut.has_switches || cut.switches == whole.switches);
            assert_true(!cut.has_running || cut.running == whole.running);
        }
        free(text);
    }
    host_stat_free(&whole);
    host_stat_free(&cut);
}

static void test_cut_softirqs(void **state)
{
    (void)state;
    struct host_softirqs whole = {0}, cut = {0};
    assert_true(host_parse_softirqs(softirqs_text, sizeof(softirqs_text) - 1, &whole));
    for (size_t len = 0; len < sizeof(softirqs_text) - 1; len++) {
        char *text = exact(softirqs_text, len);
        if (host_parse_softirqs(text, len, &cut)) {
            assert_int_equal(cut.n, whole.n);
            for (size_t i = 0; i < cut.n; i++) {
                assert_true(!cut.has_net_rx || cut.cpus[i].net_rx == whole.cpus[i].net_rx);
                assert_true(!cut.has_net_tx || cut.cpus[i].net_tx == whole.cpus[i].net_tx);
            }
        }
        free(text);
    }
    host_softirqs_free(&whole);
    host_softirqs_free(&cut);
}

/* Field by field: the struct has padding. */
static void assert_same_lines(const struct host_softnet *cut, const struct host_softnet *whole)
{
    assert_true(cut->n <= whole->n);
    for (size_t i = 0; i < cut->n; i++) {
        assert_int_equal(cut->lines[i].cpu, whole->lines[i].cpu);
        assert_int_equal(cut->lines[i].processed, whole->lines[i].processed);
        assert_int_equal(cut->lines[i].dropped, whole->lines[i].dropped);
        assert_int_equal(cut->lines[i].squeezed, whole->lines[i].squeezed);
    }
}

static void test_cut_softnet_and_psi(void **state)
{
    (void)state;
    struct host_softnet whole = {0}, cut = {0};
    uint64_t us;
    assert_true(host_parse_softnet(softnet_text, sizeof(softnet_text) - 1, &whole));
    for (size_t len = 0; len < sizeof(softnet_text) - 1; len++) {
        char *text = exact(softnet_text, len);
        if (host_parse_softnet(text, len, &cut))
            assert_same_lines(&cut, &whole);
        free(text);
    }
    for (size_t len = 0; len < sizeof(psi_text) - 1; len++) {
        char *text = exact(psi_text, len);
        if (host_parse_psi(text, len, "some", &us))
            assert_int_equal(us, 21505714);
        assert_false(host_parse_psi(text, len, "full", &us));
        free(text);
    }
    host_softnet_free(&whole);
    host_softnet_free(&cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stat),         cmocka_unit_test(test_stat_hostile),
        cmocka_unit_test(test_softirqs),     cmocka_unit_test(test_softnet),
        cmocka_unit_test(test_psi),          cmocka_unit_test(test_mask),
        cmocka_unit_test(test_handlers),     cmocka_unit_test(test_cut_stat),
        cmocka_unit_test(test_cut_softirqs), cmocka_unit_test(test_cut_softnet_and_psi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
