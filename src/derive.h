/* SPDX-License-Identifier: MIT */
/*
 * The functions behind derived columns, named in tables.h. Each is pure: (frame, row, column) to a cell.
 * Adding one means a line here and its function in derive.c. Also the exact difference they are all built on.
 */
#ifndef VNETTOP_DERIVE_H
#define VNETTOP_DERIVE_H

#include "src/frame.h"

derive_fn derive_rate;                  /* difference of the counter per measured second, times scale */
derive_fn derive_drop_rate;             /* ports: all that was lost in that direction per second */
derive_fn derive_loss;                  /* ports: lost / (lost + delivered) in that direction */
derive_fn derive_activity;    /* ports: packets both ways, losses weighted */
derive_fn derive_packet_size;           /* ports: bytes / packets of the interval */
derive_fn derive_utilisation;           /* ports: bit/s of the link's speed */
derive_fn derive_busy;                  /* cpus: 100 - idle - iowait */
derive_fn derive_tick_share;            /* cpus: ticks of all ticks of the interval */
derive_fn derive_us_share;              /* microseconds of the interval, percent */
derive_fn derive_cycle_share;           /* pmds: of idle and busy cycles */
derive_fn derive_cycles_per_packet;     /* pmds: busy cycles / packets received */
derive_fn derive_all_cycles_per_packet; /* pmds: idle and busy cycles / packets received */
derive_fn derive_per_batch;             /* pmds: packets sent / batches */
derive_fn derive_pass_share;            /* pmds: of the passes through the datapath */
derive_fn derive_ns_share;              /* nanoseconds of the interval, percent */

/* What a counter did between the two reads of the part that has it. */
struct delta {
    enum cell_kind kind; /* CELL_U64: value holds; else why there is none */
    uint64_t value;
    double seconds;
    const struct part *part;
};

/* The difference of the row counter at offset/slot. */
struct delta row_delta(const struct frame_row *row, unsigned offset, unsigned slot);

/* By field: ROW_DELTA(row, struct ports_row, rx_packets). */
#define ROW_DELTA(row, type, field) row_delta(row, offsetof(type, field), ROW_SLOT(type, field))

#endif
