/* SPDX-License-Identifier: MIT */
/*
 * The table behind every view: which rows and columns there are, in which order, and where they stand.
 * Columns leave a narrow screen by priority, never by cutting a number; widths grow and do not shrink by
 * themselves, so nothing jumps sideways from frame to frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"
#include "ui/views.h"

void table_state_init(struct table_state *state, const struct view *view)
{
    char error[128];
    *state = (struct table_state){.show_idle = !view->hides_idle, .empty = view->empty};
    if (view->table < TABLES_N && view->sort)
        table_set_sort(state, table_get(view->table), view->sort, error, sizeof(error));
}

void table_state_free(struct table_state *state)
{
    if (state->filtered)
        regfree(&state->filter);
    free(state->rows);
    free(state->lines);
    state->rows = NULL;
    state->lines = NULL;
}

int table_set_columns(struct table_state *state, const struct table *table, const char *list, char *error,
                      size_t error_size)
{
    const struct column *columns[MAX_VIEW_COLUMNS];
    ssize_t n = columns_parse(table, list, columns, MAX_VIEW_COLUMNS, error, error_size);
    if (n < 0)
        return -1;
    memcpy(state->columns, columns, sizeof(*columns) * (size_t)n);
    state->n_columns = (size_t)n;
    return 0;
}

int table_set_sort(struct table_state *state, const struct table *table, const char *text, char *error,
                   size_t error_size)
{
    return sort_parse(table, text, &state->sort, &state->descending, error, error_size);
}

int table_set_filter(struct table_state *state, const char *text, char *error, size_t error_size)
{
    regex_t regex;
    if (*text && filter_compile(&regex, text, error, error_size) < 0)
        return -1;
    if (state->filtered)
        regfree(&state->filter);
    state->filtered = *text != '\0';
    if (state->filtered)
        state->filter = regex;
    snprintf(state->filter_text, sizeof(state->filter_text), "%s", text);
    return 0;
}

size_t table_columns(const struct table_state *state, const struct table *table,
                     const struct column **columns, size_t max)
{
    size_t n = 0;
    if (state->n_columns) {
        n = state->n_columns < max ? state->n_columns : max;
        memcpy(columns, state->columns, n * sizeof(*columns));
        return n;
    }
    for (size_t i = 0; i < table->n_columns && n < max; i++)
        if (table->columns[i].prio > 0)
            columns[n++] = &table->columns[i];
    return n;
}

static void find_selected(struct table_state *state)
{
    for (size_t i = 0; i < state->n_rows; i++) {
        if (strcmp(state->rows[i]->key, state->selected) == 0) {
            state->cursor = i;
            return;
        }
    }
    table_move(state, 0);
}

void table_prepare(struct table_state *state, const struct frame *frame, enum table_id id)
{
    const struct table *table = table_get(id);
    const struct frame_table *all = &frame->table[id];
    if (state->rows_alloc < all->n) {
        state->rows = xrealloc(state->rows, all->n, sizeof(*state->rows));
        state->rows_alloc = all->n;
    }
    state->n_rows = state->n_idle = state->n_filtered = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct frame_row *row = &all->rows[i];
        if (state->filtered && !row_matches(frame, row, id, &state->filter)) {
            state->n_filtered++;
            continue;
        }
        if (!state->show_idle && row_is_idle(frame, row, id)) {
            state->n_idle++;
            continue;
        }
        state->rows[state->n_rows++] = row;
    }
    if (state->sort) /* else as the source tells them: findings by what they cost */
        rows_sort(state->rows, state->n_rows, frame, table, state->sort, state->descending);
    find_selected(state);
}

static void select_row(struct table_state *state, size_t at)
{
    state->cursor = at;
    snprintf(state->selected, sizeof(state->selected), "%s", state->n_rows ? state->rows[at]->key : "");
}

void table_move(struct table_state *state, long by)
{
    long last = (long)state->n_rows - 1, at = (long)state->cursor + by;
    at = at > last ? last : at;
    select_row(state, at > 0 ? (size_t)at : 0);
}

bool table_search(struct table_state *state, const struct frame *frame, enum table_id id, const char *needle,
                  bool backwards, bool from_next)
{
    for (size_t tried = 0; tried < state->n_rows; tried++) {
        size_t step = tried + from_next;
        size_t at =
            (backwards ? state->cursor + 2 * state->n_rows - step : state->cursor + step) % state->n_rows;
        if (row_contains(frame, state->rows[at], id, needle)) {
            select_row(state, at);
            return true;
        }
    }
    return false;
}

