/* SPDX-License-Identifier: MIT */
/* Selections of rows and columns (see select.h). */
#include "src/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

ssize_t columns_parse(const struct table *table, const char *list, const struct column **columns, size_t max,
                      char *error, size_t error_size)
{
    size_t n = 0;
    for (const char *p = list; *p && n < max;) {
        size_t length = strcspn(p, ",");
        char key[64];
        snprintf(key, sizeof(key), "%.*s", (int)length, p);
        const struct column *column = length < sizeof(key) ? column_find(table, key) : NULL;
        if (!column) {
            snprintf(error, error_size,
                     "column %s: the table %s has none of that name; --columns help lists them", key,
                     table->name);
            return -1;
        }
        columns[n++] = column;
        p += length + (p[length] == ',');
    }
    return (ssize_t)n;
}

#define FILTER_BYTES_MAX   1000
#define FILTER_REPEATS_MAX 10000

/* What the expression's bounds {n,m} multiply to, as if each held the one before. */
static unsigned long count_repeats(const char *text)
{
    unsigned long product = 1;
    for (const char *p = text; (p = strchr(p, '{')) && product <= FILTER_REPEATS_MAX; p++) {
        unsigned long most = 1, number = 0;
        for (const char *q = p + 1; (*q >= '0' && *q <= '9') || *q == ','; q++) {
            number = *q == ',' ? 0 : number * 10 + (unsigned long)(*q - '0');
            number = number < FILTER_REPEATS_MAX ? number : FILTER_REPEATS_MAX + 1;
            most = number > most ? number : most;
        }
        product *= most;
    }
    return product;
}

/* The C library's compiler writes each bound out and calls itself for each bracket: some dozen bytes take all
 * memory, or all stack. NULL when it may have the text. */
static const char *too_large(const char *text)
{
    if (strlen(text) > FILTER_BYTES_MAX)
        return "longer than 1000 bytes";
    return count_repeats(text) > FILTER_REPEATS_MAX ? "its {} repeat more than 10000 times" : NULL;
}

int filter_compile(regex_t *filter, const char *text, char *error, size_t error_size)
{
    char cause[128];
    const char *why = too_large(text);
    int rc = why ? REG_ESPACE : regcomp(filter, text, REG_EXTENDED | REG_NOSUB | REG_ICASE);
    if (rc == 0)
        return 0;
    if (!why)
        regerror(rc, filter, cause, sizeof(cause));
    snprintf(error, error_size, "filter %.100s: %s; it is a POSIX extended regular expression", text,
             why ? why : cause);
    return -1;
}

typedef bool match_fn(const void *context, const char *text);

static bool any_text(const struct frame *frame, const struct frame_row *row, enum table_id id,
                     match_fn *match, const void *context)
{
    const struct table *table = table_get(id);
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        if (column->type != TYPE_STR)
            continue;
        struct cell cell = frame_cell(frame, row, column);
        if (cell.kind == CELL_STR && cell.str && match(context, cell.str))
            return true;
    }
    return false;
}

static bool match_regex(const void *context, const char *text)
{
    return regexec(context, text, 0, NULL, 0) == 0;
}

static bool match_part(const void *context, const char *text)
{
    return strcasestr(text, context) != NULL;
}

bool row_matches(const struct frame *frame, const struct frame_row *row, enum table_id table,
                 const regex_t *filter)
{
    return any_text(frame, row, table, match_regex, filter);
}

bool row_contains(const struct frame *frame, const struct frame_row *row, enum table_id table,
                  const char *needle)
{
    return any_text(frame, row, table, match_part, needle);
}

bool row_is_idle(const struct frame *frame, const struct frame_row *row, enum table_id id)
{
    const struct table *table = table_get(id);
    bool known = false;
    for (size_t i = 0; i < table->n_columns; i++) {
        if (!(table->columns[i].flags & COL_HOT))
            continue;
        struct cell cell = frame_cell(frame, row, &table->columns[i]);
        if (cell.kind == CELL_NEW || cell.kind == CELL_RESET ||
            (cell_is_number(&cell) && cell_number(&cell) != 0))
            return false;
        known = known || cell_is_number(&cell);
    }
    return known;
}

/* --- order --- */

int sort_parse(const struct table *table, const char *text, const struct column **column, bool *descending,
               char *error, size_t error_size)
{
    bool turned = *text == '-';
    const struct column *found = column_find(table, text + turned);
    if (!found) {
        snprintf(error, error_size, "sort %s: the table %s has no such column; --columns help lists them",
                 text + turned, table->name);
        return -1;
    }
    *column = found;
    *descending = turned;
    return 0;
}

struct sort_key {
    const struct frame_row *row;
    const char *name;
    struct cell cell;
};

/* Rows without a value stand behind all that have one, in either order. */
static int compare_cells(const struct cell *a, const struct cell *b)
{
    if (a->kind == CELL_STR && b->kind == CELL_STR)
        return strverscmp(a->str, b->str);
    double x = cell_number(a), y = cell_number(b);
    return (x > y) - (x < y);
}

static bool has_value(const struct cell *cell)
{
    return cell_is_number(cell) || (cell->kind == CELL_STR && cell->str);
}

static int compare_rows(const struct sort_key *a, const struct sort_key *b, bool descending)
{
    if (has_value(&a->cell) != has_value(&b->cell))
        return has_value(&a->cell) ? -1 : 1;
    int order = has_value(&a->cell) ? compare_cells(&a->cell, &b->cell) : 0;
    if (order == 0)
        order = strverscmp(a->name, b->name);
    else
        return descending ? -order : order;
    return order ? order : strverscmp(a->row->key, b->row->key);
}

static int compare_ascending(const void *a, const void *b)
{
    return compare_rows(a, b, false);
}

static int compare_descending(const void *a, const void *b)
{
    return compare_rows(a, b, true);
}

/* Text to order equal rows by: the first key column that is a text and has prio, else the key. */
static const char *row_name(const struct frame *frame, const struct frame_row *row, const struct table *table)
{
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        if (!(column->flags & COL_KEY) || column->type != TYPE_STR || column->prio == 0)
            continue;
        struct cell cell = frame_cell(frame, row, column);
        if (cell.kind == CELL_STR && cell.str)
            return cell.str;
    }
    return row->key;
}

void rows_sort(const struct frame_row **rows, size_t n, const struct frame *frame, const struct table *table,
               const struct column *column, bool descending)
{
    struct sort_key *keys = xrealloc(NULL, n, sizeof(*keys));
    for (size_t i = 0; i < n; i++)
        keys[i] =
            (struct sort_key){rows[i], row_name(frame, rows[i], table), frame_cell(frame, rows[i], column)};
    qsort(keys, n, sizeof(*keys), descending ? compare_descending : compare_ascending);
    for (size_t i = 0; i < n; i++)
        rows[i] = keys[i].row;
    free(keys);
}
