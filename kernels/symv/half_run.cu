/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse symmetric products on a device: with a plan tiles' parts (half_tiles.cu) and their sums, without one
 * atomics. Called by operators/symv.
 */
#include "half_inside.cuh"

enum { THREADS = 256, ROW_LANES = 8 };

/* --- the end of a product ------------------------------------------------------------------------ */

template <class T> static __device__ void put(const half_params &p, half_i64 row, T sum)
{
    typedef half_number<T> N;
    T out = p.scale ? N::multiply(N::from(p.alpha), sum) : sum;
    if (p.add) out = N::fma(N::from(p.beta), ((const T *)p.y0)[row * p.y_step], out);
    ((T *)p.y)[row * p.y_step] = out;
}

/* A row's parts by rising slot; where there are many, the warp adds them lane by lane, then the lanes. */
enum { FEW = 32 };
template <class T> static __global__ void __launch_bounds__(THREADS) sum_kernel(const __grid_constant__ half_params p)
{
    typedef half_number<T> N;
    const half_i64 row = (half_i64)blockIdx.x * THREADS + threadIdx.x;
    const half_u32 lane = threadIdx.x % 32;
    const T *part = (const T *)p.part;
    half_u32 from = 0, to = 0;
    if (row < p.n) from = p.slot_from[row], to = p.slot_from[row + 1];
    T sum = T();
    if (to - from <= FEW)
        for (half_u32 i = from; i < to; i++)
            sum = N::add(sum, part[__ldg(p.slot + i)]);
    for (half_u32 many = __ballot_sync(HALF_ALL, to - from > FEW); many; many &= many - 1) {
        const int whose = __ffs((int)many) - 1;
        const half_u32 begin = __shfl_sync(HALF_ALL, from, whose), end = __shfl_sync(HALF_ALL, to, whose);
        T own = T();
        for (half_u32 i = begin + lane; i < end; i += 32)
            own = N::add(own, part[__ldg(p.slot + i)]);
        for (int d = 16; d > 0; d /= 2)
            own = N::add(own, N::across(own, d));
        if (lane == (half_u32)whose) sum = own;
    }
    if (row < p.n) put(p, row, sum);
}

template <class T> static __global__ void __launch_bounds__(THREADS) end_kernel(const __grid_constant__ half_params p)
{
    const half_i64 row = (half_i64)blockIdx.x * THREADS + threadIdx.x;
    if (row < p.n) put(p, row, ((const T *)p.part)[row]);
}

/* --- atomics ------------------------------------------------------------------------------------- */

struct half_rows {
    const half_i64 *begin, *end;
    const half_u32 *column;
};

template <class T>
static __global__ void __launch_bounds__(THREADS) atomic_kernel(const __grid_constant__ half_params p, half_rows a)
{
    typedef half_number<T> N;
    const half_u32 lane = threadIdx.x % ROW_LANES;
    const half_i64 r = ((half_i64)blockIdx.x * THREADS + threadIdx.x) / ROW_LANES;
    T *to = (T *)p.part;
    T sum = T();
    if (r < p.n) {
        const T x = ((const T *)p.x)[r * p.x_step];
        for (half_i64 i = a.begin[r] + lane; i < a.end[r]; i += ROW_LANES) {
            const half_i64 c = a.column[i];
            if (p.upper ? c < r : c > r) continue;
            T v = p.value == NULL ? N::one() : ((const T *)p.value)[i];
            if (c == r) v = N::on_diagonal(v, p.hermitian);
            sum = N::fma(v, ((const T *)p.x)[c * p.x_step], sum);
            if (c != r) N::atomic(to + c, N::multiply(N::mirrored(v, p.hermitian), x));
        }
    }
    for (int d = ROW_LANES / 2; d > 0; d /= 2)
        sum = N::add(sum, N::across(sum, d));
    if (lane == 0 && r < p.n) N::atomic(to + r, sum);
}

/* --- host ---------------------------------------------------------------------------------------- */

const char *lacis_symv_half_gpu_refuses(const lacis_symv_half *half)
{
    const lacis_symv_job *job = &half->job;
    if (job->type > LACIS_SYMV_C128) return "a sparse matrix only in single and double precision";
    if (job->order == LACIS_SYMV_CANONICAL) return "the canonical order of a sparse matrix is the CPU's";
    if (job->n >= (half_i64)UINT32_MAX) return "it has 2^32 rows";
    if (job->matrices != 1 || job->figures != NULL) return "a sparse matrix only alone, and without figures";
    return NULL;
}

static half_params params_of(const lacis_symv_half_gpu *in, half_i64 side)
{
    const lacis_symv_job *job = &in->half.job;
    const half_u64 bytes = (half_u64)lacis_symv_vector_bytes(job->type);
    const bool complex = lacis_symv_complex(job->type);
    half_params p = {};
    p.value = in->half.value;
    p.x = (const char *)job->x + side * job->x_side * (half_i64)bytes;
    p.y0 = job->y0 == NULL ? NULL : (const char *)job->y0 + side * job->y_side * (half_i64)bytes;
    p.y = (char *)job->y + side * job->y_side * (half_i64)bytes;
    p.x_step = job->x_step;
    p.y_step = job->y_step;
    p.n = job->n;
    for (int i = 0; i < 2; i++) {
        p.alpha[i] = job->alpha[2 * i];
        p.beta[i] = job->beta[2 * i];
    }
    p.hermitian = job->hermitian && complex;
    p.upper = job->uplo == LACIS_SYMV_UPPER;
    p.scale = p.alpha[0] != 1 || (complex && p.alpha[1] != 0);
    p.add = p.beta[0] != 0 || (complex && p.beta[1] != 0);
    return p;
}

