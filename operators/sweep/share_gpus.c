/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether GPUs of this process share a sweep in slabs, how many, and how often they exchange rows. Asked by
 * system_gpu.c, and by system_gpus.c, which makes the slabs.
 */
#include "sweep/device.h"
#include "sweep/ranks.h"

#ifdef LACIS_GPU_KERNELS

#include "sweep/gpu_several.h"

/* Worth sharing, and worth starting devices for: seconds that one takes at so many bytes a second. */
static const double SHARED = 0.02, STARTED = 3, RATE = 3.9e12;

int lacis_sweep_gpus_deep(const lacis_sweep_work *work, int levels, int parts, lacis_sweep_cut *cut,
                          char why[LACIS_SWEEP_WHY])
{
    lacis_sweep_start start, slab;
    lacis_sweep_start_of(work, NULL, &start);
    start.levels = levels;
    if (!lacis_sweep_cut_slabs(&start, parts, 1, cut, why, LACIS_SWEEP_WHY)) return 0;
    lacis_sweep_cut_start(&start, cut, 0, &slab);
    int64_t deep = lacis_sweep_best_depth(work, &slab, parts, levels == 1 ? 1 : lacis_sweep_gpu_levels(&slab));
    const double stretch = lacis_sweep_stretch(work);
    if ((double)deep > stretch) deep = stretch > 1 ? (int64_t)stretch : 1;
    if (work->exchange.every > 0) deep = work->exchange.every;
    while (work->exchange.every == 0 && deep > 1 &&
           !lacis_sweep_cut_slabs(&start, parts, (int)deep, cut, why, LACIS_SWEEP_WHY))
        deep /= 2;
    return lacis_sweep_cut_slabs(&start, parts, (int)deep, cut, why, LACIS_SWEEP_WHY) ? (int)deep : 0;
}

bool lacis_sweep_gpus_wait(const lacis_sweep_work *work, const lacis_sweep_cut *cut)
{
    if (work->exchange.overlap != LACIS_SWEEP_AS_BEST) return work->exchange.overlap == LACIS_SWEEP_SYNC;
    return cut->deep > 1;
}

/* What slab k's GPU gives: its arrays, once as they come and once as kernels have them. */
static uint64_t slab_takes(const lacis_sweep_work *work, const lacis_sweep_start *whole, const lacis_sweep_cut *cut,
                           int k)
{
    const lacis_sweep_share share = {.work = work, .cut = *cut};
    return lacis_sweep_share_arrays_bytes(&share, k) +
           lacis_sweep_gpus_bytes(whole, cut, lacis_sweep_gpus_wait(work, cut), k);
}

/* Whether each has room for its slab. *need, *left: of the first that has not. */
static bool have_room(const lacis_sweep_work *work, int levels, int many, lacis_gpu *const *gpu, double *need,
                      double *left)
{
    lacis_sweep_start whole;
    lacis_sweep_cut cut;
    char why[LACIS_SWEEP_WHY];
    if (lacis_sweep_gpus_deep(work, levels, many, &cut, why) == 0) return true; /* told where they begin */
    lacis_sweep_start_of(work, NULL, &whole);
    whole.levels = levels;
    for (int k = 0; k < many; k++) {
        *need = (double)slab_takes(work, &whole, &cut, k);
        *left = (double)lacis_gpu_memory_left(gpu[k]);
        if (*need > *left) return false;
    }
    return true;
}

/* As many as PARTS allows, whose slabs are thick enough for a step; where EXCHANGE EVERY makes them too thin that is
 * an error. */
static int most_of(const lacis_sweep_work *work, int many)
{
    lacis_sweep_start start;
    lacis_sweep_cut cut;
    char why[LACIS_SWEEP_WHY];
    const int asked = work->exchange.parts;
    lacis_sweep_start_of(work, NULL, &start);
    if (many > LACIS_SWEEP_GPUS_MOST) many = LACIS_SWEEP_GPUS_MOST;
    if (asked > 0 && asked < many) many = asked;
    while (many > 1 && !lacis_sweep_cut_slabs(&start, many, 1, &cut, why, LACIS_SWEEP_WHY))
        many--;
    return many;
}

int lacis_sweep_gpus_for(const lacis_sweep_work *work, int levels, bool start, lacis_gpu **gpu)
{
    const double mega = 1e-6;
    double need = 0, left = 0;
    const bool forced = lacis_run_gpus_forced(work->run);
    const double seconds = lacis_sweep_step_bytes(work) / RATE * (double)work->steps;
    if (gpu[0] == NULL || lacis_run_team(work->run) != NULL || (!forced && seconds < SHARED)) return 1;
    const int many = most_of(work, lacis_run_gpus(work->run, start && (forced || seconds >= STARTED), gpu));
    if (many < 2 || have_room(work, levels, many, gpu, &need, &left)) return many;
    if (start)
        lacis_run_note(
            work->run, LACIS_NOTE,
            "SWEEP: one GPU has the grid: a slab for each of %d takes %.4g MB, of which one has %.4g MB left", many,
            mega * need, mega * left);
    return 1;
}

#endif
