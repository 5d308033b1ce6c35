/* SPDX-License-Identifier: MIT */
/*
 * The first screen: what carries traffic or loses it, with the last minute as a spark, then who uses the
 * CPUs. It must answer "how fast, where lost, whose fault" without a key.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/graph.h"
#include "ui/views.h"

#define SPARK_POINTS 60

static const struct column *port_column(const char *key)
{
    return column_find(table_get(TABLE_PORTS), key);
}

/* The line of a port: columns that stand one beside the other, each with the room it needs. */
struct field {
    const char *key; /* column; NULL = a spark of the column spark */
    const char *spark;
    const char *title;
    int width;
    int from; /* least screen width at which it is shown */
};

static const struct field fields[] = {
    {"name", NULL, "PORT", 15, 0},          {"kind", NULL, "KIND", 8, 0},
    {"switch", NULL, "SWITCH", 10, 90},     {"rx_pps", NULL, "RX PPS", 7, 0},
    {NULL, "rx_pps", "LAST MIN", 8, 100},   {"rx_bps", NULL, "BIT/S", 7, 0},
    {"rx_drop_pps", NULL, "DROP/S", 7, 0},  {"rx_loss_pct", NULL, "LOSS%", 6, 110},
    {"tx_pps", NULL, "TX PPS", 7, 0},       {NULL, "tx_pps", "LAST MIN", 8, 100},
    {"tx_bps", NULL, "BIT/S", 7, 0},        {"tx_drop_pps", NULL, "DROP/S", 7, 0},
    {"tx_loss_pct", NULL, "LOSS%", 6, 110},
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static bool is_shown(const struct field *field, const struct area *area)
{
    return area->cols >= field->from;
}

static void draw_spark(struct canvas *canvas, int row, int col, const struct field *field,
                       const struct scene *scene, const char *key)
{
    struct point points[SPARK_POINTS];
    struct graph_point graph[SPARK_POINTS];
    double columns[16];
    size_t n = store_series(scene->store, TABLE_PORTS, key, port_column(field->spark), scene->moment,
                            SPARK_POINTS, points);
    for (size_t i = 0; i < n; i++)
        graph[i] = (struct graph_point){points[i].t_ns, graph_value(&points[i].cell)};
    int64_t end = scene->frame->now_ns;
    graph_resample(graph, n, end - INT64_C(60000000000), end, GRAPH_MEAN, columns, field->width);
    enum role role = strncmp(field->spark, "rx", 2) == 0 ? ROLE_RX : ROLE_TX;
    graph_spark(canvas, row, col, field->width, role, columns, field->width, 0);
}

static void draw_port(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                      const struct frame_row *port)
{
    int col = 1;
    for (size_t i = 0; i < N_FIELDS; i++) {
        const struct field *field = &fields[i];
        if (!is_shown(field, &area))
            continue;
        if (field->spark) {
            draw_spark(canvas, row, col, field, scene, port->key);
        } else {
            const struct column *column = port_column(field->key);
            struct cell cell = scene_cell(scene, TABLE_PORTS, port, column);
            char text[512];
            scene_text(text, sizeof(text), scene, &cell, column);
            enum role role = scene_role(scene, &cell, column);
            if (format_is_right(column))
                canvas_right(canvas, row, col, field->width, role, text);
            else
                canvas_text(canvas, row, col, field->width, role, text);
        }
        col += field->width + 1;
    }
}

static void draw_heading(struct canvas *canvas, int row, struct area area, const struct scene *scene)
{
    int col = 1;
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (!is_shown(&fields[i], &area))
            continue;
        const char *title = fields[i].title;
        bool bytes = scene->style.units == UNITS_BYTES && strcmp(title, "BIT/S") == 0;
        if (fields[i].spark || !format_is_right(port_column(fields[i].key)))
            canvas_text(canvas, row, col, fields[i].width, ROLE_HEADING, title);
        else
            canvas_right(canvas, row, col, fields[i].width, ROLE_HEADING, bytes ? "BYTE/S" : title);
        col += fields[i].width + 1;
    }
}

static double cpu_pct(const struct frame *frame, const struct frame_row *row, const char *key)
{
    struct cell cell = frame_cell(frame, row, column_find(table_get(TABLE_CPUS), key));
    return cell_is_number(&cell) ? cell_number(&cell) : NAN;
}

