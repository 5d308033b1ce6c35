#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Findings of real guests of libvirt on a bridge, each caused on purpose and then ended: vCPUs pinned on one CPU, one that
# floats over another's, a receiver that is stopped or paused, a port that is down (the ledger's loss that no counter owns),
# an emulated NIC.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/guests.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"
. "$LAB_DIR/findings.sh"

virsh_do() {
    virsh -q -c qemu:///system "$@"
}

setup() {
    need_vnettop
    need_command tmux
    [ "$(nproc)" -ge 2 ] || skip "one CPU alone: guests cannot be apart"
    guests_up rate=2000
    pin vmtx 0
    pin vmrx 1
    first_in_line "$(guest_pid vmtx)" "$(guest_pid vmrx)"
}

pin() { # VM CPUS
    virsh_do vcpupin "$1" 0 "$2" --live
}

busy() { # VM: its vCPU as busy as one can be
    guest_do "$1" 'while :; do :; done & echo $! >/busy'
    defer guest_do "$1" 'kill $(cat /busy)'
}

t_two_vcpus_on_one_cpu() {
    busy vmrx
    busy vmtx
    findings_start
    findings_watch 4
    [ -z "$(findings_query now rule cpu-shared)" ] || fail "cpu-shared while they are apart"
    pin vmrx 0
    defer pin vmrx 1
    finding_appears 25 cpu-shared "CPU 0"
    finding_says 'CPU 0 is the only one for [2-9] threads that want [0-9]+ % of it: .*vmrx/0 \(run [0-9]+ %, waits [0-9]+ %\)' cpu-shared
    finding_says '.*vmtx/0 \(run [0-9]+ %, waits [0-9]+ %\)' cpu-shared
    finding_appears 10 vcpu-steal vmrx/0
    finding_says 'vmrx/0 waits [0-9]+ % of the time for CPU 0, where .*vmtx/0 [0-9]+ %.* ran meanwhile' vcpu-steal vmrx/0
    pin vmrx 1
    finding_leaves 25 cpu-shared
    findings_end
    findings_were_only cpu-shared guest-not-draining
    # A vCPU that waits half of the time drains late: its ring may fill, which is the consequence and says so.
    ! findings_query ever text guest-not-draining | grep -qv 'waits\|saturated\|QEMU' || fail "another reason given"
}

t_vcpu_floats_over_anothers_cpu() {
    busy vmrx
    busy vmtx
    findings_start
    pin vmrx 0-1
    defer pin vmrx 1
    finding_appears 25 floating-vcpus vmrx
    finding_says 'vmrx floats over CPUs 0-1, among them the one of vmtx/0; its vCPUs run [0-9]+ %' floating-vcpus
    pin vmrx 1
    finding_leaves 25 floating-vcpus
    findings_end
    findings_were_only floating-vcpus cpu-shared guest-not-draining
}

t_receiver_is_stopped() {
    local pid
    pid=$(guest_pid vmrx)
    findings_start
    kill -STOP "$pid"
    defer kill -CONT "$pid"
    finding_appears 30 guest-not-draining "vmrx net0"
    finding_says 'vmrx net0 loses [0-9.]+ % of what is sent to it .*: vmrx-t0 is full, its guest does not drain: its process is stopped' guest-not-draining
    assert_eq "$(findings_query now advice guest-not-draining)" "kill -CONT $pid" "what to try"
    assert_eq "$(findings_query now severity guest-not-draining)" bad
    kill -CONT "$pid"
    finding_leaves 30 guest-not-draining
    findings_end
    findings_were_only guest-not-draining
}

t_receiver_is_paused() {
    findings_start
    virsh_do suspend vmrx
    defer virsh_do resume vmrx
    finding_appears 30 guest-not-draining "vmrx net0"
    finding_says 'its guest does not drain: the VM is paused' guest-not-draining
    assert_eq "$(findings_query now advice guest-not-draining)" "virsh resume vmrx" "what to try"
    virsh_do resume vmrx
    finding_leaves 30 guest-not-draining
    findings_end
    findings_were_only guest-not-draining
}

# The console's screen of one NIC, with its ledger.
path_screen() {
    tmux -L "lab-$LAB_ID" capture-pane -p -t main >"$LAB/screen"
}

ledger_line() { # HOP: of the part FROM GUEST
    path_screen
    sed -n '/FROM GUEST/,$p' "$LAB/screen" | grep -E "^ *$1 "
}

ledger_has() { # REGEX: a line of it
    path_screen
    sed -n '/FROM GUEST/,$p' "$LAB/screen" | grep -Eq "$1"
}

# The bridge counts no drop for a port that is down; the ledger has it as what nobody owns.
t_port_down_is_unaccounted() {
    export LANG=C.UTF-8 LC_ALL=C.UTF-8 TERM=xterm-256color
    tmux -L "lab-$LAB_ID" -f /dev/null new-session -d -s main -x 150 -y 60 "exec '$VNETTOP' --config /dev/null --view overview --filter vmtx-t0"
    defer tmux -L "lab-$LAB_ID" kill-server
    wait_until 20 sh -c "tmux -L lab-$LAB_ID capture-pane -p -t main | grep -q 'vmtx-t0'"
    tmux -L "lab-$LAB_ID" send-keys -t main Enter
    wait_until 20 ledger_has 'unaccounted'
    wait_until 30 ledger_has 'unaccounted +-?[0-2]\.[0-9]+%'
    ip link set vmrx-t0 down
    defer ip link set vmrx-t0 up
    wait_until 40 ledger_has 'unaccounted +(9[5-9]|100)\.[0-9]% +lost inside the switch, by no counter'
    ip link set vmrx-t0 up
    wait_until 40 ledger_has 'unaccounted +-?[0-2]\.[0-9]+%'
}

# Of a machine without an operating system: its card takes what it is sent all the same.
t_emulated_nic() {
    findings_start
    qemu-system-x86_64 -accel tcg -m 64 -name lab8139,debug-threads=on -nodefaults -display none -daemonize \
        -pidfile "$LAB/lab8139.pid" -netdev tap,id=n,ifname=t8139,script=no,downscript=no -device rtl8139,netdev=n
    defer daemon_end "$LAB/lab8139.pid"
    ip link set t8139 up
    "$TOOLS/sender" -i t8139 -n 100000000 -r 500 >/dev/null &
    local sender=$!
    defer net_end $sender
    finding_appears 25 emulated-nic "lab8139 n"
    finding_says 'lab8139 n is an emulated rtl8139; virtio moves far more packets per CPU' emulated-nic
    net_end $sender || true
    finding_leaves 25 emulated-nic
    findings_end
    findings_were_only emulated-nic floating-vcpus # its BIOS spins, on no CPU of its own
}

lab_main "$@"
