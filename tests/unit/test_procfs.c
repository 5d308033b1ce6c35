/* SPDX-License-Identifier: MIT */
/* Tests of collectors/procfs: texts as kernels write them, texts as a hostile thread would like to have them
 * read, a recorded tree under a folder of its own, and the life and death of a real thread. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectors/procfs.h"

/* As read from a QEMU of Debian 12 on kernel 6.18, after the name. */
#define STAT_TAIL                                                                                            \
    " S 29116 29115 27042 0 -1 138412224 1961 0 0 0 26 1 0 0 30 10 4 0 58992 1465131008 12922 "              \
    "18446744073709551615 94277633945600 94277639806037 140735924288288 0 0 0 2147220087 4100 16451 1 0 0 "  \
    "-1 3 "                                                                                                  \
    "0 0 7 21 0 94277642918136 94277648122288 94278116278272 140735924292091 140735924292240 "               \
    "140735924292240 "                                                                                       \
    "140735924293596 0\n"

static bool stat_of(const char *text, struct procfs_stat *st)
{
    return procfs_parse_stat(text, strlen(text), st);
}

static void stat_is_read_field_by_field(void **state)
{
    struct procfs_stat st;

    (void)state;
    assert_true(stat_of("29251 (CPU 0/TCG)" STAT_TAIL, &st));
    assert_int_equal(st.tid, 29251);
    assert_string_equal(st.comm, "CPU 0/TCG");
    assert_int_equal(st.state, 'S');
    assert_int_equal(st.ppid, 29116);
    assert_int_equal(st.flags, 138412224);
    assert_int_equal(st.utime_ticks, 26);
    assert_int_equal(st.stime_ticks, 1);
    assert_int_equal(st.start_ticks, 58992);
    assert_int_equal(st.processor, 3);
    assert_int_equal(st.guest_ticks, 21);
    assert_false(procfs_stat_is_kthread(&st));
}

static void name_of_a_thread_cannot_shift_the_fields(void **state)
{
    static const char *const NAMES[] = {") R 1 2", "a) (b", "((", "))", "", "x y z"};
    struct procfs_stat st;
    char text[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        snprintf(text, sizeof(text), "7 (%s)%s", NAMES[i], STAT_TAIL);
        assert_true(stat_of(text, &st));
        assert_string_equal(st.comm, NAMES[i]);
        assert_int_equal(st.ppid, 29116);
        assert_int_equal(st.guest_ticks, 21);
    }
}

static void long_name_is_clipped(void **state)
{
    struct procfs_stat st;
    char text[1024], name[200];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(text, sizeof(text), "7 (%s)%s", name, STAT_TAIL);
    assert_true(stat_of(text, &st));
    assert_int_equal(strlen(st.comm), PROCFS_COMM_SIZE - 1);
}

