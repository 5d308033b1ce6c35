/* SPDX-License-Identifier: MIT */
/*
 * DPDK telemetry replies to structs: see telemetry_parse.h. Tables say which key fills which field; a key
 * that is missing or of another type leaves its field absent. Called by the telemetry client and the dpdk
 * collector; it must not know of sockets, time or what a counter means.
 */
#include "collectors/telemetry_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/telemetry_loss.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* An entry that did not fit may have been this long (a text of 128, escaped) while the reply stops this
 * short. */
#define ENTRY_LEN_MAX 288

static const struct {
    const char *name;
    enum telemetry_argument argument;
} commands[] = {
    [TELEMETRY_ROOT] = {"/", TELEMETRY_NO_ARGUMENT},
    [TELEMETRY_INFO] = {"/info", TELEMETRY_NO_ARGUMENT},
    [TELEMETRY_EAL_PARAMS] = {"/eal/params", TELEMETRY_NO_ARGUMENT},
    [TELEMETRY_EAL_APP_PARAMS] = {"/eal/app_params", TELEMETRY_NO_ARGUMENT},
    [TELEMETRY_ETHDEV_LIST] = {"/ethdev/list", TELEMETRY_NO_ARGUMENT},
    [TELEMETRY_ETHDEV_STATS] = {"/ethdev/stats", TELEMETRY_NUMBER},
    [TELEMETRY_ETHDEV_XSTATS] = {"/ethdev/xstats", TELEMETRY_NUMBER},
    [TELEMETRY_ETHDEV_INFO] = {"/ethdev/info", TELEMETRY_NUMBER},
    [TELEMETRY_ETHDEV_LINK] = {"/ethdev/link_status", TELEMETRY_NUMBER},
    [TELEMETRY_MEMPOOL_LIST] = {"/mempool/list", TELEMETRY_NO_ARGUMENT},
    [TELEMETRY_MEMPOOL_INFO] = {"/mempool/info", TELEMETRY_POOL_NAME},
    [TELEMETRY_LCORE_LIST] = {"/eal/lcore/list", TELEMETRY_NO_ARGUMENT},
    [TELEMETRY_LCORE_INFO] = {"/eal/lcore/info", TELEMETRY_NUMBER},
    [TELEMETRY_LCORE_USAGE] = {"/eal/lcore/usage", TELEMETRY_NO_ARGUMENT},
};
_Static_assert(COUNT(commands) == TELEMETRY_COMMANDS, "every command has its name");
_Static_assert(TELEMETRY_COMMANDS <= 32, "the set of commands fits a 32-bit mask");

static const char *const status_names[] = {
    [TELEMETRY_OK] = "ok",
    [TELEMETRY_NONE] = "not available",
    [TELEMETRY_UNSUPPORTED] = "not supported",
    [TELEMETRY_UNREADABLE] = "unreadable",
    [TELEMETRY_GARBLED] = "garbled",
    [TELEMETRY_TRUNCATED] = "truncated",
    [TELEMETRY_TIMEOUT] = "timeout",
    [TELEMETRY_STOPPED] = "stopped",
    [TELEMETRY_FULL] = "10 clients already",
    [TELEMETRY_STALE] = "stale",
    [TELEMETRY_DENIED] = "not permitted",
    [TELEMETRY_GONE] = "gone",
    [TELEMETRY_FAILED] = "failed",
};
_Static_assert(COUNT(status_names) == TELEMETRY_STATUSES, "every status has its name");

/* One key of an object and the field it fills. */
enum field_kind { FIELD_U64, FIELD_I64, FIELD_TEXT };
struct field {
    const char *key;
    enum field_kind kind;
    uint32_t has;
    size_t offset, size;
};
#define FIELD(type, member, kind, has)                                                                       \
    {                                                                                                        \
#member, kind, has, offsetof(type, member), sizeof(((type *)0)->member)                              \
    }

const char *telemetry_command_name(enum telemetry_command command)
{
    return (unsigned)command < TELEMETRY_COMMANDS ? commands[command].name : "?";
}

enum telemetry_argument telemetry_command_argument(enum telemetry_command command)
{
    return (unsigned)command < TELEMETRY_COMMANDS ? commands[command].argument : TELEMETRY_NO_ARGUMENT;
}

