/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of lacis-bench symv on a GPU, and runs over them: ours, a plain read, a copy. Matrices rotate over more
 * than any cache holds; the device is held until all runs of a batch are on its stream (symv/measure.h).
 */
#ifdef LACIS_BENCH_SYMV_GPU

#include "symv_gpu.h"

#include "../gpu/read_rate.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t ROTATE = (uint64_t)512 << 20, COPIED = (uint64_t)1 << 30, ALIGNMENT = 256;
enum { UNCOUNTED = 3 };

static int failed(int error)
{
    if (error == cudaSuccess) return 0;
    if (error < 0) return 1; /* told already */
    return bench_fail("CUDA: %s", cudaGetErrorString((cudaError_t)error));
}

/* ------------------------------------------------------------------------------------------ opening */

static void *device_alloc(void *context, uint64_t bytes)
{
    void *block = NULL;
    return cudaMallocAsync(&block, bytes, context) == cudaSuccess ? block : NULL;
}

static void device_free(void *context, void *block)
{
    if (block != NULL) cudaFreeAsync(block, context);
}

static int start(symv_gpu *g)
{
    cudaMemPool_t pool;
    cudaStream_t stream;
    uint64_t keep = UINT64_MAX;
    int error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) g->stream = stream;
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&g->processors, cudaDevAttrMultiProcessorCount, 0);
    if (error == cudaSuccess) error = cudaDeviceGetDefaultMemPool(&pool, 0);
    if (error == cudaSuccess) error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    if (error == cudaSuccess) error = cudaMalloc(&g->never, 64);
    if (error == cudaSuccess) error = cudaMalloc(&g->copy, COPIED);
    if (error == cudaSuccess) error = lacis_symv_clock_new(&g->clock);
    return failed(error);
}

int symv_gpu_open(symv_gpu **out, int runs, char *reason, size_t size)
{
    int devices = 0, error = cudaGetDeviceCount(&devices);
    *out = NULL;
    if (error != cudaSuccess || devices == 0) {
        snprintf(reason, size, "there is no GPU: %s", cudaGetErrorString((cudaError_t)error));
        return 0;
    }
    symv_gpu *g = calloc(1, sizeof *g);
    if (g == NULL) return bench_fail("out of memory");
    g->runs = runs < LACIS_SYMV_CLOCK_RUNS - UNCOUNTED ? runs : LACIS_SYMV_CLOCK_RUNS - UNCOUNTED;
    if (start(g) != 0) {
        symv_gpu_close(g);
        return 1;
    }
    *out = g;
    return 0;
}

static void unload(symv_gpu *g)
{
    cudaFree(g->pool);
    cudaFree(g->x);
    cudaFree(g->y);
    free(g->host_y);
    symv_data_free(&g->data);
    symv_reference_free(g->reference);
    g->pool = g->x = g->y = g->host_y = NULL;
    g->reference = NULL;
    g->present = (symv_case){NULL};
}

void symv_gpu_close(symv_gpu *g)
{
    if (g == NULL) return;
    unload(g);
    symv_cublas_close(g->cublas);
    lacis_symv_clock_free(g->clock);
    cudaFree(g->never);
    cudaFree(g->copy);
    if (g->stream != NULL) cudaStreamDestroy(g->stream);
    free(g);
}

/* ----------------------------------------------------------------------------------------- operands */

/* The stretch over and over, each copy twice as long as the one before. */
static int repeat(const void *stretch, uint64_t length, void *device, uint64_t bytes)
{
    uint64_t have = length < bytes ? length : bytes;
    int error = cudaMemcpy(device, stretch, have, cudaMemcpyHostToDevice);
    while (error == cudaSuccess && have < bytes) {
        uint64_t more = have < bytes - have ? have : bytes - have;
        error = cudaMemcpy((char *)device + have, device, more, cudaMemcpyDeviceToDevice);
        have += more;
    }
    return error;
}

int symv_gpu_load(symv_gpu *g, const symv_kind *kind, uint64_t largest)
{
    unload(g);
    if (symv_data_make(kind, &g->data) != 0) return 1;
    const uint64_t matrix = (uint64_t)lacis_symv_matrix_bytes(kind->type) * SYMV_STRETCH;
    const uint64_t vector = (uint64_t)lacis_symv_vector_bytes(kind->type) * SYMV_STRETCH;
    g->pool_bytes = COPIED + ALIGNMENT;
    if (g->pool_bytes < largest + ALIGNMENT) g->pool_bytes = largest + ALIGNMENT;
    g->vector_bytes = vector;
    g->host_y = malloc(vector);
    if (g->host_y == NULL) return bench_fail("out of memory");
    int error = cudaMalloc(&g->pool, g->pool_bytes);
    if (error == cudaSuccess) error = cudaMalloc(&g->x, vector);
    if (error == cudaSuccess) error = cudaMalloc(&g->y, vector);
    if (error == cudaSuccess) error = repeat(g->data.matrix, matrix, g->pool, g->pool_bytes);
    if (error == cudaSuccess) error = repeat(g->data.vector, vector, g->x, vector);
    return failed(error);
}

