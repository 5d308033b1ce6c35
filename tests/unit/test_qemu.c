/* SPDX-License-Identifier: MIT */
/*
 * The collectors of the source `qemu` on trees of /proc: recorded ones (tests/fixtures/qemu, two kernels),
 * and made ones that change between reads: threads and processes that end, come, and become others. The clock
 * is the test's own, and rates are those of real frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/qemu.h"
#include "src/columns.h"
#include "src/frame.h"

#define FIXTURES "tests/fixtures/qemu/"
#define UUID     "6b3f1d4e-0c55-4b0e-9a51-000000000001"
#define SECOND   INT64_C(1000000000)

/* ---- the clock ---- */

static int64_t test_now_ns = 1000 * SECOND;

int64_t clock_mono_ns(void)
{
    return test_now_ns;
}

int64_t clock_wall_ns(void)
{
    return test_now_ns;
}

uint64_t clock_process_cpu_ns(void)
{
    return 0;
}

uint64_t clock_thread_cpu_ns(void)
{
    return 0;
}

/* ---- trees ---- */

static char root[64];

static void join(char full[1024], const char *path)
{
    int n = snprintf(full, 1024, "%s/%s", root, path);
    assert_in_range(n, 1, 1023);
}

static void make_folders(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        if (mkdir(path, 0755) < 0)
            assert_int_equal(errno, EEXIST);
        *p = '/';
    }
}

/* In place: a descriptor that somebody keeps sees the new content, as it does in /proc. */
static void put_bytes(const char *path, const char *bytes, size_t n)
{
    char full[1024];
    join(full, path);
    make_folders(full);
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *text, const char *format, ...)
{
    char path[512];
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    put_bytes(path, text, strlen(text));
}

