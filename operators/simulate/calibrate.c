/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for SIMULATE: nanoseconds a compartment and step of a cable made here, passive and with channels, one
 * lane and some. The least of a few rounds counts: whatever else runs only makes them longer. Called through
 * SIMULATE's descriptor.
 */
#include "simulate/simulate.h"

#include <string.h>
#include <time.h>

enum { NODES = 321, LANES = 64, ROUNDS = 3, FIGURES = 9 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

lacis_status lacis_simulate_sample(lacis_run *run, int64_t nodes, neuron_shape *shape)
{
    static const double value[FIGURES] = {-0.5, -0.5, 60, 1, 1e-4, -65, 0.12, 0.036, 3e-4};
    const double **to[FIGURES] = {&shape->a, &shape->b,   &shape->area, &shape->cm, &shape->g,
                                  &shape->e, &shape->gna, &shape->gk,   &shape->gl};
    double *memory;
    int32_t *parent;
    LACIS_TRY(lacis_run_scratch(run, FIGURES * (uint64_t)nodes * sizeof *memory, &memory));
    LACIS_TRY(lacis_run_scratch(run, (2 * (uint64_t)nodes + 1) * sizeof *parent, &parent));
    *shape = (neuron_shape){.nodes = nodes, .parent = parent, .chain = parent + nodes};
    for (int i = 0; i < FIGURES; i++, memory += nodes) {
        *to[i] = memory;
        for (int64_t k = 0; k < nodes; k++)
            memory[k] = value[i];
    }
    shape->el = shape->e;
    for (int64_t k = 0; k < nodes; k++)
        parent[k] = (int32_t)(k - 1);
    shape->chains = lacis_neuron_chains(parent, nodes, parent + nodes);
    return LACIS_OK;
}

neuron_plan lacis_simulate_sample_plan(const neuron_shape *shape, bool hh)
{
    return (neuron_plan){.shape = shape,
                         .shapes = 1,
                         .lanes = shape->lanes,
                         .hh = hh,
                         .dt = 0.025,
                         .v = -65,
                         .ena = 50,
                         .ek = -77,
                         .rate = 1};
}

static lacis_status measure(lacis_run *run, const neuron_plan *plan, void *memory, double *least)
{
    neuron_block block[LANES];
    char *workspace = (char *)memory + (lacis_neuron_shared_bytes(plan) + 63) / 64 * 64;
    int64_t blocks = lacis_neuron_blocks(plan, block);
    lacis_neuron_share(plan, memory);
    for (int round = 0; round < ROUNDS; round++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        double since = now();
        for (int64_t i = 0; i < blocks; i++)
            lacis_neuron_run(plan, &block[i], memory, workspace, NULL, NULL);
        double ns = 1e9 * (now() - since) / ((double)plan->steps * NODES * (double)plan->lanes);
        if (round == 0 || ns < *least) *least = ns;
    }
    return LACIS_OK;
}

static lacis_status measure_one(lacis_run *run, lacis_profile *profile, neuron_plan *plan, const char *name)
{
    void *memory;
    double ns = 0;
    LACIS_TRY(lacis_run_alloc(run, lacis_neuron_shared_bytes(plan) + 64 + lacis_neuron_workspace(plan), &memory));
    lacis_status status = measure(run, plan, memory, &ns);
    lacis_run_free(run, memory);
    return status == LACIS_OK ? lacis_profile_set(profile, name, ns) : status;
}

lacis_status lacis_simulate_calibrate(lacis_run *run, lacis_profile *profile)
{
    neuron_shape shape;
    LACIS_TRY(lacis_simulate_sample(run, NODES, &shape));
    for (int kind = 0; kind < 4; kind++) {
        static const char *const name[] = {"simulate.passive_1", "simulate.passive", "simulate.hh_1", "simulate.hh"};
        bool many = kind % 2 == 1, hh = kind >= 2;
        shape.lanes = many ? LANES : 1;
        neuron_plan plan = lacis_simulate_sample_plan(&shape, hh);
        plan.steps = (many ? 400 : 4000) / (hh ? 4 : 1);
        plan.every = plan.steps;
        LACIS_TRY(measure_one(run, profile, &plan, name[kind]));
    }
    return lacis_simulate_gpu_calibrate(run, profile);
}
