/* SPDX-License-Identifier: MIT */
/*
 * What each action does to the console: one short function each, in a table by action. A typed line ends in
 * prompt_done, a list in the chooser's keys.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/console.h"
#include "ui/terminal.h"

typedef void action_fn(struct console *console);

static struct table_state *state_of(struct console *console)
{
    return &console->states[console->view];
}

static enum table_id table_of(const struct console *console)
{
    return views[console->view].table;
}

static void move(struct console *console, long by)
{
    if (console->screen == SCREEN_VIEW) {
        table_move(state_of(console), by);
        return;
    }
    long last = (long)console->scroll_end, at = (long)console->scroll + by;
    at = at > last ? last : at;
    console->scroll = at > 0 ? (size_t)at : 0;
}

static void act_up(struct console *console)
{
    move(console, -1);
}

static void act_down(struct console *console)
{
    move(console, 1);
}

static void act_page_up(struct console *console)
{
    move(console, -15);
}

static void act_page_down(struct console *console)
{
    move(console, 15);
}

static void act_top(struct console *console)
{
    move(console, -1000000);
}

static void act_bottom(struct console *console)
{
    move(console, 1000000);
}

static void act_enter(struct console *console)
{
    struct table_state *state = state_of(console);
    if (console->screen != SCREEN_VIEW || !console->frame || state->n_rows == 0)
        return;
    snprintf(console->detail_key, sizeof(console->detail_key), "%s", state->rows[state->cursor]->key);
    console->screen = SCREEN_DETAIL;
    console->scroll = 0;
}

static void act_back(struct console *console)
{
    if (console->screen == SCREEN_VIEW) {
        char error[128];
        state_of(console)->search[0] = '\0';
        table_set_filter(state_of(console), "", error, sizeof(error));
    }
    console->screen = console->screen == SCREEN_HELP ? console->behind_help : SCREEN_VIEW;
    console->scroll = 0;
}

static void turn_view(struct console *console, size_t by)
{
    console->view = (console->view + by) % n_views;
    console->screen = SCREEN_VIEW;
}

static void act_next_view(struct console *console)
{
    turn_view(console, 1);
}

static void act_previous_view(struct console *console)
{
    turn_view(console, n_views - 1);
}

static void ask(struct console *console, enum action_id action, const char *label, const char *text)
{
    console->prompt = (struct prompt){.action = action, .label = label};
    console->prompt.t_ns = clock_mono_ns();
    console->prompt.wall_ns = clock_wall_ns();
    if (console->paused && console->frame) { /* a mark belongs to the moment that is looked at */
        console->prompt.t_ns = console->frame->now_ns;
        console->prompt.wall_ns = console->frame->wall_ns;
    }
    snprintf(console->prompt.text, sizeof(console->prompt.text), "%s", text);
    console->prompt.length = strlen(console->prompt.text);
}

static void act_search(struct console *console)
{
    ask(console, ACTION_SEARCH, "search", "");
}

static void search_again(struct console *console, bool backwards)
{
    struct table_state *state = state_of(console);
    if (!console->frame || !state->search[0])
        console_complain(console, "nothing to search for; / asks");
    else if (!table_search(state, console->frame, table_of(console), state->search, backwards, true))
        console_complain(console, "%s: not found", state->search);
}

static void act_search_next(struct console *console)
{
    search_again(console, false);
}

static void act_search_previous(struct console *console)
{
    search_again(console, true);
}

static void act_filter(struct console *console)
{
    ask(console, ACTION_FILTER, "filter (regular expression, empty shows all)",
        state_of(console)->filter_text);
}

/* Said in words as well: the column may have left the screen. */
static void say_sort(struct console *console)
{
    const struct table_state *state = state_of(console);
    console->settings_changed = true;
    if (state->sort)
        console_say(console, "sorted by %s, %s first", state->sort->key,
                    format_is_right(state->sort) ? (state->descending ? "largest" : "smallest")
                                                 : (state->descending ? "Z" : "A"));
}

void console_sort(struct console *console, const struct column *column)
{
    struct table_state *state = state_of(console);
    state->sort = column;
    state->descending = format_is_right(column) && !(column->flags & COL_KEY);
    say_sort(console);
}

static void act_sort_left(struct console *console)
{
    table_sort_step(state_of(console), table_get(table_of(console)), -1);
    say_sort(console);
}

static void act_sort_right(struct console *console)
{
    table_sort_step(state_of(console), table_get(table_of(console)), 1);
    say_sort(console);
}

static void act_reverse(struct console *console)
{
    state_of(console)->descending = !state_of(console)->descending;
    say_sort(console);
}

