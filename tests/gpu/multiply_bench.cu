/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of multiply_gpu.cu: products by the kernels, and the same by cuSPARSE.
 */
#include "multiply_support.h"

#ifdef WITH_CUSPARSE
#include <cusparse.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstring>

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

struct semiring {
    const char *name;
    lacis_mul_con con;
    lacis_mul_agg agg;
    lacis_mul_storage storage;
    bool ordered;
};

void bench(const char *name, int repeats)
{
    matrix a = make_graph(name);
    u64 state = 7;
    add_values(a, LACIS_MUL_F32, &state, false);
    for (size_t i = 0; i < a.column.size(); i++) /* sums stay exact below 2^24 */
        ((float *)a.value.data())[i] = (float)(1 + (int)(next_random(&state) % 3));
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    int64_t *begin, *end;
    CUDA(cudaMalloc(&begin, a.rows * 8));
    CUDA(cudaMalloc(&end, a.rows * 8));
    static const semiring rings[] = {{"count", LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_TO_U32, false},
                                     {"count16", LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_TO_U16, false},
                                     {"f32", LACIS_MUL_CON_MUL, LACIS_MUL_SUM, LACIS_MUL_TO_F32, false},
                                     {"min", LACIS_MUL_CON_ADD, LACIS_MUL_MIN, LACIS_MUL_TO_F32, false},
                                     {"f32-ord", LACIS_MUL_CON_MUL, LACIS_MUL_SUM, LACIS_MUL_TO_F32, true},
                                     {"avg", LACIS_MUL_CON_ADD, LACIS_MUL_AVG, LACIS_MUL_TO_F64, false},
                                     {"mask", LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_TO_U32, false},
                                     {"top10", LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_TO_U32, false}};
    for (const semiring &r : rings) {
        lacis_mul_gpu_job job = make_job(da, da);
        job.con_kind = r.con;
        job.agg = r.agg;
        job.storage = r.storage;
        job.ordered = r.ordered;
        job.max_degree_a = max_degree(a);
        job.top = strcmp(r.name, "top10") == 0 ? 10 : 0;
        job.mask = strcmp(r.name, "mask") == 0 ? &da : nullptr; /* where there is an edge */
        mask_matrix = job.mask ? &a : nullptr;
        std::vector<double> host, device;
        lacis_mul_gpu_output out = {};
        cudaEvent_t x, y;
        CUDA(cudaEventCreate(&x));
        CUDA(cudaEventCreate(&y));
        lacis_mul_gpu_output shown = {};
        cudaMemPool_t pool;
        u64 peak = 0;
        CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
        CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &peak));
        for (int i = 0; i < repeats + 3; i++) {
            job.timed = i == repeats + 2;
            out.begin = begin;
            out.end = end;
            CUDA(cudaStreamSynchronize(stream));
            const auto t0 = std::chrono::steady_clock::now();
            CUDA(cudaEventRecord(x, stream));
            const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out);
            CUDA(cudaEventRecord(y, stream));
            CUDA(cudaStreamSynchronize(stream));
            const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
            float ms = 0;
            CUDA(cudaEventElapsedTime(&ms, x, y));
            if (status != LACIS_MUL_GPU_OK) {
                printf("%s %s: status %d %s\n", name, r.name, status,
                       cudaGetErrorString((cudaError_t)out.cuda_error));
                exit(1);
            }
            if (i >= 2 && !job.timed) host.push_back(s * 1e3), device.push_back(ms);
            if (job.timed) shown = out;
            if (out.column) device_free(nullptr, out.column);
            if (out.value) device_free(nullptr, out.value);
        }
        CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &peak));
        std::vector<int64_t> some;
        u64 pick = 11;
        for (int i = 0; i < 1000; i++)
            some.push_back((int64_t)(next_random(&pick) % (u64)a.rows));
        std::sort(some.begin(), some.end());
        some.erase(std::unique(some.begin(), some.end()), some.end());
        job.timed = false;
        expect(check_job(a, a, job, {}, 0, a.rows, &some));
        const double ms = median(device);
        printf("%-12s %-8s %8.3f ms (host %8.3f) %6.1f Gprod/s  %llu products %llu entries peak %.3f GB |", name,
               r.name, ms, median(host), (double)shown.products / ms * 1e-6, (long long)shown.products,
               (long long)shown.entries, 1e-9 * (double)peak);
        for (int c = 1; c < LACIS_MUL_GPU_CLASSES; c++)
            if (shown.class_rows[c])
                printf(" %s %llu rows %.1f%% %.3f ms", lacis_mul_gpu_class_name[c], (long long)shown.class_rows[c],
                       100.0 * (double)shown.class_products[c] / (double)shown.products,
                       shown.class_seconds[c] * 1e3);
        printf("\n");
        fflush(stdout);
    }
    free_matrix(da);
    cudaFree(begin), cudaFree(end);
}

