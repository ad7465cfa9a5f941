/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's graphs: symmetric matrices of which one triangle of entries is read. graph.c takes one apart, sparse.c
 * computes on the CPU, sparse_gpu.c on a GPU (sparse_device.h); the dense variants refuse graphs.
 */
#ifndef LACIS_OPERATORS_SYMV_SPARSE_H
#define LACIS_OPERATORS_SYMV_SPARSE_H

#include "symv/half.h"
#include "symv/work.h"

/* graph.c */
lacis_status lacis_symv_take_graph(lacis_run *run, const lacis_item *item, lacis_symv_matrix *out);

/* sparse.c */
extern const lacis_variant lacis_symv_sparse_cpu;
/* The job of the call's piece with the graph's own arrays, all but the vectors' pointers, memory and values. */
void lacis_symv_sparse_job(const lacis_symv_work *work, lacis_symv_half *out);
/* What the kernels want the graph's values as; whether they are that already, or there are none. */
lacis_dtype lacis_symv_sparse_dtype(const lacis_symv_work *work);
bool lacis_symv_sparse_ready(const lacis_symv_work *work);
/* One past the last place that a row of the graph has. */
uint64_t lacis_symv_sparse_places(const lacis_csr *csr);
/* The graph's values converted, to be given back with lacis_run_free. */
lacis_status lacis_symv_sparse_values(lacis_run *run, const lacis_symv_work *work, void **out);
lacis_status lacis_symv_sparse_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                    lacis_cost *out);

/* sparse_gpu.c */
extern const lacis_variant lacis_symv_sparse_gpu;

#endif
