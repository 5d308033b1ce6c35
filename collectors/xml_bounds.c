/* SPDX-License-Identifier: MIT */
/* A count of tags and attributes without a parser: contract in xml_bounds.h. */
#include "collectors/xml_bounds.h"

#include <stdbool.h>
#include <string.h>

/* Markup in which quotes and angles mean nothing. */
static const struct {
    const char *open;
    const char *close;
} SKIPPED[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};

/* Behind such markup when p begins with it, the end when it never closes, else NULL. */
static const char *skip_markup(const char *p, const char *end)
{
    for (size_t i = 0; i < sizeof(SKIPPED) / sizeof(SKIPPED[0]); i++) {
        size_t n = strlen(SKIPPED[i].open), c = strlen(SKIPPED[i].close);
        const char *close;

        if ((size_t)(end - p) < n || memcmp(p, SKIPPED[i].open, n) != 0)
            continue;
        close = memmem(p + n, (size_t)(end - p) - n, SKIPPED[i].close, c);
        return close ? close + c : end;
    }
    return NULL;
}

/* Behind the tag that p is in; false when it has too many attributes. Each has one pair of quotes. */
static bool skip_tag(const char **at, const char *end)
{
    unsigned attrs = 0;
    const char *p = *at;

    while (p < end && *p != '>') {
        const char *close = NULL;

        if (*p == '"' || *p == '\'') {
            if (++attrs > XML_BOUNDS_ATTRS)
                return false;
            close = memchr(p + 1, *p, (size_t)(end - p - 1));
            p = close ? close : end - 1;
        }
        p++;
    }
    *at = p;
    return true;
}

const char *xml_bounds_exceeded(const char *text, size_t len)
{
    const char *end = text + len, *p = text;
    unsigned tags = 0;

    while (p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        const char *behind = skip_markup(p, end);

        if (behind) {
            p = behind;
            continue;
        }
        if (++tags > XML_BOUNDS_TAGS)
            return "too many elements";
        if (!skip_tag(&p, end))
            return "too many attributes in one element";
    }
    return NULL;
}
