/* SPDX-License-Identifier: Apache-2.0
 *
 * One step over a box of cells: which kernel computes it.
 */
#include "sweep/gpu_inside.h"

namespace sweep
{

void fill_pass(const lacis_sweep_gpu *s, const Box &box, sweep_pass *out)
{
    *out = {};
    for (int f = 0; f < s->start.fields; f++) {
        out->from[f] = s->level[s->now][f];
        out->to[f] = s->level[1 - s->now][f];
    }
    for (int c = 0; c < s->start.coefficients; c++)
        out->from[s->start.fields + c] = s->fixed[c];
    for (int k = 0; k < 3; k++) {
        out->stride[k] = s->layout.stride[k];
        out->begin[k] = box.begin[k];
        out->end[k] = box.end[k];
        out->origin[k] = s->start.origin[k];
        out->whole[k] = s->start.whole[k];
        for (int f = 0; f < s->start.fields; f++) {
            out->keep_low[f][k] = s->keep_low[f][k];
            out->keep_high[f][k] = s->keep_high[f][k];
        }
    }
    near_faces(s, out);
    out->edges = s->edges;
    out->t = s->t;
    out->bad = s->bad;
    out->sums = s->sums;
}

/* The kernel for it, as far as there is one for its shape. */
static const void *kernel_of(const lacis_sweep_gpu *s, bool sums)
{
    return s->kernel[0] != nullptr ? s->kernel[sums] : march_kernel(&s->start, sums);
}

bool sums_fused(const lacis_sweep_gpu *s)
{
    return kernel_of(s, true) != nullptr;
}

lacis_sweep_status pass(lacis_sweep_gpu *s, const Box &box, bool sums, cudaStream_t stream)
{
    if (empty(box)) return LACIS_SWEEP_OK;
    const void *const kernel = kernel_of(s, sums);
    s->done.updates += (double)s->start.fields * (double)(box.end[0] - box.begin[0]) *
                       (double)(box.end[1] - box.begin[1]) * (double)(box.end[2] - box.begin[2]);
    if (kernel != nullptr) {
        SWEEP_TRY(march(s, kernel, box, sums, stream));
        if (!ghosts_apart) return LACIS_SWEEP_OK;
    } else {
        SWEEP_TRY(general(s, box, stream));
    }
    return s->ghosts_change ? ghosts(s, 1 - s->now, box, false, stream) : LACIS_SWEEP_OK;
}

} // namespace sweep
