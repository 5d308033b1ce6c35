/* SPDX-License-Identifier: MIT */
/* Finding and entering network namespaces (see nl_netns.h). */
#include "collectors/nl_netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_PATH "/proc/thread-self/ns/net"

enum collect_result nl_netns_gone(const struct nl_netns *ns, struct collect_call *call)
{
    return collect_fail(&call->error, COLLECT_NONE,
                        "netlink: no network namespace %s (%s); `ip netns list` shows those with a name",
                        ns->name, ns->path);
}

static enum collect_result denied(const struct nl_netns *ns, struct collect_call *call)
{
    return collect_fail(
        &call->error, COLLECT_DENIED,
        "netlink: not permitted to enter network namespace %s; run as root or with CAP_SYS_ADMIN", ns->name);
}

static enum collect_result failed(const struct nl_netns *ns, struct collect_call *call, const char *what,
                                  const char *mend)
{
    return collect_fail(&call->error, COLLECT_FAILED, "netlink: network namespace %s: %s: %s; %s", ns->name,
                        what, strerror(errno), mend);
}

/* Digits alone, at least one. */
static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* The file that stands for what was asked for; false when it can be none. */
static bool find_path(struct nl_netns *ns, const char *name)
{
    int length;
    if (strncmp(name, "pid:", 4) == 0 && is_number(name + 4))
        length = snprintf(ns->path, sizeof(ns->path), "/proc/%s/ns/net", name + 4);
    else if (strchr(name, '/'))
        length = snprintf(ns->path, sizeof(ns->path), "%s", name);
    else if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    else
        length = snprintf(ns->path, sizeof(ns->path), "/run/netns/%s", name);
    return length >= 0 && (size_t)length < sizeof(ns->path);
}

static enum collect_result open_file(struct nl_netns *ns, struct collect_call *call, int *fd)
{
    /* O_NONBLOCK: a path may be anything, and a fifo would hang. */
    *fd = open(ns->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd >= 0)
        return COLLECT_OK;
    if (errno == ENOENT || errno == ESRCH || errno == ENOTDIR)
        return nl_netns_gone(ns, call);
    if (errno == EACCES || errno == EPERM)
        return denied(ns, call);
    return failed(ns, call, ns->path, "check the name");
}

static void identify(struct nl_netns *ns, const struct stat *st)
{
    ns->inode = st->st_ino;
    ns->device = st->st_dev;
}

/* Enters fd's namespace, runs open there and goes back by back_fd. */
static enum collect_result run_inside(struct nl_netns *ns, int fd, int back_fd,
                                      enum collect_result (*open_there)(void *, struct collect_call *),
                                      void *arg, struct collect_call *call)
{
    if (setns(fd, CLONE_NEWNET) < 0)
        return errno == EPERM ? denied(ns, call)
                              : failed(ns, call, ns->path, "it is no network namespace's file");
    enum collect_result result = open_there(arg, call);
    if (setns(back_fd, CLONE_NEWNET) < 0)
        return failed(ns, call, "no way back", "start vnettop again");
    return result;
}

enum collect_result nl_netns_open(const char *name, struct nl_netns *ns,
                                  enum collect_result (*open_there)(void *, struct collect_call *), void *arg,
                                  struct collect_call *call)
{
    struct stat st;
    *ns = (struct nl_netns){.own = name == NULL};
    snprintf(ns->name, sizeof(ns->name), "%s", name ? name : "self");
    if (ns->own) {
        if (stat(OWN_PATH, &st) == 0)
            identify(ns, &st);
        return open_there(arg, call);
    }
    if (!find_path(ns, name))
        return collect_fail(&call->error, COLLECT_FAILED,
                            "netlink: \"%.60s\" names no network namespace; give a name, a path or pid:N",
                            name);
    int fd, back_fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
    if (back_fd < 0)
        return failed(ns, call, OWN_PATH, "mount /proc");
    enum collect_result result = open_file(ns, call, &fd);
    if (result == COLLECT_OK) {
        if (fstat(fd, &st) == 0)
            identify(ns, &st);
        result = run_inside(ns, fd, back_fd, open_there, arg, call);
        close(fd);
    }
    close(back_fd);
    return result;
}

bool nl_netns_alive(const struct nl_netns *ns)
{
    struct stat st;
    return ns->own || (stat(ns->path, &st) == 0 && st.st_ino == ns->inode && st.st_dev == ns->device);
}

const char *nl_netns_text(const struct nl_netns *ns, char *text, size_t size)
{
    if (ns->own)
        snprintf(text, size, "this namespace");
    else
        snprintf(text, size, "namespace %s", ns->name);
    return text;
}
