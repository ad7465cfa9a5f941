/* SPDX-License-Identifier: Apache-2.0
 *
 * What comes before the classes: bounds of B's rows packed and clipped, products of each row, rows dealt to lists,
 * room for each row, windows of B. Called by gpu_run.cu.
 */
#include "gpu_host.h"

enum { DEAL_LANES = 4, DEAL_SLOTS = MULG_THREADS / DEAL_LANES, DEAL_LONG = 256 };
enum { LENGTH_MOST = 65535 }; /* of a row of B as the short list of lengths holds it: then look at its bounds */

static unsigned blocks_for(mul_u64 items, unsigned each, unsigned most)
{
    const mul_u64 blocks = (items + each - 1) / each;
    return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

/* Adds x over the block to *to. */
static __device__ __forceinline__ void add_block(mul_u64 *to, mul_u64 x)
{
    __shared__ mul_u64 sum[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_xor_sync(MULG_ALL, x, d);
    if (lane == 0) sum[warp] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < warps; w++)
            x += sum[w];
        if (x) atomicAdd(to, x);
    }
}

static __global__ void bounds_kernel(const mul_i64 *begin, const mul_i64 *end, const mul_u32 *column, mul_u32 rows,
                                     bool clip, mul_u64 t_lo, mul_u64 t_hi, uint2 *bound, unsigned short *length,
                                     mulg_header *header)
{
    const mul_u32 r = blockIdx.x * blockDim.x + threadIdx.x;
    uint2 x = make_uint2(0, 0);
    if (r < rows) {
        x = make_uint2((mul_u32)begin[r], (mul_u32)end[r]);
        if (clip) {
            x.x = mulg_search(column, x.x, x.y, t_lo);
            x.y = mulg_search(column, x.x, x.y, t_hi);
        }
        bound[r] = x;
        length[r] = (unsigned short)min(x.y - x.x, (mul_u32)LENGTH_MOST);
    }
    if (__syncthreads_or(x.y - x.x > MULG_PLACE_LONG) && threadIdx.x == 0) header->b_long = 1;
    add_block(&header->b_entries, x.y - x.x);
}

cudaError_t mulg_bounds(const lacis_mul_matrix *b, int64_t t_lo, int64_t t_hi, uint2 *bound, unsigned short *length,
                        mulg_header *header, cudaStream_t stream)
{
    if (b->rows == 0) return cudaSuccess;
    bounds_kernel<<<blocks_for(b->rows, 1024, 1u << 30), 1024, 0, stream>>>(
        (const mul_i64 *)b->begin, (const mul_i64 *)b->end, b->column, (mul_u32)b->rows, t_lo > 0 || t_hi < b->cols,
        (mul_u64)t_lo, (mul_u64)t_hi, bound, length, header);
    return cudaGetLastError();
}

/* --- B packed for tiny rows --------------------------------------------------------------------------- */

/* Each row as (column, value) pairs from a multiple of 64 bytes on, in any order of rows: a short row is then one or
 * two sectors and one load, where columns and values apart, lying anywhere, are four. place[r] is first entry / 8 <<
 * 5 | length. */
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
    pack_kernel<<<blocks_for((mul_u64)rows, 256, 1u << 30), 256, 0, stream>>>(
        p.b_bound, p.b_column, (const mul_u32 *)p.b_value, (mul_u32)rows, place, pair, header);
    return cudaGetLastError();
}

/* --- products, lists, room -------------------------------------------------------------------------- */

/* 2 log2(x), rounded down. */
static __device__ __forceinline__ int half_octaves(mul_u64 x)
{
    const int top = 63 - __clzll((long long)x);
    return 2 * top + (top > 0 && (x >> (top - 1) & 1) ? 1 : 0);
}

