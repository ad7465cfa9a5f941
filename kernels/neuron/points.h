/* SPDX-License-Identifier: Apache-2.0
 *
 * Points of sections as they are written one behind the other. Used by kernels/neuron/sections.c.
 */
#ifndef LACIS_KERNELS_NEURON_POINTS_H
#define LACIS_KERNELS_NEURON_POINTS_H

#include "neuron/neuron.h"

typedef struct neuron_point {
    double x, y, z, d; /* d: diameter; rounded already as samples are when they are read */
} neuron_point;

/* Where the last point of a section was. */
typedef struct neuron_pen {
    neuron_sections *out;
    int64_t first; /* the section's first point */
    bool exact;
    double x, y, z;
} neuron_pen;

neuron_point lacis_neuron_point_of(const neuron_samples *samples, int64_t sample);
void lacis_neuron_pen_point(neuron_pen *pen, neuron_point point);
/* A single sample is a sphere: a cylinder as long as it is wide, along x, of three points. */
void lacis_neuron_pen_sphere(neuron_pen *pen, neuron_point centre);
/* The number as eight significant decimal digits have it, in single precision. */
double lacis_neuron_rounded(double value);

#endif
