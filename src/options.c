/* SPDX-License-Identifier: MIT */
/*
 * The option table and the loops over it (see options.h). Values are read strictly: a number with a trailing
 * word, an interval of 0 or an empty list is an error with one line, never a guess.
 */
#include "src/options.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"
#include "src/utf8.h"

#define OPT(member) offsetof(struct options, member)

// clang-format off
static const struct option_def defs[] = {
    {"interval", 'd', "SEC",  OPT_SECONDS, OPT(interval_s), FOR_ALL, true,  "seconds between two frames, 0.1 to 3600 (default 1)"},
    {"frames",   'n', "N",    OPT_COUNT,   OPT(frames),     FOR_BATCH | FOR_RECORD, false, "stop after N frames"},
    {"for",       0,  "TIME", OPT_DURATION,OPT(for_s),      FOR_RECORD, false, "stop after TIME: 90, 90s, 5m, 2h"},
    {"batch",    'b', NULL,   OPT_FLAG,    OPT(batch),      FOR_CONSOLE | FOR_BATCH, false, "plain text frames on standard output, no screen"},
    {"output",   'o', "DIR",  OPT_TEXT,    OPT(out),        FOR_SNAPSHOT | FOR_RECORD | FOR_CONSOLE, false, "folder for the CSV files; - with --table is standard output"},
    {"label",    'l', "KEY=VALUE", OPT_REPEAT, OPT(labels), FOR_SNAPSHOT | FOR_RECORD | FOR_CONSOLE, false, "label of the recording, kept in meta.json; repeatable"},
    {"table",     0,  "NAME", OPT_TEXT,    OPT(table),      FOR_CONSOLE | FOR_BATCH | FOR_SNAPSHOT, false, "this table only; `help` lists them"},
    {"filter",    0,  "REGEX",OPT_TEXT,    OPT(filter),     FOR_CONSOLE | FOR_BATCH | FOR_SNAPSHOT, false, "only rows with a text that matches (POSIX extended)"},
    {"sort",      0,  "COLUMN",OPT_TEXT,   OPT(sort),       FOR_CONSOLE | FOR_BATCH | FOR_SNAPSHOT, false, "sort by this column; a leading - turns the order"},
    {"columns",   0,  "LIST", OPT_TEXT,    OPT(columns),    FOR_CONSOLE | FOR_BATCH | FOR_SNAPSHOT, false, "columns of --table (or of the first view), by key; `help` lists them"},
    {"view",      0,  "NAME", OPT_TEXT,    OPT(view),       FOR_CONSOLE | FOR_BATCH, true,  "view to start with; `help` lists them"},
    {"paths",     0,  "WHICH",OPT_TEXT,    OPT(paths),      FOR_CONSOLE | FOR_BATCH | FOR_SNAPSHOT | FOR_RECORD | FOR_DIAGNOSE, true, "which paths there are: guests (default), or all: NICs and veths without a guest, too"},
    {"netns",     0,  "NAME", OPT_LIST,    OPT(netns),      FOR_ALL, true,  "network namespace to read instead of this one: a name, a path or pid:N, self for this one; repeatable"},
    {"connect",   0,  "URI",  OPT_LIST,    OPT(connect),    FOR_ALL, true,  "libvirt to ask instead of qemu:///system, as virsh -c takes it; repeatable"},
    {"ovs-rundir", 0, "DIR",  OPT_LIST,    OPT(ovs_rundirs),FOR_ALL, true,  "run folder of an Open vSwitch to read instead of /var/run/openvswitch; repeatable"},
    {"dpdk-rundir", 0, "DIR", OPT_LIST,  OPT(dpdk_rundirs), FOR_ALL, true, "folder in which DPDK telemetry sockets are looked for as well; repeatable"},
    {"only",      0,  "SOURCE",OPT_LIST,   OPT(only),       FOR_ALL, true,  "read these sources only"},
    {"no",        0,  "SOURCE",OPT_LIST,   OPT(no),         FOR_ALL, true,  "do not read these sources"},
    {"theme",     0,  "NAME", OPT_TEXT,    OPT(theme),      FOR_CONSOLE | FOR_BATCH, true,  "theme: a name or a file; `help` lists them"},
    {"ascii",     0,  NULL,   OPT_FLAG,    OPT(ascii),      FOR_CONSOLE | FOR_BATCH, true,  "draw with ASCII only"},
    {"no-mouse",  0,  NULL,   OPT_FLAG,    OPT(no_mouse),   FOR_CONSOLE, true,  "leave the mouse to the terminal"},
    {"config",    0,  "FILE", OPT_TEXT,    OPT(config),     FOR_ALL, false, "read this config file instead of the user's"},
    {"csv",       0,  NULL,   OPT_FLAG,    OPT(csv),        FOR_DIAGNOSE, false, "findings as CSV"},
    {"json",      0,  NULL,   OPT_FLAG,    OPT(json),       FOR_DIAGNOSE, false, "findings as JSON"},
    {"help",     'h', NULL,   OPT_FLAG,    OPT(help),       FOR_ALL, false, "this help"},
    {"version",  'V', NULL,   OPT_FLAG,    OPT(version),    FOR_ALL, false, "version and the sources that were built in"},
};
// clang-format on

