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

/* W lanes of one node. */
template <int W> struct some {
    double of[W];
};
template <int W> NEUG_DEVICE some<W> get(const double *from)
{
    some<W> out;
    if constexpr (W == 2) {
        const double2 pair = *(const double2 *)from;
        out.of[0] = pair.x;
        out.of[1] = pair.y;
    } else {
        out.of[0] = *from;
    }
    return out;
}
template <int W> NEUG_DEVICE void put(double *to, const some<W> &x)
{
    if constexpr (W == 2) {
        *(double2 *)to = make_double2(x.of[0], x.of[1]);
    } else {
        *to = x.of[0];
    }
}

/* What lies in shared memory, node i of lane l at (i << shift) + l. */
struct chip {
    double *y;                /* voltages; within a step right-hand sides, then solutions */
    double *f;                /* excesses, then these over their diagonals; not CONSTANT */
    double *old;              /* Crank-Nicolson: voltages */
    double2 *couple, *member; /* member: CONSTANT */
    int32_t *list, *parent;
    uint32_t *entry, *event;
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
    c.list = (int32_t *)take(&memory, (2 * (size_t)(shape.phases * groups) + 2) * sizeof *c.list);
    c.parent = (int32_t *)take(&memory, n * sizeof *c.parent);
    c.entry = (uint32_t *)take(&memory, n * sizeof *c.entry);
    c.event = (uint32_t *)take(&memory, (size_t)shape.events * sizeof *c.event);
    return c;
}

size_t neug_chip_bytes(int model, bool half, const neug_shape *shape, int lanes, int groups)
{
    const size_t n = (size_t)shape->nodes, arrays = 1 + (model != NEUG_CONSTANT) + half;
    const size_t words = 2 * (size_t)(shape->phases * groups) + 2 + 2 * n + (size_t)shape->events;
    return arrays * n * (size_t)lanes * 8 + n * (model == NEUG_CONSTANT ? 32 : 16) + 4 * words + 8 * 16;
}

/* A thread's part in a block's work. */
struct worker {
    const neug_shape *shape;
    const neug_clamp *clamp;
    int lane; /* its first in sweeps, within the tile */
    int group;
    int64_t number[2];
    neug_lane scale[2];
};

/* A node that is due, its state read ahead. */
template <int MODEL, int W> struct due {
    uint32_t entry;
    int32_t node;
    some<W> sum, excess;
    double2 couple;
};

template <int MODEL, bool HALF, bool BY_LANE, int W>
NEUG_DEVICE due<MODEL, W> fetch_rising(const chip &c, const worker &w, int32_t k)
{
    due<MODEL, W> out;
    out.entry = c.entry[k];
    out.node = (int32_t)(out.entry & NEUG_NODE_MASK);
    const int32_t at = (out.node << c.shift) + w.lane;
    out.couple = c.couple[out.node];
    out.sum = get<W>((HALF && MODEL == NEUG_CONSTANT ? c.old : c.y) + at);
    if constexpr (MODEL == NEUG_CONSTANT) {
        const double2 member = c.member[out.node];
#pragma unroll
        for (int j = 0; j < W; j++)
            out.sum.of[j] = fma(member.x, out.sum.of[j], BY_LANE ? member.y * w.scale[j].ge : member.y);
    } else {
        out.excess = get<W>(c.f + at);
    }
    return out;
}

/* Clamps and children that are not at hand. */
template <int MODEL, bool BY_LANE, int W>
NEUG_DEVICE void take_events(const neug_params &p, const chip &c, const worker &w, int64_t step,
                             const uint32_t *event, due<MODEL, W> *d)
{
    some<W> sum = {}, excess = {};
    for (uint32_t what = 0; !(what & NEUG_EVENT_END); event++) {
        what = *event;
        const int32_t id = (int32_t)(what & NEUG_NODE_MASK);
#pragma unroll
        for (int j = 0; j < W; j++) {
            if (what & NEUG_EVENT_CLAMP) {
                d->sum.of[j] += neug_current(p, w.clamp[id], w.number[j], step);
                continue;
            }
            const int32_t at = (id << c.shift) + w.lane + j;
            const double down =
                MODEL != NEUG_CONSTANT && BY_LANE ? c.couple[id].x * w.scale[j].couple : c.couple[id].x;
            if (what & NEUG_EVENT_NEXT) {
                d->sum.of[j] = fma(down, c.y[at], d->sum.of[j]);
                if (MODEL != NEUG_CONSTANT) d->excess.of[j] = fma(down, c.f[at], d->excess.of[j]);
                continue;
            }
            sum.of[j] = fma(down, c.y[at], sum.of[j]);
            if (MODEL != NEUG_CONSTANT) excess.of[j] = fma(down, c.f[at], excess.of[j]);
            if (!(what & NEUG_EVENT_CLOSE)) continue;
            d->sum.of[j] += sum.of[j];
            if (MODEL != NEUG_CONSTANT) d->excess.of[j] += excess.of[j];
        }
    }
}

