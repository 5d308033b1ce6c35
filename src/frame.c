/* SPDX-License-Identifier: MIT */
/*
 * Frames (see frame.h): joins the rows of all feeds by key, finds each row's predecessor, and computes cells.
 * Knows neither where samples come from nor where cells go.
 */
#include "src/frame.h"

#include <stdlib.h>
#include <string.h>

#include "src/doubles.h"
#include "src/join.h"
#include "src/memory.h"

static uint64_t field_u64(const struct row_head *row, unsigned offset)
{
    uint64_t value;
    memcpy(&value, (const char *)row + offset, sizeof(value));
    return value;
}

static bool same_thing(const struct info_head *a, const struct info_head *b)
{
    return a == b || (a->hash == b->hash && strcmp(a->key, b->key) == 0);
}

/*
 * Where the rows of a sample stood in the one before. Rows usually keep their place, or all move by the same
 * number of places; what is neither is looked up in an index that is made when first needed, so that a
 * thousand links created at once cost no more than a thousand look-ups.
 */
struct before {
    const struct sample *prev;
    size_t cursor;   /* behind the place found last */
    uint32_t *index; /* open hash of places + 1 */
    size_t mask;
};

static size_t buckets_for(size_t n)
{
    size_t buckets = 16;
    while (buckets < n * 2)
        buckets *= 2;
    return buckets;
}

static size_t first_bucket(uint64_t hash, size_t mask)
{
    return (hash ^ hash >> 32) & mask;
}

static void index_before(struct before *before, enum table_id table)
{
    size_t n = before->prev->set[table].n, buckets = buckets_for(n);
    before->index = xzalloc(buckets * sizeof(*before->index));
    before->mask = buckets - 1;
    for (size_t i = n; i-- > 0;) { /* of two with one key the first is found first */
        size_t at = first_bucket(sample_row_at(before->prev, table, i)->info->hash, before->mask);
        while (before->index[at])
            at = (at + 1) & before->mask;
        before->index[at] = (uint32_t)i + 1;
    }
}

static const struct row_head *look_up(struct before *before, enum table_id table,
                                      const struct info_head *info)
{
    if (!before->index)
        index_before(before, table);
    for (size_t at = first_bucket(info->hash, before->mask); before->index[at];
         at = (at + 1) & before->mask) {
        size_t place = before->index[at] - 1;
        const struct row_head *row = sample_row_at(before->prev, table, place);
        if (!same_thing(row->info, info))
            continue;
        before->cursor = place + 1;
        return row;
    }
    return NULL;
}

static const struct row_head *find_before(struct before *before, enum table_id table,
                                          const struct info_head *info, size_t place)
{
    size_t n = before->prev ? before->prev->set[table].n : 0, likely[] = {place, before->cursor};
    for (int i = 0; i < 2; i++) {
        if (likely[i] >= n || !same_thing(sample_row_at(before->prev, table, likely[i])->info, info))
            continue;
        before->cursor = likely[i] + 1;
        return sample_row_at(before->prev, table, likely[i]);
    }
    return n ? look_up(before, table, info) : NULL;
}

/* The counters whose fall says something of the whole row. */
struct slot_bits frame_telling(enum table_id id)
{
    const struct table *table = table_get(id);
    struct slot_bits counters = {0};
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].type == TYPE_CNT && !(table->columns[i].flags & COL_ALONE))
            slot_set(&counters, table->columns[i].slot);
    return counters;
}

/* One counter gone back means that the thing was restarted, cleared or made anew: its other counters may have
 * passed their old values already and would give a rate that never was. */
static bool went_back(const struct slot_bits *counters, const struct row_head *cur,
                      const struct row_head *prev)
{
    for (unsigned word = 0; word < MAX_SLOTS / 64; word++) {
        uint64_t both = counters->word[word] & cur->have.word[word] & prev->have.word[word];
        for (; both; both &= both - 1) {
            unsigned slot = word * 64 + (unsigned)__builtin_ctzll(both);
            unsigned offset = (unsigned)sizeof(struct row_head) + slot * 8;
            if (field_u64(cur, offset) < field_u64(prev, offset))
                return true;
        }
    }
    return false;
}

static struct part make_part(const struct pair *pair, const struct row_head *cur, const struct row_head *prev,
                             const struct slot_bits *counters)
{
    return (struct part){
        .pair = pair, .cur = cur, .prev = prev, .reset = prev && went_back(counters, cur, prev)};
}

static size_t count_rows(const struct frame *frame, enum table_id table)
{
    size_t n = 0;
    for (size_t i = 0; i < frame->n_pairs; i++)
        n += frame->pairs[i].cur->set[table].n;
    return n;
}

