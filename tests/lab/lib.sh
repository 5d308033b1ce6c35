# SPDX-License-Identifier: MIT
#
# What every lab test script sources: its cases' life cycle, assertions, waiting, and small readers of counters and CSV.
# A script defines functions t_NAME (one case each), perhaps setup (once, in the same shell), and ends with
# `lab_main "$@"`. It runs inside tests/lab/enter, so nothing needs cleaning for the machine's sake; `defer COMMAND`
# undoes what the next case must not meet. It must not know any topology: those have files of their own.
#
# shellcheck shell=bash disable=SC2034,SC2181

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB_ROOT=$(cd "$LAB_DIR/../.." && pwd)
BUILD=${BUILD:-$LAB_ROOT/build}
case $BUILD in /*) ;; *) BUILD=$LAB_ROOT/$BUILD ;; esac
VNETTOP=${VNETTOP:-$BUILD/vnettop}
TOOLS=$BUILD/tools/lab
CACHE=$BUILD/lab-cache # what is slow to make and the same each time: initrds, QEMU's capabilities
PYTHON=${PYTHON:-python3}
LAB=${LAB:?run this by tests/lab/run, or tests/lab/enter}
LAB_ID=${LAB##*.} # differs between labs that share a cache, as pids of pid namespaces do not
LAB_WHY=$LAB/.why
SKIPPED=77

# --- cases -----------------------------------------------------------------------------------------------------------

lab_cases() { # FILE: its cases, in the order they are written
    sed -n 's/^t_\([A-Za-z0-9_]*\) *().*/\1/p' "$1"
}

fail() { # WHY...: ends the case as failed
    [ -s "$LAB_WHY" ] || printf '%s\n' "$*" >"$LAB_WHY"
    exit 1
}

skip() { # WHY...: ends the case as skipped
    printf '%s\n' "$*" >"$LAB_WHY"
    exit $SKIPPED
}

defer() { # COMMAND...: run when the case ends, the latest first
    LAB_DEFERRED+=("$(printf '%q ' "$@")")
}

lab_undo() {
    local i
    trap - ERR
    set +e
    for ((i = ${#LAB_DEFERRED[@]} - 1; i >= 0; i--)); do eval "${LAB_DEFERRED[i]}"; done
}

# A part of a case that may be tried again: what it deferred is undone; its end is in LAB_ATTEMPT, 0 where it went well. Not
# its exit status: bash would ignore set -e in all of `lab_attempt X && ...`, and no command in it could fail.
lab_attempt() { # FUNCTION
    set +eE
    (
        LAB_DEFERRED=()
        set -eE
        trap 'exit 1' ERR
        trap lab_undo EXIT
        "$1"
    )
    LAB_ATTEMPT=$?
    set -eE
    [ $LAB_ATTEMPT = 0 ] || : >"$LAB_WHY"
}

lab_tell() { # STATUS CASE: the case's one line, and on failure the end of its output
    local status=$1 name=$2 why took=''
    why=$(head -n 1 "$LAB_WHY" 2>/dev/null)
    [ -n "${LAB_TIMES:-}" ] && took=" ($((LAB_ENDED_MS - LAB_STARTED_MS)) ms)"
    case $status in
    0) echo "ok $name$took" ;;
    "$SKIPPED") echo "skip $name: ${why:-no reason given}" ;;
    *)
        echo "FAIL $name: ${why:-exit status $status}$took"
        tail -n "${LAB_TAIL:-15}" "$LAB/.log" 2>/dev/null | sed 's/^/    # /'
        ;;
    esac
}

lab_now_ms() {
    echo $((${EPOCHREALTIME/./} / 1000))
}

lab_try() { # CASE FUNCTION: runs FUNCTION as a case in a subshell of its own
    : >"$LAB_WHY"
    LAB_STARTED_MS=$(lab_now_ms)
    (
        LAB_DEFERRED=()
        set -eE
        trap 'fail "line $LINENO of $(basename "${BASH_SOURCE[0]}"): $BASH_COMMAND"' ERR
        trap lab_undo EXIT
        "$2"
    ) >"$LAB/.log" 2>&1 </dev/null
    local status=$?
    LAB_ENDED_MS=$(lab_now_ms)
    lab_tell $status "$1"
    [ $status = 0 ] || [ $status = $SKIPPED ]
}

# setup runs in the script's own shell, for its variables to live on; where it ends early, every case shares its fate.
lab_setup() {
    declare -F setup >/dev/null || return 0
    LAB_STARTED_MS=$(lab_now_ms)
    : >"$LAB_WHY"
    LAB_DEFERRED=()
    exec {LAB_OUT}>&1 >"$LAB/.log" 2>&1
    set -eE
    trap 'fail "setup, line $LINENO of $(basename "${BASH_SOURCE[0]}"): $BASH_COMMAND"' ERR
    trap lab_setup_ended EXIT
    setup
    trap - ERR EXIT
    set +eE
    exec 1>&"$LAB_OUT" 2>&1
    [ -z "${LAB_TIMES:-}" ] || echo "    # setup ($(($(lab_now_ms) - LAB_STARTED_MS)) ms)"
}

lab_setup_ended() {
    local status=$? name
    set +e
    exec 1>&"$LAB_OUT"
    LAB_ENDED_MS=$(lab_now_ms)
    for name in $LAB_CASES; do
        lab_tell $status "$LAB_SCRIPT/$name"
        LAB_TAIL=0 # the same log for all
    done
}

