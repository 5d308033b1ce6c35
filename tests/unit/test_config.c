/* SPDX-License-Identifier: MIT */
/*
 * The config file: what is wrong is named by file and line, hostile files end in one such line, and writing
 * replaces the whole file or leaves it as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/config.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/vnettop-config-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static void remove_tree(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char child[PATH_MAX];
        snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_type == DT_DIR)
            remove_tree(child);
        else
            unlink(child);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
}

static int remove_folder(void **state)
{
    (void)state;
    remove_tree(folder);
    return 0;
}

static const char *path_of(char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

/* What the reader handed over, as "key=value;" */
struct taken {
    char text[4096];
    const char *refuse; /* a key that is wrong */
};

static int take_line(void *context, const char *key, const char *value, char *error, size_t error_size)
{
    struct taken *taken = context;
    size_t used = strlen(taken->text);
    snprintf(taken->text + used, sizeof(taken->text) - used, "%s=%s;", key, value);
    if (!taken->refuse || strcmp(taken->refuse, key) != 0)
        return 0;
    snprintf(error, error_size, "%s: no such option", key);
    return -1;
}

struct outcome {
    int rc;
    char *text, error[512];
    struct taken taken;
};

static struct outcome read_bytes(const char *bytes, size_t n, const char *refuse)
{
    char path[PATH_MAX];
    struct outcome outcome = {.taken.refuse = refuse};
    write_bytes(path_of(path, "config"), bytes, n);
    outcome.rc = config_read(path, true, take_line, &outcome.taken, &outcome.text, outcome.error,
                             sizeof(outcome.error));
    return outcome;
}

static void expect_read(const char *bytes, const char *taken)
{
    struct outcome outcome = read_bytes(bytes, strlen(bytes), NULL);
    assert_int_equal(outcome.rc, 0);
    assert_string_equal(outcome.taken.text, taken);
    free(outcome.text);
}

/* error is what stands behind the file's name. */
static void expect_error(const char *bytes, size_t n, const char *refuse, const char *error)
{
    struct outcome outcome = read_bytes(bytes, n, refuse);
    assert_int_equal(outcome.rc, -1);
    char expected[600];
    snprintf(expected, sizeof(expected), "%s/config%s", folder, error);
    assert_string_equal(outcome.error, expected);
    free(outcome.text);
}

static void test_lines(void **state)
{
    (void)state;
    expect_read("", "");
    expect_read("\n\n", "");
    expect_read("a=b", "a=b;");
    expect_read("a = b\n", "a=b;");
    expect_read("  a\t=  b c  \r\n# note\n\t# note\nd=\n", "a=b c;d=;");
    expect_read("a = b = c\n", "a=b = c;");
    expect_read("= x\n", "=x;");
    expect_read("a = # no note\n", "a=# no note;");
}

static void test_errors_name_file_and_line(void **state)
{
    (void)state;
    expect_error("what\n", 5, NULL, ":1: no `=`; write KEY = VALUE");
    expect_error("a=b\n\n# c\nwhat", 13, NULL, ":4: no `=`; write KEY = VALUE");
    expect_error("a=1\nb=2\nc=3\n", 12, "b", ":2: b: no such option");
}

/* Bytes that would move the cursor or end the line do not reach the terminal. */
static void test_hostile_names(void **state)
{
    (void)state;
    expect_error("\x1b[2J\x07 = 1\n", 10, "\x1b[2J\x07", ":1: ?[2J?: no such option");
    expect_error("\xff\xc3 = 1\n", 7, "\xff\xc3", ":1: ??: no such option");
}

static void test_hostile_files(void **state)
{
    (void)state;
    expect_error("a=b\0c=d\n", 8, NULL, ": not a text; it should hold lines of KEY = VALUE");
    size_t big = (1u << 20) + 1;
    char *bytes = malloc(big);
    memset(bytes, '#', big);
    expect_error(bytes, big, NULL, ": larger than 1 MiB; it should hold lines of KEY = VALUE");
    struct outcome outcome = read_bytes(bytes, big - 1, NULL); /* as large as may be: one note */
    assert_int_equal(outcome.rc, 0);
    free(outcome.text);
    memset(bytes, '\n', big);
    bytes[big - 2] = 'x';
    expect_error(bytes, big - 1, NULL, ":1048576: no `=`; write KEY = VALUE");
    /* A key of a megabyte: the error is cut, not the memory. */
    memset(bytes, 'k', big);
    bytes[big - 2] = '=';
    outcome = read_bytes(bytes, big - 1, NULL);
    assert_int_equal(outcome.rc, 0);
    free(outcome.text);
    free(bytes);
}

static int read_path(const char *path, bool must_exist, char error[512])
{
    struct taken taken = {.refuse = NULL};
    char *text;
    int rc = config_read(path, must_exist, take_line, &taken, &text, error, 512);
    free(text);
    return rc;
}

