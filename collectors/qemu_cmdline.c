/* SPDX-License-Identifier: MIT */
/* Command lines of QEMU: contract in qemu_cmdline.h. One pass collects cards, back ends, character devices
 * and descriptor sets in the order they stand; then each card is joined with its back end, because QEMU too
 * allows them in any order. Options that do not concern a guest's network or size are passed over. */
#include "collectors/qemu_cmdline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/microvm_cmdline.h"
#include "collectors/procfs.h"
#include "collectors/qemu_opts.h"
#include "collectors/vmm_text.h"

#define MIB         (UINT64_C(1024) * 1024)
#define ENTRIES_MAX 1024 /* back ends, character devices, descriptor sets: each */
#define ID_SIZE     64
#define CPUS_MAX    65536
#define NO_HUB      -1
#define NO_BACKEND  SIZE_MAX

struct half { /* a back end: what it will give to its card */
    struct qemu_nic nic;
    char chardev[ID_SIZE];
    int hub; /* legacy -net */
};

struct card { /* beside each of out->nics: how its back end is found when not by id */
    int hub;
    size_t backend;
};

struct chardev {
    char id[ID_SIZE];
    char path[VMM_PATH_SIZE];
    enum nic_socket_side side;
};

struct fdset {
    uint64_t set;
    char opaque[ID_SIZE];
};

struct parse {
    struct qemu_cmdline *out;
    struct half *halves;
    struct card *cards;
    struct chardev *chardevs;
    struct fdset *fdsets;
    size_t n_halves, n_chardevs, n_fdsets;
    unsigned accels;
    bool no_memory;
};

/* A zeroed element at the end of an array that grows at powers of two, or NULL. */
static void *grow(void *array, size_t *n, size_t elem, size_t max)
{
    void **base = array;

    if (*n >= max)
        return NULL;
    if ((*n & (*n - 1)) == 0) {
        void *grown = realloc(*base, (*n ? *n * 2 : 1) * elem);

        if (!grown)
            return NULL;
        *base = grown;
    }
    return memset((char *)*base + elem * (*n)++, 0, elem);
}

static void *grow_or_note(struct parse *p, void *array, size_t *n, size_t elem)
{
    void *entry = grow(array, n, elem, ENTRIES_MAX);

    if (!entry && *n >= ENTRIES_MAX)
        p->out->truncated = true;
    else if (!entry)
        p->no_memory = true;
    return entry;
}

struct qemu_nic *qemu_cmdline_add_nic(struct qemu_cmdline *cmd)
{
    struct qemu_nic *nic = grow(&cmd->nics, &cmd->n_nics, sizeof(*nic), VMM_NICS_MAX);

    if (nic)
        nic->queues = 1;
    else
        cmd->truncated = true;
    return nic;
}

static struct qemu_nic *add_card(struct parse *p, int hub, size_t backend)
{
    size_t n = p->out->n_nics;
    struct card *card = grow(&p->cards, &n, sizeof(*card), VMM_NICS_MAX);
    struct qemu_nic *nic = card ? qemu_cmdline_add_nic(p->out) : NULL;

    if (card)
        *card = (struct card){.hub = hub, .backend = backend};
    else
        p->out->truncated = true;
    return nic;
}

/* ---- back ends ---- */

static const struct {
    const char *name;
    enum nic_backend backend;
} BACKENDS[] = {
    {"tap", NIC_TAP},
    {"bridge", NIC_BRIDGE},
    {"vhost-user", NIC_VHOST_USER},
    {"vhost-vdpa", NIC_VHOST_VDPA},
    {"user", NIC_USER},
    {"passt", NIC_USER},
    {"socket", NIC_SOCKET},
    {"stream", NIC_SOCKET},
    {"dgram", NIC_SOCKET},
    {"l2tpv3", NIC_SOCKET},
    {"vde", NIC_SOCKET},
};

static enum nic_backend backend_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof(BACKENDS) / sizeof(BACKENDS[0]); i++) {
        if (strcmp(BACKENDS[i].name, name) == 0)
            return BACKENDS[i].backend;
    }
    return NIC_OTHER;
}

