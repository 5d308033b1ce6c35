/* SPDX-License-Identifier: MIT */
/*
 * Slow part of the source `host` (see host_topology.h). Each read gathers plain facts; only when they differ
 * from the last ones is a new inventory made, so that a history of hours holds one. A CPU that is offline
 * keeps its row here, saying so, while the fast part has none for it.
 */
#include "collectors/host_topology.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collectors/host_nics.h"
#include "collectors/host_power.h"
#include "collectors/procfs.h"
#include "src/memory.h"

#define TEMPO_MS      5000
#define TEXT_SIZE     16384 /* a list of PROCFS_CPU_MAX CPUs with no two in a row */
#define SIBLINGS_SIZE 48
#define UNKNOWN       (-1)
#define CPU_PATH      "devices/system/cpu/"

struct cpu_fact {
    int cpu;
    int package, core, node; /* UNKNOWN where the kernel tells none */
    int online, isolated, nohz_full;
    char siblings[SIBLINGS_SIZE];
    char governor[24];
    struct host_idle idle;
};

/* All that is known at one read. */
struct facts {
    bool has_isolated; /* the kernel tells which are isolated */
    unsigned n_online, nodes;
    struct procfs_cpuset present, online, isolated, nohz_full;
    char host_name[256];
    uint64_t netns;
    struct cpu_fact *cpus;
    size_t n_cpus;
    struct host_nics nics;
};

struct topology {
    int proc_fd, sys_fd, socket_fd;
    unsigned reads;
    struct facts now, before;

    struct inventory *inventory;
    struct host_info *host_info;
    void **cpu_infos, **port_infos; /* of inventory, in the order of now.cpus and now.nics */
    uint64_t *deep_sleeps;          /* in the order of now.cpus */
};

/* ---- facts ---- */

static bool read_set(int sys_fd, const char *path, struct procfs_cpuset *set)
{
    char text[TEXT_SIZE];
    size_t len;
    memset(set, 0, sizeof(*set));
    if (procfs_read_file(sys_fd, path, text, sizeof(text), &len) != PROCFS_OK)
        return false;
    /* What nohz_full reads where the kernel could, but was not told to. */
    if (strncmp(text, "(null)", 6) == 0)
        return true;
    return procfs_cpuset_parse(text, len, set);
}

/* A small number of one CPU or node; some machines write -1 for what they do not know. */
static int read_id(int sys_fd, unsigned cpu, const char *name)
{
    char path[96], text[32];
    size_t len;
    uint64_t value;
    snprintf(path, sizeof(path), CPU_PATH "cpu%u/topology/%s", cpu, name);
    if (procfs_read_file(sys_fd, path, text, sizeof(text), &len) != PROCFS_OK || len == 0)
        return UNKNOWN;
    bool ok = procfs_parse_u64(text, len - (text[len - 1] == '\n'), &value) && value <= INT32_MAX;
    return ok ? (int)value : UNKNOWN;
}

static void read_cpu(int sys_fd, struct cpu_fact *fact)
{
    char path[96];
    struct procfs_cpuset siblings;
    unsigned cpu = (unsigned)fact->cpu;
    fact->package = read_id(sys_fd, cpu, "physical_package_id");
    fact->core = read_id(sys_fd, cpu, "core_id");
    fact->node = UNKNOWN;
    snprintf(path, sizeof(path), CPU_PATH "cpu%u/topology/thread_siblings_list", cpu);
    if (read_set(sys_fd, path, &siblings))
        procfs_cpuset_format(&siblings, fact->siblings, sizeof(fact->siblings));
    fact->idle = host_power_idle(sys_fd, cpu);
}

