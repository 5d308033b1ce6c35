/* SPDX-License-Identifier: MIT */
/*
 * Joined columns (see derive_join.h). A sum that lacks one of its terms is no sum: it is `~` when some are
 * known, and has the reason of the first when none is. Worst is the worst of those known.
 */
#include "src/derive_join.h"

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

static struct cell cell_of(const struct frame *frame, const struct frame_row *row,
                           const struct column *column)
{
    return row ? frame_cell(frame, row, column) : nothing();
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

static unsigned bit(enum thread_kind kind)
{
    return 1u << kind;
}

/* Over the VM's threads whose kind is among the bits. */
static struct cell vm_threads(const struct frame *frame, const struct frame_row *vm, unsigned kinds,
                              const struct column *column, bool worst)
{
    struct gather g = {.result.kind = CELL_NONE};
    for (const struct frame_row *t = join_first_thread(frame, vm); t; t = join_next_thread(frame, t)) {
        if (!(kinds & bit(join_thread_of(frame, t)->kind)))
            continue;
        struct cell cell = cell_of(frame, t, column);
        gather(&g, &cell, worst);
    }
    return gathered(&g);
}

struct cell derive_vm_run(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    (void)column;
    return vm_threads(frame, row, bit(THREAD_VCPU), COLUMN_OF(threads, run_pct), false);
}

struct cell derive_vm_steal(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)column;
    return vm_threads(frame, row, bit(THREAD_VCPU), COLUMN_OF(threads, steal_pct), true);
}

struct cell derive_vm_emulator(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    (void)column;
    unsigned kinds = bit(THREAD_EMULATOR) | bit(THREAD_IOTHREAD) | bit(THREAD_WORKER) | bit(THREAD_OTHER);
    return vm_threads(frame, row, kinds, COLUMN_OF(threads, run_pct), false);
}

struct cell derive_vm_vhost(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)column;
    return vm_threads(frame, row, bit(THREAD_VHOST), COLUMN_OF(threads, run_pct), false);
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
        const struct join_thread *thread = join_thread_of(frame, t);
        if (thread->kind != THREAD_VCPU || !thread->allowed)
            continue;
        if (join_is_pinned(frame, thread->allowed))
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
    return cell_of(frame, thread, column_find(table_get(TABLE_THREADS), column->key));
}

struct cell derive_path_switch(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    (void)column;
    const struct frame_row *port = join_port_of_path(frame, row);
    const char *name = port ? join_switch_of_port(port) : NULL;
    return text_cell(name ? name : JOIN_TEXT(row, struct paths_info, bridge));
}

struct cell derive_path_uplinks(const struct frame *frame, const struct frame_row *row,
                                const struct column *column)
{
    (void)column;
    const struct frame_row *port = join_port_of_path(frame, row);
    return text_cell(port ? join_uplink_names(frame, port) : NULL);
}

/* A port's tx goes to the guest, but for those that count as the guest does. */
static struct cell path_cell(const struct frame *frame, const struct frame_row *path, bool to_guest,
                             const struct column *rx, const struct column *tx)
{
    const struct frame_row *port = join_port_of_path(frame, path);
    if (!port)
        return nothing();
    return cell_of(frame, port, to_guest == join_port_faces_guest(frame, port) ? tx : rx);
}

#define PATH_COLUMN(name, to_guest, rx_key, tx_key)                                                          \
    struct cell derive_path_##name(const struct frame *frame, const struct frame_row *row,                   \
                                   const struct column *column)                                              \
    {                                                                                                        \
        (void)column;                                                                                        \
        return path_cell(frame, row, to_guest, COLUMN_OF(ports, rx_key), COLUMN_OF(ports, tx_key));          \
    }

PATH_COLUMN(to_pps, true, rx_pps, tx_pps)
PATH_COLUMN(to_bps, true, rx_bps, tx_bps)
PATH_COLUMN(to_drop, true, rx_drop_pps, tx_drop_pps)
PATH_COLUMN(to_loss, true, rx_loss_pct, tx_loss_pct)
PATH_COLUMN(to_size, true, rx_packet_bytes, tx_packet_bytes)
PATH_COLUMN(from_pps, false, rx_pps, tx_pps)
PATH_COLUMN(from_bps, false, rx_bps, tx_bps)
PATH_COLUMN(from_drop, false, rx_drop_pps, tx_drop_pps)
PATH_COLUMN(from_loss, false, rx_loss_pct, tx_loss_pct)
PATH_COLUMN(from_size, false, rx_packet_bytes, tx_packet_bytes)

