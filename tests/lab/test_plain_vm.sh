#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The source qemu on real QEMU processes that libvirt does not know, one with names of threads and one without: threads,
# taps, packets of a path against what the guest counts; what an ordinary user is shown; vhost workers of a Debian kernel;
# guests that end and come.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/guests.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"
. "$LAB_DIR/kernel_vm.sh"

setup() {
    need_vnettop
    need_command qemu-system-x86_64
    plain_up rx.debug_threads=off tx.vcpus=2
}

snapshot() { # TABLE FILE [OPTIONS...]
    "$VNETTOP" snapshot -d 0.2 --table "$1" -o - "${@:3}" >"$2"
}

vcpus_found() { # VM NUMBER
    snapshot threads "$LAB/threads.csv" --only qemu && [ "$(csv "$LAB/threads.csv" index "vm=$1" role=vcpu | wc -l)" = "$2" ]
}

t_threads_with_names() {
    local pid
    pid=$(guest_pid plaintx)
    vcpus_found plaintx 2 || fail "vCPUs of plaintx: $(csv "$LAB/threads.csv" name vm=plaintx)"
    assert_eq "$(csv "$LAB/threads.csv" name vm=plaintx role=vcpu | sort | xargs)" "CPU 0/TCG CPU 1/TCG"
    assert_eq "$(csv "$LAB/threads.csv" tid vm=plaintx role=emulator)" "$pid"
    assert_eq "$(csv "$LAB/threads.csv" tid vm=plaintx role=vcpu index=1)" "$(threads_of "$pid" | sed -n 's/ CPU 1.TCG$//p')"
    assert_eq "$(csv "$LAB/threads.csv" vm_key vm=plaintx role=emulator)" \
        "vm:pid:$pid:$(sed 's/.*) //' "/proc/$pid/stat" | cut -d ' ' -f 20)"
}

# Nothing but its work tells a vCPU of software emulation that has no name: `~`.
t_threads_without_names() {
    local tid most
    wait_until 20 vcpus_found plainrx 1
    "$VNETTOP" -b -n 1 -d 0.2 --table threads --only qemu >"$LAB/frame"
    cat "$LAB/frame"
    assert_match "$(grep plainrx "$LAB/frame")" 'vcpu~ +plainrx +0~ '
    assert_match "$(grep plaintx "$LAB/frame")" 'vcpu +plaintx +0 '
    tid=$(csv "$LAB/threads.csv" tid vm=plainrx role=vcpu)
    most=$(for task in "/proc/$(guest_pid plainrx)/task"/*; do
        echo "$(cut -d ' ' -f 1 "$task/schedstat") ${task##*/}"
    done | sort -n | tail -n 1)
    assert_eq "$tid" "${most#* }" "the thread that ran most"
}

t_taps_are_joined() {
    local vm
    snapshot paths "$LAB/paths.csv"
    snapshot ports "$LAB/ports.csv" --filter plain
    for vm in plaintx plainrx; do
        assert_eq "$(csv "$LAB/paths.csv" port "vm=$vm")" "$vm-t0"
        assert_eq "$(csv "$LAB/paths.csv" backend "vm=$vm")" tap
        assert_eq "$(csv "$LAB/paths.csv" model "vm=$vm")" virtio
        assert_eq "$(csv "$LAB/paths.csv" switch "vm=$vm")" labbr0
        assert_eq "$(csv "$LAB/paths.csv" netns_inode "vm=$vm")" "$(stat -L -c %i /proc/self/ns/net)"
        assert_eq "$(csv "$LAB/ports.csv" vm "name=$vm-t0")" "$vm"
    done
    assert_eq "$(csv "$LAB/paths.csv" mac vm=plaintx)" "$GUEST_MAC_TX"
    snapshot vms "$LAB/vms.csv"
    assert_eq "$(csv "$LAB/vms.csv" accel name=plaintx)" tcg
    assert_eq "$(csv "$LAB/vms.csv" vcpus name=plaintx)" 2
    assert_eq "$(csv "$LAB/vms.csv" memory_mib name=plaintx)" 128
    assert_eq "$(csv "$LAB/vms.csv" pid name=plainrx)" "$(guest_pid plainrx)"
}

# From rest to rest: the rates of a path, times their intervals, are the packets that the guest counted, to the packet. A
# path's rates are those of its port in the same frame, and recording.py sums the port's.
t_packets_of_paths_are_the_guests() {
    local sent got
    guest_quiet plaintx plainrx
    sent=$(guest_counter plaintx tx_packets) got=$(guest_counter plainrx rx_packets)
    record_start "$LAB/rec" -d 0.5
    record_more "$LAB/rec" 1
    guest_send plaintx plainrx 20000 5000
    record_more "$LAB/rec" 2
    record_end "$LAB/rec"
    assert_eq "$(recording sum "$LAB/rec" plaintx-t0 rx_pps)" $(($(guest_counter plaintx tx_packets) - sent)) "sent by plaintx"
    assert_eq "$(recording sum "$LAB/rec" plainrx-t0 tx_pps)" $(($(guest_counter plainrx rx_packets) - got)) "received by plainrx"
    assert_eq "$(csv "$LAB/rec/paths.csv" from_guest_pps vm=plaintx)" "$(csv "$LAB/rec/ports.csv" rx_pps name=plaintx-t0)"
    assert_eq "$(csv "$LAB/rec/paths.csv" to_guest_pps vm=plainrx)" "$(csv "$LAB/rec/ports.csv" tx_pps name=plainrx-t0)"
    assert_eq "$(csv "$LAB/rec/vms.csv" from_guest_pps name=plaintx)" "$(csv "$LAB/rec/ports.csv" rx_pps name=plaintx-t0)"
    guest_do plaintx "traffic_start 0 20000"
}

