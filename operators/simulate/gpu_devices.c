/* SPDX-License-Identifier: Apache-2.0
 *
 * What SIMULATE's GPU variants do on each device: tables that all lanes share, how many lanes a panel takes, kernels.
 * gpu.c deals the panels.
 */
#include "simulate/device.h"

#ifdef LACIS_GPU_KERNELS

/* Results of fewer bytes than this are copied once all is computed; larger ones panel by panel, beside the next one's
 * steps, but not with fewer lanes than fill a device. */
static const uint64_t MUCH_TO_COPY = (uint64_t)64 << 20, PANEL_BYTES = (uint64_t)256 << 20;
enum { PANELS = 8, LEAST_LANES = 16384, LANES_TOGETHER = 64 };

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((lacis_simulate_device *)context)->gpu, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(((lacis_simulate_device *)context)->gpu, block);
}

/* ------------------------------------------------------------------------------------------- tables */

static lacis_status no_room(lacis_run *run, lacis_gpu *gpu)
{
    lacis_gpu_facts facts;
    lacis_gpu_describe(gpu, &facts);
    return lacis_run_fail(run, LACIS_UNSUPPORTED,
                          "the GPU's memory (%.3g GB for this database) does not hold the cells",
                          1e-9 * (double)facts.budget);
}

static lacis_status make_tables(lacis_simulate_gpu_run *running, lacis_simulate_device *device)
{
    int error = 0;
    lacis_run *run = running->run;
    switch (lacis_neuron_gpu_tables_new(&device->job, &device->tables, &error)) {
    case LACIS_NEURON_GPU_OK:
        return LACIS_OK;
    case LACIS_NEURON_GPU_NO_MEMORY:
        return no_room(run, device->gpu);
    case LACIS_NEURON_GPU_CANCELLED:
        return lacis_run_interrupted(run);
    case LACIS_NEURON_GPU_FAILED:
        return lacis_gpu_failed(run, device->gpu, error);
    case LACIS_NEURON_GPU_UNSUPPORTED:
        break;
    }
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this simulation after all");
}

static lacis_status prepare(lacis_simulate_gpu_run *running, lacis_simulate_device *device)
{
    void *side[2], *pinned;
    lacis_neuron_gpu_job *job = &device->job;
    device->running = running;
    lacis_simulate_gpu_job(running->s, running->way, job);
    lacis_gpu_beside(device->gpu, side, &pinned);
    job->stream = lacis_gpu_stream(device->gpu);
    job->pinned = pinned;
    job->memory = (lacis_neuron_gpu_memory){device_alloc, device_free, device};
    LACIS_TRY(make_tables(running, device));
    device->room = lacis_gpu_memory_left(device->gpu) / 32 * 31;
    return LACIS_OK;
}

/* A device beside the first that does not take the tables is done without. */
static lacis_status prepare_more(lacis_simulate_gpu_run *running, lacis_gpu *gpu)
{
    lacis_simulate_device *device = &running->device[running->devices];
    device->gpu = gpu;
    lacis_status status = lacis_gpu_enter(running->run, gpu);
    if (status == LACIS_OK) status = prepare(running, device);
    if (status == LACIS_OK) running->devices++;
    if (status != LACIS_UNSUPPORTED) return status;
    lacis_run_note(running->run, LACIS_NOTE, "SIMULATE: GPU %d is done without", lacis_gpu_number(gpu));
    return LACIS_OK;
}

/* Panels of equal size: as many as keep the devices and the copies busy, and no more. */
static void choose_panels(lacis_simulate_gpu_run *running)
{
    const neuron_plan *plan = &running->s->plan;
    int64_t lanes = running->end - running->begin, panels = 1;
    uint64_t bytes = sizeof(double) * (uint64_t)running->trace.stretches * (uint64_t)lanes;
    if (plan->reduce != NEURON_ALL) bytes *= 2;
    uint64_t each = bytes / (uint64_t)running->devices;
    running->single = each < MUCH_TO_COPY;
    if (!running->single) panels = each / PANEL_BYTES < PANELS ? (int64_t)(each / PANEL_BYTES) + 1 : PANELS;
    running->panel = (lanes + panels * running->devices - 1) / (panels * running->devices);
    int64_t least = (lanes + running->devices - 1) / running->devices;
    if (least > LEAST_LANES) least = LEAST_LANES;
    if (running->panel < least) running->panel = least;
    running->panel = (running->panel + LANES_TOGETHER - 1) / LANES_TOGETHER * LANES_TOGETHER;
}

static lacis_status share(lacis_simulate_gpu_run *running, lacis_gpu **gpu)
{
    lacis_run *run = running->run;
    double seconds = lacis_simulate_gpu_seconds(running->s, running->way, running->begin, running->end);
    if (seconds < LACIS_SIMULATE_SHARED && !lacis_run_gpus_forced(run)) return LACIS_OK;
    int gpus = lacis_run_gpus(run, seconds >= LACIS_SIMULATE_STARTED || lacis_run_gpus_forced(run), gpu);
    for (int i = 1; i < gpus && i < running->end - running->begin; i++)
        LACIS_TRY(prepare_more(running, gpu[i]));
    return gpus > 1 ? lacis_gpu_enter(run, gpu[0]) : LACIS_OK;
}

