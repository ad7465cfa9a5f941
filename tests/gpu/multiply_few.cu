/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of multiply_gpu.cu for the ends of the range: FLAT rows, and products of few rows; times of those.
 */
#include "multiply_support.h"

#include <algorithm>
#include <chrono>

matrix short_rows(u64 *state, int64_t rows, int64_t cols, int least, int most, int64_t hub)
{
    std::vector<u64> key;
    for (int64_t r = 0; r < rows; r++) {
        const u64 empty = next_random(state) % 16 == 0;
        int64_t n = empty ? 0 : least + (int64_t)(next_random(state) % (u64)(most - least + 1));
        if (hub && r == rows / 2) n = hub;
        for (int64_t i = 0; i < n; i++)
            key.push_back((u64)r << 32 | next_random(state) % (u64)cols);
    }
    return from_keys(key, rows, cols);
}

/* No row of b has more than eight entries, but in the last round. Few columns: many products share one. */
void check_flat(u64 seed, int rounds, int64_t rows)
{
    u64 state = seed;
    for (int round = 0; round < rounds; round++) {
        static const int64_t columns_of[] = {1 << 20, 300, 40, 7};
        const int64_t n = round % 5 == 4 ? 37 : rows + round;
        const matrix a = short_rows(&state, n, n, round % 3, 8, round % 2 ? 30 : 0);
        const matrix b = short_rows(&state, n, columns_of[round % 4], 6, 8, round == rounds - 1 ? 9 : 0);
        for (int type = 0; type < 4; type++)
            check_pair(a, b, (lacis_mul_type)type, &state, true);
    }
}

static void check_list(const matrix &a, const lacis_mul_matrix &da, u64 *state, const std::vector<int64_t> &rows)
{
    for (int agg = LACIS_MUL_COUNT; agg <= LACIS_MUL_AVG; agg++) {
        static const lacis_mul_gpu_class force[] = {LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_TINY,
                                                    LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE};
        lacis_mul_gpu_job job = make_job(da, da);
        job.con_kind = LACIS_MUL_CON_MUL;
        job.agg = (lacis_mul_agg)agg;
        job.storage = agg == LACIS_MUL_COUNT ? LACIS_MUL_TO_U32
                      : agg == LACIS_MUL_AVG ? LACIS_MUL_TO_F64
                                             : storage_of(da.type);
        job.ordered = next_random(state) % 2;
        job.force = force[next_random(state) % 5];
        job.compact = next_random(state) % 2;
        if (next_random(state) % 2) job.pinned = nullptr;
        if (next_random(state) % 4 == 0) job.t_lo = 100, job.t_hi = a.cols - 7;
        expect(check_job(a, a, job, rows, 0, 0));
        expect(check_job(a, a, job, {}, rows[0], 1));
    }
}

void check_few(u64 seed, int types, int64_t n)
{
    u64 state = seed;
    for (int type = 0; type < types; type++) {
        matrix a = make_shape(&state, 1 + type % 2, n, n, 3 * n);
        add_values(a, (lacis_mul_type)type, &state, false);
        const lacis_mul_matrix da = to_device(a, (lacis_mul_type)type);
        for (int64_t count : {1, 2, 31, 256, 257}) {
            std::vector<int64_t> rows = {0, a.rows / 2};
            while ((int64_t)rows.size() < count)
                rows.push_back((int64_t)(next_random(&state) % (u64)a.rows));
            rows.resize((size_t)count);
            std::sort(rows.begin(), rows.end());
            rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
            check_list(a, da, &state, rows);
        }
        lacis_mul_matrix gone = da;
        free_matrix(gone);
    }
}

static double run_once(const lacis_mul_gpu_job &job, int64_t first, int64_t count, lacis_mul_gpu_output *out)
{
    CUDA(cudaDeviceSynchronize());
    const auto t0 = std::chrono::steady_clock::now();
    const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, first, count, out);
    CUDA(cudaStreamSynchronize(stream));
    const double us = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count() * 1e6;
    if (status != LACIS_MUL_GPU_OK) {
        printf("status %d\n", status);
        exit(1);
    }
    if (out->column) device_free(nullptr, out->column);
    if (out->value) device_free(nullptr, out->value);
    return us;
}

/* One source: rows of several weights, microseconds on the host's clock, median of 21. */
void bench_one(const char *name)
{
    matrix a = make_graph(name);
    u64 state = 7;
    add_values(a, LACIS_MUL_F32, &state, false);
    const lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    lacis_mul_gpu_output out = {};
    int64_t *begin, *end;
    CUDA(cudaMalloc(&begin, a.rows * 8));
    CUDA(cudaMalloc(&end, a.rows * 8));
    std::vector<int64_t> row(a.rows);
    for (int64_t r = 0; r < a.rows; r++)
        row[r] = r;
    std::stable_sort(row.begin(), row.end(),
                     [&](int64_t x, int64_t y) { return a.end[x] - a.begin[x] < a.end[y] - a.begin[y]; });
    for (double share : {0.5, 0.8, 0.9, 0.97, 0.995, 1.0})
        for (const lacis_mul_gpu_class force : {LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE}) {
            const int64_t r = row[std::min<int64_t>(a.rows - 1, (int64_t)(share * (double)a.rows))];
            printf("%-10s row of %6lld entries, %-6s:", name, (long long)(a.end[r] - a.begin[r]),
                   force ? lacis_mul_gpu_class_name[force] : "own");
            for (int agg : {LACIS_MUL_COUNT, LACIS_MUL_SUM}) {
                lacis_mul_gpu_job job = make_job(da, da);
                job.con_kind = agg ? LACIS_MUL_CON_MUL : LACIS_MUL_CON_ONE;
                job.agg = (lacis_mul_agg)agg;
                job.storage = agg ? LACIS_MUL_TO_F32 : LACIS_MUL_TO_U32;
                job.force = force;
                std::vector<double> us;
                for (int i = 0; i < 24; i++) {
                    out.begin = begin, out.end = end;
                    us.push_back(run_once(job, r, 1, &out));
                }
                us.erase(us.begin(), us.begin() + 3);
                std::sort(us.begin(), us.end());
                printf("  %s %.1f us (least %.1f)", agg ? "f32" : "count", us[us.size() / 2], us[0]);
            }
            printf("  %llu products\n", (unsigned long long)out.products);
        }
}

/* The whole product in f32 a few times: for profilers. */
void run_graph(const char *name, int repeats)
{
    matrix a = make_graph(name);
    u64 state = 7;
    add_values(a, LACIS_MUL_F32, &state, false);
    const lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, a.rows * 8));
    CUDA(cudaMalloc(&out.end, a.rows * 8));
    lacis_mul_gpu_job job = make_job(da, da);
    job.con_kind = LACIS_MUL_CON_MUL;
    job.agg = LACIS_MUL_SUM;
    job.storage = LACIS_MUL_TO_F32;
    for (int i = 0; i < repeats; i++)
        printf("%s: %.1f us\n", name, run_once(job, 0, a.rows, &out));
}
