/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of graphs on a GPU in parts: sparse_gpu_cost.c says whether and for how much, sparse_plan.c keeps plans,
 * sparse_gpu.c runs.
 */
#ifndef LACIS_OPERATORS_SYMV_SPARSE_DEVICE_H
#define LACIS_OPERATORS_SYMV_SPARSE_DEVICE_H

#include "symv/device.h"
#include "symv/sparse.h"

/* sparse_gpu_cost.c */
bool lacis_symv_sparse_gpu_can(const lacis_call *call, char *reason, size_t size);
lacis_status lacis_symv_sparse_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                        lacis_cost *out);

/* sparse_plan.c: whether one part, "offsets", says where rows begin and end. */
bool lacis_symv_sparse_joined(const lacis_array *array);
/* The plan that is there for the work's graph, triangle and type. */
bool lacis_symv_find_plan(const lacis_symv_work *work, lacis_gpu *gpu, lacis_symv_half_plan *out);
/* Takes over the plan's block. */
void lacis_symv_keep_plan(const lacis_symv_work *work, lacis_gpu *gpu, const lacis_symv_half_plan *plan);

#endif
