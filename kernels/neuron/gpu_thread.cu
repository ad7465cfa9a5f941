/* SPDX-License-Identifier: Apache-2.0
 *
 * THREAD: a thread a lane, two sweeps over the tree a step, the state in device memory. Chains stay in registers,
 * branch points wait on a stack in shared memory. It takes every tree and every model. Caller: gpu_run.cu.
 */
#include "gpu_kernels.h"
#include "gpu_record.cuh"

/* Nodes whose state is read before they are due. It is read past the L1, which then keeps the tables. */
template <int MODEL> struct ahead {
    static const int nodes = MODEL == NEUG_CHANNELS ? 2 : 4;
};

/* One lane on its way through a sweep. The stack's slots are of one size in both sweeps: warps of a block are not in
 * the same one. */
struct walker {
    const neug_shape *shape;
    const uint32_t *flag;
    const double *member;
    const double2 *couple;
    const neug_clamp *clamp, *clamps_end;
    int64_t stride, number; /* number: of the lane, in the panel */
    double *stack;          /* of this thread: slot k at stack[k * threads] */
    neug_lane lane;
    double roots;
    bool mine; /* there is such a lane; other threads of its warp go along without reading or writing */
};

template <int MODEL> NEUG_DEVICE double *slot_of(const walker &w, int depth)
{
    return w.stack + (size_t)depth * blockDim.x * (MODEL == NEUG_CONSTANT ? 1 : 2);
}

NEUG_DEVICE double inject(const neug_params &p, walker &w, int32_t node, int64_t step, double sum)
{
    for (; w.clamp < w.clamps_end && w.clamp->node == node; w.clamp++)
        sum += neug_current(p, *w.clamp, w.number, step);
    return sum;
}

/* Elimination of a node: what its children and clamps leave is in `excess` and `sum`. CONSTANT has only sums. */
template <int MODEL, bool BY_LANE> struct rising {
    double f, y, down; /* of the node that was done last */
    int depth;

    NEUG_METHOD void take_children(const walker &w, uint32_t flag, double *excess, double *sum)
    {
        if (flag & NEUG_BRANCH) {
            const double *slot = slot_of<MODEL>(w, --depth);
            *sum += slot[0];
            if constexpr (MODEL != NEUG_CONSTANT) *excess += slot[blockDim.x];
        }
        if (flag & NEUG_NEXT) {
            *sum = fma(down, y, *sum);
            if constexpr (MODEL != NEUG_CONSTANT) *excess = fma(down, f, *excess);
        }
    }

    NEUG_METHOD void finish(const walker &w, uint32_t flag, double2 couple, double excess, double sum)
    {
        down = couple.x;
        if constexpr (MODEL == NEUG_CONSTANT) {
            y = sum;
        } else {
            const double up = BY_LANE ? couple.y * w.lane.couple : couple.y;
            if (BY_LANE) down *= w.lane.couple;
            const double inverse = neug_reciprocal(excess + up);
            f = excess * inverse;
            y = sum * inverse;
        }
        if (!(flag & NEUG_HEAD)) return;
        const bool open = flag & NEUG_LAST;
        double *slot = slot_of<MODEL>(w, open ? depth++ : depth - 1);
        slot[0] = fma(down, y, open ? 0.0 : slot[0]);
        if constexpr (MODEL != NEUG_CONSTANT) slot[blockDim.x] = fma(down, f, open ? 0.0 : slot[blockDim.x]);
    }
};

/* The state of nodes i, i - 1 .. before they are due. */
template <int MODEL> struct rows {
    static const int N = ahead<MODEL>::nodes;
    double v[N], m[N], h[N], n[N];
    uint32_t flag[N];

    NEUG_METHOD void load(const neug_params &p, const walker &w, int64_t at, int32_t i)
    {
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (i - k < 0) continue;
            const int64_t place = at - k * w.stride;
            flag[k] = __ldg(w.flag + i - k);
            v[k] = w.mine ? __ldcg(p.v + place) : 0;
            if constexpr (MODEL == NEUG_CHANNELS) {
                m[k] = w.mine ? __ldcg(p.m + place) : 0;
                h[k] = w.mine ? __ldcg(p.h + place) : 0;
                n[k] = w.mine ? __ldcg(p.n + place) : 0;
            }
        }
    }
};

template <int MODEL, bool BY_LANE>
NEUG_DEVICE void equation(const walker &w, int32_t i, const rows<MODEL> &r, int k, double *excess, double *sum)
{
    const double2 *from = (const double2 *)(w.member + (int64_t)i * NEUG_MEMBER);
    const double2 c = __ldg(from);
    if constexpr (MODEL == NEUG_CONSTANT) {
        *excess = 0;
        *sum = fma(c.x, r.v[k], BY_LANE ? c.y * w.lane.ge : c.y);
    } else {
        const double2 d = __ldg(from + 1), e = __ldg(from + 2);
        const double member[NEUG_MEMBER] = {c.x, c.y, d.x, d.y, e.x, e.y};
        neug_equation<MODEL>(member, w.lane, BY_LANE, r.v[k], r.m[k], r.h[k], r.n[k], excess, sum);
    }
}

