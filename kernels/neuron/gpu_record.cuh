/* SPDX-License-Identifier: Apache-2.0
 *
 * What probes keep of one lane's voltages, as record.c does on the CPU, and what a lane has of its own. Used inside
 * kernels/neuron.
 */
#ifndef LACIS_KERNELS_NEURON_GPU_RECORD_CUH
#define LACIS_KERNELS_NEURON_GPU_RECORD_CUH

#include "gpu_math.cuh"

NEUG_DEVICE double neug_figure(const neug_params &p, int figure, int64_t lane, double otherwise)
{
    return p.column[figure] == NULL ? otherwise : p.column[figure][lane];
}

template <int MODEL, bool BY_LANE> NEUG_DEVICE neug_lane neug_lane_of(const neug_params &p, int64_t lane)
{
    neug_lane out = {1, 1, {1, 1, 1}, 1, p.ena, p.ek};
    if constexpr (MODEL == NEUG_CONSTANT) {
        if (BY_LANE) out.ge = neug_figure(p, NEURON_E, lane, 1);
        return out;
    }
    if constexpr (BY_LANE) {
        out.keep = neug_figure(p, NEURON_CM, lane, 1);
        out.couple = 1 / neug_figure(p, NEURON_RA, lane, 1);
        if constexpr (MODEL == NEUG_PASSIVE) {
            out.g[0] = neug_figure(p, NEURON_G, lane, 1);
            out.ge = out.g[0] * neug_figure(p, NEURON_E, lane, 1);
        } else {
            out.g[0] = neug_figure(p, NEURON_GNA, lane, 1);
            out.g[1] = neug_figure(p, NEURON_GK, lane, 1);
            out.g[2] = neug_figure(p, NEURON_GL, lane, 1);
            out.ge = out.g[2] * neug_figure(p, NEURON_EL, lane, 1);
        }
    }
    if constexpr (MODEL == NEUG_CHANNELS) {
        out.ena = neug_figure(p, NEURON_ENA, lane, p.ena);
        out.ek = neug_figure(p, NEURON_EK, lane, p.ek);
    }
    return out;
}

/* What a clamp adds in a step. */
NEUG_DEVICE double neug_current(const neug_params &p, const neug_clamp &clamp, int64_t lane, int64_t step)
{
    const bool flows = step >= clamp.from && step < clamp.to;
    return flows ? neug_figure(p, NEURON_AMPLITUDE, lane, clamp.amplitude) * clamp.factor : 0.0;
}

/* As record.c: counts are kept as -(count + 1) while v is at or above the threshold. */
NEUG_DEVICE void neug_count_spike(double v, double threshold, double t, int64_t sample, double *out, double *when)
{
    const bool above = v >= threshold, was = sample > 0 && *out < 0;
    if (sample == 0) {
        *out = above ? -1.0 : 0.0;
        *when = __longlong_as_double(0x7ff8000000000000ll);
    } else if (above && !was) {
        if (isnan(*when)) *when = t;
        *out = -(*out + 1.0) - 1.0;
    } else if (!above && was) {
        *out = -*out - 1.0;
    }
}

NEUG_DEVICE void neug_record(const neug_params &p, int32_t number, int64_t lane, double v, int64_t sample)
{
    if (p.reduce == NEURON_ALL) {
        p.out[(sample * p.numbers + number) * p.lanes + lane] = v;
        return;
    }
    double *out = p.out + number * p.lanes + lane, *when = p.when + number * p.lanes + lane;
    const double t = (double)(sample * p.every) * p.dt;
    if (p.reduce == NEURON_SPIKES) {
        neug_count_spike(v, p.threshold, t, sample, out, when);
        if (sample == p.last_sample && *out < 0) *out = -*out - 1.0;
    } else if (p.reduce == NEURON_MEAN) {
        *out = sample == 0 ? v : *out + (v - *out) / (double)(sample + 1);
        *when = t;
    } else if (sample == 0 || (p.reduce == NEURON_MAX ? v > *out : v < *out)) {
        *out = v;
        *when = t;
    }
}

#endif
