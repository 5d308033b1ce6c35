/* SPDX-License-Identifier: MIT */
/*
 * pty WHAT PROGRAM [ARGUMENT...]: runs a program on a pseudo-terminal as a shell would, ends it in every way
 * there is, and looks at the raw bytes and the terminal's modes it leaves behind. Called by tests/screen/;
 * prints `ok NAME` or `FAIL NAME: why` lines. WHAT: restore, stopped, suspend, colour, refuse, speed.
 * Environment: SLOW=N multiplies the time bounds (sanitizers, a loaded machine).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define OUTPUT_MAX (4 << 20)
#define PATIENCE_S 30

/* One run: this process holds both ends of the pseudo-terminal; a session leader between it and the program
 * is the shell, so that the program may be stopped and continued. */
struct run {
    int master, slave;
    pid_t leader, program;
    int status_fd;  /* leader to us: the program's pid, then each wait status */
    int command_fd; /* us to leader: a byte continues the program */
    struct termios before;
    char *output; /* NUL-terminated */
    size_t length;
    int status; /* of the last wait */
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double slow(void)
{
    const char *text = getenv("SLOW");
    double factor = text ? atof(text) : 1;
    return factor >= 1 ? factor : 1;
}

static void die(const char *what)
{
    printf("FAIL pty: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void __attribute__((format(printf, 3, 4))) say(const char *name, bool good, const char *format, ...)
{
    va_list args;
    printf("%s %s", good ? "ok" : "FAIL", name);
    if (!good) {
        fputs(": ", stdout);
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
    }
    putchar('\n');
    fflush(stdout);
}

/* --- the shell between --- */

static void become_program(int slave, char *const *argv)
{
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(slave, getpid());
    signal(SIGTTOU, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    for (int fd = 0; fd < 3; fd++)
        dup2(slave, fd);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    execvp(argv[0], argv);
    _exit(127);
}

static void lead(int slave, int status_fd, int command_fd, char *const *argv)
{
    char command;
    int status;
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    signal(SIGHUP, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0)
        become_program(slave, argv);
    if (pid < 0 || write(status_fd, &pid, sizeof(pid)) < 0)
        _exit(1);
    close(slave);
    while (waitpid(pid, &status, WUNTRACED) == pid) {
        if (write(status_fd, &status, sizeof(status)) < 0 || !WIFSTOPPED(status))
            break;
        if (read(command_fd, &command, 1) != 1)
            break;
        kill(pid, SIGCONT);
    }
    _exit(0);
}

static void start(struct run *run, char *const *argv)
{
    int status[2], command[2];
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    *run = (struct run){.status = -1, .output = calloc(1, OUTPUT_MAX)};
    if (!run->output || openpty(&run->master, &run->slave, NULL, NULL, &size) < 0 || pipe(status) < 0 ||
        pipe(command) < 0)
        die("openpty");
    tcgetattr(run->slave, &run->before);
    run->leader = fork();
    if (run->leader < 0)
        die("fork");
    if (run->leader == 0) {
        close(run->master);
        close(status[0]);
        close(command[1]);
        lead(run->slave, status[1], command[0], argv);
    }
    close(status[1]);
    close(command[0]);
    run->status_fd = status[0];
    run->command_fd = command[1];
    if (read(run->status_fd, &run->program, sizeof(run->program)) != sizeof(run->program))
        die("start");
}

static void finish(struct run *run)
{
    kill(run->program, SIGKILL);
    kill(run->leader, SIGKILL);
    waitpid(run->leader, NULL, 0);
    if (run->master >= 0)
        close(run->master);
    if (run->slave >= 0)
        close(run->slave);
    close(run->status_fd);
    close(run->command_fd);
    free(run->output);
}

/* --- what it writes --- */

static void take_output(struct run *run)
{
    if (run->length + 1 >= OUTPUT_MAX)
        return;
    ssize_t n = read(run->master, run->output + run->length, OUTPUT_MAX - 1 - run->length);
    if (n > 0)
        run->length += (size_t)n;
    run->output[run->length] = '\0';
}

static bool wait_ready(int fd, double until)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    int left_ms = (int)((until - now_s()) * 1000) + 1;
    return poll(&poll_fd, 1, left_ms > 0 ? left_ms : 0) > 0 && poll_fd.revents & POLLIN;
}

static void drain(struct run *run)
{
    while (run->master >= 0 && wait_ready(run->master, 0))
        take_output(run);
}

/* Waits for words in what came since `from`. */
static bool wait_for(struct run *run, size_t from, const char *words)
{
    double until = now_s() + PATIENCE_S;
    while (!strstr(run->output + from, words)) {
        if (now_s() > until || !wait_ready(run->master, until))
            return false;
        take_output(run);
    }
    return true;
}

/* Waits until the program ends or stops, reading what it writes meanwhile: a full terminal would block it. */
static bool wait_status(struct run *run)
{
    double until = now_s() + PATIENCE_S;
    struct pollfd fds[] = {{.fd = run->status_fd, .events = POLLIN}, {.fd = run->master, .events = POLLIN}};
    while (now_s() < until) {
        poll(fds, 2, 100);
        if (fds[1].revents & POLLIN)
            take_output(run);
        if (fds[0].revents & (POLLIN | POLLHUP)) {
            bool got = read(run->status_fd, &run->status, sizeof(run->status)) == sizeof(run->status);
            drain(run);
            return got;
        }
    }
    return false;
}

static void type(struct run *run, const char *keys)
{
    if (write(run->master, keys, strlen(keys)) < 0)
        die("write");
}

static const char *last(const char *text, const char *what)
{
    const char *found = NULL;
    for (const char *p = text; (p = strstr(p, what)); p++)
        found = p;
    return found;
}

/* Of a mode that is switched on and off: was it left off? */
static bool left_off(const char *output, const char *on, const char *off)
{
    const char *at = last(output, on);
    return !at || strstr(at, off);
}

static bool same_modes(const struct termios *a, const struct termios *b)
{
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
           a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc)) == 0;
}

/* NULL, or what was left as it should not be. */
static const char *left_behind(const struct run *run)
{
    struct termios after;
    if (tcgetattr(run->slave, &after) < 0 || !same_modes(&run->before, &after))
        return "the terminal's modes are not those it had";
    if (!last(run->output, "\033[?1049h"))
        return "it never entered the alternate screen";
    if (!left_off(run->output, "\033[?1049h", "\033[?1049l"))
        return "the alternate screen is not left";
    if (!left_off(run->output, "\033[?25l", "\033[?25h") &&
        !left_off(run->output, "\033[?25l", "\033[?12l\033[?25h"))
        return "the cursor is hidden";
    if (!left_off(run->output, "\033[?1000h", "\033[?1000l") ||
        !left_off(run->output, "\033[?1006h", "\033[?1006l"))
        return "the mouse is still taken";
    return NULL;
}

#define FIRST_WORDS "RX PPS"

/* --- restore --- */

struct ending {
    const char *name, *keys;
    int signal, killed_by; /* signal to send; the one it dies of, 0 = exit status 0 */
};

static const struct ending endings[] = {
    {"q", "q", 0, 0},
    {"F10", "\033[21~", 0, 0},
    {"ctrl-c", "\003", 0, 0},
    {"SIGTERM", NULL, SIGTERM, 0},
    {"SIGINT", NULL, SIGINT, 0},
    {"SIGHUP", NULL, SIGHUP, 0},
    {"SIGSEGV", NULL, SIGSEGV, SIGSEGV},
    {"SIGABRT", NULL, SIGABRT, SIGABRT},
    {"SIGBUS", NULL, SIGBUS, SIGBUS},
};

static void check_ending(const struct ending *ending, char *const *argv)
{
    struct run run;
    char name[64];
    snprintf(name, sizeof(name), "terminal restored after %s", ending->name);
    start(&run, argv);
    if (!wait_for(&run, 0, FIRST_WORDS)) {
        say(name, false, "no first screen in %d s", PATIENCE_S);
        finish(&run);
        return;
    }
    if (ending->keys)
        type(&run, ending->keys);
    else
        kill(run.program, ending->signal);
    bool ended = wait_status(&run);
    const char *left = ended ? left_behind(&run) : "it does not end";
    /* A sanitizer ends the program by itself when a fatal signal comes: with a status of its own. */
    bool right = ending->killed_by ? WIFSIGNALED(run.status) || WEXITSTATUS(run.status) != 0
                                   : WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0;
    say(name, !left && right, "%s, wait status %#x", left ? left : "wrong end", (unsigned)run.status);
    finish(&run);
}

static void check_closed(char *const *argv)
{
    struct run run;
    start(&run, argv);
    bool shown = wait_for(&run, 0, FIRST_WORDS);
    close(run.slave);
    close(run.master);
    run.slave = run.master = -1;
    double from = now_s();
    struct pollfd fd = {.fd = run.status_fd, .events = POLLIN};
    bool ended = poll(&fd, 1, PATIENCE_S * 1000) > 0 &&
                 read(run.status_fd, &run.status, sizeof(run.status)) == sizeof(run.status);
    bool good = shown && ended && (WIFEXITED(run.status) || WTERMSIG(run.status) == SIGHUP);
    say("ends when its terminal is closed", good && now_s() - from < slow() * 2,
        "after %.1f s, wait status %#x", now_s() - from, (unsigned)run.status);
    finish(&run);
}

static void check_restore(char *const *argv)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        check_ending(&endings[i], argv);
    check_closed(argv);
}

