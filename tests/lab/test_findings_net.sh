#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Findings of a kernel's own ports, each caused on purpose and then ended: the right one appears, goes, and no other speaks.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"
. "$LAB_DIR/findings.sh"

setup() {
    need_vnettop
}

t_tap_nobody_reads() {
    net_tap tap0 100
    findings_start
    send_on tap0 2000
    finding_appears 20 tap-unread tap0
    finding_says 'tap0 drops [0-9.k]+/s: its ring is full, nothing reads it' tap-unread
    net_end "$SENDER" || true
    finding_leaves 20 tap-unread
    findings_end
    findings_were_only tap-unread
    # Two thousand a second were sent; a busy machine sends somewhat less.
    assert_between "$(findings_query ever cost_pps tap-unread | sort -n | tail -n 1)" 500 2600 "cost"
}

t_queue_too_slow() {
    net_veth v0 v1
    net_tbf v0 8mbit 10000
    findings_start
    send_on v0 3000 -s 1000 -d "$(cat /sys/class/net/v1/address)"
    finding_appears 20 qdisc-drops v0
    finding_says 'v0 drops in its queueing discipline, before the port: [0-9.k]+/s' qdisc-drops
    tc qdisc replace dev v0 root tbf rate 100mbit burst 50kb limit 500000
    finding_leaves 25 qdisc-drops
    findings_end
    findings_were_only qdisc-drops
}

t_carrier_flaps() {
    local i
    net_veth v0 v1
    findings_start
    for ((i = 0; i < 3; i++)); do
        ip link set v1 down
        findings_watch 1
        ip link set v1 up
        findings_watch 1
    done
    finding_appears 10 carrier-flaps v0
    finding_says 'v0 loses and finds its carrier: [4-9] times in [0-9]+ s' carrier-flaps v0
    findings_end
    findings_were_only carrier-flaps
}

# A bridge drops what is larger than a port's MTU, and what is for a port that is down, and counts neither.
t_bridge_port_with_a_small_mtu() {
    net_pair_on_bridge br0
    NET_FROM=lab-a send_on a0 2000 -s 1000 -d 52:54:98:00:00:02
    findings_start
    findings_watch 4
    [ -z "$(findings_query now rule bridge-loss)" ] || fail "bridge-loss while all passes"
    ip link set b0-br mtu 500
    finding_appears 20 bridge-loss br0
    finding_says 'br0 loses (9[0-9]|100)\.[0-9] % of what enters it \([0-9.k]+/s\) by no counter: its port b0-br has an MTU of 500 where a0-br has 1500' bridge-loss
    assert_eq "$(findings_query now advice bridge-loss)" "ip link set b0-br mtu N"
    ip link set b0-br mtu 1500
    finding_leaves 20 bridge-loss
    findings_end
    findings_were_only bridge-loss
}

t_bridge_port_down() {
    net_pair_on_bridge br0
    NET_FROM=lab-a send_on a0 2000 -d 52:54:98:00:00:02
    findings_start
    ip link set b0-br down
    finding_appears 20 bridge-loss br0
    finding_says 'by no counter: its port b0-br is down' bridge-loss
    ip link set b0-br up
    finding_leaves 20 bridge-loss
    findings_end
    findings_were_only bridge-loss
}

