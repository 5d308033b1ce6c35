/* SPDX-License-Identifier: MIT */
/*
 * A strict JSON reader with exact 64-bit integers: see json_u64.h. One pass, strings unescaped in place (an
 * escape is never shorter than what it stands for), recursion bounded by JSON64_DEPTH_MAX. Called by the
 * telemetry parsers; it must not know what a document means.
 */
#include "collectors/json_u64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct json64 *doc;
    unsigned char *start, *p, *end;
    const char *why; /* first cause of failure */
};

static bool fail(struct reader *r, const char *why)
{
    if (!r->why)
        r->why = why;
    return false;
}

static void skip_space(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
        r->p++;
}

/* Returns the index of a new node, or -1. Nodes move when the array grows: hold indexes, not pointers. */
static int64_t add_node(struct reader *r, enum json64_type type, const char *key)
{
    struct json64 *doc = r->doc;
    if (doc->n == doc->cap) {
        uint32_t cap = doc->cap ? doc->cap * 2 : 256;
        if (cap > JSON64_NODES_MAX) {
            fail(r, "too many values");
            return -1;
        }
        struct json64_node *v = realloc(doc->v, cap * sizeof *v);
        if (!v) {
            fail(r, "out of memory");
            return -1;
        }
        doc->v = v;
        doc->cap = cap;
    }
    doc->v[doc->n] = (struct json64_node){.type = type, .key = key, .next = doc->n + 1};
    return doc->n++;
}

/* Length of the well-formed UTF-8 sequence at p (RFC 3629: no overlong form, no surrogate, at most U+10FFFF),
 * or 0. */
static size_t utf8_length(const unsigned char *p, const unsigned char *end)
{
    size_t n = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    if (n == 0 || (size_t)(end - p) < n)
        return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

static int hex_digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hex digits at r->p, which then stands behind them. */
static bool read_hex4(struct reader *r, uint32_t *out)
{
    uint32_t v = 0;
    if (r->end - r->p < 4)
        return fail(r, "escape cut short");
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*r->p++);
        if (digit < 0)
            return fail(r, "bad \\u escape");
        v = v << 4 | (uint32_t)digit;
    }
    *out = v;
    return true;
}

static unsigned char *put_utf8(unsigned char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (unsigned char)c;
        return out;
    }
    if (c < 0x800) {
        *out++ = (unsigned char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *out++ = (unsigned char)(0xe0 | c >> 12);
        } else {
            *out++ = (unsigned char)(0xf0 | c >> 18);
            *out++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));
        }
        *out++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));
    }
    *out++ = (unsigned char)(0x80 | (c & 0x3f));
    return out;
}

/* The part of \uXXXX after the u, with its second half for characters above U+FFFF. NUL is refused: it would
 * cut. */
static bool read_unicode(struct reader *r, unsigned char **out)
{
    uint32_t c, low;
    if (!read_hex4(r, &c))
        return false;
    if (c >= 0xd800 && c <= 0xdbff) {
        if (r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u')
            return fail(r, "lone surrogate");
        r->p += 2;
        if (!read_hex4(r, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(r, "lone surrogate");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c <= 0xdfff) {
        return fail(r, "lone surrogate");
    } else if (c == 0) {
        return fail(r, "NUL in a text");
    }
    *out = put_utf8(*out, c);
    return true;
}

static bool read_escape(struct reader *r, unsigned char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->p == r->end)
        return fail(r, "text not ended");
    unsigned char c = *r->p++;
    if (c == 'u')
        return read_unicode(r, out);
    const char *at = c ? strchr(from, c) : NULL;
    if (!at)
        return fail(r, "bad escape");
    *(*out)++ = (unsigned char)to[at - from];
    return true;
}

/* The text whose opening quote r->p stands behind; NULL on failure. */
static const char *read_text(struct reader *r)
{
    unsigned char *text = r->p, *out = r->p;
    while (r->p < r->end) {
        unsigned char c = *r->p;
        if (c == '"') {
            r->p++;
            *out = '\0'; /* at the latest upon the closing quote */
            return (const char *)text;
        }
        if (c == '\\') {
            r->p++;
            if (!read_escape(r, &out))
                return NULL;
            continue;
        }
        size_t n = c < 0x80 ? 1 : utf8_length(r->p, r->end);
        if (c < 0x20 || n == 0) {
            fail(r, c < 0x20 ? "control character in a text" : "text is not UTF-8");
            return NULL;
        }
        memmove(out, r->p, n);
        out += n;
        r->p += n;
    }
    fail(r, "text not ended");
    return NULL;
}

static bool skip_digits(struct reader *r)
{
    unsigned char *from = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return r->p > from || fail(r, "digit expected");
}

/* The digits in [p,end) as a number; false if it does not fit, also as a negative one. */
static bool digits_to_u64(const unsigned char *p, const unsigned char *end, bool negative, uint64_t *out)
{
    uint64_t v = 0;
    for (; p < end; p++) {
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
            return false;
    }
    if (negative && v > (uint64_t)INT64_MAX + 1)
        return false;
    *out = v;
    return true;
}

static bool read_number(struct reader *r, const char *key)
{
    bool negative = *r->p == '-', whole = true;
    uint64_t u = 0;
    r->p += negative;
    unsigned char *digits = r->p;
    if (!skip_digits(r))
        return false;
    unsigned char *digits_end = r->p;
    if (*digits == '0' && digits_end - digits > 1)
        return fail(r, "number with a leading zero");
    if (r->p < r->end && *r->p == '.') {
        whole = false;
        r->p++;
        if (!skip_digits(r))
            return false;
    }
    if (r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
        whole = false;
        r->p++;
        if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
            r->p++;
        if (!skip_digits(r))
            return false;
    }
    whole = whole && digits_to_u64(digits, digits_end, negative, &u);
    int64_t at = add_node(r, whole ? JSON64_INT : JSON64_REAL, key);
    if (at < 0)
        return false;
    r->doc->v[at].u = u;
    r->doc->v[at].negative = negative && u != 0;
    return true;
}

static bool read_word(struct reader *r, const char *key)
{
    static const struct {
        const char *word;
        enum json64_type type;
        uint64_t u;
    } words[] = {{"null", JSON64_NULL, 0}, {"true", JSON64_BOOL, 1}, {"false", JSON64_BOOL, 0}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->p) < n || memcmp(r->p, words[i].word, n) != 0)
            continue;
        r->p += n;
        int64_t at = add_node(r, words[i].type, key);
        if (at >= 0)
            r->doc->v[at].u = words[i].u;
        return at >= 0;
    }
    return fail(r, "value expected");
}

