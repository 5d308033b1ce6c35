/* SPDX-License-Identifier: MIT */
/*
 * Every table's columns, each declared once. rows.h makes the typed structs of these lists, columns.c the
 * descriptors that screen, CSV, `--columns help` and the manual loop over. To add a metric, add a line here.
 *
 *   I(type, key, title, unit, width, prio, help, ...)        inventory: changes rarely, read on the slow tempo
 *   F(type, key, title, unit, width, prio, help, ...)        read at every tick
 *   D(fn, of, key, title, unit, width, prio, help, ...)      derived by fn (derive.c), of = the row column it is made of
 *   T(fn, key, title, width, prio, help, ...)                a text derived by fn (derive_join.c)
 *
 * type: STR text, U64 number now (gauge, state), F64 fraction, CNT 64-bit counter that only rises.
 * width: least width on the screen. prio: 9 leaves a narrow screen last, 1 first, 0 is shown only when chosen.
 * The tail takes designated initialisers of struct column: .flags, .watch, .bad, .scale.
 */
#ifndef VNETTOP_TABLES_H
#define VNETTOP_TABLES_H

// clang-format off

#define PORTS_COLUMNS(I, F, D, T)                                                                                       \
  I(STR, netns,        "NETNS",    NONE,    8, 0, "network namespace the port was read in: its name, or self for the one vnettop runs in", .flags = COL_KEY) \
  I(U64, ifindex,      "IFINDEX",  NONE,    7, 0, "kernel interface index", .flags = COL_KEY)                          \
  I(STR, name,         "PORT",     NONE,   10, 9, "port name", .flags = COL_KEY)                                       \
  I(STR, kind,         "KIND",     NONE,    8, 6, "physical, tap, tun, veth, bridge, bond, team, vlan, vxlan, macvlan, macvtap, ipvlan, vf, representor, loopback, other; of OVS: system, internal, dpdk, vhost-user, patch, tunnel, dummy; of DPDK: ethdev") \
  I(STR, type,         "TYPE",     NONE,    8, 0, "the kernel's own word for the link's type; a NIC has none")          \
  I(STR, switch,       "SWITCH",   NONE,    8, 6, "bridge, bond, team or OVS bridge the port belongs to")              \
  T(port_vm,           vm,         "VM",    8, 7, "virtual machine whose NIC this port is")                           \
  T(port_nic,          nic,        "NIC",   5, 0, "that NIC, by the name its VM's configuration gives it")            \
  I(STR, link,         "LINK",     NONE,    8, 0, "lower device, or a veth's other end where it is in this namespace") \
  I(STR, alias,        "ALIAS",    NONE,    8, 0, "interface alias set by the administrator")                          \
  I(STR, mac,          "MAC",      NONE,   17, 0, "hardware address")                                                  \
  I(STR, admin,        "ADMIN",    NONE,    5, 0, "administrative state: up, down")                                    \
  I(STR, carrier,      "LINK?",    NONE,    5, 5, "carrier: up, down")                                                 \
  I(STR, operstate,    "OPER",     NONE,    7, 0, "operational state (RFC 2863)")                                      \
  I(U64, speed_mbps,   "MBIT/S",   MBPS,    6, 2, "link speed; a virtual port has none")                               \
  I(U64, mtu,          "MTU",      BYTES,   5, 0, "largest payload of a frame")                                        \
  I(U64, rx_queues,    "RXQ",      COUNT,   3, 0, "receive queues in use (of kinds that do not say: made)")            \
  I(U64, tx_queues,    "TXQ",      COUNT,   3, 0, "transmit queues in use (of kinds that do not say: made)")           \
  I(U64, tx_queue_len, "TXQLEN",   COUNT,   6, 0, "transmit queue length; a tap's ring size")                          \
  I(STR, qdisc,        "QDISC",    NONE,    8, 0, "root queueing discipline")                                          \
  I(U64, vfs,          "VFS",      COUNT,   3, 0, "SR-IOV virtual functions enabled")                                  \
  I(U64, ports,        "PORTS",    COUNT,   5, 0, "ports of this bridge, bond or team")                                \
  I(STR, datapath,     "DATAPATH", NONE,    8, 0, "OVS datapath the port is in: netdev@ovs-netdev, system@ovs-system")   \
  I(STR, socket,       "SOCKET",   NONE,   12, 0, "vhost-user socket")                                                 \
  I(STR, socket_side,  "SIDE",     NONE,    8, 0, "what the switch does on it: server, client")                        \
  I(U64, dpdk_port,    "DPDK",     NONE,    4, 0, "DPDK port number in its process")                                   \
  I(STR, driver,       "DRIVER",   NONE,    8, 0, "driver of the port")                                                \
  I(U64, numa,         "NUMA",     NONE,    4, 0, "NUMA node of the port's device or memory")                          \
  I(U64, rx_queues_wanted, "RXQ WANTED", COUNT, 10, 0, "receive queues that the configuration asks for")               \
  I(U64, vrings,       "VRINGS",   COUNT,   6, 0, "vhost-user rings")                                                  \
  I(U64, ring_size,    "RING",     COUNT,   4, 0, "slots of the first vhost-user ring")                                \
  I(STR, features,     "FEATURES", NONE,    8, 0, "vhost-user features worth a word: mergeable buffers, multiqueue, event index") \
  I(STR, irq_cpus,     "IRQ CPUS", NONE,    8, 0, "CPUs that serve the port's interrupts (effective affinity)")        \
  I(STR, rps_cpus,     "RPS CPUS", NONE,    8, 0, "CPUs that receive packet steering may use")                         \
  I(STR, xps_cpus,     "XPS CPUS", NONE,    8, 0, "CPUs mapped by transmit packet steering")                           \
  F(CNT, rx_packets,   "RX PKTS",  PACKETS, 7, 0, "packets received")                                                  \
  F(CNT, tx_packets,   "TX PKTS",  PACKETS, 7, 0, "packets sent")                                                      \
  F(CNT, rx_bytes,     "RX BYTES", BYTES,   8, 0, "bytes received")                                                    \
  F(CNT, tx_bytes,     "TX BYTES", BYTES,   8, 0, "bytes sent")                                                        \
  F(CNT, rx_dropped,   "RX DROP",  PACKETS, 7, 0, "received packets dropped by the host's stack or the port: no room, no handler, port down", .flags = COL_LOSS) \
  F(CNT, tx_dropped,   "TX DROP",  PACKETS, 7, 0, "packets dropped instead of sent: ring full, peer's backlog full, port down", .flags = COL_LOSS) \
  F(CNT, rx_errors,    "RX ERR",   PACKETS, 6, 0, "bad packets received (sum of the receive error causes)")            \
  F(CNT, tx_errors,    "TX ERR",   PACKETS, 6, 0, "packets that failed to send (sum of the transmit error causes)")    \
  F(CNT, rx_missed,    "RX MISS",  PACKETS, 7, 0, "missed by the NIC: no free descriptor in its ring", .flags = COL_LOSS) \
  F(CNT, rx_fifo,      "RX FIFO",  PACKETS, 7, 0, "receive FIFO errors")                                               \
  F(CNT, rx_frame,     "RX FRAME", PACKETS, 8, 0, "frame alignment errors")                                            \
  F(CNT, rx_crc,       "RX CRC",   PACKETS, 6, 0, "checksum errors")                                                   \
  F(CNT, rx_length,    "RX LEN",   PACKETS, 6, 0, "packets of invalid length")                                         \
  F(CNT, rx_over,      "RX OVER",  PACKETS, 7, 0, "receiver ring buffer overflow")                                     \
  F(CNT, rx_nohandler, "RX NOHND", PACKETS, 8, 0, "dropped on an inactive bond or team slave")                         \
  F(CNT, rx_otherhost, "RX OTHER", PACKETS, 8, 0, "dropped: destination MAC is another host's")                        \
  F(CNT, multicast,    "MCAST",    PACKETS, 5, 0, "multicast packets received")                                        \
  F(CNT, collisions,   "COLL",     PACKETS, 4, 0, "collisions")                                                        \
  F(CNT, tx_aborted,   "TX ABORT", PACKETS, 8, 0, "transmissions aborted")                                             \
  F(CNT, tx_carrier,   "TX CARR",  PACKETS, 7, 0, "transmissions lost for want of carrier")                            \
  F(CNT, tx_fifo,      "TX FIFO",  PACKETS, 7, 0, "transmit FIFO errors")                                              \
  F(CNT, tx_heartbeat, "TX HEART", PACKETS, 8, 0, "heartbeat errors: the transceiver did not answer")                  \
  F(CNT, tx_window,    "TX WIND",  PACKETS, 7, 0, "late collisions: outside the window")                               \
  F(STR, vhost_state,  "VHOST",    NONE,   12, 0, "is a guest on the vhost-user socket: connected, disconnected")      \
  F(CNT, tx_failure_drops, "TX FULL", PACKETS, 7, 0, "the guest does not drain: its queue was full", .flags = COL_LOSS) \
  F(CNT, tx_retries,   "TX RETRY", COUNT,   8, 0, "sends tried again since the guest's queue was full")                \
  F(CNT, tx_mtu_drops, "TX MTU",   PACKETS, 6, 0, "larger than the port's MTU", .flags = COL_LOSS)                     \
  F(CNT, tx_qos_drops, "TX QOS",   PACKETS, 6, 0, "over the egress policer's rate", .flags = COL_LOSS)                 \
  F(CNT, rx_qos_drops, "RX QOS",   PACKETS, 6, 0, "over the ingress policer's rate", .flags = COL_LOSS)                \
  F(CNT, tx_hwol_drops, "TX HWOL", PACKETS, 7, 0, "asked for an offload that the port cannot do", .flags = COL_LOSS)   \
  F(CNT, rx_nombuf,    "RX NOMBUF", PACKETS, 9, 0, "receive failed for want of a packet buffer: empty mempool", .flags = COL_LOSS) \
  F(CNT, upcalls,      "UPCALLS",  COUNT,   7, 0, "packets of this port sent to the slow path")                        \
  F(CNT, carrier_changes, "FLAPS", COUNT,   5, 0, "carrier changes", .flags = COL_ALONE)                               \
  F(CNT, qdisc_drops,  "QD DROP",  PACKETS, 7, 0, "dropped by the port's queueing disciplines (each packet once: leaves, and what their parents alone counted)", .flags = COL_LOSS) \
  F(CNT, qdisc_overlimits, "QD OVER", COUNT, 7, 0, "times a queueing discipline was over its limit (leaves, and what their parents alone counted)") \
  F(CNT, qdisc_requeues, "QD REQ", COUNT,   6, 0, "packets given back to the queueing discipline")                     \
  F(U64, qdisc_backlog_bytes, "QD BACKLOG", BYTES, 10, 0, "bytes waiting in the queueing disciplines now")             \
  F(U64, qdisc_qlen,   "QD QLEN",  PACKETS, 7, 0, "packets waiting in the queueing disciplines now")                   \
  F(U64, fdb_entries,  "FDB",      COUNT,   4, 0, "addresses in the bridge's forwarding table")                        \
  F(CNT, ports_rx_packets, "IN",   PACKETS, 7, 0, "what the bridge's ports received in all, and the host sent into it", .flags = COL_ALONE) \
  F(CNT, ports_tx_packets, "OUT",  PACKETS, 7, 0, "what the bridge's ports sent in all, and the host received from it", .flags = COL_ALONE) \
  D(rate, rx_packets,  rx_pps,       "RX PPS",  PPS, 7, 9, "packets received per second", .flags = COL_HOT)            \
  D(rate, tx_packets,  tx_pps,       "TX PPS",  PPS, 7, 9, "packets sent per second", .flags = COL_HOT)                \
  D(rate, rx_bytes,    rx_bps,       "RX BIT/S",BPS, 8, 7, "bits received per second", .scale = 8)                     \
  D(rate, tx_bytes,    tx_bps,       "TX BIT/S",BPS, 8, 7, "bits sent per second", .scale = 8)                         \
  D(drop_rate, rx_dropped, rx_drop_pps, "RX DROP/S", PPS, 9, 8, "received packets lost per second: dropped and missed", .flags = COL_HOT, .watch = 1e-9, .bad = 100) \
  D(drop_rate, tx_dropped, tx_drop_pps, "TX DROP/S", PPS, 9, 8, "packets lost on the way out per second: dropped by the port and its queueing disciplines", .flags = COL_HOT, .watch = 1e-9, .bad = 100) \
  D(loss, rx_dropped,  rx_loss_pct,  "RX LOSS%",PCT, 8, 4, "lost of what arrived: dropped / (dropped + delivered)", .watch = 0.01, .bad = 1) \
  D(loss, tx_dropped,  tx_loss_pct,  "TX LOSS%",PCT, 8, 4, "lost of what was to be sent: dropped / (dropped + delivered)", .watch = 0.01, .bad = 1) \
  D(rate, rx_errors,   rx_error_pps, "RX ERR/S",PPS, 8, 2, "bad packets received per second", .watch = 1e-9, .bad = 10)  \
  D(rate, tx_errors,   tx_error_pps, "TX ERR/S",PPS, 8, 2, "packets that failed to send per second", .watch = 1e-9, .bad = 10) \
  D(rate, multicast,   multicast_pps,"MCAST/S", PPS, 7, 0, "multicast packets received per second")                    \
  D(rate, rx_missed,   rx_missed_pps,"RX MISS/S", PPS, 9, 0, "missed by the NIC per second", .watch = 1e-9, .bad = 100)  \
  D(rate, tx_failure_drops, tx_failure_drop_pps, "TX FULL/S", PPS, 9, 0, "lost per second since the guest does not drain its queue", .watch = 1e-9, .bad = 100) \
  D(rate, tx_mtu_drops, tx_mtu_drop_pps, "TX MTU/S", PPS, 8, 0, "lost per second: larger than the port's MTU", .watch = 1e-9, .bad = 100) \
  D(rate, tx_qos_drops, tx_qos_drop_pps, "TX QOS/S", PPS, 8, 0, "lost per second: over the egress policer's rate", .watch = 1e-9, .bad = 100) \
  D(rate, rx_qos_drops, rx_qos_drop_pps, "RX QOS/S", PPS, 8, 0, "lost per second: over the ingress policer's rate", .watch = 1e-9, .bad = 100) \
  D(rate, tx_retries,  tx_retries_per_s, "TX RETRY/S", PER_S, 10, 0, "sends tried again per second")                   \
  D(rate, rx_nombuf,   rx_nombuf_pps, "NOMBUF/S", PPS, 8, 0, "receives that failed per second for want of a packet buffer", .watch = 1e-9, .bad = 100) \
  D(rate, qdisc_drops, qdisc_drop_pps, "QD DROP/S", PPS, 9, 0, "dropped by the queueing disciplines per second", .watch = 1e-9, .bad = 100) \
  D(rate, ports_rx_packets, ports_rx_pps, "IN PPS",  PPS, 7, 0, "packets a second that the bridge's ports received", .flags = COL_HOT)   \
  D(rate, ports_tx_packets, ports_tx_pps, "OUT PPS", PPS, 7, 0, "packets a second that the bridge's ports sent", .flags = COL_HOT)       \
  D(activity, rx_packets, activity_pps, "ACTIVITY", PPS, 8, 0, "packets a second both ways, lost ones a hundredfold: the order of Overview", .flags = COL_ORDER) \
  D(packet_size, rx_bytes, rx_packet_bytes, "RX SIZE", BYTES, 7, 3, "mean size of the packets received in the interval; above the MTU: GSO or GRO, several in one") \
  D(packet_size, tx_bytes, tx_packet_bytes, "TX SIZE", BYTES, 7, 3, "mean size of the packets sent in the interval; above the MTU: GSO or GRO, several in one")   \
  D(utilisation, rx_bytes, rx_util_pct, "RX UTIL%", PCT, 8, 2, "received of the link's speed", .watch = 80, .bad = 95)  \
  D(utilisation, tx_bytes, tx_util_pct, "TX UTIL%", PCT, 8, 2, "sent of the link's speed", .watch = 80, .bad = 95)

