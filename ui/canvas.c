/* SPDX-License-Identifier: MIT */
/* The canvas of cells (see canvas.h). All text passes next_glyph, which makes it harmless. */
#include "ui/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"
#include "src/utf8.h"

/* A terminal library takes a base and four combining characters a cell. */
#define COMBINING_MAX  4
#define SIZE_MAX_CELLS 1000

struct canvas *canvas_new(int rows, int cols, bool utf8)
{
    struct canvas *canvas = xzalloc(sizeof(*canvas));
    canvas->utf8 = utf8;
    canvas_resize(canvas, rows, cols);
    return canvas;
}

void canvas_free(struct canvas *canvas)
{
    if (!canvas)
        return;
    free(canvas->cells);
    free(canvas);
}

static int bound(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void canvas_resize(struct canvas *canvas, int rows, int cols)
{
    rows = bound(rows, 0, SIZE_MAX_CELLS);
    cols = bound(cols, 0, SIZE_MAX_CELLS);
    if (!canvas->cells || rows != canvas->rows || cols != canvas->cols) {
        canvas->cells = xrealloc(canvas->cells, (size_t)rows * (size_t)cols, sizeof(*canvas->cells));
        canvas->rows = rows;
        canvas->cols = cols;
    }
    canvas_clear(canvas);
}

void canvas_clear(struct canvas *canvas)
{
    static const struct canvas_cell blank = {.glyph = " ", .width = 1, .role = ROLE_TEXT};
    for (size_t i = 0; i < (size_t)canvas->rows * (size_t)canvas->cols; i++)
        canvas->cells[i] = blank;
    canvas->cursor_row = canvas->cursor_col = -1;
}

static bool inside(const struct canvas *canvas, int row, int col)
{
    return row >= 0 && row < canvas->rows && col >= 0 && col < canvas->cols;
}

static struct canvas_cell *cell_at(struct canvas *canvas, int row, int col)
{
    return &canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)col];
}

const struct canvas_cell *canvas_at(const struct canvas *canvas, int row, int col)
{
    return inside(canvas, row, col) ? &canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)col] : NULL;
}

/* What one step through a text gives: a base with its combining characters. */
struct glyph {
    char bytes[CANVAS_GLYPH_BYTES];
    int width;
};

static void glyph_set(struct glyph *glyph, const char *bytes, size_t length, int width)
{
    memcpy(glyph->bytes, bytes, length);
    memset(glyph->bytes + length, 0, sizeof(glyph->bytes) - length);
    glyph->width = width;
}

/* The characters that take no cell after a base: combining ones join it, as many as fit, invisible ones go.
 */
static const char *join_combining(struct glyph *glyph, const char *text)
{
    size_t length = strlen(glyph->bytes), joined = 0, taken;

    while ((unsigned char)*text >= 0x80) {
        uint32_t code = utf8_decode(text, strnlen(text, UTF8_MAX), &taken);
        enum utf8_width width = code == UTF8_INVALID ? UTF8_CONTROL : utf8_width(code);
        if (width != UTF8_COMBINING && width != UTF8_INVISIBLE)
            break;
        if (width == UTF8_COMBINING && joined < COMBINING_MAX && length + taken < sizeof(glyph->bytes)) {
            memcpy(glyph->bytes + length, text, taken);
            length += taken;
            joined++;
        }
        text += taken;
    }
    return text;
}

/* Takes the next glyph off a text; returns where the next one starts, NULL at the end. */
static const char *next_glyph(const struct canvas *canvas, const char *text, struct glyph *glyph)
{
    size_t taken;

    if ((unsigned char)*text >= 0x20 && (unsigned char)*text < 0x7f) {
        glyph_set(glyph, text, 1, 1);
        return canvas->utf8 ? join_combining(glyph, text + 1) : text + 1;
    }
    while (*text) {
        uint32_t code = utf8_decode(text, strnlen(text, UTF8_MAX), &taken);
        enum utf8_width width = code == UTF8_INVALID ? UTF8_CONTROL : utf8_width(code);
        if (width == UTF8_INVISIBLE && canvas->utf8) {
            text += taken;
            continue;
        }
        /* A combining character without a base would join a cell that is not the text's. */
        if (width < UTF8_NARROW || !canvas->utf8)
            glyph_set(glyph, "?", 1, 1);
        else
            glyph_set(glyph, text, taken, width);
        return canvas->utf8 ? join_combining(glyph, text + taken) : text + taken;
    }
    return NULL;
}

/* Half a wide character is none: what is left of one that is drawn over becomes blank. */
static void clear_halves(struct canvas *canvas, int row, int col, int width)
{
    static const char blank[CANVAS_GLYPH_BYTES] = " ";
    struct canvas_cell *first = cell_at(canvas, row, col);
    if (first->width == 0 && col > 0) {
        memcpy(first[-1].glyph, blank, sizeof(blank));
        first[-1].width = 1;
    }
    if (first[width - 1].width == 2 && col + width < canvas->cols) {
        memcpy(first[width].glyph, blank, sizeof(blank));
        first[width].width = 1;
    }
}

/* The glyph's cells are inside the canvas. */
static void put(struct canvas *canvas, int row, int col, enum role role, const struct glyph *glyph)
{
    struct canvas_cell *cell = cell_at(canvas, row, col);

    clear_halves(canvas, row, col, glyph->width);
    memcpy(cell->glyph, glyph->bytes, sizeof(cell->glyph));
    cell->width = (uint8_t)glyph->width;
    cell->role = (uint8_t)role;
    cell->selected = false;
    if (glyph->width == 2)
        cell[1] = (struct canvas_cell){.role = (uint8_t)role};
}

