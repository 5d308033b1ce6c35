# SPDX-License-Identifier: MIT
#
# Two real guests, vmtx (sends with the kernel's pktgen) and vmrx (receives), as libvirt domains on a bridge or as QEMU
# processes that libvirt does not know. Sourced by test scripts after lib.sh; call from setup, the lab ends them. The
# guests are TCG, so no KVM is needed. It must not know what a test measures.
#
# Options are KEY=VALUE for both guests, or tx.KEY=VALUE, rx.KEY=VALUE for one:
#   rate  pps that vmtx sends (20000; "max": as fast as it can)   size   bytes of its packets as pktgen counts them (64)
#   vcpus (1)   vcpus_max (as many; libvirt only)   iothread  its number (none; libvirt only)   queues of the NIC (1)   mb memory (128)   pin  host CPUs of all vCPUs, as "0" or "0-1"
#   net   bridge or vhostuser           bridge (labbr0)   name, debug_threads (on; plain QEMU only)
#
# shellcheck shell=bash

. "$LAB_DIR/initrd.sh"

GUEST_MAC_TX=52:54:00:00:00:01
GUEST_MAC_RX=52:54:00:00:00:02
GUEST_FILES=$LAB/guests # consoles, control pipes, kernel: readable to QEMU's user

# --- libvirt ---------------------------------------------------------------------------------------------------------

# Huge pages that guests need must be taken before. QEMU's capabilities, slow to probe, are kept for the next lab.
libvirt_up() {
    need_command virtlogd libvirtd virsh qemu-system-x86_64
    echo 'security_driver = "none"' >>/etc/libvirt/qemu.conf
    [ ! -d "$CACHE/capabilities" ] || cp -a "$CACHE/capabilities" /var/cache/libvirt/qemu/
    virtlogd -d
    libvirtd -d
    wait_until 20 virsh -c qemu:///system list
}

libvirt_keep_capabilities() {
    [ ! -d "$CACHE/capabilities" ] || return 0
    mkdir -p "$CACHE"
    cp -a /var/cache/libvirt/qemu/capabilities "$CACHE/capabilities.$LAB_ID"
    mv -T "$CACHE/capabilities.$LAB_ID" "$CACHE/capabilities" || rm -rf "$CACHE/capabilities.$LAB_ID"
}

libvirt_down() {
    local daemon
    for daemon in libvirtd virtlogd; do
        daemon_end "/run/$daemon.pid"
    done
}

# --- options and files -----------------------------------------------------------------------------------------------

guest_options() { # tx|rx KEY=VALUE...: into the associative array `o` of the caller
    local side=$1 word
    o=([side]=$side [name]=vm$side [rate]=20000 [size]=64 [vcpus]=1 [vcpus_max]='' [iothread]='' [queues]=1 [mb]=128 [pin]='' [net]=bridge
        [bridge]=labbr0 [debug_threads]=on)
    for word in "${@:2}"; do
        case $word in
        "$side".*) word=${word#*.} ;;
        tx.* | rx.*) continue ;;
        esac
        [ -n "${o[${word%%=*}]+known}" ] || fail "guests: no option ${word%%=*}"
        o[${word%%=*}]=${word#*=}
    done
    if [ "$side" = tx ]; then
        o[mac]=$GUEST_MAC_TX
        o[words]="ip=10.99.0.11 dst=10.99.0.12 dmac=$GUEST_MAC_RX size=${o[size]} rate=${o[rate]}"
    else
        o[mac]=$GUEST_MAC_RX
        o[words]="ip=10.99.0.12"
    fi
    o[tap]=${o[name]}-t0
}

guest_files() { # [NAME...]: kernel, initrd, and each guest's control pipe
    local name version
    version=$(kernel_version cloud-amd64)
    mkdir -p "$GUEST_FILES"
    if [ ! -e "$GUEST_FILES/kernel" ]; then
        install -m 644 "/boot/vmlinuz-$version" "$GUEST_FILES/kernel"
        install -m 644 "$(initrd_build "$version" "$LAB_DIR/guest-init" virtio_pci virtio_net pktgen)" "$GUEST_FILES/initrd"
    fi
    for name in "$@"; do
        rm -f "$GUEST_FILES/$name".{console,ctl.in,ctl.out}
        : >"$GUEST_FILES/$name.console"
        mkfifo -m 666 "$GUEST_FILES/$name".ctl.{in,out}
    done
}

