/* SPDX-License-Identifier: Apache-2.0
 *
 * What there is to know of single sections: length, area, name, and into how many compartments a rule cuts them.
 * Callers: tree.c, operators/sections, operators/compartments, operators/simulate.
 */
#include "neuron/integral.h"

#include <math.h>
#include <stdio.h>

double lacis_neuron_length(const neuron_sections *sections, int64_t section)
{
    return sections->arc[sections->first[section + 1] - 1];
}

void lacis_neuron_measure(const neuron_sections *sections, int64_t section, double *area, double *diameter)
{
    neuron_integral integral;
    lacis_neuron_integral_begin(&integral, sections, section, 1);
    lacis_neuron_integral_next(&integral, 1);
    *area = integral.area;
    *diameter = integral.diameter;
}

void lacis_neuron_name(int32_t type, int32_t number, char *text)
{
    static const char *const known[] = {"", "soma", "axon", "dend", "apic"};
    if (type >= NEURON_SOMA && type <= NEURON_APICAL) {
        snprintf(text, NEURON_NAME_TEXT, "%s[%d]", known[type], number);
    } else if (type < 0) {
        snprintf(text, NEURON_NAME_TEXT, "minus_%lld[%d]", -(long long)type, number);
    } else {
        snprintf(text, NEURON_NAME_TEXT, "dend_%d[%d]", type, number);
    }
}

/* The length constant at `hz` averaged over the section's points: length over the electrotonic length. 0: a stretch
 * of no diameter. */
static double length_constant(const neuron_sections *sections, int64_t section, double hz, double ra, double cm)
{
    double sum = 0;
    for (int64_t i = sections->first[section] + 1; i < sections->first[section + 1]; i++) {
        double d = sections->diameter[i - 1] + sections->diameter[i];
        if (d == 0) return 0;
        sum += (sections->arc[i] - sections->arc[i - 1]) / sqrt(d);
    }
    sum *= sqrt(2) * 1e-5 * sqrt(4 * NEURON_PI * hz * ra * cm);
    return lacis_neuron_length(sections, section) / sum;
}

bool lacis_neuron_cut_section(const neuron_sections *sections, const neuron_cut *cut, int64_t section, double ra,
                              double cm, double *compartments)
{
    double length = lacis_neuron_length(sections, section);
    if (cut->kind == NEURON_CUT_COUNT) {
        *compartments = (double)cut->count;
    } else if (cut->kind == NEURON_CUT_LENGTH) {
        *compartments = 2 * ceil((ceil(length / cut->length) - 1) / 2) + 1;
    } else {
        double lambda = cm == 0 ? 1e10 : length_constant(sections, section, cut->hz, ra, cm);
        if (lambda == 0) return false;
        *compartments = 2 * floor((length / (cut->lambda * lambda) + 0.9) / 2) + 1;
    }
    return *compartments < 1e9;
}

neuron_fault lacis_neuron_cut(const neuron_sections *sections, const neuron_cut *cut, const double *ra,
                              const double *cm, int32_t *nseg)
{
    for (int64_t s = 0; s < sections->count; s++) {
        double count = 0;
        if (!(lacis_neuron_length(sections, s) > 0)) return (neuron_fault){NEURON_LENGTHLESS, s};
        if (!lacis_neuron_cut_section(sections, cut, s, ra[s], cm[s], &count))
            return (neuron_fault){count == 0 ? NEURON_LAMBDA : NEURON_TOO_MANY, s};
        nseg[s] = count < 1 ? 1 : (int32_t)count;
    }
    return (neuron_fault){NEURON_FINE, 0};
}
