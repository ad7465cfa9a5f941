/* SPDX-License-Identifier: Apache-2.0
 *
 * All pairs of bodies, each evaluated once (gpu_direct.h): the kernel of tiles, the one that adds up slots, and their
 * launches. Instantiated by gpu_direct_f32.cu, _f64.cu and _mixed.cu.
 *
 * A lane has ROWS rows in its registers. 32 columns at a time go round a warp: in step k lane l meets column
 * (l + k) % 32, read from shared memory, where each group of 32 lies twice so that the place needs no remainder; that
 * column's sums pass from lane to lane and are back where they began after 32 steps.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_DIRECT_PAIRS_CUH
#define LACIS_KERNELS_NBODY_GPU_DIRECT_PAIRS_CUH

#include "common/gpu_shared.h"
#include "nbody/gpu_direct.h"
#include "nbody/gpu_direct_pair.cuh"
#include "nbody/gpu_direct_rank.cuh"

namespace nbody
{

constexpr uint32_t EVERY = 0xffffffffu;

template <class P, class R> struct PairsJob {
    Pairs pairs;
    Sources<P, R> sources;
    R *slots;              /* coordinate c of slot s of body i: slots[(s parts + c) n + i] */
    uint32_t round, parts; /* parts: 3, and the potential */
};

template <class R> struct Sums {
    R x, y, z, w;
};

/* A lane's rows. */
template <class P, class R> struct Rows {
    P x[ROWS<R>], y[ROWS<R>], z[ROWS<R>];
    R m[ROWS<R>], soft[ROWS<R>]; /* half of eps^2 (OWN) */
    Sums<R> sum[ROWS<R>];
};

template <Softening EPS, class P, class R>
__device__ __forceinline__ void fetch(Rows<P, R> *rows, const Sources<P, R> &s, uint32_t first, uint32_t n)
{
#pragma unroll
    for (int r = 0; r < ROWS<R>; r++) {
        const uint32_t i = first + 32u * (uint32_t)r;
        const Four<P> b = i < n ? load(s.body + i) : Four<P>{0, 0, 0, 0};
        rows->x[r] = b.x;
        rows->y[r] = b.y;
        rows->z[r] = b.z;
        rows->m[r] = (R)b.w;
        if (EPS == OWN) rows->soft[r] = i < n ? R(0.5) * s.soft[i] : R(0);
        rows->sum[r] = {0, 0, 0, 0};
    }
}

/* One column against a lane's rows. BOTH: the column gets its part, too. `alike`: the row that is the column itself,
 * if any (its potential is left out). */
template <Softening EPS, bool PHI, bool BOTH, class P, class R>
__device__ __forceinline__ void meet(Rows<P, R> *rows, const Four<P> &c, R soft, R common, int alike, Sums<R> *sum)
{
    R dx[ROWS<R>], dy[ROWS<R>], dz[ROWS<R>], w[ROWS<R>];
#pragma unroll
    for (int r = 0; r < ROWS<R>; r++) {
        dx[r] = (R)(c.x - rows->x[r]);
        dy[r] = (R)(c.y - rows->y[r]);
        dz[r] = (R)(c.z - rows->z[r]);
        const R e = EPS == OWN ? rows->soft[r] + soft : common;
        w[r] = fused(dz[r], dz[r], fused(dy[r], dy[r], fused(dx[r], dx[r], e)));
    }
#pragma unroll
    for (int r = 0; r < ROWS<R>; r++)
        w[r] = near_root<EPS>(w[r]);
#pragma unroll
    for (int r = 0; r < ROWS<R>; r++) {
        const R power = power_of<EPS>(w[r], &dx[r], &dy[r], &dz[r]), f = strength<EPS>((R)c.w, power);
        Sums<R> *mine = &rows->sum[r];
        mine->x = fused(f, dx[r], mine->x);
        mine->y = fused(f, dy[r], mine->y);
        mine->z = fused(f, dz[r], mine->z);
        if (PHI && !BOTH && r == alike) w[r] = 0;
        if (PHI) mine->w = fused((R)c.w, w[r], mine->w);
        if (!BOTH) continue;
        const R g = -strength<EPS>(rows->m[r], power);
        sum->x = fused(g, dx[r], sum->x);
        sum->y = fused(g, dy[r], sum->y);
        sum->z = fused(g, dz[r], sum->z);
        if (PHI) sum->w = fused(rows->m[r], w[r], sum->w);
    }
}

