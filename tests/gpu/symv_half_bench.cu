/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of sparse symmetric products on a device: a product with a plan, the plan, a product by atomics, and
 * cuSPARSE's SpMV on the matrix with both triangles (the faster of its two CSR ways, preprocessed), all in one run:
 *     symv_half_gpu bench TYPE MATRIX M [both] [WINDOW:LANES:STEPS...]
 * Matrices of more than the L2, so that repeated runs read device memory. The library is found when the program runs.
 */
#include "symv_half_support.h"

#include <chrono>
#include <cusparse.h>
#include <dlfcn.h>

/* Device memory handed out from one block, so that allocations take no time. */
static char *pool;
static size_t pool_at, pool_size;
static void *pool_take(void *, uint64_t bytes)
{
    const size_t at = pool_at;
    pool_at = (at + bytes + 255) / 256 * 256;
    return pool_at <= pool_size ? pool + at : NULL;
}
static void pool_give(void *, void *)
{
}

template <class F> static double median_us(F f)
{
    enum { TIMES = 9, EACH = 8 };
    cudaEvent_t begin, end;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    std::vector<float> ms(TIMES);
    f();
    f();
    for (float &one : ms) {
        CUDA(cudaEventRecord(begin, stream));
        for (int i = 0; i < EACH; i++)
            f();
        CUDA(cudaEventRecord(end, stream));
        CUDA(cudaEventSynchronize(end));
        CUDA(cudaEventElapsedTime(&one, begin, end));
    }
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
    std::sort(ms.begin(), ms.end());
    return ms[TIMES / 2] * 1e3 / EACH;
}

/* --- cuSPARSE ------------------------------------------------------------------------------------ */

#define FUNCTIONS(X)                                                                                                 \
    X(Create)                                                                                                        \
    X(SetStream)                                                                                                     \
    X(CreateCsr)                                                                                                     \
    X(CreateDnVec)                                                                                                   \
    X(SpMV_bufferSize)                                                                                               \
    X(SpMV_preprocess)                                                                                               \
    X(SpMV)
#define MEMBER(name) decltype(&cusparse##name) name;
static struct {
    FUNCTIONS(MEMBER)
} lib;

static bool load_library()
{
    void *library = dlopen("libcusparse.so.12", RTLD_NOW);
    if (library == NULL) library = dlopen("/usr/local/cuda/lib64/libcusparse.so.12", RTLD_NOW);
    if (library == NULL) return false;
    bool ok = true;
#define LOAD(name) ok = ok && (*(void **)&lib.name = dlsym(library, "cusparse" #name)) != NULL;
    FUNCTIONS(LOAD)
    return ok;
}

#define CUSPARSE(call)                                                                                               \
    if (lib.call != CUSPARSE_STATUS_SUCCESS) {                                                                       \
        printf("cuSPARSE: " #call " failed\n");                                                                      \
        exit(2);                                                                                                     \
    }

/* Microseconds of the faster way; y holds its product. */
static double peer_us(const pattern &p, const void *begin, const void *column, const void *value, void *x, void *y,
                      bool f64)
{
    if (!load_library()) return 0;
    cusparseHandle_t handle;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t vx, vy;
    const cudaDataType type = f64 ? CUDA_R_64F : CUDA_R_32F;
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const void *one = f64 ? (const void *)&one64 : &one32, *zero = f64 ? (const void *)&zero64 : &zero32;
    std::vector<int> offset(p.begin.begin(), p.begin.end());
    offset.push_back((int)p.end.back());
    on_device<int> offsets(offset);
    (void)begin;
    CUSPARSE(Create(&handle))
    CUSPARSE(SetStream(handle, stream))
    CUSPARSE(CreateCsr(&a, p.n, p.n, (i64)p.column.size(), offsets.at, (void *)column, (void *)value,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type))
    CUSPARSE(CreateDnVec(&vx, p.n, x, type))
    CUSPARSE(CreateDnVec(&vy, p.n, y, type))
    double best = 1e30;
    for (cusparseSpMVAlg_t way : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
        size_t bytes = 0;
        const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
        CUSPARSE(SpMV_bufferSize(handle, op, one, a, vx, zero, vy, type, way, &bytes))
        on_device<char> room((i64)bytes);
        CUSPARSE(SpMV_preprocess(handle, op, one, a, vx, zero, vy, type, way, room.at))
        best =
            std::min(best, median_us([&] { CUSPARSE(SpMV(handle, op, one, a, vx, zero, vy, type, way, room.at)) }));
        CUDA(cudaStreamSynchronize(stream));
    }
    return best;
}

/* --- ours ---------------------------------------------------------------------------------------- */

/* A value that both places of an entry have. */
template <class T> static void fill_values(const pattern &p, std::vector<T> *value)
{
    value->resize(p.column.size());
    for (i64 r = 0; r < p.n; r++)
        for (i64 i = p.begin[r]; i < p.end[r]; i++) {
            u64 state = (u64)std::max<i64>(r, p.column[i]) << 32 | std::min<i64>(r, p.column[i]);
            (*value)[i] = (T)next_number(&state);
        }
}

template <class T> static double largest_difference(const std::vector<T> &a, const std::vector<T> &b)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < a.size(); i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        size = fmax(size, fabs((double)b[i]));
        if (!(a[i] == a[i])) return NAN;
    }
    return most / size;
}

