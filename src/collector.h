/* SPDX-License-Identifier: MIT */
/*
 * The contract of a collector: how one source's numbers are read. A collector is a const struct in the list
 * of collectors/list.c; it fills samples and knows nothing of screens, rates or files. Blocking code is fine:
 * each instance runs in a worker thread of its own (feed.h), and a test may call it without one.
 */
#ifndef VNETTOP_COLLECTOR_H
#define VNETTOP_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/clock.h"
#include "src/sample.h"

/* What a collect or open found. Everything but COLLECT_OK leaves a reason in the error text. */
enum collect_result {
    COLLECT_OK,
    COLLECT_NONE,      /* the thing is not on this host: quiet, looked for again slowly */
    COLLECT_DENIED,    /* it is there, but not for this user */
    COLLECT_NO_ANSWER, /* asked, and the deadline passed */
    COLLECT_FAILED,    /* anything else: cause and mend in the text */
    COLLECT_RESULTS
};

/* What the options say to collectors. Lists end with NULL, unset texts are NULL. */
struct collect_config {
    const char *netns;       /* this instance's network namespace: NULL = the one vnettop runs in */
    const char *connect_uri; /* this instance's libvirt: NULL = its default */
    const char *const *ovs_rundirs;
    const char *const *dpdk_rundirs;
    const char *vpp_stats;
    const char *root; /* prefix of /proc and /sys, "" in real life: recorded trees in tests */
};

struct collect_error {
    char text[256];
};

/* Fills error->text and returns result, so that a failure is one statement. */
enum collect_result collect_fail(struct collect_error *error, enum collect_result result, const char *format,
                                 ...) __attribute__((format(printf, 3, 4)));

struct collect_call {
    int64_t deadline_ns; /* CLOCK_MONOTONIC: give up by then */
    int stop_fd;         /* readable when the program ends: long waits poll it too */
    struct collect_error error;
    char detail[256]; /* one line for `sources`: what is seen; set when it changes */
    char version[96]; /* of what answers, "libvirt 9.0.0"; several apart by `, `; kept in meta.json */
};

/* What there is one instance of a collector for. */
enum collect_per {
    COLLECT_PER_HOST,   /* one in all */
    COLLECT_PER_NETNS,  /* each --netns; config->netns says which */
    COLLECT_PER_URI,    /* each --connect; config->connect_uri says which */
    COLLECT_PER_RUNDIR, /* each --ovs-rundir; the only one in config->ovs_rundirs */
};

struct collector {
    const char *source; /* host, netlink, qemu, libvirt, ovs, dpdk, vpp */
    const char *feed;   /* unique: the source, and its part (netlink, netlink-queues) */
    const char *help;   /* one line: what it reads and from where */
    int tempo_ms;       /* least interval, 0 = as asked: slow numbers on a slow tempo */
    enum collect_per per;
    unsigned annotates; /* a bit for each table whose rows it tells more of but does not make */

    /* In the main thread, once before the first worker of any collector starts: what a library wants done
     * while there are no threads. NULL = nothing. */
    void (*prepare)(void);
    /* In the main thread, must not block: is there anything to read for this instance? NULL = always. */
    bool (*is_wanted)(const struct collect_config *config);
    /* Allocates *state. After anything but COLLECT_OK, close is not called. */
    enum collect_result (*open)(const struct collect_config *config, void **state, struct collect_call *call);
    /* Reads one sample. Sets t0_ns, t1_ns and wall_ns by sample_begin/sample_end around the counters' read.
     * On COLLECT_OK *sample is the caller's. Anything else closes the state, to be opened again after a
     * back-off. */
    enum collect_result (*collect)(void *state, struct collect_call *call, struct sample **sample);
    void (*close)(void *state);
};

/* Stamp the two ends of a read: CLOCK_MONOTONIC, and at the first also CLOCK_REALTIME. */
void sample_begin(struct sample *sample);
void sample_end(struct sample *sample);

/* Every collector of this build; ends with NULL. In collectors/list.c. */
extern const struct collector *const all_collectors[];

#endif
