/* SPDX-License-Identifier: MIT */
/*
 * The canvas: a grid of cells that views draw on. It knows nothing of terminals: curses.c shows a canvas,
 * dump.c prints one (batch mode, golden tests). Text from outside is made harmless here, once: control and
 * invalid bytes become `?`, wide characters take two cells, combining ones join their base, and nothing
 * leaves its field.
 */
#ifndef VNETTOP_CANVAS_H
#define VNETTOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/theme.h"

#define CANVAS_GLYPH_BYTES 24

struct canvas_cell {
    char glyph[CANVAS_GLYPH_BYTES]; /* UTF-8 of one base character and its combining ones; "" = right half of
                                       a wide one */
    uint8_t width;                  /* 1 or 2; 0 in the right half */
    uint8_t role;                   /* enum role */
    bool selected;                  /* drawn with the selection on top of its role; drawing text ends it */
};

struct canvas {
    int rows, cols;
    int cursor_row, cursor_col; /* where text is typed; -1 = no cursor */
    bool utf8; /* false: only ASCII glyphs are drawn, text from outside transliterated to `?` */
    struct canvas_cell *cells;
};

struct canvas *canvas_new(int rows, int cols, bool utf8);
void canvas_free(struct canvas *canvas);
/* Blank, role ROLE_TEXT; keeps its size unless it changes. */
void canvas_resize(struct canvas *canvas, int rows, int cols);
void canvas_clear(struct canvas *canvas);
const struct canvas_cell *canvas_at(const struct canvas *canvas, int row, int col);

/* Draws text from col on, at most width cells (cut at a character; cut text ends in nothing else); returns
 * the column after what was drawn. Outside the canvas nothing happens. */
int canvas_text(struct canvas *canvas, int row, int col, int width, enum role role, const char *text);
int canvas_textf(struct canvas *canvas, int row, int col, int width, enum role role, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Right-aligned in width cells. A text longer than width is replaced by `#`s: never a cut number. */
void canvas_right(struct canvas *canvas, int row, int col, int width, enum role role, const char *text);
/* Draws text broken at blanks into at most rows lines of width cells; returns the lines used. */
int canvas_wrap(struct canvas *canvas, int row, int col, int width, int rows, enum role role,
                const char *text);
/* Fills width cells with a one-cell glyph. */
void canvas_fill(struct canvas *canvas, int row, int col, int width, enum role role, const char *glyph);
/* Marks cells already drawn as selected. */
void canvas_select(struct canvas *canvas, int row, int col, int width);
/* Changes the role of cells already drawn. */
void canvas_paint(struct canvas *canvas, int row, int col, int width, enum role role);

/* Shows the terminal's cursor there, for the line where text is typed; canvas_clear hides it. */
void canvas_cursor(struct canvas *canvas, int row, int col);

/* Cells that text takes when drawn. */
int canvas_width(const struct canvas *canvas, const char *text);

/* A horizontal bar of value/full in width cells, by eighths in UTF-8, `#` in ASCII. */
void canvas_bar(struct canvas *canvas, int row, int col, int width, enum role role, double value,
                double full);

/* One glyph of a vertical eighth-step (0..8 of 8), for sparklines and graphs; ASCII: " .:-=+*#@"-like steps.
 */
const char *canvas_level(const struct canvas *canvas, int eighths);

#endif
