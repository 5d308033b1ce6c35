/* SPDX-License-Identifier: MIT */
/*
 * The detail of one row: its hot columns as graphs on one shared time axis with the marks under it, so that
 * cause and effect line up, then every number that its sources tell, the counters beside their rates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"
#include "ui/graph.h"
#include "ui/views.h"

#define MAX_GRAPHS 6
#define MAX_POINTS 4096
#define NS_PER_S   INT64_C(1000000000)

static size_t hot_columns(const struct table *table, const struct column **hot)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n_columns && n < MAX_GRAPHS; i++)
        if (table->columns[i].flags & COL_HOT)
            hot[n++] = &table->columns[i];
    return n;
}

static enum role graph_role(const struct column *column)
{
    if (column->unit == UNIT_PCT)
        return strstr(column->key, "steal") || strstr(column->key, "loss") ? ROLE_LOSS : ROLE_CPU;
    if (strstr(column->key, "drop"))
        return ROLE_LOSS;
    return strncmp(column->key, "tx", 2) == 0 ? ROLE_TX : ROLE_RX;
}

struct series {
    struct point *points;
    struct graph_point *graph;
    double *columns;
};

static void draw_graph(struct canvas *canvas, int row, int rows, const struct graph_axis *axis,
                       const struct scene *scene, enum table_id table, const char *key,
                       const struct column *column, struct series *series)
{
    size_t n = store_series(scene->store, table, key, column, scene->moment, MAX_POINTS, series->points);
    for (size_t i = 0; i < n; i++)
        series->graph[i] = (struct graph_point){series->points[i].t_ns, graph_value(&series->points[i].cell)};
    enum role role = graph_role(column);
    graph_resample(series->graph, n, axis->start_ns, axis->end_ns, role == ROLE_LOSS ? GRAPH_MAX : GRAPH_MEAN,
                   series->columns, axis->width);
    bool percent = column->unit == UNIT_PCT;
    double full = percent ? 100 : graph_full(series->columns, axis->width, 10);
    char label[FORMAT_SIZE + 2], title[64];
    format_value(label, sizeof(label) - 1, full, column, &scene->style);
    if (percent)
        strcat(label, "%");
    format_title(title, sizeof(title), column, &scene->style);
    const struct graph graph = {.name = title, .role = role, .full = full, .full_label = label};
    graph_plot(canvas, row, rows, axis, &graph, series->columns);
    struct cell now = n ? series->points[n - 1].cell : (struct cell){.kind = CELL_NONE};
    char text[FORMAT_SIZE];
    format_cell(text, sizeof(text), &now, column, &scene->style);
    canvas_right(canvas, row + rows - 1, axis->plot_col + axis->width + 1, 8, format_role(&now, column),
                 text);
}

static struct graph_axis make_axis(const struct area *area, const struct scene *scene)
{
    struct graph_axis axis = {.col = 1, .plot_col = 20, .end_ns = scene->frame->now_ns, .end_label = "now"};
    axis.width = area->cols - axis.plot_col - 10;
    int64_t window_ns = axis.width * scene->interval_ms * 1000000;
    axis.start_ns = axis.end_ns - (window_ns > 60 * NS_PER_S ? window_ns : 60 * NS_PER_S);
    if (scene->moment + 1 < store_moments(scene->store))
        axis.end_label = "then";
    return axis;
}

static int draw_marks(struct canvas *canvas, int row, int rows, const struct graph_axis *axis,
                      const struct scene *scene)
{
    struct graph_mark *marks = xrealloc(NULL, scene->n_marks, sizeof(*marks));
    for (size_t i = 0; i < scene->n_marks; i++)
        marks[i] = (struct graph_mark){.t_ns = scene->marks[i].t_ns, .text = scene->marks[i].text};
    int used = graph_marks(canvas, row, rows, axis, marks, scene->n_marks);
    free(marks);
    return used;
}

static int draw_graphs(struct canvas *canvas, struct area area, const struct scene *scene,
                       enum table_id table, const char *key)
{
    const struct column *hot[MAX_GRAPHS];
    size_t n = hot_columns(table_get(table), hot);
    struct graph_axis axis = make_axis(&area, scene);
    if (n == 0 || axis.width < 10)
        return area.top;
    int height = (area.rows / 2) / (int)n, row = area.top;
    height = height < 1 ? 1 : height > 4 ? 4 : height;
    struct series series = {
        .points = xrealloc(NULL, MAX_POINTS, sizeof(struct point)),
        .graph = xrealloc(NULL, MAX_POINTS, sizeof(struct graph_point)),
        .columns = xrealloc(NULL, (size_t)axis.width, sizeof(double)),
    };
    for (size_t i = 0; i < n && row + height < area.top + area.rows; i++, row += height)
        draw_graph(canvas, row, height, &axis, scene, table, key, hot[i], &series);
    free(series.points);
    free(series.graph);
    free(series.columns);
    graph_time_labels(canvas, row++, &axis);
    return row + draw_marks(canvas, row, 2, &axis, scene);
}

/* The rate that is made of a counter, to stand beside it. */
static const struct column *rate_of(const struct table *table, const struct column *counter)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        if (column->where == DERIVED && counter->where == IN_ROW && column->offset == counter->offset)
            return column;
    }
    return NULL;
}

