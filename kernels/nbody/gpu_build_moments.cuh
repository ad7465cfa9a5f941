/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of the cells. A few lanes sum up a leaf's bodies and go on with its parent if they are the last of its
 * children to arrive; children are added in their order, whoever does it. Then every body tells all the cells above
 * it how far it is from their centres.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_MOMENTS_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_MOMENTS_CUH

#include "gpu_build_sums.cuh"

namespace nbody
{

/* Leaves are still to be divided: their bodies are summed up afterwards. */
__device__ static inline bool unready(const Cells &c)
{
    return c.known->undivided != 0 && c.known->full == 0;
}

/* Powers of two about 1 / side and side; within what floats and their squares hold. */
__device__ static inline void units_of(float side, double *down, double *up)
{
    const int e = side > 0 && side < 1e38f ? ilogbf(side) : 0, bounded = e < -120 ? -120 : e;
    *down = __longlong_as_double((long long)(1023 - bounded) << 52);
    *up = __longlong_as_double((long long)(1023 + bounded) << 52);
}

/* Of a leaf's bodies, by `width` lanes of which this one is `lane`; JOIN makes their sums all of theirs. A: of sums.
 */
template <class A, class P, class R, class JOIN>
__device__ static inline float sum_leaf(const Cells &c, const Moments<P, R> &to, uint32_t cell, const Link &link,
                                        unsigned lane, unsigned width, bool write, JOIN all)
{
    const uint32_t first = link.first, bodies = link.many & ~LEAF;
    const Four<P> at = load(to.body + first);
    double down, up;
    units_of(link.side, &down, &up);
    SumsOf<A> part = {};
    for (uint32_t k = lane; k < bodies; k += width) {
        const Four<P> b = load(to.body + first + k);
        const A e = to.soft != nullptr ? (A)to.soft[first + k] : (A)0;
        add<A>(&part, (A)b.w, (A)((b.x - at.x) * (P)down), (A)((b.y - at.y) * (P)down), (A)((b.z - at.z) * (P)down),
               e);
        c.leaf[first + k] = cell;
    }
    all(&part);
    Sums s;
    for (int k = 0; k < SUMS; k++)
        s.v[k] = (double)part.v[k] * (k == SUM_M || k == SUM_E ? 1 : k <= SUM_Z ? up : up * up);
    double mean[3] = {0, 0, 0};
    if (__any_sync(~0u, bodies > 0 && !weighty(s.v[SUM_M]))) {
        SumsOf<A> d = {};
        for (uint32_t k = lane; k < bodies; k += width) {
            const Four<P> b = load(to.body + first + k);
            d.v[SUM_X] += (A)((b.x - at.x) * (P)down) / (A)bodies;
            d.v[SUM_Y] += (A)((b.y - at.y) * (P)down) / (A)bodies;
            d.v[SUM_Z] += (A)((b.z - at.z) * (P)down) / (A)bodies;
        }
        all(&d);
        for (int k = 0; k < 3; k++)
            mean[k] = (double)d.v[SUM_X + k] * up;
    }
    const Four<P> centre = settle(to, cell, s, at, mean, write);
    float extent = 0;
    for (uint32_t k = lane; k < bodies; k += width)
        extent = fmaxf(extent, far_apart(load(to.body + first + k), centre));
    return extent;
}

/* For a cell that is no leaf, whose first child is given: how many children, and how many of them are no leaves.
 * Groups of LANES lanes each have a cell; all lanes of the warp come here together. */
__device__ static inline uint32_t children_of(const Cells &c, uint32_t cells, uint32_t first, unsigned lane,
                                              uint32_t *inner)
{
    const int shift = (int)(threadIdx.x & 31 & ~(LANES - 1u));
    const uint32_t here = first + lane, next = here + 1;
    const uint32_t others =
        __ballot_sync(~0u, lane < LANES - 1 && next < cells && (c.begin[next < cells ? next : 0] & SIBLING) != 0) >>
        shift;
    const uint32_t many = (uint32_t)__ffs((int)~(others & ((1u << (LANES - 1)) - 1)));
    const bool child = lane < many;
    const uint32_t votes = __ballot_sync(~0u, child && (c.link[child ? here : 0].many & LEAF) == 0) >> shift;
    *inner = (uint32_t)__popc(votes & ((1u << LANES) - 1));
    return many;
}

/* What other cells must know of each other before they are summed up. */
__device__ static inline void join_families(const Cells &c)
{
    const unsigned lane = threadIdx.x % LANES;
    const uint32_t cells = c.known->cells, inner = c.known->inner, stride = gridDim.x * (256 / LANES);
    for (uint32_t start = blockIdx.x * (256 / LANES) + threadIdx.x / 32 * (32 / LANES); start < inner;
         start += stride) {
        const uint32_t k = start + (threadIdx.x & 31) / LANES, cell = k < inner ? c.inner[k] : NO_CELL;
        const uint32_t first = cell != NO_CELL ? c.link[cell].first : 0;
        uint32_t below;
        const uint32_t many = children_of(c, cells, first, lane, &below);
        if (cell == NO_CELL) continue;
        if (lane < many) c.parent[first + lane] = cell;
        if (lane != 0) continue;
        c.link[cell].many = many;
        c.below[cell] = below;
    }
}

/* A few lanes for each leaf but the big ones; and families. */
template <class P, class R> __global__ void __launch_bounds__(256) leaves_kernel(Cells c, Moments<P, R> to)
{
    if (unready(c)) return;
    const unsigned lane = threadIdx.x % LEAF_LANES;
    const uint32_t cells = c.known->cells, stride = gridDim.x * (256 / LEAF_LANES);
    for (uint32_t start = blockIdx.x * (256 / LEAF_LANES); start < cells; start += stride) {
        const uint32_t cell = start + threadIdx.x / LEAF_LANES;
        Link link = cell < cells ? c.link[cell] : Link{0, 0, 0, 0};
        const bool mine = (link.many & LEAF) != 0 && (link.many & ~LEAF) <= BIG;
        if (!mine) link = Link{0, LEAF, 0, 0}; /* no bodies, so that lanes stay together */
        float extent = sum_leaf<P>(c, to, cell, link, lane, LEAF_LANES, mine && lane == 0,
                                   [](SumsOf<P> *s) { join(s, LEAF_LANES); });
        for (int step = LEAF_LANES / 2; step > 0; step /= 2)
            extent = fmaxf(extent, __shfl_xor_sync(~0u, extent, step));
        if (mine && lane == 0) c.link[cell].extent = extent;
    }
    join_families(c);
}

/* Of the children of a cell, as for a leaf. */
template <class P, class R>
__device__ static inline void sum_children(const Cells &c, const Moments<P, R> &to, uint32_t cell, uint32_t first,
                                           uint32_t many, unsigned lane, bool active)
{
    const bool mine = active && lane < many;
    const uint32_t child = first + (mine ? lane : 0);
    const Four<P> at = load(to.centre + first), b = load(to.centre + child);
    const double x = (double)b.x - (double)at.x, y = (double)b.y - (double)at.y, z = (double)b.z - (double)at.z;
    Sums s = {};
    uint32_t bodies = mine ? c.bodies[child] : 0;
    if (mine) {
        double e = 0;
        if (to.soft != nullptr)
            e = to.quad != nullptr ? (double)to.quad[2 * (size_t)child + 1].z : (double)to.soft_mean[child];
        const Four<R> rest = load(to.rest + child);
        const double m = (double)b.w, u = (double)rest.x, v = (double)rest.y, w = (double)rest.z;
        add<double>(&s, m, x, y, z, e);
        s.v[SUM_X] += m * u;
        s.v[SUM_Y] += m * v;
        s.v[SUM_Z] += m * w;
        s.v[SUM_XX] += 2 * m * u * x;
        s.v[SUM_YY] += 2 * m * v * y;
        s.v[SUM_ZZ] += 2 * m * w * z;
        s.v[SUM_XY] += m * (u * y + v * x);
        s.v[SUM_XZ] += m * (u * z + w * x);
        s.v[SUM_YZ] += m * (v * z + w * y);
        if (to.quad != nullptr) {
            const Four<R> q = load(to.quad + 2 * (size_t)child), p = load(to.quad + 2 * (size_t)child + 1);
            s.v[SUM_XX] += (double)q.x;
            s.v[SUM_YY] += (double)q.y;
            s.v[SUM_ZZ] += (double)q.z;
            s.v[SUM_XY] += (double)q.w;
            s.v[SUM_XZ] += (double)p.x;
            s.v[SUM_YZ] += (double)p.y;
        }
    }
    join(&s, LANES);
    uint32_t sum = bodies;
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    double mean[3] = {0, 0, 0};
    if (__any_sync(~0u, active && !weighty(s.v[SUM_M]))) {
        const double part = mine ? (double)bodies / sum : 0, d[3] = {x * part, y * part, z * part};
        for (int k = 0; k < 3; k++) {
            mean[k] = mine ? d[k] : 0;
            for (int step = LANES / 2; step > 0; step /= 2)
                mean[k] += __shfl_xor_sync(~0u, mean[k], step);
        }
    }
    settle(to, cell, s, at, mean, active && lane == 0);
    if (active && lane == 0) c.bodies[cell] = sum;
}

/* A cell and what must be known to go on with the one above it. */
struct Step {
    uint32_t cell, first, many, parent, below;
};

__device__ static inline Step step_of(const Cells &c, uint32_t cell)
{
    const Link link = c.link[cell];
    return Step{cell, link.first, link.many, cell != 0 ? c.parent[cell] : 0, c.below[cell]};
}

/* Cells above leaves: from those whose children are all leaves towards the root, each by who arrives there last. The
 * groups of a warp stay together, so that they wait for memory at the same time. */
template <class P, class R> __global__ void __launch_bounds__(128) inner_kernel(Cells c, Moments<P, R> to)
{
    if (unready(c)) return;
    const unsigned lane = threadIdx.x % LANES;
    const uint32_t inner = c.known->inner, stride = gridDim.x * (128 / LANES);
    for (uint32_t start = blockIdx.x * (128 / LANES) + threadIdx.x / 32 * (32 / LANES); start < inner;
         start += stride) {
        const uint32_t k = start + (threadIdx.x & 31) / LANES, given = k < inner ? c.inner[k] : NO_CELL;
        Step now = given != NO_CELL ? step_of(c, given) : Step{0, 0, 0, 0, 1};
        bool active = now.below == 0;
        while (__any_sync(~0u, active)) {
            const Step above = active ? step_of(c, now.parent) : now;
            sum_children(c, to, now.cell, now.first, now.many, lane, active);
            uint32_t last = 0;
            if (active && now.cell != 0 && lane == 0) {
                __threadfence(); /* what this lane wrote of the cell comes before its arrival */
                last = atomicAdd(c.arrived + above.cell, 1u) + 1 == above.below;
                __threadfence(); /* and what others wrote, after theirs */
            }
            active = __shfl_sync(~0u, last, 0, LANES) != 0;
            __syncwarp();
            now = above;
        }
    }
}

/* A leaf of very many bodies is one block's. */
template <class P, class R> __global__ void __launch_bounds__(1024) big_kernel(Cells c, Moments<P, R> to)
{
    __shared__ double part[32][SUMS];
    __shared__ float most[32];
    if (unready(c)) return;
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (uint32_t k = blockIdx.x; k < c.known->big; k += gridDim.x) {
        const uint32_t cell = c.big[k];
        float extent = sum_leaf<double>(c, to, cell, c.link[cell], threadIdx.x, 1024, threadIdx.x == 0, [&](auto *s) {
            join(s, 32);
            if (lane < SUMS) {
                double mine = 0;
                for (int v = 0; v < SUMS; v++)
                    mine = lane == (unsigned)v ? s->v[v] : mine;
                part[warp][lane] = mine;
            }
            __syncthreads();
            for (int v = 0; v < SUMS; v++)
                s->v[v] = part[lane][v];
            join(s, 32);
            __syncthreads();
        });
        extent = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(extent)));
        if (lane == 0) most[warp] = extent;
        __syncthreads();
        extent = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(most[lane])));
        if (threadIdx.x == 0) c.link[cell].extent = extent;
        __syncthreads();
    }
}

