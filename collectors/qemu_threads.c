/* SPDX-License-Identifier: MIT */
/* Roles of a hypervisor's threads: contract in qemu_threads.h. Names come first (QEMU gives them with
 * debug-threads=on, which libvirt always asks for); without names only two things can be concluded: guest
 * time is gathered by vCPU threads alone, and under TCG the threads that did nearly all the work are the
 * vCPUs. */
#include "collectors/qemu_threads.h"

#include <limits.h>
#include <string.h>

/* Under TCG a vCPU is believed when it ran for at least this long, in ticks of 10 ms, and this many times
 * longer than the busiest thread that would then not be one: workers of disks and displays come near neither.
 */
#define BUSY_TICKS_MIN 100
#define BUSY_RATIO     4

/* Each thread is compared with each other to rank them; a process with more is not a hypervisor in earnest,
 * and gets the roles that its names give. */
#define RANKED_MAX 4096

static const char *const ROLE_TEXTS[] = {
    [QEMU_ROLE_OTHER] = "other",       [QEMU_ROLE_VCPU] = "vcpu",   [QEMU_ROLE_EMULATOR] = "emulator",
    [QEMU_ROLE_IOTHREAD] = "iothread", [QEMU_ROLE_VHOST] = "vhost", [QEMU_ROLE_WORKER] = "worker",
};

const char *qemu_role_text(enum qemu_role role)
{
    size_t n = sizeof(ROLE_TEXTS) / sizeof(ROLE_TEXTS[0]);

    return ROLE_TEXTS[(size_t)role < n ? role : QEMU_ROLE_OTHER];
}

/* ---- by name ---- */

/* Names that hypervisors give: a start, then a number and an end ("#"), or any rest. */
static const struct pattern {
    const char *start;
    const char *end; /* NULL: whatever follows; then a number at the end of the name is the index */
    enum qemu_role role;
} PATTERNS[] = {
    {"CPU ", "/", QEMU_ROLE_VCPU},       /* QEMU: CPU 3/KVM, CPU 3/TCG */
    {"fc_vcpu ", "", QEMU_ROLE_VCPU},    /* firecracker */
    {"vcpu", "", QEMU_ROLE_VCPU},        /* cloud-hypervisor */
    {"crosvm_vcpu", "", QEMU_ROLE_VCPU}, /* crosvm */
    {"ALL CPUs/", NULL, QEMU_ROLE_VCPU}, /* QEMU: single-threaded TCG */
    {"IO ", NULL, QEMU_ROLE_IOTHREAD},   /* QEMU: IO iothread1, IO mon_iothread */
    {"vhost-", "", QEMU_ROLE_VHOST},     /* kernel: the number is its owner's */
    {"worker", "", QEMU_ROLE_WORKER},    /* QEMU: thread pool */
    {"worker", NULL, QEMU_ROLE_WORKER},
    {"iou-", NULL, QEMU_ROLE_WORKER}, /* kernel: io_uring's */
    {"vnc_worker", NULL, QEMU_ROLE_WORKER},
    {"SPICE Worker", NULL, QEMU_ROLE_WORKER},
    {"live_migration", NULL, QEMU_ROLE_WORKER},
    {"mig/", NULL, QEMU_ROLE_WORKER},
    {"multifd", NULL, QEMU_ROLE_WORKER},
    {"_net", NULL, QEMU_ROLE_WORKER}, /* cloud-hypervisor: _net1_qp0 */
    {"_disk", NULL, QEMU_ROLE_WORKER},
};

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

static int small_number(const char *text, size_t len)
{
    uint64_t v;

    return procfs_parse_u64(text, len, &v) && v <= INT_MAX ? (int)v : -1;
}

static int trailing_number(const char *text)
{
    size_t len = strlen(text), n = 0;

    while (n < len && text[len - n - 1] >= '0' && text[len - n - 1] <= '9')
        n++;
    return small_number(text + len - n, n);
}

/* The number behind start, when the rest fits; *index -1 when there is none. */
static bool matches(const struct pattern *p, const char *comm, int *index)
{
    size_t n = strlen(p->start), d;

    if (strncmp(comm, p->start, n) != 0)
        return false;
    if (!p->end) {
        *index = trailing_number(comm + n);
        return true;
    }
    d = digits(comm + n);
    *index = small_number(comm + n, d);
    if (*index < 0)
        return false;
    return *p->end ? strncmp(comm + n + d, p->end, strlen(p->end)) == 0 : comm[n + d] == '\0';
}

