#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test_keys.sh PROGRAM: the console on real terminals. tmux is driven through every key, size and setting; the raw bytes
# and terminal modes are looked at by tests/fakes/pty.c. Prints `ok NAME`, `FAIL NAME: why` and `skip NAME: why` lines.
# Nothing sleeps for a fixed time: what is awaited is polled for.
set -uf # no globbing: `?` is a key
program=$(realpath "${1:?usage: test_keys.sh PROGRAM}")
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
case $program in
*san/*) export SLOW=${SLOW:-20} ;; # a sanitized program
*) export SLOW=${SLOW:-1} ;;
esac
work=$(mktemp -d)
unset TMUX NO_COLOR COLUMNS LINES
export LANG=C.UTF-8 LC_ALL=C.UTF-8 HOME=$work XDG_CONFIG_HOME=$work/config TERM=xterm-256color
socket=vnettop-test-$$
screen=$work/screen
trap 'tmux -L $socket kill-server 2>/dev/null; rm -rf "$work"' EXIT

t() {
    tmux -L "$socket" -f /dev/null "$@"
}

ok() {
    echo "ok $1"
}

fail() { # NAME WHY: with what the screen showed
    echo "FAIL $1: $2"
    sed 's/^/    | /' "$screen" 2>/dev/null
}

capture() {
    t capture-pane -p -t main >"$screen" 2>/dev/null
}

await() { # PATTERN (extended regular expression): polls the screen; fails after 20 s times SLOW
    local end=$((SECONDS + 20 * (SLOW > 3 ? 3 : SLOW)))
    while capture; ! grep -Eq -- "$1" "$screen"; do
        [ $SECONDS -lt $end ] && t has-session -t main 2>/dev/null || return 1
        sleep 0.03
    done
}

await_gone() { # until the program has ended
    local end=$((SECONDS + 20))
    while t has-session -t main 2>/dev/null; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.03
    done
}

start() { # COLS ROWS ARGUMENT...
    local cols=$1 rows=$2
    shift 2
    local try
    for try in 1 2 3 4 5; do # the server of the session before may just be ending, and takes this one along
        t new-session -d -s main -x "$cols" -y "$rows" -c "$work" "exec '$program' $*" 2>/dev/null &&
            t has-session -t main 2>/dev/null && return
        sleep 0.2
    done
}

stop() {
    t kill-session -t main 2>/dev/null
    await_gone
}

key() { # NAME KEYS PATTERN: sends tmux keys, one after the other, and waits for what they lead to
    local name=$1 pattern=$3
    # shellcheck disable=SC2086 # several keys
    t send-keys -t main $2
    if await "$pattern"; then ok "key $name"; else fail "key $name" "no $pattern after $2"; fi
}

test_keys() {
    start 120 40 --view cpus --only host,netlink
    if ! await 'SOFTIRQ%'; then
        fail "first screen" "no SOFTIRQ%"
        return
    fi
    ok "first screen"
    key "down, up, page, top, bottom" "Down j Up k PageDown PageUp C-f C-b End G Home g" '^ +0 '
    key "Enter opens the detail" Enter 'softnet_processed'
    key "Esc goes back" Escape 'Enter detail'
    key "/ searches" "/ n o s u c h Enter" 'nosuch: not found'
    key "n without a match" n 'nosuch: not found'
    key "N without a match" N 'nosuch: not found'
    key "\\ filters" '\ x y Enter' 'left out by the filter xy'
    key "\\ and nothing shows all" '\ C-u Enter' '^ +0 +'
    key "> sorts" '>' 'sorted by'
    key "< sorts back" '<' 'sorted by cpu'
    key "r turns the order" r 'sorted by cpu, largest first'
    key "r turns it back" r 'sorted by cpu, smallest first'
    key "F6 lists the orders" F6 'Sort: Enter takes'
    key "Esc leaves the list" Escape 'Enter detail'
    key "S lists them too" S 'Sort: Enter takes'
    key "q leaves the list, not the program" q 'Enter detail'
    key "F2 lists the columns" F2 'Columns: Space shows'
    key "a column joins" "Down Down Space Enter" ' PKG '
    key "o and Backspace: the view's own" "o BSpace Enter" 'CPU NUMA CORE'
    key "d sets the interval" "d C-u 0 . 5 Enter" 'live 0\.5s'
    key "d refuses nonsense" "d C-u 1 e 9 Enter" 'give seconds from 0.1 to 3600'
    key "Space stops" Space 'paused'
    key "Space goes on" Space 'live'
    key "Left steps back" Left 'paused'
    key "Right steps forward" "Right Right Right" 'live|paused'
    key "live again" "Space Left Space" 'live'
    key "m marks" "m i p e r f 3 Enter" 'marked [0-9:]+: iperf3'
    key "b sets a baseline" b 'against [0-9]'
    key "b clears it" b 'baseline cleared'
    key "s writes a snapshot" s 'written: vnettop-snapshot-'
    if [ -n "$(find "$work" -path '*/vnettop-snapshot-*/cpus.csv' -size +0)" ]; then ok "the snapshot is there"; else fail "the snapshot is there" "no cpus.csv"; fi
    key "R records" R 'rec 00:00:0'
    key "R stops recording" R 'recorded: vnettop-record-'
    if [ -n "$(find "$work" -path '*/vnettop-record-*/cpus.csv' -size +0)" ]; then ok "the recording is there"; else fail "the recording is there" "no cpus.csv"; fi
    key "u changes the units" u 'units: bytes'
    key "u u comes round" "u u" 'units: bits'
    key "z shows idle rows" z 'idle rows'
    key "t changes the theme" t 'theme: '
    key "C-l draws anew" C-l 'SOFTIRQ%'
    key "? helps" '?' ' Keys'
    key "PgDn scrolls help" "PageDown PageDown PageDown PageDown" 'Cells|Columns of|IOWAIT'
    key "? closes it" '?' 'SOFTIRQ%'
    key "F1 helps" F1 ' Keys'
    key "h closes it" h 'SOFTIRQ%'
    key "Shift-Tab and Tab turn the view" "Tab BTab" 'SOFTIRQ%'
    key "a click on a tab" 1 'CPU  BUSY%'
    t send-keys -t main -l $'\e[<0;3;2M\e[<0;3;2m' # the first tab
    if await 'CPU  BUSY%'; then ok "mouse"; else fail "mouse" "no overview"; fi
    t send-keys -t main q
    if await_gone; then ok "key q quits"; else fail "key q quits" "still there"; fi
}

