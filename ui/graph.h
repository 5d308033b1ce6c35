/* SPDX-License-Identifier: MIT */
/*
 * Sparklines, and graphs that share one time axis so that cause and effect line up. Pure functions of
 * (points, time window) to a canvas. A point's value holds for the time since the point before it, as a rate
 * does; where there is no value (NaN) nothing is drawn: a gap is not a zero. Zero is drawn as the base line.
 */
#ifndef VNETTOP_GRAPH_H
#define VNETTOP_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "src/frame.h"
#include "ui/canvas.h"

struct graph_point {
    int64_t t_ns; /* CLOCK_MONOTONIC, rising */
    double value; /* NaN: none */
};

/* How several points become one column: a spike of loss must not be averaged away. */
enum graph_reduce { GRAPH_MEAN, GRAPH_MAX };

/* The time axis that graphs share, and where they stand on the canvas. */
struct graph_axis {
    int col;               /* where names start; the scale ends at plot_col - 2, then a `│` */
    int plot_col;          /* first cell of the plot */
    int width;             /* cells of the plot */
    int64_t start_ns;      /* left edge */
    int64_t end_ns;        /* right edge */
    const char *end_label; /* "now", or a time of day when stepping back */
};

struct graph {
    const char *name;       /* "pps" */
    enum role role;         /* colour of the plot */
    double full;            /* top of the scale; see graph_full */
    const char *full_label; /* "600k", "20%" */
};

/* A cell as a graph's value: NaN when it is no number. */
double graph_value(const struct cell *cell);

/* Value of each of the window's n columns, NaN where no point says anything. */
void graph_resample(const struct graph_point *points, size_t n_points, int64_t start_ns, int64_t end_ns,
                    enum graph_reduce reduce, double *columns, int n);

/* A readable top of scale (1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten) not below any value nor least. */
double graph_full(const double *values, int n, double least);

/* The last width values in one row, right-aligned: the newest stands at the right edge. max <= 0: the
 * greatest of them. */
void graph_spark(struct canvas *canvas, int row, int col, int width, enum role role, const double *values,
                 int n, double max);

/* Names, scale and plot in rows lines from row on; columns as made by graph_resample for axis->width. */
void graph_plot(struct canvas *canvas, int row, int rows, const struct graph_axis *axis,
                const struct graph *graph, const double *columns);

/* One line: -60s ... -30s ... now. */
void graph_time_labels(struct canvas *canvas, int row, const struct graph_axis *axis);

struct graph_mark {
    int64_t t_ns;
    const char *text;
};

/* `^ text` under each mark in the window, in at most rows lines; newest marks first get room. Returns the
 * lines used. */
int graph_marks(struct canvas *canvas, int row, int rows, const struct graph_axis *axis,
                const struct graph_mark *marks, size_t n);

#endif
