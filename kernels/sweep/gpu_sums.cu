/* SPDX-License-Identifier: Apache-2.0
 *
 * The change of a step from both levels, where the sweep has not summed it itself: a warp a tile; and the sums' way
 * to the host.
 */
#include "sweep/gpu_inside.h"
#include "sweep/gpu_sums.cuh"

#include <string.h>

namespace sweep
{

enum { MEASURE_WARPS = 8, MEASURE_BLOCKS = 8 /* for each multiprocessor */, JOIN_WARPS = 32 };

static_assert(sizeof(sweep_sums) <= LACIS_SWEEP_GPU_PINNED_BYTES, "sums come to the host at once");
static_assert((int)SWEEP_DIGITS == (int)LACIS_SWEEP_DIGITS && (int)SWEEP_TILE_X == (int)LACIS_SWEEP_TILE_X &&
                  (int)SWEEP_TILE_Y == (int)LACIS_SWEEP_TILE_Y && (int)SWEEP_FIELDS == (int)LACIS_SWEEP_FIELDS &&
                  (int)SWEEP_ARRAYS == (int)LACIS_SWEEP_ARRAYS,
              "kernels go by the same numbers");

template <class T>
static __device__ double column(const sweep_pass &p, int f, int64_t x, int64_t y, int64_t z,
                                typename sweep_max<T>::bits *max)
{
    double sum = 0;
    if (x >= p.end[0] || x < p.keep_low[f][0] || x >= p.keep_high[f][0]) return 0;
    if (z < p.keep_low[f][2] || z >= p.keep_high[f][2]) return 0;
    const int64_t cell = x + z * p.stride[2];
    for (int64_t end = y + SWEEP_TILE_Y; y < end && y < p.end[1]; y++) {
        if (y < p.keep_low[f][1] || y >= p.keep_high[f][1]) continue;
        const int64_t at = cell + y * p.stride[1];
        const T d = sweep_difference(static_cast<const T *>(p.to[f])[at], static_cast<const T *>(p.from[f])[at]);
        sweep_greater(max, d);
        sum = __fma_rn((double)d, (double)d, sum);
    }
    return sum;
}

/* blockIdx.y: the field. p.to: the present level, p.from: the one before. */
template <class T>
static __global__ void __launch_bounds__(32 * MEASURE_WARPS) measure_kernel(const __grid_constant__ sweep_pass p)
{
    __shared__ unsigned long long digits[MEASURE_WARPS][SWEEP_COUNTERS];
    unsigned long long *const digit = digits[threadIdx.y];
    const int lane = (int)threadIdx.x, f = (int)blockIdx.y;
    const int64_t across = (p.end[0] + SWEEP_TILE_X - 1) / SWEEP_TILE_X;
    const int64_t down = (p.end[1] + SWEEP_TILE_Y - 1) / SWEEP_TILE_Y, tiles = across * down * p.end[2];
    typename sweep_max<T>::bits max = 0;
    sweep_sums_begin(digit, lane);
    for (int64_t i = (int64_t)blockIdx.x * MEASURE_WARPS + threadIdx.y; i < tiles;
         i += (int64_t)gridDim.x * MEASURE_WARPS) {
        double sum = column<T>(p, f, i % across * SWEEP_TILE_X + lane, i / across % down * SWEEP_TILE_Y,
                               i / across / down, &max);
        for (int turned = 1; turned < 32; turned *= 2)
            sum = __dadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, turned));
        sweep_sums_add(digit, sum, lane);
    }
    sweep_sums_end(digit, sweep_wide(max), &p.sums[blockIdx.x % SWEEP_SUMS], lane);
}

/* Adds all accumulators into `out` in the host's pinned memory, and clears them. A warp joins one counter after the
 * other; the last one of all is the maximum. */
static __global__ void __launch_bounds__(32 * JOIN_WARPS) join_kernel(sweep_sums *sums, sweep_sums *out)
{
    const int lane = (int)threadIdx.x;
    for (int i = (int)threadIdx.y; i <= SWEEP_COUNTERS; i += JOIN_WARPS) {
        const bool most = i == SWEEP_COUNTERS;
        unsigned long long value = 0;
        const auto join = [&](unsigned long long other) {
            value = !most ? value + other : other > value ? other : value;
        };
        for (int k = lane; k < SWEEP_SUMS; k += 32) {
            unsigned long long *const from = most ? &sums[k].max : &sums[k].digit[i];
            join(*from);
            *from = 0;
        }
        for (int turned = 16; turned > 0; turned /= 2)
            join(__shfl_xor_sync(0xffffffffu, value, turned));
        if (lane == 0) *(most ? &out->max : &out->digit[i]) = value;
    }
}

lacis_sweep_status clear_sums(lacis_sweep_gpu *s, cudaStream_t stream)
{
    if (!s->sums_clear) SWEEP_CUDA(s, cudaMemsetAsync(s->sums, 0, SWEEP_SUMS * sizeof *s->sums, stream));
    s->sums_clear = false;
    return LACIS_SWEEP_OK;
}

lacis_sweep_status measure(lacis_sweep_gpu *s, cudaStream_t stream)
{
    sweep_pass p;
    fill_pass(s, whole_part(s), &p);
    for (int f = 0; f < s->start.fields; f++) {
        p.from[f] = s->level[1 - s->now][f];
        p.to[f] = s->level[s->now][f];
    }
    const int64_t *n = s->layout.extent;
    const int64_t tiles =
        (n[0] + SWEEP_TILE_X - 1) / SWEEP_TILE_X * ((n[1] + SWEEP_TILE_Y - 1) / SWEEP_TILE_Y) * n[2];
    const int64_t blocks = (tiles + MEASURE_WARPS - 1) / MEASURE_WARPS,
                  most = MEASURE_BLOCKS * (int64_t)s->processors;
    const dim3 grid((unsigned)(blocks < most ? blocks : most), (unsigned)s->start.fields), block(32, MEASURE_WARPS);
    if (s->start.type == LACIS_SWEEP_F32)
        measure_kernel<float><<<grid, block, 0, stream>>>(p);
    else
        measure_kernel<double><<<grid, block, 0, stream>>>(p);
    SWEEP_CUDA(s, cudaGetLastError());
    return LACIS_SWEEP_OK;
}

lacis_sweep_status read_sums(lacis_sweep_gpu *s, lacis_sweep_change *change, cudaStream_t stream)
{
    lacis_sweep_change own = {};
    sweep_sums sums;
    join_kernel<<<1, dim3(32, JOIN_WARPS), 0, stream>>>(s->sums, static_cast<sweep_sums *>(s->pinned));
    SWEEP_CUDA(s, cudaGetLastError());
    SWEEP_CUDA(s, cudaStreamSynchronize(stream));
    s->sums_clear = true;
    memcpy(&sums, s->pinned, sizeof sums);
    for (int i = 0; i < LACIS_SWEEP_DIGITS; i++)
        own.squares.digit[i] = (int64_t)sums.digit[i];
    own.squares.special[0] = (int64_t)sums.digit[SWEEP_DIGITS];
    own.squares.special[2] = (int64_t)sums.digit[SWEEP_DIGITS + 1];
    memcpy(&own.max, &sums.max, sizeof own.max);
    lacis_sweep_change_merge(change, &own);
    return LACIS_SWEEP_OK;
}

} // namespace sweep
