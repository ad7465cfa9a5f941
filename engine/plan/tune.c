/* SPDX-License-Identifier: Apache-2.0
 *
 * The search of TUNE in its two stages (lacis_extend_tune.h): measuring, and choosing the handful in between. What
 * ranges come of it is tune_ranges.c's. Called by operators through lacis_tune_run.
 */
#include "plan/tune.h"

#include <math.h>
#include <string.h>

enum { COARSE = 8, COARSE_RUNS = 3 };   /* sizes and repeats of the first stage */
enum { RUNS = 5 };                      /* of each visit in the second */
static const double COARSE_SHARE = 0.4; /* of the time, for the first stage */

struct search {
    lacis_run *run;
    const lacis_tune_search *wanted;
    double start;
    uint64_t state; /* of the shuffles: the same order each time */
    double *coarse; /* [size][candidate] seconds; NAN: not measured, negative: not done */
    int hand[LACIS_TUNE_HANDFUL], hands;
    struct visit {
        double seconds[LACIS_TUNE_ROUNDS + 1]; /* the first stage's among them */
        int count;
        bool refused;
    } * visit; /* [size][hand] */
    int *order;
    lacis_tune_report report;
};

static double clock_now(const lacis_tune_search *wanted)
{
    return wanted->clock == NULL ? lacis_now() : wanted->clock(wanted->context);
}

static double elapsed(const struct search *s)
{
    return clock_now(s->wanted) - s->start;
}

/* Fisher and Yates. */
static void shuffle(struct search *s, int *order, int count)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        s->state = s->state * 6364136223846793005u + 1442695040888963407u;
        int j = (int)((s->state >> 33) % (uint64_t)(i + 1)), other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
}

static lacis_status measure(struct search *s, int candidate, int size, int runs, double *seconds)
{
    const lacis_tune_search *wanted = s->wanted;
    if (lacis_run_cancelled(s->run)) return lacis_run_interrupted(s->run);
    LACIS_TRY(wanted->measure(wanted->context, candidate, wanted->size[size], runs, seconds));
    s->report.measured++;
    lacis_run_progress(s->run, wanted->phase, fmin(1, elapsed(s) / fmax(wanted->seconds, 1e-9)));
    return LACIS_OK;
}

/* ---------------------------------------------------------------------------------- the first stage */

static lacis_status coarse_size(struct search *s, int size)
{
    const int candidates = s->wanted->candidates;
    shuffle(s, s->order, candidates);
    for (int i = 0; i < candidates; i++)
        LACIS_TRY(measure(s, s->order[i], size, COARSE_RUNS, &s->coarse[size * candidates + s->order[i]]));
    return LACIS_OK;
}

/* The ends first, then what lies between. */
static lacis_status first_stage(struct search *s)
{
    static const int place[COARSE] = {7, 0, 4, 2, 6, 1, 5, 3};
    const lacis_tune_search *wanted = s->wanted;
    for (int i = 0; i < wanted->sizes * wanted->candidates; i++)
        s->coarse[i] = NAN;
    for (int i = 0; i < COARSE; i++) {
        if (i > 0 && elapsed(s) > COARSE_SHARE * wanted->seconds) break;
        int size = (place[i] * (wanted->sizes - 1) + (COARSE - 1) / 2) / (COARSE - 1);
        if (isnan(s->coarse[size * wanted->candidates])) LACIS_TRY(coarse_size(s, size));
    }
    return LACIS_OK;
}

/* How many times the best one's time a candidate takes at a size. */
static double ratio(const struct search *s, int size, int candidate)
{
    const double *row = s->coarse + size * s->wanted->candidates;
    double best = INFINITY;
    for (int c = 0; c < s->wanted->candidates; c++)
        if (row[c] >= 0 && row[c] < best) best = row[c];
    if (row[candidate] < 0) return LACIS_TUNE_NEVER;
    return row[candidate] <= best ? 1 : fmin(row[candidate] / best, LACIS_TUNE_NEVER);
}

/* The sum over sizes of what the first `beside` of the handful would take with one candidate more; -1: that one does
 * nothing at all. */
static double sum_with(const struct search *s, int more, int beside)
{
    const lacis_tune_search *wanted = s->wanted;
    double sum = 0;
    bool any = false;
    for (int size = 0; size < wanted->sizes; size++) {
        if (isnan(s->coarse[size * wanted->candidates])) continue;
        double least = ratio(s, size, more);
        any |= least < LACIS_TUNE_NEVER;
        for (int h = 0; h < beside; h++)
            least = fmin(least, ratio(s, size, s->hand[h]));
        sum += least;
    }
    return any ? sum : -1;
}

static bool in_hand(const struct search *s, int candidate)
{
    for (int h = 0; h < s->hands; h++)
        if (s->hand[h] == candidate) return true;
    return false;
}

/* The candidate outside the handful that serves the sizes best with the first `beside` of it; -1: none is left. */
static int best_with(const struct search *s, int beside, double *least)
{
    int best = -1;
    *least = INFINITY;
    for (int c = 0; c < s->wanted->candidates; c++) {
        double sum = in_hand(s, c) ? -1 : sum_with(s, c, beside);
        if (sum < 0 || sum >= *least) continue;
        *least = sum;
        best = c;
    }
    return best;
}

/* One after the other, each the one that serves the sizes best together with those before; once that gains nothing
 * any more, those that are best by themselves. */