const char *telemetry_status_name(enum telemetry_status status)
{
    return (unsigned)status < TELEMETRY_STATUSES ? status_names[status] : "?";
}

/* Copies what fits of valid UTF-8 in whole characters; control characters (C0, DEL, C1) become '?'. */
static void copy_text(char *to, size_t size, const char *from)
{
    const unsigned char *p = (const unsigned char *)from;
    size_t used = 0;
    while (*p) {
        size_t n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
        bool control = *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0);
        if (used + (control ? 1 : n) >= size)
            break;
        if (control)
            to[used++] = '?';
        else
            for (size_t i = 0; i < n; i++)
                to[used++] = (char)p[i];
        p += n;
    }
    to[used] = '\0';
}

/* Fills the field of base from node; false if the node is missing or of another type. */
static bool fill_field(void *base, const struct field *f, const struct json64_node *node)
{
    char *at = (char *)base + f->offset;
    switch (f->kind) {
    case FIELD_U64:
        return json64_u64(node, (uint64_t *)(void *)at);
    case FIELD_I64:
        return json64_i64(node, (int64_t *)(void *)at);
    case FIELD_TEXT:
        if (!node || node->type != JSON64_TEXT)
            return false;
        copy_text(at, f->size, node->text);
        return true;
    }
    return false;
}

static uint32_t fill_fields(const struct json64 *doc, const struct json64_node *object, void *base,
                            const struct field *fields, size_t n)
{
    uint32_t has = 0;
    for (size_t i = 0; i < n; i++)
        if (fill_field(base, &fields[i], json64_get(doc, object, fields[i].key)))
            has |= fields[i].has;
    return has;
}

/* OK for an object with members, NONE for {}. Empty dictionaries print as [] in some releases before 24.03.
 */
static enum telemetry_status check_object(const struct telemetry_reply *reply)
{
    if (reply->value->type == JSON64_OBJECT)
        return reply->value->n ? TELEMETRY_OK : TELEMETRY_NONE;
    return reply->value->type == JSON64_ARRAY && reply->value->n == 0 ? TELEMETRY_NONE : TELEMETRY_UNREADABLE;
}

/* "DPDK 22.11.11-rc1" to 2211; 0 if it does not look so. */
static unsigned release_of(const char *version)
{
    unsigned part[2] = {0, 0};
    const char *p = strncmp(version, "DPDK ", 5) == 0 ? version + 5 : version;
    for (int i = 0; i < 2; i++) {
        const char *from = p;
        for (; *p >= '0' && *p <= '9' && p - from < 2; p++)
            part[i] = part[i] * 10 + (unsigned)(*p - '0');
        if (p - from != 2 || (i == 0 && *p++ != '.'))
            return 0;
    }
    return part[1] >= 1 && part[1] <= 12 ? part[0] * 100 + part[1] : 0;
}

static enum telemetry_status fill_hello(const struct json64 *doc, const struct json64_node *object,
                                        struct telemetry_hello *hello)
{
    const struct json64_node *version = json64_get(doc, object, "version");
    uint64_t max_len;
    *hello = (struct telemetry_hello){.max_output_len = TELEMETRY_OUTPUT_LEN};
    if (!version || version->type != JSON64_TEXT || !json64_u64(json64_get(doc, object, "pid"), &hello->pid))
        return TELEMETRY_UNREADABLE;
    copy_text(hello->version, sizeof hello->version, version->text);
    hello->release = release_of(hello->version);
    if (json64_u64(json64_get(doc, object, "max_output_len"), &max_len) && max_len && max_len <= UINT32_MAX)
        hello->max_output_len = (uint32_t)max_len;
    return TELEMETRY_OK;
}

enum telemetry_status telemetry_read_hello(struct json64 *doc, char *bytes, size_t len,
                                           struct telemetry_hello *hello, char *err, size_t errlen)
{
    char why[96];
    if (!json64_parse(doc, bytes, len, why, sizeof why)) {
        snprintf(err, errlen, "greeting is not JSON (%s): not a DPDK telemetry socket", why);
        return TELEMETRY_UNREADABLE;
    }
    if (fill_hello(doc, doc->v, hello) != TELEMETRY_OK) {
        snprintf(err, errlen, "greeting has no version and pid: not a DPDK telemetry socket");
        return TELEMETRY_UNREADABLE;
    }
    return TELEMETRY_OK;
}

