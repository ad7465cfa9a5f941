/* SPDX-License-Identifier: Apache-2.0
 *
 * vector BY graph, as gpu_vector.h says. A cell a column in device memory (mostly in the L2), cleared, scattered into
 * by atomics, and collected by rising column.
 */
#include "gpu_vector_sift.cuh"

#include <cub/device/device_scan.cuh>

enum { UNIT = 256 }; /* columns that a warp collects */

struct push_params {
    const mul_u32 *a_column; /* from the row's first entry on */
    const void *a_value;
    mul_u64 count; /* entries of the row */
    const mul_i64 *b_begin, *b_end;
    const mul_u32 *b_column;
    const void *b_value;
    const mul_u32 *b_entry; /* where b's values lie; NULL: with its entries */
    mul_u64 t_lo, width;
    bool clip; /* not all columns are wanted */
    int con, storage;
    void *cell;
    unsigned char *touched; /* NULL: cells tell by themselves */
    unsigned char *masked;  /* NULL: no mask; else whether the mask has the column */
    bool mask_not;
    mulg_interval interval; /* HAVING */
    mulg_share share;
    mul_u64 *offset; /* of units */
    mul_u32 *column;
    void *value;
};

/* FIRST and LAST keep the place of the entry of the vector, the least or the greatest. */
template <class T, int AGG> struct push_cell {
    static constexpr bool picks = AGG == MULG_FIRST || AGG == MULG_LAST;
    static constexpr bool small = AGG == MULG_COUNT || picks || sizeof(T) == 4;
    static constexpr bool marked = !picks && AGG != MULG_COUNT && !mulg_traits<T>::real;
};
template <bool SMALL> struct push_bits {
    typedef mul_u64 type;
};
template <> struct push_bits<true> {
    typedef mul_u32 type;
};

template <class T, int AGG> struct push_way {
    typedef push_cell<T, AGG> cell;
    typedef typename push_bits<cell::small>::type bits;

    static __host__ __device__ bits empty()
    {
        if (AGG == MULG_COUNT) return 0;
        if (AGG == MULG_SUM) return mulg_traits<T>::real ? (bits)1 << (sizeof(bits) * 8 - 1) : 0; /* -0.0 */
        return ~(bits)0;
    }
    static __device__ __forceinline__ void put(const push_params &p, mul_u64 e, mul_i64 i, mul_u64 t)
    {
        bits *to = (bits *)p.cell + t;
        if constexpr (AGG == MULG_COUNT)
            atomicAdd(to, 1u);
        else if constexpr (cell::picks)
            atomicMin(to, (bits)(AGG == MULG_FIRST ? e : p.count - 1 - e));
        else {
            const T v = value(p, e, i);
            if constexpr (AGG == MULG_SUM && mulg_traits<T>::real)
                atomicAdd((T *)to, mulg_plus(v, (T)0));
            else if constexpr (AGG == MULG_SUM)
                atomicAdd(to, (bits)v);
            else
                atomicMin(to, mulg_order(v, AGG == MULG_MAX));
        }
        if constexpr (cell::marked) p.touched[t] = 1;
    }
    static __device__ __forceinline__ T value(const push_params &p, mul_u64 e, mul_i64 i)
    {
        const T a = p.con == MULG_B || p.con == MULG_ONE ? (T)1 : mulg_value<T>(p.a_value, e);
        const T b = p.con == MULG_A || p.con == MULG_ONE ? (T)1
                    : p.b_entry                          ? mulg_value<T>(p.b_value, __ldg(p.b_entry + i))
                                                         : mulg_value<T>(p.b_value, i);
        return mulg_con<T>(p.con, a, b);
    }
    static __device__ __forceinline__ bool there(const push_params &p, mul_u64 t)
    {
        if (p.masked && (p.masked[t] != 0) == p.mask_not) return false;
        if constexpr (cell::marked) return p.touched[t] != 0;
        return ((const bits *)p.cell)[t] != empty();
    }
    /* FIRST, LAST: the entry of b is looked up again. */
    static __device__ __forceinline__ T picked(const push_params &p, bits b, mul_u64 t)
    {
        const mul_u64 e = AGG == MULG_FIRST ? b : p.count - 1 - b;
        mul_i64 at = 0;
        if (p.con != MULG_A && p.con != MULG_ONE && p.b_value) {
            const mul_u32 c = p.a_column[e];
            const mul_i64 begin = p.b_begin[c];
            at = begin + mulg_search(p.b_column + begin, 0, (mul_u32)(p.b_end[c] - begin), p.t_lo + t);
        }
        return value(p, e, at);
    }
    static __device__ __forceinline__ auto result(const push_params &p, mul_u64 t)
    {
        const bits b = ((const bits *)p.cell)[t];
        if constexpr (AGG == MULG_COUNT)
            return b;
        else if constexpr (cell::picks)
            return picked(p, b, t);
        else if constexpr (AGG == MULG_SUM)
            return mulg_traits<T>::from(b);
        else
            return mulg_unorder<T>(b, AGG == MULG_MAX);
    }
    static __device__ __forceinline__ void write(const push_params &p, mul_u64 t, mul_u64 to)
    {
        p.column[to] = (mul_u32)(p.t_lo + t);
        if constexpr (AGG == MULG_COUNT)
            write_count(p, to, result(p, t));
        else
            ((T *)p.value)[to] = result(p, t);
    }
    static __device__ __forceinline__ void write_count(const push_params &p, mul_u64 to, mul_u32 n)
    {
        switch (p.storage) {
        case LACIS_MUL_TO_U8:
            ((unsigned char *)p.value)[to] = (unsigned char)n;
            break;
        case LACIS_MUL_TO_U16:
            ((unsigned short *)p.value)[to] = (unsigned short)n;
            break;
        case LACIS_MUL_TO_U32:
            ((mul_u32 *)p.value)[to] = n;
            break;
        default:
            ((mul_i64 *)p.value)[to] = n;
            break;
        }
    }
};

