/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of multiply_gpu.cu: random shapes with every operator, wide matrices, memory that fails, overflow.
 */
#include "multiply_support.h"

#include <algorithm>
#include <cmath>

/* An operand whose values CON does not ask for comes without, and then its type means nothing. */
static void forget_values(lacis_mul_gpu_job &job)
{
    const bool one = job.agg == LACIS_MUL_COUNT || job.con_kind == LACIS_MUL_CON_ONE;
    lacis_mul_matrix *const unread[] = {one || job.con_kind == LACIS_MUL_CON_B ? &job.a : nullptr,
                                        one || job.con_kind == LACIS_MUL_CON_A ? &job.b : nullptr};
    for (lacis_mul_matrix *m : unread) {
        if (!m) continue;
        m->value = nullptr;
        m->type = type_bytes(job.type) == 4 ? LACIS_MUL_I64 : LACIS_MUL_I32;
    }
}

/* Of values that are small integers, or anything: none, some or all are within. */
void random_having(lacis_mul_gpu_job &job, u64 *state)
{
    const int64_t from = (int64_t)(next_random(state) % 40) - 12, size = (int64_t)(next_random(state) % 30) - 1;
    job.having = LACIS_MUL_GPU_WITHIN;
    job.low = from;
    job.high = next_random(state) % 3 ? from + size : INT64_MAX;
    job.low_real = (double)from + (double)(next_random(state) % 4) / 4;
    job.high_real = job.high == INT64_MAX ? (double)INFINITY : job.low_real + (double)size;
}

void check_pair(matrix a, matrix b, lacis_mul_type type, u64 *state, bool brief)
{
    const bool real = type == LACIS_MUL_F32 || type == LACIS_MUL_F64;
    if (!wanted(type)) return;
    for (int wild = 0; wild < 2; wild++) {
        add_values(a, type, state, wild);
        add_values(b, type, state, wild);
        b.valued = next_random(state) % 4 != 0;
        lacis_mul_matrix da = to_device(a, type), db = to_device(b, type);
        const matrix mask = make_shape(state, 1, a.rows, b.cols, 4 * a.rows);
        lacis_mul_matrix dm = to_device(mask, type);
        for (int agg = LACIS_MUL_COUNT; agg <= LACIS_MUL_AVG; agg++)
            for (int con = 0; con <= LACIS_MUL_CON_MUL; con++) {
                if (brief && next_random(state) % 4) continue;
                if (agg == LACIS_MUL_COUNT && con) continue;
                lacis_mul_gpu_job job = make_job(da, db);
                job.con_kind = (lacis_mul_con)con;
                job.agg = (lacis_mul_agg)agg;
                job.storage = storage_of(type);
                if (agg == LACIS_MUL_COUNT) {
                    static const lacis_mul_storage s[] = {LACIS_MUL_TO_U8, LACIS_MUL_TO_U16, LACIS_MUL_TO_U32,
                                                          LACIS_MUL_TO_I64};
                    job.storage = s[next_random(state) % 4];
                }
                if (agg == LACIS_MUL_AVG) job.storage = LACIS_MUL_TO_F64;
                job.ordered = wild || next_random(state) % 2;
                if (real && !job.ordered && agg == LACIS_MUL_SUM && con == LACIS_MUL_CON_MUL && type == LACIS_MUL_F32)
                    job.ordered = b.rows > 15; /* sums beyond 2^24 */
                static const lacis_mul_gpu_class force[] = {LACIS_MUL_GPU_EMPTY,  LACIS_MUL_GPU_TINY,
                                                            LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE,
                                                            LACIS_MUL_GPU_HUB,    LACIS_MUL_GPU_SMALL};
                job.force = force[next_random(state) % 6];
                job.small = (lacis_mul_gpu_small)(next_random(state) % LACIS_MUL_GPU_SMALLS);
                if (next_random(state) % 2) job.max_degree_a = max_degree(a);
                if (next_random(state) % 2) forget_values(job);
                job.compact = next_random(state) % 2;
                job.timed = next_random(state) % 4 == 0;
                if (next_random(state) % 4 == 0) job.side[0] = job.side[1] = nullptr;
                if (next_random(state) % 4 == 0 && b.cols > 3) {
                    job.t_lo = (int64_t)(next_random(state) % (u64)b.cols);
                    job.t_hi = job.t_lo + (int64_t)(next_random(state) % (u64)(b.cols - job.t_lo + 1));
                }
                mask_matrix = nullptr;
                if (next_random(state) % 4 == 0) {
                    job.mask = &dm;
                    job.mask_not = next_random(state) % 2;
                    mask_matrix = &mask;
                }
                if (next_random(state) % 4 == 0) random_having(job, state);
                if (next_random(state) % 4 == 0) job.top = 1 + (int64_t)(next_random(state) % 20);
                std::vector<int64_t> rows;
                int64_t first = 0, count = a.rows;
                const u64 pick = next_random(state) % 3;
                if (pick == 0)
                    for (int64_t r = 0; r < a.rows; r++)
                        if (next_random(state) % 3 == 0) rows.push_back(r);
                if (pick == 1 && a.rows > 2) first = a.rows / 3, count = a.rows / 2;
                expect(check_job(a, b, job, rows, first, count));
            }
        mask_matrix = nullptr;
        free_matrix(da), free_matrix(db), free_matrix(dm);
    }
}

