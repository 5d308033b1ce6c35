/* SPDX-License-Identifier: MIT */
/*
 * Derived columns (see derive.h): every rate is a 64-bit difference over the measured time between two reads,
 * and every share has all its terms from one part, so numbers of different moments never meet in one
 * fraction.
 */
#include "src/derive.h"

#include <string.h>

static uint64_t field_u64(const struct row_head *row, unsigned offset)
{
    uint64_t value;
    memcpy(&value, (const char *)row + offset, sizeof(value));
    return value;
}

static enum cell_kind why_absent(const struct frame_row *row, unsigned slot)
{
    for (const struct part *part = &row->part; part; part = part->next)
        if (slot_test(&part->cur->denied, slot))
            return CELL_DENIED;
    return CELL_NONE;
}

struct delta row_delta(const struct frame_row *row, unsigned offset, unsigned slot)
{
    const struct part *part = frame_row_part(row, slot);
    if (!part)
        return (struct delta){.kind = why_absent(row, slot)};
    struct delta delta = {.part = part, .seconds = part_interval_s(part)};
    if (!part->prev || !slot_test(&part->prev->have, slot) || delta.seconds <= 0) {
        delta.kind = CELL_NEW;
        return delta;
    }
    uint64_t now = field_u64(part->cur, offset), before = field_u64(part->prev, offset);
    delta.kind = part->reset || now < before ? CELL_RESET : CELL_U64;
    delta.value = now - before;
    return delta;
}

static struct cell why_not(enum cell_kind kind)
{
    return (struct cell){.kind = kind};
}

static struct cell number(double value)
{
    return (struct cell){.kind = CELL_F64, .f64 = value};
}

struct cell derive_rate(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    (void)frame;
    struct delta delta = row_delta(row, column->offset, column->slot);
    if (delta.kind != CELL_U64)
        return why_not(delta.kind);
    return number((double)delta.value * (column->scale ? column->scale : 1) / delta.seconds);
}

static struct cell time_share(const struct frame_row *row, const struct column *column, double units_per_s)
{
    struct delta delta = row_delta(row, column->offset, column->slot);
    if (delta.kind != CELL_U64)
        return why_not(delta.kind);
    return number(100.0 * (double)delta.value / units_per_s / delta.seconds);
}

struct cell derive_us_share(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)frame;
    return time_share(row, column, 1e6);
}

struct cell derive_ns_share(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)frame;
    return time_share(row, column, 1e9);
}

/* The kinds of loss that the kernel counts apart from each other, so that they may be added. */
struct port_loss {
    struct delta dropped, extra;
};

static bool is_rx(const struct column *column)
{
    return column->offset == offsetof(struct ports_row, rx_dropped);
}

static bool is_kernel_port(const struct frame_row *row)
{
    return strncmp(row->key, "net:", 4) == 0;
}

static struct port_loss port_loss(const struct frame_row *row, const struct column *column)
{
    struct port_loss loss = {.dropped = row_delta(row, column->offset, column->slot),
                             .extra.kind = CELL_NONE};
    if (!is_kernel_port(row)) /* OVS and DPDK count what they missed among what they dropped */
        return loss;
    loss.extra = is_rx(column) ? ROW_DELTA(row, struct ports_row, rx_missed)
                               : ROW_DELTA(row, struct ports_row, qdisc_drops);
    return loss;
}

static double per_second(const struct delta *delta)
{
    return delta->kind == CELL_U64 ? (double)delta->value / delta->seconds : 0;
}

/* Without one of its terms a sum is a part of the truth, and says so: a full queue must not read as no loss.
 */
static struct cell sum_of(double value, const struct delta *extra)
{
    struct cell cell = number(value);
    cell.approx = extra->kind == CELL_NEW || extra->kind == CELL_RESET || extra->kind == CELL_DENIED;
    return cell;
}

struct cell derive_drop_rate(const struct frame *frame, const struct frame_row *row,
                             const struct column *column)
{
    (void)frame;
    struct port_loss loss = port_loss(row, column);
    if (loss.dropped.kind != CELL_U64)
        return why_not(loss.dropped.kind);
    return sum_of(per_second(&loss.dropped) + per_second(&loss.extra), &loss.extra);
}

