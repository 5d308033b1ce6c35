/* SPDX-License-Identifier: MIT */
/* Command lines of cloud-hypervisor and firecracker. qemu_cmdline_parse alone calls it. */
#ifndef VNETTOP_MICROVM_CMDLINE_H
#define VNETTOP_MICROVM_CMDLINE_H

#include "collectors/qemu_cmdline.h"

/* out->kind is set and the rest zero. Firecracker gets its cards by API or file: they are in its descriptors
 * alone. cloud-hypervisor has no names: that of its API socket serves, which its starters call after the
 * guest. */
void microvm_cmdline_parse(char *const *argv, size_t argc, struct qemu_cmdline *out);

#endif
