/* SPDX-License-Identifier: MIT */
/* Tests of collectors/domain_xml: XML that libvirt 9.0 gave for running guests
 * (tests/fixtures/libvirt/live-*), that of its test driver, written ones for what this lab has no hardware
 * for, and attacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/domain_xml.h"

static struct domain_xml parse(const char *text)
{
    struct domain_xml d;
    char err[256] = "";

    if (domain_xml_parse(text, strlen(text), &d, err, sizeof(err)) != 0)
        fail_msg("%s", err);
    return d;
}

static struct domain_xml parse_fixture(const char *name)
{
    char path[128], text[16384];
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "tests/fixtures/libvirt/%s.xml", name);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    return parse(text);
}

/* The whole message ends up in err. */
static void assert_refused(const char *text, size_t len, const char *cause)
{
    struct domain_xml d;
    char err[256] = "";

    assert_int_equal(domain_xml_parse(text, len, &d, err, sizeof(err)), -1);
    if (!strstr(err, cause))
        fail_msg("\"%s\" does not say \"%s\"", err, cause);
    for (const char *p = err; *p; p++)
        assert_in_range(*p, ' ', '~');
}

static void assert_cpus(const struct procfs_cpuset *set, const char *text)
{
    char buf[PROCFS_CPUS_TEXT];

    assert_non_null(set);
    procfs_cpuset_format(set, buf, sizeof(buf));
    assert_string_equal(buf, text);
}

/* ---- as libvirt writes ---- */

static void live_guest_with_taps(void **state)
{
    struct domain_xml d = parse_fixture("live-taps");

    (void)state;
    assert_string_equal(d.name, "g,1 web");
    assert_string_equal(d.title, "front end");
    assert_string_equal(d.type, "qemu");
    assert_int_equal(d.id, 1);
    assert_int_equal(d.vcpu_max, 2);
    assert_int_equal(d.vcpu_current, 1);
    assert_cpus(&d.vcpus_online, "0");
    assert_true(d.has_cpuset);
    assert_int_equal(d.n_vcpu_pins, 2);
    assert_int_equal(d.n_iothread_pins, 1);
    assert_cpus(domain_xml_pin(d.iothread_pins, d.n_iothread_pins, 1), "0");
    assert_int_equal(d.n_iothreads, 2);
    assert_int_equal(d.iothreads[0], 1);
    assert_int_equal(d.iothreads[1], 2);
    assert_int_equal(d.memory_kib, 98304);
    assert_false(d.hugepages);
    assert_int_equal(d.n_cells, 1);
    assert_int_equal(d.n_ifaces, 4);
    assert_string_equal(d.ifaces[0].target, "g1-t0");
    assert_string_equal(d.ifaces[0].bridge, "br0");
    assert_string_equal(d.ifaces[0].alias, "ua-first");
    assert_int_equal(d.ifaces[0].queues, 2);
    assert_int_equal(d.ifaces[0].mtu, 1400);
    assert_int_equal(d.ifaces[0].link, DOMAIN_LINK_UP);
    assert_int_equal(d.ifaces[1].type, DOMAIN_IFACE_USER);
    assert_int_equal(d.ifaces[2].type, DOMAIN_IFACE_DIRECT);
    assert_string_equal(d.ifaces[2].source_dev, "ve0");
    assert_string_equal(d.ifaces[2].source_mode, "bridge");
    assert_string_equal(d.ifaces[2].target, "macvtap0");
    assert_int_equal(d.ifaces[3].type, DOMAIN_IFACE_ETHERNET);
    assert_string_equal(d.ifaces[3].target, "g1-t3");
    domain_xml_free(&d);
}

/* Seen: a vhost-user card whose name libvirt did not find has an empty target. */
static void live_guest_with_vhost_user(void **state)
{
    struct domain_xml d = parse_fixture("live-vhostuser");

    (void)state;
    assert_int_equal(d.n_ifaces, 1);
    assert_int_equal(d.ifaces[0].type, DOMAIN_IFACE_VHOSTUSER);
    assert_string_equal(d.ifaces[0].target, "");
    assert_string_equal(d.ifaces[0].socket, "/run/vhu/vhu0.sock");
    assert_int_equal(d.ifaces[0].socket_side, DOMAIN_SOCKET_LISTENS);
    assert_string_equal(d.ifaces[0].source_mode, "");
    assert_int_equal(d.ifaces[0].queues, 4);
    assert_true(d.memory_shared);
    assert_true(d.cells[0].shared);
    domain_xml_free(&d);
}