NEUG_DEVICE const uint32_t *after(const uint32_t *event)
{
    while (!(*event++ & NEUG_EVENT_END))
        ;
    return event;
}

template <int MODEL, bool HALF, bool BY_LANE, int W>
NEUG_DEVICE void rise(const neug_params &p, const chip &c, const worker &w, int32_t phase, int64_t step)
{
    const int32_t *list = c.list + 2 * (phase * c.groups + w.group);
    const uint32_t *event = c.event + list[1];
    const int32_t end = list[2];
    if (list[0] == end) return;
    due<MODEL, W> now = fetch_rising<MODEL, HALF, BY_LANE, W>(c, w, list[0]), next = now;
    some<W> y = {}, f = {};
    double below = 0; /* down of the node before */
    for (int32_t k = list[0]; k < end; k++) {
        if (k + 1 < end) next = fetch_rising<MODEL, HALF, BY_LANE, W>(c, w, k + 1);
        if (now.entry & NEUG_ENTRY_EVENTS) {
            take_events<MODEL, BY_LANE, W>(p, c, w, step, event, &now);
            event = after(event);
        }
        const int32_t at = (now.node << c.shift) + w.lane;
#pragma unroll
        for (int j = 0; j < W; j++) {
            const double down = MODEL != NEUG_CONSTANT && BY_LANE ? below * w.scale[j].couple : below;
            double sum = now.sum.of[j], excess = MODEL == NEUG_CONSTANT ? 0 : now.excess.of[j];
            if (now.entry & NEUG_ENTRY_NEXT) {
                sum = fma(down, y.of[j], sum);
                if (MODEL != NEUG_CONSTANT) excess = fma(down, f.of[j], excess);
            }
            if constexpr (MODEL != NEUG_CONSTANT) {
                const double up = BY_LANE ? now.couple.y * w.scale[j].couple : now.couple.y;
                const double inverse = neug_reciprocal(excess + up);
                f.of[j] = excess * inverse;
                sum *= inverse;
            }
            y.of[j] = sum;
        }
        put<W>(c.y + at, y);
        if constexpr (MODEL != NEUG_CONSTANT) put<W>(c.f + at, f);
        below = now.couple.x;
        now = next;
    }
}

template <int MODEL, int W> NEUG_DEVICE due<MODEL, W> fetch_falling(const chip &c, const worker &w, int32_t k)
{
    due<MODEL, W> out;
    out.entry = c.entry[k];
    out.node = (int32_t)(out.entry & NEUG_NODE_MASK);
    const int32_t at = (out.node << c.shift) + w.lane;
    out.sum = get<W>(c.y + at);
    if constexpr (MODEL == NEUG_CONSTANT) {
        out.couple.y = c.couple[out.node].y;
    } else {
        out.excess = get<W>(c.f + at);
    }
    return out;
}

/* The parent's voltages, where they are not at hand. */
template <int W> NEUG_DEVICE some<W> fetch_parent(const chip &c, const worker &w, uint32_t entry, int32_t node)
{
    some<W> none = {};
    if (entry & (NEUG_ENTRY_UNDER | NEUG_ENTRY_ROOT)) return none;
    return get<W>(c.y + (c.parent[node] << c.shift) + w.lane);
}