template <class T, int AGG>
MULG_DEVICE void push_take(const push_params &p, mul_u64 e, mul_i64 from, mul_i64 end, mul_u32 step)
{
#pragma unroll 4
    for (mul_i64 i = from; i < end; i += step) {
        const mul_u64 t = (mul_u64)__ldg(p.b_column + i) - p.t_lo;
        if (!p.clip || t < p.width) push_way<T, AGG>::put(p, e, i, t);
    }
}

template <class T, int AGG>
static __global__ void __launch_bounds__(MULG_THREADS) push_kernel(const __grid_constant__ push_params p)
{
    const mul_u32 lanes = mulg_group_lanes(p.share), lane = threadIdx.x & (lanes - 1);
    const mul_u64 groups = (mul_u64)gridDim.x * MULG_THREADS >> p.share.shift;
    for (mul_u64 e = ((mul_u64)blockIdx.x * MULG_THREADS + threadIdx.x) >> p.share.shift; e < p.count; e += groups) {
        const mul_u32 c = p.a_column[e];
        const mul_i64 begin = p.b_begin[c], end = p.b_end[c];
        if (mulg_defer(p.share, (mul_u32)e, (mul_u64)(end - begin))) continue;
        push_take<T, AGG>(p, e, begin + lane, end, lanes);
    }
}

template <class T, int AGG>
static __global__ void __launch_bounds__(MULG_THREADS) push_long_kernel(const __grid_constant__ push_params p)
{
    mulg_pieces(p.share, [&](const mulg_long &item, mul_u32, mul_u32 piece) {
        const mul_u32 c = p.a_column[item.item];
        const mul_i64 begin = p.b_begin[c] + (mul_i64)piece * MULG_PIECE;
        push_take<T, AGG>(p, item.item, begin + (threadIdx.x & 31), min(begin + MULG_PIECE, p.b_end[c]), 32);
    });
}

