/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of the kernels for vectors and closures on rmat graphs with permuted labels.
 */
#include "vector_support.h"

#ifdef WITH_CUSPARSE
#include <cusparse.h>
#include <dlfcn.h>
#endif

#include <chrono>

static int runs; /* of which the first three do not count */

/* `each` calls one behind the other are timed together. */
template <class F> static double median_us(F f, int each = 1)
{
    std::vector<double> t;
    cudaEvent_t from, to;
    CUDA(cudaEventCreate(&from));
    CUDA(cudaEventCreate(&to));
    for (int i = 0; i < runs; i++) {
        float ms;
        CUDA(cudaEventRecord(from, stream));
        for (int k = 0; k < each; k++)
            f();
        CUDA(cudaEventRecord(to, stream));
        CUDA(cudaEventSynchronize(to));
        CUDA(cudaEventElapsedTime(&ms, from, to));
        if (i >= 3) t.push_back(ms * 1e3 / each);
    }
    CUDA(cudaEventDestroy(from));
    CUDA(cudaEventDestroy(to));
    std::sort(t.begin(), t.end());
    return t[t.size() / 2];
}

#ifdef WITH_CUSPARSE
#define PEER(name) decltype(&name) f_##name = (decltype(&name))dlsym(library, #name)
static double peer_us(const matrix &g, const lacis_mul_matrix &a, const float *x, float *y)
{
    void *library = dlopen("libcusparse.so.12", RTLD_NOW);
    if (!library) library = dlopen("libcusparse.so", RTLD_NOW);
    if (!library) return NAN;
    PEER(cusparseCreate);
    PEER(cusparseSetStream);
    PEER(cusparseCreateCsr);
    PEER(cusparseCreateDnVec);
    PEER(cusparseSpMV_bufferSize);
    PEER(cusparseSpMV);
    PEER(cusparseSpMV_preprocess);
    std::vector<int> offset(g.begin.begin(), g.begin.end());
    offset.push_back((int)g.column.size());
    int *offsets = upload(offset);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vx, vy;
    float one = 1, zero = 0;
    size_t bytes = 0;
    f_cusparseCreate(&handle);
    f_cusparseSetStream(handle, stream);
    f_cusparseCreateCsr(&matrix, g.rows, g.cols, (int64_t)g.column.size(), offsets, (void *)a.column, (void *)a.value,
                        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    f_cusparseCreateDnVec(&vx, g.cols, (void *)x, CUDA_R_32F);
    f_cusparseCreateDnVec(&vy, g.rows, y, CUDA_R_32F);
    double best = INFINITY;
    for (cusparseSpMVAlg_t alg : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
        f_cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero, vy, CUDA_R_32F,
                                  alg, &bytes);
        void *buffer = pool_alloc(NULL, bytes);
        if (f_cusparseSpMV_preprocess)
            f_cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero, vy,
                                      CUDA_R_32F, alg, buffer);
        const double t = median_us([&] {
            f_cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero, vy, CUDA_R_32F, alg,
                           buffer);
        });
        if (t < best) best = t;
    }
    return best;
}
#else
static double peer_us(const matrix &, const lacis_mul_matrix &, const float *, float *)
{
    return NAN;
}
#endif

static double now_us()
{
    return (double)std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
               .count() *
           1e-3;
}

template <class T>
static void bench_closure(const char *what, const matrix &g, const lacis_mul_matrix &a, lacis_mul_con con,
                          lacis_mul_agg agg, int64_t sources, int push)
{
    std::vector<int64_t> sb, se;
    for (int64_t r = 0; r < g.rows && (int64_t)sb.size() < sources; r++)
        if (g.end[r] - g.begin[r] > 8) sb.push_back(g.begin[r]), se.push_back(g.end[r]);
    const int64_t n = (int64_t)sb.size();
    const lacis_mul_matrix start = {n, g.cols, upload(sb), upload(se), a.column, a.value, kind<T>::type};
    double best = INFINITY;
    int64_t done = 0;
    void *pinned;
    CUDA(cudaMallocHost(&pinned, 4096));
    for (int i = 0; i < (runs > 5 ? 5 : 1); i++) {
        lacis_mul_gpu_closure c = {n, a, g.column.size(), con, agg, kind<T>::type, stream, pinned, pool, NULL, 0, 0,
                                   0, 0};
        const double since = now_us();
        if (!run_closure(&c, start, 0, push, con, &done, NULL)) printf("failed %d\n", c.cuda_error);
        CUDA(cudaStreamSynchronize(stream));
        best = std::min(best, now_us() - since);
    }
    CUDA(cudaFreeHost(pinned));
    printf("  %-34s %s %5lld sources %3lld rounds %10.1f us, %.1f a round\n", what, push ? "push   " : "product",
           (long long)n, (long long)done, best, best / (double)done);
}

