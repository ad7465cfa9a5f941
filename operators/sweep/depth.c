/* SPDX-License-Identifier: Apache-2.0
 *
 * How many steps follow on an exchange between slabs on GPUs. Used by system_gpus.c for those of this process, by
 * ranks.c for ranks'.
 */
#include "sweep/ranks.h"

#include <math.h>

static const double RATE = 3.9e12;   /* bytes a second of a GPU's memory */
static const double EXCHANGE = 3e-5; /* seconds that an exchange takes */
enum { MOST_DEEP = 64, THICK = 8 };  /* steps on an exchange; of a slab's thickness one part */

/* An exchange that is waited for takes EXCHANGE seconds, and rows that neighbours compute as well take theirs: so
 * many steps that both together are least. */
int64_t lacis_sweep_best_depth(const lacis_sweep_work *work, const lacis_sweep_start *slab, int parts, int levels)
{
    const int axis = work->grid.dims - 1;
    const double step = lacis_sweep_step_bytes(work) / parts / RATE / levels;
    int64_t reach[3];
    lacis_sweep_reach(slab, reach);
    const double rows = (double)slab->extent[axis] / (double)(reach[axis] > 0 ? reach[axis] : 1);
    double best = sqrt(rows * EXCHANGE / step);
    if (best > rows / THICK) best = rows / THICK;
    if (best > MOST_DEEP) best = MOST_DEEP;
    return best > levels ? (int64_t)best / levels * levels : levels;
}
