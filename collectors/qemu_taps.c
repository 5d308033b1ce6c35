/* SPDX-License-Identifier: MIT */
/* Cards of a command line joined with the taps its process has open: qemu_cmdline_resolve_taps of
 * qemu_cmdline.h. A tap counts once, however many queues are open on it. */
#include <stdlib.h>
#include <string.h>

#include "collectors/qemu_cmdline.h"
#include "collectors/vmm_text.h"

static bool is_tap(const struct procfs_netfd *fd)
{
    return fd->kind == PROCFS_NETFD_TAP || fd->kind == PROCFS_NETFD_MACVTAP;
}

static bool takes_tap(const struct qemu_nic *nic)
{
    return nic->backend == NIC_TAP || nic->backend == NIC_BRIDGE;
}

static bool is_nameless(const struct qemu_nic *nic)
{
    return takes_tap(nic) && !*nic->ifname && nic->ifindex == 0;
}

static bool is_of(const struct qemu_nic *nic, const struct procfs_netfd *fd)
{
    if (!takes_tap(nic))
        return false;
    if (fd->kind == PROCFS_NETFD_MACVTAP)
        return nic->ifindex == fd->number;
    return strcmp(nic->ifname, fd->ifname) == 0;
}

static void give(struct qemu_nic *nic, const struct procfs_netfd *fd)
{
    if (fd->kind == PROCFS_NETFD_MACVTAP)
        nic->ifindex = fd->number;
    else
        memcpy(nic->ifname, fd->ifname, sizeof(nic->ifname));
}

static bool has_fd(const struct qemu_nic *nic, int fd)
{
    for (size_t i = 0; i < nic->n_fds; i++) {
        if (nic->fds[i] == fd)
            return true;
    }
    return false;
}

/* A descriptor that the command line names: certain, unless the card was unplugged and its number used again.
 */
static void give_by_fd(struct qemu_cmdline *cmd, const struct procfs_netfd *fds, size_t n)
{
    for (size_t i = 0; i < cmd->n_nics; i++) {
        for (size_t k = 0; k < n && is_nameless(&cmd->nics[i]); k++) {
            if (is_tap(&fds[k]) && has_fd(&cmd->nics[i], fds[k].fd))
                give(&cmd->nics[i], &fds[k]);
        }
    }
}

static bool is_claimed(const struct qemu_cmdline *cmd, const struct procfs_netfd *fd)
{
    for (size_t i = 0; i < cmd->n_nics; i++) {
        if (is_of(&cmd->nics[i], fd))
            return true;
    }
    return false;
}

static bool is_same_tap(const struct procfs_netfd *a, const struct procfs_netfd *b)
{
    return a->kind == b->kind && a->number == b->number && strcmp(a->ifname, b->ifname) == 0;
}

/* The first open descriptor of a tap that no card has. */
static bool is_free_tap(const struct qemu_cmdline *cmd, const struct procfs_netfd *fds, size_t k)
{
    if (!is_tap(&fds[k]) || is_claimed(cmd, &fds[k]))
        return false;
    for (size_t i = 0; i < k; i++) {
        if (is_same_tap(&fds[i], &fds[k]))
            return false;
    }
    return true;
}

/* QEMU opened its tap itself; one whose descriptor was given, and is not open, was unplugged. */
static bool opened_its_own(const struct qemu_nic *nic)
{
    return is_nameless(nic) && nic->n_fds == 0;
}

static size_t count_nameless(const struct qemu_cmdline *cmd)
{
    size_t count = 0;

    for (size_t i = 0; i < cmd->n_nics; i++)
        count += opened_its_own(&cmd->nics[i]);
    return count;
}

static size_t count_free(const struct qemu_cmdline *cmd, const struct procfs_netfd *fds, size_t n)
{
    size_t count = 0;

    for (size_t k = 0; k < n; k++)
        count += is_free_tap(cmd, fds, k);
    return count;
}

/* The nameless card whose back end comes first. */
static struct qemu_nic *next_nameless(struct qemu_cmdline *cmd)
{
    struct qemu_nic *next = NULL;

    for (size_t i = 0; i < cmd->n_nics; i++) {
        struct qemu_nic *nic = &cmd->nics[i];

        if (opened_its_own(nic) && (!next || nic->order < next->order))
            next = nic;
    }
    return next;
}

/* QEMU opened these taps itself, in the order of its back ends; only while each finds its own is that
 * certain. */
static void give_by_order(struct qemu_cmdline *cmd, const struct procfs_netfd *fds, size_t n)
{
    struct qemu_nic *nic;

    if (count_nameless(cmd) != count_free(cmd, fds, n))
        return;
    for (size_t k = 0; k < n; k++) {
        if (is_free_tap(cmd, fds, k) && (nic = next_nameless(cmd)))
            give(nic, &fds[k]);
    }
}

static void add_open(struct qemu_cmdline *cmd, const struct procfs_netfd *fd)
{
    struct qemu_nic *nic = qemu_cmdline_add_nic(cmd);

    if (!nic)
        return;
    nic->backend = NIC_TAP;
    nic->only_open = true;
    vmm_text_copy("tap", nic->backend_name, sizeof(nic->backend_name));
    give(nic, fd);
}

static void count_queues(struct qemu_nic *nic, const struct procfs_netfd *fds, size_t n)
{
    unsigned open = 0;

    for (size_t k = 0; k < n; k++) {
        if (!is_tap(&fds[k]) || !is_of(nic, &fds[k]))
            continue;
        open++;
        if (!has_fd(nic, fds[k].fd) && nic->n_fds < VMM_FDS_MAX)
            nic->fds[nic->n_fds++] = fds[k].fd;
    }
    if (open > nic->queues)
        nic->queues = open;
}

void qemu_cmdline_resolve_taps(struct qemu_cmdline *cmd, const struct procfs_netfd *fds, size_t n)
{
    give_by_fd(cmd, fds, n);
    give_by_order(cmd, fds, n);
    for (size_t k = 0; k < n; k++) {
        if (is_free_tap(cmd, fds, k))
            add_open(cmd, &fds[k]);
    }
    for (size_t i = 0; i < cmd->n_nics; i++)
        count_queues(&cmd->nics[i], fds, n);
}