static void test_driver(void **state)
{
    struct domain_xml d = parse_fixture("test-default");

    (void)state;
    assert_string_equal(d.name, "test");
    assert_string_equal(d.uuid, "6695eb01-f6a4-8304-79aa-97f2502e193f");
    assert_string_equal(d.type, "test");
    assert_cpus(&d.vcpus_online, "0-1");
    assert_int_equal(d.n_ifaces, 1);
    assert_string_equal(d.ifaces[0].network, "default");
    assert_string_equal(d.ifaces[0].target, "testnet0");
    domain_xml_free(&d);
}

static void identity_is_read_whole(void **state)
{
    struct domain_xml d = parse_fixture("pinned-numa");

    (void)state;
    assert_string_equal(d.name, "dpdk-fw1");
    assert_string_equal(d.uuid, "4dea22b3-1d52-d8f3-2516-782e98ab3fa0");
    assert_string_equal(d.title, "Firewall & router <1>");
    assert_string_equal(d.type, "kvm");
    assert_int_equal(d.id, 7);
    domain_xml_free(&d);
    domain_xml_free(&d);
    domain_xml_free(NULL);
}

static void pins_and_limits(void **state)
{
    struct domain_xml d = parse_fixture("pinned-numa");

    (void)state;
    assert_int_equal(d.vcpu_max, 4);
    assert_int_equal(d.vcpu_current, 4);
    assert_cpus(domain_xml_vcpu_cpus(&d, 0), "2");
    assert_cpus(domain_xml_vcpu_cpus(&d, 1), "18");
    assert_cpus(domain_xml_vcpu_cpus(&d, 3), "0-6,16-23");
    assert_true(d.has_emulator_pin);
    assert_cpus(&d.emulator_pin, "0-1");
    assert_null(domain_xml_pin(d.iothread_pins, d.n_iothread_pins, 2));
    assert_int_equal(d.shares, 2048);
    assert_int_equal(d.vcpu_bandwidth.period_us, 100000);
    assert_int_equal(d.vcpu_bandwidth.quota_us, -1);
    assert_int_equal(d.global_bandwidth.quota_us, 150000);
    assert_int_equal(d.emulator_bandwidth.period_us, 10000);
    assert_int_equal(d.iothread_bandwidth.quota_us, 0);
    domain_xml_free(&d);
}

/* A number that is not believable makes no list of a million threads. */
static void iothreads_are_bounded(void **state)
{
    static const struct {
        const char *count;
        size_t n;
        bool truncated;
    } cases[] = {{"2147483647", DOMAIN_XML_IOTHREADS_MAX, true}, {"1024", 1024, false}, {"-1", 0, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), "<domain><name>n</name><iothreads>%s</iothreads></domain>",
                 cases[i].count);
        struct domain_xml d = parse(text);
        assert_int_equal(d.n_iothreads, cases[i].n);
        assert_int_equal(d.truncated, cases[i].truncated);
        domain_xml_free(&d);
    }
}

static void memory_and_numa(void **state)
{
    struct domain_xml d = parse_fixture("pinned-numa");

    (void)state;
    assert_int_equal(d.memory_kib, 8388608);
    assert_true(d.hugepages);
    assert_int_equal(d.hugepage_kib, 1048576);
    assert_true(d.memory_shared);
    assert_string_equal(d.numa_mode, "strict");
    assert_cpus(&d.numa_nodeset, "0-1");
    assert_int_equal(d.n_cells, 2);
    assert_cpus(&d.cells[1].vcpus, "2-3");
    assert_int_equal(d.cells[0].memory_kib, 4194304);
    assert_int_equal(d.cells[1].memory_kib, 4194304);
    assert_true(d.cells[0].shared);
    assert_false(d.cells[1].shared);
    assert_true(d.cells[1].has_nodeset);
    assert_cpus(&d.cells[1].nodeset, "1");
    domain_xml_free(&d);
}

