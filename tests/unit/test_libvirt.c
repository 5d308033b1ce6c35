/* SPDX-License-Identifier: MIT */
/*
 * The libvirt collector against libvirt's own test driver, which lives in this process: domains come, go,
 * change and break through a second connection while the collector reads. States are waited for. What needs a
 * daemon is in tests/lab/test_libvirt_*.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <libvirt/libvirt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "collectors/libvirt.h"
#include "collectors/libvirt_api.h"
#include "src/clock.h"
#include "src/memory.h"

#define SECOND   INT64_C(1000000000)
#define PATIENCE (20 * SECOND)

#define URI        "test:///default"
#define KEY(uuid)  URI "|vm:" uuid
#define UUID_A     "c7a5fdbd-edaf-9455-926a-d65c16db1801"
#define DEFAULT_VM KEY("6695eb01-f6a4-8304-79aa-97f2502e193f") /* the driver comes with it */

/* Only events tell, and the first reading. */
static const struct libvirt_tempo NEVER = {INT64_MAX, INT64_MAX, INT64_MAX};
static const struct libvirt_tempo ALWAYS = {1, 1, 1};

struct reader {
    struct collect_config config;
    struct collect_call call;
    void *state;
    struct sample *sample; /* the newest */
};

static int never_readable(void)
{
    static int fds[2] = {-1, -1};
    if (fds[0] < 0)
        assert_int_equal(pipe(fds), 0);
    return fds[0];
}

static enum collect_result try_open(const struct collector *collector, struct reader *reader, const char *uri)
{
    memset(reader, 0, sizeof(*reader));
    reader->config = (struct collect_config){.connect_uri = uri, .root = ""};
    reader->call.stop_fd = never_readable();
    reader->call.deadline_ns = clock_mono_ns() + 2 * SECOND;
    return collector->open(&reader->config, &reader->state, &reader->call);
}

static void open_reader(struct reader *reader, const char *uri, const struct libvirt_tempo *tempo)
{
    if (try_open(&libvirt_collector, reader, uri) != COLLECT_OK)
        fail_msg("%s", reader->call.error.text);
    libvirt_set_tempo(reader->state, tempo);
}

static const struct sample *collect(struct reader *reader)
{
    sample_unref(reader->sample);
    reader->sample = NULL;
    reader->call.deadline_ns = clock_mono_ns() + 2 * SECOND;
    if (libvirt_collector.collect(reader->state, &reader->call, &reader->sample) != COLLECT_OK)
        fail_msg("%s", reader->call.error.text);
    return reader->sample;
}

static void close_reader(struct reader *reader)
{
    sample_unref(reader->sample);
    libvirt_collector.close(reader->state);
}

static const struct row_head *find(const struct sample *sample, enum table_id table, const char *key)
{
    const struct row_head *found = NULL;
    for (size_t i = 0; i < sample->set[table].n; i++) {
        const struct row_head *row = sample_row_at(sample, table, i);
        if (strcmp(row->info->key, key) != 0)
            continue;
        assert_null(found); /* a key twice */
        found = row;
    }
    return found;
}

static const char *state_of(const struct sample *sample, const char *key)
{
    const struct vms_row *row = (const struct vms_row *)find(sample, TABLE_VMS, key);
    return row && row_has(row, state) ? row->state : row ? "not read" : "absent";
}

