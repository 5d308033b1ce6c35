/* SPDX-License-Identifier: MIT */
/*
 * Source `netlink`, its fast part (see netlink.h). A tick takes in the notifications since the last one, then
 * asks for the counters of all links at once (RTM_GETSTATS: a sixth of the bytes of RTM_GETLINK, a tenth of
 * its time). Rows point into an inventory that is built anew only when something in it changed.
 */
#include "collectors/netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/netlink_sums.h"
#include "collectors/nl_facts.h"
#include "collectors/nl_info.h"
#include "collectors/nl_links.h"
#include "collectors/nl_netns.h"
#include "collectors/nl_stats.h"
#include "src/memory.h"

#define STOPPED_NS INT64_C(2000000) /* a read longer than this, and than usual, was interrupted */
#define READ_TRIES 4

struct netlink {
    int64_t usual_ns; /* how long a read takes, smoothed */
    struct nl_netns ns;
    const char *root;
    struct nl_chan chan;
    struct nl_links links;
    struct nl_msg *request; /* for the counters */
    bool by_getlink;        /* the kernel has no RTM_GETSTATS */
    struct inventory *inventory;
    uint64_t tick;    /* number of the read under way */
    size_t told_rows; /* what detail says */

    /* The read under way. */
    struct sample *sample;
    struct nl_port **ports; /* of each row */
    size_t ports_alloc;
    uint32_t unknown;     /* ifindex of a link that has counters and is not in the table, 0 = none */
    uint32_t passed_over; /* one that stayed unknown whatever was asked */
};

static struct nl_msg *getstats_request(void)
{
    struct if_stats_msg head = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)};
    return nl_chan_request(RTM_GETSTATS, NLM_F_DUMP, &head, sizeof(head));
}

/* No RTEXT_FILTER_SKIP_STATS here: newer kernels leave out what this one is for. */
static struct nl_msg *getlink_request(void)
{
    struct ifinfomsg head = {.ifi_family = AF_UNSPEC};
    return nl_chan_request(RTM_GETLINK, NLM_F_DUMP, &head, sizeof(head));
}

static void use_getlink(struct netlink *nl)
{
    nlmsg_free(nl->request);
    nl->request = getlink_request();
    nl->by_getlink = true;
    nl->told_rows = SIZE_MAX;
}

void netlink_without_getstats(void *state)
{
    use_getlink(state);
}

static enum collect_result open_sockets(void *arg, struct collect_call *call)
{
    struct netlink *nl = arg;
    enum collect_result result = nl_chan_open(&nl->chan, call);
    if (result == COLLECT_OK)
        result = nl_links_open(&nl->links, 0, call);
    return result;
}

static void netlink_close(void *state)
{
    struct netlink *nl = state;
    nl_links_close(&nl->links);
    nl_chan_close(&nl->chan);
    if (nl->request)
        nlmsg_free(nl->request);
    inventory_unref(nl->inventory);
    free(nl->ports);
    free(nl);
}

static enum collect_result netlink_open(const struct collect_config *config, void **state,
                                        struct collect_call *call)
{
    struct netlink *nl = xzalloc(sizeof(*nl));
    nl->root = config->root;
    nl->told_rows = SIZE_MAX;
    nl->chan.fd = nl->links.events.fd = -1;
    enum collect_result result = nl_netns_open(config->netns, &nl->ns, open_sockets, nl, call);
    if (result != COLLECT_OK) {
        netlink_close(nl);
        return result;
    }
    nl->request = getstats_request();
    *state = nl;
    return COLLECT_OK;
}

/* ---- inventory ---- */

static void build_inventory(struct netlink *nl)
{
    struct nl_links *links = &nl->links;
    for (struct nl_port *port = nl_links_next(links, NULL); port; port = nl_links_next(links, port))
        if (!port->facts.asked)
            nl_facts_ask(port, nl->chan.fd, nl->root, nl->ns.own);
    nl_links_join(links);
    inventory_unref(nl->inventory);
    nl->inventory = inventory_new();
    for (struct nl_port *port = nl_links_next(links, NULL); port; port = nl_links_next(links, port))
        port->info = nl_info_whole(nl->inventory, links, &nl->ns, port);
    links->changed = false;
}

