/* SPDX-License-Identifier: Apache-2.0
 *
 * LANES: a block solves LANES systems at once, on chip: every word of the matrix and the right side is read once,
 * every x written once. A warp is 32 / LANES parts; parts compute rows by the schedule of gpu_schedule.cu, which lies
 * in shared memory with q and y of all rows. q takes the place of the diagonal there, y that of the right side, x
 * that of y. Rows that follow each other in a part hand their sums on in registers; what another warp computes is
 * waited for at barriers of its own (mbarrier), there is no barrier for the block but between tiles.
 *
 * As soon as x of a row is known its place is filled with the row of the next tile (cp.async): a thread loads what it
 * will compute itself. Flat arrays are loaded and stored by the whole block between tiles instead, turned on the way.
 *
 * Blocks stay and take tiles that follow each other, so that a block meets few shapes. Called by gpu_tree.cu.
 */
#include "gpu_tree.cuh"
#include "gpu_tree_host.h"

#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

namespace
{
template <class C> struct __align__(2 * sizeof(C)) op_coef
{
    C lower, least;
};
/* A child that is gathered: where its row lies, and its `upper`. */
template <class C> struct __align__(2 * sizeof(C)) gather_from
{
    uint32_t at;
    C upper;
};

TREE_DEVICE uint32_t low(uint32_t x)
{
    return x & 0xffff;
}
TREE_DEVICE uint32_t high(uint32_t x)
{
    return x >> 16;
}

/* A shape in shared memory; words of a row: diagonal or q, right side or y or x, and, where off-diagonals are not
 * shared, upper and lower. One more makes columns of rows meet different banks. */
template <class C, int LANES, bool SHARED> struct shape {
    static constexpr int WORDS = SHARED ? 2 : 4, ROW = WORDS * LANES + 1;
    static constexpr uint32_t BYTES = ROW * sizeof(C);
    const int32_t *begin;
    const tree_op *op;
    const op_coef<C> *coef;
    const C *carried; /* of each op: `upper` of the carried child */
    const gather_from<C> *gather;
    __mbarrier_t *barrier;
    unsigned *doubt; /* [2][LANES]: number of the tile in which something was not sure */
    C *row;
    int32_t rows, barriers;
};

/* Rows of one lane of an array: step in bytes, which LANES has below 2^32. */
struct bytes_at {
    const char *at;
    uint32_t step;
    __device__ __forceinline__ const char *row(uint32_t r) const
    {
        return at + (uint64_t)r * step;
    }
};
struct tile_at {
    bytes_at lower, diagonal, upper, rhs, x;
    int64_t lane; /* of the group */
    bool live;
};

template <class S>
TREE_DEVICE bytes_at bytes_of(const void *data, bool shared, const lacis_solve_side &side, const tree_group &g,
                              int64_t lane)
{
    const tree_column<const S> c = tree_column_at<const S>(data, shared, side, g.rows, lane);
    return {(const char *)c.at, (uint32_t)(c.step * (int64_t)sizeof(S))};
}

template <class S, int LANES>
TREE_DEVICE tile_at tile_of(const tree_params &p, const tree_group &g, int64_t tile, int thread)
{
    tile_at t;
    t.lane = (tile - g.tile) * LANES + thread;
    t.live = t.lane < g.lanes;
    if (!t.live) t.lane = g.lanes - 1;
    t.lower = bytes_of<S>(p.lower.data, p.lower.shared, g.matrix, g, t.lane);
    t.diagonal = bytes_of<S>(p.diagonal.data, p.diagonal.shared, g.matrix, g, t.lane);
    t.upper = bytes_of<S>(p.upper.data, p.upper.shared, g.matrix, g, t.lane);
    t.rhs = bytes_of<S>(p.rhs.data, p.rhs.shared, g.rhs, g, t.lane);
    t.x = bytes_of<S>(p.x, false, g.x, g, t.lane);
    return t;
}

template <class S> TREE_DEVICE void fetch(void *to, const void *from)
{
    __pipeline_memcpy_async(to, from, sizeof(S));
}
template <class S, class C> TREE_DEVICE C raw(const C *at)
{
    return (C) * (const S *)at;
}

TREE_DEVICE void wait_at(__mbarrier_t *barrier, unsigned phase)
{
    while (!__mbarrier_try_wait_parity(barrier, phase != 0, 1000)) {
    }
}

/* --- a shape's tables --------------------------------------------------------------------------------- */

template <class S, class C>
TREE_DEVICE void fill_coef(const tree_params &p, const tree_group &g, const tree_op *ops, int32_t count,
                           const gather_from<C> *gather, op_coef<C> *coef, C *carried)
{
    const tree_column<const S> lower = tree_column_at<const S>(p.lower.data, true, g.matrix, g.rows, 0);
    const tree_column<const S> upper = tree_column_at<const S>(p.upper.data, true, g.matrix, g.rows, 0);
    for (int32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const tree_op op = ops[i];
        const uint32_t flags = low(op.flags_gathers);
        op_coef<C> c = {};
        if (!(flags & (OP_ROOT | OP_ABSENT))) c.lower = (C)lower.at[low(op.row_parent) * lower.step];
        carried[i] = flags & OP_CARRY ? (C)upper.at[high(op.up_carried) * upper.step] : (C)0;
        c.least = tree_abs(c.lower) + tree_abs(carried[i]);
        for (uint32_t k = 0; k < high(op.flags_gathers); k++)
            c.least += tree_abs(gather[low(op.gather_own) + k].upper);
        c.least *= tree_number<C>::enough;
        coef[i] = c;
    }
}

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void fill_gather(const tree_params &p, const tree_group &g, const uint16_t *child, int32_t count,
                             gather_from<C> *to)
{
    for (int32_t i = threadIdx.x; i < count; i += blockDim.x) {
        to[i].at = child[i] * shape<C, LANES, SHARED>::BYTES;
        if (!SHARED) continue;
        const tree_column<const S> upper = tree_column_at<const S>(p.upper.data, true, g.matrix, g.rows, 0);
        to[i].upper = (C)upper.at[child[i] * upper.step];
    }
}

/* Tables lie behind the rows. Begins with barriers of the block. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void take_shape(const tree_params &p, const tree_group &g, char *memory, shape<C, LANES, SHARED> *s)
{
    memory += ((uint32_t)g.rows * shape<C, LANES, SHARED>::BYTES + 15) / 16 * 16;
    const tree_lanes_head *from = (const tree_lanes_head *)(p.plan + g.plan), *head = (const tree_lanes_head *)memory;
    __syncthreads();
    const int32_t bytes = from->bytes;
    for (int32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x)
        ((int4 *)memory)[i] = __ldg((const int4 *)from + i);
    __syncthreads();
    const int32_t ops = head->ops;
    char *at = memory + bytes;
    s->rows = head->rows;
    s->barriers = head->barriers;
    s->begin = (const int32_t *)(memory + head->begin);
    s->op = (const tree_op *)(memory + head->op);
    op_coef<C> *coef = (op_coef<C> *)at;
    if (SHARED) at += ops * (int32_t)sizeof(op_coef<C>);
    C *carried = (C *)at;
    if (SHARED) at += (ops + ops % 2) * (int32_t)sizeof(C);
    gather_from<C> *gather = (gather_from<C> *)at;
    at += head->gathers * (int32_t)sizeof(gather_from<C>);
    s->barrier = (__mbarrier_t *)at;
    at += head->barriers * (int32_t)sizeof(__mbarrier_t);
    s->doubt = (unsigned *)at;
    s->coef = coef;
    s->carried = carried;
    s->gather = gather;
    const int32_t *arrivals = (const int32_t *)(memory + head->arrivals);
    for (int32_t i = threadIdx.x; i < head->barriers; i += blockDim.x)
        __mbarrier_init(s->barrier + i, (uint32_t)arrivals[i]);
    for (int32_t i = threadIdx.x; i < 2 * LANES; i += blockDim.x)
        s->doubt[i] = 0;
    fill_gather<S, C, LANES, SHARED>(p, g, (const uint16_t *)(memory + head->gather), head->gathers, gather);
    __syncthreads();
    if (SHARED) fill_coef<S>(p, g, s->op, ops, gather, coef, carried);
    __syncthreads();
}

/* --- loads and stores of a tile ----------------------------------------------------------------------- */

/* All words of a row but, with `kept`, the right side. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void fetch_row(const tile_at &t, uint32_t row, bool kept, C *at)
{
    fetch<S>(at, t.diagonal.row(row));
    if (!kept) fetch<S>(at + LANES, t.rhs.row(row));
    if (SHARED) return;
    fetch<S>(at + 2 * LANES, t.upper.row(row));
    fetch<S>(at + 3 * LANES, t.lower.row(row));
}

/* One word of all rows and lanes, by the whole block; of flat arrays a warp takes rows of one lane. */
template <class S, class C, int LANES, int ROW>
TREE_DEVICE void fetch_word(const void *data, bool shared, const lacis_solve_side &side, const tree_group &g,
                            int64_t first, C *to)
{
    if (side.block == 1 && !shared) {
        for (int i = threadIdx.x / 32; i < LANES; i += blockDim.x / 32) {
            const int64_t lane = first + i < g.lanes ? first + i : g.lanes - 1;
            const tree_column<const S> from = tree_column_at<const S>(data, false, side, g.rows, lane);
            for (int32_t r = threadIdx.x % 32; r < g.rows; r += 32)
                fetch<S>(to + r * ROW + i, from.at + r);
        }
        return;
    }
    const int i = threadIdx.x % LANES;
    const int64_t lane = first + i < g.lanes ? first + i : g.lanes - 1;
    const tree_column<const S> from = tree_column_at<const S>(data, shared, side, g.rows, lane);
    for (int32_t r = threadIdx.x / LANES; r < g.rows; r += blockDim.x / LANES)
        fetch<S>(to + r * ROW + i, from.at + r * from.step);
}

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void fetch_tile(const tree_params &p, const tree_group &g, int64_t tile, const shape<C, LANES, SHARED> &s)
{
    constexpr int ROW = shape<C, LANES, SHARED>::ROW;
    const int64_t first = (tile - g.tile) * LANES;
    fetch_word<S, C, LANES, ROW>(p.diagonal.data, p.diagonal.shared, g.matrix, g, first, s.row);
    fetch_word<S, C, LANES, ROW>(p.rhs.data, p.rhs.shared, g.rhs, g, first, s.row + LANES);
    if (SHARED) return;
    fetch_word<S, C, LANES, ROW>(p.upper.data, p.upper.shared, g.matrix, g, first, s.row + 2 * LANES);
    fetch_word<S, C, LANES, ROW>(p.lower.data, p.lower.shared, g.matrix, g, first, s.row + 3 * LANES);
}

/* x of all rows and lanes, which lie where y was, to a flat array. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void store_tile(const tree_params &p, const tree_group &g, int64_t tile, const shape<C, LANES, SHARED> &s)
{
    const int64_t first = (tile - g.tile) * LANES;
    for (int i = threadIdx.x / 32; i < LANES && first + i < g.lanes; i += blockDim.x / 32) {
        const tree_column<S> to = tree_column_at<S>(p.x, false, g.x, g.rows, first + i);
        for (int32_t r = threadIdx.x % 32; r < g.rows; r += 32)
            to.at[r] = (S)s.row[r * s.ROW + LANES + i];
    }
}

/* --- sweeps ------------------------------------------------------------------------------------------- */

/* Where the thread of a part and lane stands. */
template <class C, int LANES, bool SHARED> struct place {
    const shape<C, LANES, SHARED> &s;
    char *row; /* its word of row 0 */
    int thread, part;
    const tree_op *begin, *end; /* ops of its warp */
    static constexpr int PARTS = 32 / LANES;
    __device__ __forceinline__ place(const shape<C, LANES, SHARED> &from) : s(from)
    {
        thread = threadIdx.x % LANES;
        part = threadIdx.x % 32 / LANES;
        row = (char *)(s.row + thread);
        begin = s.op + s.begin[threadIdx.x / 32] * PARTS + part;
        end = s.op + s.begin[threadIdx.x / 32 + 1] * PARTS + part;
    }
    static constexpr uint32_t BYTES = shape<C, LANES, SHARED>::BYTES;
    __device__ __forceinline__ C *at(uint32_t bytes) const
    {
        return (C *)(row + bytes);
    }
};

template <class C> struct op_in {
    tree_op op;
    op_coef<C> coef;
    uint32_t row; /* bytes to its row */
    C diagonal, rhs, upper, lower, carried;
};

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE op_in<C> load_op(const place<C, LANES, SHARED> &t, const tree_op *op)
{
    op_in<C> in;
    in.op = *op;
    in.row = low(in.op.row_parent) * t.BYTES;
    in.diagonal = raw<S>(t.at(in.row));
    in.rhs = raw<S>(t.at(in.row) + LANES);
    if (SHARED) {
        in.coef = t.s.coef[op - t.s.op];
        in.carried = t.s.carried[op - t.s.op];
    } else {
        in.upper = raw<S>(t.at(in.row) + 2 * LANES);
        in.lower = in.op.flags_gathers & OP_ROOT ? (C)0 : raw<S>(t.at(in.row) + 3 * LANES);
    }
    return in;
}

/* Sums over children, or, of one row: q, y and `upper`. */
template <class C> struct sums {
    C q, y, off;
};

/* Of the children's parts: the carried one first, in whatever place of the first two it is. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE sums<C> sum_children(const place<C, LANES, SHARED> &t, const op_in<C> &in, const sums<C> &carried)
{
    sums<C> sum = {};
    bool first = !(in.op.flags_gathers & OP_CARRY);
    if (!first) {
        const C upper = SHARED ? in.carried : carried.off;
        sum = {upper * carried.q, upper * carried.y, tree_abs(upper)};
    }
    const gather_from<C> *from = t.s.gather + low(in.op.gather_own);
    for (const gather_from<C> *end = from + high(in.op.flags_gathers); from < end; from++) {
        const C *child = t.at(from->at);
        const C upper = SHARED ? from->upper : raw<S>(child + 2 * LANES);
        const C q = upper * child[0], y = upper * child[LANES];
        sum = {first ? q : sum.q + q, first ? y : sum.y + y, sum.off + tree_abs(upper)};
        first = false;
    }
    return sum;
}

/* One row upwards. carried: of the row computed before; becomes this one's. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void row_up(const place<C, LANES, SHARED> &t, const op_in<C> &in, unsigned phase, sums<C> *carried,
                        bool *fine)
{
    if (in.op.flags_gathers & OP_WAIT) wait_at(t.s.barrier + high(in.op.gather_own), phase);
    const sums<C> sum = sum_children<S>(t, in, *carried);
    const C w = (C)1 / (in.diagonal - sum.q);
    const C q = (SHARED ? in.coef.lower : in.lower) * w, y = (in.rhs - sum.y) * w;
    const C least = SHARED ? in.coef.least : (tree_abs(in.lower) + sum.off) * tree_number<C>::enough;
    t.at(in.row)[0] = q;
    t.at(in.row)[LANES] = y;
    *carried = {q, y, SHARED ? (C)0 : in.upper};
    *fine &= tree_fine(in.diagonal, least);
    if (in.op.flags_gathers & OP_ROOT) *fine &= tree_finite(y);
}

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE bool sweep_up(const shape<C, LANES, SHARED> &s, unsigned phase)
{
    const place<C, LANES, SHARED> t(s);
    sums<C> carried = {};
    bool fine = true;
    if (t.begin == t.end) return true;
    op_in<C> next = load_op<S>(t, t.begin);
#pragma unroll 2
    for (const tree_op *op = t.begin; op < t.end; op += t.PARTS) {
        const op_in<C> in = next;
        next = load_op<S>(t, op + t.PARTS < t.end ? op + t.PARTS : op);
        const uint32_t flags = in.op.flags_gathers;
        const bool here = LANES == 32 || !(flags & OP_ABSENT);
        if (here) row_up<S>(t, in, phase, &carried, &fine);
        if (LANES < 32 || (flags & OP_SIGNAL)) __syncwarp();
        if (here && (flags & OP_SIGNAL) && t.thread == 0) __mbarrier_arrive(s.barrier + low(in.op.up_carried));
    }
    return fine;
}

template <class C> struct op_out {
    tree_op op;
    uint32_t row; /* bytes to its row */
    C q, y;
};

