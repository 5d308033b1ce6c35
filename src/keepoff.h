/* SPDX-License-Identifier: MIT */
/*
 * Keeps vnettop off the CPUs that it watches: where a PMD or lcore polls, and where a busy vCPU must run.
 * Only this program's own threads are moved, and never to where it was not allowed to begin with.
 */
#ifndef VNETTOP_KEEPOFF_H
#define VNETTOP_KEEPOFF_H

#include <sched.h>
#include <stdbool.h>

#include "src/frame.h"

/* The CPUs of `allowed` that are nobody's own in the frame; all of `allowed` when none would be left. */
void keepoff_choose(const struct frame *frame, const cpu_set_t *allowed, cpu_set_t *chosen);

/* Moves every thread of this process to the set; false when the kernel refuses. */
bool keepoff_apply(const cpu_set_t *chosen);

#endif
