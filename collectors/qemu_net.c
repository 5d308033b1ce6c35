/* SPDX-License-Identifier: MIT */
/* Network cards as they are now (see qemu_net.h). */
#include "collectors/qemu_net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/vmm_text.h"
#include "src/memory.h"

#define NETFDS_MAX     1024  /* 256 cards of 4 queues */
#define DEV_MCAST_SIZE 65536 /* 64 bytes a multicast address of an interface */

/* ---- names that have to be looked up ---- */

/* One line of /proc/PID/net/dev_mcast: "3    macvtap0        1     0     01005e000001". */
static bool line_names(const char *line, unsigned ifindex, char ifname[PROCFS_IFNAME_SIZE])
{
    size_t digits = strspn(line, "0123456789");
    uint64_t index;
    if (!procfs_parse_u64(line, digits, &index) || index != ifindex)
        return false;
    const char *name = line + digits + strspn(line + digits, " ");
    size_t len = strcspn(name, " \n");
    if (len == 0 || len >= PROCFS_IFNAME_SIZE)
        return false;
    memcpy(ifname, name, len);
    ifname[len] = '\0';
    return true;
}

/* A macvtap's descriptor tells the index of the interface alone, in the namespace of the process. Each
 * interface that is up listens to some multicast address, and that list has both index and name. */
static void name_of_index(int rootfd, pid_t pid, unsigned ifindex, char ifname[PROCFS_IFNAME_SIZE])
{
    char path[48];
    size_t len;
    snprintf(path, sizeof(path), "%d/net/dev_mcast", (int)pid);
    char *text = xzalloc(DEV_MCAST_SIZE);
    if (procfs_read_file(rootfd, path, text, DEV_MCAST_SIZE, &len) == PROCFS_OK) {
        for (const char *line = text; line && *line; line = strchr(line, '\n')) {
            line += *line == '\n';
            if (line_names(line, ifindex, ifname))
                break;
        }
    }
    free(text);
}

/* A small file of /sys, without its newline; false when there is none. */
static bool read_sys(const char *root, const char *folder, const char *name, const char *file, char *text,
                     size_t size)
{
    char path[4096];
    if (strchr(name, '/') || *name == '.' ||
        snprintf(path, sizeof(path), "%s/sys/%s/%s/%s", root, folder, name, file) >= (int)sizeof(path))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return n > 0;
}

/* A card that came after the start has its address in the monitor's protocol alone. libvirt gives the tap the
 * guest's address with fe as its first byte, and makes the guest's begin with 52:54:00. */
static bool infer_mac(const char *root, struct qemu_nic *nic)
{
    static const char TAP[] = "fe:54:00:";
    char text[32], mac[18];
    if (!*nic->ifname || !read_sys(root, "class/net", nic->ifname, "address", text, sizeof(text)) ||
        !vmm_text_mac(text, mac) || strncmp(mac, TAP, sizeof(TAP) - 1) != 0)
        return false;
    memcpy(nic->mac, mac, sizeof(nic->mac));
    memcpy(nic->mac, "52", 2);
    return true;
}

/* Devices that are handed over may be disks or graphics; class 02 is a network's. */
static bool is_other_device(const char *root, const struct qemu_nic *nic)
{
    char class[16];
    return nic->backend == NIC_VFIO && *nic->pci &&
           read_sys(root, "bus/pci/devices", nic->pci, "class", class, sizeof(class)) &&
           strncmp(class, "0x02", 4) != 0;
}

static void read_netns(int rootfd, pid_t pid, struct qemu_net *net)
{
    char path[32], link[64];
    uint64_t inode;
    snprintf(path, sizeof(path), "%d/ns/net", (int)pid);
    ssize_t n = readlinkat(rootfd, path, link, sizeof(link));
    net->netns_denied = n < 0 && (errno == EACCES || errno == EPERM);
    if (n > 6 && n < (ssize_t)sizeof(link) && memcmp(link, "net:[", 5) == 0 && link[n - 1] == ']' &&
        procfs_parse_u64(link + 5, (size_t)n - 6, &inode))
        net->netns_inode = inode;
}

/* ---- cards ---- */

static bool is_tap_of(const struct procfs_netfd *fd, const struct qemu_nic *nic)
{
    if (fd->kind == PROCFS_NETFD_MACVTAP)
        return nic->ifindex != 0 && fd->number == nic->ifindex;
    return fd->kind == PROCFS_NETFD_TAP && *nic->ifname && strcmp(fd->ifname, nic->ifname) == 0;
}