#define CPUS_COLUMNS(I, F, D, T)                                                                                         \
  I(U64, cpu,          "CPU",      NONE,    3, 9, "CPU number", .flags = COL_KEY)                                      \
  I(U64, numa,         "NUMA",     NONE,    4, 5, "NUMA node")                                                         \
  I(U64, package,      "PKG",      NONE,    3, 0, "processor package (socket)")                                        \
  I(U64, core,         "CORE",     NONE,    4, 5, "core in its package")                                               \
  I(STR, siblings,     "SIBLINGS", NONE,    8, 3, "CPUs that share this core (SMT), itself included")                  \
  I(STR, isolated,     "ISOL",     NONE,    4, 4, "isolated from the scheduler's balancing: yes, no")                  \
  I(STR, nohz_full,    "NOHZ",     NONE,    4, 3, "runs without a periodic tick: yes, no")                             \
  I(STR, online,       "ONLINE",   NONE,    6, 0, "online: yes, no")                                                   \
  I(STR, governor,     "GOVERNOR", NONE,    8, 0, "frequency governor")                                                \
  I(U64, idle_exit_us, "EXIT US",  US,      7, 0, "time that its deepest idle state takes to leave")                   \
  I(STR, irqs,         "NIC INTERRUPTS", NONE, 14, 2, "ports whose interrupts this CPU serves; (n): as many of them")  \
  T(cpu_pinned,        pinned,     "PINNED HERE", 12, 3, "threads that may run on this CPU and only few others")       \
  T(cpu_may,           may_run,    "MAY RUN",    12, 0, "all known threads that may run on this CPU")                 \
  F(CNT, user_ticks,   "USER",     TICKS,   6, 0, "user time, guest time taken out", .flags = COL_ALONE)               \
  F(CNT, nice_ticks,   "NICE",     TICKS,   6, 0, "user time at low priority, guest time taken out", .flags = COL_ALONE) \
  F(CNT, system_ticks, "SYSTEM",   TICKS,   6, 0, "kernel time", .flags = COL_ALONE)                                   \
  F(CNT, idle_ticks,   "IDLE",     TICKS,   6, 0, "idle time", .flags = COL_ALONE)                                     \
  F(CNT, iowait_ticks, "IOWAIT",   TICKS,   6, 0, "idle while a task waits for the disk", .flags = COL_ALONE)          \
  F(CNT, irq_ticks,    "IRQ",      TICKS,   6, 0, "hardware interrupts", .flags = COL_ALONE)                           \
  F(CNT, softirq_ticks,"SOFTIRQ",  TICKS,   7, 0, "soft interrupts: packet work of the kernel", .flags = COL_ALONE)    \
  F(CNT, steal_ticks,  "STEAL",    TICKS,   6, 0, "taken by the hypervisor below this host", .flags = COL_ALONE)       \
  F(CNT, guest_ticks,  "GUEST",    TICKS,   6, 0, "ran virtual machines", .flags = COL_ALONE)                          \
  F(CNT, net_rx,       "NET_RX",   COUNT,   7, 0, "NET_RX soft interrupts", .flags = COL_ALONE)                        \
  F(CNT, net_tx,       "NET_TX",   COUNT,   7, 0, "NET_TX soft interrupts", .flags = COL_ALONE)                        \
  F(CNT, softnet_processed, "SN PROC", PACKETS, 7, 0, "packets the kernel's receive path took here", .flags = COL_ALONE) \
  F(CNT, softnet_dropped,   "SN DROP", PACKETS, 7, 0, "packets dropped here: backlog full", .flags = COL_ALONE | COL_LOSS) \
  F(CNT, softnet_squeezed,  "SN SQZ",  COUNT,   6, 0, "times the receive loop ran out of budget or time", .flags = COL_ALONE) \
  F(CNT, deep_sleeps,  "DEEP",     COUNT,   6, 0, "times it entered an idle state that takes 20 us or more to leave", .flags = COL_ALONE) \
  D(busy, idle_ticks,     busy_pct,    "BUSY%",    PCT, 6, 9, "share of the interval not idle", .flags = COL_HOT, .watch = 80, .bad = 95) \
  D(tick_share, user_ticks,    user_pct,    "USER%",    PCT, 6, 8, "share of the interval in user mode, guests taken out") \
  D(tick_share, nice_ticks,    nice_pct,    "NICE%",    PCT, 6, 7, "share of the interval in user mode at low priority")   \
  D(tick_share, system_ticks,  system_pct,  "SYS%",     PCT, 6, 8, "share of the interval in the kernel")                  \
  D(tick_share, softirq_ticks, softirq_pct, "SOFTIRQ%", PCT, 8, 8, "share of the interval in soft interrupts", .flags = COL_HOT, .watch = 50, .bad = 90) \
  D(tick_share, irq_ticks,     irq_pct,     "IRQ%",     PCT, 6, 6, "share of the interval in hardware interrupts")        \
  D(tick_share, guest_ticks,   guest_pct,   "GUEST%",   PCT, 6, 7, "share of the interval running virtual machines")      \
  D(tick_share, steal_ticks,   steal_pct,   "STEAL%",   PCT, 6, 7, "share of the interval taken by the hypervisor below this host", .watch = 1, .bad = 10) \
  D(tick_share, iowait_ticks,  iowait_pct,  "IOWAIT%",  PCT, 7, 4, "share of the interval idle while a task waits for the disk") \
  D(tick_share, idle_ticks,    idle_pct,    "IDLE%",    PCT, 6, 6, "share of the interval idle")                          \
  D(rate, deep_sleeps, deep_sleeps_per_s, "DEEP/S", PER_S, 7, 0, "times a second it entered an idle state that takes 20 us or more to leave") \
  D(rate, net_rx,            net_rx_per_s,    "NET_RX/S", PER_S, 8, 4, "NET_RX soft interrupts per second")            \
  D(rate, net_tx,            net_tx_per_s,    "NET_TX/S", PER_S, 8, 0, "NET_TX soft interrupts per second")            \
  D(rate, softnet_processed, softnet_pps,     "SOFTNET/S",PPS,   9, 5, "packets per second through this CPU's receive path") \
  D(rate, softnet_dropped,   softnet_drop_pps,"SN DROP/S",PPS,   9, 6, "packets per second dropped here: backlog full", .watch = 1e-9, .bad = 100) \
  D(rate, softnet_squeezed,  squeezed_per_s,  "SQUEEZE/S",PER_S, 9, 4, "times a second the receive loop ran out of budget or time", .watch = 1e-9, .bad = 100) \
  T(cpu_ran,           ran,        "RAN HERE",   19, 8, "threads that were on this CPU in the interval, with their run %")

