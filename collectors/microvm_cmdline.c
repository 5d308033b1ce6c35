/* SPDX-License-Identifier: MIT */
/* Command lines of cloud-hypervisor and firecracker: contract in microvm_cmdline.h. Both take "--option
 * value" and
 * "--option=value"; cloud-hypervisor takes several values behind one --net. */
#include "collectors/microvm_cmdline.h"

#include <stdlib.h>
#include <string.h>

#include "collectors/procfs.h"
#include "collectors/qemu_opts.h"
#include "collectors/vmm_text.h"

#define MIB (UINT64_C(1024) * 1024)

struct microvm_option {
    const char *name;
    const char *implied_key;
    void (*take)(struct qemu_cmdline *out, const struct qemu_opts *opts);
};

/* "fd=[3,4]" or "fd=3" */
static void take_fd_list(const char *text, struct qemu_nic *nic)
{
    while (text && *text) {
        size_t n = strspn(text, "0123456789");
        uint64_t fd;

        if (procfs_parse_u64(text, n, &fd) && fd <= INT32_MAX && nic->n_fds < VMM_FDS_MAX)
            nic->fds[nic->n_fds++] = (int)fd;
        text += n > 0 ? n : 1;
    }
}

static void take_net(struct qemu_cmdline *out, const struct qemu_opts *opts)
{
    struct qemu_nic *nic = qemu_cmdline_add_nic(out);
    const char *mode = qemu_opts_get(opts, "vhost_mode");
    uint64_t rings = qemu_opts_u64(opts, "num_queues", 2); /* a receive and a transmit ring make a pair */

    if (!nic)
        return;
    qemu_opts_copy(opts, "id", nic->id, sizeof(nic->id));
    qemu_opts_copy(opts, "tap", nic->ifname, sizeof(nic->ifname));
    vmm_text_mac(qemu_opts_get(opts, "mac"), nic->mac);
    vmm_text_copy("virtio-net", nic->model, sizeof(nic->model));
    nic->queues = rings >= 2 && rings <= UINT16_MAX ? (unsigned)rings / 2 : 1;
    nic->backend = NIC_TAP;
    take_fd_list(qemu_opts_get(opts, "fd"), nic);
    if (qemu_opts_bool(opts, "vhost_user", false)) {
        nic->backend = NIC_VHOST_USER;
        nic->side = mode && strcmp(mode, "server") == 0 ? NIC_SIDE_LISTENS : NIC_SIDE_CONNECTS;
        qemu_opts_copy(opts, "socket", nic->socket, sizeof(nic->socket));
    }
    vmm_text_copy(nic->backend == NIC_TAP ? "tap" : "vhost-user", nic->backend_name,
                  sizeof(nic->backend_name));
}

static void take_vdpa(struct qemu_cmdline *out, const struct qemu_opts *opts)
{
    struct qemu_nic *nic = qemu_cmdline_add_nic(out);

    if (!nic)
        return;
    nic->backend = NIC_VHOST_VDPA;
    vmm_text_copy("vdpa", nic->backend_name, sizeof(nic->backend_name));
    qemu_opts_copy(opts, "id", nic->id, sizeof(nic->id));
    qemu_opts_copy(opts, "path", nic->vdpa, sizeof(nic->vdpa));
}

static void take_device(struct qemu_cmdline *out, const struct qemu_opts *opts)
{
    const char *path = qemu_opts_get(opts, "path");
    const char *slash = path ? strrchr(path, '/') : NULL;
    char pci[16];
    struct qemu_nic *nic = vmm_text_pci(slash ? slash + 1 : path, pci) ? qemu_cmdline_add_nic(out) : NULL;

    if (!nic)
        return;
    nic->backend = NIC_VFIO;
    vmm_text_copy("vfio", nic->backend_name, sizeof(nic->backend_name));
    memcpy(nic->pci, pci, sizeof(pci));
    qemu_opts_copy(opts, "id", nic->id, sizeof(nic->id));
}

