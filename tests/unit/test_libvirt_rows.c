/* SPDX-License-Identifier: MIT */
/*
 * Rows that are made of domains' XML: keys that meet the qemu source's, pins now and next, NICs of all kinds,
 * guests elsewhere. The domains are parsed from tests/fixtures/libvirt; no libvirt is asked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/libvirt_rows.h"
#include "collectors/libvirt_uri.h"
#include "src/memory.h"

/* Any address: rows ask only whether there is one. */
static char some_handle;

static char *read_fixture(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "tests/fixtures/libvirt/%s.xml", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = xzalloc(65536);
    text[fread(text, 1, 65535, file)] = '\0';
    fclose(file);
    return text;
}

static void parse_fixture(const char *name, struct domain_xml *xml)
{
    char err[256], *text = read_fixture(name);
    assert_int_equal(domain_xml_parse(text, strlen(text), xml, err, sizeof(err)), 0);
    free(text);
}

/* One domain, from the fixtures live and, when given, next; and the sample of its rows. */
struct made {
    struct libvirt_domain domain, *list[1];
    struct libvirt_domains domains;
    struct libvirt_rows rows;
    struct sample *sample;
};

static void make(struct made *made, const char *live, const char *next, bool elsewhere)
{
    memset(made, 0, sizeof(*made));
    parse_fixture(live, &made->domain.xml);
    made->domain.has_xml = true;
    if (next) {
        parse_fixture(next, &made->domain.next);
        made->domain.has_next = true;
    }
    snprintf(made->domain.uuid, sizeof(made->domain.uuid), "%s", made->domain.xml.uuid);
    snprintf(made->domain.name, sizeof(made->domain.name), "%s", made->domain.xml.name);
    made->domain.handle = (virDomainPtr)(void *)&some_handle;
    made->domain.state = VIR_DOMAIN_RUNNING;
    made->domain.checked_ns = 1;
    made->list[0] = &made->domain;
    made->domains = (struct libvirt_domains){.list = made->list, .n = 1};
    libvirt_rows_make(&made->rows, &made->domains, elsewhere ? "qemu+tcp://far/system" : "qemu:///system",
                      elsewhere);
    made->sample = libvirt_rows_sample(&made->rows);
}

static void unmake(struct made *made)
{
    sample_unref(made->sample);
    libvirt_rows_clear(&made->rows);
    if (made->domain.has_xml)
        domain_xml_free(&made->domain.xml);
    if (made->domain.has_next)
        domain_xml_free(&made->domain.next);
}

static const struct row_head *find(const struct made *made, enum table_id table, const char *key)
{
    const struct row_head *found = NULL;
    for (size_t i = 0; i < made->sample->set[table].n; i++) {
        const struct row_head *row = sample_row_at(made->sample, table, i);
        if (strcmp(row->info->key, key) != 0)
            continue;
        assert_null(found);
        found = row;
    }
    if (!found)
        fail_msg("no row %s", key);
    return found;
}

#define VM(made, key)     ((const struct vms_info *)find(made, TABLE_VMS, key)->info)
#define THREAD(made, key) ((const struct threads_info *)find(made, TABLE_THREADS, key)->info)
#define PATH(made, key)   ((const struct paths_info *)find(made, TABLE_PATHS, key)->info)

#define PINNED "vm:4dea22b3-1d52-d8f3-2516-782e98ab3fa0"

