#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Recordings that end in every way a recording can end, and input that is wrong in every way that is known: signals, a
# kill, a full disk, folders that are none of ours, options, settings and themes that mean nothing, and an ordinary user.
# Whatever happens, whole frames stay; whatever is wrong is one line and exit status 2.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$LAB_DIR/topo_net.sh"
. "$LAB_DIR/record.sh"

setup() {
    need_vnettop
    export HOME=$LAB/home XDG_CONFIG_HOME=
    unset NO_COLOR
    mkdir -p "$HOME"
    # Where an ordinary user can run it, whatever folder it was built in.
    install -m 755 "$VNETTOP" "$LAB/vnettop"
    VNETTOP=$LAB/vnettop
}

# --- how a recording ends --------------------------------------------------------------------------------------------

ended_by() { # SIGNAL
    record_start "$LAB/$1" -d 0.1
    record_more "$LAB/$1" 3
    record_end "$LAB/$1" "$1"
    assert_match "$(tail -n 1 "$LAB/$1.err")" '^vnettop: [0-9]+ frames in .*/'"$1"'$'
    assert_eq "$(recording whole "$LAB/$1" "" 4)" "$(sed -n 's/^vnettop: \([0-9]*\) frames.*/\1/p' "$LAB/$1.err")" "frames told and written"
    [ ! -e "$LAB/$1/meta.json.new" ] || fail "a temporary file stayed"
}

t_sigterm_ends_it() {
    ended_by TERM
}

t_sigint_ends_it() {
    ended_by INT
}

t_sighup_ends_it() {
    ended_by HUP
}

t_frames_and_time_end_it() {
    "$VNETTOP" record -d 0.1 -n 4 -o "$LAB/n"
    assert_eq "$(recording whole "$LAB/n")" 4 "frames of -n 4"
    "$VNETTOP" record -d 0.1 --for 0.5s -o "$LAB/for"
    assert_between "$(recording whole "$LAB/for")" 5 7 "frames in half a second"
    "$VNETTOP" snapshot -d 0.1 -o "$LAB/snapshot"
    assert_eq "$(recording whole "$LAB/snapshot")" 1 "frames of a snapshot"
}

t_labels_are_kept() {
    "$VNETTOP" record -d 0.1 -n 1 -l size=64 -l 'who=a "b" = ü' -o "$LAB/labels"
    assert_eq "$("$PYTHON" -I -S -c 'import json, sys; print(json.load(open(sys.argv[1], encoding="utf-8"))["labels"])' \
        "$LAB/labels/meta.json")" "{'size': '64', 'who': 'a \"b\" = ü'}"
}

t_kill_leaves_whole_frames() {
    record_start "$LAB/rec" -d 0.1
    record_more "$LAB/rec" 5
    kill -KILL "${RECORD_PID[$LAB/rec]}"
    wait "${RECORD_PID[$LAB/rec]}" 2>/dev/null || true
    recording whole "$LAB/rec" killed 5
}

small_disk() { # DIR SIZE
    mkdir -p "$1"
    mount -t tmpfs -o "size=$2" lab "$1"
    defer umount "$1"
}

t_full_disk() {
    local status=0
    small_disk "$LAB/disk" 192k
    net_many 10
    timeout 20 "$VNETTOP" record -d 0.1 -o "$LAB/disk/rec" 2>"$LAB/err" || status=$?
    assert_eq $status 2 "exit status"
    assert_one_line "$LAB/err" "cannot write $LAB/disk/rec/[a-z_]*\.csv: No space left on device: free some space there, or record elsewhere; [0-9]+ frames in $LAB/disk/rec\$"
    assert_eq "$(recording whole "$LAB/disk/rec" full 3)" "$(sed 's/.*; \([0-9]*\) frames in.*/\1/' "$LAB/err")" "frames told and kept"
}

t_full_disk_from_the_start() {
    small_disk "$LAB/disk" 64k
    dd if=/dev/zero of="$LAB/disk/zeros" bs=4k count=16 2>/dev/null || true
    wrong "No space left on device" record -d 0.1 -n 1 -o "$LAB/disk/rec"
    [ ! -e "$LAB/disk/rec" ] || fail "what it had made stayed"
    wrong "No space left on device" snapshot -d 0.1 -o "$LAB/disk/snap"
}

# --- one clear line --------------------------------------------------------------------------------------------------

assert_one_line() { # FILE REGEX
    assert_eq "$(wc -l <"$1")" 1 "lines on standard error ($(cat "$1"))"
    assert_match "$(cat "$1")" "^vnettop: .*$2"
}

