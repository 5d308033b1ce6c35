/* SPDX-License-Identifier: MIT */
/*
 * The collectors of source `ovs` on a daemon that hangs, dies, is closed to the user or speaks another
 * OpenFlow, on a database that goes, and that nothing is ever asked that is not on the list. Run from the
 * project's folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collectors/ovs_threads.h"
#include "unit/ovs_reader.h"

/* ---- a daemon that does not do ---- */

static void expect_reason(struct reader *r, enum collect_result wanted, const char *text)
{
    enum collect_result result = read_once(r);
    if (result != wanted || !strstr(r->call.error.text, text))
        fail_msg("%d \"%s\", wanted %d \"%s\"", (int)result, r->call.error.text, (int)wanted, text);
}

static void test_hung_daemon(void **state)
{
    struct fake_ovs o;
    (void)state;
    for (int half = 0; half < 2; half++) {
        start_release(&o, "3.1");
        struct reader r = reader_of(&ovs_collector, o.dir);
        read_ok(&r);
        fake_ovs_hang(&o, true, half);
        r.patience_ns = SECOND / 4;
        int64_t start_ns = clock_mono_ns();
        expect_reason(&r, COLLECT_NO_ANSWER, "its main thread is busy or stopped");
        assert_true(clock_mono_ns() - start_ns < 2 * SECOND);
        expect_reason(&r, COLLECT_NO_ANSWER, "does not answer");
        fake_ovs_hang(&o, false, false);
        r.patience_ns = 5 * SECOND;
        read_ok(&r);
        assert_int_equal(r.cur->set[TABLE_PORTS].n, 7);
        close_reader(&r);
        fake_ovs_end(&o, false);
    }
}

