#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two guests that libvirt does not know, floating over all CPUs, 1000 packets a second, well.
#
# lab: beside healthy
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/guests.sh"
. "$LAB_DIR/healthy.sh"

setup() {
    need_vnettop
    need_command qemu-system-x86_64
    plain_up rate=1000
    first_in_line "$(guest_pid plaintx)" "$(guest_pid plainrx)"
}

t_is_silent() {
    healthy_is_silent paths to_guest_pps 500 1200 vm=plainrx
}

lab_main "$@"
