# SPDX-License-Identifier: MIT
#
# Kernel topologies of the lab, made of what one machine has: bridges, veth pairs into named namespaces, taps that nobody
# reads, tunnels, stacked devices, queues of a known size. Sourced by test scripts after lib.sh; each function undoes
# itself by `defer` when its case ends. It must not know which counters a test compares.
#
# shellcheck shell=bash

# A namespace of `ip netns`, without IPv6's own packets.
net_ns() { # NAME
    ip netns add "$1"
    defer net_ns_gone "$1"
    ip netns exec "$1" sh -c 'for f in all default; do echo 1 >/proc/sys/net/ipv6/conf/$f/disable_ipv6; done' 2>/dev/null || true
    ip -n "$1" link set lo up
}

# Its devices live until the last process in it ends, and the next case may want their names.
net_ns_gone() { # NAME
    local pids
    pids=$(ip netns pids "$1")
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -KILL $pids
    ip netns del "$1"
}

net_del() { # DEV: if it is still there
    ip link del "$1" 2>/dev/null || true
}

net_bridge() { # NAME: no spanning tree, no snooping, so that it sends nothing of its own
    ip link add "$1" type bridge stp_state 0 mcast_snooping 0
    defer net_del "$1"
    ip link set "$1" up
}

net_veth() { # DEV PEER [NETNS]: a pair, PEER in NETNS, both up
    ip link add "$1" type veth peer name "$2" ${3:+netns "$3"}
    defer net_del "$1"
    ip link set "$1" up
    ip ${3:+-n "$3"} link set "$2" up
}

# lab-a (a0) -- a0-br - BRIDGE - b0-br -- (b0) lab-b. Addresses 10.98.0.1 and 10.98.0.2, neighbours known on both sides.
net_pair_on_bridge() { # BRIDGE
    local side number
    net_bridge "$1"
    for side in a b; do
        number=$([ $side = a ] && echo 1 || echo 2)
        net_ns "lab-$side"
        net_veth "${side}0-br" "${side}0" "lab-$side"
        ip link set "${side}0-br" master "$1"
        ip -n "lab-$side" link set "${side}0" address "52:54:98:00:00:0$number"
        ip -n "lab-$side" address add "10.98.0.$number/24" dev "${side}0"
    done
    ip -n lab-a neighbour add 10.98.0.2 lladdr 52:54:98:00:00:02 dev a0
    ip -n lab-b neighbour add 10.98.0.1 lladdr 52:54:98:00:00:01 dev b0
    # Both addresses learnt for good: a frame to b floods nowhere.
    bridge fdb replace 52:54:98:00:00:01 dev a0-br master static
    bridge fdb replace 52:54:98:00:00:02 dev b0-br master static
}

# A tap held by a process that reads nothing, or READ packets: what its queue does not take is its tx_dropped.
net_tap() { # NAME TXQUEUELEN [READ]; sets NET_TAP_PID and NET_TAP_SAYS (a file)
    NET_TAP_SAYS=$LAB/tap-$1.out
    "$TOOLS/tapnobody" -i "$1" -q "$2" -r "${3:-0}" >"$NET_TAP_SAYS" &
    NET_TAP_PID=$!
    defer net_end $NET_TAP_PID
    wait_until 5 grep -q "^ready" "$NET_TAP_SAYS"
}

net_end() { # PID: a child of this shell, and wait for its devices to go with it
    kill "$1" 2>/dev/null && wait "$1"
}

# Whether this kernel makes links of a kind; the case is skipped with the kernel's word for it where not.
net_need_kind() { # KIND [OPTIONS...]
    local error
    if ! error=$(ip link add lab-probe type "$@" 2>&1); then
        skip "this kernel makes no $1 link: ${error:-no reason given}"
    fi
    ip link del lab-probe
}

