/* SPDX-License-Identifier: Apache-2.0
 *
 * What gpu_batch.cu hands to gpu_batch_*.cu, which hold the kernels of some types each.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_BATCH_H
#define LACIS_KERNELS_SYMV_GPU_BATCH_H

#include "symv/gpu_inside.h"

/* One launch: the matrices of more than `least` and at most `most` rows, sides side .. side + count - 1. */
typedef struct symv_batch_launch {
    symv_gpu_part part; /* of matrix 0; grid.n: the most rows of any */
    int64_t matrices, stride, x_stride, y_stride, totals_stride;
    const lacis_symv_one *one; /* on the device; NULL: all are alike */
    int64_t side;
    int count, least, most;
    int pitch; /* elements of a vector in shared memory */
    bool aligned;
    size_t shared;
    cudaStream_t stream;
} symv_batch_launch;

/* BLOCK: a block of so many warps works on a matrix. LANES: 8, 16 or 32 lanes do, for matrices of at most so many
 * rows; blocks of so many warps. */
enum { SYMV_BATCH_WARPS = 4, SYMV_BATCH_STAGES = 2, SYMV_BATCH_LANE_WARPS = 4, SYMV_BATCH_LANES = 32 };

template <class N> cudaError_t symv_batch_start(const symv_batch_launch *launch); /* lanes where most <= 32 */

#endif