/* --- stopped --- */

static bool is_over(struct run *run)
{
    struct pollfd fd = {.fd = run->status_fd, .events = POLLIN};
    return poll(&fd, 1, PATIENCE_S * 1000) > 0 &&
           read(run->status_fd, &run->status, sizeof(run->status)) == sizeof(run->status);
}

/* Until it writes no more: half a screen that is stopped keeps its writer. */
static void await_quiet(struct run *run)
{
    while (wait_ready(run->master, now_s() + 1))
        take_output(run);
}

/* Ctrl-S stops what is shown, not the program; it is given a long interval. */
static void check_flow(char *const *argv)
{
    struct run run;
    start(&run, argv);
    bool shown = wait_for(&run, 0, FIRST_WORDS);
    await_quiet(&run);
    type(&run, "\023\014");
    type(&run, "q");
    bool over = shown && is_over(&run);
    drain(&run);
    const char *left = over ? left_behind(&run) : "it does not end";
    say("keys of a terminal that Ctrl-S stopped", !left && run.status == 0, "%s, wait status %#x", left,
        (unsigned)run.status);
    finish(&run);
}

/* Redraws until the terminal is full and the program waits in a write. */
static void check_unread(char *const *argv)
{
    struct run run;
    struct termios after;
    start(&run, argv);
    bool shown = wait_for(&run, 0, FIRST_WORDS);
    for (int i = 0; i < 150; i++) {
        type(&run, "\014");
        poll(NULL, 0, 10); /* for each a screen of its own */
    }
    kill(run.program, SIGTERM);
    bool over = shown && is_over(&run);
    bool modes = tcgetattr(run.slave, &after) == 0 && same_modes(&run.before, &after);
    say("SIGTERM ends it while nobody reads its terminal", over && modes, "%s, wait status %#x",
        over ? "the modes are not those it had" : "it does not end", (unsigned)run.status);
    finish(&run);
}