template <int MODEL, bool BY_LANE> NEUG_DEVICE void rise(const neug_params &p, walker &w, int64_t base, int64_t step)
{
    rising<MODEL, BY_LANE> up = {0, 0, 0, 0};
    rows<MODEL> now, next;
    const int N = ahead<MODEL>::nodes;
    const int32_t n = w.shape->nodes;
    int64_t at = base + (n - 1) * w.stride;
    w.clamp = w.clamps_end - w.shape->clamps;
    now.load(p, w, at, n - 1);
    for (int32_t first = n - 1; first >= 0; first -= N) {
        next.load(p, w, at - N * w.stride, first - N);
#pragma unroll
        for (int k = 0; k < N; k++) {
            const int32_t i = first - k;
            if (i < 0) break;
            const uint32_t flag = now.flag[k];
            double excess, sum;
            equation<MODEL, BY_LANE>(w, i, now, k, &excess, &sum);
            if (flag & NEUG_CLAMPED) sum = inject(p, w, i, step, sum);
            up.take_children(w, flag, &excess, &sum);
            up.finish(w, flag, __ldg(w.couple + i), excess, sum);
            if (w.mine) __stcg(p.y + at, up.y);
            if (MODEL != NEUG_CONSTANT && w.mine) __stcg(p.f + at, up.f);
            at -= w.stride;
        }
        now = next;
    }
}

/* A node's voltage from its parent's. */
struct falling {
    double u; /* of the node that was done last */
    int depth;
};

template <int MODEL> NEUG_DEVICE double parent_of(const walker &w, falling *down, uint32_t flag)
{
    if (!(flag & NEUG_HEAD)) return down->u;
    if (flag & NEUG_LAST) down->depth--;
    return *slot_of<MODEL>(w, flag & NEUG_LAST ? down->depth : down->depth - 1);
}

/* What the sweep to the tips reads of nodes i, i + 1 .. before they are due. */
template <int MODEL, bool HALF> struct solved {
    static const int N = ahead<MODEL>::nodes;
    double y[N], f[N], old[N], m[N], h[N], n[N];
    uint32_t flag[N];

    NEUG_METHOD void load(const neug_params &p, const walker &w, int64_t at, int32_t i)
    {
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (i + k >= w.shape->nodes) continue;
            const int64_t place = at + k * w.stride;
            flag[k] = __ldg(w.flag + i + k);
            y[k] = w.mine ? __ldcg(p.y + place) : 0;
            if constexpr (MODEL != NEUG_CONSTANT) f[k] = w.mine ? __ldcg(p.f + place) : 0;
            if constexpr (HALF) old[k] = w.mine ? __ldcg(p.v + place) : 0;
            if constexpr (MODEL == NEUG_CHANNELS) {
                m[k] = w.mine ? __ldcg(p.m + place) : 0;
                h[k] = w.mine ? __ldcg(p.h + place) : 0;
                n[k] = w.mine ? __ldcg(p.n + place) : 0;
            }
        }
    }
};

/* The gates of a node at its new voltage. */
NEUG_DEVICE void go_on(const neug_params &p, const walker &w, int64_t at, double v, double m, double h, double n)
{
    neug_gates_go_on(v, p.less, w.roots, &m, &h, &n);
    if (!w.mine) return;
    __stcg(p.m + at, m);
    __stcg(p.h + at, h);
    __stcg(p.n + at, n);
}

template <int MODEL, bool HALF> NEUG_DEVICE void fall(const neug_params &p, const walker &w, int64_t base)
{
    const int N = ahead<MODEL>::nodes;
    falling down = {0, 0};
    solved<MODEL, HALF> now, next;
    int64_t at = base;
    now.load(p, w, at, 0);
    for (int32_t first = 0; first < w.shape->nodes; first += N) {
        next.load(p, w, at + N * w.stride, first + N);
#pragma unroll
        for (int k = 0; k < N; k++) {
            const int32_t i = first + k;
            if (i >= w.shape->nodes) break;
            const uint32_t flag = now.flag[k];
            const double up = MODEL == NEUG_CONSTANT ? __ldg(w.couple + i).y : 1.0 - now.f[k];
            down.u = i == 0 ? now.y[k] : fma(up, parent_of<MODEL>(w, &down, flag), now.y[k]);
            if (flag & NEUG_BRANCH) *slot_of<MODEL>(w, down.depth++) = down.u;
            const double v = HALF ? fma(2.0, down.u, -now.old[k]) : down.u;
            if (w.mine) __stcg(p.v + at, v);
            if constexpr (MODEL == NEUG_CHANNELS) go_on(p, w, at, v, now.m[k], now.h[k], now.n[k]);
            at += w.stride;
        }
        now = next;
    }
}

