/* SPDX-License-Identifier: MIT */
/* Themes: the files of themes/, wrong lines named with file and line, foreign files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/theme.h"
#include "ui/palette.h"

static const char *const shipped[] = {"colour-blind", "default", "high-contrast", "light", "mono"};
static const char *const folders[] = {"themes", NULL};
#define SHIPPED_N (sizeof(shipped) / sizeof(shipped[0]))

static void assert_look(const struct theme *theme, enum role role, int foreground, int background,
                        unsigned attributes)
{
    assert_int_equal(theme->look[role].foreground, foreground);
    assert_int_equal(theme->look[role].background, background);
    assert_int_equal(theme->look[role].attributes, attributes);
}

static void test_default(void **state)
{
    (void)state;
    struct theme theme;
    theme_default(&theme);
    assert_string_equal(theme.name, "default");
    assert_look(&theme, ROLE_TEXT, COLOUR_DEFAULT, COLOUR_DEFAULT, 0);
    assert_look(&theme, ROLE_BAD, 1, COLOUR_DEFAULT, LOOK_BOLD);
    assert_look(&theme, ROLE_DIM, 8, COLOUR_DEFAULT, 0);
    assert_look(&theme, ROLE_SELECTED, COLOUR_DEFAULT, COLOUR_DEFAULT, LOOK_REVERSE);
    assert_string_equal(role_name(ROLE_TAB_ACTIVE), "tab_active");
    assert_true(strlen(role_help(ROLE_BAD)) > 0);
}

static void test_parse(void **state)
{
    (void)state;
    struct theme theme;
    char error[256] = "";
    const char *text = "# comment\n\n  text = #Ff8000 on 17 # orange\n\tbad=brightred bold underline\r\n"
                       "dim = dim\nselected = default on #000000 reverse italic";
    assert_int_equal(theme_parse(&theme, "t", text, error, sizeof(error)), 0);
    assert_look(&theme, ROLE_TEXT, COLOUR_RGB | 0xff8000, 17, 0);
    assert_look(&theme, ROLE_BAD, 9, COLOUR_DEFAULT, LOOK_BOLD | LOOK_UNDERLINE);
    assert_look(&theme, ROLE_DIM, COLOUR_DEFAULT, COLOUR_DEFAULT, LOOK_DIM);
    assert_look(&theme, ROLE_SELECTED, COLOUR_DEFAULT, COLOUR_RGB, LOOK_REVERSE | LOOK_ITALIC);
    assert_look(&theme, ROLE_RX, 2, COLOUR_DEFAULT, 0); /* the default's */
    assert_int_equal(theme_parse(&theme, "t", "", error, sizeof(error)), 0);
    assert_look(&theme, ROLE_BAD, 1, COLOUR_DEFAULT, LOOK_BOLD);
}