#define N_DEFS (sizeof(defs) / sizeof(defs[0]))

#define AS_COMMAND(NAME, name_, bits_, arguments_, help_)                                                    \
    {.name = name_, .bits = bits_, .arguments = arguments_, .help = help_},

static const struct command commands[COMMANDS_N] = {ALL_COMMANDS(AS_COMMAND)};

const struct command *command_get(enum command_id id)
{
    return &commands[id];
}

const struct option_def *option_table(size_t *n)
{
    *n = N_DEFS;
    return defs;
}

void options_init(struct options *options)
{
    *options = (struct options){.interval_s = 1};
}

static void list_free(struct text_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free((char *)list->texts[i]);
    free(list->texts);
    *list = (struct text_list){0};
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < N_DEFS; i++)
        if (defs[i].kind == OPT_LIST || defs[i].kind == OPT_REPEAT)
            list_free((struct text_list *)((char *)options + defs[i].offset));
}

static int fail(char *error, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(char *error, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, size, format, args);
    va_end(args);
    utf8_make_printable(error);
    return -1;
}

static void list_add(struct text_list *list, const char *text, size_t length)
{
    list->texts = xrealloc(list->texts, list->n + 2, sizeof(char *));
    char *copy = xzalloc(length + 1);
    memcpy(copy, text, length);
    list->texts[list->n++] = copy;
    list->texts[list->n] = NULL;
}

static int parse_list(struct text_list *list, const char *text)
{
    while (true) {
        size_t length = strcspn(text, ",");
        if (length == 0)
            return -1;
        list_add(list, text, length);
        if (text[length] == '\0')
            return 0;
        text += length + 1;
    }
}

/* A plain decimal number; false when anything else stands there or before *rest. */
static bool parse_number(const char *text, double *value, const char **rest)
{
    if (*text < '0' || *text > '9')
        return false;
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    *rest = end;
    return errno == 0 && isfinite(*value) && strcspn(text, "xXnNpP") >= (size_t)(end - text);
}

static int parse_duration(const char *text, double *seconds)
{
    static const struct {
        const char *suffix;
        double factor;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    const char *rest;
    if (!parse_number(text, seconds, &rest))
        return -1;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(rest, units[i].suffix) == 0) {
            *seconds *= units[i].factor;
            return *seconds > 0 && *seconds <= 366 * 86400.0 ? 0 : -1;
        }
    }
    return -1;
}

static int parse_count(const char *text, uint64_t *count)
{
    const char *p = text;
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9' && p - text < 18; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    *count = value;
    return *p == '\0' && value > 0 ? 0 : -1;
}

