/* SPDX-License-Identifier: MIT */
/* Lists of keys and values on the command lines of hypervisors: contract in qemu_opts.h. Everything is copied
 * once into one text of bounded size, so that no option costs more than its own length. */
#include "collectors/qemu_opts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/procfs.h"

#define JSON_DEPTH_MAX 8   /* QEMU's deepest: chardev, backend, data, addr, data */
#define KEY_MAX        128 /* bytes of a dotted key */

static bool add_item(struct qemu_opts *out, const char *key, const char *value)
{
    if (out->n == QEMU_OPTS_MAX)
        return false;
    out->item[out->n++] = (struct qemu_opt){key, value};
    return true;
}

/* ---- key=value,... ---- */

/* Moves one part of the text, up to its comma, to *to and ends it there; returns where the next one begins.
 */
static const char *take_commas(const char *p, char **to)
{
    for (; *p; p++) {
        if (*p == ',' && *++p != ',') {
            *(*to)++ = '\0';
            return p;
        }
        *(*to)++ = *p;
    }
    *(*to)++ = '\0';
    return NULL;
}

static const char *take_brackets(const char *p, char **to)
{
    unsigned depth = 0;
    bool quoted = false;

    for (; *p; p++) {
        if (*p == ',' && depth == 0 && !quoted)
            break;
        if (*p == '"') {
            quoted = !quoted;
            continue;
        }
        depth += *p == '[';
        depth -= *p == ']' && depth > 0;
        *(*to)++ = *p;
    }
    *(*to)++ = '\0';
    return *p ? p + 1 : NULL;
}

static bool add_part(struct qemu_opts *out, char *part)
{
    char *equal = strchr(part, '=');

    if (*part == '\0')
        return true;
    if (!equal)
        return add_item(out, part, "on");
    *equal = '\0';
    return add_item(out, part, equal + 1);
}

/* QEMU looks for the "=" of a part before it undoes ",,": "g,,1=web" is the implied key's value "g,1=web". */
static bool starts_with_key(const char *p)
{
    return p[strcspn(p, "=,")] == '=';
}

static bool parse_parts(const char *text, enum qemu_opts_style style, const char *implied_key,
                        struct qemu_opts *out)
{
    const char *p = text;
    char *to;

    out->text = malloc(strlen(text) + 2);
    to = out->text;
    for (bool first = true; out->text && p; first = false) {
        const char *implied = first && !starts_with_key(p) ? implied_key : NULL;
        char *part = to;

        p = style == QEMU_OPTS_COMMAS ? take_commas(p, &to) : take_brackets(p, &to);
        if (implied && *part ? !add_item(out, implied, part) : !add_part(out, part))
            return false;
    }
    return out->text != NULL;
}

/* ---- JSON ---- */

struct json_walk {
    struct qemu_opts *out;
    char *to;
    size_t left;
    unsigned depth;
};

static const char *keep_text(struct json_walk *w, const char *text)
{
    size_t n = strlen(text) + 1;
    char *kept = w->to;

    if (n > w->left)
        return NULL;
    memcpy(kept, text, n);
    w->to += n;
    w->left -= n;
    return kept;
}

static bool add_scalar(struct json_walk *w, const char *key, const json_t *value)
{
    char number[32];
    const char *text = number, *kept_key, *kept_value;

    if (json_is_string(value))
        text = json_string_value(value);
    else if (json_is_integer(value))
        snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_boolean(value))
        text = json_is_true(value) ? "on" : "off";
    else
        return true;
    kept_key = keep_text(w, key);
    kept_value = keep_text(w, text);
    return kept_key && kept_value && add_item(w->out, kept_key, kept_value);
}

/* Arrays are passed over: no option that is read here has one. */
static bool walk_object(struct json_walk *w, const char *prefix, json_t *object)
{
    const char *name;
    json_t *value;

    if (++w->depth > JSON_DEPTH_MAX)
        return false;
    json_object_foreach(object, name, value)
    {
        char key[KEY_MAX];
        int n = snprintf(key, sizeof(key), "%s%s%s", prefix, *prefix ? "." : "", name);

        if (n < 0 || (size_t)n >= sizeof(key))
            return false;
        if (json_is_object(value) ? !walk_object(w, key, value) : !add_scalar(w, key, value))
            return false;
    }
    w->depth--;
    return true;
}

