/* SPDX-License-Identifier: Apache-2.0
 *
 * What gpu_tree_lanes.cu works with: a shape's tables and rows in shared memory, pairs of systems, loads and stores
 * of a tile.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_TREE_LANES_CUH
#define LACIS_KERNELS_SOLVE_GPU_TREE_LANES_CUH

#include "gpu_tree.cuh"

#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

/* One thread tells of a row that all threads of the part have written, behind a __syncwarp, which orders the others'
 * writes as well. compute-sanitizer's racecheck does not see that: it knows a barrier to order the writes of threads
 * alone that arrive at it themselves. For it (solve_race, tests/CMakeLists.txt) all arrive. */
#if defined(TREE_LANES_ALL_ARRIVE)
enum { LANES_ALL_ARRIVE = 1 };
#else
enum { LANES_ALL_ARRIVE = 0 };
#endif
TREE_DEVICE bool lanes_arrives(int thread)
{
    return LANES_ALL_ARRIVE != 0 || thread == 0;
}

/* --- pairs: what the two systems of a thread have ------------------------------------------------------- */

template <class C> struct __align__(2 * sizeof(C)) lanes_pair
{
    C a, b;
};
template <class C> TREE_DEVICE lanes_pair<C> operator+(const lanes_pair<C> &x, const lanes_pair<C> &y)
{
    return {x.a + y.a, x.b + y.b};
}
template <class C> TREE_DEVICE lanes_pair<C> operator-(const lanes_pair<C> &x, const lanes_pair<C> &y)
{
    return {x.a - y.a, x.b - y.b};
}
template <class C> TREE_DEVICE lanes_pair<C> operator*(const lanes_pair<C> &x, const lanes_pair<C> &y)
{
    return {x.a * y.a, x.b * y.b};
}
template <class C> TREE_DEVICE lanes_pair<C> lanes_inverse(const lanes_pair<C> &x)
{
    return {(C)1 / x.a, (C)1 / x.b};
}
#if defined(__CUDA_ARCH__)
/* As nvcc's 1 / x does it where x is neither tiny nor huge, its bits included; but the branch for the rest comes once
 * for both, so that they are computed side by side. */
TREE_DEVICE int lanes_scaled(double x)
{
    return (int)((unsigned)__double2hiint(x) + 0x300402U);
}
TREE_DEVICE double lanes_begin_inverse(double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    return __hiloint2double(__double2hiint(r), lanes_scaled(x));
}
TREE_DEVICE bool lanes_plain(double x)
{
    return fabsf(__int_as_float(lanes_scaled(x))) >= 5.8789094863358348022e-39f;
}
TREE_DEVICE lanes_pair<double> lanes_inverse(const lanes_pair<double> &x)
{
    const lanes_pair<double> r = {lanes_begin_inverse(x.a), lanes_begin_inverse(x.b)};
    lanes_pair<double> e = {__fma_rn(-x.a, r.a, 1.), __fma_rn(-x.b, r.b, 1.)};
    e = {__fma_rn(e.a, e.a, e.a), __fma_rn(e.b, e.b, e.b)};
    const lanes_pair<double> s = {__fma_rn(r.a, e.a, r.a), __fma_rn(r.b, e.b, r.b)};
    e = {__fma_rn(-x.a, s.a, 1.), __fma_rn(-x.b, s.b, 1.)};
    if (lanes_plain(x.a) && lanes_plain(x.b)) return {__fma_rn(s.a, e.a, s.a), __fma_rn(s.b, e.b, s.b)};
    return {1. / x.a, 1. / x.b};
}
#endif
template <class C> TREE_DEVICE lanes_pair<C> lanes_abs(const lanes_pair<C> &x)
{
    return {tree_abs(x.a), tree_abs(x.b)};
}
template <class C> TREE_DEVICE lanes_pair<C> lanes_both(C x)
{
    return {x, x};
}

