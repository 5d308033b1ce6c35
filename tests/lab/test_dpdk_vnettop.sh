#!/bin/bash
# SPDX-License-Identifier: MIT
#
# vnettop beside real testpmd processes: what it recorded against testpmd's own counters and telemetry's, read before and
# after; processes stopped, killed and started again; what an ordinary user is told. net_null ports make packets without
# huge pages, an af_packet port is fed by an exact sender.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"
. "$LAB_DIR/ovs_dpdk.sh"

setup() {
    need_vnettop
    need_command dpdk-testpmd
}

# --- testpmd that takes commands -------------------------------------------------------------------------------------

pmd_socket() { # PREFIX
    echo "/run/dpdk/$1/dpdk_telemetry.v2"
}

pmd_says() { # PREFIX TEXT: whether its output has TEXT since the last command
    grep -q "$2" "$LAB/$1.log"
}

pmd_do() { # PREFIX COMMAND
    : >"$LAB/$1.log"
    echo "$2" >"$LAB/$1.in"
}

pmd_start() { # PREFIX LCORES VDEV...: a prompt, nothing is forwarded yet; the end of the case ends it
    local prefix=$1 lcores=$2 vdev args=()
    shift 2
    for vdev in "$@"; do args+=(--vdev "$vdev"); done
    mkfifo "$LAB/$prefix.in"
    sleep infinity >"$LAB/$prefix.in" & # keeps it from reading an end of file
    defer kill $!
    : >"$LAB/$prefix.log"
    stdbuf -oL dpdk-testpmd --no-huge --file-prefix="$prefix" --no-pci -l "$lcores" -m 128 "${args[@]}" -- -i --no-mlockall \
        --total-num-mbufs=2048 <"$LAB/$prefix.in" >>"$LAB/$prefix.log" 2>&1 &
    echo $! >"$LAB/$prefix.pid"
    defer pmd_end "$prefix"
    wait_until 20 pmd_says "$prefix" "testpmd> "
}

pmd_end() { # PREFIX [SIGNAL]
    kill -s "${2:-KILL}" "$(cat "$LAB/$1.pid")" 2>/dev/null || return 0
    try_until 10 process_gone "$(cat "$LAB/$1.pid")"
    rm -f "$LAB/$1.in"
}

pmd_number() { # PREFIX PORT RX-packets: by testpmd itself
    pmd_do "$1" "show port stats $2"
    try_until 5 pmd_says "$1" "TX-bytes"
    grep -o "$3: *[0-9]*" "$LAB/$1.log" | head -n 1 | grep -o '[0-9]*$'
}

# On one connection for all: a socket for each question would take places of the ten.
telemetry() { # PREFIX COMMAND...: each answer on a line
    local socket
    socket=$(pmd_socket "$1")
    shift
    "$PYTHON" -I -S -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(5)
s.connect(sys.argv[1])
s.recv(1 << 16)
for command in sys.argv[2:]:
    s.send(command.encode())
    print(s.recv(1 << 20).decode())
' "$socket" "$@"
}

packets() { # PREFIX PORT ipackets
    telemetry "$1" "/ethdev/stats,$2" | json_number "$3"
}

# Packets and time twice, as far apart as asked: "START_NS END_NS PPS", by the clock that vnettop uses.
true_rate() { # PREFIX PORT SECONDS
    "$PYTHON" -I -S -c '
import json, socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(5)
s.connect(sys.argv[1])
s.recv(1 << 16)
def look():
    while True: # on a busy machine: only what was answered quickly has a moment
        a = time.monotonic_ns()
        s.send(("/ethdev/stats," + sys.argv[2]).encode())
        n = json.loads(s.recv(1 << 20))["/ethdev/stats"]["ipackets"]
        b = time.monotonic_ns()
        if b - a < 2000000:
            return (a + b) // 2, n
t0, n0 = look()
time.sleep(float(sys.argv[3]))
t1, n1 = look()
print(t0, t1, (n1 - n0) * 1e9 / (t1 - t0))
' "$(pmd_socket "$1")" "$2" "$3"
}

# The mean that a recording has of a rate over the same time: counters at the two rows that enclose it, by their moments.
recorded_rate() { # DIR PORT START_NS END_NS
    "$PYTHON" -I -S -c '
import csv, json, sys
folder, port, start, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
zero = json.load(open(folder + "/meta.json"))["start"]["monotonic_ns"]
rows = []
for r in csv.DictReader(open(folder + "/ports.csv", newline="")):
    if r["name"] == port and r["rx_pps"] and r["kind"] == "ethdev":
        rows.append((zero + (float(r["elapsed_s"]) - float(r["age_s"])) * 1e9, float(r["rx_pps"]), float(r["interval_s"])))
rows = [r for r in rows if start <= r[0] <= end][1:]
print(sum(p * s for _, p, s in rows) / sum(s for _, _, s in rows))
' "$@"
}

