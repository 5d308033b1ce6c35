/* SPDX-License-Identifier: MIT */
/*
 * The console's state, without a terminal: stepping shows frames as they were, changes against a baseline are
 * exact, clicks meet what is drawn, every size can be drawn, settings come back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "console.h"
#include "src/config.h"

/* --- time --- */

/* What is between the tabs and the footer, with columns as wide as if nothing had been shown before. */
static char *body_text(struct console *console)
{
    struct canvas *canvas = canvas_new(40, 160, true);
    memset(console->states[console->view].grown, 0, sizeof(console->states[console->view].grown));
    console_draw(console, canvas);
    canvas_fill(canvas, 0, 0, 160, ROLE_TEXT, " ");
    canvas_fill(canvas, 1, 0, 160, ROLE_TEXT, " ");
    canvas_fill(canvas, 39, 0, 160, ROLE_TEXT, " ");
    char *text = dump_styled_string(canvas);
    canvas_free(canvas);
    return text;
}

#define STEPS 12

static void test_stepping_shows_frames_as_they_were(void **state)
{
    (void)state;
    char *seen[STEPS];
    struct console console;
    open_console(&console);
    show_view(&console, "overview");
    for (int i = 0; i < STEPS; i++) {
        scene_tick(&host);
        console_frame(&console);
        seen[i] = body_text(&console);
        assert_true(i == 0 || strcmp(seen[i], seen[i - 1]) != 0);
    }
    for (int i = STEPS - 2; i >= 0; i--) {
        press(&console, "Left");
        char *text = body_text(&console);
        assert_same_screen(text, seen[i]);
        free(text);
    }
    for (int i = 1; i < STEPS; i++) {
        press(&console, "Right");
        char *text = body_text(&console);
        assert_same_screen(text, seen[i]);
        free(text);
    }
    assert_false(console.paused);
    for (int i = 0; i < STEPS; i++)
        free(seen[i]);
    console_free(&console);
}

/* The change against a baseline is the difference of the two rates, to the packet. */
static void test_baseline_is_exact(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    press(&console, "Left Left Left Left Left b Space");
    const struct table *table = table_get(TABLE_PORTS);
    struct scene scene = {.frame = console.frame, .baseline = console.baseline};
    assert_int_equal(scene.frame->now_ns - scene.baseline->now_ns, 5 * SCENE_NS);
    int compared = 0;
    for (size_t r = 0; r < console.frame->table[TABLE_PORTS].n; r++) {
        const struct frame_row *row = &console.frame->table[TABLE_PORTS].rows[r];
        const struct frame_row *before = frame_find(console.baseline, TABLE_PORTS, row->key);
        for (size_t c = 0; c < table->n_columns; c++) {
            const struct column *column = &table->columns[c];
            struct cell now = frame_cell(console.frame, row, column);
            struct cell shown = scene_cell(&scene, TABLE_PORTS, row, column);
            if (column->where != DERIVED || !cell_is_number(&now)) {
                assert_int_equal(shown.kind, now.kind);
                continue;
            }
            struct cell base =
                before ? frame_cell(console.baseline, before, column) : (struct cell){.kind = CELL_NONE};
            if (!cell_is_number(&base)) {
                assert_int_equal(shown.kind, CELL_NEW);
                continue;
            }
            assert_true(cell_number(&shown) == cell_number(&now) - cell_number(&base));
            compared += cell_number(&shown) != 0;
        }
    }
    assert_true(compared > 20);
    const struct frame_row *tap = frame_find(console.frame, TABLE_PORTS, "net:1:8"); /* vnet4 */
    struct cell change = scene_cell(&scene, TABLE_PORTS, tap, column_find(table, "rx_pps"));
    uint64_t s = host.seconds - 1;
    int64_t now = (int64_t)(scene_count(900, 7, s) - scene_count(900, 7, s - 1));
    int64_t base = (int64_t)(scene_count(900, 7, s - 5) - scene_count(900, 7, s - 6));
    assert_int_equal((int64_t)cell_number(&change), now - base);
    console_free(&console);
}

/* --- mouse --- */

static void find_words(const struct canvas *canvas, const char *words, int *row, int *col)
{
    for (*row = 0; *row < canvas->rows; ++*row) {
        for (*col = 0; *col + (int)strlen(words) <= canvas->cols; ++*col) {
            size_t i = 0;
            while (words[i] && canvas_at(canvas, *row, *col + (int)i)->glyph[0] == words[i])
                i++;
            if (!words[i])
                return;
        }
    }
    fail_msg("not on the screen: %s", words);
}

