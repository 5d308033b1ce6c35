/* SPDX-License-Identifier: MIT */
/*
 * The first screen: what carries traffic or loses it, with the last minute as a spark, then who uses the
 * CPUs. It must answer "how fast, where lost, whose fault" without a key.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/join.h"
#include "ui/graph.h"
#include "ui/views.h"

#define SPARK_MS 60000
#define SPARK_POINTS                                                                                         \
    240 /* at most: of short intervals they are less than a minute, which the heading tells */

/*
 * The line of a port: columns that stand one beside the other, each with the room it needs. Where there are
 * guests, "to" is what goes to the guest, or to whatever else is behind the port.
 */
struct field {
    const char *key; /* column of PORTS, or of the PATH behind the port */
    const char *title;
    int width;
    int from;   /* least screen width at which it is shown */
    int most;   /* width it may grow to where the screen has room */
    bool spark; /* the last minute instead of the value */
    bool path;  /* a column of the path */
    int guests; /* 1 only where there are guests, -1 only where there are none, 0 both */
};

static const struct field fields[] = {
    {"vm", "VM", 10, 0, 20, false, false, 1},
    {"nic", "NIC", 5, 90, 10, false, false, 1},
    {"name", "PORT", 12, 0, 24, false, false, 0},
    {"kind", "KIND", 8, 0, 12, false, false, -1},
    {"switch", "SWITCH", 8, 90, 16, false, false, 0},
    {"tx_pps", "TO PPS", 7, 0, 0, false, false, 1},
    {"tx_pps", "LAST MIN", 8, 116, 60, true, false, 1},
    {"tx_bps", "BIT/S", 7, 150, 0, false, false, 1},
    {"tx_loss_pct", "LOSS%", 6, 0, 0, false, false, 1},
    {"rx_pps", "FROM PPS", 8, 0, 0, false, false, 1},
    {"rx_pps", "LAST MIN", 8, 116, 60, true, false, 1},
    {"rx_bps", "BIT/S", 7, 150, 0, false, false, 1},
    {"rx_loss_pct", "LOSS%", 6, 0, 0, false, false, 1},
    {"rx_pps", "RX PPS", 7, 0, 0, false, false, -1},
    {"rx_pps", "LAST MIN", 8, 116, 60, true, false, -1},
    {"rx_bps", "BIT/S", 7, 0, 0, false, false, -1},
    {"rx_drop_pps", "DROP/S", 7, 0, 0, false, false, -1},
    {"rx_loss_pct", "LOSS%", 6, 110, 0, false, false, -1},
    {"tx_pps", "TX PPS", 7, 0, 0, false, false, -1},
    {"tx_pps", "LAST MIN", 8, 116, 60, true, false, -1},
    {"tx_bps", "BIT/S", 7, 0, 0, false, false, -1},
    {"tx_drop_pps", "DROP/S", 7, 0, 0, false, false, -1},
    {"tx_loss_pct", "LOSS%", 6, 110, 0, false, false, -1},
    {"serving", "SERVED", 8, 100, 10, false, true, 1},
    {"serving_busy_pct", "BUSY", 5, 0, 0, false, true, 1},
    {"serving_steal_pct", "STEAL", 6, 130, 0, false, true, 1},
    {"worst_vcpu", "VCPU", 5, 136, 8, false, true, 1},
    {"worst_run_pct", "RUN", 5, 0, 0, false, true, 1},
    {"worst_steal_pct", "STEAL", 6, 0, 0, false, true, 1},
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static const struct column *field_column(const struct field *field)
{
    return column_find(table_get(field->path ? TABLE_PATHS : TABLE_PORTS), field->key);
}

#define RATE_WIDTH  7  /* or one more */
#define EXACT_WIDTH 12 /* 100 Gbit/s to the bit */

static bool is_there(const struct field *field, int cols, bool guests)
{
    return cols >= field->from && (field->guests == 0 || (field->guests > 0) == guests);
}

static bool is_name(const struct field *field)
{
    return !field->spark && !format_is_right(field_column(field));
}

/* A name that is shorter than its field leaves the rest to others. */
static int first_width(const struct field *field, bool exact, unsigned grown)
{
    int title = (int)strlen(field->title), needed = (int)grown > title ? (int)grown : title;
    if (field->spark)
        return field->width;
    if (is_name(field))
        return needed < field->width ? needed : field->width;
    bool rate = field->width == RATE_WIDTH || field->width == RATE_WIDTH + 1;
    return exact && rate ? EXACT_WIDTH : field->width;
}

/* Gives what is left to the fields, a cell each in turn: to names what they need, then to all what they take.
 */
static int give(const unsigned grown[N_FIELDS], bool as_needed, int left, int width[N_FIELDS])
{
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t i = 0; i < N_FIELDS; i++) {
            int most = fields[i].most;
            if (as_needed)
                most = is_name(&fields[i]) && (int)grown[i] < most ? (int)grown[i] : 0;
            if (left <= 0 || !width[i] || width[i] >= most)
                continue;
            width[i]++;
            left--;
            grew = true;
        }
    }
    return left;
}

