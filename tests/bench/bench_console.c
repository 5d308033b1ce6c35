/* SPDX-License-Identifier: MIT */
/*
 * bench_console VNETTOP: the whole program in a terminal (a pty): how long until the first screen, how long a
 * key takes, what CPU and memory it uses at 1 s and at 0.1 s. Called by tests/bench/run in a namespace with
 * the links. Exit status 1: a target was missed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "bench/bench.h"

#define STARTS          15
#define KEYS            60
#define FIRST_TARGET_MS 150.0
#define KEY_TARGET_MS   20.0
#define MEMORY_TARGET   20.0
#define QUIET_MS        100
#define PATIENCE_MS     10000
#define KEY_PATIENCE_MS 1000

struct screen {
    pid_t pid;
    int fd;
    int64_t start_ns;
    char tail[64]; /* the last bytes of the read before, for a word across two reads */
};

static struct screen start(const char *program, const char *interval)
{
    struct winsize size = {.ws_row = 45, .ws_col = 120};
    struct screen screen = {.start_ns = clock_mono_ns()};
    screen.pid = forkpty(&screen.fd, NULL, NULL, &size);
    if (screen.pid < 0)
        die("forkpty");
    if (screen.pid == 0) {
        execl(program, "vnettop", "-d", interval, "--view", "ports", (char *)NULL);
        _exit(127);
    }
    return screen;
}

/* Reads what comes within that time; returns the bytes of the first read, 0 when nothing came. */
static ssize_t read_some(struct screen *screen, char *buffer, size_t size, int wait_ms)
{
    struct pollfd fd = {.fd = screen->fd, .events = POLLIN};
    if (poll(&fd, 1, wait_ms) <= 0)
        return 0;
    ssize_t n = read(screen->fd, buffer, size - 1);
    if (n <= 0) {
        fprintf(stderr, "vnettop ended before its time\n");
        exit(2);
    }
    buffer[n] = '\0';
    return n;
}

static void read_until_quiet(struct screen *screen)
{
    char buffer[65536];
    while (read_some(screen, buffer, sizeof(buffer), QUIET_MS) > 0)
        ;
}

/* Until the heading of the table is on the screen. */
static uint64_t wait_for_table(struct screen *screen)
{
    static char seen[1 << 18];
    size_t used = 0;
    while (used < sizeof(seen) - 65536) {
        ssize_t n = read_some(screen, seen + used, 65536, PATIENCE_MS);
        used += (size_t)n;
        if (n == 0)
            break;
        if (strstr(seen, "RX PPS"))
            return (uint64_t)(clock_mono_ns() - screen->start_ns);
    }
    fprintf(stderr, "no table on the screen\n");
    exit(2);
}

static void send_key(const struct screen *screen, const char *key)
{
    if (write(screen->fd, key, strlen(key)) < 0)
        die("write");
}

static void quit(struct screen *screen)
{
    char buffer[65536];
    send_key(screen, "q");
    while (read(screen->fd, buffer, sizeof(buffer)) > 0)
        ;
    waitpid(screen->pid, NULL, 0);
    close(screen->fd);
}

/* The cursor moves down; with an interval of an hour nothing else changes the screen. A key that is met only
 * with the next one, on a machine that is busy elsewhere, counts with all the patience. */
static void measure_keys(const char *program, struct times *keys)
{
    char buffer[65536];
    struct screen screen = start(program, "3600");
    wait_for_table(&screen);
    read_until_quiet(&screen);
    send_key(&screen, "z"); /* idle rows too */
    read_until_quiet(&screen);
    for (int i = 0; i < KEYS; i++) {
        int64_t before_ns = clock_mono_ns();
        send_key(&screen, "j");
        read_some(&screen, buffer, sizeof(buffer), KEY_PATIENCE_MS);
        times_add(keys, (uint64_t)(clock_mono_ns() - before_ns));
        read_until_quiet(&screen);
    }
    quit(&screen);
}

static uint64_t process_cpu_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec ts;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) < 0)
        die("CPU clock of vnettop");
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static double status_mb(pid_t pid, const char *name)
{
    char path[64], line[256];
    unsigned long kb = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtoul(line + strlen(name), NULL, 10);
    if (file)
        fclose(file);
    return (double)kb / 1024;
}