static void click_words(struct console *console, struct canvas *canvas, const char *words)
{
    int row = 0, col = 0;
    console_draw(console, canvas);
    find_words(canvas, words, &row, &col);
    console_click(console, canvas, row, col + 1);
}

static void test_mouse(void **state)
{
    (void)state;
    struct console console;
    struct canvas *canvas = canvas_new(24, 120, true);
    open_console(&console);
    click_words(&console, canvas, "CPUs");
    assert_string_equal(views[console.view].name, "cpus");
    click_words(&console, canvas, "Ports");
    assert_string_equal(views[console.view].name, "ports");
    click_words(&console, canvas, "TX PPS");
    assert_string_equal(state_of(&console)->sort->key, "tx_pps");
    assert_true(state_of(&console)->descending);
    click_words(&console, canvas, "TX PPS");
    assert_false(state_of(&console)->descending);
    click_words(&console, canvas, "TX PPS");
    click_words(&console, canvas, "vnet3");
    assert_string_equal(selected_name(&console), "vnet3");
    assert_int_equal(console.screen, SCREEN_VIEW);
    click_words(&console, canvas, "vnet3");
    assert_int_equal(console.screen, SCREEN_DETAIL);
    click_words(&console, canvas, "1 Overview");
    assert_int_equal(console.view, 0);
    assert_int_equal(console.screen, SCREEN_VIEW);
    click_words(&console, canvas, "TO PPS");
    assert_string_equal(state_of(&console)->sort->key, "tx_pps");
    click_words(&console, canvas, "eth0");
    assert_string_equal(selected_name(&console), "eth0");
    click_words(&console, canvas, "guest"); /* no row of the list */
    assert_string_equal(selected_name(&console), "eth0");
    assert_int_equal(console.screen, SCREEN_VIEW);
    canvas_free(canvas);
    console_free(&console);
}

/* A source whose text takes several lines is met on each of them. */
static void test_mouse_on_wrapped_rows(void **state)
{
    (void)state;
    struct console console;
    struct canvas *canvas = canvas_new(40, 80, true);
    open_console(&console);
    show_view(&console, "sources");
    click_words(&console, canvas, "another with --connect URI");
    assert_string_equal(selected_name(&console), "libvirt");
    click_words(&console, canvas, "vpp ");
    assert_string_equal(selected_name(&console), "vpp");
    canvas_free(canvas);
    console_free(&console);
}

static void test_mouse_outside(void **state)
{
    (void)state;
    static const int places[] = {INT_MIN, -1, 0, 1, 2, 3, 4, 5, 22, 23, 24, 1000, INT_MAX};
    struct console console;
    const size_t n = sizeof(places) / sizeof(places[0]);
    open_console(&console);
    for (int rows = 1; rows <= 24; rows += 23) {
        struct canvas *canvas = canvas_new(rows, 80, true);
        for (size_t i = 0; i < n * n; i++) {
            console_draw(&console, canvas);
            console_click(&console, canvas, places[i / n], places[i % n]);
        }
        canvas_free(canvas);
    }
    console_free(&console);
}

static void test_wheel(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    console_wheel(&console, 1);
    assert_int_equal(state_of(&console)->cursor, 3);
    console_wheel(&console, -1);
    assert_int_equal(state_of(&console)->cursor, 0);
    press(&console, "o");
    console_wheel(&console, 1);
    assert_int_equal(console.chooser.cursor, 3);
    assert_int_equal(state_of(&console)->cursor, 0);
    press(&console, "Esc \\");
    console_wheel(&console, 1);
    assert_int_equal(console.prompt.action, ACTION_FILTER);
    console_free(&console);
}

/* --- sizes --- */

static void test_every_size(void **state)
{
    (void)state;
    static const char *const ways[] = {"", "Enter", "?", "? End", "o End", "S", "\\ a", "z End", "Enter End"};
    for (size_t v = 0; v < n_views; v++) {
        for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
            struct console console;
            struct canvas *canvas = canvas_new(1, 1, w % 2);
            open_console(&console);
            console.view = v;
            press(&console, ways[w]);
            for (int rows = 1; rows <= 30; rows++) {
                for (int cols = rows % 3 + 1; cols <= 100; cols += 3) {
                    canvas_resize(canvas, rows, cols);
                    console_draw(&console, canvas);
                }
            }
            canvas_free(canvas);
            console_free(&console);
        }
    }
}