void table_sort_step(struct table_state *state, const struct table *table, int step)
{
    const struct column *columns[MAX_VIEW_COLUMNS];
    size_t n = table_columns(state, table, columns, MAX_VIEW_COLUMNS), at = 0;
    if (n == 0)
        return;
    while (at < n && columns[at] != state->sort)
        at++;
    at = at == n ? 0 : (at + n + (size_t)(step + (int)n)) % n;
    state->sort = columns[at];
    state->descending = columns[at]->type != TYPE_STR && !(columns[at]->flags & COL_KEY);
}

struct cell scene_cell(const struct scene *scene, enum table_id table, const struct frame_row *row,
                       const struct column *column)
{
    struct cell cell = frame_cell(scene->frame, row, column);
    if (!scene->baseline || column->where != DERIVED || !cell_is_number(&cell))
        return cell;
    const struct frame_row *before = frame_find(scene->baseline, table, row->key);
    struct cell base = {.kind = CELL_NONE};
    if (before)
        base = frame_cell(scene->baseline, before, column);
    if (!cell_is_number(&base))
        return (struct cell){.kind = CELL_NEW};
    return (struct cell){
        .kind = CELL_F64, .f64 = cell_number(&cell) - cell_number(&base), .stale = cell.stale};
}

/* A state is a word: good, bad, or just absent. */
static enum role state_role(const char *text)
{
    if (strcmp(text, "ok") == 0)
        return ROLE_GOOD;
    return strcmp(text, "none") == 0 || strcmp(text, "starting") == 0 ? ROLE_DIM : ROLE_BAD;
}

enum role scene_role(const struct scene *scene, const struct cell *cell, const struct column *column)
{
    if (column->flags & COL_STATE && cell->kind == CELL_STR && !cell->stale)
        return state_role(cell->str);
    if (scene->baseline && column->where == DERIVED && cell_is_number(cell))
        return cell->stale ? ROLE_STALE : cell_number(cell) == 0 ? ROLE_DIM : ROLE_MARK;
    return format_role(cell, column);
}

void scene_text(char *out, size_t size, const struct scene *scene, const struct cell *cell,
                const struct column *column)
{
    if (scene->baseline && column->where == DERIVED && cell_is_number(cell))
        format_delta(out, size, cell_number(cell), column, &scene->style);
    else
        format_cell(out, size, cell, column, &scene->style);
}

/* A text that is declared so wide is prose: it is broken into lines. */
#define PROSE_WIDTH  20
#define PROSE_LEAST  40 /* cells it must have, or other columns leave for it */
#define PROSE_BESIDE 32 /* where there are two of them */
#define PROSE_LINES  8

/* The columns that fit, and where each stands. */
struct layout {
    size_t n, left; /* left: how many did not fit */
    const struct column *columns[MAX_VIEW_COLUMNS];
    int col[MAX_VIEW_COLUMNS], width[MAX_VIEW_COLUMNS];
};

static unsigned widest(const struct canvas *canvas, const struct scene *scene, enum table_id id,
                       const struct column *column, size_t shown)
{
    const struct table_state *state = scene->state;
    size_t number = (size_t)(column - table_get(id)->columns);
    char title[64];
    unsigned width = (unsigned)format_title(title, sizeof(title), column, &scene->style);
    width = column->width > width ? column->width : width;
    for (size_t i = state->top; i < state->n_rows && i < state->top + shown; i++) {
        char text[512];
        struct cell cell = scene_cell(scene, id, state->rows[i], column);
        scene_text(text, sizeof(text), scene, &cell, column);
        unsigned w = (unsigned)canvas_width(canvas, text);
        width = w > width ? w : width;
    }
    if (!format_is_right(column) && width > 40 && column->prio > 0 && column->width < PROSE_WIDTH)
        width = 40;
    if (width > state->grown[number])
        scene->state->grown[number] = width;
    return state->grown[number];
}

/* A column that is only there because somebody chose it does not leave before those nobody asked for. */
static unsigned prio_of(const struct column *column)
{
    return column->prio ? column->prio : 9;
}

static void drop_least(struct layout *layout)
{
    size_t least = 0;
    for (size_t i = 1; i < layout->n; i++)
        if (prio_of(layout->columns[i]) <= prio_of(layout->columns[least]))
            least = i;
    layout->n--;
    layout->left++;
    memmove(&layout->columns[least], &layout->columns[least + 1],
            (layout->n - least) * sizeof(layout->columns[0]));
    memmove(&layout->width[least], &layout->width[least + 1], (layout->n - least) * sizeof(layout->width[0]));
}

static int total_width(const struct layout *layout)
{
    int total = 1;
    for (size_t i = 0; i < layout->n; i++)
        total += layout->width[i] + 1;
    return total;
}

static bool is_prose(const struct column *column)
{
    return !format_is_right(column) && column->width >= PROSE_WIDTH;
}

/* How far a column may be narrowed before one leaves: prose is broken into lines, the last text cut at a
 * character, a number never touched. */