static void test_wrong_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"text", "f.theme:1: `text' has no `='"},
        {"\n\ntxt = red", "f.theme:3: unknown role `txt': the roles are text, title"},
        {"text = puce", "f.theme:1: unknown colour or attribute `puce'"},
        {"text = 256", "unknown colour or attribute `256'"},
        {"text = -1", "unknown colour or attribute `-1'"},
        {"text = 99999999999999999999", "unknown colour"},
        {"text = #12345", "unknown colour"},
        {"text = #12345g", "unknown colour"},
        {"text = #1234567", "unknown colour"},
        {"text = red green", "second foreground `green'"},
        {"text = red on blue on green", "second background `green'"},
        {"text = red on", "`on' without a colour"},
        {"text = on bold", "unknown colour or attribute `bold'"},
        {"text =", "nothing for text"},
        {"text = # red", "nothing for text"},
        {"= red", "one role must stand before `='"},
        {"text rx = red", "one role must stand before `='"},
        {"text = red\nbad = red\ntext = blue", "f.theme:3: text was set in line 1 already"},
        {"text = b b b b b b b b b b b b b b b b b b b b b b", "too many words"},
        {"t\x1b[31m\xff = red", "unknown role `t?[31m?'"},
        {"text = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "`aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct theme theme = {.name = "before"};
        char error[512] = "";
        assert_int_equal(theme_parse(&theme, "f.theme", cases[i].text, error, sizeof(error)), -1);
        if (!strstr(error, cases[i].error))
            fail_msg("%s: %s", cases[i].text, error);
        assert_string_equal(theme.name, "before"); /* untouched */
    }
}

static void test_long_line(void **state)
{
    (void)state;
    struct theme theme;
    char error[64] = "", text[2000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(theme_parse(&theme, "f", text, error, sizeof(error)), -1);
    assert_non_null(strstr(error, "f:1: line too long"));
}

static void test_random_bytes(void **state)
{
    (void)state;
    static const char alphabet[] = "text=red on#09a \n\t\r\x01\xff"
                                   "boldim";
    uint32_t seed = 7;
    for (int round = 0; round < 20000; round++) {
        struct theme theme;
        char text[64], error[40];
        for (size_t i = 0; i < sizeof(text); i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
        }
        text[sizeof(text) - 1] = '\0';
        memset(error, 'x', sizeof(error));
        if (theme_parse(&theme, "f", text, error, sizeof(error)) < 0)
            assert_non_null(memchr(error, '\0', sizeof(error)));
    }
}

static void test_shipped_themes_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHIPPED_N; i++) {
        char path[64], line[256], error[256] = "";
        bool set[ROLES_N] = {false};
        struct theme theme;
        snprintf(path, sizeof(path), "themes/%s.theme", shipped[i]);
        if (theme_load(&theme, path, NULL, error, sizeof(error)) < 0)
            fail_msg("%s", error);
        assert_string_equal(theme.name, shipped[i]);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof(line), file))
            for (size_t role = 0; role < ROLES_N; role++)
                if (strncmp(line, role_name((enum role)role), strcspn(line, " =")) == 0 &&
                    strlen(role_name((enum role)role)) == strcspn(line, " ="))
                    set[role] = true;
        fclose(file);
        for (size_t role = 0; role < ROLES_N; role++)
            if (!set[role])
                fail_msg("%s leaves out %s", path, role_name((enum role)role));
    }
}

static void test_the_default_file_is_the_built_in_theme(void **state)
{
    (void)state;
    struct theme built_in, file;
    char error[256];
    theme_default(&built_in);
    assert_int_equal(theme_load(&file, "themes/default.theme", NULL, error, sizeof(error)), 0);
    assert_memory_equal(&built_in.look, &file.look, sizeof(file.look));
}

static void test_mono_has_no_colour(void **state)
{
    (void)state;
    struct theme theme;
    char error[256];
    assert_int_equal(theme_load(&theme, "mono", folders, error, sizeof(error)), 0);
    for (size_t role = 0; role < ROLES_N; role++) {
        assert_int_equal(theme.look[role].foreground, COLOUR_DEFAULT);
        assert_int_equal(theme.look[role].background, COLOUR_DEFAULT);
    }
}

static void test_a_selected_row_differs_in_every_theme_and_depth(void **state)
{
    (void)state;
    static const int depths[] = {0, 8, 16, 256, 1 << 24};
    for (size_t i = 0; i < SHIPPED_N; i++)
        for (size_t d = 0; d < sizeof(depths) / sizeof(depths[0]); d++) {
            struct theme theme;
            char error[256];
            assert_int_equal(theme_load(&theme, shipped[i], folders, error, sizeof(error)), 0);
            struct look plain = palette_reduce(theme_look(&theme, ROLE_TEXT, false), depths[d]);
            struct look selected = palette_reduce(theme_look(&theme, ROLE_TEXT, true), depths[d]);
            bool differs = plain.background != selected.background ||
                           ((plain.attributes ^ selected.attributes) & LOOK_REVERSE);
            if (!differs)
                fail_msg("%s: a selected row looks like any other with %d colours", shipped[i], depths[d]);
        }
}

static void test_load_by_name(void **state)
{
    (void)state;
    struct theme theme;
    char error[256] = "";
    assert_int_equal(theme_load(&theme, "default", NULL, error, sizeof(error)), 0);
    assert_int_equal(theme_load(&theme, "light", folders, error, sizeof(error)), 0);
    assert_string_equal(theme.name, "light");
    assert_int_equal(theme_load(&theme, "nix", folders, error, sizeof(error)), -1);
    assert_string_equal(error, "no theme `nix': there are colour-blind, default, high-contrast, light, mono; "
                               "a file's name needs a slash (./my.theme)");
    assert_int_equal(theme_load(&theme, "", folders, error, sizeof(error)), -1);
    assert_int_equal(theme_load(&theme, "x", NULL, error, sizeof(error)), -1);
}

