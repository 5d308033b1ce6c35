/* SPDX-License-Identifier: MIT */
/*
 * Options: every line of the table is tried with good and bad values, without a value, with every command, in
 * the config file and out of it. An error is one line that names the option.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/options.h"

#define MAX_ARGS 16

struct parsed {
    struct options options;
    enum command_id command;
    int rc;
    char error[256];
};

/* Parses words apart by blanks; free_parsed ends it. The words must outlive it, as argv does. */
static struct parsed parse_words(char **argv, int argc)
{
    struct parsed parsed;
    memset(&parsed, 0x55, sizeof(parsed));
    options_init(&parsed.options);
    parsed.error[0] = '\0';
    parsed.rc =
        options_parse(&parsed.options, argc, argv, &parsed.command, parsed.error, sizeof(parsed.error));
    return parsed;
}

static struct parsed parse(char *line)
{
    char *argv[MAX_ARGS + 1] = {"vnettop"}, *rest = line;
    int argc = 1;
    for (char *word; (word = strsep(&rest, " ")) && argc < MAX_ARGS;)
        if (*word)
            argv[argc++] = word;
    return parse_words(argv, argc);
}

static void free_parsed(struct parsed *parsed)
{
    options_free(&parsed->options);
}

static void expect_error(const char *line, const char *error)
{
    char text[256];
    snprintf(text, sizeof(text), "%s", line);
    struct parsed parsed = parse(text);
    assert_int_equal(parsed.rc, -1);
    assert_string_equal(parsed.error, error);
    free_parsed(&parsed);
}

/* The i-th way to call vnettop: the commands of the table, and the console's -b; false after the last. */
static bool way_to_call(int i, const char **words, unsigned *bits)
{
    if (i > COMMANDS_N)
        return false;
    *words = i == COMMANDS_N ? "-b" : command_get((enum command_id)i)->name;
    *bits = i == COMMANDS_N        ? FOR_BATCH
            : i == COMMAND_CONSOLE ? FOR_CONSOLE
                                   : command_get((enum command_id)i)->bits;
    return true;
}

/* The first of them that an option goes with. */
static const char *command_for(const struct option_def *def)
{
    const char *words;
    unsigned bits;
    for (int i = 0; way_to_call(i, &words, &bits); i++)
        if (def->commands & bits)
            return words;
    fail_msg("--%s goes with no command", def->name);
    return "";
}

struct value {
    const char *text;
    double number; /* of those kinds that are numbers */
};

/* Values that each kind takes; the last has no text. */
static const struct value good[][8] = {
    [OPT_FLAG] = {{NULL, 0}},
    [OPT_TEXT] = {{"x", 0}, {"-", 0}, {"-name", 0}, {"a,b", 0}, {"a=b", 0}, {"\xc3\xa4", 0}},
    [OPT_LIST] = {{"one", 0}, {"one,two", 0}, {"a=b", 0}},
    [OPT_REPEAT] = {{"k=v", 0}, {"k=a,b", 0}, {"", 0}},
    [OPT_SECONDS] = {{"0.1", 0.1}, {"1", 1}, {"3600", 3600}, {"2.50", 2.5}, {"1e1", 10}},
    [OPT_DURATION] = {{"90", 90}, {"90s", 90}, {"5m", 300}, {"2h", 7200}, {"0.5m", 30}, {"1d", 86400}},
    [OPT_COUNT] = {{"1", 1}, {"007", 7}, {"9007199254740992", 9007199254740992.0}},
};

static const char *const bad[][16] = {
    [OPT_TEXT] = {""},
    [OPT_LIST] = {"", ",", "a,", ",a", "a,,b"},
    [OPT_SECONDS] = {"", "0", "-1", "0.09", "3600.1", "1e9", "1s", "one", "nan", "inf", "0x10", " 1", "1 ",
                     "+1", "1,5", "1e999"},
    [OPT_DURATION] = {"", "0", "-5", "s", "5 m", "5mm", "5x", "nan", "inf", "0x1p3", "1e99d", "367d", " 5"},
    [OPT_COUNT] = {"", "0", "-1", "1.5", "1e3", "one", "0x1", " 1", "1 ", "+1", "10000000000000000000",
                   "18446744073709551616"},
};

