/* SPDX-License-Identifier: Apache-2.0
 *
 * Closures as gpu_closure.h says. A cell holds its value as bits whose unsigned order is the better value first
 * (mulg_order), ~0 where there is none; so one atomic minimum takes a candidate and tells whether it was better.
 * Marks are a bit a cell.
 */
#include "gpu_closure.h"
#include "gpu_vector.cuh"

#include <cub/device/device_scan.cuh>

enum { WORDS = 32, UNIT = 32 * WORDS }; /* marks and cells that a warp looks through */

/* Of the last look, and one of each round that is pushed. */
struct header {
    mul_u64 entries, products, most;
    mul_u32 counts[2]; /* of a mulg_share */
    mul_u32 listed;
};

struct closure_params {
    mul_u64 rows, cols, words, units, row_units; /* words: of marks, a row */
    const mul_i64 *a_begin, *a_end;
    const mul_u32 *a_column;
    const void *a_value;
    void *cell;
    mul_u32 *mark;
    mul_u64 *count; /* a unit, then their sums */
    header *head;
    int con, agg;
};

/* --- candidates ------------------------------------------------------------------------------------ */

struct offer_params {
    const mul_i64 *begin, *end;
    const mul_u32 *column;
    const void *value;
};

template <class T> MULG_DEVICE bool better(int agg, T now, T then)
{
    return agg == MULG_MIN ? now < then : agg == MULG_MAX && now > then;
}

template <class T> MULG_DEVICE void offer(const closure_params &p, mul_u64 row, mul_u32 t, T v)
{
    typedef typename mulg_traits<T>::bits bits;
    const bool falling = p.agg == MULG_MAX;
    bits *cell = (bits *)p.cell + row * p.cols + t;
    const bits then = *cell;
    if (then != ~(bits)0 && !better<T>(p.agg, v, mulg_unorder<T>(then, falling))) return;
    *cell = mulg_order(v, falling);
    atomicOr(p.mark + row * p.words + t / 32, 1u << (t & 31));
}

/* A warp a piece of a row. */
template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    offer_kernel(const __grid_constant__ closure_params p, const __grid_constant__ offer_params o)
{
    const mul_u64 lane = threadIdx.x & 31, pieces = gridDim.y, piece = blockIdx.y;
    for (mul_u64 row = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; row < p.rows;
         row += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_i64 begin = o.begin[row], end = o.end[row];
        for (mul_i64 from = begin + (mul_i64)(piece * MULG_PIECE); from < end;
             from += (mul_i64)(pieces * MULG_PIECE)) {
            const mul_i64 upto = from + MULG_PIECE < end ? from + MULG_PIECE : end;
            for (mul_i64 i = from + (mul_i64)lane; i < upto; i += 32)
                offer<T>(p, row, o.column[i], mulg_value<T>(o.value, (mul_u64)i));
        }
    }
}

/* --- what changed ------------------------------------------------------------------------------------ */

template <class T> MULG_DEVICE mul_u64 absolute(T v)
{
    if constexpr (mulg_traits<T>::real) return 0;
    return v < 0 ? 0 - (mul_u64)(mul_i64)v : (mul_u64)v;
}

MULG_DEVICE mul_u64 warp_sum(mul_u64 x)
{
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_xor_sync(MULG_ALL, x, d);
    return x;
}

MULG_DEVICE mul_u64 warp_most(mul_u64 x)
{
    for (int d = 16; d > 0; d /= 2) {
        const mul_u64 y = __shfl_xor_sync(MULG_ALL, x, d);
        x = y > x ? y : x;
    }
    return x;
}

struct sums {
    mul_u64 entries, products, most;
};

/* Adds what the lanes of a warp have found to a header. */
MULG_DEVICE void add_sums(header *head, sums x)
{
    x.entries = warp_sum(x.entries);
    x.products = warp_sum(x.products);
    x.most = warp_most(x.most);
    if ((threadIdx.x & 31) || !x.entries) return;
    atomicAdd(&head->entries, x.entries);
    atomicAdd(&head->products, x.products);
    if (x.most) atomicMax(&head->most, x.most);
}

