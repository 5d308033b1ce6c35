/* SPDX-License-Identifier: MIT */
/*
 * `vnettop diagnose`: looks for a while and prints what was found, most costly first, and after it what was
 * found and has gone again; pipes into a ticket. A look that is interrupted prints what it has.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/asked.h"
#include "src/commands.h"
#include "src/format.h"
#include "src/memory.h"
#include "src/recording.h"
#include "src/text.h"

#define DEFAULT_LOOK_S 10
#define LEAST_LOOK_S   3 /* a rate takes two reads, and a cause must last two seconds */
#define TICK_S         1
#define SHORT_TICK_S   0.5 /* of a look that is shorter than the default */

/* --- what was found at any time of the look --- */

/* As it was seen last; holds a reference of the sample. */
struct seen {
    const struct sample *sample;
    const struct findings_row *row;
    int64_t last_ns;
};

struct found {
    size_t n;
    struct seen *seen;
};

static struct seen *seen_of(struct found *found, const struct info_head *info)
{
    for (size_t i = 0; i < found->n; i++)
        if (strcmp(found->seen[i].row->head.info->key, info->key) == 0)
            return &found->seen[i];
    found->seen = xrealloc(found->seen, found->n + 1, sizeof(*found->seen));
    found->seen[found->n] = (struct seen){0};
    return &found->seen[found->n++];
}

static void remember(struct found *found, const struct frame *frame)
{
    const struct frame_table *findings = &frame->table[TABLE_FINDINGS];
    for (size_t i = 0; i < findings->n; i++) {
        const struct part *part = &findings->rows[i].part;
        struct seen *seen = seen_of(found, part->cur->info);
        sample_unref(seen->sample);
        *seen =
            (struct seen){sample_ref(part->pair->cur), (const struct findings_row *)part->cur, frame->now_ns};
    }
}

static void forget(struct found *found)
{
    for (size_t i = 0; i < found->n; i++)
        sample_unref(found->seen[i].sample);
    free(found->seen);
}

static void add_row(struct sample *sample, struct inventory *texts, const struct findings_row *row,
                    double gone_s)
{
    struct findings_row *copy = sample_row(sample, TABLE_FINDINGS, row->head.info);
    struct row_head head = copy->head;
    *copy = *row;
    copy->head.t_ns = head.t_ns;
    if (gone_s > 0)
        copy->text = inventory_textf(texts, "%s (gone for %.0f s)", row->text, gone_s);
}

/* All of it as one frame: what stands in its order, then the rest. The look outlives it. */
static struct frame *frame_of(const struct found *found, const struct frame *last)
{
    struct inventory *texts = inventory_new();
    struct sample *sample = sample_new(texts);
    sample->t0_ns = sample->t1_ns = last->now_ns;
    sample->wall_ns = last->wall_ns;
    for (size_t i = 0; i < last->table[TABLE_FINDINGS].n; i++)
        add_row(sample, texts, (const struct findings_row *)last->table[TABLE_FINDINGS].rows[i].part.cur, 0);
    for (size_t i = 0; i < found->n; i++)
        if (found->seen[i].last_ns < last->now_ns)
            add_row(sample, texts, found->seen[i].row, (double)(last->now_ns - found->seen[i].last_ns) / 1e9);
    inventory_unref(texts);
    const struct pair pair = {.feed = "findings", .cur = sample};
    struct frame *frame = frame_new(&pair, 1, last->now_ns, last->wall_ns, last->start_ns);
    sample_unref(sample);
    return frame;
}

/* --- printing --- */

static const struct findings_row *row_at(const struct frame *frame, size_t i)
{
    return (const struct findings_row *)frame->table[TABLE_FINDINGS].rows[i].part.cur;
}

static const struct findings_info *info_at(const struct frame *frame, size_t i)
{
    return (const struct findings_info *)row_at(frame, i)->head.info;
}

static void print_text(const struct frame *frame)
{
    size_t n = frame->table[TABLE_FINDINGS].n;
    for (size_t i = 0; i < n; i++) {
        const struct findings_row *row = row_at(frame, i);
        char text[1024], worst[FORMAT_SIZE], since[FORMAT_SIZE];
        format_scaled(worst, sizeof(worst), row->worst);
        format_duration(since, sizeof(since), row->since_s);
        text_visible(text, sizeof(text), row->text);
        printf("%-5s %s\n      %s for %s, worst %s %s\n", row->severity, text, info_at(frame, i)->rule, since,
               worst, row->unit);
        if (row_has(row, advice)) {
            text_visible(text, sizeof(text), row->advice);
            printf("      try: %s\n", text);
        }
    }
    if (n == 0)
        puts("no finding");
}

static json_t *text_json(const char *text)
{
    json_t *value = json_string(text);
    char clean[1024];
    if (value)
        return value;
    text_visible(clean, sizeof(clean), text); /* not UTF-8 */
    return json_string(clean);
}

