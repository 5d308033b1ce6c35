/* SPDX-License-Identifier: MIT */
/*
 * Ports, declared in ovs_ports.h: from the database's rows to infos, from OpenFlow's counters to columns.
 */
#include "collectors/ovs_ports.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define BIT_PER_MBIT 1000000

/* OVS's types of interfaces. Tunnels are many and grow in number: what is in no line and not of the switch
 * itself is shown by its own word. */
static const struct {
    const char *type, *kind;
    bool kernel; /* an interface of the kernel that netlink tells of too */
    bool turned; /* the switch holds the end that the kernel counts as the wire */
    bool live;   /* OVS alone counts its packets, and they matter at every tick */
} types[] = {
    {"", "system", true, false, false},
    {"system", "system", true, false, false},
    {"internal", "internal", true, true, false},
    {"tap", "internal", true, true, false},
    {"afxdp", "system", true, false, false},
    {"afxdp-nonpmd", "system", true, false, false},
    {"dpdk", "dpdk", false, false, true},
    {"dpdkr", "dpdk", false, false, true},
    {"dpdkvhostuser", "vhost-user", false, false, true},
    {"dpdkvhostuserclient", "vhost-user", false, false, true},
    {"patch", "patch", false, false, false},
    {"dummy", "dummy", false, false, true},
    {"dummy-pmd", "dummy", false, false, true},
    {"dummy-internal", "dummy", false, false, true},
    {"vxlan", "tunnel", false, false, false},
    {"gre", "tunnel", false, false, false},
    {"ip6gre", "tunnel", false, false, false},
    {"geneve", "tunnel", false, false, false},
    {"erspan", "tunnel", false, false, false},
    {"ip6erspan", "tunnel", false, false, false},
    {"gtpu", "tunnel", false, false, false},
    {"stt", "tunnel", false, false, false},
    {"lisp", "tunnel", false, false, false},
    {"bareudp", "tunnel", false, false, false},
    {"srv6", "tunnel", false, false, false},
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

static size_t find_type(const char *type)
{
    size_t i = 0;
    while (i < N_TYPES && strcmp(types[i].type, type) != 0)
        i++;
    return i;
}

const char *ovs_port_kind(const char *type)
{
    size_t i = find_type(type);
    return i < N_TYPES ? types[i].kind : type;
}

bool ovs_type_is_kernel(const char *type)
{
    size_t i = find_type(type);
    return i < N_TYPES && types[i].kernel;
}

/* ---- list ---- */

/* "256" as the maps of the database hold numbers; 0x in front is taken too. */
static bool number_of(const char *text, uint64_t *value)
{
    if (!text || *text < '0' || *text > '9')
        return false;
    char *end;
    *value = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    return *end == '\0';
}

static bool status_number(const struct ovsdb_row *row, const char *key, uint64_t *value)
{
    return number_of(ovsdb_map_str(row, OVSDB_IF_STATUS, key), value);
}

static uint32_t positive_u32(const struct ovsdb_row *row, enum ovsdb_column column)
{
    int64_t value;
    return ovsdb_int(row, column, &value) && value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* The database has OpenFlow 1.0's reserved numbers (65534: local), which later versions write with 16 more
 * ones. */
static uint32_t wide_number(uint32_t number)
{
    return number >= 0xff00 && number <= 0xffff ? number | 0xffff0000 : number;
}

static struct ovs_port make_port(const struct ovs_daemon *d, const struct ovsdb_row *row, uint32_t bridge)
{
    const char *type = ovsdb_str(row, OVSDB_IF_TYPE), *name = ovsdb_str(row, OVSDB_IF_NAME);
    size_t known = find_type(type);
    struct ovs_port port = {
        .row = row,
        .name = name,
        .type = *type ? type : "system",
        .bridge = bridge,
        .number = wide_number(positive_u32(row, OVSDB_IF_OFPORT)),
    };
    if (known < N_TYPES && types[known].kernel && d->netns)
        port.ifindex = positive_u32(row, OVSDB_IF_IFINDEX);
    uint64_t number;
    port.is_dpdk = strcmp(type, "dpdk") == 0 && d->start_ticks && status_number(row, "port_no", &number) &&
                   number <= UINT32_MAX;
    if (port.is_dpdk)
        port.dpdk_port = (uint32_t)number;
    port.turned = port.ifindex && types[known].turned;
    port.idle_local =
        strcmp(name, d->bridges[bridge].name) == 0 && strcmp(ovsdb_str(row, OVSDB_IF_ADMIN_STATE), "up") != 0;
    return port;
}

/* A type of a later release is taken for one that OVS alone knows. */
static bool is_live(const char *type)
{
    size_t i = find_type(type);
    return i == N_TYPES || types[i].live;
}

static int by_place(const void *a, const void *b)
{
    const struct ovs_port *x = a, *y = b;
    if (x->bridge != y->bridge)
        return x->bridge < y->bridge ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool find_bridge(const struct ovs_daemon *d, const struct ovsdb_row *row, uint32_t *index)
{
    const struct ovsdb_row *bridge = ovsdb_bridge_of(row);
    const char *name = bridge ? ovsdb_str(bridge, OVSDB_BRIDGE_NAME) : "";
    for (size_t i = 0; bridge && i < d->n_bridges; i++) {
        if (strcmp(d->bridges[i].name, name) == 0) {
            *index = (uint32_t)i;
            return true;
        }
    }
    return false;
}

static int by_name(const void *a, const void *b, void *ports)
{
    const struct ovs_port *list = ports;
    return strcmp(list[*(const uint32_t *)a].name, list[*(const uint32_t *)b].name);
}

static void index_names(struct ovs_daemon *d)
{
    d->by_name = xrealloc(d->by_name, d->n_ports + 1, sizeof(*d->by_name));
    for (size_t i = 0; i < d->n_ports; i++)
        d->by_name[i] = (uint32_t)i;
    qsort_r(d->by_name, d->n_ports, sizeof(*d->by_name), by_name, d->ports);
}

void ovs_ports_list(struct ovs_daemon *d, const struct ovsdb_mirror *mirror)
{
    size_t n = mirror->n_rows[OVSDB_INTERFACE];
    d->ports = xrealloc(d->ports, n ? n : 1, sizeof(*d->ports));
    d->n_ports = 0;
    for (size_t i = 0; i < d->n_bridges; i++)
        d->bridges[i].live = false;
    for (size_t i = 0; i < n; i++) {
        uint32_t bridge;
        const struct ovsdb_row *row = mirror->rows[OVSDB_INTERFACE][i];
        if (!find_bridge(d, row, &bridge))
            continue;
        d->ports[d->n_ports++] = make_port(d, row, bridge);
        d->bridges[bridge].live |= is_live(ovsdb_str(row, OVSDB_IF_TYPE));
    }
    qsort(d->ports, d->n_ports, sizeof(*d->ports), by_place);
    index_names(d);
}

const struct ovs_port *ovs_port_numbered(const struct ovs_daemon *d, size_t bridge, uint32_t number)
{
    size_t low = 0, high = d->n_ports;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ovs_port *port = &d->ports[middle];
        if (port->bridge < bridge || (port->bridge == bridge && port->number < number))
            low = middle + 1;
        else
            high = middle;
    }
    const struct ovs_port *port = low < d->n_ports ? &d->ports[low] : NULL;
    return port && number && port->bridge == bridge && port->number == number ? port : NULL;
}

/* As strcmp, of a slice that may hold anything. */
static int compare_name(struct ovs_span name, const char *text)
{
    int order = strncmp(name.s, text, name.len);
    return order ? order : text[strnlen(text, name.len)] ? -1 : 0;
}

const struct ovs_port *ovs_port_called(const struct ovs_daemon *d, struct ovs_span name)
{
    size_t low = 0, high = d->n_ports;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ovs_port *port = &d->ports[d->by_name[middle]];
        int order = compare_name(name, port->name);
        if (order == 0)
            return ovs_span_is(name, port->name) ? port : NULL;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- infos ---- */

const char *ovs_port_key(const struct ovs_daemon *d, const struct ovs_port *port, char *key, size_t size)
{
    if (port->ifindex)
        snprintf(key, size, "net:%" PRIu64 ":%" PRIu32, d->netns, port->ifindex);
    else if (port->is_dpdk)
        snprintf(key, size, "dpdk:%ld:%" PRIu64 ":port%" PRIu32, (long)d->pid, d->start_ticks,
                 port->dpdk_port);
    else
        snprintf(key, size, "ovs:%s:%s", d->rundir, port->name);
    return key;
}

struct ports_info *ovs_port_brief(struct inventory *inventory, const struct ovs_daemon *d,
                                  const struct ovs_port *port)
{
    char key[512];
    struct ports_info *info =
        inventory_info(inventory, TABLE_PORTS, "%s", ovs_port_key(d, port, key, sizeof(key)));
    if (port->ifindex) {
        info_set(info, netns, inventory_text(inventory, d->netns_name));
        info_set(info, ifindex, port->ifindex);
    }
    info_set(info, name, inventory_text(inventory, port->name));
    return info;
}

/* An optional text column that is not empty. */
static const char *text_of(struct inventory *inventory, const struct ovsdb_row *row, enum ovsdb_column column)
{
    const char *text = ovsdb_str(row, column);
    return *text ? inventory_text(inventory, text) : NULL;
}

static void set_states(struct ports_info *info, struct inventory *inventory, const struct ovs_port *port)
{
    const struct ovsdb_row *row = port->row;
    const char *text;
    int64_t value;
    text = text_of(inventory, row, OVSDB_IF_MAC_IN_USE);
    if (text && strcmp(text, "00:00:00:00:00:00") != 0) /* vhost-user: the guest's is not known */
        info_set(info, mac, text);
    if ((text = text_of(inventory, row, OVSDB_IF_ADMIN_STATE)))
        info_set(info, admin, text);
    if ((text = text_of(inventory, row, OVSDB_IF_LINK_STATE)))
        info_set(info, carrier, text);
    if (ovsdb_int(row, OVSDB_IF_MTU, &value) && value > 0)
        info_set(info, mtu, (uint64_t)value);
    /* Virtual ports are given a speed that means nothing. */
    if (strcmp(port->type, "dpdk") == 0 && ovsdb_int(row, OVSDB_IF_LINK_SPEED, &value) &&
        value >= BIT_PER_MBIT)
        info_set(info, speed_mbps, (uint64_t)value / BIT_PER_MBIT);
}

static void set_device(struct ports_info *info, struct inventory *inventory, const struct ovs_port *port)
{
    const char *driver = ovsdb_map_str(port->row, OVSDB_IF_STATUS, "driver_name");
    uint64_t value;
    if (status_number(port->row, "port_no", &value) && strcmp(ovs_port_kind(port->type), "dpdk") == 0)
        info_set(info, dpdk_port, value);
    if (driver && !port->ifindex)
        info_set(info, driver, inventory_text(inventory, driver));
    if (status_number(port->row, "numa_id", &value) || status_number(port->row, "numa", &value))
        info_set(info, numa, value);
    if (status_number(port->row, "n_rxq", &value))
        info_set(info, rx_queues, value);
    if (status_number(port->row, "n_txq", &value))
        info_set(info, tx_queues, value);
    if (number_of(ovsdb_map_str(port->row, OVSDB_IF_OPTIONS, "n_rxq"), &value))
        info_set(info, rx_queues_wanted, value);
}

/* Bits of virtio's feature word that change how a port performs. */
static const struct {
    unsigned bit;
    const char *word;
} features[] = {{15, "mergeable buffers"}, {22, "multiqueue"}, {29, "event index"}, {34, "packed ring"}};

static void set_features(struct ports_info *info, struct inventory *inventory, uint64_t bits)
{
    char text[128] = "";
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        size_t used = strlen(text);
        if (bits >> features[i].bit & 1)
            snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "", features[i].word);
    }
    info_set(info, features, *text ? inventory_text(inventory, text) : "none");
}

static void set_vhost(struct ports_info *info, struct inventory *inventory, const struct ovs_port *port)
{
    const char *socket = ovsdb_map_str(port->row, OVSDB_IF_STATUS, "socket");
    uint64_t value;
    if (!socket)
        socket = ovsdb_map_str(port->row, OVSDB_IF_OPTIONS, "vhost-server-path");
    if (socket)
        info_set(info, socket, inventory_text(inventory, socket));
    info_set(info, socket_side, strcmp(port->type, "dpdkvhostuser") == 0 ? "server" : "client");
    if (status_number(port->row, "num_of_vrings", &value))
        info_set(info, vrings, value);
    if (status_number(port->row, "vring_0_size", &value))
        info_set(info, ring_size, value);
    if (status_number(port->row, "features", &value))
        set_features(info, inventory, value);
}

struct ports_info *ovs_port_whole(struct inventory *inventory, const struct ovs_daemon *d,
                                  const struct ovs_port *port)
{
    struct ports_info *info = ovs_port_brief(inventory, d, port);
    const struct ovsdb_row *bridge = ovsdb_bridge_of(port->row);
    const char *kind = ovs_port_kind(port->type);
    char datapath[OVS_DATAPATH_SIZE];
    info_set(info, kind, inventory_text(inventory, kind));
    info_set(info, type, inventory_text(inventory, port->type));
    if (bridge) {
        ovs_datapath_name(datapath, ovsdb_str(bridge, OVSDB_BRIDGE_DATAPATH_TYPE));
        info_set(info, switch_, inventory_text(inventory, ovsdb_str(bridge, OVSDB_BRIDGE_NAME)));
        info_set(info, datapath, inventory_text(inventory, datapath));
    }
    set_states(info, inventory, port);
    set_device(info, inventory, port);
    if (strcmp(kind, "vhost-user") == 0)
        set_vhost(info, inventory, port);
    return info;
}

const char *ovs_port_vhost_state(const struct ovs_port *port)
{
    const char *state = ovsdb_map_str(port->row, OVSDB_IF_STATUS, "status");
    if (strcmp(ovs_port_kind(port->type), "vhost-user") != 0)
        return NULL;
    return state && strcmp(state, "connected") == 0 ? "connected" : "disconnected";
}

bool ovs_port_pinning(const struct ovs_port *port, uint64_t queue, uint64_t *core)
{
    const char *list = ovsdb_map_str(port->row, OVSDB_IF_OTHER_CONFIG, "pmd-rxq-affinity");
    struct ovs_span rest = ovs_span_of(list ? list : "");
    uint64_t q;
    while (rest.len > 0) { /* "0:3,1:7" */
        if (!ovs_take_u64(&rest, &q) || !ovs_take(&rest, ":") || !ovs_take_u64(&rest, core))
            return false;
        if (q == queue)
            return true;
        if (!ovs_take(&rest, ","))
            return false;
    }
    return false;
}

/* ---- counters ---- */

#define FIELD(name) offsetof(struct ports_row, name)

/* Where a counter goes, and where that of a port goes which the kernel sees from the other side; 0: nowhere,
 * as the kernel has no such cause in that direction. */
static const struct {
    enum ovs_of_counter from;
    size_t to, to_turned;
} places[] = {
    {OVS_OF_RX_PACKETS, FIELD(rx_packets), FIELD(tx_packets)},
    {OVS_OF_TX_PACKETS, FIELD(tx_packets), FIELD(rx_packets)},
    {OVS_OF_RX_BYTES, FIELD(rx_bytes), FIELD(tx_bytes)},
    {OVS_OF_TX_BYTES, FIELD(tx_bytes), FIELD(rx_bytes)},
    {OVS_OF_RX_DROPPED, FIELD(rx_dropped), FIELD(tx_dropped)},
    {OVS_OF_TX_DROPPED, FIELD(tx_dropped), FIELD(rx_dropped)},
    {OVS_OF_RX_ERRORS, FIELD(rx_errors), FIELD(tx_errors)},
    {OVS_OF_TX_ERRORS, FIELD(tx_errors), FIELD(rx_errors)},
    {OVS_OF_RX_FRAME, FIELD(rx_frame), 0},
    {OVS_OF_RX_OVER, FIELD(rx_over), 0},
    {OVS_OF_RX_CRC, FIELD(rx_crc), 0},
    {OVS_OF_COLLISIONS, FIELD(collisions), FIELD(collisions)},
};

/* Named counters that have a column; tx_retries is what 2.12 called it. */
static const struct {
    const char *name;
    size_t to;
} named_places[] = {
    {"ovs_tx_failure_drops", FIELD(tx_failure_drops)},
    {"ovs_tx_retries", FIELD(tx_retries)},
    {"tx_retries", FIELD(tx_retries)},
    {"ovs_tx_mtu_exceeded_drops", FIELD(tx_mtu_drops)},
    {"ovs_tx_qos_drops", FIELD(tx_qos_drops)},
    {"ovs_rx_qos_drops", FIELD(rx_qos_drops)},
    {"ovs_tx_invalid_hwol_drops", FIELD(tx_hwol_drops)},
    {"rx_missed_errors", FIELD(rx_missed)},
    {"rx_mbuf_allocation_errors", FIELD(rx_nombuf)},
};

static void put_counter(struct ports_row *row, size_t to, uint64_t value)
{
    memcpy((char *)row + to, &value, sizeof(value));
    slot_set(&row->head.have, (unsigned)((to - sizeof(struct row_head)) / 8));
}

static size_t named_place(struct ovs_span name)
{
    for (size_t i = 0; i < sizeof(named_places) / sizeof(named_places[0]); i++)
        if (ovs_span_is(name, named_places[i].name))
            return named_places[i].to;
    return 0;
}

bool ovs_named_has_column(struct ovs_span name)
{
    return named_place(name) != 0;
}

void ovs_port_fill(struct ports_row *row, const struct ovs_port *port, const struct ovs_of_stats *stats,
                   const struct ovs_of_port *told)
{
    uint64_t value;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t to = port->turned ? places[i].to_turned : places[i].to;
        bool flooded = port->idle_local && places[i].from == OVS_OF_TX_DROPPED;
        if (to && !flooded && ovs_of_get(told, places[i].from, &value))
            put_counter(row, to, value);
    }
    for (size_t i = 0; i < told->n_named; i++) {
        const struct ovs_of_named *named = &stats->named[told->first_named + i];
        size_t to = named_place(named->name);
        if (to)
            put_counter(row, to, named->value);
    }
}
