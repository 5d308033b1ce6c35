/* SPDX-License-Identifier: MIT */
/*
 * Active domains of a connection (see libvirt_domains.h). None of the calls made here takes a job of the
 * QEMU monitor, so a guest whose monitor hangs holds up nothing. A domain may go between any two of them:
 * that is no error, it is left out.
 */
#include "collectors/libvirt_domains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/libvirt_api.h"
#include "src/clock.h"
#include "src/memory.h"
#include "src/rows.h"

#define NS_PER_S INT64_C(1000000000)

/* A call costs libvirtd 0.1 to 0.3 ms of CPU: so often, 100 domains at rest cost it 0.04 % of one. */
static const struct libvirt_tempo with_events = {60 * NS_PER_S, 60 * NS_PER_S, 300 * NS_PER_S};
static const struct libvirt_tempo without_events = {5 * NS_PER_S, 5 * NS_PER_S, 30 * NS_PER_S};

void libvirt_domains_init(struct libvirt_domains *domains, bool has_events)
{
    *domains = (struct libvirt_domains){.tempo = has_events ? with_events : without_events};
}

/* ---- the list ---- */

static void domain_free(struct libvirt_domain *domain)
{
    if (domain->handle)
        vir.DomainFree(domain->handle);
    if (domain->has_xml)
        domain_xml_free(&domain->xml);
    if (domain->has_next)
        domain_xml_free(&domain->next);
    free(domain);
}

void libvirt_domains_clear(struct libvirt_domains *domains)
{
    for (size_t i = 0; i < domains->n; i++)
        domain_free(domains->list[i]);
    free(domains->list);
    *domains = (struct libvirt_domains){0};
}

