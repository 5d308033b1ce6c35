#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Findings on OVS-DPDK at about a million packets per second between two testpmd guests: the guest that does not drain, with
# its loss as OVS counts it, and who is on its CPU; a lcore on the PMD's CPU; a receiver that is stopped; an MTU that is too
# small; a policer; a flow table that drops.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"
. "$LAB_DIR/findings.sh"
. "$LAB_DIR/ovs_dpdk.sh"

# Two guests that poll on one CPU of two, beside a PMD on the other and whatever else the machine does: what follows of that
# stands in every case here.
CROWDED="poller-shares-cpu cpu-shared pmd-saturated"

setup() {
    need_vnettop
    ovs_dpdk_guests_up
}

vhu1_counts() { # "TX DROPPED": OVS's own, now
    echo "$(ovs_port_stat vhu1 tx pkts) $(ovs_port_stat vhu1 tx drop)"
}

# Both guests forward on CPU 1: the share that is lost is the one that OVS counts, and the reason is who has that CPU.
t_guest_does_not_drain() {
    local before after loss
    findings_start
    finding_appears 40 guest-not-draining vhu1
    before=$(vhu1_counts)
    findings_watch 10
    after=$(vhu1_counts)
    findings_end
    # Over the same ten frames: the packets of each, from vnettop's own counters and from OVS's.
    loss=$("$PYTHON" -I -S -c '
import sys
t0, d0, t1, d1 = map(int, " ".join(sys.argv[1:]).split())
print(100 * (d1 - d0) / (d1 - d0 + t1 - t0))' "$before" "$after")
    assert_between "$loss" 1 100 "loss by OVS's counters"
    assert_within "$(mean_share)" "$loss" 0.5 "the finding's share"
    finding_was 'vhu1 loses [0-9.]+ % of what is sent to it .*: its ring is full, its guest does not drain: .*testpmd.* lcore/1 waits [0-9]+ % of the time for CPU 1, where .*testpmd.* lcore/1 [0-9]+ %.* ran meanwhile' guest-not-draining
    finding_was 'CPU 1 is the only one for [2-9] threads' poller-shares-cpu
    findings_were_only guest-not-draining "$CROWDED"
}

# Of the last ten frames: what was lost over what was sent, each frame weighed by its packets.
mean_share() {
    "$PYTHON" -I -S -c '
import csv, sys
with open(sys.argv[1] + "/findings.csv", newline="") as f:
    rows = [r for r in csv.DictReader(f) if r["rule"] == "guest-not-draining"][-10:]
lost = sum(float(r["cost_pps"]) for r in rows)
sent = sum(float(r["cost_pps"]) * 100 / float(r["value"]) for r in rows)
print(100 * lost / sent)' "$LAB/rec"
}

finding_was() { # PATTERN RULE: as one of the recording says
    findings_query ever text "$2" | grep -Eq "$1" || fail "no $2 says $1: $(findings_query ever text "$2" | tail -n 1)"
}

t_receiver_is_stopped() {
    local pid
    pid=$(cat "$LAB/guest1.pid")
    findings_start
    finding_appears 40 guest-not-draining vhu1
    kill -STOP "$pid"
    defer kill -CONT "$pid"
    wait_until 30 finding_says 'vhu1 loses 100.0 % .*: its process is stopped' guest-not-draining
    assert_eq "$(findings_query now advice guest-not-draining)" "kill -CONT $pid" "what to try"
    kill -CONT "$pid"
    wait_until 30 finding_does_not_say 'stopped' guest-not-draining
    findings_end
    findings_were_only guest-not-draining "$CROWDED"
}

finding_does_not_say() { # PATTERN RULE
    ! findings_query now text "$2" | grep -Eq "$1"
}

# The PMD's CPU, the only one of the two guests' as well.
t_lcores_on_the_pmds_cpu() {
    local number
    findings_start
    for number in 0 1; do
        lcore_to $number 0
        defer lcore_to $number 1
    done
    finding_appears 30 poller-shares-cpu "CPU 0"
    finding_says 'CPU 0 is the only one for [3-9] threads that want [0-9]+ % of it: .*pmd/0 \(run' poller-shares-cpu "CPU 0"
    finding_appears 30 poller-preempted pmd/0
    finding_says 'pmd/0 waits [0-9]+ % of the time for CPU 0, where .*testpmd.* ran meanwhile' poller-preempted pmd/0
    for number in 0 1; do lcore_to $number 1; done
    finding_leaves 30 poller-shares-cpu "CPU 0"
    findings_end
    findings_were_only guest-not-draining "$CROWDED"
}

lcore_to() { # NUMBER CPU: the forwarding thread of that guest
    local task
    for task in "/proc/$(cat "$LAB/guest$1.pid")/task"/*; do
        case $(cat "$task/comm") in *worker*1) taskset -pc "$2" "${task##*/}" ;; esac
    done
}

# Frames of a thousand bytes for a port of five hundred.
t_mtu_is_too_small() {
    findings_start
    finding_appears 40 guest-not-draining vhu1
    ovs-vsctl --timeout=20 set Interface vhu1 mtu_request=500
    defer ovs-vsctl --timeout=20 remove Interface vhu1 mtu_request 500
    sender_again --txpkts=1000
    defer sender_again
    finding_appears 40 mtu-drops vhu1
    finding_says 'vhu1 drops what is larger than its MTU: [0-9.kM]+/s' mtu-drops
    assert_eq "$(findings_query now advice mtu-drops)" "ovs-vsctl set Interface vhu1 mtu_request=N"
    ovs-vsctl --timeout=20 set Interface vhu1 mtu_request=1500
    finding_leaves 40 mtu-drops
    findings_end
    # the MTU makes the port anew: what is on its way then is dropped for a port that is gone
    findings_were_only guest-not-draining mtu-drops datapath-drops "$CROWDED"
}

sender_again() { # [OPTIONS...]: guest0 anew
    daemon_end "$LAB/guest0.pid"
    rm -f "$LAB/guest0.in"
    testpmd_start 0 txonly "$@"
    wait_until 60 ovs_dpdk_connected vhu0
    testpmd_hurry 0
}

t_policer() {
    findings_start
    ovs-vsctl --timeout=20 set Interface vhu0 ingress_policing_rate=1000 ingress_policing_burst=1000
    defer ovs-vsctl --timeout=20 set Interface vhu0 ingress_policing_rate=0
    finding_appears 40 policer-drops vhu0
    finding_says 'vhu0 polices what comes in and drops [0-9.kM]+/s' policer-drops
    ovs-vsctl --timeout=20 set Interface vhu0 ingress_policing_rate=0 ingress_policing_burst=0
    finding_leaves 40 policer-drops
    findings_end
    findings_were_only guest-not-draining policer-drops "$CROWDED"
}

t_flow_table_drops() {
    findings_start
    ovs-ofctl add-flow br0 priority=100,in_port=vhu0,actions=drop
    defer ovs-ofctl del-flows br0 in_port=vhu0
    finding_appears 40 pipeline-drops
    finding_says 'the flow table drops [0-9.kM]+/s' pipeline-drops
    ovs-ofctl del-flows br0 in_port=vhu0
    finding_leaves 40 pipeline-drops
    findings_end
    findings_were_only guest-not-draining pipeline-drops "$CROWDED"
}

lab_main "$@"
