#!/bin/bash
# SPDX-License-Identifier: MIT
#
# vnettop on Open vSwitch with four PMD threads and no DPDK: what it shows against what was sent and what ovs-appctl says,
# and what becomes of it when the daemon is cleared, changed, stopped, killed, started again, or closed to the user.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"
. "$LAB_DIR/ovs_dummy.sh"

OVS_ID=/var/run/openvswitch

setup() {
    need_vnettop
    ovs_dummy_up
}

ovs_check() { # COMMAND ARGUMENTS...: see ovs_check.py; a wrong row fails the case with its line
    "$PYTHON" -I -S "$LAB_DIR/ovs_check.py" "$@" 2>"$LAB/.ovs_check" || fail "$(tail -n 1 "$LAB/.ovs_check")"
}

table() { # TABLE [OPTIONS...]: of a snapshot, in $LAB/TABLE.csv
    "$VNETTOP" snapshot -d 0.2 --only ovs --table "$1" -o - "${@:2}" >"$LAB/$1.csv"
}

recorded_state() { # DIR STATE: what the source `ovs` is in now
    [ "$(csv_last "$1/sources.csv" state name=ovs)" = "$2" ]
}

t_packets_are_exact() {
    local core
    ovs_dummy_send p0 0 250
    ovs_dummy_send p0 1 50
    ovs_dummy_send p1 1 30
    table pmds
    for core in 0 1 2 3; do
        assert_eq "$(csv "$LAB/pmds.csv" rx_packets core=$core)" "$(ovs_pmd_stat $core "packets received")" "PMD $core"
    done
    assert_eq "$(csv "$LAB/pmds.csv" rx_packets thread=pmd | awk '{ n += $1 } END { print n }')" 330 "all PMDs"
    table ports
    assert_eq "$(csv "$LAB/ports.csv" rx_packets name=p0)" 300 "into p0"
    assert_eq "$(csv "$LAB/ports.csv" tx_packets name=p1)" 300 "out of p1"
    assert_eq "$(csv "$LAB/ports.csv" tx_packets name=p0)" 30 "out of p0"
    assert_eq "$(csv "$LAB/ports.csv" switch name=p0)" br0
    assert_eq "$(csv "$LAB/ports.csv" datapath name=p0)" netdev@ovs-netdev
    table datapaths
    assert_eq "$(($(csv "$LAB/datapaths.csv" hits) + $(csv "$LAB/datapaths.csv" missed)))" 330 "look-ups"
    table counters
    assert_eq "$(csv "$LAB/counters.csv" value object=p0 name=rx_q0_packets)" 250 "queue 0 of p0"
}

# What the switch polls, and where, is what ovs-appctl says; pinned and isolated as it was asked for.
t_queues() {
    local port queue core
    ovs-vsctl set Interface p1 other_config:pmd-rxq-affinity=1:2
    wait_until 5 eval 'ovs_app dpif-netdev/pmd-rxq-show | grep -q "isolated : true"'
    table rxqs
    ovs_app dpif-netdev/pmd-rxq-show | awk '/^pmd/ { core = $NF + 0 } /port:/ { print $2, $4, core }' >"$LAB/told"
    assert_eq "$(wc -l <"$LAB/told")" 4 "queues"
    while read -r port queue core; do
        assert_eq "$(csv "$LAB/rxqs.csv" core port="$port" queue="$queue")" "$core" "core of $port $queue"
    done <"$LAB/told"
    assert_eq "$(csv "$LAB/rxqs.csv" pinning port=p1 queue=1)" 2 "pinned"
    assert_eq "$(csv "$LAB/rxqs.csv" pinning port=p1 queue=0)" "" "not pinned"
    assert_eq "$(csv "$LAB/rxqs.csv" enabled port=p1 queue=1)" yes
    table pmds
    assert_eq "$(csv "$LAB/pmds.csv" isolated core=2)" yes
    assert_eq "$(csv "$LAB/pmds.csv" isolated core=0)" no
    ovs-vsctl remove Interface p1 other_config pmd-rxq-affinity
}

