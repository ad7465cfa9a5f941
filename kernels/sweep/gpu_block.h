/* SPDX-License-Identifier: Apache-2.0
 *
 * Several steps in one pass over memory, for rules of the nearest neighbours: bits are those of single steps. gpu.h's
 * system calls this for steps whose change nobody asks for.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_BLOCK_H
#define LACIS_KERNELS_SWEEP_GPU_BLOCK_H

#include "sweep/sweep.h"

#include <cuda_runtime.h>

/* One field without coefficients, its rule linear. `edge` for each face; INNER is read as HOLD: give the extents with
 * the halo, and read no more than the part's own cells afterwards. VALUES are read in the cells beyond their face. */
typedef struct lacis_sweep_block {
    lacis_sweep_type type;
    int dims;
    int64_t extent[3];
    int64_t pitch[2]; /* elements between rows, between planes: multiples of 16 bytes */
    lacis_sweep_edge edge[LACIS_SWEEP_FACES];
    const lacis_sweep_rule *rule;
    bool asked; /* for several steps, also where single ones may be as fast */
} lacis_sweep_block;

/* How many of the next `steps` steps a pass should do; 1: it cannot, or single steps are better. */
int lacis_sweep_block_depth(const lacis_sweep_block *block, int64_t steps);

/* `levels` steps, as lacis_sweep_block_depth gave them (> 1). in, out: cell (0, 0, 0), at multiples of 16 bytes; of
 * both only the extent's cells are touched, but for VALUES beyond faces of `in`. */
cudaError_t lacis_sweep_block_pass(const lacis_sweep_block *block, int levels, const void *in, void *out,
                                   cudaStream_t stream);

#endif
