/* SPDX-License-Identifier: MIT */
/*
 * Connections to libvirt (see libvirt_conn.h). The loop thread may be inside a callback while the worker
 * closes: so what callbacks touch is counted, each registration holds a reference, and libvirt gives it back
 * when it will not call again.
 */
#include "collectors/libvirt_conn.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/libvirt_api.h"
#include "collectors/libvirt_events.h"
#include "collectors/libvirt_uri.h"
#include "src/memory.h"

#define KEEPALIVE_S     2 /* asked after so long without a sign of the daemon, */
#define KEEPALIVE_COUNT 2 /* and given up after so many without an answer */
#define CHANGES_MAX     1024
#define URI_SIZE        1024
#define SOCKETS         "/run/libvirt/"

/* What the loop thread writes and the worker reads. */
struct watch {
    pthread_mutex_t lock;
    unsigned refs;
    bool lost;
    int lost_reason; /* virConnectCloseReason */
    struct libvirt_changes changes;
};

struct libvirt_conn {
    virConnectPtr conn;
    char uri[URI_SIZE];
    bool local;
    bool watched; /* the close callback is registered */
    struct watch *watch;
    int callbacks[16];
    size_t n_callbacks;
};

/* ---- the watch ---- */

static struct watch *watch_new(void)
{
    struct watch *watch = xzalloc(sizeof(*watch));
    pthread_mutex_init(&watch->lock, NULL);
    watch->refs = 1;
    return watch;
}

static struct watch *watch_ref(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->refs++;
    pthread_mutex_unlock(&watch->lock);
    return watch;
}

static void watch_unref(void *opaque)
{
    struct watch *watch = opaque;
    pthread_mutex_lock(&watch->lock);
    bool last = --watch->refs == 0;
    pthread_mutex_unlock(&watch->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&watch->lock);
    free(watch->changes.uuids);
    free(watch);
}

static bool is_noted(const struct libvirt_changes *changes, const char *uuid)
{
    for (size_t i = 0; i < changes->n; i++)
        if (strcmp(changes->uuids[i], uuid) == 0)
            return true;
    return false;
}

static void note_change(void *opaque, virDomainPtr domain)
{
    struct watch *watch = opaque;
    struct libvirt_changes *changes = &watch->changes;
    libvirt_uuid uuid;
    if (vir.DomainGetUUIDString(domain, uuid) < 0)
        return;
    pthread_mutex_lock(&watch->lock);
    if (changes->n == CHANGES_MAX) {
        changes->all = true;
    } else if (!is_noted(changes, uuid)) {
        changes->uuids = xrealloc(changes->uuids, changes->n + 1, sizeof(*changes->uuids));
        memcpy(changes->uuids[changes->n++], uuid, sizeof(uuid));
    }
    pthread_mutex_unlock(&watch->lock);
}

struct libvirt_changes libvirt_conn_take_changes(struct libvirt_conn *conn)
{
    pthread_mutex_lock(&conn->watch->lock);
    struct libvirt_changes changes = conn->watch->changes;
    conn->watch->changes = (struct libvirt_changes){0};
    pthread_mutex_unlock(&conn->watch->lock);
    return changes;
}

/* ---- callbacks, in the loop thread ---- */

static void on_close(virConnectPtr conn, int reason, void *opaque)
{
    struct watch *watch = opaque;
    (void)conn;
    pthread_mutex_lock(&watch->lock);
    watch->lost = true;
    watch->lost_reason = reason;
    pthread_mutex_unlock(&watch->lock);
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr domain, int event, int detail, void *opaque)
{
    (void)conn;
    (void)event;
    (void)detail;
    note_change(opaque, domain);
    return 0;
}

static void on_plain(virConnectPtr conn, virDomainPtr domain, void *opaque)
{
    (void)conn;
    note_change(opaque, domain);
}

static void on_device(virConnectPtr conn, virDomainPtr domain, const char *alias, void *opaque)
{
    (void)conn;
    (void)alias;
    note_change(opaque, domain);
}

static void on_metadata(virConnectPtr conn, virDomainPtr domain, int type, const char *ns_uri, void *opaque)
{
    (void)conn;
    (void)type;
    (void)ns_uri;
    note_change(opaque, domain);
}

