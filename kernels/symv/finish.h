/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of y from the sums of A x, and their figures; included after number.h.
 */

enum { LANES = 8 }; /* sums side by side */

/* alpha s + beta y0. */
ALWAYS num finish_one(num s, num alpha, num beta, const T *y0, bool accurate)
{
    num y = num_step(alpha, s, (num){{0}}, accurate);
    if (y0 == NULL) return y;
    num old;
    memcpy(&old, y0, sizeof old);
    return num_step(beta, old, y, accurate);
}

ALWAYS lacis_dd figure_part(const num *value, int which)
{
#if IS_WIDE
    return wide_at(value->v + 2 * which);
#else
    return lacis_dd_new((double)value->v[which], 0);
#endif
}

/* a b onto a sum; the plain sum tells what becomes of infinities, which double-double makes NaN of. */
ALWAYS void figure_add(lacis_dd a, lacis_dd b, symv_dot *sum)
{
    sum->exact = lacis_dd_fma_accurate(a, b, sum->exact);
    sum->plain += a.hi * b.hi;
}

/* conj(x) s, onto the sums of one lane. */
ALWAYS void figure_dot(const num *x, const num *s, symv_dot *dot, symv_dot *dot_im)
{
    const lacis_dd xr = figure_part(x, 0), sr = figure_part(s, 0);
    figure_add(xr, sr, dot);
#if IS_COMPLEX
    const lacis_dd xi = figure_part(x, 1), si = figure_part(s, 1);
    figure_add(xi, si, dot);
    figure_add(xr, si, dot_im);
    figure_add(lacis_dd_neg(xi), sr, dot_im);
#else
    (void)dot_im;
#endif
}

static void figures_dot(const symv_pass *pass, int side, int64_t row, int count, const num *s, symv_partial *out)
{
    symv_dot dot[LANES] = {0}, dot_im[LANES] = {0};
    for (int i = 0; i < count; i++) {
        num x;
        memcpy(&x, x_at(pass, side, row + i), sizeof x);
        figure_dot(&x, &s[i], &dot[i % LANES], &dot_im[i % LANES]);
    }
    for (int l = 0; l < LANES; l++) {
        symv_dot_add(&out->dot, &dot[l]);
        symv_dot_add(&out->dot_im, &dot_im[l]);
    }
}

ALWAYS double figure_modulus(const num *y)
{
    const double re = (double)y->v[0];
    return IS_COMPLEX ? hypot(re, (double)y->v[PARTS / 2]) : fabs(re);
}

static void figures_norms(const num *y, int count, symv_partial *out)
{
    double modulus[SYMV_ROWS], largest = 0;
    bool nan = false;
    for (int i = 0; i < count; i++) {
        modulus[i] = figure_modulus(&y[i]);
        out->norm1 = lacis_dd_add_sloppy(out->norm1, lacis_dd_new(modulus[i], 0));
        largest = modulus[i] > largest ? modulus[i] : largest;
        nan |= modulus[i] != modulus[i] || y[i].v[0] != y[i].v[0] || y[i].v[PARTS - 1] != y[i].v[PARTS - 1];
    }
    out->largest = nan ? (double)NAN : largest;
    if (nan || largest == 0 || isinf(largest)) return;
    out->exponent = ilogb(largest);
    /* Two factors, as 2^-exponent alone may not be a number. */
    const int half = out->exponent / 2;
    const double scale = ldexp(1, -half), rest = ldexp(1, half - out->exponent);
    for (int i = 0; i < count; i++) {
        const double scaled = modulus[i] * scale * rest;
        out->squares += scaled * scaled;
    }
}

static void finish(const symv_pass *pass, int side, int64_t row, int count, const void *sums, symv_partial *partial)
{
    const lacis_symv_job *job = pass->m->job;
    const num *s = sums, alpha = num_factor(job->alpha), beta = num_factor(job->beta);
    const bool old = job->beta[0] != 0 || job->beta[1] != 0 || job->beta[2] != 0 || job->beta[3] != 0;
    const int64_t first = (pass->side + side) * job->y_side + row * job->y_step;
    const T *y0 = old ? (const T *)pass->m->y0 + first * PARTS : NULL;
    num done[SYMV_ROWS];
    for (int i = 0; i < count; i++) {
        done[i] = finish_one(s[i], alpha, beta, y0, IS_WIDE && job->accurate);
        if (old) y0 += job->y_step * PARTS;
    }
    for (int i = 0; pass->m->y != NULL && i < count; i++)
        memcpy((T *)pass->m->y + (first + i * job->y_step) * PARTS, &done[i], sizeof done[i]);
    if (partial == NULL) return;
    *partial = symv_partial_none();
    figures_dot(pass, side, row, count, s, partial);
    figures_norms(done, count, partial);
}