template <class C, int LANES, bool SHARED>
TREE_DEVICE op_out<C> load_down(const place<C, LANES, SHARED> &t, const tree_op *op)
{
    op_out<C> out;
    out.op = *op;
    out.row = low(out.op.row_parent) * t.BYTES;
    out.q = t.at(out.row)[0];
    out.y = t.at(out.row)[LANES];
    return out;
}

/* x: of the row before; becomes this one's. */
template <class C, int LANES, bool SHARED>
TREE_DEVICE void row_down(const place<C, LANES, SHARED> &t, const op_out<C> &o, unsigned phase, C *x)
{
    const uint32_t flags = o.op.flags_gathers;
    if (flags & OP_WAIT_DOWN) wait_at(t.s.barrier + low(o.op.up_carried) + 1, phase);
    if (!(flags & (OP_CARRIED | OP_ROOT))) *x = t.at(high(o.op.row_parent) * t.BYTES)[LANES];
    *x = flags & OP_ROOT ? o.y : o.y - o.q * *x;
}

/* next: the tile to fetch, if `fetches`. keep: x stays on chip for store_tile. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void sweep_down(const shape<C, LANES, SHARED> &s, const tile_at &tile, const tile_at &next, bool fetches,
                            bool keep, unsigned phase)
{
    const place<C, LANES, SHARED> t(s);
    C x = 0;
    if (t.begin == t.end) return;
    op_out<C> coming = load_down(t, t.end - t.PARTS);
#pragma unroll 2
    for (const tree_op *op = t.end - t.PARTS; op >= t.begin; op -= t.PARTS) {
        const op_out<C> o = coming;
        coming = load_down(t, op > t.begin ? op - t.PARTS : op);
        const uint32_t flags = o.op.flags_gathers, row = low(o.op.row_parent);
        const bool here = LANES == 32 || !(flags & OP_ABSENT);
        if (here) row_down(t, o, phase, &x);
        if (here && (keep || (flags & OP_KEEP))) t.at(o.row)[LANES] = x;
        if (LANES < 32 || (flags & OP_SIGNAL_DOWN)) __syncwarp();
        if (!here) continue;
        if ((flags & OP_SIGNAL_DOWN) && t.thread == 0) __mbarrier_arrive(s.barrier + high(o.op.gather_own) + 1);
        if (!keep && tile.live) *(S *)tile.x.row(row) = (S)x;
        if (fetches) fetch_row<S, C, LANES, SHARED>(next, row, flags & OP_KEEP, t.at(o.row));
    }
}

/* What sweep_down leaves: right sides of rows whose x others read. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void fetch_left(const shape<C, LANES, SHARED> &s, const tile_at &tile)
{
    const place<C, LANES, SHARED> t(s);
    for (const tree_op *op = t.begin; op < t.end; op += t.PARTS) {
        const uint32_t row = low(op->row_parent);
        if (op->flags_gathers & OP_KEEP) fetch<S>(t.at(row * t.BYTES) + LANES, tile.rhs.row(row));
    }
}

/* --- tiles -------------------------------------------------------------------------------------------- */

