/* SPDX-License-Identifier: Apache-2.0
 *
 * Closures as gpu_closure.h says: blocks of memory and launches; the kernels are in gpu_closure.cuh.
 */
#include "gpu_closure.cuh"
#include "gpu_closure.h"

#include <cub/device/device_scan.cuh>

static mul_u64 aligned(mul_u64 bytes)
{
    return (bytes + 255) / 256 * 256;
}

static int type_bytes(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : 8;
}

static mul_u64 words_of(int64_t cols)
{
    return ((mul_u64)cols + 31) / 32;
}

uint64_t lacis_mul_gpu_closure_row_bytes(int64_t cols, lacis_mul_type type)
{
    const mul_u64 words = words_of(cols);
    return (mul_u64)cols * (mul_u64)type_bytes(type) + words * 4 + (words / WORDS + 1) * 8;
}

static void *take(const lacis_mul_gpu_closure *c, mul_u64 bytes)
{
    return c->memory.alloc(c->memory.context, bytes ? bytes : 1);
}

static void give(const lacis_mul_gpu_closure *c, void *block)
{
    if (block) c->memory.free(c->memory.context, block);
}

static lacis_mul_gpu_status answer(lacis_mul_gpu_closure *c, cudaError_t error)
{
    c->cuda_error = (int)error;
    return error == cudaSuccess ? LACIS_MUL_GPU_OK : LACIS_MUL_GPU_FAILED;
}

/* The block: header, counts, marks, scratch of the scan, cells. */
static closure_params params_of(const lacis_mul_gpu_closure *c, void **scan)
{
    closure_params p = {};
    p.rows = (mul_u64)c->rows;
    p.cols = (mul_u64)c->a.cols;
    p.words = words_of(c->a.cols);
    p.row_units = (p.words + WORDS - 1) / WORDS;
    p.units = p.rows * p.row_units;
    p.a_begin = (const mul_i64 *)c->a.begin;
    p.a_end = (const mul_i64 *)c->a.end;
    p.a_column = c->a.column;
    p.a_value = c->a.value;
    p.con = (int)c->con;
    p.agg = (int)c->agg;
    char *at = c->block;
    p.head = (closure_header *)at;
    p.count = (mul_u64 *)(at += aligned(sizeof(closure_header)));
    p.mark = (mul_u32 *)(at += aligned((p.units + 1) * sizeof(mul_u64)));
    *scan = at += aligned(p.rows * p.words * sizeof(mul_u32));
    p.cell = at + aligned(c->scan_bytes);
    return p;
}

#define BY_TYPE(c, name, ...)                                                                                        \
    switch ((c)->type) {                                                                                             \
    case LACIS_MUL_I32:                                                                                              \
        name<int> __VA_ARGS__;                                                                                       \
        break;                                                                                                       \
    case LACIS_MUL_I64:                                                                                              \
        name<mul_i64> __VA_ARGS__;                                                                                   \
        break;                                                                                                       \
    case LACIS_MUL_F32:                                                                                              \
        name<float> __VA_ARGS__;                                                                                     \
        break;                                                                                                       \
    default:                                                                                                         \
        name<double> __VA_ARGS__;                                                                                    \
        break;                                                                                                       \
    }

static unsigned unit_blocks(const lacis_mul_gpu_closure *c, const closure_params &p)
{
    const mul_u64 blocks = p.units / MULG_WARPS + 1, most = (mul_u64)c->processors * 32;
    return (unsigned)(blocks < most ? blocks : most);
}

lacis_mul_gpu_status lacis_mul_gpu_closure_begin(lacis_mul_gpu_closure *c)
{
    int device = 0;
    size_t bytes = 0;
    void *scan;
    c->block = NULL;
    closure_params p = params_of(c, &scan);
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&c->processors, cudaDevAttrMultiProcessorCount, device);
    if (error != cudaSuccess) return answer(c, error);
    cub::DeviceScan::ExclusiveSum(NULL, bytes, (mul_u64 *)NULL, (mul_u64 *)NULL, (mul_i64)p.units + 1);
    c->scan_bytes = bytes;
    c->units = p.units;
    const mul_u64 head = aligned(sizeof(closure_header)) + aligned((p.units + 1) * sizeof(mul_u64)),
                  marks = aligned(p.rows * p.words * sizeof(mul_u32)),
                  cells = p.rows * p.cols * (mul_u64)type_bytes(c->type);
    c->block = (char *)take(c, head + marks + aligned(bytes) + cells);
    if (!c->block) return LACIS_MUL_GPU_NO_MEMORY;
    p = params_of(c, &scan);
    error = cudaMemsetAsync(c->block, 0, head + marks, (cudaStream_t)c->stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(p.cell, 0xff, cells, (cudaStream_t)c->stream);
    return answer(c, error);
}

