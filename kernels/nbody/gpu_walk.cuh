/* SPDX-License-Identifier: Apache-2.0
 *
 * Forces by a tree (Barnes and Hut 1986) for groups of targets that share a walk: a warp a group (Barnes 1990; voting
 * warps: Burtscher and Pingali 2011). 32 cells are looked at at once, one by each lane; what is to be summed goes to
 * lists that are summed when 32 are there. Nothing is added atomically but counts, which are whole numbers: bits are
 * the same in every run.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_WALK_CUH
#define LACIS_KERNELS_NBODY_GPU_WALK_CUH

#include "nbody/gpu_walk_admit.cuh"
#include "nbody/gpu_walk_field.cuh"
#include "nbody/gpu_walk_turns.cuh"
#include "nbody/gpu_walk_upper.cuh"

namespace nbody
{

/* All bodies of a cell, which lie behind each other: from its first leaf's first to its last leaf's last. */
static __device__ uint2 all_bodies(const Link *links, uint32_t cell)
{
    Link first = links[cell], last = first;
    while (!(first.many & LEAF))
        first = links[first.first];
    while (!(last.many & LEAF))
        last = links[last.first + last.many - 1];
    return make_uint2(first.first, last.first + (last.many & ~LEAF) - first.first);
}

/* How far a walk is: entries of lists, bodies of those in `bodies`, cells that the upper walk left and those taken.
 */
struct Progress {
    uint32_t top, bodies, left, cells, far, kept, next;
    __device__ __forceinline__ bool done() const
    {
        return top == 0 && next == kept;
    }
};

/* Cell number i of those that the upper walk left. */
template <class P, class R>
__device__ __forceinline__ uint32_t left_over(const Walk<P, R> &walk, const uint32_t *kept, uint32_t super,
                                              uint32_t i)
{
    uint32_t w = 0;
    while (i >= kept[w])
        i -= kept[w++];
    return walk.upper.list[(size_t)super * UPPER + w * (UPPER / (uint32_t)walk.upper.team) + i];
}

/* Begins with what the upper walk left (true), or with the root. */
template <class P, class R>
__device__ __forceinline__ bool begin(const Walk<P, R> &walk, Lists<P, R> *lists, uint32_t super, uint32_t lane,
                                      Progress *at)
{
    const uint32_t team = walk.upper.list != nullptr ? walk.upper.team : 0;
    const uint32_t some = lane < team ? walk.upper.kept[(size_t)super * team + lane] : 0;
    const bool upper = team && __all_sync(ALL, some <= UPPER / team);
    *at = {};
    at->kept = upper ? __reduce_add_sync(ALL, some) : 0;
    at->top = !upper;
    if (lane < TEAM) lists->kept[lane] = some;
    if (lane < 4) lists->counts[lane] = 0;
    if (lane == 0) lists->inside = 0;
    if (lane == 0) lists->stack[0] = 0;
    __syncwarp();
    return upper;
}

/* Pushes children; where there is no room their cells become ranges of bodies. */
template <class P, class R>
__device__ __forceinline__ void open_cells(const Walk<P, R> &walk, Lists<P, R> *lists, uint32_t below, uint32_t node,
                                           Progress *at, admitted *what, Link *link)
{
    const uint32_t open = __ballot_sync(ALL, *what == CHILDREN);
    if (at->top < walk.stack) {
        if (*what == CHILDREN)
            lists->stack[at->top + __popc(open & ~(below << 1 | 1))] = link->first << 3 | (link->many - 1);
        at->top += __popc(open);
    } else if (*what == CHILDREN) {
        const uint2 range = all_bodies(walk.tree.link, node);
        link->first = range.x, link->many = LEAF | range.y, *what = BODIES;
    }
}

