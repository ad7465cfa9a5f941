/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions and random directions of the same bits everywhere, good to 1e-13 at least; see
 * common_model.h. Directions: G. Marsaglia, Choosing a point from the surface of a sphere, Ann. Math. Stat. 43
 * (1972).
 */
#include "common_model.h"

#include <math.h>

static const double log_2 = 0x1.62e42fefa39efp-1;

double lacis_model_root3(double x)
{
    int exponent, rest;
    if (!(x > 0)) return 0;
    double m = frexp(x, &exponent);
    rest = exponent % 3;
    if (rest > 0) rest -= 3; /* m 2^rest lies in [1/8, 1) */
    m = ldexp(m, rest);
    double y = 0.375 + 0.65 * m;
    for (int i = 0; i < 6; i++)
        y -= (y - m / (y * y)) / 3;
    return ldexp(y, (exponent - rest) / 3);
}

double lacis_model_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent), sum = 0;
    if (m < 0.7071067811865476) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = s * s; /* log m = 2 (s + s^3 / 3 + s^5 / 5 ...), |s| < 0.172 */
    for (int k = 23; k >= 3; k -= 2)
        sum = (sum + 1.0 / k) * square;
    return exponent * log_2 + 2 * s * (1 + sum);
}

double lacis_model_exp(double x)
{
    double whole = floor(x / log_2 + 0.5), rest = x - whole * log_2, sum = 1;
    for (int k = 16; k >= 1; k--)
        sum = 1 + sum * rest / k;
    return ldexp(sum, (int)whole);
}

void lacis_model_turn(double degrees, double *cosine, double *sine)
{
    double x = degrees * 0x1.1df46a2529d39p-6, square = x * x, c = 1, s = 1;
    for (int k = 40; k >= 2; k -= 2) {
        c = 1 - c * square / (k * (k - 1));
        s = 1 - s * square / (k * (k + 1));
    }
    *cosine = c;
    *sine = x * s;
}

/* A point of the unit disk, not its centre; its distance from there, squared. */
static double in_disk(lacis_dice *dice, double *a, double *b)
{
    double square;
    do {
        *a = 2 * lacis_dice_unit(dice) - 1;
        *b = 2 * lacis_dice_unit(dice) - 1;
        square = *a * *a + *b * *b;
    } while (square >= 1 || square < 0x1p-60);
    return square;
}

void lacis_dice_direction(lacis_dice *dice, double length, double *out)
{
    double a, b, square = in_disk(dice, &a, &b), side = 2 * length * sqrt(1 - square);
    out[0] = a * side;
    out[1] = b * side;
    out[2] = length * (1 - 2 * square);
}

void lacis_dice_circle(lacis_dice *dice, double length, double *out)
{
    double a, b, scale = length / sqrt(in_disk(dice, &a, &b));
    out[0] = a * scale;
    out[1] = b * scale;
    out[2] = 0;
}
