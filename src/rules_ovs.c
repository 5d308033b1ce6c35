/* SPDX-License-Identifier: MIT */
/* Rules about Open vSwitch: its PMDs, and what its datapaths do with packets (see rules.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/rules.h"

/* --- PMDs --- */

/* A thread of OVS with a core of its own; neither vswitchd's main thread nor an lcore of another program. */
static bool is_pmd(const struct frame_row *pmd)
{
    const char *thread = JOIN_TEXT(pmd, struct pmds_info, thread);
    uint64_t core;
    return thread && strcmp(thread, "pmd") == 0 &&
           join_info_number(pmd, offsetof(struct pmds_info, core), &core);
}

static struct rule_name pmd_name(const struct frame_row *pmd)
{
    struct rule_name name;
    uint64_t core = 0;
    join_info_number(pmd, offsetof(struct pmds_info, core), &core);
    snprintf(name.text, sizeof(name.text), "pmd/%llu", (unsigned long long)core);
    return name;
}

/* What fills a PMD: its queues, the one that takes most, and what that and all others take. */
struct queues {
    unsigned n;
    const struct frame_row *heaviest;
    double most, others;
};

static struct queues queues_of(const struct frame *frame, const struct frame_row *pmd)
{
    struct queues queues = {.most = -1};
    double sum = 0;
    RULE_EACH(rxq, frame, TABLE_RXQS)
    {
        const char *key = JOIN_TEXT(rxq, struct rxqs_info, pmd_key);
        if (!key || strcmp(key, pmd->key) != 0)
            continue;
        double usage = RULE_NUMBER(frame, rxq, rxqs, usage_pct);
        queues.n++;
        sum += usage > 0 ? usage : 0;
        if (!(usage > queues.most))
            continue;
        queues.most = usage;
        queues.heaviest = rxq;
    }
    queues.others = queues.heaviest ? sum - queues.most : NAN;
    return queues;
}

void check_pmd_saturated(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(pmd, frame, TABLE_PMDS)
    {
        double busy = is_pmd(pmd) ? RULE_NUMBER(frame, pmd, pmds, busy_pct) : NAN;
        double pps = busy >= 95 ? RULE_NUMBER(frame, pmd, pmds, rx_pps) : NAN;
        if (!(pps >= 1000))
            continue;
        struct queues queues = queues_of(frame, pmd);
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, busy, pmd);
        finding_name(f, "%s", pmd_name(pmd).text);
        finding_say(f, "%s is busy %.0f %% of its cycles at %s", f->object, busy, rule_rate(pps).text);
        if (queues.heaviest)
            finding_say(f, ": queue %.0f of %s takes %.0f %%",
                        RULE_NUMBER(frame, queues.heaviest, rxqs, queue),
                        rule_name(JOIN_TEXT(queues.heaviest, struct rxqs_info, port)).text, queues.most);
        finding_advise(
            f, queues.n > 1
                   ? "ovs-appctl dpif-netdev/pmd-rxq-show, then other_config:pmd-rxq-affinity or more "
                     "cores in pmd-cpu-mask"
                   : "more receive queues for the port (options:n_rxq, guest multiqueue), so that a "
                     "second PMD can help");
    }
}

static bool same_place(const struct frame_row *a, const struct frame_row *b)
{
    const char *x = JOIN_TEXT(a, struct pmds_info, ovs), *y = JOIN_TEXT(b, struct pmds_info, ovs);
    uint64_t node, other;
    return x && y && strcmp(x, y) == 0 && join_info_number(a, offsetof(struct pmds_info, numa), &node) &&
           join_info_number(b, offsetof(struct pmds_info, numa), &other) && node == other;
}

/* The least busy PMD of the same OVS and node. */
static const struct frame_row *idle_pmd(const struct frame *frame, const struct frame_row *full, double *busy)
{
    const struct frame_row *best = NULL;
    *busy = 40;
    RULE_EACH(pmd, frame, TABLE_PMDS)
    {
        double theirs = is_pmd(pmd) && same_place(pmd, full) ? RULE_NUMBER(frame, pmd, pmds, busy_pct) : NAN;
        if (!(theirs <= *busy))
            continue;
        *busy = theirs;
        best = pmd;
    }
    return best;
}

