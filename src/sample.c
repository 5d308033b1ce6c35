/* SPDX-License-Identifier: MIT */
/*
 * Samples and inventories (see sample.h). An inventory is an arena: one allocation pattern, freed as a whole.
 */
#include "src/sample.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/columns.h"
#include "src/memory.h"

/* Chunks double: the small inventory of a tick and the large one of a thousand links both waste little. */
#define CHUNK_LEAST 512
#define CHUNK_MOST  (64u * 1024u)

struct chunk {
    struct chunk *next;
    size_t used, size;
    char data[] __attribute__((aligned(8)));
};

struct inventory {
    atomic_int refs;
    size_t bytes;
    struct chunk *chunks;
};

struct inventory *inventory_new(void)
{
    struct inventory *inventory = xzalloc(sizeof(*inventory));
    atomic_init(&inventory->refs, 1);
    return inventory;
}

struct inventory *inventory_ref(struct inventory *inventory)
{
    if (inventory)
        atomic_fetch_add(&inventory->refs, 1);
    return inventory;
}

void inventory_unref(struct inventory *inventory)
{
    if (!inventory || atomic_fetch_sub(&inventory->refs, 1) != 1)
        return;
    for (struct chunk *chunk = inventory->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(inventory);
}

static void *inventory_alloc(struct inventory *inventory, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    struct chunk *chunk = inventory->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = chunk ? chunk->size * 2 : CHUNK_LEAST;
        room = room < CHUNK_MOST ? room : CHUNK_MOST;
        room = room > size ? room : size;
        chunk = xzalloc(sizeof(*chunk) + room);
        chunk->size = room;
        chunk->next = inventory->chunks;
        inventory->chunks = chunk;
        inventory->bytes += sizeof(*chunk) + room;
    }
    void *p = chunk->data + chunk->used;
    chunk->used += size;
    return p;
}

static const char *format_text(struct inventory *inventory, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = inventory_alloc(inventory, length < 0 ? 1 : (size_t)length + 1);
    if (length >= 0)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

void *inventory_info(struct inventory *inventory, enum table_id table, const char *key_format, ...)
{
    struct info_head *head = inventory_alloc(inventory, table_get(table)->info_size);
    va_list args;
    va_start(args, key_format);
    head->key = format_text(inventory, key_format, args);
    va_end(args);
    head->hash = hash_text(head->key);
    return head;
}

const char *inventory_text(struct inventory *inventory, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(inventory_alloc(inventory, size), text, size);
}

const char *inventory_textf(struct inventory *inventory, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = format_text(inventory, format, args);
    va_end(args);
    return text;
}

size_t inventory_bytes(const struct inventory *inventory)
{
    return inventory ? inventory->bytes : 0;
}

struct counted_sample {
    struct sample sample;
    atomic_int refs;
};

struct sample *sample_new(struct inventory *inventory)
{
    struct counted_sample *counted = xzalloc(sizeof(*counted));
    atomic_init(&counted->refs, 1);
    counted->sample.inventory = inventory_ref(inventory);
    return &counted->sample;
}

struct sample *sample_ref(const struct sample *sample)
{
    struct counted_sample *counted = (struct counted_sample *)sample;
    if (!counted)
        return NULL;
    atomic_fetch_add(&counted->refs, 1);
    return &counted->sample;
}

void sample_unref(const struct sample *sample)
{
    struct counted_sample *counted = (struct counted_sample *)sample;
    if (!counted || atomic_fetch_sub(&counted->refs, 1) != 1)
        return;
    for (int i = 0; i < TABLES_N; i++)
        free(counted->sample.set[i].rows);
    inventory_unref(counted->sample.inventory);
    free(counted);
}

void sample_reserve(struct sample *sample, enum table_id table, size_t n)
{
    struct row_set *set = &sample->set[table];
    if (n <= set->alloc)
        return;
    set->rows = xrealloc(set->rows, n, table_get(table)->row_size);
    set->alloc = n;
}

void sample_trim(struct sample *sample)
{
    for (int i = 0; i < TABLES_N; i++) {
        struct row_set *set = &sample->set[i];
        if (set->n == set->alloc || set->n == 0)
            continue;
        set->rows = xrealloc(set->rows, set->n, table_get(i)->row_size);
        set->alloc = set->n;
    }
}

void *sample_row(struct sample *sample, enum table_id table, const void *info)
{
    struct row_set *set = &sample->set[table];
    size_t size = table_get(table)->row_size;
    if (set->n == set->alloc)
        sample_reserve(sample, table, set->alloc ? set->alloc * 2 : 16);
    struct row_head *head = memset(set->rows + set->n++ * size, 0, size);
    head->info = info;
    return head;
}

const struct row_head *sample_row_at(const struct sample *sample, enum table_id table, size_t i)
{
    return (const struct row_head *)(sample->set[table].rows + i * table_get(table)->row_size);
}

size_t sample_rows(const struct sample *sample)
{
    size_t n = 0;
    for (int i = 0; i < TABLES_N; i++)
        n += sample->set[i].n;
    return n;
}

size_t sample_bytes(const struct sample *sample)
{
    size_t bytes = sizeof(struct counted_sample);
    for (int i = 0; i < TABLES_N; i++)
        bytes += sample->set[i].alloc * table_get(i)->row_size;
    return bytes;
}

int64_t sample_time(const struct sample *sample)
{
    return sample->t0_ns + (sample->t1_ns - sample->t0_ns) / 2;
}