/* Looks at 32 cells, or as many as there are. */
template <bool quad, class P, class R>
__device__ __forceinline__ void look(const Walk<P, R> &walk, Lists<P, R> *lists, uint32_t super, uint32_t lane,
                                     uint32_t below, Progress *at)
{
    uint32_t node = 0, number;
    if (at->top) {
        number = take_cells(lists->stack, &at->top, walk.stack - at->top < 32 ? 1 : 32, lane, below, &node);
    } else {
        number = least(at->kept - at->next, 32u);
        if (lane < number) node = left_over(walk, lists->kept, super, at->next + lane);
        at->next += number;
    }
    if (lane == 0) lists->counts[VISITS] += number;
    admitted what = NOTHING;
    Link link = {};
    if (lane < number) {
        link = load(walk.tree.link + node);
        what = admit<quad>(walk, lists->frame, lists, node, link, load(walk.tree.centre + node));
    }
    __syncwarp();
    open_cells(walk, lists, below, node, at, &what, &link);
    if (__any_sync(ALL, what == INSIDE)) {
        const uint32_t some = __reduce_add_sync(ALL, what == INSIDE ? link.many & ~LEAF : 0u);
        if (lane == 0) lists->inside += some;
        if (what == INSIDE) what = BODIES;
    }
    const uint32_t as_bodies = __ballot_sync(ALL, what == BODIES), as_cell = __ballot_sync(ALL, what == CELL);
    const uint32_t as_field = __ballot_sync(ALL, what == EXPANDED), many = link.many & ~LEAF;
    if (what == CELL) lists->cells[at->cells + __popc(as_cell & below)] = node;
    if (what == EXPANDED) lists->far[at->far + __popc(as_field & below)] = node;
    if (what == BODIES) lists->bodies[at->bodies + __popc(as_bodies & below)] = make_uint2(link.first, many);
    at->cells += __popc(as_cell), at->far += __popc(as_field), at->bodies += __popc(as_bodies);
    if (as_bodies) at->left += __reduce_add_sync(ALL, what == BODIES ? many : 0u);
    __syncwarp();
}

/* Has the group cost more than a group should? Then it is wide (targets that are neighbours on the curve alone, such
 * as the outermost of a cluster), and what it opens for all of them few of them need. A wide group's boxes hold
 * bodies of others; a compact one may be dear by what its targets ask for (RELATIVE, where forces cancel), which they
 * would by themselves, too: it may cost more. Counted in bodies summed; a function of the tree and the group alone.
 * The vote holds the lane that counts back until all have read. */
template <class P, class R> __device__ __forceinline__ bool dear(const Walk<P, R> &walk, const Lists<P, R> *lists)
{
    const uint32_t cost = cost_of(*lists);
    return __any_sync(ALL, cost > walk.budget && (lists->inside > walk.crowd || cost / walk.compact > walk.budget));
}

/* Sums what the lists have 32 of; at the end of the walk, all. */
template <bool quad, bool potential, bool alone, class P, class R, int K>
__device__ __forceinline__ void work_off(const Walk<P, R> &walk, const Group<P, R, K> &group, Lists<P, R> *lists,
                                         uint32_t lane, uint32_t below, Progress *at, Sums<R, K> *sums, R *field)
{
    const Frame<P, R> &frame = lists->frame;
    const uint32_t enough = at->done() ? 1 : 32;
    while (at->left >= enough) {
        uint32_t body;
        const uint32_t some = take_bodies(lists->bodies, &at->bodies, lane, below, &body);
        at->left -= some;
        if (lane == 0) lists->counts[P2P] += some;
        if (frame.careful)
            sum_bodies<true, potential, alone>(walk, group, lists, lane, body, some, sums);
        else
            sum_bodies<false, potential, alone>(walk, group, lists, lane, body, some, sums);
    }
    while (at->cells >= enough) {
        const uint32_t some = least(at->cells, 32u);
        at->cells -= some;
        if (lane == 0) lists->counts[M2P] += some;
        stage_cells<quad>(walk, frame, &lists->staged, lane, lists->cells + at->cells, some);
        if (frame.careful)
            sum_cells<quad, true, potential, alone>(group, *lists, lane, some, sums);
        else
            sum_cells<quad, false, potential, alone>(group, *lists, lane, some, sums);
    }
    while (at->far >= enough) {
        const uint32_t some = least(at->far, 32u);
        at->far -= some;
        if (lane == 0) lists->counts[FIELDS] += some;
        *field += field_add<quad, potential>(walk, frame, lane, lists->far + at->far, some);
    }
    __syncwarp();
}