test_views() {
    local n=0 name
    start 120 40
    if ! await 'RX PPS'; then
        fail "views" "no first screen"
        return
    fi
    while read -r name _; do
        n=$((n + 1))
        [ $n -le 10 ] || break
        t send-keys -t main $((n % 10)) '?'
        await ' Keys' || fail "view $name" "no help"
        t send-keys -t main '?'
        if await 'Enter detail'; then ok "view $name"; else fail "view $name" "no view"; fi
    done < <("$program" --view help)
    stop
}

test_sizes() {
    local size
    for size in 80x24 120x40 200x60 40x10; do
        start "${size%x*}" "${size#*x}" --only host,netlink
        if await 'RX PPS' && await '\? help +q quit'; then ok "size $size"; else fail "size $size" "no screen"; fi
        stop
    done
    start 30 8 --only host,netlink
    if await '30x8 is too small'; then ok "too small says so"; else fail "too small says so" "nothing said"; fi
    t resize-window -t main -x 80 -y 24
    if await 'RX PPS'; then ok "grows back"; else fail "grows back" "no screen"; fi
    for size in 200x60 41x11 1x1 100x5 20x50 79x23 120x40; do
        t resize-window -t main -x "${size%x*}" -y "${size#*x}"
    done
    if await '1 Overview .*cost'; then ok "resized often"; else fail "resized often" "no screen"; fi
    t resize-window -t main -x 20 -y 3
    await 'too small' || fail "quits when too small" "nothing said"
    t send-keys -t main q
    if await_gone; then ok "quits when too small"; else fail "quits when too small" "still there"; fi
}

test_ascii() {
    local how
    for how in "LC_ALL=C" "LC_ALL=C.UTF-8 A=--ascii"; do
        t new-session -d -s main -x 120 -y 40 "export $how; exec '$program' --only host,netlink \$A"
        if ! await 'RX PPS'; then
            fail "ASCII by $how" "no screen"
        elif LC_ALL=C grep -q '[^ -~]' "$screen"; then
            fail "ASCII by $how" "other characters on the screen"
        else
            ok "ASCII by $how"
        fi
        stop
    done
}

