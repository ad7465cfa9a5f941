/* SPDX-License-Identifier: Apache-2.0
 *
 * Area and axial resistance of compartments from the points of a section. Callers: measure.c, tree.c.
 *
 * Between points the diameter is linear: area is that of frusta, resistance that of cones (4 ra dx / (pi d1 d2)),
 * each half of a compartment on its own because nodes sit in the middle. Where a diameter is 0 the resistance of the
 * stretch is huge but finite, as in NEURON. The order of operations keeps results equal to NEURON's to rounding.
 */
#include "neuron/integral.h"

#include <math.h>

void lacis_neuron_integral_begin(neuron_integral *integral, const neuron_sections *sections, int64_t section,
                                 int64_t nseg)
{
    int64_t first = sections->first[section];
    *integral = (neuron_integral){.arc = sections->arc + first,
                                  .d = sections->diameter + first,
                                  .points = sections->first[section + 1] - first};
    integral->y = integral->d[0];
    integral->step = integral->arc[integral->points - 1] / (double)nseg;
}

/* Sums of a half, before their factors. */
struct sums {
    double diameter, area, resistance;
};

static void stretch(neuron_integral *integral, double x, double y, struct sums *sums)
{
    double length = x - integral->x, taper = 0.5 * (y - integral->y);
    sums->diameter += (y + integral->y) * length;
    if (length < 1e-15) length = 1e-15;
    double conductance = y * integral->y / length;
    sums->resistance += 1 / (conductance == 0 ? 1e-15 : conductance);
    sums->area += (y + integral->y) * sqrt(length * length + taper * taper);
    integral->x = x;
    integral->y = y;
}

static void half(neuron_integral *integral, double end, struct sums *sums)
{
    for (;;) {
        int64_t next = integral->at + 1;
        double here = integral->arc[integral->at], there = integral->arc[next];
        if (there > end || next == integral->points - 1) {
            double part = fabs(there - here) < 1e-10 ? 1 : (end - here) / (there - here);
            stretch(integral, end, (1 - part) * integral->d[integral->at] + part * integral->d[next], sums);
            return;
        }
        stretch(integral, there, integral->d[next], sums);
        integral->at = next;
    }
}

void lacis_neuron_integral_next(neuron_integral *integral, double ra)
{
    struct sums sums = {0, 0, 0};
    double from = (double)integral->done++ * integral->step;
    double middle = from + integral->step / 2, end = middle + integral->step / 2;
    half(integral, middle, &sums);
    integral->left = sums.resistance * ra / NEURON_PI * (4. * .01);
    sums.resistance = 0;
    half(integral, end, &sums);
    integral->right = sums.resistance * ra / NEURON_PI * (4. * .01);
    integral->diameter = sums.diameter * (.5 / integral->step);
    integral->area = sums.area * .5 * NEURON_PI;
}
