/* SPDX-License-Identifier: MIT */
/* The files of /proc: reads under the descriptor of a proc root, and one kept descriptor per thread. The
 * contract is in procfs.h. Every failure becomes a procfs_result here, so that callers never look at errno to
 * tell a thread that ended from one that is not theirs to see. The texts are parsed in procfs_parse.c. */
#include "collectors/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAT_SIZE     4096  /* about 400 bytes in practice */
#define STATUS_SIZE   32768 /* about 1.6 KiB; Cpus_allowed grows with the machine, Groups with the user */
#define FDINFO_SIZE   4096
#define NETFD_SCANNED 65536 /* descriptors of one process that are looked at */

static const char *const RESULT_TEXTS[] = {
    [PROCFS_OK] = "read",
    [PROCFS_GONE] = "it has ended",
    [PROCFS_NONE] = "this kernel does not have it",
    [PROCFS_DENIED] = "not permitted",
    [PROCFS_BAD] = "not in the form the kernel writes",
    [PROCFS_FAILED] = "cannot be read",
};

const char *procfs_result_text(enum procfs_result r)
{
    size_t n = sizeof(RESULT_TEXTS) / sizeof(RESULT_TEXTS[0]);

    return (size_t)r < n ? RESULT_TEXTS[r] : "unknown";
}

