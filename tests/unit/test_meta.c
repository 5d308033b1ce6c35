/* SPDX-License-Identifier: MIT */
/* meta.json and the host's facts: of a tree made here, of a tree with nothing in it, and with hostile texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/meta.h"

struct tree_file {
    const char *path, *text;
};

/* Two CPUs of a package with two threads a core, a third one offline on another node. */
static const struct tree_file tree_files[] = {
    {"proc/sys/kernel/hostname", "kvm1\n"},
    {"proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"},
    {"proc/sys/kernel/random/boot_id", "0c8e1f6e-6ff5-4f0e-9a53-16b9ba4b1c5e\n"},
    {"proc/cmdline", "quiet isolcpus=1-2 name=\xff\n"},
    {"proc/cpuinfo", "processor\t: 0\nmodel name suffix\t: no\nmodel name\t: AMD EPYC 7763\nflags\t\t: fpu "
                     "hypervisor_x vme\n\nprocessor\t: 1\nmodel name\t: other\n"},
    {"sys/class/dmi/id/product_name", "PowerEdge R6525\n"},
    {"sys/devices/system/cpu/isolated", "1-2\n"},
    {"sys/devices/system/cpu/nohz_full", "\n"},
    {"sys/devices/system/cpu/online", "0-1\n"},
    {"sys/devices/system/cpu/cpu0/topology/core_id", "0\n"},
    {"sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"},
    {"sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n"},
    {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"},
    {"sys/devices/system/cpu/cpu1/topology/core_id", "0\n"},
    {"sys/devices/system/cpu/cpu1/topology/physical_package_id", "-1\n"},
    {"sys/devices/system/cpu/cpu10/topology/core_id", "junk\n"},
    {"sys/devices/system/cpu/cpufreq/x", ""},
    {"sys/devices/system/cpu/cpu99999999999999999999/x", ""},
    {"sys/devices/system/node/node0/cpulist", "0-1\n"},
    {"sys/devices/system/node/node3/cpulist", "8,10-11\n"},
    {"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n"},
    {"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "500\n"},
    {"sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "x\n"},
    {"sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
};

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
}

static char *make_tree(char *root)
{
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < sizeof(tree_files) / sizeof(tree_files[0]); i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/%s", root, tree_files[i].path);
        make_folders(path);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(tree_files[i].text, file);
        fclose(file);
    }
    return root;
}

static void remove_tree(const char *root)
{
    for (size_t i = 0; i < sizeof(tree_files) / sizeof(tree_files[0]); i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/%s", root, tree_files[i].path);
        unlink(path);
        for (char *slash; (slash = strrchr(path, '/')) > path + strlen(root) - 1;) {
            *slash = '\0';
            if (rmdir(path) < 0)
                break;
        }
    }
    rmdir(root);
}

static void test_facts(void **state)
{
    (void)state;
    char root[] = "/tmp/vnettop-meta-XXXXXX";
    struct host_facts *facts = host_facts_read(make_tree(root));
    assert_string_equal(facts->name, "kvm1");
    assert_string_equal(facts->isolated, "1-2");
    assert_string_equal(facts->nohz_full, "");
    assert_string_equal(facts->cpu_model, "AMD EPYC 7763");
    assert_string_equal(facts->hypervisor, "none");
    assert_string_equal(facts->transparent_huge_pages, "madvise");
    assert_null(facts->clock_source);
    assert_int_equal(facts->n_cpus, 3);
    const struct cpu_fact *cpu = facts->cpus;
    assert_true(cpu[0].cpu == 0 && cpu[0].core == 0 && cpu[0].package == 0 && cpu[0].numa == 0);
    assert_true(cpu[0].online == 1 && cpu[1].online == 1 && cpu[2].online == 0);
    assert_string_equal(cpu[0].siblings, "0-1");
    assert_string_equal(cpu[0].governor, "performance");
    assert_true(cpu[1].cpu == 1 && cpu[1].package == -1 && cpu[1].siblings == NULL);
    assert_true(cpu[2].cpu == 10 && cpu[2].core == -1 && cpu[2].numa == 3);
    assert_int_equal(facts->n_huge_pages, 1);
    assert_int_equal(facts->huge_pages[0].size_kb, 2048);
    assert_int_equal(facts->huge_pages[0].free, 500);
    host_facts_free(facts);
    remove_tree(root);
    assert_int_equal(access(root, F_OK), -1);
}

static void test_no_facts(void **state)
{
    (void)state;
    struct host_facts *facts = host_facts_read("/nonexistent");
    assert_null(facts->name);
    assert_null(facts->hypervisor);
    assert_int_equal(facts->n_cpus, 0);
    host_facts_free(facts);
    host_facts_free(NULL);
}

static json_t *parse(const struct meta *meta)
{
    char *text = meta_text(meta);
    assert_non_null(text);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    assert_int_equal(text[strlen(text) - 1], '\n');
    free(text);
    return json;
}

static const char *text_at(json_t *json, const char *object, const char *name)
{
    return json_string_value(json_object_get(json_object_get(json, object), name));
}

static void test_meta(void **state)
{
    (void)state;
    char root[] = "/tmp/vnettop-meta-XXXXXX";
    struct host_facts *facts = host_facts_read(make_tree(root));
    struct meta *meta = meta_new(facts, 0.1);
    host_facts_free(facts);
    remove_tree(root);
    meta_set(meta, META_LABELS, "path", "ovs-dpdk");
    meta_set(meta, META_LABELS, "\xff", "\xfe\"\n");
    meta_set(meta, META_VERSIONS, "ovs", "3.1.0");
    meta_set_command(meta, (const char *const[]){"iperf3", "-c", "\x80", NULL});
    meta_set_start(meta, 5, INT64_C(1714979289123456789));
    json_t *json = parse(meta);
    assert_int_equal(json_integer_value(json_object_get(json, "schema_version")), META_SCHEMA_VERSION);
    assert_true(json_real_value(json_object_get(json, "interval_s")) == 0.1);
    assert_string_equal(text_at(json, "labels", "path"), "ovs-dpdk");
    assert_string_equal(text_at(json, "labels", "\xef\xbf\xbd"), "\xef\xbf\xbd\"\n");
    assert_string_equal(text_at(json, "versions", "ovs"), "3.1.0");
    assert_string_equal(text_at(json, "start", "time"), "2024-05-06T07:08:09.123Z");
    assert_string_equal(text_at(json, "host", "command_line"), "quiet isolcpus=1-2 name=\xef\xbf\xbd");
    json_t *host = json_object_get(json, "host");
    json_t *cpu = json_array_get(json_object_get(host, "cpus"), 0);
    assert_string_equal(json_string_value(json_object_get(cpu, "governor")), "performance");
    assert_string_equal(json_string_value(json_object_get(cpu, "siblings")), "0-1");
    assert_int_equal(json_integer_value(json_object_get(cpu, "numa")), 0);
    assert_string_equal(text_at(json, "host", "isolated"), "1-2");
    assert_string_equal(text_at(json, "host", "kernel"), "6.1.0-18-amd64");
    json_t *pages = json_array_get(json_object_get(host, "huge_pages"), 0);
    assert_int_equal(json_integer_value(json_object_get(pages, "total")), 512);
    assert_null(json_object_get(host, "clock_source"));
    assert_int_equal(json_array_size(json_object_get(host, "cpus")), 3);
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "command"), 2)),
                        "\xef\xbf\xbd");
    assert_true(json_is_null(json_object_get(json, "end")));
    assert_true(json_is_null(json_object_get(json, "exit_status")));
    json_decref(json);
    meta_set_exit_status(meta, 3);
    json = parse(meta);
    assert_int_equal(json_integer_value(json_object_get(json, "exit_status")), 3);
    json_decref(json);
    meta_free(meta);
    meta_free(NULL);
}

