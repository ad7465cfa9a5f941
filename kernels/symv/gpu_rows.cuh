/* SPDX-License-Identifier: Apache-2.0
 *
 * Family ROWS, for small n: a block has B rows of y and reads all that they need, the rows' stored elements and those
 * of which theirs are mirror images: every element twice, the second time from the cache, but in one launch and
 * without partial sums in memory. Across: lanes next to each other have the B rows of a column, each thread every
 * THREADS / LB-th column. Along: each thread has V rows of all B columns. The B x B elements on the diagonal are read
 * one by one. Compiled by gpu_type_*.cu.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_ROWS_CUH
#define LACIS_KERNELS_SYMV_GPU_ROWS_CUH

#include "symv/gpu_choices.h"
#include "symv/gpu_end.cuh"
#include "symv/gpu_rows.h"

template <class NUMBER, int B_, int WARPS_, int DEEP_> struct symv_rows_shape {
    typedef NUMBER N;
    typedef typename N::M M;
    typedef typename N::X X;
    enum { B = B_, WARPS = WARPS_, DEEP = DEEP_, THREADS = WARPS * 32, V = N::V, LB = B / V, AT_ONCE = THREADS / LB };
    static_assert(B % V == 0 && LB <= 32 && WARPS <= 16 && B * B <= THREADS, "rows fall into whole lanes");
};

/* Where a thread reads next. */
struct symv_rows_place {
    int r0;       /* the block's first row */
    int row;      /* across: the thread's first row */
    int j, j_end; /* across: columns */
    int p, p_end; /* along: rows */
    bool all;     /* the block's rows are all within the matrix */
};

template <class T> SYMV_GPU symv_rows_place symv_rows_here(const symv_gpu_grid &g)
{
    symv_rows_place at;
    const int thread = (int)threadIdx.x, n = (int)g.n;
    at.r0 = (int)blockIdx.x * T::B;
    at.row = at.r0 + thread % T::LB * T::V;
    at.all = at.r0 + T::B <= n;
    at.j = (g.upper ? at.r0 + T::B : 0) + thread / T::LB;
    at.j_end = g.upper ? n : at.r0;
    at.p = (g.upper ? 0 : at.r0 + T::B) + thread * T::V;
    at.p_end = g.upper ? at.r0 : n;
    return at;
}

template <class T> SYMV_GPU typename T::X symv_rows_x(const symv_gpu_part &p, int64_t i)
{
    return i < p.grid.n ? symv_load((const typename T::X *)p.x + i * p.x_step) : symv_zero<typename T::X>();
}

/* V elements of a column, of which `count` are within the matrix, the others 0. */
template <class T, bool WHOLE>
SYMV_GPU void symv_rows_read(typename T::M (&v)[T::V], const typename T::M *from, int count)
{
    if (WHOLE && count >= T::V) {
        symv_load_whole(v, from);
    } else {
#pragma unroll
        for (int k = 0; k < T::V; k++)
            v[k] = k < count ? symv_load(from + k) : symv_zero<typename T::M>();
    }
}

template <class T, bool WHOLE> struct symv_rows_across {
    typename T::M v[T::DEEP][T::V];
    typename T::X x[T::DEEP], sum[T::V];

    __device__ __forceinline__ void read(const symv_gpu_part &p, const symv_rows_place &at)
    {
        const int count = at.all ? T::V : (int)p.grid.n - at.row;
#pragma unroll
        for (int d = 0; d < T::DEEP; d++) {
            const int j = at.j + d * T::AT_ONCE;
            if (j >= at.j_end) continue;
            symv_rows_read<T, WHOLE>(v[d], (const typename T::M *)p.a + symv_gpu_column(&p, j) + at.row, count);
            x[d] = symv_rows_x<T>(p, j);
        }
    }
    __device__ __forceinline__ void use(const symv_rows_place &at)
    {
#pragma unroll
        for (int d = 0; d < T::DEEP; d++) {
            if (at.j + d * T::AT_ONCE >= at.j_end) continue;
#pragma unroll
            for (int k = 0; k < T::V; k++)
                sum[k] = T::N::fma(v[d][k], x[d], sum[k]);
        }
    }
};

template <class T, bool WHOLE> struct symv_rows_along {
    typename T::M v[T::B][T::V];
    typename T::X x[T::V], sum[T::B];

    __device__ __forceinline__ void read(const symv_gpu_part &p, const symv_rows_place &at)
    {
        if (at.p >= at.p_end) return;
        const int count = at.p_end - at.p;
#pragma unroll
        for (int b = 0; b < T::B; b++)
            if (at.all || at.r0 + b < p.grid.n)
                symv_rows_read<T, WHOLE>(v[b], (const typename T::M *)p.a + symv_gpu_column(&p, at.r0 + b) + at.p,
                                         count);
#pragma unroll
        for (int k = 0; k < T::V; k++)
            x[k] = at.p + k < at.p_end ? symv_rows_x<T>(p, at.p + k) : symv_zero<typename T::X>();
    }
    /* Of rows beyond the end element and x are 0, of columns beyond it the sum is not wanted. */
    __device__ __forceinline__ void use(const symv_rows_place &at, unsigned flip)
    {
        if (at.p >= at.p_end) return;
#pragma unroll
        for (int b = 0; b < T::B; b++)
#pragma unroll
            for (int k = 0; k < T::V; k++)
                sum[b] = T::N::fma(T::N::mirror(v[b][k], flip), x[k], sum[b]);
    }
};

