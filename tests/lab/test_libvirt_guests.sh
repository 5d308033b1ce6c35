#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The sources libvirt and qemu together on two real guests: one row for each thing, pins now and next, times against
# libvirt's own statistics, steal by pins, packets against what the guests count, NICs that come and go, a monitor that
# hangs; and the same guests as if they were elsewhere, over TCP.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/guests.sh"
. "$LAB_DIR/record.sh"

REC=$LAB/rec
FAR=qemu+tcp://127.0.0.2/system

setup() {
    need_vnettop
    need_command virtlogd libvirtd virsh qemu-system-x86_64 renice
    [ "$(nproc)" -ge 2 ] || skip "one CPU alone: vCPUs cannot be put apart"
    printf '%s\n' 'listen_tls = 0' 'listen_tcp = 1' 'auth_tcp = "none"' >>/etc/libvirt/libvirtd.conf
    guests_up rate=1000 rx.vcpus_max=2 rx.iothread=7
    daemon_end /run/libvirtd.pid
    rm -f /run/libvirtd.pid
    libvirtd -d -l
    wait_until 20 virsh -c qemu:///system list
    local pid
    for pid in "$(guest_pid vmtx)" "$(guest_pid vmrx)" "$(cat /run/libvirtd.pid)" $$; do go_first "$pid"; done
}

# Before the machine's other load, which is not the subject; see test_steal.sh. This script comes along, and vnettop with
# it, or two busy guests would leave them nothing.
go_first() { # PID
    local task
    echo -20 >"/proc/$1/autogroup" 2>/dev/null || true
    for task in "/proc/$1/task"/*; do renice -n -20 -p "${task##*/}" || [ ! -d "$task" ]; done
}

vcpu_tid() { # NAME
    threads_of "$(guest_pid "$1")" | sed -n 's/ CPU 0.TCG$//p'
}

vcpu() { # VM COLUMN: in the newest frame of the recording
    csv_last "$REC/threads.csv" "$2" vm="$1" role=vcpu index=0
}

vcpu_is() { # VM COLUMN VALUE
    [ "$(vcpu "$1" "$2")" = "$3" ]
}

pin_both() { # CPU-OF-VMTX CPU-OF-VMRX
    virsh -q -c qemu:///system vcpupin vmtx 0 "$1"
    virsh -q -c qemu:///system vcpupin vmrx 0 "$2"
}

spin_both() { # CPU-OF-VMTX CPU-OF-VMRX: both vCPUs busy until the case ends
    local vm
    defer pin_both 0-1 0-1
    pin_both "$1" "$2"
    for vm in vmtx vmrx; do
        guest_do $vm 'while :; do :; done & spin=$!'
        defer guest_do $vm 'kill $spin'
    done
}

snapshot_is_whole() { # every source has answered: a busy machine's daemon takes its time
    rm -rf "$REC"
    "$VNETTOP" snapshot -d 2 -o "$REC"
    [ "$(csv "$REC/vms.csv" uri | xargs)" = "qemu:///system qemu:///system" ] &&
        [ "$(csv "$REC/vms.csv" pid | grep -c .)" = 2 ] && [ "$(csv "$REC/paths.csv" port | grep -c .)" = 2 ] &&
        [ "$(csv "$REC/ports.csv" vm kind=tap | grep -c .)" = 2 ]
}