/* Elements of shared memory that were fetched as they are stored. */
template <class S, class C> TREE_DEVICE lanes_pair<C> lanes_raw(const C *at)
{
    if (sizeof(S) == sizeof(C)) return *(const lanes_pair<C> *)at;
    return {(C) * (const S *)at, (C) * (const S *)(at + 1)};
}

TREE_DEVICE uint32_t lanes_low(uint32_t x)
{
    return x & 0xffff;
}
TREE_DEVICE uint32_t lanes_high(uint32_t x)
{
    return x >> 16;
}

/* --- a shape in shared memory --------------------------------------------------------------------------- */

template <class C> struct __align__(2 * sizeof(C)) lanes_coef
{
    C lower, least;
};
/* A child that is gathered: bytes to its row, and its `upper`. */
template <class C> struct __align__(2 * sizeof(C)) lanes_gather
{
    uint32_t at;
    C upper;
};

/* Words of a row: diagonal or q, right side or y or x, and, where off-diagonals are not shared, upper and lower; each
 * of all lanes. Two elements more make columns of rows meet other banks. */
template <class C, int LANES, bool SHARED> struct lanes_shape {
    static constexpr int WORDS = SHARED ? 2 : 4, ROW = WORDS * LANES + 2, THREADS = LANES / 2, PARTS = 32 / THREADS;
    static constexpr uint32_t BYTES = ROW * sizeof(C);
    const tree_lanes_head *head;
    const int32_t *begin;
    const tree_op *op;
    lanes_coef<C> *coef;
    C *carried; /* of each op: `upper` of the carried child */
    lanes_gather<C> *gather;
    __mbarrier_t *barrier;
    unsigned *doubt; /* [2][LANES]: number of the tile in which something was not sure */
    C *row;
    int32_t barriers;
};

/* What lanes share of each op and each child that is gathered; then what a row's diagonal must reach. */
template <class S, class C>
TREE_DEVICE void lanes_fill_coef(const tree_params &p, const tree_group &g, const tree_op *ops, int32_t count,
                                 lanes_coef<C> *coef, C *carried)
{
    const tree_column<const S> lower = tree_column_at<const S>(p.lower.data, true, g.matrix, g.rows, 0);
    const tree_column<const S> upper = tree_column_at<const S>(p.upper.data, true, g.matrix, g.rows, 0);
    for (int32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const tree_op op = ops[i];
        const uint32_t flags = lanes_low(op.flags_gathers);
        const bool none = flags & (OP_ROOT | OP_ABSENT);
        coef[i].lower = none ? (C)0 : (C)lower.at[lanes_low(op.row_parent) * lower.step];
        carried[i] = flags & OP_CARRY ? (C)upper.at[lanes_high(op.up_carried) * upper.step] : (C)0;
    }
}

template <class C>
TREE_DEVICE void lanes_fill_least(const tree_op *ops, int32_t count, const lanes_gather<C> *gather,
                                  lanes_coef<C> *coef, const C *carried)
{
    for (int32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const tree_op op = ops[i];
        C least = tree_abs(coef[i].lower) + tree_abs(carried[i]);
        for (uint32_t k = 0; k < lanes_high(op.flags_gathers); k++)
            least += tree_abs(gather[lanes_low(op.gather_own) + k].upper);
        coef[i].least = least * tree_number<C>::enough;
    }
}

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void lanes_fill_gather(const tree_params &p, const tree_group &g, const uint16_t *child, int32_t count,
                                   lanes_gather<C> *to)
{
    for (int32_t i = threadIdx.x; i < count; i += blockDim.x) {
        to[i].at = child[i] * lanes_shape<C, LANES, SHARED>::BYTES;
        if (!SHARED) continue;
        const tree_column<const S> upper = tree_column_at<const S>(p.upper.data, true, g.matrix, g.rows, 0);
        to[i].upper = (C)upper.at[child[i] * upper.step];
    }
}