/* Collects until the domain has the state; "absent" for none. */
static void wait_for_state(struct reader *reader, const char *key, const char *state)
{
    int64_t until = clock_mono_ns() + PATIENCE;
    while (strcmp(state_of(collect(reader), key), state) != 0) {
        if (clock_mono_ns() > until)
            fail_msg("%s is %s, not %s", key, state_of(reader->sample, key), state);
        usleep(2000);
    }
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

static char *domain_xml(const char *name, const char *uuid, const char *more)
{
    char *text = NULL;
    int n = asprintf(&text,
                     "<domain type='test'><name>%s</name><uuid>%s</uuid><memory unit='MiB'>64</memory>"
                     "<vcpu>2</vcpu><os><type>hvm</type></os>%s</domain>",
                     name, uuid, more);
    assert_true(n > 0);
    return text;
}

static virDomainPtr create(virConnectPtr conn, const char *name, const char *uuid, const char *more)
{
    char *xml = domain_xml(name, uuid, more);
    virDomainPtr domain = virDomainCreateXML(conn, xml, 0);
    free(xml);
    assert_non_null(domain);
    return domain;
}

static void end(virDomainPtr domain)
{
    assert_int_equal(virDomainDestroy(domain), 0);
    virDomainFree(domain);
}

static virConnectPtr connect_to_driver(void)
{
    virConnectPtr conn = virConnectOpen(URI);
    assert_non_null(conn);
    return conn;
}

/* ---- what is there ---- */

static void test_first_sample(void **unused)
{
    (void)unused;
    struct reader reader;
    open_reader(&reader, URI, &NEVER);
    const struct sample *sample = collect(&reader);
    const struct vms_row *row = (const struct vms_row *)find(sample, TABLE_VMS, DEFAULT_VM);
    assert_non_null(row);
    const struct vms_info *vm = (const struct vms_info *)row->head.info;
    assert_string_equal(vm->name, "test");
    assert_string_equal(vm->uri, URI);
    assert_string_equal(row->state, "running");
    assert_int_equal(vm->vcpus, 2);
    assert_int_equal(vm->memory_mib, 8192);
    assert_non_null(find(sample, TABLE_THREADS, DEFAULT_VM "/vcpu/1"));
    assert_non_null(find(sample, TABLE_THREADS, DEFAULT_VM "/emulator"));
    assert_non_null(strstr(reader.call.detail, URI ", libvirt "));
    assert_non_null(strstr(reader.call.detail, ", 1 domain"));
    assert_true(sample->t0_ns > 0 && sample->t1_ns >= sample->t0_ns && sample->wall_ns > 0);
    close_reader(&reader);
}

/* Our own host, written to a file: shapes that no lab has. */
static void test_own_host(void **unused)
{
    (void)unused;
    static const char HOST[] =
        "<node><domain type='test'><name>pinned</name><uuid>" UUID_A "</uuid><title>one &lt;title&gt;</title>"
        "<memory unit='GiB'>4</memory><memoryBacking><hugepages/></memoryBacking>"
        "<vcpu cpuset='0-3' current='2'>4</vcpu><iothreads>2</iothreads><cputune><shares>512</shares>"
        "<period>50000</period><quota>25000</quota><vcpupin vcpu='0' cpuset='1'/>"
        "<emulatorpin cpuset='0'/><iothreadpin iothread='2' cpuset='3'/></cputune>"
        "<os><type>hvm</type></os><devices>"
        "<interface type='bridge'><mac address='52:54:00:00:00:01'/><source bridge='br0'/>"
        "<target dev='tap0'/><model type='virtio'/></interface>"
        "<interface type='vhostuser'><mac address='52:54:00:00:00:02'/>"
        "<source type='unix' path='/run/vhu0' mode='server'/><model type='virtio'/></interface>"
        "</devices></domain>"
        "<domain type='test'><name>vm1</name><uuid>c7a5fdbd-edaf-9455-926a-d65c16db1802</uuid>"
        "<memory>65536</memory><os><type>hvm</type></os></domain>"
        "<domain type='test'><name>vm10</name><uuid>c7a5fdbd-edaf-9455-926a-d65c16db1803</uuid>"
        "<memory>65536</memory><os><type>hvm</type></os></domain></node>";
    char path[] = "/tmp/test_libvirt.XXXXXX", uri[64], key[256];
    int fd = mkstemp(path);
    assert_int_equal(write(fd, HOST, sizeof(HOST) - 1), sizeof(HOST) - 1);
    close(fd);
    snprintf(uri, sizeof(uri), "test://%s", path);
    struct reader reader;
    open_reader(&reader, uri, &NEVER);
    const struct sample *sample = collect(&reader);
    assert_int_equal(sample->set[TABLE_VMS].n, 3);
    snprintf(key, sizeof(key), "%s|vm:" UUID_A, uri);
    const struct row_head *row = find(sample, TABLE_VMS, key);
    assert_non_null(row);
    const struct vms_info *vm = (const struct vms_info *)row->info;
    assert_string_equal(vm->title, "one <title>");
    assert_string_equal(vm->cpu_quota, "25000/50000");
    assert_int_equal(vm->cpu_shares, 512);
    assert_int_equal(vm->vcpus, 2);
    assert_int_equal(vm->vcpus_max, 4);
    assert_string_equal(vm->huge_pages, "yes");
    snprintf(key, sizeof(key), "%s|vm:" UUID_A "/vcpu/0", uri);
    assert_string_equal(((const struct threads_info *)find(sample, TABLE_THREADS, key)->info)->pinned_cpus,
                        "1");
    snprintf(key, sizeof(key), "%s|vm:" UUID_A "/iothread/2", uri);
    assert_string_equal(((const struct threads_info *)find(sample, TABLE_THREADS, key)->info)->pinned_cpus,
                        "3");
    snprintf(key, sizeof(key), "%s|path:vm:" UUID_A ":52:54:00:00:00:02", uri);
    const struct paths_info *card = (const struct paths_info *)find(sample, TABLE_PATHS, key)->info;
    assert_string_equal(card->socket, "/run/vhu0");
    assert_string_equal(card->vm, "pinned");
    close_reader(&reader);
    unlink(path);
}

/* ---- what events tell ---- */

static void test_life_of_a_domain(void **unused)
{
    (void)unused;
    struct reader reader;
    virConnectPtr conn = connect_to_driver();
    open_reader(&reader, URI, &NEVER);
    assert_string_equal(state_of(collect(&reader), KEY(UUID_A)), "absent");
    char *xml = domain_xml("a", UUID_A, "");
    virDomainPtr domain = virDomainDefineXML(conn, xml);
    free(xml);
    assert_non_null(domain);
    for (int i = 0; i < 5; i++) /* defined alone makes no row */
        assert_string_equal(state_of(collect(&reader), KEY(UUID_A)), "absent");
    assert_int_equal(virDomainCreate(domain), 0);
    wait_for_state(&reader, KEY(UUID_A), "running");
    assert_int_equal(virDomainSuspend(domain), 0);
    wait_for_state(&reader, KEY(UUID_A), "paused");
    assert_int_equal(virDomainResume(domain), 0);
    wait_for_state(&reader, KEY(UUID_A), "running");
    assert_int_equal(virDomainUndefine(domain), 0); /* lives on, without a configuration */
    for (int i = 0; i < 5; i++)
        assert_string_equal(state_of(collect(&reader), KEY(UUID_A)), "running");
    end(domain);
    wait_for_state(&reader, KEY(UUID_A), "absent");
    assert_non_null(find(reader.sample, TABLE_VMS, DEFAULT_VM));
    close_reader(&reader);
    assert_int_equal(virConnectClose(conn), 0);
}

static const char *name_of(const struct sample *sample, const char *key)
{
    const struct row_head *row = find(sample, TABLE_VMS, key);
    return row ? ((const struct vms_info *)row->info)->name : NULL;
}

/* Stopped, renamed and started between two reads: the row is the same, its name is new. */
static void test_rename_and_title(void **unused)
{
    (void)unused;
    struct reader reader;
    virConnectPtr conn = connect_to_driver();
    char *xml = domain_xml("before", UUID_A, "");
    virDomainPtr domain = virDomainDefineXML(conn, xml);
    free(xml);
    assert_int_equal(virDomainCreate(domain), 0);
    open_reader(&reader, URI, &NEVER);
    wait_for_state(&reader, KEY(UUID_A), "running");
    assert_string_equal(text_or(name_of(reader.sample, KEY(UUID_A)), ""), "before");
    assert_int_equal(virDomainDestroy(domain), 0);
    if (virDomainRename(domain, "after", 0) < 0) { /* this driver's version cannot: define it anew */
        assert_int_equal(virDomainUndefine(domain), 0);
        virDomainFree(domain);
        xml = domain_xml("after", UUID_A, "");
        domain = virDomainDefineXML(conn, xml);
        free(xml);
    }
    assert_int_equal(virDomainCreate(domain), 0);
    int64_t until = clock_mono_ns() + PATIENCE;
    while (strcmp(text_or(name_of(collect(&reader), KEY(UUID_A)), ""), "after") != 0)
        assert_true(clock_mono_ns() < until);
    assert_int_equal(virDomainSetMetadata(domain, VIR_DOMAIN_METADATA_TITLE, "a title", NULL, NULL,
                                          VIR_DOMAIN_AFFECT_LIVE),
                     0);
    const struct vms_info *vm;
    do {
        vm = (const struct vms_info *)find(collect(&reader), TABLE_VMS, KEY(UUID_A))->info;
        assert_true(clock_mono_ns() < until);
    } while (!info_has(vm, title));
    assert_string_equal(vm->title, "a title");
    assert_int_equal(virDomainUndefine(domain), 0);
    end(domain);
    close_reader(&reader);
    assert_int_equal(virConnectClose(conn), 0);
}

/* At rest the inventory is shared by all samples, and nothing is asked. */
static void test_rest(void **unused)
{
    (void)unused;
    struct reader reader;
    open_reader(&reader, URI, &NEVER);
    const struct inventory *inventory = collect(&reader)->inventory;
    for (int i = 0; i < 100; i++)
        assert_ptr_equal(collect(&reader)->inventory, inventory);
    libvirt_set_tempo(reader.state, &ALWAYS); /* asked, but the answer is the same */
    for (int i = 0; i < 100; i++)
        assert_ptr_equal(collect(&reader)->inventory, inventory);
    close_reader(&reader);
}

/* ---- what has no event ---- */

static const struct threads_info *thread(struct reader *reader, const char *key)
{
    const struct row_head *row = find(collect(reader), TABLE_THREADS, key);
    assert_non_null(row);
    return (const struct threads_info *)row->info;
}

/* The driver sends none for a pin, and pins the running domain alone. */
static void test_pin_without_an_event(void **unused)
{
    (void)unused;
    struct reader reader;
    virConnectPtr conn = connect_to_driver();
    virDomainPtr domain = virDomainLookupByName(conn, "test");
    open_reader(&reader, URI, &ALWAYS);
    assert_false(info_has(thread(&reader, DEFAULT_VM "/vcpu/1"), pinned_cpus));
    unsigned char map[1] = {0x5};
    assert_int_equal(virDomainPinVcpu(domain, 1, map, 1), 0);
    int64_t until = clock_mono_ns() + PATIENCE;
    while (!info_has(thread(&reader, DEFAULT_VM "/vcpu/1"), pinned_cpus))
        assert_true(clock_mono_ns() < until);
    assert_string_equal(thread(&reader, DEFAULT_VM "/vcpu/1")->pinned_cpus, "0,2");
    assert_string_equal(thread(&reader, DEFAULT_VM "/vcpu/1")->pinned_next, "any");
    assert_false(info_has(thread(&reader, DEFAULT_VM "/vcpu/0"), pinned_cpus));
    virDomainFree(domain);
    close_reader(&reader);
    assert_int_equal(virConnectClose(conn), 0);
}

/* A vCPU less is noticed by its number, and makes the XML be read. */
static void test_vcpus_change(void **unused)
{
    (void)unused;
    static const struct libvirt_tempo CHECKED = {INT64_MAX, 1, INT64_MAX};
    struct reader reader;
    virConnectPtr conn = connect_to_driver();
    virDomainPtr domain = virDomainLookupByName(conn, "test");
    open_reader(&reader, URI, &CHECKED);
    assert_non_null(find(collect(&reader), TABLE_THREADS, DEFAULT_VM "/vcpu/1"));
    assert_int_equal(virDomainSetVcpusFlags(domain, 1, VIR_DOMAIN_AFFECT_LIVE), 0);
    int64_t until = clock_mono_ns() + PATIENCE;
    while (find(collect(&reader), TABLE_THREADS, DEFAULT_VM "/vcpu/1"))
        assert_true(clock_mono_ns() < until);
    assert_non_null(find(reader.sample, TABLE_THREADS, DEFAULT_VM "/vcpu/0"));
    virDomainFree(domain);
    close_reader(&reader);
    assert_int_equal(virConnectClose(conn), 0);
}

/* ---- many, and broken ones ---- */

#define MANY 200

static void uuid_of(int number, char *out, size_t size)
{
    snprintf(out, size, "c7a5fdbd-edaf-9455-926a-%012x", (unsigned)number);
}

static void test_many(void **unused)
{
    (void)unused;
    struct reader reader;
    char uuid[40], name[40];
    virDomainPtr domains[MANY];
    virConnectPtr conn = connect_to_driver();
    for (int i = 0; i < MANY; i++) {
        uuid_of(i, uuid, sizeof(uuid));
        snprintf(name, sizeof(name), "vm%d", i);
        domains[i] = create(conn, name, uuid, "");
    }
    open_reader(&reader, URI, &NEVER);
    int64_t until = clock_mono_ns() + PATIENCE;
    while (collect(&reader)->set[TABLE_THREADS].n != (MANY + 1) * 3) {
        assert_int_equal(reader.sample->set[TABLE_VMS].n, MANY + 1); /* listed at once */
        assert_true(clock_mono_ns() < until);
    }
    assert_non_null(strstr(reader.call.detail, "201 domains"));
    assert_null(strstr(reader.call.detail, "still to be read"));
    for (int i = 0; i < MANY; i++)
        end(domains[i]);
    until = clock_mono_ns() + PATIENCE;
    while (collect(&reader)->set[TABLE_VMS].n != 1)
        assert_true(clock_mono_ns() < until);
    close_reader(&reader);
    assert_int_equal(virConnectClose(conn), 0);
}

/* XML beyond the bounds: the domain keeps its name, the others their rows, and `sources` says so. */
static void test_hostile_xml(void **unused)
{
    (void)unused;
    struct reader reader;
    virConnectPtr conn = connect_to_driver();
    char *more = xzalloc(DOMAIN_XML_SIZE_MAX + 64);
    strcpy(more, "<description>");
    memset(more + strlen(more), 'x', DOMAIN_XML_SIZE_MAX);
    strcat(more, "</description>");
    virDomainPtr domain = create(conn, "huge", UUID_A, more);
    free(more);
    open_reader(&reader, URI, &NEVER);
    wait_for_state(&reader, KEY(UUID_A), "running");
    assert_string_equal(name_of(reader.sample, KEY(UUID_A)), "huge");
    assert_null(find(reader.sample, TABLE_THREADS, KEY(UUID_A) "/vcpu/0"));
    assert_non_null(find(reader.sample, TABLE_THREADS, DEFAULT_VM "/vcpu/0"));
    assert_non_null(strstr(reader.call.detail, "XML of 1 not read: huge: "));
    end(domain);
    wait_for_state(&reader, KEY(UUID_A), "absent");
    assert_null(strstr(reader.call.detail, "not read"));
    close_reader(&reader);
    assert_int_equal(virConnectClose(conn), 0);
}

/* ---- while it is read ---- */

static atomic_bool churning;

static void *churn(void *unused)
{
    virConnectPtr conn = virConnectOpen(URI);
    for (int i = 0; atomic_load(&churning); i++) {
        char uuid[40], name[40];
        uuid_of(i % 7, uuid, sizeof(uuid));
        snprintf(name, sizeof(name), "vm%d", i % 7);
        char *xml = domain_xml(name, uuid, "");
        virDomainPtr domain = virDomainCreateXML(conn, xml, 0);
        free(xml);
        if (!domain)
            continue;
        virDomainSuspend(domain);
        virDomainResume(domain);
        virDomainDestroy(domain);
        virDomainFree(domain);
    }
    virConnectClose(conn);
    return unused;
}

static void with_churn(void (*body)(void))
{
    pthread_t thread_id;
    atomic_store(&churning, true);
    assert_int_equal(pthread_create(&thread_id, NULL, churn, NULL), 0);
    body();
    atomic_store(&churning, false);
    pthread_join(thread_id, NULL);
}

static void read_often(void)
{
    struct reader reader;
    open_reader(&reader, URI, &ALWAYS);
    for (int i = 0; i < 1000; i++)
        assert_non_null(find(collect(&reader), TABLE_VMS, DEFAULT_VM));
    close_reader(&reader);
}

static void open_and_close_often(void)
{
    for (int i = 0; i < 100; i++) {
        struct reader reader;
        open_reader(&reader, URI, &NEVER);
        collect(&reader);
        close_reader(&reader);
    }
}

static void test_churn(void **unused)
{
    (void)unused;
    with_churn(read_often);
}

/* The loop thread is in a callback while the worker closes. */
static void test_close_under_events(void **unused)
{
    (void)unused;
    with_churn(open_and_close_often);
}

/* ---- what is not there ---- */

static int unix_socket(const char *path, bool listening)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    if (listening)
        assert_int_equal(listen(fd, 8), 0);
    return fd;
}