guest_bridge() { # NAME: that forwards from the first packet on
    [ ! -e "/sys/class/net/$1" ] || return 0
    ip link add "$1" type bridge stp_state 0 mcast_snooping 0 forward_delay 0
    ip link set "$1" up
}

# --- libvirt domains -------------------------------------------------------------------------------------------------

guest_xml_interface() {
    if [ "${o[net]}" = vhostuser ]; then
        echo "<interface type='vhostuser'><mac address='${o[mac]}'/>
            <source type='unix' path='$GUEST_FILES/vhu-${o[side]}.sock' mode='server'/>"
    else
        echo "<interface type='bridge'><mac address='${o[mac]}'/><source bridge='${o[bridge]}'/><target dev='${o[tap]}'/>"
    fi
    echo "<model type='virtio'/>"
    [ "${o[queues]}" = 1 ] || echo "<driver queues='${o[queues]}'/>"
    echo "</interface>"
}

guest_xml_memory() { # vhost-user: the switch maps the guest's memory
    if [ "${o[net]}" = vhostuser ]; then
        echo "<memoryBacking><hugepages/><access mode='shared'/></memoryBacking>"
    fi
}

guest_xml_cpu() {
    local cpu
    echo "<vcpu current='${o[vcpus]}'>${o[vcpus_max]:-${o[vcpus]}}</vcpu>"
    [ -z "${o[iothread]}" ] || echo "<iothreads>1</iothreads><iothreadids><iothread id='${o[iothread]}'/></iothreadids>"
    if [ -n "${o[pin]}" ]; then
        echo "<cputune>"
        for ((cpu = 0; cpu < o[vcpus]; cpu++)); do echo "<vcpupin vcpu='$cpu' cpuset='${o[pin]}'/>"; done
        echo "</cputune>"
    fi
    echo "<cpu mode='custom'><model>qemu64</model>"
    if [ "${o[net]}" = vhostuser ]; then
        echo "<numa><cell id='0' cpus='0-$((o[vcpus] - 1))' memory='${o[mb]}' unit='MiB' memAccess='shared'/></numa>"
    fi
    echo "</cpu>"
}

# QEMU 7.2 without KVM crashes with vhost-user unless MSI-X is off.
guest_xml_commandline() {
    if [ "${o[net]}" = vhostuser ]; then
        echo "<qemu:commandline><qemu:arg value='-global'/><qemu:arg value='virtio-net-pci.vectors=0'/></qemu:commandline>"
    fi
}

guest_xml() { # of the options `o`
    cat <<END
<domain type='qemu' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
<name>${o[name]}</name><memory unit='MiB'>${o[mb]}</memory>
$(guest_xml_memory)
$(guest_xml_cpu)
<os><type arch='x86_64' machine='pc'>hvm</type>
<kernel>$GUEST_FILES/kernel</kernel><initrd>$GUEST_FILES/initrd</initrd>
<cmdline>console=ttyS0 quiet panic=-1 ${o[words]}</cmdline></os>
<features><acpi/></features>
<devices>
<emulator>$(command -v qemu-system-x86_64)</emulator>
$(guest_xml_interface)
<serial type='file'><source path='$GUEST_FILES/${o[name]}.console' append='on'/></serial>
<serial type='pipe'><source path='$GUEST_FILES/${o[name]}.ctl'/></serial>
<memballoon model='none'/>
</devices>
$(guest_xml_commandline)
</domain>
END
}

guest_create() { # tx|rx OPTIONS...: one domain, not waited for
    local -A o
    guest_options "$@"
    guest_files "${o[name]}"
    [ "${o[net]}" != bridge ] || guest_bridge "${o[bridge]}"
    guest_xml >"$GUEST_FILES/${o[name]}.xml"
    virsh -q -c qemu:///system create "$GUEST_FILES/${o[name]}.xml"
}

guests_up() { # [OPTIONS...]: libvirt, both domains, and packets from one to the other
    [ -e /run/libvirtd.pid ] || libvirt_up
    guest_create rx "$@"
    guest_create tx "$@"
    libvirt_keep_capabilities
    guest_wait vmrx
    guest_wait vmtx
    wait_until 20 at_least 1000 guest_counter vmrx rx_packets
}