static void link_to(const char *target, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void link_to(const char *target, const char *format, ...)
{
    char path[512], full[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    join(full, path);
    make_folders(full);
    assert_int_equal(symlink(target, full), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void drop(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void drop(const char *format, ...)
{
    char path[512], full[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    join(full, path);
    assert_int_equal(nftw(full, remove_one, 4, FTW_DEPTH | FTW_PHYS), 0);
}

/* Words separated by blanks become arguments. */
static void command_line(int pid, const char *words)
{
    char bytes[4096], path[64];
    size_t n = strlen(words) + 1;
    memcpy(bytes, words, n);
    for (size_t i = 0; i < n; i++)
        bytes[i] = bytes[i] == ' ' ? '\0' : bytes[i];
    snprintf(path, sizeof(path), "proc/%d/cmdline", pid);
    put_bytes(path, bytes, n > 1 ? n : 0);
}

struct made {
    const char *comm;
    unsigned flags, start, cpu, ticks, guest_ticks;
    char state;
};

static void put_stat(int pid, int tid, struct made t)
{
    char text[1024];
    snprintf(
        text, sizeof(text),
        "%d (%s) %c 1 1 1 0 -1 %u 0 0 0 0 %u 0 0 0 20 0 1 0 %u 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 %u 0 0 0 %u "
        "0 0 0 0 0 0 0 0 0\n",
        tid, t.comm, t.state ? t.state : 'S', t.flags, t.ticks, t.start ? t.start : (unsigned)(100 + tid),
        t.cpu, t.guest_ticks);
    put(text, "proc/%d/task/%d/stat", pid, tid);
}

static void put_times(int pid, int tid, uint64_t run_ns, uint64_t delay_ns, uint64_t slices)
{
    char text[128];
    snprintf(text, sizeof(text), "%llu %llu %llu\n", (unsigned long long)run_ns, (unsigned long long)delay_ns,
             (unsigned long long)slices);
    put(text, "proc/%d/task/%d/schedstat", pid, tid);
}

static void put_status(int pid, int tid, const char *allowed, unsigned voluntary, unsigned involuntary)
{
    char text[512];
    snprintf(text, sizeof(text),
             "Name:\tx\nTgid:\t%d\nPid:\t%d\nCpus_allowed_list:\t%s\nvoluntary_ctxt_switches:\t%u\n"
             "nonvoluntary_ctxt_switches:\t%u\n",
             pid, tid, allowed, voluntary, involuntary);
    put(text, "proc/%d/task/%d/status", pid, tid);
}

static void thread(int pid, int tid, struct made t)
{
    put_stat(pid, tid, t);
    put_times(pid, tid, 1000000, 2000000, 10);
    put_status(pid, tid, "0-7", 5, 6);
}

/* A guest of two vCPUs with names, as libvirt starts it. */
static void guest(int pid, const char *name, const char *uuid, const char *more)
{
    char words[2048];
    snprintf(words, sizeof(words),
             "/usr/bin/qemu-system-x86_64 -name guest=%s,debug-threads=on -accel kvm -m 4096 -smp "
             "2,maxcpus=8 -uuid %s %s",
             name, uuid, more);
    command_line(pid, words);
    thread(pid, pid, (struct made){.comm = "qemu-system-x86"});
    thread(pid, pid + 1, (struct made){.comm = "call_rcu"});
    thread(pid, pid + 2, (struct made){.comm = "IO mon_iothread"});
    thread(pid, pid + 3, (struct made){.comm = "CPU 0/KVM", .cpu = 3});
    thread(pid, pid + 4, (struct made){.comm = "CPU 1/KVM", .cpu = 5, .state = 'R'});
}

/* "== PATH" and "== PATH -> TARGET" entries; in a command line each line is an argument. */
static void unpack_entry(char *head, char *body, size_t len)
{
    char *arrow = strstr(head, " -> ");
    if (arrow) {
        *arrow = '\0';
        link_to(arrow + 4, "%s", head);
        return;
    }
    for (size_t i = 0; strstr(head, "/cmdline") && i < len; i++)
        body[i] = body[i] == '\n' ? '\0' : body[i];
    put_bytes(head, body, len);
}

static void unpack(const char *name)
{
    static char text[65536];
    char path[256];
    snprintf(path, sizeof(path), FIXTURES "%s", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    for (char *p = text; *p;) {
        char *head = p + 3, *body = strchr(p, '\n');
        assert_memory_equal(p, "== ", 3);
        char *next = strstr(body, "\n== ");
        p = next ? next + 1 : text + n;
        *body++ = '\0';
        unpack_entry(head, body, (size_t)(p - body));
    }
}

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/vnettop-qemu-XXXXXX");
    assert_non_null(mkdtemp(root));
    command_line(1, "/sbin/init");
    thread(1, 1, (struct made){.comm = "init"});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(nftw(root, remove_one, 4, FTW_DEPTH | FTW_PHYS), 0);
    return 0;
}

/* ---- a collector and its last two samples ---- */

struct reader {
    const struct collector *collector;
    struct collect_config config;
    struct collect_call call;
    void *state;
    struct sample *prev, *cur;
    struct frame *frame; /* of the two; texts of its cells live as long */
};

static void begin(struct reader *r, const struct collector *collector)
{
    *r = (struct reader){.collector = collector, .config = {.root = root}};
    assert_int_equal(collector->open(&r->config, &r->state, &r->call), COLLECT_OK);
}

static void tick(struct reader *r, int64_t passed_ns)
{
    test_now_ns += passed_ns;
    sample_unref(r->prev);
    frame_free(r->frame);
    r->prev = r->cur;
    r->cur = NULL;
    assert_int_equal(r->collector->collect(r->state, &r->call, &r->cur), COLLECT_OK);
    struct pair pair = {.feed = "qemu", .cur = r->cur, .prev = r->prev};
    r->frame = frame_new(&pair, 1, test_now_ns, test_now_ns, 0);
}

static void end(struct reader *r)
{
    frame_free(r->frame);
    sample_unref(r->prev);
    sample_unref(r->cur);
    r->collector->close(r->state);
}

static struct cell cell_of(const struct reader *r, enum table_id table, const char *key, const char *column)
{
    const struct frame_row *row = frame_find(r->frame, table, key);
    if (!row)
        print_message("no row %s\n", key);
    assert_non_null(row);
    return frame_cell(r->frame, row, column_find(table_get(table), column));
}

static bool has_row(const struct reader *r, enum table_id table, const char *key)
{
    return frame_find(r->frame, table, key) != NULL;
}

static size_t rows(const struct reader *r, enum table_id table)
{
    return r->cur->set[table].n;
}

static void assert_text(const struct reader *r, enum table_id table, const char *key, const char *column,
                        const char *wanted)
{
    struct cell cell = cell_of(r, table, key, column);
    assert_int_equal(cell.kind, CELL_STR);
    assert_string_equal(cell.str, wanted);
}

static void assert_number(const struct reader *r, enum table_id table, const char *key, const char *column,
                          double wanted)
{
    struct cell cell = cell_of(r, table, key, column);
    assert_true(cell_is_number(&cell));
    if (fabs(cell_number(&cell) - wanted) > 1e-6)
        print_message("%s %s is %f, not %f\n", key, column, cell_number(&cell), wanted);
    assert_true(fabs(cell_number(&cell) - wanted) < 1e-6);
}

static void assert_absent(const struct reader *r, enum table_id table, const char *key, const char *column)
{
    assert_int_equal(cell_of(r, table, key, column).kind, CELL_NONE);
}

#define VMS     TABLE_VMS
#define THREADS TABLE_THREADS
#define PATHS   TABLE_PATHS

/* ---- cases ---- */

static void a_guest_of_libvirt(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", "6B3F1D4E-0C55-4B0E-9A51-000000000001", "");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, VMS), 1);
    assert_text(&r, VMS, "vm:" UUID, "name", "web");
    assert_text(&r, VMS, "vm:" UUID, "uuid", UUID);
    assert_text(&r, VMS, "vm:" UUID, "state", "process");
    assert_text(&r, VMS, "vm:" UUID, "accel", "kvm");
    assert_text(&r, VMS, "vm:" UUID, "huge_pages", "no");
    assert_number(&r, VMS, "vm:" UUID, "pid", 500);
    assert_number(&r, VMS, "vm:" UUID, "vcpus", 2);
    assert_number(&r, VMS, "vm:" UUID, "vcpus_max", 8);
    assert_number(&r, VMS, "vm:" UUID, "memory_mib", 4096);
    assert_int_equal(rows(&r, THREADS), 4); /* call_rcu sleeps: it has none */
    assert_text(&r, THREADS, "vm:" UUID "/emulator", "role", "emulator");
    assert_text(&r, THREADS, "vm:" UUID "/iothread/mon_iothread", "role", "iothread");
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/1", "vm_key", "vm:" UUID);
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/1", "vm", "web");
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/1", "name", "CPU 1/KVM");
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/1", "state", "R");
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "cpu", 5);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "tid", 504);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "pid", 500);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "index", 1);
    assert_false(cell_of(&r, THREADS, "vm:" UUID "/vcpu/1", "index").approx);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "run_ns", 1000000);
    assert_string_equal(r.call.detail, "1 VM, 4 threads");
    end(&r);
}

static void rates_are_over_their_own_time(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    put_times(500, 503, 1000000 + 300000000, 2000000 + 200000000, 12);
    tick(&r, SECOND / 2);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "run_pct", 60);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "steal_pct", 40);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "run_pct", 0);
    assert_number(&r, VMS, "vm:" UUID, "run_pct", 60);
    assert_number(&r, VMS, "vm:" UUID, "worst_steal_pct", 40);
    assert_text(&r, VMS, "vm:" UUID, "worst_vcpu", "0@3");
    end(&r);
}