/* Shared memory: barriers, the rows, the tables. Barriers have a place of their own, of all shapes the same, in which
 * nothing else ever lies. Where warps have parts there is a row more, which those read that have nothing to do: any
 * other might be written meanwhile. */
TREE_DEVICE uint32_t lanes_rows_at(const tree_params &p)
{
    return ((uint32_t)p.barriers * (uint32_t)sizeof(__mbarrier_t) + 15) / 16 * 16;
}

/* A shape's tables. Begins and ends with a barrier of the block. */
template <class C, int LANES, bool SHARED>
TREE_DEVICE void lanes_take_shape(const tree_params &p, const tree_group &g, char *memory,
                                  lanes_shape<C, LANES, SHARED> *s)
{
    s->barrier = (__mbarrier_t *)memory;
    memory += lanes_rows_at(p);
    s->row = (C *)memory;
    typedef lanes_shape<C, LANES, SHARED> shape;
    memory += (((uint32_t)g.rows + (shape::PARTS > 1)) * shape::BYTES + 15) / 16 * 16;
    const tree_lanes_head *from = (const tree_lanes_head *)(p.plan + g.plan), *head = (const tree_lanes_head *)memory;
    __syncthreads();
    const int32_t bytes = from->bytes;
    for (int32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x)
        ((int4 *)memory)[i] = __ldg((const int4 *)from + i);
    __syncthreads();
    const int32_t ops = head->ops;
    char *at = memory + bytes;
    s->coef = (lanes_coef<C> *)at;
    if (SHARED) at += ops * (int32_t)sizeof(lanes_coef<C>);
    s->carried = (C *)at;
    if (SHARED) at += (ops + ops % 2) * (int32_t)sizeof(C);
    s->gather = (lanes_gather<C> *)at;
    at += head->gathers * (int32_t)sizeof(lanes_gather<C>);
    s->head = head;
    s->begin = (const int32_t *)(memory + head->begin);
    s->op = (const tree_op *)(memory + head->op);
    s->barriers = head->barriers;
    s->doubt = (unsigned *)at;
    const int32_t *arrivals = (const int32_t *)(memory + head->arrivals);
    for (int32_t i = threadIdx.x; i < head->barriers; i += blockDim.x)
        __mbarrier_init(s->barrier + i, (uint32_t)(arrivals[i] * (LANES_ALL_ARRIVE ? shape::THREADS : 1)));
    for (int32_t i = threadIdx.x; i < 2 * LANES; i += blockDim.x)
        s->doubt[i] = 0;
    __syncthreads();
}

/* What of the matrix lanes share, beside them. Ends with a barrier. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void lanes_take_matrix(const tree_params &p, const tree_group &g, const lanes_shape<C, LANES, SHARED> &s)
{
    const tree_lanes_head *head = s.head;
    lanes_fill_gather<S, C, LANES, SHARED>(p, g, (const uint16_t *)((const char *)head + head->gather), head->gathers,
                                           s.gather);
    if (SHARED) lanes_fill_coef<S>(p, g, s.op, head->ops, s.coef, s.carried);
    __syncthreads();
    if (!SHARED) return;
    lanes_fill_least(s.op, head->ops, s.gather, s.coef, s.carried);
    __syncthreads();
}

/* Barriers end before others begin where they lie. */
template <class C, int LANES, bool SHARED> TREE_DEVICE void lanes_leave_shape(const lanes_shape<C, LANES, SHARED> &s)
{
    __syncthreads();
    for (int32_t i = threadIdx.x; i < s.barriers; i += blockDim.x)
        __mbarrier_inval(s.barrier + i);
    __syncthreads();
}

/* --- a thread's pair of lanes in memory ----------------------------------------------------------------- */