recorded_sum() { # DIR SWITCH RATE: rate times interval of the one port of that process, each sample once
    "$PYTHON" -I -S -c '
import csv, sys
from decimal import Decimal
total, last = Decimal(0), None
for r in csv.DictReader(open(sys.argv[1] + "/ports.csv", newline="")):
    moment = Decimal(r["elapsed_s"]) - Decimal(r["age_s"])
    if r["switch"] != sys.argv[2] or moment == last:
        continue
    last = moment
    if r[sys.argv[3]]:
        total += Decimal(r[sys.argv[3]]) * Decimal(r["interval_s"])
print(round(total))
' "$@"
}

most() { # DIR COLUMN: the greatest number in a column of ports.csv
    csv "$1/ports.csv" "$2" | sort -g | tail -n 1
}

state_is() { # DIR PID STATE: the newest row of that process
    [ "$(csv_last "$1/processes.csv" state "pid=$2")" = "$3" ]
}

# --- cases -----------------------------------------------------------------------------------------------------------

t_sums_and_rates_are_testpmds() {
    local before_rx before_tx before_own rx tx truth
    pmd_start guest0 0,1 net_null0 net_null1
    telemetry guest0 "/ethdev/stats,0" >"$LAB/before"
    before_rx=$(json_number ipackets <"$LAB/before") before_tx=$(json_number opackets <"$LAB/before")
    before_own=$(pmd_number guest0 0 RX-packets)
    record_start "$LAB/rec" -d 0.1 --only dpdk
    wait_until 10 record_has_last "$LAB/rec" rx_packets "$before_rx" name=net_null0
    pmd_do guest0 start
    wait_until 10 at_least 1000 packets guest0 0 ipackets
    read -r -a truth < <(true_rate guest0 0 6)
    pmd_do guest0 stop
    wait_until 10 pmd_says guest0 "Done"
    record_more "$LAB/rec" 4
    record_end "$LAB/rec"
    telemetry guest0 "/ethdev/stats,0" >"$LAB/after"
    rx=$(($(json_number ipackets <"$LAB/after") - before_rx)) tx=$(($(json_number opackets <"$LAB/after") - before_tx))
    assert_between "$rx" 1000000 1e12 "packets that passed"
    assert_eq "$(recording sum "$LAB/rec" net_null0 rx_pps '')" "$rx" "sum of rx_pps against telemetry"
    assert_eq "$(recording sum "$LAB/rec" net_null0 tx_pps '')" "$tx" "sum of tx_pps against telemetry"
    assert_eq "$(($(pmd_number guest0 0 RX-packets) - before_own))" "$rx" "testpmd's own RX-packets against telemetry"
    assert_within "$(recorded_rate "$LAB/rec" net_null0 "${truth[0]}" "${truth[1]}")" "${truth[2]}" 1 "mean of rx_pps"
    assert_eq "$(csv_last "$LAB/rec/ports.csv" rx_bytes name=net_null0)" "" "bytes, which net_null does not count"
    assert_eq "$(csv_last "$LAB/rec/ports.csv" switch name=net_null0)" "testpmd guest0"
    assert_eq "$(csv_last "$LAB/rec/threads.csv" role name=rte-worker-1)" lcore
    assert_eq "$(csv_last "$LAB/rec/threads.csv" index name=rte-worker-1)" 1
    assert_eq "$(csv_last "$LAB/rec/threads.csv" allowed_cpus name=rte-worker-1)" 1
}

t_exact_packets_through_af_packet() {
    net_veth dpdk-in dpdk-out
    pmd_start guest0 0,1 net_af_packet0,iface=dpdk-out
    pmd_do guest0 "set fwd rxonly"
    wait_until 5 pmd_says guest0 "Set rxonly packet forwarding mode"
    pmd_do guest0 start
    wait_until 5 pmd_says guest0 "rxonly packet forwarding"
    record_start "$LAB/rec" -d 0.1 --only dpdk
    wait_until 10 record_has_last "$LAB/rec" rx_packets 0 name=net_af_packet0
    net_send dpdk-in 3001 -s 333 -r 3000 -d 52:54:98:00:00:09 >"$LAB/sent"
    wait_until 10 at_least 3001 packets guest0 0 ipackets
    record_more "$LAB/rec" 3
    record_end "$LAB/rec"
    assert_eq "$(recording sum "$LAB/rec" net_af_packet0 rx_pps '')" 3001 "packets"
    assert_eq "$(recording sum "$LAB/rec" net_af_packet0 rx_bps '')" $((3001 * 333)) "bytes"
    assert_eq "$(csv_last "$LAB/rec/ports.csv" carrier name=net_af_packet0)" up
    # What the kernel drops before the socket, 22.11 does not tell: no number, and no zero.
    assert_eq "$(csv_last "$LAB/rec/ports.csv" rx_dropped name=net_af_packet0)" ""
}

