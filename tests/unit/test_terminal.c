/* SPDX-License-Identifier: MIT */
/*
 * The terminal on a pseudo-terminal: what it writes, what it reads, and that it gives the terminal back, also
 * when the program crashes. Each case forks a child whose standard input and output are the slave; the test
 * is its terminal. ncurses holds state for a process: no two terminals in one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "ui/terminal.h"

#define PATIENCE_MS 20000

/* ncurses keeps memory until the process ends. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

struct child {
    pid_t pid;
    int master, slave;
    int say;  /* the child's words come from here */
    int tell; /* one byte lets it go on */
    struct termios before;
    char output[65536]; /* what the terminal got since the last drain, ends with NUL */
    size_t n_output;
};

static const int fatal_signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
#define FATAL_N (sizeof(fatal_signals) / sizeof(fatal_signals[0]))

/* --- the child's side --- */

static int word_fd, turn_fd;

static void say(const char *word)
{
    if (write(word_fd, word, strlen(word)) < 0 || write(word_fd, "\n", 1) < 0)
        _exit(90);
}

static void wait_turn(void)
{
    char byte;
    if (read(turn_fd, &byte, 1) != 1)
        _exit(91);
}

static struct terminal *must_open(struct terminal_options options)
{
    char error[256];
    struct terminal *terminal = terminal_open(&options, error, sizeof(error));
    if (!terminal) {
        say(error);
        _exit(92);
    }
    return terminal;
}

typedef void child_fn(void);

/* --- the test's side --- */

