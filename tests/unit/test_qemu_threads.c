/* SPDX-License-Identifier: MIT */
/* Tests of collectors/qemu_threads: threads as QEMU 7.2 under libvirt and by hand shows them, KVM and TCG
 * without names, vhost workers of both kinds, and what must not be concluded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/qemu_threads.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MAIN     "qemu-system-x86"

static struct procfs_stat thread(pid_t tid, const char *comm, uint64_t utime_ticks, uint64_t guest_ticks)
{
    struct procfs_stat st = {.tid = tid,
                             .utime_ticks = utime_ticks,
                             .guest_ticks = guest_ticks,
                             .start_ticks = 1000 + (uint64_t)tid / 10};

    snprintf(st.comm, sizeof(st.comm), "%s", comm);
    return st;
}

static void assert_thread(const struct qemu_thread *t, enum qemu_role role, int index, bool inferred)
{
    assert_string_equal(qemu_role_text(t->role), qemu_role_text(role));
    assert_int_equal(t->index, index);
    assert_int_equal(t->inferred, inferred);
}

static void names_tell(void **state)
{
    static const struct {
        const char *comm;
        enum qemu_role role;
        int index;
    } CASES[] = {
        {"CPU 0/KVM", QEMU_ROLE_VCPU, 0},
        {"CPU 12/TCG", QEMU_ROLE_VCPU, 12},
        {"CPU 255/HVF", QEMU_ROLE_VCPU, 255},
        {"ALL CPUs/TCG", QEMU_ROLE_VCPU, -1},
        {"fc_vcpu 3", QEMU_ROLE_VCPU, 3},
        {"vcpu7", QEMU_ROLE_VCPU, 7},
        {"IO iothread1", QEMU_ROLE_IOTHREAD, 1},
        {"IO mon_iothread", QEMU_ROLE_IOTHREAD, -1},
        {"IO 22", QEMU_ROLE_IOTHREAD, 22},
        {"vhost-29534", QEMU_ROLE_VHOST, 0},
        {"worker", QEMU_ROLE_WORKER, -1},
        {"vnc_worker", QEMU_ROLE_WORKER, -1},
        {"_net1_qp0", QEMU_ROLE_WORKER, -1},
        {"iou-wrk-815", QEMU_ROLE_WORKER, -1},
        {"call_rcu", QEMU_ROLE_OTHER, -1},
        {"CPU /KVM", QEMU_ROLE_OTHER, -1},
        {"CPU 0", QEMU_ROLE_OTHER, -1},
        {"CPU -1/KVM", QEMU_ROLE_OTHER, -1},
        {"CPU 99999999999", QEMU_ROLE_OTHER, -1},
        {"vhost-", QEMU_ROLE_OTHER, -1},
        {"vhost-12x", QEMU_ROLE_OTHER, -1},
        {"vcpu", QEMU_ROLE_OTHER, -1},
        {"", QEMU_ROLE_OTHER, -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct procfs_stat st[] = {thread(10, MAIN, 0, 0), thread(11, CASES[i].comm, 0, 0)};
        struct qemu_thread out[2];

        qemu_threads_classify(10, NULL, st, 2, out);
        assert_thread(&out[0], QEMU_ROLE_EMULATOR, -1, false);
        assert_thread(&out[1], CASES[i].role, CASES[i].index, false);
    }
}

static void libvirts_guest(void **state)
{
    struct procfs_stat st[] = {
        thread(29534, MAIN, 9, 0),
        thread(29538, "call_rcu", 0, 0),
        thread(29539, "IO iothread1", 0, 0),
        thread(29540, "IO iothread2", 0, 0),
        thread(29541, "IO mon_iothread", 7, 0),
        thread(29542, "CPU 0/TCG", 900, 0),
    };
    struct qemu_thread out[COUNT(st)];

    (void)state;
    qemu_threads_classify(29534, NULL, st, COUNT(st), out);
    assert_thread(&out[0], QEMU_ROLE_EMULATOR, -1, false);
    assert_thread(&out[1], QEMU_ROLE_OTHER, -1, false);
    assert_thread(&out[3], QEMU_ROLE_IOTHREAD, 2, false);
    assert_thread(&out[5], QEMU_ROLE_VCPU, 0, false);
}

/* As seen: call_rcu starts before -name is read and keeps the process's name. It is busy here, to tempt. */
static void unnamed_thread_beside_named_ones_is_no_vcpu(void **state)
{
    struct qemu_cmdline cmd = {.kind = VMM_QEMU, .accel = VMM_ACCEL_TCG, .smp_current = 2};
    struct procfs_stat st[] = {thread(10, MAIN, 9, 0), thread(11, MAIN, 5000, 10),
                               thread(12, "CPU 0/TCG", 900, 0)};
    struct qemu_thread out[COUNT(st)];

    (void)state;
    qemu_threads_classify(10, &cmd, st, COUNT(st), out);
    assert_thread(&out[1], QEMU_ROLE_OTHER, -1, false);
    assert_thread(&out[2], QEMU_ROLE_VCPU, 0, false);
}

