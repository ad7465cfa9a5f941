/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON and AGG on a GPU: from typed trees to kernels. Called by MULTIPLY's variant "gpu".
 */
#ifndef LACIS_OPERATORS_WRITTEN_H
#define LACIS_OPERATORS_WRITTEN_H

#include "multiply/product.h"

#include "multiply/gpu.h"
#include "multiply/send.h"

bool lacis_written_needed(const lacis_product *product);
/* Whether the GPU could be given the product's functions; where not, why. */
bool lacis_written_can(const lacis_product *product, char *reason, size_t size);
/* Whether CON or HAVING read labels from lists, which lacis_written_send sends. */
bool lacis_written_lists(const lacis_product *product);
/* Makes job->written ready: out, whose kernels are compiled, or taken from what was compiled before, once a run asks
 * for them. Its source lies in the run's scratch. Says in the job in which order values may be folded, and by whom
 * HAVING is looked at. */
lacis_status lacis_written_prepare(lacis_run *run, lacis_gpu *gpu, const lacis_product *product,
                                   lacis_mul_gpu_job *job, lacis_mul_gpu_written *out);
/* Sets job->having to INSIDE where HAVING can be compiled with CON and AGG: they are, and it cannot fail. */
lacis_status lacis_written_having(lacis_run *run, const lacis_product *product, lacis_mul_gpu_job *job);
/* After it: whether such functions were compiled before, so that a run will hardly wait for the compiler. */
bool lacis_written_ready(const lacis_mul_gpu_written *written);
/* The error that the run has where kernels answer LACIS_MUL_GPU_UNCOMPILED. */
lacis_status lacis_written_failed(const lacis_mul_gpu_written *written);
/* Sends listed labels that the functions read; LACIS_LIMIT without a message: the device has no room. */
lacis_status lacis_written_send(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, lacis_sent *sent,
                                lacis_mul_gpu_job *job);

#endif
