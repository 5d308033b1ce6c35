/* SPDX-License-Identifier: MIT */
/* Texts from outside, made harmless for a terminal or a file that is read by eyes. */
#ifndef VNETTOP_TEXT_H
#define VNETTOP_TEXT_H

#include <stddef.h>

/* Copies text; control characters and invalid UTF-8 become `?`. What does not fit is cut at a character. */
void text_visible(char *out, size_t size, const char *text);

#endif
