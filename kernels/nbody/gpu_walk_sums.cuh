/* SPDX-License-Identifier: Apache-2.0
 *
 * What a group sums: bodies, and cells by their moments at each target. Sources are staged in shared memory, 32 at a
 * time, and every lane goes over all of them.
 *
 * Of a cell with mass M and moments Q about its centre of mass, at displacement d, with r^2 = d^2 + e:
 *   a = d (M r^-3 + 15/2 dQd r^-7 - 3/2 tr Q r^-5) - 3 Q d r^-5,    phi = M / r + (3 dQd r^-5 - tr Q r^-3) / 2,
 * which is the Taylor series of the softened kernel to second order; the trace is there because that is not harmonic.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_SUMS_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_SUMS_CUH

#include "nbody/gpu_walk_group.cuh"

namespace nbody
{

template <class R, int K> struct Sums {
    R x[K], y[K], z[K];
    R w[K], here[K]; /* POTENTIAL: of sources elsewhere; of those at the target's own place */
};

/* 1 / r, and 0 for a source at the target's place that nothing softens. */
template <bool careful, class R> __device__ __forceinline__ R inverse_distance(R r2)
{
    const R i = inverse_root(r2);
    return !careful || r2 > (sizeof(R) == 4 ? (R)1.2e-38 : (R)2.3e-308) ? i : 0;
}

/* Whose turn it is: all sources one after another at each lane's target; or alone, where all lanes have one target,
 * each lane its own source. */
struct Span {
    uint32_t first, end;
};
template <bool alone> __device__ __forceinline__ Span span_of(uint32_t lane, uint32_t number)
{
    return alone ? Span{lane, lane < number ? lane + 1 : lane} : Span{0, number};
}

template <bool careful, bool potential, bool alone, class P, class R, int K>
__device__ __forceinline__ void sum_bodies(const Walk<P, R> &walk, const Group<P, R, K> &group, Lists<P, R> *lists,
                                           uint32_t lane, uint32_t body, uint32_t number, Sums<R, K> *sums)
{
    const Frame<P, R> &frame = lists->frame;
    Staged<P, R> *const staged = &lists->staged;
    Four<R> mine = {frame.cx, frame.cy, frame.cz, 0}, rest = {0, 0, 0, 0};
    R soft = (R)0.5 * frame.soft;
    if (lane < number) {
        const Four<P> at = load(walk.tree.body + body);
        mine = frame.place(at);
        if (FINE<P, R>) rest = frame.rest(at);
        if (careful && walk.tree.soft) soft = (R)0.5 * frame.square(walk.tree.soft[body]);
    }
    __syncwarp();
    store(staged->a + lane, mine);
    if (FINE<P, R>) store(staged->rest + lane, rest);
    if (careful) staged->b[lane].x = soft;
    __syncwarp();
    const R e = frame.soft;
    R h[K] = {};
    if (careful)
        for (int k = 0; k < K; k++)
            h[k] = lists->soft[32 * k + lane];
    const Span span = span_of<alone>(lane, number);
#pragma unroll 4
    for (uint32_t j = span.first; j < span.end; j++) {
        const Four<R> s = load(staged->a + j);
        const R other = careful ? staged->b[j].x : 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            R dx, dy, dz;
            group.from(k, s, *staged, j, &dx, &dy, &dz);
            const R r2 = fused(dx, dx, fused(dy, dy, fused(dz, dz, careful ? other + h[k] : e)));
            const R i = inverse_distance<careful>(r2), mi = s.w * i;
            if (!careful) {
                const R f = mi * (i * i);
                sums->x[k] = fused(f, dx, sums->x[k]);
                sums->y[k] = fused(f, dy, sums->y[k]);
                sums->z[k] = fused(f, dz, sums->z[k]);
            } else { /* no third power, which leaves the range where bodies are very near to each other */
                const R f = mi * i;
                sums->x[k] = fused(f, dx * i, sums->x[k]);
                sums->y[k] = fused(f, dy * i, sums->y[k]);
                sums->z[k] = fused(f, dz * i, sums->z[k]);
            }
            if (potential) {
                const bool same = dx == 0 && dy == 0 && dz == 0;
                sums->w[k] += same ? 0 : mi;
                sums->here[k] += same ? mi : 0;
            }
        }
    }
}

/* The cells of a list's end; lanes beyond `number` have none. */
template <bool quad, class P, class R>
__device__ __forceinline__ void stage_cells(const Walk<P, R> &walk, const Frame<P, R> &frame, Staged<P, R> *staged,
                                            uint32_t lane, const uint32_t *list, uint32_t number)
{
    __syncwarp();
    if (lane < number) {
        const uint32_t cell = list[lane];
        const Four<P> centre = load(walk.tree.centre + cell);
        store(staged->a + lane, frame.place(centre));
        if (FINE<P, R>) store(staged->rest + lane, frame.rest(centre));
        R soft = frame.soft;
        if (quad) {
            const Four<R> q = load(walk.tree.quad + 2 * (size_t)cell),
                          p = load(walk.tree.quad + 2 * (size_t)cell + 1);
            const R u = (R)frame.mass * (R)frame.length * (R)frame.length * 3;
            if (walk.tree.soft) soft = frame.square(p.z);
            store(staged->b + lane, {u * q.x, u * q.y, u * q.z, u * q.w});
            store(staged->c + lane, {u * p.x, u * p.y, (R)0.5 * u * (q.x + q.y + q.z), soft * (R)0.5});
        } else {
            if (walk.tree.soft) soft = frame.square(walk.tree.soft_mean[cell]);
            staged->c[lane].w = soft * (R)0.5;
        }
    }
    __syncwarp();
}

