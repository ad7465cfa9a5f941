/* SPDX-License-Identifier: Apache-2.0
 *
 * Loose rows moved together, in the order of the list. Called by gpu_run.cu where a job asks for it.
 */
#include "gpu_host.h"

#include <cub/device/device_scan.cuh>

enum { MOVE_ENTRIES = 4096 };

static __device__ __forceinline__ mul_i64 row_at(const int64_t *rows, mul_i64 first, mul_i64 i)
{
    return rows ? (mul_i64)rows[i] : first + i;
}

static __global__ void lengths_kernel(const int64_t *rows, mul_i64 first, mul_i64 count, const int64_t *begin,
                                      const int64_t *end, mul_i64 *length)
{
    const mul_i64 i = (mul_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > count) return;
    const mul_i64 row = i < count ? row_at(rows, first, i) : 0;
    length[i] = i < count ? (mul_i64)(end[row] - begin[row]) : 0;
}

size_t mulg_compact_bytes(int64_t count)
{
    size_t bytes = 0;
    cub::DeviceScan::ExclusiveSum(NULL, bytes, (mul_i64 *)NULL, (mul_i64 *)NULL, count + 1);
    return bytes;
}

cudaError_t mulg_compact_begin(const int64_t *rows, int64_t first, int64_t count, const int64_t *begin,
                               const int64_t *end, mul_i64 *offset, void *work, size_t work_bytes,
                               cudaStream_t stream)
{
    lengths_kernel<<<(unsigned)(count / 256 + 1), 256, 0, stream>>>(rows, first, count, begin, end, offset);
    return cub::DeviceScan::ExclusiveSum(work, work_bytes, offset, offset, count + 1, stream);
}

/* The last of rows [0, count) whose offset is not beyond `at`. */
static __device__ mul_i64 row_of(const mul_i64 *offset, mul_i64 lo, mul_i64 hi, mul_i64 at)
{
    while (lo + 1 < hi) {
        const mul_i64 middle = lo + (hi - lo) / 2;
        if (offset[middle] <= at)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

template <class V>
static __global__ void move_kernel(const int64_t *rows, mul_i64 first, mul_i64 count, const int64_t *begin,
                                   const mul_i64 *offset, mul_u64 entries, const mul_u32 *column, const V *value,
                                   mul_u32 *to_column, V *to_value)
{
    const mul_i64 lo = (mul_i64)blockIdx.x * MOVE_ENTRIES;
    const mul_i64 hi = lo + MOVE_ENTRIES < (mul_i64)entries ? lo + MOVE_ENTRIES : (mul_i64)entries;
    const mul_i64 row_lo = row_of(offset, 0, count, lo), row_hi = row_of(offset, row_lo, count, hi - 1) + 1;
    for (mul_i64 at = lo + threadIdx.x; at < hi; at += blockDim.x) {
        const mul_i64 i = row_of(offset, row_lo, row_hi, at);
        const mul_i64 from = begin[row_at(rows, first, i)] + at - offset[i];
        to_column[at] = column[from];
        to_value[at] = value[from];
    }
}

static __global__ void rebase_kernel(const int64_t *rows, mul_i64 first, mul_i64 count, const mul_i64 *offset,
                                     int64_t *begin, int64_t *end)
{
    const mul_i64 i = (mul_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const mul_i64 row = row_at(rows, first, i);
    begin[row] = offset[i];
    end[row] = offset[i + 1];
}

cudaError_t mulg_compact_move(const int64_t *rows, int64_t first, int64_t count, int64_t *begin, int64_t *end,
                              const mul_i64 *offset, mul_u64 entries, int value_bytes, const mul_u32 *column,
                              const void *value, mul_u32 *to_column, void *to_value, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((entries + MOVE_ENTRIES - 1) / MOVE_ENTRIES);
#define MOVE(V)                                                                                                      \
    move_kernel<V><<<blocks, 256, 0, stream>>>(rows, first, count, begin, offset, entries, column, (const V *)value, \
                                               to_column, (V *)to_value)
    if (blocks) {
        if (value_bytes == 1)
            MOVE(unsigned char);
        else if (value_bytes == 2)
            MOVE(unsigned short);
        else if (value_bytes == 4)
            MOVE(mul_u32);
        else if (value_bytes == 8)
            MOVE(mul_u64);
        else
            MOVE(ulonglong2);
    }
#undef MOVE
    rebase_kernel<<<(unsigned)(count / 256 + 1), 256, 0, stream>>>(rows, first, count, offset, begin, end);
    return cudaGetLastError();
}
