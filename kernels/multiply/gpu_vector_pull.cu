/* SPDX-License-Identifier: Apache-2.0
 *
 * graph BY vector, as gpu_vector.h says. A group of lanes a row; of a long row each warp folds a piece and the last
 * one to finish folds the pieces, in an order of their own places: the same bits on every run.
 */
#include "gpu_vector_sift.cuh"

struct pull_params {
    const mul_i64 *begin, *end;
    const mul_u32 *column;
    const void *a_value, *b_value;
    const mul_u32 *place;                 /* of each row of b among its values; NULL: its number; ~0: none */
    const mul_u32 *entry;                 /* where a's values lie; NULL: with its entries */
    const mul_i64 *mask_begin, *mask_end; /* NULL: no mask */
    const unsigned char *flag;            /* NULL: likewise; else of each row whether the mask has it */
    bool mask_not;
    mul_i64 first;
    mul_u64 count;
    int con, agg, storage;
    unsigned char *present;
    void *value;
    mulg_share share;
    mul_u64 *part; /* two a piece */
};

static const mul_u32 NOWHERE = ~0u;

/* What a row, or some of its entries, has come to: n products folded to x, or (FIRST, LAST) the entry n. */
template <class T> struct pulled {
    T x;
    mul_i64 n;
};

template <class T, int AGG> MULG_DEVICE pulled<T> pull_none()
{
    if constexpr (AGG == MULG_FIRST) return {T(), 0x7fffffffffffffffll};
    if constexpr (AGG == MULG_LAST) return {T(), -1};
    if constexpr (AGG == MULG_COUNT) return {T(), 0};
    return {mulg_start<T>(AGG), 0};
}

/* A sum starts from its first value: -0.0 stays -0.0, as on the CPU. */
template <class T, int AGG> MULG_DEVICE T pull_fold(T x, T v)
{
    int bad = 0;
    if constexpr (AGG == MULG_SUM) return mulg_plus(x, v);
    return mulg_fold<T>(AGG, x, v, 0, &bad);
}

template <class T, int AGG> MULG_DEVICE pulled<T> pull_merge(pulled<T> p, pulled<T> q)
{
    if constexpr (AGG == MULG_FIRST) return p.n < q.n ? p : q;
    if constexpr (AGG == MULG_LAST) return p.n > q.n ? p : q;
    if constexpr (AGG != MULG_COUNT) p.x = pull_fold<T, AGG>(p.x, q.x);
    p.n += q.n;
    return p;
}

MULG_DEVICE mul_u32 pull_place(const pull_params &p, mul_u32 c)
{
    return p.place ? __ldg(p.place + c) : c;
}

template <class T> MULG_DEVICE T pull_value(const pull_params &p, mul_i64 i, mul_u32 place)
{
    const T a = p.con == MULG_B || p.con == MULG_ONE ? (T)1
                : p.entry                            ? mulg_value<T>(p.a_value, __ldg(p.entry + i))
                                                     : mulg_value<T>(p.a_value, i);
    const T b = p.con == MULG_A || p.con == MULG_ONE ? (T)1 : mulg_value<T>(p.b_value, place);
    return mulg_con<T>(p.con, a, b);
}

