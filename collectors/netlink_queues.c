/* SPDX-License-Identifier: MIT */
/*
 * Source `netlink`, its slow part: queueing disciplines of all ports, sizes of the bridges' forwarding
 * tables, and the virtual functions of NICs. Its rows have the fast part's keys, so they stand in the same
 * rows of a frame. It keeps a table of links of its own, since it runs in a thread of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/netlink.h"
#include "collectors/netlink_qdiscs.h"
#include "collectors/nl_fdb.h"
#include "collectors/nl_info.h"
#include "collectors/nl_links.h"
#include "collectors/nl_netns.h"
#include "collectors/nl_vf.h"
#include "src/memory.h"

#define TEMPO_MS   2000
#define DUMP_TRIES 3
#define VFS_MAX    4096 /* of all NICs; PCI allows one 65535, hardware has up to 256 */
/* Counting a forwarding table makes the kernel walk it once a port: it may take this part of the time at
 * most. */
#define FDB_SHARE  500

struct vf_entry {
    uint32_t pf; /* ifindex of its NIC */
    int64_t t_ns;
    struct nl_vf vf;
    const struct ports_info *info;
};

struct vf_list {
    struct vf_entry *entries;
    size_t n, alloc;
};

struct queues {
    struct nl_netns ns;
    struct nl_chan chan;
    struct nl_links links;
    struct nl_msg *request; /* for qdiscs */
    struct netlink_qdiscs qdiscs;
    int64_t qdiscs_t_ns;
    struct vf_list vfs;
    struct inventory *inventory;
    int64_t fdb_due_ns;
};

static struct nl_msg *qdisc_request(void)
{
    struct tcmsg head = {.tcm_family = AF_UNSPEC};
    struct nl_msg *request = nl_chan_request(RTM_GETQDISC, NLM_F_DUMP, &head, sizeof(head));
    /* The default leaves of classful disciplines too. */
    nla_put_flag(request, TCA_DUMP_INVISIBLE);
    return request;
}

static enum collect_result open_sockets(void *arg, struct collect_call *call)
{
    struct queues *queues = arg;
    enum collect_result result = nl_chan_open(&queues->chan, call);
    if (result == COLLECT_OK)
        result = nl_links_open(&queues->links, 0, call);
    return result;
}

static void queues_close(void *state)
{
    struct queues *queues = state;
    nl_links_close(&queues->links);
    nl_chan_close(&queues->chan);
    if (queues->request)
        nlmsg_free(queues->request);
    netlink_qdiscs_free(&queues->qdiscs);
    inventory_unref(queues->inventory);
    free(queues->vfs.entries);
    free(queues);
}

static enum collect_result queues_open(const struct collect_config *config, void **state,
                                       struct collect_call *call)
{
    struct queues *queues = xzalloc(sizeof(*queues));
    queues->chan.fd = queues->links.events.fd = -1;
    enum collect_result result = nl_netns_open(config->netns, &queues->ns, open_sockets, queues, call);
    if (result != COLLECT_OK) {
        queues_close(queues);
        return result;
    }
    queues->request = qdisc_request();
    *state = queues;
    return COLLECT_OK;
}

/* ---- queueing disciplines ---- */

static void take_qdisc(const struct nlmsghdr *message, void *arg)
{
    struct queues *queues = arg;
    struct nl_qdisc qdisc;
    if (nl_qdisc_parse(message, &qdisc))
        netlink_qdiscs_add(&queues->qdiscs, &qdisc);
}

static int read_qdiscs(struct queues *queues, const struct collect_call *call)
{
    int rc = NL_CHAN_AGAIN;
    int64_t t0_ns = clock_mono_ns();
    netlink_qdiscs_begin(&queues->qdiscs);
    for (int i = 0; i < DUMP_TRIES && rc == NL_CHAN_AGAIN; i++) {
        queues->qdiscs.n = 0;
        rc = nl_chan_ask(&queues->chan, queues->request, take_qdisc, queues, call);
    }
    netlink_qdiscs_end(&queues->qdiscs);
    queues->qdiscs_t_ns = t0_ns + (clock_mono_ns() - t0_ns) / 2;
    return rc == NL_CHAN_AGAIN ? 0 : rc;
}

