/* SPDX-License-Identifier: MIT */
/* A live domain's XML, as virDomainGetXMLDesc gives it, as a struct: identity, size, pins and network. The
 * libvirt collector calls it once per domain and inventory. It must not know libvirt's library, and it trusts
 * nothing: the text comes over a socket and holds names that a tenant may have chosen.
 *
 * libxml2 wants one xmlInitParser() before threads begin; then any thread may parse. */
#ifndef VNETTOP_DOMAIN_XML_H
#define VNETTOP_DOMAIN_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/procfs.h"

#define DOMAIN_XML_SIZE_MAX      (4u * 1024u * 1024u) /* bytes; a guest with 100 cards has about 60 KiB */
#define DOMAIN_XML_VCPUS_MAX     4096u
#define DOMAIN_XML_IFACES_MAX    1024u
#define DOMAIN_XML_PINS_MAX      4096u /* of each kind */
#define DOMAIN_XML_CELLS_MAX     1024u
#define DOMAIN_XML_IOTHREADS_MAX 1024u

/* UNDEFINED: the XML does not say, so libvirt's or the kernel's default holds. */
enum domain_link { DOMAIN_LINK_UNDEFINED, DOMAIN_LINK_UP, DOMAIN_LINK_DOWN };
/* What the guest's process does on the socket, as mode='server' or 'client' says. */
enum domain_socket { DOMAIN_SOCKET_UNDEFINED, DOMAIN_SOCKET_LISTENS, DOMAIN_SOCKET_CONNECTS };

enum domain_iface_type {
    DOMAIN_IFACE_OTHER, /* type_name says which */
    DOMAIN_IFACE_BRIDGE,
    DOMAIN_IFACE_NETWORK,
    DOMAIN_IFACE_DIRECT, /* macvtap on .source_dev */
    DOMAIN_IFACE_ETHERNET,
    DOMAIN_IFACE_VHOSTUSER,
    DOMAIN_IFACE_HOSTDEV, /* .pci; no interface of the host */
    DOMAIN_IFACE_VDPA,    /* .source_dev is the character device */
    DOMAIN_IFACE_USER,
};

/* Texts that are not there, or do not fit whole, are empty: a cut name would be another's. All are valid
 * UTF-8. */
struct domain_iface {
    enum domain_iface_type type;
    char type_name[16];
    char mac[18];      /* lower case */
    char target[16];   /* interface of the host; vhostuser: the name in the switch, when libvirt knows it */
    char model[32];    /* virtio, e1000 ... */
    char alias[64];    /* net0: with a type='tap' the QEMU netdev is hostnet0 */
    char bridge[16];   /* also of a network that is forwarded by a bridge */
    char network[256]; /* of libvirt */
    char portgroup[64];
    char source_dev[64];
    char source_mode[16]; /* direct: bridge, vepa, private, passthrough */
    char socket[256];
    enum domain_socket socket_side;
    char pci[16];          /* hostdev: 0000:3b:02.1 */
    char driver[16];       /* vhost, qemu; hostdev: vfio, kvm; empty: libvirt's choice */
    char virtualport[16];  /* openvswitch, midonet, 802.1Qbg ... */
    char interface_id[37]; /* of the virtual port: external_ids:iface-id in OVS */
    enum domain_link link;
    unsigned queues; /* pairs, at least 1 */
    unsigned mtu;    /* 0: not said */
};

/* <hostdev type='pci'>: any device of the host. Ask sysfs whether it is a network card. */
struct domain_hostdev {
    char pci[16];
    char alias[64];
};

struct domain_pin {
    unsigned id; /* of the vCPU or iothread */
    struct procfs_cpuset cpus;
};

struct domain_cell { /* NUMA node of the guest */
    unsigned id;
    struct procfs_cpuset vcpus;
    uint64_t memory_kib;
    bool shared;
    bool has_nodeset; /* numatune binds it to nodes of the host */
    struct procfs_cpuset nodeset;
};

/* <shares> and the periods and quotas in microseconds; 0: not said. A quota of -1 is no limit. */
struct domain_bandwidth {
    uint64_t period_us;
    int64_t quota_us;
};

struct domain_xml {
    char uuid[37]; /* lower case */
    char name[256];
    char title[256]; /* clipped at a character */
    char type[16];   /* kvm, qemu ... */
    int id;          /* -1: not running */

    unsigned vcpu_max;
    unsigned vcpu_current;
    struct procfs_cpuset vcpus_online; /* their numbers: hot-plug leaves gaps */
    bool has_cpuset;                   /* vCPUs without a pin of their own keep to .cpuset */
    struct procfs_cpuset cpuset;
    struct domain_pin *vcpu_pins;
    size_t n_vcpu_pins;
    struct domain_pin *iothread_pins;
    size_t n_iothread_pins;
    bool has_emulator_pin;
    struct procfs_cpuset emulator_pin;
    unsigned *iothreads; /* their numbers: as <iothreadids> lists them, then the lowest that are free */
    size_t n_iothreads;

    uint64_t shares;
    struct domain_bandwidth vcpu_bandwidth; /* of each vCPU */
    struct domain_bandwidth global_bandwidth;
    struct domain_bandwidth emulator_bandwidth;
    struct domain_bandwidth iothread_bandwidth;

    char numa_mode[16]; /* strict, preferred, interleave, restrictive */
    bool has_numa_nodeset;
    struct procfs_cpuset numa_nodeset;
    struct domain_cell *cells;
    size_t n_cells;

    uint64_t memory_kib;
    bool hugepages;
    uint64_t hugepage_kib; /* 0: the host's default size, or several */
    bool memory_shared;

    struct domain_iface *ifaces; /* in the order of the XML */
    size_t n_ifaces;
    struct domain_hostdev *hostdevs;
    size_t n_hostdevs;
    bool truncated; /* more of something than the bounds above */
};

/* 0, or -1 with err: not XML, not a domain, a document type (libvirt writes none), larger or deeper than the
 * bounds. domain_xml_free is due only after 0. Single values that make no sense count as not there. */
int domain_xml_parse(const char *text, size_t len, struct domain_xml *out, char *err, size_t errlen);
void domain_xml_free(struct domain_xml *d);

/* The pin of a vCPU or iothread, or NULL. */
const struct procfs_cpuset *domain_xml_pin(const struct domain_pin *pins, size_t n, unsigned id);
/* Where libvirt was told to keep a vCPU: its pin, else the domain's cpuset, else NULL (anywhere). */
const struct procfs_cpuset *domain_xml_vcpu_cpus(const struct domain_xml *d, unsigned vcpu);

#endif
