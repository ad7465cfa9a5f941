/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows between slabs, strips and mail. Rows lie in one piece, with the ghosts of lower axes in them: what is copied
 * is whole, so that nothing has to be put around it afterwards.
 */
#include "sweep/gpu_several_inside.h"

namespace sweep
{

static lacis_sweep_status copy(lacis_sweep_gpus *s, void *to, int to_device, const void *from, int from_device,
                               size_t bytes, cudaStream_t stream)
{
    if (to_device == from_device) {
        SWEEP_CUDA(s, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
        return LACIS_SWEEP_OK;
    }
    SWEEP_CUDA(s, cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream));
    s->copied += (double)bytes;
    return LACIS_SWEEP_OK;
}

lacis_sweep_status copy_rows(lacis_sweep_gpus *s, const lacis_sweep_gpu *from, int from_device, int from_level,
                             int64_t from_first, lacis_sweep_gpu *to, int to_device, int to_level, int64_t to_first,
                             int64_t count, cudaStream_t stream)
{
    for (int f = 0; f < from->start.fields; f++) {
        const Rows a = rows_of(from, s->axis, from_level, f, from_first, count);
        const Rows b = rows_of(to, s->axis, to_level, f, to_first, count);
        SWEEP_TRY(copy(s, b.at, to_device, a.at, from_device, a.bytes, stream));
    }
    return LACIS_SWEEP_OK;
}

lacis_sweep_status copy_coefficients(lacis_sweep_gpus *s, const lacis_sweep_gpu *from, int from_device,
                                     int64_t from_first, lacis_sweep_gpu *to, int to_device, int64_t to_first,
                                     int64_t count, cudaStream_t stream)
{
    for (int f = 0; f < from->start.coefficients; f++) {
        const Rows a = rows_of(from, s->axis, -1, f, from_first, count);
        const Rows b = rows_of(to, s->axis, -1, f, to_first, count);
        SWEEP_TRY(copy(s, b.at, to_device, a.at, from_device, a.bytes, stream));
    }
    to->coefficients_new = to->start.coefficients > 0;
    return LACIS_SWEEP_OK;
}

lacis_sweep_status post_rows(lacis_sweep_gpus *s, const lacis_sweep_gpu *from, int from_device, int64_t first,
                             int64_t count, void *mail, int mail_device, cudaStream_t stream)
{
    char *at = static_cast<char *>(mail);
    for (int f = 0; f < from->start.fields; f++) {
        const Rows rows = rows_of(from, s->axis, from->now, f, first, count);
        SWEEP_TRY(copy(s, at, mail_device, rows.at, from_device, rows.bytes, stream));
        at += rows.bytes;
    }
    return LACIS_SWEEP_OK;
}

lacis_sweep_status fetch_rows(lacis_sweep_gpus *s, lacis_sweep_gpu *to, int64_t first, int64_t count,
                              const void *mail, int device, cudaStream_t stream)
{
    const char *at = static_cast<const char *>(mail);
    for (int f = 0; f < to->start.fields; f++) {
        const Rows rows = rows_of(to, s->axis, to->now, f, first, count);
        SWEEP_TRY(copy(s, rows.at, device, at, device, rows.bytes, stream));
        at += rows.bytes;
    }
    return LACIS_SWEEP_OK;
}

uint64_t mail_bytes(const lacis_sweep_start *slab, const lacis_sweep_cut *cut)
{
    Layout layout;
    const int axis = slab->dims - 1;
    if (!layout_of(slab, &layout)) return 0;
    return (uint64_t)slab->fields * (uint64_t)(cut->halo[axis] * layout.stride[axis]) * lacis_sweep_size(slab->type);
}

/* Slab k's halo at that side is this row of its own on, and this row of its neighbour's on. */
static int64_t halo_first(const lacis_sweep_gpus *s, int k, int side)
{
    return side == 0 ? -s->cut.halo[s->axis] : s->slab[k].system->layout.extent[s->axis];
}

static int64_t source_first(const lacis_sweep_gpus *s, int neighbour, int side)
{
    return side == 0 ? s->slab[neighbour].system->layout.extent[s->axis] - s->cut.halo[s->axis] : 0;
}

static lacis_sweep_status pull_one(lacis_sweep_gpus *s, int k, int side)
{
    Slab *const slab = &s->slab[k];
    const int other = slab->border[side].neighbour;
    if (other < 0) return LACIS_SWEEP_OK;
    const Slab *const from = &s->slab[other];
    lacis_sweep_gpu *const to = slab->system;
    SWEEP_CUDA(s, cudaStreamWaitEvent(to->stream, from->done, 0));
    return copy_rows(s, from->system, from->device, from->system->now, source_first(s, other, side), to, slab->device,
                     to->now, halo_first(s, k, side), s->cut.halo[s->axis], to->stream);
}

lacis_sweep_status pull_halos(lacis_sweep_gpus *s)
{
    for (int k = 0; k < s->devices; k++) {
        SWEEP_CUDA(s, cudaSetDevice(s->slab[k].device));
        SWEEP_CUDA(s, cudaEventRecord(s->slab[k].done, s->slab[k].system->stream));
    }
    for (int k = 0; k < s->devices; k++) {
        SWEEP_CUDA(s, cudaSetDevice(s->slab[k].device));
        for (int side = 0; side < 2; side++)
            SWEEP_TRY(pull_one(s, k, side));
        SWEEP_CUDA(s, cudaEventRecord(s->slab[k].whole, s->slab[k].system->stream));
    }
    for (int k = 0; k < s->devices; k++) /* rows stay until neighbours have them */
        for (int side = 0; side < 2; side++) {
            const int other = s->slab[k].border[side].neighbour;
            if (other < 0) continue;
            SWEEP_CUDA(s, cudaSetDevice(s->slab[k].device));
            SWEEP_CUDA(s, cudaStreamWaitEvent(s->slab[k].system->stream, s->slab[other].whole, 0));
        }
    return LACIS_SWEEP_OK;
}

} // namespace sweep
