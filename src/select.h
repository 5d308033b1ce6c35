/* SPDX-License-Identifier: MIT */
/* Which rows and columns of a table: lists of columns, filters, sort orders as users write them. Used by the
 * views, the CSV commands and the config; the rules are the same everywhere. */
#ifndef VNETTOP_SELECT_H
#define VNETTOP_SELECT_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/frame.h"

/* "a,b,c" by column key; returns their number, or -1 with thing and mend in error. */
ssize_t columns_parse(const struct table *table, const char *list, const struct column **columns, size_t max,
                      char *error, size_t error_size);

/* "rx_pps", "-rx_pps"; -1 with thing and mend in error. */
int sort_parse(const struct table *table, const char *text, const struct column **column, bool *descending,
               char *error, size_t error_size);

/* By the column, equal rows by name. Rows without a value stand behind all that have one, in either order. */
void rows_sort(const struct frame_row **rows, size_t n, const struct frame *frame, const struct table *table,
               const struct column *column, bool descending);

/* A POSIX extended regular expression, case ignored. */
int filter_compile(regex_t *filter, const char *text, char *error, size_t error_size);

/* Does a text of the row match? */
bool row_matches(const struct frame *frame, const struct frame_row *row, enum table_id table,
                 const regex_t *filter);

/* Does a text of the row hold needle, case ignored? */
bool row_contains(const struct frame *frame, const struct frame_row *row, enum table_id table,
                  const char *needle);

/* Does the row carry nothing: all of its hot columns zero? */
bool row_is_idle(const struct frame *frame, const struct frame_row *row, enum table_id table);

#endif
