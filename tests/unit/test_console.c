/* SPDX-License-Identifier: MIT */
/*
 * The console's keys, without a terminal: every key of the action table does what its help says, help and
 * footer tell of it, and none crashes whatever is shown. Golden screens are test_golden.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "console.h"
#include "ui/terminal.h"

static void assert_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 0);
}

/* --- the action table --- */

static bool terminal_makes(const char *name)
{
    char made[32];
    for (uint32_t key = 1; key < 0x80; key++) {
        terminal_key_name(made, sizeof(made), key);
        if (strcmp(made, name) == 0)
            return true;
    }
    for (uint32_t key = TKEY_FIRST + 1; key <= TKEY_F12; key++) {
        terminal_key_name(made, sizeof(made), key);
        if (strcmp(made, name) == 0)
            return true;
    }
    return false;
}

/* Calls fn for each key of an action. */
static void each_key(enum action_id id, void (*fn)(enum action_id id, const char *key))
{
    char key[32];
    for (const char *keys = action_get(id)->keys; *keys;) {
        size_t n = strcspn(keys, " ");
        snprintf(key, sizeof(key), "%.*s", (int)n, keys);
        fn(id, key);
        keys += n + strspn(keys + n, " ");
    }
}

static void check_key(enum action_id id, const char *key)
{
    if (!terminal_makes(key))
        fail_msg("the terminal makes no key named %s", key);
    assert_int_equal(action_find(key), id); /* the first that has it: no other may have it before */
    assert_false(key[0] >= '0' && key[0] <= '9' && key[1] == '\0'); /* those are the views' */
    for (int other = 0; other < ACTIONS_N; other++) {
        const char *at = action_get((enum action_id)other)->keys;
        for (size_t n; *at; at += n + strspn(at + n, " ")) {
            n = strcspn(at, " ");
            if (other != (int)id)
                assert_false(strlen(key) == n && strncmp(at, key, n) == 0);
        }
    }
}

static void test_key_names(void **state)
{
    (void)state;
    for (int id = 0; id < ACTIONS_N; id++)
        each_key((enum action_id)id, check_key);
    assert_int_equal(action_find("F5"), ACTIONS_N);
    assert_int_equal(action_find(""), ACTIONS_N);
}

/* --- what each action does: one function each, run with each of its keys on a console of its own --- */

typedef void check_fn(struct console *console, const char *key);

static void check_enter(struct console *console, const char *key)
{
    press(console, "Down Down");
    console_key(console, key);
    assert_int_equal(console->screen, SCREEN_DETAIL);
    assert_string_equal(console->detail_key, state_of(console)->rows[2]->key);
}

static void check_back(struct console *console, const char *key)
{
    press(console, "Enter");
    console_key(console, key);
    assert_int_equal(console->screen, SCREEN_VIEW);
    press(console, "Enter ?");
    console_key(console, key);
    assert_int_equal(console->screen, SCREEN_DETAIL); /* where help was asked for */
    console_key(console, key);
    assert_int_equal(console->screen, SCREEN_VIEW);
    press(console, "/ v n e t Enter");
    assert_string_equal(state_of(console)->search, "vnet");
    console_key(console, key);
    assert_string_equal(state_of(console)->search, "");
}

static void check_up(struct console *console, const char *key)
{
    press(console, "Down Down Down");
    console_key(console, key);
    assert_int_equal(state_of(console)->cursor, 2);
    for (int i = 0; i < 5; i++)
        console_key(console, key);
    assert_int_equal(state_of(console)->cursor, 0);
}

static void check_down(struct console *console, const char *key)
{
    size_t n = state_of(console)->n_rows;
    console_key(console, key);
    assert_int_equal(state_of(console)->cursor, 1);
    for (size_t i = 0; i < n + 5; i++)
        console_key(console, key);
    assert_int_equal(state_of(console)->cursor, n - 1);
}

static void check_page_up(struct console *console, const char *key)
{
    press(console, "End");
    size_t before = state_of(console)->cursor;
    console_key(console, key);
    assert_true(state_of(console)->cursor < before - 5);
}

static void check_page_down(struct console *console, const char *key)
{
    console_key(console, key);
    assert_true(state_of(console)->cursor > 5);
}

