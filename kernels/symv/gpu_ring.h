/* SPDX-License-Identifier: Apache-2.0
 *
 * What gpu_ring.cu hands to gpu_ring_*.cu, which hold the kernels of some types each.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_RING_H
#define LACIS_KERNELS_SYMV_GPU_RING_H

#include "symv/gpu_inside.h"

/* One launch: sides side .. side + count - 1 of the pass, which has `sides`. */
typedef struct symv_ring_launch {
    symv_gpu_part part;
    int sides, side, count;
    int strips, strip_bits; /* a strip is 2^strip_bits columns wide: one, two or four tiles */
    unsigned per_pair; /* chunks of two strips, the s-th and the s-th last, that are numbered behind each other */
    int flush;         /* tiles whose sums of rows are added up at once */
    bool aligned;      /* copies of 16 bytes */
    int resident;
    unsigned blocks;
    size_t shared;
    cudaStream_t stream;
} symv_ring_launch;

enum { SYMV_RING_WARPS = 8, SYMV_RING_STAGES = 2 };

template <class N> cudaError_t symv_ring_start(const symv_ring_launch *launch);

#endif
