# SPDX-License-Identifier: MIT
#
# A lab that is well is watched for HEALTHY_SECONDS (default 120), and no rule may speak. Sourced by the scripts
# test_healthy_*.sh, which build one kind of lab each and run beside one another: each vnettop sees its own lab's threads
# alone, and what the labs take from each other is what any busy machine takes. It must not know what the lab is made of.
#
# shellcheck shell=bash

. "$LAB_DIR/record.sh"
. "$LAB_DIR/findings.sh"

healthy_is_silent() { # TABLE COLUMN LOW HIGH KEYCOL=VALUE: what flows all the while, from its smallest to its greatest, says it is at work
    local mean
    findings_start
    findings_watch "${HEALTHY_SECONDS:-120}"
    findings_end
    mean=$(csv "$LAB/rec/$1.csv" "$2" "$5" | awk 'NF { n++; sum += $1 } END { if (n) print sum / n }')
    assert_between "$mean" "$3" "$4" "mean $2 of $5"
    findings_were_only
}
