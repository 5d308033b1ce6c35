/* SPDX-License-Identifier: MIT */
/*
 * The pin map: CPUs by NUMA node and core across, threads down; where each may run, where it was told to,
 * where it ran, and what else is on that CPU. CPUs take as many cells as there is room for, one at the least;
 * what does not fit stands in a further band below, and on a large host CPUs that nobody uses and nobody is
 * bound to are left out and counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/join.h"
#include "src/memory.h"
#include "ui/views.h"

struct cpu_slot {
    const struct frame_row *row;
    uint64_t cpu, numa, package, core;
    size_t node; /* its NUMA node's place among those shown */
    bool poller; /* a thread that polls ran here */
};

struct map {
    struct canvas *canvas;
    struct area area;
    const struct scene *scene;
    struct cpu_slot *cpus;
    size_t n_cpus, hidden;
    int names;     /* cells that names take */
    int width;     /* cells a CPU takes, the blank before it included where there is room for one */
    int digits;    /* lines that a CPU's number takes */
    int digit;     /* the one that is drawn */
    bool brief;    /* lines are short: some of the heading are left out */
    bool disagree; /* somebody may run elsewhere than he was told to */
    size_t band_cpus;
    int row; /* next free line */
};

static bool is_role(const struct frame_row *thread, const char *role)
{
    const char *text = JOIN_TEXT(thread, struct threads_info, role);
    return text && strcmp(text, role) == 0;
}

static bool polls(const struct frame_row *thread)
{
    return is_role(thread, "pmd") || is_role(thread, "lcore") || is_role(thread, "vpp");
}

static double percent(const struct frame *frame, enum table_id table, const struct frame_row *row,
                      const char *key)
{
    struct cell cell = frame_cell(frame, row, column_find(table_get(table), key));
    return cell_is_number(&cell) ? cell_number(&cell) : -1;
}

static bool ran_on(const struct frame *frame, const struct frame_row *thread, uint64_t cpu)
{
    const struct part *part = frame_row_part(thread, ROW_SLOT(struct threads_row, cpu));
    return part && ((const struct threads_row *)part->cur)->cpu == cpu &&
           percent(frame, TABLE_THREADS, thread, "run_pct") > 0;
}

