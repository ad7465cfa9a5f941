/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER: where one matrix is good for all steps and lanes, many steps are one product. A lane's state is a column
 * x = (v of all nodes, 1 or E, amplitude of each clamp while it flows or 0), and a step is x := P x. The powers
 * P^2^l are kept, and P^K for a block of K = samples * every steps, under whose rows stand those of P^every,
 * P^(2 every).. that belong to probes: one product gives the state after the block and all samples within it; blocks
 * of half, a quarter .. of the samples are for what is left before a clamp begins or ends to flow. All entries of an
 * Euler step's P are positive. Used inside kernels/neuron; C++ (nvcc) only.
 */
#ifndef LACIS_KERNELS_NEURON_GPU_POWER_H
#define LACIS_KERNELS_NEURON_GPU_POWER_H

#include "gpu_kernels.h"

enum {
    NEUG_POWER_LEVELS = 9,    /* of single powers: up to 256 steps */
    NEUG_POWER_SLICE = 16,    /* rows of x are padded to this */
    NEUG_POWER_BLOCKS = 7,    /* of all samples, half of them .. one */
    NEUG_POWER_LANES = 128,   /* of a block */
    NEUG_POWER_ROWS = 64,     /* likewise */
    NEUG_POWER_MOST = 4096,   /* rows of x */
    NEUG_POWER_SAMPLES = 256, /* rows of samples within a block, at most */
    NEUG_POWER_STEPS = 64,    /* of a block, or one sample's where these are more */
    NEUG_POWER_EVERY = 1024   /* more steps from sample to sample are not made in one block */
};

/* Of a shape. Matrices have `wide` doubles a row; so many rows have x and y, behind which stand those of samples. */
typedef struct neug_power_shape {
    const double *level[NEUG_POWER_LEVELS], *block[NEUG_POWER_BLOCKS];
    int32_t nodes, wide, rows[NEUG_POWER_BLOCKS]; /* rows: of nodes and of samples within a block */
} neug_power_shape;

/* How a job's steps are cut; the same for all shapes. */
typedef struct neug_power_cut {
    int64_t steps; /* of a block; 0: there are none */
    int64_t
        samples; /* that a block contains, its end among them; block b has samples >> b, as long as that is not 0 */
    int levels;
} neug_power_cut;
neug_power_cut neug_power_cut_of(const neuron_plan *plan, int64_t most_steps);
int64_t neug_power_wide(int64_t nodes, int64_t clamps);
/* Rows of a shape's x. */
int64_t neug_power_rows(const neug_power_cut *cut, int64_t nodes, int64_t clamps, int64_t probes);
/* Doubles that a shape's matrices take. */
uint64_t neug_power_doubles(const neug_power_cut *cut, int64_t nodes, int64_t clamps, int64_t probes);
/* Fills `out` and the matrices in `memory` (device, cleared) for shape `number`. */
cudaError_t neug_power_make(const neug_common *common, const neug_shape *shape, int64_t number, bool half,
                            const neug_power_cut *cut, int64_t every, double *memory, neug_power_shape *out,
                            cudaStream_t stream);

/* Kernels. y := a x, x square. */
cudaError_t neug_power_product(const double *a, int64_t rows, const double *x, double *y, int64_t wide,
                               cudaStream_t stream);
/* P of a step. */
cudaError_t neug_power_unit(const neug_common *common, const neug_shape *shape, int64_t number, bool half,
                            int64_t wide, double *matrix, cudaStream_t stream);
/* Rows of the shape's probes. */
cudaError_t neug_power_pick(const neug_common *common, const neug_shape *shape, int64_t number, const double *matrix,
                            int64_t wide, double *rows, cudaStream_t stream);
/* Of a run, for all tiles (of at most NEUG_POWER_LANES lanes): voltages at t = 0; what flows in params->step, into x
 * and y; y := P^2^level x, or with level < 0 that of block -1 - level; samples first .. first + samples - 1, the last
 * of them the state in x, those before from the rows behind it. */
cudaError_t neug_power_begin(const neug_launch *launch, const neug_params *params, double *x);
cudaError_t neug_power_flow(const neug_launch *launch, const neug_params *params, double *x, double *y);
cudaError_t neug_power_multiply(const neug_launch *launch, const neug_tile *tile, const neug_power_shape *shape,
                                const double *x, double *y, int level);
cudaError_t neug_power_record(const neug_launch *launch, const neug_params *params, const neug_power_shape *shape,
                              const double *x, int64_t first, int64_t samples);

#endif
