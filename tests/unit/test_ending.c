/* SPDX-License-Identifier: MIT */
/* The watch over ending signals: a main thread that waits in a write is ended, one that takes the signal is
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/clock.h"
#include "src/ending.h"

#define PATIENCE_NS INT64_C(20000000000)

static int last_words_fd;

static void say_last_words(void)
{
    if (write(last_words_fd, "!", 1) < 0)
        _exit(9);
}

static sigset_t block_sigterm(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return set;
}

typedef void child_fn(const sigset_t *signals, int ready_fd);

/* As a pipe does whose reader has gone to sleep. */
static void write_for_ever(const sigset_t *signals, int ready_fd)
{
    static const char bytes[65536];
    int fds[2];
    (void)signals;
    if (pipe(fds) < 0 || write(ready_fd, "r", 1) != 1)
        _exit(9);
    while (write(fds[1], bytes, sizeof(bytes)) > 0)
        ;
    _exit(8);
}

/* Then works for longer than the watch has patience: closing files on a slow disk. */
static void take_and_work_on(const sigset_t *signals, int ready_fd)
{
    int fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    if (write(ready_fd, "r", 1) != 1 || poll(&poll_fd, 1, 20000) != 1)
        _exit(9);
    ending_take(fd);
    poll(NULL, 0, 3000);
    _exit(7);
}

static int wait_for_end(pid_t pid)
{
    int status = 0;
    for (int64_t end = clock_mono_ns() + PATIENCE_NS; clock_mono_ns() < end; poll(NULL, 0, 10))
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    fail_msg("it does not end");
    return status;
}

/* The wait status of a child that gets SIGTERM; *words: how many last words it had. */
static int end_child(child_fn *work, size_t *words)
{
    int ready[2], said[2];
    char byte, bytes[16];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(said), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        last_words_fd = said[1];
        sigset_t signals = block_sigterm();
        if (!ending_watch(&signals, say_last_words))
            _exit(9);
        work(&signals, ready[1]);
    }
    close(said[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(pid, SIGTERM);
    int status = wait_for_end(pid);
    ssize_t n = read(said[0], bytes, sizeof(bytes));
    *words = n > 0 ? (size_t)n : 0;
    close(ready[0]);
    close(ready[1]);
    close(said[0]);
    return status;
}

static void test_a_stuck_write_is_ended(void **state)
{
    (void)state;
    size_t words;
    int status = end_child(write_for_ever, &words);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_int_equal(words, 1);
}

static void test_who_takes_the_signal_has_time(void **state)
{
    (void)state;
    size_t words;
    int status = end_child(take_and_work_on, &words);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(words, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stuck_write_is_ended),
        cmocka_unit_test(test_who_takes_the_signal_has_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
