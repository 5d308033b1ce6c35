/* SPDX-License-Identifier: MIT */
/*
 * The history (see store.h): a list of samples for each feed and a list of moments. Over the budget, every
 * second moment of the older half goes, and with it the samples that no moment shows any more, so that what
 * is left is consistent: each moment has the samples it had, only their predecessors lie further back.
 */
#include "src/store.h"

#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define MAX_MOMENTS 7200 /* two hours at one a second before the first thinning */
#define MIN_MOMENTS 8    /* kept whatever they cost */

/* A sample whose read ended before a tick and that came after it belongs to the next: frames know it from
 * shown_ns on. */
struct kept {
    struct sample *sample;
    int64_t shown_ns;
};

struct feed_history {
    const char *name;
    int64_t stale_ns;
    size_t n, alloc;
    size_t shown;      /* n at the last tick */
    struct kept *kept; /* oldest first */
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

void store_free(struct store *store)
{
    if (!store)
        return;
    for (size_t f = 0; f < store->n_feeds; f++) {
        for (size_t i = 0; i < store->feeds[f].n; i++)
            sample_unref(store->feeds[f].kept[i].sample);
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

void store_set_stale(struct store *store, size_t feed, int64_t stale_ns)
{
    store->feeds[feed].stale_ns = stale_ns;
}

/* Bytes of a feed's i-th sample; an inventory counts with the first of those in a row that share it. */
static size_t kept_bytes(const struct feed_history *history, size_t i)
{
    const struct sample *sample = history->kept[i].sample;
    size_t bytes = sample_bytes(sample) + sizeof(struct kept);
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
        sample_unref(history->kept[history->n].sample);
    }
    keep(store, history, sample, sample->t1_ns > tick_ns ? sample->t1_ns : tick_ns + 1);
}

void store_conclude(struct store *store, size_t feed, struct sample *sample)
{
    struct feed_history *history = &store->feeds[feed];
    keep(store, history, sample, store->moments[store->n_moments - 1].t_ns);
    history->shown = history->n;
}

size_t store_bytes(const struct store *store)
{
    return store->bytes + store->n_moments * sizeof(struct moment);
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
            sample_unref(history->kept[i].sample);
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

static void pairs_at(const struct store *store, int64_t t_ns, struct pair *pairs)
{
    for (size_t f = 0; f < store->n_feeds; f++) {
        const struct feed_history *history = &store->feeds[f];
        size_t n = samples_until(history, t_ns);
        pairs[f] = (struct pair){
            .feed = history->name,
            .cur = n > 0 ? history->kept[n - 1].sample : NULL,
            .prev = n > 1 ? history->kept[n - 2].sample : NULL,
            .stale_ns = history->stale_ns,
        };
    }
}

struct frame *store_frame(const struct store *store, size_t moment)
{
    if (moment >= store->n_moments)
        return NULL;
    const struct moment *at = &store->moments[moment];
    struct pair *pairs = xrealloc(NULL, store->n_feeds, sizeof(*pairs));
    pairs_at(store, at->t_ns, pairs);
    struct frame *frame = frame_new(pairs, store->n_feeds, at->t_ns, at->wall_ns, store->start_ns);
    free(pairs);
    return frame;
}

size_t store_series(const struct store *store, enum table_id table, const char *key,
                    const struct column *column, size_t last_moment, size_t max, struct point *points)
{
    if (last_moment >= store->n_moments || max == 0)
        return 0;
    size_t first = last_moment + 1 > max ? last_moment + 1 - max : 0, n = 0;
    struct pair *pairs = xrealloc(NULL, store->n_feeds, sizeof(*pairs));
    size_t *hints = xzalloc(store->n_feeds * sizeof(*hints));
    for (size_t m = first; m <= last_moment; m++) {
        const struct moment *at = &store->moments[m];
        struct frame frame = {.now_ns = at->t_ns, .wall_ns = at->wall_ns, .start_ns = store->start_ns};
        struct part parts[MAX_PARTS];
        struct frame_row row;
        pairs_at(store, at->t_ns, pairs);
        points[n] = (struct point){.t_ns = at->t_ns, .cell = {.kind = CELL_NONE}};
        if (frame_row_alone(pairs, store->n_feeds, table, key, parts, hints, &row))
            points[n].cell = frame_cell(&frame, &row, column);
        n++;
    }
    free(hints);
    free(pairs);
    return n;
}
