/* SPDX-License-Identifier: MIT */
/*
 * Golden screens: every view and every state of the console over the hand-made host of tests/scene.h, at
 * three sizes, in UTF-8 and in ASCII, against tests/golden/. `make golden` writes them anew; the diff is
 * read. Runs in the root of the source tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene.h"
#include "src/memory.h"
#include "src/utf8.h"
#include "ui/dump.h"
#include "ui/palette.h"
#include "unit/golden.h"

static struct scene_host host;
static const char *const theme_folders_used[] = {"themes", NULL};

/* --- what every canvas keeps, whatever is drawn --- */

static void check_glyph(const struct canvas *canvas, const struct canvas_cell *cell)
{
    size_t taken;
    for (const char *p = cell->glyph; *p; p += taken) {
        uint32_t code = utf8_decode(p, strlen(p), &taken);
        assert_int_not_equal(code, UTF8_INVALID);
        assert_true(utf8_width(code) != UTF8_CONTROL && utf8_width(code) != UTF8_INVISIBLE);
        assert_true(canvas->utf8 || (code >= 0x20 && code < 0x7f));
    }
}

/* Exactly as many cells a line as the screen has columns, each of them harmless. */
static void check_cells(const struct canvas *canvas)
{
    for (int row = 0; row < canvas->rows; row++) {
        int cells = 0;
        for (int col = 0; col < canvas->cols; col++) {
            const struct canvas_cell *cell = canvas_at(canvas, row, col);
            assert_true(cell->width == 2
                            ? col + 1 < canvas->cols && canvas_at(canvas, row, col + 1)->width == 0
                            : cell->width == 1 || (col > 0 && cell[-1].width == 2));
            check_glyph(canvas, cell);
            cells += cell->width;
        }
        assert_int_equal(cells, canvas->cols);
    }
}

/* --- screens --- */

/* A state of the console: the view it is in and the keys that lead to it, apart by blanks. */
struct screen_case {
    const char *name, *view, *keys;
};

static const struct screen_case cases[] = {
    {"detail-port", "ports", "/ v n e t 0 Enter Enter"},
    {"detail-port-end", "ports", "/ v n e t 0 Enter Enter End"},
    {"detail-bond", "ports", "/ b o n d Enter Enter"},
    {"detail-stale", "ports", "/ v h u Enter Enter"},
    {"detail-cpu", "cpus", "Enter"},
    {"detail-path", "paths", "/ w e b Enter Enter"},
    {"detail-path-stale", "paths", "/ 0 2 Enter Enter"},
    {"detail-vm", "vms", "/ w e b Enter Enter"},
    {"detail-thread", "threads", "Enter"},
    {"detail-pmd", "pmds", "Enter"},
    {"detail-finding", "findings", "Enter"},
    {"detail-of-overview", "overview", "Enter"},
    {"detail-source", "sources", "/ l i b v Enter Enter"},
    {"help", "overview", "?"},
    {"help-end", "ports", "? End"},
    {"columns", "ports", "o Down Down Down"},
    {"sort-menu", "ports", "S"},
    {"prompt-filter", "ports", "\\ v n e t"},
    {"prompt-mark", "overview", "m i p e r f Space s t o p"},
    {"filtered", "ports", "\\ v n e t Enter"},
    {"no-match", "ports", "\\ n o s u c h Enter"},
    {"bad-filter", "ports", "\\ ( Enter"},
    {"idle-shown", "ports", "z"},
    {"bytes", "ports", "u"},
    {"exact", "ports", "u u"},
    {"reversed", "ports", "r"},
    {"paused", "overview", "Left Left Left"},
    {"paused-detail", "ports", "/ v n e t 0 Enter Enter Left Left Left Left Left Left Left Left"},
    {"baseline", "overview", "Left Left Left Left Left Left Left b Space"},
    {"baseline-ports", "ports", "Left Left Left b Space"},
    {"baseline-detail", "ports", "Left Left Left b Space / v n e t 3 Enter Enter"},
};
#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static const struct {
    int cols, rows;
} sizes[] = {{80, 24}, {120, 40}, {200, 60}};

/* A console of its own for each screen: what one screen made grow must not show in the next. */
static void open_console(struct console *console)
{
    char error[256];
    assert_int_equal(console_init(console, &host.options, host.session, host.takeaway, theme_folders_used,
                                  error, sizeof(error)),
                     0);
    console_frame(console);
}

