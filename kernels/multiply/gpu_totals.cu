/* SPDX-License-Identifier: Apache-2.0
 *
 * gpu_summary.h: one walk over the rows of a result, warps taking short rows and blocks long ones, each thread
 * keeping a tally; tallies merged in shared memory, blocks' by one block at the end. Sums of reals go another way,
 * since their order counts: a sum a row, then one a group of rows.
 */
#include "gpu_summary.h"

#include <cuda_runtime.h>
#include <math.h>

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    ROWS = 16,       /* that a block takes at a time */
    LONG_ROW = 2048, /* entries: from here on for a whole block */
    MOST_BLOCKS = 1024
};

typedef lacis_mul_gpu_summary tally;

static __device__ void clear(tally *t)
{
    t->count = t->nan = 0;
    t->value = t->src = t->dst = 0;
    t->min_int = INT64_MAX;
    t->max_int = INT64_MIN;
    t->min = INFINITY;
    t->max = -INFINITY;
    t->min_column = UINT32_MAX;
    t->max_column = 0;
    t->first_row = INT64_MAX;
    t->last_row = INT64_MIN;
}

static __device__ void merge(tally *to, const tally *from)
{
    to->count += from->count;
    to->nan += from->nan;
    to->value += from->value;
    to->src += from->src;
    to->dst += from->dst;
    to->min_int = from->min_int < to->min_int ? from->min_int : to->min_int;
    to->max_int = from->max_int > to->max_int ? from->max_int : to->max_int;
    to->min = from->min < to->min ? from->min : to->min;
    to->max = from->max > to->max ? from->max : to->max;
    to->min_column = from->min_column < to->min_column ? from->min_column : to->min_column;
    to->max_column = from->max_column > to->max_column ? from->max_column : to->max_column;
    to->first_row = from->first_row < to->first_row ? from->first_row : to->first_row;
    to->last_row = from->last_row > to->last_row ? from->last_row : to->last_row;
}

/* The block's tallies into one, which thread 0 writes. */
static __device__ void merge_block(tally *all, const tally *mine, tally *out)
{
    all[threadIdx.x] = *mine;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < step) merge(&all[threadIdx.x], &all[threadIdx.x + step]);
    }
    if (threadIdx.x == 0) *out = all[0];
}

struct rows {
    const int64_t *begin, *end; /* by the row of A */
    const uint32_t *column;
    int64_t first, count;
    lacis_mul_gpu_keys keys;
    double *row_sum; /* reals: one a row */
};

/* What a thread has of values and columns besides its tally: narrower, since it is added to for each entry. */
struct sums {
    int64_t whole, high; /* integers; of 64-bit ones the halves */
    uint64_t column;
};

static __device__ __forceinline__ void take_value(int64_t v, bool wide, tally *t, sums *s)
{
    s->whole += wide ? v & 0xffffffff : v;
    if (wide) s->high += v >> 32;
    t->min_int = v < t->min_int ? v : t->min_int;
    t->max_int = v > t->max_int ? v : t->max_int;
}

static __device__ __forceinline__ void take_real(double v, tally *t, double *sum)
{
    const bool number = v == v;
    *sum += number ? v : 0;
    t->nan += !number;
    t->min = v < t->min ? v : t->min;
    t->max = v > t->max ? v : t->max;
}

template <class V> struct is_real {
    static const bool yes = false;
};
template <> struct is_real<float> {
    static const bool yes = true;
};
template <> struct is_real<double> {
    static const bool yes = true;
};

/* Entries lane, lane + lanes ... of a row; answers the sum of real ones. */
template <class V>
static __device__ __forceinline__ double walk(const rows &r, const V *value, int64_t begin, int64_t end, int lane,
                                              int lanes, tally *t, sums *s)
{
    double sum = 0;
#pragma unroll 4
    for (int64_t at = begin + lane; at < end; at += lanes) {
        const uint32_t column = r.column[at];
        if (r.keys.column)
            t->dst += r.keys.column[column];
        else
            s->column += column;
        if (is_real<V>::yes)
            take_real((double)value[at], t, &sum);
        else
            take_value((int64_t)value[at], sizeof(V) == 8, t, s);
    }
    return sum;
}

