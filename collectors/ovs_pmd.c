/* SPDX-License-Identifier: MIT */
/*
 * The parsers declared in ovs_pmd.h. One table of labels covers the eight forms in which releases 2.8 to 4.0
 * print a PMD thread's counters; a new label is one row there. Pure functions of the text, called by the OVS
 * collector.
 */
#include "collectors/ovs_pmd.h"

#include <stdlib.h>
#include <string.h>

/* Pseudo entries: the row has no counter, or no gauge. */
#define NO_COUNTER OVS_PMD_N_COUNTERS
#define NO_GAUGE   OVS_PMD_N_GAUGES

/*
 * A line "label: N (a UNIT, b UNIT)": N goes to `counter`, the number before `unit` in the brackets to
 * `gauge`. With no counter the value itself is the gauge, followed by `unit`.
 */
static const struct pmd_label {
    const char *label;
    enum ovs_pmd_counter counter;
    enum ovs_pmd_gauge gauge;
    const char *unit;
} pmd_labels[] = {
    /* pmd-stats-show */
    {"packets received", OVS_PMD_RX_PACKETS, NO_GAUGE, ""},
    {"packet recirculations", OVS_PMD_RECIRC, NO_GAUGE, ""},
    {"phwol hits", OVS_PMD_PHWOL, NO_GAUGE, ""},
    {"mfex opt hits", OVS_PMD_MFEX, NO_GAUGE, ""},
    {"simple match hits", OVS_PMD_SIMPLE, NO_GAUGE, ""},
    {"emc hits", OVS_PMD_EMC, NO_GAUGE, ""},
    {"smc hits", OVS_PMD_SMC, NO_GAUGE, ""},
    {"megaflow hits", OVS_PMD_MEGAFLOW, NO_GAUGE, ""},
    {"avg. subtable lookups per hit", NO_COUNTER, OVS_PMD_LOOKUPS_PER_HIT, ""}, /* 2.8 */
    {"avg. subtable lookups per megaflow hit", NO_COUNTER, OVS_PMD_LOOKUPS_PER_HIT, ""},
    {"avg. packets per output batch", NO_COUNTER, OVS_PMD_PACKETS_PER_BATCH, ""},
    {"miss", OVS_PMD_MISS, NO_GAUGE, ""}, /* 2.8 */
    {"lost", OVS_PMD_LOST, NO_GAUGE, ""}, /* 2.8 */
    {"miss with success upcall", OVS_PMD_UPCALLS, NO_GAUGE, ""},
    {"miss with failed upcall", OVS_PMD_LOST, NO_GAUGE, ""},
    {"idle cycles", OVS_PMD_IDLE_CYCLES, NO_GAUGE, ""},
    {"processing cycles", OVS_PMD_BUSY_CYCLES, NO_GAUGE, ""},
    /* pmd-perf-show */
    {"Measurement duration", NO_COUNTER, OVS_PMD_DURATION_S, "s"},
    {"Cycles", OVS_PMD_USED_CYCLES, NO_GAUGE, ""}, /* 2.10 */
    {"Iterations", OVS_PMD_ITERATIONS, NO_GAUGE, ""},
    {"- idle", OVS_PMD_IDLE_ITERATIONS, OVS_PMD_IDLE_PCT, "% cycles"}, /* 2.10 */
    {"- busy", OVS_PMD_BUSY_ITERATIONS, OVS_PMD_BUSY_PCT, "% cycles"}, /* 2.10 */
    {"- Used TSC cycles", OVS_PMD_USED_CYCLES, OVS_PMD_USED_PCT, "% of total cycles"},
    {"- idle iterations", OVS_PMD_IDLE_ITERATIONS, OVS_PMD_IDLE_PCT, "% of used cycles"},
    {"- busy iterations", OVS_PMD_BUSY_ITERATIONS, OVS_PMD_BUSY_PCT, "% of used cycles"},
    {"- sleep iterations", OVS_PMD_SLEEP_ITERATIONS, NO_GAUGE, ""},
    {"Sleep time (us)", OVS_PMD_SLEEP_US, NO_GAUGE, ""},
    {"Rx packets", OVS_PMD_RX_PACKETS, OVS_PMD_CYCLES_PER_PACKET, "cycles/pkt"},
    {"Datapath passes", OVS_PMD_PASSES, NO_GAUGE, ""},
    {"- PHWOL hits", OVS_PMD_PHWOL, NO_GAUGE, ""},
    {"- MFEX Opt hits", OVS_PMD_MFEX, NO_GAUGE, ""},
    {"- Simple Match hits", OVS_PMD_SIMPLE, NO_GAUGE, ""},
    {"- EMC hits", OVS_PMD_EMC, NO_GAUGE, ""},
    {"- SMC hits", OVS_PMD_SMC, NO_GAUGE, ""},
    {"- Megaflow hits", OVS_PMD_MEGAFLOW, OVS_PMD_LOOKUPS_PER_HIT, "subtbl lookups/hit"},
    {"- Upcalls", OVS_PMD_UPCALLS, OVS_PMD_US_PER_UPCALL, "us/upcall"},
    {"- Lost upcalls", OVS_PMD_LOST, NO_GAUGE, ""},
    {"Tx packets", OVS_PMD_TX_PACKETS, NO_GAUGE, ""},
    {"Tx batches", OVS_PMD_TX_BATCHES, OVS_PMD_PACKETS_PER_BATCH, "pkts/batch"},
};

