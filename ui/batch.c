/* SPDX-License-Identifier: MIT */
/* Batch mode (see batch.h): draws a view on a canvas that is as high as it must be, and prints the canvas. */
#include "ui/batch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/asked.h"
#include "src/paths.h"
#include "ui/console.h"
#include "ui/dump.h"
#include "ui/terminal.h"

struct batch {
    const struct options *options;
    struct session *session;
    struct view view; /* the one asked for, or the plain table of --table */
    struct table_state state;
    struct canvas *canvas;
    int cols;
};

static int output_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int width = columns ? atoi(columns) : 0;
    if (width < 40 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return width >= 40 && width <= 4096 ? width : 160;
}

static int choose_view(struct batch *batch, char *error, size_t error_size)
{
    const struct options *options = batch->options;
    const char *name = options->view ? options->view : "overview";
    const struct view *view = view_find(name);
    if (!view) {
        snprintf(error, error_size, "--view %s: no such view; --view help lists them", name);
        return -1;
    }
    batch->view = *view;
    if (!options->table)
        return 0;
    batch->view = (struct view){.name = options->table, .table = table_find(options->table), .sort = "name"};
    if (batch->view.table == TABLES_N) {
        snprintf(error, error_size, "--table %s: no such table; --table help lists them", options->table);
        return -1;
    }
    return 0;
}

/* Plain text has no colours, but a theme that is none is wrong input here, too. */
static int check_theme(const struct options *options, char *error, size_t error_size)
{
    struct theme theme;
    struct theme_folders folders;
    if (!options->theme)
        return 0;
    theme_folders(&folders);
    return theme_load(&theme, options->theme, folders.list, error, error_size);
}

static int prepare(struct batch *batch, char *error, size_t error_size)
{
    const struct options *options = batch->options;
    if (check_theme(options, error, error_size) < 0 || choose_view(batch, error, error_size) < 0)
        return -1;
    const struct table *table = table_get(batch->view.table);
    table_state_init(&batch->state, &batch->view);
    if ((options->columns &&
         table_set_columns(&batch->state, table, options->columns, error, error_size) < 0) ||
        (options->sort && table_set_sort(&batch->state, table, options->sort, error, error_size) < 0) ||
        (options->filter && table_set_filter(&batch->state, options->filter, error, error_size) < 0))
        return -1;
    batch->cols = output_width();
    batch->canvas = canvas_new(1, batch->cols, !options->ascii && terminal_locale_utf8());
    return 0;
}

/* Everything that is not drawn by itself is one line: when, how long, what cannot be seen. */
static int draw_header(struct batch *batch, const struct frame *frame)
{
    char time[FORMAT_SIZE];
    format_rfc3339(time, sizeof(time), frame->wall_ns);
    int col = canvas_textf(
        batch->canvas, 0, 0, batch->cols, ROLE_TEXT, "vnettop %s  interval %.1fs  cost %.1f%% cpu", time,
        (double)session_interval_ms(batch->session) / 1000, session_cost_pct(batch->session));
    const struct frame_table *sources = &frame->table[TABLE_SOURCES];
    for (size_t i = 0; i < sources->n; i++) {
        const struct sources_info *info = (const struct sources_info *)sources->rows[i].part.cur->info;
        const struct sources_row *row = (const struct sources_row *)sources->rows[i].part.cur;
        if (strcmp(row->state, "ok") != 0 && strcmp(row->state, "none") != 0)
            col = canvas_textf(batch->canvas, 0, col, batch->cols - col, ROLE_TEXT, "  %s: %s", info->name,
                               row->state);
    }
    return 2;
}

static int print_frame(struct batch *batch)
{
    const struct store *store = session_store(batch->session);
    struct frame *frame = session_take_frame(batch->session);
    struct scene scene = {
        .frame = frame,
        .store = store,
        .moment = store_moments(store) - 1,
        .interval_ms = session_interval_ms(batch->session),
        .many_netns = batch->options->netns.n > 1,
        .state = &batch->state,
    };
    if (store_moments(store) == 2) /* the first that is printed */
        asked_complain(batch->options, frame);
    table_prepare(&batch->state, frame, batch->view.table);
    int rows = table_lines(&batch->state, batch->view.table) + 8;
    if (batch->view.draw) /* the overview gives a third of its rows to the CPUs */
        rows = rows * 3 / 2 + 3 * (int)frame->table[TABLE_CPUS].n;
    canvas_resize(batch->canvas, rows, batch->cols);
    canvas_clear(batch->canvas);
    int top = draw_header(batch, frame);
    struct area area = {.top = top, .rows = rows - top, .cols = batch->cols};
    if (batch->view.draw)
        batch->view.draw(batch->canvas, area, &scene);
    else
        table_draw(batch->canvas, area, &scene, batch->view.table);
    frame_free(frame);
    int rc = dump_text(batch->canvas, dump_used_rows(batch->canvas), stdout);
    return rc < 0 || fputc('\n', stdout) == EOF || fflush(stdout) == EOF ? -1 : 0;
}

int batch_output_failed(void)
{
    if (errno != EPIPE) /* a reader that has seen enough is no error worth a word */
        fprintf(stderr, "vnettop: cannot write standard output: %s\n", strerror(errno));
    return 1;
}

int batch_run(const struct options *options, struct session *session, int signal_fd)
{
    struct batch batch = {.options = options, .session = session};
    char error[512];
    int status = 0;
    if (prepare(&batch, error, sizeof(error)) < 0) {
        fprintf(stderr, "vnettop: %s\n", error);
        table_state_free(&batch.state);
        return 2;
    }
    struct pacer pacer;
    pacer_start(&pacer, session_interval_ms(session));
    bool go = session_frame_now(session, signal_fd);
    for (uint64_t n = 0; go && (options->frames == 0 || n < options->frames); n++) {
        go = pacer_wait(&pacer, signal_fd) && session_frame_now(session, signal_fd);
        if (go && print_frame(&batch) < 0) {
            status = batch_output_failed();
            break;
        }
    }
    canvas_free(batch.canvas);
    table_state_free(&batch.state);
    return status;
}

#define SOURCE_LINE_COLS 600 /* the longest detail, so that none is cut */

int batch_sources(struct session *session, int signal_fd)
{
    if (!session_frame_now(session, signal_fd))
        return 1;
    struct frame *frame = session_take_frame(session);
    const struct frame_table *sources = &frame->table[TABLE_SOURCES];
    struct canvas *canvas = canvas_new((int)sources->n + 1, SOURCE_LINE_COLS, terminal_locale_utf8());
    canvas_clear(canvas);
    canvas_text(canvas, 0, 0, SOURCE_LINE_COLS, ROLE_HEADING, "SOURCE              STATE          DETAIL");
    for (size_t i = 0; i < sources->n; i++) {
        const struct sources_info *info = (const struct sources_info *)sources->rows[i].part.cur->info;
        const struct sources_row *row = (const struct sources_row *)sources->rows[i].part.cur;
        int at = (int)i + 1, col = canvas_text(canvas, at, 0, 60, ROLE_TEXT, info->name) + 1;
        col = canvas_text(canvas, at, col > 20 ? col : 20, 20, ROLE_TEXT, row->state) + 1;
        canvas_text(canvas, at, col > 35 ? col : 35, SOURCE_LINE_COLS, ROLE_TEXT, row->detail);
    }
    int rc = dump_text(canvas, canvas->rows, stdout);
    int status = rc < 0 || fflush(stdout) == EOF ? batch_output_failed() : 0;
    canvas_free(canvas);
    frame_free(frame);
    return status;
}