core_of() { # PORT QUEUE: OVS chose it
    ovs_app dpif-netdev/pmd-rxq-show | awk -v port="$1" -v queue="$2" '
        /^pmd/ { core = $NF + 0 } $1 == "port:" && $2 == port && $4 == queue { print core }'
}

cycles() { # CORE: "IDLE BUSY"
    echo "$(ovs_pmd_stat "$1" "idle cycles") $(ovs_pmd_stat "$1" "processing cycles")"
}

# ovs-appctl's two accounts lie around the recording's.
t_busy_is_the_cycle_difference() {
    local idle busy idle2 busy2 core
    core=$(core_of p0 0)
    ovs_dummy_send p0 0 100
    read -r idle busy < <(cycles "$core")
    record_start "$LAB/rec" --only ovs -d 0.2
    ovs_dummy_send p0 0 1000
    record_more "$LAB/rec" 10
    record_end "$LAB/rec"
    read -r idle2 busy2 < <(cycles "$core")
    assert_between "$(ovs_check busy "$LAB/rec" "$core")" \
        "$(awk -v i=$((idle2 - idle)) -v b=$((busy2 - busy)) 'BEGIN { print 100 * b / (b + i) - 1 }')" \
        "$(awk -v i=$((idle2 - idle)) -v b=$((busy2 - busy)) 'BEGIN { print 100 * b / (b + i) + 1 }')" "busy"
    assert_match "$(ovs_check check "$LAB/rec")" 'compared=[1-9][0-9]'
    assert_eq "$(ovs_check added "$LAB/rec" pmds rx_pps core="$core")" 1000 "packets of the recording"
    assert_eq "$(ovs_check added "$LAB/rec" ports tx_pps name=p1)" 1000 "packets out of p1"
}

t_threads_are_the_kernels() {
    local pid tid name
    pid=$(cat "$OVS_PIDFILE")
    table threads
    while read -r tid name; do
        case $name in
        pmd-*) assert_eq "$(csv "$LAB/threads.csv" role tid="$tid")" pmd "$name" ;;
        handler*) assert_eq "$(csv "$LAB/threads.csv" role tid="$tid")" handler "$name" ;;
        revalidator*) assert_eq "$(csv "$LAB/threads.csv" role tid="$tid")" revalidator "$name" ;;
        esac
    done < <(threads_of "$pid")
    table pmds
    tid=$(threads_of "$pid" | awk '/pmd-c02/ { print $1 }')
    assert_eq "$(csv "$LAB/pmds.csv" thread_key core=2)" "thread:$pid:$tid"
    # Four pollers on two CPUs: each waits for a good part of the time, and waits and runs all of it.
    assert_within "$(paste -d + <(csv "$LAB/pmds.csv" run_pct core=2) <(csv "$LAB/pmds.csv" steal_pct core=2) | bc -l)" 100 5 \
        "run and steal"
}

t_somebody_clears() {
    local core
    core=$(core_of p0 0)
    record_start "$LAB/rec" --only ovs -d 0.2
    ovs_dummy_send p0 0 300
    record_more "$LAB/rec" 2
    ovs_app dpif-netdev/pmd-stats-clear
    record_more "$LAB/rec" 3
    ovs_dummy_send p0 0 200
    record_more "$LAB/rec" 3
    record_end "$LAB/rec"
    assert_match "$(ovs_check words "$LAB/rec" pmds core="$core")" 'rst=1$'
    assert_match "$(ovs_check words "$LAB/rec" ports name=p0)" 'rst=0$'
    assert_eq "$(ovs_check added "$LAB/rec" pmds rx_pps core="$core")" 500 "packets of the recording"
    ovs_check check "$LAB/rec" >"$LAB/checked"
}