static void test_too_small_says_so(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    assert_true(screen_has(&console, 8, 30, "30x8 is too small"));
    press(&console, "Down");
    assert_true(screen_has(&console, 10, 40, "RX PPS"));
    assert_int_equal(state_of(&console)->cursor, 1);
    console_free(&console);
}

/* Keys, ticks and sizes in an order that nobody thought of. */
static void test_monkey(void **state)
{
    (void)state;
    static const char *const more[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "v", "[", "Enter"};
    struct console console;
    struct canvas *canvas = canvas_new(24, 80, true);
    uint32_t dice = 20261130;
    open_console(&console);
    for (int i = 0; i < 6000; i++) {
        dice = dice * 1664525 + 1013904223;
        unsigned roll = dice >> 16;
        int id = (int)(roll % (ACTIONS_N + 12));
        char key[32];
        snprintf(key, sizeof(key), "%s",
                 id < ACTIONS_N ? action_get((enum action_id)id)->keys : more[id - ACTIONS_N]);
        key[strcspn(key, " ")] = '\0';
        if (id != ACTION_RECORD && id != ACTION_SNAPSHOT)
            console_key(&console, key);
        if (roll % 11 == 0) {
            atomic_store(&scene_empty, roll % 5 == 0);
            scene_tick(&host);
            console_frame(&console);
        }
        if (roll % 7 == 0)
            canvas_resize(canvas, 1 + (int)(roll / 7 % 40), 1 + (int)(roll / 300 % 150));
        if (roll % 13 == 0)
            console_click(&console, canvas, (int)(roll / 13 % 40), (int)(roll / 200 % 150));
        if (roll % 2)
            console_draw(&console, canvas);
    }
    atomic_store(&scene_empty, false);
    session_set_interval(host.session, 1);
    canvas_free(canvas);
    console_free(&console);
}

/* --- settings --- */

static void test_settings_persist(void **state)
{
    (void)state;
    struct console console;
    char error[256];
    set_config_home("kept");
    open_console(&console);
    assert_int_equal(console_save_settings(&console, error, sizeof(error)), 0); /* nothing changed */
    press(&console, "o Space Enter > > r t u");
    const struct column *sort = state_of(&console)->sort;
    bool descending = state_of(&console)->descending;
    assert_int_equal(console_save_settings(&console, error, sizeof(error)), 0);
    console_free(&console);
    open_console(&console);
    assert_true(shows(&console, "netns"));
    assert_ptr_equal(state_of(&console)->sort, sort);
    assert_int_equal(state_of(&console)->descending, descending);
    assert_string_not_equal(console.theme.name, "default");
    assert_int_equal(console.style.units, UNITS_BYTES);
    console_free(&console);
    host.options.config = "some.conf"; /* the settings are another's */
    open_console(&console);
    assert_string_equal(console.theme.name, "default");
    press(&console, "u");
    set_config_home("not-written");
    assert_int_equal(console_save_settings(&console, error, sizeof(error)), 0);
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/not-written", work);
    assert_int_equal(access(path, F_OK), -1);
    host.options.config = NULL;
    console_free(&console);
    set_config_home("none");
}

/* The program's own file may name what is no more: the rest of it holds, and it stops nobody. */
static void test_settings_of_another_time(void **state)
{
    (void)state;
    struct console console;
    char error[256], path[PATH_MAX];
    set_config_home("old");
    assert_true(config_path(path, sizeof(path), "console"));
    const char *text = "theme = deleted\ncolumns.ports = nosuch\nsort.cpus = -busy_pct\n";
    assert_int_equal(config_write(path, text, error, sizeof(error)), 0);
    open_console(&console);
    assert_non_null(strstr(console.message, "left out"));
    assert_string_equal(console.states[view_find("cpus") - views].sort->key, "busy_pct");
    console_free(&console);
    set_config_home("none");
}

/* A theme file that an option names has no name to find it by in the next run: it is not kept. */
static void test_named_theme_file_is_not_kept(void **state)
{
    (void)state;
    struct console console;
    char error[256], path[PATH_MAX + 32];
    set_config_home("theme-file");
    snprintf(path, sizeof(path), "%s/own.theme", work);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("title = red\n", file);
    fclose(file);
    host.options.theme = path;
    open_console(&console);
    assert_string_equal(console.theme.name, "own");
    press(&console, "u");
    assert_int_equal(console_save_settings(&console, error, sizeof(error)), 0);
    console_free(&console);
    host.options.theme = NULL;
    open_console(&console);
    assert_string_equal(console.message, "");
    assert_int_equal(console.style.units, UNITS_BYTES);
    console_free(&console);
    set_config_home("none");
}

