/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's variant for the GPU on a pretended device whose kernels are the CPU's. gpu.c and what belongs to it are
 * compiled into whatever includes this file, so that tests of them work in builds without nvcc as well.
 */
#ifndef LACIS_TESTS_GPU_SYMV_H
#define LACIS_TESTS_GPU_SYMV_H

#include "parity/symmetric.h"
#include "support/gpu_symv_fake.h"
#include "symv/gpu.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_symv_gpu_run         fake_kernels
#define lacis_symv_gpu_refuses     fake_refuses
#define lacis_symv_gpu_work_bytes  fake_work_bytes
#define lacis_symv_gpu_default     fake_default
#define lacis_symv_gpu_choice_text fake_choice_text

/* The library has its own. */
#define lacis_symv_gpu           tested_gpu
#define lacis_symv_gpu_can       tested_can
#define lacis_symv_gpu_cost      tested_cost
#define lacis_symv_gpu_explain   tested_explain
#define lacis_symv_gpu_calibrate tested_calibrate
#define lacis_symv_gpu_figure    tested_figure
#define lacis_symv_gpu_job_of    tested_job_of
#define lacis_symv_choose        tested_choose

static const char *fake_refuses(const lacis_symv_gpu_job *job)
{
    (void)job;
    return fake_refusal;
}

static uint64_t fake_work_bytes(const lacis_symv_gpu_job *job)
{
    (void)job;
    return fake_takes;
}

static lacis_symv_gpu_choice fake_default(const lacis_symv_gpu_job *job)
{
    (void)job;
    return (lacis_symv_gpu_choice){.kind = LACIS_SYMV_GPU_TILES};
}

static const char *fake_choice_text(const lacis_symv_gpu_choice *choice, char *text)
{
    (void)choice;
    snprintf(text, LACIS_SYMV_GPU_CHOICE_TEXT, "pretended tiles");
    return text;
}

/* The CPU's loops between the job's device pointers; samples of CALIBRATE are only counted. */
static lacis_symv_gpu_status fake_kernels(const lacis_symv_gpu_job *job, int *cuda_error)
{
    const lacis_symv_host *host = &job->job.host;
    lacis_symv_job own = job->job;
    const int64_t large = 2500;
    *cuda_error = fake_cuda_error;
    fake_runs++;
    if (fake_cuda_error != 0) return LACIS_SYMV_GPU_FAILED;
    void *work = host->alloc(host->context, fake_takes);
    if (work == NULL) return LACIS_SYMV_GPU_NO_MEMORY;
    fake_on_cpu(&own);
    lacis_symv_status status = own.n > large ? LACIS_SYMV_OK : lacis_symv_run(&own);
    host->free(host->context, work);
    return status == LACIS_SYMV_OK ? LACIS_SYMV_GPU_OK : LACIS_SYMV_GPU_NO_MEMORY;
}

#include "../../operators/symv/choice.c"
#include "../../operators/symv/gpu.c"
#include "../../operators/symv/gpu_calibrate.c"
#include "../../operators/symv/gpu_cost.c"

#endif
