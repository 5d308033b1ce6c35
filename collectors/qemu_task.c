/* SPDX-License-Identifier: MIT */
/* One watched thread (see qemu_task.h): its descriptors, its times, and whether it is busy. */
#include "collectors/qemu_task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/clock.h"
#include "src/memory.h"

/* Descriptors left to the rest of the program, and for what a scan opens and closes again. */
#define SPARE_DESCRIPTORS 256

/* A read takes microseconds. One that took longer was preempted, before the kernel's answer or after it. */
#define READ_SPREAD_NS INT64_C(200000)
#define READ_TRIES     4

#define STATUS_BYTES 8192 /* about 1600, and more for users of many groups */

#define BUSY_SHARE 100 /* busy: ran for at least one in so many ns */

static size_t descriptors_to_keep(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (limit.rlim_cur < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0)
        limit = raised;
    return limit.rlim_cur > 2 * SPARE_DESCRIPTORS ? limit.rlim_cur - SPARE_DESCRIPTORS : limit.rlim_cur / 2;
}

int qemu_reader_open(struct qemu_reader *reader, const char *root, size_t stat_max)
{
    char path[4096];
    *reader = (struct qemu_reader){.root = root ? root : "", .stat_max = stat_max};
    if (snprintf(path, sizeof(path), "%s/proc", reader->root) >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    reader->rootfd = procfs_open_root(path);
    if (reader->rootfd < 0)
        return -1;
    reader->kept_max = descriptors_to_keep();
    return 0;
}

void qemu_reader_close(struct qemu_reader *reader)
{
    if (reader->rootfd >= 0)
        close(reader->rootfd);
    reader->rootfd = -1;
}

static size_t descriptors_of(const struct qemu_task *task)
{
    return (task->file.schedstat_fd >= 0) + (task->file.stat_fd >= 0) + (task->status_fd >= 0);
}

static enum procfs_result open_by_path(const struct qemu_reader *reader, struct qemu_task *task, pid_t pid,
                                       pid_t tid)
{
    task->by_path = true;
    task->file = (struct procfs_thread){
        .rootfd = reader->rootfd, .pid = pid, .tid = tid, .schedstat_fd = -1, .stat_fd = -1};
    enum procfs_result result = procfs_read_stat(reader->rootfd, pid, tid, &task->stat);
    task->file.start_ticks = task->stat.start_ticks;
    return result;
}

enum procfs_result qemu_task_open(struct qemu_reader *reader, struct qemu_task *task, pid_t pid, pid_t tid)
{
    *task = (struct qemu_task){.is.index = -1, .status_fd = -1};
    if (reader->kept + 2 > reader->kept_max)
        return open_by_path(reader, task, pid, tid);
    bool keep_stat = reader->kept < reader->stat_max;
    enum procfs_result result =
        procfs_thread_open(&task->file, reader->rootfd, pid, tid, keep_stat, &task->stat);
    if (result == PROCFS_FAILED && (errno == EMFILE || errno == ENFILE)) {
        reader->kept_max = reader->kept; /* others need more than was thought */
        return open_by_path(reader, task, pid, tid);
    }
    if (result == PROCFS_OK)
        reader->kept += descriptors_of(task);
    return result;
}

void qemu_task_close(struct qemu_reader *reader, struct qemu_task *task)
{
    reader->kept -= descriptors_of(task);
    procfs_thread_close(&task->file);
    if (task->status_fd >= 0)
        close(task->status_fd);
    task->status_fd = -1;
    free(task->allowed);
    task->allowed = NULL;
}

static enum procfs_result read_by_path(const struct qemu_reader *reader, struct qemu_task *task)
{
    char path[64], text[128];
    size_t len;
    snprintf(path, sizeof(path), "%d/task/%d/schedstat", (int)task->file.pid, (int)task->file.tid);
    enum procfs_result result = procfs_read_file(reader->rootfd, path, text, sizeof(text), &len);
    if (result != PROCFS_OK)
        return result;
    if (len == 0)
        return PROCFS_GONE;
    return procfs_parse_schedstat(text, len, &task->times) ? PROCFS_OK : PROCFS_BAD;
}

int64_t qemu_task_read_times(const struct qemu_reader *reader, struct qemu_task *task, int64_t before_ns)
{
    int64_t after_ns = before_ns;
    for (int tries = 0; tries < READ_TRIES; tries++) {
        before_ns = after_ns;
        task->result =
            task->by_path ? read_by_path(reader, task) : procfs_thread_schedstat(&task->file, &task->times);
        after_ns = clock_mono_ns();
        if (after_ns - before_ns < READ_SPREAD_NS)
            break;
    }
    task->t_ns = before_ns + (after_ns - before_ns) / 2;
    task->vanished = task->vanished || task->result == PROCFS_GONE;
    return after_ns;
}

bool qemu_task_read_stat(struct qemu_task *task)
{
    struct procfs_stat stat;
    enum procfs_result result = procfs_thread_stat(&task->file, &stat);
    task->vanished = task->vanished || result == PROCFS_GONE;
    if (result == PROCFS_OK)
        task->stat = stat;
    return result == PROCFS_OK;
}

static void keep_status(struct qemu_reader *reader, struct qemu_task *task)
{
    char path[64];
    if (!reader->keep_status || task->status_fd >= 0 || task->by_path || reader->kept >= reader->kept_max)
        return;
    snprintf(path, sizeof(path), "%d/task/%d/status", (int)task->file.pid, (int)task->file.tid);
    task->status_fd = openat(reader->rootfd, path, O_RDONLY | O_CLOEXEC);
    reader->kept += task->status_fd >= 0;
}

/* The kernel gives a file of this size whole, so one read of a kept descriptor will do. */
static bool read_status(struct qemu_reader *reader, struct qemu_task *task, struct procfs_status *status)
{
    char text[STATUS_BYTES];
    keep_status(reader, task);
    if (task->status_fd >= 0) {
        ssize_t n = pread(task->status_fd, text, sizeof(text), 0);
        if (n > 0 && (size_t)n < sizeof(text))
            return procfs_parse_status(text, (size_t)n, status);
    }
    return procfs_thread_status(&task->file, status) == PROCFS_OK;
}

bool qemu_task_read_status(struct qemu_reader *reader, struct qemu_task *task)
{
    struct procfs_status status;
    char text[PROCFS_CPUS_TEXT];
    unsigned both = PROCFS_STATUS_VOLUNTARY | PROCFS_STATUS_NONVOLUNTARY;
    task->has_switches = false;
    if (!read_status(reader, task, &status))
        return false;
    task->has_switches = (status.has & both) == both;
    task->voluntary = status.voluntary_switches;
    task->involuntary = status.nonvoluntary_switches;
    if (!(status.has & PROCFS_STATUS_CPUS))
        return false;
    procfs_cpuset_format(&status.cpus_allowed, text, sizeof(text));
    if (task->allowed && strcmp(task->allowed, text) == 0)
        return false;
    free(task->allowed);
    task->allowed = xstrdup(text);
    return true;
}

bool qemu_task_has_times(const struct qemu_task *task)
{
    const struct procfs_schedstat *times = &task->times;
    return task->result == PROCFS_OK && (times->run_ns || times->delay_ns || times->pcount);
}

bool qemu_task_notice_busy(const struct qemu_reader *reader, struct qemu_task *task)
{
    qemu_task_read_times(reader, task, clock_mono_ns());
    if (task->result != PROCFS_OK)
        return false;
    uint64_t ran_ns = task->times.run_ns - task->watched_run_ns;
    int64_t passed_ns = task->t_ns - task->watched_ns;
    bool busy = task->watched_ns && task->times.run_ns > task->watched_run_ns &&
                ran_ns * BUSY_SHARE >= (uint64_t)passed_ns;
    task->watched_ns = task->t_ns;
    task->watched_run_ns = task->times.run_ns;
    bool is_new = busy && !task->shown;
    task->shown = task->shown || busy;
    return is_new;
}
