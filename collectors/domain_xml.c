/* SPDX-License-Identifier: MIT */
/* Domain XML: contract in domain_xml.h. The document is built by libxml2 without network, without entities (a
 * document type ends the parse at once) and within its own limits of depth and length; then the few elements
 * of interest are looked up from above. What libvirt may add later is passed over. */
#include "collectors/domain_xml.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/vmm_text.h"
#include "collectors/xml_bounds.h"

/* ---- nodes and attributes ---- */

static bool is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static const xmlNode *find_from(const xmlNode *node, const char *name)
{
    while (node && !is_element(node, name))
        node = node->next;
    return node;
}

static const xmlNode *child(const xmlNode *parent, const char *name)
{
    return parent ? find_from(parent->children, name) : NULL;
}

/* The text of an attribute or of an element that holds text alone, without a copy; NULL when it is not one
 * piece. */
static const char *only_text(const xmlNode *first)
{
    if (!first || first->next || (first->type != XML_TEXT_NODE && first->type != XML_CDATA_SECTION_NODE))
        return NULL;
    return (const char *)first->content;
}

static const char *attr(const xmlNode *node, const char *name)
{
    for (const xmlAttr *a = node ? node->properties : NULL; a; a = a->next) {
        if (strcmp((const char *)a->name, name) == 0)
            return only_text(a->children);
    }
    return NULL;
}

static const char *child_text(const xmlNode *parent, const char *name)
{
    const xmlNode *node = child(parent, name);

    return node ? only_text(node->children) : NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool parse_u64(const char *text, uint64_t *out)
{
    size_t len;

    if (!text)
        return false;
    while (is_blank(*text))
        text++;
    len = strlen(text);
    while (len > 0 && is_blank(text[len - 1]))
        len--;
    return procfs_parse_u64(text, len, out);
}

static uint64_t u64_or_zero(const char *text)
{
    uint64_t v;

    return parse_u64(text, &v) ? v : 0;
}

static unsigned small_or(const char *text, unsigned max, unsigned fallback)
{
    uint64_t v;

    return parse_u64(text, &v) && v <= max ? (unsigned)v : fallback;
}

static bool attr_is(const xmlNode *node, const char *name, const char *value)
{
    const char *text = attr(node, name);

    return text && strcmp(text, value) == 0;
}

static bool parse_cpus(const char *text, struct procfs_cpuset *set)
{
    return text && procfs_cpuset_parse(text, strlen(text), set);
}

/* A number with libvirt's unit, in KiB. Without unit it is one of KiB, as everywhere in live XML. */
static uint64_t scaled_kib(const char *number, const char *unit)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } UNITS[] = {
        {"KiB", UINT64_C(1) << 10},
        {"k", UINT64_C(1) << 10},
        {"MiB", UINT64_C(1) << 20},
        {"M", UINT64_C(1) << 20},
        {"GiB", UINT64_C(1) << 30},
        {"G", UINT64_C(1) << 30},
        {"TiB", UINT64_C(1) << 40},
        {"T", UINT64_C(1) << 40},
        {"b", 1},
        {"bytes", 1},
        {"KB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", 1000000000000},
    };
    uint64_t v = u64_or_zero(number);

    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        if (strcmp(unit ? unit : "KiB", UNITS[i].unit) == 0)
            return (uint64_t)((unsigned __int128)v * UNITS[i].bytes / 1024);
    }
    return 0;
}

/* Copies what fits, ended before a character that does not. */
static void copy_clipped(const char *text, char *dst, size_t size)
{
    size_t n = text ? strlen(text) : 0;

    if (n >= size) {
        n = size - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
    }
    if (n > 0)
        memcpy(dst, text, n);
    dst[n] = '\0';
}

/* A zeroed element at the end of an array, or NULL, which is noted, when there are max or memory is short. */
static void *grow(struct domain_xml *d, void *array, size_t *n, size_t elem, size_t max)
{
    void **base = array;

    if (*n < max && (*n & (*n - 1)) == 0) {
        void *grown = realloc(*base, (*n ? *n * 2 : 1) * elem);

        if (!grown)
            max = 0;
        else
            *base = grown;
    }
    if (*n >= max) {
        d->truncated = true;
        return NULL;
    }
    return memset((char *)*base + elem * (*n)++, 0, elem);
}

/* ---- vCPUs and their pins ---- */