static int set_value(struct options *options, const struct option_def *def, const char *value, char *error,
                     size_t error_size)
{
    void *field = (char *)options + def->offset;
    const char *rest;
    double seconds;
    switch (def->kind) {
    case OPT_FLAG:
        *(bool *)field = true;
        return 0;
    case OPT_TEXT:
        *(const char **)field = value;
        return *value ? 0 : fail(error, error_size, "--%s: empty; give %s", def->name, def->arg);
    case OPT_REPEAT:
        list_add(field, value, strlen(value));
        return 0;
    case OPT_LIST:
        if (parse_list(field, value) == 0)
            return 0;
        return fail(error, error_size, "--%s %s: an empty name; give %s[,%s...]", def->name, value, def->arg,
                    def->arg);
    case OPT_SECONDS:
        if (parse_number(value, &seconds, &rest) && *rest == '\0' && seconds >= 0.1 && seconds <= 3600) {
            *(double *)field = seconds;
            return 0;
        }
        return fail(error, error_size, "--%s %s: give seconds from 0.1 to 3600", def->name, value);
    case OPT_DURATION:
        if (parse_duration(value, field) == 0)
            return 0;
        return fail(error, error_size, "--%s %s: give a time such as 90s, 5m or 2h", def->name, value);
    case OPT_COUNT:
        if (parse_count(value, field) == 0)
            return 0;
        return fail(error, error_size, "--%s %s: give a whole number, 1 or more", def->name, value);
    }
    return -1;
}

static const struct option_def *find_long(const char *name, size_t length)
{
    for (size_t i = 0; i < N_DEFS; i++)
        if (strlen(defs[i].name) == length && strncmp(defs[i].name, name, length) == 0)
            return &defs[i];
    return NULL;
}

static const struct option_def *find_short(char letter)
{
    for (size_t i = 0; i < N_DEFS; i++)
        if (defs[i].letter == letter)
            return &defs[i];
    return NULL;
}

struct arguments {
    int argc, at;
    char *const *argv;
};

static int take(struct options *options, struct arguments *args, const struct option_def *def,
                const char *value, char *error, size_t error_size)
{
    if (def->arg && !value) {
        if (args->at + 1 >= args->argc)
            return fail(error, error_size, "--%s: give %s; %s", def->name, def->arg, def->help);
        value = args->argv[++args->at];
    }
    options->given |= UINT64_C(1) << (def - defs);
    return set_value(options, def, value, error, error_size);
}

static int parse_long(struct options *options, struct arguments *args, const char *text, char *error,
                      size_t error_size)
{
    size_t length = strcspn(text, "=");
    const char *value = text[length] == '=' ? text + length + 1 : NULL;
    const struct option_def *def = find_long(text, length);
    if (!def)
        return fail(error, error_size, "--%.*s: no such option; see vnettop --help", (int)length, text);
    if (value && !def->arg)
        return fail(error, error_size, "--%s takes no value", def->name);
    return take(options, args, def, value, error, error_size);
}

static int parse_short(struct options *options, struct arguments *args, const char *text, char *error,
                       size_t error_size)
{
    for (; *text; text++) {
        const struct option_def *def = find_short(*text);
        if (!def)
            return fail(error, error_size, "-%c: no such option; see vnettop --help", *text);
        const char *value = def->arg && text[1] ? text + 1 : NULL;
        if (take(options, args, def, value, error, error_size) < 0)
            return -1;
        if (def->arg)
            return 0;
    }
    return 0;
}

static int find_command(const char *name, enum command_id *command, char *error, size_t error_size)
{
    for (int i = 1; i < COMMANDS_N; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            *command = (enum command_id)i;
            return 0;
        }
    }
    return fail(error, error_size, "%s: no such command; see vnettop --help", name);
}

static int check_command(const struct options *options, enum command_id command, char *error,
                         size_t error_size)
{
    unsigned bits = command != COMMAND_CONSOLE ? commands[command].bits
                    : options->batch           ? FOR_BATCH
                                               : FOR_CONSOLE;
    for (size_t i = 0; i < N_DEFS; i++)
        if (options->given >> i & 1 && !(defs[i].commands & bits))
            return fail(error, error_size, "--%s does not go with %s%s; see vnettop --help", defs[i].name,
                        command == COMMAND_CONSOLE ? "the console" : "the command ", commands[command].name);
    return 0;
}

