/* SPDX-License-Identifier: MIT */
/*
 * The table of links (see nl_links.h). Dump and notifications come by two sockets, so a notification may be
 * older than a dump; the last one of a link is always the newest, hence the table is right once all are taken
 * in.
 */
#include "collectors/nl_links.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define RECEIVE_BYTES (4 * 1024 * 1024)
#define DUMP_TRIES    3
#define LEAST_BUCKETS 64

static struct nl_msg *dump_request(void)
{
    /* Counters are another request's: they make up a third of each message. */
    struct ifinfomsg head = {.ifi_family = AF_UNSPEC};
    struct nl_msg *request = nl_chan_request(RTM_GETLINK, NLM_F_DUMP, &head, sizeof(head));
    nla_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    return request;
}

enum collect_result nl_links_open(struct nl_links *links, int receive_bytes, struct collect_call *call)
{
    *links = (struct nl_links){.behind = true, .changed = true, .n_buckets = LEAST_BUCKETS};
    enum collect_result result =
        nl_chan_subscribe(&links->events, RTNLGRP_LINK, receive_bytes ? receive_bytes : RECEIVE_BYTES, call);
    if (result != COLLECT_OK)
        return result;
    links->buckets = xrealloc(NULL, links->n_buckets, sizeof(*links->buckets));
    memset(links->buckets, 0, links->n_buckets * sizeof(*links->buckets));
    links->request = dump_request();
    return COLLECT_OK;
}

static void free_chain(struct nl_port *port)
{
    while (port) {
        struct nl_port *next = port->next;
        free(port);
        port = next;
    }
}

void nl_links_close(struct nl_links *links)
{
    nl_chan_close(&links->events);
    if (links->request)
        nlmsg_free(links->request);
    for (size_t i = 0; links->buckets && i < links->n_buckets; i++)
        free_chain(links->buckets[i]);
    free(links->buckets);
    *links = (struct nl_links){.events.fd = -1};
}

/* The place where a link hangs, or would. */
static struct nl_port **place_of(const struct nl_links *links, uint32_t ifindex)
{
    struct nl_port **place = &links->buckets[ifindex & (links->n_buckets - 1)];
    while (*place && (*place)->link.ifindex != ifindex)
        place = &(*place)->next;
    return place;
}

struct nl_port *nl_links_find(const struct nl_links *links, uint32_t ifindex)
{
    return *place_of(links, ifindex);
}

struct nl_port *nl_links_next(const struct nl_links *links, const struct nl_port *after)
{
    if (after && after->next)
        return after->next;
    size_t i = after ? (after->link.ifindex & (links->n_buckets - 1)) + 1 : 0;
    while (i < links->n_buckets && !links->buckets[i])
        i++;
    return i < links->n_buckets ? links->buckets[i] : NULL;
}

static void rehash(struct nl_links *links)
{
    size_t n_old = links->n_buckets;
    struct nl_port **old = links->buckets;
    links->n_buckets *= 2;
    links->buckets = xrealloc(NULL, links->n_buckets, sizeof(*links->buckets));
    memset(links->buckets, 0, links->n_buckets * sizeof(*links->buckets));
    for (size_t i = 0; i < n_old; i++) {
        for (struct nl_port *port = old[i], *next; port; port = next) {
            next = port->next;
            struct nl_port **place = place_of(links, port->link.ifindex);
            port->next = NULL;
            *place = port;
        }
    }
    free(old);
}

static void remove_at(struct nl_links *links, struct nl_port **place)
{
    struct nl_port *port = *place;
    *place = port->next;
    free(port);
    links->n--;
    links->changed = true;
}

static void put(struct nl_links *links, const struct nl_link *link)
{
    struct nl_port **place = place_of(links, link->ifindex);
    if (!*place) {
        if (links->n == links->n_buckets) {
            rehash(links);
            place = place_of(links, link->ifindex);
        }
        *place = xzalloc(sizeof(**place));
        links->n++;
        links->changed = true;
    } else if (!nl_link_same(&(*place)->link, link)) {
        (*place)->facts.asked = false;
        links->changed = true;
    }
    memcpy(&(*place)->link, link, sizeof(*link));
    (*place)->generation = links->generation;
}

void nl_links_apply(struct nl_links *links, const struct nlmsghdr *message)
{
    struct nl_link link;
    if (!nl_link_parse(message, &link))
        return;
    if (message->nlmsg_type == RTM_NEWLINK) {
        put(links, &link);
        return;
    }
    struct nl_port **place = place_of(links, link.ifindex);
    if (*place)
        remove_at(links, place);
}

static void take_message(const struct nlmsghdr *message, void *arg)
{
    nl_links_apply(arg, message);
}

/* Takes out what a whole dump did not tell of. */
static void prune(struct nl_links *links)
{
    for (size_t i = 0; i < links->n_buckets; i++) {
        struct nl_port **place = &links->buckets[i];
        while (*place) {
            if ((*place)->generation == links->generation)
                place = &(*place)->next;
            else
                remove_at(links, place);
        }
    }
}

/* Links that change all the time may never let a dump be whole: then what came is used, and the next update
 * dumps again. */
static int dump(struct nl_links *links, struct nl_chan *chan, const struct collect_call *call)
{
    int rc = NL_CHAN_AGAIN;
    for (int i = 0; i < DUMP_TRIES && rc == NL_CHAN_AGAIN; i++) {
        links->generation++;
        rc = nl_chan_ask(chan, links->request, take_message, links, call);
    }
    if (rc != 0)
        return rc == NL_CHAN_AGAIN ? 0 : rc;
    prune(links);
    links->behind = false;
    return 0;
}

int nl_links_update(struct nl_links *links, struct nl_chan *chan, const struct collect_call *call)
{
    int rc = nl_chan_drain(&links->events, take_message, links);
    if (rc == -ENOBUFS)
        links->behind = true;
    else if (rc < 0)
        return rc;
    return links->behind ? dump(links, chan, call) : 0;
}

void nl_links_join(struct nl_links *links)
{
    for (struct nl_port *port = nl_links_next(links, NULL); port; port = nl_links_next(links, port))
        port->members = 0;
    for (struct nl_port *port = nl_links_next(links, NULL); port; port = nl_links_next(links, port)) {
        port->master = port->link.master ? nl_links_find(links, port->link.master) : NULL;
        if (port->master)
            port->master->members++;
    }
}