/* <vcpus><vcpu id='2' enabled='yes'/>: only written when there are gaps or hot-plug was set up. */
static bool read_online_vcpus(const xmlNode *domain, struct procfs_cpuset *online)
{
    const xmlNode *vcpus = child(domain, "vcpus");

    for (const xmlNode *v = child(vcpus, "vcpu"); v; v = find_from(v->next, "vcpu")) {
        unsigned id = small_or(attr(v, "id"), DOMAIN_XML_VCPUS_MAX - 1, UINT_MAX);

        if (id != UINT_MAX && attr_is(v, "enabled", "yes"))
            procfs_cpuset_add(online, id);
    }
    return vcpus != NULL;
}

static void read_vcpus(const xmlNode *domain, struct domain_xml *d)
{
    const xmlNode *vcpu = child(domain, "vcpu");

    d->vcpu_max = small_or(child_text(domain, "vcpu"), DOMAIN_XML_VCPUS_MAX, 0);
    d->vcpu_current = small_or(attr(vcpu, "current"), d->vcpu_max, d->vcpu_max);
    d->has_cpuset = parse_cpus(attr(vcpu, "cpuset"), &d->cpuset);
    if (read_online_vcpus(domain, &d->vcpus_online))
        return;
    for (unsigned i = 0; i < d->vcpu_current; i++)
        procfs_cpuset_add(&d->vcpus_online, i);
}

static void read_pins(struct domain_xml *d, const xmlNode *tune, const char *element, const char *id_name,
                      struct domain_pin **pins, size_t *n)
{
    for (const xmlNode *p = child(tune, element); p; p = find_from(p->next, element)) {
        unsigned id = small_or(attr(p, id_name), INT_MAX, UINT_MAX);
        struct procfs_cpuset cpus;
        struct domain_pin *pin;

        if (id == UINT_MAX || !parse_cpus(attr(p, "cpuset"), &cpus))
            continue;
        pin = grow(d, pins, n, sizeof(*pin), DOMAIN_XML_PINS_MAX);
        if (!pin)
            return;
        *pin = (struct domain_pin){.id = id, .cpus = cpus};
    }
}

static struct domain_bandwidth read_bandwidth(const xmlNode *tune, const char *period, const char *quota)
{
    const char *text = child_text(tune, quota);
    struct domain_bandwidth b = {.period_us = u64_or_zero(child_text(tune, period))};
    uint64_t v;

    if (parse_u64(text, &v) && v <= INT64_MAX)
        b.quota_us = (int64_t)v;
    else if (text && *text == '-')
        b.quota_us = -1;
    return b;
}

static void read_cputune(const xmlNode *domain, struct domain_xml *d)
{
    const xmlNode *tune = child(domain, "cputune");

    read_pins(d, tune, "vcpupin", "vcpu", &d->vcpu_pins, &d->n_vcpu_pins);
    read_pins(d, tune, "iothreadpin", "iothread", &d->iothread_pins, &d->n_iothread_pins);
    d->has_emulator_pin = parse_cpus(attr(child(tune, "emulatorpin"), "cpuset"), &d->emulator_pin);
    d->shares = u64_or_zero(child_text(tune, "shares"));
    d->vcpu_bandwidth = read_bandwidth(tune, "period", "quota");
    d->global_bandwidth = read_bandwidth(tune, "global_period", "global_quota");
    d->emulator_bandwidth = read_bandwidth(tune, "emulator_period", "emulator_quota");
    d->iothread_bandwidth = read_bandwidth(tune, "iothread_period", "iothread_quota");
}

static bool has_iothread(const struct domain_xml *d, unsigned id)
{
    for (size_t i = 0; i < d->n_iothreads; i++) {
        if (d->iothreads[i] == id)
            return true;
    }
    return false;
}

static bool add_iothread(struct domain_xml *d, unsigned id)
{
    unsigned *room = grow(d, &d->iothreads, &d->n_iothreads, sizeof(*d->iothreads), DOMAIN_XML_IOTHREADS_MAX);

    if (room)
        *room = id;
    return room != NULL;
}

/* <iothreads>3</iothreads><iothreadids><iothread id='7'/>...: the list may be short, or not there at all. */
static void read_iothreads(const xmlNode *domain, struct domain_xml *d)
{
    const xmlNode *ids = child(domain, "iothreadids");
    unsigned n = small_or(child_text(domain, "iothreads"), INT_MAX, 0);

    for (const xmlNode *t = child(ids, "iothread"); t; t = find_from(t->next, "iothread")) {
        unsigned id = small_or(attr(t, "id"), INT_MAX, 0);

        if (id > 0 && !has_iothread(d, id) && !add_iothread(d, id))
            return;
    }
    for (unsigned id = 1; d->n_iothreads < n; id++) {
        if (!has_iothread(d, id) && !add_iothread(d, id))
            return;
    }
}

