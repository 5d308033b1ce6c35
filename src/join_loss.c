/* SPDX-License-Identifier: MIT */
/* Which ports lose packets (see join.h): found by comparing counters, before any rate is computed. */
#include <stdlib.h>
#include <string.h>

#include "src/join_inside.h"
#include "src/memory.h"

#define COUNTERS_MAX 32

struct counter {
    uint16_t offset, slot;
};

/* The columns that count what is lost or wrong. */
static size_t loss_counters(struct counter counters[COUNTERS_MAX])
{
    const struct column *others[] = {COLUMN_OF(ports, rx_errors), COLUMN_OF(ports, tx_errors),
                                     COLUMN_OF(ports, carrier_changes)};
    const struct table *table = table_get(TABLE_PORTS);
    size_t n = 0;
    for (size_t i = 0; i < table->n_columns && n < COUNTERS_MAX; i++)
        if (table->columns[i].flags & COL_LOSS && table->columns[i].type == TYPE_CNT)
            counters[n++] = (struct counter){table->columns[i].offset, table->columns[i].slot};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && n < COUNTERS_MAX; i++)
        counters[n++] = (struct counter){others[i]->offset, others[i]->slot};
    return n;
}

static bool any_rose(const struct part *part, const struct counter *counters, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!slot_test(&part->cur->have, counters[i].slot))
            continue;
        if (memcmp((const char *)part->cur + counters[i].offset,
                   (const char *)part->prev + counters[i].offset, sizeof(uint64_t)) != 0)
            return true;
    }
    return false;
}

static bool is_lossy(const struct frame_row *port, const struct counter *counters, size_t n)
{
    for (const struct part *part = &port->part; part; part = part->next)
        if (part->prev && any_rose(part, counters, n))
            return true;
    return false;
}

/* OVS's NICs are ethdevs of its own DPDK, which tells of them once more. */
bool join_is_told_by_ovs(const struct frame *frame, const struct frame_row *port)
{
    const char *program = JOIN_TEXT(port, struct ports_info, switch_);
    const struct frame_table *ports = &frame->table[TABLE_PORTS];
    uint64_t number, theirs;
    if (strncmp(port->key, "dpdk:", 5) != 0 || !program || strncmp(program, "ovs-vswitchd", 12) != 0 ||
        !join_info_number(port, offsetof(struct ports_info, dpdk_port), &number))
        return false;
    for (size_t i = 0; i < ports->n; i++)
        if (strncmp(ports->rows[i].key, "ovs:", 4) == 0 &&
            join_info_number(&ports->rows[i], offsetof(struct ports_info, dpdk_port), &theirs) &&
            theirs == number)
            return true;
    return false;
}

static void find_lossy(const struct frame *frame, struct join *join)
{
    struct counter counters[COUNTERS_MAX];
    size_t n = loss_counters(counters);
    const struct frame_table *ports = &frame->table[TABLE_PORTS];
    join->lossy = xrealloc(NULL, ports->n, sizeof(const struct frame_row *));
    for (size_t i = 0; i < ports->n; i++)
        if (is_lossy(&ports->rows[i], counters, n) && !join_is_told_by_ovs(frame, &ports->rows[i]))
            join->lossy[join->n_lossy++] = &ports->rows[i];
}

const struct frame_row *const *join_lossy_ports(const struct frame *frame, size_t *n)
{
    struct join *join = join_get(frame);
    *n = 0;
    if (!join)
        return NULL;
    if (!join->lossy)
        find_lossy(frame, join);
    *n = join->n_lossy;
    return join->lossy;
}
