/* SPDX-License-Identifier: Apache-2.0
 *
 * Far cells as a field about the group's middle: phi0 + a . y + ..., to second order in the place y of the target,
 * whose 20 coefficients are summed over cells, a cell a lane. Of the moments the field and its gradient are kept, of
 * the mass the second derivative too. After each 32 cells the lanes' sums are added up in five steps, each of which
 * halves the numbers that a lane has: coefficient c is then kept by one lane, field_lane(c), in one register.
 *
 * With n = D / r, D from the middle to the cell, r^2 = D^2 + e, and q = Q r^-4:
 *   A_c   = n_c (M r^-2 + 15/2 nqn - 3/2 tr q) - 3 (qn)_c
 *   B_bc  = (n_b G_c + n_c G_b - delta (M r^-2 + 15/2 nqn - 3/2 tr q) + 3 q_bc) / r,
 *           G = n (3/2 M r^-2 + 105/4 nqn - 15/4 tr q) - 15 qn
 *   T_bce = M r^-4 (15/2 n_b n_c n_e - 3/2 (delta_bc n_e + delta_be n_c + delta_ce n_b))
 * and at y: a_c = A_c + B_cb y_b + T_cbe y_b y_e, phi = phi0 + A y + B y y / 2 + T y y y / 3.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_FIELD_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_FIELD_CUH

#include "nbody/gpu_walk_sums.cuh"

namespace nbody
{

enum { FIELD = 20 }; /* phi0; A x y z; B xx xy xz yy yz zz; T xxx xxy xxz xyy xyz xzz yyy yyz yzz zzz */

__device__ __forceinline__ constexpr int field_lane(int c)
{
    const int half = c % 10, quarter = half % 5, rest = quarter % 3;
    return (c / 10) << 4 | (half / 5) << 3 | (quarter / 3) << 2 | (rest / 2) << 1 | rest % 2;
}

/* Sends the upper or the lower of N numbers (the upper may be one less) to the lane that differs in `bit`. */
template <int N, class R> __device__ __forceinline__ void fold(R *v, uint32_t lane, int bit)
{
    constexpr int H = (N + 1) / 2;
    const bool upper = lane & bit;
#pragma unroll
    for (int i = 0; i < H; i++) {
        const R high = i + H < N ? v[i + H] : 0;
        const R sent = upper ? v[i] : high, kept = upper ? high : v[i];
        v[i] = kept + __shfl_xor_sync(ALL, sent, bit);
    }
}

template <class R> __device__ __forceinline__ R field_fold(R *v, uint32_t lane)
{
    fold<20>(v, lane, 16);
    fold<10>(v, lane, 8);
    fold<5>(v, lane, 4);
    fold<3>(v, lane, 2);
    fold<2>(v, lane, 1);
    return v[0];
}

/* One cell's coefficients, at D with mass m. q, p: moments as the tree has them, scaled. */
template <bool quad, bool potential, class R>
__device__ __forceinline__ void field_of(R dx, R dy, R dz, R m, R e, Four<R> q, Four<R> p, R *v)
{
    const R i = inverse_root(fused(dx, dx, fused(dy, dy, fused(dz, dz, e)))), i2 = i * i, pull = m * i2;
    const R x = dx * i, y = dy * i, z = dz * i;
    R a = pull, g = (R)1.5 * pull, qx = 0, qy = 0, qz = 0;
    v[0] = m * i;
    if (quad) {
        for (R *c : {&q.x, &q.y, &q.z, &q.w, &p.x, &p.y})
            *c = *c * i2 * i2;
        const R trace = q.x + q.y + q.z;
        qx = fused(q.x, x, fused(q.w, y, p.x * z));
        qy = fused(q.w, x, fused(q.y, y, p.y * z));
        qz = fused(p.x, x, fused(p.y, y, q.z * z));
        const R nqn = fused(qx, x, fused(qy, y, qz * z));
        a = fused((R)7.5, nqn, fused((R)-1.5, trace, a));
        g = fused((R)26.25, nqn, fused((R)-3.75, trace, g));
        if (potential) v[0] += m > 0 ? (R)0.5 * fused((R)3, nqn, -trace) / i : 0;
    }
    const R gx = fused((R)-15, qx, g * x), gy = fused((R)-15, qy, g * y), gz = fused((R)-15, qz, g * z);
    v[1] = fused((R)-3, qx, a * x), v[2] = fused((R)-3, qy, a * y), v[3] = fused((R)-3, qz, a * z);
    v[4] = fused(2 * x, gx, -a), v[5] = fused(x, gy, y * gx), v[6] = fused(x, gz, z * gx);
    v[7] = fused(2 * y, gy, -a), v[8] = fused(y, gz, z * gy), v[9] = fused(2 * z, gz, -a);
    if (quad) {
        v[4] = fused((R)3, q.x, v[4]), v[5] = fused((R)3, q.w, v[5]), v[6] = fused((R)3, p.x, v[6]);
        v[7] = fused((R)3, q.y, v[7]), v[8] = fused((R)3, p.y, v[8]), v[9] = fused((R)3, q.z, v[9]);
    }
#pragma unroll
    for (int c = 4; c < 10; c++)
        v[c] *= i;
    const R t = (R)7.5 * pull * i2, d = (R)-0.2 * t, sx = t * x * x, sy = t * y * y, sz = t * z * z;
    v[10] = x * fused((R)3, d, sx), v[11] = y * (sx + d), v[12] = z * (sx + d);
    v[13] = x * (sy + d), v[14] = t * x * y * z, v[15] = x * (sz + d);
    v[16] = y * fused((R)3, d, sy), v[17] = z * (sy + d), v[18] = y * (sz + d), v[19] = z * fused((R)3, d, sz);
}