enum telemetry_status telemetry_read_reply(struct telemetry_reply *reply, enum telemetry_command command,
                                           struct json64 *doc, char *bytes, size_t len,
                                           uint32_t max_output_len, char *err, size_t errlen)
{
    char why[96];
    const char *name = telemetry_command_name(command);
    *reply = (struct telemetry_reply){.command = command, .doc = doc};
    if (!json64_parse(doc, bytes, len, why, sizeof why)) {
        snprintf(err, errlen, "%s: the reply is not valid JSON: %s", name, why);
        return TELEMETRY_UNREADABLE;
    }
    const struct json64_node *value = json64_first(doc, doc->v);
    if (doc->v->type != JSON64_OBJECT || doc->v->n != 1) {
        snprintf(err, errlen, "%s: the reply is not one command's", name);
        return TELEMETRY_UNREADABLE;
    }
    if (strcmp(value->key, name) != 0) {
        char key[64];
        copy_text(key, sizeof key, value->key);
        snprintf(err, errlen, "%s: answered as %s: another client asked at the same time", name, key);
        return TELEMETRY_GARBLED;
    }
    reply->value = value;
    reply->near_limit = len + ENTRY_LEN_MAX > max_output_len;
    if (value->type != JSON64_NULL)
        return TELEMETRY_OK;
    snprintf(err, errlen, "%s: not available", name);
    return TELEMETRY_NONE;
}

enum telemetry_status telemetry_parse_info(const struct telemetry_reply *reply, struct telemetry_hello *hello)
{
    return fill_hello(reply->doc, reply->value, hello);
}

enum telemetry_status telemetry_parse_root(const struct telemetry_reply *reply, uint32_t *mask)
{
    const struct json64_node *list = reply->value;
    *mask = 0;
    if (list->type != JSON64_ARRAY)
        return TELEMETRY_UNREADABLE;
    for (const struct json64_node *c = json64_first(reply->doc, list); c;
         c = json64_next(reply->doc, list, c))
        for (unsigned i = 0; c->type == JSON64_TEXT && i < TELEMETRY_COMMANDS; i++)
            if (strcmp(c->text, commands[i].name) == 0)
                *mask |= 1u << i;
    return TELEMETRY_OK;
}

enum telemetry_status telemetry_parse_ids(const struct telemetry_reply *reply, struct telemetry_ids *ids)
{
    const struct json64_node *list = reply->value;
    ids->n = 0;
    if (list->type != JSON64_ARRAY)
        return TELEMETRY_UNREADABLE;
    ids->maybe_truncated = reply->near_limit || list->n >= TELEMETRY_LIST_MAX;
    for (const struct json64_node *c = json64_first(reply->doc, list); c;
         c = json64_next(reply->doc, list, c)) {
        uint64_t id;
        if (ids->n == TELEMETRY_LIST_MAX)
            break;
        if (!json64_u64(c, &id) || id > UINT32_MAX)
            return TELEMETRY_UNREADABLE;
        ids->v[ids->n++] = (uint32_t)id;
    }
    return TELEMETRY_OK;
}

/* The pointers and behind them the bytes, in one block. NULL if a child is no text or memory is out. */
static char **copy_texts(const struct telemetry_reply *reply)
{
    const struct json64_node *list = reply->value, *c;
    size_t bytes = 1;
    for (c = json64_first(reply->doc, list); c; c = json64_next(reply->doc, list, c)) {
        if (c->type != JSON64_TEXT)
            return NULL;
        bytes += strlen(c->text) + 1;
    }
    char **v = malloc(list->n * sizeof *v + bytes);
    if (!v)
        return NULL;
    char *at = (char *)(v + list->n);
    uint32_t i = 0;
    for (c = json64_first(reply->doc, list); c; c = json64_next(reply->doc, list, c)) {
        copy_text(at, strlen(c->text) + 1, c->text);
        v[i++] = at;
        at += strlen(at) + 1;
    }
    return v;
}