static __device__ __forceinline__ int list_of(const mulg_rules &rules, mul_u64 degree, mul_u64 products)
{
    const bool tiny = products <= MULG_TINY && degree <= MULG_TINY_DEGREE;
    if (products == 0) return -1;
    if (rules.force == LACIS_MUL_GPU_TINY && tiny) return MULG_LIST_TINY;
    if ((rules.force == LACIS_MUL_GPU_DENSE || rules.force == LACIS_MUL_GPU_HUB) && rules.dense)
        return MULG_LIST_DENSE;
    if (rules.force == LACIS_MUL_GPU_MIDDLE) return products < rules.large_from ? MULG_LIST_SMALL : MULG_LIST_LARGE;
    if (degree == 1) return MULG_LIST_COPY;
    if (tiny) return rules.pairs && degree <= MULG_PAIR_DEGREE ? MULG_LIST_PAIR : MULG_LIST_TINY;
    if (rules.dense && products >= rules.dense_from) return MULG_LIST_DENSE;
    return products < rules.large_from ? MULG_LIST_SMALL : MULG_LIST_LARGE;
}

/* Entries that may be stored of a row. */
static __device__ __forceinline__ mul_u64 room_of(const mulg_rules &rules, int list, mul_u64 products)
{
    mul_u64 room = products < rules.width ? products : rules.width, most = room;
    if (rules.counted && list >= MULG_LIST_SMALL) return 0;
    if (rules.top_room > 0 && list == MULG_LIST_DENSE) most = rules.top_windows * rules.top_room;
    if (rules.top_room > 0 && (list == MULG_LIST_SMALL || list == MULG_LIST_LARGE))
        most = (rules.top_passes + products / MULG_TOP_CELLS) * rules.top_room;
    return room < most ? room : most;
}

static __device__ __forceinline__ int bucket_of(int list, mul_u64 products)
{
    if (list < 0) return MULG_NO_LIST;
    if (list == MULG_LIST_TINY || list == MULG_LIST_PAIR) return list * MULG_STEPS;
    int step = half_octaves(products) - (list == MULG_LIST_DENSE ? 20 : list == MULG_LIST_COPY ? 0 : 8);
    step = step < 0 ? 0 : step > MULG_STEPS - 1 ? MULG_STEPS - 1 : step;
    return list * MULG_STEPS + (MULG_STEPS - 1 - step);
}

struct deal_shared {
    mul_u64 products[MULG_THREADS], degree[MULG_THREADS], warp_sum[MULG_WARPS], base;
    mul_u64 list_sum[MULG_LISTS][MULG_WARPS];
    mul_u32 rows[MULG_BUCKETS];
    int longs, long_row[MULG_THREADS];
};

static __device__ mul_u64 row_products(const mulg_params &p, mul_i64 begin, mul_i64 end, int from, int step)
{
    mul_u64 sum = 0;
#pragma unroll 4
    for (mul_i64 i = begin + from; i < end; i += step) {
        const mul_u32 c = __ldg(p.a_column + i), length = __ldg(p.b_length + c);
        if (length < LENGTH_MOST)
            sum += length;
        else {
            const uint2 bound = __ldg(p.b_bound + c);
            sum += bound.y - bound.x;
        }
    }
    return sum;
}

