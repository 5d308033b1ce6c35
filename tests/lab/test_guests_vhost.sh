#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Proves the full case: two libvirt guests through OVS-DPDK, and what they count is what OVS counts.
#
# lab: beside light
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/guests_vhost.sh"

setup() {
    guests_vhost_up
}

t_packets_flow() {
    local before
    before=$(ovs_port_stat vhu-tx rx pkts)
    wait_until 20 at_least $((before + 5000)) ovs_port_stat vhu-tx rx pkts
    wait_until 20 at_least 1000 guest_counter vmrx rx_packets
    assert_match "$(threads_of "$(guest_pid vmrx)")" 'CPU 0/TCG'
}

t_guest_counts_what_ovs_counts() {
    local rx tx drop got
    guest_quiet vmtx vmrx
    rx=$(ovs_port_stat vhu-tx rx pkts) got=$(guest_counter vmrx rx_packets)
    tx=$(ovs_port_stat vhu-rx tx pkts) drop=$(ovs_port_stat vhu-rx tx drop)
    assert_eq "$rx" "$(guest_counter vmtx tx_packets)" "sent by vmtx"
    guest_send vmtx vmrx 5000 5000
    assert_eq "$(($(ovs_port_stat vhu-tx rx pkts) - rx))" 5000 "exactly what was asked for"
    assert_eq "$(($(ovs_port_stat vhu-rx tx pkts) - tx + $(ovs_port_stat vhu-rx tx drop) - drop))" 5000 "delivered + dropped"
    assert_eq "$(($(guest_counter vmrx rx_packets) - got))" "$(($(ovs_port_stat vhu-rx tx pkts) - tx))" "received by vmrx"
}

lab_main "$@"
