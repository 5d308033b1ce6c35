# SPDX-License-Identifier: MIT
#
# Open vSwitch inside a lab: its database and its daemon, started by hand in the lab's own folders, and small readers of
# its counters. Sourced by ovs_dummy.sh and ovs_dpdk.sh. It must not know the ports.
#
# shellcheck shell=bash

OVS_RUN=/run/openvswitch

ovsdb_up() {
    need_command ovsdb-tool ovsdb-server ovs-vsctl ovs-appctl
    ovsdb-tool create /etc/openvswitch/conf.db /usr/share/openvswitch/vswitch.ovsschema
    ovsdb-server --remote=punix:$OVS_RUN/db.sock --pidfile --detach --no-chdir --log-file -vconsole:off \
        /etc/openvswitch/conf.db
    ovs-vsctl --no-wait init
}

ovs_start() { # VSWITCHD [OPTIONS...]: the binary by its own path, so that no alternative of the host is touched
    local binary=$1
    shift
    "$binary" unix:$OVS_RUN/db.sock --pidfile --detach --no-chdir --log-file -vconsole:off "$@"
    OVS_CTL=$(find $OVS_RUN -name "$(basename "$binary").*.ctl")
    OVS_PIDFILE=$OVS_RUN/$(basename "$binary").pid
}

ovs_app() { # COMMAND...: to the vswitchd of this lab, whatever its binary is called
    ovs-appctl -t "$OVS_CTL" "$@"
}

ovs_down() {
    [ -z "${OVS_PIDFILE:-}" ] || daemon_end "$OVS_PIDFILE"
    daemon_end $OVS_RUN/ovsdb-server.pid
}

ovs_port_stat() { # PORT rx|tx KEY [BRIDGE]: pkts, bytes, drop ... of ovs-ofctl dump-ports, "?" where it has none
    ovs-ofctl dump-ports "${4:-br0}" "$1" | sed 's/port *[^:]*://' | grep -o "$2 .*" | head -n 1 |
        grep -o "$3=[0-9?]*" | cut -d = -f 2
}

ovs_pmd_stat() { # CORE KEY: as "packets received" of pmd-stats-show
    ovs_app dpif-netdev/pmd-stats-show | awk -v core="$1" -v key="  $2: " '
        /^[^ ]/ { mine = $0 ~ "core_id " core ":" }
        mine && index($0, key) == 1 { sub(key, ""); print $1; exit }'
}

# A running number that a port has, by name, from OVSDB's statistics (refreshed by OVS every 5 s).
ovs_db_stat() { # INTERFACE KEY
    ovs-vsctl --if-exists get Interface "$1" "statistics:$2"
}
