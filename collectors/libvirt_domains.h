/* SPDX-License-Identifier: MIT */
/*
 * The active domains of one connection as they are known now: name, state, XML of the running guest, and what
 * its persistent configuration says for the next start. The libvirt collector calls it at each tick; it asks
 * the daemon only for what an event named, and for a little now and then, because some changes have no event
 * (vCPUs plugged in, a link set down). It must not know of rows.
 */
#ifndef VNETTOP_LIBVIRT_DOMAINS_H
#define VNETTOP_LIBVIRT_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/domain_xml.h"
#include "collectors/libvirt_conn.h"

#define LIBVIRT_DOMAINS_MAX 10000

struct libvirt_domain {
    libvirt_uuid uuid;
    virDomainPtr handle; /* NULL: known by an event alone so far */
    char name[256];
    int state; /* virDomainState */
    bool has_xml, has_next;
    struct domain_xml xml;  /* live; valid while has_xml */
    struct domain_xml next; /* persistent; valid while has_next */
    char problem[160];      /* why it has no XML, or an old one; empty = none */

    bool changed; /* an event named it: to be read at once */
    bool listed;  /* in the list that is being read */
    uint64_t xml_hash, next_hash;
    uint64_t vcpus, memory_kib; /* as virDomainGetInfo said last */
    int64_t checked_ns;         /* CLOCK_MONOTONIC of that */
    int64_t read_ns;            /* and of the newest XML */
};

/* How often is asked without an event, ns. */
struct libvirt_tempo {
    int64_t list_ns;  /* which domains are there */
    int64_t check_ns; /* a domain's state, vCPUs and memory */
    int64_t read_ns;  /* its XML */
};

struct libvirt_domains {
    struct libvirt_domain **list; /* by UUID */
    size_t n;
    struct libvirt_tempo tempo;
    int64_t listed_ns; /* 0 = not yet */
    size_t turn;       /* whose turn it is to be checked, */
    int64_t turn_ns;   /* and when the last one had it */
    bool changed;      /* more than a state has changed; the caller sets it back */
};

void libvirt_domains_init(struct libvirt_domains *domains, bool has_events);
void libvirt_domains_clear(struct libvirt_domains *domains);

/* Brings the list up to date. What does not fit before until_ns waits for the next call. false: the
 * connection is lost or refuses the list, with err. */
bool libvirt_domains_refresh(struct libvirt_domains *domains, struct libvirt_conn *conn, int64_t until_ns,
                             char *err, size_t errlen);

/* Domains that have not been read yet. */
size_t libvirt_domains_waiting(const struct libvirt_domains *domains);

#endif
