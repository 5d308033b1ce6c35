#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_libvirt.sh BUILD [DOMAINS] [SECONDS]: what vnettop costs on a host of libvirt's, beside `virsh domstats` as users run
# it, and what it makes libvirtd work. Real domains (QEMU processes that were never let run) under a libvirtd of a lab's own.
# CPU times are the kernel's accounts of all threads. The domains' XML is read anew every 300 s, which no run waits for:
# that share is reckoned from the first reading of all. Exit status: 0, 1 a target was missed, 2 it could not run.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${LAB:-}" ]; then
    build=$(cd "${1:?bench_libvirt.sh BUILD [DOMAINS] [SECONDS]}" && pwd) || exit 2
    export BUILD=$build
    exec "$here/../lab/enter" bash "$here/bench_libvirt.sh" "$@"
fi
. "$here/../lab/lib.sh"
. "$LAB_DIR/guests.sh"
domains=${2:-40} seconds=${3:-30} rounds=5

give_up() {
    echo "bench_libvirt: $(head -n 1 "$LAB_WHY" 2>/dev/null) $*" >&2
    exit 2
}

domain_xml() { # NUMBER
    cat <<END
<domain type='qemu'><name>bench$1</name><memory unit='MiB'>16</memory><vcpu>4</vcpu>
<cputune><vcpupin vcpu='0' cpuset='0'/><vcpupin vcpu='1' cpuset='0'/></cputune>
<os><type arch='x86_64' machine='pc'>hvm</type></os><cpu mode='custom'><model>qemu64</model></cpu>
<devices><emulator>$(command -v qemu-system-x86_64)</emulator>
<interface type='bridge'><source bridge='labbr0'/><model type='virtio'/></interface>
<memballoon model='none'/></devices></domain>
END
}

domains_up() {
    local i
    libvirt_up
    guest_bridge labbr0
    for ((i = 0; i < domains; i++)); do
        domain_xml $i >"$LAB/bench.xml"
        virsh -q -c qemu:///system create --paused "$LAB/bench.xml"
    done
    libvirt_keep_capabilities
}

cpu_ns() { # PID: of all its threads
    cat "/proc/$1/task"/*/schedstat | awk '{ ns += $1 } END { printf "%.0f\n", ns }'
}

waited_ms() { # FILE of `times`: CPU time of the shell's children
    awk 'NR == 2 { gsub(/[ms]/, " "); print ($1 * 60 + $2 + $3 * 60 + $4) * 1000 }' "$1"
}

frames_of() {
    grep -c ',vnettop,' "$LAB/rec/sources.csv" 2>/dev/null
}

has_read_all() {
    tail -n 20 "$LAB/rec/sources.csv" 2>/dev/null | grep ',libvirt,ok,' | grep -v 'still to be read' | grep -q " $domains domains"
}

(set -e; domains_up) >"$LAB/up.log" 2>&1
status=$?
if [ $status = $SKIPPED ]; then
    echo "skip libvirt: $(head -n 1 "$LAB_WHY")"
    exit 0
elif [ $status != 0 ]; then
    give_up "$(tail -n 1 "$LAB/up.log"); $domains domains did not start"
fi
daemon=$(cat /run/libvirtd.pid)

before_ns=$(cpu_ns "$daemon")
times >"$LAB/before"
for ((i = 0; i < rounds; i++)); do virsh -r -c qemu:///system domstats >"$LAB/domstats"; done
times >"$LAB/after"
virsh_ms=$(awk -v a="$(waited_ms "$LAB/before")" -v b="$(waited_ms "$LAB/after")" -v n=$rounds 'BEGIN { print (b - a) / n }')
virsh_daemon_ms=$(awk -v a="$before_ns" -v b="$(cpu_ns "$daemon")" -v n=$rounds 'BEGIN { print (b - a) / 1e6 / n }')

idle_from=$(cpu_ns "$daemon")
sleep 10
idle_ns=$(awk -v a="$idle_from" -v b="$(cpu_ns "$daemon")" 'BEGIN { print (b - a) / 10 }') # a second

before_ns=$(cpu_ns "$daemon")
"$VNETTOP" record -o "$LAB/rec" -d 1 --only libvirt,qemu >/dev/null 2>&1 &
vnettop=$!
try_until 60 has_read_all || give_up "not all domains were read"
read_ms=$(awk -v a="$before_ns" -v b="$(cpu_ns "$daemon")" 'BEGIN { print (b - a) / 1e6 }')
sleep 10 # young processes are looked at more often
rest_from=$(cpu_ns "$daemon") own_from=$(cpu_ns $vnettop) frames_from=$(frames_of) from=$EPOCHREALTIME
sleep "$seconds"
took_s=$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
rest_ms=$(awk -v a="$rest_from" -v b="$(cpu_ns "$daemon")" -v i="$idle_ns" -v s="$took_s" 'BEGIN { print (b - a - i * s) / 1e6 }')
own_ms=$(awk -v a="$own_from" -v b="$(cpu_ns $vnettop)" -v n=$(($(frames_of) - frames_from)) 'BEGIN { print (b - a) / 1e6 / n }')
kill $vnettop

awk -v n="$domains" -v own="$own_ms" -v virsh="$virsh_ms" -v vd="$virsh_daemon_ms" -v read="$read_ms" -v rest="$rest_ms" \
    -v s="$took_s" 'BEGIN {
    printf "libvirt, %d domains of 4 vCPUs\n", n
    printf "   virsh domstats %.1f ms CPU, and libvirtd %.1f ms for it\n", virsh, vd
    printf "   vnettop, a frame with its file %.2f ms CPU: %.3f of domstats\n", own, own / (virsh + vd)
    pct = (rest / s / 10 + read / 300 / 10) * 100 / n
    printf "   libvirtd: %.0f ms to read all, %.1f ms in %.0f s at rest: %.3f %% of a CPU for 100 domains\n", read, rest, s, pct
    printf "   target 0.1: %s\n", pct <= 0.1 ? "met" : "MISSED"
    exit pct > 0.1 }'