static void check_top(struct console *console, const char *key)
{
    press(console, "Down Down Down");
    console_key(console, key);
    assert_int_equal(state_of(console)->cursor, 0);
}

static void check_bottom(struct console *console, const char *key)
{
    console_key(console, key);
    assert_int_equal(state_of(console)->cursor, state_of(console)->n_rows - 1);
}

static void check_next_view(struct console *console, const char *key)
{
    for (size_t i = 0; i < n_views; i++) {
        size_t before = console->view;
        console_key(console, key);
        assert_int_equal(console->view, (before + 1) % n_views);
    }
}

static void check_previous_view(struct console *console, const char *key)
{
    for (size_t i = 0; i < n_views; i++) {
        size_t before = console->view;
        console_key(console, key);
        assert_int_equal(console->view, (before + n_views - 1) % n_views);
    }
}

static void check_search(struct console *console, const char *key)
{
    console_key(console, key);
    assert_int_equal(console->prompt.action, ACTION_SEARCH);
    press(console, "V N E T 3 Enter"); /* case is ignored */
    assert_int_equal(console->prompt.action, ACTIONS_N);
    assert_string_equal(selected_name(console), "vnet3");
    console_key(console, key);
    press(console, "n o s u c h Enter");
    assert_true(console->message_is_error);
    assert_string_equal(selected_name(console), "vnet3");
}

static void check_search_next(struct console *console, const char *key)
{
    console_key(console, key);
    assert_true(console->message_is_error); /* nothing to search for yet */
    press(console, "/ v n e t Enter");
    for (int i = 0; i < 20; i++) {
        size_t before = state_of(console)->cursor;
        console_key(console, key);
        assert_true(state_of(console)->cursor != before);
        assert_non_null(strstr(selected_name(console), "vnet"));
    }
}

static void check_search_previous(struct console *console, const char *key)
{
    press(console, "/ v n e t Enter n");
    size_t second = state_of(console)->cursor;
    console_key(console, key);
    assert_true(state_of(console)->cursor < second);
    press(console, "n");
    assert_int_equal(state_of(console)->cursor, second);
}

static void check_filter(struct console *console, const char *key)
{
    size_t all = state_of(console)->n_rows;
    console_key(console, key);
    type_text(console, "^VNET[0-9]$");
    press(console, "Enter");
    console_refresh(console);
    assert_int_equal(state_of(console)->n_rows, 5);
    assert_true(screen_has(console, 24, 80, "left out by the filter ^VNET[0-9]$"));
    console_key(console, key);
    press(console, "^U [ Enter"); /* a broken one: said, and the last one stays */
    assert_true(console->message_is_error);
    console_refresh(console);
    assert_int_equal(state_of(console)->n_rows, 5);
    console_key(console, key);
    press(console, "^U Enter");
    console_refresh(console);
    assert_int_equal(state_of(console)->n_rows, all);
}

/* Number among the view's columns. */
static size_t sort_place(struct console *console, size_t *n)
{
    const struct column *columns[MAX_VIEW_COLUMNS];
    *n = table_columns(state_of(console), table_get(views[console->view].table), columns, MAX_VIEW_COLUMNS);
    size_t at = 0;
    while (at < *n && columns[at] != state_of(console)->sort)
        at++;
    assert_true(at < *n);
    return at;
}

static void check_sort(struct console *console, const char *key, size_t by)
{
    size_t n, before = sort_place(console, &n);
    for (size_t i = 1; i <= n; i++) {
        console_key(console, key);
        assert_int_equal(sort_place(console, &n), (before + i * (by + n)) % n);
        assert_true(console->settings_changed);
    }
}

static void check_sort_left(struct console *console, const char *key)
{
    check_sort(console, key, (size_t)-1);
}

static void check_sort_right(struct console *console, const char *key)
{
    check_sort(console, key, 1);
}

