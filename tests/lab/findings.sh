# SPDX-License-Identifier: MIT
#
# Findings in a recording that runs: waits for one to appear and to go, and says which others there were. Sourced by the
# scripts test_findings_*.sh after lib.sh and record.sh. It must not know what was done to cause them.
#
# shellcheck shell=bash

# What the rest of this machine may cause: its CPUs are shared with other work, and the counters behind these rules are the
# whole machine's or come of waiting for a CPU. They are never the subject of a case that does not name them.
FINDINGS_OF_THE_MACHINE="vcpu-steal helper-on-busy-cpu poller-preempted host-steal softnet-squeeze softnet-drops observer-slow"

# A guest that waits for a CPU of a busy machine loses packets, truly: what a case is to find must not come of that. So these
# come before all other work, within their session's group and as a group, and leave nothing behind.
first_in_line() { # PID...
    local pid task
    for pid in "$@"; do
        echo -20 >"/proc/$pid/autogroup" 2>/dev/null || true
        for task in "/proc/$pid/task"/*; do renice -n -20 -p "${task##*/}" >/dev/null || true; done
    done
}

findings_start() { # [OPTIONS...]: records into $LAB/rec
    rm -rf "$LAB/rec"
    record_start "$LAB/rec" -d 1 "$@"
}

findings_watch() { # FRAMES: so many more; a busy machine may be late with some
    wait_until $(($1 * 3)) at_least $(($(record_frames "$LAB/rec") + $1)) record_frames "$LAB/rec"
}

findings_end() {
    record_end "$LAB/rec"
}

findings_query() { # now|ever COLUMN [RULE [OBJECT]]: of the newest whole frame, or of all; one value a line
    "$PYTHON" -I -S -c '
import csv, sys
folder, when, column = sys.argv[1:4]
def rows(table):
    with open("%s/%s.csv" % (folder, table), newline="", encoding="utf-8") as f:
        lines = f.read().rpartition("\n")[0].split("\n")
    return list(csv.DictReader(lines))
frames = [r["elapsed_s"] for r in rows("sources") if r["name"] == "vnettop"]
wanted = dict(zip(("rule", "object"), sys.argv[4:]))
for row in rows("findings"):
    if (when == "ever" or row["elapsed_s"] == frames[-1]) and all(row[k] == v for k, v in wanted.items()):
        print(row[column])' "$LAB/rec" "$@"
}

finding_stands() { # RULE [OBJECT]
    [ -n "$(findings_query now rule "$@")" ]
}

finding_is_gone() { # RULE [OBJECT]
    [ -s "$LAB/rec/sources.csv" ] && [ -z "$(findings_query now rule "$@")" ]
}

finding_says() { # PATTERN RULE [OBJECT]: what it says now
    findings_query now text "${@:2}" | grep -Eq "$1"
}

finding_appears() { # SECONDS RULE [OBJECT]
    try_until "$1" finding_stands "${@:2}" || fail "no ${*:2}; found: $(findings_query ever rule | sort | uniq -c | xargs)"
}

finding_leaves() { # SECONDS RULE [OBJECT]
    try_until "$1" finding_is_gone "${@:2}" || fail "still ${*:2}: $(findings_query now text "${@:2}" | head -n 1)"
}

# In all of the recording, beside what the machine itself may cause, these rules alone.
findings_were_only() { # RULE... (several may be one word)
    local rule
    for rule in $(findings_query ever rule | sort -u); do
        [[ " $* $FINDINGS_OF_THE_MACHINE " == *" $rule "* ]] ||
            fail "$rule speaks, too: $(findings_query ever text "$rule" | head -n 1)"
    done
}
