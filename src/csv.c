/* SPDX-License-Identifier: MIT */
/*
 * The CSV writer (see csv.h). A frame of 1,000 ports is 100,000 fields at every tick, so room is made once a
 * field and numbers are written digit by digit; printf is for what is rare.
 */
#include "src/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/format.h"
#include "src/memory.h"
#include "src/select.h"
#include "src/utf8.h"

#define NUMBER_ROOM 40  /* no number below 2^64 is longer */
#define HUGE_ROOM   320 /* nor any double in full */

struct csv_table {
    enum table_id id;
    const struct table *table;
    csv_keep_fn *keep;
    void *context;
    const struct column *sort;
    bool descending;
    bool own_age;                /* the table has an age_s of its own */
    struct slot_bits rate_slots; /* row fields that derived columns are made of */
    size_t n;
    const struct column *columns[]; /* keys first */
};

/* What a row's cells were, for its quality. */
struct tally {
    size_t values,
        rates; /* cells that are there, or would be were they not new or reset; the derived of them */
    size_t new, reset, denied, stale, approx;
};

void csv_out_free(struct csv_out *out)
{
    free(out->data);
    *out = (struct csv_out){0};
}

static char *make_room(struct csv_out *out, size_t room)
{
    if (out->size - out->n < room) {
        out->size = (out->size + room) * 2;
        out->data = xrealloc(out->data, out->size, 1);
    }
    return out->data + out->n;
}

static void put_char(struct csv_out *out, char c)
{
    *make_room(out, 1) = c;
    out->n++;
}

static void put_bytes(struct csv_out *out, const char *bytes, size_t n)
{
    if (n)
        memcpy(make_room(out, n), bytes, n);
    out->n += n;
}

static void put_word(struct csv_out *out, const char *word)
{
    put_bytes(out, word, strlen(word));
}

/* Two digits at a time. Room for NUMBER_ROOM has been made. */
static void put_digits(struct csv_out *out, uint64_t value)
{
    char digits[20];
    char *at = digits + sizeof(digits);
    while (value >= 100) {
        unsigned pair = value % 100;
        value /= 100;
        *--at = (char)('0' + pair % 10);
        *--at = (char)('0' + pair / 10);
    }
    if (value >= 10) {
        *--at = (char)('0' + value % 10);
        value /= 10;
    }
    *--at = (char)('0' + value);
    size_t n = (size_t)(digits + sizeof(digits) - at);
    memcpy(out->data + out->n, at, n);
    out->n += n;
}

/* value with zeros before it. */
static void put_padded(struct csv_out *out, uint64_t value, unsigned digits)
{
    char *at = out->data + out->n;
    for (unsigned i = digits; i-- > 0; value /= 10)
        at[i] = (char)('0' + value % 10);
    out->n += digits;
}

static void put_u64(struct csv_out *out, uint64_t value)
{
    make_room(out, NUMBER_ROOM);
    put_digits(out, value);
}

static void put_seconds(struct csv_out *out, int64_t ns)
{
    make_room(out, NUMBER_ROOM);
    if (ns < 0)
        out->data[out->n++] = '-';
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    put_digits(out, size / 1000000000);
    out->data[out->n++] = '.';
    put_padded(out, size % 1000000000, 9);
}

/*
 * Fixed point, 6 decimals, 9 below 1, without the zeros at the end: a rate times its interval then gives the
 * difference to far less than one for any interval that a recording has (0.5e-6 x 3,600 s), which 12
 * significant digits would not (100 Gbit/s for an hour are 4.5e13 bytes). From 2^53 on a double is an
 * integer, written in full: a decimal point by printf would be the locale's.
 */
void csv_put_f64(struct csv_out *out, double value)
{
    if (!isfinite(value))
        return;
    make_room(out, NUMBER_ROOM);
    double size = fabs(value);
    if (size >= 9007199254740992.0) {
        out->n += (size_t)snprintf(make_room(out, HUGE_ROOM), HUGE_ROOM, "%.0f", value);
        return;
    }
    unsigned decimals = size < 1 ? 9 : 6;
    uint64_t unit = size < 1 ? 1000000000 : 1000000;
    uint64_t whole = (uint64_t)size;
    uint64_t part = (uint64_t)((size - (double)whole) * (double)unit + 0.5);
    if (part == unit) {
        whole++;
        part = 0;
    }
    if (value < 0 && (whole || part))
        out->data[out->n++] = '-';
    put_digits(out, whole);
    if (!part)
        return;
    for (; part % 10 == 0; decimals--)
        part /= 10;
    out->data[out->n++] = '.';
    put_padded(out, part, decimals);
}

static void put_escape(struct csv_out *out, unsigned code)
{
    static const char hex[] = "0123456789abcdef";
    char escape[] = {'\\', 'x', hex[code >> 4 & 15], hex[code & 15]};
    put_bytes(out, escape, sizeof(escape));
}

