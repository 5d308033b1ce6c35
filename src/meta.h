/* SPDX-License-Identifier: MIT */
/*
 * What meta.json of a recording says: by which tool, on which host, how, from when to when, with what result.
 * Filled by the commands that record, written by recording.c. Texts come from outside and may hold anything:
 * invalid UTF-8 becomes U+FFFD. Readers ignore members that they do not know; a change that is not an
 * addition raises the schema version.
 */
#ifndef VNETTOP_META_H
#define VNETTOP_META_H

#include <stddef.h>
#include <stdint.h>

#include "src/frame.h"
#include "src/host_facts.h"

#define META_SCHEMA_VERSION 1

struct meta;

/* facts NULL = nothing of the host. They are copied. */
struct meta *meta_new(const struct host_facts *facts, double interval_s);
void meta_free(struct meta *meta);

/* The maps of name to text: -l KEY=VALUE, what --result found, versions of libvirt, qemu, ovs, dpdk, vpp. */
enum meta_map { META_LABELS, META_RESULTS, META_VERSIONS, META_MAPS_N };
void meta_set(struct meta *meta, enum meta_map map, const char *name, const char *value);

/* The command that was run while recording; ends with NULL. */
void meta_set_command(struct meta *meta, const char *const *argv);

/* CLOCK_MONOTONIC and CLOCK_REALTIME, ns. The start is where elapsed_s is 0. */
void meta_set_start(struct meta *meta, int64_t mono_ns, int64_t wall_ns);

/* What recording.c tells. The end is the time of the last frame; exit_status -1 = not known. */
void meta_set_tables(struct meta *meta, const enum table_id *tables, size_t n);
void meta_set_end(struct meta *meta, int64_t mono_ns, int64_t wall_ns);
void meta_set_frames(struct meta *meta, uint64_t frames);
void meta_set_exit_status(struct meta *meta, int exit_status);

/* Every source with its state and detail, as in the frame's `sources` table. */
void meta_set_sources(struct meta *meta, const struct frame *frame);

/* The pin map: every thread of the frame with its CPUs, allowed and asked for, and the one it ran on. */
void meta_set_pins(struct meta *meta, const struct frame *frame);

/* The JSON text, with a line end; free() it. NULL without memory. */
char *meta_text(const struct meta *meta);

#endif
