/* SPDX-License-Identifier: MIT */
/* What a virtual machine's detail shows beside its numbers: the vCPU that waits most and the NIC that carries
 * most on one time axis, and its threads. */
#ifndef VNETTOP_VIEW_VM_H
#define VNETTOP_VIEW_VM_H

#include "ui/plots.h"

/* The plots of a virtual machine; returns their number. */
size_t view_vm_plots(const struct scene *scene, const struct frame_row *vm, struct plot *plots);

/* Draws its threads from row on, those that wait most first, over a part of the area; returns the row after
 * them. */
int view_vm_threads(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                    const struct frame_row *vm);

#endif
