/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's kernels alone on the GPU: a statement is bound as the engine does, its operands are sent, and only the
 * product is timed, to a result in loose rows on the device, with device memory from the engine's own pool. Unlike
 * the rest of lacis-bench it looks inside the engine. Where this build has no GPU kernels it says so.
 */
#include "bench.h"

#ifdef LACIS_BENCH_GPU

#include "core/device.h"
#include "core/registry.h"
#include "lang/lang.h"
#include "multiply/device.h"
#include "multiply/written.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

struct bench_resident {
    lacis_host host;
    lacis_run run;
    lacis_registry registry;
    lacis_array *g, *h;
    lacis_gpu *gpu;
    int64_t n, *begin, *end; /* of the result's rows, on the device */
    void *side[2], *pinned;
    lacis_call *call; /* the present op's */
    lacis_mul_gpu_job job;
    lacis_mul_gpu_written written;
    lacis_mul_matrix mask;
    lacis_dtype storage;
    bool source;
    double bytes;
};

static int failed(const struct bench_resident *r, const char *what)
{
    return bench_fail("%s: %s", what, r->host.error.message);
}

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((struct bench_resident *)context)->gpu, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(((struct bench_resident *)context)->gpu, block);
}

/* ------------------------------------------------------------------------------------------- opening */

static lacis_status buffer_of(lacis_run *run, const void *data, uint64_t bytes, lacis_buffer **out)
{
    LACIS_TRY(lacis_buffer_new(run, bytes, out));
    if (bytes > 0) memcpy(lacis_buffer_data(*out), data, bytes);
    return LACIS_OK;
}

static lacis_status make_array(lacis_run *run, const bench_graph *graph, lacis_dtype dtype, const void *values,
                               lacis_array **out)
{
    uint64_t rows = sizeof(int64_t) * (uint64_t)(graph->n + 1), entries = (uint64_t)graph->entries;
    lacis_csr_parts parts = {
        .rows = graph->n, .cols = graph->n, .entries = graph->entries, .storage = dtype, .dtype = dtype};
    lacis_status status = buffer_of(run, graph->offsets, rows, &parts.begin);
    if (status == LACIS_OK) status = buffer_of(run, graph->columns, sizeof(uint32_t) * entries, &parts.columns);
    if (status == LACIS_OK) status = buffer_of(run, values, lacis_dtype_size(dtype) * entries, &parts.values);
    if (status == LACIS_OK) status = lacis_csr_new(run, &parts, out);
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    return status;
}

static lacis_status open_all(struct bench_resident *r, const bench_graph *graph, bool f64)
{
    lacis_dtype dtype = f64 ? LACIS_F64 : LACIS_F32;
    uint64_t bytes = sizeof(int64_t) * (uint64_t)(graph->n + 1);
    LACIS_TRY(lacis_registry_init(&r->run, &r->registry));
    LACIS_TRY(make_array(&r->run, graph, dtype, f64 ? (const void *)graph->value64 : graph->value32, &r->g));
    LACIS_TRY(make_array(&r->run, graph, dtype, f64 ? (const void *)graph->small64 : graph->small32, &r->h));
    r->begin = lacis_gpu_alloc(r->gpu, bytes);
    r->end = lacis_gpu_alloc(r->gpu, bytes);
    const lacis_driver *calls = r->gpu->driver;
    bool good = r->begin != NULL && r->end != NULL && calls->stream_new(&r->side[0]) == 0 &&
                calls->stream_new(&r->side[1]) == 0 && calls->pinned_new(LACIS_MUL_GPU_PINNED_BYTES, &r->pinned) == 0;
    return good ? LACIS_OK : lacis_run_fail(&r->run, LACIS_UNSUPPORTED, "the GPU has no room");
}

int bench_resident_open(const bench_graph *graph, bool f64, bench_resident **out, char *reason, size_t size)
{
    struct bench_resident *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL || lacis_host_init(&r->host) != LACIS_OK) {
        free(r);
        return bench_fail("out of memory");
    }
    lacis_run_init(&r->run, &r->host);
    r->n = graph->n;
    r->host.threads = lacis_cpus();
    r->gpu = lacis_run_gpu(&r->run, reason, size);
    if (r->gpu == NULL) {
        bench_resident_close(r);
        return 0;
    }
    if (open_all(r, graph, f64) != LACIS_OK) {
        int code = failed(r, "GPU");
        bench_resident_close(r);
        return code;
    }
    *out = r;
    return 0;
}