#define VMS_COLUMNS(I, F, D, T)                                                                                        \
  I(STR, vm_key,       "KEY",      NONE,    8, 0, "stable identity: vm:UUID, or vm:pid:PID:START where there is no UUID", .flags = COL_KEY) \
  I(STR, name,         "VM",       NONE,   10, 9, "name of the virtual machine", .flags = COL_KEY)                     \
  I(STR, uuid,         "UUID",     NONE,   36, 0, "UUID of the virtual machine")                                       \
  I(STR, title,        "TITLE",    NONE,    8, 0, "title given to it in libvirt")                                      \
  I(STR, uri,          "URI",      NONE,   12, 0, "libvirt connection that knows it; none for one started by hand")     \
  I(STR, accel,        "ACCEL",    NONE,    5, 3, "kvm, or tcg: emulated by software")                                 \
  I(U64, pid,          "PID",      NONE,    7, 2, "process of the virtual machine")                                    \
  I(U64, vcpus,        "VCPUS",    COUNT,   5, 7, "vCPUs online")                                                      \
  I(U64, vcpus_max,    "MAX",      COUNT,   3, 0, "vCPUs it may have")                                                 \
  I(U64, memory_mib,   "MEM MIB",  COUNT,   7, 4, "memory, MiB")                                                       \
  I(STR, huge_pages,   "HUGE",     NONE,    4, 3, "memory in huge pages: yes, no")                                     \
  I(STR, numa_nodes,   "NUMA",     NONE,    4, 0, "host NUMA nodes its memory is bound to")                            \
  I(U64, cpu_shares,   "SHARES",   COUNT,   6, 0, "cputune shares")                                                    \
  I(STR, cpu_quota,    "QUOTA",    NONE,    8, 0, "cputune quota and period of each vCPU, and of all of the guest; microseconds")               \
  F(STR, state,        "STATE",    NONE,    8, 8, "running, paused, shut off, crashed and so on; process: found in /proc alone") \
  D(vm_run, state,     run_pct,    "RUN%",     PCT, 6, 8, "CPU its vCPUs used, percent of one CPU, all added")          \
  D(vm_steal, state,   worst_steal_pct, "WORST STEAL%", PCT, 12, 9, "steal of the vCPU that waits most", .watch = 5, .bad = 20) \
  T(vm_worst,          worst_vcpu, "WORST",  5, 6, "the vCPU that waits most, and after @ the CPU it ran on")                        \
  T(vm_pinning,        pinning,    "PINNING", 8, 6, "pinned: each vCPU has few CPUs of its own; floating: none has; partly") \
  D(vm_emulator, state, emulator_pct, "EMUL%", PCT, 6, 5, "CPU of its emulator and I/O threads, percent of one CPU")    \
  D(vm_vhost, state,   vhost_pct,  "VHOST%",   PCT, 6, 6, "CPU of its vhost workers, percent of one CPU")               \
  D(vm_to_pps, state,  to_guest_pps, "TO PPS", PPS, 7, 8, "packets per second to the guest, all NICs")                  \
  D(vm_to_drop, state, to_guest_drop_pps, "TO DROP/S", PPS, 9, 7, "packets per second lost on the way to the guest", .watch = 1e-9, .bad = 100) \
  D(vm_from_pps, state, from_guest_pps, "FROM PPS", PPS, 8, 8, "packets per second from the guest, all NICs")           \
  D(vm_from_drop, state, from_guest_drop_pps, "FROM DROP/S", PPS, 11, 5, "packets per second lost on the way from the guest", .watch = 1e-9, .bad = 100)

