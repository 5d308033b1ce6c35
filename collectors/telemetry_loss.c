/* SPDX-License-Identifier: MIT */
/*
 * Which DPDK counters are lost packets: see telemetry_loss.h. All knowledge is in four const tables, from the
 * drivers' sources and from recordings of eight releases. Called by the dpdk collector; it must not know how
 * counters come.
 */
#include "collectors/telemetry_loss.h"

#include <stdio.h>
#include <string.h>

#include "collectors/telemetry_parse.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define STATS  true
#define XSTATS false
#define DETAIL(name, dir, cause)                                                                             \
    {                                                                                                        \
        "", name, XSTATS, dir, cause, TELEMETRY_SLOT_DETAIL, 0, 0                                            \
    }

/* Special cases stand before the general ones: within a slot the first row that applies and is present
 * counts. */
const struct telemetry_loss_row telemetry_loss_rows[] = {
    /* A guest that does not read: own xstat up to 22.03, nowhere 22.07 to 23.07 (see blind[]), oerrors
       from 23.11. */
    {"net_vhost", "tx_missed_pkts", XSTATS, TELEMETRY_TX, TELEMETRY_LOSS_RING_FULL,
     TELEMETRY_SLOT_VHOST_MISSED, 0, 2203},
    {"net_vhost", "oerrors", STATS, TELEMETRY_TX, TELEMETRY_LOSS_RING_FULL, TELEMETRY_SLOT_OERRORS, 2311, 0},
    {"net_vhost", "tx_errors", XSTATS, TELEMETRY_TX, TELEMETRY_LOSS_RING_FULL, TELEMETRY_SLOT_OERRORS, 2311,
     0},
    /* Every driver; the xstats twins are for 20.05, which has no /ethdev/stats. */
    {"", "imissed", STATS, TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR, TELEMETRY_SLOT_IMISSED, 0, 0},
    {"", "rx_missed_errors", XSTATS, TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR, TELEMETRY_SLOT_IMISSED, 0,
     0},
    {"", "rx_nombuf", STATS, TELEMETRY_RX, TELEMETRY_LOSS_NO_MBUF, TELEMETRY_SLOT_NOMBUF, 0, 0},
    {"", "rx_mbuf_allocation_errors", XSTATS, TELEMETRY_RX, TELEMETRY_LOSS_NO_MBUF, TELEMETRY_SLOT_NOMBUF, 0,
     0},
    {"", "ierrors", STATS, TELEMETRY_RX, TELEMETRY_LOSS_RX_ERROR, TELEMETRY_SLOT_IERRORS, 0, 0},
    {"", "rx_errors", XSTATS, TELEMETRY_RX, TELEMETRY_LOSS_RX_ERROR, TELEMETRY_SLOT_IERRORS, 0, 0},
    {"", "oerrors", STATS, TELEMETRY_TX, TELEMETRY_LOSS_TX_ERROR, TELEMETRY_SLOT_OERRORS, 0, 0},
    {"", "tx_errors", XSTATS, TELEMETRY_TX, TELEMETRY_LOSS_TX_ERROR, TELEMETRY_SLOT_OERRORS, 0, 0},
    /* i40e, ice, iavf: rx_dropped_packets is a part of imissed; tx_dropped_packets of oerrors in iavf alone.
     */
    DETAIL("rx_dropped_packets", TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR),
    DETAIL("tx_dropped_packets", TELEMETRY_TX, TELEMETRY_LOSS_TX_ERROR),
    DETAIL("tx_link_down_dropped", TELEMETRY_TX, TELEMETRY_LOSS_TX_ERROR),
    DETAIL("rx_crc_errors", TELEMETRY_RX, TELEMETRY_LOSS_RX_ERROR),
    DETAIL("rx_mac_short_packet_dropped", TELEMETRY_RX, TELEMETRY_LOSS_RX_ERROR),
    DETAIL("rx_mac_short_pkt_dropped", TELEMETRY_RX, TELEMETRY_LOSS_RX_ERROR),
    /* ixgbe */
    DETAIL("rx_total_missed_packets", TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR),
    DETAIL("rx_management_dropped", TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR),
    /* mlx5: imissed is out_of_buffer; the phy counters are of the whole port, other functions' packets
       included. */
    DETAIL("rx_out_of_buffer", TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR),
    DETAIL("rx_phy_discard_packets", TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR),
    DETAIL("tx_phy_discard_packets", TELEMETRY_TX, TELEMETRY_LOSS_TX_ERROR),
    DETAIL("rx_prio#_buf_discard_packets", TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR),
    DETAIL("rx_prio#_cong_discard_packets", TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR),
    DETAIL("rx_wqe_errors", TELEMETRY_RX, TELEMETRY_LOSS_RX_ERROR),
    /* Per queue, parts of ierrors; and the vhost xstats of 20.05 to 22.03 that its driver never counts up. */
    DETAIL("rx_q#_errors", TELEMETRY_RX, TELEMETRY_LOSS_RX_ERROR),
    DETAIL("rx_missed_pkts", TELEMETRY_RX, TELEMETRY_LOSS_NO_DESCRIPTOR),
};
const size_t telemetry_loss_rows_n = COUNT(telemetry_loss_rows);

