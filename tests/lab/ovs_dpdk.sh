# SPDX-License-Identifier: MIT
#
# OVS-DPDK with two vhost-user ports, vhu0 and vhu1 of bridge br0, and two testpmd processes as guests: guest0 sends at
# about a million packets per second, guest1 receives. Sourced by test scripts after lib.sh; call from setup, the lab ends
# all of it. It must not know what a test measures.
#
# shellcheck shell=bash

. "$LAB_DIR/ovs.sh"

OVS_DPDK_BINARY=/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk

# Without a limit OVS takes all huge pages for the packets of its first port, and the guests get none.
ovs_dpdk_up() { # [HUGE_PAGES]: OVS alone with an empty br0; one PMD on CPU 0, the main thread on CPU 1
    [ -x $OVS_DPDK_BINARY ] || skip "no OVS-DPDK; install openvswitch-switch-dpdk"
    hugepages_take "${1:-288}"
    ovsdb_up
    ovs-vsctl --no-wait set Open_vSwitch . other_config:dpdk-init=true other_config:dpdk-extra=--no-pci \
        other_config:dpdk-socket-mem=256 other_config:dpdk-socket-limit=256 other_config:pmd-cpu-mask=0x1 other_config:dpdk-lcore-mask=0x2
    ovs_start $OVS_DPDK_BINARY
    ovs-vsctl --timeout=20 add-br br0 -- set bridge br0 datapath_type=netdev
}

ovs_dpdk_port() { # PORT SOCKET: a vhost-user client, the guest is the server
    ovs-vsctl --timeout=20 add-port br0 "$1" -- set Interface "$1" type=dpdkvhostuserclient \
        options:vhost-server-path="$2"
}

ovs_dpdk_null() { # PORT: an ethdev of DPDK's inside OVS, that receives nothing
    ovs-vsctl --timeout=20 add-port br0 "$1" -- set Interface "$1" type=dpdk options:dpdk-devargs=eth_"$1",no-rx=1
}

ovs_dpdk_connected() { # PORT: whether a guest holds it
    [ "$(ovs-vsctl get Interface "$1" status:status 2>/dev/null | tr -d '"')" = connected ]
}

# Every question on a connection of its own; the answer is one packet of JSON.
telemetry_ask() { # SOCKET COMMAND
    "$PYTHON" -I -S -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(5)
s.connect(sys.argv[1])
s.recv(1 << 16)
s.send(sys.argv[2].encode())
print(s.recv(1 << 20).decode())
' "$@"
}

testpmd_start() { # NUMBER MODE [OPTIONS...]: guest NUMBER with forward mode MODE on $LAB/vhuNUMBER.sock
    need_command dpdk-testpmd
    # The pipe that never speaks keeps testpmd from reading an end of file as "stop".
    mkfifo "$LAB/guest$1.in"
    sleep infinity >"$LAB/guest$1.in" &
    nice -n 19 dpdk-testpmd --file-prefix="guest$1" --single-file-segments --no-pci -l 0,1 -m 128 \
        --vdev "net_virtio_user0,path=$LAB/vhu$1.sock,server=1,queues=1" -- --forward-mode="$2" --auto-start \
        --no-mlockall --total-num-mbufs=8192 "${@:3}" <"$LAB/guest$1.in" >"$LAB/guest$1.log" 2>&1 &
    echo $! >"$LAB/guest$1.pid"
}

# Guests that spin beside OVS's main thread keep it from shaking hands for ten seconds, so they start as nice ones and
# become its equals when both ports are connected.
testpmd_hurry() { # NUMBER...
    local number task
    for number in "$@"; do
        for task in "/proc/$(cat "$LAB/guest$number.pid")/task"/*; do renice -n 0 -p "${task##*/}"; done
    done
}

# Packets from guest0 to guest1; more than they can take, so that vhu1 drops. The receiver comes first: a vhost-user port
# counts from zero when its guest connects, and drops what came before without a trace.
ovs_dpdk_guests_up() {
    ovs_dpdk_up "${1:-288}"
    ovs_dpdk_port vhu0 "$LAB/vhu0.sock"
    ovs_dpdk_port vhu1 "$LAB/vhu1.sock"
    testpmd_start 1 rxonly
    wait_until 60 ovs_dpdk_connected vhu1
    testpmd_start 0 txonly
    wait_until 60 ovs_dpdk_connected vhu0
    testpmd_hurry 0 1
    wait_until 20 at_least 100000 ovs_port_stat vhu0 rx pkts
}

ovs_dpdk_guests_down() {
    daemon_end "$LAB/guest0.pid"
    daemon_end "$LAB/guest1.pid"
    ovs_down
}
