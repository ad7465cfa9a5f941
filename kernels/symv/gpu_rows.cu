/* SPDX-License-Identifier: Apache-2.0
 *
 * Family ROWS: which kernel of the type's list runs.
 */
#include "symv/gpu_rows.h"

static symv_rows_list list_of(const lacis_symv_job *job)
{
    switch (job->type) {
    case LACIS_SYMV_F32:
        return symv_rows_f32;
    case LACIS_SYMV_F64:
        return symv_rows_f64;
    case LACIS_SYMV_C64:
        return symv_rows_c64;
    case LACIS_SYMV_C128:
        return symv_rows_c128;
    case LACIS_SYMV_DD:
        return symv_rows_dd[job->accurate];
    case LACIS_SYMV_CDD:
        return symv_rows_cdd[job->accurate];
    case LACIS_SYMV_F32_F64:
        return symv_rows_f32_f64;
    case LACIS_SYMV_F32_DD:
        return symv_rows_f32_dd[job->accurate];
    case LACIS_SYMV_F64_DD:
        return symv_rows_f64_dd[job->accurate];
    case LACIS_SYMV_TYPES:
        break;
    }
    return {};
}

static const symv_rows_entry *entry_of(const lacis_symv_job *job, const lacis_symv_gpu_choice *choice)
{
    const symv_rows_list list = list_of(job);
    for (int i = 0; i < list.count; i++) {
        const symv_rows_entry *e = &list.entry[i];
        if (e->rows == choice->tx && e->warps == choice->warps && e->deep == choice->unroll) return e;
    }
    return NULL;
}

const char *symv_gpu_rows_refuse(const lacis_symv_gpu_job *job, const lacis_symv_gpu_choice *choice)
{
    if (job->job.order == LACIS_SYMV_CANONICAL) return "rows of y are not added in the canonical order";
    return entry_of(&job->job, choice) == NULL ? "no such rows are compiled for this type" : NULL;
}

cudaError_t symv_gpu_rows(const symv_gpu_pass *pass)
{
    const symv_rows_entry *e = entry_of(&pass->job->job, &pass->choice);
    if (e == NULL) return cudaErrorInvalidValue;
    return e->launch[symv_gpu_aligned(&pass->part, pass->job->job.type)](&pass->part, pass->stream);
}
