/* SPDX-License-Identifier: MIT */
/*
 * One virtual machine's process (see qemu_vm.h). A scan costs next to nothing while nothing happens: the
 * kernel tells the number of threads as the link count of the folder task, and only when that changed, and
 * once in a while, the threads are listed.
 */
#include "collectors/qemu_vm.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/memory.h"

#define NS_PER_S INT64_C(1000000000)

/* At the latest, threads are listed and cards looked at. Where the kernel tells how many there are, only one
 * that took another's place remains to be found: seldom, and not of all machines in one scan. */
#define LOOK_AGAIN_S  10
#define LOOK_TOLD_S   30
#define LOOK_SPREAD_S 31
#define SETTLE_SCANS  3
#define INFER_MAX                                                                                            \
    512 /* threads of a process whose vCPUs have no names are read at each scan up to so many                \
         */

static bool is_of_process(const struct qemu_vm *vm, const struct qemu_task *task)
{
    return task->file.pid == vm->pid;
}

/* ---- which threads there are ---- */

static struct qemu_task *task_room(struct qemu_vm *vm)
{
    if (vm->n_tasks == vm->alloc_tasks) {
        vm->alloc_tasks = vm->alloc_tasks ? vm->alloc_tasks * 2 : 16;
        vm->tasks = xrealloc(vm->tasks, vm->alloc_tasks, sizeof(*vm->tasks));
    }
    return &vm->tasks[vm->n_tasks];
}

static int by_process_and_tid(const void *a, const void *b)
{
    const struct qemu_task *x = a, *y = b;
    bool x_worker = x->stat.flags & PROCFS_PF_KTHREAD, y_worker = y->stat.flags & PROCFS_PF_KTHREAD;
    if (x_worker != y_worker)
        return x_worker - y_worker;
    return (x->file.tid > y->file.tid) - (x->file.tid < y->file.tid);
}

static bool is_listed(const pid_t *tids, size_t n, pid_t tid)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tids[middle] < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && tids[low] == tid;
}

/* Those that were seen to end, and those of the process that are not in the list (NULL: there is none). */
static bool drop_ended(struct qemu_reader *reader, struct qemu_vm *vm, const pid_t *tids, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < vm->n_tasks; i++) {
        struct qemu_task *task = &vm->tasks[i];
        if (task->vanished || (tids && is_of_process(vm, task) && !is_listed(tids, n, task->file.tid)))
            qemu_task_close(reader, task);
        else
            vm->tasks[kept++] = *task;
    }
    bool any = kept < vm->n_tasks;
    vm->n_tasks = kept;
    return any;
}

static bool add_new(struct qemu_reader *reader, struct qemu_vm *vm, const pid_t *tids, size_t n)
{
    size_t before = vm->n_tasks, at = 0;
    vm->cut = false;
    for (size_t i = 0; i < n; i++) {
        while (at < before && is_of_process(vm, &vm->tasks[at]) && vm->tasks[at].file.tid < tids[i])
            at++;
        if (at < before && is_of_process(vm, &vm->tasks[at]) && vm->tasks[at].file.tid == tids[i])
            continue;
        if (vm->n_tasks >= QEMU_TASKS_MAX) {
            vm->cut = true;
            break;
        }
        struct qemu_task *task = task_room(vm);
        vm->n_tasks += qemu_task_open(reader, task, vm->pid, tids[i]) == PROCFS_OK;
        task->looks = SETTLE_SCANS;
    }
    if (vm->n_tasks == before)
        return false;
    qsort(vm->tasks, vm->n_tasks, sizeof(*vm->tasks), by_process_and_tid);
    return true;
}

