#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Ground truth of the packet side: what vnettop shows against what was sent and what the kernel counted. An exact sender
# and iperf3 send through veth - bridge - veth; raw counters must equal the kernel's to the packet, rates the counters'
# differences exactly, and means over recordings what was sent per second.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"

A_MAC=52:54:98:00:00:01
B_MAC=52:54:98:00:00:02

setup() {
    need_vnettop
}

# ip's own counters of this namespace and of both ends, in files.
kernel_says() { # PREFIX
    ip -s -s -j link >"$1.self"
    ip -n lab-a -s -s -j link >"$1.lab-a"
    ip -n lab-b -s -s -j link >"$1.lab-b"
}

kernel_rests() {
    kernel_says "$LAB/rest1" && sleep 0.2 && kernel_says "$LAB/rest2" &&
        cmp "$LAB/rest1.self" "$LAB/rest2.self" && cmp "$LAB/rest1.lab-a" "$LAB/rest2.lab-a" &&
        cmp "$LAB/rest1.lab-b" "$LAB/rest2.lab-b"
}

t_raw_counters_are_the_kernels() {
    local ns equal
    net_pair_on_bridge labbr0
    NET_FROM=lab-a net_send a0 10007 -s 137 -d $B_MAC >"$LAB/sent"
    NET_FROM=lab-b net_send b0 503 -s 1400 -d $A_MAC >"$LAB/sent"
    wait_until 5 at_least 503 link_stat a0 rx_packets lab-a
    wait_until 5 kernel_rests
    "$VNETTOP" snapshot -d 0.1 --netns self,lab-a,lab-b --table ports -o - >"$LAB/ports.csv"
    kernel_says "$LAB/after"
    for ns in self lab-a lab-b; do
        cmp "$LAB/rest2.$ns" "$LAB/after.$ns" || fail "the kernel's counters of $ns did not rest"
        equal=$(recording equal "$LAB/ports.csv" "$LAB/after.$ns" $ns)
        assert_between "$equal" 40 200 "counters compared of $ns"
    done
    assert_eq "$(csv "$LAB/ports.csv" tx_packets netns=lab-a name=a0)" 10007 "a0 sent"
    assert_eq "$(csv "$LAB/ports.csv" rx_bytes netns=self name=a0-br)" $((10007 * 137)) "bytes into the bridge"
    assert_eq "$(csv "$LAB/ports.csv" rx_packets netns=lab-b name=b0)" 10007 "b0 received"
    assert_eq "$(csv "$LAB/ports.csv" rx_bytes netns=lab-a name=a0)" $((503 * 1400)) "bytes at a0"
    assert_eq "$(csv "$LAB/ports.csv" ports_rx_packets netns=self name=labbr0)" 10510 "into the bridge"
    assert_eq "$(csv "$LAB/ports.csv" ports_tx_packets netns=self name=labbr0)" 10510 "out of the bridge"
}

