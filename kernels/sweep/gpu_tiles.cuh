/* SPDX-License-Identifier: Apache-2.0
 *
 * Tiles of a step's change, summed while rows are marched: in one and two dimensions a warp's rows follow each other
 * down its tiles, so that each lane keeps the sums of its columns; in three dimensions the rows of a tile are those
 * of the block's warps, which meet after some planes and sum them by tiles.
 */
#ifndef LACIS_SWEEP_GPU_TILES_CUH
#define LACIS_SWEEP_GPU_TILES_CUH

#include "gpu_sums.cuh"

enum { SWEEP_WARPS = 8 }; /* of a block at most; in three dimensions with the change just so many */

static_assert((int)SWEEP_WARPS == (int)SWEEP_TILE_Y, "a block's rows are those of a tile");

/* The warp's own accumulator. */
__device__ __forceinline__ unsigned long long *sweep_digits()
{
    __shared__ unsigned long long digits[SWEEP_WARPS][SWEEP_COUNTERS];
    return digits[threadIdx.y + blockDim.y * threadIdx.z];
}

/* The sum of a tile's columns over so many lanes that lie beside each other. All lanes. */
template <int LANES> __device__ __forceinline__ double sweep_across(double sum)
{
#pragma unroll
    for (int turned = 1; turned < LANES; turned *= 2)
        sum = __dadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, turned));
    return sum;
}

/* One field's columns, CELLS of each lane. */
template <class T> struct sweep_columns {
    static constexpr int CELLS = sweep_vector<T>::CELLS;
    double column[CELLS];

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int j = 0; j < CELLS; j++)
            column[j] = 0;
    }
    __device__ __forceinline__ void take(const T *difference)
    {
#pragma unroll
        for (int j = 0; j < CELLS; j++)
            column[j] = __fma_rn((double)difference[j], (double)difference[j], column[j]);
    }
    /* A strip's tiles into the accumulator, once their last row is there. All lanes. */
    __device__ __forceinline__ void flush(unsigned long long *digit, int lane)
    {
        constexpr int LANES = SWEEP_TILE_X / CELLS;
        double sum = __dadd_rn(column[0], column[1]);
        if constexpr (CELLS == 4) sum = __dadd_rn(sum, __dadd_rn(column[2], column[3]));
        sum = sweep_across<LANES>(sum);
#pragma unroll
        for (int tile = 0; tile < CELLS; tile++)
            sweep_sums_add(digit, __shfl_sync(0xffffffffu, sum, tile * LANES), lane);
        clear();
    }
};

/* A lane's cells of a row, which are written at once. */
template <class T> struct __align__(16) sweep_cells
{
    T cell[sweep_vector<T>::CELLS];
};

/* Differences of a block's warps, a row each, of PLANES planes. There are two of it, so that warps meet once: who
 * writes the one again has met all that have read it. */
template <class T, int PLANES> struct sweep_planes {
    static constexpr int CELLS = sweep_vector<T>::CELLS;
    sweep_cells<T> (*half)[PLANES][SWEEP_WARPS][32];
    int turn;

    __device__ __forceinline__ void begin()
    {
        __shared__ sweep_cells<T> both[2][PLANES][SWEEP_WARPS][32];
        half = both;
        turn = 0;
    }
    __device__ __forceinline__ void take(int plane, const T *difference, int lane)
    {
        sweep_cells<T> own;
#pragma unroll
        for (int j = 0; j < CELLS; j++)
            own.cell[j] = difference[j];
        half[turn][plane][threadIdx.z][lane] = own;
    }
    /* All warps: the planes' tiles, each into the accumulator of the warp that sums it. */
    __device__ __forceinline__ void flush(unsigned long long *digit, int lane)
    {
        __syncthreads();
        for (int i = (int)threadIdx.z; i < PLANES * CELLS; i += SWEEP_WARPS) { /* a row is CELLS tiles wide */
            const sweep_cells<T>(*const plane)[32] = half[turn][i / CELLS];
            const int column = i % CELLS * SWEEP_TILE_X + lane;
            double sum = 0;
#pragma unroll
            for (int row = 0; row < SWEEP_TILE_Y; row++) {
                const double d = (double)plane[row][column / CELLS].cell[column % CELLS];
                sum = __fma_rn(d, d, sum);
            }
            sweep_sums_add(digit, sweep_across<SWEEP_TILE_X>(sum), lane);
        }
        turn ^= 1;
    }
};

#endif