/* Those of both directions are compared by eye: one time axis. */
static void match_sparks(int cols, bool guests, int width[N_FIELDS])
{
    int least = SPARK_POINTS;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].spark && is_there(&fields[i], cols, guests) && width[i] < least)
            least = width[i];
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].spark && is_there(&fields[i], cols, guests))
            width[i] = least;
}

/* Width of each field, 0 = not shown: a function of the screen's, of whether there are guests, and of the
 * longest names there have been, so that little moves. */
static void lay_out(int cols, bool guests, bool exact, const unsigned grown[N_FIELDS], int width[N_FIELDS])
{
    int left = cols - 1;
    for (size_t i = 0; i < N_FIELDS; i++) {
        width[i] = is_there(&fields[i], cols, guests) ? first_width(&fields[i], exact, grown[i]) : 0;
        left -= width[i] ? width[i] + 1 : 0;
    }
    while (left < 0) { /* the field that wants the widest screen leaves first */
        size_t last = N_FIELDS;
        for (size_t i = 0; i < N_FIELDS; i++)
            if (width[i] && (last == N_FIELDS || fields[i].from >= fields[last].from))
                last = i;
        if (last == N_FIELDS)
            break;
        left += width[last] + 1;
        width[last] = 0;
    }
    left = give(grown, true, left, width);
    give(grown, false, left, width);
    match_sparks(cols, guests, width);
}

static bool has_guests(const struct frame *frame)
{
    const struct frame_table *paths = &frame->table[TABLE_PATHS];
    for (size_t i = 0; i < paths->n; i++)
        if (!join_is_port_path(&paths->rows[i]))
            return true;
    return false;
}

/* Macvtaps and virtual functions count as their guest does: what they receive goes to it. */
static const struct column *column_of_port(const struct field *field, const struct frame *frame,
                                           const struct frame_row *port)
{
    const struct column *column = field_column(field);
    bool turned =
        field->guests > 0 && !field->path && !join_port_faces_guest(frame, port) && !join_leads_out(port);
    char key[32];
    if (!turned || (strncmp(field->key, "rx_", 3) != 0 && strncmp(field->key, "tx_", 3) != 0))
        return column;
    snprintf(key, sizeof(key), "%cx_%s", field->key[0] == 'r' ? 't' : 'r', field->key + 3);
    return column_find(table_get(TABLE_PORTS), key);
}

/* The time that a spark spans: a minute, where so many moments are one. */
static int64_t spark_ms(const struct scene *scene)
{
    int64_t most = SPARK_POINTS * (scene->interval_ms > 0 ? scene->interval_ms : 1000);
    return most < SPARK_MS ? most : SPARK_MS;
}

static void draw_spark(struct canvas *canvas, int row, int col, int width, const struct field *field,
                       const struct scene *scene, const struct frame_row *port)
{
    struct point points[SPARK_POINTS];
    struct graph_point graph[SPARK_POINTS];
    double columns[SPARK_POINTS];
    const struct column *column = column_of_port(field, scene->frame, port);
    int64_t span_ms = spark_ms(scene);
    int64_t wanted = span_ms / (scene->interval_ms > 0 ? scene->interval_ms : 1000) + 1;
    size_t most = wanted < SPARK_POINTS ? (size_t)wanted : SPARK_POINTS;
    size_t n = store_series(scene->store, TABLE_PORTS, port->key, column, scene->moment, most, points);
    for (size_t i = 0; i < n; i++)
        graph[i] = (struct graph_point){points[i].t_ns, graph_value(&points[i].cell)};
    int64_t end = scene->frame->now_ns;
    graph_resample(graph, n, end - span_ms * 1000000, end, GRAPH_MEAN, columns, width);
    enum role role = strncmp(field->key, "rx", 2) == 0 ? ROLE_RX : ROLE_TX;
    graph_spark(canvas, row, col, width, role, columns, width, 0);
}

/* eth0@blue: with several namespaces one name stands for several ports. */
static void name_in_netns(char *text, size_t size, const struct frame_row *port)
{
    const char *netns = JOIN_TEXT(port, struct ports_info, netns);
    size_t used = strlen(text);
    if (netns)
        snprintf(text + used, size - used, "@%s", netns);
}

