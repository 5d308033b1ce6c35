#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Paths without a guest (--paths all): veths of containers and NICs, in every form that shows paths, with the rates of what
# is sent; and that nothing is found where nothing is lost.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"

# 2000 packets a second from lab-a to lab-b over br0.
setup() {
    need_vnettop
    need_command tmux
    export LANG=C.UTF-8 LC_ALL=C.UTF-8 TERM=xterm-256color COLUMNS=200
    net_pair_on_bridge br0
    NET_FROM=lab-a send_on a0 2000 -d 52:54:98:00:00:02
}

paths() { # [OPTIONS...]: the paths of one snapshot
    "$VNETTOP" snapshot --only netlink -d 1 --table paths -o - "$@"
}

t_only_when_asked_for() {
    assert_eq "$(paths | wc -l)" 1 "lines without --paths all: the header"
    assert_eq "$(paths --paths guests | wc -l)" 1 "lines of guests"
}

t_snapshot() {
    paths --paths all >"$LAB/paths.csv"
    assert_between "$(csv_last "$LAB/paths.csv" to_guest_pps port=b0-br)" 1500 2500 "to lab-b"
    assert_between "$(csv_last "$LAB/paths.csv" from_guest_pps port=a0-br)" 1500 2500 "from lab-a"
    assert_eq "$(csv_last "$LAB/paths.csv" switch port=b0-br)" br0 "switch"
    assert_eq "$(csv_last "$LAB/paths.csv" backend port=b0-br)" veth "backend"
    assert_eq "$(csv_last "$LAB/paths.csv" vm port=b0-br)" "" "no guest"
}

t_batch() {
    "$VNETTOP" -b -n 1 -d 1 --only netlink --paths all --view paths >"$LAB/batch"
    grep -Eq ' b0-br .* br0 ' "$LAB/batch" || fail "no b0-br: $(cat "$LAB/batch")"
}

t_diagnose() {
    local status=0
    "$VNETTOP" diagnose -d 4 --only netlink --paths all >"$LAB/out" 2>"$LAB/err" || status=$?
    assert_eq "$status $(cat "$LAB/out")" "0 no finding" "status and findings"
}

screen_has() { # REGEX
    tmux -L "lab-$LAB_ID" capture-pane -p -t main | grep -Eq "$1"
}

t_console() {
    tmux -L "lab-$LAB_ID" -f /dev/null new-session -d -s main -x 150 -y 60 \
        "exec '$VNETTOP' --config /dev/null --only netlink --paths all --view paths"
    defer tmux -L "lab-$LAB_ID" kill-server
    wait_until 20 screen_has ' b0-br .* br0 +'
    tmux -L "lab-$LAB_ID" send-keys -t main / b0-br Enter Enter
    wait_until 20 screen_has '^ TO PEER +in/s'
    wait_until 20 screen_has '^ other end '
    wait_until 20 screen_has '^ unaccounted +-?0\.[0-9]+%'
}

lab_main "$@"
