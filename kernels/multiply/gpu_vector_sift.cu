/* SPDX-License-Identifier: Apache-2.0
 *
 * HAVING on the rows of a vector that gpu_vector_pull.cu, which calls this, has found: a look at each value, so that
 * the kernels that find them stay as they are.
 */
#include "gpu_vector_sift.cuh"

enum { BLOCKS = 8 }; /* on a multiprocessor */

template <class V>
static __global__ void __launch_bounds__(MULG_THREADS)
    sift_kernel(const V *value, unsigned char *present, mul_u64 count, mulg_interval interval)
{
    const mul_u64 step = (mul_u64)gridDim.x * MULG_THREADS;
    for (mul_u64 i = (mul_u64)blockIdx.x * MULG_THREADS + threadIdx.x; i < count; i += step)
        if (present[i] && !mulg_has(interval, value[i])) present[i] = 0;
}

template <class V> static void sift(const lacis_mul_gpu_pull *pull, int processors)
{
    const mul_u64 count = (mul_u64)pull->count, wanted = (count + MULG_THREADS - 1) / MULG_THREADS;
    const mul_u64 most = (mul_u64)processors * BLOCKS;
    sift_kernel<V><<<(unsigned)(wanted < most ? wanted : most), MULG_THREADS, 0, (cudaStream_t)pull->job->stream>>>(
        (const V *)pull->value, pull->present, count, mulg_interval_of(pull->job));
}

cudaError_t mulg_pull_sift(const lacis_mul_gpu_pull *pull, int processors)
{
    switch (pull->job->storage) {
    case LACIS_MUL_TO_U8:
        sift<unsigned char>(pull, processors);
        break;
    case LACIS_MUL_TO_U16:
        sift<unsigned short>(pull, processors);
        break;
    case LACIS_MUL_TO_U32:
        sift<mul_u32>(pull, processors);
        break;
    case LACIS_MUL_TO_I32:
        sift<int>(pull, processors);
        break;
    case LACIS_MUL_TO_I64:
        sift<mul_i64>(pull, processors);
        break;
    case LACIS_MUL_TO_F32:
        sift<float>(pull, processors);
        break;
    default:
        sift<double>(pull, processors);
        break;
    }
    return cudaGetLastError();
}
