/* SPDX-License-Identifier: MIT */
/*
 * The console's state and its frame of the screen: header, tabs, the view or what lies over it, footer (see
 * console.h). What keys do is in console_actions.c.
 */
#include "ui/console.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector.h"
#include "ui/terminal.h"

#define MIN_ROWS 10
#define MIN_COLS 40
#define TOP_ROWS 3 /* header, tabs, blank */

static int apply_option(struct console *console, const char *text,
                        int (*set)(struct table_state *, const struct table *, const char *, char *, size_t),
                        char *error, size_t error_size)
{
    if (!text)
        return 0;
    const struct view *view = &views[console->view];
    return set(&console->states[console->view], table_get(view->table), text, error, error_size);
}

static int apply_options(struct console *console, char *error, size_t error_size)
{
    const struct options *options = console->options;
    if (options->view) {
        const struct view *view = view_find(options->view);
        if (!view) {
            snprintf(error, error_size, "--view %s: no such view; --view help lists them", options->view);
            return -1;
        }
        console->view = (size_t)(view - views);
    }
    if (options->filter &&
        table_set_filter(&console->states[console->view], options->filter, error, error_size) < 0)
        return -1;
    if (apply_option(console, options->columns, table_set_columns, error, error_size) < 0 ||
        apply_option(console, options->sort, table_set_sort, error, error_size) < 0)
        return -1;
    if (options->theme)
        return theme_load(&console->theme, options->theme, console->theme_folders, error, error_size);
    return 0;
}

int console_init(struct console *console, const struct options *options, struct session *session,
                 struct takeaway *takeaway, const char *const *theme_folders, char *error, size_t error_size)
{
    *console = (struct console){
        .options = options,
        .session = session,
        .takeaway = takeaway,
        .theme_folders = theme_folders,
        .prompt.action = ACTIONS_N,
        .chooser.action = ACTIONS_N,
    };
    for (size_t i = 0; i < n_views; i++)
        table_state_init(&console->states[i], &views[i]);
    theme_default(&console->theme);
    if (console_load_settings(console, error, error_size) < 0)
        console_complain(console, "%s", error);
    if (apply_options(console, error, error_size) < 0) {
        console_free(console);
        return -1;
    }
    return 0;
}

void console_free(struct console *console)
{
    for (size_t i = 0; i < n_views; i++)
        table_state_free(&console->states[i]);
    frame_free(console->frame);
    frame_free(console->baseline);
    console->frame = console->baseline = NULL;
}

static void say(struct console *console, bool is_error, const char *format, va_list args)
{
    vsnprintf(console->message, sizeof(console->message), format, args);
    console->message_is_error = is_error;
}

void console_say(struct console *console, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(console, false, format, args);
    va_end(args);
}

void console_complain(struct console *console, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(console, true, format, args);
    va_end(args);
}

size_t console_moment(const struct console *console)
{
    const struct store *store = session_store(console->session);
    size_t n = store_moments(store);
    while (n > 1 && console->frame && store_moment_ns(store, n - 1) > console->frame->now_ns)
        n--;
    return n ? n - 1 : 0;
}

static void write_recording(struct console *console, const struct frame *frame)
{
    char error[256];
    if (!takeaway_recording(console->takeaway) ||
        takeaway_write(console->takeaway, frame, error, sizeof(error)) == 0)
        return;
    char ignored[256];
    takeaway_stop(console->takeaway, ignored, sizeof(ignored));
    console_complain(console, "recording stopped: %s", error);
}

void console_frame(struct console *console)
{
    struct frame *frame = session_take_frame(console->session);
    write_recording(console, frame);
    if (console->paused && console->frame) {
        frame_free(frame);
        return;
    }
    frame_free(console->frame);
    console->frame = frame;
}

void console_refresh(struct console *console)
{
    if (console->frame)
        table_prepare(&console->states[console->view], console->frame, views[console->view].table);
}