enum telemetry_status telemetry_parse_texts(const struct telemetry_reply *reply,
                                            struct telemetry_texts *texts)
{
    telemetry_texts_free(texts);
    if (reply->value->type != JSON64_ARRAY)
        return TELEMETRY_UNREADABLE;
    texts->v = copy_texts(reply);
    if (!texts->v)
        return TELEMETRY_UNREADABLE;
    texts->n = reply->value->n;
    texts->maybe_truncated = reply->near_limit || texts->n >= TELEMETRY_LIST_MAX;
    return TELEMETRY_OK;
}

void telemetry_texts_free(struct telemetry_texts *texts)
{
    if (!texts)
        return;
    free(texts->v);
    *texts = (struct telemetry_texts){0};
}

#define STAT(member, bit) FIELD(struct telemetry_stats, member, FIELD_U64, bit)
static const struct field stats_fields[] = {
    STAT(ipackets, TELEMETRY_HAS_IPACKETS), STAT(opackets, TELEMETRY_HAS_OPACKETS),
    STAT(ibytes, TELEMETRY_HAS_IBYTES),     STAT(obytes, TELEMETRY_HAS_OBYTES),
    STAT(imissed, TELEMETRY_HAS_IMISSED),   STAT(ierrors, TELEMETRY_HAS_IERRORS),
    STAT(oerrors, TELEMETRY_HAS_OERRORS),   STAT(rx_nombuf, TELEMETRY_HAS_RX_NOMBUF),
};

static const char *const queue_keys[] = {
    [TELEMETRY_Q_IPACKETS] = "q_ipackets", [TELEMETRY_Q_OPACKETS] = "q_opackets",
    [TELEMETRY_Q_IBYTES] = "q_ibytes",     [TELEMETRY_Q_OBYTES] = "q_obytes",
    [TELEMETRY_Q_ERRORS] = "q_errors",
};
_Static_assert(COUNT(queue_keys) == TELEMETRY_QUEUE_STATS, "every queue counter has its key");

/* Copies the array's leading whole numbers; returns how many. */
static uint32_t fill_numbers(const struct json64 *doc, const struct json64_node *list, uint64_t *v,
                             uint32_t max)
{
    uint32_t n = 0;
    if (!list || list->type != JSON64_ARRAY)
        return 0;
    for (const struct json64_node *c = json64_first(doc, list); c && n < max; c = json64_next(doc, list, c)) {
        if (!json64_u64(c, &v[n]))
            break;
        n++;
    }
    return n;
}

enum telemetry_status telemetry_parse_stats(const struct telemetry_reply *reply,
                                            struct telemetry_stats *stats)
{
    *stats = (struct telemetry_stats){0};
    enum telemetry_status status = check_object(reply);
    if (status != TELEMETRY_OK)
        return status;
    stats->has = fill_fields(reply->doc, reply->value, stats, stats_fields, COUNT(stats_fields));
    for (unsigned i = 0; i < TELEMETRY_QUEUE_STATS; i++)
        stats->n_queues[i] = fill_numbers(reply->doc, json64_get(reply->doc, reply->value, queue_keys[i]),
                                          stats->queue[i], TELEMETRY_QUEUES);
    return stats->has ? TELEMETRY_OK : TELEMETRY_UNREADABLE;
}

static bool reserve_xstats(struct telemetry_xstats *xstats, uint32_t n)
{
    if (n <= xstats->cap)
        return true;
    struct telemetry_xstat *v = realloc(xstats->v, n * sizeof *v);
    if (!v)
        return false;
    xstats->v = v;
    xstats->cap = n;
    return true;
}

#define SEEN_SLOTS 1024 /* four times the names there can be: short probes */
_Static_assert(SEEN_SLOTS >= 2 * TELEMETRY_DICT_MAX, "an empty slot always ends a probe");

/* False if the name is among those kept already; else remembers that it will be number xstats->n. FNV-1a. */
static bool note_name(const struct telemetry_xstats *xstats, uint16_t slots[SEEN_SLOTS], const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    uint32_t at = hash % SEEN_SLOTS;
    for (; slots[at]; at = (at + 1) % SEEN_SLOTS)
        if (strcmp(xstats->v[slots[at] - 1].name, name) == 0)
            return false;
    slots[at] = (uint16_t)(xstats->n + 1);
    return true;
}

