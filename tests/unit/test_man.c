/* SPDX-License-Identifier: MIT */
/*
 * The manual page and the completion are what the tables say: the checked-in files equal what the generator
 * writes, and everything a user can name stands in them. Runs in the folder of the Makefile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#define main generate_main
int generate_main(int argc, char **argv);
#include "man/generate.c"
#undef main

#define MAX_BYTES (1u << 20)

static char *read_stream(FILE *file)
{
    static char bytes[MAX_BYTES];
    size_t n = fread(bytes, 1, MAX_BYTES - 1, file);
    assert_in_range(n, 1, MAX_BYTES - 2);
    bytes[n] = '\0';
    return strdup(bytes);
}

static char *read_path(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s: not found; run this in the folder of the Makefile", path);
    char *text = read_stream(file);
    fclose(file);
    return text;
}

/* What the generator writes to its standard output. */
static char *generated(int argc, char **argv)
{
    FILE *file = tmpfile();
    fflush(stdout);
    int stdout_fd = dup(STDOUT_FILENO);
    assert_non_null(file);
    dup2(fileno(file), STDOUT_FILENO);
    int rc = generate_main(argc, argv);
    fflush(stdout);
    dup2(stdout_fd, STDOUT_FILENO);
    close(stdout_fd);
    assert_int_equal(rc, 0);
    rewind(file);
    char *text = read_stream(file);
    fclose(file);
    return text;
}

static void expect_same(const char *path, char *fresh)
{
    char *checked_in = read_path(path);
    size_t line = 1, i = 0;
    for (; fresh[i] && fresh[i] == checked_in[i]; i++)
        line += fresh[i] == '\n';
    if (fresh[i] != checked_in[i])
        fail_msg("%s:%zu is not what the tables say; run `make man` and read the diff", path, line);
    free(checked_in);
    free(fresh);
}

static void test_man_is_what_the_tables_say(void **state)
{
    (void)state;
    char *argv[] = {"generate", "man", "man/vnettop.1.in"};
    expect_same("man/vnettop.1", generated(3, argv));
}

static void test_completion_is_what_the_tables_say(void **state)
{
    (void)state;
    char *argv[] = {"generate", "bash"};
    expect_same("man/vnettop.bash", generated(2, argv));
}

static void escape(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text && n + 3 < size; text++) {
        if (*text == '\\' || *text == '-')
            out[n++] = '\\';
        out[n++] = *text == '\\' ? 'e' : *text;
    }
    out[n] = '\0';
}

/* A term of a list, and its explanation in the line below. */
static void expect_item(const char *page, const char *term, const char *text)
{
    char term_roff[256], text_roff[1024], item[1400];
    escape(term_roff, sizeof(term_roff), term);
    escape(text_roff, sizeof(text_roff), text);
    snprintf(item, sizeof(item), ".B \"%s\"\n%s", term_roff, text_roff);
    if (!strstr(page, item))
        fail_msg("the manual lacks %s: %s", term, text);
}

static void test_everything_is_in_the_manual(void **state)
{
    (void)state;
    char *page = read_path("man/vnettop.1"), term[256];
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++) {
        const char *arg = defs[i].arg ? defs[i].arg : "";
        snprintf(term, sizeof(term), "--%s%s%s", defs[i].name, *arg ? " " : "", arg);
        if (defs[i].letter)
            snprintf(term, sizeof(term), "-%c, --%s%s%s", defs[i].letter, defs[i].name, *arg ? " " : "", arg);
        expect_item(page, term, defs[i].help);
    }
    for (int i = 0; i < COMMANDS_N; i++) {
        snprintf(term, sizeof(term), "vnettop%s%s", i ? " " : "", command_get((enum command_id)i)->name);
        expect_item(page, term, command_get((enum command_id)i)->help);
    }
    for (int i = 0; i < ACTIONS_N; i++)
        expect_item(page, action_get((enum action_id)i)->keys, action_get((enum action_id)i)->help);
    for (size_t i = 0; i < n_views; i++) {
        snprintf(term, sizeof(term), "%c, --view %s", view_key(i), views[i].name);
        expect_item(page, term, views[i].help);
    }
    for (size_t i = 0; all_collectors[i]; i++)
        expect_item(page, all_collectors[i]->feed, all_collectors[i]->help);
    for (int i = 0; i < ROLES_N; i++)
        expect_item(page, role_name((enum role)i), role_help((enum role)i));
    free(page);
}

static void test_every_column_is_in_the_manual(void **state)
{
    (void)state;
    char *page = read_path("man/vnettop.1");
    for (int id = 0; id < TABLES_N; id++) {
        const struct table *table = table_get((enum table_id)id);
        char heading[64];
        snprintf(heading, sizeof(heading), ".SS %s\n", table->name);
        const char *section = strstr(page, heading);
        assert_non_null(section);
        for (size_t i = 0; i < table->n_columns; i++)
            expect_item(section, table->columns[i].key, table->columns[i].help);
    }
    free(page);
}

static void expect_word(const char *text, const char *word)
{
    char apart[128];
    snprintf(apart, sizeof(apart), "%s ", word);
    const char *at = strstr(text, apart);
    if (!at || (at[-1] != ' ' && at[-1] != '\''))
        fail_msg("the completion lacks %s", word);
}

static void test_completion_knows_all(void **state)
{
    (void)state;
    char *text = read_path("man/vnettop.bash"), word[128];
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++) {
        snprintf(word, sizeof(word), "--%s", defs[i].name);
        expect_word(text, word);
    }
    for (int i = 1; i < COMMANDS_N; i++)
        expect_word(text, command_get((enum command_id)i)->name);
    for (size_t i = 0; i < n_views; i++)
        expect_word(text, views[i].name);
    for (int id = 0; id < TABLES_N; id++)
        expect_word(text, table_get((enum table_id)id)->name);
    free(text);
}

/* No line of the template is left as it was, none begins with what roff takes for a command of its own. */
static void test_page_is_roff(void **state)
{
    (void)state;
    char *page = read_path("man/vnettop.1"), *rest = page;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (line[0] == '@' || line[0] == '\'')
            fail_msg("line of the manual: %s", line);
        if (line[0] == '.' && !((line[1] >= 'A' && line[1] <= 'Z') || line[1] == '\\' || line[1] == 'b'))
            fail_msg("line of the manual: %s", line);
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_man_is_what_the_tables_say),
        cmocka_unit_test(test_completion_is_what_the_tables_say),
        cmocka_unit_test(test_everything_is_in_the_manual),
        cmocka_unit_test(test_every_column_is_in_the_manual),
        cmocka_unit_test(test_completion_knows_all),
        cmocka_unit_test(test_page_is_roff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
