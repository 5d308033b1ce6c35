/* SPDX-License-Identifier: MIT */
/* Facts of the host (see host_facts.h): small files, small parsers, nothing that must be there. */
#include "src/host_facts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/memory.h"

#define FILE_MAX    16384 /* of /proc/cpuinfo the first CPU is enough */
#define PATH_ROOM   4096
#define NUMBERS_MAX 16384 /* CPUs, nodes */

/* The file's text without the white space at its end, NULL when it cannot be read. */
static char *read_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = xzalloc(FILE_MAX + 1);
    size_t n = 0;
    ssize_t got;
    while (n < FILE_MAX && ((got = read(fd, text + n, FILE_MAX - n)) > 0 || (got < 0 && errno == EINTR)))
        n += got > 0 ? (size_t)got : 0;
    close(fd);
    n = strnlen(text, n);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

static char *read_file(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *read_file(const char *format, ...)
{
    char path[PATH_ROOM];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    return n > 0 && (size_t)n < sizeof(path) ? read_text(path) : NULL;
}

/* Digits and nothing else; -1 when it is no such number. */
static long long parse_number(const char *text)
{
    char *end;
    if (!text || !isdigit((unsigned char)text[0]))
        return -1;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 ? value : -1;
}

static long long take_number(char *text)
{
    long long value = parse_number(text);
    free(text);
    return value;
}

static int to_int(long long value)
{
    return value >= 0 && value <= INT32_MAX ? (int)value : -1;
}

/* Is the CPU in a kernel list ("0-3,8")? */
static bool list_has(const char *list, int cpu)
{
    while (isdigit((unsigned char)*list)) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            last = strtol(end + 1, &end, 10);
        if (cpu >= first && cpu <= last)
            return true;
        list = *end == ',' ? end + 1 : end;
    }
    return false;
}

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The N of an entry called prefix N suffix, -1 for any other. */
static int entry_number(const char *name, const char *prefix, const char *suffix)
{
    size_t n = strlen(name), skip = strlen(prefix), tail = strlen(suffix);
    char digits[16];
    if (n <= skip + tail || n - skip - tail >= sizeof(digits) || strncmp(name, prefix, skip) != 0 ||
        strcmp(name + n - tail, suffix) != 0)
        return -1;
    memcpy(digits, name + skip, n - skip - tail);
    digits[n - skip - tail] = '\0';
    return to_int(parse_number(digits));
}

/* The numbers of a folder's entries called prefix N suffix, ascending; *numbers is the caller's. */
static size_t read_numbers(const char *root, const char *folder, const char *prefix, const char *suffix,
                           int **numbers)
{
    char path[PATH_ROOM];
    *numbers = NULL;
    int length = snprintf(path, sizeof(path), "%s%s", root, folder);
    DIR *dir = (size_t)length < sizeof(path) ? opendir(path) : NULL;
    if (!dir)
        return 0;
    size_t n = 0, size = 0;
    for (struct dirent *entry; n < NUMBERS_MAX && (entry = readdir(dir));) {
        int number = entry_number(entry->d_name, prefix, suffix);
        if (number < 0)
            continue;
        if (n == size)
            *numbers = xrealloc(*numbers, size = size ? size * 2 : 64, sizeof(**numbers));
        (*numbers)[n++] = number;
    }
    closedir(dir);
    if (n)
        qsort(*numbers, n, sizeof(**numbers), compare_ints);
    return n;
}

#define CPU_FOLDER  "/sys/devices/system/cpu"
#define NODE_FOLDER "/sys/devices/system/node"
#define HUGE_FOLDER "/sys/kernel/mm/hugepages"

static struct cpu_fact read_cpu(const char *root, int cpu, const char *online)
{
    struct cpu_fact fact = {.cpu = cpu, .numa = -1, .online = online ? list_has(online, cpu) : -1};
    fact.core = to_int(take_number(read_file("%s" CPU_FOLDER "/cpu%d/topology/core_id", root, cpu)));
    fact.package =
        to_int(take_number(read_file("%s" CPU_FOLDER "/cpu%d/topology/physical_package_id", root, cpu)));
    fact.siblings = read_file("%s" CPU_FOLDER "/cpu%d/topology/thread_siblings_list", root, cpu);
    fact.governor = read_file("%s" CPU_FOLDER "/cpu%d/cpufreq/scaling_governor", root, cpu);
    return fact;
}