static void start(struct child *child, const char *term, child_fn *run)
{
    int words[2], turns[2];
    struct winsize size = {.ws_row = 24, .ws_col = 80};

    memset(child, 0, sizeof(*child));
    child->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(child->master >= 0 && grantpt(child->master) == 0 && unlockpt(child->master) == 0);
    child->slave = open(ptsname(child->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(child->slave >= 0);
    ioctl(child->slave, TIOCSWINSZ, &size);
    tcgetattr(child->slave, &child->before);
    assert_true(pipe(words) == 0 && pipe(turns) == 0);
    child->pid = fork();
    assert_true(child->pid >= 0);
    if (child->pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        for (size_t i = 0; i < FATAL_N; i++) /* cmocka's handlers are no part of this */
            signal(fatal_signals[i], SIG_DFL);
        setsid();
        ioctl(child->slave, TIOCSCTTY, 0);
        dup2(child->slave, STDIN_FILENO);
        dup2(child->slave, STDOUT_FILENO);
        close(child->slave);
        close(child->master);
        close(words[0]);
        close(turns[1]);
        word_fd = words[1];
        turn_fd = turns[0];
        if (term)
            setenv("TERM", term, 1);
        else
            unsetenv("TERM");
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("LINES");
        unsetenv("COLUMNS");
        run();
        exit(0);
    }
    close(words[1]);
    close(turns[0]);
    child->say = words[0];
    child->tell = turns[1];
    fcntl(child->master, F_SETFL, O_NONBLOCK);
}

/* Takes what the child wrote to its terminal. */
static void take_output(struct child *child)
{
    ssize_t n;
    while (child->n_output + 1 < sizeof(child->output) &&
           (n = read(child->master, child->output + child->n_output,
                     sizeof(child->output) - 1 - child->n_output)) > 0)
        child->n_output += (size_t)n;
    child->output[child->n_output] = '\0';
}

static void forget_output(struct child *child)
{
    take_output(child);
    child->n_output = 0;
    child->output[0] = '\0';
}

/* The child's next word; its terminal is read meanwhile, so that it never blocks. */
static void hear(struct child *child, const char *expected)
{
    char word[512];
    size_t n = 0;
    for (;;) {
        struct pollfd fds[] = {{.fd = child->say, .events = POLLIN}, {.fd = child->master, .events = POLLIN}};
        if (poll(fds, 2, PATIENCE_MS) <= 0)
            fail_msg("no word; expected `%s'", expected);
        take_output(child);
        if (fds[0].revents == 0)
            continue;
        if (read(child->say, word + n, 1) != 1)
            fail_msg("child ended; expected `%s'", expected);
        if (word[n] == '\n')
            break;
        assert_true(++n < sizeof(word) - 1);
    }
    word[n] = '\0';
    if (strncmp(word, expected, strlen(expected)) != 0)
        fail_msg("heard `%s', expected `%s'", word, expected);
    take_output(child);
}

static void go_on(struct child *child)
{
    assert_int_equal(write(child->tell, "x", 1), 1);
}

static void type(struct child *child, const char *keys)
{
    assert_int_equal(write(child->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

static void close_all(struct child *child)
{
    close(child->say);
    close(child->tell);
    close(child->master);
    close(child->slave);
}

/* Waits for the child's end; its terminal is read meanwhile: who leaves waits for his output to be taken. */
static int await_end(struct child *child)
{
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(child->pid, &status, WNOHANG)) == 0) {
        struct pollfd fd = {.fd = child->master, .events = POLLIN};
        poll(&fd, 1, 10);
        take_output(child);
    }
    assert_int_equal(pid, child->pid);
    take_output(child);
    return status;
}

static int end(struct child *child)
{
    int status = await_end(child);
    close_all(child);
    return status;
}

static void assert_restored(struct child *child)
{
    struct termios after;
    assert_int_equal(tcgetattr(child->slave, &after), 0);
    assert_int_equal(after.c_lflag, child->before.c_lflag);
    assert_int_equal(after.c_iflag, child->before.c_iflag);
    assert_int_equal(after.c_oflag, child->before.c_oflag);
    take_output(child);
    assert_non_null(strstr(child->output, "\033[?1049l"));
    assert_non_null(strstr(child->output, "\033[?25h"));
    assert_non_null(strstr(child->output, "1000l")); /* the mouse is let go */
}

/* --- what is written --- */

static void draw_sample(struct canvas *canvas)
{
    canvas_clear(canvas);
    for (int row = 0; row < canvas->rows; row++)
        canvas_textf(canvas, row, 0, canvas->cols, (enum role)(row % ROLES_N), "row %d 日本 cafe\u0301 ▁▂█",
                     row);
    canvas_select(canvas, 3, 0, canvas->cols);
}

static void run_show(void)
{
    struct terminal *terminal = must_open((struct terminal_options){.colours = true, .mouse = true});
    struct theme theme;
    struct canvas *canvas = canvas_new(24, 80, terminal_utf8(terminal));
    theme_default(&theme);
    draw_sample(canvas);
    terminal_show(terminal, canvas, &theme);
    say("shown");
    wait_turn();
    for (int i = 0; i < 100; i++) {
        draw_sample(canvas);
        terminal_show(terminal, canvas, &theme);
    }
    say("same");
    wait_turn();
    canvas_text(canvas, 10, 4, 1, ROLE_TEXT, "X");
    terminal_show(terminal, canvas, &theme);
    say("one");
    wait_turn();
    terminal_redraw(terminal);
    terminal_show(terminal, canvas, &theme);
    say("all");
    wait_turn();
    canvas_free(canvas);
    terminal_close(terminal);
}

static void test_only_differences_are_written(void **state)
{
    (void)state;
    struct child child;
    start(&child, "xterm-256color", run_show);
    hear(&child, "shown");
    assert_non_null(strstr(child.output, "row 7"));
    assert_non_null(strstr(child.output, "日本"));
    assert_non_null(strstr(child.output, "\033[?1049h"));
    size_t full = child.n_output;
    forget_output(&child);
    go_on(&child);
    hear(&child, "same");
    assert_int_equal(child.n_output, 0);
    go_on(&child);
    hear(&child, "one");
    assert_true(child.n_output > 0 && child.n_output < 40);
    assert_non_null(strchr(child.output, 'X'));
    forget_output(&child);
    go_on(&child);
    hear(&child, "all");
    assert_true(child.n_output > full / 2);
    forget_output(&child);
    go_on(&child);
    assert_int_equal(await_end(&child), 0);
    assert_restored(&child);
    close_all(&child);
}

static void run_plain(void)
{
    struct terminal *terminal = must_open((struct terminal_options){.ascii = true});
    struct theme theme;
    struct canvas *canvas = canvas_new(24, 80, terminal_utf8(terminal));
    theme_default(&theme);
    draw_sample(canvas);
    terminal_show(terminal, canvas, &theme);
    canvas_free(canvas);
    terminal_close(terminal);
}

static void test_ascii_without_colours(void **state)
{
    (void)state;
    struct child child;
    start(&child, "xterm-256color", run_plain);
    assert_int_equal(end(&child), 0);
    for (size_t i = 0; i < child.n_output; i++)
        assert_true((unsigned char)child.output[i] < 0x80);
    assert_non_null(strstr(child.output, "row 7 ??"));
    for (char *p = child.output; (p = strstr(p, "\033[")) != NULL; p++) { /* no colour: no SGR 30 and up */
        const char *final = p + 2 + strspn(p + 2, "0123456789;");
        assert_false(*final == 'm' && (p[2] == '3' || p[2] == '4'));
    }
    assert_non_null(strstr(child.output, "7m")); /* the selection is seen */
}

static void test_every_terminal_type(void **state)
{
    (void)state;
    static const char *const types[] = {"vt100", "vt220", "linux",         "screen",     "screen-256color",
                                        "tmux",  "xterm", "tmux-256color", "xterm-mono", "ansi"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct child child;
        start(&child, types[i], run_show);
        for (const char *const *word = (const char *const[]){"shown", "same", "one", "all", NULL}; *word;
             word++) {
            forget_output(&child);
            hear(&child, *word);
            if (strcmp(*word, "same") == 0)
                assert_int_equal(child.n_output, 0);
            go_on(&child);
        }
        assert_int_equal(end(&child), 0);
    }
}

/* --- why it does not open --- */

static void run_open_only(void)
{
    must_open((struct terminal_options){0});
}

static void expect_refusal(const char *term, const char *words)
{
    struct child child;
    start(&child, term, run_open_only);
    hear(&child, words);
    end(&child);
    assert_int_equal(child.n_output, 0); /* nothing was written to what is not understood */
}

static void test_refusals_name_cause_and_mend(void **state)
{
    (void)state;
    expect_refusal("nix-no-such", "unknown terminal type TERM `nix-no-such': install its terminfo");
    expect_refusal(NULL, "TERM is not set: export TERM=xterm-256color");
    expect_refusal("", "TERM is not set");
    expect_refusal("dumb", "terminal type TERM `dumb' cannot move its cursor: use -b");
}

static void run_without_output(void)
{
    dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
    must_open((struct terminal_options){0});
}

static void run_without_input(void)
{
    dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
    must_open((struct terminal_options){0});
}

static void test_no_terminal(void **state)
{
    (void)state;
    struct child child;
    start(&child, "xterm", run_without_output);
    hear(&child, "standard output is no terminal: run it in one, or use -b");
    end(&child);
    start(&child, "xterm", run_without_input);
    hear(&child, "standard input is no terminal");
    end(&child);
}

/* --- what is read --- */

static void run_keys(void)
{
    static const char *const kinds[] = {"nothing", "key", "click", "up", "down", "gone"};
    struct terminal *terminal = must_open((struct terminal_options){.mouse = true});
    signal(SIGHUP, SIG_IGN); /* the program's signalfd takes it */
    say("ready");
    for (;;) {
        struct pollfd fd = {.fd = terminal_fd(terminal), .events = POLLIN};
        struct terminal_event event;
        poll(&fd, 1, -1);
        while ((event = terminal_read_key(terminal)).kind != TERMINAL_NOTHING) {
            char name[16], line[64];
            terminal_key_name(name, sizeof(name), event.key);
            if (event.kind == TERMINAL_KEY)
                snprintf(line, sizeof(line), "%s", name);
            else
                snprintf(line, sizeof(line), "%s %d %d", kinds[event.kind], event.row, event.col);
            say(line);
            if (event.kind == TERMINAL_GONE || event.key == 'Q') {
                terminal_close(terminal);
                _exit(0);
            }
        }
    }
}

static void test_keys(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *name;
    } keys[] = {
        {"a", "a"},
        {"\r", "Enter"},
        {"\n", "Enter"},
        {"\t", "Tab"},
        {"\033", "Esc"},
        {"\033OA", "Up"},
        {"\033OB", "Down"},
        {"\033OD", "Left"},
        {"\033OC", "Right"},
        {"\033OP", "F1"},
        {"\033OQ", "F2"},
        {"\033[17~", "F6"},
        {"\033[24~", "F12"},
        {"\033[5~", "PgUp"},
        {"\033[6~", "PgDn"},
        {"\033OH", "Home"},
        {"\033OF", "End"},
        {"\x7f", "Backspace"},
        {"\b", "Backspace"},
        {"\033[Z", "Shift-Tab"},
        {"\x0c", "^L"},
        {" ", "Space"},
        {"ü", "ü"},
        {"日", "日"},
        {"😀", "😀"},
        {"\xff"
         "b",
         "b"},
        {"\xe6\x97"
         "c",
         "c"},
        {"\033[3~", "Del"},
        {"\033[<0;5;3M\033[<0;5;3m", "click 2 4"},
        {"\033[<64;1;1M", "up 0 0"},
        {"\033[<65;10;2M", "down 1 9"},
        {"\033[99;99x"
         "d",
         "d"}, /* unknown: left out whole */
        {"\033q", "Esc"},
        {"", "q"},
    };
    struct child child;
    start(&child, "xterm-256color", run_keys);
    hear(&child, "ready");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        type(&child, keys[i].bytes);
        hear(&child, keys[i].name);
    }
    type(&child, "Q");
    hear(&child, "Q");
    assert_int_equal(end(&child), 0);
}

static void test_closed_terminal_is_an_event(void **state)
{
    (void)state;
    struct child child;
    start(&child, "xterm-256color", run_keys);
    hear(&child, "ready");
    close(child.slave);
    close(child.master);
    char word[16] = "";
    struct pollfd fd = {.fd = child.say, .events = POLLIN};
    assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
    assert_true(read(child.say, word, sizeof(word) - 1) > 0);
    assert_non_null(strstr(word, "gone"));
    int status;
    waitpid(child.pid, &status, 0);
    assert_int_equal(status, 0);
    close(child.say);
    close(child.tell);
}

static void run_resize(void)
{
    struct terminal *terminal = must_open((struct terminal_options){0});
    struct theme theme;
    int rows, cols;
    char line[32];
    theme_default(&theme);
    do {
        struct canvas *canvas;
        terminal_resize(terminal);
        terminal_size(terminal, &rows, &cols);
        canvas = canvas_new(rows, cols, terminal_utf8(terminal));
        draw_sample(canvas);
        terminal_show(terminal, canvas, &theme);
        canvas_free(canvas);
        canvas = canvas_new(30, 100, true); /* one that is not the terminal's size */
        draw_sample(canvas);
        terminal_show(terminal, canvas, &theme);
        canvas_free(canvas);
        snprintf(line, sizeof(line), "%dx%d", cols, rows);
        say(line);
        wait_turn();
    } while (cols != 200);
    terminal_close(terminal);
}

static void test_resize(void **state)
{
    (void)state;
    static const struct winsize sizes[] = {{.ws_row = 24, .ws_col = 80}, {.ws_row = 1, .ws_col = 1},
                                           {.ws_row = 5, .ws_col = 9},   {.ws_row = 60, .ws_col = 120},
                                           {.ws_row = 2, .ws_col = 3},   {.ws_row = 60, .ws_col = 200}};
    struct child child;
    start(&child, "xterm-256color", run_resize);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char expected[32];
        snprintf(expected, sizeof(expected), "%dx%d", sizes[i].ws_col, sizes[i].ws_row);
        hear(&child, expected);
        forget_output(&child);
        if (i + 1 < sizeof(sizes) / sizeof(sizes[0]))
            ioctl(child.master, TIOCSWINSZ, &sizes[i + 1]);
        go_on(&child);
    }
    assert_int_equal(end(&child), 0);
}