/* ---- the head of a block ---- */

static bool take_id(struct ovs_span *line, const char *word, int *id)
{
    struct ovs_span rest = *line;
    uint64_t v;

    if (!ovs_take(&rest, word))
        return true; /* each is left out when unknown */
    if (!ovs_take_u64(&rest, &v) || v > INT32_MAX)
        return false;
    *id = (int)v;
    *line = rest;
    return true;
}

/* "pmd thread numa_id 0 core_id 3:" or "main thread:", at the very start of a line; else `id` stays as it is.
 */
static bool parse_head(struct ovs_span line, struct ovs_pmd_id *id)
{
    struct ovs_pmd_id found = {.numa_id = -1, .core_id = -1, .main_thread = ovs_take(&line, "main thread")};

    if (!found.main_thread && !ovs_take(&line, "pmd thread"))
        return false;
    if (!take_id(&line, " numa_id ", &found.numa_id) || !take_id(&line, " core_id ", &found.core_id) ||
        !ovs_span_is(line, ":"))
        return false;
    *id = found;
    return true;
}

/* ---- pmd-stats-show and pmd-perf-show ---- */

static const struct pmd_label *find_label(struct ovs_span label)
{
    for (size_t i = 0; i < sizeof(pmd_labels) / sizeof(pmd_labels[0]); i++)
        if (ovs_span_is(label, pmd_labels[i].label))
            return &pmd_labels[i];
    return NULL;
}

static void set_counter(struct ovs_pmd *pmd, enum ovs_pmd_counter which, uint64_t value)
{
    pmd->counters[which] = value;
    pmd->has |= 1u << which;
}

static void set_gauge(struct ovs_pmd *pmd, enum ovs_pmd_gauge which, double value)
{
    pmd->gauges[which] = value;
    pmd->has_gauges |= 1u << which;
}

/* "12.5 unit" as a whole. */
static bool parse_quantity(struct ovs_span text, const char *unit, double *value)
{
    text = ovs_span_trim(text);
    return ovs_take_decimal(&text, value) && ovs_span_is(ovs_span_trim(text), unit);
}

/* The quantity with that unit among those in the brackets: "(0 Kpps, 82891 cycles/pkt)". */
static bool find_quantity(struct ovs_span text, const char *unit, double *value)
{
    text = ovs_span_trim(text);
    if (!ovs_take(&text, "(") || !ovs_span_ends(text, ")"))
        return false;
    text.len--;
    while (text.len > 0) {
        const char *comma = memchr(text.s, ',', text.len);
        size_t len = comma ? (size_t)(comma - text.s) : text.len;
        if (parse_quantity((struct ovs_span){.s = text.s, .len = len}, unit, value))
            return true;
        text = ovs_span_from(text, len + 1);
    }
    return false;
}