void lacis_mul_gpu_closure_end(lacis_mul_gpu_closure *c)
{
    give(c, c->block);
    c->block = NULL;
}

lacis_mul_gpu_status lacis_mul_gpu_closure_offer(lacis_mul_gpu_closure *c, const int64_t *begin, const int64_t *end,
                                                 const uint32_t *column, const void *value)
{
    void *scan;
    const closure_params p = params_of(c, &scan);
    const offer_params o = {(const mul_i64 *)begin, (const mul_i64 *)end, column, value};
    BY_TYPE(c, offer_kernel,
            <<<mulg_piece_grid(p.rows, p.cols, c->processors), MULG_THREADS, 0, (cudaStream_t)c->stream>>>(p, o));
    return answer(c, cudaGetLastError());
}

lacis_mul_gpu_status lacis_mul_gpu_closure_look(lacis_mul_gpu_closure *c, lacis_mul_gpu_changes *out)
{
    void *scan;
    closure_header found = {};
    const closure_params p = params_of(c, &scan);
    cudaStream_t stream = (cudaStream_t)c->stream;
    cudaError_t error = cudaMemsetAsync(p.head, 0, sizeof *p.head, stream);
    if (error != cudaSuccess) return answer(c, error);
    BY_TYPE(c, look_kernel, <<<unit_blocks(c, p), MULG_THREADS, 0, stream>>>(p));
    error = cudaGetLastError();
    if (error == cudaSuccess) error = mulg_read_back(c->pinned, p.head, &found, sizeof found, stream);
    out->entries = found.entries;
    out->products = found.products;
    out->most = found.most;
    return answer(c, error);
}

static cudaError_t scan_counts(const lacis_mul_gpu_closure *c, const closure_params &p, void *scan)
{
    cudaStream_t stream = (cudaStream_t)c->stream;
    size_t bytes = c->scan_bytes;
    cudaError_t error = cudaMemsetAsync(p.count + p.units, 0, sizeof *p.count, stream);
    if (error != cudaSuccess) return error;
    return cub::DeviceScan::ExclusiveSum(scan, bytes, p.count, p.count, (mul_i64)p.units + 1, stream);
}

template <class T>
static void emit(int form, unsigned blocks, cudaStream_t stream, const closure_params &p, const list_params &o)
{
    if (form == LIST)
        emit_kernel<T, LIST><<<blocks, MULG_THREADS, 0, stream>>>(p, o);
    else if (form == ROWS)
        emit_kernel<T, ROWS><<<blocks, MULG_THREADS, 0, stream>>>(p, o);
    else
        emit_kernel<T, ALL><<<blocks, MULG_THREADS, 0, stream>>>(p, o);
}

lacis_mul_gpu_status lacis_mul_gpu_closure_rows(lacis_mul_gpu_closure *c, const lacis_mul_gpu_changes *changes,
                                                lacis_mul_matrix *out)
{
    void *scan;
    const closure_params p = params_of(c, &scan);
    cudaStream_t stream = (cudaStream_t)c->stream;
    const mul_u64 rows = aligned(p.rows * sizeof(int64_t)), columns = aligned(changes->entries * sizeof(mul_u32));
    char *block = (char *)take(c, 2 * rows + columns + changes->entries * (mul_u64)type_bytes(c->type));
    if (!block) return LACIS_MUL_GPU_NO_MEMORY;
    list_params o = {(mul_i64 *)block, (mul_i64 *)(block + rows), NULL, (mul_u32 *)(block + 2 * rows),
                     block + 2 * rows + columns};
    cudaError_t error = scan_counts(c, p, scan);
    if (error == cudaSuccess) {
        BY_TYPE(c, emit, (ROWS, unit_blocks(c, p), stream, p, o));
        error = cudaGetLastError();
    }
    if (error != cudaSuccess) give(c, block);
    out->rows = c->rows;
    out->cols = c->a.cols;
    out->begin = (const int64_t *)o.begin;
    out->end = (const int64_t *)o.end;
    out->column = o.column;
    out->value = o.value;
    out->type = c->type;
    return answer(c, error);
}

