#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Links that come, change their name, move between namespaces, go, and come back under the same name, by the hundred while
# vnettop records: no crash, no negative number, no rate above what was sent, and every row says what it is. Then a link
# that is cleared between two samples, and a thousand of them for a while.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"

LINKS=100

setup() {
    need_vnettop
}

# One round over c0, c1 ... (their peers are p0, p1 ...): made, sent over, renamed, moved away and back, deleted.
churn_make() {
    local i
    for ((i = 0; i < LINKS; i++)); do
        echo "link add c$i group 66 up type veth peer name p$i group 66"
        echo "link set p$i up"
    done | ip -batch -
}

churn_rename() { # FROM TO: a third of the links, and back
    local i
    for ((i = 0; i < LINKS; i += 3)); do
        # Kernels before 6.2 rename what is down alone.
        echo "link set $1$i down"
        echo "link set $1$i name $2$i up"
    done | ip -batch -
}

churn_move() { # there and back: another third
    local i
    for ((i = 1; i < LINKS; i += 3)); do echo "link set c$i netns lab-x"; done | ip -batch -
    for ((i = 1; i < LINKS; i += 3)); do echo "link set c$i netns 1 up"; done | ip -n lab-x -batch -
}

churn_round() {
    local i
    churn_make
    for i in 0 1 2 98; do net_send c$i 50 >/dev/null; done
    churn_rename c r
    churn_move
    churn_rename r c
    ip link del group 66
}

# What the checker cannot know: a name that came back is another port, and starts anew.
check_names_that_came_back() {
    "$PYTHON" -I -S -c '
import csv, sys
first = {}
with open(sys.argv[1], newline="") as f:
    for row in csv.DictReader(f):
        if row["name"] in ("c0", "c1", "p2") and row["netns"] == "self":
            first.setdefault((row["name"], row["ifindex"]), row)
for key, row in first.items():
    if "new" not in row["quality"].split() or row["rx_pps"] or int(row["tx_packets"]) > 50:
        sys.exit("%s: the first row: quality %s, tx_packets %s" % (key, row["quality"], row["tx_packets"]))
print(min(sum(name == wanted for name, _ in first) for wanted in ("c0", "c1", "p2")))
' "$LAB/rec/ports.csv"
}

t_links_by_the_hundred() {
    local rounds=0 seen sender
    net_ns lab-x
    net_veth s0 s1
    defer ip link del group 66
    record_start "$LAB/rec" -d 0.1 --netns self,lab-x
    net_send s0 12500 -r 2500 >"$LAB/sent" &
    sender=$!
    defer net_end $sender
    while [ $rounds -lt 2 ] || process_runs $sender; do
        churn_round
        rounds=$((rounds + 1))
    done
    wait $sender
    wait_until 10 record_has_last "$LAB/rec" rx_packets 12500 name=s1
    record_end "$LAB/rec"
    seen=$(recording check "$LAB/rec" 12500)
    echo "$rounds rounds: $seen"
    assert_between "$rounds" 2 1000 "rounds of $LINKS links"
    assert_between "$(grep -o ' new=[0-9]*' <<<"$seen" | cut -d = -f 2)" 200 1000000 "rows that were new"
    assert_match "$seen" ' rst=0 '
    assert_match "$seen" ' gaps=0 '
    assert_eq "$(recording sum "$LAB/rec" s1 rx_pps)" 12500 "the link that stayed"
    assert_between "$(check_names_that_came_back)" 2 1000 "ports that bore one name"
    assert_between "$(csv "$LAB/rec/ports.csv" name netns=lab-x | grep -c '^c')" 1 1000000 "rows of links that had moved"
    assert_between "$(csv "$LAB/rec/ports.csv" name netns=self | grep -c '^r')" 1 1000000 "rows of links with another name"
    assert_eq "$(csv "$LAB/rec/sources.csv" failures name=netlink | sort -u)" 0 "failed reads"
}

process_runs() {
    [ -d "/proc/$1" ] && [ "$(cut -d ' ' -f 3 "/proc/$1/stat")" != Z ]
}

make_reset_link() {
    printf '%s\n' "link add z0 index 7001 up type veth peer name z1 index 7002" "link set z1 up" | ip -batch -
}

# Deleted and made anew with the same name and number between two samples: to any reader of counters they went back.
t_counters_that_went_back() {
    local number
    make_reset_link
    defer net_del z0
    net_send z0 100 >"$LAB/sent"
    record_start "$LAB/rec" -d 1
    record_more "$LAB/rec" 1 # the next second has just begun
    ip link del z0
    make_reset_link
    net_send z0 7 >"$LAB/sent"
    record_more "$LAB/rec" 1
    net_send z0 5 >"$LAB/sent"
    wait_until 5 record_has_last "$LAB/rec" tx_packets 12 name=z0
    record_end "$LAB/rec"
    assert_match "$(recording check "$LAB/rec")" ' rst=2 ' # both ends
    number=$(csv "$LAB/rec/ports.csv" tx_packets name=z0 quality=rst)
    assert_eq "$number" 7 "counter of the row that is rst"
    assert_eq "$(csv "$LAB/rec/ports.csv" tx_pps name=z0 quality=rst)" "" "rate of the row that is rst"
    assert_eq "$(recording sum "$LAB/rec" z0 tx_pps)" 5 "what was sent in the intervals with a rate"
}

t_rename_keeps_the_rate() {
    net_veth v0 v1
    record_start "$LAB/rec" -d 0.1
    net_send v0 100 >"$LAB/sent"
    wait_until 5 record_has_last "$LAB/rec" rx_packets 100 name=v1
    ip link set v1 down
    ip link set v1 name w1 up
    defer net_del w1
    net_send v0 50 >"$LAB/sent"
    wait_until 5 record_has_last "$LAB/rec" rx_packets 150 name=w1
    record_end "$LAB/rec"
    assert_match "$(recording check "$LAB/rec" 150)" ' new=[03] ' # in the first frame alone, if at all
    assert_eq "$(recording sum "$LAB/rec" v1 rx_pps)" 100 "under its first name"
    assert_eq "$(recording sum "$LAB/rec" w1 rx_pps)" 50 "under its second name"
}

t_thousand_links() {
    local seen before
    net_many 500
    record_start "$LAB/rec" -d 1
    net_send m499 15000 -r 1000 >"$LAB/sent" &
    defer net_end $!
    wait_until 30 at_least 20 record_frames "$LAB/rec"
    wait_until 10 record_has_last "$LAB/rec" rx_packets 15000 name=m499p
    before=$(lab_now_ms)
    record_end "$LAB/rec"
    assert_between $(($(lab_now_ms) - before)) 0 2000 "ms to end"
    seen=$(recording check "$LAB/rec" 15000)
    echo "$seen"
    assert_match "$seen" '^frames=2[0-9] '
    assert_match "$seen" ' new=(0|1001) rst=0 ' # in the first frame alone, if at all
    assert_match "$seen" ' gaps=0 '
    assert_eq "$(recording sum "$LAB/rec" m499p rx_pps)" 15000 "one port's packets among a thousand"
    assert_eq "$(recording sum "$LAB/rec" m498p rx_pps)" 0 "its neighbour's"
    assert_eq "$(recording sum "$LAB/rec" m49p rx_pps)" 0 "one with a name that begins alike"
}

lab_main "$@"
