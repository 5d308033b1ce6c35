/* SPDX-License-Identifier: MIT */
/*
 * Every rule's sound and its silence, over frames made by hand: the healthy host alone, with one thing wrong,
 * with it just not wrong enough, and with a number missing. Each case names all rules that may speak.
 */
#include "unit/hand_frame.h"

#include <ctype.h>
#include <stdlib.h>

#include "src/rules.h"

/* --- looking --- */

static struct finding_list look(struct hand *hand)
{
    struct finding_list list = {0};
    findings_look(hand_frame(hand), &list);
    return list;
}

/* "a,b": ids in the order found, each once. */
static void ids_of(char *out, size_t size, const struct finding_list *list)
{
    out[0] = '\0';
    for (size_t i = 0; i < list->n; i++) {
        const char *id = list->findings[i].rule->id;
        if (i > 0 && list->findings[i - 1].rule == list->findings[i].rule)
            continue;
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", used ? "," : "", id);
    }
}

static const struct finding *find(const struct finding_list *list, const char *rule)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->findings[i].rule->id, rule) == 0)
            return &list->findings[i];
    fail_msg("no finding of %s", rule);
    return NULL;
}

typedef void change_fn(struct hand *hand);

/* One host and what must be found on it. */
struct expected {
    change_fn *change;
    const char *rules;         /* all that speak, "" = none */
    const char *object;        /* of the last of them; NULL = not asked */
    const char *text, *advice; /* parts of its sentence and command; "" = no command */
};

static void expect(const struct expected *e)
{
    char ids[512];
    struct hand hand = hand_healthy();
    if (e->change)
        e->change(&hand);
    struct finding_list list = look(&hand);
    ids_of(ids, sizeof(ids), &list);
    if (strcmp(ids, e->rules) != 0)
        fail_msg("found '%s' (%s), expected '%s'", ids, list.n ? list.findings[0].text : "", e->rules);
    const char *last = strrchr(e->rules, ',');
    const struct finding *f = *e->rules ? find(&list, last ? last + 1 : e->rules) : NULL;
    if (e->object)
        assert_string_equal(f->object, e->object);
    if (e->text && !strstr(f->text, e->text))
        fail_msg("'%s' does not say '%s'", f->text, e->text);
    if (e->advice && !(*e->advice ? strstr(f->advice, e->advice) != NULL : f->advice[0] == '\0'))
        fail_msg("'%s' does not advise '%s'", f->advice, e->advice);
    finding_list_free(&list);
    hand_free(&hand);
}

static void expect_all(const struct expected *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect(&cases[i]);
}

#define EXPECT(...)                                                                                          \
    do {                                                                                                     \
        const struct expected cases_[] = {__VA_ARGS__};                                                      \
        expect_all(cases_, sizeof(cases_) / sizeof(cases_[0]));                                              \
    } while (0)
#define CHANGE(name) static void name(struct hand *hand)

/* --- silence --- */

static void test_healthy_host_is_silent(void **state)
{
    (void)state;
    EXPECT({NULL, "", NULL, NULL, NULL});
}

/* The same host seen for the first time has no rates, and no findings. */
static void test_first_sample_is_silent(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    PORT_RISE(&hand, TAP1, tx_dropped, 50000);
    hand_run(&hand, VM1 "/vcpu/0", 20, 80);
    struct pair pair = {.feed = "hand", .cur = hand.cur};
    struct frame *frame = frame_new(&pair, 1, HAND_NS, HAND_NS, 0);
    struct finding_list list = {0};
    findings_look(frame, &list);
    assert_int_equal(list.n, 0);
    frame_free(frame);
    hand_free(&hand);
}

static void everything_wrong(struct hand *hand)
{
    hand_run(hand, VM1 "/vcpu/0", 20, 80);
    hand_run(hand, "ovs-vswitchd/pmd/0", 80, 20);
    PORT_RISE(hand, TAP1, tx_dropped, 50000);
    PORT_RISE(hand, TAP1, qdisc_drops, 500);
    PORT_RISE(hand, ETH0, rx_missed, 50000);
    PORT_RISE(hand, VHU1, tx_dropped, 50000);
    PORT_RISE(hand, VHU1, tx_failure_drops, 50000);
    RISE(hand, datapaths, DATAPATHS, "dp:1", lost, 100);
    RISE(hand, cpus, CPUS, "cpu:5", softnet_dropped, 100);
}

/* What a source told that does not answer any more is no finding: it may be long over. */
static void test_old_numbers_are_silent(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    everything_wrong(&hand);
    struct finding_list list = look(&hand);
    assert_true(list.n >= 8);
    finding_list_free(&list);
    struct pair pair = {.feed = "hand", .cur = hand.cur, .prev = hand.prev, .stale_ns = 3 * SECOND};
    struct frame *frame = frame_new(&pair, 1, HAND_NS + 4 * SECOND, HAND_NS, 0);
    findings_look(frame, &list);
    assert_int_equal(list.n, 0);
    frame_free(frame);
    finding_list_free(&list);
    hand_free(&hand);
}

/* Sources that are not there: each table left out alone, on a host where much is wrong. Nothing crashes, and
 * what is said has no number that is none. */
static void test_each_table_missing(void **state)
{
    (void)state;
    for (int table = 0; table < TABLES_N; table++) {
        struct hand hand = hand_healthy();
        everything_wrong(&hand);
        hand.prev->set[table].n = hand.cur->set[table].n = 0;
        struct finding_list list = look(&hand);
        for (size_t i = 0; i < list.n; i++) {
            assert_null(strstr(list.findings[i].text, "nan"));
            assert_null(strstr(list.findings[i].advice, "-1"));
        }
        finding_list_free(&list);
        hand_free(&hand);
    }
}

/* Counters that went back are no loss. */
static void test_restart_is_silent(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    everything_wrong(&hand);
    struct ports_row *row = hand_find(hand.cur, TABLE_PORTS, TAP1);
    row->rx_packets = 5;
    row = hand_find(hand.cur, TABLE_PORTS, ETH0);
    row->rx_packets = 5;
    struct finding_list list = look(&hand);
    for (size_t i = 0; i < list.n; i++) {
        assert_null(strstr(list.findings[i].text, "tap1"));
        assert_null(strstr(list.findings[i].text, "eth0"));
    }
    finding_list_free(&list);
    hand_free(&hand);
}

/* --- waiting for a CPU --- */

CHANGE(steal_9)
{
    hand_run(hand, VM1 "/vcpu/0", 80, 9.9);
}

CHANGE(steal_15)
{
    hand_run(hand, VM1 "/vcpu/0", 80, 15);
    hand_thread(hand, "qemu-img", "other", 0, 2, "0-15", 14, 0);
}

CHANGE(steal_15_alone)
{
    hand_run(hand, VM1 "/vcpu/0", 80, 15);
}

CHANGE(steal_of_plain)
{
    hand_run(hand, PLAIN "/vcpu/0", 40, 30);
    THREAD_GAUGE(hand, VM1 "/vhost/0", cpu, UINT64_C(7));
    hand_thread(hand, "make", "other", 0, 6, "0-15", 28, 0);
}

CHANGE(steal_unknown)
{
    steal_15(hand);
    UNKNOWN(hand, threads, THREADS, VM1 "/vcpu/0", delay_ns);
}

CHANGE(steal_where_unknown)
{
    steal_15(hand);
    UNKNOWN(hand, threads, THREADS, VM1 "/vcpu/0", cpu);
}

/* Which vCPU it is nobody knows, but its thread is known. */
CHANGE(steal_of_unnumbered)
{
    steal_15(hand);
    UNKNOWN_FACT(hand, threads, THREADS, VM1 "/vcpu/0", index);
}

CHANGE(steal_among_many)
{
    hand_run(hand, VM1 "/vcpu/0", 2, 90);
    for (unsigned i = 0; i < 12; i++)
        hand_thread(hand, "some-program-with-a-name", "other", i, 2, "0-15", 7, 0);
}

CHANGE(steal_by_quota)
{
    hand_run(hand, VM1 "/vcpu/0", 50, 48);
    hand_cpu_ticks(hand, 2, 50, 0);
    VM_FACT(hand, VM1, cpu_quota, "50000/100000");
}

/* The CPU is busy with something else: a quota is not to blame. */
CHANGE(steal_with_quota)
{
    hand_run(hand, VM1 "/vcpu/0", 50, 48);
    VM_FACT(hand, VM1, cpu_quota, "90000/100000");
}

CHANGE(steal_no_room)
{
    steal_15(hand);
    for (unsigned cpu = 0; cpu < 16; cpu++)
        hand_cpu_ticks(hand, cpu, 40, 0);
}

