/* SPDX-License-Identifier: Apache-2.0
 *
 * The dot commands: one table, from which running, .help, completion and nearest-name hints work. docs/lacis.1
 * repeats its usage lines; tests/repl checks that they agree.
 */
#ifndef SHELL_DOT_H
#define SHELL_DOT_H

#include "session.h"

enum { SHELL_DOT_ARGUMENTS = 4 };

typedef enum shell_argument {
    SHELL_ARG_NONE,
    SHELL_ARG_FILE,
    SHELL_ARG_MODE,
    SHELL_ARG_SWITCH, /* on or off */
    SHELL_ARG_TOPIC,
    SHELL_ARG_OTHER
} shell_argument;

typedef struct shell_dot_command {
    const char *name;  /* with its dot */
    const char *usage; /* what stands behind the name */
    const char *summary;
    shell_argument argument; /* for completion */
    int least, most;         /* arguments */
    bool (*run)(shell_session *session, int arguments, char **argument);
    const char *details; /* for .help NAME */
} shell_dot_command;

const shell_dot_command *shell_dot_at(int index);          /* NULL past the last */
const shell_dot_command *shell_dot_find(const char *name); /* with or without the dot */

/* help.c */
bool shell_help(shell_session *session, int arguments, char **argument); /* .help */
/* Hands the verb of each operator that the engine has to fn, with its usage and summary. */
typedef void (*shell_verb_fn)(void *arg, const char *verb, const char *usage, const char *summary);
void shell_verbs(shell_session *session, shell_verb_fn fn, void *arg);

#endif
