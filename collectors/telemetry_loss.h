/* SPDX-License-Identifier: MIT */
/*
 * What DPDK's port counters mean: which of them are lost packets, in which direction and why, and where a
 * driver of some release counts nothing so that its zero must not be shown as one. Const tables with pure
 * functions over them, for the dpdk collector; they know nothing of sockets, JSON or time.
 */
#ifndef COLLECTORS_TELEMETRY_LOSS_H
#define COLLECTORS_TELEMETRY_LOSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct telemetry_stats;
struct telemetry_xstats;

enum telemetry_dir { TELEMETRY_RX, TELEMETRY_TX };

enum telemetry_loss_cause {
    TELEMETRY_LOSS_NO_DESCRIPTOR, /* the application did not poll in time: queue full */
    TELEMETRY_LOSS_NO_MBUF,       /* the mempool was empty */
    TELEMETRY_LOSS_RX_ERROR,      /* damaged or malformed */
    TELEMETRY_LOSS_RING_FULL,     /* the guest (or peer) did not read in time */
    TELEMETRY_LOSS_TX_ERROR,      /* the driver could not send, reason unknown */
    TELEMETRY_LOSS_CAUSES
};

const char *telemetry_loss_cause_name(enum telemetry_loss_cause cause);

/*
 * One row of the classifier. Rows of one slot count the same packets (imissed of stats, rx_missed_errors of
 * xstats): the first that applies and is present counts, the others never add. Rows with SLOT_DETAIL overlap
 * others in ways that differ by driver (rx_dropped_packets and imissed): they explain, they are not summed.
 */
enum telemetry_loss_slot {
    TELEMETRY_SLOT_IMISSED,
    TELEMETRY_SLOT_NOMBUF,
    TELEMETRY_SLOT_IERRORS,
    TELEMETRY_SLOT_OERRORS,
    TELEMETRY_SLOT_VHOST_MISSED,
    TELEMETRY_SLOT_DETAIL
};

struct telemetry_loss_row {
    const char *driver; /* "" any */
    const char *name;   /* '#' stands for one or more digits */
    bool in_stats;      /* of /ethdev/stats, else of /ethdev/xstats */
    enum telemetry_dir dir;
    enum telemetry_loss_cause cause;
    enum telemetry_loss_slot slot;
    unsigned since, until; /* releases, 0 open: 2311 is 23.11 */
};
extern const struct telemetry_loss_row telemetry_loss_rows[];
extern const size_t telemetry_loss_rows_n;

/* The row by which an xstat of that name is about loss (also a detail), or NULL. */
const struct telemetry_loss_row *telemetry_loss_of_xstat(const char *driver, unsigned release,
                                                         const char *name);

struct telemetry_losses {
    uint32_t n; /* at most one a slot */
    struct {
        const struct telemetry_loss_row *row;
        uint64_t value;
    } v[TELEMETRY_SLOT_DETAIL];
    uint64_t sum;
    bool has_sum; /* false: show `-` */
    const char *
        blind; /* why losses of this direction are not or not all counted, else NULL; with has_sum: partial */
};

/* Either source may be NULL. Driver and release as telemetry_driver_of and telemetry_hello say, "" and 0
 * unknown. */
void telemetry_losses(const char *driver, unsigned release, const struct telemetry_stats *stats,
                      const struct telemetry_xstats *xstats, enum telemetry_dir dir,
                      struct telemetry_losses *out);

/* False where byte counters of this driver stay 0 although packets pass: show `-`. */
bool telemetry_counts_bytes(const char *driver, unsigned release);

/* False where the request gives null and a line in the application's log each time: vhost without a guest. */
bool telemetry_xstats_worth_asking(const char *driver, unsigned release, bool link_up);

/* "net_vhost0" to "net_vhost"; a PCI address to "pci"; "" if unknown. Telemetry itself does not tell the
 * driver. */
void telemetry_driver_of(const char *port_name, char *driver, size_t size);

#endif
