/* SPDX-License-Identifier: MIT */
/* Themes: parser, search in folders, the built-in one made of ALL_ROLES (see theme.h). */
#include "src/theme.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/memory.h"

#define THEME_SUFFIX   ".theme"
#define THEME_SIZE_MAX 65536
#define WORDS_MAX      16

#define AS_NAME(NAME, name, look, help) #name,
#define AS_LOOK(NAME, name, look, help) look,
#define AS_HELP(NAME, name, look, help) help,

static const char *const role_names[] = {ALL_ROLES(AS_NAME)};
static const char *const role_looks[] = {ALL_ROLES(AS_LOOK)};
static const char *const role_helps[] = {ALL_ROLES(AS_HELP)};

static const char *const colour_names[] = {"black",       "red",           "green",       "yellow",
                                           "blue",        "magenta",       "cyan",        "white",
                                           "brightblack", "brightred",     "brightgreen", "brightyellow",
                                           "brightblue",  "brightmagenta", "brightcyan",  "brightwhite"};

static const struct {
    const char *name;
    unsigned bit;
} attribute_names[] = {{"bold", LOOK_BOLD},
                       {"dim", LOOK_DIM},
                       {"underline", LOOK_UNDERLINE},
                       {"reverse", LOOK_REVERSE},
                       {"italic", LOOK_ITALIC}};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *role_name(enum role role)
{
    return role_names[role];
}

const char *role_help(enum role role)
{
    return role_helps[role];
}

/* Where in which file, and the message to fill. */
struct place {
    const char *file;
    int line;
    char *error;
    size_t error_size;
};

static int __attribute__((format(printf, 2, 3))) fail(const struct place *place, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(place->error, place->error_size, "%s:%d: %s", place->file, place->line, text);
    return -1;
}

/* A word of a file, fit for a message: short, printable. */
struct shown {
    char text[32];
};

static struct shown show(const char *word)
{
    struct shown shown;
    size_t n = 0;
    for (; word[n] && n + 1 < sizeof(shown.text); n++)
        shown.text[n] = word[n] >= 0x20 && word[n] < 0x7f ? word[n] : '?';
    shown.text[n] = '\0';
    return shown;
}

static enum role find_role(const char *name)
{
    enum role role = 0;
    while (role < ROLES_N && strcmp(role_names[role], name) != 0)
        role++;
    return role;
}

/* Digits of a base up to a limit; -1 for anything else. */
static long parse_number(const char *digits, int base, long limit)
{
    static const char alphabet[] = "0123456789abcdef";
    long value = 0;
    if (!*digits)
        return -1;
    for (; *digits; digits++) {
        char lower = (*digits >= 'A' && *digits <= 'F') ? (char)(*digits + 'a' - 'A') : *digits;
        const char *at = memchr(alphabet, lower, (size_t)base);
        if (!at)
            return -1;
        value = value * base + (at - alphabet);
        if (value > limit)
            return -1;
    }
    return value;
}

/* -2: not a colour. */
static int parse_colour(const char *word)
{
    if (strcmp(word, "default") == 0)
        return COLOUR_DEFAULT;
    for (size_t i = 0; i < COUNT(colour_names); i++)
        if (strcmp(word, colour_names[i]) == 0)
            return (int)i;
    if (word[0] == '#') {
        long rgb = strlen(word) == 7 ? parse_number(word + 1, 16, 0xffffff) : -1;
        return rgb < 0 ? -2 : COLOUR_RGB | (int)rgb;
    }
    long number = parse_number(word, 10, 255);
    return number < 0 ? -2 : (int)number;
}

static unsigned parse_attribute(const char *word)
{
    for (size_t i = 0; i < COUNT(attribute_names); i++)
        if (strcmp(word, attribute_names[i].name) == 0)
            return attribute_names[i].bit;
    return 0;
}