static double seconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void run_or_exit(const lacis_symv_half_gpu &gpu, const lacis_symv_half_plan *plan)
{
    int error;
    const size_t at = pool_at;
    if (lacis_symv_half_gpu_run(&gpu, plan, &error) != LACIS_SYMV_GPU_OK) {
        printf("a run fails: %s\n", cudaGetErrorString((cudaError_t)error));
        exit(2);
    }
    pool_at = at;
}

template <class T>
static void bench_ours(const char *what, lacis_symv_half_gpu gpu, const std::vector<T> &want, T *y, double peer,
                       u64 full, int argc, char **argv)
{
    const i64 n = gpu.half.job.n;
    gpu.half.job.order = LACIS_SYMV_FREE;
    const double atomic = median_us([&] { run_or_exit(gpu, NULL); });
    gpu.half.job.order = LACIS_SYMV_FIXED;
    for (int i = 0; i < std::max(argc, 1); i++) {
        gpu.window = gpu.lanes = gpu.steps = 0;
        if (argc > 0) sscanf(argv[i], "%d:%d:%d", &gpu.window, &gpu.lanes, &gpu.steps);
        lacis_symv_half_plan plan;
        int error;
        double plan_ms = 1e30;
        for (int again = 0; again < 3; again++) {
            pool_at = 0;
            const double begin = seconds();
            if (lacis_symv_half_gpu_plan(&gpu, &plan, &error) != LACIS_SYMV_GPU_OK) {
                printf("no plan: %s\n", cudaGetErrorString((cudaError_t)error));
                exit(2);
            }
            plan_ms = fmin(plan_ms, (seconds() - begin) * 1e3);
        }
        CUDA(cudaMemset(y, 0xff, sizeof(T) * (size_t)n));
        const double us = median_us([&] { run_or_exit(gpu, &plan); });
        std::vector<T> out((size_t)n);
        CUDA(cudaMemcpy(out.data(), y, sizeof(T) * (size_t)n, cudaMemcpyDeviceToHost));
        const double bytes = (double)plan.wanted * sizeof(T) + (double)plan.units * plan.steps * 64 +
                             (double)plan.slots * (3 * sizeof(T) + 8) + (double)n * (20 + sizeof(T));
        printf("%s n %lld nnz %llu/%llu | win %u %dx%d tiles %lld units %llu slots/row %.2f | plan %.2f ms | half "
               "%.1f us %.0f GB/s "
               "| atomic %.1f | cusparse %.1f | ratio %.3f | off %.1e\n",
               what, (long long)n, (unsigned long long)plan.wanted, (unsigned long long)full, plan.window, plan.lanes,
               plan.steps, (long long)plan.tiles, (unsigned long long)plan.units, (double)plan.slots / (double)n,
               plan_ms, us, bytes / us * 1e-3, atomic, peer, us / peer, largest_difference(out, want));
        fflush(stdout);
    }
}

template <class T> static int bench_type(const char *name, i64 m, bool both, int argc, char **argv)
{
    const pattern lower = make_lower(name, m, 1), full = make_form(lower, BOTH, 1);
    const pattern &ours = both ? full : lower;
    std::vector<T> value, x((size_t)lower.n), want;
    u64 state = 7;
    for (T &one : x)
        one = (T)next_number(&state);
    fill_values(full, &value);
    on_device<u32> full_column(full.column);
    on_device<T> full_value(value), on_x(x), y(lower.n);
    const double peer = peer_us(full, NULL, full_column.at, full_value.at, on_x.at, y.at, sizeof(T) == 8);
    want = y.back(lower.n);
    if (!both) fill_values(lower, &value);
    on_device<i64> begin(ours.begin), end(ours.end);
    on_device<u32> column(ours.column);
    on_device<T> on_value(value);
    pool_size = (size_t)12 * ours.column.size() + (size_t)lower.n * 800 + ((size_t)1 << 28);
    pool_size += ours.column.size() * 24;
    CUDA(cudaMalloc((void **)&pool, pool_size));
    lacis_symv_half_gpu gpu = {};
    gpu.half.job.type = sizeof(T) == 8 ? LACIS_SYMV_F64 : LACIS_SYMV_F32;
    gpu.half.job.matrices = gpu.half.job.sides = gpu.half.job.x_step = gpu.half.job.y_step = 1;
    gpu.half.job.n = lower.n;
    gpu.half.job.x = on_x.at;
    gpu.half.job.y = y.at;
    gpu.half.job.alpha[0] = 1;
    gpu.half.job.host = {pool_take, pool_give, NULL, NULL};
    gpu.half.begin = (const int64_t *)begin.at;
    gpu.half.end = (const int64_t *)end.at;
    gpu.half.column = column.at;
    gpu.half.value = on_value.at;
    gpu.entries = ours.column.size();
    gpu.joined = true;
    gpu.processors = processors;
    gpu.stream = stream;
    const std::string what = std::string(name) + (both ? " both " : " ") + (sizeof(T) == 8 ? "f64" : "f32");
    bench_ours(what.c_str(), gpu, want, y.at, peer, full.column.size(), argc, argv);
    CUDA(cudaFree(pool));
    return 0;
}

int bench(int argc, char **argv)
{
    if (argc < 3) {
        printf("usage: symv_half_gpu bench f32|f64 MATRIX M [both] [WINDOW:LANES:STEPS...]\n");
        return 2;
    }
    const bool both = argc > 3 && strcmp(argv[3], "both") == 0;
    const int from = both ? 4 : 3;
    if (strcmp(argv[0], "f64") == 0)
        return bench_type<double>(argv[1], atoll(argv[2]), both, argc - from, argv + from);
    return bench_type<float>(argv[1], atoll(argv[2]), both, argc - from, argv + from);
}
