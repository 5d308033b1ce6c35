/* SPDX-License-Identifier: MIT */
/*
 * Packed samples: every bit of every row comes back, whatever stands in it, and samples of many alike rows
 * become a tenth.
 */
#include "unit/make_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/packed.h"

static void expect_same_rows(const struct sample *a, const struct sample *b)
{
    for (int id = 0; id < TABLES_N; id++) {
        assert_int_equal(a->set[id].n, b->set[id].n);
        if (a->set[id].n)
            assert_memory_equal(a->set[id].rows, b->set[id].rows,
                                a->set[id].n * table_get((enum table_id)id)->row_size);
    }
}

/* Packs, and takes it all out again: as a whole and row by row. */
static size_t expect_exact(const struct sample *sample)
{
    struct packed *packed = packed_new(sample);
    struct sample *back = sample_new(sample->inventory);
    packed_unpack(packed, back);
    expect_same_rows(sample, back);
    for (int id = 0; id < TABLES_N; id++) {
        enum table_id table = (enum table_id)id;
        uint64_t row[sizeof(struct row_head) / 8 + MAX_SLOTS];
        assert_int_equal(packed_rows(packed, table), sample->set[id].n);
        for (size_t i = sample->set[id].n; i-- > 0;) {
            const struct row_head *was = sample_row_at(sample, table, i);
            assert_ptr_equal(packed_info(packed, table, i), was->info);
            packed_row(packed, table, i, (struct row_head *)row);
            assert_memory_equal(row, was, table_get(table)->row_size);
        }
    }
    size_t bytes = packed_bytes(packed);
    sample_unref(back);
    packed_free(packed);
    return bytes;
}

static void test_nothing(void **state)
{
    (void)state;
    struct sample *sample = sample_new(NULL);
    expect_exact(sample);
    sample_unref(sample);
    packed_free(NULL);
}

static void test_widths(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0,          1,           0xff,       0x100,          0xffff,           0x10000,
        0xffffffff, 0x100000000, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
    for (size_t a = 0; a < sizeof(values) / 8; a++) {
        for (size_t b = 0; b < sizeof(values) / 8; b++) {
            struct inventory *inventory = inventory_new();
            struct sample *sample = sample_at(inventory, SECOND);
            add_port(sample, make_port(inventory, "net:1"), values[a]);
            add_port(sample, make_port(inventory, "net:2"), values[b]);
            add_port(sample, make_port(inventory, "net:3"), values[a])->head.t_ns = (int64_t)values[b];
            expect_exact(sample);
            sample_unref(sample);
            inventory_unref(inventory);
        }
    }
}

static uint64_t random_u64(void)
{
    return (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();
}

/* Rows of any words at all, in any number, in several tables. */
static void test_random_words(void **state)
{
    (void)state;
    srand(5);
    for (int round = 0; round < 200; round++) {
        struct inventory *inventory = inventory_new();
        struct sample *sample = sample_at(inventory, SECOND);
        for (int id = 0; id < TABLES_N; id++) {
            enum table_id table = (enum table_id)id;
            size_t words = table_get(table)->row_size / 8;
            for (int n = rand() % 20; n > 0; n--) {
                const void *info = inventory_info(inventory, table, "key:%d", n);
                uint64_t *row = sample_row(sample, table, info);
                for (size_t w = 1; w < words; w++)
                    row[w] = rand() % 3 ? w : random_u64() >> (rand() % 64);
            }
        }
        expect_exact(sample);
        sample_unref(sample);
        inventory_unref(inventory);
    }
}

/* A thousand links, a tenth of them busy. */
static void test_small(void **state)
{
    (void)state;
    struct inventory *inventory = inventory_new();
    struct sample *sample = sample_at(inventory, SECOND);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "net:%d", i);
        struct ports_row *row = add_port(sample, make_port(inventory, key), i % 10 ? 70 : UINT64_C(1) << 40);
        row_set(row, tx_packets, (uint64_t)i);
        row_set(row, rx_bytes, row->rx_packets * 64);
    }
    assert_true(expect_exact(sample) * 10 < sample_bytes(sample));
    sample_unref(sample);
    inventory_unref(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_random_words),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
