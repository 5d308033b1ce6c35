/* SPDX-License-Identifier: MIT */
/* Canvas to text (see dump.h). */
#include "ui/dump.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

static_assert(ROLES_N <= 26, "a styled dump has a letter for each role");

static bool is_blank(const struct canvas_cell *cell)
{
    return strcmp(cell->glyph, " ") == 0;
}

/* Columns up to the last that is not blank. */
static int used_cols(const struct canvas *canvas, int row)
{
    int cols = canvas->cols;
    while (cols > 0 && is_blank(canvas_at(canvas, row, cols - 1)))
        cols--;
    return cols;
}

int dump_used_rows(const struct canvas *canvas)
{
    int rows = canvas->rows;
    while (rows > 0 && used_cols(canvas, rows - 1) == 0)
        rows--;
    return rows;
}

int dump_text(const struct canvas *canvas, int rows, FILE *file)
{
    for (int row = 0; row < rows && row < canvas->rows; row++) {
        for (int col = 0, cols = used_cols(canvas, row); col < cols; col++)
            fputs(canvas_at(canvas, row, col)->glyph, file);
        putc('\n', file);
    }
    return ferror(file) ? -1 : 0;
}

static char letter_of(const struct canvas_cell *cell)
{
    if (cell->selected)
        return (char)('A' + cell->role);
    return cell->role == ROLE_TEXT ? '.' : (char)('a' + cell->role);
}

/* A blank in plain text looks like nothing, and is left out at the end of a line. */
static bool looks_plain(const struct canvas_cell *cell)
{
    return !cell->selected && cell->role == ROLE_TEXT && is_blank(cell);
}

static void dump_letters(const struct canvas *canvas, int row, bool used[ROLES_N], FILE *file)
{
    int cols = canvas->cols;
    while (cols > 0 && looks_plain(canvas_at(canvas, row, cols - 1)))
        cols--;
    for (int col = 0; col < cols; col++) {
        const struct canvas_cell *cell = canvas_at(canvas, row, col);
        putc(looks_plain(cell) ? ' ' : letter_of(cell), file);
        used[cell->role] |= !looks_plain(cell);
    }
    putc('\n', file);
}

int dump_styled(const struct canvas *canvas, FILE *file)
{
    bool used[ROLES_N] = {false};

    dump_text(canvas, canvas->rows, file);
    fputs("---\n", file);
    for (int row = 0; row < canvas->rows; row++)
        dump_letters(canvas, row, used, file);
    fputs("---", file);
    for (int role = 0; role < ROLES_N; role++)
        if (used[role] && role != ROLE_TEXT)
            fprintf(file, " %c=%s", 'a' + role, role_name((enum role)role));
    putc('\n', file);
    return ferror(file) ? -1 : 0;
}

static char *to_string(const struct canvas *canvas, bool styled)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (file) {
        if (styled)
            dump_styled(canvas, file);
        else
            dump_text(canvas, canvas->rows, file);
        fclose(file);
    }
    return text ? text : xstrdup("");
}

char *dump_text_string(const struct canvas *canvas)
{
    return to_string(canvas, false);
}

char *dump_styled_string(const struct canvas *canvas)
{
    return to_string(canvas, true);
}
