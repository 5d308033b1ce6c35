/* SPDX-License-Identifier: MIT */
/*
 * Finds DPDK telemetry sockets: in the kernel's list of listening sockets, in the folders DPDK uses, and in
 * the file systems of containers. Called by the dpdk collector at its slow tempo and by `vnettop sources`. It
 * connects to nothing (a connection closed too early costs the application a place) and knows nothing of the
 * protocol. What it may not look into is reported as an entry, not left out.
 */
#ifndef COLLECTORS_DPDK_FIND_H
#define COLLECTORS_DPDK_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DPDK_FIND_MAX      256 /* entries */
#define DPDK_FIND_PIDS_MAX 256 /* other namespaces looked into */
#define DPDK_FIND_PATH_MAX 512 /* longer paths are not followed; sun_path itself ends at 108 */

enum dpdk_find_state {
    DPDK_FIND_SOCKET, /* there, and we may connect: whether it answers, connecting tells */
    DPDK_FIND_DENIED, /* a socket or a folder we may not use: see owner and mode */
    DPDK_FIND_HIDDEN, /* the kernel lists it as listening, but its file is in no file system that was looked
                         into */
};

struct dpdk_find_entry {
    enum dpdk_find_state state;
    bool folder;    /* DENIED: path is a folder; which sockets it holds is unknown */
    bool by_folder; /* DENIED: uid, mode, dev and ino are those of a folder on the way, which is closed to us
                     */
    bool listening; /* the kernel lists a listener of this path; a socket file without one may be stale */
    pid_t pid;      /* the process whose root it was found under, 0 for our own */
    uid_t uid;
    mode_t mode; /* permission bits */
    dev_t dev;   /* with ino: identity; 0 for HIDDEN */
    ino_t ino;
    char root[256];                /* "/" or "/proc/PID/root": first argument of telemetry_new */
    char path[DPDK_FIND_PATH_MAX]; /* as seen from root */
};

struct dpdk_find_options {
    const char *root;           /* where proc, run and tmp are; "/" but in tests */
    const char *const *rundirs; /* n_rundirs extra folders from --dpdk-rundir */
    size_t n_rundirs;
    const pid_t *pids; /* n_pids processes whose network and mount namespaces are looked into as well */
    size_t n_pids;
};

struct dpdk_find {
    size_t n;
    bool more; /* a bound was met: there can be others */
    struct dpdk_find_entry *v;
};

/* 0, or -1 with err filled when out of memory or root cannot be opened. dpdk_find_free in both cases. */
int dpdk_find(const struct dpdk_find_options *options, struct dpdk_find *found, char *err, size_t errlen);
void dpdk_find_free(struct dpdk_find *found);

/*
 * One process for each mount or network namespace that is not our own, lowest PID first: containers, and
 * labs. Fills up to max of pids and returns how many; processes that may not be looked at are passed over and
 * counted in *denied.
 */
size_t dpdk_find_pids(const char *root, pid_t *pids, size_t max, size_t *denied);

/*
 * Opens path with O_PATH, every symbolic link on the way resolved inside root: an absolute link of a
 * container
 * (/var/run -> /run) must not lead into our own tree. A descriptor, or -errno.
 */
int dpdk_find_open(const char *root, const char *path);

/*
 * The path in one line of /proc/net/unix if that is a listening SEQPACKET socket with an absolute path that
 * ends in dpdk_telemetry.v2 or dpdk_telemetry.v2:N, else NULL. The line has no newline; *inode is the
 * socket's.
 */
const char *dpdk_find_unix_path(const char *line, uint64_t *inode);

#endif