/* A warp a unit at a time: marks counted, products and values of marked cells looked at. */
template <class T>
static __global__ void __launch_bounds__(MULG_THREADS) look_kernel(const __grid_constant__ closure_params p)
{
    typedef typename mulg_traits<T>::bits bits;
    const mul_u32 lane = threadIdx.x & 31;
    sums sum = {};
    for (mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; unit < p.units;
         unit += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_u64 row = unit / p.row_units, word = unit % p.row_units * WORDS + lane;
        const mul_u32 marks = word < p.words ? p.mark[row * p.words + word] : 0;
        const mul_u64 n = warp_sum(__popc(marks));
        if (lane == 0) p.count[unit] = n;
        for (mul_u32 left = __ballot_sync(MULG_ALL, marks != 0); left; left &= left - 1) {
            const int w = __ffs((int)left) - 1;
            const mul_u64 t = (word - lane + w) * 32 + lane;
            if (!(__shfl_sync(MULG_ALL, marks, w) >> lane & 1)) continue;
            sum.entries++;
            sum.products += (mul_u64)(p.a_end[t] - p.a_begin[t]);
            if constexpr (!mulg_traits<T>::real) {
                const bits b = ((const bits *)p.cell)[row * p.cols + t];
                const mul_u64 x = absolute(mulg_unorder<T>(b, p.agg == MULG_MAX));
                sum.most = x > sum.most ? x : sum.most;
            }
        }
    }
    add_sums(p.head, sum);
}

struct list_params {
    mul_i64 *begin, *end;  /* ROWS */
    mul_u32 *row, *column; /* row: LIST */
    void *value;
};

enum { LIST, ROWS, ALL };

/* Marked cells (ALL: all that have a value), as a list in any order or at their unit's place; marks are taken off. */
template <class T, int FORM>
static __global__ void __launch_bounds__(MULG_THREADS)
    emit_kernel(const __grid_constant__ closure_params p, const __grid_constant__ list_params o)
{
    typedef typename mulg_traits<T>::bits bits;
    const mul_u32 lane = threadIdx.x & 31;
    const bool falling = p.agg == MULG_MAX;
    for (mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; unit < p.units;
         unit += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_u64 row = unit / p.row_units, within = unit % p.row_units, word = within * WORDS + lane;
        const bits *cell = (const bits *)p.cell + row * p.cols;
        mul_u32 marks = FORM == ALL ? MULG_ALL : word < p.words ? p.mark[row * p.words + word] : 0;
        mul_u64 at = FORM == LIST ? 0 : p.count[unit];
        if (FORM != LIST && within == 0 && lane == 0) {
            o.begin[row] = (mul_i64)at;
            o.end[row] = (mul_i64)p.count[unit + p.row_units];
        }
        if (FORM != ALL && marks) p.mark[row * p.words + word] = 0;
        if (FORM == LIST) {
            const mul_u64 n = warp_sum(__popc(marks));
            if (n == 0) continue;
            if (lane == 0) at = atomicAdd(&p.head->listed, (mul_u32)n);
            at = __shfl_sync(MULG_ALL, at, 0);
        }
        for (mul_u32 left = __ballot_sync(MULG_ALL, marks != 0); left; left &= left - 1) {
            const int w = __ffs((int)left) - 1;
            const mul_u64 t = (within * WORDS + w) * 32 + lane;
            bool there = __shfl_sync(MULG_ALL, marks, w) >> lane & 1;
            bits b = 0;
            if (FORM == ALL) there = t < p.cols;
            if (there) b = cell[t];
            if (FORM == ALL) there = there && b != ~(bits)0;
            const mul_u32 votes = __ballot_sync(MULG_ALL, there);
            if (there) {
                const mul_u64 to = at + __popc(votes & mulg_lanes_below());
                if (FORM == LIST) o.row[to] = (mul_u32)row;
                o.column[to] = (mul_u32)t;
                ((T *)o.value)[to] = mulg_unorder<T>(b, falling);
            }
            at += __popc(votes);
        }
    }
}

/* Looks at marked cells and lists them in one, for rounds without a wait. */
template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    list_kernel(const __grid_constant__ closure_params p, const __grid_constant__ list_params o, header *head)
{
    typedef typename mulg_traits<T>::bits bits;
    const mul_u32 lane = threadIdx.x & 31;
    sums sum = {};
    for (mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; unit < p.units;
         unit += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_u64 row = unit / p.row_units, word = unit % p.row_units * WORDS + lane;
        const mul_u32 marks = word < p.words ? p.mark[row * p.words + word] : 0;
        const mul_u32 n = (mul_u32)warp_sum(__popc(marks));
        if (n == 0) continue;
        if (marks) p.mark[row * p.words + word] = 0;
        mul_u32 at = lane == 0 ? atomicAdd(&head->listed, n) : 0;
        at = __shfl_sync(MULG_ALL, at, 0);
        for (mul_u32 left = __ballot_sync(MULG_ALL, marks != 0); left; left &= left - 1) {
            const int w = __ffs((int)left) - 1;
            const mul_u64 t = (word - lane + w) * 32 + lane;
            const mul_u32 votes = __shfl_sync(MULG_ALL, marks, w);
            if (votes >> lane & 1) {
                const bits b = ((const bits *)p.cell)[row * p.cols + t];
                const mul_u32 to = at + __popc(votes & mulg_lanes_below());
                const T v = mulg_unorder<T>(b, p.agg == MULG_MAX);
                const mul_u64 x = absolute(v);
                o.row[to] = (mul_u32)row;
                o.column[to] = (mul_u32)t;
                ((T *)o.value)[to] = v;
                sum.entries++;
                sum.products += (mul_u64)(p.a_end[t] - p.a_begin[t]);
                sum.most = x > sum.most ? x : sum.most;
            }
            at += __popc(votes);
        }
    }
    add_sums(head, sum);
}

