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

#define LEAST_POINTS  20
#define LEAST_STEPS   10
#define STEPS_AGREE_R 0.45

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
    double in_bytes, out_bytes;
    double noise;           /* what may differ since not all are read at one moment */
    unsigned ports, silent; /* ports; those that tell no number */
    bool large;             /* packets above the MTU: several in one */
};

/* Packets that the kernel counted as received and dropped before the bridge saw them. A tap's were never
 * counted. */
static double dropped_behind(const struct frame_row *port)
{
    struct delta dropped = ROW_DELTA(port, struct ports_row, rx_dropped);
    const char *kind = JOIN_TEXT(port, struct ports_info, kind);
    if (join_is_in_ovs(port) || same_text(kind, "tap") || same_text(kind, "tun") || dropped.kind != CELL_U64)
        return 0;
    return (double)dropped.value / dropped.seconds;
}

/* Between the first and the last moment at which two rows may have been read, seconds. */
static double spread_s(const struct sample *a, const struct row_head *row, const struct sample *b,
                       const struct row_head *other)
{
    int64_t first = row->t_ns ? row->t_ns : a->t0_ns, last = row->t_ns ? row->t_ns : a->t1_ns;
    int64_t start = other->t_ns ? other->t_ns : b->t0_ns, end = other->t_ns ? other->t_ns : b->t1_ns;
    return (double)((last > end ? last : end) - (first < start ? first : start)) / 1e9;
}

/* A packet that is counted at one port and not yet, or no more, at the other: the two begin and end their
 * intervals at different moments. */
static double noise_of(const struct frame_row *port, const struct frame_row *of_port, double pps)
{
    const struct part *a = frame_row_part(port, ROW_SLOT(struct ports_row, rx_packets));
    const struct part *b = frame_row_part(of_port, ROW_SLOT(struct ports_row, rx_packets));
    if (!a || !b || !a->prev || !b->prev)
        return 0;
    double spread = spread_s(a->pair->cur, a->cur, b->pair->cur, b->cur) +
                    spread_s(a->pair->prev, a->prev, b->pair->prev, b->prev);
    return pps * spread / part_interval_s(a);
}

#define HEADER                                                                                               \
    22 /* of a frame, beyond its MTU: Ethernet and a VLAN tag, with the checksum where it is counted */

static bool is_large(const struct frame *frame, const struct frame_row *port)
{
    uint64_t mtu;
    if (!join_info_number(port, offsetof(struct ports_info, mtu), &mtu))
        return false;
    return NUMBER(frame, port, ports, rx_packet_bytes) > (double)mtu + HEADER ||
           NUMBER(frame, port, ports, tx_packet_bytes) > (double)mtu + HEADER;
}

static void add_port(const struct frame *frame, const struct frame_row *port, const struct frame_row *of_port,
                     struct sums *sums)
{
    double rx = NUMBER(frame, port, ports, rx_pps), tx = NUMBER(frame, port, ports, tx_pps);
    double dropped = or_zero(NUMBER(frame, port, ports, tx_drop_pps)) + dropped_behind(port);
    sums->ports++;
    sums->silent += isnan(rx) || isnan(tx);
    sums->dropped += dropped;
    sums->in_bytes += or_zero(NUMBER(frame, port, ports, rx_bps)) / 8;
    sums->out_bytes += or_zero(NUMBER(frame, port, ports, tx_bps)) / 8;
    sums->large = sums->large || is_large(frame, port);
    sums->noise += noise_of(port, of_port, (or_zero(rx) + or_zero(tx) + dropped) / 2);
    if (join_is_in_ovs(port)) {
        sums->in += or_zero(rx);
        sums->out += or_zero(tx);
    }
}

/* A Linux bridge's own row has the sums of its ports, with the host's own traffic in them. */
static bool is_bridge_of(const struct frame_row *bridge, const struct frame_row *port)
{
    return same_text(JOIN_TEXT(bridge, struct ports_info, kind), "bridge") &&
           same_text(JOIN_TEXT(bridge, struct ports_info, name), join_switch_of_port(port)) &&
           join_same_place(bridge, port);
}

static struct sums sum_switch(const struct frame *frame, const struct frame_row *of_port)
{
    struct sums sums = {0};
    bool ovs = join_is_in_ovs(of_port), found = ovs;
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        if (join_same_switch(port, of_port))
            add_port(frame, port, of_port, &sums);
        if (ovs || !is_bridge_of(port, of_port))
            continue;
        found = true;
        sums.in_bytes += or_zero(NUMBER(frame, port, ports, tx_bps)) / 8; /* the host's own */
        sums.out_bytes += or_zero(NUMBER(frame, port, ports, rx_bps)) / 8;
        sums.in = NUMBER(frame, port, ports, ports_rx_pps);
        sums.out = NUMBER(frame, port, ports, ports_tx_pps);
    }
    if (!found)
        sums.in = sums.out = NAN;
    double interval_s = part_interval_s(&of_port->part);
    sums.noise += interval_s > 0 ? 2 / interval_s : 0; /* one packet on its way at each end */
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
    hop->dropped = join_is_in_ovs(port) ? datapath_drops(l->frame, port, cause, sizeof(cause)) : 0;
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