/* Not by its key: a tenth view has none. */
static void show_view(struct console *console, const char *name)
{
    const struct view *view = view_find(name);
    assert_non_null(view);
    console->view = (size_t)(view - views);
}

static struct canvas *draw_case(const struct screen_case *screen, int cols, int rows, bool utf8)
{
    struct console console;
    struct canvas *canvas = canvas_new(rows, cols, utf8);
    open_console(&console);
    show_view(&console, screen->view);
    console_draw(&console, canvas);
    for (const char *keys = screen->keys; *keys;) { /* drawn after each key, as the terminal would */
        char key[32];
        size_t n = strcspn(keys, " ");
        snprintf(key, sizeof(key), "%.*s", (int)n, keys);
        console_key(&console, key);
        console_draw(&console, canvas);
        check_cells(canvas);
        keys += n + strspn(keys + n, " ");
    }
    console_free(&console);
    return canvas;
}

/* The history's size depends on how large the structs of this build are. */
static void mask_history(char *text)
{
    for (char *at = text; (at = strstr(at, "; history ")); at++)
        for (char *p = at; *p && *p != '\n'; p++)
            if (*p >= '0' && *p <= '9')
                *p = '#';
}

/* ASCII at every size for the views; what differs in other states is seen at one. */
static char *draw_all_sizes(const struct screen_case *screen, bool all_ascii)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (int ascii = 0; ascii < (all_ascii || i == 0 ? 2 : 1); ascii++) {
            struct canvas *canvas = draw_case(screen, sizes[i].cols, sizes[i].rows, !ascii);
            fprintf(out, "=== %dx%d %s\n", sizes[i].cols, sizes[i].rows, ascii ? "ASCII" : "UTF-8");
            assert_int_equal(dump_text(canvas, canvas->rows, out), 0);
            canvas_free(canvas);
        }
    }
    fclose(out);
    mask_history(text);
    return text;
}

static bool screen_matches(const char *name, const struct screen_case *screen, bool all_ascii)
{
    char *text = draw_all_sizes(screen, all_ascii);
    bool same = golden_matches(name, text);
    free(text);
    return same;
}

static void test_views(void **state)
{
    (void)state;
    bool same = true;
    for (size_t i = 0; i < n_views; i++) {
        char name[64];
        snprintf(name, sizeof(name), "view-%s", views[i].name);
        same = screen_matches(name, &(struct screen_case){name, views[i].name, ""}, true) && same;
    }
    assert_true(same);
}

static void test_states(void **state)
{
    (void)state;
    bool same = true;
    for (size_t i = 0; i < N_CASES; i++)
        same = screen_matches(cases[i].name, &cases[i], false) && same;
    assert_true(same);
}

/* Which role each cell has, so that colour means what it says; how roles look is the theme's part. */
static void test_roles(void **state)
{
    (void)state;
    bool same = true;
    for (size_t i = 0; i < n_views; i++) {
        char name[64];
        snprintf(name, sizeof(name), "roles-%s", views[i].name);
        struct canvas *canvas = draw_case(&(struct screen_case){name, views[i].name, ""}, 120, 40, true);
        char *text = dump_styled_string(canvas);
        mask_history(text);
        same = golden_matches(name, text) && same;
        free(text);
        canvas_free(canvas);
    }
    assert_true(same);
}

/* --- looks --- */

static void print_colour(FILE *out, int colour)
{
    if (colour == COLOUR_DEFAULT)
        fprintf(out, "%8s", "-");
    else if (colour & COLOUR_RGB)
        fprintf(out, " #%06x", colour & 0xffffff);
    else
        fprintf(out, "%8d", colour);
}

static void print_look(FILE *out, struct look look)
{
    print_colour(out, look.foreground);
    print_colour(out, look.background);
    fputc(' ', out);
    for (unsigned i = 0; i < 5; i++)
        fputc(look.attributes >> i & 1 ? "bduri"[i] : '.', out);
}