/* "30:32": returns how many there are, also beyond those kept and those that are names of the monitor. */
static unsigned take_fds(const char *text, struct qemu_nic *nic)
{
    unsigned n = 0;

    while (text && *text) {
        size_t len = strcspn(text, ":");
        uint64_t fd;

        if (nic->n_fds < VMM_FDS_MAX && procfs_parse_u64(text, len, &fd) && fd <= INT32_MAX)
            nic->fds[nic->n_fds++] = (int)fd;
        n++;
        text += len + (text[len] == ':');
    }
    return n;
}

static void fill_tap(const struct qemu_opts *opts, struct qemu_nic *nic)
{
    const char *br = qemu_opts_get(opts, "br");
    bool handed = qemu_opts_get(opts, "vhostfd") || qemu_opts_get(opts, "vhostfds");
    unsigned n = take_fds(qemu_opts_get(opts, "fd"), nic) + take_fds(qemu_opts_get(opts, "fds"), nic);

    if (n > nic->queues)
        nic->queues = n;
    if (nic->backend == NIC_TAP && qemu_opts_get(opts, "helper"))
        nic->backend = NIC_BRIDGE;
    if (nic->backend == NIC_BRIDGE)
        vmm_text_copy(br ? br : "br0", nic->bridge, sizeof(nic->bridge));
    nic->vhost = qemu_opts_bool(opts, "vhost", handed || qemu_opts_bool(opts, "vhostforce", false));
}

static void fill_socket(const struct qemu_opts *opts, struct qemu_nic *nic)
{
    if (qemu_opts_copy(opts, "addr.path", nic->socket, sizeof(nic->socket)))
        nic->side = qemu_opts_bool(opts, "server", false) ? NIC_SIDE_LISTENS : NIC_SIDE_CONNECTS;
    else if (qemu_opts_get(opts, "listen"))
        nic->side = NIC_SIDE_LISTENS;
    else if (qemu_opts_get(opts, "connect"))
        nic->side = NIC_SIDE_CONNECTS;
}

static struct half *add_backend(struct parse *p, const struct qemu_opts *opts, const char *type, int hub)
{
    struct half *half = grow_or_note(p, &p->halves, &p->n_halves, sizeof(*half));
    uint64_t queues = qemu_opts_u64(opts, "queues", 1);

    if (!half)
        return NULL;
    half->hub = hub;
    half->nic.order = (unsigned)p->n_halves - 1;
    half->nic.backend = backend_of_name(type);
    half->nic.queues = queues >= 1 && queues <= UINT16_MAX ? (unsigned)queues : 1;
    vmm_text_copy(type, half->nic.backend_name, sizeof(half->nic.backend_name));
    qemu_opts_copy(opts, "id", half->nic.netdev, sizeof(half->nic.netdev));
    qemu_opts_copy(opts, "ifname", half->nic.ifname, sizeof(half->nic.ifname));
    qemu_opts_copy(opts, "chardev", half->chardev, sizeof(half->chardev));
    qemu_opts_copy(opts, "vhostdev", half->nic.vdpa, sizeof(half->nic.vdpa));
    if (half->nic.backend == NIC_TAP || half->nic.backend == NIC_BRIDGE)
        fill_tap(opts, &half->nic);
    if (half->nic.backend == NIC_SOCKET)
        fill_socket(opts, &half->nic);
    return half;
}

static void take_netdev(struct parse *p, const struct qemu_opts *opts)
{
    const char *type = qemu_opts_get(opts, "type");

    if (type)
        add_backend(p, opts, type, NO_HUB);
}

static void take_net(struct parse *p, const struct qemu_opts *opts)
{
    const char *type = qemu_opts_get(opts, "type");
    uint64_t vlan = qemu_opts_u64(opts, "vlan", 0);
    int hub = vlan <= INT32_MAX ? (int)vlan : 0;
    struct qemu_nic *nic;

    if (!type || strcmp(type, "none") == 0)
        return;
    if (strcmp(type, "nic") != 0) {
        add_backend(p, opts, type, hub);
        return;
    }
    nic = add_card(p, qemu_opts_get(opts, "netdev") ? NO_HUB : hub, NO_BACKEND);
    if (!nic)
        return;
    qemu_opts_copy(opts, "name", nic->id, sizeof(nic->id));
    qemu_opts_copy(opts, "netdev", nic->netdev, sizeof(nic->netdev));
    qemu_opts_copy(opts, "model", nic->model, sizeof(nic->model));
    vmm_text_mac(qemu_opts_get(opts, "macaddr"), nic->mac);
}

