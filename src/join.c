/* SPDX-License-Identifier: MIT */
/*
 * Joins of a frame (see join.h): chains of row numbers from each VM to its threads and paths, and both ways
 * between paths and ports. Linear in the rows; the texts for CPUs are made only for those that are asked for.
 */
#include "src/join.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define NONE UINT32_MAX

struct text_node {
    struct text_node *next;
    char text[];
};

struct join {
    uint32_t *vm_thread, *next_thread; /* first thread of a VM, next one of the same VM */
    uint32_t *vm_path, *next_path;
    uint32_t *path_vm, *path_port, *port_path;
    struct text_node *texts;
};

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

static bool info_number(const struct frame_row *row, size_t info_offset, uint64_t *value)
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

static uint32_t *numbers(size_t n)
{
    uint32_t *p = xrealloc(NULL, n, sizeof(*p));
    memset(p, 0xff, n * sizeof(*p));
    return p;
}

static uint32_t row_number(const struct frame *frame, enum table_id table, const struct frame_row *row)
{
    return (uint32_t)(row - frame->table[table].rows);
}

static const struct frame_row *row_at(const struct frame *frame, enum table_id table, uint32_t number)
{
    return number == NONE ? NULL : &frame->table[table].rows[number];
}

/* Chains the rows of a table to their VMs, in the table's order. */
static void chain(const struct frame *frame, enum table_id table, size_t vm_key_offset, uint32_t *first,
                  uint32_t *next, uint32_t *owner)
{
    for (size_t i = frame->table[table].n; i-- > 0;) {
        const char *key = join_text(&frame->table[table].rows[i], vm_key_offset);
        const struct frame_row *vm = key ? frame_find(frame, TABLE_VMS, key) : NULL;
        if (!vm)
            continue;
        uint32_t number = row_number(frame, TABLE_VMS, vm);
        next[i] = first[number];
        first[number] = (uint32_t)i;
        if (owner)
            owner[i] = number;
    }
}

/* Ports by name, for the few look-ups that paths need: an open hash of row numbers. */
struct name_index {
    size_t mask;
    uint32_t *slots;
};

static struct name_index index_ports(const struct frame *frame)
{
    struct name_index index = {.mask = 15};
    size_t n = frame->table[TABLE_PORTS].n;
    while (index.mask + 1 < n * 2)
        index.mask = index.mask * 2 + 1;
    index.slots = numbers(index.mask + 1);
    for (size_t i = 0; i < n; i++) {
        const char *name = JOIN_TEXT(&frame->table[TABLE_PORTS].rows[i], struct ports_info, name);
        if (!name)
            continue;
        size_t at = hash_text(name) & index.mask;
        while (index.slots[at] != NONE)
            at = (at + 1) & index.mask;
        index.slots[at] = (uint32_t)i;
    }
    return index;
}

/* Is the port in the namespace that the path's port is in? Its key begins with it. */
static bool is_in_namespace(const struct frame_row *port, const struct frame_row *path)
{
    uint64_t inode;
    if (!info_number(path, offsetof(struct paths_info, netns_inode), &inode)) {
        const char *netns = JOIN_TEXT(port, struct ports_info, netns);
        return !netns || strcmp(netns, "self") == 0;
    }
    char prefix[40];
    int n = snprintf(prefix, sizeof(prefix), "net:%llu:", (unsigned long long)inode);
    return strncmp(port->key, prefix, (size_t)n) == 0;
}

static uint32_t find_port(const struct frame *frame, const struct name_index *index,
                          const struct frame_row *path)
{
    const char *wanted = JOIN_TEXT(path, struct paths_info, port);
    if (!wanted || !*wanted)
        return NONE;
    for (size_t at = hash_text(wanted) & index->mask; index->slots[at] != NONE; at = (at + 1) & index->mask) {
        const struct frame_row *port = &frame->table[TABLE_PORTS].rows[index->slots[at]];
        const char *name = JOIN_TEXT(port, struct ports_info, name);
        if (strcmp(name, wanted) == 0 && is_in_namespace(port, path))
            return index->slots[at];
    }
    return NONE;
}

