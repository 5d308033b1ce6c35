/* SPDX-License-Identifier: MIT */
/* The source `qemu`: virtual machines of this host as their processes show them, by libvirt or by hand.
 * Listed in collectors/list.c. */
#ifndef VNETTOP_QEMU_H
#define VNETTOP_QEMU_H

#include "src/collector.h"

extern const struct collector qemu_collector; /* who is there, run and steal: at each tick */
extern const struct collector
    qemu_places_collector; /* where threads run and may run, their switches: slower */

#endif
