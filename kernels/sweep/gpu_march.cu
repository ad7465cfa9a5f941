/* SPDX-License-Identifier: Apache-2.0
 *
 * How a box is dealt to the warps of a marching kernel.
 */
#include "sweep/gpu_inside.h"
#include "sweep/gpu_march.cuh"

namespace sweep
{

int march_length, march_slab;
bool ghosts_apart;

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

/* Rows that a warp marches. Few: warps that ask for all that they need at once and are soon done keep the device's
 * memory busiest, and what they read of their neighbours' rows is in its cache; more where that would be as much as
 * their own. Rules of many cells in three dimensions have to do besides. `tiles`: whole ones. */
static int64_t length_of(const lacis_sweep_gpu *s, int last, bool tiles)
{
    enum { SHORT = 8, LONG = 16, LONGEST = 64, MANY = 16 };
    int taps = 0;
    for (int f = 0; f < s->start.fields; f++)
        taps += s->start.rule[f].taps;
    int64_t length = s->start.dims == 3 && taps > MANY ? LONGEST : s->reach[last] > 2 ? LONG : SHORT;
    if (march_length > 0) length = march_length;
    return tiles ? pieces(length, SWEEP_TILE_Y) * SWEEP_TILE_Y : length;
}

/* Rows of a slab in three dimensions: chunks along z follow each other while the cache still has the planes between
 * them, of all arrays. */
static int64_t slab_of(const lacis_sweep_gpu *s, int64_t length)
{
    const double cache = 48e6, arrays = 2 * s->start.fields + s->start.coefficients;
    const double row = (double)s->layout.stride[1] * (double)lacis_sweep_size(s->start.type);
    const double rows = cache / (arrays * row * (double)(length + 2 * s->reach[2]));
    if (march_slab > 0) return march_slab;
    return rows < SWEEP_WARPS ? SWEEP_WARPS : rows < 1e9 ? (int64_t)rows : (int64_t)1e9;
}

lacis_sweep_status march(lacis_sweep_gpu *s, const void *kernel, const Box &box, bool sums, cudaStream_t stream)
{
    enum { STRIPS = 4 };                                           /* of a block at most */
    const bool solid = s->start.dims == 3, planes = solid && sums; /* a block has all rows of its tiles */
    const int last = solid ? 2 : 1, middle = solid ? 1 : 2;
    const int64_t cells = s->start.type == LACIS_SWEEP_F32 ? 128 : 64; /* of a warp's row */
    const auto down = [](int64_t n, int64_t to) { return n >= 0 ? n / to * to : -pieces(-n, to) * to; };
    const auto rows_of = [&](int axis, bool tiles) {
        return box.end[axis] - (tiles ? down(box.begin[axis], SWEEP_TILE_Y) : box.begin[axis]);
    };
    sweep_pass p;
    fill_pass(s, box, &p);
    if (!fill_weights(&s->start, &p)) return LACIS_SWEEP_UNSUPPORTED;
    const int64_t strips = pieces(box.end[0] - down(box.begin[0], SWEEP_TILE_X), cells);
    const int64_t between = rows_of(middle, planes), length = length_of(s, last, sums && !solid);
    dim3 block(32);
    if (solid)
        block.z = (unsigned)(planes || between > SWEEP_WARPS ? SWEEP_WARPS : between);
    else
        block.y = (unsigned)pieces(strips, pieces(strips, STRIPS));
    const int64_t across = pieces(strips, block.y), middles = pieces(between, block.z);
    const int64_t slab = solid ? pieces(slab_of(s, length), block.z) : 1;
    const int64_t chunks = pieces(rows_of(last, sums && !solid), length);
    p.slab = (unsigned)(slab < middles ? slab : middles);
    const int64_t slabs = pieces(middles, p.slab);
    if ((double)across * (double)p.slab * (double)slabs * (double)chunks > 2147483647.0)
        return LACIS_SWEEP_UNSUPPORTED;
    p.strips = (unsigned)across;
    p.chunks = (unsigned)chunks;
    p.length = (unsigned)length;
    void *arguments[] = {&p};
    SWEEP_CUDA(
        s, cudaLaunchKernel(kernel, dim3((unsigned)(across * p.slab * chunks * slabs)), block, arguments, 0, stream));
    return LACIS_SWEEP_OK;
}

} // namespace sweep
