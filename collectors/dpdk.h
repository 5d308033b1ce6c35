/* SPDX-License-Identifier: MIT */
/*
 * Collectors of the source `dpdk`: every DPDK process that has a telemetry socket. The fast feed reads the
 * counters of all ethdevs and the times of lcore threads; the slow one what costs the application more or
 * changes rarely: link state, extended statistics, mempools, busy cycles. Both use one connection a process
 * (dpdk_hub.h).
 *
 * Keys. ports: "dpdk:PID:STARTTIME:DEVICE", and for an ovs-vswitchd, whose ports the source ovs tells of too,
 * "dpdk:PID:STARTTIME:portN" with N its DPDK port number (OVSDB: Interface.status:port_no). counters:
 * "counter:", the port's key, ":", the statistic's name. threads: "thread:PID:TID".
 */
#ifndef COLLECTORS_DPDK_H
#define COLLECTORS_DPDK_H

#include "collectors/dpdk_hub.h"

extern const struct collector dpdk_collector;
extern const struct collector dpdk_slow_collector;

#define DPDK_PORT_KEY_SIZE 160

void dpdk_port_key(const struct dpdk_process *process, const struct dpdk_port *port,
                   char key[DPDK_PORT_KEY_SIZE]);

#endif