static int update_inventory(struct netlink *nl, const struct collect_call *call)
{
    int rc = nl_links_update(&nl->links, &nl->chan, call);
    if (rc == 0 && nl->links.changed)
        build_inventory(nl);
    return rc;
}

/* ---- counters ---- */

static void fill_packets(struct ports_row *row, const struct nl_counters *c)
{
    row_set(row, rx_packets, c->rx_packets);
    row_set(row, tx_packets, c->tx_packets);
    row_set(row, rx_bytes, c->rx_bytes);
    row_set(row, tx_bytes, c->tx_bytes);
    row_set(row, rx_dropped, c->rx_dropped);
    row_set(row, tx_dropped, c->tx_dropped);
    row_set(row, rx_errors, c->rx_errors);
    row_set(row, tx_errors, c->tx_errors);
    row_set(row, multicast, c->multicast);
    row_set(row, collisions, c->collisions);
}

static void fill_causes(struct ports_row *row, const struct nl_counters *c)
{
    row_set(row, rx_missed, c->rx_missed_errors);
    row_set(row, rx_fifo, c->rx_fifo_errors);
    row_set(row, rx_frame, c->rx_frame_errors);
    row_set(row, rx_crc, c->rx_crc_errors);
    row_set(row, rx_length, c->rx_length_errors);
    row_set(row, rx_over, c->rx_over_errors);
    row_set(row, tx_aborted, c->tx_aborted_errors);
    row_set(row, tx_carrier, c->tx_carrier_errors);
    row_set(row, tx_fifo, c->tx_fifo_errors);
    row_set(row, tx_heartbeat, c->tx_heartbeat_errors);
    row_set(row, tx_window, c->tx_window_errors);
}

static void fill_row(struct ports_row *row, const struct nl_stats *stats, const struct nl_link *link)
{
    fill_packets(row, &stats->counters);
    fill_causes(row, &stats->counters);
    if (stats->n >= NL_STATS_UPTO(rx_nohandler))
        row_set(row, rx_nohandler, stats->counters.rx_nohandler);
    if (stats->n >= NL_STATS_UPTO(rx_otherhost_dropped))
        row_set(row, rx_otherhost, stats->counters.rx_otherhost_dropped);
    if (link->has & NL_LINK_HAS_CARRIER_CHANGES)
        row_set(row, carrier_changes, link->carrier_changes);
}

static void take_stats(const struct nlmsghdr *message, void *arg)
{
    struct netlink *nl = arg;
    struct nl_stats stats;
    if (!nl_stats_parse(message, &stats))
        return;
    struct nl_port *port = nl_links_find(&nl->links, stats.ifindex);
    if (!port || !port->info) {
        nl->unknown = stats.ifindex != nl->passed_over ? stats.ifindex : nl->unknown;
        return;
    }
    /* An interrupted dump may tell of a link twice. */
    if (port->seen == nl->tick || nl->sample->set[TABLE_PORTS].n == nl->ports_alloc)
        return;
    port->seen = nl->tick;
    nl->ports[nl->sample->set[TABLE_PORTS].n] = port;
    fill_row(sample_row(nl->sample, TABLE_PORTS, port->info), &stats, &port->link);
}

static void make_room(struct netlink *nl)
{
    if (nl->ports_alloc < nl->links.n) {
        nl->ports_alloc = nl->links.n;
        nl->ports = xrealloc(nl->ports, nl->ports_alloc, sizeof(struct nl_port *));
    }
    sample_reserve(nl->sample, TABLE_PORTS, nl->links.n);
}

static int read_once(struct netlink *nl, const struct collect_call *call)
{
    sample_unref(nl->sample);
    nl->sample = sample_new(nl->inventory);
    nl->tick++;
    nl->unknown = 0;
    make_room(nl);
    sample_begin(nl->sample);
    int rc = nl_chan_ask(&nl->chan, nl->request, take_stats, nl, call);
    sample_end(nl->sample);
    return rc;
}