static void choose(struct console *console, enum action_id action)
{
    const struct table *table = table_get(table_of(console));
    const struct column *columns[MAX_VIEW_COLUMNS];
    console->chooser = (struct chooser){.action = action};
    size_t n = table_columns(state_of(console), table, columns, MAX_VIEW_COLUMNS);
    for (size_t i = 0; i < n; i++)
        console->chooser.on[columns[i] - table->columns] = true;
    if (action == ACTION_SORT_MENU && state_of(console)->sort)
        console->chooser.cursor = (size_t)(state_of(console)->sort - table->columns);
}

static void act_columns(struct console *console)
{
    choose(console, ACTION_COLUMNS);
}

static void act_sort_menu(struct console *console)
{
    choose(console, ACTION_SORT_MENU);
}

static void act_interval(struct console *console)
{
    char text[32];
    snprintf(text, sizeof(text), "%g", (double)session_interval_ms(console->session) / 1000);
    ask(console, ACTION_INTERVAL, "interval, seconds (0.1 to 3600)", text);
}

static void show_moment(struct console *console, size_t moment)
{
    struct frame *frame = store_frame(session_store(console->session), moment);
    if (!frame)
        return;
    frame_free(console->frame);
    console->frame = frame;
}

static void go_live(struct console *console)
{
    console->paused = false;
    show_moment(console, store_moments(session_store(console->session)) - 1);
}

static void act_pause(struct console *console)
{
    if (console->paused)
        go_live(console);
    else
        console->paused = console->frame != NULL;
}

static void act_step_back(struct console *console)
{
    if (!console->frame)
        return;
    size_t moment = console_moment(console);
    console->paused = true;
    if (moment == 0)
        console_say(console, "the history begins here");
    else
        show_moment(console, moment - 1);
}

static void act_step_forward(struct console *console)
{
    if (!console->paused)
        return;
    size_t moment = console_moment(console) + 1;
    if (moment + 1 >= store_moments(session_store(console->session)))
        go_live(console);
    else
        show_moment(console, moment);
}

static void act_mark(struct console *console)
{
    ask(console, ACTION_MARK, "mark", "");
}

static void act_baseline(struct console *console)
{
    if (console->baseline) {
        frame_free(console->baseline);
        console->baseline = NULL;
        console_say(console, "baseline cleared");
    } else if (console->frame) {
        console->baseline = store_frame(session_store(console->session), console_moment(console));
        console_say(console, "baseline set: rates and shares now show the change against it; b clears it");
    }
}

static void act_snapshot(struct console *console)
{
    char folder[128], error[256];
    if (!console->frame)
        return;
    takeaway_folder(folder, sizeof(folder), "snapshot", console->frame->wall_ns);
    if (takeaway_snapshot(console->takeaway, folder, console->frame, error, sizeof(error)) < 0)
        console_complain(console, "%s", error);
    else
        console_say(console, "written: %s", folder);
}

static void act_record(struct console *console)
{
    char folder[PATH_MAX], error[256];
    if (!console->frame)
        return;
    if (takeaway_recording(console->takeaway)) {
        snprintf(folder, sizeof(folder), "%s", takeaway_recording(console->takeaway));
        if (takeaway_stop(console->takeaway, error, sizeof(error)) < 0)
            console_complain(console, "%s", error);
        else
            console_say(console, "recorded: %s", folder);
        return;
    }
    const struct frame *frame = console->frame;
    if (console->options->out)
        snprintf(folder, sizeof(folder), "%s", console->options->out);
    else
        takeaway_folder(folder, sizeof(folder), "record", frame->wall_ns);
    int64_t start_wall_ns = frame->wall_ns - (frame->now_ns - frame->start_ns);
    if (takeaway_start(console->takeaway, folder, frame->start_ns, start_wall_ns, error, sizeof(error)) < 0) {
        console_complain(console, "%s", error);
        return;
    }
    console->recording_since_ns = clock_mono_ns();
    console_say(console, "recording into %s; R stops", folder);
}

static void act_units(struct console *console)
{
    console->style.units = (console->style.units + 1) % FORMAT_UNITS;
    for (size_t i = 0; i < n_views; i++)
        memset(console->states[i].grown, 0, sizeof(console->states[i].grown));
    console_say(console, "units: %s", format_units_name(console->style.units));
    console->settings_changed = true;
}

static void act_idle(struct console *console)
{
    struct table_state *state = state_of(console);
    state->show_idle = !state->show_idle;
    console_say(console, state->show_idle ? "idle rows shown" : "idle rows hidden");
}

/* The next theme that can be loaded; one that cannot is named, and does not stand in the way of the others.
 */
