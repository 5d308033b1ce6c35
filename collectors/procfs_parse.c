/* SPDX-License-Identifier: MIT */
/* The texts of /proc: strict parsers without scanf and without locale, because a thread chooses its own name
 * and may put a parenthesis, a blank or digits into it. procfs.c and the tests call it; it opens no file. The
 * grammar of sets of CPUs is procfs_cpuset.c's. */
#include "collectors/procfs.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
    const char *p;
    const char *end;
};

static bool take_u64(struct cursor *c, uint64_t *out)
{
    const char *start = c->p;
    uint64_t v = 0;

    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
        unsigned digit = (unsigned)(*c->p - '0');

        if (v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return c->p > start;
}

bool procfs_parse_u64(const char *text, size_t len, uint64_t *out)
{
    struct cursor c = {text, text + len};

    return take_u64(&c, out) && c.p == c.end;
}

static void skip_blanks(struct cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
        c->p++;
}

/* The next word, without the blanks around it; false at the end of the text. */
static bool take_word(struct cursor *c, struct cursor *word)
{
    skip_blanks(c);
    word->p = c->p;
    while (c->p < c->end && *c->p != ' ' && *c->p != '\t' && *c->p != '\n')
        c->p++;
    word->end = c->p;
    return word->end > word->p;
}

static bool word_u64(const struct cursor *word, uint64_t *out)
{
    return procfs_parse_u64(word->p, (size_t)(word->end - word->p), out);
}

/* Fields of stat after the name, numbered as proc(5) does. */
enum stat_value { SV_PPID, SV_FLAGS, SV_UTIME, SV_STIME, SV_START, SV_PROCESSOR, SV_GUEST, SV_COUNT };
static const unsigned STAT_FIELD[SV_COUNT] = {
    [SV_PPID] = 4,   [SV_FLAGS] = 9,      [SV_UTIME] = 14, [SV_STIME] = 15,
    [SV_START] = 22, [SV_PROCESSOR] = 39, [SV_GUEST] = 43,
};

static bool take_stat_values(struct cursor *c, uint64_t value[SV_COUNT])
{
    unsigned next = 0;
    struct cursor word;

    for (unsigned field = 4; next < SV_COUNT; field++) {
        if (!take_word(c, &word))
            return false;
        if (field != STAT_FIELD[next])
            continue;
        if (!word_u64(&word, &value[next++]))
            return false;
    }
    return true;
}

static void copy_clipped(char *dst, size_t size, const char *src, size_t len)
{
    len = len < size ? len : size - 1;
    memcpy(dst, src, len);
    dst[len] = '\0';
}

bool procfs_parse_stat(const char *text, size_t len, struct procfs_stat *out)
{
    const char *open = memchr(text, '(', len);
    const char *close = memrchr(text, ')', len);
    struct cursor c, word;
    uint64_t tid, v[SV_COUNT];

    if (!open || !close || close < open || open == text || open[-1] != ' ')
        return false;
    if (!procfs_parse_u64(text, (size_t)(open - 1 - text), &tid) || tid > INT_MAX)
        return false;
    c = (struct cursor){close + 1, text + len};
    if (!take_word(&c, &word) || word.end - word.p != 1 || !take_stat_values(&c, v))
        return false;
    if (v[SV_PPID] > INT_MAX || v[SV_PROCESSOR] > INT_MAX)
        return false;
    *out = (struct procfs_stat){
        .tid = (pid_t)tid,
        .ppid = (pid_t)v[SV_PPID],
        .processor = (int)v[SV_PROCESSOR],
        .state = *word.p,
        .flags = v[SV_FLAGS],
        .utime_ticks = v[SV_UTIME],
        .stime_ticks = v[SV_STIME],
        .guest_ticks = v[SV_GUEST],
        .start_ticks = v[SV_START],
    };
    copy_clipped(out->comm, sizeof(out->comm), open + 1, (size_t)(close - open - 1));
    return true;
}

bool procfs_stat_is_kthread(const struct procfs_stat *st)
{
    return st->flags & PROCFS_PF_KTHREAD;
}

bool procfs_parse_schedstat(const char *text, size_t len, struct procfs_schedstat *out)
{
    struct cursor c = {text, text + len}, word;
    uint64_t v[3];

    for (size_t i = 0; i < 3; i++) {
        if (!take_word(&c, &word) || !word_u64(&word, &v[i]))
            return false;
    }
    skip_blanks(&c);
    if (c.p < c.end && *c.p == '\n')
        c.p++;
    *out = (struct procfs_schedstat){.run_ns = v[0], .delay_ns = v[1], .pcount = v[2]};
    return c.p == c.end;
}

static bool status_tgid(struct procfs_status *st, struct cursor value)
{
    uint64_t v;

    if (!word_u64(&value, &v) || v > INT_MAX)
        return false;
    st->tgid = (pid_t)v;
    return true;
}

/* "Uid:\treal\teffective\tsaved\tfs" */
static bool status_uid(struct procfs_status *st, struct cursor value)
{
    struct cursor word;
    uint64_t v[2];

    for (size_t i = 0; i < 2; i++) {
        if (!take_word(&value, &word) || !word_u64(&word, &v[i]) || v[i] > UINT32_MAX)
            return false;
    }
    st->uid = (uid_t)v[0];
    st->euid = (uid_t)v[1];
    return true;
}

static bool status_cpus(struct procfs_status *st, struct cursor value)
{
    return procfs_cpuset_parse(value.p, (size_t)(value.end - value.p), &st->cpus_allowed);
}

static bool status_mems(struct procfs_status *st, struct cursor value)
{
    return procfs_cpuset_parse(value.p, (size_t)(value.end - value.p), &st->mems_allowed);
}

static bool status_voluntary(struct procfs_status *st, struct cursor value)
{
    return word_u64(&value, &st->voluntary_switches);
}

static bool status_nonvoluntary(struct procfs_status *st, struct cursor value)
{
    return word_u64(&value, &st->nonvoluntary_switches);
}

static const struct {
    const char *key;
    enum procfs_status_bit bit;
    bool (*take)(struct procfs_status *st, struct cursor value);
} STATUS_LINES[] = {
    {"Tgid:", PROCFS_STATUS_TGID, status_tgid},
    {"Uid:", PROCFS_STATUS_UID, status_uid},
    {"Cpus_allowed_list:", PROCFS_STATUS_CPUS, status_cpus},
    {"Mems_allowed_list:", PROCFS_STATUS_MEMS, status_mems},
    {"voluntary_ctxt_switches:", PROCFS_STATUS_VOLUNTARY, status_voluntary},
    {"nonvoluntary_ctxt_switches:", PROCFS_STATUS_NONVOLUNTARY, status_nonvoluntary},
};

/* The line's value when it starts with key; blanks around it are cut. */
static bool line_value(struct cursor line, const char *key, struct cursor *value)
{
    size_t n = strlen(key);

    if ((size_t)(line.end - line.p) < n || memcmp(line.p, key, n) != 0)
        return false;
    line.p += n;
    skip_blanks(&line);
    while (line.end > line.p && (line.end[-1] == ' ' || line.end[-1] == '\t'))
        line.end--;
    *value = line;
    return true;
}

static bool take_line(struct cursor *c, struct cursor *line)
{
    const char *nl;

    if (c->p == c->end)
        return false;
    nl = memchr(c->p, '\n', (size_t)(c->end - c->p));
    *line = (struct cursor){c->p, nl ? nl : c->end};
    c->p = nl ? nl + 1 : c->end;
    return true;
}

bool procfs_parse_status(const char *text, size_t len, struct procfs_status *out)
{
    struct cursor c = {text, text + len}, line, value;

    memset(out, 0, sizeof(*out));
    while (take_line(&c, &line)) {
        for (size_t i = 0; i < sizeof(STATUS_LINES) / sizeof(STATUS_LINES[0]); i++) {
            if (!line_value(line, STATUS_LINES[i].key, &value))
                continue;
            if (!STATUS_LINES[i].take(out, value))
                return false;
            out->has |= STATUS_LINES[i].bit;
        }
    }
    return out->has != 0;
}

static size_t count_args(const char *block, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += block[i] == '\0';
    return n + (len > 0 && block[len - 1] != '\0');
}

enum procfs_result procfs_split_cmdline(const char *text, size_t len, struct procfs_args *out)
{
    size_t argc = count_args(text, len);

    *out = (struct procfs_args){0};
    if (len > PROCFS_CMDLINE_MAX || argc > PROCFS_ARGS_MAX) {
        errno = E2BIG;
        return PROCFS_FAILED;
    }
    out->block = malloc(len + 1);
    out->argv = calloc(argc + 1, sizeof(*out->argv));
    if (!out->block || !out->argv) {
        procfs_args_free(out);
        errno = ENOMEM;
        return PROCFS_FAILED;
    }
    if (len > 0)
        memcpy(out->block, text, len);
    out->block[len] = '\0';
    for (char *p = out->block; out->argc < argc; p += strlen(p) + 1)
        out->argv[out->argc++] = p;
    return PROCFS_OK;
}

void procfs_args_free(struct procfs_args *args)
{
    if (!args)
        return;
    free(args->block);
    free(args->argv);
    *args = (struct procfs_args){0};
}

bool procfs_parse_fdinfo_iff(const char *text, size_t len, char ifname[PROCFS_IFNAME_SIZE])
{
    struct cursor c = {text, text + len}, line, value;

    while (take_line(&c, &line)) {
        size_t n;

        if (!line_value(line, "iff:", &value))
            continue;
        n = (size_t)(value.end - value.p);
        if (n == 0 || n >= PROCFS_IFNAME_SIZE)
            return false;
        copy_clipped(ifname, PROCFS_IFNAME_SIZE, value.p, n);
        return true;
    }
    return false;
}
