/* SPDX-License-Identifier: MIT */
/*
 * A NIC that two sources tell of under two keys: one saw its tap open in the guest's process and no address
 * of its own, the other read its address in the guest's configuration. Called by frame.c before it gives out
 * rows, so that no packet is counted twice. Pure; it must not know which sources these are.
 */
#ifndef VNETTOP_DOUBLES_H
#define VNETTOP_DOUBLES_H

#include "src/frame.h"

/* The row of the PATHS table that has the address for certain, of the same guest and on the same port, when
 * this one has none or a concluded one; NULL when there is none, or it is not clear which. */
struct frame_row *doubles_find(const struct frame_table *paths, const struct frame_row *path);

#endif
