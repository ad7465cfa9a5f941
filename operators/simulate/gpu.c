/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's variants on GPUs, one for each way of kernels/neuron/gpu.h: lanes in as few panels as the devices'
 * memory allows, dealt over the devices; voltages, or what they are reduced to there, into the result's table. In
 * SIMULATE's list of variants.
 */
#include "simulate/device.h"

enum { THREAD, CHIP, POWER }; /* as in kernels/neuron/gpu.h, which builds without kernels need not see */

#ifdef LACIS_GPU_KERNELS

#include "common/parallel.h"

_Static_assert((int)THREAD == (int)LACIS_NEURON_GPU_THREAD && (int)CHIP == (int)LACIS_NEURON_GPU_CHIP &&
                   (int)POWER == (int)LACIS_NEURON_GPU_POWER,
               "ways are numbered as the kernels do");

/* Stretches that lie apart in the table come through a block of about so many bytes. */
static const uint64_t STAGE_BYTES = (uint64_t)32 << 20;

/* Stretches from the stage to their places in a column, dealt over threads: the pages there are mostly new. */
struct put {
    const lacis_trace *trace;
    const lacis_panel *panel;
    const double *stage;
    double *column;
    int64_t first; /* stretch */
};

static int put_stretch(void *context, int64_t task, int worker)
{
    const struct put *put = context;
    (void)worker;
    lacis_trace_put(put->trace, put->column, put->first + task, 1, put->panel->first, put->panel->count,
                    put->stage + task * put->panel->count);
    return 0;
}

static void put_all(lacis_run *run, struct put put, int64_t stretches)
{
    const int enough = 8;
    int threads = lacis_run_threads(run);
    lacis_parallel(threads < enough ? threads : enough, stretches, put_stretch, &put);
}

static lacis_status place(void *context, lacis_panel *panel)
{
    (void)context, (void)panel; /* every lane has its place */
    return LACIS_OK;
}

/* One column of a panel. Where the panel is all lanes it lies as in the table; else stretches go to their places
 * through the stage, or without one straight there, each as a copy of its own. */
static lacis_status fetch_column(const lacis_simulate_gpu_run *running, const lacis_panel *panel, const double *from,
                                 double *column)
{
    const lacis_trace *trace = &running->trace;
    uint64_t bytes = sizeof *from * (uint64_t)panel->count; /* of a stretch */
    if (panel->count == trace->lanes)
        return lacis_gpu_fetch(running->run, panel->gpu, from, bytes * (uint64_t)trace->stretches, column);
    int64_t some = (int64_t)(STAGE_BYTES / bytes);
    if (some > trace->stretches) some = trace->stretches;
    double *stage = some > 1 ? lacis_run_alloc_quiet(running->run, bytes * (uint64_t)some) : NULL;
    if (stage == NULL) some = 1;
    lacis_status status = LACIS_OK;
    for (int64_t at = 0; at < trace->stretches && status == LACIS_OK; at += some) {
        int64_t count = trace->stretches - at < some ? trace->stretches - at : some;
        double *to = stage != NULL ? stage : column + at * trace->lanes + panel->first - trace->first;
        status = lacis_gpu_fetch(running->run, panel->gpu, from + at * panel->count, bytes * (uint64_t)count, to);
        if (status == LACIS_OK && stage != NULL)
            put_all(running->run, (struct put){trace, panel, stage, column, at}, count);
    }
    lacis_run_free(running->run, stage);
    return status;
}

static lacis_status fetch(void *context, lacis_panel *panel)
{
    const lacis_simulate_gpu_run *running = context;
    const lacis_simulate_panel *own = panel->own;
    LACIS_TRY(fetch_column(running, panel, own->out, running->trace.v));
    return own->when == NULL ? LACIS_OK : fetch_column(running, panel, own->when, running->trace.t);
}

/* What panels ended with, in the user's words. */
static lacis_status told(lacis_run *run, lacis_status status)
{
    if (status == LACIS_INTERRUPT) return lacis_run_interrupted(run);
    if (status == LACIS_MISUSE)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this simulation after all");
    return status;
}

static lacis_status deal_lanes(lacis_simulate_gpu_run *running)
{
    lacis_gpu *gpu[LACIS_GPUS];
    lacis_panels_report done;
    const lacis_panels panels = {.begin = running->begin,
                                 .end = running->end,
                                 .own_bytes = sizeof(lacis_simulate_panel),
                                 .context = running,
                                 .size = lacis_simulate_panel_lanes,
                                 .compute = lacis_simulate_panel_compute,
                                 .place = place,
                                 .fetch = fetch,
                                 .drop = lacis_simulate_panel_drop,
                                 .verb = "SIMULATE",
                                 .unit = "lane",
                                 .single = running->single,
                                 .fraction = lacis_simulate_fraction};
    for (int i = 0; i < running->devices; i++)
        gpu[i] = running->device[i].gpu;
    lacis_status status = lacis_gpu_panels(running->run, gpu, running->devices, &panels, &done);
    if (status != LACIS_OK) return told(running->run, status);
    lacis_run_count(running->run, "compartment steps",
                    (double)lacis_simulation_compartments(running->s, running->begin, running->end) *
                        (double)running->s->plan.steps);
    return LACIS_OK;
}

static lacis_status gpu_run(int way, lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                            lacis_array **out)
{
    lacis_simulate_gpu_run *running;
    LACIS_TRY(lacis_run_scratch(run, sizeof *running, &running));
    *running = (lacis_simulate_gpu_run){.run = run, .s = call->work, .begin = begin, .end = end};
    running->way = (lacis_neuron_gpu_way)way;
    running->thread = pthread_self();
    LACIS_TRY(lacis_trace_new(run, call, begin, end, &running->trace));
    lacis_status status = lacis_simulate_devices(running);
    if (status == LACIS_OK) status = deal_lanes(running);
    lacis_simulate_devices_clear(running);
    return lacis_trace_end(run, call, &running->trace, status, out);
}

#else

static lacis_status gpu_run(int way, lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                            lacis_array **out)
{
    (void)way, (void)call, (void)begin, (void)end, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif

/* A variant's functions know their way. */
#define WAY(which, way, label, text)                                                                                 \
    static bool which##_can(const lacis_call *call, char *reason, size_t size)                                       \
    {                                                                                                                \
        return lacis_simulate_gpu_can(call, way, reason, size);                                                      \
    }                                                                                                                \
    static lacis_status which##_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,           \
                                     lacis_cost *out)                                                                \
    {                                                                                                                \
        return lacis_simulate_gpu_cost(run, call, way, profile, out);                                                \
    }                                                                                                                \
    static lacis_status which##_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,              \
                                    lacis_array **out)                                                               \
    {                                                                                                                \
        return gpu_run(way, run, call, begin, end, out);                                                             \
    }                                                                                                                \
    const lacis_variant lacis_simulate_gpu_##which = {.name = label,                                                 \
                                                      .device = LACIS_GPU,                                           \
                                                      .summary = text,                                               \
                                                      .can = which##_can,                                            \
                                                      .cost = which##_cost,                                          \
                                                      .run = which##_run}

WAY(thread, THREAD, "gpu thread", "a thread a lane, two sweeps through device memory a step");
WAY(chip, CHIP, "gpu chip", "a few lanes a block on chip for many steps, threads on the subtrees of each");
WAY(power, POWER, "gpu power",
    "passive cells of one matrix: many steps as a product with its power, on tensor cores");