/* --- how it ends --- */

static int fatal_signal;

static void run_crash(void)
{
    must_open((struct terminal_options){.mouse = true, .colours = true});
    say("open");
    wait_turn();
    if (fatal_signal == SIGABRT)
        abort();
    if (fatal_signal == SIGILL)
        __builtin_trap(); /* a fault, not a signal that was sent */
    raise(fatal_signal);
}

static void run_exit(void)
{
    must_open((struct terminal_options){.mouse = true, .colours = true});
    say("open");
    wait_turn();
    exit(3);
}

static void test_exit_restores(void **state)
{
    (void)state;
    struct child child;
    start(&child, "xterm-256color", run_exit);
    hear(&child, "open");
    forget_output(&child);
    go_on(&child);
    assert_int_equal(WEXITSTATUS(await_end(&child)), 3);
    assert_restored(&child);
    close_all(&child);
}

static void test_fatal_signals_restore(void **state)
{
    (void)state;
    for (size_t i = 0; i < FATAL_N; i++) {
        struct child child;
        fatal_signal = fatal_signals[i];
        start(&child, "xterm-256color", run_crash);
        hear(&child, "open");
        forget_output(&child);
        go_on(&child);
        int status = await_end(&child);
        assert_true(WIFSIGNALED(status)); /* by the signal itself, as a core file wants */
        assert_int_equal(WTERMSIG(status), fatal_signals[i]);
        assert_restored(&child);
        close_all(&child);
    }
}

