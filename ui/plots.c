/* SPDX-License-Identifier: MIT */
/* Graphs on one time axis (see plots.h). */
#include "ui/plots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"
#include "ui/graph.h"

#define MAX_POINTS 4096
#define NS_PER_S   INT64_C(1000000000)

enum role plot_role(const struct column *column)
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

/* Moments that the axis shows, and the one before them. */
static size_t points_of(const struct scene *scene, const struct graph_axis *axis)
{
    size_t n = 0;
    while (n <= scene->moment && n < MAX_POINTS &&
           (n == 0 || store_moment_ns(scene->store, scene->moment + 1 - n) > axis->start_ns))
        n++;
    return n;
}

static void draw_graph(struct canvas *canvas, int row, int rows, const struct graph_axis *axis,
                       const struct scene *scene, const struct plot *plot, struct series *series)
{
    const struct column *column = plot->column;
    size_t n = store_series(scene->store, plot->table, plot->key, column, scene->moment,
                            points_of(scene, axis), series->points);
    for (size_t i = 0; i < n; i++)
        series->graph[i] = (struct graph_point){series->points[i].t_ns, graph_value(&series->points[i].cell)};
    enum role role = plot->role;
    graph_resample(series->graph, n, axis->start_ns, axis->end_ns, role == ROLE_LOSS ? GRAPH_MAX : GRAPH_MEAN,
                   series->columns, axis->width);
    bool percent = column->unit == UNIT_PCT;
    double full = percent ? 100 : graph_full(series->columns, axis->width, 10);
    char label[FORMAT_SIZE + 2], title[64];
    format_value(label, sizeof(label) - 1, full, column, &scene->style);
    if (percent)
        strcat(label, "%");
    format_title(title, sizeof(title), column, &scene->style);
    const struct graph graph = {
        .name = plot->label ? plot->label : title, .role = role, .full = full, .full_label = label};
    graph_plot(canvas, row, rows, axis, &graph, series->columns);
    struct cell now = n ? series->points[n - 1].cell : (struct cell){.kind = CELL_NONE};
    char text[FORMAT_SIZE];
    format_cell(text, sizeof(text), &now, column, &scene->style);
    canvas_right(canvas, row + rows - 1, axis->plot_col + axis->width + 1, 8, format_role(&now, column),
                 text);
}

static struct graph_axis make_axis(const struct area *area, const struct scene *scene)
{
    struct graph_axis axis = {.col = 1, .plot_col = 22, .end_ns = scene->frame->now_ns, .end_label = "now"};
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

int plots_draw(struct canvas *canvas, struct area area, const struct scene *scene, const struct plot *plots,
               size_t n)
{
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
        draw_graph(canvas, row, height, &axis, scene, &plots[i], &series);
    free(series.points);
    free(series.graph);
    free(series.columns);
    graph_time_labels(canvas, row++, &axis);
    return row + draw_marks(canvas, row, 2, &axis, scene);
}
