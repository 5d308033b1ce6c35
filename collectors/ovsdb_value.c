/* SPDX-License-Identifier: MIT */
/*
 * Values of the OVSDB protocol, declared in ovsdb_value.h. Sets and maps are kept sorted, so that comparing,
 * merging and finding are one pass each whatever the server sends. Pure.
 */
#include "collectors/ovsdb_value.h"

#include <stdlib.h>
#include <string.h>

/* ---- atoms ---- */

static bool has_string(const struct ovsdb_atom *atom)
{
    return atom->type == OVSDB_ATOM_STR || atom->type == OVSDB_ATOM_UUID;
}

static void free_atom(struct ovsdb_atom *atom)
{
    if (has_string(atom))
        free(atom->s);
}

static int compare_atoms(const struct ovsdb_atom *a, const struct ovsdb_atom *b)
{
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (has_string(a))
        return strcmp(a->s, b->s);
    if (a->type == OVSDB_ATOM_REAL)
        return (a->r > b->r) - (a->r < b->r);
    return (a->i > b->i) - (a->i < b->i);
}

/* ["uuid", "..."] */
static bool decode_uuid(const json_t *json, struct ovsdb_atom *atom)
{
    const char *tag = json_string_value(json_array_get(json, 0));
    const char *uuid = json_string_value(json_array_get(json, 1));
    char *copy;

    if (json_array_size(json) != 2 || !tag || !uuid || strcmp(tag, "uuid") != 0 || !(copy = strdup(uuid)))
        return false;
    *atom = (struct ovsdb_atom){.type = OVSDB_ATOM_UUID, .s = copy};
    return true;
}

static bool decode_string(const json_t *json, struct ovsdb_atom *atom)
{
    char *copy = strdup(json_string_value(json));
    if (copy)
        *atom = (struct ovsdb_atom){.type = OVSDB_ATOM_STR, .s = copy};
    return copy != NULL;
}

static bool decode_atom(const json_t *json, struct ovsdb_atom *atom)
{
    switch (json ? json_typeof(json) : JSON_NULL) {
    case JSON_STRING:
        return decode_string(json, atom);
    case JSON_INTEGER:
        *atom = (struct ovsdb_atom){.type = OVSDB_ATOM_INT, .i = json_integer_value(json)};
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        *atom = (struct ovsdb_atom){.type = OVSDB_ATOM_BOOL, .i = json_is_true(json)};
        return true;
    case JSON_REAL:
        *atom = (struct ovsdb_atom){.type = OVSDB_ATOM_REAL, .r = json_real_value(json)};
        return true;
    case JSON_ARRAY:
        return decode_uuid(json, atom);
    default:
        return false;
    }
}

/* ---- decoding ---- */

/* A set's element is a key alone. */
struct item {
    struct ovsdb_atom key, value;
};

static int compare_items(const void *a, const void *b)
{
    return compare_atoms(&((const struct item *)a)->key, &((const struct item *)b)->key);
}

static void free_item(struct item *item)
{
    free_atom(&item->key);
    free_atom(&item->value);
}

static bool make_room(struct ovsdb_value *value, size_t n, bool map)
{
    value->present = true;
    value->keys = calloc(n ? n : 1, sizeof(*value->keys));
    value->values = map ? calloc(n ? n : 1, sizeof(*value->values)) : NULL;
    return value->keys && (!map || value->values);
}

/* Moves sorted items into `value`; of several with one key one stays. */
static bool store_items(struct item *items, size_t n, bool map, struct ovsdb_value *value)
{
    bool room = make_room(value, n, map);

    for (size_t i = 0; i < n; i++) {
        bool twice = room && value->n > 0 && compare_atoms(&value->keys[value->n - 1], &items[i].key) == 0;
        if (!room || twice) {
            free_item(&items[i]);
            continue;
        }
        if (map)
            value->values[value->n] = items[i].value;
        value->keys[value->n++] = items[i].key;
    }
    return room;
}

/* One element of a set, or one [key, value] of a map, whose key must be a string. */
static bool decode_item(const json_t *json, bool map, struct item *item)
{
    if (!map)
        return decode_atom(json, &item->key);
    if (json_array_size(json) != 2 || !json_is_string(json_array_get(json, 0)))
        return false;
    return decode_atom(json_array_get(json, 0), &item->key) &&
           decode_atom(json_array_get(json, 1), &item->value);
}

/* The members of ["set", [...]] or ["map", [...]]; NULL when `json` is not that. */
static const json_t *members_of(const json_t *json, const char *tag)
{
    const char *found = json_string_value(json_array_get(json, 0));
    const json_t *members = json_array_get(json, 1);

    if (json_array_size(json) != 2 || !found || strcmp(found, tag) != 0 || !json_is_array(members))
        return NULL;
    return members;
}

