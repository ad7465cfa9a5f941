/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of the GPU's simulation: exponentials and reciprocals to about one unit in the last place, the rates of
 * Hodgkin and Huxley, and a node's equation. Every way calls these, so that all get the same bits; what is fused is
 * written as fma(). Used inside kernels/neuron.
 */
#ifndef LACIS_KERNELS_NEURON_GPU_MATH_CUH
#define LACIS_KERNELS_NEURON_GPU_MATH_CUH

#include "gpu_base.cuh"

/* 1 / x for x neither tiny nor huge: twenty bits from the table, then a cubic step. */
NEUG_DEVICE double neug_reciprocal(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x, y, 1.0);
    return fma(fma(e, e, e), y, y);
}

/* x, moved into -limit .. limit, where limit's low word is 0. NaN becomes a limit. */
NEUG_DEVICE double neug_within(double x, double limit)
{
    const int high = __double2hiint(x), most = __double2hiint(limit);
    const bool out = (high & 0x7fffffff) >= most;
    return out ? __hiloint2double(most | (high & 0x80000000), 0) : x;
}

/* x <= 0, or nearly -640 where it is less than that. */
NEUG_DEVICE double neug_above(double x)
{
    const unsigned high = min((unsigned)__double2hiint(x), 0xc0840000u);
    return __hiloint2double((int)high, __double2loint(x));
}

static __constant__ double neug_root[32] = {
    /* 2^(j/32) */
    0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0, 0x1.172b83c7d517bp+0,
    0x1.1d4873168b9aap+0, 0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0, 0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0,
    0x1.3dea64c123422p+0, 0x1.44e086061892dp+0, 0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0,
    0x1.6247eb03a5585p+0, 0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0, 0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0,
    0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0, 0x1.ae89f995ad3adp+0,
    0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0, 0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0,
    0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0};

/* Each lane of a warp holds one of them. */
NEUG_DEVICE double neug_roots()
{
    return neug_root[threadIdx.x % 32];
}

/* Constants of arithmetic, where instructions find them as operands. */
static __constant__ double neug_constant[] = {
    0x1.71547652b82fep5,   /* 32 / ln 2 */
    0x1.8p52,              /* adding it rounds to an integer, which the low word then holds */
    -0x1.62e42fefa39efp-6, /* -ln 2 / 32 */
    1 / 720.0,
    1 / 120.0,
    1 / 24.0,
    1 / 6.0,
    0.5,
    -1 / 80.0,
    -1 / 18.0,
    1.3862943611198906,  /* ln 4 */
    -121.82493960703473, /* -10 e^2.5 */
    20.085536923187668,  /* e^3 */
    0.07,
    -33.97852285573806, /* -12.5 e */
};
enum {
    NEUG_INVERSE,
    NEUG_MAGIC,
    NEUG_STEP,
    NEUG_SERIES,
    NEUG_80TH = NEUG_SERIES + 5,
    NEUG_18TH,
    NEUG_LN_4,
    NEUG_OF_M,
    NEUG_E_3,
    NEUG_OF_H,
    NEUG_OF_N
};

/* e^x for |x| <= 700 with all lanes of the warp taking part: x = (n + j/32) ln 2 + r, |r| <= ln 2 / 64, Taylor's
 * series to r^6; to about 1 + |x| / 2 units in the last place. `roots` is that of neug_roots(). */
NEUG_DEVICE double neug_exponential(double x, double roots)
{
    const double *k = neug_constant, *series = neug_constant + NEUG_SERIES;
    const double shifted = fma(x, k[NEUG_INVERSE], k[NEUG_MAGIC]), n = shifted - k[NEUG_MAGIC];
    const double r = fma(n, k[NEUG_STEP], x);
    const int places = __double2loint(shifted);
    const double root = __shfl_sync(0xffffffffu, roots, places); /* places modulo 32 */
    double p = fma(r, series[0], series[1]);
    p = fma(r, p, series[2]);
    p = fma(r, p, series[3]);
    p = fma(r, p, series[4]);
    p = fma(r * r, p, r); /* e^r - 1 */
    const int exponent = (int)((unsigned)(places & ~31) << 15);
    const double scaled = __hiloint2double(__double2hiint(root) + exponent, __double2loint(root));
    return fma(scaled, p, scaled);
}

/* Opening and closing of the gates: steady state, and speed in 1/ms at 6.3 C; that of n eightfold. */
typedef struct neug_rates {
    double m, m_speed, h, h_speed, n, n_speed_8;
} neug_rates;

/* alpha = top / bottom, so that one division will do: speed = alpha + beta = s / bottom, steady = top / s with
 * s = top + beta bottom. */
