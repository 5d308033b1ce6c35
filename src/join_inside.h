/* SPDX-License-Identifier: MIT */
/* What join.c and its other parts share of a join; nobody else includes it. */
#ifndef VNETTOP_JOIN_INSIDE_H
#define VNETTOP_JOIN_INSIDE_H

#include "src/join.h"

#define JOIN_NONE UINT32_MAX
/* CPU numbers from here on are nobody's: a recording may hold any number. */
#define JOIN_CPUS 16384

struct text_node;

struct vm_node {
    uint32_t first_thread, first_path, worst_vcpu;
};

struct cpu_node {
    struct join_cpu cpu;
    uint32_t first_on, first_bound;
};

struct join {
    struct vm_node *vms;
    struct join_thread *threads;
    uint32_t *next_thread, *next_on, *next_bound; /* of the same VM, CPU, only CPU */
    struct cpu_node *cpus;
    size_t n_cpus;
    uint32_t *next_path, *path_vm, *path_port, *port_path;
    uint32_t *port_pmd; /* NULL until somebody asks who polls a port */
    struct serving *serving;
    bool *serving_known;
    const struct frame_row **lossy; /* NULL until somebody asks */
    size_t n_lossy;
    const struct frame_row **ways_out; /* ports that leave the host; NULL until somebody asks */
    size_t n_ways_out;
    struct text_node *texts;
};

/* The join, made when first asked for; NULL where there are no tables. */
struct join *join_get(const struct frame *frame);

/* n row numbers, all JOIN_NONE. */
uint32_t *join_numbers(size_t n);
uint32_t join_row_number(const struct frame *frame, enum table_id table, const struct frame_row *row);
const struct frame_row *join_row_at(const struct frame *frame, enum table_id table, uint32_t number);

void join_make_threads(const struct frame *frame, struct join *join);
void join_free_texts(struct join *join);

#endif