net_need_stacked_kind() { # KIND [OPTIONS...]: one that needs a device below
    local error
    ip link add lab-below type veth peer name lab-peer
    if ! error=$(ip link add link lab-below name lab-probe type "$@" 2>&1); then
        ip link del lab-below
        skip "this kernel makes no $1 link: ${error:-no reason given}"
    fi
    ip link del lab-below
}

net_stacked() { # DEV BELOW KIND [OPTIONS...]: vlan, macvlan, macvtap or ipvlan on BELOW
    net_need_stacked_kind "${@:3}"
    ip link add link "$2" name "$1" type "${@:3}"
    defer net_del "$1"
    ip link set "$1" up
}

# vx-a in lab-a and vx-b in lab-b over net_pair_on_bridge's addresses, each knowing the other alone.
net_vxlan_over_pair() { # VNI
    net_need_kind vxlan id 1 dstport 4789
    ip -n lab-a link add vx-a type vxlan id "$1" dstport 4789 local 10.98.0.1 remote 10.98.0.2 dev a0 nolearning
    ip -n lab-b link add vx-b type vxlan id "$1" dstport 4789 local 10.98.0.2 remote 10.98.0.1 dev b0 nolearning
    ip -n lab-a link set vx-a up
    ip -n lab-b link set vx-b up
}

net_bond() { # BOND SLAVE...
    local slave
    net_need_kind bond
    ip link add "$1" type bond mode balance-rr miimon 100
    defer net_del "$1"
    for slave in "${@:2}"; do
        ip link set "$slave" down
        ip link set "$slave" master "$1"
    done
    ip link set "$1" up
}

# PAIRS veth pairs (2 links each) named PREFIXn and PREFIXnp, up, in the namespace of the case.
net_many() { # PAIRS [PREFIX]
    local prefix=${2:-m} i
    for ((i = 0; i < $1; i++)); do
        echo "link add $prefix$i group 77 up type veth peer name $prefix${i}p"
        echo "link set $prefix${i}p up"
    done | ip -batch -
    # One request for the whole group: link by link the kernel waits for a grace period each.
    defer ip link del group 77
}

# A queue that holds LIMIT packets and lets none go: all sent beyond LIMIT is its drops, at no chance.
net_full_pfifo() { # DEV LIMIT
    # htb at 8 bit/s with a burst of less than one packet never sends; its leaf is the pfifo.
    tc qdisc replace dev "$1" root handle 1: htb default 1
    tc class add dev "$1" parent 1: classid 1:1 htb rate 8bit burst 1 cburst 1 quantum 1514
    tc qdisc add dev "$1" parent 1:1 handle 10: pfifo limit "$2"
    defer tc qdisc del dev "$1" root
}

# A token bucket: RATE like 10mbit, LIMIT in bytes of queue.
net_tbf() { # DEV RATE LIMIT
    tc qdisc replace dev "$1" root tbf rate "$2" burst 5kb limit "$3"
    defer tc qdisc del dev "$1" root
}

net_send() { # IF COUNT [SENDER OPTIONS...]: prints the sender's JSON; NET_FROM=NETNS sends from there
    ${NET_FROM:+ip netns exec "$NET_FROM"} "$TOOLS/sender" -i "$1" -n "$2" "${@:3}"
}

# Until it is told to end: COUNT is far more than a case lasts.
send_on() { # IF PPS [SENDER OPTIONS...]; sets SENDER; NET_FROM as for net_send
    ${NET_FROM:+ip netns exec "$NET_FROM"} "$TOOLS/sender" -i "$1" -n 100000000 -r "$2" "${@:3}" >/dev/null &
    SENDER=$!
    defer net_end $SENDER
}

qdisc_stat() { # DEV HANDLE KEY: packets, drops, backlog or qlen of one queueing discipline
    tc -s -j qdisc show dev "$1" | "$PYTHON" -I -S -c '
import json, sys
for q in json.load(sys.stdin):
    if q.get("handle") == sys.argv[1]:
        print(q[sys.argv[2]])
' "$2" "$3"
}
