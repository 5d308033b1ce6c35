/* SPDX-License-Identifier: MIT */
/* Rules about ports: where packets are lost, and under which cause (see rules.h). */
#include <math.h>
#include <string.h>

#include "src/derive.h"
#include "src/ledger.h"
#include "src/rules.h"

#define EACH_LOSSY(port, frame)                                                                              \
    size_t port##_n;                                                                                         \
    const struct frame_row *const *port##_rows = join_lossy_ports(frame, &port##_n);                         \
    for (size_t port##_i = 0; port##_i < port##_n; port##_i++)

/* Does a name go into the advice, where its %s stands? */
static void advise_for(struct finding *f, const char *before, const struct frame_row *port,
                       const char *behind)
{
    struct rule_word word = rule_port_word(port);
    if (word.text[0])
        finding_advise(f, "%s%s%s", before, word.text, behind);
}

/* One number of a port that is a loss, and what passed beside it. */
struct loss_rule {
    const struct column *lost, *passed;
    const char *what;            /* "vnet0 WHAT 57/s" */
    const char *before, *behind; /* of the port's name in the advice */
    double least_pct;            /* of what was offered */
};

static void check_loss(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                       const struct loss_rule *loss)
{
    EACH_LOSSY(port, frame)
    {
        const struct frame_row *port = port_rows[port_i];
        double lost = rule_number(frame, port, loss->lost);
        if (!(lost >= 1))
            continue;
        double passed = rule_number(frame, port, loss->passed);
        if (100 * lost < loss->least_pct * (lost + passed))
            continue;
        struct finding *f = finding_add(out, rule, rule_loss_severity(lost, passed), lost, port);
        finding_distinguish(f, hash_text(loss->lost->key));
        f->cost_pps = lost;
        finding_name(f, "%s", rule_port(port).text);
        finding_say(f, "%s %s %s", f->object, loss->what, rule_rate(lost).text);
        if (passed > 0)
            finding_say(f, " (%.2g %%)", 100 * lost / (lost + passed));
        advise_for(f, loss->before, port, loss->behind);
    }
}

/* Fair queueing drops now and then to tell senders to slow down: one in ten thousand is no news. */
void check_qdisc(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    const struct loss_rule loss = {COLUMN_OF(ports, qdisc_drop_pps),
                                   COLUMN_OF(ports, tx_pps),
                                   "drops in its queueing discipline, before the port:",
                                   "tc -s qdisc show dev ",
                                   "",
                                   0.01};
    check_loss(rule, frame, out, &loss);
}

void check_missed(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    const struct loss_rule loss = {COLUMN_OF(ports, rx_missed_pps),
                                   COLUMN_OF(ports, rx_pps),
                                   "has no free descriptor in its ring and misses",
                                   "ethtool -g ",
                                   "; a longer ring, or more CPU for the one that empties it",
                                   0};
    check_loss(rule, frame, out, &loss);
}

void check_nombuf(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    const struct loss_rule loss = {
        COLUMN_OF(ports, rx_nombuf_pps),
        COLUMN_OF(ports, rx_pps),
        "finds its mempool empty and loses",
        "a larger mempool for ",
        ": other_config:dpdk-socket-mem, or the application's --total-num-mbufs",
        0,
    };
    check_loss(rule, frame, out, &loss);
}

void check_mtu(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    const struct loss_rule loss = {
        COLUMN_OF(ports, tx_mtu_drop_pps), COLUMN_OF(ports, tx_pps), "drops what is larger than its MTU:",
        "ovs-vsctl set Interface ",        " mtu_request=N",         0};
    check_loss(rule, frame, out, &loss);
}

void check_policer(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    const struct loss_rule egress = {COLUMN_OF(ports, tx_qos_drop_pps),
                                     COLUMN_OF(ports, tx_pps),
                                     "polices what goes out and drops",
                                     "ovs-appctl qos/show ",
                                     "",
                                     0};
    const struct loss_rule ingress = {COLUMN_OF(ports, rx_qos_drop_pps), COLUMN_OF(ports, rx_pps),
                                      "polices what comes in and drops", "ovs-vsctl get Interface ",
                                      " ingress_policing_rate",          0};
    check_loss(rule, frame, out, &egress);
    check_loss(rule, frame, out, &ingress);
    rule_meter_drops(rule, frame, out);
}

/* Of these the kernel counts each packet that it drops as an error, too. */
static bool counts_drops_as_errors(const struct frame_row *port)
{
    static const char *const kinds[] = {"macvtap", "macvlan", "ipvtap", "ipvlan"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (rule_port_is(port, kinds[i]))
            return true;
    return false;
}

static void add_errors(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                       const struct frame_row *port, const struct column *column, const char *what)
{
    double errors = rule_number(frame, port, column);
    if (!(errors >= 1))
        return;
    struct finding *f = finding_add(out, rule, SEVERITY_WATCH, errors, port);
    finding_distinguish(f, hash_text(column->key));
    f->cost_pps = errors;
    finding_name(f, "%s", rule_port(port).text);
    finding_say(f, "%s %s %s", f->object, what, rule_rate(errors).text);
    advise_for(f, "ip -s -s link show ", port, "");
}

void check_errors(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    EACH_LOSSY(port, frame)
    {
        const struct frame_row *port = port_rows[port_i];
        if (!counts_drops_as_errors(port))
            add_errors(rule, frame, out, port, COLUMN_OF(ports, rx_error_pps), "receives bad packets:");
        add_errors(rule, frame, out, port, COLUMN_OF(ports, tx_error_pps), "fails to send:");
    }
}

void check_flaps(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    EACH_LOSSY(port, frame)
    {
        const struct frame_row *port = port_rows[port_i];
        struct delta flaps = ROW_DELTA(port, struct ports_row, carrier_changes);
        if (flaps.kind != CELL_U64 || flaps.value == 0)
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, (double)flaps.value, port);
        finding_name(f, "%s", rule_port(port).text);
        finding_say(f, "%s loses and finds its carrier", f->object);
        advise_for(f, "ip monitor link dev ", port, "");
    }
}

/* What the port did not send, its queueing discipline left out: that has a rule of its own. */
static double sent_loss(const struct frame *frame, const struct frame_row *port)
{
    double queue = RULE_NUMBER(frame, port, ports, qdisc_drop_pps);
    return RULE_NUMBER(frame, port, ports, tx_drop_pps) - (queue > 0 ? queue : 0);
}

void check_tap_unread(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    EACH_LOSSY(port, frame)
    {
        const struct frame_row *port = port_rows[port_i];
        if (!rule_port_is(port, "tap") || join_path_of_port(frame, port))
            continue;
        double lost = sent_loss(frame, port), passed = RULE_NUMBER(frame, port, ports, tx_pps);
        if (!(lost >= 1))
            continue;
        struct finding *f = finding_add(out, rule, rule_loss_severity(lost, passed), lost, port);
        f->cost_pps = lost;
        finding_name(f, "%s", rule_port(port).text);
        finding_say(f, "%s drops %s: its ring is full, %s", f->object, rule_rate(lost).text,
                    passed < 1 ? "nothing reads it" : "what reads it is too slow");
        struct rule_word word = rule_port_word(port);
        bool quoted = word.text[0] == '\''; /* no second pair of quotes around it */
        if (word.text[0] && !quoted)
            finding_advise(f, "who has it open: grep -l 'iff:.%s$' /proc/[0-9]*/fdinfo/*", word.text);
    }
}

void check_veth(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    EACH_LOSSY(port, frame)
    {
        const struct frame_row *port = port_rows[port_i];
        double lost = rule_port_is(port, "veth") ? sent_loss(frame, port) : NAN;
        if (!(lost >= 1))
            continue;
        double passed = RULE_NUMBER(frame, port, ports, tx_pps);
        struct finding *f = finding_add(out, rule, rule_loss_severity(lost, passed), lost, port);
        f->cost_pps = lost;
        finding_name(f, "%s", rule_port(port).text);
        finding_say(f, "%s drops %s: the CPU of its other end does not take them, or that end is down",
                    f->object, rule_rate(lost).text);
        advise_for(f, "sysctl net.core.netdev_max_backlog; ip -s link show ", port, "");
    }
}

void check_af_packet(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    EACH_LOSSY(port, frame)
    {
        const struct frame_row *port = port_rows[port_i];
        const char *driver = JOIN_TEXT(port, struct ports_info, driver);
        if (!driver || !strstr(driver, "af_packet"))
            continue;
        double rx = RULE_NUMBER(frame, port, ports, rx_drop_pps),
               tx = RULE_NUMBER(frame, port, ports, tx_drop_pps);
        double lost = (rx > 0 ? rx : 0) + (tx > 0 ? tx : 0);
        if (!(lost >= 1))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, lost, port);
        f->cost_pps = lost;
        finding_name(f, "%s", rule_port(port).text);
        finding_say(f, "%s is read by DPDK through the kernel (%s) and loses %s", f->object,
                    rule_name(driver).text, rule_rate(lost).text);
        finding_advise(f, "a NIC's own DPDK driver, or net_af_xdp, in its place");
    }
}