static bool read_value(struct reader *r, const char *key, int depth);

static bool read_key(struct reader *r, const char **key)
{
    skip_space(r);
    if (r->p == r->end || *r->p != '"')
        return fail(r, "name expected");
    r->p++;
    *key = read_text(r);
    if (!*key)
        return false;
    skip_space(r);
    if (r->p == r->end || *r->p != ':')
        return fail(r, "':' expected");
    r->p++;
    return true;
}

/* An array or object; r->p stands upon its opening bracket. */
static bool read_list(struct reader *r, const char *own_key, int depth)
{
    bool object = *r->p == '{';
    unsigned char close = object ? '}' : ']';
    if (depth >= JSON64_DEPTH_MAX)
        return fail(r, "nested too deep");
    int64_t at = add_node(r, object ? JSON64_OBJECT : JSON64_ARRAY, own_key);
    if (at < 0)
        return false;
    r->p++;
    skip_space(r);
    bool empty = r->p < r->end && *r->p == close;
    for (r->p += empty; !empty;) {
        const char *key = NULL;
        if ((object && !read_key(r, &key)) || !read_value(r, key, depth + 1))
            return false;
        r->doc->v[at].n++;
        skip_space(r);
        if (r->p == r->end || (*r->p != ',' && *r->p != close))
            return fail(r, "',' or closing bracket expected");
        if (*r->p++ == close)
            break;
    }
    r->doc->v[at].next = r->doc->n;
    return true;
}

static bool read_value(struct reader *r, const char *key, int depth)
{
    skip_space(r);
    if (r->p == r->end)
        return fail(r, "value expected");
    if (*r->p == '{' || *r->p == '[')
        return read_list(r, key, depth);
    if (*r->p == '-' || (*r->p >= '0' && *r->p <= '9'))
        return read_number(r, key);
    if (*r->p != '"')
        return read_word(r, key);
    r->p++;
    const char *text = read_text(r);
    int64_t at = text ? add_node(r, JSON64_TEXT, key) : -1;
    if (at >= 0)
        r->doc->v[at].text = text;
    return at >= 0;
}

bool json64_parse(struct json64 *doc, char *text, size_t len, char *err, size_t errlen)
{
    unsigned char *bytes = (unsigned char *)text;
    struct reader r = {.doc = doc, .start = bytes, .p = bytes, .end = bytes + len};
    doc->n = 0;
    bool good = read_value(&r, NULL, 0);
    if (good) {
        skip_space(&r);
        good = r.p == r.end || fail(&r, "more after the end");
    }
    if (!good) {
        snprintf(err, errlen, "%s at byte %zu", r.why ? r.why : "unreadable", (size_t)(r.p - r.start));
        doc->n = 0;
    }
    return good;
}

void json64_free(struct json64 *doc)
{
    if (!doc)
        return;
    free(doc->v);
    *doc = (struct json64){0};
}

const struct json64_node *json64_first(const struct json64 *doc, const struct json64_node *parent)
{
    if (!parent || parent->n == 0)
        return NULL;
    return &doc->v[parent - doc->v + 1];
}

const struct json64_node *json64_next(const struct json64 *doc, const struct json64_node *parent,
                                      const struct json64_node *child)
{
    return child->next < parent->next ? &doc->v[child->next] : NULL;
}

const struct json64_node *json64_get(const struct json64 *doc, const struct json64_node *parent,
                                     const char *key)
{
    if (!parent || parent->type != JSON64_OBJECT)
        return NULL;
    for (const struct json64_node *c = json64_first(doc, parent); c; c = json64_next(doc, parent, c))
        if (strcmp(c->key, key) == 0)
            return c;
    return NULL;
}

/* "0x" and 1 to 16 hex digits, nothing else. */
static bool hex_to_u64(const char *s, uint64_t *out)
{
    uint64_t v = 0;
    if (s[0] != '0' || (s[1] != 'x' && s[1] != 'X'))
        return false;
    size_t n = strlen(s + 2);
    if (n < 1 || n > 16)
        return false;
    for (s += 2; *s; s++) {
        int digit = hex_digit((unsigned char)*s);
        if (digit < 0)
            return false;
        v = v << 4 | (uint64_t)digit;
    }
    *out = v;
    return true;
}

bool json64_u64(const struct json64_node *node, uint64_t *out)
{
    if (node && node->type == JSON64_TEXT)
        return hex_to_u64(node->text, out);
    if (!node || node->type != JSON64_INT || node->negative)
        return false;
    *out = node->u;
    return true;
}

bool json64_i64(const struct json64_node *node, int64_t *out)
{
    if (!node || node->type != JSON64_INT)
        return false;
    if (!node->negative && node->u > INT64_MAX)
        return false;
    *out = node->negative ? (int64_t)(0 - node->u) : (int64_t)node->u;
    return true;
}