/* The first tile that begins at or behind share `part` of the rows of all tiles. */
TREE_DEVICE int64_t tile_from(const tree_params &p, int64_t part, int64_t parts)
{
    const int64_t weight = p.weight / parts * part + p.weight % parts * part / parts;
    int64_t low = 0, high = p.groups;
    while (p.group != NULL && high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (p.group[middle].weight <= weight)
            low = middle;
        else
            high = middle;
    }
    const tree_group &g = p.group == NULL ? p.one : p.group[low];
    return g.tile + (weight - g.weight + g.rows - 1) / g.rows;
}

TREE_DEVICE bool is_flat(const tree_params &p, const tree_group &g)
{
    const bool matrix = !p.diagonal.shared || !p.lower.shared || !p.upper.shared;
    return (matrix && g.matrix.block == 1) || (!p.rhs.shared && g.rhs.block == 1) || g.x.block == 1;
}

template <class S, class C, int LANES, bool SHARED>
__global__ void __launch_bounds__(32 * TREE_WARPS_MOST) lanes_kernel(const __grid_constant__ tree_params p)
{
    extern __shared__ __align__(16) char memory[];
    const int thread = threadIdx.x % LANES;
    int64_t tile = tile_from(p, blockIdx.x, gridDim.x);
    const int64_t end = tile_from(p, (int64_t)blockIdx.x + 1, gridDim.x);
    shape<C, LANES, SHARED> s;
    if (p.stagger > 0) __nanosleep((p.stagger & 0xffffff) * (blockIdx.x % (1 + (p.stagger >> 24))));
    while (tile < end) {
        const tree_group g = tree_group_of(p, tile);
        const int64_t all = g.tile + (g.lanes + LANES - 1) / LANES, last = all < end ? all : end;
        const bool flat = is_flat(p, g), keep = g.x.block == 1;
        s.row = (C *)memory;
        fetch_tile<S>(p, g, tile, s);
        take_shape<S>(p, g, memory, &s);
        tile_at t = tile_of<S, LANES>(p, g, tile, thread);
        for (unsigned number = 1; tile < last; tile++, number++) {
            const bool more = tile + 1 < last;
            const tile_at next = tile_of<S, LANES>(p, g, more ? tile + 1 : tile, thread);
            const unsigned phase = (number - 1) & 1;
            __pipeline_commit();
            __pipeline_wait_prior(0);
            if (flat || number == 1) __syncthreads(); /* other threads have fetched */
            if (!sweep_up<S>(s, phase)) s.doubt[(number & 1) * LANES + thread] = number;
            sweep_down<S>(s, t, next, more && !flat, keep, phase);
            __syncthreads();
            if (threadIdx.x < LANES && t.live)
                solve_gpu_mark(p.flags, g.first + t.lane,
                               s.doubt[(number & 1) * LANES + thread] == number ? SOLVE_GPU_DOUBT : SOLVE_GPU_SURE);
            if (keep) store_tile<S>(p, g, tile, s);
            if (keep && more) __syncthreads();
            if (more && flat)
                fetch_tile<S>(p, g, tile + 1, s);
            else if (more)
                fetch_left<S>(s, next);
            t = next;
        }
        __syncthreads();
        for (int32_t i = threadIdx.x; i < s.barriers; i += blockDim.x)
            __mbarrier_inval(s.barrier + i);
    }
}

template <class S, class C, bool SHARED> const void *kernel_of(int lanes)
{
    return lanes == 32   ? (const void *)lanes_kernel<S, C, 32, SHARED>
           : lanes == 16 ? (const void *)lanes_kernel<S, C, 16, SHARED>
                         : (const void *)lanes_kernel<S, C, 8, SHARED>;
}
} // namespace

const void *tree_lanes_kernel(lacis_solve_type type, int lanes, bool shared)
{
    if (type == LACIS_SOLVE_F64)
        return shared ? kernel_of<double, double, true>(lanes) : kernel_of<double, double, false>(lanes);
    if (type == LACIS_SOLVE_F32)
        return shared ? kernel_of<float, float, true>(lanes) : kernel_of<float, float, false>(lanes);
    return shared ? kernel_of<float, double, true>(lanes) : kernel_of<float, double, false>(lanes);
}