t_sum_of_a_recording_is_what_was_sent() {
    local port side
    net_pair_on_bridge labbr0
    record_start "$LAB/rec" -d 0.1
    NET_FROM=lab-a net_send a0 20011 -s 333 -d $B_MAC >"$LAB/sent" # as fast as it goes
    NET_FROM=lab-a net_send a0 1999 -s 333 -r 2000 -d $B_MAC >"$LAB/sent"
    wait_until 5 record_has_last "$LAB/rec" rx_packets 22010 name=a0-br
    record_more "$LAB/rec" 2
    record_end "$LAB/rec"
    assert_match "$(recording check "$LAB/rec" 22010)" ' gaps=0 '
    for port in "a0-br rx" "b0-br tx"; do
        side=${port#* } port=${port% *}
        assert_eq "$(recording sum "$LAB/rec" "$port" "${side}_pps")" 22010 "packets of $port"
        assert_eq "$(recording sum "$LAB/rec" "$port" "${side}_bps")" $((22010 * 333)) "bytes of $port"
    done
    assert_eq "$(recording sum "$LAB/rec" a0-br tx_pps)" 0 "packets that nobody sent"
    assert_eq "$(recording sum "$LAB/rec" labbr0 ports_rx_pps)" 22010 "into the bridge"
    assert_eq "$(recording sum "$LAB/rec" labbr0 ports_tx_pps)" 22010 "out of the bridge"
}

# Two recordings of one flow at two intervals. The sender has a real-time priority: the machine's load is not its subject.
t_mean_is_what_was_sent_per_second() {
    local start end dir
    net_pair_on_bridge labbr0
    record_start "$LAB/1s" -d 1
    record_start "$LAB/0.1s" -d 0.1
    chrt -f 10 ip netns exec lab-a "$TOOLS/sender" -i a0 -n 70000 -s 100 -r 10000 -d $B_MAC >"$LAB/sent"
    record_end "$LAB/1s"
    record_end "$LAB/0.1s"
    start=$(json_number start_ns <"$LAB/sent") end=$(json_number end_ns <"$LAB/sent")
    # It sends 10 each millisecond, the last 10 at its end: so many less in that time.
    assert_within "$(awk -v n=69990 -v t=$((end - start)) 'BEGIN { print n * 1e9 / t }')" 10000 0.05 "the sender's own rate"
    for dir in 1s 0.1s; do
        assert_match "$(recording check "$LAB/$dir" 70000)" ' gaps=0 '
        assert_within "$(recording mean "$LAB/$dir" a0-br rx_pps "$start" "$end")" 10000 0.1 "mean at $dir of a0-br"
        assert_within "$(recording mean "$LAB/$dir" b0-br tx_pps "$start" "$end")" 10000 0.1 "mean at $dir of b0-br"
        assert_within "$(recording mean "$LAB/$dir" b0-br tx_bps "$start" "$end")" 8000000 0.1 "mean bits at $dir"
    done
}

iperf_listens() {
    ip netns exec lab-b ss -Hltn | grep -q :5201
}

iperf() { # [CLIENT OPTIONS...]: leaves iperf3's own account in $LAB/iperf.json
    need_command iperf3
    ip netns exec lab-b iperf3 -s -1 >"$LAB/iperf-server" 2>&1 &
    defer net_end $!
    wait_until 5 iperf_listens
    ip netns exec lab-a iperf3 -c 10.98.0.2 -J "$@" >"$LAB/iperf.json"
    wait_until 5 kernel_rests
}

iperf_said() { # PATH...: a number of its JSON, like end sum packets
    "$PYTHON" -I -S -c '
import json, sys
at = json.load(open(sys.argv[1]))
for word in sys.argv[2:]:
    at = at[int(word) if isinstance(at, list) else word]
print(at)' "$LAB/iperf.json" "$@"
}

# The control connection of iperf3 carries two JSON texts of some kB; all the rest is known to the byte.
IPERF_CONTROL_BYTES=30000

t_iperf3_udp_bytes() {
    local bytes packets got port
    net_pair_on_bridge labbr0
    record_start "$LAB/rec" -d 0.1
    iperf -u -b 40M -l 1000 -t 2
    record_more "$LAB/rec" 2
    record_end "$LAB/rec"
    assert_match "$(recording check "$LAB/rec")" ' gaps=0 '
    bytes=$(iperf_said end sum bytes) packets=$(iperf_said end sum packets)
    assert_between "$bytes" 8000000 12000000 "what iperf3 sent"
    for port in "a0-br rx" "b0-br tx"; do
        got=$(recording sum "$LAB/rec" "${port% *}" "${port#* }_bps")
        # 14 of Ethernet, 20 of IPv4 and 8 of UDP a datagram
        assert_between $((got - bytes - 42 * packets)) 0 $IPERF_CONTROL_BYTES "bytes beyond iperf3's at $port"
    done
}

t_iperf3_tcp_bytes() {
    local bytes packets again got port
    net_pair_on_bridge labbr0
    record_start "$LAB/rec" -d 0.1
    iperf -w 100K -b 400M -t 2
    record_more "$LAB/rec" 2
    record_end "$LAB/rec"
    assert_match "$(recording check "$LAB/rec")" ' gaps=0 '
    bytes=$(iperf_said end sum_sent bytes) again=$(iperf_said end sum_sent retransmits)
    assert_between "$bytes" 50000000 110000000 "what iperf3 sent"
    for port in "a0-br rx" "b0-br tx"; do
        got=$(recording sum "$LAB/rec" "${port% *}" "${port#* }_bps")
        packets=$(recording sum "$LAB/rec" "${port% *}" "${port#* }_pps")
        # 14 of Ethernet, 20 of IPv4 and 32 of TCP with time stamps; up to 64 kB of one stream are one packet here.
        # A segment that TCP sent again passed once more, at most; a reset is 12 bytes shorter, and 100 of them do.
        assert_between $((got - bytes - 66 * packets)) -1200 $((IPERF_CONTROL_BYTES + 1448 * again)) "bytes beyond iperf3's at $port"
    done
}

t_netns_shows_its_ports_alone() {
    net_pair_on_bridge labbr0
    NET_FROM=lab-a net_send a0 4099 -s 99 -d $B_MAC >"$LAB/sent"
    wait_until 5 kernel_rests
    "$VNETTOP" snapshot -d 0.1 --netns lab-a --table ports -o - >"$LAB/named.csv"
    recording equal "$LAB/named.csv" "$LAB/rest2.lab-a" lab-a
    assert_eq "$(csv "$LAB/named.csv" name | sort | tr '\n' ' ')" "a0 lo "
    assert_eq "$(csv "$LAB/named.csv" tx_packets name=a0 netns=lab-a)" 4099
    "$VNETTOP" snapshot -d 0.1 --netns /run/netns/lab-a --table ports --filter a0 -o - >"$LAB/path.csv"
    assert_eq "$(csv "$LAB/path.csv" tx_packets name=a0)" 4099
    ip netns exec lab-a "$VNETTOP" snapshot -d 0.1 --table ports -o - >"$LAB/inside.csv"
    assert_eq "$(csv "$LAB/inside.csv" tx_bytes name=a0 netns=self)" $((4099 * 99))
    "$VNETTOP" sources --netns lab-a,nonesuch >"$LAB/sources"
    assert_match "$(cat "$LAB/sources")" 'netlink@lab-a +ok +namespace lab-a'
    assert_match "$(cat "$LAB/sources")" 'netlink@nonesuch +none .*no network namespace nonesuch'
}

lab_main "$@"
