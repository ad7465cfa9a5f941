/* SPDX-License-Identifier: Apache-2.0
 *
 * What the GPU's solvers share on the host side: gpu_run.cu (marks, the look at doubtful lanes, residuals, plans)
 * calls the solvers of chains (gpu_chain*.cu) and of trees (gpu_tree*.cu). C++ (nvcc) only.
 *
 * A solver computes x of every lane and leaves a mark for every lane; it looks for nothing else. Where a mark is not
 * SURE it also sets *doubt. gpu_check.cu then walks through those lanes alone in the very steps of solve.h: it finds
 * the status word or that nothing is wrong, and solves lanes marked REDO again.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_INSIDE_H
#define LACIS_KERNELS_SOLVE_GPU_INSIDE_H

#include "solve/gpu.h"

#include <cuda_runtime.h>

enum {
    SOLVE_GPU_SURE,  /* nothing is wrong */
    SOLVE_GPU_DOUBT, /* something may be; x stays whatever is found */
    SOLVE_GPU_REDO   /* something may be, and x may be worse than steps of solve.h would have it: a pivot that only
                        other steps have was not finite or out of range */
};

/* Device memory (doubt: or pinned), passed to kernels by value. */
typedef struct solve_gpu_flags {
    unsigned char *mark; /* by lane of the job (group.first + lane), not cleared before; NULL: not wanted */
    unsigned *doubt;     /* 0 before */
} solve_gpu_flags;

#ifdef __CUDACC__
static __device__ __forceinline__ void solve_gpu_mark(const solve_gpu_flags &flags, int64_t lane_of_job, int mark)
{
    if (flags.mark == nullptr) return;
    flags.mark[lane_of_job] = (unsigned char)mark;
    if (mark != SOLVE_GPU_SURE) *(volatile unsigned *)flags.doubt = 1;
}
#endif

/* Of chains there is nothing to plan. */
typedef struct solve_gpu_tree_plan solve_gpu_tree_plan;
struct lacis_solve_gpu_plan {
    solve_gpu_tree_plan *trees; /* NULL: chains */
};

/* --- gpu_chain*.cu, and the same of gpu_tree*.cu ------------------------------------------------------- *
 *
 * solve: only launches work on job->stream. Groups without lanes or rows are among job.group and have no marks. What
 * it takes of host.alloc it gives back before it returns. *cuda_error is set with LACIS_SOLVE_GPU_FAILED.
 * refuses, bytes: of lacis_solve_gpu_refuses and lacis_solve_gpu_work_bytes, the solver's part.
 * plan: may be NULL in solve, see lacis_solve_gpu_run. *out is NULL where there is nothing to plan. */
lacis_solve_gpu_status solve_gpu_chains(const lacis_solve_gpu_job *job, const solve_gpu_flags *flags,
                                        int *cuda_error);
const char *solve_gpu_chains_refuse(const lacis_solve_gpu_job *job);
uint64_t solve_gpu_chains_bytes(const lacis_solve_gpu_job *job);
int64_t solve_gpu_chains_factored(const lacis_solve_gpu_job *job); /* groups, see lacis_solve_output */

lacis_solve_gpu_status solve_gpu_trees(const lacis_solve_gpu_job *job, const lacis_solve_gpu_plan *plan,
                                       const int32_t *host_parent, const solve_gpu_flags *flags, int *cuda_error);
int64_t solve_gpu_trees_factored(const lacis_solve_gpu_job *job);
const char *solve_gpu_trees_refuse(const lacis_solve_gpu_job *job);
uint64_t solve_gpu_trees_bytes(const lacis_solve_gpu_job *job);
lacis_solve_gpu_status solve_gpu_tree_plan_new(const lacis_solve_gpu_job *job, const int32_t *host_parent,
                                               solve_gpu_tree_plan **out, int *cuda_error);
void solve_gpu_tree_plan_free(const lacis_solve_gpu_job *job, solve_gpu_tree_plan *plan); /* NULL is fine */
bool solve_gpu_tree_plan_keep(solve_gpu_tree_plan *plan, lacis_solve_gpu_kept *out);
lacis_solve_gpu_status solve_gpu_tree_plan_from(const lacis_solve_gpu_job *job, const lacis_solve_gpu_kept *kept,
                                                solve_gpu_tree_plan **out, int *cuda_error);
const char *solve_gpu_trees_convert(const lacis_solve_gpu_job *job);

/* --- helpers ----------------------------------------------------------------------------------------- */

static inline bool solve_gpu_take(const lacis_solve_gpu_job *job, uint64_t bytes, void **out)
{
    *out = job->job.host.alloc(job->job.host.context, bytes);
    return *out != NULL;
}

static inline void solve_gpu_give(const lacis_solve_gpu_job *job, void *block)
{
    if (block != NULL) job->job.host.free(job->job.host.context, block);
}

/* --- gpu_start.cu ------------------------------------------------------------------------------------- *
 *
 * Launches a kernel whose blocks may come while the last blocks of the one before are still at work (programmatic
 * dependent launch). So every kernel that is launched thus begins with solve_gpu_wait, in all its threads: what was
 * launched before is done then, and so is what that waited for. (What the host has sent and waited for may be read
 * before.) solve_gpu_trigger, of all blocks, lets the next kernel's come: where blocks are not as many as
 * multiprocessors hold at once, late, since those that come are dealt to where there is room just then. */
typedef struct solve_gpu_device {
    int major, shared_bytes; /* compute capability; shared memory of a block at most */
} solve_gpu_device;
cudaError_t solve_gpu_device_at_hand(solve_gpu_device *out); /* the calling thread's */

typedef struct solve_gpu_start_at {
    dim3 grid;
    unsigned threads, cluster; /* of a block; blocks of a cluster, 1: none */
    uint64_t shared_bytes;
    cudaStream_t stream;
} solve_gpu_start_at;
cudaError_t solve_gpu_start(const solve_gpu_start_at *at, const void *kernel, void **arguments);

#ifdef __CUDACC__
static __device__ __forceinline__ void solve_gpu_trigger()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
static __device__ __forceinline__ void solve_gpu_wait()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}
static __device__ __forceinline__ void solve_gpu_begin()
{
    solve_gpu_trigger();
    solve_gpu_wait();
}
#endif

/* How far a row may miss dominance: see inside.h. */
#define SOLVE_GPU_SLACK_F64 (1 + 1e-12)
#define SOLVE_GPU_SLACK_F32 (1 + 1e-5F)

#endif