t_one_stops_the_other_goes_on() {
    local one other usual total
    pmd_start guest0 0,1 net_null0
    pmd_start guest1 0,1 net_null7
    one=$(cat "$LAB/guest0.pid") other=$(cat "$LAB/guest1.pid")
    record_start "$LAB/rec" -d 0.1 --only dpdk
    wait_until 10 state_is "$LAB/rec" "$other" ok
    pmd_do guest0 start
    wait_until 10 at_least 1000 packets guest0 0 ipackets
    kill -STOP "$one"
    wait_until 10 state_is "$LAB/rec" "$one" "no answer"
    record_more "$LAB/rec" 10
    state_is "$LAB/rec" "$one" "no answer" || fail "stopped, and does not say so"
    state_is "$LAB/rec" "$other" ok || fail "the other one was held up"
    kill -CONT "$one"
    wait_until 10 state_is "$LAB/rec" "$one" ok
    pmd_do guest0 stop
    wait_until 10 pmd_says guest0 "Done"
    record_more "$LAB/rec" 4
    record_end "$LAB/rec"
    # The other's rows came all the time; on a busy machine one or the other may have taken longer.
    usual=$(csv "$LAB/rec/ports.csv" interval_s name=net_null7 | grep . | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }')
    assert_between "$usual" 0.01 0.25 "usual interval of the process that was not stopped"
    total=$(recording sum "$LAB/rec" net_null0 rx_pps '')
    assert_eq "$total" "$(packets guest0 0 ipackets)" "sum over the stop"
    assert_between "$(most "$LAB/rec" rx_pps)" 1 1e8 "greatest rate"
}

t_killed_and_started_again() {
    local first second dead other
    pmd_start guest0 0,1 net_null0
    pmd_start guest1 0,1 net_null7
    first=$(cat "$LAB/guest0.pid")
    pmd_do guest0 start
    record_start "$LAB/rec" -d 0.1 --only dpdk
    wait_until 10 state_is "$LAB/rec" "$first" ok
    pmd_end guest0
    [ -S "$(pmd_socket guest0)" ] || fail "this is about a socket that stays behind"
    record_more "$LAB/rec" 3
    dead=$(csv "$LAB/rec/ports.csv" time name=net_null0 | wc -l) other=$(csv "$LAB/rec/ports.csv" time name=net_null7 | wc -l)
    record_more "$LAB/rec" 3
    assert_eq "$(csv "$LAB/rec/ports.csv" time name=net_null0 | wc -l)" "$dead" "rows of a process that is dead"
    assert_between "$(csv "$LAB/rec/ports.csv" time name=net_null7 | wc -l)" $((other + 2)) 1e6 "rows of the other one"
    pmd_start guest0 0,1 net_null0
    second=$(cat "$LAB/guest0.pid")
    wait_until 15 state_is "$LAB/rec" "$second" ok
    pmd_do guest0 start
    record_more "$LAB/rec" 5
    record_end "$LAB/rec"
    [ "$first" != "$second" ] || fail "the same pid"
    assert_between "$(most "$LAB/rec" rx_pps)" 1 1e8 "greatest rate"
    # Old and new are two ports: the new one began without a rate, and none was set back.
    assert_eq "$(csv "$LAB/rec/ports.csv" quality name=net_null0 | grep -c rst)" 0 "rst"
    # One connection each, all the time: the greeting of a tenth client still comes.
    assert_eq "$(telemetry guest1 /info | grep -c '"/info"')" 1
}

t_ordinary_user_is_told() {
    local told
    pmd_start guest0 0,1 net_null0
    pmd_start guest1 0,1 net_null7
    cp "$VNETTOP" "$LAB/vnettop"
    chmod 755 "$LAB/vnettop"
    told=$(HOME=$LAB setpriv --reuid=65534 --regid=65534 --clear-groups "$LAB/vnettop" sources --only dpdk 2>&1) || true
    assert_match "$told" "not permitted"
    assert_match "$told" "/run/dpdk.* is root's \(07[0-9]+\): run as root to see 2 processes"
    told=$("$LAB/vnettop" sources --only dpdk 2>&1) || true
    assert_match "$told" "2 processes: .*testpmd guest[01] [0-9.]+.*; 2 ports"
}

