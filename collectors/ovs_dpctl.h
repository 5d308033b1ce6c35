/* SPDX-License-Identifier: MIT */
/*
 * Parser of `dpctl/show -s`: the datapaths of a daemon, their lookups, and each port's counters, read live
 * (no 5 s delay as in the database). Called by the OVS collector; pure. Names are slices of the text, which
 * must outlive the result. A port name may hold anything: only the bridge's database says for certain what is
 * a port.
 */
#ifndef COLLECTORS_OVS_DPCTL_H
#define COLLECTORS_OVS_DPCTL_H

#include "collectors/ovs_text.h"

enum {
    OVS_MAX_DATAPATHS = 64,
    OVS_MAX_DP_PORTS = 65536,
    OVS_MAX_DP_PORT_NAME = 4096, /* bytes of a port name that goes over several lines */
};

enum ovs_dp_counter {
    OVS_DP_HIT,
    OVS_DP_MISSED,
    OVS_DP_LOST,     /* misses that no handler took: dropped */
    OVS_DP_FLOWS,    /* now */
    OVS_DP_MASK_HIT, /* kernel datapath: masks looked at */
    OVS_DP_MASKS,    /* kernel datapath: now */
    OVS_DP_CACHE_HIT,
    OVS_DP_N_COUNTERS
};

struct ovs_datapath {
    struct ovs_span name; /* "netdev@ovs-netdev", "system@ovs-system" */
    uint32_t has;         /* 1 << enum ovs_dp_counter */
    uint64_t v[OVS_DP_N_COUNTERS];
};

enum ovs_dp_port_counter {
    OVS_DPP_RX_PACKETS,
    OVS_DPP_RX_ERRORS,
    OVS_DPP_RX_DROPPED,
    OVS_DPP_RX_OVERRUNS,
    OVS_DPP_RX_FRAME,
    OVS_DPP_TX_PACKETS,
    OVS_DPP_TX_ERRORS,
    OVS_DPP_TX_DROPPED,
    OVS_DPP_TX_ABORTED,
    OVS_DPP_TX_CARRIER,
    OVS_DPP_COLLISIONS,
    OVS_DPP_RX_BYTES,
    OVS_DPP_TX_BYTES,
    OVS_DPP_UPCALL_PACKETS, /* 3.2, kernel datapath */
    OVS_DPP_UPCALL_ERRORS,
    OVS_DPP_N_COUNTERS
};

struct ovs_dp_port {
    uint32_t datapath; /* index in ovs_dpctl.datapaths */
    uint32_t number;   /* of the datapath, not OpenFlow's */
    struct ovs_span name;
    struct ovs_span type;    /* "dpdkvhostuserclient"; empty for a plain system device */
    struct ovs_span options; /* "n_rxq=2, n_txq=1" */
    struct ovs_span
        failure;  /* why there are no counters ("Protocol error": no guest holds the port), or empty */
    uint32_t has; /* 1 << enum ovs_dp_port_counter; not set where the daemon says `?` */
    uint64_t v[OVS_DPP_N_COUNTERS];
};

struct ovs_dpctl {
    struct ovs_datapath *datapaths;
    size_t n_datapaths, datapaths_cap;
    struct ovs_dp_port *ports;
    size_t n_ports, ports_cap;
    bool truncated;
};

void ovs_dpctl_parse(struct ovs_dpctl *show, struct ovs_span text); /* empties it first */
void ovs_dpctl_free(struct ovs_dpctl *show);

bool ovs_dp_get(const struct ovs_datapath *dp, enum ovs_dp_counter which, uint64_t *value);
bool ovs_dp_port_get(const struct ovs_dp_port *port, enum ovs_dp_port_counter which, uint64_t *value);

/* The value of an option in the brackets, e.g. n_rxq (3.3) or configured_rx_queues (until 3.2). */
bool ovs_dp_port_option(const struct ovs_dp_port *port, const char *key, struct ovs_span *value);

#endif
