#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The lab's own test: each kernel topology proved with kernel counters alone (N sent is N counted), and the life cycle of
# cases, assertions and helpers. Where this fails, no other lab test says anything about the program under test.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"

t_own_namespaces() {
    assert_eq "$(ip -o link | wc -l)" 1 "links at the start"
    assert_eq "$(ls /sys/class/net)" lo "/sys/class/net shows this namespace"
    assert_eq "$(cat /proc/1/comm)" enter "the lab's own pid namespace"
    assert_eq "$(find /run/libvirt /run/openvswitch /run/dpdk -type s)" "" "sockets of the host"
    assert_match "$(stat -c %a "$LAB")" '^755$'
}

t_assertions_can_fail() {
    local status words
    for words in "assert_eq 1 2" "assert_within 110 100 9" "assert_within '' 0 5" "assert_within nan 0 5" \
        "assert_between 5 6 7" "assert_between '' 0 7" "assert_match abc b$" "wait_until 0 false" "fail x"; do
        status=0
        (LAB_WHY=$LAB/why-inner && eval "$words") || status=$?
        assert_eq "$status" 1 "status of: $words"
    done
    assert_within 109 100 9
    assert_between 6.5 6 7
    wait_until 1 true
}

t_csv() {
    printf 'time,vm,"a ""b"", c"\r\n1,vm1,x\r\n2,vm10,"y,\nz"\r\n3,vm1,""\r\n' >"$LAB/a.csv"
    assert_eq "$(csv "$LAB/a.csv" time vm=vm1)" $'1\n3'
    assert_eq "$(csv "$LAB/a.csv" 'a "b", c' vm=vm10)" $'y,\nz'
    assert_eq "$(csv_last "$LAB/a.csv" time)" 3
    if csv "$LAB/a.csv" nonesuch; then fail "an unknown column was no error"; fi
}

# A lab in a lab, with cases of every fate.
t_runner_counts_every_fate() {
    local status=0
    mkdir "$LAB/tests"
    cat >"$LAB/tests/test_fates.sh" <<-END
	. "$LAB_DIR/lib.sh"
	t_good() { [ -d "\$LAB" ]; }
	t_wrong() { assert_eq 1 2 number; }
	t_false() { false; true; }
	t_skipped() { skip "no reason at all"; }
	t_killer() { kill -KILL \$\$ \$BASHPID; }
	t_unreached() { true; }
	lab_main "\$@"
	END
    export LAB_TESTS=$LAB/tests
    LAB_TIMES='' "$LAB_DIR/run" >"$LAB/out" || status=$?
    cat "$LAB/out"
    assert_eq "$status" 1 "exit status"
    assert_match "$(cat "$LAB/out")" 'ok fates/good'
    assert_match "$(cat "$LAB/out")" 'FAIL fates/wrong: number: got .1., wanted .2.'
    assert_match "$(cat "$LAB/out")" 'FAIL fates/false: line 4 of test_fates.sh: false'
    assert_match "$(cat "$LAB/out")" 'skip fates/skipped: no reason at all'
    assert_match "$(cat "$LAB/out")" 'FAIL fates/unreached: not reached'
    assert_eq "$(tail -n 1 "$LAB/out")" "lab: 1 passed, 4 failed, 1 skipped"
    assert_eq "$(LAB=0 "$LAB_DIR/run" | tail -n 1)" "lab: 0 passed, 0 failed, 6 skipped"
}

processes_named() { # NAME: how many there are
    cat /proc/[0-9]*/comm 2>/dev/null | grep -cx "$1" || true
}

no_process_named() { # NAME
    [ "$(processes_named "$1")" = 0 ]
}

# Killed without a chance to clean up, a lab still leaves no daemon and no folder.
t_nothing_survives_a_kill() {
    local lab
    mkdir "$LAB/inner"
    cp "$(command -v sleep)" "$LAB/survivor"
    LAB_SCRATCH=$LAB/inner "$LAB_DIR/enter" bash -c "setsid $LAB/survivor 1000 & exec $LAB/survivor 1001" &
    lab=$!
    wait_until 5 at_least 2 processes_named survivor
    assert_eq "$(find "$LAB/inner" -name 'lab.*' | wc -l)" 1 "scratch folders"
    kill -KILL $lab
    wait_until 5 no_process_named survivor
    wait_until 5 rmdir "$LAB/inner"
}

