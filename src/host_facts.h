/* SPDX-License-Identifier: MIT */
/*
 * What a host is, apart from its load: names, CPU topology, what is isolated, how it is tuned. Read once for
 * a recording's meta.json from /proc and /sys. Every fact is optional: a container, an ARM board and an
 * ordinary user see fewer. Knows neither JSON nor tables.
 */
#ifndef VNETTOP_HOST_FACTS_H
#define VNETTOP_HOST_FACTS_H

#include <stddef.h>
#include <stdint.h>

/* Single facts: the member's name, and the file it is the text of. */
#define HOST_TEXT_FACTS(FACT)                                                                                \
    FACT(name, "/proc/sys/kernel/hostname")                                                                  \
    FACT(kernel, "/proc/sys/kernel/osrelease")                                                               \
    FACT(kernel_build, "/proc/sys/kernel/version")                                                           \
    FACT(boot_id, "/proc/sys/kernel/random/boot_id")                                                         \
    FACT(command_line, "/proc/cmdline")                                                                      \
    FACT(machine_vendor, "/sys/class/dmi/id/sys_vendor")                                                     \
    FACT(machine_model, "/sys/class/dmi/id/product_name")                                                    \
    FACT(isolated, "/sys/devices/system/cpu/isolated")                                                       \
    FACT(nohz_full, "/sys/devices/system/cpu/nohz_full")                                                     \
    FACT(cpus_online, "/sys/devices/system/cpu/online")                                                      \
    FACT(smt, "/sys/devices/system/cpu/smt/control")                                                         \
    FACT(clock_source, "/sys/devices/system/clocksource/clocksource0/current_clocksource")

/* One CPU; a number that is not known is -1, a text NULL. */
struct cpu_fact {
    int cpu, core, package, numa;
    int online;     /* 1, 0 */
    char *siblings; /* CPUs of the same core, itself included */
    char *governor;
};

struct huge_pages_fact {
    int size_kb;
    uint64_t total, free;
};

#define AS_HOST_TEXT(name, path) char *name;
struct host_facts {
    HOST_TEXT_FACTS(AS_HOST_TEXT) /* NULL = not known; empty = the file was (no CPU is isolated) */
    char *architecture;           /* uname's machine: x86_64 */
    char *cpu_model;
    char *transparent_huge_pages; /* always, madvise, never */
    char *hypervisor;             /* is this host a guest itself? none, xen, ..., or yes */
    size_t n_cpus;
    struct cpu_fact *cpus; /* ascending */
    size_t n_huge_pages;
    struct huge_pages_fact *huge_pages;
};

/* Reads them all. root is put before /proc and /sys: "" in real life, a recorded tree in tests. Never fails.
 */
struct host_facts *host_facts_read(const char *root);
void host_facts_free(struct host_facts *facts);

#endif