static void check_stopped(char *const *argv)
{
    check_flow(argv);
    check_unread(argv);
}

/* --- suspend --- */

static void check_suspend(char *const *argv)
{
    static const char name[] = "Ctrl-Z gives the terminal back, fg takes it again";
    struct run run;
    start(&run, argv);
    bool shown = wait_for(&run, 0, FIRST_WORDS);
    type(&run, "\032");
    bool stopped = shown && wait_status(&run) && WIFSTOPPED(run.status);
    const char *left = stopped ? left_behind(&run) : "it does not stop";
    size_t from = run.length;
    if (stopped && write(run.command_fd, "c", 1) != 1)
        die("write");
    bool again = stopped && wait_for(&run, from, "\033[?1049h") && wait_for(&run, from, FIRST_WORDS);
    type(&run, "q");
    bool ended = again && wait_status(&run) && WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0;
    if (!left && ended)
        left = left_behind(&run);
    say(name, !left && ended, "%s",
        left    ? left
        : again ? "it does not end by q afterwards"
                : "no screen after fg");
    finish(&run);
}

/* --- colour --- */

/* Does a sequence that sets a colour occur? 39 and 49 are the terminal's own. */
static bool has_colour(const char *output)
{
    for (const char *p = output; (p = strstr(p, "\033[")); p += 2) {
        const char *q = p + 2;
        size_t n = strspn(q, "0123456789;:");
        if (q[n] != 'm')
            continue;
        for (const char *number = q; number < q + n; number += strcspn(number, ";:") + 1) {
            int value = atoi(number);
            if ((value >= 30 && value <= 38) || (value >= 40 && value <= 48) || (value >= 90 && value <= 107))
                return true;
        }
    }
    return false;
}

