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

/* x, moved into -limit .. limit, both powers of two times integers below 2^20. NaN becomes a limit. */
NEUG_DEVICE double neug_within(double x, double limit)
{
    const int high = __double2hiint(x), most = __double2hiint(limit);
    const bool out = (high & 0x7fffffff) >= most;
    return out ? __hiloint2double(most | (high & 0x80000000), 0) : x;
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

/* e^x for |x| <= 700 with all lanes of the warp taking part: x = (n + j/32) ln 2 + r, |r| <= ln 2 / 64, Taylor's
 * series to r^6. `roots` is that of neug_roots(). */
NEUG_DEVICE double neug_exponential(double x, double roots)
{
    const double magic = 0x1.8p52;
    const double shifted = fma(x, 0x1.71547652b82fep5, magic), n = shifted - magic;
    double r = fma(n, -0x1.62e42fee00000p-6, x);
    r = fma(n, -0x1.a39ef35793c76p-38, r);
    const int places = __double2loint(shifted);
    const double root = __shfl_sync(0xffffffffu, roots, places & 31);
    const double r2 = r * r;
    const double high = fma(r2, fma(r, 1 / 720.0, 1 / 120.0), fma(r, 1 / 24.0, 1 / 6.0));
    const double p = fma(r2, fma(r, high, 0.5), r); /* e^r - 1 */
    const double scaled = __hiloint2double(__double2hiint(root) + ((places >> 5) << 20), __double2loint(root));
    return fma(scaled, p, scaled);
}

/* Opening and closing of the gates: steady state, and speed in 1/ms at 6.3 C. See loops.h, whose steps these are. */
typedef struct neug_rates {
    double m, m_speed, h, h_speed, n, n_speed;
} neug_rates;

NEUG_DEVICE void neug_gate(double top, double bottom, double beta, double *steady, double *speed)
{
    const double s = fma(beta, bottom, top), inverse = neug_reciprocal(bottom * s);
    *steady = top * bottom * inverse;
    *speed = s * s * inverse;
}

/* alpha = x / (e^x - 1) as top / bottom, given e^x - 1. */
NEUG_DEVICE void neug_trap(double x, double less, double *top, double *bottom)
{
    const bool small = (__double2hiint(x) & 0x7fffffff) < 0x3eb0c6f8; /* |x| < 1e-6 */
    *top = small ? fma(x, -0.5, 1.0) : x;
    *bottom = small ? 1.0 : less;
}

/* Exponents are held within what e^x can be taken of; the rates there are as good as infinite or nothing. */
NEUG_DEVICE neug_rates neug_rates_at(double v, double roots)
{
    neug_rates out;
    double top, bottom;
    const double w = neug_within(v, 1024.0) + 65.0;
    const double e80 = neug_exponential(w * -0.0125, roots), e40 = e80 * e80, e20 = e40 * e40, e10 = e20 * e20;
    neug_trap((v + 40.0) * -0.1, fma(e10, 12.182493960703473, -1.0), &top, &bottom);
    neug_gate(top, bottom, 4.0 * neug_exponential(w * (-1.0 / 18), roots), &out.m, &out.m_speed);
    bottom = fma(e10, 20.085536923187668, 1.0); /* beta of h is 1 / bottom */
    const double alpha = 0.07 * e20 * bottom;
    top = alpha + 1.0;
    const double inverse = neug_reciprocal(bottom * top);
    out.h = alpha * bottom * inverse;
    out.h_speed = top * top * inverse;
    neug_trap((v + 55.0) * -0.1, fma(e10, 2.718281828459045, -1.0), &top, &bottom);
    neug_gate(0.1 * top, bottom, 0.125 * e80, &out.n, &out.n_speed);
    return out;
}

NEUG_DEVICE double neug_relax(double gate, double steady, double speed, double dt, double roots)
{
    const double power = neug_exponential(neug_within(speed * -dt, 640.0), roots);
    return fma(1.0 - power, steady - gate, gate);
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