static void test_vcpu_steal(void **state)
{
    (void)state;
    EXPECT({steal_9, "", NULL, NULL, NULL},
           {steal_15, "vcpu-steal", "vm1/0",
            "vm1/0 waits 15 % of the time for CPU 2, where qemu-img other/0 14 % ran meanwhile",
            "virsh vcpupin vm1 0 3"},
           {steal_15_alone, "vcpu-steal", "vm1/0", "other tasks of the host", "virsh vcpupin vm1 0 3"},
           {steal_of_plain, "vcpu-steal", "plain/0",
            "waits 30 % of the time for CPU 6, where make other/0 28 %", "taskset -pc 3 9000"},
           {steal_unknown, "", NULL, NULL, NULL}, {steal_where_unknown, "", NULL, NULL, NULL},
           {steal_of_unnumbered, "vcpu-steal", "vm1", "vm1 waits 15 %", "taskset -pc 3 9000"},
           {steal_among_many, "vcpu-steal", "vm1/0",
            "some-program-with-a-name other/5 7 %, 6 more ran meanwhile", NULL},
           {steal_by_quota, "vcpu-steal", "vm1/0",
            "held back 48 % of the time by its CPU quota (50000/100000 us)",
            "virsh schedinfo vm1 --live vcpu_quota=-1"},
           {steal_with_quota, "vcpu-steal", "vm1/0", "waits 48 %", "virsh vcpupin vm1 0 3"},
           {steal_no_room, "vcpu-steal", "vm1/0", "waits 15 %", ""});
}

static void test_steal_is_bad_from_30(void **state)
{
    (void)state;
    for (int steal = 29; steal <= 30; steal++) {
        struct hand hand = hand_healthy();
        hand_run(&hand, VM1 "/vcpu/0", 60, steal);
        struct finding_list list = look(&hand);
        assert_int_equal(list.findings[0].severity, steal == 29 ? SEVERITY_WATCH : SEVERITY_BAD);
        assert_true(fabs(list.findings[0].value - steal) < 1e-6);
        finding_list_free(&list);
        hand_free(&hand);
    }
}

CHANGE(pmd_waits_2)
{
    hand_run(hand, "ovs-vswitchd/pmd/0", 97, 2.9);
}

CHANGE(pmd_waits_8)
{
    hand_run(hand, "ovs-vswitchd/pmd/0", 92, 8);
    RISE(hand, threads, THREADS, "ovs-vswitchd/pmd/0", involuntary, 250);
    hand_thread(hand, "backup", "other", 0, 0, "0-15", 7, 0);
}

CHANGE(lcore_waits)
{
    hand_thread(hand, "testpmd", "lcore", 15, 15, "15", 80, 20);
}

static void test_poller_preempted(void **state)
{
    (void)state;
    EXPECT(
        {pmd_waits_2, "", NULL, NULL, NULL},
        {pmd_waits_8, "poller-preempted", "pmd/0",
         "pmd/0 waits 8 % of the time for CPU 0, where backup other/0 7 % ran meanwhile; it is preempted 250 "
         "times/s",
         "isolcpus"},
        {lcore_waits, "poller-preempted", "testpmd lcore/15", "waits 20 % of the time for CPU 15", NULL});
}

/* --- sharing a CPU --- */

CHANGE(two_on_one)
{
    THREAD_FACT(hand, VM10 "/vcpu/0", allowed_cpus, "2");
    THREAD_GAUGE(hand, VM10 "/vcpu/0", cpu, UINT64_C(2));
    hand_run(hand, VM1 "/vcpu/0", 52, 8);
    hand_run(hand, VM10 "/vcpu/0", 48, 8);
}

CHANGE(two_on_one_at_104)
{
    two_on_one(hand);
    hand_run(hand, VM1 "/vcpu/0", 50, 4);
    hand_run(hand, VM10 "/vcpu/0", 46, 4);
}

CHANGE(one_of_two_idles)
{
    two_on_one(hand);
    hand_run(hand, VM1 "/vcpu/0", 95, 5);
    hand_run(hand, VM10 "/vcpu/0", 9, 5);
}

CHANGE(two_may_choose)
{
    two_on_one(hand);
    THREAD_FACT(hand, VM10 "/vcpu/0", allowed_cpus, "2-3");
}

CHANGE(two_on_one_unknown)
{
    two_on_one(hand);
    UNKNOWN(hand, threads, THREADS, VM10 "/vcpu/0", run_ns);
}

/* They wait for somebody else: neither has much of the CPU. */
CHANGE(two_on_one_of_anothers)
{
    two_on_one(hand);
    hand_run(hand, VM1 "/vcpu/0", 29, 50);
    hand_run(hand, VM10 "/vcpu/0", 30, 50);
}

CHANGE(six_on_one)
{
    for (unsigned i = 0; i < 6; i++)
        hand_thread(hand, VM10, "worker", i, 13, "13", 16, 4);
}

static void test_cpu_shared(void **state)
{
    (void)state;
    EXPECT({two_on_one, "cpu-shared", "CPU 2",
            "CPU 2 is the only one for 2 threads that want 116 % of it: vm1/0 (run 52 %, waits 8 %), vm10/0 "
            "(run "
            "48 %, waits 8 %)",
            "virsh vcpupin vm10 0 3"},
           {two_on_one_at_104, "", NULL, NULL, NULL}, {one_of_two_idles, "", NULL, NULL, NULL},
           {two_may_choose, "", NULL, NULL, NULL}, {two_on_one_of_anothers, "vcpu-steal", NULL, NULL, NULL},
           {two_on_one_unknown, "", NULL, NULL, NULL},
           {six_on_one, "cpu-shared", "CPU 13", "only one for 6 threads that want 120 % of it: vm10 worker/0",
            "virsh emulatorpin vm10 "});
}

CHANGE(vcpu_on_pmd)
{
    THREAD_FACT(hand, VM1 "/vcpu/1", allowed_cpus, "0");
    THREAD_GAUGE(hand, VM1 "/vcpu/1", cpu, UINT64_C(0));
    hand_run(hand, VM1 "/vcpu/1", 48, 9);
    hand_run(hand, "ovs-vswitchd/pmd/0", 52, 2);
}

CHANGE(two_lcores)
{
    hand_thread(hand, "testpmd", "lcore", 1, 15, "15", 50, 2);
    hand_thread(hand, "pktgen", "lcore", 2, 15, "15", 50, 2.5);
    hand_run(hand, "pktgen/lcore/2", 52, 2.5);
}

static void test_poller_shares(void **state)
{
    (void)state;
    EXPECT({vcpu_on_pmd, "poller-shares-cpu", "CPU 0", "vm1/1 (run 48 %, waits 9 %)", "virsh vcpupin vm1 1 "},
           {two_lcores, "poller-shares-cpu", "CPU 15", "testpmd lcore/1", "taskset -pc "});
}

CHANGE(sibling_busy)
{
    hand_thread(hand, VM1, "vcpu", 2, 1, "1-5", 60, 0);
}

CHANGE(sibling_49)
{
    hand_thread(hand, VM1, "vcpu", 2, 1, "1-5", 49, 0);
}

CHANGE(sibling_unknown)
{
    sibling_busy(hand);
    UNKNOWN_FACT(hand, cpus, CPUS, "cpu:0", siblings);
}

CHANGE(poller_is_sibling)
{
    hand_thread(hand, "ovs-vswitchd", "pmd", 1, 1, "1", 99, 0);
}

static void test_smt_sibling(void **state)
{
    (void)state;
    EXPECT({sibling_busy, "smt-sibling", "pmd/0 and vm1/2",
            "pmd/0 polls on CPU 0 and vm1/2 runs 60 % on CPU 1, the other half of that core",
            "virsh vcpupin vm1 2 3"},
           {sibling_49, "", NULL, NULL, NULL}, {sibling_unknown, "", NULL, NULL, NULL});
    struct hand hand = hand_healthy();
    poller_is_sibling(&hand);
    struct finding_list list = look(&hand);
    assert_int_equal(list.n, 1); /* once, not each from its side */
    assert_string_equal(list.findings[0].object, "pmd/0 and pmd/1");
    finding_list_free(&list);
    hand_free(&hand);
}

/* --- floating --- */

CHANGE(vm_floats)
{
    THREAD_FACT(hand, PLAIN "/vcpu/0", allowed_cpus, "0-15");
}

CHANGE(vm_floats_idle)
{
    vm_floats(hand);
    hand_run(hand, PLAIN "/vcpu/0", 19, 0);
}

/* What is left to it is nobody's own. */
CHANGE(vm_floats_elsewhere)
{
    THREAD_FACT(hand, PLAIN "/vcpu/0", allowed_cpus, "1,3,5-7,9,11,13-15");
}

CHANGE(vm_floats_with_libvirt)
{
    THREAD_FACT(hand, VM1 "/vcpu/0", allowed_cpus, "0-15");
}