/* A set of one element may stand without the brackets, a map may not. */
static bool decode_items(const json_t *json, bool map, struct ovsdb_value *value)
{
    const json_t *members = members_of(json, map ? "map" : "set");
    if (map && !members)
        return false;
    size_t n = members ? json_array_size(members) : 1, decoded = 0;
    struct item *items = calloc(n + 1, sizeof(*items));
    if (!items)
        return false;
    while (decoded < n &&
           decode_item(members ? json_array_get(members, decoded) : json, map, &items[decoded]))
        decoded++;
    free_item(&items[decoded]); /* one that failed halfway; the spare one otherwise */
    qsort(items, decoded, sizeof(*items), compare_items);
    bool stored = store_items(items, decoded, map, value);
    free(items);
    return stored && decoded == n;
}

bool ovsdb_value_decode(const json_t *json, enum ovsdb_kind kind, struct ovsdb_value *value)
{
    bool many = kind == OVSDB_SET || kind == OVSDB_MAP;

    if (decode_items(json, kind == OVSDB_MAP, value) && (many || value->n <= 1))
        return true;
    ovsdb_value_free(value);
    return false;
}

void ovsdb_value_default(struct ovsdb_value *value, enum ovsdb_kind kind)
{
    if (!make_room(value, 1, kind == OVSDB_MAP)) {
        ovsdb_value_free(value);
        return;
    }
    if (kind != OVSDB_SCALAR_INT && kind != OVSDB_SCALAR_BOOL)
        return;
    value->keys[0].type = kind == OVSDB_SCALAR_INT ? OVSDB_ATOM_INT : OVSDB_ATOM_BOOL;
    value->n = 1;
}

/* ---- differences ---- */

/* Moves item i of `from` to the end of `to`, which has room. */
static void move_item(struct ovsdb_value *to, struct ovsdb_value *from, size_t i)
{
    const struct ovsdb_atom nothing = {.type = OVSDB_ATOM_INT};

    if (to->values) {
        to->values[to->n] = from->values[i];
        from->values[i] = nothing;
    }
    to->keys[to->n++] = from->keys[i];
    from->keys[i] = nothing;
}

/*
 * An element or key of one side alone goes through. On both sides: a set's element goes, a map's key goes
 * when the values are the same and takes the new value when they differ.
 */
static void merge(struct ovsdb_value *old, struct ovsdb_value *diff, struct ovsdb_value *merged)
{
    size_t i = 0, j = 0;

    while (i < old->n && j < diff->n) {
        int order = compare_atoms(&old->keys[i], &diff->keys[j]);
        if (order < 0) {
            move_item(merged, old, i++);
        } else if (order > 0) {
            move_item(merged, diff, j++);
        } else {
            if (merged->values && compare_atoms(&old->values[i], &diff->values[j]) != 0)
                move_item(merged, diff, j);
            i++;
            j++;
        }
    }
    while (i < old->n)
        move_item(merged, old, i++);
    while (j < diff->n)
        move_item(merged, diff, j++);
}

bool ovsdb_value_resolve(struct ovsdb_value *old, struct ovsdb_value *diff, enum ovsdb_kind kind)
{
    struct ovsdb_value merged = {0};
    bool map = kind == OVSDB_MAP;

    if (kind != OVSDB_SET && !map)
        return true; /* at most one element: the difference is the new value */
    bool room = make_room(&merged, old->n + diff->n, map);
    if (room)
        merge(old, diff, &merged);
    else
        ovsdb_value_free(&merged);
    ovsdb_value_free(diff);
    *diff = merged;
    return room;
}

/* ---- use ---- */

bool ovsdb_values_equal(const struct ovsdb_value *a, const struct ovsdb_value *b)
{
    if (a->present != b->present || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        if (compare_atoms(&a->keys[i], &b->keys[i]) != 0)
            return false;
        if (a->values && b->values && compare_atoms(&a->values[i], &b->values[i]) != 0)
            return false;
    }
    return true;
}

size_t ovsdb_map_find(const struct ovsdb_value *map, const char *key)
{
    size_t low = 0, high = map->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(map->keys[mid].s, key);
        if (order == 0)
            return mid;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return map->n;
}

void ovsdb_value_free(struct ovsdb_value *value)
{
    for (size_t i = 0; i < value->n; i++) {
        free_atom(&value->keys[i]);
        if (value->values)
            free_atom(&value->values[i]);
    }
    free(value->keys);
    free(value->values);
    *value = (struct ovsdb_value){0};
}