lacis_status lacis_simulate_devices(lacis_simulate_gpu_run *running)
{
    char reason[200];
    lacis_run *run = running->run;
    lacis_gpu *gpu[LACIS_GPUS] = {lacis_run_gpu(run, reason, sizeof reason)};
    if (gpu[0] == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    running->device[0].gpu = gpu[0];
    LACIS_TRY(prepare(running, &running->device[0]));
    running->devices = 1;
    LACIS_TRY(share(running, gpu));
    choose_panels(running);
    return LACIS_OK;
}

void lacis_simulate_devices_clear(lacis_simulate_gpu_run *running)
{
    for (int i = 0; i < running->devices; i++)
        lacis_neuron_gpu_tables_free(&running->device[i].job, running->device[i].tables);
}

/* ------------------------------------------------------------------------------------------- panels */

static uint64_t out_bytes(const lacis_simulate_gpu_run *running, int64_t lanes)
{
    return sizeof(double) * (uint64_t)running->trace.stretches * (uint64_t)lanes;
}

static uint64_t panel_bytes(const lacis_simulate_gpu_run *running, const lacis_neuron_gpu_job *job, int64_t first,
                            int64_t lanes)
{
    lacis_neuron_gpu_job panel = *job;
    const uint64_t rounding = 1024; /* of blocks */
    panel.plan.first = first;
    panel.plan.lanes = lanes;
    uint64_t out = out_bytes(running, lanes) * (job->plan.reduce == NEURON_ALL ? 1 : 2);
    return out + rounding + lacis_neuron_gpu_work_bytes(&panel);
}

int64_t lacis_simulate_panel_lanes(void *context, lacis_gpu *gpu, int device, int64_t first, int64_t end)
{
    const lacis_simulate_gpu_run *running = context;
    const lacis_simulate_device *own = &running->device[device];
    uint64_t left = lacis_gpu_memory_left(gpu) / 32 * 31, room = running->single ? own->room : own->room / 2;
    int64_t lanes = end - first < running->panel ? end - first : running->panel;
    if (room > left) room = left;
    while (lanes > 1) {
        uint64_t need = panel_bytes(running, &own->job, first, lanes);
        if (need <= room) break;
        int64_t fewer = (int64_t)(0.95 * (double)lanes * (double)room / (double)need);
        lanes = fewer < lanes ? fewer : lanes - 1;
        if (lanes > LANES_TOGETHER) lanes -= lanes % LANES_TOGETHER;
    }
    return lanes > 1 ? lanes : 1; /* fewer still if that is not enough: the dealer halves */
}

/* Asked by whichever thread computes. */
static bool stopped(void *context, int64_t steps)
{
    lacis_simulate_device *device = context;
    lacis_simulate_gpu_run *running = device->running;
    double before = running->done;
    double more = (double)steps * (double)device->computing;
    while (!atomic_compare_exchange_weak(&running->done, &before, before + more))
        continue;
    if (pthread_equal(running->thread, pthread_self()))
        lacis_run_progress(running->run, "SIMULATE", lacis_simulate_fraction(running));
    return lacis_run_cancelled(running->run);
}

double lacis_simulate_fraction(void *context)
{
    const lacis_simulate_gpu_run *running = context;
    double all = (double)(running->end - running->begin) * (double)running->s->plan.steps + 1;
    double done = running->done / all;
    return done < 1 ? done : 1; /* panels that were begun twice count twice */
}

lacis_status lacis_simulate_panel_compute(void *context, lacis_panel *panel)
{
    lacis_simulate_gpu_run *running = context;
    lacis_simulate_device *device = &running->device[panel->device];
    lacis_simulate_panel *own = panel->own;
    lacis_neuron_gpu_job job = device->job;
    bool reduced = job.plan.reduce != NEURON_ALL;
    own->out = lacis_gpu_alloc(panel->gpu, out_bytes(running, panel->count));
    if (reduced) own->when = lacis_gpu_alloc(panel->gpu, out_bytes(running, panel->count));
    if (own->out == NULL || (reduced && own->when == NULL)) return LACIS_LIMIT;
    job.plan.first = panel->first;
    job.plan.lanes = device->computing = panel->count; /* one panel computes at a time */
    job.plan.out = own->out;
    job.plan.when = own->when;
    job.stop = stopped;
    job.stop_context = device;
    int error = 0;
    switch (lacis_neuron_gpu_run(&job, device->tables, &error)) {
    case LACIS_NEURON_GPU_OK:
        return LACIS_OK;
    case LACIS_NEURON_GPU_NO_MEMORY:
        return LACIS_LIMIT;
    case LACIS_NEURON_GPU_CANCELLED:
        return LACIS_INTERRUPT;
    case LACIS_NEURON_GPU_FAILED:
        return lacis_gpu_broke(panel->gpu, error);
    case LACIS_NEURON_GPU_UNSUPPORTED:
        break;
    }
    return LACIS_MISUSE;
}

void lacis_simulate_panel_drop(void *context, lacis_panel *panel)
{
    (void)context;
    lacis_simulate_panel *own = panel->own;
    lacis_gpu_free(panel->gpu, own->out);
    lacis_gpu_free(panel->gpu, own->when);
    *own = (lacis_simulate_panel){0};
}

#endif