void check_random(u64 seed, int rounds, int64_t most)
{
    u64 state = seed;
    for (int round = 0; round < rounds; round++) {
        static const int64_t sizes[] = {1, 2, 7, 33, 64, 200, 1000, 3000, 20000};
        int64_t n[3];
        for (int i = 0; i < 3; i++)
            n[i] = std::min(most, sizes[next_random(&state) % 9]);
        if (next_random(&state) % 2) n[1] = n[2] = n[0];
        int shape[2];
        for (int i = 0; i < 2; i++) {
            shape[i] = (int)(next_random(&state) % 5);
            if (shape[i] == 3 && n[i] * n[i + 1] > 40000) shape[i] = 1;
        }
        const int64_t per = 1 + (int64_t)(next_random(&state) % 20);
        matrix a = make_shape(&state, shape[0], n[0], n[1], std::min<int64_t>(n[0] * per, 60000));
        matrix b = make_shape(&state, shape[1], n[1], n[2], std::min<int64_t>(n[1] * per, 60000));
        u64 products = 0;
        for (uint32_t c : a.column)
            products += b.end[c] - b.begin[c];
        if (products > 8000000) continue;
        check_pair(a, b, (lacis_mul_type)(round % 4), &state, true);
    }
}

/* A wide matrix: windows of bitmaps, wide keys, more entries than cells. */
void check_wide(u64 seed)
{
    u64 state = seed;
    matrix a = make_shape(&state, 2, 300, 4000, 6000);
    matrix b = make_shape(&state, 0, 4000, 3000000, 60000);
    for (int type = 0; type < 4; type++)
        check_pair(a, b, (lacis_mul_type)type, &state, true);
    matrix wide = make_shape(&state, 0, 4000, (int64_t)1 << 28, 60000);
    matrix thin = make_shape(&state, 0, 2000, 4000, 6000);
    thin.valued = wide.valued = false;
    lacis_mul_matrix da = to_device(thin, LACIS_MUL_I32), db = to_device(wide, LACIS_MUL_I32);
    lacis_mul_gpu_job job = make_job(da, db);
    job.agg = LACIS_MUL_COUNT;
    job.storage = LACIS_MUL_TO_U32;
    expect(check_job(thin, wide, job, {}, 0, thin.rows));
    free_matrix(da), free_matrix(db);
}

void check_faults()
{
    u64 state = 5;
    matrix a = make_shape(&state, 1, 3000, 3000, 60000);
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    for (int64_t at = 0; at < 16; at++) {
        lacis_mul_gpu_job job = make_job(da, da);
        job.con_kind = LACIS_MUL_CON_MUL;
        job.agg = LACIS_MUL_SUM;
        job.storage = LACIS_MUL_TO_F32;
        job.compact = true;
        lacis_mul_gpu_output out = {};
        CUDA(cudaMalloc(&out.begin, 3000 * 8));
        CUDA(cudaMalloc(&out.end, 3000 * 8));
        allocs = 0;
        fail_at = at;
        const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, 3000, &out);
        fail_at = -1;
        const bool reached = allocs > at;
        expect(status == LACIS_MUL_GPU_OK || (reached && status == LACIS_MUL_GPU_NO_MEMORY && live == 0));
        if (out.column) device_free(nullptr, out.column);
        if (out.value) device_free(nullptr, out.value);
        expect(live == 0);
        cudaFree(out.begin), cudaFree(out.end);
    }
    lacis_mul_gpu_job job = make_job(da, da);
    job.agg = LACIS_MUL_COUNT;
    job.storage = LACIS_MUL_TO_U32;
    job.room = 100;
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, 3000 * 8));
    CUDA(cudaMalloc(&out.end, 3000 * 8));
    expect(lacis_mul_gpu_run(&job, nullptr, 0, 3000, &out) == LACIS_MUL_GPU_ROOM && out.room > 100 && live == 0);
    cudaFree(out.begin), cudaFree(out.end);
    free_matrix(da);
}

void check_overflow()
{
    u64 state = 9;
    matrix a = make_shape(&state, 3, 40, 40, 0);
    add_values(a, LACIS_MUL_I64, &state, true);
    lacis_mul_matrix da = to_device(a, LACIS_MUL_I64);
    lacis_mul_gpu_job job = make_job(da, da);
    job.con_kind = LACIS_MUL_CON_MUL;
    job.agg = LACIS_MUL_SUM;
    job.storage = LACIS_MUL_TO_I64;
    job.checked = true;
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, 3000 * 8));
    CUDA(cudaMalloc(&out.end, 3000 * 8));
    expect(lacis_mul_gpu_run(&job, nullptr, 0, 40, &out) == LACIS_MUL_GPU_OVERFLOW && live == 0);
    cudaFree(out.begin), cudaFree(out.end);
    free_matrix(da);
}
