/* SPDX-License-Identifier: MIT */
/*
 * Samples that are looked at seldom, packed: the rows of a table column by column, each column as what
 * differs from the first row, in as few bytes as the largest difference takes. Of a thousand links most
 * counters are zero or small, so the history holds ten times the moments in the same memory. Exact: every bit
 * comes back. Used by the history alone; knows rows as words of 8 bytes and nothing of what they mean.
 */
#ifndef VNETTOP_PACKED_H
#define VNETTOP_PACKED_H

#include "src/sample.h"

struct packed;

/* A packed copy of the sample's rows; the infos they point to stay the inventory's, which the caller keeps.
 */
struct packed *packed_new(const struct sample *sample);
void packed_free(struct packed *packed);

size_t packed_bytes(const struct packed *packed);
size_t packed_rows(const struct packed *packed, enum table_id table);

/* The info of row i, and the whole row into row, which has room for the table's row_size. */
const struct info_head *packed_info(const struct packed *packed, enum table_id table, size_t i);
void packed_row(const struct packed *packed, enum table_id table, size_t i, struct row_head *row);

/* Appends all rows to a sample that has none. */
void packed_unpack(const struct packed *packed, struct sample *sample);

#endif
