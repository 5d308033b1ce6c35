/* SPDX-License-Identifier: MIT */
/*
 * Starts named threads pinned to CPUs that do nothing but spin, for a time or until killed: two on one CPU
 * are the ground truth for run and steal (50 % each, adding up to 100 %). Prints each thread's id, CPU and
 * name, then "ready"; the lab scripts read the kernel's accounts of them. What stands behind `--` is for
 * others to read: a process that is to look like a virtual machine's. It must not know how those are read.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256, CPU_MAX = 1024, NAME_BYTES = 16 };

struct spinner {
    pthread_t thread;
    int cpu;
    pid_t tid;
    char name[NAME_BYTES];
    pthread_barrier_t *started;
};

static atomic_bool stop;

static void *spin(void *argument)
{
    struct spinner *self = argument;

    self->tid = gettid();
    pthread_setname_np(self->thread, self->name);
    pthread_barrier_wait(self->started);
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
    }
    return NULL;
}

/* The first "%d" of the pattern becomes the number; the kernel keeps 15 characters. */
static void make_name(char *name, const char *pattern, int number)
{
    const char *mark = strstr(pattern, "%d");

    if (mark)
        snprintf(name, NAME_BYTES, "%.*s%d%s", (int)(mark - pattern), pattern, number, mark + 2);
    else
        snprintf(name, NAME_BYTES, "%s", pattern);
}

static int start(struct spinner *spinner)
{
    pthread_attr_t attributes;
    cpu_set_t set;
    int error;

    CPU_ZERO(&set);
    CPU_SET(spinner->cpu, &set);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    error = pthread_create(&spinner->thread, &attributes, spin, spinner);
    pthread_attr_destroy(&attributes);
    if (error)
        fprintf(stderr, "spin: CPU %d: %s\n", spinner->cpu, strerror(error));
    return error ? -1 : 0;
}

/* "0,0,1": a CPU for each thread. Returns how many, or -1. */
static int parse_cpus(char *text, struct spinner *spinners)
{
    int count = 0;
    char *save = NULL;

    for (char *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *end;
        long cpu = strtol(item, &end, 10);

        if (*end || cpu < 0 || cpu >= CPU_MAX || count == THREADS_MAX)
            return -1;
        spinners[count++].cpu = (int)cpu;
    }
    return count;
}

static void sleep_seconds(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds};

    left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
    while (nanosleep(&left, &left) && errno == EINTR) {
    }
}

int main(int argc, char **argv)
{
    static struct spinner spinners[THREADS_MAX];
    const char *pattern = "CPU %d/KVM";
    double seconds = 0;
    pthread_barrier_t started;
    int option, count = 0;

    while ((option = getopt(argc, argv, "c:n:t:")) != -1)
        if (option == 'c')
            count = parse_cpus(optarg, spinners);
        else if (option == 'n')
            pattern = optarg;
        else if (option == 't')
            seconds = strtod(optarg, NULL);
    if (count <= 0 || (optind != argc && strcmp(argv[optind - 1], "--") != 0)) {
        fputs("usage: spin -c CPU,CPU,... [-n NAME_WITH_%d] [-t SECONDS] [-- ANYTHING]\n", stderr);
        return 2;
    }
    pthread_barrier_init(&started, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++) {
        make_name(spinners[i].name, pattern, i);
        spinners[i].started = &started;
        if (start(&spinners[i]))
            return 1;
    }
    pthread_barrier_wait(&started);
    for (int i = 0; i < count; i++)
        printf("%d %d %s\n", (int)spinners[i].tid, spinners[i].cpu, spinners[i].name);
    puts("ready");
    fflush(stdout);
    if (seconds <= 0)
        pause();
    sleep_seconds(seconds);
    atomic_store(&stop, true);
    for (int i = 0; i < count; i++)
        pthread_join(spinners[i].thread, NULL);
    return 0;
}