t_diagnose_speaks_and_exits() {
    local status=0
    net_tap tap0 100
    "$VNETTOP" diagnose -d 4 --only netlink >"$LAB/out" 2>"$LAB/err" || status=$?
    assert_eq "$status $(cat "$LAB/out")" "0 no finding" "while nothing is wrong"
    assert_eq "$(wc -c <"$LAB/err")" 0 "progress on what is no terminal"
    send_on tap0 2000
    status=0
    "$VNETTOP" diagnose -d 5 --only netlink >"$LAB/out" 2>"$LAB/err" || status=$?
    assert_eq $status 1 "status with a finding"
    assert_match "$(cat "$LAB/out")" '^bad   tap0 drops .*nothing reads it.*tap-unread for .*worst .* pps.*try: who has it open'
    status=0
    "$VNETTOP" diagnose -d 5 --only netlink --json >"$LAB/out" || status=$?
    assert_eq $status 1 "status with --json"
    assert_eq "$("$PYTHON" -I -S -c '
import json, sys
f, = json.load(sys.stdin)
print(f["rule"], f["severity"], f["object"], f["unit"], f["since_s"] >= 1.8, f["worst"] >= f["value"] > 0, f["cost_pps"] > 0)' <"$LAB/out")" \
        "tap-unread bad tap0 pps True True True"
    status=0
    "$VNETTOP" diagnose -d 5 --only netlink --csv >"$LAB/out.csv" || status=$?
    assert_eq "$status $(csv "$LAB/out.csv" rule) $(csv "$LAB/out.csv" object)" "1 tap-unread tap0" "with --csv"
}

t_diagnose_honours_its_time() {
    local before took
    before=$(lab_now_ms)
    "$VNETTOP" diagnose -d 1 --only netlink >"$LAB/out" 2>"$LAB/err"
    took=$(($(lab_now_ms) - before))
    assert_between $took 900 4000 "ms for -d 1"
    assert_match "$(cat "$LAB/err")" '^vnettop: a look of 1 s finds nothing: .*give -d 3 or more$'
}

# What has gone again at the end of the look was found all the same.
t_diagnose_tells_what_has_gone() {
    local status=0
    net_tap tap0 100
    send_on tap0 2000
    "$VNETTOP" diagnose -d 16 --only netlink >"$LAB/out" &
    local looking=$!
    wait_until 10 at_least 8000 link_stat tap0 tx_dropped
    net_end "$SENDER" || true
    wait $looking || status=$?
    assert_eq $status 1 "status"
    assert_match "$(cat "$LAB/out")" 'tap0 drops .* \(gone for [0-9]+ s\)'
}

# Ctrl-C prints what is there: a finding, or that a look of three seconds found nothing; a shorter one knows nothing.
t_diagnose_interrupted() {
    local status=0 looking
    net_tap tap0 100
    timeout --preserve-status -s INT 1 "$VNETTOP" diagnose -d 60 --only netlink >"$LAB/out" 2>"$LAB/err" || status=$?
    assert_eq "$status $(cat "$LAB/out")" "2 " "after a second"
    status=0
    timeout --preserve-status -s INT 4.5 "$VNETTOP" diagnose -d 60 --only netlink >"$LAB/out" 2>"$LAB/err" || status=$?
    assert_eq "$status $(cat "$LAB/out")" "0 no finding" "after four seconds"
    assert_match "$(cat "$LAB/err")" '^vnettop: stopped after [45]\.[0-9] of 60 s$'
    send_on tap0 2000
    "$VNETTOP" diagnose -d 60 --only netlink --csv >"$LAB/out.csv" 2>"$LAB/err" &
    looking=$!
    wait_until 20 at_least 12000 link_stat tap0 tx_dropped
    kill -INT $looking
    status=0
    wait $looking || status=$?
    assert_eq "$status $(csv "$LAB/out.csv" rule)" "1 tap-unread" "status and finding"
}

t_diagnose_that_cannot_look() {
    local status=0
    "$VNETTOP" diagnose -d 3 --only libvirt --connect test:///nowhere >"$LAB/out" 2>"$LAB/err" || status=$?
    assert_eq "$status $(cat "$LAB/out")" "2 " "no source that answers"
    assert_match "$(tail -n 1 "$LAB/err")" '^vnettop: no source could be read'
    status=0
    "$VNETTOP" diagnose --csv --json 2>"$LAB/err" || status=$?
    assert_eq "$status $(cat "$LAB/err")" "2 vnettop: --csv and --json: give one of them" "both forms"
}

lab_main "$@"