/* Directions in which packets can be lost without any counter telling. */
static const struct {
    const char *driver;
    enum telemetry_dir dir;
    unsigned since, until;
    const char *why;
} blind[] = {
    {"net_vhost", TELEMETRY_TX, 2207, 2307, "DPDK 22.07 to 23.07 does not export the drops of vhost ports"},
    {"net_virtio_user", TELEMETRY_TX, 0, 0, "virtio-user does not count what a full ring refuses"},
    {"net_ring", TELEMETRY_TX, 0, 0, "net_ring does not count what a full ring refuses"},
    {"net_af_packet", TELEMETRY_RX, 0, 2411,
     "af_packet does not export the kernel's drops before DPDK 25.03"},
};

/* Drivers whose byte counters stay 0: all releases, or up to one. */
static const struct {
    const char *driver;
    unsigned until;
} byteless[] = {{"net_ring", 0}, {"net_null", 2507}};

/* Virtual devices are named by their driver and a free suffix; "eth_" is the older spelling of "net_". */
static const char *const vdevs[] = {
    "net_vhost",       "net_virtio_user", "net_null",    "net_ring",    "net_tap",     "net_tun",
    "net_af_packet",   "net_af_xdp",      "net_pcap",    "net_memif",   "net_bonding", "net_kni",
    "net_vdev_netvsc", "net_failsafe",    "net_softnic", "virtio_user", "net_octeontx"};

static const char *const cause_names[] = {
    [TELEMETRY_LOSS_NO_DESCRIPTOR] = "queue full", [TELEMETRY_LOSS_NO_MBUF] = "mempool empty",
    [TELEMETRY_LOSS_RX_ERROR] = "receive error",   [TELEMETRY_LOSS_RING_FULL] = "peer not reading",
    [TELEMETRY_LOSS_TX_ERROR] = "send error",
};
_Static_assert(COUNT(cause_names) == TELEMETRY_LOSS_CAUSES, "every cause has its words");

const char *telemetry_loss_cause_name(enum telemetry_loss_cause cause)
{
    return (unsigned)cause < TELEMETRY_LOSS_CAUSES ? cause_names[cause] : "?";
}

/* An unknown release (0) fits rows that are open on both sides alone. */
static bool in_releases(unsigned release, unsigned since, unsigned until)
{
    if (release == 0)
        return since == 0 && until == 0;
    return release >= since && (until == 0 || release <= until);
}

static bool row_applies(const struct telemetry_loss_row *row, const char *driver, unsigned release)
{
    return (row->driver[0] == '\0' || strcmp(row->driver, driver) == 0) &&
           in_releases(release, row->since, row->until);
}

/* '#' in the pattern stands for one or more digits. */
static bool matches(const char *pattern, const char *name)
{
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*pattern != *name++)
                return false;
            continue;
        }
        if (*name < '0' || *name > '9')
            return false;
        while (*name >= '0' && *name <= '9')
            name++;
    }
    return *name == '\0';
}

const struct telemetry_loss_row *telemetry_loss_of_xstat(const char *driver, unsigned release,
                                                         const char *name)
{
    for (size_t i = 0; i < COUNT(telemetry_loss_rows); i++) {
        const struct telemetry_loss_row *row = &telemetry_loss_rows[i];
        if (!row->in_stats && row_applies(row, driver, release) && matches(row->name, name))
            return row;
    }
    return NULL;
}

