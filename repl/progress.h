/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress bar: one line on stderr, only on a terminal and only for work of more than a second: what is done, how
 * far it has come, for how long, and how long it will take. A thread of its own draws it, so that it moves even where
 * the engine has nothing to report for a while. It gives way before anything else is written, and stays away for the
 * rest of a statement whose rows have begun to show: on the terminal, or through a pipe, behind which a pager may
 * have the terminal. Only an ordinary file shows nothing.
 */
#ifndef SHELL_PROGRESS_H
#define SHELL_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>

enum { SHELL_PHASE = 80 }; /* bytes of a phase that are kept */

typedef struct shell_progress {
    bool enabled; /* set before the first statement */
    /* The rest is progress.c's, under `lock` once the thread runs. */
    bool ticking; /* the thread is there */
    bool running; /* a statement runs and may show the bar */
    bool ending, shown;
    double began, drawn; /* shell_clock */
    char phase[SHELL_PHASE];
    double fraction, reported; /* the last report, and when it came */
    double first, since;       /* the first one of the phase */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
} shell_progress;

void shell_progress_begin(shell_progress *progress); /* a statement begins */
void shell_progress_erase(shell_progress *progress); /* something else is about to be written to stderr */
void shell_progress_end(shell_progress *progress);   /* the statement ends, or its rows are about to show */
void shell_progress_stop(shell_progress *progress);  /* the session ends */
void shell_progress_draw(void *progress, const char *phase, double fraction); /* a lacis_progress_fn */

#endif
