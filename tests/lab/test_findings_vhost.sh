#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Findings of real guests on vhost-user ports of OVS-DPDK: a vCPU pinned on the PMD's CPU, a receiver that is stopped, and one that gets more than it can take, whose ledger adds up to what was sent.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/guests_vhost.sh"
. "$LAB_DIR/record.sh"
. "$LAB_DIR/findings.sh"

virsh_do() {
    virsh -q -c qemu:///system "$@"
}

setup() {
    need_vnettop
    need_command tmux
    [ "$(nproc)" -ge 2 ] || skip "one CPU alone: guests and the PMD cannot be apart"
    guests_vhost_up rate=1000
    virsh_do vcpupin vmtx 0 1 --live
    virsh_do vcpupin vmrx 0 1 --live
    first_in_line "$(guest_pid vmtx)" "$(guest_pid vmrx)" "$(cat "$OVS_PIDFILE")"
}

t_vcpu_on_the_pmds_cpu() {
    guest_do vmrx 'while :; do :; done & echo $! >/busy'
    defer guest_do vmrx 'kill $(cat /busy)'
    findings_start
    virsh_do vcpupin vmrx 0 0 --live
    defer virsh_do vcpupin vmrx 0 1 --live
    finding_appears 30 poller-shares-cpu "CPU 0"
    finding_says 'CPU 0 is the only one for [2-9] threads that want [0-9]+ % of it: .*vmrx/0 \(run' poller-shares-cpu
    finding_appears 20 poller-preempted pmd/0
    finding_says 'pmd/0 waits [0-9]+ % of the time for CPU 0, where .*vmrx/0 [0-9]+ %' poller-preempted pmd/0
    virsh_do vcpupin vmrx 0 1 --live
    finding_leaves 30 poller-shares-cpu
    findings_end
    findings_were_only poller-shares-cpu cpu-shared guest-not-draining
}

t_receiver_is_stopped() {
    local pid
    pid=$(guest_pid vmrx)
    findings_start
    kill -STOP "$pid"
    defer kill -CONT "$pid"
    finding_appears 30 guest-not-draining "vmrx net0"
    finding_says 'vmrx net0 loses [0-9.]+ % of what is sent to it .*: vhu-rx is full, its guest does not drain: its process is stopped' guest-not-draining
    assert_eq "$(findings_query now advice guest-not-draining)" "kill -CONT $pid" "what to try"
    kill -CONT "$pid"
    finding_leaves 30 guest-not-draining
    findings_end
    findings_were_only guest-not-draining
}

ledger_has() { # REGEX: a line of the part TO GUEST
    tmux -L "lab-$LAB_ID" capture-pane -p -t main >"$LAB/screen"
    sed -n '/TO GUEST/,/FROM GUEST/p' "$LAB/screen" | grep -Eq "$1"
}

not_first_in_line() { # PID: it gets what the others leave
    local task
    echo 0 >"/proc/$1/autogroup" 2>/dev/null || true
    for task in "/proc/$1/task"/*; do renice -n 0 -p "${task##*/}" >/dev/null || true; done
}

# The sender keeps their common CPU to itself: the receiver loses at every moment, not now and then.
t_too_much_adds_up() {
    not_first_in_line "$(guest_pid vmrx)"
    defer first_in_line "$(guest_pid vmrx)"
    guest_do vmtx 'traffic_stop; traffic_start 0 max'
    defer guest_do vmtx 'traffic_stop; traffic_start 0 1000'
    findings_start
    finding_appears 40 guest-not-draining "vmrx net0"
    finding_says 'vhu-rx is full, its guest does not drain: ' guest-not-draining
    export LANG=C.UTF-8 LC_ALL=C.UTF-8 TERM=xterm-256color
    tmux -L "lab-$LAB_ID" -f /dev/null new-session -d -s main -x 170 -y 60 "exec '$VNETTOP' --config /dev/null --view overview --filter vhu-rx"
    defer tmux -L "lab-$LAB_ID" kill-server
    defer cat "$LAB/screen" # for the log, where the case fails
    wait_until 20 sh -c "tmux -L lab-$LAB_ID capture-pane -p -t main | grep -q vhu-rx"
    tmux -L "lab-$LAB_ID" send-keys -t main Enter
    wait_until 30 ledger_has 'vhu-rx +[0-9.kM]+ +[0-9.kM]+ +[0-9.kM]+ *! +guest does not drain .*<- loses most'
    wait_until 30 ledger_has 'unaccounted +-?0\.[0-4][0-9]*%'
    findings_end
    findings_were_only guest-not-draining cpu-shared poller-shares-cpu
}

lab_main "$@"
