/* SPDX-License-Identifier: Apache-2.0
 *
 * CHIP: a block advances a few lanes for many steps with their voltages in shared memory. Groups of threads, a thread
 * a lane, go through subtrees as a schedule made on the host says (gpu_chip.cuh). Gates of Hodgkin and Huxley are not
 * needed for the solve: they pass through registers once a step, any thread doing any node, and stay in the L2 where
 * the steps are many. The same operations on each node as in gpu_thread.cu. Caller: gpu_run.cu.
 */
#include "common/gpu_shared.h"
#include "gpu_chip.cuh"
#include "gpu_kernels.h"

/* What lay_out takes, and more than its roundings. */
size_t neug_chip_bytes(int model, bool half, const neug_shape *shape, int lanes, int groups)
{
    const size_t n = (size_t)shape->nodes, arrays = 1 + (model != NEUG_CONSTANT) + half;
    const size_t words = 2 * (size_t)(shape->phases * groups) + 2 + (size_t)shape->events;
    return n * (arrays * (size_t)lanes * 8 + (model == NEUG_CONSTANT ? 40 : 24)) + 4 * words + 10 * 16;
}

/* All rows and lanes, a thread each: the thread's first, and how many threads there are. A tile's rows lie one behind
 * the other in device memory, so that row and lane are one number there as in shared memory. */
struct walk {
    uint32_t row, rows; /* rows: from one of the thread's to its next */
    uint32_t lane;
    bool mine; /* there is such a lane */
};
NEUG_DEVICE walk walk_of(const chip &c, const neug_tile &tile)
{
    const uint32_t lane = threadIdx.x & (uint32_t)(c.lanes - 1);
    return {threadIdx.x >> c.shift, blockDim.x >> c.shift, lane, (int32_t)lane < tile.lanes};
}

/* Equations of PASSIVE's next step. */
template <bool HALF>
NEUG_DEVICE void equations(const chip &c, const neug_tile &tile, const neug_lane &lane, const double *member,
                           uint32_t rows)
{
    const walk w = walk_of(c, tile);
    for (uint32_t row = w.row; row < rows; row += w.rows) {
        const uint32_t place = (row << c.shift) + w.lane;
        neug_equation<NEUG_PASSIVE>(member + row * NEUG_MEMBER, lane, true, voltage<HALF>(c, place), 0, 0, 0,
                                    &at<double>(c.f + place * 8), &at<double>(c.y + place * 8));
    }
}

/* A tile's voltages, or the equations of a launch's first step. */
template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE void begin(const neug_params &p, const chip &c, const neug_tile &tile, const neug_lane &lane,
                       const double *member, uint32_t rows)
{
    const walk w = walk_of(c, tile);
#pragma unroll 4
    for (uint32_t row = w.row; row < rows; row += w.rows) {
        const uint32_t place = (row << c.shift) + w.lane;
        const int64_t there = tile.base + (w.mine ? place : 0);
        const double v = p.v[there];
        if constexpr (HALF || MODEL == NEUG_CONSTANT) voltage<HALF>(c, place) = v;
        if constexpr (MODEL == NEUG_PASSIVE)
            neug_equation<MODEL>(member + row * NEUG_MEMBER, lane, BY_LANE, v, 0, 0, 0, &at<double>(c.f + place * 8),
                                 &at<double>(c.y + place * 8));
        if constexpr (MODEL == NEUG_CHANNELS)
            neug_equation<MODEL>(member + row * NEUG_MEMBER, lane, BY_LANE, v, p.m[there], p.h[there], p.n[there],
                                 &at<double>(c.f + place * 8), &at<double>(c.y + place * 8));
    }
}

/* Gates for dt at the new voltages, and the equations of the next step. All threads go on alike, as exponentials take
 * whole warps; those without a row or lane do another's work and store nothing. */
template <bool HALF, bool BY_LANE>
NEUG_DEVICE void gates_go_on(const neug_params &p, const chip &c, const neug_tile &tile, const neug_lane &lane,
                             const double *member, double roots, uint32_t rows)
{
    const walk w = walk_of(c, tile);
    const uint32_t clear = w.mine ? w.lane : 0;
    double *const m_of = p.m + tile.base, *const h_of = p.h + tile.base, *const n_of = p.n + tile.base;
    for (uint32_t first = 0, row = w.row; first < rows; first += w.rows, row += w.rows) {
        const uint32_t mine = min(row, rows - 1), place = (mine << c.shift) + clear;
        double m = m_of[place], h = h_of[place], n = n_of[place], excess, sum;
        const bool there = w.mine && row < rows;
        const double v = there ? voltage<HALF>(c, place) : 0;
        neug_gates_go_on(v, p.less, roots, &m, &h, &n);
        neug_equation<NEUG_CHANNELS>(member + mine * NEUG_MEMBER, lane, BY_LANE, v, m, h, n, &excess, &sum);
        if (!there) continue;
        m_of[place] = m;
        h_of[place] = h;
        n_of[place] = n;
        at<double>(c.f + place * 8) = excess;
        at<double>(c.y + place * 8) = sum;
    }
}

template <bool HALF>
NEUG_DEVICE void sample(const neug_params &p, const chip &c, const neug_tile &tile, const neug_shape &shape,
                        int64_t step)
{
    for (int32_t k = (int32_t)threadIdx.x; k < shape.probes << c.shift; k += (int32_t)blockDim.x) {
        const neug_probe probe = p.common.probe[shape.probe0 + (k >> c.shift)];
        const int32_t lane = k & (c.lanes - 1);
        if (lane < tile.lanes)
            neug_record(p, probe.number, tile.lane + lane,
                        voltage<HALF>(c, ((uint32_t)probe.node << c.shift) + (uint32_t)lane), step / p.every);
    }
}