static void check_sort_menu(struct console *console, const char *key)
{
    const struct column *before = state_of(console)->sort;
    console_key(console, key);
    assert_int_equal(console->chooser.action, ACTION_SORT_MENU);
    press(console, "Down Enter");
    assert_int_equal(console->chooser.action, ACTIONS_N);
    assert_ptr_equal(state_of(console)->sort, before + 1);
    bool descending = state_of(console)->descending;
    console_key(console, key);
    press(console, "r Enter");
    assert_ptr_equal(state_of(console)->sort, before + 1);
    assert_int_equal(state_of(console)->descending, !descending);
    console_key(console, key);
    press(console, "Down Down Esc");
    assert_ptr_equal(state_of(console)->sort, before + 1);
}

static void check_reverse(struct console *console, const char *key)
{
    char first[64];
    snprintf(first, sizeof(first), "%s", selected_name(console));
    console_key(console, key);
    assert_false(state_of(console)->descending);
    press(console, "Home");
    assert_string_not_equal(selected_name(console), first);
    console_key(console, key);
    press(console, "Home");
    assert_string_equal(selected_name(console), first);
}

static void check_columns(struct console *console, const char *key)
{
    assert_false(shows(console, "netns"));
    console_key(console, key);
    press(console, "Space Enter"); /* the first of the table */
    assert_true(shows(console, "netns") && shows(console, "rx_pps"));
    assert_true(console->settings_changed);
    console_key(console, key);
    press(console, "Space Esc");
    assert_true(shows(console, "netns"));
    console_key(console, key);
    press(console, "Backspace Enter");
    assert_false(shows(console, "netns"));
}

static void check_interval(struct console *console, const char *key)
{
    static const char *const good[] = {"0.1", "3600", "2.5", "1"};
    static const char *const bad[] = {"0", "-1", "1e9", "nan", "inf", "", "abc", "0.05", "3601", "1s", "1 1"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        console->interval_changed = false;
        console_key(console, key);
        press(console, "^U");
        type_text(console, good[i]);
        press(console, "Enter");
        assert_false(console->message_is_error && console->message[0]);
        assert_true(console->interval_changed);
        assert_int_equal(session_interval_ms(host.session), (int64_t)(atof(good[i]) * 1000 + 0.5));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        console->interval_changed = false;
        console_key(console, key);
        press(console, "^U");
        type_text(console, bad[i]);
        press(console, "Enter");
        assert_true(console->message_is_error);
        assert_non_null(strstr(console->message, "0.1 to 3600"));
        assert_false(console->interval_changed);
        assert_int_equal(session_interval_ms(host.session), 1000);
    }
}

static void check_pause(struct console *console, const char *key)
{
    int64_t before = console->frame->now_ns;
    console_key(console, key);
    assert_true(console->paused);
    scene_tick(&host);
    console_frame(console);
    assert_int_equal(console->frame->now_ns, before);
    console_key(console, key);
    assert_false(console->paused);
    assert_true(console->frame->now_ns > before);
}

static void check_step_back(struct console *console, const char *key)
{
    int64_t before = console->frame->now_ns;
    console_key(console, key);
    assert_true(console->paused);
    assert_int_equal(console->frame->now_ns, before - SCENE_NS);
    for (size_t i = 0; i < store_moments(session_store(host.session)) + 5; i++)
        console_key(console, key);
    assert_int_equal(console->frame->now_ns, store_moment_ns(session_store(host.session), 0));
    assert_true(console->message[0]);
}

static void check_step_forward(struct console *console, const char *key)
{
    int64_t last = console->frame->now_ns;
    console_key(console, key);
    assert_false(console->paused); /* nothing before the present */
    press(console, "Left Left Left");
    console_key(console, key);
    assert_true(console->paused);
    assert_int_equal(console->frame->now_ns, last - 2 * SCENE_NS);
    console_key(console, key);
    assert_true(console->paused);
    assert_int_equal(console->frame->now_ns, last - SCENE_NS);
    console_key(console, key);
    assert_false(console->paused);
    assert_int_equal(console->frame->now_ns, last);
}

static const struct mark *last_mark(size_t *n)
{
    const struct mark *marks = session_marks(host.session, n);
    return *n ? &marks[*n - 1] : NULL;
}

