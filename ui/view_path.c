/* SPDX-License-Identifier: MIT */
/* The detail of a path (see view_path.h). */
#include "ui/view_path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/join.h"
#include "src/ledger.h"
#include "src/memory.h"
#include "ui/graph.h"

#define CORRELATE_POINTS    120
#define CORRELATE_WINDOW_NS INT64_C(60000000000)
#define WORTH_TELLING       0.7

static void add(struct plot *plots, size_t *n, enum table_id table, const struct frame_row *row,
                const char *key, const char *label, enum role role)
{
    if (row)
        plots[(*n)++] = (struct plot){table, row->key, column_find(table_get(table), key), label, role};
}

size_t view_path_plots(const struct scene *scene, const struct frame_row *path, struct plot *plots)
{
    size_t n = 0;
    const struct frame_row *port = path ? join_port_of_path(scene->frame, path) : NULL;
    if (!port)
        return 0;
    bool faces = join_port_faces_guest(scene->frame, port);
    struct serving serving = join_serving(scene->frame, path);
    add(plots, &n, TABLE_PORTS, port, faces ? "tx_pps" : "rx_pps", "to guest pps", ROLE_TX);
    add(plots, &n, TABLE_PORTS, port, faces ? "rx_pps" : "tx_pps", "from guest pps", ROLE_RX);
    add(plots, &n, TABLE_PORTS, port, faces ? "tx_loss_pct" : "rx_loss_pct", "to guest loss", ROLE_LOSS);
    add(plots, &n, TABLE_THREADS, join_worst_vcpu(scene->frame, join_vm_of_path(scene->frame, path)),
        "steal_pct", "vCPU steal", ROLE_LOSS);
    if (serving.pmd)
        add(plots, &n, TABLE_PMDS, serving.pmd, "busy_pct", "pmd busy", ROLE_CPU);
    else
        add(plots, &n, TABLE_THREADS, serving.thread, "run_pct", "server run", ROLE_CPU);
    return n;
}

/* A plot's values at the moments of the last minute. */
static size_t values_of(const struct scene *scene, const struct plot *plot, double *values)
{
    struct point points[CORRELATE_POINTS];
    size_t n = store_series(scene->store, plot->table, plot->key, plot->column, scene->moment,
                            CORRELATE_POINTS, points);
    for (size_t i = 0; i < n; i++) {
        bool recent = scene->frame->now_ns - points[i].t_ns <= CORRELATE_WINDOW_NS;
        values[i] = recent ? graph_value(&points[i].cell) : NAN;
    }
    return n;
}

static bool moves_with(const struct scene *scene, const struct plot *loss, const struct plot *cause,
                       double *r, double *lag_s)
{
    double a[CORRELATE_POINTS], b[CORRELATE_POINTS];
    int lag;
    size_t n = values_of(scene, loss, a);
    if (values_of(scene, cause, b) != n || !correlate(b, a, n, 5, r, &lag) || *r < WORTH_TELLING)
        return false;
    *lag_s = lag * (double)scene->interval_ms / 1000;
    return true;
}

static int draw_correlation(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                            const struct frame_row *path)
{
    struct plot plots[MAX_PLOTS];
    size_t n = view_path_plots(scene, path, plots);
    for (size_t i = 3; i < n; i++) {
        double r, lag_s;
        if (!moves_with(scene, &plots[2], &plots[i], &r, &lag_s))
            continue;
        canvas_textf(canvas, row++, 1, area.cols - 1, ROLE_MESSAGE,
                     "loss follows %s: r %.2f over the last minute, lag %.1f s", plots[i].label, r, lag_s);
    }
    return row;
}

static void put_rate(struct canvas *canvas, int row, int col, enum role role, const struct scene *scene,
                     double value)
{
    char text[FORMAT_SIZE];
    if (isnan(value))
        snprintf(text, sizeof(text), "-");
    else if (scene->style.units == UNITS_EXACT)
        format_exact(text, sizeof(text), value);
    else
        format_scaled(text, sizeof(text), value);
    canvas_right(canvas, row, col, 9, role, text);
}

static void draw_hop(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                     const struct hop *hop)
{
    bool loses = hop->dropped > 0 && !hop->unaccounted;
    char text[256], age[FORMAT_SIZE];
    canvas_text(canvas, row, 1, 18, ROLE_TEXT, hop->name);
    if (hop->unaccounted) {
        snprintf(text, sizeof(text), "%.1f%%", hop->in > 0 ? 100 * hop->dropped / hop->in : 0);
        canvas_right(canvas, row, 40, 9, fabs(hop->dropped) > 0.005 * hop->in ? ROLE_WATCH : ROLE_DIM, text);
    } else {
        put_rate(canvas, row, 20, ROLE_TEXT, scene, hop->in);
        put_rate(canvas, row, 30, ROLE_TEXT, scene, hop->out);
        put_rate(canvas, row, 40, loses ? ROLE_BAD : ROLE_DIM, scene, hop->dropped);
    }
    if (loses)
        canvas_text(canvas, row, 49, 1, ROLE_BAD, "!");
    int col = canvas_text(canvas, row, 51, area.cols - 51, ROLE_TEXT, hop->cause) + 2;
    if (!isnan(hop->age_s) && area.cols >= 100) {
        format_duration(age, sizeof(age), hop->age_s);
        col = canvas_textf(canvas, row, col, area.cols - col, ROLE_DIM, "%s old", age) + 2;
    }
    if (hop->loses_most)
        canvas_text(canvas, row, col, area.cols - col, ROLE_BAD, "<- loses most");
}

static int draw_direction(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                          const struct frame_row *path, bool to_guest)
{
    struct hop hops[LEDGER_HOPS];
    size_t n = ledger_make(scene->store, scene->moment, scene->frame, path, to_guest, hops);
    if (n == 0)
        return row;
    canvas_text(canvas, row, 1, 18, ROLE_HEADING, to_guest ? "TO GUEST" : "FROM GUEST");
    canvas_right(canvas, row, 20, 9, ROLE_HEADING, "in/s");
    canvas_right(canvas, row, 30, 9, ROLE_HEADING, "out/s");
    canvas_right(canvas, row, 40, 9, ROLE_HEADING, "dropped/s");
    canvas_text(canvas, row++, 51, area.cols - 51, ROLE_HEADING, "cause (mean of the last 10 s)");
    for (size_t i = 0; i < n && row < area.top + area.rows; i++)
        draw_hop(canvas, row++, area, scene, &hops[i]);
    return row;
}

int view_path_ledger(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                     const struct frame_row *path)
{
    row = draw_correlation(canvas, row, area, scene, path);
    row = draw_direction(canvas, row + 1, area, scene, path, true);
    return draw_direction(canvas, row + 1, area, scene, path, false);
}