lacis_mul_gpu_status lacis_mul_gpu_closure_push(lacis_mul_gpu_closure *c, const lacis_mul_gpu_changes *changes)
{
    void *scan;
    const closure_params p = params_of(c, &scan);
    cudaStream_t stream = (cudaStream_t)c->stream;
    const mul_u64 n = changes->entries, list = aligned(n * sizeof(mul_u32));
    const mul_u64 values = aligned(n * (mul_u64)type_bytes(c->type));
    const mul_u32 shift = mulg_share_shift(changes->products, n);
    char *block = (char *)take(c, 2 * list + values + mulg_share_bytes(changes->products, shift));
    if (!block) return LACIS_MUL_GPU_NO_MEMORY;
    const list_params o = {NULL, NULL, (mul_u32 *)block, (mul_u32 *)(block + list), block + 2 * list};
    const push_params w = {o.row, o.column, o.value,
                           n,     NULL,     mulg_share_place(block + 2 * list + values, changes->products, shift)};
    cudaError_t error = cudaMemsetAsync(w.share.counts, 0, 2 * sizeof(mul_u32), stream);
    if (error == cudaSuccess) {
        BY_TYPE(c, emit, (LIST, unit_blocks(c, p), stream, p, o));
        BY_TYPE(c, push_kernel, <<<mulg_share_blocks(n, shift, c->processors), MULG_THREADS, 0, stream>>>(p, w));
        BY_TYPE(c, push_long_kernel, <<<(unsigned)c->processors * 8, MULG_THREADS, 0, stream>>>(p, w));
        error = cudaGetLastError();
    }
    give(c, block);
    return answer(c, error);
}

lacis_mul_gpu_status lacis_mul_gpu_closure_pushes(lacis_mul_gpu_closure *c, int rounds, lacis_mul_gpu_changes *before)
{
    void *scan;
    const closure_params p = params_of(c, &scan);
    cudaStream_t stream = (cudaStream_t)c->stream;
    closure_header found[LACIS_MUL_GPU_ROUNDS];
    const mul_u64 cells = p.rows * p.cols, paths = p.rows * c->entries, heads = aligned(sizeof found);
    const mul_u64 list = aligned(cells * sizeof(mul_u32)), values = aligned(cells * (mul_u64)type_bytes(c->type));
    const mul_u32 shift = mulg_share_shift(c->entries, p.cols);
    const unsigned blocks = (unsigned)c->processors * 4; /* most rounds have little to do */
    char *block = (char *)take(c, heads + 2 * list + values + mulg_share_bytes(paths, shift));
    if (!block) return LACIS_MUL_GPU_NO_MEMORY;
    char *at = block + heads;
    const list_params o = {NULL, NULL, (mul_u32 *)at, (mul_u32 *)(at + list), at + 2 * list};
    push_params w = {o.row, o.column, o.value, 0, NULL, mulg_share_place(at + 2 * list + values, paths, shift)};
    cudaError_t error = cudaMemsetAsync(block, 0, heads, stream);
    for (int r = 0; error == cudaSuccess && r < rounds; r++) {
        closure_header *head = (closure_header *)block + r;
        w.listed = &head->listed;
        w.share.counts = head->counts;
        BY_TYPE(c, list_kernel, <<<unit_blocks(c, p), MULG_THREADS, 0, stream>>>(p, o, head));
        BY_TYPE(c, push_kernel, <<<blocks, MULG_THREADS, 0, stream>>>(p, w));
        BY_TYPE(c, push_long_kernel, <<<blocks, MULG_THREADS, 0, stream>>>(p, w));
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) error = mulg_read_back(c->pinned, block, found, sizeof *found * (size_t)rounds, stream);
    for (int r = 0; error == cudaSuccess && r < rounds; r++)
        before[r] = {found[r].entries, found[r].products, found[r].most};
    give(c, block);
    return answer(c, error);
}

lacis_mul_gpu_status lacis_mul_gpu_closure_result(lacis_mul_gpu_closure *c, int64_t *begin, int64_t *end,
                                                  uint32_t **column, void **value, uint64_t *entries)
{
    void *scan;
    const closure_params p = params_of(c, &scan);
    cudaStream_t stream = (cudaStream_t)c->stream;
    mul_u64 n = 0;
    *column = NULL;
    *value = NULL;
    *entries = 0;
    BY_TYPE(c, count_kernel, <<<unit_blocks(c, p), MULG_THREADS, 0, stream>>>(p));
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = scan_counts(c, p, scan);
    if (error == cudaSuccess) error = mulg_read_back(c->pinned, p.count + p.units, &n, sizeof n, stream);
    if (error != cudaSuccess) return answer(c, error);
    *column = (uint32_t *)take(c, n * sizeof(uint32_t));
    *value = take(c, n * (mul_u64)type_bytes(c->type));
    const bool got = *column && *value;
    if (got) {
        const list_params o = {(mul_i64 *)begin, (mul_i64 *)end, NULL, *column, *value};
        BY_TYPE(c, emit, (ALL, unit_blocks(c, p), stream, p, o));
        error = cudaGetLastError();
    }
    *entries = n;
    if (got && error == cudaSuccess) return LACIS_MUL_GPU_OK;
    give(c, *column);
    give(c, *value);
    *column = NULL;
    *value = NULL;
    return got ? answer(c, error) : LACIS_MUL_GPU_NO_MEMORY;
}
