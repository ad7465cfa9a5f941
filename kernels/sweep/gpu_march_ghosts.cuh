/* SPDX-License-Identifier: Apache-2.0
 *
 * The ghosts that come of the cells that a warp has marched over: it puts them itself once it is done, so that a step
 * is one launch. It reads its cells again, which are in the cache; warps away from all faces compare six numbers.
 *
 * Loops are short and not unrolled: registers are the march's.
 */
#ifndef LACIS_SWEEP_GPU_MARCH_GHOSTS_CUH
#define LACIS_SWEEP_GPU_MARCH_GHOSTS_CUH

#include "gpu_edges.cuh"

/* Cells begin .. end - 1 of the next level, which are the warp's. */
struct sweep_marched {
    long long begin[3], end[3];
};

__device__ __forceinline__ bool sweep_near_faces(const sweep_pass &p, const sweep_marched &box)
{
    bool near = false;
#pragma unroll
    for (int k = 0; k < 3; k++)
        near = near || box.begin[k] < p.near_low[k] || box.end[k] > p.near_high[k];
    return near;
}

/* Of one array: beyond x, then beyond y of rows that are so continued, then beyond z. */
template <class T> struct sweep_putting {
    const sweep_edges &e;
    const long long *stride;
    const sweep_marched &box;
    T *cells;
    int array, lane;

    __device__ __forceinline__ int own(int axis) const
    {
        return (int)(box.end[axis] - box.begin[axis]);
    }
    __device__ __forceinline__ int ghosts(int axis) const
    {
        return (int)(e.deep[2 * axis] + e.deep[2 * axis + 1]);
    }
    /* The i-th ghost: from the low face outwards, then from the high one. */
    __device__ __forceinline__ long long ghost(int axis, int i) const
    {
        const int low = (int)e.deep[2 * axis];
        return i < low ? -1 - i : e.extent[axis] + (i - low);
    }
    /* The cell that it is continued from. False: none of the warp's. */
    __device__ __forceinline__ bool comes(int axis, int i, long long *from, sweep_turn<T> *turn) const
    {
        *from = ghost(axis, i);
        return !sweep_nearer(e, array, axis, from, turn) && *from >= box.begin[axis] && *from < box.end[axis];
    }
    /* The i-th of the warp's cells along an axis, behind them its ghosts; false: one that does not come of them. */
    __device__ __forceinline__ bool place(int axis, int i, long long *at) const
    {
        sweep_turn<T> turn;
        long long from;
        const int beyond = i - own(axis);
        *at = beyond < 0 ? box.begin[axis] + i : ghost(axis, beyond);
        return beyond < 0 || comes(axis, beyond, &from, &turn);
    }
    __device__ __forceinline__ static T turned(T value, const sweep_turn<T> &turn)
    {
        return turn.used ? sweep_fma(turn.b, value, turn.a) : value;
    }
    /* Beyond x: a row for each lane. */
    __device__ __forceinline__ void beside_rows(long long from, long long to, const sweep_turn<T> &turn) const
    {
        const int across = own(1);
        for (int i = lane; i < across * own(2); i += 32) {
            T *const row = cells + (box.begin[1] + i % across) * stride[1] + (box.begin[2] + i / across) * stride[2];
            row[to] = turned(row[from], turn);
        }
    }
    /* Rows beyond y, or beyond z. */
    template <int AXIS>
    __device__ __forceinline__ void rows(long long from, long long to, const sweep_turn<T> &turn) const
    {
        constexpr int OTHER = 3 - AXIS;
        const int wide = own(0) + ghosts(0), high = own(OTHER) + (OTHER < AXIS ? ghosts(OTHER) : 0);
        for (int j = 0; j < high; j++) {
            long long x, at;
            if (!place(OTHER, j, &at)) continue;
            T *const row = cells + at * stride[OTHER];
            for (int i = lane; i < wide; i += 32)
                if (place(0, i, &x)) row[to * stride[AXIS] + x] = turned(row[from * stride[AXIS] + x], turn);
        }
    }
    template <int AXIS> __device__ __forceinline__ void along() const
    {
        for (int i = 0; i < ghosts(AXIS); i++) {
            long long from;
            sweep_turn<T> turn;
            if (!comes(AXIS, i, &from, &turn)) continue;
            if constexpr (AXIS == 0)
                beside_rows(from, ghost(AXIS, i), turn);
            else
                rows<AXIS>(from, ghost(AXIS, i), turn);
        }
        __syncwarp();
    }
};

/* All lanes, behind their stores. */
template <class T, int FIELDS, int DIMS>
__device__ __forceinline__ void sweep_put_ghosts(const sweep_pass &p, const sweep_marched &box)
{
    __syncwarp();
    for (int f = 0; f < FIELDS; f++) {
        const sweep_putting<T> with = {*p.edges, p.stride, box, static_cast<T *>(p.to[f]), f, (int)threadIdx.x};
        with.template along<0>();
        if constexpr (DIMS > 1) with.template along<1>();
        if constexpr (DIMS > 2) with.template along<2>();
    }
}

#endif