as_nobody() { # COMMAND...
    HOME=/nonexistent setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

t_an_ordinary_user() {
    need_command setpriv
    cp "$VNETTOP" "$LAB/vnettop"
    as_nobody "$LAB/vnettop" snapshot -d 0.2 --only qemu --table threads -o - >"$LAB/threads.csv"
    assert_between "$(csv "$LAB/threads.csv" run_ns vm=plaintx role=vcpu index=0)" 1 1e18 "run of another's thread"
    as_nobody "$LAB/vnettop" snapshot -d 0.2 --only qemu --table paths -o - >"$LAB/paths.csv"
    assert_eq "$(csv "$LAB/paths.csv" port vm=plaintx)" plaintx-t0 # the command line names it
    assert_match "$(csv "$LAB/paths.csv" quality vm=plaintx)" 'denied=[a-z_+]*netns_inode'
    as_nobody "$LAB/vnettop" sources --only qemu >"$LAB/sources"
    assert_match "$(cat "$LAB/sources")" 'qemu +ok +2 VMs.*run as root to see which taps are whose'
}

t_processes_that_are_hidden() {
    need_command setpriv
    cp "$VNETTOP" "$LAB/vnettop"
    unshare -m bash -c "mount -t proc -o hidepid=2 proc /proc &&
        HOME=/nonexistent exec setpriv --reuid=65534 --regid=65534 --clear-groups $LAB/vnettop sources --only qemu" >"$LAB/sources"
    assert_match "$(cat "$LAB/sources")" 'qemu +ok .*hidepid.*run as root'
}

last_vms() { # names in the newest frame
    csv "$LAB/rec/vms.csv" name "elapsed_s=$(csv_last "$LAB/rec/sources.csv" elapsed_s)" | sort | xargs
}

last_vms_are() {
    [ "$(last_vms)" = "$*" ]
}

t_guests_end_and_come() {
    record_start "$LAB/rec" -d 0.2 --only qemu
    wait_until 5 last_vms_are plainrx plaintx
    kill -KILL "$(guest_pid plainrx)"
    wait_until 5 last_vms_are plaintx
    plain_create rx
    wait_until 10 last_vms_are plainrx plaintx
    kill -STOP "$(guest_pid plainrx)"
    record_more "$LAB/rec" 5
    last_vms_are plainrx plaintx || fail "a stopped QEMU is no longer there: $(last_vms)"
    kill -CONT "$(guest_pid plainrx)"
    record_end "$LAB/rec"
}

# Kernel threads vhost-PID, of a kernel that still makes them; the guests need not run for that.
t_vhost_workers_of_a_debian_kernel() {
    local status=0
    cat >"$LAB/inside.sh" <<-'END'
	modprobe -a tun vhost_net || exit 1
	qemu-system-x86_64 -accel tcg -S -display none -nodefaults -m 32 -smp 2 -name vhosts,debug-threads=on \
	    -daemonize -pidfile "$LAB/pid" -netdev tap,id=n0,ifname=v0,script=no,downscript=no,vhost=on,vhostforce=on,queues=2 \
	    -device virtio-net-pci,netdev=n0,mq=on,vectors=6,mac=52:54:00:00:00:07 || exit 1
	"$VNETTOP" snapshot -d 0.5 --only qemu --table threads -o - >"$LAB/threads.csv" || exit 1
	"$VNETTOP" snapshot -d 0.5 --only qemu --table paths -o - >"$LAB/paths.csv" || exit 1
	pid=$(cat "$LAB/pid")
	for p in /proc/[0-9]*; do echo "${p#/proc/} $(cat $p/comm)"; done >"$LAB/processes"
	echo $pid
	END
    (kernel_vm_run 240 "$LAB/inside.sh" LAB_DIR VNETTOP >"$LAB/said") || status=$?
    cat "$LAB/said"
    assert_eq $status 0 "exit status of the script inside"
    local inside pid
    inside=$(dirname "$(find "$LAB" -name processes)") pid=$(tail -n 1 "$LAB/said")
    assert_eq "$(csv "$inside/threads.csv" role vm=vhosts | sort | xargs)" "emulator vcpu vcpu vhost vhost"
    assert_eq "$(csv "$inside/threads.csv" tid role=vhost | sort -n | xargs)" \
        "$(sed -n "s/ vhost-$pid\$//p" "$inside/processes" | sort -n | xargs)" "kernel threads of $pid"
    assert_eq "$(csv "$inside/threads.csv" index role=vhost | xargs)" "0 1"
    assert_eq "$(csv "$inside/threads.csv" serves role=vhost | xargs)" "n0/0 n0/1"
    assert_eq "$(csv "$inside/paths.csv" backend vm=vhosts)" vhost
    assert_eq "$(csv "$inside/paths.csv" queues vm=vhosts)" 2
}

lab_main "$@"
