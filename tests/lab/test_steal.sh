#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Ground truth of run and steal: threads that do nothing but spin, named like vCPUs and pinned to one CPU, in a process
# whose command line is a QEMU's. Two get half of the CPU each, three a third, and what one does not get it waits for: in
# every frame of a recording run and steal must say so, and add up to 100.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/record.sh"

UUID=6b3f1d4e-0c55-4b0e-9a51-000000000001
FRAMES=5
OTHERS=2 # percent of the CPU that others may take from the spinners; it is the machine's load, not the subject

setup() {
    need_vnettop
    CPUS=$(nproc)
}

# The spinners come before all other load of the machine: 87 times the weight, within their session's group and as a group.
# That leaves nothing behind, as a control group would, and the kernel moves others to CPUs that are less taken. A real-time
# class would not do: the kernel takes 5 % from it when others starve.
go_first() { # PID
    local task
    echo -20 >"/proc/$1/autogroup" 2>/dev/null || true
    for task in "/proc/$1/task"/*; do renice -n -20 -p "${task##*/}" >/dev/null; done
}

spinners() { # CPU,CPU,...
    need_command taskset renice setsid
    [ "$CPUS" -ge 2 ] || skip "one CPU alone: vnettop and the spinners would be in each other's way"
    setsid bash -c "exec -a qemu-system-x86_64 '$TOOLS/spin' -c $1 -t 60 -- -name guest=spin,debug-threads=on -uuid $UUID" \
        >"$LAB/spin" 2>&1 &
    SPIN=$!
    defer kill $SPIN
    wait_until 5 grep -q ready "$LAB/spin"
    go_first $SPIN
}

# One line a frame and vCPU: "INDEX RUN STEAL"; the first frame has no rates yet.
record_spinners() {
    rm -rf "$LAB/rec"
    taskset -p -c "$((CPUS - 1))" $BASHPID >/dev/null # vnettop inherits it
    record_start "$LAB/rec" -d 1 --only qemu
    wait_until 20 at_least $((FRAMES + 1)) record_frames "$LAB/rec"
    record_end "$LAB/rec"
    paste -d ' ' <(csv "$LAB/rec/threads.csv" index role=vcpu "vm_key=vm:$UUID") \
        <(csv "$LAB/rec/threads.csv" run_pct role=vcpu "vm_key=vm:$UUID") \
        <(csv "$LAB/rec/threads.csv" steal_pct role=vcpu "vm_key=vm:$UUID") | awk 'NF == 3' >"$LAB/shares"
    cat "$LAB/shares"
}

frames_of() { # INDEX
    grep -c "^$1 " "$LAB/shares"
}

assert_shares() { # THREADS: all alike, and nothing lost
    local index run steal i share
    share=$(awk -v n="$1" 'BEGIN { print 100 / n }')
    for ((i = 0; i < $1; i++)); do
        assert_between "$(frames_of $i)" $FRAMES 20 "frames of vCPU $i"
    done
    while read -r index run steal; do
        assert_between "$(awk -v r="$run" -v s="$steal" 'BEGIN { print r + s }')" 98 102 "run + steal of vCPU $index ($run + $steal)"
        assert_between "$run" "$(awk -v s="$share" -v o=$OTHERS 'BEGIN { print s - 1 - o }')" \
            "$(awk -v s="$share" 'BEGIN { print s + 1 }')" "run of vCPU $index"
    done <"$LAB/shares"
}

t_two_on_one_cpu_get_half() {
    spinners 0,0
    record_spinners
    assert_shares 2
    assert_eq "$(csv_last "$LAB/rec/threads.csv" allowed_cpus role=vcpu index=1)" 0
    assert_eq "$(csv_last "$LAB/rec/threads.csv" cpu role=vcpu index=1)" 0
    assert_eq "$(csv_last "$LAB/rec/vms.csv" name)" spin
    assert_eq "$(csv_last "$LAB/rec/vms.csv" vcpus)" 2
    assert_between "$(csv_last "$LAB/rec/vms.csv" run_pct)" 95 101 "run of the VM"
    assert_between "$(csv_last "$LAB/rec/vms.csv" worst_steal_pct)" 47 54 "worst steal of the VM"
}

t_three_on_one_cpu_get_a_third() {
    spinners 0,0,0
    record_spinners
    assert_shares 3
}

# By the kernel's ticks, which know nothing of run delay: "ALL OWN", not idle in CPU 0, and the spinner's.
ticks() {
    echo "$(awk '$1 == "cpu0" { print $2 + $3 + $4 + $7 + $8 }' /proc/stat)" \
        "$(sed 's/.*) //' "/proc/$SPIN/task/$(head -n 1 "$LAB/spin" | cut -d ' ' -f 1)/stat" | awk '{ print $12 + $13 }')"
}

# What others took of its CPU it did wait for: on a quiet machine that is nothing.
t_one_alone_waits_for_nobody() {
    local before after others run steal
    spinners 0
    before=$(ticks)
    record_spinners
    after=$(ticks)
    assert_between "$(frames_of 0)" $FRAMES 20 "frames"
    others=$(awk -v b="$before" -v a="$after" 'BEGIN {
        split(b, x); split(a, y); all = y[1] - x[1]; own = y[2] - x[2]; print (all > own) ? (all - own) * 100 / all : 0 }')
    steal=$(awk '{ s += $3 } END { print s / NR }' "$LAB/shares")
    assert_between "$steal" 0 "$(awk -v o="$others" 'BEGIN { print 1 + o }')" "mean steal alone, where others took $others %"
    while read -r _ run steal; do
        assert_between "$steal" 0 "$(awk -v o="$others" 'BEGIN { print 1 + 2 * o }')" "steal alone, where others took $others %"
        assert_between "$(awk -v r="$run" -v s="$steal" 'BEGIN { print r + s }')" 98 102 "run + steal ($run + $steal)"
    done <"$LAB/shares"
}

# Pinning both on one CPU and then apart: steal rises and falls, and the new affinity is in the next inventory.
t_pinning_apart_ends_it() {
    local second
    spinners 0,0
    second=$(awk '/CPU 1/ { print $1 }' "$LAB/spin")
    record_start "$LAB/rec2" -d 0.5 --only qemu
    wait_until 10 last_steal_between 40 60
    taskset -p -c $((CPUS - 1)) "$second" >/dev/null
    wait_until 10 last_steal_between 0 20
    wait_until 10 last_allowed $((CPUS - 1))
    assert_eq "$(csv_last "$LAB/rec2/threads.csv" tid role=vcpu index=1)" "$second"
    taskset -p -c 0 "$second" >/dev/null
    wait_until 10 last_steal_between 40 60
    wait_until 10 last_allowed 0
    record_end "$LAB/rec2"
}

last_steal_between() { # LOW HIGH: of vCPU 0
    awk -v s="$(csv_last "$LAB/rec2/threads.csv" steal_pct role=vcpu index=0)" -v l="$1" -v h="$2" \
        'BEGIN { exit !(s != "" && s >= l && s <= h) }'
}

last_allowed() { # CPUS: of vCPU 1
    [ "$(csv_last "$LAB/rec2/threads.csv" allowed_cpus role=vcpu index=1)" = "$1" ]
}

lab_main "$@"
