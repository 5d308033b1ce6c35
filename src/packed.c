/* SPDX-License-Identifier: MIT */
/*
 * Packed samples (see packed.h). A word that is the same in all rows takes no bytes for each row; the others
 * are stored as their difference (exclusive or) from the first row's, 1, 2, 4 or 8 bytes wide.
 */
#include "src/packed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/columns.h"
#include "src/memory.h"

#define ROW_WORDS (sizeof(struct row_head) / 8 + MAX_SLOTS)

struct packed_table {
    size_t n, words;
    uint64_t *first; /* the first row */
    uint8_t *width;  /* bytes of a word's difference, 0 = none differs */
    char **column;   /* each word's differences, NULL where width is 0 */
};

struct packed {
    size_t bytes;
    struct packed_table table[TABLES_N];
};

static_assert(offsetof(struct row_head, info) == 0 && sizeof(void *) == 8 && sizeof(struct row_head) % 8 == 0,
              "a row is words of 8 bytes, the first of them its info");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low bytes of a word are its first");

static uint8_t width_of(uint64_t difference)
{
    return difference == 0         ? 0
           : difference >> 8 == 0  ? 1
           : difference >> 16 == 0 ? 2
           : difference >> 32 == 0 ? 4
                                   : 8;
}

static void store_difference(char *column, uint8_t width, size_t i, uint64_t difference)
{
    switch (width) { /* of the low bytes, which come first */
    case 1:
        memcpy(column + i, &difference, 1);
        break;
    case 2:
        memcpy(column + i * 2, &difference, 2);
        break;
    case 4:
        memcpy(column + i * 4, &difference, 4);
        break;
    default:
        memcpy(column + i * 8, &difference, 8);
        break;
    }
}

static uint64_t load_difference(const char *column, uint8_t width, size_t i)
{
    uint64_t difference = 0;
    switch (width) {
    case 1:
        return ((const uint8_t *)column)[i];
    case 2:
        memcpy(&difference, column + i * 2, 2);
        break;
    case 4:
        memcpy(&difference, column + i * 4, 4);
        break;
    default:
        memcpy(&difference, column + i * 8, 8);
        break;
    }
    return difference;
}

/* What differs in each word from the first row's, over all rows. */
static void find_differences(const uint64_t *rows, size_t n, size_t words, uint64_t *differences)
{
    memset(differences, 0, words * sizeof(*differences));
    for (size_t i = 1; i < n; i++)
        for (size_t w = 0; w < words; w++)
            differences[w] |= rows[i * words + w] ^ rows[w];
}

static void pack_column(char *column, uint8_t width, const uint64_t *rows, size_t n, size_t words,
                        size_t word)
{
    for (size_t i = 0; i < n; i++)
        store_difference(column, width, i, rows[i * words + word] ^ rows[word]);
}

/* One block a table: the first row, the pointers to the columns, the widths, the columns. */
static size_t pack_table(struct packed_table *table, const struct row_set *set, size_t row_size)
{
    uint64_t differences[ROW_WORDS];
    const uint64_t *rows = (const uint64_t *)(const void *)set->rows;
    size_t words = row_size / 8, bytes = words * (sizeof(uint64_t) + sizeof(char *) + 1);
    find_differences(rows, set->n, words, differences);
    for (size_t w = 0; w < words; w++)
        bytes += width_of(differences[w]) * set->n;
    table->n = set->n;
    table->words = words;
    table->first = xzalloc(bytes);
    table->column = (char **)(table->first + words);
    table->width = (uint8_t *)(table->column + words);
    memcpy(table->first, rows, row_size);
    char *at = (char *)(table->width + words);
    for (size_t w = 0; w < words; w++) {
        table->width[w] = width_of(differences[w]);
        if (table->width[w] == 0)
            continue;
        table->column[w] = at;
        pack_column(at, table->width[w], rows, set->n, words, w);
        at += table->width[w] * set->n;
    }
    return bytes;
}

struct packed *packed_new(const struct sample *sample)
{
    struct packed *packed = xzalloc(sizeof(*packed));
    packed->bytes = sizeof(*packed);
    for (int id = 0; id < TABLES_N; id++)
        if (sample->set[id].n > 0)
            packed->bytes +=
                pack_table(&packed->table[id], &sample->set[id], table_get((enum table_id)id)->row_size);
    return packed;
}

void packed_free(struct packed *packed)
{
    if (!packed)
        return;
    for (int id = 0; id < TABLES_N; id++)
        free(packed->table[id].first);
    free(packed);
}

size_t packed_bytes(const struct packed *packed)
{
    return packed->bytes;
}

size_t packed_rows(const struct packed *packed, enum table_id table)
{
    return packed->table[table].n;
}

static uint64_t word_at(const struct packed_table *table, size_t i, size_t word)
{
    uint64_t first = table->first[word];
    return table->width[word] ? first ^ load_difference(table->column[word], table->width[word], i) : first;
}

const struct info_head *packed_info(const struct packed *packed, enum table_id table, size_t i)
{
    return (const struct info_head *)(uintptr_t)word_at(&packed->table[table], i, 0);
}

void packed_row(const struct packed *packed, enum table_id id, size_t i, struct row_head *row)
{
    const struct packed_table *table = &packed->table[id];
    uint64_t *words = (uint64_t *)(void *)row;
    for (size_t w = 0; w < table->words; w++)
        words[w] = word_at(table, i, w);
}

void packed_unpack(const struct packed *packed, struct sample *sample)
{
    for (int id = 0; id < TABLES_N; id++) {
        enum table_id table = (enum table_id)id;
        size_t n = packed_rows(packed, table);
        sample_reserve(sample, table, n);
        for (size_t i = 0; i < n; i++)
            packed_row(packed, table, i, sample_row(sample, table, NULL));
    }
}