void console_key(struct console *console, const char *name)
{
    console->message[0] = '\0';
    console_refresh(console);
    if (console->prompt.action != ACTIONS_N) {
        console_prompt_key(console, name);
        return;
    }
    if (console->chooser.action != ACTIONS_N) {
        console_chooser_key(console, name);
        return;
    }
    size_t view = view_of_key(name);
    if (view < n_views) {
        console->view = view;
        console->screen = SCREEN_VIEW;
        return;
    }
    console_act(console, action_find(name));
}

enum source_says { SAYS_TROUBLE, SAYS_NOTHING_WRONG };

static enum source_says source_says(const struct frame_row *row)
{
    static const char *const quiet[] = {"ok", "none", "starting"};
    const struct sources_row *source = (const struct sources_row *)row->part.cur;
    for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
        if (strcmp(source->state, quiet[i]) == 0)
            return SAYS_NOTHING_WRONG;
    return SAYS_TROUBLE;
}

/* A source's word in the header: parts of a source that work are not named beside it. */
static int draw_source(struct canvas *canvas, int col, int limit, const struct frame_row *row)
{
    const struct sources_info *info = (const struct sources_info *)row->part.cur->info;
    const struct sources_row *source = (const struct sources_row *)row->part.cur;
    bool ok = strcmp(source->state, "ok") == 0, trouble = source_says(row) == SAYS_TROUBLE;
    if (strcmp(info->name, "vnettop") == 0 || (!trouble && strchr(info->name, '-')))
        return col;
    const char *sign = trouble ? "!" : strcmp(source->state, "none") == 0 ? "-" : "";
    char text[160];
    snprintf(text, sizeof(text), "%s%s", info->name, sign);
    if (col + canvas_width(canvas, text) >= limit)
        return col;
    enum role role = trouble ? ROLE_BAD : ok ? ROLE_GOOD : ROLE_DIM;
    return canvas_text(canvas, 0, col, limit - col, role, text) + 1;
}

/* Those in trouble first: they are not the ones for which there is no room. */
static void draw_sources(struct canvas *canvas, int col, int limit, const struct frame_table *sources)
{
    for (int says = SAYS_TROUBLE; says <= SAYS_NOTHING_WRONG; says++)
        for (size_t i = 0; i < sources->n; i++)
            if ((int)source_says(&sources->rows[i]) == says)
                col = draw_source(canvas, col, limit, &sources->rows[i]);
}

static int right_end(struct canvas *canvas, int limit, enum role role, const char *text)
{
    int col = limit - canvas_width(canvas, text);
    if (col > 0)
        canvas_text(canvas, 0, col, limit - col, role, text);
    return col - 2;
}

static void describe_time(const struct console *console, char *text, size_t size)
{
    const struct frame *frame = console->frame;
    char clock[FORMAT_SIZE], interval[FORMAT_SIZE];
    format_clock(clock, sizeof(clock), frame->wall_ns);
    snprintf(interval, sizeof(interval), "%.1fs", (double)session_interval_ms(console->session) / 1000);
    const struct store *store = session_store(console->session);
    if (!console->paused) {
        snprintf(text, size, "%s  live %s", clock, interval);
        return;
    }
    char age[FORMAT_SIZE];
    int64_t last = store_moment_ns(store, store_moments(store) - 1);
    format_duration(age, sizeof(age), (double)(last - frame->now_ns) / 1e9);
    snprintf(text, size, "%s  paused, %s ago", clock, age);
}

/* How many causes stand, in the role of the worst. */
static int draw_findings_count(const struct console *console, struct canvas *canvas, int limit)
{
    const struct frame_table *findings = &console->frame->table[TABLE_FINDINGS];
    enum role role = ROLE_TEXT;
    char text[32];
    if (findings->n == 0)
        return limit;
    for (size_t i = 0; i < findings->n; i++) {
        const char *severity = ((const struct findings_row *)findings->rows[i].part.cur)->severity;
        if (strcmp(severity, "bad") == 0)
            role = ROLE_BAD;
        else if (strcmp(severity, "watch") == 0 && role == ROLE_TEXT)
            role = ROLE_WATCH;
    }
    snprintf(text, sizeof(text), "%zu finding%s", findings->n, findings->n == 1 ? "" : "s");
    return right_end(canvas, limit, role, text);
}

