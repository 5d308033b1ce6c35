#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Drops of a known size, each made by its true cause: they must appear under that cause, in that size, and nowhere else,
# in raw counters, in rates and in loss percent. Every case compares all loss counters of all ports of a namespace.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"

B_MAC=52:54:98:00:00:02

setup() {
    need_vnettop
}

ports() { # FILE [OPTIONS...]: a snapshot of all ports
    "$VNETTOP" snapshot -d 0.1 --table ports -o - "${@:2}" >"$1"
}

# A recording that sees counters at rest before and after: `settled COLUMN VALUE KEYCOL=VALUE` ends it.
settled() { # COLUMN VALUE [KEYCOL=VALUE]...
    wait_until 10 record_has_last "$LAB/rec" "$1" "$2" "${@:3}"
    record_more "$LAB/rec" 2
    record_end "$LAB/rec"
    recording check "$LAB/rec"
}

losses() { # BEFORE.csv AFTER.csv: all that was lost in between, on one line
    recording losses "$1" "$2" | sort | tr '\n' ';'
}

lossy_rates() {
    recording lossy_rates "$LAB/rec" | tr '\n' ';'
}

# Percentages seen in the recording's lossy intervals, without doubles.
percents() { # COLUMN KEYCOL=VALUE...
    csv "$LAB/rec/ports.csv" "$@" | awk '$1 > 0' | sort -u | tr '\n' ';'
}

t_tap_nobody_reads() {
    net_tap tap0 100
    record_start "$LAB/rec" -d 0.1
    ports "$LAB/before"
    net_send tap0 1000 >"$LAB/sent"
    ports "$LAB/after"
    assert_eq "$(losses "$LAB/before" "$LAB/after")" "self/tap0 tx_dropped 900;"
    settled tx_dropped 900 name=tap0
    assert_eq "$(lossy_rates)" "self/tap0 tx_drop_pps;self/tap0 tx_loss_pct;"
    assert_eq "$(recording sum "$LAB/rec" tap0 tx_drop_pps)" 900 "drops over the recording"
    # 100 wait in the ring and were not delivered either.
    assert_eq "$(percents tx_loss_pct name=tap0)" "100;" "loss of a tap that delivers nothing"
}

t_tap_read_in_part() {
    local delivered dropped
    net_tap tap0 100 1000000
    record_start "$LAB/rec" -d 0.1
    ports "$LAB/before"
    net_send tap0 300000 >"$LAB/sent" # more than one reader takes
    ports "$LAB/after"
    delivered=$(csv "$LAB/after" tx_packets name=tap0)
    dropped=$(csv "$LAB/after" tx_dropped name=tap0)
    assert_eq $((delivered + dropped)) 300000 "delivered or dropped"
    assert_between "$dropped" 1 299999 "dropped"
    assert_eq "$(losses "$LAB/before" "$LAB/after")" "self/tap0 tx_dropped $dropped;"
    settled tx_dropped "$dropped" name=tap0 # checks each row's loss percent against its two counters
    assert_eq "$(recording sum "$LAB/rec" tap0 tx_drop_pps)" "$dropped" "drops over the recording"
    assert_eq "$(recording sum "$LAB/rec" tap0 tx_pps)" "$delivered" "delivered over the recording"
    assert_eq "$(lossy_rates)" "self/tap0 tx_drop_pps;self/tap0 tx_loss_pct;"
}

# Queueing disciplines are read every two seconds: a drop rate holds for that long, and says so by its value.
t_queue_full() {
    local rate
    net_veth v0 v1
    net_veth w0 w1
    net_full_pfifo v0 50
    net_tbf w0 8mbit 10000
    record_start "$LAB/rec" -d 0.1
    ports "$LAB/before"
    net_send v0 300 -d "$(cat /sys/class/net/v1/address)" >"$LAB/sent" # 1 passes, 50 stay
    ports "$LAB/after"
    assert_eq "$(recording losses "$LAB/before" "$LAB/after" | grep -v ^self/v1)" "self/v0 qdisc_drops 249"
    # 3000 frames of 1000 bytes a second through 8 Mbit/s: 1000 pass.
    net_send w0 18000 -s 1000 -r 3000 >"$LAB/sent"
    ports "$LAB/later"
    settled qdisc_drops 249 name=v0
    rate=$(csv "$LAB/rec/ports.csv" qdisc_drop_pps name=v0 | sort -n | tail -n 1)
    assert_within "$rate" 124.5 10 "249 drops in the two seconds of one read"
    assert_eq "$(csv "$LAB/rec/ports.csv" tx_drop_pps name=v0 | sort -n | tail -n 1)" "$rate" "the same as the port's drops"
    assert_eq "$(csv "$LAB/rec/ports.csv" tx_dropped name=v0 | sort -u)" 0 "the link itself dropped none"
    rate=$(csv "$LAB/rec/ports.csv" tx_drop_pps name=w0 | sort -n | tail -n 1)
    assert_within "$rate" 2000 5 "drops a second of the token bucket"
    assert_within "$(steady_loss)" 66.7 5 "two thirds lost"
    assert_eq "$(recording losses "$LAB/after" "$LAB/later" | grep -v "^self/[vw]1 rx_dropped" | cut -d ' ' -f 1,2)" "self/w0 qdisc_drops"
    assert_eq "$(recording lossy_rates "$LAB/rec" | grep tx | tr '\n' ';')" \
        "self/v0 tx_drop_pps;self/v0 tx_loss_pct;self/w0 tx_drop_pps;self/w0 tx_loss_pct;"
}

