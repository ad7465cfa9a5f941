/* SPDX-License-Identifier: Apache-2.0
 *
 * How a box is dealt to the warps of a marching kernel.
 */
#include "sweep/gpu_inside.h"
#include "sweep/gpu_march.cuh"

namespace sweep
{

int march_length;

const void *march_kernel(const lacis_sweep_start *start, bool sums)
{
    return start->type == LACIS_SWEEP_F32 ? march_kernel_f32(start, sums) : march_kernel_f64(start, sums);
}

static bool fill_weights(const lacis_sweep_start *start, sweep_pass *p)
{
    int at = 0;
    for (int f = 0; f < start->fields; f++) {
        const lacis_sweep_linear *linear = &start->rule[f].linear;
        if (start->rule[f].written) continue;
        if (at + 1 + linear->groups > SWEEP_WEIGHTS) return false;
        p->weight[at++] = constant_of(start->type, linear);
        for (int g = 0; g < linear->groups; g++)
            p->weight[at++] = rounded(start->type, linear->weight[g]);
    }
    return true;
}

static int64_t pieces(int64_t n, int64_t of)
{
    return (n + of - 1) / of;
}

/* Rows that a warp marches: several times as many warps as the device has room for, where there are enough rows, for
 * they do not all end at the same time; but not fewer than a tile, nor more than hide that each reads some rows of
 * its neighbours'. */
static int64_t length_of(const lacis_sweep_gpu *s, int64_t rows, int64_t warps)
{
    enum { SHORTEST = LACIS_SWEEP_TILE_Y, LONGEST = 128, RESIDENT = 64, WAVES = 2 };
    const int64_t wanted = RESIDENT * WAVES * (int64_t)s->processors;
    if (march_length > 0) return march_length;
    if (rows / LONGEST >= pieces(wanted, warps)) return LONGEST;
    const int64_t length = pieces(rows * warps, wanted);
    return length < SHORTEST ? SHORTEST : pieces(length < LONGEST ? length : LONGEST, SHORTEST) * SHORTEST;
}

lacis_sweep_status march(lacis_sweep_gpu *s, const void *kernel, const Box &box, bool sums, cudaStream_t stream)
{
    const bool solid = s->start.dims == 3,
               tiles = solid && sums; /* of which a block has all rows, be they cells or not */
    const int last = solid ? 2 : 1, middle = solid ? 1 : 2;
    const int64_t cells = s->start.type == LACIS_SWEEP_F32 ? 128 : 64; /* of a warp's row */
    const auto down = [](int64_t n, int64_t to) { return n >= 0 ? n / to * to : -pieces(-n, to) * to; };
    sweep_pass p;
    fill_pass(s, box, &p);
    if (!fill_weights(&s->start, &p)) return LACIS_SWEEP_UNSUPPORTED;
    const int64_t strips = pieces(box.end[0] - down(box.begin[0], SWEEP_TILE_X), cells);
    const int64_t rows = box.end[last] - down(box.begin[last], SWEEP_TILE_Y),
                  between = box.end[middle] - (tiles ? down(box.begin[middle], SWEEP_TILE_Y) : box.begin[middle]);
    dim3 block(32);
    if (solid)
        block.z = (unsigned)(tiles || between > SWEEP_WARPS ? SWEEP_WARPS : between);
    else
        block.y = (unsigned)pieces(strips, pieces(strips, SWEEP_WARPS));
    const int64_t across = pieces(strips, block.y), middles = pieces(between, block.z);
    const int64_t length = length_of(s, rows, strips * between);
    const int64_t chunks = pieces(rows, length);
    if ((double)across * (double)middles * (double)chunks > 2147483647.0) return LACIS_SWEEP_UNSUPPORTED;
    p.strips = (unsigned)across;
    p.middles = (unsigned)middles;
    p.length = (unsigned)length;
    void *arguments[] = {&p};
    SWEEP_CUDA(s, cudaLaunchKernel(kernel, dim3((unsigned)(across * middles * chunks)), block, arguments, 0, stream));
    return LACIS_SWEEP_OK;
}

} // namespace sweep