static void nothing_runs(void **state)
{
    (void)state;
    struct reader r;
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, VMS) + rows(&r, THREADS) + rows(&r, PATHS), 0);
    assert_string_equal(r.call.detail, "no virtual machine runs here");
    guest(500, "late", UUID, "");
    tick(&r, SECOND);
    assert_int_equal(rows(&r, VMS), 0); /* looked for every two seconds */
    tick(&r, SECOND);
    assert_int_equal(rows(&r, VMS), 1);
    assert_string_equal(r.call.detail, "1 VM, 4 threads");
    end(&r);
}

static void others_are_hidden(void **state)
{
    (void)state;
    struct reader r;
    drop("proc/1");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_non_null(strstr(r.call.detail, "hidepid"));
    assert_non_null(strstr(r.call.detail, "run as root"));
    end(&r);
}

static void no_proc_is_a_failure(void **state)
{
    (void)state;
    struct collect_config config = {.root = "/nonexistent"};
    struct collect_call call = {0};
    void *opened;
    assert_int_equal(qemu_collector.open(&config, &opened, &call), COLLECT_FAILED);
    assert_non_null(strstr(call.error.text, "mount proc"));
}

static void recorded_by_hand(void **state)
{
    (void)state;
    struct reader r;
    const char *tx = "vm:pid:77:501321", *rx = "vm:pid:60:501296";
    char key[64];
    unpack("linux-6.18-by-hand.tree");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, VMS), 2);
    assert_text(&r, VMS, tx, "name", "plaintx");
    assert_text(&r, VMS, rx, "accel", "tcg");
    assert_absent(&r, VMS, rx, "uuid");
    snprintf(key, sizeof(key), "%s/vcpu/1", tx);
    assert_number(&r, THREADS, key, "tid", 80);
    assert_number(&r, THREADS, key, "delay_ns", 4841312394);
    snprintf(key, sizeof(key), "%s/vcpu/0", rx);
    assert_number(&r, THREADS, key, "tid", 62); /* by its work alone */
    assert_true(cell_of(&r, THREADS, key, "index").approx);
    assert_true(cell_of(&r, THREADS, key, "role").approx);
    snprintf(key, sizeof(key), "path:%s:52:54:00:00:00:02", rx);
    assert_text(&r, PATHS, key, "port", "plainrx-t0");
    assert_text(&r, PATHS, key, "backend", "tap");
    assert_text(&r, PATHS, key, "model", "virtio");
    assert_text(&r, PATHS, key, "nic", "n");
    assert_text(&r, PATHS, key, "state", "present");
    assert_number(&r, PATHS, key, "netns_inode", 4026532288);
    end(&r);
}

