#!/bin/bash
# SPDX-License-Identifier: MIT
#
# vnettop on OVS-DPDK at about a million packets per second between two testpmd guests: its sums and rates against OVS's own
# counters read around and beside it, drops by cause, the PMD that is preempted, and a guest that goes and comes back.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"
. "$LAB_DIR/ovs_dpdk.sh"

setup() {
    need_vnettop
    ovs_dpdk_guests_up
}

ovs_check() { # COMMAND ARGUMENTS...: see ovs_check.py; a wrong row fails the case with its line
    "$PYTHON" -I -S "$LAB_DIR/ovs_check.py" "$@" 2>"$LAB/.ovs_check" || fail "$(tail -n 1 "$LAB/.ovs_check")"
}

named_stat() { # PORT NAME: a driver's counter as OpenFlow tells it
    ovs-ofctl -O OpenFlow14 dump-ports br0 "$1" | grep -o "\b$2=[0-9]*" | cut -d = -f 2
}

ovs_says() { # VARIABLE: a map of OVS's counters, live
    local -n told=$1
    told=([rx]=$(ovs_port_stat vhu0 rx pkts) [tx]=$(ovs_port_stat vhu1 tx pkts) [drop]=$(ovs_port_stat vhu1 tx drop)
        [full]=$(named_stat vhu1 ovs_tx_failure_drops) [pmd]=$(ovs_pmd_stat 0 "packets received")
        [idle]=$(ovs_pmd_stat 0 "idle cycles") [busy]=$(ovs_pmd_stat 0 "processing cycles"))
}

bounded() { # WHAT BEFORE AFTER COLUMN TABLE KEY...: the recording lies between the two accounts, and its rates add up to it
    local what=$1 before=$2 after=$3 column=$4 table=$5 first last seconds
    read -r first last seconds < <(ovs_check span "$LAB/rec" "$table" "$column" "${@:6}")
    assert_between "$first" "$before" "$last" "$what, first"
    assert_between "$last" "$first" "$after" "$what, last"
    assert_between "$seconds" 8 60 "$what, seconds"
    SPAN=$((last - first)) SECONDS_OF_SPAN=$seconds
}

# One recording for what follows: ten seconds, with OVS's own account before and after it.
t_sums_over_ten_seconds() {
    local -A before after
    ovs_says before
    record_start "$LAB/rec" --only ovs,netlink -d 1
    record_more "$LAB/rec" 5
    record_more "$LAB/rec" 5
    record_end "$LAB/rec"
    ovs_says after
    bounded "vhu0 received" "${before[rx]}" "${after[rx]}" rx_packets ports name=vhu0
    assert_between $SPAN 100000 1e12 "packets"
    assert_within "$(ovs_check added "$LAB/rec" ports rx_pps name=vhu0)" $SPAN 0.001 "rates of vhu0 added up"
    bounded "vhu1 sent" "${before[tx]}" "${after[tx]}" tx_packets ports name=vhu1
    assert_within "$(ovs_check added "$LAB/rec" ports tx_pps name=vhu1)" $SPAN 0.001 "rates of vhu1 added up"
    bounded "vhu1 dropped" "${before[drop]}" "${after[drop]}" tx_dropped ports name=vhu1
    assert_within "$(ovs_check added "$LAB/rec" ports tx_drop_pps name=vhu1)" $SPAN 0.001 "drops of vhu1 added up"
    bounded "guest does not drain" "${before[full]}" "${after[full]}" tx_failure_drops ports name=vhu1
    assert_between $SPAN 10000 1e12 "drops since the guest does not drain"
    assert_within "$(ovs_check added "$LAB/rec" ports tx_failure_drop_pps name=vhu1)" $SPAN 0.001 "their rates"
    bounded "PMD" "${before[pmd]}" "${after[pmd]}" rx_packets pmds core=0
    assert_within "$(ovs_check added "$LAB/rec" pmds rx_pps core=0)" $SPAN 0.001 "rates of the PMD added up"
    bounded "busy cycles" "${before[busy]}" "${after[busy]}" busy_cycles pmds core=0
    bounded "idle cycles" "${before[idle]}" "${after[idle]}" idle_cycles pmds core=0
    assert_match "$(ovs_check check "$LAB/rec")" 'compared=[1-9][0-9]'
    assert_eq "$(csv_last "$LAB/rec/sources.csv" failures name=ovs)" 0 "reads that failed"
}

# Another reader with a clock of its own, at the same time: the same rate and the same share of busy cycles.
t_rates_are_anothers() { # on a busy machine the two read at moments too far apart: three tries
    local try
    for ((try = 0; try < 2; try++)); do
        lab_attempt rates_beside
        [ $LAB_ATTEMPT != 0 ] || return 0
    done
    rates_beside
}

