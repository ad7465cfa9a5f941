/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's variant for graphs on a pretended device whose kernels are the CPU's. sparse_gpu.c and what belongs to it
 * are compiled into whatever includes this file, so that tests of them work in builds without nvcc as well.
 */
#ifndef LACIS_TESTS_GPU_SYMV_GRAPH_H
#define LACIS_TESTS_GPU_SYMV_GRAPH_H

#include "support/gpu_symv_fake.h"
#include "symv/half.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_symv_half_gpu_refuses fake_refuses
#define lacis_symv_half_gpu_plan    fake_plan
#define lacis_symv_half_gpu_run     fake_kernels

/* The library has its own. */
#define lacis_symv_sparse_gpu      tested_gpu
#define lacis_symv_sparse_gpu_can  tested_can
#define lacis_symv_sparse_gpu_cost tested_cost

enum { PLAN_BYTES = 5000 };
static int fake_plans;    /* made, each with fake_takes for itself */
static bool fake_planned; /* the last run had a plan */

static const char *fake_refuses(const lacis_symv_half *half)
{
    (void)half;
    return fake_refusal;
}

static lacis_symv_gpu_status fake_plan(const lacis_symv_half_gpu *job, lacis_symv_half_plan *plan, int *cuda_error)
{
    const lacis_symv_host *host = &job->half.job.host;
    *cuda_error = 0;
    fake_plans++;
    void *work = host->alloc(host->context, fake_takes);
    if (work == NULL) return LACIS_SYMV_GPU_NO_MEMORY;
    host->free(host->context, work);
    *plan = (lacis_symv_half_plan){.block = host->alloc(host->context, PLAN_BYTES), .bytes = PLAN_BYTES, .tiles = 77};
    const void *parts[] = {job->half.begin, job->half.end, job->half.column, job->half.value};
    memcpy(plan->place, parts, sizeof parts);
    return plan->block == NULL ? LACIS_SYMV_GPU_NO_MEMORY : LACIS_SYMV_GPU_OK;
}

/* The CPU's loops between device pointers, the graph's as the plan has them where there is one. */
static lacis_symv_gpu_status fake_kernels(const lacis_symv_half_gpu *job, const lacis_symv_half_plan *plan,
                                          int *cuda_error)
{
    lacis_symv_half own = job->half;
    *cuda_error = fake_cuda_error;
    fake_runs++;
    fake_planned = plan != NULL;
    if (fake_cuda_error != 0) return LACIS_SYMV_GPU_FAILED;
    if (plan != NULL && (plan->block == NULL || plan->tiles != 77)) return LACIS_SYMV_GPU_UNSUPPORTED;
    if (plan != NULL) {
        const void *parts[4];
        memcpy(parts, plan->place, sizeof parts);
        own.begin = parts[0];
        own.end = parts[1];
        own.column = parts[2];
        own.value = parts[3];
    }
    fake_on_cpu(&own.job);
    return lacis_symv_half_run(&own) == LACIS_SYMV_OK ? LACIS_SYMV_GPU_OK : LACIS_SYMV_GPU_NO_MEMORY;
}

#include "../../operators/symv/sparse_gpu.c"
#include "../../operators/symv/sparse_gpu_cost.c"

#endif
