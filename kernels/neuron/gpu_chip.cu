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
    uint32_t lane;  /* its place in a row, in bytes */
    int group;
    int64_t number; /* of the lane, in the panel */
    neug_lane scale;
};

template <int MODEL, bool BY_LANE> NEUG_DEVICE double coupling(const worker &w, double c)
{
    return MODEL != NEUG_CONSTANT && BY_LANE ? c * w.scale.couple : c;
}

/* A row that is due, read ahead: itself and, where there is one, the child beside the next. */
struct due {
    double sum, excess, child_y, child_f, child_down;
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
    if (word & NEUG_ROW_CHILD) {
        const uint32_t child = word & NEUG_ROW_MASK, there = child * c.row + w.lane;
        out.child_down = at<double>(c.couple + child * 16);
        out.child_y = at<double>(c.y + there);
        if constexpr (MODEL != NEUG_CONSTANT) out.child_f = at<double>(c.f + there);
    }
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
    if (word & NEUG_ROW_CHILD) {
        const double down = coupling<MODEL, BY_LANE>(w, d.child_down);
        d.sum += down * d.child_y;
        if (MODEL != NEUG_CONSTANT) d.excess += down * d.child_f;
    }
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

/* A voltage. */
template <bool HALF> NEUG_DEVICE double &voltage(const chip &c, int32_t row, int32_t lane)
{
    return at<double>((HALF ? c.old : c.y) + (uint32_t)row * c.row + (uint32_t)lane * 8);
}

/* Nodes of a lane, as many threads at once as there are: the thread's first node, and how far it is to its next. */
struct walk {
    int32_t node, stride, lane;
    bool mine;
    int64_t at, step;
};
NEUG_DEVICE walk walk_of(const chip &c, const neug_tile &tile)
{
    walk w;
    w.lane = (int32_t)threadIdx.x & (c.lanes - 1);
    w.node = (int32_t)threadIdx.x >> c.shift;
    w.stride = (int32_t)blockDim.x >> c.shift;
    w.mine = w.lane < tile.lanes;
    w.at = tile.base + w.node * tile.stride + w.lane;
    w.step = w.stride * tile.stride;
    return w;
}

/* First equations of a launch: CHANNELS and PASSIVE. */
template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE void equations(const neug_params &p, const chip &c, const neug_tile &tile, const neug_lane &lane,
                           const double *member)
{
    walk w = walk_of(c, tile);
    for (; w.node < (int32_t)(p.common.shape + tile.shape)->nodes; w.node += w.stride, w.at += w.step) {
        const uint32_t here = (uint32_t)w.node * c.row + (uint32_t)w.lane * 8;
        const bool gates = MODEL == NEUG_CHANNELS && w.mine;
        neug_equation<MODEL>(member + (int64_t)w.node * NEUG_MEMBER, lane, BY_LANE, voltage<HALF>(c, w.node, w.lane),
                             gates ? p.m[w.at] : 0, gates ? p.h[w.at] : 0, gates ? p.n[w.at] : 0,
                             &at<double>(c.f + here), &at<double>(c.y + here));
    }
}

/* Gates for dt at the new voltages, and the equations of the next step. All threads go on alike: exponentials take
 * whole warps. */
template <bool HALF, bool BY_LANE>
NEUG_DEVICE void gates_go_on(const neug_params &p, const chip &c, const neug_tile &tile, const neug_lane &lane,
                             const double *member, double roots, int32_t nodes)
{
    walk w = walk_of(c, tile);
    bool there = w.mine && w.node < nodes;
    double m = there ? p.m[w.at] : 0, h = there ? p.h[w.at] : 0, n = there ? p.n[w.at] : 0;
    for (int32_t first = 0; first < nodes; first += w.stride) {
        const bool next = w.mine && w.node + w.stride < nodes;
        const double next_m = next ? p.m[w.at + w.step] : 0, next_h = next ? p.h[w.at + w.step] : 0,
                     next_n = next ? p.n[w.at + w.step] : 0;
        const int32_t node = min(w.node, nodes - 1);
        const double v = voltage<HALF>(c, node, w.lane);
        neug_gates_go_on(v, p.gate_dt, roots, &m, &h, &n);
        double excess, sum;
        neug_equation<NEUG_CHANNELS>(member + (int64_t)node * NEUG_MEMBER, lane, BY_LANE, v, m, h, n, &excess, &sum);
        if (there) {
            const uint32_t here = (uint32_t)node * c.row + (uint32_t)w.lane * 8;
            p.m[w.at] = m;
            p.h[w.at] = h;
            p.n[w.at] = n;
            at<double>(c.f + here) = excess;
            at<double>(c.y + here) = sum;
        }
        m = next_m, h = next_h, n = next_n;
        there = next;
        w.node += w.stride;
        w.at += w.step;
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
            neug_record(p, probe.number, tile.lane + lane, voltage<HALF>(c, probe.node, lane), step / p.every);
    }
}

/* Tables and voltages of a tile. */
template <int MODEL, bool HALF>
NEUG_DEVICE void load(const neug_params &p, const chip &c, const neug_tile &tile, const neug_shape &shape)
{
    const neug_common &from = p.common;
    const int32_t threads = (int32_t)blockDim.x, thread = (int32_t)threadIdx.x;
    for (int32_t i = thread; i < shape.nodes; i += threads) {
        at<double2>(c.couple + (uint32_t)i * 16) = from.couple[shape.node0 + i];
        if (MODEL == NEUG_CONSTANT)
            at<double2>(c.member + (uint32_t)i * 16) = *(const double2 *)(from.member + (shape.node0 + i) * NEUG_MEMBER);
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
    walk w = walk_of(c, tile);
    for (; w.node < shape.nodes; w.node += w.stride, w.at += w.step)
        voltage<HALF>(c, w.node, w.lane) = w.mine ? p.v[w.at] : 0;
}

template <bool HALF>
NEUG_DEVICE void store(const neug_params &p, const chip &c, const neug_tile &tile, const neug_shape &shape)
{
    walk w = walk_of(c, tile);
    for (; w.node < shape.nodes; w.node += w.stride, w.at += w.step)
        if (w.mine) p.v[w.at] = voltage<HALF>(c, w.node, w.lane);
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
static __global__ void __launch_bounds__(NEUG_CHIP_THREADS, 1)
    chip_kernel(const __grid_constant__ neug_params p, int lanes, int groups)
{
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape shape = p.common.shape[tile.shape];
    const chip c = lay_out<MODEL, HALF>(shape, lanes, groups);
    const double *member = p.common.member + shape.node0 * NEUG_MEMBER;
    worker w;
    w.clamp = p.common.clamp + shape.clamp0;
    const int lane = (int)threadIdx.x & (lanes - 1);
    w.lane = (uint32_t)lane * 8;
    w.group = (int)threadIdx.x >> c.shift;
    w.number = tile.lane + (lane < tile.lanes ? lane : 0);
    w.scale = neug_lane_of<MODEL, BY_LANE>(p, w.number);
    const double roots = neug_roots();
    load<MODEL, HALF>(p, c, tile, shape);
    __syncthreads();
    if constexpr (MODEL != NEUG_CONSTANT) {
        equations<MODEL, HALF, BY_LANE>(p, c, tile, w.scale, member);
        __syncthreads();
    }
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
            gates_go_on<HALF, BY_LANE>(p, c, tile, w.scale, member, roots, shape.nodes);
            __syncthreads();
        } else if (MODEL == NEUG_PASSIVE && !last) {
            equations<MODEL, HALF, BY_LANE>(p, c, tile, w.scale, member);
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
