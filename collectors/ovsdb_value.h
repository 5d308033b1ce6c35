/* SPDX-License-Identifier: MIT */
/*
 * Values of the OVSDB protocol (RFC 7047, 5.1): decoding one column's JSON, and working out its new value
 * from the difference that update2 tells. Pure; used by ovsdb_mirror.c.
 */
#ifndef COLLECTORS_OVSDB_VALUE_H
#define COLLECTORS_OVSDB_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ovsdb_kind {
    OVSDB_SCALAR_STR, /* exactly one: "", 0 or false when an update leaves the default out */
    OVSDB_SCALAR_INT,
    OVSDB_SCALAR_BOOL,
    OVSDB_OPTIONAL, /* one or none */
    OVSDB_SET,
    OVSDB_MAP
};

enum ovsdb_atom_type { OVSDB_ATOM_INT, OVSDB_ATOM_BOOL, OVSDB_ATOM_REAL, OVSDB_ATOM_STR, OVSDB_ATOM_UUID };

struct ovsdb_atom {
    enum ovsdb_atom_type type;
    union {
        int64_t i; /* INT, BOOL */
        double r;
        char *s; /* STR, UUID: owned */
    };
};

/* n atoms, sorted; a map has as many values beside the keys, which are strings. All zero: absent. */
struct ovsdb_value {
    bool present;
    size_t n;
    struct ovsdb_atom *keys;
    struct ovsdb_atom *values;
};

/* False, and an absent value, when `json` is not of that kind. */
bool ovsdb_value_decode(const json_t *json, enum ovsdb_kind kind, struct ovsdb_value *value);

/* What a column holds when update2 leaves it out of a new row. */
void ovsdb_value_default(struct ovsdb_value *value, enum ovsdb_kind kind);

/* Turns `diff`, as update2 tells it, into the new value; takes atoms out of `old`. False without memory. */
bool ovsdb_value_resolve(struct ovsdb_value *old, struct ovsdb_value *diff, enum ovsdb_kind kind);

bool ovsdb_values_equal(const struct ovsdb_value *a, const struct ovsdb_value *b);

/* Index of a map's key, or n. */
size_t ovsdb_map_find(const struct ovsdb_value *map, const char *key);

void ovsdb_value_free(struct ovsdb_value *value);

#endif
