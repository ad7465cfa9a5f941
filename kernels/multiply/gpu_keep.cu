/* SPDX-License-Identifier: Apache-2.0
 *
 * MASK and TOP: entries of computed rows that do not stay are taken out, in place: a warp a row, a block for
 * long rows. The k-th greatest value of a long row is found by histograms over ever narrower ranges of keys, of a
 * short one bit by bit; equal values stay by rising column. Called by gpu_run.cu between the classes and
 * mulg_compact_*.
 */
#include "gpu_con.cuh"
#include "gpu_host.h"
#include "gpu_key.cuh"

enum { BINS = 1024, KEEP_WARPS = MULG_THREADS / 32, SHORT_EACH = 8, SHORT = 32 * SHORT_EACH };

struct keep_shared {
    mul_u32 bin[BINS], warp_sum[KEEP_WARPS], chosen, above, kept;
    mul_u64 low[KEEP_WARPS], high[KEEP_WARPS];
    mul_u32 task;
};

struct keep_params {
    const int64_t *rows;
    mul_i64 first, count;
    const int64_t *begin;
    int64_t *end;
    mul_u32 *column;
    void *value;
    const int64_t *mask_begin, *mask_end; /* NULL: no mask */
    const mul_u32 *mask_column;
    bool mask_not;
    mul_u64 top; /* 0: all */
    mul_u64 *entries;
    mul_u32 *long_list, *long_rows; /* rows left to blocks */
    mul_u32 *next;
};

template <class V> static __device__ __forceinline__ mul_u64 key_of(V v)
{
    return mulg_key_of(v);
}
template <> __device__ __forceinline__ mul_u64 key_of(ulonglong2)
{
    return 0;
}

