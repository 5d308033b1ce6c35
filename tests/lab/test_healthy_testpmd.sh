#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One testpmd that forwards between two null ports as fast as it can, well.
#
# lab: beside healthy
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/ovs_dpdk.sh"
. "$LAB_DIR/healthy.sh"

setup() {
    need_vnettop
    need_command dpdk-testpmd
    mkfifo "$LAB/testpmd.in"
    sleep infinity >"$LAB/testpmd.in" & # keeps it from reading an end of file
    stdbuf -oL dpdk-testpmd --no-huge --file-prefix=well --no-pci -l 0,1 -m 128 --vdev net_null0 --vdev net_null1 -- \
        --auto-start --no-mlockall --total-num-mbufs=2048 <"$LAB/testpmd.in" >"$LAB/testpmd.log" 2>&1 &
    wait_until 20 grep -q "packet forwarding" "$LAB/testpmd.log"
}

t_is_silent() {
    healthy_is_silent ports rx_pps 1e5 1e10 dpdk_port=0
}

lab_main "$@"
