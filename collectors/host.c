/* SPDX-License-Identifier: MIT */
/*
 * Fast part of the source `host` (see host.h). All files are read one after the other between the sample's
 * two time stamps, and parsed after. The numbers are made such that a frame may take them for counters:
 * 32-bit ones are carried on beyond their wrap, guest time is counted once, and the small steps back that the
 * kernel's own times make are held.
 */
#include "collectors/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/host_parse.h"
#include "src/memory.h"

#define FILE_BYTES_MIN 16384
#define FILE_BYTES_MAX                                                                                       \
    (16u << 20) /* /proc/stat has a number for each interrupt: about 1 MiB at the worst                      \
                 */

enum host_file {
    FILE_STAT,
    FILE_SOFTIRQS,
    FILE_SOFTNET,
    FILE_PSI_CPU,
    FILE_PSI_IRQ,
    FILE_PSI_MEMORY,
    FILE_PSI_IO,
    FILES_N
};

static const char *const paths[FILES_N] = {
    [FILE_STAT] = "/proc/stat",
    [FILE_SOFTIRQS] = "/proc/softirqs",
    [FILE_SOFTNET] = "/proc/net/softnet_stat",
    [FILE_PSI_CPU] = "/proc/pressure/cpu",
    [FILE_PSI_IRQ] = "/proc/pressure/irq",
    [FILE_PSI_MEMORY] = "/proc/pressure/memory",
    [FILE_PSI_IO] = "/proc/pressure/io",
};

struct open_file {
    int fd; /* -1: this kernel has no such file */
    char *text;
    size_t len, alloc;
    int error; /* errno of this tick's read, 0 = read */
};

/* A counter of the kernel's that wraps at 32 bits, carried on. */
struct wide {
    bool known;
    uint64_t last, total;
};

/* What is remembered of a CPU between ticks. */
struct cpu_memory {
    uint64_t tick;             /* the last one in which it was online */
    uint64_t held[HOST_TIMES]; /* as shown last; [HOST_GUEST] is guest and guest_nice */
    struct wide net_rx, net_tx, processed, dropped, squeezed;
};

struct host {
    struct open_file file[FILES_N];
    char host_name[256];
    struct host_stat stat;
    struct host_softirqs softirqs;
    struct host_softnet softnet;
    uint64_t tick;
    struct cpu_memory *memory; /* by CPU number */
    size_t n_memory;

    struct inventory *inventory;
    struct host_info *host_info;
    struct cpus_info **cpu_infos; /* of inventory, in the order of stat */
    size_t n_cpu_infos;
};

/* ---- files ---- */

