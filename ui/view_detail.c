/* SPDX-License-Identifier: MIT */
/*
 * The detail of one row: its hot columns as graphs on one shared time axis with the marks under it, so that
 * cause and effect line up, then every number that its sources tell, the counters beside their rates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/derive.h"
#include "src/join.h"
#include "src/memory.h"
#include "ui/plots.h"
#include "ui/view_path.h"
#include "ui/view_vm.h"

/* A number that this kind of row has not at all (what a bridge's ports received, of a NIC) is no graph. */
static bool never_told(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    return frame_cell(frame, row, column).kind == CELL_NONE;
}

static size_t hot_plots(const struct frame *frame, const struct frame_row *row, enum table_id id,
                        const char *key, struct plot *plots)
{
    const struct table *table = table_get(id);
    size_t n = 0;
    for (size_t i = 0; i < table->n_columns && n < MAX_PLOTS; i++)
        if (table->columns[i].flags & COL_HOT && !(row && never_told(frame, row, &table->columns[i])))
            plots[n++] = (struct plot){id, key, &table->columns[i], NULL, plot_role(&table->columns[i])};
    return n;
}

/*
 * What a counter did in the interval, as a column of its own that no table need declare: every counter has
 * its change beside it. Times are shares of the interval, bytes are bits a second.
 */
static struct column change_of(const struct column *counter)
{
    static const struct {
        enum column_unit of, unit;
        derive_fn *derive;
        double scale;
    } changes[] = {
        {UNIT_TICKS, UNIT_PCT, derive_tick_share, 0}, {UNIT_US, UNIT_PCT, derive_us_share, 0},
        {UNIT_NS, UNIT_PCT, derive_ns_share, 0},      {UNIT_BYTES, UNIT_BPS, derive_rate, 8},
        {UNIT_PACKETS, UNIT_PPS, derive_rate, 0},
    };
    struct column change = *counter;
    change.type = TYPE_F64;
    change.where = DERIVED;
    change.derive = derive_rate;
    change.unit = UNIT_PER_S;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        if (changes[i].of != counter->unit)
            continue;
        change.derive = changes[i].derive;
        change.unit = changes[i].unit;
        change.scale = changes[i].scale;
    }
    if (counter->flags & COL_LOSS) {
        change.watch = 1e-9;
        change.bad = 100;
    }
    return change;
}

static bool is_change(const struct column *column)
{
    return column->derive == derive_rate || column->derive == derive_tick_share ||
           column->derive == derive_us_share || column->derive == derive_ns_share;
}

static const char *change_unit(const struct column *change, const struct format_style *style)
{
    if (change->unit == UNIT_PCT)
        return "%";
    return change->unit != UNIT_BPS ? "/s" : style->units == UNITS_BYTES ? "byte/s" : "bit/s";
}

struct number {
    const struct column *column;
    struct cell cell;
};

/* What is known of the row: numbers and short words for the grid, texts too long for it. */
struct numbers {
    struct number *grid, *prose;
    size_t n_grid, n_prose;
};

#define NAME_CELLS  23 /* the longest key */
#define VALUE_CELLS 14
#define RATE_CELLS  8

/* Changes stand beside their counters. */
static bool is_worth_a_line(const struct column *column, const struct cell *cell)
{
    if (cell->kind == CELL_NONE || (cell->kind == CELL_STR && (!cell->str || !*cell->str)))
        return false;
    if (column->flags & COL_ORDER)
        return false;
    return column->where != DERIVED || !is_change(column);
}

/* Numbers first: what the thing is stands in the title already. */
static void collect_numbers(const struct canvas *canvas, const struct scene *scene, enum table_id id,
                            const struct frame_row *row, int width, struct numbers *numbers)
{
    static const enum column_where order[] = {DERIVED, IN_ROW, IN_INFO};
    const struct table *table = table_get(id);
    for (size_t i = 0; i < 3 * table->n_columns; i++) {
        const struct column *column = &table->columns[i % table->n_columns];
        if (column->where != order[i / table->n_columns])
            continue;
        struct number number = {column, scene_cell(scene, id, row, column)};
        if (!is_worth_a_line(column, &number.cell))
            continue;
        if (number.cell.kind == CELL_STR && canvas_width(canvas, number.cell.str) > width - NAME_CELLS - 1)
            numbers->prose[numbers->n_prose++] = number;
        else
            numbers->grid[numbers->n_grid++] = number;
    }
}

static void draw_change(struct canvas *canvas, int at, int col, int width, const struct scene *scene,
                        enum table_id id, const struct frame_row *row, const struct column *counter)
{
    const struct column change = change_of(counter);
    char text[FORMAT_SIZE];
    struct cell cell = scene_cell(scene, id, row, &change);
    scene_text(text, sizeof(text), scene, &cell, &change);
    canvas_right(canvas, at, col, RATE_CELLS, scene_role(scene, &cell, &change), text);
    if (cell_is_number(&cell))
        canvas_text(canvas, at, col + RATE_CELLS + 1, width - RATE_CELLS - 1, ROLE_DIM,
                    change_unit(&change, &scene->style));
}