steady_loss() { # median of the token bucket's loss while it dropped at its full rate
    "$PYTHON" -I -S -c '
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1], newline="")) if r["name"] == "w0" and r["tx_drop_pps"]]
loss = sorted(float(r["tx_loss_pct"]) for r in rows if float(r["tx_drop_pps"]) > 1900 and float(r["tx_pps"]) > 0)
print(loss[len(loss) // 2])' "$LAB/rec/ports.csv"
}

# A rate without the queue's share is a part of the truth, and the row must say so.
t_queue_drops_unknown_are_said() {
    net_veth v0 v1
    net_full_pfifo v0 50
    ports "$LAB/first"
    assert_match "$(csv "$LAB/first" quality name=v0)" '~tx_drop_pps' "quality while the queue has one read only"
    assert_eq "$(csv "$LAB/first" quality name=v1)" "" "quality of a port without queue"
}

t_tap_down() {
    ip tuntap add dev tap0 mode tap
    defer net_del tap0
    record_start "$LAB/rec" -d 0.1
    ports "$LAB/before"
    "$TOOLS/tapwrite" tap0 123 >"$LAB/wrote"
    assert_eq "$(json_number refused <"$LAB/wrote")" 123 "refused to the guest"
    ports "$LAB/after"
    assert_eq "$(losses "$LAB/before" "$LAB/after")" "self/tap0 rx_dropped 123;"
    assert_eq "$(csv "$LAB/after" admin name=tap0)" down
    settled rx_dropped 123 name=tap0
    assert_eq "$(recording sum "$LAB/rec" tap0 rx_drop_pps)" 123 "drops over the recording"
    assert_eq "$(percents rx_loss_pct name=tap0)" "100;" "loss of a port that takes nothing"
    assert_eq "$(lossy_rates)" "self/tap0 rx_drop_pps;self/tap0 rx_loss_pct;"
}

# A bridge discards without counting: what came in against what went out is all there is to see.
t_bridge_port_down() {
    net_pair_on_bridge labbr0
    NET_FROM=lab-a net_send a0 200 -d $B_MAC >"$LAB/sent"
    record_start "$LAB/rec" -d 0.1
    ports "$LAB/before"
    ip link set b0-br down
    NET_FROM=lab-a net_send a0 1000 -d $B_MAC >"$LAB/sent"
    ports "$LAB/after"
    assert_eq "$(losses "$LAB/before" "$LAB/after")" "" "no port shows a drop"
    assert_eq "$(csv "$LAB/after" operstate name=b0-br)" down
    settled rx_packets 1200 name=a0-br
    assert_eq "$(recording sum "$LAB/rec" labbr0 ports_rx_pps)" 1000 "into the bridge"
    assert_eq "$(recording sum "$LAB/rec" labbr0 ports_tx_pps)" 0 "out of the bridge"
    assert_eq "$(csv "$LAB/before" ports_rx_packets name=labbr0)" "$(csv "$LAB/before" ports_tx_packets name=labbr0)" "while up"
    assert_eq "$(csv "$LAB/after" ports_tx_packets name=labbr0)" 200
    assert_eq "$(lossy_rates)" ""
}

t_unknown_ethertype() {
    net_veth v0 v1
    record_start "$LAB/rec" -d 0.1
    ports "$LAB/before"
    net_send v0 500 -e 88b5 -d "$(cat /sys/class/net/v1/address)" >"$LAB/sent"
    wait_until 5 at_least 500 link_stat v1 rx_packets
    ports "$LAB/after"
    assert_eq "$(losses "$LAB/before" "$LAB/after")" "self/v1 rx_dropped 500;"
    settled rx_dropped 500 name=v1
    assert_eq "$(recording sum "$LAB/rec" v1 rx_drop_pps)" 500 "drops over the recording"
    assert_eq "$(recording sum "$LAB/rec" v1 rx_pps)" 500 "they were received all the same"
    assert_eq "$(percents rx_loss_pct name=v1)" "100;" "each packet lost once, not twice"
    assert_eq "$(lossy_rates)" "self/v1 rx_drop_pps;self/v1 rx_loss_pct;"
}

# Half of what arrives has no handler: lost are 50 %, though the port counts those that it dropped as received, too.
t_half_without_handler() {
    net_pair_on_bridge labbr0
    ports "$LAB/before" --netns lab-b
    record_start "$LAB/rec" -d 2 --netns lab-b
    NET_FROM=lab-a net_send a0 400 -e 88b5 -d $B_MAC >"$LAB/sent"
    NET_FROM=lab-a net_send a0 400 -u 10.98.0.2:9 >"$LAB/sent" # IPv4 takes these, though no one listens
    wait_until 5 at_least 800 link_stat b0 rx_packets lab-b
    ports "$LAB/after" --netns lab-b
    assert_eq "$(losses "$LAB/before" "$LAB/after")" "lab-b/b0 rx_dropped 400;"
    wait_until 10 record_has_last "$LAB/rec" rx_dropped 400 name=b0
    record_end "$LAB/rec"
    recording check "$LAB/rec"
    assert_eq "$(percents rx_loss_pct name=b0)" "50;"
}

t_other_hosts_packets() {
    net_pair_on_bridge labbr0
    ip -n lab-a neighbour replace 10.98.0.2 lladdr 52:54:98:00:00:77 dev a0
    ports "$LAB/before" --netns lab-a,lab-b,self
    [ -n "$(csv "$LAB/before" rx_otherhost name=b0)" ] || skip "this kernel has no rx_otherhost_dropped"
    NET_FROM=lab-a net_send a0 300 -u 10.98.0.2:9 >"$LAB/sent"
    wait_until 5 at_least 300 link_stat b0 rx_packets lab-b
    ports "$LAB/after" --netns lab-a,lab-b,self
    assert_eq "$(losses "$LAB/before" "$LAB/after")" "lab-b/b0 rx_otherhost 300;"
}

lab_main "$@"