#define THREADS_COLUMNS(I, F, D, T)                                                                                    \
  I(STR, role,         "ROLE",     NONE,    8, 9, "vcpu, emulator, iothread, vhost, worker, other, pmd, handler, revalidator, lcore, vpp", .flags = COL_KEY) \
  I(STR, vm,           "VM",       NONE,    8, 9, "virtual machine or program the thread belongs to", .flags = COL_KEY) \
  I(U64, index,        "IDX",      NONE,    3, 9, "number of the vCPU, of the queue's worker, of the core", .flags = COL_KEY) \
  I(STR, vm_key,       "KEY",      NONE,    8, 0, "vm_key of its virtual machine")                                     \
  I(STR, name,         "THREAD",   NONE,   12, 5, "the thread's own name")                                             \
  I(U64, pid,          "PID",      NONE,    7, 0, "process")                                                           \
  I(U64, tid,          "TID",      NONE,    7, 4, "thread")                                                            \
  I(STR, serves,       "SERVES",   NONE,    7, 3, "NIC and queue that a vhost worker moves packets for, as net0/1")     \
  I(STR, allowed_cpus, "ALLOWED",  NONE,    8, 7, "CPUs it may run on now (effective affinity)")                       \
  I(STR, pinned_cpus,  "PINNED",   NONE,    8, 6, "CPUs that libvirt was told to keep it on (live)")                   \
  I(STR, pinned_next,  "NEXT",     NONE,    8, 0, "the same from the next start on, where it differs (persistent)")    \
  F(STR, state,        "S",        NONE,    1, 4, "R running, S sleeping, D waiting for a device, T stopped")          \
  F(U64, cpu,          "CPU",      NONE,    3, 8, "CPU it last ran on")                                                \
  F(CNT, run_ns,       "RUN NS",   NS,      8, 0, "time on a CPU")                                                     \
  F(CNT, delay_ns,     "DELAY NS", NS,      8, 0, "time runnable and waiting for a CPU (the kernel's run delay)")      \
  F(CNT, timeslices,   "SLICES",   COUNT,   6, 0, "times it was put on a CPU")                                         \
  F(CNT, voluntary,    "VOL",      COUNT,   6, 0, "switches it asked for: it slept", .flags = COL_ALONE)               \
  F(CNT, involuntary,  "INVOL",    COUNT,   6, 0, "switches it did not ask for: it was preempted", .flags = COL_ALONE) \
  D(run_share, run_ns, run_pct,    "RUN%",     PCT, 6, 9, "share of the interval on a CPU", .flags = COL_HOT)           \
  D(run_share, delay_ns, steal_pct, "STEAL%",  PCT, 6, 9, "share of the interval runnable and waiting for a CPU: what its guest sees as steal", .flags = COL_HOT, .watch = 5, .bad = 20) \
  D(thread_numa, cpu,  numa,       "NUMA", NONE, 4, 2, "NUMA node of the CPU it last ran on")                           \
  D(rate, voluntary,   voluntary_per_s, "SLEEPS/S", PER_S, 8, 3, "voluntary switches per second")                       \
  D(rate, involuntary, involuntary_per_s, "PREEMPT/S", PER_S, 9, 5, "times a second it was preempted")