static void expect_open(const char *uri, enum collect_result result, const char *part)
{
    struct reader reader;
    assert_int_equal(try_open(&libvirt_collector, &reader, uri), result);
    if (!strstr(reader.call.error.text, part))
        fail_msg("'%s' does not tell of '%s'", reader.call.error.text, part);
}

/* The names of functions of a library that is not there, or is not this one, are not called. */
static void test_no_library(void **unused)
{
    (void)unused;
    struct libvirt_api before = vir;
    char err[256];
    assert_int_equal(libvirt_api_load("libnosuch.so.0", err, sizeof(err)), -1);
    assert_non_null(strstr(err, "libnosuch.so.0: "));
    assert_non_null(strstr(err, "; install "));
    assert_int_equal(libvirt_api_load("libm.so.6", err, sizeof(err)), -1);
    assert_string_equal(err, "libm.so.6 has no virConnectClose; install libvirt 1.2.8 or newer");
    assert_memory_equal(&vir, &before, sizeof(vir));
}

static void test_absent(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/test_libvirt.XXXXXX", path[64], uri[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/sock", folder);
    snprintf(uri, sizeof(uri), "qemu+unix:///system?mode=legacy&socket=%s", path);
    expect_open(uri, COLLECT_NONE, path);
    int fd = unix_socket(path, false); /* left behind by a daemon that was killed */
    expect_open(uri, COLLECT_FAILED, "refused");
    close(fd);
    unlink(path);
    rmdir(folder);
    expect_open("test:///nowhere.xml", COLLECT_FAILED, "nowhere.xml");
    expect_open("nosuch:///driver", COLLECT_FAILED, "nosuch");
    expect_open("qemu+tcp://127.0.0.2:1/system", COLLECT_FAILED, "127.0.0.2");
    char longer[2048];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    expect_open(longer, COLLECT_FAILED, "longer");
}

