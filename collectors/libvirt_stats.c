/* SPDX-License-Identifier: MIT */
/*
 * Part `libvirt-stats` (see libvirt.h): run time and delay of the vCPUs of guests elsewhere, from the
 * daemon's bulk statistics. It has a connection of its own, so that what hangs here leaves the inventory
 * alone. libvirt counts run time in ticks of 10 ms, hence the `~`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/libvirt.h"
#include "collectors/libvirt_api.h"
#include "collectors/libvirt_ask.h"
#include "collectors/libvirt_events.h"
#include "collectors/libvirt_rows.h"
#include "collectors/libvirt_uri.h"
#include "src/memory.h"

#define CALL_LIMIT_NS INT64_C(1000000000)
#define VCPUS_MAX     65536

struct vcpu {
    size_t record;
    unsigned id;
    bool has_time, has_delay;
    uint64_t time_ns, delay_ns;
};

struct stats {
    struct libvirt_conn *conn;
    struct libvirt_asker asker;
    struct vcpu *vcpus; /* of the newest answer */
    size_t n, alloc;
    uint64_t identity; /* hash of which vCPUs those are */
    struct inventory *inventory;
    const struct threads_info **infos; /* in the order of vcpus */
};

static bool is_wanted(const struct collect_config *config)
{
    const char *uri = config->connect_uri;
    return uri && (libvirt_uri_is_alias(uri) || !libvirt_uri_is_local(uri));
}

static enum collect_result open_stats(const struct collect_config *config, void **state,
                                      struct collect_call *call)
{
    struct libvirt_conn *conn;
    enum collect_result result = libvirt_conn_open(config->connect_uri, false, &conn, &call->error);
    if (result != COLLECT_OK)
        return result;
    if (libvirt_conn_is_local(conn)) {
        libvirt_conn_close(conn);
        return collect_fail(&call->error, COLLECT_NONE, "guests of this host: their times are in /proc");
    }
    struct stats *stats = xzalloc(sizeof(*stats));
    stats->conn = conn;
    stats->asker.conn = libvirt_conn_get(conn);
    *state = stats;
    return COLLECT_OK;
}

/* ---- the answer ---- */

/* Splits "vcpu.3.time". */
static bool parse_field(const char *field, unsigned *id, const char **name)
{
    static const char PREFIX[] = "vcpu.";
    if (strncmp(field, PREFIX, sizeof(PREFIX) - 1) != 0)
        return false;
    const char *p = field + sizeof(PREFIX) - 1;
    unsigned value = 0;
    size_t digits = strspn(p, "0123456789");
    if (digits == 0 || digits > 4 || p[digits] != '.')
        return false;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (unsigned)(p[i] - '0');
    *id = value;
    *name = p + digits + 1;
    return true;
}

/* A record's vCPUs stand together at the end; numbers may have gaps. */
static struct vcpu *vcpu_of(struct stats *stats, size_t record, unsigned id)
{
    for (size_t i = stats->n; i-- > 0 && stats->vcpus[i].record == record;)
        if (stats->vcpus[i].id == id)
            return &stats->vcpus[i];
    if (stats->n == VCPUS_MAX)
        return NULL;
    if (stats->n == stats->alloc) {
        stats->alloc = stats->alloc ? stats->alloc * 2 : 64;
        stats->vcpus = xrealloc(stats->vcpus, stats->alloc, sizeof(*stats->vcpus));
    }
    stats->vcpus[stats->n] = (struct vcpu){.record = record, .id = id};
    return &stats->vcpus[stats->n++];
}

static void take_param(struct stats *stats, size_t record, const virTypedParameter *param)
{
    unsigned id;
    const char *name;
    if (param->type != VIR_TYPED_PARAM_ULLONG || !parse_field(param->field, &id, &name))
        return;
    bool is_time = strcmp(name, "time") == 0, is_delay = strcmp(name, "delay") == 0;
    struct vcpu *vcpu = is_time || is_delay ? vcpu_of(stats, record, id) : NULL;
    if (!vcpu)
        return;
    if (is_time) {
        vcpu->has_time = true;
        vcpu->time_ns = param->value.ul;
    } else {
        vcpu->has_delay = true;
        vcpu->delay_ns = param->value.ul;
    }
}

static void take_answer(struct stats *stats, const struct libvirt_answer *answer)
{
    stats->n = 0;
    for (int r = 0; r < answer->n; r++)
        for (int p = 0; p < answer->records[r]->nparams; p++)
            take_param(stats, (size_t)r, &answer->records[r]->params[p]);
}

/* ---- rows ---- */