/* The command line's tap is no longer open: its card was unplugged. */
static bool is_unplugged(const struct qemu_nic *nic, const struct procfs_netfd *fds, size_t n)
{
    if (nic->backend != NIC_TAP && nic->backend != NIC_BRIDGE)
        return false;
    for (size_t i = 0; i < n; i++)
        if (is_tap_of(&fds[i], nic))
            return false;
    return true;
}

static void add_card(const struct qemu_reader *reader, pid_t pid, const struct qemu_nic *nic, unsigned number,
                     struct qemu_net *net)
{
    struct qemu_card *card = &net->cards[net->n++];
    *card = (struct qemu_card){.nic = *nic, .number = number};
    if (nic->ifindex && !*nic->ifname)
        name_of_index(reader->rootfd, pid, nic->ifindex, card->nic.ifname);
    if (nic->only_open && !*nic->mac)
        card->mac_inferred = infer_mac(reader->root, &card->nic);
}

void qemu_net_read(const struct qemu_reader *reader, pid_t pid, struct qemu_cmdline *cmd,
                   struct qemu_net *out)
{
    struct procfs_netfd *fds = xzalloc(NETFDS_MAX * sizeof(*fds));
    size_t n_fds = 0;
    bool truncated = false;
    *out = (struct qemu_net){0};
    enum procfs_result result = procfs_list_netfds(reader->rootfd, pid, fds, NETFDS_MAX, &n_fds, &truncated);
    out->fds_denied = result == PROCFS_DENIED;
    if (result == PROCFS_OK)
        qemu_cmdline_resolve_taps(cmd, fds, n_fds);
    read_netns(reader->rootfd, pid, out);
    out->cards = xzalloc((cmd->n_nics + 1) * sizeof(*out->cards));
    for (size_t i = 0; i < cmd->n_nics; i++) {
        const struct qemu_nic *nic = &cmd->nics[i];
        bool unplugged = result == PROCFS_OK && !truncated && is_unplugged(nic, fds, n_fds);
        if (!unplugged && !is_other_device(reader->root, nic))
            add_card(reader, pid, nic, (unsigned)i, out);
    }
    free(fds);
}

void qemu_net_free(struct qemu_net *net)
{
    free(net->cards);
    *net = (struct qemu_net){0};
}

static bool same_card(const struct qemu_card *a, const struct qemu_card *b)
{
    const struct qemu_nic *x = &a->nic, *y = &b->nic;
    return a->number == b->number && x->backend == y->backend && x->vhost == y->vhost &&
           x->queues == y->queues && x->ifindex == y->ifindex && x->side == y->side &&
           strcmp(x->id, y->id) == 0 && strcmp(x->netdev, y->netdev) == 0 && strcmp(x->mac, y->mac) == 0 &&
           strcmp(x->ifname, y->ifname) == 0 && strcmp(x->socket, y->socket) == 0 &&
           strcmp(x->pci, y->pci) == 0 && strcmp(x->model, y->model) == 0;
}

bool qemu_net_equal(const struct qemu_net *a, const struct qemu_net *b)
{
    if (a->n != b->n || a->fds_denied != b->fds_denied || a->netns_denied != b->netns_denied ||
        a->netns_inode != b->netns_inode)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!same_card(&a->cards[i], &b->cards[i]))
            return false;
    return true;
}

/* ---- words ---- */

const char *qemu_card_backend(const struct qemu_nic *nic)
{
    static const char *const WORDS[] = {
        [NIC_NONE] = "none",     [NIC_TAP] = "tap",
        [NIC_BRIDGE] = "tap",    [NIC_VHOST_USER] = "vhost-user",
        [NIC_USER] = "user",     [NIC_VHOST_VDPA] = "vhost-vdpa",
        [NIC_SOCKET] = "socket", [NIC_VFIO] = "vfio",
        [NIC_OTHER] = "other",
    };
    if (nic->ifindex)
        return "macvtap";
    bool tap = nic->backend == NIC_TAP || nic->backend == NIC_BRIDGE;
    if (tap && nic->vhost)
        return "vhost";
    return nic->backend == NIC_OTHER && *nic->backend_name ? nic->backend_name : WORDS[nic->backend];
}

const char *qemu_card_model(const struct qemu_nic *nic, char *buf, size_t size)
{
    static const char VIRTIO[] = "virtio-net";
    if (nic->backend == NIC_VFIO)
        return "vfio";
    if (!*nic->model || !vmm_text_copy(nic->model, buf, size))
        return NULL;
    if (strncmp(buf, VIRTIO, sizeof(VIRTIO) - 1) == 0)
        return "virtio";
    size_t len = strlen(buf);
    if (len > 4 && strcmp(buf + len - 4, "-pci") == 0)
        buf[len - 4] = '\0';
    return buf;
}