static void parse_pmd_line(struct ovs_pmd *pmd, struct ovs_span line)
{
    struct ovs_span name, text;
    const struct pmd_label *label = ovs_split_label(line, &name, &text) ? find_label(name) : NULL;
    uint64_t counter;
    double gauge;

    if (!label)
        return;
    if (label->counter == NO_COUNTER) {
        if (parse_quantity(text, label->unit, &gauge))
            set_gauge(pmd, label->gauge, gauge);
        return;
    }
    if (!ovs_take_u64(&text, &counter))
        return;
    set_counter(pmd, label->counter, counter);
    if (label->gauge != NO_GAUGE && find_quantity(text, label->unit, &gauge))
        set_gauge(pmd, label->gauge, gauge);
}

bool ovs_pmd_get(const struct ovs_pmd *pmd, enum ovs_pmd_counter which, uint64_t *value)
{
    if (!(pmd->has & (1u << which)))
        return false;
    *value = pmd->counters[which];
    return true;
}

bool ovs_pmd_gauge(const struct ovs_pmd *pmd, enum ovs_pmd_gauge which, double *value)
{
    if (!(pmd->has_gauges & (1u << which)))
        return false;
    *value = pmd->gauges[which];
    return true;
}

/* Sets `to` to the sum of `n` counters unless it is known or one of them is not. */
static void derive_sum(struct ovs_pmd *pmd, enum ovs_pmd_counter to, const enum ovs_pmd_counter *from,
                       size_t n)
{
    uint64_t sum = 0, v;

    for (size_t i = 0; i < n; i++)
        if (!ovs_pmd_get(pmd, from[i], &v) || __builtin_add_overflow(sum, v, &sum))
            return;
    if (!(pmd->has & (1u << to)))
        set_counter(pmd, to, sum);
}

/* What a release prints only in parts. */
static void complete_pmd(struct ovs_pmd *pmd)
{
    static const enum ovs_pmd_counter received[] = {OVS_PMD_RX_PACKETS, OVS_PMD_RECIRC};
    static const enum ovs_pmd_counter classified[] = {OVS_PMD_EMC, OVS_PMD_MEGAFLOW, OVS_PMD_MISS};
    static const enum ovs_pmd_counter cycles[] = {OVS_PMD_IDLE_CYCLES, OVS_PMD_BUSY_CYCLES};
    uint64_t miss, lost, passes, rx;

    derive_sum(pmd, OVS_PMD_PASSES, received, 2);
    derive_sum(pmd, OVS_PMD_PASSES, classified, 3);
    derive_sum(pmd, OVS_PMD_USED_CYCLES, cycles, 2);
    if (ovs_pmd_get(pmd, OVS_PMD_MISS, &miss) && ovs_pmd_get(pmd, OVS_PMD_LOST, &lost) && miss >= lost)
        set_counter(pmd, OVS_PMD_UPCALLS, miss - lost);
    if (!(pmd->has & (1u << OVS_PMD_RECIRC)) && ovs_pmd_get(pmd, OVS_PMD_PASSES, &passes) &&
        ovs_pmd_get(pmd, OVS_PMD_RX_PACKETS, &rx) && passes >= rx)
        set_counter(pmd, OVS_PMD_RECIRC, passes - rx);
}

static struct ovs_pmd *add_pmd(struct ovs_pmd_list *list, struct ovs_pmd_id id)
{
    if (!ovs_grow((void **)&list->items, &list->cap, list->n, sizeof(*list->items), OVS_MAX_PMDS)) {
        list->truncated = true;
        return NULL;
    }
    list->items[list->n] = (struct ovs_pmd){.id = id};
    return &list->items[list->n++];
}

void ovs_pmd_parse(struct ovs_pmd_list *list, struct ovs_span text)
{
    struct ovs_pmd before = {0}; /* pmd-perf-show says the duration before the head of the block */
    struct ovs_pmd *pmd = &before;
    struct ovs_span line;
    struct ovs_pmd_id id;

    list->n = 0;
    list->truncated = false;
    while (ovs_next_line(&text, &line)) {
        if (ovs_span_starts(line, "Measurement duration:")) {
            before = (struct ovs_pmd){0};
            pmd = &before;
        }
        if (!parse_head(line, &id)) {
            parse_pmd_line(pmd, line);
            continue;
        }
        pmd = add_pmd(list, id);
        if (!pmd)
            break;
        if (before.has_gauges)
            set_gauge(pmd, OVS_PMD_DURATION_S, before.gauges[OVS_PMD_DURATION_S]);
        before = (struct ovs_pmd){0};
    }
    for (size_t i = 0; i < list->n; i++)
        complete_pmd(&list->items[i]);
}

