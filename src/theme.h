/* SPDX-License-Identifier: MIT */
/*
 * Themes: what a role looks like. A theme is a file `ROLE = FOREGROUND [on BACKGROUND]
 * [bold|dim|underline|reverse...]` with colours by name (default, black, red, ... brightwhite), 256-colour
 * number, or #rrggbb; the default one is built in and fills the gaps of the others. Knows no terminal.
 */
#ifndef VNETTOP_THEME_H
#define VNETTOP_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ROLE(NAME, name, default theme's line, what it is for) */
#define ALL_ROLES(ROLE)                                                                                      \
    ROLE(TEXT, text, "default", "ordinary text and numbers")                                                 \
    ROLE(TITLE, title, "default bold", "program name, object of a detail screen")                            \
    ROLE(HEADING, heading, "brightblack bold", "column headings")                                            \
    ROLE(SORTED, sorted, "default bold underline", "heading of the column that sorts")                       \
    ROLE(KEY, key, "cyan bold", "a key in the footer and the help")                                          \
    ROLE(TAB, tab, "default", "name of a view that is not shown")                                            \
    ROLE(TAB_ACTIVE, tab_active, "default bold reverse", "name of the view that is shown")                   \
    ROLE(DIM, dim, "brightblack", "zeros, idle rows, hints")                                                 \
    ROLE(STALE, stale, "brightblack", "values older than they should be")                                    \
    ROLE(GOOD, good, "green", "source works, change for the better")                                         \
    ROLE(WATCH, watch, "yellow", "loss or steal worth a look")                                               \
    ROLE(BAD, bad, "red bold", "loss or steal that hurts")                                                   \
    ROLE(RX, rx, "green", "graph of received packets")                                                       \
    ROLE(TX, tx, "blue", "graph of sent packets")                                                            \
    ROLE(LOSS, loss, "red", "graph of loss")                                                                 \
    ROLE(CPU, cpu, "cyan", "graph of CPU time")                                                              \
    ROLE(MARK, mark, "magenta bold", "marks on the time axis, baseline")                                     \
    ROLE(SELECTED, selected, "default reverse", "selected row")                                              \
    ROLE(PROMPT, prompt, "default bold", "line where text is typed")                                         \
    ROLE(MESSAGE, message, "yellow", "message of the program, error line")

#define AS_ROLE(NAME, name, look, help) ROLE_##NAME,
enum role { ALL_ROLES(AS_ROLE) ROLES_N };

enum look_attributes { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_UNDERLINE = 4, LOOK_REVERSE = 8, LOOK_ITALIC = 16 };

/* COLOUR_DEFAULT, 0..255 of the xterm palette, or COLOUR_RGB | 0xrrggbb. */
#define COLOUR_DEFAULT (-1)
#define COLOUR_RGB     0x1000000

struct look {
    int foreground, background;
    unsigned attributes;
};

struct theme {
    char name[32];
    struct look look[ROLES_N];
};

/* The built-in theme. */
void theme_default(struct theme *theme);

/* Reads a theme's text over the default one. file is for messages. -1 with "FILE:LINE: what: mend" in error.
 */
int theme_parse(struct theme *theme, const char *file, const char *text, char *error, size_t error_size);

/* By name: "default", a path with a slash, else NAME.theme in the folders (ends with NULL). */
int theme_load(struct theme *theme, const char *name, const char *const *folders, char *error,
               size_t error_size);

/* Names of the themes that can be had, sorted, at most max; returns their number. Freed by the caller. */
size_t theme_list(const char *const *folders, char **names, size_t max);

/* What a cell looks like: its role, with the selection on top where it is selected. */
struct look theme_look(const struct theme *theme, enum role role, bool selected);

const char *role_name(enum role role);
const char *role_help(enum role role);

#endif