static void recorded_with_vhost_kernel_threads(void **state)
{
    (void)state;
    struct reader r;
    const char *vm = "vm:6b3f1d4e-0c55-4b0e-9a51-0000000000ab";
    char key[96], key1[96];
    drop("proc/1");
    unpack("linux-6.1-vhost-threads.tree");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, THREADS), 6);
    snprintf(key, sizeof(key), "%s/vhost/0", vm);
    assert_number(&r, THREADS, key, "tid", 131);
    assert_number(&r, THREADS, key, "pid", 131);
    assert_text(&r, THREADS, key, "vm_key", vm);
    assert_number(&r, THREADS, key, "run_ns", 14339987);
    snprintf(key1, sizeof(key1), "%s/vhost/1", vm);
    assert_number(&r, THREADS, key1, "tid", 133);
    assert_text(&r, THREADS, key, "serves", "n0/0");
    assert_text(&r, THREADS, key1, "serves", "n0/1");
    snprintf(key, sizeof(key), "%s/iothread/1", vm);
    assert_number(&r, THREADS, key, "index", 1);
    snprintf(key, sizeof(key), "path:%s:52:54:00:00:00:07", vm);
    assert_text(&r, PATHS, key, "backend", "vhost");
    assert_number(&r, PATHS, key, "queues", 2);
    put("", "proc/131/task/131/schedstat"); /* one ends: the other keeps its number */
    tick(&r, SECOND / 10);
    drop("proc/131");
    tick(&r, 2 * SECOND);
    assert_number(&r, THREADS, key1, "tid", 133);
    snprintf(key, sizeof(key), "%s/vhost/0", vm);
    assert_false(has_row(&r, THREADS, key));
    assert_int_equal(rows(&r, THREADS), 5);
    assert_absent(&r, THREADS, key1, "serves"); /* one worker of two queues: whose is no longer known */
    end(&r);
}

static void vhost_workers_inside(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    thread(500, 510, (struct made){.comm = "vhost-500"});
    thread(500, 511, (struct made){.comm = "vhost-500"});
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_number(&r, THREADS, "vm:" UUID "/vhost/0", "tid", 510);
    assert_number(&r, THREADS, "vm:" UUID "/vhost/1", "tid", 511);
    drop("proc/500/task/510");
    thread(500, 512, (struct made){.comm = "vhost-500"});
    thread(500, 513, (struct made){.comm = "vhost-500"});
    tick(&r, 2 * SECOND);
    assert_number(&r, THREADS, "vm:" UUID "/vhost/0", "tid", 512);
    assert_number(&r, THREADS, "vm:" UUID "/vhost/1", "tid", 511);
    assert_number(&r, THREADS, "vm:" UUID "/vhost/2", "tid", 513);
    end(&r);
}

static void tap(int pid, int fd, const char *ifname)
{
    char text[128];
    snprintf(text, sizeof(text), "pos:\t0\nflags:\t0104002\nmnt_id:\t5\niff:\t%s\n", ifname);
    link_to("/dev/net/tun", "proc/%d/fd/%d", pid, fd);
    put(text, "proc/%d/fdinfo/%d", pid, fd);
}

/* A card that was plugged in later has a worker of any rank: which is whose is not known then. */
static void vhost_workers_of_cards(void **state)
{
    (void)state;
    struct reader r;
    const char *first = "vm:" UUID "/vhost/0", *second = "vm:" UUID "/vhost/1";
    guest(500, "web", UUID,
          "-netdev tap,fd=30,id=hostnet0,vhost=on,vhostfd=31 -device virtio-net-pci,netdev=hostnet0,id=net0 "
          "-netdev tap,fd=32,id=hostnet1,vhost=on,vhostfd=33 -device virtio-net-pci,netdev=hostnet1,id=net1");
    tap(500, 30, "vnet4");
    tap(500, 32, "vnet5");
    thread(500, 510, (struct made){.comm = "vhost-500"});
    thread(500, 511, (struct made){.comm = "vhost-500"});
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_text(&r, THREADS, first, "serves", "net0/0");
    assert_text(&r, THREADS, second, "serves", "net1/0");
    assert_absent(&r, THREADS, "vm:" UUID "/vcpu/0", "serves");
    drop("proc/500/fd/30"); /* net0 goes, another comes, and its worker is the lowest that is free */
    drop("proc/500/fdinfo/30");
    tap(500, 34, "vnet9");
    drop("proc/500/task/510");
    thread(500, 512, (struct made){.comm = "vhost-500"});
    tick(&r, 2 * SECOND);
    assert_number(&r, THREADS, first, "tid", 512);
    assert_absent(&r, THREADS, first, "serves");
    assert_absent(&r, THREADS, second, "serves");
    end(&r);
}