/*
 * Does the port count a packet that it drops among its packets as well? The stack's own drops (no handler,
 * backlog of a virtual port) come after the packet was counted; a tap that is written to while it is down,
 * and a NIC that misses, never counted it. Nor do the ports of OVS and DPDK.
 */
static bool drop_was_counted(const struct frame_row *row, const struct column *column)
{
    if (!is_rx(column) || !is_kernel_port(row))
        return false;
    for (const struct part *part = &row->part; part; part = part->next) {
        const struct ports_info *info = (const struct ports_info *)part->cur->info;
        if (info_has(info, kind))
            return strcmp(info->kind, "tap") != 0 && strcmp(info->kind, "tun") != 0;
    }
    return false;
}

struct cell derive_loss(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    (void)frame;
    struct port_loss loss = port_loss(row, column);
    struct delta packets = is_rx(column) ? ROW_DELTA(row, struct ports_row, rx_packets)
                                         : ROW_DELTA(row, struct ports_row, tx_packets);
    if (loss.dropped.kind != CELL_U64)
        return why_not(loss.dropped.kind);
    if (packets.kind != CELL_U64)
        return why_not(packets.kind);
    double dropped = per_second(&loss.dropped), offered = per_second(&packets);
    if (!drop_was_counted(row, column) || dropped > offered)
        offered += dropped;
    dropped += per_second(&loss.extra);
    offered += per_second(&loss.extra);
    return sum_of(offered > 0 ? 100.0 * dropped / offered : 0, &loss.extra);
}

#define LOST_WEIGHT 100 /* a lost packet tells more than one that passed */

struct cell derive_activity(const struct frame *frame, const struct frame_row *row,
                            const struct column *column)
{
    (void)frame;
    (void)column;
    struct delta rx = ROW_DELTA(row, struct ports_row, rx_packets),
                 tx = ROW_DELTA(row, struct ports_row, tx_packets);
    struct delta rx_lost = ROW_DELTA(row, struct ports_row, rx_dropped),
                 tx_lost = ROW_DELTA(row, struct ports_row, tx_dropped);
    if (rx.kind != CELL_U64)
        return why_not(rx.kind);
    return number(per_second(&rx) + per_second(&tx) +
                  LOST_WEIGHT * (per_second(&rx_lost) + per_second(&tx_lost)));
}

struct cell derive_packet_size(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    (void)frame;
    bool rx = column->offset == offsetof(struct ports_row, rx_bytes);
    struct delta bytes = row_delta(row, column->offset, column->slot);
    struct delta packets =
        rx ? ROW_DELTA(row, struct ports_row, rx_packets) : ROW_DELTA(row, struct ports_row, tx_packets);
    if (bytes.kind != CELL_U64 || packets.kind != CELL_U64)
        return why_not(bytes.kind != CELL_U64 ? bytes.kind : packets.kind);
    if (packets.value == 0)
        return why_not(CELL_NONE);
    return number((double)bytes.value / (double)packets.value);
}

struct cell derive_utilisation(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    struct cell bytes = derive_rate(frame, row, column);
    for (const struct part *part = &row->part; part; part = part->next) {
        const struct ports_info *info = (const struct ports_info *)part->cur->info;
        if (bytes.kind == CELL_F64 && info_has(info, speed_mbps) && info->speed_mbps > 0)
            return number(bytes.f64 * 8 / 1e4 / (double)info->speed_mbps);
    }
    return why_not(bytes.kind == CELL_F64 ? CELL_NONE : bytes.kind);
}

/* The tick counters that make up a CPU's whole time: guest time is taken out of user and nice by the
 * collector. */
static const size_t cpu_time_offsets[] = {
    offsetof(struct cpus_row, user_ticks),    offsetof(struct cpus_row, nice_ticks),
    offsetof(struct cpus_row, system_ticks),  offsetof(struct cpus_row, idle_ticks),
    offsetof(struct cpus_row, iowait_ticks),  offsetof(struct cpus_row, irq_ticks),
    offsetof(struct cpus_row, softirq_ticks), offsetof(struct cpus_row, steal_ticks),
    offsetof(struct cpus_row, guest_ticks),
};

