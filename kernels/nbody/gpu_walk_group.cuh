/* SPDX-License-Identifier: Apache-2.0
 *
 * A group: 32 K neighbouring targets that share a warp's walk, K a lane. Positions are taken relative to `origin`,
 * the middle of the group where positions have more digits than forces (and in two parts: FINE), else 0. Lengths and
 * masses are scaled by powers of two to a tree of about 1, so that powers of distances stay within the range of
 * floats in any units.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_GROUP_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_GROUP_CUH

#include "nbody/gpu_walk_lists.cuh"

namespace nbody
{

template <class P, class R, int K> struct Group {
    R x[K], y[K], z[K]; /* relative to the origin */
    R rest_x[FINE<P, R> ? K : 1], rest_y[FINE<P, R> ? K : 1], rest_z[FINE<P, R> ? K : 1];

    __device__ __forceinline__ void from(int k, const Four<R> &s, const Staged<P, R> &staged, uint32_t j, R *dx,
                                         R *dy, R *dz) const
    {
        *dx = s.x - x[k], *dy = s.y - y[k], *dz = s.z - z[k];
        if (!FINE<P, R>) return;
        const Four<R> rest = load(staged.rest + j);
        *dx += rest.x - rest_x[k], *dy += rest.y - rest_y[k], *dz += rest.z - rest_z[k];
    }
};

constexpr int APART = 256; /* radii of a group in its smallest part's */

/* 2^-e for x about 2^e; 1 for what has no such size. */
template <class P> __device__ __forceinline__ P scale_of(P x)
{
    const int most = sizeof(P) == 4 ? 100 : 900;
    if (!(x > 0 && x < (P)INFINITY)) return 1;
    const int e = ilogb(x);
    return (P)scalbn(1.0, e > most ? -most : e < -most ? most : -e);
}

/* |a| as the relative rule takes it: a single body with next to none (where forces cancel) does not open all cells
 * for its whole group. */
template <class P, class R> __device__ __forceinline__ R group_limit(R alpha, R low, R high, P length, P mass)
{
    const R a = most(low, high * (R)(1.0 / 1024));
    return alpha > 0 && a > 0 ? (R)((double)alpha * a * mass / length / length) : (R)INFINITY;
}

template <class P, class R> __device__ __forceinline__ void group_scale(const Walk<P, R> &walk, Frame<P, R> *group)
{
    group->length = scale_of((P)walk.tree.link[0].extent);
    group->mass = scale_of(walk.tree.centre[0].w);
    group->soft = group->square(walk.tree.common);
    group->careful = walk.tree.soft != nullptr || !(group->soft > (sizeof(R) == 4 ? (R)1e-14 : (R)1e-60));
}

/* Half of target i's eps^2. */
template <class P, class R>
__device__ __forceinline__ R group_soft(const Walk<P, R> &walk, const Frame<P, R> &group, int64_t i)
{
    return (R)0.5 * (walk.tree.soft ? (walk.bodies ? group.square(walk.tree.soft[i]) : 0) : group.soft);
}

/* Middles are rounded, and so are halves: upwards by as much. */
template <class P, class R>
__device__ __forceinline__ void store_box(const Frame<P, R> &group, P lx, P ly, P lz, P hx, P hy, P hz, Four<R> *box)
{
    const R up = sizeof(R) == 4 ? (R)1.000001 : (R)(1 + 1e-14);
    const P half = (P)0.5, x = lx * half + hx * half, y = ly * half + hy * half, z = lz * half + hz * half;
    store(box, {group.one(x, group.ox), group.one(y, group.oy), group.one(z, group.oz), group.size(hx, x) * up});
    store(box + 1, {group.size(hy, y) * up, group.size(hz, z) * up, 0, 0});
}

