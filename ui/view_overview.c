/* SPDX-License-Identifier: MIT */
/*
 * The first screen: what carries traffic or loses it, with the last minute as a spark, then who uses the
 * CPUs. It must answer "how fast, where lost, whose fault" without a key.
 */
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
    int most; /* width it may grow to where the screen has room */
};

static const struct field fields[] = {
    {"name", NULL, "PORT", 15, 0, 24},         {"kind", NULL, "KIND", 8, 0, 12},
    {"switch", NULL, "SWITCH", 10, 90, 16},    {"rx_pps", NULL, "RX PPS", 7, 0, 0},
    {NULL, "rx_pps", "LAST MIN", 8, 100, 60},  {"rx_bps", NULL, "BIT/S", 7, 0, 0},
    {"rx_drop_pps", NULL, "DROP/S", 7, 0, 0},  {"rx_loss_pct", NULL, "LOSS%", 6, 110, 0},
    {"tx_pps", NULL, "TX PPS", 7, 0, 0},       {NULL, "tx_pps", "LAST MIN", 8, 100, 60},
    {"tx_bps", NULL, "BIT/S", 7, 0, 0},        {"tx_drop_pps", NULL, "DROP/S", 7, 0, 0},
    {"tx_loss_pct", NULL, "LOSS%", 6, 110, 0},
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Width of each field, 0 = not shown: a pure function of the screen's, so that nothing moves. */
static void lay_out(int cols, int width[N_FIELDS])
{
    int left = cols - 1;
    for (size_t i = 0; i < N_FIELDS; i++) {
        width[i] = cols >= fields[i].from ? fields[i].width : 0;
        left -= width[i] ? width[i] + 1 : 0;
    }
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t i = 0; i < N_FIELDS; i++) {
            if (left <= 0 || !width[i] || width[i] >= fields[i].most)
                continue;
            width[i]++;
            left--;
            grew = true;
        }
    }
}

static void draw_spark(struct canvas *canvas, int row, int col, int width, const struct field *field,
                       const struct scene *scene, const char *key)
{
    struct point points[SPARK_POINTS];
    struct graph_point graph[SPARK_POINTS];
    double columns[SPARK_POINTS];
    size_t n = store_series(scene->store, TABLE_PORTS, key, port_column(field->spark), scene->moment,
                            SPARK_POINTS, points);
    for (size_t i = 0; i < n; i++)
        graph[i] = (struct graph_point){points[i].t_ns, graph_value(&points[i].cell)};
    int64_t end = scene->frame->now_ns;
    graph_resample(graph, n, end - INT64_C(60000000000), end, GRAPH_MEAN, columns, width);
    enum role role = strncmp(field->spark, "rx", 2) == 0 ? ROLE_RX : ROLE_TX;
    graph_spark(canvas, row, col, width, role, columns, width, 0);
}

static void draw_field(struct canvas *canvas, int row, int col, int width, const struct field *field,
                       const struct scene *scene, const struct frame_row *port)
{
    if (field->spark) {
        draw_spark(canvas, row, col, width, field, scene, port->key);
        return;
    }
    const struct column *column = port_column(field->key);
    struct cell cell = scene_cell(scene, TABLE_PORTS, port, column);
    char text[512];
    scene_text(text, sizeof(text), scene, &cell, column);
    enum role role = scene_role(scene, &cell, column);
    if (format_is_right(column))
        canvas_right(canvas, row, col, width, role, text);
    else
        canvas_text(canvas, row, col, width, role, text);
}

static void draw_port(struct canvas *canvas, int row, const int width[N_FIELDS], const struct scene *scene,
                      const struct frame_row *port)
{
    int col = 1;
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (!width[i])
            continue;
        draw_field(canvas, row, col, width[i], &fields[i], scene, port);
        col += width[i] + 1;
    }
}

static void draw_heading(struct canvas *canvas, int row, const int width[N_FIELDS], const struct scene *scene)
{
    int col = 1;
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (!width[i])
            continue;
        const char *title = fields[i].title;
        const struct column *column = fields[i].spark ? NULL : port_column(fields[i].key);
        bool bytes = scene->style.units == UNITS_BYTES && strcmp(title, "BIT/S") == 0;
        enum role role = column && column == scene->state->sort ? ROLE_SORTED : ROLE_HEADING;
        if (!column || !format_is_right(column))
            canvas_text(canvas, row, col, width[i], role, title);
        else
            canvas_right(canvas, row, col, width[i], role, bytes ? "BYTE/S" : title);
        col += width[i] + 1;
    }
}

/* The heading that a click met. */
const struct column *view_overview_column_at(const struct canvas *canvas, int col)
{
    int width[N_FIELDS], at = 1;
    lay_out(canvas->cols, width);
    for (size_t i = 0; i < N_FIELDS; at += width[i] ? width[i] + 1 : 0, i++)
        if (width[i] && col >= at && col < at + width[i])
            return port_column(fields[i].spark ? fields[i].spark : fields[i].key);
    return NULL;
}

static struct cell cpu_cell(const struct frame *frame, const struct frame_row *row, const char *key,
                            const struct column **column)
{
    *column = column_find(table_get(TABLE_CPUS), key);
    return frame_cell(frame, row, *column);
}

