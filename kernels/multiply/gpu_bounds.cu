/* SPDX-License-Identifier: Apache-2.0
 *
 * What the classes read of B: bounds of its rows packed and clipped, B packed for FLAT rows and for tiny ones in
 * pairs, windows of B. Called by gpu_run.cu and gpu_classes.cu.
 */
#include "gpu_host.h"

enum { BOUND_THREADS = 256, BOUND_WARPS = BOUND_THREADS / 32 };

struct bounds_shared {
    mul_u64 sum[BOUND_WARPS];
    mul_u32 most[BOUND_WARPS], from[BOUND_THREADS], length[BOUND_THREADS];
    int pack;
};

/* Totals of the block's rows into the header. */
static __device__ void sum_up(bounds_shared &s, mul_u32 length, mulg_header *header)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    mul_u64 sum = length;
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(MULG_ALL, sum, d);
    const mul_u32 warp_most = __reduce_max_sync(MULG_ALL, length);
    if (lane == 0) {
        s.sum[warp] = sum;
        s.most[warp] = warp_most;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        mul_u32 most = 0;
        sum = 0;
        for (int w = 0; w < BOUND_WARPS; w++) {
            sum += s.sum[w];
            most = max(most, s.most[w]);
        }
        const mul_u32 seen = *(volatile mul_u32 *)&header->b_most;
        if (sum) atomicAdd(&header->b_entries, sum);
        if (most > seen) atomicMax(&header->b_most, most);
        s.pack = max(most, seen) <= MULG_FLAT_MOST;
    }
    __syncthreads();
}

/* The block's rows as chunks: eight threads a row. V: as many bytes as a value; char: none is read. */
template <class V>
static __device__ void pack_chunks(const bounds_shared &s, const mul_u32 *column, const mulg_chunks &chunks,
                                   mul_u32 rows)
{
    const mul_u32 chunk = MULG_FLAT_CHUNK(chunks.value_bytes), e = threadIdx.x % MULG_FLAT_MOST;
    const V *const value = (const V *)chunks.value;
#pragma unroll
    for (mul_u32 k = 0; k < MULG_FLAT_MOST; k++) {
        const mul_u32 local = (k * BOUND_THREADS + threadIdx.x) / MULG_FLAT_MOST;
        const mul_u64 r = (mul_u64)blockIdx.x * BOUND_THREADS + local;
        const bool some = e < s.length[local];
        char *const to = chunks.to + r * chunk;
        const mul_u32 t = some ? __ldg(column + s.from[local] + e) : MULG_ALL;
        V v = (V)chunks.one;
        if (sizeof(V) > 1 && some && value) v = __ldg(value + s.from[local] + e);
        if (r >= rows) break;
        ((mul_u32 *)to)[e] = t;
        if (sizeof(V) > 1) ((V *)(to + 32))[e] = v;
    }
}

static __global__ void __launch_bounds__(BOUND_THREADS)
    bounds_kernel(const mul_i64 *begin, const mul_i64 *end, const mul_u32 *column, mul_u32 rows, bool clip,
                  mul_u64 t_lo, mul_u64 t_hi, uint2 *bound, unsigned short *length, mulg_chunks chunks,
                  mulg_header *header)
{
    __shared__ bounds_shared s;
    const mul_u32 r = blockIdx.x * BOUND_THREADS + threadIdx.x;
    uint2 x = make_uint2(0, 0);
    if (r < rows) {
        x = make_uint2((mul_u32)begin[r], (mul_u32)end[r]);
        if (clip) x = mulg_clip(column, x, t_lo, t_hi);
        bound[r] = x;
        length[r] = (unsigned short)min(x.y - x.x, (mul_u32)MULG_LENGTH_MOST);
    }
    s.from[threadIdx.x] = x.x;
    s.length[threadIdx.x] = x.y - x.x;
    sum_up(s, x.y - x.x, header);
    if (!chunks.to || !s.pack) return;
    if (chunks.value_bytes == 4)
        pack_chunks<mul_u32>(s, column, chunks, rows);
    else if (chunks.value_bytes == 8)
        pack_chunks<mul_u64>(s, column, chunks, rows);
    else
        pack_chunks<char>(s, column, chunks, rows);
}

cudaError_t mulg_bounds(const lacis_mul_matrix *b, int64_t t_lo, int64_t t_hi, uint2 *bound, unsigned short *length,
                        const mulg_chunks &chunks, mulg_header *header, cudaStream_t stream)
{
    if (b->rows == 0) return cudaSuccess;
    bounds_kernel<<<mulg_blocks(b->rows, BOUND_THREADS), BOUND_THREADS, 0, stream>>>(
        (const mul_i64 *)b->begin, (const mul_i64 *)b->end, b->column, (mul_u32)b->rows, t_lo > 0 || t_hi < b->cols,
        (mul_u64)t_lo, (mul_u64)t_hi, bound, length, chunks, header);
    return cudaGetLastError();
}

