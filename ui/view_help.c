/* SPDX-License-Identifier: MIT */
/* The help screen: keys from the action table, columns of the view from its column table, the words for no
 * value. */
#include <stdio.h>
#include <string.h>

#include "src/actions.h"
#include "ui/views.h"

/* A line of help goes to the canvas when it is in the window that scrolling shows. */
struct help {
    struct canvas *canvas;
    struct area area;
    size_t scroll, line;
};

static int next_row(struct help *help)
{
    size_t line = help->line++;
    if (line < help->scroll || line - help->scroll >= (size_t)help->area.rows)
        return -1;
    return help->area.top + (int)(line - help->scroll);
}

static void heading(struct help *help, const char *text)
{
    if (help->line > 0)
        next_row(help);
    int row = next_row(help);
    if (row >= 0)
        canvas_text(help->canvas, row, 1, help->area.cols - 1, ROLE_TITLE, text);
}

/* The text is wrapped beside the term, a line at a time, so that it scrolls by lines. */
static void entry(struct help *help, const char *term, enum role role, const char *text)
{
    const int left = 22, width = help->area.cols - left - 2;
    bool first = true;
    do {
        int row = next_row(help);
        size_t length = strlen(text), take = length;
        if (length > (size_t)width) {
            take = (size_t)width;
            while (take > 0 && text[take] != ' ')
                take--;
            take = take ? take : (size_t)width;
        }
        if (row >= 0) {
            if (first)
                canvas_text(help->canvas, row, 1, left - 1, role, term);
            canvas_textf(help->canvas, row, left, width, ROLE_TEXT, "%.*s", (int)take, text);
        }
        first = false;
        text += take;
        text += strspn(text, " ");
    } while (*text);
}

static const char *const words[][2] = {
    {"-", "the source has no such number"},
    {"?", "not permitted for this user; Sources says what helps"},
    {"new", "first sample: no rate yet"},
    {"rst", "the counter went back (restart, clear, re-created): the next interval is good again"},
    {"~", "partial or inferred"},
    {"* !", "worth a look, hurts: the column's thresholds"},
    {"'", "older than it should be, and dimmed; Sources shows the age"},
    {"rx, tx", "as the port's switch or host counts them: a tap's tx goes to the guest"},
    {"loss %", "dropped / (dropped + delivered) in that direction"},
    {"CPU %", "percent of one CPU, as in top"},
    {"pps", "packets as the port counts them: with GSO or GRO several of the wire's in one, see RX SIZE"},
    {"+3", "right of the headings: so many columns have no room here; F2 chooses, a wider screen shows"},
    {"name- name!", "in the header: a source that is not on this host, one that is and cannot be read"},
};

size_t view_help_draw(struct canvas *canvas, struct area area, const struct view *view, size_t scroll)
{
    struct help help = {.canvas = canvas, .area = area, .scroll = scroll};
    char text[512];
    heading(&help, "Keys");
    for (size_t i = 0; i < n_views; i++) {
        snprintf(text, sizeof(text), "%c", view_key(i));
        entry(&help, text, ROLE_KEY, views[i].help);
    }
    for (int i = 0; i < ACTIONS_N; i++)
        entry(&help, action_get((enum action_id)i)->keys, ROLE_KEY, action_get((enum action_id)i)->help);
    entry(&help, "mouse", ROLE_KEY,
          "click a tab, a heading (sorts) or a row (again: detail); the wheel scrolls");
    heading(&help, "Cells");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        entry(&help, words[i][0], ROLE_KEY, words[i][1]);
    if (view->table < TABLES_N) {
        const struct table *table = table_get(view->table);
        snprintf(text, sizeof(text), "Columns of %s", view->title);
        heading(&help, text);
        for (size_t i = 0; i < table->n_columns; i++) {
            snprintf(text, sizeof(text), "%s: %s", table->columns[i].title, table->columns[i].help);
            entry(&help, table->columns[i].key, ROLE_HEADING, text);
        }
    }
    return help.line > (size_t)area.rows ? help.line - (size_t)area.rows : 0;
}
