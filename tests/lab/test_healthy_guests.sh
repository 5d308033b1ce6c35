#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two libvirt guests on a bridge, each vCPU on a CPU of its own, 1000 packets a second, well.
#
# lab: beside healthy
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/guests.sh"
. "$LAB_DIR/healthy.sh"

setup() {
    need_vnettop
    [ "$(nproc)" -ge 2 ] || skip "one CPU alone: the guests cannot be apart"
    guests_up rate=1000 tx.pin=0 rx.pin=1
    first_in_line "$(guest_pid vmtx)" "$(guest_pid vmrx)"
}

t_is_silent() {
    healthy_is_silent paths to_guest_pps 500 1200 vm=vmrx
}

lab_main "$@"
