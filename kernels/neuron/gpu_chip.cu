/* SPDX-License-Identifier: Apache-2.0
 *
 * CHIP: a block advances a few lanes for many steps with their voltages in shared memory. Groups of threads, a thread
 * a lane (or two), go through subtrees as a schedule made on the host says (gpu_schedule.h). Gates of Hodgkin and
 * Huxley are not needed for the solve: they pass through registers once a step, any thread doing any node, and stay
 * in the L2 where the steps are many. The same operations on each node as in gpu_thread.cu. Caller: gpu_run.cu.
 */
#include "gpu_kernels.h"
#include "gpu_record.cuh"
#include "gpu_schedule.h"

/* What lies in shared memory, as offsets in bytes: of them few instructions make addresses. Voltages and the like of
 * row i and lane l stand i * row + 8 l behind the array's beginning. */
struct chip {
    uint32_t y;              /* voltages; within a step right-hand sides, then solutions */
    uint32_t f;              /* excesses, then these over their diagonals; not CONSTANT */
    uint32_t old;            /* Crank-Nicolson: voltages */
    uint32_t couple, member; /* member: CONSTANT */
    uint32_t word, list, event;
    uint32_t row;
    int shift, lanes, groups;
};

extern __shared__ double2 memory[];
template <class T> NEUG_DEVICE T &at(uint32_t offset)
{
    return *(T *)((char *)memory + offset);
}

NEUG_DEVICE uint32_t take(uint32_t *end, size_t bytes)
{
    const uint32_t out = *end;
    *end += (uint32_t)(bytes + 15) / 16 * 16;
    return out;
}

enum { WORDS_AHEAD = 2 }; /* that are read behind the last, and in front of the first */

template <int MODEL, bool HALF> NEUG_DEVICE chip lay_out(const neug_shape &shape, int lanes, int groups)
{
    chip c;
    uint32_t end = 0;
    const size_t n = (size_t)shape.nodes, all = n * (size_t)lanes * sizeof(double);
    c.lanes = lanes;
    c.groups = groups;
    c.shift = __ffs(lanes) - 1;
    c.row = (uint32_t)lanes * 8;
    c.y = take(&end, all);
    c.f = MODEL == NEUG_CONSTANT ? 0 : take(&end, all);
    c.old = HALF ? take(&end, all) : 0;
    c.couple = take(&end, n * sizeof(double2));
    c.member = MODEL == NEUG_CONSTANT ? take(&end, n * sizeof(double2)) : 0;
    c.word = take(&end, (n + 2 * WORDS_AHEAD) * sizeof(uint2)) + (uint32_t)(WORDS_AHEAD * sizeof(uint2));
    c.list = take(&end, (2 * (size_t)(shape.phases * groups) + 2) * sizeof(int32_t));
    c.event = take(&end, (size_t)shape.events * sizeof(uint32_t));
    return c;
}

size_t neug_chip_bytes(int model, bool half, const neug_shape *shape, int lanes, int groups)
{
    const size_t n = (size_t)shape->nodes, arrays = 1 + (model != NEUG_CONSTANT) + half;
    const size_t words = 2 * (size_t)(shape->phases * groups) + 2 + (size_t)shape->events;
    return n * (arrays * (size_t)lanes * 8 + (model == NEUG_CONSTANT ? 40 : 24)) + 4 * words + 10 * 16;
}

/* A thread's part in a block's work. */
struct worker {
    const neug_clamp *clamp;
    uint32_t lane; /* its place in a row, in bytes */
    int group;
    int64_t number; /* of the lane, in the panel */
    neug_lane scale;
};

template <int MODEL, bool BY_LANE> NEUG_DEVICE double coupling(const worker &w, double c)
{
    return MODEL != NEUG_CONSTANT && BY_LANE ? c * w.scale.couple : c;
}

/* A row that is due, read ahead; where there is one child beside the next, that is in it. */
struct due {
    double sum, excess;
    double2 couple;
};

template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE due fetch_rising(const chip &c, const worker &w, uint32_t k, uint32_t word)
{
    due out;
    const uint32_t here = k * c.row + w.lane;
    out.couple = at<double2>(c.couple + k * 16);
    if constexpr (MODEL == NEUG_CONSTANT) {
        const double2 member = at<double2>(c.member + k * 16);
        out.sum = fma(member.x, at<double>((HALF ? c.old : c.y) + here), BY_LANE ? member.y * w.scale.ge : member.y);
    } else {
        out.sum = at<double>(c.y + here);
        out.excess = at<double>(c.f + here);
    }
    const bool child = word & NEUG_ROW_CHILD;
    const uint32_t which = word & NEUG_ROW_MASK, there = which * c.row + w.lane;
    const double down = child ? coupling<MODEL, BY_LANE>(w, at<double>(c.couple + which * 16)) : 0;
    out.sum += down * (child ? at<double>(c.y + there) : 0);
    if constexpr (MODEL != NEUG_CONSTANT) out.excess += down * (child ? at<double>(c.f + there) : 0);
    return out;
}

/* Clamps and children as the list of events has them. Answers what follows them there. */
template <int MODEL, bool BY_LANE>
NEUG_DEVICE uint32_t take_events(const neug_params &p, const chip &c, const worker &w, int64_t step, uint32_t event,
                                 due *d)
{
    double sum = 0, excess = 0;
    for (uint32_t what = 0; !(what & NEUG_EVENT_END); event += sizeof what) {
        what = at<uint32_t>(event);
        const uint32_t id = what & NEUG_ROW_MASK, there = id * c.row + w.lane;
        if (what & NEUG_EVENT_CLAMP) {
            d->sum += neug_current(p, w.clamp[id], w.number, step);
            continue;
        }
        const double down = coupling<MODEL, BY_LANE>(w, at<double>(c.couple + id * 16));
        if (what & NEUG_EVENT_NEXT) {
            d->sum = fma(down, at<double>(c.y + there), d->sum);
            if (MODEL != NEUG_CONSTANT) d->excess = fma(down, at<double>(c.f + there), d->excess);
            continue;
        }
        sum = fma(down, at<double>(c.y + there), sum);
        if (MODEL != NEUG_CONSTANT) excess = fma(down, at<double>(c.f + there), excess);
        if (!(what & NEUG_EVENT_CLOSE)) continue;
        d->sum += sum;
        if (MODEL != NEUG_CONSTANT) d->excess += excess;
    }
    return event;
}