#define WORTH_MOVING 10 /* percent of a PMD that its other queues take */

void check_pmd_unbalanced(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(full, frame, TABLE_PMDS)
    {
        double busy = is_pmd(full) ? RULE_NUMBER(frame, full, pmds, busy_pct) : NAN, theirs;
        const struct frame_row *idle = busy >= 90 ? idle_pmd(frame, full, &theirs) : NULL;
        if (!idle)
            continue;
        struct queues queues = queues_of(frame, full);
        if (queues.n < 2 || !(queues.others >= WORTH_MOVING))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, busy - theirs, full);
        finding_name(f, "%s", pmd_name(full).text);
        finding_say(f, "%s is busy %.0f %% with %u queues while %s of the same NUMA node is busy %.0f %%",
                    f->object, busy, queues.n, pmd_name(idle).text, theirs);
        finding_advise(f, "ovs-appctl dpif-netdev/pmd-rxq-rebalance");
    }
}

void check_cache_thrash(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(pmd, frame, TABLE_PMDS)
    {
        double pps = RULE_NUMBER(frame, pmd, pmds, rx_pps), emc, smc, mega;
        if (!is_pmd(pmd) || !(pps >= 100000))
            continue;
        emc = RULE_NUMBER(frame, pmd, pmds, emc_pct);
        smc = RULE_NUMBER(frame, pmd, pmds, smc_pct);
        mega = RULE_NUMBER(frame, pmd, pmds, megaflow_pct);
        if (!(emc >= 1) || !(emc < 25) || !(mega >= 50))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_NOTE, 100 - emc, pmd);
        finding_name(f, "%s", pmd_name(pmd).text);
        finding_say(f, "%s finds %.0f %% of its packets in the exact match cache", f->object, emc);
        if (smc > 0)
            finding_say(f, ", %.0f %% in the signature match cache", smc);
        finding_say(f, " and %.0f %% by wildcard: more flows than the caches hold", mega);
        if (smc > 0)
            finding_advise(f, "ovs-appctl dpctl/dump-flows: can fewer, coarser flows do?");
        else
            finding_advise(f, "ovs-vsctl set Open_vSwitch . other_config:smc-enable=true");
    }
}

/* The kernel's port in a userspace datapath that brings most. */
static const struct frame_row *busiest_unpolled(const struct frame *frame, const char *datapath)
{
    const struct frame_row *best = NULL;
    double most = 0;
    RULE_EACH(port, frame, TABLE_PORTS)
    {
        const char *of =
            strncmp(port->key, "net:", 4) == 0 ? JOIN_TEXT(port, struct ports_info, datapath) : NULL;
        double pps =
            of && datapath && strcmp(of, datapath) == 0 ? RULE_NUMBER(frame, port, ports, rx_pps) : NAN;
        if (!(pps > most))
            continue;
        most = pps;
        best = port;
    }
    return best;
}

void check_main_thread(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(pmd, frame, TABLE_PMDS)
    {
        const char *thread = JOIN_TEXT(pmd, struct pmds_info, thread);
        double pps = thread && strcmp(thread, "main") == 0 ? RULE_NUMBER(frame, pmd, pmds, rx_pps) : NAN;
        if (!(pps >= 1000))
            continue;
        struct finding *f = finding_add(out, rule, SEVERITY_WATCH, pps, pmd);
        finding_name(f, "%s", rule_name(JOIN_TEXT(pmd, struct pmds_info, datapath)).text);
        finding_say(f,
                    "%s come from ports that no PMD polls (tap, veth, system): vswitchd's main thread "
                    "carries them",
                    rule_rate(pps).text);
        const struct frame_row *port = busiest_unpolled(frame, JOIN_TEXT(pmd, struct pmds_info, datapath));
        if (port)
            finding_say(f, ", most of them from %s", rule_port(port).text);
        finding_advise(f,
                       "give these ports dpdkvhostuserclient, dpdk or afxdp types, or the kernel datapath");
    }
}