static int by_place(const void *a, const void *b)
{
    const struct cpu_slot *x = a, *y = b;
    const uint64_t left[] = {x->numa, x->package, x->core, x->cpu},
                   right[] = {y->numa, y->package, y->core, y->cpu};
    for (size_t i = 0; i < 4; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static uint64_t number_or(const struct frame *frame, const struct frame_row *row, const char *key,
                          uint64_t missing)
{
    struct cell cell = frame_cell(frame, row, column_find(table_get(TABLE_CPUS), key));
    return cell.kind == CELL_U64 ? cell.u64 : missing;
}

/* Of a guest elsewhere, or one that may not be seen, neither is known; the CPUs it was told to use may be
 * another host's. */
static bool is_placed(const struct frame_row *thread)
{
    return JOIN_TEXT(thread, struct threads_info, allowed_cpus) ||
           frame_row_part(thread, ROW_SLOT(struct threads_row, cpu));
}

static bool is_bound_to(const struct frame *frame, const char *list, uint64_t cpu)
{
    return list && join_is_pinned(frame, list) && join_list_has(list, cpu);
}

/* Somebody ran on it, or it is one of the few CPUs that a thread is bound to. */
static bool is_used(const struct map *map, const struct cpu_slot *slot)
{
    const struct frame *frame = map->scene->frame;
    if (percent(frame, TABLE_CPUS, slot->row, "busy_pct") >= 5)
        return true;
    const struct table_state *state = map->scene->state;
    for (size_t i = 0; i < state->n_rows; i++) {
        if (!is_placed(state->rows[i]))
            continue;
        if (ran_on(frame, state->rows[i], slot->cpu) ||
            is_bound_to(frame, JOIN_TEXT(state->rows[i], struct threads_info, allowed_cpus), slot->cpu) ||
            is_bound_to(frame, JOIN_TEXT(state->rows[i], struct threads_info, pinned_cpus), slot->cpu))
            return true;
    }
    return false;
}

static void find_pollers(struct map *map)
{
    const struct frame_table *threads = &map->scene->frame->table[TABLE_THREADS];
    for (size_t t = 0; t < threads->n; t++)
        for (size_t i = 0; polls(&threads->rows[t]) && i < map->n_cpus; i++)
            if (ran_on(map->scene->frame, &threads->rows[t], map->cpus[i].cpu))
                map->cpus[i].poller = true;
}

static size_t number_nodes(struct map *map)
{
    size_t node = 0;
    for (size_t i = 0; i < map->n_cpus; i++) {
        node += i > 0 && map->cpus[i].numa != map->cpus[i - 1].numa;
        map->cpus[i].node = node;
    }
    return node + 1;
}

/* Digits of a CPU's number that stand beside one another; the others go above them. */
static int digits_beside(const struct map *map)
{
    return map->width > 4 ? 4 : map->width > 2 ? map->width - 1 : 1;
}

static uint64_t power_of_ten(int n)
{
    uint64_t power = 1;
    while (n-- > 0)
        power *= 10;
    return power;
}

/* Without blanks between them the nodes are set apart by one. */
static void measure(struct map *map, int room, int nodes)
{
    uint64_t most = 0;
    map->width = map->n_cpus && room / (int)map->n_cpus < 5 ? room / (int)map->n_cpus : 5;
    map->width = map->width < 1 ? 1 : map->width;
    int cpus = map->width == 1 ? room - nodes + 1 : room / map->width;
    map->band_cpus = cpus > 1 ? (size_t)cpus : 1;
    for (size_t i = 0; i < map->n_cpus; i++)
        most = map->cpus[i].cpu > most ? map->cpus[i].cpu : most;
    map->digits = 1;
    while (map->digits < 5 && most >= power_of_ten(map->digits * digits_beside(map)))
        map->digits++;
}

static void gather_cpus(struct map *map)
{
    const struct frame *frame = map->scene->frame;
    const struct frame_table *cpus = &frame->table[TABLE_CPUS];
    map->cpus = xrealloc(NULL, cpus->n, sizeof(*map->cpus));
    int room = map->area.cols - map->names - 2;
    bool all = (int)cpus->n * 2 <= room;
    for (size_t i = 0; i < cpus->n; i++) {
        const struct frame_row *row = &cpus->rows[i];
        struct cpu_slot slot = {.row = row, .cpu = ((const struct cpus_info *)row->part.cur->info)->cpu};
        slot.numa = number_or(frame, row, "numa", 0);
        slot.package = number_or(frame, row, "package", 0);
        slot.core = number_or(frame, row, "core", slot.cpu);
        if (all || is_used(map, &slot))
            map->cpus[map->n_cpus++] = slot;
        else
            map->hidden++;
    }
    qsort(map->cpus, map->n_cpus, sizeof(*map->cpus), by_place);
    size_t nodes = number_nodes(map);
    measure(map, room, (int)nodes);
    find_pollers(map);
}

static int cpu_col(const struct map *map, size_t first, size_t place)
{
    const struct cpu_slot *slot = &map->cpus[first + place];
    int gaps = map->width == 1 ? (int)(slot->node - map->cpus[first].node) : 0;
    return map->names + 1 + (int)place * map->width + gaps;
}

static int cell_width(const struct map *map)
{
    return map->width > 1 ? map->width - 1 : 1;
}

/* One line of the band: a name and a short text for each CPU. */
static void put(const struct map *map, size_t first, size_t n, enum role role, const char *name,
                void (*text)(const struct map *, const struct cpu_slot *, char *, size_t, enum role *))
{
    if (map->row >= map->area.top + map->area.rows)
        return;
    canvas_text(map->canvas, map->row, 1, map->names - 1, role, name);
    for (size_t i = 0; i < n; i++) {
        char out[16] = "";
        enum role cell_role = ROLE_TEXT;
        text(map, &map->cpus[first + i], out, sizeof(out), &cell_role);
        canvas_right(map->canvas, map->row, cpu_col(map, first, i), cell_width(map), cell_role, out);
    }
}

/* Its digits from top to bottom, where they have no room beside one another. */
static void cpu_digits(const struct map *map, const struct cpu_slot *slot, char *out, size_t size,
                       enum role *role)
{
    int beside = digits_beside(map), below = map->digits - 1 - map->digit;
    uint64_t left = slot->cpu / power_of_ten(beside * below), all = power_of_ten(beside);
    *role = ROLE_HEADING;
    if (left >= all)
        snprintf(out, size, "%0*u", beside, (unsigned)(left % all));
    else if (left > 0 || below == 0)
        snprintf(out, size, "%u", (unsigned)left);
}

static void busy_text(const struct map *map, const struct cpu_slot *slot, char *out, size_t size,
                      enum role *role)
{
    double busy = percent(map->scene->frame, TABLE_CPUS, slot->row, "busy_pct");
    *role = busy >= 95 ? ROLE_BAD : busy >= 80 ? ROLE_WATCH : busy < 1 ? ROLE_DIM : ROLE_TEXT;
    if (busy < 0)
        snprintf(out, size, "-");
    else if (map->width > 3)
        snprintf(out, size, "%.0f", busy);
    else
        snprintf(out, size, "%s", canvas_level(map->canvas, (int)(busy * 8 / 100 + 0.5)));
}

static void softirq_text(const struct map *map, const struct cpu_slot *slot, char *out, size_t size,
                         enum role *role)
{
    double value = percent(map->scene->frame, TABLE_CPUS, slot->row, "softirq_pct");
    *role = value >= 90 ? ROLE_BAD : value >= 50 ? ROLE_WATCH : value < 1 ? ROLE_DIM : ROLE_TEXT;
    if (value < 0)
        snprintf(out, size, "-");
    else if (map->width > 3)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%s", canvas_level(map->canvas, (int)(value * 8 / 100 + 0.5)));
}

static void isolated_text(const struct map *map, const struct cpu_slot *slot, char *out, size_t size,
                          enum role *role)
{
    (void)map;
    const char *isolated = JOIN_TEXT(slot->row, struct cpus_info, isolated);
    bool yes = isolated && strcmp(isolated, "yes") == 0;
    *role = yes ? ROLE_TEXT : ROLE_DIM;
    snprintf(out, size, "%s", yes ? "i" : ".");
}

static void irq_text(const struct map *map, const struct cpu_slot *slot, char *out, size_t size,
                     enum role *role)
{
    (void)map;
    const char *irqs = JOIN_TEXT(slot->row, struct cpus_info, irqs);
    bool any = irqs && *irqs;
    *role = any ? ROLE_TEXT : ROLE_DIM;
    snprintf(out, size, "%s", any ? "x" : ".");
}

static void draw_numa(const struct map *map, size_t first, size_t n)
{
    if (map->row >= map->area.top + map->area.rows)
        return;
    canvas_text(map->canvas, map->row, 1, map->names - 1, ROLE_HEADING, "NUMA");
    for (size_t i = 0; i < n; i++)
        if (i == 0 || map->cpus[first + i].numa != map->cpus[first + i - 1].numa)
            canvas_textf(map->canvas, map->row, cpu_col(map, first, i), map->width * (int)(n - i),
                         ROLE_HEADING, "%s%llu", map->width > 3 ? "node " : "",
                         (unsigned long long)map->cpus[first + i].numa);
}

/* What stands where a thread's line meets a CPU. */
static const char *mark_of(struct map *map, const struct frame_row *thread, const struct cpu_slot *slot,
                           enum role *role)
{
    const char *allowed = JOIN_TEXT(thread, struct threads_info, allowed_cpus);
    const char *told = JOIN_TEXT(thread, struct threads_info, pinned_cpus);
    bool ran = ran_on(map->scene->frame, thread, slot->cpu), may = join_list_has(allowed, slot->cpu);
    bool differs = told && allowed && join_list_has(told, slot->cpu) != may;
    if (ran && slot->poller && !polls(thread)) {
        *role = ROLE_BAD;
        return map->width > 2 ? "#!" : "!";
    }
    map->disagree |= differs;
    *role = ran ? ROLE_CPU : differs ? ROLE_WATCH : may ? ROLE_TEXT : ROLE_DIM;
    if (ran)
        return "#";
    return differs ? may ? "+" : "o" : may ? "-" : ".";
}

static void draw_thread(struct map *map, size_t first, size_t n, const struct frame_row *thread,
                        bool selected)
{
    char name[160];
    join_thread_name(name, sizeof(name), map->scene->frame, thread);
    canvas_text(map->canvas, map->row, 1, map->names - 1, ROLE_TEXT, name);
    if (!is_placed(thread))
        canvas_text(map->canvas, map->row, cpu_col(map, first, 0), map->area.cols - map->names - 1, ROLE_DIM,
                    "not known here");
    for (size_t i = 0; i < n && is_placed(thread); i++) {
        enum role role;
        const char *text = mark_of(map, thread, &map->cpus[first + i], &role);
        canvas_right(map->canvas, map->row, cpu_col(map, first, i), cell_width(map), role, text);
    }
    if (selected)
        canvas_select(map->canvas, map->row, 0, map->area.cols);
}

static const struct {
    const char *name;
    void (*text)(const struct map *, const struct cpu_slot *, char *, size_t, enum role *);
    bool brief; /* also where lines are short */
} lines[] = {
    {"busy %", busy_text, true},
    {"softirq %", softirq_text, false},
    {"isolated", isolated_text, true},
    {"NIC interrupts", irq_text, false},
};

#define N_LINES (sizeof(lines) / sizeof(lines[0]))

static void draw_heads(struct map *map, size_t first, size_t n)
{
    draw_numa(map, first, n);
    map->row++;
    for (map->digit = 0; map->digit < map->digits; map->digit++, map->row++)
        put(map, first, n, ROLE_HEADING, map->digit == map->digits - 1 ? "CPU" : "", cpu_digits);
    for (size_t i = 0; i < N_LINES; i++) {
        if (map->brief && !lines[i].brief)
            continue;
        put(map, first, n, ROLE_HEADING, lines[i].name, lines[i].text);
        map->row++;
    }
}

static void draw_band(struct map *map, size_t first, size_t n, size_t shown)
{
    const struct table_state *state = map->scene->state;
    draw_heads(map, first, n);
    for (size_t i = state->top; i < state->n_rows && i < state->top + shown; i++) {
        if (map->row >= map->area.top + map->area.rows)
            return;
        draw_thread(map, first, n, state->rows[i], i == state->cursor);
        map->row++;
    }
    map->row++;
}

/* Threads that fit under the heads of all bands. */
static size_t rows_shown(const struct map *map, size_t bands)
{
    int heads = 1 + map->digits, room;
    for (size_t i = 0; i < N_LINES; i++)
        heads += !map->brief || lines[i].brief;
    room = (map->area.rows - 1) / (int)bands - heads - 1; /* a legend, and a blank line under each band */
    return room > 1 ? (size_t)room : 1;
}

/* What the marks mean, and then what is not shown, as far as whole remarks fit. */
static void draw_legend(const struct map *map)
{
    char hidden[64] = "";
    if (map->hidden)
        snprintf(hidden, sizeof(hidden), "%zu unused CPUs", map->hidden);
    const char *const remarks[] = {"# ran  - may run", "! beside a poller",
                                   map->disagree ? "o pinned  + not pinned" : "", hidden};
    int row = map->area.top + map->area.rows - 1, col = 1;
    for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++) {
        int width = canvas_width(map->canvas, remarks[i]);
        if (width == 0 || col + width > map->area.cols)
            continue;
        canvas_text(map->canvas, row, col, width, ROLE_DIM, remarks[i]);
        col += width + 2;
    }
}

void view_pinmap_draw(struct canvas *canvas, struct area area, const struct scene *scene)
{
    struct map map = {.canvas = canvas, .area = area, .scene = scene, .row = area.top};
    struct table_state *state = scene->state;
    map.names = area.cols >= 100 ? 26 : 16;
    gather_cpus(&map);
    size_t bands = (map.n_cpus + map.band_cpus - 1) / map.band_cpus;
    bands = bands ? bands : 1;
    size_t shown = rows_shown(&map, bands);
    map.brief = shown < state->n_rows && area.rows < 40;
    shown = rows_shown(&map, bands);
    table_scroll(state, shown);
    map.area.rows -= 1;
    for (size_t first = 0; first < map.n_cpus; first += map.band_cpus) {
        size_t n = map.n_cpus - first < map.band_cpus ? map.n_cpus - first : map.band_cpus;
        draw_band(&map, first, n, shown);
    }
    map.area.rows += 1;
    if (state->n_rows == 0)
        canvas_text(canvas, map.row, 1, area.cols - 1, ROLE_DIM,
                    "no thread that matters here: no VM, no OVS, no DPDK process");
    draw_legend(&map);
    free(map.cpus);
}
