/* SPDX-License-Identifier: MIT */
/* Allocation that cannot fail (see memory.h). */
#include "src/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *check(void *p)
{
    if (!p) {
        fputs("vnettop: out of memory\n", stderr);
        exit(2);
    }
    return p;
}

void *xzalloc(size_t size)
{
    return check(calloc(1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
    return check(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *text)
{
    return check(strdup(text));
}
