/* SPDX-License-Identifier: MIT */
/*
 * A strict JSON reader whose integers are exact from -2^63 to 2^64-1, which general libraries are not:
 * telemetry prints 64-bit counters as bare numbers. It reads a whole document in place into a flat array of
 * nodes, bounded in depth and size, and tolerates a key that comes twice in one object. Called by the parsers
 * of foreign replies; it knows nothing of what the documents mean and never touches a file or socket.
 */
#ifndef COLLECTORS_JSON_U64_H
#define COLLECTORS_JSON_U64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON64_DEPTH_MAX 8     /* telemetry nests 4 deep; deeper is not from a peer we know */
#define JSON64_NODES_MAX 65536 /* values in one document; 2.5 MB of nodes at most */

enum json64_type {
    JSON64_NULL,
    JSON64_BOOL,
    JSON64_INT,  /* a whole number that fits: exact */
    JSON64_REAL, /* a number with fraction or exponent, or one that fits no 64-bit integer: value not kept */
    JSON64_TEXT,
    JSON64_ARRAY,
    JSON64_OBJECT,
};

struct json64_node {
    enum json64_type type;
    bool negative;    /* INT: the value is -u */
    uint32_t next;    /* index of the node after this one and all its descendants */
    uint32_t n;       /* ARRAY, OBJECT: number of direct children */
    const char *key;  /* child of an object: its name, else NULL */
    const char *text; /* TEXT: valid UTF-8 without NUL; points into the document's bytes */
    uint64_t u;       /* INT: magnitude; BOOL: 0 or 1 */
};

/* Zero-initialise; reused from document to document, so that the steady state allocates nothing. */
struct json64 {
    struct json64_node *v; /* v[0] is the root; a node's children follow it */
    uint32_t n, cap;
};

/*
 * Reads text[0..len) and leaves the nodes in doc. The bytes are overwritten (strings are unescaped in place) and must
 * outlive the use of doc. False, with the cause and the offset in err, for anything but exactly one valid document.
 */
bool json64_parse(struct json64 *doc, char *text, size_t len, char *err, size_t errlen);
void json64_free(struct json64 *doc);

/* Children in order: for (c = json64_first(d, p); c; c = json64_next(d, p, c)). */
const struct json64_node *json64_first(const struct json64 *doc, const struct json64_node *parent);
const struct json64_node *json64_next(const struct json64 *doc, const struct json64_node *parent,
                                      const struct json64_node *child);

/* The first child of that name, or NULL (also if parent is NULL or no object). */
const struct json64_node *json64_get(const struct json64 *doc, const struct json64_node *parent,
                                     const char *key);

/* A whole number, or a text like "0x1f" (telemetry since 23.03). False leaves *out alone. Node may be NULL.
 */
bool json64_u64(const struct json64_node *node, uint64_t *out);
bool json64_i64(const struct json64_node *node, int64_t *out);

#endif
