/* SPDX-License-Identifier: Apache-2.0
 *
 * LANES: a block solves LANES systems at once, on chip: every word of the matrix and the right side is read once,
 * every x written once. A thread has two systems that lie beside each other; LANES / 2 threads are a part of a warp.
 * Parts compute rows by the schedule of gpu_schedule.cu, which lies in shared memory with q and y of all rows. q
 * takes the place of the diagonal there, y that of the right side, x that of y. Rows that follow each other in a part
 * hand their sums on in registers; what another warp computes is waited for at barriers of its own (mbarrier), there
 * is no barrier for the block but between tiles.
 *
 * As soon as x of a row is known its place is filled with the row of the next tile (cp.async): a thread loads what it
 * will compute itself. Arrays in which the systems of a thread do not lie beside each other (Flat) are loaded and
 * stored by the whole block between tiles instead, turned on the way.
 *
 * Blocks stay and take tiles that follow each other, so that a block meets few shapes. Called by gpu_tree.cu.
 */
#include "gpu_tree_lanes.cuh"

namespace
{
TREE_DEVICE void wait_at(__mbarrier_t *barrier, unsigned phase)
{
    while (!__mbarrier_try_wait_parity(barrier, phase != 0, 1000)) {
    }
}

/* Where a thread stands. */
template <class C, int LANES, bool SHARED> struct place {
    typedef lanes_shape<C, LANES, SHARED> shape;
    const shape &s;
    char *row; /* its pair in row 0 */
    int thread, part;
    int32_t begin, end; /* ops of its warp, this part's */
    static constexpr int PARTS = shape::PARTS;
    static constexpr uint32_t BYTES = shape::BYTES;
    __device__ __forceinline__ place(const shape &from) : s(from)
    {
        thread = threadIdx.x % shape::THREADS;
        part = threadIdx.x % 32 / shape::THREADS;
        row = (char *)(s.row + 2 * thread);
        begin = s.begin[threadIdx.x / 32] * PARTS + part;
        end = s.begin[threadIdx.x / 32 + 1] * PARTS + part;
    }
    __device__ __forceinline__ C *at(uint32_t bytes) const
    {
        return (C *)(row + bytes);
    }
};

template <class C> struct op_in {
    tree_op op;
    uint32_t row; /* bytes to its row */
    lanes_coef<C> coef;
    C carried;
    lanes_pair<C> diagonal, rhs, upper, lower;
};

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE op_in<C> load_op(const place<C, LANES, SHARED> &t, int32_t i)
{
    op_in<C> in;
    in.op = t.s.op[i];
    in.row = lanes_low(in.op.row_parent) * t.BYTES;
    in.diagonal = lanes_raw<S>(t.at(in.row));
    in.rhs = lanes_raw<S>(t.at(in.row) + LANES);
    if (SHARED) {
        in.coef = t.s.coef[i];
        in.carried = t.s.carried[i];
    } else {
        in.upper = lanes_raw<S>(t.at(in.row) + 2 * LANES);
        in.lower = lanes_raw<S>(t.at(in.row) + 3 * LANES);
        if (in.op.flags_gathers & OP_ROOT) in.lower = {0, 0};
    }
    return in;
}

/* Sums over children, or, of one row: q, y and `upper`. */
template <class C> struct sums {
    lanes_pair<C> q, y, off;
};

/* Of the children's parts: the carried one first, in whatever place of the first two it is. -0 + x is x, whatever x
 * is; leaves take 0, since x - 0 is x. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE sums<C> sum_children(const place<C, LANES, SHARED> &t, const op_in<C> &in, const sums<C> &carried)
{
    const uint32_t count = lanes_high(in.op.flags_gathers);
    const C none = count > 0 ? -(C)0 : (C)0;
    sums<C> sum = {lanes_both(none), lanes_both(none), lanes_both((C)0)};
    if (in.op.flags_gathers & OP_CARRY) {
        const lanes_pair<C> upper = SHARED ? lanes_both(in.carried) : carried.off;
        sum = {upper * carried.q, upper * carried.y, lanes_abs(upper)};
    }
    const lanes_gather<C> *from = t.s.gather + lanes_low(in.op.gather_own);
#pragma unroll 1
    for (const lanes_gather<C> *end = from + count; from < end; from++) {
        const C *child = t.at(from->at);
        const lanes_pair<C> upper = SHARED ? lanes_both(from->upper) : lanes_raw<S>(child + 2 * LANES);
        sum.q = sum.q + upper * *(const lanes_pair<C> *)child;
        sum.y = sum.y + upper * *(const lanes_pair<C> *)(child + LANES);
        sum.off = sum.off + lanes_abs(upper);
    }
    return sum;
}

/* One row upwards. carried: of the row computed before; becomes this one's. fine: of both lanes. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void row_up(const place<C, LANES, SHARED> &t, const op_in<C> &in, unsigned phase, sums<C> *carried,
                        bool *fine)
{
    if (in.op.flags_gathers & OP_WAIT) wait_at(t.s.barrier + lanes_high(in.op.gather_own), phase);
    const sums<C> sum = sum_children<S>(t, in, *carried);
    const lanes_pair<C> w = lanes_inverse(in.diagonal - sum.q);
    const lanes_pair<C> q = (SHARED ? lanes_both(in.coef.lower) : in.lower) * w, y = (in.rhs - sum.y) * w;
    const lanes_pair<C> least =
        SHARED ? lanes_both(in.coef.least) : (lanes_abs(in.lower) + sum.off) * lanes_both(tree_number<C>::enough);
    *(lanes_pair<C> *)t.at(in.row) = q;
    *(lanes_pair<C> *)(t.at(in.row) + LANES) = y;
    *carried = {q, y, in.upper};
    *fine &= tree_fine(in.diagonal.a, least.a) & tree_fine(in.diagonal.b, least.b);
    if (in.op.flags_gathers & OP_ROOT) *fine &= tree_finite(y.a) & tree_finite(y.b);
}

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE bool sweep_up(const lanes_shape<C, LANES, SHARED> &s, unsigned phase)
{
    const place<C, LANES, SHARED> t(s);
    sums<C> carried = {};
    bool fine = true;
    if (t.begin == t.end) return fine;
    op_in<C> next = load_op<S>(t, t.begin);
#pragma unroll 2
    for (int32_t i = t.begin; i < t.end; i += t.PARTS) {
        const op_in<C> in = next;
        next = load_op<S>(t, min(i + t.PARTS, t.end - t.PARTS));
        const uint32_t flags = in.op.flags_gathers;
        const bool here = t.PARTS == 1 || !(flags & OP_ABSENT);
        if (here) row_up<S>(t, in, phase, &carried, &fine);
        if (t.PARTS > 1 || (flags & OP_SIGNAL)) __syncwarp();
        if (here && (flags & OP_SIGNAL) && lanes_arrives(t.thread))
            __mbarrier_arrive(s.barrier + lanes_low(in.op.up_carried));
    }
    return fine;
}

template <class C> struct op_out {
    tree_op op;
    uint32_t row; /* bytes to its row */
    lanes_pair<C> q, y;
};