/* One character that is not plain ASCII; returns how many bytes of text it took. */
static size_t put_odd(struct csv_out *out, const char *text)
{
    size_t taken;
    uint32_t code =
        utf8_decode(text, UTF8_MAX, &taken); /* stops at the text's end, which continues nothing */
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    if (code == UTF8_INVALID)
        put_word(out, UTF8_REPLACEMENT);
    else if (control || (code == '\\' && text[1] == 'x'))
        put_escape(out, code);
    else
        put_bytes(out, text, taken);
    return taken;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '\\' && c != '"';
}

void csv_put_text(struct csv_out *out, const char *text)
{
    bool quote = strpbrk(text, ",\"") != NULL;
    if (quote)
        put_char(out, '"');
    while (*text) {
        size_t n = 0;
        while (is_plain((unsigned char)text[n]))
            n++;
        put_bytes(out, text, n);
        text += n;
        if (*text == '"') {
            put_bytes(out, "\"\"", 2);
            text++;
        } else if (*text) {
            text += put_odd(out, text);
        }
    }
    if (quote)
        put_char(out, '"');
}

static bool is_chosen(const struct csv_selection *selection, const struct column *column)
{
    for (size_t i = 0; i < selection->n_columns; i++)
        if (selection->columns[i] == column)
            return true;
    return false;
}

static void add_column(struct csv_table *csv, const struct column *column)
{
    csv->columns[csv->n++] = column;
    if (column->where == DERIVED)
        slot_set(&csv->rate_slots, column->slot);
}

static void add_columns(struct csv_table *csv, const struct csv_selection *selection)
{
    const struct table *table = csv->table;
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].flags & COL_KEY)
            add_column(csv, &table->columns[i]);
    for (size_t i = 0; !selection->n_columns && i < table->n_columns; i++)
        if (!(table->columns[i].flags & COL_KEY))
            add_column(csv, &table->columns[i]);
    for (size_t i = 0; i < selection->n_columns; i++) {
        struct csv_selection before = {.columns = selection->columns, .n_columns = i};
        if (!(selection->columns[i]->flags & COL_KEY) && !is_chosen(&before, selection->columns[i]))
            add_column(csv, selection->columns[i]);
    }
}

struct csv_table *csv_table_new(enum table_id id, const struct csv_selection *selection)
{
    static const struct csv_selection all = {0};
    const struct table *table = table_get(id);
    struct csv_table *csv = xzalloc(sizeof(*csv) + table->n_columns * sizeof(csv->columns[0]));
    selection = selection ? selection : &all;
    csv->id = id;
    csv->table = table;
    csv->keep = selection->keep;
    csv->context = selection->context;
    csv->sort = selection->sort;
    csv->descending = selection->descending;
    csv->own_age = column_find(table, "age_s") != NULL;
    add_columns(csv, selection);
    return csv;
}

void csv_table_free(struct csv_table *table)
{
    free(table);
}

void csv_put_header(const struct csv_table *csv, struct csv_out *out)
{
    put_word(out, "time,elapsed_s,");
    for (size_t i = 0; i < csv->n; i++) {
        put_word(out, csv->columns[i]->key);
        put_char(out, ',');
    }
    put_word(out, csv->own_age ? "interval_s,quality\n" : "interval_s,age_s,quality\n");
}

/* Tells the cell's field, empty where it has no value. */
static void put_cell(struct csv_out *out, const struct cell *cell)
{
    if (cell->kind == CELL_STR)
        csv_put_text(out, cell->str);
    else if (cell->kind == CELL_U64)
        put_u64(out, cell->u64);
    else if (cell->kind == CELL_F64)
        csv_put_f64(out, cell->f64);
    put_char(out, ',');
}

static void count_cell(struct tally *tally, const struct column *column, const struct cell *cell)
{
    bool there = cell->kind != CELL_NONE && cell->kind != CELL_DENIED;
    tally->approx +=
        there && cell->approx; /* keys too: a role that was inferred is part of what the row says */
    if (column->flags & COL_KEY)
        return;
    tally->values += there;
    tally->rates += there && column->where == DERIVED;
    tally->new += cell->kind == CELL_NEW;
    tally->reset += cell->kind == CELL_RESET;
    tally->denied += cell->kind == CELL_DENIED;
    tally->stale += there && cell->stale;
}

static bool is_new(const struct cell *cell)
{
    return cell->kind == CELL_NEW;
}

static bool is_reset(const struct cell *cell)
{
    return cell->kind == CELL_RESET;
}

static bool is_denied(const struct cell *cell)
{
    return cell->kind == CELL_DENIED;
}

static bool is_stale(const struct cell *cell)
{
    return cell->stale && cell->kind != CELL_NONE && cell->kind != CELL_DENIED;
}

static bool is_approx(const struct cell *cell)
{
    return cell->approx && cell->kind != CELL_NONE && cell->kind != CELL_DENIED;
}

/* One word of quality: alone, or with the columns that the test holds for. */
struct quality_word {
    const char *word;
    bool (*holds)(const struct cell *cell);
    size_t offset,
        of_offset; /* in struct tally: how many it holds for, of how many (all of them: word alone) */
    const char *first, *between;
};

