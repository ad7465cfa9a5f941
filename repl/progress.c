/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements progress.h. Called by session.c, sink.c and report.c.
 */
#include "progress.h"

#include "terminal.h"
#include "text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_BAR = 30, SHORTEST_BAR = 8, USUAL_WIDTH = 80, REST = 64 };

static const double PATIENCE = 1, PERIOD = 0.2; /* seconds */

/* "4 s", "3 min", "2.5 h" */
static void duration(double seconds, char *text, size_t size)
{
    if (seconds < 99.5)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 99.5 * 60)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* From how fast the phase has gone so far. False: too early to say. */
static bool time_left(const shell_progress *p, double now, double *left)
{
    double done = p->fraction - p->first, took = p->reported - p->since;
    if (p->fraction <= 0 || done <= 0 || took < 1) return false;
    *left = (1 - p->fraction) * took / done - (now - p->reported);
    if (*left < 0) *left = 0;
    return true;
}

/* Behind the bar: " 42 %  3.1 s, 4 s left" */
static void rest_of(const shell_progress *p, double now, char *text)
{
    char left_text[24];
    double left;
    int used = 0;
    if (p->fraction >= 0) used = snprintf(text, REST, "%3.0f %%  ", p->fraction * 100);
    used += snprintf(text + used, (size_t)(REST - used), "%.1f s", now - p->began);
    if (!time_left(p, now, &left)) return;
    duration(left, left_text, sizeof left_text);
    snprintf(text + used, (size_t)(REST - used), ", %s left", left_text);
}

static void draw(shell_progress *p, double now)
{
    static const char full[] = "##############################", empty[] = "..............................";
    char rest[REST] = "";
    int width = shell_terminal_width(STDERR_FILENO), used;
    if (width == 0) width = USUAL_WIDTH;
    rest_of(p, now, rest);
    int room = width - 1 - (int)strlen(rest) - 2; /* for the phase, and the bar with what is around it */
    int bytes = (int)shell_fit(p->phase, strlen(p->phase), room < 0 ? 0 : room, &used);
    int gap = used > 0 ? 2 : 0, rest_room = width - 1 - used - gap; /* a line that wraps would not be erased */
    if (rest_room < 0) rest_room = 0;
    int bar = room - used - 3 < LONGEST_BAR ? room - used - 3 : LONGEST_BAR;
    fprintf(stderr, "\r\033[K%.*s%*s", bytes, p->phase, gap, "");
    if (p->fraction >= 0 && bar >= SHORTEST_BAR) {
        int filled = (int)(p->fraction * bar);
        fprintf(stderr, "[%.*s%.*s] ", filled, full, bar - filled, empty);
    }
    fprintf(stderr, "%.*s", rest_room, rest);
    fflush(stderr);
    p->drawn = now;
    p->shown = true;
}

static void erase(shell_progress *p)
{
    p->drawn = shell_clock(); /* what comes now has a period's time before the bar is back */
    if (!p->shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->shown = false;
}

static void *tick(void *arg)
{
    shell_progress *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->ending) {
        double now = shell_clock();
        if (p->running && now - p->began >= PATIENCE && now - p->drawn >= PERIOD) draw(p, now);
        if (!p->running) {
            pthread_cond_wait(&p->wake, &p->lock);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(PERIOD * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->wake, &p->lock, &until);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Its clock does not jump when somebody sets the time. */
static bool make_wake(shell_progress *p)
{
    pthread_condattr_t how;
    if (pthread_condattr_init(&how) != 0) return false;
    bool good = pthread_condattr_setclock(&how, CLOCK_MONOTONIC) == 0 && pthread_cond_init(&p->wake, &how) == 0;
    pthread_condattr_destroy(&how);
    return good;
}

/* Without the thread, where there is none to be had, there is no bar. Signals are for the others. */
static bool start(shell_progress *p)
{
    sigset_t all, kept;
    if (pthread_mutex_init(&p->lock, NULL) != 0) return false;
    if (!make_wake(p)) {
        pthread_mutex_destroy(&p->lock);
        return false;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    bool good = pthread_create(&p->thread, NULL, tick, p) == 0;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    if (good) return true;
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    return false;
}

void shell_progress_begin(shell_progress *p)
{
    if (!p->enabled) return;
    if (!p->ticking) p->enabled = p->ticking = start(p);
    if (!p->ticking) return;
    pthread_mutex_lock(&p->lock);
    p->began = shell_clock();
    p->drawn = 0;
    p->fraction = -1;
    snprintf(p->phase, sizeof p->phase, "working");
    p->running = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

void shell_progress_erase(shell_progress *p)
{
    if (!p->ticking) return;
    pthread_mutex_lock(&p->lock);
    erase(p);
    pthread_mutex_unlock(&p->lock);
}

void shell_progress_end(shell_progress *p)
{
    if (!p->ticking) return;
    pthread_mutex_lock(&p->lock);
    erase(p);
    p->running = false;
    pthread_mutex_unlock(&p->lock);
}

void shell_progress_stop(shell_progress *p)
{
    if (!p->ticking) return;
    shell_progress_end(p);
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    p->ticking = p->enabled = false;
}

/* The word that a phase begins with; counts may stand behind it. */
static size_t first_word(const char *phase)
{
    return strcspn(phase, " ");
}

void shell_progress_draw(void *arg, const char *phase, double fraction)
{
    shell_progress *p = arg;
    if (!p->ticking) return;
    const char *what = phase && phase[0] ? phase : "working";
    double now = shell_clock(), part = fraction > 1 ? 1 : fraction;
    pthread_mutex_lock(&p->lock);
    bool same = first_word(what) == first_word(p->phase) && strncmp(what, p->phase, first_word(what)) == 0;
    if (!same || part < p->fraction || p->fraction < 0) {
        p->first = part;
        p->since = now;
    }
    p->fraction = part >= 0 ? part : -1;
    p->reported = now;
    snprintf(p->phase, sizeof p->phase, "%s", what);
    pthread_mutex_unlock(&p->lock);
}
