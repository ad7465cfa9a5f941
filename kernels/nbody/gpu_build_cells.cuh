/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells of a round from its sorted keys: first which begin with each body, then, with places known, the cells.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_CELLS_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_CELLS_CUH

#include "gpu_build.cuh"

namespace nbody
{

/* How many of the lanes before this one, and in all, have a cell of each level: lane l has the votes of level l. */
__device__ static inline uint32_t votes_of(uint32_t mask)
{
    const uint32_t lane = threadIdx.x & 31;
    uint32_t mine = 0;
    for (uint32_t left = __reduce_or_sync(~0u, mask) & ~TOO_MANY; left != 0; left &= left - 1) {
        const int level = __ffs((int)left) - 1;
        const uint32_t votes = __ballot_sync(~0u, mask >> level & 1);
        if (lane == (uint32_t)level) mine = votes;
    }
    return mine;
}

/* How many of a body's cells are no leaves. */
__device__ static inline uint32_t inner_of(uint32_t mask)
{
    const uint32_t cells = (uint32_t)__popc(mask & ~TOO_MANY);
    return cells == 0 ? 0 : cells - 1;
}

/* A block's keys and those of a leaf's bodies on both sides. */
struct Near {
    const Key *key;
    uint32_t from, count; /* bodies from .. from + count - 1; from may be below 0 */
};

/* Levels that bodies i and j, both near, have in common; -1: none, not even the segment. */
__device__ static inline int common(const Round &r, const Near &near, uint32_t i, uint32_t j)
{
    if (r.seg != nullptr && r.seg[i] != r.seg[j]) return -1;
    return common_levels(near.key[i - near.from], near.key[j - near.from], r.levels);
}

/* The same of any two. */
__device__ static inline int far_common(const Round &r, uint32_t i, uint32_t j)
{
    if (r.seg != nullptr && r.seg[i] != r.seg[j]) return -1;
    return common_levels(r.key[i] >> r.shift, r.key[j] >> r.shift, r.levels);
}

/* The first body behind i whose common levels with i are fewer than `level`; `from` is known not to be it. */
__device__ static inline uint32_t end_of(const Round &r, uint32_t i, int level, uint32_t from)
{
    uint32_t low = from, step = 1;
    while (low + step < r.n && far_common(r, i, low + step) >= level) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < r.n ? low + step : r.n;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        (far_common(r, i, middle) >= level ? low : high) = middle;
    }
    return high;
}

/* The same among those that are near, of which `end` is the first that is not; `from` is known not to be it. */
__device__ static inline uint32_t near_end_of(const Round &r, const Near &near, uint32_t i, int level, uint32_t from,
                                              uint32_t end)
{
    uint32_t low = from, step = 1;
    while (low + step < end && common(r, near, i, low + step) >= level) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < end ? low + step : end;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        (common(r, near, i, middle) >= level ? low : high) = middle;
    }
    return high;
}

__device__ static inline void fill(const Round &r, const Near &near, Key *key)
{
    for (uint32_t t = threadIdx.x; t < near.count; t += TILE)
        key[t] = near.from + t < r.n ? r.key[near.from + t] >> r.shift : 0; /* below 0 is beyond n, too */
}

/* The deepest level at which the cell of a body holds more than `leaf` bodies (-1: none): the most levels that two
 * bodies so far apart have in common, of pairs that have the body in their middle or at an end. */
