/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements reference.h. All of it is asked of an engine through SHOW, as a user would.
 */
#include "reference.h"

#include "dot.h"
#include "options.h"
#include "topics.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------ tables */

/* A cell of a Markdown table; bars would end it. */
static void put_cell(const char *text)
{
    for (const char *at = text ? text : ""; *at; at++)
        fputs(*at == '|' ? "\\|" : (char[]){*at, 0}, stdout);
}

/* The same as code, where there is anything. */
static void put_code(const char *text)
{
    if (!text || !text[0]) return;
    putchar('`');
    put_cell(text);
    putchar('`');
}

enum { COLUMNS = 5 }; /* at most */
typedef struct columns {
    const char *name[COLUMNS]; /* of the result, in the order in which they are shown */
    bool code[COLUMNS];
} columns;

static const char *value_of(int count, const char *const *names, const char *const *values, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return values[i];
    return NULL;
}

static int on_row(void *arg, int count, const char *const *names, const char *const *values)
{
    const columns *shown = arg;
    putchar('|');
    for (int i = 0; i < COLUMNS && shown->name[i]; i++) {
        putchar(' ');
        (shown->code[i] ? put_code : put_cell)(value_of(count, names, values, shown->name[i]));
        fputs(" |", stdout);
    }
    putchar('\n');
    return 0;
}

static lacis_status put_table(lacis_engine *engine, const char *statement, columns shown)
{
    putchar('|');
    for (int i = 0; i < COLUMNS && shown.name[i]; i++)
        printf(" %s |", shown.name[i]);
    fputs("\n|", stdout);
    for (int i = 0; i < COLUMNS && shown.name[i]; i++)
        fputs("---|", stdout);
    putchar('\n');
    lacis_status status = lacis_exec(engine, statement, on_row, &shown);
    putchar('\n');
    return status;
}

/* --------------------------------------------------------------------------------------- operators */

typedef struct details {
    char part[16]; /* that is being written */
} details;

/* Clauses and variants are tables, help and examples plain text. */
static bool is_table(const char *part)
{
    return strcmp(part, "clause") == 0 || strcmp(part, "variant") == 0;
}

static void begin_part(details *at, const char *part)
{
    if (strcmp(at->part, part) == 0) return;
    if (at->part[0]) puts(is_table(at->part) ? "" : "```\n");
    snprintf(at->part, sizeof at->part, "%s", part);
    if (!part[0]) return;
    if (is_table(part))
        printf("| %s | |\n|---|---|\n", part);
    else
        puts("```text");
}

/* "  [CON expr]      what a path is worth", or the form alone with the rest in the next row. */
static void put_clause(const char *row)
{
    const char *at = row + strspn(row, " "), *gap = strstr(at, "  ");
    if (at == row + 2) {
        char *form = shell_copy(at, gap ? (size_t)(gap - at) : strlen(at));
        fputs("| ", stdout);
        put_code(form);
        free(form);
        if (!gap) return;
        at = gap + strspn(gap, " ");
    }
    fputs(" | ", stdout);
    put_cell(at);
    fputs(" |\n", stdout);
}

/* "  rows on CPU: row by row" */
static void put_variant(const char *row)
{
    const char *at = row + strspn(row, " "), *colon = strchr(at, ':');
    printf("| %.*s | ", (int)(colon ? colon - at : 0), at);
    put_cell(colon ? colon + 1 + strspn(colon + 1, " ") : at);
    fputs(" |\n", stdout);
}

static int on_detail(void *arg, int count, const char *const *names, const char *const *values)
{
    details *at = arg;
    const char *row = value_of(count, names, values, "details"), *part = value_of(count, names, values, "part");
    if (!row || !part) return 0;
    begin_part(at, part);
    if (strcmp(part, "clause") == 0)
        put_clause(row);
    else if (strcmp(part, "variant") == 0)
        put_variant(row);
    else
        puts(row);
    return 0;
}

