/* SPDX-License-Identifier: MIT */
/*
 * Plots: columns of rows as graphs on one shared time axis, with the marks under it, so that cause and effect
 * line up. Used by the detail screens; what is plotted may come from several rows.
 */
#ifndef VNETTOP_PLOTS_H
#define VNETTOP_PLOTS_H

#include "ui/views.h"

#define MAX_PLOTS 6

struct plot {
    enum table_id table;
    const char *key; /* of the row */
    const struct column *column;
    const char *label; /* NULL = the column's title */
    enum role role;
};

/* Draws at most MAX_PLOTS in the upper half of the area; returns the row after them. */
int plots_draw(struct canvas *canvas, struct area area, const struct scene *scene, const struct plot *plots,
               size_t n);

/* The role a column's graph is drawn in. */
enum role plot_role(const struct column *column);

#endif
