/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the GPU's simulation as the host side calls them. Used inside kernels/neuron; C++ (nvcc) only.
 */
#ifndef LACIS_KERNELS_NEURON_GPU_KERNELS_H
#define LACIS_KERNELS_NEURON_GPU_KERNELS_H

#include "gpu_base.cuh"

enum {
    NEUG_THREADS = 128,     /* of a block of THREAD, so lanes of its tile */
    NEUG_CHIP_THREADS = 256 /* of a block of CHIP: lanes times groups */
};

typedef struct neug_launch {
    int model; /* NEUG_CONSTANT .. */
    bool half; /* Crank-Nicolson */
    bool by_lane;
    unsigned tiles;
    int pending;         /* branch points, of any shape */
    int lanes, groups;   /* of CHIP: lanes of a block, groups of threads for them */
    size_t shared_bytes; /* of CHIP */
    int64_t power_rows;  /* of POWER: of a block's matrix, of any shape */
    cudaStream_t stream;
} neug_launch;

cudaError_t neug_begin_launch(const neug_launch *launch, const neug_params *params);
cudaError_t neug_thread_launch(const neug_launch *launch, const neug_params *params);
cudaError_t neug_chip_launch(const neug_launch *launch, const neug_params *params);
/* Shared memory that a block takes for lanes of this shape. */
size_t neug_chip_bytes(int model, bool half, const neug_shape *shape, int lanes, int groups);

#endif
