/* SPDX-License-Identifier: MIT */
/*
 * bench_ovs CTL-SOCKET PID BRIDGE-SOCKET: what a frame of the source `ovs` costs, here and in vswitchd's main
 * thread, against users' way (ovs-appctl three times) and against the bare exchange (the same questions on
 * kept connections, nothing parsed), taken in turn. Called by bench_ovs.sh in a lab. Exit status 1: a target
 * was missed.
 */
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "bench/bench.h"
#include "collectors/ovs.h"

#define ROUNDS   120
#define PAUSE_NS 30000000 /* for the daemon to come to rest, so that a round's work is its own */

extern char **environ;

/* Who pays: the asker, and vswitchd's main thread. */
struct bill {
    const char *name;
    struct times own, daemon;
};

static char main_thread[64];

static uint64_t daemon_ns(void)
{
    char text[128];
    int fd = open(main_thread, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (n <= 0)
        die(main_thread);
    close(fd);
    text[n] = '\0';
    return strtoull(text, NULL, 10);
}

static void rest(void)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    nanosleep(&pause, NULL);
}

/* ---- the collectors ---- */

struct reader {
    const struct collector *collector;
    void *state;
    struct collect_call call;
};

static void open_reader(struct reader *reader, const struct collector *collector)
{
    static const struct collect_config config = {.root = ""};
    *reader = (struct reader){.collector = collector, .call = {.stop_fd = -1}};
    reader->call.deadline_ns = clock_mono_ns() + 5000000000;
    if (collector->open(&config, &reader->state, &reader->call) != COLLECT_OK) {
        fprintf(stderr, "%s\n", reader->call.error.text);
        exit(2);
    }
}

static void read_once(struct reader *reader)
{
    struct sample *sample;
    reader->call.deadline_ns = clock_mono_ns() + 5000000000;
    if (reader->collector->collect(reader->state, &reader->call, &sample) != COLLECT_OK) {
        fprintf(stderr, "%s\n", reader->call.error.text);
        exit(2);
    }
    sample_unref(sample);
}

static void bill_reader(struct bill *bill, struct reader *reader)
{
    uint64_t daemon = daemon_ns(), own = clock_thread_cpu_ns();
    read_once(reader);
    times_add(&bill->own, clock_thread_cpu_ns() - own);
    rest();
    times_add(&bill->daemon, daemon_ns() - daemon);
}

/* ---- the bare exchange ---- */

static int connect_to(const char *path)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        die(path);
    return fd;
}

static void send_all(int fd, const void *bytes, size_t len)
{
    if (write(fd, bytes, len) != (ssize_t)len)
        die("write");
}

/* Reads until n JSON objects without objects inside have come: OVS's answers are such. */
static void skip_answers(int fd, int n)
{
    static char buffer[1 << 16];
    while (n > 0) {
        ssize_t got = read(fd, buffer, sizeof(buffer));
        if (got <= 0)
            die("read");
        for (const char *p = buffer; n > 0 && (p = memchr(p, '}', (size_t)(buffer + got - p))); p++)
            n--;
    }
}

static void skip_openflow(int fd)
{
    static uint8_t buffer[1 << 17];
    size_t have = 0;
    for (bool more = true; more;) {
        ssize_t got = read(fd, buffer + have, sizeof(buffer) - have);
        if (got <= 0)
            die("read");
        have += (size_t)got;
        for (size_t len; have >= 12 && have >= (len = (size_t)(buffer[2] << 8 | buffer[3]));) {
            more = more && !(buffer[1] == 19 && !(buffer[11] & 1));
            have -= len;
            memmove(buffer, buffer + len, have);
        }
    }
}

static int greet(const char *path)
{
    static const uint8_t hello[16] = {6, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 0x20};
    uint8_t answer[64];
    int fd = connect_to(path);
    send_all(fd, hello, sizeof(hello));
    if (read(fd, answer, sizeof(answer)) < 8)
        die("read");
    return fd;
}

