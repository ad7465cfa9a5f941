/* SPDX-License-Identifier: Apache-2.0
 *
 * A graph's entries by column, as gpu_vector.h says: rows laid one behind the other, then sorted by column, which
 * keeps the order of rows. Called by operators/multiply where a vector meets a graph against the grain of its rows.
 */
#include "gpu_vector.cuh"
#include "gpu_vector.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

struct columns_work {
    mul_u64 entries;
    mul_u64 *offset;           /* of rows */
    mul_u32 *key, *key_to;     /* columns, before and after */
    mul_u32 *place, *place_to; /* likewise: where an entry stands row after row */
    mul_u32 *row, *entry;      /* at such a place */
    void *room;
    size_t scan_bytes, sort_bytes;
};

static __global__ void degree_kernel(const mul_i64 *begin, const mul_i64 *end, mul_u64 rows, mul_u64 *out)
{
    const mul_u64 r = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (r <= rows) out[r] = r < rows ? (mul_u64)(end[r] - begin[r]) : 0;
}

/* A warp a row, several where rows are few. */
static __global__ void __launch_bounds__(MULG_THREADS)
    lay_kernel(const mul_i64 *begin, const mul_i64 *end, const mul_u32 *column, mul_u64 rows, columns_work w)
{
    const mul_u64 warps = (mul_u64)gridDim.x * MULG_WARPS, step = 32 * (mul_u64)gridDim.y;
    for (mul_u64 r = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; r < rows; r += warps) {
        const mul_u64 at = w.offset[r], length = (mul_u64)(end[r] - begin[r]);
        for (mul_u64 i = 32 * (mul_u64)blockIdx.y + (threadIdx.x & 31); i < length; i += step) {
            const mul_u64 from = (mul_u64)begin[r] + i;
            w.key[at + i] = column[from];
            w.place[at + i] = (mul_u32)(at + i);
            w.row[at + i] = (mul_u32)r;
            w.entry[at + i] = (mul_u32)from;
        }
    }
}

/* Where each column begins: the first of the sorted entries that is not before it. */
static __global__ void begin_kernel(const mul_u32 *column, mul_u64 entries, mul_u64 cols, mul_i64 *begin)
{
    const mul_u64 i = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > entries) return;
    const mul_u64 low = i == 0 ? 0 : (mul_u64)column[i - 1] + 1, high = i == entries ? cols : (mul_u64)column[i];
    for (mul_u64 c = low; c <= high; c++)
        begin[c] = (mul_i64)i;
}

static __global__ void gather_kernel(columns_work w, mul_u32 *row, mul_u32 *entry)
{
    const mul_u64 i = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w.entries) return;
    const mul_u32 place = w.place_to[i];
    row[i] = w.row[place];
    entry[i] = w.entry[place];
}

static mul_u64 aligned(mul_u64 bytes)
{
    return (bytes + 255) / 256 * 256;
}

uint64_t lacis_mul_gpu_columns_bytes(int64_t cols, uint64_t entries)
{
    return aligned(((mul_u64)cols + 1) * sizeof(int64_t)) + 2 * aligned(entries * sizeof(mul_u32));
}

void lacis_mul_gpu_columns_place(void *block, int64_t cols, uint64_t entries, lacis_mul_gpu_columns *out)
{
    char *at = (char *)block;
    out->begin = (int64_t *)at;
    out->row = (uint32_t *)(at += aligned(((mul_u64)cols + 1) * sizeof(int64_t)));
    out->entry = (uint32_t *)(at + aligned(entries * sizeof(mul_u32)));
}

static int bits_of(mul_u64 cols)
{
    int bits = 1;
    while (bits < 32 && cols >> bits > 0)
        bits++;
    return bits;
}

