/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the parsers of the host's texts. The first byte chooses one. What is told stands in order and within
 * bounds, and memory kept from one parse to the next changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "collectors/host_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void fuzz_stat(const char *text, size_t len)
{
    struct host_stat fresh = {0}, used = {0};
    host_parse_stat("cpu0 1 2 3 4 5 6 7 8 9 10\ncpu9 1 2 3 4\nctxt 5\n", 47, &used);
    bool ok = host_parse_stat(text, len, &fresh);
    require(ok == host_parse_stat(text, len, &used));
    for (size_t i = 0; ok && i < fresh.n; i++) {
        require(fresh.cpus[i].cpu < PROCFS_CPU_MAX && fresh.cpus[i].n > HOST_IDLE &&
                fresh.cpus[i].n <= HOST_TIMES);
        require(i == 0 || fresh.cpus[i].cpu > fresh.cpus[i - 1].cpu);
        require(memcmp(&fresh.cpus[i], &used.cpus[i], sizeof(fresh.cpus[i])) == 0);
    }
    require(!ok || (fresh.n > 0 && fresh.n == used.n && fresh.has_switches == used.has_switches));
    host_stat_free(&fresh);
    host_stat_free(&used);
}

static void fuzz_softirqs(const char *text, size_t len)
{
    struct host_softirqs out = {0};
    bool ok = host_parse_softirqs(text, len, &out);
    for (size_t i = 1; ok && i < out.n; i++)
        require(out.cpus[i].cpu > out.cpus[i - 1].cpu && out.cpus[i].cpu < PROCFS_CPU_MAX);
    host_softirqs_free(&out);
}

static void fuzz_softnet(const char *text, size_t len)
{
    struct host_softnet out = {0};
    bool ok = host_parse_softnet(text, len, &out);
    require(!ok || (out.n > 0 && out.n <= PROCFS_CPU_MAX));
    for (size_t i = 1; ok && out.has_cpu && i < out.n; i++)
        require(out.lines[i].cpu > out.lines[i - 1].cpu && out.lines[i].cpu < PROCFS_CPU_MAX);
    host_softnet_free(&out);
}

static void fuzz_psi(const char *text, size_t len)
{
    uint64_t us;
    host_parse_psi(text, len, "some", &us);
    host_parse_psi(text, len, "full", &us);
}

static void fuzz_mask(const char *text, size_t len)
{
    struct procfs_cpuset set;
    if (host_parse_mask(text, len, &set))
        require(procfs_cpuset_count(&set) <= 4 * len);
}

static void fuzz_handler(const char *text, size_t len)
{
    char *handler = strndup(text, len);
    require(handler != NULL);
    host_irq_is_queue(handler, "eth0");
    require(!host_irq_is_queue(handler, handler));
    free(handler);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parsers[])(const char *, size_t) = {fuzz_stat, fuzz_softirqs, fuzz_softnet,
                                                            fuzz_psi,  fuzz_mask,     fuzz_handler};
    if (size > 0)
        parsers[data[0] % (sizeof(parsers) / sizeof(parsers[0]))]((const char *)data + 1, size - 1);
    return 0;
}