static void threads_without_names(void **state)
{
    (void)state;
    struct reader r;
    command_line(500, "qemu-system-x86_64 -enable-kvm -smp 2 -m 64 -name plain -uuid " UUID);
    thread(500, 500, (struct made){.comm = "qemu-system-x86", .ticks = 900});
    thread(500, 501, (struct made){.comm = "qemu-system-x86"});
    thread(500, 502, (struct made){.comm = "qemu-system-x86"});
    thread(500, 503, (struct made){.comm = "qemu-system-x86"});
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, THREADS), 1);
    put_stat(500, 502, (struct made){.comm = "qemu-system-x86", .guest_ticks = 5});
    put_stat(500, 503, (struct made){.comm = "qemu-system-x86", .guest_ticks = 7});
    tick(&r, 2 * SECOND);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "tid", 502);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "tid", 503);
    assert_true(cell_of(&r, THREADS, "vm:" UUID "/vcpu/1", "role").approx);
    assert_true(cell_of(&r, THREADS, "vm:" UUID "/vcpu/1", "index").approx);
    thread(500, 504, (struct made){.comm = "qemu-system-x86", .guest_ticks = 1});
    tick(&r, 2 * SECOND); /* plugged in: the numbers of the first two stay */
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "tid", 503);
    end(&r);
}

/* Names come after the start: first all are the process's own. */
static void names_come_late(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    put_stat(500, 503, (struct made){.comm = "qemu-system-x86"});
    put_stat(500, 504, (struct made){.comm = "qemu-system-x86"});
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_false(has_row(&r, THREADS, "vm:" UUID "/vcpu/0"));
    put_stat(500, 503, (struct made){.comm = "CPU 0/KVM"});
    put_stat(500, 504, (struct made){.comm = "CPU 1/KVM"});
    tick(&r, 2 * SECOND);
    assert_true(has_row(&r, THREADS, "vm:" UUID "/vcpu/0"));
    assert_true(has_row(&r, THREADS, "vm:" UUID "/vcpu/1"));
    end(&r);
}

static void kernel_without_accounts(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "zero", UUID, "");
    for (int tid = 500; tid < 505; tid++)
        put_times(500, tid, 0, 0, 0);
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_absent(&r, THREADS, "vm:" UUID "/vcpu/0", "run_ns");
    assert_absent(&r, THREADS, "vm:" UUID "/vcpu/0", "steal_pct");
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "cpu", 3);
    assert_non_null(strstr(r.call.detail, "CONFIG_SCHED_INFO"));
    end(&r);
    for (int tid = 500; tid < 505; tid++)
        drop("proc/500/task/%d/schedstat", tid);
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_absent(&r, THREADS, "vm:" UUID "/vcpu/0", "delay_ns");
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "cpu", 3);
    assert_non_null(strstr(r.call.detail, "CONFIG_SCHED_INFO"));
    end(&r);
}

/* What a dead thread's kept descriptor says: nothing. */
static void threads_end_in_mid_read(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    guest(600, "db", "6b3f1d4e-0c55-4b0e-9a51-000000000002", "");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, THREADS), 8);
    put("", "proc/500/task/504/schedstat");
    tick(&r, SECOND / 10);
    assert_int_equal(rows(&r, THREADS), 7);
    assert_false(has_row(&r, THREADS, "vm:" UUID "/vcpu/1"));
    drop("proc/500/task/504");
    tick(&r, SECOND / 10); /* looked at at once */
    assert_number(&r, VMS, "vm:" UUID, "vcpus", 1);
    put("", "proc/500/task/500/schedstat");
    tick(&r, SECOND / 10);
    assert_int_equal(rows(&r, VMS), 1); /* the whole guest is gone, not the half of it */
    assert_int_equal(rows(&r, THREADS), 4);
    drop("proc/500");
    tick(&r, SECOND / 10);
    assert_int_equal(rows(&r, VMS), 1);
    assert_string_equal(r.call.detail, "1 VM, 4 threads");
    drop("proc/600"); /* ends between two reads: the descriptors of this tree still answer */
    tick(&r, 2 * SECOND);
    assert_int_equal(rows(&r, VMS) + rows(&r, THREADS), 0);
    end(&r);
}

static void vcpus_come(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    thread(500, 520, (struct made){.comm = "CPU 2/KVM"});
    tick(&r, 2 * SECOND);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/2", "tid", 520);
    assert_number(&r, VMS, "vm:" UUID, "vcpus", 3);
    assert_int_equal(cell_of(&r, THREADS, "vm:" UUID "/vcpu/2", "run_pct").kind, CELL_NEW);
    tick(&r, SECOND);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/2", "run_pct", 0);
    end(&r);
}