static void cards_without_a_target(void **state)
{
    struct domain_xml d = parse_fixture("pinned-numa");

    (void)state;
    assert_int_equal(d.n_ifaces, 3);
    assert_string_equal(d.ifaces[0].mac, "52:54:00:aa:00:01");
    assert_int_equal(d.ifaces[0].socket_side, DOMAIN_SOCKET_LISTENS);
    assert_string_equal(d.ifaces[0].target, "vhu1a2b3c4d-5e");
    assert_int_equal(d.ifaces[0].queues, 4);
    assert_int_equal(d.ifaces[1].socket_side, DOMAIN_SOCKET_CONNECTS);
    assert_string_equal(d.ifaces[1].socket, "/var/run/openvswitch/vhost,client 2");
    assert_string_equal(d.ifaces[1].target, "");
    assert_int_equal(d.ifaces[1].queues, 1);
    assert_int_equal(d.ifaces[2].type, DOMAIN_IFACE_HOSTDEV);
    assert_string_equal(d.ifaces[2].pci, "0000:3b:0a.1");
    assert_string_equal(d.ifaces[2].driver, "vfio");
    assert_string_equal(d.ifaces[2].target, "");
    assert_int_equal(d.n_hostdevs, 1);
    assert_string_equal(d.hostdevs[0].pci, "0000:06:12.5");
    assert_string_equal(d.hostdevs[0].alias, "hostdev1");
    domain_xml_free(&d);
}

static void hotplug_leaves_gaps(void **state)
{
    struct domain_xml d = parse_fixture("hotplug");

    (void)state;
    assert_int_equal(d.vcpu_max, 8);
    assert_int_equal(d.vcpu_current, 3);
    assert_cpus(&d.vcpus_online, "0,2,7");
    assert_cpus(domain_xml_vcpu_cpus(&d, 7), "1,3");
    assert_null(domain_xml_vcpu_cpus(&d, 2));
    assert_int_equal(d.memory_kib, 1048576);
    assert_true(d.hugepages);
    assert_int_equal(d.hugepage_kib, 0);
    domain_xml_free(&d);
}

static void cards_of_every_kind(void **state)
{
    struct domain_xml d = parse_fixture("networks");

    (void)state;
    assert_int_equal(d.n_ifaces, 8);
    assert_int_equal(d.ifaces[0].type, DOMAIN_IFACE_NETWORK);
    assert_string_equal(d.ifaces[0].bridge, "virbr0");
    assert_string_equal(d.ifaces[0].portgroup, "fast");
    assert_string_equal(d.ifaces[0].driver, "vhost");
    assert_int_equal(d.ifaces[0].link, DOMAIN_LINK_DOWN);
    assert_int_equal(d.ifaces[0].mtu, 9000);
    assert_string_equal(d.ifaces[1].virtualport, "openvswitch");
    assert_string_equal(d.ifaces[1].interface_id, "1b2e3d4c-aaaa-bbbb-cccc-0123456789ab");
    assert_int_equal(d.ifaces[1].link, DOMAIN_LINK_UNDEFINED);
    assert_string_equal(d.ifaces[2].source_mode, "passthrough");
    assert_int_equal(d.ifaces[3].type, DOMAIN_IFACE_VDPA);
    assert_string_equal(d.ifaces[3].source_dev, "/dev/vhost-vdpa-3");
    assert_string_equal(d.ifaces[4].mac, "");
    assert_string_equal(d.ifaces[4].target, "tap7");
    assert_int_equal(d.ifaces[5].type, DOMAIN_IFACE_USER);
    assert_int_equal(d.ifaces[6].type, DOMAIN_IFACE_OTHER);
    assert_string_equal(d.ifaces[6].type_name, "udp");
    assert_string_equal(d.ifaces[7].type_name, "");
    domain_xml_free(&d);
}

/* ---- many ---- */

