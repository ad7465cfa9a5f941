/* SPDX-License-Identifier: Apache-2.0
 *
 * What SIMULATE's GPU kernels answer where memory ends, someone stops them, or a way cannot take a job; and that they
 * tell of every step and give back all memory.
 */
#include "neuron_support.h"

struct watch {
    int allowed, out; /* allocations that are still to succeed; blocks that are not given back */
    int64_t told;     /* steps */
    bool stops;
};

static void *watched_alloc(void *context, uint64_t bytes)
{
    watch *w = (watch *)context;
    if (w->allowed-- <= 0) return NULL;
    void *block = pool.alloc(pool.context, bytes);
    w->out += block != NULL;
    return block;
}

static void watched_free(void *context, void *block)
{
    ((watch *)context)->out--;
    pool.free(pool.context, block);
}

static bool watched_stop(void *context, int64_t steps)
{
    watch *w = (watch *)context;
    w->told += steps;
    return w->stops;
}

static lacis_neuron_gpu_status run(const neuron_plan &plan, lacis_neuron_gpu_way way, double *out, watch *w)
{
    int error = 0;
    lacis_neuron_gpu_job job = {plan, way, 0, watched_stop, w, stream, NULL, {watched_alloc, watched_free, w}};
    job.plan.out = out;
    job.plan.when = out;
    const lacis_neuron_gpu_status status = lacis_neuron_gpu_run(&job, NULL, &error);
    CUDA(cudaStreamSynchronize(stream));
    if (w->out != 0) fail("faults", "blocks not given back", w->out, 0);
    return status;
}

static void expect(lacis_neuron_gpu_status found, lacis_neuron_gpu_status expected, const char *what)
{
    if (found != expected) fail("faults", what, (double)found, (double)expected);
}

void check_faults(batch &b)
{
    double *out = NULL;
    b.settle();
    CUDA(cudaMallocAsync(&out, (size_t)b.values() * 8 + 8, stream));
    for (int k = 0; k < LACIS_NEURON_GPU_WAYS; k++) {
        const lacis_neuron_gpu_way way = (lacis_neuron_gpu_way)k;
        watch all = {1000, 0, 0, false}, stopped = {1000, 0, 0, true};
        if (b.plan.hh && way == LACIS_NEURON_GPU_POWER) {
            expect(run(b.plan, way, out, &all), LACIS_NEURON_GPU_UNSUPPORTED, "POWER of channels");
            continue;
        }
        expect(run(b.plan, way, out, &all), LACIS_NEURON_GPU_OK, "a run");
        if (all.told != b.plan.steps) fail("faults", "steps told of", (double)all.told, (double)b.plan.steps);
        for (int allowed = 0; allowed < 1000 - all.allowed; allowed++) {
            watch few = {allowed, 0, 0, false};
            expect(run(b.plan, way, out, &few), LACIS_NEURON_GPU_NO_MEMORY, "an allocation that fails");
        }
        expect(run(b.plan, way, out, &stopped), LACIS_NEURON_GPU_CANCELLED, "a run that is stopped");
    }
    CUDA(cudaFreeAsync(out, stream));
    CUDA(cudaStreamSynchronize(stream));
}