# librte_telemetry itself, with replies at its edges: 300 statistics, of which it tells 256, and numbers up to 2^64-1.
t_the_library_at_its_edges() {
    local server=$BUILD/tools/fakes/telemetry_server
    [ -x "$server" ] || skip "no libdpdk to link a server with"
    "$server" --no-huge --no-pci --file-prefix=edge -l 0 -m 64 >"$LAB/edge.log" 2>&1 &
    echo $! >"$LAB/edge.pid"
    defer pmd_end edge
    wait_until 20 grep -q ready "$LAB/edge.log"
    record_start "$LAB/rec" -d 0.1 --only dpdk
    record_more "$LAB/rec" 15
    wait_until 10 grep -q "telemetry may have left out some" "$LAB/rec/sources.csv"
    record_end "$LAB/rec"
    "$VNETTOP" snapshot --only dpdk --table counters -d 0.3 -o - >"$LAB/counters.csv"
    csv "$LAB/rec/ports.csv" name | sort -u >"$LAB/names"
    assert_eq "$(wc -l <"$LAB/names")" 1 "ports"
    assert_match "$(cat "$LAB/names")" '^net_tap".*<vm>,0$'
    assert_eq "$(csv "$LAB/counters.csv" name | sort -u | wc -l)" 256 "statistics told"
    assert_eq "$(csv_last "$LAB/counters.csv" value name=rx_q0_packets)" 18446744073709551615
    assert_eq "$(csv_last "$LAB/counters.csv" value name=rx_q7_packets)" 18446744073709551608
    # Each tick asks once, and the server counts the questions: no digit of the great numbers is lost.
    assert_eq "$(csv "$LAB/rec/ports.csv" rx_packets | awk 'substr($1, 1, 13) != "1844674407370" { print }')" ""
    assert_eq "$(recording sum "$LAB/rec" "$(cat "$LAB/names")" rx_pps '')" \
        "$("$PYTHON" -c 'import sys; n = [int(x) for x in sys.stdin]; print(n[-1] - n[0])' < <(csv "$LAB/rec/ports.csv" rx_packets))"
    assert_eq "$(csv_last "$LAB/rec/ports.csv" mac)" "" "a MAC address that was cut"
    assert_eq "$(csv_last "$LAB/rec/ports.csv" rx_nombuf)" "" "what the server does not tell"
    assert_eq "$(csv_last "$LAB/rec/ports.csv" rx_missed)" 0
}

# Two guests of OVS-DPDK over virtio-user; the receiver is there, and read, before the sender.
t_packets_through_ovs() {
    local before
    defer ovs_dpdk_guests_down
    ovs_dpdk_up
    ovs_dpdk_null null0
    ovs_dpdk_port vhu0 "$LAB/vhu0.sock"
    ovs_dpdk_port vhu1 "$LAB/vhu1.sock"
    testpmd_start 1 rxonly
    wait_until 60 ovs_dpdk_connected vhu1
    before=$(packets guest1 0 ipackets)
    record_start "$LAB/rec" -d 0.1 --only dpdk
    wait_until 10 record_has_last "$LAB/rec" rx_packets "$before" "switch=testpmd guest1"
    testpmd_start 0 txonly
    wait_until 60 ovs_dpdk_connected vhu0
    testpmd_hurry 0 1
    wait_until 20 at_least 2000 packets guest1 0 ipackets
    record_more "$LAB/rec" 20
    daemon_end "$LAB/guest0.pid"
    wait_until 10 still packets guest1 0 ipackets
    record_more "$LAB/rec" 4
    record_end "$LAB/rec"
    assert_eq "$(recorded_sum "$LAB/rec" "testpmd guest1" rx_pps)" $(($(packets guest1 0 ipackets) - before)) "packets to guest1"
    assert_eq "$(recorded_sum "$LAB/rec" "testpmd guest1" tx_pps)" 0 "packets from guest1"
    # An ethdev of OVS's is told by its number, for the source ovs to say more of it.
    assert_eq "$(csv_last "$LAB/rec/ports.csv" dpdk_port name=eth_null0)" 0
    assert_eq "$(csv_last "$LAB/rec/threads.csv" vm "vm=ovs-vswitchd-dpdk")" "" "threads of OVS, which are the source ovs's"
    assert_eq "$(csv_last "$LAB/rec/processes.csv" state prefix=rte)" ok
    # virtio-user counts in no release what a full ring refuses.
    assert_eq "$(csv_last "$LAB/rec/ports.csv" tx_dropped "switch=testpmd guest1")" ""
}

lab_main "$@"
