/* SPDX-License-Identifier: Apache-2.0
 *
 * cuSPARSE's SpGEMM as the peer of MULTIPLY on the GPU: plus-times over the graph with values from 1 to 8, operands
 * on the device, the result there as CSR, all memory from a warm pool; the faster of ALG1 and ALG2. The library is
 * found when the program runs.
 */
#include "bench.h"

#include <cusparse.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of the library, by their declarations. */
#define FUNCTIONS(X)                                                                                                 \
    X(Create)                                                                                                        \
    X(Destroy)                                                                                                       \
    X(SetStream)                                                                                                     \
    X(GetErrorString)                                                                                                \
    X(CreateCsr)                                                                                                     \
    X(DestroySpMat)                                                                                                  \
    X(SpGEMM_createDescr)                                                                                            \
    X(SpGEMM_destroyDescr)                                                                                           \
    X(SpGEMM_workEstimation)                                                                                         \
    X(SpGEMM_estimateMemory)                                                                                         \
    X(SpGEMM_compute)                                                                                                \
    X(SpGEMM_copy)                                                                                                   \
    X(SpMatGetSize)                                                                                                  \
    X(CsrSetPointers)
#define MEMBER(name) __typeof__(&cusparse##name) name;
#define LOAD(name)   ok = ok && (*(void **)&lib.name = dlsym(library, "cusparse" #name)) != NULL;

static struct {
    FUNCTIONS(MEMBER)
} lib;

/* One product's state on the device. */
struct product {
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t descr;
    void *offsets, *column, *value, *work[2];
    int64_t entries;
};

static struct {
    cusparseHandle_t handle;
    cudaStream_t stream;
    cusparseSpMatDescr_t a;
    void *offsets, *column, *value;
    int64_t n;
    cudaDataType type;
    size_t value_bytes;
    cusparseSpGEMMAlg_t alg;
} peer;

static const double one64 = 1, zero64 = 0;
static const float one32 = 1, zero32 = 0;
static const void *one(void)
{
    return peer.type == CUDA_R_64F ? (const void *)&one64 : &one32;
}
static const void *zero(void)
{
    return peer.type == CUDA_R_64F ? (const void *)&zero64 : &zero32;
}

/* -------------------------------------------------------------------------------------------- opening */

