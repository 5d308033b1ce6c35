/* SPDX-License-Identifier: MIT */
/* Recordings and snapshots as asked for (see takeaway.h). */
#include "src/takeaway.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/host_facts.h"
#include "src/memory.h"
#include "src/meta.h"
#include "src/select.h"

struct takeaway {
    const struct options *options;
    enum table_id table; /* TABLES_N = all */
    bool filtered;
    regex_t filter;
    const struct column *columns[MAX_SLOTS * 2];
    struct csv_selection selection;
    const struct csv_selection *selections[TABLES_N];
    struct recording_plan plan;
    struct meta *meta;
    struct recording *recording;
    char *dir;
};

static bool keep_row(const struct frame *frame, const struct frame_row *row, void *context)
{
    const struct takeaway *takeaway = context;
    return row_matches(frame, row, takeaway->table, &takeaway->filter);
}

static int set_columns(struct takeaway *takeaway, char *error, size_t error_size)
{
    const char *list = takeaway->options->columns;
    if (!list)
        return 0;
    if (takeaway->table == TABLES_N) {
        snprintf(error, error_size, "--columns: name the table they are of with --table");
        return -1;
    }
    ssize_t n =
        columns_parse(table_get(takeaway->table), list, takeaway->columns, MAX_SLOTS * 2, error, error_size);
    if (n < 0)
        return -1;
    takeaway->selection.columns = takeaway->columns;
    takeaway->selection.n_columns = (size_t)n;
    return 0;
}

static int set_sort(struct takeaway *takeaway, char *error, size_t error_size)
{
    const char *text = takeaway->options->sort;
    if (!text)
        return 0;
    if (takeaway->table == TABLES_N) {
        snprintf(error, error_size, "--sort: name the table it is of with --table");
        return -1;
    }
    return sort_parse(table_get(takeaway->table), text, &takeaway->selection.sort,
                      &takeaway->selection.descending, error, error_size);
}

static int set_filter(struct takeaway *takeaway, char *error, size_t error_size)
{
    const char *text = takeaway->options->filter;
    if (!text)
        return 0;
    if (filter_compile(&takeaway->filter, text, error, error_size) < 0)
        return -1;
    takeaway->filtered = true;
    takeaway->selection.keep = keep_row;
    takeaway->selection.context = takeaway;
    return 0;
}

static int set_table(struct takeaway *takeaway, char *error, size_t error_size)
{
    const char *name = takeaway->options->table;
    takeaway->table = TABLES_N;
    takeaway->plan = (struct recording_plan){.tables = RECORDING_TABLES, .selection = takeaway->selections};
    if (!name)
        return 0;
    takeaway->table = table_find(name);
    if (takeaway->table == TABLES_N) {
        snprintf(error, error_size, "--table %s: no such table; --table help lists them", name);
        return -1;
    }
    takeaway->plan.tables = RECORDING_TABLE(takeaway->table);
    return 0;
}

static int check_labels(const struct text_list *labels, char *error, size_t error_size)
{
    for (size_t i = 0; i < labels->n; i++) {
        if (strchr(labels->texts[i], '=') > labels->texts[i])
            continue;
        snprintf(error, error_size, "--label %s: give KEY=VALUE", labels->texts[i]);
        return -1;
    }
    return 0;
}

struct takeaway *takeaway_new(const struct options *options, char *error, size_t error_size)
{
    struct takeaway *takeaway = xzalloc(sizeof(*takeaway));
    takeaway->options = options;
    if (set_table(takeaway, error, error_size) < 0 || set_columns(takeaway, error, error_size) < 0 ||
        set_sort(takeaway, error, error_size) < 0 || set_filter(takeaway, error, error_size) < 0 ||
        check_labels(&options->labels, error, error_size) < 0) {
        takeaway_free(takeaway);
        return NULL;
    }
    for (int id = 0; id < TABLES_N; id++)
        if (takeaway->table == (enum table_id)id || (takeaway->table == TABLES_N && takeaway->filtered))
            takeaway->selections[id] = &takeaway->selection;
    return takeaway;
}

void takeaway_free(struct takeaway *takeaway)
{
    if (!takeaway)
        return;
    char error[256];
    takeaway_stop(takeaway, error, sizeof(error));
    if (takeaway->filtered)
        regfree(&takeaway->filter);
    free(takeaway);
}

enum table_id takeaway_table(const struct takeaway *takeaway)
{
    return takeaway->table;
}

const struct csv_selection *takeaway_selection(const struct takeaway *takeaway)
{
    return &takeaway->selection;
}

static struct meta *make_meta(const struct takeaway *takeaway, int64_t start_mono_ns, int64_t start_wall_ns)
{
    struct host_facts *facts = host_facts_read("");
    struct meta *meta = meta_new(facts, takeaway->options->interval_s);
    host_facts_free(facts);
    meta_set_start(meta, start_mono_ns, start_wall_ns);
    const struct text_list *labels = &takeaway->options->labels;
    for (size_t i = 0; i < labels->n; i++) {
        const char *equals = strchr(labels->texts[i], '=');
        char *key = strndup(labels->texts[i], (size_t)(equals - labels->texts[i]));
        if (key)
            meta_set(meta, META_LABELS, key, equals + 1);
        free(key);
    }
    return meta;
}

int takeaway_start(struct takeaway *takeaway, const char *dir, int64_t start_mono_ns, int64_t start_wall_ns,
                   char *error, size_t error_size)
{
    takeaway->meta = make_meta(takeaway, start_mono_ns, start_wall_ns);
    takeaway->recording = recording_open(dir, takeaway->meta, &takeaway->plan, error, error_size);
    if (!takeaway->recording) {
        meta_free(takeaway->meta);
        takeaway->meta = NULL;
        return -1;
    }
    takeaway->dir = xstrdup(dir);
    return 0;
}

int takeaway_write(struct takeaway *takeaway, const struct frame *frame, char *error, size_t error_size)
{
    return takeaway->recording ? recording_write(takeaway->recording, frame, error, error_size) : 0;
}

int takeaway_stop(struct takeaway *takeaway, char *error, size_t error_size)
{
    if (!takeaway->recording)
        return 0;
    int rc = recording_close(takeaway->recording, -1, error, error_size);
    meta_free(takeaway->meta);
    free(takeaway->dir);
    takeaway->recording = NULL;
    takeaway->meta = NULL;
    takeaway->dir = NULL;
    return rc;
}

const char *takeaway_recording(const struct takeaway *takeaway)
{
    return takeaway->dir;
}

int takeaway_snapshot(struct takeaway *takeaway, const char *dir, const struct frame *frame, char *error,
                      size_t error_size)
{
    struct meta *meta =
        make_meta(takeaway, frame->start_ns, frame->wall_ns - (frame->now_ns - frame->start_ns));
    int rc = recording_snapshot(dir, meta, &takeaway->plan, frame, error, error_size);
    meta_free(meta);
    return rc;
}

void takeaway_folder(char *path, size_t size, const char *what, int64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    char at[32];
    strftime(at, sizeof(at), "%Y%m%d-%H%M%S", localtime_r(&seconds, &tm));
    snprintf(path, size, "vnettop-%s-%s", what, at);
    for (int i = 2; access(path, F_OK) == 0 && i < 1000; i++)
        snprintf(path, size, "vnettop-%s-%s-%d", what, at, i);
}
