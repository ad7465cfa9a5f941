/* SPDX-License-Identifier: Apache-2.0
 *
 * HAVING of multiply_gpu.cu that compares values, which the kernels of the classes look at themselves: every type and
 * AGG, in order and in any, each class, with MASK and TOP before and behind it; counted rows; a row alone; FLAT rows.
 */
#include "multiply_support.h"

#include <cmath>

static lacis_mul_gpu_job having_job(const lacis_mul_matrix &a, const lacis_mul_matrix &b, int agg, u64 *state)
{
    static const lacis_mul_storage counts[] = {LACIS_MUL_TO_U8, LACIS_MUL_TO_U16, LACIS_MUL_TO_U32, LACIS_MUL_TO_I64};
    lacis_mul_gpu_job job = make_job(a, b);
    job.con_kind = (lacis_mul_con)(agg == LACIS_MUL_COUNT ? 0 : 1 + next_random(state) % 4);
    job.agg = (lacis_mul_agg)agg;
    job.storage = agg == LACIS_MUL_COUNT ? counts[next_random(state) % 4]
                  : agg == LACIS_MUL_AVG ? LACIS_MUL_TO_F64
                                         : storage_of(job.type);
    random_having(job, state);
    return job;
}

/* Values are small whole numbers, so sums in any order are the same. */
static void check_type(const matrix &a, const matrix &b, const matrix &mask, lacis_mul_type type, u64 *state,
                       bool brief)
{
    lacis_mul_matrix da = to_device(a, type), db = to_device(b, type), dm = to_device(mask, type);
    for (int agg = LACIS_MUL_COUNT; agg <= LACIS_MUL_AVG; agg++)
        for (int force = 0; force < LACIS_MUL_GPU_CLASSES; force++)
            for (int way = 0; way < 6; way++) {
                if (brief && next_random(state) % 3) continue;
                lacis_mul_gpu_job job = having_job(da, db, agg, state);
                job.force = (lacis_mul_gpu_class)force;
                job.ordered = way & 1;
                job.checked = way == 3 && agg == LACIS_MUL_SUM;
                if (way / 2 != 1 || next_random(state) % 2) job.max_degree_a = max_degree(a);
                if (way / 2 == 1) job.top = 1 + (int64_t)(next_random(state) % 40);
                if (way / 2 == 2) {
                    job.mask = &dm;
                    job.mask_not = next_random(state) % 2;
                    mask_matrix = &mask;
                }
                if (next_random(state) % 3 == 0) job.side[0] = job.side[1] = nullptr;
                expect(check_job(a, b, job, {}, 0, a.rows));
                mask_matrix = nullptr;
            }
    free_matrix(da), free_matrix(db), free_matrix(dm);
}

static lacis_mul_gpu_output run_once(const lacis_mul_gpu_job &job, int64_t rows)
{
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, (size_t)rows * 8));
    CUDA(cudaMalloc(&out.end, (size_t)rows * 8));
    expect(lacis_mul_gpu_run(&job, nullptr, 0, rows, &out) == LACIS_MUL_GPU_OK);
    device_free(nullptr, out.column), device_free(nullptr, out.value);
    cudaFree(out.begin), cudaFree(out.end);
    return out;
}

/* Rows whose entries are counted first, there being room for no more: what HAVING leaves is less still. */
static void check_counted(u64 *state)
{
    matrix a = make_shape(state, 1, 40, 60, 600), b = make_shape(state, 0, 60, 200, 6000);
    add_values(a, LACIS_MUL_I32, state, false);
    add_values(b, LACIS_MUL_I32, state, false);
    lacis_mul_matrix da = to_device(a, LACIS_MUL_I32), db = to_device(b, LACIS_MUL_I32);
    for (int force : {LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE})
        for (int agg : {LACIS_MUL_COUNT, LACIS_MUL_MIN}) {
            lacis_mul_gpu_job job = having_job(da, db, agg, state);
            job.force = (lacis_mul_gpu_class)force;
            job.storage = agg == LACIS_MUL_COUNT ? LACIS_MUL_TO_U32 : LACIS_MUL_TO_I32;
            job.low = 3;
            job.high = INT64_MAX;
            lacis_mul_gpu_job all = job;
            all.having = LACIS_MUL_GPU_ALL;
            const lacis_mul_gpu_output whole = run_once(all, a.rows);
            expect(whole.counted == 0 && whole.room > whole.entries);
            job.room = whole.entries;
            const lacis_mul_gpu_output kept = run_once(job, a.rows);
            expect(kept.counted > 0 && kept.entries < whole.entries);
            expect(check_job(a, b, job, {}, 0, a.rows));
        }
    free_matrix(da), free_matrix(db);
}

static void check_flat_rows(u64 *state, lacis_mul_type type)
{
    matrix a = short_rows(state, 90, 80, 0, 8, 0), b = short_rows(state, 80, 70, 5, 8, 0);
    add_values(a, type, state, false);
    add_values(b, type, state, false);
    lacis_mul_matrix da = to_device(a, type), db = to_device(b, type);
    for (int agg = LACIS_MUL_COUNT; agg <= LACIS_MUL_AVG; agg++) {
        lacis_mul_gpu_job job = having_job(da, db, agg, state);
        expect(check_job(a, b, job, {}, 0, a.rows));
    }
    free_matrix(da), free_matrix(db);
}

void check_having(u64 seed, int64_t rows, int64_t cols, bool brief)
{
    u64 state = seed;
    for (int type = 0; type < 4; type++) {
        if (!wanted(type)) continue;
        matrix a = make_shape(&state, 1, rows, 60, 6 * rows), b = make_shape(&state, 0, 60, cols, cols * 6);
        const matrix mask = make_shape(&state, 0, rows, cols, 2 * rows);
        add_values(a, (lacis_mul_type)type, &state, false);
        add_values(b, (lacis_mul_type)type, &state, false);
        check_type(a, b, mask, (lacis_mul_type)type, &state, brief);
        check_flat_rows(&state, (lacis_mul_type)type);
    }
    check_counted(&state);
}
