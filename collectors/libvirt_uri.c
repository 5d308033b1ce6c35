/* SPDX-License-Identifier: MIT */
/* Texts of libvirt URIs (see libvirt_uri.h): driver[+transport]://[user@][host][:port]/path[?query]. */
#include "collectors/libvirt_uri.h"

#include <stdio.h>
#include <string.h>

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

static bool is_this_host(const char *host, size_t length)
{
    static const char *const names[] = {"", "localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_word(host, length, names[i]))
            return true;
    return false;
}

/* The host part, without user and port; its length in *length. */
static const char *host_of(const char *uri, size_t *length)
{
    const char *host = strstr(uri, "://");
    *length = 0;
    if (!host)
        return uri;
    host += 3;
    const char *end = host + strcspn(host, "/?#");
    const char *at = memchr(host, '@', (size_t)(end - host));
    if (at)
        host = at + 1;
    if (*host == '[') {
        const char *bracket = memchr(host, ']', (size_t)(end - host));
        end = bracket ? bracket + 1 : end;
    } else {
        const char *colon = memchr(host, ':', (size_t)(end - host));
        end = colon ? colon : end;
    }
    *length = (size_t)(end - host);
    return host;
}

bool libvirt_uri_is_local(const char *uri)
{
    size_t length;
    const char *host = host_of(uri, &length);
    return is_word(uri, strcspn(uri, "+:"), "qemu") && is_this_host(host, length);
}

bool libvirt_uri_is_alias(const char *uri)
{
    return strchr(uri, ':') == NULL;
}

static bool goes_by_ssh(const char *uri)
{
    static const char *const transports[] = {"ssh", "libssh", "libssh2"};
    const char *transport = uri + strcspn(uri, "+:");
    if (*transport++ != '+')
        return false;
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
        if (is_word(transport, strcspn(transport, ":"), transports[i]))
            return true;
    return false;
}

bool libvirt_uri_to_open(const char *uri, char *out, size_t size)
{
    const char *addition = "";
    if (goes_by_ssh(uri) && !strstr(uri, "no_tty="))
        addition = strchr(uri, '?') ? "&no_tty=1" : "?no_tty=1";
    int n = snprintf(out, size, "%s%s", uri, addition);
    return n >= 0 && (size_t)n < size;
}