struct cell derive_path_steal(const struct frame *frame, const struct frame_row *row,
                              const struct column *column)
{
    (void)column;
    return cell_of(frame, join_vm_of_path(frame, row), COLUMN_OF(vms, worst_steal_pct));
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
    return cell_of(frame, worst_vcpu_of(frame, row), COLUMN_OF(threads, run_pct));
}

struct cell derive_path_pinning(const struct frame *frame, const struct frame_row *row,
                                const struct column *column)
{
    (void)column;
    return cell_of(frame, join_vm_of_path(frame, row), COLUMN_OF(vms, pinning));
}

struct cell derive_path_serving(const struct frame *frame, const struct frame_row *row,
                                const struct column *column)
{
    (void)column;
    struct serving serving = join_serving(frame, row);
    char text[64];
    struct cell core = cell_of(frame, serving.pmd, COLUMN_OF(pmds, core));
    const struct join_thread *thread = join_thread_of(frame, serving.thread);
    if (core.kind == CELL_U64)
        snprintf(text, sizeof(text), "pmd %llu", (unsigned long long)core.u64);
    else if (serving.pmd)
        snprintf(text, sizeof(text), "ovs main");
    else if (thread)
        snprintf(text, sizeof(text), "%s", thread->kind == THREAD_VHOST ? "vhost" : "qemu");
    else
        return nothing();
    struct cell cell = text_cell(join_keep(frame, text));
    cell.approx = serving.guessed;
    return cell;
}

struct cell derive_path_serving_busy(const struct frame *frame, const struct frame_row *row,
                                     const struct column *column)
{
    (void)column;
    struct serving serving = join_serving(frame, row);
    struct cell cell = serving.pmd ? cell_of(frame, serving.pmd, COLUMN_OF(pmds, busy_pct))
                                   : cell_of(frame, serving.thread, COLUMN_OF(threads, run_pct));
    cell.approx = cell.approx || (serving.guessed && cell_is_number(&cell));
    return cell;
}

struct cell derive_path_serving_steal(const struct frame *frame, const struct frame_row *row,
                                      const struct column *column)
{
    (void)column;
    struct serving serving = join_serving(frame, row);
    struct cell cell = cell_of(frame, serving.thread, COLUMN_OF(threads, steal_pct));
    cell.approx = cell.approx || (serving.guessed && cell_is_number(&cell));
    return cell;
}

/* The word of what the most of a loss is counted under; rest: of what no counter of its own tells. */
struct causes {
    double all, told, most;
    const char *word;
};

static void add_cause(struct causes *causes, double value, const char *word)
{
    if (!(value > 0))
        return;
    causes->told += value;
    if (value > causes->most) {
        causes->most = value;
        causes->word = word;
    }
}

static const char *dominant(const struct causes *causes, const char *rest)
{
    if (!(causes->all > 0))
        return NULL;
    return causes->all - causes->told > causes->most ? rest : causes->word;
}

#define PORT_NUMBER(frame, port, key) join_number(frame, port, COLUMN_OF(ports, key))

static bool is_one_of(const char *kind, const char *const *kinds)
{
    for (; kind && *kinds; kinds++)
        if (strcmp(kind, *kinds) == 0)
            return true;
    return false;
}

static const char *tx_cause(const struct frame *frame, const struct frame_row *port)
{
    static const char *const rings[] = {"tap", "tun", NULL}, *const peers[] = {"veth", NULL};
    const char *kind = JOIN_TEXT(port, struct ports_info, kind);
    struct causes causes = {.all = PORT_NUMBER(frame, port, tx_drop_pps)};
    add_cause(&causes, PORT_NUMBER(frame, port, tx_failure_drop_pps), "guest does not drain");
    add_cause(&causes, PORT_NUMBER(frame, port, tx_mtu_drop_pps), "larger than MTU");
    add_cause(&causes, PORT_NUMBER(frame, port, tx_qos_drop_pps), "policer");
    add_cause(&causes, PORT_NUMBER(frame, port, qdisc_drop_pps), "qdisc");
    return dominant(&causes, is_one_of(kind, rings)   ? "ring full"
                             : is_one_of(kind, peers) ? "peer full"
                                                      : NULL);
}

