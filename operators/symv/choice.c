/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the GPU's kernels do a job of SYMV: what TUNE found for its type, triangle and size, or the shipped default.
 * Called by gpu.c, and by gpu_cost.c for EXPLAIN.
 */
#include "symv/device.h"
#include "symv/tune.h"

#ifdef LACIS_GPU_KERNELS

lacis_symv_gpu_choice lacis_symv_choose(const lacis_profile *profile, const lacis_gpu *gpu,
                                        const lacis_symv_gpu_job *job)
{
    lacis_symv_gpu_choice choice;
    return lacis_symv_tuned(profile, gpu, job, &choice) ? choice : lacis_symv_gpu_default(job);
}

lacis_symv_gpu_job lacis_symv_gpu_job_of(const lacis_symv_work *work, const lacis_symv_piece *piece,
                                         const lacis_gpu *gpu)
{
    enum { USUAL = 132 }; /* an H200's, where the device has not been started */
    lacis_gpu_facts facts = {.processors = USUAL};
    lacis_symv_gpu_job job = {0};
    if (gpu != NULL) lacis_gpu_describe(gpu, &facts);
    job.processors = facts.processors;
    lacis_symv_job_of(work, piece, &job.job);
    return job;
}

#endif
