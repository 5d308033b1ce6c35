/* SPDX-License-Identifier: MIT */
/*
 * What the source qemu costs on a host of many virtual machines: starts processes whose command line and
 * threads look like QEMU's, has vnettop record them at one frame a second, and meanwhile, on the same tempo,
 * reads the schedstat files of their vCPUs bare. Prints CPU times and their ratio; `tests/bench/run` calls
 * it. It must not know how vnettop reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"

enum { MACHINES_MAX = 1000, VCPUS_MAX = 64, FRAMES = 24, SETTLED = 8, LINE = 4096 };

static const char GUEST[] = "qemu-system-x86_64";

/* ---- a process that looks like a virtual machine's ---- */

static void *rest(void *argument)
{
    char name[16];
    snprintf(name, sizeof(name), "CPU %d/KVM", *(int *)argument);
    pthread_setname_np(pthread_self(), name);
    while (pause() < 0)
        continue;
    return NULL;
}

static int be_a_guest(int vcpus)
{
    static int numbers[VCPUS_MAX];
    for (int i = 0; i < vcpus; i++) {
        pthread_t thread;
        numbers[i] = i;
        if (pthread_create(&thread, NULL, rest, &numbers[i]) != 0)
            return 1;
    }
    if (write(STDOUT_FILENO, "", 1) != 1)
        return 1;
    for (;;)
        pause();
}

static pid_t start_guest(int number, const char *vcpus, int ready)
{
    char name[32], uuid[40];
    snprintf(name, sizeof(name), "guest=bench%d", number);
    snprintf(uuid, sizeof(uuid), "6b3f1d4e-0c55-4b0e-9a51-%012d", number);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ready, STDOUT_FILENO);
    execl("/proc/self/exe", GUEST, "-smp", vcpus, "-name", name, "-uuid", uuid, (char *)NULL);
    _exit(1);
}

static bool start_guests(pid_t *pids, int n, const char *vcpus)
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    for (int i = 0; i < n; i++)
        if ((pids[i] = start_guest(i, vcpus, ends[1])) < 0)
            return false;
    close(ends[1]);
    int up = 0;
    while (up < n && read(ends[0], &byte, 1) == 1)
        up++;
    close(ends[0]);
    return up == n;
}

static void end_guests(const pid_t *pids, int n)
{
    for (int i = 0; i < n; i++)
        if (pids[i] > 0)
            kill(pids[i], SIGKILL);
    for (int i = 0; i < n; i++)
        if (pids[i] > 0)
            waitpid(pids[i], NULL, 0);
}

/* ---- bare reads ---- */

static double thread_cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The threads of a guest are those behind its first: their ids rise. */
static int open_vcpus(pid_t pid, int vcpus, int *fds)
{
    char path[64];
    int n = 0;
    for (pid_t tid = pid + 1; n < vcpus && tid < pid + 100000; tid++) {
        snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            fds[n++] = fd;
    }
    return n;
}

static double read_bare_us(const int *fds, int n)
{
    char text[128];
    double before = thread_cpu_us();
    for (int i = 0; i < n; i++)
        if (pread(fds[i], text, sizeof(text), 0) <= 0)
            return 0;
    return thread_cpu_us() - before;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), by_size);
    return n ? values[n / 2] : 0;
}

/* ---- vnettop ---- */

static pid_t start_vnettop(const char *program, const char *folder)
{
    char frames[16];
    snprintf(frames, sizeof(frames), "%d", FRAMES);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execl(program, program, "record", "-o", folder, "-d", "1", "-n", frames, "--only", "qemu", (char *)NULL);
    _exit(127);
}

/* The fields of a line of plain CSV: no quoted one stands before those that are asked for. */
static const char *field(char *line, int column, char *out, size_t size)
{
    for (; column > 0 && line; column--)
        line = strchr(line, ',') ? strchr(line, ',') + 1 : NULL;
    size_t n = line ? strcspn(line, ",\n") : 0;
    snprintf(out, size, "%.*s", (int)n, line ? line : "");
    return out;
}