static void next_theme(struct console *console, char *const *names, size_t n)
{
    char error[256] = "", wrong[256];
    size_t at = 0;
    while (at < n && strcmp(names[at], console->theme.name) != 0)
        at++;
    for (size_t step = 1; step <= n; step++) {
        struct theme theme;
        const char *name = names[(at + step) % n];
        if (theme_load(&theme, name, console->theme_folders, wrong, sizeof(wrong)) < 0) {
            memcpy(error, wrong, sizeof(error));
            continue;
        }
        console->theme = theme;
        snprintf(console->kept_theme, sizeof(console->kept_theme), "%s", theme.name);
        console->settings_changed = true;
        console_say(console, "theme: %s%s%s", theme.name, error[0] ? "; left out: " : "", error);
        return;
    }
    console_complain(console, "%s", error);
}

static void act_theme(struct console *console)
{
    char *names[64];
    size_t n = theme_list(console->theme_folders, names, 64);
    next_theme(console, names, n);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
}

static void act_redraw(struct console *console)
{
    console->redraw = true;
}

static void act_help(struct console *console)
{
    if (console->screen == SCREEN_HELP) {
        act_back(console);
        return;
    }
    console->behind_help = console->screen;
    console->screen = SCREEN_HELP;
    console->scroll = 0;
}

static void act_quit(struct console *console)
{
    console->quit = true;
}

static action_fn *const handlers[ACTIONS_N] = {
    [ACTION_ENTER] = act_enter,
    [ACTION_BACK] = act_back,
    [ACTION_UP] = act_up,
    [ACTION_DOWN] = act_down,
    [ACTION_PAGE_UP] = act_page_up,
    [ACTION_PAGE_DOWN] = act_page_down,
    [ACTION_TOP] = act_top,
    [ACTION_BOTTOM] = act_bottom,
    [ACTION_NEXT_VIEW] = act_next_view,
    [ACTION_PREVIOUS_VIEW] = act_previous_view,
    [ACTION_SEARCH] = act_search,
    [ACTION_SEARCH_NEXT] = act_search_next,
    [ACTION_SEARCH_PREVIOUS] = act_search_previous,
    [ACTION_FILTER] = act_filter,
    [ACTION_SORT_LEFT] = act_sort_left,
    [ACTION_SORT_RIGHT] = act_sort_right,
    [ACTION_SORT_MENU] = act_sort_menu,
    [ACTION_REVERSE] = act_reverse,
    [ACTION_COLUMNS] = act_columns,
    [ACTION_INTERVAL] = act_interval,
    [ACTION_PAUSE] = act_pause,
    [ACTION_STEP_BACK] = act_step_back,
    [ACTION_STEP_FORWARD] = act_step_forward,
    [ACTION_MARK] = act_mark,
    [ACTION_BASELINE] = act_baseline,
    [ACTION_SNAPSHOT] = act_snapshot,
    [ACTION_RECORD] = act_record,
    [ACTION_UNITS] = act_units,
    [ACTION_IDLE] = act_idle,
    [ACTION_THEME] = act_theme,
    [ACTION_REDRAW] = act_redraw,
    [ACTION_HELP] = act_help,
    [ACTION_QUIT] = act_quit,
};

void console_act(struct console *console, enum action_id action)
{
    if (action < ACTIONS_N)
        handlers[action](console);
}

static void search_done(struct console *console, const char *text)
{
    struct table_state *state = state_of(console);
    snprintf(state->search, sizeof(state->search), "%s", text);
    if (*text && console->frame &&
        !table_search(state, console->frame, table_of(console), text, false, false))
        console_complain(console, "%s: not found", text);
}

static void filter_done(struct console *console, const char *text)
{
    char error[256];
    if (table_set_filter(state_of(console), text, error, sizeof(error)) < 0)
        console_complain(console, "%s", error);
}

static void interval_done(struct console *console, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds >= 0.1 && seconds <= 3600)) {
        console_complain(console, "interval %s: give seconds from 0.1 to 3600", text);
        return;
    }
    session_set_interval(console->session, seconds);
    console->interval_changed = true;
}

static void mark_done(struct console *console, const struct prompt *prompt)
{
    char clock[FORMAT_SIZE];
    format_clock(clock, sizeof(clock), prompt->wall_ns);
    session_mark(console->session, prompt->text, prompt->t_ns, prompt->wall_ns);
    console_say(console, "marked %s: %s", clock, prompt->text);
}

static void prompt_done(struct console *console)
{
    struct prompt prompt = console->prompt;
    console->prompt.action = ACTIONS_N;
    if (prompt.action == ACTION_SEARCH)
        search_done(console, prompt.text);
    else if (prompt.action == ACTION_FILTER)
        filter_done(console, prompt.text);
    else if (prompt.action == ACTION_INTERVAL)
        interval_done(console, prompt.text);
    else
        mark_done(console, &prompt);
}

