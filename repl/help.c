/* SPDX-License-Identifier: Apache-2.0
 *
 * .help: the dot commands out of their table, topics (topics.c), and operators as the engine describes them. Lines
 * are broken between words to the terminal's width; in a file or pipe at 80 columns.
 */
#include "dot.h"
#include "terminal.h"
#include "topics.h"
#include "wrap.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { USUAL_WIDTH = 80, SECOND_COLUMN = 26, USAGE_HANG = 4, EXAMPLE_HANG = 4 };

/* A text, its lines broken; `hang`: how far continued ones stand in. */
static void put_text(shell_session *session, const char *text, int hang)
{
    shell_sink *out = shell_session_sink(session);
    int width = out->terminal ? shell_terminal_width(out->fd) : 0;
    shell_wrap wrap = {.width = width > 0 ? width : USUAL_WIDTH, .hang = hang};
    shell_text lines = {0};
    shell_wrap_add(&lines, text, strlen(text), &wrap);
    shell_sink_puts(out, lines.data);
    shell_text_free(&lines);
}

static void put_line(shell_session *session, const char *text, int hang)
{
    put_text(session, text, hang);
    shell_sink_char(shell_session_sink(session), '\n');
}

static void put(shell_session *session, const char *left, const char *middle, const char *right)
{
    char line[256];
    const char *gap = middle[0] ? " " : "";
    int width = (int)(strlen(left) + strlen(gap) + strlen(middle)), most = SECOND_COLUMN;
    snprintf(line, sizeof line, "%s%s%s%*s%s", left, gap, middle, width < most - 1 ? most - width : 2, "", right);
    put_line(session, line, 0);
}

static void help_overview(shell_session *session)
{
    for (int i = 0; shell_dot_at(i); i++)
        put(session, shell_dot_at(i)->name, shell_dot_at(i)->usage, shell_dot_at(i)->summary);
    shell_sink_puts(shell_session_sink(session), "\n");
    for (int i = 0; shell_topic_at(i); i++)
        put(session, ".help", shell_topic_at(i)->name, shell_topic_at(i)->summary);
    put(session, ".help", "VERB", "an operator (SHOW OPERATORS lists them), or LOAD, PLOT, EXPLAIN ...");
}

static void help_command(shell_session *session, const shell_dot_command *command)
{
    put(session, command->name, command->usage, command->summary);
    put_line(session, command->details, 0);
}

/* A statement that runs, indented. */
static void put_example(shell_session *session, const char *example)
{
    shell_text line = {0};
    shell_text_puts(&line, "  ");
    shell_text_puts(&line, example);
    shell_text_puts(&line, ";");
    put_line(session, line.data, EXAMPLE_HANG);
    shell_text_free(&line);
}

static void help_topic(shell_session *session, const shell_topic *found)
{
    if (found->text) put_text(session, found->text, 0);
    for (int i = 0; found->examples && found->examples[i]; i++) {
        if (i == 0) shell_sink_char(shell_session_sink(session), '\n');
        put_example(session, found->examples[i]);
    }
    if (found->text) return;
    put(session, "auto", "", "box on a terminal, csv elsewhere; EXPLAIN as plain lines");
    for (int i = 0; shell_mode_at(i); i++)
        put(session, shell_mode_at(i)->name, "", shell_mode_at(i)->summary);
}

/* Whether the word stands in a line, not within another. */
static bool holds_word(const char *line, size_t length, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++) {
        bool begins = i == 0 || !isalpha((unsigned char)line[i - 1]);
        bool ends = i + size == length || !isalpha((unsigned char)line[i + size]);
        if (begins && ends && strncasecmp(line + i, word, size) == 0) return true;
    }
    return false;
}

/* The forms of statements with the word, and the topic with examples of it. */
static void help_word(shell_session *session, const char *word, const shell_topic *found)
{
    const shell_topic *statements = shell_topic_find("statements");
    for (const char *at = found == statements ? "" : statements->text; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        if (isupper((unsigned char)at[0]) && isupper((unsigned char)at[1]) && holds_word(at, length, word)) {
            char *line = shell_copy(at, length);
            put_line(session, line, 0);
            shell_text_free(&(shell_text){.data = line});
        }
        at += length + (at[length] == '\n');
    }
    help_topic(session, found);
}

typedef struct verb_visit {
    shell_verb_fn fn;
    void *arg;
} verb_visit;

