/* SPDX-License-Identifier: MIT */
/*
 * What belongs together in a frame: the threads and NICs of each virtual machine, the port behind each NIC,
 * the threads on each CPU. Built once a frame, when somebody first asks; always by stable keys (vm_key,
 * namespace and name of a port), never by a display name: vm1 is not vm10. Pure: it reads the frame alone.
 */
#ifndef VNETTOP_JOIN_H
#define VNETTOP_JOIN_H

#include "src/frame.h"

struct join;

/* The join of a frame; lives as long as the frame. NULL for a frame without tables (a single row of a
 * series). */
const struct join *frame_join(const struct frame *frame);
void join_free(struct join *join);

/* Threads of a VM, then NICs of a VM: each a walk over frame rows. NULL ends it. */
const struct frame_row *join_first_thread(const struct frame *frame, const struct frame_row *vm);
const struct frame_row *join_next_thread(const struct frame *frame, const struct frame_row *thread);
const struct frame_row *join_first_path(const struct frame *frame, const struct frame_row *vm);
const struct frame_row *join_next_path(const struct frame *frame, const struct frame_row *path);

/* The VM a thread or a path belongs to, the port behind a path, the path behind a port; NULL when not known.
 */
const struct frame_row *join_vm_of_path(const struct frame *frame, const struct frame_row *path);
const struct frame_row *join_port_of_path(const struct frame *frame, const struct frame_row *path);
const struct frame_row *join_path_of_port(const struct frame *frame, const struct frame_row *port);

/* Who moves a path's packets: its vhost worker, the PMD of its queues (the busiest), or the emulator thread
 * of a tap without vhost. thread is a row of THREADS, pmd one of PMDS; NULL = not known. */
struct serving {
    const struct frame_row *thread, *pmd;
};
struct serving join_serving(const struct frame *frame, const struct frame_row *path);

/* The vCPU of a VM that waits most; NULL when none is known. */
const struct frame_row *join_worst_vcpu(const struct frame *frame, const struct frame_row *vm);

/* A row's column as a number, NAN when it has none now. */
double join_number(const struct frame *frame, enum table_id table, const struct frame_row *row,
                   const char *key);

/* A text of the frame's own: lives as long as the frame. NULL stays NULL. */
const char *join_keep(const struct frame *frame, const char *text);

/* Is the port one that the guest sits behind, so that its tx goes to the guest? Not so for a macvtap, which
 * counts as the guest does. */
bool join_port_faces_guest(const struct frame *frame, const struct frame_row *port);

/* Which threads of the THREADS table are meant by a list for a CPU. */
enum join_list { JOIN_RAN, JOIN_PINNED, JOIN_MAY };

/* Text "web-rx/0 58, pmd/1 42" of the threads on a CPU, most run first; NULL when there are none. Lives as
 * long as the frame. */
const char *join_cpu_threads(const struct frame *frame, uint64_t cpu, enum join_list list);

/* Short name of a thread: web-rx/0, web-rx emulator, pmd/1. */
void join_thread_name(char *out, size_t size, const struct frame *frame, const struct frame_row *thread);

/* "0@3" of a thread: index and the CPU it last ran on. Lives as long as the frame. */
const char *join_vcpu_place(const struct frame *frame, const struct frame_row *thread);

/* Pinned: the list has one CPU, or at most four and a quarter of the host's. */
bool join_is_pinned(const struct frame *frame, const char *allowed);

/* A CPU of the list text ("0-3,8")? */
bool join_list_has(const char *list, uint64_t cpu);
/* CPUs in the list text; 0 when it is none. */
unsigned join_list_count(const char *list);

/* A stored text of a row by struct field, NULL when it has none: over all parts. */
const char *join_text(const struct frame_row *row, size_t info_offset);
#define JOIN_TEXT(row, type, field) join_text(row, offsetof(type, field))

#endif