/* Drops the last character, not the last byte. */
static void prompt_erase(struct prompt *prompt)
{
    while (prompt->length > 0 && ((unsigned char)prompt->text[--prompt->length] & 0xc0) == 0x80)
        ;
    prompt->text[prompt->length] = '\0';
}

/* Names of keys that stand for no character are longer than any one character's bytes, or begin with ^. */
static bool is_character(const char *name)
{
    unsigned char first = (unsigned char)name[0];
    size_t n = strlen(name);
    if (n == 1)
        return first >= ' ' && first < 0x7f;
    return first >= 0xc2 && n <= 4;
}

void console_prompt_key(struct console *console, const char *name)
{
    struct prompt *prompt = &console->prompt;
    const char *character = strcmp(name, "Space") == 0 ? " " : name;
    size_t n = strlen(character);
    if (strcmp(name, "Enter") == 0) {
        prompt_done(console);
    } else if (strcmp(name, "Esc") == 0 || strcmp(name, "^C") == 0) {
        prompt->action = ACTIONS_N;
    } else if (strcmp(name, "Backspace") == 0) {
        prompt_erase(prompt);
    } else if (strcmp(name, "^U") == 0) {
        prompt->text[prompt->length = 0] = '\0';
    } else if (is_character(character) && prompt->length + n < sizeof(prompt->text)) {
        memcpy(prompt->text + prompt->length, character, n + 1);
        prompt->length += n;
    }
}

/* Before the first column that the table has after it: so that the table's own order stays as it is. */
static void insert_column(struct table_state *state, const struct column *column)
{
    size_t at = 0;
    while (at < state->n_columns && state->columns[at] < column)
        at++;
    memmove(&state->columns[at + 1], &state->columns[at],
            (state->n_columns - at) * sizeof(state->columns[0]));
    state->columns[at] = column;
    state->n_columns++;
}

/* Columns that were shown keep their order; new ones come where the table has them. None is the view's own.
 */
static void take_columns(struct console *console)
{
    struct table_state *state = state_of(console);
    const struct table *table = table_get(table_of(console));
    const struct column *before[MAX_VIEW_COLUMNS];
    bool *on = console->chooser.on;
    size_t n = table_columns(state, table, before, MAX_VIEW_COLUMNS);
    state->n_columns = 0;
    for (size_t i = 0; i < n; i++) {
        size_t number = (size_t)(before[i] - table->columns);
        if (on[number])
            state->columns[state->n_columns++] = before[i];
        on[number] = false;
    }
    for (size_t i = 0; i < table->n_columns; i++)
        if (on[i])
            insert_column(state, &table->columns[i]);
    console->settings_changed = true;
}

static void chooser_done(struct console *console)
{
    const struct column *column = &table_get(table_of(console))->columns[console->chooser.cursor];
    if (console->chooser.action == ACTION_COLUMNS)
        take_columns(console);
    else if (state_of(console)->sort != column) /* an order that was turned stays turned */
        console_sort(console, column);
    console->chooser.action = ACTIONS_N;
}

static void chooser_move(struct console *console, long by)
{
    long last = (long)table_get(table_of(console))->n_columns - 1, at = (long)console->chooser.cursor + by;
    console->chooser.cursor = (size_t)(at < 0 ? 0 : at > last ? last : at);
}

void console_chooser_key(struct console *console, const char *name)
{
    struct chooser *chooser = &console->chooser;
    enum action_id action = action_find(name);
    static const long steps[ACTIONS_N] = {
        [ACTION_UP] = -1,        [ACTION_DOWN] = 1,      [ACTION_PAGE_UP] = -15,
        [ACTION_PAGE_DOWN] = 15, [ACTION_TOP] = -100000, [ACTION_BOTTOM] = 100000,
    };
    if (strcmp(name, "Space") == 0) {
        chooser->on[chooser->cursor] = !chooser->on[chooser->cursor];
    } else if (action == ACTION_REVERSE) {
        act_reverse(console);
    } else if (action == ACTION_ENTER || action == ACTION_COLUMNS) {
        chooser_done(console);
    } else if (strcmp(name, "Backspace") == 0) {
        state_of(console)->n_columns = 0;
        choose(console, chooser->action);
        console->settings_changed = true;
    } else if (action == ACTION_BACK || action == ACTION_QUIT) {
        chooser->action = ACTIONS_N;
    } else if (action < ACTIONS_N) {
        chooser_move(console, steps[action]);
    }
}
