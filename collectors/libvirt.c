/* SPDX-License-Identifier: MIT */
/*
 * Source `libvirt` (see libvirt.h). At rest a tick asks the daemon nothing: the rows are made of what is
 * known, and events say what has changed. When the connection is lost the state is given up, and the feed's
 * back-off decides when the next one is tried.
 */
#include "collectors/libvirt.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "collectors/libvirt_api.h"
#include "collectors/libvirt_conn.h"
#include "collectors/libvirt_events.h"
#include "collectors/libvirt_rows.h"
#include "src/memory.h"

/* Reading hundreds of domains after connecting must not keep the first rows from the screen. */
#define READ_BUDGET_NS INT64_C(500000000)

struct libvirt {
    struct libvirt_conn *conn;
    struct libvirt_domains domains;
    struct libvirt_rows rows;
    char version[80];
};

/* For meta.json: the daemon's, and that of the hypervisor behind it where it tells. */
static void tell_version(const struct libvirt *libvirt, struct collect_call *call)
{
    unsigned long version;
    const char *type = vir.ConnectGetType(libvirt_conn_get(libvirt->conn));
    int n =
        snprintf(call->version, sizeof(call->version), "%s", libvirt->version[0] ? libvirt->version + 2 : "");
    if (type && n >= 0 && vir.ConnectGetVersion(libvirt_conn_get(libvirt->conn), &version) == 0 && version)
        snprintf(call->version + n, sizeof(call->version) - (size_t)n, "%s%s %lu.%lu.%lu", n ? ", " : "",
                 strcasecmp(type, "QEMU") == 0 ? "qemu" : type, version / 1000000, version / 1000 % 1000,
                 version % 1000);
}

static void read_version(struct libvirt *libvirt)
{
    unsigned long version;
    if (vir.ConnectGetLibVersion(libvirt_conn_get(libvirt->conn), &version) == 0)
        snprintf(libvirt->version, sizeof(libvirt->version), ", libvirt %lu.%lu.%lu", version / 1000000,
                 version / 1000 % 1000, version % 1000);
}

static enum collect_result open_libvirt(const struct collect_config *config, void **state,
                                        struct collect_call *call)
{
    struct libvirt_conn *conn;
    enum collect_result result = libvirt_conn_open(config->connect_uri, true, &conn, &call->error);
    if (result != COLLECT_OK)
        return result;
    struct libvirt *libvirt = xzalloc(sizeof(*libvirt));
    libvirt->conn = conn;
    libvirt_domains_init(&libvirt->domains, libvirt_conn_has_events(conn));
    libvirt->domains.changed = true;
    read_version(libvirt);
    tell_version(libvirt, call);
    *state = libvirt;
    return COLLECT_OK;
}

static const struct libvirt_domain *first_problem(const struct libvirt_domains *domains, size_t *n)
{
    const struct libvirt_domain *first = NULL;
    *n = 0;
    for (size_t i = 0; i < domains->n; i++) {
        if (!*domains->list[i]->problem)
            continue;
        first = first ? first : domains->list[i];
        ++*n;
    }
    return first;
}

static void describe(const struct libvirt *libvirt, char *out, size_t size)
{
    const struct libvirt_domains *domains = &libvirt->domains;
    size_t problems, waiting = libvirt_domains_waiting(domains);
    const struct libvirt_domain *problem = first_problem(domains, &problems);
    int n = snprintf(out, size, "%.120s%s, %zu domain%s", libvirt_conn_uri(libvirt->conn), libvirt->version,
                     domains->n, domains->n == 1 ? "" : "s");
    if (waiting && n >= 0 && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", %zu still to be read", waiting);
    if (problem && n >= 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "; XML of %zu not read: %.60s: %.60s", problems, problem->name,
                 problem->problem);
}

static enum collect_result collect_libvirt(void *state, struct collect_call *call, struct sample **out)
{
    struct libvirt *libvirt = state;
    int64_t start_ns = clock_mono_ns(), until_ns = start_ns + READ_BUDGET_NS;
    char why[160];
    if (!libvirt_domains_refresh(&libvirt->domains, libvirt->conn,
                                 until_ns < call->deadline_ns ? until_ns : call->deadline_ns, why,
                                 sizeof(why)))
        return collect_fail(&call->error, COLLECT_FAILED, "%s: %s", libvirt_conn_uri(libvirt->conn), why);
    if (libvirt->domains.changed)
        libvirt_rows_make(&libvirt->rows, &libvirt->domains, libvirt_conn_uri(libvirt->conn),
                          !libvirt_conn_is_local(libvirt->conn));
    libvirt->domains.changed = false;
    struct sample *sample = libvirt_rows_sample(&libvirt->rows);
    sample_begin(sample);
    sample->t0_ns = start_ns;
    sample_end(sample);
    describe(libvirt, call->detail, sizeof(call->detail));
    *out = sample;
    return COLLECT_OK;
}

static void close_libvirt(void *state)
{
    struct libvirt *libvirt = state;
    libvirt_rows_clear(&libvirt->rows);
    libvirt_domains_clear(&libvirt->domains);
    libvirt_conn_close(libvirt->conn);
    free(libvirt);
}

void libvirt_set_tempo(void *state, const struct libvirt_tempo *tempo)
{
    ((struct libvirt *)state)->domains.tempo = *tempo;
}

const struct collector libvirt_collector = {
    .source = "libvirt",
    .feed = "libvirt",
    .help = "virtual machines that libvirt runs: state, vCPUs, pins, memory, NICs; events say what changed",
    .per = COLLECT_PER_URI,
    .prepare = libvirt_events_prepare,
    .open = open_libvirt,
    .collect = collect_libvirt,
    .close = close_libvirt,
};