static void on_tunable(virConnectPtr conn, virDomainPtr domain, virTypedParameterPtr params, int n_params,
                       void *opaque)
{
    (void)conn;
    (void)params;
    (void)n_params;
    note_change(opaque, domain);
}

static const struct {
    int id;
    virConnectDomainEventGenericCallback callback;
} events[] = {
    {VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle)},
    {VIR_DOMAIN_EVENT_ID_REBOOT, VIR_DOMAIN_EVENT_CALLBACK(on_plain)},
    {VIR_DOMAIN_EVENT_ID_CONTROL_ERROR, VIR_DOMAIN_EVENT_CALLBACK(on_plain)},
    {VIR_DOMAIN_EVENT_ID_DEVICE_ADDED, VIR_DOMAIN_EVENT_CALLBACK(on_device)},
    {VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED, VIR_DOMAIN_EVENT_CALLBACK(on_device)},
    {VIR_DOMAIN_EVENT_ID_METADATA_CHANGE, VIR_DOMAIN_EVENT_CALLBACK(on_metadata)},
    {VIR_DOMAIN_EVENT_ID_TUNABLE, VIR_DOMAIN_EVENT_CALLBACK(on_tunable)},
};

/* ---- opening ---- */

const char *libvirt_conn_error(void)
{
    const char *message = vir.GetLastErrorMessage();
    return message ? message : "no reason given";
}

/* Asked for a password or the like: there is nobody to ask. */
static int refuse(virConnectCredentialPtr credentials, unsigned int n, void *opaque)
{
    (void)credentials;
    (void)n;
    (void)opaque;
    return -1;
}

static bool is_denied(const virError *error)
{
    switch (error->code) {
    case VIR_ERR_AUTH_FAILED:
    case VIR_ERR_AUTH_CANCELLED:
    case VIR_ERR_AUTH_UNAVAILABLE:
    case VIR_ERR_OPERATION_DENIED:
    case VIR_ERR_ACCESS_DENIED:
        return true;
    case VIR_ERR_SYSTEM_ERROR:
        return error->int1 == EACCES || error->int1 == EPERM;
    default:
        return false;
    }
}

static bool is_absent(const virError *error, const char *uri)
{
    if (!libvirt_uri_is_local(uri))
        return false;
    return error->code == VIR_ERR_NO_CONNECT ||
           (error->code == VIR_ERR_SYSTEM_ERROR && (error->int1 == ENOENT || error->int1 == ENOTDIR));
}

static enum collect_result open_failed(const char *uri, struct collect_error *out)
{
    const virError *error = vir.GetLastError();
    const char *message = libvirt_conn_error();
    if (error && is_absent(error, uri))
        return collect_fail(out, COLLECT_NONE, "no libvirt at %s: %s", uri, message);
    if (error && is_denied(error))
        return collect_fail(out, COLLECT_DENIED, "%s: %s; join the group libvirt, or run as root", uri,
                            message);
    return collect_fail(out, COLLECT_FAILED, "%s: %s", uri, message);
}

/* Of the default URI, which nobody asked for. A folder that may not be searched may have them. */
static bool has_no_socket(void)
{
    static const char *const sockets[] = {SOCKETS "libvirt-sock-ro", SOCKETS "virtqemud-sock-ro"};
    for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
        if (access(sockets[i], F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR))
            return false;
    return true;
}

static virConnectPtr open_read_only(const char *uri)
{
    int kinds[] = {VIR_CRED_AUTHNAME, VIR_CRED_PASSPHRASE, VIR_CRED_ECHOPROMPT, VIR_CRED_NOECHOPROMPT,
                   VIR_CRED_EXTERNAL};
    virConnectAuth auth = {.credtype = kinds, .ncredtype = sizeof(kinds) / sizeof(kinds[0]), .cb = refuse};
    return vir.ConnectOpenAuth(uri, &auth, VIR_CONNECT_RO);
}

static bool resolve_local(virConnectPtr conn)
{
    char *uri = vir.ConnectGetURI(conn);
    bool local = uri && libvirt_uri_is_local(uri);
    free(uri);
    return local;
}

/* A driver inside this process has no keep-alive and needs none; it also takes a close callback without ever
 * giving its reference back. */