static void read_for(struct screen *screen, int64_t ns)
{
    char buffer[65536];
    int64_t end_ns = clock_mono_ns() + ns, left;
    while ((left = end_ns - clock_mono_ns()) > 0)
        read_some(screen, buffer, sizeof(buffer), (int)(left / 1000000) + 1);
}

struct cost {
    double cpu_pct, peak_mb, anonymous_mb;
};

static struct cost measure_cost(const char *program, const char *interval, int64_t seconds, const char *keys)
{
    struct screen screen = start(program, interval);
    wait_for_table(&screen);
    send_key(&screen, keys);
    read_for(&screen, INT64_C(3000000000));
    uint64_t cpu_ns = process_cpu_ns(screen.pid);
    int64_t start_ns = clock_mono_ns();
    read_for(&screen, seconds * 1000000000);
    cpu_ns = process_cpu_ns(screen.pid) - cpu_ns;
    struct cost cost = {
        .cpu_pct = 100.0 * (double)cpu_ns / (double)(clock_mono_ns() - start_ns),
        .peak_mb = status_mb(screen.pid, "VmHWM:"),
        .anonymous_mb = status_mb(screen.pid, "RssAnon:"),
    };
    quit(&screen);
    return cost;
}

/* CPU of one bare dump a tick, percent: what cannot be had for less. */
static double bare_pct(double interval_s)
{
    static struct times bare;
    int fd = dump_socket();
    for (int i = 0; i < 100; i++) {
        uint64_t before_ns = clock_thread_cpu_ns();
        bare_dump(fd, RTM_GETSTATS);
        times_add(&bare, clock_thread_cpu_ns() - before_ns);
    }
    close(fd);
    return times_ms(&bare, 0.5) / 10 / interval_s;
}

static void print_cost(const char *what, const struct cost *cost, double interval_s)
{
    double bare = bare_pct(interval_s);
    printf("  %-32s %6.2f %% of a CPU   %5.2f of bare dumps at that pace (%.2f %%)\n", what, cost->cpu_pct,
           cost->cpu_pct / bare, bare);
}

int main(int argc, char **argv)
{
    static struct times first, keys;
    int missed = 0;
    if (argc != 2) {
        fputs("usage: bench_console VNETTOP\n", stderr);
        return 2;
    }
    for (int i = 0; i < STARTS; i++) {
        struct screen screen = start(argv[1], "1");
        times_add(&first, wait_for_table(&screen));
        quit(&screen);
    }
    measure_keys(argv[1], &keys);
    puts("The console in a terminal of 120x45, view Ports");
    /* Waiting time, unlike CPU time, has in it what others do on the machine: the best quarter says most. */
    printf("  first screen, best quarter of %d %7.1f ms  (least %.1f, median %.1f)", STARTS,
           times_ms(&first, 0.25), times_ms(&first, 0), times_ms(&first, 0.5));
    missed += judge(times_ms(&first, 0.25), FIRST_TARGET_MS);
    printf(" ms\n  a key's effect, median of %d    %8.2f ms  (least %.2f, worst %.2f)", KEYS,
           times_ms(&keys, 0.5), times_ms(&keys, 0), times_ms(&keys, 1));
    missed += judge(times_ms(&keys, 0.5), KEY_TARGET_MS);
    puts(" ms");
    struct cost slow = measure_cost(argv[1], "1", 10, "z"), idle = measure_cost(argv[1], "1", 10, "9");
    struct cost fast = measure_cost(argv[1], "0.1", 10, "z");
    print_cost("at 1 s, all rows shown", &slow, 1);
    print_cost("at 1 s, view Sources", &idle, 1);
    print_cost("at 0.1 s, all rows shown", &fast, 0.1);
    printf("  memory at most                   %7.1f MB  (%.1f MB its own, the rest files of libraries)",
           fast.peak_mb, fast.anonymous_mb);
    missed += judge(fast.peak_mb, MEMORY_TARGET);
    puts(" MB");
    return missed ? 1 : 0;
}