static void print_json(const struct frame *frame)
{
    json_t *list = json_array();
    for (size_t i = 0; i < frame->table[TABLE_FINDINGS].n; i++) {
        const struct findings_row *row = row_at(frame, i);
        json_t *item = json_object();
        json_object_set_new(item, "rule", json_string(info_at(frame, i)->rule));
        json_object_set_new(item, "severity", json_string(row->severity));
        json_object_set_new(item, "object", text_json(info_at(frame, i)->object));
        json_object_set_new(item, "text", text_json(row->text));
        json_object_set_new(item, "advice", row_has(row, advice) ? text_json(row->advice) : json_null());
        json_object_set_new(item, "since_s", json_real(row->since_s));
        json_object_set_new(item, "value", json_real(row->value));
        json_object_set_new(item, "worst", json_real(row->worst));
        json_object_set_new(item, "unit", json_string(row->unit));
        json_object_set_new(item, "cost_pps",
                            row_has(row, cost_pps) ? json_real(row->cost_pps) : json_null());
        json_array_append_new(list, item);
    }
    json_dumpf(list, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(list);
}

static int complain(const char *error)
{
    fprintf(stderr, "vnettop: %s\n", error);
    return 2;
}

static int print(const struct options *options, const struct frame *frame)
{
    char error[256];
    int status = frame->table[TABLE_FINDINGS].n > 0;
    if (options->csv) {
        if (recording_print(stdout, TABLE_FINDINGS, NULL, frame, error, sizeof(error)) < 0)
            return complain(error);
    } else if (options->json) {
        print_json(frame);
    } else {
        print_text(frame);
    }
    return fflush(stdout) == EOF ? complain("standard output takes no more") : status;
}

/* Sources that are there and could not be read: what is not seen cannot be called healthy. */
static unsigned warn_blind(const struct frame *frame)
{
    unsigned seen = 0;
    const struct frame_table *sources = &frame->table[TABLE_SOURCES];
    for (size_t i = 0; i < sources->n; i++) {
        const struct sources_row *row = (const struct sources_row *)sources->rows[i].part.cur;
        const struct sources_info *info = (const struct sources_info *)row->head.info;
        char detail[512];
        if (strcmp(info->name, "vnettop") == 0)
            continue;
        if (strcmp(row->state, "ok") == 0) {
            seen++;
        } else if (strcmp(row->state, "none") != 0) {
            text_visible(detail, sizeof(detail), row->detail);
            fprintf(stderr, "vnettop: %s: %s: %s\n", info->name, row->state, detail);
        }
    }
    return seen;
}

/* --- looking --- */

static bool is_given(const struct options *options, const char *name)
{
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(defs[i].name, name) == 0)
            return options->given >> i & 1;
    return false;
}

/* -d is the look's length here; the interval of a config file is the console's. */
static double look_seconds(const struct options *options)
{
    double seconds = is_given(options, "interval") ? options->interval_s : DEFAULT_LOOK_S;
    if (seconds < LEAST_LOOK_S)
        fprintf(
            stderr,
            "vnettop: a look of %g s finds nothing: a cause must last two seconds before it is told; give "
            "-d %d or more\n",
            seconds, LEAST_LOOK_S);
    return seconds;
}

static void show_progress(int64_t left_ns)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (left_ns > 0)
        fprintf(stderr, "\rvnettop: looking, %.0f s left ", (double)left_ns / 1e9);
    else
        fputs("\r                                  \r", stderr);
}

/* One look, and how far it came. */
struct diagnosis {
    struct found found;
    struct frame *last; /* NULL: stopped before the first */
    double seconds, looked_s;
    bool stopped; /* by a signal */
};

/* Frames until the time is over, or a signal comes. */
static void look_on(struct session *session, struct diagnosis *look, int signal_fd)
{
    struct pacer pacer;
    int64_t start_ns = clock_mono_ns(), end_ns = start_ns + (int64_t)(look->seconds * 1e9);
    bool go = true;
    pacer_start(&pacer, session_interval_ms(session));
    while (go && session_frame_now(session, signal_fd)) {
        int64_t left_ns = end_ns - clock_mono_ns();
        frame_free(look->last);
        look->last = session_take_frame(session);
        remember(&look->found, look->last);
        show_progress(left_ns);
        if (left_ns <= 0)
            return;
        go = pacer_wait(&pacer, signal_fd);
    }
    show_progress(0);
    look->stopped = true;
    look->looked_s = (double)(clock_mono_ns() - start_ns) / 1e9;
}

/* What a stopped look has found is told; that it found nothing only when it was long enough to find anything.
 */
static int tell(const struct options *options, const struct diagnosis *look)
{
    if (!look->last)
        return complain("stopped before anything was read");
    struct frame *all = frame_of(&look->found, look->last);
    bool any = all->table[TABLE_FINDINGS].n > 0;
    int status;
    if (look->stopped)
        fprintf(stderr, "vnettop: stopped after %.1f of %g s\n", look->looked_s, look->seconds);
    if (!warn_blind(look->last))
        status = complain("no source could be read: nothing is known of this host");
    else if (look->stopped && !any && look->looked_s < LEAST_LOOK_S)
        status = 2;
    else
        status = print(options, all);
    if (asked_complain(options, look->last) > 0)
        status = 2;
    frame_free(all);
    return status;
}

int command_diagnose(const struct options *options, struct session *session, int signal_fd)
{
    if (options->csv && options->json)
        return complain("--csv and --json: give one of them");
    struct diagnosis look = {.seconds = look_seconds(options)};
    session_set_interval(session, look.seconds < DEFAULT_LOOK_S ? SHORT_TICK_S : TICK_S);
    look_on(session, &look, signal_fd);
    int status = tell(options, &look);
    frame_free(look.last);
    forget(&look.found);
    return status;
}