static void watch_for_loss(struct libvirt_conn *conn)
{
    if (vir.ConnectSetKeepAlive(conn->conn, KEEPALIVE_S, KEEPALIVE_COUNT) < 0)
        return;
    conn->watched =
        vir.ConnectRegisterCloseCallback(conn->conn, on_close, watch_ref(conn->watch), watch_unref) == 0;
    if (!conn->watched)
        watch_unref(conn->watch);
}

/* An event that this libvirt does not know is done without. */
static void watch_for_changes(struct libvirt_conn *conn)
{
    static_assert(sizeof(events) / sizeof(events[0]) <= sizeof(conn->callbacks) / sizeof(int),
                  "a callback for each event");
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        int id = vir.ConnectDomainEventRegisterAny(conn->conn, NULL, events[i].id, events[i].callback,
                                                   watch_ref(conn->watch), watch_unref);
        if (id >= 0)
            conn->callbacks[conn->n_callbacks++] = id;
        else
            watch_unref(conn->watch);
    }
}

enum collect_result libvirt_conn_open(const char *uri, bool with_events, struct libvirt_conn **out,
                                      struct collect_error *error)
{
    char text[URI_SIZE];
    if (!uri && has_no_socket())
        return collect_fail(error, COLLECT_NONE,
                            "no libvirt at " LIBVIRT_DEFAULT_URI ": neither " SOCKETS
                            "virtqemud-sock-ro nor " SOCKETS "libvirt-sock-ro: No such file");
    uri = uri ? uri : LIBVIRT_DEFAULT_URI;
    if (!libvirt_uri_to_open(uri, text, sizeof(text)))
        return collect_fail(error, COLLECT_FAILED, "--connect: the URI is longer than %d bytes", URI_SIZE);
    if (libvirt_events_start(error->text, sizeof(error->text)) < 0)
        return COLLECT_FAILED;
    virConnectPtr handle = open_read_only(text);
    if (!handle)
        return open_failed(uri, error);
    struct libvirt_conn *conn = xzalloc(sizeof(*conn));
    conn->conn = handle;
    memcpy(conn->uri, uri, strlen(uri) + 1);
    conn->local = resolve_local(handle);
    conn->watch = watch_new();
    watch_for_loss(conn);
    if (with_events)
        watch_for_changes(conn);
    *out = conn;
    return COLLECT_OK;
}

void libvirt_conn_close(struct libvirt_conn *conn)
{
    if (!conn)
        return;
    for (size_t i = 0; i < conn->n_callbacks; i++)
        vir.ConnectDomainEventDeregisterAny(conn->conn, conn->callbacks[i]);
    if (conn->watched)
        vir.ConnectUnregisterCloseCallback(conn->conn, on_close);
    vir.ConnectClose(conn->conn);
    watch_unref(conn->watch);
    free(conn);
}

virConnectPtr libvirt_conn_get(const struct libvirt_conn *conn)
{
    return conn->conn;
}

const char *libvirt_conn_uri(const struct libvirt_conn *conn)
{
    return conn->uri;
}

bool libvirt_conn_is_local(const struct libvirt_conn *conn)
{
    return conn->local;
}

bool libvirt_conn_has_events(const struct libvirt_conn *conn)
{
    return conn->n_callbacks > 0;
}

const char *libvirt_conn_lost(const struct libvirt_conn *conn)
{
    static const char *const reasons[] = {
        [VIR_CONNECT_CLOSE_REASON_ERROR] = "the connection broke",
        [VIR_CONNECT_CLOSE_REASON_EOF] = "the daemon ended it",
        [VIR_CONNECT_CLOSE_REASON_KEEPALIVE] = "the daemon gave no sign for 6 s",
        [VIR_CONNECT_CLOSE_REASON_CLIENT] = "it was closed",
    };
    pthread_mutex_lock(&conn->watch->lock);
    bool lost = conn->watch->lost;
    int reason = conn->watch->lost_reason;
    pthread_mutex_unlock(&conn->watch->lock);
    if (lost)
        return reason >= 0 && reason < (int)(sizeof(reasons) / sizeof(reasons[0])) ? reasons[reason]
                                                                                   : reasons[0];
    return vir.ConnectIsAlive(conn->conn) == 0 ? reasons[0] : NULL;
}