#define PATHS_COLUMNS(I, F, D, T)                                                                                      \
  I(STR, vm,           "VM",       NONE,    8, 9, "virtual machine", .flags = COL_KEY)                                 \
  I(STR, nic,          "NIC",      NONE,    5, 9, "the guest's NIC, by the name its configuration gives it", .flags = COL_KEY) \
  I(STR, vm_key,       "KEY",      NONE,    8, 0, "vm_key of its virtual machine")                                     \
  I(STR, mac,          "MAC",      NONE,   17, 0, "hardware address that the guest sees", .flags = COL_KEY)            \
  I(STR, port,         "PORT",     NONE,    8, 9, "port of the host that serves the NIC", .flags = COL_KEY)            \
  I(STR, model,        "MODEL",    NONE,    6, 6, "virtio, e1000, rtl8139 and so on, vfio for a device handed to the guest") \
  I(STR, backend,      "BACKEND",  NONE,    8, 6, "tap, vhost (tap with vhost-net), vhost-user, macvtap, vfio, user, socket") \
  I(STR, socket,       "SOCKET",   NONE,   12, 0, "vhost-user socket")                                                 \
  I(STR, socket_side,  "SIDE",     NONE,    8, 0, "what QEMU does on it: listens, connects")                           \
  I(STR, bridge,       "BRIDGE",   NONE,    8, 0, "bridge that the configuration names")                               \
  I(STR, network,      "NETWORK",  NONE,    8, 0, "libvirt network that the configuration names")                      \
  I(STR, pci,          "PCI",      NONE,   12, 0, "host device handed to the guest")                                   \
  I(U64, queues,       "QUEUES",   COUNT,   6, 4, "queue pairs")                                                       \
  I(U64, netns_inode,  "NETNS INO",NONE,    9, 0, "inode of the network namespace that the port is in")                \
  I(STR, uri,          "URI",      NONE,   12, 0, "libvirt connection of a guest elsewhere; none for one of this host") \
  I(STR, link,         "LINK",     NONE,    4, 0, "link state in the configuration")                                   \
  F(STR, state,        "STATE",    NONE,    5, 0, "present: the NIC exists now")                                       \
  T(path_switch,       switch,     "SWITCH", 8, 7, "bridge or OVS bridge the port belongs to")                         \
  T(path_uplinks,      uplinks,    "UPLINKS", 8, 3, "NICs, bonds and tunnels of that switch; of a VF or macvtap the NIC below it") \
  D(path_to_pps, state,    to_guest_pps,      "TO PPS",   PPS, 7, 9, "packets per second to the guest")                 \
  D(path_to_bps, state,    to_guest_bps,      "TO BIT/S", BPS, 8, 5, "bits per second to the guest")                    \
  D(path_to_drop, state,   to_guest_drop_pps, "TO DROP/S",PPS, 9, 7, "packets per second lost on the way to the guest", .watch = 1e-9, .bad = 100) \
  D(path_to_loss, state,   to_guest_loss_pct, "TO LOSS%", PCT, 8, 8, "lost of what was to go to the guest", .watch = 0.01, .bad = 1) \
  D(path_from_pps, state,  from_guest_pps,    "FROM PPS", PPS, 8, 9, "packets per second from the guest")               \
  D(path_from_bps, state,  from_guest_bps,    "FROM BIT/S", BPS, 10, 5, "bits per second from the guest")               \
  D(path_from_drop, state, from_guest_drop_pps, "FROM DROP/S", PPS, 11, 6, "packets per second lost on the way from the guest", .watch = 1e-9, .bad = 100) \
  D(path_from_loss, state, from_guest_loss_pct, "FROM LOSS%", PCT, 10, 6, "lost of what came from the guest", .watch = 0.01, .bad = 1) \
  T(path_serving,      serving, "SERVED BY", 10, 8, "thread that moves its packets: vhost worker, PMD, or qemu itself") \
  D(path_serving_busy, state,  serving_busy_pct, "BUSY%", PCT, 6, 8, "CPU of that thread; a PMD: cycles of polls that moved packets", .watch = 90, .bad = 99) \
  D(path_serving_steal, state, serving_steal_pct, "ITS STEAL%", PCT, 10, 6, "share of the interval that thread waited for a CPU", .watch = 5, .bad = 20) \
  T(path_vcpu,         worst_vcpu, "VCPU",  5, 6, "the guest's vCPU that waits most, and after @ the CPU it ran on")    \
  D(path_vcpu_run, state,  worst_run_pct,     "RUN%",     PCT, 6, 7, "run of that vCPU")                              \
  T(path_pinning,      pinning,  "PINNING", 8, 3, "pinned, floating or partly: the guest's vCPUs")                    \
  T(path_to_cause,     to_guest_cause, "TO CAUSE", 9, 4, "what most of the loss to the guest is counted as")          \
  T(path_numa,         numa_match, "NUMA", 4, 2, "do vCPUs, serving thread and port sit on one NUMA node: yes, no")   \
  D(path_to_size, state,   to_guest_packet_bytes, "TO SIZE", BYTES, 7, 0, "mean size of packets to the guest")         \
  D(path_from_size, state, from_guest_packet_bytes, "FROM SIZE", BYTES, 9, 0, "mean size of packets from the guest")   \
  D(path_steal, state,     worst_steal_pct,   "STEAL%",   PCT, 6, 9, "steal of its guest's vCPU that waits most", .watch = 5, .bad = 20)

