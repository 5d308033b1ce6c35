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

#define MINUTE_NS     INT64_C(60000000000)
#define MOST_POINTS   1024
#define WORTH_TELLING 0.7

static void add(struct plot *plots, size_t *n, enum table_id table, const struct frame_row *row,
                const char *key, const char *label, enum role role)
{
    if (row)
        plots[(*n)++] = (struct plot){table, row->key, column_find(table_get(table), key), label, role};
}

/* Whose path it is, for its words. */
enum whose { OF_GUEST, OF_HOST, OF_PEER };

static enum whose whose_is(const struct frame_row *path, const struct frame_row *port)
{
    return !join_is_port_path(path) ? OF_GUEST : join_leads_out(port) ? OF_HOST : OF_PEER;
}

size_t view_path_plots(const struct scene *scene, const struct frame_row *path, struct plot *plots)
{
    size_t n = 0;
    const struct frame_row *port = path ? join_port_of_path(scene->frame, path) : NULL;
    if (!port)
        return 0;
    static const char *const labels[][3] = {
        [OF_GUEST] = {"to guest pps", "from guest pps", "to guest loss"},
        [OF_HOST] = {"received pps", "sent pps", "receive loss"},
        [OF_PEER] = {"to peer pps", "from peer pps", "to peer loss"},
    };
    const char *const *label = labels[whose_is(path, port)];
    bool faces = join_port_faces_guest(scene->frame, port);
    struct serving serving = join_serving(scene->frame, path);
    add(plots, &n, TABLE_PORTS, port, faces ? "tx_pps" : "rx_pps", label[0], ROLE_TX);
    add(plots, &n, TABLE_PORTS, port, faces ? "rx_pps" : "tx_pps", label[1], ROLE_RX);
    add(plots, &n, TABLE_PORTS, port, faces ? "tx_loss_pct" : "rx_loss_pct", label[2], ROLE_LOSS);
    add(plots, &n, TABLE_THREADS, join_worst_vcpu(scene->frame, join_vm_of_path(scene->frame, path)),
        "steal_pct", "vCPU steal", ROLE_LOSS);
    if (serving.pmd)
        add(plots, &n, TABLE_PMDS, serving.pmd, "busy_pct", "pmd busy", ROLE_CPU);
    else
        add(plots, &n, TABLE_THREADS, serving.thread, "run_pct", "server run", ROLE_CPU);
    return n;
}

/* The last minute in steps of a second, or of the interval where that is longer. */
struct minute {
    int64_t step_ms;
    int n;
};

static struct minute minute_of(const struct scene *scene)
{
    struct minute minute = {.step_ms = scene->interval_ms > 1000 ? scene->interval_ms : 1000};
    minute.n = (int)(60000 / minute.step_ms);
    return minute;
}

/* Moments that the last minute has, and the one before it: its value's interval may begin there. */
static size_t moments_of(const struct scene *scene)
{
    int64_t start_ns = scene->frame->now_ns - MINUTE_NS;
    size_t n = 0;
    while (n <= scene->moment && n < MOST_POINTS &&
           (n == 0 || store_moment_ns(scene->store, scene->moment + 1 - n) > start_ns))
        n++;
    return n;
}

static void values_of(const struct scene *scene, const struct plot *plot, const struct minute *minute,
                      double *values)
{
    size_t most = moments_of(scene);
    struct point *points = xrealloc(NULL, most, sizeof(*points));
    struct graph_point *graph = xrealloc(NULL, most, sizeof(*graph));
    size_t n = store_series(scene->store, plot->table, plot->key, plot->column, scene->moment, most, points);
    for (size_t i = 0; i < n; i++)
        graph[i] = (struct graph_point){points[i].t_ns, graph_value(&points[i].cell)};
    int64_t now_ns = scene->frame->now_ns;
    graph_resample(graph, n, now_ns - minute->n * minute->step_ms * 1000000, now_ns, GRAPH_MEAN, values,
                   minute->n);
    free(points);
    free(graph);
}

/* Does the loss move with that cause? lag_s: so long behind it. */
static bool moves_with(const struct scene *scene, const struct plot *loss, const struct plot *cause,
                       double *r, double *lag_s)
{
    struct minute minute = minute_of(scene);
    double a[60], b[60];
    int lag;
    values_of(scene, cause, &minute, a);
    values_of(scene, loss, &minute, b);
    if (!correlate(a, b, (size_t)minute.n, 5, r, &lag) || *r < WORTH_TELLING)
        return false;
    *lag_s = (double)(lag * minute.step_ms) / 1000;
    return true;
}

