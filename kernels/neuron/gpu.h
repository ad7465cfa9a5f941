/* SPDX-License-Identifier: Apache-2.0
 *
 * Voltages of many neurons on a CUDA device: what simulate.h does, with results on the device. operators/simulate's
 * GPU variants fill a job and call these; nothing here knows the engine. Built with nvcc (gpu*.cu); where there is no
 * nvcc none of it is linked. The CUDA runtime is linked statically and works in the device's primary context: the
 * caller has made it current on this thread.
 *
 * The job is neuron_plan with one difference: `out` and `when` are device pointers (laid out as there, for the lanes
 * first .. first + lanes - 1 alone). Everything else of it lies on the host, columns too (all lanes of them, indexed
 * by lane); a run copies what its own lanes need. A panel of lanes may begin and end anywhere within a shape.
 *
 * The equations are the CPU's (excesses, every term positive), multiplications and additions fused and children added
 * up in another order, which depends on the tree alone: THREAD and CHIP give the same bits whatever the panel and the
 * number of lanes, on one kind of device. POWER has bits of its own, which likewise depend on nothing but the shape,
 * clamps, probes, steps and most_steps.
 *
 * Work goes to `stream`; a run copies, launches and waits, and returns when all is done. Calls may be made from
 * several threads with jobs of their own; tables may be used by several runs on one device at once. */
#ifndef LACIS_KERNELS_NEURON_GPU_H
#define LACIS_KERNELS_NEURON_GPU_H

#ifdef __cplusplus
extern "C" {
#endif

#include "neuron/simulate.h"

typedef enum lacis_neuron_gpu_status {
    LACIS_NEURON_GPU_OK,
    LACIS_NEURON_GPU_NO_MEMORY, /* alloc answered NULL (or the host's malloc): nothing stays allocated; fewer lanes */
    LACIS_NEURON_GPU_CANCELLED,
    LACIS_NEURON_GPU_UNSUPPORTED, /* see lacis_neuron_gpu_refuses */
    LACIS_NEURON_GPU_FAILED       /* a CUDA call failed: cuda_error (a cudaError_t) */
} lacis_neuron_gpu_status;

/* Ways through the steps; each is a variant of the operator. */
typedef enum lacis_neuron_gpu_way {
    LACIS_NEURON_GPU_THREAD, /* a thread a lane, two sweeps through device memory a step; takes every job */
    LACIS_NEURON_GPU_CHIP,   /* a few lanes a block, voltages in shared memory for many steps a launch, groups of
                                threads on subtrees; trees up to some thousand nodes */
    LACIS_NEURON_GPU_POWER, /* passive, one matrix for all lanes: many steps as one product with a power of the step's
                               matrix, on tensor cores; trees up to some thousand nodes */
    LACIS_NEURON_GPU_WAYS
} lacis_neuron_gpu_way;
extern const char *const lacis_neuron_gpu_way_name[LACIS_NEURON_GPU_WAYS];

/* Device memory: stream-ordered on job.stream, 256-byte aligned, not cleared; NULL: none. A block given free may
 * still be in use by work already on the stream. */
typedef struct lacis_neuron_gpu_memory {
    void *(*alloc)(void *context, uint64_t bytes);
    void (*free)(void *context, void *block);
    void *context;
} lacis_neuron_gpu_memory;

enum { LACIS_NEURON_GPU_PINNED_BYTES = 4096 };
typedef struct lacis_neuron_gpu_job {
    neuron_plan plan;
    lacis_neuron_gpu_way way;
    int64_t most_steps; /* of one launch; 0: as many as is good (some 50 ms of work) */
    /* Asked between launches, at least some times a second, with the steps that are done since; true: stop. NULL:
     * never. Called from the thread that runs. */
    neuron_stop_fn stop;
    void *stop_context;
    void *stream; /* cudaStream_t; NULL: the default stream */
    void
        *pinned; /* LACIS_NEURON_GPU_PINNED_BYTES of pinned host memory of this run's own, or NULL: not used so far */
    lacis_neuron_gpu_memory memory;
} lacis_neuron_gpu_job;

/* Why this way cannot do the job, as a plain phrase for EXPLAIN; NULL: it can. Looks only at the job's fields (not at
 * lanes, first, out), not at the device. */
const char *lacis_neuron_gpu_refuses(const lacis_neuron_gpu_job *job);
/* The way that is likely the fastest; it looks at shapes, steps, every and lanes, and does not refuse. `same_bits`:
 * only among those that agree in every bit. */
lacis_neuron_gpu_way lacis_neuron_gpu_choose(const lacis_neuron_gpu_job *job, bool same_bits);

/* What lanes have in common, made once on the host and kept on the device for as many runs (panels) as there are:
 * depth-first numbers, schedules, coefficients, clamps and probes of all shapes. Depends on everything in the job but
 * first, lanes, out, when and the values of columns. */
typedef struct lacis_neuron_gpu_tables lacis_neuron_gpu_tables;
lacis_neuron_gpu_status lacis_neuron_gpu_tables_new(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables **out,
                                                    int *cuda_error);
/* Frees through job->memory, on job->stream. NULL is fine. */
void lacis_neuron_gpu_tables_free(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *tables);

/* All steps of the job's lanes. tables may be NULL: then some are made for this run. After anything but OK what out
 * and when hold is undefined; nothing stays allocated in any case. cuda_error: with FAILED; may be NULL. */
lacis_neuron_gpu_status lacis_neuron_gpu_run(const lacis_neuron_gpu_job *job, const lacis_neuron_gpu_tables *tables,
                                             int *cuda_error);

/* Bytes of device memory that a run over lanes first .. first + lanes - 1 takes at most besides out, when and tables;
 * and that tables take. */
uint64_t lacis_neuron_gpu_work_bytes(const lacis_neuron_gpu_job *job);
uint64_t lacis_neuron_gpu_tables_bytes(const lacis_neuron_gpu_job *job);

#ifdef __cplusplus
}
#endif

#endif