/* Cells that have a value, a unit. */
template <class T>
static __global__ void __launch_bounds__(MULG_THREADS) count_kernel(const __grid_constant__ closure_params p)
{
    typedef typename mulg_traits<T>::bits bits;
    const mul_u32 lane = threadIdx.x & 31;
    for (mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; unit < p.units;
         unit += (mul_u64)gridDim.x * MULG_WARPS) {
        const bits *cell = (const bits *)p.cell + unit / p.row_units * p.cols;
        mul_u32 n = 0;
#pragma unroll 8
        for (int w = 0; w < WORDS; w++) {
            const mul_u64 t = (unit % p.row_units * WORDS + w) * 32 + lane;
            n += t < p.cols && cell[t] != ~(bits)0;
        }
        const mul_u64 all = warp_sum(n);
        if (lane == 0) p.count[unit] = all;
    }
}

/* --- a round in one ---------------------------------------------------------------------------------- */

struct push_params {
    const mul_u32 *row, *vertex; /* what changed */
    const void *value;
    mul_u64 count;
    const mul_u32 *listed; /* not NULL: the count, on the device */
    mulg_share share;
};

template <class T>
MULG_DEVICE void push_take(const closure_params &p, mul_u64 row, T a, mul_i64 from, mul_i64 end, mul_u32 step)
{
    typedef typename mulg_traits<T>::bits bits;
    bits *cells = (bits *)p.cell + row * p.cols;
    mul_u32 *marks = p.mark + row * p.words;
#pragma unroll 4
    for (mul_i64 i = from; i < end; i += step) {
        const mul_u32 t = __ldg(p.a_column + i);
        const T v = mulg_con<T>(p.con, a, mulg_value<T>(p.a_value, (mul_u64)i));
        const bits b = mulg_order(v, p.agg == MULG_MAX);
        if (b >= *(volatile bits *)(cells + t)) continue; /* cells only get better */
        if (b < atomicMin(cells + t, b)) atomicOr(marks + t / 32, 1u << (t & 31));
    }
}

template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    push_kernel(const __grid_constant__ closure_params p, const __grid_constant__ push_params o)
{
    const mul_u32 lanes = mulg_group_lanes(o.share), lane = threadIdx.x & (lanes - 1);
    const mul_u64 groups = (mul_u64)gridDim.x * MULG_THREADS >> o.share.shift, count = o.listed ? *o.listed : o.count;
    for (mul_u64 e = ((mul_u64)blockIdx.x * MULG_THREADS + threadIdx.x) >> o.share.shift; e < count; e += groups) {
        const mul_u32 c = o.vertex[e];
        const mul_i64 begin = p.a_begin[c], end = p.a_end[c];
        if (mulg_defer(o.share, (mul_u32)e, (mul_u64)(end - begin))) continue;
        push_take<T>(p, o.row[e], ((const T *)o.value)[e], begin + lane, end, lanes);
    }
}

template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    push_long_kernel(const __grid_constant__ closure_params p, const __grid_constant__ push_params o)
{
    mulg_pieces(o.share, [&](const mulg_long &item, mul_u32, mul_u32 piece) {
        const mul_u32 c = o.vertex[item.item];
        const mul_i64 begin = p.a_begin[c] + (mul_i64)piece * MULG_PIECE;
        push_take<T>(p, o.row[item.item], ((const T *)o.value)[item.item], begin + (threadIdx.x & 31),
                     min(begin + MULG_PIECE, p.a_end[c]), 32);
    });
}

/* --- loose rows ------------------------------------------------------------------------------------ */

struct rows_found {
    mul_u64 entries, degree, most;
    mul_u32 infinite;
};

