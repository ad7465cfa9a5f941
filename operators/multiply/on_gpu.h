/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variants for vectors on the GPU, and what of the GPU's planning POWER shares. In op.c's list of
 * variants.
 */
#ifndef LACIS_OPERATORS_ON_GPU_H
#define LACIS_OPERATORS_ON_GPU_H

#include "multiply/bind.h"

extern const lacis_variant lacis_multiply_gpu_pull, lacis_multiply_gpu_push;

/* The device where it has been started, else NULL; and what starting it would take (0: it is). */
lacis_gpu *lacis_gpu_at_hand(lacis_run *run);
double lacis_gpu_start_seconds(const lacis_run *run, const lacis_profile *profile);
/* Whether the GPU may be asked at all: not where the processor needs less at most than the device at least, starting
 * it besides, unless the call says ON GPU; and whether there is one. Where not, why. Nothing is started. */
bool lacis_gpu_worth(const lacis_call *call, lacis_run *run, double processor, double device, char *reason,
                     size_t size);
/* LACIS_UNSUPPORTED: its memory does not hold `what`. */
lacis_status lacis_gpu_no_room(lacis_run *run, lacis_gpu *gpu, const char *what);
/* Seconds for copies of so many bytes up and down; gpu NULL: it is not started. */
double lacis_gpu_copy_seconds(const lacis_gpu *gpu, const lacis_profile *profile, double up, double down);

#endif