static struct qemu_thread by_name(const char *comm)
{
    struct qemu_thread t = {.role = QEMU_ROLE_OTHER, .index = -1};

    for (size_t i = 0; i < sizeof(PATTERNS) / sizeof(PATTERNS[0]); i++) {
        int index;

        if (!matches(&PATTERNS[i], comm, &index))
            continue;
        t.role = PATTERNS[i].role;
        if (t.role == QEMU_ROLE_VCPU || t.role == QEMU_ROLE_IOTHREAD)
            t.index = index;
        break;
    }
    return t;
}

/* ---- ranks ---- */

/* Threads of one tick of 10 ms are told apart by their ids. */
static bool started_before(const struct procfs_stat *a, const struct procfs_stat *b)
{
    if (a->start_ticks != b->start_ticks)
        return a->start_ticks < b->start_ticks;
    return a->tid < b->tid;
}

void qemu_vhost_rank(const struct procfs_stat *threads, size_t n, size_t *rank)
{
    for (size_t i = 0; i < n; i++) {
        rank[i] = 0;
        for (size_t k = 0; k < n; k++)
            rank[i] += started_before(&threads[k], &threads[i]);
    }
}

/* The place of threads[i] among those that have its role, by their start. */
static int rank_in_role(const struct procfs_stat *threads, size_t n, const struct qemu_thread *out, size_t i)
{
    int rank = 0;

    for (size_t k = 0; k < n; k++)
        rank += out[k].role == out[i].role && started_before(&threads[k], &threads[i]);
    return rank;
}

static size_t count_role(const struct qemu_thread *out, size_t n, enum qemu_role role)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += out[i].role == role;
    return found;
}

/* ---- by what they did ---- */

struct process {
    const struct procfs_stat *threads;
    size_t n;
    struct qemu_thread *out;
    const char *leader; /* its name, which unnamed threads share; NULL when it was not among them */
};

static bool is_unnamed(const struct process *p, size_t i)
{
    return p->out[i].role == QEMU_ROLE_OTHER && p->leader && strcmp(p->threads[i].comm, p->leader) == 0;
}

static uint64_t busy_ticks(const struct procfs_stat *st)
{
    return st->utime_ticks + st->stime_ticks;
}

static void claim_vcpu(struct process *p, size_t i)
{
    p->out[i] = (struct qemu_thread){.role = QEMU_ROLE_VCPU, .index = -1, .inferred = true};
}

static void infer_by_guest_time(struct process *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (is_unnamed(p, i) && p->threads[i].guest_ticks > 0)
            claim_vcpu(p, i);
    }
}

/* How many unnamed threads did more. */
static size_t busier_than(const struct process *p, uint64_t ticks)
{
    size_t busier = 0;

    for (size_t i = 0; i < p->n; i++)
        busier += is_unnamed(p, i) && busy_ticks(&p->threads[i]) > ticks;
    return busier;
}

/* The work of the busiest unnamed thread that has vcpus or more busier ones before it: the first that is
 * none. */
static uint64_t busiest_outsider(const struct process *p, size_t vcpus)
{
    uint64_t most = 0;

    for (size_t i = 0; i < p->n; i++) {
        uint64_t ticks = busy_ticks(&p->threads[i]);

        if (is_unnamed(p, i) && ticks > most && busier_than(p, ticks) >= vcpus)
            most = ticks;
    }
    return most;
}

/* QEMU starts its vCPUs one after the other: between the first and the last claimed no more threads can have
 * started than there are vCPUs, or a busy worker is among them. */
static bool started_together(const struct process *p, size_t vcpus)
{
    const struct procfs_stat *first = NULL, *last = NULL;
    size_t between = 0;

    for (size_t i = 0; i < p->n; i++) {
        const struct procfs_stat *st = &p->threads[i];

        if (p->out[i].role != QEMU_ROLE_VCPU)
            continue;
        first = !first || started_before(st, first) ? st : first;
        last = !last || started_before(last, st) ? st : last;
    }
    for (size_t i = 0; first && i < p->n; i++)
        between += !started_before(&p->threads[i], first) && !started_before(last, &p->threads[i]);
    return between <= vcpus;
}