template <class T>
static __global__ void __launch_bounds__(MULG_THREADS)
    rows_kernel(const mul_i64 *begin, const mul_i64 *end, mul_u64 rows, const T *value, rows_found *found)
{
    const mul_u64 lane = threadIdx.x & 31, pieces = gridDim.y, piece = blockIdx.y;
    mul_u64 entries = 0, degree = 0, most = 0;
    bool infinite = false;
    for (mul_u64 row = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; row < rows;
         row += (mul_u64)gridDim.x * MULG_WARPS) {
        const mul_i64 first = begin[row], last = end[row];
        const mul_u64 n = (mul_u64)(last - first);
        if (piece == 0) entries += lane == 0 ? n : 0;
        degree = n > degree ? n : degree;
        for (mul_i64 from = first + (mul_i64)(piece * MULG_PIECE); value && from < last;
             from += (mul_i64)(pieces * MULG_PIECE)) {
            const mul_i64 upto = from + MULG_PIECE < last ? from + MULG_PIECE : last;
            for (mul_i64 i = from + (mul_i64)lane; i < upto; i += 32) {
                const T v = value[i];
                if constexpr (mulg_traits<T>::real)
                    infinite = infinite || !(v - v == 0);
                else {
                    const mul_u64 x = absolute(v);
                    most = x > most ? x : most;
                }
            }
        }
    }
    entries = warp_sum(entries);
    degree = warp_most(degree);
    most = warp_most(value ? most : 1);
    infinite = __any_sync(MULG_ALL, infinite);
    if (lane) return;
    if (entries) atomicAdd(&found->entries, entries);
    if (degree) atomicMax(&found->degree, degree);
    atomicMax(&found->most, most);
    if (infinite) found->infinite = 1;
}

template <class F, class T>
static __global__ void __launch_bounds__(MULG_THREADS) convert_kernel(const F *from, mul_u64 count, T *to)
{
    for (mul_u64 i = (mul_u64)blockIdx.x * MULG_THREADS + threadIdx.x; i < count;
         i += (mul_u64)gridDim.x * MULG_THREADS)
        to[i] = from ? (T)from[i] : (T)1;
}

/* --- host ---------------------------------------------------------------------------------------- */

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
    p.head = (header *)at;
    p.count = (mul_u64 *)(at += aligned(sizeof(header)));
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

static dim3 piece_grid(mul_u64 rows, mul_u64 cols, int processors)
{
    const mul_u64 blocks = rows / MULG_WARPS + 1, most = (mul_u64)processors * 16;
    const mul_u64 x = blocks < most ? blocks : most, want = (cols + MULG_PIECE - 1) / MULG_PIECE;
    const mul_u64 fit = 2 * most / x + 1, y = want < fit ? want : fit;
    return dim3((unsigned)x, (unsigned)(y < 1 ? 1 : y > 65535 ? 65535 : y));
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
    const mul_u64 head = aligned(sizeof(header)) + aligned((p.units + 1) * sizeof(mul_u64)),
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
            <<<piece_grid(p.rows, p.cols, c->processors), MULG_THREADS, 0, (cudaStream_t)c->stream>>>(p, o));
    return answer(c, cudaGetLastError());
}

/* The first bytes of a device block, waited for. */
static cudaError_t read_back(void *pinned, const void *from, void *to, size_t bytes, cudaStream_t stream)
{
    void *at = pinned ? pinned : to;
    cudaError_t error = cudaMemcpyAsync(at, from, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess && pinned) memcpy(to, pinned, bytes);
    return error;
}

lacis_mul_gpu_status lacis_mul_gpu_closure_look(lacis_mul_gpu_closure *c, lacis_mul_gpu_changes *out)
{
    void *scan;
    header found = {};
    const closure_params p = params_of(c, &scan);
    cudaStream_t stream = (cudaStream_t)c->stream;
    cudaError_t error = cudaMemsetAsync(p.head, 0, sizeof *p.head, stream);
    if (error != cudaSuccess) return answer(c, error);
    BY_TYPE(c, look_kernel, <<<unit_blocks(c, p), MULG_THREADS, 0, stream>>>(p));
    error = cudaGetLastError();
    if (error == cudaSuccess) error = read_back(c->pinned, p.head, &found, sizeof found, stream);
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
    header found[LACIS_MUL_GPU_ROUNDS];
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
        header *head = (header *)block + r;
        w.listed = &head->listed;
        w.share.counts = head->counts;
        BY_TYPE(c, list_kernel, <<<unit_blocks(c, p), MULG_THREADS, 0, stream>>>(p, o, head));
        BY_TYPE(c, push_kernel, <<<blocks, MULG_THREADS, 0, stream>>>(p, w));
        BY_TYPE(c, push_long_kernel, <<<blocks, MULG_THREADS, 0, stream>>>(p, w));
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) error = read_back(c->pinned, block, found, sizeof *found * (size_t)rounds, stream);
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
    if (error == cudaSuccess) error = read_back(c->pinned, p.count + p.units, &n, sizeof n, stream);
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

