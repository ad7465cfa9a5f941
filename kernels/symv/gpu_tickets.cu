/* SPDX-License-Identifier: Apache-2.0
 *
 * TICKETS: the form of CUDA-xSYMV. A block works on one tile of 64 x 64 and adds its two vectors of sums to y itself,
 * in the order of tickets: every part of y has a count of the updates it has had, and who holds ticket k waits until
 * it is k. No slots and no second pass; but every update of a part waits for the one before it, through the L2.
 *
 * Nobody waits for a block that has not started: which tile a block works on is decided when it runs, by a counter,
 * and a tile's tickets come behind those of tiles with lower numbers alone. Tiles are numbered along the diagonals,
 * the main one first: then blocks that run at the same time mostly update different parts. So tile (lo, hi) of
 * diagonal d = hi - lo holds, for part hi, the ticket that counts the updates of earlier diagonals, and for part lo
 * one more if that part is the `hi` of another tile of this diagonal.
 */
#include "symv/gpu_dispatch.cuh"
#include "symv/gpu_inside.h"

namespace
{

enum { TILE = 64, THREADS = 256, GROUPS = THREADS / TILE, EACH = TILE / GROUPS };

/* Tiles of the diagonals before d, of T. */
__device__ __forceinline__ int64_t before(int64_t d, int64_t T)
{
    return d * T - d * (d - 1) / 2;
}

/* The diagonal that tile `id` lies in. */
__device__ __forceinline__ int64_t diagonal_of(int64_t id, int64_t T)
{
    const double b = (double)(2 * T + 1);
    int64_t d = (int64_t)((b - sqrt(b * b - 8.0 * (double)id)) / 2);
    while (d > 0 && before(d, T) > id)
        d--;
    while (before(d + 1, T) <= id)
        d++;
    return d;
}

/* Updates that part b has had from the diagonals before d. */
__device__ __forceinline__ unsigned updates(int64_t d, int64_t b, int64_t T)
{
    return d == 0 ? 0U : (unsigned)(1 + min(d - 1, b) + min(d - 1, T - 1 - b));
}

__device__ __forceinline__ void wait_for(const unsigned *count, unsigned ticket)
{
    unsigned now;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
    while (now != ticket);
}

__device__ __forceinline__ void hand_on(unsigned *count, unsigned ticket)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(count), "r"(ticket + 1) : "memory");
}

/* A number that other multiprocessors write. */
template <class S, class T> __device__ __forceinline__ T load_shared(const T *from)
{
    enum { PARTS = sizeof(T) / sizeof(S) };
    union {
        T number;
        S part[PARTS];
    } out;
#pragma unroll
    for (int i = 0; i < PARTS; i++)
        out.part[i] = __ldcg((const S *)from + i);
    return out.number;
}

/* Where sums go: y, or totals for the figures, which are A x itself. */
template <class N> struct target {
    typedef typename N::X X;
    X *to;
    const X *y0;
    int64_t side, step;
    X alpha, beta;
    bool scaled, adds_y0;
};

template <class N> __device__ target<N> target_of(const symv_gpu_part &p)
{
    typedef typename N::X X;
    target<N> t;
    t.scaled = p.totals == nullptr;
    t.to = t.scaled ? (X *)p.y : (X *)p.totals;
    t.y0 = (const X *)p.y0;
    t.side = t.scaled ? p.y_side : p.row;
    t.step = t.scaled ? p.y_step : 1;
    t.alpha = N::number(p.alpha);
    t.beta = N::number(p.beta);
    t.adds_y0 = t.scaled && (p.beta[0] != 0 || p.beta[1] != 0 || p.beta[2] != 0 || p.beta[3] != 0);
    return t;
}

/* One warp, under `ticket`: part b of every side gets sums[side][64]. */
template <class N>
__device__ void update(const target<N> &t, int64_t b, int64_t n, unsigned *count, unsigned ticket,
                       const typename N::X (*sums)[TILE], int sides)
{
    typedef typename N::X X;
    typedef typename N::S S;
    const int lane = (int)threadIdx.x % 32;
    if (lane == 0) wait_for(count, ticket);
    __syncwarp();
    for (int r = 0; r < sides; r++)
        for (int i = lane; i < TILE; i += 32) {
            const int64_t row = b * TILE + i, at = r * t.side + row * t.step;
            if (row >= n) continue;
            X s = symv_zero<X>();
            if (ticket != 0)
                s = load_shared<S>(t.to + at);
            else if (t.adds_y0)
                s = N::step(t.beta, symv_load(t.y0 + at), s);
            symv_store(t.to + at, t.scaled ? N::step(t.alpha, sums[r][i], s) : N::add(s, sums[r][i]));
        }
    __syncwarp();
    if (lane == 0) hand_on(count, ticket);
}

/* The tile's elements of this thread: row p0 + row, columns q0 + group + GROUPS c; zeros outside. */
template <class N>
__device__ __forceinline__ void read_tile(typename N::M (&v)[EACH], const symv_gpu_part &part, int64_t p, int64_t q)
{
    typedef typename N::M M;
#pragma unroll
    for (int c = 0; c < EACH; c++) {
        const int64_t j = q + c * GROUPS, n = part.grid.n;
        const bool stored = p < n && j < n && (part.grid.upper ? p <= j : p >= j);
        v[c] = stored ? symv_load((const M *)part.a + symv_gpu_column(&part, j) + p) : symv_zero<M>();
        if (part.hermitian && p == j) v[c] = N::real(v[c]);
    }
}