static void draw_header(struct console *console, struct canvas *canvas)
{
    char text[256];
    int col = canvas_text(canvas, 0, 1, canvas->cols, ROLE_TITLE, "vnettop") + 2, limit = canvas->cols - 1;
    if (!console->frame) {
        canvas_text(canvas, 0, col, limit - col, ROLE_DIM, "waiting for the first sample");
        return;
    }
    if (takeaway_recording(console->takeaway)) {
        char elapsed[FORMAT_SIZE];
        format_elapsed(elapsed, sizeof(elapsed), clock_mono_ns() - console->recording_since_ns);
        snprintf(text, sizeof(text), "rec %s", elapsed);
        limit = right_end(canvas, limit, ROLE_BAD, text);
    }
    if (console->baseline) {
        char clock[FORMAT_SIZE];
        format_clock(clock, sizeof(clock), console->baseline->wall_ns);
        snprintf(text, sizeof(text), "against %s", clock);
        limit = right_end(canvas, limit, ROLE_MARK, text);
    }
    limit = draw_findings_count(console, canvas, limit);
    describe_time(console, text, sizeof(text));
    col = canvas_text(canvas, 0, col, limit - col, console->paused ? ROLE_MARK : ROLE_TEXT, text) + 2;
    const struct text_list *netns = &console->options->netns;
    for (size_t i = 0; i < netns->n && col < limit; i++)
        col = canvas_textf(canvas, 0, col, limit - col, ROLE_TITLE, "netns %s", netns->texts[i]) + 2;
    draw_sources(canvas, col, limit, &console->frame->table[TABLE_SOURCES]);
}

static bool is_narrow(const struct canvas *canvas)
{
    return canvas->cols < 100;
}

/* Tabs stand one after the other; where a click falls is found by the same walk. */
static int tab_text(const struct canvas *canvas, size_t i, char *text, size_t size)
{
    return snprintf(text, size, "%c %s", view_key(i), is_narrow(canvas) ? views[i].brief : views[i].title);
}

static void draw_tabs(const struct console *console, struct canvas *canvas)
{
    int col = 1;
    for (size_t i = 0; i < n_views; i++) {
        char text[64];
        tab_text(canvas, i, text, sizeof(text));
        bool active = i == console->view;
        col = canvas_text(canvas, 1, col, canvas->cols - col, active ? ROLE_TAB_ACTIVE : ROLE_TAB, text) + 2;
    }
    char cost[64];
    snprintf(cost, sizeof(cost), "cost %.1f%% cpu", session_cost_pct(console->session));
    int at = canvas->cols - 1 - (int)strlen(cost);
    if (at > col)
        canvas_text(canvas, 1, at, canvas->cols - at, ROLE_DIM, cost);
}

/* What is typed keeps its end in sight, however long it is. */
static void draw_prompt(const struct console *console, struct canvas *canvas)
{
    int row = canvas->rows - 1, last = canvas->cols - 2;
    const char *text = console->prompt.text;
    int col = canvas_textf(canvas, row, 1, canvas->cols / 2, ROLE_PROMPT, "%s:", console->prompt.label) + 1;
    while (canvas_width(canvas, text) > last - col)
        do
            text++;
        while (((unsigned char)*text & 0xc0) == 0x80);
    col = canvas_text(canvas, row, col, last - col, ROLE_TEXT, text);
    canvas_cursor(canvas, row, col);
}

/* The end of a message is its mend: it takes the lines it needs. */
static void draw_message(const struct console *console, struct canvas *canvas)
{
    enum role role = console->message_is_error ? ROLE_BAD : ROLE_MESSAGE;
    int width = canvas->cols - 2, most = canvas->rows - TOP_ROWS;
    int lines = canvas_wrap(canvas, canvas->rows, 1, width, most, role, console->message);
    for (int i = 0; i < lines; i++)
        canvas_fill(canvas, canvas->rows - 1 - i, 0, canvas->cols, ROLE_TEXT, " ");
    canvas_wrap(canvas, canvas->rows - lines, 1, width, lines, role, console->message);
}