static void a_process_becomes_a_guest(void **state)
{
    (void)state;
    struct reader r;
    begin(&r, &qemu_collector);
    tick(&r, 0);
    command_line(500, "libvirtd --daemon");
    thread(500, 500, (struct made){.comm = "libvirtd"});
    tick(&r, 2 * SECOND);
    assert_int_equal(rows(&r, VMS), 0);
    guest(500, "web", UUID, "");
    tick(&r, 2 * SECOND);
    assert_int_equal(rows(&r, VMS), 1);
    command_line(500, "/bin/sleep 100");
    for (int i = 0; i < 6; i++)
        tick(&r, 2 * SECOND);
    assert_int_equal(rows(&r, VMS), 0);
    end(&r);
}

/* One that was looked at often enough is looked at again within about a minute. */
static void an_old_process_becomes_a_guest(void **state)
{
    (void)state;
    struct reader r;
    command_line(500, "/bin/bash");
    thread(500, 500, (struct made){.comm = "bash"});
    begin(&r, &qemu_collector);
    for (int i = 0; i < 10; i++)
        tick(&r, 2 * SECOND);
    guest(500, "web", UUID, "");
    for (int i = 0; i < 33 && rows(&r, VMS) == 0; i++)
        tick(&r, 2 * SECOND);
    assert_int_equal(rows(&r, VMS), 1);
    end(&r);
}

static void two_processes_of_one_uuid(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    guest(900, "web", UUID, "-incoming defer");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, VMS), 2);
    assert_number(&r, VMS, "vm:" UUID, "pid", 500);
    assert_number(&r, VMS, "vm:pid:900:1000", "pid", 900);
    assert_true(has_row(&r, THREADS, "vm:pid:900:1000/vcpu/0"));
    drop("proc/500");
    tick(&r, 2 * SECOND);
    assert_number(&r, VMS, "vm:" UUID, "pid", 900);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "tid", 903);
    end(&r);
}

static void hostile_names(void **state)
{
    (void)state;
    struct reader r;
    command_line(500, "qemu-system-x86_64 -name guest=\x1b[2J%s%n\xff -uuid no-uuid -smp 99999999999 -m -1");
    thread(500, 500, (struct made){.comm = ") R 1 (("});
    thread(500, 501, (struct made){.comm = "CPU 0/KVM"});
    thread(500, 502, (struct made){.comm = "CPU 0/KVM"}); /* twice */
    thread(500, 503, (struct made){.comm = "IO iothread1"});
    thread(500, 504, (struct made){.comm = "IO iothread1"});
    thread(500, 505, (struct made){.comm = "IO \n\x1b%s"});
    put("garbage", "proc/500/task/505/schedstat");
    thread(500, 506, (struct made){.comm = "CPU 77777777777"});
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_text(&r, VMS, "vm:pid:500:600", "name", "\x1b[2J%s%n\xff");
    assert_number(&r, THREADS, "vm:pid:500:600/vcpu/0", "tid", 501);
    assert_number(&r, THREADS, "vm:pid:500:600/other/502", "tid", 502);
    assert_text(&r, THREADS, "vm:pid:500:600/other/502", "role", "vcpu");
    assert_number(&r, THREADS, "vm:pid:500:600/iothread/1", "tid", 503);
    assert_number(&r, THREADS, "vm:pid:500:600/other/504", "tid", 504);
    assert_absent(&r, THREADS, "vm:pid:500:600/iothread/\n\x1b%s", "run_ns");
    assert_int_equal(r.frame->table[THREADS].n, rows(&r, THREADS)); /* no key twice */
    end(&r);
}

static void workers_when_they_work(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    thread(500, 530, (struct made){.comm = "worker"});
    begin(&r, &qemu_collector);
    tick(&r, 0);
    tick(&r, 2 * SECOND);
    assert_false(has_row(&r, THREADS, "vm:" UUID "/worker/530"));
    put_times(500, 530, 1000000 + 50000000, 0, 11);
    put_times(500, 501, 1000000 + 1000000, 0, 11);
    tick(&r, 2 * SECOND);
    assert_text(&r, THREADS, "vm:" UUID "/worker/530", "role", "worker");
    assert_false(has_row(&r, THREADS, "vm:" UUID "/other/501")); /* half a per mille */
    tick(&r, 20 * SECOND);
    assert_true(has_row(&r, THREADS, "vm:" UUID "/worker/530"));
    drop("proc/500/task/530");
    tick(&r, 2 * SECOND);
    assert_false(has_row(&r, THREADS, "vm:" UUID "/worker/530"));
    end(&r);
}