/* Cells above the bodies of a warp, from the last to the root: as parents come before their children, all bodies
 * below a cell are at it at the same time. */
template <class P>
__global__ void __launch_bounds__(256) extents_kernel(uint32_t n, Cells c, const Four<P> *body, const Four<P> *centre)
{
    if (unready(c)) return;
    const uint32_t first = (blockIdx.x * 256 + threadIdx.x) / 32 * 32 * EACH + (threadIdx.x & 31);
    Four<P> b[EACH];
    uint32_t next[EACH]; /* 0: through */
    for (int k = 0; k < EACH; k++) {
        const uint32_t i = first + 32u * (unsigned)k, leaf = i < n ? c.leaf[i] : 0;
        b[k] = load(body + (i < n ? i : 0));
        next[k] = leaf == 0 ? 0 : c.parent[leaf] + 1;
    }
    for (;;) {
        uint32_t now = next[0];
        for (int k = 1; k < EACH; k++)
            now = next[k] > now ? next[k] : now;
        now = __reduce_max_sync(~0u, now);
        if (now == 0) break;
        const Four<P> at = load(centre + now - 1);
        const uint32_t above = now == 1 ? 0 : c.parent[now - 1] + 1;
        float extent = 0;
        for (int k = 0; k < EACH; k++)
            if (next[k] == now) {
                extent = fmaxf(extent, far_apart(b[k], at));
                next[k] = above;
            }
        extent = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(extent)));
        if ((threadIdx.x & 31) == 0) raise(&c.link[now - 1].extent, extent);
    }
}

} // namespace nbody

#endif
