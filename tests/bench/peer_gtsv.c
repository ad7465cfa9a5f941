/* SPDX-License-Identifier: Apache-2.0
 *
 * cuSPARSE's batched tridiagonal solvers as peers of SOLVE on the GPU: gtsv2StridedBatch for systems behind each
 * other, gtsvInterleavedBatch (algorithm 0, Thomas) for systems side by side. Both overwrite what they are given, so
 * each run copies first, which is not timed. The library is found when the program runs.
 */
#include "solve_gpu.h"

#include <cusparse.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                                 \
    X(Create)                                                                                                        \
    X(Destroy)                                                                                                       \
    X(SetStream)                                                                                                     \
    X(Dgtsv2StridedBatch)                                                                                            \
    X(Dgtsv2StridedBatch_bufferSizeExt)                                                                              \
    X(DgtsvInterleavedBatch)                                                                                         \
    X(DgtsvInterleavedBatch_bufferSizeExt)                                                                           \
    X(Sgtsv2StridedBatch)                                                                                            \
    X(Sgtsv2StridedBatch_bufferSizeExt)                                                                              \
    X(SgtsvInterleavedBatch)                                                                                         \
    X(SgtsvInterleavedBatch_bufferSizeExt)
#define MEMBER(name) __typeof__(&cusparse##name) name;
#define LOAD(name)   ok = ok && (*(void **)&gtsv->name = dlsym(gtsv->library, "cusparse" #name)) != NULL;

struct bench_gtsv {
    void *library;
    cusparseHandle_t handle;
    bool f64;
    FUNCTIONS(MEMBER)
};

int bench_gtsv_open(bool f64, bench_gtsv **out)
{
    static const char *const place[] = {"libcusparse.so.12", "libcusparse.so",
                                        "/usr/local/cuda/lib64/libcusparse.so.12",
                                        "/usr/local/cuda/lib64/libcusparse.so"};
    bench_gtsv *gtsv = calloc(1, sizeof *gtsv);
    *out = NULL;
    if (gtsv == NULL) return bench_fail("out of memory");
    for (size_t i = 0; gtsv->library == NULL && i < sizeof place / sizeof place[0]; i++)
        gtsv->library = dlopen(place[i], RTLD_NOW | RTLD_LOCAL);
    bool ok = gtsv->library != NULL;
    if (ok) {
        FUNCTIONS(LOAD)
    }
    gtsv->f64 = f64;
    if (!ok || gtsv->Create(&gtsv->handle) != CUSPARSE_STATUS_SUCCESS) {
        int code = bench_fail("cuSPARSE's gtsv is not here");
        free(gtsv);
        return code;
    }
    *out = gtsv;
    return 0;
}

void bench_gtsv_close(bench_gtsv *gtsv)
{
    if (gtsv == NULL) return;
    gtsv->Destroy(gtsv->handle);
    free(gtsv);
}

/* --- one run ------------------------------------------------------------------------------------------ */

struct run {
    bench_gtsv *gtsv;
    bool interleaved;
    int rows, lanes;
    void *copy[4], *buffer; /* the last of copy is x */
};

static cusparseStatus_t buffer_size(const struct run *r, size_t *bytes)
{
    bench_gtsv *g = r->gtsv;
    const int n = r->rows, m = r->lanes;
    void *const *c = r->copy;
    if (g->f64 && r->interleaved)
        return g->DgtsvInterleavedBatch_bufferSizeExt(g->handle, 0, n, c[0], c[1], c[2], c[3], m, bytes);
    if (r->interleaved)
        return g->SgtsvInterleavedBatch_bufferSizeExt(g->handle, 0, n, c[0], c[1], c[2], c[3], m, bytes);
    if (g->f64) return g->Dgtsv2StridedBatch_bufferSizeExt(g->handle, n, c[0], c[1], c[2], c[3], m, n, bytes);
    return g->Sgtsv2StridedBatch_bufferSizeExt(g->handle, n, c[0], c[1], c[2], c[3], m, n, bytes);
}

