/* SPDX-License-Identifier: MIT */
/*
 * Joins of a frame (see join.h): chains of row numbers from each VM to its NICs, both ways between NICs and
 * ports, and who serves them. Linear in the rows. Threads and CPUs are join_threads.c's, texts join_text.c's.
 */
#include "src/join.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/join_inside.h"
#include "src/memory.h"

const char *join_text(const struct frame_row *row, size_t info_offset)
{
    unsigned slot = (unsigned)((info_offset - sizeof(struct info_head)) / 8);
    for (const struct part *part = &row->part; part; part = part->next) {
        const char *text;
        if (!slot_test(&part->cur->info->have, slot))
            continue;
        memcpy(&text, (const char *)part->cur->info + info_offset, sizeof(text));
        return text;
    }
    return NULL;
}

bool join_info_number(const struct frame_row *row, size_t info_offset, uint64_t *value)
{
    unsigned slot = (unsigned)((info_offset - sizeof(struct info_head)) / 8);
    for (const struct part *part = &row->part; part; part = part->next) {
        if (!slot_test(&part->cur->info->have, slot))
            continue;
        memcpy(value, (const char *)part->cur->info + info_offset, sizeof(*value));
        return true;
    }
    return false;
}

double join_number(const struct frame *frame, const struct frame_row *row, const struct column *column)
{
    if (!row)
        return NAN;
    struct cell cell = frame_cell(frame, row, column);
    return cell_is_number(&cell) ? cell_number(&cell) : NAN;
}

uint32_t *join_numbers(size_t n)
{
    uint32_t *p = xrealloc(NULL, n, sizeof(*p));
    memset(p, 0xff, n * sizeof(*p));
    return p;
}

uint32_t join_row_number(const struct frame *frame, enum table_id table, const struct frame_row *row)
{
    return (uint32_t)(row - frame->table[table].rows);
}