static void unclaim_vcpus(struct process *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->out[i].role == QEMU_ROLE_VCPU)
            p->out[i] = (struct qemu_thread){.role = QEMU_ROLE_OTHER, .index = -1};
    }
}

static void infer_by_work(struct process *p, size_t vcpus)
{
    uint64_t least = busiest_outsider(p, vcpus) * BUSY_RATIO;

    least = least < BUSY_TICKS_MIN ? BUSY_TICKS_MIN : least;
    /* More candidates than vCPUs, all alike: nobody can be told from the others. */
    if (busier_than(p, least - 1) > vcpus)
        return;
    for (size_t i = 0; i < p->n; i++) {
        if (is_unnamed(p, i) && busy_ticks(&p->threads[i]) >= least)
            claim_vcpu(p, i);
    }
    if (!started_together(p, vcpus))
        unclaim_vcpus(p);
}

/* QEMU starts the vCPUs it begins with in the order of their numbers: when all were found, the order counts
 * them. */
static void infer_numbers(struct process *p, size_t vcpus)
{
    if (count_role(p->out, p->n, QEMU_ROLE_VCPU) != vcpus)
        return;
    for (size_t i = 0; i < p->n; i++) {
        if (p->out[i].role == QEMU_ROLE_VCPU)
            p->out[i].index = rank_in_role(p->threads, p->n, p->out, i);
    }
}

static void infer_vcpus(struct process *p, const struct qemu_cmdline *cmd)
{
    infer_by_guest_time(p);
    if (count_role(p->out, p->n, QEMU_ROLE_VCPU) == 0 && cmd && cmd->accel == VMM_ACCEL_TCG)
        infer_by_work(p, cmd->smp_current);
    if (cmd && cmd->smp_current > 0)
        infer_numbers(p, cmd->smp_current);
}

void qemu_threads_classify(pid_t pid, const struct qemu_cmdline *cmd, const struct procfs_stat *threads,
                           size_t n, struct qemu_thread *out)
{
    struct process p = {.threads = threads, .n = n, .out = out};

    for (size_t i = 0; i < n; i++) {
        if (threads[i].tid == pid) {
            p.leader = threads[i].comm;
            out[i] = (struct qemu_thread){.role = QEMU_ROLE_EMULATOR, .index = -1};
        } else {
            out[i] = by_name(threads[i].comm);
        }
    }
    if (n > RANKED_MAX)
        return;
    for (size_t i = 0; i < n; i++) {
        if (out[i].role == QEMU_ROLE_VHOST)
            out[i].index = rank_in_role(threads, n, out, i);
    }
    /* Where vCPUs have names, a thread without one (it began before the names did) is none. */
    if (count_role(out, n, QEMU_ROLE_VCPU) == 0)
        infer_vcpus(&p, cmd);
}

/* ---- vhost workers ---- */

bool qemu_vhost_kthread_owner(const struct procfs_stat *st, pid_t *owner)
{
    int number;
    static const struct pattern VHOST = {"vhost-", "", QEMU_ROLE_VHOST};

    /* Any process may call itself so; kernel threads alone have the flag. */
    if (!procfs_stat_is_kthread(st) || !matches(&VHOST, st->comm, &number) || number == 0)
        return false;
    *owner = number;
    return true;
}

static unsigned vhost_queues_before(const struct qemu_cmdline *cmd, unsigned order)
{
    unsigned n = 0;

    for (size_t i = 0; i < cmd->n_nics; i++)
        n += cmd->nics[i].vhost && cmd->nics[i].order < order ? cmd->nics[i].queues : 0;
    return n;
}

bool qemu_vhost_queue(const struct qemu_cmdline *cmd, size_t n_workers, size_t rank, size_t *nic,
                      unsigned *queue)
{
    if (cmd->truncated || vhost_queues_before(cmd, UINT_MAX) != n_workers)
        return false;
    for (size_t i = 0; i < cmd->n_nics; i++) {
        unsigned first = vhost_queues_before(cmd, cmd->nics[i].order);

        if (!cmd->nics[i].vhost || rank < first || rank - first >= cmd->nics[i].queues)
            continue;
        *nic = i;
        *queue = (unsigned)(rank - first);
        return true;
    }
    return false;
}