#define TEXT_SIZE 512

/* What a field that is no spark says of a port; false: nothing. */
static bool field_text(const struct scene *scene, const struct field *field, const struct frame_row *port,
                       char text[TEXT_SIZE], enum role *role)
{
    const struct column *column = column_of_port(field, scene->frame, port);
    const struct frame_row *row_of = field->path ? join_path_of_port(scene->frame, port) : port;
    if (!row_of)
        return false;
    struct cell cell = scene_cell(scene, field->path ? TABLE_PATHS : TABLE_PORTS, row_of, column);
    if (field->path && cell.kind == CELL_NONE)
        return false;
    scene_text(text, TEXT_SIZE, scene, &cell, column);
    if (scene->many_netns && strcmp(field->key, "name") == 0)
        name_in_netns(text, TEXT_SIZE, port);
    *role = scene_role(scene, &cell, column);
    return true;
}

/* Widths that the names of the rows on the screen need; kept, so that a column does not shrink again. */
static void note_names(const struct canvas *canvas, const struct scene *scene, size_t shown)
{
    struct table_state *state = scene->state;
    static_assert(N_FIELDS <= sizeof(state->grown) / sizeof(state->grown[0]), "a width for each field");
    for (size_t i = 0; i < N_FIELDS; i++) {
        char text[TEXT_SIZE];
        enum role role;
        for (size_t r = state->top; is_name(&fields[i]) && r < state->n_rows && r < state->top + shown; r++) {
            if (!field_text(scene, &fields[i], state->rows[r], text, &role))
                continue;
            unsigned width = (unsigned)canvas_width(canvas, text);
            state->grown[i] = width > state->grown[i] ? width : state->grown[i];
        }
    }
}