template <int MODEL, bool HALF, int W> NEUG_DEVICE void fall(const chip &c, const worker &w, int32_t phase)
{
    const int32_t *list = c.list + 2 * (phase * c.groups + w.group);
    const int32_t begin = list[0];
    if (begin == list[2]) return;
    due<MODEL, W> now = fetch_falling<MODEL, W>(c, w, list[2] - 1), next = now;
    some<W> parent = fetch_parent<W>(c, w, now.entry, now.node), next_parent = parent, u = {};
    for (int32_t k = list[2] - 1; k >= begin; k--) {
        if (k > begin) {
            next = fetch_falling<MODEL, W>(c, w, k - 1);
            next_parent = fetch_parent<W>(c, w, next.entry, next.node);
        }
        const int32_t at = (now.node << c.shift) + w.lane;
#pragma unroll
        for (int j = 0; j < W; j++) {
            const double above = now.entry & NEUG_ENTRY_UNDER ? u.of[j] : parent.of[j];
            const double up = MODEL == NEUG_CONSTANT ? now.couple.y : 1.0 - now.excess.of[j];
            u.of[j] = now.entry & NEUG_ENTRY_ROOT ? now.sum.of[j] : fma(up, above, now.sum.of[j]);
        }
        put<W>(c.y + at, u);
        if constexpr (HALF) {
            some<W> v = get<W>(c.old + at);
#pragma unroll
            for (int j = 0; j < W; j++)
                v.of[j] = fma(2.0, u.of[j], -v.of[j]);
            put<W>(c.old + at, v);
        }
        now = next;
        parent = next_parent;
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
        c.parent[i] = from.parent[shape.node0 + i];
        c.entry[i] = from.entry[shape.node0 + i];
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

template <int MODEL, bool HALF, bool BY_LANE, int W>
NEUG_DEVICE void solve(const neug_params &p, const chip &c, const worker &w, int32_t phases, int64_t step)
{
    for (int32_t phase = 0; phase < phases; phase++) {
        rise<MODEL, HALF, BY_LANE, W>(p, c, w, phase, step);
        __syncthreads();
    }
    for (int32_t phase = phases - 1; phase >= 0; phase--) {
        fall<MODEL, HALF, W>(c, w, phase);
        __syncthreads();
    }
}

template <int MODEL, bool HALF, bool BY_LANE, int W>
static __global__ void __launch_bounds__(NEUG_CHIP_THREADS, 1)
    chip_kernel(const __grid_constant__ neug_params p, int lanes, int groups)
{
    extern __shared__ double2 memory[];
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape shape = p.common.shape[tile.shape];
    const chip c = lay_out<MODEL, HALF>(shape, (char *)memory, lanes, groups);
    const double *member = p.common.member + shape.node0 * NEUG_MEMBER;
    const int width = lanes / W;
    worker w;
    w.clamp = p.common.clamp + shape.clamp0;
    w.lane = (int)threadIdx.x % width * W;
    w.group = (int)threadIdx.x / width;
    for (int j = 0; j < W; j++) {
        w.number[j] = tile.lane + (w.lane + j < tile.lanes ? w.lane + j : 0);
        w.scale[j] = neug_lane_of<MODEL, BY_LANE>(p, w.number[j]);
    }
    const double roots = neug_roots();
    load<MODEL, HALF>(p, c, tile, shape);
    __syncthreads();
    if constexpr (MODEL != NEUG_CONSTANT) {
        equations<MODEL, HALF, BY_LANE>(p, c, tile, w.scale[0], member);
        __syncthreads();
    }
    for (int64_t step = p.step; step < p.step + p.steps; step++) {
        const bool last = step + 1 == p.step + p.steps;
        solve<MODEL, HALF, BY_LANE, W>(p, c, w, shape.phases, step);
        if ((step + 1) % p.every == 0) {
            sample<HALF>(p, c, tile, shape, step + 1);
            __syncthreads();
        }
        if (last) store<HALF>(p, c, tile, shape);
        if constexpr (MODEL == NEUG_CHANNELS) {
            gates_go_on<HALF, BY_LANE>(p, c, tile, w.scale[0], member, roots, shape.nodes, last);
            __syncthreads();
        } else if (MODEL == NEUG_PASSIVE && !last) {
            equations<MODEL, HALF, BY_LANE>(p, c, tile, w.scale[0], member);
            __syncthreads();
        }
    }
}

template <int MODEL, bool HALF, bool BY_LANE, int W>
static cudaError_t start(const neug_launch *l, const neug_params *p)
{
    const auto kernel = chip_kernel<MODEL, HALF, BY_LANE, W>;
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)l->shared_bytes);
    if (error != cudaSuccess) return error;
    kernel<<<l->tiles, l->groups *(l->lanes / W), l->shared_bytes, l->stream>>>(*p, l->lanes, l->groups);
    return cudaGetLastError();
}

template <int MODEL, bool BY_LANE, int W> static cudaError_t start_method(const neug_launch *l, const neug_params *p)
{
    return l->half ? start<MODEL, true, BY_LANE, W>(l, p) : start<MODEL, false, BY_LANE, W>(l, p);
}

template <int W> static cudaError_t start_constant(const neug_launch *l, const neug_params *p)
{
    return l->by_lane ? start_method<NEUG_CONSTANT, true, W>(l, p) : start_method<NEUG_CONSTANT, false, W>(l, p);
}

cudaError_t neug_chip_launch(const neug_launch *l, const neug_params *p)
{
    if (l->model == NEUG_CONSTANT) return l->lanes_each == 2 ? start_constant<2>(l, p) : start_constant<1>(l, p);
    if (l->model == NEUG_PASSIVE) return start_method<NEUG_PASSIVE, true, 1>(l, p);
    return l->by_lane ? start_method<NEUG_CHANNELS, true, 1>(l, p) : start_method<NEUG_CHANNELS, false, 1>(l, p);
}