static int least_width(const struct layout *layout, size_t i)
{
    const struct column *column = layout->columns[i];
    size_t prose = 0;
    for (size_t c = 0; c < layout->n; c++)
        prose += is_prose(layout->columns[c]);
    int least = layout->width[i];
    if (is_prose(column))
        least = prose > 1 ? PROSE_BESIDE : PROSE_LEAST;
    else if (i == layout->n - 1 && !format_is_right(column))
        least = (int)column->width;
    return least < layout->width[i] ? least : layout->width[i];
}

/* Takes up to `over` cells from the column that has most to spare; returns how many. */
static int narrow(struct layout *layout, int over)
{
    size_t at = 0;
    int most = 0;
    for (size_t i = 0; i < layout->n; i++) {
        int spare = layout->width[i] - least_width(layout, i);
        if (spare > most) {
            most = spare;
            at = i;
        }
    }
    int taken = most < over ? most : over;
    layout->width[at] -= taken;
    return taken;
}

/* All that can be given up without losing a column. */
static int spare_width(const struct layout *layout)
{
    int spare = 0;
    for (size_t i = 0; i < layout->n; i++)
        spare += layout->width[i] - least_width(layout, i);
    return spare;
}

static void put_first(struct layout *layout, const struct column *column)
{
    if (layout->n == MAX_VIEW_COLUMNS)
        layout->n--;
    memmove(&layout->columns[1], &layout->columns[0], layout->n * sizeof(layout->columns[0]));
    layout->columns[0] = column;
    layout->n++;
}

/* Cells of `+12`, where columns were left out. */
#define LEFT_WIDTH 3

/* Beside the heading of a text that is wider than it there is room for the sign anyhow. */
static int room_for(const struct layout *layout, struct area area)
{
    const struct column *last = layout->columns[layout->n - 1];
    bool beside = format_is_right(last) || last->width <= strlen(last->title) + LEFT_WIDTH;
    return area.cols - (layout->left && beside ? LEFT_WIDTH : 0);
}

static void lay_out(struct layout *layout, const struct canvas *canvas, struct area area,
                    const struct scene *scene, enum table_id id)
{
    const struct table *table = table_get(id);
    layout->n = table_columns(scene->state, table, layout->columns, MAX_VIEW_COLUMNS);
    layout->left = 0;
    if (scene->many_netns && id == TABLE_PORTS && scene->state->n_columns == 0)
        put_first(layout, column_find(table, "netns"));
    for (size_t i = 0; i < layout->n; i++)
        layout->width[i] = (int)widest(canvas, scene, id, layout->columns[i], (size_t)(area.rows - 1));
    while (layout->n > 1 && total_width(layout) - spare_width(layout) > room_for(layout, area))
        drop_least(layout);
    for (int over; (over = total_width(layout) - room_for(layout, area)) > 0;)
        if (narrow(layout, over) == 0)
            break;
    int col = 1;
    for (size_t i = 0; i < layout->n; i++) {
        layout->col[i] = col;
        col += layout->width[i] + 1;
    }
}

static void draw_heading(struct canvas *canvas, int row, int cols, const struct layout *layout,
                         const struct scene *scene)
{
    char left[24];
    snprintf(left, sizeof(left), "+%zu", layout->left);
    if (layout->left)
        canvas_right(canvas, row, cols - LEFT_WIDTH, LEFT_WIDTH, ROLE_DIM, left);
    for (size_t i = 0; i < layout->n; i++) {
        const struct column *column = layout->columns[i];
        enum role role = column == scene->state->sort ? ROLE_SORTED : ROLE_HEADING;
        char title[64];
        format_title(title, sizeof(title), column, &scene->style);
        if (!format_is_right(column))
            canvas_text(canvas, row, layout->col[i], layout->width[i], role, title);
        else
            canvas_right(canvas, row, layout->col[i], layout->width[i], role, title);
    }
}

/* Draws at most rows lines; returns how many the row took. */
static int draw_row(struct canvas *canvas, int at, int rows, const struct layout *layout,
                    const struct scene *scene, enum table_id id, const struct frame_row *row)
{
    int most = 1;
    rows = rows < PROSE_LINES ? rows : PROSE_LINES;
    for (size_t i = 0; i < layout->n; i++) {
        const struct column *column = layout->columns[i];
        struct cell cell = scene_cell(scene, id, row, column);
        char text[512];
        scene_text(text, sizeof(text), scene, &cell, column);
        enum role role = scene_role(scene, &cell, column);
        int col = layout->col[i], width = layout->width[i], used = 1;
        if (is_prose(column))
            used = canvas_wrap(canvas, at, col, width, rows, role, text);
        else if (!format_is_right(column))
            canvas_text(canvas, at, col, width, role, text);
        else
            canvas_right(canvas, at, col, width, role, text);
        most = used > most ? used : most;
    }
    return most;
}

