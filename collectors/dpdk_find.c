/* SPDX-License-Identifier: MIT */
/*
 * Discovery of DPDK telemetry sockets: see dpdk_find.h. First the kernel's lists of listening sockets, each
 * path tried in every file system given, then the folders DPDK uses. Called by the dpdk collector at its slow
 * tempo; it must not connect to anything, and every loop has a bound because names and numbers of files are
 * other people's.
 */
#include "collectors/dpdk_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(a)           (sizeof(a) / sizeof((a)[0]))
#define LISTED_MAX         256 /* telemetry listeners taken from the kernel's lists */
#define UNIX_LINES_MAX     500000
#define FOLDER_ENTRIES_MAX 1024
#define STARS_MAX          3 /* '*' in one pattern */
#define PROCESSES_MAX      65536
#define SOCKET_NAME        "dpdk_telemetry.v2"

/* Where DPDK puts its runtime folder, by the uid, version and environment of the application. '*' is one
 * name. */
static const char *const folders[] = {
    "/run/dpdk/*", "/var/run/dpdk/*",         "/run/user/*/dpdk/*",
    "/tmp/dpdk/*", "/run/openvswitch/dpdk/*", "/var/run/openvswitch/dpdk/*",
};
static const char *const files[] = {"/tmp/" SOCKET_NAME}; /* --in-memory up to 20.11 */

/* A file system to look into. */
struct place {
    char root[sizeof(((struct dpdk_find_entry *)0)->root)];
    int fd; /* O_PATH of root */
    pid_t pid;
};

struct listed {
    uint64_t
        inode; /* of the socket: the same listener is in the list of each process of its network namespace */
    char path[DPDK_FIND_PATH_MAX];
};

struct search {
    struct dpdk_find *found;
    struct place *places;
    size_t n_places;
    struct listed *listed;
    size_t n_listed;
};

/* "dpdk_telemetry.v2", or that and ":N" for further processes of one folder. */
static bool is_socket_name(const char *name)
{
    size_t n = strlen(SOCKET_NAME);
    if (strncmp(name, SOCKET_NAME, n) != 0)
        return false;
    name += n;
    if (*name == '\0')
        return true;
    size_t digits = strspn(name + 1, "0123456789");
    return *name == ':' && digits >= 1 && digits <= 5 && name[1 + digits] == '\0';
}

const char *dpdk_find_unix_path(const char *line, uint64_t *inode)
{
    /* Num: RefCount Protocol Flags Type St Inode Path */
    const char *field[7], *p = line;
    for (size_t i = 0; i < COUNT(field); i++) {
        p += strspn(p, " ");
        field[i] = p;
        p += strcspn(p, " ");
        if (p == field[i] || *p != ' ')
            return NULL;
    }
    const char *path = p + 1, *slash = strrchr(path, '/');
    unsigned long flags = strtoul(field[3], NULL, 16), type = strtoul(field[4], NULL, 16);
    if (!(flags & 0x10000) || type != 5 || *path != '/' ||
        !is_socket_name(slash + 1)) /* __SO_ACCEPTCON, SEQPACKET */
        return NULL;
    *inode = strtoull(field[6], NULL, 10);
    return path;
}

