/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a plan: how many rows go into a tile, which a sample says. Included by half_plan.cu.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_SAMPLE_CUH
#define LACIS_KERNELS_SYMV_HALF_SAMPLE_CUH

#include "half_work.cuh"

/* Whether windows of `most` slots hold a sample's stretches of the block's candidate of rows. */
enum { SAMPLES = 32, CANDIDATES = 12 };
static __device__ half_i64 candidate_rows(half_u32 candidate)
{
    const half_i64 rows[CANDIDATES] = {32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256};
    return rows[candidate];
}

static __global__ void sample_kernel(csr a, half_u32 most, half_u32 *fitting)
{
    __shared__ marks m;
    const half_i64 rows = candidate_rows(blockIdx.y), row0 = (half_i64)(a.n / (double)SAMPLES * blockIdx.x);
    const half_i64 row1 = min(row0 + rows, a.n);
    half_u32 slots = 0;
    const bool fit = fits(a, {row0, row1, a.pos[row0], a.pos[row1]}, most, &slots, m);
    if (threadIdx.x == 0 && fit) atomicAdd(&fitting[blockIdx.y], 1);
}

enum { WARPS = 16 }; /* that windows leave room for on a multiprocessor */

/* Rows of a stretch: the most that seven of eight samples' windows hold, and no more than give every multiprocessor
 * enough warps. */
static bool choose_rows(work *w, half_u32 most, half_i64 *rows)
{
    half_u32 fitting[CANDIDATES] = {0};
    half_u32 *room = (half_u32 *)take(w, sizeof fitting);
    if (!good(w, cudaSuccess) || !good(w, cudaMemsetAsync(room, 0, sizeof fitting, w->stream))) return false;
    sample_kernel<<<dim3(SAMPLES, CANDIDATES), THREADS, 0, w->stream>>>(w->a, most, room);
    if (!good(w, cudaGetLastError()) || !read_back(w, fitting, room, sizeof fitting)) return false;
    static const half_i64 candidates[CANDIDATES] = {32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256};
    *rows = 16;
    for (int i = 0; i < CANDIDATES; i++)
        if (fitting[i] >= SAMPLES * 7 / 8) *rows = candidates[i];
    /* As many as make whole waves. */
    const half_i64 wave = w->job->processors * (half_i64)WARPS;
    const half_i64 waves = (w->a.n + *rows * wave - 1) / (*rows * wave);
    *rows = (w->a.n + waves * wave - 1) / (waves * wave);
    return true;
}

#endif