void bench_resident_close(bench_resident *r)
{
    if (r == NULL) return;
    bench_resident_end(r);
    lacis_array_release(r->g);
    lacis_array_release(r->h);
    if (r->gpu != NULL) {
        const lacis_driver *calls = r->gpu->driver;
        for (int i = 0; i < 2; i++)
            if (r->side[i] != NULL) calls->stream_free(r->side[i]);
        if (r->pinned != NULL) calls->pinned_free(r->pinned);
        lacis_gpu_free(r->gpu, r->begin);
        lacis_gpu_free(r->gpu, r->end);
    }
    lacis_run_clear(&r->run);
    lacis_registry_clear(&r->host, &r->registry);
    lacis_gpu_release(r->host.gpu);
    r->host.gpu = NULL;
    lacis_host_clear(&r->host);
    free(r);
}

/* ---------------------------------------------------------------------------------------------- an op */

static lacis_status bind(struct bench_resident *r, bench_op op)
{
    const lacis_bindings none = {NULL, 0};
    lacis_array *array = strcmp(bench_op_array(op), "h") == 0 ? r->h : r->g;
    char *text = lacis_run_text(&r->run, "MULTIPLY x BY x %s ON GPU", bench_op_clauses[op]);
    if (text == NULL) return LACIS_NOMEM;
    LACIS_TRY(lacis_lang_call(&r->run, &r->registry, text, &none, &r->call));
    for (int i = 0; i < r->call->arg_count; i++)
        for (int j = 0; j < LACIS_ITEMS; j++)
            if (r->call->args[i].item[j].name != NULL) r->call->args[i].item[j].array = array;
    return r->call->op->bind(&r->run, r->call);
}

static lacis_status ready(struct bench_resident *r)
{
    lacis_multiply *work = r->call->work;
    lacis_mul_gpu_job *job = &r->job;
    const lacis_mul_job *host = &work->product.job;
    lacis_multiply_gpu_job(&work->product, job);
    job->compact = false;
    job->stream = lacis_gpu_stream(r->gpu);
    job->side[0] = r->side[0];
    job->side[1] = r->side[1];
    job->pinned = r->pinned;
    job->memory = (lacis_mul_gpu_memory){device_alloc, device_free, NULL, r};
    if (lacis_written_needed(&work->product))
        LACIS_TRY(lacis_written_prepare(&r->run, r->gpu, &work->product, job, &r->written));
    LACIS_TRY(lacis_send_matrix(&r->run, r->gpu, &work->sent, &host->a, &job->a));
    LACIS_TRY(lacis_send_matrix(&r->run, r->gpu, &work->sent, &host->b, &job->b));
    r->storage = work->product.storage;
    return LACIS_OK;
}

int bench_resident_begin(bench_resident *r, bench_op op, char *why, size_t size)
{
    char reason[200] = "";
    why[0] = '\0';
    bench_resident_end(r);
    r->source = op == BENCH_SOURCE;
    lacis_status status = bind(r, op);
    if (status == LACIS_OK && !lacis_multiply_gpu_can(r->call, reason, sizeof reason)) {
        snprintf(why, size, "%s", reason);
        return 0;
    }
    if (status == LACIS_OK) status = ready(r);
    if (status != LACIS_OK) snprintf(why, size, "%s", r->host.error.message);
    return 0;
}

void bench_resident_end(bench_resident *r)
{
    if (r->call != NULL && r->call->op->unbind != NULL && r->call->work != NULL)
        r->call->op->unbind(&r->run, r->call);
    r->call = NULL;
    lacis_run_clear(&r->run);
    lacis_run_init(&r->run, &r->host);
}

/* --------------------------------------------------------------------------------------------- runs */

