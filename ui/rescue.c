/* SPDX-License-Identifier: MIT */
/* The terminal's rescue (see rescue.h). A signal handler has no arguments of ours: hence the one static
 * struct. */
#include "ui/rescue.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define STACK_BYTES 16384

static const int fatal_signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
#define FATAL_N (sizeof(fatal_signals) / sizeof(fatal_signals[0]))

static struct {
    atomic_bool armed;
    bool prepared; /* handlers and the exit function are in place */
    struct rescue_text text;
    struct termios modes;
    bool has_modes;
    struct sigaction before[FATAL_N];
    char stack[STACK_BYTES]; /* a stack overflow is a fatal signal, too */
} rescue;

void rescue_add(struct rescue_text *text, const char *capability)
{
    for (const char *p = capability; *p; p++) {
        const char *end = p[0] == '$' && p[1] == '<' ? strchr(p, '>') : NULL;
        if (end)
            p = end;
        else if (text->length < sizeof(text->bytes))
            text->bytes[text->length++] = *p;
    }
}

/* Async-signal-safe. Once: of two threads that crash together one does it. */
static void restore(void)
{
    if (!atomic_exchange(&rescue.armed, false))
        return;
    for (size_t done = 0; done < rescue.text.length;) {
        ssize_t n = write(STDOUT_FILENO, rescue.text.bytes + done, rescue.text.length - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    if (rescue.has_modes)
        tcsetattr(STDOUT_FILENO, TCSANOW, &rescue.modes);
}

void rescue_modes(void)
{
    if (atomic_exchange(&rescue.armed, false) && rescue.has_modes)
        tcsetattr(STDOUT_FILENO, TCSANOW, &rescue.modes);
}

static void handle_fatal(int number, siginfo_t *info, void *context)
{
    (void)context;
    restore();
    for (size_t i = 0; i < FATAL_N; i++)
        if (fatal_signals[i] == number)
            sigaction(number, &rescue.before[i], NULL);
    /* A fault happens again when this returns, with its own address for whoever looks at it (a core, a
     * sanitizer); a signal that was sent has to be sent again. */
    if (info->si_code <= 0)
        raise(number);
}

static void prepare(void)
{
    stack_t stack = {.ss_sp = rescue.stack, .ss_size = sizeof(rescue.stack)}, old;
    struct sigaction action = {.sa_sigaction = handle_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    rescue.prepared = true;
    atexit(restore);
    if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE) /* a sanitizer has its own */
        sigaltstack(&stack, NULL);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < FATAL_N; i++)
        sigaction(fatal_signals[i], &action, &rescue.before[i]);
}

void rescue_save(void)
{
    rescue.has_modes = tcgetattr(STDOUT_FILENO, &rescue.modes) == 0;
}

void rescue_arm(const struct rescue_text *text)
{
    rescue.text = *text;
    if (!rescue.prepared)
        prepare();
    rescue_rearm();
}

void rescue_rearm(void)
{
    atomic_store(&rescue.armed, true);
}

void rescue_disarm(void)
{
    atomic_store(&rescue.armed, false);
}