t_port_comes_and_goes() {
    record_start "$LAB/rec" --only ovs -d 0.2
    ovs_dummy_port px 0 1
    wait_until 10 eval 'csv "$LAB/rec/ports.csv" rx_queues_wanted name=px | grep -q 1'
    ovs_dummy_send px 0 70
    wait_until 10 eval '[ "$(csv_last "$LAB/rec/ports.csv" rx_packets name=px)" = 70 ]'
    ovs-vsctl del-port br0 px
    record_more "$LAB/rec" 4
    record_end "$LAB/rec"
    assert_eq "$(ovs_check added "$LAB/rec" ports rx_pps name=px)" 70 "into px"
    assert_eq "$(csv_last "$LAB/rec/sources.csv" failures name=ovs)" 0 "reads that failed"
    [ "$(csv_last "$LAB/rec/ports.csv" time name=px)" != "$(csv_last "$LAB/rec/ports.csv" time name=p0)" ] ||
        fail "px is still there"
}

t_daemon_hangs() {
    local frames pid
    pid=$(cat "$OVS_PIDFILE")
    record_start "$LAB/rec" --only ovs,host -d 0.2
    record_more "$LAB/rec" 2
    kill -STOP "$pid"
    defer kill -CONT "$pid"
    wait_until 10 recorded_state "$LAB/rec" "no answer"
    frames=$(record_frames "$LAB/rec")
    record_more "$LAB/rec" 10 # the others go on at their pace
    assert_match "$(csv_last "$LAB/rec/sources.csv" state name=host)" '^ok$'
    kill -CONT "$pid"
    wait_until 15 recorded_state "$LAB/rec" ok
    record_more "$LAB/rec" 3
    record_end "$LAB/rec"
    ovs_check check "$LAB/rec" >"$LAB/checked"
    [ "$frames" -gt 0 ] || fail "no frame"
}

t_daemon_is_killed_and_comes_back() {
    ovs_dummy_send p0 0 500
    record_start "$LAB/rec" --only ovs -d 0.2
    record_more "$LAB/rec" 2
    kill -KILL "$(cat "$OVS_PIDFILE")"
    wait_until 15 eval '! recorded_state "$LAB/rec" ok'
    assert_match "$(csv_last "$LAB/rec/sources.csv" detail name=ovs)" 'closed the connection|gone'
    wait_until 15 recorded_state "$LAB/rec" none
    ovs_dummy_again
    wait_until 20 recorded_state "$LAB/rec" ok
    ovs_dummy_send p0 0 40
    record_more "$LAB/rec" 4
    record_end "$LAB/rec"
    assert_eq "$(csv_last "$LAB/rec/ports.csv" rx_packets name=p0)" 40 "into p0 since"
    assert_match "$(ovs_check check "$LAB/rec")" 'most=[0-9]{1,4}$' # 40 packets in a fifth of a second, no spike
}

ovs_dummy_again() {
    ovs_start "$(readlink -f "$(command -v /usr/lib/openvswitch-switch/ovs-vswitchd || command -v ovs-vswitchd)")" \
        --enable-dummy --disable-system --dummy-numa=0,0,1,1
    OVS_CTL=$OVS_RUN/$(basename "$OVS_PIDFILE" .pid).$(cat "$OVS_PIDFILE").ctl
    wait_until 10 at_least 4 ovs_dummy_pmds
}

t_stale_sockets_and_other_folders() {
    local told
    mkdir "$LAB/empty"
    told=$("$VNETTOP" sources --only ovs --ovs-rundir "$OVS_ID,$LAB/empty")
    assert_match "$told" "ovs@$OVS_ID +ok"
    assert_match "$told" "ovs@$LAB/empty +none"
    assert_match "$told" "no ovs-vswitchd in $LAB/empty; --ovs-rundir names another place"
}

t_ordinary_user() {
    local told
    cp "$VNETTOP" "$LAB/vnettop"
    told=$(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$LAB/vnettop" sources --only ovs) || true
    assert_match "$told" "ovs +not permitted"
    assert_match "$told" "\.ctl is root:root's, mode 0750; run vnettop as root"
}

lab_main "$@"