#define NEVER_ALONE SIZE_MAX

static const struct quality_word quality_words[] = {
    {"new", is_new, offsetof(struct tally, new), offsetof(struct tally, rates), "=", "+"},
    {"rst", is_reset, offsetof(struct tally, reset), offsetof(struct tally, rates), "=", "+"},
    {"stale", is_stale, offsetof(struct tally, stale), offsetof(struct tally, values), "=", "+"},
    {"denied", is_denied, offsetof(struct tally, denied), NEVER_ALONE, "=", "+"},
    {"", is_approx, offsetof(struct tally, approx), NEVER_ALONE, "~", " ~"},
};

static size_t tally_at(const struct tally *tally, size_t offset)
{
    size_t n;
    memcpy(&n, (const char *)tally + offset, sizeof(n));
    return n;
}

static void put_quality_columns(const struct csv_table *csv, const struct cell *cells,
                                const struct quality_word *word, struct csv_out *out)
{
    const char *separator = word->first;
    for (size_t i = 0; i < csv->n; i++) {
        bool is_key = csv->columns[i]->flags & COL_KEY && word->holds != is_approx;
        if (is_key || !word->holds(&cells[i]))
            continue;
        put_word(out, separator);
        put_word(out, csv->columns[i]->key);
        separator = word->between;
    }
}

static void put_quality(const struct csv_table *csv, const struct cell *cells, const struct tally *tally,
                        struct csv_out *out)
{
    const char *space = "";
    for (size_t i = 0; i < sizeof(quality_words) / sizeof(quality_words[0]); i++) {
        const struct quality_word *word = &quality_words[i];
        size_t n = tally_at(tally, word->offset);
        if (n == 0)
            continue;
        put_word(out, space);
        put_word(out, word->word);
        if (word->of_offset == NEVER_ALONE || n < tally_at(tally, word->of_offset))
            put_quality_columns(csv, cells, word, out);
        space = " ";
    }
}

/* The part that interval_s and age_s are of: the first with two reads of a counter that makes a rate. */
static const struct part *rate_part(const struct csv_table *csv, const struct frame_row *row)
{
    for (const struct part *part = &row->part; part; part = part->next) {
        const struct slot_bits *have = &part->cur->have, *want = &csv->rate_slots;
        bool any = false;
        for (size_t i = 0; i < MAX_SLOTS / 64; i++)
            any |= (have->word[i] & want->word[i]) != 0;
        if (any && part_interval_s(part) > 0)
            return part;
    }
    return NULL;
}

static int64_t to_ns(double seconds)
{
    return (int64_t)llrint(seconds * 1e9);
}

/* cells has room for one a column. */
static void put_row(const struct csv_table *csv, const struct frame *frame, const struct frame_row *row,
                    struct cell *cells, struct csv_out *out)
{
    struct tally tally = {0};
    for (size_t i = 0; i < csv->n; i++) {
        cells[i] = frame_cell(frame, row, csv->columns[i]);
        put_cell(out, &cells[i]);
        count_cell(&tally, csv->columns[i], &cells[i]);
    }
    const struct part *part = rate_part(csv, row);
    if (part)
        put_seconds(out, to_ns(part_interval_s(part)));
    put_char(out, ',');
    if (!csv->own_age) {
        put_seconds(out, to_ns(part_age_s(frame, part ? part : &row->part)));
        put_char(out, ',');
    }
    put_quality(csv, cells, &tally, out);
    put_char(out, '\n');
}

/* The rows that may be written, in their order; free() it. */
static const struct frame_row **choose_rows(const struct csv_table *csv, const struct frame *frame, size_t *n)
{
    const struct frame_table *table = &frame->table[csv->id];
    const struct frame_row **rows = xrealloc(NULL, table->n + 1, sizeof(*rows));
    *n = 0;
    for (size_t i = 0; i < table->n; i++)
        if (!csv->keep || csv->keep(frame, &table->rows[i], csv->context))
            rows[(*n)++] = &table->rows[i];
    if (csv->sort)
        rows_sort(rows, *n, frame, csv->table, csv->sort, csv->descending);
    return rows;
}

void csv_put_rows(const struct csv_table *csv, const struct frame *frame, struct csv_out *out)
{
    size_t n;
    const struct frame_row **rows = choose_rows(csv, frame, &n);
    char time_text[FORMAT_SIZE];
    format_rfc3339(time_text, sizeof(time_text), frame->wall_ns);
    struct cell *cells = xzalloc(csv->n * sizeof(*cells));
    struct csv_out start = {0};
    put_word(&start, time_text);
    put_char(&start, ',');
    put_seconds(&start, frame->now_ns - frame->start_ns);
    put_char(&start, ',');
    for (size_t i = 0; i < n; i++) {
        put_bytes(out, start.data, start.n);
        put_row(csv, frame, rows[i], cells, out);
    }
    free(rows);
    csv_out_free(&start);
    free(cells);
}
