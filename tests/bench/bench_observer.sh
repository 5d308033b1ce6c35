#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_observer.sh BUILD [LAB] [SECONDS] [OPTIONS...]: what vnettop at 0.1 s costs the packets that it looks at. One vnettop runs all
# the time and is stopped (SIGSTOP) for every other half second, so that with and without lie next to each other on a
# machine that is busy with other things. LAB: null (default; testpmd forwards between two net_null ports, so that nothing
# but counters costs), ovs (guest0 sends through OVS-DPDK to guest1). Told are the medians of packets per second, and of
# packets per CPU second of the thread that sends them, which other programs on the machine disturb less; and the same
# between halves that are all without, which is the noise. A pair in which nothing was sent without vnettop is left out and
# counted. Exit status: 0, 1 more than 0.5 % and the noise was lost, 2 it
# could not run.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${LAB:-}" ]; then
    build=$(cd "${1:?bench_observer.sh BUILD [LAB] [SECONDS] [OPTIONS...]}" && pwd) || exit 2
    export BUILD=$build
    exec "$here/../lab/enter" bash "$here/bench_observer.sh" "$@"
fi
. "$here/../lab/lib.sh"
. "$LAB_DIR/ovs_dpdk.sh"
kind=${2:-null} seconds=${3:-30}
shift $(($# < 3 ? $# : 3)) # the rest is for vnettop, as --only dpdk

give_up() {
    echo "bench_observer: $(head -n 1 "$LAB_WHY" 2>/dev/null) $*" >&2
    exit 2
}

null_up() {
    mkfifo "$LAB/null.in"
    sleep infinity >"$LAB/null.in" &
    dpdk-testpmd --no-huge --file-prefix=guest0 --no-pci -l 0,1 -m 128 --vdev net_null0 --vdev net_null1 -- \
        --auto-start --no-mlockall --total-num-mbufs=2048 <"$LAB/null.in" >"$LAB/null.log" 2>&1 &
    try_until 20 test -S /run/dpdk/guest0/dpdk_telemetry.v2
}

case $kind in
null) (null_up) || give_up "testpmd did not start" ;;
ovs) (ovs_dpdk_guests_up) >"$LAB/up.log" 2>&1 || give_up "the OVS-DPDK lab did not start" ;;
*) give_up "no lab $kind; there are: null ovs" ;;
esac
"$VNETTOP" -b -d 0.1 "$@" >/dev/null 2>&1 &
observer=$!
sleep 3 # its first looks are its dearest; what it does from then on is measured
"$PYTHON" -I -S - /run/dpdk/guest0/dpdk_telemetry.v2 $observer "$seconds" <<'PYTHON'
import json, os, signal, socket, statistics, sys, time

s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
server = json.loads(s.recv(1 << 16))["pid"]
observer, seconds = int(sys.argv[2]), float(sys.argv[3])
tasks = "/proc/%d/task/" % server
sender = [t for t in os.listdir(tasks) if open(tasks + t + "/comm").read().startswith(("rte-worker", "dpdk-worker"))][0]


def cpu_ns(path):
    return int(open(path + "/schedstat").read().split()[0])


def observer_ns():
    return sum(cpu_ns("/proc/%d/task/%s" % (observer, t)) for t in os.listdir("/proc/%d/task" % observer))


def look():
    s.send(b"/ethdev/stats,0")
    packets = json.loads(s.recv(1 << 16))["/ethdev/stats"]["opackets"]
    return packets, time.monotonic_ns(), cpu_ns(tasks + sender)


def half(running):
    os.kill(observer, signal.SIGCONT if running else signal.SIGSTOP)
    time.sleep(0.02)
    p0, t0, c0 = look()
    time.sleep(0.5)
    p1, t1, c1 = look()
    return (p1 - p0) * 1e9 / (t1 - t0), (p1 - p0) * 1e9 / max(c1 - c0, 1)


def lost_pct(pairs, which):
    """Of (a, b): how much less b is, the median over all pairs, and how well that is known."""
    ratios = [b[which] / a[which] for a, b in pairs if a[which] > 0]
    if not ratios:
        sys.exit("bench_observer: nothing was sent in any half second")
    centre = statistics.median(ratios)
    spread = statistics.median(abs(r - centre) for r in ratios) * 1.4826 * 1.2533 / len(ratios) ** 0.5
    return 100 * (1 - centre), 100 * spread


work, work_ns, with_, none = observer_ns(), 0, [], []
for i in range(int(seconds / 2.1) + 1):  # with and without change places each time
    order = [(False, True), (True, False)][i % 2]
    began = time.monotonic_ns()
    a, b = half(order[0]), half(order[1])
    with_.append((a, b) if order[1] else (b, a))
    work_ns += (time.monotonic_ns() - began) // 2
    none.append((half(False), half(False)))
os.kill(observer, signal.SIGCONT)
failed = False
for which, words in ((0, "packets per second"), (1, "packets per CPU second of the sender")):
    (lost, known), (noise, noise_known) = lost_pct(with_, which), lost_pct(none, which)
    mean = statistics.median(b[which] for _, b in none)
    print("%-40s %12.0f   lost with vnettop %6.2f %% +- %.2f   noise %6.2f %% +- %.2f" % (
        words, mean, lost, known, noise, noise_known))
    failed |= lost > 0.5 + 2 * known + abs(noise)
idle = sum(a[0] == 0 for a, _ in with_)
print("vnettop while it ran: %.2f %% of one CPU; %d pairs of half seconds, %d of them left out: nothing was sent" % (
    100 * (observer_ns() - work) / work_ns, len(with_), idle))
sys.exit(failed)
PYTHON
