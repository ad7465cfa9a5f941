/* SPDX-License-Identifier: Apache-2.0
 *
 * How chains are timed, for solve_chain_bench.cu and solve_chain_grid_bench.cu: kernels with operands and result on
 * the device, beside cuSPARSE's two calls, which work in place and so on their own output from the second time on.
 * Medians of 7; fewer than 16 M unknowns: of 7 x 20 calls in a row. The floor is what the words that must move take
 * at the rate of a copy on this device, measured first.
 */
#ifndef LACIS_TESTS_GPU_SOLVE_CHAIN_TIMES_CUH
#define LACIS_TESTS_GPU_SOLVE_CHAIN_TIMES_CUH

#include "solve_support.h"

#if defined(__NVCC__) && __has_include(<cusparse.h>) /* tests/emulate has no peers */
#define WITH_PEER
#include <cusparse.h>
#endif
#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <string>

/* --- cuSPARSE, where it is found ---------------------------------------------------------------------------- */

#ifdef WITH_PEER
#define PEER(name)                                                                                                   \
    static decltype(&name) f_##name;                                                                                 \
    static bool have_##name(void *library)                                                                           \
    {                                                                                                                \
        f_##name = (decltype(&name))dlsym(library, #name);                                                           \
        return f_##name != nullptr;                                                                                  \
    }
PEER(cusparseCreate)
PEER(cusparseSetStream)
PEER(cusparseDgtsv2StridedBatch_bufferSizeExt)
PEER(cusparseDgtsv2StridedBatch)
PEER(cusparseSgtsv2StridedBatch_bufferSizeExt)
PEER(cusparseSgtsv2StridedBatch)
PEER(cusparseDgtsvInterleavedBatch_bufferSizeExt)
PEER(cusparseDgtsvInterleavedBatch)
PEER(cusparseSgtsvInterleavedBatch_bufferSizeExt)
PEER(cusparseSgtsvInterleavedBatch)

static cusparseHandle_t handle;

static bool open_peer()
{
    void *library = dlopen("libcusparse.so.12", RTLD_NOW);
    if (!library) library = dlopen("libcusparse.so", RTLD_NOW);
    if (!library) return false;
    const bool all =
        have_cusparseCreate(library) && have_cusparseSetStream(library) &&
        have_cusparseDgtsv2StridedBatch_bufferSizeExt(library) && have_cusparseDgtsv2StridedBatch(library) &&
        have_cusparseSgtsv2StridedBatch_bufferSizeExt(library) && have_cusparseSgtsv2StridedBatch(library) &&
        have_cusparseDgtsvInterleavedBatch_bufferSizeExt(library) && have_cusparseDgtsvInterleavedBatch(library) &&
        have_cusparseSgtsvInterleavedBatch_bufferSizeExt(library) && have_cusparseSgtsvInterleavedBatch(library);
    return all && f_cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS &&
           f_cusparseSetStream(handle, stream) == CUSPARSE_STATUS_SUCCESS;
}

#else
static bool open_peer()
{
    return false;
}
#endif

/* --- operands ------------------------------------------------------------------------------------------------- */

template <class S> __global__ void fill(S *to, int64_t count, double least, double most, uint64_t seed)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15U + seed;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27) * 0x94d049bb133111ebU;
        to[i] = (S)(least + (most - least) * ((z >> 11) * 0x1p-53));
    }
}

/* Elements 0 and n - 1 of off-diagonals, which cuSPARSE wants to be 0. */
template <class S>
__global__ void zero_ends(S *lower, S *upper, int64_t n, int64_t m, int64_t lane_step, int64_t row_step)
{
    const int64_t l = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (l >= m) return;
    lower[l * lane_step] = 0;
    upper[l * lane_step + (n - 1) * row_step] = 0;
}

