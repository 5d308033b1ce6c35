/* SPDX-License-Identifier: MIT */
/*
 * Text helpers and the small parsers declared in ovs_text.h; used by ovs_pmd.c, ovs_dpctl.c and the OVS
 * collector. Pure: no clock, no files, no state.
 */
#include "collectors/ovs_text.h"

#include <stdlib.h>
#include <string.h>

struct ovs_span ovs_span_of(const char *text)
{
    return (struct ovs_span){.s = text, .len = strlen(text)};
}

bool ovs_span_is(struct ovs_span span, const char *text)
{
    return strlen(text) == span.len && (span.len == 0 || memcmp(span.s, text, span.len) == 0);
}

bool ovs_span_starts(struct ovs_span span, const char *prefix)
{
    size_t len = strlen(prefix);
    return span.len >= len && memcmp(span.s, prefix, len) == 0;
}

bool ovs_span_ends(struct ovs_span span, const char *suffix)
{
    size_t len = strlen(suffix);
    return span.len >= len && memcmp(span.s + span.len - len, suffix, len) == 0;
}

struct ovs_span ovs_span_from(struct ovs_span span, size_t offset)
{
    offset = offset < span.len ? offset : span.len;
    return (struct ovs_span){.s = span.s + offset, .len = span.len - offset};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct ovs_span ovs_span_trim(struct ovs_span span)
{
    while (span.len > 0 && is_blank(span.s[0])) {
        span.s++;
        span.len--;
    }
    while (span.len > 0 && is_blank(span.s[span.len - 1]))
        span.len--;
    return span;
}

bool ovs_take(struct ovs_span *span, const char *prefix)
{
    if (!ovs_span_starts(*span, prefix))
        return false;
    *span = ovs_span_from(*span, strlen(prefix));
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number ends where no digit, point, sign or letter follows: "12abc" and "1e9" are none. */
static bool ends_number(struct ovs_span rest)
{
    if (rest.len == 0)
        return true;
    char c = rest.s[0];
    return !is_digit(c) && c != '.' && c != '-' && c != '+' && c != '_' &&
           !((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* The digits at the front, without a look at what follows. */
static bool take_digits(struct ovs_span *span, uint64_t *value)
{
    uint64_t v = 0;
    size_t i = 0;

    for (; i < span->len && is_digit(span->s[i]); i++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(span->s[i] - '0'), &v))
            return false;
    if (i == 0)
        return false;
    *value = v;
    *span = ovs_span_from(*span, i);
    return true;
}

bool ovs_take_u64(struct ovs_span *span, uint64_t *value)
{
    struct ovs_span rest = *span;
    uint64_t v;

    if (!take_digits(&rest, &v) || !ends_number(rest))
        return false;
    *span = rest;
    *value = v;
    return true;
}

/* The digits behind a decimal point; those beyond a double's precision are read past. */
static bool take_fraction(struct ovs_span *span, double *value)
{
    double scale = 1;
    uint64_t v = 0;
    size_t i = 0;

    for (; i < span->len && is_digit(span->s[i]); i++) {
        if (i < 15) {
            v = v * 10 + (uint64_t)(span->s[i] - '0');
            scale *= 10;
        }
    }
    *value += (double)v / scale;
    *span = ovs_span_from(*span, i);
    return i > 0;
}

bool ovs_take_decimal(struct ovs_span *span, double *value)
{
    struct ovs_span rest = *span;
    bool negative = ovs_take(&rest, "-");
    uint64_t whole;

    if (!take_digits(&rest, &whole))
        return false;
    double v = (double)whole;
    if (ovs_take(&rest, ".") && !take_fraction(&rest, &v))
        return false;
    if (!ends_number(rest))
        return false;
    *span = rest;
    *value = negative ? -v : v;
    return true;
}

bool ovs_next_line(struct ovs_span *rest, struct ovs_span *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->s, '\n', rest->len);
    line->s = rest->s;
    line->len = end ? (size_t)(end - rest->s) : rest->len;
    *rest = ovs_span_from(*rest, line->len + 1);
    return true;
}

bool ovs_split_label(struct ovs_span line, struct ovs_span *label, struct ovs_span *value)
{
    const char *colon = line.len ? memchr(line.s, ':', line.len) : NULL;
    if (!colon)
        return false;
    size_t at = (size_t)(colon - line.s);
    *label = ovs_span_trim((struct ovs_span){.s = line.s, .len = at});
    *value = ovs_span_trim(ovs_span_from(line, at + 1));
    return true;
}

bool ovs_field_u64(struct ovs_span line, const char *label, uint64_t *value)
{
    size_t len = strlen(label);

    for (size_t i = 0; i + len <= line.len; i++) {
        if (i > 0 && !is_blank(line.s[i - 1]) && line.s[i - 1] != '(')
            continue;
        if (memcmp(line.s + i, label, len) == 0) {
            struct ovs_span rest = ovs_span_from(line, i + len);
            return ovs_take_u64(&rest, value);
        }
    }
    return false;
}

bool ovs_grow(void **items, size_t *cap, size_t n, size_t size, size_t max)
{
    if (n < *cap)
        return true;
    if (n >= max)
        return false;
    size_t more = *cap ? *cap * 2 : 16;
    more = more < max ? more : max;
    void *grown = realloc(*items, more * size);
    if (!grown)
        return false;
    *items = grown;
    *cap = more;
    return true;
}

/* ---- coverage ---- */

/* "name  0.0/sec  0.000/sec  0.0000/sec   total: N" */
static bool parse_coverage_line(struct ovs_span line, struct ovs_coverage *item)
{
    size_t len = 0;
    while (len < line.len && !is_blank(line.s[len]))
        len++;
    item->name = (struct ovs_span){.s = line.s, .len = len};
    line = ovs_span_from(line, len);
    return len > 0 && ovs_field_u64(line, "total: ", &item->total);
}

void ovs_coverage_parse(struct ovs_coverage_list *list, struct ovs_span text)
{
    struct ovs_coverage item;
    struct ovs_span line;

    list->n = 0;
    list->truncated = false;
    while (ovs_next_line(&text, &line)) {
        if (!parse_coverage_line(line, &item))
            continue;
        if (!ovs_grow((void **)&list->items, &list->cap, list->n, sizeof(item), OVS_MAX_COVERAGE)) {
            list->truncated = true;
            return;
        }
        list->items[list->n++] = item;
    }
}

bool ovs_coverage_total(const struct ovs_coverage_list *list, const char *name, uint64_t *total)
{
    for (size_t i = 0; i < list->n; i++) {
        if (ovs_span_is(list->items[i].name, name)) {
            *total = list->items[i].total;
            return true;
        }
    }
    return false;
}

void ovs_coverage_free(struct ovs_coverage_list *list)
{
    free(list->items);
    *list = (struct ovs_coverage_list){0};
}

bool ovs_coverage_read(struct ovs_span text, uint64_t *total)
{
    struct ovs_span line;
    return ovs_next_line(&text, &line) && ovs_take_u64(&line, total) && line.len == 0 && text.len == 0;
}

/* ---- upcalls ---- */

/* Value `which` is the number behind `field` on the line of `label`. */
static const struct {
    const char *label;
    const char *field;
    enum ovs_upcall_value which;
} upcall_fields[] = {
    {"flows", "current ", OVS_UPCALL_FLOWS},       {"flows", "avg ", OVS_UPCALL_FLOWS_AVG},
    {"flows", "max ", OVS_UPCALL_FLOWS_MAX},       {"flows", "limit ", OVS_UPCALL_LIMIT},
    {"offloaded flows", "", OVS_UPCALL_OFFLOADED},
};

static void set_upcall(struct ovs_upcall *item, enum ovs_upcall_value which, uint64_t value)
{
    item->v[which] = value;
    item->has |= 1u << which;
}

static void parse_upcall_line(struct ovs_upcall *item, struct ovs_span line)
{
    struct ovs_span label, value;
    uint64_t v;

    if (!ovs_split_label(line, &label, &value))
        return;
    for (size_t i = 0; i < sizeof(upcall_fields) / sizeof(upcall_fields[0]); i++)
        if (ovs_span_is(label, upcall_fields[i].label) && ovs_field_u64(value, upcall_fields[i].field, &v))
            set_upcall(item, upcall_fields[i].which, v);
    if (ovs_span_is(label, "dump duration") && ovs_span_ends(value, "ms")) {
        value.len -= 2;
        if (ovs_take_u64(&value, &v) && value.len == 0)
            set_upcall(item, OVS_UPCALL_DUMP_MS, v);
    }
}

size_t ovs_upcall_parse(struct ovs_upcall *items, size_t max, struct ovs_span text)
{
    struct ovs_span line;
    size_t n = 0;

    while (ovs_next_line(&text, &line)) {
        bool indented = line.len > 0 && is_blank(line.s[0]);
        if (!indented && ovs_span_ends(line, ":")) {
            line.len--;
            if (n < max)
                items[n] = (struct ovs_upcall){.datapath = line};
            n++;
        } else if (indented && n > 0 && n <= max) {
            parse_upcall_line(&items[n - 1], line);
        }
    }
    return n;
}

/* ---- memory ---- */

bool ovs_memory_value(struct ovs_span text, const char *key, uint64_t *value)
{
    struct ovs_span label;

    while (ovs_split_label(text, &label, &text)) {
        uint64_t v;
        if (!ovs_take_u64(&text, &v))
            return false;
        if (ovs_span_is(label, key)) {
            *value = v;
            return true;
        }
    }
    return false;
}