/* Adds the cells of a list's end to the lane's coefficient. Softening of each body: spread is small, or no cell came.
 */
template <bool quad, bool potential, class P, class R>
__device__ __forceinline__ R field_add(const Walk<P, R> &walk, const Frame<P, R> &group, uint32_t lane,
                                       const uint32_t *list, uint32_t number)
{
    Four<R> q = {0, 0, 0, 0}, p = {0, 0, 0, 0}, c = {1, 0, 0, 0}; /* a lane without a cell: no mass */
    R e = group.soft;
    if (lane < number) {
        const uint32_t cell = list[lane];
        c = group.place(load(walk.tree.centre + cell));
        c.x -= group.cx, c.y -= group.cy, c.z -= group.cz;
        if (quad) {
            const R u = (R)group.mass * (R)group.length * (R)group.length;
            q = load(walk.tree.quad + 2 * (size_t)cell), p = load(walk.tree.quad + 2 * (size_t)cell + 1);
            q = {u * q.x, u * q.y, u * q.z, u * q.w}, p = {u * p.x, u * p.y, p.z, 0};
        }
        if (walk.tree.soft) e = group.soft_here + (R)0.5 * group.square(quad ? p.z : walk.tree.soft_mean[cell]);
    }
    R v[FIELD];
    field_of<quad, potential>(c.x, c.y, c.z, c.w, e, q, p, v);
    return field_fold(v, lane);
}

template <bool potential, class P, class R, int K>
__device__ __forceinline__ void field_at(const Group<P, R, K> &group, R mine, R cx, R cy, R cz, Sums<R, K> *sums)
{
    R v[FIELD];
#pragma unroll
    for (int c = 0; c < FIELD; c++)
        v[c] = __shfl_sync(ALL, mine, field_lane(c));
#pragma unroll
    for (int k = 0; k < K; k++) {
        const R x = group.x[k] - cx, y = group.y[k] - cy, z = group.z[k] - cz;
        const R xx = x * x, yy = y * y, zz = z * z, xy = 2 * x * y, xz = 2 * x * z, yz = 2 * y * z;
        const R bx = fused(v[4], x, fused(v[5], y, v[6] * z)), by = fused(v[5], x, fused(v[7], y, v[8] * z));
        const R bz = fused(v[6], x, fused(v[8], y, v[9] * z));
        const R tx =
            fused(v[10], xx, fused(v[11], xy, fused(v[12], xz, fused(v[13], yy, fused(v[14], yz, v[15] * zz)))));
        const R ty =
            fused(v[11], xx, fused(v[13], xy, fused(v[14], xz, fused(v[16], yy, fused(v[17], yz, v[18] * zz)))));
        const R tz =
            fused(v[12], xx, fused(v[14], xy, fused(v[15], xz, fused(v[17], yy, fused(v[18], yz, v[19] * zz)))));
        sums->x[k] += v[1] + (bx + tx);
        sums->y[k] += v[2] + (by + ty);
        sums->z[k] += v[3] + (bz + tz);
        if (potential) {
            const R third = (R)(1.0 / 3), half = (R)0.5;
            sums->w[k] += v[0] + fused(x, fused(third, tx, fused(half, bx, v[1])),
                                       fused(y, fused(third, ty, fused(half, by, v[2])),
                                             z * fused(third, tz, fused(half, bz, v[3]))));
        }
    }
}

} // namespace nbody

#endif