/* A broken theme in the folder is named once, and those behind it are reached. */
static void test_broken_theme_is_passed(void **state)
{
    (void)state;
    struct console console;
    char error[256], path[PATH_MAX];
    const char *folders[] = {work, NULL};
    snprintf(path, sizeof(path), "%.3900s/e.theme", work);
    assert_int_equal(config_write(path, "title = nocolour\n", error, sizeof(error)), 0);
    snprintf(path, sizeof(path), "%.3900s/f.theme", work);
    assert_int_equal(config_write(path, "title = red\n", error, sizeof(error)), 0);
    open_console(&console);
    console.theme_folders = folders;
    press(&console, "t");
    assert_string_equal(console.theme.name, "f");
    assert_non_null(strstr(console.message, "e.theme:1: unknown colour"));
    console_free(&console);
    unlink(path);
}

/* However long the folder's name is, it is that folder. */
static void test_record_into_a_long_path(void **state)
{
    (void)state;
    struct console console;
    char path[PATH_MAX + 256];
    int n = snprintf(path, sizeof(path), "%s/%0200d", work, 7);
    assert_true(n < PATH_MAX);
    host.options.out = path;
    open_console(&console);
    press(&console, "R");
    assert_string_equal(takeaway_recording(host.takeaway), path);
    press(&console, "R");
    assert_int_equal(access(path, F_OK), 0);
    host.options.out = NULL;
    console_free(&console);
}

/* Columns in an order of one's own keep it when another joins them. */
static void test_columns_keep_their_order(void **state)
{
    (void)state;
    struct console console;
    char error[256];
    open_console(&console);
    struct table_state *table = state_of(&console);
    assert_int_equal(
        table_set_columns(table, table_get(TABLE_PORTS), "tx_pps,name,rx_pps", error, sizeof(error)), 0);
    press(&console, "o Space Enter");
    assert_int_equal(table->n_columns, 4);
    const char *const want[] = {"netns", "tx_pps", "name", "rx_pps"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(table->columns[i]->key, want[i]);
    console_free(&console);
}

/* What was chosen stays on a narrow screen longer than what nobody asked for. */
static void test_chosen_column_stays(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    press(&console, "o Space Enter");
    assert_true(screen_has(&console, 24, 80, " NETNS "));
    console_free(&console);
}

static void test_bad_options(void **state)
{
    (void)state;
    struct console console;
    char error[256];
    struct options plain = host.options;
    static const struct {
        size_t member;
        const char *value, *error;
    } bad[] = {
        {offsetof(struct options, view), "nosuch", "--view nosuch: no such view; --view help lists them"},
        {offsetof(struct options, theme), "nosuch", "nosuch"},
        {offsetof(struct options, columns), "name,nosuch", "nosuch"},
        {offsetof(struct options, sort), "-nosuch", "nosuch"},
        {offsetof(struct options, filter), "[", "filter ["},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        memcpy((char *)&host.options + bad[i].member, &bad[i].value, sizeof(bad[i].value));
        assert_int_equal(console_init(&console, &host.options, host.session, host.takeaway,
                                      theme_folders_used, error, sizeof(error)),
                         -1);
        assert_non_null(strstr(error, bad[i].error));
        host.options = plain;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stepping_shows_frames_as_they_were),
        cmocka_unit_test(test_baseline_is_exact),
        cmocka_unit_test(test_mouse),
        cmocka_unit_test(test_mouse_on_wrapped_rows),
        cmocka_unit_test(test_mouse_outside),
        cmocka_unit_test(test_wheel),
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_too_small_says_so),
        cmocka_unit_test(test_monkey),
        cmocka_unit_test(test_settings_persist),
        cmocka_unit_test(test_settings_of_another_time),
        cmocka_unit_test(test_named_theme_file_is_not_kept),
        cmocka_unit_test(test_broken_theme_is_passed),
        cmocka_unit_test(test_record_into_a_long_path),
        cmocka_unit_test(test_columns_keep_their_order),
        cmocka_unit_test(test_chosen_column_stays),
        cmocka_unit_test(test_bad_options),
    };
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