static void cards(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID,
          "-netdev tap,fd=30,id=hostnet0,vhost=on,vhostfd=31 -device "
          "virtio-net-pci,netdev=hostnet0,id=net0,mac=52:54:00:AA:00:01 "
          "-chardev socket,id=charnet1,path=/run/vhu1,server=on -netdev "
          "vhost-user,chardev=charnet1,id=hostnet1 "
          "-device virtio-net-pci,netdev=hostnet1,id=net1,mac=52:54:00:aa:00:02 "
          "-netdev tap,fd=33,id=hostnet2 -device e1000,netdev=hostnet2,id=net2,mac=52:54:00:aa:00:03 "
          "-device vfio-pci,host=0000:3b:02.1,id=hostdev0 -device vfio-pci,host=0000:3c:00.0,id=hostdev1 "
          "-netdev user,id=u -device rtl8139,netdev=u");
    link_to("net:[4026531840]", "proc/500/ns/net");
    tap(500, 30, "vnet4");
    link_to("/dev/vhost-net", "proc/500/fd/31");
    link_to("/dev/tap12", "proc/500/fd/33");
    put("2    eth0            1     0     333300000001\n12   macvtap0        1     0     333300000001\n",
        "proc/500/net/dev_mcast");
    put("0x020000\n", "sys/bus/pci/devices/0000:3b:02.1/class");
    put("0x030000\n", "sys/bus/pci/devices/0000:3c:00.0/class");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    const char *net0 = "path:vm:" UUID ":52:54:00:aa:00:01", *net1 = "path:vm:" UUID ":52:54:00:aa:00:02",
               *net2 = "path:vm:" UUID ":52:54:00:aa:00:03";
    assert_int_equal(rows(&r, PATHS), 5);
    assert_text(&r, PATHS, net0, "nic", "net0");
    assert_text(&r, PATHS, net0, "port", "vnet4");
    assert_text(&r, PATHS, net0, "backend", "vhost");
    assert_text(&r, PATHS, net0, "mac", "52:54:00:aa:00:01");
    assert_number(&r, PATHS, net0, "netns_inode", 4026531840);
    assert_text(&r, PATHS, net1, "backend", "vhost-user");
    assert_text(&r, PATHS, net1, "socket", "/run/vhu1");
    assert_text(&r, PATHS, net1, "socket_side", "listens");
    assert_text(&r, PATHS, net2, "backend", "macvtap");
    assert_text(&r, PATHS, net2, "port", "macvtap0");
    assert_text(&r, PATHS, net2, "model", "e1000");
    bool vfio = false, user = false;
    for (size_t i = 0; i < rows(&r, PATHS); i++) {
        const struct paths_info *info = (const struct paths_info *)sample_row_at(r.cur, PATHS, i)->info;
        vfio |= strcmp(info->backend, "vfio") == 0 && strcmp(info->pci, "0000:3b:02.1") == 0 &&
                strcmp(info->model, "vfio") == 0 && !info_has(info, mac);
        user |= strcmp(info->backend, "user") == 0 && strcmp(info->model, "rtl8139") == 0;
    }
    assert_true(vfio);
    assert_true(user);
    end(&r);
}

static void cards_come_and_go(void **state)
{
    (void)state;
    struct reader r;
    guest(
        500, "web", UUID,
        "-netdev tap,fd=30,id=hostnet0 -device virtio-net-pci,netdev=hostnet0,id=net0,mac=52:54:00:aa:00:01");
    tap(500, 30, "vnet4");
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, PATHS), 1);
    drop("proc/500/fd/30");
    tap(500, 40, "vnet5");
    tap(500, 41, "own");
    put("fe:54:00:aa:00:09\n", "sys/class/net/vnet5/address");
    put("9a:54:00:aa:00:09\n", "sys/class/net/own/address");
    for (int i = 0; i < 6; i++)
        tick(&r, 2 * SECOND);
    const char *late = "path:vm:" UUID ":52:54:00:aa:00:09";
    assert_false(has_row(&r, PATHS, "path:vm:" UUID ":52:54:00:aa:00:01"));
    assert_text(&r, PATHS, late, "port", "vnet5");
    assert_true(cell_of(&r, PATHS, late, "mac").approx);
    assert_absent(&r, PATHS, late, "nic");
    assert_text(&r, PATHS, "path:vm:" UUID ":#own", "port", "own");
    assert_absent(&r, PATHS, "path:vm:" UUID ":#own", "mac");
    assert_int_equal(rows(&r, PATHS), 2);
    end(&r);
}

/* The kernel tells the number of descriptors, so all of them are looked at seldom; but they are: a card may
 * take another's place between two scans. */
static void a_card_takes_anothers_place(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    tap(500, 40, "own");
    begin(&r, &qemu_collector);
    for (int i = 0; i < 6; i++)
        tick(&r, 2 * SECOND);
    drop("proc/500/fd/40");
    drop("proc/500/fdinfo/40");
    tap(500, 41, "other");
    for (int i = 0; i < 6; i++)
        tick(&r, 2 * SECOND);
    assert_true(has_row(&r, PATHS, "path:vm:" UUID ":#own")); /* not looked at */
    for (int i = 0; i < 25; i++)
        tick(&r, 2 * SECOND);
    assert_false(has_row(&r, PATHS, "path:vm:" UUID ":#own"));
    assert_true(has_row(&r, PATHS, "path:vm:" UUID ":#other"));
    end(&r);
}

