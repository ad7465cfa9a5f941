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

uint32_t plot_series_colour(int index)
{
    static const double lightness[PLOT_SERIES] = {0.52, 0.72, 0.62, 0.38, 0.80, 0.56, 0.68, 0.45};
    static const double hue[PLOT_SERIES] = {250, 65, 160, 300, 95, 30, 340, 200};
    index %= PLOT_SERIES;
    return from_oklch(lightness[index], 0.13, hue[index]);
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