static int draw_correlation(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                            const struct frame_row *path)
{
    struct plot plots[MAX_PLOTS];
    size_t n = view_path_plots(scene, path, plots);
    for (size_t i = 3; i < n; i++) {
        double r, lag_s;
        char lag[48] = "";
        if (!moves_with(scene, &plots[2], &plots[i], &r, &lag_s))
            continue;
        if (lag_s > 0)
            snprintf(lag, sizeof(lag), ", %.1f s behind it", lag_s);
        else if (lag_s < 0)
            snprintf(lag, sizeof(lag), ", %.1f s before it", -lag_s);
        canvas_textf(canvas, row++, 1, area.cols - 1, ROLE_MESSAGE,
                     "loss moves with %s: r %.2f over the last minute%s", plots[i].label, r, lag);
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
        double share = hop->in > 0 ? 100 * hop->dropped / hop->in : 0;
        snprintf(text, sizeof(text), "-");
        if (!isnan(hop->dropped)) /* what is there is not written as zero */
            snprintf(text, sizeof(text), share != 0 && fabs(share) < 0.05 ? "%.2g%%" : "%.1f%%", share);
        canvas_right(canvas, row, 40, 9, fabs(hop->dropped) > 0.005 * hop->in ? ROLE_WATCH : ROLE_DIM, text);
    } else {
        put_rate(canvas, row, 20, ROLE_TEXT, scene, hop->in);
        put_rate(canvas, row, 30, ROLE_TEXT, scene, hop->out);
        put_rate(canvas, row, 40, loses ? ROLE_BAD : ROLE_DIM, scene, hop->dropped);
    }
    if (loses)
        canvas_text(canvas, row, 49, 1, ROLE_BAD, "!");
    int room = area.cols - 51 - (hop->loses_most ? 4 : 0); /* what marks the worst always has its own */
    int col = canvas_text(canvas, row, 51, room, ROLE_TEXT, hop->cause) + 2;
    if (!isnan(hop->age_s) && area.cols >= 100) {
        format_duration(age, sizeof(age), hop->age_s);
        col = canvas_textf(canvas, row, col, area.cols - col, ROLE_DIM, "%s old", age) + 2;
    }
    if (hop->loses_most)
        canvas_text(canvas, row, col, area.cols - col, ROLE_BAD,
                    area.cols - col > (int)strlen("<- loses most") ? "<- loses most" : "<-");
}

static int draw_direction(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                          const struct frame *wide, const struct frame_row *port, enum whose whose,
                          bool to_guest)
{
    static const char *const headings[][2] = {
        [OF_GUEST] = {"FROM GUEST", "TO GUEST"},
        [OF_HOST] = {"SENT", "RECEIVED"},
        [OF_PEER] = {"FROM PEER", "TO PEER"},
    };
    struct hop hops[LEDGER_HOPS];
    size_t n = ledger_make(wide, port, to_guest, hops);
    canvas_text(canvas, row, 1, 18, ROLE_HEADING, headings[whose][to_guest]);
    canvas_right(canvas, row, 20, 9, ROLE_HEADING, "in/s");
    canvas_right(canvas, row, 30, 9, ROLE_HEADING, "out/s");
    canvas_right(canvas, row, 40, 9, ROLE_HEADING, "dropped/s");
    canvas_textf(canvas, row++, 51, area.cols - 51, ROLE_HEADING, "cause (mean of the last %.0f s)",
                 part_interval_s(&port->part));
    for (size_t i = 0; i < n && row < area.top + area.rows; i++)
        draw_hop(canvas, row++, area, scene, &hops[i]);
    return row;
}

int view_path_ledger(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                     const struct frame_row *path)
{
    const struct frame_row *port = join_port_of_path(scene->frame, path);
    enum whose whose = port ? whose_is(path, port) : OF_GUEST;
    struct frame *wide = port ? ledger_frame(scene->store, scene->moment) : NULL;
    row = draw_correlation(canvas, row, area, scene, path);
    port = wide ? frame_find(wide, TABLE_PORTS, port->key) : NULL;
    if (port) {
        row = draw_direction(canvas, row + 1, area, scene, wide, port, whose, true);
        row = draw_direction(canvas, row + 1, area, scene, wide, port, whose, false);
    }
    frame_free(wide);
    return row;
}
