/* SPDX-License-Identifier: Apache-2.0
 *
 * HUB rows in parts whose cells stay apart (gpu_parts.cuh): FIRST, LAST and AVG of every type, split because of what
 * there is to do and not because a test asks for it, with MASK, HAVING and TOP, timed or not, and without memory for
 * parts. Written folds and values of 16 bytes: multiply_written.cu, with the class forced.
 */
#include "multiply_support.h"

#include <algorithm>

/* A row of `degree` entries among rows of one or two. */
static matrix make_hub(u64 *state, int64_t rows, int64_t degree)
{
    std::vector<u64> key;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < (r == rows / 2 ? degree : 1 + r % 2); k++)
            key.push_back((u64)r << 32 | (r == rows / 2 ? (u64)k : next_random(state) % (u64)degree));
    return from_keys(key, rows, degree);
}

/* Whether the hub was split, as the output says, and counted as one. */
static void check_split(const lacis_mul_gpu_job &job, int64_t rows, bool splits)
{
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, (size_t)rows * 8));
    CUDA(cudaMalloc(&out.end, (size_t)rows * 8));
    expect(lacis_mul_gpu_run(&job, nullptr, 0, rows, &out) == LACIS_MUL_GPU_OK);
    u64 products = 0, in_classes = 0;
    for (int i = 0; i < LACIS_MUL_GPU_CLASSES; i++)
        in_classes += out.class_products[i];
    products = out.products;
    expect(out.class_rows[LACIS_MUL_GPU_HUB] == (splits ? 1 : 0) && in_classes == products);
    expect(!splits ||
           (out.class_products[LACIS_MUL_GPU_HUB] > products / 2 && out.class_rows[LACIS_MUL_GPU_DENSE] == 0));
    if (out.column) device_free(nullptr, out.column);
    if (out.value) device_free(nullptr, out.value);
    cudaFree(out.begin), cudaFree(out.end);
    expect(live == 0);
}

/* Each allocation fails: without memory for parts rows are whole. */
static void check_faults_of(const lacis_mul_gpu_job &job, int64_t rows)
{
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, (size_t)rows * 8));
    CUDA(cudaMalloc(&out.end, (size_t)rows * 8));
    bool whole = false;
    for (int64_t at = 0; at < 8; at++) {
        allocs = 0;
        fail_at = at;
        const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, rows, &out);
        fail_at = -1;
        expect(status == LACIS_MUL_GPU_OK || (status == LACIS_MUL_GPU_NO_MEMORY && allocs > at));
        whole |= status == LACIS_MUL_GPU_OK && out.class_rows[LACIS_MUL_GPU_DENSE] == 1;
        if (out.column) device_free(nullptr, out.column);
        if (out.value) device_free(nullptr, out.value);
        expect(live == 0);
    }
    expect(whole);
    cudaFree(out.begin), cudaFree(out.end);
}

static void check_shape(u64 *state, int64_t rows, int64_t degree, int64_t cols, bool brief)
{
    static const lacis_mul_agg agg[] = {LACIS_MUL_FIRST, LACIS_MUL_LAST, LACIS_MUL_AVG};
    matrix a = make_hub(state, rows, degree), b = make_shape(state, 0, degree, cols, 8 * degree);
    const matrix mask = make_shape(state, 0, rows, cols, rows * cols / 3);
    lacis_mul_matrix dm = to_device(mask, LACIS_MUL_F32);
    for (const lacis_mul_agg fold : agg)
        for (int type = 0; type < 4; type++) {
            if (!wanted(type) || (brief && (type + (int)fold) % 2)) continue;
            /* Parts of an average may be added up in any order where that is exact. */
            add_values(a, (lacis_mul_type)type, state, fold != LACIS_MUL_AVG);
            add_values(b, (lacis_mul_type)type, state, fold != LACIS_MUL_AVG);
            lacis_mul_matrix da = to_device(a, (lacis_mul_type)type), db = to_device(b, (lacis_mul_type)type);
            lacis_mul_gpu_job job = make_job(da, db);
            job.con_kind = type % 2 ? LACIS_MUL_CON_A : LACIS_MUL_CON_B;
            job.agg = fold;
            job.type = (lacis_mul_type)type;
            job.storage = fold == LACIS_MUL_AVG ? LACIS_MUL_TO_F64 : storage_of(job.type);
            for (int turn = 0; turn < 4; turn++) {
                job.ordered = turn == 1;
                job.timed = turn == 2;
                job.compact = turn == 3;
                job.mask = turn >= 2 ? &dm : nullptr;
                job.mask_not = turn == 3;
                mask_matrix = job.mask ? &mask : nullptr;
                expect(check_job(a, b, job, {}, 0, a.rows));
            }
            mask_matrix = nullptr;
            job.mask = nullptr;
            job.compact = false;
            check_split(job, a.rows, true);
            job.ordered = true;
            check_split(job, a.rows, fold != LACIS_MUL_AVG);
            job.ordered = false;
            if (type < 2) check_faults_of(job, a.rows);
            free_matrix(da), free_matrix(db);
        }
    free_matrix(dm);
}

void check_parts(u64 seed, bool brief)
{
    u64 state = seed;
    check_shape(&state, 40, brief ? 6000 : 200000, 300, brief);
    if (!brief) check_shape(&state, 300, 1000000, 5000, false);
}
