/* SPDX-License-Identifier: MIT */
/*
 * Allocation that cannot fail: a monitor without memory has nothing to show, so it says so and ends (the
 * terminal is restored by the exit handler). Sizes are checked for overflow.
 */
#ifndef VNETTOP_MEMORY_H
#define VNETTOP_MEMORY_H

#include <stddef.h>

void *xzalloc(size_t size);
/* Array of n elements; keeps what p held. */
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *text);

#endif
