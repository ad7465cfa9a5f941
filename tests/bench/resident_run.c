/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of MULTIPLY's kernels from operands that lie on each of some devices to a result in loose rows that lies where
 * it was computed. A's rows are cut into as many ranges of about equal products as there are devices; each device has
 * a thread, all begin at once, and the time ends with the last.
 */
#include "bench.h"

#ifdef LACIS_BENCH_GPU

#include "resident.h"

#include <sched.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------- threads */

/* The gate counts threads that are ready until it becomes: */
enum { GO = -1, LEAVE = -2 };

static void compute(bench_device *device)
{
    const lacis_driver *calls = device->gpu->driver;
    device->status = lacis_mul_gpu_run(&device->job, NULL, device->first, device->count, &device->out);
    device->failed = calls->stream_wait(lacis_gpu_stream(device->gpu));
    device->finished = bench_now();
}

static int enter(bench_device *device)
{
    const lacis_driver *calls = device->gpu->driver;
    int code = calls->enter(device->gpu->device);
    return code != 0 ? code : calls->stream_wait(lacis_gpu_stream(device->gpu));
}

static void *beside(void *arg)
{
    bench_device *device = arg;
    device->failed = enter(device);
    atomic_fetch_add(device->gate, 1);
    int gate;
    while ((gate = atomic_load(device->gate)) >= 0)
        sched_yield();
    if (gate == GO && device->failed == 0) compute(device);
    return NULL;
}

/* Runs the devices' jobs, the first one's in this thread; false: a thread could not be started. */
static bool run_all(bench_resident *r, int devices, double *seconds)
{
    atomic_int gate = 0;
    int started = 1;
    for (; started < devices; started++) {
        r->device[started].gate = &gate;
        if (pthread_create(&r->device[started].thread, NULL, beside, &r->device[started]) != 0) break;
    }
    r->device[0].failed = enter(&r->device[0]);
    while (atomic_load(&gate) < started - 1)
        sched_yield();
    double start = bench_now(), last = start;
    atomic_store(&gate, started == devices ? GO : LEAVE);
    if (started == devices && r->device[0].failed == 0) compute(&r->device[0]);
    for (int i = 1; i < started; i++)
        pthread_join(r->device[i].thread, NULL);
    for (int i = 0; i < devices; i++)
        if (r->device[i].finished > last) last = r->device[i].finished;
    *seconds = last - start;
    return started == devices;
}

/* ------------------------------------------------------------------------------------------ checking */

static lacis_status download(bench_resident *r, const bench_device *device, const void *from, uint64_t bytes,
                             void *to)
{
    return from == NULL ? LACIS_OK : lacis_gpu_download(&r->run, device->gpu, from, bytes, to);
}

static lacis_status fetch_part(bench_resident *r, const bench_device *device, bench_digest *digest)
{
    const lacis_mul_gpu_output *out = &device->out;
    lacis_dtype storage = ((const lacis_multiply *)r->call->work)->product.storage;
    uint64_t rows = sizeof(int64_t) * (uint64_t)device->count, size = lacis_dtype_size(storage);
    uint64_t places = out->room > out->entries ? out->room : out->entries;
    int64_t *begin = malloc(rows + 8), *end = malloc(rows + 8);
    uint32_t *column = malloc(sizeof(uint32_t) * places + 8);
    void *value = malloc(size * places + 8);
    lacis_status status = lacis_gpu_enter(&r->run, device->gpu);
    if (begin == NULL || end == NULL || column == NULL || value == NULL)
        status = lacis_run_fail(&r->run, LACIS_NOMEM, "out of memory");
    if (status == LACIS_OK) status = download(r, device, device->begin + device->first, rows, begin);
    if (status == LACIS_OK) status = download(r, device, device->end + device->first, rows, end);
    if (status == LACIS_OK) status = download(r, device, out->column, sizeof(uint32_t) * places, column);
    if (status == LACIS_OK) status = download(r, device, out->value, size * places, value);
    bench_rows all = {device->first, device->count, begin, end, column, value, storage};
    if (status == LACIS_OK && bench_digest_rows(&all, digest) != 0) status = LACIS_NOMEM;
    free(begin);
    free(end);
    free(column);
    free(value);
    return status;
}

