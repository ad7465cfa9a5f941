/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of loose rows, and values in another type: what POWER needs between its rounds (gpu_closure.h).
 */
#include "gpu_closure.h"
#include "gpu_vector.cuh"

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
                    const mul_u64 x = mulg_absolute(v);
                    most = x > most ? x : most;
                }
            }
        }
    }
    entries = mulg_warp_sum(entries);
    degree = mulg_warp_most(degree);
    most = mulg_warp_most(value ? most : 1);
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
        const dim3 grid = mulg_piece_grid((mul_u64)rows->rows, rows->value ? (mul_u64)rows->cols : 1, processors);
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
    if (error == cudaSuccess) error = mulg_read_back(NULL, device, &found, sizeof found, stream);
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
    case LACIS_MUL_TO_C128: /* POWER refuses it before */
        return (int)cudaErrorInvalidValue;
    }
    return (int)cudaGetLastError();
}