/* What goes from row to row on the way to the root. */
struct carried {
    double y, f, below; /* of the row before; below: its coupling to the parent */
    uint32_t event;
};

template <int MODEL, bool BY_LANE>
NEUG_DEVICE void finish(const neug_params &p, const chip &c, const worker &w, int64_t step, uint32_t k, uint32_t word,
                        due d, carried *r)
{
    if (word & NEUG_ROW_EVENTS) r->event = take_events<MODEL, BY_LANE>(p, c, w, step, r->event, &d);
    if (word & NEUG_ROW_NEXT) {
        const double down = coupling<MODEL, BY_LANE>(w, r->below);
        d.sum = fma(down, r->y, d.sum);
        if (MODEL != NEUG_CONSTANT) d.excess = fma(down, r->f, d.excess);
    }
    const uint32_t here = k * c.row + w.lane;
    r->y = d.sum;
    if constexpr (MODEL != NEUG_CONSTANT) {
        const double inverse = neug_reciprocal(d.excess + coupling<MODEL, BY_LANE>(w, d.couple.y));
        r->y *= inverse;
        r->f = d.excess * inverse;
        at<double>(c.f + here) = r->f;
    }
    at<double>(c.y + here) = r->y;
    r->below = d.couple.x;
}

NEUG_DEVICE uint2 word_of(const chip &c, uint32_t k)
{
    return at<uint2>(c.word + k * (uint32_t)sizeof(uint2));
}

template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE void rise(const neug_params &p, const chip &c, const worker &w, int32_t phase, int64_t step)
{
    const uint32_t list = c.list + 8 * (uint32_t)(phase * c.groups + w.group);
    uint32_t k = at<uint32_t>(list);
    const uint32_t end = at<uint32_t>(list + 8);
    if (k == end) return;
    carried r = {0, 0, 0, c.event + 4 * at<uint32_t>(list + 4)};
    uint32_t word = word_of(c, k).x, next_word = word_of(c, k + 1).x;
    due now = fetch_rising<MODEL, HALF, BY_LANE>(c, w, k, word);
#pragma unroll 2
    for (; k + 1 < end; k++) {
        const uint32_t second_word = word_of(c, k + 2).x;
        const due next = fetch_rising<MODEL, HALF, BY_LANE>(c, w, k + 1, next_word);
        finish<MODEL, BY_LANE>(p, c, w, step, k, word, now, &r);
        word = next_word;
        next_word = second_word;
        now = next;
    }
    finish<MODEL, BY_LANE>(p, c, w, step, k, word, now, &r);
}

/* A row that is due in the sweep to the tips: v = y + up times the parent's. */
struct falls {
    double y, up, parent;
};

template <int MODEL> NEUG_DEVICE falls fetch_falling(const chip &c, const worker &w, uint32_t k, uint32_t word)
{
    const uint32_t here = k * c.row + w.lane;
    falls out;
    out.y = at<double>(c.y + here);
    out.up = MODEL == NEUG_CONSTANT ? at<double>(c.couple + k * 16 + 8) : at<double>(c.f + here);
    out.parent = at<double>(c.y + (word & NEUG_ROW_MASK) * c.row + w.lane); /* of the root: itself, not used */
    return out;
}

template <int MODEL, bool HALF>
NEUG_DEVICE double settle(const chip &c, const worker &w, uint32_t k, uint32_t word, const falls &d, double before)
{
    const double above = word & NEUG_ROW_UNDER ? before : d.parent, up = MODEL == NEUG_CONSTANT ? d.up : 1.0 - d.up;
    const double u = word & NEUG_ROW_ROOT ? d.y : fma(up, above, d.y);
    const uint32_t here = k * c.row + w.lane;
    at<double>(c.y + here) = u;
    if constexpr (HALF) at<double>(c.old + here) = fma(2.0, u, -at<double>(c.old + here));
    return u;
}

template <int MODEL, bool HALF> NEUG_DEVICE void fall(const chip &c, const worker &w, int32_t phase)
{
    const uint32_t list = c.list + 8 * (uint32_t)(phase * c.groups + w.group);
    const uint32_t first = at<uint32_t>(list);
    uint32_t k = at<uint32_t>(list + 8);
    if (k-- == first) return;
    uint32_t word = word_of(c, k).y, next_word = word_of(c, k - 1).y;
    falls now = fetch_falling<MODEL>(c, w, k, word);
    double u = 0;
#pragma unroll 2
    for (; k > first; k--) {
        const uint32_t second_word = word_of(c, k - 2).y;
        const falls next = fetch_falling<MODEL>(c, w, k - 1, next_word);
        u = settle<MODEL, HALF>(c, w, k, word, now, u);
        word = next_word;
        next_word = second_word;
        now = next;
    }
    settle<MODEL, HALF>(c, w, k, word, now, u);
}

/* The voltage of a row and lane: of number (row << shift) + lane. */
template <bool HALF> NEUG_DEVICE double &voltage(const chip &c, uint32_t place)
{
    return at<double>((HALF ? c.old : c.y) + place * 8);
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
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)l->shared_bytes);
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