NEUG_DEVICE void sample(const neug_params &p, const walker &w, int64_t base, int64_t step)
{
    if (step % p.every != 0 || !w.mine) return;
    for (int32_t k = 0; k < w.shape->probes; k++) {
        const neug_probe probe = p.common.probe[w.shape->probe0 + k];
        neug_record(p, probe.number, w.number, p.v[base + probe.node * w.stride], step / p.every);
    }
}

template <int MODEL, bool HALF, bool BY_LANE>
static __global__ void __launch_bounds__(NEUG_THREADS) thread_kernel(const __grid_constant__ neug_params p)
{
    extern __shared__ double stack[];
    const neug_tile tile = p.tile[blockIdx.x];
    const int32_t thread = (int32_t)threadIdx.x;
    if (thread / 32 * 32 >= tile.lanes) return;
    const neug_shape *shape = p.common.shape + tile.shape;
    walker w;
    w.shape = shape;
    w.flag = p.common.flag + shape->node0;
    w.member = p.common.member + shape->node0 * NEUG_MEMBER;
    w.couple = p.common.couple + shape->node0;
    w.clamps_end = p.common.clamp + shape->clamp0 + shape->clamps;
    w.stride = tile.stride;
    w.mine = thread < tile.lanes;
    w.number = tile.lane + (w.mine ? thread : 0);
    w.stack = stack + thread;
    w.lane = neug_lane_of<MODEL, BY_LANE>(p, w.number);
    w.roots = neug_roots();
    const int64_t base = tile.base + thread;
    for (int64_t step = p.step; step < p.step + p.steps; step++) {
        rise<MODEL, BY_LANE>(p, w, base, step);
        fall<MODEL, HALF>(p, w, base);
        sample(p, w, base, step + 1);
    }
}

template <int MODEL, bool BY_LANE> static cudaError_t launch(const neug_launch *l, const neug_params *p, bool half)
{
    const size_t bytes =
        (size_t)(l->pending > 0 ? l->pending : 1) * NEUG_THREADS * sizeof(double) * (MODEL == NEUG_CONSTANT ? 1 : 2);
    if (half) {
        thread_kernel<MODEL, true, BY_LANE><<<l->tiles, NEUG_THREADS, bytes, l->stream>>>(*p);
    } else {
        thread_kernel<MODEL, false, BY_LANE><<<l->tiles, NEUG_THREADS, bytes, l->stream>>>(*p);
    }
    return cudaGetLastError();
}

cudaError_t neug_thread_launch(const neug_launch *l, const neug_params *p)
{
    if (l->model == NEUG_PASSIVE) return launch<NEUG_PASSIVE, true>(l, p, l->half);
    if (l->model == NEUG_CONSTANT)
        return l->by_lane ? launch<NEUG_CONSTANT, true>(l, p, l->half) : launch<NEUG_CONSTANT, false>(l, p, l->half);
    return l->by_lane ? launch<NEUG_CHANNELS, true>(l, p, l->half) : launch<NEUG_CHANNELS, false>(l, p, l->half);
}

/* Voltages and gates at t = 0, and the first sample. */
template <int MODEL> static __global__ void begin_kernel(const __grid_constant__ neug_params p)
{
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape *shape = p.common.shape + tile.shape;
    const double roots = neug_roots();
    for (int64_t k0 = 0; k0 < (int64_t)shape->nodes * tile.lanes; k0 += blockDim.x) {
        const int64_t k = k0 + threadIdx.x, l = k % tile.lanes, at = tile.base + k / tile.lanes * tile.stride + l;
        const bool mine = k < (int64_t)shape->nodes * tile.lanes;
        const double v = neug_figure(p, NEURON_V, tile.lane + l, p.start);
        if (mine) p.v[at] = v;
        if constexpr (MODEL == NEUG_CHANNELS) {
            const neug_rates rates = neug_rates_at(v, roots);
            if (!mine) continue;
            p.m[at] = rates.m;
            p.h[at] = rates.h;
            p.n[at] = rates.n;
        }
    }
    for (int32_t k = (int32_t)threadIdx.x; k < shape->probes * tile.lanes; k += (int32_t)blockDim.x) {
        const int64_t lane = tile.lane + k % tile.lanes;
        const neug_probe probe = p.common.probe[shape->probe0 + k / tile.lanes];
        neug_record(p, probe.number, lane, neug_figure(p, NEURON_V, lane, p.start), 0);
    }
}

cudaError_t neug_begin_launch(const neug_launch *l, const neug_params *p)
{
    if (l->model == NEUG_CHANNELS) {
        begin_kernel<NEUG_CHANNELS><<<l->tiles, NEUG_THREADS, 0, l->stream>>>(*p);
    } else {
        begin_kernel<NEUG_PASSIVE><<<l->tiles, NEUG_THREADS, 0, l->stream>>>(*p);
    }
    return cudaGetLastError();
}
