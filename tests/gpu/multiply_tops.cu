/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of multiply_gpu.cu for TOP of more than 32: chosen within the kernels of heavy rows where job.top_inside asks
 * for it, or where there is no room for rows' bounds.
 */
#include "multiply_support.h"

static lacis_mul_gpu_job top_job(const lacis_mul_matrix &a, const lacis_mul_matrix &b, int agg)
{
    lacis_mul_gpu_job job = make_job(a, b);
    job.con_kind = LACIS_MUL_CON_ADD;
    job.agg = (lacis_mul_agg)agg;
    job.storage = agg == LACIS_MUL_COUNT ? LACIS_MUL_TO_U32 : storage_of(job.type);
    return job;
}

static void check_inside_kernels(const matrix &a, const matrix &b, lacis_mul_type type, u64 *state)
{
    static const int64_t tops[] = {33, 40, 64, 150, 255, 256, 257, 1000};
    lacis_mul_matrix da = to_device(a, type), db = to_device(b, type);
    for (int agg : {LACIS_MUL_COUNT, LACIS_MUL_SUM, LACIS_MUL_MIN, LACIS_MUL_MAX})
        for (const lacis_mul_gpu_class force : {LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE, LACIS_MUL_GPU_HUB}) {
            lacis_mul_gpu_job job = top_job(da, db, agg);
            job.force = force;
            job.top = tops[next_random(state) % 8];
            job.top_inside = 100 + (int64_t)(next_random(state) % 200);
            if (next_random(state) % 3 == 0) {
                job.having = LACIS_MUL_GPU_WITHIN;
                job.low = 1;
                job.high = 5;
                job.low_real = 1;
                job.high_real = 5;
            }
            expect(check_job(a, b, job, {}, 0, a.rows));
        }
    free_matrix(da), free_matrix(db);
}

/* Room for all bounds but one: candidates are stored alone, and nothing is counted; for fewer than those, entries
 * are; for none, nothing goes. */
static void check_short(const matrix &a, const matrix &b, lacis_mul_type type, int agg)
{
    lacis_mul_matrix da = to_device(a, type), db = to_device(b, type);
    lacis_mul_gpu_job job = top_job(da, db, agg);
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, (size_t)a.rows * 8));
    CUDA(cudaMalloc(&out.end, (size_t)a.rows * 8));
    job.force = LACIS_MUL_GPU_DENSE;
    expect(lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out) == LACIS_MUL_GPU_OK);
    const uint64_t bounds = out.room;
    device_free(nullptr, out.column), device_free(nullptr, out.value);
    job.top = 40;
    job.room = 5 * (uint64_t)a.rows * (2 * 40 + 16) / 2;
    expect(lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out) == LACIS_MUL_GPU_OK && out.counted == 0);
    device_free(nullptr, out.column), device_free(nullptr, out.value);
    expect(job.room < bounds && check_job(a, b, job, {}, 0, a.rows));
    job.room = 10;
    expect(lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out) == LACIS_MUL_GPU_ROOM && live == 0);
    cudaFree(out.begin), cudaFree(out.end);
    free_matrix(da), free_matrix(db);
}

void check_tops(u64 seed, int64_t rows, int64_t cols)
{
    u64 state = seed;
    for (int type = LACIS_MUL_I32; type <= LACIS_MUL_F64; type++) {
        if (!wanted(type)) continue;
        for (int turn = 0; turn < 2; turn++) {
            matrix a = make_shape(&state, turn, rows, 300, rows * 25),
                   b = make_shape(&state, turn, 300, cols, 8 * cols);
            add_values(a, (lacis_mul_type)type, &state, false);
            add_values(b, (lacis_mul_type)type, &state, false);
            check_inside_kernels(a, b, (lacis_mul_type)type, &state);
        }
    }
    matrix a = make_shape(&state, 0, rows, 60, rows * 20), b = make_shape(&state, 0, 60, 3000, 60000);
    for (int agg : {LACIS_MUL_COUNT, LACIS_MUL_MIN}) {
        add_values(a, LACIS_MUL_F32, &state, false);
        add_values(b, LACIS_MUL_F32, &state, false);
        check_short(a, b, LACIS_MUL_F32, agg);
    }
}
