/* SPDX-License-Identifier: MIT */
/*
 * Sessions (see session.h). vnettop's own rows are samples of one more feed that is filled here, so that the
 * sources table is shown, recorded and compared like any other.
 */
#include "src/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/columns.h"
#include "src/feed.h"
#include "src/findings.h"
#include "src/keepoff.h"
#include "src/memory.h"
#include "src/portpaths.h"

#define NS_PER_MS         INT64_C(1000000)
#define NS_PER_S          INT64_C(1000000000)
#define HISTORY_BYTES     (6u << 20)
#define KEEP_OFF_EVERY_NS INT64_C(5000000000)
#define MAX_FEEDS         64

/* A feed, what it was started with, and its newest sample's figures for the sources table. */
struct slot {
    struct feed *feed;
    size_t number; /* in the store */
    struct collect_config config;
    const char *rundirs[2]; /* of config, where the instance is one run folder */
    int64_t newest_t1_ns;
    double read_s;
    uint64_t rows;
};

struct session {
    const struct options *options;
    int64_t interval_ms, start_ns, kick_ns;
    size_t n_slots;
    struct slot slots[MAX_FEEDS];
    struct store *store;
    size_t own_feed, findings_feed, paths_feed;
    struct findings *findings;
    struct portpaths *portpaths; /* NULL: guests' paths alone */
    struct sample *paths;        /* for the next tick; NULL before the first */
    cpu_set_t allowed, chosen;   /* CPUs this program began with, and those it keeps to */
    int64_t kept_off_ns;
    struct frame *newest; /* of the last tick, until somebody takes it */
    uint64_t own_samples;
    struct mark *marks;
    size_t n_marks;
    uint64_t cpu_ns[2]; /* of the process, at the last two ticks */
    int64_t cpu_at_ns[2];
};

static bool in_list(const struct text_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->texts[i], name) == 0)
            return true;
    return false;
}

static bool is_source(const struct collector *const *collectors, const char *name)
{
    for (size_t i = 0; collectors[i]; i++)
        if (strcmp(collectors[i]->source, name) == 0)
            return true;
    return false;
}

static int check_sources(const struct text_list *list, const char *option,
                         const struct collector *const *collectors, char *error, size_t error_size)
{
    for (size_t i = 0; i < list->n; i++) {
        if (is_source(collectors, list->texts[i]))
            continue;
        int used = snprintf(error, error_size, "--%s %s: no such source; there are:", option, list->texts[i]);
        const char *last = "";
        for (size_t c = 0; collectors[c] && used > 0 && (size_t)used < error_size; c++) {
            if (strcmp(last, collectors[c]->source) != 0)
                used += snprintf(error + used, error_size - (size_t)used, " %s", collectors[c]->source);
            last = collectors[c]->source;
        }
        return -1;
    }
    return 0;
}

/* The instances that the options ask for, by name; none named is one with the collector's default. */
static const struct text_list *instances_of(const struct options *options, enum collect_per per)
{
    static const struct text_list none;
    switch (per) {
    case COLLECT_PER_NETNS:
        return &options->netns;
    case COLLECT_PER_URI:
        return &options->connect;
    case COLLECT_PER_RUNDIR:
        return &options->ovs_rundirs;
    case COLLECT_PER_HOST:
        break;
    }
    return &none;
}

static struct collect_config config_of(const struct options *options, enum collect_per per,
                                       const char *instance)
{
    return (struct collect_config){
        .netns = per == COLLECT_PER_NETNS ? instance : NULL,
        .connect_uri = per == COLLECT_PER_URI ? instance : NULL,
        .ovs_rundirs = options->ovs_rundirs.texts,
        .dpdk_rundirs = options->dpdk_rundirs.texts,
        .vpp_stats = options->vpp_stats,
        .root = "",
    };
}

