/* SPDX-License-Identifier: Apache-2.0
 *
 * MASK of multiply_gpu.cu: every AGG, in order and in any, of rows in all classes. What the mask does not keep is
 * never stored; of heavy rows there is room for as many entries as the mask has and no more.
 */
#include "multiply_support.h"

static lacis_mul_gpu_job mask_job(const lacis_mul_matrix &a, const lacis_mul_matrix &b, const lacis_mul_matrix &mask,
                                  int agg, bool ordered)
{
    lacis_mul_gpu_job job = make_job(a, b);
    job.con_kind = LACIS_MUL_CON_ADD;
    job.agg = (lacis_mul_agg)agg;
    job.storage = agg == LACIS_MUL_COUNT ? LACIS_MUL_TO_U32
                  : agg == LACIS_MUL_AVG ? LACIS_MUL_TO_F64
                                         : storage_of(job.type);
    job.ordered = ordered;
    job.mask = &mask;
    return job;
}

/* Sums that are watched for overflow are masked behind the kernels: they need room for all. */
static void check_type(const matrix &a, const matrix &b, const matrix &mask, lacis_mul_type type, bool brief)
{
    lacis_mul_matrix da = to_device(a, type), db = to_device(b, type), dm = to_device(mask, type);
    mask_matrix = &mask;
    for (int agg = LACIS_MUL_COUNT; agg <= LACIS_MUL_AVG; agg++)
        for (int way = brief ? 1 : 0; way < (brief ? 3 : 8); way++) {
            const bool ordered = way & 1, negated = way & 2, checked = type == LACIS_MUL_I64 && way & 4;
            for (lacis_mul_gpu_class force : {LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_TINY, LACIS_MUL_GPU_SMALL,
                                              LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE}) {
                lacis_mul_gpu_job job = mask_job(da, db, dm, agg, ordered);
                job.force = force;
                job.mask_not = negated;
                job.checked = checked && agg == LACIS_MUL_SUM;
                job.small = way & 2 ? LACIS_MUL_GPU_SORT : LACIS_MUL_GPU_HASH;
                const bool heavy =
                    force == LACIS_MUL_GPU_SMALL || force == LACIS_MUL_GPU_MIDDLE || force == LACIS_MUL_GPU_DENSE;
                job.room = negated || job.checked || !heavy ? 0 : mask.column.size();
                expect(check_job(a, b, job, {}, 0, a.rows));
            }
            if (type != LACIS_MUL_I64 && way == 3) break;
        }
    mask_matrix = nullptr;
    free_matrix(da), free_matrix(db), free_matrix(dm);
}

void check_masks(u64 seed, int64_t rows, int64_t cols, bool brief)
{
    u64 state = seed;
    matrix a = make_shape(&state, 1, rows, 60, 6 * rows), b = make_shape(&state, 0, 60, cols, cols * 6);
    const matrix mask = make_shape(&state, 0, rows, cols, 2 * rows);
    for (int type = 0; type < 4; type++) {
        if (!wanted(type)) continue;
        add_values(a, (lacis_mul_type)type, &state, false);
        add_values(b, (lacis_mul_type)type, &state, false);
        check_type(a, b, mask, (lacis_mul_type)type, brief);
    }
}
