/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of A before the classes: products of each row, rows dealt to lists, room for each row. Called by gpu_run.cu
 * behind gpu_bounds.cu.
 */
#include "gpu_deal.cuh"

enum { DEAL_LANES = 4, DEAL_SLOTS = MULG_THREADS / DEAL_LANES, DEAL_LONG = 256, DEAL_FLAT = 4 };

struct deal_shared {
    mul_u64 products[MULG_THREADS], degree[MULG_THREADS], warp_sum[MULG_WARPS], base;
    mul_u64 list_sum[MULG_LISTS][MULG_WARPS];
    mul_u32 rows[MULG_BUCKETS];
    int longs, long_row[MULG_THREADS];
    mul_u32 flat_sum[DEAL_FLAT][MULG_WARPS], flat_rows;
};

static __device__ mul_u64 row_products(const mulg_params &p, mul_i64 begin, mul_i64 end, int from, int step)
{
    mul_u64 sum = 0;
#pragma unroll 4
    for (mul_i64 i = begin + from; i < end; i += step) {
        const mul_u32 c = __ldg(p.a_column + i), length = __ldg(p.b_length + c);
        if (length < MULG_LENGTH_MOST)
            sum += length;
        else {
            const uint2 bound = __ldg(p.b_bound + c);
            sum += bound.y - bound.x;
        }
    }
    return sum;
}

/* Rows of the batch from `at`: their products in shared memory, four lanes a row. Long rows are left to the whole
 * block. */
template <int TURNS>
static __device__ void count_batch(const mulg_params &p, deal_shared &s, const int64_t *rows, mul_i64 first,
                                   mul_i64 at, mul_i64 count)
{
    const int lane = threadIdx.x % DEAL_LANES;
    mul_u64 sum[TURNS];
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        const int slot = k * DEAL_SLOTS + threadIdx.x / DEAL_LANES;
        mul_u64 degree = 0;
        sum[k] = 0;
        if (at + slot < count) {
            const mul_i64 row = mulg_row_at(rows, first, at + slot), begin = p.a_begin[row], end = p.a_end[row];
            degree = (mul_u64)(end - begin);
            if (degree <= DEAL_LONG)
                sum[k] = row_products(p, begin, end, lane, DEAL_LANES);
            else if (lane == 0)
                s.long_row[atomicAdd(&s.longs, 1)] = slot;
        }
        if (lane == 0) s.degree[slot] = degree;
    }
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        for (int d = 1; d < DEAL_LANES; d *= 2)
            sum[k] += __shfl_xor_sync(MULG_ALL, sum[k], d);
        if (lane == 0) s.products[k * DEAL_SLOTS + threadIdx.x / DEAL_LANES] = sum[k];
    }
    __syncthreads();
    for (int i = 0; i < s.longs; i++) {
        const mul_i64 row = mulg_row_at(rows, first, at + s.long_row[i]);
        mul_u64 part = row_products(p, p.a_begin[row], p.a_end[row], threadIdx.x, MULG_THREADS);
        for (int d = 1; d < 32; d *= 2)
            part += __shfl_xor_sync(MULG_ALL, part, d);
        if (threadIdx.x % 32 == 0) atomicAdd(&s.products[s.long_row[i]], part);
    }
    __syncthreads();
}

/* Room for the rows of a batch, one a thread, from one place; answers where this thread's row begins. */
static __device__ mul_u64 take_room(deal_shared &s, mul_u64 bound, mulg_header *header)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    mul_u64 upto = bound, before = 0, all = 0;
    for (int d = 1; d < 32; d *= 2) {
        const mul_u64 y = __shfl_up_sync(MULG_ALL, upto, d);
        if (lane >= d) upto += y;
    }
    if (lane == 31) s.warp_sum[warp] = upto;
    __syncthreads();
    for (int w = 0; w < MULG_WARPS; w++) {
        if (w < warp) before += s.warp_sum[w];
        all += s.warp_sum[w];
    }
    if (threadIdx.x == 0) {
        s.base = all ? atomicAdd(&header->room, all) : 0;
        s.longs = 0;
    }
    __syncthreads();
    return s.base + before + upto - bound;
}

/* Room of rows where some are FLAT: results leave in whole sectors. */
static __device__ __forceinline__ mul_u64 flat_room(const mulg_rules &rules, mul_u64 products)
{
    return ((products < rules.width ? products : rules.width) + 7) & ~(mul_u64)7;
}

/* Deals all of a block's rows at once if none has more entries than a FLAT row: their products are not counted here,
 * their room follows from their entries. */
