/* SPDX-License-Identifier: MIT */
/* Which processes are guests, by their command line alone: qemu_cmdline_recognise of qemu_cmdline.h. It is
 * asked about every process of the host, so it parses nothing. */
#include <string.h>

#include "collectors/qemu_cmdline.h"

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_qemu_binary(const char *base)
{
    return strstr(base, "qemu-system-") || strcmp(base, "qemu-kvm") == 0;
}

/* NAME itself, its static build, or a release such as NAME-v1.7.0-x86_64; not NAME-containerd. */
static bool is_release_of(const char *base, const char *name)
{
    const char *rest = base + strlen(name);

    return has_prefix(base, name) && (*rest == '\0' || has_prefix(rest, "-v") || has_prefix(rest, "-static"));
}

static enum vmm_kind kind_of_binary(const char *arg0)
{
    const char *base = base_name(arg0);

    if (is_qemu_binary(base) || strcmp(base, "kvm") == 0)
        return VMM_QEMU;
    if (is_release_of(base, "cloud-hypervisor"))
        return VMM_CLOUD_HYPERVISOR;
    return is_release_of(base, "firecracker") ? VMM_FIRECRACKER : VMM_NONE;
}

/* A QEMU under another name has at least two of these, and starts with an option. A wrapper (sudo -u x
 * qemu-system- x86_64 ...) has them too, but also the binary's name among its arguments. */
static bool looks_like_qemu(char *const *argv, size_t argc)
{
    static const char *const TELLING[] = {"-machine", "-M",    "-smp",        "-netdev", "-device",
                                          "-accel",   "-name", "-enable-kvm", "-m",      "-drive"};
    unsigned telling = 0;

    if (argc < 3 || argv[1][0] != '-')
        return false;
    for (size_t i = 1; i < argc; i++) {
        if (is_qemu_binary(base_name(argv[i])))
            return false;
        for (size_t k = 0; k < sizeof(TELLING) / sizeof(TELLING[0]); k++)
            telling += strcmp(argv[i], TELLING[k]) == 0;
    }
    return telling >= 2;
}

/* libvirt asks a QEMU without a machine what it can do: that is no guest. */
static bool is_probe(char *const *argv, size_t argc)
{
    for (size_t i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "-machine") != 0 && strcmp(argv[i], "-M") != 0)
            continue;
        if (strcmp(argv[i + 1], "none") == 0 || has_prefix(argv[i + 1], "none,"))
            return true;
    }
    return false;
}

enum vmm_kind qemu_cmdline_recognise(char *const *argv, size_t argc)
{
    enum vmm_kind kind = argc > 0 ? kind_of_binary(argv[0]) : VMM_NONE;

    if (kind == VMM_NONE && looks_like_qemu(argv, argc))
        kind = VMM_QEMU;
    return kind == VMM_QEMU && is_probe(argv, argc) ? VMM_NONE : kind;
}