static int open_folder(struct qemu_reader *reader, pid_t pid, const char *name)
{
    char path[32];
    snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
    int fd =
        reader->kept < reader->kept_max ? openat(reader->rootfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    reader->kept += fd >= 0;
    return fd;
}

static void close_folder(struct qemu_reader *reader, int fd)
{
    if (fd < 0)
        return;
    close(fd);
    reader->kept--;
}

/* 0: not told. */
static uint64_t count_threads(const struct qemu_vm *vm)
{
    struct stat st;
    return vm->task_dir >= 0 && fstat(vm->task_dir, &st) == 0 && st.st_nlink > 2 ? st.st_nlink : 0;
}

/* From Linux 6.2 on; 0: not told. */
static uint64_t count_fds(const struct qemu_vm *vm)
{
    struct stat st;
    return vm->fd_dir >= 0 && fstat(vm->fd_dir, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static bool list_threads(struct qemu_reader *reader, struct qemu_vm *vm)
{
    pid_t *tids;
    size_t n;
    enum procfs_result result = procfs_list_tids(reader->rootfd, vm->pid, &tids, &n);
    if (result != PROCFS_OK || n == 0) {
        free(tids);
        vm->ended = result == PROCFS_GONE || result == PROCFS_OK;
        return vm->ended;
    }
    bool dropped = drop_ended(reader, vm, tids, n), added = add_new(reader, vm, tids, n);
    free(tids);
    return dropped || added;
}

/* ---- what they are ---- */

/* A role that was inferred with its number holds for life: what it was concluded from comes and goes. */
static bool is_settled(const struct qemu_task *task)
{
    return task->is.role == QEMU_ROLE_VCPU && task->is.inferred && task->is.index >= 0;
}

static bool take_role(struct qemu_task *task, const struct qemu_thread *is)
{
    struct qemu_thread was = task->is;
    if (is_settled(task))
        return false;
    task->is = *is;
    if (task->ranked && is->role == QEMU_ROLE_VHOST)
        task->is.index = was.index;
    else
        task->ranked = false;
    bool matters = is->role != QEMU_ROLE_OTHER && is->role != QEMU_ROLE_WORKER;
    bool changed = was.role != task->is.role || was.index != task->is.index ||
                   was.inferred != task->is.inferred || (matters && !task->shown);
    task->shown = task->shown || matters;
    return changed;
}

static size_t count_of_process(const struct qemu_vm *vm)
{
    size_t n = 0;
    while (n < vm->n_tasks && is_of_process(vm, &vm->tasks[n]))
        n++;
    return n;
}

/* vCPUs not yet all found, in a process whose threads have no names. */
static bool is_unresolved(const struct qemu_vm *vm)
{
    bool any = false;
    for (size_t i = 0; i < vm->n_tasks; i++) {
        const struct qemu_thread *is = &vm->tasks[i].is;
        any |= is->role == QEMU_ROLE_VCPU && (!is->inferred || is->index >= 0);
    }
    return !any && vm->n_tasks <= INFER_MAX;
}

/* Reads stat of the young threads again, of all where their work must tell; true when a name changed. */
static bool read_stats(struct qemu_vm *vm, size_t n, bool all)
{
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        struct qemu_task *task = &vm->tasks[i];
        char was[PROCFS_COMM_SIZE];
        if (!all && task->looks == 0)
            continue;
        task->looks -= task->looks > 0;
        memcpy(was, task->stat.comm, sizeof(was));
        changed |= qemu_task_read_stat(task) && strcmp(was, task->stat.comm) != 0;
    }
    return changed;
}

/* Unless it was given one, each vhost worker gets the lowest number that is free, in the order of their
 * start: a number stays with its thread when another's card is unplugged. */
static void rank_workers(struct qemu_vm *vm)
{
    bool taken[QEMU_TASKS_MAX] = {false};
    int next = 0;
    for (size_t i = 0; i < vm->n_tasks; i++)
        if (vm->tasks[i].ranked && vm->tasks[i].is.index < QEMU_TASKS_MAX)
            taken[vm->tasks[i].is.index] = true;
    for (;;) {
        struct qemu_task *first = NULL;
        for (size_t i = 0; i < vm->n_tasks; i++) {
            struct qemu_task *task = &vm->tasks[i];
            if (task->is.role == QEMU_ROLE_VHOST && !task->ranked &&
                (!first || task->stat.start_ticks < first->stat.start_ticks))
                first = task;
        }
        if (!first)
            return;
        while (next < QEMU_TASKS_MAX && taken[next])
            next++;
        first->is.index = next++;
        first->ranked = true;
    }
}

static bool classify(struct qemu_vm *vm)
{
    size_t n = count_of_process(vm);
    bool changed = read_stats(vm, n, n == 1 || is_unresolved(vm));
    struct procfs_stat *stats = xzalloc((n + 1) * sizeof(*stats));
    struct qemu_thread *roles = xzalloc((n + 1) * sizeof(*roles));
    for (size_t i = 0; i < n; i++)
        stats[i] = vm->tasks[i].stat;
    qemu_threads_classify(vm->pid, &vm->cmd, stats, n, roles);
    for (size_t i = 0; i < n; i++)
        changed |= take_role(&vm->tasks[i], &roles[i]);
    rank_workers(vm);
    free(stats);
    free(roles);
    return changed;
}

static bool notice_busy(const struct qemu_reader *reader, struct qemu_vm *vm)
{
    bool any = false;
    for (size_t i = 0; i < vm->n_tasks; i++)
        if (!vm->tasks[i].shown)
            any |= qemu_task_notice_busy(reader, &vm->tasks[i]);
    return any;
}

/* ---- cards ---- */

/* NONE: the process is no virtual machine, or none any more. */
static enum procfs_result read_command_line(const struct qemu_reader *reader, pid_t pid,
                                            struct qemu_cmdline *cmd)
{
    struct procfs_args args;
    char err[128];
    enum procfs_result result = procfs_read_cmdline(reader->rootfd, pid, &args);
    if (result != PROCFS_OK)
        return result;
    result = args.argc == 0 ? PROCFS_GONE : PROCFS_OK; /* it is about to end */
    if (args.argc > 0 && qemu_cmdline_parse(args.argv, args.argc, cmd, err, sizeof(err)) < 0)
        result = PROCFS_NONE;
    procfs_args_free(&args);
    return result;
}

static bool same_guest(const struct qemu_cmdline *a, const struct qemu_cmdline *b)
{
    return a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->uuid, b->uuid) == 0 &&
           a->smp_current == b->smp_current && a->smp_max == b->smp_max && a->memory_mib == b->memory_mib;
}

/* The command line is read anew: a process may have become another by exec. */
static bool look_at_process(const struct qemu_reader *reader, struct qemu_vm *vm, bool with_cards)
{
    struct qemu_cmdline cmd;
    struct qemu_net net = {0};
    enum procfs_result result = read_command_line(reader, vm->pid, &cmd);
    vm->ended = result == PROCFS_NONE;
    if (result != PROCFS_OK)
        return vm->ended;
    if (with_cards)
        qemu_net_read(reader, vm->pid, &cmd, &net);
    bool changed = !qemu_net_equal(&net, &vm->net) || !same_guest(&cmd, &vm->cmd);
    qemu_net_free(&vm->net);
    qemu_cmdline_free(&vm->cmd);
    vm->net = net;
    vm->cmd = cmd;
    return changed;
}

/* ---- the whole ---- */

static bool is_time_to_look(const struct qemu_vm *vm, bool told, int64_t since_ns, int64_t now_ns)
{
    int64_t wait_s = told ? LOOK_TOLD_S + vm->pid % LOOK_SPREAD_S : LOOK_AGAIN_S;
    return now_ns - since_ns >= wait_s * NS_PER_S;
}

/* All but the leader have ended, and nobody has asked for its exit status yet. */
static bool is_zombie(const struct qemu_vm *vm)
{
    return vm->n_tasks == 0 || (count_of_process(vm) == 1 && vm->tasks[0].stat.state == 'Z');
}

static bool refresh_threads(struct qemu_reader *reader, struct qemu_vm *vm, int64_t now_ns)
{
    uint64_t threads = count_threads(vm);
    bool changed = drop_ended(reader, vm, NULL, 0);
    if (changed || vm->settle > 0 || threads == 0 || threads != vm->threads ||
        is_time_to_look(vm, true, vm->listed_ns, now_ns)) {
        changed |= list_threads(reader, vm);
        vm->listed_ns = now_ns;
        vm->threads = threads;
    }
    if (changed)
        vm->settle = SETTLE_SCANS;
    if (vm->settle > 0 || is_unresolved(vm))
        changed |= classify(vm);
    changed |= notice_busy(reader, vm);
    return changed;
}

static bool refresh_process(const struct qemu_reader *reader, struct qemu_vm *vm, bool with_cards,
                            int64_t now_ns)
{
    uint64_t fds = with_cards ? count_fds(vm) : 0;
    if (vm->looks == 0 && fds == vm->fds &&
        !is_time_to_look(vm, fds > 0 || !with_cards, vm->looked_ns, now_ns))
        return false;
    vm->looks -= vm->looks > 0;
    vm->looked_ns = now_ns;
    vm->fds = fds;
    return look_at_process(reader, vm, with_cards);
}

bool qemu_vm_refresh(struct qemu_reader *reader, struct qemu_vm *vm, bool with_cards, int64_t now_ns)
{
    bool changed = refresh_threads(reader, vm, now_ns);
    vm->ended = vm->ended || is_zombie(vm);
    if (!vm->ended)
        changed |= refresh_process(reader, vm, with_cards, now_ns);
    vm->settle -= vm->settle > 0;
    return changed || vm->ended;
}

struct qemu_vm *qemu_vm_new(struct qemu_reader *reader, pid_t pid, bool with_cards, int64_t now_ns)
{
    struct qemu_cmdline cmd;
    struct procfs_stat stat;
    if (read_command_line(reader, pid, &cmd) != PROCFS_OK)
        return NULL;
    struct qemu_vm *vm = xzalloc(sizeof(*vm));
    *vm = (struct qemu_vm){.pid = pid, .cmd = cmd, .looks = SETTLE_SCANS};
    vm->task_dir = open_folder(reader, pid, "task");
    vm->fd_dir = with_cards ? open_folder(reader, pid, "fd") : -1;
    if (procfs_read_stat(reader->rootfd, pid, pid, &stat) == PROCFS_OK)
        vm->start_ticks = stat.start_ticks;
    else
        vm->ended = true;
    if (!vm->ended)
        qemu_vm_refresh(reader, vm, with_cards, now_ns);
    if (!vm->ended)
        return vm;
    qemu_vm_free(reader, vm);
    return NULL;
}

void qemu_vm_free(struct qemu_reader *reader, struct qemu_vm *vm)
{
    if (!vm)
        return;
    for (size_t i = 0; i < vm->n_tasks; i++)
        qemu_task_close(reader, &vm->tasks[i]);
    close_folder(reader, vm->task_dir);
    close_folder(reader, vm->fd_dir);
    free(vm->tasks);
    free(vm->path_infos);
    qemu_net_free(&vm->net);
    qemu_cmdline_free(&vm->cmd);
    free(vm);
}

bool qemu_vm_add_worker(struct qemu_reader *reader, struct qemu_vm *vm, pid_t pid)
{
    struct qemu_task *task = task_room(vm);
    if (vm->n_tasks >= QEMU_TASKS_MAX || qemu_task_open(reader, task, pid, pid) != PROCFS_OK)
        return false;
    task->is = (struct qemu_thread){.role = QEMU_ROLE_VHOST, .index = -1};
    task->shown = true;
    vm->n_tasks++;
    rank_workers(vm);
    return true;
}

bool qemu_vm_has_worker(const struct qemu_vm *vm, pid_t pid)
{
    for (size_t i = vm->n_tasks; i > 0 && !is_of_process(vm, &vm->tasks[i - 1]); i--)
        if (vm->tasks[i - 1].file.tid == pid)
            return true;
    return false;
}

bool qemu_vm_has_thread(const struct qemu_vm *vm, pid_t tid)
{
    for (size_t i = 0; i < vm->n_tasks; i++)
        if (vm->tasks[i].file.tid == tid && is_of_process(vm, &vm->tasks[i]))
            return true;
    return false;
}

uint64_t qemu_vm_vcpus(const struct qemu_vm *vm)
{
    uint64_t found = 0;
    for (size_t i = 0; i < vm->n_tasks; i++)
        found += vm->tasks[i].is.role == QEMU_ROLE_VCPU && vm->tasks[i].is.index >= 0;
    return found ? found : vm->cmd.smp_current;
}

const char *qemu_vm_accel(const struct qemu_vm *vm)
{
    if (vm->cmd.accel == VMM_ACCEL_KVM || vm->cmd.accel == VMM_ACCEL_TCG)
        return vm->cmd.accel == VMM_ACCEL_KVM ? "kvm" : "tcg";
    for (size_t i = 0; vm->cmd.accel == VMM_ACCEL_UNKNOWN && i < vm->n_tasks; i++) {
        const struct qemu_task *task = &vm->tasks[i];
        const char *slash = task->is.role == QEMU_ROLE_VCPU ? strrchr(task->stat.comm, '/') : NULL;
        if (task->stat.guest_ticks > 0 || (slash && strcmp(slash, "/KVM") == 0))
            return "kvm";
        if (slash && strcmp(slash, "/TCG") == 0)
            return "tcg";
    }
    return NULL;
}