static bool colours_of(char *const *argv, bool *shown)
{
    struct run run;
    start(&run, argv);
    *shown = wait_for(&run, 0, FIRST_WORDS);
    size_t from = run.length;
    type(&run, "?");
    *shown = wait_for(&run, from, "Keys") && *shown;
    type(&run, "q");
    wait_status(&run);
    bool colour = has_colour(run.output);
    finish(&run);
    return colour;
}

static void check_colour(char *const *argv)
{
    bool shown;
    unsetenv("NO_COLOR");
    bool colour = colours_of(argv, &shown);
    say("colours where the terminal has them", shown && colour, "%s", shown ? "none written" : "no screen");
    setenv("NO_COLOR", "1", 1);
    colour = colours_of(argv, &shown);
    say("NO_COLOR writes no colour", shown && !colour, "%s", shown ? "one was written" : "no screen");
    unsetenv("NO_COLOR");
    setenv("TERM", "vt100", 1);
    colour = colours_of(argv, &shown);
    say("a terminal without colours gets none", shown && !colour, "%s",
        shown ? "one was written" : "no screen");
}

/* --- refuse --- */

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* On a pseudo-terminal, with this TERM: one line, exit 2, nothing drawn. */
static void check_term(const char *term, char *const *argv)
{
    struct run run;
    char name[64];
    snprintf(name, sizeof(name), "TERM %s is refused with one line", term ? term : "unset");
    if (term)
        setenv("TERM", term, 1);
    else
        unsetenv("TERM");
    start(&run, argv);
    bool ended = wait_status(&run);
    bool good = ended && WIFEXITED(run.status) && WEXITSTATUS(run.status) == 2 &&
                count_lines(run.output) == 1 && strncmp(run.output, "vnettop: ", 9) == 0 &&
                !strchr(run.output, '\033');
    say(name, good, "wait status %#x, said: %.200s", (unsigned)run.status, run.output);
    finish(&run);
}

