/* SPDX-License-Identifier: MIT */
/*
 * What belongs together in a frame: the threads and NICs of each virtual machine, the port behind each NIC,
 * the thread that serves it, the threads on each CPU. Built once a frame, when somebody first asks; always by
 * stable keys (vm_key, namespace and name of a port, socket path, MAC of a VF), never by a display name: vm1
 * is not vm10. Pure: it reads the frame alone. Rows that are returned are the frame's.
 */
#ifndef VNETTOP_JOIN_H
#define VNETTOP_JOIN_H

#include "src/column_of.h"
#include "src/frame.h"

struct join;

/* The join of a frame; lives as long as the frame. NULL for a frame without tables (a single row of a
 * series). */
const struct join *frame_join(const struct frame *frame);
void join_free(struct join *join);

/* --- threads --- */

enum thread_kind {
    THREAD_OTHER,
    THREAD_VCPU,
    THREAD_EMULATOR,
    THREAD_IOTHREAD,
    THREAD_VHOST,
    THREAD_WORKER,
    THREAD_PMD,
    THREAD_HANDLER,
    THREAD_REVALIDATOR,
    THREAD_LCORE,
    THREAD_VPP,
    THREAD_KINDS,
};

/* One row of THREADS with what is asked of it again and again. Numbers are NAN when there is none; those of a
 * source that does not answer any more are still there, with stale set. */
struct join_thread {
    const struct frame_row *row;
    const struct frame_row *vm; /* NULL: of no virtual machine */
    const char *allowed;        /* CPUs it may run on, NULL = not known */
    double run_pct, steal_pct;
    int64_t cpu;      /* that it last ran on, -1 = not known */
    int64_t only_cpu; /* the only one that it may run on, -1 = it may choose, or not known */
    enum thread_kind kind;
    bool stale;
};