/* ---- forwarding tables ---- */

struct fdb_count {
    uint32_t bridge, entries;
};

static void count_entry(const struct nlmsghdr *message, void *arg)
{
    struct fdb_count *count = arg;
    count->entries += nl_fdb_bridge(message) == count->bridge;
}

static int read_fdb(struct queues *queues, struct nl_port *bridge, const struct collect_call *call)
{
    struct fdb_count count = {.bridge = bridge->link.ifindex};
    /* The form that every kernel takes: a link's header, and the bridge as its master. */
    struct ifinfomsg head = {.ifi_family = AF_BRIDGE};
    struct nl_msg *request = nl_chan_request(RTM_GETNEIGH, NLM_F_DUMP, &head, sizeof(head));
    nla_put_u32(request, IFLA_MASTER, bridge->link.ifindex);
    int rc = nl_chan_ask(&queues->chan, request, count_entry, &count, call);
    nlmsg_free(request);
    /* The bridge may be gone meanwhile; a table that changes while it is read is told of as it is. */
    bridge->slow.has_fdb = rc == 0 || rc == NL_CHAN_AGAIN;
    bridge->slow.fdb_entries = count.entries;
    return rc == -ENODEV || rc == -EINVAL || rc == -EOPNOTSUPP || rc == NL_CHAN_AGAIN ? 0 : rc;
}

static int read_fdbs(struct queues *queues, const struct collect_call *call)
{
    int64_t t0_ns = clock_mono_ns();
    int rc = 0;
    if (t0_ns < queues->fdb_due_ns)
        return 0;
    struct nl_links *links = &queues->links;
    for (struct nl_port *port = nl_links_next(links, NULL); port && rc == 0;
         port = nl_links_next(links, port))
        if (strcmp(port->link.type, "bridge") == 0)
            rc = read_fdb(queues, port, call);
    int64_t t1_ns = clock_mono_ns();
    queues->fdb_due_ns = t1_ns + (t1_ns - t0_ns) * FDB_SHARE;
    return rc;
}

/* ---- virtual functions ---- */

struct vf_read {
    struct vf_list *list;
    struct nl_port *pf;
    int64_t t_ns;
};

static void take_vf(const struct nl_vf *vf, void *arg)
{
    const struct vf_read *read = arg;
    struct vf_list *list = read->list;
    if (list->n == VFS_MAX)
        return;
    if (list->n == list->alloc) {
        list->alloc = list->alloc ? list->alloc * 2 : 16;
        list->entries = xrealloc(list->entries, list->alloc, sizeof(*list->entries));
    }
    list->entries[list->n++] = (struct vf_entry){.pf = read->pf->link.ifindex, .t_ns = read->t_ns, .vf = *vf};
}

static void take_pf(const struct nlmsghdr *message, void *arg)
{
    const struct vf_read *read = arg;
    struct nl_link link;
    if (!nl_link_parse(message, &link) || link.ifindex != read->pf->link.ifindex)
        return;
    read->pf->slow.vfs = link.vfs;
    nl_vf_parse(message, take_vf, arg);
}

/* Statistics are not skipped here: since 6.5 the functions' would be, too. */
static int read_pf(struct queues *queues, struct nl_port *port, struct vf_list *list,
                   const struct collect_call *call)
{
    struct vf_read read = {.list = list, .pf = port, .t_ns = clock_mono_ns()};
    struct ifinfomsg head = {.ifi_family = AF_UNSPEC, .ifi_index = (int)port->link.ifindex};
    struct nl_msg *request = nl_chan_request(RTM_GETLINK, 0, &head, sizeof(head));
    nla_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_VF);
    int rc = nl_chan_ask(&queues->chan, request, take_pf, &read, call);
    nlmsg_free(request);
    return rc == -ENODEV || rc == NL_CHAN_AGAIN ? 0 : rc;
}

