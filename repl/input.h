/* SPDX-License-Identifier: Apache-2.0
 *
 * A line from the person at the terminal. Two implementations, of which the build takes one: input_readline.c (GNU
 * readline or libedit: editing, history, TAB) and input_plain.c.
 */
#ifndef SHELL_INPUT_H
#define SHELL_INPUT_H

#include "source.h"

typedef struct shell_input shell_input;

shell_input *shell_input_open(shell_session *session);
void shell_input_close(shell_input *input);
/* SHELL_LINE: *line belongs to the caller (shell_input_free) and may hold line ends where lines were pasted. */
shell_line shell_input_line(shell_input *input, const char *prompt, char **line);
void shell_input_free(char *line);
/* Keeps a statement for the arrow keys and for the next session, unless it is the same as the last one. */
void shell_input_remember(shell_input *input, const char *statement);

#endif