/* node*\/cpulist; a machine without NUMA has no such folder. */
static void read_nodes(int sys_fd, struct facts *facts)
{
    struct procfs_cpuset nodes, cpus;
    facts->nodes = 0;
    if (!read_set(sys_fd, "devices/system/node/online", &nodes))
        return;
    for (int node = procfs_cpuset_next(&nodes, 0); node >= 0;
         node = procfs_cpuset_next(&nodes, (unsigned)node + 1)) {
        char path[96];
        snprintf(path, sizeof(path), "devices/system/node/node%d/cpulist", node);
        if (!read_set(sys_fd, path, &cpus))
            continue;
        facts->nodes++;
        for (size_t i = 0; i < facts->n_cpus; i++)
            if (procfs_cpuset_has(&cpus, (unsigned)facts->cpus[i].cpu))
                facts->cpus[i].node = node;
    }
}

static void list_cpus(int sys_fd, struct facts *facts)
{
    facts->n_cpus = 0;
    facts->cpus = xrealloc(facts->cpus, procfs_cpuset_count(&facts->present), sizeof(*facts->cpus));
    for (int cpu = procfs_cpuset_next(&facts->present, 0); cpu >= 0;
         cpu = procfs_cpuset_next(&facts->present, (unsigned)cpu + 1)) {
        struct cpu_fact *fact = &facts->cpus[facts->n_cpus++];
        memset(fact, 0, sizeof(*fact)); /* compared as memory */
        fact->cpu = cpu;
        read_cpu(sys_fd, fact);
    }
    read_nodes(sys_fd, facts);
}

/* Cores and nodes only change with the CPUs that are there. */
static void copy_cpus(struct facts *to, const struct facts *from)
{
    to->nodes = from->nodes;
    to->n_cpus = from->n_cpus;
    to->cpus = xrealloc(to->cpus, from->n_cpus, sizeof(*to->cpus));
    memcpy(to->cpus, from->cpus, from->n_cpus * sizeof(*to->cpus));
}

static void read_cpus(int sys_fd, struct facts *now, const struct facts *before)
{
    now->has_isolated = read_set(sys_fd, CPU_PATH "isolated", &now->isolated);
    read_set(sys_fd, CPU_PATH "nohz_full", &now->nohz_full);
    if (before->n_cpus && procfs_cpuset_equal(&now->present, &before->present) &&
        procfs_cpuset_equal(&now->online, &before->online))
        copy_cpus(now, before);
    else
        list_cpus(sys_fd, now);
    now->n_online = procfs_cpuset_count(&now->online);
    for (size_t i = 0; i < now->n_cpus; i++) {
        unsigned cpu = (unsigned)now->cpus[i].cpu;
        now->cpus[i].online = procfs_cpuset_has(&now->online, cpu);
        now->cpus[i].isolated = procfs_cpuset_has(&now->isolated, cpu);
        now->cpus[i].nohz_full = procfs_cpuset_has(&now->nohz_full, cpu);
        host_power_governor(sys_fd, cpu, now->cpus[i].governor, sizeof(now->cpus[i].governor));
    }
}

/* Which CPUs there are. A CPU may come online between the two reads. */
static bool read_presence(int sys_fd, struct facts *facts)
{
    if (!read_set(sys_fd, CPU_PATH "online", &facts->online))
        return false;
    if (!read_set(sys_fd, CPU_PATH "present", &facts->present))
        facts->present = facts->online;
    for (int cpu = procfs_cpuset_next(&facts->online, 0); cpu >= 0;
         cpu = procfs_cpuset_next(&facts->online, (unsigned)cpu + 1))
        procfs_cpuset_add(&facts->present, (unsigned)cpu);
    return true;
}

static void read_host_name(int proc_fd, char *name, size_t size)
{
    size_t len;
    memset(name, 0, size);
    if (procfs_read_file(proc_fd, "sys/kernel/hostname", name, size, &len) != PROCFS_OK)
        memset(name, 0, size);
    name[strcspn(name, "\n")] = '\0';
}

/* "net:[4026531840]"; 0 when there is no telling. */
static uint64_t read_netns(int proc_fd)
{
    char link[64];
    uint64_t inode;
    ssize_t n = readlinkat(proc_fd, "self/ns/net", link, sizeof(link));
    bool ok = n > 6 && n < (ssize_t)sizeof(link) && memcmp(link, "net:[", 5) == 0 && link[n - 1] == ']' &&
              procfs_parse_u64(link + 5, (size_t)n - 6, &inode);
    return ok ? inode : 0;
}

