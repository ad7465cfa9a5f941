/* SPDX-License-Identifier: Apache-2.0
 *
 * From times at sizes to ranges of sizes: a shortest way through a table of (size, candidate, ranges so far). Called
 * by tune.c.
 */
#include "plan/tune.h"

#include <math.h>

struct step {
    double lost;
    int from; /* the candidate at the size before; the ranges so far follow from it */
};

struct ways {
    const lacis_tune_times *times;
    int most;          /* ranges */
    struct step *step; /* [size][hand][ranges - 1] */
};

static struct step *step_at(const struct ways *ways, int size, int hand, int ranges)
{
    return &ways->step[(size * ways->times->hands + hand) * LACIS_TUNE_RANGES + ranges - 1];
}

static double seconds_at(const lacis_tune_times *times, int size, int hand)
{
    return times->seconds[size * times->hands + hand];
}

/* What a candidate loses at a size, as a part of the best one's time. */
static double loss(const lacis_tune_times *times, int size, int hand)
{
    double best = INFINITY, own = seconds_at(times, size, hand);
    for (int h = 0; h < times->hands; h++) {
        double seconds = seconds_at(times, size, h);
        if (seconds >= 0 && seconds < best) best = seconds;
    }
    if (own < 0) return LACIS_TUNE_NEVER;
    return own <= best ? 0 : fmin(own / best - 1, LACIS_TUNE_NEVER);
}

/* Whether taking `to` where `from` served gains enough at that size. */
static bool gains(const lacis_tune_times *times, int size, int from, int to)
{
    double before = seconds_at(times, size, from), after = seconds_at(times, size, to);
    return after >= 0 && (before < 0 || before > (1 + LACIS_TUNE_GAIN) * after);
}

static void one_step(struct ways *ways, int size, int hand, int ranges)
{
    struct step *step = step_at(ways, size, hand, ranges);
    *step = (struct step){INFINITY, -1};
    if (size == 0) {
        if (ranges == 1) step->lost = loss(ways->times, 0, hand);
        return;
    }
    *step = (struct step){step_at(ways, size - 1, hand, ranges)->lost, hand};
    for (int from = 0; ranges > 1 && from < ways->times->hands; from++) {
        if (from == hand || !gains(ways->times, size, from, hand)) continue;
        double lost = step_at(ways, size - 1, from, ranges - 1)->lost + LACIS_TUNE_GAIN;
        if (lost < step->lost) *step = (struct step){lost, from};
    }
    step->lost += loss(ways->times, size, hand);
}

/* Back along the cheapest way; candidates of sizes in chosen. */
static void trace(const struct ways *ways, int *chosen)
{
    const int last = ways->times->sizes - 1;
    int hand = 0, ranges = 1;
    for (int h = 0; h < ways->times->hands; h++)
        for (int r = 1; r <= ways->most; r++)
            if (step_at(ways, last, h, r)->lost < step_at(ways, last, hand, ranges)->lost) hand = h, ranges = r;
    for (int size = last; size >= 0; size--) {
        int from = step_at(ways, size, hand, ranges)->from;
        chosen[size] = hand;
        if (from != hand) ranges--;
        hand = from;
    }
}

static void collect(const lacis_tune_times *times, const int *chosen, lacis_tune_table *table, int *hand)
{
    table->ranges = 0;
    for (int size = 0; size < times->sizes; size++) {
        if (size > 0 && chosen[size] == chosen[size - 1]) continue;
        int64_t from = 1;
        if (size > 0) from = times->size[size - 1] + (times->size[size] - times->size[size - 1]) / 2 + 1;
        hand[table->ranges] = chosen[size];
        table->range[table->ranges++] = (lacis_tune_range){.from = from};
    }
}

lacis_status lacis_tune_ranges(lacis_run *run, const lacis_tune_times *times, int most, lacis_tune_table *table,
                               int *hand)
{
    struct ways ways = {.times = times, .most = most};
    const uint64_t steps = (uint64_t)times->sizes * (uint64_t)times->hands * LACIS_TUNE_RANGES;
    int *chosen;
    LACIS_TRY(lacis_run_scratch(run, sizeof *chosen * (uint64_t)times->sizes, &chosen));
    LACIS_TRY(lacis_run_alloc(run, sizeof(struct step) * steps, &ways.step));
    for (int size = 0; size < times->sizes; size++)
        for (int h = 0; h < times->hands; h++)
            for (int ranges = 1; ranges <= most; ranges++)
                one_step(&ways, size, h, ranges);
    trace(&ways, chosen);
    lacis_run_free(run, ways.step);
    collect(times, chosen, table, hand);
    return LACIS_OK;
}