static __device__ bool deal_flat(const mulg_params &p, const mulg_rules &rules, deal_shared &s, const int64_t *rows,
                                 mul_i64 first, mul_i64 begin, mul_i64 end, unsigned char *bucket,
                                 mulg_header *header)
{
    const mul_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int turns = (int)(end - begin + MULG_THREADS - 1) / MULG_THREADS;
    mul_u32 room[DEAL_FLAT] = {}, upto[DEAL_FLAT] = {}, some = 0;
    bool more = false;
#pragma unroll
    for (int k = 0; k < DEAL_FLAT; k++) {
        if (k >= turns) break;
        const mul_i64 i = begin + k * MULG_THREADS + threadIdx.x, row = i < end ? mulg_row_at(rows, first, i) : 0;
        const mul_u64 degree = i < end ? (mul_u64)(p.a_end[row] - p.a_begin[row]) : 0;
        more |= degree > MULG_FLAT_MOST;
        room[k] = (mul_u32)flat_room(rules, degree * MULG_FLAT_MOST);
    }
    if (threadIdx.x == 0) s.flat_rows = 0;
    if (threadIdx.x < DEAL_FLAT * MULG_WARPS) (&s.flat_sum[0][0])[threadIdx.x] = 0;
    if (__syncthreads_or(more)) return false;
#pragma unroll
    for (int k = 0; k < DEAL_FLAT; k++) {
        if (k >= turns) break;
        upto[k] = mulg_scan(room[k]);
        if (lane == 31) s.flat_sum[k][warp] = upto[k];
        some += __popc(__ballot_sync(MULG_ALL, room[k] != 0));
    }
    if (lane == 0) atomicAdd(&s.flat_rows, some);
    __syncthreads();
    if (warp == 0) {
        const mul_u32 own = (&s.flat_sum[0][0])[lane], sum = mulg_scan(own);
        (&s.flat_sum[0][0])[lane] = sum - own;
        if (lane == 31) s.base = sum ? atomicAdd(&header->room, (mul_u64)sum) : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEAL_FLAT; k++) {
        const mul_i64 i = begin + k * MULG_THREADS + threadIdx.x;
        if (i >= end) break;
        const mul_i64 row = mulg_row_at(rows, first, i);
        p.c_begin[row] = room[k] ? (mul_i64)(s.base + s.flat_sum[k][warp] + upto[k] - room[k]) : 0;
        if (room[k] == 0) p.c_end[row] = 0;
        if (bucket) bucket[i] = room[k] ? (unsigned char)(MULG_LIST_FLAT * MULG_STEPS) : MULG_NO_LIST;
    }
    if (threadIdx.x == 0 && s.flat_rows) atomicAdd(&header->rows[MULG_LIST_FLAT * MULG_STEPS], s.flat_rows);
    return true;
}

template <int TURNS>
static __device__ void deal_rows(const mulg_params &p, const mulg_rules &rules, const int64_t *rows, mul_i64 first,
                                 mul_i64 count, mul_i64 block_rows, unsigned char *bucket, mul_u64 *products,
                                 mulg_header *header)
{
    enum { BATCH = TURNS * DEAL_SLOTS };
    __shared__ deal_shared s;
    const bool flat = mulg_is_flat(rules, header);
    mul_u64 most = 0, sum[MULG_LISTS] = {};
    const mul_i64 begin = (mul_i64)blockIdx.x * block_rows,
                  end = begin + block_rows < count ? begin + block_rows : count;
    if (flat && !rules.exact && p.c_begin && deal_flat(p, rules, s, rows, first, begin, end, bucket, header)) return;
    for (int i = threadIdx.x; i < MULG_BUCKETS; i += MULG_THREADS)
        s.rows[i] = 0;
    if (threadIdx.x == 0) s.longs = 0;
    __syncthreads();
    for (mul_i64 at = begin; at < end; at += BATCH) {
        count_batch<TURNS>(p, s, rows, first, at, end);
        const mul_i64 i = at + threadIdx.x;
        const bool mine = threadIdx.x < BATCH && i < end;
        mul_u64 n = 0, room = 0;
        if (mine) {
            const mul_u64 degree = s.degree[threadIdx.x];
            const bool flat_row = flat && degree && degree <= MULG_FLAT_MOST;
            n = s.products[threadIdx.x];
            most = n > most ? n : most;
            const int list = flat_row ? MULG_LIST_FLAT : mulg_list_of(rules, degree, n), b = mulg_bucket_of(list, n);
            if (bucket) bucket[i] = (unsigned char)b;
            if (products) products[i] = n;
            if (list >= 0) atomicAdd(&s.rows[b], 1u);
            if (list == MULG_LIST_DENSE && mulg_is_wide(rules, degree, n))
                atomicOr(&header->wide, 1u << (b - MULG_LIST_DENSE * MULG_STEPS));
            if (flat_row && !rules.exact) n = 0; /* the kernel counts them */
#pragma unroll
            for (int l = 0; l < MULG_LISTS; l++)
                sum[l] += l == list ? n : 0;
            room = flat_row ? degree * MULG_FLAT_MOST : mulg_room_of(rules, list, n);
            room = mulg_masked_room(p, list, mulg_row_at(rows, first, i), room);
            if (flat) room = flat_room(rules, room);
        }
        const mul_u64 to = take_room(s, room, header);
        if (mine && p.c_begin) {
            const mul_i64 row = mulg_row_at(rows, first, i);
            p.c_begin[row] = room ? (mul_i64)to : 0;
            if (room == 0) p.c_end[row] = 0;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < MULG_BUCKETS; i += MULG_THREADS)
        if (s.rows[i]) atomicAdd(&header->rows[i], s.rows[i]);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int l = 0; l < MULG_LISTS; l++) {
        for (int d = 1; d < 32; d *= 2)
            sum[l] += __shfl_xor_sync(MULG_ALL, sum[l], d);
        if (lane == 0) s.list_sum[l][warp] = sum[l];
    }
    for (int d = 1; d < 32; d *= 2) {
        const mul_u64 y = __shfl_xor_sync(MULG_ALL, most, d);
        most = y > most ? y : most;
    }
    if (lane == 0) s.warp_sum[warp] = most;
    __syncthreads();
    if (threadIdx.x < MULG_LISTS) {
        mul_u64 all = 0;
        for (int w = 0; w < MULG_WARPS; w++)
            all += s.list_sum[threadIdx.x][w];
        if (all) atomicAdd(&header->products[threadIdx.x], all);
    }
    if (threadIdx.x == MULG_LISTS) {
        for (int w = 0; w < MULG_WARPS; w++)
            most = s.warp_sum[w] > most ? s.warp_sum[w] : most;
        if (most > *(volatile mul_u64 *)&header->most) atomicMax(&header->most, most);
    }
}