static void *take_work(const lacis_mul_matrix *graph, const lacis_mul_gpu_memory *memory, cudaStream_t stream,
                       columns_work *w)
{
    const mul_u64 n = w->entries, list = aligned(n * sizeof(mul_u32)), rows = (mul_u64)graph->rows + 1;
    cub::DeviceScan::ExclusiveSum(NULL, w->scan_bytes, (mul_u64 *)NULL, (mul_u64 *)NULL, (mul_i64)rows, stream);
    cub::DeviceRadixSort::SortPairs(NULL, w->sort_bytes, w->key, w->key_to, w->place, w->place_to, (mul_i64)n, 0,
                                    bits_of((mul_u64)graph->cols), stream);
    const mul_u64 room = w->scan_bytes > w->sort_bytes ? w->scan_bytes : w->sort_bytes;
    char *block = (char *)memory->alloc(memory->context, aligned(rows * sizeof(mul_u64)) + 6 * list + room),
         *at = block;
    if (!block) return NULL;
    w->offset = (mul_u64 *)at;
    at += aligned(rows * sizeof(mul_u64));
    mul_u32 **const lists[] = {&w->key, &w->key_to, &w->place, &w->place_to, &w->row, &w->entry};
    for (mul_u32 **to : lists) {
        *to = (mul_u32 *)at;
        at += list;
    }
    w->room = at;
    return block;
}

static cudaError_t make(const lacis_mul_matrix *graph, columns_work *w, int processors, lacis_mul_gpu_columns *out,
                        cudaStream_t stream)
{
    const mul_u64 rows = (mul_u64)graph->rows, n = w->entries;
    const mul_i64 *const begin = (const mul_i64 *)graph->begin, *const end = (const mul_i64 *)graph->end;
    degree_kernel<<<(unsigned)(rows / 256 + 1), 256, 0, stream>>>(begin, end, rows, w->offset);
    cudaError_t error =
        cub::DeviceScan::ExclusiveSum(w->room, w->scan_bytes, w->offset, w->offset, (mul_i64)rows + 1, stream);
    if (error != cudaSuccess) return error;
    lay_kernel<<<mulg_piece_grid(rows, (mul_u64)graph->cols, processors), MULG_THREADS, 0, stream>>>(
        begin, end, graph->column, rows, *w);
    error = cub::DeviceRadixSort::SortPairs(w->room, w->sort_bytes, w->key, w->key_to, w->place, w->place_to,
                                            (mul_i64)n, 0, bits_of((mul_u64)graph->cols), stream);
    if (error != cudaSuccess) return error;
    begin_kernel<<<(unsigned)(n / 256 + 1), 256, 0, stream>>>(w->key_to, n, (mul_u64)graph->cols,
                                                              (mul_i64 *)out->begin);
    gather_kernel<<<(unsigned)(n / 256 + 1), 256, 0, stream>>>(*w, out->row, out->entry);
    return cudaGetLastError();
}

lacis_mul_gpu_status lacis_mul_gpu_columns_make(const lacis_mul_matrix *graph, uint64_t entries,
                                                const lacis_mul_gpu_memory *memory, void *stream,
                                                lacis_mul_gpu_columns *out, int *cuda_error)
{
    columns_work w = {};
    int device = 0, processors = 1;
    *cuda_error = 0;
    w.entries = entries;
    void *const block = memory->alloc(memory->context, lacis_mul_gpu_columns_bytes(graph->cols, entries));
    void *const work = block ? take_work(graph, memory, (cudaStream_t)stream, &w) : NULL;
    if (!work) {
        if (block) memory->free(memory->context, block);
        return LACIS_MUL_GPU_NO_MEMORY;
    }
    lacis_mul_gpu_columns_place(block, graph->cols, entries, out);
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = make(graph, &w, processors, out, (cudaStream_t)stream);
    memory->free(memory->context, work);
    *cuda_error = (int)error;
    if (error == cudaSuccess) return LACIS_MUL_GPU_OK;
    memory->free(memory->context, block);
    return LACIS_MUL_GPU_FAILED;
}