/* --------------------------------------------------------------------------------------------- a run */

/* Each device's rows: as many products as another's, but for a row's. */
static void cut(bench_resident *r, int devices, int64_t source)
{
    const lacis_product *product = &((const lacis_multiply *)r->call->work)->product;
    int64_t end = r->source ? source + 1 : r->n, at = r->source ? source : 0;
    uint64_t before = 0;
    for (int i = 0; i < devices; i++) {
        bench_device *device = &r->device[i];
        /* A quotient first: no product of totals overflows. */
        uint64_t until = product->total_products / (uint64_t)devices * (uint64_t)(i + 1);
        device->first = at;
        if (i + 1 == devices) at = end;
        for (; at < end && before < until; at++)
            before += product->products[at];
        device->count = at - device->first;
    }
}

static void begin_parts(bench_resident *r, int devices, bool compact)
{
    for (int i = 0; i < devices; i++) {
        bench_device *device = &r->device[i];
        device->out = (lacis_mul_gpu_output){.begin = device->begin, .end = device->end};
        device->job.compact = compact;
        device->failed = 0;
        device->finished = 0;
        device->status = LACIS_MUL_GPU_OK;
    }
}

/* Takes the results in: bytes, digest, memory. */
static int take_in(bench_resident *r, int devices, bench_digest *digest)
{
    const lacis_multiply *work = r->call->work;
    double entry = (double)(sizeof(uint32_t) + lacis_dtype_size(work->product.storage));
    int code = 0;
    r->bytes = 0;
    for (int i = 0; i < devices; i++) {
        bench_device *device = &r->device[i];
        const lacis_mul_gpu_output *out = &device->out;
        bool good = device->status == LACIS_MUL_GPU_OK && device->failed == 0;
        if (!good)
            code = bench_fail("the kernels on GPU %d answer %d (CUDA error %d)", i, (int)device->status,
                              device->failed != 0 ? device->failed : out->cuda_error);
        r->bytes += (double)out->entries * entry;
        if (good && code == 0 && digest != NULL && fetch_part(r, device, digest) != LACIS_OK)
            code = bench_fail("fetching the result: %s", r->host.error.message);
        lacis_gpu_free(device->gpu, out->column);
        lacis_gpu_free(device->gpu, out->value);
    }
    return code;
}

int bench_resident_run(bench_resident *r, int gpus, int64_t source, double *seconds, bench_digest *digest)
{
    const uint64_t large =
        (uint64_t)1 << 30; /* entries: rows moved together for checking, since room may be twice that */
    const lacis_multiply *work = r->call->work;
    int devices = r->source ? 1 : gpus > r->devices ? r->devices : gpus;
    cut(r, devices, source);
    begin_parts(r, devices, digest != NULL && work->product.total_products > large);
    bool good = run_all(r, devices, seconds);
    int code = take_in(r, devices, digest);
    r->device[0].gpu->driver->enter(r->device[0].gpu->device); /* for whatever this thread does next */
    return good ? code : bench_fail("no thread for each GPU");
}

double bench_resident_bytes(const bench_resident *r)
{
    return r->bytes;
}

int bench_resident_gpus(const bench_resident *r)
{
    return r->devices;
}

#else

/* Never called: nothing is ever open. */
int bench_resident_run(bench_resident *resident, int gpus, int64_t source, double *seconds, bench_digest *digest)
{
    (void)resident, (void)gpus, (void)source, (void)seconds, (void)digest;
    return 1;
}
double bench_resident_bytes(const bench_resident *resident)
{
    (void)resident;
    return 0;
}
int bench_resident_gpus(const bench_resident *resident)
{
    (void)resident;
    return 0;
}

#endif