template <class S> struct operands {
    S *in[4], *x, *work;
    int64_t count;

    explicit operands(int64_t elements) : count(elements)
    {
        for (S *&f : in)
            CUDA(cudaMalloc(&f, sizeof(S) * count));
        CUDA(cudaMalloc(&x, sizeof(S) * count));
        CUDA(cudaMalloc(&work, sizeof(S) * count));
    }
    ~operands()
    {
        for (S *f : in)
            cudaFree(f);
        cudaFree(x), cudaFree(work);
    }
    void refill(int64_t n, int64_t m, bool flat)
    {
        fill<S><<<2048, 256, 0, stream>>>(in[0], count, -0.9, -0.1, 1);
        fill<S><<<2048, 256, 0, stream>>>(in[1], count, 3.0, 4.0, 2);
        fill<S><<<2048, 256, 0, stream>>>(in[2], count, -0.9, -0.1, 3);
        fill<S><<<2048, 256, 0, stream>>>(in[3], count, -1.0, 1.0, 4);
        zero_ends<S><<<(unsigned)((m + 255) / 256), 256, 0, stream>>>(in[0], in[2], n, m, flat ? n : 1, flat ? 1 : m);
        CUDA(cudaStreamSynchronize(stream));
    }
};

/* `each` calls as a graph; NULL where one of them cannot be captured. */
template <class F> static cudaGraphExec_t graph_of(int each, F call)
{
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t out = nullptr;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
        for (int i = 0; i < each; i++)
            call();
        if (cudaStreamEndCapture(stream, &graph) != cudaSuccess ||
            cudaGraphInstantiate(&out, graph, 0) != cudaSuccess)
            out = nullptr;
        if (graph) cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    return out;
}

/* Whether what is timed in a row is one graph. */
static bool as_graph;

template <class F> static double time_ms(int repeats, int each, F call)
{
    call();
    cudaGraphExec_t graph = as_graph ? graph_of(each, call) : nullptr;
    if (!graph) return as_graph ? NAN : median_ms(repeats, each, call);
    const double ms = median_ms(repeats, 1, [&] { CUDA(cudaGraphLaunch(graph, stream)); }) / each;
    CUDA(cudaGraphExecDestroy(graph));
    return ms;
}

static int each_for(int64_t unknowns)
{
    return unknowns < 16 << 20 ? 20 : unknowns < 100 << 20 ? 5 : 2;
}

#ifdef WITH_PEER
static cusparseStatus_t strided_buffer(double *const *v, int n, int m, size_t *bytes)
{
    return f_cusparseDgtsv2StridedBatch_bufferSizeExt(handle, n, v[0], v[1], v[2], v[4], m, n, bytes);
}
static cusparseStatus_t strided_buffer(float *const *v, int n, int m, size_t *bytes)
{
    return f_cusparseSgtsv2StridedBatch_bufferSizeExt(handle, n, v[0], v[1], v[2], v[4], m, n, bytes);
}
static cusparseStatus_t strided(double *const *v, int n, int m, void *buffer)
{
    return f_cusparseDgtsv2StridedBatch(handle, n, v[0], v[1], v[2], v[4], m, n, buffer);
}
static cusparseStatus_t strided(float *const *v, int n, int m, void *buffer)
{
    return f_cusparseSgtsv2StridedBatch(handle, n, v[0], v[1], v[2], v[4], m, n, buffer);
}
static cusparseStatus_t interleaved_buffer(double *const *v, int n, int m, size_t *bytes)
{
    return f_cusparseDgtsvInterleavedBatch_bufferSizeExt(handle, 0, n, v[0], v[1], v[2], v[4], m, bytes);
}
static cusparseStatus_t interleaved_buffer(float *const *v, int n, int m, size_t *bytes)
{
    return f_cusparseSgtsvInterleavedBatch_bufferSizeExt(handle, 0, n, v[0], v[1], v[2], v[4], m, bytes);
}
static cusparseStatus_t interleaved(double *const *v, int n, int m, void *buffer)
{
    return f_cusparseDgtsvInterleavedBatch(handle, 0, n, v[0], v[1], v[2], v[4], m, buffer);
}
static cusparseStatus_t interleaved(float *const *v, int n, int m, void *buffer)
{
    return f_cusparseSgtsvInterleavedBatch(handle, 0, n, v[0], v[1], v[2], v[4], m, buffer);
}

/* Milliseconds, or NaN. Both overwrite the right side, and the interleaved one the matrix too: it gets a fresh one a
 * time, which is not timed; in a row of 20 it solves what it left. */