/* --- B packed for tiny rows --------------------------------------------------------------------------- */

/* For rows longer than chunks are: each as (column, value) pairs from a multiple of 64 bytes on, in any order of
 * rows: a short row is then one or two sectors and one load, where columns and values apart, lying anywhere, are
 * four. place[r] is first entry / 8 << 5 | length. */
static __global__ void __launch_bounds__(256)
    pack_kernel(const uint2 *bound, const mul_u32 *column, const mul_u32 *value, mul_u32 rows, mul_u32 *place,
                uint2 *pair, mulg_header *header)
{
    enum { LANES = 8 };
    __shared__ mul_u32 warp_sum[8];
    __shared__ mul_u64 base;
    const mul_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, r = blockIdx.x * 256 + threadIdx.x;
    const uint2 x = r < rows ? bound[r] : make_uint2(0, 0);
    const mul_u32 length = x.y - x.x, padded = (length + 7) & ~7u, upto = mulg_scan(padded);
    if (lane == 31) warp_sum[warp] = upto;
    __syncthreads();
    mul_u32 before = 0, all = 0;
    for (mul_u32 w = 0; w < 8; w++) {
        if (w < warp) before += warp_sum[w];
        all += warp_sum[w];
    }
    if (threadIdx.x == 0) base = atomicAdd(&header->packed, (mul_u64)all);
    __syncthreads();
    const mul_u32 to = (mul_u32)base + before + upto - padded;
    if (r < rows) place[r] = to / 8 << 5 | length;
#pragma unroll
    for (int first = 0; first < 32; first += 32 / LANES) {
        const int source = first + lane / LANES;
        const mul_u32 from = __shfl_sync(MULG_ALL, x.x, source), n = __shfl_sync(MULG_ALL, length, source);
        const mul_u32 at = __shfl_sync(MULG_ALL, to, source);
        for (mul_u32 i = lane % LANES; i < n; i += LANES)
            pair[at + i] = make_uint2(column[from + i], value[from + i]);
    }
}

cudaError_t mulg_pack(const mulg_params &p, int64_t rows, mul_u32 *place, uint2 *pair, mulg_header *header,
                      cudaStream_t stream)
{
    pack_kernel<<<mulg_blocks((mul_u64)rows, 256), 256, 0, stream>>>(
        p.b_bound, p.b_column, (const mul_u32 *)p.b_value, (mul_u32)rows, place, pair, header);
    return cudaGetLastError();
}

/* --- windows of B ----------------------------------------------------------------------------------- */

static __device__ __forceinline__ mul_u32 cut_at(const mulg_params &p, uint2 bound, mul_u32 w, mul_u32 window_width)
{
    return w == 0           ? bound.x
           : w == p.windows ? bound.y
                            : mulg_search(p.b_column, bound.x, bound.y, p.t_lo + (mul_u64)w * window_width);
}

static __global__ void cuts_kernel(const __grid_constant__ mulg_params p, mul_u64 items, mul_u32 window_width,
                                   mul_u32 *cut)
{
    const mul_u64 i = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= items) return;
    const mul_u32 c = (mul_u32)(i / (p.windows + 1)), w = (mul_u32)(i - (mul_u64)c * (p.windows + 1));
    cut[i] = cut_at(p, __ldg(p.b_bound + c), w, window_width);
}

cudaError_t mulg_cuts(const mulg_params &p, int64_t rows, mul_u32 window_width, mul_u32 *cut, cudaStream_t stream)
{
    const mul_u64 items = (mul_u64)rows * (p.windows + 1);
    cuts_kernel<<<mulg_blocks(items, 256), 256, 0, stream>>>(p, items, window_width, cut);
    return cudaGetLastError();
}

/* A row of the list a blockIdx.y. Rows of B that several entries reach are cut as often, to the same places. */
static __global__ void reached_cuts_kernel(const __grid_constant__ mulg_params p, mul_u32 window_width, mul_u32 *cut)
{
    const mul_u32 row = p.list[blockIdx.y], places = p.windows + 1;
    const mul_i64 begin = p.a_begin[row];
    const mul_u64 items = (mul_u64)(p.a_end[row] - begin) * places;
    for (mul_u64 i = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x; i < items; i += gridDim.x * blockDim.x) {
        const mul_u64 entry = i / places;
        const mul_u32 c = __ldg(p.a_column + begin + entry), w = (mul_u32)(i - entry * places);
        cut[(mul_u64)c * places + w] = cut_at(p, __ldg(p.b_bound + c), w, window_width);
    }
}

cudaError_t mulg_cuts_reached(const mulg_params &p, mul_u32 window_width, mul_u32 *cut, cudaStream_t stream)
{
    const unsigned parts = p.rows >= 64 ? 4 : 256 / p.rows;
    reached_cuts_kernel<<<dim3(parts, p.rows), 256, 0, stream>>>(p, window_width, cut);
    return cudaGetLastError();
}
