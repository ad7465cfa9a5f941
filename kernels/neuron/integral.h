/* SPDX-License-Identifier: Apache-2.0
 *
 * Integrals of diameter, area and axial resistance over stretches of a section, whose diameter is linear between its
 * points. Used inside kernels/neuron.
 */
#ifndef LACIS_KERNELS_NEURON_INTEGRAL_H
#define LACIS_KERNELS_NEURON_INTEGRAL_H

#include "neuron/neuron.h"

#define NEURON_PI 3.14159265358979323846

typedef struct neuron_integral {
    const double *arc, *d; /* of the section's points */
    int64_t points, at;    /* the stretch after point `at` is under way */
    double x, y;           /* how far it got, and the diameter there */
    double step;           /* a compartment's length */
    int64_t done;          /* compartments */
    /* Of the last compartment: */
    double area, diameter; /* um2, mean um */
    double left, right;    /* axial resistance of its halves, megaohm */
} neuron_integral;

void lacis_neuron_integral_begin(neuron_integral *integral, const neuron_sections *sections, int64_t section,
                                 int64_t nseg);
/* The next compartment; ra in ohm cm. */
void lacis_neuron_integral_next(neuron_integral *integral, double ra);

#endif
