#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Proves the kernel VM: another kernel on the host's files, modules that the host may lack, output and exit status handed
# out, and the topologies of topo_net.sh that the host's own kernel may have to skip.
#
# lab: beside light
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/kernel_vm.sh"

setup() { # one boot for all cases
    local status=0
    cat >"$LAB/inside.sh" <<-'END'
	uname -r >"$LAB/uname"
	modprobe -a openvswitch sch_netem dummy vhost_net || exit 1
	ip link add d0 type dummy && tc qdisc add dev d0 root netem loss 100% && echo netem
	[ -d /sys/module/openvswitch ] && [ -e /dev/vhost-net ] && echo modules
	bash "$LAB_DIR/test_selfcheck.sh" vlan ipvlan bond
	exit 3
	END
    (kernel_vm_run 240 "$LAB/inside.sh" LAB_DIR BUILD >"$LAB/said") || status=$?
    cat "$LAB/said"
    assert_eq $status 3 "exit status of the script inside"
    INSIDE=$(dirname "$(find "$LAB" -name uname)")
}

t_other_kernel() {
    assert_eq "$(cat "$INSIDE/uname")" "$(kernel_version amd64)"
}

t_modules() {
    assert_eq "$(grep -v / "$LAB/said" | xargs)" "netem modules"
}

t_stacked_links() {
    assert_eq "$(grep /  "$LAB/said" | xargs)" "ok selfcheck/vlan ok selfcheck/ipvlan ok selfcheck/bond"
}

lab_main "$@"