template <class T, int AGG>
static __global__ void __launch_bounds__(MULG_THREADS) fill_kernel(const __grid_constant__ push_params p)
{
    typedef push_way<T, AGG> way;
    for (mul_u64 t = (mul_u64)blockIdx.x * MULG_THREADS + threadIdx.x; t < p.width;
         t += (mul_u64)gridDim.x * MULG_THREADS)
        ((typename way::bits *)p.cell)[t] = way::empty();
}

static __global__ void mask_kernel(const mul_u32 *column, mul_i64 begin, mul_i64 end, mul_u64 t_lo, mul_u64 width,
                                   unsigned char *masked)
{
    const mul_i64 i = begin + (mul_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= end) return;
    const mul_u64 t = (mul_u64)column[i] - t_lo;
    if (t < width) masked[t] = 1;
}

/* A warp a unit of columns: counts them, or writes them where the counts' sums say. SIFTS: those that HAVING keeps.
 */
template <class T, int AGG, bool WRITE, bool SIFTS>
static __global__ void __launch_bounds__(MULG_THREADS) collect_kernel(const __grid_constant__ push_params p)
{
    typedef push_way<T, AGG> way;
    const mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (unit * UNIT >= p.width) return;
    mul_u64 at = WRITE ? p.offset[unit] : 0;
#pragma unroll
    for (int k = 0; k < UNIT / 32; k++) {
        const mul_u64 t = unit * UNIT + (mul_u64)k * 32 + lane;
        bool there = t < p.width && way::there(p, t);
        if constexpr (SIFTS) there = there && mulg_has(p.interval, way::result(p, t));
        const mul_u32 votes = __ballot_sync(MULG_ALL, there);
        if (WRITE && there) way::write(p, t, at + __popc(votes & mulg_lanes_below()));
        at += __popc(votes);
    }
    if (!WRITE && lane == 0) p.offset[unit] = at;
}

/* --- host ---------------------------------------------------------------------------------------- */

const char *lacis_mul_gpu_push_refuses(const lacis_mul_gpu_job *job)
{
    const bool real = job->type == LACIS_MUL_F32 || job->type == LACIS_MUL_F64;
    if (job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD) return "only for built-in CON and AGG";
    if (job->agg == LACIS_MUL_AVG) return "not for AGG avg, whose sums keep an order";
    if (job->agg == LACIS_MUL_SUM && real && job->ordered) return "sums of reals are to keep their order";
    if (job->checked) return "sums of these integers could overflow, which it does not look for";
    if (job->top > 0) return "not with TOP";
    if (job->a.cols >= UINT32_MAX || job->b.cols >= UINT32_MAX) return "a dimension has 2^32 rows or columns";
    return NULL;
}

typedef void (*push_fn)(push_params);
struct push_kernels {
    push_fn fill, rows, pieces, count, write;
    int cell; /* bytes */
    bool marked;
};

template <class T, int AGG> static push_kernels kernels_with(bool sifts)
{
    typedef push_way<T, AGG> way;
    return {fill_kernel<T, AGG>,
            push_kernel<T, AGG>,
            push_long_kernel<T, AGG>,
            sifts ? collect_kernel<T, AGG, false, true> : collect_kernel<T, AGG, false, false>,
            sifts ? collect_kernel<T, AGG, true, true> : collect_kernel<T, AGG, true, false>,
            (int)sizeof(typename way::bits),
            way::cell::marked};
}

template <class T> static push_kernels kernels_of(lacis_mul_agg agg, bool sifts)
{
    switch (agg) {
    case LACIS_MUL_COUNT:
        return kernels_with<int, MULG_COUNT>(sifts);
    case LACIS_MUL_SUM:
        return kernels_with<T, MULG_SUM>(sifts);
    case LACIS_MUL_MIN:
        return kernels_with<T, MULG_MIN>(sifts);
    case LACIS_MUL_MAX:
        return kernels_with<T, MULG_MAX>(sifts);
    case LACIS_MUL_LAST:
        return kernels_with<T, MULG_LAST>(sifts);
    default:
        return kernels_with<T, MULG_FIRST>(sifts);
    }
}

