#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Proves the two libvirt guests on a bridge: they boot, packets flow, and what the guests count is what their taps count.
#
# lab: beside light
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/guests.sh"

setup() {
    guests_up rate=20000
}

t_libvirt_knows_both() {
    assert_eq "$(virsh -c qemu:///system list --name | sort | xargs)" "vmrx vmtx"
    assert_eq "$(readlink /sys/class/net/vmrx-t0/brport/bridge | xargs basename)" labbr0
    assert_match "$(threads_of "$(guest_pid vmrx)")" 'CPU 0/TCG'
}

t_packets_flow() {
    local before
    before=$(guest_counter vmrx rx_packets)
    wait_until 10 at_least $((before + 10000)) guest_counter vmrx rx_packets
}

# Since `sent`, `got` and `dropped` were read: what was asked for, a question of ARP now and then, and each of them to the end.
assert_sent() { # NUMBER
    sent=$(($(link_stat vmtx-t0 rx_packets) - sent))
    assert_between $sent "$1" $(($1 + 10)) "sent"
    assert_eq "$(($(link_stat vmrx-t0 tx_packets) - got + $(link_stat vmrx-t0 tx_dropped) - dropped))" $sent "delivered + dropped"
}

# A tap's tx is what goes to the guest. 64 bytes for pktgen are 60 on the wire: it counts the checksum.
t_guest_counts_what_the_tap_counts() {
    local sent got dropped
    guest_quiet vmtx vmrx
    sent=$(link_stat vmtx-t0 rx_packets) got=$(link_stat vmrx-t0 tx_packets) dropped=$(link_stat vmrx-t0 tx_dropped)
    assert_eq "$(guest_counter vmtx tx_packets)" "$sent" "sent by vmtx"
    assert_eq "$(guest_counter vmrx rx_packets)" "$got" "received by vmrx"
    guest_send vmtx vmrx 5000 5000
    assert_sent 5000
    assert_eq "$(guest_counter vmrx rx_packets)" "$(link_stat vmrx-t0 tx_packets)" "received by vmrx at the end"
}

# As fast as it can: the receiver's tap drops, and nothing is lost without a counter.
t_overload_is_counted_at_the_tap() {
    guest_quiet vmtx vmrx
    local sent got dropped
    sent=$(link_stat vmtx-t0 rx_packets) got=$(link_stat vmrx-t0 tx_packets) dropped=$(link_stat vmrx-t0 tx_dropped)
    guest_send vmtx vmrx 100000 max
    assert_sent 100000
}

lab_main "$@"
