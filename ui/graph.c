/* SPDX-License-Identifier: MIT */
/* Sparklines and graphs on a shared time axis (see graph.h). */
#include "ui/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define MARK_ROWS_MAX 8
#define LABEL_CELLS   14 /* least distance between two labels of the time axis */
#define NS_PER_S      INT64_C(1000000000)
#define BASE_EIGHTHS  1 /* zero */
#define LEAST_EIGHTHS 2 /* anything above zero */

double graph_value(const struct cell *cell)
{
    return cell_is_number(cell) ? cell_number(cell) : NAN;
}

/* Left border of a column, exact in ns. */
static int64_t column_start(int64_t start_ns, int64_t span_ns, int column, int n)
{
    return start_ns + span_ns / n * column + span_ns % n * column / n;
}

struct gather {
    double *values;  /* sum or maximum so far */
    double *weights; /* ns that values say something about */
    int n;
    int64_t start_ns, span_ns;
    enum graph_reduce reduce;
};

/* Adds a value that holds in (from, to]. A column takes it only when it covers half of the column or lies in
 * it by half: else the jitter of the ticks would smear a spike over its neighbours and into gaps. */
static void gather_point(struct gather *gather, int64_t from, int64_t to, double value)
{
    double per_ns = (double)gather->n / (double)gather->span_ns;
    int first = from <= gather->start_ns ? 0 : (int)((double)(from - gather->start_ns) * per_ns) - 1;

    for (int i = first < 0 ? 0 : first; i < gather->n; i++) {
        int64_t left = column_start(gather->start_ns, gather->span_ns, i, gather->n);
        int64_t right = column_start(gather->start_ns, gather->span_ns, i + 1, gather->n);
        if (left >= to)
            break;
        int64_t overlap = (right < to ? right : to) - (left > from ? left : from);
        int64_t shorter = right - left < to - from ? right - left : to - from;
        if (overlap <= 0 || overlap * 2 < shorter)
            continue;
        if (gather->reduce == GRAPH_MEAN)
            gather->values[i] += value * (double)overlap;
        else if (gather->weights[i] == 0 || value > gather->values[i])
            gather->values[i] = value;
        gather->weights[i] += (double)overlap;
    }
}

void graph_resample(const struct graph_point *points, size_t n_points, int64_t start_ns, int64_t end_ns,
                    enum graph_reduce reduce, double *columns, int n)
{
    if (n <= 0)
        return;
    for (int i = 0; i < n; i++)
        columns[i] = 0;
    struct gather gather = {columns, xzalloc((size_t)n * sizeof(double)), n, start_ns, end_ns - start_ns,
                            reduce};
    for (size_t i = 0; i < n_points && end_ns > start_ns; i++) {
        int64_t to = points[i].t_ns, from = i > 0 ? points[i - 1].t_ns : to - 1;
        if (isfinite(points[i].value) && from < to && to > start_ns && from < end_ns)
            gather_point(&gather, from, to, points[i].value);
    }
    for (int i = 0; i < n; i++) {
        if (gather.weights[i] == 0)
            columns[i] = NAN;
        else if (reduce == GRAPH_MEAN)
            columns[i] /= gather.weights[i];
    }
    free(gather.weights);
}

static double greatest(const double *values, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(values[i]) && values[i] > max)
            max = values[i];
    return max;
}

double graph_full(const double *values, int n, double least)
{
    static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
    double max = greatest(values, n);
    if (least > max)
        max = least;
    if (!(max > 0) || max > 1e300)
        return max > 0 ? max : 1;
    double power = pow(10, floor(log10(max)));
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (steps[i] * power >= max * (1 - 1e-12))
            return steps[i] * power;
    return 10 * power;
}

/* Height of a value in eighths of a cell, 0 for none. */
static int eighths_of(double value, double full, int rows)
{
    if (!isfinite(value))
        return 0;
    if (!(value > 0) || !(full > 0))
        return BASE_EIGHTHS;
    double height = value < full ? value / full * rows * 8 : rows * 8;
    return height < LEAST_EIGHTHS ? LEAST_EIGHTHS : (int)lround(height);
}

void graph_spark(struct canvas *canvas, int row, int col, int width, enum role role, const double *values,
                 int n, double max)
{
    if (width <= 0 || n <= 0)
        return;
    int shown = n < width ? n : width;
    values += n - shown;
    if (!(max > 0))
        max = greatest(values, shown);
    for (int i = 0; i < shown; i++) {
        int eighths = eighths_of(values[i], max, 1);
        canvas_fill(canvas, row, col + width - shown + i, 1, eighths > BASE_EIGHTHS ? role : ROLE_DIM,
                    canvas_level(canvas, eighths));
    }
}

