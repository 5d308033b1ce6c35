/* SPDX-License-Identifier: MIT */
/*
 * Paths of ports that no guest is behind: veths and NICs, for --paths all. A session asks for a sample of
 * them at each tick, made from the frame before it, so that they are recorded, filtered and compared like any
 * guest's.
 */
#ifndef VNETTOP_PORTPATHS_H
#define VNETTOP_PORTPATHS_H

#include <stdint.h>

#include "src/frame.h"
#include "src/sample.h"

struct portpaths;

struct portpaths *portpaths_new(void);
void portpaths_free(struct portpaths *paths);

/* The caller releases it. Infos are kept from sample to sample for as long as the ports are the same. */
struct sample *portpaths_sample(struct portpaths *paths, const struct frame *frame, int64_t now_ns,
                                int64_t wall_ns);

#endif