static void plan_params(const lacis_symv_half_plan *plan, half_params *p)
{
    p->pos = half_at<half_i64>(plan, HALF_POS);
    p->tiles = half_at<half_tile>(plan, HALF_TILES);
    p->local = half_at<half_u32>(plan, HALF_LOCAL);
    p->list = half_at<half_u32>(plan, HALF_LIST);
    p->slot_from = half_at<half_u32>(plan, HALF_SLOT_FROM);
    p->slot = half_at<half_u32>(plan, HALF_SLOT);
    p->value = plan->ones ? NULL : half_at<void>(plan, HALF_VALUE);
}

#define HALF_EACH_TYPE(type, WITH)                                                                                   \
    switch (type) {                                                                                                  \
    case LACIS_SYMV_F32:                                                                                             \
        WITH(float);                                                                                                 \
        break;                                                                                                       \
    case LACIS_SYMV_F64:                                                                                             \
        WITH(double);                                                                                                \
        break;                                                                                                       \
    case LACIS_SYMV_C64:                                                                                             \
        WITH(half_complex<float>);                                                                                   \
        break;                                                                                                       \
    default:                                                                                                         \
        WITH(half_complex<double>);                                                                                  \
        break;                                                                                                       \
    }

static cudaError_t with_plan(const lacis_symv_half_gpu *in, const lacis_symv_half_plan *plan, half_params *p)
{
    const cudaStream_t stream = (cudaStream_t)in->stream;
    const unsigned blocks = (unsigned)((p->n + THREADS - 1) / THREADS);
    plan_params(plan, p);
    const cudaError_t error =
        half_tiles_launch(in->half.job.type, {plan->lanes, plan->steps}, plan->tiles, *p, stream);
    if (error != cudaSuccess) return error;
#define SUM(T) sum_kernel<T><<<blocks, THREADS, 0, stream>>>(*p)
    HALF_EACH_TYPE(in->half.job.type, SUM)
    return cudaGetLastError();
}

static cudaError_t with_atomics(const lacis_symv_half_gpu *in, half_params *p)
{
    const cudaStream_t stream = (cudaStream_t)in->stream;
    const half_u64 bytes = (half_u64)lacis_symv_vector_bytes(in->half.job.type) * (half_u64)p->n;
    const unsigned blocks = (unsigned)((p->n + THREADS - 1) / THREADS);
    const unsigned rows = (unsigned)((p->n * ROW_LANES + THREADS - 1) / THREADS);
    const half_rows a = {(const half_i64 *)in->half.begin, (const half_i64 *)in->half.end, in->half.column};
    const cudaError_t error = cudaMemsetAsync(p->part, 0, bytes, stream);
    if (error != cudaSuccess) return error;
#define ADD(T)                                                                                                       \
    atomic_kernel<T><<<rows, THREADS, 0, stream>>>(*p, a);                                                           \
    end_kernel<T><<<blocks, THREADS, 0, stream>>>(*p)
    HALF_EACH_TYPE(in->half.job.type, ADD)
    return cudaGetLastError();
}

uint64_t lacis_symv_half_gpu_work_bytes(const lacis_symv_half_gpu *job, const lacis_symv_half_plan *plan)
{
    const half_u64 bytes = (half_u64)lacis_symv_vector_bytes(job->half.job.type);
    return bytes * (plan != NULL ? plan->slots : (half_u64)job->half.job.n) + 256;
}

lacis_symv_gpu_status lacis_symv_half_gpu_run(const lacis_symv_half_gpu *job, const lacis_symv_half_plan *plan,
                                              int *cuda_error)
{
    const lacis_symv_job *with = &job->half.job;
    *cuda_error = 0;
    if (lacis_symv_half_gpu_refuses(&job->half) || (plan == NULL && with->order == LACIS_SYMV_FIXED && with->n > 0))
        return LACIS_SYMV_GPU_UNSUPPORTED;
    if (with->n == 0 || with->sides == 0) return LACIS_SYMV_GPU_OK;
    void *part = with->host.alloc(with->host.context, lacis_symv_half_gpu_work_bytes(job, plan));
    if (part == NULL) return LACIS_SYMV_GPU_NO_MEMORY;
    cudaError_t error = cudaSuccess;
    for (half_i64 side = 0; error == cudaSuccess && side < with->sides; side++) {
        half_params p = params_of(job, side);
        p.part = part;
        error = plan != NULL ? with_plan(job, plan, &p) : with_atomics(job, &p);
    }
    with->host.free(with->host.context, part);
    *cuda_error = (int)error;
    return error == cudaSuccess ? LACIS_SYMV_GPU_OK : LACIS_SYMV_GPU_FAILED;
}