# COMMAND LINE must be refused: exit status 2, one line that says REGEX, and nothing on standard output.
wrong() { # REGEX ARGUMENTS...
    local status=0
    timeout 10 "$VNETTOP" "${@:2}" >"$LAB/out" 2>"$LAB/err" </dev/null || status=$?
    [ $status = 2 ] || fail "exit status of '${*:2}': got $status, wanted 2; it said: $(cat "$LAB/err")"
    assert_one_line "$LAB/err" "$1"
    assert_eq "$(cat "$LAB/out")" "" "standard output of '${*:2}'"
}

t_options_that_are_none() {
    wrong '--nonesuch: no such option' --nonesuch
    wrong '--nonesuch: no such option' snapshot --nonesuch=3
    wrong '-y: no such option' -by
    wrong 'dance: no such command' dance
    wrong 'more: .*takes no such argument' snapshot more
    wrong '--output: give DIR' record -o
    wrong '--batch takes no value' --batch=3
    wrong '--frames does not go with .*sources' sources -n 3
    wrong '-o -: .*--table' snapshot -o -
    wrong '--label x: give KEY=VALUE' snapshot -l x
}

t_numbers_that_are_none() {
    local interval
    for interval in 0 -1 1e9 abc 0.09 3600.1 '' nan inf 0x10 1s ' 1' 1,5 1.5.2; do
        wrong "--interval $interval: give seconds from 0.1 to 3600" snapshot -d "$interval"
    done
    wrong '--frames 0: give a whole number' record -n 0
    wrong '--frames -1: ' record -n -1
    wrong '--frames 1e3: ' record -n 1e3
    wrong '--frames 99999999999999999999: ' record -n 99999999999999999999
    wrong '--for soon: give a time' record --for soon
    wrong '--for 0s: ' record --for 0s
    wrong '--for 9999d: ' record --for 9999d
}

t_names_that_are_none() {
    wrong '--table nonesuch: no such table' snapshot --table nonesuch -o -
    wrong '--table nonesuch: no such table' -b --table nonesuch -n 1
    wrong 'column nonesuch: the table ports has none' snapshot --table ports --columns name,nonesuch -o -
    wrong '--columns: name the table' snapshot --columns name
    wrong 'sort nonesuch: .* has no such column' -b -n 1 --sort nonesuch
    wrong 'column nonesuch: the table' -b -n 1 --columns nonesuch
    wrong '--view nonesuch: no such view' -b -n 1 --view nonesuch
    wrong '--only nonesuch: no such source; there are: netlink host' snapshot --only nonesuch
    wrong '--no nonesuch: no such source' sources --no nonesuch
    wrong '--only netlink,: an empty name' sources --only netlink,
    wrong 'leave no source' sources --only netlink --no netlink
    wrong 'no theme .nonesuch.: there are' -b -n 1 --theme nonesuch
}

t_expressions_that_are_none() {
    wrong 'filter \(: ' snapshot --table ports -o - --filter '('
    wrong 'filter \[a: ' -b -n 1 --filter '[a'
    wrong 'filter \*\{: ' snapshot --filter '*{'
}

t_folders_that_are_none() {
    mkdir "$LAB/full" "$LAB/empty"
    echo mine >"$LAB/full/letter"
    echo mine >"$LAB/file"
    wrong "$LAB/full is a folder with other files in it" record -n 1 -o "$LAB/full"
    wrong "$LAB/full is a folder with other files in it" snapshot -d 0.1 -o "$LAB/full"
    assert_eq "$(ls -A "$LAB/full")" letter "what stood there"
    wrong "$LAB/file: .*choose" record -n 1 -o "$LAB/file"
    wrong "$LAB/none/deep: No such file or directory: create the folder above it" record -n 1 -o "$LAB/none/deep"
    "$VNETTOP" record -d 0.1 -n 1 -o "$LAB/empty"
    wrong "$LAB/empty holds a recording already" record -n 1 -o "$LAB/empty"
    recording whole "$LAB/empty"
}

t_disk_that_is_read_only() {
    small_disk "$LAB/disk" 64k
    mkdir "$LAB/disk/empty"
    mount -o remount,ro "$LAB/disk"
    wrong "$LAB/disk/rec: Read-only file system: it is mounted read-only" record -n 1 -o "$LAB/disk/rec"
    wrong "$LAB/disk/empty.*: Read-only file system: it is mounted read-only" record -n 1 -o "$LAB/disk/empty"
    wrong "$LAB/disk/rec: Read-only file system" snapshot -d 0.1 -o "$LAB/disk/rec"
}

