/* SPDX-License-Identifier: MIT */
/* The NUMA nodes that a path touches (see join.h). */
#include "src/join.h"

static uint64_t node_bit(uint64_t node)
{
    return node < 64 ? UINT64_C(1) << node : 0;
}

static uint64_t node_of_cpu(const struct frame *frame, int64_t number)
{
    const struct join_cpu *cpu = join_cpu(frame, number);
    uint64_t node;
    bool known = cpu && cpu->row && join_info_number(cpu->row, offsetof(struct cpus_info, numa), &node);
    return known ? node_bit(node) : 0;
}

#define MOST_UPLINKS 16

/* 0 where one of them does not tell: it may be the near one. */
static uint64_t nodes_of_uplinks(const struct frame *frame, const struct frame_row *port)
{
    const struct frame_row *uplinks[MOST_UPLINKS];
    uint64_t nodes = 0, node;
    size_t n = join_uplinks(frame, port, uplinks, MOST_UPLINKS);
    for (size_t i = 0; i < n && i < MOST_UPLINKS; i++) {
        if (!join_info_number(uplinks[i], offsetof(struct ports_info, numa), &node))
            return 0;
        nodes |= node_bit(node);
    }
    return nodes;
}

struct join_nodes join_nodes(const struct frame *frame, const struct frame_row *path)
{
    struct join_nodes nodes = {0};
    const struct frame_row *vm = join_vm_of_path(frame, path), *port = join_port_of_path(frame, path);
    const struct frame_row *server = join_serving(frame, path).thread;
    uint64_t node;
    for (const struct frame_row *row = vm ? join_first_thread(frame, vm) : NULL; row;
         row = join_next_thread(frame, row)) {
        const struct join_thread *thread = join_thread_of(frame, row);
        if (thread->kind == THREAD_VCPU)
            nodes.vcpus |= node_of_cpu(frame, thread->cpu);
    }
    if (vm)
        nodes.memory = join_list_bits(JOIN_TEXT(vm, struct vms_info, numa_nodes));
    if (server)
        nodes.thread = node_of_cpu(frame, join_thread_of(frame, server)->cpu);
    if (port && join_info_number(port, offsetof(struct ports_info, numa), &node))
        nodes.port = node_bit(node);
    if (port)
        nodes.uplinks = nodes_of_uplinks(frame, port);
    return nodes;
}