static __device__ bool in_mask(const keep_params &p, mul_i64 row, mul_u32 t)
{
    mul_i64 lo = p.mask_begin[row], hi = p.mask_end[row];
    const mul_i64 last = hi;
    while (lo < hi) {
        const mul_i64 middle = lo + (hi - lo) / 2;
        if (p.mask_column[middle] < t)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < last && p.mask_column[lo] == t;
}

/* Keeps what keep(i) answers true for, in order; answers the new end. All threads call it. */
template <class V, class F>
static __device__ mul_i64 squeeze(const keep_params &p, keep_shared &s, mul_i64 begin, mul_i64 end, F keep)
{
    const mul_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    V *const value = (V *)p.value;
    mul_i64 to = begin;
    for (mul_i64 from = begin; from < end; from += MULG_THREADS) {
        const mul_i64 i = from + threadIdx.x;
        mul_u32 t = 0;
        V v = V();
        bool stays = false;
        if (i < end) {
            t = p.column[i];
            v = value[i];
            stays = keep(t, v);
        }
        const mul_u32 votes = __ballot_sync(MULG_ALL, stays);
        if (lane == 0) s.warp_sum[warp] = __popc(votes);
        __syncthreads();
        mul_u32 before = 0, all = 0;
        for (int w = 0; w < KEEP_WARPS; w++) {
            if (w < warp) before += s.warp_sum[w];
            all += s.warp_sum[w];
        }
        if (stays) {
            const mul_i64 at = to + before + __popc(votes & mulg_lanes_below());
            p.column[at] = t;
            value[at] = v;
        }
        to += all;
        __syncthreads();
    }
    return to;
}

/* The key of the k-th greatest entry, and in s.above how many are greater. */
template <class V>
static __device__ mul_u64 select(const keep_params &p, keep_shared &s, mul_i64 begin, mul_i64 end, mul_u32 k)
{
    const mul_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const V *const value = (const V *)p.value;
    mul_u64 low = ~0ull, high = 0;
    mul_u32 above = 0;
    for (mul_i64 i = begin + threadIdx.x; i < end; i += MULG_THREADS) {
        const mul_u64 key = key_of(value[i]);
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    for (int d = 16; d > 0; d /= 2) {
        const mul_u64 x = __shfl_xor_sync(MULG_ALL, low, d), y = __shfl_xor_sync(MULG_ALL, high, d);
        low = x < low ? x : low;
        high = y > high ? y : high;
    }
    if (lane == 0) {
        s.low[warp] = low;
        s.high[warp] = high;
    }
    __syncthreads();
    for (int w = 0; w < KEEP_WARPS; w++) {
        low = s.low[w] < low ? s.low[w] : low;
        high = s.high[w] > high ? s.high[w] : high;
    }
    while (low < high) {
        const int bits = 64 - __clzll((long long)(high - low)), shift = bits > 10 ? bits - 10 : 0;
        for (int i = threadIdx.x; i < BINS; i += MULG_THREADS)
            s.bin[i] = 0;
        __syncthreads();
        for (mul_i64 i = begin + threadIdx.x; i < end; i += MULG_THREADS) {
            const mul_u64 key = key_of(value[i]);
            if (key >= low && key <= high) atomicAdd(&s.bin[(key - low) >> shift], 1u);
        }
        __syncthreads();
        if (warp == 0) { /* from the greatest bin down, 32 at a time */
            mul_u32 seen = above;
            for (int group = BINS - 32; group >= 0; group -= 32) {
                const mul_u32 n = s.bin[group + 31 - lane], upto = mulg_scan(n);
                const mul_u32 found = __ballot_sync(MULG_ALL, seen + upto >= k);
                if (found) {
                    const int at = __ffs((int)found) - 1;
                    if (lane == at) {
                        s.chosen = group + 31 - lane;
                        s.above = seen + upto - n;
                    }
                    break;
                }
                seen += __shfl_sync(MULG_ALL, upto, 31);
            }
        }
        __syncthreads();
        above = s.above;
        low += (mul_u64)s.chosen << shift;
        const mul_u64 rest = (1ull << shift) - 1;
        if (high - low > rest) high = low + rest;
        __syncthreads();
    }
    if (threadIdx.x == 0) s.above = above;
    __syncthreads();
    return low;
}

template <class V>
static __device__ mul_i64 keep_top(const keep_params &p, keep_shared &s, mul_i64 begin, mul_i64 end)
{
    if ((mul_u64)(end - begin) <= p.top) return end;
    const mul_u64 key = select<V>(p, s, begin, end, (mul_u32)p.top);
    const mul_u32 ties = (mul_u32)p.top - s.above, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    mul_u32 tied = 0; /* of equal ones so far */
    V *const value = (V *)p.value;
    mul_i64 to = begin;
    for (mul_i64 from = begin; from < end; from += MULG_THREADS) {
        const mul_i64 i = from + threadIdx.x;
        mul_u32 t = 0;
        V v = V();
        mul_u64 own = 0;
        if (i < end) {
            t = p.column[i];
            v = value[i];
            own = key_of(v);
        }
        const bool more = i < end && own > key, same = i < end && own == key;
        const mul_u32 greater = __ballot_sync(MULG_ALL, more), equal = __ballot_sync(MULG_ALL, same);
        __syncthreads();
        if (lane == 0) s.warp_sum[warp] = __popc(greater) | (mul_u32)__popc(equal) << 16;
        __syncthreads();
        mul_u32 before = 0, all = 0;
        for (int w = 0; w < KEEP_WARPS; w++) {
            if (w < warp) before += s.warp_sum[w];
            all += s.warp_sum[w];
        }
        const mul_u32 equal_before = (before >> 16) + __popc(equal & mulg_lanes_below());
        const mul_u32 greater_before = (before & 0xffff) + __popc(greater & mulg_lanes_below());
        const mul_u32 left = ties - tied, taken_before = equal_before < left ? equal_before : left;
        if (more || (same && equal_before < left)) {
            p.column[to + greater_before + taken_before] = t;
            value[to + greater_before + taken_before] = v;
        }
        const mul_u32 taken = (all >> 16) < left ? all >> 16 : left;
        to += (all & 0xffff) + taken;
        tied += taken;
    }
    __syncthreads();
    return to;
}

/* A row of up to SHORT entries, in the registers of a warp; answers its new end. */
template <class V> static __device__ mul_i64 keep_short(const keep_params &p, mul_i64 row, mul_i64 begin, mul_i64 end)
{
    const mul_u32 lane = threadIdx.x % 32, n = (mul_u32)(end - begin);
    V *const value = (V *)p.value + begin;
    mul_u32 *const column = p.column + begin;
    mul_u32 t[SHORT_EACH], stays = 0, kept = 0; /* stays: bit e */
    V v[SHORT_EACH];
    mul_u64 key[SHORT_EACH], low = ~0ull, high = 0;
#pragma unroll
    for (int e = 0; e < SHORT_EACH; e++) {
        const mul_u32 i = lane + 32 * e;
        bool stay = i < n;
        key[e] = 0;
        if (stay) {
            t[e] = column[i];
            v[e] = value[i];
            stay = !p.mask_begin || in_mask(p, row, t[e]) != p.mask_not;
        }
        if (stay) {
            key[e] = key_of(v[e]);
            stays |= 1u << e;
            low = key[e] < low ? key[e] : low;
            high = key[e] > high ? key[e] : high;
        }
        kept += __popc(__ballot_sync(MULG_ALL, stay));
    }
    mul_u32 ties = ~0u; /* entries of the least key that stay */
    mul_u64 least = 0;
    if (p.top && kept > p.top) {
        for (int d = 16; d > 0; d /= 2) {
            const mul_u64 x = __shfl_xor_sync(MULG_ALL, low, d), y = __shfl_xor_sync(MULG_ALL, high, d);
            low = x < low ? x : low;
            high = y > high ? y : high;
        }
        const int bits = low == high ? 0 : 64 - __clzll((long long)(low ^ high));
        least = bits == 64 ? 0 : low >> bits << bits;
        mul_u32 above = 0;
        for (int bit = bits - 1; bit >= 0; bit--) {
            const mul_u64 next = least | 1ull << bit;
            mul_u32 count = 0;
#pragma unroll
            for (int e = 0; e < SHORT_EACH; e++)
                count += __popc(__ballot_sync(MULG_ALL, (stays >> e & 1) && key[e] >= next));
            if (count >= p.top) least = next;
        }
#pragma unroll
        for (int e = 0; e < SHORT_EACH; e++)
            above += __popc(__ballot_sync(MULG_ALL, (stays >> e & 1) && key[e] > least));
        ties = (mul_u32)p.top - above;
    }
    mul_u32 to = 0, tied = 0;
    __syncwarp();
#pragma unroll
    for (int e = 0; e < SHORT_EACH; e++) {
        const bool live = stays >> e & 1, same = live && key[e] == least && ties != ~0u;
        const mul_u32 equal = __ballot_sync(MULG_ALL, same);
        const bool stay = live && (same ? tied + __popc(equal & mulg_lanes_below()) < ties : key[e] >= least);
        const mul_u32 votes = __ballot_sync(MULG_ALL, stay);
        if (stay) {
            column[to + __popc(votes & mulg_lanes_below())] = t[e];
            value[to + __popc(votes & mulg_lanes_below())] = v[e];
        }
        to += __popc(votes);
        tied += __popc(equal);
    }
    return begin + to;
}

template <class V>
static __global__ void __launch_bounds__(MULG_THREADS) short_kernel(const __grid_constant__ keep_params p)
{
    mul_u64 kept = 0;
    for (mul_i64 i = (mul_i64)blockIdx.x * KEEP_WARPS + threadIdx.x / 32; i < p.count;
         i += (mul_i64)gridDim.x * KEEP_WARPS) {
        const mul_i64 row = p.rows ? (mul_i64)p.rows[i] : p.first + i, begin = p.begin[row], end = p.end[row];
        if (end - begin > SHORT) {
            if (threadIdx.x % 32 == 0) p.long_list[atomicAdd(p.long_rows, 1u)] = (mul_u32)row;
            continue;
        }
        const mul_i64 last = end == begin ? end : keep_short<V>(p, row, begin, end);
        if (threadIdx.x % 32 == 0) {
            p.end[row] = last;
            kept += (mul_u64)(last - begin);
        }
    }
    if (kept) atomicAdd(p.entries, kept);
}

template <class V>
static __global__ void __launch_bounds__(MULG_THREADS) long_kernel(const __grid_constant__ keep_params p)
{
    __shared__ keep_shared s;
    const mul_u32 rows = *p.long_rows;
    mul_u64 kept = 0;
    for (;;) {
        if (threadIdx.x == 0) s.task = atomicAdd(p.next, 1u);
        __syncthreads();
        const mul_u32 i = s.task;
        __syncthreads();
        if (i >= rows) break;
        const mul_i64 row = p.long_list[i], begin = p.begin[row];
        mul_i64 end = p.end[row];
        if (p.mask_begin)
            end = squeeze<V>(p, s, begin, end, [&](mul_u32 t, V) { return in_mask(p, row, t) != p.mask_not; });
        if (p.top) end = keep_top<V>(p, s, begin, end);
        if (threadIdx.x == 0) p.end[row] = end;
        kept += (mul_u64)(end - begin);
    }
    if (threadIdx.x == 0 && kept) atomicAdd(p.entries, kept);
}

cudaError_t mulg_keep(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first, int64_t count,
                      const lacis_mul_gpu_output *out, mulg_header *header, mul_u32 *list, int multiprocessors,
                      cudaStream_t stream)
{
    keep_params p = {};
    p.rows = rows;
    p.first = first;
    p.count = count;
    p.begin = out->begin;
    p.end = out->end;
    p.column = out->column;
    p.value = out->value;
    if (job->mask) {
        p.mask_begin = job->mask->begin;
        p.mask_end = job->mask->end;
        p.mask_column = job->mask->column;
        p.mask_not = job->mask_not;
    }
    p.top = job->top > 0 ? (mul_u64)job->top : 0;
    p.entries = &header->kept;
    p.next = &header->keep_next;
    p.long_list = list;
    p.long_rows = &header->long_rows;
    const unsigned blocks = (unsigned)multiprocessors * 8;
#define KEEP(V)                                                                                                      \
    short_kernel<V><<<blocks, MULG_THREADS, 0, stream>>>(p);                                                         \
    long_kernel<V><<<blocks, MULG_THREADS, 0, stream>>>(p)
    switch (job->storage) {
    case LACIS_MUL_TO_U8:
        KEEP(unsigned char);
        break;
    case LACIS_MUL_TO_U16:
        KEEP(unsigned short);
        break;
    case LACIS_MUL_TO_U32:
        KEEP(mul_u32);
        break;
    case LACIS_MUL_TO_I32:
        KEEP(int);
        break;
    case LACIS_MUL_TO_I64:
        KEEP(mul_i64);
        break;
    case LACIS_MUL_TO_F32:
        KEEP(float);
        break;
    case LACIS_MUL_TO_F64:
        KEEP(double);
        break;
    case LACIS_MUL_TO_C128: /* has no order: MASK alone */
        KEEP(ulonglong2);
        break;
    }
#undef KEEP
    return cudaGetLastError();
}
