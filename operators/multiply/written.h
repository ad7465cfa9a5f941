/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON and AGG on a GPU: from typed trees to kernels. Called by MULTIPLY's variant "gpu".
 */
#ifndef LACIS_OPERATORS_WRITTEN_H
#define LACIS_OPERATORS_WRITTEN_H

#include "multiply/product.h"

#include "multiply/gpu.h"

bool lacis_written_needed(const lacis_product *product);
/* Whether the GPU could be given the product's functions; where not, why. */
bool lacis_written_can(const lacis_product *product, char *reason, size_t size);
/* Compiles them, or takes what was compiled before. LACIS_UNSUPPORTED with the reason. */
lacis_status lacis_written_compile(lacis_run *run, lacis_gpu *gpu, const lacis_product *product,
                                   const lacis_mul_gpu_job *job, lacis_mul_gpu_written *out);

#endif