#define PMDS_COLUMNS(I, F, D, T)                                                                                       \
  I(STR, ovs,          "OVS",      NONE,    8, 2, "the ovs-vswitchd: its run folder", .flags = COL_KEY)                \
  I(STR, datapath,     "DATAPATH", NONE,    8, 0, "datapath", .flags = COL_KEY)                                        \
  I(STR, thread,       "PMD",      NONE,    4, 9, "pmd, or main: ovs-vswitchd's main thread polls what no PMD does", .flags = COL_KEY) \
  I(U64, core,         "CORE",     NONE,    4, 9, "core that the PMD polls on", .flags = COL_KEY)                      \
  I(U64, numa,         "NUMA",     NONE,    4, 6, "NUMA node of the PMD")                                              \
  I(U64, tid,          "TID",      NONE,    7, 0, "thread")                                                            \
  I(STR, thread_key,   "KEY",      NONE,    8, 0, "its row in the threads table")                                      \
  I(STR, isolated,     "ISOL",     NONE,    4, 2, "keeps to the queues pinned on it: yes, no")                         \
  I(U64, max_sleep_us, "SLEEP US", US,      8, 0, "longest sleep allowed when idle")                                   \
  F(CNT, rx_packets,   "PKTS",     PACKETS, 7, 0, "packets received")                                                  \
  F(CNT, passes,       "PASSES",   PACKETS, 7, 0, "passes of packets through the datapath, recirculations counted again") \
  F(CNT, recirculations, "RECIRC", PACKETS, 7, 0, "packets sent through the datapath again")                           \
  F(CNT, hwol_hits,    "HWOL",     PACKETS, 7, 0, "hits by partial hardware offload")                                  \
  F(CNT, mfex_hits,    "MFEX",     PACKETS, 7, 0, "headers parsed by the optimised extractor")                         \
  F(CNT, simple_hits,  "SIMPLE",   PACKETS, 7, 0, "hits by simple match")                                              \
  F(CNT, emc_hits,     "EMC",      PACKETS, 7, 0, "exact match cache hits")                                            \
  F(CNT, smc_hits,     "SMC",      PACKETS, 7, 0, "signature match cache hits")                                        \
  F(CNT, megaflow_hits, "MEGA",    PACKETS, 7, 0, "megaflow (wildcard) hits")                                          \
  F(CNT, upcalls,      "UPCALLS",  PACKETS, 7, 0, "packets no flow matched, taken by the slow path with success")      \
  F(CNT, upcalls_lost, "LOST",     PACKETS, 7, 0, "packets no flow matched, lost", .flags = COL_LOSS)                  \
  F(CNT, idle_cycles,  "IDLE CYC", COUNT,   8, 0, "cycles of polls that found nothing")                                \
  F(CNT, busy_cycles,  "BUSY CYC", COUNT,   8, 0, "cycles of polls that moved packets; preemption is in them")         \
  F(CNT, sleep_us,     "SLEPT US", US,      8, 0, "time slept when idle")                                              \
  F(CNT, tx_packets,   "TX PKTS",  PACKETS, 7, 0, "packets sent")                                                      \
  F(CNT, tx_batches,   "BATCHES",  COUNT,   7, 0, "batches they were sent in")                                         \
  F(F64, subtable_lookups, "LOOKUPS", NONE, 7, 2, "subtables searched for a megaflow hit, mean since the start or clear") \
  F(F64, overhead_pct, "OVERHEAD%",PCT,     9, 2, "work that belongs to no queue (OVS refreshes it every 5 or 10 s)")  \
  D(cycle_share, busy_cycles, busy_pct,  "BUSY%", PCT, 6, 9, "cycles of polls that moved packets, of all cycles of the interval", .flags = COL_HOT, .watch = 90, .bad = 99) \
  D(cycle_share, idle_cycles, idle_pct,  "IDLE%", PCT, 6, 0, "cycles of polls that found nothing, of all cycles of the interval") \
  D(pmd_thread, rx_packets, run_pct,     "RUN%",  PCT, 6, 8, "share of the interval its thread was on a CPU")          \
  D(pmd_thread, rx_packets, steal_pct,   "STEAL%",PCT, 6, 8, "share of the interval its thread waited for a CPU: a PMD that is preempted loses packets", .watch = 1, .bad = 5) \
  D(pmd_thread, rx_packets, involuntary_per_s, "PREEMPT/S", PER_S, 9, 6, "times a second its thread was preempted")     \
  D(rate, rx_packets,  rx_pps,           "PPS",   PPS, 7, 9, "packets received per second", .flags = COL_HOT)          \
  D(cycles_per_packet, busy_cycles, cycles_per_packet, "CYC/PKT", COUNT, 7, 7, "busy cycles for each packet of the interval") \
  D(all_cycles_per_packet, busy_cycles, all_cycles_per_packet, "ALL/PKT", COUNT, 7, 0, "all cycles, idle ones too, for each packet of the interval") \
  D(per_batch, tx_packets, packets_per_batch, "BATCH", COUNT, 5, 5, "packets sent in one batch, mean of the interval")  \
  D(pass_share, emc_hits, emc_pct,       "EMC%",  PCT, 5, 6, "of the passes, hit in the exact match cache")            \
  D(pass_share, smc_hits, smc_pct,       "SMC%",  PCT, 5, 4, "of the passes, hit in the signature match cache")        \
  D(pass_share, megaflow_hits, megaflow_pct, "MEGA%", PCT, 5, 5, "of the passes, hit by a megaflow")                   \
  D(pass_share, simple_hits, simple_pct, "SIMPLE%", PCT, 7, 0, "of the passes, hit by simple match")                   \
  D(pass_share, hwol_hits, hwol_pct,     "HWOL%", PCT, 5, 0, "of the passes, hit by hardware offload")                 \
  D(rate, upcalls,     upcalls_per_s,    "UPCALL/S", PER_S, 8, 5, "upcalls per second", .watch = 1000, .bad = 10000)  \
  D(rate, upcalls_lost, upcalls_lost_pps, "LOST/S", PPS, 6, 5, "upcalls lost per second", .watch = 1e-9, .bad = 10)     \
  D(rate, recirculations, recirc_pps,    "RECIRC/S", PPS, 8, 0, "recirculations per second")                           \
  D(us_share, sleep_us, sleep_pct,       "SLEEP%", PCT, 6, 3, "share of the interval slept when idle")

