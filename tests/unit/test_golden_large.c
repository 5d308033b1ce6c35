/* SPDX-License-Identifier: MIT */
/*
 * Golden screens of a large host: the pin map of 48 vCPUs on 192 CPUs of four NUMA nodes, and the tables of
 * 200 virtual machines, at three sizes. `make golden` writes them anew; the diff is read. Runs in the root of
 * the source tree.
 */
#include "unit/hand_frame.h"

#include "unit/golden.h"

#include "ui/dump.h"
#include "ui/views.h"

enum { CPUS = 192, CORES = CPUS / 2, NODES = 4 };

static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};

/* Two threads a core, the second half of the numbers being the siblings, as firmware counts them. */
static void large_cpus(struct hand *hand)
{
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        char siblings[16], key[32];
        unsigned core = cpu % CORES;
        snprintf(siblings, sizeof(siblings), "%u,%u", core, core + CORES);
        hand_cpu(hand, cpu, core / (CORES / NODES), siblings);
        snprintf(key, sizeof(key), "cpu:%u", cpu);
        FACT(hand, cpus, CPUS, key, core, (uint64_t)core);
        FACT(hand, cpus, CPUS, key, isolated, core % 24 >= 4 && core % 24 < 16 ? "yes" : "no");
        hand_cpu_ticks(hand, cpu, 99, 0);
    }
}

static void large_vcpu(struct hand *hand, const char *vm, unsigned vcpu, unsigned cpu, const char *allowed,
                       double run, double steal)
{
    hand_thread(hand, vm, "vcpu", vcpu, cpu, allowed, run, steal);
    hand_cpu_ticks(hand, cpu, (unsigned)(100 - run), 0);
}

/* Twelve guests of four vCPUs: eight with a core's thread for each vCPU, two kept to a node, two anywhere.
 * The last of the pinned ones shares a CPU with a PMD. */
static void large_guests(struct hand *hand)
{
    for (unsigned vm = 0; vm < 12; vm++) {
        char key[64], name[16], allowed[32];
        snprintf(key, sizeof(key), "vm:11111111-0000-4000-8000-%012u", vm);
        snprintf(name, sizeof(name), "guest%u", vm);
        hand_vm(hand, key, name, "qemu:///system");
        for (unsigned i = 0; i < 4; i++) {
            unsigned node = vm % NODES, cpu = node * 24 + 4 + vm / NODES * 4 + i;
            if (vm < 8)
                snprintf(allowed, sizeof(allowed), "%u", vm == 7 && i == 3 ? 72 : cpu);
            else if (vm < 10)
                snprintf(allowed, sizeof(allowed), "%u-%u,%u-%u", node * 24, node * 24 + 23,
                         node * 24 + CORES, node * 24 + CORES + 23);
            else
                snprintf(allowed, sizeof(allowed), "0-191");
            cpu = vm < 8 ? (vm == 7 && i == 3 ? 72 : cpu) : node * 24 + CORES + 4 + i;
            large_vcpu(hand, key, i, cpu, allowed, 20 + 6 * i, vm == 7 && i == 3 ? 40 : 0);
        }
    }
}

/* Somebody moved guest1's first vCPU away from where libvirt was told to keep it. */
static void large_moved(struct hand *hand)
{
    THREAD_FACT(hand, "vm:11111111-0000-4000-8000-000000000001/vcpu/0", pinned_cpus, "27");
}

/* A guest of another host, whose CPU 40 is not ours. */
static void large_elsewhere(struct hand *hand)
{
    hand_thread(hand, "far", "vcpu", 0, 0, NULL, 90, 0);
    THREAD_FACT(hand, "far/vcpu/0", pinned_cpus, "40");
    UNKNOWN(hand, threads, THREADS, "far/vcpu/0", cpu);
}

static struct hand large_host(void)
{
    struct hand hand = hand_new();
    large_cpus(&hand);
    large_guests(&hand);
    large_moved(&hand);
    large_elsewhere(&hand);
    for (unsigned node = 0; node < NODES; node++) {
        char allowed[8];
        snprintf(allowed, sizeof(allowed), "%u", node * 24);
        hand_thread(&hand, "ovs-vswitchd", "pmd", node * 24, node * 24, allowed, node == 3 ? 60 : 99.9, 0);
        hand_cpu_ticks(&hand, node * 24, 0, 0);
    }
    return hand;
}

