/* SPDX-License-Identifier: Apache-2.0
 *
 * What SWEEP costs on the CPU: bytes that steps move over memory, or the sums that they form where that is more, at
 * rates that CALIBRATE measured; several steps a pass move them once. Called by the planner, and by the GPU's costs
 * for what both share.
 */
#include "sweep/system.h"

#include <stdlib.h>

/* Where nobody has calibrated: two threads of an AMD EPYC (Zen 4), AVX-512. */
#define RATE       14e9 /* bytes a second, as lacis_sweep_step_bytes counts them, by all threads */
#define CACHE_RATE 8.0  /* times as fast where all of it stays in cache */
static const char rate_figure[] = "sweep.bytes_per_second";
static const struct {
    const char *name;
    double ns; /* a tap of a cell, on one thread, in cache */
} tap_figure[] = {[LACIS_SWEEP_F32] = {"sweep.f32.tap_ns", 0.03}, [LACIS_SWEEP_F64] = {"sweep.f64.tap_ns", 0.06}};
static const double WRITTEN = 8;                  /* times that, a slot of an expression in strips */
enum { USUAL_LEVELS = 8 };                        /* of a pass, as kernels choose them for large grids */
static const double CACHE = 1 << 21, AGAIN = 1.1; /* bytes a thread; of cells, those done twice counted twice */

const char *lacis_sweep_rate_figure(void)
{
    return rate_figure;
}

const char *lacis_sweep_tap_figure(lacis_sweep_type type)
{
    return tap_figure[type].name;
}

/* ------------------------------------------------------------------------------------------- amounts */

double lacis_sweep_result_bytes(const lacis_sweep_work *work)
{
    return (double)lacis_sweep_size(work->type) * (double)work->grid.cells * work->grid.fields;
}

double lacis_sweep_step_bytes(const lacis_sweep_work *work)
{
    const double array = (double)lacis_sweep_size(work->type) * (double)work->grid.cells;
    return array * (2 * work->grid.fields + work->coefficients);
}

double lacis_sweep_taps(const lacis_sweep_work *work)
{
    double taps = 0;
    for (int i = 0; i < work->grid.fields; i++)
        taps += work->formula[i].rule.taps;
    return taps;
}

bool lacis_sweep_written(const lacis_sweep_work *work)
{
    for (int i = 0; i < work->grid.fields; i++)
        if (work->formula[i].rule.written) return true;
    return false;
}

static double lesser(double a, int64_t every)
{
    return every > 0 && (double)every < a ? (double)every : a;
}

double lacis_sweep_stretch(const lacis_sweep_work *work)
{
    return lesser(lesser(lesser((double)work->steps, work->check), work->rows), work->keep);
}

/* Rows of NAME_change, gathered and then put into a table. With UNTIL, STEPS is only the most that may be done, often
 * far too many: the list asks for more as it grows. */
double lacis_sweep_rows_bytes(const lacis_sweep_work *work)
{
    const double row = 3 * sizeof(double), gathered = 3, usual = 1e6; /* gathered: times, while the list grows */
    if (work->rows == 0) return 0;
    const double rows = (double)work->steps / (double)work->rows + 1;
    return gathered * row * (work->check > 0 && rows > usual ? usual : rows);
}

/* ----------------------------------------------------------------------------------------------- can */

/* Several steps a pass are a way of their own, unless LEVELS or what is looked at on the way leaves one alone. */
bool lacis_sweep_can(const lacis_call *call, int way, char *reason, size_t size)
{
    const lacis_sweep_work *work = call->work;
    if (way == LACIS_SWEEP_SINGLE) {
        if (work->levels <= 1) return true;
        snprintf(reason, size, "LEVELS asks for %d steps in a pass", work->levels);
        return false;
    }
    if (work->levels == 1) {
        snprintf(reason, size, "LEVELS 1 asks for one step a pass");
        return false;
    }
    if (lacis_sweep_stretch(work) >= 2 || work->levels > 1) return true;
    snprintf(reason, size,
             work->steps < 2 ? "there are no two steps to be done in a pass"
                             : "each step is looked at, so that none can be done together");
    return false;
}

/* ---------------------------------------------------------------------------------------------- cost */

static int levels_of(const lacis_sweep_work *work, int way)
{
    const double stretch = lacis_sweep_stretch(work);
    int levels = way == LACIS_SWEEP_SINGLE ? 1 : work->levels > 0 ? work->levels : USUAL_LEVELS;
    if ((double)levels > stretch && stretch >= 1) levels = (int)stretch;
    return levels;
}

static double arithmetic(const lacis_sweep_work *work, const lacis_profile *profile)
{
    const double tap = lacis_profile_get(profile, tap_figure[work->type].name, tap_figure[work->type].ns);
    double taps = 0;
    for (int i = 0; i < work->grid.fields; i++)
        taps += (work->formula[i].rule.taps + 1) * (work->formula[i].rule.written ? WRITTEN : 1);
    return 1e-9 * tap * taps * (double)work->grid.cells;
}

static void estimate(const lacis_sweep_work *work, int way, const lacis_profile *profile, double threads,
                     lacis_sweep_estimate *out)
{
    lacis_sweep_start start;
    const double bytes = lacis_sweep_step_bytes(work), begin = 2e-6;
    double rate = lacis_profile_get(profile, rate_figure, RATE);
    lacis_sweep_start_of(work, NULL, &start);
    start.levels = way == LACIS_SWEEP_SINGLE ? 1 : work->levels;
    *out = (lacis_sweep_estimate){.known = true, .levels = levels_of(work, way)};
    if (bytes < CACHE * threads) rate *= CACHE_RATE;
    out->bytes = bytes / out->levels;
    out->memory = (double)lacis_sweep_bytes(&start);
    if (lacis_sweep_written(work)) out->memory += (double)lacis_sweep_programs_bytes(work, (int)threads);
    const double moved = out->bytes / rate;
    const double sums = arithmetic(work, profile) / threads * (out->levels > 1 ? AGAIN : 1);
    out->step = begin / out->levels + (moved > sums ? moved : sums);
}

lacis_status lacis_sweep_cost(lacis_run *run, const lacis_call *call, int way, const lacis_profile *profile,
                              lacis_cost *out)
{
    lacis_sweep_work *work = call->work;
    const double begin = 2e-6, copy = 2 * lacis_sweep_result_bytes(work) / RATE;
    estimate(work, way, profile, lacis_run_threads(run), &work->cpu[way]);
    const lacis_sweep_estimate *e = &work->cpu[way];
    *out = (lacis_cost){.seconds = begin + copy + e->step * (double)work->steps,
                        .products = (double)work->steps * (double)work->grid.cells * work->grid.fields,
                        .entries = (double)work->grid.cells,
                        .bytes = lacis_sweep_result_bytes(work),
                        .kind = lacis_sweep_written(work) ? "written" : "linear"};
    out->peak_bytes = out->bytes + e->memory + (double)lacis_sweep_take_bytes(work) + lacis_sweep_rows_bytes(work);
    return LACIS_OK;
}
