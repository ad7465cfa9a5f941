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

/* What lies in shared memory; row i of lane l at (i << shift) + l. */
struct chip {
    double *y;      /* voltages; within a step right-hand sides, then solutions */
    double *f;      /* excesses, then these over their diagonals; not CONSTANT */
    double *old;    /* Crank-Nicolson: voltages */
    double2 *couple, *member; /* member: CONSTANT */
    int32_t *list;
    uint2 *word;
    uint32_t *event;
    int shift, lanes, groups;
};

NEUG_DEVICE void *take(char **at, size_t bytes)
{
    void *out = *at;
    *at += (bytes + 15) / 16 * 16;
    return out;
}

template <int MODEL, bool HALF> NEUG_DEVICE chip lay_out(const neug_shape &shape, char *memory, int lanes, int groups)
{
    chip c;
    const size_t n = (size_t)shape.nodes, all = n * (size_t)lanes * sizeof(double);
    c.lanes = lanes;
    c.groups = groups;
    c.shift = __ffs(lanes) - 1;
    c.y = (double *)take(&memory, all);
    c.f = MODEL == NEUG_CONSTANT ? NULL : (double *)take(&memory, all);
    c.old = HALF ? (double *)take(&memory, all) : NULL;
    c.couple = (double2 *)take(&memory, n * sizeof *c.couple);
    c.member = MODEL == NEUG_CONSTANT ? (double2 *)take(&memory, n * sizeof *c.member) : NULL;
    c.word = (uint2 *)take(&memory, n * sizeof *c.word);
    c.list = (int32_t *)take(&memory, (2 * (size_t)(shape.phases * groups) + 2) * sizeof *c.list);
    c.event = (uint32_t *)take(&memory, (size_t)shape.events * sizeof *c.event);
    return c;
}

size_t neug_chip_bytes(int model, bool half, const neug_shape *shape, int lanes, int groups)
{
    const size_t n = (size_t)shape->nodes, arrays = 1 + (model != NEUG_CONSTANT) + half;
    const size_t words = 2 * (size_t)(shape->phases * groups) + 2 + (size_t)shape->events;
    return n * (arrays * (size_t)lanes * 8 + (model == NEUG_CONSTANT ? 40 : 24)) + 4 * words + 7 * 16;
}

