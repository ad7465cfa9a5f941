/* SPDX-License-Identifier: Apache-2.0
 *
 * TUNE SYMV (tune.c): tables of candidates for the GPU, one a type and triangle, and what they say of a call.
 */
#ifndef LACIS_OPERATORS_SYMV_TUNE_H
#define LACIS_OPERATORS_SYMV_TUNE_H

#include "lacis_extend.h"

#include "symv/gpu.h"

/* The candidate that tuning found for such a job on that GPU and its driver; false: nothing is known, or what is
 * known cannot do this job: the shipped default holds. gpu and profile may be NULL. Tables are of one matrix, one
 * right side and order FIXED. */
bool lacis_symv_tuned(const lacis_profile *profile, const lacis_gpu *gpu, const lacis_symv_gpu_job *job,
                      lacis_symv_gpu_choice *out);

/* The table that the job's choice is from, for EXPLAIN; nothing where there is none. */
lacis_status lacis_symv_explain_tuned(lacis_lines *lines, const lacis_profile *profile, const lacis_gpu *gpu,
                                      const lacis_symv_job *job);

/* op.c's .tune: TYPE is f32, f64, c64, c128, dd, cdd, f32_f64, f32_dd or f64_dd. */
lacis_status lacis_symv_tune(lacis_run *run, lacis_profile *profile, const lacis_tune_wish *wish);

#endif