/* Who may run where, and was to: of each thread, by its guest's key, since two hosts may have one name. */
static void test_pins(void **state)
{
    (void)state;
    struct inventory *inventory = inventory_new();
    struct threads_info *info = inventory_info(inventory, TABLE_THREADS, "vm:1/vcpu/0");
    info_set(info, role, "vcpu");
    info_set(info, vm, "web");
    info_set(info, vm_key, "vm:1");
    info_set(info, index, 0);
    info_set(info, allowed_cpus, "0-3");
    info_set(info, pinned_cpus, "2");
    info_set(info, pinned_next, "3");
    struct sample *sample = sample_new(inventory);
    sample_row(sample, TABLE_THREADS, info);
    struct pair pair = {.feed = "qemu", .cur = sample};
    struct frame *frame = frame_new(&pair, 1, 1, 1, 0);
    struct meta *meta = meta_new(NULL, 1);
    meta_set_pins(meta, frame);
    json_t *json = parse(meta), *pin = json_array_get(json_object_get(json, "pin_map"), 0);
    static const char *const wanted[][2] = {{"vm", "web"},        {"vm_key", "vm:1"},
                                            {"role", "vcpu"},     {"allowed_cpus", "0-3"},
                                            {"pinned_cpus", "2"}, {"pinned_next", "3"}};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        assert_string_equal(json_string_value(json_object_get(pin, wanted[i][0])), wanted[i][1]);
    assert_int_equal(json_integer_value(json_object_get(pin, "index")), 0);
    assert_null(json_object_get(pin, "cpu")); /* not known: not there */
    json_decref(json);
    meta_free(meta);
    frame_free(frame);
    sample_unref(sample);
    inventory_unref(inventory);
}

static void test_sources(void **state)
{
    (void)state;
    struct inventory *inventory = inventory_new();
    struct sources_info *info = inventory_info(inventory, TABLE_SOURCES, "ovs");
    info_set(info, name, "ovs");
    struct sample *sample = sample_new(inventory);
    struct sources_row *row = sample_row(sample, TABLE_SOURCES, info);
    row_set(row, state, "no answer");
    row_set(row, detail, "socket \xff");
    struct pair pair = {.feed = "self", .cur = sample};
    struct frame *frame = frame_new(&pair, 1, 1, 1, 0);
    struct meta *meta = meta_new(NULL, 1);
    meta_set_sources(meta, frame);
    json_t *json = parse(meta);
    json_t *source = json_array_get(json_object_get(json, "sources"), 0);
    assert_string_equal(json_string_value(json_object_get(source, "name")), "ovs");
    assert_string_equal(json_string_value(json_object_get(source, "state")), "no answer");
    assert_string_equal(json_string_value(json_object_get(source, "detail")), "socket \xef\xbf\xbd");
    json_decref(json);
    meta_free(meta);
    frame_free(frame);
    sample_unref(sample);
    inventory_unref(inventory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts), cmocka_unit_test(test_no_facts), cmocka_unit_test(test_meta),
        cmocka_unit_test(test_pins),  cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests_name("meta", tests, NULL, NULL);
}