/* All float: nobody has a CPU of his own to be disturbed on. */
CHANGE(all_float)
{
    static const char *const all[] = {VM1 "/vcpu/0",       VM1 "/vcpu/1",   VM10 "/vcpu/0",
                                      VM10 "/vcpu/1",      PLAIN "/vcpu/0", "ovs-vswitchd/pmd/0",
                                      "ovs-vswitchd/pmd/8"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        THREAD_FACT(hand, all[i], allowed_cpus, "0-15");
    hand_run(hand, "ovs-vswitchd/pmd/0", 20, 0);
    hand_run(hand, "ovs-vswitchd/pmd/8", 20, 0);
}

static void test_floating(void **state)
{
    (void)state;
    EXPECT({vm_floats, "floating-vcpus", "plain",
            "plain floats over CPUs 0-15, among them the one of pmd/0; its vCPUs run 40 %", "taskset -pc "},
           {vm_floats_idle, "", NULL, NULL, NULL}, {vm_floats_elsewhere, "", NULL, NULL, NULL},
           {vm_floats_with_libvirt, "floating-vcpus", "vm1", "the one of pmd/0", "virsh vcpupin vm1 0 "},
           {all_float, "", NULL, NULL, NULL});
}

/* --- helpers on a CPU that is somebody's own --- */

CHANGE(emulator_on_vcpu)
{
    THREAD_GAUGE(hand, VM1 "/emulator/0", cpu, UINT64_C(2));
    hand_run(hand, VM1 "/emulator/0", 20, 0);
    hand_run(hand, VM1 "/vcpu/0", 70, 6);
}

CHANGE(emulator_on_vcpu_14)
{
    emulator_on_vcpu(hand);
    hand_run(hand, VM1 "/emulator/0", 14, 0);
}

/* Nobody suffers. */
CHANGE(emulator_on_vcpu_that_does_not_wait)
{
    emulator_on_vcpu(hand);
    hand_run(hand, VM1 "/vcpu/0", 70, 4);
}

CHANGE(vhost_on_vcpu)
{
    THREAD_GAUGE(hand, VM1 "/vhost/0", cpu, UINT64_C(2));
    hand_run(hand, VM1 "/vcpu/0", 60, 9);
}

CHANGE(iothread_on_vcpu)
{
    hand_thread(hand, VM1, "iothread", 1, 2, "0-15", 30, 0);
    hand_run(hand, VM1 "/vcpu/0", 60, 9);
}

CHANGE(plain_emulator_on_vcpu)
{
    THREAD_GAUGE(hand, PLAIN "/emulator/0", cpu, UINT64_C(2));
    hand_run(hand, PLAIN "/emulator/0", 20, 0);
    hand_run(hand, VM1 "/vcpu/0", 70, 6);
}

CHANGE(interrupts_on_pmd)
{
    FACT(hand, cpus, CPUS, "cpu:0", irqs, "eth0(2)");
    hand_cpu_ticks(hand, 0, 0, 12);
}

CHANGE(interrupts_on_pmd_9)
{
    interrupts_on_pmd(hand);
    hand_cpu_ticks(hand, 0, 0, 9);
}

CHANGE(interrupts_on_idle)
{
    FACT(hand, cpus, CPUS, "cpu:5", irqs, "eth0(2)");
    hand_cpu_ticks(hand, 5, 10, 80);
}

static void test_helper_on_cpu(void **state)
{
    (void)state;
    EXPECT(
        {emulator_on_vcpu, "helper-on-busy-cpu", "vm1 emulator/0 on vm1/0",
         "vm1 emulator/0 runs 20 % on CPU 2, the only one of vm1/0, which waits 6 % of the time",
         "virsh emulatorpin vm1 3"},
        {emulator_on_vcpu_14, "", NULL, NULL, NULL},
        {emulator_on_vcpu_that_does_not_wait, "", NULL, NULL, NULL},
        {vhost_on_vcpu, "helper-on-busy-cpu", "vm1 vhost/0 on vm1/0", "runs 40 %", "virsh emulatorpin vm1 "},
        {iothread_on_vcpu, "helper-on-busy-cpu", "vm1 iothread/1 on vm1/0", NULL, "virsh iothreadpin vm1 1 "},
        {plain_emulator_on_vcpu, "helper-on-busy-cpu", "plain emulator/0 on vm1/0", NULL, "taskset -pc "},
        {interrupts_on_pmd, "helper-on-busy-cpu", "interrupts on CPU 0",
         "CPU 0, the only one of pmd/0, spends 12 % on soft interrupts and serves eth0(2)", "smp_affinity"},
        {interrupts_on_pmd_9, "", NULL, NULL, NULL}, {interrupts_on_idle, "", NULL, NULL, NULL});
}

CHANGE(vhost_full)
{
    hand_run(hand, VM1 "/vhost/0", 97, 1);
}

CHANGE(vhost_94)
{
    hand_run(hand, VM1 "/vhost/0", 94.9, 1);
}

static void test_vhost_saturated(void **state)
{
    (void)state;
    EXPECT({vhost_full, "vhost-saturated", "vm1 vhost/0", "97 % of the time", "virsh edit vm1"},
           {vhost_94, "", NULL, NULL, NULL});
}

/* --- the host and the observer --- */

CHANGE(host_stolen)
{
    RISE(hand, cpus, CPUS, "cpu:5", steal_ticks, 15);
}

CHANGE(host_stolen_9)
{
    RISE(hand, cpus, CPUS, "cpu:5", steal_ticks, 9);
}

CHANGE(backlog_full)
{
    RISE(hand, cpus, CPUS, "cpu:5", softnet_dropped, 300);
}

CHANGE(squeezed)
{
    RISE(hand, cpus, CPUS, "cpu:5", softnet_squeezed, 200);
}

CHANGE(squeezed_199)
{
    RISE(hand, cpus, CPUS, "cpu:5", softnet_squeezed, 199);
}

/* Of all CPUs: those of threads that carry nothing are left out. */
CHANGE(clocked_by_load)
{
    for (unsigned cpu = 0; cpu < 16; cpu++) {
        char key[16];
        snprintf(key, sizeof(key), "cpu:%u", cpu);
        FACT(hand, cpus, CPUS, key, governor, "schedutil");
    }
}

CHANGE(clocked_fast)
{
    clocked_by_load(hand);
    static const char *const carriers[] = {"cpu:0", "cpu:2",  "cpu:4",  "cpu:6",
                                           "cpu:8", "cpu:10", "cpu:12", "cpu:14"};
    for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
        FACT(hand, cpus, CPUS, carriers[i], governor, "performance");
}

/* Threads run 19 %, or their guests carry 9999 packets a second; PMDs poll and are busy. */
CHANGE(clocked_by_load_idle)
{
    static const char *const ports[] = {VHU1, TAP1, VHU10, TAP10, VF};
    FACT(hand, cpus, CPUS, "cpu:6", governor, "powersave"); /* vm1's vhost worker and plain's vCPU */
    FACT(hand, cpus, CPUS, "cpu:10", governor, "powersave");
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
        hand_traffic(hand, ports[i], 4999, 5000);
    hand_traffic(hand, MACV, 4999, 5000);
}

CHANGE(clocked_by_load_10000)
{
    clocked_by_load_idle(hand);
    hand_traffic(hand, VF, 5000, 5000);
}

CHANGE(clocked_by_load_19)
{
    clocked_by_load_10000(hand);
    hand_run(hand, VM10 "/vcpu/0", 19, 0);
}

CHANGE(poller_of_49)
{
    FACT(hand, cpus, CPUS, "cpu:0", governor, "powersave");
    hand_run(hand, "ovs-vswitchd/pmd/0", 49, 0);
}

CHANGE(sleeps_deep)
{
    FACT(hand, cpus, CPUS, "cpu:6", idle_exit_us, UINT64_C(133));
    RISE(hand, cpus, CPUS, "cpu:6", deep_sleeps, 100);
    RISE(hand, cpus, CPUS, "cpu:3", deep_sleeps, 4000); /* nothing runs there */
}

CHANGE(sleeps_deep_99)
{
    sleeps_deep(hand);
    RISE(hand, cpus, CPUS, "cpu:6", deep_sleeps, 99);
}

CHANGE(sleeps_deep_unknown)
{
    sleeps_deep(hand);
    UNKNOWN(hand, cpus, CPUS, "cpu:6", deep_sleeps);
}

CHANGE(source_hangs)
{
    hand_source(hand, "ovs", "no answer", 17);
}

CHANGE(source_is_not_there)
{
    hand_source(hand, "vpp", "none", 0);
    hand_source(hand, "libvirt", "not permitted", 0);
}

CHANGE(read_takes_the_interval)
{
    hand->cur->t0_ns -= SECOND / 2;
    hand->cur->t1_ns += SECOND / 2;
    hand->prev->t0_ns -= SECOND / 2;
    hand->prev->t1_ns += SECOND / 2;
}

CHANGE(read_takes_half)
{
    hand->cur->t0_ns -= SECOND / 4;
    hand->cur->t1_ns += SECOND / 4;
}

static void test_host_and_observer(void **state)
{
    (void)state;
    EXPECT({host_stolen, "host-steal", "host", "CPU 5 loses", ""}, {host_stolen_9, "", NULL, NULL, NULL},
           {backlog_full, "softnet-drops", "CPU 5", "drops 300/s before any port sees them",
            "netdev_max_backlog"},
           {squeezed, "softnet-squeeze", "CPU 5", "200 times/s", "netdev_budget"},
           {squeezed_199, "", NULL, NULL, NULL},
           {clocked_by_load, "cpu-governor", "host",
            "pmd/0 runs on CPU 0 under the frequency governor schedutil: its speed, and a benchmark's "
            "result, depend "
            "on load (CPUs 0,2,4,6,8,10,12,14)",
            "cpupower -c 0,2,4,6,8,10,12,14 frequency-set -g performance"},
           {clocked_fast, "", NULL, NULL, NULL}, {clocked_by_load_idle, "", NULL, NULL, NULL},
           {clocked_by_load_10000, "cpu-governor", "host",
            "vm10/0 runs on CPU 10 under the frequency governor powersave", "cpupower -c 10 "},
           {clocked_by_load_19, "", NULL, NULL, NULL}, {poller_of_49, "", NULL, NULL, NULL},
           {sleeps_deep, "cpu-idle-states", "host",
            "CPU 6, where vm1 vhost/0 runs, falls into deep idle states 100 times/s, which take up to 133 us "
            "to leave "
            "(CPUs 6)",
            "cpupower -c 6 idle-set -D 20"},
           {sleeps_deep_99, "", NULL, NULL, NULL}, {sleeps_deep_unknown, "", NULL, NULL, NULL},
           {source_hangs, "source-silent", "ovs", "ovs has not answered for 17 s", "vnettop sources"},
           {source_is_not_there, "", NULL, NULL, NULL},
           {read_takes_the_interval, "observer-slow", "hand",
            "a read of hand takes 1.00 s, and it is read every 1.00 s", "-d SEC"},
           {read_takes_half, "", NULL, NULL, NULL});
}

/* --- Open vSwitch --- */

CHANGE(pmd_full)
{
    RISE(hand, pmds, PMDS, "pmd:0", busy_cycles, 97000000);
    RISE(hand, pmds, PMDS, "pmd:0", idle_cycles, 3000000);
    GAUGE(hand, rxqs, RXQS, "rxq:vhu1:0", usage_pct, 90.0);
    GAUGE(hand, rxqs, RXQS, "rxq:dpdk0:0", usage_pct, 7.0);
}

CHANGE(pmd_94)
{
    pmd_full(hand);
    RISE(hand, pmds, PMDS, "pmd:0", busy_cycles, 94000000);
    RISE(hand, pmds, PMDS, "pmd:0", idle_cycles, 6000000);
}

CHANGE(pmd_full_of_nothing)
{
    pmd_full(hand);
    RISE(hand, pmds, PMDS, "pmd:0", rx_packets, 900);
}

CHANGE(pmd_full_queues_unknown)
{
    pmd_full(hand);
    UNKNOWN(hand, rxqs, RXQS, "rxq:vhu1:0", usage_pct);
    UNKNOWN(hand, rxqs, RXQS, "rxq:dpdk0:0", usage_pct);
}

/* Four PMDs on two nodes; the full one has two queues. */
CHANGE(unbalanced)
{
    hand_thread(hand, "ovs-vswitchd", "pmd", 7, 7, "7", 99, 0);
    hand_thread(hand, "ovs-vswitchd", "pmd", 15, 15, "15", 99, 0);
    hand_pmd(hand, 7, 0, 10, 5000);
    hand_pmd(hand, 15, 1, 5, 5000);
    RISE(hand, pmds, PMDS, "pmd:0", busy_cycles, 93000000);
    RISE(hand, pmds, PMDS, "pmd:0", idle_cycles, 7000000);
    GAUGE(hand, rxqs, RXQS, "rxq:vhu1:0", usage_pct, 60.0);
    GAUGE(hand, rxqs, RXQS, "rxq:dpdk0:0", usage_pct, 33.0);
}

/* Only of the other node: nobody may help. */
CHANGE(unbalanced_over_nodes)
{
    unbalanced(hand);
    RISE(hand, pmds, PMDS, "pmd:7", busy_cycles, 50000000);
    RISE(hand, pmds, PMDS, "pmd:7", idle_cycles, 50000000);
}

/* One queue takes it all: moving the other one would not help. */
CHANGE(unbalanced_by_one_queue)
{
    unbalanced(hand);
    GAUGE(hand, rxqs, RXQS, "rxq:vhu1:0", usage_pct, 88.0);
    GAUGE(hand, rxqs, RXQS, "rxq:dpdk0:0", usage_pct, 5.0);
}

CHANGE(unbalanced_other_ovs)
{
    unbalanced(hand);
    FACT(hand, pmds, PMDS, "pmd:7", ovs, "/run/other");
}

CHANGE(unbalanced_node_unknown)
{
    unbalanced(hand);
    UNKNOWN_FACT(hand, pmds, PMDS, "pmd:7", numa);
}

static void test_pmds(void **state)
{
    (void)state;
    EXPECT({pmd_full, "pmd-saturated", "pmd/0",
            "pmd/0 is busy 97 % of its cycles at 400.0k/s: queue 0 of vhu1 takes 90 %", "pmd-rxq-affinity"},
           {pmd_94, "", NULL, NULL, NULL}, {pmd_full_of_nothing, "", NULL, NULL, NULL},
           {pmd_full_queues_unknown, "pmd-saturated", "pmd/0", "at 400.0k/s", NULL},
           {unbalanced, "pmd-unbalanced", "pmd/0",
            "pmd/0 is busy 93 % with 2 queues while pmd/7 of the same NUMA node is busy 10 %", "rebalance"},
           {unbalanced_over_nodes, "", NULL, NULL, NULL}, {unbalanced_by_one_queue, "", NULL, NULL, NULL},
           {unbalanced_other_ovs, "", NULL, NULL, NULL}, {unbalanced_node_unknown, "", NULL, NULL, NULL});
}

CHANGE(emc_thrash)
{
    RISE(hand, pmds, PMDS, "pmd:0", emc_hits, 40000);
    RISE(hand, pmds, PMDS, "pmd:0", megaflow_hits, 360000);
}

CHANGE(emc_off)
{
    RISE(hand, pmds, PMDS, "pmd:0", emc_hits, 0);
    RISE(hand, pmds, PMDS, "pmd:0", megaflow_hits, 400000);
}

CHANGE(smc_helps_little)
{
    RISE(hand, pmds, PMDS, "pmd:0", emc_hits, 40000);
    RISE(hand, pmds, PMDS, "pmd:0", smc_hits, 80000);
    RISE(hand, pmds, PMDS, "pmd:0", megaflow_hits, 280000);
}

CHANGE(smc_helps)
{
    RISE(hand, pmds, PMDS, "pmd:0", emc_hits, 40000);
    RISE(hand, pmds, PMDS, "pmd:0", smc_hits, 300000);
    RISE(hand, pmds, PMDS, "pmd:0", megaflow_hits, 60000);
}

CHANGE(main_thread_carries)
{
    FACT(hand, pmds, PMDS, "pmd:8", thread, "main");
    RISE(hand, pmds, PMDS, "pmd:8", rx_packets, 1000);
}

CHANGE(main_thread_carries_tap)
{
    main_thread_carries(hand);
    PORT_FACT(hand, TAP1, datapath, "netdev@ovs-netdev");
    PORT_FACT(hand, TAP10, datapath, "netdev@ovs-netdev");
    hand_traffic(hand, TAP1, 400, 0);
    hand_traffic(hand, TAP10, 600, 0);
    PORT_FACT(hand, ETH0, datapath, "system@ovs-system"); /* brings 50000, elsewhere */
}

CHANGE(main_thread_999)
{
    main_thread_carries(hand);
    RISE(hand, pmds, PMDS, "pmd:8", rx_packets, 999);
}

CHANGE(upcall_storm)
{
    RISE(hand, datapaths, DATAPATHS, "dp:1", missed, 5000);
}

CHANGE(upcalls_4999)
{
    RISE(hand, datapaths, DATAPATHS, "dp:1", missed, 4999);
}

CHANGE(upcalls_lost)
{
    RISE(hand, datapaths, DATAPATHS, "dp:1", lost, 40);
}

CHANGE(flows_full)
{
    GAUGE(hand, datapaths, DATAPATHS, "dp:1", flows, UINT64_C(180000));
}

CHANGE(flows_89)
{
    GAUGE(hand, datapaths, DATAPATHS, "dp:1", flows, UINT64_C(179999));
}

CHANGE(limit_unknown)
{
    flows_full(hand);
    UNKNOWN(hand, datapaths, DATAPATHS, "dp:1", flow_limit);
}

CHANGE(table_drops)
{
    RISE(hand, counters, COUNTERS, "counter:ovs:/run/openvswitch:drop_action_of_pipeline", value, 100);
}

CHANGE(table_drops_99)
{
    RISE(hand, counters, COUNTERS, "counter:ovs:/run/openvswitch:drop_action_of_pipeline", value, 99);
}

/* Two datapaths of one OVS: its counters are the daemon's, and told once. */
CHANGE(table_drops_of_two_datapaths)
{
    table_drops(hand);
    struct datapaths_info *info = inventory_info(hand->inventory, TABLE_DATAPATHS, "dp:2");
    info_set(info, ovs, "/run/openvswitch");
    info_set(info, name, "system@ovs-system");
    hand_row(hand, TABLE_DATAPATHS, info);
}

CHANGE(meter_drops)
{
    RISE(hand, counters, COUNTERS, "counter:ovs:/run/openvswitch:datapath_drop_meter", value, 70);
}

CHANGE(upcall_errors)
{
    RISE(hand, counters, COUNTERS, "counter:ovs:/run/openvswitch:datapath_drop_upcall_error", value, 5);
}

static void test_datapath(void **state)
{
    (void)state;
    EXPECT(
        {emc_thrash, "cache-thrash", "pmd/0",
         "finds 10 % of its packets in the exact match cache and 90 % by wildcard", "smc-enable"},
        {emc_off, "", NULL, NULL, NULL},
        {smc_helps_little, "cache-thrash", "pmd/0", ", 20 % in the signature match cache and 70 %",
         "dump-flows"},
        {smc_helps, "", NULL, NULL, NULL},
        {main_thread_carries, "main-thread", "netdev@ovs-netdev", "1000/s come from ports that no PMD polls",
         NULL},
        {main_thread_carries_tap, "main-thread", NULL, "carries them, most of them from tap10", NULL},
        {main_thread_999, "", NULL, NULL, NULL},
        {upcall_storm, "upcall-storm", "netdev@ovs-netdev", "5000/s packets match no flow", "upcall/show"},
        {upcalls_4999, "", NULL, NULL, NULL},
        {upcalls_lost, "upcalls-lost", "netdev@ovs-netdev", "40/s flow misses are lost", "n-handler-threads"},
        {flows_full, "flow-limit", "netdev@ovs-netdev", "holds 180000 flows of the 200000", "flow-limit"},
        {flows_89, "", NULL, NULL, NULL}, {limit_unknown, "", NULL, NULL, NULL},
        {table_drops, "pipeline-drops", "/run/openvswitch", "the flow table drops 100/s", "ofproto/trace"},
        {table_drops_99, "", NULL, NULL, NULL},
        {meter_drops, "policer-drops", "/run/openvswitch", "a meter drops 70/s", "dump-meters"},
        {upcall_errors, "datapath-drops", "/run/openvswitch", "upcalls fail and drop 5/s", "upcall/show"});
}

static void test_counters_of_a_daemon_once(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    table_drops_of_two_datapaths(&hand);
    struct finding_list list = look(&hand);
    assert_int_equal(list.n, 1);
    finding_list_free(&list);
    hand_free(&hand);
}

/* --- ports --- */

CHANGE(missed)
{
    PORT_RISE(hand, ETH0, rx_missed, 1000);
}

CHANGE(nombuf)
{
    PORT_RISE(hand, DPDK0, rx_nombuf, 10);
}

CHANGE(qdisc)
{
    PORT_RISE(hand, ETH0, qdisc_drops, 1000);
}

/* Four of fifty thousand: what fair queueing does. */
CHANGE(qdisc_now_and_then)
{
    PORT_RISE(hand, ETH0, qdisc_drops, 4);
}

CHANGE(mtu)
{
    PORT_RISE(hand, VHU1, tx_mtu_drops, 50);
    PORT_RISE(hand, VHU1, tx_dropped, 50);
}

CHANGE(policed_out)
{
    PORT_RISE(hand, VHU1, tx_qos_drops, 50);
    PORT_RISE(hand, VHU1, tx_dropped, 50);
}

CHANGE(policed_in)
{
    PORT_RISE(hand, VHU1, rx_qos_drops, 50);
    PORT_RISE(hand, VHU1, rx_dropped, 50);
}

CHANGE(bad_packets)
{
    PORT_RISE(hand, ETH0, rx_errors, 3);
}

CHANGE(failed_sends)
{
    PORT_RISE(hand, ETH0, tx_errors, 3);
}

CHANGE(flap)
{
    PORT_RISE(hand, ETH0, carrier_changes, 2);
}

CHANGE(tap_of_nobody)
{
    hand_port(hand, "net:1:99", "tap99", "tap", "br0", 0, 0);
    PORT_RISE(hand, "net:1:99", tx_dropped, 500);
}

CHANGE(tap_of_somebody_slow)
{
    hand_port(hand, "net:1:99", "tap99", "tap", "br0", 0, 1000);
    PORT_RISE(hand, "net:1:99", tx_dropped, 500);
}

CHANGE(tap_of_nobody_with_queue)
{
    hand_port(hand, "net:1:99", "tap99", "tap", "br0", 0, 1000);
    PORT_RISE(hand, "net:1:99", qdisc_drops, 500);
}

CHANGE(veth)
{
    PORT_RISE(hand, VETH, tx_dropped, 500);
}

CHANGE(af_packet)
{
    hand_port(hand, "dpdk:9:0", "net_af_packet0", "ethdev", "testpmd", 1000, 1000);
    PORT_FACT(hand, "dpdk:9:0", driver, "net_af_packet");
    PORT_RISE(hand, "dpdk:9:0", rx_dropped, 10);
    PORT_RISE(hand, "dpdk:9:0", tx_dropped, 15);
}

CHANGE(af_packet_well)
{
    af_packet(hand);
    PORT_RISE(hand, "dpdk:9:0", rx_dropped, 0);
    PORT_RISE(hand, "dpdk:9:0", tx_dropped, 0);
}

/* br0 of the healthy host: 91000 go in, 111000 come out by eth0, both taps and the veth. */
CHANGE(bridge)
{
    hand_port(hand, "net:1:1", "br0", "bridge", NULL, 0, 0);
    RISE(hand, ports, PORTS, "net:1:1", ports_rx_packets, 91000);
    RISE(hand, ports, PORTS, "net:1:1", ports_tx_packets, 111000);
    PORT_FACT(hand, VETH, mtu, UINT64_C(1500));
    PORT_FACT(hand, TAP1, mtu, UINT64_C(1500));
}

CHANGE(bridge_loses)
{
    bridge(hand);
    RISE(hand, ports, PORTS, "net:1:1", ports_tx_packets, 81000);
    hand_traffic(hand, TAP1, 20000, 0);
}

CHANGE(bridge_loses_and_port_down)
{
    bridge_loses(hand);
    PORT_FACT(hand, TAP1, admin, "down");
}

CHANGE(bridge_loses_and_no_carrier)
{
    bridge_loses(hand);
    PORT_FACT(hand, TAP1, carrier, "down");
}

CHANGE(bridge_loses_and_port_narrow)
{
    bridge_loses(hand);
    PORT_FACT(hand, TAP1, mtu, UINT64_C(1400));
}

/* 4500 are less than five in a hundred. */
CHANGE(bridge_loses_little)
{
    bridge_loses_and_port_down(hand);
    RISE(hand, ports, PORTS, "net:1:1", ports_tx_packets, 86500);
}

CHANGE(bridge_loses_few)
{
    bridge_loses_and_port_down(hand);
    RISE(hand, ports, PORTS, "net:1:1", ports_rx_packets, 199);
    RISE(hand, ports, PORTS, "net:1:1", ports_tx_packets, 100);
}

/* The tap itself tells of them. */
CHANGE(bridge_loses_counted)
{
    bridge_loses_and_port_down(hand);
    PORT_RISE(hand, VETH, tx_dropped, 10000);
}

/* One of forty comes out, with all their bytes: merged. */
CHANGE(bridge_merges)
{
    bridge_loses_and_port_down(hand);
    RISE(hand, ports, PORTS, "net:1:1", ports_tx_packets, 2300);
    PORT_RISE(hand, TAP10, tx_bytes, 91000 * UINT64_C(100) - 51000 * UINT64_C(100));
}

CHANGE(bridge_port_unknown)
{
    bridge_loses_and_port_down(hand);
    UNKNOWN(hand, ports, PORTS, TAP10, tx_packets);
}

static void test_bridge_loss(void **state)
{
    (void)state;
    EXPECT({bridge, "", NULL, NULL, NULL}, {bridge_loses, "", NULL, NULL, NULL},
           {bridge_loses_and_port_down, "bridge-loss", "br0",
            "br0 loses 11.0 % of what enters it (10.0k/s) by no counter: its port tap1 is down",
            "ip link set tap1 up"},
           {bridge_loses_and_no_carrier, "bridge-loss", "br0", "its port tap1 is down", NULL},
           {bridge_loses_and_port_narrow, "bridge-loss", "br0",
            "by no counter: its port tap1 has an MTU of 1400 where veth0 has 1500", "ip link set tap1 mtu N"},
           {bridge_loses_little, "", NULL, NULL, NULL}, {bridge_loses_few, "", NULL, NULL, NULL},
           {bridge_loses_counted, "veth-drops", NULL, NULL, NULL}, {bridge_merges, "", NULL, NULL, NULL},
           {bridge_port_unknown, "", NULL, NULL, NULL});
}

static void test_ports(void **state)
{
    (void)state;
    EXPECT(
        {missed, "nic-missed", "eth0", "has no free descriptor in its ring and misses 1000/s (2 %)",
         "ethtool -g eth0;"},
        {nombuf, "no-mbuf", "dpdk0", "finds its mempool empty and loses 10/s", "a larger mempool for dpdk0"},
        {qdisc, "qdisc-drops", "eth0", "before the port: 1000/s (2 %)", "tc -s qdisc show dev eth0"},
        {qdisc_now_and_then, "", NULL, NULL, NULL},
        {mtu, "mtu-drops", "vhu1", "larger than its MTU: 50/s", "ovs-vsctl set Interface vhu1 mtu_request=N"},
        {policed_out, "policer-drops", "vhu1", "polices what goes out and drops 50/s",
         "ovs-appctl qos/show vhu1"},
        {policed_in, "policer-drops", "vhu1", "polices what comes in and drops 50/s",
         "ovs-vsctl get Interface vhu1 ingress_policing_rate"},
        {bad_packets, "port-errors", "eth0", "receives bad packets: 3/s", "ip -s -s link show eth0"},
        {failed_sends, "port-errors", "eth0", "fails to send: 3/s", NULL},
        {flap, "carrier-flaps", "eth0", "loses and finds its carrier", "ip monitor link dev eth0"},
        {tap_of_nobody, "tap-unread", "tap99", "drops 500/s: its ring is full, nothing reads it",
         "grep -l 'iff:.tap99$'"},
        {tap_of_somebody_slow, "tap-unread", "tap99", "what reads it is too slow", NULL},
        {tap_of_nobody_with_queue, "qdisc-drops", "tap99", NULL, NULL},
        {veth, "veth-drops", "veth0", "drops 500/s", NULL},
        {af_packet, "af-packet", "net_af_packet0", "loses 25/s", "net_af_xdp"},
        {af_packet_well, "", NULL, NULL, NULL});
}

/* Each packet that a macvtap drops is counted as an error, too: one cause, told once. */
CHANGE(macvtap_full)
{
    PORT_RISE(hand, MACV, rx_dropped, 5000);
    PORT_RISE(hand, MACV, rx_errors, 5000);
}

CHANGE(function_full)
{
    PORT_RISE(hand, VF, rx_dropped, 7000);
}

static void test_loss_is_bad_from_one_percent(void **state)
{
    (void)state;
    static const struct {
        unsigned lost;
        enum severity severity;
    } cases[] = {{1, SEVERITY_WATCH}, {505, SEVERITY_WATCH}, {506, SEVERITY_BAD}, {50000, SEVERITY_BAD}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hand hand = hand_healthy();
        PORT_RISE(&hand, ETH0, rx_missed, cases[i].lost); /* 50000 pass */
        struct finding_list list = look(&hand);
        assert_int_equal(list.n, 1);
        assert_int_equal(list.findings[0].severity, cases[i].severity);
        assert_true(list.findings[0].cost_pps == cases[i].lost);
        finding_list_free(&list);
        hand_free(&hand);
    }
}

/* --- a guest that does not drain --- */

CHANGE(ring_full)
{
    PORT_RISE(hand, TAP1, tx_dropped, 10000);
}

CHANGE(asleep)
{
    ring_full(hand);
    hand_run(hand, VM1 "/vcpu/0", 10, 0);
    hand_run(hand, VM1 "/vcpu/1", 5, 0);
}

/* 29 of 30029 are a tenth of a percent less than that. */
CHANGE(ring_full_a_little)
{
    PORT_RISE(hand, TAP1, tx_dropped, 29);
}

CHANGE(stopped)
{
    ring_full(hand);
    for (unsigned i = 0; i < 2; i++) {
        char key[96];
        snprintf(key, sizeof(key), VM1 "/vcpu/%u", i);
        hand_run(hand, key, 0, 0);
        THREAD_GAUGE(hand, key, state, "T");
    }
}

CHANGE(paused)
{
    ring_full(hand);
    hand_run(hand, VM1 "/vcpu/0", 0, 0);
    hand_run(hand, VM1 "/vcpu/1", 0, 0);
    GAUGE(hand, vms, VMS, VM1, state, "paused");
}

CHANGE(stolen)
{
    ring_full(hand);
    hand_run(hand, VM1 "/vcpu/0", 50, 25);
    hand_thread(hand, "backup", "other", 0, 2, "0-15", 22, 0);
}

CHANGE(server_stolen)
{
    ring_full(hand);
    hand_run(hand, VM1 "/vhost/0", 40, 35);
    hand_run(hand, PLAIN "/vcpu/0", 60, 1);
}

/* Both wait: whoever waits more is told of. */
CHANGE(guest_and_server_stolen)
{
    server_stolen(hand);
    hand_run(hand, VM1 "/vhost/0", 40, 20);
    hand_run(hand, VM1 "/vcpu/1", 40, 45);
}

/* Without vhost QEMU's own thread carries the packets. */
CHANGE(emulator_stolen)
{
    PORT_RISE(hand, TAP10, tx_dropped, 10000);
    hand_run(hand, VM10 "/emulator/0", 20, 30);
}

CHANGE(server_full)
{
    ring_full(hand);
    hand_run(hand, VM1 "/vhost/0", 94, 1);
}

CHANGE(saturated)
{
    ring_full(hand);
    hand_run(hand, VM1 "/vcpu/0", 99, 0.5);
}

CHANGE(saturated_two_queues)
{
    saturated(hand);
    PATH_FACT(hand, NIC1_TAP, queues, UINT64_C(2));
}

CHANGE(vhost_user_full)
{
    PORT_RISE(hand, VHU1, tx_dropped, 200000);
    PORT_RISE(hand, VHU1, tx_failure_drops, 200000);
    hand_run(hand, VM1 "/vcpu/0", 50, 45);
    hand_run(hand, VM1 "/vcpu/1", 5, 0);
}

/* Of what OVS drops there, only what the guest did not take is the guest's. */
CHANGE(vhost_user_policed)
{
    PORT_RISE(hand, VHU1, tx_dropped, 200000);
    PORT_RISE(hand, VHU1, tx_qos_drops, 200000);
}

CHANGE(threads_unknown)
{
    ring_full(hand);
    hand->prev->set[TABLE_THREADS].n = hand->cur->set[TABLE_THREADS].n = 0;
}

CHANGE(nobody_connected)
{
    vhost_user_full(hand);
    hand_run(hand, VM1 "/vcpu/0", 50, 0);
    GAUGE(hand, ports, PORTS, VHU1, vhost_state, "disconnected");
}

static void test_not_draining(void **state)
{
    (void)state;
    EXPECT(
        {asleep, "guest-not-draining", "vm1 net1",
         "vm1 net1 loses 25.0 % of what is sent to it (10.0k/s): tap1 is full, its guest does not drain: its "
         "vCPUs are not busy (run 10 %), its driver does not take the packets",
         "in the guest"},
        {ring_full_a_little, "", NULL, NULL, NULL},
        {stopped, "guest-not-draining", "vm1 net1", ": its process is stopped", "kill -CONT 4242"},
        {paused, "guest-not-draining", "vm1 net1", ": the VM is paused", "virsh resume vm1"},
        {server_full, "guest-not-draining", "vm1 net1", ": its vhost worker runs 94 %, one CPU is its limit",
         "virsh edit vm1"},
        {server_stolen, "guest-not-draining", "vm1 net1",
         ": its vhost worker waits 35 % of the time for CPU 6, where plain/0 60 % ran meanwhile",
         "virsh emulatorpin vm1"},
        {emulator_stolen, "guest-not-draining", "vm10 net1",
         ": QEMU's main thread, which carries its packets, waits 30 % of the time for CPU 14",
         "virsh emulatorpin vm10"},
        {saturated, "guest-not-draining", "vm1 net1",
         ": a vCPU runs 99 %, it is saturated, and the NIC has one queue", "<driver queues='2'/>"},
        {saturated_two_queues, "guest-not-draining", "vm1 net1", ": a vCPU runs 99 %, it is saturated",
         "perf top"},
        {vhost_user_policed, "policer-drops", "vhu1", NULL, NULL},
        {threads_unknown, "guest-not-draining", "vm1 net1", "its guest does not drain", ""},
        {nobody_connected, "guest-not-draining", "vm1 net0", ": no guest holds its socket", ""},
        {macvtap_full, "guest-not-draining", "plain n0", "loses 50.0 %", NULL},
        {function_full, "guest-not-draining", "vm10 hostdev0", "loses 50.0 %", NULL});
}

/* The cause is told of itself, too: a vCPU that waits. */
static void test_not_draining_and_its_cause(void **state)
{
    (void)state;
    static change_fn *const changes[] = {stolen, vhost_user_full, guest_and_server_stolen};
    static const char *const texts[] = {
        ": vm1/0 waits 25 % of the time for CPU 2, where backup other/0 22 % ran",
        "vm1 net0 loses 50.0 % of what is sent to it (200.0k/s): vhu1 is full",
        ": vm1/1 waits 45 % of the time for CPU 4"};
    static const char *const advice[] = {"virsh vcpupin vm1 0", "virsh vcpupin vm1 0", "virsh vcpupin vm1 1"};
    for (size_t i = 0; i < 3; i++) {
        char ids[256];
        struct hand hand = hand_healthy();
        changes[i](&hand);
        struct finding_list list = look(&hand);
        ids_of(ids, sizeof(ids), &list);
        assert_string_equal(ids, "guest-not-draining,vcpu-steal");
        assert_non_null(strstr(list.findings[0].text, texts[i]));
        assert_non_null(strstr(list.findings[0].advice, advice[i]));
        assert_int_equal(list.findings[0].severity, SEVERITY_BAD);
        finding_list_free(&list);
        hand_free(&hand);
    }
}

/* A DPDK program is a guest as well: whose lcores wait is who does not drain. */
static void test_process_that_does_not_drain(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_ovs_port(&hand, "ovs:/run/openvswitch:vhu7", "vhu7", "vhost-user", "/run/vhu/7.sock", 0, 20000);
    PORT_RISE(&hand, "ovs:/run/openvswitch:vhu7", tx_dropped, 980000);
    PORT_RISE(&hand, "ovs:/run/openvswitch:vhu7", tx_failure_drops, 980000);
    hand_process(&hand, "testpmd", 555,
                 "testpmd -l 0,1 --vdev net_virtio_user0,path=/run/vhu/7.sock,server=1");
    hand_process(&hand, "testpmd2", 556,
                 "testpmd -l 0,1 --vdev net_virtio_user0,path=/run/vhu/77.sock,server=1");
    hand_thread(&hand, "testpmd", "lcore", 1, 3, "3", 50, 49);
    hand_thread(&hand, "testpmd2", "lcore", 1, 3, "3", 45, 52);
    THREAD_FACT(&hand, "testpmd/lcore/1", pid, UINT64_C(555));
    THREAD_FACT(&hand, "testpmd2/lcore/1", pid, UINT64_C(556));
    struct finding_list list = look(&hand);
    const struct finding *f = find(&list, "guest-not-draining");
    assert_string_equal(f->object, "vhu7");
    assert_non_null(strstr(f->text,
                           "vhu7 loses 98.0 % of what is sent to it (980.0k/s): its ring is full, its guest "
                           "does not drain: testpmd lcore/1 waits 49 % of the time for CPU 3, where testpmd2 "
                           "lcore/1 45 % ran meanwhile"));
    assert_true(fabs(f->value - 98) < 1e-9 && f->cost_pps == 980000);
    finding_list_free(&list);
    hand_free(&hand);
}

/* --- what a guest is given --- */

CHANGE(emulated)
{
    PATH_FACT(hand, NIC10_TAP, model, "rtl8139");
}

CHANGE(emulated_idle)
{
    emulated(hand);
    hand_traffic(hand, TAP10, 40, 50);
}

CHANGE(model_unknown)
{
    UNKNOWN_FACT(hand, paths, PATHS, NIC10_TAP, model);
}

CHANGE(model_transitional)
{
    PATH_FACT(hand, NIC10_TAP, model, "virtio-transitional");
}

CHANGE(emulated_plain)
{
    PATH_FACT(hand, NIC_MACV, model, "e1000");
}

/* Four vCPUs, one of them full; 30000 packets to the guest. */
CHANGE(one_queue)
{
    hand_run(hand, VM1 "/vcpu/0", 99, 0.5);
    hand_run(hand, VM1 "/vcpu/1", 20, 0);
    hand_thread(hand, VM1, "vcpu", 2, 3, "3", 20, 0);
    hand_thread(hand, VM1, "vcpu", 3, 5, "5", 20, 0);
    PATH_FACT(hand, NIC1_VHU, queues, UINT64_C(4));
}

CHANGE(one_queue_two_full)
{
    one_queue(hand);
    hand_run(hand, VM1 "/vcpu/1", 99, 0);
}

/* The others have work as well: another queue would only move it. */
CHANGE(one_queue_others_busy)
{
    one_queue(hand);
    hand_run(hand, VM1 "/vcpu/1", 50, 0);
    hand_run(hand, VM1 "/vcpu/2", 50, 0);
}

CHANGE(one_queue_idle)
{
    one_queue(hand);
    hand_traffic(hand, TAP1, 100, 9999);
}

CHANGE(four_queues)
{
    one_queue(hand);
    PATH_FACT(hand, NIC1_TAP, queues, UINT64_C(4));
}

CHANGE(queues_unknown)
{
    one_queue(hand);
    UNKNOWN_FACT(hand, paths, PATHS, NIC1_TAP, queues);
}

static void test_what_a_guest_is_given(void **state)
{
    (void)state;
    EXPECT({emulated, "emulated-nic", "vm10 net1", "vm10 net1 is an emulated rtl8139", "virsh edit vm10"},
           {emulated_idle, "", NULL, NULL, NULL}, {model_unknown, "", NULL, NULL, NULL},
           {model_transitional, "", NULL, NULL, NULL},
           {emulated_plain, "emulated-nic", "plain n0", "e1000", "-device virtio-net-pci"},
           {one_queue, "single-queue", "vm1 net1",
            "has one queue: one of its 4 vCPUs is full, the others idle",
            "virsh edit vm1: <driver queues='4'/>"},
           {one_queue_two_full, "", NULL, NULL, NULL}, {one_queue_others_busy, "", NULL, NULL, NULL},
           {one_queue_idle, "", NULL, NULL, NULL}, {four_queues, "", NULL, NULL, NULL},
           {queues_unknown, "", NULL, NULL, NULL});
}

/* --- NUMA --- */

CHANGE(port_far)
{
    PORT_FACT(hand, VHU1, numa, UINT64_C(1));
}

CHANGE(port_far_idle)
{
    port_far(hand);
    hand_traffic(hand, VHU1, 400, 599);
}

CHANGE(pmd_far)
{
    GAUGE(hand, rxqs, RXQS, "rxq:vhu1:0", usage_pct, 30.0);
    FACT(hand, rxqs, RXQS, "rxq:vhu1:0", pmd_key, "pmd:8");
}

CHANGE(memory_far)
{
    VM_FACT(hand, VM10, numa_nodes, "0");
}

CHANGE(vhost_far)
{
    THREAD_GAUGE(hand, VM1 "/vhost/0", cpu, UINT64_C(13));
    THREAD_FACT(hand, VM1 "/vhost/0", allowed_cpus, "13");
}

/* The NIC of the switch that the guest's port is of, and the only one. */
CHANGE(nic_far)
{
    PORT_FACT(hand, ETH0, numa, UINT64_C(1));
    UNKNOWN_FACT(hand, paths, PATHS, NIC10_TAP, port);
}

CHANGE(one_nic_near)
{
    nic_far(hand);
    hand_port(hand, "net:1:3", "eth1", "physical", "br0", 10, 10);
    PORT_FACT(hand, "net:1:3", numa, UINT64_C(0));
}

CHANGE(one_nic_unknown)
{
    nic_far(hand);
    hand_port(hand, "net:1:3", "eth1", "physical", "br0", 10, 10);
}

/* Node 0 of the NIC is not the guests' on node 1: they have no port here. */
CHANGE(pmd_polls_far_nic)
{
    UNKNOWN_FACT(hand, paths, PATHS, NIC1_VHU, socket);
    UNKNOWN_FACT(hand, paths, PATHS, NIC10_VHU, socket);
    PORT_FACT(hand, DPDK0, numa, UINT64_C(1));
    FACT(hand, rxqs, RXQS, "rxq:dpdk0:0", numa, UINT64_C(0));
    FACT(hand, rxqs, RXQS, "rxq:vhu1:0", numa, UINT64_C(1)); /* no NIC: a guest's rule tells of it */
}

CHANGE(pmd_polls_far_idle_nic)
{
    pmd_polls_far_nic(hand);
    hand_traffic(hand, DPDK0, 999, 400000);
}

CHANGE(pmd_polls_near_nic)
{
    pmd_polls_far_nic(hand);
    FACT(hand, rxqs, RXQS, "rxq:dpdk0:0", numa, UINT64_C(1));
}

/* A guest as large as both nodes, memory of both: some of it is far from anything. */
CHANGE(guest_on_both)
{
    hand_thread(hand, VM1, "vcpu", 2, 13, "13", 20, 0);
    VM_FACT(hand, VM1, numa_nodes, "0-1");
}

CHANGE(guest_on_both_memory_on_one)
{
    guest_on_both(hand);
    VM_FACT(hand, VM1, numa_nodes, "0");
}

static void test_numa(void **state)
{
    (void)state;
    EXPECT(
        {port_far, "numa-crossing", "vm1 net0",
         "vm1 net0 crosses NUMA nodes: vCPUs on node 0, the thread that serves it on node 0, port on node 1",
         "virsh numatune vm1; "},
        {port_far_idle, "", NULL, NULL, NULL},
        {pmd_far, "numa-crossing", "vm1 net0", "the thread that serves it on node 1", NULL},
        {vhost_far, "numa-crossing", "vm1 net1", "vCPUs on node 0, the thread that serves it on node 1",
         NULL},
        {nic_far, "numa-crossing", "vm1 net1",
         "vCPUs on node 0, the thread that serves it on node 0, its switch's NICs on node 1", NULL},
        {one_nic_near, "", NULL, NULL, NULL}, {one_nic_unknown, "", NULL, NULL, NULL},
        {pmd_polls_far_nic, "numa-crossing", "dpdk0",
         "dpdk0 is on NUMA node 1, and queue 0 of it is polled by a PMD on node 0",
         "with CPUs of node 1 in it"},
        {pmd_polls_far_idle_nic, "", NULL, NULL, NULL}, {pmd_polls_near_nic, "", NULL, NULL, NULL},
        {memory_far, "numa-crossing", NULL, "vCPUs on node 1, memory on node 0", "virsh numatune vm10"},
        {guest_on_both, "", NULL, NULL, NULL},
        {guest_on_both_memory_on_one, "numa-crossing", NULL, "vCPUs on node 0 1, memory on node 0", NULL});
}

/* --- names and commands --- */

static void expect_steal_advice(const char *name, const char *uri, const char *text, const char *advice)
{
    struct hand hand = hand_healthy();
    VM_FACT(&hand, VM1, name, name);
    THREAD_FACT(&hand, VM1 "/vcpu/0", vm, name);
    VM_FACT(&hand, VM1, uri, uri);
    hand_run(&hand, VM1 "/vcpu/0", 80, 15);
    struct finding_list list = look(&hand);
    const struct finding *f = find(&list, "vcpu-steal");
    if (!strstr(f->text, text))
        fail_msg("'%s' does not say '%s'", f->text, text);
    assert_string_equal(f->advice, advice);
    finding_list_free(&list);
    hand_free(&hand);
}

#define UUID1 "11111111-0000-4000-8000-000000000001"

static void test_commands_are_safe_to_paste(void **state)
{
    (void)state;
    static const char sys[] = "qemu:///system";
    expect_steal_advice("web", sys, "web/0 waits", "virsh vcpupin web 0 3");
    expect_steal_advice("my web", sys, "my web/0 waits", "virsh vcpupin 'my web' 0 3");
    expect_steal_advice("a;reboot", sys, "a;reboot/0", "virsh vcpupin 'a;reboot' 0 3");
    expect_steal_advice("$(reboot)`x`", sys, "$(reboot)`x`/0", "virsh vcpupin '$(reboot)`x`' 0 3");
    expect_steal_advice("it's", sys, "it's/0", "virsh vcpupin 'it'\\''s' 0 3");
    expect_steal_advice("m\u00fcller", sys, "m\u00fcller/0", "virsh vcpupin 'm\u00fcller' 0 3");
    /* What virsh would take for something else, or nobody can type, goes by its UUID. */
    expect_steal_advice("12", sys, "12/0 waits", "virsh vcpupin " UUID1 " 0 3");
    expect_steal_advice("--help", sys, "--help/0", "virsh vcpupin " UUID1 " 0 3");
    expect_steal_advice("a\nb\033[2J", sys, "a?b?[2J/0 waits", "virsh vcpupin " UUID1 " 0 3");
    expect_steal_advice("\xff", sys, "?/0 waits", "virsh vcpupin " UUID1 " 0 3");
    expect_steal_advice("a-name-that-is-so-long-that-it-would-fill-a-line-of-its-own-on-any-terminal", sys,
                        "a-name-that-is-so-long-that-it-would-f../0 waits", "virsh vcpupin " UUID1 " 0 3");
    expect_steal_advice("web", "qemu:///session", "web/0", "virsh -c qemu:///session vcpupin web 0 3");
    expect_steal_advice("web", "qemu:///system?socket=/a b", "web/0",
                        "virsh -c 'qemu:///system?socket=/a b' vcpupin web 0 3");
}

static void test_port_names_in_commands(void **state)
{
    (void)state;
    static const struct {
        const char *name, *object, *advice;
    } cases[] = {
        {"eth0.7", "eth0.7", "tc -s qdisc show dev eth0.7"},
        {"a$b", "a$b", "tc -s qdisc show dev 'a$b'"},
        {"a\tb", "a?b", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hand hand = hand_healthy();
        PORT_FACT(&hand, ETH0, name, cases[i].name);
        PORT_RISE(&hand, ETH0, qdisc_drops, 1000);
        struct finding_list list = look(&hand);
        assert_int_equal(list.n, 1);
        assert_string_equal(list.findings[0].object, cases[i].object);
        assert_string_equal(list.findings[0].advice, cases[i].advice);
        finding_list_free(&list);
        hand_free(&hand);
    }
}

static bool is_whole(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 32 || (unsigned char)*text == 127)
            return false;
    return true;
}

/* Every name as long and as bad as it can be: no control byte, no torn character, no sentence without an end.
 */
static void test_hostile_names_everywhere(void **state)
{
    (void)state;
    char bad[400] = "";
    while (strlen(bad) < 380)
        strcat(bad, "\u7f51\n\033[31m'$(x)");
    struct hand hand = hand_healthy();
    everything_wrong(&hand);
    two_on_one(&hand);
    emulator_on_vcpu(&hand);
    vm_floats(&hand);
    emulated(&hand);
    port_far(&hand);
    for (size_t i = 0; i < hand.cur->set[TABLE_VMS].n; i++)
        VM_FACT(&hand, sample_row_at(hand.cur, TABLE_VMS, i)->info->key, name, bad);
    for (size_t i = 0; i < hand.cur->set[TABLE_THREADS].n; i++)
        THREAD_FACT(&hand, sample_row_at(hand.cur, TABLE_THREADS, i)->info->key, vm, bad);
    for (size_t i = 0; i < hand.cur->set[TABLE_PORTS].n; i++)
        PORT_FACT(&hand, sample_row_at(hand.cur, TABLE_PORTS, i)->info->key, name, bad);
    for (size_t i = 0; i < hand.cur->set[TABLE_PATHS].n; i++) {
        PATH_FACT(&hand, sample_row_at(hand.cur, TABLE_PATHS, i)->info->key, vm, bad);
        PATH_FACT(&hand, sample_row_at(hand.cur, TABLE_PATHS, i)->info->key, nic, bad);
    }
    struct finding_list list = look(&hand);
    assert_true(list.n >= 8);
    for (size_t i = 0; i < list.n; i++) {
        const struct finding *f = &list.findings[i];
        assert_true(is_whole(f->object) && is_whole(f->text) && is_whole(f->advice));
        assert_null(strstr(f->text, "...")); /* nothing had to be cut off a sentence */
        assert_true(f->object[0] && f->text[0]);
    }
    finding_list_free(&list);
    hand_free(&hand);
}

/* Two VMs of one name are two findings. */
static void test_identity_is_no_name(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    VM_FACT(&hand, VM10, name, "vm1");
    THREAD_FACT(&hand, VM10 "/vcpu/0", vm, "vm1");
    hand_run(&hand, VM1 "/vcpu/0", 80, 15);
    hand_run(&hand, VM10 "/vcpu/0", 80, 15);
    struct finding_list list = look(&hand);
    assert_int_equal(list.n, 2);
    assert_string_equal(list.findings[0].object, list.findings[1].object);
    assert_true(list.findings[0].id != list.findings[1].id);
    finding_list_free(&list);
    hand_free(&hand);
}

/* A CPU with room: not the poller's or its core's other half, the own node first. */
static void test_where_to_move(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    const struct frame *frame = hand_frame(&hand);
    const struct join_thread *vcpu = join_thread_of(frame, frame_find(frame, TABLE_THREADS, VM10 "/vcpu/0"));
    assert_int_equal(rule_free_cpu(frame, vcpu), 11); /* 8 polls, 9 is its core */
    for (unsigned cpu = 8; cpu < 16; cpu++)
        hand_cpu_ticks(&hand, cpu, 20, 0);
    frame = hand_frame(&hand);
    vcpu = join_thread_of(frame, frame_find(frame, TABLE_THREADS, VM10 "/vcpu/0"));
    assert_int_equal(rule_free_cpu(frame, vcpu), 3); /* 0 polls, 1 is its core, 2 is taken */
    for (unsigned cpu = 0; cpu < 8; cpu++)
        hand_cpu_ticks(&hand, cpu, 50, 0);
    frame = hand_frame(&hand);
    vcpu = join_thread_of(frame, frame_find(frame, TABLE_THREADS, VM10 "/vcpu/0"));
    assert_int_equal(rule_free_cpu(frame, vcpu), -1);
    hand_free(&hand);
}

static void test_rules_are_described(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_rules; i++) {
        assert_true(strlen(rules[i].id) > 0 && strlen(rules[i].help) > 10 && strlen(rules[i].needs) > 0);
        for (const char *p = rules[i].id; *p; p++)
            assert_true(islower((unsigned char)*p) || *p == '-');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rules[i].id, rules[j].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_healthy_host_is_silent),
        cmocka_unit_test(test_first_sample_is_silent),
        cmocka_unit_test(test_old_numbers_are_silent),
        cmocka_unit_test(test_each_table_missing),
        cmocka_unit_test(test_restart_is_silent),
        cmocka_unit_test(test_vcpu_steal),
        cmocka_unit_test(test_steal_is_bad_from_30),
        cmocka_unit_test(test_poller_preempted),
        cmocka_unit_test(test_cpu_shared),
        cmocka_unit_test(test_poller_shares),
        cmocka_unit_test(test_smt_sibling),
        cmocka_unit_test(test_floating),
        cmocka_unit_test(test_helper_on_cpu),
        cmocka_unit_test(test_vhost_saturated),
        cmocka_unit_test(test_host_and_observer),
        cmocka_unit_test(test_pmds),
        cmocka_unit_test(test_datapath),
        cmocka_unit_test(test_counters_of_a_daemon_once),
        cmocka_unit_test(test_bridge_loss),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_loss_is_bad_from_one_percent),
        cmocka_unit_test(test_not_draining),
        cmocka_unit_test(test_not_draining_and_its_cause),
        cmocka_unit_test(test_process_that_does_not_drain),
        cmocka_unit_test(test_what_a_guest_is_given),
        cmocka_unit_test(test_numa),
        cmocka_unit_test(test_commands_are_safe_to_paste),
        cmocka_unit_test(test_port_names_in_commands),
        cmocka_unit_test(test_hostile_names_everywhere),
        cmocka_unit_test(test_identity_is_no_name),
        cmocka_unit_test(test_where_to_move),
        cmocka_unit_test(test_rules_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