/* --- datapaths --- */

static struct finding *datapath_finding(const struct rule *rule, struct finding_list *out,
                                        const struct frame_row *datapath, enum severity severity,
                                        double value)
{
    struct finding *f = finding_add(out, rule, severity, value, datapath);
    finding_name(f, "%s", rule_name(JOIN_TEXT(datapath, struct datapaths_info, name)).text);
    return f;
}

void check_upcalls(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(datapath, frame, TABLE_DATAPATHS)
    {
        double missed = RULE_NUMBER(frame, datapath, datapaths, missed_pps);
        if (!(missed >= 5000))
            continue;
        struct finding *f = datapath_finding(rule, out, datapath, SEVERITY_WATCH, missed);
        finding_say(f, "%s: %s packets match no flow and take the slow path", f->object,
                    rule_rate(missed).text);
        finding_advise(f, "ovs-appctl upcall/show; coarser flows, or fewer short-lived ones");
    }
}

void check_upcalls_lost(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(datapath, frame, TABLE_DATAPATHS)
    {
        double lost = RULE_NUMBER(frame, datapath, datapaths, lost_pps);
        if (!(lost >= 1))
            continue;
        struct finding *f = datapath_finding(rule, out, datapath, SEVERITY_BAD, lost);
        f->cost_pps = lost;
        finding_say(f, "%s: %s flow misses are lost, the slow path is too slow", f->object,
                    rule_rate(lost).text);
        finding_advise(f, "ovs-appctl upcall/show; other_config:n-handler-threads");
    }
}

void check_flow_limit(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    RULE_EACH(datapath, frame, TABLE_DATAPATHS)
    {
        double flows = RULE_NUMBER(frame, datapath, datapaths, flows);
        double limit = RULE_NUMBER(frame, datapath, datapaths, flow_limit);
        if (!(limit > 0) || !(flows >= 0.9 * limit))
            continue;
        struct finding *f = datapath_finding(rule, out, datapath, SEVERITY_WATCH, 100 * flows / limit);
        finding_say(f, "%s holds %.0f flows of the %.0f that its revalidators allow", f->object, flows,
                    limit);
        finding_advise(f, "ovs-appctl upcall/show; other_config:flow-limit");
    }
}

/* OVS counts why its datapath drops, for the daemon as a whole; names of `ovs-appctl coverage/show`. */
enum drop_of { OF_PIPELINE, OF_METER, OF_DATAPATH };

static const struct drop {
    enum drop_of of;
    const char *name, *text, *advice;
} drops[] = {
    {OF_PIPELINE, "drop_action_of_pipeline", "the flow table drops",
     "ovs-ofctl dump-flows BRIDGE | grep drop; ovs-appctl ofproto/trace"},
    {OF_METER, "datapath_drop_meter", "a meter drops", "ovs-ofctl -O OpenFlow13 dump-meters BRIDGE"},
    {OF_DATAPATH, "datapath_drop_upcall_error", "upcalls fail and drop", "ovs-appctl upcall/show"},
    {OF_DATAPATH, "datapath_drop_lock_error", "upcalls found the slow path locked and drop",
     "ovs-appctl upcall/show"},
    {OF_DATAPATH, "datapath_drop_rx_invalid_packet",
     "packets that cannot be parsed are dropped:", "ovs-appctl coverage/show"},
    {OF_DATAPATH, "datapath_drop_recirc_error", "recirculation drops", "ovs-appctl ofproto/trace"},
    {OF_DATAPATH, "datapath_drop_tunnel_push_error",
     "tunnels drop what cannot be wrapped:", "ovs-appctl tnl/neigh/show; ovs-appctl ovs/route/show"},
    {OF_DATAPATH, "datapath_drop_tunnel_pop_error",
     "tunnels drop what cannot be unwrapped:", "ovs-appctl tnl/ports/show"},
    {OF_DATAPATH, "datapath_drop_invalid_port",
     "packets for a port that is gone are dropped:", "ovs-appctl dpctl/show"},
    {OF_DATAPATH, "datapath_drop_invalid_bond",
     "packets for a bond that is gone are dropped:", "ovs-appctl bond/show"},
    {OF_DATAPATH, "drop_action_recursion_too_deep", "flow tables that resubmit too deeply drop",
     "ovs-appctl ofproto/trace"},
    {OF_DATAPATH, "drop_action_too_many_resubmit", "flow tables that resubmit too often drop",
     "ovs-appctl ofproto/trace"},
    {OF_DATAPATH, "drop_action_stack_too_deep", "flow tables with too deep a stack drop",
     "ovs-appctl ofproto/trace"},
    {OF_DATAPATH, "drop_action_bridge_not_found", "flows that lead to a bridge that is gone drop",
     "ovs-appctl ofproto/trace"},
    {OF_DATAPATH, "drop_action_congestion", "congestion marks drop", "ovs-ofctl dump-flows BRIDGE"},
};

