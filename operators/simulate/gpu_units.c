/* SPDX-License-Identifier: Apache-2.0
 *
 * How much work a step is on a GPU, by each way of kernels/neuron/gpu.h, in units whose time is measured by
 * CALIBRATE. Called for costs.
 */
#include "simulate/device.h"

#ifdef LACIS_GPU_KERNELS

#include <math.h>

/* ------------------------------------------------------------------------------------------- POWER */

/* As kernels/neuron/gpu_power.h cuts steps into products: blocks of whole samples, of half of them, a quarter ..
 * before a clamp begins or ends to flow, and powers of two where no sample fits. */
enum { BLOCK_STEPS = 64, LARGEST_EVERY = 1024, LARGEST_POWER = 256 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t block_of(const neuron_plan *plan)
{
    int64_t every = plan->every;
    if (every > LARGEST_EVERY || every > plan->steps) return 0;
    int64_t samples = least((BLOCK_STEPS + every - 1) / every, plan->steps / every);
    return samples * every;
}

/* Products of powers of two that make so many steps. */
static int64_t powers_in(int64_t steps)
{
    return steps / LARGEST_POWER + __builtin_popcountll((unsigned long long)(steps % LARGEST_POWER));
}

/* Products for steps [from, to), in which nothing begins or ends. */
static int64_t products_between(const neuron_plan *plan, int64_t from, int64_t to)
{
    int64_t every = plan->every, products = 0;
    if (from % every != 0) {
        int64_t some = least(every - from % every, to - from);
        products += powers_in(some);
        from += some;
    }
    for (int64_t samples = block_of(plan) / every; samples > 0; samples /= 2) {
        products += (to - from) / (samples * every);
        from += (to - from) / (samples * every) * samples * every;
    }
    return products + (to - from) / every * powers_in(every) + powers_in((to - from) % every);
}

/* The first step whose middle is at t or later. */
static int64_t step_at(const neuron_plan *plan, double t)
{
    double step = ceil(t / plan->dt - 0.5);
    return step <= 0 ? 0 : step >= (double)plan->steps ? plan->steps : (int64_t)step;
}

static int64_t next_turn(const neuron_plan *plan, int64_t step)
{
    int64_t next = plan->steps;
    for (int64_t c = 0; c < plan->clamps; c++) {
        int64_t from = step_at(plan, plan->clamp[c].from), to = step_at(plan, plan->clamp[c].to);
        if (from > step && from < next) next = from;
        if (to > step && to < next) next = to;
    }
    return next;
}

/* Of the whole run; clamps beyond the first some turn so often that each step is taken for one. */
static int64_t products_of(const neuron_plan *plan)
{
    const int64_t many = 1000;
    int64_t products = 0, turns = 0;
    for (int64_t step = 0; step < plan->steps; turns++) {
        int64_t next = turns < many ? next_turn(plan, step) : plan->steps;
        products += turns < many ? products_between(plan, step, next) : next - step;
        step = next;
    }
    return products;
}

/* One after another: levels, blocks' powers and their samples' rows, each from what is there. */
double lacis_simulate_table_products(const neuron_plan *plan)
{
    const double levels = 9, blocks = 14, rows = 7;
    return levels + (block_of(plan) > 0 ? blocks + rows : 0);
}

/* -------------------------------------------------------------------------------------------- units */

double lacis_simulate_units(const neuron_plan *plan, lacis_neuron_gpu_way way, bool few, int64_t depth)
{
    const double groups = 4; /* of threads at work on the subtrees of a lane, on average */
    bool power = way == LACIS_NEURON_GPU_POWER;
    double sum = 0, most = 0, products = power ? (double)products_of(plan) / ((double)plan->steps + 1e-9) : 0;
    for (int64_t i = 0; i < plan->shapes; i++) {
        double nodes = (double)plan->shape[i].nodes;
        sum += nodes * (power ? nodes : 1) * (double)plan->shape[i].lanes;
        if (nodes > most) most = nodes;
    }
    if (power) return few ? products : sum * products;
    if (way == LACIS_NEURON_GPU_CHIP && few) return (double)depth + most / groups;
    return few ? most : sum;
}

#endif
