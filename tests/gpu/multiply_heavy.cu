/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of multiply_gpu.cu for the heavy end: hub rows in parts, all-dense blocks, TOP among many equal values, and
 * what is allocated for TOP.
 */
#include "multiply_support.h"

#include <algorithm>

struct way {
    lacis_mul_con con;
    lacis_mul_agg agg;
    lacis_mul_type type;
    lacis_mul_storage storage;
};
static const way ways[] = {{LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_F32, LACIS_MUL_TO_U32},
                           {LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_F32, LACIS_MUL_TO_U16},
                           {LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_F32, LACIS_MUL_TO_I64},
                           {LACIS_MUL_CON_B, LACIS_MUL_SUM, LACIS_MUL_F32, LACIS_MUL_TO_F32},
                           {LACIS_MUL_CON_ADD, LACIS_MUL_MIN, LACIS_MUL_F32, LACIS_MUL_TO_F32},
                           {LACIS_MUL_CON_ADD, LACIS_MUL_MAX, LACIS_MUL_F32, LACIS_MUL_TO_F32},
                           {LACIS_MUL_CON_MUL, LACIS_MUL_SUM, LACIS_MUL_I32, LACIS_MUL_TO_I32},
                           {LACIS_MUL_CON_ADD, LACIS_MUL_MAX, LACIS_MUL_I64, LACIS_MUL_TO_I64},
                           {LACIS_MUL_CON_A, LACIS_MUL_SUM, LACIS_MUL_F64, LACIS_MUL_TO_F64},
                           {LACIS_MUL_CON_ADD, LACIS_MUL_MIN, LACIS_MUL_F64, LACIS_MUL_TO_F64}};

/* Values 0..few-1: many are equal. */
static void few_values(matrix &m, lacis_mul_type type, u64 *state, int few)
{
    add_values(m, type, state, false);
    for (size_t i = 0; i < m.column.size(); i++) {
        const int v = (int)(next_random(state) % (u64)few);
        if (type == LACIS_MUL_F32) ((float *)m.value.data())[i] = (float)v;
        if (type == LACIS_MUL_F64) ((double *)m.value.data())[i] = v;
        if (type == LACIS_MUL_I32) ((int32_t *)m.value.data())[i] = v;
        if (type == LACIS_MUL_I64) ((int64_t *)m.value.data())[i] = v;
    }
}

/* Every way, stored whole, with TOP of several k and with MASK, whose rows are long, in every class. */
static void check_ways(matrix a, matrix b, u64 *state)
{
    static const lacis_mul_gpu_class force[] = {LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE,
                                                LACIS_MUL_GPU_HUB};
    const matrix mask = make_shape(state, 1, a.rows, b.cols, std::min(a.rows * b.cols / 2, 6 * b.cols));
    lacis_mul_matrix dm = to_device(mask, LACIS_MUL_F32);
    for (const way &w : ways)
        for (int turn = 0; turn < 9; turn++) {
            few_values(a, w.type, state, turn % 2 ? 2 : 50);
            few_values(b, w.type, state, turn % 2 ? 2 : 50);
            lacis_mul_matrix da = to_device(a, w.type), db = to_device(b, w.type);
            lacis_mul_gpu_job job = make_job(da, db);
            job.con_kind = w.con;
            job.agg = w.agg;
            job.storage = w.storage;
            job.max_degree_a = turn % 3 ? max_degree(a) : 0;
            job.force = force[next_random(state) % 4];
            job.timed = turn == 4;
            job.top = turn < 2 ? 0 : (int64_t[]){1, 10, 32, 33, 40, 150, 256}[turn - 2];
            job.top_inside = turn < 6 ? 0 : 256;
            if (turn % 3 == 1 && turn < 6) {
                job.mask = &dm;
                job.mask_not = next_random(state) % 2;
                mask_matrix = &mask;
            }
            expect(check_job(a, b, job, {}, 0, a.rows));
            mask_matrix = nullptr;
            free_matrix(da), free_matrix(db);
        }
    free_matrix(dm);
}