static void join_ports(const struct frame *frame, struct join *join)
{
    size_t n = frame->table[TABLE_PATHS].n;
    if (n == 0)
        return;
    struct name_index index = index_ports(frame);
    for (size_t i = 0; i < n; i++) {
        uint32_t port = find_port(frame, &index, &frame->table[TABLE_PATHS].rows[i]);
        join->path_port[i] = port;
        if (port != NONE)
            join->port_path[port] = (uint32_t)i;
    }
    free(index.slots);
}

static struct join *join_new(const struct frame *frame)
{
    const struct frame_table *tables = frame->table;
    struct join *join = xzalloc(sizeof(*join));
    join->vm_thread = numbers(tables[TABLE_VMS].n);
    join->vm_path = numbers(tables[TABLE_VMS].n);
    join->next_thread = numbers(tables[TABLE_THREADS].n);
    join->next_path = numbers(tables[TABLE_PATHS].n);
    join->path_vm = numbers(tables[TABLE_PATHS].n);
    join->path_port = numbers(tables[TABLE_PATHS].n);
    join->port_path = numbers(tables[TABLE_PORTS].n);
    chain(frame, TABLE_THREADS, offsetof(struct threads_info, vm_key), join->vm_thread, join->next_thread,
          NULL);
    chain(frame, TABLE_PATHS, offsetof(struct paths_info, vm_key), join->vm_path, join->next_path,
          join->path_vm);
    join_ports(frame, join);
    return join;
}