template <bool PHI, class R> __device__ __forceinline__ void pass_on(Sums<R> *sum, int from)
{
    sum->x = __shfl_sync(EVERY, sum->x, from);
    sum->y = __shfl_sync(EVERY, sum->y, from);
    sum->z = __shfl_sync(EVERY, sum->z, from);
    if (PHI) sum->w = __shfl_sync(EVERY, sum->w, from);
}

/* 32 columns that none of the warp's rows is one of. The answer: the sums of column `lane`. */
template <Softening EPS, bool PHI, class P, class R>
__device__ __forceinline__ Sums<R> go_round(Rows<P, R> *rows, const Four<P> *column, const R *soft, R common,
                                            int lane)
{
    Sums<R> sum = {0, 0, 0, 0};
    const int next = (lane + 1) & 31;
#pragma unroll 8
    for (int k = 0; k < 32; k++) {
        meet<EPS, PHI, true>(rows, load(column + lane + k), EPS == OWN ? soft[lane + k] : R(0), common, -1, &sum);
        pass_on<PHI>(&sum, next);
    }
    return sum;
}
/* 32 columns that are rows of the warp, too: to the rows alone. `own`: the row of each lane that the columns are. */
template <Softening EPS, bool PHI, class P, class R>
__device__ __forceinline__ void go_along(Rows<P, R> *rows, const Four<P> *column, const R *soft, R common, int lane,
                                         int own)
{
    Sums<R> none;
#pragma unroll 1
    for (int k = 0; k < 32; k++)
        meet<EPS, PHI, false>(rows, load(column + k), EPS == OWN ? soft[k] : R(0), common, k == lane ? own : -1,
                              &none);
}

template <class P, class R> struct Tile {
    Four<P> *column; /* 2 x columns */
    R *soft;         /* 2 x columns, half of eps^2 */
    R *sum;          /* warps x columns, of x, of y, of z, of the potential */
};
template <class P, class R> inline size_t tile_bytes(const Pairs &p, bool own, bool potential)
{
    return p.columns *
           (2 * sizeof(Four<P>) + (own ? 2 : 0) * sizeof(R) + p.warps * (potential ? 4u : 3u) * sizeof(R));
}

template <Softening EPS, class P, class R>
__device__ __forceinline__ void fetch_columns(const Tile<P, R> &tile, const PairsJob<P, R> &job, uint32_t first)
{
    for (uint32_t c = threadIdx.x; c < job.pairs.columns; c += blockDim.x) {
        const uint32_t j = first + c, at = c / 32 * 64 + c % 32;
        const Four<P> b = j < job.pairs.n ? load(job.sources.body + j) : Four<P>{0, 0, 0, 0};
        store(tile.column + at, b);
        store(tile.column + at + 32, b);
        if (EPS == OWN) tile.soft[at] = tile.soft[at + 32] = j < job.pairs.n ? R(0.5) * job.sources.soft[j] : R(0);
    }
}

/* All of a tile's columns against a warp's rows, which begin at `row` (of lane 0). */
template <Softening EPS, bool PHI, class P, class R>
__device__ __forceinline__ void warp_tile(Rows<P, R> *rows, const Tile<P, R> &tile, const PairsJob<P, R> &job,
                                          uint32_t row, uint32_t first)
{
    const Pairs &p = job.pairs;
    const int lane = (int)(threadIdx.x % 32);
    const uint32_t warp = threadIdx.x / 32, part = p.warps * p.columns;
    for (uint32_t g = 0; g < p.columns && first + g < p.n; g += 32) {
        const Four<P> *column = tile.column + 2 * g;
        const R *soft = EPS == OWN ? tile.soft + 2 * g : nullptr;
        const bool before = job.round == 0 && first + g < row;
        const bool among = job.round == 0 && !before && first + g < row + 32 * ROWS<R>;
        Sums<R> sum = {0, 0, 0, 0};
        if (among) go_along<EPS, PHI>(rows, column, soft, job.sources.common, lane, (int)(first + g - row) / 32);
        if (!among && !before) sum = go_round<EPS, PHI>(rows, column, soft, job.sources.common, lane);
        R *to = tile.sum + warp * p.columns + g + (uint32_t)lane;
        to[0] = sum.x;
        to[part] = sum.y;
        to[2 * part] = sum.z;
        if (PHI) to[3 * part] = sum.w;
    }
}

template <bool PHI, class P, class R> __device__ __forceinline__ R *slot_of(const PairsJob<P, R> &job, uint32_t slot)
{
    return job.slots + (uint64_t)slot * (PHI ? 4 : 3) * job.pairs.n;
}
template <bool PHI, class R>
__device__ __forceinline__ void leave(R *slot, uint32_t n, uint32_t i, R x, R y, R z, R w)
{
    slot += i;
    slot[0] = x;
    slot[n] = y;
    slot[2 * (uint64_t)n] = z;
    if (PHI) slot[3 * (uint64_t)n] = w;
}