static int parse_look(struct look *look, char *words[], size_t n, const struct place *place)
{
    bool has_foreground = false, has_background = false;

    *look = (struct look){COLOUR_DEFAULT, COLOUR_DEFAULT, 0};
    for (size_t i = 0; i < n; i++) {
        unsigned attribute = parse_attribute(words[i]);
        if (attribute) {
            look->attributes |= attribute;
            continue;
        }
        bool on = strcmp(words[i], "on") == 0;
        if (on && ++i == n)
            return fail(place, "`on' without a colour: write FOREGROUND on BACKGROUND");
        int colour = parse_colour(words[i]);
        if (colour == -2)
            return fail(
                place,
                "unknown colour or attribute `%s': use default, black, red, green, yellow, blue, magenta, "
                "cyan, white, bright..., 0 to 255, #rrggbb, bold, dim, underline, reverse, italic",
                show(words[i]).text);
        if (on ? has_background : has_foreground)
            return fail(place, "second %s `%s': write FOREGROUND [on BACKGROUND]",
                        on ? "background" : "foreground", show(words[i]).text);
        *(on ? &has_background : &has_foreground) = true;
        *(on ? &look->background : &look->foreground) = colour;
    }
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Splits at blanks, in place; a `#` that stands alone starts a comment. Returns SIZE_MAX for too many. */
static size_t split_words(char *text, char *words[WORDS_MAX])
{
    size_t n = 0;
    for (;;) {
        while (is_blank(*text))
            text++;
        if (!*text || (text[0] == '#' && (!text[1] || is_blank(text[1]))))
            return n;
        if (n == WORDS_MAX)
            return SIZE_MAX;
        words[n++] = text;
        while (*text && !is_blank(*text))
            text++;
        if (*text)
            *text++ = '\0';
    }
}

static void list_roles(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t role = 0; role < ROLES_N && used < size; role++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", role ? ", " : "", role_names[role]);
}

/* One line, which is changed; set_at remembers the line where each role was set. */
static int parse_line(struct theme *theme, char *line, int set_at[ROLES_N], const struct place *place)
{
    char *words[WORDS_MAX];

    while (is_blank(*line))
        line++;
    if (!*line || *line == '#')
        return 0;
    char *equals = strchr(line, '=');
    if (!equals)
        return fail(place, "`%s' has no `=': write ROLE = COLOUR [on COLOUR] [bold ...]", show(line).text);
    *equals = '\0';
    if (split_words(line, words) != 1)
        return fail(place, "one role must stand before `=': write ROLE = COLOUR [on COLOUR] [bold ...]");
    enum role role = find_role(words[0]);
    if (role == ROLES_N) {
        char roles[256];
        list_roles(roles, sizeof(roles));
        return fail(place, "unknown role `%s': the roles are %s", show(words[0]).text, roles);
    }
    if (set_at[role])
        return fail(place, "%s was set in line %d already: keep one of the two", role_names[role],
                    set_at[role]);
    set_at[role] = place->line;
    size_t n = split_words(equals + 1, words);
    if (n == 0 || n == SIZE_MAX)
        return fail(place, "%s for %s: write COLOUR [on COLOUR] [bold ...]", n ? "too many words" : "nothing",
                    role_names[role]);
    return parse_look(&theme->look[role], words, n, place);
}

void theme_default(struct theme *theme)
{
    char error[256], line[128], *words[WORDS_MAX];
    const struct place place = {"built-in", 0, error, sizeof(error)};

    memset(theme, 0, sizeof(*theme));
    memcpy(theme->name, "default", sizeof("default"));
    for (size_t role = 0; role < ROLES_N; role++) {
        snprintf(line, sizeof(line), "%s", role_looks[role]);
        parse_look(&theme->look[role], words, split_words(line, words), &place);
    }
}

int theme_parse(struct theme *theme, const char *file, const char *text, char *error, size_t error_size)
{
    int set_at[ROLES_N] = {0};
    struct place place = {file, 0, error, error_size};
    struct theme parsed;
    char line[512];

    theme_default(&parsed);
    while (*text) {
        size_t length = strcspn(text, "\n");
        place.line++;
        if (length >= sizeof(line))
            return fail(&place, "line too long: %zu bytes, at most %zu", length, sizeof(line) - 1);
        memcpy(line, text, length);
        line[length] = '\0';
        if (parse_line(&parsed, line, set_at, &place) < 0)
            return -1;
        text += length + (text[length] == '\n');
    }
    *theme = parsed;
    return 0;
}

/* The whole of a small regular file; NULL with errno set, EFBIG and EILSEQ (a NUL inside) among others. */
static char *read_file(const char *path)
{
    struct stat st;
    char *text = NULL;
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang the start */
    if (fd < 0)
        return NULL;
    int problem = fstat(fd, &st) < 0    ? errno
                  : S_ISDIR(st.st_mode) ? EISDIR
                  : S_ISREG(st.st_mode) ? 0
                                        : EINVAL;
    if (!problem) {
        text = xzalloc(THEME_SIZE_MAX + 1);
        ssize_t got;
        while ((got = read(fd, text + used, THEME_SIZE_MAX + 1 - used)) > 0)
            used += (size_t)got;
        problem = got < 0 ? errno : used > THEME_SIZE_MAX ? EFBIG : memchr(text, '\0', used) ? EILSEQ : 0;
    }
    close(fd);
    if (problem) {
        free(text);
        errno = problem;
        return NULL;
    }
    return text;
}

static const char *file_problem(int problem)
{
    return problem == EFBIG    ? "larger than 64 KB: no theme"
           : problem == EILSEQ ? "has a NUL byte: no text file"
           : problem == EINVAL ? "no regular file"
                               : strerror(problem);
}

static void name_of_path(char out[32], const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t length = strlen(base), suffix = strlen(THEME_SUFFIX);
    if (length > suffix && strcmp(base + length - suffix, THEME_SUFFIX) == 0)
        length -= suffix;
    snprintf(out, 32, "%.*s", (int)(length < 31 ? length : 31), base);
}

/* 1: no such file. */
static int load_path(struct theme *theme, const char *path, char *error, size_t error_size)
{
    char *text = read_file(path);
    if (!text) {
        int problem = errno;
        snprintf(error, error_size, "theme %s: %s", path, file_problem(problem));
        return problem == ENOENT ? 1 : -1;
    }
    int result = theme_parse(theme, path, text, error, error_size);
    free(text);
    if (result == 0)
        name_of_path(theme->name, path);
    return result;
}

static void say_unknown(const char *name, const char *const *folders, char *error, size_t error_size)
{
    char *names[64];
    size_t n = theme_list(folders, names, COUNT(names));
    int used = snprintf(error, error_size, "no theme `%s': there are", show(name).text);
    for (size_t i = 0; i < n; i++) {
        if (used > 0 && (size_t)used < error_size)
            used +=
                snprintf(error + used, error_size - (size_t)used, "%s %s", i ? "," : "", show(names[i]).text);
        free(names[i]);
    }
    if (used > 0 && (size_t)used < error_size)
        snprintf(error + used, error_size - (size_t)used, "; a file's name needs a slash (./my.theme)");
}

int theme_load(struct theme *theme, const char *name, const char *const *folders, char *error,
               size_t error_size)
{
    if (strcmp(name, "default") == 0) {
        theme_default(theme);
        return 0;
    }
    if (strchr(name, '/'))
        return load_path(theme, name, error, error_size) ? -1 : 0;

    bool possible = name[0] && strlen(name) < sizeof(theme->name);
    for (size_t i = 0; possible && folders && folders[i]; i++) {
        char path[4096];
        if (snprintf(path, sizeof(path), "%s/%s" THEME_SUFFIX, folders[i], name) >= (int)sizeof(path))
            continue;
        int result = load_path(theme, path, error, error_size);
        if (result != 1)
            return result;
    }
    say_unknown(name, folders, error, error_size);
    return -1;
}

static bool listed(char **names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t theme_list(const char *const *folders, char **names, size_t max)
{
    size_t n = 0, suffix = strlen(THEME_SUFFIX);

    if (max > 0)
        names[n++] = xstrdup("default");
    for (; folders && *folders; folders++) {
        DIR *dir = opendir(*folders);
        const struct dirent *entry;
        while (dir && n < max && (entry = readdir(dir))) {
            size_t length = strlen(entry->d_name);
            char name[32];
            if (length <= suffix || length - suffix >= sizeof(name) || entry->d_name[0] == '.' ||
                strcmp(entry->d_name + length - suffix, THEME_SUFFIX) != 0)
                continue;
            name_of_path(name, entry->d_name);
            if (!listed(names, n, name))
                names[n++] = xstrdup(name);
        }
        if (dir)
            closedir(dir);
    }
    qsort(names, n, sizeof(names[0]), by_name);
    return n;
}

struct look theme_look(const struct theme *theme, enum role role, bool selected)
{
    struct look look = theme->look[role];
    if (!selected)
        return look;

    const struct look *on_top = &theme->look[ROLE_SELECTED];
    /* A reversed line in many colours would be a patchwork: it has one colour, the signs still say the rest.
     */
    if (on_top->foreground != COLOUR_DEFAULT || on_top->attributes & LOOK_REVERSE)
        look.foreground = on_top->foreground;
    if (on_top->background != COLOUR_DEFAULT || on_top->attributes & LOOK_REVERSE)
        look.background = on_top->background;
    look.attributes = (look.attributes & ~(unsigned)(LOOK_DIM | LOOK_REVERSE)) | on_top->attributes;
    return look;
}