void table_line(struct table_state *state, size_t row)
{
    if (state->n_lines == state->lines_alloc) {
        state->lines_alloc = state->lines_alloc ? 2 * state->lines_alloc : 64;
        state->lines = xrealloc(state->lines, (size_t)state->lines_alloc, sizeof(*state->lines));
    }
    state->lines[state->n_lines++] = row;
}

void table_scroll(struct table_state *state, size_t shown)
{
    if (state->cursor < state->top)
        state->top = state->cursor;
    if (state->cursor >= state->top + shown)
        state->top = state->cursor - shown + 1;
    if (state->top + shown > state->n_rows)
        state->top = state->n_rows > shown ? state->n_rows - shown : 0;
}

bool table_has_remark(const struct table_state *state, size_t shown)
{
    return state->n_idle || state->n_filtered || state->n_rows == 0 || state->n_rows > shown;
}

void table_remark(struct canvas *canvas, int row, struct area area, const struct table_state *state)
{
    size_t shown = state->n_lines ? state->lines[state->n_lines - 1] + 1 : state->top;
    size_t below = state->n_rows > shown ? state->n_rows - shown : 0;
    char text[512] = "";
    int n = 0, size = sizeof(text);
    if (row >= area.top + area.rows)
        return;
    if (below)
        n += snprintf(text + n, (size_t)(size - n), "%zu more below", below);
    if (state->n_idle)
        n += snprintf(text + n, (size_t)(size - n), "%s%zu%s idle (z)", n ? ", " : "", state->n_idle,
                      n ? "" : " more");
    if (state->n_filtered)
        n += snprintf(text + n, (size_t)(size - n), "%s%zu left out by the filter %.100s (\\)", n ? ", " : "",
                      state->n_filtered, state->filter_text);
    if (n == 0 && state->n_rows == 0)
        snprintf(text, sizeof(text), "%s",
                 state->empty ? state->empty : "nothing of this kind here; Sources says what is read");
    canvas_text(canvas, row, 1, area.cols - 1, ROLE_DIM, text);
}

/* Draws rows from the first shown on, until the area is full; true when the cursor's is whole. */
static bool draw_rows(struct canvas *canvas, struct area area, const struct layout *layout,
                      const struct scene *scene, enum table_id id)
{
    struct table_state *state = scene->state;
    int at = area.top, end = area.top + area.rows;
    bool seen = state->n_rows == 0 || state->unselected;
    state->n_lines = 0;
    for (size_t i = state->top; i < state->n_rows && at < end; i++) {
        int used = draw_row(canvas, at, end - at, layout, scene, id, state->rows[i]);
        if (i == state->cursor && !state->unselected) { /* drawn below the screen: measured */
            canvas_select(canvas, at, 0, area.cols);
            seen = draw_row(canvas, canvas->rows, PROSE_LINES, layout, scene, id, state->rows[i]) <= end - at;
        }
        for (int line = 0; line < used; line++)
            table_line(state, i);
        at += used;
    }
    return seen;
}

int table_lines(const struct table_state *state, enum table_id id)
{
    const struct column *columns[MAX_VIEW_COLUMNS];
    size_t n = table_columns(state, table_get(id), columns, MAX_VIEW_COLUMNS);
    for (size_t i = 0; i < n; i++)
        if (is_prose(columns[i]))
            return (int)state->n_rows * PROSE_LINES;
    return (int)state->n_rows;
}

void table_draw(struct canvas *canvas, struct area area, const struct scene *scene, enum table_id id)
{
    struct table_state *state = scene->state;
    if (area.rows < 2)
        return;
    struct area body = {area.top + 1, area.rows - 1, area.cols};
    body.rows -= table_has_remark(state, (size_t)body.rows);
    body.rows = body.rows ? body.rows : 1;
    table_scroll(state, (size_t)body.rows);
    struct layout layout;
    lay_out(&layout, canvas, area, scene, id);
    draw_heading(canvas, area.top, area.cols, &layout, scene);
    while (!draw_rows(canvas, body, &layout, scene, id) && state->top < state->cursor) {
        state->top++; /* rows of several lines pushed it out */
        for (int i = 0; i < body.rows; i++)
            canvas_fill(canvas, body.top + i, 0, area.cols, ROLE_TEXT, " ");
    }
    table_remark(canvas, body.top + state->n_lines, area, state);
}

const struct column *table_column_at(const struct canvas *canvas, struct area area, const struct scene *scene,
                                     enum table_id id, int col)
{
    struct layout layout;
    lay_out(&layout, canvas, area, scene, id);
    for (size_t i = 0; i < layout.n; i++)
        if (col >= layout.col[i] && col < layout.col[i] + layout.width[i])
            return layout.columns[i];
    return NULL;
}
