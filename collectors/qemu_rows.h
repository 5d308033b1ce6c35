/* SPDX-License-Identifier: MIT */
/*
 * What the source qemu tells of virtual machines, their threads and cards, in the words of the tables: keys,
 * infos, and the one line for `sources`. The collectors of the source call it after a scan that found a
 * change. It must not read anything.
 *
 * Keys: "vm:<uuid>", where there is no UUID or another process has it "vm:pid:<pid>:<start>"; of threads the
 * VM's and "/vcpu/<n>", "/emulator", "/iothread/<n>" (or its name), "/vhost/<rank>", "/worker/<tid>",
 * "/other/<tid>"; of cards "path:", the VM's and ":<mac>", or ":#<place>".
 */
#ifndef VNETTOP_QEMU_ROWS_H
#define VNETTOP_QEMU_ROWS_H

#include "collectors/qemu_scan.h"
#include "src/sample.h"

/* A new inventory of all that was found, with one reference; every info pointer of the scan is set to it. */
struct inventory *qemu_rows_inventory(struct qemu_scan *scan);

size_t qemu_rows_threads(const struct qemu_scan *scan);

/* Fields that both collectors may fill. */
void qemu_rows_set_stat(struct threads_row *row, const struct procfs_stat *stat);

/* "2 VMs, 11 threads; run as root to see which taps are whose". */
void qemu_rows_describe(const struct qemu_scan *scan, char *text, size_t size);

#endif
