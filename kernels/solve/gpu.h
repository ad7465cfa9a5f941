/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of systems on a CUDA device: what solve.h does, on raw device pointers. operators/solve's GPU variants fill
 * a job and call these; nothing here knows the engine. Built with nvcc (gpu*.cu); where there is no nvcc none of it
 * is linked. The CUDA runtime is linked statically and works in the device's primary context: the caller has made it
 * current on this thread.
 *
 * The job is lacis_solve_job with these differences: data of lower, diagonal, upper, rhs, and x, residual, status and
 * parent are device pointers; group lies on the host; host.alloc and host.free give device memory, stream-ordered on
 * `stream`, 256-byte aligned, not cleared, NULL where there is none (a block given free may still be in use by work
 * already on the stream); threads is not looked at. Lanes that pad a last flock may be computed along.
 *
 * Steps and order of solve.h may be replaced by others (cyclic reduction and the like), but stay the same for a kind
 * of device whatever layout, grouping and number of lanes, so that results have the same bits there. What counts as a
 * bad lane, and which row is named, is as in solve.h. Chains: THREAD has the steps, so the bits, of the CPU; CHIP has
 * steps of its own (gpu_chip.cuh), cut by the length and the type alone, whether a matrix is shared or not; lanes
 * which are bad or look so are solved again in those of solve.h. So who chooses between the two by anything but
 * lengths and types gives up equal bits. Complex elements lie on addresses divisible by 16.
 *
 * Work goes to `stream`; a run returns once it knows whether a lane is bad (one small block read back), or at once
 * with `later`. Calls may be made from several threads with jobs of their own.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_H
#define LACIS_KERNELS_SOLVE_GPU_H

#include "solve/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lacis_solve_gpu_status {
    LACIS_SOLVE_GPU_OK,
    LACIS_SOLVE_GPU_NO_MEMORY, /* alloc answered NULL: nothing is left allocated; try fewer lanes */
    LACIS_SOLVE_GPU_CANCELLED,
    LACIS_SOLVE_GPU_BAD,         /* as LACIS_SOLVE_BAD */
    LACIS_SOLVE_GPU_UNSUPPORTED, /* see lacis_solve_gpu_refuses */
    LACIS_SOLVE_GPU_FAILED       /* a CUDA call failed: out.cuda_error (a cudaError_t) */
} lacis_solve_gpu_status;

/* Ways to solve; each is a variant of the operator. Not every one takes every job. */
typedef enum lacis_solve_gpu_way {
    LACIS_SOLVE_GPU_THREAD, /* a thread a system, streaming: cuThomasBatch, cuHinesBatch; any layout, any shape */
    LACIS_SOLVE_GPU_CHIP,   /* a system in registers, rows split over threads: chunks and PCR (chains); every word is
                               read once and written once */
    LACIS_SOLVE_GPU_LANES,  /* lanes x groups of threads on chip, host-made schedule of subtrees (trees) */
    LACIS_SOLVE_GPU_SHARED, /* a thread a system whose q and y stay in shared memory: cuHinesBatch's Block-Shared */
    LACIS_SOLVE_GPU_BRANCHES, /* several shapes at once: branches by levels as batches of chains */
    LACIS_SOLVE_GPU_CYCLIC, /* a block a system in shared memory: cyclic reduction, PCR for the last rows (chains) */
    LACIS_SOLVE_GPU_WAYS
} lacis_solve_gpu_way;
extern const char *const lacis_solve_gpu_way_name[LACIS_SOLVE_GPU_WAYS];

enum { LACIS_SOLVE_GPU_PINNED_BYTES = 4096 };
typedef struct lacis_solve_gpu_job {
    lacis_solve_job job;
    lacis_solve_gpu_way way;
    bool later;   /* do not wait: status says what there is to say once the stream has come so far */
    bool trusted; /* lanes are known to be good, nothing is looked at and not waited for; status stays as it is */
    void *stream; /* cudaStream_t; NULL: the default stream */
    void *pinned; /* LACIS_SOLVE_GPU_PINNED_BYTES of pinned host memory of this run's own; NULL: none */
} lacis_solve_gpu_job;

typedef struct lacis_solve_gpu_output {
    lacis_solve_output solve;
    int cuda_error; /* with LACIS_SOLVE_GPU_FAILED */
} lacis_solve_gpu_output;

/* What depends on shapes alone (schedules, depth-first numbers, factors' places), made once on the host and kept on
 * the device for as many runs as there are: SIMULATE solves one shape thousands of times. */
typedef struct lacis_solve_gpu_plan lacis_solve_gpu_plan;
lacis_solve_gpu_status lacis_solve_gpu_plan_new(const lacis_solve_gpu_job *job, const int32_t *host_parent,
                                                lacis_solve_gpu_plan **out, int *cuda_error);
void lacis_solve_gpu_plan_free(const lacis_solve_gpu_job *job, lacis_solve_gpu_plan *plan); /* NULL is fine */

/* A plan taken apart, to be kept beside the trees that it was made of, for jobs with groups of the same trees in the
 * same order: its block, which job.host.alloc gave, and what the host has to know of it. */
enum { LACIS_SOLVE_GPU_PLAN_WORDS = 16 };
typedef struct lacis_solve_gpu_kept {
    void *device;
    uint64_t bytes;
    uint64_t word[LACIS_SOLVE_GPU_PLAN_WORDS];
} lacis_solve_gpu_kept;
/* The plan goes, the block is the caller's. False: there is nothing to keep (chains), the plan stays as it is. */
bool lacis_solve_gpu_plan_keep(lacis_solve_gpu_plan *plan, lacis_solve_gpu_kept *out);
/* A plan that reads the block; lacis_solve_gpu_plan_free leaves that where it is. */
lacis_solve_gpu_status lacis_solve_gpu_plan_from(const lacis_solve_gpu_job *job, const lacis_solve_gpu_kept *kept,
                                                 lacis_solve_gpu_plan **out, int *cuda_error);

/* What this way does to Flat lanes before it solves them, as a phrase for EXPLAIN; NULL: nothing. */
const char *lacis_solve_gpu_converts(const lacis_solve_gpu_job *job);

/* Why this way cannot do the job, as a plain phrase for EXPLAIN; NULL: it can. Looks only at the job's fields, not at
 * the device. */
const char *lacis_solve_gpu_refuses(const lacis_solve_gpu_job *job);

/* plan may be NULL: then one is made for this run. host_parent: job.parent on the host. After anything but OK nothing
 * stays allocated, and what x, residual and status hold is undefined. */
lacis_solve_gpu_status lacis_solve_gpu_run(const lacis_solve_gpu_job *job, const lacis_solve_gpu_plan *plan,
                                           const int32_t *host_parent, lacis_solve_gpu_output *out);

/* Of each lane's x, in the order of its rows: of complex numbers the real parts, as SQL takes them. */
typedef struct lacis_solve_gpu_sum {
    double sum, least, most; /* of what is not NaN */
    int64_t nan;
} lacis_solve_gpu_sum;
/* out: device memory, one a lane of the job (group.first + lane). Only launches, behind the run. */
lacis_solve_gpu_status lacis_solve_gpu_sums(const lacis_solve_gpu_job *job, lacis_solve_gpu_sum *out,
                                            int *cuda_error);

/* Bytes of device memory that a run takes at most besides what the job points to. */
uint64_t lacis_solve_gpu_work_bytes(const lacis_solve_gpu_job *job);

#ifdef __cplusplus
}
#endif

#endif