const struct frame_row *join_row_at(const struct frame *frame, enum table_id table, uint32_t number)
{
    return number == JOIN_NONE ? NULL : &frame->table[table].rows[number];
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* --- ports by what NICs know of them --- */

/* Row numbers by the hash of a text, open. */
struct join_index {
    size_t mask;
    uint32_t *slots;
};

/* A look-up by one kind of text must not meet those of another. */
enum index_salt { BY_NAME, BY_SOCKET = 1, BY_MAC = 2 };

static uint64_t index_hash(const char *text, enum index_salt salt)
{
    uint64_t hash = hash_text(text) + salt * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static void index_add(struct join_index *index, const char *text, enum index_salt salt, size_t number)
{
    size_t at = index_hash(text, salt) & index->mask;
    while (index->slots[at] != JOIN_NONE)
        at = (at + 1) & index->mask;
    index->slots[at] = (uint32_t)number;
}

/* One file has several paths: /var/run is /run, a doubled / is one. */
static const char *plain_path(char *out, size_t size, const char *path)
{
    size_t used = 0;
    if (strncmp(path, "/var/run/", 9) == 0)
        path += 4;
    for (const char *p = path; *p; p++) {
        if (used + 1 >= size)
            return path;
        if (*p != '/' || used == 0 || out[used - 1] != '/')
            out[used++] = *p;
    }
    out[used] = '\0';
    return out;
}

#define PATH_SIZE 256

static bool same_path(const char *a, const char *b)
{
    char x[PATH_SIZE], y[PATH_SIZE];
    return a && b && strcmp(plain_path(x, sizeof(x), a), plain_path(y, sizeof(y), b)) == 0;
}

/* A function that nobody gave an address has zeroes. */
static const char *function_mac(const struct frame_row *port)
{
    const char *mac = JOIN_TEXT(port, struct ports_info, mac);
    bool vf = mac && same_text(JOIN_TEXT(port, struct ports_info, kind), "vf");
    return vf && strcmp(mac, "00:00:00:00:00:00") != 0 ? mac : NULL;
}

static void index_port(struct join_index *index, const struct frame_row *port, size_t number)
{
    char plain[PATH_SIZE];
    const char *name = JOIN_TEXT(port, struct ports_info, name);
    const char *socket = JOIN_TEXT(port, struct ports_info, socket), *mac = function_mac(port);
    if (name)
        index_add(index, name, BY_NAME, number);
    if (socket)
        index_add(index, plain_path(plain, sizeof(plain), socket), BY_SOCKET, number);
    if (mac)
        index_add(index, mac, BY_MAC, number);
}

static struct join_index index_ports(const struct frame *frame)
{
    const struct frame_table *ports = &frame->table[TABLE_PORTS];
    struct join_index index = {.mask = 15};
    while (index.mask + 1 < ports->n * 4) /* a name and at most one more for each */
        index.mask = index.mask * 2 + 1;
    index.slots = join_numbers(index.mask + 1);
    for (size_t i = 0; i < ports->n; i++)
        index_port(&index, &ports->rows[i], i);
    return index;
}

static bool is_kernel_port(const struct frame_row *port)
{
    return strncmp(port->key, "net:", 4) == 0;
}

/* Is the port in the namespace that the NIC's port is in? Its key begins with it. A NIC that does not say is
 * in this one. */
static bool is_in_namespace(const struct frame_row *port, const struct frame_row *path)
{
    uint64_t inode;
    if (!join_info_number(path, offsetof(struct paths_info, netns_inode), &inode)) {
        const char *netns = JOIN_TEXT(port, struct ports_info, netns);
        return !netns || strcmp(netns, "self") == 0;
    }
    if (!is_kernel_port(port))
        return true;
    char prefix[40];
    int n = snprintf(prefix, sizeof(prefix), "net:%llu:", (unsigned long long)inode);
    return strncmp(port->key, prefix, (size_t)n) == 0;
}

/* How well a port fits a NIC: 0 not at all. A tap is the kernel's, a vhost-user port is not; the other of the
 * same name is taken where there is no better one. */
typedef unsigned fits_fn(const struct frame_row *port, const struct frame_row *path, const char *wanted);

static unsigned fits_name(const struct frame_row *port, const struct frame_row *path, const char *wanted)
{
    if (!same_text(JOIN_TEXT(port, struct ports_info, name), wanted) || !is_in_namespace(port, path))
        return 0;
    bool user = same_text(JOIN_TEXT(path, struct paths_info, backend), "vhost-user");
    return is_kernel_port(port) == user ? 1 : 2;
}

static unsigned fits_socket(const struct frame_row *port, const struct frame_row *path, const char *wanted)
{
    (void)path;
    return same_path(JOIN_TEXT(port, struct ports_info, socket), wanted) ? 1 : 0;
}

static unsigned fits_mac(const struct frame_row *port, const struct frame_row *path, const char *wanted)
{
    (void)path;
    return same_text(function_mac(port), wanted) ? 1 : 0;
}

/* The port that fits best; of several that fit alike the first, or none when only one may. */
static uint32_t look_up(const struct frame *frame, const struct join_index *index, const char *text,
                        enum index_salt salt, fits_fn *fits, const struct frame_row *path, bool only_one)
{
    uint32_t best = JOIN_NONE;
    unsigned most = 0;
    if (!text || !*text)
        return JOIN_NONE;
    for (size_t at = index_hash(text, salt) & index->mask; index->slots[at] != JOIN_NONE;
         at = (at + 1) & index->mask) {
        unsigned good = fits(&frame->table[TABLE_PORTS].rows[index->slots[at]], path, text);
        if (good > most) {
            most = good;
            best = index->slots[at];
        } else if (good && only_one && index->slots[at] != best) {
            return JOIN_NONE;
        }
    }
    return best;
}

bool join_is_port_path(const struct frame_row *path)
{
    return strncmp(path->key, JOIN_PORT_PATH, strlen(JOIN_PORT_PATH)) == 0;
}

static uint32_t find_port(const struct frame *frame, const struct join_index *index,
                          const struct frame_row *path)
{
    if (join_is_port_path(path)) {
        const struct frame_row *its = frame_find(frame, TABLE_PORTS, path->key + strlen(JOIN_PORT_PATH));
        return its ? join_row_number(frame, TABLE_PORTS, its) : JOIN_NONE;
    }
    char plain[PATH_SIZE];
    const char *socket = JOIN_TEXT(path, struct paths_info, socket);
    const char *backend = JOIN_TEXT(path, struct paths_info, backend);
    uint32_t port = JOIN_NONE;
    if (JOIN_TEXT(path, struct paths_info, uri))
        return JOIN_NONE; /* a guest elsewhere: names, sockets and addresses here are like its own by chance
                           */
    if (socket)
        port = look_up(frame, index, plain_path(plain, sizeof(plain), socket), BY_SOCKET, fits_socket, path,
                       false);
    if (port == JOIN_NONE)
        port =
            look_up(frame, index, JOIN_TEXT(path, struct paths_info, port), BY_NAME, fits_name, path, false);
    if (port == JOIN_NONE && same_text(backend, "vfio"))
        port = look_up(frame, index, JOIN_TEXT(path, struct paths_info, mac), BY_MAC, fits_mac, path, true);
    return port;
}

static void join_ports(const struct frame *frame, struct join *join)
{
    size_t n = frame->table[TABLE_PATHS].n;
    if (n == 0)
        return;
    struct join_index index = index_ports(frame);
    for (size_t i = 0; i < n; i++) {
        uint32_t port = find_port(frame, &index, &frame->table[TABLE_PATHS].rows[i]);
        join->path_port[i] = port;
        bool guest = !join_is_port_path(&frame->table[TABLE_PATHS].rows[i]);
        if (guest && port != JOIN_NONE && join->port_path[port] == JOIN_NONE)
            join->port_path[port] = (uint32_t)i;
    }
    free(index.slots);
}

static void chain_paths(const struct frame *frame, struct join *join)
{
    for (size_t i = frame->table[TABLE_PATHS].n; i-- > 0;) {
        const char *key = JOIN_TEXT(&frame->table[TABLE_PATHS].rows[i], struct paths_info, vm_key);
        const struct frame_row *vm = key ? frame_find(frame, TABLE_VMS, key) : NULL;
        if (!vm)
            continue;
        uint32_t number = join_row_number(frame, TABLE_VMS, vm);
        join->next_path[i] = join->vms[number].first_path;
        join->vms[number].first_path = (uint32_t)i;
        join->path_vm[i] = number;
    }
}

/* --- the join as a whole --- */

static struct join *join_new(const struct frame *frame)
{
    const struct frame_table *tables = frame->table;
    struct join *join = xzalloc(sizeof(*join));
    join->vms = xrealloc(NULL, tables[TABLE_VMS].n, sizeof(*join->vms));
    for (size_t i = 0; i < tables[TABLE_VMS].n; i++)
        join->vms[i] = (struct vm_node){JOIN_NONE, JOIN_NONE, JOIN_NONE};
    join->next_path = join_numbers(tables[TABLE_PATHS].n);
    join->path_vm = join_numbers(tables[TABLE_PATHS].n);
    join->path_port = join_numbers(tables[TABLE_PATHS].n);
    join->port_path = join_numbers(tables[TABLE_PORTS].n);
    join->serving = xzalloc((tables[TABLE_PATHS].n + 1) * sizeof(*join->serving));
    join->serving_known = xzalloc(tables[TABLE_PATHS].n + 1);
    join_make_threads(frame, join);
    chain_paths(frame, join);
    join_ports(frame, join);
    return join;
}

void join_free(struct join *join)
{
    if (!join)
        return;
    free(join->vms);
    free(join->threads);
    free(join->next_thread);
    free(join->next_on);
    free(join->next_bound);
    free(join->cpus);
    free(join->next_path);
    free(join->path_vm);
    free(join->path_port);
    free(join->port_path);
    free(join->port_pmd);
    free(join->serving);
    free(join->serving_known);
    free(join->lossy);
    free(join->ways_out);
    join_free_texts(join);
    free(join);
}

struct join *join_get(const struct frame *frame)
{
    if (!frame->join)
        return NULL;
    if (!*frame->join)
        *frame->join = join_new(frame);
    return *frame->join;
}

const struct join *frame_join(const struct frame *frame)
{
    return join_get(frame);
}

const struct frame_row *join_first_path(const struct frame *frame, const struct frame_row *vm)
{
    const struct join *join = join_get(frame);
    return join ? join_row_at(frame, TABLE_PATHS, join->vms[join_row_number(frame, TABLE_VMS, vm)].first_path)
                : NULL;
}

const struct frame_row *join_next_path(const struct frame *frame, const struct frame_row *path)
{
    return join_row_at(frame, TABLE_PATHS,
                       join_get(frame)->next_path[join_row_number(frame, TABLE_PATHS, path)]);
}

const struct frame_row *join_vm_of_path(const struct frame *frame, const struct frame_row *path)
{
    const struct join *join = join_get(frame);
    return join ? join_row_at(frame, TABLE_VMS, join->path_vm[join_row_number(frame, TABLE_PATHS, path)])
                : NULL;
}

const struct frame_row *join_port_of_path(const struct frame *frame, const struct frame_row *path)
{
    const struct join *join = join_get(frame);
    return join ? join_row_at(frame, TABLE_PORTS, join->path_port[join_row_number(frame, TABLE_PATHS, path)])
                : NULL;
}

const struct frame_row *join_path_of_port(const struct frame *frame, const struct frame_row *port)
{
    const struct join *join = join_get(frame);
    return join ? join_row_at(frame, TABLE_PATHS, join->port_path[join_row_number(frame, TABLE_PORTS, port)])
                : NULL;
}

bool join_port_faces_guest(const struct frame *frame, const struct frame_row *port)
{
    static const char *const of_guest[] = {"macvtap", "ipvtap", "vf"};
    (void)frame;
    if (join_leads_out(port))
        return false;
    const char *kind = JOIN_TEXT(port, struct ports_info, kind);
    for (size_t i = 0; i < sizeof(of_guest) / sizeof(of_guest[0]); i++)
        if (same_text(kind, of_guest[i]))
            return false;
    return true;
}

const char *join_switch_of_port(const struct frame_row *port)
{
    const struct part *best = NULL;
    for (const struct part *part = &port->part; part; part = part->next) {
        const struct ports_info *info = (const struct ports_info *)part->cur->info;
        if (info_has(info, switch_) && (!best || info_has(info, datapath)))
            best = part;
    }
    return best ? ((const struct ports_info *)best->cur->info)->switch_ : NULL;
}

/* Does the command line name the socket, as path=SOCKET or iface=SOCKET of one of its devices? */
static bool names_socket(const char *args, const char *socket)
{
    size_t length = strlen(socket);
    for (const char *at = args; (at = strstr(at, socket)); at++) {
        bool begins = at > args && at[-1] == '=';
        if (begins && (at[length] == '\0' || strchr(", ", at[length])))
            return true;
    }
    return false;
}

const struct frame_row *join_process_of_port(const struct frame *frame, const struct frame_row *port)
{
    const struct frame_table *processes = &frame->table[TABLE_PROCESSES];
    const char *socket = JOIN_TEXT(port, struct ports_info, socket);
    for (size_t i = 0; socket && *socket && i < processes->n; i++) {
        const char *args = JOIN_TEXT(&processes->rows[i], struct processes_info, eal_args);
        if (args && names_socket(args, socket))
            return &processes->rows[i];
    }
    return NULL;
}

/* --- who serves --- */

/* The port of a queue, by its key: of OVS's own, for who polls a guest's. */
static const struct frame_row *port_of_queue(const struct frame *frame, const struct frame_row *rxq)
{
    const char *ovs = JOIN_TEXT(rxq, struct rxqs_info, ovs), *name = JOIN_TEXT(rxq, struct rxqs_info, port);
    char key[512];
    if (!ovs || !name)
        return NULL;
    snprintf(key, sizeof(key), "ovs:%s:%s", ovs, name);
    return frame_find(frame, TABLE_PORTS, key);
}

static double busy_of(const struct frame *frame, const struct frame_row *pmd)
{
    double busy = join_number(frame, pmd, COLUMN_OF(pmds, busy_pct));
    return isnan(busy) ? -1 : busy;
}

static void join_pmds(const struct frame *frame, struct join *join)
{
    join->port_pmd = join_numbers(frame->table[TABLE_PORTS].n + 1);
    for (size_t i = 0; i < frame->table[TABLE_RXQS].n; i++) {
        const struct frame_row *rxq = &frame->table[TABLE_RXQS].rows[i], *port = port_of_queue(frame, rxq);
        const char *pmd_key = JOIN_TEXT(rxq, struct rxqs_info, pmd_key);
        const struct frame_row *pmd = pmd_key ? frame_find(frame, TABLE_PMDS, pmd_key) : NULL;
        if (!port || !pmd)
            continue;
        uint32_t *best = &join->port_pmd[join_row_number(frame, TABLE_PORTS, port)];
        const struct frame_row *before = join_row_at(frame, TABLE_PMDS, *best);
        if (!before || busy_of(frame, pmd) > busy_of(frame, before))
            *best = join_row_number(frame, TABLE_PMDS, pmd);
    }
}

static const struct frame_row *pmd_of_port(const struct frame *frame, const struct frame_row *port)
{
    struct join *join = join_get(frame);
    if (!join->port_pmd)
        join_pmds(frame, join);
    return join_row_at(frame, TABLE_PMDS, join->port_pmd[join_row_number(frame, TABLE_PORTS, port)]);
}

/* The thread of a kind in the VM that runs most; counts them. */
static const struct join_thread *busiest(const struct frame *frame, const struct frame_row *vm,
                                         enum thread_kind kind, unsigned *n)
{
    const struct join_thread *best = NULL;
    *n = 0;
    for (const struct frame_row *row = vm ? join_first_thread(frame, vm) : NULL; row;
         row = join_next_thread(frame, row)) {
        const struct join_thread *thread = join_thread_of(frame, row);
        if (thread->kind != kind)
            continue;
        ++*n;
        if (!best || thread->run_pct > best->run_pct || isnan(best->run_pct))
            best = thread;
    }
    return best;
}

static bool is_vhost_path(const struct frame_row *path)
{
    const char *backend = JOIN_TEXT(path, struct paths_info, backend);
    return same_text(backend, "vhost") || same_text(backend, "macvtap");
}

/* QEMU makes the workers in the order of NICs and queues. first: of this NIC's; returns how many are told of
 * in all. */
static unsigned workers_before(const struct frame *frame, const struct frame_row *vm,
                               const struct frame_row *path, unsigned *first, unsigned *own)
{
    unsigned all = 0;
    *first = *own = 0;
    for (const struct frame_row *p = join_first_path(frame, vm); p; p = join_next_path(frame, p)) {
        uint64_t queues = 1;
        if (!is_vhost_path(p))
            continue;
        join_info_number(p, offsetof(struct paths_info, queues), &queues);
        if (p == path) {
            *first = all;
            *own = (unsigned)queues;
        }
        all += (unsigned)queues;
    }
    return all;
}

static struct serving vhost_of(const struct frame *frame, const struct frame_row *vm,
                               const struct frame_row *path)
{
    unsigned n, first, own;
    const struct join_thread *all = busiest(frame, vm, THREAD_VHOST, &n), *best = NULL;
    if (!all)
        return (struct serving){0};
    bool sure = workers_before(frame, vm, path, &first, &own) == n;
    for (const struct frame_row *row = join_first_thread(frame, vm); row && sure;
         row = join_next_thread(frame, row)) {
        const struct join_thread *thread = join_thread_of(frame, row);
        uint64_t index;
        if (thread->kind != THREAD_VHOST)
            continue;
        sure = join_info_number(row, offsetof(struct threads_info, index), &index);
        bool its = sure && index >= first && index < first + own;
        if (its && (!best || thread->run_pct > best->run_pct))
            best = thread;
    }
    return (struct serving){.thread = sure && best ? best->row : all->row,
                            .guessed = !(sure && best) && n > 1};
}

static struct serving find_serving(const struct frame *frame, const struct frame_row *path)
{
    struct serving serving = {0};
    const char *backend = JOIN_TEXT(path, struct paths_info, backend);
    const struct frame_row *vm = join_vm_of_path(frame, path), *port = join_port_of_path(frame, path);
    unsigned n;
    if (vm && is_vhost_path(path))
        serving = vhost_of(frame, vm, path);
    if (!serving.thread && (same_text(backend, "tap") || same_text(backend, "macvtap"))) {
        const struct join_thread *emulator = busiest(frame, vm, THREAD_EMULATOR, &n);
        serving.thread = emulator ? emulator->row : NULL;
    }
    if (same_text(backend, "vhost-user") && port)
        serving.pmd = pmd_of_port(frame, port);
    const char *key = serving.pmd ? JOIN_TEXT(serving.pmd, struct pmds_info, thread_key) : NULL;
    if (key)
        serving.thread = frame_find(frame, TABLE_THREADS, key);
    return serving;
}

struct serving join_serving(const struct frame *frame, const struct frame_row *path)
{
    struct join *join = join_get(frame);
    if (!join)
        return (struct serving){0};
    uint32_t number = join_row_number(frame, TABLE_PATHS, path);
    if (!join->serving_known[number]) {
        join->serving[number] = find_serving(frame, path);
        join->serving_known[number] = true;
    }
    return join->serving[number];
}
