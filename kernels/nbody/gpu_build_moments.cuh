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

/* Of a leaf's bodies, by `width` lanes of which this one is `lane`; JOIN makes their sums all of theirs. */
template <class P, class R, class JOIN>
__device__ static inline float sum_leaf(const Cells &c, const Moments<P, R> &to, uint32_t cell, const Link &link,
                                        unsigned lane, unsigned width, JOIN all)
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
    if (!weighty(s.v[SUM_M])) {
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
    const Four<P> centre = settle(to, cell, s, at, mean, lane == 0);
    float extent = 0;
    for (uint32_t k = lane; k < bodies; k += width)
        extent = fmaxf(extent, far_apart(load(to.body + first + k), centre));
    return extent;
}

/* The first of a cell's siblings, and how many they are. */
__device__ static inline uint32_t siblings(const Cells &c, uint32_t cells, uint32_t cell, unsigned lane,
                                           unsigned lanes, uint32_t *many)
{
    const bool there = lane <= cell;
    const uint32_t firsts = __ballot_sync(lanes, there && (c.begin[there ? cell - lane : 0] & SIBLING) == 0);
    const int shift = __ffs((int)lanes) - 1;
    const uint32_t first = cell - (uint32_t)(__ffs((int)(firsts >> shift)) - 1), next = first + 1 + lane;
    const uint32_t others =
        __ballot_sync(lanes, lane < LANES - 1 && next < cells && (c.begin[next < cells ? next : 0] & SIBLING) != 0);
    *many = (uint32_t)__ffs((int)~(others >> shift));
    return first;
}

template <class P, class R>
__device__ static inline void sum_children(const Cells &c, const Moments<P, R> &to, uint32_t cell, uint32_t first,
                                           uint32_t many, unsigned lane, unsigned lanes)
{
    const bool mine = lane < many;
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
    join(&s, lanes, LANES);
    uint32_t sum = bodies;
    for (int step = LANES / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(lanes, sum, step);
    double mean[3] = {0, 0, 0};
    if (!weighty(s.v[SUM_M])) {
        const double part = (double)bodies / sum, d[3] = {x * part, y * part, z * part};
        for (int k = 0; k < 3; k++) {
            mean[k] = mine ? d[k] : 0;
            for (int step = LANES / 2; step > 0; step /= 2)
                mean[k] += __shfl_xor_sync(lanes, mean[k], step);
        }
    }
    settle(to, cell, s, at, mean, lane == 0);
    if (lane == 0) {
        c.bodies[cell] = sum;
        c.link[cell].many = many;
    }
}

template <class P, class R> __global__ void __launch_bounds__(256) sums_kernel(Cells c, Moments<P, R> to)
{
    const unsigned lane = threadIdx.x % LANES, lanes = ((1u << LANES) - 1) << (threadIdx.x / LANES * LANES & 31);
    const uint32_t cells = c.known->cells, stride = gridDim.x * (256 / LANES);
    for (uint32_t mine = blockIdx.x * (256 / LANES) + threadIdx.x / LANES; mine < cells; mine += stride) {
        const Link link = c.link[mine];
        if (!(link.many & LEAF)) continue;
        if ((link.many & ~LEAF) <= BIG) {
            float extent = sum_leaf(c, to, mine, link, lane, LANES, [&](Sums *s) { join(s, lanes, LANES); });
            for (int step = LANES / 2; step > 0; step /= 2)
                extent = fmaxf(extent, __shfl_xor_sync(lanes, extent, step));
            if (lane == 0) c.link[mine].extent = extent;
        }
        for (uint32_t cell = mine; cell != 0;) {
            uint32_t many, last = 0;
            const uint32_t first = siblings(c, cells, cell, lane, lanes, &many), parent = c.parent[first];
            if (lane == 0) {
                __threadfence(); /* what this lane wrote of the cell comes before its arrival */
                last = atomicAdd(c.arrived + parent, 1u) + 1 == many;
                __threadfence(); /* and what others wrote, after theirs */
            }
            last = __shfl_sync(lanes, last, 0, LANES);
            __syncwarp(lanes);
            if (!last) break;
            cell = parent;
            sum_children(c, to, cell, first, many, lane, lanes);
        }
    }
}

/* A leaf of very many bodies is one block's. */
template <class P, class R> __global__ void __launch_bounds__(1024) big_kernel(Cells c, Moments<P, R> to)
{
    __shared__ double part[32][SUMS];
    __shared__ float most[32];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (uint32_t k = blockIdx.x; k < c.known->big; k += gridDim.x) {
        const uint32_t cell = c.big[k];
        float extent = sum_leaf(c, to, cell, c.link[cell], threadIdx.x, 1024, [&](Sums *s) {
            join(s, ~0u, 32);
            if (lane < SUMS) {
                double mine = 0;
                for (int v = 0; v < SUMS; v++)
                    mine = lane == (unsigned)v ? s->v[v] : mine;
                part[warp][lane] = mine;
            }
            __syncthreads();
            for (int v = 0; v < SUMS; v++)
                s->v[v] = part[lane][v];
            join(s, ~0u, 32);
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
    const uint32_t i = blockIdx.x * 256 + threadIdx.x, leaf = i < n ? c.leaf[i] : 0;
    const Four<P> b = load(body + (i < n ? i : 0));
    uint32_t next = leaf == 0 ? 0 : c.parent[leaf] + 1; /* 0: through */
    for (;;) {
        const uint32_t now = __reduce_max_sync(~0u, next);
        if (now == 0) break;
        float extent = 0;
        if (next == now) {
            extent = far_apart(b, load(centre + now - 1));
            next = now == 1 ? 0 : c.parent[now - 1] + 1;
        }
        extent = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(extent)));
        if ((threadIdx.x & 31) == 0) raise(&c.link[now - 1].extent, extent);
    }
}

} // namespace nbody

#endif
