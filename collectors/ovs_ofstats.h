/* SPDX-License-Identifier: MIT */
/*
 * Parser of OpenFlow's port statistics (multipart type 4 of OpenFlow 1.3, 1.4 and 1.5, with Open vSwitch's
 * own property that carries a driver's named counters). Called by ovs_openflow.c with the bodies of the
 * replies; pure. Names are slices of the body, which must outlive the result.
 */
#ifndef COLLECTORS_OVS_OFSTATS_H
#define COLLECTORS_OVS_OFSTATS_H

#include "collectors/ovs_text.h"

enum {
    OVS_OF_MAX_PORTS = 65536,
    OVS_OF_MAX_NAMED = 1 << 20,
    OVS_OF_1_3 = 4, /* versions as they stand in a message's head */
    OVS_OF_1_4 = 5,
    OVS_OF_1_5 = 6,
};

enum ovs_of_counter {
    OVS_OF_RX_PACKETS,
    OVS_OF_TX_PACKETS,
    OVS_OF_RX_BYTES,
    OVS_OF_TX_BYTES,
    OVS_OF_RX_DROPPED,
    OVS_OF_TX_DROPPED,
    OVS_OF_RX_ERRORS,
    OVS_OF_TX_ERRORS,
    OVS_OF_RX_FRAME,
    OVS_OF_RX_OVER,
    OVS_OF_RX_CRC,
    OVS_OF_COLLISIONS,
    OVS_OF_N_COUNTERS
};

/* A counter that only the port's driver knows: ovs_tx_failure_drops, rx_q0_good_packets ... */
struct ovs_of_named {
    struct ovs_span name;
    uint64_t value;
};

struct ovs_of_port {
    uint32_t number; /* of its bridge: ofport in the database */
    uint32_t age_s;  /* since the port was made */
    uint32_t has;    /* 1 << enum ovs_of_counter; a counter of all ones is one that the port has not */
    uint64_t v[OVS_OF_N_COUNTERS];
    size_t first_named, n_named; /* in ovs_of_stats.named; none before 2.9 and in OpenFlow 1.3 */
};

struct ovs_of_stats {
    struct ovs_of_port *ports;
    size_t n_ports, ports_cap;
    struct ovs_of_named *named;
    size_t n_named, named_cap;
    bool truncated; /* more than the limits, or out of memory */
};

/* Appends the entries of one reply's body (behind the multipart head). False when it is malformed: what came
 * before the fault stays. */
bool ovs_of_parse(struct ovs_of_stats *stats, unsigned version, const uint8_t *body, size_t len);
void ovs_of_clear(struct ovs_of_stats *stats); /* keeps the memory */
void ovs_of_free(struct ovs_of_stats *stats);

bool ovs_of_get(const struct ovs_of_port *port, enum ovs_of_counter which, uint64_t *value);

/* Big-endian numbers as they stand on the wire. */
uint16_t ovs_of_u16(const uint8_t *p);
uint32_t ovs_of_u32(const uint8_t *p);

#endif
