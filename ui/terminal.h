/* SPDX-License-Identifier: MIT */
/*
 * The terminal: shows canvases and reads keys. curses.c implements it and is the only file that knows
 * ncurses. One terminal a process, main thread only. It is restored at exit and on fatal signals by itself;
 * ordinary signals are the main loop's: SIGTSTP calls terminal_suspend, SIGCONT terminal_redraw, SIGWINCH
 * terminal_resize.
 */
#ifndef VNETTOP_TERMINAL_H
#define VNETTOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/theme.h"
#include "ui/canvas.h"

struct terminal;

struct terminal_options {
    bool mouse;   /* take clicks and the wheel */
    bool colours; /* false: attributes only (NO_COLOR, --no-color) */
    bool ascii;   /* draw no UTF-8 even where the locale has it */
};

/* Special keys; below them a key is a Unicode character (Ctrl-L is 12). */
enum terminal_key {
    TKEY_FIRST = 0x110000,
    TKEY_ENTER,
    TKEY_ESCAPE,
    TKEY_TAB,
    TKEY_BACKTAB,
    TKEY_BACKSPACE,
    TKEY_UP,
    TKEY_DOWN,
    TKEY_LEFT,
    TKEY_RIGHT,
    TKEY_HOME,
    TKEY_END,
    TKEY_PAGE_UP,
    TKEY_PAGE_DOWN,
    TKEY_INSERT,
    TKEY_DELETE,
    TKEY_F1,
    TKEY_F12 = TKEY_F1 + 11,
};

enum terminal_event_kind {
    TERMINAL_NOTHING, /* no more input now */
    TERMINAL_KEY,
    TERMINAL_CLICK, /* left button pressed at row, col */
    TERMINAL_WHEEL_UP,
    TERMINAL_WHEEL_DOWN,
    TERMINAL_GONE, /* the terminal was closed: nothing will come any more */
};

struct terminal_event {
    enum terminal_event_kind kind;
    uint32_t key; /* Unicode character or enum terminal_key */
    int row, col; /* mouse */
};

/* Sets LC_CTYPE from the environment; true when it is UTF-8. Call before threads start. */
bool terminal_locale_utf8(void);

/* Takes over standard input and output. NULL with a filled error: no terminal, unknown TERM. */
struct terminal *terminal_open(const struct terminal_options *options, char *error, size_t error_size);
/* Restores the terminal. NULL is legal. */
void terminal_close(struct terminal *terminal);

/* Readable when terminal_read_key has something to say. */
int terminal_fd(const struct terminal *terminal);
/* A terminal that is stopped (Ctrl-S) takes nothing, and terminal_show would wait until it does; the
 * descriptor is writable when it goes on. */
bool terminal_takes_output(const struct terminal *terminal);
int terminal_out_fd(const struct terminal *terminal);
/* What canvases for this terminal should be made with. */
bool terminal_utf8(const struct terminal *terminal);
void terminal_size(const struct terminal *terminal, int *rows, int *cols);
/* Reads the size again; true when it changed. */
bool terminal_resize(struct terminal *terminal);

/* Brings the screen to what the canvas shows, writing only what differs. */
void terminal_show(struct terminal *terminal, const struct canvas *canvas, const struct theme *theme);
/* Forgets what the screen shows, so that the next terminal_show draws all of it. */
void terminal_redraw(struct terminal *terminal);
/* Gives the terminal back, stops the process as Ctrl-Z does, and takes the terminal again when it continues.
 */
void terminal_suspend(struct terminal *terminal);

/* The next event; never blocks for longer than a lone Escape needs (25 ms). Call until TERMINAL_NOTHING. */
struct terminal_event terminal_read_key(struct terminal *terminal);

/* Name of a key for help, footer and manual: "F2", "PgUp", "^L", "a"; returns the length. */
size_t terminal_key_name(char *out, size_t size, uint32_t key);

#endif