static void read_sleeps(struct topology *topology)
{
    const struct facts *now = &topology->now;
    topology->deep_sleeps = xrealloc(topology->deep_sleeps, now->n_cpus, sizeof(uint64_t));
    for (size_t i = 0; i < now->n_cpus; i++)
        topology->deep_sleeps[i] =
            host_power_deep_sleeps(topology->sys_fd, (unsigned)now->cpus[i].cpu, &now->cpus[i].idle);
}

/* False when /sys has no CPUs. */
static bool read_facts(struct topology *topology)
{
    struct facts *now = &topology->now;
    if (!read_presence(topology->sys_fd, now))
        return false;
    read_cpus(topology->sys_fd, now, &topology->before);
    read_sleeps(topology);
    read_host_name(topology->proc_fd, now->host_name, sizeof(now->host_name));
    now->netns = read_netns(topology->proc_fd);
    const struct host_nics_from from = {.proc_fd = topology->proc_fd,
                                        .sys_fd = topology->sys_fd,
                                        .socket_fd = topology->socket_fd,
                                        .pass = topology->reads++};
    host_nics_read(&now->nics, &topology->before.nics, &from);
    return true;
}

static bool facts_equal(const struct facts *a, const struct facts *b)
{
    return a->n_cpus == b->n_cpus && memcmp(a->cpus, b->cpus, a->n_cpus * sizeof(*a->cpus)) == 0 &&
           a->has_isolated == b->has_isolated && procfs_cpuset_equal(&a->isolated, &b->isolated) &&
           a->netns == b->netns && strcmp(a->host_name, b->host_name) == 0 &&
           host_nics_equal(&a->nics, &b->nics);
}

static void facts_free(struct facts *facts)
{
    free(facts->cpus);
    host_nics_free(&facts->nics);
}

/* ---- inventory ---- */

static const char *set_text(struct inventory *inventory, const struct procfs_cpuset *set)
{
    char text[PROCFS_CPUS_TEXT];
    procfs_cpuset_format(set, text, sizeof(text));
    return inventory_text(inventory, text);
}

/* "eth0 (4), eth1": the ports that entries from *at on name for the CPU, with the number of interrupts where
 * it is not one. Empty when there is none. */
static void irqs_text(const struct host_nics *nics, unsigned cpu, size_t *at, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (; *at < nics->n_cpus && nics->cpus[*at].cpu <= cpu; ++*at) {
        const struct host_nic_cpu *entry = &nics->cpus[*at];
        const struct host_nic *nic = host_nics_find(nics, entry->ifindex);
        if (entry->cpu < cpu || !nic || used >= size)
            continue;
        char count[16] = "";
        if (entry->irqs > 1)
            snprintf(count, sizeof(count), " (%u)", entry->irqs);
        used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? ", " : "", nic->name, count);
    }
}

static struct cpus_info *cpu_info(struct inventory *inventory, const struct facts *facts,
                                  const struct cpu_fact *fact)
{
    struct cpus_info *info = inventory_info(inventory, TABLE_CPUS, "cpu:%d", fact->cpu);
    info_set(info, cpu, (uint64_t)fact->cpu);
    info_set(info, online, fact->online ? "yes" : "no");
    if (fact->node != UNKNOWN)
        info_set(info, numa, (uint64_t)fact->node);
    if (fact->package != UNKNOWN)
        info_set(info, package, (uint64_t)fact->package);
    if (fact->core != UNKNOWN)
        info_set(info, core, (uint64_t)fact->core);
    if (fact->siblings[0])
        info_set(info, siblings, inventory_text(inventory, fact->siblings));
    if (facts->has_isolated)
        info_set(info, isolated, fact->isolated ? "yes" : "no");
    info_set(info, nohz_full, fact->nohz_full ? "yes" : "no");
    if (fact->governor[0])
        info_set(info, governor, inventory_text(inventory, fact->governor));
    if (fact->idle.exit_us)
        info_set(info, idle_exit_us, fact->idle.exit_us);
    return info;
}