static int on_operator(void *arg, int count, const char *const *names, const char *const *values)
{
    lacis_engine *engine = arg;
    details at = {0};
    char statement[96];
    const char *verb = value_of(count, names, values, "verb");
    printf("### %s\n\n%s.\n\n```text\n%s\n```\n\n", verb, value_of(count, names, values, "summary"),
           value_of(count, names, values, "usage"));
    snprintf(statement, sizeof statement, "SHOW OPERATOR %s;", verb);
    if (lacis_exec(engine, statement, on_detail, &at) != LACIS_OK) return 1;
    begin_part(&at, "");
    return 0;
}

/* ------------------------------------------------------------------------------------------- words */

typedef struct words {
    const char *kind; /* that are shown */
    const char *gap;
} words;

static void on_word(void *arg, const char *word, const char *kind)
{
    words *shown = arg;
    if (strcmp(kind, shown->kind) != 0) return;
    printf("%s`%s`", shown->gap, word);
    shown->gap = " ";
}

/* What completion offers of one kind at the end of `text`. */
static lacis_status put_words(lacis_engine *engine, const char *text, const char *kind)
{
    size_t start;
    words shown = {kind, ""};
    lacis_status status = lacis_complete(engine, text, strlen(text), &start, on_word, &shown);
    puts("\n");
    return status;
}

static void put_types(void)
{
    puts("| type | bytes an element |\n|---|---|");
    for (int i = LACIS_PATTERN; i <= LACIS_CDD; i++)
        printf("| `%s` | %zu |\n", lacis_dtype_name((lacis_dtype)i), lacis_dtype_size((lacis_dtype)i));
    putchar('\n');
}

static void put_shell(void)
{
    puts("## Dot commands\n\n| command | |\n|---|---|");
    for (int i = 0; shell_dot_at(i); i++) {
        const shell_dot_command *command = shell_dot_at(i);
        printf("| `%s%s", command->name, command->usage[0] ? " " : "");
        put_cell(command->usage);
        fputs("` | ", stdout);
        put_cell(command->summary);
        puts(" |");
    }
    puts("\n## Modes of output\n\n| mode | |\n|---|---|");
    for (int i = 0; shell_mode_at(i); i++)
        printf("| `%s` | %s |\n", shell_mode_at(i)->name, shell_mode_at(i)->summary);
}

static lacis_status put_all(lacis_engine *engine)
{
    static const struct {
        const char *title, *statement;
        columns shown;
    } table[] = {
        {"Aggregates", "SHOW AGGREGATES;", {{"name", "summary"}, {true}}},
        {"Options", "SHOW OPTIONS;", {{"name", "takes", "help"}, {true}}},
        {"Formats",
         "SHOW LOADERS;",
         {{"name", "can", "extensions", "summary", "options"}, {true, false, false, false, true}}},
        {"Generators", "SHOW GENERATORS;", {{"name", "summary", "options"}, {true, false, true}}},
    };
    puts("# Reference\n\nWritten by `lacis --reference` from the descriptors that parser, completion and help go by; "
         "do "
         "not edit.\n[language.md](language.md) explains, this page lists.\n\n## Statements\n\n```text");
    fputs(shell_topic_find("statements")->text, stdout);
    puts("```\n\n`SHOW` takes one of\n");
    lacis_status status = put_words(engine, "SHOW ", "keyword");
    puts("## Operators\n");
    if (status == LACIS_OK) status = lacis_exec(engine, "SHOW OPERATORS;", on_operator, engine);
    puts("## Functions of expressions\n");
    if (status == LACIS_OK) status = put_words(engine, "MULTIPLY a BY b CON ", "function");
    for (size_t i = 0; i < sizeof table / sizeof table[0] && status == LACIS_OK; i++) {
        printf("## %s\n\n", table[i].title);
        status = put_table(engine, table[i].statement, table[i].shown);
    }
    puts("## Types of values\n");
    put_types();
    put_shell();
    return status;
}

bool shell_reference(void)
{
    lacis_engine *engine;
    lacis_status status = lacis_open(NULL, &engine);
    if (status == LACIS_OK) status = put_all(engine);
    if (status != LACIS_OK) fprintf(stderr, "lacis: %s\n", lacis_error_message(engine));
    lacis_close(engine);
    return status == LACIS_OK;
}