static void read_nodes(struct host_facts *facts, const char *root)
{
    int *nodes;
    size_t n = read_numbers(root, NODE_FOLDER, "node", "", &nodes);
    for (size_t i = 0; i < n; i++) {
        char *list = read_file("%s" NODE_FOLDER "/node%d/cpulist", root, nodes[i]);
        for (size_t c = 0; list && c < facts->n_cpus; c++)
            if (list_has(list, facts->cpus[c].cpu))
                facts->cpus[c].numa = nodes[i];
        free(list);
    }
    free(nodes);
}

static void read_cpus(struct host_facts *facts, const char *root)
{
    int *cpus;
    facts->n_cpus = read_numbers(root, CPU_FOLDER, "cpu", "", &cpus);
    facts->cpus = xzalloc(facts->n_cpus * sizeof(*facts->cpus));
    for (size_t i = 0; i < facts->n_cpus; i++)
        facts->cpus[i] = read_cpu(root, cpus[i], facts->cpus_online);
    free(cpus);
    read_nodes(facts, root);
}

static void read_huge_pages(struct host_facts *facts, const char *root)
{
    int *sizes;
    size_t n = read_numbers(root, HUGE_FOLDER, "hugepages-", "kB", &sizes);
    facts->huge_pages = xzalloc(n * sizeof(*facts->huge_pages));
    for (size_t i = 0; i < n; i++) {
        long long total =
            take_number(read_file("%s" HUGE_FOLDER "/hugepages-%dkB/nr_hugepages", root, sizes[i]));
        long long unused =
            take_number(read_file("%s" HUGE_FOLDER "/hugepages-%dkB/free_hugepages", root, sizes[i]));
        if (total >= 0 && unused >= 0)
            facts->huge_pages[facts->n_huge_pages++] =
                (struct huge_pages_fact){sizes[i], (uint64_t)total, (uint64_t)unused};
    }
    free(sizes);
}

/* The word in brackets: "always [madvise] never". */
static char *bracketed(char *text)
{
    char *open = text ? strchr(text, '[') : NULL;
    char *end = open ? strchr(open, ']') : NULL;
    char *word = end ? strndup(open + 1, (size_t)(end - open - 1)) : NULL;
    free(text);
    return word;
}

/* The value of the first "name : value" line of /proc/cpuinfo. */
static char *cpuinfo_value(const char *cpuinfo, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *colon = line + strcspn(line, ":\n");
        if (strncmp(line, name, n) != 0 || *colon != ':' ||
            strspn(line + n, " \t") != (size_t)(colon - line) - n)
            continue;
        const char *value = colon + 1 + strspn(colon + 1, " \t");
        return strndup(value, strcspn(value, "\n"));
    }
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

/* x86 alone tells it by a CPU flag; Xen has a file; elsewhere it stays unknown. */
static void read_processor(struct host_facts *facts, const char *root)
{
    char *cpuinfo = read_file("%s/proc/cpuinfo", root);
    facts->cpu_model = cpuinfo_value(cpuinfo, "model name");
    facts->hypervisor = read_file("%s/sys/hypervisor/type", root);
    char *flags = cpuinfo_value(cpuinfo, "flags");
    if (!facts->hypervisor && flags)
        facts->hypervisor = xstrdup(has_word(flags, "hypervisor") ? "yes" : "none");
    free(flags);
    free(cpuinfo);
}

struct host_facts *host_facts_read(const char *root)
{
    struct host_facts *facts = xzalloc(sizeof(*facts));
#define READ_TEXT(name, path) facts->name = read_file("%s" path, root);
    HOST_TEXT_FACTS(READ_TEXT)
#undef READ_TEXT
    struct utsname uts;
    if (uname(&uts) == 0)
        facts->architecture = xstrdup(uts.machine);
    read_processor(facts, root);
    facts->transparent_huge_pages =
        bracketed(read_file("%s/sys/kernel/mm/transparent_hugepage/enabled", root));
    read_cpus(facts, root);
    read_huge_pages(facts, root);
    return facts;
}

void host_facts_free(struct host_facts *facts)
{
    if (!facts)
        return;
#define FREE_TEXT(name, path) free(facts->name);
    HOST_TEXT_FACTS(FREE_TEXT)
#undef FREE_TEXT
    free(facts->architecture);
    free(facts->cpu_model);
    free(facts->transparent_huge_pages);
    free(facts->hypervisor);
    for (size_t i = 0; i < facts->n_cpus; i++) {
        free(facts->cpus[i].siblings);
        free(facts->cpus[i].governor);
    }
    free(facts->cpus);
    free(facts->huge_pages);
    free(facts);
}
