/* SPDX-License-Identifier: Apache-2.0
 *
 * What probes keep of the voltages: samples, or one figure a lane. Called by simulate.c after every `every` steps.
 */
#include "neuron/inside.h"

#include <math.h>

int64_t lacis_neuron_samples(const neuron_plan *plan)
{
    return plan->steps / plan->every + 1;
}

/* `when` holds NaN until there was a spike; whether v is below the threshold now is told by the sign of `out` being
 * negative zero or below: counts are kept as -(count + 1) while v is at or above it. */
static void count_spike(double v, double threshold, double t, int64_t sample, double *out, double *when)
{
    bool above = v >= threshold, was = *out < 0;
    if (sample == 0) {
        *out = above ? -1 : 0;
        *when = NAN;
    } else if (above && !was) {
        if (isnan(*when)) *when = t;
        *out = -(*out + 1) - 1;
    } else if (!above && was) {
        *out = -*out - 1;
    }
}

static void reduce(const neuron_plan *plan, double v, int64_t sample, double *out, double *when)
{
    double t = (double)(sample * plan->every) * plan->dt;
    if (plan->reduce == NEURON_SPIKES) {
        count_spike(v, plan->threshold, t, sample, out, when);
    } else if (plan->reduce == NEURON_MEAN) {
        *out = sample == 0 ? v : *out + (v - *out) / (double)(sample + 1);
        *when = t;
    } else if (sample == 0 || (plan->reduce == NEURON_MAX ? v > *out : v < *out)) {
        *out = v;
        *when = t;
    }
}

static void finish(const neuron_plan *plan, double *out)
{
    if (plan->reduce == NEURON_SPIKES && *out < 0) *out = -*out - 1;
}

void lacis_neuron_record(const neuron_plan *plan, const neuron_block *block, const neuron_state *state, int64_t width,
                         int64_t step)
{
    int64_t sample = step / plan->every;
    bool last = step + plan->every > plan->steps;
    for (int64_t i = 0; i < plan->probes; i++) {
        const neuron_probe *probe = &plan->probe[i];
        if (probe->shape != block->shape) continue;
        const double *v = state->v + probe->node * width;
        bool all = plan->reduce == NEURON_ALL;
        int64_t row = all ? sample * plan->numbers + probe->number : probe->number;
        int64_t at = row * plan->lanes + block->lane - plan->first;
        for (int32_t lane = 0; lane < block->lanes; lane++) {
            if (all) {
                plan->out[at + lane] = v[lane];
            } else {
                reduce(plan, v[lane], sample, &plan->out[at + lane], &plan->when[at + lane]);
                if (last) finish(plan, &plan->out[at + lane]);
            }
        }
    }
}
