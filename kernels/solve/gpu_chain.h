/* SPDX-License-Identifier: Apache-2.0
 *
 * The ways to solve chains on the GPU, as gpu_chain.cu calls them. C++ (nvcc) only.
 *
 * A way takes groups in launches: `one` of gpu_place.cuh for one group, or a table of many. Everything here only
 * launches.
 */
#ifndef LACIS_KERNELS_SOLVE_GPU_CHAIN_H
#define LACIS_KERNELS_SOLVE_GPU_CHAIN_H

#include "solve/gpu_place.cuh"

/* How lanes of a launch's groups lie in the fields that are not shared. */
typedef enum solve_gpu_lie {
    SOLVE_GPU_BEHIND, /* all Flat, x as well */
    SOLVE_GPU_BESIDE  /* anything else */
} solve_gpu_lie;

typedef struct solve_gpu_launch {
    solve_gpu_groups groups; /* tasks is set by the way */
    solve_gpu_fields fields;
    solve_gpu_flags flags;
    solve_gpu_lie lie;
    bool wide; /* all fields can be read 16 bytes at a time, beside one another */
    lacis_solve_type type;
    int64_t most_rows; /* of its groups */
    int64_t elements;  /* on chip, of chains of one segment: that a warp has of a field, in any group */
    cudaStream_t stream;
} solve_gpu_launch;

/* --- gpu_chain_thread.cu: a thread a system ---------------------------------------------------------------- */

int64_t solve_gpu_thread_tasks(int64_t lanes);                                      /* of a group */
int64_t solve_gpu_thread_slots(int64_t rows, int64_t tasks, lacis_solve_type type); /* lanes in flight */
uint64_t solve_gpu_thread_bytes(int64_t rows, int64_t slots, lacis_solve_type type);
cudaError_t solve_gpu_thread(const solve_gpu_launch *launch, void *work, int64_t slots);

/* --- gpu_chain_cyclic.cu: a block a system in shared memory ------------------------------------------------- */

int64_t solve_gpu_cyclic_longest(lacis_solve_type type); /* chain */
bool solve_gpu_cyclic_fits(const solve_gpu_device *device, lacis_solve_type type, int64_t rows);
cudaError_t solve_gpu_cyclic(const solve_gpu_launch *launch); /* tasks: lanes */

/* --- gpu_chip_*.cu: on chip ---------------------------------------------------------------------------------- */

/* How blocks are cut for the groups of one launch; groups cut alike go together. */
typedef struct solve_gpu_cut {
    int blocks;     /* of a cluster */
    int warps;      /* BEHIND: of a block */
    int lanes;      /* BESIDE: of a block */
    int chunks;     /* BESIDE: of a block */
    int chunk_rows; /* solve_of's K */
    bool segments;
} solve_gpu_cut;

int64_t solve_gpu_chip_elements(const solve_gpu_cut *cut, int64_t rows); /* see solve_gpu_launch */
int64_t solve_gpu_chip_longest(lacis_solve_type type);                   /* chain */
solve_gpu_cut solve_gpu_chip_cut(lacis_solve_type type, solve_gpu_lie lie, int64_t rows);
int64_t solve_gpu_chip_tasks(solve_gpu_lie lie, const solve_gpu_cut *cut, int64_t rows,
                             int64_t lanes); /* of a group */
/* Whether a device has room for chains of this length, whatever their layout. */
bool solve_gpu_chip_fits(const solve_gpu_device *device, lacis_solve_type type, int64_t rows);
cudaError_t solve_gpu_chip(const solve_gpu_launch *launch, const solve_gpu_cut *cut);

/* Matrices shared by all lanes, of chains that are not cut in segments: the same with two words an unknown. bytes: of
 * the factors of a group, on the device. */
void solve_gpu_factored_cut(lacis_solve_type type, solve_gpu_lie lie,
                            solve_gpu_cut *cut); /* from solve_gpu_chip_cut's */
int64_t solve_gpu_factored_tasks(lacis_solve_type type, solve_gpu_lie lie, const solve_gpu_cut *cut, int64_t rows,
                                 int64_t lanes);
uint64_t solve_gpu_factors_bytes(lacis_solve_type type);
cudaError_t solve_gpu_factored(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors);

/* by type: bytes of shared memory of a block; launches */
uint64_t solve_gpu_chip_bytes_f64(solve_gpu_lie lie, const solve_gpu_cut *cut);
uint64_t solve_gpu_chip_bytes_f32(solve_gpu_lie lie, const solve_gpu_cut *cut);
uint64_t solve_gpu_chip_bytes_mixed(solve_gpu_lie lie, const solve_gpu_cut *cut);
uint64_t solve_gpu_chip_bytes_c128(solve_gpu_lie lie, const solve_gpu_cut *cut);
cudaError_t solve_gpu_chip_f64(const solve_gpu_launch *launch, const solve_gpu_cut *cut);
uint64_t solve_gpu_factors_bytes_f64(void);
cudaError_t solve_gpu_factored_f64(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors);
cudaError_t solve_gpu_chip_f32(const solve_gpu_launch *launch, const solve_gpu_cut *cut);
uint64_t solve_gpu_factors_bytes_f32(void);
cudaError_t solve_gpu_factored_f32(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors);
cudaError_t solve_gpu_chip_mixed(const solve_gpu_launch *launch, const solve_gpu_cut *cut);
uint64_t solve_gpu_factors_bytes_mixed(void);
cudaError_t solve_gpu_factored_mixed(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors);
cudaError_t solve_gpu_chip_c128(const solve_gpu_launch *launch, const solve_gpu_cut *cut);
uint64_t solve_gpu_factors_bytes_c128(void);
cudaError_t solve_gpu_factored_c128(const solve_gpu_launch *launch, const solve_gpu_cut *cut, void *factors);

#endif
