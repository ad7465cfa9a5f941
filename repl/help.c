/* SPDX-License-Identifier: Apache-2.0
 *
 * .help: the dot commands out of their table, topics (topics.c), and operators as the engine describes them.
 */
#include "dot.h"
#include "topics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void put(shell_session *session, const char *left, const char *middle, const char *right)
{
    char line[256];
    const char *gap = middle[0] ? " " : "";
    int width = (int)(strlen(left) + strlen(gap) + strlen(middle)), most = 26;
    int length =
        snprintf(line, sizeof line, "%s%s%s%*s%s\n", left, gap, middle, width < most ? most - width : 1, "", right);
    shell_sink_put(shell_session_sink(session), line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
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
    shell_sink_puts(shell_session_sink(session), command->details);
    shell_sink_char(shell_session_sink(session), '\n');
}

static void help_topic(shell_session *session, const shell_topic *found)
{
    shell_sink *out = shell_session_sink(session);
    shell_sink_puts(out, found->text ? found->text : "");
    for (int i = 0; found->examples && found->examples[i]; i++) {
        shell_sink_puts(out, i == 0 ? "\n  " : "  ");
        shell_sink_puts(out, found->examples[i]);
        shell_sink_puts(out, ";\n");
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
            shell_sink_put(shell_session_sink(session), at, length);
            shell_sink_char(shell_session_sink(session), '\n');
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
    shell_sink *out = shell_session_sink(search->session);
    const char *best = search->nearest.best;
    if (shell_same(verb, search->nearest.word)) {
        shell_sink_puts(out, usage);
        shell_sink_char(out, '\n');
        shell_sink_puts(out, summary);
        shell_sink_char(out, '\n');
        search->found = true;
    }
    shell_nearest_try(&search->nearest, verb);
    if (search->nearest.best == best) return;
    snprintf(search->nearest_verb, sizeof search->nearest_verb, "%s", verb);
    search->nearest.best = search->nearest_verb;
}

/* An operator, as the engine describes it: usage and summary, then what it tells beside them. */
static bool help_operator(shell_session *session, const char *name, verb_search *search)
{
    char statement[96];
    shell_verbs(session, on_verb, search);
    if (!search->found) return false;
    snprintf(statement, sizeof statement, "SHOW OPERATOR %s;", name);
    shell_session_lines(session, statement, NULL);
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