/* <domain> with part, numbered, n times inside of the elements open and close. */
static char *repeat(const char *open, const char *part, unsigned n, const char *close)
{
    size_t size = 256 + strlen(open) + strlen(close) + (strlen(part) + 16) * n, len;
    char *text = malloc(size);

    len = (size_t)snprintf(text, size, "<domain><name>many</name><vcpu>4096</vcpu>%s", open);
    for (unsigned i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, size - len, part, i);
    snprintf(text + len, size - len, "%s</domain>", close);
    return text;
}

static void hundred_cards(void **state)
{
    char *text =
        repeat("<devices>", "<interface type='bridge'><target dev='tap%u'/></interface>", 100, "</devices>");
    struct domain_xml d = parse(text);

    (void)state;
    assert_int_equal(d.n_ifaces, 100);
    assert_string_equal(d.ifaces[99].target, "tap99");
    assert_false(d.truncated);
    domain_xml_free(&d);
    free(text);
}

static void more_than_the_bounds_is_noted(void **state)
{
    static const struct {
        const char *open, *part, *close;
        unsigned n;
    } CASES[] = {
        {"<devices>", "<interface type='bridge'><target dev='tap%u'/></interface>", "</devices>", 1500},
        {"<cputune>", "<vcpupin vcpu='%u' cpuset='0'/>", "</cputune>", 5000},
        {"<cpu><numa>", "<cell id='%u' cpus='0' memory='1'/>", "</numa></cpu>", 1500},
        {"<devices>",
         "<hostdev type='pci'><source><address bus='1' slot='1' function='%u'/><!-- --></source></hostdev>"
         "<hostdev type='pci'><source><address bus='1' slot='1' function='1'/></source></hostdev>",
         "</devices>", 1500},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char *text = repeat(CASES[i].open, CASES[i].part, CASES[i].n, CASES[i].close);
        struct domain_xml d = parse(text);

        assert_true(d.truncated);
        assert_true(d.n_ifaces <= DOMAIN_XML_IFACES_MAX);
        assert_true(d.n_hostdevs <= DOMAIN_XML_IFACES_MAX);
        domain_xml_free(&d);
        free(text);
    }
}

/* ---- what makes no sense ---- */

static void values_without_sense_are_not_there(void **state)
{
    struct domain_xml d = parse(
        "<domain type='a-type-that-is-longer-than-any' id='-5'><name>n</name><uuid>1-2</uuid>"
        "<vcpu current='9' cpuset='x'>4097</vcpu><vcpus><vcpu id='4096' enabled='yes'/><vcpu "
        "enabled='yes'/></vcpus>"
        "<memory unit='parsecs'>5</memory>"
        "<cputune><vcpupin vcpu='x' cpuset='0'/><vcpupin vcpu='1' "
        "cpuset='9999'/><quota>lots</quota></cputune>"
        "<devices><interface type='hostdev'><mac address='nonsense'/><source><address bus='0x100' slot='0' "
        "function='0'/></source><target dev='a-name-that-no-link-has'/><driver queues='0'/><mtu size='-1'/>"
        "<link state='sideways'/></interface></devices></domain>");

    (void)state;
    assert_string_equal(d.type, "");
    assert_int_equal(d.id, -1);
    assert_string_equal(d.uuid, "");
    assert_int_equal(d.vcpu_max, 0);
    assert_int_equal(procfs_cpuset_count(&d.vcpus_online), 0);
    assert_false(d.has_cpuset);
    assert_int_equal(d.memory_kib, 0);
    assert_int_equal(d.n_vcpu_pins, 0);
    assert_int_equal(d.vcpu_bandwidth.quota_us, 0);
    assert_string_equal(d.ifaces[0].mac, "");
    assert_string_equal(d.ifaces[0].pci, "");
    assert_string_equal(d.ifaces[0].target, "");
    assert_int_equal(d.ifaces[0].queues, 1);
    assert_int_equal(d.ifaces[0].mtu, 0);
    domain_xml_free(&d);
}