#ifdef WITH_CUSPARSE
#define SPARSE(call)                                                                                                 \
    do {                                                                                                             \
        const cusparseStatus_t s_ = (call);                                                                          \
        if (s_ != CUSPARSE_STATUS_SUCCESS) {                                                                         \
            printf("%s: %s\n", #call, cusparseGetErrorString(s_));                                                   \
            return -1;                                                                                               \
        }                                                                                                            \
    } while (0)

static double cusparse_once(cusparseHandle_t handle, cusparseSpMatDescr_t a, int64_t n, cusparseSpGEMMAlg_t alg,
                            int64_t *entries)
{
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t descr;
    const float one = 1, zero = 0;
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    int *offsets = nullptr, *column = nullptr;
    float *value = nullptr;
    void *buffer[3] = {};
    size_t bytes[3] = {};
    int64_t rows, cols;
    CUDA(cudaStreamSynchronize(stream));
    const auto t0 = std::chrono::steady_clock::now();
    CUDA(cudaMallocAsync((void **)&offsets, (n + 1) * 4, stream));
    SPARSE(cusparseCreateCsr(&c, n, n, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    SPARSE(cusparseSpGEMM_createDescr(&descr));
    SPARSE(cusparseSpGEMM_workEstimation(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, &bytes[0],
                                         nullptr));
    CUDA(cudaMallocAsync(&buffer[0], bytes[0] + 16, stream));
    SPARSE(cusparseSpGEMM_workEstimation(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, &bytes[0],
                                         buffer[0]));
    if (alg == CUSPARSE_SPGEMM_ALG2 || alg == CUSPARSE_SPGEMM_ALG3) {
        size_t extra = 0;
        SPARSE(cusparseSpGEMM_estimateMemory(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, 1.0f,
                                             &extra, nullptr, nullptr));
        CUDA(cudaMallocAsync(&buffer[2], extra + 16, stream));
        SPARSE(cusparseSpGEMM_estimateMemory(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, 1.0f,
                                             &extra, buffer[2], &bytes[1]));
        CUDA(cudaFreeAsync(buffer[2], stream));
    } else
        SPARSE(
            cusparseSpGEMM_compute(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, &bytes[1], nullptr));
    CUDA(cudaMallocAsync(&buffer[1], bytes[1] + 16, stream));
    SPARSE(
        cusparseSpGEMM_compute(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, &bytes[1], buffer[1]));
    SPARSE(cusparseSpMatGetSize(c, &rows, &cols, entries));
    CUDA(cudaMallocAsync((void **)&column, *entries * 4, stream));
    CUDA(cudaMallocAsync((void **)&value, *entries * 4, stream));
    SPARSE(cusparseCsrSetPointers(c, offsets, column, value));
    SPARSE(cusparseSpGEMM_copy(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr));
    CUDA(cudaStreamSynchronize(stream));
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    SPARSE(cusparseSpGEMM_destroyDescr(descr));
    SPARSE(cusparseDestroySpMat(c));
    for (void *block : {(void *)offsets, (void *)column, (void *)value, buffer[0], buffer[1]})
        CUDA(cudaFreeAsync(block, stream));
    return s;
}

void bench_cusparse(const char *name)
{
    matrix a = make_graph(name);
    u64 state = 7;
    add_values(a, LACIS_MUL_F32, &state, false);
    std::vector<int> offset(a.rows + 1);
    for (int64_t r = 0; r < a.rows; r++)
        offset[r + 1] = (int)a.end[r];
    int *offsets = upload(offset), *column = (int *)upload(a.column);
    float *value = (float *)upload(a.value);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t d;
    cusparseCreate(&handle);
    cusparseSetStream(handle, stream);
    cusparseCreateCsr(&d, a.rows, a.cols, (int64_t)a.column.size(), offsets, column, value, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    for (const cusparseSpGEMMAlg_t alg : {CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2}) {
        std::vector<double> t;
        int64_t entries = 0;
        for (int i = 0; i < 6; i++) {
            const double s = cusparse_once(handle, d, a.rows, alg, &entries);
            if (s < 0) break;
            if (i > 0) t.push_back(s * 1e3);
        }
        if (!t.empty())
            printf("%-12s cusparse ALG%d %8.3f ms %lld entries\n", name, alg == CUSPARSE_SPGEMM_ALG1 ? 1 : 2,
                   median(t), (long long)entries);
        cudaGetLastError();
    }
    cusparseDestroySpMat(d);
    cusparseDestroy(handle);
    cudaFree(offsets), cudaFree(column), cudaFree(value);
}
#endif