static void places(void **state)
{
    (void)state;
    struct reader r;
    guest(500, "web", UUID, "");
    begin(&r, &qemu_places_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, THREADS), 4);
    assert_int_equal(rows(&r, VMS), 0);
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/0", "allowed_cpus", "0-7");
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/0", "role", "vcpu");
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "cpu", 3);
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/0", "state", "S");
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "voluntary", 5);
    assert_absent(&r, THREADS, "vm:" UUID "/vcpu/0", "run_ns");
    put_status(500, 503, "2", 25, 46);
    put_stat(500, 503, (struct made){.comm = "CPU 0/KVM", .cpu = 2});
    tick(&r, 2 * SECOND);
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/0", "allowed_cpus", "2");
    assert_text(&r, THREADS, "vm:" UUID "/vcpu/1", "allowed_cpus", "0-7");
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "cpu", 2);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "voluntary_per_s", 10);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/0", "involuntary_per_s", 20);
    put("", "proc/500/task/503/stat");
    tick(&r, 2 * SECOND);
    assert_int_equal(rows(&r, THREADS), 3);
    drop("proc/500");
    tick(&r, 2 * SECOND);
    assert_int_equal(rows(&r, THREADS), 0);
    end(&r);
}

/* Above 64 threads the last CPU is left to the slower collector. */
static void many_threads(void **state)
{
    (void)state;
    struct reader r;
    char comm[16];
    guest(500, "web", UUID, "");
    for (int i = 2; i < 70; i++) {
        snprintf(comm, sizeof(comm), "CPU %d/KVM", i);
        thread(500, 600 + i, (struct made){.comm = comm});
    }
    begin(&r, &qemu_collector);
    tick(&r, 0);
    assert_int_equal(rows(&r, THREADS), 72);
    assert_absent(&r, THREADS, "vm:" UUID "/vcpu/69", "cpu");
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/69", "run_ns", 1000000);
    end(&r);
}

/* The last case: the limit stays lowered. */
static void descriptors_run_out(void **state)
{
    (void)state;
    struct rlimit few;
    struct reader r;
    guest(500, "web", UUID, "");
    few = (struct rlimit){.rlim_cur = 16, .rlim_max = 16}; /* half are left to the rest */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    begin(&r, &qemu_collector);
    tick(&r, 0);
    put_times(500, 504, 1000000 + 250000000, 2000000, 11);
    tick(&r, SECOND / 2);
    assert_int_equal(rows(&r, THREADS), 4);
    assert_number(&r, THREADS, "vm:" UUID "/vcpu/1", "run_pct", 50);
    assert_non_null(strstr(r.call.detail, "ulimit -n"));
    put("", "proc/500/task/504/schedstat");
    tick(&r, SECOND / 2);
    assert_int_equal(rows(&r, THREADS), 3);
    end(&r);
}

/* Whatever runs on this machine, it is read and given back whole. */
static void this_machine(void **state)
{
    (void)state;
    struct reader r;
    const struct collector *both[] = {&qemu_collector, &qemu_places_collector};
    for (int i = 0; i < 2; i++) {
        begin(&r, both[i]);
        r.config.root = "";
        r.collector->close(r.state);
        assert_int_equal(r.collector->open(&r.config, &r.state, &r.call), COLLECT_OK);
        tick(&r, 0);
        tick(&r, 2 * SECOND);
        end(&r);
    }
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(a_guest_of_libvirt),
        TREE_TEST(rates_are_over_their_own_time),
        TREE_TEST(nothing_runs),
        TREE_TEST(others_are_hidden),
        TREE_TEST(no_proc_is_a_failure),
        TREE_TEST(recorded_by_hand),
        TREE_TEST(recorded_with_vhost_kernel_threads),
        TREE_TEST(vhost_workers_inside),
        TREE_TEST(vhost_workers_of_cards),
        TREE_TEST(threads_without_names),
        TREE_TEST(names_come_late),
        TREE_TEST(kernel_without_accounts),
        TREE_TEST(threads_end_in_mid_read),
        TREE_TEST(vcpus_come),
        TREE_TEST(a_process_becomes_a_guest),
        TREE_TEST(an_old_process_becomes_a_guest),
        TREE_TEST(two_processes_of_one_uuid),
        TREE_TEST(hostile_names),
        TREE_TEST(workers_when_they_work),
        TREE_TEST(cards),
        TREE_TEST(cards_come_and_go),
        TREE_TEST(a_card_takes_anothers_place),
        TREE_TEST(places),
        TREE_TEST(many_threads),
        TREE_TEST(this_machine),
        TREE_TEST(descriptors_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