template <int MODEL> NEUG_DEVICE void load_tables(const neug_params &p, const chip &c, const neug_shape &shape)
{
    const neug_common &from = p.common;
    const int32_t threads = (int32_t)blockDim.x, thread = (int32_t)threadIdx.x;
    for (int32_t i = thread; i < shape.nodes; i += threads) {
        at<double2>(c.couple + (uint32_t)i * 16) = from.couple[shape.node0 + i];
        if (MODEL == NEUG_CONSTANT)
            at<double2>(c.member + (uint32_t)i * 16) =
                *(const double2 *)(from.member + (shape.node0 + i) * NEUG_MEMBER);
        at<uint2>(c.word + (uint32_t)i * 8) = from.word[shape.node0 + i];
    }
    if (thread < WORDS_AHEAD) {
        at<uint2>(c.word - (uint32_t)(1 + thread) * 8) = make_uint2(0, 0);
        at<uint2>(c.word + (uint32_t)(shape.nodes + thread) * 8) = make_uint2(0, 0);
    }
    for (int32_t i = thread; i < 2 * shape.phases * c.groups + 2; i += threads)
        at<int32_t>(c.list + (uint32_t)i * 4) = from.list[shape.list0 + i];
    for (int32_t i = thread; i < shape.events; i += threads)
        at<uint32_t>(c.event + (uint32_t)i * 4) = from.event[shape.event0 + i];
}

template <bool HALF>
NEUG_DEVICE void store(const neug_params &p, const chip &c, const neug_tile &tile, const neug_shape &shape)
{
    const walk w = walk_of(c, tile);
    for (uint32_t place = threadIdx.x; place < (uint32_t)shape.nodes << c.shift; place += blockDim.x)
        if (w.mine) p.v[tile.base + place] = voltage<HALF>(c, place);
}

template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE void solve(const neug_params &p, const chip &c, const worker &w, int32_t phases, int64_t step)
{
    for (int32_t phase = 0; phase < phases; phase++) {
        rise<MODEL, HALF, BY_LANE>(p, c, w, phase, step);
        __syncthreads();
    }
    for (int32_t phase = phases - 1; phase >= 0; phase--) {
        fall<MODEL, HALF>(c, w, phase);
        __syncthreads();
    }
}

template <int MODEL, bool HALF, bool BY_LANE>
static __global__ void __launch_bounds__(NEUG_CHIP_THREADS, 2)
    chip_kernel(const __grid_constant__ neug_params p, int lanes, int groups)
{
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape shape = p.common.shape[tile.shape];
    const chip c = lay_out<MODEL, HALF>(shape, lanes, groups);
    const double *member = p.common.member + shape.node0 * NEUG_MEMBER;
    const uint32_t rows = (uint32_t)shape.nodes;
    worker w;
    w.clamp = p.common.clamp + shape.clamp0;
    const int lane = (int)threadIdx.x & (lanes - 1);
    w.lane = (uint32_t)lane * 8;
    w.group = (int)threadIdx.x >> c.shift;
    w.number = tile.lane + (lane < tile.lanes ? lane : 0);
    w.scale = neug_lane_of<MODEL, BY_LANE>(p, w.number);
    const double roots = neug_roots();
    load_tables<MODEL>(p, c, shape);
    begin<MODEL, HALF, BY_LANE>(p, c, tile, w.scale, member, rows);
    __syncthreads();
    for (int64_t step = p.step; step < p.step + p.steps; step++) {
        const bool last = step + 1 == p.step + p.steps;
        solve<MODEL, HALF, BY_LANE>(p, c, w, shape.phases, step);
        if ((step + 1) % p.every == 0) {
            sample<HALF>(p, c, tile, shape, step + 1);
            __syncthreads();
        }
        if (last) {
            store<HALF>(p, c, tile, shape);
            __syncthreads();
        }
        if constexpr (MODEL == NEUG_CHANNELS) {
            gates_go_on<HALF, BY_LANE>(p, c, tile, w.scale, member, roots, rows);
            __syncthreads();
        } else if (MODEL == NEUG_PASSIVE && !last) {
            equations<HALF>(c, tile, w.scale, member, rows);
            __syncthreads();
        }
    }
}

template <int MODEL, bool HALF, bool BY_LANE> static cudaError_t start(const neug_launch *l, const neug_params *p)
{
    const auto kernel = chip_kernel<MODEL, HALF, BY_LANE>;
    const cudaError_t error = lacis_gpu_all_shared((const void *)kernel);
    if (error != cudaSuccess) return error;
    kernel<<<l->tiles, l->groups * l->lanes, l->shared_bytes, l->stream>>>(*p, l->lanes, l->groups);
    return cudaGetLastError();
}

template <int MODEL, bool BY_LANE> static cudaError_t start_method(const neug_launch *l, const neug_params *p)
{
    return l->half ? start<MODEL, true, BY_LANE>(l, p) : start<MODEL, false, BY_LANE>(l, p);
}

cudaError_t neug_chip_launch(const neug_launch *l, const neug_params *p)
{
    if (l->model == NEUG_PASSIVE) return start_method<NEUG_PASSIVE, true>(l, p);
    if (l->model == NEUG_CONSTANT)
        return l->by_lane ? start_method<NEUG_CONSTANT, true>(l, p) : start_method<NEUG_CONSTANT, false>(l, p);
    return l->by_lane ? start_method<NEUG_CHANNELS, true>(l, p) : start_method<NEUG_CHANNELS, false>(l, p);
}