static lacis_status fetch(struct bench_resident *r, int64_t first, int64_t count, const lacis_mul_gpu_output *out,
                          bench_digest *digest)
{
    uint64_t rows = sizeof(int64_t) * (uint64_t)count, size = lacis_dtype_size(r->storage);
    uint64_t places = out->room > out->entries ? out->room : out->entries;
    int64_t *begin = malloc(rows + 8), *end = malloc(rows + 8);
    uint32_t *column = malloc(sizeof(uint32_t) * places + 8);
    void *value = malloc(size * places + 8);
    lacis_status status = LACIS_OK;
    if (begin == NULL || end == NULL || column == NULL || value == NULL)
        status = lacis_run_fail(&r->run, LACIS_NOMEM, "out of memory");
    if (status == LACIS_OK) status = lacis_gpu_download(&r->run, r->gpu, r->begin, rows, begin);
    if (status == LACIS_OK) status = lacis_gpu_download(&r->run, r->gpu, r->end, rows, end);
    if (status == LACIS_OK && out->column != NULL)
        status = lacis_gpu_download(&r->run, r->gpu, out->column, sizeof(uint32_t) * places, column);
    if (status == LACIS_OK && out->value != NULL)
        status = lacis_gpu_download(&r->run, r->gpu, out->value, size * places, value);
    bench_rows all = {first, count, begin, end, column, value, r->storage};
    if (status == LACIS_OK && bench_digest_rows(&all, digest) != 0) status = LACIS_NOMEM;
    free(begin);
    free(end);
    free(column);
    free(value);
    return status;
}

int bench_resident_run(bench_resident *r, int64_t source, double *seconds, bench_digest *digest)
{
    const uint64_t large =
        (uint64_t)1 << 30; /* entries: rows moved together for checking, since room may be twice that */
    int64_t first = r->source ? source : 0, count = r->source ? 1 : r->n;
    lacis_mul_gpu_output out = {.begin = r->begin - first, .end = r->end - first};
    const lacis_multiply *work = r->call->work;
    r->job.compact = digest != NULL && work->product.total_products > large;
    lacis_gpu_wait(&r->run, r->gpu);
    double start = bench_now();
    lacis_mul_gpu_status status = lacis_mul_gpu_run(&r->job, NULL, first, count, &out);
    lacis_status waited = lacis_gpu_wait(&r->run, r->gpu);
    *seconds = bench_now() - start;
    if (status != LACIS_MUL_GPU_OK || waited != LACIS_OK)
        return bench_fail("the kernels answer %d (CUDA error %d)", (int)status, out.cuda_error);
    r->bytes = (double)out.entries * (double)(sizeof(uint32_t) + lacis_dtype_size(r->storage));
    lacis_status fetched = digest == NULL ? LACIS_OK : fetch(r, first, count, &out, digest);
    lacis_gpu_free(r->gpu, out.column);
    lacis_gpu_free(r->gpu, out.value);
    return fetched == LACIS_OK ? 0 : failed(r, "fetching the result");
}

double bench_resident_bytes(const bench_resident *r)
{
    return r->bytes;
}

double bench_resident_copy_rate(bench_resident *r)
{
    const uint64_t bytes = (uint64_t)1 << 30;
    enum { ROUNDS = 7 };
    double seconds[ROUNDS], rate = 0;
    void *from = lacis_gpu_alloc(r->gpu, bytes), *to = lacis_gpu_alloc(r->gpu, bytes);
    cudaStream_t stream = lacis_gpu_stream(r->gpu);
    bool good = from != NULL && to != NULL;
    for (int i = 0; good && i < ROUNDS; i++) {
        good = cudaStreamSynchronize(stream) == cudaSuccess;
        double start = bench_now();
        good = good && cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess &&
               cudaStreamSynchronize(stream) == cudaSuccess;
        seconds[i] = bench_now() - start;
    }
    if (good) rate = 2 * (double)bytes / bench_median(seconds, ROUNDS);
    lacis_gpu_free(r->gpu, from);
    lacis_gpu_free(r->gpu, to);
    return rate;
}

#else

#include <stdio.h>

int bench_resident_open(const bench_graph *graph, bool f64, bench_resident **out, char *reason, size_t size)
{
    (void)graph, (void)f64;
    *out = NULL;
    snprintf(reason, size, "this build has no GPU kernels");
    return 0;
}

/* Never called: nothing is ever open. */
int bench_resident_begin(bench_resident *resident, bench_op op, char *why, size_t size)
{
    (void)resident, (void)op, (void)why, (void)size;
    return 1;
}
int bench_resident_run(bench_resident *resident, int64_t source, double *seconds, bench_digest *digest)
{
    (void)resident, (void)source, (void)seconds, (void)digest;
    return 1;
}
double bench_resident_bytes(const bench_resident *resident)
{
    (void)resident;
    return 0;
}
void bench_resident_end(bench_resident *resident)
{
    (void)resident;
}
double bench_resident_copy_rate(bench_resident *resident)
{
    (void)resident;
    return 0;
}
void bench_resident_close(bench_resident *resident)
{
    (void)resident;
}

#endif