static void expect_field(const struct options *options, const struct option_def *def,
                         const struct value *value)
{
    const void *field = (const char *)options + def->offset;
    const struct text_list *list = field;
    switch (def->kind) {
    case OPT_FLAG:
        assert_true(*(const bool *)field);
        break;
    case OPT_TEXT:
        assert_string_equal(*(const char *const *)field, value->text);
        break;
    case OPT_LIST:
        assert_int_equal(list->n, strchr(value->text, ',') ? 2 : 1);
        assert_memory_equal(list->texts[0], value->text, strlen(list->texts[0]));
        assert_null(list->texts[list->n]);
        break;
    case OPT_REPEAT:
        assert_int_equal(list->n, 1);
        assert_string_equal(list->texts[0], value->text);
        assert_null(list->texts[1]);
        break;
    case OPT_SECONDS:
    case OPT_DURATION:
        assert_true(*(const double *)field == value->number);
        break;
    case OPT_COUNT:
        assert_int_equal(*(const uint64_t *)field, (uint64_t)value->number);
        break;
    }
}

/* As two words, as one with =, and by its letter in both ways. */
static size_t spell(const struct option_def *def, const char *value, char spelt[4][2][64])
{
    size_t n = 0;
    snprintf(spelt[n][0], 64, "--%s", def->name);
    snprintf(spelt[n++][1], 64, "%s", value ? value : "");
    if (value) {
        snprintf(spelt[n][0], 64, "--%s=%s", def->name, value);
        spelt[n++][1][0] = '\0';
    }
    if (def->letter) {
        snprintf(spelt[n][0], 64, "-%c", def->letter);
        snprintf(spelt[n++][1], 64, "%s", value ? value : "");
    }
    if (def->letter && value && *value) {
        snprintf(spelt[n][0], 64, "-%c%s", def->letter, value);
        spelt[n++][1][0] = '\0';
    }
    return n;
}

static struct parsed parse_spelt(const struct option_def *def, const char *value, char spelt[2][64])
{
    char command[16];
    char *argv[4] = {"vnettop"};
    int argc = 1;
    snprintf(command, sizeof(command), "%s", command_for(def));
    if (command[0])
        argv[argc++] = command;
    argv[argc++] = spelt[0];
    bool apart = value && !strchr(spelt[0] + 2, '=') &&
                 strlen(spelt[0]) == (spelt[0][1] == '-' ? strlen(def->name) + 2 : 2);
    if (apart)
        argv[argc++] = spelt[1];
    return parse_words(argv, argc);
}

static void test_every_option_good(void **state)
{
    (void)state;
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++) {
        const struct value *values = good[defs[i].kind];
        for (size_t v = 0; v == 0 || values[v].text; v++) {
            char spelt[4][2][64];
            size_t ways = spell(&defs[i], values[v].text, spelt);
            for (size_t w = 0; w < ways; w++) {
                struct parsed parsed = parse_spelt(&defs[i], values[v].text, spelt[w]);
                if (parsed.rc != 0)
                    fail_msg("%s %s: %s", spelt[w][0], spelt[w][1], parsed.error);
                expect_field(&parsed.options, &defs[i], &values[v]);
                free_parsed(&parsed);
            }
        }
    }
}

/* One line, that names the option. */
static void expect_one_line(const struct parsed *parsed, const char *name)
{
    assert_int_equal(parsed->rc, -1);
    assert_non_null(strstr(parsed->error, name));
    assert_null(strchr(parsed->error, '\n'));
    assert_true(strlen(parsed->error) > strlen(name) + 3);
}

