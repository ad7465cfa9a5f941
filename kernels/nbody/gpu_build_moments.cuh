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

/* Of a leaf's bodies, by `width` lanes of which this one is `lane`; JOIN makes their sums all of theirs. */
template <class P, class R, class JOIN>
__device__ static inline float sum_leaf(const Cells &c, const Moments<P, R> &to, uint32_t cell, const Link &link,
                                        unsigned lane, unsigned width, bool write, JOIN all)
{
    const uint32_t first = link.first, bodies = link.many & ~LEAF;
    const Four<P> at = load(to.body + first);
    Sums s = {};
    for (uint32_t k = lane; k < bodies; k += width) {
        const Four<P> b = load(to.body + first + k);
        const double e = to.soft != nullptr ? (double)to.soft[first + k] : 0;
        add(&s, (double)b.w, (double)b.x - (double)at.x, (double)b.y - (double)at.y, (double)b.z - (double)at.z, e);
        c.leaf[first + k] = cell;
    }
    all(&s);
    double mean[3] = {0, 0, 0};
    if (__any_sync(~0u, bodies > 0 && !weighty(s.v[SUM_M]))) {
        Sums d = {};
        for (uint32_t k = lane; k < bodies; k += width) {
            const Four<P> b = load(to.body + first + k);
            d.v[SUM_X] += ((double)b.x - (double)at.x) / bodies;
            d.v[SUM_Y] += ((double)b.y - (double)at.y) / bodies;
            d.v[SUM_Z] += ((double)b.z - (double)at.z) / bodies;
        }
        all(&d);
        for (int k = 0; k < 3; k++)
            mean[k] = d.v[SUM_X + k];
    }
    const Four<P> centre = settle(to, cell, s, at, mean, write);
    float extent = 0;
    for (uint32_t k = lane; k < bodies; k += width)
        extent = fmaxf(extent, far_apart(load(to.body + first + k), centre));
    return extent;
}

/* A few lanes for each leaf but the big ones. */
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
        float extent =
            sum_leaf(c, to, cell, link, lane, LEAF_LANES, mine && lane == 0, [](Sums *s) { join(s, LEAF_LANES); });
        for (int step = LEAF_LANES / 2; step > 0; step /= 2)
            extent = fmaxf(extent, __shfl_xor_sync(~0u, extent, step));
        if (mine && lane == 0) c.link[cell].extent = extent;
    }
}

/* A family: the first of siblings that `cell` is one of, how many they are, and how many of them are no leaves.
 * Groups of LANES lanes each have a cell; all lanes of the warp come here together. */
struct Family {
    uint32_t first, many, inner;
};

__device__ static inline Family family_of(const Cells &c, uint32_t cells, uint32_t cell, unsigned lane)
{
    const int shift = (int)(threadIdx.x & 31 & ~(LANES - 1u));
    const uint32_t firsts =
        __ballot_sync(~0u, lane <= cell && (c.begin[lane <= cell ? cell - lane : 0] & SIBLING) == 0) >> shift;
    Family f;
    f.first = cell - (uint32_t)(__ffs((int)firsts) - 1);
    const uint32_t here = f.first + lane, next = here + 1;
    const uint32_t others =
        __ballot_sync(~0u, lane < LANES - 1 && next < cells && (c.begin[next < cells ? next : 0] & SIBLING) != 0) >>
        shift;
    f.many = (uint32_t)__ffs((int)~(others & ((1u << (LANES - 1)) - 1)));
    const bool child = lane < f.many;
    const uint32_t inner = __ballot_sync(~0u, child && (c.link[child ? here : 0].many & LEAF) == 0) >> shift;
    f.inner = (uint32_t)__popc(inner & ((1u << LANES) - 1));
    return f;
}

/* Of the children of a cell, as for a leaf. */
template <class P, class R>
__device__ static inline void sum_children(const Cells &c, const Moments<P, R> &to, uint32_t cell, const Family &f,
                                           unsigned lane, bool active)
{
    const bool mine = active && lane < f.many;
    const uint32_t child = f.first + (mine ? lane : 0);
    const Four<P> at = load(to.centre + f.first), b = load(to.centre + child);
    const double x = (double)b.x - (double)at.x, y = (double)b.y - (double)at.y, z = (double)b.z - (double)at.z;
    Sums s = {};
    uint32_t bodies = mine ? c.bodies[child] : 0;
    if (mine) {
        double e = 0;
        if (to.soft != nullptr)
            e = to.quad != nullptr ? (double)to.quad[2 * (size_t)child + 1].z : (double)to.soft_mean[child];
        const Four<R> rest = load(to.rest + child);
        const double m = (double)b.w, u = (double)rest.x, v = (double)rest.y, w = (double)rest.z;
        add(&s, m, x, y, z, e);
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
        c.parent[child] = cell;
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
    if (active && lane == 0) {
        c.bodies[cell] = sum;
        c.link[cell].many = f.many;
    }
}

/* Cells above leaves: from those whose children are all leaves towards the root, each by who arrives there last. The
 * groups of a warp stay together, so that they wait for memory at the same time. */
template <class P, class R> __global__ void __launch_bounds__(128) inner_kernel(Cells c, Moments<P, R> to)
{
    if (unready(c)) return;
    const unsigned lane = threadIdx.x % LANES;
    const uint32_t cells = c.known->cells, inner = c.known->inner, stride = gridDim.x * (128 / LANES);
    for (uint32_t start = blockIdx.x * (128 / LANES) + threadIdx.x / 32 * (32 / LANES); start < inner;
         start += stride) {
        const uint32_t k = start + (threadIdx.x & 31) / LANES;
        const uint32_t given = k < inner ? c.inner[k] : NO_CELL;
        uint32_t cell = given != NO_CELL ? given : 0;
        Family f = family_of(c, cells, given != NO_CELL ? c.link[cell].first : 0, lane);
        bool active = given != NO_CELL && f.inner == 0;
        while (__any_sync(~0u, active)) {
            sum_children(c, to, cell, f, lane, active);
            f = family_of(c, cells, cell, lane);
            active = active && cell != 0;
            uint32_t last = 0;
            const uint32_t parent = c.parent[f.first];
            if (active && lane == 0) {
                __threadfence(); /* what this lane wrote of the cell comes before its arrival */
                last = atomicAdd(c.arrived + parent, 1u) + 1 == f.inner;
                __threadfence(); /* and what others wrote, after theirs */
            }
            active = __shfl_sync(~0u, last, 0, LANES) != 0;
            __syncwarp();
            if (active) cell = parent;
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
        float extent = sum_leaf(c, to, cell, c.link[cell], threadIdx.x, 1024, threadIdx.x == 0, [&](Sums *s) {
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