template <class C, int LANES, bool SHARED>
TREE_DEVICE op_out<C> load_down(const place<C, LANES, SHARED> &t, int32_t i)
{
    op_out<C> out;
    out.op = t.s.op[i];
    out.row = lanes_low(out.op.row_parent) * t.BYTES;
    out.q = *(const lanes_pair<C> *)t.at(out.row);
    out.y = *(const lanes_pair<C> *)(t.at(out.row) + LANES);
    return out;
}

/* x: of the row before; becomes this one's. */
template <class C, int LANES, bool SHARED>
TREE_DEVICE void row_down(const place<C, LANES, SHARED> &t, const op_out<C> &o, unsigned phase, lanes_pair<C> *x)
{
    const uint32_t flags = o.op.flags_gathers;
    if (flags & OP_WAIT_DOWN) wait_at(t.s.barrier + lanes_low(o.op.up_carried) + 1, phase);
    if (!(flags & (OP_CARRIED | OP_ROOT)))
        *x = *(const lanes_pair<C> *)(t.at(lanes_high(o.op.row_parent) * t.BYTES) + LANES);
    if (flags & OP_ROOT)
        *x = o.y;
    else
        *x = o.y - o.q * *x;
}

/* next: the tile to fetch, if `fetches`. keep: x stays on chip for lanes_store_tile. */
template <class S, class C, bool WIDE, int LANES, bool SHARED>
TREE_DEVICE void sweep_down(const tree_params &p, const lanes_shape<C, LANES, SHARED> &s, const lanes_tile &tile,
                            const lanes_tile &next, bool fetches, bool keep, unsigned phase)
{
    const place<C, LANES, SHARED> t(s);
    lanes_pair<C> x = {};
    if (t.begin == t.end) return;
    op_out<C> coming = load_down(t, t.end - t.PARTS);
#pragma unroll 2
    for (int32_t i = t.end - t.PARTS; i >= t.begin; i -= t.PARTS) {
        const op_out<C> o = coming;
        coming = load_down(t, max(i - t.PARTS, t.begin));
        const uint32_t flags = o.op.flags_gathers, row = lanes_low(o.op.row_parent);
        const bool here = t.PARTS == 1 || !(flags & OP_ABSENT);
        if (here) row_down(t, o, phase, &x);
        if (here && (keep || (flags & OP_KEEP))) *(lanes_pair<C> *)(t.at(o.row) + LANES) = x;
        if (t.PARTS > 1 || (flags & OP_SIGNAL_DOWN)) __syncwarp();
        if (!here) continue;
        if ((flags & OP_SIGNAL_DOWN) && lanes_arrives(t.thread))
            __mbarrier_arrive(s.barrier + lanes_high(o.op.gather_own) + 1);
        if (!keep) lanes_store<S, C, WIDE>(tile, row, x);
        if (fetches) lanes_fetch_row<S, C, LANES, SHARED, WIDE>(p, next, row, flags & OP_KEEP, t.at(o.row));
    }
}

