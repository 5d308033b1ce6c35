/* SPDX-License-Identifier: MIT */
/*
 * Texts against the files of tests/golden, for test programs that run in the root of the source tree. With
 * GOLDEN=write in the environment the files are written instead. Included by tests alone, after cmocka.
 */
#ifndef VNETTOP_TESTS_GOLDEN_H
#define VNETTOP_TESTS_GOLDEN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

static inline char *golden_read(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (!file)
        return xstrdup("");
    ssize_t n = getdelim(&text, &size, EOF, file);
    fclose(file);
    if (n < 0) {
        free(text);
        return xstrdup("");
    }
    return text;
}

/* Names the first line that differs, for whoever has only the test's output. */
static inline void golden_report(const char *path, const char *want, const char *got)
{
    int line = 1;
    while (*want && *got) {
        size_t w = strcspn(want, "\n"), g = strcspn(got, "\n");
        if (w != g || memcmp(want, got, w) != 0)
            break;
        want += w + (want[w] == '\n');
        got += g + (got[g] == '\n');
        line++;
    }
    fprintf(stderr, "%s:%d differs\n  golden: %.*s\n  now:    %.*s\n", path, line, (int)strcspn(want, "\n"),
            want, (int)strcspn(got, "\n"), got);
}

static inline bool golden_matches(const char *name, const char *got)
{
    char path[128];
    const char *mode = getenv("GOLDEN");
    snprintf(path, sizeof(path), "tests/golden/%s.txt", name);
    if (mode && strcmp(mode, "write") == 0) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(got, file);
        assert_int_equal(fclose(file), 0);
        return true;
    }
    char *want = golden_read(path);
    bool same = strcmp(want, got) == 0;
    if (!same)
        golden_report(path, want, got);
    free(want);
    return same;
}

#endif