static bool parse_json(const char *text, struct qemu_opts *out)
{
    json_t *root = json_loads(text, 0, NULL);
    size_t size = strlen(text) + QEMU_OPTS_MAX * (KEY_MAX + 32);
    struct json_walk w = {.out = out, .left = size};
    bool ok = false;

    if (json_is_object(root)) {
        out->text = malloc(size);
        w.to = out->text;
        ok = out->text && walk_object(&w, "", root);
    }
    json_decref(root);
    return ok;
}

/* ---- the list ---- */

bool qemu_opts_parse(const char *text, enum qemu_opts_style style, const char *implied_key,
                     struct qemu_opts *out)
{
    out->n = 0;
    out->text = NULL;
    if (style == QEMU_OPTS_COMMAS && *text == '{')
        return parse_json(text, out);
    return parse_parts(text, style, implied_key, out);
}

void qemu_opts_free(struct qemu_opts *opts)
{
    if (!opts)
        return;
    free(opts->text);
    opts->text = NULL;
    opts->n = 0;
}

const char *qemu_opts_get(const struct qemu_opts *opts, const char *key)
{
    for (size_t i = opts->n; i > 0; i--) {
        if (strcmp(opts->item[i - 1].key, key) == 0)
            return opts->item[i - 1].value;
    }
    return NULL;
}

bool qemu_opts_copy(const struct qemu_opts *opts, const char *key, char *dst, size_t size)
{
    const char *value = qemu_opts_get(opts, key);
    size_t n = value ? strlen(value) : 0;

    *dst = '\0';
    if (!value || n >= size)
        return false;
    memcpy(dst, value, n + 1);
    return true;
}

bool qemu_opts_bool(const struct qemu_opts *opts, const char *key, bool fallback)
{
    static const char *const WORDS[] = {"on", "off", "yes", "no", "true", "false", "y", "n", "1", "0"};
    const char *value = qemu_opts_get(opts, key);

    for (size_t i = 0; value && i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        if (strcmp(value, WORDS[i]) == 0)
            return i % 2 == 0;
    }
    return fallback;
}

uint64_t qemu_opts_u64(const struct qemu_opts *opts, const char *key, uint64_t fallback)
{
    const char *value = qemu_opts_get(opts, key);
    uint64_t v;

    return value && procfs_parse_u64(value, strlen(value), &v) ? v : fallback;
}

/* 1024 to the power that the suffix stands for, the unit without suffix, 0 when there is no such suffix. */
static uint64_t suffix_factor(const char *suffix, uint64_t unit)
{
    static const char LETTERS[] = "BKMGTPE";
    const char *at;

    if (*suffix == '\0')
        return unit;
    at = strchr(LETTERS, *suffix >= 'a' ? *suffix - 'a' + 'A' : *suffix);
    if (!at || suffix[1] != '\0')
        return 0;
    return UINT64_C(1) << (10 * (at - LETTERS));
}

bool qemu_opts_size(const char *text, uint64_t unit, uint64_t *bytes)
{
    size_t whole = strspn(text, "0123456789");
    size_t decimals = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    const char *suffix = text + whole + (decimals ? decimals + 1 : 0);
    uint64_t v, tenths = 0, scale = 1, factor = suffix_factor(suffix, unit), total;

    if (!procfs_parse_u64(text, whole, &v) || factor == 0 || __builtin_mul_overflow(v, factor, &total))
        return false;
    for (size_t i = 0; i < decimals && i < 9; i++) {
        tenths = tenths * 10 + (uint64_t)(text[whole + 1 + i] - '0');
        scale *= 10;
    }
    return !__builtin_add_overflow(total, (uint64_t)((unsigned __int128)tenths * factor / scale), bytes);
}