/* The class HUB says what it did; TOP allocates for candidates only, MASK for what it keeps. */
static void check_told()
{
    const matrix a = make_graph("star:40000");
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    lacis_mul_gpu_job job = make_job(da, da);
    job.agg = LACIS_MUL_COUNT;
    job.storage = LACIS_MUL_TO_U32;
    job.force = LACIS_MUL_GPU_HUB;
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, (size_t)a.rows * 8));
    CUDA(cudaMalloc(&out.end, (size_t)a.rows * 8));
    u64 products[2] = {0, 0}, room[2] = {0, 0};
    for (int top = 0; top < 2; top++) {
        job.top = top * 10;
        job.room = top ? 1000 : 0;
        expect(lacis_mul_gpu_run(&job, nullptr, 0, 1, &out) == LACIS_MUL_GPU_OK);
        expect(out.class_rows[LACIS_MUL_GPU_HUB] == 1 && out.class_rows[LACIS_MUL_GPU_DENSE] == 0);
        products[top] = out.class_products[LACIS_MUL_GPU_HUB];
        room[top] = out.room;
        expect(products[top] == out.products && out.class_products[LACIS_MUL_GPU_DENSE] == 0);
        device_free(nullptr, out.column), device_free(nullptr, out.value);
    }
    expect(products[0] == products[1] && room[0] == 40000 && room[1] == 10);
    std::vector<u64> some;
    for (u64 c = 0; c < 10; c++)
        some.push_back(c * 3999);
    const matrix mask = from_keys(some, a.rows, a.cols);
    lacis_mul_matrix dm = to_device(mask, LACIS_MUL_F32);
    job.top = 0;
    job.mask = &dm;
    for (const lacis_mul_gpu_class force : {LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE, LACIS_MUL_GPU_HUB}) {
        job.force = force;
        expect(lacis_mul_gpu_run(&job, nullptr, 0, 1, &out) == LACIS_MUL_GPU_OK && out.entries == 10);
        device_free(nullptr, out.column), device_free(nullptr, out.value);
    }
    job.mask = nullptr;
    free_matrix(dm);
    job.t_lo = job.t_hi = 5; /* no column at all */
    expect(lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out) == LACIS_MUL_GPU_OK && out.entries == 0);
    cudaFree(out.begin), cudaFree(out.end);
    free_matrix(da);
}

/* Where only as many entries as there are may be allocated, rows are counted first; with fewer nothing goes. */
static void check_counted(matrix a, matrix b, u64 *state)
{
    for (const way &w : ways)
        for (const lacis_mul_gpu_class force : {LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE}) {
            add_values(a, w.type, state, false);
            add_values(b, w.type, state, false);
            lacis_mul_matrix da = to_device(a, w.type), db = to_device(b, w.type);
            lacis_mul_gpu_job job = make_job(da, db);
            job.con_kind = w.con == LACIS_MUL_CON_MUL ? LACIS_MUL_CON_ADD : w.con;
            job.agg = w.agg;
            job.storage = w.storage;
            job.force = force;
            lacis_mul_gpu_output out = {};
            CUDA(cudaMalloc(&out.begin, (size_t)a.rows * 8));
            CUDA(cudaMalloc(&out.end, (size_t)a.rows * 8));
            expect(lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out) == LACIS_MUL_GPU_OK);
            expect(out.counted == 0 && out.room > out.entries);
            device_free(nullptr, out.column), device_free(nullptr, out.value);
            job.room = out.entries;
            expect(check_job(a, b, job, {}, 0, a.rows));
            job.room--;
            expect(lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out) == LACIS_MUL_GPU_ROOM && live == 0);
            expect(out.room == job.room + 1 && out.counted > 0);
            cudaFree(out.begin), cudaFree(out.end);
            free_matrix(da), free_matrix(db);
        }
}

void check_heavy()
{
    u64 state = 77;
    std::vector<u64> key; /* one hub in an otherwise empty graph */
    for (u64 c = 0; c < 30000; c++)
        key.push_back((u64)17 << 32 | c);
    const matrix hub = from_keys(key, 40, 30000);
    check_ways(hub, make_shape(&state, 1, 30000, 50000, 90000), &state);
    check_ways(make_shape(&state, 2, 300, 3000, 9000), make_shape(&state, 2, 3000, 20000, 60000), &state);
    const matrix dense = make_graph("dense:300");
    check_ways(dense, dense, &state);
    const matrix star = make_graph("star:30000");
    std::vector<u64> tall; /* the hub and some rows of the star: all of them would be 900 M entries */
    for (u64 i = 0; i < 200; i++)
        for (int64_t e = star.begin[i]; e < star.end[i]; e++)
            tall.push_back(i << 32 | star.column[e]);
    check_ways(from_keys(tall, 200, 30000), star, &state);
    check_told();
    check_counted(make_shape(&state, 1, 500, 3000, 20000), make_shape(&state, 1, 3000, 20000, 60000), &state);
    check_counted(make_shape(&state, 0, 100, 3000, 5000), make_shape(&state, 1, 3000, 600000, 60000), &state);
}
