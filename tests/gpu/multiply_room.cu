/* SPDX-License-Identifier: Apache-2.0
 *
 * Room for entries: jobs that count them at once (job.counted), every AGG, in order or not, in every class, with
 * MASK, HAVING and TOP; samples of rows against plain counts; each allocation of both failing in turn.
 */
#include "multiply_support.h"

#include <algorithm>

/* Blocks of `block` vertices, all of them joined: block * block products a row, block entries. */
static matrix make_blocks(int64_t n, int64_t block)
{
    std::vector<u64> key;
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = r / block * block; c < std::min(n, (r / block + 1) * block); c++)
            key.push_back((u64)r << 32 | (u64)c);
    return from_keys(key, n, n);
}

static u64 entries_of(const matrix &a, const matrix &b, int64_t row, int64_t t_lo, int64_t t_hi)
{
    std::vector<uint32_t> all;
    for (int64_t i = a.begin[row]; i < a.end[row]; i++)
        for (int64_t j = b.begin[a.column[i]]; j < b.end[a.column[i]]; j++)
            if (b.column[j] >= t_lo && b.column[j] < t_hi) all.push_back(b.column[j]);
    std::sort(all.begin(), all.end());
    return (u64)(std::unique(all.begin(), all.end()) - all.begin());
}

/* Every so-manieth row, all columns or some of them. */
static void check_sample(const matrix &a, const matrix &b)
{
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32), db = to_device(b, LACIS_MUL_F32);
    lacis_mul_gpu_job job = make_job(da, db);
    job.agg = LACIS_MUL_COUNT;
    job.storage = LACIS_MUL_TO_U32;
    std::vector<int64_t> rows;
    for (int64_t r = 0; r < a.rows && rows.size() < LACIS_MUL_GPU_SAMPLE; r += 1 + a.rows / 100)
        rows.push_back(r);
    for (int part = 0; part < 2; part++) {
        job.t_lo = part ? b.cols / 3 : 0;
        job.t_hi = part ? b.cols / 2 : b.cols;
        std::vector<uint64_t> found(rows.size(), 12345);
        int error = 0;
        bool good =
            lacis_mul_gpu_sample(&job, rows.data(), (int64_t)rows.size(), found.data(), &error) == LACIS_MUL_GPU_OK &&
            error == 0 && live == 0;
        for (size_t i = 0; good && i < rows.size(); i++)
            good = found[i] == entries_of(a, b, rows[i], job.t_lo, job.t_hi);
        expect(good);
    }
    int error = 0;
    uint64_t one = 0;
    allocs = fail_at = 0;
    expect(lacis_mul_gpu_sample(&job, rows.data(), 1, &one, &error) == LACIS_MUL_GPU_NO_MEMORY && live == 0);
    fail_at = -1;
    expect(lacis_mul_gpu_sample(&job, rows.data(), 0, &one, &error) == LACIS_MUL_GPU_OK);
    expect(lacis_mul_gpu_sample(&job, rows.data(), LACIS_MUL_GPU_SAMPLE + 1, &one, &error) ==
           LACIS_MUL_GPU_UNSUPPORTED);
    free_matrix(da), free_matrix(db);
}