enum telemetry_status telemetry_parse_xstats(const struct telemetry_reply *reply,
                                             struct telemetry_xstats *xstats)
{
    const struct json64_node *dict = reply->value;
    uint16_t slots[SEEN_SLOTS] = {0};
    xstats->n = 0;
    xstats->zeros_hidden = reply->zeros_hidden;
    xstats->maybe_truncated = reply->near_limit || dict->n >= TELEMETRY_DICT_MAX;
    if (dict->type != JSON64_OBJECT)
        return check_object(reply);
    if (!reserve_xstats(xstats, dict->n < TELEMETRY_DICT_MAX ? dict->n : TELEMETRY_DICT_MAX))
        return TELEMETRY_UNREADABLE;
    for (const struct json64_node *c = json64_first(reply->doc, dict); c;
         c = json64_next(reply->doc, dict, c)) {
        if (xstats->n == TELEMETRY_DICT_MAX)
            break;
        struct telemetry_xstat *to = &xstats->v[xstats->n];
        copy_text(to->name, sizeof to->name, c->key);
        if (json64_u64(c, &to->value) && note_name(xstats, slots, to->name))
            xstats->n++;
    }
    return TELEMETRY_OK;
}

void telemetry_xstats_free(struct telemetry_xstats *xstats)
{
    if (!xstats)
        return;
    free(xstats->v);
    *xstats = (struct telemetry_xstats){0};
}

bool telemetry_xstats_get(const struct telemetry_xstats *xstats, const char *name, uint64_t *value)
{
    for (uint32_t i = 0; i < xstats->n; i++) {
        if (strcmp(xstats->v[i].name, name) == 0) {
            *value = xstats->v[i].value;
            return true;
        }
    }
    return false;
}

void telemetry_stats_of_xstats(const struct telemetry_xstats *xstats, struct telemetry_stats *stats)
{
    static const char *const names[] = {"rx_good_packets", "tx_good_packets",          "rx_good_bytes",
                                        "tx_good_bytes",   "rx_missed_errors",         "rx_errors",
                                        "tx_errors",       "rx_mbuf_allocation_errors"};
    _Static_assert(COUNT(names) == COUNT(stats_fields), "one name a field, in the fields' order");
    *stats = (struct telemetry_stats){0};
    for (size_t i = 0; i < COUNT(names); i++) {
        uint64_t *to = (uint64_t *)(void *)((char *)stats + stats_fields[i].offset);
        if (telemetry_xstats_get(xstats, names[i], to))
            stats->has |= stats_fields[i].has;
    }
}

#define PORT(member, kind, bit) FIELD(struct telemetry_port, member, kind, bit)
static const struct field port_fields[] = {
    PORT(name, FIELD_TEXT, TELEMETRY_PORT_NAME),
    {"mac_addr", FIELD_TEXT, TELEMETRY_PORT_MAC, offsetof(struct telemetry_port, mac),
     sizeof(((struct telemetry_port *)0)->mac)},
    PORT(port_id, FIELD_U64, TELEMETRY_PORT_ID),
    PORT(state, FIELD_U64, TELEMETRY_PORT_STATE),
    PORT(nb_rx_queues, FIELD_U64, TELEMETRY_PORT_RX_QUEUES),
    PORT(nb_tx_queues, FIELD_U64, TELEMETRY_PORT_TX_QUEUES),
    PORT(mtu, FIELD_U64, TELEMETRY_PORT_MTU),
    PORT(dev_started, FIELD_U64, TELEMETRY_PORT_STARTED),
    PORT(promiscuous, FIELD_U64, TELEMETRY_PORT_PROMISCUOUS),
    PORT(rx_mbuf_alloc_fail, FIELD_U64, TELEMETRY_PORT_ALLOC_FAIL),
    PORT(numa_node, FIELD_I64, TELEMETRY_PORT_NUMA),
};

/* Six pairs of hex digits with colons. */
static bool is_mac(const char *s)
{
    for (int i = 0; i < 17; i++) {
        bool good = i % 3 == 2 ? s[i] == ':' : s[i] && strchr("0123456789abcdefABCDEF", s[i]);
        if (!good)
            return false;
    }
    return s[17] == '\0';
}