static void title_is_clipped_at_a_character(void **state)
{
    char text[1024], title[600] = "";
    struct domain_xml d;

    (void)state;
    for (int i = 0; i < 130; i++)
        strcat(title, "\xe2\x82\xac"); /* three bytes each: 255 is no multiple but of 3 */
    snprintf(text, sizeof(text), "<domain><name>\xc3\xa4</name><title>x%s</title></domain>", title);
    d = parse(text);
    assert_string_equal(d.name, "\xc3\xa4");
    assert_int_equal(strlen(d.title), 253);
    domain_xml_free(&d);
}

static void huge_values_do_not_fit(void **state)
{
    size_t size = 2 * 1024 * 1024;
    char *text = malloc(size + 256);
    struct domain_xml d;
    size_t len;

    (void)state;
    if (!text) {
        fail_msg("out of memory");
        return; /* never reached, which sanitizing compilers do not see */
    }
    len = (size_t)sprintf(text, "<domain><name>n</name><devices><interface type='bridge'><target dev='");
    memset(text + len, 'a', size);
    strcpy(text + len + size, "'/></interface></devices></domain>");
    d = parse(text);
    assert_string_equal(d.ifaces[0].target, "");
    domain_xml_free(&d);
    free(text);
}

/* ---- attacks ---- */

static void what_is_no_domain_is_refused(void **state)
{
    (void)state;
    assert_refused("", 0, "domain XML: ");
    assert_refused("hello", 5, "line 1");
    assert_refused("{\"domain\":1}", 12, "line 1");
    assert_refused("<domain><name>a</name>", 22, "line 1");
    assert_refused("<network><name>a</name></network>", 33, "not <domain>");
    assert_refused("<domain/>", 9, "no <name>");
    assert_refused("<domain><name/></domain>", 24, "no <name>");
    assert_refused("<domain><name>a<b/></name></domain>", 35, "no <name>");
    assert_refused("<domain><name>\xff\xfe</name></domain>", 33, "line 1");
    assert_refused("<domain><name>a\0b</name></domain>", 33, "domain XML: ");
    assert_refused("<domain><name>a\x01z</name></domain>", 33, "domain XML: ");
}

