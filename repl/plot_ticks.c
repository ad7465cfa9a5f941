/* SPDX-License-Identifier: Apache-2.0
 *
 * Round numbers along axes; see plot.h.
 */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double plot_half(const plot_axis *axis)
{
    return axis->high / 2 - axis->low / 2;
}

double plot_place(const plot_axis *axis, double value)
{
    if (axis->log) return log(value / axis->low) / log(axis->high / axis->low);
    return (value / 2 - axis->low / 2) / plot_half(axis);
}

/* The round number that is nearest: 1, 2 or 5 times a power of ten. */
static double round_off(double x)
{
    double power = pow(10, floor(log10(x))), digit = x / power;
    return (digit < 1.5 ? 1 : digit < 3.3 ? 2 : digit < 7.2 ? 5 : 10) * power;
}

/* "1e+06" is 1e6. */
static void shorten(char *text)
{
    char *e = strchr(text, 'e');
    if (e == NULL) return;
    int exponent = 0;
    sscanf(e + 1, "%d", &exponent);
    snprintf(e, PLOT_TICK_TEXT - (size_t)(e - text), "e%d", exponent);
}

/* As many digits as a step needs. */
static void write_value(double value, double step, char *text)
{
    int places = (int)fmax(0, -floor(log10(step) + 1e-9));
    if (fabs(value) < step * 1e-6) value = 0;
    if (fabs(value) < 1e6 && places <= 5)
        snprintf(text, PLOT_TICK_TEXT, "%.*f", places, value);
    else {
        int digits = value == 0 ? 1 : (int)(floor(log10(fabs(value))) - floor(log10(step) + 1e-9)) + 1;
        snprintf(text, PLOT_TICK_TEXT, "%.*g", digits < 1 ? 1 : digits > 15 ? 15 : digits, value);
        shorten(text);
    }
}

static void add(plot_ticks *out, double at, double step)
{
    if (out->count == PLOT_TICKS) return;
    out->at[out->count] = at;
    write_value(at, step, out->text[out->count++]);
}

static void add_decades(const plot_axis *axis, int wanted, plot_ticks *out)
{
    static const double within[] = {1, 2, 5};
    int first = (int)floor(log10(axis->low) + 1e-9), last = (int)ceil(log10(axis->high) - 1e-9);
    int each = last - first <= 2 ? 3 : 1, skip = (last - first + wanted - 1) / wanted;
    for (int d = first; d <= last; d += skip < 1 ? 1 : skip)
        for (int k = 0; k < each; k++) {
            double at = within[k] * pow(10, d);
            if (at < axis->low * 0.999999 || at > axis->high * 1.000001 || out->count == PLOT_TICKS) continue;
            out->at[out->count] = at;
            snprintf(out->text[out->count], PLOT_TICK_TEXT, "%.6g", at);
            shorten(out->text[out->count++]);
        }
}

/* Of an axis that holds whole numbers below 2^63. */
static void add_twos(const plot_axis *axis, int wanted, plot_ticks *out)
{
    int first = (int)ceil(log2(axis->low) - 1e-9), last = (int)floor(log2(axis->high) + 1e-9);
    int skip = (last - first + wanted) / wanted;
    for (int d = first; d <= last && out->count < PLOT_TICKS; d += skip) {
        out->at[out->count] = ldexp(1, d);
        snprintf(out->text[out->count++], PLOT_TICK_TEXT, "%.0f", ldexp(1, d));
    }
}

void plot_ticks_of(const plot_axis *axis, int wanted, plot_ticks *out)
{
    out->count = 0;
    if (axis->log && axis->twos) {
        add_twos(axis, wanted, out);
        return;
    }
    if (axis->log) {
        add_decades(axis, wanted, out);
        return;
    }
    double step = round_off(plot_half(axis) / wanted * 2);
    if (axis->whole && step < 1) step = 1;
    if (!(step > 0) || !isfinite(step)) return;
    double first = ceil(axis->low / step - 1e-6), last = floor(axis->high / step + 1e-6);
    if (last - first >= PLOT_TICKS || fabs(first) > 1e15) return;
    for (double i = first; i <= last; i++)
        add(out, i * step, step);
}