/* ---- memory and NUMA ---- */

static void read_hugepages(const xmlNode *hugepages, struct domain_xml *d)
{
    const xmlNode *page = child(hugepages, "page");

    d->hugepages = hugepages != NULL;
    if (page && !find_from(page->next, "page"))
        d->hugepage_kib = scaled_kib(attr(page, "size"), attr(page, "unit"));
}

static void read_memory(const xmlNode *domain, struct domain_xml *d)
{
    const xmlNode *backing = child(domain, "memoryBacking");

    d->memory_kib = scaled_kib(child_text(domain, "memory"), attr(child(domain, "memory"), "unit"));
    d->memory_shared = attr_is(child(backing, "access"), "mode", "shared");
    read_hugepages(child(backing, "hugepages"), d);
}

static struct domain_cell *cell_of_id(struct domain_xml *d, unsigned id)
{
    for (size_t i = 0; i < d->n_cells; i++) {
        if (d->cells[i].id == id)
            return &d->cells[i];
    }
    return NULL;
}

static void read_cells(const xmlNode *domain, struct domain_xml *d)
{
    const xmlNode *numa = child(child(domain, "cpu"), "numa");

    for (const xmlNode *c = child(numa, "cell"); c; c = find_from(c->next, "cell")) {
        struct domain_cell *cell = grow(d, &d->cells, &d->n_cells, sizeof(*cell), DOMAIN_XML_CELLS_MAX);

        if (!cell)
            return;
        cell->id = small_or(attr(c, "id"), INT_MAX, (unsigned)d->n_cells - 1);
        parse_cpus(attr(c, "cpus"), &cell->vcpus);
        cell->memory_kib = scaled_kib(attr(c, "memory"), attr(c, "unit"));
        cell->shared = attr_is(c, "memAccess", "shared");
    }
}

static void read_numatune(const xmlNode *domain, struct domain_xml *d)
{
    const xmlNode *tune = child(domain, "numatune"), *memory = child(tune, "memory");

    vmm_text_copy(attr(memory, "mode"), d->numa_mode, sizeof(d->numa_mode));
    d->has_numa_nodeset = parse_cpus(attr(memory, "nodeset"), &d->numa_nodeset);
    for (const xmlNode *m = child(tune, "memnode"); m; m = find_from(m->next, "memnode")) {
        struct domain_cell *cell = cell_of_id(d, small_or(attr(m, "cellid"), INT_MAX, UINT_MAX));

        if (cell)
            cell->has_nodeset = parse_cpus(attr(m, "nodeset"), &cell->nodeset);
    }
}

/* ---- the network ---- */

static const struct {
    const char *name;
    enum domain_iface_type type;
} IFACE_TYPES[] = {
    {"bridge", DOMAIN_IFACE_BRIDGE},       {"network", DOMAIN_IFACE_NETWORK},
    {"direct", DOMAIN_IFACE_DIRECT},       {"ethernet", DOMAIN_IFACE_ETHERNET},
    {"vhostuser", DOMAIN_IFACE_VHOSTUSER}, {"hostdev", DOMAIN_IFACE_HOSTDEV},
    {"vdpa", DOMAIN_IFACE_VDPA},           {"user", DOMAIN_IFACE_USER},
};

static enum domain_iface_type iface_type(const char *name)
{
    for (size_t i = 0; i < sizeof(IFACE_TYPES) / sizeof(IFACE_TYPES[0]); i++) {
        if (strcmp(IFACE_TYPES[i].name, name) == 0)
            return IFACE_TYPES[i].type;
    }
    return DOMAIN_IFACE_OTHER;
}

/* libvirt writes these with 0x, and reads decimals too. */
static bool pci_attr(const xmlNode *node, const char *name, unsigned max, unsigned *out)
{
    const char *text = attr(node, name);
    char *end;
    unsigned long v;

    if (!text || text[0] < '0' || text[0] > '9' || strlen(text) > 10)
        return false;
    v = strtoul(text, &end, 0);
    *out = (unsigned)v;
    return *end == '\0' && v <= max;
}