/* 200 guests of two vCPUs and a tap; names of one are the beginning of others. */
static struct hand many_guests(void)
{
    struct hand hand = hand_new();
    for (unsigned cpu = 0; cpu < 16; cpu++)
        hand_cpu(&hand, cpu, cpu / 8, NULL);
    for (unsigned vm = 0; vm < 200; vm++) {
        char key[64], name[16], mac[24], port[24], tap[16];
        snprintf(key, sizeof(key), "vm:11111111-0000-4000-8000-%012u", vm);
        snprintf(name, sizeof(name), "vm%u", vm);
        snprintf(mac, sizeof(mac), "52:54:00:00:00:%02x", vm);
        snprintf(port, sizeof(port), "net:1:%u", 100 + vm);
        snprintf(tap, sizeof(tap), "vnet%u", vm);
        hand_vm(&hand, key, name, "qemu:///system");
        FACT(&hand, vms, VMS, key, vcpus, UINT64_C(2));
        FACT(&hand, vms, VMS, key, memory_mib, UINT64_C(2048));
        hand_thread(&hand, key, "vcpu", 0, vm % 16, "0-15", vm % 10, vm % 3);
        hand_thread(&hand, key, "vcpu", 1, (vm + 1) % 16, "0-15", vm % 7, 0);
        hand_thread(&hand, key, "emulator", 0, vm % 16, "0-15", 1, 0);
        hand_port(&hand, port, tap, "tap", "br0", 1000 + vm, 2000 + vm);
        hand_path(&hand, key, "net0", mac, "tap", tap, NULL);
    }
    return hand;
}

/* --- screens --- */

static void draw_view(FILE *out, struct hand *hand, const char *name, int cols, int rows)
{
    const struct view *view = view_find(name);
    struct canvas *canvas = canvas_new(rows, cols, true);
    struct table_state state = {0};
    const struct scene scene = {.frame = hand_frame(hand), .interval_ms = 1000, .state = &state};
    const struct area area = {0, rows, cols};
    table_state_init(&state, view);
    table_prepare(&state, scene.frame, view->table);
    if (view->draw)
        view->draw(canvas, area, &scene);
    else
        table_draw(canvas, area, &scene, view->table);
    fprintf(out, "=== %s %dx%d\n", name, cols, rows);
    assert_int_equal(dump_text(canvas, canvas->rows, out), 0);
    table_state_free(&state);
    canvas_free(canvas);
}

static void check_views(const char *golden, struct hand *hand, const char *const *names, size_t n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
            draw_view(out, hand, names[i], sizes[k][0], sizes[k][1]);
    fclose(out);
    assert_true(golden_matches(golden, text));
    free(text);
    hand_free(hand);
}

static void test_pin_map(void **state)
{
    (void)state;
    struct hand hand = large_host();
    check_views("large-pins", &hand, (const char *const[]){"pins"}, 1);
}

static void test_200_guests(void **state)
{
    (void)state;
    struct hand hand = many_guests();
    const struct frame *frame = hand_frame(&hand);
    assert_int_equal(frame->table[TABLE_VMS].n, 200);
    for (size_t i = 0; i < 200; i++) { /* each has its own tap's packets, vm1 not vm10's */
        char path[96];
        snprintf(path, sizeof(path), "path:vm:11111111-0000-4000-8000-%012u:52:54:00:00:00:%02x", (unsigned)i,
                 (unsigned)i);
        struct cell cell = cell_of(frame, TABLE_PATHS, path, "to_guest_pps");
        assert_true(cell_number(&cell) == 2000. + (double)i);
        cell = cell_of(frame, TABLE_VMS, frame->table[TABLE_VMS].rows[i].key, "to_guest_pps");
        assert_true(cell_number(&cell) == 2000. + (double)i);
    }
    check_views("large-guests", &hand, (const char *const[]){"vms", "threads", "paths"}, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pin_map),
        cmocka_unit_test(test_200_guests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