__device__ static inline int crowded_level(const Round &r, const Near &near, int leaf,
                                           int8_t (*level)[MOST_LEAF + TILE])
{
    const int count = TILE + leaf;
    for (int t = (int)threadIdx.x; t < count; t += TILE) {
        const uint32_t i = near.from + (uint32_t)t, j = i + (uint32_t)leaf;
        level[0][t] = (int8_t)(i < r.n && j < r.n ? common(r, near, i, j) : -1);
    }
    __syncthreads();
    int from = 0, width = 1; /* level[from][t] is the most of `width` that end with t */
    while (2 * width <= leaf + 1) {
        for (int t = (int)threadIdx.x; t < count; t += TILE) {
            const int8_t here = level[from][t], there = t >= width ? level[from][t - width] : (int8_t)-1;
            level[1 - from][t] = here > there ? here : there;
        }
        __syncthreads();
        from = 1 - from;
        width *= 2;
    }
    const int t = (int)threadIdx.x + leaf, a = level[from][t], b = level[from][t - (leaf + 1 - width)];
    return a > b ? a : b;
}

/* Which levels have a cell that begins with body i: the uppermost, and those that lie below a cell of several
 * children. Cells that reach beyond what is near are taken as having several. */
__device__ static inline uint32_t begun(const Round &r, const Near &near, uint32_t i, int before, int deepest)
{
    if (before >= deepest) return 0;
    const uint32_t last = near.from + near.count, edge = last < r.n ? last : r.n;
    uint32_t mask = 0, end = i;
    int level = deepest;
    while (level > before + 1) {
        end = near_end_of(r, near, i, level, end, edge);
        if (end == edge && edge < r.n) break;
        const int now = end < r.n ? common(r, near, i, end) : -1;
        level = now > before ? now : before;
        mask |= 1u << (level + 1);
    }
    if (level > before) mask |= (2u << level) - (1u << (before + 1)); /* those that were not looked at */
    return mask;
}

/* Of a leaf that keys do not divide: without such cells, so that none has bodies at one place but leaves. */
__device__ static inline uint32_t begun_far(const Round &r, uint32_t i, int before, int deepest)
{
    uint32_t mask = 0, end = i;
    for (int level = deepest; level > before;) {
        end = end_of(r, i, level, end);
        const int now = end < r.n ? far_common(r, i, end) : -1;
        level = now > before ? now : before;
        mask |= 1u << (level + 1);
    }
    return mask;
}

static __global__ void __launch_bounds__(TILE) mark_kernel(Round r, int leaf, Known *known)
{
    __shared__ Key keys[TILE + 2 * MOST_LEAF];
    __shared__ int8_t level[2][MOST_LEAF + TILE];
    __shared__ uint32_t count[GRID + 2], undivided, segments, deepest;
    const uint32_t first = blockIdx.x * TILE, i = first + threadIdx.x, lane = threadIdx.x & 31;
    if (threadIdx.x <= GRID + 1) count[threadIdx.x] = 0;
    if (threadIdx.x == 0) undivided = segments = deepest = 0;
    const Near near = {keys, first - (uint32_t)leaf, (uint32_t)(TILE + 2 * leaf)};
    fill(r, near, keys);
    __syncthreads();
    const int crowded = crowded_level(r, near, leaf, level);
    uint32_t mask = 0;
    if (i < r.n) {
        const int before = i == 0 ? -1 : common(r, near, i - 1, i);
        mask = crowded < r.levels ? begun(r, near, i, before, crowded + 1) : begun_far(r, i, before, r.levels);
        /* In rounds after the first, bodies at one place are through. */
        if (crowded == r.levels && (r.seg == nullptr || r.box[r.seg[i]].side > 0)) mask |= TOO_MANY;
        r.mask[i] = mask;
    }
    const uint32_t votes = votes_of(mask), crowd = __ballot_sync(~0u, (mask & TOO_MANY) != 0),
                   heads = __ballot_sync(~0u, (mask & TOO_MANY) != 0 && mask != TOO_MANY);
    if (votes != 0) atomicAdd(&count[lane], (uint32_t)__popc(votes));
    const uint32_t inner = __reduce_add_sync(~0u, inner_of(mask));
    if (lane == 0 && inner != 0) atomicAdd(&count[GRID + 1], inner);
    const uint32_t most = __reduce_max_sync(~0u, (uint32_t)(crowded + 1));
    if (lane == 0 && most > 0) atomicMax(&deepest, most);
    if (lane == 0 && crowd != 0) {
        atomicAdd(&undivided, (uint32_t)__popc(crowd));
        atomicAdd(&segments, (uint32_t)__popc(heads));
    }
    __syncthreads();
    if (threadIdx.x <= (unsigned)r.levels)
        r.count[threadIdx.x * r.blocks + blockIdx.x] = threadIdx.x == 0 && r.seg != nullptr ? 0 : count[threadIdx.x];
    if (threadIdx.x == 32) r.count[(uint32_t)(r.levels + 1) * r.blocks + blockIdx.x] = count[GRID + 1];
    if (threadIdx.x == 33 && *(volatile uint32_t *)&known->crowded < deepest) atomicMax(&known->crowded, deepest);
    if (threadIdx.x == 34 && undivided != 0) {
        atomicAdd(&known->undivided, undivided);
        atomicAdd(&known->segments, segments);
    }
}

