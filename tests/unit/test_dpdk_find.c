/* SPDX-License-Identifier: MIT */
/*
 * Discovery of telemetry sockets in a root folder of our own making: real sockets, the kernel's list as a
 * file, a container whose /var/run is an absolute link, folders that are closed to a second user, files that
 * lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/dpdk_find.h"

#define NOBODY              65534
#define LISTEN(inode, path) "0000000000000000: 00000002 00000000 00010000 0005 01 " inode " " path "\n"

static char top[] = "/tmp/vnettop-find-XXXXXX";
static char err[256];

/* path below the test's root, every folder on the way made. */
static const char *below(const char *path)
{
    static char full[512];
    snprintf(full, sizeof full, "%s%s", top, path);
    for (char *p = full + strlen(top) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(full, 0755);
        *p = '/';
    }
    return full;
}

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(below(path), "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A socket file; nobody listens, for discovery connects to nothing. */
static void put_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(strlen(below(path)) < sizeof address.sun_path);
    memcpy(address.sun_path, below(path), strlen(below(path)) + 1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void put_link(const char *path, const char *target)
{
    assert_int_equal(symlink(target, below(path)), 0);
}

static int make_top(void **state)
{
    (void)state;
    strcpy(top + strlen(top) - 6, "XXXXXX");
    return mkdtemp(top) && chmod(top, 0755) == 0 ? 0 : -1;
}

static void remove_tree(const char *path)
{
    char command[64] = "";
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(command, sizeof command, "%s", path);
        execl("/bin/rm", "rm", "-rf", "--", command, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

static int remove_top(void **state)
{
    (void)state;
    remove_tree(top);
    return 0;
}

static struct dpdk_find find_with(const char *const *rundirs, size_t n_rundirs, const pid_t *pids,
                                  size_t n_pids)
{
    struct dpdk_find_options options = {
        .root = top, .rundirs = rundirs, .n_rundirs = n_rundirs, .pids = pids, .n_pids = n_pids};
    struct dpdk_find found;
    if (dpdk_find(&options, &found, err, sizeof err) != 0)
        fail_msg("%s", err);
    return found;
}

static struct dpdk_find find_all(void)
{
    return find_with(NULL, 0, NULL, 0);
}

static const struct dpdk_find_entry *entry_of(const struct dpdk_find *found, const char *path)
{
    for (size_t i = 0; i < found->n; i++)
        if (strcmp(found->v[i].path, path) == 0)
            return &found->v[i];
    return NULL;
}

static void test_lines_of_the_kernel(void **state)
{
    (void)state;
    static const char *const good[] = {
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711 /run/dpdk/rte/dpdk_telemetry.v2",
        "ffff9f0e8c0b1800: 00000002 00000000 00010000 0005 01 4711 /run/dpdk/a b/dpdk_telemetry.v2:12",
    };
    static const char *const bad[] = {
        "Num       RefCount Protocol Flags    Type St Inode Path",
        "",
        "0000000000000000: 00000003 00000000 00000000 0005 03 4711 /run/dpdk/rte/dpdk_telemetry.v2", /* connected
                                                                                                      */
        "0000000000000000: 00000002 00000000 00010000 0001 01 4711 /run/dpdk/rte/dpdk_telemetry.v2", /* stream
                                                                                                      */
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711 /run/dpdk/rte/telemetry",
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711 @/run/dpdk/rte/dpdk_telemetry.v2",
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711 dpdk_telemetry.v2",
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711 /run/dpdk_telemetry.v2/x",
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711 /run/dpdk_telemetry.v21",
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711 /run/dpdk_telemetry.v2:",
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711 /run/dpdk_telemetry.v2:1x",
        "0000000000000000: 00000002 00000000 00010000 0005 01 4711",
    };
    uint64_t inode = 0;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_ptr_equal(dpdk_find_unix_path(good[i], &inode), strchr(good[i], '/'));
        assert_int_equal(inode, 4711);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(dpdk_find_unix_path(bad[i], &inode));
}

static void test_nothing_there(void **state)
{
    (void)state;
    struct dpdk_find found = find_all();
    assert_true(found.n == 0 && !found.more);
    dpdk_find_free(&found);
    dpdk_find_free(NULL);
    struct dpdk_find_options nowhere = {.root = "/nonexistent-folder"};
    assert_int_equal(dpdk_find(&nowhere, &found, err, sizeof err), -1);
    assert_non_null(strstr(err, "/nonexistent-folder"));
    dpdk_find_free(&found);
}

/* All the usual folders; /var/run is a link to /run, so that each socket has two names and is one entry. */
static void test_usual_folders(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "/run/dpdk/rte/dpdk_telemetry.v2",
        "/run/dpdk/rte/dpdk_telemetry.v2:1",
        "/run/user/1000/dpdk/me/dpdk_telemetry.v2",
        "/tmp/dpdk/t/dpdk_telemetry.v2",
        "/tmp/dpdk_telemetry.v2",
        "/run/openvswitch/dpdk/ovs/dpdk_telemetry.v2",
        "/srv/a/dpdk_telemetry.v2",
        "/srv/b/dpdk/x/dpdk_telemetry.v2",
    };
    static const char *const rundirs[] = {"/srv/a", "/srv/b", "relative", "/srv/*", "/nowhere", ""};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        put_socket(paths[i]);
    put_socket("/run/dpdk/rte/telemetry"); /* the old protocol */
    put_file("/run/dpdk/liar/dpdk_telemetry.v2", "a file");
    put_link("/var/run", "/run"); /* absolute: must not lead to the real one */
    put_file("/proc/net/unix",
             LISTEN("11", "/var/run/dpdk/rte/dpdk_telemetry.v2") LISTEN("12", "/srv/gone/dpdk_telemetry.v2"));
    struct dpdk_find found = find_with(rundirs, sizeof rundirs / sizeof rundirs[0], NULL, 0);
    assert_int_equal(found.n, sizeof paths / sizeof paths[0] + 1);
    for (size_t i = 1; i < sizeof paths / sizeof paths[0]; i++) {
        const struct dpdk_find_entry *e = entry_of(&found, paths[i]);
        if (!e)
            fail_msg("not found: %s", paths[i]);
        assert_int_equal(e->state, DPDK_FIND_SOCKET);
        assert_true(!e->listening && e->ino != 0 && e->pid == 0 && e->uid == getuid());
        assert_string_equal(e->root, top);
    }
    const struct dpdk_find_entry *listed = entry_of(&found, "/var/run/dpdk/rte/dpdk_telemetry.v2");
    assert_true(listed && listed->state == DPDK_FIND_SOCKET && listed->listening);
    assert_null(entry_of(&found, paths[0]));
    const struct dpdk_find_entry *hidden = entry_of(&found, "/srv/gone/dpdk_telemetry.v2");
    assert_true(hidden && hidden->state == DPDK_FIND_HIDDEN && hidden->listening && hidden->ino == 0);
    int fd = dpdk_find_open(top, listed->path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(dpdk_find_open(top, hidden->path), -ENOENT);
    dpdk_find_free(&found);
}

/* Two containers with the same path in one network namespace, and a process whose socket file is gone. */
static void test_containers(void **state)
{
    (void)state;
    static const pid_t pids[] = {100, 200, 300};
    const char *path = "/var/run/dpdk/rte/dpdk_telemetry.v2";
    put_link("/var/run", "/run");
    put_socket("/run/dpdk/host/dpdk_telemetry.v2");
    put_file("/proc/net/unix", LISTEN("1", "/run/dpdk/host/dpdk_telemetry.v2"));
    put_socket("/proc/100/root/run/dpdk/rte/dpdk_telemetry.v2");
    put_link("/proc/100/root/var/run", "/run");
    put_socket("/proc/200/root/run/dpdk/rte/dpdk_telemetry.v2");
    put_link("/proc/200/root/var/run", "../run");
    put_file("/proc/100/net/unix", LISTEN("7", "/var/run/dpdk/rte/dpdk_telemetry.v2")
                                       LISTEN("8", "/var/run/dpdk/rte/dpdk_telemetry.v2"));
    put_file("/proc/200/net/unix", LISTEN("7", "/var/run/dpdk/rte/dpdk_telemetry.v2")
                                       LISTEN("8", "/var/run/dpdk/rte/dpdk_telemetry.v2"));
    struct dpdk_find found = find_with(NULL, 0, pids, 3);
    bool seen[2] = {false, false};
    assert_int_equal(found.n, 3);
    for (size_t i = 0; i < found.n; i++) {
        const struct dpdk_find_entry *e = &found.v[i];
        assert_true(e->state == DPDK_FIND_SOCKET && e->listening);
        if (e->pid == 0)
            continue;
        char root[300];
        snprintf(root, sizeof root, "%s/proc/%d/root", top, (int)e->pid);
        assert_string_equal(e->root, root);
        assert_string_equal(e->path, path);
        seen[e->pid / 100 - 1] = true;
        int fd = dpdk_find_open(e->root, e->path);
        struct stat st;
        assert_true(fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == e->ino);
        close(fd);
    }
    assert_true(seen[0] && seen[1]);
    dpdk_find_free(&found);
    unlink(below("/proc/200/root/run/dpdk/rte/dpdk_telemetry.v2")); /* its listener lives on */
    found = find_with(NULL, 0, pids, 2);
    assert_int_equal(found.n, 3);
    assert_int_equal(found.v[2].state, DPDK_FIND_HIDDEN);
    dpdk_find_free(&found);
}

static void test_processes_of_other_namespaces(void **state)
{
    (void)state;
    static const struct {
        const char *pid, *mnt, *net;
    } all[] = {{"self", "mnt:[1]", "net:[1]"}, {"1", "mnt:[1]", "net:[1]"},  {"30", "mnt:[2]", "net:[1]"},
               {"4", "mnt:[2]", "net:[1]"},    {"50", "mnt:[1]", "net:[3]"}, {"60", "mnt:[2]", "net:[3]"}};
    pid_t pids[8];
    size_t denied;
    char path[64];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(path, sizeof path, "/proc/%s/ns/mnt", all[i].pid);
        put_link(path, all[i].mnt);
        snprintf(path, sizeof path, "/proc/%s/ns/net", all[i].pid);
        put_link(path, all[i].net);
    }
    put_file("/proc/70x/stat", "");
    put_file("/proc/80/stat", ""); /* ended meanwhile */
    assert_int_equal(dpdk_find_pids(top, pids, 8, &denied), 3);
    assert_true(pids[0] == 4 && pids[1] == 50 && pids[2] == 60 && denied == 0);
    assert_int_equal(dpdk_find_pids(top, pids, 2, &denied), 2);
    assert_int_equal(dpdk_find_pids("/nonexistent-folder", pids, 8, &denied), 0);
}

/* What another user sees; in a child, for the way back is closed. Its failed checks are its exit status. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            _exit(__LINE__ % 250 + 1);                                                                       \
    } while (0)

static void look_as_nobody(void)
{
    struct dpdk_find found = find_all();
    const struct dpdk_find_entry *closed = entry_of(&found, "/run/dpdk/rte/dpdk_telemetry.v2");
    const struct dpdk_find_entry *second = entry_of(&found, "/run/dpdk/ovs/dpdk_telemetry.v2");
    const struct dpdk_find_entry *bare = entry_of(&found, "/tmp/dpdk_telemetry.v2");
    const struct dpdk_find_entry *user = entry_of(&found, "/run/user/1000/dpdk");
    CHECK(closed && closed->state == DPDK_FIND_DENIED && closed->by_folder && !closed->folder &&
          closed->listening);
    CHECK(closed->uid == 0 && closed->mode == 0700);
    CHECK(second && second->state == DPDK_FIND_DENIED);
    CHECK(bare && bare->state == DPDK_FIND_DENIED && !bare->by_folder && bare->uid == 0 &&
          bare->mode == 0755);
    CHECK(user && user->state == DPDK_FIND_DENIED && user->folder && user->uid == 1000 && user->mode == 0700);
    CHECK(found.n == 4); /* /run/dpdk itself is told by its two sockets */
    dpdk_find_free(&found);
    _exit(0);
}

static void test_denied_is_told(void **state)
{
    (void)state;
    int status;
    if (geteuid() != 0)
        skip();
    put_socket("/run/dpdk/rte/dpdk_telemetry.v2");
    put_socket("/run/dpdk/ovs/dpdk_telemetry.v2");
    put_socket("/tmp/dpdk_telemetry.v2");
    put_socket("/run/user/1000/dpdk/me/dpdk_telemetry.v2");
    put_file("/proc/net/unix",
             LISTEN("1", "/run/dpdk/rte/dpdk_telemetry.v2") LISTEN("2", "/run/dpdk/ovs/dpdk_telemetry.v2"));
    assert_int_equal(chmod(below("/tmp/dpdk_telemetry.v2"), 0755), 0);
    assert_int_equal(chmod(below("/run/dpdk"), 0700), 0);
    assert_int_equal(chown(below("/run/user/1000"), 1000, 1000), 0);
    assert_int_equal(chmod(below("/run/user/1000"), 0700), 0);
    struct dpdk_find found = find_all();
    assert_int_equal(found.n, 4); /* root sees all */
    for (size_t i = 0; i < found.n; i++)
        assert_int_equal(found.v[i].state, DPDK_FIND_SOCKET);
    dpdk_find_free(&found);
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
            _exit(254);
        look_as_nobody();
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0)
        fail_msg("check of line %% 250 = %d", WEXITSTATUS(status) - 1);
}

static void test_many_are_bounded(void **state)
{
    (void)state;
    char path[64];
    for (int i = 0; i < DPDK_FIND_MAX + 10; i++) {
        snprintf(path, sizeof path, "/run/dpdk/p%d/dpdk_telemetry.v2", i);
        put_socket(path);
    }
    struct dpdk_find found = find_all();
    assert_int_equal(found.n, DPDK_FIND_MAX);
    assert_true(found.more);
    dpdk_find_free(&found);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_top, remove_top)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines_of_the_kernel),
        TEST(test_nothing_there),
        TEST(test_usual_folders),
        TEST(test_containers),
        TEST(test_processes_of_other_namespaces),
        TEST(test_denied_is_told),
        TEST(test_many_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
