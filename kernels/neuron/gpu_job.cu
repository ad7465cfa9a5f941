/* SPDX-License-Identifier: Apache-2.0
 *
 * What a job is and which ways take it. Callers: operators/simulate, gpu_run.cu, gpu_tables.cu.
 */
#include "gpu_state.h"

#include <stdlib.h>

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

static int64_t most_nodes(const neuron_plan *plan)
{
    int64_t most = 0;
    for (int64_t s = 0; s < plan->shapes; s++)
        if (plan->shape[s].nodes > most) most = plan->shape[s].nodes;
    return most;
}

/* No less than neug_chip_bytes will say: phases and events are bounded. */
static size_t most_bytes(const neuron_plan *plan, int model, int lanes, int groups)
{
    neug_shape largest = {};
    largest.nodes = (int32_t)most_nodes(plan);
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
    int lanes = model == NEUG_CONSTANT ? 32 : 16, groups = NEUG_CHIP_THREADS / lanes;
    while (lanes > 1 && (most_bytes(plan, model, lanes, groups) > shared_most ||
                         (lanes_there + lanes - 1) / lanes < MULTIPROCESSORS)) {
        lanes /= 2;
        groups *= 2;
    }
    out->lanes = lanes;
    out->groups = groups;
    return most_bytes(plan, model, lanes, groups) <= shared_most;
}

int32_t *neug_count_clamps(const neuron_plan *plan)
{
    int32_t *counts = (int32_t *)calloc((size_t)plan->shapes + 1, sizeof *counts);
    for (int64_t c = 0; counts != NULL && c < plan->clamps; c++)
        counts[plan->clamp[c].shape]++;
    return counts;
}

/* Rows of the largest matrix. */
static int64_t widest(const neuron_plan *plan)
{
    int32_t *clamps = neug_count_clamps(plan);
    int64_t most = 0;
    for (int64_t s = 0; s < plan->shapes; s++) {
        const int64_t wide = neug_power_wide(plan->shape[s].nodes, neug_clamps_at(plan, clamps, s));
        if (wide > most) most = wide;
    }
    free(clamps);
    return most;
}

static const char *refuses_power(const neuron_plan *plan)
{
    if (neug_model(plan) != NEUG_CONSTANT) return "the matrix is not one for all steps and lanes";
    return widest(plan) > NEUG_POWER_MOST ? "a tree is too large for its matrix" : NULL;
}

const char *lacis_neuron_gpu_refuses(const lacis_neuron_gpu_job *job)
{
    neug_launch fit = {};
    if (job->way == LACIS_NEURON_GPU_POWER) return refuses_power(&job->plan);
    if (job->way == LACIS_NEURON_GPU_CHIP &&
        (most_nodes(&job->plan) > NEUG_ROW_MASK || !neug_chip_fit(job, SHARED_HOPPER, &fit)))
        return "a tree is too large for shared memory";
    return NULL;
}

/* Clamps, those with the times of the one before left out: of a batch all cells' are likely the same. */
static int64_t clamps_apart(const neuron_plan *plan)
{
    int64_t count = 0;
    for (int64_t c = 0; c < plan->clamps; c++) {
        const neuron_clamp *now = &plan->clamp[c], *before = &plan->clamp[c == 0 ? 0 : c - 1];
        count += c == 0 || now->from != before->from || now->to != before->to;
    }
    return count;
}

/* Whether products pay: each takes as long for a row and lane as `wide` multiplications on tensor cores, some 40 fs
 * each, and a step of CHIP 5 ps. Clamps that begin or end cut blocks of steps into powers of two. */
static bool power_pays(const lacis_neuron_gpu_job *job)
{
    const neuron_plan *plan = &job->plan;
    const neug_power_cut cut = neug_power_cut_of(plan, job->most_steps);
    const int64_t each = cut.steps > 0 ? cut.steps : (int64_t)1 << (cut.levels - 1);
    const int64_t rest = 2 * cut.levels + (cut.steps > 0 ? NEUG_POWER_BLOCKS : 0);
    const int64_t products = plan->steps / each + (2 * clamps_apart(plan) + 1) * rest;
    return products * widest(plan) < 120 * plan->steps;
}

/* CHIP where blocks have lanes enough for whole lines of memory, or lanes are few. */
lacis_neuron_gpu_way lacis_neuron_gpu_choose(const lacis_neuron_gpu_job *job, bool same_bits)
{
    lacis_neuron_gpu_job as = *job;
    neug_launch fit = {};
    as.way = LACIS_NEURON_GPU_POWER;
    if (!same_bits && lacis_neuron_gpu_refuses(&as) == NULL && power_pays(job)) return LACIS_NEURON_GPU_POWER;
    as.way = LACIS_NEURON_GPU_CHIP;
    if (lacis_neuron_gpu_refuses(&as) != NULL || !neug_chip_fit(job, SHARED_HOPPER, &fit))
        return LACIS_NEURON_GPU_THREAD;
    const bool few = all_lanes(&job->plan) <= (int64_t)fit.lanes * MULTIPROCESSORS;
    return few || fit.lanes >= 8 ? LACIS_NEURON_GPU_CHIP : LACIS_NEURON_GPU_THREAD;
}
