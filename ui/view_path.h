/* SPDX-License-Identifier: MIT */
/* What a path's detail shows beside its numbers: packets, loss, steal and the serving thread on one time
 * axis, whether they move together, and the ledger. */
#ifndef VNETTOP_VIEW_PATH_H
#define VNETTOP_VIEW_PATH_H

#include "ui/plots.h"

/* The plots of a path (NULL when it is gone); returns their number. */
size_t view_path_plots(const struct scene *scene, const struct frame_row *path, struct plot *plots);

/* Draws correlation and ledger from row on; returns the row after them. */
int view_path_ledger(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                     const struct frame_row *path);

#endif
