/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 without the locale: strict decoding of bytes that nobody vouches for, encoding, and how many cells a
 * character takes on a terminal. Used by the canvas, the CSV writer, meta.json and the keyboard. Tables are
 * Unicode 14.
 */
#ifndef VNETTOP_UTF8_H
#define VNETTOP_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX
#define UTF8_MAX     4

/* U+FFFD, for what is invalid. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The character at text (at most size bytes, size > 0) and how many bytes it took. Overlong forms,
 * surrogates, values over U+10FFFF and torn sequences are UTF8_INVALID and take one byte. */
uint32_t utf8_decode(const char *text, size_t size, size_t *taken);

/* Writes 1 to 4 bytes, no NUL; returns their number. */
size_t utf8_encode(uint32_t code, char out[UTF8_MAX]);

enum utf8_width {
    UTF8_CONTROL = -1,   /* C0, C1, line and bidi controls, non-characters: to be shown as `?` */
    UTF8_INVISIBLE = -2, /* joiners, variation selectors, tags: to be left out */
    UTF8_COMBINING = 0,  /* joins the character before it */
    UTF8_NARROW = 1,
    UTF8_WIDE = 2,
};

enum utf8_width utf8_width(uint32_t code);

/* Turns what is no character of a line (controls, torn sequences) into `?`, in place: for errors that name
 * what somebody typed or a file held, so that they stay one line and do nothing to the terminal. */
void utf8_make_printable(char *text);

#endif
