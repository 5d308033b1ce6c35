# SPDX-License-Identifier: MIT
#
# Recordings made by vnettop in the background of a case, and the checks of recording.py over them. Sourced by the test
# scripts after lib.sh. It must not know what is recorded.
#
# shellcheck shell=bash

declare -A RECORD_PID=() # by folder

recording() { # COMMAND ARGUMENTS...: see recording.py; a wrong row fails the case with its line
    "$PYTHON" -I -S "$LAB_DIR/recording.py" "$@" 2>"$LAB/.recording" || fail "$(tail -n 1 "$LAB/.recording")"
}

record_frames() { # DIR: whole frames written so far
    grep -c ',vnettop,' "$1/sources.csv" 2>/dev/null
}

record_start() { # DIR [OPTIONS...]: records into DIR, which goes with the case; waits for the first frame
    defer rm -rf "$1"
    [ ! -e "$1" ] || fail "$1: exists already"
    "$VNETTOP" record -o "$@" 2>"$1.err" &
    RECORD_PID[$1]=$!
    defer record_kill "$1"
    wait_until 10 at_least 1 record_frames "$1"
}

record_more() { # DIR FRAMES: waits for so many more
    wait_until 10 at_least $(($(record_frames "$1") + $2)) record_frames "$1"
}

record_has_last() { # DIR COLUMN VALUE [KEYCOL=VALUE]...: whether the newest row says so
    [ "$(csv_last "$1/ports.csv" "$2" "${@:4}")" = "$3" ]
}

record_end() { # DIR [SIGNAL]: ends it by a signal; it must end well
    local status=0
    kill -s "${2:-TERM}" "${RECORD_PID[$1]}"
    wait "${RECORD_PID[$1]}" || status=$?
    unset "RECORD_PID[$1]"
    cat "$1.err"
    assert_eq $status 0 "exit status of the recording $(basename "$1")"
}

record_kill() { # DIR
    [ -z "${RECORD_PID[$1]:-}" ] || net_end "${RECORD_PID[$1]}"
}
