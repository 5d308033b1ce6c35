/* SPDX-License-Identifier: MIT */
/*
 * Views: functions of (frame, view state) to a canvas. A table view is a line in the list of views.c; one
 * with a picture of its own also has a draw function in its file view_NAME.c. Views know no terminal, no
 * socket and no clock.
 */
#ifndef VNETTOP_VIEWS_H
#define VNETTOP_VIEWS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/format.h"
#include "src/frame.h"
#include "src/select.h"
#include "src/session.h"
#include "src/store.h"
#include "ui/canvas.h"

#define MAX_VIEW_COLUMNS MAX_SLOTS * 2

/* What a user chose for one view's table, and where they stand in it. */
struct table_state {
    const struct column *columns[MAX_VIEW_COLUMNS]; /* in screen order; n_columns 0 = the view's own */
    size_t n_columns;
    const struct column *sort;
    bool descending;
    bool show_idle;
    char filter_text[256];
    bool filtered;
    regex_t filter;
    char search[256];
    char selected[256];               /* key of the selected row, "" = none yet */
    const char *empty;                /* said when there is no row; NULL = that there is none */
    size_t cursor, top;               /* its number, and that of the first row shown */
    bool unselected;                  /* nobody moves in it: no row is marked */
    unsigned grown[MAX_VIEW_COLUMNS]; /* width that each table column has had: never shrinks by itself */

    /* Made by table_prepare. */
    const struct frame_row **rows;
    size_t n_rows, rows_alloc, n_idle, n_filtered;

    /* Made by drawing: the row on each line under the heading, for the mouse. */
    size_t *lines;
    int n_lines, lines_alloc;
};

/* Everything a view may look at. */
struct scene {
    const struct frame *frame;
    const struct frame *baseline; /* NULL = none set */
    const struct store *store;
    size_t moment; /* the frame's moment in the store */
    const struct mark *marks;
    size_t n_marks;
    int64_t interval_ms;
    bool many_netns; /* rows of several namespaces: names alone do not tell ports apart */
    struct format_style style;
    struct table_state *state; /* of the view that is drawn */
};

/* The part of the canvas that a view may draw on. */
struct area {
    int top, rows, cols;
};

struct view {
    const char *name;  /* --view, config */
    const char *title; /* tab */
    const char *brief; /* tab on a narrow screen */
    const char *help;
    enum table_id table;
    const char *sort; /* first sort: a column key, - before it for the largest first */
    bool hides_idle;  /* idle rows are hidden until `z` */
    void (*draw)(struct canvas *canvas, struct area area,
                 const struct scene *scene); /* NULL: the plain table */
    const char *empty;                       /* said when there is no row; NULL = that there is none */
};

extern const struct view views[];
extern const size_t n_views;

const struct view *view_find(const char *name);

/* The key that shows the i-th view, 1 to 9 then 0, and the view of a key by its name: n_views when it is
 * none. */
char view_key(size_t i);
size_t view_of_key(const char *name);

/* ui/table.c: the table behind every view. */
void table_state_init(struct table_state *state, const struct view *view);
void table_state_free(struct table_state *state);
/* "a,b,c": replaces the columns. -1 with a filled error naming the column and the way to list them. */
int table_set_columns(struct table_state *state, const struct table *table, const char *list, char *error,
                      size_t error_size);
/* "column" or "-column". */
int table_set_sort(struct table_state *state, const struct table *table, const char *text, char *error,
                   size_t error_size);
/* POSIX extended; "" clears. */
int table_set_filter(struct table_state *state, const char *text, char *error, size_t error_size);
/* Columns that the view shows when there is room: chosen or by priority; at most max. */
size_t table_columns(const struct table_state *state, const struct table *table,
                     const struct column **columns, size_t max);
/* Filters and sorts the frame's rows, and finds the selected row again. */
void table_prepare(struct table_state *state, const struct frame *frame, enum table_id table);
/* Moves the selection by rows, within bounds. */
void table_move(struct table_state *state, long by);
/* Selects the next (or the one before) row with a text that holds needle; false when none does. */
bool table_search(struct table_state *state, const struct frame *frame, enum table_id table,
                  const char *needle, bool backwards, bool from_next);
/* Sort by the visible column to the left (-1) or right (+1). */
void table_sort_step(struct table_state *state, const struct table *table, int step);
/* Notes that the next line under the heading shows a row. */
void table_line(struct table_state *state, size_t row);
/* Scrolls so that the cursor is among the shown rows. */
void table_scroll(struct table_state *state, size_t shown);
/* Scrolls so that the selected row is among the shown ones. */
void table_scroll(struct table_state *state, size_t shown);
/* The line under the rows drawn: how many more there are, and why they are not shown. */
bool table_has_remark(const struct table_state *state, size_t shown);
void table_remark(struct canvas *canvas, int row, struct area area, const struct table_state *state);
/* Most lines that all its rows can take. */
int table_lines(const struct table_state *state, enum table_id table);
/* Draws heading and rows. Columns of prose (declared 20 wide or more) are broken into lines. */
void table_draw(struct canvas *canvas, struct area area, const struct scene *scene, enum table_id table);
/* The column whose heading is at a screen column in the area; NULL. */
const struct column *table_column_at(const struct canvas *canvas, struct area area, const struct scene *scene,
                                     enum table_id table, int col);

/* The cell of a row as the scene shows it: against the baseline when there is one. */
struct cell scene_cell(const struct scene *scene, enum table_id table, const struct frame_row *row,
                       const struct column *column);
/* Its text and role on the screen. */
void scene_text(char *out, size_t size, const struct scene *scene, const struct cell *cell,
                const struct column *column);
enum role scene_role(const struct scene *scene, const struct cell *cell, const struct column *column);

/* view_*.c */
void view_overview_draw(struct canvas *canvas, struct area area, const struct scene *scene);
/* The column under whose heading a screen column lies; NULL. */
const struct column *view_overview_column_at(const struct canvas *canvas, const struct scene *scene, int col);
void view_pinmap_draw(struct canvas *canvas, struct area area, const struct scene *scene);
/* Draws from line `scroll` of its numbers on; returns how far they can be scrolled. */
size_t view_detail_draw(struct canvas *canvas, struct area area, const struct scene *scene,
                        enum table_id table, const char *key, size_t scroll);
/* Draws from line `scroll` on; returns how far it can be scrolled. */
size_t view_help_draw(struct canvas *canvas, struct area area, const struct view *view, size_t scroll);

#endif