template <class T, int AGG>
MULG_DEVICE void pull_take(const pull_params &p, mul_i64 from, mul_i64 end, mul_u32 step, pulled<T> &to)
{
    enum { EACH = 4 }; /* in flight together */
    for (mul_i64 i = from; i < end; i += EACH * step) {
        mul_u32 place[EACH];
        T v[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            place[k] = i + k * step < end ? __ldg(p.column + i + k * step) : NOWHERE;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (place[k] != NOWHERE) place[k] = pull_place(p, place[k]);
        if constexpr (AGG == MULG_SUM || AGG == MULG_MIN || AGG == MULG_MAX) {
#pragma unroll
            for (int k = 0; k < EACH; k++)
                if (place[k] != NOWHERE) v[k] = pull_value<T>(p, i + k * step, place[k]);
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (place[k] == NOWHERE) continue;
            if constexpr (AGG == MULG_FIRST) {
                to.n = i + k * step;
                return;
            } else if constexpr (AGG == MULG_LAST)
                to.n = i + k * step;
            else {
                if constexpr (AGG != MULG_COUNT) to.x = pull_fold<T, AGG>(to.x, v[k]);
                to.n++;
            }
        }
    }
}

template <class T, int AGG> MULG_DEVICE pulled<T> pull_gather(pulled<T> x, mul_u32 lanes, mul_u32 mask)
{
    for (mul_u32 d = lanes / 2; d > 0; d /= 2) {
        pulled<T> y;
        y.x = __shfl_xor_sync(mask, x.x, d);
        y.n = __shfl_xor_sync(mask, x.n, d);
        x = threadIdx.x & d ? pull_merge<T, AGG>(y, x) : pull_merge<T, AGG>(x, y);
    }
    return x;
}

MULG_DEVICE void pull_put_count(const pull_params &p, mul_u64 i, mul_i64 n)
{
    switch (p.storage) {
    case LACIS_MUL_TO_U8:
        ((unsigned char *)p.value)[i] = (unsigned char)n;
        break;
    case LACIS_MUL_TO_U16:
        ((unsigned short *)p.value)[i] = (unsigned short)n;
        break;
    case LACIS_MUL_TO_U32:
        ((mul_u32 *)p.value)[i] = (mul_u32)n;
        break;
    default:
        ((mul_i64 *)p.value)[i] = n;
        break;
    }
}

template <class T, int AGG> MULG_DEVICE void pull_put(const pull_params &p, mul_u64 i, pulled<T> x)
{
    const bool there = AGG == MULG_FIRST ? x.n != pull_none<T, AGG>().n : AGG == MULG_LAST ? x.n >= 0 : x.n > 0;
    p.present[i] = there;
    if (!there) return;
    if constexpr (AGG == MULG_COUNT)
        pull_put_count(p, i, x.n);
    else if constexpr (AGG == MULG_FIRST || AGG == MULG_LAST)
        ((T *)p.value)[i] = pull_value<T>(p, x.n, pull_place(p, p.column[x.n]));
    else
        ((T *)p.value)[i] = x.x;
}

MULG_DEVICE bool pull_masked(const pull_params &p, mul_i64 row)
{
    if (p.flag) return (p.flag[row] != 0) == p.mask_not;
    return p.mask_begin && (p.mask_end[row] > p.mask_begin[row]) == p.mask_not;
}

template <class T, int AGG>
static __global__ void __launch_bounds__(MULG_THREADS) pull_kernel(const __grid_constant__ pull_params p)
{
    const mul_u32 lanes = mulg_group_lanes(p.share), lane = threadIdx.x & (lanes - 1);
    const mul_u32 mask = mulg_group_mask(p.share);
    const mul_u64 groups = (mul_u64)gridDim.x * MULG_THREADS >> p.share.shift;
    for (mul_u64 i = ((mul_u64)blockIdx.x * MULG_THREADS + threadIdx.x) >> p.share.shift; i < p.count; i += groups) {
        const mul_i64 row = p.first + (mul_i64)i, begin = p.begin[row];
        const mul_i64 end = pull_masked(p, row) ? begin : p.end[row];
        if (mulg_defer(p.share, (mul_u32)i, (mul_u64)(end - begin))) continue;
        pulled<T> x = pull_none<T, AGG>();
        pull_take<T, AGG>(p, begin + lane, end, lanes, x);
        x = pull_gather<T, AGG>(x, lanes, mask);
        if (lane == 0) pull_put<T, AGG>(p, i, x);
    }
}

template <class T> MULG_DEVICE pulled<T> pull_part(const pull_params &p, mul_u32 piece)
{
    const mul_u64 bits = __ldcg(p.part + 2 * (mul_u64)piece);
    return {mulg_traits<T>::from((typename mulg_traits<T>::bits)bits),
            (mul_i64)__ldcg(p.part + 2 * (mul_u64)piece + 1)};
}

template <class T, int AGG>
static __global__ void __launch_bounds__(MULG_THREADS) pull_long_kernel(const __grid_constant__ pull_params p)
{
    const mul_u32 lane = threadIdx.x & 31;
    mulg_pieces(p.share, [&](const mulg_long &item, mul_u32 at, mul_u32 piece) {
        const mul_i64 row = p.first + item.item, begin = p.begin[row] + (mul_i64)piece * MULG_PIECE;
        const mul_i64 end = min(begin + MULG_PIECE, p.end[row]);
        pulled<T> x = pull_none<T, AGG>();
        pull_take<T, AGG>(p, begin + lane, end, 32, x);
        x = pull_gather<T, AGG>(x, 32, MULG_ALL);
        mul_u32 left = 0;
        if (lane == 0) {
            const mul_u64 to = 2 * ((mul_u64)item.base + piece);
            p.part[to] = mulg_traits<T>::to(x.x);
            p.part[to + 1] = (mul_u64)x.n;
            __threadfence();
            left = atomicSub(&p.share.longs[at].left, 1u);
        }
        if (__shfl_sync(MULG_ALL, left, 0) != 1) return;
        __threadfence();
        x = pull_none<T, AGG>();
        for (mul_u32 k = lane; k < item.pieces; k += 32)
            x = pull_merge<T, AGG>(x, pull_part<T>(p, item.base + k));
        x = pull_gather<T, AGG>(x, 32, MULG_ALL);
        if (lane == 0) pull_put<T, AGG>(p, item.item, x);
    });
}

/* A warp a row, one value after the other: the CPU's order. U: in which is added up. */
template <class T, class U, bool MEAN>
static __global__ void __launch_bounds__(MULG_THREADS) pull_ordered_kernel(const __grid_constant__ pull_params p)
{
    const mul_u32 lane = threadIdx.x & 31;
    const mul_u64 warps = (mul_u64)gridDim.x * MULG_WARPS;
    for (mul_u64 i = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32; i < p.count; i += warps) {
        const mul_i64 row = p.first + (mul_i64)i, begin = p.begin[row];
        const mul_i64 end = pull_masked(p, row) ? begin : p.end[row];
        U x = MEAN ? (U)0 : mulg_start<U>(MULG_SUM);
        mul_i64 n = 0;
        for (mul_i64 at = begin; at < end; at += 32) {
            mul_u32 place = at + lane < end ? pull_place(p, __ldg(p.column + at + lane)) : NOWHERE;
            const U v = place != NOWHERE ? (U)pull_value<T>(p, at + lane, place) : (U)0;
            const mul_u32 there = __ballot_sync(MULG_ALL, place != NOWHERE);
            for (mul_u32 left = there; left; left &= left - 1)
                x = mulg_plus(x, __shfl_sync(MULG_ALL, v, __ffs((int)left) - 1));
            n += __popc(there);
        }
        if (lane) continue;
        p.present[i] = n > 0;
        if (n > 0) ((U *)p.value)[i] = MEAN ? x / (U)n : x;
    }
}

static __global__ void place_kernel(const mul_i64 *begin, const mul_i64 *end, mul_u64 rows, mul_u32 *place)
{
    const mul_u64 r = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) place[r] = end[r] > begin[r] ? (mul_u32)begin[r] : NOWHERE;
}