template <bool PHI, class P, class R>
__device__ __forceinline__ void leave_columns(const Tile<P, R> &tile, const Pairs &p, R *slot, uint32_t first)
{
    const uint32_t part = p.warps * p.columns;
    for (uint32_t c = threadIdx.x; c < p.columns && first + c < p.n; c += blockDim.x) {
        Four<R> sum = {0, 0, 0, 0};
        for (uint32_t w = 0; w < p.warps; w++) {
            const R *from = tile.sum + w * p.columns + c;
            sum.x += from[0];
            sum.y += from[part];
            sum.z += from[2 * part];
            if (PHI) sum.w += from[3 * part];
        }
        leave<PHI>(slot, p.n, first + c, sum.x, sum.y, sum.z, sum.w);
    }
}

/* Block: column tile x, row tile y, super z. */
template <Softening EPS, bool PHI, class P, class R>
__global__ void __launch_bounds__(128, 4) pairs_kernel(const PairsJob<P, R> job)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const Pairs &p = job.pairs;
    const uint32_t other = (blockIdx.z + job.round) % p.supers;
    const uint32_t top = blockIdx.z * p.super + blockIdx.y * p.rows, first = other * p.super + blockIdx.x * p.columns;
    if (top >= p.n || first >= p.n || (job.round == 0 && first < top)) return;
    begin();
    Tile<P, R> tile;
    tile.column = reinterpret_cast<Four<P> *>(memory);
    tile.soft = reinterpret_cast<R *>(tile.column + 2 * p.columns);
    tile.sum = tile.soft + (EPS == OWN ? 2 * p.columns : 0);
    const uint32_t lane = threadIdx.x % 32, row = top + threadIdx.x / 32 * 32 * ROWS<R>;
    Rows<P, R> rows;
    fetch_columns<EPS>(tile, job, first);
    fetch<EPS>(&rows, job.sources, row + lane, p.n);
    __syncthreads();
    warp_tile<EPS, PHI>(&rows, tile, job, row, first);
    __syncthreads();
    leave_columns<PHI>(tile, p, slot_of<PHI>(job, p.column_tiles + blockIdx.y), first);
    R *const slot = slot_of<PHI>(job, blockIdx.x);
#pragma unroll
    for (int r = 0; r < ROWS<R>; r++) {
        const uint32_t i = row + lane + 32u * (uint32_t)r;
        const Sums<R> &s = rows.sum[r];
        if (i < p.n) leave<PHI>(slot, p.n, i, s.x, s.y, s.z, s.w);
    }
}

/* --- adding up ------------------------------------------------------------------------------------------------- */

enum { ADD_BODIES = 32, ADD_PARTS = 8 };

/* Slots first .. end - 1 of a body, every eighth. */
template <class P, class R>
__device__ __forceinline__ void gather(Four<R> *sum, const PairsJob<P, R> &job, uint32_t i, uint32_t first,
                                       uint32_t end)
{
    const uint64_t n = job.pairs.n;
#pragma unroll 4
    for (uint32_t s = first + threadIdx.y; s < end; s += ADD_PARTS) {
        const R *one = job.slots + s * job.parts * n + i;
        sum->x += one[0];
        sum->y += one[n];
        sum->z += one[2 * n];
        if (job.parts > 3) sum->w += one[3 * n];
    }
}
/* How many tiles of `size` of a super there are. */
__device__ __forceinline__ uint32_t tiles_there(const Pairs &p, uint32_t super, uint32_t size)
{
    const uint32_t begin = super * p.super, rest = p.n - begin;
    return ((rest < p.super ? rest : p.super) + size - 1) / size;
}
template <class P, class R> __device__ __forceinline__ Four<R> gather_all(const PairsJob<P, R> &job, uint32_t i)
{
    const Pairs &p = job.pairs;
    const uint32_t super = i / p.super, row = (i - super * p.super) / p.rows;
    const bool half = job.round > 0 && 2 * job.round == p.supers; /* each pair of supers comes once */
    Four<R> sum = {0, 0, 0, 0};
    if (job.round == 0) {
        gather(&sum, job, i, row * (p.rows / p.columns), tiles_there(p, super, p.columns));
        gather(&sum, job, i, p.column_tiles, p.column_tiles + row + 1);
        return sum;
    }
    if (!half || super < job.round)
        gather(&sum, job, i, 0, tiles_there(p, (super + job.round) % p.supers, p.columns));
    if (!half || super >= job.round)
        gather(&sum, job, i, p.column_tiles,
               p.column_tiles + tiles_there(p, (super + p.supers - job.round) % p.supers, p.rows));
    return sum;
}

