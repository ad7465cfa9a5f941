/* SPDX-License-Identifier: Apache-2.0
 *
 * THREAD: a thread a lane, two sweeps over the tree a step, the state in device memory. Chains stay in registers,
 * branch points wait on a stack in shared memory. It takes every tree and every model. Caller: gpu_run.cu.
 */
#include "gpu_kernels.h"
#include "gpu_record.cuh"

/* Nodes whose state is read before they are due. It is read past the L1, which then keeps the tables. */
template <int MODEL, bool MORE = false> struct ahead {
    static const int nodes = MODEL == NEUG_CHANNELS || MORE ? 4 : 6; /* MORE: has more words a node than usual */
};

/* What branch points wait for: a slot has a word of each thread, or two. Slots are of one size in both sweeps: warps
 * of a block are not in the same one. */
extern __shared__ double stack[];
template <int MODEL> struct slots {
    static const uint32_t size = NEUG_THREADS * (MODEL == NEUG_CONSTANT ? 1 : 2);
};

/* One lane on its way through a sweep. */
struct walker {
    const neug_shape *shape;
    const uint32_t *flag;
    const double *member;
    const double2 *couple;
    const neug_clamp *clamp, *clamps_end;
    int64_t stride, number; /* number: of the lane, in the panel */
    int32_t nodes;
    neug_lane lane;
    double roots;
    bool mine; /* there is such a lane; other threads of its warp go along without reading or writing */
};

NEUG_DEVICE double inject(const neug_params &p, walker &w, int32_t node, int64_t step, double sum)
{
    for (; w.clamp < w.clamps_end && w.clamp->node == node; w.clamp++)
        sum += neug_current(p, *w.clamp, w.number, step);
    return sum;
}

