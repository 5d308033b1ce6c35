/* SPDX-License-Identifier: MIT */
/*
 * bench_netlink: what one read of all links costs in CPU time, against the bare dumps of the kernel and
 * against programs that show the same. Called by tests/bench/run in a namespace with the links. Exit status
 * 1: a target was missed.
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench/bench.h"
#include "collectors/netlink.h"

#define ROUNDS       300
#define SPAWN_EVERY  15 /* rounds for one run of the programs */
#define READ_TARGET  2.0
#define MAX_PROGRAMS 4

extern char **environ;

/* A program that shows the links n times and ends; its start is not counted: `once` is taken from `often`. */
struct program {
    const char *name;
    const char *once[16], *often[16];
    int frames; /* of often more than of once */
    struct times times;
    bool missing;
};

static struct program programs[MAX_PROGRAMS] = {
    {.name = "ip -s -j link", .often = {"ip", "-s", "-j", "link"}, .frames = 1},
    {.name = "bwm-ng",
     .once = {"bwm-ng", "-o", "csv", "-c", "1", "-t", "20"},
     .often = {"bwm-ng", "-o", "csv", "-c", "11", "-t", "20"},
     .frames = 10},
    {.name = "bmon",
     .once = {"bmon", "-r", "0.05", "-s", "0.01", "-o", "format:quitafter=1"},
     .often = {"bmon", "-r", "0.05", "-s", "0.01", "-o", "format:quitafter=11"},
     .frames = 10},
};

/* CPU time of a child from its start to its end; 0 when it cannot be run. */
static uint64_t child_cpu_ns(const char *const *argv)
{
    posix_spawn_file_actions_t files;
    struct rusage usage;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    int rc = posix_spawnp(&pid, argv[0], &files, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (rc != 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) == 127)
        return 0;
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void run_program(struct program *program)
{
    uint64_t once = program->once[0] ? child_cpu_ns(program->once) : 0;
    uint64_t often = child_cpu_ns(program->often);
    program->missing = often == 0;
    if (often > once)
        times_add(&program->times, (often - once) / (uint64_t)program->frames);
}

struct reader {
    void *state;
    struct collect_call call;
    size_t rows;
};

static void open_reader(struct reader *reader)
{
    static const struct collect_config config = {.root = ""};
    *reader = (struct reader){.call = {.stop_fd = -1}};
    reader->call.deadline_ns = clock_mono_ns() + INT64_C(10000000000);
    if (netlink_collector.open(&config, &reader->state, &reader->call) != COLLECT_OK) {
        fprintf(stderr, "%s\n", reader->call.error.text);
        exit(2);
    }
}

static void read_links(struct reader *reader)
{
    struct sample *sample = NULL;
    reader->call.deadline_ns = clock_mono_ns() + INT64_C(10000000000);
    if (netlink_collector.collect(reader->state, &reader->call, &sample) != COLLECT_OK) {
        fprintf(stderr, "%s\n", reader->call.error.text);
        exit(2);
    }
    reader->rows = sample_rows(sample);
    sample_unref(sample);
}

static void print_line(const char *name, struct times *times, double unit_ms)
{
    double median = times_ms(times, 0.5);
    printf("  %-24s %8.3f ms  (least %.3f)  %6.2f", name, median, times_ms(times, 0), median / unit_ms);
}

int main(void)
{
    static struct times getstats, getlink, vnettop;
    int stats_fd = dump_socket(), link_fd = dump_socket();
    struct reader reader;
    open_reader(&reader);
    read_links(&reader); /* the inventory, once */
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t t[4] = {clock_thread_cpu_ns()};
        bare_dump(stats_fd, RTM_GETSTATS);
        t[1] = clock_thread_cpu_ns();
        read_links(&reader);
        t[2] = clock_thread_cpu_ns();
        bare_dump(link_fd, RTM_GETLINK);
        t[3] = clock_thread_cpu_ns();
        times_add(&getstats, t[1] - t[0]);
        times_add(&vnettop, t[2] - t[1]);
        times_add(&getlink, t[3] - t[2]);
        for (size_t i = 0; round % SPAWN_EVERY == 0 && programs[i].name; i++)
            if (!programs[i].missing)
                run_program(&programs[i]);
    }
    double unit_ms = times_ms(&getstats, 0.5), ratio = times_ms(&vnettop, 0.5) / unit_ms;
    printf("One read of %zu links, CPU time, median of %d in turn; last: of a bare RTM_GETSTATS dump\n",
           reader.rows, ROUNDS);
    print_line("bare RTM_GETSTATS dump", &getstats, unit_ms);
    putchar('\n');
    print_line("vnettop's read", &vnettop, unit_ms);
    int missed = judge(ratio, READ_TARGET);
    putchar('\n');
    print_line("bare RTM_GETLINK dump", &getlink, unit_ms);
    putchar('\n');
    for (size_t i = 0; programs[i].name; i++) {
        if (programs[i].missing) {
            printf("  %-24s skipped: it is not installed, or does not run here\n", programs[i].name);
            continue;
        }
        print_line(programs[i].name, &programs[i].times, unit_ms);
        putchar('\n');
    }
    netlink_collector.close(reader.state);
    return missed ? 1 : 0;
}
