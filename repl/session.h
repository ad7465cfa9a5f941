/* SPDX-License-Identifier: Apache-2.0
 *
 * The session: everything the shell knows between statements. main.c makes one; source.c brings lines, run.c makes
 * statements of them, session.c executes one, dot.c holds the dot commands, report.c speaks to stderr.
 */
#ifndef SHELL_SESSION_H
#define SHELL_SESSION_H

#include "html.h"
#include "lacis.h"
#include "progress.h"
#include "render.h"
#include "sink.h"
#include "terminal.h"
#include "text.h"

#include <stdio.h>

/* -v name=value: bound to :name wherever a statement uses it. */
typedef struct shell_parameter {
    char *name;
    char *text;
    lacis_type type; /* LACIS_INTEGER, LACIS_REAL or LACIS_TEXT */
    int64_t integer;
    double real;
} shell_parameter;

/* Where the text that runs now comes from, for messages. */
typedef struct shell_place {
    const char *name; /* of a file; NULL: -c or the prompt */
    int64_t line;     /* of the first line of `text` */
    const char *text; /* NULL: between statements; messages then name `line` */
} shell_place;

struct shell_input;

typedef struct shell_session {
    lacis_engine *engine;
    lacis_ranks *ranks; /* NULL: this process is alone */
    char *database;     /* NULL: in memory */
    const shell_parameter *parameter;
    int parameters;

    shell_sink *standard;   /* standard output */
    shell_sink *file;       /* .output or .once; NULL: none */
    bool once;              /* `file` ends with the next statement */
    const shell_mode *mode; /* NULL: box on a terminal, else csv */
    int64_t row_limit;      /* of framed modes; 0: all; -1: not set */
    bool timer, bail;
    FILE *log;        /* NULL: stderr */
    shell_html *html; /* .report; NULL: none */
    bool planning;    /* for the report: notes and warnings will come again */
    bool silent;      /* .log off */

    shell_images images; /* what the terminal takes */

    bool interactive;
    struct shell_input *input; /* interactive: the line editor */
    shell_text pending;        /* interactive: lines of the unfinished statement, for completion */
    shell_progress progress;
    shell_place place;
    int depth; /* of .read in .read */

    bool failed;      /* a statement or dot command failed */
    bool interrupted; /* Ctrl-C ended a script, or was pressed twice */
    bool leaving;     /* .quit, or nothing more can be written */
    bool stopped;     /* Ctrl-C: back to the prompt, whatever is being read */
    bool cannot_open; /* a file of the command line */
} shell_session;

/* Opens a database (NULL: in memory) in place of the present one, which stays if that fails. */
bool shell_session_open(shell_session *session, const char *path);
void shell_session_close(shell_session *session);

/* Runs the statements of text, which place describes. False: the rest of the script should not run. */
bool shell_session_text(shell_session *session, const char *text);
/* Behind blanks, whole comments and stray semicolons. */
const char *shell_skip_blank(const char *text);
/* Runs one statement of the shell's own, such as SHOW ARRAYS. */
bool shell_session_own(shell_session *session, const char *statement);
/* The text of the first column of each row of a statement, line by line; false with nothing said if it fails. `name`,
 * unless NULL, is bound to :name. */
bool shell_session_lines(shell_session *session, const char *statement, const char *name);

shell_sink *shell_session_sink(shell_session *session);
/* Sends results to a file from now on (or, once, for one statement); NULL: to standard output. */
bool shell_session_output(shell_session *session, const char *path, bool once);
/* Ends the report of .report, where there is one, and begins another one at `path` (NULL: none). */
bool shell_session_report(shell_session *session, const char *path);
/* Flushes what was written, reports what could not be, and ends .once after a statement or a dot command that wrote.
 */
bool shell_session_written(shell_session *session, bool statement);
/* After Ctrl-C outside of a statement, or in one: a script ends, a session goes back to its prompt. */
void shell_session_interrupted(shell_session *session);
int shell_session_exit_code(const shell_session *session);

/* run.c: runs all that a file (NULL: standard input) or a text holds; false as shell_session_text. */
bool shell_run_file(shell_session *session, const char *path);
bool shell_run_text(shell_session *session, const char *text);
void shell_run_interactive(shell_session *session);

/* dot.c: runs the dot command in `line` (no line end). False: it failed. */
bool shell_dot(shell_session *session, const char *line, size_t length);

/* report.c: everything that goes to stderr. */
void shell_error(shell_session *session, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The engine's present error, in the statement that begins at `statement`. */
void shell_engine_error(shell_session *session, const char *statement);
void shell_note(shell_session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));
void shell_log(void *session, lacis_level level, const char *message); /* a lacis_log_fn */

#endif
