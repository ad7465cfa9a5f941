/* SPDX-License-Identifier: Apache-2.0
 *
 * HAVING that compares (lacis_mul_gpu_job.low and so on), for vectors. Used by gpu_vector_push.cu, whose entries are
 * never stored then, and gpu_vector_sift.cu.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_VECTOR_SIFT_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_VECTOR_SIFT_CUH

#include "gpu_vector.cuh"
#include "gpu_vector.h"

struct mulg_interval {
    mul_i64 low, high;
    double low_real, high_real;
};

static inline mulg_interval mulg_interval_of(const lacis_mul_gpu_job *job)
{
    return {job->low, job->high, job->low_real, job->high_real};
}

template <class V> MULG_DEVICE bool mulg_has(const mulg_interval &interval, V v)
{
    return interval.low <= (mul_i64)v && (mul_i64)v <= interval.high;
}
template <> __device__ __forceinline__ bool mulg_has(const mulg_interval &interval, double v)
{
    return interval.low_real <= v && v <= interval.high_real;
}
template <> __device__ __forceinline__ bool mulg_has(const mulg_interval &interval, float v)
{
    return mulg_has(interval, (double)v);
}

/* gpu_vector_sift.cu: what HAVING does not keep of the rows that gpu_vector_pull.cu found is not present. */
cudaError_t mulg_pull_sift(const lacis_mul_gpu_pull *pull, int processors);

#endif