/* The index slot of that key: the row's, or the free one where it belongs. */
static uint32_t *index_slot(const struct frame_table *table, const char *key, uint64_t hash)
{
    size_t at = first_bucket(hash, table->index_mask);
    for (;; at = (at + 1) & table->index_mask) {
        uint32_t *slot = &table->index[at];
        const struct frame_row *row = *slot ? &table->rows[*slot - 1] : NULL;
        if (!row || (row->hash == hash && strcmp(row->key, key) == 0))
            return slot;
    }
}

static void free_parts(struct part *part)
{
    while (part) {
        struct part *next = part->next;
        free(part);
        part = next;
    }
}

static void append_part(struct frame_row *row, struct part part)
{
    struct part *last = &row->part;
    while (last->next)
        last = last->next;
    part.next = NULL;
    last->next = xzalloc(sizeof(part));
    *last->next = part;
}

static void add_part(struct frame_table *table, enum table_id id, struct part part)
{
    const struct info_head *info = part.cur->info;
    uint32_t *slot = index_slot(table, info->key, info->hash);
    if (*slot == 0 && part.pair->annotates >> id & 1)
        return;
    if (*slot == 0) {
        table->rows[table->n++] = (struct frame_row){.key = info->key, .hash = info->hash, .part = part};
        *slot = (uint32_t)table->n;
        return;
    }
    append_part(&table->rows[*slot - 1], part);
}

static void index_again(struct frame_table *table)
{
    memset(table->index, 0, (table->index_mask + 1) * sizeof(*table->index));
    for (size_t i = 0; i < table->n; i++)
        *index_slot(table, table->rows[i].key, table->rows[i].hash) = (uint32_t)i + 1;
}

/* A row that is another's under a second key becomes parts of that one. */
static void fold_doubles(struct frame_table *table)
{
    size_t before = table->n;
    for (size_t i = table->n; i-- > 0;) {
        struct frame_row *row = &table->rows[i], *whole = doubles_find(table, row);
        if (!whole)
            continue;
        for (const struct part *part = &row->part; part; part = part->next)
            append_part(whole, *part);
        free_parts(row->part.next);
        memmove(row, row + 1, (--table->n - i) * sizeof(*row));
    }
    if (table->n < before)
        index_again(table);
}

static void build_table(struct frame *frame, enum table_id id)
{
    size_t n = count_rows(frame, id);
    if (n == 0)
        return;
    struct frame_table *table = &frame->table[id];
    size_t buckets = buckets_for(n);
    struct slot_bits counters = frame_telling(id);
    table->rows = xrealloc(NULL, n, sizeof(*table->rows));
    table->index = xzalloc(buckets * sizeof(*table->index));
    table->index_mask = buckets - 1;
    for (size_t i = 0; i < frame->n_pairs; i++) {
        const struct pair *pair = &frame->pairs[i];
        struct before before = {.prev = pair->prev};
        for (size_t place = 0; place < pair->cur->set[id].n; place++) {
            const struct row_head *cur = sample_row_at(pair->cur, id, place);
            add_part(table, id, make_part(pair, cur, find_before(&before, id, cur->info, place), &counters));
        }
        free(before.index);
    }
    if (id == TABLE_PATHS)
        fold_doubles(table);
}

struct frame *frame_new(const struct pair *pairs, size_t n, int64_t now_ns, int64_t wall_ns, int64_t start_ns)
{
    struct frame *frame = xzalloc(sizeof(*frame));
    frame->now_ns = now_ns;
    frame->wall_ns = wall_ns;
    frame->start_ns = start_ns;
    frame->pairs = xrealloc(NULL, n + 1, sizeof(*pairs)); /* one more for frame_append: parts point here */
    for (size_t i = 0; i < n; i++) {
        if (!pairs[i].cur)
            continue;
        struct pair *pair = &frame->pairs[frame->n_pairs++];
        *pair = pairs[i];
        sample_ref(pair->cur);
        sample_ref(pair->prev);
    }
    for (int id = 0; id < TABLES_N; id++)
        build_table(frame, id);
    frame->join = xzalloc(sizeof(struct join *));
    return frame;
}

void frame_append(struct frame *frame, const struct pair *pair)
{
    frame->pairs[frame->n_pairs++] = *pair;
    sample_ref(pair->cur);
    sample_ref(pair->prev);
    for (int id = 0; id < TABLES_N; id++)
        if (pair->cur->set[id].n && frame->table[id].n == 0)
            build_table(frame, id);
}

void frame_free(struct frame *frame)
{
    if (!frame)
        return;
    for (int id = 0; id < TABLES_N; id++) {
        for (size_t i = 0; i < frame->table[id].n; i++)
            free_parts(frame->table[id].rows[i].part.next);
        free(frame->table[id].rows);
        free(frame->table[id].index);
    }
    for (size_t i = 0; i < frame->n_pairs; i++) {
        sample_unref(frame->pairs[i].cur);
        sample_unref(frame->pairs[i].prev);
    }
    join_free(*frame->join);
    free(frame->join);
    free(frame->pairs);
    free(frame);
}

