/* SPDX-License-Identifier: MIT */
/*
 * libvirt's event loop: keep-alive and events work only while some thread runs it, and there is one for the
 * whole process. Called by the libvirt collectors before they open a connection.
 */
#ifndef VNETTOP_LIBVIRT_EVENTS_H
#define VNETTOP_LIBVIRT_EVENTS_H

#include <stddef.h>

/* While there are no threads yet: nothing of libvirt's may be written to the terminal, and it may start no
 * daemon. A variable that the user has set stays. */
void libvirt_events_prepare(void);

/* Loads the library and starts the loop's thread, the first time. 0, or -1 with err. */
int libvirt_events_start(char *err, size_t errlen);

#endif
