/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variants "gpu pull" and "gpu push" in parts: gpu_vector.c has both along the grain of the graph's rows,
 * gpu_against.c against it, by what gpu_columns.c makes; gpu_vector_top.c brings rows to the host, cut down to TOP.
 */
#ifndef LACIS_OPERATORS_MULTIPLY_VECTOR_H
#define LACIS_OPERATORS_MULTIPLY_VECTOR_H

#include "multiply/device.h"

#ifdef LACIS_GPU_KERNELS
#include "multiply/gpu_vector.h"

/* What a call and its waits cost, and what the host does for an element of the result. */
#define LACIS_VECTOR_CALL_SECONDS 8e-5
#define LACIS_VECTOR_PULL_HOST_NS (2 * LACIS_PULL_HOST_NS)
#define LACIS_VECTOR_PUSH_HOST_NS 6.0

/* gpu_vector.c: the job with host pointers; the device and a job on its stream; what kernels answered, in words. */
void lacis_vector_job(lacis_run *run, const lacis_product *product, lacis_mul_gpu_job *out);
lacis_status lacis_vector_begin(lacis_run *run, const lacis_product *product, lacis_gpu **gpu,
                                lacis_mul_gpu_job *job);
lacis_status lacis_vector_failed(lacis_run *run, lacis_gpu *gpu, lacis_mul_gpu_status status, int cuda_error);
lacis_status lacis_vector_sent(lacis_run *run, lacis_gpu *gpu, lacis_status status);
/* Whether CON looks at the values of a or b. */
bool lacis_vector_uses(lacis_mul_con con, bool b);
uint64_t lacis_vector_type_bytes(lacis_mul_type type);

typedef struct lacis_against {
    lacis_run *run;
    lacis_multiply *work;
    lacis_gpu *gpu;
    lacis_mul_gpu_job job;
    lacis_csr graph;
    lacis_gpu_thing thing;
    lacis_buffer *home; /* where the list is kept */
    bool made;          /* now, and not kept yet */
    lacis_mul_gpu_columns columns;
} lacis_against;

/* gpu_columns.c. _refuses: why not, or NULL. _begin: the device, a job with CON's sides changed, the list found or
 * made; then _end keeps it, and answers `status`. _turn: the graph's columns as rows, with its values where CON wants
 * them. */
const char *lacis_against_refuses(lacis_run *run, const lacis_multiply *work);
lacis_status lacis_against_cost(lacis_run *run, const lacis_multiply *work, const lacis_profile *profile,
                                lacis_cost *out);
lacis_status lacis_against_begin(lacis_against *on, lacis_run *run, lacis_multiply *work);
lacis_status lacis_against_turn(lacis_against *on, lacis_mul_matrix *out);
lacis_status lacis_against_end(lacis_against *on, lacis_status status);

/* gpu_vector_top.c. _tops: whether TOP of a row of so many entries (or places) is worth choosing on the device. _top
 * does it, its job's storage being the product's; without memory for that out_column stays NULL. _row: a result of
 * one row of so many entries. _fetch: that row from the device. */
bool lacis_vector_tops(const lacis_product *product, uint64_t entries);
lacis_status lacis_vector_top(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, lacis_mul_gpu_top *top);
lacis_status lacis_vector_row(lacis_run *run, const lacis_product *product, uint64_t entries,
                              lacis_product_result *out);
lacis_status lacis_vector_fetch(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, const uint32_t *column,
                                const void *value, uint64_t entries, lacis_product_result *out);

/* gpu_against.c: vector BY graph by pull, graph BY vector by push. */
lacis_status lacis_against_pull(lacis_run *run, lacis_multiply *work, lacis_product_result *out);
lacis_status lacis_against_push(lacis_run *run, lacis_multiply *work, int64_t begin, int64_t end,
                                lacis_product_result *out);
#endif

#endif
