/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variants for vectors on the GPU, and what of the GPU's planning POWER shares. In op.c's list of
 * variants.
 */
#ifndef LACIS_OPERATORS_ON_GPU_H
#define LACIS_OPERATORS_ON_GPU_H

#include "multiply/bind.h"

extern const lacis_variant lacis_multiply_gpu_pull, lacis_multiply_gpu_push;

/* Whether the GPU may be asked for so much work: not for too little, unless the call says ON GPU; and whether there
 * is one. Where not, why. */
bool lacis_gpu_worth(const lacis_call *call, lacis_run *run, double work, const char *unit, char *reason,
                     size_t size);
/* LACIS_UNSUPPORTED: its memory does not hold `what`. */
lacis_status lacis_gpu_no_room(lacis_run *run, lacis_gpu *gpu, const char *what);
/* Seconds for copies of so many bytes up and down. */
double lacis_gpu_copy_seconds(lacis_gpu *gpu, const lacis_profile *profile, double up, double down);

#endif