static __device__ __forceinline__ double sum_warp(double sum)
{
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    return sum;
}

/* By one thread a row. */
static __device__ void take_row(const rows &r, int64_t i, int64_t begin, int64_t end, double sum, tally *t)
{
    const int64_t row = r.first + i, length = end - begin;
    if (r.row_sum) r.row_sum[i] = sum;
    if (length == 0) return;
    t->count += (uint64_t)length;
    t->src += (__int128)(r.keys.row ? r.keys.row[row] : r.keys.row_base + row) * length;
    t->min_column = min(t->min_column, r.column[begin]);
    t->max_column = max(t->max_column, r.column[end - 1]);
    t->first_row = min(t->first_row, row);
    t->last_row = max(t->last_row, row);
}

template <class V> static __device__ void short_rows(const rows &r, const V *value, int64_t base, tally *t, sums *s)
{
    const int lane = threadIdx.x % 32;
    for (int64_t i = base + threadIdx.x / 32; i < base + ROWS && i < r.count; i += WARPS) {
        const int64_t begin = r.begin[r.first + i], end = r.end[r.first + i];
        if (end - begin >= LONG_ROW) continue;
        const double sum = sum_warp(walk(r, value, begin, end, lane, 32, t, s));
        if (lane == 0) take_row(r, i, begin, end, sum, t);
    }
}

template <class V>
static __device__ void long_rows(const rows &r, const V *value, int64_t base, double *part, tally *t, sums *s)
{
    for (int64_t i = base; i < base + ROWS && i < r.count; i++) {
        const int64_t begin = r.begin[r.first + i], end = r.end[r.first + i];
        if (end - begin < LONG_ROW) continue;
        const double sum = sum_warp(walk(r, value, begin, end, (int)threadIdx.x, THREADS, t, s));
        __syncthreads();
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x > 0) continue;
        double all = 0;
        for (int w = 0; w < WARPS; w++)
            all += part[w];
        take_row(r, i, begin, end, all, t);
    }
}

template <class V> static __global__ void __launch_bounds__(THREADS) rows_kernel(rows r, const V *value, tally *out)
{
    __shared__ tally all[THREADS];
    __shared__ double part[WARPS];
    tally mine;
    sums s = {0, 0, 0};
    clear(&mine);
    for (int64_t base = (int64_t)blockIdx.x * ROWS; base < r.count; base += (int64_t)gridDim.x * ROWS) {
        short_rows(r, value, base, &mine, &s);
        long_rows(r, value, base, part, &mine, &s);
    }
    mine.value = ((__int128)s.high << 32) + s.whole;
    mine.dst += s.column;
    merge_block(all, &mine, &out[blockIdx.x]);
}

static __global__ void blocks_kernel(const tally *block, int blocks, tally *out)
{
    __shared__ tally all[THREADS];
    tally mine;
    clear(&mine);
    for (int i = (int)threadIdx.x; i < blocks; i += THREADS)
        merge(&mine, &block[i]);
    merge_block(all, &mine, out);
}

/* A block a group: a tree over its rows by their number. */
static __global__ void groups_kernel(int64_t first, int64_t count, const double *row_sum, double *group)
{
    __shared__ double part[THREADS];
    const int64_t row = (first / THREADS + blockIdx.x) * THREADS + threadIdx.x;
    part[threadIdx.x] = row >= first && row < first + count ? row_sum[row - first] : 0;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) group[blockIdx.x] = part[0];
}

/* ------------------------------------------------------------------------------------------------ host */

static_assert((int)LACIS_MUL_GPU_GROUP == (int)THREADS, "a thread a row");

