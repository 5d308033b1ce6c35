/* SPDX-License-Identifier: MIT */
/*
 * Writes the manual page and the shell completion from the tables of the program, so that they say what the
 * code does. `generate man TEMPLATE` replaces the lines @OPTIONS@, @COMMANDS@, @KEYS@, @VIEWS@, @COLUMNS@,
 * @ROLES@, @RULES@, @SOURCES@ and @EXIT@ of the template; `generate bash` prints a completion. A test
 * compares what is checked in with what this writes.
 */
#include <stdio.h>
#include <string.h>

#include "src/actions.h"
#include "src/collector.h"
#include "src/columns.h"
#include "src/findings.h"
#include "src/options.h"
#include "src/theme.h"
#include "ui/views.h"

/* Text for roff: a backslash and a dash have meanings of their own there. */
static void put(const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
    }
}

static void item(const char *term, const char *text)
{
    fputs(".TP\n.B \"", stdout);
    put(term);
    fputs("\"\n", stdout);
    put(text);
    putchar('\n');
}

static void put_commands(void)
{
    for (int i = 0; i < COMMANDS_N; i++) {
        char term[128];
        snprintf(term, sizeof(term), "vnettop%s%s", i ? " " : "", command_get((enum command_id)i)->name);
        item(term, command_get((enum command_id)i)->help);
    }
}

static void put_options(void)
{
    size_t n;
    const struct option_def *defs = option_table(&n);
    for (size_t i = 0; i < n; i++) {
        char term[128], letter[8] = "";
        if (defs[i].letter)
            snprintf(letter, sizeof(letter), "-%c, ", defs[i].letter);
        snprintf(term, sizeof(term), "%s--%s%s%s", letter, defs[i].name, defs[i].arg ? " " : "",
                 defs[i].arg ? defs[i].arg : "");
        char text[512], commands[80];
        option_commands(&defs[i], commands, sizeof(commands));
        snprintf(text, sizeof(text), "%s%s%s%s", defs[i].help, *commands ? " [" : "", commands,
                 *commands ? "]" : "");
        item(term, text);
    }
}

static void put_exit(void)
{
    puts(EXIT_STATUS_TEXT ".");
}

static void put_keys(void)
{
    for (int i = 0; i < ACTIONS_N; i++)
        item(action_get((enum action_id)i)->keys, action_get((enum action_id)i)->help);
}

static void put_views(void)
{
    for (size_t i = 0; i < n_views; i++) {
        char term[32];
        snprintf(term, sizeof(term), "%c, --view %s", view_key(i), views[i].name);
        item(term, views[i].help);
    }
}

static void put_columns(void)
{
    for (int id = 0; id < TABLES_N; id++) {
        const struct table *table = table_get((enum table_id)id);
        printf(".SS ");
        put(table->name);
        putchar('\n');
        put(table->help);
        putchar('\n');
        for (size_t i = 0; i < table->n_columns; i++) {
            const char *unit = unit_name(table->columns[i].unit);
            char text[512];
            snprintf(text, sizeof(text), "%s%s%s%s", table->columns[i].help, *unit ? " (" : "", unit,
                     *unit ? ")" : "");
            item(table->columns[i].key, text);
        }
    }
}

static void put_roles(void)
{
    for (int i = 0; i < ROLES_N; i++)
        item(role_name((enum role)i), role_help((enum role)i));
}

static void put_sources(void)
{
    for (size_t i = 0; all_collectors[i]; i++)
        item(all_collectors[i]->feed, all_collectors[i]->help);
}

static void put_rules(void)
{
    for (size_t i = 0; i < n_rules; i++) {
        char text[512];
        snprintf(text, sizeof(text), "%s%s%s (needs %s)", rules[i].help, *rules[i].unit ? "; in " : "",
                 rules[i].unit, rules[i].needs);
        item(rules[i].id, text);
    }
}

static const struct {
    const char *name;
    void (*put)(void);
} parts[] = {
    {"@COMMANDS@\n", put_commands}, {"@OPTIONS@\n", put_options}, {"@KEYS@\n", put_keys},
    {"@VIEWS@\n", put_views},       {"@COLUMNS@\n", put_columns}, {"@ROLES@\n", put_roles},
    {"@SOURCES@\n", put_sources},   {"@RULES@\n", put_rules},     {"@EXIT@\n", put_exit},
};

static void put_line(const char *line)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strcmp(line, parts[i].name) == 0) {
            parts[i].put();
            return;
        }
    }
    fputs(line, stdout);
}

static int write_man(const char *template_path)
{
    FILE *in = fopen(template_path, "r");
    char line[1024];
    if (!in) {
        perror(template_path);
        return 1;
    }
    puts(".\\\" Made from man/vnettop.1.in and the program's tables by `make man`: do not edit.");
    while (fgets(line, sizeof(line), in))
        put_line(line);
    fclose(in);
    return 0;
}

static int write_bash(void)
{
    size_t n;
    const struct option_def *defs = option_table(&n);
    puts("# Made from the program's tables by `make man`: do not edit.");
    puts("_vnettop() {\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}");
    puts("    case $before in");
    printf("    --view) COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < n_views; i++)
        printf("%s ", views[i].name);
    printf("' -- \"$word\")); return ;;\n    --table) COMPREPLY=($(compgen -W '");
    for (int id = 0; id < TABLES_N; id++)
        printf("%s ", table_get((enum table_id)id)->name);
    puts("' -- \"$word\")); return ;;\n    --output | -o | --config) COMPREPLY=($(compgen -f -- \"$word\")); "
         "return ;;\n    esac");
    printf("    COMPREPLY=($(compgen -W '");
    for (int i = 1; i < COMMANDS_N; i++)
        printf("%s ", command_get((enum command_id)i)->name);
    for (size_t i = 0; i < n; i++)
        printf("--%s ", defs[i].name);
    puts("' -- \"$word\"))\n}\ncomplete -F _vnettop vnettop");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "man") == 0)
        return write_man(argv[2]);
    if (argc == 2 && strcmp(argv[1], "bash") == 0)
        return write_bash();
    fputs("usage: generate man TEMPLATE | generate bash\n", stderr);
    return 2;
}
