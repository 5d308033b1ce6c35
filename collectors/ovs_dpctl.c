/* SPDX-License-Identifier: MIT */
/*
 * The parser declared in ovs_dpctl.h. Lines are told apart by their indentation (a tab a level up to 2.9, two
 * blanks from 2.10 on) and their first words; two tables say which number of a line goes where. Pure.
 */
#include "collectors/ovs_dpctl.h"

#include <stdlib.h>
#include <string.h>

/* On a line that starts with `line`, the number behind `field`. */
struct line_field {
    const char *line;
    const char *field;
    unsigned which;
};

static const struct line_field dp_fields[] = {
    {"lookups:", "hit:", OVS_DP_HIT},     {"lookups:", "missed:", OVS_DP_MISSED},
    {"lookups:", "lost:", OVS_DP_LOST},   {"flows:", "flows: ", OVS_DP_FLOWS},
    {"masks:", "hit:", OVS_DP_MASK_HIT},  {"masks:", "total:", OVS_DP_MASKS},
    {"cache:", "hit:", OVS_DP_CACHE_HIT},
};

static const struct line_field port_fields[] = {
    {"RX packets:", "RX packets:", OVS_DPP_RX_PACKETS},
    {"RX packets:", "errors:", OVS_DPP_RX_ERRORS},
    {"RX packets:", "dropped:", OVS_DPP_RX_DROPPED},
    {"RX packets:", "overruns:", OVS_DPP_RX_OVERRUNS},
    {"RX packets:", "frame:", OVS_DPP_RX_FRAME},
    {"TX packets:", "TX packets:", OVS_DPP_TX_PACKETS},
    {"TX packets:", "errors:", OVS_DPP_TX_ERRORS},
    {"TX packets:", "dropped:", OVS_DPP_TX_DROPPED},
    {"TX packets:", "aborted:", OVS_DPP_TX_ABORTED},
    {"TX packets:", "carrier:", OVS_DPP_TX_CARRIER},
    {"collisions:", "collisions:", OVS_DPP_COLLISIONS},
    {"RX bytes:", "RX bytes:", OVS_DPP_RX_BYTES},
    {"RX bytes:", "TX bytes:", OVS_DPP_TX_BYTES},
    {"UPCALL packets:", "UPCALL packets:", OVS_DPP_UPCALL_PACKETS},
    {"UPCALL packets:", "errors:", OVS_DPP_UPCALL_ERRORS},
};

/* How deep a line stands: 0, 1 or 2 levels. */
static unsigned take_indent(struct ovs_span *line)
{
    unsigned depth = 0;
    while (depth < 2 && (ovs_take(line, "\t") || ovs_take(line, "  ")))
        depth++;
    return depth;
}

static void parse_fields(const struct line_field *fields, size_t n, struct ovs_span line, uint64_t *v,
                         uint32_t *has)
{
    uint64_t value;

    for (size_t i = 0; i < n; i++) {
        if (!ovs_span_starts(line, fields[i].line) || !ovs_field_u64(line, fields[i].field, &value))
            continue;
        v[fields[i].which] = value;
        *has |= 1u << fields[i].which;
    }
}

/* ---- the line of a port ---- */

static bool is_type_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* "tap)" or "dummy-pmd: n_rxq=1)" or "dpdk, could not retrieve configuration (why))": what follows a name and
 * " (". */
static bool parse_type(struct ovs_span text, struct ovs_dp_port *port)
{
    size_t len = 0;
    while (len < text.len && is_type_char(text.s[len]))
        len++;
    if (len == 0 || !ovs_span_ends(text, ")"))
        return false;
    struct ovs_span rest = ovs_span_from(text, len);
    rest.len--; /* the closing bracket */
    bool has_options = ovs_take(&rest, ": ");
    if (!has_options && rest.len > 0 && !ovs_span_starts(rest, ", "))
        return false;
    port->type = (struct ovs_span){.s = text.s, .len = len};
    port->options = has_options ? rest : ovs_span_from(rest, rest.len);
    return true;
}

/* Parts "NAME (type...)" at the last bracket that opens a type; without one all of it is the name. */
static bool split_name(struct ovs_dp_port *port, struct ovs_span text)
{
    port->name = text;
    for (size_t i = text.len; i-- > 2;) {
        if (text.s[i] != '(' || text.s[i - 1] != ' ' || !parse_type(ovs_span_from(text, i + 1), port))
            continue;
        port->name.len = i - 1;
        return true;
    }
    return false;
}

/* "port 3: vhost0 (dpdkvhostuserclient: ...)" */
static bool parse_port_head(struct ovs_span line, struct ovs_dp_port *port)
{
    uint64_t number;

    *port = (struct ovs_dp_port){0};
    if (!ovs_take(&line, "port ") || !ovs_take_u64(&line, &number) || number > UINT32_MAX ||
        !ovs_take(&line, ": "))
        return false;
    port->number = (uint32_t)number;
    split_name(port, line);
    return true;
}

/*
 * ", could not retrieve stats (Protocol error)" and ", open failed (...)" end without a newline: what comes
 * next stands on the same line and is left in `line`.
 */