t_settings_that_are_none() {
    local config=$LAB/config
    printf '# fine\ninterval = 2\nnonesuch = 3\n' >"$config"
    wrong "$config:3: nonesuch: no such option" sources --config "$config"
    printf 'interval = 0\n' >"$config"
    wrong "$config:1: --interval 0: give seconds" sources --config "$config"
    printf '\n\nascii = perhaps\n' >"$config"
    wrong "$config:3: ascii: give yes or no" sources --config "$config"
    printf 'interval\n' >"$config"
    wrong "$config:1: no .=.; write KEY = VALUE" sources --config "$config"
    printf 'interval = 1\n\0\n' >"$config"
    wrong "$config: not a text" sources --config "$config"
    wrong "$LAB/none: No such file" sources --config "$LAB/none"
    wrong "$LAB: .*directory" sources --config "$LAB"
    # The user's own file is read unasked, so it is named, too.
    mkdir -p "$HOME/.config/vnettop"
    defer rm -r "$HOME/.config"
    printf 'colour = blue\n' >"$HOME/.config/vnettop/config"
    wrong "$HOME/.config/vnettop/config:1: colour: no such option" snapshot -d 0.1 --table cpus -o -
}

t_themes_that_are_none() {
    local theme=$LAB/broken.theme how
    printf '# a theme\ntitle = bold\n' >"$theme"
    "$VNETTOP" -b -d 0.1 -n 1 --theme "$theme" >"$LAB/out"
    for how in -b --no-mouse; do # plain frames, and the console: its theme comes before its terminal
        printf '# a theme\nnonesuch = red\n' >"$theme"
        wrong "$theme:2: unknown role" $how --theme "$theme"
        printf 'title = reddish\n' >"$theme"
        wrong "$theme:1: .*reddish" $how --theme "$theme"
        printf 'nonsense\n' >"$theme"
        wrong "$theme:1: " $how --theme "$theme"
        wrong "$LAB/none.theme: No such file" $how --theme "$LAB/none.theme"
    done
}

t_no_terminal() {
    wrong 'terminal' # the console itself
}

t_reader_that_goes() {
    local status=0
    ("$VNETTOP" -b -d 0.1 -n 30 2>"$LAB/err"; echo $? >"$LAB/status") | head -n 1 >/dev/null || true
    status=$(cat "$LAB/status")
    assert_between "$status" 0 2 "exit status (no death by a signal)"
    assert_between "$(wc -l <"$LAB/err")" 0 1 "lines on standard error"
}

# --- an ordinary user ------------------------------------------------------------------------------------------------

as_nobody() { # COMMAND...
    setpriv --reuid nobody --regid nogroup --clear-groups -- "$@"
}

t_ordinary_user_sees_all_but_namespaces() {
    net_pair_on_bridge labbr0
    NET_FROM=lab-a net_send a0 777 -d 52:54:98:00:00:02 >"$LAB/sent"
    wait_until 5 still ip -s -s -j link
    as_nobody "$VNETTOP" snapshot -d 0.1 --table ports -o - >"$LAB/ports.csv"
    ip -s -s -j link >"$LAB/kernel"
    recording equal "$LAB/ports.csv" "$LAB/kernel"
    assert_eq "$(csv "$LAB/ports.csv" rx_packets name=a0-br)" 777
    as_nobody "$VNETTOP" sources --netns self,lab-a >"$LAB/sources"
    cat "$LAB/sources"
    assert_match "$(cat "$LAB/sources")" 'netlink +ok +this namespace'
    assert_match "$(cat "$LAB/sources")" 'netlink@lab-a +not permitted .*lab-a; run as root or with CAP_SYS_ADMIN'
    assert_match "$(cat "$LAB/sources")" 'host +ok'
}

t_ordinary_user_records() {
    install -d -o nobody -m 700 "$LAB/theirs"
    as_nobody "$VNETTOP" record -d 0.1 -n 3 -o "$LAB/theirs/rec"
    assert_eq "$(recording whole "$LAB/theirs/rec")" 3 "frames"
    mkdir -m 755 "$LAB/ours"
    wrong_as_nobody "Permission denied: choose a folder that you may write to" record -n 1 -o "$LAB/ours/rec"
    echo 'interval = 1' >"$LAB/secret"
    chmod 600 "$LAB/secret"
    wrong_as_nobody "$LAB/secret: Permission denied" sources --config "$LAB/secret"
}

# as `wrong`
wrong_as_nobody() {
    printf '#!/bin/sh\nexec setpriv --reuid nobody --regid nogroup --clear-groups -- %s "$@"\n' "$VNETTOP" >"$LAB/as-nobody"
    chmod 755 "$LAB/as-nobody"
    VNETTOP=$LAB/as-nobody wrong "$@"
}

lab_main "$@"