static void test_vm_and_threads(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "pinned-numa", NULL, false);
    const struct vms_info *vm = VM(&made, PINNED);
    assert_string_equal(vm->name, "dpdk-fw1");
    assert_string_equal(vm->title, "Firewall & router <1>");
    assert_string_equal(vm->uri, "qemu:///system");
    assert_string_equal(vm->accel, "kvm");
    assert_string_equal(vm->huge_pages, "yes");
    assert_string_equal(vm->numa_nodes, "0-1");
    assert_int_equal(vm->vcpus, 4);
    assert_int_equal(vm->vcpus_max, 4);
    assert_int_equal(vm->memory_mib, 8192);
    assert_int_equal(vm->cpu_shares, 2048);
    assert_string_equal(vm->cpu_quota, "all 150000/50000"); /* of each vCPU -1: no limit */
    assert_false(info_has(vm, pid));
    const struct vms_row *row = (const struct vms_row *)find(&made, TABLE_VMS, PINNED);
    assert_string_equal(row->state, "running");
    assert_int_equal(made.sample->set[TABLE_THREADS].n, 4 + 1 + 2);
    assert_string_equal(THREAD(&made, PINNED "/vcpu/0")->pinned_cpus, "2");
    assert_string_equal(THREAD(&made, PINNED "/vcpu/1")->pinned_cpus, "18");
    assert_string_equal(THREAD(&made, PINNED "/vcpu/3")->pinned_cpus, "0-6,16-23"); /* the domain's cpuset */
    assert_string_equal(THREAD(&made, PINNED "/emulator")->pinned_cpus, "0-1");
    assert_string_equal(THREAD(&made, PINNED "/iothread/1")->pinned_cpus, "0");
    assert_string_equal(THREAD(&made, PINNED "/iothread/1")->role, "iothread");
    assert_string_equal(THREAD(&made, PINNED "/iothread/2")->pinned_cpus, "0-6,16-23");
    assert_string_equal(THREAD(&made, PINNED "/vcpu/2")->vm_key, PINNED);
    assert_int_equal(THREAD(&made, PINNED "/vcpu/2")->index, 2);
    assert_false(info_has(THREAD(&made, PINNED "/vcpu/0"), pinned_next));
    unmake(&made);
}

/* Their numbers need not be 1 to N, and a pin belongs to a number. */
static void test_iothreads_go_by_their_numbers(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "iothreads", NULL, false);
    char key[128];
    static const struct {
        unsigned id;
        const char *pinned;
    } wanted[] = {{7, "3"}, {4, NULL}, {1, NULL}, {2, "1"}};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        snprintf(key, sizeof(key), "vm:%s/iothread/%u", made.domain.uuid, wanted[i].id);
        const struct threads_info *info = THREAD(&made, key);
        assert_int_equal(info->index, wanted[i].id);
        assert_int_equal(info_has(info, pinned_cpus), wanted[i].pinned != NULL);
        if (wanted[i].pinned)
            assert_string_equal(info->pinned_cpus, wanted[i].pinned);
    }
    assert_int_equal(made.sample->set[TABLE_THREADS].n,
                     1 + 1 + 4); /* none for the pin of a thread that is not */
    snprintf(key, sizeof(key), "vm:%s", made.domain.uuid);
    assert_string_equal(VM(&made, key)->cpu_quota, "25000/50000, all 80000/100000");
    assert_string_equal(VM(&made, key)->numa_nodes, "1,3"); /* where its nodes are bound one by one */
    unmake(&made);
}

static void test_numbers_with_gaps(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "hotplug", NULL, false);
    static const char KEY[] = "vm:c7a5fdbd-edaf-9455-926a-d65c16db1809";
    assert_int_equal(VM(&made, KEY)->vcpus, 3);
    assert_int_equal(VM(&made, KEY)->vcpus_max, 8);
    assert_int_equal(made.sample->set[TABLE_THREADS].n, 3 + 1);
    assert_false(info_has(THREAD(&made, "vm:c7a5fdbd-edaf-9455-926a-d65c16db1809/vcpu/2"), pinned_cpus));
    assert_string_equal(THREAD(&made, "vm:c7a5fdbd-edaf-9455-926a-d65c16db1809/vcpu/7")->pinned_cpus, "1,3");
    unmake(&made);
}

/* What differs is told; the same pins, or none on both sides, are not. */
static void test_pins_of_the_next_start(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "pinned-numa", "pinned-numa", false);
    for (size_t i = 0; i < made.sample->set[TABLE_THREADS].n; i++)
        assert_false(info_has((const struct threads_info *)sample_row_at(made.sample, TABLE_THREADS, i)->info,
                              pinned_next));
    unmake(&made);
    make(&made, "pinned-numa", "hotplug", false); /* vCPU 7 alone is pinned there */
    assert_string_equal(THREAD(&made, PINNED "/vcpu/0")->pinned_next, "any");
    assert_string_equal(THREAD(&made, PINNED "/emulator")->pinned_next, "any");
    unmake(&made);
    make(&made, "hotplug", "pinned-numa", false);
    const struct threads_info *vcpu = THREAD(&made, "vm:c7a5fdbd-edaf-9455-926a-d65c16db1809/vcpu/2");
    assert_false(info_has(vcpu, pinned_cpus));
    assert_string_equal(vcpu->pinned_next, "3");
    unmake(&made);
}

