/* SPDX-License-Identifier: MIT */
/* snapshot, record and sources (see commands.h). */
#include "src/commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/asked.h"
#include "src/collector.h"
#include "src/ending.h"
#include "src/format.h"
#include "src/takeaway.h"

static int complain(const char *error)
{
    fprintf(stderr, "vnettop: %s\n", error);
    return 2;
}

/* Two samples, the interval apart; NULL when a signal came first. */
static struct frame *two_samples(struct session *session, int signal_fd)
{
    struct pacer pacer;
    pacer_start(&pacer, session_interval_ms(session));
    if (!session_frame_now(session, signal_fd) || !pacer_wait(&pacer, signal_fd) ||
        !session_frame_now(session, signal_fd))
        return NULL;
    return session_take_frame(session);
}

static int write_snapshot(const struct options *options, struct takeaway *takeaway, const struct frame *frame,
                          char *error, size_t error_size)
{
    char folder[128];
    if (options->out && strcmp(options->out, "-") == 0)
        return recording_print(stdout, takeaway_table(takeaway), takeaway_selection(takeaway), frame, error,
                               error_size);
    if (options->out)
        return takeaway_snapshot(takeaway, options->out, frame, error, error_size);
    takeaway_folder(folder, sizeof(folder), "snapshot", frame->wall_ns);
    int rc = takeaway_snapshot(takeaway, folder, frame, error, error_size);
    if (rc == 0)
        fprintf(stderr, "vnettop: written %s\n", folder);
    return rc;
}

int command_snapshot(const struct options *options, struct session *session, int signal_fd)
{
    char error[256];
    struct takeaway *takeaway = takeaway_new(options, error, sizeof(error));
    if (!takeaway)
        return complain(error);
    if (options->out && strcmp(options->out, "-") == 0 && takeaway_table(takeaway) == TABLES_N) {
        takeaway_free(takeaway);
        return complain("-o -: name the one table to print with --table");
    }
    struct frame *frame = two_samples(session, signal_fd);
    int status = frame ? 0 : 1;
    if (frame && asked_complain(options, frame) > 0)
        status = 2;
    else if (frame && write_snapshot(options, takeaway, frame, error, sizeof(error)) < 0)
        status = complain(error);
    frame_free(frame);
    takeaway_free(takeaway);
    return status;
}

/* How far a recording is, on one line of a terminal that is rewritten. */
static void show_progress(const struct frame *frame, uint64_t frames)
{
    char elapsed[FORMAT_SIZE];
    if (!isatty(STDERR_FILENO))
        return;
    format_elapsed(elapsed, sizeof(elapsed), frame->now_ns - frame->start_ns);
    fprintf(stderr, "\rvnettop: %s, %llu frames ", elapsed, (unsigned long long)frames);
}

static bool is_over(const struct options *options, const struct frame *frame, uint64_t frames)
{
    return (options->frames && frames >= options->frames) ||
           (options->for_s > 0 && (double)(frame->now_ns - frame->start_ns) >= options->for_s * 1e9);
}

/* Frames until the end that the options or a signal set; returns 0, or -1 when the folder takes no more. */
static int record_frames(const struct options *options, struct session *session, struct takeaway *takeaway,
                         int signal_fd, uint64_t *frames, char *error, size_t error_size)
{
    struct pacer pacer;
    pacer_start(&pacer, session_interval_ms(session));
    for (bool over = false; !over && session_frame_now(session, signal_fd);) {
        struct frame *frame = session_take_frame(session);
        int rc = takeaway_write(takeaway, frame, error, error_size);
        if (*frames == 0) /* it may come yet: recorded all the same */
            asked_complain(options, frame);
        *frames += rc == 0;
        show_progress(frame, *frames);
        over = is_over(options, frame, *frames);
        frame_free(frame);
        if (rc < 0)
            return -1;
        if (!over && !pacer_wait(&pacer, signal_fd))
            break;
    }
    return 0;
}

int command_record(const struct options *options, struct session *session, int signal_fd)
{
    char error[256], folder[128];
    struct takeaway *takeaway = takeaway_new(options, error, sizeof(error));
    if (!takeaway)
        return complain(error);
    takeaway_folder(folder, sizeof(folder), "record", clock_wall_ns());
    const char *dir = options->out ? options->out : folder;
    int64_t start_ns = session_start_ns(session);
    int64_t start_wall_ns = clock_wall_ns() - (clock_mono_ns() - start_ns);
    if (takeaway_start(takeaway, dir, start_ns, start_wall_ns, error, sizeof(error)) < 0) {
        takeaway_free(takeaway);
        return complain(error);
    }
    uint64_t frames = 0;
    int rc = record_frames(options, session, takeaway, signal_fd, &frames, error, sizeof(error));
    ending_take(signal_fd);
    /* A disk that took no more frames takes no meta.json either: one line says it. */
    char stop_error[256];
    int stop_rc = takeaway_stop(takeaway, rc < 0 ? stop_error : error, sizeof(error));
    if (isatty(STDERR_FILENO))
        fputc('\r', stderr);
    fprintf(stderr, "vnettop: ");
    if (rc < 0 || stop_rc < 0)
        fprintf(stderr, "%s; ", error);
    fprintf(stderr, "%llu frames in %s\n", (unsigned long long)frames, dir);
    takeaway_free(takeaway);
    return rc < 0 || stop_rc < 0 ? 2 : 0;
}