static __global__ void listed_kernel(const mul_u32 *listed, mul_u64 count, mul_u32 *place)
{
    const mul_u64 i = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) place[listed[i]] = (mul_u32)i;
}

static __global__ void flag_kernel(const mul_u32 *listed, mul_u64 count, unsigned char *flag)
{
    const mul_u64 i = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) flag[listed[i]] = 1;
}

/* --- host ---------------------------------------------------------------------------------------- */

const char *lacis_mul_gpu_pull_refuses(const lacis_mul_gpu_job *job)
{
    if (job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD) return "only for built-in CON and AGG";
    if (job->checked) return "sums of these integers could overflow, which it does not look for";
    if (job->a.rows >= UINT32_MAX || job->b.rows >= UINT32_MAX) return "a dimension has 2^32 rows or columns";
    return NULL;
}

typedef void (*pull_fn)(pull_params);
struct pull_pair {
    pull_fn rows, pieces; /* pieces NULL: rows are taken whole */
};

#define PULL_PAIR(T, AGG)                                                                                            \
    {                                                                                                                \
        pull_kernel<T, AGG>, pull_long_kernel<T, AGG>                                                                \
    }
template <class T> static pull_pair kernels_of(const lacis_mul_gpu_job *job)
{
    switch (job->agg) {
    case LACIS_MUL_COUNT:
        return PULL_PAIR(int, MULG_COUNT);
    case LACIS_MUL_SUM:
        if constexpr (mulg_traits<T>::real)
            if (job->ordered) return {pull_ordered_kernel<T, T, false>, NULL};
        return PULL_PAIR(T, MULG_SUM);
    case LACIS_MUL_MIN:
        return PULL_PAIR(T, MULG_MIN);
    case LACIS_MUL_MAX:
        return PULL_PAIR(T, MULG_MAX);
    case LACIS_MUL_AVG:
        return {pull_ordered_kernel<T, double, true>, NULL};
    case LACIS_MUL_LAST:
        return PULL_PAIR(T, MULG_LAST);
    default:
        return PULL_PAIR(T, MULG_FIRST);
    }
}

static pull_pair kernels_for(const lacis_mul_gpu_job *job)
{
    switch (job->type) {
    case LACIS_MUL_I32:
        return kernels_of<int>(job);
    case LACIS_MUL_I64:
        return kernels_of<mul_i64>(job);
    case LACIS_MUL_F32:
        return kernels_of<float>(job);
    default:
        return kernels_of<double>(job);
    }
}

static pull_params params_of(const lacis_mul_gpu_pull *pull)
{
    const lacis_mul_gpu_job *job = pull->job;
    pull_params p = {};
    p.begin = (const mul_i64 *)job->a.begin;
    p.end = (const mul_i64 *)job->a.end;
    p.column = job->a.column;
    p.a_value = job->a.value;
    p.b_value = job->b.value;
    p.entry = pull->entry;
    p.mask_not = job->mask_not;
    if (job->mask) {
        p.mask_begin = (const mul_i64 *)job->mask->begin;
        p.mask_end = (const mul_i64 *)job->mask->end;
    }
    p.first = pull->first;
    p.count = (mul_u64)pull->count;
    p.con = (int)job->con_kind;
    p.agg = (int)job->agg;
    p.storage = (int)job->storage;
    p.present = pull->present;
    p.value = pull->value;
    return p;
}

