/* SPDX-License-Identifier: Apache-2.0
 *
 * .report FILE: a page of what the session does from then on: each statement with its messages, the first rows of its
 * result, its picture and its plan. The page needs nothing but itself. session.c, render.c, report.c and
 * plot_command.c tell it what happens; all of these functions do nothing where `html` is NULL.
 */
#ifndef SHELL_HTML_H
#define SHELL_HTML_H

#include "lacis.h"
#include "text.h"

enum { SHELL_HTML_ROWS = 100 }; /* of each result */

typedef struct shell_html shell_html;

/* Replaces the file. NULL: errno says why not. */
shell_html *shell_html_open(const char *path, const char *database);
/* False: not all of it could be written; errno says why. */
bool shell_html_close(shell_html *html);

/* Of the statement that runs, in any order: */
void shell_html_columns(shell_html *html, lacis_statement *statement, int columns);
void shell_html_row(shell_html *html, lacis_statement *statement);
void shell_html_message(shell_html *html, const char *kind, const char *message);
void shell_html_picture(shell_html *html, const shell_text *svg);
void shell_html_plan(shell_html *html, const char *line);

/* Its text, rows in all (-1: not known) and seconds: writes what was gathered. False as of shell_html_close. */
bool shell_html_statement(shell_html *html, const char *text, size_t length, int64_t rows, double seconds);
const char *shell_html_path(const shell_html *html);

#endif