template <class S> static double peer_ms(operands<S> &o, int64_t n, int64_t m, bool flat)
{
    S *v[5] = {o.in[0], o.in[1], o.in[2], nullptr, o.work};
    size_t bytes = 0;
    void *buffer = nullptr;
    if (handle == nullptr) return NAN;
    const auto size =
        flat ? strided_buffer(v, (int)n, (int)m, &bytes) : interleaved_buffer(v, (int)n, (int)m, &bytes);
    if (size != CUSPARSE_STATUS_SUCCESS) return NAN;
    if (cudaMalloc(&buffer, bytes + 16) != cudaSuccess) {
        cudaGetLastError();
        return NAN;
    }
    bool good = true;
    std::vector<double> all;
    for (int i = 0; i < 5; i++) {
        o.refill(n, m, flat);
        CUDA(cudaMemcpyAsync(o.work, o.in[3], sizeof(S) * n * m, cudaMemcpyDeviceToDevice, stream));
        all.push_back(time_ms(1, each_for(n * m), [&] {
            good = (flat ? strided(v, (int)n, (int)m, buffer) : interleaved(v, (int)n, (int)m, buffer)) ==
                       CUSPARSE_STATUS_SUCCESS &&
                   good;
        }));
    }
    cudaFree(buffer);
    o.refill(n, m, flat);
    return good ? median(all) : NAN;
}

#else
template <class S> static double peer_ms(operands<S> &, int64_t, int64_t, bool)
{
    return NAN;
}
#endif

/* Without the checks' poison. */
static void *quick_alloc(void *, uint64_t bytes)
{
    void *block = nullptr;
    return cudaMallocAsync(&block, bytes, stream) == cudaSuccess ? block : nullptr;
}
static void quick_free(void *, void *block)
{
    cudaFreeAsync(block, stream);
}

/* --- ours ----------------------------------------------------------------------------------------------------- */

template <class S> struct of;
template <> struct of<double> {
    static constexpr lacis_solve_type type = LACIS_SOLVE_F64;
};
template <> struct of<float> {
    static constexpr lacis_solve_type type = LACIS_SOLVE_F32;
};

template <class S>
static double own_ms(operands<S> &o, int64_t n, int64_t m, bool flat, int shared, lacis_solve_gpu_way way,
                     lacis_solve_type type)
{
    lacis_solve_gpu_job job = {};
    lacis_solve_group group = {};
    lacis_solve_gpu_output out;
    group.lanes = m, group.rows = n;
    group.matrix.block = flat ? 1 : m, group.matrix.step = 1;
    group.rhs = group.x = group.matrix;
    job.job.type = type;
    job.job.lower = {o.in[0], (shared & 1) != 0}, job.job.diagonal = {o.in[1], (shared & 2) != 0};
    job.job.upper = {o.in[2], (shared & 4) != 0}, job.job.rhs = {o.in[3], false};
    job.job.x = o.x;
    job.job.group = &group, job.job.groups = 1;
    job.job.host = {quick_alloc, quick_free, nullptr, nullptr};
    job.way = way;
    job.stream = stream;
    job.pinned = pinned;
    if (lacis_solve_gpu_refuses(&job)) return NAN;
    lacis_solve_gpu_status status = LACIS_SOLVE_GPU_OK;
    const lacis_solve_gpu_status checked = lacis_solve_gpu_run(&job, nullptr, nullptr, &out);
    job.trusted = true; /* the kernels' time, without waiting for each */
    const double ms = time_ms(7, each_for(n * m), [&] {
        const lacis_solve_gpu_status now = lacis_solve_gpu_run(&job, nullptr, nullptr, &out);
        if (now != LACIS_SOLVE_GPU_OK) status = now;
    });
    if (checked != LACIS_SOLVE_GPU_OK) status = checked;
    if (status != LACIS_SOLVE_GPU_OK) printf("status %d, CUDA %d\n", status, out.cuda_error);
    return status == LACIS_SOLVE_GPU_OK ? ms : NAN;
}

static double copy_rate() /* bytes a ms, read and written */
{
    const int64_t bytes = (int64_t)1 << 30;
    char *a, *b;
    CUDA(cudaMalloc(&a, bytes));
    CUDA(cudaMalloc(&b, bytes));
    const double ms = median_ms(9, 1, [&] { CUDA(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, stream)); });
    cudaFree(a), cudaFree(b);
    return 2.0 * bytes / ms;
}

#endif
