/* SPDX-License-Identifier: Apache-2.0
 *
 * Which built-in kernels a job takes whose HAVING only compares values. Called by gpu_job.cu.
 */
#include "gpu_host.h"

mulg_kernels mulg_sifted_kernels(const lacis_mul_gpu_job *job, bool narrow)
{
    if (job->agg == LACIS_MUL_COUNT) return mulg_sifted_counts(job->storage, narrow);
    switch (job->type) {
    case LACIS_MUL_I32:
        return mulg_sifted_i32(job->agg);
    case LACIS_MUL_I64:
        return mulg_sifted_i64(job->agg);
    case LACIS_MUL_F32:
        return mulg_sifted_f32(job->con_kind, job->agg);
    default:
        return mulg_sifted_f64(job->agg);
    }
}