/* Who has the CPU: shares worth a word, the largest trouble in its colour. */
static void draw_shares(struct canvas *canvas, int row, int col, int end, const struct frame *frame,
                        const struct frame_row *cpu)
{
    static const struct {
        const char *key, *word;
    } shares[] = {{"steal_pct", "steal"}, {"softirq_pct", "softirq"}, {"guest_pct", "guest"},
                  {"system_pct", "sys"},  {"user_pct", "user"},       {"irq_pct", "irq"}};
    const struct format_style style = {0};
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        const struct column *column;
        struct cell cell = cpu_cell(frame, cpu, shares[i].key, &column);
        if (!cell_is_number(&cell) || cell_number(&cell) < 0.5)
            continue;
        char text[FORMAT_SIZE], part[64];
        format_cell(text, sizeof(text), &cell, column, &style);
        snprintf(part, sizeof(part), "%s %s", shares[i].word, text);
        if (col + (int)strlen(part) > end)
            break;
        enum role role = format_level(&cell, column) ? format_role(&cell, column) : ROLE_DIM;
        col = canvas_text(canvas, row, col, end - col, role, part) + 1;
    }
}

#define SHARES_CELLS 48

static void draw_cpu(struct canvas *canvas, int row, int col, int width, const struct frame *frame,
                     const struct frame_row *cpu)
{
    const struct cpus_info *info = (const struct cpus_info *)cpu->part.cur->info;
    const struct column *column;
    const struct format_style style = {0};
    struct cell busy = cpu_cell(frame, cpu, "busy_pct", &column);
    char text[FORMAT_SIZE];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)info->cpu);
    canvas_right(canvas, row, col, 4, ROLE_HEADING, text);
    int bar = width - 12 - SHARES_CELLS;
    bar = bar < 6 ? 6 : bar > 50 ? 50 : bar;
    enum role role = format_level(&busy, column) == LEVEL_BAD ? ROLE_BAD : ROLE_CPU;
    canvas_bar(canvas, row, col + 5, bar, role, cell_number(&busy), 100);
    format_cell(text, sizeof(text), &busy, column, &style);
    canvas_right(canvas, row, col + 5 + bar, 6, format_role(&busy, column), text);
    draw_shares(canvas, row, col + 12 + bar, col + width, frame, cpu);
}

/* In as few columns as give the CPUs at most a third of the rows. */
static int cpu_columns(const struct area *area, size_t cpus)
{
    int most = area->cols >= 150 ? 3 : area->cols >= 100 ? 2 : 1, columns = 1;
    while (columns < most && (int)cpus > columns * (area->rows / 3))
        columns++;
    return columns;
}

static int cpu_lines(const struct area *area, size_t cpus)
{
    int columns = cpu_columns(area, cpus), lines = ((int)cpus + columns - 1) / columns;
    return lines < area->rows / 3 ? lines : area->rows / 3;
}

/* CPUs in order of number; the busy ones when they do not all fit. */
static void draw_cpus(struct canvas *canvas, int row, struct area area, const struct frame *frame)
{
    const struct frame_table *cpus = &frame->table[TABLE_CPUS];
    int columns = cpu_columns(&area, cpus->n), lines = area.top + area.rows - row;
    int width = area.cols / columns - 1;
    size_t room = lines > 0 ? (size_t)(lines * columns) : 0, drawn = 0;
    bool all = cpus->n <= room;
    for (size_t i = 0; i < cpus->n && drawn < room; i++) {
        const struct column *column;
        struct cell busy = cpu_cell(frame, &cpus->rows[i], "busy_pct", &column);
        if (!all && !(cell_number(&busy) >= 1) && cpus->n - i > room - drawn)
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

static void draw_remark(struct canvas *canvas, int row, struct area area, const struct table_state *state,
                        size_t shown)
{
    size_t below = state->n_rows - shown;
    char idle[64] = "";
    if (state->n_idle)
        snprintf(idle, sizeof(idle), "%zu%s without traffic (z)", state->n_idle, below ? "" : " more");
    if (below)
        canvas_textf(canvas, row, 1, area.cols - 1, ROLE_DIM, "%zu more below%s%s", below, *idle ? ", " : "",
                     idle);
    else if (*idle)
        canvas_text(canvas, row, 1, area.cols - 1, ROLE_DIM, idle);
    else if (state->n_rows == 0)
        canvas_text(canvas, row, 1, area.cols - 1, ROLE_DIM,
                    state->filtered ? "no row matches the filter (\\ changes it)"
                                    : "no port to show; see Sources");
}

void view_overview_draw(struct canvas *canvas, struct area area, const struct scene *scene)
{
    struct table_state *state = scene->state;
    int shown = area.rows - cpu_lines(&area, scene->frame->table[TABLE_CPUS].n) - 4, row = area.top;
    int width[N_FIELDS];
    table_scroll(state, (size_t)(shown > 1 ? shown : 1));
    lay_out(area.cols, width);
    draw_heading(canvas, row++, width, scene);
    state->n_lines = 0;
    for (size_t i = state->top; i < state->n_rows && row <= area.top + shown; i++, row++) {
        draw_port(canvas, row, width, scene, state->rows[i]);
        table_line(state, i);
        if (i == state->cursor)
            canvas_select(canvas, row, 0, area.cols);
    }
    draw_remark(canvas, row++, area, state, state->top + (size_t)state->n_lines);
    row++;
    int col = canvas_text(canvas, row, 1, area.cols - 1, ROLE_HEADING, "CPU  BUSY%") + 3;
    draw_pressure(canvas, row, col, area, scene);
    draw_cpus(canvas, row + 1, area, scene->frame);
}