/* Only what is no virtual device can have functions: the others are not asked, for the answer is dear. */
static bool may_be_pf(const struct nl_link *link)
{
    return link->type[0] == '\0' && !(link->flags & IFF_LOOPBACK);
}

static bool same_functions(const struct vf_list *a, const struct vf_list *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = a->entries[i].pf == b->entries[i].pf && a->entries[i].vf.vf == b->entries[i].vf.vf &&
               memcmp(a->entries[i].vf.mac, b->entries[i].vf.mac, sizeof(a->entries[i].vf.mac)) == 0;
    return same;
}

static int read_vfs(struct queues *queues, const struct collect_call *call)
{
    struct nl_links *links = &queues->links;
    struct vf_list list = {0};
    int rc = 0;
    for (struct nl_port *port = nl_links_next(links, NULL); port && rc == 0;
         port = nl_links_next(links, port)) {
        uint32_t before = port->slow.vfs;
        if (may_be_pf(&port->link))
            rc = read_pf(queues, port, &list, call);
        links->changed |= before != port->slow.vfs;
    }
    links->changed |= !same_functions(&list, &queues->vfs);
    for (size_t i = 0; i < list.n && !links->changed; i++)
        list.entries[i].info = queues->vfs.entries[i].info;
    free(queues->vfs.entries);
    queues->vfs = list;
    return rc;
}

/* ---- inventory and sample ---- */

static const struct ports_info *vf_info(struct queues *queues, const struct vf_entry *entry)
{
    struct inventory *inventory = queues->inventory;
    const struct nl_port *pf = nl_links_find(&queues->links, entry->pf);
    struct ports_info *info = inventory_info(inventory, TABLE_PORTS, NL_PORT_KEY ":vf%" PRIu32,
                                             queues->ns.inode, entry->pf, entry->vf.vf);
    char mac[NL_LINK_MAC_TEXT];
    info_set(info, netns, inventory_text(inventory, queues->ns.name));
    info_set(info, name, inventory_textf(inventory, "%s/vf%" PRIu32, pf->link.name, entry->vf.vf));
    info_set(info, kind, "vf");
    info_set(info, link, inventory_text(inventory, pf->link.name));
    if (entry->vf.has_mac && nl_link_format_mac(entry->vf.mac, sizeof(entry->vf.mac), mac, sizeof(mac)))
        info_set(info, mac, inventory_text(inventory, mac));
    return info;
}

static void build_inventory(struct queues *queues)
{
    struct nl_links *links = &queues->links;
    inventory_unref(queues->inventory);
    queues->inventory = inventory_new();
    for (struct nl_port *port = nl_links_next(links, NULL); port; port = nl_links_next(links, port)) {
        struct ports_info *info = nl_info_brief(queues->inventory, &queues->ns, port);
        if (may_be_pf(&port->link))
            info_set(info, vfs, port->slow.vfs);
        port->info = info;
    }
    for (size_t i = 0; i < queues->vfs.n; i++)
        queues->vfs.entries[i].info = vf_info(queues, &queues->vfs.entries[i]);
    links->changed = false;
}

static struct ports_row *port_row(struct queues *queues, struct sample *sample, struct nl_port *port)
{
    struct ports_row *row = sample_row(sample, TABLE_PORTS, port->info);
    row->head.t_ns = queues->qdiscs_t_ns;
    if (port->slow.has_fdb)
        row_set(row, fdb_entries, port->slow.fdb_entries);
    return row;
}

static void add_qdiscs(struct queues *queues, struct sample *sample)
{
    struct qdisc_sum sum;
    for (size_t at = 0; netlink_qdiscs_next(&queues->qdiscs, &at, &sum);) {
        struct nl_port *port = nl_links_find(&queues->links, sum.ifindex);
        if (!port)
            continue;
        struct ports_row *row = port_row(queues, sample, port);
        port->seen = (uint64_t)queues->qdiscs_t_ns;
        row_set(row, qdisc_drops, sum.number[QDISC_DROPS]);
        row_set(row, qdisc_overlimits, sum.number[QDISC_OVERLIMITS]);
        row_set(row, qdisc_requeues, sum.number[QDISC_REQUEUES]);
        row_set(row, qdisc_backlog_bytes, sum.number[QDISC_BACKLOG]);
        row_set(row, qdisc_qlen, sum.number[QDISC_QLEN]);
    }
}

