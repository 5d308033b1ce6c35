#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench_ovs.sh BUILD [PORTS]: what vnettop costs an OVS-DPDK with PORTS ethdevs (default 64), in a lab of its own: CPU of
# vnettop and of vswitchd's main thread per frame, against ovs-appctl three times and against the bare exchange. Exit
# status: 0, 1 a target was missed, 2 it could not run.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${LAB:-}" ]; then
    build=$(cd "${1:?bench_ovs.sh BUILD [PORTS]}" && pwd) || exit 2
    export BUILD=$build
    exec "$here/../lab/enter" bash "$here/bench_ovs.sh" "$@"
fi
. "$here/../lab/lib.sh"
. "$LAB_DIR/ovs_dpdk.sh"

up() {
    ovs_dpdk_up
    for ((i = 0; i < ${1:-64}; i++)); do ovs_dpdk_null "null$i"; done
}

up "${2:-64}" >"$LAB/up.log" 2>&1 || {
    echo "bench_ovs: the lab did not start: $(head -n 1 "$LAB_WHY" 2>/dev/null) $(tail -n 1 "$LAB/up.log")" >&2
    exit 2
}
echo "OVS-DPDK with ${2:-64} ports and one PMD"
"$BUILD/tools/bench/bench_ovs" "$OVS_CTL" "$(cat "$OVS_PIDFILE")" $OVS_RUN/br0.mgmt