static lacis_status choose_handful(struct search *s)
{
    const double noticeable = 1e-3;
    double before = INFINITY, sum;
    while (s->hands < LACIS_TUNE_HANDFUL) {
        int best = best_with(s, s->hands, &sum);
        if (best < 0) break;
        if (sum > before - noticeable) best = best_with(s, 0, &sum);
        if (sum < before) before = sum;
        s->hand[s->hands++] = best;
    }
    if (s->hands > 0) return LACIS_OK;
    return lacis_run_fail(s->run, LACIS_UNSUPPORTED, "%s: no candidate does any size", s->wanted->phase);
}

/* --------------------------------------------------------------------------------- the second stage */

static void keep(struct visit *visit, double seconds)
{
    if (isnan(seconds)) return;
    if (seconds < 0) visit->refused = true;
    if (seconds >= 0 && visit->count <= LACIS_TUNE_ROUNDS) visit->seconds[visit->count++] = seconds;
}

static lacis_status second_stage(struct search *s)
{
    const lacis_tune_search *wanted = s->wanted;
    const int visits = wanted->sizes * s->hands;
    for (int i = 0; i < visits; i++) {
        s->visit[i] = (struct visit){.count = 0};
        keep(&s->visit[i], s->coarse[i / s->hands * wanted->candidates + s->hand[i % s->hands]]);
    }
    for (int round = 0; round < LACIS_TUNE_ROUNDS; round++) {
        shuffle(s, s->order, visits);
        for (int i = 0; i < visits; i++) {
            struct visit *visit = &s->visit[s->order[i]];
            double seconds;
            if (visit->refused) continue;
            if (elapsed(s) >= wanted->seconds) return LACIS_OK;
            LACIS_TRY(measure(s, s->hand[s->order[i] % s->hands], s->order[i] / s->hands, RUNS, &seconds));
            keep(visit, seconds);
        }
        s->report.rounds++;
    }
    return LACIS_OK;
}

static double median(const struct visit *visit)
{
    double sorted[LACIS_TUNE_ROUNDS + 1];
    for (int i = 0; i < visit->count; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > visit->seconds[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = visit->seconds[i];
    }
    return (sorted[(visit->count - 1) / 2] + sorted[visit->count / 2]) / 2;
}

/* Sizes at which all of the handful are known. */
static void settle(struct search *s, lacis_tune_times *times)
{
    times->hands = s->hands;
    times->sizes = 0;
    for (int size = 0; size < s->wanted->sizes; size++) {
        const struct visit *visit = s->visit + size * s->hands;
        bool known = true, any = false;
        for (int h = 0; h < s->hands; h++) {
            known = known && (visit[h].refused || visit[h].count > 0);
            any |= !visit[h].refused;
            times->seconds[times->sizes * s->hands + h] =
                visit[h].refused || visit[h].count == 0 ? -1 : median(&visit[h]);
        }
        if (known && any) times->size[times->sizes++] = s->wanted->size[size];
    }
}

static lacis_status take_memory(struct search *s, lacis_tune_times *times)
{
    const uint64_t sizes = (uint64_t)s->wanted->sizes, candidates = (uint64_t)s->wanted->candidates;
    const uint64_t hands = LACIS_TUNE_HANDFUL, most = sizes * hands > candidates ? sizes * hands : candidates;
    LACIS_TRY(lacis_run_scratch(s->run, sizeof(double) * sizes * candidates, &s->coarse));
    LACIS_TRY(lacis_run_scratch(s->run, sizeof(struct visit) * sizes * hands, &s->visit));
    LACIS_TRY(lacis_run_scratch(s->run, sizeof(int) * most, &s->order));
    LACIS_TRY(lacis_run_scratch(s->run, sizeof(double) * sizes * hands, &times->seconds));
    return lacis_run_scratch(s->run, sizeof(int64_t) * sizes, &times->size);
}

static lacis_status report_curves(struct search *s, const lacis_tune_times *times)
{
    const char **name;
    char *text;
    LACIS_TRY(lacis_run_scratch(s->run, sizeof *name * LACIS_TUNE_HANDFUL, &name));
    LACIS_TRY(lacis_run_scratch(s->run, (uint64_t)LACIS_TUNE_HANDFUL * LACIS_TUNE_TEXT, &text));
    for (int h = 0; h < s->hands; h++, text += LACIS_TUNE_TEXT)
        name[h] = s->wanted->name(s->wanted->context, s->hand[h], text);
    s->report.curves = (lacis_tune_curves){times->sizes, times->hands, times->size, times->seconds, name};
    return LACIS_OK;
}

lacis_status lacis_tune_run(lacis_run *run, const lacis_tune_search *search, lacis_tune_table *out,
                            lacis_tune_report *report)
{
    struct search s = {.run = run, .wanted = search, .start = clock_now(search), .state = 1};
    lacis_tune_times times;
    int hand[LACIS_TUNE_RANGES];
    LACIS_TRY(take_memory(&s, &times));
    LACIS_TRY(first_stage(&s));
    LACIS_TRY(choose_handful(&s));
    LACIS_TRY(second_stage(&s));
    settle(&s, &times);
    const int ranges = search->ranges > 0 ? search->ranges : LACIS_TUNE_RANGES;
    LACIS_TRY(lacis_tune_ranges(run, &times, ranges, out, hand));
    for (int i = 0; i < out->ranges; i++)
        search->name(search->context, s.hand[hand[i]], out->range[i].choice);
    s.report.handful = s.hands;
    s.report.sizes = times.sizes;
    s.report.seconds = elapsed(&s);
    LACIS_TRY(report_curves(&s, &times));
    if (report != NULL) *report = s.report;
    return LACIS_OK;
}