static void take_nic(struct parse *p, const struct qemu_opts *opts)
{
    const char *type = qemu_opts_get(opts, "type");
    struct qemu_nic *nic;

    if (!type || strcmp(type, "none") == 0 || !add_backend(p, opts, type, NO_HUB))
        return;
    nic = add_card(p, NO_HUB, p->n_halves - 1);
    if (!nic)
        return;
    qemu_opts_copy(opts, "id", nic->id, sizeof(nic->id));
    qemu_opts_copy(opts, "model", nic->model, sizeof(nic->model));
    vmm_text_mac(qemu_opts_get(opts, "mac"), nic->mac);
}

/* ---- devices ---- */

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Cards that may stand without a back end; with one, any device is a card. */
static bool is_card(const char *driver)
{
    static const char *const PREFIXES[] = {"virtio-net", "e1000", "rtl8139", "vmxnet3",
                                           "igb",        "pcnet", "usb-net"};

    for (size_t i = 0; i < sizeof(PREFIXES) / sizeof(PREFIXES[0]); i++) {
        if (has_prefix(driver, PREFIXES[i]))
            return true;
    }
    return false;
}

/* vfio-pci: host=3b:02.1 or sysfsdev=/sys/bus/pci/devices/0000:3b:02.1 */
static bool vfio_address(const struct qemu_opts *opts, char pci[16])
{
    const char *dev = qemu_opts_get(opts, "sysfsdev");
    const char *slash = dev ? strrchr(dev, '/') : NULL;

    return vmm_text_pci(qemu_opts_get(opts, "host"), pci) || vmm_text_pci(slash ? slash + 1 : dev, pci);
}

static void fill_device(const struct qemu_opts *opts, const char *driver, struct qemu_nic *nic)
{
    vmm_text_copy(driver, nic->model, sizeof(nic->model));
    qemu_opts_copy(opts, "id", nic->id, sizeof(nic->id));
    qemu_opts_copy(opts, "netdev", nic->netdev, sizeof(nic->netdev));
    vmm_text_mac(qemu_opts_get(opts, "mac"), nic->mac);
}

static void take_device(struct parse *p, const struct qemu_opts *opts)
{
    const char *driver = qemu_opts_get(opts, "driver");
    bool vdpa = driver && has_prefix(driver, "vhost-vdpa-device");
    bool vfio = driver && has_prefix(driver, "vfio-pci");
    char pci[16] = "";
    struct qemu_nic *nic;

    if (!driver || (vfio && !vfio_address(opts, pci)))
        return;
    if (!vfio && !vdpa && !qemu_opts_get(opts, "netdev") && !is_card(driver))
        return;
    nic = add_card(p, NO_HUB, NO_BACKEND);
    if (!nic)
        return;
    fill_device(opts, driver, nic);
    if (!vfio && !vdpa)
        return;
    nic->backend = vfio ? NIC_VFIO : NIC_VHOST_VDPA;
    vmm_text_copy(vfio ? "vfio" : "vhost-vdpa", nic->backend_name, sizeof(nic->backend_name));
    memcpy(nic->pci, pci, sizeof(pci));
    qemu_opts_copy(opts, "vhostdev", nic->vdpa, sizeof(nic->vdpa));
}

static void take_chardev(struct parse *p, const struct qemu_opts *opts)
{
    bool nested = qemu_opts_get(opts, "backend.type");
    struct chardev *c = grow_or_note(p, &p->chardevs, &p->n_chardevs, sizeof(*c));
    bool server;

    if (!c)
        return;
    qemu_opts_copy(opts, "id", c->id, sizeof(c->id));
    qemu_opts_copy(opts, nested ? "backend.data.addr.data.path" : "path", c->path, sizeof(c->path));
    /* The monitor's form listens unless told otherwise, the command line's connects. */
    server = qemu_opts_bool(opts, nested ? "backend.data.server" : "server", nested);
    c->side = server ? NIC_SIDE_LISTENS : NIC_SIDE_CONNECTS;
}

