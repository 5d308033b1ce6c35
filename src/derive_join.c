/* SPDX-License-Identifier: MIT */
/*
 * Joined columns (see derive_join.h). A sum that lacks one of its terms is no sum: it is `~` when some are
 * known, and has the reason of the first when none is. Worst is the worst of those known.
 */
#include "src/derive_join.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/derive.h"
#include "src/join.h"

static struct cell nothing(void)
{
    return (struct cell){.kind = CELL_NONE};
}

static struct cell text_cell(const char *text)
{
    return text ? (struct cell){.kind = CELL_STR, .str = text} : nothing();
}

static struct cell cell_of(const struct frame *frame, enum table_id table, const struct frame_row *row,
                           const char *key)
{
    return row ? frame_cell(frame, row, column_find(table_get(table), key)) : nothing();
}

struct cell derive_port_vm(const struct frame *frame, const struct frame_row *row,
                           const struct column *column)
{
    (void)column;
    const struct frame_row *path = join_path_of_port(frame, row);
    return text_cell(path ? JOIN_TEXT(path, struct paths_info, vm) : NULL);
}

struct cell derive_port_nic(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)column;
    const struct frame_row *path = join_path_of_port(frame, row);
    return text_cell(path ? JOIN_TEXT(path, struct paths_info, nic) : NULL);
}

static struct cell cpu_threads(const struct frame *frame, const struct frame_row *row, enum join_list list)
{
    const struct cpus_info *info = (const struct cpus_info *)row->part.cur->info;
    return text_cell(frame->join ? join_cpu_threads(frame, info->cpu, list) : NULL);
}

struct cell derive_cpu_ran(const struct frame *frame, const struct frame_row *row,
                           const struct column *column)
{
    (void)column;
    return cpu_threads(frame, row, JOIN_RAN);
}

struct cell derive_cpu_pinned(const struct frame *frame, const struct frame_row *row,
                              const struct column *column)
{
    (void)column;
    return cpu_threads(frame, row, JOIN_PINNED);
}

struct cell derive_cpu_may(const struct frame *frame, const struct frame_row *row,
                           const struct column *column)
{
    (void)column;
    return cpu_threads(frame, row, JOIN_MAY);
}

/* The kernel adds a wait when it ends and a nohz_full CPU's run time now and then: a share above 100 tells of
 * time before the interval, so it is capped and marked. */
struct cell derive_run_share(const struct frame *frame, const struct frame_row *row,
                             const struct column *column)
{
    struct cell cell = derive_ns_share(frame, row, column);
    if (cell.kind == CELL_F64 && cell.f64 > 100) {
        cell.approx = cell.f64 > 101;
        cell.f64 = 100;
    }
    return cell;
}

/* A sum or a maximum over several rows' cells. */
struct gather {
    struct cell result;
    unsigned known, unknown;
};

static void gather(struct gather *g, const struct cell *cell, bool worst)
{
    if (!cell_is_number(cell)) {
        if (g->known + g->unknown == 0)
            g->result.kind = cell->kind;
        g->unknown++;
        return;
    }
    double value = cell_number(cell);
    if (g->known++ == 0)
        g->result = (struct cell){.kind = CELL_F64, .f64 = value};
    else if (!worst)
        g->result.f64 += value;
    else if (value > g->result.f64)
        g->result.f64 = value;
    g->result.approx = g->result.approx || cell->approx;
}

static struct cell gathered(const struct gather *g)
{
    struct cell cell = g->result;
    if (g->known && g->unknown)
        cell.approx = true;
    return cell;
}

static bool has_role(const struct frame_row *thread, const char *const *roles)
{
    const char *role = JOIN_TEXT(thread, struct threads_info, role);
    for (; role && *roles; roles++)
        if (strcmp(role, *roles) == 0)
            return true;
    return false;
}

static const char *const vcpu_role[] = {"vcpu", NULL};
static const char *const emulator_roles[] = {"emulator", "iothread", "worker", "other", NULL};
static const char *const vhost_role[] = {"vhost", NULL};

static struct cell vm_threads(const struct frame *frame, const struct frame_row *vm, const char *const *roles,
                              const char *key, bool worst)
{
    struct gather g = {.result.kind = CELL_NONE};
    for (const struct frame_row *t = join_first_thread(frame, vm); t; t = join_next_thread(frame, t)) {
        if (!has_role(t, roles))
            continue;
        struct cell cell = cell_of(frame, TABLE_THREADS, t, key);
        gather(&g, &cell, worst);
    }
    return gathered(&g);
}

struct cell derive_vm_run(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    (void)column;
    return vm_threads(frame, row, vcpu_role, "run_pct", false);
}

struct cell derive_vm_steal(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)column;
    return vm_threads(frame, row, vcpu_role, "steal_pct", true);
}