enum telemetry_status telemetry_parse_port(const struct telemetry_reply *reply, struct telemetry_port *port)
{
    *port = (struct telemetry_port){0};
    enum telemetry_status status = check_object(reply);
    if (status != TELEMETRY_OK)
        return status;
    port->has = fill_fields(reply->doc, reply->value, port, port_fields, COUNT(port_fields));
    if ((port->has & TELEMETRY_PORT_MAC) && !is_mac(port->mac)) {
        port->has &= ~(uint32_t)TELEMETRY_PORT_MAC;
        port->mac[0] = '\0';
    }
    if (!(port->has & TELEMETRY_PORT_NAME))
        return TELEMETRY_UNREADABLE;
    telemetry_driver_of(port->name, port->driver, sizeof port->driver);
    return TELEMETRY_OK;
}

enum telemetry_status telemetry_parse_link(const struct telemetry_reply *reply, struct telemetry_link *link)
{
    const struct json64_node *status = json64_get(reply->doc, reply->value, "status");
    const struct json64_node *duplex = json64_get(reply->doc, reply->value, "duplex");
    uint64_t speed;
    *link = (struct telemetry_link){0};
    if (!status || status->type != JSON64_TEXT)
        return TELEMETRY_UNREADABLE;
    link->up = strcmp(status->text, "UP") == 0;
    if (!link->up && strcmp(status->text, "DOWN") != 0)
        return TELEMETRY_UNREADABLE;
    /* 0 and UINT32_MAX are RTE_ETH_SPEED_NUM_NONE and _UNKNOWN. */
    if (json64_u64(json64_get(reply->doc, reply->value, "speed"), &speed) && speed > 0 &&
        speed < UINT32_MAX) {
        link->has_speed = true;
        link->speed_mbps = (uint32_t)speed;
    }
    if (duplex && duplex->type == JSON64_TEXT) {
        link->has_duplex = true;
        link->full_duplex = strcmp(duplex->text, "full-duplex") == 0;
    }
    return TELEMETRY_OK;
}

#define POOL(member, kind, bit) FIELD(struct telemetry_pool, member, kind, bit)
static const struct field pool_fields[] = {
    POOL(name, FIELD_TEXT, TELEMETRY_POOL_NAME_GIVEN),
    POOL(size, FIELD_U64, TELEMETRY_POOL_SIZE),
    POOL(populated_size, FIELD_U64, TELEMETRY_POOL_POPULATED),
    POOL(cache_size, FIELD_U64, TELEMETRY_POOL_CACHE_SIZE),
    POOL(elt_size, FIELD_U64, TELEMETRY_POOL_ELT_SIZE),
    POOL(total_cache_count, FIELD_U64, TELEMETRY_POOL_CACHED),
    POOL(common_pool_count, FIELD_U64, TELEMETRY_POOL_COMMON),
    POOL(socket_id, FIELD_I64, TELEMETRY_POOL_SOCKET),
};

enum telemetry_status telemetry_parse_pool(const struct telemetry_reply *reply, struct telemetry_pool *pool)
{
    const uint32_t needed = TELEMETRY_POOL_SIZE | TELEMETRY_POOL_CACHED | TELEMETRY_POOL_COMMON;
    uint64_t there;
    *pool = (struct telemetry_pool){0};
    enum telemetry_status status = check_object(reply);
    if (status != TELEMETRY_OK)
        return status;
    pool->has = fill_fields(reply->doc, reply->value, pool, pool_fields, COUNT(pool_fields));
    if ((pool->has & needed) == needed &&
        !__builtin_add_overflow(pool->total_cache_count, pool->common_pool_count, &there)) {
        /* Both are read while they move: their sum can pass the size for a moment. */
        pool->in_use = there < pool->size ? pool->size - there : 0;
        pool->has |= TELEMETRY_POOL_IN_USE;
    }
    return pool->has & TELEMETRY_POOL_NAME_GIVEN ? TELEMETRY_OK : TELEMETRY_UNREADABLE;
}