/* --- Ctrl-Z: the middle process stands for the shell. */

static void run_stopped(void)
{
    struct terminal *terminal = must_open((struct terminal_options){.mouse = true});
    struct theme theme;
    struct canvas *canvas = canvas_new(24, 80, true);
    sigset_t set;
    theme_default(&theme);
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP); /* as with a signalfd */
    sigprocmask(SIG_BLOCK, &set, NULL);
    draw_sample(canvas);
    terminal_show(terminal, canvas, &theme);
    say("shown");
    wait_turn();
    terminal_suspend(terminal);
    terminal_show(terminal, canvas, &theme);
    say("again");
    wait_turn();
    canvas_free(canvas);
    terminal_close(terminal);
    exit(0);
}

static void run_shell(void)
{
    int status;
    signal(SIGTTOU, SIG_IGN);
    pid_t job = fork();
    if (job == 0) {
        setpgid(0, 0);
        tcsetpgrp(STDIN_FILENO, getpgrp());
        signal(SIGTTOU, SIG_DFL);
        run_stopped();
    }
    waitpid(job, &status, WUNTRACED);
    say(WIFSTOPPED(status) ? "stopped" : "not stopped");
    wait_turn();
    kill(job, SIGCONT);
    waitpid(job, &status, 0);
    exit(WEXITSTATUS(status));
}

static void test_suspend_and_continue(void **state)
{
    (void)state;
    struct child child;
    start(&child, "xterm-256color", run_shell);
    hear(&child, "shown");
    forget_output(&child);
    go_on(&child);
    hear(&child, "stopped");
    assert_restored(&child);
    forget_output(&child);
    go_on(&child);
    hear(&child, "again");
    assert_non_null(strstr(child.output, "\033[?1049h"));
    assert_non_null(strstr(child.output, "row 7")); /* drawn anew */
    struct termios now;
    tcgetattr(child.slave, &now);
    assert_false(now.c_lflag & ECHO);
    go_on(&child);
    assert_int_equal(end(&child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_differences_are_written),
        cmocka_unit_test(test_ascii_without_colours),
        cmocka_unit_test(test_every_terminal_type),
        cmocka_unit_test(test_refusals_name_cause_and_mend),
        cmocka_unit_test(test_no_terminal),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_closed_terminal_is_an_event),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_exit_restores),
        cmocka_unit_test(test_fatal_signals_restore),
        cmocka_unit_test(test_suspend_and_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