guests_down() {
    local name
    for name in $(virsh -c qemu:///system list --name); do virsh -q -c qemu:///system destroy "$name"; done
    libvirt_down
}

guest_pid() { # NAME: of its QEMU process, whoever started it
    cat "/run/libvirt/qemu/$1.pid" 2>/dev/null || cat "$GUEST_FILES/$1.pid"
}

# --- plain QEMU ------------------------------------------------------------------------------------------------------

plain_create() { # tx|rx OPTIONS...: a QEMU process of our own; its names are plaintx and plainrx unless name= says else
    local -A o
    guest_options "$1" "$1.name=plain$1" "${@:2}"
    guest_files "${o[name]}"
    guest_bridge "${o[bridge]}"
    qemu-system-x86_64 -accel tcg -cpu qemu64 -m "${o[mb]}" -smp "${o[vcpus]}" \
        -name "${o[name]},debug-threads=${o[debug_threads]}" -nodefaults -display none -daemonize \
        -pidfile "$GUEST_FILES/${o[name]}.pid" -kernel "$GUEST_FILES/kernel" -initrd "$GUEST_FILES/initrd" \
        -append "console=ttyS0 quiet panic=-1 ${o[words]}" \
        -serial "file:$GUEST_FILES/${o[name]}.console" -serial "pipe:$GUEST_FILES/${o[name]}.ctl" \
        -netdev "tap,id=n,ifname=${o[tap]},script=no,downscript=no" \
        -device "virtio-net-pci,netdev=n,mac=${o[mac]}"
    ip link set "${o[tap]}" master "${o[bridge]}" up
    [ -z "${o[pin]}" ] || taskset -a -p -c "${o[pin]}" "$(guest_pid "${o[name]}")"
}

plain_up() { # [OPTIONS...]: both guests without libvirt, and packets from one to the other
    plain_create rx "$@"
    plain_create tx "$@"
    guest_wait plainrx
    guest_wait plaintx
    wait_until 20 at_least 1000 guest_counter plainrx rx_packets
}

plain_down() {
    daemon_end "$GUEST_FILES/plaintx.pid"
    daemon_end "$GUEST_FILES/plainrx.pid"
}

# --- inside the guests -----------------------------------------------------------------------------------------------

guest_wait() { # NAME: until it is up
    try_until "${GUEST_BOOT_S:-60}" grep -q '^READY' "$GUEST_FILES/$1.console" ||
        fail "$1 did not boot: $(tail -n 3 "$GUEST_FILES/$1.console" | tr -d '\r' | tr '\n' ' ')"
}

guest_do() { # NAME WORDS...: a line for the guest's shell, not waited for; what it prints is on its console
    printf '%s\n' "${*:2}" >"$GUEST_FILES/$1.ctl.in"
}

# What the guest itself counts, read now: the answer to a question with a number of its own.
guest_counters() { # NAME: "rx_bytes rx_packets rx_errors rx_dropped tx_bytes ..."
    local label=$EPOCHREALTIME
    guest_do "$1" "counters $label"
    wait_until 10 grep -q "^NETDEV $label .*tx: .*"$'\r' "$GUEST_FILES/$1.console"
    sed -n "s/^NETDEV $label [0-9.]* rx: \([0-9 ]*\) tx: \([0-9 ]*\).*/\1 \2/p" "$GUEST_FILES/$1.console"
}

guest_counter() { # NAME rx_bytes|rx_packets|rx_errors|rx_dropped|tx_bytes|tx_packets|tx_errors|tx_dropped
    local rx_bytes rx_packets rx_errors rx_dropped tx_bytes tx_packets tx_errors tx_dropped
    # shellcheck disable=SC2034 # by name, below
    read -r rx_bytes rx_packets rx_errors rx_dropped tx_bytes tx_packets tx_errors tx_dropped <<<"$(guest_counters "$1")"
    echo "${!2}"
}

# Exactly COUNT packets from vmtx, waited for until the receiver counts no more; RATE as in the options.
guest_send() { # TXNAME RXNAME COUNT [RATE]
    guest_quiet "$1" "$2"
    guest_do "$1" "traffic_start $3 ${4:-20000}; wait \$!; counters sent-$3"
    wait_until 60 grep -q "^NETDEV sent-$3 " "$GUEST_FILES/$1.console"
    wait_until 10 still guest_counter "$2" rx_packets
}

guest_quiet() { # TXNAME RXNAME: stops the traffic and waits for the last packet
    guest_do "$1" traffic_stop
    wait_until 20 still guest_counter "$1" tx_packets
    wait_until 20 still guest_counter "$2" rx_packets
}
