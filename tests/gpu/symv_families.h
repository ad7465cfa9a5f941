/* SPDX-License-Identifier: Apache-2.0
 *
 * What symv_gpu.cu's main calls of symv_ring.cu, symv_batch.cu and symv_tickets.cu. Counts: symv_checks,
 * failures.
 */
#ifndef LACIS_TESTS_GPU_SYMV_FAMILIES_H
#define LACIS_TESTS_GPU_SYMV_FAMILIES_H

#include "symv_case.h"

static inline bool symv_gpu_refused(const symv_data *d, const lacis_symv_gpu_choice *choice)
{
    const lacis_symv_gpu_job job = symv_job(d, choice);
    return lacis_symv_gpu_refuses(&job) != nullptr;
}

/* only: of one type; LACIS_SYMV_TYPES: of all. */
void check_ring(bool small, lacis_symv_type only);
void check_batch(bool small, lacis_symv_type only);
void check_tickets(bool small, lacis_symv_type only);
int bench_ring(int argc, char **argv);     /* arguments behind "bench-ring" */
int bench_batch(int argc, char **argv);    /* behind "bench-batch" */
int stress_tickets(int argc, char **argv); /* behind "stress": how many launches */

#endif
