/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: every parser of Open vSwitch's texts on one input, which need not be a text. Checks that
 * names lie within the input, that indexes are in range and that percentages are sane.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/ovs_dpctl.h"
#include "collectors/ovs_pmd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good)
        abort();
}

static void check_inside(struct ovs_span text, struct ovs_span part)
{
    check(part.len == 0 || (part.s >= text.s && part.s + part.len <= text.s + text.len));
}

static void fuzz_pmds(struct ovs_span text)
{
    struct ovs_pmd_list pmds = {0};
    struct ovs_sleep_list sleeps = {0};
    double cycles, error;

    ovs_pmd_parse(&pmds, text);
    check(pmds.n <= OVS_MAX_PMDS);
    for (size_t i = 0; i < pmds.n; i++) {
        check(pmds.items[i].id.core_id >= -1 && pmds.items[i].id.numa_id >= -1);
        if (ovs_pmd_busy_cycles(&pmds.items[i], &cycles, &error))
            check(error >= 0);
    }
    ovs_sleep_parse(&sleeps, text);
    ovs_pmd_free(&pmds);
    ovs_sleep_free(&sleeps);
}

static void fuzz_queues(struct ovs_span text)
{
    struct ovs_rxq_table table = {0};

    ovs_rxq_parse(&table, text);
    for (size_t i = 0; i < table.n_rxqs; i++) {
        check(table.rxqs[i].thread < table.n_threads);
        check(table.rxqs[i].usage_pct >= -1 && table.rxqs[i].usage_pct <= 1000);
        check_inside(text, table.rxqs[i].port);
    }
    ovs_rxq_free(&table);
}

static void fuzz_datapaths(struct ovs_span text)
{
    struct ovs_dpctl show = {0};
    struct ovs_span option;

    ovs_dpctl_parse(&show, text);
    for (size_t i = 0; i < show.n_datapaths; i++)
        check_inside(text, show.datapaths[i].name);
    for (size_t i = 0; i < show.n_ports; i++) {
        check(show.ports[i].datapath < show.n_datapaths);
        check_inside(text, show.ports[i].name);
        check_inside(text, show.ports[i].type);
        check_inside(text, show.ports[i].failure);
        if (ovs_dp_port_option(&show.ports[i], "n_rxq", &option))
            check_inside(show.ports[i].options, option);
    }
    ovs_dpctl_free(&show);
}

static void fuzz_small(struct ovs_span text)
{
    struct ovs_coverage_list coverage = {0};
    struct ovs_upcall upcalls[4];
    uint64_t value;

    ovs_coverage_parse(&coverage, text);
    for (size_t i = 0; i < coverage.n; i++)
        check_inside(text, coverage.items[i].name);
    ovs_coverage_free(&coverage);
    size_t n = ovs_upcall_parse(upcalls, 4, text);
    for (size_t i = 0; i < n && i < 4; i++)
        check_inside(text, upcalls[i].datapath);
    ovs_memory_value(text, "udpif keys", &value);
    ovs_coverage_read(text, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* exact size: reads beyond the end are seen */
    struct ovs_span text = {.s = copy, .len = size};

    memcpy(copy, data, size);
    fuzz_pmds(text);
    fuzz_queues(text);
    fuzz_datapaths(text);
    fuzz_small(text);
    free(copy);
    return 0;
}