static bool was_stopped(struct netlink *nl)
{
    int64_t took_ns = nl->sample->t1_ns - nl->sample->t0_ns, usual_ns = nl->usual_ns;
    bool stopped = usual_ns && took_ns > STOPPED_NS && took_ns > 4 * usual_ns;
    nl->usual_ns = usual_ns ? (7 * usual_ns + took_ns) / 8 : took_ns;
    return stopped;
}

static int read_once_or_by_getlink(struct netlink *nl, const struct collect_call *call)
{
    int rc = read_once(nl, call);
    bool has_no_getstats = !nl->by_getlink && (rc == -EOPNOTSUPP || rc == -EINVAL);
    if (has_no_getstats) {
        use_getlink(nl);
        rc = read_once(nl, call);
    }
    /* A read that the scheduler stopped in its middle stands for no moment: once more, and that one counts.
     */
    if (rc >= 0 && was_stopped(nl))
        rc = read_once(nl, call);
    return rc;
}

/*
 * Reads until a dump was whole. Counters of a link that the table lacks mean that it was made since the
 * notifications were read: they are read again, and if they tell nothing of it, all links are dumped; a link
 * that is unknown even then is passed over from now on. Where links change all the time no dump is ever
 * whole: then the last one is used, for what it says is true.
 */
static int read_counters(struct netlink *nl, const struct collect_call *call)
{
    for (int i = 1;; i++) {
        int rc = read_once_or_by_getlink(nl, call);
        if (rc < 0 && rc != NL_CHAN_AGAIN)
            return rc;
        if (i == READ_TRIES) {
            nl->passed_over = nl->unknown;
            return 0;
        }
        if (rc == 0 && !nl->unknown)
            return 0;
        nl->links.behind |= nl->unknown && i > 1;
        rc = update_inventory(nl, call);
        if (rc < 0)
            return rc;
    }
}

static struct ports_row *row_at(struct sample *sample, size_t i)
{
    return (struct ports_row *)sample_row_at(sample, TABLE_PORTS, i);
}

static void fill_sums(struct netlink *nl)
{
    size_t n = nl->sample->set[TABLE_PORTS].n;
    for (size_t i = 0; i < n; i++) {
        const struct ports_row *row = row_at(nl->sample, i);
        netlink_sums_add(nl->ports[i], row->rx_packets, row->tx_packets, nl->tick);
    }
    for (size_t i = 0; i < n; i++) {
        if (!netlink_sums_has(nl->ports[i]))
            continue;
        struct ports_row *row = row_at(nl->sample, i);
        row_set(row, ports_rx_packets, nl->ports[i]->sums.in);
        row_set(row, ports_tx_packets, nl->ports[i]->sums.out);
    }
}

static void tell(struct netlink *nl, struct collect_call *call)
{
    char where[96];
    size_t rows = nl->sample->set[TABLE_PORTS].n;
    if (rows == nl->told_rows)
        return;
    nl->told_rows = rows;
    snprintf(call->detail, sizeof(call->detail), "%s; %s; %zu link%s",
             nl_netns_text(&nl->ns, where, sizeof(where)), nl->by_getlink ? "RTM_GETLINK" : "RTM_GETSTATS",
             rows, rows == 1 ? "" : "s");
}

static enum collect_result netlink_collect(void *state, struct collect_call *call, struct sample **sample)
{
    struct netlink *nl = state;
    if (!nl_netns_alive(&nl->ns))
        return nl_netns_gone(&nl->ns, call);
    int rc = update_inventory(nl, call);
    if (rc < 0)
        return nl_chan_fail(call, rc, "RTM_GETLINK");
    rc = read_counters(nl, call);
    if (rc < 0) {
        sample_unref(nl->sample);
        nl->sample = NULL;
        return nl_chan_fail(call, rc, nl->by_getlink ? "RTM_GETLINK" : "RTM_GETSTATS");
    }
    fill_sums(nl);
    tell(nl, call);
    *sample = nl->sample;
    nl->sample = NULL;
    return COLLECT_OK;
}

const struct collector netlink_collector = {
    .source = "netlink",
    .feed = "netlink",
    .help = "links of a network namespace and their counters, by RTM_GETSTATS",
    .per = COLLECT_PER_NETNS,
    .open = netlink_open,
    .collect = netlink_collect,
    .close = netlink_close,
};
