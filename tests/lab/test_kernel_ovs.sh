#!/bin/bash
# SPDX-License-Identifier: MIT
#
# vnettop on Open vSwitch's kernel datapath (type system), in the kernel VM, since the host's kernel may lack it: counters of
# ports against what was sent, upcalls of the datapath, a drop by a flow, a tunnel's port, and no switch called ovs-system.
#
# lab: beside light
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/kernel_vm.sh"
. "$LAB_DIR/record.sh"

SENT=300 DROPPED=20

setup() { # one boot for all cases
    local status=0
    need_vnettop
    need_command ovs-vswitchd ovs-vsctl
    cat >"$LAB/inside.sh" <<-'END'
	set -e
	modprobe openvswitch
	mkdir -p /etc/openvswitch /var/log/openvswitch /run/openvswitch
	rm -f /etc/openvswitch/conf.db
	. "$LAB_DIR/lib.sh"
	. "$LAB_DIR/ovs.sh"
	ovsdb_up
	ovs_start "$(readlink -f "$(command -v /usr/lib/openvswitch-switch/ovs-vswitchd || command -v ovs-vswitchd)")"
	for i in 0 1; do
	    ip netns add n$i
	    for which in all default; do # nothing but what is sent here
	        ip netns exec n$i sysctl -qw net.ipv6.conf.$which.disable_ipv6=1
	    done
	    ip link add v$i type veth peer name e$i netns n$i
	    ip link set v$i up
	    ip -n n$i link set e$i up
	done
	ovs-vsctl add-br br0 -- set bridge br0 datapath_type=system -- add-port br0 v0 -- add-port br0 v1 \
	    -- add-port br0 far -- set Interface far type=gre options:remote_ip=10.8.0.2
	there() { # a packet that comes through: the ports are up and the flow is in the kernel, so none after it is lost on the way
	    ip netns exec n0 "$TOOLS/sender" -i e0 -n 1
	    [ "$(cat /sys/class/net/v1/statistics/tx_packets)" -gt 0 ]
	}
	wait_until 30 there
	ip netns exec n0 "$TOOLS/sender" -i e0 -n $SENT -r 1000
	ovs-ofctl add-flow br0 "priority=99,in_port=v0,actions=drop"
	ip netns exec n0 "$TOOLS/sender" -i e0 -n $DROPPED -r 1000
	for table in ports datapaths sources; do
	    "$BUILD/vnettop" snapshot -d 1 --only ovs,netlink --table $table -o - >"$LAB/$table.csv"
	done
	for port in v0 v1; do
	    for way in rx tx; do echo "$port $way $(cat /sys/class/net/$port/statistics/${way}_packets)"; done
	done >"$LAB/truth"
	ovs-dpctl show >"$LAB/dpctl"
	ovs_down
	END
    (kernel_vm_run 300 "$LAB/inside.sh" LAB_DIR BUILD PYTHON SENT DROPPED >"$LAB/said") || status=$?
    assert_eq $status 0 "exit status inside: $(tail -n 3 "$LAB/said" | tr '\n' ' ')"
    INSIDE=$(dirname "$(find "$LAB" -name truth)")
}

t_counters() {
    local port way packets shown
    while read -r port way packets; do
        shown=$(csv "$INSIDE/ports.csv" "${way}_packets" name="$port")
        assert_eq "$shown" "$packets" "$port ${way}_packets"
    done <"$INSIDE/truth"
    [ "$(csv "$INSIDE/ports.csv" rx_packets name=v0)" -ge $((SENT + DROPPED)) ] || fail "v0 took less than was sent into it"
    [ "$(csv "$INSIDE/ports.csv" tx_packets name=v1)" -ge $SENT ] || fail "v1 gave less than was sent to it"
}

# One row a port: what the kernel and OVS tell of it; its switch is the bridge, not the datapath's device.
t_one_row() {
    assert_eq "$(csv "$INSIDE/ports.csv" switch name=v0)" br0
    assert_eq "$(csv "$INSIDE/ports.csv" datapath name=v0)" system@ovs-system
    assert_eq "$(csv "$INSIDE/ports.csv" kind name=v0)" veth
    assert_eq "$(csv "$INSIDE/ports.csv" ports name=ovs-system)" "" "the datapath's device counts no ports"
    assert_eq "$(csv "$INSIDE/ports.csv" kind name=far)" tunnel
}

# Look-ups, upcalls and flows as ovs-dpctl tells them.
t_upcalls() {
    local hit missed lost
    read -r hit missed lost < <(sed -n 's/.*lookups: hit:\([0-9]*\) missed:\([0-9]*\) lost:\([0-9]*\).*/\1 \2 \3/p' "$INSIDE/dpctl")
    [ "$missed" -gt 0 ] || fail "no upcall was made"
    assert_eq "$(csv "$INSIDE/datapaths.csv" hits)" "$hit"
    assert_eq "$(csv "$INSIDE/datapaths.csv" missed)" "$missed"
    assert_eq "$(csv "$INSIDE/datapaths.csv" lost)" "$lost"
}

# What a flow drops reached the switch and did not leave it.
t_drops() {
    local into out
    into=$(csv "$INSIDE/ports.csv" rx_packets name=v0)
    out=$(csv "$INSIDE/ports.csv" tx_packets name=v1)
    [ $((into - out)) -ge $DROPPED ] || fail "v0 took $into and v1 gave $out: $DROPPED were dropped by a flow"
}

lab_main "$@"