/* What sweep_down leaves: right sides of rows whose x others read. */
template <class S, class C, bool WIDE, int LANES, bool SHARED>
TREE_DEVICE void fetch_left(const tree_params &p, const lanes_shape<C, LANES, SHARED> &s, const lanes_tile &tile)
{
    const place<C, LANES, SHARED> t(s);
    for (int32_t i = t.begin; i < t.end; i += t.PARTS) {
        const uint32_t row = lanes_low(s.op[i].row_parent);
        if (s.op[i].flags_gathers & OP_KEEP)
            lanes_fetch<S, C, WIDE>(tile, tile.rhs, p.rhs.shared, row, t.at(row * t.BYTES) + LANES);
    }
}

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

template <class C, int LANES, bool SHARED>
TREE_DEVICE void mark_lanes(const tree_params &p, const tree_group &g, int64_t tile, unsigned number,
                            const lanes_shape<C, LANES, SHARED> &s)
{
    const int64_t first = (tile - g.tile) * LANES;
    for (int i = threadIdx.x; i < LANES && first + i < g.lanes; i += blockDim.x)
        solve_gpu_mark(p.flags, g.first + first + i,
                       s.doubt[number % 2 * LANES + i] == number ? SOLVE_GPU_DOUBT : SOLVE_GPU_SURE);
}

template <class S, class C, int LANES, bool SHARED>
__global__ void __launch_bounds__(32 * TREE_WARPS_MOST) lanes_kernel(const __grid_constant__ tree_params p)
{
    extern __shared__ __align__(16) char memory[];
    solve_gpu_begin();
    int64_t tile = tile_from(p, blockIdx.x, gridDim.x);
    const int64_t end = tile_from(p, (int64_t)blockIdx.x + 1, gridDim.x);
    const int lane = threadIdx.x % (LANES / 2) * 2;
    lanes_shape<C, LANES, SHARED> s;
    while (tile < end) {
        const tree_group g = tree_group_of(p, tile);
        const int64_t all = g.tile + (g.lanes + LANES - 1) / LANES, last = all < end ? all : end;
        const bool smooth = lanes_smooth(p, g);
        lanes_fetch_tile<S, C, LANES, SHARED>(p, g, tile, (C *)(memory + lanes_rows_at(p)));
        lanes_take_shape<S>(p, g, memory, &s);
        lanes_tile t = lanes_tile_of<S, C, LANES, SHARED>(p, g, tile);
        for (unsigned number = 1; tile < last; tile++, number++) {
            const bool more = tile + 1 < last;
            const lanes_tile next = lanes_tile_of<S, C, LANES, SHARED>(p, g, more ? tile + 1 : tile);
            const bool wide = smooth && more && lanes_wide<LANES>(t, g, tile);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            if (!smooth || number == 1) __syncthreads(); /* other threads have fetched */
            if (!sweep_up<S>(s, (number - 1) % 2))
                s.doubt[number % 2 * LANES + lane] = s.doubt[number % 2 * LANES + lane + 1] = number;
            if (wide)
                sweep_down<S, C, sizeof(S) == sizeof(C)>(p, s, t, next, true, false, (number - 1) % 2);
            else
                sweep_down<S, C, false>(p, s, t, next, more && smooth, !smooth, (number - 1) % 2);
            __syncthreads();
            mark_lanes(p, g, tile, number, s);
            if (!smooth) lanes_store_tile<S, C, LANES, SHARED>(p, g, tile, s.row);
            if (!smooth && more) __syncthreads();
            if (more && !smooth)
                lanes_fetch_tile<S, C, LANES, SHARED>(p, g, tile + 1, s.row);
            else if (wide)
                fetch_left<S, C, sizeof(S) == sizeof(C)>(p, s, next);
            else if (more)
                fetch_left<S, C, false>(p, s, next);
            t = next;
        }
        lanes_leave_shape(s);
    }
}

template <class S, class C, bool SHARED> const void *kernel_of(int lanes)
{
    return lanes == 64   ? (const void *)lanes_kernel<S, C, 64, SHARED>
           : lanes == 32 ? (const void *)lanes_kernel<S, C, 32, SHARED>
                         : (const void *)lanes_kernel<S, C, 16, SHARED>;
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