static const char *rx_cause(const struct frame *frame, const struct frame_row *port)
{
    static const char *const rings[] = {"macvtap", "ipvtap", "vf", NULL};
    const char *admin = JOIN_TEXT(port, struct ports_info, admin);
    bool down = admin && strcmp(admin, "down") == 0;
    struct causes causes = {.all = PORT_NUMBER(frame, port, rx_drop_pps)};
    add_cause(&causes, PORT_NUMBER(frame, port, rx_missed_pps), "ring full");
    add_cause(&causes, PORT_NUMBER(frame, port, rx_qos_drop_pps), "policer");
    add_cause(&causes, PORT_NUMBER(frame, port, rx_nombuf_pps), "mempool empty");
    const char *rest = down                                                         ? "port down"
                       : is_one_of(JOIN_TEXT(port, struct ports_info, kind), rings) ? "ring full"
                                                                                    : NULL;
    return dominant(&causes, rest);
}

const char *derive_cause(const struct frame *frame, const struct frame_row *port, bool tx)
{
    return tx ? tx_cause(frame, port) : rx_cause(frame, port);
}

struct cell derive_path_to_cause(const struct frame *frame, const struct frame_row *row,
                                 const struct column *column)
{
    (void)column;
    const struct frame_row *port = join_port_of_path(frame, row);
    return text_cell(port ? derive_cause(frame, port, join_port_faces_guest(frame, port)) : NULL);
}

struct cell derive_thread_numa(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    (void)column;
    const struct part *part = frame_row_part(row, ROW_SLOT(struct threads_row, cpu));
    char key[32];
    if (!part || !frame->join)
        return nothing();
    snprintf(key, sizeof(key), "cpu:%llu", (unsigned long long)((const struct threads_row *)part->cur)->cpu);
    const struct frame_row *cpu = frame_find(frame, TABLE_CPUS, key);
    for (const struct part *p = cpu ? &cpu->part : NULL; p; p = p->next) {
        const struct cpus_info *info = (const struct cpus_info *)p->cur->info;
        if (info_has(info, numa))
            return (struct cell){.kind = CELL_U64, .u64 = info->numa};
    }
    return nothing();
}

/* One node for all that is known of: vCPUs and their memory, the serving thread, the port. */
struct cell derive_path_numa(const struct frame *frame, const struct frame_row *row,
                             const struct column *column)
{
    (void)column;
    struct join_nodes nodes = join_nodes(frame, row);
    uint64_t all = nodes.vcpus | nodes.memory | nodes.thread | nodes.port;
    if (!nodes.vcpus || !(nodes.thread | nodes.port | nodes.memory))
        return nothing();
    return text_cell(all & (all - 1) ? "no" : "yes");
}

static struct cell vm_paths(const struct frame *frame, const struct frame_row *vm,
                            const struct column *column)
{
    struct gather g = {.result.kind = CELL_NONE};
    for (const struct frame_row *p = join_first_path(frame, vm); p; p = join_next_path(frame, p)) {
        struct cell cell = cell_of(frame, p, column);
        gather(&g, &cell, false);
    }
    return gathered(&g);
}

#define VM_COLUMN(name, key)                                                                                 \
    struct cell derive_vm_##name(const struct frame *frame, const struct frame_row *row,                     \
                                 const struct column *column)                                                \
    {                                                                                                        \
        (void)column;                                                                                        \
        return vm_paths(frame, row, COLUMN_OF(paths, key));                                                  \
    }

VM_COLUMN(to_pps, to_guest_pps)
VM_COLUMN(to_drop, to_guest_drop_pps)
VM_COLUMN(from_pps, from_guest_pps)
VM_COLUMN(from_drop, from_guest_drop_pps)