/* The kernel's idle and iowait may step back by a tick when a CPU goes offline or a task moves: that is no
 * time. */
static uint64_t ticks_passed(const struct frame_row *row, size_t offset)
{
    struct delta delta = row_delta(row, offset, (offset - sizeof(struct row_head)) / 8);
    return delta.kind == CELL_U64 ? delta.value : 0;
}

static uint64_t all_ticks(const struct frame_row *row)
{
    uint64_t total = 0;
    for (size_t i = 0; i < sizeof(cpu_time_offsets) / sizeof(cpu_time_offsets[0]); i++)
        total += ticks_passed(row, cpu_time_offsets[i]);
    return total;
}

struct cell derive_tick_share(const struct frame *frame, const struct frame_row *row,
                              const struct column *column)
{
    (void)frame;
    struct delta delta = row_delta(row, column->offset, column->slot);
    if (delta.kind != CELL_U64)
        return why_not(delta.kind);
    uint64_t total = all_ticks(row);
    return total ? number(100.0 * (double)delta.value / (double)total) : why_not(CELL_NONE);
}

struct cell derive_busy(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    struct cell idle = derive_tick_share(frame, row, column);
    if (idle.kind != CELL_F64)
        return idle;
    uint64_t total = all_ticks(row);
    uint64_t away =
        ticks_passed(row, column->offset) + ticks_passed(row, offsetof(struct cpus_row, iowait_ticks));
    return number(100.0 * (double)(total - away) / (double)total); /* of whole ticks: never -0.0000001 */
}

/* a / (a + b), or a / b, of one part; why not when either is missing. */
static struct cell ratio(const struct delta *above, const struct delta *below, double scale)
{
    if (above->kind != CELL_U64 || below->kind != CELL_U64)
        return why_not(above->kind != CELL_U64 ? above->kind : below->kind);
    if (below->value == 0)
        return why_not(CELL_NONE);
    return number(scale * (double)above->value / (double)below->value);
}

static struct delta all_cycles(const struct frame_row *row)
{
    struct delta idle = ROW_DELTA(row, struct pmds_row, idle_cycles),
                 busy = ROW_DELTA(row, struct pmds_row, busy_cycles);
    if (idle.kind != CELL_U64)
        return idle;
    busy.value += idle.value;
    return busy;
}

struct cell derive_cycle_share(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    (void)frame;
    struct delta part = row_delta(row, column->offset, column->slot), all = all_cycles(row);
    return ratio(&part, &all, 100);
}

struct cell derive_cycles_per_packet(const struct frame *frame, const struct frame_row *row,
                                     const struct column *column)
{
    (void)frame;
    struct delta cycles = row_delta(row, column->offset, column->slot);
    struct delta packets = ROW_DELTA(row, struct pmds_row, rx_packets);
    return ratio(&cycles, &packets, 1);
}

struct cell derive_all_cycles_per_packet(const struct frame *frame, const struct frame_row *row,
                                         const struct column *column)
{
    (void)frame;
    (void)column;
    struct delta cycles = all_cycles(row), packets = ROW_DELTA(row, struct pmds_row, rx_packets);
    return ratio(&cycles, &packets, 1);
}

struct cell derive_per_batch(const struct frame *frame, const struct frame_row *row,
                             const struct column *column)
{
    (void)frame;
    struct delta packets = row_delta(row, column->offset, column->slot);
    struct delta batches = ROW_DELTA(row, struct pmds_row, tx_batches);
    return ratio(&packets, &batches, 1);
}

struct cell derive_pass_share(const struct frame *frame, const struct frame_row *row,
                              const struct column *column)
{
    (void)frame;
    struct delta hits = row_delta(row, column->offset, column->slot);
    struct delta passes = ROW_DELTA(row, struct pmds_row, passes);
    return ratio(&hits, &passes, 100);
}
