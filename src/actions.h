/* SPDX-License-Identifier: MIT */
/*
 * What keys do, declared once: the console's dispatch, the help screen, the footer and the manual's KEYS are
 * loops over this table. Adding a key is a line here and its case in ui/console_actions.c.
 */
#ifndef VNETTOP_ACTIONS_H
#define VNETTOP_ACTIONS_H

#include <stddef.h>

/* ACTION(NAME, keys, footer, help): keys as key_name() spells them, several apart by blanks; footer: the word
 * in the footer line, "" = not there. Order is the order of help and footer. */
#define ALL_ACTIONS(ACTION)                                                                                  \
    ACTION(ENTER, "Enter", "detail", "open the selected row: graphs on one time axis, every number")         \
    ACTION(BACK, "Esc Backspace", "", "back from a detail or help screen; clear search and filter")                 \
    ACTION(UP, "Up k", "", "row up")                                                                         \
    ACTION(DOWN, "Down j", "", "row down")                                                                   \
    ACTION(PAGE_UP, "PgUp ^B", "", "page up")                                                                \
    ACTION(PAGE_DOWN, "PgDn ^F", "", "page down")                                                            \
    ACTION(TOP, "Home g", "", "first row")                                                                   \
    ACTION(BOTTOM, "End G", "", "last row")                                                                  \
    ACTION(NEXT_VIEW, "Tab", "", "next view")                                                                \
    ACTION(PREVIOUS_VIEW, "Shift-Tab", "", "view before")                                                    \
    ACTION(SEARCH, "/", "search", "find a row by a part of its text")                                        \
    ACTION(SEARCH_NEXT, "n", "", "next row that matches the search")                                         \
    ACTION(SEARCH_PREVIOUS, "N", "", "row before that matches the search")                                   \
    ACTION(FILTER, "\\", "filter", "show only rows that match a regular expression; empty shows all")        \
    ACTION(SORT_LEFT, "<", "< > sort", "sort by the column to the left")                                     \
    ACTION(SORT_RIGHT, ">", "", "sort by the column to the right")                                           \
    ACTION(SORT_MENU, "F6 S", "", "choose the column to sort by")                                            \
    ACTION(REVERSE, "r", "", "turn the sort order")                                                          \
    ACTION(COLUMNS, "F2 o", "columns", "choose the columns of this view")                                    \
    ACTION(INTERVAL, "d", "", "set the interval in seconds")                                                 \
    ACTION(PAUSE, "Space", "pause", "stop the screen, and go on live")                                       \
    ACTION(STEP_BACK, "Left", "", "one step back in time (stops the screen)")                                \
    ACTION(STEP_FORWARD, "Right", "", "one step forward in time, up to live")                                \
    ACTION(MARK, "m", "mark", "set a mark with a text on the time axis")                                     \
    ACTION(BASELINE, "b", "baseline",                                                                        \
           "set the present frame as baseline, or clear it: cells show the change against it")               \
    ACTION(SNAPSHOT, "s", "snapshot", "write this frame as CSV into a new folder")                           \
    ACTION(RECORD, "R", "record", "start or stop recording into a new folder")                               \
    ACTION(UNITS, "u", "", "units: scaled bits, scaled bytes, exact numbers")                                \
    ACTION(IDLE, "z", "", "hide or show idle rows")                                                          \
    ACTION(THEME, "t", "", "next theme")                                                                     \
    ACTION(REDRAW, "^L", "", "draw the screen anew")                                                         \
    ACTION(HELP, "? h F1", "? help", "keys, columns of this view, words")                                    \
    ACTION(QUIT, "q F10 ^C", "quit", "leave")

#define AS_ACTION_ID(NAME, ...) ACTION_##NAME,
enum action_id { ALL_ACTIONS(AS_ACTION_ID) ACTIONS_N };

struct action {
    const char *keys, *footer, *help;
};
const struct action *action_get(enum action_id id);

/* The action of a key by its name; ACTIONS_N when the key does nothing. Views' own keys (1 to 9) are in
 * ui/views.h. */
enum action_id action_find(const char *key_name);

#endif
