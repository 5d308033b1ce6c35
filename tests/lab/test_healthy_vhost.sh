#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two libvirt guests on vhost-user ports of OVS-DPDK, apart from its PMD, 1000 packets a second, well.
#
# lab: beside healthy
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/guests_vhost.sh"
. "$LAB_DIR/healthy.sh"

setup() {
    need_vnettop
    [ "$(nproc)" -ge 2 ] || skip "one CPU alone: guests and the PMD cannot be apart"
    guests_vhost_up rate=1000 pin=1
    first_in_line "$(guest_pid vmtx)" "$(guest_pid vmrx)" "$(cat "$OVS_PIDFILE")"
}

t_is_silent() {
    healthy_is_silent paths to_guest_pps 500 1200 vm=vmrx
    assert_eq "$(csv_last "$LAB/rec/paths.csv" switch vm=vmrx)" br0 "the port is found by its socket"
    assert_eq "$(csv_last "$LAB/rec/paths.csv" serving vm=vmrx)" "pmd 0"
    assert_eq "$(csv_last "$LAB/rec/ports.csv" vm name=vhu-rx)" vmrx
}

lab_main "$@"
