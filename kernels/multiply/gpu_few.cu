/* SPDX-License-Identifier: Apache-2.0
 *
 * The set-up of a product of few rows, in one launch that looks at no more of B than these rows reach. Called by
 * gpu_run.cu instead of gpu_bounds.cu and gpu_setup.cu.
 */
#include "gpu_deal.cuh"

struct few_shared {
    mul_u64 warp_sum[MULG_WARPS];
    int bucket[MULG_FEW];
};

struct few_b {
    const mul_i64 *begin, *end;
    mul_u64 t_lo, t_hi;
    int clip;
};

/* Bounds of the rows of B that this block's part of a row reaches; answers the thread's share of products. */
static __device__ mul_u64 reach(const mulg_params &p, const few_b &b, mul_i64 row, uint2 *bound)
{
    const mul_i64 end = p.a_end[row], step = gridDim.x * MULG_THREADS;
    mul_u64 sum = 0;
    for (mul_i64 i = p.a_begin[row] + blockIdx.x * MULG_THREADS + threadIdx.x; i < end; i += step) {
        const mul_u32 c = __ldg(p.a_column + i);
        uint2 x = make_uint2((mul_u32)b.begin[c], (mul_u32)b.end[c]);
        if (b.clip) x = mulg_clip(p.b_column, x, b.t_lo, b.t_hi);
        bound[c] = x;
        sum += x.y - x.x;
    }
    return sum;
}

/* Sum over the threads up to this one. */
static __device__ mul_u64 scan(few_shared &s, mul_u64 x)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        const mul_u64 y = __shfl_up_sync(MULG_ALL, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) s.warp_sum[warp] = x;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        x += s.warp_sum[w];
    return x;
}

/* The last block deals the rows, one a thread. */
static __device__ void deal(const mulg_params &p, const mulg_rules &rules, few_shared &s, const int64_t *rows,
                            mul_i64 first, int count, const mul_u64 *sum, mul_u32 *list, mulg_header *header)
{
    const int i = threadIdx.x;
    mul_u64 n = 0, room = 0;
    mul_i64 row = 0;
    int bucket = MULG_NO_LIST;
    if (i < count) {
        row = mulg_row_at(rows, first, i);
        n = *(volatile const mul_u64 *)(sum + i);
        const int to = mulg_list_of(rules, (mul_u64)(p.a_end[row] - p.a_begin[row]), n);
        bucket = mulg_bucket_of(to, n);
        room = mulg_masked_room(p, to, row, mulg_room_of(rules, to, n));
        if (to >= 0) {
            atomicAdd(&header->rows[bucket], 1u);
            atomicAdd(&header->products[to], n);
            atomicMax(&header->most, n);
        }
    }
    s.bucket[i] = bucket;
    const mul_u64 upto = scan(s, room);
    if (i == MULG_THREADS - 1) header->room = upto;
    if (i >= count) return;
    p.c_begin[row] = n ? (mul_i64)(upto - room) : 0;
    if (n == 0) p.c_end[row] = 0;
    if (bucket == MULG_NO_LIST) return;
    int place = 0;
    for (int k = 0; k < count; k++)
        place += s.bucket[k] < bucket || (s.bucket[k] == bucket && k < i);
    list[place] = (mul_u32)row;
}

static __global__ void __launch_bounds__(MULG_THREADS)
    few_kernel(const __grid_constant__ mulg_params p, const __grid_constant__ mulg_rules rules, few_b b,
               const int64_t *rows, mul_i64 first, int count, uint2 *bound, mul_u64 *sum, mul_u32 *list,
               mulg_header *header, mulg_header *host)
{
    __shared__ few_shared s;
    mul_u64 n = reach(p, b, mulg_row_at(rows, first, blockIdx.y), bound);
    for (int d = 16; d > 0; d /= 2)
        n += __shfl_xor_sync(MULG_ALL, n, d);
    if (threadIdx.x % 32 == 0 && n) atomicAdd(&sum[blockIdx.y], n);
    if (!mulg_last_block(header)) return;
    deal(p, rules, s, rows, first, count, sum, list, header);
    if (!host) return;
    __threadfence();
    __syncthreads();
    mulg_hand_over(header, host);
}

static_assert((int)MULG_FEW == (int)MULG_THREADS, "a row a thread");

cudaError_t mulg_few(const mulg_params &p, const mulg_rules &rules, const lacis_mul_matrix *b, const int64_t *rows,
                     int64_t first, int64_t count, uint2 *bound, mul_u64 *sum, mul_u32 *list, mulg_header *header,
                     mulg_header *host, cudaStream_t stream)
{
    const few_b few = {(const mul_i64 *)b->begin, (const mul_i64 *)b->end, p.t_lo, p.t_lo + p.width,
                       p.t_lo > 0 || p.t_lo + p.width < (mul_u64)b->cols};
    const unsigned parts = count > 64 ? 2 : 128 / (unsigned)count > 16 ? 16 : 128 / (unsigned)count;
    few_kernel<<<dim3(parts, (unsigned)count), MULG_THREADS, 0, stream>>>(p, rules, few, rows, first, (int)count,
                                                                          bound, sum, list, header, host);
    return cudaGetLastError();
}