/* Sums of one side: across[p] over the tile's columns, along[q] of the mirror image over its rows. What is not
 * stored, and of the diagonal the mirror image, is left out. */
template <class N>
__device__ void sum_tile(const typename N::M (&v)[EACH], const symv_gpu_part &part, int64_t p, int64_t q,
                         const typename N::X *x, typename N::X (*across)[TILE], typename N::X (*along)[TILE])
{
    typedef typename N::X X;
    typedef typename N::S S;
    const int64_t n = part.grid.n;
    const int row = (int)threadIdx.x % TILE, group = (int)threadIdx.x / TILE, lane = (int)threadIdx.x % 32;
    const unsigned flip = part.hermitian ? SYMV_FLIP : 0;
    const X xp = p < n ? symv_load(x + p * part.x_step) : symv_zero<X>();
    X s = symv_zero<X>(), columns[EACH];
#pragma unroll
    for (int c = 0; c < EACH; c++) {
        const int64_t j = q + c * GROUPS;
        const bool in = p < n && j < n, stored = in && (part.grid.upper ? p <= j : p >= j);
        if (stored) s = N::fma(v[c], symv_load(x + j * part.x_step), s);
        columns[c] = stored && p != j ? N::fma(N::mirror(v[c], flip), xp, symv_zero<X>()) : symv_zero<X>();
    }
    across[group][row] = s;
    const int first = symv_fold<N, EACH, 32>(columns, lane);
    if (lane % (32 / EACH) == 0) along[row / 32][group + GROUPS * first] = columns[0];
}

template <class N>
__global__ __launch_bounds__(THREADS) void ticket_tiles(symv_gpu_part part, int sides, unsigned *counts)
{
    typedef typename N::X X;
    __shared__ X across[GROUPS][TILE], along[2][TILE], rows[SYMV_GPU_SIDES][TILE], columns[SYMV_GPU_SIDES][TILE];
    __shared__ unsigned number;
    const int64_t n = part.grid.n, T = symv_gpu_strips(&part.grid);
    const int i = (int)threadIdx.x;
    if (i == 0) number = atomicAdd(counts + T, 1U);
    __syncthreads();
    const int64_t d = diagonal_of(number, T), lo = number - before(d, T), hi = lo + d;
    const int64_t tp = part.grid.upper ? lo : hi, tq = part.grid.upper ? hi : lo;
    const int64_t p = tp * TILE + i % TILE, q = tq * TILE + i / TILE;
    typename N::M v[EACH];
    read_tile<N>(v, part, p, q);
    for (int r = 0; r < sides; r++) {
        sum_tile<N>(v, part, p, q, (const X *)part.x + r * part.x_side, across, along);
        __syncthreads();
        if (i < TILE) {
            rows[r][i] = N::add(N::add(across[0][i], across[1][i]), N::add(across[2][i], across[3][i]));
            columns[r][i] = N::add(along[0][i], along[1][i]);
            if (d == 0) rows[r][i] = N::add(rows[r][i], columns[r][i]);
        }
        __syncthreads();
    }
    const target<N> t = target_of<N>(part);
    const unsigned of_hi = updates(d, hi, T), of_lo = updates(d, lo, T) + (lo >= d ? 1U : 0U);
    if (i < 32)
        update<N>(t, hi, n, counts + hi, of_hi, part.grid.upper && d != 0 ? columns : rows, sides);
    else if (i < 64 && d != 0)
        update<N>(t, lo, n, counts + lo, of_lo, part.grid.upper ? rows : columns, sides);
}

int64_t parts(int64_t n)
{
    return (n + TILE - 1) / TILE;
}

} // namespace

const char *symv_gpu_tickets_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice)
{
    (void)choice; /* a tile is always 64 x 64 */
    if (job->job.order == LACIS_SYMV_CANONICAL) return "updates by tickets are not in the canonical order";
    if (job->job.n > (int64_t)64 * 65535) return "too many tiles for one launch";
    return nullptr;
}

uint64_t symv_gpu_tickets_bytes(const lacis_symv_gpu_job *, const lacis_symv_gpu_choice *, int64_t n, int)
{
    return ((uint64_t)parts(n) + 1) * sizeof(unsigned);
}

cudaError_t symv_gpu_tickets(const symv_gpu_pass *pass)
{
    symv_gpu_part part = pass->part;
    part.grid.tx = part.grid.ty = TILE;
    part.grid.chunk = 1;
    const int64_t T = parts(part.grid.n);
    unsigned *counts = (unsigned *)pass->work;
    if (T == 0) return cudaSuccess;
    const cudaError_t rc = cudaMemsetAsync(counts, 0, (size_t)(T + 1) * sizeof(unsigned), pass->stream);
    if (rc != cudaSuccess) return rc;
    return symv_by_type(pass->job->job.type, pass->job->job.accurate, [&](auto number) {
        ticket_tiles<decltype(number)>
            <<<(unsigned)(T * (T + 1) / 2), THREADS, 0, pass->stream>>>(part, pass->sides, counts);
        return cudaGetLastError();
    });
}