int options_parse(struct options *options, int argc, char *const *argv, enum command_id *command, char *error,
                  size_t error_size)
{
    static_assert(N_DEFS <= 64, "a bit for each option");
    struct arguments args = {.argc = argc, .at = 1, .argv = argv};
    *command = COMMAND_CONSOLE;
    for (; args.at < argc; args.at++) {
        const char *text = argv[args.at];
        int rc;
        if (strncmp(text, "--", 2) == 0 && text[2])
            rc = parse_long(options, &args, text + 2, error, error_size);
        else if (text[0] == '-' && text[1])
            rc = parse_short(options, &args, text + 1, error, error_size);
        else if (*command == COMMAND_CONSOLE)
            rc = find_command(text, command, error, error_size);
        else
            rc = fail(error, error_size, "%s: vnettop %s takes no such argument", text,
                      commands[*command].name);
        if (rc < 0)
            return -1;
    }
    return check_command(options, *command, error, error_size);
}

int options_set_config(struct options *options, const char *name, const char *value, char *error,
                       size_t error_size)
{
    const struct option_def *def = find_long(name, strlen(name));
    if (!def || !def->in_config)
        return 1;
    if (options->given >> (def - defs) & 1)
        return 0;
    if (def->kind == OPT_FLAG) {
        bool yes = strcmp(value, "yes") == 0;
        if (!yes && strcmp(value, "no") != 0)
            return fail(error, error_size, "%s: give yes or no", name);
        *(bool *)((char *)options + def->offset) = yes;
        return 0;
    }
    return set_value(options, def, value, error, error_size);
}

void option_commands(const struct option_def *def, char *text, size_t size)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{FOR_CONSOLE, "console"}, {FOR_BATCH, "-b"},          {FOR_SNAPSHOT, "snapshot"},
                 {FOR_RECORD, "record"},   {FOR_DIAGNOSE, "diagnose"}, {FOR_SOURCES, "sources"}};
    size_t n = 0;
    *text = '\0';
    for (size_t i = 0; def->commands != FOR_ALL && i < sizeof(names) / sizeof(names[0]) && n < size; i++)
        if (def->commands & names[i].bit)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", names[i].name);
}

static void write_options(FILE *out, unsigned bits)
{
    fputs("\nOptions:\n", out);
    for (size_t i = 0; i < N_DEFS; i++) {
        if (!(defs[i].commands & bits))
            continue;
        char left[64], letter[8] = "    ";
        if (defs[i].letter)
            snprintf(letter, sizeof(letter), "-%c, ", defs[i].letter);
        snprintf(left, sizeof(left), "%s--%s%s%s", letter, defs[i].name, defs[i].arg ? " " : "",
                 defs[i].arg ? defs[i].arg : "");
        char commands_of[80] = "";
        if (bits == FOR_ALL)
            option_commands(&defs[i], commands_of, sizeof(commands_of));
        fprintf(out, "  %-26s %s%s%s%s\n", left, defs[i].help, *commands_of ? " [" : "", commands_of,
                *commands_of ? "]" : "");
    }
}

char *options_usage(enum command_id command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return xstrdup("");
    if (command == COMMAND_CONSOLE) {
        fputs("vnettop: packets per second, where they are lost, and which CPU is to blame.\n\nUsage:\n",
              out);
        for (int i = 0; i < COMMANDS_N; i++)
            fprintf(out, "  vnettop %-17s %s\n", i == 0 ? "[OPTIONS]" : commands[i].name, commands[i].help);
        write_options(out, FOR_ALL);
        fputs("\nAn option with [names] goes with these alone; console is vnettop without a command.\n", out);
    } else {
        fprintf(out, "vnettop %s: %s\n\nUsage: vnettop %s [OPTIONS]%s\n", commands[command].name,
                commands[command].help, commands[command].name, commands[command].arguments);
        write_options(out, commands[command].bits);
    }
    fputs("\nExit status: " EXIT_STATUS_TEXT ".\n", out);
    fclose(out);
    return text;
}
