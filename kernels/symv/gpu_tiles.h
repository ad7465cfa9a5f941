/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of first passes that family TILES has for a type: gpu_type_*.cu make them, gpu_tiles.cu chooses.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_TILES_H
#define LACIS_KERNELS_SYMV_GPU_TILES_H

#include "symv/gpu_inside.h"

typedef struct symv_tiles_entry {
    int tx, ty, warps, resident, sides;
    bool whole; /* reads 16 bytes at once */
    bool run;   /* chunks of several tiles */
    int unroll;
    /* most: blocks of the grid for a pair of strips */
    cudaError_t (*launch)(const symv_gpu_part *p, bool atomic, int64_t most, cudaStream_t stream);
} symv_tiles_entry;

typedef struct symv_tiles_list {
    const symv_tiles_entry *entry;
    int count;
} symv_tiles_list;

extern const symv_tiles_list symv_tiles_f32, symv_tiles_f64, symv_tiles_c64, symv_tiles_c128, symv_tiles_f32_f64;
extern const symv_tiles_list symv_tiles_dd[2], symv_tiles_cdd[2], symv_tiles_f32_dd[2],
    symv_tiles_f64_dd[2]; /* accurate */

#endif