static __device__ __forceinline__ mul_i64 row_at(const int64_t *rows, mul_i64 first, mul_i64 i)
{
    return rows ? (mul_i64)rows[i] : first + i;
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
            const mul_i64 row = row_at(rows, first, at + slot), begin = p.a_begin[row], end = p.a_end[row];
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
        const mul_i64 row = row_at(rows, first, at + s.long_row[i]);
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

template <int TURNS>
static __global__ void __launch_bounds__(MULG_THREADS)
    deal_kernel(const __grid_constant__ mulg_params p, const __grid_constant__ mulg_rules rules, const int64_t *rows,
                mul_i64 first, mul_i64 count, mul_i64 block_rows, unsigned char *bucket, mul_u64 *products,
                mulg_header *header)
{
    enum { BATCH = TURNS * DEAL_SLOTS };
    __shared__ deal_shared s;
    mul_u64 most = 0, sum[MULG_LISTS] = {};
    for (int i = threadIdx.x; i < MULG_BUCKETS; i += MULG_THREADS)
        s.rows[i] = 0;
    if (threadIdx.x == 0) s.longs = 0;
    __syncthreads();
    const mul_i64 begin = (mul_i64)blockIdx.x * block_rows,
                  end = begin + block_rows < count ? begin + block_rows : count;
    for (mul_i64 at = begin; at < end; at += BATCH) {
        count_batch<TURNS>(p, s, rows, first, at, end);
        const mul_i64 i = at + threadIdx.x;
        const bool mine = threadIdx.x < BATCH && i < end;
        mul_u64 n = 0, room = 0;
        if (mine) {
            n = s.products[threadIdx.x];
            most = n > most ? n : most;
            const int list = list_of(rules, s.degree[threadIdx.x], n), b = bucket_of(list, n);
            room = room_of(rules, list, n);
            if (bucket) bucket[i] = (unsigned char)b;
            if (products) products[i] = n;
            if (list >= 0) atomicAdd(&s.rows[b], 1u);
#pragma unroll
            for (int l = 0; l < MULG_LISTS; l++)
                sum[l] += l == list ? n : 0;
        }
        const mul_u64 to = take_room(s, room, header);
        if (mine && p.c_begin) {
            const mul_i64 row = row_at(rows, first, i);
            p.c_begin[row] = n ? (mul_i64)to : 0;
            if (n == 0) p.c_end[row] = 0;
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

cudaError_t mulg_deal(const mulg_params &p, const mulg_rules &rules, const int64_t *rows, int64_t first,
                      int64_t count, unsigned char *bucket, mul_u64 *products, mulg_header *header,
                      cudaStream_t stream)
{
    const bool few = count < 1 << 17; /* small batches, so that all multiprocessors have some */
    const int64_t batch = few ? (int)DEAL_SLOTS : (int)MULG_THREADS;
    int64_t each = count / 4096 / batch * batch;
    each = each < batch ? batch : each > 4 * batch ? 4 * batch : each;
    const unsigned blocks = blocks_for((mul_u64)count, (unsigned)each, 1u << 30);
    if (few)
        deal_kernel<1>
            <<<blocks, MULG_THREADS, 0, stream>>>(p, rules, rows, first, count, each, bucket, products, header);
    else
        deal_kernel<4>
            <<<blocks, MULG_THREADS, 0, stream>>>(p, rules, rows, first, count, each, bucket, products, header);
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
    if (b != MULG_NO_LIST) list[base[b] + place] = (mul_u32)row_at(rows, first, i);
}

cudaError_t mulg_list(const int64_t *rows, int64_t first, int64_t count, const unsigned char *bucket,
                      mulg_header *header, mul_u32 *start, mul_u32 *list, cudaStream_t stream)
{
    list_kernel<<<blocks_for((mul_u64)count, 1024, 1u << 30), 1024, 0, stream>>>(rows, first, count, bucket, header,
                                                                                 start, list);
    return cudaGetLastError();
}

/* --- windows of B ----------------------------------------------------------------------------------- */

static __global__ void cuts_kernel(const __grid_constant__ mulg_params p, mul_u64 items, mul_u32 window_width,
                                   mul_u32 *cut)
{
    const mul_u64 i = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= items) return;
    const mul_u32 c = (mul_u32)(i / (p.windows + 1)), w = (mul_u32)(i - (mul_u64)c * (p.windows + 1));
    const uint2 bound = __ldg(p.b_bound + c);
    cut[i] = w == 0           ? bound.x
             : w == p.windows ? bound.y
                              : mulg_search(p.b_column, bound.x, bound.y, p.t_lo + (mul_u64)w * window_width);
}

cudaError_t mulg_cuts(const mulg_params &p, int64_t rows, mul_u32 window_width, mul_u32 *cut, cudaStream_t stream)
{
    const mul_u64 items = (mul_u64)rows * (p.windows + 1);
    cuts_kernel<<<blocks_for(items, 256, 1u << 30), 256, 0, stream>>>(p, items, window_width, cut);
    return cudaGetLastError();
}