/* Rows of a pair in an array: step in bytes, which LANES has below 2^32. */
struct lanes_rows {
    const char *at;
    uint32_t step;
    __device__ __forceinline__ const char *row(uint32_t r) const
    {
        return at + (uint64_t)r * step;
    }
};
struct lanes_tile {
    lanes_rows lower, diagonal, upper, rhs, x;
    int64_t lane;    /* of the group, the first of both */
    uint32_t other;  /* bytes to the other lane in arrays that are not shared; 0: there is no other */
    bool wide;       /* both lie aligned in all arrays, and are stored as they are computed */
    bool live, both; /* which lanes there are */
};

TREE_DEVICE bool lanes_beside(const lacis_solve_side &side, int64_t lanes)
{
    return side.block > 1 && (lanes + side.lane <= side.block || (side.block % 2 == 0 && side.lane % 2 == 0));
}

/* Whether pairs lie beside each other in all arrays of the group. */
TREE_DEVICE bool lanes_smooth(const tree_params &p, const tree_group &g)
{
    const bool matrix = !p.diagonal.shared || !p.lower.shared || !p.upper.shared;
    return (!matrix || lanes_beside(g.matrix, g.lanes)) && (p.rhs.shared || lanes_beside(g.rhs, g.lanes)) &&
           lanes_beside(g.x, g.lanes);
}

template <class S>
TREE_DEVICE lanes_rows lanes_rows_of(const void *data, bool shared, const lacis_solve_side &side, const tree_group &g,
                                     int64_t lane, bool *wide)
{
    const tree_column<const S> c = tree_column_at<const S>(data, shared, side, g.rows, lane);
    const lanes_rows rows = {(const char *)c.at, (uint32_t)(c.step * (int64_t)sizeof(S))};
    if (shared || ((uint64_t)rows.at | rows.step) % (2 * sizeof(S)) != 0) *wide = false;
    return rows;
}

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE lanes_tile lanes_tile_of(const tree_params &p, const tree_group &g, int64_t tile)
{
    lanes_tile t;
    t.lane = (tile - g.tile) * LANES + threadIdx.x % (LANES / 2) * 2;
    t.live = t.lane < g.lanes;
    t.both = t.lane + 1 < g.lanes;
    if (!t.live) t.lane = g.lanes - 1;
    t.other = t.both ? sizeof(S) : 0;
    t.wide = t.both && sizeof(S) == sizeof(C);
    t.diagonal = lanes_rows_of<S>(p.diagonal.data, p.diagonal.shared, g.matrix, g, t.lane, &t.wide);
    t.rhs = lanes_rows_of<S>(p.rhs.data, p.rhs.shared, g.rhs, g, t.lane, &t.wide);
    t.x = lanes_rows_of<S>(p.x, false, g.x, g, t.lane, &t.wide);
    if (SHARED) return t;
    t.lower = lanes_rows_of<S>(p.lower.data, p.lower.shared, g.matrix, g, t.lane, &t.wide);
    t.upper = lanes_rows_of<S>(p.upper.data, p.upper.shared, g.matrix, g, t.lane, &t.wide);
    return t;
}

/* WIDE: both lanes at once, see lanes_wide. */
template <class S, class C, bool WIDE>
TREE_DEVICE void lanes_fetch(const lanes_tile &t, const lanes_rows &rows, bool shared, uint32_t row, C *to)
{
    const char *from = rows.row(row);
    if (WIDE) {
        __pipeline_memcpy_async(to, from, 2 * sizeof(S));
    } else {
        __pipeline_memcpy_async(to, from, sizeof(S));
        __pipeline_memcpy_async(to + 1, from + (shared ? 0 : t.other), sizeof(S));
    }
}

/* All words of a row but, with `kept`, the right side. */
template <class S, class C, int LANES, bool SHARED, bool WIDE>
TREE_DEVICE void lanes_fetch_row(const tree_params &p, const lanes_tile &t, uint32_t row, bool kept, C *at)
{
    lanes_fetch<S, C, WIDE>(t, t.diagonal, p.diagonal.shared, row, at);
    if (!kept) lanes_fetch<S, C, WIDE>(t, t.rhs, p.rhs.shared, row, at + LANES);
    if (SHARED) return;
    lanes_fetch<S, C, WIDE>(t, t.upper, p.upper.shared, row, at + 2 * LANES);
    lanes_fetch<S, C, WIDE>(t, t.lower, p.lower.shared, row, at + 3 * LANES);
}