#define RXQS_COLUMNS(I, F, D, T)                                                                                       \
  I(STR, ovs,          "OVS",      NONE,    8, 2, "the ovs-vswitchd: its run folder", .flags = COL_KEY)                \
  I(STR, datapath,     "DATAPATH", NONE,    8, 0, "datapath", .flags = COL_KEY)                                        \
  I(STR, port,         "PORT",     NONE,    8, 9, "port", .flags = COL_KEY)                                            \
  I(U64, queue,        "QUEUE",    NONE,    5, 9, "receive queue", .flags = COL_KEY)                                   \
  I(STR, pmd_key,      "KEY",      NONE,    8, 0, "row of that PMD in the pmds table")                                  \
  I(U64, core,         "CORE",     NONE,    4, 9, "core of the PMD that polls it")                                     \
  I(U64, numa,         "NUMA",     NONE,    4, 5, "NUMA node of that PMD")                                             \
  I(STR, enabled,      "ENABLED",  NONE,    7, 5, "does the guest have the queue on: yes, no")                         \
  I(STR, pinning,      "PIN",      NONE,    4, 4, "core that pmd-rxq-affinity asks for")                               \
  F(F64, usage_pct,    "USAGE%",   PCT,     6, 9, "share of its PMD's cycles, over the window", .flags = COL_HOT, .watch = 80, .bad = 95) \
  F(F64, window_s,     "WINDOW",   S,       6, 4, "seconds that the usage covers; OVS refreshes it every 5 or 10 s")

#define DATAPATHS_COLUMNS(I, F, D, T)                                                                                  \
  I(STR, ovs,          "OVS",      NONE,    8, 3, "the ovs-vswitchd: its run folder", .flags = COL_KEY)                \
  I(STR, name,         "DATAPATH", NONE,   12, 9, "datapath: netdev@ovs-netdev, system@ovs-system", .flags = COL_KEY)  \
  F(CNT, hits,         "HIT",      PACKETS, 7, 0, "look-ups that found a flow")                                        \
  F(CNT, missed,       "MISSED",   PACKETS, 7, 0, "look-ups that found none: upcalls")                                 \
  F(CNT, lost,         "LOST",     PACKETS, 7, 0, "upcalls that were lost", .flags = COL_LOSS)                         \
  F(U64, flows,        "FLOWS",    COUNT,   7, 8, "flows in the datapath")                                             \
  F(U64, flow_limit,   "LIMIT",    COUNT,   7, 6, "flows that the revalidators allow now")                             \
  F(U64, dump_ms,      "DUMP MS",  COUNT,   7, 4, "time that the last walk over all flows took")                       \
  D(rate, hits,        hit_pps,    "HIT/S",  PPS, 7, 9, "look-ups per second that found a flow", .flags = COL_HOT)     \
  D(rate, missed,      missed_pps, "MISS/S", PPS, 7, 8, "upcalls per second", .flags = COL_HOT)                        \
  D(rate, lost,        lost_pps,   "LOST/S", PPS, 7, 8, "upcalls lost per second", .watch = 1e-9, .bad = 10)

#define PROCESSES_COLUMNS(I, F, D, T)                                                                                  \
  I(STR, name,         "PROCESS",  NONE,   10, 9, "program of a DPDK process", .flags = COL_KEY)                       \
  I(U64, pid,          "PID",      NONE,    7, 9, "process", .flags = COL_KEY)                                         \
  I(STR, version,      "VERSION",  NONE,   12, 7, "DPDK version")                                                      \
  I(STR, prefix,       "PREFIX",   NONE,    8, 6, "file prefix: the name of its run folder")                           \
  I(STR, socket,       "SOCKET",   NONE,   16, 4, "telemetry socket")                                                  \
  I(STR, eal_args,     "EAL ARGUMENTS", NONE, 20, 3, "arguments of the environment layer")                             \
  I(U64, ethdevs,      "PORTS",    COUNT,   5, 5, "ports it has")                                                      \
  F(STR, state,        "STATE",    NONE,   13, 8, "ok, or what is wrong with its telemetry", .flags = COL_STATE)       \
  F(F64, answer_s,     "ANSWER",   S,       6, 5, "time that its last answer took")

#define MEMPOOLS_COLUMNS(I, F, D, T)                                                                                   \
  I(STR, process,      "PROCESS",  NONE,   10, 8, "program", .flags = COL_KEY)                                         \
  I(U64, pid,          "PID",      NONE,    7, 6, "process", .flags = COL_KEY)                                         \
  I(STR, name,         "MEMPOOL",  NONE,   16, 9, "pool of packet buffers", .flags = COL_KEY)                          \
  I(U64, numa,         "NUMA",     NONE,    4, 4, "NUMA node")                                                         \
  I(U64, size,         "SIZE",     COUNT,   8, 8, "buffers in all")                                                    \
  F(U64, in_use,       "IN USE",   COUNT,   8, 8, "buffers in use now")                                                \
  F(U64, free,         "FREE",     COUNT,   8, 7, "buffers free now, those in caches counted")