static bool take_failure(struct ovs_span *line, struct ovs_span *why)
{
    struct ovs_span rest = *line;

    if (!ovs_take(&rest, ", could not retrieve stats (") && !ovs_take(&rest, ", open failed ("))
        return false;
    const char *end = rest.len ? memchr(rest.s, ')', rest.len) : NULL;
    if (!end)
        return false;
    *why = (struct ovs_span){.s = rest.s, .len = (size_t)(end - rest.s)};
    *line = ovs_span_from(rest, why->len + 1);
    return true;
}

/* ---- the whole ---- */

/* "netdev@ovs-netdev:" */
static bool parse_dp_head(struct ovs_span line, struct ovs_datapath *dp)
{
    size_t len = 0;
    while (len < line.len && is_type_char(line.s[len]))
        len++;
    if (len == 0 || !ovs_span_starts(ovs_span_from(line, len), "@") || !ovs_span_ends(line, ":"))
        return false;
    *dp = (struct ovs_datapath){.name = {.s = line.s, .len = line.len - 1}};
    return true;
}

static void add_datapath(struct ovs_dpctl *show, struct ovs_datapath dp)
{
    if (!ovs_grow((void **)&show->datapaths, &show->datapaths_cap, show->n_datapaths, sizeof(dp),
                  OVS_MAX_DATAPATHS)) {
        show->truncated = true;
        return;
    }
    show->datapaths[show->n_datapaths++] = dp;
}

static void add_port(struct ovs_dpctl *show, struct ovs_dp_port port)
{
    if (!ovs_grow((void **)&show->ports, &show->ports_cap, show->n_ports, sizeof(port), OVS_MAX_DP_PORTS)) {
        show->truncated = true;
        return;
    }
    port.datapath = (uint32_t)(show->n_datapaths - 1);
    show->ports[show->n_ports++] = port;
}

/* The port that following lines are about: the last one, when it belongs to the last datapath. */
static struct ovs_dp_port *current_port(struct ovs_dpctl *show)
{
    struct ovs_dp_port *port = show->n_ports ? &show->ports[show->n_ports - 1] : NULL;
    return port && port->datapath == show->n_datapaths - 1 ? port : NULL;
}

/* A name with a newline goes on in a line that is nothing else; the type may stand only there. */
static void continue_name(struct ovs_dp_port *port, struct ovs_span line)
{
    size_t len = (size_t)(line.s + line.len - port->name.s);

    if (port->has || port->type.len || port->failure.len || len > OVS_MAX_DP_PORT_NAME)
        return;
    split_name(port, (struct ovs_span){.s = port->name.s, .len = len});
}

static void parse_line(struct ovs_dpctl *show, struct ovs_span line)
{
    struct ovs_dp_port *port = current_port(show);
    struct ovs_span body = line;
    struct ovs_datapath dp;
    struct ovs_dp_port head;
    unsigned depth = take_indent(&body);

    if (depth == 0 && parse_dp_head(line, &dp))
        add_datapath(show, dp);
    else if (show->n_datapaths == 0)
        return;
    else if (depth == 1 && parse_port_head(body, &head))
        add_port(show, head);
    else if (depth == 2 && port)
        parse_fields(port_fields, sizeof(port_fields) / sizeof(port_fields[0]), body, port->v, &port->has);
    else if (depth == 1 && !port)
        parse_fields(dp_fields, sizeof(dp_fields) / sizeof(dp_fields[0]), body,
                     show->datapaths[show->n_datapaths - 1].v, &show->datapaths[show->n_datapaths - 1].has);
    else if (depth < 2 && port)
        continue_name(port, line);
}

void ovs_dpctl_parse(struct ovs_dpctl *show, struct ovs_span text)
{
    struct ovs_span line, why;

    show->n_datapaths = show->n_ports = 0;
    show->truncated = false;
    while (!show->truncated && ovs_next_line(&text, &line)) {
        struct ovs_dp_port *port = show->n_datapaths ? current_port(show) : NULL;
        if (port && take_failure(&line, &why))
            port->failure = why;
        parse_line(show, line);
    }
}

void ovs_dpctl_free(struct ovs_dpctl *show)
{
    free(show->datapaths);
    free(show->ports);
    *show = (struct ovs_dpctl){0};
}

bool ovs_dp_get(const struct ovs_datapath *dp, enum ovs_dp_counter which, uint64_t *value)
{
    if (!(dp->has & (1u << which)))
        return false;
    *value = dp->v[which];
    return true;
}

bool ovs_dp_port_get(const struct ovs_dp_port *port, enum ovs_dp_port_counter which, uint64_t *value)
{
    if (!(port->has & (1u << which)))
        return false;
    *value = port->v[which];
    return true;
}

bool ovs_dp_port_option(const struct ovs_dp_port *port, const char *key, struct ovs_span *value)
{
    struct ovs_span rest = port->options;
    size_t len = strlen(key);

    while (rest.len > 0) {
        const char *comma = memmem(rest.s, rest.len, ", ", 2);
        struct ovs_span item = {.s = rest.s, .len = comma ? (size_t)(comma - rest.s) : rest.len};
        rest = ovs_span_from(rest, item.len + 2);
        if (!ovs_span_starts(item, key) || !ovs_span_starts(ovs_span_from(item, len), "="))
            continue;
        *value = ovs_span_from(item, len + 1);
        return true;
    }
    return false;
}