#define LCORE(member, kind, bit) FIELD(struct telemetry_lcore, member, kind, bit)
static const struct field lcore_fields[] = {
    LCORE(lcore_id, FIELD_U64, TELEMETRY_LCORE_ID),
    LCORE(socket, FIELD_I64, TELEMETRY_LCORE_SOCKET),
    LCORE(role, FIELD_TEXT, TELEMETRY_LCORE_ROLE),
    LCORE(total_cycles, FIELD_U64, TELEMETRY_LCORE_TOTAL),
    LCORE(busy_cycles, FIELD_U64, TELEMETRY_LCORE_BUSY),
};

/* "12.34%": digits, at most one dot, a percent sign. */
static bool read_percent(const struct json64_node *node, double *out)
{
    double value = 0, unit = 1;
    bool dot = false, digit = false;
    if (!node || node->type != JSON64_TEXT || strlen(node->text) > 24)
        return false;
    const char *p = node->text;
    for (; (*p >= '0' && *p <= '9') || (*p == '.' && !dot); p++) {
        if (*p == '.') {
            dot = true;
            continue;
        }
        digit = true;
        value = value * 10 + (*p - '0');
        unit *= dot ? 10 : 1;
    }
    if (!digit || p[0] != '%' || p[1] != '\0')
        return false;
    *out = value / unit;
    return true;
}

static bool fill_cpus(const struct json64 *doc, const struct json64_node *list, struct telemetry_lcore *lcore)
{
    uint64_t cpu;
    if (!list || list->type != JSON64_ARRAY)
        return false;
    for (const struct json64_node *c = json64_first(doc, list); c; c = json64_next(doc, list, c)) {
        if (!json64_u64(c, &cpu) || cpu >= TELEMETRY_CPUS || (lcore->cpus[cpu / 64] >> cpu % 64 & 1))
            continue;
        lcore->cpus[cpu / 64] |= (uint64_t)1 << cpu % 64;
        lcore->n_cpus++;
    }
    return lcore->n_cpus > 0;
}

enum telemetry_status telemetry_parse_lcore(const struct telemetry_reply *reply,
                                            struct telemetry_lcore *lcore)
{
    *lcore = (struct telemetry_lcore){0};
    enum telemetry_status status = check_object(reply);
    if (status != TELEMETRY_OK)
        return status;
    lcore->has = fill_fields(reply->doc, reply->value, lcore, lcore_fields, COUNT(lcore_fields));
    if (read_percent(json64_get(reply->doc, reply->value, "usage_ratio"), &lcore->usage_pct))
        lcore->has |= TELEMETRY_LCORE_USAGE_PCT;
    if (fill_cpus(reply->doc, json64_get(reply->doc, reply->value, "cpuset"), lcore))
        lcore->has |= TELEMETRY_LCORE_CPUS;
    return lcore->has & TELEMETRY_LCORE_ID ? TELEMETRY_OK : TELEMETRY_UNREADABLE;
}

enum telemetry_status telemetry_parse_usage(const struct telemetry_reply *reply,
                                            struct telemetry_usage *usage)
{
    static const char *const keys[3] = {"lcore_ids", "total_cycles", "busy_cycles"};
    const struct json64_node *list[3], *c[3];
    const struct json64 *doc = reply->doc;
    usage->n = 0;
    usage->maybe_truncated = reply->near_limit;
    for (int i = 0; i < 3; i++) {
        list[i] = json64_get(doc, reply->value, keys[i]);
        if (!list[i] || list[i]->type != JSON64_ARRAY)
            return TELEMETRY_UNREADABLE;
        c[i] = json64_first(doc, list[i]);
        usage->maybe_truncated |= list[i]->n != list[0]->n || list[i]->n >= TELEMETRY_LIST_MAX;
    }
    while (c[0] && c[1] && c[2] && usage->n < TELEMETRY_LIST_MAX) {
        uint64_t id, total, busy;
        if (!json64_u64(c[0], &id) || id > UINT32_MAX || !json64_u64(c[1], &total) ||
            !json64_u64(c[2], &busy))
            return TELEMETRY_UNREADABLE;
        usage->v[usage->n].lcore_id = (uint32_t)id;
        usage->v[usage->n].total_cycles = total;
        usage->v[usage->n++].busy_cycles = busy;
        for (int i = 0; i < 3; i++)
            c[i] = json64_next(doc, list[i], c[i]);
    }
    return TELEMETRY_OK;
}
