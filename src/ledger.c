/* SPDX-License-Identifier: MIT */
/* Ledgers and correlation (see ledger.h). */
#include "src/ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/derive.h"
#include "src/derive_join.h"
#include "src/join.h"
#include "src/memory.h"
#include "src/rules.h"

#define LEAST_POINTS 20

/* --- the frame over the window --- */

static size_t window_start(const struct store *store, size_t moment)
{
    int64_t start_ns = store_moment_ns(store, moment) - LEDGER_WINDOW_S * INT64_C(1000000000);
    size_t first = moment;
    while (first > 0 && store_moment_ns(store, first - 1) >= start_ns)
        first--;
    return first;
}

static const struct pair *pair_of(const struct frame *frame, const char *feed)
{
    for (size_t i = 0; i < frame->n_pairs; i++)
        if (strcmp(frame->pairs[i].feed, feed) == 0)
            return &frame->pairs[i];
    return NULL;
}

/* A source that was not read since keeps the two samples that it has. */
static struct pair widen(const struct pair *now, const struct frame *then)
{
    const struct pair *before = pair_of(then, now->feed);
    struct pair pair = *now;
    if (before && before->cur != now->cur && sample_time(before->cur) < sample_time(now->cur))
        pair.prev = before->cur;
    return pair;
}

struct frame *ledger_frame(const struct store *store, size_t moment)
{
    if (moment >= store_moments(store))
        return NULL;
    struct frame *now = store_frame(store, moment), *then = store_frame(store, window_start(store, moment));
    struct pair *pairs = xrealloc(NULL, now->n_pairs, sizeof(*pairs));
    for (size_t i = 0; i < now->n_pairs; i++)
        pairs[i] = widen(&now->pairs[i], then);
    struct frame *wide = frame_new(pairs, now->n_pairs, now->now_ns, now->wall_ns, now->start_ns);
    free(pairs);
    frame_free(now);
    frame_free(then);
    return wide;
}

/* --- hops --- */

struct ledger {
    const struct frame *frame;
    struct hop *hops;
    size_t n;
};

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

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

#define NUMBER(frame, row, table, key) join_number(frame, row, COLUMN_OF(table, key))

/* --- the switch --- */

/* What all ports of a switch received and sent, and what was dropped on the way from one to the other. */
struct sums {
    double in, out, dropped;
    unsigned ports, silent; /* ports; those that tell no number */
};

/* Namespace of a kernel's port ("net:1:"), run folder of an OVS's ("ovs:/run/openvswitch:"): two switches of
 * one name differ in it. */
static size_t place_length(const char *key)
{
    const char *end = strncmp(key, "net:", 4) == 0 ? strchr(key + 4, ':') : strrchr(key, ':');
    return end ? (size_t)(end - key) + 1 : strlen(key);
}

static bool same_place(const struct frame_row *a, const struct frame_row *b)
{
    size_t length = place_length(a->key);
    bool alike = strncmp(a->key, b->key, 4) == 0;
    return !alike || (length == place_length(b->key) && strncmp(a->key, b->key, length) == 0);
}

static bool is_in_ovs(const struct frame_row *port)
{
    return JOIN_TEXT(port, struct ports_info, datapath) != NULL;
}

/* OVS has ports of both kinds in one bridge; where both are of a kind, the place decides. */
static bool same_switch(const struct frame_row *a, const struct frame_row *b)
{
    return is_in_ovs(a) == is_in_ovs(b) && same_text(join_switch_of_port(a), join_switch_of_port(b)) &&
           same_place(a, b);
}

/* Packets that the kernel counted as received and dropped before the bridge saw them. A tap's were never
 * counted. */
static double dropped_behind(const struct frame_row *port)
{
    struct delta dropped = ROW_DELTA(port, struct ports_row, rx_dropped);
    const char *kind = JOIN_TEXT(port, struct ports_info, kind);
    if (is_in_ovs(port) || same_text(kind, "tap") || same_text(kind, "tun") || dropped.kind != CELL_U64)
        return 0;
    return (double)dropped.value / dropped.seconds;
}

