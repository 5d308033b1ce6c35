/* SPDX-License-Identifier: MIT */
/* Looks brought down to the colours a terminal has. Pure; knows no terminal. */
#ifndef VNETTOP_PALETTE_H
#define VNETTOP_PALETTE_H

#include "src/theme.h"

/* Nearest number among the first 16, or among 16..255, of the xterm palette. */
int palette_nearest(int rgb, int first, int last);

/* 0xrrggbb of a palette number. */
int palette_rgb(int number);

/*
 * The look for a terminal of so many colours: colours are COLOUR_DEFAULT or below that number; above 256
 * (direct colour) 0..7 stay numbers and others are 0xrrggbb. Without colours a bright background becomes
 * reverse; with 8, bright ones become bold and grey becomes dim, and text keeps apart from its background.
 */
struct look palette_reduce(struct look look, int colours);

#endif
