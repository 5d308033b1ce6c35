#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Open vSwitch with a PMD on each of two nodes that sleep when there is nothing to do, and a trickle of packets, well.
#
# lab: beside healthy
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/ovs_dummy.sh"
. "$LAB_DIR/healthy.sh"

setup() {
    need_vnettop
    ovs_dummy_up
    ovs-vsctl set Open_vSwitch . other_config:pmd-cpu-mask=5 other_config:pmd-maxsleep=1000
    wait_until 10 eval '[ "$(ovs_dummy_pmds)" = 2 ]'
}

trickle() { # until it is ended; packets that its PMD has not taken from the queue of 100 would be lost
    while :; do ovs_dummy_send p0 0 20; done
}

t_is_silent() {
    trickle &
    defer kill $!
    healthy_is_silent ports rx_pps 1 1e6 name=p0
}

lab_main "$@"