/* First column behind a field, inside the canvas. */
static int field_end(const struct canvas *canvas, int col, int width)
{
    int64_t end = (int64_t)col + width;
    return end < canvas->cols ? (int)end : canvas->cols;
}

/* Draws the bytes of text before end (NULL: all). */
static int draw(struct canvas *canvas, int row, int col, int width, enum role role, const char *text,
                const char *end)
{
    struct glyph glyph;

    if (row < 0 || row >= canvas->rows || width <= 0 || col >= canvas->cols)
        return col;
    int limit = field_end(canvas, col, width);
    while ((!end || text < end) && (text = next_glyph(canvas, text, &glyph))) {
        if (col + glyph.width > limit)
            break;
        if (col >= 0)
            put(canvas, row, col, role, &glyph);
        col += glyph.width;
    }
    return col;
}

int canvas_text(struct canvas *canvas, int row, int col, int width, enum role role, const char *text)
{
    return draw(canvas, row, col, width, role, text, NULL);
}

int canvas_textf(struct canvas *canvas, int row, int col, int width, enum role role, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return canvas_text(canvas, row, col, width, role, text);
}

static int measure(const struct canvas *canvas, const char *text, const char *end)
{
    struct glyph glyph;
    int width = 0;
    while ((!end || text < end) && (text = next_glyph(canvas, text, &glyph)))
        width += glyph.width;
    return width;
}

int canvas_width(const struct canvas *canvas, const char *text)
{
    return measure(canvas, text, NULL);
}

void canvas_right(struct canvas *canvas, int row, int col, int width, enum role role, const char *text)
{
    int needed = canvas_width(canvas, text);
    if (needed > width)
        canvas_fill(canvas, row, col, width, role, "#");
    else
        canvas_text(canvas, row, col + width - needed, needed, role, text);
}

/* The first line of a text that fits in width cells; *next is where the following one starts. */
static const char *line_end(const struct canvas *canvas, const char *text, int width, const char **next)
{
    const char *end = text, *word = text;

    for (;;) {
        const char *blank = word + strcspn(word, " \n");
        if (measure(canvas, text, blank) > width)
            break;
        end = blank;
        if (*blank != ' ')
            break;
        word = blank + 1;
    }
    if (end == text && *text != ' ' && *text != '\n') { /* a word wider than the line is cut */
        struct glyph glyph;
        int used = 0;
        const char *after;
        while (*end != ' ' && *end != '\n' && (after = next_glyph(canvas, end, &glyph)) &&
               ((used += glyph.width) <= width || end == text))
            end = after;
    }
    *next = end + (*end == ' ' || *end == '\n');
    return end;
}

int canvas_wrap(struct canvas *canvas, int row, int col, int width, int rows, enum role role,
                const char *text)
{
    int used = 0;
    while (*text && used < rows && width > 0) {
        const char *next, *end = line_end(canvas, text, width, &next);
        draw(canvas, row + used, col, width, role, text, end);
        text = next;
        text += *end == ' ' ? strspn(text, " ") : 0;
        used++;
    }
    return used;
}

void canvas_fill(struct canvas *canvas, int row, int col, int width, enum role role, const char *glyph)
{
    struct glyph one;
    if (width <= 0 || row < 0 || row >= canvas->rows || !next_glyph(canvas, glyph, &one) || one.width != 1)
        return;
    int end = field_end(canvas, col, width);
    for (int at = col < 0 ? 0 : col; at < end; at++)
        put(canvas, row, at, role, &one);
}

void canvas_select(struct canvas *canvas, int row, int col, int width)
{
    for (int at = bound(col, 0, canvas->cols); at < field_end(canvas, col, width) && inside(canvas, row, at);
         at++)
        cell_at(canvas, row, at)->selected = true;
}

void canvas_paint(struct canvas *canvas, int row, int col, int width, enum role role)
{
    for (int at = bound(col, 0, canvas->cols); at < field_end(canvas, col, width) && inside(canvas, row, at);
         at++)
        cell_at(canvas, row, at)->role = (uint8_t)role;
}

void canvas_cursor(struct canvas *canvas, int row, int col)
{
    canvas->cursor_row = inside(canvas, row, col) ? row : -1;
    canvas->cursor_col = inside(canvas, row, col) ? col : -1;
}

void canvas_bar(struct canvas *canvas, int row, int col, int width, enum role role, double value, double full)
{
    static const char *const blocks[2][9] = {{"", "-", "-", "-", "=", "=", "=", "=", "#"},
                                             {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}};
    if (!(value > 0) || !(full > 0) || width <= 0)
        return;
    width = bound(width, 0, SIZE_MAX_CELLS);
    double share = value / full;
    int eighths = share >= 1 ? width * 8 : (int)lround(share * width * 8);
    eighths = eighths < 1 ? 1 : eighths; /* only zero is empty */
    canvas_fill(canvas, row, col, eighths / 8, role, blocks[canvas->utf8][8]);
    if (eighths % 8)
        canvas_fill(canvas, row, col + eighths / 8, 1, role, blocks[canvas->utf8][eighths % 8]);
}

const char *canvas_level(const struct canvas *canvas, int eighths)
{
    static const char *const levels[2][9] = {{" ", ".", ":", "-", "=", "+", "*", "#", "@"},
                                             {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}};
    return levels[canvas->utf8][bound(eighths, 0, 8)];
}
