/* SPDX-License-Identifier: MIT */
/*
 * Rows of libvirt's domains (see libvirt_rows.h). libvirt tells of what is configured; times, and what only
 * the process shows (its pid, the back end that was chosen), are the qemu source's and left out here.
 */
#include "collectors/libvirt_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define CPUS_TEXT_SIZE 512

struct libvirt_entry {
    enum table_id table;
    const void *info;
    const struct libvirt_domain *domain;
};

/* What the rows of one domain share. */
struct maker {
    struct libvirt_rows *rows;
    const struct libvirt_domain *domain;
    const char *prefix, *name, *vm_key, *uri;
    bool elsewhere;
};

static void add_entry(const struct maker *maker, enum table_id table, const void *info)
{
    struct libvirt_rows *rows = maker->rows;
    if ((rows->n & (rows->n - 1)) == 0) /* full: 0 or a power of two */
        rows->entries = xrealloc(rows->entries, rows->n ? rows->n * 2 : 1, sizeof(*rows->entries));
    rows->entries[rows->n++] = (struct libvirt_entry){table, info, maker->domain};
}

static const char *keep(const struct maker *maker, const char *text)
{
    return inventory_text(maker->rows->inventory, text);
}

static const char *keep_cpus(const struct maker *maker, const struct procfs_cpuset *cpus)
{
    char text[CPUS_TEXT_SIZE];
    procfs_cpuset_format(cpus, text, sizeof(text));
    return keep(maker, text);
}

/* Sets a text that is there. */
#define set_if(maker, info, field, text)                                                                     \
    do {                                                                                                     \
        if (*(text))                                                                                         \
            info_set(info, field, keep(maker, text));                                                        \
    } while (0)

/* ---- the virtual machine ---- */

static const char *accel_of(const struct domain_xml *xml)
{
    return strcmp(xml->type, "qemu") == 0 ? "tcg" : xml->type;
}

static bool format_quota(char *out, size_t size, const char *whose, const struct domain_bandwidth *limit)
{
    if (limit->quota_us <= 0)
        return false;
    snprintf(out, size, "%s%lld/%llu", whose, (long long)limit->quota_us,
             (unsigned long long)(limit->period_us ? limit->period_us : 100000));
    return true;
}

static void set_quota(const struct maker *maker, struct vms_info *info, const struct domain_xml *xml)
{
    char each[64] = "", all[64] = "";
    bool both = format_quota(each, sizeof(each), "", &xml->vcpu_bandwidth);
    both = format_quota(all, sizeof(all), "all ", &xml->global_bandwidth) && both;
    if (*each || *all)
        info_set(info, cpu_quota,
                 inventory_textf(maker->rows->inventory, "%s%s%s", each, both ? ", " : "", all));
}

/* Where the guest's own nodes are bound one by one, the nodes of all. */
static void set_numa_nodes(const struct maker *maker, struct vms_info *info, const struct domain_xml *xml)
{
    struct procfs_cpuset nodes = xml->numa_nodeset;
    bool any = xml->has_numa_nodeset;
    for (size_t i = 0; i < xml->n_cells; i++) {
        const struct domain_cell *cell = &xml->cells[i];
        for (int node = cell->has_nodeset ? procfs_cpuset_next(&cell->nodeset, 0) : -1; node >= 0;
             node = procfs_cpuset_next(&cell->nodeset, (unsigned)node + 1))
            procfs_cpuset_add(&nodes, (unsigned)node);
        any = any || cell->has_nodeset;
    }
    if (any)
        info_set(info, numa_nodes, keep_cpus(maker, &nodes));
}

static void fill_vm(const struct maker *maker, struct vms_info *info, const struct domain_xml *xml)
{
    set_if(maker, info, title, xml->title);
    set_if(maker, info, accel, accel_of(xml));
    info_set(info, vcpus, procfs_cpuset_count(&xml->vcpus_online));
    info_set(info, vcpus_max, xml->vcpu_max);
    info_set(info, memory_mib, xml->memory_kib / 1024);
    info_set(info, huge_pages, xml->hugepages ? "yes" : "no");
    set_numa_nodes(maker, info, xml);
    if (xml->shares)
        info_set(info, cpu_shares, xml->shares);
    set_quota(maker, info, xml);
}

