/* SPDX-License-Identifier: MIT */
/*
 * The rules' check functions and what they share. A rule is silent where a number it needs is not known or is
 * old: such numbers are NAN, and comparisons with NAN are false. Adding a rule is a line in rules.c and its
 * function in one of rules_*.c.
 */
#ifndef VNETTOP_RULES_H
#define VNETTOP_RULES_H

#include "src/findings.h"
#include "src/join.h"

typedef void rule_check(const struct rule *rule, const struct frame *frame, struct finding_list *out);

/* rules_cpu.c: who waits for a CPU, who shares it */
rule_check check_vcpu_steal, check_cpu_shared, check_poller_shares, check_smt_sibling, check_floating;
rule_check check_helper_on_cpu, check_vhost_saturated, check_poller_preempted;
/* rules_host.c: the host's CPUs, and the observer itself */
rule_check check_governor, check_idle_states;
rule_check check_host_steal, check_softnet, check_squeeze, check_source_silent, check_observer_slow;
/* rules_ovs.c: PMDs, datapaths */
rule_check check_pmd_saturated, check_pmd_unbalanced, check_upcalls, check_upcalls_lost, check_cache_thrash;
rule_check check_flow_limit, check_pipeline, check_datapath_drops, check_main_thread;
/* What OpenFlow meters drop, a part of check_policer. */
rule_check rule_meter_drops;
/* rules_ports.c: where a port loses packets */
rule_check check_tap_unread, check_qdisc, check_missed, check_nombuf, check_mtu, check_policer, check_errors;
rule_check check_flaps, check_veth, check_af_packet, check_bridge_loss;
/* rules_guest.c: a guest and its NIC */
rule_check check_not_draining, check_emulated, check_single_queue, check_numa;

/* A cell's number; NAN when it has none or is older than it should be. */
double rule_number(const struct frame *frame, const struct frame_row *row, const struct column *column);
#define RULE_NUMBER(frame, row, table, key) rule_number(frame, row, COLUMN_OF(table, key))

/* Names for sentences: at most so long, printable, two dots where one was cut. "?" for NULL. */
#define RULE_NAME_SIZE 49
struct rule_name {
    char text[RULE_NAME_SIZE];
};
struct rule_name rule_name(const char *text);
/* A word for a shell: in quotes where it must be. Empty when it is no text that a command line can hold. */
struct rule_word {
    char text[256];
};
struct rule_word rule_word(const char *text);
/* A thread's short name. */
struct rule_name rule_thread(const struct frame *frame, const struct join_thread *thread);
/* 1.02M/s, 94.0k/s, 57/s */
struct rule_rate {
    char text[32];
};
struct rule_rate rule_rate(double per_s);
/* A port's name, a NIC as "vm net0"; and a port's as a word for a shell. */
struct rule_name rule_port(const struct frame_row *port);
struct rule_name rule_nic(const struct frame_row *path);
struct rule_word rule_port_word(const struct frame_row *port);
bool rule_port_is(const struct frame_row *port, const char *kind);

/* What a thread did, for rules: NAN when its source is silent. */
double rule_run(const struct join_thread *thread);
double rule_steal(const struct join_thread *thread);
/* What it would take if it had a CPU of its own. */
double rule_demand(const struct join_thread *thread);

/* "pmd/0 58 %, web-tx/0 42 %": the known threads that ran on the thread's CPU with at least 5 %, it left out;
 * "other tasks of the host" when none is known. */
struct rule_list {
    char text[256];
};
struct rule_list rule_others_on(const struct frame *frame, const struct join_thread *thread);

/* "virsh -c URI COMMAND NAME" for a VM that libvirt knows; empty for one started by hand. */
struct rule_word rule_virsh(const struct frame_row *vm, const char *command);

/* A CPU with room: not the thread's, at least half idle, no poller on it or on the other half of its core; on
 * the same NUMA node where there is one. -1 when there is none. */
int64_t rule_free_cpu(const struct frame *frame, const struct join_thread *thread);

/* Advises to move a thread to a CPU with room: virsh where libvirt knows the VM, else taskset; OVS for a PMD.
 * No advice where there is no such CPU. */
void rule_advise_move(struct finding *finding, const struct frame *frame, const struct join_thread *thread);

/* All that an OVS counts as dropped by its datapath, per second; what: the words for the most of it. */
double rule_datapath_drops(const struct frame *frame, const struct frame_row *datapath, const char **what,
                           double *most);

/* Bad from one percent of loss on. */
enum severity rule_loss_severity(double lost, double passed);

/* Calls of one kind: all rows of a table. */
#define RULE_EACH(row, frame, id)                                                                            \
    for (const struct frame_row *row = (frame)->table[id].rows, *row##_end = row + (frame)->table[id].n;     \
         row < row##_end; row++)

#endif
