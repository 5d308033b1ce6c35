/* SPDX-License-Identifier: MIT */
/*
 * A console over the host of tests/scene.h, fed with key names: what its test programs share. Included by one
 * test program each, after cmocka.
 */
#ifndef VNETTOP_TESTS_CONSOLE_H
#define VNETTOP_TESTS_CONSOLE_H

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

#include "scene.h"
#include "ui/dump.h"

static struct scene_host host;
static char work[PATH_MAX]; /* where snapshots and recordings go */
static char themes[PATH_MAX];
static const char *const theme_folders_used[] = {themes, NULL};

static inline void press(struct console *console, const char *keys)
{
    char key[64];
    while (*keys) {
        size_t n = strcspn(keys, " ");
        snprintf(key, sizeof(key), "%.*s", (int)n, keys);
        console_key(console, key);
        keys += n + strspn(keys + n, " ");
    }
}

static inline void type_text(struct console *console, const char *text)
{
    for (; *text; text++)
        console_key(console, *text == ' ' ? "Space" : (const char[]){*text, '\0'});
}

static inline void open_bare(struct console *console)
{
    char error[256];
    assert_int_equal(console_init(console, &host.options, host.session, host.takeaway, theme_folders_used,
                                  error, sizeof(error)),
                     0);
}

static inline void show_view(struct console *console, const char *name)
{
    assert_non_null(view_find(name));
    console->view = (size_t)(view_find(name) - views);
    console->screen = SCREEN_VIEW;
}

/* With the newest frame, in a view that has many rows. */
static inline void open_console(struct console *console)
{
    open_bare(console);
    console_frame(console);
    show_view(console, "ports");
    console_refresh(console);
}

static inline struct table_state *state_of(struct console *console)
{
    return &console->states[console->view];
}

static inline const char *selected_name(struct console *console)
{
    console_refresh(console);
    const struct table_state *table = state_of(console);
    assert_true(table->n_rows > 0);
    struct cell cell = frame_cell(console->frame, table->rows[table->cursor],
                                  column_find(table_get(views[console->view].table), "name"));
    return cell.kind == CELL_STR ? cell.str : "";
}

static char *screen_text(struct console *console, int rows, int cols)
{
    struct canvas *canvas = canvas_new(rows, cols, true);
    console_draw(console, canvas);
    char *text = dump_text_string(canvas);
    canvas_free(canvas);
    return text;
}

/* cmocka cuts long texts: the first line that differs is what one wants to see. */
static inline void assert_same_screen(const char *got, const char *want)
{
    if (strcmp(got, want) == 0)
        return;
    int line = 1;
    while (*want && *got) {
        size_t w = strcspn(want, "\n"), g = strcspn(got, "\n");
        if (w != g || memcmp(want, got, w) != 0)
            break;
        want += w + (want[w] == '\n');
        got += g + (got[g] == '\n');
        line++;
    }
    fail_msg("line %d is \"%.*s\", not \"%.*s\"", line, (int)strcspn(got, "\n"), got,
             (int)strcspn(want, "\n"), want);
}

static inline bool screen_has(struct console *console, int rows, int cols, const char *words)
{
    char *text = screen_text(console, rows, cols);
    bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

static inline bool shows(struct console *console, const char *column)
{
    const struct table *table = table_get(views[console->view].table);
    const struct column *columns[MAX_VIEW_COLUMNS];
    size_t n = table_columns(state_of(console), table, columns, MAX_VIEW_COLUMNS);
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i]->key, column) == 0)
            return true;
    return false;
}

static inline void set_config_home(const char *name)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s/%s", work, name);
    setenv("XDG_CONFIG_HOME", path, 1);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int open_scene(void **state)
{
    (void)state;
    char here[PATH_MAX - 16];
    if (!getcwd(here, sizeof(here)))
        return -1;
    snprintf(themes, sizeof(themes), "%s/themes", here);
    snprintf(work, sizeof(work), "/tmp/test-console-XXXXXX");
    if (!mkdtemp(work) || chdir(work) < 0)
        return -1;
    set_config_home("none");
    scene_open_host(&host);
    scene_play(&host);
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    scene_close_host(&host);
    if (chdir("/") < 0)
        return -1;
    return nftw(work, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