/* Without a terminal: which of the three is a pipe. */
static void check_pipe(const char *name, int piped, char *const *argv)
{
    int ends[2], status;
    char text[1024] = "";
    struct run run;
    start(&run, (char *const[]){"cat", NULL}); /* only for its terminal */
    if (pipe(ends) < 0)                        /* after it: else its processes would hold the pipe open */
        die("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(piped == 0 ? null : run.slave, 0);
        dup2(piped == 1 ? null : run.slave, 1);
        dup2(ends[1], 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    ssize_t n = 0, used = 0;
    while ((n = read(ends[0], text + used, sizeof(text) - 1 - (size_t)used)) > 0)
        used += n;
    waitpid(pid, &status, 0);
    drain(&run);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 2 && count_lines(text) == 1 &&
                strncmp(text, "vnettop: ", 9) == 0 && !strchr(run.output, '\033');
    say(name, good, "wait status %#x, said: %.200s", (unsigned)status, text);
    close(ends[0]);
    finish(&run);
}

static void check_refuse(char *const *argv)
{
    check_pipe("standard output no terminal: one line, exit 2", 1, argv);
    check_pipe("standard input no terminal: one line, exit 2", 0, argv);
    check_term("dumb", argv);
    check_term("no-such-terminal", argv);
    check_term(NULL, argv);
}

/* --- speed --- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define STARTS 5
#define KEYS   20

static double first_screen_s(char *const *argv)
{
    struct run run;
    double from = now_s();
    start(&run, argv);
    bool shown = wait_for(&run, 0, FIRST_WORDS);
    double took = shown ? now_s() - from : PATIENCE_S;
    type(&run, "q");
    wait_status(&run);
    finish(&run);
    return took;
}

static int count(const char *text, char letter)
{
    int n = 0;
    for (; *text; text++)
        n += *text == letter;
    return n;
}

/* Letters typed into a line, each until it is written: other writing is not taken for it. */
static void measure_keys(char *const *argv, double took[KEYS])
{
    struct run run;
    start(&run, argv);
    wait_for(&run, 0, FIRST_WORDS);
    size_t from = run.length;
    type(&run, "m");
    for (int i = 0; i < KEYS; i++) {
        double at = now_s(), until = at + PATIENCE_S;
        type(&run, "@");
        while (count(run.output + from, '@') <= i && wait_ready(run.master, until))
            take_output(&run);
        took[i] = now_s() - at;
    }
    type(&run, "\rq");
    wait_status(&run);
    finish(&run);
    qsort(took, KEYS, sizeof(took[0]), compare);
}

static void check_speed(char *const *argv)
{
    double start_s[STARTS], key_s[KEYS], first_bound = 0.150 * 5 * slow(), key_bound = 0.020 * 5 * slow();
    for (int i = 0; i < STARTS; i++)
        start_s[i] = first_screen_s(argv);
    qsort(start_s, STARTS, sizeof(start_s[0]), compare);
    measure_keys(argv, key_s);
    printf("    # first screen %.0f ms (best %.0f), a key %.1f ms (worst %.1f)\n", start_s[STARTS / 2] * 1e3,
           start_s[0] * 1e3, key_s[KEYS / 2] * 1e3, key_s[KEYS - 1] * 1e3);
    say("first screen in time", start_s[STARTS / 2] < first_bound, "%.0f ms, at most %.0f",
        start_s[STARTS / 2] * 1e3, first_bound * 1e3);
    say("a key's effect in time", key_s[KEYS / 2] < key_bound, "%.1f ms, at most %.0f", key_s[KEYS / 2] * 1e3,
        key_bound * 1e3);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(char *const *argv);
    } checks[] = {{"restore", check_restore}, {"stopped", check_stopped}, {"suspend", check_suspend},
                  {"colour", check_colour},   {"refuse", check_refuse},   {"speed", check_speed}};
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; argc > 2 && i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (strcmp(argv[1], checks[i].name) != 0)
            continue;
        setenv("TERM", "xterm-256color", 1);
        checks[i].check(argv + 2);
        return 0;
    }
    fprintf(stderr, "usage: pty restore|stopped|suspend|colour|refuse|speed PROGRAM [ARGUMENT...]\n");
    return 2;
}