/* instance NULL = the collector's default. */
static int start_slot(struct session *session, const struct collector *collector, const char *instance,
                      char *error, size_t error_size)
{
    if (session->n_slots == MAX_FEEDS) {
        snprintf(error, error_size, "more than %d sources; give fewer of --netns and --connect", MAX_FEEDS);
        return -1;
    }
    struct slot *slot = &session->slots[session->n_slots];
    slot->config = config_of(session->options, collector->per, instance);
    if (collector->per == COLLECT_PER_RUNDIR && instance) {
        slot->rundirs[0] = instance;
        slot->config.ovs_rundirs = slot->rundirs;
    }
    if (collector->is_wanted && !collector->is_wanted(&slot->config))
        return 0;
    char name[256];
    snprintf(name, sizeof(name), instance ? "%s@%s" : "%s", collector->feed, instance);
    slot->feed = feed_start(collector, name, &slot->config, error, error_size);
    if (!slot->feed)
        return -1;
    slot->number = store_add_feed(session->store, feed_name(slot->feed));
    store_set_annotates(session->store, slot->number, collector->annotates);
    session->n_slots++;
    return 0;
}

static int start_collector(struct session *session, const struct collector *collector, char *error,
                           size_t error_size)
{
    const struct text_list *instances = instances_of(session->options, collector->per);
    if (instances->n == 0)
        return start_slot(session, collector, NULL, error, error_size);
    for (size_t i = 0; i < instances->n; i++) {
        bool self = collector->per == COLLECT_PER_NETNS && strcmp(instances->texts[i], "self") == 0;
        if (start_slot(session, collector, self ? NULL : instances->texts[i], error, error_size) < 0)
            return -1;
    }
    return 0;
}

static bool is_asked_for(const struct options *options, const struct collector *collector)
{
    return (options->only.n == 0 || in_list(&options->only, collector->source)) &&
           !in_list(&options->no, collector->source);
}

static int start_all(struct session *session, const struct collector *const *collectors, char *error,
                     size_t error_size)
{
    const struct options *options = session->options;
    if (check_sources(&options->only, "only", collectors, error, error_size) < 0 ||
        check_sources(&options->no, "no", collectors, error, error_size) < 0)
        return -1;
    for (size_t i = 0; collectors[i]; i++)
        if (is_asked_for(options, collectors[i]) && collectors[i]->prepare)
            collectors[i]->prepare();
    for (size_t i = 0; collectors[i]; i++)
        if (is_asked_for(options, collectors[i]) &&
            start_collector(session, collectors[i], error, error_size) < 0)
            return -1;
    if (session->n_slots == 0) {
        snprintf(error, error_size, "--only and --no leave no source; name one to read");
        return -1;
    }
    return 0;
}

static int check_paths(const char *which, char *error, size_t error_size)
{
    if (!which || strcmp(which, "guests") == 0 || strcmp(which, "all") == 0)
        return 0;
    snprintf(error, error_size, "--paths %s: give guests or all", which);
    return -1;
}

struct session *session_open(const struct options *options, const struct collector *const *collectors,
                             char *error, size_t error_size)
{
    struct session *session = xzalloc(sizeof(*session));
    session->options = options;
    session->start_ns = clock_mono_ns();
    session->store = store_new(HISTORY_BYTES, session->start_ns);
    session_set_interval(session, options->interval_s);
    if (check_paths(options->paths, error, error_size) < 0 ||
        start_all(session, collectors, error, error_size) < 0) {
        session_close(session, 100);
        return NULL;
    }
    session->own_feed = store_add_feed(session->store, "vnettop");
    session->findings_feed = store_add_feed(session->store, "findings");
    session->findings = findings_new();
    if (options->paths && strcmp(options->paths, "all") == 0) {
        session->paths_feed = store_add_feed(session->store, "paths");
        session->portpaths = portpaths_new();
    }
    sched_getaffinity(0, sizeof(session->allowed), &session->allowed);
    session->chosen = session->allowed;
    return session;
}

