/* SPDX-License-Identifier: MIT */
/*
 * Rows and infos made together, one info a row, and the inventory kept as long as a new one says the same:
 * for reads whose things are only known once they are parsed. Called by the feed `ovs-queues`.
 *
 *     ovs_infos_start(&infos);
 *     info = inventory_info(infos.inventory, ...); row = ovs_infos_row(&infos, sample, TABLE_RXQS, info);
 *     ovs_infos_settle(&infos, sample);
 */
#ifndef COLLECTORS_OVS_INFOS_H
#define COLLECTORS_OVS_INFOS_H

#include "src/sample.h"

struct ovs_infos_list {
    struct inventory *inventory;
    struct {
        enum table_id table;
        const void *info;
    } * items;
    size_t n, cap;
};

struct ovs_infos {
    struct inventory *inventory; /* the one being filled */
    struct ovs_infos_list fresh, kept;
};

void ovs_infos_start(struct ovs_infos *infos);
void *ovs_infos_row(struct ovs_infos *infos, struct sample *sample, enum table_id table, const void *info);

/* Gives the sample its inventory: the kept one, its rows turned to it, when every info is as it was. */
void ovs_infos_settle(struct ovs_infos *infos, struct sample *sample);
void ovs_infos_free(struct ovs_infos *infos);

#endif