static void draw_field(struct canvas *canvas, int row, int col, int width, const struct field *field,
                       const struct scene *scene, const struct frame_row *port)
{
    char text[TEXT_SIZE];
    enum role role;
    if (field->spark) {
        draw_spark(canvas, row, col, width, field, scene, port);
        return;
    }
    if (!field_text(scene, field, port, text, &role))
        return;
    if (format_is_right(field_column(field)))
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
        char span[16];
        if (fields[i].spark && spark_ms(scene) < SPARK_MS) {
            snprintf(span, sizeof(span), "LAST %ds", (int)(spark_ms(scene) / 1000));
            title = span;
        }
        const struct column *column = fields[i].spark ? NULL : field_column(&fields[i]);
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
const struct column *view_overview_column_at(const struct canvas *canvas, const struct scene *scene, int col)
{
    int width[N_FIELDS], at = 1;
    lay_out(canvas->cols, has_guests(scene->frame), scene->style.units == UNITS_EXACT, scene->state->grown,
            width);
    for (size_t i = 0; i < N_FIELDS; at += width[i] ? width[i] + 1 : 0, i++)
        if (width[i] && col >= at && col < at + width[i])
            return fields[i].path ? NULL : field_column(&fields[i]);
    return NULL;
}

static struct cell cpu_cell(const struct frame *frame, const struct frame_row *row, const char *key,
                            const struct column **column)
{
    *column = column_find(table_get(TABLE_CPUS), key);
    return frame_cell(frame, row, *column);
}

/* Who has the CPU: shares worth a word, the largest trouble in its colour. */
static int draw_shares(struct canvas *canvas, int row, int col, int end, const struct frame *frame,
                       const struct frame_row *cpu)
{
    static const struct {
        const char *key, *word;
    } shares[] = {{"steal_pct", "steal"}, {"softirq_pct", "softirq"}, {"guest_pct", "guest"},
                  {"system_pct", "sys"},  {"user_pct", "user"},       {"nice_pct", "nice"},
                  {"irq_pct", "irq"}};
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
    return col;
}

#define NAMES_WIDTH 100 /* so wide a CPU's line also tells who ran there */

static void draw_names(struct canvas *canvas, int row, int col, int end, const struct frame *frame,
                       uint64_t cpu)
{
    const char *names = join_cpu_threads(frame, cpu, JOIN_RAN);
    if (names && col + 8 < end)
        canvas_text(canvas, row, col + 1, end - col - 1, ROLE_TEXT, names);
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
    int bar = width - 12 - SHARES_CELLS, longest = width >= NAMES_WIDTH && width < 150 ? 25 : 50;
    bar = bar < 6 ? 6 : bar > longest ? longest : bar;
    enum role role = format_level(&busy, column) == LEVEL_BAD ? ROLE_BAD : ROLE_CPU;
    canvas_bar(canvas, row, col + 5, bar, role, cell_number(&busy), 100);
    format_cell(text, sizeof(text), &busy, column, &style);
    canvas_right(canvas, row, col + 5 + bar, 6, format_role(&busy, column), text);
    int end = col + width, at = draw_shares(canvas, row, col + 12 + bar, end, frame, cpu);
    if (width >= NAMES_WIDTH)
        draw_names(canvas, row, at, end, frame, info->cpu);
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

/* One finding: its sentence, wrapped, with since when and how bad at worst; then the command to try. */
static int draw_finding(struct canvas *canvas, int row, int end, struct area area,
                        const struct frame_row *finding)
{
    const struct findings_row *f = (const struct findings_row *)finding->part.cur;
    bool bad = strcmp(f->severity, "bad") == 0, watch = strcmp(f->severity, "watch") == 0;
    enum role role = bad ? ROLE_BAD : watch ? ROLE_WATCH : ROLE_TEXT;
    int width = area.cols - 5 - (area.cols >= 100 ? 18 : 0);
    char since[FORMAT_SIZE], worst[FORMAT_SIZE];
    canvas_text(canvas, row, 1, 1, role, bad ? "!" : watch ? "*" : "-");
    if (area.cols >= 100) {
        format_duration(since, sizeof(since), f->since_s);
        format_scaled(worst, sizeof(worst), f->worst);
        canvas_right(canvas, row, area.cols - 18, 5, ROLE_DIM, since);
        canvas_textf(canvas, row, area.cols - 11, 10, ROLE_DIM, "%s %s", worst, f->unit);
    }
    row += canvas_wrap(canvas, row, 3, width, end - row, role, f->text);
    if (row_has(f, advice) && row < end) {
        int col = canvas_text(canvas, row, 3, width, ROLE_HEADING, "try: ");
        canvas_text(canvas, row++, col, area.cols - col - 1, ROLE_TEXT, f->advice);
    }
    return row;
}

/* Rows that the findings would like: two lines each on a wide screen, and a heading. */
static int finding_lines(const struct area *area, size_t findings)
{
    int wanted = findings ? (int)findings * (area->cols >= 100 ? 2 : 3) + 2 : 0, most = area->rows * 2 / 5;
    return wanted < most ? wanted : most;
}

static int draw_findings(struct canvas *canvas, int row, int rows, struct area area,
                         const struct frame *frame)
{
    const struct frame_table *findings = &frame->table[TABLE_FINDINGS];
    int end = row + rows - 1;
    if (rows < 3)
        return row;
    canvas_text(canvas, row, 1, area.cols, ROLE_HEADING, "FINDINGS");
    if (area.cols >= 100) {
        canvas_right(canvas, row, area.cols - 18, 5, ROLE_HEADING, "since");
        canvas_text(canvas, row, area.cols - 11, 10, ROLE_HEADING, "worst");
    }
    row++;
    size_t i = 0;
    for (; i < findings->n && row < end; i++)
        row = draw_finding(canvas, row, end, area, &findings->rows[i]);
    if (i < findings->n)
        canvas_textf(canvas, end, 1, area.cols - 1, ROLE_DIM, "%zu more; see Findings", findings->n - i);
    return end + 1;
}

void view_overview_draw(struct canvas *canvas, struct area area, const struct scene *scene)
{
    struct table_state *state = scene->state;
    const struct frame *frame = scene->frame;
    int for_findings = finding_lines(&area, frame->table[TABLE_FINDINGS].n);
    int shown = area.rows - cpu_lines(&area, frame->table[TABLE_CPUS].n) - 4 - for_findings, row = area.top;
    int width[N_FIELDS];
    shown = shown > 1 ? shown : 1;
    table_scroll(state, (size_t)shown);
    note_names(canvas, scene, (size_t)shown);
    lay_out(area.cols, has_guests(frame), scene->style.units == UNITS_EXACT, state->grown, width);
    draw_heading(canvas, row++, width, scene);
    state->n_lines = 0;
    for (size_t i = state->top; i < state->n_rows && row <= area.top + shown; i++, row++) {
        draw_port(canvas, row, width, scene, state->rows[i]);
        table_line(state, i);
        if (i == state->cursor)
            canvas_select(canvas, row, 0, area.cols);
    }
    table_remark(canvas, row++, area, state);
    row = draw_findings(canvas, row + 1, for_findings, area, frame);
    int col = canvas_text(canvas, row, 1, area.cols - 1, ROLE_HEADING, "CPU  BUSY%") + 3;
    draw_pressure(canvas, row, col, area, scene);
    draw_cpus(canvas, row + 1, area, frame);
}
