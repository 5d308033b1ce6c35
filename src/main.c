/* SPDX-License-Identifier: MIT */
/*
 * vnettop: reads the options, opens a session, and hands it to the command. Ties the parts together; what
 * they do is in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "src/columns.h"
#include "src/commands.h"
#include "src/config.h"
#include "src/ending.h"
#include "src/options.h"
#include "src/paths.h"
#include "src/session.h"
#include "src/takeaway.h"
#include "ui/batch.h"
#include "ui/console.h"
#include "ui/rescue.h"
#include "ui/terminal.h"

#define QUIT_PATIENCE_MS 30

static int complain(const char *error)
{
    fprintf(stderr, "vnettop: %s\n", error);
    return 2;
}

static int config_line(void *context, const char *key, const char *value, char *error, size_t error_size)
{
    int rc = options_set_config(context, key, value, error, error_size);
    if (rc == 1) {
        snprintf(error, error_size, "%.60s: no such option; options are the long ones of vnettop --help",
                 key);
        rc = -1;
    }
    return rc;
}

/* Values point into *text, which the caller frees at the end. */
static int read_config(struct options *options, char **text, char *error, size_t error_size)
{
    char path[PATH_MAX];
    *text = NULL;
    if (options->config)
        return config_read(options->config, true, config_line, options, text, error, error_size);
    if (!config_path(path, sizeof(path), "config"))
        return 0;
    return config_read(path, false, config_line, options, text, error, error_size) < 0 ? -1 : 0;
}

static void print_version(void)
{
    printf("vnettop %s\nsources:", VNETTOP_VERSION);
    const char *last = "";
    for (size_t i = 0; all_collectors[i]; i++) {
        if (strcmp(last, all_collectors[i]->source) != 0)
            printf(" %s", all_collectors[i]->source);
        last = all_collectors[i]->source;
    }
    putchar('\n');
}

static void list_tables(void)
{
    for (int id = 0; id < TABLES_N; id++)
        printf("%-10s %s\n", table_get((enum table_id)id)->name, table_get((enum table_id)id)->help);
}

static void list_views(void)
{
    for (size_t i = 0; i < n_views; i++)
        printf("%-10s %s\n", views[i].name, views[i].help);
}

static void list_themes(void)
{
    struct theme_folders folders;
    char *names[64];
    theme_folders(&folders);
    size_t n = theme_list(folders.list, names, 64);
    for (size_t i = 0; i < n; i++) {
        printf("%s\n", names[i]);
        free(names[i]);
    }
}

static int list_columns(const struct options *options)
{
    enum table_id only = options->table ? table_find(options->table) : TABLES_N;
    if (options->table && only == TABLES_N) {
        fprintf(stderr, "vnettop: --table %s: no such table; --table help lists them\n", options->table);
        return 2;
    }
    for (int id = 0; id < TABLES_N; id++) {
        const struct table *table = table_get((enum table_id)id);
        for (size_t i = 0; (only == TABLES_N || only == (enum table_id)id) && i < table->n_columns; i++)
            printf("%-10s %-20s %-10s %s\n", table->name, table->columns[i].key,
                   unit_name(table->columns[i].unit), table->columns[i].help);
    }
    return 0;
}

static bool is_help(const char *text)
{
    return text && strcmp(text, "help") == 0;
}

/* The options that are answered without a session; -1 when there is none of them. */
static int answer(const struct options *options, enum command_id command)
{
    if (options->help) {
        char *usage = options_usage(command);
        fputs(usage, stdout);
        free(usage);
    } else if (options->version) {
        print_version();
    } else if (is_help(options->columns)) {
        return list_columns(options);
    } else if (is_help(options->table)) {
        list_tables();
    } else if (is_help(options->view)) {
        list_views();
    } else if (is_help(options->theme)) {
        list_themes();
    } else {
        return -1;
    }
    return fflush(stdout) == EOF ? batch_output_failed() : 0;
}

/* Signals are read from a descriptor by the loops; blocked before any thread starts, so that no worker takes
 * one. */
static int open_signals(enum command_id command, const struct options *options)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    static const int screen[] = {SIGWINCH, SIGTSTP, SIGCONT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < 3; i++)
        sigaddset(&set, ending[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ending_watch(&set, rescue_modes);
    for (size_t i = 0; i < 3 && command == COMMAND_CONSOLE && !options->batch; i++)
        sigaddset(&set, screen[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int run_console(const struct options *options, struct session *session, int signal_fd)
{
    char error[256];
    if (options->table)
        return complain("--table: the console has views; name one with --view, or print a table with -b");
    struct options plain = *options; /* rows and columns on the screen do not narrow what is recorded */
    plain.filter = plain.columns = plain.table = plain.sort = NULL;
    struct takeaway *takeaway = takeaway_new(&plain, error, sizeof(error));
    if (!takeaway)
        return complain(error);
    int status = console_run(options, session, takeaway, signal_fd);
    takeaway_free(takeaway);
    return status;
}

static int run(const struct options *options, enum command_id command)
{
    char error[512];
    int signal_fd = open_signals(command, options);
    if (signal_fd < 0)
        return complain(strerror(errno));
    struct session *session = session_open(options, all_collectors, error, sizeof(error));
    if (!session)
        return complain(error);
    int status = 0;
    if (command == COMMAND_SNAPSHOT)
        status = command_snapshot(options, session, signal_fd);
    else if (command == COMMAND_RECORD)
        status = command_record(options, session, signal_fd);
    else if (command == COMMAND_DIAGNOSE)
        status = command_diagnose(options, session, signal_fd);
    else if (command == COMMAND_SOURCES)
        status = batch_sources(session, signal_fd);
    else if (options->batch)
        status = batch_run(options, session, signal_fd);
    else
        status = run_console(options, session, signal_fd);
    session_close(session, QUIT_PATIENCE_MS);
    close(signal_fd);
    return status;
}

/* A standard descriptor that was closed would be the next file that is opened: a recording, say, with
 * messages in it. Opened the wrong way round, so that its use fails as it should. */
static void fill_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

int main(int argc, char **argv)
{
    struct options options;
    enum command_id command;
    char error[512], *config = NULL;
    int status;
    fill_standard_descriptors();
    options_init(&options);
    terminal_locale_utf8();
    if (options_parse(&options, argc, argv, &command, error, sizeof(error)) < 0)
        status = complain(error);
    else if ((status = answer(&options, command)) < 0)
        status = read_config(&options, &config, error, sizeof(error)) < 0 ? complain(error)
                                                                          : run(&options, command);
    options_free(&options);
    free(config);
    return status;
}
