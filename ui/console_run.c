/* SPDX-License-Identifier: MIT */
/*
 * The console's loop: terminal, ticks, signals and feeds in one poll. The only thing it ever waits for is
 * that poll, so a source that hangs delays neither a key nor quitting.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "src/paths.h"
#include "ui/console.h"
#include "ui/terminal.h"

#define MAX_FDS         80
#define FIRST_TICK_MS   250 /* the second sample comes soon: rates without waiting for a long interval */
#define KEYS_NS         INT64_C(20000000) /* of keys at once: a paste waits, not the ticks and signals */
#define FIRST_SCREEN_NS INT64_C(80000000) /* of 150 ms: loading and drawing take the rest */

struct loop {
    struct console console;
    struct terminal *terminal;
    struct canvas *canvas;
    int timer_fd, signal_fd;
    bool waiting; /* a tick's samples are on their way */
    bool dirty;   /* the screen is behind the state */
    bool more;    /* keys were left for the next step */
    bool gone;    /* no terminal any more */
    int64_t opened_ns;
};

static void arm_timer(struct loop *loop, int64_t first_ms)
{
    int64_t interval_ms = session_interval_ms(loop->console.session);
    first_ms = first_ms < interval_ms ? first_ms : interval_ms;
    struct itimerspec when = {
        .it_value = {.tv_sec = first_ms / 1000, .tv_nsec = first_ms % 1000 * 1000000},
        .it_interval = {.tv_sec = interval_ms / 1000, .tv_nsec = interval_ms % 1000 * 1000000},
    };
    timerfd_settime(loop->timer_fd, 0, &when, NULL);
}

static void end_tick(struct loop *loop)
{
    loop->waiting = false;
    session_tick(loop->console.session, clock_mono_ns(), clock_wall_ns());
    console_frame(&loop->console);
    loop->dirty = true;
}

/* The first screen does not wait for a slow source. */
static int64_t patience_end(const struct loop *loop)
{
    int64_t end = session_patience_ns(loop->console.session);
    int64_t first = loop->opened_ns + FIRST_SCREEN_NS;
    return !loop->console.frame && first < end ? first : end;
}

static int poll_timeout_ms(const struct loop *loop)
{
    if (loop->more)
        return 0;
    if (!loop->waiting)
        return -1;
    int64_t left_ns = patience_end(loop) - clock_mono_ns();
    return left_ns > 0 ? (int)((left_ns + 999999) / 1000000) : 0;
}

static void handle_event(struct loop *loop, struct terminal_event event)
{
    char name[32];
    switch (event.kind) {
    case TERMINAL_KEY:
        terminal_key_name(name, sizeof(name), event.key);
        console_key(&loop->console, name);
        break;
    case TERMINAL_CLICK:
        console_click(&loop->console, loop->canvas, event.row, event.col);
        break;
    case TERMINAL_WHEEL_UP:
        console_wheel(&loop->console, -1);
        break;
    case TERMINAL_WHEEL_DOWN:
        console_wheel(&loop->console, 1);
        break;
    case TERMINAL_GONE:
        loop->gone = true;
        break;
    case TERMINAL_NOTHING:
        break;
    }
    loop->dirty = true;
}

static void read_keys(struct loop *loop)
{
    struct terminal_event event;
    int64_t end_ns = clock_mono_ns() + KEYS_NS;
    do {
        event = terminal_read_key(loop->terminal);
        if (event.kind != TERMINAL_NOTHING)
            handle_event(loop, event);
        loop->more = event.kind != TERMINAL_NOTHING;
    } while (loop->more && !loop->gone && !loop->console.quit && clock_mono_ns() < end_ns);
    if (loop->console.interval_changed) {
        loop->console.interval_changed = false;
        arm_timer(loop, session_interval_ms(loop->console.session));
    }
}

static void resize(struct loop *loop)
{
    int rows, cols;
    terminal_resize(loop->terminal);
    terminal_size(loop->terminal, &rows, &cols);
    canvas_resize(loop->canvas, rows, cols);
    /* Whole: what was written while the terminal changed under it is anywhere. */
    loop->console.redraw = loop->dirty = true;
}

