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
 */
template <class P, class R> __device__ __forceinline__ bool dear(const Walk<P, R> &walk, const Lists<P, R> *lists)
{
    const uint4 c = *reinterpret_cast<const uint4 *>(lists->counts);
    const uint32_t cost = c.x + 2 * c.y + (c.z + c.w) / 2;
    return cost > walk.budget && (lists->inside > walk.crowd || cost / COMPACT > walk.budget);
}

/* Sums what the lists have 32 of; at the end of the walk, all. */
template <bool quad, bool potential, class P, class R, int K>
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
            sum_bodies<true, potential>(walk, group, lists, lane, body, some, sums);
        else
            sum_bodies<false, potential>(walk, group, lists, lane, body, some, sums);
    }
    while (at->cells >= enough) {
        const uint32_t some = least(at->cells, 32u);
        at->cells -= some;
        if (lane == 0) lists->counts[M2P] += some;
        stage_cells<quad>(walk, frame, &lists->staged, lane, lists->cells + at->cells, some);
        if (frame.careful)
            sum_cells<quad, true, potential>(group, *lists, lane, some, sums);
        else
            sum_cells<quad, false, potential>(group, *lists, lane, some, sums);
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
__device__ __forceinline__ void hand_over(const Walk<P, R> &walk, uint32_t group, uint32_t lane)
{
    if (lane == 0) walk.left[1 + atomicAdd(walk.left, 1u)] = group;
}

/* Targets first .. end - 1, at most 32 K. */
template <class P, class R, int K, bool quad, bool potential>
__device__ __forceinline__ void walk_group(const Walk<P, R> &walk, int64_t first, int64_t end, Lists<P, R> *lists)
{
    const uint32_t lane = threadIdx.x & 31, below = lanes_below();
    const uint32_t super = (uint32_t)(first / (32 * K * SUPER));
    Group<P, R, K> group;
    group_load(walk, first, end, lane, lists, &group);
    const Frame<P, R> &frame = lists->frame;
    if (!walk.alone && frame.apart) {
        hand_over(walk, (uint32_t)(first / (32 * K)), lane);
        return;
    }
    Sums<R, K> sums = {};
    R field = 0;
    Progress at;
    const bool upper = begin(walk, lists, super, lane, &at);
    while (!at.done()) {
        look<quad>(walk, lists, super, lane, below, &at);
        if (!walk.alone && dear(walk, lists)) {
            hand_over(walk, (uint32_t)(first / (32 * K)), lane);
            return;
        }
        work_off<quad, potential>(walk, group, lists, lane, below, &at, &sums, &field);
    }
    if (walk.reach > 0) field_at<potential>(group, field, frame.cx, frame.cy, frame.cz, &sums);
    if (upper) {
        const Four<P> m = load(walk.upper.middle + super);
        R whole = 0;
        for (int w = 0; w < walk.upper.team; w++)
            whole += walk.upper.field[((size_t)super * (size_t)walk.upper.team + (size_t)w) * 32 + lane];
        field_at<potential>(group, whole, frame.one(m.x, frame.ox), frame.one(m.y, frame.oy),
                            frame.one(m.z, frame.oz), &sums);
    }
    put<potential>(walk, *lists, first, end, lane, sums);
    __syncwarp();
}

/* A group a block; alone: the blocks deal the targets of wide groups among them. */
template <class P, class R, int K, bool quad, bool potential>
__global__ void __launch_bounds__(32, blocks_at_once<P, R>()) walk_kernel(const __grid_constant__ Walk<P, R> walk)
{
    __shared__ Lists<P, R> lists;
    const uint32_t jobs = walk.alone ? walk.left[0] * (32 * K) : gridDim.x;
    for (uint32_t job = blockIdx.x; job < jobs; job += gridDim.x) {
        int64_t first = (int64_t)job * (32 * K), end = least(first + 32 * K, walk.n);
        if (walk.alone) {
            first = (int64_t)walk.left[1 + job / (32 * K)] * (32 * K) + job % (32 * K);
            end = least(first + 1, walk.n);
        }
        if (first < end) walk_group<P, R, K, quad, potential>(walk, first, end, &lists);
    }
}

template <class P, class R, int K, bool quad, bool potential>
cudaError_t walk_launch(const Walk<P, R> &walk, cudaStream_t stream)
{
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
    Walk<P, R> rest = walk;
    rest.alone = true;
    walk_kernel<P, R, K, quad, potential><<<(unsigned)least(groups * 32 * K, (int64_t)ALONE), 32, 0, stream>>>(rest);
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
