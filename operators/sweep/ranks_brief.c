/* SPDX-License-Identifier: Apache-2.0
 *
 * How a grid is spread over ranks: over how many, how deep their halos are, and whether something is computed while
 * they are on their way. Used by ranks.c and ranks_deal.c.
 */
#include "sweep/ranks.h"

#include <string.h>

enum { TIMELINE = 1 << 16 }; /* lines of a part, at most; there are no more exchanges than steps, and one */

/* So many steps on one exchange that what is computed twice stays below about an eighth along each cut axis. Each
 * exchange costs a few messages' latency, and steps in one pass over memory are worth more than that. */
static bool fits(const lacis_sweep_work *work, lacis_sweep_brief *brief, int parts, int deep, int share)
{
    lacis_sweep_cut cut;
    char why[200];
    brief->deep = deep * share;
    const bool there = lacis_sweep_ranks_cut(work, brief, parts, &cut, why, sizeof why);
    brief->deep = deep;
    return there;
}

int lacis_sweep_ranks_parts(const lacis_sweep_work *work)
{
    const int ranks = lacis_run_ranks(work->run), asked = work->exchange.parts;
    return asked > 0 && asked < ranks ? asked : ranks;
}

/* Steps on an exchange where nothing is said: what kernels do in one pass over a part, on GPUs several passes. */
static int usual(const lacis_sweep_work *work, bool gpu, int parts)
{
    enum { MOST = 16, WRITTEN_MOST = 4 };
    lacis_sweep_start whole, part;
    lacis_sweep_cut cut;
    char why[200];
    if (!gpu) return lacis_sweep_written(work) ? WRITTEN_MOST : MOST;
    lacis_sweep_start_of(work, NULL, &whole);
    if (!lacis_sweep_cut_slabs(&whole, parts, 1, &cut, why, sizeof why)) return 1;
    lacis_sweep_cut_start(&whole, &cut, 0, &part);
    return (int)lacis_sweep_best_depth(work, &part, parts, lacis_sweep_share_gpu_levels(&part));
}

/* GPUs do several steps in a pass over slabs, whose borders go ahead of them; parts that are cut along x as well are
 * not blocked there. So depths count of slabs alone; EXCHANGE, which overrules what is chosen, takes other cuts too.
 */
void lacis_sweep_ranks_brief(const lacis_sweep_work *work, bool gpu, int parts, lacis_sweep_brief *brief)
{
    enum { THIN = 8, SLABS_THIN = 2 };
    const double stretch = lacis_sweep_stretch(work);
    const lacis_sweep_exchange *exchange = &work->exchange;
    *brief = (lacis_sweep_brief){.levels = work->levels, .gpu = gpu, .slabs = gpu};
    memcpy(brief->extent, work->grid.extent, sizeof brief->extent);
    int deep = work->levels > 0 ? work->levels : usual(work, gpu, parts);
    if ((double)deep > stretch) deep = stretch > 1 ? (int)stretch : 1;
    while (work->levels == 0 && deep > 1 && !fits(work, brief, parts, deep, gpu ? SLABS_THIN : THIN))
        deep /= 2;
    if (exchange->every > 0) deep = exchange->every;
    brief->deep = deep > 1 ? deep : 1;
    brief->slabs = gpu && brief->deep > 1 && fits(work, brief, parts, brief->deep, 1);
    brief->overlap = exchange->overlap == LACIS_SWEEP_AS_BEST ? brief->deep == 1 || brief->slabs
                                                              : exchange->overlap == LACIS_SWEEP_ASYNC;
    if (exchange->to != NULL) brief->lines = work->steps < TIMELINE ? work->steps + 1 : TIMELINE;
}
