#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What becomes of libvirt's daemon while vnettop runs: started late, stopped, killed, hung, replaced by another, closed to
# the user. The other sources do not notice, the rows come back by themselves, and nothing is written to the terminal.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/guests.sh"
. "$LAB_DIR/record.sh"

REC=$LAB/rec

setup() {
    need_vnettop
    need_command virtlogd libvirtd virsh qemu-system-x86_64 setpriv
    echo 'auth_unix_ro = "none"' >>/etc/libvirt/libvirtd.conf # a lab has no D-Bus to ask polkit by
}

source_is() { # STATE-REGEX [SOURCE]
    [[ $(csv_last "$REC/sources.csv" state name="${2:-libvirt}") =~ ^($1)$ ]]
}

vm_is() { # STATE: of vmrx in the newest frame, as libvirt says it
    [ "$(csv_last "$REC/vms.csv" state name=vmrx)" = "$1" ] &&
        [ "$(csv_last "$REC/vms.csv" elapsed_s)" = "$(csv_last "$REC/sources.csv" elapsed_s)" ]
}

age_is_under() { # SECONDS
    awk -v a="$(csv_last "$REC/sources.csv" age_s name=libvirt)" -v m="$1" 'BEGIN { exit !(a != "" && a < m) }'
}

well() {
    source_is ok && vm_is running && age_is_under 2
}

daemon_start() {
    rm -f /run/libvirtd.pid
    libvirtd -d
    wait_until 20 virsh -r -c qemu:///system list
}


# libvirt, a guest that does nothing, and a recording of it.
watch_guest() {
    if [ ! -e /run/libvirtd.pid ]; then libvirt_up; fi
    if [ -z "$(virsh -c qemu:///system list --name | xargs)" ]; then
        guest_create rx
        libvirt_keep_capabilities
    fi
    record_start "$REC" -d 0.2 --only libvirt,host
    wait_until 20 well
}

# The recording of a case: no other source ever failed, the failures are few, and libvirt wrote nothing to the terminal.
others_were_well() {
    local failures
    record_end "$REC"
    assert_eq "$(csv "$REC/sources.csv" state name=host | sort -u | grep -v starting)" ok "states of the source host"
    failures=$(csv_last "$REC/sources.csv" failures name=libvirt)
    assert_between "$failures" 0 "${1:-12}" "failures"
    assert_match "$(cat "$REC.err")" '^vnettop: [0-9]* frames in [^ ]*$' "standard error"
}

t_started_late() {
    record_start "$REC" -d 0.2 --only libvirt,host
    wait_until 10 source_is none
    assert_match "$(csv_last "$REC/sources.csv" detail name=libvirt)" 'libvirt-sock-ro.*: No such file'
    libvirt_up
    guest_create rx
    libvirt_keep_capabilities
    wait_until 20 well
    assert_match "$(csv_last "$REC/sources.csv" detail name=libvirt)" '^qemu:///system, libvirt [0-9.]*, 1 domain$'
    others_were_well 0
}

t_stopped_and_started() {
    watch_guest
    daemon_end /run/libvirtd.pid
    wait_until 10 source_is 'none|failed'
    record_more "$REC" 5
    daemon_start
    wait_until 40 well
    others_were_well
}

t_restarted_at_once() {
    watch_guest
    daemon_end /run/libvirtd.pid
    daemon_start
    wait_until 40 well
    record_more "$REC" 5
    wait_until 10 well # a daemon that is just up may close a connection once more
    others_were_well
}

# A socket stays behind, and nobody listens on it.
t_killed() {
    watch_guest
    kill -KILL "$(cat /run/libvirtd.pid)"
    wait_until 10 source_is failed
    wait_until 10 source_is none\|failed
    assert_match "$(csv_last "$REC/sources.csv" detail name=libvirt)" '^qemu:///system: '
    daemon_start
    wait_until 40 well
    others_were_well
}

# Noticed by keep-alive; the next attempt to connect hangs with the daemon, and goes on when it does.
t_hung_and_continued() {
    local pid frames
    watch_guest
    pid=$(cat /run/libvirtd.pid)
    kill -STOP "$pid"
    defer kill -CONT "$pid"
    wait_until 20 source_is 'failed|no answer'
    wait_until 20 source_is 'no answer'
    assert_match "$(csv_last "$REC/sources.csv" detail name=libvirt)" 'no answer for'
    frames=$(record_frames "$REC")
    wait_until 5 at_least $((frames + 10)) record_frames "$REC"
    kill -CONT "$pid"
    wait_until 40 well
    others_were_well
}

# A hung daemon holds up neither the end of the program nor another one's beginning.
t_hung_at_the_end() {
    local pid started
    watch_guest
    pid=$(cat /run/libvirtd.pid)
    kill -STOP "$pid"
    defer kill -CONT "$pid"
    wait_until 20 source_is 'no answer'
    started=$(lab_now_ms)
    record_end "$REC"
    assert_between $(($(lab_now_ms) - started)) 0 1000 "ms to end"
    "$VNETTOP" snapshot -d 0.1 --table cpus -o - >"$LAB/cpus.csv"
    [ "$(wc -l <"$LAB/cpus.csv")" -gt 1 ] || fail "no CPUs in $(cat "$LAB/cpus.csv")"
}

# Another daemon takes over under virtqemud's name. This distribution has none, so libvirtd's sockets get its names.
t_replaced_by_virtqemud() {
    watch_guest
    daemon_end /run/libvirtd.pid
    wait_until 10 source_is 'none|failed'
    rm -f /run/libvirtd.pid
    libvirtd -d
    wait_until 20 test -S /run/libvirt/libvirt-sock-ro
    mv /run/libvirt/libvirt-sock-ro /run/libvirt/virtqemud-sock-ro
    defer mv /run/libvirt/virtqemud-sock-ro /run/libvirt/libvirt-sock-ro
    mv /run/libvirt/libvirt-sock /run/libvirt/virtqemud-sock
    defer mv /run/libvirt/virtqemud-sock /run/libvirt/libvirt-sock
    wait_until 40 well
    others_were_well
}

t_guest_comes_and_goes() {
    watch_guest
    virsh -q -c qemu:///system suspend vmrx
    wait_until 5 vm_is paused
    virsh -q -c qemu:///system resume vmrx
    wait_until 5 vm_is running
    kill -KILL "$(guest_pid vmrx)" # it crashes
    wait_until 10 no_vm_in_the_newest_frame
    guest_create rx
    wait_until 10 vm_is running
    others_were_well 0
}

no_vm_in_the_newest_frame() {
    [ "$(csv_last "$REC/vms.csv" elapsed_s)" != "$(csv_last "$REC/sources.csv" elapsed_s)" ]
}

# An ordinary user may read; where the socket is closed to him, `sources` says so and what to do.
t_ordinary_user() {
    local sources
    [ -e /run/libvirtd.pid ] || libvirt_up
    install -m 755 "$VNETTOP" "$LAB/vnettop"
    nobody() { setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/nonexistent "$LAB/vnettop" sources --only libvirt; }
    sources=$(nobody)
    assert_match "$sources" 'libvirt +ok'
    chmod 600 /run/libvirt/libvirt-sock-ro
    defer chmod 777 /run/libvirt/libvirt-sock-ro
    sources=$(nobody)
    assert_match "$sources" 'libvirt +not permitted'
    assert_match "$sources" 'group libvirt'
}

lab_main "$@"