/* Before a round's cells are made: where they begin, and the deepest level whose cells all have room. One warp. */
static __global__ void room_kernel(Round r, uint32_t room, Known *known)
{
    const uint32_t level = threadIdx.x, base = known->cells, inner = known->inner;
    const bool there = level <= (uint32_t)r.levels;
    const uint32_t ends = there ? r.count[(level + 1) * r.blocks] : 0; /* of the levels down to this one */
    const uint32_t fit = __ballot_sync(~0u, there && base + ends <= room);
    const int deepest = __ffs((int)~fit) - 2;
    const uint32_t cells = __shfl_sync(~0u, ends, deepest), all = __shfl_sync(~0u, ends, r.levels);
    if (level != 0) return;
    known->base = base;
    known->cells = base + cells;
    known->inner_base = inner;
    known->inner = inner + r.count[(uint32_t)(r.levels + 2) * r.blocks] - all;
    known->deepest = (uint32_t)deepest;
    if (deepest < r.levels) known->full = 1;
}

template <class P> struct Cubes {
    const Four<P> *body;
    Four<P> *cube; /* NULL: not wanted */
};

/* Side and centre of the cell of a level that a body lies in. */
template <class P>
__device__ static inline float cube_of(const Box &box, const Cubes<P> &cubes, uint32_t body, int level, uint32_t cell)
{
    const double part = __longlong_as_double((long long)(1023 - level) << 52); /* 2^-level */
    if (cubes.cube != nullptr) {
        const Four<P> b = cubes.body[body];
        const double x[3] = {(double)b.x, (double)b.y, (double)b.z};
        double centre[3];
        for (int k = 0; k < 3; k++)
            centre[k] =
                (box.lo[k] + box.side * ((grid_of(x[k], box.lo[k], box) >> (GRID - level)) + 0.5) * part) / box.scale;
        cubes.cube[cell] = Four<P>{(P)centre[0], (P)centre[1], (P)centre[2], 0};
    }
    return __double2float_ru(box.side * part * (box.scale < 1 ? 4 : 1));
}

/* The cells that begin with body i; place(l): of that of level l. next_leaf: the body that the next leaf begins with,
 * 0 where it is not known. A leaf that the next round divides is not yet one to sum up. */