/* Where the values of b lie that its rows have. */
static cudaError_t find_places(const lacis_mul_gpu_pull *pull, mul_u32 *place, cudaStream_t stream)
{
    const mul_u64 rows = (mul_u64)pull->job->b.rows;
    if (pull->job->b.begin) {
        place_kernel<<<(unsigned)(rows / 256 + 1), 256, 0, stream>>>((const mul_i64 *)pull->job->b.begin,
                                                                     (const mul_i64 *)pull->job->b.end, rows, place);
        return cudaSuccess;
    }
    const cudaError_t error = cudaMemsetAsync(place, 0xff, rows * sizeof *place, stream);
    if (error == cudaSuccess)
        listed_kernel<<<(unsigned)(pull->listed_count / 256 + 1), 256, 0, stream>>>(pull->listed, pull->listed_count,
                                                                                    place);
    return error;
}

static cudaError_t find_flags(const lacis_mul_gpu_pull *pull, unsigned char *flag, cudaStream_t stream)
{
    const cudaError_t error = cudaMemsetAsync(flag, 0, (size_t)pull->job->a.rows, stream);
    if (error == cudaSuccess)
        flag_kernel<<<(unsigned)(pull->row_mask_count / 256 + 1), 256, 0, stream>>>(pull->row_mask,
                                                                                    pull->row_mask_count, flag);
    return error;
}

static mul_u64 place_bytes(const lacis_mul_gpu_pull *pull)
{
    return pull->every ? 0 : (sizeof(mul_u32) * (mul_u64)pull->job->b.rows + 255) / 256 * 256;
}

static cudaError_t launch(const lacis_mul_gpu_pull *pull, pull_params *p, char *block, mul_u64 share, mul_u64 parts,
                          mul_u32 shift)
{
    const lacis_mul_gpu_job *job = pull->job;
    cudaStream_t stream = (cudaStream_t)job->stream;
    const pull_pair kernels = kernels_for(job);
    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    p->share = mulg_share_place(block, pull->entries, shift);
    p->part = (mul_u64 *)(block + share);
    if (error == cudaSuccess) error = cudaMemsetAsync(block, 0, 2 * sizeof(mul_u32), stream);
    if (error != cudaSuccess) return error;
    if (!pull->every) {
        mul_u32 *place = (mul_u32 *)(block + share + parts);
        error = find_places(pull, place, stream);
        p->place = place;
    }
    if (error == cudaSuccess && pull->masked) {
        unsigned char *flag = (unsigned char *)(block + share + parts + place_bytes(pull));
        error = find_flags(pull, flag, stream);
        p->flag = flag;
    }
    if (error != cudaSuccess) return error;
    kernels.rows<<<mulg_share_blocks(p->count, kernels.pieces ? shift : 5, processors), MULG_THREADS, 0, stream>>>(
        *p);
    if (kernels.pieces) kernels.pieces<<<(unsigned)processors * 8, MULG_THREADS, 0, stream>>>(*p);
    error = cudaGetLastError();
    if (error != cudaSuccess || job->having != LACIS_MUL_GPU_WITHIN) return error;
    return mulg_pull_sift(pull, processors);
}

lacis_mul_gpu_status lacis_mul_gpu_pull_run(lacis_mul_gpu_pull *pull)
{
    const lacis_mul_gpu_job *job = pull->job;
    pull->cuda_error = 0;
    if (lacis_mul_gpu_pull_refuses(job)) return LACIS_MUL_GPU_UNSUPPORTED;
    if (pull->count <= 0) return LACIS_MUL_GPU_OK;
    const mul_u32 shift = mulg_share_shift(pull->entries, (mul_u64)pull->count);
    const mul_u64 share = (mulg_share_bytes(pull->entries, shift) + 255) / 256 * 256;
    const mul_u64 pieces = pull->entries / MULG_PIECE + pull->entries / mulg_share_most(shift) + 1;
    const mul_u64 parts = 2 * sizeof(mul_u64) * pieces, flags = pull->masked ? (mul_u64)job->a.rows : 0;
    char *block = (char *)job->memory.alloc(job->memory.context, share + parts + place_bytes(pull) + flags);
    if (!block) return LACIS_MUL_GPU_NO_MEMORY;
    pull_params p = params_of(pull);
    pull->cuda_error = (int)launch(pull, &p, block, share, parts, shift);
    job->memory.free(job->memory.context, block);
    return pull->cuda_error ? LACIS_MUL_GPU_FAILED : LACIS_MUL_GPU_OK;
}
