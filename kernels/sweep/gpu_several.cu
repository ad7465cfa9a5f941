/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_sweep_gpus_*: one grid on several devices of this process, made and freed.
 */
#include "sweep/gpu_several_inside.h"

#include <new>
#include <stdlib.h>

namespace sweep
{

/* Lets devices copy each other's memory by the shortest way; where that cannot be, copies take another. */
static void befriend(const lacis_sweep_gpus *s)
{
    for (int a = 0; a < s->devices; a++)
        for (int b = 0; b < s->devices; b++) {
            int can = 0;
            const int here = s->slab[a].device, there = s->slab[b].device;
            if (here == there) continue;
            if (cudaDeviceCanAccessPeer(&can, here, there) != cudaSuccess || !can) continue;
            if (cudaSetDevice(here) == cudaSuccess) (void)cudaDeviceEnablePeerAccess(there, 0);
        }
    (void)cudaGetLastError(); /* it may have been so before */
}

/* --- freed ------------------------------------------------------------------------------------------------------ */

static void wait_for(const Slab *slab)
{
    (void)cudaSetDevice(slab->device);
    for (const Border &border : slab->border)
        if (border.stream) (void)cudaStreamSynchronize(border.stream);
    if (slab->system != nullptr) (void)cudaStreamSynchronize(slab->system->stream);
}

static void clear_slab(Slab *slab)
{
    (void)cudaSetDevice(slab->device);
    clock_free(&slab->clock);
    for (Border &border : slab->border) {
        lacis_sweep_gpu_free(border.strip);
        if (border.mail != nullptr) slab->host.free(slab->host.context, border.mail);
        for (cudaEvent_t event : {border.taken, border.sent})
            if (event) (void)cudaEventDestroy(event);
    }
    for (cudaEvent_t event : {slab->whole, slab->done})
        if (event) (void)cudaEventDestroy(event);
    lacis_sweep_gpu_free(slab->system);
    for (Border &border : slab->border)
        if (border.stream) {
            (void)cudaStreamSynchronize(border.stream); /* frees of the strip's blocks are on it */
            (void)cudaStreamDestroy(border.stream);
        }
}

static void clear(lacis_sweep_gpus *s)
{
    for (int k = 0; k < s->devices; k++)
        wait_for(&s->slab[k]);
    for (int k = s->devices - 1; k >= 0; k--)
        clear_slab(&s->slab[k]);
    for (cudaEvent_t mark : s->mark)
        if (mark) (void)cudaEventDestroy(mark);
    free(s);
}

/* --- made ------------------------------------------------------------------------------------------------------- */

static int neighbour_of(const lacis_sweep_gpus *s, int k, int side)
{
    if (!lacis_sweep_cut_inner(&s->cut, k, 2 * s->axis + side)) return -1;
    return (k + (side == 0 ? s->devices - 1 : 1)) % s->devices;
}

static lacis_sweep_status make_border(lacis_sweep_gpus *s, const lacis_sweep_gpu_start *part, Slab *slab, int side)
{
    Border *const border = &slab->border[side];
    SWEEP_CUDA(s, border_stream(&border->stream));
    for (cudaEvent_t *event : {&border->taken, &border->sent})
        SWEEP_CUDA(s, cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    if (!s->strips || border->neighbour < 0) return LACIS_SWEEP_OK;
    border->mail = slab->host.alloc(slab->host.context, mail_bytes(&part->start, &s->cut));
    return border->mail != nullptr ? LACIS_SWEEP_OK : LACIS_SWEEP_NO_MEMORY;
}

static lacis_sweep_status make_slab(lacis_sweep_gpus *s, int k, const lacis_sweep_gpu_start *part, int64_t timed)
{
    Slab *const slab = &s->slab[k];
    slab->host = part->start.host;
    SWEEP_CUDA(s, cudaSetDevice(slab->device));
    SWEEP_CUDA(s, clock_new(&slab->clock, timed));
    for (cudaEvent_t *event : {&slab->whole, &slab->done})
        SWEEP_CUDA(s, cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    for (int side = 0; side < 2; side++) {
        slab->border[side].neighbour = neighbour_of(s, k, side);
        SWEEP_TRY(make_border(s, part, slab, side));
    }
    return lacis_sweep_gpu_new(part, &slab->system, &s->cuda_error);
}

/* Once slabs have their halos. */
static lacis_sweep_status make_strip(lacis_sweep_gpus *s, int k, int side, const lacis_sweep_gpu_start *part)
{
    Slab *const slab = &s->slab[k];
    Border *const border = &slab->border[side];
    const int64_t halo = s->cut.halo[s->axis];
    lacis_sweep_gpu_start start;
    if (border->neighbour < 0) return LACIS_SWEEP_OK;
    strip_start(part, &s->cut, k, side, &start);
    SWEEP_TRY(lacis_sweep_gpu_new(&start, &border->strip, &s->cuda_error));
    /* Its memory is ordered on the slab's stream; from here on it has one of its own. */
    SWEEP_CUDA(s, cudaStreamSynchronize(slab->system->stream));
    border->strip->stream = border->stream;
    SWEEP_TRY(copy_coefficients(s, slab->system, slab->device,
                                (side == 0 ? 0 : part->start.extent[s->axis] - halo) - halo, border->strip,
                                slab->device, -halo, 3 * halo, border->stream));
    SWEEP_TRY(load_strip(s, k, side));
    return lacis_sweep_gpu_refresh(border->strip, border->stream);
}

static lacis_sweep_status wait_for_all(lacis_sweep_gpus *s)
{
    for (int k = 0; k < s->devices; k++) {
        SWEEP_CUDA(s, cudaSetDevice(s->slab[k].device));
        for (const Border &border : s->slab[k].border)
            SWEEP_CUDA(s, cudaStreamSynchronize(border.stream));
        SWEEP_CUDA(s, cudaStreamSynchronize(s->slab[k].system->stream));
    }
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status first_coefficients(lacis_sweep_gpus *s, int k)
{
    Slab *const slab = &s->slab[k];
    const int64_t halo = s->cut.halo[s->axis];
    for (int side = 0; side < 2; side++) {
        const int other = slab->border[side].neighbour;
        if (other < 0) continue;
        const Slab *const from = &s->slab[other];
        const int64_t there = side == 0 ? from->system->layout.extent[s->axis] - halo : 0;
        SWEEP_TRY(copy_coefficients(s, from->system, from->device, there, slab->system, slab->device,
                                    side == 0 ? -halo : slab->system->layout.extent[s->axis], halo,
                                    slab->system->stream));
    }
    return LACIS_SWEEP_OK;
}

/* Slabs have their cells: the neighbours' too, and all that comes of them. */
static lacis_sweep_status first_halos(lacis_sweep_gpus *s)
{
    SWEEP_TRY(wait_for_all(s));
    for (int k = 0; k < s->devices; k++) {
        SWEEP_CUDA(s, cudaSetDevice(s->slab[k].device));
        SWEEP_TRY(first_coefficients(s, k));
    }
    SWEEP_TRY(pull_halos(s));
    for (int k = 0; k < s->devices; k++) {
        Slab *const slab = &s->slab[k];
        SWEEP_CUDA(s, cudaSetDevice(slab->device));
        SWEEP_TRY(lacis_sweep_gpu_refresh(slab->system, nullptr));
        SWEEP_CUDA(s, cudaEventRecord(slab->whole, slab->system->stream));
    }
    return LACIS_SWEEP_OK;
}

static bool has_strips(const lacis_sweep_cut *cut, bool apart)
{
    return cut->deep > 1 && !apart && strips_fit(cut);
}

static lacis_sweep_status fill(lacis_sweep_gpus *s, const lacis_sweep_gpus_start *start)
{
    s->devices = start->devices;
    s->axis = start->cut.dims - 1;
    s->cut = start->cut;
    for (int k = 0; k < s->devices; k++)
        s->slab[k].device = start->device[k];
    s->apart = start->apart || !strips_fit(&s->cut);
    s->strips = has_strips(&s->cut, start->apart);
    befriend(s);
    SWEEP_CUDA(s, cudaSetDevice(s->slab[0].device));
    for (cudaEvent_t &mark : s->mark)
        SWEEP_CUDA(s, cudaEventCreateWithFlags(&mark, cudaEventDisableTiming));
    for (int k = 0; k < s->devices; k++)
        SWEEP_TRY(make_slab(s, k, &start->part[k], start->timed));
    SWEEP_TRY(first_halos(s));
    for (int k = 0; k < s->devices && s->strips; k++) {
        SWEEP_CUDA(s, cudaSetDevice(s->slab[k].device));
        for (int side = 0; side < 2; side++)
            SWEEP_TRY(make_strip(s, k, side, &start->part[k]));
    }
    SWEEP_TRY(wait_for_all(s)); /* arrays are the caller's again */
    s->copied = 0;
    SWEEP_CUDA(s, cudaSetDevice(s->slab[0].device));
    return LACIS_SWEEP_OK;
}

/* CUDA's error of whichever system failed. */
static lacis_sweep_status told(lacis_sweep_gpus *s, lacis_sweep_status status)
{
    for (int k = 0; k < s->devices && status == LACIS_SWEEP_FAILED && s->cuda_error == 0; k++) {
        const Slab *const slab = &s->slab[k];
        for (const lacis_sweep_gpu *one : {slab->system, slab->border[0].strip, slab->border[1].strip})
            if (one != nullptr && s->cuda_error == 0) s->cuda_error = one->cuda_error;
    }
    (void)cudaSetDevice(s->slab[0].device);
    return status;
}

} // namespace sweep

using namespace sweep;

int lacis_sweep_gpu_current(void)
{
    int device = 0;
    return cudaGetDevice(&device) == cudaSuccess ? device : 0;
}

lacis_sweep_status lacis_sweep_gpus_new(const lacis_sweep_gpus_start *start, lacis_sweep_gpus **out, int *cuda_error)
{
    *out = nullptr;
    *cuda_error = 0;
    if (start->devices < 2 || start->devices > LACIS_SWEEP_GPUS_MOST || start->devices != start->cut.parts)
        return LACIS_SWEEP_UNSUPPORTED;
    if (start->cut.grid[start->cut.dims - 1] != start->devices) return LACIS_SWEEP_UNSUPPORTED;
    void *const block = calloc(1, sizeof(lacis_sweep_gpus));
    if (block == nullptr) return LACIS_SWEEP_NO_MEMORY;
    lacis_sweep_gpus *const s = new (block) lacis_sweep_gpus();
    const lacis_sweep_status status = told(s, fill(s, start));
    if (status == LACIS_SWEEP_OK) {
        *out = s;
        return status;
    }
    *cuda_error = s->cuda_error;
    clear(s);
    (void)cudaSetDevice(start->device[0]);
    return status;
}

void lacis_sweep_gpus_free(lacis_sweep_gpus *systems)
{
    if (systems == nullptr) return;
    const int first = systems->slab[0].device;
    clear(systems);
    (void)cudaSetDevice(first);
}

int lacis_sweep_gpus_error_code(const lacis_sweep_gpus *systems)
{
    return systems->cuda_error;
}

lacis_sweep_status lacis_sweep_gpus_steps(lacis_sweep_gpus *systems, int64_t steps, lacis_sweep_change *change)
{
    return told(systems, several_steps(systems, steps, change));
}

lacis_sweep_gpu *lacis_sweep_gpus_slab(lacis_sweep_gpus *systems, int k)
{
    (void)cudaSetDevice(systems->slab[k].device);
    return systems->slab[k].system;
}

/* Steps and passes are each slab's. */
void lacis_sweep_gpus_counted(lacis_sweep_gpus *systems, lacis_sweep_counts *out, bool reset)
{
    lacis_sweep_counts one;
    lacis_sweep_gpu_counted(systems->slab[0].system, out, reset);
    for (int k = 0; k < systems->devices; k++) {
        const Slab *const slab = &systems->slab[k];
        for (lacis_sweep_gpu *more : {k > 0 ? slab->system : nullptr, slab->border[0].strip, slab->border[1].strip}) {
            if (more == nullptr) continue;
            lacis_sweep_gpu_counted(more, &one, reset);
            out->updates += one.updates;
        }
    }
}

double lacis_sweep_gpus_copied(const lacis_sweep_gpus *systems)
{
    return systems->copied;
}

static lacis_sweep_status read_times(lacis_sweep_gpus *s, int k, lacis_sweep_times *line, int64_t *lines)
{
    lacis_sweep_times *at = line;
    SWEEP_CUDA(s, cudaSetDevice(s->slab[k].device));
    SWEEP_CUDA(s, clock_read(&s->slab[k].clock, &at));
    *lines = at - line;
    return LACIS_SWEEP_OK;
}

lacis_sweep_status lacis_sweep_gpus_times(lacis_sweep_gpus *systems, int k, lacis_sweep_times *line, int64_t *lines)
{
    return told(systems, read_times(systems, k, line, lines));
}

uint64_t lacis_sweep_gpus_bytes(const lacis_sweep_start *whole, const lacis_sweep_cut *cut, bool apart, int part)
{
    lacis_sweep_start slab;
    lacis_sweep_cut_start(whole, cut, part, &slab);
    uint64_t bytes = lacis_sweep_gpu_bytes(&slab);
    if (!has_strips(cut, apart)) return bytes;
    for (int side = 0; side < 2; side++)
        if (lacis_sweep_cut_inner(cut, part, 2 * (cut->dims - 1) + side)) bytes += mail_bytes(&slab, cut);
    return bytes + strips_bytes(&slab, cut, part);
}