static void read_signals(struct loop *loop)
{
    struct signalfd_siginfo info;
    while (read(loop->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo == SIGWINCH) {
            resize(loop);
        } else if (info.ssi_signo == SIGTSTP) {
            terminal_suspend(loop->terminal);
            resize(loop);
        } else if (info.ssi_signo == SIGCONT) {
            loop->console.redraw = loop->dirty = true;
        } else {
            loop->console.quit = true;
        }
    }
}

static void draw(struct loop *loop)
{
    if (loop->console.redraw)
        terminal_redraw(loop->terminal);
    loop->console.redraw = loop->dirty = false;
    console_draw(&loop->console, loop->canvas);
    terminal_show(loop->terminal, loop->canvas, &loop->console.theme);
}

static void step(struct loop *loop)
{
    struct pollfd fds[MAX_FDS] = {
        {.fd = terminal_fd(loop->terminal), .events = POLLIN},
        {.fd = loop->signal_fd, .events = POLLIN},
        {.fd = loop->timer_fd, .events = POLLIN},
        {.fd = loop->dirty ? terminal_out_fd(loop->terminal) : -1, .events = POLLOUT},
    };
    size_t n = 4 + session_pollfds(loop->console.session, fds + 4, MAX_FDS - 4);
    if (poll(fds, n, poll_timeout_ms(loop)) < 0 && errno != EINTR)
        loop->console.quit = true;
    uint64_t ticks;
    if (fds[1].revents)
        read_signals(loop);
    if (fds[0].revents || loop->more)
        read_keys(loop);
    if (fds[2].revents && read(loop->timer_fd, &ticks, sizeof(ticks)) == sizeof(ticks)) {
        if (loop->waiting) /* the last tick is not over: what came of it is its frame */
            end_tick(loop);
        session_kick(loop->console.session, clock_mono_ns());
        loop->waiting = true;
    }
    bool complete = session_drain(loop->console.session);
    if (loop->waiting && (complete || clock_mono_ns() >= patience_end(loop)))
        end_tick(loop);
    if (loop->dirty && !loop->gone && terminal_takes_output(loop->terminal))
        draw(loop);
}

static int open_screen(struct loop *loop, const struct options *options, char *error, size_t error_size)
{
    const char *no_color = getenv("NO_COLOR");
    const struct terminal_options terminal = {
        .mouse = !options->no_mouse,
        .colours = !no_color || !*no_color,
        .ascii = options->ascii,
    };
    loop->terminal = terminal_open(&terminal, error, error_size);
    if (!loop->terminal)
        return -1;
    int rows, cols;
    terminal_size(loop->terminal, &rows, &cols);
    loop->canvas = canvas_new(rows, cols, terminal_utf8(loop->terminal));
    return 0;
}

static int finish(struct loop *loop)
{
    char error[256] = "", folder[PATH_MAX] = "";
    int status = 0;
    terminal_close(loop->terminal);
    const char *recording = takeaway_recording(loop->console.takeaway);
    if (recording)
        snprintf(folder, sizeof(folder), "%s", recording);
    if (takeaway_stop(loop->console.takeaway, error, sizeof(error)) < 0 ||
        console_save_settings(&loop->console, error, sizeof(error)) < 0) {
        fprintf(stderr, "vnettop: %s\n", error);
        status = 1;
    } else if (folder[0]) {
        fprintf(stderr, "vnettop: recorded %s\n", folder);
    }
    canvas_free(loop->canvas);
    console_free(&loop->console);
    close(loop->timer_fd);
    return status;
}

int console_run(const struct options *options, struct session *session, struct takeaway *takeaway,
                int signal_fd)
{
    struct loop loop = {.signal_fd = signal_fd, .opened_ns = clock_mono_ns()};
    struct theme_folders folders;
    char error[512];
    theme_folders(&folders);
    if (console_init(&loop.console, options, session, takeaway, folders.list, error, sizeof(error)) < 0) {
        fprintf(stderr, "vnettop: %s\n", error);
        return 2;
    }
    session_kick(session, loop.opened_ns);
    loop.waiting = true;
    if (open_screen(&loop, options, error, sizeof(error)) < 0) {
        fprintf(stderr, "vnettop: %s\n", error);
        console_free(&loop.console);
        return 2;
    }
    loop.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    arm_timer(&loop, FIRST_TICK_MS);
    while (!loop.console.quit && !loop.gone)
        step(&loop);
    return finish(&loop);
}
