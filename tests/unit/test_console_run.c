/* SPDX-License-Identifier: MIT */
/*
 * The console's loop on a pseudo-terminal while one of its sources never returns from its read: the first
 * screen, keys, the other sources and quitting do not notice. Real clocks; the bounds leave room for a loaded
 * machine, the figures are printed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pty.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "scene.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROOM 50
#else
#define ROOM 5
#endif
#define KEYS 20

static const struct collector hanging = SCENE_COLLECTOR("hanging", "hanging", scene_open, scene_hanging);
static const struct collector *const with_hanging[] = {&hanging, &scene_collectors[0], &scene_collectors[1],
                                                       NULL};

/* --- the child: the program as main.c runs it --- */

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void run_child(void)
{
    struct options options;
    char error[256];
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    options_init(&options);
    int signal_fd = open_signals();
    struct session *session = session_open(&options, with_hanging, error, sizeof(error));
    struct takeaway *takeaway = takeaway_new(&options, error, sizeof(error));
    if (!session || !takeaway)
        _exit(3);
    int status = console_run(&options, session, takeaway, signal_fd);
    session_close(session, 30);
    _exit(status);
}

/* --- the parent: who sits before it --- */

struct screen_run {
    int fd;
    pid_t pid;
    char text[1 << 20];
    size_t length;
};

static double ms_since(int64_t from_ns)
{
    return (double)(scene_system_ns(CLOCK_MONOTONIC) - from_ns) / 1e6;
}

static void start(struct screen_run *run)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    run->length = 0;
    run->text[0] = '\0';
    run->pid = forkpty(&run->fd, NULL, NULL, &size);
    assert_true(run->pid >= 0);
    if (run->pid == 0)
        run_child();
}

/* Reads what comes; false after 20 s of silence. */
static bool take(struct screen_run *run)
{
    struct pollfd fd = {.fd = run->fd, .events = POLLIN};
    if (poll(&fd, 1, 20000) <= 0)
        return false;
    ssize_t n = read(run->fd, run->text + run->length, sizeof(run->text) - 1 - run->length);
    run->length += n > 0 ? (size_t)n : 0;
    run->text[run->length] = '\0';
    return n > 0;
}

static bool wait_for(struct screen_run *run, size_t from, const char *words)
{
    while (!strstr(run->text + from, words))
        if (!take(run))
            return false;
    return true;
}

static int count(const char *text, char letter)
{
    int n = 0;
    for (; *text; text++)
        n += *text == letter;
    return n;
}

/* Letters typed into a line, each until it is written, at worst: other writing is not taken for it. */
static double worst_key_ms(struct screen_run *run)
{
    double worst = 0;
    size_t seen = run->length;
    assert_int_equal(write(run->fd, "m", 1), 1);
    for (int i = 1; i <= KEYS; i++) {
        int64_t from = scene_system_ns(CLOCK_MONOTONIC);
        assert_int_equal(write(run->fd, "@", 1), 1);
        while (count(run->text + seen, '@') < i)
            assert_true(take(run));
        double took = ms_since(from);
        worst = took > worst ? took : worst;
    }
    assert_int_equal(write(run->fd, "\r", 1), 1);
    return worst;
}

static void test_hanging_source(void **state)
{
    (void)state;
    static struct screen_run run;
    int status;
    atomic_store(&scene_real_time, true);
    atomic_store(&scene_hang, true);
    int64_t from = scene_system_ns(CLOCK_MONOTONIC);
    start(&run);
    assert_true(wait_for(&run, 0, "RX PPS"));
    double first = ms_since(from);
    assert_true(wait_for(&run, 0, "eth0")); /* the other sources' rows */
    double worst = worst_key_ms(&run);
    size_t seen = run.length;
    assert_int_equal(write(run.fd, "0", 1), 1); /* the tenth view: sources */
    assert_true(wait_for(&run, seen, "no answer"));
    from = scene_system_ns(CLOCK_MONOTONIC);
    assert_int_equal(write(run.fd, "q", 1), 1);
    while (take(&run))
        ;
    assert_int_equal(waitpid(run.pid, &status, 0), run.pid);
    double quit = ms_since(from);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    print_message("while a source hangs: first screen %.0f ms, key at worst %.1f ms, quit %.0f ms\n", first,
                  worst, quit);
    assert_true(first < 150 * ROOM);
    assert_true(worst < 50 * ROOM);
    assert_true(quit < 100 * ROOM);
    close(run.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hanging_source)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