static double drop_rate(const struct frame *frame, const char *ovs, const char *name)
{
    char key[512];
    snprintf(key, sizeof(key), "counter:ovs:%s:%s", ovs, name);
    return RULE_NUMBER(frame, frame_find(frame, TABLE_COUNTERS, key), counters, rate);
}

double rule_datapath_drops(const struct frame *frame, const struct frame_row *datapath, const char **what,
                           double *most)
{
    const char *ovs = JOIN_TEXT(datapath, struct datapaths_info, ovs);
    double sum = 0;
    *most = 0;
    for (size_t i = 0; ovs && i < sizeof(drops) / sizeof(drops[0]); i++) {
        double rate = drop_rate(frame, ovs, drops[i].name);
        if (!(rate > 0))
            continue;
        sum += rate;
        if (rate <= *most)
            continue;
        *most = rate;
        *what = drops[i].text;
    }
    return sum;
}

/* Datapaths of one OVS stand one after the other: each OVS once. */
static const char *next_ovs(const struct frame_row *datapath, const char *before)
{
    const char *ovs = JOIN_TEXT(datapath, struct datapaths_info, ovs);
    return ovs && (!before || strcmp(ovs, before) != 0) ? ovs : NULL;
}

static void add_drop(const struct rule *rule, struct finding_list *out, const struct frame_row *datapath,
                     const char *ovs, const struct drop *drop, double rate)
{
    struct finding *f = datapath_finding(rule, out, datapath, SEVERITY_WATCH, rate);
    finding_distinguish(f, hash_text(drop->name));
    f->cost_pps = rate;
    finding_name(f, "%s", rule_name(ovs).text);
    finding_say(f, "%s: %s %s", f->object, drop->text, rule_rate(rate).text);
    finding_advise(f, "%s", drop->advice);
}

/* Tables drop on purpose, so a few a second are no news. */
static void check_drops(const struct rule *rule, const struct frame *frame, struct finding_list *out,
                        enum drop_of of, double limit)
{
    const char *ovs = NULL;
    RULE_EACH(datapath, frame, TABLE_DATAPATHS)
    {
        const char *another = next_ovs(datapath, ovs);
        for (size_t i = 0; another && i < sizeof(drops) / sizeof(drops[0]); i++) {
            double rate = drops[i].of == of ? drop_rate(frame, another, drops[i].name) : NAN;
            if (rate >= limit)
                add_drop(rule, out, datapath, another, &drops[i], rate);
        }
        ovs = another ? another : ovs;
    }
}

void check_pipeline(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_drops(rule, frame, out, OF_PIPELINE, 100);
}

void check_datapath_drops(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_drops(rule, frame, out, OF_DATAPATH, 1);
}

void rule_meter_drops(const struct rule *rule, const struct frame *frame, struct finding_list *out)
{
    check_drops(rule, frame, out, OF_METER, 1);
}