static void add_others(struct queues *queues, struct sample *sample)
{
    struct nl_links *links = &queues->links;
    for (struct nl_port *port = nl_links_next(links, NULL); port; port = nl_links_next(links, port))
        if (port->seen != (uint64_t)queues->qdiscs_t_ns && (port->slow.has_fdb || may_be_pf(&port->link)))
            port_row(queues, sample, port);
}

static void add_vfs(struct queues *queues, struct sample *sample)
{
    for (size_t i = 0; i < queues->vfs.n; i++) {
        const struct vf_entry *entry = &queues->vfs.entries[i];
        struct ports_row *row = sample_row(sample, TABLE_PORTS, entry->info);
        row->head.t_ns = entry->t_ns;
        if (entry->vf.has_counters) {
            row_set(row, rx_packets, entry->vf.rx_packets);
            row_set(row, tx_packets, entry->vf.tx_packets);
            row_set(row, rx_bytes, entry->vf.rx_bytes);
            row_set(row, tx_bytes, entry->vf.tx_bytes);
            row_set(row, multicast, entry->vf.multicast);
        }
        if (entry->vf.has_drops) {
            row_set(row, rx_dropped, entry->vf.rx_dropped);
            row_set(row, tx_dropped, entry->vf.tx_dropped);
        }
    }
}

static struct sample *make_sample(struct queues *queues, const struct sample *stamps)
{
    struct sample *sample = sample_new(queues->inventory);
    sample->t0_ns = stamps->t0_ns;
    sample->t1_ns = stamps->t1_ns;
    sample->wall_ns = stamps->wall_ns;
    add_qdiscs(queues, sample);
    add_others(queues, sample);
    add_vfs(queues, sample);
    return sample;
}

/* ---- collecting ---- */

static int read_all(struct queues *queues, struct collect_call *call, const char **what)
{
    *what = "RTM_GETQDISC";
    int rc = read_qdiscs(queues, call);
    if (rc == 0) {
        *what = "RTM_GETLINK for virtual functions";
        rc = read_vfs(queues, call);
    }
    if (rc == 0) {
        *what = "RTM_GETNEIGH for forwarding tables";
        rc = read_fdbs(queues, call);
    }
    return rc;
}

static void tell(const struct queues *queues, struct collect_call *call)
{
    char where[96];
    snprintf(call->detail, sizeof(call->detail), "%s; %zu queueing discipline%s, %zu virtual function%s",
             nl_netns_text(&queues->ns, where, sizeof(where)), queues->qdiscs.n,
             queues->qdiscs.n == 1 ? "" : "s", queues->vfs.n, queues->vfs.n == 1 ? "" : "s");
}

static enum collect_result queues_collect(void *state, struct collect_call *call, struct sample **sample)
{
    struct queues *queues = state;
    const char *what = "RTM_GETLINK";
    struct sample stamps;
    if (!nl_netns_alive(&queues->ns))
        return nl_netns_gone(&queues->ns, call);
    int rc = nl_links_update(&queues->links, &queues->chan, call);
    sample_begin(&stamps);
    if (rc == 0)
        rc = read_all(queues, call, &what);
    sample_end(&stamps);
    if (rc < 0)
        return nl_chan_fail(call, rc, what);
    if (queues->links.changed)
        build_inventory(queues);
    *sample = make_sample(queues, &stamps);
    tell(queues, call);
    return COLLECT_OK;
}

const struct collector netlink_queues_collector = {
    .source = "netlink",
    .feed = "netlink-queues",
    .help = "queueing disciplines, sizes of forwarding tables, virtual functions of NICs",
    .tempo_ms = TEMPO_MS,
    .per = COLLECT_PER_NETNS,
    .open = queues_open,
    .collect = queues_collect,
    .close = queues_close,
};
