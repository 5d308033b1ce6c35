/* SPDX-License-Identifier: MIT */
/*
 * Derived columns that need more than their own row: a VM's threads and NICs, a NIC's port, a CPU's threads.
 * Named in tables.h; pure functions of the frame.
 */
#ifndef VNETTOP_DERIVE_JOIN_H
#define VNETTOP_DERIVE_JOIN_H

#include "src/frame.h"

derive_fn derive_port_vm, derive_port_nic;
derive_fn derive_cpu_ran, derive_cpu_pinned, derive_cpu_may;
derive_fn derive_thread_numa; /* threads: node of the CPU it ran on */
derive_fn derive_run_share;   /* threads: share of the interval, never above 100 */
derive_fn derive_vm_run, derive_vm_steal, derive_vm_worst, derive_vm_pinning, derive_vm_emulator,
    derive_vm_vhost;
derive_fn derive_vm_to_pps, derive_vm_to_drop, derive_vm_from_pps, derive_vm_from_drop;
derive_fn derive_pmd_thread; /* pmds: the column of the same key of its thread */
derive_fn derive_path_switch;
derive_fn derive_path_uplinks;
derive_fn derive_path_to_pps, derive_path_to_bps, derive_path_to_drop, derive_path_to_loss;
derive_fn derive_path_from_pps, derive_path_from_bps, derive_path_from_drop, derive_path_from_loss;
derive_fn derive_path_steal, derive_path_vcpu, derive_path_vcpu_run, derive_path_pinning;
derive_fn derive_path_serving, derive_path_serving_busy, derive_path_serving_steal;
derive_fn derive_path_to_cause, derive_path_numa, derive_path_to_size, derive_path_from_size;

/* The word for what most of a port's loss in a direction is counted under; NULL when there is none, or no
 * counter tells. */
const char *derive_cause(const struct frame *frame, const struct frame_row *port, bool tx);

#endif
