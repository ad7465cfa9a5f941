/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line: one table for parsing and --help.
 */
#ifndef SHELL_OPTIONS_H
#define SHELL_OPTIONS_H

#include "session.h"

/* One -c or -f, in the order given. */
typedef struct shell_job {
    const char *text; /* -c */
    const char *file; /* -f; "-" is standard input */
} shell_job;

typedef struct shell_options {
    shell_job *job;
    int jobs;
    shell_parameter *parameter;
    int parameters;
    const shell_mode *mode;
    const char *database;
    bool help, reference, version;
} shell_options;

/* False: the command line is wrong, which was said on stderr. Strings stay those of argv. */
bool shell_options_parse(int argc, char **argv, shell_options *out);
void shell_options_free(shell_options *options);
void shell_options_help(void); /* on standard output */

#endif