static void add_port(const struct frame *frame, const struct frame_row *port, struct sums *sums)
{
    double rx = NUMBER(frame, port, ports, rx_pps), tx = NUMBER(frame, port, ports, tx_pps);
    sums->ports++;
    sums->silent += isnan(rx) || isnan(tx);
    sums->dropped += or_zero(NUMBER(frame, port, ports, tx_drop_pps)) + dropped_behind(port);
    if (is_in_ovs(port)) {
        sums->in += or_zero(rx);
        sums->out += or_zero(tx);
    }
}

/* A Linux bridge's own row has the sums of its ports, with the host's own traffic in them. */
static bool is_bridge_of(const struct frame_row *bridge, const struct frame_row *port)
{
    return same_text(JOIN_TEXT(bridge, struct ports_info, kind), "bridge") &&
           same_text(JOIN_TEXT(bridge, struct ports_info, name), join_switch_of_port(port)) &&
           same_place(bridge, port);
}

static struct sums sum_switch(const struct frame *frame, const struct frame_row *of_port)
{
    struct sums sums = {0};
    bool ovs = is_in_ovs(of_port), found = ovs;
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        if (same_switch(port, of_port))
            add_port(frame, port, &sums);
        if (ovs || !is_bridge_of(port, of_port))
            continue;
        found = true;
        sums.in = NUMBER(frame, port, ports, ports_rx_pps);
        sums.out = NUMBER(frame, port, ports, ports_tx_pps);
    }
    if (!found)
        sums.in = sums.out = NAN;
    return sums;
}

static const struct frame_row *datapath_of(const struct frame *frame, const struct frame_row *port)
{
    const char *name = JOIN_TEXT(port, struct ports_info, datapath);
    const struct frame_row *best = NULL;
    RULE_EACH(datapath, frame, TABLE_DATAPATHS)
    {
        const char *ovs = JOIN_TEXT(datapath, struct datapaths_info, ovs);
        bool here = ovs && strncmp(port->key, "ovs:", 4) == 0 &&
                    strncmp(port->key + 4, ovs, strlen(ovs)) == 0 && port->key[4 + strlen(ovs)] == ':';
        if (same_text(JOIN_TEXT(datapath, struct datapaths_info, name), name) && (!best || here))
            best = datapath;
    }
    return best;
}

/* What OVS's datapath itself drops, of all its bridges together: it does not say of which. */
static double datapath_drops(const struct frame *frame, const struct frame_row *port, char *cause,
                             size_t size)
{
    const struct frame_row *datapath = datapath_of(frame, port);
    const char *what = NULL;
    if (!datapath)
        return 0;
    double lost = or_zero(NUMBER(frame, datapath, datapaths, lost_pps)), most;
    double others = rule_datapath_drops(frame, datapath, &what, &most);
    if (lost > 0 && lost >= most)
        snprintf(cause, size, "upcalls lost %s", rule_rate(lost).text);
    else if (most > 0)
        snprintf(cause, size, "%s %s", what, rule_rate(most).text);
    return lost + others;
}

static void describe_pmd(const struct frame *frame, const struct frame_row *pmd, struct hop *hop,
                         const char *name)
{
    double core = NUMBER(frame, pmd, pmds, core), busy = NUMBER(frame, pmd, pmds, busy_pct);
    double emc = NUMBER(frame, pmd, pmds, emc_pct), cycles = NUMBER(frame, pmd, pmds, cycles_per_packet);
    snprintf(hop->name, sizeof(hop->name), "pmd %.0f / %s", core, name);
    if (!isnan(busy) && !isnan(cycles) && !isnan(emc))
        snprintf(hop->cause, sizeof(hop->cause), "busy %.0f %%, EMC %.0f %%, %.0f cycles a packet", busy, emc,
                 cycles);
}

