/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements progress.h. Called by session.c and report.c.
 */
#include "progress.h"

#include "terminal.h"
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 30, PHASE = 24 };

void shell_progress_begin(shell_progress *progress)
{
    progress->began = shell_clock();
    progress->drawn = 0;
}

void shell_progress_erase(shell_progress *progress)
{
    if (!progress->shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->shown = false;
}

void shell_progress_draw(void *arg, const char *phase, double fraction)
{
    shell_progress *progress = arg;
    double now = shell_clock();
    if (!progress->enabled || now - progress->began < 1 || now - progress->drawn < 0.1) return;
    int used, width = shell_terminal_width(STDERR_FILENO);
    const char *what = phase && phase[0] ? phase : "working";
    int bytes = (int)shell_fit(what, strlen(what), PHASE, &used);
    progress->drawn = now;
    progress->shown = true;
    fprintf(stderr, "\r\033[K%.*s  ", bytes, what);
    if (fraction >= 0) {
        double part = fraction > 1 ? 1 : fraction;
        int filled = (int)(part * BAR);
        if (width == 0 || width > PHASE + BAR + 24)
            fprintf(stderr, "[%.*s%.*s] ", filled, "##############################", BAR - filled,
                    "..............................");
        fprintf(stderr, "%3.0f %%  ", part * 100);
    }
    fprintf(stderr, "%.1f s", now - progress->began);
    fflush(stderr);
}
