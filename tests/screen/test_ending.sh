#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test_ending.sh PROGRAM: ends that need no terminal: a reader that sleeps, standard descriptors that are closed. Prints
# `ok NAME` and `FAIL NAME: why` lines. Nothing sleeps for a fixed time: what is awaited is polled for.
set -u
program=$(realpath "${1:?usage: test_ending.sh PROGRAM}")
work=$(mktemp -d)
export HOME=$work XDG_CONFIG_HOME=$work/config LC_ALL=C.UTF-8
trap 'rm -rf "$work"' EXIT

await() { # COMMAND...: polls; fails after 20 s
    local end=$((SECONDS + 20))
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.03
    done
}

is_gone() { # PID: ended, waited for or not
    ! grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null
}

waits_in_a_write() { # PID
    grep -q 'pipe_write' "/proc/$1/wchan" || [ "$(cut -d' ' -f1 "/proc/$1/syscall")" = 1 ]
}

check() { # NAME PID STATUS...: it ends with one of these
    local name=$1 pid=$2 status
    shift 2
    if ! await is_gone "$pid"; then
        echo "FAIL $name: still there"
        kill -KILL "$pid"
        return
    fi
    wait "$pid"
    status=$?
    case " $* " in
    *" $status "*) echo "ok $name" ;;
    *) echo "FAIL $name: exit status $status, not $*" ;;
    esac
}

test_sleeping_reader() {
    local name="SIGTERM ends what waits for a pipe's reader" pid
    mkfifo "$work/fifo"
    exec 8<>"$work/fifo" # open, and never read
    head -c 65536 /dev/zero >&8 # as much as a pipe takes
    "$program" -b -d 0.1 --view cpus --only host >&8 &
    pid=$!
    if await waits_in_a_write "$pid"; then
        kill -TERM "$pid"
        check "$name" "$pid" 143
    else
        echo "FAIL $name: it never waits"
        kill -KILL "$pid"
    fi
    exec 8>&-
}

three_are_null() { # PID
    local fd
    for fd in 0 1 2; do
        [ "$(readlink "/proc/$1/fd/$fd")" = /dev/null ] || return 1
    done
}

test_closed_descriptors() {
    local name="closed descriptors take no file and no socket" pid
    "$program" record -o "$work/rec" -d 0.1 --only host,netlink 0<&- 1>&- 2>&- &
    pid=$!
    if await test -s "$work/rec/cpus.csv" && three_are_null "$pid"; then
        echo "ok $name"
    else
        echo "FAIL $name: $(ls -l "/proc/$pid/fd" 2>&1 | tr '\n' ' ')"
    fi
    kill -TERM "$pid"
    check "a recording without them ends well" "$pid" 0
    if grep -q vnettop: "$work"/rec/*; then echo "FAIL no message in a file: there is one"; else echo "ok no message in a file"; fi
    "$program" --version 1>&- 2>/dev/null &
    check "output that is closed is an error" $! 1
}

test_sleeping_reader
test_closed_descriptors