#define UPLINK_HOPS 2

/* A NIC of the switch: what came in by it, or left by it. */
static void uplink_hop(struct ledger *l, const struct frame_row *nic, bool inwards)
{
    struct hop *hop = add_hop(l);
    uint64_t speed = 0;
    const char *kind = JOIN_TEXT(nic, struct ports_info, kind);
    snprintf(hop->name, sizeof(hop->name), "%s", rule_port(nic).text);
    hop->out = inwards ? NUMBER(l->frame, nic, ports, rx_pps) : NUMBER(l->frame, nic, ports, tx_pps);
    hop->dropped =
        inwards ? NUMBER(l->frame, nic, ports, rx_drop_pps) : NUMBER(l->frame, nic, ports, tx_drop_pps);
    hop->in = hop->out + or_zero(hop->dropped);
    hop->age_s = part_age_s(l->frame, &nic->part);
    const char *cause = hop->dropped > 0 ? derive_cause(l->frame, nic, !inwards) : NULL;
    join_info_number(nic, offsetof(struct ports_info, speed_mbps), &speed);
    if (cause)
        snprintf(hop->cause, sizeof(hop->cause), "%s", cause);
    else if (speed)
        snprintf(hop->cause, sizeof(hop->cause), "uplink, %s, %llu Mbit/s", kind, (unsigned long long)speed);
    else
        snprintf(hop->cause, sizeof(hop->cause), "uplink, %s", kind);
}

static int busier(const void *a, const void *b)
{
    const struct hop *x = a, *y = b;
    double one = or_zero(x->in), other = or_zero(y->in);
    return (one < other) - (one > other);
}

#define MOST_UPLINKS 64

/* The busiest of them each, the others together. */
static void uplink_hops(struct ledger *l, const struct frame_row *port, bool inwards)
{
    const struct frame_row *nics[MOST_UPLINKS];
    struct hop found[MOST_UPLINKS];
    struct ledger uplinks = {.frame = l->frame, .hops = found};
    size_t n = join_uplinks(l->frame, port, nics, MOST_UPLINKS);
    n = n < MOST_UPLINKS ? n : MOST_UPLINKS;
    for (size_t i = 0; i < n; i++)
        uplink_hop(&uplinks, nics[i], inwards);
    qsort(found, n, sizeof(found[0]), busier);
    for (size_t i = 0; i < n && i < UPLINK_HOPS; i++)
        *add_hop(l) = found[i];
    if (n <= UPLINK_HOPS)
        return;
    struct hop *rest = add_hop(l);
    snprintf(rest->name, sizeof(rest->name), "%zu more uplinks", n - UPLINK_HOPS);
    rest->in = rest->out = rest->dropped = 0;
    for (size_t i = UPLINK_HOPS; i < n; i++) {
        rest->in += or_zero(found[i].in);
        rest->out += or_zero(found[i].out);
        rest->dropped += or_zero(found[i].dropped);
    }
}

enum end { END_GUEST, END_PEER, END_WIRE };

/* What is beyond the port. */
static enum end end_of(const struct frame *frame, const struct frame_row *port)
{
    if (join_path_of_port(frame, port))
        return END_GUEST;
    return join_leads_out(port) ? END_WIRE : rule_port_is(port, "veth") ? END_PEER : END_GUEST;
}

/* The last hop, or the first. */
static void end_hop(struct ledger *l, enum end end, double passed, bool last)
{
    static const struct {
        const char *first, *last, *remark;
    } ends[] = {
        [END_GUEST] = {"guest", "guest ring", "guest counters are not read"},
        [END_PEER] = {"other end", "other end", "that of the veth"},
        [END_WIRE] = {"wire", "wire", ""},
    };
    struct hop *hop = add_hop(l);
    snprintf(hop->name, sizeof(hop->name), "%s", last ? ends[end].last : ends[end].first);
    *(last ? &hop->in : &hop->out) = passed;
    snprintf(hop->cause, sizeof(hop->cause), "%s", ends[end].remark);
}

#define WORTH_MARKING 0.005 /* of what entered: what no counter owns */

static void mark_worst(struct ledger *l)
{
    struct hop *worst = NULL;
    for (size_t i = 0; i < l->n; i++) {
        struct hop *hop = &l->hops[i];
        bool loses = hop->unaccounted ? hop->dropped > WORTH_MARKING * hop->in : hop->dropped > 0;
        if (loses && (!worst || hop->dropped > worst->dropped))
            worst = hop;
    }
    if (worst)
        worst->loses_most = true;
}