void ovs_pmd_free(struct ovs_pmd_list *list)
{
    free(list->items);
    *list = (struct ovs_pmd_list){0};
}

bool ovs_pmd_busy_cycles(const struct ovs_pmd *pmd, double *cycles, double *error)
{
    uint64_t n;
    double avg;
    bool known = false;

    if (ovs_pmd_get(pmd, OVS_PMD_BUSY_CYCLES, &n)) {
        *cycles = (double)n;
        *error = 0;
        return true;
    }
    if (ovs_pmd_get(pmd, OVS_PMD_USED_CYCLES, &n) && ovs_pmd_gauge(pmd, OVS_PMD_BUSY_PCT, &avg)) {
        *cycles = (double)n * avg / 100;
        *error = (double)n * 0.05 / 100; /* printed to a tenth of a percent */
        known = true;
    }
    if (ovs_pmd_get(pmd, OVS_PMD_RX_PACKETS, &n) && ovs_pmd_gauge(pmd, OVS_PMD_CYCLES_PER_PACKET, &avg) &&
        (!known || (double)n * 0.5 < *error)) {
        *cycles = (double)n * avg;
        *error = (double)n * 0.5;
        known = true;
    }
    return known;
}

/* ---- pmd-rxq-show ---- */

/* "12 %" or "NOT AVAIL" (and anything else) to -1. */
static int parse_percent(struct ovs_span text)
{
    uint64_t v;
    text = ovs_span_trim(text);
    if (!ovs_take_u64(&text, &v) || v > 1000)
        return -1;
    return ovs_span_starts(ovs_span_trim(text), "%") ? (int)v : -1;
}

/* Where the last "queue-id:" of a line stands that a number follows; only from there on the text is the
 * daemon's. */
static bool find_queue_id(struct ovs_span line, size_t *at, struct ovs_span *tail)
{
    static const char word[] = "queue-id:";
    size_t len = sizeof(word) - 1;

    for (size_t i = line.len; i-- > 1;) {
        struct ovs_span rest = ovs_span_from(line, i);
        bool separated = line.s[i - 1] == ' ' || line.s[i - 1] == '\t';
        if (!separated || !ovs_span_starts(rest, word))
            continue;
        *at = i;
        *tail = ovs_span_trim(ovs_span_from(rest, len));
        return tail->len > 0 && tail->s[0] >= '0' && tail->s[0] <= '9';
    }
    return false;
}

static void add_rxq(struct ovs_rxq_table *table, struct ovs_rxq rxq)
{
    if (!ovs_grow((void **)&table->rxqs, &table->rxqs_cap, table->n_rxqs, sizeof(rxq), OVS_MAX_RXQS)) {
        table->truncated = true;
        return;
    }
    table->rxqs[table->n_rxqs++] = rxq;
}

/* Behind "queue-id:": "0 1" (2.8: all queues of the port), or " 0 (enabled)   pmd usage: 12 %". */
static void parse_queues(struct ovs_rxq_table *table, struct ovs_span port, struct ovs_span tail)
{
    struct ovs_rxq rxq = {
        .thread = (uint32_t)(table->n_threads - 1), .port = port, .enabled = OVS_UNKNOWN, .usage_pct = -1};
    struct ovs_span rest = tail;
    uint64_t id;

    for (size_t i = 0; i < tail.len; i++) {
        struct ovs_span from = ovs_span_from(tail, i);
        if (ovs_take(&from, "pmd usage:"))
            rxq.usage_pct = parse_percent(from);
        else if (ovs_span_starts(from, "(enabled)"))
            rxq.enabled = OVS_YES;
        else if (ovs_span_starts(from, "(disabled)"))
            rxq.enabled = OVS_NO;
    }
    while (ovs_take_u64(&rest, &id) && id <= UINT32_MAX) {
        rxq.queue_id = (uint32_t)id;
        add_rxq(table, rxq);
        rest = ovs_span_trim(rest);
    }
}

/* A "port:" line whose name may hold newlines: it goes on until a line ends the name with a queue-id. */
struct port_line {
    bool open;
    const char *start; /* of the name */
};