template <class P, class R, int K>
__device__ __forceinline__ void group_load(const Walk<P, R> &walk, int64_t first, int64_t end, uint32_t lane,
                                           Lists<P, R> *lists, Group<P, R, K> *group)
{
    Frame<P, R> frame;
    group_scale(walk, &frame);
    P x[K], y[K], z[K];
    R low = (R)INFINITY, high = 0, soft_low = (R)INFINITY, soft_high = 0;
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int64_t i = least(first + 32 * k + (int64_t)lane, end - 1);
        const Four<P> body = load(walk.target + i);
        x[k] = body.x, y[k] = body.y, z[k] = body.z;
        const R soft = group_soft(walk, frame, i);
        lists->soft[32 * k + lane] = soft;
        const R a = walk.old && walk.alpha > 0 ? walk.old[i] : 0;
        low = least(low, a), high = most(high, a);
        soft_low = least(soft_low, soft), soft_high = most(soft_high, soft);
    }
    if (walk.alpha > 0) low = least_of(low, 31), high = most_of(high, 31);
    frame.limit = group_limit(walk.alpha, low, high, frame.length, frame.mass);
    frame.spread = walk.tree.soft ? most_of(soft_high, 31) - least_of(soft_low, 31) : 0;
    frame.soft_here = least_of(soft_low, 31);

    /* A box for every 8 targets, then for all. */
    P lx[K], ly[K], lz[K], hx[K], hy[K], hz[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
        lx[k] = least_of(x[k], 7), hx[k] = most_of(x[k], 7);
        ly[k] = least_of(y[k], 7), hy[k] = most_of(y[k], 7);
        lz[k] = least_of(z[k], 7), hz[k] = most_of(z[k], 7);
    }
    P ax = lx[0], ay = ly[0], az = lz[0], bx = hx[0], by = hy[0], bz = hz[0];
#pragma unroll
    for (int k = 1; k < K; k++) {
        ax = least(ax, lx[k]), ay = least(ay, ly[k]), az = least(az, lz[k]);
        bx = most(bx, hx[k]), by = most(by, hy[k]), bz = most(bz, hz[k]);
    }
    ax = least_of(ax, 24), ay = least_of(ay, 24), az = least_of(az, 24);
    bx = most_of(bx, 24), by = most_of(by, 24), bz = most_of(bz, 24);
    const P half = (P)0.5, mx = ax * half + bx * half, my = ay * half + by * half, mz = az * half + bz * half;
    frame.ox = mx, frame.oy = my, frame.oz = mz;
    frame.cx = frame.one(mx, mx), frame.cy = frame.one(my, my), frame.cz = frame.one(mz, mz);

    /* One box is enough where the boxes of 8 are not much smaller than it: groups that straddle a jump of the curve
     * are the others. */
    R radius = 0, small = 0, smallest = (R)INFINITY;
#pragma unroll
    for (int k = 0; k < K; k++) {
        group->x[k] = frame.one(x[k], mx), group->y[k] = frame.one(y[k], my);
        group->z[k] = frame.one(z[k], mz);
        if (FINE<P, R>) {
            group->rest_x[k] = frame.rest(x[k], mx), group->rest_y[k] = frame.rest(y[k], my);
            group->rest_z[k] = frame.rest(z[k], mz);
        }
        const R dx = group->x[k] - frame.cx, dy = group->y[k] - frame.cy, dz = group->z[k] - frame.cz;
        radius = most(radius, fused(dx, dx, fused(dy, dy, dz * dz)));
        const R sx = frame.size(hx[k], lx[k]), sy = frame.size(hy[k], ly[k]), sz = frame.size(hz[k], lz[k]);
        const R part = sqrt(fused(sx, sx, fused(sy, sy, sz * sz)));
        small += part;
        if (part > 0) smallest = least(smallest, part);
    }
    frame.radius = sqrt(most_of(radius, 31)) * (R)(1 + 1e-6);
    small += __shfl_xor_sync(ALL, small, 8);
    small += __shfl_xor_sync(ALL, small, 16);
    const bool one = 2 * frame.radius * (R)(4 * K) <= walk.straddle * small;
    frame.boxes = one ? 1 : 4 * K;
    frame.apart = sizeof(P) != sizeof(R) && frame.radius > APART * least_of(smallest, 24);

#pragma unroll
    for (int k = 0; k < K; k++) {
        if ((lane & 7) != 0) continue;
        store_box(frame, one ? ax : lx[k], one ? ay : ly[k], one ? az : lz[k], one ? bx : hx[k], one ? by : hy[k],
                  one ? bz : hz[k], lists->box[4 * k + lane / 8]);
    }
    if (lane == 0) lists->frame = frame;
    __syncwarp();
}

} // namespace nbody

#endif