/* Long numbers in groups of three digits, where they have room: 12345678 is not read at a glance. */
static void group_digits(char *text)
{
    size_t length = strlen(text), commas = length ? (length - 1) / 3 : 0;
    if (strspn(text, "0123456789") != length || length + commas > VALUE_CELLS)
        return;
    for (size_t i = length + 1, at = length + commas; i-- > 0 && at > i;) {
        text[at--] = text[i];
        if (i < length && (length - i) % 3 == 0 && i > 0)
            text[at--] = ',';
    }
}

static void draw_number(struct canvas *canvas, int at, int col, int width, const struct scene *scene,
                        enum table_id id, const struct frame_row *row, const struct number *number)
{
    const struct column *column = number->column;
    const int left = NAME_CELLS + 1, right = left + VALUE_CELLS + 1;
    char text[512];
    canvas_text(canvas, at, col, NAME_CELLS, ROLE_HEADING, column->key);
    enum role role = scene_role(scene, &number->cell, column);
    if (number->cell.kind == CELL_STR) {
        canvas_text(canvas, at, col + left, width - left, role, number->cell.str);
        return;
    }
    if (column->where == DERIVED) {
        scene_text(text, sizeof(text), scene, &number->cell, column);
    } else {
        const struct format_style exact = {.units = UNITS_EXACT};
        format_cell(text, sizeof(text), &number->cell, column, &exact);
        if (column->unit != UNIT_NONE)
            group_digits(text);
    }
    canvas_right(canvas, at, col + left, VALUE_CELLS, role, text);
    if (column->type == TYPE_CNT && column->where == IN_ROW && width >= right + RATE_CELLS + 2)
        draw_change(canvas, at, col + right, width - right, scene, id, row, column);
}

/* Long texts, each over the whole width; returns the line after them. They stay when the grid scrolls. */
static int draw_prose(struct canvas *canvas, int at, struct area area, const struct numbers *numbers)
{
    int end = area.top + area.rows;
    for (size_t i = 0; i < numbers->n_prose && at < end; i++) {
        canvas_text(canvas, at, 1, NAME_CELLS, ROLE_HEADING, numbers->prose[i].column->key);
        int used = canvas_wrap(canvas, at, NAME_CELLS + 2, area.cols - NAME_CELLS - 3, end - at, ROLE_TEXT,
                               numbers->prose[i].cell.str);
        at += used > 0 ? used : 1;
    }
    return at;
}

/* Columns of the grid are filled one after the other. Returns how far it can be scrolled. */
static size_t draw_numbers(struct canvas *canvas, int top, struct area area, const struct scene *scene,
                           enum table_id id, const struct frame_row *row, size_t scroll)
{
    int per_line = area.cols >= 165 ? 3 : area.cols >= 110 ? 2 : 1, width = area.cols / per_line - 1;
    size_t most = table_get(id)->n_columns;
    struct numbers numbers = {.grid = xrealloc(NULL, most, sizeof(struct number)),
                              .prose = xrealloc(NULL, most, sizeof(struct number))};
    collect_numbers(canvas, scene, id, row, width, &numbers);
    top = draw_prose(canvas, top, area, &numbers);
    size_t lines = (numbers.n_grid + (size_t)per_line - 1) / (size_t)per_line;
    size_t room = area.top + area.rows > top ? (size_t)(area.top + area.rows - top) : 0;
    for (size_t i = 0; i < numbers.n_grid; i++) {
        size_t line = i % lines, c = i / lines;
        if (line >= scroll && line - scroll < room)
            draw_number(canvas, top + (int)(line - scroll), 1 + (int)c * (width + 1), width, scene, id, row,
                        &numbers.grid[i]);
    }
    free(numbers.grid);
    free(numbers.prose);
    return lines > room ? lines - room : 0;
}

size_t view_detail_draw(struct canvas *canvas, struct area area, const struct scene *scene,
                        enum table_id table, const char *key, size_t scroll)
{
    const struct frame_row *row = frame_find(scene->frame, table, key);
    struct plot plots[MAX_PLOTS];
    const struct frame_row *path = row;
    if (table == TABLE_PORTS) /* a guest's port is shown as its path */
        path = row ? join_path_of_port(scene->frame, row) : NULL;
    bool is_path = path && (table == TABLE_PATHS || table == TABLE_PORTS);
    size_t n = is_path              ? view_path_plots(scene, path, plots)
               : table == TABLE_VMS ? view_vm_plots(scene, row, plots)
                                    : hot_plots(scene->frame, row, table, key, plots);
    int top = plots_draw(canvas, area, scene, plots, n);
    if (!row) {
        canvas_text(canvas, top + 1, 1, area.cols - 1, ROLE_MESSAGE,
                    "gone: it does not exist at this moment (Esc goes back)");
        return 0;
    }
    if (is_path)
        top = view_path_ledger(canvas, top, area, scene, path);
    if (table == TABLE_VMS)
        top = view_vm_threads(canvas, top, area, scene, row);
    return draw_numbers(canvas, top + 1, area, scene, table, row, scroll);
}
