/* SPDX-License-Identifier: MIT */
/*
 * The history (see store.h): a list of samples for each feed and a list of moments. Over the budget, every
 * second moment of the older half goes, and with it the samples that no moment shows any more, so that what
 * is left is consistent: each moment has the samples it had, only their predecessors lie further back.
 */
#include "src/store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"
#include "src/packed.h"

#define MAX_MOMENTS 7200 /* two hours at one a second before the first thinning */
#define MIN_MOMENTS 8    /* kept whatever they cost */
#define UNPACKED    2    /* newest samples of a feed: those of the live frame */
#define WORTH_BYTES 8192 /* packing smaller ones saves nothing */

/* A sample whose read ended before a tick and that came after it belongs to the next: frames know it from
 * shown_ns on. One that no live frame needs any more is packed when that is worth it: sample is then without
 * rows. */
struct kept {
    struct sample *sample;
    struct packed *packed;
    int64_t shown_ns;
};

struct feed_history {
    const char *name;
    int64_t stale_ns;
    unsigned annotates;
    size_t n, alloc;
    size_t shown;      /* n at the last tick */
    struct kept *kept; /* oldest first */
    bool concludes;    /* its samples are what was concluded of a moment */
};

struct moment {
    int64_t t_ns, wall_ns;
};

struct store {
    size_t budget, bytes;
    int64_t start_ns;
    size_t n_feeds;
    struct feed_history *feeds;
    size_t n_moments, moments_alloc;
    struct moment *moments; /* oldest first */
};

struct store *store_new(size_t budget, int64_t start_ns)
{
    struct store *store = xzalloc(sizeof(*store));
    store->budget = budget;
    store->start_ns = start_ns;
    return store;
}

static void free_kept(struct kept *kept)
{
    sample_unref(kept->sample);
    packed_free(kept->packed);
}

void store_free(struct store *store)
{
    if (!store)
        return;
    for (size_t f = 0; f < store->n_feeds; f++) {
        for (size_t i = 0; i < store->feeds[f].n; i++)
            free_kept(&store->feeds[f].kept[i]);
        free(store->feeds[f].kept);
    }
    free(store->feeds);
    free(store->moments);
    free(store);
}

size_t store_add_feed(struct store *store, const char *name)
{
    store->feeds = xrealloc(store->feeds, store->n_feeds + 1, sizeof(*store->feeds));
    store->feeds[store->n_feeds] = (struct feed_history){.name = name};
    return store->n_feeds++;
}

void store_set_annotates(struct store *store, size_t feed, unsigned tables)
{
    store->feeds[feed].annotates = tables;
}

void store_set_stale(struct store *store, size_t feed, int64_t stale_ns)
{
    store->feeds[feed].stale_ns = stale_ns;
}

/* Bytes of a feed's i-th sample; an inventory counts with the first of those in a row that share it. */
static size_t kept_bytes(const struct feed_history *history, size_t i)
{
    const struct sample *sample = history->kept[i].sample;
    size_t bytes = sample_bytes(sample) + sizeof(struct kept);
    if (history->kept[i].packed)
        bytes += packed_bytes(history->kept[i].packed);
    if (i == 0 || history->kept[i - 1].sample->inventory != sample->inventory)
        bytes += inventory_bytes(sample->inventory);
    return bytes;
}

static void keep(struct store *store, struct feed_history *history, struct sample *sample, int64_t shown_ns)
{
    if (history->n == history->alloc) {
        history->alloc = history->alloc ? history->alloc * 2 : 64;
        history->kept = xrealloc(history->kept, history->alloc, sizeof(struct kept));
    }
    history->kept[history->n] = (struct kept){.sample = sample, .shown_ns = shown_ns};
    store->bytes += kept_bytes(history, history->n++);
}

/* Of several samples within one tick the last one stays: a rate over the time since a sample that no frame
 * showed would leave out what came before, and a recording would add up to less than was counted. Before the
 * first shown one nothing can be left out. */
void store_put(struct store *store, size_t feed, struct sample *sample)
{
    struct feed_history *history = &store->feeds[feed];
    int64_t tick_ns = store->n_moments ? store->moments[store->n_moments - 1].t_ns : INT64_MIN;
    if (history->shown > 0 && history->n > history->shown) {
        store->bytes -= kept_bytes(history, --history->n);
        free_kept(&history->kept[history->n]);
    }
    keep(store, history, sample, sample->t1_ns > tick_ns ? sample->t1_ns : tick_ns + 1);
}

void store_conclude(struct store *store, size_t feed, struct sample *sample)
{
    struct feed_history *history = &store->feeds[feed];
    keep(store, history, sample, store->moments[store->n_moments - 1].t_ns);
    history->shown = history->n;
    history->concludes = true;
}

size_t store_bytes(const struct store *store)
{
    return store->bytes + store->n_moments * sizeof(struct moment);
}