NEUG_DEVICE void neug_gate(double top, double bottom, double s, double *steady, double *speed)
{
    const double inverse = neug_reciprocal(bottom * s);
    *steady = top * bottom * inverse;
    *speed = s * s * inverse;
}

/* Where d = 10 scale (1 - e^(-d/10)) / scale nearly vanishes on both sides, their ratio's series. */
NEUG_DEVICE void neug_trap(double scale, double *top, double *bottom)
{
    const bool small = (__double2hiint(*top) & 0x7fffffff) < 0x3ee4f8b5; /* |v - v0| < 1e-5 mV */
    *top = small ? fma(*top, 0.05, 1.0) : *top;
    *bottom = small ? scale : *bottom;
}

/* With e_k for e^(-(v + 65)/k):
 *   alpha m = 0.1 (v + 40) / (1 - e^2.5 e10), beta m = 4 e18
 *   alpha h = 0.07 e20, beta h = 1 / (1 + e^3 e10)
 *   alpha n = 0.01 (v + 55) / (1 - e e10), beta n = e80 / 8
 * Exponents are held within what e^x can be taken of; rates out there are as good as infinite or nothing. */
NEUG_DEVICE neug_rates neug_rates_at(double v, double roots)
{
    neug_rates out;
    const double *k = neug_constant, w = neug_within(v, 1024.0) + 65.0;
    const double e80 = neug_exponential(w * k[NEUG_80TH], roots), e40 = e80 * e80, e20 = e40 * e40, e10 = e20 * e20;
    const double e18_4 = neug_exponential(fma(w, k[NEUG_18TH], k[NEUG_LN_4]), roots);
    double top = v + 40.0, bottom = fma(e10, k[NEUG_OF_M], 10.0);
    neug_trap(1.0, &top, &bottom);
    neug_gate(top, bottom, fma(e18_4, bottom, top), &out.m, &out.m_speed);
    bottom = fma(e10, k[NEUG_E_3], 1.0);
    top = k[NEUG_OF_H] * e20 * bottom;
    neug_gate(top, bottom, top + 1.0, &out.h, &out.h_speed);
    top = v + 55.0;
    bottom = fma(e10, k[NEUG_OF_N], 12.5); /* an eighth of what stands above */
    neug_trap(1.25, &top, &bottom);
    neug_gate(top, bottom, fma(e80, bottom, top), &out.n, &out.n_speed_8);
    return out;
}

/* less: -dt. */
NEUG_DEVICE double neug_relax(double gate, double steady, double speed, double less, double roots)
{
    return fma(neug_exponential(neug_above(speed * less), roots), gate - steady, steady);
}

/* Gates for dt at v, rates held; less is -dt, the temperature's rate in it. */
NEUG_DEVICE void neug_gates_go_on(double v, double less, double roots, double *m, double *h, double *n)
{
    const neug_rates rates = neug_rates_at(v, roots);
    *m = neug_relax(*m, rates.m, rates.m_speed, less, roots);
    *h = neug_relax(*h, rates.h, rates.h_speed, less, roots);
    *n = neug_relax(*n, rates.n, rates.n_speed_8, 0.125 * less, roots);
}

/* What lanes have of their own. */
typedef struct neug_lane {
    double keep, couple, g[3], ge; /* scales of coefficients */
    double ena, ek;
} neug_lane;

/* Excess and right-hand side of a row with given conductances. */
template <int MODEL>
NEUG_DEVICE void neug_equation(const double *c, const neug_lane &lane, bool by_lane, double v, double m, double h,
                               double n, double *excess, double *sum)
{
    const double keep = by_lane ? c[NEUG_KEEP] * lane.keep : c[NEUG_KEEP];
    if constexpr (MODEL == NEUG_PASSIVE) {
        const double g = c[NEUG_G] * lane.g[0], ge = c[NEUG_GE] * lane.ge;
        *excess = keep + g;
        *sum = fma(keep, v, ge);
    } else {
        const double n2 = n * n;
        const double gna = (by_lane ? c[NEUG_GNA] * lane.g[0] : c[NEUG_GNA]) * (m * m * m * h);
        const double gk = (by_lane ? c[NEUG_GK] * lane.g[1] : c[NEUG_GK]) * (n2 * n2);
        const double gl = by_lane ? c[NEUG_GL] * lane.g[2] : c[NEUG_GL];
        const double gl_el = by_lane ? c[NEUG_GL_EL] * lane.ge : c[NEUG_GL_EL];
        *excess = keep + gna + (gk + gl);
        *sum = fma(keep, v, fma(gna, lane.ena, fma(gk, lane.ek, gl_el)));
    }
}

#endif