void session_close(struct session *session, int64_t patience_ms)
{
    if (!session)
        return;
    struct feed *feeds[MAX_FEEDS];
    for (size_t i = 0; i < session->n_slots; i++)
        feeds[i] = session->slots[i].feed;
    size_t left = feeds_stop(feeds, session->n_slots, clock_mono_ns() + patience_ms * NS_PER_MS);
    frame_free(session->newest);
    findings_free(session->findings);
    portpaths_free(session->portpaths);
    sample_unref(session->paths);
    store_free(session->store);
    for (size_t i = 0; i < session->n_marks; i++)
        free(session->marks[i].text);
    free(session->marks);
    if (left == 0) /* a hung worker still reads its config */
        free(session);
}

int64_t session_start_ns(const struct session *session)
{
    return session->start_ns;
}

int64_t session_interval_ms(const struct session *session)
{
    return session->interval_ms;
}

void session_set_interval(struct session *session, double interval_s)
{
    session->interval_ms = (int64_t)(interval_s * 1000 + 0.5);
}

void session_kick(struct session *session, int64_t now_ns)
{
    session->kick_ns = now_ns;
    for (size_t i = 0; i < session->n_slots; i++)
        feed_kick(session->slots[i].feed, now_ns, session->interval_ms);
}

size_t session_pollfds(const struct session *session, struct pollfd *fds, size_t max)
{
    size_t n = session->n_slots < max ? session->n_slots : max;
    for (size_t i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = feed_eventfd(session->slots[i].feed), .events = POLLIN};
    return n;
}

static void take_sample(struct session *session, struct slot *slot)
{
    struct sample *sample = feed_take(slot->feed);
    if (!sample)
        return;
    slot->newest_t1_ns = sample->t1_ns;
    slot->read_s = (double)(sample->t1_ns - sample->t0_ns) / 1e9;
    slot->rows = sample_rows(sample);
    store_put(session->store, slot->number, sample);
}

bool session_drain(struct session *session)
{
    bool complete = true;
    for (size_t i = 0; i < session->n_slots; i++) {
        struct slot *slot = &session->slots[i];
        uint64_t events;
        while (read(feed_eventfd(slot->feed), &events, sizeof(events)) < 0 && errno == EINTR)
            ;
        /* The status first: a sample that comes in between is taken now and its event seen again. */
        struct feed_status status = feed_status(slot->feed);
        take_sample(session, slot);
        /* One that hangs since an earlier tick is not waited for again. */
        complete = complete && !(status.busy && status.since_ns >= session->kick_ns);
    }
    return complete;
}

int64_t session_patience_ns(const struct session *session)
{
    int64_t half_ms = session->interval_ms / 2;
    return session->kick_ns + (half_ms < 250 ? half_ms : 250) * NS_PER_MS;
}

static void add_mark_row(struct session *session, struct sample *sample, struct inventory *texts, size_t i)
{
    const struct mark *mark = &session->marks[i];
    struct marks_info *info = inventory_info(texts, TABLE_MARKS, "mark:%zu", i + 1);
    time_t seconds = (time_t)(mark->wall_ns / NS_PER_S);
    struct tm tm;
    char at[32];
    strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
    info_set(info, mark, i + 1);
    info_set(info, at, inventory_textf(texts, "%s.%03dZ", at, (int)(mark->wall_ns % NS_PER_S / NS_PER_MS)));
    info_set(info, at_elapsed_s, (double)(mark->t_ns - session->start_ns) / 1e9);
    info_set(info, text, inventory_text(texts, mark->text));
    sample_row(sample, TABLE_MARKS, info);
}