static push_kernels kernels_for(const lacis_mul_gpu_job *job)
{
    const bool sifts = job->having == LACIS_MUL_GPU_WITHIN;
    switch (job->type) {
    case LACIS_MUL_I32:
        return kernels_of<int>(job->agg, sifts);
    case LACIS_MUL_I64:
        return kernels_of<mul_i64>(job->agg, sifts);
    case LACIS_MUL_F32:
        return kernels_of<float>(job->agg, sifts);
    default:
        return kernels_of<double>(job->agg, sifts);
    }
}

struct push_state {
    const lacis_mul_gpu_push *push;
    push_params p;
    push_kernels kernels;
    mul_u64 units;
    char *block;
    void *scan;
    size_t scan_bytes;
    int processors;
};

static mul_u64 aligned(mul_u64 bytes)
{
    return (bytes + 255) / 256 * 256;
}

static void *take(const lacis_mul_gpu_job *job, mul_u64 bytes)
{
    return job->memory.alloc(job->memory.context, bytes ? bytes : 1);
}

static void give(const lacis_mul_gpu_job *job, void *block)
{
    if (block) job->memory.free(job->memory.context, block);
}

static void set_params(push_state *s)
{
    const lacis_mul_gpu_push *push = s->push;
    const lacis_mul_gpu_job *job = push->job;
    push_params *p = &s->p;
    const int bytes = job->type == LACIS_MUL_I32 || job->type == LACIS_MUL_F32 ? 4 : 8;
    p->a_column = job->a.column + push->begin;
    p->a_value = job->a.value ? (const char *)job->a.value + push->begin * bytes : NULL;
    p->count = (mul_u64)(push->end - push->begin);
    p->b_begin = (const mul_i64 *)job->b.begin;
    p->b_end = (const mul_i64 *)job->b.end;
    p->b_column = job->b.column;
    p->b_value = job->b.value;
    p->b_entry = push->entry;
    p->t_lo = (mul_u64)job->t_lo;
    p->width = job->t_hi > job->t_lo ? (mul_u64)(job->t_hi - job->t_lo) : 0;
    p->clip = job->t_lo > 0 || job->t_hi < job->b.cols;
    p->con = (int)job->con_kind;
    p->storage = (int)job->storage;
    p->mask_not = job->mask_not;
    p->interval = mulg_interval_of(job);
    s->kernels = kernels_for(job);
    s->units = (p->width + UNIT - 1) / UNIT;
}

/* Offsets, cells and flags, one behind the other. */
static lacis_mul_gpu_status take_block(push_state *s)
{
    const lacis_mul_gpu_push *push = s->push;
    push_params *p = &s->p;
    const mul_u32 shift = mulg_share_shift(push->products, p->count);
    const mul_u64 offsets = aligned((s->units + 1) * sizeof(mul_u64));
    const mul_u64 cells = aligned(p->width * (mul_u64)s->kernels.cell), flags = aligned(p->width);
    const mul_u64 share = aligned(mulg_share_bytes(push->products, shift));
    const bool mask = push->job->mask != NULL;
    cub::DeviceScan::ExclusiveSum(NULL, s->scan_bytes, (mul_u64 *)NULL, (mul_u64 *)NULL, (mul_i64)s->units + 1);
    s->block = (char *)take(push->job, share + offsets + cells + 2 * flags + s->scan_bytes);
    if (!s->block) return LACIS_MUL_GPU_NO_MEMORY;
    char *at = s->block;
    p->share = mulg_share_place(at, push->products, shift);
    p->offset = (mul_u64 *)(at += share);
    p->cell = at += offsets;
    at += cells;
    if (s->kernels.marked) p->touched = (unsigned char *)at;
    if (mask) p->masked = (unsigned char *)at + flags;
    s->scan = at + 2 * flags;
    return LACIS_MUL_GPU_OK;
}