#define FEW 0.1 /* of the share of packets: where so few bytes are missing, no packet is */

/* GRO makes one packet of several, GSO several of one: their numbers do not compare. Their bytes do, nearly.
 */
static bool is_merged(const struct sums *sums)
{
    double missing = sums->in - sums->out - sums->dropped;
    double bytes = sums->in_bytes - sums->out_bytes;
    if (!(fabs(missing) > WORTH_MARKING * sums->in))
        return false;
    if (sums->large)
        return true;
    if (!(sums->in > 0) || !(sums->in_bytes > 0))
        return false;
    bytes -= sums->dropped * sums->in_bytes / sums->in;
    return fabs(bytes) / sums->in_bytes < FEW * fabs(missing) / sums->in;
}

/* What went in and neither came out nor was dropped by name: a bridge loses packets without counting them.
 * What the moments of the reads explain is nothing. */
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
    if (is_merged(sums)) {
        snprintf(hop->cause, sizeof(hop->cause),
                 "not known: packets are merged or split on the way (GRO, GSO)");
        return;
    }
    hop->dropped = sums->in - sums->out - sums->dropped;
    if (fabs(hop->dropped) <= sums->noise)
        hop->dropped = 0;
    else
        snprintf(hop->cause, sizeof(hop->cause), "%s",
                 hop->dropped < 0 ? "more went out than came in: floods, multicast"
                                  : "lost inside the switch, by no counter");
}

double ledger_bridge_loss(const struct frame *frame, const struct frame_row *bridge, double *in)
{
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        if (!is_bridge_of(bridge, port))
            continue;
        struct sums sums = sum_switch(frame, port);
        double lost = sums.in - sums.out - sums.dropped;
        *in = sums.in;
        return sums.silent || is_merged(&sums) ? NAN : lost > sums.noise ? lost : 0;
    }
    return NAN;
}

size_t ledger_make(const struct frame *frame, const struct frame_row *port, bool to_guest,
                   struct hop hops[LEDGER_HOPS])
{
    struct ledger l = {.frame = frame, .hops = hops};
    struct sums sums;
    enum end end = end_of(frame, port);
    bool wire = end == END_WIRE;
    if (to_guest != wire) { /* from the switch to the port and out of it */
        if (!wire)
            uplink_hops(&l, port, true);
        sums = switch_hop(&l, port);
        port_hop(&l, port, to_guest);
        end_hop(&l, end, hops[l.n - 1].out, true);
    } else {
        end_hop(&l, end, NAN, false);
        port_hop(&l, port, to_guest);
        hops[0].out = hops[1].in;
        sums = switch_hop(&l, port);
        if (!wire)
            uplink_hops(&l, port, false);
    }
    unaccounted_hop(&l, &sums);
    mark_worst(&l);
    return l.n;
}

/* --- correlation --- */

/* r over the pairs (a[i], b[i + lag]) that both exist, where there are enough. */
static bool pearson(const double *a, const double *b, size_t n, int lag, size_t least, double *r)
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
    if (count < (double)least || va <= 1e-9 * saa || vb <= 1e-9 * sbb)
        return false;
    *r = (sab - sa * sb / count) / sqrt(va * vb);
    return true;
}

static double *steps_of(const double *a, size_t n)
{
    double *steps = xrealloc(NULL, n, sizeof(*steps));
    for (size_t i = 0; i + 1 < n; i++)
        steps[i] = a[i + 1] - a[i];
    return steps;
}

/* Whatever rises slowly is alike: two that have to do with one another also rise and fall at the same
 * moments, or at neighbouring ones. */
static bool steps_agree(const double *a, const double *b, size_t n, int lag)
{
    double *of_a = steps_of(a, n), *of_b = steps_of(b, n), r;
    bool agree = false;
    for (int beside = -1; beside <= 1; beside++)
        agree = agree || (pearson(of_a, of_b, n - 1, lag + beside, LEAST_STEPS, &r) && r >= STEPS_AGREE_R);
    free(of_a);
    free(of_b);
    return agree;
}

bool correlate(const double *a, const double *b, size_t n, int max_lag, double *r, int *lag)
{
    bool any = false;
    *r = 0;
    for (int distance = 0; distance <= max_lag; distance++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            double found;
            if ((distance == 0 && sign > 0) || !pearson(a, b, n, distance * sign, LEAST_POINTS, &found))
                continue;
            /* A greater lag must be clearly better: neighbours of a slow change are all alike. */
            if (!any || found > *r + 0.03) {
                *r = found;
                *lag = distance * sign;
            }
            any = true;
        }
    }
    if (any && *r > 0 && !steps_agree(a, b, n, *lag))
        *r = 0;
    return any;
}
