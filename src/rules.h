/* SPDX-License-Identifier: MIT */
/*
 * The rules' check functions and what they share. A rule is silent where a number it needs is not known:
 * comparisons with NAN are false. Adding a rule is a line in rules.c and its function in rules_cpu.c or
 * rules_packets.c.
 */
#ifndef VNETTOP_RULES_H
#define VNETTOP_RULES_H

#include "src/findings.h"
#include "src/join.h"

typedef void rule_check(const struct rule *rule, const struct frame *frame, struct finding_list *out);

/* rules_cpu.c */
rule_check check_vcpu_steal, check_cpu_shared, check_poller_shares, check_smt_sibling, check_floating;
rule_check check_helper_on_cpu, check_numa, check_vhost_saturated, check_host_steal, check_softnet,
    check_squeeze;
rule_check check_pmd_preempted, check_pmd_saturated, check_pmd_unbalanced;
/* rules_packets.c */
rule_check check_not_draining, check_tap_unread, check_qdisc, check_missed, check_nombuf, check_mtu,
    check_policer;
rule_check check_upcalls, check_upcalls_lost, check_emc, check_flow_limit, check_pipeline, check_errors,
    check_flaps;
rule_check check_main_thread, check_emulated, check_single_queue, check_veth;

/* A row's own name by a text field, "?" when it has none. */
const char *rule_text(const struct frame_row *row, size_t info_offset);
#define RULE_TEXT(row, type, field) rule_text(row, offsetof(type, field))

/* "pmd 0 58 %, web-tx/0 42 %": the other known threads that ran on a CPU with at least 5 %; "other tasks"
 * when none is known. */
void rule_others_on(char *out, size_t size, const struct frame *frame, uint64_t cpu,
                    const struct frame_row *but);

/* The CPU a thread last ran on, -1 when not known. */
int64_t rule_cpu_of(const struct frame_row *thread);
/* The CPU that a thread must run on, -1 when it may choose. */
int64_t rule_only_cpu(const struct frame_row *thread);
bool rule_has_role(const struct frame_row *thread, const char *role);
bool rule_is_poller(const struct frame_row *thread);

/* A CPU with room: not the one to leave, at least half idle, no poller on it. -1 when there is none. */
int64_t rule_free_cpu(const struct frame *frame, int64_t leave);

/* Advice to move a vCPU: virsh where libvirt knows the VM, else taskset. Empty when there is no CPU to move
 * to. */
void rule_advise_move(char *out, size_t size, const struct frame *frame, const struct frame_row *thread);

/* Calls of one kind: all rows of a table. */
#define RULE_EACH(row, frame, id)                                                                            \
    for (const struct frame_row *row = (frame)->table[id].rows, *row##_end = row + (frame)->table[id].n;     \
         row < row##_end; row++)

#endif
