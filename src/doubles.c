/* SPDX-License-Identifier: MIT */
/* NICs under two keys (see doubles.h). Most frames have no row without a certain address, and pay one look at
 * each; a source knows its own NICs apart. */
#include "src/doubles.h"

#include <string.h>

#include "src/join.h"

static bool has_certain_mac(const struct frame_row *path)
{
    for (const struct part *part = &path->part; part; part = part->next) {
        const struct paths_info *info = (const struct paths_info *)part->cur->info;
        if (info_has(info, mac) && !slot_test(&info->head.approx, INFO_SLOT(struct paths_info, mac)))
            return true;
    }
    return false;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Of namespaces one may not know; where both do they must agree. */
static bool same_namespace(const struct frame_row *a, const struct frame_row *b)
{
    uint64_t x, y;
    size_t offset = offsetof(struct paths_info, netns_inode);
    return !join_info_number(a, offset, &x) || !join_info_number(b, offset, &y) || x == y;
}

struct frame_row *doubles_find(const struct frame_table *paths, const struct frame_row *path)
{
    const char *vm = JOIN_TEXT(path, struct paths_info, vm_key),
               *port = JOIN_TEXT(path, struct paths_info, port);
    struct frame_row *found = NULL;
    if (!vm || !port || has_certain_mac(path))
        return NULL;
    for (size_t i = 0; i < paths->n; i++) {
        struct frame_row *other = &paths->rows[i];
        if (other->part.pair == path->part.pair || !same(JOIN_TEXT(other, struct paths_info, vm_key), vm) ||
            !same(JOIN_TEXT(other, struct paths_info, port), port) || !has_certain_mac(other) ||
            !same_namespace(other, path))
            continue;
        if (found)
            return NULL;
        found = other;
    }
    return found;
}
