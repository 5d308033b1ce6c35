/* SPDX-License-Identifier: MIT */
/* What the user named and cannot be read: a namespace that is not there must not look like one without ports.
 */
#ifndef VNETTOP_ASKED_H
#define VNETTOP_ASKED_H

#include "src/frame.h"
#include "src/options.h"

/* One line on standard error for each --netns that is not read in this frame, with the reason. Returns their
 * number. */
unsigned asked_complain(const struct options *options, const struct frame *frame);

#endif