t_one_row_for_each_thing() {
    local vm
    defer rm -rf "$REC"
    wait_until 60 snapshot_is_whole
    for vm in vmtx vmrx; do
        assert_eq "$(csv "$REC/vms.csv" vm_key name=$vm)" "vm:$(virsh -c qemu:///system domuuid $vm | xargs)"
        assert_eq "$(csv "$REC/vms.csv" uri name=$vm)" qemu:///system
        assert_eq "$(csv "$REC/vms.csv" state name=$vm)" running
        assert_eq "$(csv "$REC/vms.csv" pid name=$vm)" "$(guest_pid $vm)"
        assert_eq "$(csv "$REC/vms.csv" accel name=$vm)" tcg
        assert_eq "$(csv "$REC/vms.csv" memory_mib name=$vm)" 128
        assert_eq "$(csv "$REC/threads.csv" tid vm=$vm role=vcpu)" "$(vcpu_tid $vm)"
        assert_eq "$(csv "$REC/threads.csv" tid vm=$vm role=emulator)" "$(guest_pid $vm)"
        assert_eq "$(csv "$REC/paths.csv" nic vm=$vm)" net0
        assert_eq "$(csv "$REC/paths.csv" port vm=$vm)" $vm-t0
        assert_eq "$(csv "$REC/paths.csv" backend vm=$vm)" tap
        assert_eq "$(csv "$REC/ports.csv" vm name=$vm-t0)" $vm
        assert_eq "$(csv "$REC/ports.csv" nic name=$vm-t0)" net0
    done
    assert_eq "$(csv "$REC/vms.csv" name | sort | xargs)" "vmrx vmtx" "rows of VMs"
}

t_pin_appears() {
    pin_both 0-1 0-1
    record_start "$REC" -d 0.2 --only libvirt,qemu
    pin_both 1 0
    wait_until 10 vcpu_is vmtx pinned_cpus 1
    wait_until 10 vcpu_is vmrx pinned_cpus 0
    wait_until 10 vcpu_is vmtx allowed_cpus 1 # as the kernel has it, on a slower tempo
    assert_eq "$(vcpu vmtx pinned_next)" "" "a guest without a configuration has no next start"
    taskset -p -c 0-1 "$(vcpu_tid vmtx)" # behind libvirt's back: both are shown
    wait_until 10 vcpu_is vmtx allowed_cpus 0-1
    assert_eq "$(vcpu vmtx pinned_cpus)" 1
}

t_pin_of_the_next_start() {
    pin_both 0-1 0-1
    record_start "$REC" -d 0.2 --only libvirt,qemu
    virsh -q -c qemu:///system dumpxml vmrx >"$LAB/vmrx.xml"
    virsh -q -c qemu:///system define "$LAB/vmrx.xml"
    defer virsh -q -c qemu:///system undefine vmrx
    virsh -q -c qemu:///system vcpupin vmrx 0 1 --config
    virsh -q -c qemu:///system vcpupin vmrx 0 0 --live # has an event, which the other has not
    wait_until 10 vcpu_is vmrx pinned_cpus 0
    wait_until 10 vcpu_is vmrx pinned_next 1
}

# libvirt numbers it, QEMU names its thread so, and the kernel tells where it may run: one row.
t_iothread_by_its_number() {
    iothread() { csv_last "$REC/threads.csv" "$1" vm=vmrx role=iothread index=7; }
    iothread_is() { [ "$(iothread "$1")" = "$2" ]; }
    record_start "$REC" -d 0.2 --only libvirt,qemu
    virsh -q -c qemu:///system iothreadpin vmrx 7 1
    defer virsh -q -c qemu:///system iothreadpin vmrx 7 0-1
    wait_until 10 iothread_is pinned_cpus 1
    wait_until 10 iothread_is allowed_cpus 1
    assert_eq "$(iothread tid)" "$(threads_of "$(guest_pid vmrx)" | sed -n 's/ IO iothread7$//p')"
    assert_eq "$(csv "$REC/threads.csv" index vm=vmrx role=iothread | grep . | sort -u)" 7
}