/* Sums as the caller's: in the tree's units, and without the target itself, which is among those at its place. */
template <bool potential, class P, class R, int K>
__device__ __forceinline__ void put(const Walk<P, R> &walk, const Lists<P, R> &lists, int64_t first, int64_t end,
                                    uint32_t lane, const Sums<R, K> &sums)
{
    const Frame<P, R> &frame = lists.frame;
#pragma unroll
    for (int k = 0; k < K; k++) {
        const int64_t i = first + 32 * k + lane;
        if (i >= end) continue;
        R w = 0;
        if (potential) {
            const R e = 2 * lists.soft[32 * k + lane];
            const R own = (R)(walk.bodies ? walk.target[i].w * frame.mass : 0) *
                          (frame.careful ? inverse_distance<true>(e) : inverse_distance<false>(e));
            w = (R)((double)(sums.w[k] + (sums.here[k] - (walk.bodies ? own : 0))) * frame.length / frame.mass);
        }
        const double u = (double)frame.length * frame.length / frame.mass;
        store(walk.out + (walk.order ? walk.order[i] : i),
              {(R)(sums.x[k] * u), (R)(sums.y[k] * u), (R)(sums.z[k] * u), w});
    }
    if (walk.counts == nullptr || lane != 0) return;
    const double targets = (double)(end - first);
    atomicAdd(walk.counts + 0, targets * lists.counts[P2P]);
    atomicAdd(walk.counts + 1, targets * lists.counts[M2P]);
    atomicAdd(walk.counts + 2, (double)lists.counts[FIELDS]);
    atomicAdd(walk.counts + 3, (double)lists.counts[VISITS]);
}

constexpr int ALONE = 2112; /* blocks of the launch for wide groups */

/* Leaves a group to the launch that walks for its targets one by one. The list's order is any: each walk is its own.
 */
template <class P, class R>
__device__ __forceinline__ void hand_over(const Walk<P, R> &walk, const Lists<P, R> &lists, uint32_t lane)
{
    if (lane == 0) {
        walk.left[atomicAdd(walk.lefts, 1u)] = lists.first / walk.per;
        turn_note(walk, lists, lists.first / walk.per, gridDim.x);
    }
}

/* The lists' targets, at most 32 K; alone: one. */
template <class P, class R, int K, bool quad, bool potential, bool alone>
__device__ __forceinline__ void walk_group(const Walk<P, R> &walk, Lists<P, R> *lists)
{
    const uint32_t lane = threadIdx.x & 31, below = lanes_below();
    Group<P, R, K> group;
    group_load(walk, lists->first, (int64_t)lists->first + lists->targets, lane, lists, &group);
    const Frame<P, R> &frame = lists->frame;
    if (!alone && frame.apart) {
        hand_over(walk, *lists, lane);
        return;
    }
    Sums<R, K> sums = {};
    R field = 0;
    Progress at;
    const bool upper = begin(walk, lists, lists->first / (walk.per * SUPER), lane, &at);
    while (!at.done()) {
        look<quad>(walk, lists, lists->first / (walk.per * SUPER), lane, below, &at);
        if (!alone && dear(walk, lists)) {
            hand_over(walk, *lists, lane);
            return;
        }
        work_off<quad, potential, alone>(walk, group, lists, lane, below, &at, &sums, &field);
    }
    if constexpr (alone) sum_lanes(&sums);
    if (walk.reach > 0) field_at<potential>(group, field, frame.cx, frame.cy, frame.cz, &sums);
    if (upper) {
        const uint32_t super = lists->first / (walk.per * SUPER);
        const Four<P> m = load(walk.upper.middle + super);
        R whole = 0;
        for (int w = 0; w < walk.upper.team; w++)
            whole += walk.upper.field[((size_t)super * (size_t)walk.upper.team + (size_t)w) * 32 + lane];
        field_at<potential>(group, whole, frame.one(m.x, frame.ox), frame.one(m.y, frame.oy),
                            frame.one(m.z, frame.oz), &sums);
    }
    put<potential>(walk, *lists, lists->first, (int64_t)lists->first + lists->targets, lane, sums);
    if (!alone && lane == 0) turn_note(walk, *lists, lists->first / walk.per, gridDim.x);
    __syncwarp();
}