static void check_mark(struct console *console, const char *key)
{
    size_t before, n;
    last_mark(&before);
    int64_t pressed = clock_mono_ns(), wall = clock_wall_ns();
    console_key(console, key);
    scene_tick(&host); /* typing takes its time */
    console_frame(console);
    type_text(console, "iperf3 -P 4");
    press(console, "Enter");
    const struct mark *mark = last_mark(&n);
    assert_int_equal(n, before + 1);
    assert_string_equal(mark->text, "iperf3 -P 4");
    assert_int_equal(mark->t_ns, pressed);
    assert_int_equal(mark->wall_ns, wall);
    press(console, "Left Left");
    console_key(console, key);
    press(console, "x Enter");
    mark = last_mark(&n);
    assert_int_equal(mark->t_ns, console->frame->now_ns); /* the moment that is looked at */
    assert_int_equal(mark->wall_ns, console->frame->wall_ns);
    console_key(console, key);
    press(console, "y Esc");
    last_mark(&n);
    assert_int_equal(n, before + 2);
}

static void check_baseline(struct console *console, const char *key)
{
    console_key(console, key);
    assert_non_null(console->baseline);
    assert_int_equal(console->baseline->now_ns, console->frame->now_ns);
    console_key(console, key);
    assert_null(console->baseline);
}

static void check_snapshot(struct console *console, const char *key)
{
    console_key(console, key);
    assert_false(console->message_is_error);
    assert_memory_equal(console->message, "written: ", 9);
    assert_file(console->message + 9, "ports.csv");
    assert_file(console->message + 9, "meta.json");
}