/* Opens path below the descriptor of a root; links are resolved inside it. Returns a descriptor or -errno. */
static int open_in(const struct place *place, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
    if (strcmp(place->root, "/") == 0) {
        int fd = open(path, flags | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
    }
    long fd = syscall(SYS_openat2, place->fd, path, &how, sizeof how);
    if (fd >= 0)
        return (int)fd;
    if (errno != ENOSYS) /* a kernel before 5.6 */
        return -errno;
    /* The one link that matters is /var/run; any other in the last place is refused rather than followed
     * outside. */
    if (strncmp(path, "/var/run/", 9) == 0)
        path += 4;
    fd = openat(place->fd, path + 1, flags | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : (int)fd;
}

static int open_place(struct place *place, const char *root, pid_t pid)
{
    *place = (struct place){.pid = pid, .fd = -ENAMETOOLONG};
    if (strlen(root) < sizeof place->root) {
        snprintf(place->root, sizeof place->root, "%s", root);
        place->fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        place->fd = place->fd < 0 ? -errno : place->fd;
    }
    return place->fd < 0 ? place->fd : 0;
}

int dpdk_find_open(const char *root, const char *path)
{
    struct place place;
    int error = open_place(&place, root, 0);
    if (error)
        return error;
    int fd = open_in(&place, path, O_PATH);
    close(place.fd);
    return fd;
}

/* A socket behind a closed folder is told by its path, for the folder's identity is all that is known of it.
 */
static bool is_same(const struct dpdk_find_entry *a, const struct dpdk_find_entry *b)
{
    if (a->ino == 0 || a->dev != b->dev || a->ino != b->ino)
        return false;
    return !b->by_folder || b->folder || strcmp(a->path, b->path) == 0;
}

/* Adds a copy unless it is known already. Out of room or memory: more is set. */
static void add_entry(struct dpdk_find *found, const struct dpdk_find_entry *entry)
{
    for (size_t i = 0; i < found->n; i++) {
        if (is_same(&found->v[i], entry)) {
            found->v[i].listening |= entry->listening;
            return;
        }
    }
    if (found->n == DPDK_FIND_MAX) {
        found->more = true;
        return;
    }
    if ((found->n & (found->n - 1)) == 0) { /* at each power of two */
        size_t cap = found->n ? found->n * 2 : 1;
        struct dpdk_find_entry *v = realloc(found->v, cap * sizeof *v);
        if (!v) {
            found->more = true;
            return;
        }
        found->v = v;
    }
    found->v[found->n++] = *entry;
}

static struct dpdk_find_entry new_entry(const struct place *place, const char *path, const struct stat *st)
{
    struct dpdk_find_entry e = {.pid = place->pid,
                                .uid = st->st_uid,
                                .mode = st->st_mode & 07777,
                                .dev = st->st_dev,
                                .ino = st->st_ino};
    snprintf(e.root, sizeof e.root, "%s", place->root);
    snprintf(e.path, sizeof e.path, "%s", path);
    return e;
}

/* The longest leading part of path that can be looked at: the folder that denies what lies below. */
static bool stat_denier(const struct place *place, const char *path, struct stat *st)
{
    char part[DPDK_FIND_PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash; (slash = strrchr(part, '/'));) {
        slash[slash == part] = '\0'; /* the root itself is "/" */
        int fd = open_in(place, part, O_PATH);
        if (fd >= 0) {
            bool good = fstat(fd, st) == 0;
            close(fd);
            return good;
        }
        if (slash == part)
            break;
    }
    return false;
}

static void add_denied(struct search *s, const struct place *place, const char *path, bool folder,
                       bool listening)
{
    struct stat st;
    int fd = open_in(place, path, O_PATH); /* a folder that cannot be read can still be looked at */
    bool itself = fd >= 0 && fstat(fd, &st) == 0;
    if (fd >= 0)
        close(fd);
    if (!itself && !stat_denier(place, path, &st))
        return;
    struct dpdk_find_entry e = new_entry(place, path, &st);
    e.state = DPDK_FIND_DENIED;
    e.folder = folder;
    e.by_folder = folder || !itself;
    e.listening = listening;
    add_entry(s->found, &e);
}

/* Looks at one path and adds it if it is a socket or denied. True with st filled if it is a socket. */
static bool try_socket(struct search *s, const struct place *place, const char *path, bool listening,
                       struct stat *st)
{
    int fd = open_in(place, path, O_PATH);
    if (fd == -EACCES || fd == -EPERM)
        add_denied(s, place, path, false, listening);
    if (fd < 0)
        return false;
    bool is_socket = fstat(fd, st) == 0 && S_ISSOCK(st->st_mode);
    if (is_socket) {
        struct dpdk_find_entry e = new_entry(place, path, st);
        bool denied = faccessat(fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) != 0 && errno == EACCES;
        e.state = denied ? DPDK_FIND_DENIED : DPDK_FIND_SOCKET;
        e.listening = listening;
        add_entry(s->found, &e);
    }
    close(fd);
    return is_socket;
}

/* Joins folder and name; false if that is too long to follow. */
static bool join(char path[DPDK_FIND_PATH_MAX], const char *folder, const char *name)
{
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return snprintf(path, DPDK_FIND_PATH_MAX, "%s%s%s", folder, slash, name) < DPDK_FIND_PATH_MAX;
}

/* Opens a folder for reading its names; says so if that is denied. */
static DIR *open_folder(struct search *s, const struct place *place, const char *path)
{
    int fd = open_in(place, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    if (fd == -EACCES || fd == -EPERM)
        add_denied(s, place, path, true, false);
    if (fd < 0)
        return NULL;
    DIR *dir = fdopendir(fd);
    if (!dir)
        close(fd);
    return dir;
}

/* Tries each telemetry socket of the folder itself. */
static void scan_folder(struct search *s, const struct place *place, const char *folder)
{
    char path[DPDK_FIND_PATH_MAX];
    struct stat st;
    DIR *dir = open_folder(s, place, folder);
    struct dirent *d;
    for (unsigned n = 0; dir && (d = readdir(dir)); n++) {
        if (n == FOLDER_ENTRIES_MAX) {
            s->found->more = true;
            break;
        }
        if (is_socket_name(d->d_name) && join(path, folder, d->d_name))
            try_socket(s, place, path, false, &st);
    }
    if (dir)
        closedir(dir);
}

/* Scans every folder that the pattern stands for; each '*' is one whole name. */
static void scan_pattern(struct search *s, const struct place *place, const char *pattern, int stars)
{
    char folder[DPDK_FIND_PATH_MAX], path[DPDK_FIND_PATH_MAX];
    const char *star = strstr(pattern, "/*");
    if (!star || stars == STARS_MAX) {
        scan_folder(s, place, pattern);
        return;
    }
    snprintf(folder, sizeof folder, "%.*s", star == pattern ? 1 : (int)(star - pattern), pattern);
    DIR *dir = open_folder(s, place, folder);
    struct dirent *d;
    for (unsigned n = 0; dir && (d = readdir(dir)); n++) {
        bool maybe_folder = d->d_type == DT_DIR || d->d_type == DT_LNK || d->d_type == DT_UNKNOWN;
        if (n == FOLDER_ENTRIES_MAX) {
            s->found->more = true;
            break;
        }
        if (d->d_name[0] == '.' || strchr(d->d_name, '*') || !maybe_folder || !join(path, folder, d->d_name))
            continue;
        size_t used = strlen(path);
        if (snprintf(path + used, sizeof path - used, "%s", star + 2) < (int)(sizeof path - used))
            scan_pattern(s, place, path, stars + 1);
    }
    if (dir)
        closedir(dir);
}

static void add_listed(struct search *s, const char *path, uint64_t inode)
{
    if (strlen(path) >= DPDK_FIND_PATH_MAX)
        return;
    for (size_t i = 0; i < s->n_listed; i++)
        if (s->listed[i].inode == inode)
            return;
    if (s->n_listed == LISTED_MAX) {
        s->found->more = true;
        return;
    }
    s->listed[s->n_listed].inode = inode;
    snprintf(s->listed[s->n_listed++].path, DPDK_FIND_PATH_MAX, "%s", path);
}

/* One network namespace's list of sockets. A line longer than the buffer cannot be a path we could follow. */
static void read_unix_table(struct search *s, const char *file)
{
    char line[DPDK_FIND_PATH_MAX + 128];
    FILE *f = fopen(file, "re");
    for (unsigned n = 0; f && n < UNIX_LINES_MAX && fgets(line, sizeof line, f); n++) {
        uint64_t inode;
        line[strcspn(line, "\n")] = '\0';
        const char *path = dpdk_find_unix_path(line, &inode);
        if (path)
            add_listed(s, path, inode);
    }
    if (f)
        fclose(f);
}

/* Tries a listed path in every place; returns how many different sockets or denials it led to. */
static size_t try_listed(struct search *s, const char *path)
{
    struct stat *seen = calloc(s->n_places, sizeof *seen);
    size_t n = 0;
    for (size_t i = 0; seen && i < s->n_places; i++) {
        size_t before = s->found->n, j = 0;
        bool is_socket = try_socket(s, &s->places[i], path, true, &seen[n]);
        while (is_socket && j < n && (seen[j].st_dev != seen[n].st_dev || seen[j].st_ino != seen[n].st_ino))
            j++;
        n += is_socket ? j == n : s->found->n > before;
    }
    free(seen);
    return n;
}

/* Each listed path once; where fewer files turned up than listeners, the rest is reported as hidden. */
static void try_all_listed(struct search *s)
{
    for (size_t i = 0; i < s->n_listed; i++) {
        const char *path = s->listed[i].path;
        size_t listeners = 0, first = s->n_listed;
        for (size_t j = 0; j < s->n_listed; j++) {
            if (strcmp(s->listed[j].path, path) != 0)
                continue;
            listeners++;
            first = j < first ? j : first;
        }
        if (first == i && try_listed(s, path) < listeners) {
            struct dpdk_find_entry e = new_entry(&s->places[0], path, &(struct stat){0});
            e.state = DPDK_FIND_HIDDEN;
            e.listening = true;
            add_entry(s->found, &e);
        }
    }
}

static void scan_rundirs(struct search *s, const struct dpdk_find_options *options)
{
    static const char *const below[] = {"", "/*", "/dpdk/*"};
    char pattern[DPDK_FIND_PATH_MAX];
    for (size_t i = 0; i < options->n_rundirs; i++) {
        const char *dir = options->rundirs[i];
        for (size_t j = 0; dir[0] == '/' && !strchr(dir, '*') && j < COUNT(below); j++)
            if (snprintf(pattern, sizeof pattern, "%s%s", dir, below[j]) < (int)sizeof pattern)
                scan_pattern(s, &s->places[0], pattern, 0);
    }
}

static void scan_place(struct search *s, const struct place *place)
{
    struct stat st;
    for (size_t i = 0; i < COUNT(folders); i++)
        scan_pattern(s, place, folders[i], 0);
    for (size_t i = 0; i < COUNT(files); i++)
        try_socket(s, place, files[i], false, &st);
}

/* Opens the root of another process; a refusal is an entry of its own. */
static void open_process(struct search *s, const struct dpdk_find_options *options, pid_t pid)
{
    const struct place *own = &s->places[0];
    char path[64], root[DPDK_FIND_PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    const char *prefix = strcmp(options->root, "/") == 0 ? "" : options->root;
    if (snprintf(root, sizeof root, "%s%s", prefix, path) >= (int)sizeof root)
        return;
    struct place *place = &s->places[s->n_places];
    int error = open_place(place, root, pid);
    if (error == 0) {
        s->n_places++;
    } else if (error == -EACCES || error == -EPERM) {
        snprintf(path, sizeof path, "/proc/%d", (int)pid);
        add_denied(s, own, path, true, false);
    }
}

static int start_search(struct search *s, const struct dpdk_find_options *options, char *err, size_t errlen)
{
    size_t n_pids = options->n_pids < DPDK_FIND_PIDS_MAX ? options->n_pids : DPDK_FIND_PIDS_MAX;
    s->found->more = options->n_pids > n_pids;
    s->places = calloc(1 + n_pids, sizeof *s->places);
    s->listed = calloc(LISTED_MAX, sizeof *s->listed);
    if (!s->places || !s->listed) {
        snprintf(err, errlen, "DPDK discovery: out of memory");
        return -1;
    }
    int error = open_place(&s->places[0], options->root, 0);
    if (error) {
        snprintf(err, errlen, "DPDK discovery: %s: %s", options->root, strerror(-error));
        return -1;
    }
    s->n_places = 1;
    for (size_t i = 0; i < n_pids; i++)
        open_process(s, options, options->pids[i]);
    return 0;
}

static void read_unix_tables(struct search *s, const struct dpdk_find_options *options)
{
    char file[DPDK_FIND_PATH_MAX];
    const char *prefix = strcmp(options->root, "/") == 0 ? "" : options->root;
    if (snprintf(file, sizeof file, "%s/proc/net/unix", prefix) < (int)sizeof file)
        read_unix_table(s, file);
    for (size_t i = 1; i < s->n_places; i++)
        if (snprintf(file, sizeof file, "%s/proc/%d/net/unix", prefix, (int)s->places[i].pid) <
            (int)sizeof file)
            read_unix_table(s, file);
}

int dpdk_find(const struct dpdk_find_options *options, struct dpdk_find *found, char *err, size_t errlen)
{
    struct search s = {.found = found};
    *found = (struct dpdk_find){0};
    int result = start_search(&s, options, err, errlen);
    if (result == 0) {
        read_unix_tables(&s, options);
        try_all_listed(&s);
        scan_rundirs(&s, options);
        for (size_t i = 0; i < s.n_places; i++)
            scan_place(&s, &s.places[i]);
    }
    for (size_t i = 0; i < s.n_places; i++)
        close(s.places[i].fd);
    free(s.places);
    free(s.listed);
    return result;
}

void dpdk_find_free(struct dpdk_find *found)
{
    if (!found)
        return;
    free(found->v);
    *found = (struct dpdk_find){0};
}

/* The two namespaces that decide what a process can name: "mnt:[4026531841]". */
struct namespaces {
    char mnt[48], net[48];
};

static int read_namespaces(const char *root, const char *process, struct namespaces *ns)
{
    char path[DPDK_FIND_PATH_MAX];
    const char *prefix = strcmp(root, "/") == 0 ? "" : root;
    char *to[] = {ns->mnt, ns->net};
    const char *names[] = {"mnt", "net"};
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/proc/%s/ns/%s", prefix, process, names[i]);
        ssize_t n = readlink(path, to[i], sizeof ns->mnt - 1);
        if (n < 0)
            return -errno;
        to[i][n] = '\0';
    }
    return 0;
}

static int compare_pids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

/* All process ids below root, ascending; NULL when there are none. */
static pid_t *list_processes(const char *root, size_t *n)
{
    char path[DPDK_FIND_PATH_MAX];
    pid_t *pids = NULL;
    snprintf(path, sizeof path, "%s/proc", strcmp(root, "/") == 0 ? "" : root);
    DIR *dir = opendir(path);
    struct dirent *d;
    *n = 0;
    while (dir && *n < PROCESSES_MAX && (d = readdir(dir))) {
        size_t digits = strspn(d->d_name, "0123456789");
        if (digits == 0 || digits > 9 || d->d_name[digits])
            continue;
        if ((*n & (*n - 1)) == 0) {
            pid_t *bigger = realloc(pids, (*n ? *n * 2 : 1) * sizeof *pids);
            if (!bigger)
                break;
            pids = bigger;
        }
        pids[(*n)++] = (pid_t)strtol(d->d_name, NULL, 10);
    }
    if (dir)
        closedir(dir);
    if (pids)
        qsort(pids, *n, sizeof *pids, compare_pids);
    return pids;
}

size_t dpdk_find_pids(const char *root, pid_t *pids, size_t max, size_t *denied)
{
    struct namespaces *seen = calloc(max + 2, sizeof *seen); /* our own, those taken, the candidate */
    size_t n_all = 0, n = 0;
    pid_t *all = seen && read_namespaces(root, "self", &seen[0]) == 0 ? list_processes(root, &n_all) : NULL;
    *denied = 0;
    for (size_t i = 0; i < n_all && n < max; i++) {
        char process[16];
        struct namespaces *ns = &seen[n + 1];
        snprintf(process, sizeof process, "%d", (int)all[i]);
        int error = read_namespaces(root, process, ns);
        *denied += error == -EACCES || error == -EPERM;
        size_t j = 0;
        while (j <= n && (strcmp(seen[j].mnt, ns->mnt) != 0 || strcmp(seen[j].net, ns->net) != 0))
            j++;
        if (error == 0 && j > n)
            pids[n++] = all[i];
    }
    free(all);
    free(seen);
    return n;
}