/* A thread's part in a block's work. */
struct worker {
    const neug_clamp *clamp;
    int lane, group; /* lane: within the tile */
    int64_t number;  /* of the lane, in the panel */
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
NEUG_DEVICE due fetch_rising(const chip &c, const worker &w, int32_t k, uint32_t word)
{
    due out = {};
    const int32_t at = (k << c.shift) + w.lane;
    out.couple = c.couple[k];
    out.sum = (HALF && MODEL == NEUG_CONSTANT ? c.old : c.y)[at];
    if constexpr (MODEL == NEUG_CONSTANT) {
        const double2 member = c.member[k];
        out.sum = fma(member.x, out.sum, BY_LANE ? member.y * w.scale.ge : member.y);
    } else {
        out.excess = c.f[at];
    }
    if (word & NEUG_ROW_CHILD) {
        const int32_t child = (int32_t)(word & NEUG_ROW_MASK), there = (child << c.shift) + w.lane;
        out.child_down = c.couple[child].x;
        out.child_y = c.y[there];
        if constexpr (MODEL != NEUG_CONSTANT) out.child_f = c.f[there];
    }
    return out;
}

/* Clamps and children as the list of events has them. Answers what follows them there. */
template <int MODEL, bool BY_LANE>
NEUG_DEVICE const uint32_t *take_events(const neug_params &p, const chip &c, const worker &w, int64_t step,
                                        const uint32_t *event, due *d)
{
    double sum = 0, excess = 0;
    for (uint32_t what = 0; !(what & NEUG_EVENT_END);) {
        what = *event++;
        const int32_t id = (int32_t)(what & NEUG_ROW_MASK), at = (id << c.shift) + w.lane;
        if (what & NEUG_EVENT_CLAMP) {
            d->sum += neug_current(p, w.clamp[id], w.number, step);
            continue;
        }
        const double down = coupling<MODEL, BY_LANE>(w, c.couple[id].x);
        if (what & NEUG_EVENT_NEXT) {
            d->sum = fma(down, c.y[at], d->sum);
            if (MODEL != NEUG_CONSTANT) d->excess = fma(down, c.f[at], d->excess);
            continue;
        }
        sum = fma(down, c.y[at], sum);
        if (MODEL != NEUG_CONSTANT) excess = fma(down, c.f[at], excess);
        if (!(what & NEUG_EVENT_CLOSE)) continue;
        d->sum += sum;
        if (MODEL != NEUG_CONSTANT) d->excess += excess;
    }
    return event;
}

template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE void rise(const neug_params &p, const chip &c, const worker &w, int32_t phase, int64_t step)
{
    const int32_t *list = c.list + 2 * (phase * c.groups + w.group);
    const uint32_t *event = c.event + list[1];
    const int32_t first = list[0], last = list[2] - 1;
    if (first > last) return;
    uint32_t word = c.word[first].x, next_word = c.word[min(first + 1, last)].x;
    due now = fetch_rising<MODEL, HALF, BY_LANE>(c, w, first, word);
    double y = 0, f = 0, below = 0; /* of the row before; below: its coupling to the parent */
    for (int32_t k = first; k <= last; k++) {
        const uint32_t second_word = c.word[min(k + 2, last)].x;
        const due next = fetch_rising<MODEL, HALF, BY_LANE>(c, w, min(k + 1, last), next_word);
        if (word & NEUG_ROW_CHILD) {
            const double down = coupling<MODEL, BY_LANE>(w, now.child_down);
            now.sum += down * now.child_y;
            if (MODEL != NEUG_CONSTANT) now.excess += down * now.child_f;
        }
        if (word & NEUG_ROW_EVENTS) event = take_events<MODEL, BY_LANE>(p, c, w, step, event, &now);
        if (word & NEUG_ROW_NEXT) {
            const double down = coupling<MODEL, BY_LANE>(w, below);
            now.sum = fma(down, y, now.sum);
            if (MODEL != NEUG_CONSTANT) now.excess = fma(down, f, now.excess);
        }
        const int32_t at = (k << c.shift) + w.lane;
        y = now.sum;
        if constexpr (MODEL != NEUG_CONSTANT) {
            const double inverse = neug_reciprocal(now.excess + coupling<MODEL, BY_LANE>(w, now.couple.y));
            y *= inverse;
            f = now.excess * inverse;
            c.f[at] = f;
        }
        c.y[at] = y;
        below = now.couple.x;
        word = next_word;
        next_word = second_word;
        now = next;
    }
}

/* A row that is due in the sweep to the tips: v = y + up times the parent's. */
struct falls {
    double y, up, parent;
};

template <int MODEL> NEUG_DEVICE falls fetch_falling(const chip &c, const worker &w, int32_t k, uint32_t word)
{
    falls out;
    const int32_t at = (k << c.shift) + w.lane;
    out.y = c.y[at];
    out.up = MODEL == NEUG_CONSTANT ? c.couple[k].y : c.f[at];
    out.parent = c.y[(int32_t)((word & NEUG_ROW_MASK) << c.shift) + w.lane]; /* of the root: row 0, not used */
    return out;
}

template <int MODEL, bool HALF> NEUG_DEVICE void fall(const chip &c, const worker &w, int32_t phase)
{
    const int32_t *list = c.list + 2 * (phase * c.groups + w.group);
    const int32_t first = list[0], last = list[2] - 1;
    if (first > last) return;
    uint32_t word = c.word[last].y, next_word = c.word[max(last - 1, first)].y;
    falls now = fetch_falling<MODEL>(c, w, last, word);
    double u = 0;
    for (int32_t k = last; k >= first; k--) {
        const uint32_t second_word = c.word[max(k - 2, first)].y;
        const falls next = fetch_falling<MODEL>(c, w, max(k - 1, first), next_word);
        const double above = word & NEUG_ROW_UNDER ? u : now.parent;
        const double up = MODEL == NEUG_CONSTANT ? now.up : 1.0 - now.up;
        const int32_t at = (k << c.shift) + w.lane;
        u = word & NEUG_ROW_ROOT ? now.y : fma(up, above, now.y);
        c.y[at] = u;
        if constexpr (HALF) c.old[at] = fma(2.0, u, -c.old[at]);
        word = next_word;
        next_word = second_word;
        now = next;
    }
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

template <bool HALF> NEUG_DEVICE const double *voltages(const chip &c)
{
    return HALF ? c.old : c.y;
}

/* First equations of a launch: CHANNELS and PASSIVE. */
template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE void equations(const neug_params &p, const chip &c, const neug_tile &tile, const neug_lane &lane,
                           const double *member)
{
    walk w = walk_of(c, tile);
    for (; w.node < (int32_t)(p.common.shape + tile.shape)->nodes; w.node += w.stride, w.at += w.step) {
        const int32_t i = (w.node << c.shift) + w.lane;
        const bool gates = MODEL == NEUG_CHANNELS && w.mine;
        double excess, sum;
        neug_equation<MODEL>(member + (int64_t)w.node * NEUG_MEMBER, lane, BY_LANE, voltages<HALF>(c)[i],
                             gates ? p.m[w.at] : 0, gates ? p.h[w.at] : 0, gates ? p.n[w.at] : 0, &excess, &sum);
        c.f[i] = excess;
        c.y[i] = sum;
    }
}

/* Gates for dt at the new voltages, and the equations of the next step. */
template <bool HALF, bool BY_LANE>
NEUG_DEVICE void gates_go_on(const neug_params &p, const chip &c, const neug_tile &tile, const neug_lane &lane,
                             const double *member, double roots, int32_t nodes, bool last)
{
    walk w = walk_of(c, tile);
    bool there = w.mine && w.node < nodes;
    double m = there ? p.m[w.at] : 0, h = there ? p.h[w.at] : 0, n = there ? p.n[w.at] : 0;
    for (int32_t first = 0; first < nodes; first += w.stride) { /* all threads alike: exponentials take whole warps */
        const bool next = w.mine && w.node + w.stride < nodes;
        const double next_m = next ? p.m[w.at + w.step] : 0, next_h = next ? p.h[w.at + w.step] : 0,
                     next_n = next ? p.n[w.at + w.step] : 0;
        const int32_t node = w.node < nodes ? w.node : nodes - 1, i = (node << c.shift) + w.lane;
        const double v = voltages<HALF>(c)[i];
        const neug_rates rates = neug_rates_at(v, roots);
        m = neug_relax(m, rates.m, rates.m_speed, p.gate_dt, roots);
        h = neug_relax(h, rates.h, rates.h_speed, p.gate_dt, roots);
        n = neug_relax(n, rates.n, rates.n_speed, p.gate_dt, roots);
        if (there) {
            p.m[w.at] = m;
            p.h[w.at] = h;
            p.n[w.at] = n;
        }
        if (!last && w.node < nodes) {
            double excess, sum;
            neug_equation<NEUG_CHANNELS>(member + (int64_t)node * NEUG_MEMBER, lane, BY_LANE, v, m, h, n, &excess,
                                         &sum);
            c.f[i] = excess;
            c.y[i] = sum;
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
            neug_record(p, probe.number, tile.lane + lane, voltages<HALF>(c)[(probe.node << c.shift) + lane],
                        step / p.every);
    }
}

/* Tables and voltages of a tile. */
template <int MODEL, bool HALF>
NEUG_DEVICE void load(const neug_params &p, const chip &c, const neug_tile &tile, const neug_shape &shape)
{
    const neug_common &from = p.common;
    const int32_t threads = (int32_t)blockDim.x, thread = (int32_t)threadIdx.x;
    for (int32_t i = thread; i < shape.nodes; i += threads) {
        c.couple[i] = from.couple[shape.node0 + i];
        if (MODEL == NEUG_CONSTANT) c.member[i] = *(const double2 *)(from.member + (shape.node0 + i) * NEUG_MEMBER);
        c.word[i] = from.word[shape.node0 + i];
    }
    for (int32_t i = thread; i < 2 * shape.phases * c.groups + 2; i += threads)
        c.list[i] = from.list[shape.list0 + i];
    for (int32_t i = thread; i < shape.events; i += threads)
        c.event[i] = from.event[shape.event0 + i];
    walk w = walk_of(c, tile);
    double *to = HALF ? c.old : c.y;
    for (; w.node < shape.nodes; w.node += w.stride, w.at += w.step)
        to[(w.node << c.shift) + w.lane] = w.mine ? p.v[w.at] : 0;
}

template <bool HALF>
NEUG_DEVICE void store(const neug_params &p, const chip &c, const neug_tile &tile, const neug_shape &shape)
{
    walk w = walk_of(c, tile);
    for (; w.node < shape.nodes; w.node += w.stride, w.at += w.step)
        if (w.mine) p.v[w.at] = voltages<HALF>(c)[(w.node << c.shift) + w.lane];
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
    extern __shared__ double2 memory[];
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape shape = p.common.shape[tile.shape];
    const chip c = lay_out<MODEL, HALF>(shape, (char *)memory, lanes, groups);
    const double *member = p.common.member + shape.node0 * NEUG_MEMBER;
    worker w;
    w.clamp = p.common.clamp + shape.clamp0;
    w.lane = (int)threadIdx.x & (lanes - 1);
    w.group = (int)threadIdx.x >> c.shift;
    w.number = tile.lane + (w.lane < tile.lanes ? w.lane : 0);
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
        if (last) store<HALF>(p, c, tile, shape);
        if constexpr (MODEL == NEUG_CHANNELS) {
            gates_go_on<HALF, BY_LANE>(p, c, tile, w.scale, member, roots, shape.nodes, last);
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