static void add_vm(const struct maker *maker)
{
    struct vms_info *info = inventory_info(maker->rows->inventory, TABLE_VMS, "%s", maker->vm_key);
    info_set(info, vm_key, maker->vm_key);
    info_set(info, name, maker->name);
    info_set(info, uuid, keep(maker, maker->domain->uuid));
    info_set(info, uri, maker->uri);
    if (maker->domain->has_xml)
        fill_vm(maker, info, &maker->domain->xml);
    add_entry(maker, TABLE_VMS, info);
}

/* ---- its threads ---- */

/* NULL: may run anywhere. */
static void set_pins(const struct maker *maker, struct threads_info *info, const struct procfs_cpuset *live,
                     const struct procfs_cpuset *next)
{
    if (live)
        info_set(info, pinned_cpus, keep_cpus(maker, live));
    bool same = live && next ? procfs_cpuset_equal(live, next) : live == next;
    if (maker->domain->has_next && !same)
        info_set(info, pinned_next, next ? keep_cpus(maker, next) : "any");
}

static struct threads_info *add_thread(const struct maker *maker, const char *role, const char *place)
{
    struct threads_info *info =
        inventory_info(maker->rows->inventory, TABLE_THREADS, "%s/%s", maker->vm_key, place);
    info_set(info, role, role);
    info_set(info, vm, maker->name);
    info_set(info, vm_key, maker->vm_key);
    add_entry(maker, TABLE_THREADS, info);
    return info;
}

static void add_vcpus(const struct maker *maker, const struct domain_xml *xml, const struct domain_xml *next)
{
    for (int id = procfs_cpuset_next(&xml->vcpus_online, 0); id >= 0;
         id = procfs_cpuset_next(&xml->vcpus_online, (unsigned)id + 1)) {
        char place[32];
        snprintf(place, sizeof(place), "vcpu/%d", id);
        struct threads_info *info = add_thread(maker, "vcpu", place);
        info_set(info, index, (uint64_t)id);
        set_pins(maker, info, domain_xml_vcpu_cpus(xml, (unsigned)id),
                 next ? domain_xml_vcpu_cpus(next, (unsigned)id) : NULL);
    }
}

static const struct procfs_cpuset *emulator_cpus(const struct domain_xml *xml)
{
    if (xml->has_emulator_pin)
        return &xml->emulator_pin;
    return xml->has_cpuset ? &xml->cpuset : NULL;
}

static const struct procfs_cpuset *iothread_cpus(const struct domain_xml *xml, unsigned id)
{
    const struct procfs_cpuset *pin = domain_xml_pin(xml->iothread_pins, xml->n_iothread_pins, id);
    return pin || !xml->has_cpuset ? pin : &xml->cpuset;
}

static void add_iothreads(const struct maker *maker, const struct domain_xml *xml,
                          const struct domain_xml *next)
{
    for (size_t i = 0; i < xml->n_iothreads; i++) {
        unsigned id = xml->iothreads[i];
        char place[32];
        snprintf(place, sizeof(place), "iothread/%u", id);
        struct threads_info *info = add_thread(maker, "iothread", place);
        info_set(info, index, id);
        set_pins(maker, info, iothread_cpus(xml, id), next ? iothread_cpus(next, id) : NULL);
    }
}

static void add_threads(const struct maker *maker)
{
    const struct libvirt_domain *domain = maker->domain;
    const struct domain_xml *xml = &domain->xml, *next = domain->has_next ? &domain->next : NULL;
    add_vcpus(maker, xml, next);
    set_pins(maker, add_thread(maker, "emulator", "emulator"), emulator_cpus(xml),
             next ? emulator_cpus(next) : NULL);
    add_iothreads(maker, xml, next);
}

/* ---- its network cards ---- */

static bool is_virtio(const struct domain_iface *iface)
{
    return strncmp(iface->model, "virtio", 6) == 0;
}