static void add_source_row(struct session *session, struct sample *sample, struct inventory *texts, size_t i,
                           int64_t now_ns)
{
    const struct slot *slot = &session->slots[i];
    struct feed_status status = feed_status(slot->feed);
    struct sources_info *info = inventory_info(texts, TABLE_SOURCES, "source:%s", feed_name(slot->feed));
    info_set(info, name, inventory_text(texts, feed_name(slot->feed)));
    struct sources_row *row = sample_row(sample, TABLE_SOURCES, info);
    bool late = status.busy && now_ns - status.since_ns > feed_stale_ns(slot->feed, session->interval_ms);
    row_set(row, state, feed_state_name(late ? FEED_NO_ANSWER : status.state));
    if (slot->newest_t1_ns) {
        row_set(row, age_s, (double)(now_ns - slot->newest_t1_ns) / 1e9);
        row_set(row, read_s, slot->read_s);
        row_set(row, rows, slot->rows);
    }
    row_set(row, cpu_ns, status.cpu_ns);
    row_set(row, samples, status.samples);
    row_set(row, failures, status.failures);
    if (status.version[0])
        row_set(row, version, inventory_text(texts, status.version));
    if (late)
        row_set(row, detail,
                inventory_textf(texts, "no answer for %.0f s; rows are that old; %s",
                                (double)(now_ns - status.since_ns) / 1e9, status.detail));
    else if (status.retry_ns > now_ns && status.state != FEED_NONE && status.state != FEED_DENIED)
        row_set(row, detail,
                inventory_textf(texts, "%s; retry in %.0f s", status.detail,
                                (double)(status.retry_ns - now_ns) / 1e9));
    else
        row_set(row, detail, inventory_text(texts, status.detail));
}

/* The program as a whole, its workers included: what vnettop itself costs. */
static void add_own_row(struct session *session, struct sample *sample, struct inventory *texts)
{
    struct sources_info *info = inventory_info(texts, TABLE_SOURCES, "source:vnettop");
    info_set(info, name, "vnettop");
    struct sources_row *row = sample_row(sample, TABLE_SOURCES, info);
    row_set(row, state, feed_state_name(FEED_OK));
    row_set(row, age_s, 0.0);
    row_set(row, cpu_ns, session->cpu_ns[1]);
    row_set(row, samples, session->own_samples);
    row_set(row, detail,
            inventory_textf(texts, "the whole program; history %.1f MB, %zu moments",
                            (double)store_bytes(session->store) / 1e6, store_moments(session->store)));
}

static void remember_cost(struct session *session, int64_t now_ns)
{
    session->cpu_ns[0] = session->cpu_ns[1];
    session->cpu_at_ns[0] = session->cpu_at_ns[1];
    session->cpu_ns[1] = clock_process_cpu_ns();
    session->cpu_at_ns[1] = now_ns;
}

double session_cost_pct(const struct session *session)
{
    int64_t ns = session->cpu_at_ns[1] - session->cpu_at_ns[0];
    if (session->cpu_at_ns[0] == 0 || ns <= 0)
        return 0;
    return 100.0 * (double)(session->cpu_ns[1] - session->cpu_ns[0]) / (double)ns;
}

/* Threads come and go: where this program may run is looked at again now and then. */
static void keep_off(struct session *session, int64_t now_ns)
{
    cpu_set_t chosen;
    if (session->kept_off_ns && now_ns - session->kept_off_ns < KEEP_OFF_EVERY_NS)
        return;
    session->kept_off_ns = now_ns;
    keepoff_choose(session->newest, &session->allowed, &chosen);
    if (!CPU_EQUAL(&chosen, &session->chosen) && keepoff_apply(&chosen))
        session->chosen = chosen;
}

/* Which ports have no guest is known when a frame is made: its paths are of the next one. */
static void find_portpaths(struct session *session)
{
    const struct frame *frame = session->newest;
    if (!session->portpaths)
        return;
    sample_unref(session->paths);
    session->paths = portpaths_sample(session->portpaths, frame, frame->now_ns, frame->wall_ns);
}

static void put_portpaths(struct session *session, int64_t now_ns, int64_t wall_ns)
{
    if (!session->paths)
        return;
    session->paths->t0_ns = session->paths->t1_ns = now_ns;
    session->paths->wall_ns = wall_ns;
    store_put(session->store, session->paths_feed, session->paths);
    session->paths = NULL;
}