static void take_cpus(struct qemu_cmdline *out, const struct qemu_opts *opts)
{
    uint64_t boot = qemu_opts_u64(opts, "boot", 1), max = qemu_opts_u64(opts, "max", boot);

    out->smp_current = boot <= UINT16_MAX ? (unsigned)boot : 0;
    out->smp_max = max <= UINT16_MAX ? (unsigned)max : 0;
}

static void take_memory(struct qemu_cmdline *out, const struct qemu_opts *opts)
{
    const char *size = qemu_opts_get(opts, "size");
    uint64_t bytes;

    if (size && qemu_opts_size(size, 1, &bytes))
        out->memory_mib = bytes / MIB;
    out->hugepages = qemu_opts_bool(opts, "hugepages", false);
    out->memory_shared = qemu_opts_bool(opts, "shared", false);
}

static void take_platform(struct qemu_cmdline *out, const struct qemu_opts *opts)
{
    vmm_text_uuid(qemu_opts_get(opts, "uuid"), out->uuid);
}

/* "/run/ch/web1.sock" names the guest web1; an identifier given beside it counts more. */
static void take_api_socket(struct qemu_cmdline *out, const struct qemu_opts *opts)
{
    const char *path = qemu_opts_get(opts, "path");
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *base = slash ? slash + 1 : path;
    const char *dot = base ? strrchr(base, '.') : NULL;

    if (!base || !vmm_text_copy(base, out->name, sizeof(out->name)))
        return;
    if (dot && dot > base)
        out->name[dot - base] = '\0';
}

static void take_id(struct qemu_cmdline *out, const struct qemu_opts *opts)
{
    qemu_opts_copy(opts, "id", out->name, sizeof(out->name));
}

static const struct microvm_option CLOUD_OPTIONS[] = {
    {"net", NULL, take_net},           {"vdpa", NULL, take_vdpa},
    {"device", NULL, take_device},     {"cpus", NULL, take_cpus},
    {"memory", NULL, take_memory},     {"api-socket", "path", take_api_socket},
    {"platform", NULL, take_platform}, {NULL, NULL, NULL},
};

static const struct microvm_option FIRECRACKER_OPTIONS[] = {
    {"id", "id", take_id},
    {NULL, NULL, NULL},
};

/* The option that arg is; *value is what stands behind its "=", or NULL. */
static const struct microvm_option *find_option(const struct microvm_option *options, const char *arg,
                                                const char **value)
{
    size_t n = strcspn(arg + 2, "=");

    *value = arg[2 + n] == '=' ? arg + 2 + n + 1 : NULL;
    for (; options->name; options++) {
        if (strlen(options->name) == n && strncmp(arg + 2, options->name, n) == 0)
            return options;
    }
    return NULL;
}

static void take_value(const struct microvm_option *option, const char *value, struct qemu_cmdline *out)
{
    struct qemu_opts opts;

    if (qemu_opts_parse(value, QEMU_OPTS_BRACKETS, option->implied_key, &opts))
        option->take(out, &opts);
    qemu_opts_free(&opts);
}

void microvm_cmdline_parse(char *const *argv, size_t argc, struct qemu_cmdline *out)
{
    const struct microvm_option *options = out->kind == VMM_FIRECRACKER ? FIRECRACKER_OPTIONS : CLOUD_OPTIONS;
    const struct microvm_option *current = NULL;

    out->accel = VMM_ACCEL_KVM;
    if (out->kind == VMM_CLOUD_HYPERVISOR)
        out->smp_current = out->smp_max = 1;
    for (size_t i = 1; i < argc; i++) {
        const char *value = argv[i];

        if (strncmp(argv[i], "--", 2) == 0)
            current = find_option(options, argv[i], &value);
        else if (argv[i][0] == '-')
            current = NULL;
        if (current && value)
            take_value(current, value, out);
    }
}