static void key_hint(enum action_id id, const char *word, char *text, size_t size)
{
    const struct action *action = action_get(id);
    word = word ? word : action->footer;
    if (strchr(word, ' ')) /* it names its keys itself */
        snprintf(text, size, "%s", word);
    else
        snprintf(text, size, "%.*s %s", (int)strcspn(action->keys, " "), action->keys, word);
}

/* One hint; returns the column after it and its gap, or col when it does not fit before limit. */
static int draw_hint(struct canvas *canvas, int col, int limit, enum action_id id, const char *word)
{
    char text[64];
    key_hint(id, word, text, sizeof(text));
    if (col + (int)strlen(text) > limit)
        return col;
    int row = canvas->rows - 1, end = canvas_text(canvas, row, col, limit - col, ROLE_DIM, text);
    canvas_paint(canvas, row, col, (int)strcspn(text, " "), ROLE_KEY);
    return end + 2;
}

/* Help and the way out stand at the right edge, whatever else has room. */
static int draw_last_hints(struct canvas *canvas)
{
    static const enum action_id last[] = {ACTION_QUIT, ACTION_HELP};
    int limit = canvas->cols - 1;
    for (size_t i = 0; i < 2; i++) {
        char text[64];
        key_hint(last[i], NULL, text, sizeof(text));
        limit -= (int)strlen(text);
        draw_hint(canvas, limit, canvas->cols, last[i], NULL);
        limit -= 2;
    }
    return limit;
}

static void draw_hints(const struct console *console, struct canvas *canvas)
{
    int limit = draw_last_hints(canvas), col = 1;
    bool over = console->screen != SCREEN_VIEW;
    if (over)
        col = draw_hint(canvas, col, limit, ACTION_BACK, "back");
    if (over && console->scroll < console->scroll_end)
        col = draw_hint(canvas, col, limit, ACTION_PAGE_DOWN, "more");
    /* Over the view, a list's keys do nothing. */
    for (int i = over ? ACTION_PAUSE : 0; i < ACTIONS_N; i++) {
        bool done = i == ACTION_HELP || i == ACTION_QUIT || !*action_get((enum action_id)i)->footer;
        if (!done)
            col = draw_hint(canvas, col, limit, (enum action_id)i, NULL);
    }
}

static void draw_footer(const struct console *console, struct canvas *canvas)
{
    if (console->prompt.action != ACTIONS_N)
        draw_prompt(console, canvas);
    else if (console->message[0])
        draw_message(console, canvas);
    else if (console->chooser.action == ACTIONS_N)
        draw_hints(console, canvas);
}

static void draw_choice(const struct console *console, struct canvas *canvas, int row, size_t i)
{
    const struct chooser *chooser = &console->chooser;
    const struct column *column = &table_get(views[console->view].table)->columns[i];
    const struct table_state *state = &console->states[console->view];
    const char *box = chooser->on[i] ? "[x]" : "[ ]";
    if (chooser->action == ACTION_SORT_MENU)
        box = column != state->sort ? "" : state->descending ? "9-0" : "0-9";
    canvas_text(canvas, row, 1, 3, ROLE_KEY, box);
    canvas_text(canvas, row, 5, 22, ROLE_TEXT, column->key);
    canvas_text(canvas, row, 28, 14, ROLE_HEADING, column->title);
    canvas_text(canvas, row, 43, canvas->cols - 44, ROLE_DIM, column->help);
    if (i == chooser->cursor)
        canvas_select(canvas, row, 0, canvas->cols);
}

