/* SPDX-License-Identifier: MIT */
/*
 * Values to text for people: short, scaled, honest about what is missing. (CSV is csv.h's.) Pure functions of
 * their arguments: no clock, no locale, no colour, no static buffer. Every function ends its text with NUL
 * inside size and returns the length written.
 */
#ifndef VNETTOP_FORMAT_H
#define VNETTOP_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/frame.h"
#include "src/theme.h"

/* Room for every number, duration and time below, NUL included. */
#define FORMAT_SIZE 40

/* The `u` key steps through these; UNITS_BITS is the default. */
enum format_units {
    UNITS_BITS,  /* scaled, bits per second */
    UNITS_BYTES, /* scaled, bytes per second */
    UNITS_EXACT, /* all digits, bits per second */
    FORMAT_UNITS
};

struct format_style {
    enum format_units units;
};

const char *format_units_name(enum format_units units);

/* Up to 9999 as it is, then 12.3k, 474k, 1.02M, 14.9G; fractions 9.4, 0.4, 0.02, <.001. At most 5 characters,
 * a minus sign makes 6. Only zero is "0". NaN is "-". */
size_t format_scaled(char *out, size_t size, double value);
/* All digits; below 100 two decimals at most. */
size_t format_exact(char *out, size_t size, double value);
size_t format_u64(char *out, size_t size, uint64_t value);
/* 0, 0.02, 0.4, 16.5, 100, 1234; no sign. */
size_t format_percent(char *out, size_t size, double percent);
/* Decimal, as networks count: 312B, 1.50MB. */
size_t format_bytes(char *out, size_t size, double bytes);
/* 12us, 0.3ms, 42ms, 0.4s, 12s, 3m, 1h02, 2d03: age or length; a negative one is 0s. */
size_t format_duration(char *out, size_t size, double seconds);
/* 00:03:12, 123:00:00: running time. */
size_t format_elapsed(char *out, size_t size, int64_t ns);
/* 14:02:11 of CLOCK_REALTIME, in the zone of the process (TZ). */
size_t format_clock(char *out, size_t size, int64_t wall_ns);
/* 2026-11-30T14:02:11.042Z */
size_t format_rfc3339(char *out, size_t size, int64_t wall_ns);

enum format_level { LEVEL_NONE, LEVEL_WATCH, LEVEL_BAD };

/* What the column's thresholds say of a value. */
enum format_level format_level(const struct cell *cell, const struct column *column);

/*
 * The cell as the screen shows it: `-` `?` `new` `rst`, a text as it is, or a number in the column's unit and
 * the style, followed by `~` when it is approximate, and `*` (watch) or `!` (bad). Texts come from outside:
 * the canvas makes them harmless.
 */
size_t format_cell(char *out, size_t size, const struct cell *cell, const struct column *column,
                   const struct format_style *style);

/* A number in the column's unit, without signs. */
size_t format_value(char *out, size_t size, double value, const struct column *column,
                    const struct format_style *style);

/* The same for a change against a baseline: +12.3k, -0.4, 0. */
size_t format_delta(char *out, size_t size, double delta, const struct column *column,
                    const struct format_style *style);

/* The role a cell is drawn in: stale, dim (zero or no value), bad, watch, text. */
enum role format_role(const struct cell *cell, const struct column *column);

/* The column's heading in this style: RX BIT/S reads RX BYTE/S when bytes are shown. */
size_t format_title(char *out, size_t size, const struct column *column, const struct format_style *style);

/* Numbers stand to the right, texts to the left. */
bool format_is_right(const struct column *column);

#endif
