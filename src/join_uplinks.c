/* SPDX-License-Identifier: MIT */
/* Where a port's packets leave the host (see join.h): the switch it is of, and that switch's ways out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/join_inside.h"
#include "src/memory.h"

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Namespace of a kernel's port ("net:1:"), run folder of an OVS's ("ovs:/run/openvswitch:"): two switches of
 * one name differ in it. */
static size_t place_length(const char *key)
{
    const char *end = strncmp(key, "net:", 4) == 0 ? strchr(key + 4, ':') : strrchr(key, ':');
    return end ? (size_t)(end - key) + 1 : strlen(key);
}

bool join_same_place(const struct frame_row *a, const struct frame_row *b)
{
    size_t length = place_length(a->key);
    bool alike = strncmp(a->key, b->key, 4) == 0;
    return !alike || (length == place_length(b->key) && strncmp(a->key, b->key, length) == 0);
}

bool join_is_in_ovs(const struct frame_row *port)
{
    return JOIN_TEXT(port, struct ports_info, datapath) != NULL;
}

/* OVS has ports of both kinds in one bridge; where both are of a kind, the place decides. */
bool join_same_switch(const struct frame_row *a, const struct frame_row *b)
{
    return join_is_in_ovs(a) == join_is_in_ovs(b) &&
           same_text(join_switch_of_port(a), join_switch_of_port(b)) && join_same_place(a, b);
}

/* --- ways out --- */

bool join_leads_out(const struct frame_row *port)
{
    static const char *const kinds[] = {"physical", "bond",   "team",   "vlan",
                                        "dpdk",     "ethdev", "tunnel", "vxlan"};
    const char *kind = JOIN_TEXT(port, struct ports_info, kind);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (same_text(kind, kinds[i]))
            return true;
    return false;
}

static void find_ways_out(const struct frame *frame, struct join *join)
{
    const struct frame_table *ports = &frame->table[TABLE_PORTS];
    join->ways_out = xrealloc(NULL, ports->n, sizeof(const struct frame_row *));
    for (size_t i = 0; i < ports->n; i++)
        if (join_leads_out(&ports->rows[i]))
            join->ways_out[join->n_ways_out++] = &ports->rows[i];
}

/* The NIC that a port without a switch is a part of: of a virtual function ("net:1:2:vf3") its physical one,
 * of a macvtap the device below. */
static bool is_below(const struct frame_row *nic, const struct frame_row *port)
{
    const char *kind = JOIN_TEXT(port, struct ports_info, kind), *vf = strstr(port->key, ":vf");
    if (same_text(kind, "vf") && vf)
        return strlen(nic->key) == (size_t)(vf - port->key) &&
               strncmp(nic->key, port->key, (size_t)(vf - port->key)) == 0;
    bool own_kind = same_text(kind, "macvtap") || same_text(kind, "ipvtap") || same_text(kind, "macvlan");
    return own_kind && join_same_place(nic, port) &&
           same_text(JOIN_TEXT(nic, struct ports_info, name), JOIN_TEXT(port, struct ports_info, link));
}

size_t join_uplinks(const struct frame *frame, const struct frame_row *port, const struct frame_row **uplinks,
                    size_t most)
{
    struct join *join = join_get(frame);
    size_t n = 0;
    if (!join)
        return 0;
    if (!join->ways_out)
        find_ways_out(frame, join);
    bool switched = join_switch_of_port(port) != NULL;
    for (size_t i = 0; i < join->n_ways_out; i++) {
        const struct frame_row *way = join->ways_out[i];
        if (way == port || !(switched ? join_same_switch(way, port) : is_below(way, port)))
            continue;
        if (n < most)
            uplinks[n] = way;
        n++;
    }
    return n;
}

#define NAMED 3

const char *join_uplink_names(const struct frame *frame, const struct frame_row *port)
{
    const struct frame_row *uplinks[NAMED];
    size_t n = join_uplinks(frame, port, uplinks, NAMED), used = 0;
    char text[160] = "";
    for (size_t i = 0; i < n && i < NAMED; i++) {
        const char *name = JOIN_TEXT(uplinks[i], struct ports_info, name);
        char visible[41];
        join_short_text(visible, sizeof(visible), name ? name : "?");
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", visible);
    }
    if (n > NAMED)
        snprintf(text + used, sizeof(text) - used, ", %zu more", n - NAMED);
    return n ? join_keep(frame, text) : NULL;
}