static void kernel_thread_is_told_by_its_flag(void **state)
{
    struct procfs_stat st;

    (void)state;
    assert_true(stat_of(
        "812 (vhost-811) S 2 0 0 0 -1 2129984 0 0 0 0 0 11 0 0 20 0 1 0 9034 0 0 18446744073709551615 "
        "0 0 0 0 0 0 0 2147483647 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        &st));
    assert_true(procfs_stat_is_kthread(&st));
    assert_int_equal(st.processor, 1);
}

static void broken_stat_is_refused(void **state)
{
    static const char *const TEXTS[] = {
        "",
        "29251",
        "29251 (CPU 0/TCG",
        "29251 )CPU(" STAT_TAIL,
        "(CPU 0/TCG)" STAT_TAIL,
        "x29251 (CPU 0/TCG)" STAT_TAIL,
        "99999999999 (CPU 0/TCG)" STAT_TAIL,
        "1 (a) SS 1 1",
        "1 (a) S 1 2 3",
        "1 (a) S -1 29115 27042 0 -1 138412224 1961 0 0 0 26 1 0 0 30 10 4 0 58992 1 1 1 1 1 1 0 0 0 2 4 16 "
        "1 0 0 "
        "-1 3 0 0 7 21 0 9\n",
        "1 (a) S 1 29115 27042 0 -1 138412224 1961 0 0 0 26x 1 0 0 30 10 4 0 58992 1 1 1 1 1 1 0 0 0 2 4 16 "
        "1 0 0 "
        "-1 3 0 0 7 21 0 9\n",
        "1 (a) S 1 29115 27042 0 -1 138412224 1961 0 0 0 99999999999999999999 1 0 0 30 10 4 0 58992 1 1 1 1 "
        "1 1 0 "
        "0 0 2 4 16 1 0 0 -1 3 0 0 7 21 0 9\n",
    };
    struct procfs_stat st;

    (void)state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        assert_false(stat_of(TEXTS[i], &st));
}

static void every_cut_of_a_stat_is_safe(void **state)
{
    const char *whole = "29251 (CPU 0/TCG)" STAT_TAIL;
    size_t len = strlen(whole);
    struct procfs_stat st;

    (void)state;
    for (size_t n = 0; n < len; n++) {
        char *cut = malloc(n ? n : 1);

        memcpy(cut, whole, n);
        procfs_parse_stat(cut, n, &st);
        free(cut);
    }
}

static void schedstat_is_three_numbers(void **state)
{
    struct procfs_schedstat s;

    (void)state;
    assert_true(procfs_parse_schedstat("276410597 5530361 63\n", 21, &s));
    assert_int_equal(s.run_ns, 276410597);
    assert_int_equal(s.delay_ns, 5530361);
    assert_int_equal(s.pcount, 63);
    assert_true(procfs_parse_schedstat("18446744073709551615 0 1", 24, &s));
    assert_true(s.run_ns == UINT64_MAX);
    assert_false(procfs_parse_schedstat("18446744073709551616 0 1", 24, &s));
    assert_false(procfs_parse_schedstat("1 2", 3, &s));
    assert_false(procfs_parse_schedstat("1 2 3 4", 7, &s));
    assert_false(procfs_parse_schedstat("1 -2 3", 6, &s));
    assert_false(procfs_parse_schedstat("", 0, &s));
}

static void status_gives_what_is_there(void **state)
{
    const char *text =
        "Name:\tCPU 0/KVM\nState:\tR (running)\nTgid:\t812\nPid:\t815\nUid:\t64055\t64056\t64055\t64055\n"
        "Cpus_allowed:\tff\nCpus_allowed_list:\t2-3,8\nMems_allowed:\t1\nMems_allowed_list:\t0-1\n"
        "voluntary_ctxt_switches:\t41\nnonvoluntary_ctxt_switches:\t7\n";
    struct procfs_status st;

    (void)state;
    assert_true(procfs_parse_status(text, strlen(text), &st));
    assert_int_equal(st.has, 63);
    assert_int_equal(st.tgid, 812);
    assert_int_equal(st.uid, 64055);
    assert_int_equal(st.euid, 64056);
    assert_int_equal(procfs_cpuset_count(&st.cpus_allowed), 3);
    assert_true(procfs_cpuset_has(&st.cpus_allowed, 8));
    assert_int_equal(procfs_cpuset_count(&st.mems_allowed), 2);
    assert_int_equal(st.voluntary_switches, 41);
    assert_int_equal(st.nonvoluntary_switches, 7);
    text = "Tgid:\t5\nName:\tTgid:\n";
    assert_true(procfs_parse_status(text, strlen(text), &st));
    assert_int_equal(st.has, PROCFS_STATUS_TGID);
}

static void broken_status_is_refused(void **state)
{
    static const char *const TEXTS[] = {
        "",
        "Name:\tx\n",
        "Tgid:\tx\n",
        "Uid:\t1\n",
        "Cpus_allowed_list:\t3-1\n",
        "Cpus_allowed_list:\t4096\n",
        "voluntary_ctxt_switches:\t-1\n",
    };
    struct procfs_status st;

    (void)state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        assert_false(procfs_parse_status(TEXTS[i], strlen(TEXTS[i]), &st));
}

static void cpuset_survives_there_and_back(void **state)
{
    static const struct {
        const char *in;
        const char *out;
        unsigned count;
    } CASES[] = {
        {"", "", 0},
        {"0", "0", 1},
        {"0-3,8,10-11\n", "0-3,8,10-11", 7},
        {"63,64", "63-64", 2},
        {"0-4095", "0-4095", 4096},
        {"127-128,5", "5,127-128", 3},
        {"0-7,^3", "0-2,4-7", 7},
        {"0-127,^64-127", "0-63", 64},
        {"1,1,1-2", "1-2", 2},
    };
    struct procfs_cpuset set, again;
    char buf[PROCFS_CPUS_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_true(procfs_cpuset_parse(CASES[i].in, strlen(CASES[i].in), &set));
        assert_int_equal(procfs_cpuset_count(&set), CASES[i].count);
        assert_int_equal(procfs_cpuset_format(&set, buf, sizeof(buf)), strlen(CASES[i].out));
        assert_string_equal(buf, CASES[i].out);
        assert_true(procfs_cpuset_parse(buf, strlen(buf), &again));
        assert_true(procfs_cpuset_equal(&set, &again));
    }
}

static void broken_cpuset_is_refused(void **state)
{
    static const char *const TEXTS[] = {",",
                                        "0,",
                                        ",0",
                                        "0-",
                                        "-3",
                                        "3-1",
                                        "a",
                                        "0 1",
                                        "4096",
                                        "0-4096",
                                        "^",
                                        "1--2",
                                        "99999999999999999999"};
    struct procfs_cpuset set;

    (void)state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        assert_false(procfs_cpuset_parse(TEXTS[i], strlen(TEXTS[i]), &set));
}

static void long_cpuset_is_cut_at_a_range(void **state)
{
    struct procfs_cpuset set;
    char buf[12];

    (void)state;
    assert_true(procfs_cpuset_parse("0,2,4,6,8,10,12", 15, &set));
    assert_int_equal(procfs_cpuset_format(&set, buf, sizeof(buf)), 10);
    assert_string_equal(buf, "0,2,4,6...");
    assert_int_equal(procfs_cpuset_format(&set, buf, 2), 0);
    assert_string_equal(buf, "");
    assert_int_equal(procfs_cpuset_format(&set, buf, 0), 0);
    assert_true(procfs_cpuset_parse("0,2,4,6,10", 10, &set));
    assert_int_equal(procfs_cpuset_format(&set, buf, 11), 10);
    assert_string_equal(buf, "0,2,4,6,10");
}

static void cpuset_members_are_walked(void **state)
{
    struct procfs_cpuset set = {{0}};

    (void)state;
    assert_int_equal(procfs_cpuset_next(&set, 0), -1);
    procfs_cpuset_add(&set, 63);
    procfs_cpuset_add(&set, 4095);
    procfs_cpuset_add(&set, 4096);
    assert_int_equal(procfs_cpuset_next(&set, 0), 63);
    assert_int_equal(procfs_cpuset_next(&set, 64), 4095);
    assert_int_equal(procfs_cpuset_next(&set, 4096), -1);
    assert_false(procfs_cpuset_has(&set, 4096));
}

static void cmdline_is_cut_at_nul(void **state)
{
    static const char TEXT[] = "qemu\0-name\0g,,1 web\0\0-S";
    struct procfs_args args;

    (void)state;
    assert_int_equal(procfs_split_cmdline(TEXT, sizeof(TEXT) - 1, &args), PROCFS_OK);
    assert_int_equal(args.argc, 5);
    assert_string_equal(args.argv[2], "g,,1 web");
    assert_string_equal(args.argv[3], "");
    assert_string_equal(args.argv[4], "-S");
    assert_null(args.argv[5]);
    procfs_args_free(&args);
    procfs_args_free(&args);
    procfs_args_free(NULL);
    assert_int_equal(procfs_split_cmdline("", 0, &args), PROCFS_OK);
    assert_int_equal(args.argc, 0);
    procfs_args_free(&args);
}

static void endless_cmdline_is_refused(void **state)
{
    char *text = calloc(1, PROCFS_CMDLINE_MAX + 1);
    struct procfs_args args;

    (void)state;
    assert_int_equal(procfs_split_cmdline(text, PROCFS_ARGS_MAX + 1, &args), PROCFS_FAILED);
    assert_int_equal(errno, E2BIG);
    memset(text, 'a', PROCFS_CMDLINE_MAX + 1);
    assert_int_equal(procfs_split_cmdline(text, PROCFS_CMDLINE_MAX + 1, &args), PROCFS_FAILED);
    assert_int_equal(procfs_split_cmdline(text, PROCFS_CMDLINE_MAX, &args), PROCFS_OK);
    assert_int_equal(args.argc, 1);
    procfs_args_free(&args);
    free(text);
}

static bool iff(const char *text, char name[PROCFS_IFNAME_SIZE])
{
    return procfs_parse_fdinfo_iff(text, strlen(text), name);
}

static void tap_is_named_by_its_fdinfo(void **state)
{
    char name[PROCFS_IFNAME_SIZE];

    (void)state;
    assert_true(iff("pos:\t100\nflags:\t0104002\nmnt_id:\t58\nino:\t105\niff:\tg1-t0\n", name));
    assert_string_equal(name, "g1-t0");
    assert_false(iff("pos:\t100\nflags:\t0104002\n", name));
    assert_false(iff("iff:\t\n", name));
    assert_false(iff("iff:\tfar-too-long-for-a-link\n", name));
    assert_false(iff("xiff:\tg1\n", name));
}

/* ---- a recorded tree ---- */

struct tree {
    char root[64];
    int fd;
};

static void put(const struct tree *t, const char *path, const char *text)
{
    int fd = openat(t->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void put_dir(const struct tree *t, const char *path)
{
    assert_int_equal(mkdirat(t->fd, path, 0700), 0);
}

static int tree_setup(void **state)
{
    static const char *const DIRS[] = {"12",    "7",          "1x",        "12/task", "12/task/12",
                                       "12/fd", "12/task/15", "12/fdinfo", "7/task",  "self"};
    static const struct {
        const char *target, *path;
    } LINKS[] = {{"/dev/net/tun", "12/fd/30"},  {"/dev/net/tun", "12/fd/4"},
                 {"/dev/tap6", "12/fd/33"},     {"/dev/vhost-net", "12/fd/35"},
                 {"/dev/null", "12/fd/0"},      {"/dev/vhost-vdpa-2", "12/fd/36"},
                 {"/dev/tapestry", "12/fd/37"}, {"/dev/net/tun", "12/fd/38"}};
    struct tree *t = calloc(1, sizeof(*t));

    strcpy(t->root, "/tmp/vnettop-procfs-XXXXXX");
    assert_non_null(mkdtemp(t->root));
    t->fd = procfs_open_root(t->root);
    assert_true(t->fd >= 0);
    for (size_t i = 0; i < sizeof(DIRS) / sizeof(DIRS[0]); i++)
        put_dir(t, DIRS[i]);
    for (size_t i = 0; i < sizeof(LINKS) / sizeof(LINKS[0]); i++)
        assert_int_equal(symlinkat(LINKS[i].target, t->fd, LINKS[i].path), 0);
    put(t, "12/fdinfo/30", "pos:\t0\niff:\tg1-t0\n");
    put(t, "12/fdinfo/4", "pos:\t0\niff:\tg1-t1\n");
    put(t, "12/fdinfo/38", "pos:\t0\niff:\t\n");
    put(t, "12/task/15/stat", "15 (CPU 0/KVM)" STAT_TAIL);
    put(t, "12/task/15/schedstat", "5 6 7\n");
    put(t, "12/task/15/status", "Tgid:\t12\nCpus_allowed_list:\t0-1\n");
    *state = t;
    return 0;
}

static int tree_teardown(void **state)
{
    struct tree *t = *state;
    pid_t child = fork();

    close(t->fd);
    if (child == 0) {
        execlp("rm", "rm", "-rf", t->root, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
    free(t);
    return 0;
}

static void tree_is_listed_in_order(void **state)
{
    const struct tree *t = *state;
    pid_t *ids;
    size_t n;

    assert_int_equal(procfs_list_pids(t->fd, &ids, &n), PROCFS_OK);
    assert_int_equal(n, 2);
    assert_int_equal(ids[0], 7);
    assert_int_equal(ids[1], 12);
    free(ids);
    assert_int_equal(procfs_list_tids(t->fd, 12, &ids, &n), PROCFS_OK);
    assert_int_equal(n, 2);
    free(ids);
    assert_int_equal(procfs_list_tids(t->fd, 7, &ids, &n), PROCFS_OK);
    assert_int_equal(n, 0);
    free(ids);
    assert_int_equal(procfs_list_tids(t->fd, 99, &ids, &n), PROCFS_GONE);
    assert_null(ids);
}

static void many_ids_are_all_listed(void **state)
{
    const struct tree *t = *state;
    pid_t *ids;
    size_t n;

    for (int i = 1000; i < 1300; i++) {
        char path[32];

        snprintf(path, sizeof(path), "7/task/%d", i);
        put_dir(t, path);
    }
    assert_int_equal(procfs_list_tids(t->fd, 7, &ids, &n), PROCFS_OK);
    assert_int_equal(n, 300);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ids[i], 1000 + i);
    free(ids);
}

static void descriptors_of_the_network_are_found(void **state)
{
    const struct tree *t = *state;
    struct procfs_netfd fds[8];
    size_t n;
    bool truncated;

    assert_int_equal(procfs_list_netfds(t->fd, 12, fds, 8, &n, &truncated), PROCFS_OK);
    assert_false(truncated);
    assert_int_equal(n, 5);
    assert_int_equal(fds[0].fd, 4);
    assert_string_equal(fds[0].ifname, "g1-t1");
    assert_int_equal(fds[1].fd, 30);
    assert_int_equal(fds[1].kind, PROCFS_NETFD_TAP);
    assert_string_equal(fds[1].ifname, "g1-t0");
    assert_int_equal(fds[2].kind, PROCFS_NETFD_MACVTAP);
    assert_int_equal(fds[2].number, 6);
    assert_int_equal(fds[3].kind, PROCFS_NETFD_VHOST_NET);
    assert_int_equal(fds[4].kind, PROCFS_NETFD_VHOST_VDPA);
    assert_int_equal(fds[4].number, 2);
    assert_int_equal(procfs_list_netfds(t->fd, 12, fds, 2, &n, &truncated), PROCFS_OK);
    assert_int_equal(n, 2);
    assert_true(truncated);
    assert_int_equal(procfs_list_netfds(t->fd, 99, fds, 2, &n, &truncated), PROCFS_GONE);
}

static void recorded_thread_is_read_and_then_gone(void **state)
{
    const struct tree *t = *state;
    struct procfs_thread thread;
    struct procfs_schedstat sched;
    struct procfs_status status;
    struct procfs_stat st;

    assert_int_equal(procfs_thread_open(&thread, t->fd, 12, 15, false, &st), PROCFS_OK);
    assert_string_equal(st.comm, "CPU 0/KVM");
    assert_int_equal(procfs_thread_schedstat(&thread, &sched), PROCFS_OK);
    assert_int_equal(sched.delay_ns, 6);
    put(t, "12/task/15/schedstat", "50 60 70\n");
    assert_int_equal(procfs_thread_schedstat(&thread, &sched), PROCFS_OK);
    assert_int_equal(sched.delay_ns, 60);
    assert_int_equal(procfs_thread_status(&thread, &status), PROCFS_OK);
    assert_int_equal(procfs_cpuset_count(&status.cpus_allowed), 2);
    put(t, "12/task/15/schedstat", "soon\n");
    assert_int_equal(procfs_thread_schedstat(&thread, &sched), PROCFS_BAD);
    put(t, "12/task/15/schedstat", "");
    assert_int_equal(procfs_thread_schedstat(&thread, &sched), PROCFS_GONE);
    procfs_thread_close(&thread);
    procfs_thread_close(&thread);
}

static void reused_tid_is_not_the_same_thread(void **state)
{
    const struct tree *t = *state;
    struct procfs_thread thread;
    struct procfs_stat st;

    for (int keep = 0; keep < 2; keep++) {
        put(t, "12/task/15/stat", "15 (CPU 0/KVM)" STAT_TAIL);
        assert_int_equal(procfs_thread_open(&thread, t->fd, 12, 15, keep, &st), PROCFS_OK);
        assert_int_equal(procfs_thread_stat(&thread, &st), PROCFS_OK);
        put(t, "12/task/15/stat",
            "15 (sh) S 1 2 3 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 60000 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 17 0 "
            "0 0 0 0 0\n");
        assert_int_equal(procfs_thread_stat(&thread, &st), PROCFS_GONE);
        procfs_thread_close(&thread);
    }
}

static void kernel_without_schedstat_is_said(void **state)
{
    const struct tree *t = *state;
    struct procfs_thread thread;
    struct procfs_schedstat sched;
    struct procfs_stat st;

    assert_int_equal(unlinkat(t->fd, "12/task/15/schedstat", 0), 0);
    assert_int_equal(procfs_thread_open(&thread, t->fd, 12, 15, true, &st), PROCFS_OK);
    assert_int_equal(procfs_thread_schedstat(&thread, &sched), PROCFS_NONE);
    procfs_thread_close(&thread);
    assert_int_equal(procfs_thread_open(&thread, t->fd, 12, 16, true, &st), PROCFS_GONE);
    assert_int_equal(thread.stat_fd, -1);
}

static void file_that_does_not_fit_is_an_error(void **state)
{
    const struct tree *t = *state;
    char buf[8];
    size_t len;

    put(t, "12/comm", "1234567");
    assert_int_equal(procfs_read_file(t->fd, "12/comm", buf, sizeof(buf), &len), PROCFS_OK);
    assert_string_equal(buf, "1234567");
    put(t, "12/comm", "12345678");
    assert_int_equal(procfs_read_file(t->fd, "12/comm", buf, sizeof(buf), &len), PROCFS_FAILED);
    assert_int_equal(errno, E2BIG);
    assert_int_equal(procfs_read_file(t->fd, "12/none", buf, sizeof(buf), &len), PROCFS_GONE);
}

/* ---- the real /proc ---- */

struct worker {
    sem_t started, stop;
    pid_t tid;
};

static void *work(void *arg)
{
    struct worker *w = arg;

    w->tid = (pid_t)syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), "CPU 7/KVM) S 1");
    sem_post(&w->started);
    sem_wait(&w->stop);
    return NULL;
}

/* The kernel drops a thread's entry a moment after pthread_join: wait for the state, not for a time. */
static enum procfs_result until_not_ok(const struct procfs_thread *t)
{
    struct procfs_schedstat sched;
    enum procfs_result r = PROCFS_OK;

    for (int i = 0; i < 100000 && r == PROCFS_OK; i++)
        r = procfs_thread_schedstat(t, &sched);
    return r;
}

static void real_thread_is_followed_to_its_end(void **state)
{
    int root = procfs_open_root(NULL);
    struct procfs_thread thread;
    struct procfs_schedstat sched;
    struct procfs_status status;
    struct procfs_stat st;
    struct worker w;
    pthread_t id;

    (void)state;
    sem_init(&w.started, 0, 0);
    sem_init(&w.stop, 0, 0);
    assert_int_equal(pthread_create(&id, NULL, work, &w), 0);
    sem_wait(&w.started);
    assert_int_equal(procfs_thread_open(&thread, root, getpid(), w.tid, true, &st), PROCFS_OK);
    assert_int_equal(st.tid, w.tid);
    assert_string_equal(st.comm, "CPU 7/KVM) S 1");
    assert_true(st.start_ticks > 0);
    assert_int_equal(procfs_thread_stat(&thread, &st), PROCFS_OK);
    assert_int_equal(procfs_thread_status(&thread, &status), PROCFS_OK);
    assert_int_equal(status.tgid, getpid());
    assert_true(procfs_cpuset_has(&status.cpus_allowed, (unsigned)st.processor));
    assert_int_equal(procfs_thread_schedstat(&thread, &sched), PROCFS_OK);
    sem_post(&w.stop);
    pthread_join(id, NULL);
    assert_int_equal(until_not_ok(&thread), PROCFS_GONE);
    assert_int_equal(procfs_thread_stat(&thread, &st), PROCFS_GONE);
    procfs_thread_close(&thread);
    close(root);
}

static void own_command_line_is_read(void **state)
{
    int root = procfs_open_root(NULL);
    struct procfs_args args;
    pid_t *pids;
    size_t n;

    (void)state;
    assert_int_equal(procfs_read_cmdline(root, getpid(), &args), PROCFS_OK);
    assert_true(args.argc >= 1);
    assert_non_null(strstr(args.argv[0], "test_procfs"));
    procfs_args_free(&args);
    assert_int_equal(procfs_list_pids(root, &pids, &n), PROCFS_OK);
    assert_true(n >= 1);
    free(pids);
    close(root);
}

static void roots_that_are_none_are_refused(void **state)
{
    (void)state;
    assert_int_equal(procfs_open_root("/nonexistent"), -1);
    assert_int_equal(procfs_open_root("/dev/null"), -1);
    assert_string_equal(procfs_result_text(PROCFS_DENIED), "not permitted");
}

#define IN_TREE(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_is_read_field_by_field),
        cmocka_unit_test(name_of_a_thread_cannot_shift_the_fields),
        cmocka_unit_test(long_name_is_clipped),
        cmocka_unit_test(kernel_thread_is_told_by_its_flag),
        cmocka_unit_test(broken_stat_is_refused),
        cmocka_unit_test(every_cut_of_a_stat_is_safe),
        cmocka_unit_test(schedstat_is_three_numbers),
        cmocka_unit_test(status_gives_what_is_there),
        cmocka_unit_test(broken_status_is_refused),
        cmocka_unit_test(cpuset_survives_there_and_back),
        cmocka_unit_test(broken_cpuset_is_refused),
        cmocka_unit_test(long_cpuset_is_cut_at_a_range),
        cmocka_unit_test(cpuset_members_are_walked),
        cmocka_unit_test(cmdline_is_cut_at_nul),
        cmocka_unit_test(endless_cmdline_is_refused),
        cmocka_unit_test(tap_is_named_by_its_fdinfo),
        IN_TREE(tree_is_listed_in_order),
        IN_TREE(many_ids_are_all_listed),
        IN_TREE(descriptors_of_the_network_are_found),
        IN_TREE(recorded_thread_is_read_and_then_gone),
        IN_TREE(reused_tid_is_not_the_same_thread),
        IN_TREE(kernel_without_schedstat_is_said),
        IN_TREE(file_that_does_not_fit_is_an_error),
        cmocka_unit_test(real_thread_is_followed_to_its_end),
        cmocka_unit_test(own_command_line_is_read),
        cmocka_unit_test(roots_that_are_none_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
