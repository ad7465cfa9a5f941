/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of kernels that family ROWS has for a type: gpu_type_*.cu make them, gpu_rows.cu chooses.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_ROWS_H
#define LACIS_KERNELS_SYMV_GPU_ROWS_H

#include "symv/gpu_inside.h"

typedef struct symv_rows_entry {
    int rows, warps, deep;
    cudaError_t (*launch[2])(const symv_gpu_part *p, cudaStream_t stream); /* [1]: by 16 bytes */
} symv_rows_entry;

typedef struct symv_rows_list {
    const symv_rows_entry *entry;
    int count;
} symv_rows_list;

extern const symv_rows_list symv_rows_f32, symv_rows_f64, symv_rows_c64, symv_rows_c128, symv_rows_f32_f64;
extern const symv_rows_list symv_rows_dd[2], symv_rows_cdd[2], symv_rows_f32_dd[2],
    symv_rows_f64_dd[2]; /* accurate */

#endif