void join_free(struct join *join)
{
    if (!join)
        return;
    free(join->vm_thread);
    free(join->next_thread);
    free(join->vm_path);
    free(join->next_path);
    free(join->path_vm);
    free(join->path_port);
    free(join->port_path);
    for (struct text_node *node = join->texts, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    free(join);
}

static struct join *get(const struct frame *frame)
{
    if (!frame->join)
        return NULL;
    if (!*frame->join)
        *frame->join = join_new(frame);
    return *frame->join;
}

const struct join *frame_join(const struct frame *frame)
{
    return get(frame);
}

const struct frame_row *join_first_thread(const struct frame *frame, const struct frame_row *vm)
{
    const struct join *join = get(frame);
    return join ? row_at(frame, TABLE_THREADS, join->vm_thread[row_number(frame, TABLE_VMS, vm)]) : NULL;
}

const struct frame_row *join_next_thread(const struct frame *frame, const struct frame_row *thread)
{
    return row_at(frame, TABLE_THREADS, get(frame)->next_thread[row_number(frame, TABLE_THREADS, thread)]);
}

const struct frame_row *join_first_path(const struct frame *frame, const struct frame_row *vm)
{
    const struct join *join = get(frame);
    return join ? row_at(frame, TABLE_PATHS, join->vm_path[row_number(frame, TABLE_VMS, vm)]) : NULL;
}

const struct frame_row *join_next_path(const struct frame *frame, const struct frame_row *path)
{
    return row_at(frame, TABLE_PATHS, get(frame)->next_path[row_number(frame, TABLE_PATHS, path)]);
}

const struct frame_row *join_vm_of_path(const struct frame *frame, const struct frame_row *path)
{
    const struct join *join = get(frame);
    return join ? row_at(frame, TABLE_VMS, join->path_vm[row_number(frame, TABLE_PATHS, path)]) : NULL;
}

const struct frame_row *join_port_of_path(const struct frame *frame, const struct frame_row *path)
{
    const struct join *join = get(frame);
    return join ? row_at(frame, TABLE_PORTS, join->path_port[row_number(frame, TABLE_PATHS, path)]) : NULL;
}

const struct frame_row *join_path_of_port(const struct frame *frame, const struct frame_row *port)
{
    const struct join *join = get(frame);
    return join ? row_at(frame, TABLE_PATHS, join->port_path[row_number(frame, TABLE_PORTS, port)]) : NULL;
}

bool join_port_faces_guest(const struct frame *frame, const struct frame_row *port)
{
    (void)frame;
    const char *kind = JOIN_TEXT(port, struct ports_info, kind);
    return !kind || (strcmp(kind, "macvtap") != 0 && strcmp(kind, "ipvtap") != 0);
}

/* Calls with each range of a list such as 0-3,8; ends at the first thing that is none. */
static bool next_range(const char **list, unsigned long *first, unsigned long *last)
{
    char *end;
    if (**list < '0' || **list > '9')
        return false;
    *first = *last = strtoul(*list, &end, 10);
    if (*end == '-')
        *last = strtoul(end + 1, &end, 10);
    *list = *end == ',' ? end + 1 : end;
    return true;
}

bool join_list_has(const char *list, uint64_t cpu)
{
    unsigned long first, last;
    while (list && next_range(&list, &first, &last))
        if (cpu >= first && cpu <= last)
            return true;
    return false;
}

unsigned join_list_count(const char *list)
{
    unsigned long first, last;
    unsigned n = 0;
    while (list && next_range(&list, &first, &last))
        n += last >= first ? (unsigned)(last - first + 1) : 0;
    return n;
}

void join_thread_name(char *out, size_t size, const struct frame *frame, const struct frame_row *thread)
{
    (void)frame;
    const char *role = JOIN_TEXT(thread, struct threads_info, role),
               *vm = JOIN_TEXT(thread, struct threads_info, vm);
    uint64_t index = 0;
    bool numbered = info_number(thread, offsetof(struct threads_info, index), &index);
    bool vcpu = role && strcmp(role, "vcpu") == 0;
    int n = snprintf(out, size, "%s%s%s", vm ? vm : "", vm && !vcpu ? " " : "",
                     vcpu   ? ""
                     : role ? role
                            : "thread");
    if (numbered && n >= 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "/%llu", (unsigned long long)index);
}

double join_number(const struct frame *frame, enum table_id table, const struct frame_row *row,
                   const char *key)
{
    if (!row)
        return NAN;
    struct cell cell = frame_cell(frame, row, column_find(table_get(table), key));
    return cell_is_number(&cell) ? cell_number(&cell) : NAN;
}

static bool has_role(const struct frame_row *thread, const char *role)
{
    const char *text = JOIN_TEXT(thread, struct threads_info, role);
    return text && strcmp(text, role) == 0;
}

/* The thread of that role in the VM with the greatest number in a column. */
static const struct frame_row *greatest(const struct frame *frame, const struct frame_row *vm,
                                        const char *role, const char *key)
{
    const struct frame_row *best = NULL;
    double most = -1;
    for (const struct frame_row *t = vm ? join_first_thread(frame, vm) : NULL; t;
         t = join_next_thread(frame, t)) {
        double value = has_role(t, role) ? join_number(frame, TABLE_THREADS, t, key) : NAN;
        if (value > most) {
            most = value;
            best = t;
        }
    }
    return best;
}

const struct frame_row *join_worst_vcpu(const struct frame *frame, const struct frame_row *vm)
{
    return greatest(frame, vm, "vcpu", "steal_pct");
}

/* The busiest PMD among those that poll a queue of the port. */
static const struct frame_row *pmd_of_port(const struct frame *frame, const struct frame_row *port)
{
    const struct frame_table *rxqs = &frame->table[TABLE_RXQS];
    const char *name = JOIN_TEXT(port, struct ports_info, name);
    const struct frame_row *best = NULL;
    double most = -1;
    for (size_t i = 0; name && i < rxqs->n; i++) {
        const char *theirs = JOIN_TEXT(&rxqs->rows[i], struct rxqs_info, port);
        const char *pmd_key = JOIN_TEXT(&rxqs->rows[i], struct rxqs_info, pmd_key);
        if (!theirs || !pmd_key || strcmp(theirs, name) != 0)
            continue;
        const struct frame_row *pmd = frame_find(frame, TABLE_PMDS, pmd_key);
        double busy = join_number(frame, TABLE_PMDS, pmd, "busy_pct");
        if (pmd && (!best || busy > most)) {
            most = busy;
            best = pmd;
        }
    }
    return best;
}

struct serving join_serving(const struct frame *frame, const struct frame_row *path)
{
    struct serving serving = {NULL, NULL};
    const char *backend = JOIN_TEXT(path, struct paths_info, backend);
    const struct frame_row *vm = join_vm_of_path(frame, path), *port = join_port_of_path(frame, path);
    if (!backend)
        return serving;
    if (strcmp(backend, "vhost") == 0)
        serving.thread = greatest(frame, vm, "vhost", "run_pct");
    else if (strcmp(backend, "tap") == 0)
        serving.thread = greatest(frame, vm, "emulator", "run_pct");
    else if (strcmp(backend, "vhost-user") == 0 && port)
        serving.pmd = pmd_of_port(frame, port);
    const char *key = serving.pmd ? JOIN_TEXT(serving.pmd, struct pmds_info, thread_key) : NULL;
    if (key)
        serving.thread = frame_find(frame, TABLE_THREADS, key);
    return serving;
}

struct candidate {
    const struct frame_row *thread;
    double run_pct;
};

static int by_run(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->run_pct < y->run_pct) - (x->run_pct > y->run_pct);
}