void graph_plot(struct canvas *canvas, int row, int rows, const struct graph_axis *axis,
                const struct graph *graph, const double *columns)
{
    int label_width = canvas_width(canvas, graph->full_label);
    canvas_text(canvas, row, axis->col, axis->plot_col - 1 - axis->col - label_width, ROLE_TEXT, graph->name);
    canvas_right(canvas, row, axis->plot_col - 1 - label_width, label_width, ROLE_DIM, graph->full_label);
    if (rows > 2)
        canvas_right(canvas, row + rows - 1, axis->plot_col - 2, 1, ROLE_DIM, "0");

    for (int line = 0; line < rows; line++) {
        int below = (rows - 1 - line) * 8; /* eighths under this line */
        canvas_fill(canvas, row + line, axis->plot_col - 1, 1, ROLE_DIM, canvas->utf8 ? "│" : "|");
        for (int i = 0; i < axis->width; i++) {
            int eighths = eighths_of(columns[i], graph->full, rows);
            if (eighths > below)
                canvas_fill(canvas, row + line, axis->plot_col + i, 1,
                            eighths > BASE_EIGHTHS ? graph->role : ROLE_DIM,
                            canvas_level(canvas, eighths - below));
        }
    }
}

/* Cell of a moment in the window, counted from the plot's left edge. */
static int cell_of(const struct graph_axis *axis, int64_t t_ns)
{
    double share = (double)(t_ns - axis->start_ns) / (double)(axis->end_ns - axis->start_ns);
    int cell = (int)ceil(share * axis->width) - 1; /* a moment on a border ends the cell before it */
    return cell < 0 ? 0 : cell >= axis->width ? axis->width - 1 : cell;
}

static int64_t label_step_s(const struct graph_axis *axis)
{
    static const int64_t steps[] = {1,   2,    5,    10,   15,    30,    60,    120,   300,   600,
                                    900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800};
    double cells_per_s = axis->width * 1e9 / (double)(axis->end_ns - axis->start_ns);
    size_t i = 0;
    while (i + 1 < sizeof(steps) / sizeof(steps[0]) && (double)steps[i] * cells_per_s < LABEL_CELLS)
        i++;
    return steps[i];
}

static void age_label(char *out, size_t size, int64_t age_s, int64_t step_s)
{
    if (step_s % 3600 == 0)
        snprintf(out, size, "-%lldh", (long long)(age_s / 3600));
    else if (step_s % 60 == 0)
        snprintf(out, size, "-%lldm", (long long)(age_s / 60));
    else
        snprintf(out, size, "-%llds", (long long)age_s);
}

void graph_time_labels(struct canvas *canvas, int row, const struct graph_axis *axis)
{
    int free_to = axis->width - canvas_width(canvas, axis->end_label); /* cells before this one are free */

    canvas_right(canvas, row, axis->plot_col, axis->width, ROLE_DIM, axis->end_label);
    if (axis->end_ns <= axis->start_ns)
        return;
    int64_t step_s = label_step_s(axis), span_ns = axis->end_ns - axis->start_ns;
    for (int64_t age_s = step_s; age_s * NS_PER_S <= span_ns; age_s += step_s) {
        char text[24];
        age_label(text, sizeof(text), age_s, step_s);
        double share = 1 - (double)(age_s * NS_PER_S) / (double)span_ns;
        int at = (int)lround(share * axis->width); /* the cell that begins there */
        if (at + canvas_width(canvas, text) >= free_to)
            continue;
        canvas_text(canvas, row, axis->plot_col + at, free_to - at, ROLE_DIM, text);
        free_to = at;
    }
}

/* Draws one mark in a line whose cells before free_to are free; returns the cells now free, -1 for no room.
 */
static int draw_mark(struct canvas *canvas, int row, const struct graph_axis *axis, int at, int free_to,
                     const char *text)
{
    int width = canvas_width(canvas, text), col = axis->plot_col + at;

    if (at >= free_to)
        return -1;
    if (width == 0 || at + 2 + width < free_to || (free_to == axis->width && at + 2 + width == free_to)) {
        canvas_text(canvas, row, col, 1, ROLE_MARK, "^");
        canvas_text(canvas, row, col + 2, width, ROLE_MARK, text);
        return at;
    }
    if (free_to < axis->width || width + 1 > at)
        return -1;
    /* At the right edge the text stands before its mark. */
    canvas_text(canvas, row, col - 1 - width, width, ROLE_MARK, text);
    canvas_text(canvas, row, col, 1, ROLE_MARK, "^");
    return at - 1 - width;
}

int graph_marks(struct canvas *canvas, int row, int rows, const struct graph_axis *axis,
                const struct graph_mark *marks, size_t n)
{
    int free_to[MARK_ROWS_MAX], used = 0;

    rows = rows < MARK_ROWS_MAX ? rows : MARK_ROWS_MAX;
    for (int line = 0; line < rows; line++)
        free_to[line] = axis->width;
    for (size_t i = n; i-- > 0 && axis->end_ns > axis->start_ns;) {
        if (marks[i].t_ns <= axis->start_ns || marks[i].t_ns > axis->end_ns)
            continue;
        int at = cell_of(axis, marks[i].t_ns), left = -1, line = 0;
        while (line < rows &&
               (left = draw_mark(canvas, row + line, axis, at, free_to[line], marks[i].text)) < 0)
            line++;
        if (line < rows) {
            free_to[line] = left;
            used = line + 1 > used ? line + 1 : used;
        } else if (rows > 0 && at < free_to[rows - 1]) { /* no room for its text: the mark alone */
            free_to[rows - 1] = draw_mark(canvas, row + rows - 1, axis, at, free_to[rows - 1], "");
            used = rows;
        }
    }
    return used;
}