struct number {
    const struct column *column;
    struct cell cell;
};

static bool is_worth_a_line(const struct column *column, const struct cell *cell)
{
    if (cell->kind == CELL_NONE || (cell->kind == CELL_STR && (!cell->str || !*cell->str)))
        return false;
    return column->where != DERIVED;
}

static size_t collect_numbers(const struct scene *scene, enum table_id id, const struct frame_row *row,
                              struct number *numbers)
{
    const struct table *table = table_get(id);
    size_t n = 0;
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        struct cell cell = frame_cell(scene->frame, row, column);
        if (is_worth_a_line(column, &cell))
            numbers[n++] = (struct number){column, cell};
    }
    return n;
}

static void draw_number(struct canvas *canvas, int at, int col, int width, const struct scene *scene,
                        enum table_id id, const struct frame_row *row, const struct number *number)
{
    const struct format_style exact = {.units = UNITS_EXACT};
    const struct column *rate = rate_of(table_get(id), number->column);
    char text[512];
    canvas_text(canvas, at, col, 20, ROLE_HEADING, number->column->key);
    format_cell(text, sizeof(text), &number->cell, number->column, &exact);
    if (number->cell.kind == CELL_STR) {
        canvas_text(canvas, at, col + 21, width - 21, ROLE_TEXT, text);
        return;
    }
    enum role zero = cell_is_number(&number->cell) && cell_number(&number->cell) == 0 ? ROLE_DIM : ROLE_TEXT;
    canvas_right(canvas, at, col + 21, 14, zero, text);
    if (!rate || width < 46)
        return;
    struct cell cell = scene_cell(scene, id, row, rate);
    scene_text(text, sizeof(text), scene, &cell, rate);
    canvas_right(canvas, at, col + 36, 8, scene_role(scene, &cell, rate), text);
    canvas_text(canvas, at, col + 45, width - 45, ROLE_DIM, rate->unit == UNIT_PCT ? "%" : "/s");
}

static size_t draw_numbers(struct canvas *canvas, int top, struct area area, const struct scene *scene,
                           enum table_id id, const struct frame_row *row, size_t scroll)
{
    struct number *numbers = xrealloc(NULL, table_get(id)->n_columns, sizeof(*numbers));
    size_t n = collect_numbers(scene, id, row, numbers);
    int per_line = area.cols >= 150 ? 3 : area.cols >= 100 ? 2 : 1, width = area.cols / per_line - 1;
    size_t lines = (n + (size_t)per_line - 1) / (size_t)per_line;
    for (size_t line = scroll; line < lines && top + (int)(line - scroll) < area.top + area.rows; line++) {
        for (int c = 0; c < per_line; c++) {
            size_t i = line + (size_t)c * lines;
            if (i < n)
                draw_number(canvas, top + (int)(line - scroll), 1 + c * (width + 1), width, scene, id, row,
                            &numbers[i]);
        }
    }
    free(numbers);
    return lines;
}

size_t view_detail_draw(struct canvas *canvas, struct area area, const struct scene *scene,
                        enum table_id table, const char *key, size_t scroll)
{
    const struct frame_row *row = frame_find(scene->frame, table, key);
    int top = draw_graphs(canvas, area, scene, table, key);
    if (!row) {
        canvas_text(canvas, top + 1, 1, area.cols - 1, ROLE_MESSAGE,
                    "gone: it does not exist at this moment (Esc goes back)");
        return 0;
    }
    return draw_numbers(canvas, top + 1, area, scene, table, row, scroll);
}
