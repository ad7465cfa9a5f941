/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress bar: one line on stderr, only on a terminal and only for work of more than a second; it is erased
 * before anything else is written and when the work ends.
 */
#ifndef SHELL_PROGRESS_H
#define SHELL_PROGRESS_H

#include <stdbool.h>

typedef struct shell_progress {
    bool enabled;
    bool shown;
    double began, drawn; /* shell_clock */
} shell_progress;

void shell_progress_begin(shell_progress *progress);
void shell_progress_erase(shell_progress *progress);
void shell_progress_draw(void *progress, const char *phase, double fraction); /* a lacis_progress_fn */

#endif