static void take_add_fd(struct parse *p, const struct qemu_opts *opts)
{
    struct fdset *f = grow_or_note(p, &p->fdsets, &p->n_fdsets, sizeof(*f));

    if (!f)
        return;
    f->set = qemu_opts_u64(opts, "set", UINT64_MAX);
    qemu_opts_copy(opts, "opaque", f->opaque, sizeof(f->opaque));
}

/* ---- the guest ---- */

static void take_name(struct parse *p, const struct qemu_opts *opts)
{
    qemu_opts_copy(opts, "guest", p->out->name, sizeof(p->out->name));
    p->out->debug_threads = qemu_opts_bool(opts, "debug-threads", p->out->debug_threads);
}

static void take_uuid(struct parse *p, const struct qemu_opts *opts)
{
    vmm_text_uuid(qemu_opts_get(opts, "uuid"), p->out->uuid);
}

static enum vmm_accel accel_of_name(const char *name)
{
    if (strchr(name, ':'))
        return VMM_ACCEL_UNKNOWN;
    if (strcmp(name, "kvm") == 0)
        return VMM_ACCEL_KVM;
    return strcmp(name, "tcg") == 0 ? VMM_ACCEL_TCG : VMM_ACCEL_OTHER;
}

/* Several -accel are tried in turn: which one holds is not said. */
static void note_accel(struct parse *p, const char *name)
{
    enum vmm_accel accel = name ? accel_of_name(name) : VMM_ACCEL_UNKNOWN;

    p->out->accel = p->accels == 0 || p->out->accel == accel ? accel : VMM_ACCEL_UNKNOWN;
    p->accels++;
}

static void take_accel(struct parse *p, const struct qemu_opts *opts)
{
    note_accel(p, qemu_opts_get(opts, "accel"));
}

static void take_machine(struct parse *p, const struct qemu_opts *opts)
{
    if (qemu_opts_get(opts, "accel"))
        take_accel(p, opts);
}

static void take_enable_kvm(struct parse *p, const struct qemu_opts *opts)
{
    (void)opts;
    note_accel(p, "kvm");
}

/* Sockets, dies and so on multiply to the maximum when it is not given. */
static uint64_t smp_product(const struct qemu_opts *opts)
{
    static const char *const LEVELS[] = {"drawers",  "books",   "sockets", "dies",
                                         "clusters", "modules", "cores",   "threads"};
    uint64_t product = 1;

    for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++) {
        uint64_t n = qemu_opts_u64(opts, LEVELS[i], 1);

        product = n >= 1 && n <= CPUS_MAX && product <= CPUS_MAX ? product * n : product;
    }
    return product;
}

static void take_smp(struct parse *p, const struct qemu_opts *opts)
{
    uint64_t cpus = qemu_opts_u64(opts, "cpus", 0), max = qemu_opts_u64(opts, "maxcpus", 0);

    if (max == 0)
        max = cpus ? cpus : smp_product(opts);
    if (cpus == 0)
        cpus = max;
    if (cpus > max || max > CPUS_MAX)
        return;
    p->out->smp_current = (unsigned)cpus;
    p->out->smp_max = (unsigned)max;
}

static void take_memory(struct parse *p, const struct qemu_opts *opts)
{
    const char *size = qemu_opts_get(opts, "size");
    uint64_t bytes;

    if (size && qemu_opts_size(size, MIB, &bytes))
        p->out->memory_mib = bytes / MIB;
}

/* Only the mount could tell for certain; the folder of huge pages has its name nearly everywhere. */
static void note_mem_path(struct parse *p, const char *path)
{
    if (!vmm_text_copy(path, p->out->mem_path, sizeof(p->out->mem_path)))
        return;
    if (strstr(path, "huge"))
        p->out->hugepages = true;
}

static void take_mem_path(struct parse *p, const struct qemu_opts *opts)
{
    note_mem_path(p, qemu_opts_get(opts, "path"));
}

