/* SPDX-License-Identifier: MIT */
/*
 * The network cards of one virtual machine's process as they are now: those of its command line, joined with
 * the descriptors it has open, so that cards plugged in later appear and unplugged ones go. qemu_vm.c asks
 * from time to time, as it costs a look at every descriptor. It must not know of rows.
 */
#ifndef VNETTOP_QEMU_NET_H
#define VNETTOP_QEMU_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/qemu_cmdline.h"
#include "collectors/qemu_task.h"

struct qemu_card {
    struct qemu_nic nic; /* ifname is the macvtap's too, where it could be found */
    unsigned number;     /* its place on the command line, then of those that came later */
    bool mac_inferred;   /* from that of the tap, which libvirt makes of it */
};

struct qemu_net {
    struct qemu_card *cards;
    size_t n;
    bool fds_denied;      /* which taps are open may not be seen */
    bool netns_denied;    /* nor the network namespace */
    uint64_t netns_inode; /* 0: not known */
};

/* cmd is changed: call with a fresh one, once. */
void qemu_net_read(const struct qemu_reader *reader, pid_t pid, struct qemu_cmdline *cmd,
                   struct qemu_net *out);
void qemu_net_free(struct qemu_net *net);
bool qemu_net_equal(const struct qemu_net *a, const struct qemu_net *b);

/* The words of the paths table. */
const char *qemu_card_backend(const struct qemu_nic *nic);
/* "virtio" for virtio-net-pci and its kin, otherwise without "-pci"; NULL when not known. */
const char *qemu_card_model(const struct qemu_nic *nic, char *buf, size_t size);

#endif
