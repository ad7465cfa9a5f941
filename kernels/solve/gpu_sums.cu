/* SPDX-License-Identifier: Apache-2.0
 *
 * What SQL wants of a result that nobody else reads: sums, bounds and NaNs of each lane, one thread a lane in the
 * order of its rows, so that they depend neither on the layout nor on the lanes beside. Called by operators/solve.
 */
#include "solve/gpu_place.cuh"

enum { SUM_THREADS = 128 };

SOLVE_FN double real_part(double x)
{
    return x;
}
SOLVE_FN double real_part(float x)
{
    return (double)x;
}
SOLVE_FN double real_part(solve_complex z)
{
    return z.re;
}

template <class S>
__global__ void __launch_bounds__(SUM_THREADS)
    sum_kernel(const S *x, lacis_solve_group group, lacis_solve_gpu_sum *out)
{
    solve_gpu_begin();
    const int64_t lane = (int64_t)blockIdx.x * SUM_THREADS + threadIdx.x;
    if (lane >= group.lanes) return;
    const S *at = x + place_of(group.x, group.rows, lane);
    lacis_solve_gpu_sum sum = {0, INFINITY, -INFINITY, 0};
    for (int64_t r = 0; r < group.rows; r++) {
        const double value = real_part(at[r * group.x.block]);
        const bool number = value == value;
        sum.sum += number ? value : 0;
        sum.least = value < sum.least ? value : sum.least;
        sum.most = value > sum.most ? value : sum.most;
        sum.nan += !number;
    }
    out[group.first + lane] = sum;
}

static const void *kernel_of(lacis_solve_type type)
{
    if (type == LACIS_SOLVE_C128) return (const void *)sum_kernel<solve_complex>;
    return type == LACIS_SOLVE_F64 ? (const void *)sum_kernel<double> : (const void *)sum_kernel<float>;
}

lacis_solve_gpu_status lacis_solve_gpu_sums(const lacis_solve_gpu_job *job, lacis_solve_gpu_sum *out, int *cuda_error)
{
    const lacis_solve_job *j = &job->job;
    *cuda_error = 0;
    for (int64_t g = 0; g < j->groups; g++) {
        lacis_solve_group group = j->group[g];
        const void *x = j->x;
        void *arguments[] = {&x, &group, &out};
        if (group.lanes == 0) continue;
        const solve_gpu_start_at at = {dim3((unsigned)((group.lanes + SUM_THREADS - 1) / SUM_THREADS)), SUM_THREADS,
                                       1, 0, (cudaStream_t)job->stream};
        *cuda_error = (int)solve_gpu_start(&at, kernel_of(j->type), arguments);
        if (*cuda_error != (int)cudaSuccess) return LACIS_SOLVE_GPU_FAILED;
    }
    return LACIS_SOLVE_GPU_OK;
}