/* <address type='pci' domain='0x0000' bus='0x3b' slot='0x02' function='0x1'/> */
static void read_pci(const xmlNode *address, char pci[16])
{
    unsigned domain = 0, bus, slot, function;

    if (attr(address, "domain") && !pci_attr(address, "domain", 0xffff, &domain))
        return;
    if (!pci_attr(address, "bus", 0xff, &bus) || !pci_attr(address, "slot", 0x1f, &slot) ||
        !pci_attr(address, "function", 7, &function))
        return;
    snprintf(pci, 16, "%04x:%02x:%02x.%x", domain, bus, slot, function);
}

static void read_source(const xmlNode *source, struct domain_iface *iface)
{
    const char *mode = attr(source, "mode");

    vmm_text_copy(attr(source, "bridge"), iface->bridge, sizeof(iface->bridge));
    vmm_text_copy(attr(source, "network"), iface->network, sizeof(iface->network));
    vmm_text_copy(attr(source, "portgroup"), iface->portgroup, sizeof(iface->portgroup));
    vmm_text_copy(attr(source, "dev"), iface->source_dev, sizeof(iface->source_dev));
    vmm_text_copy(attr(source, "path"), iface->socket, sizeof(iface->socket));
    read_pci(child(source, "address"), iface->pci);
    if (!mode)
        return;
    if (iface->type != DOMAIN_IFACE_VHOSTUSER)
        vmm_text_copy(mode, iface->source_mode, sizeof(iface->source_mode));
    else if (strcmp(mode, "server") == 0)
        iface->socket_side = DOMAIN_SOCKET_LISTENS;
    else if (strcmp(mode, "client") == 0)
        iface->socket_side = DOMAIN_SOCKET_CONNECTS;
}

static void read_link(const xmlNode *link, struct domain_iface *iface)
{
    if (attr_is(link, "state", "up"))
        iface->link = DOMAIN_LINK_UP;
    else if (attr_is(link, "state", "down"))
        iface->link = DOMAIN_LINK_DOWN;
}

static void read_iface(const xmlNode *node, struct domain_iface *iface)
{
    const char *type = attr(node, "type");
    const xmlNode *driver = child(node, "driver"), *port = child(node, "virtualport");

    iface->type = iface_type(type ? type : "");
    vmm_text_copy(type, iface->type_name, sizeof(iface->type_name));
    vmm_text_mac(attr(child(node, "mac"), "address"), iface->mac);
    read_source(child(node, "source"), iface);
    vmm_text_copy(attr(child(node, "target"), "dev"), iface->target, sizeof(iface->target));
    vmm_text_copy(attr(child(node, "model"), "type"), iface->model, sizeof(iface->model));
    vmm_text_copy(attr(child(node, "alias"), "name"), iface->alias, sizeof(iface->alias));
    vmm_text_copy(attr(driver, "name"), iface->driver, sizeof(iface->driver));
    vmm_text_copy(attr(port, "type"), iface->virtualport, sizeof(iface->virtualport));
    vmm_text_uuid(attr(child(port, "parameters"), "interfaceid"), iface->interface_id);
    iface->queues = small_or(attr(driver, "queues"), UINT16_MAX, 1);
    iface->queues = iface->queues ? iface->queues : 1;
    iface->mtu = small_or(attr(child(node, "mtu"), "size"), INT_MAX, 0);
    read_link(child(node, "link"), iface);
}

static void read_ifaces(const xmlNode *devices, struct domain_xml *d)
{
    for (const xmlNode *i = child(devices, "interface"); i; i = find_from(i->next, "interface")) {
        struct domain_iface *iface = grow(d, &d->ifaces, &d->n_ifaces, sizeof(*iface), DOMAIN_XML_IFACES_MAX);

        if (!iface)
            return;
        read_iface(i, iface);
    }
}

static void read_hostdevs(const xmlNode *devices, struct domain_xml *d)
{
    for (const xmlNode *h = child(devices, "hostdev"); h; h = find_from(h->next, "hostdev")) {
        struct domain_hostdev *dev;
        char pci[16] = "";

        if (attr_is(h, "type", "pci"))
            read_pci(child(child(h, "source"), "address"), pci);
        if (!*pci)
            continue;
        dev = grow(d, &d->hostdevs, &d->n_hostdevs, sizeof(*dev), DOMAIN_XML_IFACES_MAX);
        if (!dev)
            return;
        memcpy(dev->pci, pci, sizeof(pci));
        vmm_text_copy(attr(child(h, "alias"), "name"), dev->alias, sizeof(dev->alias));
    }
}

/* ---- the document ---- */