struct cell derive_vm_emulator(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    (void)column;
    return vm_threads(frame, row, emulator_roles, "run_pct", false);
}

struct cell derive_vm_vhost(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)column;
    return vm_threads(frame, row, vhost_role, "run_pct", false);
}

struct cell derive_vm_worst(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)column;
    const struct frame_row *worst = frame->join ? join_worst_vcpu(frame, row) : NULL;
    return text_cell(worst ? join_vcpu_place(frame, worst) : NULL);
}

struct cell derive_vm_pinning(const struct frame *frame, const struct frame_row *row,
                              const struct column *column)
{
    (void)column;
    unsigned pinned = 0, floating = 0;
    for (const struct frame_row *t = join_first_thread(frame, row); t; t = join_next_thread(frame, t)) {
        const char *allowed = JOIN_TEXT(t, struct threads_info, allowed_cpus);
        if (!has_role(t, vcpu_role) || !allowed)
            continue;
        if (join_is_pinned(frame, allowed))
            pinned++;
        else
            floating++;
    }
    if (pinned + floating == 0)
        return nothing();
    return text_cell(floating == 0 ? "pinned" : pinned == 0 ? "floating" : "partly");
}

struct cell derive_pmd_thread(const struct frame *frame, const struct frame_row *row,
                              const struct column *column)
{
    const char *key = JOIN_TEXT(row, struct pmds_info, thread_key);
    const struct frame_row *thread = key ? frame_find(frame, TABLE_THREADS, key) : NULL;
    return cell_of(frame, TABLE_THREADS, thread, column->key);
}

struct cell derive_path_switch(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    (void)column;
    const struct frame_row *port = join_port_of_path(frame, row);
    return text_cell(port ? JOIN_TEXT(port, struct ports_info, switch_)
                          : JOIN_TEXT(row, struct paths_info, bridge));
}

/* A port's tx goes to the guest, but for those that count as the guest does. */
static struct cell path_cell(const struct frame *frame, const struct frame_row *path, bool to_guest,
                             const char *rx_key, const char *tx_key)
{
    const struct frame_row *port = join_port_of_path(frame, path);
    if (!port)
        return nothing();
    bool tx = to_guest == join_port_faces_guest(frame, port);
    return cell_of(frame, TABLE_PORTS, port, tx ? tx_key : rx_key);
}

#define PATH_COLUMN(name, to_guest, rx_key, tx_key)                                                          \
    struct cell derive_path_##name(const struct frame *frame, const struct frame_row *row,                   \
                                   const struct column *column)                                              \
    {                                                                                                        \
        (void)column;                                                                                        \
        return path_cell(frame, row, to_guest, rx_key, tx_key);                                              \
    }

PATH_COLUMN(to_pps, true, "rx_pps", "tx_pps")
PATH_COLUMN(to_bps, true, "rx_bps", "tx_bps")
PATH_COLUMN(to_drop, true, "rx_drop_pps", "tx_drop_pps")
PATH_COLUMN(to_loss, true, "rx_loss_pct", "tx_loss_pct")
PATH_COLUMN(from_pps, false, "rx_pps", "tx_pps")
PATH_COLUMN(from_bps, false, "rx_bps", "tx_bps")
PATH_COLUMN(from_drop, false, "rx_drop_pps", "tx_drop_pps")
PATH_COLUMN(from_loss, false, "rx_loss_pct", "tx_loss_pct")

struct cell derive_path_steal(const struct frame *frame, const struct frame_row *row,
                              const struct column *column)
{
    (void)column;
    return cell_of(frame, TABLE_VMS, join_vm_of_path(frame, row), "worst_steal_pct");
}

static const struct frame_row *worst_vcpu_of(const struct frame *frame, const struct frame_row *path)
{
    return join_worst_vcpu(frame, join_vm_of_path(frame, path));
}

struct cell derive_path_vcpu(const struct frame *frame, const struct frame_row *row,
                             const struct column *column)
{
    (void)column;
    const struct frame_row *vcpu = worst_vcpu_of(frame, row);
    return text_cell(vcpu ? join_vcpu_place(frame, vcpu) : NULL);
}

struct cell derive_path_vcpu_run(const struct frame *frame, const struct frame_row *row,
                                 const struct column *column)
{
    (void)column;
    return cell_of(frame, TABLE_THREADS, worst_vcpu_of(frame, row), "run_pct");
}

struct cell derive_path_pinning(const struct frame *frame, const struct frame_row *row,
                                const struct column *column)
{
    (void)column;
    return cell_of(frame, TABLE_VMS, join_vm_of_path(frame, row), "pinning");
}