static void make_cpus(struct topology *topology)
{
    const struct facts *facts = &topology->now;
    size_t at = 0;
    topology->cpu_infos = xrealloc(topology->cpu_infos, facts->n_cpus, sizeof(void *));
    for (size_t i = 0; i < facts->n_cpus; i++) {
        const struct cpu_fact *fact = &facts->cpus[i];
        struct cpus_info *info = cpu_info(topology->inventory, facts, fact);
        char irqs[256];
        irqs_text(&facts->nics, (unsigned)fact->cpu, &at, irqs, sizeof(irqs));
        if (irqs[0])
            info_set(info, irqs, inventory_text(topology->inventory, irqs));
        topology->cpu_infos[i] = info;
    }
}

static struct ports_info *port_info(struct inventory *inventory, uint64_t netns, const struct host_nic *nic)
{
    struct ports_info *info =
        inventory_info(inventory, TABLE_PORTS, "net:%llu:%u", (unsigned long long)netns, nic->ifindex);
    info_set(info, ifindex, nic->ifindex);
    info_set(info, name, inventory_text(inventory, nic->name));
    if (nic->node_1)
        info_set(info, numa, nic->node_1 - 1);
    if (procfs_cpuset_count(&nic->irq_cpus))
        info_set(info, irq_cpus, set_text(inventory, &nic->irq_cpus));
    else if (nic->irqs_denied)
        info_deny(info, irq_cpus);
    if (procfs_cpuset_count(&nic->rps_cpus))
        info_set(info, rps_cpus, set_text(inventory, &nic->rps_cpus));
    if (procfs_cpuset_count(&nic->xps_cpus))
        info_set(info, xps_cpus, set_text(inventory, &nic->xps_cpus));
    return info;
}

/* Ports have a key of their namespace's number: without it there are none. */
static size_t ports_shown(const struct facts *facts)
{
    return facts->netns ? facts->nics.n : 0;
}

static void make_ports(struct topology *topology)
{
    const struct facts *facts = &topology->now;
    size_t n = ports_shown(facts);
    topology->port_infos = xrealloc(topology->port_infos, n, sizeof(void *));
    for (size_t i = 0; i < n; i++)
        topology->port_infos[i] = port_info(topology->inventory, facts->netns, &facts->nics.nics[i]);
}

static void make_host(struct topology *topology)
{
    const struct facts *facts = &topology->now;
    struct host_info *info = inventory_info(topology->inventory, TABLE_HOST, "host");
    if (facts->host_name[0])
        info_set(info, host, inventory_text(topology->inventory, facts->host_name));
    info_set(info, cpus_online, facts->n_online);
    if (facts->has_isolated && procfs_cpuset_count(&facts->isolated))
        info_set(info, isolated_cpus, set_text(topology->inventory, &facts->isolated));
    else if (facts->has_isolated)
        info_set(info, isolated_cpus, "none");
    topology->host_info = info;
}

