# SPDX-License-Identifier: MIT
#
# The full case: the two libvirt guests of guests.sh on vhost-user ports of OVS-DPDK, with their memory in huge pages. vmtx
# is port vhu-tx, vmrx is vhu-rx of bridge br0. Sourced by test scripts after lib.sh; call from setup, the lab ends it. It
# must not know what a test measures.
#
# shellcheck shell=bash

. "$LAB_DIR/guests.sh"
. "$LAB_DIR/ovs_dpdk.sh"

guests_vhost_up() { # [OPTIONS...] of guests.sh; rate is 10000 unless given
    # OVS's 256 MB, two guests of 128 MB, and some for their edges. The mount must be there before libvirtd looks for it.
    ovs_dpdk_up 288
    mkdir -p "$GUEST_FILES"
    chown libvirt-qemu: "$GUEST_FILES"
    ovs_dpdk_port vhu-rx "$GUEST_FILES/vhu-rx.sock"
    ovs_dpdk_port vhu-tx "$GUEST_FILES/vhu-tx.sock"
    guests_up net=vhostuser rate=10000 "$@"
    wait_until 60 ovs_dpdk_connected vhu-rx
    wait_until 60 ovs_dpdk_connected vhu-tx
}

guests_vhost_down() {
    guests_down
    ovs_down
}
