/* SPDX-License-Identifier: Apache-2.0
 *
 * Points of sections, rounded as NEURON 8 rounds them: samples are read in single precision, and pass through text of
 * eight significant digits ("%.8g") into single precision again; arc lengths are double sums of the distances of
 * these. Called by sections.c.
 */
#include "neuron/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A call of its own: a conversion to single precision and back is a rounding, and must not be folded away. */
__attribute__((noinline)) static double single(double value)
{
    const float narrow = (float)value;
    return (double)narrow;
}

static double as_read(const neuron_samples *samples, double value)
{
    return samples->exact ? value : single(value);
}

neuron_point lacis_neuron_point_of(const neuron_samples *samples, int64_t sample)
{
    return (neuron_point){as_read(samples, samples->x[sample]), as_read(samples, samples->y[sample]),
                          as_read(samples, samples->z[sample]), 2 * as_read(samples, samples->radius[sample])};
}

static double through_text(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.8g", value);
    return single(strtod(text, NULL));
}

/* Without text where that is certain: scaled to eight digits the number is clearly nearer to one integer, and that
 * integer over an exact power of ten is what strtod gives. */
double lacis_neuron_rounded(double value)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11};
    double size = fabs(value), bound = 1e7;
    int digits = 1;
    if (size == 0) return value;
    if (size < 1e-3 || size >= bound) return through_text(value);
    while (size < bound / 10) {
        bound /= 10;
        digits++;
    }
    double scaled = size * power[digits], whole = rint(scaled);
    bool sure = fabs(fabs(scaled - whole) - 0.5) > 1e-6 && scaled > 1.0000001e7 && scaled < 9.9999999e7;
    return sure ? single(copysign(whole / power[digits], value)) : through_text(value);
}

/* Distances along an axis are rounded as well. */
static double apart(const neuron_pen *pen, double here, double there)
{
    return pen->exact ? here - there : single(here - there);
}

static void put(neuron_pen *pen, double along, const neuron_point *point)
{
    neuron_sections *out = pen->out;
    int64_t at = out->points++;
    double x = pen->exact ? along : lacis_neuron_rounded(along);
    double y = pen->exact ? point->y : lacis_neuron_rounded(point->y);
    double z = pen->exact ? point->z : lacis_neuron_rounded(point->z);
    double dx = apart(pen, x, pen->x), dy = apart(pen, y, pen->y), dz = apart(pen, z, pen->z);
    out->arc[at] = at == pen->first ? 0 : out->arc[at - 1] + sqrt(dx * dx + dy * dy + dz * dz);
    out->diameter[at] = pen->exact ? point->d : lacis_neuron_rounded(point->d);
    pen->x = x;
    pen->y = y;
    pen->z = z;
}

void lacis_neuron_pen_point(neuron_pen *pen, neuron_point point)
{
    put(pen, point.x, &point);
}

void lacis_neuron_pen_sphere(neuron_pen *pen, neuron_point centre)
{
    put(pen, centre.x - centre.d / 2, &centre);
    put(pen, centre.x, &centre);
    put(pen, centre.x + centre.d / 2, &centre);
}
