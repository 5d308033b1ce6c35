/* SPDX-License-Identifier: MIT */
/* One value of a hypervisor's option, such as "tap,id=n0,ifname=t1" or {"type":"tap","id":"n0"}, as a list of
 * keys and values. The parsers of command lines call it. It must not know what any key means. */
#ifndef VNETTOP_QEMU_OPTS_H
#define VNETTOP_QEMU_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_OPTS_MAX 128 /* keys of one option; the longest real ones have about 40 */

struct qemu_opt {
    const char *key;
    const char *value;
};

struct qemu_opts {
    struct qemu_opt item[QEMU_OPTS_MAX];
    size_t n;
    char *text; /* what the items point into */
};

enum qemu_opts_style {
    QEMU_OPTS_COMMAS,   /* QEMU: ",," is a comma; a text that begins with "{" is JSON */
    QEMU_OPTS_BRACKETS, /* cloud-hypervisor: commas inside [] and "" belong to the value */
};

/* A first part without "=" is the value of implied_key; any other part without "=" has the value "on".
 * Members of nested JSON objects get dotted keys. False when it is not such a text, or longer than the
 * bounds. qemu_opts_free is due in both cases. */
bool qemu_opts_parse(const char *text, enum qemu_opts_style style, const char *implied_key,
                     struct qemu_opts *out);
void qemu_opts_free(struct qemu_opts *opts);

/* The value, the last one when the key came twice, or NULL. */
const char *qemu_opts_get(const struct qemu_opts *opts, const char *key);
/* Copies the value; leaves dst empty, and returns false, when there is none or it does not fit whole. */
bool qemu_opts_copy(const struct qemu_opts *opts, const char *key, char *dst, size_t size);
/* on, yes, true, y, 1 and off, no, false, n, 0; otherwise the fallback. */
bool qemu_opts_bool(const struct qemu_opts *opts, const char *key, bool fallback);
/* A decimal number, or the fallback. */
uint64_t qemu_opts_u64(const struct qemu_opts *opts, const char *key, uint64_t fallback);
/* A size in bytes: "512", "4G", "1.5G"; a number without suffix is multiplied by unit. False when malformed.
 */
bool qemu_opts_size(const char *text, uint64_t unit, uint64_t *bytes);

#endif
