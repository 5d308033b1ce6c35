/* SPDX-License-Identifier: MIT */
/* Named and not read (see asked.h). */
#include "src/asked.h"

#include <stdio.h>
#include <string.h>

#include "src/text.h"

unsigned asked_complain(const struct options *options, const struct frame *frame)
{
    const struct frame_table *sources = &frame->table[TABLE_SOURCES];
    unsigned missing = 0;
    for (size_t n = 0; n < options->netns.n; n++) {
        char name[192], detail[512];
        snprintf(name, sizeof(name), "netlink@%s", options->netns.texts[n]);
        for (size_t i = 0; i < sources->n; i++) {
            const struct sources_row *row = (const struct sources_row *)sources->rows[i].part.cur;
            const struct sources_info *info = (const struct sources_info *)row->head.info;
            if (strcmp(info->name, name) != 0 || strcmp(row->state, "ok") == 0 ||
                strcmp(row->state, "starting") == 0)
                continue;
            text_visible(detail, sizeof(detail), row->detail);
            fprintf(stderr, "vnettop: --netns %s: %s: %s\n", options->netns.texts[n], row->state, detail);
            missing++;
        }
    }
    return missing;
}
