#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Proves the guests that libvirt does not know: packets flow, and their vCPU threads have names, or none, as asked for.
#
# lab: beside light
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/guests.sh"

setup() {
    need_command qemu-system-x86_64
    plain_up rx.debug_threads=off
}

t_packets_flow() {
    local before
    before=$(link_stat plainrx-t0 tx_packets)
    wait_until 10 at_least $((before + 5000)) link_stat plainrx-t0 tx_packets
    wait_until 10 at_least "$before" guest_counter plainrx rx_packets
}

t_names_of_threads() {
    assert_match "$(threads_of "$(guest_pid plaintx)")" 'CPU 0/TCG'
    assert_eq "$(threads_of "$(guest_pid plainrx)" | grep -c 'CPU 0')" 0 "named vCPUs without debug-threads"
}

lab_main "$@"