/* With d / r in the place of d: no power of 1 / r but the second, which may be great. */
template <bool quad, bool potential, class R, int K>
__device__ __forceinline__ void sum_cell_careful(R dx, R dy, R dz, R i, R m, const Four<R> &q, const Four<R> &p,
                                                 Sums<R, K> *sums, int k)
{
    const R x = dx * i, y = dy * i, z = dz * i, i2 = i * i;
    R f = m;
    if (quad) {
        const R qx = i2 * fused(q.x, x, fused(q.w, y, p.x * z)), qy = i2 * fused(q.w, x, fused(q.y, y, p.y * z));
        const R qz = i2 * fused(p.x, x, fused(p.y, y, q.z * z)), nqn = fused(qx, x, fused(qy, y, qz * z));
        f += fused((R)2.5, nqn, -p.z * i2);
        sums->x[k] = fused(-i2, qx, sums->x[k]);
        sums->y[k] = fused(-i2, qy, sums->y[k]);
        sums->z[k] = fused(-i2, qz, sums->z[k]);
        if (potential) sums->w[k] += i * fused((R)0.5, nqn, (R)(-1.0 / 3) * p.z * i2);
    }
    f *= i2;
    sums->x[k] = fused(f, x, sums->x[k]);
    sums->y[k] = fused(f, y, sums->y[k]);
    sums->z[k] = fused(f, z, sums->z[k]);
}

template <bool quad, bool careful, bool potential, bool alone, class P, class R, int K>
__device__ __forceinline__ void sum_cells(const Group<P, R, K> &group, const Lists<P, R> &lists, uint32_t lane,
                                          uint32_t number, Sums<R, K> *sums)
{
    const Staged<P, R> &staged = lists.staged;
    const R common = lists.frame.soft;
    R h[K] = {};
    if (careful)
        for (int k = 0; k < K; k++)
            h[k] = lists.soft[32 * k + lane];
    const Span span = span_of<alone>(lane, number);
#pragma unroll 2
    for (uint32_t j = span.first; j < span.end; j++) {
        const Four<R> s = load(staged.a + j);
        Four<R> q = {0, 0, 0, 0}, p = {0, 0, 0, 0};
        if (quad)
            q = load(staged.b + j), p = load(staged.c + j);
        else if (careful)
            p.w = staged.c[j].w;
#pragma unroll
        for (int k = 0; k < K; k++) {
            R dx, dy, dz;
            group.from(k, s, staged, j, &dx, &dy, &dz);
            const R e = careful ? p.w + h[k] : common;
            const R r2 = fused(dx, dx, fused(dy, dy, fused(dz, dz, e)));
            const R i = inverse_distance<careful>(r2), i2 = i * i;
            if (careful) {
                sum_cell_careful<quad, potential>(dx, dy, dz, i, s.w, q, p, sums, k);
            } else {
                const R i3 = i * i2;
                R f = s.w;
                if (quad) {
                    const R qx = fused(q.x, dx, fused(q.w, dy, p.x * dz));
                    const R qy = fused(q.w, dx, fused(q.y, dy, p.y * dz));
                    const R qz = fused(p.x, dx, fused(p.y, dy, q.z * dz));
                    const R dqd = fused(qx, dx, fused(qy, dy, qz * dz)), i5 = i3 * i2;
                    f = fused(i2, fused((R)2.5 * i2, dqd, -p.z), f);
                    sums->x[k] = fused(-i5, qx, sums->x[k]);
                    sums->y[k] = fused(-i5, qy, sums->y[k]);
                    sums->z[k] = fused(-i5, qz, sums->z[k]);
                    if (potential) sums->w[k] += fused((R)0.5 * i5, dqd, (R)(-1.0 / 3) * p.z * i3);
                }
                f = f * i3;
                sums->x[k] = fused(f, dx, sums->x[k]);
                sums->y[k] = fused(f, dy, sums->y[k]);
                sums->z[k] = fused(f, dz, sums->z[k]);
            }
            if (potential) {
                const bool same = dx == 0 && dy == 0 && dz == 0;
                sums->w[k] += same ? 0 : s.w * i;
                sums->here[k] += same ? s.w * i : 0;
            }
        }
    }
}

/* What all lanes have of one target, in each of them. */
template <class R> __device__ __forceinline__ void sum_lanes(Sums<R, 1> *sums)
{
    R *const all[] = {sums->x, sums->y, sums->z, sums->w, sums->here};
#pragma unroll
    for (int v = 0; v < 5; v++)
        for (int step = 16; step > 0; step /= 2)
            *all[v] += __shfl_xor_sync(ALL, *all[v], step);
}

} // namespace nbody

#endif