static void check_record(struct console *console, const char *key)
{
    char folder[PATH_MAX];
    console_key(console, key);
    assert_non_null(takeaway_recording(host.takeaway));
    snprintf(folder, sizeof(folder), "%s", takeaway_recording(host.takeaway));
    scene_tick(&host);
    console_frame(console);
    press(console, "Space"); /* a paused screen does not pause the recording */
    scene_tick(&host);
    console_frame(console);
    assert_true(screen_has(console, 24, 80, "rec 00:00:0"));
    console_key(console, key);
    assert_null(takeaway_recording(host.takeaway));
    assert_file(folder, "ports.csv");
    char path[PATH_MAX + 16], line[4096];
    int frames = 0;
    snprintf(path, sizeof(path), "%s/host.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        frames++;
    fclose(file);
    assert_int_equal(frames, 3); /* header and two frames */
}

static void check_units(struct console *console, const char *key)
{
    for (int i = 0; i < FORMAT_UNITS; i++) {
        assert_int_equal(console->style.units, i);
        console_key(console, key);
    }
    assert_int_equal(console->style.units, 0);
}

static void check_idle(struct console *console, const char *key)
{
    size_t before = state_of(console)->n_rows, idle = state_of(console)->n_idle;
    assert_true(idle > 0);
    console_key(console, key);
    console_refresh(console);
    assert_int_equal(state_of(console)->n_rows, before + idle);
    console_key(console, key);
    console_refresh(console);
    assert_int_equal(state_of(console)->n_rows, before);
}

static void check_theme(struct console *console, const char *key)
{
    assert_string_equal(console->theme.name, "default");
    int n = 0;
    do {
        console_key(console, key);
        assert_false(console->message_is_error);
        n++;
    } while (strcmp(console->theme.name, "default") != 0 && n < 50);
    assert_int_equal(n, 5); /* every theme of themes/ once */
}

static void check_redraw(struct console *console, const char *key)
{
    console->redraw = false;
    console_key(console, key);
    assert_true(console->redraw);
}

static void check_help(struct console *console, const char *key)
{
    console_key(console, key);
    assert_int_equal(console->screen, SCREEN_HELP);
    console_key(console, key);
    assert_int_equal(console->screen, SCREEN_VIEW);
}

static void check_quit(struct console *console, const char *key)
{
    console_key(console, key);
    assert_true(console->quit);
}

static check_fn *const checks[ACTIONS_N] = {
    [ACTION_ENTER] = check_enter,
    [ACTION_BACK] = check_back,
    [ACTION_UP] = check_up,
    [ACTION_DOWN] = check_down,
    [ACTION_PAGE_UP] = check_page_up,
    [ACTION_PAGE_DOWN] = check_page_down,
    [ACTION_TOP] = check_top,
    [ACTION_BOTTOM] = check_bottom,
    [ACTION_NEXT_VIEW] = check_next_view,
    [ACTION_PREVIOUS_VIEW] = check_previous_view,
    [ACTION_SEARCH] = check_search,
    [ACTION_SEARCH_NEXT] = check_search_next,
    [ACTION_SEARCH_PREVIOUS] = check_search_previous,
    [ACTION_FILTER] = check_filter,
    [ACTION_SORT_LEFT] = check_sort_left,
    [ACTION_SORT_RIGHT] = check_sort_right,
    [ACTION_SORT_MENU] = check_sort_menu,
    [ACTION_REVERSE] = check_reverse,
    [ACTION_COLUMNS] = check_columns,
    [ACTION_INTERVAL] = check_interval,
    [ACTION_PAUSE] = check_pause,
    [ACTION_STEP_BACK] = check_step_back,
    [ACTION_STEP_FORWARD] = check_step_forward,
    [ACTION_MARK] = check_mark,
    [ACTION_BASELINE] = check_baseline,
    [ACTION_SNAPSHOT] = check_snapshot,
    [ACTION_RECORD] = check_record,
    [ACTION_UNITS] = check_units,
    [ACTION_IDLE] = check_idle,
    [ACTION_THEME] = check_theme,
    [ACTION_REDRAW] = check_redraw,
    [ACTION_HELP] = check_help,
    [ACTION_QUIT] = check_quit,
};

static void run_check(enum action_id id, const char *key)
{
    struct console console;
    open_console(&console);
    if (!checks[id])
        fail_msg("no test says what the action of %s does", action_get(id)->keys);
    checks[id](&console, key);
    console_free(&console);
}

static void test_every_key(void **state)
{
    (void)state;
    for (int id = 0; id < ACTIONS_N; id++)
        each_key((enum action_id)id, run_check);
}

static void test_view_keys(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    for (size_t i = 0; i < n_views && i < 10; i++) {
        console_key(&console, (const char[]){"1234567890"[i], '\0'});
        assert_int_equal(console.view, i);
        assert_int_equal(console.screen, SCREEN_VIEW);
    }
    console_free(&console);
}

/* --- help and footer --- */

static void test_help_lists_everything(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    press(&console, "?");
    char *text = screen_text(&console, 400, 300);
    for (int id = 0; id < ACTIONS_N; id++) {
        assert_non_null(strstr(text, action_get((enum action_id)id)->help));
        assert_non_null(strstr(text, action_get((enum action_id)id)->keys));
    }
    for (size_t i = 0; i < n_views; i++)
        assert_non_null(strstr(text, views[i].help));
    const struct table *table = table_get(TABLE_PORTS);
    for (size_t i = 0; i < table->n_columns; i++)
        assert_non_null(strstr(text, table->columns[i].help));
    free(text);
    console_free(&console);
}

static void test_help_scrolls_to_its_end(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    const struct table *table = table_get(TABLE_PORTS);
    press(&console, "?");
    assert_true(screen_has(&console, 24, 80, "PgDn more"));
    press(&console, "End");
    char *text = screen_text(&console, 24, 80);
    assert_non_null(strstr(text, table->columns[table->n_columns - 1].key));
    assert_null(strstr(text, "PgDn more"));
    free(text);
    press(&console, "Home");
    assert_true(screen_has(&console, 24, 80, " Keys"));
    console_free(&console);
}

static void test_footer_fits(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    for (int cols = 40; cols <= 240; cols++) {
        struct canvas *canvas = canvas_new(24, cols, true);
        console_draw(&console, canvas);
        char line[1024] = "";
        for (int col = 0; col < cols; col++)
            strcat(line, canvas_at(canvas, 23, col)->glyph);
        assert_non_null(strstr(line, "  ? help  q quit")); /* apart from what stands before */
        assert_non_null(strstr(line, " Enter detail"));
        canvas_free(canvas);
    }
    console_free(&console);
}

static void test_long_prompt_and_message(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    press(&console, "\\");
    for (int i = 0; i < 400; i++)
        console_key(&console, i % 2 ? "ü" : "x");
    type_text(&console, "END");
    assert_true(console.prompt.length < sizeof(console.prompt.text));
    for (int cols = 40; cols < 90; cols += 7) {
        struct canvas *canvas = canvas_new(24, cols, true);
        console_draw(&console, canvas);
        assert_int_equal(canvas->cursor_row, 23);
        assert_true(canvas->cursor_col > cols / 2 && canvas->cursor_col < cols);
        canvas_free(canvas);
    }
    press(&console, "Backspace ^U a ü Backspace b");
    assert_string_equal(console.prompt.text, "ab");
    press(&console, "Esc");
    console_complain(&console, "%s: the mend",
                     "a cause that takes more than a line of a narrow screen to say");
    char *text = screen_text(&console, 24, 40);
    assert_non_null(strstr(text, "the mend"));
    free(text);
    console_free(&console);
}

/* --- nothing crashes --- */

static const char *const odd_keys[] = {"",  "é",  "\xff", "日",        "NoSuchKey", "F12", "Ins",
                                       "0", "^@", "\x7f", "Backspace", "Enter",     "Esc"};

static void press_everything(struct console *console)
{
    struct canvas *canvas = canvas_new(24, 80, true);
    for (int id = 0; id < ACTIONS_N; id++) {
        char keys[64];
        if (id == ACTION_RECORD || id == ACTION_SNAPSHOT)
            continue; /* writes files; has its own test */
        snprintf(keys, sizeof(keys), "%s", action_get((enum action_id)id)->keys);
        press(console, keys);
        console_draw(console, canvas);
        press(console, "Enter Esc Esc");
        console_draw(console, canvas);
    }
    for (size_t i = 0; i < sizeof(odd_keys) / sizeof(odd_keys[0]); i++)
        console_key(console, odd_keys[i]);
    console_click(console, canvas, 3, 10);
    console_click(console, canvas, 5, 10);
    console_wheel(console, -1);
    console_wheel(console, 1);
    console_draw(console, canvas);
    canvas_free(canvas);
}

static void test_no_frame(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_views; i++) {
        struct console console;
        open_bare(&console);
        console.view = i;
        press_everything(&console);
        console_free(&console);
    }
}

