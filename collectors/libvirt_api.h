/* SPDX-License-Identifier: MIT */
/*
 * libvirt's functions, loaded when the first connection is opened: linked, the library and the fifty behind
 * it would cost every host 12 MB and start-up time, also those without a libvirt. The libvirt collectors call
 * `vir.NAME(...)` for virNAME; types and constants are those of libvirt's headers. It must not know what is
 * asked.
 */
#ifndef VNETTOP_LIBVIRT_API_H
#define VNETTOP_LIBVIRT_API_H

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stddef.h>

/* Every function in use, without its `vir`. To use another, add its line. */
#define LIBVIRT_FUNCTIONS(F)                                                                                 \
    F(ConnectClose)                                                                                          \
    F(ConnectDomainEventDeregisterAny)                                                                       \
    F(ConnectDomainEventRegisterAny)                                                                         \
    F(ConnectGetAllDomainStats)                                                                              \
    F(ConnectGetLibVersion)                                                                                  \
    F(ConnectGetType)                                                                                        \
    F(ConnectGetURI)                                                                                         \
    F(ConnectGetVersion)                                                                                     \
    F(ConnectIsAlive)                                                                                        \
    F(ConnectListAllDomains)                                                                                 \
    F(ConnectOpenAuth)                                                                                       \
    F(ConnectRef)                                                                                            \
    F(ConnectRegisterCloseCallback)                                                                          \
    F(ConnectSetKeepAlive)                                                                                   \
    F(ConnectUnregisterCloseCallback)                                                                        \
    F(DomainFree)                                                                                            \
    F(DomainGetInfo)                                                                                         \
    F(DomainGetName)                                                                                         \
    F(DomainGetUUIDString)                                                                                   \
    F(DomainGetXMLDesc)                                                                                      \
    F(DomainLookupByUUIDString)                                                                              \
    F(DomainStatsRecordListFree)                                                                             \
    F(EventRegisterDefaultImpl)                                                                              \
    F(EventRunDefaultImpl)                                                                                   \
    F(GetLastError)                                                                                          \
    F(GetLastErrorMessage)                                                                                   \
    F(Initialize)                                                                                            \
    F(SetErrorFunc)

struct libvirt_api {
#define LIBVIRT_MEMBER(name) __typeof__(vir##name) *name;
    LIBVIRT_FUNCTIONS(LIBVIRT_MEMBER)
#undef LIBVIRT_MEMBER
};

/* Written once, by libvirt_api_load. */
extern struct libvirt_api vir;

#define LIBVIRT_LIBRARY "libvirt.so.0"

/* For libvirt_events_start alone, under its lock, until it succeeds once. 0, or -1 with err: what is missing
 * and what to install. The library stays until the process ends, since its loop does. */
int libvirt_api_load(const char *name, char *err, size_t errlen);

#endif