# libvirt's statistics at a moment: "EPOCH TIME DELAY" of a vCPU, nanoseconds.
domstats() { # VM
    local before=$EPOCHREALTIME text
    text=$(virsh -r -c qemu:///system domstats --vcpu "$1")
    awk -v b="$before" -v a="$EPOCHREALTIME" -v t="$(sed -n 's/.*vcpu.0.time=//p' <<<"$text")" \
        -v d="$(sed -n 's/.*vcpu.0.delay=//p' <<<"$text")" 'BEGIN { printf "%.6f %.0f %.0f\n", (a + b) / 2, t, d }'
}

# The recording's counters between two such moments, each interpolated between the samples around it: "RUN DELAY".
recorded_between() { # VM EPOCH EPOCH
    "$PYTHON" -I -S - "$REC/threads.csv" "$@" <<'END'
import csv, datetime, sys
path, vm, t1, t2 = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
points = []
for row in csv.DictReader(open(path, newline="", encoding="utf-8")):
    if (row["vm"], row["role"], row["index"]) == (vm, "vcpu", "0") and row["run_ns"]:
        taken = datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00")).timestamp() - float(row["age_s"])
        points.append((taken, int(row["run_ns"]), int(row["delay_ns"])))
def at(t, column):
    for a, b in zip(points, points[1:]):
        if a[0] <= t <= b[0] and b[0] > a[0]:
            return a[column] + (b[column] - a[column]) * (t - a[0]) / (b[0] - a[0])
    sys.exit("no samples around %f: %s" % (t, points))
print("%.0f %.0f" % (at(t2, 1) - at(t1, 1), at(t2, 2) - at(t1, 2)))
END
}

# Over the same seconds, both vCPUs on one CPU so that each waits half of the time.
t_times_are_libvirts() {
    local first second run delay
    spin_both 0 0
    record_start "$REC" -d 0.1 --only libvirt,qemu
    record_more "$REC" 5
    first=$(domstats vmrx)
    record_more "$REC" 40
    second=$(domstats vmrx)
    record_more "$REC" 3
    record_end "$REC"
    echo "$first / $second"
    read -r run delay <<<"$(recorded_between vmrx "${first%% *}" "${second%% *}")"
    assert_between "$delay" 500000000 20000000000 "nanoseconds waited"
    read -r _ time1 delay1 <<<"$first"
    read -r _ time2 delay2 <<<"$second"
    # 10 ms are libvirt's tick, the rest the time that virsh takes to ask.
    assert_between $((run - time2 + time1)) -60000000 60000000 "run, difference to libvirt's vcpu.0.time"
    assert_between $((delay - delay2 + delay1)) -60000000 60000000 "delay, difference to libvirt's vcpu.0.delay"
}


both_steal() { # LOW HIGH: in the newest frame
    local vm
    for vm in vmtx vmrx; do
        awk -v s="$(vcpu $vm steal_pct)" -v l="$1" -v h="$2" 'BEGIN { exit !(s != "" && s >= l && s <= h) }' || return 1
    done
}

t_steal_rises_and_falls_with_the_pins() {
    spin_both 0 1
    record_start "$REC" -d 0.5 --only libvirt,qemu
    defer csv "$REC/threads.csv" steal_pct role=vcpu # the log of a failure
    wait_until 60 both_steal 0 35
    pin_both 0 0
    wait_until 60 both_steal 45 75
    assert_eq "$(csv_last "$REC/vms.csv" worst_vcpu name=vmrx)" 0@0
    pin_both 0 1
    wait_until 60 both_steal 0 35
}

# From rest to rest, to the packet; a VM's and a path's rates are its port's, in the guest's direction.
t_packets_are_the_guests() {
    local sent got dropped
    guest_quiet vmtx vmrx
    sent=$(guest_counter vmtx tx_packets) got=$(guest_counter vmrx rx_packets) dropped=$(link_stat vmrx-t0 tx_dropped)
    record_start "$REC" -d 0.5
    record_more "$REC" 1
    guest_send vmtx vmrx 5000 5000
    guest_send vmtx vmrx 60000 max # more than the receiver's ring takes
    record_more "$REC" 2
    record_end "$REC"
    sent=$(($(guest_counter vmtx tx_packets) - sent)) got=$(($(guest_counter vmrx rx_packets) - got))
    assert_between "$sent" 65000 65010 "sent by the guest, a question of its ARP now and then"
    assert_eq "$(recording sum "$REC" vmtx-t0 rx_pps)" "$sent" "from vmtx"
    assert_eq "$(recording sum "$REC" vmrx-t0 tx_pps)" "$got" "to vmrx"
    dropped=$(($(link_stat vmrx-t0 tx_dropped) - dropped))
    assert_eq "$(recording sum "$REC" vmrx-t0 tx_drop_pps)" $dropped "lost before vmrx"
    assert_between $((got + dropped)) 65000 "$sent" "delivered + dropped"
    assert_eq "$(csv "$REC/vms.csv" to_guest_pps name=vmrx)" "$(csv "$REC/ports.csv" tx_pps name=vmrx-t0)"
    assert_eq "$(csv "$REC/vms.csv" from_guest_pps name=vmtx)" "$(csv "$REC/ports.csv" rx_pps name=vmtx-t0)"
    assert_eq "$(csv "$REC/paths.csv" to_guest_drop_pps vm=vmrx)" "$(csv "$REC/ports.csv" tx_drop_pps name=vmrx-t0)"
}

paths_are() { # NUMBER of NICs of vmrx in the newest frame
    local now
    now=$(csv_last "$REC/sources.csv" elapsed_s)
    [ "$(csv "$REC/paths.csv" mac vm=vmrx elapsed_s="$now" | wc -l)" = "$1" ]
}

# By an event, so at once; the second row is one of both sources.
t_nic_plugged_and_unplugged() {
    record_start "$REC" -d 0.2 --only libvirt,qemu
    wait_until 5 paths_are 1
    virsh -q -c qemu:///system attach-interface vmrx bridge labbr0 --mac 52:54:00:00:00:77 --model virtio --target vmrx-t1
    wait_until 5 record_path_is vmrx-t1 nic net1
    wait_until 10 record_path_is vmrx-t1 backend tap
    wait_until 10 paths_are 2
    virsh -q -c qemu:///system detach-interface vmrx bridge --mac 52:54:00:00:00:77
    wait_until 20 paths_are 1
}

record_path_is() { # PORT COLUMN VALUE
    [ "$(csv_last "$REC/paths.csv" "$2" vm=vmrx port="$1")" = "$3" ]
}

stop_guest() { # NAME: its process, and with it its monitor
    local pid
    pid=$(guest_pid "$1")
    kill -STOP "$pid"
    defer kill -CONT "$pid"
}

is_fresh() { # SOURCE
    [ "$(csv_last "$REC/sources.csv" state name="$1")" = ok ] &&
        awk -v a="$(csv_last "$REC/sources.csv" age_s name="$1")" 'BEGIN { exit !(a != "" && a < 1) }'
}

t_hung_monitor_is_not_noticed() {
    record_start "$REC" -d 0.2 --only libvirt,qemu
    wait_until 5 is_fresh libvirt
    stop_guest vmtx
    virsh -q -c qemu:///system vcpupin vmrx 0 1
    wait_until 5 vcpu_is vmrx pinned_cpus 1
    record_more "$REC" 10
    is_fresh libvirt || fail "the source libvirt waits with the guest"
    assert_eq "$(csv "$REC/sources.csv" state name=libvirt | sort -u | grep -v starting)" ok "states of the source libvirt"
    assert_eq "$(csv_last "$REC/vms.csv" state name=vmtx)" running
}

# --- as if they were elsewhere ---------------------------------------------------------------------------------------

far_vcpu() { # VM COLUMN
    csv_last "$REC/threads.csv" "$2" vm="$1" role=vcpu "vm_key=$FAR|vm:$(virsh -c qemu:///system domuuid "$1" | xargs)"
}

far_has_risen() { # VM COLUMN SINCE
    [ "$(far_vcpu "$1" "$2")" -gt "$3" ]
}

# Rows of their own beside those of this host, with the daemon's times, and no port of this host behind their NICs.
t_elsewhere() {
    local run delay
    spin_both 0 0
    record_start "$REC" -d 0.2 --connect qemu:///system --connect $FAR
    wait_until 10 far_has_risen vmrx run_ns 1
    run=$(far_vcpu vmrx run_ns)
    wait_until 10 far_has_risen vmrx run_ns $((run + 100000000))
    record_end "$REC"
    read -r run delay <<<"$(thread_ns "$(vcpu_tid vmrx)")"
    assert_within "$(far_vcpu vmrx run_ns)" "$run" 10 "run, the kernel's some time later"
    assert_within "$(far_vcpu vmrx delay_ns)" "$delay" 20 "delay, the kernel's some time later"
    assert_eq "$(far_vcpu vmrx cpu)" "" "a CPU elsewhere is none of this host's"
    assert_eq "$(csv "$REC/vms.csv" uri name=vmrx | sort -u | xargs)" "qemu+tcp://127.0.0.2/system qemu:///system"
    assert_eq "$(csv "$REC/paths.csv" to_guest_pps vm=vmrx uri=$FAR | sort -u)" ""
    assert_eq "$(csv "$REC/ports.csv" vm name=vmrx-t0 | sort -u)" vmrx
}

stats_detail_is() { # REGEX
    [[ $(csv_last "$REC/sources.csv" detail "name=libvirt-stats@$FAR") =~ $1 ]]
}

t_elsewhere_hung_monitor_blanks_no_other() {
    local run
    spin_both 0 0
    record_start "$REC" -d 0.2 --connect $FAR --only libvirt
    wait_until 10 far_has_risen vmrx run_ns 1
    stop_guest vmtx
    wait_until 10 stats_detail_is 'does not answer'
    run=$(far_vcpu vmrx run_ns)
    wait_until 10 far_has_risen vmrx run_ns $((run + 500000000))
    is_fresh "libvirt-stats@$FAR" || fail "times of all guests wait for one"
    kill -CONT "$(guest_pid vmtx)"
    wait_until 10 stats_detail_is 'vCPUs$'
    assert_between "$(csv_last "$REC/sources.csv" failures "name=libvirt-stats@$FAR")" 0 0 "failures"
}

vcpus_are() { # NUMBER of vmrx in the newest frame, threads and libvirt's own word
    local now
    now=$(csv_last "$REC/sources.csv" elapsed_s)
    [ "$(csv "$REC/threads.csv" tid vm=vmrx role=vcpu elapsed_s="$now" | grep -c .)" = "$1" ]
}

# The last of the cases: QEMU without KVM does not always survive what comes after an unplugged vCPU. While it is read: the new vCPU's thread is there with its times, and is gone with it.
t_vcpu_plugged_and_unplugged() {
    record_start "$REC" -d 0.2 --only libvirt,qemu
    wait_until 10 vcpus_are 1
    assert_eq "$(csv_last "$REC/vms.csv" vcpus_max name=vmrx)" 2
    virsh -q -c qemu:///system setvcpus vmrx 2 --live
    wait_until 20 vcpus_are 2
    assert_eq "$(csv "$REC/threads.csv" tid vm=vmrx role=vcpu index=1 | tail -n 1)" \
        "$(threads_of "$(guest_pid vmrx)" | sed -n 's/ CPU 1.TCG$//p')"
    virsh -q -c qemu:///system setvcpus vmrx 1 --live || true # libvirt does not wait for a slow guest
    wait_until 40 vcpus_are 1
    wait_until 10 is_fresh libvirt # libvirt keeps the domain to itself while it removes a control group
    assert_eq "$(csv_last "$REC/sources.csv" failures name=libvirt)" 0 failures
}

lab_main "$@"
