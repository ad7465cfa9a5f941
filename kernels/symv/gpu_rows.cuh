/* SPDX-License-Identifier: Apache-2.0
 *
 * Family ROWS, for small n: a block has B rows of y and reads all that they need, the rows' stored elements and those
 * of which theirs are mirror images: every element twice, the second time from the cache, but in one launch and
 * without partial sums in memory. Threads across: lanes next to each other have the B rows of a column, each thread
 * every THREADS / LB-th column. Along: each thread has V rows of all B columns. Compiled by gpu_rows_*.cu.
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
    static_assert(B % V == 0 && LB <= 32 && WARPS <= 16 && B <= 32, "rows fall into whole lanes");
};

/* Rows and columns of a thread's next loads. */
struct symv_rows_place {
    int64_t r0;       /* the block's first row */
    int64_t row;      /* across: the thread's first row */
    int64_t j, j_end; /* across: columns */
    int64_t p, p_end; /* along: rows */
};

SYMV_GPU bool symv_rows_stored(const symv_gpu_grid &g, int64_t p, int64_t q)
{
    return p < g.n && q < g.n && (g.upper ? p <= q : p >= q);
}

/* V elements of column j from row i on; those that `diagonal` leaves out (the diagonal) or that are not stored are 0,
 * and their bit in the answer is. */
template <class T, bool WHOLE>
SYMV_GPU unsigned symv_rows_read(typename T::M (&v)[T::V], const symv_gpu_part &p, int64_t i, int64_t j,
                                 bool diagonal)
{
    const typename T::M *const from = (const typename T::M *)p.a + symv_gpu_column(&p, j) + i;
    unsigned in = 0;
#pragma unroll
    for (int k = 0; k < T::V; k++) {
        v[k] = symv_zero<typename T::M>();
        if (symv_rows_stored(p.grid, i + k, j) && (diagonal || i + k != j)) in |= 1U << k;
    }
    if (WHOLE && in == (1U << T::V) - 1) {
        symv_load_whole(v, from);
    } else {
#pragma unroll
        for (int k = 0; k < T::V; k++)
            if (in >> k & 1) v[k] = symv_load(from + k);
    }
    return in;
}

template <class T> SYMV_GPU typename T::X symv_rows_x(const symv_gpu_part &p, int64_t i)
{
    return i < p.grid.n ? symv_load((const typename T::X *)p.x + i * p.x_step) : symv_zero<typename T::X>();
}

template <class T, bool WHOLE> struct symv_rows_across {
    typename T::M v[T::DEEP][T::V];
    typename T::X x[T::DEEP], sum[T::V];
    unsigned in[T::DEEP];

    __device__ __forceinline__ void read(const symv_gpu_part &p, const symv_rows_place &at)
    {
#pragma unroll
        for (int d = 0; d < T::DEEP; d++) {
            const int64_t j = at.j + d * T::AT_ONCE;
            in[d] = 0;
            if (j >= at.j_end) continue;
            in[d] = symv_rows_read<T, WHOLE>(v[d], p, at.row, j, true);
            x[d] = symv_rows_x<T>(p, j);
        }
    }
    __device__ __forceinline__ void use(const symv_gpu_part &p, const symv_rows_place &at)
    {
#pragma unroll
        for (int d = 0; d < T::DEEP; d++)
#pragma unroll
            for (int k = 0; k < T::V; k++) {
                if (!(in[d] >> k & 1)) continue;
                const bool real = T::N::COMPLEX && p.hermitian && at.row + k == at.j + d * T::AT_ONCE;
                sum[k] = T::N::fma(real ? T::N::real(v[d][k]) : v[d][k], x[d], sum[k]);
            }
    }
};

template <class T, bool WHOLE> struct symv_rows_along {
    typename T::M v[T::B][T::V];
    typename T::X x[T::V], sum[T::B];
    unsigned in[T::B];

    __device__ __forceinline__ void read(const symv_gpu_part &p, const symv_rows_place &at)
    {
#pragma unroll
        for (int b = 0; b < T::B; b++)
            in[b] = at.p < at.p_end ? symv_rows_read<T, WHOLE>(v[b], p, at.p, at.r0 + b, false) : 0;
#pragma unroll
        for (int k = 0; k < T::V; k++)
            x[k] = symv_rows_x<T>(p, at.p + k);
    }
    __device__ __forceinline__ void use(unsigned flip)
    {
#pragma unroll
        for (int b = 0; b < T::B; b++)
#pragma unroll
            for (int k = 0; k < T::V; k++)
                if (in[b] >> k & 1) sum[b] = T::N::fma(T::N::mirror(v[b][k], flip), x[k], sum[b]);
    }
};

template <class T> SYMV_GPU symv_rows_place symv_rows_here(const symv_gpu_grid &g)
{
    symv_rows_place at;
    at.r0 = blockIdx.x * (int64_t)T::B;
    at.row = at.r0 + (int)threadIdx.x % T::LB * T::V;
    at.j = (g.upper ? at.r0 : 0) + (int)threadIdx.x / T::LB;
    at.j_end = g.upper || at.r0 + T::B > g.n ? g.n : at.r0 + T::B;
    at.p = (g.upper ? 0 : at.r0) + (int)threadIdx.x * T::V;
    at.p_end = g.upper && at.r0 + T::B < g.n ? at.r0 + T::B : g.n;
    return at;
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

template <class T, bool WHOLE>
static __global__ void __launch_bounds__(T::THREADS, 1) symv_rows_kernel(const __grid_constant__ symv_gpu_part p)
{
    typedef typename T::X X;
    typedef typename T::N N;
    __shared__ X share[2 * T::WARPS][T::B];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const unsigned flip = p.hermitian ? SYMV_FLIP : 0;
    symv_rows_place at = symv_rows_here<T>(p.grid);
    symv_rows_across<T, WHOLE> across;
    symv_rows_along<T, WHOLE> along;
#pragma unroll
    for (int k = 0; k < T::V; k++)
        across.sum[k] = symv_zero<X>();
#pragma unroll
    for (int b = 0; b < T::B; b++)
        along.sum[b] = symv_zero<X>();
    while (at.j < at.j_end || at.p < at.p_end) {
        across.read(p, at);
        along.read(p, at);
        across.use(p, at);
        along.use(flip);
        at.j += T::DEEP * T::AT_ONCE;
        at.p += T::THREADS * T::V;
    }
    symv_rows_fold<T>(across.sum);
    const int first = symv_fold<N, T::B, 32>(along.sum, lane);
#pragma unroll
    for (int k = 0; k < T::V; k++)
        if (lane < T::LB) share[warp][lane * T::V + k] = across.sum[k];
    if (lane % (32 / T::B) == 0) share[T::WARPS + warp][first] = along.sum[0];
    __syncthreads();
    for (int b = warp; b < T::B; b += T::WARPS) {
        X sum[1] = {lane < 2 * T::WARPS ? share[lane][b] : symv_zero<X>()};
        symv_fold<N, 1, 32>(sum, lane);
        if (lane == 0 && at.r0 + b < p.grid.n) symv_end<N>(p, 0, at.r0 + b, sum[0]);
    }
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