struct cell derive_path_serving(const struct frame *frame, const struct frame_row *row,
                                const struct column *column)
{
    (void)column;
    struct serving serving = join_serving(frame, row);
    char text[64];
    struct cell core = cell_of(frame, TABLE_PMDS, serving.pmd, "core");
    if (core.kind == CELL_U64)
        snprintf(text, sizeof(text), "pmd %llu", (unsigned long long)core.u64);
    else if (serving.pmd)
        snprintf(text, sizeof(text), "ovs main");
    else if (serving.thread)
        snprintf(text, sizeof(text), "%s", has_role(serving.thread, vhost_role) ? "vhost" : "qemu");
    else
        return nothing();
    return text_cell(join_keep(frame, text));
}

struct cell derive_path_serving_busy(const struct frame *frame, const struct frame_row *row,
                                     const struct column *column)
{
    (void)column;
    struct serving serving = join_serving(frame, row);
    return serving.pmd ? cell_of(frame, TABLE_PMDS, serving.pmd, "busy_pct")
                       : cell_of(frame, TABLE_THREADS, serving.thread, "run_pct");
}

struct cell derive_path_serving_steal(const struct frame *frame, const struct frame_row *row,
                                      const struct column *column)
{
    (void)column;
    return cell_of(frame, TABLE_THREADS, join_serving(frame, row).thread, "steal_pct");
}

PATH_COLUMN(to_size, true, "rx_packet_bytes", "tx_packet_bytes")
PATH_COLUMN(from_size, false, "rx_packet_bytes", "tx_packet_bytes")

/* Causes that a port's loss to the guest is counted under; the last is what the others leave. */
static const struct {
    const char *key, *word;
} to_causes[] = {
    {"tx_failure_drop_pps", "guest does not drain"},
    {"tx_mtu_drop_pps", "larger than MTU"},
    {"tx_qos_drop_pps", "policer"},
    {"qdisc_drop_pps", "qdisc"},
};

struct cell derive_path_to_cause(const struct frame *frame, const struct frame_row *row,
                                 const struct column *column)
{
    (void)column;
    const struct frame_row *port = join_port_of_path(frame, row);
    double all = join_number(frame, TABLE_PORTS, port, "tx_drop_pps"), most = 0, told = 0;
    const char *word = NULL, *kind = port ? JOIN_TEXT(port, struct ports_info, kind) : NULL;
    if (!(all > 0) || !join_port_faces_guest(frame, port))
        return nothing();
    for (size_t i = 0; i < sizeof(to_causes) / sizeof(to_causes[0]); i++) {
        double value = join_number(frame, TABLE_PORTS, port, to_causes[i].key);
        if (!(value > 0))
            continue;
        told += value;
        if (value > most) {
            most = value;
            word = to_causes[i].word;
        }
    }
    if (all - told > most && kind && strcmp(kind, "tap") == 0)
        word = "ring full";
    return text_cell(word);
}

static double numa_of_cpu(const struct frame *frame, double cpu)
{
    char key[32];
    if (isnan(cpu))
        return NAN;
    snprintf(key, sizeof(key), "cpu:%.0f", cpu);
    return join_number(frame, TABLE_CPUS, frame_find(frame, TABLE_CPUS, key), "numa");
}

/* One node for all that is known: the worst vCPU, the serving thread, the port. */
struct cell derive_path_numa(const struct frame *frame, const struct frame_row *row,
                             const struct column *column)
{
    (void)column;
    double vcpu = numa_of_cpu(frame, join_number(frame, TABLE_THREADS, worst_vcpu_of(frame, row), "cpu"));
    double thread =
        numa_of_cpu(frame, join_number(frame, TABLE_THREADS, join_serving(frame, row).thread, "cpu"));
    double port = join_number(frame, TABLE_PORTS, join_port_of_path(frame, row), "numa");
    if (isnan(vcpu) || (isnan(thread) && isnan(port)))
        return nothing();
    bool crosses = (!isnan(thread) && thread != vcpu) || (!isnan(port) && port != vcpu);
    return text_cell(crosses ? "no" : "yes");
}

static struct cell vm_paths(const struct frame *frame, const struct frame_row *vm, const char *key)
{
    struct gather g = {.result.kind = CELL_NONE};
    for (const struct frame_row *p = join_first_path(frame, vm); p; p = join_next_path(frame, p)) {
        struct cell cell = cell_of(frame, TABLE_PATHS, p, key);
        gather(&g, &cell, false);
    }
    return gathered(&g);
}

#define VM_COLUMN(name, key)                                                                                 \
    struct cell derive_vm_##name(const struct frame *frame, const struct frame_row *row,                     \
                                 const struct column *column)                                                \
    {                                                                                                        \
        (void)column;                                                                                        \
        return vm_paths(frame, row, key);                                                                    \
    }

VM_COLUMN(to_pps, "to_guest_pps")
VM_COLUMN(to_drop, "to_guest_drop_pps")
VM_COLUMN(from_pps, "from_guest_pps")
VM_COLUMN(from_drop, "from_guest_drop_pps")