static void test_every_view(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_views; i++) {
        struct console console;
        open_console(&console);
        console.view = i;
        press_everything(&console);
        console_free(&console);
    }
}

/* Keys typed ahead of the drawing meet rows of a frame that is gone. */
static void test_rows_vanish(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_views; i++) {
        struct console console;
        open_console(&console);
        console.view = i;
        console_refresh(&console);
        press(&console, "End");
        atomic_store(&scene_empty, true);
        scene_tick(&host);
        console_frame(&console);
        press(&console, "Up Down Enter Esc n N Enter");
        press_everything(&console);
        show_view(&console, "ports");
        console_refresh(&console);
        assert_int_equal(state_of(&console)->n_rows, 1); /* that of the source which is stale */
        atomic_store(&scene_empty, false);
        scene_tick(&host);
        console_frame(&console);
        console.view = i;
        press(&console, "Enter Esc");
        press_everything(&console);
        console_free(&console);
    }
}

/* The row of a detail screen goes and comes. */
static void test_detail_of_what_is_gone(void **state)
{
    (void)state;
    struct console console;
    open_console(&console);
    press(&console, "/ v n e t 4 Enter Enter");
    atomic_store(&scene_empty, true);
    scene_tick(&host);
    console_frame(&console);
    assert_true(screen_has(&console, 24, 80, "gone: it does not exist at this moment"));
    press(&console, "Left");
    assert_true(screen_has(&console, 24, 80, "vnet4"));
    atomic_store(&scene_empty, false);
    scene_tick(&host);
    press(&console, "Space");
    assert_true(screen_has(&console, 24, 80, "vnet4"));
    console_free(&console);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_names),
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_view_keys),
        cmocka_unit_test(test_help_lists_everything),
        cmocka_unit_test(test_help_scrolls_to_its_end),
        cmocka_unit_test(test_footer_fits),
        cmocka_unit_test(test_long_prompt_and_message),
        cmocka_unit_test(test_no_frame),
        cmocka_unit_test(test_every_view),
        cmocka_unit_test(test_rows_vanish),
        cmocka_unit_test(test_detail_of_what_is_gone),
    };
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
