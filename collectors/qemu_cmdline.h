/* SPDX-License-Identifier: MIT */
/* What the command line of a hypervisor's process says about its guest: identity, size and network cards. The
 * qemu collector calls it with the argv of any process. It reads nothing itself, and it cannot know what was
 * hot-plugged since the start: the open descriptors tell that. */
#ifndef VNETTOP_QEMU_CMDLINE_H
#define VNETTOP_QEMU_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/procfs.h"

#define VMM_NICS_MAX  256
#define VMM_FDS_MAX   64  /* descriptors of one card that are kept; queues counts them all */
#define VMM_PATH_SIZE 256 /* sockets have at most 108 bytes, folders of huge pages rarely more */

enum vmm_kind { VMM_NONE, VMM_QEMU, VMM_CLOUD_HYPERVISOR, VMM_FIRECRACKER };

/* UNKNOWN: not said, or a list to fall back through (kvm:tcg); the threads' names tell then. */
enum vmm_accel { VMM_ACCEL_UNKNOWN, VMM_ACCEL_KVM, VMM_ACCEL_TCG, VMM_ACCEL_OTHER };

enum nic_backend {
    NIC_NONE,   /* the card is connected to nothing */
    NIC_TAP,    /* tap or macvtap: ifname, or fds when somebody else opened it */
    NIC_BRIDGE, /* QEMU's bridge helper made a tap on .bridge; its name is in fdinfo alone */
    NIC_VHOST_USER,
    NIC_VHOST_VDPA,
    NIC_USER,   /* slirp or passt: no interface of the host */
    NIC_SOCKET, /* socket, stream, dgram, l2tpv3, vde */
    NIC_VFIO,   /* a PCI device of the host. Not always a card: ask sysfs for its class */
    NIC_OTHER,  /* backend_name says which */
};

enum nic_socket_side { NIC_SIDE_UNKNOWN, NIC_SIDE_LISTENS, NIC_SIDE_CONNECTS };

/* Texts that are not there, or do not fit whole, are empty: a cut name would be another's. Foreign bytes are
 * kept as they are. */
struct qemu_nic {
    char id[64];     /* of the device */
    char netdev[64]; /* id of the back end */
    char model[32];  /* virtio-net-pci, e1000 ... */
    char mac[18];    /* lower case */
    enum nic_backend backend;
    char backend_name[24]; /* the type as written */
    char ifname[16];
    char bridge[16];
    char socket[VMM_PATH_SIZE]; /* vhost-user and stream: path of the UNIX socket */
    char vdpa[64];              /* /dev/vhost-vdpa-N, also behind a descriptor set */
    char pci[16];               /* 0000:3b:02.1 */
    enum nic_socket_side side;  /* what this process does */
    bool vhost;                 /* kernel vhost: a vhost-PID thread serves each queue */
    unsigned queues;            /* pairs, at least 1 */
    int fds[VMM_FDS_MAX];       /* in this process */
    size_t n_fds;
    unsigned ifindex; /* macvtap, once its descriptor was looked at: in its own namespace; else 0 */
    bool only_open;   /* not on the command line: see qemu_cmdline_resolve_taps */
    unsigned order;   /* of the back end on the command line: in this order its workers start */
};

struct qemu_cmdline {
    enum vmm_kind kind;
    char name[256]; /* empty: unnamed */
    char uuid[37];  /* lower case; empty: none given */
    bool debug_threads;
    enum vmm_accel accel;
    unsigned smp_current; /* 0: not on the command line (firecracker) */
    unsigned smp_max;
    uint64_t memory_mib; /* 0: not on the command line */
    bool hugepages;
    bool memory_shared;
    char mem_path[VMM_PATH_SIZE];
    struct qemu_nic *nics; /* in the order of the command line */
    size_t n_nics;
    bool truncated; /* something was beyond the bounds and left out */
};

/* Cheap enough for every process of a host. VMM_NONE also for libvirt's probes (-machine none). */
enum vmm_kind qemu_cmdline_recognise(char *const *argv, size_t argc);

/* 0, or -1 with err when it is no such process or memory is short. qemu_cmdline_free is due only after 0.
 * Malformed options are passed over: the process runs, so its own parser understood what ours did not. */
int qemu_cmdline_parse(char *const *argv, size_t argc, struct qemu_cmdline *out, char *err, size_t errlen);
void qemu_cmdline_free(struct qemu_cmdline *cmd);

/* Joins the cards with the descriptors that the process has open: names those that got theirs from libvirt or
 * a helper, counts their queues, and adds a card (only_open) for each tap that is none of the command line's:
 * it was plugged in later, or came by an API. Call it once; without rights to look, do not call it. */
void qemu_cmdline_resolve_taps(struct qemu_cmdline *cmd, const struct procfs_netfd *fds, size_t n);

/* Another card, zero but for queues = 1; NULL when there are VMM_NICS_MAX (truncated is set) or memory is
 * short. For the parsers of other hypervisors. */
struct qemu_nic *qemu_cmdline_add_nic(struct qemu_cmdline *cmd);

#endif