const struct frame_row *frame_find(const struct frame *frame, enum table_id id, const char *key)
{
    const struct frame_table *table = &frame->table[id];
    if (table->n == 0)
        return NULL;
    uint32_t slot = *index_slot(table, key, hash_text(key));
    return slot ? &table->rows[slot - 1] : NULL;
}

void frame_row_alone(struct part *parts, size_t n, const struct slot_bits *telling, struct frame_row *row)
{
    for (size_t i = 0; i < n; i++) {
        parts[i].reset = parts[i].prev && went_back(telling, parts[i].cur, parts[i].prev);
        parts[i].next = i + 1 < n ? &parts[i + 1] : NULL;
    }
    *row = (struct frame_row){
        .key = parts[0].cur->info->key, .hash = parts[0].cur->info->hash, .part = parts[0]};
}

const struct part *frame_row_part(const struct frame_row *row, unsigned slot)
{
    for (const struct part *part = &row->part; part; part = part->next)
        if (slot_test(&part->cur->have, slot))
            return part;
    return NULL;
}

static int64_t row_time(const struct sample *sample, const struct row_head *row)
{
    return row->t_ns ? row->t_ns : sample_time(sample);
}

double part_interval_s(const struct part *part)
{
    if (!part->prev)
        return 0;
    int64_t ns = row_time(part->pair->cur, part->cur) - row_time(part->pair->prev, part->prev);
    return (double)ns / 1e9;
}

double part_age_s(const struct frame *frame, const struct part *part)
{
    return (double)(frame->now_ns - row_time(part->pair->cur, part->cur)) / 1e9;
}

static bool part_is_stale(const struct frame *frame, const struct part *part)
{
    return part->pair->stale_ns &&
           frame->now_ns - row_time(part->pair->cur, part->cur) > part->pair->stale_ns;
}

static struct cell read_field(const void *record, const struct column *column)
{
    const void *field = (const char *)record + column->offset;
    struct cell cell = {0};
    switch (column->type) {
    case TYPE_STR:
        cell.kind = CELL_STR;
        memcpy(&cell.str, field, sizeof(cell.str));
        break;
    case TYPE_F64:
        cell.kind = CELL_F64;
        memcpy(&cell.f64, field, sizeof(cell.f64));
        break;
    case TYPE_U64:
    case TYPE_CNT:
        cell.kind = CELL_U64;
        memcpy(&cell.u64, field, sizeof(cell.u64));
        break;
    }
    return cell;
}

static struct cell stored_cell(const struct frame *frame, const struct frame_row *row,
                               const struct column *column)
{
    struct cell cell = {.kind = CELL_NONE};
    for (const struct part *part = &row->part; part; part = part->next) {
        bool in_info = column->where == IN_INFO;
        const void *record = in_info ? (const void *)part->cur->info : part->cur;
        const struct slot_bits *have = in_info ? &part->cur->info->have : &part->cur->have;
        const struct slot_bits *approx = in_info ? &part->cur->info->approx : &part->cur->approx;
        const struct slot_bits *denied = in_info ? &part->cur->info->denied : &part->cur->denied;
        if (slot_test(have, column->slot)) {
            cell = read_field(record, column);
            cell.approx = slot_test(approx, column->slot);
            cell.stale = part_is_stale(frame, part);
            return cell;
        }
        if (slot_test(denied, column->slot))
            cell.kind = CELL_DENIED;
    }
    return cell;
}

/* A difference of a partial number is partial, too. */
static bool made_of_approx(const struct part *part, unsigned slot)
{
    return slot_test(&part->cur->approx, slot) || (part->prev && slot_test(&part->prev->approx, slot));
}

struct cell frame_cell(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    if (column->where != DERIVED)
        return stored_cell(frame, row, column);
    struct cell cell = column->derive(frame, row, column);
    const struct part *part = frame_row_part(row, column->slot);
    cell.stale = cell.stale || part_is_stale(frame, part ? part : &row->part); /* or of another row's */
    cell.approx = cell.approx || (part && cell_is_number(&cell) && made_of_approx(part, column->slot));
    return cell;
}

double cell_number(const struct cell *cell)
{
    return cell->kind == CELL_U64 ? (double)cell->u64 : cell->kind == CELL_F64 ? cell->f64 : 0;
}

int64_t frame_spread_ns(const struct frame *frame)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < frame->n_pairs; i++) {
        const struct pair *pair = &frame->pairs[i];
        int64_t t = sample_time(pair->cur);
        if (pair->stale_ns && frame->now_ns - t > pair->stale_ns)
            continue;
        first = t < first ? t : first;
        last = t > last ? t : last;
    }
    return last > first ? last - first : 0;
}
