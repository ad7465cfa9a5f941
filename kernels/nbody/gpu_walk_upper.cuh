/* SPDX-License-Identifier: Apache-2.0
 *
 * The upper part of the walk, once for SUPER neighbouring groups: a warp walks from the root for all of their
 * targets. Cells that are far compared with all of them are summed as a field about their middle; cells that some of
 * them may take and others not are left to the groups, which begin with those instead of the root.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_UPPER_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_UPPER_CUH

#include "nbody/gpu_walk_admit.cuh"
#include "nbody/gpu_walk_field.cuh"

namespace nbody
{

/* Box b: of the targets of group b. Fills what admit and field_add look at. */
template <class P, class R>
__device__ __forceinline__ void super_load(const Walk<P, R> &walk, int64_t first, int64_t end, int per, uint32_t lane,
                                           Lists<P, R> *lists, Frame<P, R> *group)
{
    group_scale(walk, group);
    P lx = (P)INFINITY, ly = lx, lz = lx, hx = -lx, hy = -lx, hz = -lx; /* lane b has box b's */
    R low = (R)INFINITY, high = 0, soft_low = (R)INFINITY, soft_high = 0;
    for (int b = 0; b < SUPER; b++) {
        P ax = (P)INFINITY, ay = ax, az = ax, bx = -ax, by = -ax, bz = -ax;
        for (int c = 0; c < per; c += 32) {
            const int64_t i = least(first + b * per + c + (int64_t)lane, end - 1);
            const Four<P> body = load(walk.target + i);
            ax = least(ax, body.x), ay = least(ay, body.y), az = least(az, body.z);
            bx = most(bx, body.x), by = most(by, body.y), bz = most(bz, body.z);
            const R a = walk.old && walk.alpha > 0 ? walk.old[i] : 0;
            low = least(low, a), high = most(high, a);
            const R soft = group_soft(walk, *group, i);
            soft_low = least(soft_low, soft), soft_high = most(soft_high, soft);
        }
        ax = least_of(ax, 31), ay = least_of(ay, 31), az = least_of(az, 31);
        bx = most_of(bx, 31), by = most_of(by, 31), bz = most_of(bz, 31);
        if (lane == (uint32_t)b) lx = ax, ly = ay, lz = az, hx = bx, hy = by, hz = bz;
    }
    low = least_of(low, 31), high = most_of(high, 31);
    group->limit = group_limit(walk.alpha, low, high, group->length, group->mass);
    soft_low = least_of(soft_low, 31);
    group->spread = walk.tree.soft ? most_of(soft_high, 31) - soft_low : 0;
    group->soft_here = soft_low;

    const P ax = least_of(lx, 31), ay = least_of(ly, 31), az = least_of(lz, 31);
    const P bx = most_of(hx, 31), by = most_of(hy, 31), bz = most_of(hz, 31), half = (P)0.5;
    const P mx = ax * half + bx * half, my = ay * half + by * half, mz = az * half + bz * half;
    group->ox = mx, group->oy = my, group->oz = mz;
    group->cx = group->one(mx, mx), group->cy = group->one(my, my), group->cz = group->one(mz, mz);
    R radius = 0, part = 0;
    if (lane < SUPER) {
        const R sx = group->size(hx, lx), sy = group->size(hy, ly), sz = group->size(hz, lz);
        part = sqrt(fused(sx, sx, fused(sy, sy, sz * sz)));
        const R x = most(fabs(group->one(lx, mx) - group->cx), fabs(group->one(hx, mx) - group->cx));
        const R y = most(fabs(group->one(ly, my) - group->cy), fabs(group->one(hy, my) - group->cy));
        const R z = most(fabs(group->one(lz, mz) - group->cz), fabs(group->one(hz, mz) - group->cz));
        radius = fused(x, x, fused(y, y, z * z)); /* of the farthest corner, which no target need be in */
    }
    group->radius = sqrt(most_of(radius, 31)) * (R)(1 + 1e-6);
    for (int bit = 1; bit < 32; bit *= 2)
        part += __shfl_xor_sync(ALL, part, bit);
    const bool one = 2 * group->radius * (R)SUPER <= walk.straddle * part;
    group->boxes = one ? 1 : SUPER;
    if (lane < SUPER)
        store_box(*group, one ? ax : lx, one ? ay : ly, one ? az : lz, one ? bx : hx, one ? by : hy, one ? bz : hz,
                  lists->box[lane]);
    __syncwarp();
}