static int load(void)
{
    static const char *const place[] = {"libcusparse.so.12", "libcusparse.so",
                                        "/usr/local/cuda/lib64/libcusparse.so.12",
                                        "/usr/local/cuda/lib64/libcusparse.so"};
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof place / sizeof place[0]; i++)
        library = dlopen(place[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return bench_fail("cuSPARSE: %s", dlerror());
    bool ok = true;
    FUNCTIONS(LOAD)
    return ok ? 0 : bench_fail("cuSPARSE: it lacks a function: %s", dlerror());
}

static cudaError_t send(const void *from, size_t bytes, void **out)
{
    cudaError_t error = cudaMallocAsync(out, bytes + 16, peer.stream);
    if (error == cudaSuccess) error = cudaMemcpyAsync(*out, from, bytes, cudaMemcpyHostToDevice, peer.stream);
    return error;
}

static cudaError_t warm_pool(void)
{
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    cudaError_t error = cudaStreamCreateWithFlags(&peer.stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaDeviceGetDefaultMemPool(&pool, 0);
    if (error == cudaSuccess) error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    return error;
}

static int upload(const bench_graph *graph, bool f64)
{
    int *offset = malloc(sizeof *offset * (size_t)(graph->n + 1));
    if (offset == NULL) return bench_fail("out of memory");
    for (int64_t r = 0; r <= graph->n; r++)
        offset[r] = (int)graph->offsets[r];
    size_t entries = (size_t)graph->entries;
    cudaError_t error = warm_pool();
    if (error == cudaSuccess) error = send(offset, sizeof(int) * (size_t)(graph->n + 1), &peer.offsets);
    if (error == cudaSuccess) error = send(graph->columns, sizeof(uint32_t) * entries, &peer.column);
    const void *value = f64 ? (const void *)graph->small64 : graph->small32;
    if (error == cudaSuccess) error = send(value, peer.value_bytes * entries, &peer.value);
    if (error == cudaSuccess) error = cudaStreamSynchronize(peer.stream);
    free(offset);
    return error == cudaSuccess ? 0 : bench_fail("cuSPARSE: %s", cudaGetErrorString(error));
}

/* ------------------------------------------------------------------------------------------- a product */

#define TRY(call)                                                                                                    \
    do {                                                                                                             \
        cusparseStatus_t status_ = lib.call;                                                                         \
        if (status_ != CUSPARSE_STATUS_SUCCESS) return status_;                                                      \
    } while (0)
#define NEW(bytes, out)                                                                                              \
    do {                                                                                                             \
        if (cudaMallocAsync(out, (bytes) + 16, peer.stream) != cudaSuccess) return CUSPARSE_STATUS_ALLOC_FAILED;     \
    } while (0)
#define OPERANDS                                                                                                     \
    peer.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, one(), peer.a, peer.a, zero(),  \
        p->c, peer.type, alg, p->descr

/* ALG2 is told how much memory it may take; ALG1 asks. */
static cusparseStatus_t second_buffer(struct product *p, cusparseSpGEMMAlg_t alg, size_t *bytes)
{
    if (alg == CUSPARSE_SPGEMM_ALG1) {
        TRY(SpGEMM_compute(OPERANDS, bytes, NULL));
        return CUSPARSE_STATUS_SUCCESS;
    }
    size_t extra = 0;
    void *block;
    TRY(SpGEMM_estimateMemory(OPERANDS, 1.0f, &extra, NULL, NULL));
    NEW(extra, &block);
    cusparseStatus_t status = lib.SpGEMM_estimateMemory(OPERANDS, 1.0f, &extra, block, bytes);
    cudaFreeAsync(block, peer.stream);
    return status;
}

static cusparseStatus_t multiply(struct product *p, cusparseSpGEMMAlg_t alg)
{
    size_t bytes[2] = {0, 0};
    int64_t rows, cols;
    NEW(sizeof(int) * (size_t)(peer.n + 1), &p->offsets);
    TRY(CreateCsr(&p->c, peer.n, peer.n, 0, p->offsets, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                  CUSPARSE_INDEX_BASE_ZERO, peer.type));
    TRY(SpGEMM_createDescr(&p->descr));
    TRY(SpGEMM_workEstimation(OPERANDS, &bytes[0], NULL));
    NEW(bytes[0], &p->work[0]);
    TRY(SpGEMM_workEstimation(OPERANDS, &bytes[0], p->work[0]));
    cusparseStatus_t status = second_buffer(p, alg, &bytes[1]);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    NEW(bytes[1], &p->work[1]);
    TRY(SpGEMM_compute(OPERANDS, &bytes[1], p->work[1]));
    TRY(SpMatGetSize(p->c, &rows, &cols, &p->entries));
    NEW(sizeof(int) * (size_t)p->entries, &p->column);
    NEW(peer.value_bytes * (size_t)p->entries, &p->value);
    TRY(CsrSetPointers(p->c, p->offsets, p->column, p->value));
    TRY(SpGEMM_copy(peer.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, one(), peer.a,
                    peer.a, zero(), p->c, peer.type, alg, p->descr));
    return cudaStreamSynchronize(peer.stream) == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                                                             : CUSPARSE_STATUS_EXECUTION_FAILED;
}

static void clear(struct product *p)
{
    if (p->descr != NULL) lib.SpGEMM_destroyDescr(p->descr);
    if (p->c != NULL) lib.DestroySpMat(p->c);
    void *const block[] = {p->offsets, p->column, p->value, p->work[0], p->work[1]};
    for (int i = 0; i < 5; i++)
        if (block[i] != NULL) cudaFreeAsync(block[i], peer.stream);
    cudaStreamSynchronize(peer.stream);
    cudaGetLastError();
}

static int digest_product(const struct product *p, bench_digest *digest)
{
    size_t n = (size_t)peer.n, entries = (size_t)p->entries;
    int *offset = malloc(sizeof *offset * (n + 1));
    int64_t *place = malloc(sizeof *place * (n + 1));
    uint32_t *column = malloc(sizeof *column * (entries + 1));
    void *value = malloc(peer.value_bytes * (entries + 1));
    int code = offset == NULL || place == NULL || column == NULL || value == NULL ? bench_fail("out of memory") : 0;
    if (code == 0 &&
        (cudaMemcpy(offset, p->offsets, sizeof *offset * (n + 1), cudaMemcpyDeviceToHost) != cudaSuccess ||
         cudaMemcpy(column, p->column, sizeof *column * entries, cudaMemcpyDeviceToHost) != cudaSuccess ||
         cudaMemcpy(value, p->value, peer.value_bytes * entries, cudaMemcpyDeviceToHost) != cudaSuccess))
        code = bench_fail("cuSPARSE: the result cannot be fetched");
    if (code == 0) {
        for (size_t r = 0; r <= n; r++)
            place[r] = offset[r];
        bench_rows rows = {0, peer.n, place, place + 1, column, value, peer.value_bytes == 8 ? LACIS_F64 : LACIS_F32};
        code = bench_digest_rows(&rows, digest);
    }
    free(offset);
    free(place);
    free(column);
    free(value);
    return code;
}

static int run_alg(cusparseSpGEMMAlg_t alg, double *seconds, bench_digest *digest, cusparseStatus_t *status)
{
    struct product p = {0};
    cudaStreamSynchronize(peer.stream);
    double start = bench_now();
    *status = multiply(&p, alg);
    *seconds = bench_now() - start;
    int code = *status == CUSPARSE_STATUS_SUCCESS && digest != NULL ? digest_product(&p, digest) : 0;
    clear(&p);
    return code;
}

/* Three runs of each: the first fills the pool. */
static int choose_alg(void)
{
    const cusparseSpGEMMAlg_t algs[] = {CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2};
    cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS, last = CUSPARSE_STATUS_SUCCESS;
    double best = -1;
    for (int i = 0; i < 2; i++)
        for (int round = 0; round < 3; round++) {
            double seconds;
            run_alg(algs[i], &seconds, NULL, &status);
            if (status != CUSPARSE_STATUS_SUCCESS) last = status;
            if (status != CUSPARSE_STATUS_SUCCESS) break;
            if (round == 0 || (best >= 0 && seconds >= best)) continue;
            best = seconds;
            peer.alg = algs[i];
        }
    return best >= 0 ? 0 : bench_fail("cuSPARSE cannot multiply this graph: %s", lib.GetErrorString(last));
}

static void close_graph(void)
{
    if (peer.a != NULL) lib.DestroySpMat(peer.a);
    if (peer.handle != NULL) lib.Destroy(peer.handle);
    void *const block[] = {peer.offsets, peer.column, peer.value};
    for (int i = 0; i < 3; i++)
        if (block[i] != NULL) cudaFreeAsync(block[i], peer.stream);
    cudaMemPool_t pool;
    if (peer.stream != NULL && cudaStreamSynchronize(peer.stream) == cudaSuccess &&
        cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess)
        cudaMemPoolTrimTo(pool, 0);
    if (peer.stream != NULL) cudaStreamDestroy(peer.stream);
    cudaGetLastError();
    memset(&peer, 0, sizeof peer);
}

static int open_graph(const bench_graph *graph, bool f64, int threads)
{
    (void)threads;
    memset(&peer, 0, sizeof peer);
    peer.n = graph->n;
    peer.type = f64 ? CUDA_R_64F : CUDA_R_32F;
    peer.value_bytes = f64 ? 8 : 4;
    if (lib.Create == NULL && load() != 0) return 1;
    int code = upload(graph, f64);
    if (code == 0 && (lib.Create(&peer.handle) != CUSPARSE_STATUS_SUCCESS ||
                      lib.SetStream(peer.handle, peer.stream) != CUSPARSE_STATUS_SUCCESS ||
                      lib.CreateCsr(&peer.a, peer.n, peer.n, graph->entries, peer.offsets, peer.column, peer.value,
                                    CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                    peer.type) != CUSPARSE_STATUS_SUCCESS))
        code = bench_fail("cuSPARSE cannot start");
    if (code == 0) code = choose_alg();
    if (code != 0) close_graph();
    return code;
}

static bool has(bench_op op)
{
    return op == BENCH_TIMES;
}

static int run(bench_op op, int64_t source, double *seconds, bench_digest *digest)
{
    (void)op, (void)source;
    cusparseStatus_t status;
    int code = run_alg(peer.alg, seconds, digest, &status);
    return status == CUSPARSE_STATUS_SUCCESS ? code : bench_fail("cuSPARSE: %s", lib.GetErrorString(status));
}

static const char *detail(void)
{
    return peer.alg == CUSPARSE_SPGEMM_ALG1 ? "cusparse ALG1" : "cusparse ALG2";
}

const bench_peer bench_peer_cusparse = {
    .name = "cusparse", .open = open_graph, .has = has, .run = run, .detail = detail, .close = close_graph};
