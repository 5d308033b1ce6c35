/* SPDX-License-Identifier: MIT */
/* Ledgers and correlation (see ledger.h). */
#include "src/ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/join.h"
#include "src/memory.h"

#define MAX_POINTS   256
#define LEAST_POINTS 20

double ledger_mean(const struct store *store, size_t moment, enum table_id table, const char *key,
                   const char *column_key)
{
    struct point points[MAX_POINTS];
    const struct column *column = column_find(table_get(table), column_key);
    size_t n = store_series(store, table, key, column, moment, MAX_POINTS, points);
    double sum = 0, seconds = 0;
    for (size_t i = n; i-- > 1 && seconds < LEDGER_WINDOW_S - 0.01;) {
        double dt = (double)(points[i].t_ns - points[i - 1].t_ns) / 1e9;
        if (!cell_is_number(&points[i].cell))
            continue;
        sum += cell_number(&points[i].cell) * dt;
        seconds += dt;
    }
    return seconds > 0 ? sum / seconds : NAN;
}

struct ledger {
    const struct store *store;
    size_t moment;
    const struct frame *frame;
    struct hop *hops;
    size_t n;
};

static double mean(const struct ledger *l, enum table_id table, const struct frame_row *row, const char *key)
{
    return row ? ledger_mean(l->store, l->moment, table, row->key, key) : NAN;
}

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

static struct hop *add_hop(struct ledger *l)
{
    struct hop *hop = &l->hops[l->n++];
    *hop = (struct hop){.in = NAN, .out = NAN, .dropped = NAN, .age_s = NAN};
    return hop;
}