static void take_object(struct parse *p, const struct qemu_opts *opts)
{
    const char *type = qemu_opts_get(opts, "qom-type");

    if (!type || !has_prefix(type, "memory-backend-"))
        return;
    note_mem_path(p, qemu_opts_get(opts, "mem-path"));
    if (qemu_opts_bool(opts, "hugetlb", false))
        p->out->hugepages = true;
    if (qemu_opts_bool(opts, "share", false))
        p->out->memory_shared = true;
}

/* ---- the options ---- */

enum option_form { FORM_LIST, FORM_RAW, FORM_FLAG };

/* Those without take are here because of their form: what follows an option that has no value, or one whose
 * value may begin with a dash, would be misread. */
static const struct option {
    const char *name;
    enum option_form form;
    const char *implied_key;
    void (*take)(struct parse *p, const struct qemu_opts *opts);
} OPTIONS[] = {
    {"name", FORM_LIST, "guest", take_name},
    {"uuid", FORM_RAW, "uuid", take_uuid},
    {"m", FORM_LIST, "size", take_memory},
    {"smp", FORM_LIST, "cpus", take_smp},
    {"machine", FORM_LIST, "type", take_machine},
    {"M", FORM_LIST, "type", take_machine},
    {"accel", FORM_LIST, "accel", take_accel},
    {"enable-kvm", FORM_FLAG, NULL, take_enable_kvm},
    {"object", FORM_LIST, "qom-type", take_object},
    {"mem-path", FORM_RAW, "path", take_mem_path},
    {"netdev", FORM_LIST, "type", take_netdev},
    {"net", FORM_LIST, "type", take_net},
    {"nic", FORM_LIST, "type", take_nic},
    {"device", FORM_LIST, "driver", take_device},
    {"chardev", FORM_LIST, "backend", take_chardev},
    {"add-fd", FORM_LIST, NULL, take_add_fd},
    {"append", FORM_RAW, NULL, NULL},
    {"fw_cfg", FORM_RAW, NULL, NULL},
    {"S", FORM_FLAG, NULL, NULL},
    {"s", FORM_FLAG, NULL, NULL},
    {"nographic", FORM_FLAG, NULL, NULL},
    {"nodefaults", FORM_FLAG, NULL, NULL},
    {"no-user-config", FORM_FLAG, NULL, NULL},
    {"daemonize", FORM_FLAG, NULL, NULL},
    {"snapshot", FORM_FLAG, NULL, NULL},
    {"mem-prealloc", FORM_FLAG, NULL, NULL},
};

static const struct option *find_option(const char *arg)
{
    const char *name = arg + 1 + (arg[1] == '-');

    for (size_t i = 0; i < sizeof(OPTIONS) / sizeof(OPTIONS[0]); i++) {
        if (strcmp(OPTIONS[i].name, name) == 0)
            return &OPTIONS[i];
    }
    return NULL;
}

static void take_option(struct parse *p, const struct option *option, const char *value)
{
    struct qemu_opts opts;

    opts.text = NULL;
    opts.n = 0;
    if (!option->take)
        return;
    if (option->form == FORM_RAW)
        opts.item[opts.n++] = (struct qemu_opt){option->implied_key, value};
    if (option->form != FORM_LIST || qemu_opts_parse(value, QEMU_OPTS_COMMAS, option->implied_key, &opts))
        option->take(p, &opts);
    qemu_opts_free(&opts);
}

static void take_options(struct parse *p, char *const *argv, size_t argc)
{
    for (size_t i = 1; i < argc; i++) {
        const struct option *option = argv[i][0] == '-' ? find_option(argv[i]) : NULL;

        if (!option)
            continue; /* a disk image, an option of no interest, or its value */
        if (option->form == FORM_FLAG)
            take_option(p, option, "");
        else if (i + 1 < argc)
            take_option(p, option, argv[++i]);
    }
}

/* ---- joining ---- */

static const struct half *backend_by_id(const struct parse *p, const char *id)
{
    for (size_t i = 0; *id && i < p->n_halves; i++) {
        if (strcmp(p->halves[i].nic.netdev, id) == 0)
            return &p->halves[i];
    }
    return NULL;
}