static void kvm_without_names_is_told_by_guest_time(void **state)
{
    struct qemu_cmdline cmd = {.kind = VMM_QEMU, .accel = VMM_ACCEL_KVM, .smp_current = 2};
    struct procfs_stat st[] = {
        thread(10, MAIN, 9000, 0),  thread(14, MAIN, 70, 60),  thread(11, MAIN, 3, 0),
        thread(13, MAIN, 900, 800), thread(15, MAIN, 2000, 0), thread(16, "vhost-10", 50, 0),
    };
    struct qemu_thread out[COUNT(st)];

    (void)state;
    qemu_threads_classify(10, &cmd, st, COUNT(st), out);
    assert_thread(&out[0], QEMU_ROLE_EMULATOR, -1, false);
    assert_thread(&out[1], QEMU_ROLE_VCPU, 1, true);
    assert_thread(&out[2], QEMU_ROLE_OTHER, -1, false);
    assert_thread(&out[3], QEMU_ROLE_VCPU, 0, true);
    assert_thread(&out[4], QEMU_ROLE_OTHER, -1, false);
    assert_thread(&out[5], QEMU_ROLE_VHOST, 0, false);
}

static void number_is_not_known_while_a_vcpu_is_missing(void **state)
{
    struct qemu_cmdline cmd = {.kind = VMM_QEMU, .accel = VMM_ACCEL_KVM, .smp_current = 3};
    struct procfs_stat st[] = {thread(10, MAIN, 9, 0), thread(13, MAIN, 900, 800), thread(14, MAIN, 70, 60)};
    struct qemu_thread out[COUNT(st)];

    (void)state;
    qemu_threads_classify(10, &cmd, st, COUNT(st), out);
    assert_thread(&out[1], QEMU_ROLE_VCPU, -1, true);
    assert_thread(&out[2], QEMU_ROLE_VCPU, -1, true);
    qemu_threads_classify(10, NULL, st, COUNT(st), out);
    assert_thread(&out[1], QEMU_ROLE_VCPU, -1, true);
}

/* The work of five threads of a TCG guest with two vCPUs, in the order of their start; then which are
 * claimed. */
static void tcg_without_names_claims_only_what_stands_out(void **state)
{
    static const struct {
        uint64_t ticks[5];
        const char *claimed;
    } CASES[] = {
        {{0, 900, 700, 2, 0}, "-01--"},   {{0, 900, 700, 300, 0}, "-----"},
        {{0, 99, 90, 0, 0}, "-----"},   /* too little work to say */
        {{0, 900, 5, 3, 0}, "-?---"},   /* the second vCPU idles */
        {{0, 900, 5, 300, 0}, "-----"}, /* a busy worker behind an idle vCPU */
        {{0, 500, 500, 500, 0}, "-----"}, {{0, 0, 0, 0, 0}, "-----"},
    };
    struct qemu_cmdline cmd = {.kind = VMM_QEMU, .accel = VMM_ACCEL_TCG, .smp_current = 2};

    (void)state;
    for (size_t c = 0; c < COUNT(CASES); c++) {
        struct procfs_stat st[6] = {thread(10, MAIN, 60000, 0)};
        struct qemu_thread out[6];

        for (int i = 0; i < 5; i++)
            st[i + 1] = thread(11 + i, MAIN, CASES[c].ticks[i], 0);
        qemu_threads_classify(10, &cmd, st, 6, out);
        for (int i = 0; i < 5; i++) {
            char claim = CASES[c].claimed[i];

            if (claim == '-')
                assert_thread(&out[i + 1], QEMU_ROLE_OTHER, -1, false);
            else
                assert_thread(&out[i + 1], QEMU_ROLE_VCPU, claim == '?' ? -1 : claim - '0', true);
        }
    }
}

static void nothing_is_concluded_when_the_accelerator_is_not_known(void **state)
{
    struct qemu_cmdline cmd = {.kind = VMM_QEMU, .accel = VMM_ACCEL_UNKNOWN, .smp_current = 1};
    struct procfs_stat st[] = {thread(10, MAIN, 9, 0), thread(11, MAIN, 90000, 0)};
    struct qemu_thread out[COUNT(st)];

    (void)state;
    qemu_threads_classify(10, &cmd, st, COUNT(st), out);
    assert_thread(&out[1], QEMU_ROLE_OTHER, -1, false);
    qemu_threads_classify(99, &cmd, st, COUNT(st), out);
    assert_thread(&out[0], QEMU_ROLE_OTHER, -1, false);
    qemu_threads_classify(10, &cmd, st, 0, out);
}