static void test_files_that_are_none(void **state)
{
    (void)state;
    char path[PATH_MAX], error[512], expected[PATH_MAX + 64];
    path_of(path, "nosuch");
    assert_int_equal(read_path(path, false, error), 1);
    assert_int_equal(read_path(path, true, error), -1);
    snprintf(expected, sizeof(expected), "%s: No such file or directory", path);
    assert_string_equal(error, expected);
    assert_int_equal(read_path(folder, false, error), -1);
    snprintf(expected, sizeof(expected), "%s: Is a directory; it should hold lines of KEY = VALUE", folder);
    assert_string_equal(error, expected);
    /* Below what is no folder there is no file. */
    snprintf(path, sizeof(path), "/dev/null/vnettop/config");
    assert_int_equal(read_path(path, false, error), 1);
    assert_int_equal(read_path(path, true, error), -1);
    /* A pipe nobody writes to must not keep the program. */
    path_of(path, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(read_path(path, false, error), 0);
    assert_int_equal(read_path("/dev/zero", false, error), -1);
    path_of(path, "loop");
    assert_int_equal(symlink(path, path), 0);
    assert_int_equal(read_path(path, false, error), -1);
    assert_non_null(strstr(error, "symbolic links"));
}

static void test_path(void **state)
{
    (void)state;
    char path[64];
    setenv("XDG_CONFIG_HOME", "/xdg", 1);
    setenv("HOME", "/home/u", 1);
    assert_true(config_path(path, sizeof(path), "config"));
    assert_string_equal(path, "/xdg/vnettop/config");
    setenv("XDG_CONFIG_HOME", "relative", 1); /* is to be ignored, says the XDG specification */
    assert_true(config_path(path, sizeof(path), "config"));
    assert_string_equal(path, "/home/u/.config/vnettop/config");
    unsetenv("XDG_CONFIG_HOME");
    assert_false(config_path(path, 20, "config"));
    unsetenv("HOME");
    assert_false(config_path(path, sizeof(path), "config"));
}

static void expect_content(const char *path, const char *content)
{
    char text[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    assert_string_equal(text, content);
}

/* Entries of a folder, without . and .. */
static int count_files(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void test_write_makes_folders_and_replaces(void **state)
{
    (void)state;
    char path[PATH_MAX], dir[PATH_MAX], error[256];
    path_of(path, "a/b/console");
    path_of(dir, "a/b");
    assert_int_equal(config_write(path, "x = 1\n", error, sizeof(error)), 0);
    expect_content(path, "x = 1\n");
    assert_int_equal(config_write(path, "y = 2\n", error, sizeof(error)), 0);
    expect_content(path, "y = 2\n");
    assert_int_equal(count_files(dir), 1);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* A file that grows past the limit of its size stands for a full disk: the old one stays whole. */
static void test_write_that_fails_leaves_the_old(void **state)
{
    (void)state;
    char path[PATH_MAX], dir[PATH_MAX], error[256], large[4097];
    path_of(path, "full/console");
    path_of(dir, "full");
    assert_int_equal(config_write(path, "old\n", error, sizeof(error)), 0);
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    struct rlimit before, small = {.rlim_cur = 1000};
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    int rc = config_write(path, large, error, sizeof(error));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(rc, -1);
    char expected[PATH_MAX + 64];
    snprintf(expected, sizeof(expected), "%s: File too large; the settings are not kept", path);
    assert_string_equal(error, expected);
    expect_content(path, "old\n");
    assert_int_equal(count_files(dir), 1); /* no half file is left either */
}

static void test_write_where_it_cannot(void **state)
{
    (void)state;
    char path[PATH_MAX], error[256];
    write_bytes(path_of(path, "plain"), "", 0);
    path_of(path, "plain/console"); /* a file where a folder must be */
    assert_int_equal(config_write(path, "x", error, sizeof(error)), -1);
    assert_non_null(strstr(error, "Not a directory"));
    path_of(path, "dir");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(config_write(path, "x", error, sizeof(error)), -1); /* a folder in the file's place */
    assert_non_null(strstr(error, "the settings are not kept"));
}

/* The temporary file must not lead elsewhere. */
static void test_write_follows_no_link(void **state)
{
    (void)state;
    char path[PATH_MAX], link[PATH_MAX], victim[PATH_MAX], error[256];
    path_of(path, "linked");
    path_of(link, "linked.new");
    write_bytes(path_of(victim, "victim"), "mine", 4);
    assert_int_equal(symlink(victim, link), 0);
    assert_int_equal(config_write(path, "x", error, sizeof(error)), -1);
    expect_content(victim, "mine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_errors_name_file_and_line),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_files_that_are_none),
        cmocka_unit_test(test_path),
        cmocka_unit_test(test_write_makes_folders_and_replaces),
        cmocka_unit_test(test_write_that_fails_leaves_the_old),
        cmocka_unit_test(test_write_where_it_cannot),
        cmocka_unit_test(test_write_follows_no_link),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