static const char *name_of(const struct frame_row *port)
{
    const char *name = JOIN_TEXT(port, struct ports_info, name);
    return name ? name : "?";
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* What all ports of a switch received and sent, and what they dropped on the way. A Linux bridge's own row
 * has the sums, the host's own traffic in them. */
static void sum_switch(const struct ledger *l, const struct frame_row *of_port, struct hop *hop,
                       unsigned *ports)
{
    const char *name = JOIN_TEXT(of_port, struct ports_info, switch_);
    double in = 0, out = 0, dropped = 0;
    *ports = 0;
    for (size_t i = 0; i < l->frame->table[TABLE_PORTS].n; i++) {
        const struct frame_row *port = &l->frame->table[TABLE_PORTS].rows[i];
        const char *kind = JOIN_TEXT(port, struct ports_info, kind);
        if (same_text(name_of(port), name) && same_text(kind, "bridge")) {
            in += or_zero(mean(l, TABLE_PORTS, port, "ports_rx_pps"));
            out += or_zero(mean(l, TABLE_PORTS, port, "ports_tx_pps"));
        }
        if (!same_text(JOIN_TEXT(port, struct ports_info, switch_), name))
            continue;
        ++*ports;
        dropped += or_zero(mean(l, TABLE_PORTS, port, "tx_drop_pps"));
        if (!JOIN_TEXT(port, struct ports_info, datapath))
            continue;
        in += or_zero(mean(l, TABLE_PORTS, port, "rx_pps"));
        out += or_zero(mean(l, TABLE_PORTS, port, "tx_pps"));
    }
    hop->in = in;
    hop->out = out;
    hop->dropped = dropped;
}

static void switch_hop(struct ledger *l, const struct frame_row *path, const struct frame_row *port,
                       struct hop *sums)
{
    const char *name = JOIN_TEXT(port, struct ports_info, switch_);
    unsigned ports;
    if (!name)
        return;
    sum_switch(l, port, sums, &ports);
    struct hop *hop = add_hop(l);
    struct serving serving = join_serving(l->frame, path);
    hop->in = sums->in;
    hop->out = sums->out + sums->dropped; /* what its ports drop was brought to them */
    hop->dropped = 0;
    hop->age_s = part_age_s(l->frame, &port->part);
    if (serving.pmd) {
        double emc = mean(l, TABLE_PMDS, serving.pmd, "emc_pct");
        double cycles = mean(l, TABLE_PMDS, serving.pmd, "cycles_per_packet");
        double core = join_number(l->frame, serving.pmd, COLUMN_OF(pmds, core));
        double lost = mean(l, TABLE_PMDS, serving.pmd, "upcalls_lost_pps");
        snprintf(hop->name, sizeof(hop->name), "pmd %.0f / %s", core, name);
        hop->dropped = or_zero(lost);
        if (!isnan(cycles))
            snprintf(hop->cause, sizeof(hop->cause), "EMC %.0f %%, %.0f cycles a packet", or_zero(emc),
                     cycles);
        return;
    }
    snprintf(hop->name, sizeof(hop->name), "%s", name);
    snprintf(hop->cause, sizeof(hop->cause), "all of its %u ports together", ports);
}

static void port_hop(struct ledger *l, const struct frame_row *path, const struct frame_row *port,
                     bool to_guest)
{
    bool tx = to_guest == join_port_faces_guest(l->frame, port);
    struct hop *hop = add_hop(l);
    snprintf(hop->name, sizeof(hop->name), "%s", name_of(port));
    hop->out = mean(l, TABLE_PORTS, port, tx ? "tx_pps" : "rx_pps");
    hop->dropped = mean(l, TABLE_PORTS, port, tx ? "tx_drop_pps" : "rx_drop_pps");
    hop->in = hop->out + or_zero(hop->dropped);
    hop->age_s = part_age_s(l->frame, &port->part);
    struct cell cause = {.kind = CELL_NONE};
    if (to_guest)
        cause = frame_cell(l->frame, path, column_find(table_get(TABLE_PATHS), "to_guest_cause"));
    if (cause.kind == CELL_STR && hop->dropped > 0)
        snprintf(hop->cause, sizeof(hop->cause), "%s", cause.str);
}

static void guest_hop(struct ledger *l, double passed, bool to_guest)
{
    struct hop *hop = add_hop(l);
    snprintf(hop->name, sizeof(hop->name), "%s", to_guest ? "guest ring" : "guest");
    if (to_guest)
        hop->in = passed;
    else
        hop->out = passed;
    snprintf(hop->cause, sizeof(hop->cause), "the guest's own counters are not read");
}

static void mark_worst(struct ledger *l)
{
    struct hop *worst = NULL;
    for (size_t i = 0; i < l->n; i++)
        if (l->hops[i].dropped > 0 && (!worst || l->hops[i].dropped > worst->dropped))
            worst = &l->hops[i];
    if (worst)
        worst->loses_most = true;
}

static void unaccounted_hop(struct ledger *l, const struct hop *sums)
{
    if (isnan(sums->in))
        return;
    struct hop *hop = add_hop(l);
    hop->unaccounted = true;
    hop->in = sums->in;
    hop->dropped = sums->in - sums->out - sums->dropped;
    snprintf(hop->name, sizeof(hop->name), "unaccounted");
    snprintf(hop->cause, sizeof(hop->cause), "%s",
             hop->dropped < 0 ? "more went out than came in: floods, multicast"
                              : "lost inside the switch, by no counter");
}

size_t ledger_make(const struct store *store, size_t moment, const struct frame *frame,
                   const struct frame_row *path, bool to_guest, struct hop hops[LEDGER_HOPS])
{
    struct ledger l = {.store = store, .moment = moment, .frame = frame, .hops = hops};
    const struct frame_row *port = join_port_of_path(frame, path);
    struct hop sums = {.in = NAN};
    if (!port)
        return 0;
    if (to_guest) {
        switch_hop(&l, path, port, &sums);
        port_hop(&l, path, port, true);
        guest_hop(&l, l.hops[l.n - 1].out, true);
    } else {
        guest_hop(&l, NAN, false);
        port_hop(&l, path, port, false);
        l.hops[0].out = l.hops[1].in;
        switch_hop(&l, path, port, &sums);
    }
    mark_worst(&l);
    unaccounted_hop(&l, &sums);
    return l.n;
}

/* r over the pairs (a[i], b[i + lag]) that both exist. */
static bool pearson(const double *a, const double *b, size_t n, int lag, double *r)
{
    double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        long j = (long)i + lag;
        if (j < 0 || j >= (long)n || isnan(a[i]) || isnan(b[j]))
            continue;
        sa += a[i];
        sb += b[j];
        saa += a[i] * a[i];
        sbb += b[j] * b[j];
        sab += a[i] * b[j];
        count++;
    }
    double va = saa - sa * sa / count, vb = sbb - sb * sb / count;
    if (count < LEAST_POINTS || va <= 1e-9 * saa || vb <= 1e-9 * sbb)
        return false;
    *r = (sab - sa * sb / count) / sqrt(va * vb);
    return true;
}

bool correlate(const double *a, const double *b, size_t n, int max_lag, double *r, int *lag)
{
    bool any = false;
    *r = 0;
    for (int distance = 0; distance <= max_lag; distance++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            double found;
            if ((distance == 0 && sign > 0) || !pearson(a, b, n, distance * sign, &found))
                continue;
            /* A greater lag must be clearly better: neighbours of a slow change are all alike. */
            if (!any || found > *r + 0.03) {
                *r = found;
                *lag = distance * sign;
            }
            any = true;
        }
    }
    return any;
}