/* A document type is where entities come from. libvirt writes none, so one ends the parse. */
static void refuse_doctype(void *ctx, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
    xmlParserCtxt *parser = ctx;

    (void)name;
    (void)external;
    (void)system;
    *(bool *)parser->_private = true;
    xmlStopParser(parser);
}

static void fail(char *err, size_t errlen, const char *cause)
{
    snprintf(err, errlen, "domain XML: %s", cause);
}

/* The parser's own sentence ends with a line break and may quote the text: one clean line of it is kept. */
static void fail_parse(char *err, size_t errlen, const xmlParserCtxt *parser, bool doctype)
{
    const char *message = parser->lastError.message;
    char line[96];
    size_t n = 0;

    for (; message && message[n] >= ' ' && message[n] <= '~' && n < sizeof(line) - 1; n++)
        line[n] = message[n];
    line[n] = '\0';
    if (doctype)
        fail(err, errlen, "has a document type, which libvirt never writes");
    else
        snprintf(err, errlen, "domain XML: line %d: %s", parser->lastError.line,
                 n ? line : "not well formed");
}

static xmlDoc *read_document(const char *text, size_t len, char *err, size_t errlen)
{
    xmlParserCtxt *parser = xmlNewParserCtxt();
    bool doctype = false;
    xmlDoc *doc;

    if (!parser) {
        fail(err, errlen, "out of memory");
        return NULL;
    }
    parser->_private = &doctype;
    parser->sax->internalSubset = refuse_doctype;
    doc = xmlCtxtReadMemory(parser, text, (int)len, NULL, "UTF-8",
                            XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
    if (!doc || doctype) {
        fail_parse(err, errlen, parser, doctype);
        xmlFreeDoc(doc);
        doc = NULL;
    }
    xmlFreeParserCtxt(parser);
    return doc;
}

static int read_domain(const xmlNode *domain, struct domain_xml *d, char *err, size_t errlen)
{
    if (!domain || !is_element(domain, "domain")) {
        fail(err, errlen, "its outermost element is not <domain>");
        return -1;
    }
    if (!vmm_text_copy(child_text(domain, "name"), d->name, sizeof(d->name)) || !*d->name) {
        fail(err, errlen, "has no <name>, or one of more than 255 bytes");
        return -1;
    }
    vmm_text_uuid(child_text(domain, "uuid"), d->uuid);
    copy_clipped(child_text(domain, "title"), d->title, sizeof(d->title));
    vmm_text_copy(attr(domain, "type"), d->type, sizeof(d->type));
    d->id = (int)small_or(attr(domain, "id"), INT_MAX, UINT_MAX);
    read_vcpus(domain, d);
    read_cputune(domain, d);
    read_iothreads(domain, d);
    read_memory(domain, d);
    read_cells(domain, d);
    read_numatune(domain, d);
    read_ifaces(child(domain, "devices"), d);
    read_hostdevs(child(domain, "devices"), d);
    return 0;
}

int domain_xml_parse(const char *text, size_t len, struct domain_xml *out, char *err, size_t errlen)
{
    const char *exceeded = len > DOMAIN_XML_SIZE_MAX ? "larger than 4 MiB" : xml_bounds_exceeded(text, len);
    xmlDoc *doc;
    int r;

    if (exceeded) {
        fail(err, errlen, exceeded);
        return -1;
    }
    doc = read_document(text, len, err, errlen);
    if (!doc)
        return -1;
    memset(out, 0, sizeof(*out));
    r = read_domain(xmlDocGetRootElement(doc), out, err, errlen);
    xmlFreeDoc(doc);
    if (r < 0)
        domain_xml_free(out);
    return r;
}

void domain_xml_free(struct domain_xml *d)
{
    if (!d)
        return;
    free(d->vcpu_pins);
    free(d->iothread_pins);
    free(d->iothreads);
    free(d->cells);
    free(d->ifaces);
    free(d->hostdevs);
    memset(d, 0, sizeof(*d));
}

const struct procfs_cpuset *domain_xml_pin(const struct domain_pin *pins, size_t n, unsigned id)
{
    for (size_t i = 0; i < n; i++) {
        if (pins[i].id == id)
            return &pins[i].cpus;
    }
    return NULL;
}

const struct procfs_cpuset *domain_xml_vcpu_cpus(const struct domain_xml *d, unsigned vcpu)
{
    const struct procfs_cpuset *pin = domain_xml_pin(d->vcpu_pins, d->n_vcpu_pins, vcpu);

    if (pin)
        return pin;
    return d->has_cpuset ? &d->cpuset : NULL;
}