lab_main() { # [CASE...]
    local failed=0 name
    LAB_SCRIPT=$(basename "$0" .sh)
    LAB_SCRIPT=${LAB_SCRIPT#test_}
    LAB_CASES=${*:-$(lab_cases "$0")}
    lab_setup
    for name in $LAB_CASES; do
        # Not `lab_try || failed=1`: bash would ignore set -e in all of the case, and no command in it could fail.
        lab_try "$LAB_SCRIPT/$name" "t_$name"
        [ $? = 0 ] || failed=1
    done
    exit $failed
}

# --- assertions and waiting ------------------------------------------------------------------------------------------

assert_eq() { # GOT WANTED [WHAT]
    [ "$1" = "$2" ] || fail "${3:-value}: got '$1', wanted '$2'"
}

assert_within() { # GOT WANTED PERCENT [WHAT]: |GOT - WANTED| <= PERCENT of WANTED; an empty value never passes
    awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN {
        if (a !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || b !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) exit 1
        d = a - b; if (d < 0) d = -d; w = b < 0 ? -b : b
        exit !(d <= w * p / 100) }' || fail "${4:-value}: got '$1', wanted '$2' within $3 %"
}

assert_between() { # GOT LOW HIGH [WHAT]
    awk -v a="$1" -v l="$2" -v h="$3" 'BEGIN { exit !(a ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ && a + 0 >= l + 0 && a + 0 <= h + 0) }' ||
        fail "${4:-value}: got '$1', wanted $2 to $3"
}

assert_match() { # TEXT REGEX [WHAT]
    [[ $1 =~ $2 ]] || fail "${3:-text}: '$1' does not match '$2'"
}

try_until() { # SECONDS COMMAND...: polls; status 1 when COMMAND never succeeded
    local until=$(($(lab_now_ms) + $1 * 1000))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(lab_now_ms)" -lt $until ] || return 1
        sleep 0.05
    done
}

wait_until() { # SECONDS COMMAND...: as try_until, and the case fails with it
    try_until "$@" || fail "waited $1 s in vain for: ${*:2}"
}

at_least() { # NUMBER COMMAND...: COMMAND prints NUMBER or more (made for wait_until)
    local got
    got=$("${@:2}") && [ "${got:-0}" -ge "$1" ]
}

still() { # COMMAND...: COMMAND prints the same twice, 0.3 s apart: a counter that came to rest
    local first second
    first=$("$@") && sleep 0.3 && second=$("$@") && [ "$first" = "$second" ]
}

# --- what a case needs -----------------------------------------------------------------------------------------------

need_command() { # COMMAND...
    local name
    for name in "$@"; do
        command -v "$name" >/dev/null || skip "$name is not installed"
    done
}

need_vnettop() {
    [ -x "$VNETTOP" ] || fail "$VNETTOP: no such program; build it with make"
}

hugepages_free_mb() {
    echo $(($(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages) * 2))
}

# 2 MB pages on top of what the machine has; enter gives them back. A count kept by addition lets two labs overlap.
hugepages_take() { # NUMBER
    local file=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
    [ -w $file ] || skip "no 2 MB huge pages in this kernel"
    flock "$LAB_DIR/lib.sh" sh -c "
        before=\$(cat $file); echo \$((before + $1)) >$file; echo \$((\$(cat $file) - before)) >>$LAB/.hugepages"
    at_least $(($1 * 2)) hugepages_free_mb || skip "only $(hugepages_free_mb) MB of huge pages could be had of $(($1 * 2))"
    mountpoint -q /run/hugepages || mount -t hugetlbfs -o mode=1777,pagesize=2M nodev /run/hugepages
}

daemon_end() { # PIDFILE: by its pid, and waits for it
    local pid
    pid=$(cat "$1" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null || return 0
    try_until 10 process_gone "$pid" || kill -KILL "$pid"
}

process_gone() {
    [ ! -d "/proc/$1" ]
}

# --- reading ---------------------------------------------------------------------------------------------------------

link_stat() { # DEV COUNTER [NETNS]: one counter of /sys/class/net
    if [ -n "${3:-}" ]; then
        ip netns exec "$3" cat "/sys/class/net/$1/statistics/$2"
    else
        cat "/sys/class/net/$1/statistics/$2"
    fi
}

json_number() { # KEY: that number of the flat JSON object on standard input
    sed -n "s/.*\"$1\": *\(-\{0,1\}[0-9.]*\).*/\1/p"
}

# csv FILE COLUMN [KEYCOL=VALUE]...: COLUMN of every row whose key columns match, one a line; an unknown column is an error.
csv() {
    "$PYTHON" -I -S -c '
import csv, sys
path, column, keys = sys.argv[1], sys.argv[2], [k.split("=", 1) for k in sys.argv[3:]]
with open(path, newline="", encoding="utf-8") as f:
    rows = csv.DictReader(f)
    for name in [column] + [k for k, _ in keys]:
        if name not in (rows.fieldnames or []):
            sys.exit("csv: %s: no column %s" % (path, name))
    for row in rows:
        if all(row[k] == v for k, v in keys):
            print(row[column])
' "$@"
}

csv_last() { # as csv, the last row alone
    csv "$@" | tail -n 1
}

thread_ns() { # TID: "RUN WAIT", the kernel's account of time on a CPU and of time runnable without one
    cut -d ' ' -f 1,2 "/proc/$1/schedstat"
}

threads_of() { # PID: "TID NAME" of each thread; names may hold spaces
    local task
    for task in "/proc/$1/task"/*; do
        printf '%s %s\n' "${task##*/}" "$(cat "$task/comm")"
    done
}
