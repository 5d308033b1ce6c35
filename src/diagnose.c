/* SPDX-License-Identifier: MIT */
/* `vnettop diagnose`: looks for a while and prints the findings, most costly first; pipes into a ticket. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/asked.h"
#include "src/commands.h"
#include "src/format.h"
#include "src/recording.h"
#include "src/text.h"

#define TICK_MS 1000

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

static bool look(struct session *session, double seconds, int signal_fd)
{
    struct pacer pacer;
    int64_t end_ns = clock_mono_ns() + (int64_t)(seconds * 1e9);
    bool tty = isatty(STDERR_FILENO);
    pacer_start(&pacer, session_interval_ms(session));
    while (session_frame_now(session, signal_fd)) {
        int64_t left_ns = end_ns - clock_mono_ns();
        if (tty)
            fprintf(stderr, "\rvnettop: looking, %.0f s left ", left_ns > 0 ? (double)left_ns / 1e9 : 0);
        if (left_ns <= 0) {
            if (tty)
                fputs("\r                                  \r", stderr);
            return true;
        }
        if (!pacer_wait(&pacer, signal_fd))
            return false;
    }
    return false;
}

int command_diagnose(const struct options *options, struct session *session, int signal_fd)
{
    char error[256];
    double seconds = options->interval_s > 1 ? options->interval_s : 10;
    session_set_interval(session, TICK_MS / 1000.0);
    if (!look(session, seconds, signal_fd)) {
        fputs("vnettop: stopped before the look was over\n", stderr);
        return 2;
    }
    struct frame *frame = session_take_frame(session);
    unsigned seen = warn_blind(frame);
    int status = frame->table[TABLE_FINDINGS].n > 0;
    if (options->csv)
        status = recording_print(stdout, TABLE_FINDINGS, NULL, frame, error, sizeof(error)) < 0 ? 2 : status;
    else if (options->json)
        print_json(frame);
    else
        print_text(frame);
    if (asked_complain(options, frame) > 0 || seen == 0 || fflush(stdout) == EOF)
        status = 2;
    frame_free(frame);
    return status;
}