static bool same_answer(const symv_case *c, const symv_case *d)
{
    return c->kind == d->kind && c->uplo == d->uplo && c->n == d->n && c->op != NULL && d->op != NULL &&
           c->op->packed == d->op->packed && c->op->symmetric == d->op->symmetric;
}

void symv_gpu_set(symv_gpu *g, const symv_case *c)
{
    const uint64_t bytes =
        (uint64_t)symv_elements(c) * (uint64_t)c->op->matrices * (uint64_t)lacis_symv_matrix_bytes(c->kind->type);
    if (!same_answer(&g->present, c)) {
        symv_reference_free(g->reference);
        g->reference = NULL;
    }
    g->present = *c;
    g->choice = NULL;
    g->stride = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    g->turns = (int)((ROTATE + g->stride - 1) / g->stride);
    if (g->turns < 1 || (uint64_t)g->turns * g->stride > g->pool_bytes) g->turns = (int)(g->pool_bytes / g->stride);
    if (g->turns > 1 << 14) g->turns = 1 << 14;
}

const void *symv_gpu_matrix(const symv_gpu *g, int turn)
{
    return (const char *)g->pool + (uint64_t)(turn % g->turns) * g->stride;
}

/* --------------------------------------------------------------------------------------------- runs */

static lacis_symv_gpu_job job_of(const symv_gpu *g, int turn)
{
    lacis_symv_gpu_job job = {
        .job = symv_job(&g->present), .choice = g->choice, .processors = g->processors, .stream = g->stream};
    job.job.a = symv_gpu_matrix(g, turn);
    job.job.x = g->x;
    job.job.y = g->y;
    job.job.host = (lacis_symv_host){.alloc = device_alloc, .free = device_free, .context = g->stream};
    return job;
}

const char *symv_gpu_refuses(const symv_gpu *g)
{
    const lacis_symv_gpu_job job = job_of(g, 0);
    return lacis_symv_gpu_refuses(&job);
}

int symv_gpu_ours(symv_gpu *g, int turn)
{
    int error = 0;
    const lacis_symv_gpu_job job = job_of(g, turn);
    lacis_symv_gpu_status status = lacis_symv_gpu_run(&job, &error);
    if (status == LACIS_SYMV_GPU_FAILED) return error;
    if (status == LACIS_SYMV_GPU_OK) return 0;
    bench_fail("%s: the kernels answered %d", g->present.op->name, (int)status);
    return -1;
}

int symv_gpu_read(symv_gpu *g, int turn)
{
    uint64_t bytes = g->loads == 0 ? 0 : (uint64_t)symv_triangle_bytes(&g->present);
    return bench_gpu_read(symv_gpu_matrix(g, turn), bytes, g->loads, g->never, g->stream);
}

int symv_gpu_copy(symv_gpu *g, int turn)
{
    (void)turn;
    return cudaMemcpyAsync(g->copy, g->pool, COPIED, cudaMemcpyDeviceToDevice, g->stream);
}

int symv_gpu_time(symv_gpu *g, symv_gpu_launch launch, int runs, double *seconds)
{
    double all[LACIS_SYMV_CLOCK_RUNS];
    int error = lacis_symv_clock_hold(g->clock, g->stream);
    for (int i = 0; error == 0 && i < runs + UNCOUNTED; i++) {
        error = lacis_symv_clock_begin(g->clock, i, g->stream);
        if (error == 0) error = launch(g, i);
        if (error == 0) error = lacis_symv_clock_end(g->clock, i, g->stream);
    }
    int read = lacis_symv_clock_read(g->clock, error == 0 ? runs + UNCOUNTED : 0, g->stream, all);
    if (error == 0) error = read;
    if (error != 0) return failed(error);
    *seconds = bench_median(all + UNCOUNTED, runs);
    return 0;
}

int symv_gpu_check(symv_gpu *g, symv_gpu_launch launch, const char *who)
{
    const symv_case *c = &g->present;
    const uint64_t bytes = (uint64_t)lacis_symv_vector_bytes(c->kind->type) * (uint64_t)c->n *
                           (uint64_t)c->op->sides * (uint64_t)c->op->matrices;
    if (g->reference == NULL && symv_reference_make(c, &g->data, &g->reference) != 0) return 1;
    int error = cudaMemsetAsync(g->y, 0xff, bytes, g->stream); /* NaN in every type */
    if (error == 0) error = launch(g, 0);
    if (error == 0) error = cudaMemcpyAsync(g->host_y, g->y, bytes, cudaMemcpyDeviceToHost, g->stream);
    if (error == 0) error = cudaStreamSynchronize(g->stream);
    if (error != 0) return failed(error);
    return symv_check(c, g->reference, g->host_y, who);
}

#endif