static void vhost_threads_are_ranked_by_their_start(void **state)
{
    struct procfs_stat st[] = {thread(10, MAIN, 9, 0), thread(400, "vhost-10", 1, 0),
                               thread(15, "vhost-10", 1, 0), thread(14, "vhost-10", 1, 0)};
    struct qemu_thread out[COUNT(st)];
    size_t rank[3];

    (void)state;
    st[1].start_ticks = 500; /* ids wrapped: the highest is the eldest */
    qemu_threads_classify(10, NULL, st, COUNT(st), out);
    assert_thread(&out[1], QEMU_ROLE_VHOST, 0, false);
    assert_thread(&out[2], QEMU_ROLE_VHOST, 2, false);
    assert_thread(&out[3], QEMU_ROLE_VHOST, 1, false);
    qemu_vhost_rank(st + 1, 3, rank);
    assert_int_equal(rank[0], 0);
    assert_int_equal(rank[1], 2);
    assert_int_equal(rank[2], 1);
}

static void kernel_thread_names_its_owner(void **state)
{
    struct procfs_stat st = thread(812, "vhost-811", 1, 0);
    pid_t owner = 0;

    (void)state;
    assert_false(qemu_vhost_kthread_owner(&st, &owner)); /* a process that calls itself so */
    st.flags = PROCFS_PF_KTHREAD;
    assert_true(qemu_vhost_kthread_owner(&st, &owner));
    assert_int_equal(owner, 811);
    strcpy(st.comm, "vhost-0");
    assert_false(qemu_vhost_kthread_owner(&st, &owner));
    strcpy(st.comm, "vhost-811x");
    assert_false(qemu_vhost_kthread_owner(&st, &owner));
    strcpy(st.comm, "kvm-nx-lpage-re");
    assert_false(qemu_vhost_kthread_owner(&st, &owner));
}

/* Card 1 has no vhost; the back end of card 0 stands behind that of card 2. */
static void worker_is_led_to_its_queue(void **state)
{
    static const struct {
        size_t nic;
        unsigned queue;
    } EXPECTED[] = {{2, 0}, {0, 0}, {0, 1}};
    char *argv[] = {"qemu-system-x86_64",
                    "-netdev",
                    "tap,id=a,vhost=on",
                    "-netdev",
                    "tap,id=b",
                    "-netdev",
                    "tap,id=c,vhost=on,queues=2",
                    "-device",
                    "virtio-net-pci,netdev=c",
                    "-device",
                    "virtio-net-pci,netdev=b",
                    "-device",
                    "virtio-net-pci,netdev=a"};
    struct qemu_cmdline cmd;
    char err[128];
    size_t nic;
    unsigned queue;

    (void)state;
    assert_int_equal(qemu_cmdline_parse(argv, COUNT(argv), &cmd, err, sizeof(err)), 0);
    for (size_t rank = 0; rank < COUNT(EXPECTED); rank++) {
        assert_true(qemu_vhost_queue(&cmd, 3, rank, &nic, &queue));
        assert_int_equal(nic, EXPECTED[rank].nic);
        assert_int_equal(queue, EXPECTED[rank].queue);
    }
    assert_false(qemu_vhost_queue(&cmd, 3, 3, &nic, &queue));
    assert_false(qemu_vhost_queue(&cmd, 4, 0, &nic, &queue)); /* a card was plugged in */
    qemu_cmdline_free(&cmd);
}

static void process_with_too_many_threads_is_bounded(void **state)
{
    enum { N = 20000 };
    struct qemu_cmdline cmd = {.kind = VMM_QEMU, .accel = VMM_ACCEL_TCG, .smp_current = 4};
    struct procfs_stat *st = calloc(N, sizeof(*st));
    struct qemu_thread *out = calloc(N, sizeof(*out));

    (void)state;
    for (int i = 0; i < N; i++)
        st[i] = thread(10 + i, i % 2 ? "vhost-10" : MAIN, 1000, 0);
    qemu_threads_classify(10, &cmd, st, N, out);
    assert_thread(&out[1], QEMU_ROLE_VHOST, -1, false);
    assert_thread(&out[2], QEMU_ROLE_OTHER, -1, false);
    free(st);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell),
        cmocka_unit_test(libvirts_guest),
        cmocka_unit_test(unnamed_thread_beside_named_ones_is_no_vcpu),
        cmocka_unit_test(kvm_without_names_is_told_by_guest_time),
        cmocka_unit_test(number_is_not_known_while_a_vcpu_is_missing),
        cmocka_unit_test(tcg_without_names_claims_only_what_stands_out),
        cmocka_unit_test(nothing_is_concluded_when_the_accelerator_is_not_known),
        cmocka_unit_test(vhost_threads_are_ranked_by_their_start),
        cmocka_unit_test(kernel_thread_names_its_owner),
        cmocka_unit_test(worker_is_led_to_its_queue),
        cmocka_unit_test(process_with_too_many_threads_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
