# SPDX-License-Identifier: MIT
#
# Many PMDs on few cores without DPDK: OVS's dummy netdev datapath with four PMD threads on two NUMA nodes, ports p0 (node 0)
# and p1 (node 1) of two queues each, and packets put in one by one. Sourced by test scripts after lib.sh. It must not know
# what a test reads.
#
# shellcheck shell=bash

. "$LAB_DIR/ovs.sh"

DUMMY_QUEUE=100 # packets that a dummy port holds until its PMD comes by

ovs_dummy_up() { # bridge br0: what comes in at p0 goes out at p1, and the other way round
    local binary=/usr/lib/openvswitch-switch/ovs-vswitchd
    [ -x $binary ] || binary=$(command -v ovs-vswitchd) || skip "ovs-vswitchd is not installed"
    ovsdb_up
    ovs-vsctl --no-wait set Open_vSwitch . other_config:pmd-cpu-mask=f
    ovs_start "$binary" --enable-dummy --disable-system --dummy-numa=0,0,1,1
    ovs-vsctl add-br br0 -- set bridge br0 datapath_type=netdev
    ovs_dummy_port p0 0
    ovs_dummy_port p1 1
    ovs-ofctl del-flows br0
    ovs-ofctl add-flow br0 in_port=p0,actions=output:p1
    ovs-ofctl add-flow br0 in_port=p1,actions=output:p0
    wait_until 10 at_least 4 ovs_dummy_pmds
}

ovs_dummy_port() { # NAME NUMA [N_RXQ]
    ovs-vsctl add-port br0 "$1" -- set Interface "$1" type=dummy-pmd options:n_rxq="${3:-2}" options:numa_id="$2"
}

ovs_dummy_pmds() { # how many PMD threads poll a queue
    ovs_app dpif-netdev/pmd-rxq-show | awk '/^pmd/ { pmd = $0 } /port:/ && !seen[pmd]++ { n++ } END { print n + 0 }'
}

# Exactly COUNT packets into one queue. A dummy port silently drops what its queue of 100 does not hold, so each batch
# waits for the one before.
ovs_dummy_send() { # PORT QUEUE COUNT
    local flow left=$3 batch before packets
    flow='in_port(1),eth(src=52:54:00:00:00:01,dst=52:54:00:00:00:02),eth_type(0x0800),'
    flow+='ipv4(src=10.97.0.1,dst=10.97.0.2,proto=17,tos=0,ttl=64,frag=no),udp(src=1,dst=2)'
    before=$(ovs_port_stat "$1" rx pkts)
    while [ "$left" -gt 0 ]; do
        batch=$((left < DUMMY_QUEUE ? left : DUMMY_QUEUE))
        mapfile -t packets < <(yes "$flow" | head -n "$batch")
        ovs_app netdev-dummy/receive "$1" --qid "$2" "${packets[@]}"
        left=$((left - batch)) before=$((before + batch))
        wait_until 5 at_least $before ovs_port_stat "$1" rx pkts
    done
}