/* --- what no counter owns --- */

#define LEAST_LOST_PPS   100
#define LEAST_LOST_SHARE 0.05

static uint64_t mtu_of(const struct frame_row *port)
{
    uint64_t mtu = 0;
    join_info_number(port, offsetof(struct ports_info, mtu), &mtu);
    return mtu;
}

static bool is_down(const struct frame_row *port)
{
    const char *admin = JOIN_TEXT(port, struct ports_info, admin);
    const char *carrier = JOIN_TEXT(port, struct ports_info, carrier);
    return (admin && strcmp(admin, "down") == 0) || (carrier && strcmp(carrier, "down") == 0);
}

/* What among a bridge's ports may be why. */
struct suspects {
    const struct frame_row *down, *narrow, *wide; /* least and greatest MTU */
};

static struct suspects suspects_of(const struct frame *frame, const struct frame_row *bridge)
{
    struct suspects found = {0};
    const char *name = JOIN_TEXT(bridge, struct ports_info, name);
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        const char *of = join_switch_of_port(port);
        if (!of || !name || strcmp(of, name) != 0 || join_is_in_ovs(port) || !join_same_place(port, bridge))
            continue;
        if (is_down(port))
            found.down = port;
        if (mtu_of(port) && (!found.narrow || mtu_of(port) < mtu_of(found.narrow)))
            found.narrow = port;
        if (mtu_of(port) && (!found.wide || mtu_of(port) > mtu_of(found.wide)))
            found.wide = port;
    }
    return found;
}

