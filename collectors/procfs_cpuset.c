/* SPDX-License-Identifier: MIT */
/* Sets of CPUs and NUMA nodes as the kernel, sysfs and libvirt write them: "0-3,8,10-11". The parser of /proc
 * texts, the domain XML and the topology call it. It must not know which CPUs exist: a set may name any. */
#include "collectors/procfs.h"

#include <stdio.h>
#include <string.h>

struct range {
    unsigned first;
    unsigned last;
    bool remove; /* libvirt's "^3" */
};

static bool parse_cpu(const char *text, size_t len, unsigned *cpu)
{
    uint64_t v;

    if (!procfs_parse_u64(text, len, &v) || v >= PROCFS_CPU_MAX)
        return false;
    *cpu = (unsigned)v;
    return true;
}

static bool parse_range(const char *text, size_t len, struct range *r)
{
    const char *dash;
    size_t n;

    r->remove = len > 0 && *text == '^';
    text += r->remove;
    len -= r->remove;
    dash = memchr(text, '-', len);
    n = dash ? (size_t)(dash - text) : len;
    if (!parse_cpu(text, n, &r->first))
        return false;
    r->last = r->first;
    return !dash || (parse_cpu(dash + 1, len - n - 1, &r->last) && r->first <= r->last);
}

/* A word at a time: a hostile list may repeat 0-4095 for as long as its text allows. */
static void apply_range(struct procfs_cpuset *set, const struct range *r)
{
    for (unsigned w = r->first / 64; w <= r->last / 64; w++) {
        unsigned low = w == r->first / 64 ? r->first % 64 : 0;
        unsigned high = w == r->last / 64 ? r->last % 64 : 63;
        uint64_t mask = (UINT64_MAX << low) & (UINT64_MAX >> (63 - high));

        if (r->remove)
            set->bits[w] &= ~mask;
        else
            set->bits[w] |= mask;
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

bool procfs_cpuset_parse(const char *text, size_t len, struct procfs_cpuset *set)
{
    const char *end = text + len;
    struct range r;

    memset(set, 0, sizeof(*set));
    while (end > text && is_blank(end[-1]))
        end--;
    while (text < end && is_blank(*text))
        text++;
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma ? comma : end;

        if (!parse_range(text, (size_t)(stop - text), &r) || stop + 1 == end)
            return false;
        apply_range(set, &r);
        text = comma ? comma + 1 : end;
    }
    return true;
}

static int range_end(const struct procfs_cpuset *set, int first)
{
    int last = first;

    while (last + 1 < PROCFS_CPU_MAX && procfs_cpuset_has(set, (unsigned)last + 1))
        last++;
    return last;
}

/* Puts part behind what is there while "..." would still fit after it. */
static bool append_part(char *buf, size_t size, size_t *len, const char *part, bool last)
{
    size_t n = strlen(part);

    if (*len + n + (last ? 0 : 3) >= size)
        return false;
    memcpy(buf + *len, part, n + 1);
    *len += n;
    return true;
}

size_t procfs_cpuset_format(const struct procfs_cpuset *set, char *buf, size_t size)
{
    size_t len = 0;
    int first = procfs_cpuset_next(set, 0), next;

    if (size == 0)
        return 0;
    buf[0] = '\0';
    for (; first >= 0; first = next) {
        int last = range_end(set, first);
        char part[32];

        snprintf(part, sizeof(part), first == last ? "%s%d" : "%s%d-%d", len ? "," : "", first, last);
        next = procfs_cpuset_next(set, (unsigned)last + 1);
        if (!append_part(buf, size, &len, part, next < 0)) {
            if (len + 3 < size)
                append_part(buf, size, &len, "...", true);
            break;
        }
    }
    return len;
}

bool procfs_cpuset_has(const struct procfs_cpuset *set, unsigned cpu)
{
    return cpu < PROCFS_CPU_MAX && (set->bits[cpu / 64] >> (cpu % 64) & 1);
}

void procfs_cpuset_add(struct procfs_cpuset *set, unsigned cpu)
{
    if (cpu < PROCFS_CPU_MAX)
        set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

unsigned procfs_cpuset_count(const struct procfs_cpuset *set)
{
    unsigned n = 0;

    for (size_t w = 0; w < PROCFS_CPU_MAX / 64; w++)
        n += (unsigned)__builtin_popcountll(set->bits[w]);
    return n;
}

bool procfs_cpuset_equal(const struct procfs_cpuset *a, const struct procfs_cpuset *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

int procfs_cpuset_next(const struct procfs_cpuset *set, unsigned from)
{
    for (unsigned w = from / 64; w < PROCFS_CPU_MAX / 64; w++) {
        uint64_t bits = set->bits[w];

        if (w == from / 64)
            bits &= UINT64_MAX << (from % 64);
        if (bits)
            return (int)(w * 64 + (unsigned)__builtin_ctzll(bits));
    }
    return -1;
}
