/* SPDX-License-Identifier: MIT */
/*
 * OpenFlow port statistics, declared in ovs_ofstats.h. Lengths decide, and each is checked against what is
 * left: an unknown property is passed over, an entry that does not fit ends the parse.
 */
#include "collectors/ovs_ofstats.h"

#include <stdlib.h>
#include <string.h>

enum {
    ENTRY_1_3 = 112, /* a whole entry of OpenFlow 1.3 */
    ENTRY_1_4 = 80,  /* an entry of 1.4 up to its properties */
    PROPERTY_ETHERNET = 0,
    PROPERTY_EXPERIMENTER = 0xffff,
    EXPERIMENTER_OVS = 0x0000aa01,
    OVS_NAMED_COUNTERS = 2,
    ETHERNET_BYTES = 40,
    NAMED_HEAD_BYTES = 16,
};

/* Counters as they follow each other in both forms of an entry. */
static const enum ovs_of_counter basic[] = {
    OVS_OF_RX_PACKETS, OVS_OF_TX_PACKETS, OVS_OF_RX_BYTES,  OVS_OF_TX_BYTES,
    OVS_OF_RX_DROPPED, OVS_OF_TX_DROPPED, OVS_OF_RX_ERRORS, OVS_OF_TX_ERRORS,
};
static const enum ovs_of_counter ethernet[] = {OVS_OF_RX_FRAME, OVS_OF_RX_OVER, OVS_OF_RX_CRC,
                                               OVS_OF_COLLISIONS};

uint16_t ovs_of_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

uint32_t ovs_of_u32(const uint8_t *p)
{
    return (uint32_t)ovs_of_u16(p) << 16 | ovs_of_u16(p + 2);
}

static uint64_t read_u64(const uint8_t *p)
{
    return (uint64_t)ovs_of_u32(p) << 32 | ovs_of_u32(p + 4);
}

static void take_counters(struct ovs_of_port *port, const enum ovs_of_counter *which, size_t n,
                          const uint8_t *p)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = read_u64(p + 8 * i);
        if (value == UINT64_MAX)
            continue;
        port->v[which[i]] = value;
        port->has |= 1u << which[i];
    }
}

#define TAKE(port, list, p) take_counters(port, list, sizeof(list) / sizeof((list)[0]), p)

/* [length of the name][name][value], as many as the head says; p points behind the property's type and
 * length. */
static bool take_named(struct ovs_of_stats *stats, struct ovs_of_port *port, const uint8_t *p, size_t len)
{
    size_t n = ovs_of_u16(p + NAMED_HEAD_BYTES - 2), at = NAMED_HEAD_BYTES;
    for (size_t i = 0; i < n; i++) {
        if (at >= len || len - at < 1 + (size_t)p[at] + 8)
            return false;
        struct ovs_of_named named = {.name = {.s = (const char *)p + at + 1, .len = p[at]}};
        at += 1 + named.name.len;
        named.value = read_u64(p + at);
        at += 8;
        if (!ovs_grow((void **)&stats->named, &stats->named_cap, stats->n_named, sizeof(named),
                      OVS_OF_MAX_NAMED)) {
            stats->truncated = true;
            return false;
        }
        stats->named[stats->n_named++] = named;
        port->n_named++;
    }
    return true;
}

static bool take_property(struct ovs_of_stats *stats, struct ovs_of_port *port, const uint8_t *p, size_t len)
{
    unsigned type = ovs_of_u16(p);
    if (type == PROPERTY_ETHERNET && len >= ETHERNET_BYTES)
        TAKE(port, ethernet, p + 8);
    if (type == PROPERTY_EXPERIMENTER && len >= NAMED_HEAD_BYTES && port->n_named == 0 &&
        ovs_of_u32(p + 4) == EXPERIMENTER_OVS && ovs_of_u32(p + 8) == OVS_NAMED_COUNTERS)
        return take_named(stats, port, p, len);
    return true;
}

static bool take_properties(struct ovs_of_stats *stats, struct ovs_of_port *port, const uint8_t *p,
                            size_t len)
{
    while (len >= 4) {
        size_t size = ovs_of_u16(p + 2), padded = (size + 7) & ~(size_t)7;
        if (size < 4 || size > len || !take_property(stats, port, p, size))
            return false;
        padded = padded < len ? padded : len;
        p += padded;
        len -= padded;
    }
    return true;
}

static struct ovs_of_port *add_port(struct ovs_of_stats *stats)
{
    if (!ovs_grow((void **)&stats->ports, &stats->ports_cap, stats->n_ports, sizeof(*stats->ports),
                  OVS_OF_MAX_PORTS)) {
        stats->truncated = true;
        return NULL;
    }
    struct ovs_of_port *port = &stats->ports[stats->n_ports++];
    *port = (struct ovs_of_port){.first_named = stats->n_named};
    return port;
}

static size_t parse_1_3(struct ovs_of_stats *stats, const uint8_t *p, size_t len)
{
    struct ovs_of_port *port = len >= ENTRY_1_3 ? add_port(stats) : NULL;
    if (!port)
        return 0;
    port->number = ovs_of_u32(p);
    TAKE(port, basic, p + 8);
    TAKE(port, ethernet, p + 8 + sizeof(basic) / sizeof(basic[0]) * 8);
    port->age_s = ovs_of_u32(p + 104);
    return ENTRY_1_3;
}

static size_t parse_1_4(struct ovs_of_stats *stats, const uint8_t *p, size_t len)
{
    size_t size = len >= ENTRY_1_4 ? ovs_of_u16(p) : 0;
    struct ovs_of_port *port = size >= ENTRY_1_4 && size <= len ? add_port(stats) : NULL;
    if (!port)
        return 0;
    port->number = ovs_of_u32(p + 4);
    port->age_s = ovs_of_u32(p + 8);
    TAKE(port, basic, p + 16);
    if (take_properties(stats, port, p + ENTRY_1_4, size - ENTRY_1_4))
        return size;
    stats->n_named = port->first_named;
    stats->n_ports--;
    return 0;
}

bool ovs_of_parse(struct ovs_of_stats *stats, unsigned version, const uint8_t *body, size_t len)
{
    while (len > 0) {
        size_t size = version == OVS_OF_1_3 ? parse_1_3(stats, body, len) : parse_1_4(stats, body, len);
        if (size == 0)
            return false;
        body += size;
        len -= size;
    }
    return true;
}

void ovs_of_clear(struct ovs_of_stats *stats)
{
    stats->n_ports = stats->n_named = 0;
    stats->truncated = false;
}

void ovs_of_free(struct ovs_of_stats *stats)
{
    free(stats->ports);
    free(stats->named);
    *stats = (struct ovs_of_stats){0};
}

bool ovs_of_get(const struct ovs_of_port *port, enum ovs_of_counter which, uint64_t *value)
{
    if (!(port->has & (1u << which)))
        return false;
    *value = port->v[which];
    return true;
}