int64_t lacis_mul_gpu_groups(int64_t first, int64_t count)
{
    return count <= 0 ? 0 : (first + count - 1) / LACIS_MUL_GPU_GROUP - first / LACIS_MUL_GPU_GROUP + 1;
}

uint64_t lacis_mul_gpu_summary_bytes(int64_t count)
{
    const uint64_t groups = (uint64_t)count / LACIS_MUL_GPU_GROUP + 2;
    return (MOST_BLOCKS + 1) * sizeof(tally) + (groups + (uint64_t)count) * sizeof(double) + 512;
}

static void launch(lacis_mul_storage storage, const rows &r, const void *value, unsigned blocks, tally *out,
                   cudaStream_t stream)
{
#define ROWS_OF(V) rows_kernel<V><<<blocks, THREADS, 0, stream>>>(r, (const V *)value, out)
    switch (storage) {
    case LACIS_MUL_TO_U8:
        return ROWS_OF(uint8_t);
    case LACIS_MUL_TO_U16:
        return ROWS_OF(uint16_t);
    case LACIS_MUL_TO_U32:
        return ROWS_OF(uint32_t);
    case LACIS_MUL_TO_I32:
        return ROWS_OF(int32_t);
    case LACIS_MUL_TO_I64:
        return ROWS_OF(int64_t);
    case LACIS_MUL_TO_F32:
        return ROWS_OF(float);
    default: /* LACIS_MUL_TO_F64: others have no totals */
        return ROWS_OF(double);
    }
#undef ROWS_OF
}

static cudaError_t fetch(const tally *summary_at, lacis_mul_gpu_summary *summary, const double *group_at,
                         double *group, int64_t groups, cudaStream_t stream)
{
    cudaError_t code = cudaGetLastError();
    if (!code) code = cudaMemcpyAsync(summary, summary_at, sizeof *summary, cudaMemcpyDeviceToHost, stream);
    if (!code && group)
        code = cudaMemcpyAsync(group, group_at, (size_t)groups * sizeof *group, cudaMemcpyDeviceToHost, stream);
    return code ? code : cudaStreamSynchronize(stream);
}

lacis_mul_gpu_status lacis_mul_gpu_summarize(const lacis_mul_gpu_job *job, const lacis_mul_gpu_keys *keys,
                                             int64_t first, int64_t count, lacis_mul_gpu_output *out,
                                             lacis_mul_gpu_summary *summary, double *group)
{
    summary->count = 0;
    if (out->entries == 0) {
        for (int64_t i = 0; group && i < lacis_mul_gpu_groups(first, count); i++)
            group[i] = 0;
        return LACIS_MUL_GPU_OK;
    }
    cudaStream_t stream = (cudaStream_t)job->stream;
    tally *block = (tally *)job->memory.alloc(job->memory.context, lacis_mul_gpu_summary_bytes(count));
    if (!block) return LACIS_MUL_GPU_NO_MEMORY;
    const int64_t wanted = (count + ROWS - 1) / ROWS, groups = lacis_mul_gpu_groups(first, count);
    const unsigned blocks = (unsigned)(wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);
    double *group_at = (double *)(block + MOST_BLOCKS + 1);
    const rows r = {out->begin, out->end, out->column, first, count, *keys, group ? group_at + groups : NULL};
    launch(job->storage, r, out->value, blocks, block + 1, stream);
    blocks_kernel<<<1, THREADS, 0, stream>>>(block + 1, (int)blocks, block);
    if (group) groups_kernel<<<(unsigned)groups, THREADS, 0, stream>>>(first, count, r.row_sum, group_at);
    const cudaError_t code = fetch(block, summary, group_at, group, groups, stream);
    job->memory.free(job->memory.context, block);
    out->cuda_error = (int)code;
    return code ? LACIS_MUL_GPU_FAILED : LACIS_MUL_GPU_OK;
}
