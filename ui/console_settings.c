/* SPDX-License-Identifier: MIT */
/*
 * What the console keeps from run to run: columns and sort order of each view, units, theme. A file of its
 * own, so that the user's config is never rewritten; what config or command line say goes before it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/config.h"
#include "src/memory.h"
#include "ui/console.h"

static int load_view(struct console *console, const char *what, const char *name, const char *value,
                     char *error, size_t error_size)
{
    const struct view *view = view_find(name);
    if (!view)
        return 0; /* a view of another version */
    struct table_state *state = &console->states[view - views];
    const struct table *table = table_get(view->table);
    if (strcmp(what, "columns") == 0)
        return table_set_columns(state, table, value, error, error_size);
    return table_set_sort(state, table, value, error, error_size);
}

static int load_theme(struct console *console, const char *name, char *error, size_t error_size)
{
    if (theme_load(&console->theme, name, console->theme_folders, error, error_size) < 0)
        return -1;
    snprintf(console->kept_theme, sizeof(console->kept_theme), "%s", console->theme.name);
    return 0;
}

static int take_setting(void *context, const char *key, const char *value, char *error, size_t error_size)
{
    struct console *console = context;
    if (strncmp(key, "columns.", 8) == 0)
        return load_view(console, "columns", key + 8, value, error, error_size);
    if (strncmp(key, "sort.", 5) == 0)
        return load_view(console, "sort", key + 5, value, error, error_size);
    if (strcmp(key, "theme") == 0)
        return load_theme(console, value, error, error_size);
    for (int i = 0; strcmp(key, "units") == 0 && i < FORMAT_UNITS; i++)
        if (strcmp(value, format_units_name((enum format_units)i)) == 0)
            console->style.units = (enum format_units)i;
    return 0;
}

/* A theme that was deleted, a column of another version: the program's own file stops nobody. */
static int load_line(void *context, const char *key, const char *value, char *error, size_t error_size)
{
    if (take_setting(context, key, value, error, error_size) < 0)
        console_complain(context, "%s; it was kept from an earlier run, and is left out", error);
    return 0;
}

static bool find_file(const struct console *console, char *path, size_t size)
{
    return !console->options->config && config_path(path, size, "console");
}

int console_load_settings(struct console *console, char *error, size_t error_size)
{
    char path[PATH_MAX], *text;
    if (!find_file(console, path, sizeof(path)))
        return 0;
    int rc = config_read(path, false, load_line, console, &text, error, error_size);
    free(text);
    return rc < 0 ? -1 : 0;
}

static void save_view(const struct console *console, size_t i, FILE *out)
{
    const struct table_state *state = &console->states[i];
    if (state->sort)
        fprintf(out, "sort.%s = %s%s\n", views[i].name, state->descending ? "-" : "", state->sort->key);
    if (state->n_columns == 0)
        return;
    fprintf(out, "columns.%s = ", views[i].name);
    for (size_t c = 0; c < state->n_columns; c++)
        fprintf(out, "%s%s", c == 0 ? "" : ",", state->columns[c]->key);
    fputc('\n', out);
}

int console_save_settings(struct console *console, char *error, size_t error_size)
{
    char path[PATH_MAX], *text = NULL;
    size_t size = 0;
    if (!console->settings_changed || !find_file(console, path, sizeof(path)))
        return 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return 0;
    fputs("# Written by vnettop when it ends; columns and orders as they were chosen.\n", out);
    if (console->kept_theme[0])
        fprintf(out, "theme = %s\n", console->kept_theme);
    fprintf(out, "units = %s\n", format_units_name(console->style.units));
    for (size_t i = 0; i < n_views; i++)
        save_view(console, i, out);
    fclose(out);
    int rc = config_write(path, text, error, error_size);
    free(text);
    return rc;
}