/* A sample like that one, with its times and inventory, and without rows. */
static struct sample *shell_of(const struct sample *sample)
{
    struct sample *shell = sample_new(sample->inventory);
    shell->seq = sample->seq;
    shell->t0_ns = sample->t0_ns;
    shell->t1_ns = sample->t1_ns;
    shell->wall_ns = sample->wall_ns;
    shell->cpu_ns = sample->cpu_ns;
    return shell;
}

/* Packs the sample that has just left the live frame. */
static void pack_older(struct store *store, struct feed_history *history)
{
    if (history->n <= UNPACKED)
        return;
    size_t i = history->n - UNPACKED - 1;
    struct kept *kept = &history->kept[i];
    if (kept->packed || sample_bytes(kept->sample) < WORTH_BYTES)
        return;
    store->bytes -= kept_bytes(history, i);
    struct sample *whole = kept->sample;
    kept->packed = packed_new(whole);
    kept->sample = shell_of(whole);
    sample_unref(whole);
    store->bytes += kept_bytes(history, i);
}

/* The kept sample with its rows; the reference is the caller's. */
static struct sample *whole_sample(const struct kept *kept)
{
    if (!kept->packed)
        return sample_ref(kept->sample);
    struct sample *sample = shell_of(kept->sample);
    packed_unpack(kept->packed, sample);
    return sample;
}