/* Elimination of a node: what its children and clamps leave is in `excess` and `sum`. CONSTANT has only sums. */
template <int MODEL, bool BY_LANE> struct rising {
    double f, y, down; /* of the node that was done last */
    uint32_t top;      /* of the stack: the slot that comes next */

    NEUG_METHOD void take_children(uint32_t flag, double *excess, double *sum)
    {
        if (flag & NEUG_BRANCH) {
            top -= slots<MODEL>::size;
            *sum += stack[top];
            if constexpr (MODEL != NEUG_CONSTANT) *excess += stack[top + NEUG_THREADS];
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
        if (flag & NEUG_HEAD) wait(flag);
    }

    /* For the parent, beside its next child. */
    NEUG_METHOD void wait(uint32_t flag)
    {
        double before = 0, before_f = 0;
        if (flag & NEUG_LAST) {
            top += slots<MODEL>::size;
        } else {
            before = stack[top - slots<MODEL>::size];
            if constexpr (MODEL != NEUG_CONSTANT) before_f = stack[top - slots<MODEL>::size + NEUG_THREADS];
        }
        stack[top - slots<MODEL>::size] = fma(down, y, before);
        if constexpr (MODEL != NEUG_CONSTANT) stack[top - slots<MODEL>::size + NEUG_THREADS] = fma(down, f, before_f);
    }
};

/* Where a sweep's reading has come to. It stays at the last node, which is then read in vain. */
struct cursor {
    const uint32_t *flag;
    int64_t at;
    int32_t left;

    template <int WAY> NEUG_METHOD void go_on(const walker &w)
    {
        if (left <= 0) return;
        left--;
        flag += WAY;
        at += WAY * w.stride;
    }
};

/* The state of a node before it is due. */
template <int MODEL> struct row {
    double v, m, h, n;
    uint32_t flag;

    NEUG_METHOD void load(const neug_params &p, const walker &w, cursor *c)
    {
        flag = __ldg(c->flag);
        v = w.mine ? __ldcg(p.v + c->at) : 0;
        if constexpr (MODEL == NEUG_CHANNELS) {
            m = w.mine ? __ldcg(p.m + c->at) : 0;
            h = w.mine ? __ldcg(p.h + c->at) : 0;
            n = w.mine ? __ldcg(p.n + c->at) : 0;
        }
        c->go_on<-1>(w);
    }
};

template <int MODEL, bool BY_LANE>
NEUG_DEVICE void equation(const walker &w, const double *of, const row<MODEL> &r, double *excess, double *sum)
{
    const double2 *from = (const double2 *)of;
    const double2 c = __ldg(from);
    if constexpr (MODEL == NEUG_CONSTANT) {
        *excess = 0;
        *sum = fma(c.x, r.v, BY_LANE ? c.y * w.lane.ge : c.y);
    } else {
        const double2 d = __ldg(from + 1), e = __ldg(from + 2);
        const double member[NEUG_MEMBER] = {c.x, c.y, d.x, d.y, e.x, e.y};
        neug_equation<MODEL>(member, w.lane, BY_LANE, r.v, r.m, r.h, r.n, excess, sum);
    }
}

template <int MODEL, bool BY_LANE> NEUG_DEVICE void rise(const neug_params &p, walker &w, int64_t base, int64_t step)
{
    const int N = ahead<MODEL>::nodes;
    const int32_t n = w.nodes;
    rising<MODEL, BY_LANE> up = {0, 0, 0, threadIdx.x};
    row<MODEL> next[N];
    int64_t at = base + (n - 1) * w.stride;
    cursor c = {w.flag + n - 1, at, n - 1};
    const double *member = w.member + (int64_t)(n - 1) * NEUG_MEMBER;
    const double2 *couple = w.couple + n - 1;
    w.clamp = w.clamps_end - w.shape->clamps;
#pragma unroll
    for (int k = 0; k < N; k++)
        next[k].load(p, w, &c);
    for (int32_t first = n - 1; first >= 0; first -= N, member -= N * NEUG_MEMBER, couple -= N) {
#pragma unroll
        for (int k = 0; k < N; k++, at -= w.stride) {
            if (first - k < 0) break;
            const row<MODEL> now = next[k];
            const uint32_t flag = now.flag;
            double excess, sum;
            next[k].load(p, w, &c);
            equation<MODEL, BY_LANE>(w, member - k * NEUG_MEMBER, now, &excess, &sum);
            if (flag & NEUG_CLAMPED) sum = inject(p, w, first - k, step, sum);
            up.take_children(flag, &excess, &sum);
            up.finish(w, flag, __ldg(couple - k), excess, sum);
            if (w.mine) __stcg(p.y + at, up.y);
            if (MODEL != NEUG_CONSTANT && w.mine) __stcg(p.f + at, up.f);
        }
    }
}

/* What the sweep to the tips reads of a node before it is due. */
template <int MODEL, bool HALF> struct solved {
    double y, f, old, m, h, n;
    uint32_t flag;

    NEUG_METHOD void load(const neug_params &p, const walker &w, cursor *c)
    {
        flag = __ldg(c->flag);
        y = w.mine ? __ldcg(p.y + c->at) : 0;
        if constexpr (MODEL != NEUG_CONSTANT) f = w.mine ? __ldcg(p.f + c->at) : 0;
        if constexpr (HALF) old = w.mine ? __ldcg(p.v + c->at) : 0;
        if constexpr (MODEL == NEUG_CHANNELS) {
            m = w.mine ? __ldcg(p.m + c->at) : 0;
            h = w.mine ? __ldcg(p.h + c->at) : 0;
            n = w.mine ? __ldcg(p.n + c->at) : 0;
        }
        c->go_on<1>(w);
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
    const int N = ahead<MODEL, HALF>::nodes;
    solved<MODEL, HALF> next[N];
    int64_t at = base;
    cursor c = {w.flag, at, w.nodes - 1};
    const double2 *couple = w.couple;
    uint32_t top = threadIdx.x; /* of the stack: the slot that comes next */
    double u = 0;               /* of the node before */
#pragma unroll
    for (int k = 0; k < N; k++)
        next[k].load(p, w, &c);
    for (int32_t first = 0; first < w.nodes; first += N, couple += N) {
#pragma unroll
        for (int k = 0; k < N; k++, at += w.stride) {
            if (first + k >= w.nodes) break;
            const solved<MODEL, HALF> now = next[k];
            const uint32_t flag = now.flag;
            next[k].load(p, w, &c);
            if (flag & NEUG_HEAD) u = stack[top - slots<MODEL>::size];
            if ((flag & (NEUG_HEAD | NEUG_LAST)) == (NEUG_HEAD | NEUG_LAST)) top -= slots<MODEL>::size;
            const double up = MODEL == NEUG_CONSTANT ? __ldg(&couple[k].y) : 1.0 - now.f;
            u = first + k == 0 ? now.y : fma(up, u, now.y);
            if (flag & NEUG_BRANCH) {
                stack[top] = u;
                top += slots<MODEL>::size;
            }
            const double v = HALF ? fma(2.0, u, -now.old) : u;
            if (w.mine) __stcg(p.v + at, v);
            if constexpr (MODEL == NEUG_CHANNELS) go_on(p, w, at, v, now.m, now.h, now.n);
        }
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
static __global__ void __launch_bounds__(NEUG_THREADS, MODEL == NEUG_CONSTANT ? 8 : 4)
    thread_kernel(const __grid_constant__ neug_params p)
{
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
    w.nodes = shape->nodes;
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