/* The product of element (i, j) of the tile on the diagonal, which may be a mirror image; thread i + B j has it. */
template <class T> SYMV_GPU typename T::X symv_rows_diagonal(const symv_gpu_part &p, int r0, unsigned flip)
{
    const int thread = (int)threadIdx.x, i = r0 + thread % T::B, j = r0 + thread / T::B;
    typename T::X sum = symv_zero<typename T::X>();
    if (thread >= T::B * T::B || i >= p.grid.n || j >= p.grid.n) return sum;
    const bool stored = p.grid.upper ? i <= j : i >= j;
    const int64_t at = stored ? symv_gpu_column(&p, j) + i : symv_gpu_column(&p, i) + j;
    typename T::M a = symv_load((const typename T::M *)p.a + at);
    if (!stored) a = T::N::mirror(a, flip);
    if (T::N::COMPLEX && p.hermitian && i == j) a = T::N::real(a);
    return T::N::fma(a, symv_rows_x<T>(p, j), sum);
}

/* Sums of rows over the lanes of a warp that have the same rows. */
template <class T> SYMV_GPU void symv_rows_fold(typename T::X (&sum)[T::V])
{
#pragma unroll
    for (int h = 16; h >= T::LB; h /= 2)
#pragma unroll
        for (int k = 0; k < T::V; k++)
            sum[k] = T::N::add(sum[k], symv_turn(sum[k], h));
}

/* What the block's warps found, W sums of each row; warps add them row by row. */
template <class T, int COUNT>
SYMV_GPU void symv_rows_end(const symv_gpu_part &p, const typename T::X (&share)[COUNT][T::B], int r0)
{
    typedef typename T::X X;
    const int lane = (int)threadIdx.x % 32;
    for (int b = (int)threadIdx.x / 32; b < T::B; b += T::WARPS) {
        X sum[1] = {symv_zero<X>()};
#pragma unroll
        for (int w = 0; w < (COUNT + 31) / 32; w++)
            if (lane + w * 32 < COUNT) sum[0] = T::N::add(sum[0], share[lane + w * 32][b]);
        symv_fold<typename T::N, 1, 32>(sum, lane);
        if (lane == 0 && r0 + b < p.grid.n) symv_end<typename T::N>(p, 0, r0 + b, sum[0]);
    }
}

template <class T, bool WHOLE>
static __global__ void __launch_bounds__(T::THREADS, 1) symv_rows_kernel(const __grid_constant__ symv_gpu_part p)
{
    typedef typename T::X X;
    enum { COUNT = 2 * T::WARPS + T::B };
    __shared__ X share[COUNT][T::B];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const unsigned flip = p.hermitian ? SYMV_FLIP : 0;
    symv_rows_place at = symv_rows_here<T>(p.grid);
    symv_rows_across<T, WHOLE> across;
    symv_rows_along<T, WHOLE> along;
    across.read(p, at);
    along.read(p, at);
    const X diagonal = symv_rows_diagonal<T>(p, at.r0, flip);
#pragma unroll
    for (int k = 0; k < T::V; k++)
        across.sum[k] = symv_zero<X>();
#pragma unroll
    for (int b = 0; b < T::B; b++)
        along.sum[b] = symv_zero<X>();
    for (;;) {
        across.use(at);
        along.use(at, flip);
        at.j += T::DEEP * T::AT_ONCE;
        at.p += T::THREADS * T::V;
        if (at.j >= at.j_end && at.p >= at.p_end) break;
        across.read(p, at);
        along.read(p, at);
    }
    symv_rows_fold<T>(across.sum);
    const int first = symv_fold<typename T::N, T::B, 32>(along.sum, lane);
#pragma unroll
    for (int k = 0; k < T::V; k++)
        if (lane < T::LB) share[warp][lane * T::V + k] = across.sum[k];
    if (lane % (32 / T::B) == 0) share[T::WARPS + warp][first] = along.sum[0];
    if ((int)threadIdx.x < T::B * T::B)
        share[2 * T::WARPS + (int)threadIdx.x / T::B][(int)threadIdx.x % T::B] = diagonal;
    __syncthreads();
    symv_rows_end<T, COUNT>(p, share, at.r0);
}

template <class T, bool WHOLE> static cudaError_t symv_launch_rows(const symv_gpu_part *p, cudaStream_t stream)
{
    symv_rows_kernel<T, WHOLE><<<(unsigned)((p->grid.n + T::B - 1) / T::B), T::THREADS, 0, stream>>>(*p);
    return cudaGetLastError();
}

/* The list of a type: SYMV_ROWS_LIST(name, N, list of gpu_choices.h). */
#define SYMV_ROWS_ENTRY(B, WARPS, DEEP)                                                                              \
    {B,                                                                                                              \
     WARPS,                                                                                                          \
     DEEP,                                                                                                           \
     {symv_launch_rows<symv_rows_shape<NUMBER, B, WARPS, DEEP>, false>,                                              \
      symv_launch_rows<symv_rows_shape<NUMBER, B, WARPS, DEEP>, true>}},

#endif
