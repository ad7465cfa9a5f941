/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's variant for the GPU in parts: gpu_cost.c says whether and for how much, gpu_calibrate.c measures the figures
 * for that, choice.c picks the kernels, gpu.c runs them. gpu_shared.c is for the variant of graphs as well.
 */
#ifndef LACIS_OPERATORS_SYMV_DEVICE_H
#define LACIS_OPERATORS_SYMV_DEVICE_H

#include "symv/gpu.h"
#include "symv/work.h"

extern const lacis_variant lacis_symv_gpu;

/* gpu_cost.c */
bool lacis_symv_gpu_can(const lacis_call *call, char *reason, size_t size);
lacis_status lacis_symv_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                 lacis_cost *out);
/* Lines on what lacis_symv_gpu_cost found; none where it was not asked. */
lacis_status lacis_symv_gpu_explain(const lacis_call *call, lacis_lines *lines);
const char *lacis_symv_gpu_figure(lacis_symv_type type, bool side); /* its name in the profile */
#define LACIS_SYMV_GPU_CALL_FIGURE "symv.gpu.call_seconds"          /* of next to nothing */
#define LACIS_SYMV_GPU_LOAD_FIGURE "symv.gpu.load_seconds"          /* of the first use of its kernels */

/* CALIBRATE's part for the GPU; nothing where there is none. */
lacis_status lacis_symv_gpu_calibrate(lacis_run *run, lacis_profile *profile);

/* choice.c: the kernels for a job on that GPU (NULL: not started). */
lacis_symv_gpu_choice lacis_symv_choose(const lacis_profile *profile, const lacis_gpu *gpu,
                                        const lacis_symv_gpu_job *job);
/* The job of a piece, all but pointers, memory and stream. */
lacis_symv_gpu_job lacis_symv_gpu_job_of(const lacis_symv_work *work, const lacis_symv_piece *piece,
                                         const lacis_gpu *gpu);

/* gpu_shared.c: the device's memory for kernels; what they say, to the user (LACIS_LIMIT: no room); y to the result,
 * beside which its copy stays (*y is NULL then) unless it is to be scattered. */
lacis_symv_host lacis_symv_gpu_host(lacis_gpu *gpu);
lacis_status lacis_symv_gpu_said(lacis_run *run, lacis_gpu *gpu, lacis_symv_gpu_status status, int cuda_error);
lacis_status lacis_symv_gpu_fetch(const lacis_symv_task *task, lacis_gpu *gpu, void **y);
/* Bytes of x or y that would have to be sent; seconds of copies, copies_up of them to the device where any is;
 * whether there is room, which is only known once the device has been started. */
double lacis_symv_gpu_missing(lacis_gpu *gpu, const lacis_symv_work *work, const lacis_symv_vectors *vectors);
double lacis_symv_gpu_copy_seconds(lacis_gpu *gpu, const lacis_profile *profile, int copies_up, double up,
                                   double down);
bool lacis_symv_gpu_room(lacis_gpu *gpu, double need, const char *what, char *reason, size_t size);
/* What runs are in a build without kernels, whose variants never can. */
lacis_status lacis_symv_no_kernels(lacis_symv_task *task);

#endif