/* The rank-th back end of a hub, or its last one when there are fewer. */
static const struct half *backend_by_hub(const struct parse *p, int hub, size_t rank)
{
    const struct half *found = NULL;

    for (size_t i = 0; i < p->n_halves; i++) {
        if (p->halves[i].hub != hub)
            continue;
        found = &p->halves[i];
        if (rank-- == 0)
            break;
    }
    return found;
}

static size_t rank_on_hub(const struct parse *p, size_t card)
{
    size_t rank = 0;

    for (size_t i = 0; i < card; i++)
        rank += p->cards[i].hub == p->cards[card].hub;
    return rank;
}

static const struct half *backend_of_card(const struct parse *p, size_t card)
{
    const struct card *c = &p->cards[card];

    if (c->backend != NO_BACKEND)
        return &p->halves[c->backend];
    if (c->hub != NO_HUB)
        return backend_by_hub(p, c->hub, rank_on_hub(p, card));
    return backend_by_id(p, p->out->nics[card].netdev);
}

static void join_chardev(const struct parse *p, const char *id, struct qemu_nic *nic)
{
    for (size_t i = 0; *id && i < p->n_chardevs; i++) {
        if (strcmp(p->chardevs[i].id, id) != 0)
            continue;
        memcpy(nic->socket, p->chardevs[i].path, sizeof(nic->socket));
        nic->side = p->chardevs[i].side;
        return;
    }
}

/* libvirt opens the vdpa device itself and leaves its path as the note of a descriptor set. */
static void join_fdset(const struct parse *p, struct qemu_nic *nic)
{
    static const char PREFIX[] = "/dev/fdset/";
    const char *number = nic->vdpa + sizeof(PREFIX) - 1;
    uint64_t set;

    if (!has_prefix(nic->vdpa, PREFIX) || !procfs_parse_u64(number, strlen(number), &set))
        return;
    nic->vdpa[0] = '\0';
    for (size_t i = 0; i < p->n_fdsets; i++) {
        if (p->fdsets[i].set == set)
            memcpy(nic->vdpa, p->fdsets[i].opaque, sizeof(nic->vdpa));
    }
}

static void join_card(const struct parse *p, size_t card)
{
    struct qemu_nic *nic = &p->out->nics[card];
    const struct half *half = nic->backend == NIC_NONE ? backend_of_card(p, card) : NULL;
    struct qemu_nic joined;

    if (half) {
        joined = half->nic;
        memcpy(joined.id, nic->id, sizeof(joined.id));
        memcpy(joined.model, nic->model, sizeof(joined.model));
        memcpy(joined.mac, nic->mac, sizeof(joined.mac));
        if (half->nic.backend == NIC_VHOST_USER)
            join_chardev(p, half->chardev, &joined);
        *nic = joined;
    }
    join_fdset(p, nic);
}

/* ---- entry ---- */

static bool parse_qemu(char *const *argv, size_t argc, struct qemu_cmdline *out)
{
    struct parse p = {.out = out};

    out->smp_current = out->smp_max = 1;
    take_options(&p, argv, argc);
    for (size_t i = 0; i < out->n_nics; i++)
        join_card(&p, i);
    free(p.halves);
    free(p.cards);
    free(p.chardevs);
    free(p.fdsets);
    return !p.no_memory;
}

int qemu_cmdline_parse(char *const *argv, size_t argc, struct qemu_cmdline *out, char *err, size_t errlen)
{
    *out = (struct qemu_cmdline){.kind = qemu_cmdline_recognise(argv, argc)};
    if (out->kind == VMM_NONE) {
        snprintf(err, errlen, "command line: not of a hypervisor that is known here");
        return -1;
    }
    if (out->kind != VMM_QEMU) {
        microvm_cmdline_parse(argv, argc, out);
        return 0;
    }
    if (!parse_qemu(argv, argc, out)) {
        qemu_cmdline_free(out);
        snprintf(err, errlen, "command line: out of memory");
        return -1;
    }
    return 0;
}

void qemu_cmdline_free(struct qemu_cmdline *cmd)
{
    if (!cmd)
        return;
    free(cmd->nics);
    cmd->nics = NULL;
    cmd->n_nics = 0;
}
