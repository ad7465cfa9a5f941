/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for SIMULATE on the GPU: each way through the steps of a cable, passive and with channels, with many
 * lanes and with few, from tables to results on the device. The least of a few rounds counts. Called behind the
 * processor's share in calibrate.c.
 */
#include "simulate/device.h"

#ifdef LACIS_GPU_KERNELS

#include <time.h>

enum {
    NODES = 321,
    ROUNDS = 3,
    MANY = 65536,
    FEW = 64,
    STEPS = 200
}; /* the first round loads kernels and fills the pool */

struct measured {
    lacis_run *run;
    lacis_gpu *gpu;
    double first, least; /* seconds of a run */
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((struct measured *)context)->gpu, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(((struct measured *)context)->gpu, block);
}

/* Several runs of the job. *fits is false where the device has no room or does not do it. */
static lacis_status rounds(struct measured *m, const lacis_neuron_gpu_job *job, bool *fits)
{
    lacis_neuron_gpu_tables *tables = NULL;
    int error = 0;
    lacis_neuron_gpu_status status = lacis_neuron_gpu_tables_new(job, &tables, &error);
    for (int round = 0; status == LACIS_NEURON_GPU_OK && round < ROUNDS && !lacis_run_cancelled(m->run); round++) {
        double start = now();
        status = lacis_neuron_gpu_run(job, tables, &error);
        double seconds = now() - start;
        if (round == 0) m->first = seconds;
        if (round <= 1 || seconds < m->least) m->least = seconds;
    }
    lacis_neuron_gpu_tables_free(job, tables);
    *fits = status == LACIS_NEURON_GPU_OK;
    if (lacis_run_cancelled(m->run)) return lacis_run_interrupted(m->run);
    return status == LACIS_NEURON_GPU_FAILED ? lacis_gpu_failed(m->run, m->gpu, error) : LACIS_OK;
}

static lacis_status measure(struct measured *m, lacis_neuron_gpu_way way, const neuron_plan *plan, bool *fits)
{
    lacis_neuron_gpu_job job = {.plan = *plan, .way = way, .stream = lacis_gpu_stream(m->gpu)};
    job.memory = (lacis_neuron_gpu_memory){device_alloc, device_free, m};
    *fits = false;
    if (lacis_neuron_gpu_refuses(&job) != NULL) return LACIS_OK;
    uint64_t bytes = sizeof(double) * (uint64_t)plan->lanes;
    job.plan.out = lacis_gpu_alloc(m->gpu, bytes);
    job.plan.when = lacis_gpu_alloc(m->gpu, bytes);
    lacis_status status = LACIS_OK;
    if (job.plan.out != NULL && job.plan.when != NULL) status = rounds(m, &job, fits);
    lacis_gpu_free(m->gpu, job.plan.out);
    lacis_gpu_free(m->gpu, job.plan.when);
    return status;
}

/* A cable: every node hangs on the one before; or a tree that forks everywhere. */
static void shape_tree(neuron_shape *shape, bool cable)
{
    int32_t *parent = (int32_t *)(uintptr_t)shape->parent, *chain = (int32_t *)(uintptr_t)shape->chain;
    for (int32_t k = 1; k < NODES; k++)
        parent[k] = cable ? k - 1 : (k - 1) / 2;
    shape->chains = lacis_neuron_chains(parent, NODES, chain);
}

static lacis_status measure_way(struct measured *m, lacis_profile *profile, lacis_neuron_gpu_way way,
                                neuron_plan *plan, neuron_shape *shape)
{
    const double loaded_before = 1e-2;
    for (int few = 0; few < 2; few++) {
        bool fits;
        shape->lanes = plan->lanes = few ? FEW : MANY;
        shape_tree(shape, few);
        LACIS_TRY(measure(m, way, plan, &fits));
        if (!fits) continue;
        double ns = 1e9 * m->least / ((double)plan->steps * lacis_simulate_units(plan, way, few, NODES));
        LACIS_TRY(lacis_profile_set(profile, lacis_simulate_figure(way, plan->hh, few), ns));
        if (m->first - m->least > loaded_before)
            LACIS_TRY(lacis_profile_set(profile, LACIS_SIMULATE_LOAD_FIGURE, m->first - m->least));
    }
    return LACIS_OK;
}

lacis_status lacis_simulate_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    char reason[200];
    neuron_shape shape;
    struct measured m = {.run = run, .gpu = lacis_run_gpu(run, reason, sizeof reason)};
    const neuron_probe probe = {0, NODES / 2, 0};
    if (m.gpu == NULL) return LACIS_OK;
    LACIS_TRY(lacis_simulate_sample(run, NODES, &shape));
    for (int way = 0; way < LACIS_NEURON_GPU_WAYS; way++) {
        for (int hh = 0; hh < 2; hh++) {
            neuron_plan plan = lacis_simulate_sample_plan(&shape, hh);
            plan.steps = hh ? STEPS / 2 : STEPS;
            plan.every = plan.steps / 4;
            plan.reduce = NEURON_MAX;
            plan.probe = &probe;
            plan.probes = plan.numbers = 1;
            LACIS_TRY(measure_way(&m, profile, (lacis_neuron_gpu_way)way, &plan, &shape));
        }
    }
    return LACIS_OK;
}

#else

lacis_status lacis_simulate_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    (void)run, (void)profile;
    return LACIS_OK;
}

#endif