int procfs_open_root(const char *path)
{
    return open(path ? path : "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static enum procfs_result result_of_errno(int e)
{
    if (e == ENOENT || e == ESRCH)
        return PROCFS_GONE;
    return e == EACCES || e == EPERM ? PROCFS_DENIED : PROCFS_FAILED;
}

/* One read of a kept descriptor: the kernel gives files of this size whole, so a second read, to see the end,
 * would only double the cost. A dead thread's descriptor says ESRCH, a recorded one's nothing at all. */
static enum procfs_result read_once(int fd, char *buf, size_t size, size_t *len)
{
    ssize_t n;

    do {
        n = pread(fd, buf, size, 0);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return result_of_errno(errno);
    if ((size_t)n == size) {
        errno = E2BIG;
        return PROCFS_FAILED;
    }
    buf[n] = '\0';
    *len = (size_t)n;
    return n == 0 ? PROCFS_GONE : PROCFS_OK;
}

/* Reads from offset 0 to the end of the file. */
static enum procfs_result read_whole(int fd, char *buf, size_t size, size_t *len)
{
    size_t have = 0;

    while (have < size) {
        ssize_t n = pread(fd, buf + have, size - have, (off_t)have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return result_of_errno(errno);
        if (n == 0)
            break;
        have += (size_t)n;
    }
    if (have == size) {
        errno = E2BIG;
        return PROCFS_FAILED;
    }
    buf[have] = '\0';
    *len = have;
    return PROCFS_OK;
}

enum procfs_result procfs_read_file(int rootfd, const char *path, char *buf, size_t size, size_t *len)
{
    int fd = openat(rootfd, path, O_RDONLY | O_CLOEXEC);
    enum procfs_result r;
    int e;

    if (fd < 0)
        return result_of_errno(errno);
    r = read_whole(fd, buf, size, len);
    e = errno;
    close(fd);
    errno = e;
    return r;
}

struct path {
    char text[64];
};

static struct path task_path(pid_t pid, pid_t tid, const char *file)
{
    struct path p;

    snprintf(p.text, sizeof(p.text), "%d/task/%d/%s", (int)pid, (int)tid, file);
    return p;
}

static struct path pid_path(pid_t pid, const char *file)
{
    struct path p;

    snprintf(p.text, sizeof(p.text), "%d/%s", (int)pid, file);
    return p;
}

static enum procfs_result stat_of_text(const char *buf, size_t len, struct procfs_stat *out)
{
    if (len == 0)
        return PROCFS_GONE;
    return procfs_parse_stat(buf, len, out) ? PROCFS_OK : PROCFS_BAD;
}

enum procfs_result procfs_read_stat(int rootfd, pid_t pid, pid_t tid, struct procfs_stat *out)
{
    char buf[STAT_SIZE];
    size_t len;
    enum procfs_result r = procfs_read_file(rootfd, task_path(pid, tid, "stat").text, buf, sizeof(buf), &len);

    return r == PROCFS_OK ? stat_of_text(buf, len, out) : r;
}

enum procfs_result procfs_read_status(int rootfd, pid_t pid, pid_t tid, struct procfs_status *out)
{
    char buf[STATUS_SIZE];
    size_t len;
    enum procfs_result r =
        procfs_read_file(rootfd, task_path(pid, tid, "status").text, buf, sizeof(buf), &len);

    if (r != PROCFS_OK)
        return r;
    if (len == 0)
        return PROCFS_GONE;
    return procfs_parse_status(buf, len, out) ? PROCFS_OK : PROCFS_BAD;
}

enum procfs_result procfs_read_cmdline(int rootfd, pid_t pid, struct procfs_args *out)
{
    struct path path = pid_path(pid, "cmdline");
    enum procfs_result r = PROCFS_FAILED;
    size_t len = 0;
    char *buf = NULL;

    *out = (struct procfs_args){0};
    errno = E2BIG;
    for (size_t size = 8192; size <= PROCFS_CMDLINE_MAX; size *= 2) {
        free(buf);
        buf = malloc(size);
        if (!buf)
            return PROCFS_FAILED;
        r = procfs_read_file(rootfd, path.text, buf, size, &len);
        if (r != PROCFS_FAILED || errno != E2BIG)
            break;
    }
    if (r == PROCFS_OK)
        r = procfs_split_cmdline(buf, len, out);
    free(buf);
    return r;
}

static DIR *open_dir(int rootfd, const char *path)
{
    int fd = openat(rootfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

/* The number that an entry is called by, or -1. */
static int entry_number(const struct dirent *e)
{
    uint64_t v;

    return procfs_parse_u64(e->d_name, strlen(e->d_name), &v) && v <= INT_MAX ? (int)v : -1;
}

static int compare_ids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

static bool append_id(pid_t **ids, size_t *count, pid_t id)
{
    /* Grows at powers of two from 64. */
    if (*count == 0 || (*count >= 64 && (*count & (*count - 1)) == 0)) {
        size_t room = *count == 0 ? 64 : *count * 2;
        pid_t *grown = *count >= PROCFS_IDS_MAX ? NULL : realloc(*ids, room * sizeof(**ids));

        if (!grown)
            return false;
        *ids = grown;
    }
    (*ids)[(*count)++] = id;
    return true;
}

static enum procfs_result list_numbers(int rootfd, const char *path, pid_t **ids, size_t *count)
{
    DIR *dir = open_dir(rootfd, path);
    const struct dirent *e;
    bool ok = true;

    *ids = NULL;
    *count = 0;
    if (!dir)
        return result_of_errno(errno);
    while (ok && (e = readdir(dir))) {
        int id = entry_number(e);

        if (id > 0)
            ok = append_id(ids, count, id);
    }
    closedir(dir);
    if (!ok) {
        free(*ids);
        *ids = NULL;
        *count = 0;
        errno = E2BIG;
        return PROCFS_FAILED;
    }
    if (*count > 1)
        qsort(*ids, *count, sizeof(**ids), compare_ids);
    return PROCFS_OK;
}

enum procfs_result procfs_list_pids(int rootfd, pid_t **ids, size_t *count)
{
    return list_numbers(rootfd, ".", ids, count);
}

enum procfs_result procfs_list_tids(int rootfd, pid_t pid, pid_t **ids, size_t *count)
{
    return list_numbers(rootfd, pid_path(pid, "task").text, ids, count);
}

static bool link_number(const char *link, const char *prefix, unsigned *number)
{
    size_t n = strlen(prefix);
    uint64_t v;

    if (strncmp(link, prefix, n) != 0 || !procfs_parse_u64(link + n, strlen(link + n), &v) || v > UINT_MAX)
        return false;
    *number = (unsigned)v;
    return true;
}

static bool tap_name(int rootfd, pid_t pid, int fd, char ifname[PROCFS_IFNAME_SIZE])
{
    char file[32], buf[FDINFO_SIZE];
    size_t len;

    snprintf(file, sizeof(file), "fdinfo/%d", fd);
    return procfs_read_file(rootfd, pid_path(pid, file).text, buf, sizeof(buf), &len) == PROCFS_OK &&
           procfs_parse_fdinfo_iff(buf, len, ifname);
}

/* True when the descriptor is one of the network; fills *out but for its number. */
static bool classify_fd(int rootfd, pid_t pid, const char *link, struct procfs_netfd *out)
{
    if (strcmp(link, "/dev/net/tun") == 0) {
        out->kind = PROCFS_NETFD_TAP;
        return tap_name(rootfd, pid, out->fd, out->ifname);
    }
    if (strcmp(link, "/dev/vhost-net") == 0) {
        out->kind = PROCFS_NETFD_VHOST_NET;
        return true;
    }
    out->kind = PROCFS_NETFD_MACVTAP;
    if (link_number(link, "/dev/tap", &out->number))
        return true;
    out->kind = PROCFS_NETFD_VHOST_VDPA;
    return link_number(link, "/dev/vhost-vdpa-", &out->number);
}

static int compare_netfds(const void *a, const void *b)
{
    const struct procfs_netfd *x = a, *y = b;

    return (x->fd > y->fd) - (x->fd < y->fd);
}

enum procfs_result procfs_list_netfds(int rootfd, pid_t pid, struct procfs_netfd *out, size_t max,
                                      size_t *count, bool *truncated)
{
    DIR *dir = open_dir(rootfd, pid_path(pid, "fd").text);
    const struct dirent *e;
    size_t seen = 0;

    *count = 0;
    *truncated = false;
    if (!dir)
        return result_of_errno(errno);
    while (!*truncated && (e = readdir(dir))) {
        struct procfs_netfd one = {.fd = entry_number(e)};
        char link[128];
        ssize_t n = one.fd < 0 ? -1 : readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);

        *truncated = ++seen > NETFD_SCANNED;
        if (n < 0)
            continue;
        link[n] = '\0';
        if (!classify_fd(rootfd, pid, link, &one))
            continue;
        if (*count == max)
            *truncated = true;
        else
            out[(*count)++] = one;
    }
    closedir(dir);
    if (*count > 1)
        qsort(out, *count, sizeof(*out), compare_netfds);
    return PROCFS_OK;
}

/* ---- one thread, read again and again ---- */

static int open_task_file(const struct procfs_thread *t, const char *file)
{
    return openat(t->rootfd, task_path(t->pid, t->tid, file).text, O_RDONLY | O_CLOEXEC);
}

enum procfs_result procfs_thread_open(struct procfs_thread *t, int rootfd, pid_t pid, pid_t tid,
                                      bool keep_stat, struct procfs_stat *first)
{
    enum procfs_result r;

    *t = (struct procfs_thread){.rootfd = rootfd, .pid = pid, .tid = tid, .schedstat_fd = -1, .stat_fd = -1};
    t->schedstat_fd = open_task_file(t, "schedstat");
    if (t->schedstat_fd < 0 && errno != ENOENT)
        return result_of_errno(errno);
    if (keep_stat && (t->stat_fd = open_task_file(t, "stat")) < 0) {
        r = result_of_errno(errno);
        procfs_thread_close(t);
        return r;
    }
    /* Read after the opens: what answers now is what the descriptors hold. */
    r = procfs_read_stat(rootfd, pid, tid, first);
    if (r == PROCFS_OK)
        t->start_ticks = first->start_ticks;
    else
        procfs_thread_close(t);
    return r;
}

enum procfs_result procfs_thread_schedstat(const struct procfs_thread *t, struct procfs_schedstat *out)
{
    char buf[128];
    size_t len;
    enum procfs_result r;

    if (t->schedstat_fd < 0)
        return PROCFS_NONE;
    r = read_once(t->schedstat_fd, buf, sizeof(buf), &len);
    if (r != PROCFS_OK)
        return r;
    return procfs_parse_schedstat(buf, len, out) ? PROCFS_OK : PROCFS_BAD;
}

enum procfs_result procfs_thread_stat(const struct procfs_thread *t, struct procfs_stat *out)
{
    char buf[STAT_SIZE];
    size_t len;
    enum procfs_result r;

    if (t->stat_fd < 0) {
        r = procfs_read_stat(t->rootfd, t->pid, t->tid, out);
    } else {
        r = read_once(t->stat_fd, buf, sizeof(buf), &len);
        if (r == PROCFS_OK)
            r = stat_of_text(buf, len, out);
    }
    return r == PROCFS_OK && out->start_ticks != t->start_ticks ? PROCFS_GONE : r;
}

enum procfs_result procfs_thread_status(const struct procfs_thread *t, struct procfs_status *out)
{
    return procfs_read_status(t->rootfd, t->pid, t->tid, out);
}

void procfs_thread_close(struct procfs_thread *t)
{
    if (!t)
        return;
    if (t->schedstat_fd >= 0)
        close(t->schedstat_fd);
    if (t->stat_fd >= 0)
        close(t->stat_fd);
    t->schedstat_fd = -1;
    t->stat_fd = -1;
}
