/* SPDX-License-Identifier: MIT */
/*
 * Collector of the source `host`, fast part: time of every CPU, packet work of the kernel, pressure. It is
 * read at every tick from files of /proc that stay open. What a CPU is (core, node, isolation) and which
 * interrupts it serves is host_topology.c's; the rows of both meet under one key, "cpu:N", in a frame.
 */
#ifndef VNETTOP_HOST_H
#define VNETTOP_HOST_H

#include "src/collector.h"

extern const struct collector host_collector;

#endif
