/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of a cell that a group looks at: nothing (no mass), its bodies, its moments at each target, its field
 * about the group's middle, or its children.
 *
 * Tests are written with ratios s / d and the pull M / d^2: fifth powers of lengths leave the range of floats. What
 * is not a number is not far.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_ADMIT_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_ADMIT_CUH

#include "nbody/gpu_walk_group.cuh"

namespace nbody
{

enum admitted { NOTHING, CHILDREN, BODIES, CELL, EXPANDED, INSIDE }; /* INSIDE: bodies, at no distance from a box */
enum { FEW = 2, SAME = 32 }; /* bodies that are cheaper one by one, far; at one place, near */

/* The square of the least distance from the group's boxes. */
template <class P, class R> __device__ __forceinline__ R nearest(const Lists<P, R> *lists, int boxes, R x, R y, R z)
{
    R d2 = (R)INFINITY;
    for (int b = 0; b < boxes; b++) {
        const Four<R> u = load(lists->box[b]);
        const R vy = lists->box[b][1].x, vz = lists->box[b][1].y;
        const R dx = most(fabs(x - u.x) - u.w, (R)0), dy = most(fabs(y - u.y) - vy, (R)0);
        const R dz = most(fabs(z - u.z) - vz, (R)0);
        d2 = least(d2, fused(dx, dx, fused(dy, dy, dz * dz)));
    }
    return d2;
}

template <bool quad, class P, class R>
__device__ __forceinline__ admitted admit(const Walk<P, R> &walk, const Frame<P, R> &group, const Lists<P, R> *lists,
                                          uint32_t cell, const Link &link, const Four<P> &centre)
{
    const Four<R> c = group.place(centre);
    const R x = c.x, y = c.y, z = c.z, m = c.w, s = (R)link.extent * (R)group.length;
    const bool leaf = link.many & LEAF;
    const uint32_t many = link.many & ~LEAF;
    const R d2 = nearest(lists, group.boxes, x, y, z), i = inverse_root(d2), q = s * i;
    bool far = q < walk.theta && m * i * i * (q * q * (quad ? q : 1)) < group.limit;
    if (walk.tree.cube) {
        const Four<P> cube = load(walk.tree.cube + cell);
        const R ox = group.size(cube.x, centre.x), oy = group.size(cube.y, centre.y),
                oz = group.size(cube.z, centre.z);
        far = (R)link.side * (R)group.length < walk.theta * (sqrt(d2) - sqrt(fused(ox, ox, fused(oy, oy, oz * oz))));
    }
    if (m == 0) return NOTHING;
    if (leaf && link.extent == 0 && many > SAME) far = true;

    const R dx = x - group.cx, dy = y - group.cy, dz = z - group.cz;
    const R c2 = fused(dx, dx, fused(dy, dy, dz * dz)), ic = inverse_root(c2), p = walk.wide * group.radius * ic;
    const R pull = m * ic * ic;
    const bool expanded =
        far && walk.reach > 0 && c2 * ic > fused(walk.reach, group.radius, walk.inverse * s) &&
        pull * (p * p * p) < group.limit &&
        (group.spread == 0 || (group.spread * ic * ic < (R)0.01 * walk.theta * walk.theta * walk.theta &&
                               pull * group.spread * ic * ic < group.limit));
    if (expanded) return EXPANDED;
    if (leaf && (!far || many <= FEW)) return d2 > 0 ? BODIES : INSIDE;
    return far ? CELL : CHILDREN;
}

} // namespace nbody

#endif
