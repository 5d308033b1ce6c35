/* SPDX-License-Identifier: MIT */
/* The action table (see actions.h). */
#include "src/actions.h"

#include <stdbool.h>
#include <string.h>

#define AS_ACTION(NAME, keys_, footer_, help_) {.keys = keys_, .footer = footer_, .help = help_},

static const struct action actions[ACTIONS_N] = {ALL_ACTIONS(AS_ACTION)};

const struct action *action_get(enum action_id id)
{
    return &actions[id];
}

static bool has_key(const char *keys, const char *name)
{
    size_t length = strlen(name);
    while (*keys) {
        size_t word = strcspn(keys, " ");
        if (word == length && strncmp(keys, name, length) == 0)
            return true;
        keys += word + strspn(keys + word, " ");
    }
    return false;
}

enum action_id action_find(const char *key_name)
{
    int id = 0;
    while (id < ACTIONS_N && !has_key(actions[id].keys, key_name))
        id++;
    return (enum action_id)id;
}