static cudaError_t scatter(push_state *s, cudaStream_t stream)
{
    const lacis_mul_gpu_push *push = s->push;
    const push_params &p = s->p;
    const mul_u64 most = (mul_u64)s->processors * 8, fill = p.width / MULG_THREADS + 1;
    cudaError_t error = cudaMemsetAsync(s->block, 0, 2 * sizeof(mul_u32), stream);
    if (error == cudaSuccess && p.touched) error = cudaMemsetAsync(p.touched, 0, p.width, stream);
    if (error == cudaSuccess && p.masked) error = cudaMemsetAsync(p.masked, 0, p.width, stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(p.offset + s->units, 0, sizeof(mul_u64), stream);
    if (error != cudaSuccess) return error;
    s->kernels.fill<<<(unsigned)(fill < most ? fill : most), MULG_THREADS, 0, stream>>>(p);
    const mul_i64 masks = push->mask_end - push->mask_begin;
    if (p.masked && masks > 0)
        mask_kernel<<<(unsigned)(masks / 256 + 1), 256, 0, stream>>>(push->job->mask->column, push->mask_begin,
                                                                     push->mask_end, p.t_lo, p.width, p.masked);
    s->kernels.rows<<<mulg_share_blocks(p.count, p.share.shift, s->processors), MULG_THREADS, 0, stream>>>(p);
    s->kernels.pieces<<<(unsigned)most, MULG_THREADS, 0, stream>>>(p);
    s->kernels.count<<<(unsigned)(s->units / MULG_WARPS + 1), MULG_THREADS, 0, stream>>>(p);
    error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    return cub::DeviceScan::ExclusiveSum(s->scan, s->scan_bytes, p.offset, p.offset, (mul_i64)s->units + 1, stream);
}

static cudaError_t collect(push_state *s, mul_u64 *entries, cudaStream_t stream)
{
    s->kernels.write<<<(unsigned)(s->units / MULG_WARPS + 1), MULG_THREADS, 0, stream>>>(s->p);
    const lacis_mul_gpu_job *job = s->push->job;
    mul_u64 own = 0, *to = job->pinned ? (mul_u64 *)job->pinned : &own;
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(to, s->p.offset + s->units, sizeof *to, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    *entries = *to;
    return error;
}

static int storage_bytes(lacis_mul_storage storage)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[storage];
}

static lacis_mul_gpu_status run(push_state *s, lacis_mul_gpu_push *push)
{
    const lacis_mul_gpu_job *job = push->job;
    cudaStream_t stream = (cudaStream_t)job->stream;
    const mul_u64 room = push->products < s->p.width ? push->products : s->p.width;
    mul_u64 entries = 0;
    int device = 0;
    const lacis_mul_gpu_status status = take_block(s);
    if (status != LACIS_MUL_GPU_OK) return status;
    push->column = (uint32_t *)take(job, room * sizeof(uint32_t));
    push->value = take(job, room * (mul_u64)storage_bytes(job->storage));
    if (!push->column || !push->value) return LACIS_MUL_GPU_NO_MEMORY;
    s->p.column = push->column;
    s->p.value = push->value;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&s->processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = scatter(s, stream);
    if (error == cudaSuccess) error = collect(s, &entries, stream);
    push->entries = entries;
    push->cuda_error = (int)error;
    return error == cudaSuccess ? LACIS_MUL_GPU_OK : LACIS_MUL_GPU_FAILED;
}

lacis_mul_gpu_status lacis_mul_gpu_push_run(lacis_mul_gpu_push *push)
{
    const lacis_mul_gpu_job *job = push->job;
    push_state s = {};
    push->column = NULL;
    push->value = NULL;
    push->entries = 0;
    push->cuda_error = 0;
    if (lacis_mul_gpu_push_refuses(job)) return LACIS_MUL_GPU_UNSUPPORTED;
    s.push = push;
    set_params(&s);
    if (s.p.count == 0 || s.p.width == 0 || push->products == 0) return LACIS_MUL_GPU_OK;
    const lacis_mul_gpu_status status = run(&s, push);
    give(job, s.block);
    if (status == LACIS_MUL_GPU_OK) return status;
    give(job, push->column);
    give(job, push->value);
    push->column = NULL;
    push->value = NULL;
    return status;
}
