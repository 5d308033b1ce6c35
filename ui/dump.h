/* SPDX-License-Identifier: MIT */
/*
 * A canvas as plain text: `-b` prints it, golden tests compare it. The styled form adds a block in which each
 * cell is the letter of its role, so that colours can be tested without a terminal.
 */
#ifndef VNETTOP_DUMP_H
#define VNETTOP_DUMP_H

#include <stdio.h>

#include "ui/canvas.h"

/* The first rows lines (at most the canvas's), blanks at their ends cut. 0, or -1 when the stream fails. */
int dump_text(const struct canvas *canvas, int rows, FILE *file);

/* All lines, then "---", the letters (`.` text, a.. other roles, A.. selected), and a legend of those used.
 */
int dump_styled(const struct canvas *canvas, FILE *file);

/* The same as an allocated string. */
char *dump_text_string(const struct canvas *canvas);
char *dump_styled_string(const struct canvas *canvas);

/* Lines up to the last one that is not blank. */
int dump_used_rows(const struct canvas *canvas);

#endif