template <class P, class PLACE>
__device__ static inline void emit(const Round &r, const Cells &c, const Cubes<P> &cubes, uint32_t i, uint32_t mask,
                                   int deepest, uint32_t next_leaf, uint32_t inner, PLACE place)
{
    const Box &box = r.box[r.seg != nullptr ? r.seg[i] : 0];
    const uint32_t body = r.at != nullptr ? r.at[i] : i;
    const uint32_t levels = mask & ~TOO_MANY;
    const int lowest = __ffs((int)levels) - 1;
    const bool root = i == 0 || (r.seg != nullptr && r.seg[i - 1] != r.seg[i]);
    for (uint32_t left = levels; left != 0;) {
        const int level = __ffs((int)left) - 1;
        left &= left - 1;
        if (level > deepest) {
            if (left != 0) c.inner[inner++] = NO_CELL; /* it had no room */
            continue;
        }
        const uint32_t cell = place(level);
        const int below = left != 0 ? __ffs((int)left) - 1 : GRID + 1;
        Link link;
        link.extent = 0;
        if (below <= deepest) {
            const uint32_t child = place(below);
            link.first = child;
            link.many = 0;
            c.parent[child] = cell;
            c.inner[inner++] = cell;
        } else {
            const uint32_t bodies = (left == 0 && next_leaf > i ? next_leaf : end_of(r, i, level, i)) - i;
            if (left != 0) c.inner[inner++] = NO_CELL;
            link.first = body;
            link.many = LEAF | bodies;
            c.bodies[cell] = bodies;
            c.leaf[body] = cell;
            if (bodies > BIG && ((mask & TOO_MANY) == 0 || deepest < r.levels))
                c.big[atomicAdd(&c.known->big, 1u)] = cell;
        }
        link.side = cube_of(box, cubes, body, below <= deepest ? below - 1 : level, cell);
        c.link[cell] = link;
        if (!(root && level == lowest && r.seg != nullptr)) /* a segment's cell is there already */
            c.begin[cell] = body | (level == lowest && !root ? SIBLING : 0);
        c.arrived[cell] = 0;
    }
}

template <class P> __global__ void __launch_bounds__(TILE, 3) cells_kernel(Round r, Cells c, Cubes<P> cubes)
{
    __shared__ uint32_t votes[TILE / 32][GRID + 1], before[TILE / 32][GRID + 1], begins[TILE / 32], inner[TILE / 32];
    const uint32_t i = blockIdx.x * TILE + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const uint32_t flagged = i < r.n ? r.mask[i] : 0, mask = flagged & ~TOO_MANY;
    const uint32_t row = (threadIdx.x <= (unsigned)r.levels + 1 ? threadIdx.x : 0) * r.blocks + blockIdx.x;
    const uint32_t placed = threadIdx.x < 32 ? r.count[row] : 0;
    const int deepest = (int)c.known->deepest;
    const uint32_t mine = votes_of(mask), start = __ballot_sync(~0u, mask != 0);
    uint32_t inner_before = inner_of(mask);
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(~0u, inner_before, step);
        inner_before += lane >= step ? other : 0;
    }
    if (lane <= GRID) votes[warp][lane] = mine;
    if (lane == 0) begins[warp] = start;
    if (lane == 31) inner[warp] = inner_before;
    __syncthreads();
    if (threadIdx.x <= (unsigned)r.levels) {
        uint32_t sum = placed + c.known->base;
        for (int w = 0; w < TILE / 32; w++) {
            before[w][threadIdx.x] = sum;
            sum += (uint32_t)__popc(votes[w][threadIdx.x]);
        }
    } else if (threadIdx.x == (unsigned)r.levels + 1) {
        uint32_t sum = placed - r.count[(uint32_t)(r.levels + 1) * r.blocks] + c.known->inner_base;
        for (int w = 0; w < TILE / 32; w++) {
            const uint32_t here = inner[w];
            inner[w] = sum;
            sum += here;
        }
    }
    __syncthreads();
    if (mask == 0) return;
    uint32_t next = 0, word = warp, bits = start & ~((2u << lane) - 1);
    while (bits == 0 && ++word < TILE / 32)
        bits = begins[word];
    if (bits != 0) next = blockIdx.x * TILE + word * 32 + (uint32_t)__ffs((int)bits) - 1;
    emit(r, c, cubes, i, flagged, deepest, next, inner[warp] + inner_before - inner_of(mask), [&](int level) {
        if (level == 0 && r.cell != nullptr) return r.cell[r.seg[i]];
        return before[warp][level] + (uint32_t)__popc(votes[warp][level] & ((1u << lane) - 1));
    });
}

} // namespace nbody

#endif