static void test_every_option_bad(void **state)
{
    (void)state;
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++) {
        if (defs[i].kind == OPT_FLAG || defs[i].kind == OPT_REPEAT)
            continue;
        for (size_t v = 0; v < 16 && bad[defs[i].kind][v]; v++) {
            char spelt[4][2][64];
            size_t ways = spell(&defs[i], bad[defs[i].kind][v], spelt);
            for (size_t w = 0; w < ways; w++) {
                struct parsed parsed = parse_spelt(&defs[i], bad[defs[i].kind][v], spelt[w]);
                if (parsed.rc != -1)
                    fail_msg("%s '%s' was taken", spelt[w][0], spelt[w][1]);
                expect_one_line(&parsed, defs[i].name);
                free_parsed(&parsed);
            }
        }
    }
}

static void test_every_option_without_its_value(void **state)
{
    (void)state;
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++) {
        char line[64];
        snprintf(line, sizeof(line), "%s --%s", command_for(&defs[i]), defs[i].name);
        struct parsed parsed = parse(line);
        if (defs[i].arg)
            expect_one_line(&parsed, defs[i].name);
        else
            assert_int_equal(parsed.rc, 0);
        free_parsed(&parsed);
        if (defs[i].arg)
            continue;
        snprintf(line, sizeof(line), "--%s=yes", defs[i].name);
        parsed = parse(line);
        expect_one_line(&parsed, "takes no value");
        free_parsed(&parsed);
    }
}

/* Every option with every command: taken where the table says so, refused by name elsewhere. */
static void test_every_option_with_every_command(void **state)
{
    (void)state;
    const char *words;
    unsigned bits;
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; way_to_call(c, &words, &bits); c++) {
            const char *value = good[defs[i].kind][0].text;
            char line[128];
            snprintf(line, sizeof(line), "%s --%s %s", words, defs[i].name, value ? value : "");
            struct parsed parsed = parse(line);
            /* The console with --batch is batch mode. */
            bool goes = defs[i].commands & bits;
            if (goes != (parsed.rc == 0))
                fail_msg("%s --%s: %d %s", words, defs[i].name, parsed.rc, parsed.error);
            if (!goes)
                expect_one_line(&parsed, defs[i].name);
            free_parsed(&parsed);
        }
    }
}

static void test_clusters(void **state)
{
    (void)state;
    char line[] = "-bn5 -d0.5";
    struct parsed parsed = parse(line);
    assert_int_equal(parsed.rc, 0);
    assert_true(parsed.options.batch);
    assert_int_equal(parsed.options.frames, 5);
    assert_true(parsed.options.interval_s == 0.5);
    free_parsed(&parsed);
    char apart[] = "-bd 2 -hV";
    parsed = parse(apart);
    assert_int_equal(parsed.rc, 0);
    assert_true(parsed.options.batch && parsed.options.help && parsed.options.version);
    assert_true(parsed.options.interval_s == 2);
    free_parsed(&parsed);
    expect_error("-bx", "-x: no such option; see vnettop --help");
    expect_error("-bn", "--frames: give N; stop after N frames");
    expect_error("-nb5", "--frames b5: give a whole number, 1 or more");
}

static void test_errors(void **state)
{
    (void)state;
    expect_error("--nosuch", "--nosuch: no such option; see vnettop --help");
    expect_error("--nosuch=1", "--nosuch: no such option; see vnettop --help");
    expect_error("--interva 1", "--interva: no such option; see vnettop --help");
    expect_error("--", "--: no such option; see vnettop --help");
    expect_error("-", "-: no such command; see vnettop --help");
    expect_error("recrod", "recrod: no such command; see vnettop --help");
    expect_error("record x", "x: vnettop record takes no such argument");
    expect_error("record snapshot", "snapshot: vnettop record takes no such argument");
    expect_error("-d 0", "--interval 0: give seconds from 0.1 to 3600");
    expect_error("-d -1", "--interval -1: give seconds from 0.1 to 3600");
    expect_error("-d 1e9", "--interval 1e9: give seconds from 0.1 to 3600");
    expect_error("--only a,,b", "--only a,,b: an empty name; give SOURCE[,SOURCE...]");
    expect_error("-n 3", "--frames does not go with the console; see vnettop --help");
    expect_error("sources --for 3", "--for does not go with the command sources; see vnettop --help");
}