static void document_types_are_refused(void **state)
{
    static const char *const TEXTS[] = {
        ("<!DOCTYPE d [<!ENTITY a 'x'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c "
         "'&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'>]><domain><name>&c;</name></domain>"),
        "<!DOCTYPE d [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><domain><name>&a;</name></domain>",
        "<!DOCTYPE d SYSTEM 'http://127.0.0.1:1/d.dtd'><domain><name>a</name></domain>",
        "<!DOCTYPE d [<!ATTLIST domain type CDATA 'kvm'>]><domain><name>a</name></domain>",
        "<!DOCTYPE d><domain><name>a</name></domain>",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        assert_refused(TEXTS[i], strlen(TEXTS[i]), "document type");
}

static void unknown_entities_are_refused(void **state)
{
    const char *text = "<domain type='&what;'><name>a</name></domain>";

    (void)state;
    assert_refused(text, strlen(text), "domain XML: ");
}

static void deep_nesting_is_refused(void **state)
{
    enum { DEEP = 10000 };
    char *text = malloc(DEEP * 7 + 64);
    size_t len = 0;

    (void)state;
    len += (size_t)sprintf(text, "<domain><name>a</name>");
    for (int i = 0; i < DEEP; i++, len += 3)
        memcpy(text + len, "<a>", 3);
    for (int i = 0; i < DEEP; i++, len += 4)
        memcpy(text + len, "</a>", 4);
    len += (size_t)sprintf(text + len, "</domain>");
    assert_refused(text, len, "xcessive depth");
    free(text);
}

static void too_much_is_refused(void **state)
{
    char *text = calloc(1, DOMAIN_XML_SIZE_MAX + 1);

    (void)state;
    memset(text, ' ', DOMAIN_XML_SIZE_MAX + 1);
    assert_refused(text, DOMAIN_XML_SIZE_MAX + 1, "larger than 4 MiB");
    free(text);
}

static char *filled(const char *open, const char *part, unsigned n, const char *close)
{
    char *text = malloc(strlen(open) + strlen(close) + (strlen(part) + 8) * n + 1);
    size_t len = (size_t)sprintf(text, "%s", open);

    for (unsigned i = 0; i < n; i++)
        len += (size_t)sprintf(text + len, part, i);
    sprintf(text + len, "%s", close);
    return text;
}

/* libxml2 alone needs 17 s for 80,000 attributes, hidden here behind what could confuse a count of quotes. */
static void costly_documents_are_refused_before_the_parse(void **state)
{
    static const struct {
        const char *open, *part, *close, *cause;
        unsigned n;
    } CASES[] = {
        {"<domain><!-- ' --><?pi \"?><x", " a%x=''", "/></domain>", "too many attributes", 80000},
        {"<domain><![CDATA[ > ' ]]><x b='>'", " a%x = \"\"", "/></domain>", "too many attributes", 300},
        {"<domain><name>a</name>", "<a%x/>", "</domain>", "too many elements", 200000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char *text = filled(CASES[i].open, CASES[i].part, CASES[i].n, CASES[i].close);

        assert_refused(text, strlen(text), CASES[i].cause);
        free(text);
    }
}

/* Quotes and angles that are none: in comments, in text and in values. */
static void harmless_quotes_are_not_counted(void **state)
{
    char *text = filled("<domain><name>a</name><!--", " a='%x' <", 1000, "--><description>"), *more;
    struct domain_xml d;

    (void)state;
    more = filled(text, " a='%x'", 1000, "</description><x y='<'/></domain>");
    assert_refused(more, strlen(more), "line 1"); /* "<" in a value is an error of XML itself */
    free(more);
    more = filled(text, " a='%x'>", 1000, "</description><x y='>'/></domain>");
    d = parse(more);
    assert_string_equal(d.name, "a");
    domain_xml_free(&d);
    free(more);
    free(text);
}

/* In another encoding a document type could hide from a search for its bytes, and bytes could mean other
 * names. */
static void other_encodings_are_not_believed(void **state)
{
    const char *text = "<?xml version='1.0' encoding='ISO-8859-1'?><domain><name>\xe4</name></domain>";

    (void)state;
    assert_refused(text, strlen(text), "domain XML: ");
}

static void every_cut_of_a_document_is_safe(void **state)
{
    const char *whole =
        "<domain type='kvm' id='3'><name>n</name><vcpu current='1'>2</vcpu><cputune><vcpupin vcpu='0' "
        "cpuset='0-3'/></cputune><devices><interface type='direct'><source dev='e' mode='vepa'/>"
        "</interface></devices></domain>";
    size_t len = strlen(whole);
    struct domain_xml d;
    char err[128];

    (void)state;
    for (size_t n = 0; n < len; n++) {
        char *cut = malloc(n ? n : 1);

        memcpy(cut, whole, n);
        assert_int_equal(domain_xml_parse(cut, n, &d, err, sizeof(err)), -1);
        free(cut);
    }
}

static int tidy(void **state)
{
    (void)state;
    xmlCleanupParser();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(live_guest_with_taps),
        cmocka_unit_test(live_guest_with_vhost_user),
        cmocka_unit_test(test_driver),
        cmocka_unit_test(identity_is_read_whole),
        cmocka_unit_test(pins_and_limits),
        cmocka_unit_test(iothreads_are_bounded),
        cmocka_unit_test(memory_and_numa),
        cmocka_unit_test(cards_without_a_target),
        cmocka_unit_test(hotplug_leaves_gaps),
        cmocka_unit_test(cards_of_every_kind),
        cmocka_unit_test(hundred_cards),
        cmocka_unit_test(more_than_the_bounds_is_noted),
        cmocka_unit_test(values_without_sense_are_not_there),
        cmocka_unit_test(title_is_clipped_at_a_character),
        cmocka_unit_test(huge_values_do_not_fit),
        cmocka_unit_test(what_is_no_domain_is_refused),
        cmocka_unit_test(document_types_are_refused),
        cmocka_unit_test(unknown_entities_are_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(costly_documents_are_refused_before_the_parse),
        cmocka_unit_test(harmless_quotes_are_not_counted),
        cmocka_unit_test(other_encodings_are_not_believed),
        cmocka_unit_test(every_cut_of_a_document_is_safe),
    };

    return cmocka_run_group_tests(tests, NULL, tidy);
}