/* All of them, in the table's order; the end is behind the last. */
const struct join_thread *join_threads(const struct frame *frame);
const struct join_thread *join_threads_end(const struct frame *frame);
#define JOIN_EACH_THREAD(thread, frame)                                                                      \
    for (const struct join_thread *thread = join_threads(frame), *thread##_end = join_threads_end(frame);    \
         thread < thread##_end; thread++)
const struct join_thread *join_thread_of(const struct frame *frame, const struct frame_row *thread);

/* A thread that polls its CPU and so takes all of it. */
bool join_is_poller(const struct join_thread *thread);

/* --- CPUs --- */

/* A CPU of this host; threads are chains of join_thread numbers, in the table's order. */
struct join_cpu {
    const struct frame_row *row; /* of CPUS, NULL when that source does not know it */
    double idle_pct;
    bool polled;  /* a poller runs on it */
    bool crowded; /* or on another CPU of its core */
};

/* NULL when the number is of no CPU here. */
const struct join_cpu *join_cpu(const struct frame *frame, int64_t cpu);
/* Threads that last ran on a CPU, and those that may run on it alone. NULL ends each walk. */
const struct join_thread *join_first_on_cpu(const struct frame *frame, int64_t cpu);
const struct join_thread *join_next_on_cpu(const struct frame *frame, const struct join_thread *thread);
const struct join_thread *join_first_bound(const struct frame *frame, int64_t cpu);
const struct join_thread *join_next_bound(const struct frame *frame, const struct join_thread *thread);

/* --- virtual machines, NICs and ports --- */

/* Threads of a VM, then NICs of a VM: each a walk over frame rows. NULL ends it. */
const struct frame_row *join_first_thread(const struct frame *frame, const struct frame_row *vm);
const struct frame_row *join_next_thread(const struct frame *frame, const struct frame_row *thread);
const struct frame_row *join_first_path(const struct frame *frame, const struct frame_row *vm);
const struct frame_row *join_next_path(const struct frame *frame, const struct frame_row *path);

/* The VM of a path, the port behind a path, the path behind a port; NULL when not known. */
const struct frame_row *join_vm_of_path(const struct frame *frame, const struct frame_row *path);
const struct frame_row *join_port_of_path(const struct frame *frame, const struct frame_row *path);
const struct frame_row *join_path_of_port(const struct frame *frame, const struct frame_row *port);

/* Ports on which a counter of loss, errors or carrier changes rose, in the table's order: the rest need not
 * be looked at for loss. A port of OVS that DPDK tells of too is there once. */
const struct frame_row *const *join_lossy_ports(const struct frame *frame, size_t *n);

/* The DPDK process that holds the other end of a vhost-user port: a guest that is no virtual machine. */
const struct frame_row *join_process_of_port(const struct frame *frame, const struct frame_row *port);

/* Who moves a path's packets: its vhost worker, the PMD of its queues (the busiest), or the emulator thread
 * of a tap without vhost. thread is a row of THREADS, pmd one of PMDS; NULL = not known. guessed: the busiest
 * of several that may be it. */
struct serving {
    const struct frame_row *thread, *pmd;
    bool guessed;
};
struct serving join_serving(const struct frame *frame, const struct frame_row *path);

/* The vCPU of a VM that waits most (of those that wait alike, the one that runs most); NULL when no wait is
 * known. */
const struct frame_row *join_worst_vcpu(const struct frame *frame, const struct frame_row *vm);

/* Keys of paths of ports that no guest is behind: this and the port's key. Such a path has a port, but the
 * port has no path: nobody drains it. */
#define JOIN_PORT_PATH "path:port:"
bool join_is_port_path(const struct frame_row *path);

/* Does the port's tx go to the guest behind it? Not so for macvtaps and virtual functions, which count as the
 * guest does, and for NICs: what they receive is for this host. */
bool join_port_faces_guest(const struct frame *frame, const struct frame_row *port);

/* The bridge or OVS bridge that the port is a port of; NULL when it is of none. An OVS's own word comes
 * before the kernel's, which names the datapath. */
const char *join_switch_of_port(const struct frame_row *port);

/* Of two ports: are they in one namespace or OVS, and of one switch there? A port is in an OVS when that
 * tells of its datapath. */
bool join_same_place(const struct frame_row *a, const struct frame_row *b);
bool join_same_switch(const struct frame_row *a, const struct frame_row *b);
bool join_is_in_ovs(const struct frame_row *port);

/* The ways out of the host for a port: NICs, bonds and tunnels of its switch; of a virtual function or
 * macvtap the NIC it is a part of. Writes at most so many and returns how many there are; and their names as
 * a text that lives as long as the frame, NULL when there is none. */
size_t join_uplinks(const struct frame *frame, const struct frame_row *port, const struct frame_row **uplinks,
                    size_t most);
const char *join_uplink_names(const struct frame *frame, const struct frame_row *port);

/* Does the port lead out of the host, as a NIC does? */
bool join_leads_out(const struct frame_row *port);

/* Is the port one of OVS's own ethdevs, which OVS tells of by itself? */
bool join_is_told_by_ovs(const struct frame *frame, const struct frame_row *port);

/* NUMA nodes that a path touches, as bits; 0 = not known. */
struct join_nodes {
    uint64_t vcpus, memory, thread, port;
    uint64_t uplinks; /* of the NICs of its switch */
};
struct join_nodes join_nodes(const struct frame *frame, const struct frame_row *path);

/* --- numbers and texts --- */

/* A cell's number, NAN when it has none now; of no row NAN. */
double join_number(const struct frame *frame, const struct frame_row *row, const struct column *column);

/* A text of the frame's own: lives as long as the frame. NULL stays NULL. */
const char *join_keep(const struct frame *frame, const char *text);

/* Which threads of the THREADS table are meant by a list for a CPU. */
enum join_list { JOIN_RAN, JOIN_PINNED, JOIN_MAY };

/* Text "web-rx/0 58, pmd/1 42" of the threads on a CPU, most run first, and how many more there are; NULL
 * when there are none. Lives as long as the frame. */
const char *join_cpu_threads(const struct frame *frame, uint64_t cpu, enum join_list list);

/* A name as it may stand in a sentence: no control characters, cut at a character, which two dots say. */
void join_short_text(char *out, size_t size, const char *text);

/* Short name of a thread: web-rx/0, web-rx emulator, pmd/1, testpmd lcore/1. */
void join_thread_name(char *out, size_t size, const struct frame *frame, const struct frame_row *thread);

/* "0@3" of a thread: index and the CPU it last ran on. Lives as long as the frame. */
const char *join_vcpu_place(const struct frame *frame, const struct frame_row *thread);

/* Pinned: the list has one CPU, or at most four and a quarter of the host's. */
bool join_is_pinned(const struct frame *frame, const char *allowed);

/* A CPU of the list text ("0-3,8")? */
bool join_list_has(const char *list, uint64_t cpu);
/* CPUs in the list text; 0 when it is none. */
unsigned join_list_count(const char *list);
/* Its numbers below 64 as bits: for NUMA nodes. */
uint64_t join_list_bits(const char *list);

/* A stored text or number of a row by struct field, over all parts; NULL or false when it has none. */
const char *join_text(const struct frame_row *row, size_t info_offset);
bool join_info_number(const struct frame_row *row, size_t info_offset, uint64_t *value);
#define JOIN_TEXT(row, type, field) join_text(row, offsetof(type, field))

#endif