#define HOST_COLUMNS(I, F, D, T)                                                                                         \
  I(STR, host,         "HOST",     NONE,    8, 9, "host name", .flags = COL_KEY)                                       \
  I(U64, cpus_online,  "CPUS",     COUNT,   4, 5, "CPUs online")                                                       \
  I(STR, isolated_cpus,"ISOLATED", NONE,    8, 5, "CPUs isolated from the scheduler's balancing")                      \
  F(CNT, psi_cpu_some_us, "PSI CPU",  US,   8, 0, "time in which some task waited for a CPU (pressure stall information)", .flags = COL_ALONE) \
  F(CNT, psi_irq_full_us, "PSI IRQ",  US,   8, 0, "time in which interrupts stalled all tasks of a CPU", .flags = COL_ALONE) \
  F(CNT, psi_memory_some_us, "PSI MEM", US, 8, 0, "time in which some task waited for memory", .flags = COL_ALONE)     \
  F(CNT, psi_io_some_us, "PSI IO",    US,   8, 0, "time in which some task waited for a disk", .flags = COL_ALONE)     \
  F(U64, running,      "RUNNING",  COUNT,   7, 4, "tasks runnable now")                                                \
  F(CNT, switches,     "CTXT",     COUNT,   8, 0, "context switches", .flags = COL_ALONE)                              \
  D(us_share, psi_cpu_some_us,    psi_cpu_pct,    "PSI CPU%", PCT, 8, 8, "share of the interval in which some task waited for a CPU", .watch = 10, .bad = 40) \
  D(us_share, psi_irq_full_us,    psi_irq_pct,    "PSI IRQ%", PCT, 8, 6, "share of the interval in which interrupts stalled tasks", .watch = 5, .bad = 20) \
  D(us_share, psi_memory_some_us, psi_memory_pct, "PSI MEM%", PCT, 8, 4, "share of the interval in which some task waited for memory", .watch = 5, .bad = 20) \
  D(us_share, psi_io_some_us,     psi_io_pct,     "PSI IO%",  PCT, 8, 4, "share of the interval in which some task waited for a disk", .watch = 10, .bad = 40) \
  D(rate, switches,               switches_per_s, "CTXT/S",  PER_S, 8, 4, "context switches per second")

#define FINDINGS_COLUMNS(I, F, D, T)                                                                                   \
  I(STR, rule,         "RULE",     NONE,   16, 5, "rule that found it; the manual lists them", .flags = COL_KEY)       \
  I(STR, object,       "OBJECT",   NONE,   12, 8, "what it is about", .flags = COL_KEY)                                \
  F(STR, severity,     "SEVERITY", NONE,    8, 8, "note, watch, bad")                                                  \
  F(F64, since_s,      "SINCE",    S,       6, 7, "how long it has stood")                                             \
  F(F64, value,        "VALUE",    COUNT,   7, 5, "how bad it is now, in its unit")                                    \
  F(F64, worst,        "WORST",    COUNT,   7, 4, "and at worst")                                                      \
  F(STR, unit,         "UNIT",     NONE,    5, 4, "unit of value and worst")                                           \
  F(F64, cost_pps,     "COST PPS", PPS,     8, 5, "packets per second that it costs")                                  \
  F(STR, text,         "FINDING",  NONE,   40, 9, "the cause in words, with its evidence")                             \
  F(STR, advice,       "TRY",      NONE,   20, 6, "a command to try; vnettop never runs it")

#define SOURCES_COLUMNS(I, F, D, T)                                                                                      \
  I(STR, name,         "SOURCE",   NONE,   14, 9, "source, and its part where it has several", .flags = COL_KEY)       \
  F(STR, state,        "STATE",    NONE,   13, 9, "ok, starting, none, not permitted, no answer, failed", .flags = COL_STATE)         \
  F(F64, age_s,        "AGE",      S,       6, 7, "age of the newest sample")                                          \
  F(F64, read_s,       "READ",     S,       6, 6, "how long the newest read took")                                     \
  F(U64, rows,         "ROWS",     COUNT,   5, 6, "rows in the newest sample")                                         \
  F(CNT, cpu_ns,       "CPU NS",   NS,      8, 0, "CPU time vnettop spent on this source")                             \
  F(CNT, samples,      "SAMPLES",  COUNT,   7, 0, "samples read")                                                      \
  F(CNT, failures,     "FAILS",    COUNT,   5, 3, "reads that failed")                                                 \
  D(ns_share, cpu_ns, cost_pct,    "COST%", PCT, 6, 7, "CPU that vnettop spends on this source, percent of one CPU", .watch = 1, .bad = 5) \
  F(STR, version,      "VERSION",  NONE,    8, 0, "program and version that answers")                                  \
  F(STR, detail,       "DETAIL",   NONE,   20, 8, "what is seen, or why not and what to do")

#define MARKS_COLUMNS(I, F, D, T)                                                                                        \
  I(U64, mark,         "MARK",     NONE,    4, 9, "number of the mark", .flags = COL_KEY)                              \
  I(STR, at,           "AT",       NONE,   24, 9, "wall-clock time of the mark (RFC 3339, UTC)")                       \
  I(F64, at_elapsed_s, "AT S",     S,       8, 0, "time of the mark since the start (monotonic)")                      \
  I(STR, text,         "TEXT",     NONE,   20, 9, "what was written at the mark")

#define COUNTERS_COLUMNS(I, F, D, T)                                                                                     \
  I(STR, source,       "SOURCE",   NONE,    8, 7, "source that tells the number", .flags = COL_KEY)                    \
  I(STR, object,       "OBJECT",   NONE,   12, 9, "what the number belongs to", .flags = COL_KEY)                      \
  I(STR, name,         "NAME",     NONE,   24, 9, "the source's own name of the number", .flags = COL_KEY)             \
  F(CNT, value,        "VALUE",    COUNT,  10, 8, "value of the counter")                                              \
  D(rate, value, rate, "RATE/S",   PER_S,   8, 9, "change per second", .flags = COL_HOT)

/* TABLE(NAME, name, help): order of this list is the order of files in a recording. */
#define ALL_TABLES(TABLE)                                                                                              \
  TABLE(VMS,      vms,      "virtual machines: CPU, steal, packets to and from the guest")                               \
  TABLE(THREADS,  threads,  "threads that matter: vCPUs, emulators, vhost workers, pollers")                             \
  TABLE(PATHS,    paths,    "one guest NIC with all that serves it")                                                     \
  TABLE(PORTS,    ports,    "places packets pass")                                                                     \
  TABLE(PMDS,     pmds,     "OVS's polling threads")                                                                   \
  TABLE(RXQS,     rxqs,     "receive queues and the PMD that polls each")                                              \
  TABLE(DATAPATHS, datapaths, "OVS datapaths: flow look-ups, upcalls, flows")                                         \
  TABLE(PROCESSES, processes, "DPDK processes")                                                                       \
  TABLE(MEMPOOLS, mempools, "packet buffers of DPDK processes")                                                       \
  TABLE(CPUS,     cpus,     "CPUs: who uses them, packet work, topology")                                              \
  TABLE(HOST,     host,     "the host as a whole: pressure, run queue")                                                \
  TABLE(FINDINGS, findings, "diagnosed causes, with their evidence and a command to try")                              \
  TABLE(SOURCES,  sources,  "what can be seen here, what not, and what to do about it")                                \
  TABLE(MARKS,    marks,    "moments marked by the user")                                                              \
  TABLE(COUNTERS, counters, "long form of numbers that only their source knows")

// clang-format on

#endif
