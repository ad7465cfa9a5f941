/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job is and which ways take it. Callers: operators/simulate, gpu_run.cu, gpu_tables.cu.
 */
#include "gpu_state.h"
#include <stdlib.h>
#include <stdio.h>

const char *const lacis_neuron_gpu_way_name[LACIS_NEURON_GPU_WAYS] = {"thread", "chip", "power"};

enum { SHARED_HOPPER = 227 << 10, MULTIPROCESSORS = 132 };

static bool any_column(const neuron_plan *plan, const neuron_figure *figure, int figures)
{
    for (int i = 0; i < figures; i++)
        if (plan->column[figure[i]] != NULL) return true;
    return false;
}

int neug_model(const neuron_plan *plan)
{
    static const neuron_figure matrix[] = {NEURON_CM, NEURON_RA, NEURON_G};
    if (plan->hh) return NEUG_CHANNELS;
    return any_column(plan, matrix, 3) ? NEUG_PASSIVE : NEUG_CONSTANT;
}

bool neug_by_lane(const neuron_plan *plan)
{
    static const neuron_figure channels[] = {NEURON_CM, NEURON_RA, NEURON_GNA, NEURON_GK, NEURON_GL, NEURON_EL};
    const int model = neug_model(plan);
    if (model == NEUG_CHANNELS) return any_column(plan, channels, 6);
    return model == NEUG_PASSIVE || plan->column[NEURON_E] != NULL;
}

/* No less than neug_chip_bytes will say: phases and events are bounded. */
static size_t most_bytes(const neuron_plan *plan, int model, int lanes, int groups)
{
    neug_shape largest = {};
    for (int64_t s = 0; s < plan->shapes; s++)
        if (plan->shape[s].nodes > largest.nodes) largest.nodes = (int32_t)plan->shape[s].nodes;
    largest.phases = NEUG_PHASES;
    largest.events = largest.nodes + (int32_t)plan->clamps;
    return neug_chip_bytes(model, plan->method != NEURON_EULER, &largest, lanes, groups);
}

static int64_t all_lanes(const neuron_plan *plan)
{
    int64_t sum = 0;
    for (int64_t s = 0; s < plan->shapes; s++)
        sum += plan->shape[s].lanes;
    return sum;
}

bool neug_chip_fit(const lacis_neuron_gpu_job *job, size_t shared_most, neug_launch *out)
{
    const neuron_plan *plan = &job->plan;
    const int model = neug_model(plan);
    const int64_t lanes_there = all_lanes(plan);
    int lanes = model == NEUG_CONSTANT ? 32 : 16, groups = 16;
    while (lanes > 1 && (most_bytes(plan, model, lanes, groups) > shared_most ||
                         (lanes_there + lanes - 1) / lanes < MULTIPROCESSORS)) {
        lanes /= 2;
        if (groups * lanes < 256) groups *= 2;
    }
#ifdef NEUG_TUNE
    if (getenv("NEUG_CHIP")) sscanf(getenv("NEUG_CHIP"), "%d,%d", &lanes, &groups);
#endif
    out->lanes = lanes;
    out->groups = groups;
    return most_bytes(plan, model, lanes, groups) <= shared_most;
}

static const char *refuses_power(const neuron_plan *plan)
{
    if (neug_model(plan) != NEUG_CONSTANT) return "the matrix is not one for all steps and lanes";
    for (int64_t s = 0; s < plan->shapes; s++)
        if (neug_power_wide(plan->shape[s].nodes, plan->clamps) > NEUG_POWER_MOST)
            return "a tree is too large for its matrix";
    return NULL;
}

const char *lacis_neuron_gpu_refuses(const lacis_neuron_gpu_job *job)
{
    neug_launch fit = {};
    for (int64_t s = 0; s < job->plan.shapes; s++)
        if (job->plan.shape[s].nodes > NEUG_ROW_MASK && job->way == LACIS_NEURON_GPU_CHIP)
            return "a tree is too large for shared memory";
    if (job->way == LACIS_NEURON_GPU_POWER) return refuses_power(&job->plan);
    if (job->way == LACIS_NEURON_GPU_CHIP && !neug_chip_fit(job, SHARED_HOPPER, &fit))
        return "a tree is too large for shared memory";
    return NULL;
}

lacis_neuron_gpu_way lacis_neuron_gpu_choose(const lacis_neuron_gpu_job *job, bool same_bits)
{
    lacis_neuron_gpu_job as = *job;
    (void)same_bits;
    as.way = LACIS_NEURON_GPU_CHIP;
    return lacis_neuron_gpu_refuses(&as) == NULL ? LACIS_NEURON_GPU_CHIP : LACIS_NEURON_GPU_THREAD;
}
