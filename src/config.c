/* SPDX-License-Identifier: MIT */
/* Reading and writing of `key = value` files (see config.h). */
#include "src/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/memory.h"
#include "src/utf8.h"

#define MAX_BYTES (1u << 20)

static char *read_file(const char *path, char *error, size_t error_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    char *text = xzalloc(MAX_BYTES + 1);
    size_t used = 0;
    ssize_t n;
    while ((n = read(fd, text + used, MAX_BYTES + 1 - used)) > 0)
        used += (size_t)n;
    int cause = errno;
    close(fd);
    if (n < 0 || used > MAX_BYTES || memchr(text, '\0', used)) {
        const char *why = n < 0 ? strerror(cause) : used > MAX_BYTES ? "larger than 1 MiB" : "not a text";
        snprintf(error, error_size, "%s: %s; it should hold lines of KEY = VALUE", path, why);
        free(text);
        errno = EINVAL;
        return NULL;
    }
    text[used] = '\0';
    return text;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && strchr(" \t\r", text[n - 1]))
        n--;
    text[n] = '\0';
    return text;
}

static int read_line(char *line, config_line_fn *take, void *context, char *error, size_t error_size)
{
    char *key = trim(line);
    if (*key == '\0' || *key == '#')
        return 0;
    char *equals = strchr(key, '=');
    if (!equals) {
        snprintf(error, error_size, "no `=`; write KEY = VALUE");
        return -1;
    }
    *equals = '\0';
    return take(context, trim(key), trim(equals + 1), error, error_size);
}

int config_read(const char *path, bool must_exist, config_line_fn *line, void *context, char **text,
                char *error, size_t error_size)
{
    error[0] = '\0';
    *text = read_file(path, error, error_size);
    if (!*text) {
        if (error[0])
            return -1;
        bool absent = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
        if (absent && !must_exist) /* or in a home that is another user's (sudo, setpriv) */
            return 1;
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        return -1;
    }
    unsigned number = 1;
    for (char *at = *text, *next; at; at = next, number++) {
        char reason[256];
        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        if (read_line(at, line, context, reason, sizeof(reason)) < 0) {
            snprintf(error, error_size, "%s:%u: %s", path, number, reason);
            utf8_make_printable(error);
            return -1;
        }
    }
    return 0;
}

bool config_path(char *path, size_t size, const char *name)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = -1;
    if (base && base[0] == '/')
        n = snprintf(path, size, "%s/vnettop/%s", base, name);
    else if (home && home[0] == '/')
        n = snprintf(path, size, "%s/.config/vnettop/%s", home, name);
    return n > 0 && (size_t)n < size;
}

static int make_folders(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) < 0 && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return 0;
}

static int write_all(int fd, const char *text)
{
    size_t n = strlen(text);
    for (size_t done = 0; done < n;) {
        ssize_t wrote = write(fd, text + done, n - done);
        if (wrote < 0 && errno != EINTR)
            return -1;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

int config_write(const char *path, const char *text, char *error, size_t error_size)
{
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    int fd = make_folders(path) < 0
                 ? -1
                 : open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = fd < 0 ? -1 : write_all(fd, text);
    int cause = errno;
    if (fd >= 0 && close(fd) < 0 && rc == 0) {
        rc = -1;
        cause = errno;
    }
    if (rc == 0 && rename(temporary, path) < 0) {
        rc = -1;
        cause = errno;
    }
    if (rc < 0) {
        snprintf(error, error_size, "%s: %s; the settings are not kept", path, strerror(cause));
        if (fd >= 0)
            unlink(temporary);
    }
    return rc;
}
