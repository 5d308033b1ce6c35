/* SPDX-License-Identifier: MIT */
/* Texts of a join (see join.h): names of threads, lists of CPUs, and the lists of threads for a CPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/join_inside.h"
#include "src/memory.h"
#include "src/text.h"

#define VM_NAME_SIZE 41 /* as much of a VM's name as a thread's name has room for */

struct text_node {
    struct text_node *next;
    char text[];
};

static const char *keep_text(struct join *join, const char *text)
{
    size_t size = strlen(text) + 1;
    struct text_node *node = xzalloc(sizeof(*node) + size);
    memcpy(node->text, text, size);
    node->next = join->texts;
    join->texts = node;
    return node->text;
}

void join_free_texts(struct join *join)
{
    for (struct text_node *node = join->texts, *next; node; node = next) {
        next = node->next;
        free(node);
    }
}

const char *join_keep(const struct frame *frame, const char *text)
{
    struct join *join = join_get(frame);
    return join && text ? keep_text(join, text) : NULL;
}

/* --- lists of CPUs --- */

/* Calls with each range of a list such as 0-3,8; ends at the first thing that is none. */
static bool next_range(const char **list, unsigned long *first, unsigned long *last)
{
    char *end;
    if (**list < '0' || **list > '9')
        return false;
    *first = *last = strtoul(*list, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
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
        if (last >= first && last < JOIN_CPUS)
            n += (unsigned)(last - first + 1);
    return n;
}

uint64_t join_list_bits(const char *list)
{
    unsigned long first, last;
    uint64_t bits = 0;
    while (list && next_range(&list, &first, &last))
        for (unsigned long i = first; i <= last && i < 64; i++)
            bits |= UINT64_C(1) << i;
    return bits;
}

/* Where the host's CPUs are not known, one CPU alone is a pin and any more are not. */
bool join_is_pinned(const struct frame *frame, const char *allowed)
{
    unsigned n = join_list_count(allowed), all = (unsigned)frame->table[TABLE_CPUS].n;
    if (all == 0)
        return n == 1;
    return n > 0 && n <= 4 && n < all && (n == 1 || n * 4 <= all);
}

/* --- names --- */

/* Nearly all names are short and plain: copied in one walk. */
static bool copy_plain(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (; n + 1 < size && text[n] >= ' ' && text[n] <= '~'; n++)
        out[n] = text[n];
    out[n] = '\0';
    return text[n] == '\0';
}

void join_short_text(char *out, size_t size, const char *text)
{
    char whole[1024];
    if (copy_plain(out, size, text))
        return;
    text_visible(whole, sizeof(whole), text);
    text_visible(out, size, whole);
    if (strlen(out) == strlen(whole))
        return;
    text_visible(out, size - 2, whole);
    strcat(out, "..");
}

/* OVS has one process a host as a rule; whose lcore or vCPU it is must be said. */
static bool goes_without_owner(enum thread_kind kind)
{
    return kind == THREAD_PMD || kind == THREAD_HANDLER || kind == THREAD_REVALIDATOR;
}

void join_thread_name(char *out, size_t size, const struct frame *frame, const struct frame_row *thread)
{
    const char *role = JOIN_TEXT(thread, struct threads_info, role),
               *owner = JOIN_TEXT(thread, struct threads_info, vm);
    const struct join_thread *joined = join_thread_of(frame, thread);
    char name[VM_NAME_SIZE] = "", number[24] = "";
    uint64_t index;
    bool vcpu = role && strcmp(role, "vcpu") == 0;
    if (owner && !(joined && goes_without_owner(joined->kind)))
        join_short_text(name, sizeof(name), owner);
    if (join_info_number(thread, offsetof(struct threads_info, index), &index))
        snprintf(number, sizeof(number), "/%llu", (unsigned long long)index);
    if (vcpu)
        snprintf(out, size, "%s%s", name, number);
    else
        snprintf(out, size, "%s%s%s%s", name, *name ? " " : "", role ? role : "thread", number);
}

const char *join_vcpu_place(const struct frame *frame, const struct frame_row *thread)
{
    struct join *join = join_get(frame);
    char text[64];
    uint64_t index = 0;
    const struct part *part = frame_row_part(thread, ROW_SLOT(struct threads_row, cpu));
    if (!join || !join_info_number(thread, offsetof(struct threads_info, index), &index))
        return NULL;
    int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)index);
    if (part)
        snprintf(text + n, sizeof(text) - (size_t)n, "@%llu",
                 (unsigned long long)((const struct threads_row *)part->cur)->cpu);
    return keep_text(join, text);
}

/* --- threads of a CPU --- */

struct candidate {
    const struct join_thread *thread;
    double run_pct;
};

static int by_run(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->run_pct != y->run_pct)
        return (x->run_pct < y->run_pct) - (x->run_pct > y->run_pct);
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static bool belongs(const struct frame *frame, const struct join_thread *thread, uint64_t cpu,
                    enum join_list list)
{
    if (list == JOIN_RAN)
        return thread->cpu == (int64_t)cpu && thread->run_pct > 0;
    return join_list_has(thread->allowed, cpu) &&
           (list == JOIN_MAY || join_is_pinned(frame, thread->allowed));
}

static void write_list(char *out, size_t size, const struct frame *frame, const struct candidate *found,
                       size_t n, bool with_run)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        char name[96], item[128];
        join_thread_name(name, sizeof(name), frame, found[i].thread->row);
        if (with_run)
            snprintf(item, sizeof(item), "%s%s %.0f", used ? ", " : "", name, found[i].run_pct);
        else
            snprintf(item, sizeof(item), "%s%s", used ? ", " : "", name);
        if (used + strlen(item) + 24 > size) { /* room for what says that there are more */
            snprintf(out + used, size - used, ", %zu more", n - i);
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s", item);
    }
}

const char *join_cpu_threads(const struct frame *frame, uint64_t cpu, enum join_list list)
{
    size_t n = 0, most = frame->table[TABLE_THREADS].n;
    if (!join_get(frame) || most == 0)
        return NULL;
    struct candidate *found = xrealloc(NULL, most, sizeof(*found));
    JOIN_EACH_THREAD(thread, frame)
    if (belongs(frame, thread, cpu, list))
        found[n++] = (struct candidate){thread, isnan(thread->run_pct) ? 0 : thread->run_pct};
    qsort(found, n, sizeof(*found), by_run);
    char text[512] = "";
    write_list(text, sizeof(text), frame, found, n, list == JOIN_RAN);
    free(found);
    return n ? keep_text(join_get(frame), text) : NULL;
}
