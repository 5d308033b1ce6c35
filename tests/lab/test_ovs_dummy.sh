#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Proves the dummy datapath: four PMDs on two nodes, and N packets put in are N at the port, at its PMD and at the other port.
#
# lab: beside light
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/ovs_dummy.sh"

setup() {
    ovs_dummy_up
}

t_four_pmds_on_two_nodes() {
    local threads
    threads=$(threads_of "$(cat "$OVS_PIDFILE")" | grep -c 'pmd-c0[0-3]')
    assert_eq "$threads" 4 "PMD threads"
    assert_match "$(ovs_app dpif-netdev/pmd-rxq-show)" 'numa_id 1 core_id 3'
}

t_packets_are_counted() {
    local rx tx pmds core
    rx=$(ovs_port_stat p0 rx pkts) tx=$(ovs_port_stat p1 tx pkts)
    ovs_dummy_send p0 0 250
    ovs_dummy_send p0 1 50
    assert_eq "$(($(ovs_port_stat p0 rx pkts) - rx))" 300 "into p0"
    wait_until 5 at_least $((tx + 300)) ovs_port_stat p1 tx pkts
    for core in 0 1 2 3; do pmds=$((${pmds:-0} + $(ovs_pmd_stat $core "packets received"))); done
    assert_eq "$pmds" 300 "received by all PMDs"
}

lab_main "$@"