static struct sums switch_hop(struct ledger *l, const struct frame_row *port)
{
    const char *name = join_switch_of_port(port);
    struct sums sums = {.in = NAN, .out = NAN};
    if (!name)
        return sums;
    sums = sum_switch(l->frame, port);
    struct hop *hop = add_hop(l);
    const struct frame_row *path = join_path_of_port(l->frame, port);
    const struct frame_row *pmd = path ? join_serving(l->frame, path).pmd : NULL;
    char cause[128] = "";
    snprintf(hop->name, sizeof(hop->name), "%s", rule_name(name).text);
    snprintf(hop->cause, sizeof(hop->cause), "all of its %u ports together", sums.ports);
    if (!isnan(NUMBER(l->frame, pmd, pmds, core)))
        describe_pmd(l->frame, pmd, hop, rule_name(name).text);
    hop->in = sums.in;
    hop->out = sums.out + sums.dropped; /* what its ports drop was brought to them */
    hop->dropped = is_in_ovs(port) ? datapath_drops(l->frame, port, cause, sizeof(cause)) : 0;
    if (cause[0])
        memcpy(hop->cause, cause, sizeof(hop->cause));
    sums.dropped += hop->dropped;
    hop->age_s = part_age_s(l->frame, &port->part);
    return sums;
}

/* --- the others --- */

static void port_hop(struct ledger *l, const struct frame_row *port, bool to_guest)
{
    bool tx = to_guest == join_port_faces_guest(l->frame, port);
    struct hop *hop = add_hop(l);
    snprintf(hop->name, sizeof(hop->name), "%s", rule_port(port).text);
    hop->out = join_number(l->frame, port, tx ? COLUMN_OF(ports, tx_pps) : COLUMN_OF(ports, rx_pps));
    hop->dropped =
        join_number(l->frame, port, tx ? COLUMN_OF(ports, tx_drop_pps) : COLUMN_OF(ports, rx_drop_pps));
    hop->in = hop->out + or_zero(hop->dropped);
    hop->age_s = part_age_s(l->frame, &port->part);
    const char *cause = hop->dropped > 0 ? derive_cause(l->frame, port, tx) : NULL;
    if (cause)
        snprintf(hop->cause, sizeof(hop->cause), "%s", cause);
}

static void guest_hop(struct ledger *l, double passed, bool to_guest)
{
    struct hop *hop = add_hop(l);
    snprintf(hop->name, sizeof(hop->name), "%s", to_guest ? "guest ring" : "guest");
    if (to_guest)
        hop->in = passed;
    else
        hop->out = passed;
    snprintf(hop->cause, sizeof(hop->cause), "guest counters are not read");
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

/* What went in and neither came out nor was dropped by name: a bridge loses packets without counting them. */
static void unaccounted_hop(struct ledger *l, const struct sums *sums)
{
    if (isnan(sums->in) || isnan(sums->out))
        return;
    struct hop *hop = add_hop(l);
    hop->unaccounted = true;
    hop->in = sums->in;
    snprintf(hop->name, sizeof(hop->name), "unaccounted");
    if (sums->silent) {
        snprintf(hop->cause, sizeof(hop->cause), "not known: %u of its %u ports tell no number", sums->silent,
                 sums->ports);
        return;
    }
    hop->dropped = sums->in - sums->out - sums->dropped;
    snprintf(hop->cause, sizeof(hop->cause), "%s",
             hop->dropped < 0 ? "more went out than came in: floods, multicast"
                              : "lost inside the switch, by no counter");
}

size_t ledger_make(const struct frame *frame, const struct frame_row *port, bool to_guest,
                   struct hop hops[LEDGER_HOPS])
{
    struct ledger l = {.frame = frame, .hops = hops};
    struct sums sums;
    if (to_guest) {
        sums = switch_hop(&l, port);
        port_hop(&l, port, true);
        guest_hop(&l, hops[l.n - 1].out, true);
    } else {
        guest_hop(&l, NAN, false);
        port_hop(&l, port, false);
        hops[0].out = hops[1].in;
        sums = switch_hop(&l, port);
    }
    mark_worst(&l);
    unaccounted_hop(&l, &sums);
    return l.n;
}

/* --- correlation --- */

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
