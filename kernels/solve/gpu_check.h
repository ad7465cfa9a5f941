/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes one by one in the very steps of solve.h: what gpu_run.cu asks of gpu_check.cu. C++ (nvcc) only. All of these
 * only launch.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CHECK_H
#define LACIS_KERNELS_SOLVE_GPU_CHECK_H

#include "solve/gpu_inside.h"

/* In device memory. */
typedef struct solve_gpu_found {
    unsigned long long bad_lanes, lowest; /* lowest: of bad lanes; UINT64_MAX before */
    long long word;                       /* of the lowest, see solve_gpu_name */
} solve_gpu_found;

/* Threads that walk, and bytes of what they need: as many as lanes may be solved at once. */
int64_t solve_gpu_walkers(const lacis_solve_job *job);
uint64_t solve_gpu_walk_bytes(const lacis_solve_job *job, int64_t walkers);

/* Looks at lanes whose mark is not SURE: writes their status, solves again what is REDO and not bad for values that
 * are not finite, and sums up in *found. found NULL: the status of all lanes is written, nothing summed up. */
cudaError_t solve_gpu_walk(const lacis_solve_gpu_job *job, const solve_gpu_flags &flags, solve_gpu_found *found,
                           void *work, int64_t walkers);
/* found->word of the lane found->lowest. */
cudaError_t solve_gpu_name(const lacis_solve_gpu_job *job, solve_gpu_found *found, void *work);

/* Residuals of all lanes. work: NULL for chains. */
cudaError_t solve_gpu_residuals(const lacis_solve_gpu_job *job, void *work, int64_t walkers);

#endif