/* Every theme: each role plain and selected, as the file says and in 256, 8 and no colours. */
static void test_themes(void **state)
{
    (void)state;
    static const int colours[] = {1 << 24, 256, 8, 0};
    char *text = NULL, *names[16], error[256];
    size_t size = 0, n = theme_list(theme_folders_used, names, 16);
    FILE *out = open_memstream(&text, &size);
    assert_true(n >= 5);
    for (size_t i = 0; i < n; i++) {
        struct theme theme;
        assert_int_equal(theme_load(&theme, names[i], theme_folders_used, error, sizeof(error)), 0);
        fprintf(out, "=== %s: foreground, background, attributes; 16M, 256, 8, no colours\n", names[i]);
        for (int role = 0; role < ROLES_N; role++) {
            for (int selected = 0; selected < 2; selected++) {
                fprintf(out, "%-11s%c", role_name((enum role)role), selected ? '*' : ' ');
                for (size_t c = 0; c < 4; c++)
                    print_look(out,
                               palette_reduce(theme_look(&theme, (enum role)role, selected), colours[c]));
                fputc('\n', out);
            }
        }
        free(names[i]);
    }
    fclose(out);
    bool same = golden_matches("themes", text);
    free(text);
    assert_true(same);
}

/* --- columns --- */

static bool text_is_at(const struct canvas *canvas, int row, int end, const char *text)
{
    int col = end - canvas_width(canvas, text);
    char shown[64] = "";
    for (int at = col; at < end; at++)
        strncat(shown, canvas_at(canvas, row, at)->glyph, sizeof(shown) - strlen(shown) - 1);
    return strcmp(shown, text) == 0;
}

/* The column's right edge: where the last letter of its heading stands. */
static int heading_end(const struct canvas *canvas, int row, const char *title)
{
    int width = (int)strlen(title);
    for (int end = width; end <= canvas->cols; end++)
        if (text_is_at(canvas, row, end, title) &&
            (end == canvas->cols || canvas_at(canvas, row, end)->glyph[0] == ' ') &&
            (end == width || canvas_at(canvas, row, end - width - 1)->glyph[0] == ' '))
            return end;
    return -1;
}

/* Each number of a column ends under the end of its heading, in every row, whatever the row's name is. */
static void check_column(const struct console *console, const struct canvas *canvas,
                         const struct column *column)
{
    const struct table_state *table = &console->states[console->view];
    const struct scene scene = {.frame = console->frame};
    int end = heading_end(canvas, 3, column->title), row = 4;
    if (end < 0)
        return; /* left this screen */
    for (size_t i = table->top; i < table->n_rows && row < canvas->rows - 2; i++, row++) {
        struct cell cell = scene_cell(&scene, views[console->view].table, table->rows[i], column);
        char text[64];
        scene_text(text, sizeof(text), &scene, &cell, column);
        assert_true(text_is_at(canvas, row, end, text));
        assert_true(end == canvas->cols || canvas_at(canvas, row, end)->glyph[0] == ' ');
    }
}

static void test_hostile_names_keep_columns(void **state)
{
    (void)state;
    const struct table *table = table_get(TABLE_PORTS);
    int found = 0;
    for (int utf8 = 0; utf8 < 2; utf8++) {
        for (int cols = 60; cols <= 260; cols += 20) {
            struct console console;
            struct canvas *canvas = canvas_new(70, cols, utf8);
            open_console(&console);
            show_view(&console, "ports");
            console_key(&console, "z");
            console_draw(&console, canvas);
            check_cells(canvas);
            for (size_t i = 0; i < table->n_columns; i++) {
                if (!format_is_right(&table->columns[i]))
                    continue;
                check_column(&console, canvas, &table->columns[i]);
                found += heading_end(canvas, 3, table->columns[i].title) >= 0;
            }
            canvas_free(canvas);
            console_free(&console);
        }
    }
    assert_true(found > 100);
}

/* Sparks, switches and NICs give room before a port's name is cut. */
static void test_overview_has_whole_names(void **state)
{
    (void)state;
    struct console console;
    struct canvas *canvas = canvas_new(60, 120, true);
    open_console(&console);
    console_draw(&console, canvas);
    char *text = dump_text_string(canvas);
    assert_non_null(strstr(text, " abcdefghijklmno "));
    assert_non_null(strstr(text, " STEAL"));
    free(text);
    canvas_free(canvas);
    console_free(&console);
}

static int open_scene(void **state)
{
    (void)state;
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    scene_open_host(&host);
    scene_play(&host);
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    scene_close_host(&host);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_themes),
        cmocka_unit_test(test_hostile_names_keep_columns),
        cmocka_unit_test(test_overview_has_whole_names),
    };
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