/* The list, and under it the whole help of the column that the cursor is on. */
static void draw_chooser(struct console *console, struct canvas *canvas, struct area area)
{
    struct chooser *chooser = &console->chooser;
    const struct table *table = table_get(views[console->view].table);
    bool columns = chooser->action == ACTION_COLUMNS;
    canvas_text(canvas, area.top, 1, area.cols - 1, ROLE_TITLE,
                columns ? "Columns: Space shows or hides, Backspace: as it was, Enter takes, Esc leaves"
                        : "Sort: Enter takes the column, r turns the order, Esc leaves");
    size_t shown = (size_t)(area.rows > 5 ? area.rows - 3 : 2);
    if (chooser->cursor < chooser->top)
        chooser->top = chooser->cursor;
    if (chooser->cursor >= chooser->top + shown)
        chooser->top = chooser->cursor - shown + 1;
    for (size_t i = chooser->top; i < table->n_columns && i < chooser->top + shown; i++)
        draw_choice(console, canvas, area.top + 1 + (int)(i - chooser->top), i);
    canvas_wrap(canvas, canvas->rows - 2, 1, canvas->cols - 2, 2, ROLE_MESSAGE,
                table->columns[chooser->cursor].help);
}

static struct scene make_scene(struct console *console)
{
    struct scene scene = {
        .frame = console->frame,
        .baseline = console->baseline,
        .store = session_store(console->session),
        .moment = console_moment(console),
        .interval_ms = session_interval_ms(console->session),
        .many_netns = console->options->netns.n > 1,
        .style = console->style,
        .state = &console->states[console->view],
    };
    scene.marks = session_marks(console->session, &scene.n_marks);
    return scene;
}

static struct area view_area(const struct canvas *canvas)
{
    return (struct area){.top = TOP_ROWS, .rows = canvas->rows - TOP_ROWS - 1, .cols = canvas->cols};
}

/* How old the row's stale numbers are. */
static void draw_staleness(const struct console *console, struct canvas *canvas, int col,
                           const struct frame_row *row)
{
    double age_s = 0;
    for (const struct part *part = &row->part; part; part = part->next) {
        double s = part_age_s(console->frame, part);
        if (part->pair->stale_ns && s * 1e9 > (double)part->pair->stale_ns && s > age_s)
            age_s = s;
    }
    if (age_s == 0)
        return;
    char age[FORMAT_SIZE];
    format_duration(age, sizeof(age), age_s);
    canvas_textf(canvas, 2, col, canvas->cols - col, ROLE_MESSAGE, "%s old (dimmed)", age);
}

static void draw_detail_title(const struct console *console, struct canvas *canvas, const struct view *view)
{
    const struct frame_row *row = frame_find(console->frame, view->table, console->detail_key);
    int col = 1;
    const struct table *table = table_get(view->table);
    for (size_t i = 0; row && i < table->n_columns; i++) {
        const struct column *column = &table->columns[i];
        struct cell cell = {.kind = CELL_NONE};
        if (column->where == IN_INFO && column->prio >= 5)
            cell = frame_cell(console->frame, row, column);
        char text[256];
        if (cell.kind == CELL_NONE)
            continue;
        format_cell(text, sizeof(text), &cell, column, &console->style);
        bool first = col == 1;
        if (!first || cell.kind != CELL_STR)
            col = canvas_textf(canvas, 2, col, canvas->cols - col, first ? ROLE_TITLE : ROLE_HEADING, "%s ",
                               column->title);
        col = canvas_text(canvas, 2, col, canvas->cols - col, first ? ROLE_TITLE : ROLE_TEXT, text) + 2;
    }
    if (row)
        draw_staleness(console, canvas, col, row);
}

/* Draws what scrolls; returns how far it can be scrolled. */
static size_t draw_over(struct console *console, struct canvas *canvas, struct area area,
                        const struct scene *scene)
{
    const struct view *view = &views[console->view];
    if (console->screen == SCREEN_HELP)
        return view_help_draw(canvas, area, view, console->scroll);
    draw_detail_title(console, canvas, view);
    return view_detail_draw(canvas, area, scene, view->table, console->detail_key, console->scroll);
}