/* Number of the newest sample that was there at t, plus one; 0 when there was none. */
static size_t samples_until(const struct feed_history *history, int64_t t_ns)
{
    size_t low = 0, high = history->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->kept[middle].shown_ns <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Leaves what a moment shows, and adds it up. */
static void drop_unshown(struct store *store, struct feed_history *history)
{
    size_t kept = 0, next = 0;
    bool *shown = xzalloc(history->n);
    for (size_t m = 0; m < store->n_moments; m++) {
        next = samples_until(history, store->moments[m].t_ns);
        if (next > 0)
            shown[next - 1] = true;
    }
    for (size_t i = 0; i < history->n; i++) {
        if (shown[i] || i >= next) /* newer than the last moment: the next frame's */
            history->kept[kept++] = history->kept[i];
        else
            free_kept(&history->kept[i]);
    }
    history->n = kept;
    free(shown);
    for (size_t i = 0; i < kept; i++)
        store->bytes += kept_bytes(history, i);
}

static void thin(struct store *store)
{
    size_t half = store->n_moments / 2, kept = 0;
    for (size_t m = 0; m < store->n_moments; m++)
        if (m >= half || m % 2 == 0)
            store->moments[kept++] = store->moments[m];
    store->n_moments = kept;
    store->bytes = 0;
    for (size_t f = 0; f < store->n_feeds; f++)
        drop_unshown(store, &store->feeds[f]);
}

void store_tick(struct store *store, int64_t now_ns, int64_t wall_ns)
{
    if (store->n_moments == store->moments_alloc) {
        store->moments_alloc = store->moments_alloc ? store->moments_alloc * 2 : 64;
        store->moments = xrealloc(store->moments, store->moments_alloc, sizeof(struct moment));
    }
    store->moments[store->n_moments++] = (struct moment){.t_ns = now_ns, .wall_ns = wall_ns};
    for (size_t f = 0; f < store->n_feeds; f++)
        pack_older(store, &store->feeds[f]);
    while (store->n_moments > MIN_MOMENTS &&
           (store->n_moments > MAX_MOMENTS || store_bytes(store) > store->budget))
        thin(store);
    for (size_t f = 0; f < store->n_feeds; f++)
        store->feeds[f].shown = store->feeds[f].n;
}

size_t store_moments(const struct store *store)
{
    return store->n_moments;
}

int64_t store_moment_ns(const struct store *store, size_t moment)
{
    return store->moments[moment].t_ns;
}

struct frame *store_frame(const struct store *store, size_t moment)
{
    if (moment >= store->n_moments)
        return NULL;
    const struct moment *at = &store->moments[moment];
    struct pair *pairs = xrealloc(NULL, store->n_feeds, sizeof(*pairs));
    for (size_t f = 0; f < store->n_feeds; f++) {
        const struct feed_history *history = &store->feeds[f];
        size_t n = samples_until(history, at->t_ns);
        if (history->concludes && n > 0 && history->kept[n - 1].shown_ns != at->t_ns)
            n = 0; /* a conclusion is its own moment's: not yet drawn, it is not the last one's */
        pairs[f] = (struct pair){
            .feed = history->name,
            .cur = n > 0 ? whole_sample(&history->kept[n - 1]) : NULL,
            .prev = n > 1 ? whole_sample(&history->kept[n - 2]) : NULL,
            .stale_ns = history->stale_ns,
            .annotates = history->annotates,
        };
    }
    struct frame *frame = frame_new(pairs, store->n_feeds, at->t_ns, at->wall_ns, store->start_ns);
    for (size_t f = 0; f < store->n_feeds; f++) {
        sample_unref(pairs[f].cur);
        sample_unref(pairs[f].prev);
    }
    free(pairs);
    return frame;
}

#define ROW_WORDS (sizeof(struct row_head) / 8 + MAX_SLOTS)

/* The row of one key in one sample. */
struct found {
    bool has;
    uint64_t words[ROW_WORDS]; /* the row */
};

/* One feed's part of a series: the row in the sample of the moment and in the one before it. */
struct trace {
    const struct feed_history *history;
    size_t n; /* samples until the moment */
    struct pair pair;
    struct found found[2];
    unsigned cur; /* which of found is the moment's */
    size_t place; /* where the row stood last: rows seldom move */
};

static size_t rows_of(const struct kept *kept, enum table_id table)
{
    return kept->packed ? packed_rows(kept->packed, table) : kept->sample->set[table].n;
}

static const struct info_head *info_of(const struct kept *kept, enum table_id table, size_t i)
{
    return kept->packed ? packed_info(kept->packed, table, i) : sample_row_at(kept->sample, table, i)->info;
}

static void find_row(struct found *found, const struct kept *kept, enum table_id table,
                     const struct info_head *wanted, size_t *place)
{
    size_t n = rows_of(kept, table);
    for (size_t tried = 0; tried < n; tried++) {
        size_t i = (*place + tried) % n;
        const struct info_head *info = info_of(kept, table, i);
        if (info->hash != wanted->hash || strcmp(info->key, wanted->key) != 0)
            continue;
        *place = i;
        found->has = true;
        if (kept->packed)
            packed_row(kept->packed, table, i, (struct row_head *)(void *)found->words);
        else
            memcpy(found->words, sample_row_at(kept->sample, table, i), table_get(table)->row_size);
        return;
    }
    found->has = false;
}

/* Moves a trace on to a later moment; what was its newest row becomes the one before. */
static void move_to(struct trace *trace, int64_t t_ns, enum table_id table, const struct info_head *wanted)
{
    const struct feed_history *history = trace->history;
    size_t n = trace->n ? trace->n : samples_until(history, t_ns);
    while (n < history->n && history->kept[n].shown_ns <= t_ns)
        n++;
    if (n == trace->n)
        return;
    bool is_next = trace->n && n == trace->n + 1;
    trace->n = n;
    trace->cur ^= is_next;
    if (!is_next) {
        trace->found[!trace->cur].has = false;
        if (n > 1)
            find_row(&trace->found[!trace->cur], &history->kept[n - 2], table, wanted, &trace->place);
    }
    find_row(&trace->found[trace->cur], &history->kept[n - 1], table, wanted, &trace->place);
    trace->pair = (struct pair){
        .feed = history->name,
        .cur = history->kept[n - 1].sample,
        .prev = n > 1 ? history->kept[n - 2].sample : NULL,
        .stale_ns = history->stale_ns,
        .annotates = history->annotates,
    };
}

static size_t take_parts(const struct trace *traces, size_t n, struct part *parts)
{
    size_t n_parts = 0;
    for (size_t f = 0; f < n && n_parts < MAX_PARTS; f++) {
        const struct trace *trace = &traces[f];
        const struct found *cur = &trace->found[trace->cur], *prev = &trace->found[!trace->cur];
        if (trace->n == 0 || !cur->has)
            continue;
        parts[n_parts++] = (struct part){
            .pair = &trace->pair,
            .cur = (const struct row_head *)(const void *)cur->words,
            .prev = prev->has ? (const struct row_head *)(const void *)prev->words : NULL,
        };
    }
    return n_parts;
}

size_t store_series(const struct store *store, enum table_id table, const char *key,
                    const struct column *column, size_t last_moment, size_t max, struct point *points)
{
    if (last_moment >= store->n_moments || max == 0)
        return 0;
    size_t first = last_moment + 1 > max ? last_moment + 1 - max : 0, n = 0;
    struct info_head wanted = {.key = key, .hash = hash_text(key)};
    struct slot_bits telling = frame_telling(table);
    struct trace *traces = xzalloc(store->n_feeds * sizeof(*traces));
    for (size_t f = 0; f < store->n_feeds; f++)
        traces[f].history = &store->feeds[f];
    for (size_t m = first; m <= last_moment; m++) {
        const struct moment *at = &store->moments[m];
        struct frame frame = {.now_ns = at->t_ns, .wall_ns = at->wall_ns, .start_ns = store->start_ns};
        struct part parts[MAX_PARTS];
        struct frame_row row;
        for (size_t f = 0; f < store->n_feeds; f++)
            move_to(&traces[f], at->t_ns, table, &wanted);
        points[n] = (struct point){.t_ns = at->t_ns, .cell = {.kind = CELL_NONE}};
        size_t n_parts = take_parts(traces, store->n_feeds, parts);
        if (n_parts > 0) {
            frame_row_alone(parts, n_parts, &telling, &row);
            points[n].cell = frame_cell(&frame, &row, column);
        }
        n++;
    }
    free(traces);
    return n;
}