/* Without a suspect it is silent: a bridge rightly ignores what its NIC hears of others' packets. */
static void find_bridge_loss(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                             const struct frame_row *bridge)
{
    double in = 0, lost = ledger_bridge_loss(frame, bridge, &in);
    if (!(lost >= LEAST_LOST_PPS) || !(lost >= LEAST_LOST_SHARE * in))
        return;
    struct suspects suspects = suspects_of(frame, bridge);
    bool mtu = !suspects.down && suspects.narrow && mtu_of(suspects.narrow) < mtu_of(suspects.wide);
    if (!suspects.down && !mtu)
        return;
    struct finding *f = finding_add(out, rule, SEVERITY_BAD, 100 * lost / in, bridge);
    f->cost_pps = lost;
    finding_name(f, "%s", rule_port(bridge).text);
    finding_say(f, "%s loses %.1f %% of what enters it (%s) by no counter", f->object, 100 * lost / in,
                rule_rate(lost).text);
    if (mtu) {
        finding_say(f, ": its port %s has an MTU of %llu", rule_port(suspects.narrow).text,
                    (unsigned long long)mtu_of(suspects.narrow));
        finding_say(f, " where %s has %llu", rule_port(suspects.wide).text,
                    (unsigned long long)mtu_of(suspects.wide));
        advise_for(f, "ip link set ", suspects.narrow, " mtu N");
    } else {
        finding_say(f, ": its port %s is down", rule_port(suspects.down).text);
        advise_for(f, "ip link set ", suspects.down, " up");
    }
}

void check_bridge_loss(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(bridge, frame, TABLE_PORTS)
    {
        if (!rule_port_is(bridge, "bridge"))
            continue;
        double in = RULE_NUMBER(frame, bridge, ports, ports_rx_pps);
        double missing = in - RULE_NUMBER(frame, bridge, ports, ports_tx_pps);
        if (missing >= LEAST_LOST_PPS && missing >= LEAST_LOST_SHARE * in) /* with what is counted */
            find_bridge_loss(rule, frame, out, bridge);
    }
}
