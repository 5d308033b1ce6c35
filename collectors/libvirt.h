/* SPDX-License-Identifier: MIT */
/*
 * Source `libvirt`: what is configured of the virtual machines of each --connect: vms, threads, paths. The
 * part `libvirt-stats` exists where the guests are not of this host's QEMU: there /proc is not ours, and
 * times of vCPUs come from the daemon.
 */
#ifndef VNETTOP_LIBVIRT_H
#define VNETTOP_LIBVIRT_H

#include "collectors/libvirt_domains.h"
#include "src/collector.h"

extern const struct collector libvirt_collector;
extern const struct collector libvirt_stats_collector;

/* For tests, on the state of libvirt_collector: how often is asked without an event. */
void libvirt_set_tempo(void *state, const struct libvirt_tempo *tempo);

#endif