static uint64_t identity_of(const struct stats *stats, const struct libvirt_answer *answer)
{
    uint64_t identity = stats->n + 1;
    for (size_t i = 0; i < stats->n; i++) {
        libvirt_uuid uuid = "";
        virDomainPtr domain = answer->records[stats->vcpus[i].record]->dom;
        vir.DomainGetUUIDString(domain, uuid);
        uint64_t of_vcpu = hash_text(uuid) ^ (hash_text(vir.DomainGetName(domain)) << 1) ^ stats->vcpus[i].id;
        identity = identity * UINT64_C(0x9e3779b97f4a7c15) + of_vcpu;
    }
    return identity;
}

static const struct threads_info *make_info(const struct stats *stats, const char *prefix,
                                            virDomainPtr domain, unsigned id)
{
    libvirt_uuid uuid = "";
    vir.DomainGetUUIDString(domain, uuid);
    struct threads_info *info =
        inventory_info(stats->inventory, TABLE_THREADS, "%svm:%s/vcpu/%u", prefix, uuid, id);
    info_set(info, role, "vcpu");
    info_set(info, vm, inventory_text(stats->inventory, vir.DomainGetName(domain)));
    info_set(info, vm_key, inventory_textf(stats->inventory, "%svm:%s", prefix, uuid));
    info_set(info, index, id);
    return info;
}

static void update_inventory(struct stats *stats, const struct libvirt_answer *answer)
{
    uint64_t identity = identity_of(stats, answer);
    if (stats->inventory && identity == stats->identity)
        return;
    inventory_unref(stats->inventory);
    stats->identity = identity;
    stats->inventory = inventory_new();
    stats->infos = xrealloc(stats->infos, stats->n + 1, sizeof(*stats->infos));
    const char *prefix = libvirt_rows_prefix(stats->inventory, libvirt_conn_uri(stats->conn), true);
    for (size_t i = 0; i < stats->n; i++)
        stats->infos[i] =
            make_info(stats, prefix, answer->records[stats->vcpus[i].record]->dom, stats->vcpus[i].id);
}

static struct sample *make_sample(struct stats *stats, const struct libvirt_answer *answer)
{
    take_answer(stats, answer);
    update_inventory(stats, answer);
    struct sample *sample = sample_new(stats->inventory);
    sample->t0_ns = answer->t0_ns;
    sample->t1_ns = answer->t1_ns;
    sample->wall_ns = answer->wall_ns;
    sample_reserve(sample, TABLE_THREADS, stats->n);
    for (size_t i = 0; i < stats->n; i++) {
        const struct vcpu *vcpu = &stats->vcpus[i];
        struct threads_row *row = sample_row(sample, TABLE_THREADS, stats->infos[i]);
        if (vcpu->has_time) {
            row_set(row, run_ns, vcpu->time_ns);
            row_approx(row, run_ns);
        }
        if (vcpu->has_delay)
            row_set(row, delay_ns, vcpu->delay_ns);
    }
    return sample;
}

static void describe(const struct stats *stats, char *out, size_t size)
{
    int n = snprintf(out, size, "%.120s, times of %zu vCPUs", libvirt_conn_uri(stats->conn), stats->n);
    if (stats->asker.n_late > 0 && n >= 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "; a monitor does not answer (calls waiting: %zu)",
                 stats->asker.n_late);
}

static enum collect_result collect_stats(void *state, struct collect_call *call, struct sample **out)
{
    struct stats *stats = state;
    struct libvirt_answer answer;
    const char *uri = libvirt_conn_uri(stats->conn), *lost = libvirt_conn_lost(stats->conn);
    if (lost)
        return collect_fail(&call->error, COLLECT_FAILED, "%s: %s", uri, lost);
    if (!libvirt_asker_ask(&stats->asker, VIR_DOMAIN_STATS_STATE | VIR_DOMAIN_STATS_VCPU, CALL_LIMIT_NS,
                           call->stop_fd, &answer))
        return collect_fail(&call->error, COLLECT_NO_ANSWER, "%s: no call could be made: %s", uri,
                            strerror(errno));
    enum collect_result result = COLLECT_OK;
    if (answer.n < 0) {
        result = collect_fail(&call->error, COLLECT_FAILED, "%s: %s", uri, answer.error);
    } else {
        *out = make_sample(stats, &answer);
        describe(stats, call->detail, sizeof(call->detail));
    }
    libvirt_answer_free(&answer);
    return result;
}

static void close_stats(void *state)
{
    struct stats *stats = state;
    libvirt_asker_clear(&stats->asker);
    libvirt_conn_close(stats->conn);
    inventory_unref(stats->inventory);
    free(stats->infos);
    free(stats->vcpus);
    free(stats);
}

const struct collector libvirt_stats_collector = {
    .source = "libvirt",
    .feed = "libvirt-stats",
    .help = "times of the vCPUs of virtual machines that are not of this host, from libvirt's statistics",
    .per = COLLECT_PER_URI,
    .prepare = libvirt_events_prepare,
    .is_wanted = is_wanted,
    .open = open_stats,
    .collect = collect_stats,
    .close = close_stats,
};