struct daemon {
    int fd;
    int clients; /* to be served */
};

/* A daemon that ends each connection without a word. */
static void *hang_up(void *arg)
{
    const struct daemon *daemon = arg;
    for (int i = 0; i < daemon->clients; i++)
        close(accept(daemon->fd, NULL, NULL));
    return NULL;
}

static void test_daemon_hangs_up(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/test_libvirt.XXXXXX", path[64], uri[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/sock", folder);
    snprintf(uri, sizeof(uri), "qemu+unix:///system?mode=legacy&socket=%s", path);
    struct daemon daemon = {.fd = unix_socket(path, true), .clients = 3};
    pthread_t thread_id;
    pthread_create(&thread_id, NULL, hang_up, &daemon);
    for (int i = 0; i < daemon.clients; i++)
        expect_open(uri, COLLECT_FAILED, uri);
    pthread_join(thread_id, NULL);
    close(daemon.fd);
    unlink(path);
    rmdir(folder);
}

/* ---- times of guests elsewhere ---- */

static bool wants_stats(const char *uri)
{
    struct collect_config config = {.connect_uri = uri};
    return libvirt_stats_collector.is_wanted(&config);
}

static void test_stats_are_for_elsewhere(void **unused)
{
    (void)unused;
    assert_false(wants_stats(NULL));
    assert_false(wants_stats("qemu:///system"));
    assert_true(wants_stats("qemu+ssh://host/system"));
    assert_true(wants_stats("an_alias"));
    struct reader reader;
    assert_int_equal(try_open(&libvirt_stats_collector, &reader, URI), COLLECT_OK);
    for (int i = 0; i < 20; i++) { /* the driver knows no times of vCPUs */
        struct sample *sample;
        assert_int_equal(libvirt_stats_collector.collect(reader.state, &reader.call, &sample), COLLECT_OK);
        assert_int_equal(sample_rows(sample), 0);
        assert_true(sample->t1_ns >= sample->t0_ns && sample->t0_ns > 0);
        sample_unref(sample);
    }
    libvirt_stats_collector.close(reader.state);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the program does: libvirt writes to sockets of daemons that have gone */
    libvirt_collector.prepare();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_sample),
        cmocka_unit_test(test_own_host),
        cmocka_unit_test(test_life_of_a_domain),
        cmocka_unit_test(test_rename_and_title),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_pin_without_an_event),
        cmocka_unit_test(test_vcpus_change),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_hostile_xml),
        cmocka_unit_test(test_churn),
        cmocka_unit_test(test_close_under_events),
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_daemon_hangs_up),
        cmocka_unit_test(test_stats_are_for_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
