/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours that people with colour-blindness tell apart as well, since lightness carries them: figured out in OKLCH
 * (B. Ottosson, A perceptual color space for image processing, 2020), whose lightness is even to the eye.
 */
#include "plot.h"

#include <math.h>

static const double turn = 6.283185307179586 / 360;

static unsigned channel(double linear)
{
    double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return (unsigned)(fmin(fmax(value, 0), 1) * 255 + 0.5);
}

static uint32_t from_oklch(double lightness, double chroma, double hue)
{
    double a = chroma * cos(hue * turn), b = chroma * sin(hue * turn);
    double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
    unsigned red = channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    unsigned green = channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    unsigned blue = channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
    return red << 16 | green << 8 | blue;
}

uint32_t plot_shade(double part)
{
    part = fmin(fmax(part, 0), 1);
    double chroma = 0.088 + 0.2 * (part - 0.4) * (part - 0.4); /* as a screen can show at every lightness */
    return from_oklch(0.24 + 0.68 * part, chroma, 295 - 190 * part);
}

unsigned plot_shade_of_256(double part)
{
    /* Dark blue, blue, cyan, green, yellow; from where on, by their lightness. Greys that are nearer are left out. */
    static const struct {
        double from;
        unsigned colour;
    } shade[] = {{0, 17},     {0.016, 18},  {0.105, 19},  {0.235, 24},  {0.40, 30},  {0.555, 36},
                 {0.722, 78}, {0.823, 114}, {0.853, 150}, {0.892, 186}, {0.936, 221}};
    unsigned found = shade[0].colour;
    for (size_t i = 0; i < sizeof shade / sizeof shade[0] && part >= shade[i].from; i++)
        found = shade[i].colour;
    return found;
}

/* Lightness, chroma, hue. Of any two of the eight the distance in CIE Lab is 15 at least, for people without red,
 * green or blue cones (Machado, Oliveira and Fernandes 2009) as well, of the first five 22 on white and 17 on black;
 * and for who sees no colour it is 5 (tests/repl/colours.py). */
typedef double oklch[3];

static const oklch on_white[PLOT_SERIES] = {{0.520, 0.130, 250},    {0.745, 0.170, 159.270}, {0.302, 0.072, 108.198},
                                            {0.659, 0.170, 49.298}, {0.434, 0.170, 352.319}, {0.718, 0.130, 306.080},
                                            {0.591, 0.060, 4.599},  {0.455, 0.121, 134.392}};

static const oklch on_black[PLOT_SERIES] = {{0.630, 0.130, 250},     {0.841, 0.170, 102.444}, {0.751, 0.132, 44.604},
                                            {0.560, 0.170, 350.648}, {0.799, 0.081, 317.017}, {0.675, 0.060, 157.992},
                                            {0.870, 0.166, 171.118}, {0.590, 0.071, 39.444}};

uint32_t plot_series_colour(int index)
{
    const double *colour = on_white[index % PLOT_SERIES];
    return from_oklch(colour[0], colour[1], colour[2]);
}

uint32_t plot_screen_colour(int index)
{
    const double *colour = on_black[index % PLOT_SERIES];
    return from_oklch(colour[0], colour[1], colour[2]);
}

unsigned plot_screen_of_256(int index)
{
    static const unsigned colour[PLOT_SERIES] = {68, 220, 209, 162, 44, 204, 133, 213};
    return colour[index % PLOT_SERIES];
}

double plot_cell_part(const plot_figure *figure, double value)
{
    if (!isfinite(value)) return NAN;
    const plot_axis range = {.low = figure->low, .high = figure->high, .log = figure->cell_log};
    return figure->high > figure->low ? plot_place(&range, value) : 0; /* dark, on white */
}

uint32_t plot_cell_colour(const plot_figure *figure, double value)
{
    double part = plot_cell_part(figure, value);
    return isnan(part) ? 0xffffff : plot_shade(part);
}
