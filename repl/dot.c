/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements dot.h, except for .help (help.c).
 */
#include "dot.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { DEEPEST_READ = 16 };

static bool run_quit(shell_session *session, int arguments, char **argument)
{
    (void)arguments;
    (void)argument;
    session->leaving = true;
    return true;
}

static bool run_open(shell_session *session, int arguments, char **argument)
{
    return shell_session_open(session, arguments > 0 ? argument[0] : NULL);
}

static bool run_read(shell_session *session, int arguments, char **argument)
{
    (void)arguments;
    if (session->depth >= DEEPEST_READ) {
        shell_error(session, NULL, "%s is not read: .read stands %d deep already", argument[0], DEEPEST_READ);
        return false;
    }
    session->depth++;
    bool good = shell_run_file(session, argument[0]);
    session->depth--;
    return good || session->leaving;
}

static bool run_mode(shell_session *session, int arguments, char **argument)
{
    if (arguments == 0) {
        shell_sink_puts(shell_session_sink(session), session->mode ? session->mode->name : "auto");
        shell_sink_char(shell_session_sink(session), '\n');
        return true;
    }
    const shell_mode *mode = shell_mode_find(argument[0]);
    if (!mode && !shell_same(argument[0], "auto")) {
        shell_nearest nearest = {.word = argument[0]};
        for (int i = 0; shell_mode_at(i); i++)
            shell_nearest_try(&nearest, shell_mode_at(i)->name);
        char hint[80];
        snprintf(hint, sizeof hint, "did you mean .mode %s?", nearest.best);
        shell_error(session, nearest.best ? hint : ".help modes lists them", "there is no mode %s", argument[0]);
        return false;
    }
    session->mode = mode;
    return true;
}

static bool run_once(shell_session *session, int arguments, char **argument)
{
    (void)arguments;
    return shell_session_output(session, argument[0], true);
}

static bool run_output(shell_session *session, int arguments, char **argument)
{
    bool standard = arguments == 0 || strcmp(argument[0], "stdout") == 0;
    return shell_session_output(session, standard ? NULL : argument[0], false);
}

static bool run_maxrows(shell_session *session, int arguments, char **argument)
{
    char *end = NULL;
    if (arguments == 0 || shell_same(argument[0], "auto")) {
        session->row_limit = -1;
        return true;
    }
    errno = 0;
    long long rows = strtoll(argument[0], &end, 10);
    if (errno || end == argument[0] || *end || rows < 0) {
        shell_error(session, NULL, ".maxrows takes a number of rows, 0 for all, or auto; not %s", argument[0]);
        return false;
    }
    session->row_limit = rows;
    return true;
}

static bool set_switch(shell_session *session, const char *command, const char *word, bool *out)
{
    bool on = shell_same(word, "on"), off = shell_same(word, "off");
    if (!on && !off) {
        shell_error(session, NULL, "%s takes on or off, not %s", command, word);
        return false;
    }
    *out = on;
    return true;
}

static bool run_timer(shell_session *session, int arguments, char **argument)
{
    (void)arguments;
    return set_switch(session, ".timer", argument[0], &session->timer);
}

static bool run_bail(shell_session *session, int arguments, char **argument)
{
    (void)arguments;
    return set_switch(session, ".bail", argument[0], &session->bail);
}

static bool run_log(shell_session *session, int arguments, char **argument)
{
    (void)arguments;
    bool off = shell_same(argument[0], "off"), standard = strcmp(argument[0], "stderr") == 0;
    FILE *file = off || standard ? NULL : fopen(argument[0], "ae");
    if (!off && !standard && !file) {
        shell_error(session, NULL, "cannot write to %s: %s", argument[0], strerror(errno));
        return false;
    }
    if (session->log) fclose(session->log);
    session->log = file;
    session->silent = off;
    return true;
}

static bool run_report(shell_session *session, int arguments, char **argument)
{
    (void)arguments;
    return shell_session_report(session, shell_same(argument[0], "off") ? NULL : argument[0]);
}