/* Counted jobs allocate what there is, and compute the same. */
static void check_counted(matrix a, matrix b, u64 *state, bool brief)
{
    static const lacis_mul_gpu_class force[] = {LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE,
                                                LACIS_MUL_GPU_HUB};
    static const lacis_mul_agg agg[] = {LACIS_MUL_COUNT, LACIS_MUL_SUM,  LACIS_MUL_MIN,
                                        LACIS_MUL_FIRST, LACIS_MUL_LAST, LACIS_MUL_AVG};
    const matrix mask = make_shape(state, 1, a.rows, b.cols, std::min(a.rows * b.cols / 2, 4 * b.cols));
    lacis_mul_matrix dm = to_device(mask, LACIS_MUL_F32);
    for (const lacis_mul_agg fold : agg)
        for (int turn = 0; turn < (brief ? 2 : 8); turn++) {
            const lacis_mul_type type = fold == LACIS_MUL_COUNT ? LACIS_MUL_F32 : (lacis_mul_type)(turn % 4);
            add_values(a, type, state, false);
            add_values(b, type, state, false);
            lacis_mul_matrix da = to_device(a, type), db = to_device(b, type);
            lacis_mul_gpu_job job = make_job(da, db);
            job.con_kind = fold == LACIS_MUL_COUNT ? LACIS_MUL_CON_ONE : LACIS_MUL_CON_ADD;
            job.agg = fold;
            job.storage = fold == LACIS_MUL_COUNT ? LACIS_MUL_TO_U32
                          : fold == LACIS_MUL_AVG ? LACIS_MUL_TO_F64
                                                  : storage_of(type);
            job.ordered = next_random(state) % 2;
            job.force = force[next_random(state) % 4];
            job.compact = next_random(state) % 2;
            job.counted = true;
            expect(check_job(a, b, job, {}, 0, a.rows));
            job.mask = &dm;
            mask_matrix = &mask;
            job.mask_not = turn % 2;
            expect(check_job(a, b, job, {}, 0, a.rows));
            mask_matrix = nullptr;
            job.mask = nullptr;
            job.top = fold == LACIS_MUL_AVG ? 0 : 3;
            expect(check_job(a, b, job, {}, 0, a.rows));
            free_matrix(da), free_matrix(db);
        }
    free_matrix(dm);
}

/* Bounds are many times the entries: of heavy rows nothing but those is allocated. */
static void check_little(const matrix &a, u64 *state)
{
    matrix m = a;
    add_values(m, LACIS_MUL_I64, state, false);
    lacis_mul_matrix da = to_device(m, LACIS_MUL_I64);
    lacis_mul_gpu_job job = make_job(da, da);
    job.con_kind = LACIS_MUL_CON_ADD;
    job.agg = LACIS_MUL_MAX;
    job.storage = LACIS_MUL_TO_I64;
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, (size_t)a.rows * 8));
    CUDA(cudaMalloc(&out.end, (size_t)a.rows * 8));
    u64 room[2];
    for (int counted = 0; counted < 2; counted++) {
        job.counted = counted;
        expect(lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out) == LACIS_MUL_GPU_OK);
        expect(out.counted == (counted ? (u64)a.rows : 0));
        room[counted] = out.room;
        expect(!counted || out.room == out.entries);
        device_free(nullptr, out.column), device_free(nullptr, out.value);
    }
    expect(room[0] > 4 * room[1]);
    job.compact = true;
    for (int64_t at = 0; at < 12; at++) {
        allocs = 0;
        fail_at = at;
        const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out);
        fail_at = -1;
        const bool reached = allocs > at;
        expect(status == LACIS_MUL_GPU_OK || (reached && status == LACIS_MUL_GPU_NO_MEMORY && live == 0));
        if (out.column) device_free(nullptr, out.column);
        if (out.value) device_free(nullptr, out.value);
        expect(live == 0);
    }
    cudaFree(out.begin), cudaFree(out.end);
    free_matrix(da);
}

void check_room(u64 seed, bool brief)
{
    u64 state = seed;
    const int64_t n = brief ? 80 : 4000;
    check_sample(make_shape(&state, 1, n, n, 8 * n), make_shape(&state, 0, n, 3 * n, 6 * n));
    check_sample(make_shape(&state, 2, brief ? 6 : 60, 500, 1000),
                 make_shape(&state, 1, 500, 600000, 4000)); /* windows of bits */
    check_counted(make_shape(&state, 1, n / 4, n / 2, 4 * n), make_shape(&state, 0, n / 2, 2 * n, 5 * n), &state,
                  brief);
    check_counted(make_blocks(brief ? 40 : 500, 20), make_blocks(brief ? 40 : 500, 20), &state, brief);
    check_little(make_blocks(brief ? 60 : 2000, 20), &state);
}