static void test_cards(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "live-taps", NULL, false);
    char key[128];
    assert_int_equal(made.sample->set[TABLE_PATHS].n, 4);
    snprintf(key, sizeof(key), "path:vm:%s:52:54:00:00:00:01", made.domain.uuid);
    const struct paths_info *path = PATH(&made, key);
    assert_string_equal(path->nic, "ua-first");
    assert_string_equal(path->port, "g1-t0");
    assert_string_equal(path->model, "virtio");
    assert_string_equal(path->bridge, "br0");
    assert_string_equal(path->link, "up");
    assert_string_equal(path->backend, "tap"); /* no vhost without KVM */
    assert_int_equal(path->queues, 2);
    assert_string_equal(((const struct paths_row *)find(&made, TABLE_PATHS, key))->state, "present");
    assert_false(info_has(path, netns_inode));
    snprintf(key, sizeof(key), "path:vm:%s:52:54:00:00:00:02", made.domain.uuid);
    assert_string_equal(PATH(&made, key)->backend, "user");
    assert_false(info_has(PATH(&made, key), port));
    snprintf(key, sizeof(key), "path:vm:%s:52:54:00:00:00:03", made.domain.uuid);
    assert_string_equal(PATH(&made, key)->backend, "macvtap");
    snprintf(key, sizeof(key), "path:vm:%s:52:54:00:00:00:04", made.domain.uuid);
    assert_string_equal(PATH(&made, key)->backend, "tap");
    assert_string_equal(PATH(&made, key)->model, "rtl8139");
    unmake(&made);
}

static void test_vhost_user_and_handed_over(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "pinned-numa", NULL, false);
    const struct paths_info *path = PATH(&made, "path:" PINNED ":52:54:00:aa:00:01");
    assert_string_equal(path->backend, "vhost-user");
    assert_string_equal(path->socket_side, "listens");
    assert_string_equal(path->socket, "/var/run/openvswitch/vhu1a2b3c4d-5e");
    assert_string_equal(path->port, "vhu1a2b3c4d-5e");
    assert_int_equal(path->queues, 4);
    assert_string_equal(PATH(&made, "path:" PINNED ":52:54:00:aa:00:02")->socket_side, "connects");
    /* Its MAC is libvirt's alone: the address is what QEMU's command line has too. */
    path = PATH(&made, "path:" PINNED ":0000:3b:0a.1");
    assert_string_equal(path->backend, "vfio");
    assert_string_equal(path->model, "vfio");
    assert_string_equal(path->mac, "52:54:00:6d:90:02");
    assert_string_equal(path->pci, "0000:3b:0a.1");
    assert_false(info_has(path, port));
    unmake(&made);
}

static void test_networks(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "networks", NULL, false);
    static const char KEY[] = "path:vm:c7a5fdbd-edaf-9455-926a-d65c16db180a:";
    char key[128];
    static const char *const backends[][2] = {
        {"52:54:00:00:00:01", "vhost"},
        {"52:54:00:00:00:02", "tap"},
        {"52:54:00:00:00:03", "macvtap"},
        {"52:54:00:00:00:04", "vhost-vdpa"},
        {"#5", "user"},
        {"#6", "socket"},
    };
    for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        snprintf(key, sizeof(key), "%s%s", KEY, backends[i][0]);
        assert_string_equal(PATH(&made, key)->backend, backends[i][1]);
    }
    snprintf(key, sizeof(key), "%s%s", KEY, "#4"); /* without MAC and alias */
    assert_string_equal(PATH(&made, key)->port, "tap7");
    assert_string_equal(PATH(&made, key)->nic, "net4");
    unmake(&made);
}

/* Two cards with one MAC are two rows. */
static void test_one_mac_twice(void **unused)
{
    (void)unused;
    static const char XML[] =
        "<domain type='kvm' id='1'><name>twins</name><uuid>c7a5fdbd-edaf-9455-926a-d65c16db180b</uuid>"
        "<vcpu>1</vcpu><devices>"
        "<interface type='bridge'><mac address='52:54:00:00:00:01'/><target dev='t0'/></interface>"
        "<interface type='bridge'><mac address='52:54:00:00:00:01'/><target dev='t1'/></interface>"
        "</devices></domain>";
    struct made made;
    char err[128];
    make(&made, "hotplug", NULL, false);
    sample_unref(made.sample);
    domain_xml_free(&made.domain.xml);
    assert_int_equal(domain_xml_parse(XML, sizeof(XML) - 1, &made.domain.xml, err, sizeof(err)), 0);
    libvirt_rows_make(&made.rows, &made.domains, "qemu:///system", false);
    made.sample = libvirt_rows_sample(&made.rows);
    static const char FIRST[] = "path:vm:c7a5fdbd-edaf-9455-926a-d65c16db1809:52:54:00:00:00:01";
    assert_string_equal(PATH(&made, FIRST)->port, "t0");
    assert_string_equal(PATH(&made, "path:vm:c7a5fdbd-edaf-9455-926a-d65c16db1809:#1")->port, "t1");
    unmake(&made);
}