static void make_inventory(struct topology *topology)
{
    inventory_unref(topology->inventory);
    topology->inventory = inventory_new();
    make_cpus(topology);
    make_host(topology);
    make_ports(topology);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void describe(const struct facts *facts, struct collect_call *call)
{
    char cpus[PROCFS_CPUS_TEXT + 16] = "isolation not told", nodes[32] = "", offline[32] = "", ports[64];
    size_t n_offline = facts->n_cpus - facts->n_online, n = 0;
    for (size_t i = 0; i < facts->nics.n; i++)
        n += facts->nics.nics[i].irqs > 0;
    if (facts->has_isolated && procfs_cpuset_count(&facts->isolated)) {
        size_t used = (size_t)snprintf(cpus, sizeof(cpus), "isolated ");
        procfs_cpuset_format(&facts->isolated, cpus + used, sizeof(cpus) - used);
    } else if (facts->has_isolated) {
        snprintf(cpus, sizeof(cpus), "no isolated CPUs");
    }
    if (facts->nodes)
        snprintf(nodes, sizeof(nodes), ", %u node%s", facts->nodes, plural(facts->nodes));
    if (n_offline)
        snprintf(offline, sizeof(offline), ", %zu offline", n_offline);
    snprintf(ports, sizeof(ports), "interrupts of %zu port%s", n, plural(n));
    snprintf(call->detail, sizeof(call->detail), "%u CPU%s%s%s; %.120s; %s", facts->n_online,
             plural(facts->n_online), offline, nodes, cpus,
             facts->nics.foreign ? "/sys shows another network namespace" : ports);
}

/* ---- collector ---- */

static void topology_close(void *state)
{
    struct topology *topology = state;
    if (!topology)
        return;
    const int fds[] = {topology->proc_fd, topology->sys_fd, topology->socket_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    facts_free(&topology->now);
    facts_free(&topology->before);
    inventory_unref(topology->inventory);
    free(topology->cpu_infos);
    free(topology->port_infos);
    free(topology->deep_sleeps);
    free(topology);
}

static int open_folder(const char *root, const char *path)
{
    char full[4096];
    snprintf(full, sizeof(full), "%s%s", root ? root : "", path);
    return open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static enum collect_result topology_open(const struct collect_config *config, void **state,
                                         struct collect_call *call)
{
    struct topology *topology = xzalloc(sizeof(*topology));
    bool recorded = config->root && *config->root;
    topology->sys_fd = open_folder(config->root, "/sys");
    int error = errno;
    topology->proc_fd = open_folder(config->root, "/proc");
    /* A recorded tree's ports are not this machine's: the kernel is not asked about them. */
    topology->socket_fd = recorded ? -1 : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (topology->sys_fd < 0) {
        topology_close(topology);
        return collect_fail(&call->error, COLLECT_NONE, "/sys: %s; mount sysfs on /sys", strerror(error));
    }
    *state = topology;
    return COLLECT_OK;
}

static void fill(const struct topology *topology, struct sample *sample)
{
    sample_reserve(sample, TABLE_CPUS, topology->now.n_cpus);
    for (size_t i = 0; i < topology->now.n_cpus; i++) {
        struct cpus_row *row = sample_row(sample, TABLE_CPUS, topology->cpu_infos[i]);
        if (topology->now.cpus[i].idle.exit_us)
            row_set(row, deep_sleeps, topology->deep_sleeps[i]);
    }
    sample_row(sample, TABLE_HOST, topology->host_info);
    for (size_t i = 0; i < ports_shown(&topology->now); i++)
        sample_row(sample, TABLE_PORTS, topology->port_infos[i]);
}

static void swap_facts(struct topology *topology)
{
    struct facts older = topology->before;
    topology->before = topology->now;
    topology->now = older;
}

static enum collect_result topology_collect(void *state, struct collect_call *call, struct sample **result)
{
    struct topology *topology = state;
    struct sample *sample = sample_new(NULL);
    swap_facts(topology);
    sample_begin(sample);
    bool ok = read_facts(topology);
    sample_end(sample);
    if (!ok) {
        sample_unref(sample);
        return collect_fail(&call->error, COLLECT_NONE,
                            "/sys/" CPU_PATH "online: not there or not readable; mount sysfs on /sys");
    }
    if (!topology->inventory || !facts_equal(&topology->now, &topology->before)) {
        make_inventory(topology);
        describe(&topology->now, call);
    }
    sample->inventory = inventory_ref(topology->inventory);
    fill(topology, sample);
    *result = sample;
    return COLLECT_OK;
}

const struct collector host_topology_collector = {
    .source = "host",
    .feed = "host-topology",
    .help = "CPUs online, cores, NUMA nodes, isolation, governors and idle states, and which CPUs serve "
            "which port, from /sys and /proc/irq",
    .tempo_ms = TEMPO_MS,
    .annotates = 1u << TABLE_PORTS, /* under --netns this host's ports are nobody's rows */
    .open = topology_open,
    .collect = topology_collect,
    .close = topology_close,
};
