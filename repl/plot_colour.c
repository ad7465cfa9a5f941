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

static const double series_lightness[PLOT_SERIES] = {0.52, 0.72, 0.62, 0.38, 0.80, 0.56, 0.68, 0.45};

static uint32_t series_colour(int index, double lightness)
{
    static const double hue[PLOT_SERIES] = {250, 65, 160, 300, 95, 30, 340, 200};
    return from_oklch(lightness, 0.13, hue[index % PLOT_SERIES]);
}

uint32_t plot_series_colour(int index)
{
    return series_colour(index, series_lightness[index % PLOT_SERIES]);
}

uint32_t plot_screen_colour(int index)
{
    return series_colour(index, 0.55 + 0.6 * (series_lightness[index % PLOT_SERIES] - 0.38));
}

unsigned plot_screen_of_256(int index)
{
    static const unsigned colour[PLOT_SERIES] = {68, 172, 36, 97, 179, 167, 175, 30};
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