/* vhost-net is libvirt's choice where it can be had: the process tells what came of it. NULL: not known. */
static const char *tap_backend(const struct domain_xml *xml, const struct domain_iface *iface)
{
    if (strcmp(iface->driver, "vhost") == 0)
        return "vhost";
    bool never = strcmp(iface->driver, "qemu") == 0 || strcmp(xml->type, "kvm") != 0 || !is_virtio(iface);
    return never ? "tap" : NULL;
}

static const char *backend_of(const struct domain_xml *xml, const struct domain_iface *iface)
{
    static const char *const words[] = {
        [DOMAIN_IFACE_DIRECT] = "macvtap", [DOMAIN_IFACE_VHOSTUSER] = "vhost-user",
        [DOMAIN_IFACE_HOSTDEV] = "vfio",   [DOMAIN_IFACE_VDPA] = "vhost-vdpa",
        [DOMAIN_IFACE_USER] = "user",
    };
    static const char *const sockets[] = {"server", "client", "mcast", "udp"};
    switch (iface->type) {
    case DOMAIN_IFACE_BRIDGE:
    case DOMAIN_IFACE_NETWORK:
    case DOMAIN_IFACE_ETHERNET:
        return tap_backend(xml, iface);
    case DOMAIN_IFACE_OTHER:
        for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
            if (strcmp(iface->type_name, sockets[i]) == 0)
                return "socket";
        return *iface->type_name ? iface->type_name : NULL;
    default:
        return words[iface->type];
    }
}

static const char *model_of(const struct domain_iface *iface)
{
    if (iface->type == DOMAIN_IFACE_HOSTDEV)
        return "vfio";
    return is_virtio(iface) ? "virtio" : iface->model;
}

static void fill_socket(const struct maker *maker, struct paths_info *info, const struct domain_iface *iface)
{
    set_if(maker, info, socket, iface->socket);
    if (iface->socket_side == DOMAIN_SOCKET_LISTENS)
        info_set(info, socket_side, "listens");
    if (iface->socket_side == DOMAIN_SOCKET_CONNECTS)
        info_set(info, socket_side, "connects");
}

static void fill_path(const struct maker *maker, struct paths_info *info, const struct domain_iface *iface)
{
    const char *backend = backend_of(&maker->domain->xml, iface);
    set_if(maker, info, mac, iface->mac);
    set_if(maker, info, port, iface->target);
    set_if(maker, info, model, model_of(iface));
    if (backend)
        info_set(info, backend, keep(maker, backend));
    fill_socket(maker, info, iface);
    set_if(maker, info, bridge, iface->bridge);
    set_if(maker, info, network, iface->network);
    set_if(maker, info, pci, iface->pci);
    info_set(info, queues, iface->queues);
    if (iface->link != DOMAIN_LINK_UNDEFINED)
        info_set(info, link, iface->link == DOMAIN_LINK_UP ? "up" : "down");
    if (maker->elsewhere) /* a port of the same name here is not the one meant */
        info_set(info, uri, maker->uri);
}

/* A MAC that an earlier card of the guest has too would make one row of both. */
static bool is_first_of_mac(const struct domain_xml *xml, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (strcmp(xml->ifaces[i].mac, xml->ifaces[number].mac) == 0)
            return false;
    return *xml->ifaces[number].mac != '\0';
}

/* A device that is handed over goes by its address: QEMU's command line does not tell its MAC. */
static struct paths_info *make_path(const struct maker *maker, const struct domain_xml *xml, size_t number)
{
    const struct domain_iface *iface = &xml->ifaces[number];
    struct inventory *inventory = maker->rows->inventory;
    const char *prefix = maker->prefix, *uuid = maker->domain->uuid;
    if (iface->type == DOMAIN_IFACE_HOSTDEV && *iface->pci)
        return inventory_info(inventory, TABLE_PATHS, "%spath:vm:%s:%s", prefix, uuid, iface->pci);
    if (is_first_of_mac(xml, number))
        return inventory_info(inventory, TABLE_PATHS, "%spath:vm:%s:%s", prefix, uuid, iface->mac);
    return inventory_info(inventory, TABLE_PATHS, "%spath:vm:%s:#%zu", prefix, uuid, number);
}

