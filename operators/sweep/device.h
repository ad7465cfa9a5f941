/* SPDX-License-Identifier: Apache-2.0
 *
 * What the GPU's files of SWEEP share: figures in the profile, programs of written rules.
 */
#ifndef LACIS_OPERATORS_SWEEP_DEVICE_H
#define LACIS_OPERATORS_SWEEP_DEVICE_H

#include "sweep/system.h"

#ifdef LACIS_GPU_KERNELS
#include "sweep/gpu.h"
#include "sweep/parts.h"

#define LACIS_SWEEP_LOAD_FIGURE     "sweep.gpu.load_seconds" /* of the first use of the kernels */
#define LACIS_SWEEP_GPU_RATE_FIGURE "sweep.gpu.bytes_per_second"
#define LACIS_SWEEP_GPU_STEP_FIGURE "sweep.gpu.step_seconds" /* of a small grid */
const char *lacis_sweep_gpu_chip_figure(lacis_sweep_type type);

/* gpu_text.c: whether kernels want a program, and whether one can be made (why not). */
bool lacis_sweep_program_can(const lacis_sweep_work *work, const lacis_sweep_start *start, char *reason, size_t size);
/* Kernels of the program, or NULLs where the built-in ones do. */
lacis_status lacis_sweep_program_make(lacis_run *run, lacis_gpu *gpu, const lacis_sweep_work *work,
                                      const lacis_sweep_start *start, void **kernel);
/* Seconds that a compiler would be waited for; 0: none is needed, or it was compiled before. */
double lacis_sweep_program_seconds(lacis_run *run, lacis_gpu *gpu, const lacis_sweep_work *work,
                                   const lacis_sweep_start *start);

/* share_gpus.c: GPUs that share a call in slabs (1: none do; gpu[0] is the one at hand). */
int lacis_sweep_gpus_for(const lacis_sweep_work *work, int levels, bool start, lacis_gpu **gpu);
/* Steps on an exchange: EXCHANGE EVERY, or as is best and slabs are thick enough for. 0: they are not, and why. */
enum { LACIS_SWEEP_WHY = 200 };
int lacis_sweep_gpus_deep(const lacis_sweep_work *work, int levels, int parts, lacis_sweep_cut *cut,
                          char why[LACIS_SWEEP_WHY]);
/* Exchanges of several steps are rare, and nothing that is computed beside slabs takes room from them then. */
bool lacis_sweep_gpus_wait(const lacis_sweep_work *work, const lacis_sweep_cut *cut);
/* system_gpus.c: their system. */
lacis_status lacis_sweep_gpus_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                     int levels, lacis_gpu *const *gpu, int many, lacis_sweep_system **out);
#endif

#endif