static cusparseStatus_t solve(const struct run *r)
{
    bench_gtsv *g = r->gtsv;
    const int n = r->rows, m = r->lanes;
    void *const *c = r->copy;
    if (g->f64 && r->interleaved)
        return g->DgtsvInterleavedBatch(g->handle, 0, n, c[0], c[1], c[2], c[3], m, r->buffer);
    if (r->interleaved) return g->SgtsvInterleavedBatch(g->handle, 0, n, c[0], c[1], c[2], c[3], m, r->buffer);
    if (g->f64) return g->Dgtsv2StridedBatch(g->handle, n, c[0], c[1], c[2], c[3], m, n, r->buffer);
    return g->Sgtsv2StridedBatch(g->handle, n, c[0], c[1], c[2], c[3], m, n, r->buffer);
}

/* Elements outside the matrix must be 0 there: lower of the first rows, upper of the last ones. */
static cudaError_t clear_outside(const struct run *r, size_t size, cudaStream_t stream)
{
    const size_t n = (size_t)r->rows, m = (size_t)r->lanes;
    char *lower = r->copy[0], *upper = r->copy[2];
    if (r->interleaved) {
        cudaError_t error = cudaMemsetAsync(lower, 0, size * m, stream);
        return error != cudaSuccess ? error : cudaMemsetAsync(upper + size * m * (n - 1), 0, size * m, stream);
    }
    cudaError_t error = cudaMemset2DAsync(lower, size * n, 0, size, m, stream);
    return error != cudaSuccess ? error : cudaMemset2DAsync(upper + size * (n - 1), size * n, 0, size, m, stream);
}

static cudaError_t prepare(struct run *r, const void *const *field, void *x, cudaStream_t stream)
{
    const size_t size = r->gtsv->f64 ? sizeof(double) : sizeof(float),
                 bytes = size * (size_t)r->rows * (size_t)r->lanes;
    cudaError_t error = cudaSuccess;
    for (int i = 0; error == cudaSuccess && i < 4; i++) {
        if (i == 3) r->copy[i] = x;
        if (i < 3) error = cudaMallocAsync(&r->copy[i], bytes, stream);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(r->copy[i], field[i], bytes, cudaMemcpyDeviceToDevice, stream);
    }
    return error == cudaSuccess ? clear_outside(r, size, stream) : error;
}

static int time_solve(struct run *r, cudaStream_t stream, double *seconds)
{
    size_t bytes = 0;
    cusparseStatus_t status = buffer_size(r, &bytes);
    cudaError_t error =
        status == CUSPARSE_STATUS_SUCCESS ? cudaMallocAsync(&r->buffer, bytes + 1, stream) : cudaSuccess;
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    double start = bench_now();
    if (error == cudaSuccess && status == CUSPARSE_STATUS_SUCCESS) status = solve(r);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    *seconds = bench_now() - start;
    if (error != cudaSuccess) return bench_fail("cuSPARSE: %s", cudaGetErrorString(error));
    return status == CUSPARSE_STATUS_SUCCESS ? 0 : bench_fail("cuSPARSE: gtsv gave %d", (int)status);
}

int bench_gtsv_run(bench_gtsv *gtsv, bool interleaved, int64_t rows, int64_t lanes, const void *const *field, void *x,
                   void *stream, double *seconds)
{
    struct run r = {.gtsv = gtsv, .interleaved = interleaved, .rows = (int)rows, .lanes = (int)lanes};
    int code = 0;
    gtsv->SetStream(gtsv->handle, stream);
    cudaError_t error = prepare(&r, field, x, stream);
    if (error != cudaSuccess) code = bench_fail("cuSPARSE: %s", cudaGetErrorString(error));
    if (code == 0) code = time_solve(&r, stream, seconds);
    for (int i = 0; i < 3; i++)
        if (r.copy[i] != NULL) cudaFreeAsync(r.copy[i], stream);
    if (r.buffer != NULL) cudaFreeAsync(r.buffer, stream);
    return code;
}