static int column_of(char *header, const char *name)
{
    char word[64];
    for (int i = 0; i < 64; i++)
        if (strcmp(field(header, i, word, sizeof(word)), name) == 0)
            return i;
    return -1;
}

/* CPU time of one of vnettop's sources between its samples, us, into costs; returns how many. */
static int costs_of(const char *folder, const char *source, double *costs)
{
    char path[512], line[LINE], word[64];
    snprintf(path, sizeof(path), "%s/sources.csv", folder);
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof(line), f)) {
        if (f)
            fclose(f);
        return 0;
    }
    int name = column_of(line, "name"), cpu = column_of(line, "cpu_ns"), samples = column_of(line, "samples");
    double last_us = 0, last_samples = 0;
    int n = 0;
    while (fgets(line, sizeof(line), f)) {
        if (strcmp(field(line, name, word, sizeof(word)), source) != 0)
            continue;
        double us = strtod(field(line, cpu, word, sizeof(word)), NULL) / 1e3;
        double read = strtod(field(line, samples, word, sizeof(word)), NULL);
        if (last_samples > SETTLED / 2 && read > last_samples && n < FRAMES)
            costs[n++] = (us - last_us) / (read - last_samples);
        last_us = us;
        last_samples = read;
    }
    fclose(f);
    return n;
}

static double mean(const double *values, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / n : 0;
}

/* ---- the whole ---- */

static int measure(const char *program, const char *folder, const int *fds, int n)
{
    static double bare[FRAMES * 4], ticks[FRAMES], places[FRAMES];
    int rounds = 0, status;
    pid_t pid = start_vnettop(program, folder);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        double us = read_bare_us(fds, n);
        if (us > 0 && rounds < FRAMES * 4)
            bare[rounds++] = us;
        sleep(1);
    }
    int n_ticks = costs_of(folder, "qemu", ticks), n_places = costs_of(folder, "qemu-places", places);
    if (status != 0 || rounds == 0 || n_ticks == 0 || n_places == 0) {
        fprintf(stderr, "bench_threads: %s recorded nothing into %s\n", program, folder);
        return 1;
    }
    double bare_us = median(bare, rounds), all_us = mean(ticks, n_ticks);
    qsort(ticks, (size_t)n_ticks, sizeof(*ticks), by_size);
    double tick_us = ticks[n_ticks / 4]; /* every other one looks for new processes too */
    printf("threads, %d of virtual machines\n", n);
    printf("   bare read of their schedstat files %.0f us\n", bare_us);
    printf("   frame %.0f us: %.2f of it\n", tick_us, tick_us / bare_us);
    printf("   frame and its share of the inventory %.0f us: %.2f of it\n", all_us, all_us / bare_us);
    printf("   last CPU, affinity and switches, every 2 s: %.0f us, %.3f %% of a CPU\n",
           mean(places, n_places), mean(places, n_places) / 2e4);
    int missed = judge(all_us / bare_us, 2);
    putchar('\n');
    return missed;
}

static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    static pid_t pids[MACHINES_MAX];
    static int fds[MACHINES_MAX * VCPUS_MAX];
    if (argc > 2 && strcmp(argv[0], GUEST) == 0)
        return be_a_guest(atoi(argv[2]));
    int machines = argc > 3 ? atoi(argv[3]) : 100, vcpus = argc > 4 ? atoi(argv[4]) : 4, n = 0;
    if (argc < 3 || machines < 1 || machines > MACHINES_MAX || vcpus < 1 || vcpus > VCPUS_MAX) {
        fputs("usage: bench_threads VNETTOP FOLDER [MACHINES [VCPUS]]: FOLDER is made, and holds the "
              "recording\n",
              stderr);
        return 2;
    }
    raise_descriptors();
    bool up = start_guests(pids, machines, argc > 4 ? argv[4] : "4");
    for (int i = 0; up && i < machines; i++)
        n += open_vcpus(pids[i], vcpus, fds + n);
    int status = up && n == machines * vcpus ? measure(argv[1], argv[2], fds, n) : 1;
    end_guests(pids, machines);
    return status;
}