static bool run_arrays(shell_session *session, int arguments, char **argument)
{
    (void)arguments;
    (void)argument;
    return shell_session_own(session, "SHOW ARRAYS;");
}

/* Arrays and lacis's views are virtual tables whose own SQL says nothing: their columns are shown instead. */
static bool run_schema(shell_session *session, int arguments, char **argument)
{
    static const char query[] =
        "SELECT CASE WHEN sql LIKE 'CREATE VIRTUAL TABLE % USING lacis%' THEN '-- array or view ' || tbl_name || '(' "
        "||"
        " (SELECT group_concat(name, ', ') FROM pragma_table_info(tbl_name)) || ')' ELSE sql || ';' END"
        " FROM (SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema)"
        " WHERE sql IS NOT NULL AND tbl_name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        " AND tbl_name NOT LIKE 'lacis\\_%' ESCAPE '\\'"
        " AND (:name IS NULL OR lower(tbl_name) = lower(:name)) ORDER BY tbl_name, type DESC, name;";
    bool good = shell_session_lines(session, query, arguments > 0 ? argument[0] : NULL);
    if (!good) shell_engine_error(session, query);
    return good;
}

static const shell_dot_command commands[] = {
    {".arrays", "", "list arrays and views", SHELL_ARG_NONE, 0, 0, run_arrays, "The same as SHOW ARRAYS."},
    {".bail", "on|off", "whether a failure ends the script", SHELL_ARG_SWITCH, 1, 1, run_bail,
     "On at first: a script ends with the first statement that fails. Off: it goes on, and the exit code is 1 at "
     "the end. At the prompt a failure ends no more than the line or the .read file."},
    {".exit", "", "the same as .quit", SHELL_ARG_NONE, 0, 0, run_quit, "Ctrl-D at an empty prompt does it too."},
    {".help", "[TOPIC|VERB]", "this list, or one thing explained", SHELL_ARG_TOPIC, 0, 1, shell_help,
     "TOPIC is a dot command or one of those at the end of .help, such as graphs. VERB is an operator such as "
     "MULTIPLY."},
    {".log", "FILE|stderr|off", "where notes, warnings and summaries go", SHELL_ARG_FILE, 1, 1, run_log,
     "FILE is added to. Errors go to stderr always."},
    {".maxrows", "[N|auto]", "most rows to show in framed modes, 0 for all", SHELL_ARG_OTHER, 0, 1, run_maxrows,
     "Holds for table, box and markdown. At first (auto): 40 at the prompt of a terminal, else all. What is left "
     "out is said."},
    {".mode", "[MODE|auto]", "how results are written (.help modes)", SHELL_ARG_MODE, 0, 1, run_mode,
     "auto, which holds at first, is box on a terminal and csv elsewhere. Without MODE: says which mode is set."},
    {".once", "FILE", "send the next result to a file", SHELL_ARG_FILE, 1, 1, run_once,
     "The file is replaced. Afterwards results go to standard output again."},
    {".open", "[DATABASE]", "open another database", SHELL_ARG_FILE, 0, 1, run_open,
     "Makes the file where there is none. Without DATABASE: a new one in memory. If it cannot be opened, the "
     "present one stays open."},
    {".output", "[FILE|stdout]", "send results to a file from now on", SHELL_ARG_FILE, 0, 1, run_output,
     "The file is replaced. Without FILE: back to standard output."},
    {".quit", "", "leave", SHELL_ARG_NONE, 0, 0, run_quit, "Ctrl-D at an empty prompt does it too."},
    {".read", "FILE", "run the statements and dot commands in a file", SHELL_ARG_FILE, 1, 1, run_read,
     "FILE may hold .read itself, up to 16 deep."},
    {".report", "FILE|off", "write what follows as a page for the browser", SHELL_ARG_FILE, 1, 1, run_report,
     "From now on each statement with its messages, the first 100 rows of its result, its picture (PLOT) and its "
     "plan. The file is replaced; it is one page of HTML that needs no network. off, or leaving, ends it."},
    {".schema", "[NAME]", "the statements that made tables and views", SHELL_ARG_OTHER, 0, 1, run_schema,
     "Out of sqlite_schema and sqlite_temp_schema; of arrays and of views that are calls, the columns (.arrays "
     "tells more). NAME: of one table and what belongs to it."},
    {".timer", "on|off", "say how long each statement took", SHELL_ARG_SWITCH, 1, 1, run_timer,
     "Wall-clock seconds on stderr, writing the result included."},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const shell_dot_command *shell_dot_at(int index)
{
    return index >= 0 && index < COMMANDS ? &commands[index] : NULL;
}

const shell_dot_command *shell_dot_find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (shell_same(commands[i].name + (name[0] != '.'), name)) return &commands[i];
    return NULL;
}

