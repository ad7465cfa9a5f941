/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of slabs. The host puts work on all devices' streams and waits for none of them; events say what must come
 * before what.
 */
#include "sweep/gpu_several_inside.h"

#include <string.h>

namespace sweep
{

enum { AHEAD = 64 }; /* steps that the host may be ahead of the devices, twice; more where an exchange is of more */

static lacis_sweep_status on_device(lacis_sweep_gpus *s, int k)
{
    SWEEP_CUDA(s, cudaSetDevice(s->slab[k].device));
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status note(lacis_sweep_gpus *s, int k, Mark mark)
{
    SWEEP_CUDA(s, clock_mark(&s->slab[k].clock, mark, s->slab[k].system->stream));
    return LACIS_SWEEP_OK;
}

static int64_t extent_of(const lacis_sweep_gpus *s, int k)
{
    return s->slab[k].system->layout.extent[s->axis];
}

/* --- one step on an exchange ------------------------------------------------------------------------------------ */

/* Rows first .. end - 1 of the slab as cells of the whole grid. */
static lacis_sweep_box rows_box(const lacis_sweep_gpus *s, int k, int64_t first, int64_t end)
{
    lacis_sweep_box box;
    lacis_sweep_cut_box(&s->cut, k, &box);
    const int64_t begin = box.begin[s->axis];
    box.begin[s->axis] = begin + first;
    box.end[s->axis] = begin + end;
    return box;
}

/* The next level's rows at a border, and then in the neighbour's halo, which is read there until the step before is
 * over. */
static lacis_sweep_status step_border(lacis_sweep_gpus *s, int k, int side)
{
    Slab *const slab = &s->slab[k];
    Border *const border = &slab->border[side];
    if (border->neighbour < 0) return LACIS_SWEEP_OK;
    Slab *const other = &s->slab[border->neighbour];
    const int64_t halo = s->cut.halo[s->axis], first = side == 0 ? 0 : extent_of(s, k) - halo;
    const int64_t there = side == 0 ? extent_of(s, border->neighbour) : -halo;
    const lacis_sweep_box box = rows_box(s, k, first, first + halo);
    SWEEP_CUDA(s, cudaStreamWaitEvent(border->stream, slab->whole, 0));
    SWEEP_TRY(lacis_sweep_gpu_update(slab->system, &box, border->stream));
    SWEEP_CUDA(s, cudaStreamWaitEvent(border->stream, other->whole, 0));
    SWEEP_TRY(copy_rows(s, slab->system, slab->device, 1 - slab->system->now, first, other->system, other->device,
                        1 - other->system->now, there, halo, border->stream));
    SWEEP_CUDA(s, cudaEventRecord(border->sent, border->stream));
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status step_inside(lacis_sweep_gpus *s, int k)
{
    const Border *const border = s->slab[k].border;
    const int64_t halo = s->cut.halo[s->axis], n = extent_of(s, k);
    const int64_t first = border[0].neighbour >= 0 ? halo : 0, end = border[1].neighbour >= 0 ? n - halo : n;
    const lacis_sweep_box box = rows_box(s, k, first, end);
    SWEEP_TRY(note(s, k, BEGUN));
    if (first < end) SWEEP_TRY(lacis_sweep_gpu_update(s->slab[k].system, &box, nullptr));
    return note(s, k, COMPUTED);
}

/* The level is whole once its own borders and the neighbours' are there. */
static lacis_sweep_status step_joined(lacis_sweep_gpus *s, int k)
{
    Slab *const slab = &s->slab[k];
    for (int side = 0; side < 2; side++) {
        const int other = slab->border[side].neighbour;
        if (other < 0) continue;
        SWEEP_CUDA(s, cudaStreamWaitEvent(slab->system->stream, slab->border[side].sent, 0));
        SWEEP_CUDA(s, cudaStreamWaitEvent(slab->system->stream, s->slab[other].border[1 - side].sent, 0));
    }
    SWEEP_CUDA(s, cudaEventRecord(slab->whole, slab->system->stream));
    return note(s, k, JOINED);
}

static lacis_sweep_status step_overlapped(lacis_sweep_gpus *s)
{
    for (int k = 0; k < s->devices; k++) {
        SWEEP_TRY(on_device(s, k));
        for (int side = 0; side < 2; side++)
            SWEEP_TRY(step_border(s, k, side));
        SWEEP_TRY(step_inside(s, k));
    }
    for (int k = 0; k < s->devices; k++) {
        SWEEP_TRY(on_device(s, k));
        SWEEP_TRY(step_joined(s, k));
    }
    for (int k = 0; k < s->devices; k++)
        lacis_sweep_gpu_turn(s->slab[k].system);
    return LACIS_SWEEP_OK;
}

/* --- several ---------------------------------------------------------------------------------------------------- */

static int64_t strip_first(const lacis_sweep_gpus *s, int k, int side)
{
    return side == 0 ? 0 : extent_of(s, k) - s->cut.halo[s->axis];
}

lacis_sweep_status load_strip(lacis_sweep_gpus *s, int k, int side)
{
    Slab *const slab = &s->slab[k];
    Border *const border = &slab->border[side];
    const int64_t halo = s->cut.halo[s->axis];
    SWEEP_CUDA(s, cudaStreamWaitEvent(border->stream, slab->whole, 0));
    SWEEP_TRY(copy_rows(s, slab->system, slab->device, slab->system->now, strip_first(s, k, side) - halo,
                        border->strip, slab->device, border->strip->now, -halo, 3 * halo, border->stream));
    SWEEP_CUDA(s, cudaEventRecord(border->taken, border->stream));
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status step_strip(lacis_sweep_gpus *s, int k, int side, int64_t steps)
{
    Slab *const slab = &s->slab[k];
    Border *const border = &slab->border[side];
    if (border->neighbour < 0) return LACIS_SWEEP_OK;
    Slab *const other = &s->slab[border->neighbour];
    SWEEP_TRY(load_strip(s, k, side));
    SWEEP_TRY(begin_steps(border->strip, steps, false));
    SWEEP_CUDA(s, cudaStreamWaitEvent(border->stream, other->whole, 0)); /* its mail of the time before was fetched */
    SWEEP_TRY(post_rows(s, border->strip, slab->device, 0, s->cut.halo[s->axis], other->border[1 - side].mail,
                        other->device, border->stream));
    SWEEP_CUDA(s, cudaEventRecord(border->sent, border->stream));
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status step_slab(lacis_sweep_gpus *s, int k, int64_t steps, bool sums)
{
    Slab *const slab = &s->slab[k];
    for (int side = 0; side < 2; side++)
        if (slab->border[side].strip != nullptr)
            SWEEP_CUDA(s, cudaStreamWaitEvent(slab->system->stream, slab->border[side].taken, 0));
    SWEEP_TRY(note(s, k, BEGUN));
    SWEEP_TRY(begin_steps(slab->system, steps, sums));
    return note(s, k, COMPUTED);
}

static lacis_sweep_status fetch_mail(lacis_sweep_gpus *s, int k)
{
    Slab *const slab = &s->slab[k];
    const int64_t halo = s->cut.halo[s->axis];
    for (int side = 0; side < 2; side++) {
        const Border *const border = &slab->border[side];
        if (border->neighbour < 0) continue;
        SWEEP_CUDA(s, cudaStreamWaitEvent(slab->system->stream, s->slab[border->neighbour].border[1 - side].sent, 0));
        SWEEP_TRY(fetch_rows(s, slab->system, side == 0 ? -halo : extent_of(s, k), halo, border->mail, slab->device,
                             slab->system->stream));
    }
    SWEEP_CUDA(s, cudaEventRecord(slab->whole, slab->system->stream));
    return note(s, k, JOINED);
}

static lacis_sweep_status step_deep(lacis_sweep_gpus *s, int64_t steps, bool sums)
{
    for (int k = 0; k < s->devices; k++) {
        SWEEP_TRY(on_device(s, k));
        for (int side = 0; side < 2 && s->strips; side++)
            SWEEP_TRY(step_strip(s, k, side, steps));
        SWEEP_TRY(step_slab(s, k, steps, sums));
    }
    if (!s->strips) SWEEP_TRY(pull_halos(s));
    for (int k = 0; k < s->devices; k++) {
        SWEEP_TRY(on_device(s, k));
        SWEEP_TRY(s->strips ? fetch_mail(s, k) : note(s, k, JOINED));
    }
    return LACIS_SWEEP_OK;
}

/* --- the last step's change ------------------------------------------------------------------------------------- */

static lacis_sweep_status read_all_sums(lacis_sweep_gpus *s, lacis_sweep_change *change)
{
    memset(change, 0, sizeof *change);
    for (int k = 0; k < s->devices; k++) {
        SWEEP_TRY(on_device(s, k));
        SWEEP_TRY(read_sums(s->slab[k].system, change, s->slab[k].system->stream));
    }
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status read_all_bad(lacis_sweep_gpus *s)
{
    for (int k = 0; k < s->devices; k++) {
        SWEEP_TRY(on_device(s, k));
        SWEEP_TRY(read_bad(s->slab[k].system, s->slab[k].system->stream));
    }
    return LACIS_SWEEP_OK;
}

/* ahead: steps since it was last looked. */
static lacis_sweep_status not_too_far(lacis_sweep_gpus *s, int64_t *ahead, int *batch)
{
    const lacis_sweep_host *const host = &s->slab[0].host;
    if (*ahead < AHEAD) return LACIS_SWEEP_OK;
    *ahead = 0;
    SWEEP_TRY(on_device(s, 0));
    SWEEP_CUDA(s, cudaEventRecord(s->mark[*batch & 1], s->slab[0].system->stream));
    if (++*batch > 1) SWEEP_CUDA(s, cudaEventSynchronize(s->mark[*batch & 1]));
    return host->cancelled != nullptr && host->cancelled(host->context) ? LACIS_SWEEP_CANCELLED : LACIS_SWEEP_OK;
}

lacis_sweep_status several_steps(lacis_sweep_gpus *s, int64_t steps, lacis_sweep_change *change)
{
    int64_t ahead = 0;
    int batch = 0;
    for (int64_t left = steps; left > 0;) {
        /* The last step by itself where it is measured: whole slabs at once, as their tiles are. */
        const bool sums = change != nullptr && left == 1;
        const int64_t wanted = change != nullptr && left > 1 ? left - 1 : left;
        const int64_t now = wanted < s->cut.deep ? wanted : s->cut.deep;
        left -= now;
        ahead += now;
        if (s->cut.deep == 1 && !s->apart && !sums)
            SWEEP_TRY(step_overlapped(s));
        else
            SWEEP_TRY(step_deep(s, now, sums));
        SWEEP_TRY(not_too_far(s, &ahead, &batch));
    }
    SWEEP_TRY(read_all_bad(s));
    return change != nullptr && steps > 0 ? read_all_sums(s, change) : LACIS_SWEEP_OK;
}

} // namespace sweep
