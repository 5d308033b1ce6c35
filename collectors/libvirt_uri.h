/* SPDX-License-Identifier: MIT */
/*
 * What the text of a libvirt URI tells before anything is opened. Called by the libvirt collectors, also in
 * the main thread: it asks nobody and knows no library.
 */
#ifndef VNETTOP_LIBVIRT_URI_H
#define VNETTOP_LIBVIRT_URI_H

#include <stdbool.h>
#include <stddef.h>

#define LIBVIRT_DEFAULT_URI "qemu:///system"

/* QEMU on this host: its guests are the qemu source's too, under the same keys. A host part that is not this
 * host by its spelling, or another hypervisor, is elsewhere. */
bool libvirt_uri_is_local(const char *uri);

/* An alias of libvirt.conf, which only libvirt resolves. */
bool libvirt_uri_is_alias(const char *uri);

/* The URI to open: over ssh it may ask nobody for a password, since the screen has the terminal. false when
 * it does not fit. */
bool libvirt_uri_to_open(const char *uri, char *out, size_t size);

#endif
