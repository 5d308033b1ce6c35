/* SPDX-License-Identifier: MIT */
/*
 * A frame is what is shown: a pure function of pairs of samples, the newest and the one before it of every
 * feed. Screen, CSV, report and findings read frames and nothing else. Rows of several feeds with one key are
 * one frame row with several parts, so a port's fast counters, its queueing disciplines and its OVS
 * statistics stand in one row, each part with its own two moments: a rate is always over the interval of the
 * numbers it is made of. Cells are computed when somebody asks for them: what nobody shows is not paid for.
 */
#ifndef VNETTOP_FRAME_H
#define VNETTOP_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/columns.h"
#include "src/sample.h"

/* A row has at most this many parts: no more feeds tell of one table. */
#define MAX_PARTS 8

/* One feed's two samples; prev NULL when there is only one. feed names it (static or longer-lived text). */
struct pair {
    const char *feed;
    const struct sample *cur, *prev;
    int64_t stale_ns;   /* older than this at the frame's time is stale */
    unsigned annotates; /* a bit for each table where it adds to rows of others, and makes none */
};

struct part {
    const struct pair *pair;
    const struct row_head *cur, *prev; /* prev NULL: no such row before */
    bool reset;                        /* a counter of the row went back: no rate of this part holds */
    struct part *next;
};

struct frame_row {
    const char *key;
    uint64_t hash;
    struct part part; /* the first; more by next */
};

struct frame_table {
    size_t n;
    struct frame_row *rows;
    uint32_t *index; /* open hash of row numbers + 1 */
    size_t index_mask;
};

struct join;

struct frame {
    int64_t now_ns;   /* CLOCK_MONOTONIC of the frame */
    int64_t wall_ns;  /* CLOCK_REALTIME of the frame */
    int64_t start_ns; /* CLOCK_MONOTONIC where elapsed time starts */
    size_t n_pairs;
    struct pair *pairs;
    struct frame_table table[TABLES_N];
    struct join **join; /* join.h: made when first asked for; NULL where there are no tables to join */
};

/* Builds a frame of n pairs, holding references to their samples. Rows keep the order of pairs, then of
 * samples. */
struct frame *frame_new(const struct pair *pairs, size_t n, int64_t now_ns, int64_t wall_ns,
                        int64_t start_ns);
void frame_free(struct frame *frame);

/* Adds one more pair to a frame, once: what was concluded from the frame itself (findings). Its tables were
 * empty. */
void frame_append(struct frame *frame, const struct pair *pair);

/* The row with that key, NULL when there is none. */
const struct frame_row *frame_find(const struct frame *frame, enum table_id table, const char *key);

enum cell_kind {
    CELL_NONE,   /* `-`   the source has no such number */
    CELL_DENIED, /* `?`   not permitted */
    CELL_NEW,    /* `new` first sample, no rate yet */
    CELL_RESET,  /* `rst` the counter went back */
    CELL_STR,
    CELL_U64,
    CELL_F64,
};

struct cell {
    enum cell_kind kind;
    bool approx; /* `~` partial or inferred */
    bool stale;  /* older than it should be: dimmed */
    union {
        const char *str; /* lives as long as the frame */
        uint64_t u64;
        double f64;
    };
};

/*
 * A row without a frame, for series over many moments: of n parts whose pair, cur and prev the caller has
 * found. telling is frame_telling of the table, asked for once. The row points into parts.
 */
struct slot_bits frame_telling(enum table_id table);
void frame_row_alone(struct part *parts, size_t n, const struct slot_bits *telling, struct frame_row *row);

/* The cell of a column in a row; column belongs to the row's table. */
struct cell frame_cell(const struct frame *frame, const struct frame_row *row, const struct column *column);

static inline bool cell_is_number(const struct cell *cell)
{
    return cell->kind == CELL_U64 || cell->kind == CELL_F64;
}

/* The cell as a number; 0 when it is none. */
double cell_number(const struct cell *cell);

/* The part of a row that has the row field at slot now, NULL when none has. */
const struct part *frame_row_part(const struct frame_row *row, unsigned slot);

/* Seconds between the two reads that a part's rates are made of; 0 when it has only one. */
double part_interval_s(const struct part *part);

/* Age of a part's newest read at the frame's time, seconds. */
double part_age_s(const struct frame *frame, const struct part *part);

/* Spread between the earliest and the latest sample moment of the frame's fresh feeds, ns. */
int64_t frame_spread_ns(const struct frame *frame);

#endif
