#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A bridge of two namespaces that carries 5000 packets a second, well.
#
# lab: beside healthy
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/healthy.sh"

setup() {
    need_vnettop
    net_pair_on_bridge labbr0
}

t_is_silent() {
    NET_FROM=lab-a send_on a0 5000 -u 10.98.0.2:9
    healthy_is_silent ports tx_pps 3000 5500 name=b0-br
}

lab_main "$@"
