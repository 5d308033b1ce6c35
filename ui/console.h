/* SPDX-License-Identifier: MIT */
/*
 * The console: state of the screen, what it draws, and what keys do to it. It draws on a canvas and is fed
 * with key names, so tests drive it without a terminal; console_run.c ties it to the terminal, the clock and
 * the signals.
 */
#ifndef VNETTOP_CONSOLE_H
#define VNETTOP_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/actions.h"
#include "src/options.h"
#include "src/session.h"
#include "src/takeaway.h"
#include "src/theme.h"
#include "ui/canvas.h"
#include "ui/views.h"

#define MAX_VIEWS 16

/* A line that is typed: one prompt at a time. */
struct prompt {
    enum action_id action; /* what it is for; ACTIONS_N = no prompt */
    const char *label;
    char text[256];
    size_t length;
    int64_t t_ns, wall_ns; /* when the key was pressed: a mark's moment is not that of Enter */
};

/* A list to choose from: columns to toggle, or the one to sort by. */
struct chooser {
    enum action_id action; /* ACTION_COLUMNS, ACTION_SORT_MENU; ACTIONS_N = none */
    size_t cursor, top;
    bool on[MAX_VIEW_COLUMNS];
};

enum screen { SCREEN_VIEW, SCREEN_DETAIL, SCREEN_HELP };

struct console {
    const struct options *options;
    struct session *session;
    struct takeaway *takeaway;
    const char *const *theme_folders;
    struct theme theme;
    char kept_theme[32]; /* chosen here or in an earlier run: a file that an option names is no such choice */
    struct format_style style;

    size_t view;
    struct table_state states[MAX_VIEWS];
    enum screen screen, behind_help;
    char detail_key[256];
    size_t scroll, scroll_end; /* first line shown, and the furthest that still fills the screen */

    struct frame *frame; /* what is shown; NULL before the first */
    bool paused;
    struct frame *baseline;
    int64_t recording_since_ns;

    struct prompt prompt;
    struct chooser chooser;
    char message[512];
    bool message_is_error;
    bool quit, redraw, interval_changed, settings_changed;
};

/* theme_folders ends with NULL. -1 with one clear line in error: unknown view, column, theme. */
int console_init(struct console *console, const struct options *options, struct session *session,
                 struct takeaway *takeaway, const char *const *theme_folders, char *error, size_t error_size);
void console_free(struct console *console);

/* The session has ended a tick: take the newest frame, unless the screen is paused; write it to a recording.
 */
void console_frame(struct console *console);

/* A key by its name (terminal_key_name). A character that is typed into a prompt is its own name. */
void console_key(struct console *console, const char *name);

/* The mouse, in canvas coordinates. */
void console_click(struct console *console, const struct canvas *canvas, int row, int col);
void console_wheel(struct console *console, int step);

/* Draws everything. */
void console_draw(struct console *console, struct canvas *canvas);

/* console_actions.c */
void console_act(struct console *console, enum action_id action);
/* Sorts the view by a column, numbers from the largest on. */
void console_sort(struct console *console, const struct column *column);
void console_prompt_key(struct console *console, const char *name);
void console_chooser_key(struct console *console, const char *name);

/* The rows of the view's table as the frame has them now: a new frame has made the last ones void. */
void console_refresh(struct console *console);

/* The moment of the store that the frame shows. */
size_t console_moment(const struct console *console);

void console_say(struct console *console, const char *format, ...) __attribute__((format(printf, 2, 3)));
void console_complain(struct console *console, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* console_settings.c: the chosen columns, sort orders, units and theme, kept from run to run. */
int console_load_settings(struct console *console, char *error, size_t error_size);
int console_save_settings(struct console *console, char *error, size_t error_size);

/* console_run.c: the loop. Returns the exit status. */
int console_run(const struct options *options, struct session *session, struct takeaway *takeaway,
                int signal_fd);

#endif