static int open_under(const char *root, const char *path)
{
    char full[4096];
    if (snprintf(full, sizeof(full), "%s%s", root ? root : "", path) >= (int)sizeof(full)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(full, O_RDONLY | O_CLOEXEC);
}

/* Reads to the end: seq_file hands out a page at a time, so a short read is not the end. Returns an errno. */
static int read_whole(struct open_file *file)
{
    for (file->len = 0;;) {
        if (file->len == file->alloc) {
            if (file->alloc >= FILE_BYTES_MAX)
                return EFBIG;
            file->alloc = file->alloc ? file->alloc * 2 : FILE_BYTES_MIN;
            file->text = xrealloc(file->text, file->alloc, 1);
        }
        ssize_t n = pread(file->fd, file->text + file->len, file->alloc - file->len, (off_t)file->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : 0;
        file->len += (size_t)n;
    }
}

static void read_files(struct host *host)
{
    for (int i = 0; i < FILES_N; i++) {
        struct open_file *file = &host->file[i];
        file->error = file->fd < 0 ? ENOENT : read_whole(file);
    }
}

static void read_host_name(struct host *host, const char *root)
{
    int fd = open_under(root, "/proc/sys/kernel/hostname");
    ssize_t n = fd < 0 ? -1 : read(fd, host->host_name, sizeof(host->host_name) - 1);
    host->host_name[n > 0 ? n : 0] = '\0';
    host->host_name[strcspn(host->host_name, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

/* ---- counters ---- */

static uint64_t widen(struct wide *wide, uint64_t now)
{
    if (!wide->known)
        *wide = (struct wide){.known = true, .total = now};
    else if (now >= wide->last)
        wide->total += now - wide->last;
    else
        wide->total += (uint32_t)(now - wide->last);
    wide->last = now;
    return wide->total;
}

/*
 * The kernel's times step back: iowait when the task that waited is woken on another CPU, idle with it, and
 * the difference of user and guest time by a tick, since each is rounded by itself. A step of up to ten
 * seconds is such a one and is held; a longer one is a counter that was set anew, and shown as that.
 */
#define HELD_TICKS 1000

static uint64_t hold(uint64_t *held, uint64_t now)
{
    if (now > *held || *held - now > HELD_TICKS)
        *held = now;
    return *held;
}

static uint64_t without(uint64_t whole, uint64_t part)
{
    return whole > part ? whole - part : 0;
}

static struct cpu_memory *memory_of(struct host *host, unsigned cpu)
{
    if (cpu >= host->n_memory) {
        host->memory = xrealloc(host->memory, cpu + 1, sizeof(*host->memory));
        memset(host->memory + host->n_memory, 0, (cpu + 1 - host->n_memory) * sizeof(*host->memory));
        host->n_memory = cpu + 1;
    }
    struct cpu_memory *memory = &host->memory[cpu];
    /* One that was offline starts anew: older kernels set its idle time back. */
    if (memory->tick + 1 != host->tick)
        memset(memory->held, 0, sizeof(memory->held));
    memory->tick = host->tick;
    return memory;
}

/* ---- rows ---- */

static void fill_times(struct cpus_row *row, const struct host_stat_cpu *cpu, struct cpu_memory *memory)
{
    const uint64_t *ticks = cpu->ticks;
    uint64_t guest = ticks[HOST_GUEST], guest_nice = ticks[HOST_GUEST_NICE], *held = memory->held;
    row_set(row, user_ticks, hold(&held[HOST_USER], without(ticks[HOST_USER], guest)));
    row_set(row, nice_ticks, hold(&held[HOST_NICE], without(ticks[HOST_NICE], guest_nice)));
    row_set(row, system_ticks, hold(&held[HOST_SYSTEM], ticks[HOST_SYSTEM]));
    row_set(row, idle_ticks, hold(&held[HOST_IDLE], ticks[HOST_IDLE]));
    if (cpu->n > HOST_IOWAIT)
        row_set(row, iowait_ticks, hold(&held[HOST_IOWAIT], ticks[HOST_IOWAIT]));
    if (cpu->n > HOST_IRQ)
        row_set(row, irq_ticks, hold(&held[HOST_IRQ], ticks[HOST_IRQ]));
    if (cpu->n > HOST_SOFTIRQ)
        row_set(row, softirq_ticks, hold(&held[HOST_SOFTIRQ], ticks[HOST_SOFTIRQ]));
    if (cpu->n > HOST_STEAL)
        row_set(row, steal_ticks, hold(&held[HOST_STEAL], ticks[HOST_STEAL]));
    if (cpu->n > HOST_GUEST)
        row_set(row, guest_ticks, hold(&held[HOST_GUEST], guest + guest_nice));
}

/* The entry of a CPU in one of the lists that rise as the rows do; *at goes along. */
static const struct host_softirq_cpu *softirq_of(const struct host *host, unsigned cpu, size_t *at)
{
    const struct host_softirqs *softirqs = &host->softirqs;
    while (*at < softirqs->n && softirqs->cpus[*at].cpu < cpu)
        ++*at;
    return *at < softirqs->n && softirqs->cpus[*at].cpu == cpu ? &softirqs->cpus[*at] : NULL;
}

static void fill_softirqs(struct cpus_row *row, const struct host_softirqs *softirqs,
                          const struct host_softirq_cpu *cpu, struct cpu_memory *memory)
{
    if (cpu && softirqs->has_net_rx)
        row_set(row, net_rx, widen(&memory->net_rx, cpu->net_rx));
    if (cpu && softirqs->has_net_tx)
        row_set(row, net_tx, widen(&memory->net_tx, cpu->net_tx));
}

/*
 * Where the lines do not name their CPU they are those online in rising order, as in /proc/stat; if a CPU
 * came or went between the two reads the lengths differ, and no line can be believed.
 */
static const struct host_softnet_line *softnet_of(const struct host *host, size_t i, size_t *at)
{
    const struct host_softnet *softnet = &host->softnet;
    if (!softnet->has_cpu)
        return softnet->n == host->stat.n ? &softnet->lines[i] : NULL;
    unsigned cpu = host->stat.cpus[i].cpu;
    while (*at < softnet->n && softnet->lines[*at].cpu < cpu)
        ++*at;
    return *at < softnet->n && softnet->lines[*at].cpu == cpu ? &softnet->lines[*at] : NULL;
}

static void fill_softnet(struct cpus_row *row, const struct host_softnet_line *line,
                         struct cpu_memory *memory)
{
    if (!line)
        return;
    row_set(row, softnet_processed, widen(&memory->processed, line->processed));
    row_set(row, softnet_dropped, widen(&memory->dropped, line->dropped));
    row_set(row, softnet_squeezed, widen(&memory->squeezed, line->squeezed));
}

static void fill_cpus(struct host *host, struct sample *sample)
{
    size_t softirq_at = 0, softnet_at = 0;
    sample_reserve(sample, TABLE_CPUS, host->stat.n);
    for (size_t i = 0; i < host->stat.n; i++) {
        const struct host_stat_cpu *cpu = &host->stat.cpus[i];
        struct cpu_memory *memory = memory_of(host, cpu->cpu);
        struct cpus_row *row = sample_row(sample, TABLE_CPUS, host->cpu_infos[i]);
        fill_times(row, cpu, memory);
        fill_softirqs(row, &host->softirqs, softirq_of(host, cpu->cpu, &softirq_at), memory);
        fill_softnet(row, softnet_of(host, i, &softnet_at), memory);
    }
}

static bool pressure(const struct host *host, enum host_file id, const char *line, uint64_t *total_us)
{
    const struct open_file *file = &host->file[id];
    return file->error == 0 && host_parse_psi(file->text, file->len, line, total_us);
}

static void fill_host(const struct host *host, struct sample *sample)
{
    struct host_row *row = sample_row(sample, TABLE_HOST, host->host_info);
    uint64_t us;
    if (pressure(host, FILE_PSI_CPU, "some", &us))
        row_set(row, psi_cpu_some_us, us);
    if (pressure(host, FILE_PSI_IRQ, "full", &us))
        row_set(row, psi_irq_full_us, us);
    if (pressure(host, FILE_PSI_MEMORY, "some", &us))
        row_set(row, psi_memory_some_us, us);
    if (pressure(host, FILE_PSI_IO, "some", &us))
        row_set(row, psi_io_some_us, us);
    if (host->stat.has_running)
        row_set(row, running, host->stat.running);
    if (host->stat.has_switches)
        row_set(row, switches, host->stat.switches);
}

/* ---- inventory ---- */

static bool same_cpus(const struct host *host)
{
    if (!host->inventory || host->n_cpu_infos != host->stat.n)
        return false;
    for (size_t i = 0; i < host->stat.n; i++)
        if (host->cpu_infos[i]->cpu != host->stat.cpus[i].cpu)
            return false;
    return true;
}

static const char *pressure_text(const struct host *host)
{
    bool any = false, all = true;
    for (int i = FILE_PSI_CPU; i < FILES_N; i++) {
        any |= host->file[i].error == 0;
        all &= host->file[i].error == 0 || i == FILE_PSI_IRQ;
    }
    if (!any)
        return "no PSI: not built in, or boot with psi=1";
    return all ? "PSI" : "PSI in part";
}

static void describe(const struct host *host, struct collect_call *call)
{
    snprintf(call->detail, sizeof(call->detail), "%zu CPU%s; %s%s%s", host->stat.n,
             host->stat.n == 1 ? "" : "s", pressure_text(host), host->softirqs.n ? "" : "; no /proc/softirqs",
             host->softnet.n ? "" : "; no /proc/net/softnet_stat");
}

static void make_inventory(struct host *host)
{
    inventory_unref(host->inventory);
    host->inventory = inventory_new();
    host->host_info = inventory_info(host->inventory, TABLE_HOST, "host");
    if (*host->host_name)
        info_set(host->host_info, host, inventory_text(host->inventory, host->host_name));
    host->n_cpu_infos = host->stat.n;
    host->cpu_infos = xrealloc(host->cpu_infos, host->stat.n, sizeof(struct cpus_info *));
    for (size_t i = 0; i < host->stat.n; i++) {
        unsigned cpu = host->stat.cpus[i].cpu;
        host->cpu_infos[i] = inventory_info(host->inventory, TABLE_CPUS, "cpu:%u", cpu);
        info_set(host->cpu_infos[i], cpu, cpu);
    }
}

/* ---- collector ---- */

static void host_close(void *state)
{
    struct host *host = state;
    if (!host)
        return;
    for (int i = 0; i < FILES_N; i++) {
        if (host->file[i].fd >= 0)
            close(host->file[i].fd);
        free(host->file[i].text);
    }
    host_stat_free(&host->stat);
    host_softirqs_free(&host->softirqs);
    host_softnet_free(&host->softnet);
    inventory_unref(host->inventory);
    free(host->cpu_infos);
    free(host->memory);
    free(host);
}

static enum collect_result fail_stat(struct collect_call *call, int error)
{
    enum collect_result result = error == EACCES || error == EPERM ? COLLECT_DENIED : COLLECT_FAILED;
    return collect_fail(&call->error, result, "%s: %s; mount proc on /proc", paths[FILE_STAT],
                        strerror(error));
}

static enum collect_result host_open(const struct collect_config *config, void **state,
                                     struct collect_call *call)
{
    struct host *host = xzalloc(sizeof(*host));
    for (int i = 0; i < FILES_N; i++)
        host->file[i].fd = -1;
    host->file[FILE_STAT].fd = open_under(config->root, paths[FILE_STAT]);
    if (host->file[FILE_STAT].fd < 0) {
        int error = errno;
        host_close(host);
        return fail_stat(call, error);
    }
    for (int i = FILE_STAT + 1; i < FILES_N; i++)
        host->file[i].fd = open_under(config->root, paths[i]);
    read_host_name(host, config->root);
    *state = host;
    return COLLECT_OK;
}

/* Parses what was read. Only /proc/stat must be there; of a file that is not, no entry is left. */
static bool parse_files(struct host *host)
{
    const struct open_file *stat = &host->file[FILE_STAT];
    const struct open_file *softirqs = &host->file[FILE_SOFTIRQS], *softnet = &host->file[FILE_SOFTNET];
    if (softirqs->error || !host_parse_softirqs(softirqs->text, softirqs->len, &host->softirqs))
        host->softirqs.n = 0;
    if (softnet->error || !host_parse_softnet(softnet->text, softnet->len, &host->softnet))
        host->softnet.n = 0;
    return host_parse_stat(stat->text, stat->len, &host->stat);
}

static enum collect_result host_collect(void *state, struct collect_call *call, struct sample **result)
{
    struct host *host = state;
    struct sample *sample = sample_new(NULL);
    sample_begin(sample);
    read_files(host);
    sample_end(sample);
    int error = host->file[FILE_STAT].error;
    if (error || !parse_files(host)) {
        sample_unref(sample);
        if (error)
            return fail_stat(call, error);
        return collect_fail(&call->error, COLLECT_FAILED, "%s: not in the form the kernel writes",
                            paths[FILE_STAT]);
    }
    host->tick++;
    if (!same_cpus(host)) {
        make_inventory(host);
        describe(host, call);
    }
    sample->inventory = inventory_ref(host->inventory);
    fill_cpus(host, sample);
    fill_host(host, sample);
    *result = sample;
    return COLLECT_OK;
}

const struct collector host_collector = {
    .source = "host",
    .feed = "host",
    .help = "time of each CPU, soft interrupts, the kernel's packet queues and pressure, from /proc",
    .open = host_open,
    .collect = host_collect,
    .close = host_close,
};