/* Where the UUID is, or would be. */
static size_t place_of(const struct libvirt_domains *domains, const char *uuid)
{
    size_t low = 0, high = domains->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(domains->list[middle]->uuid, uuid) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* NULL when there are too many. */
static struct libvirt_domain *find_or_add(struct libvirt_domains *domains, const char *uuid)
{
    size_t at = place_of(domains, uuid);
    if (at < domains->n && strcmp(domains->list[at]->uuid, uuid) == 0)
        return domains->list[at];
    if (domains->n == LIBVIRT_DOMAINS_MAX)
        return NULL;
    struct libvirt_domain *domain = xzalloc(sizeof(*domain));
    snprintf(domain->uuid, sizeof(domain->uuid), "%s", uuid);
    domain->changed = true;
    domains->list = xrealloc(domains->list, domains->n + 1, sizeof(struct libvirt_domain *));
    memmove(domains->list + at + 1, domains->list + at, (domains->n - at) * sizeof(struct libvirt_domain *));
    domains->list[at] = domain;
    domains->n++;
    return domain;
}

static void remove_at(struct libvirt_domains *domains, size_t at)
{
    domains->changed = domains->changed || domains->list[at]->handle;
    domain_free(domains->list[at]);
    domains->n--;
    memmove(domains->list + at, domains->list + at + 1, (domains->n - at) * sizeof(struct libvirt_domain *));
}

static void set_handle(struct libvirt_domains *domains, struct libvirt_domain *domain, virDomainPtr handle)
{
    if (domain->handle)
        vir.DomainFree(domain->handle);
    else
        domains->changed = true;
    domain->handle = handle;
    const char *name = handle ? vir.DomainGetName(handle) : NULL;
    if (!*domain->name)
        snprintf(domain->name, sizeof(domain->name), "%s", name ? name : "");
}

static void take_listed(struct libvirt_domains *domains, virDomainPtr handle)
{
    libvirt_uuid uuid;
    struct libvirt_domain *domain =
        vir.DomainGetUUIDString(handle, uuid) < 0 ? NULL : find_or_add(domains, uuid);
    if (!domain) {
        vir.DomainFree(handle);
        return;
    }
    set_handle(domains, domain, handle);
    domain->listed = true;
}

static bool read_list(struct libvirt_domains *domains, struct libvirt_conn *conn, int64_t now_ns)
{
    virDomainPtr *handles;
    int n = vir.ConnectListAllDomains(libvirt_conn_get(conn), &handles, VIR_CONNECT_LIST_DOMAINS_ACTIVE);
    if (n < 0)
        return false;
    for (size_t i = 0; i < domains->n; i++)
        domains->list[i]->listed = false;
    for (int i = 0; i < n; i++)
        take_listed(domains, handles[i]);
    free(handles);
    for (size_t i = domains->n; i-- > 0;)
        if (!domains->list[i]->listed)
            remove_at(domains, i);
    domains->listed_ns = now_ns;
    return true;
}

static void take_changes(struct libvirt_domains *domains, struct libvirt_conn *conn)
{
    struct libvirt_changes changes = libvirt_conn_take_changes(conn);
    for (size_t i = 0; i < changes.n; i++) {
        struct libvirt_domain *domain = find_or_add(domains, changes.uuids[i]);
        if (domain)
            domain->changed = true;
    }
    free(changes.uuids);
    if (!changes.all)
        return;
    domains->listed_ns = 0;
    for (size_t i = 0; i < domains->n; i++)
        domains->list[i]->changed = true;
}

/* ---- one domain: each function tells whether it is still there ---- */

static void set_problem(struct libvirt_domains *domains, struct libvirt_domain *domain, const char *text)
{
    if (strncmp(domain->problem, text, sizeof(domain->problem) - 1) == 0)
        return;
    snprintf(domain->problem, sizeof(domain->problem), "%s", text);
    domains->changed = true;
}

/* After a call that failed: it has gone, or it cannot be read and keeps what is known of it. */
static bool is_there_still(struct libvirt_domains *domains, struct libvirt_domain *domain)
{
    const virError *error = vir.GetLastError();
    if (error && error->code == VIR_ERR_NO_DOMAIN)
        return false;
    set_problem(domains, domain, libvirt_conn_error());
    return true;
}

/* State, vCPUs and memory; when those differ, the XML does too. */
static bool check(struct libvirt_domains *domains, struct libvirt_domain *domain, int64_t now_ns)
{
    virDomainInfo info;
    domain->checked_ns = now_ns;
    if (vir.DomainGetInfo(domain->handle, &info) < 0)
        return is_there_still(domains, domain);
    if (info.state == VIR_DOMAIN_SHUTOFF)
        return false;
    domain->state = info.state;
    if (domain->vcpus != info.nrVirtCpu || domain->memory_kib != info.maxMem)
        domain->changed = true;
    domain->vcpus = info.nrVirtCpu;
    domain->memory_kib = info.maxMem;
    return true;
}

/* Parses text into *xml unless it is what was parsed before. */
static bool parse(struct libvirt_domains *domains, const char *text, uint64_t *hash, bool *has,
                  struct domain_xml *xml, char *err, size_t errlen)
{
    uint64_t now = hash_text(text);
    if (*has && now == *hash)
        return true;
    if (*has)
        domain_xml_free(xml);
    *has = domain_xml_parse(text, strlen(text), xml, err, errlen) == 0;
    *hash = now;
    domains->changed = true;
    return *has;
}

static bool read_live(struct libvirt_domains *domains, struct libvirt_domain *domain)
{
    char err[128] = "";
    char *text = vir.DomainGetXMLDesc(domain->handle, 0);
    if (!text)
        return is_there_still(domains, domain);
    bool parsed = parse(domains, text, &domain->xml_hash, &domain->has_xml, &domain->xml, err, sizeof(err));
    free(text);
    set_problem(domains, domain, parsed ? "" : err);
    if (parsed && *domain->xml.name) /* the handle's name is from before a rename */
        snprintf(domain->name, sizeof(domain->name), "%s", domain->xml.name);
    return true;
}

/* A domain without persistent configuration answers with the live one: no pin differs then. */
static void read_next(struct libvirt_domains *domains, struct libvirt_domain *domain)
{
    char err[128];
    char *text = vir.DomainGetXMLDesc(domain->handle, VIR_DOMAIN_XML_INACTIVE);
    if (text)
        parse(domains, text, &domain->next_hash, &domain->has_next, &domain->next, err, sizeof(err));
    free(text);
}

static bool read_domain(struct libvirt_domains *domains, struct libvirt_domain *domain,
                        struct libvirt_conn *conn)
{
    int64_t now_ns = clock_mono_ns();
    if (!domain->handle)
        set_handle(domains, domain, vir.DomainLookupByUUIDString(libvirt_conn_get(conn), domain->uuid));
    if (!domain->handle || !check(domains, domain, now_ns) || !read_live(domains, domain))
        return false;
    read_next(domains, domain);
    domain->read_ns = now_ns;
    domain->changed = false;
    return true;
}

/* ---- all of them ---- */

static bool may_go_on(const struct libvirt_conn *conn, int64_t until_ns)
{
    return clock_mono_ns() < until_ns && !libvirt_conn_lost(conn);
}

/* Looks at one without an event's word; its XML is read with the changed ones. */
static bool check_if_due(struct libvirt_domains *domains, struct libvirt_domain *domain, int64_t now_ns)
{
    if (domain->changed)
        return true;
    domain->changed = now_ns - domain->read_ns >= domains->tempo.read_ns;
    return now_ns - domain->checked_ns < domains->tempo.check_ns || check(domains, domain, now_ns);
}

/* The turn goes round twice in a check's tempo, a few at each call, so that a thousand make no peak. */
static void check_some(struct libvirt_domains *domains, struct libvirt_conn *conn, int64_t until_ns)
{
    int64_t now_ns = clock_mono_ns(), half_ns = domains->tempo.check_ns / 2;
    int64_t passed_ns = now_ns - domains->turn_ns;
    size_t quota = passed_ns >= half_ns ? domains->n : 1 + domains->n * (size_t)passed_ns / (size_t)half_ns;
    domains->turn_ns = now_ns;
    for (; quota > 0 && domains->n > 0 && may_go_on(conn, until_ns); quota--) {
        size_t at = domains->turn < domains->n ? domains->turn : 0;
        domains->turn = at + 1;
        if (!check_if_due(domains, domains->list[at], now_ns) && !libvirt_conn_lost(conn)) {
            remove_at(domains, at);
            domains->turn = at;
        }
    }
}

static void read_changed(struct libvirt_domains *domains, struct libvirt_conn *conn, int64_t until_ns)
{
    for (size_t at = 0; at < domains->n;) {
        struct libvirt_domain *domain = domains->list[at];
        if (!domain->changed) {
            at++;
            continue;
        }
        if (!may_go_on(conn, until_ns))
            return;
        if (read_domain(domains, domain, conn) || libvirt_conn_lost(conn))
            at++;
        else
            remove_at(domains, at);
    }
}

bool libvirt_domains_refresh(struct libvirt_domains *domains, struct libvirt_conn *conn, int64_t until_ns,
                             char *err, size_t errlen)
{
    int64_t now_ns = clock_mono_ns();
    take_changes(domains, conn);
    bool due = domains->listed_ns == 0 || now_ns - domains->listed_ns >= domains->tempo.list_ns;
    bool listed = !due || read_list(domains, conn, now_ns);
    if (!listed)
        snprintf(err, errlen, "%s", libvirt_conn_error());
    if (listed) {
        check_some(domains, conn, until_ns);
        read_changed(domains, conn, until_ns);
    }
    const char *lost = libvirt_conn_lost(conn);
    if (lost)
        snprintf(err, errlen, "%s", lost);
    return listed && !lost;
}

size_t libvirt_domains_waiting(const struct libvirt_domains *domains)
{
    size_t n = 0;
    for (size_t i = 0; i < domains->n; i++)
        n += domains->list[i]->changed;
    return n;
}
