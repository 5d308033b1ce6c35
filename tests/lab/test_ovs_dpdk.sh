#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Proves OVS-DPDK with two testpmd guests: packets flow, what vhu1 cannot take it counts as dropped, telemetry answers.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/ovs_dpdk.sh"

setup() {
    ovs_dpdk_guests_up
}

t_packets_flow_and_drop() {
    local before
    before=$(ovs_port_stat vhu0 rx pkts)
    wait_until 10 at_least $((before + 500000)) ovs_port_stat vhu0 rx pkts
    assert_between "$(ovs_port_stat vhu1 tx pkts)" 1 1e12 "delivered to vhu1"
    assert_between "$(ovs_port_stat vhu1 tx drop)" 1 1e12 "dropped at vhu1"
    assert_between "$(ovs_pmd_stat 0 "packets received")" 500000 1e12 "received by the PMD"
}

t_in_is_out_and_dropped() {
    local rx tx drop
    daemon_end "$LAB/guest0.pid"
    wait_until 10 still ovs_pmd_stat 0 "packets received"
    tx=$(ovs_port_stat vhu1 tx pkts) drop=$(ovs_port_stat vhu1 tx drop)
    rx=$(ovs_pmd_stat 0 "packets received")
    assert_eq "$((tx + drop))" "$rx" "delivered + dropped against received"
}

t_telemetry_answers() {
    assert_eq "$(telemetry_ask /run/dpdk/guest1/dpdk_telemetry.v2 /ethdev/list)" '{"/ethdev/list":[0]}' "guest1"
    assert_eq "$(telemetry_ask /run/dpdk/rte/dpdk_telemetry.v2 /ethdev/list)" '{"/ethdev/list":[]}' "OVS: vhost-user ports are none"
    ovs_dpdk_null null0
    assert_eq "$(telemetry_ask /run/dpdk/rte/dpdk_telemetry.v2 /ethdev/list)" '{"/ethdev/list":[0]}' "OVS with an ethdev"
}

lab_main "$@"