static void draw_scrolled(struct console *console, struct canvas *canvas, struct area area,
                          const struct scene *scene)
{
    console->scroll_end = draw_over(console, canvas, area, scene);
    if (console->scroll <= console->scroll_end)
        return;
    console->scroll = console->scroll_end; /* the screen grew, or there is less to show */
    for (int row = 2; row < canvas->rows; row++)
        canvas_fill(canvas, row, 0, canvas->cols, ROLE_TEXT, " ");
    draw_over(console, canvas, area, scene);
}

static void draw_body(struct console *console, struct canvas *canvas)
{
    const struct view *view = &views[console->view];
    struct area area = view_area(canvas);
    struct scene scene = make_scene(console);
    console_refresh(console);
    if (console->chooser.action != ACTIONS_N)
        draw_chooser(console, canvas, area);
    else if (console->screen != SCREEN_VIEW)
        draw_scrolled(console, canvas, area, &scene);
    else if (view->draw)
        view->draw(canvas, area, &scene);
    else
        table_draw(canvas, area, &scene, view->table);
}

static bool is_too_small(const struct canvas *canvas)
{
    return canvas->rows < MIN_ROWS || canvas->cols < MIN_COLS;
}

void console_draw(struct console *console, struct canvas *canvas)
{
    canvas_clear(canvas);
    if (is_too_small(canvas)) {
        canvas_textf(canvas, 0, 0, canvas->cols, ROLE_MESSAGE, "%dx%d is too small:", canvas->cols,
                     canvas->rows);
        canvas_textf(canvas, 1, 0, canvas->cols, ROLE_TEXT, "vnettop needs %dx%d", MIN_COLS, MIN_ROWS);
        return;
    }
    draw_header(console, canvas);
    draw_tabs(console, canvas);
    if (console->frame)
        draw_body(console, canvas);
    draw_footer(console, canvas);
}

static bool click_tab(struct console *console, const struct canvas *canvas, int col)
{
    int start = 1;
    for (size_t i = 0; i < n_views; i++) {
        char text[64];
        int end = start + tab_text(canvas, i, text, sizeof(text));
        if (col >= start && col < end) {
            console->view = i;
            console->screen = SCREEN_VIEW;
            return true;
        }
        start = end + 2;
    }
    return false;
}

static const struct column *heading_at(struct console *console, const struct canvas *canvas, int col)
{
    struct scene scene = make_scene(console);
    const struct view *view = &views[console->view];
    if (view->draw == view_overview_draw)
        return view_overview_column_at(canvas, &scene, col);
    return view->draw ? NULL : table_column_at(canvas, view_area(canvas), &scene, view->table, col);
}

static void click_heading(struct console *console, const struct canvas *canvas, int col)
{
    struct table_state *state = &console->states[console->view];
    const struct column *column = heading_at(console, canvas, col);
    if (!column)
        return;
    if (state->sort == column) {
        console_act(console, ACTION_REVERSE);
        return;
    }
    console_sort(console, column);
}

void console_click(struct console *console, const struct canvas *canvas, int row, int col)
{
    console->message[0] = '\0';
    console_refresh(console);
    if (is_too_small(canvas) || console->prompt.action != ACTIONS_N || console->chooser.action != ACTIONS_N)
        return;
    if (row == 1 && click_tab(console, canvas, col))
        return;
    if (console->screen != SCREEN_VIEW || !console->frame)
        return;
    struct table_state *state = &console->states[console->view];
    if (row == TOP_ROWS) {
        click_heading(console, canvas, col);
        return;
    }
    int first = TOP_ROWS + 1;
    size_t at = row >= first && row < first + state->n_lines ? state->lines[row - first] : state->n_rows;
    if (at >= state->n_rows)
        return;
    if (at == state->cursor)
        console_act(console, ACTION_ENTER);
    else
        table_move(state, (long)at - (long)state->cursor);
}

void console_wheel(struct console *console, int step)
{
    const char *key = step < 0 ? "Up" : "Down";
    if (console->prompt.action != ACTIONS_N)
        return;
    for (int i = 0; i < 3; i++)
        console_key(console, key);
}
