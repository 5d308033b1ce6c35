/* SPDX-License-Identifier: MIT */
/*
 * One read-only connection to libvirt, and what its events say: whether it is lost, and which domains have
 * changed. Opened by a collector's worker; the events come in libvirt's loop thread and are kept under a lock
 * until the worker takes them. It must not know what a domain looks like.
 */
#ifndef VNETTOP_LIBVIRT_CONN_H
#define VNETTOP_LIBVIRT_CONN_H

#include <libvirt/libvirt.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/collector.h"

struct libvirt_conn;

typedef char libvirt_uuid[VIR_UUID_STRING_BUFLEN];

/* uri NULL = the default. Without events only its loss is noticed. Blocks as long as the daemon does; a
 * daemon that has answered once is given up by keep-alive some 6 s after its last sign. */
enum collect_result libvirt_conn_open(const char *uri, bool with_events, struct libvirt_conn **out,
                                      struct collect_error *error);
void libvirt_conn_close(struct libvirt_conn *conn);

virConnectPtr libvirt_conn_get(const struct libvirt_conn *conn);
/* As given, or the default. */
const char *libvirt_conn_uri(const struct libvirt_conn *conn);
/* Guests of this host's QEMU? As the daemon itself resolves the URI. */
bool libvirt_conn_is_local(const struct libvirt_conn *conn);
/* Events tell of changes; without them only asking does. */
bool libvirt_conn_has_events(const struct libvirt_conn *conn);

/* NULL, or why the connection is of no more use. */
const char *libvirt_conn_lost(const struct libvirt_conn *conn);

struct libvirt_changes {
    libvirt_uuid *uuids; /* free() it */
    size_t n;
    bool all; /* more than could be kept: any domain may have changed */
};

/* Takes what the events told since the last call. */
struct libvirt_changes libvirt_conn_take_changes(struct libvirt_conn *conn);

/* The text of a failed call's error. */
const char *libvirt_conn_error(void);

#endif