/* 32 bodies a block. The last round's sums are the field: bodies go on from there. */
template <class P, class R>
__global__ void __launch_bounds__(ADD_BODIES *ADD_PARTS)
    add_kernel(const PairsJob<P, R> job, const Finish<P, R> finish, bool last)
{
    __shared__ Four<R> part[ADD_PARTS][ADD_BODIES];
    const uint32_t i = blockIdx.x * ADD_BODIES + threadIdx.x;
    const bool mine = i < job.pairs.n && threadIdx.y == 0;
    begin();
    const bool ranks = finish.ranked.body != nullptr && i < job.pairs.n;
    const uint32_t row = ranks ? first_alike(job.sources.body, job.sources.soft, i) : i;
    part[threadIdx.y][threadIdx.x] = i < job.pairs.n ? gather_all(job, row) : Four<R>{0, 0, 0, 0};
    __syncthreads();
    if (!mine) return;
    Four<R> sum = job.round > 0 ? load(finish.out + i) : Four<R>{0, 0, 0, 0};
    for (int k = 0; k < ADD_PARTS; k++) {
        const Four<R> &one = part[k][threadIdx.x];
        sum.x += one.x;
        sum.y += one.y;
        sum.z += one.z;
        sum.w += one.w;
    }
    store(finish.out + i, sum);
    if (!last || finish.moving == nullptr) return;
    Four<P> body = load(finish.body + i);
    Moving<P> v = finish.moving[i];
    advance(finish.how, sum, &body, &v);
    if (ranks) {
        rank_drop<P, R>(finish.ranked, i, body, v);
        return;
    }
    store(finish.body + i, body);
    finish.moving[i] = v;
}

/* --- launches -------------------------------------------------------------------------------------------------- */

template <Softening EPS, bool PHI, class P, class R>
cudaError_t launch_pairs(cudaStream_t stream, const PairsJob<P, R> &job)
{
    const Pairs &p = job.pairs;
    const size_t bytes = tile_bytes<P, R>(p, EPS == OWN, PHI);
    const uint32_t supers = job.round > 0 && 2 * job.round == p.supers ? job.round : p.supers;
    const auto kernel = pairs_kernel<EPS, PHI, P, R>;
    if (bytes > 48 * 1024) {
        const cudaError_t error = lacis_gpu_all_shared((const void *)kernel);
        if (error != cudaSuccess) return error;
    }
    const Behind launch(p, dim3(p.column_tiles, p.row_tiles, supers), 32 * p.warps, bytes, stream);
    return cudaLaunchKernelEx(&launch.config, kernel, job);
}
template <bool PHI, class P, class R> cudaError_t launch_round(cudaStream_t stream, const PairsJob<P, R> &job)
{
    switch (softening_of(job.sources.soft, job.sources.common)) {
    case COMMON:
        return launch_pairs<COMMON, PHI>(stream, job);
    case NONE:
        return launch_pairs<NONE, PHI>(stream, job);
    default:
        return launch_pairs<OWN, PHI>(stream, job);
    }
}

template <class P, class R>
cudaError_t pairs_run(cudaStream_t stream, const Pairs &pairs, const Sources<P, R> &sources, bool potential,
                      void *slots, const Finish<P, R> &finish)
{
    if (pairs.n == 0) return cudaSuccess;
    for (uint32_t round = 0; round <= pairs.supers / 2; round++) {
        const PairsJob<P, R> job = {pairs, sources, static_cast<R *>(slots), round, potential ? 4u : 3u};
        const Behind add(pairs, (pairs.n + ADD_BODIES - 1) / ADD_BODIES, dim3(ADD_BODIES, ADD_PARTS), 0, stream);
        cudaError_t error = potential ? launch_round<true>(stream, job) : launch_round<false>(stream, job);
        if (error != cudaSuccess) return error;
        error = cudaLaunchKernelEx(&add.config, add_kernel<P, R>, job, finish, round == pairs.supers / 2);
        if (error != cudaSuccess) return error;
    }
    if (finish.ranked.body == nullptr) return cudaSuccess;
    const Behind rank(pairs, RANK_BUCKETS / RANK_WARPS, 32 * RANK_WARPS, 0, stream);
    return cudaLaunchKernelEx(&rank.config, place_kernel<P, R>, pairs.n, finish);
}

} // namespace nbody

#endif