static void test_files_that_are_no_themes(void **state)
{
    (void)state;
    struct theme theme;
    char folder[] = "/tmp/vnettop-test-theme-XXXXXX", path[128], error[256] = "";
    assert_non_null(mkdtemp(folder));

    snprintf(path, sizeof(path), "%s/absent.theme", folder);
    assert_int_equal(theme_load(&theme, path, NULL, error, sizeof(error)), -1);
    assert_non_null(strstr(error, "No such file"));
    assert_int_equal(theme_load(&theme, folder, NULL, error, sizeof(error)), -1);
    assert_non_null(strstr(error, "Is a directory"));

    snprintf(path, sizeof(path), "%s/fifo.theme", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(theme_load(&theme, path, NULL, error, sizeof(error)), -1); /* and does not hang */
    assert_non_null(strstr(error, "no regular file"));
    unlink(path);

    snprintf(path, sizeof(path), "%s/nul.theme", folder);
    FILE *file = fopen(path, "w");
    fwrite("text = red\n\0", 1, 12, file);
    fclose(file);
    assert_int_equal(theme_load(&theme, path, NULL, error, sizeof(error)), -1);
    assert_non_null(strstr(error, "NUL byte"));
    assert_int_equal(truncate(path, 100000), 0);
    assert_int_equal(theme_load(&theme, path, NULL, error, sizeof(error)), -1);
    assert_non_null(strstr(error, "64 KB"));

    file = fopen(path, "w");
    fputs("text = red\nbad = nix\n", file);
    fclose(file);
    const char *const own[] = {folder, NULL};
    assert_int_equal(theme_load(&theme, "nul", own, error, sizeof(error)), -1);
    assert_non_null(strstr(error, "nul.theme:2: unknown colour"));
    unlink(path);
    rmdir(folder);
}

static void test_list(void **state)
{
    (void)state;
    static const char *const twice[] = {"themes", "no such folder", "themes", NULL};
    char *names[16];
    size_t n = theme_list(twice, names, 16);
    assert_int_equal(n, SHIPPED_N);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(names[i], shipped[i]);
        free(names[i]);
    }
    assert_int_equal(theme_list(twice, names, 0), 0);
    assert_int_equal(theme_list(NULL, names, 16), 1);
    free(names[0]);
}

static void test_palette(void **state)
{
    (void)state;
    struct look look = {COLOUR_RGB | 0xff0000, COLOUR_DEFAULT, 0};
    assert_int_equal(palette_reduce(look, 256).foreground, 196);
    assert_int_equal(palette_reduce(look, 16).foreground, 9);
    assert_int_equal(palette_reduce(look, 8).foreground, 1);
    assert_int_equal(palette_reduce(look, 8).attributes, LOOK_BOLD);
    assert_int_equal(palette_reduce(look, 1 << 24).foreground, 0xff0000);
    assert_int_equal(palette_reduce(look, 0).foreground, COLOUR_DEFAULT);
    look = (struct look){8, COLOUR_DEFAULT, 0};
    assert_int_equal(palette_reduce(look, 8).foreground, COLOUR_DEFAULT); /* bold black is invisible */
    assert_int_equal(palette_reduce(look, 8).attributes, LOOK_DIM);
    look = (struct look){240, 0, 0};
    assert_int_equal(palette_reduce(look, 8).attributes, LOOK_DIM);
    look = (struct look){COLOUR_RGB | 0x0000ff, 4, 0};
    assert_int_not_equal(palette_reduce(look, 8).foreground, palette_reduce(look, 8).background);
    look = (struct look){COLOUR_DEFAULT, 153, 0};
    assert_int_equal(palette_reduce(look, 0).attributes, LOOK_REVERSE);
    for (int colour = -1; colour < 256; colour++)
        for (int depth = 0; depth <= 256; depth = depth ? depth * 2 : 8) {
            struct look reduced = palette_reduce((struct look){colour, colour, 0}, depth);
            assert_true(reduced.foreground >= -1 && reduced.foreground < (depth ? depth : 1));
            assert_true(reduced.background >= -1 && reduced.background < (depth ? depth : 1));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_wrong_lines_are_named),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_random_bytes),
        cmocka_unit_test(test_shipped_themes_are_complete),
        cmocka_unit_test(test_the_default_file_is_the_built_in_theme),
        cmocka_unit_test(test_mono_has_no_colour),
        cmocka_unit_test(test_a_selected_row_differs_in_every_theme_and_depth),
        cmocka_unit_test(test_load_by_name),
        cmocka_unit_test(test_files_that_are_no_themes),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_palette),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