/* Would the cell be opened at the middle's distance? */
template <bool quad, class P, class R>
__device__ __forceinline__ bool near_middle(const Walk<P, R> &walk, const Frame<P, R> &group, const Link &link,
                                            const Four<P> &centre)
{
    const Four<R> c = group.place(centre);
    const R x = c.x - group.cx, y = c.y - group.cy, z = c.z - group.cz, s = (R)link.extent * (R)group.length;
    const R i = inverse_root(fused(x, x, fused(y, y, z * z))), q = s * i;
    return !(q < walk.theta && c.w * i * i * (q * q * (quad ? q : 1)) < group.limit);
}

/* Ranges of which each warp of a team gets its share, once so many are on the stack: until then all do the same, and
 * the first alone counts. */
constexpr uint32_t DEALT = 24;

__device__ __forceinline__ uint32_t deal(uint32_t *stack, uint32_t top, uint32_t team, uint32_t member, uint32_t lane,
                                         uint32_t below)
{
    uint32_t kept = 0;
    for (uint32_t first = 0; first < top; first += 32) {
        const uint32_t i = first + lane, entry = i < top ? stack[i] : 0;
        const bool mine = i < top && i % team == member;
        const uint32_t all = __ballot_sync(ALL, mine);
        __syncwarp(); /* votes order no memory: entries are read before others are written over them */
        if (mine) stack[kept + __popc(all & below)] = entry;
        kept += __popc(all);
        __syncwarp();
    }
    return kept;
}

template <class P, class R, int K, bool quad, bool potential>
__global__ void __launch_bounds__(32, blocks_at_once<P, R>()) upper_kernel(const __grid_constant__ Walk<P, R> walk)
{
    __shared__ Lists<P, R> room;
    Lists<P, R> *const lists = &room;
    const uint32_t lane = threadIdx.x & 31, below = lanes_below();
    const int64_t super = blockIdx.x, first = super * (32 * K * SUPER);
    const int64_t end = least(first + 32 * K * SUPER, walk.n);
    if (first >= end) return;
    Frame<P, R> group;
    super_load(walk, first, end, 32 * K, lane, lists, &group);

    R field = 0;
    uint32_t far = 0, top = 1, kept = 0, visits = 0, expanded = 0;
    const uint32_t team = gridDim.y, member = blockIdx.y, room_kept = UPPER / team;
    uint32_t *const list = walk.upper.list + super * UPPER + member * room_kept;
    bool dealt = team == 1;
    if (lane == 0) lists->stack[0] = 0;
    __syncwarp();
    while (top && kept <= room_kept) {
        if (!dealt && top >= DEALT) {
            dealt = true;
            top = deal(lists->stack, top, team, member, lane, below);
            if (member) field = 0, far = kept = visits = expanded = 0;
            if (top == 0) break;
        }
        uint32_t node;
        const uint32_t number = take_cells(lists->stack, &top, walk.stack - top < 32 ? 1 : 32, lane, below, &node);
        visits += number;
        admitted what = NOTHING;
        Link link = {};
        if (lane < number) {
            link = load(walk.tree.link + node);
            const Four<P> centre = load(walk.tree.centre + node);
            what = admit<quad>(walk, group, lists, node, link, centre);
            if (what == CHILDREN && !near_middle<quad>(walk, group, link, centre)) what = CELL;
        }
        __syncwarp();
        if (top == walk.stack && what == CHILDREN) what = CELL;
        const uint32_t open = __ballot_sync(ALL, what == CHILDREN),
                       keep = __ballot_sync(ALL, what == CELL || what == BODIES || what == INSIDE);
        const uint32_t as_field = __ballot_sync(ALL, what == EXPANDED);
        if (what == CHILDREN)
            lists->stack[top + __popc(open & ~(below << 1 | 1))] = link.first << 3 | (link.many - 1);
        if (what == EXPANDED) lists->far[far + __popc(as_field & below)] = node;
        const uint32_t at = kept + __popc(keep & below);
        if ((what == CELL || what == BODIES || what == INSIDE) && at < room_kept) list[at] = node;
        top += __popc(open), far += __popc(as_field), kept += __popc(keep);
        __syncwarp();
        if (far >= 32) {
            far -= 32, expanded += 32;
            field += field_add<quad, potential>(walk, group, lane, lists->far + far, 32);
        }
        __syncwarp();
    }
    if (far) field += field_add<quad, potential>(walk, group, lane, lists->far, far);
    expanded += far;
    if (!dealt && member) field = 0, kept = visits = expanded = 0;
    walk.upper.field[(super * team + member) * 32 + lane] = field;
    if (lane != 0) return;
    if (member == 0) store(walk.upper.middle + super, {group.ox, group.oy, group.oz, 0});
    walk.upper.kept[super * team + member] = kept;
    if (walk.counts) {
        atomicAdd(walk.counts + 2, (double)expanded);
        atomicAdd(walk.counts + 3, (double)visits);
    }
}

} // namespace nbody

#endif