/* The rules read the frame as it is without findings; what they conclude becomes a sample like any other, so
 * that it is recorded, stepped back to and compared. */
static void look(struct session *session)
{
    frame_free(session->newest);
    session->newest = store_frame(session->store, store_moments(session->store) - 1);
    find_portpaths(session);
    struct sample *sample = findings_update(session->findings, session->newest);
    const struct pair pair = {.feed = "findings", .cur = sample};
    frame_append(session->newest, &pair);
    store_conclude(session->store, session->findings_feed, sample);
    keep_off(session, session->newest->now_ns);
}

void session_tick(struct session *session, int64_t now_ns, int64_t wall_ns)
{
    remember_cost(session, now_ns);
    session->own_samples++;
    struct inventory *texts = inventory_new(); /* states and details change with every read */
    struct sample *sample = sample_new(texts);
    inventory_unref(texts);
    sample->seq = session->own_samples;
    sample->t0_ns = sample->t1_ns = now_ns;
    sample->wall_ns = wall_ns;
    for (size_t i = 0; i < session->n_slots; i++) {
        add_source_row(session, sample, texts, i, now_ns);
        store_set_stale(session->store, session->slots[i].number,
                        feed_stale_ns(session->slots[i].feed, session->interval_ms));
    }
    add_own_row(session, sample, texts);
    for (size_t i = 0; i < session->n_marks; i++)
        add_mark_row(session, sample, texts, i);
    sample_trim(sample);
    store_put(session->store, session->own_feed, sample);
    put_portpaths(session, now_ns, wall_ns);
    store_tick(session->store, now_ns, wall_ns);
    look(session);
}

struct frame *session_take_frame(struct session *session)
{
    struct frame *frame = session->newest;
    session->newest = NULL;
    size_t n = store_moments(session->store);
    return frame || n == 0 ? frame : store_frame(session->store, n - 1);
}

struct store *session_store(struct session *session)
{
    return session->store;
}

void session_mark(struct session *session, const char *text, int64_t now_ns, int64_t wall_ns)
{
    session->marks = xrealloc(session->marks, session->n_marks + 1, sizeof(*session->marks));
    session->marks[session->n_marks++] =
        (struct mark){.t_ns = now_ns, .wall_ns = wall_ns, .text = xstrdup(text)};
}

const struct mark *session_marks(const struct session *session, size_t *n)
{
    *n = session->n_marks;
    return session->marks;
}

bool session_frame_now(struct session *session, int wake_fd)
{
    struct pollfd fds[MAX_FEEDS + 1];
    session_kick(session, clock_mono_ns());
    while (!session_drain(session)) {
        int64_t left_ms = (session_patience_ns(session) - clock_mono_ns()) / NS_PER_MS;
        if (left_ms <= 0)
            break;
        fds[0] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
        size_t n = session_pollfds(session, fds + 1, MAX_FEEDS);
        poll(fds, n + 1, (int)left_ms);
        if (fds[0].revents)
            return false;
    }
    session_tick(session, clock_mono_ns(), clock_wall_ns());
    return true;
}

void pacer_start(struct pacer *pacer, int64_t interval_ms)
{
    *pacer = (struct pacer){.interval_ms = interval_ms, .next_ns = clock_mono_ns()};
}

bool pacer_wait(struct pacer *pacer, int wake_fd)
{
    int64_t interval_ns = pacer->interval_ms * NS_PER_MS, now = clock_mono_ns();
    pacer->next_ns += interval_ns;
    if (pacer->next_ns < now) /* ticks that were missed are not made up for */
        pacer->next_ns += (now - pacer->next_ns) / interval_ns * interval_ns + interval_ns;
    struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
    for (int64_t left; (left = pacer->next_ns - clock_mono_ns()) > 0;) {
        struct timespec wait = {.tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S};
        if (ppoll(&wake, 1, &wait, NULL) > 0)
            return false;
    }
    return true;
}
