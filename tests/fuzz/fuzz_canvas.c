/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a text on a canvas: they stay in their field, every line keeps its cells, and no control byte
 * is left. The first byte chooses the mode and the width.
 */
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"
#include "ui/canvas.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct canvas *canvas, int first, int end)
{
    for (int row = 0; row < canvas->rows; row++) {
        int cells = 0;
        for (int col = 0; col < canvas->cols; col++) {
            const struct canvas_cell *cell = canvas_at(canvas, row, col);
            cells += cell->width;
            for (const char *p = cell->glyph; *p; p++)
                if ((unsigned char)*p < 0x20 || *p == 0x7f || (!canvas->utf8 && (unsigned char)*p >= 0x80))
                    abort();
            if ((col < first || col >= end) && strcmp(cell->glyph, " ") != 0)
                abort();
        }
        if (cells != canvas->cols)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    int width = data[0] & 31;
    struct canvas *canvas = canvas_new(3, 40, data[0] & 32);
    char *text = xzalloc(size);
    memcpy(text, data + 1, size - 1);

    canvas_text(canvas, 0, 4, width, ROLE_TEXT, text);
    canvas_wrap(canvas, 0, 4, width, 3, ROLE_TEXT, text);
    canvas_text(canvas, 1, 5, width - 1, ROLE_TEXT, text); /* over what is there */
    canvas_right(canvas, 2, 4, width, ROLE_TEXT, text);
    check(canvas, 4, 4 + width);
    free(text);
    canvas_free(canvas);
    return 0;
}