static bool stats_get(const struct telemetry_stats *stats, const char *name, uint64_t *value)
{
    const struct {
        const char *name;
        uint32_t has;
        uint64_t value;
    } fields[] = {{"imissed", TELEMETRY_HAS_IMISSED, stats->imissed},
                  {"rx_nombuf", TELEMETRY_HAS_RX_NOMBUF, stats->rx_nombuf},
                  {"ierrors", TELEMETRY_HAS_IERRORS, stats->ierrors},
                  {"oerrors", TELEMETRY_HAS_OERRORS, stats->oerrors}};
    for (size_t i = 0; i < COUNT(fields); i++) {
        if ((stats->has & fields[i].has) && strcmp(fields[i].name, name) == 0) {
            *value = fields[i].value;
            return true;
        }
    }
    return false;
}

static const char *blind_reason(const char *driver, unsigned release, enum telemetry_dir dir)
{
    for (size_t i = 0; i < COUNT(blind); i++)
        if (blind[i].dir == dir && strcmp(blind[i].driver, driver) == 0 &&
            in_releases(release, blind[i].since, blind[i].until))
            return blind[i].why;
    return NULL;
}

static bool row_value(const struct telemetry_loss_row *row, const struct telemetry_stats *stats,
                      const struct telemetry_xstats *xstats, uint64_t *value)
{
    if (row->in_stats)
        return stats && stats_get(stats, row->name, value);
    return xstats && telemetry_xstats_get(xstats, row->name, value);
}

void telemetry_losses(const char *driver, unsigned release, const struct telemetry_stats *stats,
                      const struct telemetry_xstats *xstats, enum telemetry_dir dir,
                      struct telemetry_losses *out)
{
    bool used[TELEMETRY_SLOT_DETAIL] = {false};
    *out = (struct telemetry_losses){.blind = blind_reason(driver, release, dir)};
    for (size_t i = 0; i < COUNT(telemetry_loss_rows); i++) {
        const struct telemetry_loss_row *row = &telemetry_loss_rows[i];
        uint64_t value;
        if (row->dir != dir || row->slot == TELEMETRY_SLOT_DETAIL || used[row->slot] ||
            !row_applies(row, driver, release) || !row_value(row, stats, xstats, &value))
            continue;
        used[row->slot] = true;
        out->v[out->n].row = row;
        out->v[out->n++].value = value;
        out->sum += value;
    }
    for (size_t i = 0; i < COUNT(telemetry_loss_rows) && !out->blind; i++) {
        const struct telemetry_loss_row *row = &telemetry_loss_rows[i];
        if (row->dir == dir && row->driver[0] && row_applies(row, driver, release) && !used[row->slot])
            out->blind = "this driver tells its losses in xstats alone, which were not read";
    }
    out->has_sum = out->n > 0 && !(out->blind && out->sum == 0);
}

bool telemetry_counts_bytes(const char *driver, unsigned release)
{
    for (size_t i = 0; i < COUNT(byteless); i++)
        if (strcmp(byteless[i].driver, driver) == 0 && in_releases(release, 0, byteless[i].until))
            return false;
    return true;
}

bool telemetry_xstats_worth_asking(const char *driver, unsigned release, bool link_up)
{
    return link_up || strcmp(driver, "net_vhost") != 0 || (release != 0 && release < 2207);
}

/* "0000:3b:00.1", also with a suffix as representors have. */
static bool is_pci_address(const char *name)
{
    static const char form[] = "xxxx:xx:xx.x";
    for (size_t i = 0; form[i]; i++) {
        bool good =
            form[i] == 'x' ? name[i] && strchr("0123456789abcdefABCDEF", name[i]) : name[i] == form[i];
        if (!good)
            return false;
    }
    return name[12] == '\0' || name[12] == '_';
}

void telemetry_driver_of(const char *port_name, char *driver, size_t size)
{
    char name[64];
    size_t best = 0;
    snprintf(name, sizeof name, "%s%s", strncmp(port_name, "eth_", 4) == 0 ? "net_" : "",
             strncmp(port_name, "eth_", 4) == 0 ? port_name + 4 : port_name);
    for (size_t i = 0; i < COUNT(vdevs); i++) {
        size_t n = strlen(vdevs[i]);
        if (n > best && strncmp(name, vdevs[i], n) == 0)
            best = n;
    }
    if (best == 0 && is_pci_address(name))
        snprintf(driver, size, "pci");
    else
        snprintf(driver, size, "%s%.*s", strncmp(name, "virtio_user", 11) == 0 ? "net_" : "", (int)best,
                 name);
}