static void add_path(const struct maker *maker, const struct domain_xml *xml, size_t number)
{
    const struct domain_iface *iface = &xml->ifaces[number];
    struct paths_info *info = make_path(maker, xml, number);
    info_set(info, vm, maker->name);
    info_set(info, vm_key, maker->vm_key);
    info_set(info, nic,
             *iface->alias ? keep(maker, iface->alias)
                           : inventory_textf(maker->rows->inventory, "net%zu", number));
    fill_path(maker, info, iface);
    add_entry(maker, TABLE_PATHS, info);
}

/* ---- all ---- */

const char *libvirt_rows_prefix(struct inventory *inventory, const char *uri, bool elsewhere)
{
    return elsewhere ? inventory_textf(inventory, "%s|", uri) : "";
}

static int by_name(const void *a, const void *b)
{
    const struct maker *x = a, *y = b;
    int order = strcmp(x->domain->name, y->domain->name);
    return order ? order : strcmp(x->domain->uuid, y->domain->uuid);
}

static void add_domain(struct maker *maker)
{
    struct inventory *inventory = maker->rows->inventory;
    maker->name = keep(maker, *maker->domain->name ? maker->domain->name : maker->domain->uuid);
    maker->vm_key = inventory_textf(inventory, "%svm:%s", maker->prefix, maker->domain->uuid);
    add_vm(maker);
    if (!maker->domain->has_xml)
        return;
    add_threads(maker);
    for (size_t i = 0; i < maker->domain->xml.n_ifaces; i++)
        add_path(maker, &maker->domain->xml, i);
}

void libvirt_rows_make(struct libvirt_rows *rows, const struct libvirt_domains *domains, const char *uri,
                       bool elsewhere)
{
    libvirt_rows_clear(rows);
    rows->inventory = inventory_new();
    uri = inventory_text(rows->inventory, uri);
    const char *prefix = libvirt_rows_prefix(rows->inventory, uri, elsewhere);
    struct maker *makers = xzalloc((domains->n + 1) * sizeof(*makers));
    size_t n = 0;
    for (size_t i = 0; i < domains->n; i++)
        if (domains->list[i]->handle)
            makers[n++] = (struct maker){.rows = rows,
                                         .domain = domains->list[i],
                                         .prefix = prefix,
                                         .uri = uri,
                                         .elsewhere = elsewhere};
    qsort(makers, n, sizeof(*makers), by_name);
    for (size_t i = 0; i < n; i++)
        add_domain(&makers[i]);
    free(makers);
}

void libvirt_rows_clear(struct libvirt_rows *rows)
{
    inventory_unref(rows->inventory);
    free(rows->entries);
    *rows = (struct libvirt_rows){0};
}

static const char *state_name(int state)
{
    static const char *const names[] = {
        [VIR_DOMAIN_NOSTATE] = "no state",       [VIR_DOMAIN_RUNNING] = "running",
        [VIR_DOMAIN_BLOCKED] = "blocked",        [VIR_DOMAIN_PAUSED] = "paused",
        [VIR_DOMAIN_SHUTDOWN] = "shutting down", [VIR_DOMAIN_SHUTOFF] = "shut off",
        [VIR_DOMAIN_CRASHED] = "crashed",        [VIR_DOMAIN_PMSUSPENDED] = "suspended",
    };
    return state >= 0 && state < (int)(sizeof(names) / sizeof(names[0])) ? names[state] : "unknown";
}

static void add_row(struct sample *sample, const struct libvirt_entry *entry)
{
    void *row = sample_row(sample, entry->table, entry->info);
    if (entry->table == TABLE_VMS && entry->domain->checked_ns)
        row_set((struct vms_row *)row, state, state_name(entry->domain->state));
    else if (entry->table == TABLE_PATHS)
        row_set((struct paths_row *)row, state, "present");
}

struct sample *libvirt_rows_sample(const struct libvirt_rows *rows)
{
    struct sample *sample = sample_new(rows->inventory);
    for (size_t i = 0; i < rows->n; i++)
        add_row(sample, &rows->entries[i]);
    return sample;
}
