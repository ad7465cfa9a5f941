/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's kernels alone on GPUs: a statement is bound as the engine does, and its operands are sent to each
 * device; resident_run.c then times nothing but the product, with device memory from the engine's own pools. Where
 * this build has no GPU kernels it says so.
 */
#include "bench.h"

#ifdef LACIS_BENCH_GPU

#include "resident.h"

#include "lang/lang.h"
#include "multiply/written.h"

#include <stdlib.h>
#include <string.h>

static void *pool_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((bench_device *)context)->gpu, bytes);
}

static void pool_free(void *context, void *block)
{
    lacis_gpu_free(((bench_device *)context)->gpu, block);
}

/* ------------------------------------------------------------------------------------------- opening */

static lacis_status buffer_with(lacis_run *run, const void *data, uint64_t bytes, lacis_buffer **out)
{
    LACIS_TRY(lacis_buffer_new(run, bytes, out));
    if (bytes > 0) memcpy(lacis_buffer_data(*out), data, bytes);
    return LACIS_OK;
}

static lacis_status array_of_graph(lacis_run *run, const bench_graph *input, lacis_dtype dtype, const void *values,
                                   lacis_array **out)
{
    uint64_t rows = sizeof(int64_t) * (uint64_t)(input->n + 1), entries = (uint64_t)input->entries;
    lacis_csr_parts parts = {
        .rows = input->n, .cols = input->n, .entries = input->entries, .storage = dtype, .dtype = dtype};
    lacis_status status = buffer_with(run, input->offsets, rows, &parts.begin);
    if (status == LACIS_OK) status = buffer_with(run, input->columns, sizeof(uint32_t) * entries, &parts.columns);
    if (status == LACIS_OK) status = buffer_with(run, values, lacis_dtype_size(dtype) * entries, &parts.values);
    if (status == LACIS_OK) status = lacis_csr_new(run, &parts, out);
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    return status;
}

static lacis_status open_devices(struct bench_resident *r, int gpus)
{
    lacis_gpu *gpu[LACIS_GPUS];
    uint64_t bytes = sizeof(int64_t) * (uint64_t)(r->n + 1);
    r->host.gpus = gpus; /* as SET gpus does */
    r->devices = lacis_run_gpus(&r->run, true, gpu);
    for (int i = 0; i < r->devices; i++) {
        bench_device *device = &r->device[i];
        device->gpu = gpu[i];
        LACIS_TRY(lacis_gpu_enter(&r->run, gpu[i]));
        device->begin = lacis_gpu_alloc(gpu[i], bytes);
        device->end = lacis_gpu_alloc(gpu[i], bytes);
        if (device->begin == NULL || device->end == NULL)
            return lacis_run_fail(&r->run, LACIS_UNSUPPORTED, "GPU %d has no room", i);
    }
    return LACIS_OK;
}

static lacis_status open_all(struct bench_resident *r, const bench_graph *input, bool f64, int gpus)
{
    lacis_dtype dtype = f64 ? LACIS_F64 : LACIS_F32;
    LACIS_TRY(lacis_registry_init(&r->run, &r->registry));
    LACIS_TRY(array_of_graph(&r->run, input, dtype, f64 ? (const void *)input->value64 : input->value32, &r->g));
    LACIS_TRY(array_of_graph(&r->run, input, dtype, f64 ? (const void *)input->small64 : input->small32, &r->h));
    LACIS_TRY(open_devices(r, gpus));
    if (r->devices == 0) return lacis_run_fail(&r->run, LACIS_UNSUPPORTED, "it does not answer any more");
    return lacis_gpu_enter(&r->run, r->device[0].gpu);
}

int bench_resident_open(const bench_graph *input, bool f64, int gpus, bench_resident **out, char *reason, size_t size)
{
    struct bench_resident *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL || lacis_host_init(&r->host) != LACIS_OK) {
        free(r);
        return bench_fail("out of memory");
    }
    lacis_run_init(&r->run, &r->host);
    r->n = input->n;
    r->host.threads = lacis_cpus();
    if (lacis_run_gpu(&r->run, reason, size) == NULL) {
        bench_resident_close(r);
        return 0;
    }
    if (open_all(r, input, f64, gpus) != LACIS_OK) {
        int code = bench_fail("GPU: %s", r->host.error.message);
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
    for (int i = 0; i < r->devices; i++) {
        if (r->device[i].gpu == NULL) continue;
        lacis_gpu_free(r->device[i].gpu, r->device[i].begin);
        lacis_gpu_free(r->device[i].gpu, r->device[i].end);
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

/* The first device's functions are good for all, and so is what their preparation says in the job. */
static lacis_status make_job(struct bench_resident *r, bench_device *device)
{
    const lacis_product *product = &((const lacis_multiply *)r->call->work)->product;
    lacis_mul_gpu_job *job = &device->job;
    bool first = device == r->device;
    if (first) lacis_multiply_gpu_job(product, job);
    if (first && lacis_written_needed(product))
        LACIS_TRY(lacis_written_prepare(&r->run, device->gpu, product, job, &r->written));
    if (!first) *job = r->device[0].job;
    job->stream = lacis_gpu_stream(device->gpu);
    job->memory = (lacis_mul_gpu_memory){pool_alloc, pool_free, NULL, device};
    lacis_gpu_beside(device->gpu, job->side, &job->pinned);
    return LACIS_OK;
}

/* Before runs, whose threads cannot report. */
static lacis_status compile_first(struct bench_resident *r)
{
    int error = 0;
    lacis_mul_gpu_status status = lacis_mul_gpu_compile(&r->device[0].job, 0, r->n, &error);
    if (status == LACIS_MUL_GPU_OK) return LACIS_OK;
    if (status == LACIS_MUL_GPU_UNCOMPILED) return lacis_written_failed(&r->written);
    return lacis_run_fail(&r->run, LACIS_UNSUPPORTED, "what is to be compiled is not known: %d (CUDA error %d)",
                          (int)status, error);
}

static lacis_status ready(struct bench_resident *r, bench_device *device)
{
    lacis_multiply *work = r->call->work;
    const lacis_mul_job *host = &work->product.job;
    LACIS_TRY(lacis_gpu_enter(&r->run, device->gpu));
    LACIS_TRY(make_job(r, device));
    LACIS_TRY(lacis_send_matrix(&r->run, device->gpu, &work->sent, &host->a, &device->job.a));
    return lacis_send_matrix(&r->run, device->gpu, &work->sent, &host->b, &device->job.b);
}

static lacis_status ready_all(struct bench_resident *r)
{
    for (int i = 0; i < r->devices; i++) {
        lacis_status status = ready(r, &r->device[i]);
        if (status == LACIS_LIMIT)
            return lacis_run_fail(&r->run, LACIS_UNSUPPORTED, "GPU %d has no room for the operands", i);
        LACIS_TRY(status);
    }
    LACIS_TRY(lacis_gpu_enter(&r->run, r->device[0].gpu));
    return compile_first(r);
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
    if (status == LACIS_OK) status = ready_all(r);
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

#else

#include <stdio.h>

int bench_resident_open(const bench_graph *graph, bool f64, int gpus, bench_resident **out, char *reason, size_t size)
{
    (void)graph, (void)f64, (void)gpus;
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
void bench_resident_end(bench_resident *resident)
{
    (void)resident;
}
void bench_resident_close(bench_resident *resident)
{
    (void)resident;
}

#endif
