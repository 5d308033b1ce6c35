/* SPDX-License-Identifier: MIT */
/*
 * Commands and options, declared once: parsing, `--help`, the config file, the manual and the shell
 * completions are loops over these tables. Adding an option is a line in ALL_OPTIONS and its member in struct
 * options.
 */
#ifndef VNETTOP_OPTIONS_H
#define VNETTOP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_list {
    size_t n;
    const char **texts; /* NULL after the last; NULL when empty */
};

struct options {
    double interval_s;
    uint64_t frames; /* -n, 0 = without end */
    double for_s;    /* --for, 0 = without end */
    bool batch, csv, json;
    bool ascii, no_mouse, help, version;
    const char *out; /* -o */
    const char *table, *filter, *sort, *columns;
    const char *theme, *config, *vpp_stats;
    const char *view, *paths;
    uint64_t given; /* a bit for each line of the table: on the command line */
    struct text_list netns, connect, ovs_rundirs, dpdk_rundirs, only, no, labels;
};

/* Commands as bits, for the options that belong to some only. */
enum command_bits {
    FOR_CONSOLE = 1,
    FOR_BATCH = 2, /* the console's -b */
    FOR_SNAPSHOT = 4,
    FOR_RECORD = 8,
    FOR_SOURCES = 16,
    FOR_DIAGNOSE = 32,
    FOR_ALL = 63,
};

/* COMMAND(NAME, name, bits, arguments, help); the console has no name. */
#define ALL_COMMANDS(COMMAND)                                                                                \
    COMMAND(CONSOLE, "", FOR_CONSOLE | FOR_BATCH, "", "the console; with -b plain text frames, like top -b") \
    COMMAND(SNAPSHOT, "snapshot", FOR_SNAPSHOT, "",                                                          \
            "one frame (two samples, -d apart) as CSV: a folder, or one --table with -o -")                  \
    COMMAND(RECORD, "record", FOR_RECORD, "",                                                                \
            "record until stopped, or -n frames, or --for a time, into the folder -o")                       \
    COMMAND(                                                                                                 \
        DIAGNOSE, "diagnose", FOR_DIAGNOSE, "",                                                              \
        "look for -d seconds (default 10), print the findings; exit 0 none, 1 findings, 2 could not look")   \
    COMMAND(SOURCES, "sources", FOR_SOURCES, "", "what can be seen here, what not, and what to do about it")

#define AS_COMMAND_ID(NAME, ...) COMMAND_##NAME,
enum command_id { ALL_COMMANDS(AS_COMMAND_ID) COMMANDS_N };

struct command {
    const char *name, *arguments, *help;
    unsigned bits;
};
const struct command *command_get(enum command_id id);

enum option_kind {
    OPT_FLAG,     /* bool */
    OPT_TEXT,     /* const char * */
    OPT_LIST,     /* struct text_list, repeatable and comma separated */
    OPT_REPEAT,   /* struct text_list, repeatable, commas kept */
    OPT_SECONDS,  /* double, 0.1 to 3600 */
    OPT_DURATION, /* double seconds, with s, m, h */
    OPT_COUNT,    /* uint64_t, 1 or more */
};

struct option_def {
    const char *name; /* long */
    char letter;      /* short, 0 = none */
    const char *arg;  /* its argument in help, NULL = none */
    enum option_kind kind;
    size_t offset; /* in struct options */
    unsigned commands;
    bool in_config; /* may stand in the config file */
    const char *help;
};
const struct option_def *option_table(size_t *n);

void options_init(struct options *options);
void options_free(struct options *options);

/*
 * Reads argv[1..]: the command and its options; texts point into argv. -1 with one clear line in error.
 * The config file is not read here.
 */
int options_parse(struct options *options, int argc, char *const *argv, enum command_id *command, char *error,
                  size_t error_size);

/*
 * Sets one option by its long name from the text of a config file; what was given on the command line stays.
 * Returns 1 when there is no such option, -1 with a filled error when the value is wrong.
 */
int options_set_config(struct options *options, const char *name, const char *value, char *error,
                       size_t error_size);

/* For the usage and the manual. */
#define EXIT_STATUS_TEXT                                                                                     \
    "0 fine, 1 the answer is no or the work could not be finished, 2 usage or input error with one line on " \
    "standard error; diagnose has its own"

/* "record, snapshot": the commands that an option goes with, empty when it goes with all. */
void option_commands(const struct option_def *def, char *text, size_t size);

/* Writes the usage of one command, or of all when command is COMMAND_CONSOLE, to a malloced text. */
char *options_usage(enum command_id command);

#endif