template <class S, class C, bool WIDE>
TREE_DEVICE void lanes_store(const lanes_tile &t, uint32_t row, const lanes_pair<C> &x)
{
    S *to = (S *)t.x.row(row);
    if (WIDE) {
        *(lanes_pair<S> *)to = {(S)x.a, (S)x.b};
        return;
    }
    if (t.live) to[0] = (S)x.a;
    if (t.both) to[1] = (S)x.b;
}

/* Whether both lanes of all threads are there in this tile and the next and can be moved at once. */
template <int LANES> TREE_DEVICE bool lanes_wide(const lanes_tile &t, const tree_group &g, int64_t tile)
{
    return t.wide && (tile - g.tile + 2) * LANES <= g.lanes;
}

/* --- a tile by the whole block ---------------------------------------------------------------------------- */

/* Calls use(lane, row, place) for all elements of a tile in an array: threads side by side are lanes, of flat arrays
 * rows. */
template <class S, int LANES, class USE>
TREE_DEVICE void lanes_each(S *data, bool shared, const lacis_solve_side &side, const tree_group &g, int64_t first,
                            bool all, USE use)
{
    const bool flat = side.block == 1 && !shared;
    const int inner = LANES < 32 && !flat ? LANES : 32, at = threadIdx.x % inner, of = threadIdx.x / inner;
    const int some = blockDim.x / inner;
    for (int i = flat ? of : at; i < LANES; i += flat ? some : inner) {
        const bool there = first + i < g.lanes;
        if (!there && !all) continue;
        const tree_column<S> c = tree_column_at<S>(data, shared, side, g.rows, there ? first + i : g.lanes - 1);
        for (int32_t r = flat ? at : of; r < g.rows; r += flat ? inner : some)
            use(i, r, c.at + r * c.step);
    }
}

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void lanes_fetch_word(const lacis_solve_field &field, const lacis_solve_side &side, const tree_group &g,
                                  int64_t first, C *to)
{
    constexpr int ROW = lanes_shape<C, LANES, SHARED>::ROW;
    lanes_each<const S, LANES>(
        (const S *)field.data, field.shared, side, g, first, true,
        [=](int i, int32_t r, const S *from) { __pipeline_memcpy_async(to + r * ROW + i, from, sizeof(S)); });
}

template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void lanes_fetch_tile(const tree_params &p, const tree_group &g, int64_t tile, C *row)
{
    const int64_t first = (tile - g.tile) * LANES;
    lanes_fetch_word<S, C, LANES, SHARED>(p.diagonal, g.matrix, g, first, row);
    lanes_fetch_word<S, C, LANES, SHARED>(p.rhs, g.rhs, g, first, row + LANES);
    if (SHARED) return;
    lanes_fetch_word<S, C, LANES, SHARED>(p.upper, g.matrix, g, first, row + 2 * LANES);
    lanes_fetch_word<S, C, LANES, SHARED>(p.lower, g.matrix, g, first, row + 3 * LANES);
}

/* x of all rows and lanes, which lie where y was. */
template <class S, class C, int LANES, bool SHARED>
TREE_DEVICE void lanes_store_tile(const tree_params &p, const tree_group &g, int64_t tile, const C *row)
{
    constexpr int ROW = lanes_shape<C, LANES, SHARED>::ROW;
    lanes_each<S, LANES>((S *)p.x, false, g.x, g, (tile - g.tile) * LANES, false,
                         [=](int i, int32_t r, S *to) { *to = (S)row[r * ROW + LANES + i]; });
}

#endif
