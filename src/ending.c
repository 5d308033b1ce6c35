/* SPDX-License-Identifier: MIT */
/* The watch over ending signals (see ending.h). A thread, not a handler: it may wait, and interrupts nothing.
 */
#include "src/ending.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "src/memory.h"
#include "src/thread.h"

#define STEP_MS     50
#define DISCARD_MS  500 /* longer than any work between two looks at the signals should take */
#define PATIENCE_MS 2000

struct watch {
    void (*last_words)(void);
    int fd;
};

static bool is_pending(const struct watch *watch, int timeout_ms)
{
    struct pollfd fd = {.fd = watch->fd, .events = POLLIN};
    return poll(&fd, 1, timeout_ms) > 0;
}

/* Lets a write to a terminal that is stopped (Ctrl-S), or that nobody reads, come to its end. */
static void discard_output(void)
{
    tcflush(STDOUT_FILENO, TCOFLUSH);
    tcflow(STDOUT_FILENO, TCOOFF); /* without it Linux takes ON as no answer to Ctrl-S */
    tcflow(STDOUT_FILENO, TCOON);
}

/* By the signal itself: whoever waits for the process is told the truth. */
static void die(const struct watch *watch)
{
    struct signalfd_siginfo info;
    sigset_t set;
    if (read(watch->fd, &info, sizeof(info)) != sizeof(info))
        return; /* taken at the last moment */
    int number = (int)info.ssi_signo;
    watch->last_words();
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

static void *run(void *arg)
{
    const struct watch *watch = arg;
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    while (true) {
        is_pending(watch, -1);
        for (int ms = 0; is_pending(watch, 0); ms += STEP_MS) {
            if (ms >= PATIENCE_MS)
                die(watch);
            else if (ms >= DISCARD_MS)
                discard_output();
            nanosleep(&step, NULL);
        }
    }
    return NULL;
}

bool ending_watch(const sigset_t *signals, void (*last_words)(void))
{
    struct watch *watch = xzalloc(sizeof(*watch)); /* the thread's, until the process ends */
    watch->last_words = last_words;
    watch->fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (watch->fd < 0 || thread_start_detached("vt-ending", run, watch) != 0) {
        if (watch->fd >= 0)
            close(watch->fd);
        free(watch);
        return false;
    }
    return true;
}

void ending_take(int signal_fd)
{
    struct signalfd_siginfo info;
    while (read(signal_fd, &info, sizeof(info)) == sizeof(info))
        ;
}
