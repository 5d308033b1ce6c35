/* SPDX-License-Identifier: MIT */
/* Selections of rows and columns (see select.h). */
#include "src/select.h"

#include <stdio.h>
#include <string.h>

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

int filter_compile(regex_t *filter, const char *text, char *error, size_t error_size)
{
    int rc = regcomp(filter, text, REG_EXTENDED | REG_NOSUB | REG_ICASE);
    if (rc == 0)
        return 0;
    char cause[128];
    regerror(rc, filter, cause, sizeof(cause));
    snprintf(error, error_size, "filter %s: %s; it is a POSIX extended regular expression", text, cause);
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