template <int TURNS>
static __global__ void __launch_bounds__(MULG_THREADS)
    deal_kernel(const __grid_constant__ mulg_params p, const __grid_constant__ mulg_rules rules, const int64_t *rows,
                mul_i64 first, mul_i64 count, mul_i64 block_rows, unsigned char *bucket, mul_u64 *products,
                mulg_header *header, mulg_header *host)
{
    deal_rows<TURNS>(p, rules, rows, first, count, block_rows, bucket, products, header);
    if (host && mulg_last_block(header)) mulg_hand_over(header, host);
}

cudaError_t mulg_deal(const mulg_params &p, const mulg_rules &rules, const int64_t *rows, int64_t first,
                      int64_t count, unsigned char *bucket, mul_u64 *products, mulg_header *header, mulg_header *host,
                      cudaStream_t stream)
{
    const bool few = count < 1 << 17; /* small batches, so that all multiprocessors have some */
    const int64_t batch = few ? (int)DEAL_SLOTS : (int)MULG_THREADS;
    int64_t each = count / 4096 / batch * batch;
    each = each < batch ? batch : each > 4 * batch ? 4 * batch : each;
    const unsigned blocks = mulg_blocks((mul_u64)count, (unsigned)each);
    if (few)
        deal_kernel<1>
            <<<blocks, MULG_THREADS, 0, stream>>>(p, rules, rows, first, count, each, bucket, products, header, host);
    else
        deal_kernel<4>
            <<<blocks, MULG_THREADS, 0, stream>>>(p, rules, rows, first, count, each, bucket, products, header, host);
    return cudaGetLastError();
}

/* --- lists ------------------------------------------------------------------------------------------ */

/* start[b]: where bucket b goes on; zero before. */
static __global__ void __launch_bounds__(1024)
    list_kernel(const int64_t *rows, mul_i64 first, mul_i64 count, const unsigned char *bucket,
                const mulg_header *header, mul_u32 *start, mul_u32 *list)
{
    __shared__ mul_u32 base[MULG_BUCKETS], taken[MULG_BUCKETS];
    for (int i = threadIdx.x; i < MULG_BUCKETS; i += blockDim.x) {
        base[i] = header->rows[i];
        taken[i] = 0;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        enum { EACH = MULG_BUCKETS / 32 };
        mul_u32 own = 0;
        for (int i = 0; i < EACH; i++)
            own += base[threadIdx.x * EACH + i];
        mul_u32 at = mulg_scan(own) - own;
        for (int i = 0; i < EACH; i++) {
            const mul_u32 n = base[threadIdx.x * EACH + i];
            base[threadIdx.x * EACH + i] = at;
            at += n;
        }
    }
    const mul_i64 i = (mul_i64)blockIdx.x * blockDim.x + threadIdx.x;
    const int b = i < count ? bucket[i] : MULG_NO_LIST;
    mul_u32 place = 0;
    if (b != MULG_NO_LIST) place = atomicAdd(&taken[b], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < MULG_BUCKETS; k += blockDim.x)
        if (taken[k]) base[k] += atomicAdd(&start[k], taken[k]);
    __syncthreads();
    if (b != MULG_NO_LIST) list[base[b] + place] = (mul_u32)mulg_row_at(rows, first, i);
}

cudaError_t mulg_list(const int64_t *rows, int64_t first, int64_t count, const unsigned char *bucket,
                      mulg_header *header, mul_u32 *start, mul_u32 *list, cudaStream_t stream)
{
    list_kernel<<<mulg_blocks((mul_u64)count, 1024), 1024, 0, stream>>>(rows, first, count, bucket, header, start,
                                                                        list);
    return cudaGetLastError();
}