/* --- loose rows ------------------------------------------------------------------------------------ */

lacis_mul_gpu_status lacis_mul_gpu_rows_look(const lacis_mul_matrix *rows, const lacis_mul_gpu_memory *memory,
                                             void *stream_of, lacis_mul_gpu_facts *out)
{
    cudaStream_t stream = (cudaStream_t)stream_of;
    rows_found found = {}, *device = (rows_found *)memory->alloc(memory->context, sizeof *device);
    int current = 0, processors = 1;
    if (!device) return LACIS_MUL_GPU_NO_MEMORY;
    cudaError_t error = cudaGetDevice(&current);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, current);
    if (error == cudaSuccess) error = cudaMemsetAsync(device, 0, sizeof *device, stream);
    if (error == cudaSuccess) {
        const dim3 grid = piece_grid((mul_u64)rows->rows, rows->value ? (mul_u64)rows->cols : 1, processors);
#define LOOK(T)                                                                                                      \
    rows_kernel<T><<<grid, MULG_THREADS, 0, stream>>>((const mul_i64 *)rows->begin, (const mul_i64 *)rows->end,      \
                                                      (mul_u64)rows->rows, (const T *)rows->value, device)
        switch (rows->type) {
        case LACIS_MUL_I32:
            LOOK(int);
            break;
        case LACIS_MUL_I64:
            LOOK(mul_i64);
            break;
        case LACIS_MUL_F32:
            LOOK(float);
            break;
        default:
            LOOK(double);
            break;
        }
#undef LOOK
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) error = read_back(NULL, device, &found, sizeof found, stream);
    memory->free(memory->context, device);
    out->entries = found.entries;
    out->degree = found.degree;
    out->most = found.most;
    out->finite = !found.infinite;
    out->cuda_error = (int)error;
    return error == cudaSuccess ? LACIS_MUL_GPU_OK : LACIS_MUL_GPU_FAILED;
}

template <class F>
static void convert_to(const void *from, mul_u64 n, void *to, lacis_mul_storage type, unsigned blocks, cudaStream_t s)
{
    switch (type) {
    case LACIS_MUL_TO_I32:
        convert_kernel<F, int><<<blocks, MULG_THREADS, 0, s>>>((const F *)from, n, (int *)to);
        break;
    case LACIS_MUL_TO_F32:
        convert_kernel<F, float><<<blocks, MULG_THREADS, 0, s>>>((const F *)from, n, (float *)to);
        break;
    case LACIS_MUL_TO_F64:
        convert_kernel<F, double><<<blocks, MULG_THREADS, 0, s>>>((const F *)from, n, (double *)to);
        break;
    default:
        convert_kernel<F, mul_i64><<<blocks, MULG_THREADS, 0, s>>>((const F *)from, n, (mul_i64 *)to);
        break;
    }
}

int lacis_mul_gpu_convert(const void *from, lacis_mul_storage from_type, uint64_t count, void *to,
                          lacis_mul_storage to_type, void *stream)
{
    const unsigned blocks = (unsigned)(count / MULG_THREADS + 1 < 4096 ? count / MULG_THREADS + 1 : 4096);
    cudaStream_t s = (cudaStream_t)stream;
    switch (from_type) {
    case LACIS_MUL_TO_U8:
        convert_to<unsigned char>(from, count, to, to_type, blocks, s);
        break;
    case LACIS_MUL_TO_U16:
        convert_to<unsigned short>(from, count, to, to_type, blocks, s);
        break;
    case LACIS_MUL_TO_U32:
        convert_to<mul_u32>(from, count, to, to_type, blocks, s);
        break;
    case LACIS_MUL_TO_I32:
        convert_to<int>(from, count, to, to_type, blocks, s);
        break;
    case LACIS_MUL_TO_I64:
        convert_to<mul_i64>(from, count, to, to_type, blocks, s);
        break;
    case LACIS_MUL_TO_F32:
        convert_to<float>(from, count, to, to_type, blocks, s);
        break;
    case LACIS_MUL_TO_F64:
        convert_to<double>(from, count, to, to_type, blocks, s);
        break;
    }
    return (int)cudaGetLastError();
}