/* Cuts the line into words in place: blanks separate, '...' and "..." hold blanks. Returns how many there are, or -1
 * for a quote that is not closed; words past `most` are counted but not kept. */
static int split_words(char *line, char **word, int most)
{
    int count = 0;
    char *at = line;
    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at) return count;
        char *out = at, *begin = at;
        while (*at && !isspace((unsigned char)*at)) {
            char quote = *at == '\'' || *at == '"' ? *at : 0;
            if (!quote) {
                *out++ = *at++;
                continue;
            }
            for (at++; *at != quote; at++) {
                if (!*at) return -1;
                *out++ = *at;
            }
            at++;
        }
        if (*at) at++;
        *out = 0;
        if (count < most) word[count] = begin;
        count++;
    }
}

/* ~/file as the user's home folder says. */
static char *expand_home(const char *path)
{
    const char *home = getenv("HOME");
    shell_text text = {0};
    if (path[0] == '~' && path[1] == '/' && home) {
        shell_text_puts(&text, home);
        path++;
    }
    shell_text_puts(&text, path);
    return text.data;
}

static void report_unknown(shell_session *session, const char *name)
{
    char hint[80];
    shell_nearest nearest = {.word = name};
    for (int i = 0; i < COMMANDS; i++)
        shell_nearest_try(&nearest, commands[i].name);
    snprintf(hint, sizeof hint, "did you mean %s?", nearest.best);
    if (shell_same(name, ".tables")) { /* SQLite's shell has it */
        shell_error(session, "SHOW ARRAYS lists them; SELECT * FROM x LIMIT 3 shows one",
                    "there is no dot command %s", name);
        return;
    }
    shell_error(session, nearest.best ? hint : ".help lists the dot commands", "there is no dot command %s", name);
}

static bool run_words(shell_session *session, int words, char **word)
{
    const shell_dot_command *command = shell_dot_find(word[0]);
    int arguments = words - 1;
    if (!command || word[0][0] != '.') {
        report_unknown(session, word[0]);
        return false;
    }
    if (arguments < command->least || arguments > command->most) {
        shell_error(session, NULL, "usage: %s%s%s", command->name, command->usage[0] ? " " : "", command->usage);
        return false;
    }
    if (arguments == 0 || command->argument != SHELL_ARG_FILE) return command->run(session, arguments, word + 1);
    char *path = expand_home(word[1]);
    bool good = command->run(session, arguments, &path);
    free(path);
    return good;
}

bool shell_dot(shell_session *session, const char *line, size_t length)
{
    char *word[SHELL_DOT_ARGUMENTS + 1];
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    if (length > 1 && line[length - 1] == ';') length--; /* typed from habit */
    char *copy = shell_copy(line, length);
    int words = split_words(copy, word, SHELL_DOT_ARGUMENTS + 1);
    bool good = false;
    if (words < 0)
        shell_error(session, NULL, "a quote is not closed in %.*s", (int)length, line);
    else
        good = run_words(session, words, word);
    free(copy);
    return good;
}
