/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of rows put together. Sums of squares are kept over a power of two, so that they neither overflow nor
 * vanish where the norm does not.
 */
#include "symv/inside.h"

void lacis_symv_join(symv_partial *into, const symv_partial *part)
{
    symv_dot_add(&into->dot, &part->dot);
    symv_dot_add(&into->dot_im, &part->dot_im);
    into->norm1 = lacis_dd_add_accurate(into->norm1, part->norm1);
    if (into->largest == into->largest && !(part->largest <= into->largest)) into->largest = part->largest;
    const int exponent = into->exponent > part->exponent ? into->exponent : part->exponent;
    into->squares =
        ldexp(into->squares, 2 * (into->exponent - exponent)) + ldexp(part->squares, 2 * (part->exponent - exponent));
    into->exponent = exponent;
}

/* What overflowed in double-double is NaN there. */
static void dot_of(const symv_dot *dot, double *out)
{
    const bool finite = isfinite(dot->exact.hi);
    out[0] = finite ? dot->exact.hi : dot->plain;
    out[1] = finite ? dot->exact.lo : 0;
}

void lacis_symv_figures_of(const symv_partial *all, lacis_symv_figures *out)
{
    const bool finite = isfinite(all->largest);
    dot_of(&all->dot, out->dot);
    dot_of(&all->dot_im, out->dot_im);
    out->norm1 = !finite ? all->largest : isfinite(all->norm1.hi) ? all->norm1.hi : (double)INFINITY;
    out->norm2 = finite ? ldexp(sqrt(all->squares), all->exponent) : all->largest;
    out->norm_max = all->largest;
}