static void test_stop_ends_a_wait(void **state)
{
    struct fake_ovs o;
    uint64_t one = 1;
    (void)state;
    start_release(&o, "3.1");
    struct reader r = reader_of(&ovs_collector, o.dir);
    r.call.stop_fd = eventfd(0, EFD_CLOEXEC);
    read_ok(&r);
    fake_ovs_hang(&o, true, false);
    assert_int_equal(write(r.call.stop_fd, &one, sizeof(one)), sizeof(one));
    int64_t start_ns = clock_mono_ns();
    assert_int_not_equal(read_once(&r), COLLECT_OK);
    assert_true(clock_mono_ns() - start_ns < 4 * SECOND);
    close(r.call.stop_fd);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

static void test_restart(void **state)
{
    struct fake_ovs o;
    (void)state;
    start_release(&o, "3.5");
    struct reader fast = reader_of(&ovs_collector, o.dir), slow = reader_of(&ovs_queues_collector, o.dir);
    read_ok(&fast);
    read_ok(&slow);
    fake_ovs_drop_all(&o, 1 << FAKE_OVS_CTL | 1 << FAKE_OVS_DB | 1 << FAKE_OVS_OF);
    expect_reason(&fast, COLLECT_FAILED, "closed the connection");
    expect_reason(&slow, COLLECT_FAILED, "closed the connection");
    read_ok(&fast);
    read_ok(&slow);
    check_ports(&fast, o.dir);
    close_reader(&fast);
    close_reader(&slow);
    fake_ovs_end(&o, true); /* as kill -9 leaves it */
    struct reader r = reader_of(&ovs_collector, o.dir);
    expect_reason(&r, COLLECT_NONE, "was left by process 4711, gone");
    for (size_t i = 0; i < FAKE_OVS_SOCKETS; i++)
        unlink(o.path[i].sun_path);
    char name[128];
    snprintf(name, sizeof(name), "%s/ovs-vswitchd.pid", o.dir);
    unlink(name);
    expect_reason(&r, COLLECT_NONE, "no ovs-vswitchd in /tmp/test_ovs.");
    rmdir(o.dir);
    expect_reason(&r, COLLECT_NONE, "--ovs-rundir names another place");
}

/* The database is another daemon: without it the ports stay, as they were, and come anew when it is back. */
static void test_database_goes(void **state)
{
    struct fake_ovs o;
    (void)state;
    start_release(&o, "3.1");
    struct reader r = reader_of(&ovs_collector, o.dir);
    read_ok(&r);
    fake_ovs_set_db(&o, NULL);
    fake_ovs_drop_all(&o, 1 << FAKE_OVS_DB);
    read_ok(&r);
    check_ports(&r, o.dir);
    assert_non_null(strstr(r.call.detail, "database"));
    close_reader(&r);
    struct reader without = reader_of(&ovs_collector, o.dir);
    read_ok(&without);
    assert_int_equal(without.cur->set[TABLE_PORTS].n, 0);
    assert_int_equal(without.cur->set[TABLE_PMDS].n, 3);
    close_reader(&without);
    struct reader slow = reader_of(&ovs_queues_collector, o.dir); /* the datapath tells its ports itself */
    read_ok(&slow);
    const struct ports_row *p0 = row_of(&slow, TABLE_PORTS, "ovs:%s:p0", o.dir);
    assert_non_null(p0);
    assert_int_equal(p0->rx_packets, 300);
    close_reader(&slow);
    fake_ovs_end(&o, false);
}

static void test_closed_to_this_user(void **state)
{
    struct fake_ovs o;
    (void)state;
    if (geteuid() != 0)
        skip();
    start_release(&o, "3.1");
    assert_int_equal(chmod(o.dir, 0755), 0);
    assert_int_equal(chmod(o.path[FAKE_OVS_CTL].sun_path, 0750), 0);
    struct reader r = reader_of(&ovs_collector, o.dir);
    assert_int_equal(seteuid(65534), 0);
    enum collect_result socket = read_once(&r);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(socket, COLLECT_DENIED);
    assert_non_null(strstr(r.call.error.text, ".ctl is root:root's, mode 0750"));
    assert_int_equal(chmod(o.dir, 0700), 0);
    assert_int_equal(seteuid(65534), 0);
    enum collect_result folder = read_once(&r);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(folder, COLLECT_DENIED);
    assert_non_null(strstr(r.call.error.text, " is root:root's, mode 0700; run vnettop as root"));
    fake_ovs_end(&o, false);
}

/* ---- OpenFlow ---- */

static void test_bridge_of_old_openflow(void **state)
{
    struct fake_ovs o;
    size_t len;
    (void)state;
    start_release(&o, "3.5");
    char *data = read_file("tests/fixtures/ovs/3.5/02/port-stats.of13.bin", &len);
    fake_ovs_set_stats(&o, data, len);
    free(data);
    o.of_versions = 1 << 1 | 1 << 4; /* 1.3 at most: no named counters */
    struct reader r = reader_of(&ovs_collector, o.dir);
    read_ok(&r);
    check_ports(&r, o.dir);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

/* A bridge that may speak 1.0 alone: its ports' counters come by dpctl, on the slow tempo. */
static void test_bridge_without_our_openflow(void **state)
{
    struct fake_ovs o;
    (void)state;
    start_release(&o, "3.5");
    o.of_versions = 1 << 1;
    struct reader fast = reader_of(&ovs_collector, o.dir), slow = reader_of(&ovs_queues_collector, o.dir);
    read_ok(&fast);
    read_ok(&slow);
    assert_non_null(strstr(fast.call.detail, "none of OpenFlow 1.3 to 1.5"));
    const struct ports_row *p0 = row_of(&fast, TABLE_PORTS, "ovs:%s:p0", o.dir);
    assert_false(row_has(p0, rx_packets));
    p0 = row_of(&slow, TABLE_PORTS, "ovs:%s:p0", o.dir);
    assert_int_equal(p0->rx_packets, 300);
    assert_int_equal(p0->tx_packets, 270);
    close_reader(&fast);
    close_reader(&slow);
    fake_ovs_end(&o, false);
}

static void test_echo_is_answered(void **state)
{
    struct fake_ovs o;
    (void)state;
    start_release(&o, "3.5");
    o.of_echo = true;
    struct reader r = reader_of(&ovs_collector, o.dir);
    read_ok(&r);
    read_ok(&r);
    check_ports(&r, o.dir);
    assert_int_equal(o.of_echoes, 1);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

/* ---- only what reads ---- */

static bool is_harmless(const char *line)
{
    static const char *const allowed[] = {
        "version",
        "dpif-netdev/pmd-stats-show ovs-netdev",
        "dpif-netdev/pmd-perf-show -nh ovs-netdev",
        "dpif-netdev/pmd-rxq-show ovs-netdev",
        "dpif-netdev/pmd-rxq-show -secs 5 ovs-netdev",
        "dpif-netdev/pmd-sleep-show ovs-netdev",
        "dpctl/show -s",
        "upcall/show",
        "coverage/show",
        "db:get_schema",
        "db:monitor_cond",
        "of:0",  /* HELLO */
        "of:3",  /* ECHO REPLY */
        "of:18", /* MULTIPART REQUEST */
    };
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        if (strcmp(line, allowed[i]) == 0)
            return true;
    return false;
}

static void test_nothing_else_is_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RELEASES; i++) {
        struct fake_ovs o;
        start_release(&o, releases[i]);
        struct reader fast = reader_of(&ovs_collector, o.dir), slow = reader_of(&ovs_queues_collector, o.dir);
        for (int n = 0; n < 3; n++) {
            read_ok(&fast);
            read_ok(&slow);
        }
        close_reader(&fast);
        close_reader(&slow);
        size_t lines = 0;
        for (char *line = strtok(o.asked, "\n"); line; line = strtok(NULL, "\n"), lines++)
            if (!is_harmless(line))
                fail_msg("%s: asked \"%s\"", releases[i], line);
        assert_true(lines > 20);
        fake_ovs_end(&o, false);
    }
}

/* ---- threads ---- */

static void test_thread_roles(void **state)
{
    static const struct {
        const char *comm;
        enum ovs_role role;
        int core;
    } names[] = {
        {"pmd-c03/id:12", OVS_ROLE_PMD, 3},
        {"pmd-c103/id:123", OVS_ROLE_PMD, 103},
        {"pmd12", OVS_ROLE_PMD, -1},
        {"handler6", OVS_ROLE_HANDLER, -1},
        {"revalidator7", OVS_ROLE_REVALIDATOR, -1},
        {"ovs-vswitchd", OVS_ROLE_NONE, -1},
        {"pmd-c", OVS_ROLE_NONE, -1},
        {"pmd", OVS_ROLE_NONE, -1},
        {"pmd-cx/id:1", OVS_ROLE_NONE, -1},
        {"handler", OVS_ROLE_NONE, -1},
        {"handler6x", OVS_ROLE_NONE, -1},
        {"urcu3", OVS_ROLE_NONE, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int core;
        assert_int_equal(ovs_thread_role(names[i].comm, &core), names[i].role);
        assert_int_equal(core, names[i].core);
    }
}

static void *spin_as_pmd(void *arg)
{
    pthread_setname_np(pthread_self(), "pmd-c01/id:9");
    for (volatile int *stop = arg; !*stop;)
        ;
    return NULL;
}

/* The fake daemon is this process: a thread of ours with a PMD's name is that PMD's. */
static void test_pmd_has_its_thread(void **state)
{
    struct fake_ovs o;
    volatile int stop = 0;
    pthread_t thread;
    char key[128], name[16] = "";
    (void)state;
    start_release(&o, "3.1");
    assert_int_equal(pthread_create(&thread, NULL, spin_as_pmd, (void *)&stop), 0);
    while (strcmp(name, "pmd-c01/id:9") != 0)
        pthread_getname_np(thread, name, sizeof(name));
    struct reader r = reader_of(&ovs_collector, o.dir);
    read_ok(&r);
    const struct pmds_row *pmd = row_of(&r, TABLE_PMDS, "pmd:%s:netdev@ovs-netdev:1", o.dir);
    assert_true(info_has(INFO(pmd, pmds_info), thread_key));
    const struct threads_row *row = row_of(&r, TABLE_THREADS, "%s", INFO(pmd, pmds_info)->thread_key);
    assert_non_null(row);
    assert_string_equal(INFO(row, threads_info)->role, "pmd");
    assert_string_equal(INFO(row, threads_info)->vm, "ovs-vswitchd");
    assert_int_equal(INFO(row, threads_info)->index, 1);
    assert_int_equal(INFO(row, threads_info)->tid, INFO(pmd, pmds_info)->tid);
    assert_true(row_has(row, run_ns) && row_has(row, involuntary));
    do
        read_ok(&r);
    while (((const struct threads_row *)row_of(&r, TABLE_THREADS, "%s", row->head.info->key))->run_ns == 0);
    snprintf(key, sizeof(key), "pmd:%s:netdev@ovs-netdev:1", o.dir);
    struct frame *frame = frame_of(&r);
    struct cell run = cell_of(frame, TABLE_PMDS, key, "run_pct");
    assert_int_equal(run.kind, CELL_F64);
    frame_free(frame);
    stop = 1;
    pthread_join(thread, NULL);
    close_reader(&r);
    fake_ovs_end(&o, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hung_daemon),
        cmocka_unit_test(test_stop_ends_a_wait),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_database_goes),
        cmocka_unit_test(test_closed_to_this_user),
        cmocka_unit_test(test_bridge_of_old_openflow),
        cmocka_unit_test(test_bridge_without_our_openflow),
        cmocka_unit_test(test_echo_is_answered),
        cmocka_unit_test(test_nothing_else_is_asked),
        cmocka_unit_test(test_thread_roles),
        cmocka_unit_test(test_pmd_has_its_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