t_bridge() {
    net_pair_on_bridge labbr0
    NET_FROM=lab-a net_send a0 10000 -s 100 -d 52:54:98:00:00:02 >"$LAB/sent"
    assert_eq "$(json_number sent_bytes <"$LAB/sent")" 1000000
    wait_until 2 at_least 10000 link_stat b0 rx_packets lab-b
    assert_eq "$(link_stat a0 tx_packets lab-a)" 10000 "a0 tx"
    assert_eq "$(link_stat a0-br rx_packets)" 10000 "a0-br rx"
    assert_eq "$(link_stat b0-br tx_packets)" 10000 "b0-br tx"
    assert_eq "$(link_stat b0-br tx_bytes)" 1000000 "b0-br tx bytes"
    assert_eq "$(link_stat b0 rx_packets lab-b)" 10000 "b0 rx"
    assert_eq "$(link_stat labbr0 rx_packets)" 0 "the bridge itself took none"
}

t_udp_both_ways() {
    net_pair_on_bridge labbr0
    NET_FROM=lab-a net_send a0 500 -s 142 -u 10.98.0.2:9 >"$LAB/sent"
    wait_until 2 at_least 500 link_stat b0 rx_packets lab-b
    assert_eq "$(link_stat b0 rx_bytes lab-b)" 71000 "bytes of 500 frames of 142"
}

t_paced_sender() {
    net_veth v0 v1
    net_send v0 2000 -r 2000 >"$LAB/sent"
    local took
    took=$(($(json_number end_ns <"$LAB/sent") - $(json_number start_ns <"$LAB/sent")))
    assert_within $((took / 1000000)) 1000 5 "ms for 2000 packets at 2000 pps"
}

t_tap_nobody_reads() {
    net_tap tap0 100
    net_send tap0 1000 >"$LAB/sent"
    assert_eq "$(link_stat tap0 tx_dropped)" 900 "dropped beyond the tap's queue of 100"
    assert_eq "$(link_stat tap0 tx_packets)" 0 "delivered"
}

t_tap_read_some() {
    net_tap tap0 100 40
    net_send tap0 40 -r 10000 >"$LAB/sent"
    wait_until 2 grep -q "^read 40" "$NET_TAP_SAYS"
    net_send tap0 150 >"$LAB/sent"
    assert_eq "$(link_stat tap0 tx_packets)" 40 "delivered"
    # The ring gives its places back in batches of a cache line or two, so up to 15 of the 40 may not be free yet.
    assert_between "$(link_stat tap0 tx_dropped)" 50 65 "dropped"
}

t_qdisc_full() {
    net_veth v0 v1
    net_full_pfifo v0 50
    net_send v0 300 >"$LAB/sent"
    # The first packet meets a full bucket and passes, 50 stay, the others are dropped.
    assert_eq "$(qdisc_stat v0 1: drops)" 249 "drops of the htb"
    assert_eq "$(qdisc_stat v0 10: drops)" 249 "the same drops at its leaf"
    assert_eq "$(json_number refused <"$LAB/sent")" 249 "refused to the sender"
    assert_eq "$(link_stat v1 rx_packets)" 1 "passed"
    assert_eq "$(link_stat v0 tx_dropped)" 0 "the link itself knows nothing of its queue's drops"
}

t_tbf_rate() {
    net_veth v0 v1
    net_tbf v0 8mbit 10000
    net_send v0 3000 -s 1000 -r 3000 >"$LAB/sent"
    wait_until 2 still link_stat v1 rx_packets
    # One second at 8 Mbit/s is 1000 frames of 1000 bytes; the burst and the queue let some 15 more through.
    assert_within "$(link_stat v1 rx_packets)" 1015 5 "let through"
    assert_eq "$(($(link_stat v1 rx_packets) + $(qdisc_stat v0 "$(tbf_handle v0)" drops)))" 3000 "all accounted for"
}

