/* SPDX-License-Identifier: MIT */
/*
 * The pin map: CPUs by NUMA node and core across, threads down; where each may run, where it ran, and what
 * else is on that CPU. CPUs take as many cells as there is room for, one at the least; what does not fit
 * stands in a further band below, and on a large host CPUs that nobody uses and nobody is bound to are left
 * out and counted.
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
    bool poller; /* a thread that polls ran here */
};

struct map {
    struct canvas *canvas;
    struct area area;
    const struct scene *scene;
    struct cpu_slot *cpus;
    size_t n_cpus, hidden;
    int names; /* cells that names take */
    int width; /* cells a CPU takes */
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

/* Somebody ran on it, or it is one of the few CPUs that a thread is bound to. */
static bool is_used(const struct map *map, const struct cpu_slot *slot)
{
    const struct frame *frame = map->scene->frame;
    if (percent(frame, TABLE_CPUS, slot->row, "busy_pct") >= 5)
        return true;
    const struct table_state *state = map->scene->state;
    for (size_t i = 0; i < state->n_rows; i++) {
        const char *allowed = JOIN_TEXT(state->rows[i], struct threads_info, allowed_cpus);
        if (ran_on(frame, state->rows[i], slot->cpu) ||
            (allowed && join_is_pinned(frame, allowed) && join_list_has(allowed, slot->cpu)))
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
    map->width = map->n_cpus && room / (int)map->n_cpus < 5 ? room / (int)map->n_cpus : 5;
    map->width = map->width < 2 ? 2 : map->width;
    map->band_cpus = room > map->width ? (size_t)(room / map->width) : 1;
    find_pollers(map);
}

static int cpu_col(const struct map *map, size_t place)
{
    return map->names + 1 + (int)place * map->width;
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
        canvas_right(map->canvas, map->row, cpu_col(map, i), map->width - 1, cell_role, out);
    }
}

static void cpu_number(const struct map *map, const struct cpu_slot *slot, char *out, size_t size,
                       enum role *role)
{
    *role = ROLE_HEADING;
    if (map->width > 3) {
        snprintf(out, size, "%llu", (unsigned long long)slot->cpu);
        return;
    }
    /* Too narrow for whole numbers: the last digits; the first CPU of each ten names the ten in the line
     * above. */
    snprintf(out, size, "%llu", (unsigned long long)(slot->cpu % (map->width > 2 ? 100 : 10)));
}

static void cpu_tens(const struct map *map, const struct cpu_slot *slot, char *out, size_t size,
                     enum role *role)
{
    *role = ROLE_HEADING;
    unsigned long long tens = slot->cpu / (map->width > 2 ? 100 : 10);
    if (tens)
        snprintf(out, size, "%llu", tens % (map->width > 2 ? 100 : 10));
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
            canvas_textf(map->canvas, map->row, cpu_col(map, i), map->width * (int)(n - i), ROLE_HEADING,
                         "%s%llu", map->width > 3 ? "node " : "",
                         (unsigned long long)map->cpus[first + i].numa);
}

static void draw_thread(const struct map *map, size_t first, size_t n, const struct frame_row *thread,
                        bool selected)
{
    char name[160];
    const char *allowed = JOIN_TEXT(thread, struct threads_info, allowed_cpus);
    join_thread_name(name, sizeof(name), map->scene->frame, thread);
    canvas_text(map->canvas, map->row, 1, map->names - 1, ROLE_TEXT, name);
    for (size_t i = 0; i < n; i++) {
        const struct cpu_slot *slot = &map->cpus[first + i];
        bool ran = ran_on(map->scene->frame, thread, slot->cpu), may = join_list_has(allowed, slot->cpu);
        bool shares = ran && slot->poller && !polls(thread);
        const char *text = shares ? map->width > 2 ? "#!" : "!" : ran ? "#" : may ? "-" : ".";
        enum role role = shares ? ROLE_BAD : ran ? ROLE_CPU : may ? ROLE_TEXT : ROLE_DIM;
        canvas_right(map->canvas, map->row, cpu_col(map, i), map->width - 1, role, text);
    }
    if (selected)
        canvas_select(map->canvas, map->row, 0, map->area.cols);
}

static void draw_band(struct map *map, size_t first, size_t n, size_t shown)
{
    const struct table_state *state = map->scene->state;
    static const struct {
        const char *name;
        void (*text)(const struct map *, const struct cpu_slot *, char *, size_t, enum role *);
    } lines[] = {
        {"CPU", cpu_number},         {"busy %", busy_text},        {"softirq %", softirq_text},
        {"isolated", isolated_text}, {"NIC interrupts", irq_text},
    };
    draw_numa(map, first, n);
    map->row++;
    if (map->width <= 3) {
        put(map, first, n, ROLE_HEADING, "", cpu_tens);
        map->row++;
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++, map->row++)
        put(map, first, n, ROLE_HEADING, lines[i].name, lines[i].text);
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
    int heads = map->width <= 3 ? 9 : 8, room = (map->area.rows - 2) / (int)bands - heads;
    return room > 1 ? (size_t)room : 1;
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
    table_scroll(state, shown);
    map.area.rows -= 1;
    for (size_t first = 0; first < map.n_cpus; first += map.band_cpus) {
        size_t n = map.n_cpus - first < map.band_cpus ? map.n_cpus - first : map.band_cpus;
        draw_band(&map, first, n, shown);
    }
    if (state->n_rows == 0)
        canvas_text(canvas, map.row, 1, area.cols - 1, ROLE_DIM,
                    "no thread that matters here: no VM, no OVS, no DPDK process");
    int col = canvas_text(canvas, area.top + area.rows - 1, 1, area.cols - 1, ROLE_DIM,
                          "# ran  - may run  ! beside a busy poller  i isolated  x interrupts");
    if (map.hidden)
        canvas_textf(canvas, area.top + area.rows - 1, col + 2, area.cols - col - 2, ROLE_DIM,
                     "%zu unused CPUs left out", map.hidden);
    free(map.cpus);
}