/* Returns true while the line belongs to a port. */
static bool parse_port_line(struct ovs_rxq_table *table, struct port_line *port, struct ovs_span line)
{
    struct ovs_span name = line, tail;
    size_t at;

    if (port->open && (size_t)(line.s - port->start) > OVS_MAX_PORT_NAME)
        port->open = false;
    if (!port->open) {
        if (!ovs_take(&name, "  port: ") && !ovs_take(&name, "\tport: "))
            return false;
        port->open = true;
        port->start = name.s;
    }
    if (!find_queue_id(line, &at, &tail) || line.s + at <= port->start)
        return true;
    name = (struct ovs_span){.s = port->start, .len = (size_t)(line.s + at - port->start)};
    port->open = false;
    if (table->n_threads > 0)
        parse_queues(table, ovs_span_trim(name), tail);
    return true;
}

static void add_rxq_thread(struct ovs_rxq_table *table, struct ovs_pmd_id id)
{
    struct ovs_rxq_thread thread = {.id = id, .isolated = OVS_UNKNOWN, .overhead_pct = -1};

    if (!ovs_grow((void **)&table->threads, &table->threads_cap, table->n_threads, sizeof(thread),
                  OVS_MAX_PMDS)) {
        table->truncated = true;
        return;
    }
    table->threads[table->n_threads++] = thread;
}

static void parse_thread_line(struct ovs_rxq_table *table, struct ovs_span line)
{
    struct ovs_rxq_thread *thread = table->n_threads ? &table->threads[table->n_threads - 1] : NULL;
    struct ovs_span label, value;

    if (ovs_take(&line, "Displaying last ")) {
        if (!ovs_take_u64(&line, &table->window_s))
            table->window_s = 0;
        return;
    }
    if (!thread || !ovs_split_label(line, &label, &value))
        return;
    if (ovs_span_is(label, "overhead"))
        thread->overhead_pct = parse_percent(value);
    else if (ovs_span_is(label, "isolated"))
        thread->isolated = ovs_span_is(value, "true")    ? OVS_YES
                           : ovs_span_is(value, "false") ? OVS_NO
                                                         : OVS_UNKNOWN;
}

void ovs_rxq_parse(struct ovs_rxq_table *table, struct ovs_span text)
{
    struct port_line port = {0};
    struct ovs_span line;
    struct ovs_pmd_id id;

    table->n_threads = table->n_rxqs = 0;
    table->window_s = 0;
    table->truncated = false;
    while (!table->truncated && ovs_next_line(&text, &line)) {
        if (parse_port_line(table, &port, line))
            continue;
        if (parse_head(line, &id))
            add_rxq_thread(table, id);
        else
            parse_thread_line(table, line);
    }
}

void ovs_rxq_free(struct ovs_rxq_table *table)
{
    free(table->threads);
    free(table->rxqs);
    *table = (struct ovs_rxq_table){0};
}

/* ---- pmd-sleep-show ---- */

static void add_sleep(struct ovs_sleep_list *list, struct ovs_pmd_id id, uint64_t max_us)
{
    if (!ovs_grow((void **)&list->items, &list->cap, list->n, sizeof(*list->items), OVS_MAX_PMDS)) {
        list->truncated = true;
        return;
    }
    list->items[list->n++] = (struct ovs_pmd_sleep){.id = id, .max_us = max_us};
}

void ovs_sleep_parse(struct ovs_sleep_list *list, struct ovs_span text)
{
    struct ovs_pmd_id id = {0};
    struct ovs_span line, label, value;
    bool in_thread = false;
    uint64_t us;

    list->n = 0;
    list->has_default = list->truncated = false;
    while (ovs_next_line(&text, &line)) {
        if (parse_head(line, &id)) {
            in_thread = true;
            continue;
        }
        if (!ovs_split_label(line, &label, &value) || !ovs_take_u64(&value, &us))
            continue;
        if (ovs_span_is(label, "Default max sleep")) {
            list->has_default = true;
            list->default_us = us;
        } else if (in_thread && ovs_span_is(label, "max sleep")) {
            add_sleep(list, id, us);
        }
    }
}

void ovs_sleep_free(struct ovs_sleep_list *list)
{
    free(list->items);
    *list = (struct ovs_sleep_list){0};
}