rates_beside() {
    local theirs ours
    record_start "$LAB/rec" --only ovs -d 0.5
    ovs_check sample "$OVS_CTL" vhu0 0 6 >"$LAB/samples"
    record_end "$LAB/rec"
    read -r ours theirs < <(ovs_check rate_beside "$LAB/rec" "$LAB/samples" vhu0)
    assert_between "$theirs" 10000 1e9 "packets per second"
    assert_within "$ours" "$theirs" 1 "packets per second"
    read -r ours theirs < <(ovs_check busy_beside "$LAB/rec" "$LAB/samples" 0)
    assert_between "$ours" "$(awk -v t="$theirs" 'BEGIN { print t - 1 }')" "$(awk -v t="$theirs" 'BEGIN { print t + 1 }')" busy
}

loss_is_seen() {
    "$VNETTOP" snapshot -d 1 --only ovs,netlink --table ports -o - >"$LAB/ports.csv"
    [ -n "$(csv "$LAB/ports.csv" tx_loss_pct name=vhu1)" ] && [ -n "$(csv "$LAB/ports.csv" vrings name=vhu1)" ]
}

# 97 % of what comes is lost at vhu1, and every packet is somewhere.
t_loss_by_cause() {
    wait_until 20 loss_is_seen # a first read may come late on a busy machine
    assert_between "$(csv "$LAB/ports.csv" tx_loss_pct name=vhu1)" 1 100 "loss"
    assert_within "$(csv "$LAB/ports.csv" tx_failure_drop_pps name=vhu1)" "$(csv "$LAB/ports.csv" tx_drop_pps name=vhu1)" 0.1 "cause"
    assert_eq "$(csv "$LAB/ports.csv" kind name=vhu1)" vhost-user
    assert_eq "$(csv "$LAB/ports.csv" vhost_state name=vhu1)" connected
    assert_eq "$(csv "$LAB/ports.csv" socket name=vhu1)" "$LAB/vhu1.sock"
    assert_eq "$(csv "$LAB/ports.csv" socket_side name=vhu1)" client
    assert_eq "$(csv "$LAB/ports.csv" vrings name=vhu1)" 2
    # br0 is down: what is flooded to it is no loss.
    assert_eq "$(csv "$LAB/ports.csv" tx_drop_pps name=br0)" 0
}

t_pmd_is_preempted() {
    local tid run wait run2 wait2 steal
    tid=$(threads_of "$(cat "$OVS_PIDFILE")" | awk '/pmd-c00/ { print $1 }')
    read -r run wait < <(thread_ns "$tid")
    record_start "$LAB/rec" --only ovs -d 0.5
    record_more "$LAB/rec" 6
    record_end "$LAB/rec"
    read -r run2 wait2 < <(thread_ns "$tid")
    steal=$(awk -v r=$((run2 - run)) -v w=$((wait2 - wait)) 'BEGIN { print 100 * w / (r + w) }')
    assert_within "$(csv "$LAB/rec/pmds.csv" steal_pct core=0 | awk 'NF { n += $1; k++ } END { print n / k }')" "$steal" 15 "steal"
    assert_between "$(csv "$LAB/rec/pmds.csv" involuntary_per_s core=0 | awk 'NF { n += $1 } END { print n }')" 1 1e9 "preemptions"
}

t_guest_goes_and_comes_back() {
    record_start "$LAB/rec" --only ovs -d 0.5
    record_more "$LAB/rec" 2
    daemon_end "$LAB/guest1.pid"
    wait_until 20 eval '[ "$(csv_last "$LAB/rec/ports.csv" vhost_state name=vhu1)" = disconnected ]'
    wait_until 10 eval '[ -z "$(csv_last "$LAB/rec/ports.csv" tx_packets name=vhu1)" ]'
    rm -f "$LAB/guest1.in"
    testpmd_start 1 rxonly
    wait_until 60 eval '[ "$(csv_last "$LAB/rec/ports.csv" vhost_state name=vhu1)" = connected ]'
    wait_until 20 eval '[ -n "$(csv_last "$LAB/rec/ports.csv" tx_pps name=vhu1)" ]'
    record_end "$LAB/rec"
    assert_match "$(ovs_check check "$LAB/rec")" 'most=[0-9]{1,7}$' # below ten million in any interval
    assert_match "$(ovs_check words "$LAB/rec" ports name=vhu0)" 'rst=0$'
}

# What OVS and DPDK's telemetry tell of one ethdev stands in one row.
t_ethdev_is_one_row() {
    ovs_dpdk_null null0
    wait_until 10 eval '[ "$(ovs-vsctl get Interface null0 status:port_no)" ]'
    "$VNETTOP" snapshot -d 0.5 --only ovs,dpdk --table ports -o - >"$LAB/ports.csv"
    assert_eq "$(csv "$LAB/ports.csv" name dpdk_port=0 kind=dpdk)" null0
    assert_eq "$(csv "$LAB/ports.csv" driver name=null0)" net_null
    assert_eq "$(csv "$LAB/ports.csv" name name=eth_null0)" "" "a second row of it"
}

lab_main "$@"