/* Targets first .. of a walk. */
template <class P, class R>
__device__ __forceinline__ void set_targets(Lists<P, R> *lists, int64_t first, int64_t targets)
{
    if (threadIdx.x == 0) {
        lists->first = (uint32_t)first;
        lists->targets = (uint32_t)targets;
    }
    __syncwarp();
}

/* A group a block. */
template <class P, class R, int K, bool quad, bool potential>
__global__ void __launch_bounds__(32, blocks_at_once<P, R>()) walk_kernel(const __grid_constant__ Walk<P, R> walk)
{
    __shared__ Lists<P, R> lists;
    const uint32_t group = walk.turn != nullptr ? walk.turn[TURN_FIRST + blockIdx.x] : blockIdx.x;
    const int64_t first = (int64_t)group * (32 * K);
    set_targets(&lists, first, least((int64_t)(32 * K), walk.n - first));
    walk_group<P, R, K, quad, potential, false>(walk, &lists);
}

/* Targets of groups that were left, one by one: the blocks deal them among themselves. */
template <class P, class R, bool quad, bool potential>
__global__ void __launch_bounds__(32, blocks_at_once<P, R>()) alone_kernel(const __grid_constant__ Walk<P, R> walk)
{
    __shared__ Lists<P, R> lists;
    const uint32_t jobs = *walk.lefts * walk.per;
    turn_over(walk);
    for (uint32_t job = blockIdx.x; job < jobs; job += gridDim.x) {
        const int64_t first = (int64_t)walk.left[job / walk.per] * walk.per + job % walk.per;
        if (first >= walk.n) continue;
        set_targets(&lists, first, 1);
        walk_group<P, R, 1, quad, potential, true>(walk, &lists);
    }
}

template <class P, class R, int K, bool quad, bool potential>
cudaError_t walk_launch(Walk<P, R> walk, cudaStream_t stream)
{
    walk.per = 32 * K;
    const int64_t groups = (walk.n + 32 * K - 1) / (32 * K);
    if (walk.upper.list != nullptr) {
        const dim3 supers((unsigned)((groups + SUPER - 1) / SUPER), (unsigned)walk.upper.team);
        upper_kernel<P, R, K, quad, potential><<<supers, 32, 0, stream>>>(walk);
        const cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) return error;
    }
    walk_kernel<P, R, K, quad, potential><<<(unsigned)groups, 32, 0, stream>>>(walk);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    alone_kernel<P, R, quad, potential><<<(unsigned)least(groups * 32 * K, (int64_t)ALONE), 32, 0, stream>>>(walk);
    return cudaGetLastError();
}

template <class P, class R, int K, bool quad>
cudaError_t walk_launch(const Walk<P, R> &walk, bool potential, cudaStream_t stream)
{
    return potential ? walk_launch<P, R, K, quad, true>(walk, stream)
                     : walk_launch<P, R, K, quad, false>(walk, stream);
}

template <class P, class R, int K>
cudaError_t walk_launch(const Walk<P, R> &walk, bool quad, bool potential, cudaStream_t stream)
{
    return quad ? walk_launch<P, R, K, true>(walk, potential, stream)
                : walk_launch<P, R, K, false>(walk, potential, stream);
}

} // namespace nbody

#endif
