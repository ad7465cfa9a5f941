/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" in parts: gpu_cost.c says whether and for how much, gpu.c runs.
 */
#ifndef LACIS_OPERATORS_MULTIPLY_DEVICE_H
#define LACIS_OPERATORS_MULTIPLY_DEVICE_H

#include "multiply/bind.h"

#ifdef LACIS_GPU_KERNELS
#include "multiply/gpu.h"

/* The product's job with host pointers, before anything is sent. */
void lacis_multiply_gpu_job(const lacis_product *product, lacis_mul_gpu_job *out);
#endif

bool lacis_multiply_gpu_can(const lacis_call *call, char *reason, size_t size);
lacis_status lacis_multiply_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                     lacis_cost *out);

#endif
