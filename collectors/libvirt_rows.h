/* SPDX-License-Identifier: MIT */
/*
 * Rows of virtual machines, their threads and NICs, from what is known of the domains of one connection. The
 * libvirt collector makes them anew when a domain changes and fills a sample of them at each tick. Keys are
 * those of the qemu source, so that both meet in one row; the keys of guests elsewhere begin with the URI.
 */
#ifndef VNETTOP_LIBVIRT_ROWS_H
#define VNETTOP_LIBVIRT_ROWS_H

#include <stddef.h>

#include "collectors/libvirt_domains.h"
#include "src/sample.h"

struct libvirt_rows {
    struct inventory *inventory;
    struct libvirt_entry *entries;
    size_t n;
};

/* uri as the vms table tells it; elsewhere: not guests of this host's QEMU. */
void libvirt_rows_make(struct libvirt_rows *rows, const struct libvirt_domains *domains, const char *uri,
                       bool elsewhere);
void libvirt_rows_clear(struct libvirt_rows *rows);

/* States are read from the domains that the rows were made of: make them anew when the list has changed. The
 * sample is the caller's. */
struct sample *libvirt_rows_sample(const struct libvirt_rows *rows);

/* "" or "URI|": what the keys of a connection's rows begin with. */
const char *libvirt_rows_prefix(struct inventory *inventory, const char *uri, bool elsewhere);

#endif
