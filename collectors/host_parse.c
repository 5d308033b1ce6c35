/* SPDX-License-Identifier: MIT */
/*
 * Parsers of the host's texts (see host_parse.h). A cursor walks the text once; lines of no interest, such as
 * the long "intr" line of /proc/stat, are skipped by memchr.
 */
#include "collectors/host_parse.h"

#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

struct cursor {
    const char *p, *end;
};

/* Cuts the next whole line, without its newline; false when there is none. */
static bool next_line(struct cursor *text, struct cursor *line)
{
    const char *newline = text->p < text->end ? memchr(text->p, '\n', (size_t)(text->end - text->p)) : NULL;
    if (!newline)
        return false;
    *line = (struct cursor){text->p, newline};
    text->p = newline + 1;
    return true;
}

static void skip_blanks(struct cursor *c)
{
    while (c->p < c->end && *c->p == ' ')
        c->p++;
}

static bool at_end(struct cursor *c)
{
    skip_blanks(c);
    return c->p == c->end;
}

/* Steps over word when the text goes on with it. */
static bool take_text(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
        return false;
    c->p += n;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits up to a blank or the end. */
static bool take_decimal(struct cursor *c, uint64_t *out)
{
    const char *start = c->p;
    uint64_t value = 0;
    for (; c->p < c->end && is_digit(*c->p); c->p++) {
        unsigned digit = (unsigned)(*c->p - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return c->p > start && (c->p == c->end || *c->p == ' ');
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* At most max lower-case digits, as the kernel writes them. */
static bool take_hex(struct cursor *c, unsigned max, uint64_t *out)
{
    unsigned n = 0;
    int digit;
    for (*out = 0; c->p < c->end && (digit = hex_digit(*c->p)) >= 0; c->p++, n++) {
        if (n == max)
            return false;
        *out = *out << 4 | (unsigned)digit;
    }
    return n > 0;
}

/* The array with room for one more element; its memory is kept from one parse to the next. */
static void *with_room(void *array, size_t n, size_t *alloc, size_t size)
{
    if (n < *alloc)
        return array;
    *alloc = *alloc ? *alloc * 2 : 16;
    return xrealloc(array, *alloc, size);
}

/* "N user nice system idle ...", after "cpu". */
static bool take_stat_cpu(struct cursor line, struct host_stat *out)
{
    uint64_t cpu;
    if (!take_decimal(&line, &cpu) || cpu >= PROCFS_CPU_MAX || (out->n && cpu <= out->cpus[out->n - 1].cpu))
        return false;
    out->cpus = with_room(out->cpus, out->n, &out->alloc, sizeof(*out->cpus));
    struct host_stat_cpu *entry = &out->cpus[out->n++];
    *entry = (struct host_stat_cpu){.cpu = (unsigned)cpu};
    while (entry->n < HOST_TIMES && !at_end(&line))
        if (!take_decimal(&line, &entry->ticks[entry->n++]))
            return false;
    return entry->n > HOST_IDLE;
}

static bool take_value(struct cursor line, bool *has, uint64_t *value)
{
    *has = take_decimal(&line, value) && at_end(&line);
    return *has;
}

static bool take_stat_line(struct cursor line, struct host_stat *out)
{
    if (take_text(&line, "cpu"))
        return line.p == line.end || !is_digit(*line.p) || take_stat_cpu(line, out);
    if (take_text(&line, "ctxt "))
        return take_value(line, &out->has_switches, &out->switches);
    if (take_text(&line, "procs_running "))
        return take_value(line, &out->has_running, &out->running);
    return true;
}

bool host_parse_stat(const char *text, size_t len, struct host_stat *out)
{
    struct cursor rest = {text, text + len}, line;
    out->n = 0;
    out->has_switches = out->has_running = false;
    while (next_line(&rest, &line))
        if (!take_stat_line(line, out))
            return false;
    return out->n > 0;
}

void host_stat_free(struct host_stat *stat)
{
    if (stat)
        free(stat->cpus);
}

/* "CPU0 CPU1 CPU4" */
static bool take_softirq_header(struct cursor line, struct host_softirqs *out)
{
    uint64_t cpu;
    while (!at_end(&line)) {
        if (!take_text(&line, "CPU") || !take_decimal(&line, &cpu) || cpu >= PROCFS_CPU_MAX)
            return false;
        if (out->n && cpu <= out->cpus[out->n - 1].cpu)
            return false;
        out->cpus = with_room(out->cpus, out->n, &out->alloc, sizeof(*out->cpus));
        out->cpus[out->n++] = (struct host_softirq_cpu){.cpu = (unsigned)cpu};
    }
    return out->n > 0;
}

/* One number for each CPU of the header, into the field at offset. */
static bool take_softirq_counts(struct cursor line, struct host_softirqs *out, size_t offset)
{
    for (size_t i = 0; i < out->n; i++) {
        skip_blanks(&line);
        if (!take_decimal(&line, (uint64_t *)((char *)&out->cpus[i] + offset)))
            return false;
    }
    return at_end(&line);
}

static bool take_softirq_line(struct cursor line, struct host_softirqs *out)
{
    skip_blanks(&line);
    if (take_text(&line, "NET_RX:"))
        return out->has_net_rx = take_softirq_counts(line, out, offsetof(struct host_softirq_cpu, net_rx));
    if (take_text(&line, "NET_TX:"))
        return out->has_net_tx = take_softirq_counts(line, out, offsetof(struct host_softirq_cpu, net_tx));
    return true;
}

bool host_parse_softirqs(const char *text, size_t len, struct host_softirqs *out)
{
    struct cursor rest = {text, text + len}, line;
    out->n = 0;
    out->has_net_rx = out->has_net_tx = false;
    if (!next_line(&rest, &line) || !take_softirq_header(line, out))
        return false;
    while (next_line(&rest, &line))
        if (!take_softirq_line(line, out))
            return false;
    return true;
}

void host_softirqs_free(struct host_softirqs *softirqs)
{
    if (softirqs)
        free(softirqs->cpus);
}

/* Columns of softnet_stat that are read; the CPU came with Linux 5.10. */
enum softnet_column { SOFTNET_PROCESSED, SOFTNET_DROPPED, SOFTNET_SQUEEZED, SOFTNET_CPU = 12, SOFTNET_READ };

static bool take_softnet_line(struct cursor line, struct host_softnet *out)
{
    uint64_t value[SOFTNET_READ] = {0};
    unsigned columns = 0;
    for (; columns < SOFTNET_READ && !at_end(&line); columns++) {
        if (!take_hex(&line, 16, &value[columns]) || (line.p < line.end && *line.p != ' '))
            return false;
    }
    bool has_cpu = columns > SOFTNET_CPU;
    if (columns <= SOFTNET_SQUEEZED || (out->n && has_cpu != out->has_cpu))
        return false;
    uint64_t cpu = value[SOFTNET_CPU];
    if (has_cpu && (cpu >= PROCFS_CPU_MAX || (out->n && cpu <= out->lines[out->n - 1].cpu)))
        return false;
    out->lines = with_room(out->lines, out->n, &out->alloc, sizeof(*out->lines));
    out->lines[out->n++] = (struct host_softnet_line){
        .cpu = (unsigned)cpu,
        .processed = value[SOFTNET_PROCESSED],
        .dropped = value[SOFTNET_DROPPED],
        .squeezed = value[SOFTNET_SQUEEZED],
    };
    out->has_cpu = has_cpu;
    return out->n <= PROCFS_CPU_MAX;
}

bool host_parse_softnet(const char *text, size_t len, struct host_softnet *out)
{
    struct cursor rest = {text, text + len}, line;
    out->n = 0;
    out->has_cpu = false;
    while (next_line(&rest, &line))
        if (!take_softnet_line(line, out))
            return false;
    return out->n > 0;
}

void host_softnet_free(struct host_softnet *softnet)
{
    if (softnet)
        free(softnet->lines);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" */
bool host_parse_psi(const char *text, size_t len, const char *line, uint64_t *total_us)
{
    struct cursor rest = {text, text + len}, c;
    while (next_line(&rest, &c)) {
        if (!take_text(&c, line) || c.p == c.end || *c.p != ' ')
            continue;
        const char *total = memmem(c.p, (size_t)(c.end - c.p), " total=", 7);
        if (!total)
            return false;
        c.p = total + 7;
        return take_decimal(&c, total_us) && at_end(&c);
    }
    return false;
}

static void add_word(struct procfs_cpuset *set, uint64_t bits, unsigned word)
{
    for (unsigned bit = 0; bit < 32; bit++)
        if (bits >> bit & 1)
            procfs_cpuset_add(set, word * 32 + bit);
}

bool host_parse_mask(const char *text, size_t len, struct procfs_cpuset *set)
{
    struct cursor c = {text, text + len};
    if (c.p < c.end && c.end[-1] == '\n')
        c.end--;
    unsigned words = 1;
    for (const char *p = c.p; p < c.end; p++)
        words += *p == ',';
    memset(set, 0, sizeof(*set));
    while (words-- > 0) {
        uint64_t bits;
        if (!take_hex(&c, 8, &bits) || (bits && words >= PROCFS_CPU_MAX / 32))
            return false;
        add_word(set, bits, words);
        if (words && !take_text(&c, ","))
            return false;
    }
    return c.p == c.end;
}

/*
 * What drivers call the handlers that move no packets: virtio "virtio2-config", mlx5 "mlx5_async0@pci:..."
 * and "mlx5_pages_eq@...", i40e and ice "i40e-0000:3b:00.0:misc", iavf "...:mbx", i40e "...:fdir-TxRx-0", ena
 * "ena-mgmnt@pci:...", mana "mana_hwc@...", nfp "eth0-lsc" and "eth0-exn", vmxnet3 "eth0-event-4", qede
 * "qed-sp-...", hinic "hinic_aeq...".
 */
static const char *const other_handlers[] = {
    "-config", "async", "pages_eq", "cmd_eq", "cmdq", "misc",   "mbx",    "mailbox", "fdir",
    "mgmnt",   "ctrl",  "_hwc",     "-lsc",   "-exn", "-event", "qed-sp", "_aeq",
};

bool host_irq_is_queue(const char *handler, const char *port)
{
    /* A port may be called "misc0": its own name tells nothing. */
    size_t n = strlen(port);
    if (n && strncmp(handler, port, n) == 0)
        handler += n;
    /* ixgbe, igb, bnx2x: the port's name alone is the link's interrupt. */
    if (*handler == '\0')
        return false;
    for (size_t i = 0; i < sizeof(other_handlers) / sizeof(other_handlers[0]); i++)
        if (strstr(handler, other_handlers[i]))
            return false;
    return true;
}