/* Whatever stands on the command line, the error is one line and its terminal not written to by it. */
static void test_hostile_arguments(void **state)
{
    (void)state;
    static char long_text[5000];
    memset(long_text, 'x', sizeof(long_text) - 1);
    char *cases[][3] = {
        {"vnettop", "--a\nb", NULL},       {"vnettop", "a\nb", NULL},    {"vnettop", "-\n", NULL},
        {"vnettop", "--interval", "1\n2"}, {"vnettop", "\x1b[2J", NULL}, {"vnettop", "--interval", long_text},
        {"vnettop", long_text, NULL},      {"vnettop", "-\xff", NULL},   {"vnettop", "--\xff\xfe", NULL},
        {"vnettop", "--only", "a\n,,"},    {"vnettop", "", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parsed parsed = parse_words(cases[i], cases[i][2] ? 3 : 2);
        assert_int_equal(parsed.rc, -1);
        for (const char *p = parsed.error; *p; p++)
            if ((unsigned char)*p < ' ' || *p == 0x7f)
                fail_msg("case %zu: byte %d in the error", i, *p);
        free_parsed(&parsed);
    }
}

static void test_lists_add_up(void **state)
{
    (void)state;
    char line[] = "record --only a,b --only c -l k=1,2 --label x=y";
    struct parsed parsed = parse(line);
    assert_int_equal(parsed.rc, 0);
    assert_int_equal(parsed.command, COMMAND_RECORD);
    assert_int_equal(parsed.options.only.n, 3);
    assert_string_equal(parsed.options.only.texts[2], "c");
    assert_int_equal(parsed.options.labels.n, 2);
    assert_string_equal(parsed.options.labels.texts[0], "k=1,2");
    assert_null(parsed.options.labels.texts[2]);
    free_parsed(&parsed);
}

/* Options stand before or after the command; the last one of two counts. */
static void test_order(void **state)
{
    (void)state;
    char line[] = "-d 3 record -o x -d 5";
    struct parsed parsed = parse(line);
    assert_int_equal(parsed.rc, 0);
    assert_true(parsed.options.interval_s == 5);
    assert_string_equal(parsed.options.out, "x");
    free_parsed(&parsed);
}

static void test_defaults(void **state)
{
    (void)state;
    char line[] = "";
    struct parsed parsed = parse(line);
    assert_int_equal(parsed.rc, 0);
    assert_int_equal(parsed.command, COMMAND_CONSOLE);
    assert_true(parsed.options.interval_s == 1);
    assert_false(parsed.options.batch);
    assert_null(parsed.options.only.texts);
    free_parsed(&parsed);
}

static int set_config(struct options *options, const char *name, const char *value, char *error)
{
    error[0] = '\0';
    return options_set_config(options, name, value, error, 256);
}

/* What is in the config file counts where the command line says nothing. */
static void test_command_line_before_config(void **state)
{
    (void)state;
    size_t n;
    const struct option_def *defs = option_table(&n);
    char error[256];
    for (size_t i = 0; i < n; i++) {
        struct options options;
        options_init(&options);
        const struct value *second = &good[defs[i].kind][1];
        const char *value = defs[i].kind == OPT_FLAG ? "yes" : second->text;
        int rc = set_config(&options, defs[i].name, value, error);
        assert_int_equal(rc, defs[i].in_config ? 0 : 1);
        if (defs[i].in_config)
            expect_field(&options, &defs[i], second);
        options_free(&options);

        char spelt[4][2][64];
        spell(&defs[i], good[defs[i].kind][0].text, spelt);
        struct parsed parsed = parse_spelt(&defs[i], good[defs[i].kind][0].text, spelt[0]);
        assert_int_equal(parsed.rc, 0);
        set_config(&parsed.options, defs[i].name, value, error);
        expect_field(&parsed.options, &defs[i], &good[defs[i].kind][0]);
        free_parsed(&parsed);
    }
}

/* The default, given on the command line, is given all the same. */
static void test_default_value_on_command_line(void **state)
{
    (void)state;
    char line[] = "-d 1", error[256];
    struct parsed parsed = parse(line);
    assert_int_equal(set_config(&parsed.options, "interval", "5", error), 0);
    assert_true(parsed.options.interval_s == 1);
    free_parsed(&parsed);
}

/* A list over several lines of the file adds up. */
static void test_config_lists_and_flags(void **state)
{
    (void)state;
    struct options options;
    char error[256];
    options_init(&options);
    assert_int_equal(set_config(&options, "no", "a", error), 0);
    assert_int_equal(set_config(&options, "no", "b,c", error), 0);
    assert_int_equal(options.no.n, 3);
    assert_int_equal(set_config(&options, "ascii", "no", error), 0);
    assert_false(options.ascii);
    assert_int_equal(set_config(&options, "ascii", "maybe", error), -1);
    assert_string_equal(error, "ascii: give yes or no");
    assert_int_equal(set_config(&options, "ascii", "yes", error), 0);
    assert_true(options.ascii);
    assert_int_equal(set_config(&options, "interval", "0", error), -1);
    assert_string_equal(error, "--interval 0: give seconds from 0.1 to 3600");
    assert_int_equal(set_config(&options, "nosuch", "1", error), 1);
    assert_int_equal(set_config(&options, "", "1", error), 1);
    options_free(&options);
}

static void test_usage_lists_all(void **state)
{
    (void)state;
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (int c = 0; c < COMMANDS_N; c++) {
        char *usage = options_usage((enum command_id)c);
        for (size_t i = 0; i < n; i++) {
            char name[64];
            snprintf(name, sizeof(name), "--%s%s", defs[i].name, defs[i].arg ? " " : "");
            bool listed = strstr(usage, name) && strstr(usage, defs[i].help);
            bool goes = c == COMMAND_CONSOLE || defs[i].commands & command_get((enum command_id)c)->bits;
            if (goes != listed)
                fail_msg("vnettop %s --help: %s %s", command_get((enum command_id)c)->name, defs[i].name,
                         goes ? "is missing" : "does not belong there");
        }
        for (int k = 1; c == COMMAND_CONSOLE && k < COMMANDS_N; k++) {
            assert_non_null(strstr(usage, command_get((enum command_id)k)->name));
            assert_non_null(strstr(usage, command_get((enum command_id)k)->help));
        }
        free(usage);
    }
}

/* Of all options together it is told which commands each goes with; of one command's that is clear. */
static void test_usage_says_with_what(void **state)
{
    (void)state;
    char *usage = options_usage(COMMAND_CONSOLE), *of_record = options_usage(COMMAND_RECORD);
    assert_non_null(strstr(usage, "2h [record]\n"));
    assert_non_null(strstr(usage, "lists them [console, -b, snapshot]\n"));
    assert_non_null(strstr(usage, "0.1 to 3600 (default 1)\n"));
    assert_non_null(strstr(of_record, "2h\n"));
    assert_non_null(strstr(usage, EXIT_STATUS_TEXT));
    assert_non_null(strstr(of_record, EXIT_STATUS_TEXT));
    free(usage);
    free(of_record);
}

static void test_names_and_letters_are_unique(void **state)
{
    (void)state;
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++) {
        assert_true(!defs[i].arg == (defs[i].kind == OPT_FLAG));
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(defs[i].name, defs[k].name);
            assert_true(!defs[i].letter || defs[i].letter != defs[k].letter);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_option_good),
        cmocka_unit_test(test_every_option_bad),
        cmocka_unit_test(test_every_option_without_its_value),
        cmocka_unit_test(test_every_option_with_every_command),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_hostile_arguments),
        cmocka_unit_test(test_lists_add_up),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_command_line_before_config),
        cmocka_unit_test(test_default_value_on_command_line),
        cmocka_unit_test(test_config_lists_and_flags),
        cmocka_unit_test(test_usage_lists_all),
        cmocka_unit_test(test_usage_says_with_what),
        cmocka_unit_test(test_names_and_letters_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