static void bill_bare(struct bill *bill, int ctl, int bridge)
{
    static const char questions[] =
        "{\"id\":1,\"method\":\"dpif-netdev/pmd-stats-show\",\"params\":[]}"
        "{\"id\":2,\"method\":\"dpif-netdev/pmd-perf-show\",\"params\":[\"-nh\"]}";
    static const uint8_t request[24] = {5, 18, 0, 24, 0, 0, 0,    2,    0,    4,
                                        0, 0,  0, 0,  0, 0, 0xff, 0xff, 0xff, 0xff};
    uint64_t daemon = daemon_ns(), own = clock_thread_cpu_ns();
    send_all(ctl, questions, sizeof(questions) - 1);
    send_all(bridge, request, sizeof(request));
    skip_answers(ctl, 2);
    skip_openflow(bridge);
    times_add(&bill->own, clock_thread_cpu_ns() - own);
    rest();
    times_add(&bill->daemon, daemon_ns() - daemon);
}

/* ---- users' way ---- */

static uint64_t child_cpu_ns(const char *const *argv)
{
    posix_spawn_file_actions_t files;
    struct rusage usage;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    int rc = posix_spawnp(&pid, argv[0], &files, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (rc != 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
        die(argv[0]);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void bill_programs(struct bill *bill, const char *ctl)
{
    const char *const commands[3][8] = {
        {"ovs-appctl", "-t", ctl, "dpif-netdev/pmd-stats-show", NULL},
        {"ovs-appctl", "-t", ctl, "dpif-netdev/pmd-rxq-show", NULL},
        {"ovs-appctl", "-t", ctl, "dpctl/show", "-s", NULL},
    };
    uint64_t daemon = daemon_ns(), own = 0;
    for (size_t i = 0; i < 3; i++)
        own += child_cpu_ns(commands[i]);
    times_add(&bill->own, own);
    rest();
    times_add(&bill->daemon, daemon_ns() - daemon);
}

/* ---- result ---- */

static void tell(struct bill *bill, struct bill *users)
{
    printf("%-44s %9.3f ms %9.3f ms", bill->name, times_ms(&bill->own, 0.5), times_ms(&bill->daemon, 0.5));
    if (bill != users)
        printf("   %5.3f of users' way here, %5.2f in vswitchd",
               times_ms(&bill->own, 0.5) / times_ms(&users->own, 0.5),
               times_ms(&bill->daemon, 0.5) / times_ms(&users->daemon, 0.5));
    printf("\n");
}

int main(int argc, char **argv)
{
    static struct bill none = {.name = "no question"}, users = {.name = "ovs-appctl three times"},
                       fast = {.name = "a frame of the feed ovs"},
                       slow = {.name = "a read of ovs-queues (every 2 s)"},
                       bare = {.name = "the feed ovs's questions, bare"};
    struct reader ovs, queues;
    if (argc != 4)
        return 2;
    snprintf(main_thread, sizeof(main_thread), "/proc/%s/task/%s/schedstat", argv[2], argv[2]);
    int ctl = connect_to(argv[1]), bridge = greet(argv[3]);
    open_reader(&ovs, &ovs_collector);
    open_reader(&queues, &ovs_queues_collector);
    for (int i = 0; i < 3; i++) {
        read_once(&ovs);
        read_once(&queues);
    }
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t daemon = daemon_ns();
        rest();
        times_add(&none.daemon, daemon_ns() - daemon);
        bill_reader(&fast, &ovs);
        bill_bare(&bare, ctl, bridge);
        bill_reader(&slow, &queues);
        if (i % 4 == 0)
            bill_programs(&users, argv[1]);
    }
    printf("%-44s %12s %12s   (CPU, median; %d ms of rest included)\n", "", "here", "vswitchd",
           PAUSE_NS / 1000000);
    printf("%-44s %12s %9.3f ms\n", none.name, "", times_ms(&none.daemon, 0.5));
    tell(&users, &users);
    tell(&fast, &users);
    tell(&bare, &users);
    tell(&slow, &users);
    double own = times_ms(&fast.own, 0.5) / times_ms(&users.own, 0.5);
    double daemon = times_ms(&fast.daemon, 0.5) / times_ms(&users.daemon, 0.5);
    double bare_daemon = times_ms(&fast.daemon, 0.5) / times_ms(&bare.daemon, 0.5);
    int missed = 0;
    printf("a frame against users' way, here %.3f", own);
    missed += judge(own, 0.25);
    printf("\n");
    printf("a frame against users' way, in vswitchd %.2f", daemon);
    missed += judge(daemon, 1);
    printf("\n");
    printf("a frame against the bare exchange, in vswitchd %.2f", bare_daemon);
    missed += judge(bare_daemon, 1.25);
    printf("\n");
    return missed > 0;
}