static void draw_cpu(struct canvas *canvas, int row, int col, int width, const struct frame *frame,
                     const struct frame_row *cpu)
{
    static const char *const shares[] = {"user_pct", "system_pct", "softirq_pct", "guest_pct", "steal_pct"};
    static const char *const words[] = {"user", "sys", "softirq", "guest", "steal"};
    const struct cpus_info *info = (const struct cpus_info *)cpu->part.cur->info;
    double busy = cpu_pct(frame, cpu, "busy_pct");
    char text[FORMAT_SIZE];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)info->cpu);
    canvas_right(canvas, row, col, 4, ROLE_HEADING, text);
    int bar = width > 60 ? 20 : width > 44 ? 12 : 6;
    canvas_bar(canvas, row, col + 5, bar, busy >= 95 ? ROLE_BAD : ROLE_CPU, busy, 100);
    if (isnan(busy))
        snprintf(text, sizeof(text), "-");
    else
        format_percent(text, sizeof(text), busy);
    canvas_right(canvas, row, col + 6 + bar, 5, ROLE_TEXT, text);
    int at = col + 12 + bar;
    for (size_t i = 0; i < 5; i++) {
        double value = cpu_pct(frame, cpu, shares[i]);
        char part[64];
        if (isnan(value) || value < 0.5)
            continue;
        format_percent(text, sizeof(text), value);
        snprintf(part, sizeof(part), "%s %s", words[i], text);
        if (at + (int)strlen(part) > col + width)
            break;
        at = canvas_text(canvas, row, at, col + width - at, ROLE_DIM, part) + 1;
    }
}

/* CPUs in order of number, in as many columns as the width has room for; the busiest when they do not all
 * fit. */
static void draw_cpus(struct canvas *canvas, int row, struct area area, const struct frame *frame)
{
    const struct frame_table *cpus = &frame->table[TABLE_CPUS];
    int columns = area.cols >= 150 ? 3 : area.cols >= 100 ? 2 : 1;
    int lines = area.top + area.rows - row, width = area.cols / columns - 1;
    size_t room = lines > 0 ? (size_t)(lines * columns) : 0, drawn = 0;
    bool all = cpus->n <= room;
    for (size_t i = 0; i < cpus->n && drawn < room; i++) {
        double busy = cpu_pct(frame, &cpus->rows[i], "busy_pct");
        if (!all && !(busy >= 1) && cpus->n - i > room - drawn)
            continue;
        int at = (int)drawn++;
        draw_cpu(canvas, row + at / columns, at % columns * (width + 1), width, frame, &cpus->rows[i]);
    }
}

static void draw_pressure(struct canvas *canvas, int row, int col, struct area area,
                          const struct scene *scene)
{
    const struct table *table = table_get(TABLE_HOST);
    const struct frame_table *host = &scene->frame->table[TABLE_HOST];
    for (size_t i = 0; host->n && i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        if (column->unit != UNIT_PCT || column->where != DERIVED)
            continue;
        struct cell cell = scene_cell(scene, TABLE_HOST, &host->rows[0], column);
        if (!cell_is_number(&cell) || area.cols - col < 16)
            continue;
        char text[64];
        scene_text(text, sizeof(text), scene, &cell, column);
        col = canvas_textf(canvas, row, col, area.cols - col, ROLE_HEADING, "%s ", column->title);
        col = canvas_text(canvas, row, col, area.cols - col, scene_role(scene, &cell, column), text) + 2;
    }
}

void view_overview_draw(struct canvas *canvas, struct area area, const struct scene *scene)
{
    struct table_state *state = scene->state;
    int cpu_lines = (int)scene->frame->table[TABLE_CPUS].n;
    cpu_lines = cpu_lines < area.rows / 3 ? cpu_lines : area.rows / 3;
    int shown = area.rows - cpu_lines - 4, row = area.top;
    shown = shown > 1 ? shown : 1;
    if (state->cursor < state->top)
        state->top = state->cursor;
    if (state->cursor >= state->top + (size_t)shown)
        state->top = state->cursor - (size_t)shown + 1;
    draw_heading(canvas, row++, area, scene);
    for (size_t i = state->top; i < state->n_rows && i < state->top + (size_t)shown; i++, row++) {
        draw_port(canvas, row, area, scene, state->rows[i]);
        if (i == state->cursor)
            canvas_select(canvas, row, 0, area.cols);
    }
    size_t below =
        state->n_rows > state->top + (size_t)shown ? state->n_rows - state->top - (size_t)shown : 0;
    if (below)
        canvas_textf(canvas, row++, 1, area.cols - 1, ROLE_DIM, "%zu more below, %zu without traffic (z)",
                     below, state->n_idle);
    else if (state->n_idle)
        canvas_textf(canvas, row++, 1, area.cols - 1, ROLE_DIM, "%zu more without traffic (z)",
                     state->n_idle);
    else if (state->n_rows == 0)
        canvas_text(canvas, row++, 1, area.cols - 1, ROLE_DIM, "no port to show; see Sources (9)");
    row++;
    int col = canvas_text(canvas, row, 1, area.cols - 1, ROLE_HEADING, "CPU  BUSY%") + 3;
    draw_pressure(canvas, row, col, area, scene);
    draw_cpus(canvas, row + 1, area, scene->frame);
}
