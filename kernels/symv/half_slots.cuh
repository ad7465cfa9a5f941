/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a plan: each row's slots, which are tiles' columns sorted. Included by half_plan.cu.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_SLOTS_CUH
#define LACIS_KERNELS_SYMV_HALF_SLOTS_CUH

#include "half_work.cuh"

#include <cub/device/device_radix_sort.cuh>

static __global__ void count_up_kernel(half_u32 count, half_u32 *out)
{
    const half_u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = i;
}

/* from[c]: the first of the rising columns that is at least c. */
static __global__ void bounds_kernel(const half_u32 *column, half_u32 count, half_i64 n, half_u32 *from)
{
    const half_i64 i = (half_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > count) return;
    const half_i64 low = i == 0 ? -1 : (half_i64)column[i - 1], high = i == count ? n : (half_i64)column[i];
    for (half_i64 c = low + 1; c <= high; c++)
        from[c] = (half_u32)i;
}

static bool sort_slots(work *w)
{
    const lacis_symv_half_plan *plan = w->plan;
    const half_u32 count = (half_u32)plan->slots;
    half_u32 *column = (half_u32 *)take(w, 8 * plan->slots), *number = column == NULL ? NULL : column + count;
    const half_u32 *list = half_at<half_u32>(plan, HALF_LIST);
    half_u32 *slot = half_at<half_u32>(plan, HALF_SLOT);
    size_t bytes = 0;
    int bits = 1;
    while (bits < 32 && (w->a.n >> bits) > 0)
        bits++;
    if (!good(w, cub::DeviceRadixSort::SortPairs(NULL, bytes, list, column, number, slot, count, 0, bits, w->stream)))
        return false;
    void *room = take(w, bytes);
    if (!good(w, cudaSuccess)) return false;
    count_up_kernel<<<blocks_of(count), THREADS, 0, w->stream>>>(count, number);
    if (!good(w, cub::DeviceRadixSort::SortPairs(room, bytes, list, column, number, slot, count, 0, bits, w->stream)))
        return false;
    bounds_kernel<<<blocks_of(count), THREADS, 0, w->stream>>>(column, count, w->a.n,
                                                               half_at<half_u32>(plan, HALF_SLOT_FROM));
    return good(w, cudaGetLastError());
}

#endif