static void bench_closures(const matrix &g, const lacis_mul_matrix &a)
{
    lacis_mul_matrix plain = a;
    plain.value = NULL;
    for (int push : {3, 1, 0})
        for (int64_t sources = 1; sources <= (push == 3 ? 1 : 1024); sources *= 32) {
            plain.type = LACIS_MUL_I32;
            bench_closure<int32_t>("reachability", g, plain, LACIS_MUL_CON_ONE, LACIS_MUL_MIN, sources, push);
            bench_closure<float>("shortest paths f32 min-plus", g, a, LACIS_MUL_CON_ADD, LACIS_MUL_MIN, sources,
                                 push);
        }
}

void bench(int scale, bool closures, int runs_of_each)
{
    runs = runs_of_each;
    const matrix g = make_rmat(scale);
    u64 state = 7;
    const size_t nnz = g.column.size();
    std::vector<float> gv = make_values<float>(&state, nnz, false), xv = make_values<float>(&state, g.cols, false);
    for (float &v : gv)
        v = fabsf(v);
    lacis_mul_matrix a = on_device(g, upload(gv), LACIS_MUL_F32);
    float *x = upload(xv), *y = (float *)pool_alloc(NULL, g.rows * 4);
    uint8_t *present = (uint8_t *)pool_alloc(NULL, g.rows);
    const double bytes = (double)nnz * 8 + (double)g.rows * 16 + (double)g.rows * 9;
    printf("rmat %d: %lld rows, %zu entries; floor of pull %.2f us at 4.3 TB/s\n", scale, (long long)g.rows, nnz,
           bytes / 4.3e6);
    for (int ordered = 0; ordered < 2; ordered++) {
        lacis_mul_gpu_job job = make_job<float>(LACIS_MUL_CON_MUL, LACIS_MUL_SUM, ordered);
        job.a = a;
        job.b = {g.cols, 1, NULL, NULL, NULL, x, LACIS_MUL_F32};
        lacis_mul_gpu_pull pull = {&job, true, nnz, 0, g.rows, present, y, 0};
        const double alone = median_us([&] { lacis_mul_gpu_pull_run(&pull); });
        printf("  pull f32 sum%s %.1f us, %.1f in a row of 20\n", ordered ? " ordered" : "", alone,
               median_us([&] { lacis_mul_gpu_pull_run(&pull); }, runs > 5 ? 20 : 1));
    }
    printf("  cuSPARSE SpMV f32 (best of two) %.1f us\n", peer_us(g, a, x, y));
    for (int every = 1; every <= 64; every *= 8) {
        std::vector<uint32_t> ac;
        u64 products = 0;
        for (int64_t c = 0; c < g.rows; c += every)
            ac.push_back((uint32_t)c), products += (u64)(g.end[c] - g.begin[c]);
        uint32_t *columns = upload(ac);
        for (lacis_mul_agg agg : {LACIS_MUL_COUNT, LACIS_MUL_SUM, LACIS_MUL_MIN}) {
            lacis_mul_gpu_job job = make_job<float>(LACIS_MUL_CON_MUL, agg, 0);
            if (agg == LACIS_MUL_COUNT) job.storage = LACIS_MUL_TO_U32;
            job.a = {1, g.rows, NULL, NULL, columns, x, LACIS_MUL_F32};
            job.b = a;
            job.t_hi = g.cols;
            lacis_mul_gpu_push push = {&job, 0, (int64_t)ac.size(), 0, 0, products, NULL, NULL, 0, 0};
            const double t = median_us([&] {
                lacis_mul_gpu_push_run(&push);
                pool_free(NULL, push.column);
                pool_free(NULL, push.value);
            });
            printf("  push f32 %s 1 in %d: %llu products %.1f us, %.1f G/s\n", agg_name[agg], every,
                   (unsigned long long)products, t, (double)products * 1e-3 / t);
        }
        pool_free(NULL, columns);
    }
    if (closures) bench_closures(g, a);
    drop(a);
    pool_free(NULL, x), pool_free(NULL, y), pool_free(NULL, present);
    CUDA(cudaStreamSynchronize(stream));
}