# From an interactive shell, as people start it: modes, alternate screen and cursor afterwards.
test_shell() {
    local name="a shell's terminal is as it was" modes
    t new-session -d -s main -x 100 -y 30 -c "$work" "PS1='ready> ' exec sh -i"
    await 'ready>'
    t send-keys -t main "stty -a >modes.before; echo wrote-'before'" Enter
    await '^wrote-before'
    t send-keys -t main "'$program' --only host" Enter
    await '\? help +q quit' || fail "$name" "no screen"
    [ "$(t display-message -p -t main '#{alternate_on}')" = 1 ] || fail "$name" "not on the alternate screen"
    t send-keys -t main C-z
    await 'Stopped|suspended' || fail "Ctrl-Z in a shell" "not stopped"
    t send-keys -t main fg Enter
    if await '\? help +q quit'; then ok "Ctrl-Z and fg in a shell"; else fail "Ctrl-Z and fg in a shell" "no screen after fg"; fi
    t send-keys -t main q
    await 'ready> *$'
    t send-keys -t main "stty -a >modes.after; echo wrote-'after'" Enter
    await '^wrote-after' || fail "$name" "no shell afterwards"
    modes=$(t display-message -p -t main '#{alternate_on} #{cursor_flag} #{mouse_any_flag}')
    if ! cmp -s "$work/modes.before" "$work/modes.after"; then
        fail "$name" "stty differs: $(diff "$work/modes.before" "$work/modes.after" | tr '\n' ' ')"
    elif [ "$modes" != "0 1 0" ]; then
        fail "$name" "alternate screen, cursor, mouse: $modes"
    else
        ok "$name"
    fi
    stop
}

test_settings() {
    local before
    rm -rf "$XDG_CONFIG_HOME"
    start 120 40 --view cpus --only host
    await 'SOFTIRQ%'
    t send-keys -t main o Down Down Space Enter
    await ' PKG '
    t send-keys -t main r t
    await 'theme: '
    before=$(sed -n 's/.*theme: \([a-z-]*\).*/\1/p' "$screen")
    t send-keys -t main q
    await_gone
    start 120 40 --view cpus --only host
    if await ' PKG ' && grep -q "^theme = $before$" "$XDG_CONFIG_HOME/vnettop/console"; then
        ok "columns and theme are kept"
    else
        fail "columns and theme are kept" "$(cat "$XDG_CONFIG_HOME/vnettop/console" 2>&1)"
    fi
    # the order as well: CPU 0 stands last
    if awk '/^ +[0-9]+ +[0-9]+ /{last = $1} END {exit last != 0}' "$screen"; then ok "the order is kept"; else fail "the order is kept" "CPU 0 is not last"; fi
    stop
    before=$(cat "$XDG_CONFIG_HOME/vnettop/console")
    echo 'interval = 2' >"$work/own.conf"
    start 120 40 --view cpus --only host --config "$work/own.conf"
    await 'live 2\.0s' || fail "--config is read" "no interval of 2 s"
    t send-keys -t main t u r
    await 'sorted by'
    t send-keys -t main q
    await_gone
    if [ "$before" = "$(cat "$XDG_CONFIG_HOME/vnettop/console")" ] && [ "$(cat "$work/own.conf")" = 'interval = 2' ]; then
        ok "with --config nothing is written"
    else
        fail "with --config nothing is written" "$(cat "$XDG_CONFIG_HOME/vnettop/console" "$work/own.conf")"
    fi
}

test_pty() {
    local pty=${program%/*}/tools/fakes/pty what
    [ -x "$pty" ] || pty=$root/build/tools/fakes/pty
    if [ ! -x "$pty" ]; then
        echo "skip raw terminal: $pty is not built (make tools)"
        return
    fi
    for what in restore suspend colour refuse; do
        "$pty" $what "$program" --only host,netlink
    done
    "$pty" stopped "$program" --only host,netlink -d 3600
    "$pty" speed "$program" -d 3600
}

if command -v tmux >/dev/null; then
    test_keys
    test_views
    test_sizes
    test_ascii
    test_shell
    test_settings
else
    echo "skip tmux: not installed"
fi
test_pty