static double run_pct_of(const struct frame *frame, const struct frame_row *thread)
{
    double run = join_number(frame, TABLE_THREADS, thread, "run_pct");
    return isnan(run) ? 0 : run;
}

bool join_is_pinned(const struct frame *frame, const char *allowed)
{
    unsigned n = join_list_count(allowed), all = (unsigned)frame->table[TABLE_CPUS].n;
    return n > 0 && n <= 4 && n < all && (n == 1 || n * 4 <= all);
}

static bool belongs(const struct frame *frame, const struct frame_row *thread, uint64_t cpu,
                    enum join_list list)
{
    const char *allowed = JOIN_TEXT(thread, struct threads_info, allowed_cpus);
    if (list != JOIN_RAN)
        return join_list_has(allowed, cpu) && (list == JOIN_MAY || join_is_pinned(frame, allowed));
    const struct part *part = frame_row_part(thread, ROW_SLOT(struct threads_row, cpu));
    return part && ((const struct threads_row *)part->cur)->cpu == cpu && run_pct_of(frame, thread) > 0;
}

static const char *keep_text(struct join *join, const char *text)
{
    size_t size = strlen(text) + 1;
    struct text_node *node = xzalloc(sizeof(*node) + size);
    memcpy(node->text, text, size);
    node->next = join->texts;
    join->texts = node;
    return node->text;
}

const char *join_keep(const struct frame *frame, const char *text)
{
    struct join *join = get(frame);
    return join && text ? keep_text(join, text) : NULL;
}

const char *join_vcpu_place(const struct frame *frame, const struct frame_row *thread)
{
    struct join *join = get(frame);
    char text[64];
    uint64_t index = 0;
    const struct part *part = frame_row_part(thread, ROW_SLOT(struct threads_row, cpu));
    if (!join || !info_number(thread, offsetof(struct threads_info, index), &index))
        return NULL;
    int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)index);
    if (part)
        snprintf(text + n, sizeof(text) - (size_t)n, "@%llu",
                 (unsigned long long)((const struct threads_row *)part->cur)->cpu);
    return keep_text(join, text);
}

static void write_list(char *out, size_t size, const struct frame *frame, const struct candidate *found,
                       size_t n, bool with_run)
{
    size_t used = 0;
    for (size_t i = 0; i < n && used + 40 < size; i++) {
        char name[160];
        join_thread_name(name, sizeof(name), frame, found[i].thread);
        int wrote = with_run ? snprintf(out + used, size - used, "%s%s %.0f", used ? ", " : "", name,
                                        found[i].run_pct)
                             : snprintf(out + used, size - used, "%s%s", used ? ", " : "", name);
        if (wrote < 0 || (size_t)wrote >= size - used)
            break;
        used += (size_t)wrote;
    }
}

const char *join_cpu_threads(const struct frame *frame, uint64_t cpu, enum join_list list)
{
    struct join *join = get(frame);
    const struct frame_table *threads = &frame->table[TABLE_THREADS];
    if (!join || threads->n == 0)
        return NULL;
    struct candidate *found = xrealloc(NULL, threads->n, sizeof(*found));
    size_t n = 0;
    for (size_t i = 0; i < threads->n; i++)
        if (belongs(frame, &threads->rows[i], cpu, list))
            found[n++] = (struct candidate){&threads->rows[i], run_pct_of(frame, &threads->rows[i])};
    qsort(found, n, sizeof(*found), by_run);
    char text[512] = "";
    write_list(text, sizeof(text), frame, found, n, list == JOIN_RAN);
    free(found);
    return n ? keep_text(join, text) : NULL;
}