static int on_operator(void *arg, int columns, const char *const *names, const char *const *values)
{
    const verb_visit *visit = arg;
    const char *verb = "", *usage = "", *summary = "";
    for (int i = 0; i < columns; i++) {
        if (!values[i]) continue;
        if (strcmp(names[i], "verb") == 0) verb = values[i];
        if (strcmp(names[i], "usage") == 0) usage = values[i];
        if (strcmp(names[i], "summary") == 0) summary = values[i];
    }
    visit->fn(visit->arg, verb, usage, summary);
    return 0;
}

void shell_verbs(shell_session *session, shell_verb_fn fn, void *arg)
{
    verb_visit visit = {fn, arg};
    lacis_exec(session->engine, "SHOW OPERATORS;", on_operator, &visit);
}

/* What .help looks for among the operators, and the nearest of all names so far. */
typedef struct verb_search {
    shell_session *session;
    shell_nearest nearest;
    char nearest_verb[64];
    bool found;
} verb_search;

static void on_verb(void *arg, const char *verb, const char *usage, const char *summary)
{
    verb_search *search = arg;
    const char *best = search->nearest.best;
    if (shell_same(verb, search->nearest.word)) {
        put_line(search->session, usage, USAGE_HANG);
        put_line(search->session, summary, 0);
        search->found = true;
    }
    shell_nearest_try(&search->nearest, verb);
    if (search->nearest.best == best) return;
    snprintf(search->nearest_verb, sizeof search->nearest_verb, "%s", verb);
    search->nearest.best = search->nearest_verb;
}

/* What SHOW OPERATOR tells: its help is text of paragraphs, all else a line each. */
typedef struct detail_visit {
    shell_session *session;
    shell_text paragraph;
} detail_visit;

static void end_paragraph(detail_visit *visit)
{
    if (visit->paragraph.used > 0) put_line(visit->session, visit->paragraph.data, 0);
    shell_text_clear(&visit->paragraph);
}

static int on_detail(void *arg, int columns, const char *const *names, const char *const *values)
{
    detail_visit *visit = arg;
    const char *line = "", *part = "";
    for (int i = 0; i < columns; i++) {
        if (values[i] && strcmp(names[i], "details") == 0) line = values[i];
        if (values[i] && strcmp(names[i], "part") == 0) part = values[i];
    }
    if (strcmp(part, "help") == 0 && line[0]) {
        if (visit->paragraph.used > 0) shell_text_puts(&visit->paragraph, " ");
        shell_text_puts(&visit->paragraph, line);
        return 0;
    }
    end_paragraph(visit);
    if (strcmp(part, "example") == 0)
        put_example(visit->session, line);
    else
        put_line(visit->session, line, strcmp(part, "variant") == 0 ? USAGE_HANG : 0);
    return 0;
}

/* An operator, as the engine describes it: usage and summary, then what it tells beside them. */
static bool help_operator(shell_session *session, const char *name, verb_search *search)
{
    char statement[96];
    detail_visit visit = {.session = session};
    shell_verbs(session, on_verb, search);
    if (!search->found) return false;
    snprintf(statement, sizeof statement, "SHOW OPERATOR %s;", name);
    lacis_exec(session->engine, statement, on_detail, &visit);
    end_paragraph(&visit);
    shell_text_free(&visit.paragraph);
    return true;
}

static bool refuse_topic(shell_session *session, const char *name, verb_search *search)
{
    char hint[96];
    for (int i = 0; shell_topic_at(i); i++)
        shell_nearest_try(&search->nearest, shell_topic_at(i)->name);
    for (int i = 0; shell_dot_at(i); i++)
        shell_nearest_try(&search->nearest, shell_dot_at(i)->name + (name[0] != '.'));
    const char *best = search->nearest.best;
    snprintf(hint, sizeof hint, "did you mean .help %s?", best ? best : "");
    shell_error(session, best ? hint : ".help lists what there is; SHOW OPERATORS lists the operators",
                "there is no help on %s", name);
    return false;
}

bool shell_help(shell_session *session, int arguments, char **argument)
{
    if (arguments == 0) {
        help_overview(session);
        return true;
    }
    const char *name = argument[0];
    const shell_dot_command *command = shell_dot_find(name);
    const shell_topic *found = shell_topic_find(name);
    verb_search search = {.session = session, .nearest = {.word = name}};
    if (command)
        help_command(session, command);
    else if (found)
        help_topic(session, found);
    else if (shell_topic_of_word(name))
        help_word(session, name, shell_topic_of_word(name));
    else if (!help_operator(session, name, &search))
        return refuse_topic(session, name, &search);
    return true;
}