tbf_handle() {
    tc qdisc show dev "$1" | awk '$2 == "tbf" { print $3; exit }'
}

t_port_down() {
    net_pair_on_bridge labbr0
    ip link set b0-br down
    NET_FROM=lab-a net_send a0 100 -d 52:54:98:00:00:02 >"$LAB/sent"
    assert_eq "$(link_stat a0-br rx_packets)" 100 "came in"
    assert_eq "$(link_stat b0-br tx_packets)" 0 "went out of a port that is down"
    assert_eq "$(cat /sys/class/net/b0-br/operstate)" down
}

t_vxlan() {
    net_pair_on_bridge labbr0
    net_vxlan_over_pair 42
    NET_FROM=lab-a net_send vx-a 1000 -s 100 >"$LAB/sent"
    wait_until 2 at_least 1000 link_stat vx-b rx_packets lab-b
    assert_eq "$(link_stat vx-a tx_packets lab-a)" 1000 "vx-a tx"
    assert_eq "$(link_stat b0 rx_bytes lab-b)" 150000 "100 bytes inside, 50 around"
}

t_macvlan() {
    net_veth v0 v1
    net_stacked mv0 v0 macvlan mode bridge
    net_send mv0 500 >"$LAB/sent"
    wait_until 2 at_least 500 link_stat v1 rx_packets
    assert_eq "$(link_stat mv0 tx_packets)" 500 "the macvlan"
    assert_eq "$(link_stat v0 tx_packets)" 500 "the device below counts the same packets"
}

t_vlan() {
    net_veth v0 v1
    net_stacked v0.7 v0 vlan id 7
    net_send v0.7 500 >"$LAB/sent"
    wait_until 2 at_least 500 link_stat v1 rx_packets
    assert_eq "$(link_stat v0.7 tx_packets)" 500
}

t_ipvlan() {
    net_veth v0 v1
    net_stacked iv0 v0 ipvlan mode l2
    net_send iv0 500 >"$LAB/sent"
    wait_until 2 at_least 500 link_stat v1 rx_packets
    assert_eq "$(link_stat v0 tx_packets)" 500
}

t_bond() {
    net_need_kind bond
    net_veth v0 v1
    net_veth w0 w1
    net_bond bond0 v0 w0
    net_send bond0 1000 >"$LAB/sent"
    wait_until 2 at_least 500 link_stat w1 rx_packets
    assert_eq "$(($(link_stat v0 tx_packets) + $(link_stat w0 tx_packets)))" 1000 "the slaves together"
}

t_thousand_links() {
    net_many 500
    assert_eq "$(ip -o link | wc -l)" 1001 "links"
    net_send m499 100 >"$LAB/sent"
    assert_eq "$(link_stat m499p rx_packets)" 100
}

# Two threads on one CPU: half run, half wait each, and the two add up to all of the time.
t_spin_is_half_stolen() {
    local tid cpu name r0 w0 r1 w1 before after started took_ns
    "$TOOLS/spin" -c 0,0 >"$LAB/spin" &
    defer net_end $!
    wait_until 5 grep -q ready "$LAB/spin"
    read -r tid cpu name <"$LAB/spin"
    assert_eq "$cpu $name" "0 CPU 0/KVM"
    assert_eq "$(cat "/proc/$tid/comm")" "CPU 0/KVM"
    started=$(lab_now_ms)
    before=$(thread_ns "$tid")
    wait_until 5 at_least $((started + 2000)) lab_now_ms
    after=$(thread_ns "$tid")
    took_ns=$((($(lab_now_ms) - started) * 1000000))
    read -r r0 w0 r1 w1 <<<"$before $after"
    assert_within $((r1 - r0 + w1 - w0)) "$took_ns" 3 "run + wait"
    assert_between $(((w1 - w0) * 100 / took_ns)) 35 85 "percent waited (half, more when the machine is loaded)"
}

lab_main "$@"