/* Rows of guests elsewhere meet nothing of this host: not by key, and not by the name of a port. */
static void test_elsewhere(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "live-taps", NULL, true);
    char key[128];
    snprintf(key, sizeof(key), "qemu+tcp://far/system|vm:%s", made.domain.uuid);
    const struct vms_info *vm = VM(&made, key);
    assert_string_equal(vm->vm_key, key);
    assert_string_equal(vm->uuid, made.domain.uuid);
    snprintf(key, sizeof(key), "qemu+tcp://far/system|vm:%s/vcpu/0", made.domain.uuid);
    assert_string_equal(THREAD(&made, key)->vm_key, vm->vm_key);
    snprintf(key, sizeof(key), "qemu+tcp://far/system|path:vm:%s:52:54:00:00:00:01", made.domain.uuid);
    assert_string_equal(PATH(&made, key)->uri, "qemu+tcp://far/system");
    assert_false(info_has(PATH(&made, key), netns_inode));
    unmake(&made);
}

/* A domain whose XML could not be read keeps its name. */
static void test_without_xml(void **unused)
{
    (void)unused;
    struct made made;
    make(&made, "hotplug", NULL, false);
    sample_unref(made.sample);
    domain_xml_free(&made.domain.xml);
    made.domain.has_xml = false;
    libvirt_rows_make(&made.rows, &made.domains, "qemu:///system", false);
    made.sample = libvirt_rows_sample(&made.rows);
    const struct vms_info *vm = VM(&made, "vm:c7a5fdbd-edaf-9455-926a-d65c16db1809");
    assert_string_equal(vm->name, "elastic");
    assert_false(info_has(vm, vcpus));
    assert_int_equal(sample_rows(made.sample), 1);
    unmake(&made);
}

static void test_uris(void **unused)
{
    (void)unused;
    static const char *const here[] = {"qemu:///system",
                                       "qemu:///session",
                                       "qemu:/system",
                                       "qemu+unix:///system?socket=/run/x",
                                       "qemu://localhost/system",
                                       "qemu+ssh://root@127.0.0.1:22/system",
                                       "qemu+tcp://[::1]:16509/system"};
    static const char *const elsewhere[] = {"qemu+ssh://host/system",
                                            "qemu://localhost.example/system",
                                            "qemu+tls://[fe80::1]/system",
                                            "test:///default",
                                            "lxc:///system",
                                            "qemux:///system",
                                            "qemu+ssh://localhost@host/system",
                                            ""};
    for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
        assert_true(libvirt_uri_is_local(here[i]));
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        assert_false(libvirt_uri_is_local(elsewhere[i]));
    assert_true(libvirt_uri_is_alias("lab"));
    assert_false(libvirt_uri_is_alias("qemu:///system"));
    static const char *const opened[][2] = {
        {"qemu+ssh://h/system", "qemu+ssh://h/system?no_tty=1"},
        {"qemu+libssh2://h/system?a=b", "qemu+libssh2://h/system?a=b&no_tty=1"},
        {"qemu+ssh://h/system?no_tty=0", "qemu+ssh://h/system?no_tty=0"},
        {"qemu:///system", "qemu:///system"},
        {"qemu+sshx://h/system", "qemu+sshx://h/system"},
        {"ssh", "ssh"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++) {
        assert_true(libvirt_uri_to_open(opened[i][0], out, sizeof(out)));
        assert_string_equal(out, opened[i][1]);
    }
    assert_false(libvirt_uri_to_open("qemu+ssh://h/system", out, 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vm_and_threads),
        cmocka_unit_test(test_iothreads_go_by_their_numbers),
        cmocka_unit_test(test_numbers_with_gaps),
        cmocka_unit_test(test_pins_of_the_next_start),
        cmocka_unit_test(test_cards),
        cmocka_unit_test(test_vhost_user_and_handed_over),
        cmocka_unit_test(test_networks),
        cmocka_unit_test(test_one_mac_twice),
        cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_without_xml),
        cmocka_unit_test(test_uris),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
